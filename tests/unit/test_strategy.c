/* Tests strategies. Faults: a config that is proposed twice or never, a biased draw, another sequence for
 * the same seed, a strategy no better than chance. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/random.h"
#include "harness/search/model_parts.h"
#include "harness/search/ranking.h"
#include "harness/search/strategy.h"
#include "tests/unit/square_space.h"

static kf_space *kinetic(double shortest_edge, const char *const *fixed, int fixed_count) {
    kf_variables variables = {.count = 3,
                              .values = {{"node_count", 4096}, {"shortest_edge", shortest_edge}, {"gpu", 1}}};
    cJSON *json = NULL;
    kf_space *space = NULL;
    kf_error error;
    if (kf_json_read_file("tests/data/kinetic.space.json", &json, &error) != KF_OK ||
        kf_space_build("kinetic.json", json, "kinetic", &variables, fixed, fixed_count, &space, &error) !=
            KF_OK)
        fail_msg("%s", error.message);
    cJSON_Delete(json);
    return space;
}

static kf_strategy *opened(const char *name, const kf_space *space, uint64_t seed) {
    kf_strategy *strategy = NULL;
    kf_error error;
    if (kf_strategy_open(name, space, seed, &strategy, &error) != KF_OK) fail_msg("%s", error.message);
    return strategy;
}

/* The parameters interact, and positions far from a hidden best cost time. Some configs fail. */
static double landscape(const kf_space *space, uint64_t index, bool *ok) {
    static const int best[] = {2, 2, 6, 3, 1, 0, 2, 1, 0};
    static const double weights[] = {9, 4, 1.5, 0.6, 2, 1, 2.5, 1.7, 5};
    int positions[KF_CONFIG_VALUES];
    kf_space_positions(space, index, positions);
    double time = 100;
    for (int p = 0; p < 9; p++)
        time += weights[p] * fabs((double)(positions[p] - best[p]));
    time += 0.8 * fabs((double)(positions[6] * positions[7] - 2)) +
            0.3 * (double)((positions[2] * positions[3]) % 3);
    *ok = (positions[2] * 7 + positions[3] * 3 + positions[6]) % 11 != 5;
    return time;
}

static void tell(kf_strategy *strategy, const kf_space *space, uint64_t index) {
    bool ok;
    double time = landscape(space, index, &ok);
    kf_strategy_tell(strategy, index, ok, ok ? time : NAN);
}

/* There are a few more configs than the model has candidates. */
static void test_every_config_once(void **state) {
    (void)state;
    kf_space *space = kinetic(2, NULL, 0);
    const uint64_t size = kf_space_size(space);
    for (int s = 0; kf_strategies[s] != NULL; s++) {
        kf_strategy *strategy = opened(kf_strategies[s]->name, space, 7);
        bool *seen = kf_allocate_zeroed((size_t)size, sizeof *seen);
        uint64_t count = 0, index;
        for (; kf_strategy_next(strategy, &index); count++) {
            assert_true(index < size && !seen[index]);
            seen[index] = true;
            tell(strategy, space, index);
        }
        assert_true(count == size);
        assert_false(kf_strategy_next(strategy, &index));
        kf_strategy_close(strategy);
        free(seen);
    }
    kf_space_free(space);
}

