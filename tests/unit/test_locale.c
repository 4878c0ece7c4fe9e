/* Tests the library in a program whose locale has a decimal comma, as GTK, Qt and R set it. Faults: a
 * number that is read or written in whatever locale is set, or a caller whose locale changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/json.h"
#include "base/util/locale.h"
#include "base/util/parallel.h"
#include "base/util/text.h"
#include "harness/library/kftune.h"
#include "solver/systems.h"
#include "tests/unit/quick_compiler.h"
#include "tests/unit/scene_files.h"

/* These are the struct's first members. Only this test reads them. */
struct kftune_problem {
    kf_problem *problem;
};

/* --- The locale --- */

static bool comma_is_there;

/* The test makes its own locale, because a machine may have none: a comma for decimals, points for
 * thousands. */
static int make_locale(void **state) {
    if (take_quick_compiler(state) != 0 || make_test_folder(state) != 0) return 1;
    const char *source = write_text("comma", "comment_char %\nLC_NUMERIC\ndecimal_point \",\"\n"
                                             "thousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n");
    char command[2000];
    (void)snprintf(command, sizeof command, "localedef -c -i '%s' '%s/xx_XX' >'%s' 2>&1", source, test_folder,
                   test_path("localedef.log"));
    if (system(command) != 0) print_message("localedef says something\n");
    if (setenv("LOCPATH", test_folder, 1) != 0) return 1;
    comma_is_there = setlocale(LC_ALL, "xx_XX") != NULL;
    (void)setlocale(LC_ALL, "C");
    return 0;
}

static void need_comma(void) {
    if (comma_is_there) return;
    print_message("skipped: localedef cannot make a locale here\n");
    skip();
}

static bool comma_is_set(void) {
    char text[8];
    (void)snprintf(text, sizeof text, "%.1f", 0.5);
    return strcmp(text, "0,5") == 0;
}

static void set_comma(bool comma) {
    assert_non_null(setlocale(LC_ALL, comma ? "xx_XX" : "C"));
    assert_int_equal(comma_is_set(), comma);
}

/* --- Opening --- */

/* Appends hash and facts, or the reason why it does not open, as the library finds them in this locale. */
static void tell_opened(const char *source, const char *system, bool comma, kf_text *text) {
    const kftune_scene_options options = {.size = sizeof options, .system = system};
    kftune_problem *problem = NULL;
    set_comma(comma);
    const kftune_status status = kftune_open_scene(source, &options, &problem);
    assert_int_equal(comma_is_set(), comma);
    set_comma(false);
    if (status != KFTUNE_OK) {
        kf_text_append(text, "%s %s: %s\n", source, system, kftune_error());
        return;
    }
    cJSON *facts = kf_facts_to_json(&problem->problem->facts);
    char *written = kf_json_canonical(facts);
    kf_text_append(text, "%s %s: %s %s %s\n", source, system, problem->problem->hash, written,
                   problem->problem->notes.text != NULL ? problem->problem->notes.text : "");
    free(written);
    cJSON_Delete(facts);
    kftune_close(problem);
}

static int compare_opened(const char *pattern, int *opened) {
    glob_t files;
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t f = 0; f < files.gl_pathc; f++) {
        for (const kf_system *const *system = kf_systems; *system != NULL; system++) {
            kf_text with_point = {0}, with_comma = {0};
            tell_opened(files.gl_pathv[f], (*system)->name, false, &with_point);
            tell_opened(files.gl_pathv[f], (*system)->name, true, &with_comma);
            assert_string_equal(with_comma.text, with_point.text);
            *opened += strstr(with_point.text, "{\"") != NULL;
            kf_text_free(&with_point);
            kf_text_free(&with_comma);
        }
    }
    const int count = (int)files.gl_pathc;
    globfree(&files);
    return count;
}

static void every_scene_is_the_same(void **state) {
    (void)state;
    need_comma();
    int opened = 0;
    const int scenes = compare_opened("scene/library/*.json", &opened);
    const int kernels = compare_opened("tests/data/t1/*.t1.json", &opened);
    assert_true(scenes >= 30 && kernels >= 10 && opened >= scenes + kernels);
}

/* --- Tuning --- */

/* Tunes in one locale, and asks the store in the other. The presets are measured however short the time
 * is. A final would take most of it, and ends with the budget. */
