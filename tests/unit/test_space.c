/* Tests spaces: declarations, constraints, indices, refusals. Faults: a config that is missing, doubled or
 * not allowed. */
#include "base/util/memory.h"
#include "base/util/text.h"
#include "tests/unit/space_fixture.h"

/* --- Members of the space ----------------------------------------------------------------------------- */

/* The constraints of tests/data/kinetic.space.json, written once more in C. */
static bool valid(const kf_config *config, bool gpu) {
    const char *plan, *layout;
    long alpha, split, block_x, block_y, length;
    bool morton;
    assert_int_equal(kf_config_name(config, "plan", &plan, NULL), KF_OK);
    assert_int_equal(kf_config_name(config, "layout", &layout, NULL), KF_OK);
    assert_int_equal(kf_config_integer(config, "alpha", &alpha, NULL), KF_OK);
    assert_int_equal(kf_config_integer(config, "collision_split", &split, NULL), KF_OK);
    assert_int_equal(kf_config_integer(config, "block_x", &block_x, NULL), KF_OK);
    assert_int_equal(kf_config_integer(config, "block_y", &block_y, NULL), KF_OK);
    assert_int_equal(kf_config_integer(config, "sample_block_length", &length, NULL), KF_OK);
    assert_int_equal(kf_config_boolean(config, "morton", &morton, NULL), KF_OK);
    bool fused = strcmp(plan, "fused") == 0, csoa = strcmp(layout, "csoa") == 0;
    return csoa == (alpha > 1) && block_x * block_y <= 512 && fused == (split == 0) &&
           (strcmp(plan, "paper") != 0 || split == 2) && (gpu || block_y == 1) &&
           (fused || morton || length == 1);
}

/* Visits the full product by positions and compares it with the tree, config by config. */
static void compare_with_product(const kf_space *space, bool gpu) {
    int positions[KF_CONFIG_VALUES] = {0}, count = kf_space_parameter_count(space);
    uint64_t found = 0, raw = 0;
    uint8_t *seen = kf_allocate_zeroed((size_t)kf_space_size(space), 1);
    for (int p = 0; p < count; raw++) {
        kf_config config = {.system = "kinetic"};
        for (int q = 0; q < count; q++) {
            kf_value value;
            kf_space_value(space, q, positions[q], &value);
            if (value.kind == KF_VALUE_INTEGER)
                kf_config_set_integer(&config, value.parameter, value.integer);
            if (value.kind == KF_VALUE_BOOLEAN)
                kf_config_set_boolean(&config, value.parameter, value.integer != 0);
            if (value.kind == KF_VALUE_NAME) kf_config_set_name(&config, value.parameter, value.name);
        }
        uint64_t index = UINT64_MAX;
        bool in = kf_space_index(space, &config, &index, NULL, 0);
        assert_int_equal(in, valid(&config, gpu));
        if (in) {
            assert_true(index < kf_space_size(space) && !seen[index]);
            seen[index] = 1;
            kf_config back;
            kf_space_config(space, index, &back);
            assert_memory_equal(&back, &config, sizeof back);
            found++;
        }
        for (p = 0; p < count && ++positions[p] == kf_space_domain_size(space, p); p++)
            positions[p] = 0;
    }
    assert_true((double)raw == kf_space_raw_size(space));
    assert_true(found == kf_space_size(space));
    free(seen);
}

static void test_tree_agrees_with_the_product(void **state) {
    (void)state;
    for (int gpu = 0; gpu < 2; gpu++) {
        kf_space *space = kinetic(scene(4096, 5, gpu), NULL, 0);
        compare_with_product(space, gpu != 0);
        kf_space_free(space);
    }
}

