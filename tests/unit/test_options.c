/* Tests every way of writing options, and every mistake with its message and status. Faults: an option
 * that is ignored, or a mistake that is taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness/cli/command.h"

/* This table replaces the program's own, so that the test sees what the commands are given. */
static struct {
    int calls;
    char scene[64];
    char fix[2][64];
    int fix_count;
    bool json;
} seen;

static kf_status run_tune(const kf_arguments *arguments, kf_error *error) {
    (void)error;
    seen.calls++;
    (void)snprintf(seen.scene, sizeof seen.scene, "%s", kf_argument(arguments, "--scene", "none"));
    const char *const *values;
    seen.fix_count = kf_argument_all(arguments, "--fix", &values);
    for (int i = 0; i < seen.fix_count && i < 2; i++)
        (void)snprintf(seen.fix[i], sizeof seen.fix[i], "%s", values[i]);
    seen.json = kf_arguments_json(arguments);
    return KF_OK;
}

static kf_status run_list(const kf_arguments *arguments, kf_error *error) {
    return kf_fail(error, KF_GATE_FAILED, "two\nlines about '%s'", arguments->positional[0]);
}

static const kf_option tune_options[] = {
    {"--scene", "FILE|NAME", "the scene", KF_TEXT},
    {"--fix", "KEY=VALUE", "hold a parameter", KF_ALL_CHECKED(kf_value_pair)},
    {"--grid", "NXxNYxNZ", "nodes", KF_CHECKED(kf_value_grid)},
    {"--budget", "60s|500evals", "what it may cost", KF_CHECKED(kf_value_budget)},
    {"--seed", "N", "seed", KF_WHOLE(1, 100)},
    {"--samples-per-cell", "R", "density", KF_DECIMAL(KF_LEAST_SAMPLES_PER_CELL, KF_MOST_SAMPLES_PER_CELL)},
    {"--resume", NULL, "carry on a run", KF_FLAG},
    {NULL, NULL, NULL, KF_FLAG},
};
static const kf_command tune = {.name = "tune",
                                .summary = "tunes",
                                .synopsis = "kftune tune --scene FILE|NAME",
                                .description = "d",
                                .example = "kftune --scene ball",
                                .options = tune_options,
                                .run = run_tune};
static const char *const list_positional[] = {"systems|scenes", NULL};
static const kf_command list = {.name = "list",
                                .summary = "lists",
                                .synopsis = "kftune list WHAT",
                                .description = "d",
                                .example = "kftune list scenes",
                                .positional = list_positional,
                                .run = run_list};
const kf_command *const kf_commands[] = {&tune, &list, NULL};

enum { WORDS = 24 };
static int split(char *line, char *words[WORDS]) {
    int count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(line, " ", &rest); word != NULL && count < WORDS;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    return count;
}

typedef struct parsed {
    char line[256];
    char *words[WORDS];
    kf_arguments arguments;
    kf_error error;
    kf_status status;
} parsed;

static void parse(parsed *p, const char *line) {
    memset(p, 0, sizeof *p);
    (void)snprintf(p->line, sizeof p->line, "%s", line);
    int count = split(p->line, p->words);
    p->status = kf_arguments_parse(&tune, count, p->words, &p->arguments, &p->error);
}

static void expect_refused(const char *line, const char *part) {
    parsed p;
    parse(&p, line);
    assert_int_equal(p.status, KF_BAD_INPUT);
    assert_non_null(strstr(p.error.message, part));
    assert_null(strchr(p.error.message, '\n'));
}

static void options_are_read(void **state) {
    (void)state;
    parsed p;
    parse(&p, "--scene a.obj --fix plan=fused --fix=alpha=64 --resume --json");
    assert_int_equal(p.status, KF_OK);
    assert_string_equal(kf_argument(&p.arguments, "--scene", ""), "a.obj");
    const char *const *values;
    assert_int_equal(kf_argument_all(&p.arguments, "--fix", &values), 2);
    assert_string_equal(values[0], "plan=fused");
    assert_string_equal(values[1], "alpha=64");
    assert_true(kf_argument_given(&p.arguments, "--resume"));
    assert_true(kf_arguments_json(&p.arguments));
    assert_false(kf_argument_given(&p.arguments, "--grid"));
    assert_string_equal(kf_argument(&p.arguments, "--budget", "60s"), "60s");
}

static void mistakes_are_named(void **state) {
    (void)state;
    expect_refused("--scen a.obj", "unknown option '--scen' (did you mean '--scene'?)");
    expect_refused("--scen=a.obj", "did you mean '--scene'?");
    expect_refused("--qqqqqqqq", "see 'kftune tune --help'");
    expect_refused("-s a.obj", "unknown option '-s'");
    expect_refused("--scene", "option '--scene' needs a value: --scene FILE|NAME");
    expect_refused("--scene --resume", "option '--scene' needs a value");
    expect_refused("--scene=", "empty value");
    expect_refused("--scene a --scene b", "option '--scene' is given twice");
    expect_refused("--resume --resume", "given twice");
    expect_refused("--resume=yes", "takes no value");
    expect_refused("--scene a stray", "unexpected argument 'stray'");
    expect_refused("--quiet --verbose", "exclude each other");
    expect_refused("--fix", "--fix KEY=VALUE");
}

