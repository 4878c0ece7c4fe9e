/* Flows with a known answer on nested grids: vortices and sound that cross an interface, the drag of bodies
 * in the finest box. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic_cases.h"
#include "solver/validation/tunnel.h"

/* --- Vortices and sound ----------------------------------------------------------------------------------
 */

/* A state in cells of the coarsest grid. */
typedef struct waves {
    /* The number of this grid's cells along one coarse cell. */
    int nodes, finer;
    double amplitude, stream[2];
} waves;

static void vortices_at(const waves *w, const double at[2], double *density, double velocity[3]) {
    const double x = 2.0 * kf_pi * at[0] / w->nodes, y = 2.0 * kf_pi * at[1] / w->nodes;
    *density = 1.0 + 0.75 * w->amplitude * w->amplitude * (cos(2.0 * x) + cos(2.0 * y));
    velocity[0] = w->stream[0] + w->amplitude * sin(x) * cos(y);
    velocity[1] = w->stream[1] - w->amplitude * cos(x) * sin(y);
    velocity[2] = 0.0;
}

static void plane_vortices(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const waves *w = context;
    (void)k;
    vortices_at(w, (const double[2]){(i + 0.5) / w->finer - 0.5, (j + 0.5) / w->finer - 0.5}, density,
                velocity);
}

/* Goes towards larger x. */
static void sound_pulse(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const waves *w = context;
    const double x = ((i + 0.5) / w->finer - 0.5) / w->nodes - 0.25;
    (void)j, (void)k;
    *density = 1.0 + w->amplitude * exp(-pow(x / 0.06, 2));
    velocity[0] = (*density - 1.0) / sqrt(3.0);
    velocity[1] = velocity[2] = 0.0;
}

typedef void initial_state(const void *context, int i, int j, int k, double *density, double velocity[3]);

/* Makes a periodic domain with a nested box. w has a place for each grid. kf_scene_free frees it. */
static kf_scene *make_waves(const int nodes[3], const kf_cell_box *box, double viscosity,
                            initial_state *state, waves w[2]) {
    kf_scene *scenes[2];
    for (int l = 0; l < 2; l++) {
        w[l].finer = l + 1;
        scenes[l] = kf_flow_box("nested", nodes[0] << l, nodes[1] << l, nodes[2] << l, viscosity * (l + 1));
        scenes[l]->rate_rule = KF_RATE_ONES;
        scenes[l]->initial_state = state;
        scenes[l]->initial_context = &w[l];
    }
    scenes[0]->finer_count = 1;
    scenes[0]->finer[0] = scenes[1];
    scenes[0]->boxes[0] = *box;
    return scenes[0];
}

/* Runs a scene for this many steps. values become density - 1 and velocity of the coarsest grid; the caller
 * frees them. */
static kf_status run_waves(const kf_validation *validation, kf_scene *scene, uint64_t steps, double **values,
                           kf_error *error) {
    static const char *const in_double[] = {"storage=f64", NULL};
    kf_plan *plan;
    kf_status status = kf_kinetic_case_open(validation, scene, in_double, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, steps, error);
    if (status == KF_OK) status = kf_kinetic_read(plan, values, error);
    kf_flow_close(plan);
    return status;
}

/* Errors of vortices that cross an interface. */
typedef struct decay {
    /* The difference of their velocity. */
    double off;
    /* The mass gained, over that of the domain. */
    double gained;
    /* The momentum lost, over that of the domain. */
    double lost;
} decay;

/* Vortices lose a quarter of their energy while a stream carries them slantwise by a tenth of the domain,
 * whose middle is in finer cells. */
