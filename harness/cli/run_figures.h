/* Reads the results from a run's folder, for tables that compare runs. */
#ifndef KF_HARNESS_CLI_RUN_FIGURES_H
#define KF_HARNESS_CLI_RUN_FIGURES_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "base/util/file.h"
#include "base/util/status.h"
#include "base/util/text.h"
#include "harness/cli/drag_interval.h"

enum { KF_FIGURE_DRAG, KF_FIGURE_LIFT, KF_FIGURE_SIDE, KF_FIGURES };
extern const char *const kf_figure_names[KF_FIGURES]; /* "drag", "lift", "side" */

typedef struct kf_figure {
    double mean, half; /* half of the 95 % interval; NAN: not known */
} kf_figure;

typedef struct kf_run_figures {
    char folder[KF_PATH], name[128];
    char state[16]; /* its recorded state; "broken off": the record says "running", but no process writes
                       there */
    char checkpoint[KF_PATH]; /* its last checkpoint; "": none */
    char begun_in[KF_PATH]; /* the folder of the run from whose flow it began; "": it began as its scene says
                             */
    bool known;             /* whether it has coefficients */
    bool settled;
    kf_figure wind[KF_FIGURES], body[KF_FIGURES]; /* in axes of the wind; in axes of the solid */
    bool judged;                                  /* whether open_stream is known */
    kf_drag_interval open_stream;                 /* the drag in an open stream, with its interval */
    double yaw, area, speed, reynolds, cells, flow_throughs,
        seconds;  /* cells along the reference length; computing time in seconds; NAN: not known */
    cJSON *scene; /* the run's scene.json; NULL: there is none; owned */
} kf_run_figures;

/* Reads run.json from a folder. KF_BAD_INPUT if the file is not that of a run. */
kf_status kf_run_figures_read(const char *folder, kf_run_figures *figures, kf_error *error);
void kf_run_figures_free(kf_run_figures *figures); /* Frees what the figures own. */

/* Writes a figure such as "0.3127 +- 0.0021"; "-": it is not known. */
const char *kf_figure_text(const kf_figure *figure, char text[48]);
cJSON *kf_figure_json(const kf_figure *figure);

#endif
