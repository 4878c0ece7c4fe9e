/* Chooses among configs without missing a pair of values, because most faults of variants need one value
 * or the combination of two (Kuhn, Wallace, Gallo 2004, doi:10.1109/TSE.2004.24). Under sanitizers, which
 * look for other faults, it misses no single value. It does the same where another scene has the pairs, so
 * that each value occurs in each scene. With KFTUNE_TEST_ALL=1 all are taken. */
#ifndef KF_TESTS_UNIT_CONFIG_PAIRS_H
#define KF_TESTS_UNIT_CONFIG_PAIRS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/space/config.h"
#include "base/util/memory.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool values_alone = true;
#else
static const bool values_alone = false;
#endif

/* The values of each parameter, numbered in the order in which they occur. */
enum { PAIR_VALUES = 32 };
typedef struct config_pairs {
    kf_value values[KF_CONFIG_VALUES][PAIR_VALUES];
    int value_count[KF_CONFIG_VALUES];
    bool seen[KF_CONFIG_VALUES][PAIR_VALUES][KF_CONFIG_VALUES][PAIR_VALUES];
} config_pairs;

static inline int number_value(config_pairs *pairs, int parameter, const kf_value *value) {
    kf_value *known = pairs->values[parameter];
    int *count = &pairs->value_count[parameter];
    for (int v = 0; v < *count; v++)
        if (known[v].integer == value->integer && strcmp(known[v].name, value->name) == 0) return v;
    assert_true(*count < PAIR_VALUES);
    known[*count] = *value;
    return (*count)++;
}

/* Returns how many pairs of the config's values, or single values, were not seen before, and marks them if
 * the config is taken. */
static inline int new_pairs(config_pairs *pairs, const kf_config *config, bool alone, bool take) {
    int numbers[KF_CONFIG_VALUES], fresh = 0;
    for (int p = 0; p < config->count; p++)
        numbers[p] = number_value(pairs, p, &config->values[p]);
    for (int p = 0; p < config->count; p++)
        for (int q = alone ? p : 0; q <= p; q++) { /* a value with itself stands for the value alone */
            bool *seen = &pairs->seen[p][numbers[p]][q][numbers[q]];
            fresh += !*seen;
            *seen = *seen || take;
        }
    return fresh;
}

/* Moves to the front configs that together have every pair of values, or every value, that any of them
 * has. It takes the config that adds most each time, and returns their number. All are of one system. */
static inline size_t keep_values(kf_config *configs, size_t count, bool alone) {
    if (getenv("KFTUNE_TEST_ALL") != NULL) return count;
    config_pairs *pairs = kf_allocate_zeroed(1, sizeof *pairs);
    size_t kept = 0;
    for (; kept < count; kept++) {
        size_t best = kept;
        int most = 0;
        for (size_t i = kept; i < count; i++) {
            const int fresh = new_pairs(pairs, &configs[i], alone, false);
            if (fresh > most) most = fresh, best = i;
        }
        if (most == 0) break;
        (void)new_pairs(pairs, &configs[best], alone, true);
        const kf_config swapped = configs[kept];
        configs[kept] = configs[best];
        configs[best] = swapped;
    }
    free(pairs);
    return kept;
}

static inline size_t keep_pairs(kf_config *configs, size_t count) {
    return keep_values(configs, count, values_alone);
}

#endif
