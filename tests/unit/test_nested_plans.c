/* Tests plans of nested grids against their reference. Faults: an exchange between levels that one variant
 * does wrongly. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include "tests/unit/config_changes.h"
#include "tests/unit/kinetic_fixture.h"
#include "tests/unit/nested_tunnel.h"

#include "solver/kinetic/nested_plan.h"

/* Returns the reference of a stage after a number of steps, and its scene. */
static kf_reference *reference_of(stage *s, const kf_cell_box *boxes, int levels, int steps) {
    kf_error error = {KF_OK, ""};
    kf_reference *reference;
    must(nest(s, boxes, levels, &error), &error);
    must(kinetic_system->reference(problem_of(kinetic_system, s->whole[0]), steps, &reference, &error),
         &error);
    return reference;
}

/* Verifies the default config with these parameters fixed. */
static double verify_fixed(const kf_scene *scene, const kf_reference *reference, int steps,
                           const char *const *fixed, int count) {
    const kf_config config = config_of(scene, fixed, count);
    return verify_config(kinetic_system, scene, &config, reference, steps);
}
#define VERIFY(...)                                                                                          \
    verify_fixed(s.whole[0], reference, STEPS, (const char *const[]){__VA_ARGS__},                           \
                 (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

/* Three levels are in a periodic domain under a body force. */
static void test_three_levels_in_a_periodic_domain(void **state) {
    (void)state;
    enum { STEPS = 3 };
    stage s;
    flow f = slantwise(KF_RATE_ONES);
    f.body_force[0] = 2e-5, f.body_force[1] = -1e-5;
    begin(&s, f, (const int[3]){12, 12, 12}, 0.01, 3);
    for (int l = 0; l < 3; l++)
        s.whole[l]->accuracy = 0.005;
    kf_reference *reference = reference_of(&s, two_boxes, 3, STEPS);
    assert_true(VERIFY("plan=moments", "storage=f64") < 1e-11);
    (void)VERIFY("plan=fused", "storage=f16");
    kinetic_system->free_reference(reference);
    end(&s);
}

/* There are as many levels as possible, each inside the one before with the fewest cells between. */
static void test_all_levels(void **state) {
    (void)state;
    enum { STEPS = 1 };
    stage s;
    kf_cell_box boxes[KF_FINER_LEVELS] = {{{3, 3, 3}, {9, 9, 9}}};
    for (int l = 1; l < KF_FINER_LEVELS; l++)
        for (int a = 0; a < 3; a++) {
            boxes[l].low[a] = 2 * boxes[l - 1].low[a] + KF_NESTED_MARGIN;
            boxes[l].high[a] = 2 * boxes[l - 1].high[a] - KF_NESTED_MARGIN;
        }
    begin(&s, slantwise(KF_RATE_ONES), (const int[3]){12, 12, 12}, 0.005, KF_MOST_LEVELS);
    kf_reference *reference = reference_of(&s, boxes, KF_MOST_LEVELS, STEPS);
    assert_true(VERIFY("plan=fused", "storage=f64") < 1e-11);
    kinetic_system->free_reference(reference);
    end(&s);
}

static const kf_cell_box long_box = {{7, 0, 3}, {24, 12, 9}};
static void begin_long(stage *s) {
    begin(s, slantwise(KF_RATE_ONES), (const int[3]){24, 12, 12}, 0.01, 2);
    for (int l = 0; l < 2; l++)
        s->whole[l]->faces[KF_XMIN] = s->whole[l]->faces[KF_XMAX] = KF_WALL;
}

/* The box has more cells than a block of the coupling works on, and its last cell alone is at a face of
 * the domain. */
static void test_long_box(void **state) {
    (void)state;
    enum { STEPS = 2 };
    stage s;
    begin_long(&s);
    kf_reference *reference = reference_of(&s, &long_box, 2, STEPS);
    assert_true(VERIFY("plan=fused", "storage=f64") < 1e-11);
    /* Some tiles lie within the covered nodes. Their walks end there and begin again behind. */
    assert_true(VERIFY("plan=moments", "storage=f64", "block_x=8", "block_y=8", "march=8") < 1e-11);
    kinetic_system->free_reference(reference);
    end(&s);
}

/* Rates that divide by averages of the domain agree with the reference. The averages are taken at the
 * beginning and after 16 steps of the coarsest level, on all levels alike, in plans with one grid and with
 * two. */
static void test_averages_are_alike_on_all_levels(void **state) {
    (void)state;
    enum { STEPS = 17 };
    stage s;
    begin(&s, slantwise(KF_RATE_ADAPTIVE_2020), (const int[3]){12, 12, 12}, 0.002, 2);
    kf_reference *reference = reference_of(&s, two_boxes, 2, STEPS);
    assert_true(VERIFY("plan=fused", "storage=f64") < 1e-9);
    assert_true(VERIFY("plan=baseline", "storage=f64") < 1e-9);
    kinetic_system->free_reference(reference);
    end(&s);
}

static void test_ball_in_tunnel(void **state) {
    (void)state;
    enum { STEPS = 3 };
    stage s;
    begin_tunnel(&s, KF_RATE_ONES);
    kf_reference *reference = reference_of(&s, tunnel_boxes, 3, STEPS);
    assert_true(VERIFY("plan=fused", "storage=f64") < 1e-11);
    (void)VERIFY("plan=moments", "storage=f16");
    /* A config's choices about the solid's band apply to the level that has the band. */
    (void)VERIFY("plan=fused", "storage=f64", "masked_band=true", "keep_streamed=true", "staged_nodes=0",
                 "boundary_kernels=1");
    /* A level with several lanes signals and waits. With one lane for all levels nothing does. */
    kf_config apart = config_of(s.whole[0], (const char *const[]){"plan=fused", "storage=f64"}, 2);
    change_config(&apart,
                  "staged_nodes=0 prefetch_rows=0 nodes_per_thread=2 boundary_rows_apart=true overlap=false "
                  "masked_band=true concurrent_solid=true immersed_boundary=aggregated band_chain=true");
    assert_true(verify_config(kinetic_system, s.whole[0], &apart, reference, STEPS) < 1e-11);
    kinetic_system->free_reference(reference);
    end(&s);
}

/* With rates of 1 outside the finest level, a plan of populations there goes with a plan of moments on the
 * others, where its march says so. */
static void test_outer_moments(void **state) {
    (void)state;
    enum { STEPS = 3 };
    stage s;
    begin_tunnel(&s, KF_RATE_K17);
    for (int l = 0; l < 3; l++)
        s.whole[l]->outer_ones = true;
    kf_reference *reference = reference_of(&s, tunnel_boxes, 3, STEPS);
    assert_true(s.nested->level[0].scene.rate_rule == KF_RATE_ONES &&
                s.nested->level[1].scene.rate_rule == KF_RATE_ONES &&
                s.nested->level[2].scene.rate_rule == KF_RATE_K17);
    assert_true(VERIFY("plan=fused", "march=0", "storage=f64") < 1e-11);
    assert_true(VERIFY("plan=fused", "march=8", "storage=f64") < 1e-11);
    (void)VERIFY("plan=fused", "march=16", "storage=f16");
    const kf_config config = config_of(s.whole[0], (const char *const[]){"plan=fused", "march=8"}, 2);
    kf_plan *plan = open_plan(s.whole[0], &config);
    for (int l = 0; l < 3; l++) {
        const kf_kinetic *level = kf_nested_level_plan(plan, l)->system;
        assert_int_equal(level->options.plan, l < 2 ? KF_PLAN_MOMENTS : KF_PLAN_FUSED);
    }
    kf_plan_free(plan);
    kinetic_system->free_reference(reference);
    end(&s);
}

/* A run that continues from a checkpoint after an odd number of steps ends with the same bits, and reading
 * the state on the way changes nothing. Averages of the domain continue, too. The force is that of the
 * finest level in units of the coarsest. */
static void test_a_checkpoint_after_an_odd_step(void **state) {
    (void)state;
    stage s;
    kf_error error = {KF_OK, ""};
    begin_tunnel(&s, KF_RATE_ADAPTIVE_2020);
    must(nest(&s, tunnel_boxes, 3, &error), &error);
    const kf_config config = config_of(s.whole[0], (const char *const[]){"plan=fused", "storage=f64"}, 2);
    assert_goes_on(s.whole[0], &config);
    kf_plan *whole = open_plan(s.whole[0], &config);
    advance(whole, 4);
    kf_solid_load load, finest;
    kf_plan *of_finest = kf_nested_level_plan(whole, 2);
    must(whole->methods->flow->load(whole, &load, &error), &error);
    must(of_finest->methods->flow->load(of_finest, &finest, &error), &error);
    assert_true(load.force[0] > 0.0 && load.force[0] == finest.force[0] / 16.0);
    kf_plan_free(whole);
    end(&s);
}

/* Visits populations of some nodes in one of a level's two grids. It either spoils them, or counts those
 * that are still spoilt. */
static int visit_nodes(const kf_plan *plan, int level, int grid, const kf_cell_box *box, bool spoil) {
    const double spoilt = 1e30;
    const kf_kinetic *k = kf_nested_level_plan(plan, level)->system;
    const kf_kinetic_memory *m = &k->arguments.memory;
    int found = 0;
    for (int i = 0; i < 27; i++)
        for (int z = box->low[2]; z < box->high[2]; z++)
            for (int y = box->low[1]; y < box->high[1]; y++)
                for (int x = box->low[0]; x < box->high[0]; x++) {
                    const long long node =
                        m->origin + x + k->arguments.grid.row_pitch * (y + 1LL) + m->plane_pitch * (z + 1LL);
                    double *value = (double *)(void *)k->grids[grid] + i * m->capacity + node;
                    if (spoil) *value = spoilt;
                    found += *value == spoilt;
                }
    return found;
}

/* Visits the populations that no step writes: covered nodes beyond the rim, and, in the grid that the
 * first of two steps writes, the outermost layer of ghosts across z. */
static int visit_left_out(const kf_plan *plan, bool spoil) {
    const int *low = long_box.low, *high = long_box.high,
              *nodes = kf_plan_scene(kf_nested_level_plan(plan, 1))->nodes;
    const kf_cell_box covered = {{low[0] + 1, low[1], low[2] + 1}, {high[0], high[1], high[2] - 1}},
                      ghosts = {{0, 0, 0}, {nodes[0], nodes[1], 1}};
    return visit_nodes(plan, 0, 0, &covered, spoil) + visit_nodes(plan, 0, 1, &covered, spoil) +
           visit_nodes(plan, 1, 1, &ghosts, spoil);
}

/* Steps leave covered nodes and outer ghosts as they are, and of the covered ones nothing but the rim is
 * read. */
static void test_left_out(void **state) {
    (void)state;
    static const char *const fixed[] = {"plan=fused", "storage=f64", "layout=soa"};
    stage s;
    kf_error error = {KF_OK, ""};
    size_t bytes;
    if (kf_device_is_gpu(kf_backend_device(backend))) skip(); /* its memory is not the host's */
    begin_long(&s);
    must(nest(&s, &long_box, 2, &error), &error);
    const kf_config config = config_of(s.whole[0], fixed, 3);
    kf_plan *whole = open_plan(s.whole[0], &config), *spoilt = open_plan(s.whole[0], &config);
    const int values = visit_left_out(spoilt, true);
    advance(whole, 3);
    advance(spoilt, 3);
    assert_int_equal(visit_left_out(spoilt, false), values);
    must(kf_plan_watch(spoilt, &error), &error);
    void *one = state_of(whole, &bytes), *other = state_of(spoilt, &bytes);
    assert_memory_equal(one, other, bytes);
    free(one), free(other);
    kf_plan_free(whole);
    kf_plan_free(spoilt);
    end(&s);
}

static void assert_not_accepted(const kf_scene *scene, const char *reason) {
    kf_error error = {KF_OK, ""};
    assert_int_equal(kinetic_system->accepts(problem_of(kinetic_system, scene), &error), KF_BAD_INPUT);
    if (strstr(error.message, reason) == NULL) fail_msg("%s", error.message);
}

/* What no plan here can run on nested grids is refused by its name. */
static void test_what_nested_plans_lack_is_refused(void **state) {
    (void)state;
    stage s;
    begin_tunnel(&s, KF_RATE_K17);
    assert_int_equal(nest(&s, tunnel_boxes, 3, NULL), KF_OK);
    s.whole[2]->viscosity = 1.0 / 6.0;
    assert_not_accepted(s.whole[0], "on level 2 the viscosity is 0.167 cell^2/step");
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_levels_in_a_periodic_domain),
        cmocka_unit_test(test_long_box),
        cmocka_unit_test(test_all_levels),
        cmocka_unit_test(test_averages_are_alike_on_all_levels),
        cmocka_unit_test(test_ball_in_tunnel),
        cmocka_unit_test(test_outer_moments),
        cmocka_unit_test(test_a_checkpoint_after_an_odd_step),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_what_nested_plans_lack_is_refused),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
