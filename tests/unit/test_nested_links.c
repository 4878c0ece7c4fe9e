/* Tests a solid at rest by links in the finest of nested grids, with and without a law of the wall: plans
 * against the reference, forces against a uniform grid of the finest cells, checkpoints, and refusals.
 * Faults: a solid that an interface disturbs. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include "tests/unit/scene_files.h"

#include "base/space/space_nearest.h"
#include "base/util/memory.h"
#include "solver/kinetic/nested.h"
#include "solver/kinetic/nested_fields.h"
#include "solver/kinetic/nested_plan.h"
#include "tests/unit/config_changes.h"
#include "tests/unit/folder_and_backend.h"
#include "tests/unit/kinetic_fixture.h"

#define SCENE_IN(walls, solid, cells, flow, model, refine)                                                   \
    "{\"solid\": {" solid "}, \"domain\": {\"cells\": " cells                                                \
    ", \"size\": [14, 10, 10]}, \"flow\": {\"speed\": "                                                      \
    "1, \"reference_length\": 2, \"lattice_speed\": 0.06, " flow "}, \"model\": {" model                     \
    "}, \"boundaries\": "                                                                                    \
    "{\"xmin\": \"inflow\", \"xmax\": \"outflow\", \"ymin\": \"" walls "\", \"ymax\": \"" walls "\", "       \
    "\"zmin\": \"free_slip\", \"zmax\": \"free_slip\"}" refine "}"
#define SCENE(solid, cells, flow, model, refine) SCENE_IN("wall", solid, cells, flow, model, refine)
#define OPEN(cells, flow, model, refine)         SCENE_IN("free_slip", BALL, cells, flow, model, refine)
#define CELLS                                    "[14, 10, 10]"
#define FINE                                     "[56, 40, 40]" /* cells of two levels everywhere */
#define BALL                                     "\"shape\": \"ball\", \"radius\": 1, \"position\": [4.6, 5, 4.7], \"boundary\": \"links\""
#define SLOW                                     "\"reynolds\": 50"
#define FAST                                     "\"reynolds\": 3e5"
#define PLAIN                                    "\"rates\": \"k17\""
#define LAW                                      "\"rates\": \"k17\", \"wall\": \"law\", \"trip\": 0"
#define MODELLED                                 LAW ", \"layers\": \"modelled\""
#define LATE                                     "\"rates\": \"k17\", \"wall\": \"law\", \"trip\": 1"
#define LAMINAR                                  "\"rates\": \"k17\", \"wall\": \"law\""
#define HALF_WAY                                 ", \"links\": \"half-way\""
#define ONE_BOX                                  ", \"refine\": [{\"box\": {\"low\": [0, 0, 0], \"high\": [9, 10, 10]}}]"
#define TWO_BOXES                                                                                            \
    ", \"refine\": [{\"box\": {\"low\": [0, 0, 0], \"high\": [10, 10, 10]}}, {\"box\": {\"low\": [2, 3, "    \
    "2], "                                                                                                   \
    "\"high\": [8, 7, 7.5]}}]"
/* Walls at rest would have thicker boundary layers in coarser cells. */
static const char open_fine[] = OPEN(FINE, SLOW, PLAIN, ""),
                  open_nested[] = OPEN(CELLS, SLOW, PLAIN, TWO_BOXES),
                  open_fine_by_law[] = OPEN(FINE, FAST, LAW, ""),
                  open_nested_by_law[] = OPEN(CELLS, FAST, LAW, TWO_BOXES);
