/* Tests which of several results a plot shows, against the whole text of its table. Faults: the wrong
 * result of a cell, plan, moment or kernel; one of several times in another unit than the others. */
#include <sys/stat.h>

#include "plots/history.h"
#include "plots/plot.h"
#include "plots/tables.h"
#include "tests/unit/night_fixture.h"

enum { MOST = 12 };
typedef struct few {
    kf_plot_results results;
    kf_plot_result list[MOST];
} few;

static kf_plot_result *put(few *f, const char *role, const char *plan, long length, const char *layout,
                           double us) {
    const int sequence = (int)f->results.count;
    kf_plot_result *r = &f->list[f->results.count++];
    *r = (kf_plot_result){.sequence = sequence, .ok = us > 0, .time_us = us, .config = {.system = "kinetic"}};
    kf_copy_text(r->role, sizeof r->role, role);
    kf_config_set_name(&r->config, "plan", plan);
    kf_config_set_integer(&r->config, "sample_block_length", length);
    kf_config_set_name(&r->config, "layout", layout);
    f->results.results = f->list;
    f->results.winner = -1;
    return r;
}

static void assert_text(kf_text *data, const char *expected) {
    assert_string_equal(data->text, expected);
    kf_text_free(data);
}

/* A cell shows its least time, wherever it comes. The plan is the one with most results, and of two with
 * equally many the first. What did not work has no cell. */
static void a_surface_has_the_best_of_the_most_measured_plan(void **state) {
    (void)state;
    few f = {.results = {0}};
    kf_text data = {0};
    kf_time_unit unit;
    const char *plan = NULL;
    kf_error error = {0};
    put(&f, "search", "paper", 1, "aos", 900);
    put(&f, "search", "fused", 1, "aos", 300);
    put(&f, "search", "fused", 1, "aos", 200);
    put(&f, "search", "fused", 1, "aos", 250);
    put(&f, "search", "fused", 2, "soa", 100);
    put(&f, "search", "fused", 4, "soa", 0);
    put(&f, "search", "fused", 2, "aos", 400);
    put(&f, "search", "paper", 2, "aos", 50);
    assert_int_equal(kf_table_surface(&f.results, &data, &unit, &plan, &error), KF_OK);
    assert_string_equal(plan, "fused");
    assert_text(&data, "0\t1\n1\t2\n\n\n0\tAoS\n1\tSoA\n\n\n0\t0\t200\n1\t0\t400\n1\t1\t100\n");
    few even = {.results = {0}};
    for (int i = 0; i < 8; i++)
        put(&even, "search", i % 2 == 0 ? "fused" : "paper", 1 + i / 4, i / 2 % 2 == 0 ? "aos" : "soa",
            10.0 + i);
    assert_int_equal(kf_table_surface(&even.results, &data, &unit, &plan, &error), KF_OK);
    assert_string_equal(plan, "fused");
    kf_text_free(&data);
}

/* Each result that works has a line, and so has the best so far, also where the last one is slower. A
 * preset's line is as long as the search. */
static void convergence_is_of_the_best_so_far(void **state) {
    (void)state;
    few f = {.results = {0}};
    kf_text data = {0};
    kf_time_unit unit;
    int blocks = 0;
    kf_error error = {0};
    put(&f, "preset:paper", "paper", 1, "aos", 0);
    put(&f, "preset:default", "fused", 1, "aos", 300);
    put(&f, "search", "fused", 2, "aos", 500);
    put(&f, "search", "fused", 3, "aos", 200);
    put(&f, "search", "fused", 4, "aos", 0);
    put(&f, "search", "fused", 5, "aos", 250);
    assert_int_equal(kf_table_convergence(&f.results, &data, &unit, &blocks, &error), KF_OK);
    assert_int_equal(blocks, 1);
    assert_text(&data, "2\t300\n3\t500\n4\t200\n6\t250\n\n\n2\t300\n3\t300\n4\t200\n5\t200\n6\t200\n"
                       "\n\ndefault\n1\t300\n6\t300\n");
}

