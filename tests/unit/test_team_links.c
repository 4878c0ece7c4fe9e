/* Tests teams with a solid by links against one device, bit for bit, wherever cuts go through the solid.
 * Faults: a link that two parts count, or none. */
#include "solver/validation/body.h"
#include "tests/unit/kinetic_teams.h"
#include "tests/unit/quick_compiler.h"

#define PLANES_IN_PLACE                                                                                      \
    "register_cap=0", "boundary_choices=false", "slab=0", "block_x=64", "block_y=2", "staged_nodes=0",       \
        "streaming=two_grids"
static const char *const plans[][24] = {
    {"plan=fused", PLANES_IN_PLACE, "nodes_per_thread=1", "layout=csoa", "alpha=32", "storage=f32",
     "boundary_kernels=0", "masked_band=false", NULL},
    {"plan=fused", PLANES_IN_PLACE, "nodes_per_thread=1", "layout=soa", "storage=f16", "boundary_kernels=0",
     "masked_band=false", NULL},
    {"plan=fused", PLANES_IN_PLACE, "nodes_per_thread=1", "layout=aos", "storage=f64", "boundary_kernels=1",
     "masked_band=false", NULL},
    /* The flow's kernel leaves out the nodes inside. */
    {"plan=fused", PLANES_IN_PLACE, "nodes_per_thread=2", "layout=csoa", "alpha=32", "storage=f32",
     "boundary_kernels=0", "masked_band=true", NULL},
    {"plan=baseline", "layout=aos", "storage=f32", "block_x=64", "block_y=2", "boundary_kernels=1", NULL},
    {"plan=paper", "layout=csoa", "alpha=32", "collision_split=2", "storage=f32", "block_x=64", "block_y=2",
     "boundary_kernels=1", NULL},
    {"plan=fused", "register_cap=0", "boundary_choices=false", "slab=4", "block_x=64", "block_y=2",
     "staged_nodes=0", "streaming=shift", "nodes_per_thread=1", "layout=csoa", "alpha=32", "storage=f32",
     "boundary_kernels=0", "masked_band=false", NULL},
};
enum { SINGLE, HALVES, DOUBLES, HOLLOW, BASELINE, PAPER, SHIFTED_GRID };

static kf_scene *by_links(kf_scene *scene, bool half_way, bool law) {
    kf_error error = {KF_OK, ""};
    scene->linked = true;
    scene->half_way = half_way;
    scene->wall_law = law;
    scene->trip = 0.0;
    scene->samples.count = 0;
    must(kf_scene_cut_links(scene, &error), &error);
    return scene;
}

static kf_scene *linked_ball(void) {
    return by_links(ball_scene(), false, false);
}

static kf_scene *half_way_ball(void) {
    return by_links(ball_scene(), true, false);
}

/* The cut goes through the middle of the ball, and averages include the nodes inside that are beside it. */
static kf_scene *averaged_ball(void) {
    int first[KF_MOST_PARTS + 1];
    kf_scene *scene = kf_flow_box("averaged", 20, 16, 16, 0.0004);
    scene->collision = KF_ACM_MRT;
    scene->rate_rule = KF_RATE_ADAPTIVE_2020;
    scene->initial_velocity[0] = 0.05;
    kf_body_set_ball(scene, (const double[3]){9.8, 7.6, 7.6}, 4.1);
    scene = by_links(scene, false, false);
    kf_kinetic_cut(scene, kf_kinetic_sample_cost(scene, 0), 2, 2, first);
    assert_int_equal(first[1] % KF_AVERAGE_STRIDE, 0);
    assert_true(kf_kinetic_is_adaptive(scene, 27) &&
                scene->links.inside_count > scene->links.shell_count + 50);
    return scene;
}

/* The ball turns in place. */
static kf_scene *turning_ball(void) {
    kf_scene *scene = ball_scene();
    scene->motion = (kf_motion){.moving = true, .axis = {0.48, -0.6, 0.64}, .angular_speed = 0.013};
    for (int a = 0; a < 3; a++)
        scene->motion.center[a] = 0.5 * (scene->solid_low[a] + scene->solid_high[a]);
    return by_links(scene, false, false);
}

/* The scene has no averages over the domain. */
static kf_scene *hollow_ball(void) {
    kf_scene *scene = ball_scene();
    scene->rate_rule = KF_RATE_K17;
    return by_links(scene, false, false);
}

static void move_mesh(kf_scene *scene, int axis, double shift) {
    for (size_t v = 0; v < scene->mesh.vertex_count; v++)
        scene->mesh.vertices[3 * v + (size_t)axis] += shift;
    scene->solid_low[axis] += shift;
    scene->solid_high[axis] += shift;
}

