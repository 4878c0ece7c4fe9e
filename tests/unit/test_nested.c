/* Tests the reference of nested grids on flows whose answer is known, with an interface in their way.
 * Faults: an interface that reflects, shifts or damps the flow. */
#include "tests/unit/near.h"
#include "tests/unit/nested_stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void advance(stage *s, int steps) {
    s->run = kf_nested_begin(s->nested);
    for (int step = 0; step < steps; step++)
        kf_nested_advance(s->run, step);
}

/* Returns the largest deviation of any node of any level from that velocity and density 1, and ends the
 * run. Ghosts of finer levels are left out, because they are right only between steps. */
static double off_uniform(stage *s, const double velocity[3]) {
    kf_reference_result results[KF_MOST_LEVELS];
    double off = 0.0;
    kf_nested_end(s->run, results);
    for (int l = 0; l < s->nested->count; l++) {
        const kf_nested_level *level = &s->nested->level[l];
        const int *n = level->scene.nodes;
        const size_t count = kf_flow_count(&level->scene);
        for (int z = level->ghosts[4]; z < n[2] - level->ghosts[5]; z++)
            for (int y = level->ghosts[2]; y < n[1] - level->ghosts[3]; y++)
                for (int x = level->ghosts[0]; x < n[0] - level->ghosts[1]; x++)
                    for (size_t i = 0; i < 4; i++) {
                        const size_t node = (size_t)x + (size_t)n[0] * ((size_t)y + (size_t)n[1] * (size_t)z);
                        off = fmax(
                            off, fabs(results[l].values[i * count + node] - (i > 0 ? velocity[i - 1] : 0.0)));
                    }
        free(results[l].values);
    }
    return off;
}

/* Faces, edges and corners of a box, and a box in it, do not disturb a uniform flow of any direction. */
static void test_uniform_flow(void **state) {
    (void)state;
    static const double streams[][3] = {{0.05, 0, 0}, {0, -0.04, 0.03}, {0.05, 0.03, -0.02}};
    static const kf_rate_rule rules[] = {KF_RATE_ONES, KF_RATE_K17, KF_RATE_CONSTANT};
    for (int i = 0; i < 3; i++) {
        stage s;
        flow f = {.state = uniform, .rule = rules[i]};
        memcpy(f.stream, streams[i], sizeof f.stream);
        begin(&s, f, (const int[3]){12, 12, 12}, 0.01, 3);
        assert_int_equal(nest(&s, two_boxes, 3, NULL), KF_OK);
        advance(&s, 2);
        assert_true(off_uniform(&s, streams[i]) < 1e-13);
        end(&s);
    }
}

/* The same holds where boxes touch a wall that moves along, an inflow and a free-slip face. */
static void test_boxes_at_faces(void **state) {
    (void)state;
    static const double stream[3] = {0.05, 0, 0};
    static const kf_cell_box boxes[] = {{{0, 0, 0}, {8, 6, 5}}, {{0, 4, 0}, {9, 9, 6}}};
    stage s;
    begin(&s, (flow){.state = uniform, .stream = {0.05}, .rule = KF_RATE_ONES}, (const int[3]){12, 10, 10},
          0.01, 3);
    for (int l = 0; l < 3; l++) {
        s.whole[l]->faces[KF_XMIN] = KF_INFLOW;
        s.whole[l]->faces[KF_XMAX] = KF_OUTFLOW;
        s.whole[l]->faces[KF_YMIN] = s.whole[l]->faces[KF_YMAX] = KF_WALL;
        s.whole[l]->faces[KF_ZMIN] = s.whole[l]->faces[KF_ZMAX] = KF_FREE_SLIP;
        for (int face = 0; face < KF_ZMIN; face++)
            s.whole[l]->face_velocity[face][0] = stream[0];
    }
    assert_int_equal(nest(&s, boxes, 3, NULL), KF_OK);
    advance(&s, 3);
    assert_true(off_uniform(&s, stream) < 1e-13);
    end(&s);
}

/* A force on the fluid accelerates all levels alike. */
static void test_body_force(void **state) {
    (void)state;
    static const double force[3] = {1e-5, -2e-5, 0.5e-5};
    enum { STEPS = 2 };
    stage s;
    flow f = {.state = uniform, .rule = KF_RATE_ONES};
    memcpy(f.body_force, force, sizeof force);
    begin(&s, f, (const int[3]){12, 12, 12}, 0.01, 3);
    assert_int_equal(nest(&s, two_boxes, 3, NULL), KF_OK);
    advance(&s, STEPS);
    const double velocity[3] = {STEPS * force[0], STEPS * force[1], STEPS * force[2]};
    assert_true(off_uniform(&s, velocity) <
                /* The state begins in equilibrium, including its terms of second order in u. */
                1e-9);
    end(&s);
}

typedef struct decay {
    /* The mean error of the velocity relative to the vortex's, and the mass gained relative to all. */
    double off, drift;
} decay;

/* Simulates Taylor-Green vortices until they have lost a quarter of their energy, with a finer box over
 * half of each side. */
