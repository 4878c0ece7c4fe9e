/* Terrain: heights on a grid, from an ESRI ASCII grid, a grey PNG picture or a formula. */
#ifndef KF_SCENE_TERRAIN_H
#define KF_SCENE_TERRAIN_H

#include <cjson/cJSON.h>

#include "base/util/hash.h"
#include "base/util/status.h"
#include "base/util/text.h"

enum { KF_TERRAIN_NODES = 16384 }; /* at most, along an axis */

/* Heights in metres at nodes [x][y], `cell` apart, the first at origin; y counts northwards. In two
 * dimensions nodes[1] is
 * 1. All zero: no terrain. */
typedef struct kf_terrain {
    int nodes[2];
    double origin[2], cell;
    double *heights;
    double corner[2]; /* on the map that it was cut from: where x and y are 0; metres, no part of the hash */
} kf_terrain;

/* {"file": "x.asc"}, {"picture": "x.png", "low": m, "high": m, "cell": m} or {"formula": "expression of x,
 * y", "cell": m}. File names are relative to the folder of `file`, which is also named in messages. The
 * formula, of base/expression/, has nodes that cover the domain. */
kf_status kf_terrain_read(const char *file, const cJSON *object, int dimensions, const double size[3],
                          kf_terrain *terrain, kf_error *error);
void kf_terrain_free(kf_terrain *terrain);
void kf_terrain_hash(const kf_terrain *terrain, kf_hasher *hasher);

/* Height and slopes at a place: the quadratic B-spline of the nodes, as the kernels have it
 * (kernels/sph/walls.h). Beyond the grid it is that of its edge. slope may be NULL. */
double kf_terrain_height(const kf_terrain *terrain, double x, double y, double slope[2]);
void kf_terrain_range(const kf_terrain *terrain, double *low, double *high);

#endif
