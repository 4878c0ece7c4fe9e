/* Tests the report and the plot of history from a store as bad as possible. Faults: text that becomes
 * markup, a file from outside, a missing part. */
#include "tests/unit/night_fixture.h"

#include "base/util/memory.h"
#include "plots/history.h"
#include "plots/report/html.h"
#include "plots/report/report.h"
#include "tests/unit/check.h"

static const char evil[] = "<script>alert(1)</script>\"'&\x01\xff</td>";

static bool have_gnuplot(void) {
    return system("command -v gnuplot >/dev/null 2>&1") == 0;
}

static void test_hostile_texts_are_escaped(void **state) {
    (void)state;
    kf_text page = {0};
    kf_html_text(&page, evil);
    assert_null(strchr(page.text, '<'));
    assert_null(strchr(page.text, '"'));
    assert_null(strchr(page.text, '\''));
    assert_non_null(strstr(page.text, "&#60;script&#62;"));
    assert_non_null(strstr(page.text, "\xef\xbf\xbd"));
    kf_text_free(&page);
    kf_html_text(&page, "\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    assert_string_equal(page.text, "\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    kf_text_free(&page);
    kf_html_text(&page, "\xc3"); /* cut off */
    assert_string_equal(page.text, "\xef\xbf\xbd");
    kf_text_free(&page);
    /* A name of a megabyte does not make a page of a megabyte. It is cut between two letters. */
    enum { LETTERS = 500000, LONGEST = 4096 };
    char *name = kf_allocate(2 * LETTERS + 1);
    for (size_t i = 0; i < LETTERS; i++)
        memcpy(name + 2 * i, "\xc3\xa9", 2);
    name[2 * LETTERS] = '\0';
    kf_html_text(&page, name);
    assert_int_equal(page.length, LONGEST + 3);
    assert_string_equal(page.text + LONGEST - 2, "\xc3\xa9\xe2\x80\xa6");
    kf_text_free(&page);
    free(name);
}

static void test_pictures_are_in_base64(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", "base64,\""}, {"f", "Zg==\""}, {"fo", "Zm8=\""}, {"foo", "Zm9v\""}, {"foobar", "Zm9vYmFy\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_text page = {0};
        kf_html_image(&page, "image/png", cases[i][0], strlen(cases[i][0]), "x");
        assert_non_null(strstr(page.text, cases[i][1]));
        kf_text_free(&page);
    }
    /* The data are long enough for several blocks. */
    char *bytes = kf_allocate_zeroed(10000, 1);
    kf_text page = {0};
    kf_html_image(&page, "image/png", bytes, 10000, "x");
    assert_int_equal(strlen(strstr(page.text, "base64,") + 7), 13336 + 3); /* and the end of the element */
    free(bytes);
    kf_text_free(&page);
}

/* Values of counters, and how the report writes them. */
static const struct {
    double value;
    const char *shown;
} counted[] = {{2.5e12, "2.5 T"},  {3.634e9, "3.634 G"}, {4.5e6, "4.5 M"},
               {12340, "12.34 k"}, {9876.5, "9876"},     {0.0125, "0.0125"}};

