/* Tests smoke tracers. Faults: tracers that do not follow the flow, are lost or made up, or differ from
 * run to run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/team.h"
#include "base/util/memory.h"
#include "solver/flow/flow_plan.h"
#include "solver/smoke/tracers.h"
#include "tests/unit/check.h"
#include "tests/unit/kinetic_plan.h"
#include "tests/unit/problem_fixture.h"
#include "tests/unit/quick_compiler.h"

enum { NX = 40, NY = 24, NZ = 20, NODES = NX * NY * NZ };

/* A plan with nothing but a velocity, which is a function of the node. */
typedef struct prescribed {
    kf_plan plan;
    kf_scene scene;
    kf_backend *backend;
    void (*flow)(const double at[3], double velocity[3]);
} prescribed;

static kf_status prescribed_velocity(kf_plan *plan, kf_buffer *buffer, kf_error *error) {
    const prescribed *given = plan->system;
    float *values = kf_allocate_zeroed(NODES, 4 * sizeof *values);
    size_t node = 0;
    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++, node++) {
                double u[3];
                given->flow((double[3]){x, y, z}, u);
                for (size_t a = 0; a < 3; a++)
                    values[4 * node + a] = (float)u[a];
            }
    kf_status status = kf_buffer_upload(buffer, 0, values, NODES * 4 * sizeof *values, error);
    free(values);
    return status;
}

static const kf_flow_methods prescribed_flow = {.velocity = prescribed_velocity};
static const kf_plan_methods prescribed_methods = {.flow = &prescribed_flow};

static prescribed *open_flow(void (*flow)(const double at[3], double velocity[3]), kf_boundary faces,
                             const char *device) {
    kf_error error = {0};
    prescribed *given = kf_allocate_zeroed(1, sizeof *given);
    must(kf_backend_open(device, &given->backend, &error), &error);
    given->flow = flow;
    memcpy(given->scene.nodes, (int[3]){NX, NY, NZ}, sizeof given->scene.nodes);
    for (int face = 0; face < KF_FACES; face++)
        given->scene.faces[face] = faces;
    given->scene.reference_speed = 0.0625;
    given->plan = (kf_plan){.backend = given->backend,
                            .problem = problem_of(NULL, &given->scene),
                            .methods = &prescribed_methods,
                            .system = given};
    return given;
}

static void close_flow(prescribed *given) {
    kf_backend_close(given->backend);
    free(given);
}

static kf_tracers *open_tracers(prescribed *given, const kf_smoke_sources *sources) {
    kf_error error = {0};
    kf_tracers *tracers;
    must(kf_tracers_open(&given->plan, sources, &tracers, &error), &error);
    assert_int_equal(kf_tracers_period(tracers), 8); /* half a cell at 1/16 per step */
    return tracers;
}

static void advance(prescribed *given, kf_tracers *tracers, int moves) {
    kf_error error = {0};
    for (int m = 0; m < moves; m++) {
        given->plan.steps_done += 8;
        must(kf_tracers_move(tracers, &error), &error);
    }
}

/* Returns x y z u v w of every place. The caller frees. */
static float *state_of(kf_tracers *tracers) {
    kf_error error = {0};
    float *state = kf_allocate(kf_tracers_state_size(tracers));
    must(kf_tracers_save(tracers, state, &error), &error);
    return state;
}

/* Returns the sum of the density on a grid that is this much finer. The caller frees *density unless it is
 * NULL. */
static long long sum_of(const prescribed *given, kf_tracers *tracers, int refinement, long long **density) {
    kf_error error = {0};
    const size_t bytes = kf_tracers_density_bytes(tracers, refinement);
    kf_buffer *buffer;
    long long *values = kf_allocate(bytes), sum = 0;
    assert_int_equal(bytes, sizeof *values * NODES * (size_t)(refinement * refinement * refinement));
    must(kf_buffer_create(given->backend, bytes, &buffer, &error), &error);
    must(kf_tracers_project(tracers, refinement, buffer, &error), &error);
    must(kf_buffer_download(buffer, 0, values, bytes, &error), &error);
    for (size_t i = 0; i < bytes / sizeof *values; i++)
        sum += values[i];
    kf_buffer_free(buffer);
    if (density != NULL)
        *density = values;
    else
        free(values);
    return sum;
}

