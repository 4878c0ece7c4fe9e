/* Tests plots from a real store, drawn by gnuplot. Faults: a plot that is empty, or that gnuplot refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/file.h"
#include "harness/replay/replay_plot.h"
#include "plots/gnuplot.h"
#include "plots/plot.h"
#include "plots/run_results.h"
#include "plots/tables.h"
#include "tests/unit/drawn.h"
#include "tests/unit/output_scratch.h"

static char store_path[KF_PATH];

#define HOSTILE_METRIC "`touch owned`\"@x<b>"

static void fill_measurement(kf_measurement *measurement, double time_us, int kernels) {
    static const char *const names[] = {"stream",  "macroscopic",     "gather",        "collide",
                                        "penalty", "update",          "boundary_xmin", "boundary_xmax",
                                        "moments", "collision_terms", "load",          "reset"};
    *measurement =
        (kf_measurement){.state = KF_STATE_OK, .batch = 1, .updates_per_us = 100, .effective_bandwidth = 1e9};
    static double samples[3];
    for (int i = 0; i < 3; i++)
        samples[i] = time_us;
    measurement->step_us = kf_summarise(samples, 3);
    measurement->samples_us = samples;
    measurement->sample_count = 3;
    static kf_kernel_time table[sizeof names / sizeof *names];
    memset(table, 0, sizeof table);
    measurement->kernels = table;
    measurement->kernel_count = kernels;
    for (int i = 0; i < kernels; i++) {
        kf_kernel_time *kernel = &table[i];
        double part[1] = {time_us / kernels};
        (void)snprintf(kernel->name, sizeof kernel->name, "%s", names[i]);
        kernel->time_us = kf_summarise(part, 1);
        kernel->theoretical_occupancy = 0.5;
    }
}

/* There are 2 operations for every byte of device memory, and more bytes through the caches. */
static void fill_counters(kf_measurement *measurement) {
    static const struct {
        const char *metric, *unit;
        double value;
    } values[] = {{"operations", "FLOP", 2e8},     {"l1_bytes", "B", 4e8},
                  {"l2_bytes", "B", 2e8},          {"dram_bytes", "B", 1e8},
                  {"achieved_occupancy", "%", 40}, {"branch_uniformity", "%", 0}, /* it has no branch */
                  {"store_efficiency", "%", 25}};
    enum { METRICS = sizeof values / sizeof *values };
    static kf_counter counters[METRICS * 16];
    assert_true(measurement->kernel_count <= 16);
    measurement->counters = counters;
    for (int i = 0; i < measurement->kernel_count; i++)
        for (int k = 0; k < METRICS; k++) {
            kf_counter *counter = &counters[measurement->counter_count++];
            *counter = (kf_counter){.value = values[k].value, .passes = 2};
            kf_copy_text(counter->kernel, sizeof counter->kernel, measurement->kernels[i].name);
            kf_copy_text(counter->metric, sizeof counter->metric, values[k].metric);
            kf_copy_text(counter->unit, sizeof counter->unit, values[k].unit);
        }
}

static void add(kf_store *store, const kf_run_row *run, int sequence, const char *role, long length,
                const char *layout, long alpha, double time_us, int kernels) {
    kf_config config = {0};
    (void)snprintf(config.system, sizeof config.system, "kinetic");
    kf_config_set_integer(&config, "sample_block_length", length);
    const char *plan = strcmp(role, "preset:baseline") == 0 ? "baseline"
                       : strcmp(role, "preset:paper") == 0  ? "paper"
                                                            : "fused";
    kf_config_set_name(&config, "plan", plan);
    kf_config_set_name(&config, "layout", layout);
    kf_config_set_integer(&config, "alpha", alpha);
    kf_measurement measurement;
    fill_measurement(&measurement, time_us, kernels);
    if (time_us <= 0) {
        measurement.state = KF_STATE_WRONG_RESULT;
        (void)snprintf(measurement.reason, sizeof measurement.reason, "wrong");
    }
    if (strcmp(role, "final") == 0 || strcmp(role, "preset:baseline") == 0) fill_counters(&measurement);
    kf_error error = {0};
    kf_user_value reach = {.name = HOSTILE_METRIC, .value = time_us < 500 ? time_us : 1};
    measurement.user_values = &reach;
    measurement.user_value_count = 1;
    if (kf_store_add(store, run, sequence, role, &config, &measurement, &error) != KF_OK)
        fail_msg("%s", error.message);
}

