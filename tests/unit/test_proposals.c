/* Tests what strategies propose, by the properties that their description promises. Faults: a share, order
 * or distance of configs that differs from it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/space/space_parts.h"
#include "base/util/random.h"
#include "harness/search/strategy.h"
#include "harness/search/trend.h"

enum { SIDE = 12, SIZE = SIDE * SIDE * SIDE };

/* Makes a space of x, y and z, each from 0 to 11. */
static kf_space *make_space(void) {
    static kf_config configs[SIZE];
    kf_space *space = NULL;
    kf_error error = {KF_OK, ""};
    for (int i = 0; i < SIZE; i++) {
        configs[i] = (kf_config){.system = "test"};
        kf_config_set_integer(&configs[i], "x", i % SIDE);
        kf_config_set_integer(&configs[i], "y", i / SIDE % SIDE);
        kf_config_set_integer(&configs[i], "z", i / SIDE / SIDE);
    }
    if (kf_space_from_configs("test", configs, SIZE, &space, &error) != KF_OK) fail_msg("%s", error.message);
    return space;
}

static void place_of(const kf_space *space, uint64_t index, long at[3]) {
    static const char *const names[] = {"x", "y", "z"};
    kf_config config;
    kf_space_config(space, index, &config);
    for (int i = 0; i < 3; i++)
        assert_int_equal(kf_config_integer(&config, names[i], &at[i], NULL), KF_OK);
}

static int changes_between(const kf_space *space, uint64_t a, uint64_t b) {
    long p[3], q[3];
    place_of(space, a, p);
    place_of(space, b, q);
    return (p[0] != q[0]) + (p[1] != q[1]) + (p[2] != q[2]);
}

static kf_strategy *opened(const char *text, const kf_space *space, uint64_t seed) {
    kf_strategy *strategy = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_strategy_open(text, space, seed, &strategy, &error) != KF_OK) fail_msg("%s", error.message);
    return strategy;
}

/* Times form a bowl around (8, 3, 5). */
static double bowl(const kf_space *space, uint64_t index) {
    long p[3];
    place_of(space, index, p);
    return exp(0.02 * (double)((p[0] - 8) * (p[0] - 8) + (p[1] - 3) * (p[1] - 3) + (p[2] - 5) * (p[2] - 5)));
}

static void tell_bowl(kf_strategy *strategy, const kf_space *space, uint64_t index, uint64_t *best,
                      double *least) {
    const double time = bowl(space, index);
    kf_strategy_tell(strategy, index, true, time);
    if (time >= *least) return;
    *least = time;
    *best = index;
}

static uint64_t propose(kf_strategy *strategy) {
    uint64_t proposal;
    assert_true(kf_strategy_next(strategy, &proposal));
    return proposal;
}

/* --- Shares --------------------------------------------------------------------------------------------- */

/* Shards of 100 configs have none twice and their exact share. The union is the same whatever their
 * number. */
static void shards_share_a_sample(void **state) {
    (void)state;
    kf_space *space = make_space();
    static int seen[2][SIZE];
    for (int way = 0; way < 2; way++) {
        const int shards = way == 0 ? 3 : 7;
        for (int i = 0; i < shards; i++) {
            char text[64];
            uint64_t proposal;
            int count = 0;
            (void)snprintf(text, sizeof text, "shard:i=%d:n=%d:configs=100", i, shards);
            kf_strategy *strategy = opened(text, space, 11);
            while (kf_strategy_next(strategy, &proposal)) {
                assert_true(proposal < SIZE);
                assert_int_equal(seen[way][proposal]++, 0);
                count++;
            }
            assert_int_equal(count, 100 / shards + (i < 100 % shards));
            kf_strategy_close(strategy);
        }
    }
    int all = 0;
    for (int i = 0; i < SIZE; i++) {
        assert_int_equal(seen[0][i], seen[1][i]);
        all += seen[0][i];
    }
    assert_int_equal(all, 100);
    /* A shard alone has the whole space. */
    kf_strategy *strategy = opened("shard", space, 11);
    for (int i = 0; i < SIZE; i++)
        (void)propose(strategy);
    uint64_t proposal;
    assert_false(kf_strategy_next(strategy, &proposal));
    kf_strategy_close(strategy);
    kf_space_free(space);
}

