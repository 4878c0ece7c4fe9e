/* What is most worth measuring next, by a model: a Gaussian process fitted on what was measured so far
 * corrects the prior (a cost model), and the candidate with the largest expected improvement is proposed,
 * times the chance that it works. Candidates are drawn at random, from what the prior ranks first and around
 * the best configs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/statistics.h"
#include "base/util/memory.h"
#include "base/util/random.h"
#include "harness/search/moves.h"
#include "harness/search/ranking.h"
#include "harness/search/strategies.h"
#include "harness/search/surrogate.h"
#include "harness/search/trend.h"

enum {
    BASE_CANDIDATES = 2048, /* drawn anew whenever the lengths are fitted; the rest is for neighbours */
    SLOTS = 4 * KF_SURROGATE_CANDIDATES,
    PRIOR_DESIGN = 2, /* configs that a prior ranks first, measured whatever is known already */
    SPREAD_TRIES = 20,
    MOST_SPREAD = 64, /* configs spread like this while hardly any works */
    FIT_POINTS = 80,  /* lengths are fitted on so many: half the best, half at random */
    NEW_POINTS = 96,  /* that join those kept before the surrogate is built again */
    FIRST_STEPS = 30,
    NEXT_STEPS = 8,
    CENTRES = 3, /* best configs whose neighbours are candidates */
    MOST_NEIGHBOURS = 1024,
    MUTATIONS = 48,    /* of each, in one to three parameters, beside all changes of one */
    EXPLORE_FROM = 20, /* configs: before, the least known neighbours of the best are not worth their time */
};

enum { DESIGN, SWEEP, POINTS, EXPLORE, CAUTION, SETTLED, OPTIMISM, NEAR, STEPS };
static const kf_strategy_option options[] = {
    [DESIGN] = {"design", "configs spread over the space before the model decides, without a prior", 2, 64, 4,
                true},
    [SWEEP] =
        {"sweep",
         "in their place, where there are presets: changes of one parameter of the best and others in turns",
         0, 64, 4, true},
    [POINTS] = {"points", "measured configs that the surrogate keeps when it is built again", 20,
                KF_SURROGATE_POINTS - NEW_POINTS, 160, true},
    [EXPLORE] =
        {"explore",
         "from 20 configs on, every so many proposals the neighbour of the best of which least is known", 1,
         1000, 3, true},
    [CAUTION] = {"caution", "what deviations count while fewer than 25 configs are known; 1: as later", 0.01,
                 1, 0.4, false},
    [SETTLED] = {"settled",
                 "configs from which on differences near the best count more than those far above it", 0, 1e9,
                 30, true},
    [OPTIMISM] = {"optimism",
                  "deviations below the mean that is expected where nothing is known, until then; no prior",
                  0, 1000, 15, false},
    [NEAR] = {"near",
              "ratio to the best, less 1, up to which times then count as they are, beyond by its logarithm",
              1e-3, 1e6, 0.1, false},
    [STEPS] =
        {"steps",
         "with presets, below 20 configs: every so many the best one's neighbour by a single step; 0: none",
         0, 1000, 4, true},
    {.name = NULL},
};

/* Times beyond the median by more than this share of its distance to the best say no more than "slow". */
static const double SLOW = 1.0, SLOW_SLOPE = 0.1;
/* Share of the optimism where presets are a beginning. */
static const double BESIDE_PRESETS = 0.4;
static const float EXPLORING = 30.0F; /* boldness, against 1 */

typedef enum kf_fate { PENDING, WORKS, FAILS } kf_fate;

typedef struct kf_observation {
    uint64_t index;
    kf_fate fate;
    double logarithm; /* of the time */
    float prior;      /* logarithm of the prior's time */
    int point;        /* in the surrogate, or -1 */
    bool has_target, voted;
    bool spent; /* all its neighbours are known */
    float features[KF_FEATURES];
} kf_observation;