static void test_domains_follow_the_scene(void **state) {
    (void)state;
    kf_space *small = kinetic(scene(1000, 3, 0), NULL, 0), *large = kinetic(scene(16e6, 60, 1), NULL, 0);
    assert_int_equal(kf_space_domain_size(small, 2), 10); /* 1, 2, ..., 512 */
    assert_int_equal(kf_space_domain_size(small, 3), 3);
    assert_int_equal(kf_space_domain_size(large, 2), 24); /* 1, ..., 2^23 */
    assert_int_equal(kf_space_domain_size(large, 3), 60);
    kf_value value;
    kf_space_value(large, 2, 23, &value);
    assert_string_equal(value.parameter, "alpha");
    assert_int_equal(value.integer, 8388608);
    kf_space_free(small);
    kf_space_free(large);
}

static void test_presets_are_in_the_space(void **state) {
    (void)state;
    kf_space *space = kinetic(scene(40, 3, 1), NULL, 0);
    kf_config config;
    kf_error error;
    uint64_t index;
    char why[256];
    assert_int_equal(kf_space_preset_count(space), 3);
    assert_string_equal(kf_space_preset_name(space, 0), "default");
    assert_int_equal(kf_space_preset(space, "paper", &config, &error), KF_OK);
    char *summary = kf_config_summary(&config);
    assert_string_equal(summary,
                        "alpha=32 block_x=128 block_y=1 collision_split=2 layout=csoa morton=true plan=paper "
                        "sample_block_length=3 storage=f32");
    free(summary);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(kf_space_preset(space, kf_space_preset_name(space, i), &config, &error), KF_OK);
        if (!kf_space_index(space, &config, &index, why, sizeof why)) fail_msg("%s", why);
    }
    assert_int_equal(kf_space_preset(space, "papre", &config, &error), KF_BAD_INPUT);
    assert_string_equal(error.message, "system kinetic has no preset 'papre'; did you mean 'paper'?");
    kf_space_free(space);
}

static void test_why_a_config_is_not_in_the_space(void **state) {
    (void)state;
    kf_space *space = kinetic(scene(4096, 5, 0), NULL, 0);
    kf_config config, changed;
    kf_error error;
    uint64_t index;
    char why[256];
    assert_int_equal(kf_space_preset(space, "default", &config, &error), KF_OK);
    changed = config;
    kf_config_set_integer(&changed, "alpha", 64);
    assert_false(kf_space_index(space, &changed, &index, why, sizeof why));
    assert_string_equal(
        why, "violates the constraint \"layout == 'csoa' or alpha == 1\" (alpha groups nodes only in "
             "the csoa layout)");
    changed = config;
    kf_config_set_integer(&changed, "block_x", 48);
    assert_false(kf_space_index(space, &changed, &index, why, sizeof why));
    assert_string_equal(why, "48 is not in the domain of block_x: 32 64 128 256 512");
    changed = config;
    kf_config_set_integer(&changed, "morton", 1);
    assert_false(kf_space_index(space, &changed, &index, why, sizeof why));
    changed = config;
    kf_config_set_integer(&changed, "beta", 1);
    assert_false(kf_space_index(space, &changed, &index, why, sizeof why));
    assert_string_equal(why, "system kinetic has no parameter 'beta'");
    changed = config;
    changed.count--;
    assert_false(kf_space_index(space, &changed, &index, why, sizeof why));
    assert_string_equal(why, "the config lacks the parameter storage");
    changed = config;
    kf_copy_text(changed.system, sizeof changed.system, "sph");
    assert_false(kf_space_index(space, &changed, &index, why, sizeof why));
    assert_string_equal(why, "the config is for system sph, the space for kinetic");
    kf_space_free(space);
}

/* --- --fix ---------------------------------------------------------------------------------------------- */

