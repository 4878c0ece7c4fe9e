/* Describes the levels of a scene with nested grids, and compares their cost with that of a uniform fine
 * grid. */
#ifndef KF_HARNESS_CLI_SCENE_LEVELS_H
#define KF_HARNESS_CLI_SCENE_LEVELS_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "scene/scene.h"

/* Prints a line for each level and one for the uniform grid. For a scene with one grid it prints nothing. */
void kf_scene_levels_print(const kf_scene *scene, FILE *file);
/* Return an array with an object for each level, and the object of the uniform grid. The caller frees both.
 */
cJSON *kf_scene_levels_json(const kf_scene *scene);
cJSON *kf_uniform_cost_json(const kf_scene *scene);

#endif
