/* Tests what every validation case sets up, as known texts: scenes, configs, steps, and the checks with
 * their bounds. A device that only records (tests/tools/recording_backend.h) counts the steps and does not
 * do them, so measured values mean nothing and are left out. Cases end where they need a flow that
 * develops. Faults: a case whose flow or bound changes by accident, or which a flow without numbers passes.
 */
#include "base/space/space.h"
#include "solver/compare/comparisons.h"
#include "solver/d2q9/d2q9.h"
#include "solver/incompressible/incompressible.h"
#include "solver/kinetic/kinetic.h"
#include "solver/sph/sph.h"
#include "solver/stable_fluids/stable_fluids.h"
#include "solver/systems.h"
#include "tests/tools/recording_backend.h"
#include "tests/unit/modelled_gpu.h"
#include "tests/unit/tell_scene.h"

enum { MOST_ADVANCES = 200 };
static kf_text *told;     /* by the case that runs; NULL: none does */
static uint64_t advances; /* of it */
static char *last_scene;  /* of the case's plan before; NULL: there was none */

/* Steps of one plan that follow each other, as often as they do. */
static const kf_plan *advanced;
static uint64_t stretch, times;
static void end_stretch(void) {
    if (times > 0)
        kf_text_append(told, "  advances %llu x %llu steps\n", (unsigned long long)times,
                       (unsigned long long)stretch);
    times = 0;
}

static bool has_line(const char *text, const char *line, size_t length) {
    for (const char *at = text; at != NULL && *at != '\0'; at = strchr(at, '\n') + 1)
        if (strncmp(at, line, length) == 0 && at[length] == '\n') return true;
    return false;
}

/* Appends those lines that the text before lacks. */
static void tell_new_lines(const char *text, const char *before) {
    for (const char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        if (!has_line(before, line, (size_t)(end - line)))
            kf_text_append(told, "%.*s\n", (int)(end - line), line);
}

/* The linker gives calls of these functions from other files to what follows (Makefile). */
kf_plan *__real_kf_plan_create(kf_backend *backend, const kf_problem *problem, const kf_config *config,
                               const kf_plan_methods *methods, void *system);
kf_plan *__wrap_kf_plan_create(kf_backend *backend, const kf_problem *problem, const kf_config *config,
                               const kf_plan_methods *methods, void *system);
kf_status __wrap_kf_plan_advance(kf_plan *plan, uint64_t steps, kf_error *error);
kf_status __wrap_kf_plan_initialise(kf_plan *plan, kf_error *error);

static void tell_config(const kf_backend *backend, const kf_problem *problem, const kf_config *config) {
    kf_space *space = NULL;
    kf_config usual;
    kf_error error = {KF_OK, ""};
    if (kf_problem_space(problem, kf_backend_device(backend), NULL, 0, &space, &error) != KF_OK ||
        kf_space_preset(space, "default", &usual, &error) != KF_OK)
        fail_msg("%s", error.message);
    char *summary = kf_config_relative(config, &usual, "default");
    kf_text_append(told, "  config: %s\n", summary);
    free(summary);
    kf_space_free(space);
}

kf_plan *__wrap_kf_plan_create(kf_backend *backend, const kf_problem *problem, const kf_config *config,
                               const kf_plan_methods *methods, void *system) {
    const char *name = problem->system->name;
    end_stretch();
    advanced = NULL;
    kf_text scene = {0};
    kf_text_append(&scene, " %s ", name);
    if (strcmp(name, "sph") == 0)
        tell_particles(&scene, problem->own);
    else if (strcmp(name, "stable_fluids") == 0)
        tell_fluid(&scene, problem->own);
    else
        tell_scene(&scene, problem->own);
    kf_text_append(told, " plan\n");
    tell_new_lines(scene.text, last_scene);
    free(last_scene);
    last_scene = scene.text;
    tell_config(backend, problem, config);
    return __real_kf_plan_create(backend, problem, config, methods, system);
}

kf_status __wrap_kf_plan_advance(kf_plan *plan, uint64_t steps, kf_error *error) {
    if (plan != advanced || steps != stretch) end_stretch();
    advanced = plan;
    stretch = steps;
    times++;
    plan->steps_done += steps;
    return ++advances < MOST_ADVANCES ? KF_OK : kf_fail(error, KF_GATE_FAILED, "enough of it");
}

kf_status __wrap_kf_plan_initialise(kf_plan *plan, kf_error *error) {
    (void)error;
    plan->steps_done = 0;
    return KF_OK;
}

/* What is known without the flow, so that its check passes. */
static const char *const of_no_flow[] = {"surface of its nodes", "relative error of the solid fraction",
                                         "lives (1) or blows up (0)", "of the spectral code"};

static void assert_none_passes(const kf_validation *validation) {
    for (int i = 0; i < validation->check_count; i++) {
        const kf_check *check = &validation->checks[i];
        bool known = !check->pass;
        for (size_t k = 0; k < sizeof of_no_flow / sizeof *of_no_flow; k++)
            known = known || strstr(check->quantity, of_no_flow[k]) != NULL;
        if (!known)
            fail_msg("%s: %s passes with %g, without a number", check->name, check->quantity,
                     check->measured);
    }
}

static void tell_checks(const kf_validation *validation, const char *before) {
    kf_text checks = {0};
    for (int i = 0; i < validation->check_count; i++) {
        const kf_check *check = &validation->checks[i];
        kf_text_append(&checks, "  check %s: %.6g, bound %.6g (%s)\n", check->quantity, check->expected,
                       check->bound, check->source);
    }
    if (checks.text != NULL) tell_new_lines(checks.text, before);
    free(checks.text);
}

/* Runs a case. Lines that the text has already from the same case are left out. If spoilt, all that is read
 * of the flow is NaN, and no check of it may pass. */
static void run_case(kf_text *text, size_t begin, const kf_case *one, bool quick, bool on_gpu, bool spoilt) {
    static const int never = 0;
    kf_error error = {KF_OK, ""};
    kf_backend *backend = recording_open(on_gpu ? &gpu : &recording_host);
    recording_of(backend)->most_bytes = (size_t)56 << 20;
    recording_of(backend)->no_numbers = spoilt;
    kf_validation validation = {.backend = backend,
                                .quick = quick,
                                .gpu = on_gpu,
                                .interrupted = &never,
                                .accuracy = one->accuracy > 0 ? one->accuracy : KF_DEFAULT_ACCURACY,
                                .case_name = one->name};
    told = text;
    advances = 0;
    advanced = NULL;
    const kf_status status = one->run(&validation, &error);
    end_stretch();
    if (status != KF_OK) kf_text_append(told, "  ends: %s\n", error.message);
    char *before = strdup(told->text + begin);
    tell_checks(&validation, before);
    free(before);
    if (spoilt) assert_none_passes(&validation);
    free(validation.checks);
    kf_backend_close(backend);
}

static bool is_one_of(const char *name, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0) return true;
    return false;
}