/* The run has 14 results. Its scene's name tries to become a command of gnuplot and of the shell. */
static int make_store(void **state) {
    if (make_scratch(state) != 0) return -1;
    kf_copy_text(store_path, sizeof store_path, in_scratch("plots.db"));
    kf_problem problem = {.seed = 1};
    kf_facts_size(&problem.facts, (const int[3]){96, 48, 48}, "nodes");
    kf_facts_number(&problem.facts, "samples_per_cell", 20, "");
    (void)snprintf(problem.name, sizeof problem.name,
                   "car\"; system('touch %.60s/owned'); `touch owned` <b>&", scratch);
    (void)snprintf(problem.source, sizeof problem.source, "car.obj");
    memset(problem.hash, 'a', KF_HASH_HEX - 1);
    kf_device_info device = {
        .spec = "cpu", .backend = "cpu", .name = "test processor", .identity = "0", .architecture = "x"};
    kf_run_row run = {.objective = "time,max:" HOSTILE_METRIC,
                      .system = "kinetic",
                      .strategy = "random",
                      .budget = "14evals",
                      .seed = 1,
                      .space_json = "{}"};
    memset(run.space_hash, 'b', KF_HASH_HEX - 1);
    kf_store *store;
    kf_error error = {0};
    if (kf_store_open(store_path, false, &store, &error) != KF_OK ||
        kf_store_begin_run(store, &problem, &device, &run, &error) != KF_OK) {
        print_error("%s\n", error.message);
        return -1;
    }
    add(store, &run, 0, "preset:baseline", 1, "aos", 2, 40000, 12);
    add(store, &run, 1, "preset:paper", 2, "csoa", 64, 20000, 8);
    add(store, &run, 2, "preset:default", 4, "soa", 2, 15000, 3);
    add(store, &run, 3, "search", 1, "csoa", 64, 0, 0);
    for (int i = 0; i < 9; i++)
        add(store, &run, 4 + i, "search", 1L << i / 3, "csoa", 16L << i % 3, 14000 - 500 * ((i * 5) % 9), 3);
    add(store, &run, 13, "final", 4, "csoa", 32, 9800, 3);
    const kf_roofs roofs = {.count = 3,
                            .list = {{"fp32_multiply_add", "GFLOP/s", 900, 0.01, 1000},
                                     {"dram_copy_kernel", "GB/s", 80, 0.01, (double)NAN},
                                     {"l2_copy", "GB/s", 300, 0.01, (double)NAN}}};
    if (kf_store_save_roofs(store, &device, &roofs, &error) != KF_OK) return -1;
    kf_facts_free(&problem.facts);
    kf_store_close(store);
    return 0;
}

static kf_store *open_run(kf_run_summary *run) {
    kf_store *store;
    kf_error error = {0};
    if (kf_store_open(store_path, true, &store, &error) != KF_OK) fail_msg("%s", error.message);
    if (kf_plot_find_run(store, NULL, run, &error) != KF_OK) fail_msg("%s", error.message);
    return store;
}