typedef struct kf_model {
    const kf_strategy *strategy;
    const kf_space *space;
    kf_ranking *ranking;                            /* what the prior says; NULL without one */
    int design, sweep, kept_points, explore, steps; /* its options */
    int settled_from;
    double optimism, near;
    float caution;
    uint64_t random, order_seed, order_place;
    kf_features *features;
    int feature_count;
    kf_surrogate *surrogate;
    kf_lengths lengths;

    kf_observation *observations;
    int count, capacity, works, fails, best; /* best: number of an observation, or -1 */
    int next_fit;                            /* when count reaches it */
    int fits, centre;                        /* centre: the best whose neighbours are candidates already */

    int led; /* of what the prior ranks first, proposed for that alone */

    uint64_t candidates[KF_SURROGATE_CANDIDATES];
    float offsets[KF_SURROGATE_CANDIDATES]; /* what the prior says, as targets are */
    bool skip[KF_SURROGATE_CANDIDATES];
    uint64_t *slots;                 /* hash table of candidates: index + 1, 0 is empty */
    int *numbers;                    /* [slot] of the candidate */
    bool adjacent[MOST_NEIGHBOURS];  /* of neighbours: by one step */
    int neighbours[MOST_NEIGHBOURS]; /* numbers of the candidates one change away from the best */
    int neighbour_count;

    /* Targets are (squashed logarithm - squashed trend) / scale; the trend is what the prior says, and centre
     * where it says nothing. */
    double median, knee, low, scale, centre_target;
    bool settled;
    kf_trend trend;
} kf_model;

