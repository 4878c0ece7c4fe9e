#include "harness/bench/step_scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/log.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "solver/flow/flow_problem.h"
#include "solver/systems.h"

enum { WIDE_EDGE = 432, CAPACITY_EDGE = 1000, SMALL_EDGE = 96, TINY_EDGE = 32 };
static const double PI = 3.14159265358979323846;
/* What 16-bit storage may add to the fields: it is 0.014 of the small deviations of density here. */
static const double half_accuracy = 0.03;
/* The flow stays finite with these; the time of a step does not depend on them. */
static const double bgk_viscosity = 0.02, rotating_viscosity = 0.05;

/* --- samples -------------------------------------------------------------------------------------------- */

static double *scaled(const double *values, size_t count, double factor, double offset) {
    double *copy = kf_allocate(count * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = factor * values[i] + offset;
    return copy;
}

/* Cells that hold a sample when the samples are scaled about the lower corner of their box. */
static double occupied_cells(const kf_scene *scene, double scale) {
    const kf_samples *samples = &scene->samples;
    const double *low = scene->solid_low, *high = scene->solid_high;
    size_t extent[3];
    for (int a = 0; a < 3; a++)
        extent[a] = (size_t)(scale * (high[a] - low[a])) + 3;
    unsigned char *cells = kf_allocate_zeroed(extent[0] * extent[1], extent[2]);
    double occupied = 0;
    for (size_t s = 0; s < samples->count; s++) {
        const double position[3] = {samples->x[s], samples->y[s], samples->z[s]};
        size_t cell[3];
        for (int a = 0; a < 3; a++) {
            const double inside = floor(scale * (position[a] - low[a]) + (low[a] - floor(low[a])));
            cell[a] = inside < 0 ? 0 : (size_t)fmin(inside, (double)extent[a] - 1);
        }
        unsigned char *place = &cells[cell[0] + extent[0] * (cell[1] + extent[1] * cell[2])];
        occupied += *place == 0;
        *place = 1;
    }
    free(cells);
    return occupied;
}

double kf_step_samples_per_cell(const kf_scene *scene) {
    return scene->samples.count > 0 ? (double)scene->samples.count / occupied_cells(scene, 1.0) : 0.0;
}

/* --- the main scene with one thing changed -------------------------------------------------------------- */

static kf_scene *copy_main(const kf_step_scenes *scenes) {
    kf_scene *copy = kf_allocate(sizeof *copy);
    *copy = *scenes->list[KF_STEP_MAIN].scene;
    copy->notes = NULL;
    return copy;
}

static kf_status make_bgk(kf_step_scenes *scenes, kf_step_scene *made, kf_error *error) {
    (void)error;
    made->scene = copy_main(scenes);
    made->scene->collision = KF_BGK;
    made->scene->viscosity = bgk_viscosity;
    return KF_OK;
}

static kf_status make_ones(kf_step_scenes *scenes, kf_step_scene *made, kf_error *error) {
    (void)error;
    made->scene = copy_main(scenes);
    made->scene->rate_rule = KF_RATE_ONES;
    return KF_OK;
}

static kf_status make_empty(kf_step_scenes *scenes, kf_step_scene *made, kf_error *error) {
    (void)error;
    kf_scene *scene = made->scene = copy_main(scenes);
    memset(&scene->samples, 0, sizeof scene->samples);
    memset(&scene->mesh, 0, sizeof scene->mesh);
    memset(scene->solid_low, 0, sizeof scene->solid_low);
    memset(scene->solid_high, 0, sizeof scene->solid_high);
    scene->solid_area = scene->frontal_area = 0.0;
    return KF_OK;
}

/* About its length the body's rim stays slower than sound, and the body is lifted so that it has room. */
static kf_status make_rotating(kf_step_scenes *scenes, kf_step_scene *made, kf_error *error) {
    (void)error;
    kf_scene *scene = made->scene = copy_main(scenes);
    const double middle = 0.5 * (scene->nodes[2] - 1);
    const double lift = middle - 0.5 * (scene->solid_low[2] + scene->solid_high[2]);
    made->own.z = scaled(scene->samples.z, scene->samples.count, 1.0, lift);
    made->own.vertices = scaled(scene->mesh.vertices, 3 * scene->mesh.vertex_count, 1.0, 0.0);
    for (size_t v = 0; v < scene->mesh.vertex_count; v++)
        made->own.vertices[3 * v + 2] += lift;
    scene->samples.z = made->own.z;
    scene->mesh.vertices = made->own.vertices;
    scene->solid_low[2] += lift;
    scene->solid_high[2] += lift;
    scene->viscosity = rotating_viscosity;
    kf_motion *motion = &scene->motion;
    *motion = (kf_motion){.moving = true, .axis = {1, 0, 0}, .angular_speed = 2.0 * PI / KF_STEP_TURN};
    double radius = 0;
    for (int a = 0; a < 3; a++) {
        motion->center[a] = 0.5 * (scene->solid_low[a] + scene->solid_high[a]);
        if (a > 0) radius = hypot(radius, 0.5 * (scene->solid_high[a] - scene->solid_low[a]));
    }
    for (int a = 1; a < 3; a++)
        if (motion->center[a] - radius < 1.0 || motion->center[a] + radius > scene->nodes[a] - 2.0)
            (void)snprintf(made->reason, sizeof made->reason, "the body has no room to turn in this domain");
    return KF_OK;
}

static kf_status make_odd(kf_step_scenes *scenes, kf_step_scene *made, kf_error *error) {
    (void)error;
    static const int change[3] = {-3, 1, -1};
    made->scene = copy_main(scenes);
    for (int a = 0; a < 3; a++)
        made->scene->nodes[a] += change[a];
    return KF_OK;
}

/* A cube of nodes that needs so many bytes a node; only where it fits. */
static void make_cube(kf_step_scenes *scenes, kf_step_scene *made, int edge, double node_bytes) {
    const double needed = node_bytes * edge * edge * edge;
    char needed_text[32], free_text[32];
    made->scene = copy_main(scenes);
    if (!scenes->gpu)
        (void)snprintf(made->reason, sizeof made->reason, "only measured on a GPU");
    else if (needed > (double)scenes->device->memory_free_bytes)
        (void)snprintf(made->reason, sizeof made->reason, "it needs %s of memory, and %s are free",
                       kf_human_bytes(needed, needed_text),
                       kf_human_bytes((double)scenes->device->memory_free_bytes, free_text));
    for (int a = 0; a < 3; a++) {
        if (edge < made->scene->nodes[a] && made->reason[0] == '\0')
            (void)snprintf(made->reason, sizeof made->reason, "the main scene is larger than %d^3", edge);
        made->scene->nodes[a] = edge;
    }
}

static kf_status make_wide(kf_step_scenes *scenes, kf_step_scene *made, kf_error *error) {
    (void)error;
    make_cube(scenes, made, WIDE_EDGE, 240);
    return KF_OK;
}

static kf_status make_capacity(kf_step_scenes *scenes, kf_step_scene *made, kf_error *error) {
    (void)error;
    make_cube(scenes, made, CAPACITY_EDGE, 118);
    return KF_OK;
}

static kf_status make_dense(kf_step_scenes *scenes, kf_step_scene *made, kf_error *error) {
    enum { MARGIN = 8, ATTEMPTS = 6 };
    static const double least = 27, wanted = 30, most = 33; /* samples a cell */
    (void)error;
    kf_scene *scene = made->scene = copy_main(scenes);
    const kf_samples samples = scene->samples;
    double scale = 1.0, reached = 0;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        reached = (double)samples.count / occupied_cells(scene, scale);
        if (reached >= least && reached <= most) break;
        scale *= sqrt(reached / wanted);
    }
    double *const coordinates[3] = {samples.x, samples.y, samples.z};
    double **const own[3] = {&made->own.x, &made->own.y, &made->own.z};
    for (int a = 0; a < 3; a++) {
        const double low = scene->solid_low[a], fraction = low - floor(low),
                     length = scene->solid_high[a] - low;
        *own[a] = scaled(coordinates[a], samples.count, scale, MARGIN + fraction - scale * low);
        scene->solid_low[a] = MARGIN + fraction;
        scene->solid_high[a] = scene->solid_low[a] + scale * length;
        scene->nodes[a] = (int)ceil(scene->solid_high[a]) + MARGIN;
    }
    made->own.area = scaled(samples.area, samples.count, scale * scale, 0.0);
    scene->samples = (kf_samples){samples.count, made->own.x, made->own.y, made->own.z, made->own.area};
    scene->solid_area *= scale * scale;
    return KF_OK;
}

