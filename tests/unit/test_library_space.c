/* Spaces of functions: they know the device, as the spaces of all systems do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "harness/library/kftune.h"
#include "results/store.h"
#include "tests/unit/scene_files.h"

static int succeed(void *context) {
    (void)context;
    return 0;
}
static int prepare(void *context, const kftune_config *config) {
    (void)context, (void)config;
    return 0;
}
static int check(void *context, double *deviation, double *bound) {
    (void)context;
    *deviation = 0.0;
    *bound = 1.0;
    return 0;
}

/* What the store knows of a space whose constraint has this variable. */
static kftune_status ask(const char *variable) {
    static const kftune_functions functions = {
        .size = sizeof functions, .prepare = prepare, .run = succeed, .check = check};
    char space[512], store[256];
    kftune_problem *problem = NULL;
    kftune_result *known = NULL;
    (void)snprintf(
        space, sizeof space,
        "{\"parameters\": [{\"name\": \"x\", \"type\": \"integer\", \"values\": [1, 2], \"default\": 1, "
        "\"help\": \"a number\"}], \"constraints\": [{\"expression\": \"%s >= 1 or x == 3\", \"reason\": "
        "\"every device has some\"}]}",
        variable);
    if (kftune_open_functions("device", space, &functions, &problem) != KFTUNE_OK)
        fail_msg("%s", kftune_error());
    (void)snprintf(store, sizeof store, "%s", test_path("space.db"));
    kf_store *made = NULL;
    assert_int_equal(kf_store_open(store, false, &made, NULL), KF_OK);
    kf_store_close(made);
    const kftune_options options = {.size = sizeof options, .store = store};
    const kftune_status status = kftune_best(problem, &options, &known);
    assert_null(known);
    kftune_close(problem);
    return status;
}

static void variables_of_the_device(void **state) {
    (void)state;
    static const char *const variables[] = {"multiprocessors", "simd_width", "memory_bytes", "cache_bytes"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (ask(variables[i]) != KFTUNE_NONE) fail_msg("%s: %s", variables[i], kftune_error());
    assert_int_equal(ask("node_count"), KFTUNE_INPUT); /* functions have no grid */
    assert_non_null(strstr(kftune_error(), "node_count"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(variables_of_the_device)};
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