/* Every other config is what random would have proposed. The others approach the best. */
static void surveys_take_turns(void **state) {
    (void)state;
    enum { TURNS = 40 };
    kf_space *space = make_space();
    kf_strategy *survey = opened("survey", space, 5), *random = opened("random", space, 5),
                *model = opened("model", space, 5);
    int randoms = 0;
    double best = INFINITY;
    for (int i = 0; i < TURNS; i++) {
        const uint64_t index = propose(survey), wanted = propose(i % 2 == 0 ? random : model);
        randoms += i % 2 == 0 && index == wanted;
        assert_int_equal(index, wanted); /* told the same, each proposes what it would alone */
        best = fmin(best, bowl(space, index));
        kf_strategy_tell(survey, index, true, bowl(space, index));
        kf_strategy_tell(model, index, true, bowl(space, index));
        if (i % 2 == 1) kf_strategy_tell(random, index, true, bowl(space, index));
    }
    assert_int_equal(randoms, TURNS / 2);
    assert_true(best < exp(0.02 * 6));
    kf_strategy_close(survey);
    kf_strategy_close(random);
    kf_strategy_close(model);
    kf_space_free(space);
}

/* --- The model without a prior -------------------------------------------------------------------------- */

/* With a preset that was measured, until four configs are known (or as many as the option says), two kinds
 * of proposals alternate. One changes two parameters of the best, of which one may keep its value; the
 * other is far from all. */
static void a_sweep_takes_turns(void **state) {
    (void)state;
    kf_space *space = make_space();
    kf_config preset;
    int of_two = 0;
    kf_space_config(space, 500, &preset);
    assert_int_equal(kf_space_add_preset(space, "default", &preset, NULL), KF_OK);
    for (int sweep = 8; sweep >= 4; sweep -= 4) {
        kf_strategy *strategy = opened(sweep == 4 ? "model" : "model:sweep=8", space, 2);
        uint64_t best = 500;
        double least = bowl(space, best);
        kf_strategy_tell(strategy, best, true, least);
        for (int known = 1; known < sweep; known++) {
            const uint64_t index = propose(strategy);
            const int changes = changes_between(space, best, index);
            if (known % 2 == 1)
                assert_in_range(changes, 1, 2);
            else
                assert_in_range(changes, 2, 3);
            of_two += known % 2 == 1 && changes == 2;
            tell_bowl(strategy, space, index, &best, &least);
        }
        kf_strategy_close(strategy);
    }
    assert_true(of_two > 0);
    kf_space_free(space);
}

/* Without presets, each proposal is the farthest of twenty from all earlier ones. The first twelve are
 * then farther apart than random ones. */
static void a_design_lies_apart(void **state) {
    (void)state;
    enum { DESIGN = 12, SEEDS = 20 };
    kf_space *space = make_space();
    double apart[2] = {0, 0};
    for (int seed = 0; seed < SEEDS; seed++)
        for (int way = 0; way < 2; way++) {
            kf_strategy *strategy = opened(way == 0 ? "model:design=12" : "random", space, (uint64_t)seed);
            long at[DESIGN][3];
            for (int i = 0; i < DESIGN; i++) {
                const uint64_t index = propose(strategy);
                place_of(space, index, at[i]);
                kf_strategy_tell(strategy, index, true, bowl(space, index));
                long nearest = 3 * SIDE;
                for (int k = 0; k < i; k++) {
                    const long distance =
                        labs(at[i][0] - at[k][0]) + labs(at[i][1] - at[k][1]) + labs(at[i][2] - at[k][2]);
                    nearest = distance < nearest ? distance : nearest;
                }
                if (i > 0) apart[way] += (double)nearest / SEEDS / (DESIGN - 1);
            }
            kf_strategy_close(strategy);
        }
    print_message("a design's configs lie %.2f apart, random ones %.2f\n", apart[0], apart[1]);
    assert_true(apart[0] > 1.12 * apart[1]);
    kf_space_free(space);
}

