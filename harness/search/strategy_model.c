/* Chooses the next config by a model. A Gaussian process, fitted to the measurements so far, corrects the
 * prior (a cost model). The proposal is the candidate with the largest product of expected improvement and
 * probability to work. Candidates are random configs, those that the prior ranks first, and neighbours of the
 * best. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/random.h"
#include "harness/search/model_parts.h"
#include "harness/search/moves.h"

enum {
    PRIOR_DESIGN = 2, /* configs that the prior ranks first; they are measured in any case */
    SPREAD_TRIES = 20,
    MOST_SPREAD = 64, /* configs that are spread like this while hardly any works */
    NEW_POINTS = 96,  /* observations that are added to the kept ones before the surrogate is rebuilt */
    FIRST_STEPS = 30,
    NEXT_STEPS = 8,
    EXPLORE_FROM = 20, /* number of configs before which the least known neighbours of the best are not worth
                          their time */
    SWEEP_CHANGES = 2, /* number of parameters in which a config of the sweep differs from the best */
    ONWARD = 3,        /* every so many turns of the local search may go to the next best config */
};

enum { DESIGN, SWEEP, POINTS, EXPLORE, CAUTION, SETTLED, OPTIMISM, STEPS, FINE };
static const kf_strategy_option options[] = {
    [DESIGN] = {"design",
                "initial configs, far from each other, where there is neither a cost model nor a preset", 2,
                64, 4, true},
    [SWEEP] = {"sweep", "initial configs with presets: variations of the best and distant configs in turns",
               0, 64, 4, true},
    [POINTS] = {"points", "measurements that the Gaussian process keeps", 20,
                KF_SURROGATE_POINTS - NEW_POINTS, 160, true},
    [EXPLORE] = {"explore",
                 "from 20 configs on, every n-th proposal is the least known neighbour of the best config", 1,
                 1000, 3, true},
    [CAUTION] = {"caution", "factor on predicted deviations while fewer than 25 configs are known", 0.01, 1,
                 0.6, false},
    [SETTLED] = {"settled", "number of configs from which on the mean is assumed for unexplored regions", 0,
                 1e9, 29, true},
    [OPTIMISM] = {"optimism", "initial assumption for unexplored regions, in deviations below the mean", 0,
                  1000, 15, false},
    [STEPS] = {"steps",
               "with presets, up to 20 configs: every n-th proposal is one step away from the best; 0: none",
               0, 1000, 3, true},
    [FINE] = {"fine",
              "number of configs from which on ratios of numbers and values of codes are features too", 0,
              1e9, 20, true},
    {.name = NULL},
};

/* With presets these are the factors of the optimism before it falls, and of the number of configs until it
 * falls. The last is the least share of the optimism, used if the surrogate cannot order the known configs.
 */
static const double BESIDE_PRESETS = 0.8, SETTLED_SOONER = 2.0 / 3, LEAST_TRUST = 0.2;
static const float EXPLORING = 30.0F; /* boldness, whose usual value is 1 */

/* Opens the model with its options. A space without presets belongs to a user's kernel. There the optimism
 * falls later and the search looks farther. */
static void *open_model(const kf_strategy *strategy, const kf_space *space, uint64_t seed) {
    const bool presets = kf_space_preset_count(space) > 0;
    kf_model *model = kf_allocate_zeroed(1, sizeof *model);
    model->strategy = strategy;
    model->space = space;
    model->design = (int)kf_strategy_setting(strategy, DESIGN);
    model->kept_points = (int)kf_strategy_setting(strategy, POINTS);
    model->explore = (int)kf_strategy_setting(strategy, EXPLORE);
    model->fine_from = (int)kf_strategy_setting(strategy, FINE);
    model->steps = presets ? (int)kf_strategy_setting(strategy, STEPS) : 0;
    model->settled_from = (int)(kf_strategy_setting(strategy, SETTLED) * (presets ? SETTLED_SOONER : 1));
    model->optimism = kf_strategy_setting(strategy, OPTIMISM) * (presets ? BESIDE_PRESETS : 1);
    model->caution = (float)kf_strategy_setting(strategy, CAUTION);
    model->sweep = presets ? (int)kf_strategy_setting(strategy, SWEEP) : 0;
    model->random = seed;
    model->order_seed = kf_random_next(&model->random);
    model->features = kf_features_open(space);
    model->feature_count = kf_features_coarse_count(model->features);
    model->surrogate = kf_surrogate_open();
    model->lengths.noise = 1e-3;
    model->best = model->centre = -1;
    model->slots = kf_allocate_zeroed(KF_MODEL_SLOTS, sizeof *model->slots);
    model->numbers = kf_allocate_zeroed(KF_MODEL_SLOTS, sizeof *model->numbers);
    return model;
}

