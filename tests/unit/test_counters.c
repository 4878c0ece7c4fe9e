/* Tests metric sets, what chips know of them (by CUPTI's half that needs no GPU), and counting with
 * made-up counters on a real plan. Faults: a wrong event or formula, or counts of another kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/team.h"
#include "base/util/file.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/counters/count_internal.h"
#include "harness/counters/count_plan.h"
#include "harness/counters/cupti_host.h"
#include "results/store.h"
#include "tests/unit/counted_value.h"
#include "tests/unit/kinetic_plan.h"
#include "tests/unit/known_text.h"
#include "tests/unit/output_scratch.h"

/* --- Reading sets --------------------------------------------------------------------------------------- */

static kf_status read_text(const char *text, kf_metric_set **set, kf_error *error) {
    const char *path = in_scratch("set.txt");
    if (kf_file_write_atomic(path, text, strlen(text), error) != KF_OK) fail_msg("%s", error->message);
    return kf_metric_set_open(path, set, error);
}

static void test_a_set_is_read(void **state) {
    (void)state;
    kf_metric_set *set = NULL;
    kf_error error = {0};
    const char *text =
        "# a comment\nSHORT   what it is for  \n\nMETRICS\na  B  unit__a.sum\n\tbb 1 unit__b.avg \n"
        "PAPI\na B PAPI_A\nDERIVED\nc B/s a / time_us\nd 1 c + 2 * bb\nLONG\nMETRICS\n  x\n";
    if (read_text(text, &set, &error) != KF_OK) fail_msg("%s", error.message);
    assert_string_equal(set->name, "set");
    assert_string_equal(set->summary, "what it is for");
    assert_string_equal(set->description, "METRICS\n  x\n\n");
    assert_int_equal(set->cupti_count, 2);
    assert_string_equal(set->cupti[1].name, "bb");
    assert_string_equal(set->cupti[1].event, "unit__b.avg");
    assert_int_equal(set->papi_count, 1);
    assert_int_equal(set->derived_count, 2);
    assert_string_equal(set->derived[0].unit, "B/s");
    kf_metric_set_free(set);
}

static void test_errors_of_a_set_are_named_with_their_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *told;
    } cases[] = {
        {"", "SHORT"},
        {"SHORT x\n", "no METRICS"},
        {"SHORT x\nmetrics\n", ":2: expected"},
        {"SHORT x\nMETRICS\nA B e\n", ":3: a name is lower-case"},
        {"SHORT x\nMETRICS\na\n", ":3: after the name comes a unit"},
        {"SHORT x\nMETRICS\na B\n", "nothing comes after"},
        {"SHORT x\nMETRICS\na B e f\n", "too much in a line: 'f'"},
        {"SHORT x\nMETRICS\na B e\na B f\n", ":4: the name is used already: 'a'"},
        {"SHORT x\nMETRICS\ntime_us B e\n", "used already"},
        {"SHORT x\nMETRICS\na B e\nDERIVED\nc B a +\n", ":5: the formula of 'c'"},
        {"SHORT x\nMETRICS\nabc B e\nDERIVED\nc B abd * 2\n", "did you mean 'abc'"},
        {"SHORT x\nMETRICS\na B e\nDERIVED\nc B d\nd B a\n", ":5: the formula of 'c'"},
        {"SHORT x\nMETRICS\na 0123456789abcdefg e\n", "unit"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_metric_set *set = NULL;
        kf_error error = {0};
        assert_int_equal(read_text(cases[i].text, &set, &error), KF_BAD_INPUT);
        assert_null(set);
        if (strstr(error.message, cases[i].told) == NULL)
            fail_msg("'%s' should say '%s'", error.message, cases[i].told);
        assert_null(strchr(error.message, '\n'));
    }
    kf_metric_set *set = NULL;
    kf_error error = {0};
    assert_int_equal(kf_metric_set_open("standart", &set, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "did you mean 'standard'"));
    assert_int_equal(kf_metric_set_open("no/such/file.txt", &set, &error), KF_BAD_INPUT);
    /* More metrics than fit. */
    kf_text text = {0};
    kf_text_append(&text, "SHORT x\nMETRICS\n");
    for (int i = 0; i < KF_SET_METRICS + 1; i++)
        kf_text_append(&text, "m%d 1 e\n", i);
    assert_int_equal(read_text(text.text, &set, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "too many"));
    kf_text_free(&text);
}

/* --- Formulas ------------------------------------------------------------------------------------------- */

