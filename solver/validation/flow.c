#include "solver/validation/flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/flow/flow_plan.h"
#include "solver/picture/picture.h"

const double kf_pi = 3.14159265358979323846;

/* Makes an empty periodic box of this many nodes in lattice units, with the usual collision. The case sets
 * the rest. kf_scene_free frees it. */
kf_scene *kf_flow_box(const char *name, int nx, int ny, int nz, double viscosity) {
    kf_scene *scene = kf_allocate_zeroed(1, sizeof *scene);
    kf_copy_text(scene->name, sizeof scene->name, name);
    kf_copy_text(scene->source, sizeof scene->source, name);
    scene->nodes[0] = nx;
    scene->nodes[1] = ny;
    scene->nodes[2] = nz;
    scene->cell_size = scene->time_step = 1.0;
    scene->viscosity = viscosity;
    scene->reference_length = ny;
    scene->reference_speed = 0.05;
    scene->reynolds = scene->reference_speed * ny / viscosity;
    scene->collision = KF_ACM_MRT;
    scene->rate_rule = KF_RATE_ADAPTIVE_2020;
    scene->high_order_rate = 1.98;
    scene->accuracy = KF_DEFAULT_ACCURACY;
    return scene;
}

static void reserve_samples(kf_scene *scene, size_t count) {
    scene->samples.count = count;
    double **arrays[] = {&scene->samples.x, &scene->samples.y, &scene->samples.z, &scene->samples.area};
    for (int i = 0; i < 4; i++)
        *arrays[i] = kf_allocate(count * sizeof(double));
}

static void set_sample(kf_scene *scene, size_t s, double x, double y, double z, double area) {
    scene->samples.x[s] = x;
    scene->samples.y[s] = y;
    scene->samples.z[s] = z;
    scene->samples.area[s] = area;
    scene->solid_area += area;
}

static void set_extent(kf_scene *scene, const double center[3], const double half[3]) {
    for (int i = 0; i < 3; i++) {
        scene->solid_low[i] = center[i] - half[i];
        scene->solid_high[i] = center[i] + half[i];
        scene->motion.center[i] = center[i];
    }
    scene->motion.axis[2] = 1.0;
}

/* Adds a ball with samples along the golden-angle spiral, which have equal areas and no poles. */
void kf_flow_add_ball(kf_scene *scene, const double center[3], double radius, double samples_per_cell) {
    scene->surface_depth = kf_scene_surface_depth(scene, 3.0 / radius);
    const double sunk = radius - scene->surface_depth;
    const double area = 4.0 * kf_pi * sunk * sunk, turn = kf_pi * (3.0 - sqrt(5.0));
    size_t count = (size_t)ceil(area * samples_per_cell);
    reserve_samples(scene, count);
    scene->samples_per_cell = samples_per_cell;
    for (size_t s = 0; s < count; s++) {
        double z = 1.0 - (2.0 * (double)s + 1.0) / (double)count, ring = sqrt(1.0 - z * z);
        double angle = turn * (double)s;
        set_sample(scene, s, center[0] + sunk * ring * cos(angle), center[1] + sunk * ring * sin(angle),
                   center[2] + sunk * z, area / (double)count);
    }
    set_extent(scene, center, (const double[3]){radius, radius, radius});
    scene->reference_length = 2.0 * radius;
    scene->frontal_area = kf_pi * radius * radius;
}

/* Adds a cylinder along z to a scene, as samples side by side on its surface, sunk by the depth that the
 * hat kernel asks for. */
void kf_flow_add_cylinder(kf_scene *scene, const double center[3], double radius, double samples_per_cell) {
    scene->surface_depth = kf_scene_surface_depth(scene, 2.0 / radius);
    const double sunk = radius - scene->surface_depth;
    const double spacing = 1.0 / sqrt(samples_per_cell), last = scene->nodes[2] - 1.001;
    const size_t around = (size_t)ceil(2.0 * kf_pi * sunk / spacing),
                 along = (size_t)ceil(scene->nodes[2] / spacing);
    reserve_samples(scene, around * along);
    scene->samples_per_cell = samples_per_cell;
    const double patch = 2.0 * kf_pi * sunk / (double)around * scene->nodes[2] / (double)along;
    for (size_t i = 0; i < along; i++)
        for (size_t j = 0; j < around; j++) {
            const double angle = 2.0 * kf_pi * ((double)j + 0.5 * (double)(i % 2)) / (double)around,
                         z = ((double)i + 0.5) / (double)along * scene->nodes[2] - 0.5;
            set_sample(scene, i * around + j, center[0] + sunk * cos(angle), center[1] + sunk * sin(angle),
                       fmin(fmax(z, 0.001), last), patch);
        }
    set_extent(scene, center, (const double[3]){radius, radius, center[2]});
    scene->reference_length = 2.0 * radius;
    scene->frontal_area = 2.0 * radius * scene->nodes[2];
}

