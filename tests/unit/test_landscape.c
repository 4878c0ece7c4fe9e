/* Tests exports and imports of landscapes, also real ones. Faults: a config or value that does not come
 * back the same, or a wrong file that is taken. */
#include "tests/unit/landscape_fixture.h"

#include "base/util/json.h"
#include "base/util/memory.h"
#include "harness/replay/landscape.h"

static const char *shared(char path[KF_PATH], const char *name) {
    const char *folder = getenv("KFTUNE_SHARED");
    (void)snprintf(path, KF_PATH, "%s/landscapes/%s", folder != NULL ? folder : "../shared", name);
    return access(path, R_OK) == 0 ? path : NULL;
}

static void assert_same_rows(kf_store *store, int64_t a, int64_t b, bool last_only) {
    char *left = rows(store, a, last_only), *right = rows(store, b, false);
    assert_non_null(left);
    assert_string_equal(left, right);
    free(left);
    free(right);
}

/* Fills the store with every state, names that need quoting, and a config that was measured twice. */
static void fill(kf_store *store, kf_run_row *run) {
    fixture_begin(store, run);
    kf_measurement *measurement = kf_allocate(sizeof *measurement);
    kf_error error = {0};
    for (int i = 0; i < 2 * KF_STATES; i++) {
        kf_config config;
        fixture_config(&config, i % (2 * KF_STATES - 3));
        kf_config_set_name(&config, "factor", i % 2 == 0 ? "1.5" : "float4");
        if (i % KF_STATES == KF_STATE_OK || i > KF_STATES + 2)
            fixture_measurement(measurement, 3.3 + i / 7.0, 5 + (size_t)i);
        else
            fixture_failure(measurement, (kf_state)(i % KF_STATES), "line 1, \"kernel.cu\"\nü");
        const char *role = i == 0           ? "preset:baseline"
                           : i == KF_STATES ? "preset:paper"
                           : i > 12         ? "final"
                                            : "search";
        if (kf_store_add(store, run, i, role, &config, measurement, &error) != KF_OK)
            fail_msg("%s", error.message);
        kf_measurement_free(measurement);
    }
    free(measurement);
    assert_int_equal(kf_store_end_run(store, run, "finished", NULL), KF_OK);
}

static void test_round_trips(void **state) {
    (void)state;
    static const exporter exporters[] = {kf_store_export_t4, kf_store_export_kernel_tuner};
    char path[KF_PATH], file[KF_PATH];
    fixture_path(path, "trip.db");
    fixture_path(file, "trip.json");
    kf_store *store = fixture_open(path);
    kf_run_row run;
    fill(store, &run);
    for (int i = 0; i < 2; i++) {
        char *text = export(store, run.id, exporters[i]);
        write_file(file, text);
        int count = 0;
        int64_t imported = import(store, file, &count);
        assert_same_rows(store, run.id, imported, i == 1);
        kf_run_summary summary;
        char name[24];
        (void)snprintf(name, sizeof name, "%lld", (long long)imported);
        assert_int_equal(kf_store_find_run(store, name, &summary, NULL), KF_OK);
        assert_string_equal(summary.system, "kinetic");
        assert_string_equal(summary.device, "Test device");
        assert_string_equal(summary.scene, "beetle");
        assert_string_equal(summary.origin, "imported");
        assert_true(kf_facts_value(summary.facts, "size_y") == 48);
        assert_int_equal(summary.results, count);
        free(text);
    }
    /* A result from here has this host beside it, an imported one none. */
    assert_int_equal(
        fixture_integer(store->database,
                        "SELECT sum(backend <> 'import' AND processor <> '' AND processor_count > 0 "
                        "AND operating_system <> '') * 10 + sum(backend = 'import' AND processor = '' "
                        "AND processor_count = 0 AND operating_system = '') FROM environment"),
        11);
    kf_store_close(store);
}

static const cJSON *member(const cJSON *object, const char *key) {
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
    if (found == NULL) fail_msg("'%s' is missing", key);
    return found;
}