static void too_many_values_are_refused(void **state) {
    (void)state;
    char *words[2 * (KF_OPTION_VALUES + 1)];
    for (int i = 0; i < KF_OPTION_VALUES + 1; i++) {
        words[2 * i] = "--fix";
        words[2 * i + 1] = "a=1";
    }
    kf_arguments arguments;
    kf_error error;
    assert_int_equal(kf_arguments_parse(&tune, 2 * KF_OPTION_VALUES, words, &arguments, &error), KF_OK);
    assert_int_equal(kf_arguments_parse(&tune, 2 * KF_OPTION_VALUES + 2, words, &arguments, &error),
                     KF_BAD_INPUT);
}

static void numbers_have_ranges(void **state) {
    (void)state;
    parsed p;
    kf_error error;
    long value = 7;
    double density = 0.0;
    parse(&p, "--seed 42 --samples-per-cell 12.5");
    assert_int_equal(kf_argument_integer(&p.arguments, "--seed", &value, &error), KF_OK);
    assert_int_equal(value, 42);
    assert_int_equal(kf_argument_number(&p.arguments, "--samples-per-cell", &density, &error), KF_OK);
    assert_true(density == 12.5);
    /* A sweep sets values of its own in the options, which nothing has checked. */
    kf_argument_set(&p.arguments, "--seed", "0");
    assert_int_equal(kf_argument_integer(&p.arguments, "--seed", &value, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "option '--seed': 0 is outside 1 to 100"));
    parse(&p, "");
    value = 7;
    assert_int_equal(kf_argument_integer(&p.arguments, "--seed", &value, &error), KF_OK);
    assert_int_equal(value, 7);
}

/* Wrong values are refused with their line, before a command reads a mesh for a minute. */
static void wrong_values_are_refused_with_the_line(void **state) {
    (void)state;
    expect_refused("--seed 4x", "option '--seed': '4x' is not a whole number");
    expect_refused("--seed 1.5", "option '--seed': '1.5' is not a whole number");
    expect_refused("--seed 1e3", "option '--seed': '1e3' is not a whole number");
    expect_refused("--seed 101", "option '--seed': 101 is outside 1 to 100");
    expect_refused("--seed 99999999999999999999", "is outside 1 to 100");
    expect_refused("--samples-per-cell nan", "option '--samples-per-cell': 'nan' is not a number");
    expect_refused("--samples-per-cell inf", "is not a number");
    expect_refused("--samples-per-cell 1,5", "is not a number");
    expect_refused("--samples-per-cell 0.5", "option '--samples-per-cell': 0.5 is outside 1 to 1000");
    expect_refused("--grid 10x", "option '--grid': '10x' is not a grid");
    expect_refused("--budget soon", "option '--budget': 'soon' is not a budget");
    expect_refused("--fix alpha", "option '--fix': 'alpha' must be KEY=VALUE");
    expect_refused("--fix alpha=64 --fix =64", "option '--fix': '=64' must be KEY=VALUE");
}

static void grids_are_read_or_refused(void **state) {
    (void)state;
    parsed p;
    kf_error error;
    int nodes[3] = {0, 0, 0};
    parse(&p, "--grid 96x48x32");
    assert_int_equal(kf_argument_grid(&p.arguments, "--grid", nodes, &error), KF_OK);
    assert_int_equal(nodes[0], 96);
    assert_int_equal(nodes[1], 48);
    assert_int_equal(nodes[2], 32);
    parse(&p, "--grid 1024x512");
    assert_int_equal(kf_argument_grid(&p.arguments, "--grid", nodes, &error), KF_OK);
    assert_int_equal(nodes[0], 1024);
    assert_int_equal(nodes[1], 512);
    assert_int_equal(nodes[2], 1);
    nodes[0] = 96;
    static const char *const wrong[] = {"96",     "96x48x",     "96x48x32x1", "0x4x4",     "-1x4x4",
                                        "96X4X4", "99999x4x4x", "70000x4x4",  "96x+48x32", "x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[64];
        (void)snprintf(line, sizeof line, "--grid=%s", wrong[i]);
        parse(&p, line);
        assert_int_equal(p.status, KF_BAD_INPUT);
        assert_int_equal(kf_argument_grid(&p.arguments, "--grid", nodes, &error), KF_BAD_INPUT);
        assert_non_null(strstr(error.message, "--grid"));
        assert_int_equal(nodes[0], 96);
    }
}