static kf_plot_kernel kernel(const char *name, double us, double occupancy) {
    kf_plot_kernel k = {
        .time_us = us, .registers = 32, .theoretical_occupancy = occupancy, .achieved_occupancy = NAN};
    kf_copy_text(k.name, sizeof k.name, name);
    return k;
}

/* Presets with equal configs are shown once, and so is one that is the best. Of the best config the
 * measurement with counters is shown, even if another of it, or another config, was faster. */
static void occupancy_is_of_each_config_once(void **state) {
    (void)state;
    for (int same = 0; same < 3; same++) {
        few f = {.results = {0}};
        kf_text data = {0};
        int blocks = 0;
        kf_error error = {0};
        kf_plot_kernel of[4];
        put(&f, "preset:baseline", "separate", 1, "aos", 400);
        put(&f, "preset:paper", same == 1 ? "separate" : same == 2 ? "fused" : "paper", 1, "aos", 300);
        put(&f, "search", "fused", 1, "aos", 110)->counted = true;
        put(&f, "final", "fused", 1, "aos", 100);
        for (int i = 0; i < 4; i++) {
            static const char *const names[] = {"of_baseline", "of_paper", "of_search", "of_final"};
            of[i] = kernel(names[i], 10, 0.5);
            f.list[i].kernels = &of[i];
            f.list[i].kernel_count = 1;
        }
        assert_int_equal(kf_table_occupancy(&f.results, &data, &blocks, &error), KF_OK);
        static const char *const texts[] = {
            "baseline\n0\tof_baseline\t-1\t50\t32 registers\t100\n\n\npaper\n2\tof_paper\t-1\t50\t32 "
            "registers\t100\n"
            "\n\nbest\n4\tof_search\t-1\t50\t32 registers\t100\n",
            "baseline\n0\tof_baseline\t-1\t50\t32 registers\t100\n\n\nbest\n2\tof_search\t-1\t50\t32 "
            "registers\t100\n",
            "baseline\n0\tof_baseline\t-1\t50\t32 registers\t100\n\n\nbest\n2\tof_search\t-1\t50\t32 "
            "registers\t100\n"};
        assert_int_equal(blocks, same == 0 ? 3 : 2);
        assert_text(&data, texts[same]);
    }
}

/* Blocks of time and energy have the results of which both are known, then those of the front, and then
 * the chosen one, if its energy is known. The last measurement of a config counts. */
static void a_front_is_of_what_is_known(void **state) {
    (void)state;
    static const double joules[] = {3, 1, 4, 2, NAN, 2.5};
    static const double times[] = {100, 300, 350, 200, 50, 210};
    for (int winner = 0; winner < 2; winner++) {
        few f = {.results = {0}};
        kf_text data = {0}, axes[2] = {{0}, {0}};
        kf_error error = {0};
        for (int i = 0; i < 6; i++) {
            kf_plot_result *r =
                put(&f, i == 5 ? "final" : "search", "fused", i == 5 ? 3 : i, "aos", times[i]);
            r->goals[0] = r->costs[0] = times[i];
            r->goals[1] = r->costs[1] = joules[i];
        }
        kf_objective_of_text("time,energy", &f.results.objective);
        f.results.winner = winner == 0 ? 0 : 4;
        assert_int_equal(kf_table_front(&f.results, &data, axes, &error), KF_OK);
        assert_text(&data,
                    winner == 0
                        ? "100\t3\n210\t2.5\n300\t1\n350\t4\n\n\n100\t3\n210\t2.5\n300\t1\n\n\n100\t3\n"
                        : "100\t3\n210\t2.5\n300\t1\n350\t4\n\n\n100\t3\n210\t2.5\n300\t1\n\n\n");
        kf_text_free(&axes[0]);
        kf_text_free(&axes[1]);
    }
}

