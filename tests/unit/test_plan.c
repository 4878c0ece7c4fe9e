/* Tests plans as lists of items, on an invented one: schedules, graphs, times and counts of calls, copies
 * and marks. Faults: an item that is due at another step, or done twice. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/backend/team/team.h"
#include "harness/counters/count_plan.h"
#include "harness/measure/measure.h"
#include "tests/unit/check.h"
#include "tests/unit/counter_system.h"

/* Each item appends its number to a log, whose first value is the count. */
enum { LOG = 4096, A = 1, B, C, CALL };

static const char log_kernel[] =
    "#include \"portable.h\"\n"
    "typedef struct log_arguments { int extent[3]; int number; int *log; } log_arguments;\n"
    "KF_SCALAR_KERNEL(note, log_arguments) {\n"
    "    (void)x, (void)y, (void)z;\n"
    "    a->log[++a->log[0]] = a->number;\n"
    "}\n";

typedef struct log_arguments {
    int extent[3], number;
    int *log;
} log_arguments;

typedef struct invented {
    kf_backend *backend;
    kf_plan *plan;
    kf_buffer *log, *kept;
    kf_function *note;
    kf_mark *mark;
    int calls;
    bool fails;
} invented;

static kf_status clear_log(kf_plan *plan, kf_error *error) {
    const invented *p = plan->system;
    KF_TRY(kf_buffer_fill(p->log, 0, error));
    return kf_buffer_fill(p->kept, 0, error);
}

static void keep_system(kf_plan *plan) {
    (void)plan;
}

static const kf_plan_methods methods = {.initialise = clear_log, .free = keep_system};

/* Plays the part of a library, which knows nothing of kernels. */
static kf_status enqueue(void *object, kf_stream *stream, kf_error *error) {
    invented *p = object;
    bool of_backend = false;
    for (int lane = 0; lane < KF_LANES; lane++)
        of_backend = of_backend || stream == kf_backend_stream(p->backend, lane);
    assert_true(of_backend);
    assert_null(kf_stream_handle(stream)); /* on the cpu */
    if (p->fails) return kf_fail(error, KF_MACHINE, "the library does not want to");
    int *log = kf_buffer_address(p->log);
    log[++log[0]] = CALL;
    p->calls++;
    return KF_OK;
}

static kf_item *add_note(invented *p, const char *name, int number, int period, int phase) {
    const log_arguments arguments = {{1, 1, 1}, number, kf_buffer_address(p->log)};
    kf_launch launch;
    kf_launch_set(&launch, name, p->note, (const int[3]){1, 1, 1}, &arguments, sizeof arguments);
    kf_item *item = kf_plan_add_kernel(p->plan, &launch);
    item->period = period;
    item->phase = phase;
    return item;
}

static void open_invented(invented *p) {
    kf_error error = {KF_OK, ""};
    kf_module *module;
    *p = (invented){.calls = 0};
    must(kf_backend_open("cpu:1", &p->backend, &error), &error);
    const kf_config config = counter_config("right", 1);
    p->plan = kf_plan_create(p->backend, NULL, &config, &methods, p);
    const kf_source source = {.file = "kernels/log.cu"};
    must(kf_plan_module(p->plan, &source, &module, &error), &error);
    must(kf_module_function(module, "note", &p->note, &error), &error);
    must(kf_plan_buffer(p->plan, LOG * sizeof(int), &p->log, &error), &error);
    must(kf_plan_buffer(p->plan, LOG * sizeof(int), &p->kept, &error), &error);
    must(kf_plan_mark(p->plan, &p->mark, &error), &error);
}

/* Makes a plan of items with periods 1, 2 and 3 and phases, a library's call in a lane of its own, a copy,
 * and a mark between them. */
static void make_invented(invented *p) {
    open_invented(p);
    (void)add_note(p, "a", A, 1, 0);
    const kf_call call = {.enqueue = enqueue, .object = p, .version = "library 1", .kernels = 3};
    kf_item *item = kf_plan_add_call(p->plan, "library", &call);
    item->period = 2;
    item->lane = KF_LANE_ASIDE;
    (void)kf_plan_add_signal(p->plan, "ready", p->mark);
    (void)add_note(p, "b", B, 2, 1);
    (void)kf_plan_add_await(p->plan, "ready", p->mark);
    add_note(p, "c", C, 3, 2)->joins = true;
    (void)add_note(p, "c", C, 3, 1);
    const kf_copy copy = {.target = p->kept, .source = p->log, .bytes = sizeof(int), .rows = 1};
    kf_plan_add_copy(p->plan, "keep", &copy)->bytes = 2 * sizeof(int);
}