static double two_and_four(void *context, const char *name) {
    (void)context;
    if (strcmp(name, "a") == 0) return 2.0;
    if (strcmp(name, "b") == 0) return 4.0;
    return (double)NAN;
}

static void test_derived_metrics_are_computed(void **state) {
    (void)state;
    kf_metric_set *set = NULL;
    kf_error error = {0};
    const char *text =
        "SHORT x\nMETRICS\na B e\nb B f\nmissing B g\nDERIVED\nsum B a + b\nrate B/s sum / time_us\n"
        "lost B missing + 1\nzero 1 a / (b - 4)\nleast 1 sum / least_bytes\n";
    if (read_text(text, &set, &error) != KF_OK) fail_msg("%s", error.message);
    double values[KF_SET_DERIVED];
    const double variables[KF_SET_VARIABLES] = {
        [KF_VARIABLE_TIME_US] = 3.0, [KF_VARIABLE_LEAST_BYTES] = (double)NAN};
    kf_metric_set_derive(set, two_and_four, NULL, variables, values);
    assert_true(fabs(values[0] - 6.0) < 1e-12);
    assert_true(fabs(values[1] - 2.0) < 1e-12);
    assert_true(isnan(values[2]));
    assert_true(isnan(values[3]));
    assert_true(isnan(values[4]));
    kf_metric_set_free(set);
}

/* A set on a GPU or on a cpu. */
typedef struct counted_set {
    const kf_metric_set *set;
    bool gpu;
} counted_set;

/* A number of its own for each name that is counted. */
static double of_name(void *context, const char *name) {
    const counted_set *on = context;
    const kf_metric *counted = on->gpu ? on->set->cupti : on->set->papi;
    unsigned number = 0;
    bool there = false;
    for (int i = 0; i < (on->gpu ? on->set->cupti_count : on->set->papi_count); i++)
        there = there || strcmp(counted[i].name, name) == 0;
    for (const char *at = name; *at != '\0'; at++)
        number = 31 * number + (unsigned char)*at;
    return there ? 3.0 + number % 997 : (double)NAN;
}

typedef struct seen_metrics {
    kf_text text;
    kf_metric counted[256];
    int count;
} seen_metrics;

/* Appends what the set derives, and holds its counters against those of the same names in other sets. */
static kf_status see_set(void *context, const char *name, kf_error *error) {
    seen_metrics *seen = context;
    kf_metric_set *set = NULL;
    double values[KF_SET_DERIVED];
    const double variables[KF_SET_VARIABLES] = {
        [KF_VARIABLE_TIME_US] = 7.0, [KF_VARIABLE_LEAST_BYTES] = 11.0};
    KF_TRY(kf_metric_set_open(name, &set, error));
    for (int i = 0; i < set->cupti_count; i++) {
        const kf_metric *m = &set->cupti[i];
        for (int k = 0; k < seen->count; k++)
            if ((strcmp(m->name, seen->counted[k].name) == 0) !=
                    (strcmp(m->event, seen->counted[k].event) == 0) ||
                (strcmp(m->name, seen->counted[k].name) == 0 && strcmp(m->unit, seen->counted[k].unit) != 0))
                fail_msg("%s: %s in %s is %s, elsewhere %s is %s in %s", name, m->name, m->unit, m->event,
                         seen->counted[k].name, seen->counted[k].event, seen->counted[k].unit);
        assert_true(seen->count < 256);
        seen->counted[seen->count++] = *m;
    }
    for (int gpu = 0; gpu < 2; gpu++) {
        counted_set on = {set, gpu == 1};
        kf_metric_set_derive(set, of_name, &on, variables, values);
        for (int i = 0; i < set->derived_count; i++)
            if (isfinite(values[i]))
                kf_text_append(&seen->text, "%s of %s on a %s: %.6g %s\n", set->derived[i].name, name,
                               gpu ? "GPU" : "cpu", values[i], set->derived[i].unit);
    }
    kf_metric_set_free(set);
    return KF_OK;
}

/* Shipped sets derive known values from counters of which each has its own value. A name is one event's in
 * all sets, and an event has one name. */
static void test_shipped_formulas_are_known(void **state) {
    (void)state;
    static seen_metrics seen;
    kf_error error = {0};
    if (kf_metric_sets(see_set, &seen, &error) != KF_OK) fail_msg("%s", error.message);
    assert_known("metrics.txt", seen.text.text);
}

