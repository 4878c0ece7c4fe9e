/* Runs, plans and scenes that the tests of the kinetic system's teams share, and the comparison of a
 * team's results with one device's. */
#ifndef KF_TESTS_UNIT_KINETIC_TEAMS_H
#define KF_TESTS_UNIT_KINETIC_TEAMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/cpu/queue.h"
#include "base/backend/team/team.h"
#include "base/backend/team/world.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic.h"
#include "tests/unit/free_torus.h"
#include "tests/unit/team_fixture.h"

/* The steps of a run, the random orders of streams that a test tries, and the most that it tries until one
 * shows that awaits are missing. */
enum { STEPS = 19, SEEDS = 3, MOST_SEEDS = 12 };

static const kf_system *const kinetic = &kf_system_kinetic;

/* The results of a plan. */
typedef struct outcome {
    void *state;
    size_t bytes;
    kf_solid_load load;
    kf_fields fields;
} outcome;

static inline void outcome_free(outcome *o) {
    free(o->state);
    kf_fields_free(&o->fields);
}

static inline kf_plan *open_plan(const kf_scene *scene, const char *const *fixed, kf_backend *backend) {
    kf_error error = {KF_OK, ""};
    kf_plan *plan;
    const kf_config config = config_of(kinetic, scene, backend, fixed);
    must(kinetic->plan(problem_of(kinetic, scene), &config, backend, &plan, &error), &error);
    must(kf_plan_initialise(plan, &error), &error);
    return plan;
}

static inline void finish(kf_plan *plan, outcome *o) {
    kf_error error = {KF_OK, ""};
    memset(o, 0, sizeof *o);
    must(kf_backend_synchronize(plan->backend, &error), &error);
    must(plan->methods->flow->load(plan, &o->load, &error), &error);
    must(plan->methods->flow->fields(plan, &o->fields, &error), &error);
    take_state(plan, &o->state, &o->bytes);
    must(kf_plan_check_buffers(plan, &error), &error);
}

static inline void run_steps(const kf_scene *scene, const char *const *fixed, const char *device, int steps,
                             outcome *o) {
    kf_error error = {KF_OK, ""};
    kf_backend *backend;
    must(kf_backend_open(device, &backend, &error), &error);
    kf_plan *plan = open_plan(scene, fixed, backend);
    must(kf_plan_advance(plan, (uint64_t)steps, &error), &error);
    finish(plan, o);
    kf_plan_free(plan);
    kf_backend_close(backend);
}

static inline void run(const kf_scene *scene, const char *const *fixed, const char *device, outcome *o) {
    run_steps(scene, fixed, device, STEPS, o);
}

static inline void same(const outcome *one, const outcome *team, const char *what) {
    const size_t nodes =
        (size_t)one->fields.nodes[0] * (size_t)one->fields.nodes[1] * (size_t)one->fields.nodes[2];
    assert_int_equal(one->bytes, team->bytes);
    if (memcmp(one->fields.density, team->fields.density, nodes * sizeof(float)) != 0)
        for (size_t i = 0; i < nodes; i++)
            if (memcmp(&one->fields.density[i], &team->fields.density[i], sizeof(float)) != 0)
                fail_msg("%s: density %.9g, not %.9g, in plane %zu at %zu", what,
                         (double)team->fields.density[i], (double)one->fields.density[i],
                         i / (size_t)one->fields.nodes[0] / (size_t)one->fields.nodes[1],
                         i % ((size_t)one->fields.nodes[0] * (size_t)one->fields.nodes[1]));
    /* The first of several processes has it. */
    if (kf_world_rank() == 0 && memcmp(one->state, team->state, one->bytes) != 0)
        fail_msg("%s: the states differ", what);
    if (!kf_solid_load_same(&one->load, &team->load))
        fail_msg("%s: force %.17g %.17g %.17g, not %.17g %.17g %.17g", what, team->load.force[0],
                 team->load.force[1], team->load.force[2], one->load.force[0], one->load.force[1],
                 one->load.force[2]);
}

static const char *const teams[] = {"cpu:1,cpu:1", "cpu:1,cpu:1,cpu:1", "cpu:1,cpu:1,cpu:1,cpu:1",
                                    "cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu"};

/* Opens a plan with a further parameter, unless that is NULL. */
static inline void add_to(const char *const *fixed, const char *other, const char *with[32]) {
    int count = 0;
    for (; fixed[count] != NULL; count++)
        with[count] = fixed[count];
    if (other != NULL) with[count++] = other;
    with[count] = NULL;
}

/* Runs with planes that are copied instead of read in place. */
static inline void run_copying(const kf_scene *scene, const char *const *fixed, const char *transfer,
                               const char *device, outcome *o) {
    const char *with[32];
    add_to(fixed, transfer, with);
    run(scene, with, device, o);
}

