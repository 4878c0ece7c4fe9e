/* Prints what an engineer takes home from a run: drag and lift with their intervals, and what they refer
 * to. */
#ifndef KF_HARNESS_CLI_RUN_COEFFICIENTS_H
#define KF_HARNESS_CLI_RUN_COEFFICIENTS_H

#include <cjson/cJSON.h>

#include "scene/scene.h"
#include "solver/output/drag.h"

/* Returns where the area that coefficients refer to is from. */
const char *kf_run_area_source(const kf_scene *scene);
/* These print the coefficients, or give them as JSON that the caller owns. flow_through is in steps, 0 where
 * there is none. Where a solid has no coefficients the reason is printed, and the JSON is null. Where scene
 * is NULL, what runs is no flow, and nothing is printed. */
void kf_run_coefficients_print(const kf_scene *scene, const kf_drag_report *drag, double flow_through);
/* Prints the drag with its whole interval, for the last line, and above it what its parts are from. */
void kf_run_interval_print(const kf_scene *scene, const kf_drag_report *drag);
cJSON *kf_run_coefficients_json(const kf_scene *scene, const kf_drag_report *drag, double flow_through);

#endif
