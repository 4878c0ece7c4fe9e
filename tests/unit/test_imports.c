/* Tests files of other tuners as they come: unfinished, with values of every kind, wrong. Faults: a config
 * or time that is lost, misread or made up. */
#include "tests/unit/landscape_fixture.h"

#define HEAD                                                                                                 \
    "{\"device_name\": \"GPU\", \"kernel_name\": \"k\", \"problem_size\": 100, \"tune_params_keys\": "       \
    "[\"x\"], "                                                                                              \
    "\"tune_params\": {\"x\": [1, 2, 0.5]}, \"objective\": \"time\", \"cache\": {\n"
#define ENTRY(x) "\"" x "\": {\"x\": " x ", \"time\": 1.0, \"times\": [1.0, 1.5, 1.25], \"GFLOP/s\": 7.5}"

static void test_unfinished_caches(void **state) {
    (void)state;
    static const char *const texts[] = {
        HEAD ENTRY("1") ",\n" ENTRY("2") ",",
        HEAD ENTRY("1") ",\n" ENTRY("2") ",\n",
        HEAD ENTRY("1") ",\n" ENTRY("2"),
        HEAD ENTRY("1") ",\n" ENTRY("2") ",\n\"0.5\": {\"x\": 0.5, \"tim",
        HEAD ENTRY("1") ",\n" ENTRY("2") "}\n}",
    };
    char path[KF_PATH], file[KF_PATH];
    fixture_path(path, "unfinished.db");
    fixture_path(file, "unfinished.json");
    kf_store *store = fixture_open(path);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_file(file, texts[i]);
        int count = 0;
        (void)import(store, file, &count);
        assert_int_equal(count, 2);
    }
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM result WHERE step_us = 1250"),
                     10);
    kf_store_close(store);
}

/* Numbers with a fraction, booleans, text; errors in the newer way; no raw samples. */
static void test_kinds_of_values(void **state) {
    (void)state;
    char path[KF_PATH], file[KF_PATH];
    fixture_path(path, "kinds.db");
    fixture_path(file, "kinds.json");
    kf_store *store = fixture_open(path);
    write_file(file,
               HEAD "\"a\": {\"x\": 0.5, \"time\": 2.5}, \"b\": {\"x\": true, \"time\": null, \"__error__\": "
                    "\"CompilationFailedConfig\"}, \"c\": {\"x\": \"float4\", \"time\": \"InvalidConfig\"}, "
                    "\"d\": {\"x\": 3, \"time\": \"RuntimeFailedConfig\"}}}");
    int count = 0;
    int64_t run = import(store, file, &count);
    assert_int_equal(count, 4);
    char *text = rows(store, run, false);
    assert_non_null(strstr(text, "{\"parameters\":{\"x\":\"0.5\"},\"system\":\"k\"}|NULL|0|import|ok|NULL|"));
    assert_non_null(
        strstr(text, "{\"x\":true},\"system\":\"k\"}|NULL|1|import|compile|CompilationFailedConfig|"));
    assert_non_null(
        strstr(text, "{\"x\":\"float4\"},\"system\":\"k\"}|NULL|2|import|invalid|InvalidConfig|"));
    assert_non_null(strstr(text, "{\"x\":3},\"system\":\"k\"}|NULL|3|import|crash|RuntimeFailedConfig|"));
    free(text);
    text = export(store, run, kf_store_export_kernel_tuner);
    assert_non_null(strstr(text, "\"x\":[1,2,0.5,true,\"float4\",3]"));
    assert_non_null(strstr(text, "\"problem_size\":[100],")); /* an axis, not three */
    free(text);
    kf_store_close(store);
}