/* Launches of one kernel at several places of a step count together, each as often as it is launched. */
static void kernels_of_one_name_add_up(void **state) {
    (void)state;
    char path[KF_PATH];
    kf_run_row run;
    kf_run_summary summary;
    kf_plot_results results;
    kf_config config;
    kf_error error = {0};
    kf_measurement *m = kf_allocate(sizeof *m);
    fixture_path(path, "kernels.db");
    kf_store *store = fixture_open(path);
    fixture_begin(store, &run);
    fixture_config(&config, 1);
    fixture_measurement(m, 100, 15);
    kf_kernel_time *third = kf_measurement_add_kernel(m);
    *third = m->kernels[1];
    kf_copy_text(third->name, sizeof third->name, "stream");
    m->kernels[0].launches_per_step = 2;
    m->kernels[1].launches_per_step = 1;
    third->launches_per_step = 0.5;
    const double one = m->step_us.median;
    assert_int_equal(kf_store_add(store, &run, 0, "search", &config, m, &error), KF_OK);
    assert_int_equal(kf_store_find_run(store, NULL, &summary, &error), KF_OK);
    assert_int_equal(kf_plot_results_read(store, &summary, &results, &error), KF_OK);
    assert_int_equal(results.results[0].kernel_count, 2);
    assert_string_equal(results.results[0].kernels[0].name, "stream");
    assert_true(fabs(results.results[0].kernels[0].time_us / (2.5 * one) - 1.0) < 1e-6);
    assert_true(fabs(results.results[0].kernels[1].time_us / one - 1.0) < 1e-6);
    kf_plot_results_free(&results);
    kf_measurement_free(m);
    free(m);
    kf_store_close(store);
}

/* ---- Times a thousand times as long ---- */

/* The tables of one run whose times are so many times as long, after each other. */
static char *tables_of(double longer, const char *unit_name) {
    few f = {.results = {0}};
    kf_text all = {0}, data = {0};
    kf_time_unit unit;
    const char *plan = NULL;
    int blocks = 0;
    kf_error error = {0};
    kf_plot_kernel of[6];
    for (int i = 0; i < 6; i++) {
        const char *const role = i == 0 ? "preset:baseline" : i == 1 ? "preset:default" : "search";
        put(&f, role, "fused", 1 + i / 2, i % 2 == 0 ? "aos" : "soa", longer * (900 - 123.4 * i));
        of[i] = kernel("stream", longer * (500 - 101.5 * i), 0.5);
        f.list[i].kernels = &of[i];
        f.list[i].kernel_count = 1;
    }
    for (int table = 0; table < 3; table++) {
        const kf_status status = table == 0 ? kf_table_surface(&f.results, &data, &unit, &plan, &error)
                                 : table == 1
                                     ? kf_table_convergence(&f.results, &data, &unit, &blocks, &error)
                                     : kf_table_kernels(&f.results, &data, &unit, &blocks, &error);
        if (status != KF_OK) fail_msg("%s", error.message);
        assert_string_equal(unit.name, unit_name);
        kf_text_append(&all, "%s\n\n", data.text);
        kf_text_free(&data);
    }
    return all.text;
}

/* Nights whose times are so many times as long, as they reach gnuplot, with their unit at the end. All but
 * the second counted instructions, twice their number, and other things that are not drawn. */
static char *history_of(const char *name, double longer) {
    char path[KF_PATH], drawn[KF_PATH], *text = NULL;
    size_t size = 0;
    uint64_t seed = 1;
    kf_error error = {0};
    fixture_path(path, name);
    fixture_path(drawn, "history.svg");
    kf_store *store = fixture_open(path);
    for (int i = 0; i < 12; i++)
        (void)fixture_whole_night(store, "b", "1", longer * (i < 6 ? 100 : 130), KF_SAME, &seed);
    assert_int_equal(
        sqlite3_exec(store->database,
                     "INSERT INTO counter SELECT result, -1, 'instructions_perf_event', 2 * night, 1, '1' "
                     "FROM nightly "
                     "WHERE night <> 2; INSERT INTO counter SELECT result, 0, 'instructions_perf_event', 7, "
                     "1, '1' FROM "
                     "nightly; INSERT INTO counter SELECT result, -1, 'other', 9, 1, '1' FROM nightly",
                     NULL, NULL, NULL),
        SQLITE_OK);
    if (kf_plot_history(store, "b", drawn, &error) != KF_OK) fail_msg("%s", error.message);
    kf_store_close(store);
    assert_int_equal(kf_file_read(drawn, 0, &text, &size, &error), KF_OK);
    return text;
}

