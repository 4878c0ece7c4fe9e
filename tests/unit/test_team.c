/* Teams of devices: a plan of the kinetic system on 2, 3 and 4 parts is bit for bit that of one device, in
 * its fields, its forces and its whole state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/backend/cpu_queue.h"
#include "base/backend/nccl.h"
#include "base/backend/world.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic.h"
#include "tests/unit/free_torus.h"
#include "tests/unit/team_fixture.h"

enum { STEPS = 37, SEEDS = 3, MOST_SEEDS = 12 };

static const kf_system *const kinetic = &kf_system_kinetic;

/* What a plan leaves behind. */
typedef struct outcome {
    void *state;
    size_t bytes;
    kf_solid_load load;
    kf_fields fields;
} outcome;

static void outcome_free(outcome *o) {
    free(o->state);
    kf_fields_free(&o->fields);
}

static kf_plan *open_plan(const kf_scene *scene, const char *const *fixed, kf_backend *backend) {
    kf_error error = {KF_OK, ""};
    kf_plan *plan;
    const kf_config config = config_of(kinetic, scene, backend, fixed);
    must(kinetic->plan(problem_of(kinetic, scene), &config, backend, &plan, &error), &error);
    must(kf_plan_initialise(plan, &error), &error);
    return plan;
}

static void finish(kf_plan *plan, outcome *o) {
    kf_error error = {KF_OK, ""};
    memset(o, 0, sizeof *o);
    must(kf_backend_synchronize(plan->backend, &error), &error);
    must(plan->methods->flow->load(plan, &o->load, &error), &error);
    must(plan->methods->flow->fields(plan, &o->fields, &error), &error);
    take_state(plan, &o->state, &o->bytes);
    must(kf_plan_check_buffers(plan, &error), &error);
}

static void run(const kf_scene *scene, const char *const *fixed, const char *device, outcome *o) {
    kf_error error = {KF_OK, ""};
    kf_backend *backend;
    must(kf_backend_open(device, &backend, &error), &error);
    kf_plan *plan = open_plan(scene, fixed, backend);
    must(kf_plan_advance(plan, STEPS, &error), &error);
    finish(plan, o);
    kf_plan_free(plan);
    kf_backend_close(backend);
}

static void same(const outcome *one, const outcome *team, const char *what) {
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
    if (memcmp(one->state, team->state, one->bytes) != 0) fail_msg("%s: the states differ", what);
    if (memcmp(&one->load, &team->load, sizeof one->load) != 0)
        fail_msg("%s: force %.17g %.17g %.17g, not %.17g %.17g %.17g", what, team->load.force[0],
                 team->load.force[1], team->load.force[2], one->load.force[0], one->load.force[1],
                 one->load.force[2]);
}

static const char *const teams[] = {"cpu:1,cpu:1", "cpu:1,cpu:1,cpu:1", "cpu:1,cpu:1,cpu:1,cpu:1"};

/* A plan with another parameter, unless that is NULL. */
static void add_to(const char *const *fixed, const char *other, const char *with[32]) {
    int count = 0;
    for (; fixed[count] != NULL; count++)
        with[count] = fixed[count];
    if (other != NULL) with[count++] = other;
    with[count] = NULL;
}

/* The same planes, copied instead of read in place. */
static void run_copying(const kf_scene *scene, const char *const *fixed, const char *transfer,
                        const char *device, outcome *o) {
    const char *with[32];
    add_to(fixed, transfer, with);
    run(scene, with, device, o);
}

/* One plan, on one device and on the first `count` of the teams. */
static void compare(const kf_scene *scene, const char *const *fixed, int count) {
    outcome one, team;
    char what[1024] = "";
    for (int i = 0; fixed[i] != NULL; i++) {
        strncat(what, fixed[i], sizeof what - strlen(what) - 2);
        strcat(what, " ");
    }
    run(scene, fixed, "cpu:1", &one);
    for (int t = 0; t < count; t++) {
        run(scene, fixed, teams[t], &team);
        same(&one, &team, what);
        outcome_free(&team);
    }
    outcome_free(&one);
}

static kf_scene *open_scene(const char *name, long nodes) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    const kf_scene_options options = {.node_limit = nodes};
    must(kf_scene_open(name, &options, &scene, &error), &error);
    scene->accuracy = 0.02;
    return scene;
}

static kf_scene *ball_scene(void) {
    return open_scene("ball", 6000);
}

