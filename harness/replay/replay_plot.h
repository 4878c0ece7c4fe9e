/* Plots how strategies converge on a stored landscape. */
#ifndef KF_HARNESS_REPLAY_REPLAY_PLOT_H
#define KF_HARNESS_REPLAY_REPLAY_PLOT_H

#include "base/util/text.h"
#include "harness/replay/replay.h"

enum { KF_REPLAYED = 8 };

/* Holds searches of some strategies on one landscape. */
typedef struct kf_replayed {
    const kf_landscape *landscape;
    char names[KF_REPLAYED][KF_NAME + 16]; /* of the strategy, and what it knows */
    kf_replay_result results[KF_REPLAYED];
    int count;
} kf_replayed;

/* Writes a block for each strategy: its name, then for each evaluation a line with median, first and third
 * quartile of the regret. Where seconds are known (*seconds), a block for each strategy over seconds follows.
 * Regrets are in percent, at least 0.01, for they are drawn on a logarithmic scale. */
void kf_table_replayed(const kf_replayed *replayed, kf_text *data, bool *seconds);

/* Writes path, whose ending says the format; KF_MACHINE when gnuplot is missing. */
kf_status kf_plot_replayed(const kf_replayed *replayed, const char *path, kf_error *error);

#endif
