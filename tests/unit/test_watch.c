/* Tests the watch over a run's state in every system. One value of the state becomes NaN, and
 * kf_plan_watch must say so a few steps later. Faults: a diverged run continues. */
#include "solver/sph/sph.h"
#include "solver/systems.h"
#include "tests/unit/plan_fixture.h"

/* Forces that are no numbers are reported, whatever fixed point makes of them. */
static void check_forces(kf_plan *plan, const char *name) {
    kf_error error = {KF_OK, ""};
    kf_records records;
    if (plan->methods->flow == NULL || kf_plan_scene(plan)->samples.count == 0) return;
    const kf_status status = kf_plan_record(plan, &records, &error);
    kf_records_free(&records);
    if (status != KF_GATE_FAILED) fail_msg("%s: forces of a state that is no number are written", name);
}

/* Spoils the value at this place of the state, or in its middle. */
static void spoil(kf_plan *plan, const char *name, size_t place) {
    kf_error error = {KF_OK, ""};
    size_t bytes;
    must(plan->methods->state_size(plan, &bytes, &error), &error);
    char *state = malloc(bytes);
    assert_non_null(state);
    must(plan->methods->save(plan, state, &error), &error);
    memset(state + (place > 0 ? place : bytes / 2 / 8 * 8), 0xff, 8); /* no number in any precision */
    must(plan->methods->restore(plan, state, plan->steps_done, &error), &error);
    free(state);
    if (kf_plan_advance(plan, 24, &error) != KF_OK) fail_msg("%s: %s", name, error.message);
}

static void check_system(const char *source, const char *system, const int nodes[3], size_t place) {
    kf_error error = {KF_OK, ""};
    kf_problem *problem;
    kf_space *space;
    kf_config config;
    kf_plan *plan;
    const kf_problem_options options = {.nodes = {nodes[0], nodes[1], nodes[2]}};
    must(kf_problem_open(source, system, &options, &problem, &error), &error);
    must(kf_problem_space(problem, kf_backend_device(backend), NULL, 0, &space, &error), &error);
    must(kf_space_preset(space, "default", &config, &error), &error);
    must(problem->system->plan(problem, &config, backend, &plan, &error), &error);
    must(kf_plan_initialise(plan, &error), &error);
    must(kf_plan_advance(plan, 8, &error), &error);
    if (kf_plan_watch(plan, &error) != KF_OK) fail_msg("%s, sound: %s", source, error.message);
    spoil(plan, source, place);
    if (kf_plan_watch(plan, &error) != KF_GATE_FAILED) fail_msg("%s, spoilt: not noticed", source);
    check_forces(plan, source);
    kf_plan_free(plan);
    kf_space_free(space);
    kf_problem_free(problem);
}

static void every_system_notices(void **state) {
    (void)state;
    check_system("ball", "kinetic", (const int[3]){32, 16, 16}, 0);
    check_system("torus", "kinetic", (const int[3]){32, 16, 16}, 0);
    check_system("ball", "incompressible", (const int[3]){32, 16, 16}, 0);
    check_system("cylinder2d", "d2q9", (const int[3]){110, 21, 1}, 0);
    check_system("decay", "stable_fluids", (const int[3]){32, 32, 1}, 0);
    const size_t velocity = sizeof(kf_sph_clock) + (100 * KF_SPH_STATE_VALUES + 3) * sizeof(float);
    check_system("column", "sph", (const int[3]){0, 0, 0}, velocity);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_system_notices)};
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