static void close_invented(invented *p) {
    kf_plan_free(p->plan);
    kf_backend_close(p->backend);
}

/* Computes what step t adds to the log, by the periods and phases that the items above have. */
static int expect_step(int t, int *expected) {
    int count = 0;
    expected[count++] = A;
    if (t % 2 == 0) expected[count++] = CALL;
    if (t % 2 == 1) expected[count++] = B;
    if (t % 3 == 2) expected[count++] = C;
    if (t % 3 == 1) expected[count++] = C;
    return count;
}

static void check_log(const invented *p, int steps) {
    kf_error error = {KF_OK, ""};
    int expected[LOG], count = 0, log[LOG], kept;
    for (int t = 0; t < steps; t++)
        count += expect_step(t, expected + count);
    must(kf_buffer_download(p->log, 0, log, sizeof log, &error), &error);
    must(kf_buffer_download(p->kept, 0, &kept, sizeof kept, &error), &error);
    assert_int_equal(log[0], count);
    assert_int_equal(kept, count);
    assert_memory_equal(log + 1, expected, (size_t)count * sizeof *log);
}

static void steps_do_what_is_due(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    for (int graph = 0; graph < 2; graph++) {
        invented p;
        make_invented(&p);
        if (!graph) p.plan->graph_steps = -1;
        must(kf_plan_initialise(p.plan, &error), &error);
        must(kf_plan_advance(p.plan, 3, &error), &error); /* the graph begins later, at a multiple of 6 */
        must(kf_plan_advance(p.plan, 40, &error), &error);
        assert_int_equal(p.plan->graph_steps, graph ? 6 : -1);
        check_log(&p, 43);
        close_invented(&p);
    }
}

/* Graphs of several cycles, where a cycle has few launches, are mixed with those of one. Due items run in
 * their order, from any multiple of a cycle on. The remaining steps run by cycles and single steps. */
static void trains_do_what_is_due(void **state) {
    (void)state;
    enum { STRIDE = 30, STEPS = 6 + 2 * STRIDE + 8 };
    kf_error error = {KF_OK, ""};
    invented p;
    int log[LOG], count = 0;
    open_invented(&p);
    (void)add_note(&p, "a", A, 1, 0);
    (void)add_note(&p, "b", B, 2, 1);
    (void)add_note(&p, "c", C, 3, 2);
    assert_int_equal(kf_plan_stride(p.plan), STRIDE); /* 55 of at most 64 launches */
    must(kf_plan_initialise(p.plan, &error), &error);
    must(kf_plan_advance(p.plan, 6, &error), &error);
    assert_null(p.plan->train);
    must(kf_plan_advance(p.plan, STEPS - 6, &error), &error);
    assert_non_null(p.plan->train);
    assert_int_equal(p.plan->train_steps, STRIDE);
    must(kf_buffer_download(p.log, 0, log, sizeof log, &error), &error);
    for (int t = 0; t < STEPS; t++) {
        assert_int_equal(log[++count], A);
        if (t % 2 == 1) assert_int_equal(log[++count], B);
        if (t % 3 == 2) assert_int_equal(log[++count], C);
    }
    assert_int_equal(log[0], count);
    p.plan->graph_steps = -1; /* item by item: a cycle */
    assert_int_equal(kf_plan_stride(p.plan), 6);
    close_invented(&p);
    open_invented(&p);
    for (int i = 0; i < 17; i++)
        (void)add_note(&p, "a", A, 1, 0);
    assert_int_equal(kf_plan_stride(p.plan), 2); /* two cycles of two steps would be 68 */
    close_invented(&p);
}

typedef struct walked {
    char names[256];
} walked;