static void close_model(void *state) {
    kf_model *model = state;
    kf_features_close(model->features);
    kf_surrogate_close(model->surrogate);
    kf_ranking_close(model->ranking);
    free(model->observations);
    free(model->slots);
    free(model->numbers);
    free(model);
}

static void set_prior(void *state, const kf_prior *prior) {
    kf_model *model = state;
    kf_ranking_close(model->ranking);
    model->ranking = kf_ranking_open(model->space, prior, model->order_seed ^ 1);
}

/* --- Observations --------------------------------------------------------------------------------------- */

static kf_model_observation *observe(kf_model *model, uint64_t index) {
    if (model->count == model->capacity) {
        model->capacity = model->capacity == 0 ? 64 : 2 * model->capacity;
        model->observations =
            kf_reallocate(model->observations, (size_t)model->capacity * sizeof *model->observations);
    }
    kf_model_observation *observation = &model->observations[model->count++];
    *observation = (kf_model_observation){.index = index, .fate = KF_MODEL_PENDING, .point = -1};
    observation->prior = kf_ranking_logarithm(model->ranking, index);
    kf_model_features(model, index, observation->features);
    return observation;
}

static kf_model_observation *find_pending(kf_model *model, uint64_t index) {
    for (int i = model->count - 1; i >= 0; i--) /* pending observations are among the last */
        if (model->observations[i].index == index && model->observations[i].fate == KF_MODEL_PENDING)
            return &model->observations[i];
    return NULL;
}

static void tell(void *state, uint64_t index, bool ok, double time_us) {
    kf_model *model = state;
    kf_model_observation *observation = find_pending(model, index);
    if (observation == NULL) observation = observe(model, index);
    observation->fate = ok && time_us > 0 ? KF_MODEL_WORKS : KF_MODEL_FAILS;
    if (observation->fate == KF_MODEL_FAILS) {
        model->fails++;
        return;
    }
    model->works++;
    observation->logarithm = log(time_us);
    if (model->best < 0 || observation->logarithm < model->observations[model->best].logarithm)
        model->best = (int)(observation - model->observations);
}

/* --- Fitting -------------------------------------------------------------------------------------------- */

/* Fits the lengths to the better half of the observations and as many random others. */
static void fit_lengths(kf_model *model) {
    kf_model_observation *selected[KF_FIT_POINTS];
    double targets[KF_FIT_POINTS];
    int count = kf_model_select(model, KF_FIT_POINTS, selected);
    size_t width = (size_t)model->feature_count;
    float *features = kf_allocate(((size_t)count * width + 1) * sizeof *features);
    for (int i = 0; i < count; i++) {
        memcpy(features + (size_t)i * width, selected[i]->features, width * sizeof *features);
        targets[i] = kf_model_target(model, selected[i]);
    }
    kf_lengths_fit(&model->lengths, model->feature_count, count, features, targets,
                   model->fits++ == 0 ? FIRST_STEPS : NEXT_STEPS);
    free(features);
}

/* --- Keeping the surrogate up to date ------------------------------------------------------------------- */

static int most_points(const kf_model *model) {
    return model->kept_points + NEW_POINTS;
}

/* Adds an observation's vote on whether configs work. If none failed, votes have no meaning. */
static void vote_for(kf_model *model, kf_model_observation *o) {
    if (o->fate == KF_MODEL_PENDING || o->voted || model->fails == 0) return;
    kf_surrogate_vote(model->surrogate, o->features, o->fate == KF_MODEL_WORKS);
    o->voted = true;
}

static void add_observation(kf_model *model, kf_model_observation *o) {
    if (o->fate != KF_MODEL_FAILS && o->point < 0 &&
        kf_surrogate_point_count(model->surrogate) < most_points(model))
        o->point = kf_surrogate_add_point(model->surrogate, o->features);
    if (o->fate == KF_MODEL_WORKS && o->point >= 0 && !o->has_target) {
        kf_surrogate_set_target(model->surrogate, o->point, kf_model_target(model, o));
        o->has_target = true;
    }
    vote_for(model, o);
}

