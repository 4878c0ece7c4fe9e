/* Runs gnuplot without a shell, on data in a separate file, so that no name in a store can become a command.
 */
#ifndef KF_PLOTS_GNUPLOT_H
#define KF_PLOTS_GNUPLOT_H

#include "base/util/status.h"
#include "base/util/text.h"

enum { KF_GNUPLOT_VALUES = 4 };

typedef struct kf_gnuplot_job {
    const char *script;           /* "kernels.gp", in plots/ of the data folder */
    const char *data;             /* tables as the script expects them; columns are separated by tabs */
    const char *title, *subtitle; /* any text */
    const char *values[KF_GNUPLOT_VALUES]; /* further values for the script (ARG6 ...); NULL after the last */
    const char *path;                      /* file to write: .svg, .png or .pdf */
} kf_gnuplot_job;

/* Draws a job into its file, completely or not at all. KF_MACHINE, with gnuplot's message, if it fails. */
kf_status kf_gnuplot_run(const kf_gnuplot_job *job, kf_error *error);

/* Appends text as one field of a table. Characters that gnuplot treats specially (quotes, backslashes,
 * control characters, comment signs) become '_'. */
void kf_gnuplot_field(kf_text *data, const char *text);

/* Appends a title or subtitle in the same way. The middle of a word with more than 48 characters becomes
 * "...", so that the name fits into the picture. */
void kf_gnuplot_heading(kf_text *heading, const char *text);

/* Returns "svg", "png" or "pdf" by the ending of path, or NULL. */
const char *kf_gnuplot_format(const char *path);

#endif