/* The T4 schema demands these: required members and the words of invalidity. */
/* Everything that replay and the cost model need comes back: scene, device, presets, times, states. */
static void test_a_landscape_comes_back_whole(void **state) {
    (void)state;
    char path[KF_PATH], file[KF_PATH];
    fixture_path(path, "compact.db");
    fixture_path(file, "compact.json");
    kf_store *store = fixture_open(path);
    kf_run_row run;
    fill(store, &run);
    char *text = export(store, run.id, kf_store_export_compact);
    write_file(file, text);
    free(text);
    kf_landscape *landscape = NULL;
    kf_error error = {0};
    if (kf_landscape_open(file, &landscape, &error) != KF_OK) fail_msg("%s", error.message);
    assert_string_equal(landscape->scene, "beetle");
    assert_int_equal(landscape->options.nodes[0], 96);
    assert_true(landscape->options.samples_per_cell == 20 &&
                landscape->options.seed == 0); /* the seed is beyond 2^53 */
    assert_string_equal(landscape->device, "Test device");
    assert_string_equal(landscape->backend, "cuda");
    assert_true(landscape->peak_bandwidth == 4.8e12 && landscape->l2_bytes == 50 << 20);
    assert_int_equal(landscape->size, 2 * KF_STATES);
    assert_int_equal(kf_space_preset_count(landscape->space), 2);
    kf_config preset;
    uint64_t index;
    assert_int_equal(kf_space_preset(landscape->space, "baseline", &preset, &error), KF_OK);
    assert_true(kf_space_index(landscape->space, &preset, &index, NULL, 0));
    assert_int_equal(landscape->states[index], KF_STATE_OK);
    assert_true(fabs(landscape->times_us[index] - 3.3) < 0.04);
    assert_true(fabs(landscape->seconds[index] - 0.875) < 1e-6);
    /* The very number that was measured, as samples are kept. */
    kf_measurement measured;
    fixture_measurement(&measured, 3.3 + KF_STATES / 7.0, 5 + KF_STATES);
    assert_int_equal(kf_space_preset(landscape->space, "paper", &preset, &error), KF_OK);
    assert_true(kf_space_index(landscape->space, &preset, &index, NULL, 0));
    assert_true((float)landscape->times_us[index] == (float)measured.step_us.median);
    kf_measurement_free(&measured);
    kf_landscape_free(landscape);
    kf_store_close(store);
}

/* A store takes what another exported: the same configs, times and states, also of what was skipped. */
static void test_compact_comes_back(void **state) {
    (void)state;
    char path[KF_PATH], other[KF_PATH], file[KF_PATH];
    fixture_path(path, "from.db");
    fixture_path(other, "to.db");
    fixture_path(file, "travels.json");
    kf_store *store = fixture_open(path), *second = fixture_open(other);
    kf_run_row run;
    fill(store, &run);
    char *text = export(store, run.id, kf_store_export_compact);
    write_file(file, text);
    int count = 0;
    const int64_t imported = import(second, file, &count);
    assert_int_equal(count, 2 * KF_STATES);
    char *again = export(second, imported, kf_store_export_compact);
    const char *const results = strstr(text, "\"results\"");
    assert_non_null(results);
    assert_string_equal(results, strstr(again, "\"results\""));
    kf_run_summary summary;
    assert_int_equal(kf_store_find_run(second, NULL, &summary, NULL), KF_OK);
    assert_string_equal(summary.scene, "beetle");
    assert_string_equal(summary.device, "Test device");
    assert_true(kf_facts_value(summary.facts, "size_x") == 96);
    free(text);
    free(again);
    kf_store_close(store);
    kf_store_close(second);
}

/* Files without facts contain nodes, samples and samples of a cell, which become the facts of today's
 * names. */
