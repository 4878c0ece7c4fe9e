/* The parts of the report. Internal to harness/report. */
#ifndef KF_PLOTS_REPORT_SECTIONS_H
#define KF_PLOTS_REPORT_SECTIONS_H

#include "plots/report/html.h"
#include "results/nightly.h"

/* The scene seen from above and the side: a PNG file at path. KF_BAD_INPUT when the scene of the run cannot
 * be opened here any more, or has changed. */
kf_status kf_report_scene_picture(kf_store *store, const kf_run_summary *run, const char *path,
                                  kf_error *error);

/* Runs draw on a file of a folder of its own and appends the picture, or a line that says why there is none.
 */
typedef kf_status (*kf_report_draw)(const void *context, const char *path, kf_error *error);
void kf_report_figure(kf_text *page, kf_report_draw draw, const void *context, const char *type,
                      const char *description);

/* One run in full: scene, best config, kernels, plots, results, environment, how to do it again. */
kf_status kf_report_run(kf_text *page, kf_store *store, const kf_run_summary *run, kf_error *error);

/* The nights: the last one's verdicts, those before it, a history of each benchmark. Nothing without nights.
 */
kf_status kf_report_nights(kf_text *page, kf_store *store, bool *any, kf_error *error);

#endif
