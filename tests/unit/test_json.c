/* Tests the strict reading of JSON and the canonical text. Faults: a wrong text is taken, a right one
 * refused, a number rounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"

static const kf_json_place place = {"ball.scene.json", "solid"};

static cJSON *parse(const char *text) {
    cJSON *root = cJSON_Parse(text);
    assert_non_null(root);
    return root;
}

static void expect_syntax_error(const char *text, const char *where) {
    cJSON *root = NULL;
    kf_error error = {0};
    assert_int_equal(kf_json_parse("a.json", text, strlen(text), &root, &error), KF_BAD_INPUT);
    assert_null(root);
    if (strstr(error.message, where) != error.message) fail_msg("%s, not %s", error.message, where);
    assert_null(strchr(error.message, '\n'));
}

static void syntax_errors_have_a_place(void **state) {
    (void)state;
    expect_syntax_error("{\"a\": 1,\n  \"b\": oops}", "a.json:2:8: ");
    expect_syntax_error("", "a.json:1:1: ");
    expect_syntax_error("{\"a\": 1", "a.json:1:");
    expect_syntax_error("{} x", "a.json:1:4: something follows");
    expect_syntax_error("[1,2],", "a.json:1:6: ");
    expect_syntax_error("\x01\x02", "a.json:1:");
    expect_syntax_error("[\n\n\n\"open", "a.json:4:");
}

/* People know these mistakes from other languages. The message gives the place, and says what to write. */
static void syntax_errors_say_what_to_write(void **state) {
    (void)state;
    static const struct {
        const char *text, *where, *near, *what;
    } cases[] = {
        {"// mine\n{}", "1:1", "'/'", "JSON has no comments"},
        {"{\"a\": 1, /* b */ \"c\": 1}", "1:10", "'/'", "JSON has no comments"},
        {"{\n# mine\n\"a\": 1}", "2:1", "'#'", "JSON has no comments"},
        {"{'a': 1}", "1:2", "'\''", "JSON has double quotes"},
        {"{\"a\": 'b'}", "1:7", "'\''", "JSON has double quotes"},
        {"{a: 1}", "1:2", "'a'", "a key stands in double quotes"},
        {"{\"a\": 1,\n}", "2:1", "'}'", "remove the comma before it"},
        {"[1, 2,]", "1:7", "']'", "remove the comma before it"},
        {"{\"a\": 1,5}", "1:9", "'5'", "decimals begin with a point"},
        {"{\"a\": NaN}", "1:7", "'N'", "JSON has finite numbers only"},
        {"{\"a\": +1}", "1:7", "'+'", "a number begins with a digit"},
        {"{\"a\": 1 \"b\": 2}", "1:9", "'\"'", "is a comma missing"},
        {"{\"a\": \"C:\\cars\"}", "1:10", "'\\'", "in a text a backslash is written \\\\"},
        {"{\"a\": \"\\ud83d\"}", "1:8", "'\\'", "behind \\u stand four hexadecimal digits"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char said[160];
        (void)snprintf(said, sizeof said, "a.json:%s: not valid JSON, near %s; %s", cases[i].where,
                       cases[i].near, cases[i].what);
        expect_syntax_error(cases[i].text, said);
    }
    static const char *const cut[] = {"{\"a\": 1,\n", "{\"a\": [", "{\"a\":", "[1, {"}, *const ends[] = {
                                                                                            "a.json:1:9",
                                                                                            "a.json:1:7",
                                                                                            "a.json:1:5",
                                                                                            "a.json:1:5"};
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        char said[80];
        (void)snprintf(said, sizeof said, "%s: not valid JSON, but the text ends here", ends[i]);
        expect_syntax_error(cut[i], said);
    }
    char deep[2048];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    expect_syntax_error(deep,
                        "a.json:1:1001: not valid JSON, near '['; brackets stand too deeply in each other");
    expect_syntax_error("\xff\xfe{", "a.json: is text in UTF-16; save it as UTF-8");
    expect_syntax_error("<html>", "a.json: is a web page (HTML)");
    expect_syntax_error("glTF\x02", "a.json: is a binary glTF mesh; let its name end in .glb");
}