/* Every tracer counts as one, on any grid. */
static uint64_t count_of(const prescribed *given, kf_tracers *tracers) {
    const long long sum = sum_of(given, tracers, 1, NULL);
    assert_int_equal(sum % KF_TRACER_UNIT, 0);
    assert_int_equal(sum_of(given, tracers, 2, NULL), sum);
    return (uint64_t)(sum / KF_TRACER_UNIT);
}

static kf_smoke_sources one_box(double rate, long capacity) {
    kf_smoke_sources sources = {.count = 1, .capacity = capacity, .seed = 7, .opacity = 1};
    sources.emitters[0] =
        (kf_emitter){.shape = KF_EMITTER_BOX, .rate = rate, .from = {4, 4, 4}, .to = {9, 12, 10}};
    return sources;
}

static void at_rest(const double at[3], double velocity[3]) {
    (void)at;
    velocity[0] = velocity[1] = velocity[2] = 0;
}
static void uniform(const double at[3], double velocity[3]) {
    (void)at;
    velocity[0] = 0.0625;
    velocity[1] = -0.03125;
    velocity[2] = 0.015625;
}
/* The flow turns about the axis z through (20, 12), by a quarter of a radian in five moves. */
static void rotation(const double at[3], double velocity[3]) {
    const double speed = 0.25 / 40;
    velocity[0] = -speed * (at[1] - 12);
    velocity[1] = speed * (at[0] - 20);
    velocity[2] = 0;
}

static void test_uniform_flow(void **state) {
    (void)state;
    prescribed *given = open_flow(uniform, KF_PERIODIC, "cpu");
    given->scene.faces[KF_XMIN] = given->scene.faces[KF_XMAX] = KF_OUTFLOW; /* where none gets to */
    const kf_smoke_sources sources = one_box(50, 10000);
    kf_tracers *tracers = open_tracers(given, &sources);
    advance(given, tracers, 1);
    float *before = state_of(tracers);
    /* They move 10 cells along x. None reaches a seam along x, and all cross one along y. */
    advance(given, tracers, 20);
    float *after = state_of(tracers);
    const float moved[3] = {10, -5, 2.5F};
    int crossed = 0;
    for (int t = 0; t < 400; t++) {
        for (int a = 0; a < 3; a++) {
            float distance = after[a * 10000 + t] - before[a * 10000 + t];
            if (a == 1 && distance > 0) crossed++, distance -= NY;
            assert_true(fabsf(distance - moved[a]) < 1e-4F);
        }
    }
    assert_true(crossed > 0 && crossed < 400);
    free(before);
    free(after);
    kf_tracers_free(tracers);
    close_flow(given);
}

/* Euler's method would spiral outwards by 17 % per turn. */
static void test_rotation_is_closed(void **state) {
    (void)state;
    prescribed *given = open_flow(rotation, KF_FREE_SLIP, "cpu");
    kf_smoke_sources sources = {.count = 1, .capacity = 11000, .seed = 3, .opacity = 1};
    sources.emitters[0] = (kf_emitter){.shape = KF_EMITTER_RAKE,
                                       .rate = 10,
                                       .from = {26, 12, 10},
                                       .to = {26, 12, 10},
                                       .radius = 0.5,
                                       .nozzles = 1};
    kf_tracers *tracers = open_tracers(given, &sources);
    advance(given, tracers, 1);
    float *before = state_of(tracers);
    advance(given, tracers, 126); /* 6.3 radians */
    float *after = state_of(tracers);
    for (int t = 0; t < 80; t++) {
        double was = hypot((double)before[t] - 20, (double)before[11000 + t] - 12);
        double is = hypot((double)after[t] - 20, (double)after[11000 + t] - 12);
        assert_true(fabs(is / was - 1) < 1e-3);
        double angle = atan2((double)after[11000 + t] - 12, (double)after[t] - 20) -
                       atan2((double)before[11000 + t] - 12, (double)before[t] - 20);
        assert_true(fabs(remainder(angle - 6.3, 2 * acos(-1))) < 0.01);
    }
    free(before);
    free(after);
    kf_tracers_free(tracers);
    close_flow(given);
}

/* No tracer leaves a closed or a periodic box. The ring buffer keeps the newest. */
static void test_none_is_lost(void **state) {
    (void)state;
    static const kf_boundary closed[] = {KF_PERIODIC, KF_WALL, KF_FREE_SLIP};
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++) {
        prescribed *given = open_flow(uniform, closed[i], "cpu");
        const kf_smoke_sources sources = one_box(2.5, 3000);
        kf_tracers *tracers = open_tracers(given, &sources);
        for (int moves = 0; moves <= 150; moves += 30) {
            const uint64_t born = (uint64_t)(2.5 * 8 * moves);
            assert_int_equal(count_of(given, tracers), born < 3000 ? born : 3000);
            if (moves < 150) advance(given, tracers, 30);
        }
        advance(given, tracers, 5);
        assert_int_equal(count_of(given, tracers), 3000);
        kf_tracers_free(tracers);
        close_flow(given);
    }
}