/* A failed row counts as one, however it is spelled. */
static void test_failed_rows_count(void **state) {
    (void)state;
    static const char *const times[] = {"1e20",
                                        "1e+20",
                                        "1.7976931348623157e+308",
                                        "NaN",
                                        "Infinity",
                                        "-Infinity",
                                        "null",
                                        "\"InvalidConfig\"",
                                        "\"RuntimeFailedConfig\"",
                                        "\"whatever\""};
    char path[KF_PATH], file[KF_PATH], text[1024];
    fixture_path(path, "failures.db");
    fixture_path(file, "failures.json");
    kf_store *store = fixture_open(path);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        (void)snprintf(text, sizeof text, HEAD "\"1\": {\"x\": 1, \"time\": %s}, " ENTRY("2") "}}", times[i]);
        write_file(file, text);
        int count = 0;
        (void)import(store, file, &count);
        assert_int_equal(count, 2);
        assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM result WHERE state = 'ok'"),
                         i + 1);
    }
    kf_store_close(store);
}

/* Lists, null, blanks, long texts and whole numbers with a point are exported as they were imported. */
static void test_values_go_out_as_they_came(void **state) {
    (void)state;
    static const struct {
        const char *domain, *key, *value;
    } cases[] = {
        {"[[16,16],[32,8]]", "[16, 16]", "[16,16]"},
        {"[null,\"y\"]", "None", "null"},
        {"[\"unsigned int\",\"unsigned_int\"]", "unsigned int", "\"unsigned int\""},
        {"[\"a name that has far more than the thirty-nine characters of ours\"]",
         "a name that has far more than the thirty-nine characters of ours",
         "\"a name that has far more than the thirty-nine characters of ours\""},
        {"[0.5,1.0,1.5]", "1.0", "1.0"},
        {"[0.5,1,1.0]", "1.0", "1.0"},
        {"[0.5,1,1.0]", "1", "1"},
        {"[0.5,1.0]", "0.5", "0.5"},
        {"[-2.0]", "-2.0", "-2.0"},
        {"[true,false]", "True", "true"},
        {"[\"1.5e\",\"NaN is text: 1.0\"]", "NaN is text: 1.0", "\"NaN is text: 1.0\""},
    };
    char path[KF_PATH], file[KF_PATH], text[1024], expected[512];
    fixture_path(path, "values.db");
    fixture_path(file, "values.json");
    kf_store *store = fixture_open(path);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)snprintf(text, sizeof text,
                       "{\"device_name\": \"GPU\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"x\"], "
                       "\"tune_params\": {\"x\": %s}, \"cache\": {\"%s\": {\"x\": %s, \"time\": 2.0}}}",
                       cases[i].domain, cases[i].key, cases[i].value);
        write_file(file, text);
        int count = 0;
        const int64_t run = import(store, file, &count);
        char *out = export(store, run, kf_store_export_kernel_tuner);
        (void)snprintf(expected, sizeof expected, "\"%s\": {\"x\":%s,\"time\":2,", cases[i].key,
                       cases[i].value);
        if (strstr(out, expected) == NULL) fail_msg("%s is not in %s", expected, out);
        (void)snprintf(expected, sizeof expected, "\"tune_params\":{\"x\":%s}", cases[i].domain);
        if (strstr(out, expected) == NULL) fail_msg("%s is not in %s", expected, out);
        free(out);
    }
    kf_store_close(store);
}

#define T4(content) "{\"schema_version\": \"1.0.0\", \"metadata\": {}, \"results\": [" content "]}"