/* Links cross the seam of a domain that is periodic along the axis of the cuts. */
static kf_scene *linked_across_the_seam(void) {
    kf_scene *scene = ball_scene();
    scene->faces[KF_ZMIN] = scene->faces[KF_ZMAX] = KF_PERIODIC;
    move_mesh(scene, 2, -0.5 * (scene->solid_low[2] + scene->solid_high[2]) + 0.2);
    return by_links(scene, false, false);
}

/* Links cross the seams of a domain that is periodic along both axes of the cuts. */
static kf_scene *linked_on_a_torus(void) {
    kf_scene *scene = ball_scene();
    for (int face = KF_YMIN; face <= KF_ZMAX; face++)
        scene->faces[face] = KF_PERIODIC;
    for (int axis = 1; axis <= 2; axis++)
        move_mesh(scene, axis, -0.5 * (scene->solid_low[axis] + scene->solid_high[axis]) + 0.2);
    return by_links(scene, false, false);
}

/* Half of the ball is at a face that mirrors it. */
static kf_scene *linked_to_its_image(void) {
    kf_scene *scene = ball_scene();
    move_mesh(scene, 2, -scene->solid_low[2] - 1.2);
    return by_links(scene, false, false);
}

/* Thin plates lie across the cuts and along them, with fluid on both sides. */
static kf_scene *thin_plates(void) {
    kf_scene *scene = kf_flow_box("plates", 16, 14, 24, 0.002);
    scene->initial_velocity[0] = 0.05;
    scene->initial_velocity[1] = 0.01;
    scene->initial_velocity[2] = 0.02;
    for (int z = 5; z < 24; z += 6)
        kf_body_add_box(scene, (const double[3]){4.2, 3.3, z + 0.3}, (const double[3]){9.4, 9.6, z + 0.6});
    kf_body_add_box(scene, (const double[3]){11.3, 3.3, 3.2}, (const double[3]){11.6, 9.6, 20.1});
    scene = by_links(scene, false, false);
    assert_true(scene->links.thin_count > 0);
    return scene;
}

static kf_scene *ball_with_a_law(void) {
    kf_scene *scene = open_scene("ball", 20000);
    scene->viscosity = 1e-5;
    scene->rate_rule = KF_RATE_K17;
    return by_links(scene, false, true);
}

/* A box begins at the cut. Below it the law reads nodes that are farthest from the part above. */
static kf_scene *box_on_the_cut(void) {
    for (int z = 8; z < 16; z++) {
        int first[KF_MOST_PARTS + 1];
        kf_scene *scene = kf_flow_box("box", 24, 16, 20, 1e-6);
        scene->rate_rule = KF_RATE_K17;
        for (int a = 0; a < 3; a++)
            scene->initial_velocity[a] = 0.05 - 0.02 * a;
        kf_body_add_box(scene, (const double[3]){6.3, 4.4, z - 0.8}, (const double[3]){14.2, 10.7, z + 0.3});
        scene = by_links(scene, false, true);
        kf_kinetic_cut(scene, kf_kinetic_sample_cost(scene, 0), 2, 2, first);
        if (first[1] == z) return scene;
        kf_scene_free(scene);
    }
    fail_msg("no box begins at the cut");
    return NULL;
}

static const struct {
    kf_scene *(*open)(void);
    int plan, team;
} cases[] = {{linked_ball, SINGLE, 1},
             {hollow_ball, HOLLOW, 2},
             {half_way_ball, SINGLE, 2},
             {thin_plates, SINGLE, 2},
             {linked_ball, HALVES, 2},
             {linked_across_the_seam, SINGLE, 1},
             {linked_to_its_image, SINGLE, 2},
             {thin_plates, DOUBLES, 1},
             {linked_ball, DOUBLES, 0},
             {linked_ball, BASELINE, 1},
             {hollow_ball, PAPER, 0},
             {half_way_ball, HALVES, 0},
             {linked_across_the_seam, DOUBLES, 2},
             {ball_with_a_law, HOLLOW, 2},
             {ball_with_a_law, HALVES, 1},
             {turning_ball, SINGLE, 2},
             {averaged_ball, SINGLE, 0}};
enum { CASES = sizeof cases / sizeof *cases };

