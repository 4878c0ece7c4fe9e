/* Keeps the prediction of `kftune plan` in the user's data folder for the run that follows. */
#ifndef KF_HARNESS_CLI_RUN_PLAN_H
#define KF_HARNESS_CLI_RUN_PLAN_H

#include <cjson/cJSON.h>

#include "base/util/status.h"

typedef struct kf_run_plan {
    double within;  /* the wanted accuracy: half of the 95 % interval as a share of the drag */
    double share;   /* foretold */
    double steps;   /* steps until the drag has settled */
    double seconds; /* computing time; NAN: not known */
} kf_run_plan;

/* Keeps a plan for its scene. It replaces an older one. */
kf_status kf_run_plan_keep(const char *scene_hash, const kf_run_plan *plan, kf_error *error);
/* Finds the plan of a scene. KF_BAD_INPUT if there is none. */
kf_status kf_run_plan_find(const char *scene_hash, kf_run_plan *plan, kf_error *error);
cJSON *kf_run_plan_json(const kf_run_plan *plan); /* Returns the plan as JSON, which the caller frees. */

#endif
