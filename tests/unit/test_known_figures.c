/* Tests every kind of a suite's figure from the same two timings, the table and the JSON, as known texts:
 * steps of 1250 us and 1600 us, 65536 updates and 2e8 bytes a step, and copying at 4e12 bytes a second.
 * Faults: a wrong unit, ratio or name. */
#include <math.h>
#include <unistd.h>

#include "base/record/suite_system.h"
#include "base/util/json.h"
#include "base/util/program.h"
#include "harness/bench/suite_run.h"
#include "solver/d2q9/d2q9.h"
#include "solver/incompressible/incompressible.h"
#include "solver/kinetic/kinetic.h"
#include "tests/unit/known_store.h"
#include "tests/unit/known_text.h"

static const kf_system node_system = {.name = "kinetic", .update = "node"},
                       particle_system = {.name = "sph", .update = "particle"};
static kf_problem problem, particles;
static kf_config config;
static kf_measurement mine, other;
static kf_device_info device;
static const kf_roofs roofs = {.count = 2,
                               .list = {{"dram_copy", "GB/s", 4200, 0.012, 4800},
                                        {"fp32_multiply_add", "GFLOP/s", 51000, 0.011, 60000}}};

static int make_timings(void **state) {
    known_config(&config, "fused", "soa", 1, 4, true);
    known_measurement(&mine, 1250, 4);
    known_measurement(&other, 1600, 2);
    fixture_device(&device);
    device.clock_hz = 1.98e9;
    fixture_problem(&problem, "beetle");
    fixture_problem(&particles, "river");
    problem.system = &node_system;
    particles.system = &particle_system;
    return fixture_make_folder(state);
}
static int free_timings(void **state) {
    kf_measurement_free(&mine);
    kf_measurement_free(&other);
    kf_facts_free(&problem.facts);
    kf_facts_free(&particles.facts);
    return fixture_remove_folder(state);
}

/* A row with a value for every key that a kind may ask for. */
static const char row[] = "{\"steps\": 5000, \"flops\": 300, \"published_us\": 5000, \"roof\": "
                          "\"dram_copy\", \"fact\": \"sample_count\", "
                          "\"kernels\": [\"stream\", \"boundary\"], \"without\": [\"forces\"]}";

static void tell_kind(kf_text *text, const kf_figure_kind *kind, const kf_problem *of, const char *keys,
                      double share_of_gpu) {
    cJSON *json = cJSON_Parse(keys);
    assert_non_null(json);
    kf_device_info asked = device;
    if (!(share_of_gpu > 0)) asked.architecture[0] = '\0';
    kf_figure figure = {.value = NAN, .spread = NAN, .floor = NAN, .share = NAN};
    kf_judgement *verdict = figure.verdict = kf_allocate_zeroed(1, sizeof *verdict);
    *verdict = (kf_judgement){.low = NAN, .high = NAN, .must = NAN, .aim = NAN};
    kf_copy_text(figure.unit, sizeof figure.unit, kind->unit);
    const kf_figure_input input = {.row = json,
                                   .of = {of, &config, &mine},
                                   .against = {of, &config, &other},
                                   .limit = 4e12,
                                   .roofs = &roofs,
                                   .device = &asked,
                                   .values = {2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5}};
    kind->make(&input, &figure);
    kf_text_append(text, "%s of %d: %.6g %s [%.6g, %.6g], spread %.4g, floor %.6g, share %.6g%s%s\n",
                   kind->name, kind->timings, figure.value, figure.unit, verdict->low, verdict->high,
                   figure.spread, figure.floor, figure.share, verdict->note[0] != '\0' ? "; " : "",
                   verdict->note);
    for (int k = 0; kind->keys != NULL && kind->keys[k] != NULL; k++)
        kf_text_append(text, "  key %s\n", kind->keys[k]);
    if (verdict->details != NULL) {
        char *details = kf_json_text(verdict->details, false);
        kf_text_append(text, "  in JSON %s\n", details);
        free(details);
    }
    cJSON_Delete(json);
    kf_figures figures = {0};
    kf_figures_add(&figures, &figure);
    kf_figures_free(&figures);
}