/* A config that was told without being proposed is not proposed. Results may come late and out of order. */
static void test_told_configs_and_open_proposals(void **state) {
    (void)state;
    enum { AHEAD = 5 };
    static const char *const fixed[] = {"layout=soa"};
    kf_space *space = kinetic(3, fixed, 1);
    uint64_t size = kf_space_size(space);
    uint64_t open[AHEAD];
    for (int s = 0; kf_strategies[s] != NULL; s++) {
        kf_strategy *strategy = opened(kf_strategies[s]->name, space, 3);
        uint8_t *seen = kf_allocate_zeroed((size_t)size, 1);
        uint64_t count = 0;
        for (uint64_t i = 0; i < size; i += 3, count++) {
            seen[i] = 1;
            tell(strategy, space, i);
        }
        for (int got = AHEAD; got == AHEAD;) {
            for (got = 0; got < AHEAD && kf_strategy_next(strategy, &open[got]); got++) {
                assert_int_equal(seen[open[got]]++, 0);
                count++;
            }
            for (int i = got - 1; i >= 0; i--)
                tell(strategy, space, open[i]);
        }
        assert_true(count == size);
        kf_strategy_tell(strategy, size + 5, true, 1); /* not of this space: ignored */
        kf_strategy_close(strategy);
        free(seen);
    }
    kf_space_free(space);
}

static void run(const char *name, const kf_space *space, uint64_t seed, int evaluations, uint64_t *proposals,
                double *best) {
    kf_strategy *strategy = opened(name, space, seed);
    *best = INFINITY;
    for (int i = 0; i < evaluations; i++) {
        bool ok;
        assert_true(kf_strategy_next(strategy, &proposals[i]));
        double time = landscape(space, proposals[i], &ok);
        if (ok && time < *best) *best = time;
        tell(strategy, space, proposals[i]);
    }
    kf_strategy_close(strategy);
}

static void test_a_seed_repeats_a_search(void **state) {
    (void)state;
    enum { EVALUATIONS = 200 };
    kf_space *space = kinetic(40, NULL, 0);
    uint64_t first[EVALUATIONS], again[EVALUATIONS], other[EVALUATIONS];
    double best;
    for (int s = 0; kf_strategies[s] != NULL; s++) {
        run(kf_strategies[s]->name, space, 42, EVALUATIONS, first, &best);
        run(kf_strategies[s]->name, space, 42, EVALUATIONS, again, &best);
        run(kf_strategies[s]->name, space, 43, EVALUATIONS, other, &best);
        assert_memory_equal(first, again, sizeof first);
        bool same = memcmp(first, other, sizeof first) == 0;
        assert_int_equal(same, strcmp(kf_strategies[s]->name, "enumerate") == 0);
    }
    kf_space_free(space);
}

/* Each of 10 places of the order should have each of 10 numbers equally often. Chi-squared with 9 degrees
 * of freedom is above 33.7 once in 10000 times. */
static void test_random_order_is_uniform(void **state) {
    (void)state;
    enum { SIZE = 10, SEEDS = 20000 };
    int counts[SIZE][SIZE] = {{0}};
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (uint64_t place = 0; place < SIZE; place++)
            counts[place][kf_shuffled(SIZE, seed, place)]++;
    for (int place = 0; place < SIZE; place++) {
        double chi = 0, expected = (double)SEEDS / SIZE;
        for (int i = 0; i < SIZE; i++)
            chi += (counts[place][i] - expected) * (counts[place][i] - expected) / expected;
        assert_true(chi < 33.7);
    }
}

static void test_random_order_is_a_permutation(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 63, 64, 65, 1000, 5000};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint8_t *seen = kf_allocate_zeroed((size_t)sizes[s], 1);
        for (uint64_t place = 0; place < sizes[s]; place++) {
            uint64_t index = kf_shuffled(sizes[s], 5, place);
            assert_true(index < sizes[s] && !seen[index]);
            seen[index] = 1;
        }
        free(seen);
    }
    /* Halves of random order are spread over both halves of the range. */
    uint64_t largest = (uint64_t)1 << 63;
    int upper = 0;
    for (uint64_t place = 0; place < 1000; place++)
        upper += kf_shuffled(largest, 5, place) >= largest / 2;
    assert_in_range(upper, 420, 580);
}