static void *open_model(const kf_strategy *strategy, const kf_space *space, uint64_t seed) {
    const bool presets = kf_space_preset_count(space) > 0;
    kf_model *model = kf_allocate_zeroed(1, sizeof *model);
    model->strategy = strategy;
    model->space = space;
    model->design = (int)kf_strategy_setting(strategy, DESIGN);
    model->kept_points = (int)kf_strategy_setting(strategy, POINTS);
    model->explore = (int)kf_strategy_setting(strategy, EXPLORE);
    model->steps = presets ? (int)kf_strategy_setting(strategy, STEPS) : 0;
    model->settled_from = (int)kf_strategy_setting(strategy, SETTLED);
    model->optimism = kf_strategy_setting(strategy, OPTIMISM) * (presets ? BESIDE_PRESETS : 1);
    model->near = kf_strategy_setting(strategy, NEAR);
    model->caution = (float)kf_strategy_setting(strategy, CAUTION);
    model->sweep = presets ? (int)kf_strategy_setting(strategy, SWEEP) : 0;
    model->random = seed;
    model->order_seed = kf_random_next(&model->random);
    model->features = kf_features_open(space);
    model->feature_count = kf_features_count(model->features);
    model->surrogate = kf_surrogate_open(model->feature_count);
    model->lengths.noise = 1e-3;
    model->best = model->centre = -1;
    model->slots = kf_allocate_zeroed(SLOTS, sizeof *model->slots);
    model->numbers = kf_allocate_zeroed(SLOTS, sizeof *model->numbers);
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

/* --- observations --------------------------------------------------------------------------------------- */

static void features_of(const kf_model *model, uint64_t index, float *features) {
    int positions[KF_CONFIG_VALUES];
    kf_space_positions(model->space, index, positions);
    kf_features_of(model->features, positions, features);
}

static kf_observation *observe(kf_model *model, uint64_t index) {
    if (model->count == model->capacity) {
        model->capacity = model->capacity == 0 ? 64 : 2 * model->capacity;
        model->observations =
            kf_reallocate(model->observations, (size_t)model->capacity * sizeof *model->observations);
    }
    kf_observation *observation = &model->observations[model->count++];
    *observation = (kf_observation){.index = index, .fate = PENDING, .point = -1};
    observation->prior = kf_ranking_logarithm(model->ranking, index);
    features_of(model, index, observation->features);
    return observation;
}

static kf_observation *find_pending(kf_model *model, uint64_t index) {
    for (int i = model->count - 1; i >= 0; i--) /* what is pending is among the last */
        if (model->observations[i].index == index && model->observations[i].fate == PENDING)
            return &model->observations[i];
    return NULL;
}

static void tell(void *state, uint64_t index, bool ok, double time_us) {
    kf_model *model = state;
    kf_observation *observation = find_pending(model, index);
    if (observation == NULL) observation = observe(model, index);
    observation->fate = ok && time_us > 0 ? WORKS : FAILS;
    if (observation->fate == FAILS) {
        model->fails++;
        return;
    }
    model->works++;
    observation->logarithm = log(time_us);
    if (model->best < 0 || observation->logarithm < model->observations[model->best].logarithm)
        model->best = (int)(observation - model->observations);
}

/* --- targets -------------------------------------------------------------------------------------------- */

static double squash(const kf_model *model, double logarithm) {
    if (logarithm > model->knee) logarithm = model->knee + SLOW_SLOPE * (logarithm - model->knee);
    if (!model->settled) return logarithm;
    const double above = (logarithm - model->low) / model->near;
    return above > 0 ? log1p(above) : above;
}

static double trend(const kf_model *model, float prior) {
    if (model->trend.slope == 0) return model->centre_target;
    if (!isfinite(prior)) return squash(model, model->median);
    return squash(model, model->trend.offset + model->trend.slope * (double)prior);
}

static double target_of(const kf_model *model, const kf_observation *observation) {
    return (squash(model, observation->logarithm) - trend(model, observation->prior)) / model->scale;
}

static void fit_trend(kf_model *model) {
    double *prior = kf_allocate(2 * (size_t)model->count * sizeof *prior), *measured = prior + model->count;
    size_t count = 0;
    for (int i = 0; i < model->count; i++) {
        const kf_observation *o = &model->observations[i];
        if (o->fate != WORKS || !isfinite(o->prior)) continue;
        prior[count] = (double)o->prior;
        measured[count++] = o->logarithm;
    }
    model->trend = kf_trend_fit(prior, measured, count);
    if (count == 0) model->trend.offset = model->median;
    free(prior);
}

static void set_scale(kf_model *model) {
    double *times = kf_allocate((size_t)model->works * sizeof *times);
    int count = 0;
    for (int i = 0; i < model->count; i++)
        if (model->observations[i].fate == WORKS) times[count++] = model->observations[i].logarithm;
    qsort(times, (size_t)count, sizeof *times, kf_ascending);
    model->median = times[count / 2];
    model->knee = model->median + SLOW * (model->median - times[0]) + 1e-9;
    model->low = times[0];
    model->settled = model->count >= model->settled_from;
    free(times);
    fit_trend(model);
    model->scale = 1;
    model->centre_target = 0;
    double sum = 0, squares = 0;
    for (int i = 0; i < model->count; i++) {
        if (model->observations[i].fate != WORKS) continue;
        double target = target_of(model, &model->observations[i]);
        sum += target;
        squares += target * target;
    }
    double mean = sum / count, variance = squares / count - mean * mean;
    model->scale = sqrt(fmax(variance, 1e-8));
    /* Far below the mean, so that few configs do not keep the search from regions that it has not seen. */
    model->centre_target = mean - (model->settled ? 0 : model->optimism) * model->scale;
}

/* --- fitting -------------------------------------------------------------------------------------------- */

static int compare_times(const void *left, const void *right) {
    const kf_observation *const *a = left, *const *b = right;
    if ((*a)->logarithm != (*b)->logarithm) return (*a)->logarithm < (*b)->logarithm ? -1 : 1;
    return (*a)->index < (*b)->index ? -1 : 1;
}

/* Observations that work: the best half, then others at random, at most most. */
static int select_points(kf_model *model, int most, kf_observation **selected) {
    kf_observation **all = kf_allocate(((size_t)model->works + 1) * sizeof *all);
    int count = 0;
    for (int i = 0; i < model->count; i++)
        if (model->observations[i].fate == WORKS) all[count++] = &model->observations[i];
    qsort(all, (size_t)count, sizeof(kf_observation *), compare_times);
    int taken = count < most ? count : most;
    for (int i = taken / 2; i < taken && taken < count; i++) {
        int other = i + (int)kf_random_below(&model->random, (uint64_t)(count - i));
        kf_observation *kept = all[i];
        all[i] = all[other];
        all[other] = kept;
    }
    memcpy(selected, all, (size_t)taken * sizeof(kf_observation *));
    free(all);
    return taken;
}

static void fit_lengths(kf_model *model) {
    kf_observation *selected[FIT_POINTS];
    double targets[FIT_POINTS];
    int count = select_points(model, FIT_POINTS, selected);
    size_t width = (size_t)model->feature_count;
    float *features = kf_allocate(((size_t)count * width + 1) * sizeof *features);
    for (int i = 0; i < count; i++) {
        memcpy(features + (size_t)i * width, selected[i]->features, width * sizeof *features);
        targets[i] = target_of(model, selected[i]);
    }
    kf_lengths_fit(&model->lengths, model->feature_count, count, features, targets,
                   model->fits++ == 0 ? FIRST_STEPS : NEXT_STEPS);
    free(features);
}

/* --- candidates ----------------------------------------------------------------------------------------- */

/* Returns the candidate's number, also of one that is there already; -1 for a config that is known, or when
 * there is no room. */
static int add_candidate(kf_model *model, uint64_t index) {
    uint64_t slot = kf_random_mix(index + 1) % SLOTS;
    while (model->slots[slot] != 0 && model->slots[slot] != index + 1)
        slot = (slot + 1) % SLOTS;
    if (model->slots[slot] != 0) return model->numbers[slot];
    if (kf_surrogate_candidate_count(model->surrogate) == KF_SURROGATE_CANDIDATES ||
        kf_strategy_knows(model->strategy, index))
        return -1;
    float features[KF_FEATURES];
    features_of(model, index, features);
    int number = kf_surrogate_add_candidate(model->surrogate, features);
    model->slots[slot] = index + 1;
    model->numbers[slot] = number;
    model->candidates[number] = index;
    model->offsets[number] =
        (float)(trend(model, kf_ranking_logarithm(model->ranking, index)) / model->scale);
    model->skip[number] = false;
    return number;
}

/* All configs that differ from positions in one parameter, the nearest values first. */
static void add_changes_of_one(kf_model *model, const int *positions, bool of_best) {
    int changed[KF_CONFIG_VALUES];
    uint64_t index;
    memcpy(changed, positions, sizeof changed);
    for (int p = 0; p < kf_space_parameter_count(model->space); p++) {
        const int size = kf_space_domain_size(model->space, p);
        bool beside[2] = {false, false}; /* something is, where values have an order */
        for (int away = 1; away < size; away++)
            for (int side = 0; side < 2; side++) {
                const int i = side == 0 ? positions[p] - away : positions[p] + away;
                changed[p] = i;
                if (i < 0 || i >= size || !kf_space_positions_index(model->space, changed, &index)) continue;
                int number = add_candidate(model, index);
                if (of_best && model->neighbour_count < MOST_NEIGHBOURS && number >= 0) {
                    model->adjacent[model->neighbour_count] = !beside[side];
                    model->neighbours[model->neighbour_count++] = number;
                }
                beside[side] = kf_features_is_size(model->features, p);
            }
        changed[p] = positions[p];
    }
}

static void add_neighbours(kf_model *model, int centre, bool is_centre) {
    int positions[KF_CONFIG_VALUES] = {0}, changed[KF_CONFIG_VALUES];
    uint64_t index, parameters = (uint64_t)kf_space_parameter_count(model->space);
    kf_space_positions(model->space, model->observations[centre].index, positions);
    if (is_centre) {
        model->neighbour_count = 0;
        model->centre = centre;
    }
    add_changes_of_one(model, positions, is_centre);
    /* Values that constraints tie to each other only change together. */
    for (int i = 0; i < MUTATIONS && parameters > 0; i++) {
        memcpy(changed, positions, sizeof changed);
        for (uint64_t left = 2 + kf_random_below(&model->random, 2); left > 0; left--) {
            int p = (int)kf_random_below(&model->random, parameters);
            changed[p] =
                (int)kf_random_below(&model->random, (uint64_t)kf_space_domain_size(model->space, p));
        }
        if (kf_space_positions_index(model->space, changed, &index)) (void)add_candidate(model, index);
    }
}

/* At random: of those that the prior was asked for, because asking takes time. */
static uint64_t any_config(kf_model *model) {
    if (model->ranking == NULL) return kf_random_below(&model->random, kf_space_size(model->space));
    return kf_ranking_draw(model->ranking, &model->random);
}

static void draw_candidates(kf_model *model) {
    uint64_t size = kf_space_size(model->space);
    memset(model->slots, 0, SLOTS * sizeof *model->slots);
    kf_observation *centres[CENTRES * 2];
    int count = select_points(model, CENTRES * 2, centres);
    for (int i = 0; i < count && i < CENTRES; i++)
        add_neighbours(model, (int)(centres[i] - model->observations), false);
    model->centre = -1;
    for (int i = 0; i < kf_ranking_count(model->ranking) && model->trend.slope > 0;
         i++) /* unless it was found to mislead */
        (void)add_candidate(model, kf_ranking_first(model->ranking, i));
    if (size <= BASE_CANDIDATES) {
        for (uint64_t i = 0; i < size; i++)
            (void)add_candidate(model, i);
        return;
    }
    for (int i = 0; i < BASE_CANDIDATES && kf_surrogate_candidate_count(model->surrogate) < BASE_CANDIDATES;
         i++)
        (void)add_candidate(model, any_config(model));
}

/* --- keeping the surrogate up to date ------------------------------------------------------------------- */

static int most_points(const kf_model *model) {
    return model->kept_points + NEW_POINTS;
}

static void add_observation(kf_model *model, kf_observation *o) {
    if (o->fate != FAILS && o->point < 0 && kf_surrogate_point_count(model->surrogate) < most_points(model))
        o->point = kf_surrogate_add_point(model->surrogate, o->features);
    if (o->fate == WORKS && o->point >= 0 && !o->has_target) {
        kf_surrogate_set_target(model->surrogate, o->point, target_of(model, o));
        o->has_target = true;
    }
    /* Where nothing fails there is nothing to learn. */
    if (o->fate != PENDING && !o->voted && model->fails > 0) {
        kf_surrogate_vote(model->surrogate, o->features, o->fate == WORKS);
        o->voted = true;
    }
}

static int fit_interval(int count) {
    return count < 40 ? 5 : count < 80 ? 12 : count < 240 ? 30 : count / 8;
}

static void rebuild(kf_model *model) {
    set_scale(model);
    fit_lengths(model);
    kf_surrogate_reset(model->surrogate, &model->lengths);
    draw_candidates(model);
    for (int i = 0; i < model->count; i++) {
        kf_observation *o = &model->observations[i];
        o->point = -1;
        o->has_target = o->voted = false;
    }
    kf_observation *selected[KF_SURROGATE_POINTS];
    int kept = select_points(model, model->kept_points, selected);
    bool all = kept == model->works;
    for (int i = 0; i < kept && !all; i++)
        add_observation(model, selected[i]);
    for (int i = 0; i < model->count; i++) {
        kf_observation *o = &model->observations[i];
        if (all || o->fate != WORKS)
            add_observation(model, o);
        else if (!o->voted && model->fails > 0)
            kf_surrogate_vote(model->surrogate, o->features, o->voted = true);
    }
    model->next_fit = model->count + fit_interval(model->count);
}

/* The best config that has neighbours which are not known; -1: none. */
static int next_centre(const kf_model *model) {
    int centre = -1;
    for (int i = 0; i < model->count; i++) {
        const kf_observation *o = &model->observations[i];
        if (o->fate == WORKS && !o->spent &&
            (centre < 0 || o->logarithm < model->observations[centre].logarithm))
            centre = i;
    }
    return centre;
}

static void find_centre(kf_model *model) {
    const int centre = next_centre(model);
    if (centre >= 0 && model->centre != centre) add_neighbours(model, centre, true);
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
        kf_observation *o = &model->observations[i];
        bool dropped = o->fate == WORKS && o->point < 0 && o->voted; /* by the last rebuild */
        if (!dropped) add_observation(model, o);
    }
    find_centre(model);
}

