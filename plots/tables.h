/* The tables for the scripts, separated by tabs, with two empty lines between blocks. */
#ifndef KF_PLOTS_TABLES_H
#define KF_PLOTS_TABLES_H

#include "base/record/roofs.h"
#include "base/util/text.h"
#include "plots/run_results.h"

/* Microseconds or milliseconds, whichever is easier to read. */
typedef struct kf_time_unit {
    const char *name; /* "us" or "ms" */
    double scale;     /* factor from microseconds to the unit */
} kf_time_unit;
kf_time_unit kf_time_unit_for(double longest_us);

/* Each fails with KF_BAD_INPUT if the run lacks the data. counts are passed to the script unchanged. */
kf_status kf_table_kernels(const kf_plot_results *results, kf_text *data, kf_time_unit *unit,
                           int *config_blocks, kf_error *error);
/* Makes the table of the surface; *plan: the plan that is shown, which belongs to results; "": the system has
 * no plans. */
kf_status kf_table_surface(const kf_plot_results *results, kf_text *data, kf_time_unit *unit,
                           const char **plan, kf_error *error);
kf_status kf_table_convergence(const kf_plot_results *results, kf_text *data, kf_time_unit *unit,
                               int *preset_blocks, kf_error *error);

/* The roofs for the roofline plot, measured and theoretical. */
typedef struct kf_plot_roofs {
    kf_roofs measured;
    double peak_bandwidth; /* theoretical rate of device memory in bytes/s; 0: not known */
} kf_plot_roofs;
kf_status kf_table_roofline(const kf_plot_results *results, const kf_plot_roofs *roofs, kf_text *data,
                            int *kernel_blocks, kf_error *error);
kf_status kf_table_occupancy(const kf_plot_results *results, kf_text *data, int *config_blocks,
                             kf_error *error);

/* Makes the table of the run's front. axes: the names of the first two goals. */
kf_status kf_table_front(const kf_plot_results *results, kf_text *data, kf_text axes[2], kf_error *error);

#endif