/* Every text that a store can hold is hostile here. */
static void fill(kf_store *store) {
    kf_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_device_info device;
    kf_run_row run;
    kf_error error = {0};
    fixture_problem(problem, "beetle");
    kf_copy_text(problem->name, sizeof problem->name, evil);
    kf_copy_text(problem->source, sizeof problem->source, evil);
    fixture_device(&device);
    kf_copy_text(device.name, sizeof device.name, evil);
    fixture_run(&run);
    kf_copy_text(run.strategy, sizeof run.strategy, "<b>random");
    if (kf_store_begin_run(store, problem, &device, &run, &error) != KF_OK) fail_msg("%s", error.message);
    kf_problem_free(problem);
    for (int i = 0; i < 6; i++) {
        kf_config config;
        kf_measurement *m = kf_allocate(sizeof *m);
        fixture_config(&config, i);
        kf_config_set_name(&config, "note", "<i>note&");
        fixture_measurement(m, 100.0 + i, 15);
        kf_copy_text(m->kernels[0].name, sizeof m->kernels[0].name, "<img/src=x>");
        m->kernels[0].launches_per_step = 3;
        m->kernels[1].launches_per_step = 1;
        m->kernels[1].registers = m->kernels[1].spill_bytes = 0; /* as on a cpu */
        if (i == 5) {
            kf_measurement_free(m);
            fixture_failure(m, KF_STATE_CRASH, evil);
        }
        static const char *const roles[] = {"preset:default", "preset:baseline", "preset:paper",
                                            "search",         "search",          "search"};
        if (kf_store_add(store, &run, i, roles[i], &config, m, &error) != KF_OK)
            fail_msg("%s", error.message);
        if (i < 5) {
            m->counters = kf_allocate_zeroed(sizeof counted / sizeof *counted, sizeof *m->counters);
            for (size_t c = 0; c < sizeof counted / sizeof *counted; c++) {
                kf_counter *counter = &m->counters[m->counter_count++];
                kf_copy_text(counter->kernel, sizeof counter->kernel, m->kernels[1].name);
                (void)snprintf(counter->metric, sizeof counter->metric, "counted_%zu", c);
                counter->value = counted[c].value;
                counter->passes = 1;
            }
            assert_int_equal(kf_store_add_counters(store, &run, i, m, &error), KF_OK);
        }
        kf_measurement_free(m);
        free(m);
    }
    assert_int_equal(kf_store_end_run(store, &run, "finished", &error), KF_OK);
    uint64_t seed = 3;
    int64_t night = 0;
    for (int i = 0; i < 40; i++) {
        char program[64];
        (void)snprintf(program, sizeof program, "<b>commit %d", i);
        double time = i < 25 ? 1234.0 : i < 33 ? 1272.0 : 1215.0;
        kf_verdict_state verdict = i == 0    ? KF_NODATA
                                   : i == 25 ? KF_SLOW
                                   : i == 33 ? KF_FAST
                                   : i == 12 ? KF_AMBIGUOUS
                                   : i == 39 ? KF_DRIFT
                                             : KF_SAME;
        night = fixture_whole_night(store, "ball/<best>", program, time, verdict, &seed);
        int count = 0;
        if (i == 5) assert_int_equal(kf_store_pin(store, night, &count, &error), KF_OK);
    }
}

static void make_report(const char *name, char path[KF_PATH]) {
    char store_path[KF_PATH];
    kf_error error = {0};
    fixture_path(store_path, name);
    fixture_path(path, "report.html");
    kf_store *store = fixture_open(store_path);
    fill(store);
    if (kf_report_write(store, NULL, path, &error) != KF_OK) fail_msg("%s", error.message);
    kf_store_close(store);
}

static void test_a_report_loads_nothing(void **state) {
    (void)state;
    char path[KF_PATH];
    make_report("report.db", path);
    char *page = text_of_file(path);
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "<img/src"));
    assert_null(strstr(page, "<i>note"));
    assert_null(strstr(page, "<b>commit"));
    assert_null(strstr(page, "<b>random"));
    /* The page contains nothing from other hosts, and no way to load it. */
    assert_null(strstr(page, "http://"));
    assert_null(strstr(page, "https://"));
    assert_null(strstr(page, "url("));
    assert_non_null(strstr(page, "default-src 'none'"));
    static const char *const parts[] = {
        "id=\"best\"",         "id=\"scene\"",     "id=\"kernels\"", "id=\"plots\"", "id=\"results\"",
        "id=\"environment\"",  "id=\"reproduce\"", "id=\"nights\"",  "id=\"runs\"",  "faster than baseline",
        "ball/&#60;best&#62;", "stream_collide",   "@media print",   "viewport",     ">FAST<"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(page, parts[i]) == NULL) fail_msg("the report lacks %s", parts[i]);
    /* A launch of both kernels takes the same time, but one is launched three times per step. */
    const char *share = strstr(page, "<td class=\"s\">75.0 %");
    assert_non_null(share);
    share = strstr(share, "<td class=\"s\">25.0 %");
    assert_non_null(share);
    assert_non_null(strstr(share, "<td class=\"n\">–</td><td class=\"n\">–</td>"));
    const char *at = page;
    for (size_t c = 0; c < sizeof counted / sizeof *counted; c++) {
        char cell[64];
        (void)snprintf(cell, sizeof cell, "<td class=\"n\">%s</td>", counted[c].shown);
        at = strstr(at, cell);
        if (at == NULL) fail_msg("the report lacks %s, or it is not in its place", counted[c].shown);
    }
    if (have_gnuplot()) assert_non_null(strstr(page, "data:image/svg+xml;base64,"));
    free(page);
    const char *keep = getenv("KFTUNE_KEEP_REPORT"); /* to be looked at */
    if (keep != NULL) {
        char command[2 * KF_PATH + 16];
        (void)snprintf(command, sizeof command, "cp '%s' '%s'", path, keep);
        assert_int_equal(system(command), 0);
    }
}

