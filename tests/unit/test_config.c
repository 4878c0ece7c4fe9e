/* Tests configs: their text, order, hash and typed access. Faults: two texts of one config get two hashes,
 * a large integer is rounded, a bad text is taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/space/config.h"
#include "base/space/options.h"
#include "base/util/json.h"
#include "base/util/text.h"

static const char *const sample_text =
    "{\"parameters\":{\"alpha\":64,\"layout\":\"csoa\",\"morton\":true},\"system\":\"kinetic\"}";

static kf_config sample(void) {
    kf_config config = {.system = "kinetic"};
    kf_config_set_boolean(&config, "morton", true);
    kf_config_set_integer(&config, "alpha", 8);
    kf_config_set_name(&config, "layout", "csoa");
    kf_config_set_integer(&config, "alpha", 64);
    return config;
}

static kf_status read_text(const char *text, kf_config *config, kf_error *error) {
    cJSON *json = cJSON_Parse(text); /* two members of one name are refused here, too */
    assert_non_null(json);
    kf_status status = kf_config_from_json("best.json", json, config, error);
    cJSON_Delete(json);
    return status;
}

static void test_values_are_sorted_and_replaced(void **state) {
    (void)state;
    kf_config config = sample();
    assert_int_equal(config.count, 3);
    char *text = kf_config_text(&config), *summary = kf_config_summary(&config);
    assert_string_equal(text, sample_text);
    assert_string_equal(summary, "alpha=64 layout=csoa morton=true");
    free(text);
    free(summary);
}

static void test_config_as_seen_from_another(void **state) {
    (void)state;
    kf_config config = sample(), base = sample();
    char *same = kf_config_relative(&config, &base, "default"),
         *alone = kf_config_relative(&config, NULL, "x");
    assert_string_equal(same, "default");
    assert_string_equal(alone, "alpha=64 layout=csoa morton=true");
    kf_config_set_integer(&config, "alpha", 32);
    kf_config_set_boolean(&config, "morton", false);
    kf_config_set_name(&config, "storage", "f16"); /* which the base does not have */
    char *other = kf_config_relative(&config, &base, "default");
    assert_string_equal(other, "default with alpha=32 morton=false storage=f16");
    free(same);
    free(alone);
    free(other);
}

/* The hashes are those of `printf '%s' TEXT | sha256sum`. */
static void test_hash_is_the_sha256_of_the_text(void **state) {
    (void)state;
    kf_config config = sample();
    char hex[KF_HASH_HEX], other[KF_HASH_HEX];
    kf_config_hash(&config, hex);
    assert_string_equal(hex, "995578fe80d92a3900bba1f8cca39d05ca132f90c9ef7e69cb79d6425c3cbe2d");
    kf_config_set_integer(&config, "alpha", 32);
    kf_config_hash(&config, other);
    assert_string_not_equal(hex, other);
}

static void test_order_and_layout_of_the_text_do_not_matter(void **state) {
    (void)state;
    kf_config config;
    kf_error error;
    assert_int_equal(
        read_text("{ \"system\": \"kinetic\",\n \"parameters\": {\"morton\": true, \"alpha\": 6.4e1, "
                  "\"layout\": \"csoa\"} }",
                  &config, &error),
        KF_OK);
    char hex[KF_HASH_HEX], expected[KF_HASH_HEX];
    kf_config_hash(&config, hex);
    kf_config original = sample();
    kf_config_hash(&original, expected);
    assert_string_equal(hex, expected);
}

static void test_typed_access(void **state) {
    (void)state;
    kf_config config = sample();
    kf_error error;
    long alpha = 0;
    bool morton = false;
    const char *layout = NULL;
    assert_int_equal(kf_config_integer(&config, "alpha", &alpha, &error), KF_OK);
    assert_int_equal(kf_config_boolean(&config, "morton", &morton, &error), KF_OK);
    assert_int_equal(kf_config_name(&config, "layout", &layout, &error), KF_OK);
    assert_int_equal(alpha, 64);
    assert_true(morton);
    assert_string_equal(layout, "csoa");
    assert_int_equal(kf_config_integer(&config, "layout", &alpha, &error), KF_BAD_INPUT);
    assert_string_equal(error.message, "the config's parameter 'layout' is a name, not an integer");
    assert_int_equal(kf_config_boolean(&config, "beta", &morton, &error), KF_BAD_INPUT);
    assert_string_equal(error.message, "the config of system kinetic has no parameter 'beta'");
    assert_int_equal(alpha, 64);
}

static void test_large_integers_survive(void **state) {
    (void)state;
    kf_config config = {.system = "kinetic"}, back;
    kf_error error;
    kf_config_set_integer(&config, "most", 9007199254740991);
    kf_config_set_integer(&config, "least", -9007199254740991);
    char *text = kf_config_text(&config);
    assert_int_equal(read_text(text, &back, &error), KF_OK);
    free(text);
    assert_int_equal(back.count, 2);
    assert_true(back.values[0].integer == -9007199254740991 && back.values[1].integer == 9007199254740991);
}

