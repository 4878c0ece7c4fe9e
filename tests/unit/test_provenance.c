/* Tests what imports keep of their files. Faults: an export that says something else than the source. */
#include "tests/unit/store_fixture.h"

#include "base/util/json.h"
#include "harness/replay/landscape.h"

typedef kf_status (*exporter)(kf_store *store, int64_t run_id, FILE *stream, kf_error *error);

static const exporter exporters[] = {kf_store_export_t4, kf_store_export_kernel_tuner,
                                     kf_store_export_compact};
enum { EXPORTERS = 3 };

static void take_import(kf_store *store, const char *file, int64_t *run) {
    kf_error error = {0};
    int count = 0;
    if (kf_store_import(store, file, run, &count, &error) != KF_OK) fail_msg("%s", error.message);
}

static void export_to(kf_store *store, int64_t run, exporter write, const char *path) {
    kf_error error = {0};
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    if (write(store, run, stream, &error) != KF_OK) fail_msg("%s", error.message);
    (void)fclose(stream);
}

static char *text_of(const char *path) {
    char *text = NULL;
    size_t size = 0;
    assert_int_equal(kf_file_read(path, 0, &text, &size, NULL), KF_OK);
    return text;
}

static kf_landscape *open_landscape(const char *path) {
    kf_landscape *landscape = NULL;
    kf_error error = {0};
    if (kf_landscape_open(path, &landscape, &error) != KF_OK) fail_msg("%s", error.message);
    return landscape;
}

/* By the mean x=2 is the best (2.0; median 2.0), by the median x=1 (mean 3.0; median 1.0). */
#define CACHE(time1, time2)                                                                                  \
    "{\"device_name\": \"Some GPU\", \"kernel_name\": \"k\", \"tune_params_keys\": [\"y\", \"x\"], "         \
    "\"tune_params\": {\"x\": [2, 1, 7], \"y\": [0]}, \"objective\": \"time\", \"cache\": {\n"               \
    "\"0,1\": {\"y\": 0, \"x\": 1, \"time\": " time1 ", \"times\": [1.0, 1.0, 7.0]},\n"                      \
    "\"0,2\": {\"y\": 0, \"x\": 2, \"time\": " time2 ", \"times\": [2.0, 1.5, 2.5]}}}\n"

static long best_x(const char *path) {
    kf_landscape *landscape = open_landscape(path);
    kf_config config;
    long x = 0;
    kf_space_config(landscape->space, landscape->optimum, &config);
    assert_int_equal(kf_config_integer(&config, "x", &x, NULL), KF_OK);
    kf_landscape_free(landscape);
    return x;
}

static void exports_keep_mean_or_median(void **state) {
    (void)state;
    static const struct {
        const char *text;
        long best;
        const char *github[2]; /* its value, in us, and its config */
    } sources[] = {{CACHE("3.0", "2.0"), 2, {"\"value\":\t2000,", "config=x=2 "}},
                   {CACHE("1.0", "2.0"), 1, {"\"value\":\t1000,", "config=x=1 "}}};
    char path[KF_PATH], file[KF_PATH];
    fixture_path(path, "figure.db");
    fixture_path(file, "figure.json");
    kf_store *store = fixture_open(path);
    for (size_t s = 0; s < 2; s++) {
        int64_t run = 0;
        assert_int_equal(kf_file_write_atomic(file, sources[s].text, strlen(sources[s].text), NULL), KF_OK);
        assert_int_equal(best_x(file), sources[s].best);
        take_import(store, file, &run);
        /* The compact landscape joins the runs of one scene, so it is exported from a store of its own. */
        for (int e = 0; e < EXPORTERS; e++) {
            export_to(store, run, exporters[e], file);
            assert_int_equal(best_x(file), sources[s].best);
        }
        export_to(store, run, kf_store_export_github, file);
        char *github = text_of(file);
        for (int i = 0; i < 2; i++)
            if (strstr(github, sources[s].github[i]) == NULL)
                fail_msg("%s\nlacks %s", github, sources[s].github[i]);
        free(github);
        assert_int_equal(kf_store_prune(store, 0, run, &(int){0}, NULL), KF_OK);
    }
    kf_store_close(store);
}

static void exports_keep_the_order(void **state) {
    (void)state;
    static const char *const expected[EXPORTERS] = {
        "\"configuration\":{\"y\":0,\"x\":1}",
        "\"tune_params_keys\":[\"y\",\"x\"],\"tune_params\":{\"y\":[0],\"x\":[2,1,7]}",
        "\"parameters\":{\"y\":[0],\"x\":[1,2]}"};
    char path[KF_PATH], file[KF_PATH];
    int64_t run = 0;
    fixture_path(path, "order.db");
    fixture_path(file, "order.json");
    kf_store *store = fixture_open(path);
    const char *text = CACHE("3.0", "2.0");
    assert_int_equal(kf_file_write_atomic(file, text, strlen(text), NULL), KF_OK);
    take_import(store, file, &run);
    for (int e = 0; e < EXPORTERS; e++) {
        export_to(store, run, exporters[e], file);
        char *out = text_of(file);
        if (strstr(out, expected[e]) == NULL) fail_msg("%s\nlacks %s", out, expected[e]);
        if (e == 1) assert_non_null(strstr(out, "\"0,1\": {\"y\":0,\"x\":1"));
        assert_non_null(strstr(out, "Some GPU"));
        free(out);
        int64_t again = 0; /* exported once more, in the order of the exported file */
        take_import(store, file, &again);
        assert_int_equal(kf_store_prune(store, 0, again, &(int){0}, NULL), KF_OK);
    }
    kf_store_close(store);
}