static long steps_between(const kf_space *space, uint64_t a, uint64_t b) {
    long p[3], q[3];
    place_of(space, a, p);
    place_of(space, b, q);
    return labs(p[0] - q[0]) + labs(p[1] - q[1]) + labs(p[2] - q[2]);
}

/* With a preset, until 20 configs are known, every third proposal is a single step from the best, unless
 * steps=0. */
static void early_steps_are_single(void **state) {
    (void)state;
    int single[2] = {0, 0};
    kf_space *space = make_space();
    kf_config preset;
    kf_space_config(space, 500, &preset);
    assert_int_equal(kf_space_add_preset(space, "default", &preset, NULL), KF_OK);
    for (int way = 0; way < 2; way++) {
        kf_strategy *strategy = opened(way == 0 ? "model" : "model:steps=0", space, 4);
        uint64_t best = 500;
        double least = bowl(space, best);
        kf_strategy_tell(strategy, best, true, least);
        for (int i = 1; i < 20; i++) {
            const uint64_t index = propose(strategy);
            single[way] += i >= 4 && i % 3 == 0 && steps_between(space, best, index) == 1;
            tell_bowl(strategy, space, index, &best, &least);
        }
        kf_strategy_close(strategy);
    }
    assert_int_equal(single[0], 5);
    assert_true(single[1] < 5);
    kf_space_free(space);
}

/* Where all neighbours of the best are known, every ninth proposal is a neighbour of the next best, and
 * the others are the model's. */
static void the_next_best_comes_next(void **state) {
    (void)state;
    kf_space *space = make_space();
    kf_strategy *strategy = opened("model", space, 4);
    uint64_t index, best = 0, second = 0;
    int known = 0;
    while (bowl(space, best) > 1.0)
        best++;
    for (index = 0; index < SIZE; index++)
        if (steps_between(space, best, index) == 1) second = index;
    for (index = 0; index < SIZE; index++)
        if (changes_between(space, best, index) <= 1) {
            kf_strategy_tell(strategy, index, true, index == second ? 1.001 : bowl(space, index));
            known++;
        }
    int beside = 0, others = 0;
    for (; known < 100; known++) {
        index = propose(strategy);
        if (known % 9 == 0) assert_int_equal(changes_between(space, second, index), 1);
        if (known % 9 == 3) beside += changes_between(space, second, index) == 1, others++;
        kf_strategy_tell(strategy, index, true, 2.0);
    }
    print_message("%d of %d others are beside the next best\n", beside, others);
    assert_true(beside < others / 2);
    kf_strategy_close(strategy);
    kf_space_free(space);
}

/* From 20 configs on every third proposal is a neighbour of the best, however many are known. In a bowl
 * this leads to the minimum. */
static void every_third_looks_around_the_best(void **state) {
    (void)state;
    enum { PROPOSALS = 45, FROM = 20 };
    kf_space *space = make_space();
    kf_strategy *strategy = opened("model", space, 9);
    uint64_t best = 0;
    double least = INFINITY;
    for (int i = 0; i < PROPOSALS; i++) {
        const uint64_t index = propose(strategy);
        if (i >= FROM && i % 3 == 0) assert_int_equal(changes_between(space, best, index), 1);
        const double time = bowl(space, index);
        kf_strategy_tell(strategy, index, true, time);
        if (time < least) {
            least = time;
            best = index;
        }
    }
    print_message("the best is %.3f times as slow as the fastest of all\n", least);
    assert_true(least < 1.07); /* three changes by one */
    kf_strategy_close(strategy);
    kf_space_free(space);
}

