/* Tests spaces of libkftune's functions. Faults: a constraint that does not see the device, as the
 * systems' spaces do. */
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

/* Asks the store about a space whose constraint has this variable. */
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
    const kftune_status opened = kftune_open_functions("device", space, &functions, &problem);
    if (opened != KFTUNE_OK) return opened;
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

/* Every space that no search could use is refused where it is given, with its reason. */
static void bad_spaces_are_refused_at_open(void **state) {
    (void)state;
    static const kftune_functions functions = {
        .size = sizeof functions, .prepare = prepare, .run = succeed, .check = check};
#define OF_X(rest) "{\"parameters\": [{\"name\": \"x\", \"help\": \"a number\", \"type\": \"integer\", " rest
    static const struct {
        const char *space, *says;
    } cases[] = {
        {"{}", "parameters"},
        {"{\"parameters\": []}", "parameters"},
        {"{\"parameters\": 3}", "parameters"},
        {OF_X("\"values\": [1, 2], \"default\": 3}]}"), "default"},
        {OF_X("\"values\": [], \"default\": 3}]}"), "values"},
        {OF_X("\"values\": [1, 1], \"default\": 1}]}"), "values"},
        {OF_X("\"values\": [1, 2], \"defualt\": 1}]}"), "defualt"},
        {"{\"parameters\": [{\"name\": \"x\", \"help\": \"a number\", \"type\": \"real\", \"values\": [1], "
         "\"default\": 1}]}",
         "real"},
        {OF_X("\"values\": [1, 2], \"default\": 1}], \"constraints\": [{\"expression\": \"y > 1\", "
              "\"reason\": "
              "\"none\"}]}"),
         "y"},
        {OF_X("\"values\": [1, 2], \"default\": 1}], \"constraints\": [{\"expression\": \"x >\", \"reason\": "
              "\"none\"}]}"),
         "column 4"},
        {OF_X("\"values\": [1, 2], \"default\": 1}], \"constraints\": [{\"expression\": \"x > 2\", "
              "\"reason\": "
              "\"none\"}]}"),
         "default"},
        {OF_X("\"values\": [1, 2], \"default\": 1}], \"presets\": {\"paper\": {\"x\": 3}}}"), "paper"},
        {OF_X("\"values\": [1, 2], \"default\": 1}], \"presets\": {\"paper\": {\"z\": 1}}}"), "z"},
        {OF_X("\"values\": [1, 2], \"default\": 1}], \"system\": \"sph\"}"), "sph"},
        {OF_X("\"values\": [1, 2], \"default\": 1}], \"format\": 7}"), "format"},
    };
#undef OF_X
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kftune_problem *problem = NULL;
        if (kftune_open_functions("bad", cases[i].space, &functions, &problem) != KFTUNE_INPUT)
            fail_msg("taken: %s (%s)", cases[i].space, kftune_error());
        if (strstr(kftune_error(), cases[i].says) == NULL || strstr(kftune_error(), "bad") == NULL)
            fail_msg("%s\n%s", cases[i].space, kftune_error());
        assert_null(problem);
    }
}

static int restore(void *context, uint64_t seed) {
    (void)context, (void)seed;
    return 0;
}

/* Functions must have a name that fits and consists of plain letters, the three functions, and both of the
 * referee or neither. A struct of an older size has no referee. */
static void what_functions_must_have(void **state) {
    (void)state;
    static const char space[] =
        "{\"parameters\": [{\"name\": \"x\", \"type\": \"integer\", \"values\": [1], \"default\": 1, "
        "\"help\": \"a number\"}]}";
    static const kftune_functions whole = {
        .size = sizeof whole, .prepare = prepare, .run = succeed, .check = check};
    char longest[KF_NAME + 1];
    memset(longest, 'n', sizeof longest);
    longest[KF_NAME - 1] = '\0';
    kftune_functions without = whole, half = whole, old = whole, small = whole;
    without.run = NULL;
    half.restore = restore;
    old = half;
    old.size = offsetof(kftune_functions, restore);
    small.size = offsetof(kftune_functions, restore) - 1;
    const struct {
        const char *name;
        const kftune_functions *functions;
        const char *says; /* NULL: it is taken */
    } cases[] = {{"a-b_c.9", &whole, NULL},
                 {longest, &whole, NULL},
                 {"", &whole, "the name must be"},
                 {"a b", &whole, "the name must be"},
                 {NULL, &whole, "the name must be"},
                 {"a", NULL, "functions.size must be"},
                 {"a", &small, "functions.size must be"},
                 {"a", &without, "must all be there"},
                 {"a", &half, "or neither"},
                 {"a", &old, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kftune_problem *problem = NULL;
        const kftune_status status =
            kftune_open_functions(cases[i].name, space, cases[i].functions, &problem);
        if (status != (cases[i].says != NULL ? KFTUNE_INPUT : KFTUNE_OK))
            fail_msg("case %zu: %s", i, kftune_error());
        if (cases[i].says != NULL && strstr(kftune_error(), cases[i].says) == NULL)
            fail_msg("%s", kftune_error());
        assert_true((problem == NULL) == (status != KFTUNE_OK));
        kftune_close(problem);
    }
    kftune_problem *problem = NULL;
    memset(longest, 'n', sizeof longest);
    longest[KF_NAME] = '\0';
    assert_int_equal(kftune_open_functions(longest, space, &whole, &problem), KFTUNE_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(variables_of_the_device),
                                       cmocka_unit_test(bad_spaces_are_refused_at_open),
                                       cmocka_unit_test(what_functions_must_have)};
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