static inline kf_scene *open_scene(const char *name, long nodes) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    const kf_scene_options options = {.node_limit = nodes};
    must(kf_scene_open(name, &options, &scene, &error), &error);
    scene->accuracy = 0.02;
    return scene;
}

static inline kf_scene *ball_scene(void) {
    return open_scene("ball", 6000);
}

/* These values of the fused plan are common to the rows below. */
#define FUSED                                                                                                \
    "plan=fused", "sample_block_length=2", "register_cap=0", "boundary_choices=false", "slab=0",             \
        "nodes_per_thread=1", "block_x=64", "block_y=2", "staged_nodes=0"

static const char *const two_grids[][24] = {
    {FUSED, "layout=csoa", "alpha=32", "storage=f32", "streaming=two_grids", "boundary_kernels=0",
     "immersed_boundary=aggregated", NULL},
    {FUSED, "layout=soa", "storage=f16", "streaming=two_grids", "boundary_kernels=0",
     "immersed_boundary=aggregated", NULL},
    {FUSED, "layout=aos", "storage=f32", "streaming=two_grids", "boundary_kernels=1",
     "immersed_boundary=scatter", "force_sum=fixed", NULL},
    {FUSED, "layout=csoa", "alpha=32", "storage=f16", "streaming=two_grids", "boundary_kernels=6",
     "immersed_boundary=scatter", "force_sum=fixed", NULL},
};

/* The flow's kernel leaves out the band, also in parts that have no samples. */
static const char *const masked[] = {"plan=fused",
                                     "sample_block_length=2",
                                     "register_cap=0",
                                     "boundary_choices=false",
                                     "nodes_per_thread=2",
                                     "block_x=64",
                                     "block_y=2",
                                     "staged_nodes=0",
                                     "layout=csoa",
                                     "alpha=32",
                                     "storage=f32",
                                     "streaming=two_grids",
                                     "boundary_kernels=0",
                                     "immersed_boundary=aggregated",
                                     "masked_band=true",
                                     "concurrent_solid=true",
                                     "overlap=false",
                                     "slab=0",
                                     NULL};

/* A grid that moves to and fro, of a team with copied planes. */
#define SHIFTED                                                                                              \
    "plan=fused", "sample_block_length=2", "register_cap=0", "boundary_choices=false", "streaming=shift",    \
        "nodes_per_thread=1", "block_x=64", "block_y=2", "staged_nodes=0"
static const char *const one_grid[][24] = {
    {SHIFTED, "slab=8", "layout=csoa", "alpha=32", "storage=f32", "boundary_kernels=0",
     "immersed_boundary=aggregated", NULL},
    {SHIFTED, "slab=4", "layout=soa", "storage=f32", "boundary_kernels=0", "immersed_boundary=aggregated",
     NULL},
    {SHIFTED, "slab=8", "layout=csoa", "alpha=32", "storage=f16", "boundary_kernels=0",
     "immersed_boundary=aggregated", NULL},
};

static inline kf_scene *empty_scene(void) {
    kf_scene *scene = open_scene("ball", 6000);
    scene->rate_rule = KF_RATE_ONES;
    scene->samples.count = 0;
    scene->mesh.triangle_count = 0;
    return scene;
}

static const char *const moments[][12] = {
    {"plan=moments", "layout=csoa", "alpha=32", "storage=f32", "block_x=32", "block_y=8", "march=8", NULL},
    {"plan=moments", "layout=soa", "storage=f16", "block_x=32", "block_y=8", "march=8", NULL},
    {"plan=moments", "layout=soa", "storage=f64", "block_x=32", "block_y=8", "march=16", NULL},
    {"plan=moments", "layout=csoa", "alpha=32", "storage=f32", "block_x=32", "block_y=8", "march=8",
     "force_sum=fixed", NULL},
};

/* The solid lies across the periodic faces of an axis and across a cut, in two passes. */
static inline kf_scene *across_the_seam(int axis) {
    kf_scene *scene = open_scene("ball", 6000);
    double *position = axis == 1 ? scene->samples.y : scene->samples.z;
    const double shift = scene->nodes[axis] - 1.3 - 0.5 * (scene->solid_low[axis] + scene->solid_high[axis]);
    scene->faces[2 * axis] = scene->faces[2 * axis + 1] = KF_PERIODIC;
    for (size_t s = 0; s < scene->samples.count; s++)
        position[s] += shift;
    scene->solid_low[axis] += shift;
    scene->solid_high[axis] += shift;
    scene->immersed_passes = 2;
    return scene;
}

static inline kf_scene *seam_scene(void) {
    return across_the_seam(2);
}