static const char plain[] = SCENE(BALL, CELLS, SLOW, PLAIN, TWO_BOXES),
                  half_way[] = SCENE(BALL HALF_WAY, CELLS, SLOW, PLAIN, TWO_BOXES),
                  by_law[] = SCENE(BALL, CELLS, FAST, LAW, TWO_BOXES),
                  modelled[] = SCENE(BALL, CELLS, FAST, MODELLED, TWO_BOXES),
                  ones[] = SCENE(BALL, CELLS, SLOW, "\"rates\": \"ones\"", ONE_BOX),
                  outer_ones[] = SCENE(BALL, CELLS, FAST, LAW ", \"outer_rates\": \"ones\"", TWO_BOXES),
                  laminar[] = SCENE(BALL, CELLS, SLOW, LAMINAR, TWO_BOXES),
                  late[] = SCENE(BALL, CELLS, FAST, LATE, TWO_BOXES),
                  late_alone[] = SCENE(BALL, FINE, FAST, LATE, ""),
                  averaged[] = SCENE(BALL, CELLS, SLOW, "\"rates\": \"adaptive_2020\"", TWO_BOXES),
                  near_side[] =
                      SCENE(BALL, CELLS, SLOW, PLAIN,
                            ", \"refine\": [{\"box\": {\"low\": [0, 3, 0], \"high\": [9, 7, 10]}}]"),
                  /* The solid also stands on the mirroring floor of the domain, where the box ends. */
    standing[] =
        SCENE("\"shape\": \"ball\", \"radius\": 1, \"position\": [4.6, 5, 1.05], \"boundary\": \"links\"",
              CELLS, FAST, LAW, ", \"refine\": [{\"box\": {\"low\": [0, 0, 0], \"high\": [9, 10, 5]}}]"),
                  turning[] = SCENE(BALL ", \"motion\": {\"axis\": [0, 0, 1], \"angular_velocity\": 0.1}",
                                    CELLS, SLOW, PLAIN, TWO_BOXES);

static kf_scene *open_text(const char *text) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    must(kf_scene_open(write_text("linked.json", text), NULL, &scene, &error), &error);
    return scene;
}

/* Returns the default config with these parameters, even where they do not go with the others. */
static kf_config config_with(const kf_scene *scene, const char *fixed, const char *changes) {
    kf_error error = {KF_OK, ""};
    kf_config config;
    const char *const all[] = {"plan=fused", fixed};
    kf_space *space = open_space_of(scene, false, all, 2);
    must(kf_space_nearest(space, &config, &error), &error);
    kf_space_free(space);
    change_config(&config, changes);
    return config;
}

/* Every link of the finest level has its nodes in that level's box, apart from its ghost nodes. */
static void test_links_of_the_finest_level(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_nested *nested;
    kf_scene *scene = open_text(modelled);
    must(kf_nested_make(scene, &nested, &error), &error);
    assert_int_equal(nested->count, 3);
    assert_int_equal(nested->level[0].scene.links.count + nested->level[1].scene.links.count, 0);
    const kf_nested_level *finest = &nested->level[2];
    const kf_links *links = &finest->scene.links, *whole = &finest->whole->links;
    assert_true(links->count > 500 && links->count == whole->count && links->wall_count > 50);
    for (size_t n = 0; n < links->count; n++)
        for (int i = 0; i <= links->link[n].behind; i++)
            for (int a = 0; a < 3; a++) {
                const int at = links->link[n].at[i].node[a];
                assert_int_equal(at + finest->origin[a], whole->link[n].at[i].node[a]);
                assert_true(at >= finest->ghosts[2 * a]);
                assert_true(at < finest->scene.nodes[a] - finest->ghosts[2 * a + 1]);
            }
    for (size_t n = 0; n < links->wall_count; n++)
        for (int a = 0; a < 3; a++)
            assert_in_range(links->wall[n].seen[a], finest->ghosts[2 * a],
                            finest->scene.nodes[a] - finest->ghosts[2 * a + 1] - 1);
    for (size_t n = 0; n < links->inside_count; n++)
        assert_int_equal(links->inside[n][1] + finest->origin[1], whole->inside[n][1]);
    /* The level has all nodes of layers that lie in it, in their order. */
    size_t own = 0;
    for (size_t n = 0; n < whole->layer_count; n++) {
        int at[3];
        bool inside = true;
        for (int a = 0; a < 3; a++) {
            at[a] = whole->layer[n].node[a] - finest->origin[a];
            inside = inside && at[a] >= 0 && at[a] < finest->scene.nodes[a];
        }
        if (!inside) continue;
        assert_true(own < links->layer_count);
        assert_memory_equal(links->layer[own].node, at, sizeof at);
        assert_true(links->layer[own].wall == whole->layer[n].wall &&
                    links->layer[own].height == whole->layer[n].height);
        own++;
    }
    assert_true(own > 500 && own == links->layer_count);
    kf_nested_free(nested);
    kf_scene_free(scene);
}