static void test_fixed_parameters_stay_fixed(void **state) {
    (void)state;
    static const char *const fixed[] = {"layout=csoa", "morton=false", "alpha=64"};
    kf_space *space = kinetic(scene(4096, 5, 0), fixed, 3), *whole = kinetic(scene(4096, 5, 0), NULL, 0);
    assert_true(kf_space_size(space) > 0 && kf_space_size(space) < kf_space_size(whole));
    assert_true(kf_space_raw_size(space) == kf_space_raw_size(whole) / (3 * 2 * 13));
    for (uint64_t i = 0; i < kf_space_size(space); i++) {
        kf_config config;
        uint64_t index;
        kf_space_config(space, i, &config);
        assert_true(valid(&config, false));
        char *summary = kf_config_summary(&config);
        assert_non_null(strstr(summary, "alpha=64"));
        assert_non_null(strstr(summary, "layout=csoa morton=false"));
        free(summary);
        assert_true(kf_space_index(space, &config, &index, NULL, 0) && index == i);
    }
    kf_config config; /* presets are not restricted */
    uint64_t index;
    char why[256];
    assert_int_equal(kf_space_preset(space, "baseline", &config, NULL), KF_OK);
    assert_false(kf_space_index(space, &config, &index, why, sizeof why));
    assert_string_equal(why, "layout does not have the value that --fix gives it");
    kf_space_free(space);
    kf_space_free(whole);
}

/* Several fixed values leave what each of them leaves alone. */
static void test_some_values(void **state) {
    (void)state;
    static const char *const some[] = {"alpha=64,1,4096,64", "layout=soa,csoa"};
    static const char *const layouts[] = {"layout=soa", "layout=csoa"};
    static const char *const alphas[] = {"alpha=1", "alpha=64", "alpha=4096"};
    kf_space *space = kinetic(scene(4096, 5, 0), some, 2);
    cJSON *json = declaration();
    uint64_t sum = 0;
    for (int l = 0; l < 2; l++)
        for (int a = 0; a < 3; a++) {
            const char *const one[] = {layouts[l], alphas[a]};
            kf_space *part = NULL;
            kf_error error;
            if (build(json, scene(4096, 5, 0), one, 2, &part, &error) != KF_OK)
                continue; /* nothing is left */
            sum += kf_space_size(part);
            for (uint64_t i = 0; i < kf_space_size(part); i++) {
                kf_config config;
                uint64_t index;
                kf_space_config(part, i, &config);
                assert_true(kf_space_index(space, &config, &index, NULL, 0));
            }
            kf_space_free(part);
        }
    assert_true(kf_space_size(space) == sum && sum > 0);
    cJSON_Delete(json);
    kf_space_free(space);
}

static void test_bad_fixes_are_named(void **state) {
    (void)state;
    static const struct {
        const char *fixed[2], *message;
    } cases[] = {
        {{"alpa=64"}, "--fix: system kinetic has no parameter 'alpa'; did you mean 'alpha'?"},
        {{"zzzzzzzzz=64"}, "has no parameter 'zzzzzzzzz'; there are: plan, layout, alpha"},
        {{"alpha"}, "--fix takes PARAMETER=VALUE[,VALUE]..., not 'alpha'"},
        {{"=3"}, "--fix takes PARAMETER=VALUE[,VALUE]..., not '=3'"},
        {{"alpha=3"}, "--fix alpha=3 is outside the domain: 1 2 4 8 16 ... 4096 (13 values)"},
        {{"alpha=4,,8"}, "--fix alpha: '' is not an integer"},
        {{"alpha=4,5"}, "--fix alpha=5 is outside the domain"},
        {{"alpha=4", "alpha=8"}, "--fix alpha is given twice; give its values as alpha=VALUE,VALUE"},
        {{"alpha=many"}, "--fix alpha: 'many' is not an integer"},
        {{"alpha="}, "--fix alpha: '' is not an integer"},
        {{"alpha=99999999999999999999"}, "is not an integer"},
        {{"layout=cosa"}, "--fix layout=cosa is outside the domain: aos soa csoa"},
        {{"morton=yes"}, "--fix morton: 'yes' is neither true nor false"},
        {{"sample_block_length=9"}, "is outside the domain: 1 to 5"},
        {{"alpha=64", "alpha=32"}, "--fix alpha is given twice"},
        {{"layout=aos", "alpha=64"},
         "no config is valid with what --fix leaves; the constraint \"layout == 'csoa' or alpha == 1\" "
         "(alpha groups "
         "nodes only in the csoa layout) excludes the most: 100 %"},
    };
    cJSON *json = declaration();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kf_space *space = NULL;
        kf_error error = {0};
        int count = cases[i].fixed[1] != NULL ? 2 : 1;
        assert_int_equal(build(json, scene(4096, 5, 0), cases[i].fixed, count, &space, &error), KF_BAD_INPUT);
        assert_null(space);
        if (strstr(error.message, cases[i].message) == NULL)
            fail_msg("%s: %s", cases[i].fixed[0], error.message);
    }
    cJSON_Delete(json);
}