static void test_best_and_presets(void **state) {
    (void)state;
    kf_run_summary run;
    kf_store *store = open_run(&run);
    kf_plot_results results;
    kf_error error;
    assert_int_equal(kf_plot_results_read(store, &run, &results, &error), KF_OK);
    assert_int_equal(results.count, 14);
    assert_false(results.results[3].ok);
    assert_true(fabs(kf_plot_preset(&results, "baseline")->time_us - 40000) < 1e-6);
    assert_true(fabs(kf_plot_best(&results)->time_us - 9800) < 1e-6);
    assert_string_equal(kf_plot_best(&results)->role, "final");
    assert_null(kf_plot_preset(&results, "unheard of"));
    /* Only these two have counters. */
    for (size_t i = 0; i < results.count; i++)
        assert_true(results.results[i].counted == (i == 0 || i == 13));
    assert_ptr_equal(kf_plot_best_counted(&results), kf_plot_best(&results));
    assert_ptr_equal(kf_plot_preset_counted(&results, "baseline"), kf_plot_preset(&results, "baseline"));
    assert_null(kf_plot_preset_counted(&results, "paper"));
    /* The config that the run chose counts, where it is known. */
    results.winner = 2;
    assert_true(fabs(kf_plot_best(&results)->time_us - 15000) < 1e-6);
    assert_true(fabs(kf_plot_best_counted(&results)->time_us - 9800) < 1e-6);
    results.winner = 3; /* is not ok */
    assert_true(fabs(kf_plot_best(&results)->time_us - 9800) < 1e-6);
    kf_plot_results_free(&results);
    kf_store_close(store);
}

static int lines_of(const char *text, const char *block_end) {
    int lines = 0;
    for (; text < block_end && *text; text++)
        lines += *text == '\n';
    return lines;
}

static void check_counted_tables(kf_store *store, const kf_run_summary *run, const kf_plot_results *results) {
    kf_text data = {0};
    kf_error error;
    int blocks = 0;
    kf_plot_roofs roofs;
    assert_int_equal(kf_store_run_roofs(store, run->id, &roofs.measured, &roofs.peak_bandwidth, &error),
                     KF_OK);
    assert_int_equal(roofs.measured.count, 3);
    assert_int_equal(kf_table_roofline(results, &roofs, &data, &blocks, &error), KF_OK);
    assert_int_equal(blocks, 3);
    /* 1e8 bytes in 9800 us / 3 are 30.6 GB/s of 80. The caches are further from their roofs. */
    assert_non_null(strstr(data.text, "stream, 33 % of the step: 38 % of device memory\n"));
    assert_non_null(strstr(data.text, "\n2\t61.2245\t2\t1.99\n"));
    /* There is an arrow between the steps, and one between each two kernels of a name. */
    assert_non_null(strstr(data.text, "\n2\t60\tbaseline\t"));
    assert_non_null(strstr(data.text, "\n2\t61.2245\tbest\t"));
    assert_null(strstr(data.text, "\tpaper\n"));
    const char *arrows = strstr(data.text, "\n2\t60\t0\t1.22449\n");
    assert_non_null(arrows);
    assert_int_equal(lines_of(arrows, strstr(arrows, "\n\n\n")), 1);
    assert_non_null(strstr(data.text, "FP32 multiply-add 900 GFLOP/s (1000 in theory)"));
    kf_text_free(&data);
    roofs.measured.count = 0;
    assert_int_equal(kf_table_roofline(results, &roofs, &data, &blocks, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "kftune roofs"));
    assert_int_equal(kf_table_occupancy(results, &data, &blocks, &error), KF_OK);
    assert_int_equal(blocks, 3); /* baseline, paper, best */
    assert_non_null(strstr(data.text, "\tstream\t40\t50\t0 registers\t33.3\n"));
    kf_text_free(&data);
}