static void test_figures_of_every_kind(void **state) {
    (void)state;
    kf_text text = {0};
    for (const kf_figure_kind *kind = kf_figure_kinds; kind->name != NULL; kind++)
        tell_kind(&text, kind, &problem, row, 1);
    kf_text_append(&text, "with bytes of the row, of particles, on a device that is not known:\n");
    for (const kf_figure_kind *kind = kf_figure_kinds; kind->name != NULL; kind++)
        tell_kind(&text, kind, &particles,
                  "{\"bytes\": 432, \"flops\": 100, \"kernels\": [\"heat\"], \"roof\": \"none\"}", 0);
    const kf_figure_kind *const own[] = {kf_kinetic_suite.kinds, kf_incompressible_suite.kinds,
                                         kf_d2q9_suite.kinds};
    for (size_t s = 0; s < sizeof own / sizeof *own; s++)
        for (const kf_figure_kind *kind = own[s]; kind->name != NULL; kind++)
            if (kind->measure !=
                NULL) /* made of what was measured, here 2.5, 3.5 ...; others look at scenes */
                tell_kind(&text, kind, &problem, row, 1);
            else
                kf_text_append(&text, "%s of %d, %s\n", kind->name, kind->timings, kind->unit);
    assert_known("figure-kinds.txt", text.text);
}

static void add_figure(kf_figures *figures, const char *name, double value, double must, bool of_share,
                       bool at_most) {
    kf_figure figure = {
        .value = value, .spread = 0.0125, .floor = 2, .share = value / 2, .published = value > 1 ? 0.75 : 0};
    kf_copy_text(figure.name, sizeof figure.name, name);
    kf_copy_text(figure.unit, sizeof figure.unit, "GLUPS");
    kf_judgement *verdict = figure.verdict = kf_allocate_zeroed(1, sizeof *verdict);
    *verdict = (kf_judgement){.low = 0.9 * value,
                              .high = 1.2 * value,
                              .must = must,
                              .aim = must * 1.1,
                              .of_share = of_share,
                              .at_most = at_most};
    if (of_share) kf_copy_text(verdict->note, sizeof verdict->note, "a note");
    if (at_most) verdict->config = kf_duplicate("default with alpha=1");
    kf_figures_add(figures, &figure);
}

static void test_table_and_json(void **state) {
    (void)state;
    const kf_bench_suite suite = {
        .name = "step", .summary = "what a step takes", .promise = "that it is quick"};
    kf_figures figures = {0};
    kf_figure plain = {.name = "plain",
                       .value = 12.5,
                       .unit = "us",
                       .spread = 0.02,
                       .floor = 10,
                       .share = 0.8,
                       .failed = true},
              none = plain;
    kf_figures_add(&figures, &plain);
    none.floor = NAN;
    none.failed = false;
    kf_figures_add(&figures, &none);
    add_figure(&figures, "enough of a share", 1.5, 0.7, true, false);
    add_figure(&figures, "too little of a share", 1.5, 0.8, true, false);
    add_figure(&figures, "little enough", 0.5, 0.5, false, true);
    add_figure(&figures, "too much", 0.51, 0.5, false, true);
    add_figure(&figures, "just enough", 0.5, 0.5, false, false);
    add_figure(&figures, "nothing is asked", 0.5, (double)NAN, false, false);
    add_figure(&figures, "not available", (double)NAN, 0.5, false, false);
    const kf_candidate candidate = {.name = "default"};
    kf_suite_try tries[2] = {
        {.candidate = &candidate, .config = config, .step_us = 1250},
        {.candidate = &candidate, .config = config, .step_us = NAN, .reason = "it crashed"}};
    const kf_suite_time time = {.best = 0, .tries = tries, .try_count = 2, .measurement = mine};
    figures.list[2].verdict->details = kf_suite_details(&time);
    figures.about = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(figures.about, "scene", "beetle");
    cJSON *json = kf_figures_to_json(&suite, &device, &figures);
    assert_known("figures.json", with_word(kf_json_text(json, true), KF_VERSION, "VERSION"));
    cJSON_Delete(json);
    /* The table goes to stdout. */
    char path[KF_PATH], *text = NULL;
    size_t size = 0;
    fixture_path(path, "stdout");
    (void)fflush(stdout);
    const int keep = dup(STDOUT_FILENO);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
    kf_figures_print(&suite, &device, &figures);
    (void)fflush(stdout);
    assert_true(dup2(keep, STDOUT_FILENO) >= 0);
    (void)close(keep);
    assert_int_equal(fclose(file), 0);
    kf_figures_free(&figures);
    assert_int_equal(kf_file_read(path, 0, &text, &size, NULL), KF_OK);
    assert_known("figures.txt", text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures_of_every_kind),
        cmocka_unit_test(test_table_and_json),
    };
    return cmocka_run_group_tests(tests, make_timings, free_timings);
}