static kf_status run_decay(const kf_validation *validation, int nodes, decay *d, kf_error *error) {
    const double viscosity = 0.04, wave = 2.0 * kf_pi / nodes;
    const int steps = (int)lround(0.15 / (2.0 * wave * wave * viscosity));
    const kf_cell_box box = {{nodes / 4, nodes / 4, 0}, {3 * nodes / 4, 3 * nodes / 4, 4}};
    const int size[3] = {nodes, nodes, 4};
    const double speed = 0.48 / nodes;
    waves w[2] = {{.nodes = nodes, .amplitude = speed, .stream = {4.0 * speed, 2.0 * speed}}};
    w[1] = w[0];
    kf_scene *scene = make_waves(size, &box, viscosity, plane_vortices, w);
    const size_t count = kf_flow_count(scene), plane = (size_t)nodes * (size_t)nodes;
    const double left = exp(-2.0 * wave * wave * viscosity * steps);
    const waves still = {.nodes = nodes, .finer = 1, .amplitude = speed};
    double *values = NULL, wrong = 0.0, all = 0.0, mass = 0.0, momentum[2] = {0.0, 0.0};
    const kf_status status = run_waves(validation, scene, (uint64_t)steps, &values, error);
    for (size_t node = 0; node < count && status == KF_OK; node++) {
        const size_t in_plane = node % plane, row = in_plane / (size_t)nodes;
        const double from[2] = {(double)(in_plane % (size_t)nodes) - w[0].stream[0] * steps,
                                (double)row - w[0].stream[1] * steps};
        double density, u[3];
        vortices_at(&still, from, &density, u);
        mass += values[node] / (double)count;
        for (size_t a = 0; a < 2; a++) {
            momentum[a] += (1.0 + values[node]) * values[(a + 1) * count + node] / (double)count;
            wrong += pow(values[(a + 1) * count + node] - w[0].stream[a] - left * u[a], 2);
            all += pow(left * u[a], 2);
        }
    }
    d->off = sqrt(wrong / all);
    d->gained = fabs(mass);
    d->lost = hypot(momentum[0] - w[0].stream[0], momentum[1] - w[0].stream[1]) /
              hypot(w[0].stream[0], w[0].stream[1]);
    free(values);
    kf_scene_free(scene);
    return status;
}

/* Computes the reflected share of a pulse that enters finer cells. */
static kf_status reflection(const kf_validation *validation, double *back, kf_error *error) {
    enum { NODES = 128 };
    const kf_cell_box box = {{NODES / 2, 0, 0}, {NODES - 4, 4, 4}};
    waves w[2] = {{.nodes = NODES, .amplitude = 1e-3}, {.nodes = NODES, .amplitude = 1e-3}};
    kf_scene *scene = make_waves((const int[3]){NODES, 4, 4}, &box, 1e-3, sound_pulse, w);
    double *values = NULL, most[2] = {0.0, 0.0};
    const kf_status status =
        run_waves(validation, scene, (uint64_t)(0.44 * NODES * sqrt(3.0)), &values, error);
    for (int x = 0; x < NODES && status == KF_OK; x++)
        most[x >= NODES / 2] = kf_worse(most[x >= NODES / 2], fabs(values[x]));
    *back = most[0] / most[1];
    free(values);
    kf_scene_free(scene);
    return status;
}

/* Vortices on two grids, each with a box, and a pulse of sound. */
kf_status kf_case_nested(kf_validation *validation, kf_error *error) {
    const int coarse = validation->quick ? 16 : 32;
    decay coarser, finer;
    double back;
    char quantity[96];
    KF_TRY(run_decay(validation, coarse, &coarser, error));
    KF_TRY(run_decay(validation, 2 * coarse, &finer, error));
    (void)snprintf(quantity, sizeof quantity, "order of vortices carried across a finer box, %d to %d nodes",
                   coarse, 2 * coarse);
    kf_check_at_least(validation, quantity, "second order, as without the box", 2.0,
                      log2(coarser.off / finer.off), 0.2);
    kf_check_at_most(validation, "mass that the finer of these gains, over the pressure's amplitude",
                     "kept but for what the grid does not resolve", 0.0,
                     finer.gained / (1.5 * pow(0.48 / (2 * coarse), 2)), 0.01);
    kf_check_at_most(validation, "momentum that the stream loses there, over what it has",
                     "kept but for what the grid does not resolve", 0.0, finer.lost, 3e-4);
    KF_TRY(reflection(validation, &back, error));
    kf_check_at_most(validation, "sound that comes back from a finer box, over what goes in",
                     "an interface that is not there sends back nothing", 0.0, back, 0.01);
    return KF_OK;
}

/* --- Drag ------------------------------------------------------------------------------------------------
 */

/* A tunnel with nested boxes of fine cells around the body and its wake. For each level their extents before,
 * behind and beside the body are given in diameters. */
typedef struct nested_tunnel {
    kf_tunnel fine;
    int levels; /* finer ones */
    double before[KF_FINER_LEVELS], behind[KF_FINER_LEVELS], beside[KF_FINER_LEVELS];
} nested_tunnel;

/* Cells of a level, which is some levels coarser than the finest, that hold this box of diameters. */
static kf_cell_box cells_around(const nested_tunnel *t, int level, const kf_scene *whole) {
    const double diameter = ldexp(t->fine.diameter, level - t->levels),
                 middle[3] = {t->fine.before * diameter, 0.5 * whole->nodes[1], 0.5 * whole->nodes[2]};
    kf_cell_box box;
    for (int axis = 0; axis < 3; axis++) {
        const double before = axis == 0 ? t->before[level] : t->beside[level],
                     behind = axis == 0 ? t->behind[level] : t->beside[level];
        box.low[axis] = (int)floor(middle[axis] - before * diameter);
        box.high[axis] = (int)ceil(middle[axis] + behind * diameter);
        if (axis == 2 && t->fine.cylinder) box.low[2] = 0, box.high[2] = whole->nodes[2];
    }
    return box;
}