static void tune_and_ask(const char *source, const char *system, const int nodes[3], bool comma) {
    const char *store = test_path(comma ? "comma.db" : "point.db");
    kftune_scene_options opening = {.size = sizeof opening, .system = system};
    memcpy(opening.nodes, nodes, sizeof opening.nodes);
    const kftune_options options = {
        .size = sizeof options, .device = "cpu:1", .store = store, .seconds = 0.1, .evaluations = 1};
    kftune_problem *problem = NULL;
    kftune_result *tuned = NULL, *known = NULL;
    set_comma(comma);
    if (kftune_open_scene(source, &opening, &problem) != KFTUNE_OK ||
        kftune_tune(problem, &options, &tuned) != KFTUNE_OK)
        fail_msg("%s: %s", source, kftune_error());
    cJSON *said = cJSON_Parse(kftune_json(tuned));
    assert_non_null(said);
    cJSON_Delete(said);
    assert_int_equal(kftune_save(tuned, test_path("saved.json")), KFTUNE_OK);
    set_comma(!comma);
    assert_int_equal(kftune_best(problem, &options, &known), KFTUNE_OK);
    assert_int_equal(kftune_exact(known), 1);
    /* The store returns the time of all runs of this config, which differ a little. */
    const double share = kftune_time_us(known) / kftune_time_us(tuned);
    if (!(share > 0.1 && share < 10.0)) fail_msg("%s: %g of the time that was measured", source, share);
    set_comma(false);
    kf_error error = {0};
    cJSON *saved = NULL;
    assert_int_equal(kf_json_read_file(test_path("saved.json"), &saved, &error), KF_OK);
    cJSON_Delete(saved);
    kftune_free(tuned);
    kftune_free(known);
    kftune_close(problem);
}

static void what_is_tuned_is_known_elsewhere(void **state) {
    (void)state;
    static const struct {
        const char *source, *system;
        int nodes[3];
    } some[] = {{"cavity2d", "d2q9", {32, 32, 1}},
                {"plume", "stable_fluids", {64, 64, 1}},
                {"slump", "sph", {60, 8, 1}},
                {"tests/data/t1/convolution_c.t1.json", "t1", {0, 0, 0}}};
    need_comma();
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        tune_and_ask(some[i].source, some[i].system, some[i].nodes, true);
    tune_and_ask(some[0].source, some[0].system, some[0].nodes, false);
}

/* --- The caller's own functions --- */

static int lines_with_comma, lines;

static void hear(void *context, const char *text) {
    (void)context, (void)text;
    lines++;
    lines_with_comma += comma_is_set();
}

static int begin(void *context, const kftune_config *config) {
    (void)context, (void)config;
    return comma_is_set() ? 0 : 11;
}

static int run(void *context) {
    (void)context;
    (void)usleep(200);
    return comma_is_set() ? 0 : 12;
}

static int check(void *context, double *deviation, double *bound) {
    (void)context;
    *deviation = comma_is_set() ? 0.0 : 1.0;
    *bound = 0.5;
    return 0;
}

static void functions_see_their_own_locale(void **state) {
    (void)state;
    need_comma();
    const kftune_functions functions = {
        .size = sizeof functions, .prepare = begin, .run = run, .check = check};
    const kftune_options options = {
        .size = sizeof options, .store = test_path("functions.db"), .evaluations = 2};
    kftune_problem *problem = NULL;
    kftune_result *result = NULL;
    set_comma(true);
    kftune_log(hear, NULL);
    const char *space = "{\"parameters\": [{\"name\": \"how\", \"type\": \"integer\", \"values\": [1, 2], "
                        "\"default\": 1}]}";
    if (kftune_open_functions("of-a-comma", space, &functions, &problem) != KFTUNE_OK ||
        kftune_tune(problem, &options, &result) != KFTUNE_OK)
        fail_msg("%s", kftune_error());
    kftune_log(NULL, NULL);
    assert_true(comma_is_set());
    set_comma(false);
    assert_true(lines > 0);
    assert_int_equal(lines, lines_with_comma);
    kftune_free(result);
    kftune_close(problem);
}

/* --- Threads --- */

static void count_commas(void *data, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++)
        ((bool *)data)[i] = comma_is_set();
}

/* A thread has the locale of the thread that begins it only if that is handed on. */
static void threads_have_the_locale_of_the_library(void **state) {
    (void)state;
    enum { COUNT = 4096 };
    static bool commas[COUNT];
    need_comma();
    set_comma(true);
    kf_locale_enter();
    kf_in_parallel(COUNT, 1, count_commas, commas);
    kf_locale_leave();
    for (int i = 0; i < COUNT; i++)
        assert_false(commas[i]);
    kf_in_parallel(COUNT, 1, count_commas, commas);
    set_comma(false);
    for (int i = 0; i < COUNT; i++)
        assert_true(commas[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_have_the_locale_of_the_library),
        cmocka_unit_test(functions_see_their_own_locale),
        cmocka_unit_test(what_is_tuned_is_known_elsewhere),
        cmocka_unit_test(every_scene_is_the_same),
    };
    return cmocka_run_group_tests(tests, make_locale, remove_test_folder);
}
