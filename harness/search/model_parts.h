/* Declares the internal parts of strategy model: its proposals (strategy_model.c), the surrogate's targets
 * (model_targets.c) and its candidates (model_candidates.c). */
#ifndef KF_HARNESS_SEARCH_MODEL_PARTS_H
#define KF_HARNESS_SEARCH_MODEL_PARTS_H

#include "harness/search/ranking.h"
#include "harness/search/strategies.h"
#include "harness/search/surrogate.h"
#include "harness/search/trend.h"

enum {
    KF_MODEL_SLOTS = 4 * KF_SURROGATE_CANDIDATES,
    KF_MODEL_NEIGHBOURS = 1024,
    KF_MODEL_CENTRES = 3, /* number of best configs whose neighbours are candidates */
};

typedef enum kf_model_fate { KF_MODEL_PENDING, KF_MODEL_WORKS, KF_MODEL_FAILS } kf_model_fate;

typedef struct kf_model_observation {
    uint64_t index;
    kf_model_fate fate;
    double logarithm; /* logarithm of the time */
    float prior;      /* logarithm of the prior's time */
    int point;        /* its point in the surrogate; -1: none */
    bool has_target, voted;
    bool left_out; /* it is no point until the surrogate is rebuilt */
    bool spent;    /* all its neighbours are known */
    float features[KF_FEATURES];
} kf_model_observation;

typedef struct kf_model {
    const kf_strategy *strategy;
    const kf_space *space;
    kf_ranking *ranking;                            /* the prior's ranking; NULL: there is no prior */
    int design, sweep, kept_points, explore, steps; /* its options */
    int settled_from, fine_from;
    double optimism, trust; /* trust: the share of the optimism that is used */
    float caution;
    uint64_t random, order_seed, order_place;
    kf_features *features;
    int feature_count; /* number of used features */
    kf_surrogate *surrogate;
    kf_lengths lengths;

    kf_model_observation *observations;
    int count, capacity, works, fails, best; /* best: number of an observation; -1: none */
    int next_fit;                            /* the lengths are fitted again when count reaches it */
    int fits, centre; /* centre: the best config, whose neighbours are already candidates */

    int led; /* number of configs that were proposed only because the prior ranks them first */

    uint64_t candidates[KF_SURROGATE_CANDIDATES];
    float offsets[KF_SURROGATE_CANDIDATES]; /* the prior's predictions, scaled like targets */
    bool skip[KF_SURROGATE_CANDIDATES];
    uint64_t *slots;                     /* hash table of candidates: index + 1; 0: empty */
    int *numbers;                        /* [slot] number of the candidate */
    bool adjacent[KF_MODEL_NEIGHBOURS];  /* of neighbours: they differ by one step */
    int neighbours[KF_MODEL_NEIGHBOURS]; /* numbers of the candidates that differ from the best in one
                                            parameter */
    int neighbour_count;

    /* Targets are (squashed logarithm - squashed trend) / scale. The trend is the prior's prediction, or
     * centre where there is none. */
    double median, knee, scale, centre_target;
    kf_trend trend;
} kf_model;

/* These convert logarithms of times and of the prior (infinity: no prediction) to targets before scaling, and
 * return the target of an observation that works (model_targets.c). */
double kf_model_squash(const kf_model *model, double logarithm);
double kf_model_trend(const kf_model *model, float prior);
double kf_model_target(const kf_model *model, const kf_model_observation *observation);
/* Sets the scale of the targets from all observations. At least one of them must work. */
void kf_model_set_scale(kf_model *model);

/* These choose candidates (model_candidates.c). */
void kf_model_features(const kf_model *model, uint64_t index, float *features);
/* Selects at most `most` observations that work: the better half, then others at random. Returns their
 * number. */
int kf_model_select(kf_model *model, int most, kf_model_observation **selected);
/* Makes candidates of the configs around an observation. is_centre: those that differ in one parameter become
 * the model's neighbours. */
void kf_model_add_neighbours(kf_model *model, int centre, bool is_centre);
/* Draws candidates near the best, among those that the prior ranks first, and at random. The surrogate must
 * have none. */
void kf_model_draw_candidates(kf_model *model);

#endif