/* --- Bad declarations ----------------------------------------------------------------------------------- */

#define WHOLE(parameters, rest)                                                                              \
    "{\"system\":\"kinetic\",\"format\":1,\"parameters\":[" parameters "]" rest "}"
#define PRESETS        ",\"presets\":{\"baseline\":{},\"paper\":{}}"
#define ONE(parameter) WHOLE(parameter, PRESETS)
#define A              "{\"name\":\"a\",\"type\":\"integer\",\"values\":[1,2,3],\"default\":1}"
#define B              "{\"name\":\"b\",\"type\":\"boolean\",\"default\":false}"

static void test_bad_declarations_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "must be an object"},
        {"{\"sistem\":1}", "did you mean \"system\"?"},
        {"{\"system\":\"kinetic\",\"format\":2}", "format"},
        {"{\"system\":\"sph\",\"format\":1}", "system is \"sph\" where \"kinetic\" is expected"},
        {"{\"system\":\"kinetic\",\"format\":1}", "parameters must be a list"},
        {WHOLE("", PRESETS), "parameters has 0 entries; 1 to 48 are accepted"},
        {ONE("7"), "parameters[0]: must be an object"},
        {ONE("{\"name\":\"a\",\"type\":\"integer\",\"value\":[1]}"), "parameters[0].value: unknown key"},
        {ONE("{\"type\":\"integer\",\"values\":[1]}"), "parameters[0].name: is missing"},
        {ONE("{\"name\":\"a b\",\"type\":\"integer\",\"values\":[1],\"default\":1}"),
         "parameters[0].name: 'a b' is no name"},
        {ONE("{\"name\":\"lambda\",\"type\":\"integer\",\"values\":[1],\"default\":1}"),
         "parameters[0].name: 'lambda' is no name"},
        {ONE("{\"name\":\"gpu\",\"type\":\"integer\",\"values\":[1],\"default\":1}"),
         "'gpu' is already the name of a variable"},
        {WHOLE(A, ",\"variables\":[{\"name\":\"v\"}]" PRESETS), "variables[0].expression: is missing"},
        {WHOLE(A, ",\"variables\":[{\"name\":\"gpu\",\"expression\":\"1\"}]" PRESETS),
         "variables[0].name: 'gpu' is already the name of a variable"},
        {WHOLE(A, ",\"variables\":[{\"name\":\"a\",\"expression\":\"1\"}]" PRESETS),
         "parameters[0].name: 'a' is already the name of a variable"},
        {WHOLE(A, ",\"variables\":[{\"name\":\"v\",\"expression\":\"v + 1\"}]" PRESETS),
         "variables[0].expression of 'v': column 1: unknown name 'v'"},
        {WHOLE(A, ",\"variables\":[{\"name\":\"v\",\"expression\":\"'x'\"}]" PRESETS),
         "variables[0].expression of 'v': 'x' is not a number"},
        {ONE(A "," A), "parameters[1].name: parameter 'a' is there twice"},
        {ONE("{\"name\":\"a\",\"type\":\"int\",\"values\":[1],\"default\":1}"), "parameters[0].type"},
        {ONE("{\"name\":\"a\",\"type\":\"integer\",\"default\":1}"),
         "parameters[0].values of 'a': must be a list of values or an expression"},
        {ONE("{\"name\":\"a\",\"type\":\"integer\",\"values\":[1,2.5],\"default\":1}"),
         "parameters[0].values of 'a': 2.5 is not a whole number"},
        {ONE("{\"name\":\"a\",\"type\":\"integer\",\"values\":[1,\"x\"],\"default\":1}"),
         "x is not of type integer"},
        {ONE("{\"name\":\"a\",\"type\":\"integer\",\"values\":[1,2,1],\"default\":1}"),
         "1 is there twice; remove one"},
        {ONE("{\"name\":\"a\",\"type\":\"integer\",\"values\":[],\"default\":1}"), "no value is left"},
        {ONE("{\"name\":\"a\",\"type\":\"integer\",\"values\":\"range(0)\",\"default\":1}"),
         "no value is left"},
        {ONE("{\"name\":\"a\",\"type\":\"integer\",\"values\":\"range(100000)\",\"default\":1}"),
         "column 1: the list has 100000 values; at most 65535"},
        {ONE("{\"name\":\"a\",\"type\":\"integer\",\"values\":\"[1, 2 / 1]\",\"default\":1}"),
         "2 is not of type integer"},
        {ONE("{\"name\":\"a\",\"type\":\"integer\",\"values\":\"[1, nodecount]\",\"default\":1}"),
         "parameters[0].values of 'a': column 5: unknown name 'nodecount' (did you mean 'node_count'?)"},
        {ONE("{\"name\":\"a\",\"type\":\"integer\",\"values\":[1]}"),
         "parameters[0].default of 'a' is missing"},
        {ONE("{\"name\":\"a\",\"type\":\"integer\",\"values\":[1,2],\"default\":3}"),
         "parameters[0].default of 'a': 3 is not in the domain of a: 1 2"},
        {ONE("{\"name\":\"a\",\"type\":\"integer\",\"values\":[1,2],\"default\":\"1 // 0\"}"),
         "parameters[0].default of 'a': column 3: division by zero"},
        {ONE("{\"name\":\"a\",\"type\":\"name\",\"values\":[\"x y\"],\"default\":\"x y\"}"),
         "'x y' must be 1 to 39"},
        {ONE("{\"name\":\"a\",\"type\":\"name\",\"values\":[\"x\\ny\"],\"default\":\"x\"}"),
         "'x y' must be 1 to 39"},
        {ONE("{\"name\":\"a\",\"type\":\"integer\",\"help\":\"x\\ny\",\"values\":[1],\"default\":1}"),
         "parameters[0].help must be one line"},
        {WHOLE(A, ""), "presets: is missing"},
        {WHOLE(A, ",\"presets\":{\"baseline\":{}}"), "presets.paper is missing"},
        {WHOLE(A, ",\"presets\":{\"baseline\":{},\"paper\":3}"), "presets.paper must be an object"},
        {WHOLE("{\"name\":\"alpha\",\"type\":\"integer\",\"values\":[1],\"default\":1}",
               ",\"presets\":{\"baseline\":{\"alpa\":1},\"paper\":{}}"),
         "presets.baseline: unknown parameter 'alpa'; did you mean 'alpha'?"},
        {WHOLE(A, ",\"presets\":{\"baseline\":{\"a\":7},\"paper\":{}}"),
         "presets.baseline.a: 7 is not in the domain of a: 1 2 3"},
        {WHOLE(A, ",\"presets\":{\"baseline\":{\"a\":{\"expression\":\"b\"}},\"paper\":{}}"),
         "presets.baseline.a: column 1: unknown name 'b'"},
        {WHOLE(A, ",\"presets\":{\"baseline\":{\"a\":1,\"a\":2},\"paper\":{}}"),
         "presets.baseline.a is there twice"},
        {WHOLE(A, ",\"defaults\":[{\"when\":\"gpu\",\"set\":{\"aa\":1}}]" PRESETS),
         "defaults[0]: unknown parameter 'aa'"},
        {WHOLE(A, ",\"defaults\":[{\"when\":\"a\",\"set\":{}}]" PRESETS), "defaults[0].when"},
        {WHOLE(A, ",\"defaults\":[{\"when\":\"True\",\"set\":{\"a\":77}}]" PRESETS), "defaults[0].set.a"},
        {WHOLE(A, ",\"former\":[{\"name\":\"a\",\"value\":1}]" PRESETS), "former[0].name"},
        {WHOLE(A, ",\"former\":[{\"name\":\"c\"}]" PRESETS), "former[0] needs"},
        {WHOLE(A, ",\"former\":[{\"name\":\"c\",\"becomes\":\"d\"}]" PRESETS), "no parameter 'd'"},
        {WHOLE(A, ",\"constraints\":[{\"expression\":\"a > 1\"}]" PRESETS),
         "constraints[0].reason: is missing"},
        {WHOLE(A, ",\"constraints\":[{\"expression\":\"a >\",\"reason\":\"r\"}]" PRESETS),
         "constraints[0].expression: column 4: the expression ends"},
        {WHOLE(A, ",\"constraints\":[{\"expression\":\"aa > 1\",\"reason\":\"r\"}]" PRESETS),
         "constraints[0].expression: column 1: unknown name 'aa'"},
        {WHOLE(A, ",\"constraints\":[{\"expression\":\"a > 1\",\"reason\":\"r\"}]" PRESETS),
         "presets.default violates the constraint \"a > 1\" (r)"},
        {WHOLE(A "," B, ",\"constraints\":[{\"expression\":\"1 % (a - 2) == 0\",\"reason\":\"r\"}]" PRESETS),
         "constraint \"1 % (a - 2) == 0\" with a=2: column 3: division by zero"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        kf_error error = {0};
        kf_space *space = from_text(cases[i].text, scene(100, 5, 0), &error);
        if (space != NULL) fail_msg("accepted: %s", cases[i].text);
        if (strstr(error.message, cases[i].message) == NULL) fail_msg("%s\n%s", cases[i].text, error.message);
        assert_null(strchr(error.message, '\n'));
    }
}

