/* Says what the levels of a scene with nested grids are, and what they cost against one fine grid. */
#ifndef KF_HARNESS_CLI_SCENE_LEVELS_H
#define KF_HARNESS_CLI_SCENE_LEVELS_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "scene/scene.h"

/* Prints a line a level and one for the uniform grid; nothing for a scene of one grid. */
void kf_scene_levels_print(const kf_scene *scene, FILE *file);
/* Make an array with an object for each level, and an object; the caller owns both. */
cJSON *kf_scene_levels_json(const kf_scene *scene);
cJSON *kf_uniform_cost_json(const kf_scene *scene);

#endif