/* Plans with all kinds of links agree with the reference, in double precision and in the precisions of
 * runs. */
static void test_plans_agree_with_the_reference(void **state) {
    (void)state;
    enum { STEPS = 6 };
    const double BOUND = 1e-8; /* of the law's equation, which kernels solve in few iterations */
    static const char *const texts[] = {plain, half_way,   by_law,  modelled,
                                        ones,  outer_ones, laminar, standing};
    /* The inside of the solid is left out where nodes are computed one by one. */
    static const char hollow[] =
        "staged_nodes=0 prefetch_rows=0 boundary_kernels=1 boundary_choices=false masked_band=true "
        "boundary_rows_apart=false"; /* a GPU's default */
    for (size_t c = 0; c < sizeof texts / sizeof *texts; c++) {
        kf_error error = {KF_OK, ""};
        kf_reference *reference;
        kf_scene *scene = open_text(texts[c]);
        must(kinetic_system->reference(problem_of(kinetic_system, scene), STEPS, &reference, &error), &error);
        const kf_config doubles = config_with(scene, "storage=f64", ""),
                        left_out = config_with(scene, "storage=f64", hollow),
                        singles = config_with(scene, "storage=f32", "");
        const double off = verify_config(kinetic_system, scene, &doubles, reference, STEPS),
                     off_hollow = verify_config(kinetic_system, scene, &left_out, reference, STEPS);
        print_message("scene %zu: off by %.2g, without the inside by %.2g\n", c, off, off_hollow);
        assert_true(off < BOUND && off_hollow < BOUND);
        (void)verify_config(kinetic_system, scene, &singles, reference, STEPS);
        kf_plan *plan = open_plan(scene, &left_out);
        assert_true(((const kf_kinetic *)kf_nested_level_plan(plan, scene->finer_count)->system)
                        ->options.masked_band);
        kf_plan_free(plan);
        kinetic_system->free_reference(reference);
        kf_scene_free(scene);
    }
}

static void test_a_checkpoint_continues_bit_for_bit(void **state) {
    (void)state;
    kf_scene *scene = open_text(modelled);
    const kf_config config = config_with(scene, "storage=f32", "");
    assert_goes_on(scene, &config);
    kf_scene_free(scene);
}

/* Force, torque and the law's results are those of the finest level, in units of the coarsest. The
 * pressure's part is along the wind, which comes from an inflow that the finest level does not touch. */