static kf_status make_cached(kf_step_scenes *scenes, kf_step_scene *made, kf_error *error) {
    static const double node_bytes = 216, filled = 0.6;
    KF_TRY(make_empty(scenes, made, error));
    const double nodes = filled * (double)scenes->device->l2_bytes / node_bytes;
    const int edge = (int)cbrt(nodes) / 8 * 8;
    if (edge < 16)
        (void)snprintf(made->reason, sizeof made->reason, "the last-level cache is too small, or not known");
    for (int a = 0; a < 3; a++)
        made->scene->nodes[a] = edge < 16 ? 16 : edge;
    return KF_OK;
}

static kf_status open_cube(kf_step_scene *made, int edge, kf_error *error) {
    const kf_scene_options options = {.nodes = {edge, edge, edge}};
    made->opened = true;
    return kf_scene_open("ahmed", &options, &made->scene, error);
}

static kf_status make_small(kf_step_scenes *scenes, kf_step_scene *made, kf_error *error) {
    (void)scenes;
    return open_cube(made, SMALL_EDGE, error);
}

static kf_status make_tiny(kf_step_scenes *scenes, kf_step_scene *made, kf_error *error) {
    (void)scenes;
    return open_cube(made, TINY_EDGE, error);
}

static const struct {
    kf_status (*make)(kf_step_scenes *scenes, kf_step_scene *made, kf_error *error);
    kf_step_scene_id verified_as;
} makers[KF_STEP_SCENES] = {
    [KF_STEP_MAIN] = {NULL, KF_STEP_MAIN},
    [KF_STEP_BGK] = {make_bgk, KF_STEP_BGK},
    [KF_STEP_ONES] = {make_ones, KF_STEP_ONES},
    [KF_STEP_EMPTY] = {make_empty, KF_STEP_EMPTY},
    [KF_STEP_ROTATING] = {make_rotating, KF_STEP_ROTATING},
    [KF_STEP_ODD] = {make_odd, KF_STEP_ODD},
    [KF_STEP_WIDE] = {make_wide, KF_STEP_MAIN},
    [KF_STEP_CAPACITY] = {make_capacity, KF_STEP_MAIN},
    [KF_STEP_DENSE] = {make_dense, KF_STEP_MAIN},
    [KF_STEP_CACHED] = {make_cached, KF_STEP_EMPTY},
    [KF_STEP_SMALL] = {make_small, KF_STEP_SMALL},
    [KF_STEP_TINY] = {make_tiny, KF_STEP_TINY},
};