/* A file that names no device has none after an export. A GPU's file names a GPU again, so that replay
 * knows the prior that applies. */
static void exports_keep_the_device(void **state) {
    (void)state;
    char path[KF_PATH], file[KF_PATH];
    int64_t run = 0;
    fixture_path(path, "device.db");
    fixture_path(file, "device.json");
    kf_store *store = fixture_open(path);
    const char *nameless =
        "{\"schema_version\": \"1.0.0\", \"metadata\": {\"timeunit\": \"milliseconds\"}, \"results\": ["
        "{\"configuration\": {\"x\": 1}, \"times\": {\"runtimes\": [1.0]}, \"invalidity\": \"correct\"}]}";
    assert_int_equal(kf_file_write_atomic(file, nameless, strlen(nameless), NULL), KF_OK);
    take_import(store, file, &run);
    for (int e = 0; e < 2; e++) {
        export_to(store, run, exporters[e], file);
        char *out = text_of(file);
        assert_null(strstr(out, "device_name"));
        free(out);
    }
    const char *compact =
        "{\"kftune_landscape\": 1, \"system\": \"k\", \"scene\": {\"name\": \"s\", \"facts\": {}, \"units\": "
        "{}}, \"device\": {\"name\": \"NVIDIA H200\", \"backend\": \"cuda\", \"peak_bandwidth\": 4.8e12, "
        "\"l2_bytes\": 62914560}, "
        "\"parameters\": {\"x\": [1, 2]}, \"results\": [[0, 3.5, 1], [1, 2.5, 1]]}";
    assert_int_equal(kf_file_write_atomic(file, compact, strlen(compact), NULL), KF_OK);
    take_import(store, file, &run);
    export_to(store, run, kf_store_export_compact, file);
    kf_landscape *landscape = open_landscape(file);
    assert_string_equal(landscape->backend, "cuda");
    assert_string_equal(landscape->device, "NVIDIA H200");
    assert_true(landscape->peak_bandwidth == 4.8e12 && landscape->l2_bytes == 60 << 20);
    kf_landscape_free(landscape);
    kf_store_close(store);
}

/* In real files every config keeps the source's time, in all three formats, and the best stays the best. */
static void real_files_keep_their_times(void **state) {
    (void)state;
    static const char *const names[] = {"convolution-A4000.json.gz", "dedispersion-W6600.json.gz",
                                        "convolution-A4000.t4.json.gz"};
    const char *folder = getenv("KFTUNE_SHARED");
    char source[KF_PATH], path[KF_PATH], file[KF_PATH];
    fixture_path(path, "real-times.db");
    fixture_path(file, "real-times.json");
    kf_store *store = fixture_open(path);
    int read = 0;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        (void)snprintf(source, sizeof source, "%s/landscapes/%s", folder != NULL ? folder : "../shared",
                       names[n]);
        if (access(source, R_OK) != 0) {
            print_message("%s is missing and is not tested\n", source);
            continue;
        }
        read++;
        kf_landscape *before = open_landscape(source);
        int64_t run = 0;
        take_import(store, source, &run);
        for (int e = 0; e < EXPORTERS; e++) {
            export_to(store, run, exporters[e], file);
            kf_landscape *after = open_landscape(file);
            assert_int_equal((int)after->size, (int)before->size);
            assert_int_equal((int)after->ok_count, (int)before->ok_count);
            kf_config config, other;
            kf_space_config(after->space, 0, &other);
            for (uint64_t i = 0; i < before->size; i++) {
                uint64_t at = 0;
                kf_space_config(before->space, i, &config);
                kf_copy_text(config.system, sizeof config.system, other.system);
                assert_true(kf_space_index(after->space, &config, &at, NULL, 0));
                if (before->states[i] == KF_STATE_OK)
                    assert_true(fabs(after->times_us[at] / before->times_us[i] - 1) < 1e-6);
            }
            kf_space_config(before->space, before->optimum, &config);
            kf_space_config(after->space, after->optimum, &other);
            for (int v = 0; v < config.count; v++)
                assert_memory_equal(&config.values[v], &other.values[v], sizeof config.values[v]);
            kf_landscape_free(after);
        }
        kf_landscape_free(before);
        assert_int_equal(kf_store_prune(store, 0, run, &(int){0}, NULL), KF_OK);
    }
    kf_store_close(store);
    if (read == 0) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exports_keep_mean_or_median),
        cmocka_unit_test(exports_keep_the_order),
        cmocka_unit_test(exports_keep_the_device),
        cmocka_unit_test(real_files_keep_their_times),
    };
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