static void test_local_search_beats_random(void **state) {
    (void)state;
    enum { EVALUATIONS = 60, SEEDS = 40 };
    kf_space *space = kinetic(40, NULL, 0);
    uint64_t proposals[EVALUATIONS];
    double sums[2] = {0, 0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double best;
        run("random", space, seed, EVALUATIONS, proposals, &best);
        sums[0] += best / SEEDS;
        run("local", space, seed, EVALUATIONS, proposals, &best);
        sums[1] += best / SEEDS;
    }
    print_message("mean best of %d evaluations in %.0f configs: random %.2f us, local %.2f us\n", EVALUATIONS,
                  (double)kf_space_size(space), sums[0], sums[1]);
    assert_true(sums[1] < sums[0]);
    kf_space_free(space);
}

static void test_local_search_begins_at_the_presets(void **state) {
    (void)state;
    kf_space *space = kinetic(40, NULL, 0);
    kf_strategy *strategy = opened("local", space, 1);
    for (int i = 0; i < kf_space_preset_count(space); i++) {
        kf_config config;
        uint64_t expected;
        uint64_t proposal;
        assert_int_equal(kf_space_preset(space, kf_space_preset_name(space, i), &config, NULL), KF_OK);
        assert_true(kf_space_index(space, &config, &expected, NULL, 0));
        assert_true(kf_strategy_next(strategy, &proposal) && proposal == expected);
    }
    kf_strategy_close(strategy);
    kf_space_free(space);
}

/* Where nothing is faster than the preset, all configs that differ from it in one parameter come before
 * any restart. */
static void test_local_search_tries_every_neighbour(void **state) {
    (void)state;
    enum { SIDE = 6, NEIGHBOURS = 2 * (SIDE - 1) };
    kf_space *space = square_space(SIDE, -1);
    for (uint64_t seed = 1; seed <= 5; seed++) {
        kf_strategy *strategy = opened("local:first=0", space, seed);
        uint64_t proposal;
        assert_true(kf_strategy_next(strategy, &proposal));
        const uint64_t first = proposal;
        kf_strategy_tell(strategy, first, true, 1.0);
        for (int i = 0; i < NEIGHBOURS; i++) {
            int here[KF_CONFIG_VALUES], there[KF_CONFIG_VALUES];
            assert_true(kf_strategy_next(strategy, &proposal));
            kf_space_positions(space, first, here);
            kf_space_positions(space, proposal, there);
            assert_int_equal((here[0] != there[0]) + (here[1] != there[1]), 1);
            kf_strategy_tell(strategy, proposal, true, 2.0);
        }
        kf_strategy_close(strategy);
    }
    kf_space_free(space);
}

static double higher_is_slower(void *context, uint64_t index) {
    const uint64_t *best = context;
    return index >= *best ? 1.0 + (double)(index - *best) : NAN; /* nothing is known of those before it */
}

/* Of a third of the configs nothing is known, in each form that a prior may return. The others are slower
 * the smaller their index is. */
static double lower_is_slower(void *context, uint64_t index) {
    const double size = *(const double *)context;
    static const double unknown[] = {NAN, -1.0, 0.0, INFINITY};
    return index % 3 == 1 ? unknown[index / 3 % 4] : size - (double)index;
}

/* A ranking has only the known configs, the fastest first. Of a space that is too large to be ranked
 * whole, it has a sample over the whole space. */