/* Returns the number of links that lead from one part into another. */
static size_t links_across_cuts(const kf_scene *scene, int parts) {
    int first[KF_MOST_PARTS + 1];
    size_t count = 0;
    kf_kinetic_cut(scene, kf_kinetic_sample_cost(scene, 0), 2, parts, first);
    for (size_t n = 0; n < scene->links.count; n++) {
        const kf_link *link = &scene->links.link[n];
        for (int part = 1; part < parts; part++)
            count += (link->at[0].node[2] < first[part]) != (link->inner.node[2] < first[part]);
    }
    return count;
}

static void test_planes_in_place(void **state) {
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        outcome one, team;
        kf_scene *scene = cases[c].open();
        if (links_across_cuts(scene, cases[c].team + 2) == 0) fail_msg("case %zu: no cut meets the solid", c);
        run(scene, plans[cases[c].plan], "cpu:1", &one);
        assert_true(one.load.force[0] != 0.0);
        for (uint64_t seed = 0; seed <= 1; seed++) {
            char what[64];
            (void)snprintf(what, sizeof what, "case %zu, %s", c, seed == 0 ? "in order" : "in random order");
            kf_cpu_shuffle(seed * (c + 1), -1);
            run(scene, plans[cases[c].plan], teams[cases[c].team], &team);
            kf_cpu_shuffle(0, -1);
            same(&one, &team, what);
            outcome_free(&team);
        }
        outcome_free(&one);
        kf_scene_free(scene);
    }
}

/* No await is superfluous: without some of them a team ends with other bits. */
static void test_awaits(void **state) {
    (void)state;
    static const struct {
        kf_scene *(*open)(void);
        int plan;
    } some[] = {{linked_ball, SINGLE}, {thin_plates, SINGLE}, {ball_with_a_law, HOLLOW}};
    for (size_t c = 0; c < sizeof some / sizeof *some; c++) {
        outcome one, team;
        kf_scene *scene = some[c].open();
        run(scene, plans[some[c].plan], "cpu:1", &one);
        for (int dropped = 0; dropped < KF_CPU_DROPS; dropped++) {
            bool noticed = false;
            for (uint64_t seed = 1; seed <= MOST_SEEDS && !noticed; seed++) {
                kf_cpu_shuffle(seed, dropped);
                run(scene, plans[some[c].plan], teams[2], &team);
                noticed = !equal(&one, &team);
                outcome_free(&team);
            }
            if (!noticed) fail_msg("case %zu: awaits %d of %d are not missed", c, dropped, KF_CPU_DROPS);
        }
        kf_cpu_shuffle(0, -1);
        outcome_free(&one);
        kf_scene_free(scene);
    }
}

static void test_restart_on_any_number(void **state) {
    (void)state;
    for (size_t c = 0; c < 4; c++) {
        outcome one, last;
        char what[64];
        kf_scene *scene = c < 3 ? cases[c].open() : ball_with_a_law();
        const char *const *plan = plans[c < 3 ? cases[c].plan : HOLLOW];
        (void)snprintf(what, sizeof what, "restarted, case %zu", c);
        run(scene, plan, "cpu:1", &one);
        run_restarted(scene, plan, NULL, NULL, &last);
        same(&one, &last, what);
        outcome_free(&last);
        outcome_free(&one);
        kf_scene_free(scene);
    }
}

/* The results of the law of the wall on the surface are those of all parts. */
static void test_look_at_the_wall(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = ball_with_a_law();
    const size_t count = scene->links.wall_count;
    double *found[2];
    kf_wall_look looks[2];
    for (int i = 0; i < 2; i++) {
        kf_backend *backend;
        must(kf_backend_open(i == 0 ? "cpu:1" : teams[1], &backend, &error), &error);
        kf_plan *plan = open_plan(scene, plans[HOLLOW], backend);
        must(kf_plan_advance(plan, STEPS, &error), &error);
        found[i] = malloc(count * sizeof *found[i]);
        must(plan->methods->flow->wall(plan, &looks[i], found[i], &error), &error);
        kf_plan_free(plan);
        kf_backend_close(backend);
    }
    assert_memory_equal(found[0], found[1], count * sizeof *found[0]);
    assert_memory_equal(&looks[0], &looks[1], sizeof looks[0]);
    assert_true(looks[0].share > 0.5 && looks[0].friction[0] > 0.0);
    free(found[0]);
    free(found[1]);
    kf_scene_free(scene);
}