/* --- A prior -------------------------------------------------------------------------------------------- */

/* These times are not smooth in the parameters, but a prior predicts them up to a power. */
static double rough(uint64_t index) {
    return exp(2.0 * (double)(kf_random_mix(index) % 100000) / 100000.0);
}
typedef struct guess {
    double power;
} guess;
static double guess_of(void *context, uint64_t index) {
    return 3.0 * pow(rough(index), ((const guess *)context)->power);
}

static int rank_of(uint64_t index) {
    int faster = 0;
    for (uint64_t i = 0; i < SIZE; i++)
        faster += rough(i) < rough(index);
    return faster;
}

/* A prior that is right ranks first what is worth measuring, also after the first few. One that is
 * reversed loses its influence. */
static void a_prior_leads_as_far_as_it_is_right(void **state) {
    (void)state;
    enum { PROPOSALS = 30 };
    kf_space *space = make_space();
    static const double powers[] = {1, 0.5, -1};
    for (int p = 0; p < 3; p++) {
        guess context = {powers[p]};
        kf_strategy *strategy = opened("model", space, 4);
        kf_strategy_set_prior(strategy, &(kf_prior){guess_of, &context});
        int among_first = 0, among_last = 0;
        for (int i = 0; i < PROPOSALS; i++) {
            const uint64_t index = propose(strategy);
            const int rank = rank_of(index);
            if (i < 2) assert_int_equal(rank, powers[p] > 0 ? i : SIZE - 1 - i);
            if (i >= 10 && i % 3 != 0) {
                among_first += rank < 60;
                among_last += rank >= SIZE - 60;
            }
            kf_strategy_tell(strategy, index, true, rough(index));
        }
        print_message("power %g: %d of 14 among the best 60, %d among the worst\n", powers[p], among_first,
                      among_last);
        if (powers[p] > 0) assert_true(among_first >= 8);
        if (powers[p] < 0) assert_true(among_last <= 6);
        kf_strategy_close(strategy);
    }
    kf_space_free(space);
}

/* Walks begin at the four configs that a prior ranks first, in its order. */
static void walks_begin_where_a_prior_says(void **state) {
    (void)state;
    static const char *const names[] = {"annealing", "local"};
    kf_space *space = make_space();
    for (int n = 0; n < 2; n++) {
        guess context = {1};
        kf_strategy *strategy = opened(names[n], space, 4);
        kf_strategy_set_prior(strategy, &(kf_prior){guess_of, &context});
        for (int i = 0; i < 4; i++) {
            const uint64_t index = propose(strategy);
            assert_int_equal(rank_of(index), i);
            kf_strategy_tell(strategy, index, true, rough(index));
        }
        kf_strategy_close(strategy);
    }
    kf_space_free(space);
}

/* By hand: least squares with a belief in a slope of 1 that counts as two measurements. */
static void trends_by_hand(void **state) {
    (void)state;
    static const double prior[] = {0, 1, 2, 3}, steep[] = {1, 3, 5, 7}, falling[] = {3, 2, 1, 0},
                        alike[] = {2, 2, 2, 2};
    kf_trend t = kf_trend_fit(prior, steep, 4);
    const double belief = 2 * (1.25 + 0.01), slope = (4 * 2.5 + belief) / (4 * 1.25 + belief);
    assert_true(fabs(t.slope - slope) < 1e-12 && fabs(t.offset - (4 - slope * 1.5)) < 1e-12);
    t = kf_trend_fit(prior, falling, 4); /* a slope of -1 leaves nothing of it */
    assert_true(t.slope == 0 && fabs(t.offset - 1.5) < 1e-12);
    t = kf_trend_fit(alike, steep, 4); /* a prior that is the same for all: its slope is believed */
    assert_true(fabs(t.slope - 1) < 1e-12 && fabs(t.offset - 2) < 1e-12);
    t = kf_trend_fit(prior, steep, 0);
    assert_true(t.slope == 0 && t.offset == 0);
    t = kf_trend_fit(prior, steep, 1);
    assert_true(fabs(t.slope - 1) < 1e-12 && fabs(t.offset - 1) < 1e-12);
}

