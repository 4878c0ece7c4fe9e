/* The figures of the suite `step`, made of times and roofs. Internal to harness/bench. */
#ifndef KF_HARNESS_BENCH_STEP_FIGURES_H
#define KF_HARNESS_BENCH_STEP_FIGURES_H

#include "harness/bench/step_timings.h"
#include "harness/roofs/roofs.h"

typedef struct kf_step_results {
    const kf_step_scenes *scenes;
    const kf_step_timing *timings; /* [KF_TIMES] */
    const kf_roofs *roofs;
    double copy_rate; /* bytes read and written a second: what the limits are made of */
} kf_step_results;

/* A row of the table of figures. */
typedef struct kf_step_figure kf_step_figure;
struct kf_step_figure {
    const char *name;
    void (*make)(const kf_step_results *results, const kf_step_figure *row, kf_figure *figure);
    kf_step_time time, against; /* what it is made of; KF_TIMES: nothing */
    const char *unit;
    double must, aim; /* NAN: nothing is asked */
    bool of_share, at_most;
    const char *roof; /* of the floors: the roof's name */
    const char *note;
};

/* Ends with a name of NULL. */
extern const kf_step_figure kf_step_figures[];

/* Timings (bits) and scenes (bits) that the figures of these names need; none: all. An unknown name is
 * KF_BAD_INPUT with the nearest right one. */
kf_status kf_step_select(const kf_bench_options *options, uint64_t *timings, unsigned *scenes,
                         kf_error *error);
/* Adds the figures of these names (none: all) and what the run was about. */
void kf_step_add_figures(const kf_bench_options *options, const kf_step_results *results,
                         kf_figures *figures);

/* step_details.c: how a timing was made, as keys of a figure's JSON; the caller deletes it. */
cJSON *kf_step_details(const kf_step_timing *timing);
/* The scene and the limit, as keys of the suite's JSON; the caller deletes it. */
cJSON *kf_step_about(const kf_step_results *results);

#endif
