/* Tests texts from files and the environment at their limits: as many letters as there is room for, and
 * one more. Faults: a text that is cut instead of refused. */
#include "base/backend/cpu/cpu.h"
#include "base/util/json.h"
#include "harness/nightly/suite.h"
#include "scene/probes.h"
#include "scene/scene.h"
#include "solver/t1/t1.h"
#include "tests/unit/store_fixture.h"

static const char *letters(size_t count) {
    static char text[2 * KF_PATH];
    assert_true(count < sizeof text);
    memset(text, 'x', count);
    text[count] = '\0';
    return text;
}

static const char *write_file(const char *name, const char *text) {
    static char path[KF_PATH];
    kf_error error = {0};
    fixture_path(path, name);
    assert_int_equal(kf_file_write_atomic(path, text, strlen(text), &error), KF_OK);
    return path;
}

/* Returns the status of reading a suite of `before`, `count` letters and `behind`. */
static kf_status read_suite(const char *before, size_t count, const char *behind, kf_error *error) {
    static char text[4 * KF_PATH];
    kf_suite suite;
    (void)snprintf(text, sizeof text, "%s%s%s", before, letters(count), behind);
    const kf_status status = kf_suite_read(write_file("suite.json", text), NULL, &suite, error);
    if (status == KF_OK) kf_suite_free(&suite);
    return status;
}

static void texts_of_suites(void **state) {
    (void)state;
    kf_suite_benchmark b;
    kf_timed_command c;
    static const char
        scene[] = "\", \"scene\": \"ball\"}]}",
        command[] = "\", \"unit\": \"ms\"}}]}",
        timed[] =
            "{\"suite\": \"s\", \"benchmarks\": [{\"name\": \"a\", \"command\": [\"true\"], \"time\": {";
    char printed[256], of_json[256], of_file[256];
    (void)snprintf(printed, sizeof printed, "%s\"printed\": \"", timed);
    (void)snprintf(of_json, sizeof of_json, "%s\"json\": \"", timed);
    (void)snprintf(of_file, sizeof of_file, "%s\"json\": \"a\", \"file\": \"", timed);
    const struct {
        const char *before, *behind, *says;
        size_t size;
    } texts[] = {
        {"{\"suite\": \"s\", \"benchmarks\": [{\"name\": \"", scene, ".name: is too long", sizeof b.name},
        {"{\"suite\": \"", "\", \"benchmarks\": [{\"name\": \"a\", \"scene\": \"ball\"}]}",
         "suite: is too long", sizeof((kf_suite *)NULL)->name},
        {printed, command, ".printed: is longer than", sizeof c.key},
        {of_json, command, ".json: is longer than", sizeof c.key},
        {of_file, command, ".file: is longer than", sizeof c.file},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kf_error error = {0};
        if (read_suite(texts[i].before, texts[i].size - 1, texts[i].behind, &error) != KF_OK)
            fail_msg("%s", error.message);
        assert_int_equal(read_suite(texts[i].before, texts[i].size, texts[i].behind, &error), KF_BAD_INPUT);
        if (strstr(error.message, texts[i].says) == NULL) fail_msg("%s", error.message);
    }
    kf_error error = {0};
    assert_int_equal(
        read_suite("{\"suite\": \"s\", \"benchmarks\": [{\"name\": \"a\\u001b", 1, scene, &error),
        KF_BAD_INPUT);
}

/* A suite with any of these is refused, with the place. */
static void refusals_of_suites(void **state) {
    (void)state;
#define ONE(more) "{\"suite\": \"s\", \"benchmarks\": [{\"name\": \"a\", " more "}]}"
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"{\"suite\": \"s\", \"benchmarks\": []}", "benchmarks: must be a list of 1 to"},
        {"{\"suite\": \"s\", \"benchmarks\": {}}", "benchmarks: must be a list of 1 to"},
        {ONE("\"scene\": \"ball\", \"config\": {\"preset\": \"default\", \"best_of_store\": true}"),
         "config: give one of"},
        {ONE("\"scene\": \"ball\", \"config\": {}"), "config: give one of"},
        {ONE("\"scene\": \"ball\", \"config\": {\"best_of_store\": false}"),
         "best_of_store: can only be true"},
        {ONE("\"command\": []"), "command: must be a list of 1 to"},
        {ONE("\"command\": [\"true\", \"\"]"), "command: each must be a text of 1 to"},
        {ONE("\"command\": [\"true\", 5]"), "command: each must be a text of 1 to"},
        {ONE("\"command\": [\"true\"], \"keep\": 5"), "keep: must be a list of"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        kf_suite suite;
        kf_error error = {0};
        if (kf_suite_read(write_file("bad.json", bad[i].text), NULL, &suite, &error) != KF_BAD_INPUT)
            fail_msg("taken: %s", bad[i].text);
        if (strstr(error.message, bad[i].says) == NULL) fail_msg("%s: %s", bad[i].text, error.message);
    }
}

