/* Tests problems: facts, which system a file belongs to, and the trial. Faults: a fact that is lost, or a
 * file that the wrong system takes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/backend/team/team.h"
#include "base/plan/trial.h"
#include "base/util/file.h"
#include "base/util/text.h"
#include "scene/scene.h"
#include "solver/systems.h"
#include "tests/unit/quick_compiler.h"

/* --- Facts ---------------------------------------------------------------------------------------------- */

static void some_facts(kf_facts *facts) {
    *facts = (kf_facts){NULL, 0, 0};
    kf_facts_size(facts, (const int[3]){20, 10, 5}, "nodes");
    kf_facts_amount(facts, "node_count", 1000, "nodes");
    kf_facts_amount(facts, "particle_count", 1234567, "particles");
    kf_facts_number(facts, "froude", 0.3, "");
    kf_facts_number(facts, "period", (double)NAN, "s");
    kf_facts_word(facts, "rheology", "bingham");
}

static void facts_come_back_from_json(void **state) {
    (void)state;
    kf_facts facts, back;
    kf_error error = {KF_OK, ""};
    some_facts(&facts);
    cJSON *json = kf_facts_to_json(&facts), *units = kf_facts_units(&facts);
    assert_int_equal(kf_facts_from_json("f", json, units, &back, &error), KF_OK);
    assert_int_equal(back.count, facts.count - 1); /* unknown values are left out */
    assert_true(kf_facts_value(&back, "particle_count") == 1234567);
    assert_string_equal(kf_facts_find(&back, "particle_count")->unit, "particles");
    assert_string_equal(kf_facts_find(&back, "rheology")->word, "bingham");
    assert_true(isnan(kf_facts_value(&back, "rheology")) && isnan(kf_facts_value(&back, "period")));
    assert_null(kf_facts_find(&back, "colour"));
    cJSON_Delete(json);
    cJSON_Delete(units);
    kf_facts_free(&facts);
    kf_facts_free(&back);
}

static void what_is_no_fact_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"a\": [1]}",
        "{\"a\": null}",
        "{\"a\": 1e999}",
        "{\"a\": true}",
        "{\"a\": 1, \"b\": \"a word of many more characters than a word may have\"}",
        "{\"a name of many more characters than a name may have\": 1}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kf_facts facts;
        kf_error error = {KF_OK, ""};
        cJSON *json = cJSON_Parse(texts[i]);
        assert_non_null(json);
        assert_int_equal(kf_facts_from_json("file", json, NULL, &facts, &error), KF_BAD_INPUT);
        assert_non_null(strstr(error.message, "file: facts."));
        assert_int_equal(facts.count, 0);
        cJSON_Delete(json);
    }
}

static void facts_describe_and_open_again(void **state) {
    (void)state;
    kf_facts facts, none = {NULL, 0, 0}, particles = {NULL, 0, 0};
    char text[KF_FACTS_TEXT];
    some_facts(&facts);
    assert_string_equal(kf_facts_text(&facts, text), "20x10x5 nodes, 1234567 particles");
    assert_string_equal(kf_facts_size_text(&facts, text), "20x10x5");
    assert_string_equal(kf_facts_text(&none, text), "");
    kf_facts_amount(&particles, "particle_count", 10, "particles");
    assert_string_equal(kf_facts_size_text(&particles, text), "10 particles");
    const kf_problem_options options = kf_problem_options_of(&facts, 7);
    assert_true(options.nodes[1] == 10 && options.samples_per_cell == 0 && options.seed == 7);
    assert_int_equal(kf_problem_options_of(&particles, 0).nodes[0], 0);
    kf_facts_free(&facts);
    kf_facts_free(&particles);
}

/* --- Which system --------------------------------------------------------------------------------------- */

static void a_file_says_its_system(void **state) {
    (void)state;
    static const char *const systems[][2] = {
        {"ball", "kinetic"}, {"cylinder2d", "d2q9"}, {"tests/data/t1/blur.t1.json", "t1"}};
    for (int i = 0; i < 3; i++) {
        kf_problem *problem = NULL;
        kf_error error = {KF_OK, ""};
        if (kf_problem_open(systems[i][0], NULL, NULL, &problem, &error) != KF_OK)
            fail_msg("%s", error.message);
        assert_string_equal(problem->system->name, systems[i][1]);
        kf_problem_free(problem);
    }
}