static int fit_interval(int count) {
    return count < 40 ? 5 : count < 80 ? 12 : count < 240 ? 30 : count / 8;
}

/* Returns the trust in predictions far from all known configs. It is high while little is known, and if the
 * surrogate orders the known configs well. Otherwise the search stays near good configs. Without presets the
 * trust is always full. */
static double trust(const kf_model *model) {
    if (kf_space_preset_count(model->space) == 0 || model->count >= model->settled_from) return 1;
    const double left = 1 - model->count / (double)model->settled_from;
    const double agreement = model->fits == 0 ? NAN : kf_surrogate_agreement(model->surrogate);
    return left * (isfinite(agreement) ? fmax(agreement, LEAST_TRUST) : 1);
}

/* Rebuilds the surrogate with a new scale, new lengths, new candidates and the kept observations. All failed
 * observations are kept, because they show where configs do not work. */
static void rebuild(kf_model *model) {
    model->trust = trust(model);
    if (model->count >= model->fine_from) model->feature_count = kf_features_count(model->features);
    kf_model_set_scale(model);
    fit_lengths(model);
    kf_surrogate_reset(model->surrogate, model->feature_count, &model->lengths);
    kf_model_draw_candidates(model);
    for (int i = 0; i < model->count; i++) {
        kf_model_observation *o = &model->observations[i];
        o->point = -1;
        o->has_target = o->voted = o->left_out = false;
    }
    kf_model_observation *selected[KF_SURROGATE_POINTS];
    int kept = kf_model_select(model, model->kept_points, selected);
    bool all = kept == model->works;
    for (int i = 0; i < kept && !all; i++)
        add_observation(model, selected[i]);
    for (int i = 0; i < model->count; i++) {
        kf_model_observation *o = &model->observations[i];
        o->left_out = !all && o->fate == KF_MODEL_WORKS && o->point < 0;
        if (all || o->fate != KF_MODEL_WORKS)
            add_observation(model, o);
        else
            vote_for(model, o);
    }
    model->next_fit = model->count + fit_interval(model->count);
}

/* Finds the best config with unknown neighbours; -1: none. */
static int next_centre(const kf_model *model) {
    int centre = -1;
    for (int i = 0; i < model->count; i++) {
        const kf_model_observation *o = &model->observations[i];
        if (o->fate == KF_MODEL_WORKS && !o->spent &&
            (centre < 0 || o->logarithm < model->observations[centre].logarithm))
            centre = i;
    }
    return centre;
}

static void find_centre(kf_model *model) {
    const int centre = next_centre(model);
    if (centre >= 0 && model->centre != centre) kf_model_add_neighbours(model, centre, true);
}

static void update(kf_model *model) {
    bool full = kf_surrogate_point_count(model->surrogate) == most_points(model);
    if (model->count >= model->next_fit || full || model->fits == 0) {
        rebuild(model);
        find_centre(model);
        return;
    }
    int first = model->count - 2 * most_points(model);
    for (int i = first > 0 ? first : 0; i < model->count; i++) {
        kf_model_observation *o = &model->observations[i];
        (o->left_out ? vote_for : add_observation)(model, o);
    }
    find_centre(model);
}

/* --- Proposals ------------------------------------------------------------------------------------------ */

static bool unknown_at_random(kf_model *model, uint64_t *index) {
    uint64_t size = kf_space_size(model->space);
    while (model->order_place < size) {
        *index = kf_shuffled(size, model->order_seed, model->order_place++);
        if (!kf_strategy_knows(model->strategy, *index)) return true;
    }
    return false;
}

static float distance_to_known(const kf_model *model, const float *features) {
    float least = INFINITY;
    for (int i = 0; i < model->count; i++) {
        float sum = 0;
        for (int f = 0; f < model->feature_count; f++)
            sum += fabsf(features[f] - model->observations[i].features[f]);
        least = fminf(least, sum);
    }
    return least;
}

/* Chooses the one of some random configs that is farthest from all known ones. */
static bool spread(kf_model *model, uint64_t *index) {
    float farthest = -1, features[KF_FEATURES];
    for (int i = 0; i < SPREAD_TRIES; i++) {
        uint64_t one = kf_random_below(&model->random, kf_space_size(model->space));
        if (kf_strategy_knows(model->strategy, one)) continue;
        kf_model_features(model, one, features);
        float distance = distance_to_known(model, features);
        if (distance <= farthest) continue;
        farthest = distance;
        *index = one;
    }
    return farthest >= 0 || unknown_at_random(model, index);
}