/* Nothing of a file that is wrong is stored, and the line says where it is wrong. */
static void test_wrong_files(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } files[] = {
        {"", "wrong.json"},
        {"[1, 2]", "neither"},
        {"{\"cache\": [], \"results\": {}}", "neither"},
        {HEAD "\"a\": 3}}", "cache[\"a\"]"},
        {HEAD ENTRY("1") ", \"b\": {\"x\": 1}}}", "cache[\"b\"]"},
        {HEAD "\"a\": {\"x\": 1, \"time\": -1.5}}}", "above 0"},
        {HEAD "\"a\": {\"x\": 1, \"time\": 0}}}", "above 0"},
        {HEAD "\"a\": {\"x\": 1, \"time\": 1, \"times\": [1, 0, 2]}}}", "above 0"},
        {HEAD "\"a\": {\"x\": 1, \"time\": 1, \"times\": [1, 1e-60]}}}", "above 0"}, /* 0 as a sample */
        {HEAD "\"a\": {\"x\": 1, \"time\": 1, \"times\": [1, \"2\"]}}}", "above 0"},
        {HEAD "\"a\": {\"x\": {}, \"time\": 1}}}", "parameters.x"},
        {"{\"cache\": {\"a\": {\"x\": 1, \"time\": 1}}}", "tune_params"},
        {T4("{\"times\": {}}"), "configuration"},
        {T4("{\"configuration\": {}, \"times\": {}, \"invalidity\": \"perfect\"}"), "invalidity"},
        {T4("{\"configuration\": {}, \"times\": {}, \"invalidity\": \"correct\"}"), "above 0"},
        {T4("{\"configuration\": {}, \"times\": {\"runtimes\": [1]}, \"invalidity\": \"correct\", "
            "\"kftune\": "
            "{\"state\": \"crash\"}}"),
         "contradicts"},
        {T4("{\"configuration\": {}, \"times\": {\"runtimes\": [1]}, \"invalidity\": \"correct\", "
            "\"kftune\": "
            "{\"role\": \"king\"}}"),
         "contradict"},
        {T4("{\"configuration\": {}, \"times\": {\"runtimes\": [1]}, \"invalidity\": \"correct\", "
            "\"kftune\": "
            "{\"verification\": {\"error\": 2, \"bound\": 1}}}"),
         "contradict"},
        {T4("{\"configuration\": {}, \"times\": {\"runtimes\": [1e300]}, \"invalidity\": \"correct\"}"),
         "above 0"},
        {"{\"metadata\": {\"timeunit\": \"fortnights\"}, \"results\": []}", "timeunit"},
        {"{\"metadata\": {\"timeunit\": \"milliseconds\"}, \"results\": [{\"configuration\": {\"a\": 1}, "
         "\"invalidity\": \"correct\", \"measurements\": [{\"name\": \"time\", \"value\": 2, \"unit\": "
         "\"s\"}], "
         "\"times\": {\"runtimes\": [2]}}]}",
         "one of the units is wrong"},
        {"\x1f\x8b\x08 this is no gzip", "gzip"},
    };
    char path[KF_PATH], file[KF_PATH];
    fixture_path(path, "wrong.db");
    fixture_path(file, "wrong.json");
    kf_store *store = fixture_open(path);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        write_file(file, files[i].text);
        int64_t run = 0;
        int count = 0;
        kf_error error = {0};
        kf_status status = kf_store_import(store, file, &run, &count, &error);
        if (status != KF_BAD_INPUT)
            fail_msg("status %d for %s: %s", (int)status, files[i].text, error.message);
        if (strstr(error.message, files[i].says) == NULL)
            fail_msg("'%s' does not say '%s'", error.message, files[i].says);
        assert_null(strchr(error.message, '\n'));
    }
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM run"), 0);
    assert_int_equal(fixture_integer(store->database, "SELECT count(*) FROM result"), 0);
    int64_t run = 0;
    int count = 0;
    assert_int_equal(kf_store_import(store, "/no/such/file", &run, &count, NULL), KF_BAD_INPUT);
    assert_int_equal(kf_store_import(store, fixture_folder, &run, &count, NULL), KF_BAD_INPUT);
    kf_store_close(store);
}

/* A gzip file of some tens of kilobytes that unpacks to 65 MiB is refused. At most 64 MiB of it are
 * unpacked. */
static void test_small_files_stay_small(void **state) {
    (void)state;
    char path[KF_PATH], file[KF_PATH], command[2 * KF_PATH];
    fixture_path(path, "small.db");
    fixture_path(file, "small.json.gz");
    (void)snprintf(command, sizeof command, "head -c 68157440 /dev/zero | gzip -1 >'%s'", file);
    if (system(command) != 0) skip(); /* NOLINT(cert-env33-c): the path is mkdtemp's */
    kf_store *store = fixture_open(path);
    int64_t run = 0;
    int count = 0;
    kf_error error = {0};
    assert_int_equal(kf_store_import(store, file, &run, &count, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "unpack to more than 67108864"));
    kf_store_close(store);
}