/* In a steady stream as many leave as are born. */
static void test_what_leaves_is_gone(void **state) {
    (void)state;
    prescribed *given = open_flow(uniform, KF_OUTFLOW, "cpu");
    kf_smoke_sources sources = {.count = 1, .capacity = 50000, .seed = 1, .opacity = 1};
    sources.emitters[0] = (kf_emitter){.shape = KF_EMITTER_DISC,
                                       .rate = 20,
                                       .from = {9.5, 21, 2},
                                       .to = {9.5, 21, 2},
                                       .normal = {1, 0, 0},
                                       .radius = 1};
    kf_tracers *tracers = open_tracers(given, &sources);
    /* It takes 480 steps to the outflow, where y is 6 and z 9.5. */
    advance(given, tracers, 60);
    const uint64_t filled = count_of(given, tracers);
    assert_true(filled > 9500 && filled < 9700);
    advance(given, tracers, 60);
    const uint64_t later = count_of(given, tracers);
    assert_true(later > 9500 && later < 9700);
    kf_tracers_free(tracers);
    close_flow(given);
}

static void test_births_lie_in_their_shapes(void **state) {
    (void)state;
    prescribed *given = open_flow(at_rest, KF_WALL, "cpu");
    kf_smoke_sources sources = one_box(100, 2400);
    sources.count = 3;
    sources.emitters[1] = (kf_emitter){.shape = KF_EMITTER_DISC,
                                       .rate = 100,
                                       .from = {20, 10, 8},
                                       .to = {20, 10, 8},
                                       .normal = {0.6, 0, 0.8},
                                       .radius = 4};
    sources.emitters[2] = (kf_emitter){.shape = KF_EMITTER_RAKE,
                                       .rate = 100,
                                       .from = {30, 2, 2},
                                       .to = {30, 20, 2},
                                       .radius = 1,
                                       .nozzles = 4};
    kf_tracers *tracers = open_tracers(given, &sources);
    advance(given, tracers, 1);
    const float *const all = state_of(tracers), *const x = all, *const y = all + 2400, *const z = all + 4800;
    double mean[3] = {0};
    for (int t = 0; t < 800; t++) {
        assert_true(x[t] >= 4 && x[t] <= 9 && y[t] >= 4 && y[t] <= 12 && z[t] >= 4 && z[t] <= 10);
        mean[0] += (double)x[t] / 800;
        mean[1] += (double)y[t] / 800;
        mean[2] += (double)z[t] / 800;
    }
    assert_true(fabs(mean[0] - 6.5) < 0.2 && fabs(mean[1] - 8) < 0.3 && fabs(mean[2] - 7) < 0.25);
    double farthest = 0;
    for (int t = 800; t < 1600; t++) {
        const double dx = (double)x[t] - 20, dy = (double)y[t] - 10, dz = (double)z[t] - 8;
        assert_true(fabs(0.6 * dx + 0.8 * dz) < 1e-4);
        farthest = fmax(farthest, sqrt(dx * dx + dy * dy + dz * dz));
    }
    assert_true(farthest > 3.9 && farthest < 4.0001);
    int nozzle[4] = {0};
    for (int t = 1600; t < 2400; t++) {
        const int n = (int)lround(((double)y[t] - 2) / 6);
        nozzle[n]++;
        assert_true(hypot(hypot((double)x[t] - 30, (double)y[t] - 2 - 6 * n), (double)z[t] - 2) < 1.0001);
    }
    for (int n = 0; n < 4; n++)
        assert_true(nozzle[n] > 150);
    free((void *)all);
    kf_tracers_free(tracers);
    close_flow(given);
}

/* Returns the bits after 30 moves with this many threads. The caller frees both. */
static float *bits_with(const char *device, uint64_t seed, long long **density) {
    prescribed *given = open_flow(rotation, KF_FREE_SLIP, device);
    kf_smoke_sources sources = one_box(30, 5000);
    sources.seed = seed;
    kf_tracers *tracers = open_tracers(given, &sources);
    advance(given, tracers, 30);
    float *state = state_of(tracers);
    assert_int_equal(sum_of(given, tracers, 1, density), 5000LL * KF_TRACER_UNIT);
    kf_tracers_free(tracers);
    close_flow(given);
    return state;
}