static kf_status note_name(void *data, const kf_item *item, kf_error *error) {
    (void)error;
    walked *w = data;
    const size_t length = strlen(w->names);
    (void)snprintf(w->names + length, sizeof w->names - length, "%s ", item->name);
    return strcmp(item->name, "b") == 0 ? kf_fail(error, KF_INTERRUPTED, "enough") : KF_OK;
}

static void walks_visit_in_order(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    invented p;
    walked w = {""};
    make_invented(&p);
    assert_int_equal(kf_plan_walk(p.plan, 4, note_name, &w, &error), KF_OK);
    assert_string_equal(w.names, "a library ready ready c keep ");
    w.names[0] = '\0';
    assert_int_equal(kf_plan_walk(p.plan, 5, note_name, &w, &error), KF_INTERRUPTED);
    assert_string_equal(w.names, "a ready b ");
    close_invented(&p);
}

static void cycles_hold_all_periods(void **state) {
    (void)state;
    invented p;
    open_invented(&p);
    assert_int_equal(kf_plan_cycle(p.plan), 1);
    (void)add_note(&p, "a", A, 1, 0);
    assert_int_equal(kf_plan_cycle(p.plan), 1);
    (void)add_note(&p, "b", B, 2, 1);
    assert_int_equal(kf_plan_cycle(p.plan), 2);
    (void)add_note(&p, "c", C, 5, 0);
    assert_int_equal(kf_plan_cycle(p.plan), 10);
    (void)add_note(&p, "c", C, 4, 3);
    assert_int_equal(kf_plan_cycle(p.plan), 20);
    (void)add_note(&p, "rare", C, KF_LONGEST_CYCLE + 8, 0); /* too rare to wait for */
    assert_int_equal(kf_plan_cycle(p.plan), 20);
    close_invented(&p);
}

/* A cycle that leaves an item out makes no graph, and neither does one that is too long. */
static void long_cycles_run_item_by_item(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    static const int periods[] = {KF_LONGEST_GRAPH, KF_LONGEST_GRAPH + 1, KF_LONGEST_CYCLE + 1};
    for (int i = 0; i < 3; i++) {
        invented p;
        open_invented(&p);
        (void)add_note(&p, "a", A, 1, 0);
        (void)add_note(&p, "c", C, periods[i], periods[i] - 1);
        must(kf_plan_initialise(p.plan, &error), &error);
        must(kf_plan_advance(p.plan, 1200, &error), &error);
        assert_int_equal(p.plan->graph_steps, i == 0 ? KF_LONGEST_GRAPH : -1);
        int count = 0;
        must(kf_buffer_download(p.log, 0, &count, sizeof count, &error), &error);
        assert_int_equal(count, 1200 + 1200 / periods[i]);
        close_invented(&p);
    }
}

/* A byte beyond the end of any buffer of a plan is found. */
static void the_end_of_every_buffer_is_checked(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    enum { BYTES = 100 };
    invented p;
    open_invented(&p);
    kf_buffer *more;
    must(kf_plan_buffer(p.plan, BYTES, &more, &error), &error);
    must(kf_plan_buffer(p.plan, BYTES, &more, &error), &error);
    must(kf_plan_check_buffers(p.plan, &error), &error);
    for (size_t i = 0; i < p.plan->buffer_count; i++) {
        kf_buffer *buffer = p.plan->buffers[i];
        unsigned char *end = (unsigned char *)kf_buffer_address(buffer) + kf_buffer_size(buffer);
        const unsigned char before = *end;
        *end ^= 1;
        assert_int_not_equal(kf_plan_check_buffers(p.plan, &error), KF_OK);
        *end = before;
        must(kf_plan_check_buffers(p.plan, &error), &error);
    }
    close_invented(&p);
}

/* No count in a plan has a fixed limit. */
static void plans_hold_many_items(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    enum { MANY = 500 };
    invented p;
    open_invented(&p);
    for (int i = 0; i < MANY; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "item %d", i);
        (void)add_note(&p, name, i, 1, 0);
        kf_buffer *buffer;
        must(kf_plan_buffer(p.plan, 8, &buffer, &error), &error);
    }
    must(kf_plan_check_buffers(p.plan, &error), &error);
    must(kf_plan_initialise(p.plan, &error), &error);
    must(kf_plan_advance(p.plan, 6, &error), &error);
    int log[6 * MANY + 1];
    must(kf_buffer_download(p.log, 0, log, sizeof log, &error), &error);
    assert_int_equal(log[0], 6 * MANY);
    for (int i = 0; i < 6 * MANY; i++)
        assert_int_equal(log[1 + i], i % MANY);
    close_invented(&p);
}

