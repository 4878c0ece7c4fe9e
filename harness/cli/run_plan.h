/* Keeps the prediction of `kftune plan` in the user's folder of data until the run looks for it. */
#ifndef KF_HARNESS_CLI_RUN_PLAN_H
#define KF_HARNESS_CLI_RUN_PLAN_H

#include <cjson/cJSON.h>

#include "base/util/status.h"

typedef struct kf_run_plan {
    double within;  /* half of the 95 % interval over the drag, asked for */
    double share;   /* foretold */
    double steps;   /* until the drag has settled */
    double seconds; /* of computing; NAN: not known */
} kf_run_plan;

/* Keeps a plan by its scene; the newest counts. */
kf_status kf_run_plan_keep(const char *scene_hash, const kf_run_plan *plan, kf_error *error);
/* Finds the scene's plan; KF_BAD_INPUT where there is none. */
kf_status kf_run_plan_find(const char *scene_hash, kf_run_plan *plan, kf_error *error);
cJSON *kf_run_plan_json(const kf_run_plan *plan); /* the caller owns it */

#endif