/* A constraint earlier in the list guards a later one, and a repeated value of an expression counts once. */
static void test_small_rules(void **state) {
    (void)state;
    kf_error error;
    kf_space *space = from_text(
        WHOLE(
            "{\"name\":\"a\",\"type\":\"integer\",\"values\":\"[0, 1, 4, shortest_edge, 1]\",\"default\":1}",
            ",\"constraints\":[{\"expression\":\"a != 0\",\"reason\":\"r\"},"
            "{\"expression\":\"4 % a == 0\",\"reason\":\"s\"}]" PRESETS),
        scene(100, 4, 0), &error);
    assert_non_null(space);
    assert_int_equal(kf_space_domain_size(space, 0), 3);
    assert_int_equal(kf_space_size(space), 2);
    kf_space_free(space);
}

/* For each parameter the first rule that applies and sets it counts, and otherwise its own default. */
static void test_rules_for_defaults(void **state) {
    (void)state;
    static const char text[] = WHOLE(
        A "," B, ",\"defaults\":[{\"when\":\"node_count < 20\",\"set\":{\"a\":2}},"
                 "{\"when\":\"node_count < 60\",\"set\":{\"a\":1,\"b\":{\"expression\":\"node_count > 5\"}},"
                 "\"help\":\"h\"}]" PRESETS);
    static const struct {
        double nodes;
        long a;
        bool b;
    } cases[] = {{10, 2, true}, {50, 1, true}, {100, 1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kf_error error;
        kf_config config;
        long a;
        bool b;
        kf_space *space = from_text(text, scene(cases[i].nodes, 4, 0), &error);
        if (space == NULL) fail_msg("%s", error.message);
        assert_int_equal(kf_space_preset(space, "default", &config, &error), KF_OK);
        assert_int_equal(kf_config_integer(&config, "a", &a, &error), KF_OK);
        assert_int_equal(kf_config_boolean(&config, "b", &b, &error), KF_OK);
        assert_true(a == cases[i].a && b == cases[i].b);
        kf_space_free(space);
    }
}

/* A config without a parameter that only teams have gets its default. Other missing parameters stay
 * missing. */
static void test_lacking_parameters(void **state) {
    (void)state;
    static const char text[] = WHOLE(A "," B ",{\"name\":\"way\",\"type\":\"name\",\"values\":[\"near\","
                                       "\"far\"],\"default\":\"far\",\"team\":true}",
                                     PRESETS);
    kf_error error = {KF_OK, ""};
    kf_space *space = from_text(text, scene(100, 4, 0), &error);
    if (space == NULL) fail_msg("%s", error.message);
    kf_text notes = {0};
    kf_config config = {.system = "kinetic"};
    const char *way = "";
    kf_config_set_integer(&config, "a", 3);
    assert_int_equal(kf_space_update(space, &config, &notes, &error), KF_OK);
    assert_int_equal(config.count, 2);
    assert_int_equal(kf_config_name(&config, "way", &way, &error), KF_OK);
    assert_string_equal(way, "far");
    assert_non_null(strstr(notes.text, "way=far is taken"));
    kf_text_free(&notes);
    kf_config_set_name(&config, "way", "near");
    assert_int_equal(kf_space_update(space, &config, &notes, &error), KF_OK);
    assert_null(notes.text);
    assert_int_equal(kf_config_name(&config, "way", &way, &error), KF_OK);
    assert_string_equal(way, "near");
    kf_space_free(space);
}

/* A config of another version is read with the current names, or refused with a remedy. */
static void test_former_parameters(void **state) {
    (void)state;
    static const char text[] =
        WHOLE(A, ",\"former\":[{\"name\":\"old\",\"becomes\":\"a\",\"values\":{\"true\":2}},"
                 "{\"name\":\"gone\",\"value\":0}]" PRESETS);
    kf_error error = {KF_OK, ""};
    kf_space *space = from_text(text, scene(100, 4, 0), &error);
    if (space == NULL) fail_msg("%s", error.message);
    kf_text notes = {0};
    kf_config config = {.system = "kinetic"};
    long a = 0;
    kf_config_set_boolean(&config, "old", true);
    kf_config_set_integer(&config, "gone", 0);
    assert_int_equal(kf_space_update(space, &config, &notes, &error), KF_OK);
    assert_int_equal(config.count, 1);
    assert_int_equal(kf_config_integer(&config, "a", &a, &error), KF_OK);
    assert_int_equal(a, 2);
    assert_non_null(strstr(notes.text, "old=true is read as a=2"));
    assert_non_null(strstr(notes.text, "gone=0 is left out"));
    kf_text_free(&notes);
    kf_config_set_integer(&config, "gone", 3);
    assert_int_equal(kf_space_update(space, &config, &notes, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "gone=3"));
    kf_config_remove(&config, "gone");
    kf_config_set_boolean(&config, "old", false);
    assert_int_equal(kf_space_update(space, &config, &notes, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "old is a now"));
    kf_text_free(&notes);
    kf_space_free(space);
}

/* Each variable may refer to those before it. A truth value counts as a number. */
static void test_variables_of_its_own(void **state) {
    (void)state;
    static const char text[] = WHOLE(
        "{\"name\":\"a\",\"type\":\"integer\",\"values\":\"[1, edges, 1000 * large]\",\"default\":\"edges\"}",
        ",\"variables\":[{\"name\":\"large\",\"expression\":\"node_count > 50\",\"help\":\"h\"},"
        "{\"name\":\"edges\",\"expression\":\"shortest_edge * (1 + large)\"}]" PRESETS);
    for (int large = 0; large < 2; large++) {
        kf_error error;
        kf_config config;
        long a;
        kf_space *space = from_text(text, scene(large ? 100 : 10, 4, 0), &error);
        if (space == NULL) fail_msg("%s", error.message);
        assert_int_equal(kf_space_domain_size(space, 0), 3);
        assert_int_equal(kf_space_preset(space, "default", &config, &error), KF_OK);
        assert_int_equal(kf_config_integer(&config, "a", &a, &error), KF_OK);
        assert_int_equal(a, large ? 8 : 4);
        kf_space_free(space);
    }
}

/* --- Print, JSON, hash ---------------------------------------------------------------------------------- */

static char *printed(const kf_space *space) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    kf_space_print(space, stream);
    (void)fclose(stream);
    return text;
}