/* Times a thousand times as long are the same numbers in the next unit, wherever a plot has times. */
static void longer_times_have_another_unit(void **state) {
    (void)state;
    static const char gnuplot[] =
        "#!/bin/sh\npicture=$5; { cat \"$4\"; shift 8; echo \"$1\"; } >\"$picture\"\n";
    char *us = tables_of(1.0, "us"), *ms = tables_of(1000.0, "ms");
    assert_string_equal(us, ms);
    free(us);
    free(ms);
    char path[KF_PATH], words[2 * KF_PATH], *before = kf_duplicate(getenv("PATH"));
    fixture_path(path, "gnuplot");
    assert_int_equal(kf_file_write_atomic(path, gnuplot, strlen(gnuplot), NULL), KF_OK);
    assert_int_equal(chmod(path, 0755), 0);
    *strrchr(path, '/') = '\0';
    (void)snprintf(words, sizeof words, "%s:%s", path, before);
    assert_int_equal(setenv("PATH", words, 1), 0);
    us = history_of("us.db", 1.0), ms = history_of("ms.db", 1000.0);
    assert_int_equal(setenv("PATH", before, 1), 0);
    free(before);
    char *us_unit = strstr(us, "\nus\n"), *ms_unit = strstr(ms, "\nms\n");
    assert_true(us_unit != NULL && ms_unit != NULL);
    *us_unit = *ms_unit = '\0';
    assert_string_equal(us, ms);
    const char *counted = "\n\n\n1\t2\n3\t6\n4\t8\n5\t10\n6\t12\n7\t14\n8\t16\n9\t18\n10\t20\n11\t22\n12\t24";
    if (strlen(us) < strlen(counted) || strcmp(us + strlen(us) - strlen(counted), counted) != 0)
        fail_msg("%s", us);
    free(us);
    free(ms);
}

/* A number names a run, whatever UUIDs begin with it; four or more characters also name one by its UUID, and
 * a whole UUID always. Without a name it is the newest finished run that has a result. */
static void which_run_is_drawn(void **state) {
    (void)state;
    kf_store *store = fixture_open_new("drawn.db");
    kf_error error = {0};
    for (int i = 0; i < 4; i++) {
        kf_run_row run;
        fixture_begin(store, &run);
        if (i < 3) assert_int_equal(fixture_add(store, &run, 0, 100, &error), KF_OK);
        assert_int_equal(kf_store_end_run(store, &run, i == 2 ? "interrupted" : "finished", &error), KF_OK);
    }
    fixture_change(store, "UPDATE run SET uuid = '1234abcd' || substr(uuid, 9) WHERE id = 2;"
                          "UPDATE run SET uuid = '1234abce' || substr(uuid, 9) WHERE id = 3;"
                          "UPDATE run SET uuid = '43210000' || substr(uuid, 9) WHERE id IN (1, 4);"
                          "UPDATE run SET id = 1234 WHERE id = 4");
    static const struct {
        const char *name;
        int64_t id; /* 0: it is refused */
    } cases[] = {{NULL, 2},       {"1", 1},         {"3", 3},         {"1234", 1234}, {"1234abc", 0},
                 {"1234abcd", 2}, {"1234abce-", 3}, {"43210000-", 0}, {"4", 0},       {"432", 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kf_run_summary found = {.id = -1};
        const kf_status status = kf_plot_find_run(store, cases[c].name, &found, &error);
        if (status != (cases[c].id > 0 ? KF_OK : KF_BAD_INPUT) ||
            (cases[c].id > 0 && found.id != cases[c].id))
            fail_msg("case %zu: status %d, run %d: %s", c, (int)status, (int)found.id, error.message);
    }
    kf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_run_is_drawn),
        cmocka_unit_test(longer_times_have_another_unit),
        cmocka_unit_test(a_surface_has_the_best_of_the_most_measured_plan),
        cmocka_unit_test(convergence_is_of_the_best_so_far),
        cmocka_unit_test(occupancy_is_of_each_config_once),
        cmocka_unit_test(a_front_is_of_what_is_known),
        cmocka_unit_test(kernels_of_one_name_add_up),
    };
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