static void test_bad_input_is_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "must be an object"},
        {"{\"system\":\"kinetic\"}", "parameters"},
        {"{\"parameters\":{}}", "system"},
        {"{\"sytem\":\"kinetic\",\"parameters\":{}}", "system"},
        {"{\"system\":\"\",\"parameters\":{}}", "best.json: system must be a name"},
        {"{\"system\":\"kinetic\",\"parameters\":[]}", "parameters"},
        {"{\"system\":\"kinetic\",\"parameters\":{\"alpha\":1.5}}",
         "parameters.alpha must be a whole number, not 1.5"},
        {"{\"system\":\"kinetic\",\"parameters\":{\"alpha\":1e300}}",
         "parameters.alpha must be a whole number"},
        {"{\"system\":\"kinetic\",\"parameters\":{\"alpha\":null}}", "parameters.alpha must be"},
        {"{\"system\":\"kinetic\",\"parameters\":{\"alpha\":[1]}}", "parameters.alpha must be"},
        {"{\"system\":\"kinetic\",\"parameters\":{\"layout\":\"a b\"}}", "parameters.layout must be"},
        {"{\"system\":\"kinetic\",\"parameters\":{\"layout\":\"\"}}", "parameters.layout must be"},
        {"{\"system\":\"kinetic\",\"parameters\":{\"layout\":"
         "\"0123456789012345678901234567890123456789\"}}",
         "parameters.layout must be"},
        {"{\"system\":\"kinetic\",\"parameters\":{\"\":1}}", "a parameter's name"},
        {"{\"system\":\"kinetic\",\"parameters\":{\"a\":1,\"a\":2}}", "parameters.a is there twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kf_config config = sample();
        kf_error error = {0};
        assert_int_equal(read_text(cases[i].text, &config, &error), KF_BAD_INPUT);
        if (strstr(error.message, cases[i].message) == NULL || strstr(error.message, "best.json") == NULL)
            fail_msg("%s: %s", cases[i].text, error.message);
        assert_int_equal(config.count, 3); /* left as it was */
    }
}

static void test_too_many_parameters(void **state) {
    (void)state;
    for (int count = KF_CONFIG_VALUES; count <= KF_CONFIG_VALUES + 1; count++) {
        kf_text text = {0};
        kf_text_append(&text, "{\"system\":\"kinetic\",\"parameters\":{");
        for (int i = 0; i < count; i++)
            kf_text_append(&text, "%s\"p%d\":%d", i > 0 ? "," : "", i, i);
        kf_text_append(&text, "}}");
        kf_config config;
        kf_error error;
        assert_int_equal(read_text(text.text, &config, &error),
                         count <= KF_CONFIG_VALUES ? KF_OK : KF_BAD_INPUT);
        kf_text_free(&text);
    }
}

/* To run a config a system reads it strictly. To tell its cost it reads what it knows of it. */
static void test_members_of_an_older_config(void **state) {
    (void)state;
    typedef struct members {
        long alpha, march;
        bool morton, exchange;
        int layout, plan;
    } members;
    const kf_config_field table[] = {KF_NUMBER(members, KF_OPTION_LONG, alpha, "alpha", 1, 128),
                                     KF_NUMBER(members, KF_OPTION_LONG, march, "march", 0, 64),
                                     KF_FLAG(members, morton, "morton"),
                                     KF_FLAG(members, exchange, "exchange"),
                                     KF_CHOICE(members, layout, "layout", "aos", "soa", "csoa"),
                                     KF_CHOICE(members, plan, "plan", "paper", "fused")};
    enum { COUNT = sizeof table / sizeof *table };
    const members usual = {.alpha = 2, .march = 7, .exchange = true, .layout = 1, .plan = 1};
    kf_error error = {KF_OK, ""};
    kf_config config = sample(); /* alpha 64, layout csoa, morton */
    members read = usual;
    assert_int_equal(kf_options_read(&config, table, COUNT, &read, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "march"));
    read = usual;
    kf_options_read_known(&config, table, COUNT, &read);
    assert_true(read.alpha == 64 && read.march == 7 && read.morton && read.exchange);
    assert_true(read.layout == 2 && read.plan == 1);
    /* Values out of bounds, of another kind, or with an unknown name are not read. */
    kf_config_set_integer(&config, "alpha", 129);
    kf_config_set_name(&config, "morton", "yes");
    kf_config_set_name(&config, "layout", "blocks");
    read = usual;
    kf_options_read_known(&config, table, COUNT, &read);
    assert_memory_equal(&read, &usual, sizeof usual);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_sorted_and_replaced),
        cmocka_unit_test(test_config_as_seen_from_another),
        cmocka_unit_test(test_hash_is_the_sha256_of_the_text),
        cmocka_unit_test(test_order_and_layout_of_the_text_do_not_matter),
        cmocka_unit_test(test_typed_access),
        cmocka_unit_test(test_large_integers_survive),
        cmocka_unit_test(test_bad_input_is_named),
        cmocka_unit_test(test_too_many_parameters),
        cmocka_unit_test(test_members_of_an_older_config),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
