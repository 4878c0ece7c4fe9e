/* Finds where upright lines cross a mesh, and from this what lies inside: places around which the mesh winds
 * once or more often. Overlapping bodies fill a place once. A cavity is wound the other way, so it is
 * outside. */
#ifndef KF_SCENE_CROSSINGS_H
#define KF_SCENE_CROSSINGS_H

#include "scene/internal.h"

typedef struct kf_crossing {
    uint32_t column;
    float height;
    int turn; /* +1 or -1, by the side to which the triangle faces */
} kf_crossing;

/* Crossings, sorted by column and then by height. */
typedef struct kf_crossings {
    kf_crossing *list;
    size_t count, capacity;
    size_t *first; /* [columns + 1] index of each column's first crossing */
} kf_crossings;

/* Finds the crossings of columns[0] x columns[1] lines along z. Column i columns[1] + j stands at (i + 1/2, j
 * + 1/2) in the mesh's units. Cavities are included, sheets are not. The caller frees the result. */
kf_crossings kf_crossings_of(const kf_mesh *mesh, const int columns[2]);
void kf_crossings_free(kf_crossings *crossings);
bool kf_crossings_inside(const kf_crossings *crossings, size_t column, double height);

#endif