/* The gate verifies a team's config. */
static void test_the_gate(void **state) {
    (void)state;
    enum { VERIFIED = 20 };
    kf_error error = {KF_OK, ""};
    for (size_t c = 0; c < 3; c++) {
        kf_scene *scene = c < 2 ? cases[c].open() : ball_with_a_law();
        kf_reference *reference;
        kf_verification verification;
        kf_backend *backend;
        must(kf_backend_open(teams[1], &backend, &error), &error);
        must(kinetic->reference(problem_of(kinetic, scene), VERIFIED, &reference, &error), &error);
        kf_plan *plan = open_plan(scene, plans[c < 2 ? cases[c].plan : HOLLOW], backend);
        must(kf_plan_advance(plan, VERIFIED, &error), &error);
        must(kinetic->verify(plan, reference, &verification, &error), &error);
        assert_true(verification.error <= verification.bound);
        kf_plan_free(plan);
        kinetic->free_reference(reference);
        kf_backend_close(backend);
        kf_scene_free(scene);
    }
}

/* With copied planes and boxes parts write to copies of their neighbours' nodes, and compute twice what
 * both sides of a cut need. */
static void test_copied_planes_and_boxes(void **state) {
    (void)state;
    static const struct {
        kf_scene *(*open)(void);
        int plan;
        const char *cut;
        int team;
    } copied[] = {{averaged_ball, SINGLE, NULL, 0},
                  {averaged_ball, SHIFTED_GRID, NULL, 0},
                  {averaged_ball, PAPER, NULL, 0},
                  {hollow_ball, SINGLE, NULL, 1},
                  {linked_ball, SINGLE, NULL, 2},
                  {half_way_ball, SINGLE, NULL, 0},
                  {thin_plates, SINGLE, NULL, 1},
                  {turning_ball, SINGLE, NULL, 1},
                  {linked_ball, SHIFTED_GRID, NULL, 1},
                  {linked_across_the_seam, SHIFTED_GRID, NULL, 0},
                  {linked_across_the_seam, HALVES, NULL, 1},
                  {ball_with_a_law, HOLLOW, NULL, 1},
                  {ball_with_a_law, HALVES, NULL, 0},
                  {box_on_the_cut, SINGLE, NULL, 0},
                  {hollow_ball, BASELINE, NULL, 1},
                  {linked_ball, PAPER, NULL, 0},
                  {linked_ball, SINGLE, "parts_y=2", 2},
                  {thin_plates, SINGLE, "parts_y=2", 0},
                  {ball_with_a_law, SINGLE, "parts_y=2", 2},
                  {linked_on_a_torus, SINGLE, "parts_y=2", 2},
                  {ball_with_a_law, SHIFTED_GRID, "parts_y=2", 2}};
    for (size_t c = 0; c < sizeof copied / sizeof *copied; c++)
        holds_in_any_order(copied[c].open(), plans[copied[c].plan], copied[c].cut, teams[copied[c].team], c);
}

/* mpirun starts several processes. */
static void test_in_several_processes(void **state) {
    (void)state;
    enum { TAKEN = 4 };
    kf_error error = {KF_OK, ""};
    outcome alone[TAKEN];
    for (int c = 0; c < TAKEN; c++) {
        kf_scene *scene = c < TAKEN - 1 ? cases[c].open() : ball_with_a_law();
        run(scene, plans[c < TAKEN - 1 ? cases[c].plan : HOLLOW], "cpu:1", &alone[c]);
        kf_scene_free(scene);
    }
    must(kf_world_open(&error), &error);
    assert_int_equal(kf_world_size(), 2);
    for (int c = 0; c < TAKEN; c++) {
        outcome together;
        char what[64];
        kf_scene *scene = c < TAKEN - 1 ? cases[c].open() : ball_with_a_law();
        (void)snprintf(what, sizeof what, "processes, case %d", c);
        run(scene, plans[c < TAKEN - 1 ? cases[c].plan : HOLLOW], c % 2 == 0 ? "cpu:1" : teams[0], &together);
        same(&alone[c], &together, what);
        outcome_free(&together);
        outcome_free(&alone[c]);
        kf_scene_free(scene);
    }
    kf_world_close(KF_OK, &error);
}

int main(void) {
    const struct CMUnitTest of_several[] = {cmocka_unit_test(test_in_several_processes)};
    if (kf_world_is_wanted()) return cmocka_run_group_tests(of_several, take_quick_compiler, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_planes_in_place, in_order_again),
        cmocka_unit_test_teardown(test_awaits, in_order_again),
        cmocka_unit_test(test_restart_on_any_number),
        cmocka_unit_test(test_look_at_the_wall),
        cmocka_unit_test(test_the_gate),
        cmocka_unit_test(test_copied_planes_and_boxes),
    };
    return cmocka_run_group_tests(tests, take_quick_compiler, NULL);
}
