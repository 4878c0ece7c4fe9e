/* Reads what the folder of a run says of it, for tables that hold runs against each other. */
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
    char state[16]; /* of its record; "broken off" where that says "running" and no process writes there */
    char checkpoint[KF_PATH]; /* its last; "": none */
    char begun_in[KF_PATH];   /* folder of the run whose flow it began in; "": it began as its scene says */
    bool known;               /* it has coefficients */
    bool settled;
    kf_figure wind[KF_FIGURES], body[KF_FIGURES]; /* in axes of the wind, and of the solid */
    bool judged;                                  /* open_stream is there */
    kf_drag_interval open_stream;                 /* of the drag in axes of the wind, with all its parts */
    double yaw, area, speed, reynolds, cells, flow_throughs,
        seconds;  /* cells along the reference length;
                   * seconds of computing; NAN: not known */
    cJSON *scene; /* its scene.json; NULL: there is none; owned */
} kf_run_figures;

/* Reads run.json of a folder; KF_BAD_INPUT when it is none of a run. */
kf_status kf_run_figures_read(const char *folder, kf_run_figures *figures, kf_error *error);
void kf_run_figures_free(kf_run_figures *figures); /* what it owns */

/* Writes a figure such as "0.3127 +- 0.0021", or "-" if it is not known. */
const char *kf_figure_text(const kf_figure *figure, char text[48]);
cJSON *kf_figure_json(const kf_figure *figure);

#endif