/* cJSON reads these although RFC 8259 forbids them, or reads something else than they say. */
static void what_json_forbids_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *where, *says;
    } bad[] = {
        {"{\"a\": 01}", "a.json:1:7: ", "no leading zeros"},
        {"[\n -00.5]", "a.json:2:2: ", "no leading zeros"},
        {"[1.]", "a.json:1:2: ", "digits follow the point"},
        {"[1.e3]", "a.json:1:2: ", "digits follow the point"},
        {"[1e]", "a.json:1:3: ", "not valid JSON"},
        {"[.5]", "a.json:1:2: ", "begins with a digit"},
        {"[-.5]", "a.json:1:2: ", "begins with a digit"},
        {"[+1]", "a.json:1:2: ", "begins with a digit"},
        {"[0x10]", "a.json:1:3: ", "decimal numbers only"},
        {"[Infinity]", "a.json:1:2: ", "finite numbers only"},
        {"[\"two\nlines\"]", "a.json:1:6: ", "write \\n for a new one"},
        {"[\"a\tb\"]", "a.json:1:4: ", "no control characters"},
        {"[\f1]", "a.json:1:2: ", "stand between values"},
        {"[\"\xe9t\xe9\"]", "a.json:1:3: ", "no UTF-8"},
        {"[\"\xc0\xaf\"]", "a.json:1:3: ", "no UTF-8"},
        {"{\"\xff\": 1}", "a.json:1:3: ", "no UTF-8"},
        {"[\"\\u12g4\"]", "a.json:1:3: ", "four digits"},
        {"[\"a\\u0000b\"]", "a.json:1:4: ", "no zero byte"},
        {"{\"a\": 1, \"a\": 2}", "a.json: ", "a is there twice"},
        {"{\"b\": [0, {\"c\": 1, \"d\": 2, \"c\": 1}]}", "a.json: ", "b[1].c is there twice"},
        {"[{\"a\\n\": 1, \"a\\n\": 1}]", "a.json: ", "[0].a  is there twice"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cJSON *root = NULL;
        kf_error error = {0};
        if (kf_json_parse("a.json", bad[i].text, strlen(bad[i].text), &root, &error) != KF_BAD_INPUT)
            fail_msg("taken: %s", bad[i].text);
        assert_null(root);
        if (strncmp(error.message, bad[i].where, strlen(bad[i].where)) != 0 ||
            strstr(error.message, bad[i].says) == NULL)
            fail_msg("%s: %s", bad[i].text, error.message);
    }
    static const char *const good[] = {"0",
                                       "-0",
                                       "-0.5e+10",
                                       "[1E5, 10, 0.0]",
                                       "\xef\xbb\xbf{}",
                                       "\t[\r\n] ",
                                       "[\"\\u001b \\\" \\\\ \xc3\xa9 \\\\u12\"]",
                                       "[{\"a\": 1}, {\"a\": {\"a\": 1}}]",
                                       "{\"a\": 1, \"A\": 1}"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        cJSON *root = NULL;
        kf_error error = {0};
        if (kf_json_parse("a.json", good[i], strlen(good[i]), &root, &error) != KF_OK)
            fail_msg("%s: %s", good[i], error.message);
        cJSON_Delete(root);
    }
}

static void hostile_nesting_is_refused(void **state) {
    (void)state;
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH + 1);
    memset(text, '[', DEPTH);
    text[DEPTH] = '\0';
    cJSON *root = NULL;
    assert_int_equal(kf_json_parse("a.json", text, DEPTH, &root, NULL), KF_BAD_INPUT);
    free(text);
}

static void missing_file_is_named(void **state) {
    (void)state;
    cJSON *root = NULL;
    kf_error error = {0};
    assert_int_equal(kf_json_read_file("/no/such/file.json", &root, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "/no/such/file.json"));
}

static void check_keys(const char *text, const char *message) {
    static const char *const keys[] = {"mesh", "motion", "pose", NULL};
    cJSON *root = parse(text);
    kf_error error = {0};
    kf_status status = kf_json_check_keys(place, root, keys, &error);
    assert_int_equal(status, message == NULL ? KF_OK : KF_BAD_INPUT);
    if (message != NULL) assert_string_equal(error.message, message);
    cJSON_Delete(root);
}

static void keys_must_be_known(void **state) {
    (void)state;
    check_keys("{\"mesh\": 1, \"pose\": 2}", NULL);
    check_keys("{}", NULL);
    check_keys("{\"moton\": 1}", "ball.scene.json: solid.moton: unknown key; did you mean \"motion\"?");
    check_keys("{\"viscosity\": 1}",
               "ball.scene.json: solid.viscosity: unknown key; there are: mesh, motion, pose");
    check_keys("{\"mesh\": 1, \"mesh\": 2}", "ball.scene.json: solid.mesh: is there twice; remove one");
    check_keys("[]", "ball.scene.json: solid: must be an object {...}, not an array");
    check_keys("{\"a\\nb\": 1}", "ball.scene.json: solid.a b: unknown key; there are: mesh, motion, pose");
}