static void test_report_without_content(void **state) {
    (void)state;
    char path[KF_PATH], out[KF_PATH];
    kf_error error = {0};
    fixture_path(path, "empty.db");
    fixture_path(out, "empty.html");
    kf_store *store = fixture_open(path);
    assert_int_equal(kf_report_write(store, NULL, out, &error), KF_BAD_INPUT);
    assert_int_equal(access(out, F_OK), -1);
    assert_int_equal(kf_report_write(store, "7", out, &error), KF_BAD_INPUT);
    kf_store_close(store);
}

/* A run with failures only has no best config. Asked for by name it is still shown. */
static void test_report_of_failures(void **state) {
    (void)state;
    char path[KF_PATH], out[KF_PATH];
    kf_error error = {0};
    kf_run_row run;
    kf_config config;
    kf_measurement *m = kf_allocate(sizeof *m);
    fixture_path(path, "failures.db");
    fixture_path(out, "failures.html");
    kf_store *store = fixture_open(path);
    fixture_begin(store, &run);
    fixture_config(&config, 1);
    fixture_failure(m, KF_STATE_TIMEOUT, "ended after 60 s");
    assert_int_equal(kf_store_add(store, &run, 0, "search", &config, m, &error), KF_OK);
    free(m);
    if (kf_report_write(store, "1", out, &error) != KF_OK) fail_msg("%s", error.message);
    char *page = text_of_file(out);
    assert_non_null(strstr(page, "<h2 id=\"best\">Best config</h2>\n<p>No config of this run is ok.</p>\n"));
    assert_non_null(strstr(page, "<p>1 timeout. The fastest:</p>"));
    assert_null(strstr(page, "Kernels of the best config"));
    free(page);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_int_equal(kf_store_export_github(store, run.id, stream, &error),
                     KF_OK); /* a failure has no time */
    assert_int_equal(fclose(stream), 0);
    assert_string_equal(text, "[]\n");
    free(text);
    kf_store_close(store);
}

/* Cards show a bandwidth and a rate of any size with three digits or more, and none that is not known. */
static void test_cards_of_any_size(void **state) {
    (void)state;
    static const struct {
        double bandwidth, rate;
        const char *bandwidth_shown, *rate_shown;
    } cases[] = {{(double)NAN, 0.0456, NULL, "0.0456"},
                 {0.0, 9.97, NULL, "9.97"},
                 {4.56e9, 45.6, "4.56 GB/s", "45.6"},
                 {9.97e10, 99.7, "99.7 GB/s", "99.7"},
                 {1.003e11, 100.3, "100 GB/s", "<b>100</b>"},
                 {3.3396e12, 16621.4, "3340 GB/s", "16621"},
                 {1.2345e14, 1234567.8, "123450 GB/s", "1234568"}};
    char store_path[KF_PATH], out[KF_PATH], *path = kf_duplicate(getenv("PATH"));
    kf_error error = {0};
    fixture_path(store_path, "cards.db");
    fixture_path(out, "cards.html");
    kf_store *store = fixture_open(store_path);
    assert_int_equal(setenv("PATH", "/nonexistent", 1), 0); /* no pictures */
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kf_run_row run;
        kf_config config;
        kf_measurement *m = kf_allocate(sizeof *m);
        char id[16], expected[64];
        fixture_begin(store, &run);
        fixture_config(&config, 1);
        fixture_measurement(m, 100.0, 15);
        m->effective_bandwidth = cases[c].bandwidth;
        m->updates_per_us = cases[c].rate;
        assert_int_equal(kf_store_add(store, &run, 0, "search", &config, m, &error), KF_OK);
        kf_measurement_free(m);
        free(m);
        (void)snprintf(id, sizeof id, "%d", (int)run.id);
        if (kf_report_write(store, id, out, &error) != KF_OK) fail_msg("%s", error.message);
        char *page = text_of_file(out);
        (void)snprintf(expected, sizeof expected, "<li>effective bandwidth<b>%s</b>",
                       cases[c].bandwidth_shown);
        if ((strstr(page, "<li>effective bandwidth") != NULL) != (cases[c].bandwidth_shown != NULL) ||
            (cases[c].bandwidth_shown != NULL && strstr(page, expected) == NULL) ||
            strstr(page, cases[c].rate_shown) == NULL)
            fail_msg("case %zu: not %s, %s", c, expected, cases[c].rate_shown);
        free(page);
    }
    kf_store_close(store);
    assert_int_equal(setenv("PATH", path, 1), 0);
    free(path);
}

