/* Draws the candidates of strategy model: configs near the best ones, those that the prior ranks first, and
 * random ones. */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/random.h"
#include "harness/search/model_parts.h"

enum {
    BASE_CANDIDATES = 2048, /* drawn anew with each fit of the lengths; the other candidates are neighbours */
    MUTATIONS =
        48, /* for each config, changes of one to three parameters in addition to all changes of one */
};

void kf_model_features(const kf_model *model, uint64_t index, float *features) {
    int positions[KF_CONFIG_VALUES];
    kf_space_positions(model->space, index, positions);
    kf_features_of(model->features, positions, features);
}

static int compare_times(const void *left, const void *right) {
    const kf_model_observation *const *a = left, *const *b = right;
    if ((*a)->logarithm != (*b)->logarithm) return (*a)->logarithm < (*b)->logarithm ? -1 : 1;
    return (*a)->index < (*b)->index ? -1 : 1;
}

/* Selects at most `most` observations for the surrogate: the faster half, and others at random. The
 * surrogate's work grows with the cube of their number. */
int kf_model_select(kf_model *model, int most, kf_model_observation **selected) {
    kf_model_observation **all = kf_allocate(((size_t)model->works + 1) * sizeof *all);
    int count = 0;
    for (int i = 0; i < model->count; i++)
        if (model->observations[i].fate == KF_MODEL_WORKS) all[count++] = &model->observations[i];
    qsort(all, (size_t)count, sizeof(kf_model_observation *), compare_times);
    int taken = count < most ? count : most;
    for (int i = taken / 2; i < taken && taken < count; i++) {
        int other = i + (int)kf_random_below(&model->random, (uint64_t)(count - i));
        kf_model_observation *kept = all[i];
        all[i] = all[other];
        all[other] = kept;
    }
    memcpy(selected, all, (size_t)taken * sizeof(kf_model_observation *));
    free(all);
    return taken;
}

/* Returns the candidate's number, which may exist already; -1: the config is known, or there is no room. */
static int add_candidate(kf_model *model, uint64_t index) {
    uint64_t slot = kf_random_mix(index + 1) % KF_MODEL_SLOTS;
    while (model->slots[slot] != 0 && model->slots[slot] != index + 1)
        slot = (slot + 1) % KF_MODEL_SLOTS;
    if (model->slots[slot] != 0) return model->numbers[slot];
    if (kf_surrogate_candidate_count(model->surrogate) == KF_SURROGATE_CANDIDATES ||
        kf_strategy_knows(model->strategy, index))
        return -1;
    float features[KF_FEATURES];
    kf_model_features(model, index, features);
    int number = kf_surrogate_add_candidate(model->surrogate, features);
    model->slots[slot] = index + 1;
    model->numbers[slot] = number;
    model->candidates[number] = index;
    model->offsets[number] =
        (float)(kf_model_trend(model, kf_ranking_logarithm(model->ranking, index)) / model->scale);
    model->skip[number] = false;
    return number;
}

/* Adds all configs that differ from `positions` in one parameter, the nearest values first. */
static void add_changes_of_one(kf_model *model, const int *positions, bool of_best) {
    int changed[KF_CONFIG_VALUES];
    uint64_t index;
    memcpy(changed, positions, sizeof changed);
    for (int p = 0; p < kf_space_parameter_count(model->space); p++) {
        const int size = kf_space_domain_size(model->space, p);
        bool beside[2] = {false, false}; /* a neighbouring value exists, if values have an order */
        for (int away = 1; away < size; away++)
            for (int side = 0; side < 2; side++) {
                const int i = side == 0 ? positions[p] - away : positions[p] + away;
                changed[p] = i;
                if (i < 0 || i >= size || !kf_space_positions_index(model->space, changed, &index)) continue;
                int number = add_candidate(model, index);
                if (of_best && model->neighbour_count < KF_MODEL_NEIGHBOURS && number >= 0) {
                    model->adjacent[model->neighbour_count] = !beside[side];
                    model->neighbours[model->neighbour_count++] = number;
                }
                beside[side] = kf_features_is_size(model->features, p);
            }
        changed[p] = positions[p];
    }
}

/* Adds the neighbours of an observation to the candidates: all changes of one parameter, and random changes
 * of several, because values that constraints link must change together. */
void kf_model_add_neighbours(kf_model *model, int centre, bool is_centre) {
    int positions[KF_CONFIG_VALUES] = {0}, changed[KF_CONFIG_VALUES];
    uint64_t index, parameters = (uint64_t)kf_space_parameter_count(model->space);
    kf_space_positions(model->space, model->observations[centre].index, positions);
    if (is_centre) {
        model->neighbour_count = 0;
        model->centre = centre;
    }
    add_changes_of_one(model, positions, is_centre);
    /* Values that constraints link must change together. */
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

/* Draws a random config among those for which the prior was computed, because computing it takes time. */
static uint64_t any_config(kf_model *model) {
    if (model->ranking == NULL) return kf_random_below(&model->random, kf_space_size(model->space));
    return kf_ranking_draw(model->ranking, &model->random);
}

/* Draws new candidates: neighbours of the best, the configs that the prior ranks first unless it misleads,
 * and then the whole space if it is small, otherwise random configs. */
void kf_model_draw_candidates(kf_model *model) {
    uint64_t size = kf_space_size(model->space);
    memset(model->slots, 0, KF_MODEL_SLOTS * sizeof *model->slots);
    kf_model_observation *centres[KF_MODEL_CENTRES * 2];
    int count = kf_model_select(model, KF_MODEL_CENTRES * 2, centres);
    for (int i = 0; i < count && i < KF_MODEL_CENTRES; i++)
        kf_model_add_neighbours(model, (int)(centres[i] - model->observations), false);
    model->centre = -1;
    for (int i = 0; i < kf_ranking_count(model->ranking) && model->trend.slope > 0;
         i++) /* unless the prior misleads */
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