static void every_shipped_scene_has_a_system(void **state) {
    (void)state;
    const kf_problem_options few = {.samples_per_cell = 1};
    const char *const *names = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_scene_library(&names, &error), KF_OK);
    for (; *names != NULL; names++) {
        kf_problem *problem = NULL;
        kf_status status = kf_problem_open(*names, NULL, &few, &problem, &error);
        if (status == KF_BAD_INPUT) status = kf_problem_open(*names, NULL, NULL, &problem, &error);
        if (status != KF_OK) fail_msg("%s", error.message);
        assert_string_equal(problem->name, *names);
        assert_true(problem->facts.count > 0 && strlen(problem->hash) == 64);
        kf_problem_free(problem);
    }
}

static void expect_refused(const char *source, const char *system, const kf_problem_options *options,
                           const char *says) {
    kf_problem *problem = NULL;
    kf_error error = {KF_OK, ""};
    const kf_status status = kf_problem_open(source, system, options, &problem, &error);
    if (status != KF_BAD_INPUT || strstr(error.message, says) == NULL)
        fail_msg("%s with %s: status %d: %s", source, system != NULL ? system : "any", (int)status,
                 error.message);
    assert_null(problem);
}

static void what_no_system_runs_is_refused(void **state) {
    (void)state;
    const kf_problem_options grid = {.nodes = {8, 8, 8}}, samples = {.samples_per_cell = 3};
    expect_refused("nowhere.json", NULL, NULL, "nowhere.json");
    expect_refused("bal", NULL, NULL, "did you mean ball");
    expect_refused("ball", "kinetc", NULL, "did you mean 'kinetic'");
    expect_refused("ball", "d2q9", NULL, "two-dimensional");
    expect_refused("ball", "t1", NULL, "ball");
    expect_refused("cylinder2d", "kinetic", NULL, "two-dimensional");
    expect_refused("cavity2d", NULL, &(kf_problem_options){.nodes = {64, 64, 4}}, "; d2q9: ");
    expect_refused("tests/data/t1/blur.t1.json", "kinetic", NULL, "unknown key");
    expect_refused("tests/data/t1/blur.t1.json", NULL, &grid, "--grid");
    expect_refused("tests/data/t1/blur.t1.json", NULL, &samples, "--samples-per-cell");
    static const char *const unsampled[] = {"paddle", "cavity2d", "cylinder2d", "particles_32", "plume"};
    for (size_t i = 0; i < sizeof unsampled / sizeof *unsampled; i++)
        expect_refused(unsampled[i], NULL, &samples, "samples");
    const kf_problem_options accuracy = {.accuracy = 0.01}, sloppy = {.accuracy = 0.2};
    expect_refused("tests/data/t1/blur.t1.json", NULL, &accuracy, "--accuracy");
    expect_refused("particles_32", NULL, &accuracy, "--accuracy");
    expect_refused("plume", NULL, &accuracy, "--accuracy");
    expect_refused("ball", NULL, &sloppy, "accuracy 0.2: must lie");
}

/* The options that open a stored scene again contain no number of samples where nothing is sampled,
 * because its system would refuse it. */
static void facts_without_samples_open_again(void **state) {
    (void)state;
    static const char *const sources[] = {"paddle", "cavity2d", "cylinder2d", "ball"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        kf_problem *problem = NULL, *again = NULL;
        kf_error error = {KF_OK, ""};
        assert_int_equal(kf_problem_open(sources[i], NULL, NULL, &problem, &error), KF_OK);
        const kf_problem_options options = kf_problem_options_of(&problem->facts, problem->seed);
        assert_int_equal(options.samples_per_cell > 0.0, strcmp(sources[i], "ball") == 0);
        if (kf_problem_open(sources[i], NULL, &options, &again, &error) != KF_OK)
            fail_msg("%s", error.message);
        assert_string_equal(again->hash, problem->hash);
        kf_problem_free(problem);
        kf_problem_free(again);
    }
}

/* --- The trial ------------------------------------------------------------------------------------------ */

