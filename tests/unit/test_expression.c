/* Tests the expression language against tests/data/expression.txt, limits, and expressions of published T1
 * problem files. Faults: a value that differs from Python's, or an expression that costs too much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/expression/expression.h"
#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/text.h"

enum { BINDINGS = 16, LEAST_CASES = 120 };

typedef struct bindings {
    int count;
    char names[BINDINGS][40];
    char texts[BINDINGS][40];
    kf_scalar values[BINDINGS];
} bindings;

static bool look_up(void *context, const char *name, kf_scalar *value) {
    const bindings *known = context;
    for (int i = 0; i < known->count; i++) {
        if (strcmp(known->names[i], name) != 0) continue;
        *value = known->values[i];
        return true;
    }
    return false;
}

/* Reads one binding's value as Python would write it. */
static void read_value(const char *text, char *buffer, kf_scalar *value) {
    char *end;
    if (text[0] == '\'') {
        (void)snprintf(buffer, 40, "%.*s", (int)strlen(text) - 2, text + 1);
        *value = (kf_scalar){.kind = KF_SCALAR_STRING, .text = buffer};
    } else if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0) {
        *value = (kf_scalar){.kind = KF_SCALAR_BOOLEAN, .integer = text[0] == 'T'};
    } else if (strpbrk(text, ".en") != NULL) {
        *value = (kf_scalar){.kind = KF_SCALAR_FLOAT, .number = strtod(text, &end)};
        assert_int_equal(*end, 0);
    } else {
        *value = (kf_scalar){.kind = KF_SCALAR_INTEGER, .integer = strtoll(text, &end, 10)};
        assert_int_equal(*end, 0);
    }
}

/* Reads bindings such as "a=1 b=2.5 s='x' t=True". "-" stands for none. */
static void read_bindings(char *line, bindings *known) {
    known->count = 0;
    if (strcmp(line, "-") == 0) return;
    char *rest = NULL;
    for (char *word = strtok_r(line, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        assert_in_range(known->count, 0, BINDINGS - 1);
        *equals = '\0';
        kf_copy_text(known->names[known->count], 40, word);
        read_value(equals + 1, known->texts[known->count], &known->values[known->count]);
        known->count++;
    }
}

static void write_scalar(kf_text *text, const kf_scalar *value) {
    switch (value->kind) {
    case KF_SCALAR_INTEGER:
        kf_text_append(text, "%lld", value->integer);
        break;
    case KF_SCALAR_BOOLEAN:
        kf_text_append(text, "%s", value->integer != 0 ? "True" : "False");
        break;
    case KF_SCALAR_FLOAT:
        kf_text_append(text, "float %.17g", value->number);
        break;
    case KF_SCALAR_STRING:
        kf_text_append(text, "'%s'", value->text);
        break;
    }
}

/* Returns the result of a case as text. A list is asked for as a list, all else as a scalar. */
static char *outcome(const char *source, bindings *known) {
    kf_text text = {0};
    kf_error error = {0};
    kf_expression *expression = NULL;
    kf_scalar value, *values = NULL;
    size_t count = 0;
    kf_status status = kf_expression_parse(source, &expression, &error);
    if (status == KF_OK) {
        status = kf_expression_list(expression, look_up, known, 1000, &values, &count, &error);
        if (status == KF_OK) {
            kf_text_append(&text, "[");
            for (size_t i = 0; i < count; i++) {
                if (i > 0) kf_text_append(&text, ", ");
                write_scalar(&text, &values[i]);
            }
            kf_text_append(&text, "]");
        } else if (strstr(error.message, "a list is needed") != NULL) {
            status = kf_expression_scalar(expression, look_up, known, &value, &error);
            if (status == KF_OK) write_scalar(&text, &value);
        }
    }
    if (status != KF_OK) {
        assert_int_equal(status, KF_BAD_INPUT);
        kf_text_append(&text, "error: %s", error.message);
    }
    free(values);
    kf_expression_free(expression);
    return text.text;
}

/* Errors are expected by their beginning, "error: column 3"; values in full. */
static bool as_expected(const char *got, const char *expected) {
    if (strncmp(expected, "error:", 6) == 0) return strncmp(got, expected, strlen(expected)) == 0;
    return strcmp(got, expected) == 0;
}

/* The next line that is neither empty nor a comment, or NULL. */
static char *next_line(char **text) {
    for (;;) {
        char *line = strsep(text, "\n");
        if (line == NULL || (line[0] != '\0' && line[0] != '#')) return line;
    }
}

static void test_cases_of_the_data_file(void **state) {
    (void)state;
    char *text = NULL;
    size_t size;
    kf_error error;
    assert_int_equal(kf_file_read("tests/data/expression.txt", 0, &text, &size, &error), KF_OK);
    int cases = 0, failures = 0;
    char *rest = text, *source;
    while ((source = next_line(&rest)) != NULL) {
        char *bound = next_line(&rest), *expected = next_line(&rest);
        assert_non_null(bound);
        assert_non_null(expected);
        bindings known;
        read_bindings(bound, &known);
        char *got = outcome(source, &known);
        cases++;
        if (!as_expected(got, expected)) {
            failures++;
            print_error("%s\n  expected %s\n  got      %s\n", source, expected, got);
        }
        free(got);
    }
    free(text);
    print_message("%d cases\n", cases);
    assert_int_equal(failures, 0);
    assert_true(cases >= LEAST_CASES);
}

static void expect_refusal(const char *source, const char *message) {
    bindings none = {0};
    char *got = outcome(source, &none);
    if (strstr(got, message) == NULL) fail_msg("%.60s...: got %s, not %s", source, got, message);
    free(got);
}

static char *repeated(const char *unit, int times, const char *tail) {
    kf_text text = {0};
    for (int i = 0; i < times; i++)
        kf_text_append(&text, "%s", unit);
    kf_text_append(&text, "%s", tail);
    return text.text;
}

static void test_hostile_text_is_refused(void **state) {
    (void)state;
    static const char *const units[] = {"(", "[", "-", "not ", "2**", "max(", "[1 for a in "};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        char *source = repeated(units[i], 5000, "1");
        expect_refusal(source, "nested too deeply");
        free(source);
    }
    char *source = repeated("1+", 40000, "1");
    expect_refusal(source, "expression longer than");
    free(source);
    source = repeated("1,", 20000, "1");
    expect_refusal(source, "where an operator or the end is expected");
    free(source);
    source = repeated("max(1,", 1, "");
    expect_refusal(source, "column 7: the expression ends");
    free(source);
}