/* Names in a roofline cover no symbol, here with the kernels of a preset at nearly the same point. */
static void test_names_beside_symbols(void **state) {
    (void)state;
    enum { KERNELS = 8 };
    const double half = 6.0;                       /* of a symbol's 12 points */
    static const double width = 783, height = 424; /* of the area, as in plots/table_roofline.c */
    static kf_plot_kernel kernels[KERNELS];
    for (int i = 0; i < KERNELS; i++) {
        const double scale = exp(0.2 * fmod(0.618 * i, 1));
        kernels[i] = (kf_plot_kernel){.time_us = 100,
                                      .launch_us = 100,
                                      .operations = 2e7 * scale,
                                      .double_operations = 0,
                                      .bytes = {4e7, 2e7, 1e7 * exp(2 * fmod(0.414 * i, 1))}};
        (void)snprintf(kernels[i].name, sizeof kernels[i].name, "kernel %d", i);
    }
    static kf_plot_result both[2];
    static const char *const roles[] = {"preset:baseline", "final"};
    for (int r = 0; r < 2; r++) {
        both[r] = (kf_plot_result){.sequence = r, .ok = true, .time_us = 100 * KERNELS, .counted = true};
        both[r].kernels = kernels;
        both[r].kernel_count = KERNELS;
        kf_copy_text(both[r].role, sizeof both[r].role, roles[r]);
        kf_config_set_name(&both[r].config, "plan", roles[r]);
    }
    const kf_plot_results results = {.count = 2, .results = both, .winner = 1};
    kf_plot_roofs roofs = {.peak_bandwidth = 2e11};
    roofs.measured = (kf_roofs){.count = 2,
                                .list = {{"fp32_multiply_add", "GFLOP/s", 900, 0.01, 1000},
                                         {"dram_copy_kernel", "GB/s", 80, 0.01, (double)NAN}}};
    kf_text data = {0};
    kf_error error = {KF_OK, ""};
    int blocks = 0, names = 0;
    if (kf_table_roofline(&results, &roofs, &data, &blocks, &error) != KF_OK) fail_msg("%s", error.message);
    double low[2], high[2];
    assert_int_equal(sscanf(data.text, "%lf %lf %lf %lf", &low[0], &high[0], &low[1], &high[1]), 4);
    for (const char *line = data.text; line != NULL; line = strchr(line, '\n')) {
        double label[2], at[2];
        int kernel = -1;
        line += *line == '\n';
        if (sscanf(line, "%*f %*f %*f 1 kernel %d %lf %lf", &kernel, &label[0], &label[1]) != 3) continue;
        names++;
        for (int a = 0; a < 2; a++)
            label[a] = (a ? height : width) * log(label[a] / low[a]) / log(high[a] / low[a]);
        for (int i = 0; i < KERNELS; i++) {
            const double point[2] = {kernels[i].operations / kernels[i].bytes[2],
                                     1e-3 * kernels[i].operations / kernels[i].launch_us};
            for (int a = 0; a < 2; a++)
                at[a] = (a ? height : width) * log(point[a] / low[a]) / log(high[a] / low[a]);
            if (label[0] < at[0] + half - 0.01 &&
                label[0] + 0.62 * 9 * (double)strlen("kernel 0") > at[0] - half + 0.01 &&
                fabs(label[1] - at[1]) < half + 1.25 * 9 / 2 - 0.01)
                fail_msg("kernel %d lies on the symbol of kernel %d", kernel, i);
        }
    }
    assert_int_equal(names, KERNELS);
    kf_text_free(&data);
}

static void test_tables_have_the_results(void **state) {
    (void)state;
    kf_run_summary run;
    kf_store *store = open_run(&run);
    kf_plot_results results;
    kf_error error;
    assert_int_equal(kf_plot_results_read(store, &run, &results, &error), KF_OK);
    kf_text data = {0};
    kf_time_unit unit;
    int blocks = 0;
    /* There are twelve kernels. Two of them are faces of the boundary, which count together and take the
     * longest. */
    assert_int_equal(kf_table_kernels(&results, &data, &unit, &blocks, &error), KF_OK);
    assert_int_equal(blocks, 3);
    assert_string_equal(unit.name, "ms");
    assert_non_null(strstr(data.text, "1.5\tall kernels\n4.8\tboundary\n"));
    assert_int_equal(lines_of(data.text, strstr(data.text, "\n\n\n")), 11);
    assert_non_null(
        strstr(data.text,
               "\n\nbaseline\n0.5\t40\t100.0\t-1\t-1\t-1\t-1\t-1\n4.3\t6.66667\t16.7\t40\t-1\t25\t-1\t-1\n"));
    assert_non_null(strstr(data.text, "\n\npaper: 2 times as fast\n1.5\t20\t100.0\t-1"));
    assert_non_null(strstr(data.text, "\n\nbest: 4.08 times as fast\n2.5\t9.8\t100.0\t-1"));
    kf_text_free(&data);

    /* The presets have other plans than the search. */
    const char *plan = NULL;
    assert_int_equal(kf_table_surface(&results, &data, &unit, &plan, &error), KF_OK);
    assert_string_equal(plan, "fused");
    assert_non_null(strstr(data.text, "0\t1\n1\t2\n2\t4\n\n\n0\t16\n1\t32\n2\t64\n3\tSoA\n\n\n"));
    assert_null(strstr(data.text, "\t40\n"));
    assert_non_null(strstr(data.text, "2\t1\t9.8\n"));
    kf_text_free(&data);

    /* One cell is no surface. */
    kf_plot_results few = results;
    few.count = 0;
    for (size_t i = 0; i < results.count && few.count == 0; i++)
        if (strcmp(results.results[i].role, "search") == 0 && results.results[i].ok)
            few = (kf_plot_results){.count = 1, .results = &results.results[i]};
    assert_int_equal(few.count, 1);
    assert_int_equal(kf_table_surface(&few, &data, &unit, &plan, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "too few for a surface"));
    kf_text_free(&data);

    assert_int_equal(kf_table_convergence(&results, &data, &unit, &blocks, &error), KF_OK);
    assert_int_equal(blocks, 3);
    const char *second = strstr(data.text, "\n\n\n");
    assert_non_null(second);
    assert_int_equal(lines_of(data.text, second + 1), 13);
    assert_non_null(strstr(second, "4\t15\n"));
    assert_non_null(strstr(second, "14\t9.8\n"));
    kf_text_free(&data);
    check_counted_tables(store, &run, &results);
    kf_plot_results_free(&results);
    kf_store_close(store);
}