static void files_without_facts(void **state) {
    (void)state;
    char path[KF_PATH], file[KF_PATH];
    fixture_path(path, "facts.db");
    fixture_path(file, "facts.json");
    kf_store *store = fixture_open(path);
    kf_run_row run;
    fill(store, &run);
    char *text = export(store, run.id, kf_store_export_compact);
    cJSON *root = NULL;
    assert_int_equal(kf_json_parse("facts", text, strlen(text), &root, NULL), KF_OK);
    cJSON *scene = cJSON_GetObjectItemCaseSensitive(root, "scene");
    cJSON_DeleteItemFromObject(scene, "facts");
    cJSON_DeleteItemFromObject(scene, "units");
    cJSON_AddItemToObject(scene, "nodes", cJSON_CreateIntArray((const int[]){160, 80, 72}, 3));
    cJSON_AddNumberToObject(scene, "samples", 5027);
    cJSON_AddNumberToObject(scene, "samples_per_cell", 25);
    free(text);
    text = cJSON_PrintUnformatted(root);
    cJSON_Delete(root);
    write_file(file, text);
    cJSON_free(text);
    int count = 0;
    (void)import(store, file, &count);
    static const struct {
        const char *name;
        double value;
    } facts[] = {{"size_x", 160},        {"size_y", 80},
                 {"size_z", 72},         {"node_count", 160 * 80 * 72},
                 {"sample_count", 5027}, {"samples_per_cell", 25}};
    kf_run_summary summary;
    assert_int_equal(kf_store_find_run(store, NULL, &summary, NULL), KF_OK);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (kf_facts_value(summary.facts, facts[i].name) != facts[i].value)
            fail_msg("%s is %g, not %g", facts[i].name, kf_facts_value(summary.facts, facts[i].name),
                     facts[i].value);
    kf_store_close(store);
}

static void test_t4_schema(void **state) {
    (void)state;
    static const char *const words[] = {"timeout",     "compile",     "runtime",
                                        "correctness", "constraints", "correct"};
    char path[KF_PATH];
    fixture_path(path, "t4.db");
    kf_store *store = fixture_open(path);
    kf_run_row run;
    fill(store, &run);
    char *text = export(store, run.id, kf_store_export_t4);
    cJSON *root = NULL;
    assert_int_equal(kf_json_parse("t4", text, strlen(text), &root, NULL), KF_OK);
    assert_string_equal(member(root, "schema_version")->valuestring, "1.0.0");
    assert_string_equal(member(member(root, "metadata"), "timeunit")->valuestring, "milliseconds");
    int seen[6] = {0};
    const cJSON *result = NULL;
    cJSON_ArrayForEach(result, member(root, "results")) {
        assert_true(cJSON_IsObject(member(result, "configuration")));
        assert_true(cJSON_IsNumber(member(result, "correctness")));
        const cJSON *times = member(result, "times");
        assert_true(cJSON_IsArray(member(times, "runtimes")));
        assert_true(member(times, "compilation_time")->valuedouble ==
                    member(times, "compilation")->valuedouble);
        const char *word = member(result, "invalidity")->valuestring;
        int known = 0;
        for (int i = 0; i < 6; i++) {
            if (strcmp(words[i], word) != 0) continue;
            known++;
            seen[i]++;
        }
        assert_int_equal(known, 1);
        const cJSON *time = cJSON_GetArrayItem(member(result, "measurements"), 0);
        assert_string_equal(member(time, "name")->valuestring, "time");
        assert_int_equal(cJSON_IsNumber(member(time, "value")), strcmp(word, "correct") == 0);
        const cJSON *factor = member(member(result, "configuration"), "factor");
        assert_true(cJSON_IsNumber(factor) ? factor->valuedouble == 1.5
                                           : strcmp(factor->valuestring, "float4") == 0);
    }
    for (int i = 0; i < 6; i++)
        assert_true(seen[i] > 0);
    cJSON_Delete(root);
    free(text);
    kf_store_close(store);
}