static inline kf_scene *seam_across_y(void) {
    return across_the_seam(1);
}

static const char *const moving[][24] = {
    {FUSED, "layout=csoa", "alpha=32", "storage=f32", "streaming=two_grids", "boundary_kernels=0",
     "immersed_boundary=aggregated", "force_sum=fixed", NULL},
    {SHIFTED, "slab=4", "layout=csoa", "alpha=32", "storage=f16", "boundary_kernels=0",
     "immersed_boundary=scatter", "force_sum=fixed", NULL},
    {FUSED, "layout=csoa", "alpha=32", "storage=f32", "streaming=two_grids", "boundary_kernels=0",
     "immersed_boundary=aggregated", "patch_length=256", "force_sum=fixed", NULL},
};

static inline kf_scene *moving_scene(void) {
    kf_scene *scene = open_scene("torus", 6000);
    scene->motion.velocity[2] = 0.02;
    return scene;
}

/* A free solid across the periodic faces along x and across the cuts, in one pass and in two. Its
 * velocities need the sums of all parts. */
static inline kf_scene *free_scene(void) {
    kf_scene *scene = open_scene("torus", 6000);
    set_free_torus(scene);
    return scene;
}

static inline bool equal(const outcome *one, const outcome *team) {
    return one->bytes == team->bytes && memcmp(one->state, team->state, one->bytes) == 0 &&
           kf_solid_load_same(&one->load, &team->load);
}

static const char direct[] = "transfer=direct", copies[] = "transfer=copies";
static const char *const transfers[] = {copies, "transfer=host"};

/* Runs the same with a team that is cut across y, too, unless cut is NULL. */
static inline void run_cut(const kf_scene *scene, const char *const *fixed, const char *cut,
                           const char *transfer, const char *device, outcome *o) {
    const char *with[32];
    add_to(fixed, cut, with);
    run_copying(scene, with, transfer, device, o);
}

/* All axes have outflows, whose edges are on other parts than their middles. */
static inline kf_scene *open_ends(void) {
    kf_scene *scene = ball_scene();
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = scene->faces[KF_ZMAX] = KF_OUTFLOW;
    return scene;
}

/* A solid travels across the periodic faces along y and z. */
static inline kf_scene *moving_on_a_torus(void) {
    kf_scene *scene = moving_scene();
    for (int face = KF_YMIN; face <= KF_ZMAX; face++)
        scene->faces[face] = KF_PERIODIC;
    scene->motion.velocity[1] = 0.15;
    return scene;
}

static inline kf_scene *free_on_a_torus(void) {
    kf_scene *scene = free_scene();
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_PERIODIC;
    scene->motion.velocity[1] = 0.1;
    return scene;
}

/* An outflow along z, in a domain that is periodic along y. */
static inline kf_scene *open_and_periodic(void) {
    kf_scene *scene = seam_across_y();
    scene->faces[KF_ZMIN] = scene->faces[KF_ZMAX] = KF_OUTFLOW;
    scene->immersed_passes = 1;
    return scene;
}

static inline kf_scene *free_between_mirrors(void) {
    kf_scene *scene = free_scene();
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_FREE_SLIP;
    return scene;
}

static const char *const doubles[] = {FUSED,
                                      "layout=soa",
                                      "storage=f64",
                                      "streaming=two_grids",
                                      "boundary_kernels=0",
                                      "immersed_boundary=aggregated",
                                      NULL};

/* Scenes that plan moments takes. */
static inline kf_scene *with_moments(kf_scene *scene) {
    scene->rate_rule = KF_RATE_ONES;
    return scene;
}

static inline kf_scene *solid_of_moments(void) {
    return with_moments(ball_scene());
}

static inline kf_scene *moments_across_the_seam(void) {
    return with_moments(seam_scene());
}

static inline kf_scene *moving_moments(void) {
    return with_moments(moving_scene());
}

static inline kf_scene *moments_on_a_torus(void) {
    return with_moments(moving_on_a_torus());
}

static inline kf_scene *moments_between_mirrors(void) {
    return with_moments(free_between_mirrors());
}

static inline kf_scene *moments_across_y(void) {
    return with_moments(seam_across_y());
}

static inline kf_scene *free_moments(void) {
    return with_moments(free_scene());
}

static inline kf_scene *moments_at_ends(void) {
    return with_moments(open_ends());
}

/* The plans of several passes over the nodes: fields of the whole domain, cell lists and scattered forces. */
#define SEPARATE                                                                                             \
    "sample_order=cells", "sample_block_length=2", "storage=f32", "block_x=64", "block_y=2",                 \
        "boundary_kernels=1"
