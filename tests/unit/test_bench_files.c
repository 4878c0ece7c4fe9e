/* Tests the files of suites of fixed comparisons, and those that are shipped: what a file must say, and that
 * nothing in it is without use. Faults: a missing number counts as 0, or a figure is of another timing. */
#include "tests/unit/bench_suites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "tests/unit/without_keys.h"

static void test_bad_files(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"[]", "must be an object"},
        {"{\"suite\": \"s\"}", "figures"},
        {"{\"suite\": \"s\", \"figures\": [{\"kind\": \"copy\"}]}", "with a name"},
        {"{\"suite\": \"s\", \"benchmarks\": []}", "kftune nightly"},
        {"{\"suite\": \"s\", \"figure\": []}", "figures"},
        {"{\"suite\": \"s\", \"figures\": [{\"name\": \"a\", \"kind\": \"rato\"}]}", "'rate'"},
        {"{\"suite\": \"s\", \"figures\": [{\"name\": \"a\", \"kind\": \"rate\"}]}", "needs the key of"},
        {"{\"suite\": \"s\", \"figures\": [{\"name\": \"a\", \"kind\": \"copy\", \"flops\": 1}]}", "flops"},
        {"{\"suite\": \"s\", \"figures\": [{\"name\": \"a\", \"kind\": \"rate\", \"of\": \"f31\"}], "
         "\"scenes\": "
         "[{\"name\": \"x\", \"scene\": \"ball\"}], \"timings\": [{\"name\": \"f32\", \"scene\": \"x\"}]}",
         "'f32'"},
        {"{\"suite\": \"s\", \"figures\": [{\"name\": \"a\", \"kind\": \"copy\"}], \"scenes\": [{\"name\": "
         "\"x\", "
         "\"like\": \"x\", \"changes\": {}}]}",
         "before it"},
        {"{\"suite\": \"s\", \"figures\": [{\"name\": \"a\", \"kind\": \"copy\"}], \"scenes\": [{\"name\": "
         "\"x\"}]}",
         "one of scene, like"},
        {"{\"suite\": \"s\", \"figures\": [{\"name\": \"a\", \"kind\": \"copy\"}], \"scenes\": [{\"name\": "
         "\"x\", \"scene\": \"ball\"}, {\"name\": \"y\", \"scene\": \"ball\", \"like\": \"x\", "
         "\"changes\": {}}]}",
         "y: give one of scene, like"},
        {"{\"suite\": \"s\", \"figures\": [{\"name\": \"a\", \"kind\": \"copy\"}], \"scenes\": [{\"name\": "
         "\"x\", "
         "\"scene\": \"ball\"}], \"timings\": [{\"name\": \"t\", \"scene\": \"x\", \"candidates\": "
         "\"flow\"}]}",
         "no list 'flow'"},
        {"{\"suite\": \"s\\u001b[2J\", \"figures\": []}", "cannot be printed"},
        {"{\"suite\": \"s\", \"figures\": [{\"name\": \"a\", \"kind\": \"co\\u0007py\"}]}",
         "cannot be printed"},
        {"{\"suite\": \"s\", \"figures\": [{\"na\\u001bme\": \"a\"}]}", "cannot be printed"},
    };
    char path[KF_PATH];
    kf_error error = {KF_OK, ""};
    kf_suite_file *file = NULL;
    const char *folder = getenv("KFTUNE_SCRATCH");
    (void)snprintf(path, sizeof path, "%s/bad-suite-%d.json", folder != NULL ? folder : "/tmp",
                   (int)getpid());
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(kf_file_write_atomic(path, bad[i].text, strlen(bad[i].text), &error), KF_OK);
        if (kf_suite_file_read(path, &file, &error) != KF_BAD_INPUT) fail_msg("taken: %s", bad[i].text);
        assert_null(file);
        if (strstr(error.message, bad[i].says) == NULL) fail_msg("%s: %s", bad[i].text, error.message);
    }
    (void)unlink(path);
}