/* A counter that a device counts itself is not computed from others, nor in formulas of others. */
static void test_counted_stays_counted(void **state) {
    (void)state;
    kf_metric_set *set = NULL;
    kf_error error = {0};
    if (read_text("SHORT x\nMETRICS\na B e\nDERIVED\nb B a * 100\nc B b + 1\n", &set, &error) != KF_OK)
        fail_msg("%s", error.message);
    double values[KF_SET_DERIVED];
    const double variables[KF_SET_VARIABLES] = {[KF_VARIABLE_TIME_US] = 3.0};
    kf_metric_set_derive(set, two_and_four, NULL, variables, values);
    assert_true(fabs(values[0] - 4.0) < 1e-12 && fabs(values[1] - 5.0) < 1e-12);
    kf_metric_set_free(set);
}

/* --- The shipped sets on every chip --------------------------------------------------------------------- */

static void name_unknown_metric(const kf_metric_set *set, const char *chip, const char **events,
                                size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!kf_cupti_knows(chip, NULL, events[i]))
            fail_msg("%s: %s does not know %s; add it to metrics/aliases.txt", set->name, chip, events[i]);
    fail_msg("%s: its metrics do not go together on %s", set->name, chip);
}

static kf_status check_on_chip(void *context, const char *chip, kf_error *error) {
    const kf_metric_set *set = context;
    kf_aliases *aliases = NULL;
    KF_TRY(kf_aliases_open(&aliases, error));
    const char *events[KF_SET_METRICS];
    size_t count = 0;
    for (int i = 0; i < set->cupti_count; i++) {
        const char *event = kf_alias(aliases, chip, set->cupti[i].event);
        if (event != NULL) events[count++] = event;
    }
    kf_cupti_host *host = NULL;
    if (kf_cupti_host_open(chip, NULL, events, count, &host, error) != KF_OK)
        name_unknown_metric(set, chip, events, count);
    assert_true(kf_cupti_host_passes(host) >= 1 && kf_cupti_host_passes(host) < 64);
    kf_cupti_host_close(host);
    kf_aliases_free(aliases);
    return KF_OK;
}

/* Chips that the range profiler does not support have no metric. */
static kf_status check_supported_chip(void *context, const char *chip, kf_error *error) {
    if (!kf_cupti_knows(chip, NULL, "gpu__time_duration.sum")) return KF_OK;
    return check_on_chip(context, chip, error);
}

static kf_status check_set(void *context, const char *name, kf_error *error) {
    kf_metric_set *set = NULL;
    KF_TRY(kf_metric_set_open(name, &set, error));
    ++*(int *)context;
    assert_true(set->summary[0] != '\0' && set->description[0] != '\0');
    const kf_status status = kf_cupti_chips(check_supported_chip, set, error);
    kf_metric_set_free(set);
    return status;
}

static void test_every_set_on_every_chip(void **state) {
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* CUPTI opens its libraries with RTLD_DEEPBIND, which ends a program under the sanitizer */
#endif
    kf_error error = {0};
    int sets = 0;
    const kf_status status = kf_metric_sets(check_set, &sets, &error);
    if (status == KF_MACHINE && strstr(error.message, "libcupti") != NULL) skip();
    if (status != KF_OK) fail_msg("%s", error.message);
    assert_true(sets >= 6);
}

static void test_events_have_aliases_on_other_chips(void **state) {
    (void)state;
    kf_aliases *aliases = NULL;
    kf_error error = {0};
    assert_int_equal(kf_aliases_open(&aliases, &error), KF_OK);
    assert_string_equal(kf_alias(aliases, "GH100", "dram__bytes_read.sum"), "dram__bytes_read.sum");
    assert_string_equal(kf_alias(aliases, "GB202", "dram__bytes_read.sum"), "dram__bytes_op_read.sum");
    assert_null(kf_alias(aliases, "GB10B", "dram__bytes_read.sum"));
    assert_string_equal(kf_alias(aliases, "GB10B", "lts__t_bytes.sum"), "lts__t_bytes.sum");
    kf_aliases_free(aliases);
}

/* --- Counting ------------------------------------------------------------------------------------------- */

/* Counters of the test: three passes, one metric in each; a part's value is 100 * pass + part. */
enum { PASSES = 3 };
typedef struct made_up {
    int passes, parts_in_pass[PASSES], restores;
    bool in_pass, in_part;
} made_up;
static made_up seen;

