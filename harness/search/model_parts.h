/* Declares the inside of the strategy model, shared by what it proposes (strategy_model.c), by what times are
 * to the surrogate (model_targets.c) and by what it chooses from (model_candidates.c). */
#ifndef KF_HARNESS_SEARCH_MODEL_PARTS_H
#define KF_HARNESS_SEARCH_MODEL_PARTS_H

#include "harness/search/ranking.h"
#include "harness/search/strategies.h"
#include "harness/search/surrogate.h"
#include "harness/search/trend.h"

enum {
    KF_MODEL_SLOTS = 4 * KF_SURROGATE_CANDIDATES,
    KF_MODEL_NEIGHBOURS = 1024,
    KF_MODEL_CENTRES = 3, /* best configs whose neighbours are candidates */
};

typedef enum kf_model_fate { KF_MODEL_PENDING, KF_MODEL_WORKS, KF_MODEL_FAILS } kf_model_fate;

typedef struct kf_model_observation {
    uint64_t index;
    kf_model_fate fate;
    double logarithm; /* of the time */
    float prior;      /* logarithm of the prior's time */
    int point;        /* in the surrogate, or -1 */
    bool has_target, voted;
    bool left_out; /* of the points, until the surrogate is built again */
    bool spent;    /* all its neighbours are known */
    float features[KF_FEATURES];
} kf_model_observation;

typedef struct kf_model {
    const kf_strategy *strategy;
    const kf_space *space;
    kf_ranking *ranking;                            /* what the prior says; NULL without one */
    int design, sweep, kept_points, explore, steps; /* its options */
    int settled_from, fine_from;
    double optimism, trust; /* trust: the share of it that is used */
    float caution;
    uint64_t random, order_seed, order_place;
    kf_features *features;
    int feature_count; /* that are used */
    kf_surrogate *surrogate;
    kf_lengths lengths;

    kf_model_observation *observations;
    int count, capacity, works, fails, best; /* best: number of an observation, or -1 */
    int next_fit;                            /* when count reaches it */
    int fits, centre;                        /* centre: the best whose neighbours are candidates already */

    int led; /* of what the prior ranks first, proposed for that alone */

    uint64_t candidates[KF_SURROGATE_CANDIDATES];
    float offsets[KF_SURROGATE_CANDIDATES]; /* what the prior says, as targets are */
    bool skip[KF_SURROGATE_CANDIDATES];
    uint64_t *slots;                     /* hash table of candidates: index + 1, 0 is empty */
    int *numbers;                        /* [slot] of the candidate */
    bool adjacent[KF_MODEL_NEIGHBOURS];  /* of neighbours: by one step */
    int neighbours[KF_MODEL_NEIGHBOURS]; /* numbers of the candidates one change away from the best */
    int neighbour_count;

    /* Targets are (squashed logarithm - squashed trend) / scale. The trend is what the prior says, and centre
     * where it says nothing. */
    double median, knee, scale, centre_target;
    kf_trend trend;
} kf_model;

/* These turn logarithms of times and of the prior's (infinity: it says nothing) into targets before they are
 * scaled, and give what an observation that works is to the surrogate (model_targets.c). */
double kf_model_squash(const kf_model *model, double logarithm);
double kf_model_trend(const kf_model *model, float prior);
double kf_model_target(const kf_model *model, const kf_model_observation *observation);
/* Sets what targets are made with from all observations; at least one of them works. */
void kf_model_set_scale(kf_model *model);

/* These choose candidates (model_candidates.c). */
void kf_model_features(const kf_model *model, uint64_t index, float *features);
/* Selects observations that work: the best half, then others at random, at most `most`; returns how many. */
int kf_model_select(kf_model *model, int most, kf_model_observation **selected);
/* Makes candidates of the configs around an observation, by its number. is_centre: those one change away are
 * from now on the model's neighbours. */
void kf_model_add_neighbours(kf_model *model, int centre, bool is_centre);
/* Draws candidates around the best, from what the prior ranks first, and at random, into a surrogate that has
 * none. */
void kf_model_draw_candidates(kf_model *model);

#endif