/* --- Annealing ------------------------------------------------------------------------------------------ */

/* A walk at a config of time 1 is told of one that is slower by its first temperature. It moves there once
 * in e times. The next proposal shows where it is, as it changes one parameter. */
static void annealing_accepts_once_in_e(void **state) {
    (void)state;
    enum { WALKS = 3000 };
    kf_space *space = make_space();
    int accepted = 0, refused_failure = 0;
    for (int seed = 0; seed < WALKS; seed++) {
        kf_strategy *strategy = opened("annealing:first=1:hot=0.05:cooling=1e6", space, (uint64_t)seed);
        kf_strategy_tell(strategy, 0, true, 1.0);
        kf_strategy_tell(strategy, SIZE - 1, true, exp(0.05)); /* the opposite corner */
        const uint64_t index = propose(strategy);
        const int from_first = changes_between(space, 0, index),
                  from_second = changes_between(space, SIZE - 1, index);
        assert_true(from_first == 1 || from_second == 1);
        accepted += from_second == 1;
        kf_strategy_close(strategy);
    }
    for (int seed = 0; seed < 20; seed++) {
        kf_strategy *strategy = opened("annealing:first=1:hot=10", space, (uint64_t)seed);
        kf_strategy_tell(strategy, 0, true, 1.0);
        kf_strategy_tell(strategy, SIZE - 1, false, 1.0);
        refused_failure += changes_between(space, 0, propose(strategy)) == 1;
        kf_strategy_close(strategy);
    }
    const double share = (double)accepted / WALKS;
    print_message("accepted %.3f, one in e is %.3f\n", share, exp(-1));
    assert_true(fabs(share - exp(-1)) < 0.035); /* four deviations */
    assert_int_equal(refused_failure, 20);
    kf_space_free(space);
}

/* After `cooling` configs the temperature is halved, so that a loss of the first temperature is accepted
 * once in e^2 times. After `patience` configs without a step the walk is back at its best. */
static void annealing_cools_and_returns(void **state) {
    (void)state;
    enum { WALKS = 2000, COOLING = 30 };
    kf_space *space = make_space();
    int accepted = 0, returned = 0;
    for (int seed = 0; seed < WALKS; seed++) {
        kf_strategy *strategy = opened("annealing:first=1:cooling=30:patience=1000", space, (uint64_t)seed);
        kf_strategy_tell(strategy, 0, true, 1.0);
        for (int i = 1; i < COOLING; i++)
            kf_strategy_tell(strategy, (uint64_t)i, false, 0);
        kf_strategy_tell(strategy, SIZE - 1, true, exp(0.05));
        accepted += changes_between(space, SIZE - 1, propose(strategy)) == 1;
        kf_strategy_close(strategy);
    }
    print_message("accepted %.3f, one in e^2 is %.3f\n", (double)accepted / WALKS, exp(-2));
    assert_true(fabs((double)accepted / WALKS - exp(-2)) < 0.03);
    for (int seed = 0; seed < 20; seed++) {
        kf_strategy *strategy =
            opened("annealing:first=1:hot=10:cooling=1e6:patience=3", space, (uint64_t)seed);
        kf_strategy_tell(strategy, 0, true, 1.0);
        kf_strategy_tell(strategy, SIZE - 1, true, 1.0 + 1e-9); /* accepted: hardly a loss */
        kf_strategy_tell(strategy, 1, false, 0);
        kf_strategy_tell(strategy, 2, false, 0);
        const bool there = changes_between(space, SIZE - 1, propose(strategy)) == 1;
        kf_strategy_tell(strategy, 3, false, 0);
        returned += there && changes_between(space, 0, propose(strategy)) == 1;
        kf_strategy_close(strategy);
    }
    assert_int_equal(returned, 20);
    kf_space_free(space);
}

