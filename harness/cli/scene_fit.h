/* Finds how much of a scene's grid fits into the memory of a device or a team. */
#ifndef KF_HARNESS_CLI_SCENE_FIT_H
#define KF_HARNESS_CLI_SCENE_FIT_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "base/backend/backend.h"
#include "scene/scene.h"

/* Returns the bytes of a grid: populations of this size on one or two grids, and 4 more bytes for each node.
 */
double kf_grid_bytes(const int nodes[3], int grids, int value_bytes);

typedef struct kf_scene_fit {
    char device[160]; /* "2 x NVIDIA H200" */
    double bytes;     /* memory for populations on all devices together */
    /* These say whether two grids or one grid in f32 fit, or one grid in 16 bits. */
    bool two_grids, one_grid, half_grid;
    bool nested; /* each level of nested grids needs two grids */
    /* Nodes of the largest grid with these proportions that fits, in f32 on one grid; of nested grids those
     * of level 0. */
    int largest[3];
} kf_scene_fit;

/* Finds what fits on the device. kf_backend_device describes an open backend, or a whole team with its total
 * memory. On each device 1 GB is kept free, and no device holds more than 2^31 - 1 nodes. */
kf_scene_fit kf_fit_scene(const kf_scene *scene, const kf_device_info *device);

/* Print it as a line of text; return it as JSON, which the caller frees. */
void kf_scene_fit_print(const kf_scene_fit *fit, FILE *file);
cJSON *kf_scene_fit_json(const kf_scene_fit *fit);

#endif