/* A figure has what its kind is made of, of the right type: a number that is left out would count as 0. */
static void test_keys_of_kinds(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"\"kind\": \"times_published\", \"of\": \"t\"", "figures.published_us: is missing"},
        {"\"kind\": \"times_published\", \"of\": \"t\", \"published_us\": \"12\"", "figures.published_us"},
        {"\"kind\": \"times_published\", \"of\": \"t\", \"published_us\": 0", "figures.published_us"},
        {"\"kind\": \"peak_part\", \"of\": \"t\"", "figures.flops: is missing"},
        {"\"kind\": \"run_of_steps\", \"of\": \"t\"", "figures.steps: is missing"},
        {"\"kind\": \"rate\", \"of\": \"t\", \"bytes\": \"72\"", "figures.bytes"},
        {"\"kind\": \"roof\"", "figures.roof: is missing"},
        {"\"kind\": \"kernels_time\", \"of\": \"t\"", "figures.kernels: must be a list of names"},
        {"\"kind\": \"kernels_time\", \"of\": \"t\", \"kernels\": \"stream\"",
         "figures.kernels: must be a list"},
        {"\"kind\": \"kernels_time\", \"of\": \"t\", \"kernels\": []", "figures.kernels: must be a list"},
        {"\"kind\": \"kernels_time\", \"of\": \"t\", \"kernels\": [1]", "figures.kernels: must be a list"},
        {"\"kind\": \"own_kernels_part\", \"of\": \"t\", \"against\": \"u\", \"without\": \"x\"",
         "figures.without: must be a list"},
        {"\"kind\": \"own_kernels_rate\", \"of\": \"t\", \"against\": \"u\"", "figures.fact: is missing"}};
    char path[KF_PATH];
    const char *folder = getenv("KFTUNE_SCRATCH");
    (void)snprintf(path, sizeof path, "%s/kinds-%d.json", folder != NULL ? folder : "/tmp", (int)getpid());
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        kf_text text = {0};
        kf_error error = {KF_OK, ""};
        kf_suite_file *file = NULL;
        kf_text_append(&text,
                       "{\"suite\": \"s\", \"scenes\": [{\"name\": \"x\", \"scene\": \"ball\"}], "
                       "\"timings\": [{\"name\":"
                       "\"t\", \"scene\": \"x\"}, {\"name\": \"u\", \"scene\": \"x\"}], \"figures\": "
                       "[{\"name\": \"f\", %s}]}",
                       bad[i][0]);
        assert_int_equal(kf_file_write_atomic(path, text.text, text.length, &error), KF_OK);
        kf_text_free(&text);
        if (kf_suite_file_read(path, &file, &error) != KF_BAD_INPUT) fail_msg("taken: %s", bad[i][0]);
        if (strstr(error.message, bad[i][1]) == NULL) fail_msg("%s: %s", bad[i][0], error.message);
    }
    (void)unlink(path);
}

static kf_status read_suite(const char *path, kf_error *error) {
    kf_suite_file *file = NULL;
    const kf_status status = kf_suite_file_read(path, &file, error);
    kf_suite_file_free(file);
    return status;
}

/* A suite lacks one key after the other. */
static void test_keys_that_are_needed(void **state) {
    (void)state;
    static const char json[] =
        "{\"suite\": \"s\", \"description\": \"d\", \"promise\": \"p\", \"asked_of\": \"H200\", \"seconds\": "
        "9,"
        "\"scenes\": [{\"name\": \"x\", \"scene\": \"ball\", \"grid\": [32, 24, 24], \"samples_per_cell\": "
        "20, \"cpu\":"
        "{\"grid\": [16, 12, 12]}}, {\"name\": \"y\", \"like\": \"x\", \"changes\": {\"moving\": true},"
        "\"verified_as\": \"x\"}], \"candidates\": {\"few\": [{\"name\": \"c\", \"with\": {\"layout\": "
        "\"aos\"}}]},"
        "\"timings\": [{\"name\": \"t\", \"scene\": \"x\", \"preset\": \"paper\", \"candidates\": \"few\","
        "\"seconds\": 1}, {\"name\": \"u\", \"scene\": \"y\", \"with\": {\"layout\": \"soa\"}}], \"figures\":"
        "[{\"name\": \"f\", \"kind\": \"rate\", \"of\": \"t\", \"must\": 1, \"aim\": 2}, {\"name\": \"g\", "
        "\"kind\":"
        "\"ratio\", \"of\": \"t\", \"against\": [\"u\"], \"note\": \"n\"}, {\"name\": \"h\", \"kind\":"
        "\"kernels_time\", \"of\": \"u\", \"kernels\": [\"stream\"], \"published\": 3}]}";
    char source[KF_PATH], path[KF_PATH];
    const char *folder = getenv("KFTUNE_SCRATCH");
    kf_error error = {KF_OK, ""};
    (void)snprintf(source, sizeof source, "%s/whole-suite-%d.json", folder != NULL ? folder : "/tmp",
                   (int)getpid());
    (void)snprintf(path, sizeof path, "%s/without-key-%d.json", folder != NULL ? folder : "/tmp",
                   (int)getpid());
    assert_int_equal(kf_file_write_atomic(source, json, strlen(json), &error), KF_OK);
    if (read_suite(source, &error) != KF_OK) fail_msg("%s", error.message);
    assert_needed(source, path, read_suite, "needed-suite.txt");
    (void)unlink(source);
    (void)unlink(path);
}

static void test_names_of_suites(void **state) {
    (void)state;
    kf_bench_suite suite;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_bench_suite_open("stp", &suite, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "did you mean step?"));
    assert_int_equal(kf_bench_suite_open(NULL, &suite, &error), KF_BAD_INPUT);
    static const char *const shipped[] = {"avalanche", "kinetic-paper", "rtfluids", "scaling",
                                          "search",    "small-grids",   "step",     "toelke"};
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++)
        assert_non_null(strstr(error.message, shipped[i]));
    open_suite("search", &suite);
    assert_null(suite.file);
}