/* Tells the cases, without those of a GPU if plans need a library that it lacks. What the cases of two
 * systems set up does not depend on the flow, so that their quick runs are spoilt. Most of stable fluids are
 * the same whether they are quick or not. */
static void tell_cases(const kf_system *system, bool with_gpu, const char *known) {
    static const char *const quicker[] = {"sf_taylor_green", "sf_numerical_viscosity", "sf_energy"};
    const bool fluids = system == &kf_system_stable_fluids, spoilt = fluids || system == &kf_system_d2q9;
    kf_text text = {0};
    const kf_case *list[KF_MOST_CASES];
    const int count = kf_cases_of(system, list);
    for (int i = 0; i < count; i++) {
        const kf_case *one = list[i];
        kf_text_append(&text, "%s%s, accuracy %g, quick\n", one->name, one->slow ? ", slow" : "",
                       one->accuracy);
        const size_t begin = text.length;
        run_case(&text, begin, one, true, false, spoilt && strcmp(one->name, "sf_cylinder") != 0);
        kf_text_append(&text, "whole\n");
        if (!fluids || is_one_of(one->name, quicker, sizeof quicker / sizeof *quicker))
            run_case(&text, begin, one, false, false, false);
        if (with_gpu) {
            kf_text_append(&text, "on a GPU\n");
            run_case(&text, begin, one, false, true, false);
        }
        free(last_scene);
        last_scene = NULL;
    }
    assert_known(known, text.text);
}

static void test_cases_of_kinetic(void **state) {
    (void)state;
    tell_cases(&kf_system_kinetic, true, "cases-kinetic.txt");
}
static void test_cases_of_d2q9(void **state) {
    (void)state;
    tell_cases(&kf_system_d2q9, true, "cases-d2q9.txt");
}
static void test_cases_of_stable_fluids(void **state) {
    (void)state;
    tell_cases(&kf_system_stable_fluids, false, "cases-stable-fluids.txt");
}
static void test_particles_cases(void **state) {
    (void)state;
    tell_cases(&kf_system_sph, true, "cases-sph.txt");
}
static void test_cases_of_incompressible(void **state) {
    (void)state;
    tell_cases(&kf_system_incompressible, true, "cases-incompressible.txt");
}

/* A flow that is no number passes no check. Cases that take longest to set up are left out. */
static void test_nothing_passes_without_numbers(void **state) {
    (void)state;
    static const kf_system *const systems[] = {&kf_system_kinetic, &kf_system_sph, &kf_system_incompressible};
    static const char *const long_ones[] = {"models",
                                            "slip",
                                            "wall_law",
                                            "links_turning",
                                            "wall_channels",
                                            "wall_channels_k17",
                                            "incompressible-wake"};
    for (size_t s = 0; s < sizeof systems / sizeof *systems; s++) {
        const kf_case *list[KF_MOST_CASES];
        const int count = kf_cases_of(systems[s], list);
        for (int i = 0; i < count; i++) {
            if (is_one_of(list[i]->name, long_ones, sizeof long_ones / sizeof *long_ones)) continue;
            kf_text text = {0};
            kf_text_append(&text, "%s\n", list[i]->name);
            run_case(&text, 0, list[i], true, false, true);
            kf_text_free(&text);
            free(last_scene);
            last_scene = NULL;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases_of_kinetic),
                                       cmocka_unit_test(test_cases_of_d2q9),
                                       cmocka_unit_test(test_cases_of_stable_fluids),
                                       cmocka_unit_test(test_particles_cases),
                                       cmocka_unit_test(test_cases_of_incompressible),
                                       cmocka_unit_test(test_nothing_passes_without_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
