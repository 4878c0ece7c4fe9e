/* Tests times, graphs and lanes of the cuda backend on a GPU. Faults: a graph that does other work than
 * the list, lanes that do not wait for each other, times of something else. Without a GPU every test is
 * skipped. */
#include "tests/unit/backend_gpu_fixture.h"

#include <math.h>

#include "base/util/memory.h"

static double time_of(const kf_launch *launch, int repeats) {
    kf_event *start = NULL, *stop = NULL;
    double microseconds = 0.0;
    WORKS(kf_event_create(gpu, &start, &problem));
    WORKS(kf_event_create(gpu, &stop, &problem));
    WORKS(kf_event_record(start, &problem));
    for (int i = 0; i < repeats; i++)
        WORKS(kf_backend_launch(gpu, launch, &problem));
    WORKS(kf_event_record(stop, &problem));
    WORKS(kf_backend_synchronize(gpu, &problem));
    WORKS(kf_event_elapsed_us(start, stop, &microseconds, &problem));
    kf_event_free(start);
    kf_event_free(stop);
    return microseconds;
}

static void check_events(void) {
    enum { ITEMS = 1 << 26 };
    const size_t bytes = (size_t)ITEMS * sizeof(float);
    kf_buffer *x = buffer_of(bytes), *y = buffer_of(bytes);
    WORKS(kf_buffer_fill(x, 0, &problem));
    WORKS(kf_buffer_fill(y, 0, &problem));
    const axpy_arguments arguments = {{ITEMS, 1, 1}, kf_buffer_address(x), kf_buffer_address(y), 2.0F};
    const kf_launch launch = make_launch("axpy", 256, 1, 1, &arguments, sizeof arguments);
    (void)time_of(&launch, 20);
    const double one = time_of(&launch, 1), many = time_of(&launch, 40), none = time_of(&launch, 0);
    const double bandwidth = 40.0 * 3.0 * (double)bytes / (1e-6 * many);
    const double peak = kf_backend_device(gpu)->peak_bandwidth;
    CHECK(one > 0.0 && many > 10.0 * one && none >= 0.0 && none < one);
    CHECK(peak == 0.0 || bandwidth < 1.02 * peak);
    (void)printf("axpy of 2^26 floats: %.1f us, %.0f GB/s of %.0f; nothing: %.1f us\n", many / 40.0,
                 bandwidth / 1e9, peak / 1e9, none);
    (void)fflush(stdout);
    kf_buffer_free(x);
    kf_buffer_free(y);
}

static void events_measure_device_time(void **state) {
    (void)state;
    in_child(check_events);
}

static void check_graph(void) {
    enum { ITEMS = 1000 };
    float values[ITEMS], once = 0.0F;
    for (int i = 0; i < ITEMS; i++)
        values[i] = (float)(i + 1);
    kf_buffer *x = buffer_of(sizeof values), *y = buffer_of(sizeof values);
    WORKS(kf_buffer_upload(x, 0, values, sizeof values, &problem));
    WORKS(kf_buffer_fill(y, 0, &problem));
    /* Each launch adds to the result of the one before, so order and number of launches show. */
    axpy_arguments arguments = {{ITEMS, 1, 1}, kf_buffer_address(x), kf_buffer_address(y), 1.0F};
    kf_launch first = make_launch("axpy", 64, 1, 1, &arguments, sizeof arguments);
    arguments.x = arguments.y;
    kf_launch second = make_launch("axpy", 128, 1, 1, &arguments, sizeof arguments);
    arguments.extent[0] = 0;
    kf_launch empty = make_launch("axpy", 128, 1, 1, &arguments, sizeof arguments);
    const kf_launch *launches[] = {&first, &second, &empty, &first};
    kf_graph *graph = NULL, *nothing = NULL;
    WORKS(kf_graph_create(gpu, launches, 4, &graph, &problem));
    WORKS(kf_graph_create(gpu, launches, 0, &nothing, &problem));
    first.arguments[0] = 1; /* the graph has copies */
    WORKS(kf_buffer_download(y, 0, &once, sizeof once, &problem));
    CHECK(once == 0.0F); /* making it has run nothing */
    for (int i = 0; i < 3; i++) {
        WORKS(kf_graph_launch(graph, &problem));
        WORKS(kf_graph_launch(nothing, &problem));
    }
    WORKS(kf_backend_synchronize(gpu, &problem));
    /* A replay computes y = 2 (y + x) + x, which is 3, 9, 21 times x. */
    float replayed[ITEMS];
    WORKS(kf_buffer_download(y, 0, replayed, sizeof replayed, &problem));
    for (int i = 0; i < ITEMS; i++)
        CHECK(replayed[i] == 21.0F * values[i]);
    kf_graph_free(graph);
    kf_graph_free(nothing);
    /* A launch that cannot be captured leaves the stream usable. */
    arguments.extent[1] = 70000;
    arguments.extent[0] = 1;
    second = make_launch("axpy", 32, 1, 1, &arguments, sizeof arguments);
    const kf_launch *wrong[] = {&first, &second};
    CHECK(kf_graph_create(gpu, wrong, 2, &graph, &problem) == KF_MACHINE && !graph);
    run_and_wait(&first);
    kf_buffer_free(x);
    kf_buffer_free(y);
}