/* Tells the walk of failed configs, which are no steps. */
static void fails(kf_strategy *strategy, int first, int count) {
    for (int i = first; i < first + count; i++)
        kf_strategy_tell(strategy, (uint64_t)i, false, 0);
}

/* After `patience` configs without a step the walk is as hot as at first, so that a loss of its
 * temperature is again accepted once in e times. */
static void annealing_is_heated_again(void **state) {
    (void)state;
    enum { WALKS = 2000 };
    kf_space *space = make_space();
    int accepted = 0;
    for (int seed = 0; seed < WALKS; seed++) {
        kf_strategy *strategy = opened("annealing:first=1:cooling=5:patience=20", space, (uint64_t)seed);
        kf_strategy_tell(strategy, 0, true, 1.0);
        fails(strategy, 1, 20);
        kf_strategy_tell(strategy, SIZE - 1, true, exp(0.05));
        accepted += changes_between(space, SIZE - 1, propose(strategy)) == 1;
        kf_strategy_close(strategy);
    }
    print_message("accepted %.3f, one in e is %.3f\n", (double)accepted / WALKS, exp(-1));
    assert_true(fabs((double)accepted / WALKS - exp(-1)) < 0.043); /* four deviations */
    kf_space_free(space);
}

/* Every second time the walk restarts from a random config, however slow, from the moment of its proposal.
 * Results of earlier proposals do not call it back, and a random config that fails is followed by another. */
static void annealing_begins_anew(void **state) {
    (void)state;
    kf_space *space = make_space();
    int far = 0;
    for (int seed = 0; seed < 20; seed++) {
        kf_strategy *strategy = opened("annealing:first=1:patience=3:random=2", space, (uint64_t)seed);
        kf_strategy_tell(strategy, 0, true, 1.0);
        fails(strategy, 1, 3);
        assert_int_equal(changes_between(space, 0, propose(strategy)), 1);
        fails(strategy, 4, 3);
        kf_strategy_tell(strategy, 7, true, 2.0);
        const uint64_t failing = propose(strategy);
        far += changes_between(space, 0, failing) > 1;
        assert_int_equal(changes_between(space, failing, propose(strategy)), 1);
        kf_strategy_tell(strategy, 8, true, 2.0);
        assert_int_equal(changes_between(space, failing, propose(strategy)), 1);
        kf_strategy_tell(strategy, failing, false, 0);
        const uint64_t start = propose(strategy);
        kf_strategy_tell(strategy, start, true, 5.0);
        assert_int_equal(changes_between(space, start, propose(strategy)), 1);
        fails(strategy, 9, 3); /* the third time it returns to the best */
        assert_int_equal(changes_between(space, 0, propose(strategy)), 1);
        kf_strategy_close(strategy);
    }
    print_message("%d of 20 begin farther off than a step\n", far);
    assert_true(far >= 15);
    kf_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shards_share_a_sample),
        cmocka_unit_test(surveys_take_turns),
        cmocka_unit_test(a_sweep_takes_turns),
        cmocka_unit_test(a_design_lies_apart),
        cmocka_unit_test(early_steps_are_single),
        cmocka_unit_test(the_next_best_comes_next),
        cmocka_unit_test(every_third_looks_around_the_best),
        cmocka_unit_test(a_prior_leads_as_far_as_it_is_right),
        cmocka_unit_test(walks_begin_where_a_prior_says),
        cmocka_unit_test(trends_by_hand),
        cmocka_unit_test(annealing_accepts_once_in_e),
        cmocka_unit_test(annealing_cools_and_returns),
        cmocka_unit_test(annealing_is_heated_again),
        cmocka_unit_test(annealing_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