/* Paint is a function of what the tracers are, and does not change them. */
static void test_paint_changes_no_tracer(void **state) {
    (void)state;
    kf_error error = {0};
    enum { CAPACITY = 1000 };
    prescribed *given = open_flow(uniform, KF_PERIODIC, "cpu:2");
    for (int paint = KF_PAINT_AGE; paint < KF_SMOKE_PAINTS; paint++) {
        kf_smoke_sources sources = one_box(50, CAPACITY), plain = sources;
        sources.paint = (kf_smoke_paint)paint;
        given->plan.steps_done = 0;
        kf_tracers *painted = open_tracers(given, &sources), *white = open_tracers(given, &plain);
        /* 400 are born in each move, so that the ring buffer wraps around. */
        for (int moves = 1; moves <= 4; moves++) {
            advance(given, painted, 1);
            must(kf_tracers_move(white, &error), &error);
            const size_t bytes = kf_tracers_density_bytes(painted, 1);
            kf_buffer *buffers[2];
            long long *values = kf_allocate(bytes), *usual, sum = 0;
            for (int b = 0; b < 2; b++)
                must(kf_buffer_create(given->backend, bytes, &buffers[b], &error), &error);
            must(kf_tracers_project_painted(painted, 1, buffers[0], buffers[1], &error), &error);
            must(kf_buffer_download(buffers[0], 0, values, bytes, &error), &error);
            (void)sum_of(given, white, 1, &usual);
            assert_memory_equal(values, usual, bytes);
            must(kf_buffer_download(buffers[1], 0, values, bytes, &error), &error);
            for (size_t i = 0; i < NODES; i++)
                sum += values[i];
            /* The stream takes 640 steps through 40 cells, in which 32000 are born. Its speed is that of
             * `uniform`. */
            const int count = 400 * moves < CAPACITY ? 400 * moves : CAPACITY;
            const double fast = hypot(hypot(0.0625, 0.03125), 0.015625) / (2 * 0.0625);
            long long expected = 0;
            for (int t = 0; t < count; t++)
                expected += lround(KF_PAINT_UNIT * (paint == KF_PAINT_AGE ? t / 32000.0 : fast));
            assert_int_equal(sum, expected * KF_TRACER_UNIT);
            for (int b = 0; b < 2; b++)
                kf_buffer_free(buffers[b]);
            free(values);
            free(usual);
        }
        /* Checkpoints of both are the same, and each continues from the other's. */
        char hashes[2][KF_HASH_HEX];
        float *states[2] = {state_of(painted), state_of(white)};
        kf_tracers_hash(painted, hashes[0]);
        kf_tracers_hash(white, hashes[1]);
        assert_string_equal(hashes[0], hashes[1]);
        assert_memory_equal(states[0], states[1], kf_tracers_state_size(white));
        free(states[0]);
        free(states[1]);
        kf_tracers_free(painted);
        kf_tracers_free(white);
    }
    close_flow(given);
}

static void test_same_every_time(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1", "cpu:2", "cpu:2"};
    static const uint64_t seeds[] = {5, 5, 6};
    enum { STATE = 5000 * 6 * sizeof(float), DENSITY = NODES * sizeof(long long) };
    long long *density[3];
    float *bits[3];
    for (int i = 0; i < 3; i++)
        bits[i] = bits_with(devices[i], seeds[i], &density[i]);
    assert_memory_equal(bits[0], bits[1], STATE);
    assert_memory_equal(density[0], density[1], DENSITY);
    assert_memory_not_equal(bits[0], bits[2], STATE);
    for (int i = 0; i < 3; i++) {
        free(bits[i]);
        free(density[i]);
    }
}

