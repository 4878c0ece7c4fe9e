/* Tests options of strategies. Faults: an option that is ignored, or a wrong one that is taken. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/json.h"
#include "harness/search/strategy.h"
#include "tests/unit/square_space.h"

enum { SIDE = 20, PROPOSALS = 260 };

/* Collects a search's proposals where the time is a bowl with ripples. */
static void search(const char *text, const kf_space *space, uint64_t proposed[PROPOSALS]) {
    kf_strategy *strategy = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_strategy_open(text, space, 3, &strategy, &error) != KF_OK) fail_msg("%s", error.message);
    for (int i = 0; i < PROPOSALS; i++) {
        kf_config config;
        long x = 0, y = 0;
        if (!kf_strategy_next(strategy, &proposed[i])) {
            proposed[i] = UINT64_MAX; /* a share of the space comes to its end */
            continue;
        }
        kf_space_config(space, proposed[i], &config);
        assert_int_equal(kf_config_integer(&config, "x", &x, NULL), KF_OK);
        assert_int_equal(kf_config_integer(&config, "y", &y, NULL), KF_OK);
        kf_strategy_tell(strategy, proposed[i], true,
                         1000.0 + (double)((x - 13) * (x - 13) + (y - 6) * (y - 6)) +
                             20.0 * sin((double)(x * y)));
    }
    kf_strategy_close(strategy);
}

/* For every option of every strategy, the usual value changes nothing, and an end of its range changes
 * something. */
static void options_have_their_usual_values_and_an_effect(void **state) {
    (void)state;
    kf_space *space = square_space(SIDE, -1), *with_preset = square_space(SIDE, SIDE + 3);
    int count = 0;
    for (int s = 0; kf_strategies[s] != NULL; s++)
        for (const kf_strategy_option *o = kf_strategies[s]->options; o != NULL && o->name != NULL; o++) {
            char text[64];
            uint64_t plain[PROPOSALS], usual[PROPOSALS], other[PROPOSALS];
            assert_true(o->least <= o->usual && o->usual <= o->most);
            search(kf_strategies[s]->name, space, plain);
            assert_true(plain[PROPOSALS - 1] < SIDE * SIDE);
            (void)snprintf(text, sizeof text, "%s:%s=%g", kf_strategies[s]->name, o->name, o->usual);
            search(text, space, usual);
            assert_memory_equal(plain, usual, sizeof plain);
            bool changes = false;
            for (int way = 0; way < 4; way++) {
                const kf_space *one = way < 2 ? space : with_preset;
                search(kf_strategies[s]->name, one, plain);
                (void)snprintf(text, sizeof text, "%s:%s=%g", kf_strategies[s]->name, o->name,
                               way % 2 == 0 ? o->least : o->most);
                search(text, one, other);
                changes = changes || memcmp(plain, other, sizeof plain) != 0;
            }
            if (!changes) fail_msg("%s:%s changes nothing", kf_strategies[s]->name, o->name);
            count++;
        }
    assert_true(count >= 9);
    kf_space_free(space);
    kf_space_free(with_preset);
}

static void several_options_go_together(void **state) {
    (void)state;
    kf_space *space = square_space(SIDE, -1);
    uint64_t one[PROPOSALS], both[PROPOSALS], turned[PROPOSALS];
    search("model:design=20", space, one);
    search("model:design=20:explore=1", space, both);
    search("model:explore=1:design=20", space, turned);
    assert_memory_equal(both, turned, sizeof both);
    assert_memory_equal(one, both, 20 * sizeof *one); /* the design is the same, what follows is not */
    assert_memory_not_equal(one, both, sizeof one);
    kf_space_free(space);
}

static void mistakes_are_named(void **state) {
    (void)state;
    static const char *const mistakes[][2] = {
        {"modle:points=50", "unknown strategy 'modle'; did you mean 'model'?"},
        {"model:pionts=50", "strategy model has no option 'pionts'; did you mean 'points'?"},
        {"model:zzzzzz=50", "there are: design, sweep, points, explore, caution"},
        {"random:points=50", "strategy random has no options"},
        {"model:points", "write model:NAME=VALUE"},
        {"model:", "write model:NAME=VALUE"},
        {"model:points=50:", "write model:NAME=VALUE"},
        {"model:points=", "must be a whole number from 20"},
        {"model:points=50x", "must be a whole number from 20"},
        {"model:points=50.5", "must be a whole number from 20"},
        {"model:points=19", "must be a whole number from 20"},
        {"model:points=1e9", "must be a whole number from 20"},
        {"annealing:hot=nan", "must be a number from 0.0001 to 10"},
        {"model:points=50:steps=2:points=60", "points is given twice"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        kf_error error = {KF_OK, ""};
        assert_int_equal(kf_strategy_check(mistakes[i][0], &error), KF_BAD_INPUT);
        if (strstr(error.message, mistakes[i][1]) == NULL) fail_msg("%s: %s", mistakes[i][0], error.message);
    }
    assert_int_equal(kf_strategy_check("model:points=300", NULL), KF_OK);
}

/* All options of a strategy at once are not too long a text, but endless digits are. */
static void every_option_can_be_given(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    for (int s = 0; kf_strategies[s] != NULL; s++) {
        kf_text text = {0};
        kf_text_append(&text, "%s", kf_strategies[s]->name);
        for (const kf_strategy_option *o = kf_strategies[s]->options; o != NULL && o->name != NULL; o++)
            kf_text_append(&text, ":%s=%.6g", o->name, o->most);
        if (kf_strategy_check(text.text, &error) != KF_OK) fail_msg("%s: %s", text.text, error.message);
        kf_text_free(&text);
    }
    char digits[KF_STRATEGY_TEXT + 1] = "model:points=";
    memset(digits + strlen(digits), '0', sizeof digits - 1 - strlen(digits));
    digits[sizeof digits - 1] = '\0';
    assert_int_equal(kf_strategy_check(digits, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "longer than 199 characters"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_have_their_usual_values_and_an_effect),
        cmocka_unit_test(several_options_go_together),
        cmocka_unit_test(every_option_can_be_given),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