static void test_loads_are_in_units_of_the_coarsest(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_text(modelled);
    const kf_config config = config_with(scene, "storage=f64", "");
    kf_plan *plan = open_plan(scene, &config), *finest = kf_nested_level_plan(plan, 2);
    kf_solid_load load, fine;
    kf_wall_look look, seen;
    advance(plan, 5);
    must(plan->methods->flow->load(plan, &load, &error), &error);
    must(finest->methods->flow->load(finest, &fine, &error), &error);
    must(plan->methods->flow->wall(plan, &look, NULL, &error), &error);
    must(finest->methods->flow->wall(finest, &seen, NULL, &error), &error);
    assert_true(load.force[0] != 0.0 && load.force[0] == fine.force[0] / 16.0);
    assert_true(load.torque[1] == fine.torque[1] / 64.0);
    assert_true(look.known && look.friction[0] > 0.0 && look.friction[0] == seen.friction[0] / 16.0);
    assert_true(look.share == seen.share && look.share > 0.0);
    assert_true(look.modelled == seen.modelled && look.modelled > 0.0);
    for (int i = 0; i < 3; i++)
        assert_true(look.y_plus[i] == seen.y_plus[i] &&
                    look.friction_velocity[i] == seen.friction_velocity[i]);
    /* Friction and pressure are all of the drag. */
    const double parts = look.friction[0] + look.pressure[0] + look.pressure[1];
    assert_true(fabs(parts - load.force[0]) < 1e-6 * fabs(load.force[0]));
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* Finds force and friction along the wind: means over some steps of the coarsest level, in units of the
 * finest. */
static void find_drag(const char *text, double *drag, double *friction) {
    enum { BEFORE = 40, TAKEN = 20 };
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_text(text);
    const kf_config config = config_with(scene, "storage=f32", "");
    const double unit = ldexp(1.0, 2 * scene->finer_count);
    const uint64_t each = scene->finer_count > 0 ? 1 : 4;
    kf_plan *plan = open_plan(scene, &config);
    *drag = *friction = 0.0;
    advance(plan, BEFORE * each);
    for (int i = 0; i < TAKEN; i++) {
        kf_solid_load load;
        kf_wall_look look;
        advance(plan, each);
        must(plan->methods->flow->load(plan, &load, &error), &error);
        must(plan->methods->flow->wall(plan, &look, NULL, &error), &error);
        *drag += unit * load.force[0] / TAKEN;
        *friction += look.known ? unit * look.friction[0] / TAKEN : 0.0;
    }
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* The drag equals that on a uniform grid with the finest cells, at the same time. */
static void test_the_drag_is_that_of_one_grid(void **state) {
    (void)state;
    double drag[2], friction[2];
    find_drag(open_fine, &drag[0], &friction[0]);
    find_drag(open_nested, &drag[1], &friction[1]);
    print_message("drag %.5g, on the uniform grid %.5g\n", drag[1], drag[0]);
    assert_true(fabs(drag[1] / drag[0] - 1.0) < 0.01);
    find_drag(open_fine_by_law, &drag[0], &friction[0]);
    find_drag(open_nested_by_law, &drag[1], &friction[1]);
    print_message("by the law: drag %.5g, friction %.5g, on the uniform grid %.5g, %.5g\n", drag[1],
                  friction[1], drag[0], friction[0]);
    assert_true(fabs(drag[1] / drag[0] - 1.0) < 0.05);
    assert_true(friction[0] > 0.0 && fabs(friction[1] / friction[0] - 1.0) < 0.03);
}

/* All levels of a scene with a law say whether its layers are laminar. The place of transition is the same
 * on all, also on a reduced grid. */
static void test_transition_is_at_one_place_on_all_levels(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *all = open_text(laminar), *behind = open_text(late), *alone = open_text(late_alone), *reduced;
    assert_true(all->laminar && all->finer[0]->laminar && all->finer[1]->laminar);
    assert_false(behind->laminar);
    assert_true(behind->trip == 1.0 && behind->finer[0]->trip == 2.0 && behind->finer[1]->trip == 4.0);
    const kf_links *links = &behind->finer[1]->links;
    size_t acts = 0;
    for (size_t n = 0; n < links->wall_count; n++) {
        const double x = links->link[links->wall[n].first].at[0].node[0] + 0.5;
        if (x < 4 * 4.6 - 0.5) assert_true(links->wall[n].height == 0.0);
        acts += links->wall[n].height > 0.0;
    }
    assert_true(acts > 20 && acts < links->wall_count);
    must(kf_scene_reduce(alone, 20000, &reduced, &error), &error);
    assert_true(reduced->nodes[0] < alone->nodes[0] && fabs(alone->trip - 4.0) < 1e-9);
    assert_true(fabs(reduced->trip * reduced->cell_size - 1.0) < 1e-9);
    kf_scene_free(alone);
    kf_scene_free(reduced);
    kf_scene_free(all);
    kf_scene_free(behind);
}

static void assert_refused(const char *text, const char *reason) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene = NULL;
    if (kf_scene_open(write_text("refused.json", text), NULL, &scene, &error) == KF_OK)
        (void)kinetic_system->accepts(problem_of(kinetic_system, scene), &error);
    if (strstr(error.message, reason) == NULL) fail_msg("%s", error.message);
    assert_int_equal(error.status, KF_BAD_INPUT);
    kf_scene_free(scene);
}

/* What does not work yet on nested grids is refused by its name. */
static void test_what_nested_links_lack_is_refused(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    assert_refused(near_side, "hold the solid with 4 of its cells around it: across y there are 2 cells");
    assert_refused(turning, "in nested grids a solid by \"links\" is at rest");
    assert_refused(averaged, "adaptive_2020 divide by averages over all of nested grids");
    kf_scene *scene = open_text(plain);
    kf_device_info team = *kf_backend_device(backend);
    team.parts = 2;
    assert_int_equal(kinetic_system->accepts_device(problem_of(kinetic_system, scene), &team, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "runs on one device"));
    kf_scene_free(scene);
}

static size_t index_in(const kf_fields *fields, const int at[3]) {
    return ((size_t)at[2] * (size_t)fields->nodes[1] + (size_t)at[1]) * (size_t)fields->nodes[0] +
           (size_t)at[0];
}

/* Checks the cells of a level's fields that hold nodes inside the solid: their density is the mean of their
 * nodes of fluid, and without any of these they are at rest. Returns how many hold both. */
static int check_cut_cells(const kf_fields *coarse, const kf_fields *fine, const bool *inside, int width) {
    int cut = 0, solid = 0;
    for (int z = 0; z < coarse->nodes[2]; z++)
        for (int y = 0; y < coarse->nodes[1]; y++)
            for (int x = 0; x < coarse->nodes[0]; x++) {
                const size_t cell = index_in(coarse, (const int[3]){x, y, z});
                int fluid = 0;
                double sum = 0.0;
                for (int k = 0; k < width * width * width; k++) {
                    const int at[3] = {x * width + k % width, y * width + k / width % width,
                                       z * width + k / width / width};
                    const size_t node = index_in(fine, at);
                    if (inside[node]) continue;
                    sum += (double)fine->density[node];
                    fluid++;
                }
                if (fluid == width * width * width) continue;
                if (fluid == 0) {
                    assert_true(coarse->density[cell] == 1.0F);
                    for (int a = 0; a < 3; a++)
                        assert_true(coarse->velocity[a][cell] == 0.0F);
                    solid++;
                    continue;
                }
                if (!(fabs((double)coarse->density[cell] - sum / fluid) < 1e-6))
                    fail_msg("cell %d %d %d: %g, not %g", x, y, z, (double)coarse->density[cell] - 1.0,
                             sum / fluid - 1.0);
                cut++;
            }
    assert_true(width > 2 || solid > 0);
    return cut;
}

/* Fields of a coarser level than the finest have the pressure of the fluid alone where the solid cuts cells.
 */
static void test_coarser_fields_have_the_pressure_of_the_fluid(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_text(plain);
    const kf_config config = config_with(scene, "storage=f64", "");
    kf_plan *plan = open_plan(scene, &config), *plans[KF_MOST_LEVELS] = {NULL};
    kf_nested *nested = NULL;
    kf_fields fine;
    advance(plan, 3);
    must(kf_nested_make(scene, &nested, &error), &error);
    for (int l = 0; l < nested->count; l++)
        plans[l] = kf_nested_level_plan(plan, l);
    must(kf_nested_settle(plan, &error), &error);
    must(kf_nested_join_fields(nested, plans, 2, &fine, &error), &error);
    const kf_nested_level *finest = &nested->level[2];
    bool *inside =
        kf_allocate_zeroed((size_t)fine.nodes[0] * (size_t)fine.nodes[1] * (size_t)fine.nodes[2], 1);
    for (size_t i = 0; i < finest->scene.links.inside_count; i++) {
        int at[3];
        for (int a = 0; a < 3; a++)
            at[a] = finest->scene.links.inside[i][a] + finest->origin[a];
        inside[index_in(&fine, at)] = true;
    }
    for (int last = 0; last < 2; last++) {
        kf_fields coarse;
        must(kf_nested_join_fields(nested, plans, last, &coarse, &error), &error);
        assert_true(check_cut_cells(&coarse, &fine, inside, 4 >> last) > 7);
        kf_fields_free(&coarse);
    }
    free(inside);
    kf_fields_free(&fine);
    kf_nested_free(nested);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links_of_the_finest_level),
        cmocka_unit_test(test_plans_agree_with_the_reference),
        cmocka_unit_test(test_a_checkpoint_continues_bit_for_bit),
        cmocka_unit_test(test_loads_are_in_units_of_the_coarsest),
        cmocka_unit_test(test_the_drag_is_that_of_one_grid),
        cmocka_unit_test(test_transition_is_at_one_place_on_all_levels),
        cmocka_unit_test(test_coarser_fields_have_the_pressure_of_the_fluid),
        cmocka_unit_test(test_what_nested_links_lack_is_refused),
    };
    return cmocka_run_group_tests(tests, open_folder_and_backend, close_folder_and_backend);
}