static decay decay_of_vortices(int nodes) {
    const double viscosity = 0.04, wave = 2.0 * kf_pi / nodes;
    const int steps = (int)lround(0.15 / (2.0 * wave * wave * viscosity));
    const kf_cell_box box = {{nodes / 4, nodes / 4, 0}, {3 * nodes / 4, 3 * nodes / 4, 1}};
    stage s;
    flow f = {.state = vortices, .nodes = nodes, .speed = 0.48 / nodes, .rule = KF_RATE_ONES};
    begin(&s, f, (const int[3]){nodes, nodes, 1}, viscosity, 2);
    assert_int_equal(nest(&s, &box, 2, NULL), KF_OK);
    s.run = kf_nested_begin(s.nested);
    const double mass = kf_nested_mass(s.run);
    for (int step = 0; step < steps; step++)
        kf_nested_advance(s.run, step);
    decay found = {.drift = kf_nested_mass(s.run) / mass - 1.0};
    kf_reference_result results[KF_MOST_LEVELS];
    kf_nested_end(s.run, results);
    const double left = exp(-2.0 * wave * wave * viscosity * steps);
    const size_t count = kf_flow_count(s.whole[0]);
    double off = 0.0, all = 0.0;
    for (size_t node = 0; node < count; node++) {
        double density, u[3];
        at_node(&s.flows[0], (int)(node % (size_t)nodes), (int)(node / (size_t)nodes), 0, &density, u);
        for (size_t a = 0; a < 2; a++) {
            off += pow(results[0].values[(a + 1) * count + node] - left * u[a], 2);
            all += pow(left * u[a], 2);
        }
    }
    found.off = sqrt(off / all);
    for (int l = 0; l < 2; l++)
        free(results[l].values);
    end(&s);
    return found;
}

/* With twice as many cells the error is a quarter or less. Mass is conserved up to what the differences of
 * density between cells do not resolve. */
static void test_the_error_is_of_second_order(void **state) {
    (void)state;
    const decay coarse = decay_of_vortices(12), fine = decay_of_vortices(24);
    assert_true(log2(coarse.off / fine.off) > 1.8);
    assert_true(fine.off < 0.01);
    assert_true(fabs(fine.drift) < 1e-6);
}

/* A pulse that enters a finer box reflects less than 1 % of its amplitude. */
static void test_sound_is_hardly_reflected(void **state) {
    (void)state;
    enum { NODES = 100 };
    const kf_cell_box box = {{NODES / 2, 0, 0}, {NODES - 3, 1, 1}};
    stage s;
    begin(&s, (flow){.state = pulse, .nodes = NODES, .speed = 1e-3, .rule = KF_RATE_ONES},
          (const int[3]){NODES, 1, 1}, 1e-3, 2);
    assert_int_equal(nest(&s, &box, 2, NULL), KF_OK);
    advance(&s, (int)(0.44 * NODES * sqrt(3.0)));
    kf_reference_result results[KF_MOST_LEVELS];
    kf_nested_end(s.run, results);
    double back = 0.0, through = 0.0;
    for (int x = 0; x < NODES; x++) {
        double *most = x < NODES / 2 ? &back : &through;
        *most = fmax(*most, fabs(results[0].values[x]));
    }
    assert_true(through > 0.85e-3 && back < 0.01 * through);
    for (int l = 0; l < 2; l++)
        free(results[l].values);
    end(&s);
}

static void assert_refused(stage *s, const kf_cell_box *boxes, int levels, const char *reason) {
    kf_error error;
    assert_int_equal(nest(s, boxes, levels, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, reason));
}

/* Impossible boxes are refused with the reason. */
static void test_impossible_boxes_are_refused(void **state) {
    (void)state;
    stage s;
    begin(&s, (flow){.state = uniform}, (const int[3]){12, 12, 12}, 0.01, 3);
    assert_refused(&s, &(kf_cell_box){{3, 3, 3}, {9, 13, 9}}, 2, "give it cells of the domain, 0 to 12");
    assert_refused(&s, &(kf_cell_box){{3, 3, 3}, {9, 3, 9}}, 2, "give it cells of the domain");
    assert_refused(&s, &(kf_cell_box){{0, 3, 3}, {9, 8, 9}}, 2, "touches one periodic face across x");
    assert_refused(&s, (kf_cell_box[]){{{3, 3, 3}, {9, 9, 9}}, {{7, 9, 9}, {12, 14, 14}}}, 3,
                   "box 2 ends 1 cells from the box around it across x");
    for (int l = 0; l < 3; l++) {
        s.whole[l]->faces[KF_XMIN] = KF_INFLOW;
        s.whole[l]->faces[KF_XMAX] = KF_OUTFLOW;
    }
    assert_refused(&s, &(kf_cell_box){{3, 3, 3}, {12, 9, 9}}, 2, "touches the outflow across x");
    assert_refused(&s, &(kf_cell_box){{1, 3, 3}, {9, 9, 9}}, 2, "from the domain's face across x");
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform_flow),
        cmocka_unit_test(test_boxes_at_faces),
        cmocka_unit_test(test_body_force),
        cmocka_unit_test(test_the_error_is_of_second_order),
        cmocka_unit_test(test_sound_is_hardly_reflected),
        cmocka_unit_test(test_impossible_boxes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
