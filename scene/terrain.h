/* Terrain: heights on a grid, from an ESRI ASCII grid, a grey PNG picture or a formula. */
#ifndef KF_SCENE_TERRAIN_H
#define KF_SCENE_TERRAIN_H

#include <cjson/cJSON.h>

#include "base/util/hash.h"
#include "base/util/status.h"
#include "base/util/text.h"

enum { KF_TERRAIN_NODES = 16384 }; /* at most, along an axis */

/* Heights in metres at nodes [x][y] with distance `cell`; the first node lies at `origin`, and y points
 * north. In two dimensions nodes[1] is 1. All zero: no terrain. */
typedef struct kf_terrain {
    int nodes[2];
    double origin[2], cell;
    double *heights;
    double corner[2]; /* map coordinates (metres) of the place where x and y are 0; not part of the hash */
} kf_terrain;

/* Reads {"file": "x.asc"}, {"picture": "x.png", "low": m, "high": m, "cell": m} or {"formula": "expression of
 * x, y", "cell": m}. File names are relative to the folder of `file`, which messages name. The nodes of a
 * formula (base/expression/) cover the domain, whose size is `size`. */
kf_status kf_terrain_read(const char *file, const cJSON *object, int dimensions, const double size[3],
                          kf_terrain *terrain, kf_error *error);
void kf_terrain_free(kf_terrain *terrain);
void kf_terrain_hash(const kf_terrain *terrain, kf_hasher *hasher);

/* Returns the height at a place, and its slopes (slope may be NULL): the quadratic B-spline of the nodes, as
 * in the kernels (kernels/sph/walls.h). Beyond the grid it is that of the edge. */
double kf_terrain_height(const kf_terrain *terrain, double x, double y, double slope[2]);
void kf_terrain_range(const kf_terrain *terrain, double *low, double *high);

#endif