static void a_trial_is_small_and_of_the_same_system(void **state) {
    (void)state;
    kf_problem *problem = NULL;
    kf_trial trial;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_problem_open("ball", NULL, NULL, &problem, &error), KF_OK);
    assert_int_equal(kf_trial_open(problem, &trial, &error), KF_OK);
    assert_ptr_equal(trial.problem->system, problem->system);
    assert_true(kf_facts_value(&trial.problem->facts, "node_count") <= 24000);
    assert_true(kf_facts_value(&problem->facts, "node_count") > 24000);
    assert_true(trial.steps > 0 && trial.reference == NULL);
    kf_trial_close(&trial);
    kf_problem_free(problem);
}

/* The default config passes the gate within its bound. A config that the system cannot run is refused. */
static void the_gate_is_one_function(void **state) {
    (void)state;
    const kf_problem_options small = {.nodes = {24, 16, 16}, .samples_per_cell = 2};
    kf_problem *problem = NULL;
    kf_trial trial;
    kf_space *space = NULL;
    kf_backend *backend = NULL;
    kf_config config;
    kf_verification verification;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_backend_open("cpu:1", &backend, &error), KF_OK);
    assert_int_equal(kf_problem_open("ball", NULL, &small, &problem, &error), KF_OK);
    assert_int_equal(kf_trial_open(problem, &trial, &error), KF_OK);
    assert_int_equal(kf_trial_refer(&trial, &error), KF_OK);
    assert_int_equal(kf_problem_space(problem, kf_backend_device(backend), NULL, 0, &space, &error), KF_OK);
    assert_int_equal(kf_space_preset(space, "default", &config, &error), KF_OK);
    if (kf_trial_verify(&trial, &config, backend, &verification, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_true(verification.error <= verification.bound && verification.bound < 1);
    kf_config_set_name(&config, "storage", "f63");
    assert_int_equal(kf_trial_verify(&trial, &config, backend, &verification, &error), KF_BAD_INPUT);
    kf_space_free(space);
    kf_trial_close(&trial);
    kf_problem_free(problem);
    kf_backend_close(backend);
}

/* A remembered source opens again from any folder: a file by its full path, a shipped scene by its name. */
static void sources_open_from_anywhere(void **state) {
    (void)state;
    static const char *const shipped[] = {"ball", "cavity2d", "plume", "dam_break_2d"};
    const kf_problem_options options = {.nodes = {0}};
    char folder[] = "/tmp/kftune-problem-XXXXXX", here[KF_PATH], data[KF_PATH], file[KF_PATH], *text = NULL;
    const char *shared_data = getenv("KFTUNE_DATA");
    assert_non_null(getcwd(here, sizeof here));
    assert_non_null(realpath(shared_data != NULL ? shared_data : ".", data));
    setenv("KFTUNE_DATA", data, 1);
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++) {
        kf_problem *problem = NULL;
        kf_error error = {KF_OK, ""};
        size_t size = 0;
        char wanted[KF_PATH];
        assert_int_equal(kf_problem_open(shipped[i], NULL, &options, &problem, &error), KF_OK);
        assert_string_equal(problem->source, shipped[i]);
        kf_problem_free(problem);
        assert_int_equal(kf_path(file, NULL, "%s/scene/library/%s.json", data, shipped[i]), KF_OK);
        assert_int_equal(kf_file_read(file, 0, &text, &size, NULL), KF_OK);
        assert_int_equal(kf_path(wanted, NULL, "%s/own.json", folder), KF_OK);
        assert_int_equal(kf_file_write_atomic(wanted, text, size, NULL), KF_OK);
        free(text);
        assert_int_equal(chdir(folder), 0);
        if (kf_problem_open("own.json", NULL, &options, &problem, &error) != KF_OK)
            fail_msg("%s: %s", shipped[i], error.message);
        assert_int_equal(chdir(here), 0);
        assert_string_equal(problem->source, wanted);
        kf_problem_free(problem);
        assert_int_equal(remove(wanted), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_come_back_from_json),
        cmocka_unit_test(what_is_no_fact_is_refused),
        cmocka_unit_test(facts_describe_and_open_again),
        cmocka_unit_test(a_file_says_its_system),
        cmocka_unit_test(every_shipped_scene_has_a_system),
        cmocka_unit_test(what_no_system_runs_is_refused),
        cmocka_unit_test(facts_without_samples_open_again),
        cmocka_unit_test(a_trial_is_small_and_of_the_same_system),
        cmocka_unit_test(the_gate_is_one_function),
        cmocka_unit_test(sources_open_from_anywhere),
    };
    return cmocka_run_group_tests_name("problem", tests, take_quick_compiler, NULL);
}