static void test_moments_are_in_utc(void **state) {
    (void)state;
    static const struct {
        const char *text, *moment;
    } moments[] = {
        {"2023-12-22 09:53:48.691683+00:00", "2023-12-22T09:53:48.691683Z"},
        {"2026-01-31T12:00:00+00:00", "2026-01-31T12:00:00.000000Z"},
        {"2026-03-01T00:30:00.5+01:00", "2026-02-28T23:30:00.500000Z"},
        {"2026-12-31T23:59:59.9999999-0030", "2027-01-01T00:29:59.999999Z"},
        {"2026-01-31 12:00:00", "2026-01-31T12:00:00.000000Z"},
        {"2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000000Z"},
        {"2026-13-31T12:00:00Z", NULL},
        {"2026-01-31T12:00", NULL},
        {"2026-01-31T12:00:00+01:00x", NULL},
        {"yesterday", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++) {
        char moment[KF_MOMENT];
        bool good = kf_moment_parse(moments[i].text, moment);
        assert_int_equal(good, moments[i].moment != NULL);
        if (good) assert_string_equal(moment, moments[i].moment);
    }
}

/* Every unit gives the same time: the file's, and that of the measurement where it names one. */
static void test_units_of_time(void **state) {
    (void)state;
    static const struct {
        const char *metadata, *unit;
        double time, runtime;
    } units[] = {{"\"timeunit\": \"milliseconds\"", "", 2.5, 2.5},
                 {"\"timeunit\": \"miliseconds\"", "", 2.5, 2.5},
                 {"\"timeunit\": \"microseconds\"", "", 2500, 2500},
                 {"\"timeunit\": \"seconds\"", "", 0.0025, 0.0025},
                 {"\"timeunit\": \"nanoseconds\"", "", 2.5e6, 2.5e6},
                 {"\"timeunit\": \"microseconds\"", "ms", 2.5, 2500},
                 {"\"timeunit\": \"milliseconds\"", "seconds", 0.0025, 2.5},
                 {"", "s", 0.0025, 0.0025},
                 {"", "GFLOP/s", 2.5, 2.5},
                 {"", "", 2.5, 2.5}};
    char path[KF_PATH], file[KF_PATH], text[1024];
    fixture_path(path, "units.db");
    fixture_path(file, "unit.json");
    kf_store *store = fixture_open(path);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        (void)snprintf(
            text, sizeof text,
            "{\"schema_version\": \"1.0.0\", \"metadata\": {%s}, \"results\": "
            "[{\"configuration\": {\"block\": 32}, \"invalidity\": \"correct\", \"correctness\": 1, "
            "\"measurements\": [{\"name\": \"time\", \"value\": %.9g, \"unit\": \"%s\"}], "
            "\"times\": {\"runtimes\": [%.9g]}}]}",
            units[i].metadata, units[i].time, units[i].unit, units[i].runtime);
        write_file(file, text);
        int count = 0;
        const int64_t run = import(store, file, &count);
        assert_int_equal(count, 1);
        sqlite3_stmt *statement = NULL;
        assert_int_equal(sqlite3_prepare_v2(store->database, "SELECT step_us FROM result WHERE run = ?", -1,
                                            &statement, NULL),
                         SQLITE_OK);
        (void)sqlite3_bind_int64(statement, 1, run);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        assert_true(fabs(sqlite3_column_double(statement, 0) - 2500) < 1e-6);
        (void)sqlite3_finalize(statement);
    }
    kf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unfinished_caches),  cmocka_unit_test(test_kinds_of_values),
        cmocka_unit_test(test_failed_rows_count),  cmocka_unit_test(test_values_go_out_as_they_came),
        cmocka_unit_test(test_wrong_files),        cmocka_unit_test(test_small_files_stay_small),
        cmocka_unit_test(test_moments_are_in_utc), cmocka_unit_test(test_units_of_time),
    };
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