/* Makes the tunnel on a single grid with the cells of a level. */
static kf_scene *make_level(const nested_tunnel *t, int level) {
    kf_tunnel tunnel = t->fine;
    tunnel.diameter = ldexp(t->fine.diameter, level - t->levels);
    kf_scene *scene = kf_tunnel_scene(&tunnel);
    scene->rate_rule = KF_RATE_ONES;
    if (!tunnel.cylinder || level == 0) return scene;
    /* The cylinder is as long as on the coarsest level. */
    scene->nodes[2] <<= level;
    const double *at = scene->motion.center, center[3] = {at[0], at[1], 0.5 * scene->nodes[2] - 0.5};
    double *const samples[] = {scene->samples.x, scene->samples.y, scene->samples.z, scene->samples.area};
    for (int i = 0; i < 4; i++)
        free(samples[i]);
    scene->solid_area = 0.0;
    kf_flow_add_cylinder(scene, center, 0.5 * tunnel.diameter, 20.0);
    return scene;
}

static kf_scene *make_tunnel(const nested_tunnel *t) {
    kf_scene *scene = make_level(t, 0);
    for (int l = 0; l < t->levels; l++) {
        scene->boxes[l] = cells_around(t, l, l == 0 ? scene : scene->finer[l - 1]);
        scene->finer[l] = make_level(t, l + 1);
    }
    scene->finer_count = t->levels;
    return scene;
}

/* Computes the mean force along the stream after the flow has settled, in units of the finest grid. */
static kf_status mean_force(const kf_validation *validation, const kf_tunnel *t, kf_scene *scene, int levels,
                            double *force, kf_error *error) {
    enum { MOMENTS = 50 };
    const double travel = ldexp(t->diameter / t->speed, -levels);
    kf_plan *plan;
    kf_status status = kf_kinetic_case_open(validation, scene, NULL, &plan, error);
    if (status == KF_OK) status = kf_tunnel_mean_force(validation, t, travel, MOMENTS, plan, force, error);
    kf_flow_close(plan);
    *force = ldexp(*force, 2 * levels);
    return status;
}

/* Opens the same tunnel in fine cells everywhere, and in boxes. */
static kf_status compare_drag(kf_validation *validation, const nested_tunnel *t, kf_error *error) {
    double uniform = 0.0, nested = 0.0;
    kf_scene *boxes = make_tunnel(t);
    kf_scene *everywhere = boxes->finer[t->levels - 1];
    char quantity[96];
    kf_status status = mean_force(validation, &t->fine, everywhere, 0, &uniform, error);
    if (status == KF_OK) status = mean_force(validation, &t->fine, boxes, t->levels, &nested, error);
    kf_scene_free(boxes);
    KF_TRY(status);
    (void)snprintf(quantity, sizeof quantity, "%s at Re %g, %g cells in %d levels: drag",
                   t->fine.cylinder ? "cylinder" : "sphere", t->fine.reynolds, t->fine.diameter,
                   t->levels + 1);
    const double longer = t->fine.cylinder ? ldexp(1.0, t->levels) : 1.0; /* than one of a single grid */
    kf_check_relative(validation, quantity, "the same in fine cells everywhere",
                      kf_tunnel_coefficient(&t->fine, uniform / longer),
                      kf_tunnel_coefficient(&t->fine, nested / longer), 0.005);
    return KF_OK;
}

kf_status kf_case_nested_drag(kf_validation *validation, kf_error *error) {
    static const nested_tunnel
        small = {{false, 8, 0.08, 100, 4, 6, 8, 12, 3, 0.1}, 1, {1.5}, {3.0}, {1.25}},
        /* Before the wake sheds vortices. */
        round = {{true, 8, 0.08, 100, 4, 8, 12, 20, 3, 0.1}, 1, {1.5}, {4.0}, {1.5}},
        sphere = {{false, 16, 0.05, 100, 6, 10, 12, 30, 5, 0.1}, 2, {3.0, 1.25}, {6.0, 2.5}, {2.5, 1.125}},
        cylinder = {{true, 16, 0.05, 100, 16, 32, 40, 200, 60, 0.1}, 2, {4.0, 1.5}, {16.0, 4.0}, {4.0, 1.5}};
    if (!validation->gpu) {
        KF_TRY(compare_drag(validation, &small, error));
        return compare_drag(validation, &round, error);
    }
    KF_TRY(compare_drag(validation, &sphere, error));
    return compare_drag(validation, &cylinder, error);
}
