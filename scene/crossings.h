/* Finds where upright lines cross a mesh, and so what lies inside: where the mesh winds around a place,
 * once or more often. Bodies that overlap fill once, and a cavity, which is wound the other way, not at
 * all. */
#ifndef KF_SCENE_CROSSINGS_H
#define KF_SCENE_CROSSINGS_H

#include "scene/internal.h"

typedef struct kf_crossing {
    uint32_t column;
    float height;
    int turn; /* +1 or -1 by the side that the triangle looks to */
} kf_crossing;

/* By columns and then by height. */
typedef struct kf_crossings {
    kf_crossing *list;
    size_t count, capacity;
    size_t *first; /* [columns + 1] */
} kf_crossings;

/* Column i columns[1] + j stands at (i + 1/2, j + 1/2) in the mesh's units. Cavities count, sheets do not. */
kf_crossings kf_crossings_of(const kf_mesh *mesh, const int columns[2]);
void kf_crossings_free(kf_crossings *crossings);
bool kf_crossings_inside(const kf_crossings *crossings, size_t column, double height);

#endif