/* The histories of 24 benchmarks are drawn, and a report says how many more exist. */
static void test_many_benchmarks(void **state) {
    (void)state;
    char path[KF_PATH], out[KF_PATH];
    kf_error error = {0};
    fixture_path(path, "many.db");
    fixture_path(out, "many.html");
    kf_store *store = fixture_open(path);
    uint64_t seed = 5;
    for (int i = 0; i < 26; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "benchmark number %d", i);
        (void)fixture_whole_night(store, name, "0", 100, KF_NODATA, &seed);
        if (i != 23 && i != 25) continue;
        if (kf_report_write(store, NULL, out, &error) != KF_OK) fail_msg("%s", error.message);
        char *page = text_of_file(out), *more = strstr(page, " more; 'kftune plot history");
        if (i == 23)
            assert_null(more);
        else
            assert_memory_equal(more - strlen("<p>2"), "<p>2", strlen("<p>2"));
        free(page);
    }
    kf_store_close(store);
}

static void test_history_plot(void **state) {
    (void)state;
    if (!have_gnuplot()) skip();
    char path[KF_PATH], out[KF_PATH];
    kf_error error = {0};
    fixture_path(path, "history.db");
    fixture_path(out, "history.svg");
    kf_store *store = fixture_open(path);
    assert_int_equal(kf_plot_history(store, NULL, out, &error), KF_BAD_INPUT);
    uint64_t seed = 1;
    (void)fixture_whole_night(store, "b", "0", 100, KF_NODATA, &seed);
    assert_int_equal(kf_plot_history(store, "b", out, &error), KF_BAD_INPUT);
    for (int i = 1; i < 30; i++)
        (void)fixture_whole_night(store, "b", "1", i < 20 ? 100 : 105, i == 20 ? KF_SLOW : KF_SAME, &seed);
    assert_int_equal(kf_plot_history(store, "other", out, &error), KF_BAD_INPUT);
    if (kf_plot_history(store, NULL, out, &error) != KF_OK) fail_msg("%s", error.message);
    char *picture = text_of_file(out);
    assert_non_null(strstr(picture, "+5.")); /* the change point's label */
    assert_non_null(strstr(picture, "SLOW"));
    assert_null(strstr(picture, "DRIFT"));
    free(picture);
    /* The latest of two series is drawn. The older one has a single night. */
    assert_int_equal(
        sqlite3_exec(store->database,
                     "UPDATE nightly SET series = replace(hex(zeroblob(32)), '0', 'c') WHERE night = 1", NULL,
                     NULL, NULL),
        SQLITE_OK);
    if (kf_plot_history(store, "b", out, &error) != KF_OK) fail_msg("%s", error.message);
    kf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile_texts_are_escaped), cmocka_unit_test(test_pictures_are_in_base64),
        cmocka_unit_test(test_a_report_loads_nothing),    cmocka_unit_test(test_report_without_content),
        cmocka_unit_test(test_many_benchmarks),           cmocka_unit_test(test_report_of_failures),
        cmocka_unit_test(test_cards_of_any_size),         cmocka_unit_test(test_history_plot),
    };
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