static void budgets_are_read_or_refused(void **state) {
    (void)state;
    static const struct {
        const char *text;
        kf_budget budget;
    } right[] = {{"60s", {.seconds = 60}},
                 {"2m", {.seconds = 120}},
                 {"1.5m", {.seconds = 90}},
                 {"1h", {.seconds = 3600}},
                 {"2min", {.seconds = 120}},
                 {"500evals", {.evaluations = 500}},
                 {"1eval", {.evaluations = 1}},
                 {"20s-device", {.device_seconds = 20}},
                 {"2m-device", {.device_seconds = 120}}};
    parsed p;
    kf_error error;
    char line[64];
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        kf_budget budget = {-1, -1, -1};
        (void)snprintf(line, sizeof line, "--budget %s", right[i].text);
        parse(&p, line);
        assert_int_equal(kf_argument_budget(&p.arguments, "--budget", &budget, &error), KF_OK);
        assert_true(budget.seconds == right[i].budget.seconds);
        assert_true(budget.device_seconds == right[i].budget.device_seconds);
        assert_int_equal(budget.evaluations, right[i].budget.evaluations);
    }
    static const char *const wrong[] = {"60",   "0x10s", "1e-9s",      "infs",    "s",
                                        "-5s",  "0s",    "1.5evals",   "60sec",   "nans",
                                        "infs", "1e30h", "-1s-device", "5-device"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        kf_budget budget = {-1, -1, -1};
        (void)snprintf(line, sizeof line, "--budget=%s", wrong[i]);
        parse(&p, line);
        assert_int_equal(p.status, KF_BAD_INPUT);
        assert_int_equal(kf_argument_budget(&p.arguments, "--budget", &budget, &error), KF_BAD_INPUT);
        assert_true(budget.seconds == -1);
    }
}

/* Runs the whole program with stdout and stderr caught. */
static char caught_out[8192], caught_err[8192];
static void read_back(FILE *file, char *text, size_t size) {
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    (void)fclose(file);
}
static int program(const char *line) {
    char copy[256];
    char *words[WORDS + 1] = {"kftune"};
    (void)snprintf(copy, sizeof copy, "%s", line);
    int count = 1 + split(copy, words + 1);
    FILE *out = tmpfile(), *err = tmpfile();
    assert_non_null(out);
    assert_non_null(err);
    (void)fflush(NULL);
    int saved_out = dup(STDOUT_FILENO), saved_err = dup(STDERR_FILENO);
    assert_true(dup2(fileno(out), STDOUT_FILENO) >= 0 && dup2(fileno(err), STDERR_FILENO) >= 0);
    memset(&seen, 0, sizeof seen);
    int status = kf_main(count, words);
    (void)fflush(NULL);
    assert_true(dup2(saved_out, STDOUT_FILENO) >= 0 && dup2(saved_err, STDERR_FILENO) >= 0);
    (void)close(saved_out);
    (void)close(saved_err);
    read_back(out, caught_out, sizeof caught_out);
    read_back(err, caught_err, sizeof caught_err);
    return status;
}

static void tune_may_be_left_out(void **state) {
    (void)state;
    assert_int_equal(program("--scene ball --fix plan=fused --json"), 0);
    assert_int_equal(seen.calls, 1);
    assert_string_equal(seen.scene, "ball");
    assert_string_equal(seen.fix[0], "plan=fused");
    assert_true(seen.json);
    assert_int_equal(program("tune --scene torus"), 0);
    assert_string_equal(seen.scene, "torus");
}

static void help_and_version(void **state) {
    (void)state;
    static const char *const ways[] = {"tune --help", "help tune", "tune --scene --help",
                                       "tune --nonsense -h"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assert_int_equal(program(ways[i]), 0);
        assert_non_null(strstr(caught_out, "Example:\n  kftune --scene ball"));
        assert_non_null(strstr(caught_out, "--samples-per-cell R"));
        assert_non_null(strstr(caught_out, "--json"));
        assert_int_equal(seen.calls, 0);
    }
    assert_int_equal(program("--help"), 0);
    assert_non_null(strstr(caught_out, "  list "));
    assert_int_equal(program("help"), 0);
    assert_int_equal(program("--version"), 0);
    assert_string_equal(caught_out, "kftune " KF_VERSION "\n");
}

static void errors_go_to_stderr_in_one_line(void **state) {
    (void)state;
    assert_int_equal(program("tone --scene x"), 2);
    assert_string_equal(caught_err, "kftune: unknown command 'tone' (did you mean 'tune'?)\n");
    assert_string_equal(caught_out, "");
    assert_int_equal(program(""), 2);
    assert_int_equal(program("help nonsense"), 2);
    assert_int_equal(program("list scenes"), 1);
    assert_string_equal(caught_err, "kftune: two lines about 'scenes'\n");
    assert_int_equal(program("list scenes more"), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_read),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(too_many_values_are_refused),
        cmocka_unit_test(numbers_have_ranges),
        cmocka_unit_test(wrong_values_are_refused_with_the_line),
        cmocka_unit_test(grids_are_read_or_refused),
        cmocka_unit_test(budgets_are_read_or_refused),
        cmocka_unit_test(tune_may_be_left_out),
        cmocka_unit_test(help_and_version),
        cmocka_unit_test(errors_go_to_stderr_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