/* --- Timing and counting -------------------------------------------------------------------------------- */

static const kf_kernel_time *row_of(const kf_measurement *m, const char *name) {
    for (int i = 0; i < m->kernel_count; i++)
        if (strcmp(m->kernels[i].name, name) == 0) return &m->kernels[i];
    return NULL;
}

/* Kernels that run endlessly would fill the log. This one is timed and does not write to it. */
static kf_status wait_a_little(void *object, kf_stream *stream, kf_error *error) {
    (void)stream, (void)error;
    const struct timespec pause = {.tv_nsec = 200000};
    ++*(int *)object;
    return nanosleep(&pause, NULL) == 0 ? KF_OK : KF_MACHINE;
}

static void items_are_timed(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    invented p;
    int waits = 0;
    open_invented(&p);
    const kf_call call = {.enqueue = wait_a_little, .object = &waits};
    const kf_copy copy = {
        .target = p.kept, .source = p.log, .bytes = LOG, .rows = 4, .target_pitch = LOG, .source_pitch = LOG};
    kf_item *item = kf_plan_add_call(p.plan, "library", &call);
    item->period = 3;
    item->phase = 1;
    item->bytes = 64.0;
    (void)kf_plan_add_signal(p.plan, "ready", p.mark);
    (void)kf_plan_add_await(p.plan, "ready", p.mark);
    (void)kf_plan_add_copy(p.plan, "keep", &copy);
    kf_plan_add_copy(p.plan, "keep", &copy)->period = 2;
    kf_measure_policy policy = kf_policy_for(kf_backend_device(p.backend));
    policy.time_limit_us = 2e5;
    policy.warm_up_us = 1e3;
    kf_measurement m = {.sample_count = 0};
    must(kf_measure_plan(p.plan, &policy, NULL, &m, &error), &error);
    assert_int_equal(m.batch % 6, 0);
    assert_int_equal(m.kernel_count, 2);
    const kf_kernel_time *library = row_of(&m, "library"), *keep = row_of(&m, "keep");
    assert_true(library->launches_per_step == 1.0 / 3 && keep->launches_per_step == 1.5);
    assert_true(library->time_us.minimum >= 200.0 && library->bytes == 64.0);
    assert_true(isnan(library->theoretical_occupancy) && library->registers == 0);
    assert_true(m.step_us.minimum >= 200.0 / 3 && waits > 10);
    kf_measurement_free(&m);
    close_invented(&p);
}

typedef struct parts {
    char names[64];
    int open;
} parts;

static kf_status begin_part(void *context, int part, const kf_item *item, kf_error *error) {
    (void)error;
    parts *p = context;
    const size_t length = strlen(p->names);
    (void)snprintf(p->names + length, sizeof p->names - length, "%d:%s ", part, item->name);
    p->open++;
    return KF_OK;
}

static kf_status end_part(void *context, kf_error *error) {
    (void)error;
    ((parts *)context)->open--;
    return KF_OK;
}

/* Each name is listed once. A library's call is one part, a mark none. */
static void calls_are_counted_as_one_range(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    invented p;
    parts found = {"", 0};
    const kf_part_visit visit = {begin_part, end_part, &found};
    make_invented(&p);
    must(kf_plan_visit_parts(p.plan, &visit, &error), &error);
    assert_string_equal(found.names, "0:a 1:library 3:c 4:keep 2:b ");
    assert_int_equal(found.open, 0);
    check_log(&p, 4);
    close_invented(&p);
}

/* --- The rest ------------------------------------------------------------------------------------------- */

static void libraries_enter_the_hash(void **state) {
    (void)state;
    char first[KF_HASH_HEX], second[KF_HASH_HEX], again[KF_HASH_HEX];
    invented p;
    make_invented(&p);
    kf_plan_hash(p.plan, first);
    kf_plan_hash(p.plan, again);
    assert_string_equal(first, again);
    (void)snprintf(p.plan->items[1].call.version, sizeof p.plan->items[1].call.version, "library 2");
    kf_plan_hash(p.plan, second);
    assert_string_not_equal(first, second);
    close_invented(&p);
}