/* Each text has one key "v". NAN marks a refusal. */
static void numbers_stay_in_range(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double number, integer; /* within [0, 10] */
    } cases[] = {
        {"{\"v\": 3}", 3, 3},          {"{\"v\": 2.5}", 2.5, NAN},  {"{\"v\": 10}", 10, 10},
        {"{\"v\": 10.001}", NAN, NAN}, {"{\"v\": -1}", NAN, NAN},   {"{\"v\": 1e999}", NAN, NAN},
        {"{\"v\": \"3\"}", NAN, NAN},  {"{\"v\": null}", NAN, NAN}, {"{\"v\": [3]}", NAN, NAN},
        {"{\"v\": true}", NAN, NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cJSON *root = parse(cases[i].text);
        double number = -7;
        long integer = -7;
        kf_error error = {0};
        kf_status status = kf_json_number(place, root, "v", true, 0, 10, &number, &error);
        assert_int_equal(status, isnan(cases[i].number) ? KF_BAD_INPUT : KF_OK);
        assert_true(number == (isnan(cases[i].number) ? -7 : cases[i].number));
        status = kf_json_integer(place, root, "v", true, 0, 10, &integer, &error);
        assert_int_equal(status, isnan(cases[i].integer) ? KF_BAD_INPUT : KF_OK);
        assert_int_equal(integer, isnan(cases[i].integer) ? -7 : (long)cases[i].integer);
        cJSON_Delete(root);
    }
}

static void refusals_say_what_is_accepted(void **state) {
    (void)state;
    kf_error error = {0};
    double number = 0;
    long integer = 0;
    cJSON *root = parse("{\"v\": 11, \"big\": 1e18}");
    assert_int_equal(kf_json_number(place, root, "v", true, 0, 10, &number, &error), KF_BAD_INPUT);
    assert_string_equal(error.message,
                        "ball.scene.json: solid.v: must be a finite number from 0 to 10, not 11");
    assert_int_equal(kf_json_number(place, root, "v", true, 12, INFINITY, &number, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "of at least 12, not 11"));
    /* 1e18 is not exact in a double, so it is no index or count. */
    assert_int_equal(kf_json_integer(place, root, "big", true, 0, INT64_MAX, &integer, &error), KF_BAD_INPUT);
    cJSON_Delete(root);
    /* A reader takes 2^53 + 1 for 2^53. So both are refused, on either side of 0. */
    static const char *const texts[] = {"{\"v\": 9007199254740992}", "{\"v\": 9007199254740993}",
                                        "{\"v\": -9007199254740993}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        root = parse(texts[i]);
        assert_int_equal(kf_json_integer(place, root, "v", true, INT64_MIN, INT64_MAX, &integer, &error),
                         KF_BAD_INPUT);
        cJSON_Delete(root);
    }
    root = parse("{\"v\": 9007199254740991}");
    assert_int_equal(kf_json_integer(place, root, "v", true, 0, INT64_MAX, &integer, &error), KF_OK);
    assert_true(integer == 9007199254740991);
    cJSON_Delete(root);
}

static void missing_keys_leave_values_alone(void **state) {
    (void)state;
    cJSON *root = parse("{}");
    double number = 5, numbers[3] = {1, 2, 3};
    const char *string = "kept";
    const cJSON *member = root;
    kf_error error = {0};
    assert_int_equal(kf_json_number(place, root, "v", false, 0, 1, &number, &error), KF_OK);
    assert_int_equal(kf_json_numbers(place, root, "v", false, 0, 1, 3, numbers, &error), KF_OK);
    assert_int_equal(kf_json_string(place, root, "v", false, &string, &error), KF_OK);
    assert_int_equal(kf_json_object(place, root, "v", false, &member, &error), KF_OK);
    assert_true(number == 5 && numbers[2] == 3);
    assert_string_equal(string, "kept");
    assert_null(member);
    assert_int_equal(kf_json_string(place, root, "v", true, &string, &error), KF_BAD_INPUT);
    assert_string_equal(error.message, "ball.scene.json: solid.v: is missing; add it");
    cJSON_Delete(root);
}

static void vectors_have_a_length(void **state) {
    (void)state;
    cJSON *root = parse("{\"v\": [1, 2, 3], \"bad\": [1, \"x\", 3], \"s\": 4}");
    double values[3] = {-1, -1, -1};
    kf_error error = {0};
    assert_int_equal(kf_json_numbers(place, root, "v", true, 0, 9, 3, values, &error), KF_OK);
    assert_true(values[0] == 1 && values[1] == 2 && values[2] == 3);
    assert_int_equal(kf_json_numbers(place, root, "v", true, 0, 9, 2, values, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "must have 2 numbers, not 3"));
    assert_int_equal(kf_json_numbers(place, root, "v", true, 2, 9, 3, values, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "solid.v[0]"));
    assert_int_equal(kf_json_numbers(place, root, "bad", true, 0, 9, 3, values, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "solid.bad[1]"));
    assert_int_equal(kf_json_numbers(place, root, "s", true, 0, 9, 3, values, &error), KF_BAD_INPUT);
    assert_true(values[0] == 1); /* refusals wrote nothing */
    cJSON_Delete(root);
}