/* The plot has median and quartiles of the regret, over evaluations and then over seconds. */
static void test_searches_on_a_landscape(void **state) {
    (void)state;
    static const char text[] =
        "{\"device_name\": \"gpu\", \"kernel_name\": \"k\", \"problem_size\": [1],\n\"tune_params_keys\": "
        "[\"a\"], "
        "\"tune_params\": {\"a\": [1, 2, 3]},\n\"cache\": {\n"
        "\"1\": {\"a\": 1, \"time\": 4, \"compile_time\": 1000, \"benchmark_time\": 500},\n"
        "\"2\": {\"a\": 2, \"time\": 2, \"compile_time\": 1000, \"benchmark_time\": 500},\n"
        "\"3\": {\"a\": 3, \"time\": 3, \"compile_time\": 1000, \"benchmark_time\": 500}}}\n";
    const char *path = in_scratch("landscape.json");
    kf_error error = {KF_OK, ""};
    kf_landscape *landscape = NULL;
    assert_int_equal(kf_file_write_atomic(path, text, strlen(text), NULL), KF_OK);
    if (kf_landscape_open(path, &landscape, &error) != KF_OK) fail_msg("%s", error.message);
    const kf_replay_request request = {
        .landscape = landscape, .strategy = "random", .evaluations = 3, .repeats = 60, .seed = 1};
    kf_replayed replayed = {.landscape = landscape, .names = {"random", "random"}, .count = 2};
    for (int s = 0; s < 2; s++)
        assert_int_equal(kf_replay(&request, &replayed.results[s], &error), KF_OK);
    kf_text data = {0};
    bool seconds = false;
    kf_table_replayed(&replayed, &data, &seconds);
    assert_true(seconds);
    /* A third of the searches begins with each of 0, 50 and 100 %. After two evaluations the worst is 50
     * %, and after all the regret is the least that is drawn. */
    double median = 0.0, low = 0.0, high = 0.0;
    assert_int_equal(sscanf(data.text, "random\n1\t%lf\t%lf\t%lf\n", &median, &low, &high), 3);
    assert_true(median == 50.0 && low == 0.01 && high == 100.0);
    assert_non_null(strstr(data.text, "\n2\t0.01\t0.01\t"));
    assert_non_null(strstr(data.text, "\n3\t0.01\t0.01\t0.01\n\n\nrandom\n1\t"));
    int blocks = 0;
    for (const char *at = data.text; (at = strstr(at, "random\n")) != NULL; at++)
        blocks++;
    assert_int_equal(blocks, 4);
    kf_text_free(&data);
    if (system("command -v gnuplot >/dev/null 2>&1") == 0) {
        char drawn[KF_PATH];
        kf_replay_request once = request; /* so that the two curves differ */
        once.repeats = 1;
        kf_replay_free(&replayed.results[1]);
        assert_int_equal(kf_replay(&once, &replayed.results[1], &error), KF_OK);
        kf_copy_text(drawn, sizeof drawn, in_scratch("drawn"));
        begin_drawn(drawn);
        if (kf_plot_replayed(&replayed, in_scratch("replayed.svg"), &error) != KF_OK)
            fail_msg("%s", error.message);
        end_drawn(drawn, "drawn-replayed.txt");
    }
    for (int s = 0; s < 2; s++)
        kf_replay_free(&replayed.results[s]);
    kf_landscape_free(landscape);
}