/* The Kernel Tuner cache schema demands these. */
static void test_cache_schema(void **state) {
    (void)state;
    static const char *const numbers[] = {"compile_time", "verification_time", "benchmark_time",
                                          "strategy_time", "framework_time"};
    char path[KF_PATH];
    fixture_path(path, "cache.db");
    kf_store *store = fixture_open(path);
    kf_run_row run;
    fill(store, &run);
    char *text = export(store, run.id, kf_store_export_kernel_tuner);
    cJSON *root = NULL;
    assert_int_equal(kf_json_parse("cache", text, strlen(text), &root, NULL), KF_OK);
    assert_string_equal(member(root, "schema_version")->valuestring, "1.1.0");
    assert_string_equal(member(root, "kernel_name")->valuestring, "kinetic");
    assert_string_equal(member(root, "objective")->valuestring, "time");
    assert_int_equal(cJSON_GetArraySize(member(root, "problem_size")), 3);
    const cJSON *keys = member(root, "tune_params_keys"), *domains = member(root, "tune_params");
    assert_int_equal(cJSON_GetArraySize(keys), 4);
    assert_int_equal(cJSON_GetArraySize(member(domains, "layout")), 2);
    const cJSON *entry = NULL;
    cJSON_ArrayForEach(entry, member(root, "cache")) {
        kf_text name = {0};
        const cJSON *key = NULL;
        cJSON_ArrayForEach(key, keys) {
            const cJSON *value = member(entry, key->valuestring);
            kf_text_append(&name, key == keys->child ? "" : ",");
            if (cJSON_IsNumber(value))
                kf_text_append(&name, "%g", value->valuedouble);
            else
                kf_text_append(&name, "%s",
                               cJSON_IsString(value) ? value->valuestring
                               : cJSON_IsTrue(value) ? "True"
                                                     : "False");
        }
        assert_string_equal(name.text, entry->string);
        kf_text_free(&name);
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
            assert_true(cJSON_IsNumber(member(entry, numbers[i])));
        assert_true(cJSON_IsString(member(entry, "timestamp")));
        const cJSON *time = member(entry, "time");
        assert_true(cJSON_IsNumber(time) || strstr(time->valuestring, "Config") != NULL);
    }
    cJSON_Delete(root);
    free(text);
    kf_store_close(store);
}

static void test_csv_quotes_its_texts(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "csv.db");
    kf_store *store = fixture_open(path);
    kf_run_row run;
    fill(store, &run);
    char *text = export(store, run.id, kf_store_export_csv);
    assert_ptr_equal(strstr(text, "run,sequence,role,state,reason,measured,time_us,"), text);
    assert_non_null(strstr(text, ",hash,system,alpha,factor,layout,morton\n"));
    assert_non_null(strstr(text, ",\"line 1, \"\"kernel.cu\"\"\nü\","));
    /* Every record has the same number of fields, counted as RFC 4180 says. */
    int fields = 1, records = 0, wanted = 0;
    bool quoted = false;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"') quoted = !quoted;
        if (quoted) continue;
        fields += *c == ',';
        if (*c != '\n') continue;
        if (records++ == 0) wanted = fields;
        assert_int_equal(fields, wanted);
        fields = 1;
    }
    assert_int_equal(records, 1 + 2 * KF_STATES);
    free(text);
    kf_store_close(store);
}

static void test_github_has_one_value_per_result(void **state) {
    (void)state;
    char path[KF_PATH];
    fixture_path(path, "github.db");
    kf_store *store = fixture_open(path);
    kf_run_row run;
    fill(store, &run);
    char *text = export(store, run.id, kf_store_export_github);
    cJSON *list = NULL;
    assert_int_equal(kf_json_parse("github", text, strlen(text), &list, NULL), KF_OK);
    assert_int_equal(cJSON_GetArraySize(list), 3);
    static const char *const ends[] = {"/best", "/baseline", "/paper"};
    for (int i = 0; i < 3; i++) {
        const cJSON *entry = cJSON_GetArrayItem(list, i);
        const char *name = member(entry, "name")->valuestring;
        assert_non_null(strstr(name, ends[i]));
        assert_ptr_equal(strstr(name, "kinetic/beetle/96x48x32/Test device"), name);
        assert_string_equal(member(entry, "unit")->valuestring, "us");
        assert_true(member(entry, "value")->valuedouble > 0);
        assert_non_null(strstr(member(entry, "range")->valuestring, "±"));
        assert_non_null(strstr(member(entry, "extra")->valuestring, run.uuid));
    }
    /* The finals begin at number 13: the fastest of them, not the faster search before. */
    assert_true(fabs(cJSON_GetArrayItem(list, 0)->child->next->next->valuedouble - (3.3 + 13 / 7.0)) < 0.04);
    cJSON_Delete(list);
    free(text);
    kf_store_close(store);
}

