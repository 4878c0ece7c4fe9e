/* Plots how strategies converge on a stored landscape. */
#ifndef KF_HARNESS_REPLAY_REPLAY_PLOT_H
#define KF_HARNESS_REPLAY_REPLAY_PLOT_H

#include "base/util/text.h"
#include "harness/replay/replay.h"

enum { KF_REPLAYED = 8 };

/* Searches of several strategies on one landscape. */
typedef struct kf_replayed {
    const kf_landscape *landscape;
    char names[KF_REPLAYED][KF_NAME + 16]; /* name of the strategy with its prior */
    kf_replay_result results[KF_REPLAYED];
    int count;
} kf_replayed;

/* Writes a block for each strategy: its name, then for each evaluation a line with the median, first and
 * third quartile of the regret. If seconds are known (*seconds), a block over seconds follows for each
 * strategy. Regrets are in percent and at least 0.01, because the scale is logarithmic. */
void kf_table_replayed(const kf_replayed *replayed, kf_text *data, bool *seconds);

/* Writes the file `path`, whose ending determines the format. KF_MACHINE if gnuplot is missing. */
kf_status kf_plot_replayed(const kf_replayed *replayed, const char *path, kf_error *error);

#endif