/* Of the fused plan: what is common to the rows below. */
#define FUSED                                                                                                \
    "plan=fused", "morton=false", "sample_block_length=2", "register_cap=0", "exchange=false",               \
        "shell_choices=false", "slab=0", "nodes_per_thread=1", "block_x=64", "block_y=2", "staged_nodes=0",  \
        "streaming_stores=false", "reorder_period=0"

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
                                     "morton=false",
                                     "sample_block_length=2",
                                     "register_cap=0",
                                     "exchange=false",
                                     "shell_choices=false",
                                     "nodes_per_thread=2",
                                     "block_x=64",
                                     "block_y=2",
                                     "staged_nodes=0",
                                     "streaming_stores=false",
                                     "reorder_period=0",
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

static void test_two_grids(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ball", 6000);
    for (size_t i = 0; i < sizeof two_grids / sizeof *two_grids; i++)
        compare(scene, two_grids[i], i == 0 ? 3 : 1);
    compare(scene, masked, 2);
    kf_scene_free(scene);
}

static const char *const one_grid[][24] = {
    {FUSED, "layout=csoa", "alpha=32", "storage=f32", "streaming=in_place", "boundary_kernels=0",
     "immersed_boundary=aggregated", NULL},
    {FUSED, "layout=soa", "storage=f16", "streaming=in_place", "boundary_kernels=1",
     "immersed_boundary=scatter", "force_sum=fixed", NULL},
    {FUSED, "layout=csoa", "alpha=32", "storage=f16", "streaming=esoteric", "boundary_kernels=0",
     "immersed_boundary=aggregated", NULL},
    {FUSED, "layout=soa", "storage=f32", "streaming=esoteric", "boundary_kernels=6",
     "immersed_boundary=aggregated", NULL},
};

static void test_one_grid(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ball", 6000);
    for (size_t i = 0; i < sizeof one_grid / sizeof *one_grid; i++)
        compare(scene, one_grid[i], i == 0 ? 3 : 1);
    kf_scene_free(scene);
}

#define SEPARATE                                                                                             \
    "morton=false", "sample_block_length=2", "storage=f32", "block_x=64", "block_y=2", "boundary_kernels=1", \
        "reorder_period=0"
static const char *const separate[][24] = {
    {"plan=baseline", "layout=aos", SEPARATE, "immersed_boundary=gather", NULL},
    {"plan=paper", "layout=csoa", "alpha=32", "collision_split=2", SEPARATE, "immersed_boundary=scatter",
     NULL},
};

/* The unfused plans: fields of the whole domain, cell lists and scattered forces. */
static void test_separate_passes(void **state) {
    (void)state;
    static const char *const scenes[] = {"ball", "torus"};
    for (size_t i = 0; i < 4; i++) {
        kf_scene *scene = open_scene(scenes[i % 2], 6000);
        if (i == 0) scene->immersed_passes = 2;
        compare(scene, separate[i / 2], i == 0 ? 2 : 1);
        kf_scene_free(scene);
    }
}

static kf_scene *empty_scene(void) {
    kf_scene *scene = open_scene("ball", 6000);
    scene->rate_rule = KF_RATE_ONES;
    scene->samples.count = 0;
    scene->mesh.triangle_count = 0;
    return scene;
}

static kf_scene *solid_of_moments(void) {
    kf_scene *scene = open_scene("ball", 6000);
    scene->rate_rule = KF_RATE_ONES;
    return scene;
}

static const char *const moments[] = {"plan=moments", "layout=csoa", "alpha=32", "storage=f32",
                                      "block_x=32",   "block_y=8",   "march=8",  NULL};

/* Nine moments a node, without a solid and with one, whose band's nodes stand in a list of all parts'. */
static void test_moments(void **state) {
    (void)state;
    kf_scene *scene = empty_scene();
    compare(scene, moments, 2);
    kf_scene_free(scene);
    scene = solid_of_moments();
    compare(scene, moments, 3);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        kf_cpu_shuffle(seed, -1);
        compare(scene, moments, (int)seed);
    }
    kf_cpu_shuffle(0, -1);
    kf_scene_free(scene);
}

/* Across z periodic, the solid lies across the seam and a cut, in two passes. */
static kf_scene *seam_scene(void) {
    kf_scene *scene = open_scene("ball", 6000);
    const double shift = scene->nodes[2] - 1.3 - 0.5 * (scene->solid_low[2] + scene->solid_high[2]);
    scene->faces[KF_ZMIN] = scene->faces[KF_ZMAX] = KF_PERIODIC;
    for (size_t s = 0; s < scene->samples.count; s++)
        scene->samples.z[s] += shift;
    scene->solid_low[2] += shift;
    scene->solid_high[2] += shift;
    scene->immersed_passes = 2;
    return scene;
}