/* --- Real files --------------------------------------------------------------------------------------- */

static void test_real_landscapes(void **state) {
    (void)state;
    char cache_path[KF_PATH], t4_path[KF_PATH], path[KF_PATH], file[KF_PATH];
    const char *cache = shared(cache_path, "convolution-A4000.json.gz");
    const char *t4 = shared(t4_path, "convolution-A4000.t4.json.gz");
    if (cache == NULL || t4 == NULL) skip();
    fixture_path(path, "real.db");
    fixture_path(file, "real.json");
    kf_store *store = fixture_open(path);
    int first_count = 0, second_count = 0, third_count = 0;
    int64_t first = import(store, cache, &first_count);
    (void)import(store, t4, &second_count);
    assert_true(first_count > 4000);
    assert_int_equal(first_count, second_count);
    kf_run_summary a, b;
    assert_int_equal(kf_store_find_run(store, "1", &a, NULL), KF_OK);
    assert_int_equal(kf_store_find_run(store, "2", &b, NULL), KF_OK);
    assert_string_equal(a.system, "convolution_kernel");
    assert_string_equal(a.device, "NVIDIA RTX A4000");
    assert_string_equal(a.started, "2023-12-22T09:53:48.691683Z");
    assert_string_equal(b.system, "convolution-A4000");
    assert_int_equal(a.ok, b.ok);
    assert_true(a.ok > 1000 && a.ok < a.results);
    assert_true(a.best_us == b.best_us && a.best_us > 100 && a.best_us < 5000);
    /* Two descriptions of the same measurements have the same samples. */
    assert_int_equal(
        fixture_integer(store->database,
                        "SELECT count(*) FROM result a JOIN result b ON a.run = 1 AND b.run = 2 AND "
                        "a.sequence = b.sequence AND a.samples IS b.samples AND a.step_us IS b.step_us"),
        first_count);
    char *text = export(store, first, kf_store_export_kernel_tuner);
    write_file(file, text);
    free(text);
    int64_t third = import(store, file, &third_count);
    assert_same_rows(store, first, third, false);
    kf_store_close(store);
}

/* A config that was measured in full keeps its time when a later run of the scene skips it. */
static void test_skipped_later(void **state) {
    (void)state;
    char path[KF_PATH], file[KF_PATH];
    fixture_path(path, "skipped.db");
    fixture_path(file, "skipped.json");
    kf_store *store = fixture_open(path);
    kf_run_row run = {0};
    kf_config config;
    kf_error error = {0};
    kf_measurement *measurement = kf_allocate(sizeof *measurement);
    fixture_config(&config, 1);
    for (int skips = 0; skips < 2; skips++) {
        fixture_begin(store, &run);
        fixture_measurement(measurement, skips ? 9.0 : 3.0, 7);
        if (skips) measurement->state = KF_STATE_SKIPPED;
        if (skips) kf_copy_text(measurement->reason, sizeof measurement->reason, "slower than the best");
        if (kf_store_add(store, &run, 0, "search", &config, measurement, &error) != KF_OK)
            fail_msg("%s", error.message);
        kf_measurement_free(measurement);
        assert_int_equal(kf_store_end_run(store, &run, "finished", NULL), KF_OK);
    }
    free(measurement);
    char *text = export(store, run.id, kf_store_export_compact);
    write_file(file, text);
    free(text);
    kf_landscape *landscape = NULL;
    if (kf_landscape_open(file, &landscape, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(landscape->size, 1);
    assert_int_equal(landscape->states[0], KF_STATE_OK);
    assert_true(fabs(landscape->times_us[0] - 3.0) < 0.04);
    kf_landscape_free(landscape);
    kf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_a_landscape_comes_back_whole),
        cmocka_unit_test(test_compact_comes_back),
        cmocka_unit_test(files_without_facts),
        cmocka_unit_test(test_t4_schema),
        cmocka_unit_test(test_cache_schema),
        cmocka_unit_test(test_csv_quotes_its_texts),
        cmocka_unit_test(test_github_has_one_value_per_result),
        cmocka_unit_test(test_real_landscapes),
        cmocka_unit_test(test_skipped_later),
    };
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