/* --- opening and closing ---------------------------------------------------------------------------------
 */

static kf_status open_main(kf_step_scenes *scenes, const kf_bench_options *options, kf_error *error) {
    const int edge = scenes->gpu ? 400 : 128;
    kf_scene_options scene_options = {.nodes = {edge, edge, edge},
                                      .samples_per_cell = scenes->gpu ? 107 : 25};
    if (options->nodes[0] > 0) memcpy(scene_options.nodes, options->nodes, sizeof scene_options.nodes);
    if (options->samples_per_cell > 0) scene_options.samples_per_cell = options->samples_per_cell;
    kf_step_scene *made = &scenes->list[KF_STEP_MAIN];
    made->opened = true;
    KF_TRY(kf_scene_open("ahmed", &scene_options, &made->scene, error));
    made->scene->accuracy = fmax(made->scene->accuracy, half_accuracy);
    return KF_OK;
}

static void free_scene(kf_step_scene *made) {
    if (made->opened)
        kf_scene_free(made->scene);
    else
        free(made->scene);
    kf_problem_free(made->problem);
    made->problem = NULL;
    free(made->own.x);
    free(made->own.y);
    free(made->own.z);
    free(made->own.area);
    free(made->own.vertices);
    made->scene = NULL;
    memset(&made->own, 0, sizeof made->own);
}

/* The trial, with the same speed of rotation a step: the rim is then slower, as far as the body is smaller.
 */
static kf_status open_trial(kf_step_scene *made, kf_error *error) {
    KF_TRY(kf_trial_open(made->problem, &made->trial, error));
    kf_scene *reduced = made->trial.problem->own;
    reduced->motion.angular_speed = made->scene->motion.angular_speed;
    return KF_OK;
}

static kf_status make_scene(kf_step_scenes *scenes, kf_step_scene_id id, kf_error *error) {
    kf_step_scene *made = &scenes->list[id];
    if (kf_interrupted) return kf_fail(error, KF_INTERRUPTED, "interrupted while scenes were made");
    if (makers[id].make != NULL) KF_TRY(makers[id].make(scenes, made, error));
    if (made->reason[0] != '\0') {
        free_scene(made);
        return KF_OK;
    }
    made->problem = kf_flow_problem(scenes->system, made->scene, false);
    return made->verified_as == id ? open_trial(made, error) : KF_OK;
}

kf_status kf_step_scenes_open(kf_step_scenes *scenes, const kf_device_info *device,
                              const kf_bench_options *options, unsigned wanted, kf_error *error) {
    memset(scenes, 0, sizeof *scenes);
    scenes->system = kf_systems[0];
    scenes->device = device;
    scenes->gpu = strcmp(device->backend, "cuda") == 0;
    KF_TRY(kf_system_find("kinetic", &scenes->system, error));
    KF_TRY(open_main(scenes, options, error));
    wanted |= 1U << KF_STEP_MAIN;
    for (int id = 0; id < KF_STEP_SCENES; id++) {
        scenes->list[id].verified_as = makers[id].verified_as;
        if ((wanted >> id & 1U) != 0) wanted |= 1U << makers[id].verified_as;
    }
    for (int id = 0; id < KF_STEP_SCENES; id++)
        if ((wanted >> id & 1U) != 0) KF_TRY(make_scene(scenes, (kf_step_scene_id)id, error));
    return KF_OK;
}

kf_status kf_step_reference(kf_step_scenes *scenes, kf_step_scene_id id, kf_error *error) {
    kf_step_scene *verified = &scenes->list[scenes->list[id].verified_as];
    return kf_trial_refer(&verified->trial, error);
}

void kf_step_scenes_close(kf_step_scenes *scenes) {
    for (int id = KF_STEP_SCENES - 1; id >= 0; id--) {
        kf_step_scene *made = &scenes->list[id];
        kf_trial_close(&made->trial);
        if (made->scene != NULL) free_scene(made);
    }
}