static void test_a_space_is_printed_as_a_table(void **state) {
    (void)state;
    static const char *const fixed[] = {"block_x=128"};
    kf_space *space = kinetic(scene(4096, 40, 0), fixed, 1);
    char *text = printed(space);
    assert_non_null(strstr(text, "space of system kinetic: 9 parameters, "));
    assert_non_null(strstr(
        text, "parameter            type     values                           default  baseline  paper\n"));
    assert_non_null(strstr(
        text, "alpha                integer  1 2 4 8 16 ... 4096 (13 values)  1        1         64\n"));
    assert_non_null(strstr(text, "sample_block_length  integer  1 to 40 "));
    assert_non_null(strstr(text, "block_x              integer  128 (fixed) "));
    assert_non_null(strstr(text, "\n  gpu or block_y == 1\n      rows of a block mean nothing on the cpu\n"));
    free(text);
    kf_space_free(space);
}

static void test_json_and_hash(void **state) {
    (void)state;
    static const char *const fixed[] = {"block_x=128"};
    kf_space *spaces[] = {kinetic(scene(4096, 40, 0), NULL, 0), kinetic(scene(4096, 40, 0), NULL, 0),
                          kinetic(scene(4096, 41, 0), NULL, 0), kinetic(scene(4096, 40, 1), NULL, 0),
                          kinetic(scene(4096, 40, 0), fixed, 1)};
    char hashes[5][KF_HASH_HEX];
    for (int i = 0; i < 5; i++)
        kf_space_hash(spaces[i], hashes[i]);
    assert_string_equal(hashes[0], hashes[1]);
    for (int i = 1; i < 5; i++)
        for (int j = i + 1; j < 5; j++)
            assert_string_not_equal(hashes[i], hashes[j]);
    cJSON *json = kf_space_to_json(spaces[0]);
    assert_string_equal(cJSON_GetObjectItem(json, "hash")->valuestring, hashes[0]);
    assert_true(cJSON_GetObjectItem(json, "size")->valuedouble == (double)kf_space_size(spaces[0]));
    const cJSON *alpha = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "parameters"), 2);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(alpha, "values")), 13);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(json, "constraints")), 7);
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "presets"), "paper")),
                     9);
    cJSON_Delete(json);
    for (int i = 0; i < 5; i++)
        kf_space_free(spaces[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_agrees_with_the_product),
        cmocka_unit_test(test_domains_follow_the_scene),
        cmocka_unit_test(test_presets_are_in_the_space),
        cmocka_unit_test(test_why_a_config_is_not_in_the_space),
        cmocka_unit_test(test_fixed_parameters_stay_fixed),
        cmocka_unit_test(test_some_values),
        cmocka_unit_test(test_bad_fixes_are_named),
        cmocka_unit_test(test_bad_declarations_are_named),
        cmocka_unit_test(test_small_rules),
        cmocka_unit_test(test_variables_of_its_own),
        cmocka_unit_test(test_rules_for_defaults),
        cmocka_unit_test(test_lacking_parameters),
        cmocka_unit_test(test_former_parameters),
        cmocka_unit_test(test_a_space_is_printed_as_a_table),
        cmocka_unit_test(test_json_and_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