static void test_rankings_have_the_known_configs(void **state) {
    (void)state;
    enum { SMALL = 20, ASKED = 20000 };
    kf_space *spaces[] = {square_space(SMALL, -1), kinetic(32, NULL, 0)};
    for (int s = 0; s < 2; s++) {
        const uint64_t space_size = kf_space_size(spaces[s]);
        double size = (double)space_size;
        if ((space_size > 3 * ASKED) != (s == 1)) fail_msg("%d", (int)space_size);
        kf_ranking *ranking = kf_ranking_open(spaces[s], &(kf_prior){lower_is_slower, &size}, 3);
        const int count = kf_ranking_count(ranking);
        assert_int_equal(count, s == 0 ? SMALL * SMALL - SMALL * SMALL / 3 : 512);
        for (int i = 0; i < count; i++) {
            const uint64_t index = kf_ranking_first(ranking, i);
            assert_true(index % 3 != 1 && isfinite(kf_ranking_logarithm(ranking, index)));
            if (i > 0) assert_true(index < kf_ranking_first(ranking, i - 1));
        }
        /* Of this many at random, the fastest is this close to the end. */
        const double share = 1.0 - (double)kf_ranking_first(ranking, 0) / size;
        assert_true(s == 0 ? kf_ranking_first(ranking, 0) == space_size - 1 : share < 0.01);
        uint64_t random = 5, least = space_size, most = 0;
        for (int i = 0; i < 1000; i++) {
            const uint64_t drawn = kf_ranking_draw(ranking, &random);
            least = drawn < least ? drawn : least;
            most = drawn > most ? drawn : most;
        }
        assert_true(least < space_size / 50 && most > space_size - space_size / 50);
        kf_ranking_close(ranking);
        kf_space_free(spaces[s]);
    }
}

/* The configs that the prior ranks first are proposed first, in its order, unless they were told before. */
static void test_a_prior_is_followed_first(void **state) {
    (void)state;
    static const char *const names[] = {"model", "local", "annealing"};
    static const char *const fixed[] = {"layout=csoa", "plan=fused", "storage=f32"};
    kf_space *space = kinetic(8, fixed, 3);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        kf_strategy *strategy = opened(names[n], space, 1);
        uint64_t proposal;
        uint64_t best = 7;
        kf_strategy_tell(strategy, best, true, 5.0);
        kf_strategy_set_prior(strategy, &(kf_prior){higher_is_slower, &best});
        if (kf_space_size(space) > 20000) fail_msg("a prior is not asked for all of a space so large");
        assert_true(kf_strategy_next(strategy, &proposal));
        assert_int_equal(proposal, best + 1);
        kf_strategy_close(strategy);
    }
    kf_space_free(space);
}

/* The time deviates from the prior by a part that only measurements show. */
static double bumpy(uint64_t index) {
    return 1.0 + (double)(index % 97) / 97.0 + 0.3 * (double)(kf_random_mix(index) % 1000) / 1000.0;
}
static double scaled_guess(void *context, uint64_t index) {
    return *(const double *)context * (1.0 + (double)(index % 97) / 97.0);
}

enum { UNIT_COUNT = 60 };

/* Collects the model's proposals with times in one unit and a prior in another (0: without prior). */
static void propose_in_units(const kf_space *space, double unit, double prior_unit, uint64_t *proposals) {
    kf_strategy *strategy = opened("model", space, 1);
    if (prior_unit > 0) kf_strategy_set_prior(strategy, &(kf_prior){scaled_guess, &prior_unit});
    for (int i = 0; i < UNIT_COUNT; i++) {
        uint64_t proposal;
        assert_true(kf_strategy_next(strategy, &proposal));
        kf_strategy_tell(strategy, proposal, true, unit * bumpy(proposal));
        proposals[i] = proposal;
    }
    kf_strategy_close(strategy);
}

static int count_same(const uint64_t *left, const uint64_t *right) {
    int same = 0;
    for (int i = 0; i < UNIT_COUNT; i++)
        for (int k = 0; k < UNIT_COUNT; k++)
            same += left[i] == right[k];
    print_message("%d of %d proposals are the same\n", same, UNIT_COUNT);
    return same;
}

/* Ratios count, not units: the model proposes the same for a prior, and for times, a thousand times as
 * large. */
static void test_units_of_time_do_not_matter(void **state) {
    (void)state;
    static const char *const fixed[] = {"layout=csoa", "plan=fused", "storage=f32"};
    kf_space *space = kinetic(8, fixed, 3);
    uint64_t plain[UNIT_COUNT], large[UNIT_COUNT];
    propose_in_units(space, 1, 1, plain);
    propose_in_units(space, 1, 1024, large);
    assert_true(count_same(plain, large) >= UNIT_COUNT - 6);
    propose_in_units(space, 1, 0, plain);
    propose_in_units(space, 1024, 0, large);
    assert_true(count_same(plain, large) >= UNIT_COUNT - 6);
    kf_space_free(space);
}