/* The script scripts/gpu/incompressible.sh names those of one size. */
static void test_all_figures_can_be_named(void **state) {
    (void)state;
    static const char *const names[] = {"incompressible", "kinetic-paper", "toelke"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kf_bench_suite suite;
        open_suite(names[i], &suite);
        assert_in_range(suite.file->figure_count, 1, KF_OPTION_VALUES);
        kf_suite_file_free(suite.file);
    }
}

/* The suite has every name of the table in which the figures are published. */
static void test_published_figures_have_their_names(void **state) {
    (void)state;
    static const char *const published[] = {
        "step_f32_acm",    "acm_over_bgk",      "step_f16_acm",        "step_inplace_f32",
        "ib_share_static", "ib_share_rotating", "ib_throughput",       "step_moments_f32",
        "over_paper",      "over_baseline",     "graph_over_launches", "rotating_over_static"};
    kf_bench_suite suite;
    open_suite("step", &suite);
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        const kf_suite_figure *row = suite.file->figures, *end = row + suite.file->figure_count;
        while (row < end && strcmp(row->name, published[i]) != 0)
            row++;
        assert_true(row < end && isfinite(row->must));
    }
    kf_bench_suite_free(&suite);
}

/* Returns how much of a timing's name is a scene's name, as a whole word. */
static size_t names(const char *scene, const char *timing) {
    const size_t length = strlen(scene);
    return strncmp(scene, timing, length) == 0 && strchr(", ", timing[length]) != NULL ? length : 0;
}

/* Returns whether two figures are of the same kernels of the same timings. */
static bool same_kernels(const kf_suite_figure *a, const kf_suite_figure *b) {
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(a->row, "kernels"),
                *other = cJSON_GetObjectItemCaseSensitive(b->row, "kernels");
    return own != NULL && other != NULL && cJSON_Compare(own, other, true) && a->kind == b->kind &&
           a->of_count == b->of_count && a->against_count == b->against_count &&
           memcmp(a->of, b->of, (size_t)a->of_count * sizeof *a->of) == 0 &&
           memcmp(a->against, b->against, (size_t)a->against_count * sizeof *a->against) == 0;
}

/* In each shipped suite every scene is timed or another's model, every timing is of a figure, a figure with a
 * timing's name is of that timing, and a timing that begins with a scene's name is of that scene. No figure
 * is against itself.
 */
static void test_suites_use_all_that_they_time(void **state) {
    (void)state;
    static const char *const suites[] = {"avalanche",   "incompressible", "kinetic-paper", "rtfluids",
                                         "small-grids", "step",           "toelke"};
    for (size_t s = 0; s < sizeof suites / sizeof *suites; s++) {
        kf_bench_suite suite;
        open_suite(suites[s], &suite);
        const kf_suite_file *file = suite.file;
        bool *timed = kf_allocate_zeroed((size_t)file->scene_count + 1, sizeof *timed),
             *shown = kf_allocate_zeroed((size_t)file->timing_count + 1, sizeof *shown);
        for (int f = 0; f < file->figure_count; f++) {
            const kf_suite_figure *figure = &file->figures[f];
            for (int i = 0; i < figure->against_count; i++)
                shown[figure->against[i]] = true;
            for (int i = 0; i < figure->of_count; i++)
                shown[figure->of[i]] = true;
            for (int k = 0; k < f; k++)
                if (same_kernels(figure, &file->figures[k]))
                    fail_msg("%s: %s is %s", suites[s], figure->name, file->figures[k].name);
            if (figure->of_count == 1 && figure->against_count == 1 && figure->of[0] == figure->against[0])
                fail_msg("%s: against itself", figure->name);
            for (int t = 0; t < file->timing_count; t++)
                if (strcmp(figure->name, file->timings[t].name) == 0 &&
                    (figure->of_count != 1 || figure->of[0] != t))
                    fail_msg("%s: %s is of another timing", suites[s], figure->name);
        }
        for (int t = 0; t < file->timing_count; t++) {
            const kf_suite_timing *timing = &file->timings[t];
            const size_t own = names(file->scenes[timing->scene].name, timing->name);
            timed[timing->scene] = true;
            if (!shown[t]) fail_msg("%s: no figure is of %s", suites[s], timing->name);
            for (int k = 0; k < file->scene_count; k++)
                if (names(file->scenes[k].name, timing->name) > own)
                    fail_msg("%s: %s is of scene %s", suites[s], timing->name,
                             file->scenes[timing->scene].name);
        }
        for (int k = 0; k < file->scene_count; k++)
            for (int i = 0; i < 2; i++) {
                const int other = i == 0 ? file->scenes[k].like : file->scenes[k].verified_as;
                if (other >= 0) timed[other] = true;
            }
        for (int k = 0; k < file->scene_count; k++)
            if (!timed[k] && k != file->about)
                fail_msg("%s: %s is not timed", suites[s], file->scenes[k].name);
        free(timed);
        free(shown);
        kf_bench_suite_free(&suite);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_keys_that_are_needed),
        cmocka_unit_test(test_keys_of_kinds),
        cmocka_unit_test(test_names_of_suites),
        cmocka_unit_test(test_all_figures_can_be_named),
        cmocka_unit_test(test_published_figures_have_their_names),
        cmocka_unit_test(test_suites_use_all_that_they_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