static void test_across_the_seam(void **state) {
    (void)state;
    kf_scene *scene = seam_scene();
    compare(scene, two_grids[0], 1);
    compare(scene, two_grids[2], 1);
    compare(scene, one_grid[0], 1);
    kf_scene_free(scene);
}

static const char *const moving[][24] = {
    {FUSED, "layout=csoa", "alpha=32", "storage=f32", "streaming=two_grids", "boundary_kernels=0",
     "immersed_boundary=aggregated", "force_sum=fixed", NULL},
    {FUSED, "layout=csoa", "alpha=32", "storage=f16", "streaming=in_place", "boundary_kernels=0",
     "immersed_boundary=scatter", "force_sum=fixed", NULL},
};

static kf_scene *moving_scene(void) {
    kf_scene *scene = open_scene("torus", 6000);
    scene->motion.velocity[2] = 0.02;
    return scene;
}

static void test_moving_solid(void **state) {
    (void)state;
    kf_scene *scene = moving_scene();
    for (size_t i = 0; i < sizeof moving / sizeof *moving; i++)
        compare(scene, moving[i], i == 0 ? 3 : 1);
    kf_scene_free(scene);
}

/* A free solid across the seam along x and the cuts, in one pass and in two; its velocities need the sums of
 * all parts. */
static kf_scene *free_scene(void) {
    kf_scene *scene = open_scene("torus", 6000);
    set_free_torus(scene);
    return scene;
}

static void test_free_solid(void **state) {
    (void)state;
    kf_scene *scene = free_scene();
    compare(scene, moving[0], 1);
    compare(scene, separate[1], 1);
    scene->immersed_passes = 1;
    compare(scene, moving[0], 2);
    compare(scene, moving[1], 2);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        kf_cpu_shuffle(seed, -1);
        compare(scene, moving[seed % 2], 1);
    }
    kf_cpu_shuffle(0, -1);
    kf_scene_free(scene);
}

static bool equal(const outcome *one, const outcome *team) {
    return one->bytes == team->bytes && memcmp(one->state, team->state, one->bytes) == 0 &&
           memcmp(&one->load, &team->load, sizeof one->load) == 0;
}

/* Streams done in random order, as far as the plan's signals and awaits say, end the same; with awaits left
 * out they do not, so that none is there in vain. */
static void test_streams_in_random_order(void **state) {
    (void)state;
    kf_scene *scene = open_scene("ball", 6000);
    const char *const *const plans[] = {two_grids[0], one_grid[0], two_grids[2], separate[1]};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        outcome one, team;
        run(scene, plans[i], "cpu:1", &one);
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            kf_cpu_shuffle(seed, -1);
            run(scene, plans[i], teams[seed % 3], &team);
            same(&one, &team, "in random order");
            outcome_free(&team);
        }
        for (int dropped = 0; dropped < KF_CPU_DROPS; dropped++) {
            bool noticed = false;
            for (uint64_t seed = 1; seed <= MOST_SEEDS && !noticed; seed++) {
                kf_cpu_shuffle(seed, dropped);
                run(scene, plans[i], teams[2], &team);
                noticed = !equal(&one, &team);
                outcome_free(&team);
            }
            if (!noticed) fail_msg("plan %zu: awaits %d of %d are not missed", i, dropped, KF_CPU_DROPS);
        }
        kf_cpu_shuffle(0, -1);
        outcome_free(&one);
    }
    kf_scene_free(scene);
}

static const char *const transfers[] = {"transfer=copies", "transfer=host"}, direct[] = "transfer=direct";

/* The same of a team that is cut across y, too, unless cut is NULL. */
static void run_cut(const kf_scene *scene, const char *const *fixed, const char *cut, const char *transfer,
                    const char *device, outcome *o) {
    const char *with[32];
    add_to(fixed, cut, with);
    run_copying(scene, with, transfer, device, o);
}

/* A team that one of these runs ends as one device does, its streams done in an order that the seed chooses;
 * 0: as they come. */
typedef void (*team_run)(const kf_scene *scene, const char *const *fixed, const char *change,
                         const char *transfer, const char *device, outcome *o);
static void holds(team_run runs, const kf_scene *scene, const char *const *fixed, const char *change,
                  const char *transfer, const char *device, uint64_t seed, const outcome *one,
                  const char *what) {
    outcome team;
    kf_cpu_shuffle(seed, -1);
    runs(scene, fixed, change, transfer, device, &team);
    kf_cpu_shuffle(0, -1);
    same(one, &team, what);
    outcome_free(&team);
}