/* When every config fails, local search continues, and never calls a failure its best. */
static void test_all_configs_fail(void **state) {
    (void)state;
    kf_space *space = kinetic(3, NULL, 0);
    for (int s = 0; kf_strategies[s] != NULL; s++) {
        kf_strategy *strategy = opened(kf_strategies[s]->name, space, 9);
        uint64_t count = 0;
        uint64_t proposal;
        for (; kf_strategy_next(strategy, &proposal); count++)
            kf_strategy_tell(strategy, proposal, count % 2 == 0, NAN); /* ok without a time is no better */
        assert_true(count == kf_space_size(space));
        kf_strategy_close(strategy);
    }
    kf_space_free(space);
}

/* The surrogate is rebuilt when lengths are fitted and when it is full, not at every proposal, whether or
 * not configs fail. Of many results it keeps some, and leaves the others out until then. */
static void test_model_is_built_again_now_and_then(void **state) {
    (void)state;
    enum { RESULTS = 400, MOST_FITS = 60 };
    kf_space *space = kinetic(100, NULL, 0);
    for (int fails = 0; fails < 2; fails++) {
        kf_strategy *knowing = opened("model:points=20", space, 1);
        kf_model *model = kf_strategy_model.open(knowing, space, 1);
        uint64_t index = 0;
        for (int i = 0; i < RESULTS; i++) {
            assert_true(kf_strategy_model.next(model, &index));
            const bool ok = fails == 0 || i % 7 != 3;
            const double time = 100 + (double)(kf_random_mix(index) % 1000);
            kf_strategy_tell(knowing, index, ok, time);
            kf_strategy_model.tell(model, index, ok, time);
        }
        if (model->fits > MOST_FITS) fail_msg("%d times for %d results", model->fits, RESULTS);
        assert_true(model->fits >= 10);
        kf_strategy_model.close(model);
        kf_strategy_close(knowing);
    }
    kf_space_free(space);
}

static void test_unknown_strategy(void **state) {
    (void)state;
    kf_space *space = kinetic(3, NULL, 0);
    kf_strategy *strategy;
    kf_error error;
    assert_int_equal(kf_strategy_open("randon", space, 1, &strategy, &error), KF_BAD_INPUT);
    assert_string_equal(error.message, "unknown strategy 'randon'; did you mean 'random'?");
    assert_null(strategy);
    assert_int_equal(kf_strategy_open("hopscotch", space, 1, &strategy, &error), KF_BAD_INPUT);
    assert_string_equal(error.message, "unknown strategy 'hopscotch'; there are: model, local, annealing, "
                                       "survey, random, enumerate, shard");
    kf_strategy_close(NULL);
    kf_space_free(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_config_once),
        cmocka_unit_test(test_told_configs_and_open_proposals),
        cmocka_unit_test(test_a_seed_repeats_a_search),
        cmocka_unit_test(test_random_order_is_uniform),
        cmocka_unit_test(test_random_order_is_a_permutation),
        cmocka_unit_test(test_local_search_beats_random),
        cmocka_unit_test(test_local_search_begins_at_the_presets),
        cmocka_unit_test(test_local_search_tries_every_neighbour),
        cmocka_unit_test(test_rankings_have_the_known_configs),
        cmocka_unit_test(test_a_prior_is_followed_first),
        cmocka_unit_test(test_units_of_time_do_not_matter),
        cmocka_unit_test(test_all_configs_fail),
        cmocka_unit_test(test_model_is_built_again_now_and_then),
        cmocka_unit_test(test_unknown_strategy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