/* --- proposals ------------------------------------------------------------------------------------------ */

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

/* Of some configs the one farthest from all that are known. */
static bool spread(kf_model *model, uint64_t *index) {
    float farthest = -1, features[KF_FEATURES];
    for (int i = 0; i < SPREAD_TRIES; i++) {
        uint64_t one = kf_random_below(&model->random, kf_space_size(model->space));
        if (kf_strategy_knows(model->strategy, one)) continue;
        features_of(model, one, features);
        float distance = distance_to_known(model, features);
        if (distance <= farthest) continue;
        farthest = distance;
        *index = one;
    }
    return farthest >= 0 || unknown_at_random(model, index);
}

/* Before the model has anything to go by: what the prior ranks first, then changes of the best preset, which
 * its author chose, or without presets configs far from each other. */
static bool design(kf_model *model, uint64_t *index) {
    while (model->led < PRIOR_DESIGN && model->led < kf_ranking_count(model->ranking)) {
        *index = kf_ranking_first(model->ranking, model->led++);
        if (!kf_strategy_knows(model->strategy, *index)) return true;
    }
    if (kf_ranking_count(model->ranking) == 0 && model->best >= 0 && model->sweep > 0 &&
        model->count % 2 > 0 &&
        kf_move_near(model->strategy, model->space, &model->random, model->observations[model->best].index, 1,
                     index))
        return true;
    return model->count < MOST_SPREAD ? spread(model, index) : unknown_at_random(model, index);
}