static void test_hostile_work_is_refused(void **state) {
    (void)state;
    expect_refusal("[1 for i in range(1000000000)]", "column 2: a list of more than 1048576 values");
    expect_refusal("list(range(1000000000))", "column 1: a list of more than");
    expect_refusal("max([min([i for i in range(5000)]) for j in range(5000)])", "steps of work");
    expect_refusal("[i for i in range(1001)]",
                   "column 1: the list has 1001 values; at most 1000 are accepted");
    expect_refusal("range(100000000000)", "column 1: the list has 100000000000 values");
}

/* A long but flat expression is no problem: the machine does not recurse. */
static void test_long_sums_are_fine(void **state) {
    (void)state;
    bindings none = {0};
    char *source = repeated("1+", 30000, "1"), *got = outcome(source, &none);
    assert_string_equal(got, "30001");
    free(source);
    free(got);
    source = repeated("False or ", 7000, "7");
    got = outcome(source, &none);
    assert_string_equal(got, "7");
    free(source);
    free(got);
    source = repeated("1 <= ", 9000, "0");
    got = outcome(source, &none);
    assert_string_equal(got, "False");
    free(source);
    free(got);
}

static void collect(void *context, const char *name) {
    kf_text_append(context, "%s ", name);
}

static void test_free_names(void **state) {
    (void)state;
    kf_error error;
    kf_expression *expression;
    kf_text names = {0};
    assert_int_equal(kf_expression_parse("[a*i for i in range(b) if i < c] + [i, a]", &expression, &error),
                     KF_OK);
    kf_expression_names(expression, collect, &names);
    assert_string_equal(names.text, "b c a i ");
    kf_text_free(&names);
    static const char *const known[] = {"a", "b", "count", "i"};
    assert_int_equal(kf_expression_check_names(expression, known, 4, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "column 31: unknown name 'c'; there are: a, b, count, i"));
    kf_expression_free(expression);

    static const char *const words[] = {"layout", "alpha"};
    assert_int_equal(kf_expression_parse("layout == 'csoa' or alpa > 1", &expression, &error), KF_OK);
    assert_int_equal(kf_expression_check_names(expression, words, 2, &error), KF_BAD_INPUT);
    assert_string_equal(error.message, "column 21: unknown name 'alpa' (did you mean 'alpha'?)");
    kf_expression_free(expression);
}