/* An error while a graph is made names the item, and nothing of the graph is kept. */
static void a_call_that_fails_ends_the_graph(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    invented p;
    make_invented(&p);
    must(kf_plan_initialise(p.plan, &error), &error);
    p.fails = true;
    assert_int_equal(kf_plan_advance(p.plan, 1, &error), KF_MACHINE);
    assert_non_null(strstr(error.message, "library"));
    p.fails = false;
    kf_graph *graph = NULL;
    must(kf_graph_begin(p.backend, &error), &error);
    assert_int_equal(kf_graph_begin(p.backend, &error), KF_BAD_INPUT);
    must(kf_stream_call(kf_backend_stream(p.backend, KF_LANE_MAIN), enqueue, &p, &error), &error);
    must(kf_graph_end(p.backend, NULL, &error), &error);
    assert_int_equal(p.calls, 0);
    must(kf_graph_begin(p.backend, &error), &error);
    must(kf_stream_call(kf_backend_stream(p.backend, KF_LANE_ASIDE), enqueue, &p, &error), &error);
    must(kf_graph_end(p.backend, &graph, &error), &error);
    must(kf_graph_launch(graph, &error), &error);
    must(kf_graph_launch(graph, &error), &error);
    assert_int_equal(p.calls, 2);
    kf_graph_free(graph);
    close_invented(&p);
}

static void copies_keep_to_their_rows(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_backend *backend;
    kf_buffer *source, *target;
    must(kf_backend_open("cpu:1", &backend, &error), &error);
    kf_stream *stream = kf_backend_stream(backend, KF_LANE_MAIN);
    char from[24], to[16] = "", wanted[17] = "..bcd.....jkl...";
    for (int i = 0; i < 24; i++)
        from[i] = (char)('a' + i);
    must(kf_buffer_create(backend, sizeof from, &source, &error), &error);
    must(kf_buffer_create(backend, sizeof to, &target, &error), &error);
    must(kf_buffer_upload(source, 0, from, sizeof from, &error), &error);
    must(kf_buffer_fill(target, '.', &error), &error);
    kf_copy copy = {.target = target,
                    .source = source,
                    .target_offset = 2,
                    .source_offset = 1,
                    .bytes = 3,
                    .rows = 2,
                    .target_pitch = 8,
                    .source_pitch = 8};
    must(kf_stream_copy(stream, &copy, &error), &error);
    must(kf_buffer_download(target, 0, to, sizeof to, &error), &error);
    assert_memory_equal(to, wanted, sizeof to);
    copy.rows = 3; /* past the end of the target, by its last row */
    assert_int_equal(kf_stream_copy(stream, &copy, &error), KF_BAD_INPUT);
    copy.rows = SIZE_MAX / 4;
    assert_int_equal(kf_stream_copy(stream, &copy, &error), KF_BAD_INPUT);
    copy.rows = 2;
    copy.source_pitch = 2;
    assert_int_equal(kf_stream_copy(stream, &copy, &error), KF_BAD_INPUT);
    copy.bytes = 0;
    must(kf_stream_copy(stream, &copy, &error), &error);
    kf_buffer_free(source);
    kf_buffer_free(target);
    kf_backend_close(backend);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_do_what_is_due),
        cmocka_unit_test(trains_do_what_is_due),
        cmocka_unit_test(walks_visit_in_order),
        cmocka_unit_test(cycles_hold_all_periods),
        cmocka_unit_test(long_cycles_run_item_by_item),
        cmocka_unit_test(plans_hold_many_items),
        cmocka_unit_test(the_end_of_every_buffer_is_checked),
        cmocka_unit_test(items_are_timed),
        cmocka_unit_test(calls_are_counted_as_one_range),
        cmocka_unit_test(libraries_enter_the_hash),
        cmocka_unit_test(a_call_that_fails_ends_the_graph),
        cmocka_unit_test(copies_keep_to_their_rows),
    };
    counter_prepare();
    counter_write("kernels/log.cu", log_kernel);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    counter_clean_up();
    return failed;
}