/* The neighbour of the best config of which the surrogate knows least, -1 when all are known. */
static int choose_neighbour(kf_model *model, double goal, float boldness, bool adjacent) {
    bool *skip = kf_allocate(KF_SURROGATE_CANDIDATES * sizeof *skip);
    memset(skip, 1, KF_SURROGATE_CANDIDATES * sizeof *skip);
    for (int i = 0; i < model->neighbour_count; i++)
        if (!adjacent || model->adjacent[i]) skip[model->neighbours[i]] = model->skip[model->neighbours[i]];
    int chosen = kf_surrogate_choose(model->surrogate, goal, model->offsets, skip, boldness);
    free(skip);
    return chosen;
}

/* Local search within the model's: first single steps from the best config, because the ends of ranges are
 * what the surrogate knows least; later, so that it is not sure of itself where it is wrong, what it knows
 * least around the best, and around the next best once there all is known. -1: the model is to decide. */
static int from_neighbours(kf_model *model, double goal, float boldness) {
    if (model->count < EXPLORE_FROM)
        return model->ranking == NULL && model->steps > 0 && model->count % model->steps == 0
                   ? choose_neighbour(model, goal, boldness, true)
                   : -1;
    if (model->count % model->explore > 0) return -1;
    for (int round = 0; round < CENTRES && model->centre >= 0; round++) {
        const int chosen = choose_neighbour(model, goal, EXPLORING, false);
        if (chosen >= 0) return chosen;
        model->observations[model->centre].spent = true;
        find_centre(model);
    }
    return -1;
}

static bool propose(kf_model *model, uint64_t *index) {
    enum {
        EARLY = 25
    }; /* few points leave the ends of ranges so uncertain that nothing else would be tried */
    const float boldness = model->count < EARLY ? model->caution : 1.0F;
    double goal = squash(model, model->observations[model->best].logarithm) / model->scale;
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
    .summary = "expected improvement on a Gaussian process over what was measured, led by the cost model",
    .open = open_model,
    .next = next,
    .tell = tell,
    .set_prior = set_prior,
    .close = close_model,
    .options = options,
};
