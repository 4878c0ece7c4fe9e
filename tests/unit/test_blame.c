/* Tests which kernel and which counter a change is blamed on, what instructions say where times are noisy,
 * and which shards a store has. Faults: of several kernels, counters or nights the wrong one counts. */
#include "harness/nightly/entry.h"
#include "tests/unit/night_fixture.h"

/* A kernel of a program: its time of a launch, launches a step, registers, and what is counted of it. */
typedef struct part {
    const char *name;
    double us, launches, bytes, counted;
    int registers;
} part;

enum { PARTS = 4 };

/* Stores one process whose measurement has these kernels; instructions of the whole where
 * there are any, of another counter where they are negative. */
static void add_process(kf_store *store, const kf_night *night, kf_run_row *run, kf_arm arm, int ordinal,
                        const part parts[PARTS], double instructions) {
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_measurement *m = kf_allocate(sizeof *m);
    kf_device_info device;
    kf_config config;
    kf_error error = {0};
    char series[KF_HASH_HEX];
    fixture_problem(problem, "beetle");
    fixture_device(&device);
    fixture_config(&config, 1);
    fixture_measurement(m, 100.0, 15);
    free(m->kernels);
    m->kernels = NULL;
    m->kernel_count = 0;
    m->counters = kf_allocate_zeroed(PARTS + 1, sizeof *m->counters);
    for (int i = 0; i < PARTS && parts != NULL && parts[i].name != NULL; i++) {
        kf_kernel_time *kernel = kf_measurement_add_kernel(m);
        *kernel = (kf_kernel_time){.bytes = parts[i].bytes,
                                   .flops = 1.0,
                                   .registers = parts[i].registers,
                                   .launches_per_step = parts[i].launches,
                                   .theoretical_occupancy = NAN};
        kernel->time_us = kf_summarise(&parts[i].us, 1);
        kf_copy_text(kernel->name, sizeof kernel->name, parts[i].name);
        if (parts[i].counted == 0.0) continue;
        kf_counter *counter = &m->counters[m->counter_count++];
        *counter = (kf_counter){.metric = "dram", .unit = "B", .value = parts[i].counted, .passes = 1};
        kf_copy_text(counter->kernel, sizeof counter->kernel, parts[i].name);
    }
    if (instructions != 0.0) {
        kf_counter *counter = &m->counters[m->counter_count++];
        *counter = (kf_counter){.unit = "1", .value = fabs(instructions), .passes = 1};
        kf_copy_text(counter->metric, sizeof counter->metric,
                     instructions > 0.0 ? "instructions_perf_event" : "instructions_cachegrind");
    }
    kf_store_series("ball", problem, &device, series);
    if (run->id == 0) fixture_run(run);
    const kf_process_row process = {.benchmark = "ball",
                                    .arm = arm,
                                    .ordinal = ordinal,
                                    .series = series,
                                    .program = night->program,
                                    .job = "{}"};
    if (kf_store_add_process(store, night, &process, problem, &device, run, &config, m, &error) != KF_OK)
        fail_msg("%s", error.message);
    kf_measurement_free(m);
    free(m);
    kf_problem_free(problem);
}

/* Returns what a night whose arms have these kernels says of a change of this sign. */
static kf_verdict blamed(const char *name, const part before[PARTS], const part after[PARTS], double shift) {
    static const part night_parts[PARTS] = {{"a", 1, 1, 1, 1, 1}, {"b", 999, 1, 1, 1, 1}};
    kf_store *store = fixture_open_new(name);
    kf_error error = {0};
    kf_night night;
    kf_suite_benchmark benchmark = {.name = "ball"};
    kf_entry *entry = kf_allocate_zeroed(1, sizeof *entry);
    entry->benchmark = &benchmark;
    entry->comparison.shift = shift;
    fixture_night(store, &night, name);
    for (int i = 0; i < 3; i++) {
        add_process(store, &night, &entry->run, KF_ARM_NIGHT, i, night_parts, 0.0);
        add_process(store, &night, &entry->run, KF_ARM_REFERENCE, i, before, 0.0);
        add_process(store, &night, &entry->run, KF_ARM_CANDIDATE, i, after, 0.0);
    }
    if (kf_entry_blame(store, night.id, entry, &error) != KF_OK) fail_msg("%s", error.message);
    const kf_verdict verdict = entry->verdict;
    free(entry);
    kf_store_close(store);
    return verdict;
}

static void assert_blamed(const kf_verdict *v, const char *kernel, double us, const char *counter,
                          double before, double after) {
    assert_string_equal(v->kernel, kernel);
    if (fabs(v->kernel_change_us - us) > 1e-6) fail_msg("%g us instead of %g", v->kernel_change_us, us);
    assert_string_equal(v->counter, counter);
    if (counter[0] == '\0') return;
    if (fabs(v->counter_before - before) > 1e-6 * before || fabs(v->counter_after - after) > 1e-6 * after)
        fail_msg("%g and %g instead of %g and %g", v->counter_before, v->counter_after, before, after);
}

/* A kernel is blamed by its time in a step, in the direction of the whole change, and by the counter that
 * moved most, of that kernel alone. */
