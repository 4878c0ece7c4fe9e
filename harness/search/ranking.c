#include "harness/search/ranking.h"

#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "base/util/random.h"

enum {
    SCAN = 20000,    /* number of configs for which the prior is computed at the start */
    FIRST = 512,     /* number of them that stay in the ranking */
    SLOTS = 1 << 16, /* number of configs whose prediction is remembered */
};

typedef struct kf_memo {
    uint64_t key; /* index + 1; 0: empty */
    float logarithm;
} kf_memo;

struct kf_ranking {
    kf_prior prior;
    uint64_t size, scan, seed; /* configs in the space; configs computed at the start, at random if not all */
    kf_memo *memo;             /* [slots]: the last prediction of each slot */
    uint64_t slots;
    uint64_t *first; /* [count] */
    int count;
};

typedef struct kf_ranked {
    float logarithm;
    uint64_t index;
} kf_ranked;

static int compare_ranked(const void *left, const void *right) {
    const kf_ranked *a = left, *b = right;
    if (a->logarithm != b->logarithm) return a->logarithm < b->logarithm ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static uint64_t scanned(const kf_ranking *ranking, uint64_t i) {
    return ranking->scan == ranking->size ? i : kf_shuffled(ranking->size, ranking->seed, i);
}

static void rank(kf_ranking *ranking) {
    kf_ranked *all = kf_allocate((size_t)ranking->scan * sizeof *all);
    uint64_t known = 0;
    for (uint64_t i = 0; i < ranking->scan; i++) {
        const uint64_t index = scanned(ranking, i);
        const float logarithm = kf_ranking_logarithm(ranking, index);
        if (isfinite(logarithm)) all[known++] = (kf_ranked){logarithm, index};
    }
    qsort(all, (size_t)known, sizeof *all, compare_ranked);
    ranking->count = known < FIRST ? (int)known : FIRST;
    ranking->first = kf_allocate(((size_t)ranking->count + 1) * sizeof *ranking->first);
    for (int i = 0; i < ranking->count; i++)
        ranking->first[i] = all[i].index;
    free(all);
}

kf_ranking *kf_ranking_open(const kf_space *space, const kf_prior *prior, uint64_t seed) {
    if (prior->predict == NULL) return NULL;
    kf_ranking *ranking = kf_allocate_zeroed(1, sizeof *ranking);
    ranking->prior = *prior;
    ranking->size = kf_space_size(space);
    ranking->scan = ranking->size < SCAN ? ranking->size : SCAN;
    ranking->seed = seed;
    ranking->slots = ranking->size < SLOTS ? ranking->size : SLOTS;
    ranking->memo = kf_allocate_zeroed((size_t)ranking->slots, sizeof *ranking->memo);
    rank(ranking);
    return ranking;
}

void kf_ranking_close(kf_ranking *ranking) {
    if (ranking == NULL) return;
    free(ranking->memo);
    free(ranking->first);
    free(ranking);
}

float kf_ranking_logarithm(kf_ranking *ranking, uint64_t index) {
    if (ranking == NULL) return NAN;
    kf_memo *memo = &ranking->memo[index % ranking->slots];
    if (memo->key == index + 1) return memo->logarithm;
    const double time = ranking->prior.predict(ranking->prior.context, index);
    *memo = (kf_memo){index + 1, time > 0 && isfinite(time) ? (float)log(time) : NAN};
    return memo->logarithm;
}

int kf_ranking_count(const kf_ranking *ranking) {
    return ranking != NULL ? ranking->count : 0;
}

uint64_t kf_ranking_first(const kf_ranking *ranking, int i) {
    return ranking->first[i];
}

uint64_t kf_ranking_draw(const kf_ranking *ranking, uint64_t *random) {
    return scanned(ranking, kf_random_below(random, ranking->scan));
}