static void choices_suggest(void **state) {
    (void)state;
    static const char *const models[] = {"bgk", "acm_mrt"};
    cJSON *root = parse("{\"v\": \"acm_mrt\", \"w\": \"acm-mrt\", \"b\": true}");
    int index = -1;
    bool flag = false;
    kf_error error = {0};
    assert_int_equal(kf_json_choice(place, root, "v", true, models, 2, &index, &error), KF_OK);
    assert_int_equal(index, 1);
    assert_int_equal(kf_json_choice(place, root, "w", true, models, 2, &index, &error), KF_BAD_INPUT);
    assert_string_equal(error.message,
                        "ball.scene.json: solid.w: \"acm-mrt\" is none of: bgk, acm_mrt; did you mean "
                        "\"acm_mrt\"?");
    assert_int_equal(kf_json_boolean(place, root, "b", true, &flag, &error), KF_OK);
    assert_true(flag);
    assert_int_equal(kf_json_boolean(place, root, "v", true, &flag, &error), KF_BAD_INPUT);
    cJSON_Delete(root);
}

static void expect_canonical(const char *text, const char *expected) {
    cJSON *root = parse(text);
    char *canonical = kf_json_canonical(root);
    assert_string_equal(canonical, expected);
    /* It is a fixed point: reading it gives the same text again. */
    cJSON *again = parse(canonical);
    char *second = kf_json_canonical(again);
    assert_string_equal(second, expected);
    free(second);
    free(canonical);
    cJSON_Delete(again);
    cJSON_Delete(root);
}

static void canonical_text_is_one_per_value(void **state) {
    (void)state;
    expect_canonical("{ \"b\": 1, \"a\": {\"d\": [ ], \"c\": {} } }", "{\"a\":{\"c\":{},\"d\":[]},\"b\":1}");
    expect_canonical("[0.1, 1.50, -0, 1e3, 1e22, 123456789, 0.30000000000000004, 1e-7]",
                     "[0.1,1.5,0,1000,1e+22,123456789,0.30000000000000004,1e-07]");
    expect_canonical("[true, false, null]", "[true,false,null]");
    expect_canonical("\"a\\n\\\"\\\\\\u00e9\\u0001\"", "\"a\\u000a\\\"\\\\\xc3\xa9\\u0001\"");
    expect_canonical("\"\"", "\"\"");
}

static size_t made; /* bytes that cJSON asked for */

static void *count_bytes(size_t size) {
    made += size;
    return malloc(size);
}

/* In "[0,0,0,..." each value takes forty times its text. It is refused before any value is made. A string
 * of as many commas is one value. */
static void more_values_than_memory_are_refused(void **state) {
    (void)state;
    const size_t size = ((size_t)1 << 27) + 64;
    char *text = malloc(size);
    cJSON *root = NULL;
    kf_error error = {0};
    assert_non_null(text);
    for (size_t i = 0; i < size; i += 2)
        memcpy(text + i, "0,", 2);
    text[0] = '[';
    text[size - 1] = ']';
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = count_bytes, .free_fn = free});
    assert_int_equal(kf_json_parse("many.json", text, size, &root, &error), KF_BAD_INPUT);
    assert_int_equal(made, 0);
    assert_non_null(strstr(error.message, "many.json: 6.71e+07 values, which would take 6"));
    text[0] = text[size - 1] = '"';
    assert_int_equal(kf_json_parse("one.json", text, size, &root, &error), KF_OK);
    cJSON_Delete(root);
    cJSON_InitHooks(NULL);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syntax_errors_have_a_place),
        cmocka_unit_test(syntax_errors_say_what_to_write),
        cmocka_unit_test(what_json_forbids_is_refused),
        cmocka_unit_test(hostile_nesting_is_refused),
        cmocka_unit_test(missing_file_is_named),
        cmocka_unit_test(more_values_than_memory_are_refused),
        cmocka_unit_test(keys_must_be_known),
        cmocka_unit_test(numbers_stay_in_range),
        cmocka_unit_test(refusals_say_what_is_accepted),
        cmocka_unit_test(missing_keys_leave_values_alone),
        cmocka_unit_test(vectors_have_a_length),
        cmocka_unit_test(choices_suggest),
        cmocka_unit_test(canonical_text_is_one_per_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
