/* Tests free slip between walls: plans against the reference, which computes the box with its mirror
 * image. Faults: a wrong transform or sign at a wall. */
#include "base/util/memory.h"
#include "stable_fluids_support.h"

/* Between walls plans with transforms of their own compute only the domain, by sines and cosines. The
 * reference computes the box with its mirror image. Forces in the upper half are the image of those in the
 * lower one. */
static kf_fluid *walled(int nx, int ny, int nz, int walls, bool still) {
    kf_fluid *f = box(nx, ny, nz);
    const int n[3] = {nx, ny, nz};
    f->start_velocity[0] = f->start_velocity[1] = f->start_velocity[2] = 0;
    for (int axis = 0; axis < 3; axis++)
        f->walls[axis] = walls >> axis & 1;
    if (still) return f;
    f->dye_count = 1;
    f->dyes[0] = (kf_fluid_dye){.dissipation = 0.01, .lift = 0.02};
    f->confinement = 0.02;
    f->sources = kf_allocate_zeroed(8, sizeof *f->sources);
    f->sources[f->source_count++] = (kf_fluid_source){.first = 0,
                                                      .last = 9,
                                                      .center = {5.3, 4.1, nz > 1 ? 3.2 : 0},
                                                      .radius = 2.7,
                                                      .velocity = {0.1, 0.5, 0},
                                                      .pull = 0.5,
                                                      .dye = {1, 0, 0}};
    for (int axis = 0; axis < 3; axis++)
        for (int i = f->walls[axis] ? f->source_count - 1 : -1; i >= 0; i--) {
            kf_fluid_source *image = &f->sources[f->source_count++];
            *image = f->sources[i];
            image->center[axis] = n[axis] - 1 - image->center[axis];
            image->velocity[axis] = -image->velocity[axis];
        }
    return f;
}

static void across_each_axis(void **state) {
    (void)state;
    for (int across = 1; across < 4; across++) {
        holds(walled(32, 40, 1, across, true), F64, 5);
        holds(walled(30, 50, 1, across, false), F64 "points_rows=4 points_columns=16 twiddles=products", 5);
    }
    holds(walled(64, 64, 1, 3, true), "", 5);
}
static void with_all_that_acts(void **state) {
    (void)state;
    kf_fluid *f = walled(24, 40, 1, 3, true);
    f->simulations = 3;
    holds(f, F64, 5);
    f = walled(24, 36, 1, 3, false);
    f->reflection = true;
    f->advection = KF_ADVECT_MACCORMACK;
    holds(f, F64, 5);
}
/* Across z by cosines and sines, and across the others by the mirror image. */
static void in_three_dimensions(void **state) {
    (void)state;
    holds(walled(16, 12, 20, 4, false), F64, 4);
    holds(walled(16, 12, 20, 7, true), F64, 4);
}
/* A source that reaches through a wall overlaps its own image, which pulls the other way. Each pulled in its
 * turn, so that the mirror image of a flow was another flow, and every plan that computes the domain alone
 * was refused. */
static void sources_through_walls(void **state) {
    (void)state;
    for (int plan = 0; plan < 2; plan++) {
        kf_fluid *f = walled(32, 36, 1, 3, false);
        for (int i = 0; i < f->source_count; i++) /* to the corner of both walls */
            for (int axis = 0; axis < 2; axis++) {
                double *at = &f->sources[i].center[axis];
                *at = 2 * *at < f->cells[axis] ? 1.3 : f->cells[axis] - 2.3;
            }
        holds(f, plan == 0 ? F64 : F64 "plan=separate", 5);
    }
}
static void plans_with_transforms_apart(void **state) {
    (void)state;
    holds(walled(24, 36, 1, 3, true), F64 "plan=separate", 5);
    holds(walled(24, 36, 1, 2, false), F64 "plan=packed", 5);
}
/* A step's updates are those of the domain, and its least bytes those of the passes: half as many transforms
 * where these fold the box. Both counted the mirror images, so that rates were up to four times too large. */
static void images_are_no_updates(void **state) {
    (void)state;
    enum { CELLS = 24 * 40 };
    static const struct {
        const char *config;
        int walls;
        double bytes; /* of each cell of the domain */
    } cases[] = {{"", 0, 48}, {"", 1, 32 + 24}, {"", 3, 32 + 40}, {"plan=separate", 3, 4 * 48}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int walls = cases[c].walls;
        kf_fluid *fluid = walled(walls & 1 ? 48 : 24, walls & 2 ? 80 : 40, 1, walls, true);
        kf_problem problem = {.own = fluid, .system = &kf_system_stable_fluids};
        kf_config config;
        kf_plan *plan = NULL;
        kf_fluid_finish(fluid);
        test_config(&config, cases[c].config);
        assert_int_equal(kf_fluid_make_plan(&problem, &config, backend, &plan, NULL), KF_OK);
        assert_float_equal(plan->updates, CELLS, 0);
        assert_float_equal(plan->least_bytes, cases[c].bytes * CELLS, 0);
        kf_plan_free(plan);
        kf_fluid_free(fluid);
    }
}
static void plans_of_a_gpu(void **state) {
    (void)state;
    if (strcmp(kf_backend_device(backend)->backend, "cuda") != 0) skip();
    for (int across = 1; across < 4; across++)
        for (int buffers = 1; buffers < 3; buffers++) {
            char config[256];
            (void)snprintf(config, sizeof config,
                           F64 "exchange_buffers=%d component_per_thread=%s twiddles=products overlap=true "
                               "graph=true tile_columns=%d",
                           buffers, buffers == 2 ? "true" : "false", 2 * buffers);
            holds(walled(64, 96, 1, across, false), config, 5);
            holds(walled(16, 12, 20, 4, true), config, 4);
            (void)snprintf(config, sizeof config,
                           F64
                           "plan=persistent steps_per_launch=16 exchange_buffers=%d component_per_thread=%s",
                           buffers, buffers == 1 ? "true" : "false");
            holds(walled(64, 128, 1, across, true), config, 21);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(across_each_axis),      cmocka_unit_test(with_all_that_acts),
        cmocka_unit_test(in_three_dimensions),   cmocka_unit_test(plans_with_transforms_apart),
        cmocka_unit_test(sources_through_walls), cmocka_unit_test(images_are_no_updates),
        cmocka_unit_test(plans_of_a_gpu)};
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
