/* The report: a store's contents as one HTML file that needs no other files. */
#ifndef KF_PLOTS_REPORT_REPORT_H
#define KF_PLOTS_REPORT_REPORT_H

#include "results/nightly.h"

/* Writes path, completely or not at all. run: number or beginning of the UUID of the run to show in full;
 * NULL: the newest with a result that counts. Pictures that cannot be drawn are left out, with a line that
 * gives the reason. */
kf_status kf_report_write(kf_store *store, const char *run, const char *path, kf_error *error);

#endif