/* A kernel that takes less than a hundredth of the step appears only in a sum, and has no efficiencies. */
static void test_short_kernels(void **state) {
    (void)state;
    kf_plot_kernel kernels[3] = {{.time_us = 0}};
    kf_plot_result result = {.ok = true, .time_us = 1000, .kernel_count = 3, .kernels = kernels};
    static const double times[] = {5, 990, 5};
    for (int i = 0; i < 3; i++) {
        (void)snprintf(result.kernels[i].name, sizeof result.kernels[i].name, "kernel_%d", i);
        result.kernels[i].time_us = times[i];
        for (int e = 0; e < KF_PLOT_EFFICIENCIES; e++)
            result.kernels[i].efficiency[e] = 10.0 * e;
    }
    const kf_plot_results results = {.count = 1, .results = &result, .winner = -1};
    kf_text data = {0};
    kf_time_unit unit;
    kf_error error;
    int blocks = 0;
    assert_int_equal(kf_table_kernels(&results, &data, &unit, &blocks, &error), KF_OK);
    assert_non_null(strstr(data.text, "0.5\tall kernels\n2.3\tkernel_1\n4.1\tall others\n"));
    assert_non_null(
        strstr(data.text, "2.3\t990\t99.0\t0\t10\t20\t30\t40\n4.1\t10\t1.0\t-1\t-1\t-1\t-1\t-1\n"));
    kf_text_free(&data);
}

static void check_picture(const char *path, const char *format) {
    char *text;
    size_t size;
    kf_error error;
    assert_int_equal(kf_file_read(path, 0, &text, &size, &error), KF_OK);
    assert_true(size > 2000);
    if (strcmp(format, "pdf") == 0) assert_memory_equal(text, "%PDF-", 5);
    if (strcmp(format, "svg") == 0) {
        assert_non_null(strstr(text, "</svg>"));
        assert_non_null(strstr(text, "test processor"));
        assert_null(strstr(text, "<b>"));
    }
    if (strcmp(format, "png") == 0) {
        png_image image = {.version = PNG_IMAGE_VERSION};
        assert_true(png_image_begin_read_from_memory(&image, text, size));
        assert_true(image.width >= 900);
        png_image_free(&image);
    }
    free(text);
}

static void test_every_kind_and_format(void **state) {
    (void)state;
    static const char *const formats[] = {"svg", "png", "pdf"};
    kf_run_summary run;
    kf_store *store = open_run(&run);
    for (int kind = 0; kind < KF_PLOTS; kind++) {
        for (size_t f = 0; f < 3; f++) {
            char name[64];
            (void)snprintf(name, sizeof name, "%s.%s", kf_plot_names[kind], formats[f]);
            kf_error error = {0};
            kf_status status = kf_plot_write((kf_plot_kind)kind, store, &run, in_scratch(name), &error);
            if (status == KF_MACHINE && strstr(error.message, "not installed")) skip();
            if (status != KF_OK) fail_msg("%s: %s", name, error.message);
            check_picture(in_scratch(name), formats[f]);
        }
    }
    kf_store_close(store);
    assert_int_not_equal(access(in_scratch("owned"), F_OK), 0);
    assert_int_not_equal(access("owned", F_OK), 0);
}

