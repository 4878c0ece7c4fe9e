/* What an engineer takes home from a run: drag and lift with their intervals, and what they refer to. */
#ifndef KF_HARNESS_CLI_RUN_COEFFICIENTS_H
#define KF_HARNESS_CLI_RUN_COEFFICIENTS_H

#include <cjson/cJSON.h>

#include "scene/scene.h"
#include "solver/output/drag.h"

/* flow_through in steps; 0: there is none. Where a solid has no coefficients the reason is printed, and the
 * JSON is null; scene NULL: what runs is no flow, and nothing is printed. */
void kf_run_coefficients_print(const kf_scene *scene, const kf_drag_report *drag, double flow_through);
cJSON *kf_run_coefficients_json(const kf_scene *scene, const kf_drag_report *drag, double flow_through);

#endif