static kf_status made_up_open(kf_counting *counting, kf_error *error) {
    (void)error;
    for (int i = 0; i < counting->set->cupti_count; i++)
        counting->counts->metrics[counting->counts->metric_count++] = &counting->set->cupti[i];
    return KF_OK;
}
static void made_up_close(kf_counting *counting) {
    (void)counting;
}
static kf_status made_up_pass_begin(kf_counting *counting, kf_error *error) {
    (void)counting;
    (void)error;
    assert_false(seen.in_pass);
    seen.in_pass = true;
    return KF_OK;
}
static kf_status made_up_pass_end(kf_counting *counting, bool *done, kf_error *error) {
    (void)counting;
    (void)error;
    assert_true(seen.in_pass && !seen.in_part);
    seen.in_pass = false;
    *done = ++seen.passes == PASSES;
    return KF_OK;
}
static kf_status made_up_part_begin(kf_counting *counting, int part, kf_error *error) {
    (void)error;
    assert_true(seen.in_pass && !seen.in_part);
    seen.in_part = true;
    seen.parts_in_pass[seen.passes]++;
    counting->counts->values[part * counting->counts->metric_count + seen.passes] =
        100.0 * seen.passes + part;
    return KF_OK;
}
static kf_status made_up_part_end(kf_counting *counting, kf_error *error) {
    (void)counting;
    (void)error;
    seen.in_part = false;
    return KF_OK;
}
static kf_status made_up_read(kf_counting *counting, kf_error *error) {
    (void)counting;
    (void)error;
    return KF_OK;
}
static const kf_counter_methods made_up_methods = {
    .open = made_up_open,
    .close = made_up_close,
    .pass_begin = made_up_pass_begin,
    .pass_end = made_up_pass_end,
    .part_begin = made_up_part_begin,
    .part_end = made_up_part_end,
    .read = made_up_read,
};

static kf_status restore_nothing(void *context, kf_error *error) {
    (void)context;
    (void)error;
    assert_false(seen.in_pass); /* the state is restored before counting begins */
    seen.restores++;
    return KF_OK;
}

static kf_status two_parts(void *context, kf_counting *counting, kf_error *error) {
    (void)context;
    for (int part = 0; part < 2; part++) {
        KF_TRY(kf_counting_begin(counting, part, error));
        KF_TRY(kf_counting_end(counting, error));
    }
    return KF_OK;
}

static kf_status fails(void *context, kf_counting *counting, kf_error *error) {
    (void)context;
    KF_TRY(kf_counting_begin(counting, 0, error));
    KF_TRY(kf_counting_end(counting, error));
    return kf_fail(error, KF_MACHINE, "planted");
}

static kf_metric_set *three_metrics(void) {
    kf_metric_set *set = NULL;
    kf_error error = {0};
    if (read_text("SHORT x\nMETRICS\na B e\nb B f\nc 1 g\nDERIVED\nd B a + b\n", &set, &error) != KF_OK)
        fail_msg("%s", error.message);
    return set;
}

static void test_each_pass_starts_from_the_same_state(void **state) {
    (void)state;
    kf_metric_set *set = three_metrics();
    kf_backend *backend = NULL;
    kf_error error = {0};
    kf_counts counts;
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    seen = (made_up){0};
    assert_int_equal(
        kf_count_with(&made_up_methods, backend, set, 2, restore_nothing, two_parts, NULL, &counts, &error),
        KF_OK);
    assert_int_equal(counts.passes, PASSES);
    assert_int_equal(seen.restores, PASSES);
    for (int i = 0; i < PASSES; i++)
        assert_int_equal(seen.parts_in_pass[i], 2);
    assert_true(fabs(counted_value(&counts, 1, "c") - 201.0) < 1e-9);
    assert_true(isnan(counted_value(&counts, 1, "unheard of")));
    kf_counts_free(&counts);
    /* A pass whose work fails is ended, and the failure is reported. */
    seen = (made_up){0};
    assert_int_equal(
        kf_count_with(&made_up_methods, backend, set, 2, restore_nothing, fails, NULL, &counts, &error),
        KF_MACHINE);
    assert_string_equal(error.message, "planted");
    assert_false(seen.in_pass);
    assert_int_equal(seen.passes, 1);
    kf_backend_close(backend);
    kf_metric_set_free(set);
}

/* --- A plan --------------------------------------------------------------------------------------------- */

/* Holds what is seen of a plan's parts while they are visited. */
typedef struct visits {
    kf_plan *plan;
    char names[64][48];
    uint64_t steps[64];
    int count;
    bool open;
} visits;