static void graph_replay_equals_launches(void **state) {
    (void)state;
    in_child(check_graph);
}

/* A library's work: it knows the stream, and that it may not wait. */
static kf_status enqueue_launch(void *object, kf_stream *stream, kf_error *error) {
    CHECK(kf_stream_handle(stream) != NULL);
    return kf_stream_launch(stream, object, error);
}

/* The main lane computes y = x by rows, the lane aside z += x. Then a call does y += x, and when both are
 * done, y += z. */
static void give_lanes(const kf_copy *copy, kf_launch launches[3], kf_mark *marks[2]) {
    kf_stream *main = kf_backend_stream(gpu, KF_LANE_MAIN), *aside = kf_backend_stream(gpu, KF_LANE_ASIDE);
    WORKS(kf_stream_copy(main, copy, &problem));
    WORKS(kf_stream_signal(main, marks[0], &problem));
    WORKS(kf_stream_await(aside, marks[0], &problem));
    WORKS(kf_stream_launch(aside, &launches[0], &problem));
    WORKS(kf_stream_call(main, enqueue_launch, &launches[1], &problem));
    WORKS(kf_stream_signal(aside, marks[1], &problem));
    WORKS(kf_stream_await(main, marks[1], &problem));
    WORKS(kf_stream_launch(main, &launches[2], &problem));
}

static void check_lanes(void) {
    enum { ITEMS = 1 << 16, ROWS = 4, ROUNDS = 3 };
    const size_t bytes = ITEMS * sizeof(float);
    float *values = kf_allocate(bytes);
    for (int i = 0; i < ITEMS; i++)
        values[i] = (float)(i + 1);
    kf_buffer *x = buffer_of(bytes), *y = buffer_of(bytes), *z = buffer_of(bytes);
    WORKS(kf_buffer_upload(x, 0, values, bytes, &problem));
    WORKS(kf_buffer_fill(y, 0, &problem));
    WORKS(kf_buffer_fill(z, 0, &problem));
    const kf_copy copy = {.target = y,
                          .source = x,
                          .bytes = bytes / ROWS,
                          .rows = ROWS,
                          .target_pitch = bytes / ROWS,
                          .source_pitch = bytes / ROWS};
    kf_buffer *const sums[3][2] = {{x, z}, {x, y}, {z, y}};
    kf_launch launches[3];
    for (int i = 0; i < 3; i++) {
        const axpy_arguments arguments = {
            {ITEMS, 1, 1}, kf_buffer_address(sums[i][0]), kf_buffer_address(sums[i][1]), 1.0F};
        launches[i] = make_launch("axpy", 64, 1, 1, &arguments, sizeof arguments);
    }
    kf_mark *marks[2];
    for (int i = 0; i < 2; i++)
        WORKS(kf_mark_create(gpu, &marks[i], &problem));
    kf_graph *graph = NULL;
    WORKS(kf_graph_begin(gpu, &problem)); /* given up: nothing of it may remain */
    give_lanes(&copy, launches, marks);
    WORKS(kf_graph_end(gpu, NULL, &problem));
    WORKS(kf_graph_begin(gpu, &problem));
    give_lanes(&copy, launches, marks);
    WORKS(kf_graph_end(gpu, &graph, &problem));
    for (int i = 0; i < ROUNDS; i++)
        WORKS(kf_graph_launch(graph, &problem));
    WORKS(kf_backend_synchronize(gpu, &problem));
    float *result = kf_allocate(bytes);
    WORKS(kf_buffer_download(y, 0, result, bytes, &problem));
    for (int i = 0; i < ITEMS; i++)
        CHECK(result[i] == (float)(2 + ROUNDS) * values[i]);
    kf_graph_free(graph);
    for (int i = 0; i < 2; i++)
        kf_mark_free(marks[i]);
    kf_buffer_free(x);
    kf_buffer_free(y);
    kf_buffer_free(z);
    free(values);
    free(result);
}

static void graphs_hold_lanes_calls_and_copies(void **state) {
    (void)state;
    in_child(check_lanes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_measure_device_time),
        cmocka_unit_test(graph_replay_equals_launches),
        cmocka_unit_test(graphs_hold_lanes_calls_and_copies),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