/* Adds a torus with a grid of its two angles. Each sample has the area of its patch. */
void kf_flow_add_torus(kf_scene *scene, const double center[3], double major_radius, double minor_radius,
                       double samples_per_cell) {
    scene->surface_depth = kf_scene_surface_depth(scene, 2.0 / minor_radius);
    const double sunk = minor_radius - scene->surface_depth, spacing = 1.0 / sqrt(samples_per_cell);
    size_t along = (size_t)ceil(2.0 * kf_pi * major_radius / spacing),
           around = (size_t)ceil(2.0 * kf_pi * sunk / spacing);
    reserve_samples(scene, along * around);
    scene->samples_per_cell = samples_per_cell;
    for (size_t i = 0; i < along; i++)
        for (size_t j = 0; j < around; j++) {
            double a = 2.0 * kf_pi * ((double)i + 0.5 * (double)(j % 2)) / (double)along;
            double b = 2.0 * kf_pi * (double)j / (double)around;
            double distance = major_radius + sunk * cos(b);
            double patch = 2.0 * kf_pi / (double)along * distance * 2.0 * kf_pi / (double)around * sunk;
            set_sample(scene, i * around + j, center[0] + distance * cos(a), center[1] + distance * sin(a),
                       center[2] + sunk * sin(b), patch);
        }
    const double outer = major_radius + minor_radius;
    set_extent(scene, center, (const double[3]){outer, outer, minor_radius});
    scene->reference_length = 2.0 * outer;
}

kf_status kf_flow_open(const kf_validation *validation, const kf_system *system, kf_scene *scene,
                       const char *const *overrides, kf_plan **plan, kf_error *error) {
    scene->accuracy = validation->accuracy;
    kf_problem *problem = kf_flow_problem(system, scene, false);
    return kf_flow_open_problem(validation, problem, problem, overrides, plan, error);
}

kf_status kf_flow_open_problem(const kf_validation *validation, kf_problem *problem, const kf_problem *stated,
                               const char *const *overrides, kf_plan **plan, kf_error *error) {
    const kf_system *system = problem->system;
    kf_config config;
    *plan = NULL;
    kf_status status = kf_validation_configure(validation, stated, overrides, &config, error);
    if (status == KF_OK) status = system->plan(problem, &config, validation->backend, plan, error);
    if (status != KF_OK) {
        kf_problem_free(problem);
        return status;
    }
    status = kf_plan_initialise(*plan, error);
    if (status == KF_OK) return KF_OK;
    kf_flow_close(*plan);
    *plan = NULL;
    return status;
}

void kf_flow_close(kf_plan *plan) {
    if (plan == NULL) return;
    /* Kf_flow_open_problem takes the scene over. */
    kf_problem *problem = (kf_problem *)(uintptr_t)plan->problem;
    kf_plan_free(plan);
    kf_problem_free(problem);
}

kf_status kf_flow_advance(const kf_validation *validation, kf_plan *plan, uint64_t steps, kf_error *error) {
    const uint64_t stretch = validation->gpu ? 4096 : 256;
    while (steps > 0) {
        if (*validation->interrupted) return kf_fail(error, KF_INTERRUPTED, "interrupted");
        uint64_t now = steps < stretch ? steps : stretch;
        KF_TRY(kf_plan_advance(plan, now, error));
        KF_TRY(kf_backend_synchronize(validation->backend, error));
        steps -= now;
    }
    return KF_OK;
}

size_t kf_flow_count(const kf_scene *scene) {
    return (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
}

double kf_flow_energy(const kf_scene *scene, const double *values) {
    const size_t count = kf_flow_count(scene);
    /* The square of the speed of sound. */
    const double fastest_square = 1.0 / 3.0;
    double sum = 0;
    for (size_t n = 0; n < count; n++) {
        const double u = values[count + n], v = values[2 * count + n], w = values[3 * count + n];
        const double square = u * u + v * v + w * w;
        if (!(square < fastest_square)) return (double)NAN;
        sum += square;
    }
    return 0.5 * sum / (double)count;
}

kf_status kf_flow_draw(const kf_validation *validation, kf_plan *plan, const char *name, int normal,
                       double most, kf_error *error) {
    char path[KF_PATH];
    kf_snapshot snapshot;
    const kf_scene *scene = kf_plan_scene(plan);
    const kf_picture_view view = {.field = KF_PICTURE_SPEED,
                                  .normal = normal,
                                  .ranged = most > 0.0,
                                  .high = most * scene->cell_size / scene->time_step};
    if (validation->pictures == NULL) return KF_OK;
    KF_TRY(kf_path(path, error, "%s/%s.png", validation->pictures, name));
    kf_status status = kf_plan_snapshot(plan, &snapshot, error);
    if (status == KF_OK) status = kf_picture_of_plan(path, plan, &snapshot, &view, error);
    kf_snapshot_free(&snapshot);
    return status;
}