static const char *const separate[][24] = {
    {"plan=baseline", "layout=aos", SEPARATE, "immersed_boundary=gather", NULL},
    {"plan=paper", "layout=csoa", "alpha=32", "collision_split=2", SEPARATE, "immersed_boundary=scatter",
     NULL},
};

/* Half of the ball, whose flat side is on a wall across y or z. */
static inline kf_scene *on_a_wall(int axis) {
    kf_scene *scene = ball_scene();
    kf_samples *samples = &scene->samples;
    double *position = axis == 1 ? samples->y : samples->z;
    const double middle = 0.5 * (scene->solid_low[axis] + scene->solid_high[axis]);
    size_t kept = 0;
    for (size_t s = 0; s < samples->count; s++) {
        if (position[s] < middle) continue;
        position[s] -= middle;
        samples->x[kept] = samples->x[s];
        samples->y[kept] = samples->y[s];
        samples->z[kept] = samples->z[s];
        samples->area[kept++] = samples->area[s];
    }
    samples->count = kept;
    scene->solid_low[axis] = 0.0;
    scene->solid_high[axis] -= middle;
    scene->faces[2 * axis] = KF_WALL;
    return scene;
}

static inline kf_scene *on_a_wall_across_y(void) {
    return on_a_wall(1);
}

static inline kf_scene *on_the_ground(void) {
    return on_a_wall(2);
}

/* Runs a team, with its streams in a random order by the seed, and checks that it ends as one device does.
 * Seed 0: in order. */
typedef void (*team_run)(const kf_scene *scene, const char *const *fixed, const char *change,
                         const char *transfer, const char *device, outcome *o);
static inline void holds(team_run runs, const kf_scene *scene, const char *const *fixed, const char *change,
                         const char *transfer, const char *device, uint64_t seed, const outcome *one,
                         const char *what) {
    outcome team;
    kf_cpu_shuffle(seed, -1);
    runs(scene, fixed, change, transfer, device, &team);
    kf_cpu_shuffle(0, -1);
    same(one, &team, what);
    outcome_free(&team);
}

/* Returns whether a team that copies planes ends as one device does, in as many orders of its streams. */
static inline bool copies_alike(const kf_scene *scene, const char *const *fixed, const char *cut,
                                const char *transfer, const char *device, const outcome *one, int seeds,
                                int dropped) {
    bool alike = true;
    for (int seed = 1; seed <= seeds && alike; seed++) {
        outcome team;
        kf_cpu_shuffle((uint64_t)seed, dropped);
        run_cut(scene, fixed, cut, transfer, device, &team);
        alike = equal(one, &team);
        outcome_free(&team);
    }
    kf_cpu_shuffle(0, -1);
    return alike;
}

/* Does one run in three plans one after the other, on three, four, and two or one devices. The second is
 * changed. */
static inline void run_restarted(const kf_scene *scene, const char *const *fixed, const char *cut,
                                 const char *transfer, outcome *o) {
    kf_error error = {KF_OK, ""};
    const char *const devices[] = {teams[1], kf_kinetic_most_parts(scene) < 4 ? teams[0] : teams[2], "cpu:1"};
    static const uint64_t until[] = {6, 13, STEPS};
    void *kept = NULL;
    size_t bytes = 0;
    for (int i = 0; i < 3; i++) {
        kf_backend *backend;
        const char *cut_plan[32], *plans[32];
        add_to(fixed, i == 1 ? cut : NULL, cut_plan);
        add_to(cut_plan, i == 1 ? transfer : NULL, plans);
        must(kf_backend_open(devices[i], &backend, &error), &error);
        kf_plan *plan = open_plan(scene, plans, backend);
        if (i > 0) must(plan->methods->restore(plan, kept, until[i - 1], &error), &error);
        must(kf_plan_advance(plan, until[i] - plan->steps_done, &error), &error);
        free(kept);
        take_state(plan, &kept, &bytes);
        if (i == 2) finish(plan, o);
        kf_plan_free(plan);
        kf_backend_close(backend);
    }
    free(kept);
}

/* Runs both transfers in order and in random order, and frees the scene. */
static inline void holds_in_any_order(kf_scene *scene, const char *const *plan, const char *cut,
                                      const char *team, size_t number) {
    outcome one;
    run(scene, plan, "cpu:1", &one);
    for (int t = 0; t < 2; t++)
        for (int ordered = 0; ordered < 2; ordered++) {
            char what[64];
            (void)snprintf(what, sizeof what, "%s, case %zu, %s, %s", cut == NULL ? "slabs" : cut, number,
                           transfers[t], ordered == 0 ? "in random order" : "in order");
            holds(run_cut, scene, plan, cut, transfers[t], team, ordered == 0 ? number + 1 : 0, &one, what);
        }
    outcome_free(&one);
    kf_scene_free(scene);
}

#endif
