/* Prints the results of a run: drag and lift with their intervals, and their reference values. */
#ifndef KF_HARNESS_CLI_RUN_COEFFICIENTS_H
#define KF_HARNESS_CLI_RUN_COEFFICIENTS_H

#include <cjson/cJSON.h>

#include "scene/scene.h"
#include "solver/output/drag.h"

/* Returns where the reference area of the coefficients comes from. */
const char *kf_run_area_source(const kf_scene *scene);
/* These print the coefficients, or return them as JSON, which the caller frees. flow_through is in steps; 0:
 * there is none. If a solid has no coefficients, the reason is printed, and the JSON is null. If scene is
 * NULL, the run is not a flow, and nothing is printed. */
void kf_run_coefficients_print(const kf_scene *scene, const kf_drag_report *drag, double flow_through);
/* Prints where the parts of the drag's interval come from, and in the last line the drag with the whole
 * interval. */
void kf_run_interval_print(const kf_scene *scene, const kf_drag_report *drag);
cJSON *kf_run_coefficients_json(const kf_scene *scene, const kf_drag_report *drag, double flow_through);

#endif