static kf_status note_begin(void *context, int part, const kf_item *item, kf_error *error) {
    (void)error;
    visits *v = context;
    assert_false(v->open);
    v->open = true;
    assert_true(part >= 0 && part < 64);
    kf_copy_text(v->names[part], sizeof v->names[part], item->name);
    v->steps[part] = v->plan->steps_done;
    v->count++;
    return KF_OK;
}

static kf_status note_end(void *context, kf_error *error) {
    (void)error;
    visits *v = context;
    assert_true(v->open);
    v->open = false;
    return KF_OK;
}

static void test_parts_of_a_plan(void **state) {
    (void)state;
    kf_error error = {0};
    kinetic_plan made;
    const kf_scene_options options = {.node_limit = 4000};
    if (kinetic_plan_open(&made, "cpu:1", "ball", &options, "baseline", &error) != KF_OK)
        fail_msg("%s", error.message);
    visits v = {.plan = made.plan};
    const kf_part_visit visit = {note_begin, note_end, &v};
    if (kf_plan_visit_parts(made.plan, &visit, &error) != KF_OK) fail_msg("%s", error.message);
    assert_true(v.count > 0);
    for (size_t i = 0; i < made.plan->item_count; i++) {
        int found = 0;
        for (int k = 0; k < v.count; k++)
            found += strcmp(v.names[k], made.plan->items[i].name) == 0;
        assert_true(found == (kf_item_is_empty(&made.plan->items[i]) ? 0 : 1));
    }
    for (int k = 0; k < v.count; k++)
        assert_true(v.steps[k] == 2 || v.steps[k] == 3 || v.steps[k] == 0);
    kinetic_plan_close(&made);
}

static kf_status check_stored(void *context, int sequence, const char *role, const kf_config *config,
                              const kf_measurement *m, kf_error *error) {
    (void)context, (void)sequence, (void)role, (void)config, (void)error;
    assert_int_equal(m->counter_count, 2); /* that of a kernel that is not there was left out */
    assert_true(fabs(kf_counter_value(m, "stream", "dram_bytes") - 200.0) < 1e-9);
    assert_true(fabs(kf_counter_value(m, "", "dram_bytes") - 123.5) < 1e-9);
    assert_string_equal(m->counters[0].unit, "B");
    assert_int_equal(m->counters[0].passes, 3);
    assert_string_equal(m->kernels[0].occupancy_limit, "registers");
    return KF_OK;
}

static void test_counts_are_weighted_by_launches(void **state) {
    (void)state;
    kf_metric_set *set = three_metrics();
    kf_measurement m = {.kernel_count = 0};
    (void)kf_measurement_add_kernel(&m);
    (void)kf_measurement_add_kernel(&m);
    kf_copy_text(m.kernels[0].name, sizeof m.kernels[0].name, "stream");
    kf_copy_text(m.kernels[1].name, sizeof m.kernels[1].name, "order");
    m.kernels[0].launches_per_step = 1.0;
    m.kernels[1].launches_per_step = 0.25;
    static const kf_counter counted[] = {{"stream", "a", "B", 10.0, 2}, {"stream", "b", "B", 4.0, 2},
                                         {"order", "a", "B", 8.0, 2},   {"order", "b", "B", 0.0, 2},
                                         {"stream", "c", "1", 5.0, 2},  {"gone", "a", "B", 99.0, 2}};
    m.counters = kf_allocate(sizeof counted);
    memcpy(m.counters, counted, sizeof counted);
    m.counter_count = sizeof counted / sizeof *counted;
    kf_counters_complete(set, &m);
    assert_true(fabs(kf_counter_value(&m, "stream", "d") - 14.0) < 1e-12);
    assert_true(fabs(kf_counter_value(&m, "order", "d") - 8.0) < 1e-12);
    assert_true(fabs(kf_counter_value(&m, "", "a") - 12.0) < 1e-12);
    assert_true(fabs(kf_counter_value(&m, "", "d") - 16.0) < 1e-12);
    assert_true(isnan(kf_counter_value(&m, "", "c")));
    assert_true(isnan(kf_counter_value(&m, "gone", "a")));
    kf_measurement_free(&m);
    kf_metric_set_free(set);
}