static void test_impossible_plots_are_refused(void **state) {
    (void)state;
    kf_run_summary run;
    kf_store *store = open_run(&run);
    kf_error error;
    assert_int_equal(kf_plot_find_run(store, "1", &run, &error), KF_OK);
    assert_int_equal(kf_plot_find_run(store, run.uuid, &run, &error), KF_OK);
    assert_int_equal(kf_plot_find_run(store, "77", &run, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "no run '77'"));
    assert_int_equal(kf_plot_write(KF_PLOT_KERNELS, store, &run, in_scratch("plot.txt"), &error),
                     KF_BAD_INPUT);
    assert_int_not_equal(access(in_scratch("plot.txt"), F_OK), 0);
    assert_int_equal(kf_plot_write(KF_PLOT_KERNELS, store, &run, "/nonexistent/plot.svg", &error),
                     KF_BAD_INPUT);
    kf_store_close(store);
}

static void test_missing_gnuplot(void **state) {
    (void)state;
    char *path = kf_duplicate(getenv("PATH"));
    assert_int_equal(setenv("PATH", "/nonexistent", 1), 0);
    kf_run_summary run;
    kf_store *store = open_run(&run);
    kf_error error;
    assert_int_equal(kf_plot_write(KF_PLOT_SURFACE, store, &run, in_scratch("none.svg"), &error), KF_MACHINE);
    assert_non_null(strstr(error.message, "gnuplot-nox"));
    assert_int_not_equal(access(in_scratch("none.svg"), F_OK), 0);
    kf_store_close(store);
    assert_int_equal(setenv("PATH", path, 1), 0);
    free(path);
}

static void test_fields_are_harmless(void **state) {
    (void)state;
    kf_text data = {0};
    kf_gnuplot_field(&data, "a\tb\nc\"d'e\\f`g#h|i<j>k&l plain 1.5x");
    assert_string_equal(data.text, "a_b_c_d_e_f_g_h_i_j_k_l plain 1.5x");
    kf_text_free(&data);
}

/* Appends characters of a word in which neighbours differ, of one or two bytes each. */
static void append_letters(kf_text *text, bool wide, int from, int end) {
    for (int i = from; i < end; i++)
        if (wide)
            kf_text_append(text, "\xc3%c", 0xa0 + i % 23);
        else
            kf_text_append(text, "%c", 'a' + i % 23);
}

/* A heading keeps words of up to 48 characters as they are. Of a longer word it keeps the first 33 and the
 * last 12 characters, whatever bytes they have, and the words around it. */
static void test_headings_of_long_names(void **state) {
    (void)state;
    static const int counts[] = {48, 49, 200};
    for (int c = 0; c < 6; c++) {
        const bool wide = c % 2 == 1;
        const int count = counts[c / 2];
        kf_text text = {0}, heading = {0}, expected = {0};
        kf_text_append(&text, "of ");
        append_letters(&text, wide, 0, count);
        kf_text_append(&text, " 24x24  nodes, on a <GPU");
        kf_gnuplot_heading(&heading, text.text);
        kf_text_append(&expected, "of ");
        append_letters(&expected, wide, 0, count == 48 ? 36 : 33);
        kf_text_append(&expected, "%s", count == 48 ? "" : "...");
        append_letters(&expected, wide, count - 12, count);
        kf_text_append(&expected, " 24x24  nodes, on a _GPU");
        assert_string_equal(heading.text, expected.text);
        kf_text_free(&text);
        kf_text_free(&heading);
        kf_text_free(&expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_and_presets),
        cmocka_unit_test(test_names_beside_symbols),
        cmocka_unit_test(test_tables_have_the_results),
        cmocka_unit_test(test_searches_on_a_landscape),
        cmocka_unit_test(test_short_kernels),
        cmocka_unit_test(test_every_kind_and_format),
        cmocka_unit_test(test_impossible_plots_are_refused),
        cmocka_unit_test(test_missing_gnuplot),
        cmocka_unit_test(test_fields_are_harmless),
        cmocka_unit_test(test_headings_of_long_names),
    };
    return cmocka_run_group_tests(tests, make_store, remove_scratch);
}