/* Proposes configs before the model can: those that the prior ranks first, then changes of the best preset,
 * or without presets configs far from each other. */
static bool design(kf_model *model, uint64_t *index) {
    while (model->led < PRIOR_DESIGN && model->led < kf_ranking_count(model->ranking)) {
        *index = kf_ranking_first(model->ranking, model->led++);
        if (!kf_strategy_knows(model->strategy, *index)) return true;
    }
    if (kf_ranking_count(model->ranking) == 0 && model->best >= 0 && model->sweep > 0 &&
        model->count % 2 > 0 &&
        kf_move_near(model->strategy, model->space, &model->random, model->observations[model->best].index,
                     SWEEP_CHANGES, index))
        return true;
    return model->count < MOST_SPREAD ? spread(model, index) : unknown_at_random(model, index);
}

/* Chooses the neighbour of the best config of which the surrogate knows least; -1: all are known. */
static int choose_neighbour(kf_model *model, double goal, float boldness, bool adjacent) {
    bool *skip = kf_allocate(KF_SURROGATE_CANDIDATES * sizeof *skip);
    memset(skip, 1, KF_SURROGATE_CANDIDATES * sizeof *skip);
    for (int i = 0; i < model->neighbour_count; i++)
        if (!adjacent || model->adjacent[i]) skip[model->neighbours[i]] = model->skip[model->neighbours[i]];
    int chosen = kf_surrogate_choose(model->surrogate, goal, model->offsets, skip, boldness);
    free(skip);
    return chosen;
}

/* Searches near the best config; -1: the model shall decide. Single steps from the best come first, because
 * the surrogate is least certain at the ends of ranges. Later it takes the neighbours that are least known,
 * because the surrogate may be certain but wrong. When all are known, it sometimes turns to the next best
 * config. It does so seldom, because on landscapes with many optima most of these turns are wasted. */
static int from_neighbours(kf_model *model, double goal, float boldness) {
    if (model->count < EXPLORE_FROM)
        return model->ranking == NULL && model->steps > 0 && model->count % model->steps == 0
                   ? choose_neighbour(model, goal, boldness, true)
                   : -1;
    if (model->count % model->explore > 0) return -1;
    const bool onward = model->count % (model->explore * ONWARD) == 0;
    for (int round = 0; round < KF_MODEL_CENTRES && model->centre >= 0; round++) {
        if (model->centre != model->best && !onward) return -1;
        const int chosen = choose_neighbour(model, goal, EXPLORING, false);
        if (chosen >= 0) return chosen;
        model->observations[model->centre].spent = true;
        find_centre(model);
    }
    return -1;
}

/* Proposes the candidate with the largest expected improvement, first among the best config's neighbours. If
 * there is none left, it proposes a random unknown config. */
static bool propose(kf_model *model, uint64_t *index) {
    enum {
        EARLY = 25
    }; /* With few points the ends of ranges are so uncertain that nothing else would be tried. */
    const float boldness = model->count < EARLY ? model->caution : 1.0F;
    double goal = kf_model_squash(model, model->observations[model->best].logarithm) / model->scale;
    for (;;) {
        int chosen = from_neighbours(model, goal, boldness);
        if (chosen < 0)
            chosen = kf_surrogate_choose(model->surrogate, goal, model->offsets, model->skip, boldness);
        if (chosen < 0) return unknown_at_random(model, index);
        model->skip[chosen] = true;
        *index = model->candidates[chosen];
        if (!kf_strategy_knows(model->strategy, *index)) return true;
    }
}

static bool next(void *state, uint64_t *index) {
    kf_model *model = state;
    const bool led = kf_ranking_count(model->ranking) == 0
                         ? model->count >= (model->sweep > 0 ? model->sweep : model->design)
                         : model->led >= PRIOR_DESIGN || model->led == kf_ranking_count(model->ranking);
    bool found;
    if (model->works < 2 || !led) {
        found = design(model, index);
    } else {
        update(model);
        found = propose(model, index);
    }
    if (found) (void)observe(model, *index);
    return found;
}

const kf_strategy_methods kf_strategy_model = {
    .name = "model",
    .summary = "Bayesian optimisation: expected improvement on a Gaussian process, led by the cost model",
    .open = open_model,
    .next = next,
    .tell = tell,
    .set_prior = set_prior,
    .close = close_model,
    .options = options,
};