/* Whether a team that copies planes ends as one device does, in as many orders of its streams. */
static bool copies_alike(const kf_scene *scene, const char *const *fixed, const char *cut,
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

/* Half of the ball, whose flat side lies on a wall across y or z. */
static kf_scene *on_a_wall(int axis) {
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

static kf_scene *on_a_wall_across_y(void) {
    return on_a_wall(1);
}

static kf_scene *on_the_ground(void) {
    return on_a_wall(2);
}

/* Copied planes, from device to device and through the host, in two grids and in one, with and without the
 * band masked, of static, moving and free solids, domains that wrap, and moments; parts so thin that there is
 * nothing to work on meanwhile. */
static void test_copied_planes(void **state) {
    (void)state;
    static const char *const concurrent[] = {FUSED,
                                             "layout=csoa",
                                             "alpha=32",
                                             "storage=f32",
                                             "streaming=two_grids",
                                             "boundary_kernels=0",
                                             "immersed_boundary=aggregated",
                                             "concurrent_solid=true",
                                             NULL};
    static const struct {
        kf_scene *(*open)(void);
        const char *const *plan;
        int team;
    } cases[] = {
        {ball_scene, two_grids[0], 0},        {ball_scene, two_grids[1], 2}, {ball_scene, one_grid[0], 2},
        {ball_scene, one_grid[2], 1},         {empty_scene, moments, 2},     {seam_scene, two_grids[0], 1},
        {seam_scene, one_grid[0], 0},         {moving_scene, moving[0], 0},  {moving_scene, moving[1], 1},
        {free_scene, moving[0], 1},           {ball_scene, concurrent, 2},   {ball_scene, masked, 1},
        {on_a_wall_across_y, two_grids[0], 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        outcome one;
        kf_scene *scene = cases[c].open();
        run(scene, cases[c].plan, "cpu:1", &one);
        for (int t = 0; t < 2; t++)
            for (int ordered = 0; ordered < 2; ordered++) {
                char what[64];
                (void)snprintf(what, sizeof what, "case %zu, %s, %s", c, transfers[t],
                               ordered == 0 ? "in random order" : "in order");
                holds(run_cut, scene, cases[c].plan, NULL, transfers[t], teams[cases[c].team],
                      ordered == 0 ? c + 1 : 0, &one, what);
            }
        outcome_free(&one);
        kf_scene_free(scene);
    }
}

/* A plan of two grids with one that moves to and fro instead. */
static void run_shifted(const kf_scene *scene, const char *const *two, const char *slab, const char *transfer,
                        const char *device, outcome *o) {
    const char *with[32];
    int count = 0;
    for (; two[count] != NULL; count++)
        with[count] = strcmp(two[count], "slab=0") == 0                ? slab
                      : strcmp(two[count], "streaming=two_grids") == 0 ? "streaming=shift"
                                                                       : two[count];
    with[count++] = transfer;
    with[count] = NULL;
    run(scene, with, device, o);
}

/* Grids that move to and fro, each within its part's memory: open and periodic ends, static, moving and free
 * solids, one slab and several. */
static void test_shifted_grids(void **state) {
    (void)state;
    static const struct {
        kf_scene *(*open)(void);
        const char *const *plan;
        const char *slab;
        int team;
    } cases[] = {{ball_scene, two_grids[0], "slab=4", 0},
                 {ball_scene, two_grids[1], "slab=8", 2},
                 {seam_scene, two_grids[0], "slab=8", 1},
                 {moving_scene, moving[0], "slab=4", 1},
                 {free_scene, moving[0], "slab=8", 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        outcome one;
        kf_scene *scene = cases[c].open();
        run(scene, cases[c].plan, "cpu:1", &one);
        for (int t = 0; t < 2; t++) {
            char what[64];
            (void)snprintf(what, sizeof what, "shifted, case %zu, %s", c, transfers[t]);
            holds(run_shifted, scene, cases[c].plan, cases[c].slab, transfers[t], teams[cases[c].team],
                  t == 0 ? c + 1 : 0, &one, what);
        }
        outcome_free(&one);
        kf_scene_free(scene);
    }
}

/* Outflows across all axes, whose edges lie in other parts than their middles. */
static kf_scene *open_ends(void) {
    kf_scene *scene = ball_scene();
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = scene->faces[KF_ZMAX] = KF_OUTFLOW;
    return scene;
}

/* Without a solid, and what 19 velocities are allowed. */
static kf_scene *coarse_scene(void) {
    kf_scene *scene = empty_scene();
    scene->accuracy = KF_ACCURACY_OF_19;
    return scene;
}

static kf_scene *free_between_mirrors(void) {
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
static const char *const nineteen[] = {"plan=fused",          "layout=csoa",        "alpha=32",
                                       "storage=f32",         "velocities=19",      "nodes_per_thread=1",
                                       "streaming=two_grids", "boundary_kernels=0", NULL};

/* Cuts across y and z, with the solid across both: 1 x 2, 2 x 2, 1 x 4, in order and in random order. */
static void test_cuts_across_y(void **state) {
    (void)state;
    static const struct {
        kf_scene *(*open)(void);
        const char *const *plan, *cut;
        int team;
    } cases[] = {{ball_scene, two_grids[0], "parts_y=2", 0},
                 {ball_scene, two_grids[0], "parts_y=2", 2},
                 {ball_scene, two_grids[1], "parts_y=2", 2},
                 {seam_scene, two_grids[0], "parts_y=2", 2},
                 {ball_scene, masked, "parts_y=2", 2},
                 {ball_scene, two_grids[1], "parts_y=4", 2},
                 {on_the_ground, two_grids[0], "parts_y=2", 0},
                 {on_the_ground, two_grids[0], "parts_y=2", 2},
                 {on_a_wall_across_y, two_grids[1], "parts_y=2", 2},
                 {open_ends, doubles, "parts_y=2", 2},
                 {open_ends, two_grids[0], "parts_y=4", 2},
                 {coarse_scene, nineteen, "parts_y=2", 2},
                 {moving_scene, moving[0], "parts_y=2", 2},
                 {free_between_mirrors, moving[0], "parts_y=2", 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        outcome one;
        kf_scene *scene = cases[c].open();
        run(scene, cases[c].plan, "cpu:1", &one);
        for (int t = 0; t < 2; t++)
            for (int ordered = 0; ordered < 2; ordered++) {
                char what[64];
                (void)snprintf(what, sizeof what, "cut, case %zu, %s, %s", c, transfers[t],
                               ordered == 0 ? "in random order" : "in order");
                holds(run_cut, scene, cases[c].plan, cases[c].cut, transfers[t], teams[cases[c].team],
                      ordered == 0 ? c + 1 : 0, &one, what);
            }
        outcome_free(&one);
        kf_scene_free(scene);
    }
}

/* No await of the copies is there in vain, in slabs and in boxes. */
static void test_awaits_of_copies(void **state) {
    (void)state;
    static const char *const cuts[] = {NULL, "parts_y=2"};
    kf_scene *scene = ball_scene();
    outcome one;
    run(scene, two_grids[0], "cpu:1", &one);
    for (int t = 0; t < 2; t++)
        for (int c = 0; c < 2; c++) {
            if (!copies_alike(scene, two_grids[0], cuts[c], transfers[t], teams[2], &one, SEEDS, -1))
                fail_msg("%s, cut %d: another result in random order", transfers[t], c);
            for (int dropped = 0; dropped < KF_CPU_DROPS; dropped++)
                if (copies_alike(scene, two_grids[0], cuts[c], transfers[t], teams[2], &one, MOST_SEEDS,
                                 dropped))
                    fail_msg("%s, cut %d: awaits %d of %d are not missed", transfers[t], c, dropped,
                             KF_CPU_DROPS);
        }
    outcome_free(&one);
    kf_scene_free(scene);
}

/* One run in three plans one after the other, the second of them cut across y too, unless cut is NULL. */
static void run_restarted(const kf_scene *scene, const char *cut, outcome *o) {
    kf_error error = {KF_OK, ""};
    static const char *const devices[] = {"cpu:1,cpu:1,cpu:1", "cpu:1,cpu:1,cpu:1,cpu:1", "cpu:1"};
    static const uint64_t until[] = {10, 23, STEPS};
    void *kept = NULL;
    size_t bytes = 0;
    for (int i = 0; i < 3; i++) {
        kf_backend *backend;
        const char *cut_plan[32], *plans[32];
        add_to(two_grids[0], i == 1 ? cut : NULL, cut_plan);
        add_to(cut_plan, i == 1 && cut != NULL ? transfers[0] : NULL, plans);
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

static void test_restart_on_any_number(void **state) {
    (void)state;
    static const char *const cuts[] = {NULL, "parts_y=2", "parts_y=4"};
    kf_scene *scene = ball_scene();
    outcome one, last;
    run(scene, two_grids[0], "cpu:1", &one);
    for (int c = 0; c < 3; c++) {
        run_restarted(scene, cuts[c], &last);
        same(&one, &last, "restarted");
        outcome_free(&last);
    }
    outcome_free(&one);
    kf_scene_free(scene);
}

static void test_cuts(void **state) {
    (void)state;
    int first[KF_MOST_PARTS + 1];
    kf_scene *scene = open_scene("ball", 6000);
    for (int parts = 1; parts <= kf_kinetic_most_parts(scene); parts++) {
        kf_kinetic_cut(scene, 0.8, 2, parts, first);
        assert_int_equal(first[0], 0);
        assert_int_equal(first[parts], scene->nodes[2]);
        for (int part = 0; part < parts; part++)
            assert_true(first[part + 1] - first[part] >= 3);
    }
    /* The dearer a sample, the thinner the slab with most of them, in the middle. */
    int dearer[KF_MOST_PARTS + 1];
    kf_kinetic_cut(scene, 0.0, 2, 3, first);
    kf_kinetic_cut(scene, 10.0, 2, 3, dearer);
    assert_true(dearer[2] - dearer[1] < first[2] - first[1]);
    /* Two across y, three across z: each node is one part's, and parts side by side have the same planes. */
    const kf_kinetic_options options = {.parts = 6, .parts_y = 2, .sample_cost = 0.8};
    kf_kinetic_box boxes[KF_MOST_PARTS];
    kf_kinetic_cut_all(scene, &options, boxes);
    kf_kinetic_cut(scene, 0.8, 2, 3, first);
    for (int part = 0; part < 6; part++) {
        const kf_kinetic_box *box = &boxes[part];
        assert_int_equal(box->first[1], first[part / 2]);
        assert_int_equal(box->count[1], first[part / 2 + 1] - first[part / 2]);
        assert_int_equal(box->first[0], part % 2 == 0 ? 0 : boxes[0].count[0]);
    }
    assert_int_equal(boxes[0].count[0] + boxes[1].count[0], scene->nodes[1]);
    kf_scene_free(scene);
}

/* What is said of a config for four devices with parts_y=2 and another value. */
static void refused(const kf_scene *scene, const char *device, const char *name, const char *value,
                    long number, const char *says) {
    kf_error error = {KF_OK, ""};
    kf_backend *backend;
    kf_plan *plan = NULL;
    must(kf_backend_open(device, &backend, &error), &error);
    kf_config config = config_of(kinetic, scene, backend, two_grids[0]);
    kf_config_set_name(&config, "transfer", "copies");
    kf_config_set_integer(&config, "parts_y", 2);
    if (value != NULL)
        kf_config_set_name(&config, name, value);
    else if (name != NULL)
        kf_config_set_integer(&config, name, number);
    assert_int_equal(kinetic->plan(problem_of(kinetic, scene), &config, backend, &plan, &error),
                     KF_BAD_INPUT);
    if (strstr(error.message, says) == NULL) fail_msg("%s", error.message);
    kf_backend_close(backend);
}

static void test_refusals_of_cuts(void **state) {
    (void)state;
    kf_scene *scene = ball_scene();
    refused(scene, teams[1], NULL, NULL, 0, "3 devices cannot stand 2 along y");
    refused(scene, teams[2], "transfer", "direct", 0, "rows are copied: use transfer=copies");
    refused(scene, teams[2], "streaming", "in_place", 0, "plan fused between two grids");
    refused(scene, teams[2], "boundary_kernels", NULL, 1, "with boundary_kernels=0");
    refused(scene, "cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu", "parts_y", NULL, 8,
            "8 devices along y and 1 along z are too many");
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_PERIODIC;
    refused(scene, teams[2], NULL, NULL, 0, "periodic along y");
    kf_scene_free(scene);
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *spec, *says;
    } wrong[] = {{"cuda:3-1", "no range"},
                 {"cpu,cuda:0", "one kind"},
                 {"cuda:0-", "no range"},
                 {"cpu,,cpu", "not known"},
                 {"cpu,gpu", "did you mean"}};
    kf_error error = {KF_OK, ""};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(kf_device_check(wrong[i].spec, NULL, &error), KF_BAD_INPUT);
        if (strstr(error.message, wrong[i].says) == NULL) fail_msg("%s", error.message);
    }
    int parts = 0;
    assert_int_equal(kf_device_check("cuda:0-3,cuda:6", &parts, &error), KF_OK);
    assert_int_equal(parts, 5);
    kf_backend *backend;
    must(kf_backend_open("cpu:1,cpu:1", &backend, &error), &error);
    assert_int_equal(kf_backend_device(backend)->parts, 2);
    static const char *const shift[] = {FUSED, "layout=soa", "storage=f32", "streaming=two_grids", NULL};
    kf_scene *scene = open_scene("ball", 6000);
    kf_config config = config_of(kinetic, scene, backend, shift);
    kf_config_set_name(&config, "streaming", "shift");
    kf_config_set_integer(&config, "slab", 4);
    kf_plan *plan = NULL;
    assert_int_equal(kinetic->plan(problem_of(kinetic, scene), &config, backend, &plan, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "use transfer=copies"));
    kf_config_set_name(&config, "transfer", "copies");
    kf_config_set_integer(&config, "slab", 2);
    assert_int_equal(kinetic->plan(problem_of(kinetic, scene), &config, backend, &plan, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "at least 3 planes"));
    kf_config_set_name(&config, "streaming", "two_grids");
    kf_config_set_integer(&config, "slab", 0);
    kf_config_set_integer(&config, "boundary_kernels", 1);
    assert_int_equal(kinetic->plan(problem_of(kinetic, scene), &config, backend, &plan, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "use transfer=direct"));
    kf_config_set_integer(&config, "boundary_kernels", 0);
    must(kinetic->plan(problem_of(kinetic, scene), &config, backend, &plan, &error), &error);
    assert_int_equal(plan->methods->flow->velocity(plan, NULL, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "transfer=direct"));
    kf_plan_free(plan);
    kf_config_set_name(&config, "transfer", "nccl");
    assert_int_equal(kinetic->plan(problem_of(kinetic, scene), &config, backend, &plan, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "between GPUs"));
    kf_scene_free(scene);
    kf_backend_close(backend);
}

/* Where the library is not, one line says how to get it. */
static void test_without_nccl(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_nccl_available("cpu", &error), KF_BAD_INPUT);
    setenv("KFTUNE_NCCL", "/nowhere/libnccl.so.2", 1);
    assert_int_equal(kf_nccl_available("cuda", &error), KF_MACHINE);
    assert_true(strstr(error.message, "$KFTUNE_NCCL") != NULL ||
                strstr(error.message, "without CUDA") != NULL);
    unsetenv("KFTUNE_NCCL");
}

/* What a process says that shares so many files and may open as many, or raise that to the second: 0 is all
 * well. */
static int share_files(int files, rlim_t soft, rlim_t hard) {
    const struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
    kf_error error = {KF_OK, ""};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 9;
    int *given = calloc((size_t)files, sizeof *given), *taken = calloc((size_t)files, sizeof *taken);
    const kf_status status = kf_world_give_files(KF_OK, given, &files, taken, &error);
    free(given);
    free(taken);
    if (status == KF_OK) return 0;
    return status == KF_MACHINE && strstr(error.message, "raise `ulimit -n` to 364, or use") != NULL ? 1 : 2;
}

/* A process that may not open as many files as others give to it says so; a soft limit it raises itself. */
static void test_limits_of_open_files(void **state) {
    (void)state;
    static const struct {
        rlim_t soft, hard;
        int ends;
    } cases[] = {{1000, 1000, 0}, {100, 1000, 0}, {100, 100, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0) _exit(share_files(300, cases[c].soft, cases[c].hard));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), cases[c].ends);
    }
}

static kf_status compile(const kf_source *source, void *device, kf_error *error) {
    kf_build build;
    return kf_source_prebuild(device, source, &build, error);
}

/* A team's kernels are CUDA C, too: compiled for a GPU where there is a compiler for it. */
static void test_compiles_for_a_gpu(void **state) {
    (void)state;
    kf_device_info gpu = {
        .spec = "cuda:0-1", .backend = "cuda", .architecture = "sm_90", .parts = 2, .warp_size = 32};
    static const char *const fixed[][24] = {
        {FUSED, "layout=csoa", "alpha=32", "storage=f32", "streaming=two_grids", "boundary_kernels=0",
         "immersed_boundary=aggregated", NULL},
        {FUSED, "layout=csoa", "alpha=32", "storage=f32", "streaming=esoteric", "boundary_kernels=0",
         "immersed_boundary=scatter", NULL},
    };
    static const char *const scenes[] = {"ball", "torus"};
    kf_error error = {KF_OK, ""};
    for (int i = 0; i < 4; i++) {
        kf_backend *cpu;
        must(kf_backend_open("cpu:1", &cpu, &error), &error);
        kf_scene *scene = open_scene(scenes[i % 2], 6000);
        const kf_config config = config_of(kinetic, scene, cpu, fixed[i / 2]);
        kf_backend_close(cpu);
        const kf_status status =
            kinetic->sources(problem_of(kinetic, scene), &config, &gpu, compile, &gpu, &error);
        kf_scene_free(scene);
        if (status != KF_OK && (strstr(error.message, "libnvrtc") || strstr(error.message, "without CUDA"))) {
            print_message("%s\n", error.message);
            skip();
        }
        must(status, &error);
    }
}

/* Started as two processes by mpirun (tests/e2e/mpi.sh), a device or two each: the same as one device, on
 * both. */
static void test_in_several_processes(void **state) {
    (void)state;
    static const struct {
        kf_scene *(*open)(void);
        const char *const *plan;
        const char *transfer; /* read in place, or copied; each is also sent through MPI */
        const char *cut;      /* NULL: in slabs */
    } cases[] = {{ball_scene, two_grids[0], direct, NULL},
                 {ball_scene, two_grids[1], direct, NULL},
                 {ball_scene, one_grid[0], direct, NULL},
                 {ball_scene, one_grid[2], direct, NULL},
                 {ball_scene, masked, direct, NULL},
                 {empty_scene, moments, direct, NULL},
                 {solid_of_moments, moments, direct, NULL},
                 {seam_scene, two_grids[0], direct, NULL},
                 {seam_scene, one_grid[0], direct, NULL},
                 {moving_scene, moving[0], direct, NULL},
                 {moving_scene, moving[1], direct, NULL},
                 {free_scene, moving[0], direct, NULL},
                 {ball_scene, two_grids[0], transfers[0], NULL},
                 {seam_scene, one_grid[0], transfers[0], NULL},
                 {moving_scene, moving[1], transfers[0], NULL},
                 {ball_scene, two_grids[0], transfers[0], "parts_y=2"},
                 {ball_scene, two_grids[1], transfers[0], "parts_y=4"},
                 {open_ends, doubles, transfers[0], "parts_y=2"},
                 {free_between_mirrors, moving[0], transfers[0], "parts_y=2"}};
    enum { CASES = sizeof cases / sizeof *cases };
    kf_error error = {KF_OK, ""};
    outcome alone[CASES];
    for (int c = 0; c < CASES; c++) {
        kf_scene *scene = cases[c].open();
        run(scene, cases[c].plan, "cpu:1", &alone[c]);
        kf_scene_free(scene);
    }
    must(kf_world_open(&error), &error);
    assert_int_equal(kf_world_size(), 2);
    for (int c = 0; c < CASES; c++) {
        kf_scene *scene = cases[c].open();
        const char *device = kf_kinetic_most_parts(scene) < 4 ? "cpu:1" : teams[2];
        const bool listed =
            cases[c].plan == moments && scene->samples.count > 0; /* which MPI does not carry */
        for (int mpi = 0; mpi < (listed ? 1 : 2); mpi++) {
            outcome together;
            char what[64];
            const char *transfer = mpi == 0 ? cases[c].transfer : transfers[1];
            (void)snprintf(what, sizeof what, "processes, case %d, %s", c, transfer);
            run_cut(scene, cases[c].plan, cases[c].cut, transfer, device, &together);
            same(&alone[c], &together, what);
            outcome_free(&together);
        }
        outcome_free(&alone[c]);
        kf_scene_free(scene);
    }
    kf_backend *backend;
    int first, reached;
    must(kf_backend_open("cpu:1", &backend, &error), &error);
    kf_backend_near(backend, &first, &reached); /* the processes of a host share memory */
    assert_int_equal(first, 0);
    assert_int_equal(reached, 2);
    kf_backend_close(backend);
    kf_world_close(KF_OK, &error);
}

int main(void) {
    const struct CMUnitTest of_several[] = {cmocka_unit_test(test_in_several_processes)};
    if (kf_world_is_wanted()) return cmocka_run_group_tests(of_several, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_grids),
        cmocka_unit_test(test_one_grid),
        cmocka_unit_test(test_separate_passes),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_across_the_seam),
        cmocka_unit_test(test_moving_solid),
        cmocka_unit_test(test_free_solid),
        cmocka_unit_test(test_streams_in_random_order),
        cmocka_unit_test(test_copied_planes),
        cmocka_unit_test(test_cuts_across_y),
        cmocka_unit_test(test_shifted_grids),
        cmocka_unit_test(test_awaits_of_copies),
        cmocka_unit_test(test_restart_on_any_number),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_without_nccl),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_refusals_of_cuts),
        cmocka_unit_test(test_limits_of_open_files),
        cmocka_unit_test(test_compiles_for_a_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