static void test_which_kernel(void **state) {
    (void)state;
    static const part before[PARTS] = {
        {"a", 10, 1, 100, 50, 64}, {"b", 20, 2, 1000, 40, 64}, {"c", 30, 1, 100, 60, 64}};
    static const part after[PARTS] = {/* in another order, with a kernel that is new */
                                      {"c", 20, 1, 100, 60, 64},
                                      {"b", 23, 2, 2000, 100, 65},
                                      {"a", 14, 1, 100, 500, 255},
                                      {"d", 5.5, 1, 100, 50, 64}};
    kf_verdict v = blamed("slower.db", before, after, 0.05);
    assert_blamed(&v, "b", 6.0, "dram", 40, 100);
    v = blamed("faster.db", before, after, -0.05);
    assert_blamed(&v, "c", -10.0, "", 0, 0);
    v = blamed("unknown.db", before, after, NAN);
    assert_blamed(&v, "", 0.0, "", 0, 0);
    v = blamed("same.db", before, before, 0.05);
    assert_blamed(&v, "", 0.0, "", 0, 0);
    static const part new_one[PARTS] = {{"a", 10, 1, 100, 50, 64},
                                        {"b", 20, 2, 1000, 40, 64},
                                        {"c", 30, 1, 100, 60, 64},
                                        {"d", 5.5, 1, 7, 0, 8}};
    v = blamed("new.db", before, new_one, 0.05);
    assert_blamed(&v, "d", 5.5, "", 0, 0);
    static const part more[PARTS] = {
        {"a", 10, 1, 100, 50, 64}, {"b", 20, 2, 1000, 40, 64}, {"c", 31, 1, 100, 60.1, 96}};
    v = blamed("registers.db", before, more, 0.05);
    assert_blamed(&v, "c", 1.0, "registers a thread", 64, 96);
    static const part hair[PARTS] = {
        {"a", 10, 1, 100, 50, 64}, {"b", 20, 2, 1000, 40, 64}, {"c", 31, 1, 100, 60.1, 64}};
    v = blamed("hair.db", before, hair, 0.05); /* a counter that moved by 0.17 % is noise */
    assert_blamed(&v, "c", 1.0, "", 0, 0);
}

static int64_t counted_night(kf_store *store, const char *program, double instructions) {
    kf_night night;
    kf_run_row run = {0};
    kf_error error = {0};
    fixture_night(store, &night, program);
    add_process(store, &night, &run, KF_ARM_NIGHT, 0, NULL, instructions);
    assert_int_equal(kf_store_end_night(store, &night, "finished", &error), KF_OK);
    return night.id;
}

/* Instructions decide where times are noisy and both nights counted them. Against a pinned night only more
 * instructions count. */
static void test_instructions_decide_where_times_are_noisy(void **state) {
    (void)state;
    static const struct {
        double before, after, hidden;
        bool pinned, known;
        kf_verdict_state expected;
    } cases[] = {
        {1e6, 1.2e6, 0.1, false, true, KF_SLOW},     {1e6, 0.8e6, 0.1, false, true, KF_FAST},
        {1e6, 1.2e6, 0.01, false, false, KF_NODATA}, {0, 1.2e6, 0.1, false, false, KF_NODATA},
        {1e6, 0, 0.1, false, false, KF_NODATA},      {1e6, 1.0000001e6, 0.1, false, true, KF_NODATA},
        {1e6, -1.2e6, 0.1, false, false, KF_NODATA}, {1e6, 1.2e6, 0.1, true, true, KF_DRIFT},
        {1e6, 0.8e6, 0.1, true, true, KF_NODATA},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "counted-%zu.db", i);
        kf_store *store = fixture_open_new(name);
        kf_error error = {0};
        kf_suite_benchmark benchmark = {.name = "ball"};
        kf_entry *entry = kf_allocate_zeroed(1, sizeof *entry);
        kf_verdict_state found = KF_NODATA;
        bool known = false;
        const int64_t other = counted_night(store, "other", 5e6),
                      before = counted_night(store, "then", cases[i].before),
                      after = counted_night(store, "now", cases[i].after);
        entry->benchmark = &benchmark;
        entry->hidden = cases[i].hidden;
        entry->pinned = cases[i].pinned ? before : other;
        kf_copy_text(entry->verdict.reason, sizeof entry->verdict.reason, "as times say");
        assert_int_equal(
            kf_entry_second_measure(store, after, entry, before, "night 2", &found, &known, &error), KF_OK);
        if (found != cases[i].expected || known != cases[i].known)
            fail_msg("case %zu: %s, %d: %s", i, kf_verdict_names[found], known, entry->verdict.reason);
        if (found != KF_NODATA) {
            assert_true(entry->verdict.reference == before);
            assert_true(fabs(entry->verdict.change - (cases[i].after / cases[i].before - 1.0)) < 1e-12);
            assert_true(entry->verdict.counter_before == cases[i].before &&
                        entry->verdict.counter_after == cases[i].after);
            assert_non_null(strstr(entry->verdict.reason, cases[i].after > cases[i].before
                                                              ? "20 % more instructions than night 2"
                                                              : "20 % fewer instructions than night 2"));
            assert_non_null(strstr(entry->verdict.reason, "as times say"));
        }
        free(entry);
        kf_store_close(store);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_which_kernel),
                                       cmocka_unit_test(test_instructions_decide_where_times_are_noisy)};
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