static void places_of_probes(void **state) {
    (void)state;
    kf_probe_texts *texts = kf_allocate_zeroed(1, sizeof *texts);
    for (size_t more = 0; more < 2; more++) {
        kf_error error = {0};
        cJSON *root = cJSON_CreateObject(), *probes = cJSON_AddObjectToObject(root, "probes");
        (void)cJSON_AddStringToObject(probes, "wake", letters(sizeof texts->list->text - 1 + more));
        assert_int_equal(kf_probes_of_file("s.json", root, texts, &error), more ? KF_BAD_INPUT : KF_OK);
        if (!more) assert_string_equal(texts->list[0].text, letters(sizeof texts->list->text - 1));
        cJSON_Delete(root);
    }
    free(texts);
}

static void names_of_solids(void **state) {
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        char text[2048];
        kf_error error = {0};
        kf_scene *scene = NULL;
        (void)snprintf(
            text, sizeof text,
            "{\"solids\": [{\"name\": \"%s\", \"shape\": \"ball\", \"radius\": 0.3, \"position\": [1, 0.6, "
            "1]}, "
            "{\"name\": \"other\", \"shape\": \"ball\", \"radius\": 0.3, \"position\": [1, 1.8, 1]}], "
            "\"domain\": {\"cells\": [30, 24, 20], \"cell_size\": 0.1}, \"flow\": {\"speed\": 1, "
            "\"reynolds\": 40, \"reference_length\": 0.6}, \"model\": {\"collision\": \"bgk\"}, "
            "\"sampling\": {\"samples_per_cell\": 9}}",
            letters(KF_SOLID_NAME - 1 + more));
        const kf_status status = kf_scene_open(write_file("solids.json", text), NULL, &scene, &error);
        if (status != (more ? KF_BAD_INPUT : KF_OK)) fail_msg("%zu: %s", more, error.message);
        if (!more) assert_string_equal(scene->solids[0].name, letters(KF_SOLID_NAME - 1));
        kf_scene_free(scene);
    }
}

/* What should follow the name is missing, which is reported only for a name that fits. */
static void names_of_kernels(void **state) {
    (void)state;
    kf_t1_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    for (size_t more = 0; more < 2; more++) {
        kf_error error = {0};
        cJSON *kernel = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(kernel, "Language", "C");
        (void)cJSON_AddStringToObject(kernel, "KernelName", letters(sizeof problem->kernel_name - 1 + more));
        assert_int_equal(kf_t1_read_kernel(problem, kernel, &error), KF_BAD_INPUT);
        if ((strstr(error.message, "KernelName: must be 1 to") != NULL) != (more == 1))
            fail_msg("%s", error.message);
        cJSON_Delete(kernel);
    }
    free(problem);
}

/* The command ends in blanks. */
static void names_of_compilers(void **state) {
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        kf_host_compiler compiler;
        kf_error error = {0};
        char command[KF_COMMAND + 1];
        (void)snprintf(command, sizeof command, "%-*s", (int)(KF_COMMAND - 1 + more), "cc -g0");
        assert_int_equal(strlen(command), KF_COMMAND - 1 + more);
        assert_int_equal(setenv("KFTUNE_CC", command, 1), 0);
        const kf_status status = kf_host_compiler_find(&compiler, &error);
        if (status != (more ? KF_HOST : KF_OK)) fail_msg("%zu more: %s", more, error.message);
    }
    (void)unsetenv("KFTUNE_CC");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_suites),  cmocka_unit_test(refusals_of_suites),
        cmocka_unit_test(places_of_probes), cmocka_unit_test(names_of_solids),
        cmocka_unit_test(names_of_kernels), cmocka_unit_test(names_of_compilers)};
    return cmocka_run_group_tests(tests, fixture_make_folder, fixture_remove_folder);
}
