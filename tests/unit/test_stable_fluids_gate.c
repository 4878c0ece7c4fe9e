/* Tests the gate with random configs of the space that hold every pair of values, on two grids that suit
 * no single radix. Faults: a plan, layout or storage that is wrong in one combination. KFTUNE_TEST_ALL=1:
 * all configs. */
#include "base/plan/trial.h"
#include "base/util/random.h"
#include "stable_fluids_support.h"
#include "tests/unit/config_pairs.h"

/* The quick choice omits values that make more code but no other path. */
static const char *const quick_limits[] = {
    "points_rows=8,16",      "points_inverse=8,16", "points_columns=8", "rows_per_block=4,8",
    "columns_per_block=4,8", "block_x=64",          "block_y=4",        "pad=0,2"};

static void hold_gate(int nx, int ny, int nz, int samples) {
    const bool all = getenv("KFTUNE_TEST_ALL") != NULL;
    const kf_device_info *device = kf_backend_device(backend);
    const bool gpu = strcmp(device->backend, "cuda") == 0;
    kf_error error = {KF_OK, ""};
    kf_fluid *f = box(nx, ny, nz);
    kf_space *space = NULL;
    kf_trial trial;
    f->accuracy = 0.01;
    kf_fluid_finish(f);
    kf_problem *problem = kf_fluid_problem(f, true);
    const int limits = all || gpu ? 0 : (int)(sizeof quick_limits / sizeof *quick_limits);
    kf_status status = kf_problem_space(problem, device, quick_limits, limits, &space, &error);
    if (status == KF_OK) status = kf_trial_open(problem, &trial, &error);
    if (status == KF_OK) status = kf_trial_refer(&trial, &error);
    if (status != KF_OK) fail_msg("%s", error.message);
    kf_config *configs = kf_allocate((size_t)samples * sizeof *configs);
    uint64_t random = 3;
    for (int i = 0; i < samples; i++)
        kf_space_config(space, kf_random_below(&random, kf_space_size(space)), &configs[i]);
    const size_t kept = keep_pairs(configs, (size_t)samples);
    for (size_t i = 0; i < kept; i++) {
        kf_verification verification;
        status = kf_trial_verify(&trial, &configs[i], backend, &verification, &error);
        if (status == KF_OK) continue;
        char *summary = kf_config_summary(&configs[i]);
        print_error("%d x %d x %d: %s: %s\n", nx, ny, nz, summary, error.message);
        free(summary);
        fail();
    }
    print_message("%d x %d x %d: %zu of %d configs\n", nx, ny, nz, kept, samples);
    free(configs);
    kf_trial_close(&trial);
    kf_space_free(space);
    kf_problem_free(problem);
}

static void in_two_dimensions(void **state) {
    (void)state;
    hold_gate(45, 54, 1, 32);
}
static void in_three_dimensions(void **state) {
    (void)state;
    hold_gate(16, 10, 12, 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_two_dimensions),
                                       cmocka_unit_test(in_three_dimensions)};
    return cmocka_run_group_tests(tests, open_backend_for_variants_on_all_cores, close_backend);
}