static void test_truth_as_in_python(void **state) {
    (void)state;
    static const struct {
        const char *source;
        bool truth;
    } cases[] = {{"0", false},        {"0.0", false},   {"''", false},  {"[]", false},
                 {"range(0)", false}, {"[0]", true},    {"'0'", true},  {"range(1)", true},
                 {"-1", true},        {"not []", true}, {"1 < 2", true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kf_expression *expression;
        kf_error error;
        bool truth = !cases[i].truth;
        assert_int_equal(kf_expression_parse(cases[i].source, &expression, &error), KF_OK);
        assert_int_equal(kf_expression_truth(expression, NULL, NULL, &truth, &error), KF_OK);
        assert_int_equal(truth, cases[i].truth);
        kf_expression_free(expression);
    }
}

/* --- Published problem files
 * -------------------------------------------------------------------------------- */

static cJSON *problem_file(const char *name) {
    const char *shared = getenv("KFTUNE_SHARED");
    char path[KF_PATH];
    (void)snprintf(path, sizeof path, "%s/landscapes/%s", shared != NULL ? shared : "../shared", name);
    cJSON *root = NULL;
    kf_error error;
    if (kf_json_read_file(path, &root, &error) != KF_OK) skip();
    return root;
}

static size_t domain(const cJSON *parameter, kf_scalar **values) {
    const char *source = cJSON_GetObjectItemCaseSensitive(parameter, "Values")->valuestring;
    kf_expression *expression;
    kf_error error = {0};
    size_t count = 0;
    if (kf_expression_parse(source, &expression, &error) != KF_OK ||
        kf_expression_list(expression, NULL, NULL, 10000, values, &count, &error) != KF_OK)
        fail_msg("%s: %s", source, error.message);
    kf_expression_free(expression);
    return count;
}

/* Walks the whole product, checking every condition on every config. */
static long count_valid(const cJSON *root, double *raw) {
    const cJSON *space = cJSON_GetObjectItemCaseSensitive(root, "ConfigurationSpace"), *item;
    bindings known = {0};
    kf_scalar *domains[BINDINGS];
    size_t sizes[BINDINGS], total = 1;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(space, "TuningParameters")) {
        kf_copy_text(known.names[known.count], 40,
                     cJSON_GetObjectItemCaseSensitive(item, "Name")->valuestring);
        sizes[known.count] = domain(item, &domains[known.count]);
        total *= sizes[known.count++];
    }
    kf_expression *conditions[BINDINGS];
    int condition_count = 0;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(space, "Conditions")) {
        kf_error error;
        const char *source = cJSON_GetObjectItemCaseSensitive(item, "Expression")->valuestring;
        if (kf_expression_parse(source, &conditions[condition_count++], &error) != KF_OK)
            fail_msg("%s: %s", source, error.message);
    }
    long valid = 0;
    for (size_t i = 0; i < total; i++) {
        size_t rest = i;
        for (int p = 0; p < known.count; p++) {
            known.values[p] = domains[p][rest % sizes[p]];
            rest /= sizes[p];
        }
        bool truth = true;
        for (int c = 0; c < condition_count && truth; c++)
            assert_int_equal(kf_expression_truth(conditions[c], look_up, &known, &truth, NULL), KF_OK);
        valid += truth;
    }
    for (int p = 0; p < known.count; p++)
        free(domains[p]);
    for (int c = 0; c < condition_count; c++)
        kf_expression_free(conditions[c]);
    *raw = (double)total;
    return valid;
}

static void test_convolution_problem(void **state) {
    (void)state;
    cJSON *root = problem_file("convolution.t1.json");
    double raw;
    assert_int_equal(count_valid(root, &raw), 4362);
    assert_true(raw == 10240);
    cJSON_Delete(root);
}

static void test_dedispersion_problem(void **state) {
    (void)state;
    cJSON *root = problem_file("dedispersion.t1.json");
    double raw;
    assert_int_equal(count_valid(root, &raw), 11130);
    assert_true(raw == 22272);
    cJSON_Delete(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases_of_the_data_file),
        cmocka_unit_test(test_hostile_text_is_refused),
        cmocka_unit_test(test_hostile_work_is_refused),
        cmocka_unit_test(test_long_sums_are_fine),
        cmocka_unit_test(test_free_names),
        cmocka_unit_test(test_truth_as_in_python),
        cmocka_unit_test(test_convolution_problem),
        cmocka_unit_test(test_dedispersion_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