/* Counters that are added to a stored result come back with it, and replace those of the same names. */
static void test_counters_replace_those_of_their_names(void **state) {
    (void)state;
    kf_error error = {0};
    kf_store *store = NULL;
    kf_problem problem = {.name = "ball", .source = "ball"};
    kf_facts_size(&problem.facts, (const int[3]){8, 8, 8}, "nodes");
    memset(problem.hash, 'a', KF_HASH_HEX - 1);
    const kf_device_info device = {.backend = "cuda", .name = "a GPU", .identity = "g"};
    kf_run_row run = {.system = "kinetic", .strategy = "random", .budget = "1evals", .space_json = "{}"};
    memset(run.space_hash, 'b', KF_HASH_HEX - 1);
    kf_config config = {.system = "kinetic"};
    double sample = 10.0;
    kf_measurement m = {.state = KF_STATE_OK, .batch = 1, .samples_us = &sample, .sample_count = 1};
    m.step_us = kf_summarise(&sample, 1);
    (void)kf_measurement_add_kernel(&m);
    kf_copy_text(m.kernels[0].name, sizeof m.kernels[0].name, "stream");
    m.kernels[0].time_us = m.step_us;
    m.kernels[0].theoretical_occupancy = 0.5;
    kf_copy_text(m.kernels[0].occupancy_limit, sizeof m.kernels[0].occupancy_limit, "registers");
    assert_int_equal(kf_store_open(in_scratch("counters.db"), false, &store, &error), KF_OK);
    assert_int_equal(kf_store_begin_run(store, &problem, &device, &run, &error), KF_OK);
    assert_int_equal(kf_store_add(store, &run, 0, "search", &config, &m, &error), KF_OK);
    kf_counter counters[] = {{"stream", "dram_bytes", "B", 123.5, 3},
                             {"", "dram_bytes", "B", 123.5, 3},
                             {"gone", "dram_bytes", "B", 1.0, 3}};
    m.counters = counters;
    m.counter_count = 3;
    assert_int_equal(kf_store_add_counters(store, &run, 0, &m, &error), KF_OK);
    counters[0].value = 200.0;
    assert_int_equal(kf_store_add_counters(store, &run, 0, &m, &error), KF_OK);
    assert_int_equal(kf_store_add_counters(store, &run, 7, &m, &error), KF_BAD_INPUT);
    assert_int_equal(kf_store_results(store, run.id, check_stored, NULL, &error), KF_OK);
    free(m.kernels);
    kf_facts_free(&problem.facts);
    kf_store_close(store);
}

/* --- PAPI ----------------------------------------------------------------------------------------------- */

static kf_status one_part(void *context, kf_counting *counting, kf_error *error) {
    (void)context;
    KF_TRY(kf_counting_begin(counting, 0, error));
    volatile double sum = 0.0;
    for (int i = 0; i < 1000000; i++)
        sum = sum + i;
    return kf_counting_end(counting, error);
}

static kf_status no_restore(void *context, kf_error *error) {
    (void)context;
    (void)error;
    return KF_OK;
}

/* Either the cpu counts, or the reason is given. */
static void test_cpu_counters_or_reason(void **state) {
    (void)state;
    kf_metric_set *set = NULL;
    kf_backend *backend = NULL;
    kf_error error = {0};
    kf_counts counts;
    assert_int_equal(kf_metric_set_open("standard", &set, &error), KF_OK);
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    const kf_status status = kf_count(backend, set, 1, no_restore, one_part, NULL, &counts, &error);
    if (status == KF_OK) {
        const double instructions = counted_value(&counts, 0, "instructions");
        assert_true(isnan(instructions) || instructions > 1e6);
        kf_counts_free(&counts);
    } else {
        assert_int_equal(status, KF_MACHINE);
        assert_non_null(strstr(error.message, "counters: not available because "));
        assert_null(strchr(error.message, '\n'));
    }
    assert_int_equal(kf_papi_check(&error), status); /* doctor says the same */
    kf_backend_close(backend);
    kf_metric_set_free(set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_set_is_read),
        cmocka_unit_test(test_errors_of_a_set_are_named_with_their_line),
        cmocka_unit_test(test_derived_metrics_are_computed),
        cmocka_unit_test(test_shipped_formulas_are_known),
        cmocka_unit_test(test_every_set_on_every_chip),
        cmocka_unit_test(test_events_have_aliases_on_other_chips),
        cmocka_unit_test(test_each_pass_starts_from_the_same_state),
        cmocka_unit_test(test_parts_of_a_plan),
        cmocka_unit_test(test_counts_are_weighted_by_launches),
        cmocka_unit_test(test_counters_replace_those_of_their_names),
        cmocka_unit_test(test_cpu_counters_or_reason),
        cmocka_unit_test(test_counted_stays_counted),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
