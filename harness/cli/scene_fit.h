/* Finds how much of a scene's grid the memory of a device, or of a team's devices, holds. */
#ifndef KF_HARNESS_CLI_SCENE_FIT_H
#define KF_HARNESS_CLI_SCENE_FIT_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "base/backend/backend.h"
#include "scene/scene.h"

/* Returns the bytes of a grid: populations of that size on one grid or two, and 4 bytes a node beside them.
 */
double kf_grid_bytes(const int nodes[3], int grids, int value_bytes);

typedef struct kf_scene_fit {
    char device[160];                    /* "2 x NVIDIA H200" */
    double bytes;                        /* that populations may have on all devices together */
    bool two_grids, one_grid, half_grid; /* in f32; the last: one grid in 16 bits */
    bool nested;                         /* then on two grids of each level, or not at all */
    int largest[3]; /* nodes of the largest grid of these proportions, f32 on one grid, or of level 0 */
} kf_scene_fit;

/* Finds what fits on the device, as kf_backend_device describes it for an open backend: with the memory of
 * a whole team. Of each device 1 GB is left to other things, and none takes more than 2^31 - 1 nodes. */
kf_scene_fit kf_fit_scene(const kf_scene *scene, const kf_device_info *device);

/* Say it as a line for a reader, and as JSON, which the caller deletes. */
void kf_scene_fit_print(const kf_scene_fit *fit, FILE *file);
cJSON *kf_scene_fit_json(const kf_scene_fit *fit);

#endif