static void test_saved_and_restored(void **state) {
    (void)state;
    kf_error error = {0};
    prescribed *given = open_flow(rotation, KF_FREE_SLIP, "cpu");
    kf_smoke_sources sources = one_box(30, 5000);
    kf_tracers *through = open_tracers(given, &sources), *resumed = open_tracers(given, &sources);
    advance(given, through, 10);
    float *middle = state_of(through);
    advance(given, through, 15);
    float *wanted = state_of(through);
    given->plan.steps_done = 80;
    must(kf_tracers_restore(resumed, middle, &error), &error);
    advance(given, resumed, 15);
    float *got = state_of(resumed);
    assert_memory_equal(wanted, got, kf_tracers_state_size(through));

    char hash[2][KF_HASH_HEX];
    kf_tracers_hash(through, hash[0]);
    kf_tracers_hash(resumed, hash[1]);
    assert_string_equal(hash[0], hash[1]);
    middle[5000 + 3] = 1e9F; /* y of a tracer */
    assert_int_equal(kf_tracers_restore(resumed, middle, &error), KF_BAD_INPUT);
    middle[5000 + 3] = NAN;
    assert_int_equal(kf_tracers_restore(resumed, middle, &error), KF_BAD_INPUT);
    float *kept = state_of(resumed);
    assert_memory_equal(kept, got, kf_tracers_state_size(through));
    kf_tracers_free(resumed);
    sources.emitters[0].rate = 31;
    resumed = open_tracers(given, &sources);
    kf_tracers_hash(resumed, hash[1]);
    assert_string_not_equal(hash[0], hash[1]);
    free(middle);
    free(wanted);
    free(got);
    free(kept);
    kf_tracers_free(through);
    kf_tracers_free(resumed);
    close_flow(given);
}

static void test_smoke_without_a_flow_is_refused(void **state) {
    (void)state;
    kf_error error = {0};
    prescribed *given = open_flow(uniform, KF_OUTFLOW, "cpu");
    const kf_smoke_sources sources = one_box(100, 799);
    kf_tracers *tracers;
    assert_int_equal(kf_tracers_open(&given->plan, &sources, &tracers, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "smoke.capacity"));
    static const kf_plan_methods nothing = {0};
    given->plan.methods = &nothing;
    assert_int_equal(kf_tracers_open(&given->plan, &sources, &tracers, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "has no smoke"));
    close_flow(given);
}

/* The kinetic system gives tracers on the device the velocity that it writes as fields. */
static void test_velocity_is_that_of_the_fields(void **state) {
    (void)state;
    static const char *const presets[] = {"default", "default", "paper", "baseline"};
    kf_error error = {0};
    const kf_scene_options small = {.node_limit = 12000, .samples_per_cell = 10};
    for (size_t p = 0; p < sizeof presets / sizeof presets[0]; p++) {
        kinetic_plan made;
        must(kinetic_plan_open_streaming(&made, "cpu", "ball", &small, presets[p], p == 1 ? "shift" : NULL,
                                         &error),
             &error);
        const int *n = made.scene->nodes;
        const size_t nodes = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
        const size_t modules = made.plan->module_count;
        kf_buffer *buffer;
        kf_fields fields = {0};
        float *velocity = kf_allocate(nodes * 4 * sizeof *velocity);
        must(kf_buffer_create(made.backend, nodes * 4 * sizeof *velocity, &buffer, &error), &error);
        must(kf_plan_initialise(made.plan, &error), &error);
        must(kf_plan_advance(made.plan, 7, &error), &error);
        /* A plan has no modules of tracers until they are asked for. */
        assert_int_equal(made.plan->module_count, modules);
        must(made.plan->methods->flow->velocity(made.plan, buffer, &error), &error);
        must(kf_backend_synchronize(made.backend, &error), &error);
        must(kf_buffer_download(buffer, 0, velocity, nodes * 4 * sizeof *velocity, &error), &error);
        must(made.plan->methods->flow->fields(made.plan, &fields, &error), &error);
        for (size_t i = 0; i < nodes; i++)
            for (size_t a = 0; a < 3; a++)
                assert_true(velocity[4 * i + a] == fields.velocity[a][i]);
        free(velocity);
        kf_fields_free(&fields);
        kf_buffer_free(buffer);
        kinetic_plan_close(&made);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform_flow),
        cmocka_unit_test(test_rotation_is_closed),
        cmocka_unit_test(test_none_is_lost),
        cmocka_unit_test(test_what_leaves_is_gone),
        cmocka_unit_test(test_births_lie_in_their_shapes),
        cmocka_unit_test(test_paint_changes_no_tracer),
        cmocka_unit_test(test_same_every_time),
        cmocka_unit_test(test_saved_and_restored),
        cmocka_unit_test(test_smoke_without_a_flow_is_refused),
        cmocka_unit_test(test_velocity_is_that_of_the_fields),
    };
    return cmocka_run_group_tests(tests, take_quick_compiler, NULL);
}
