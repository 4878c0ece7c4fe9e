/* Makes one surface from the triangles of a file (mesh_mend.c, mesh_reach.c). */
#ifndef KF_SCENE_MESH_MEND_H
#define KF_SCENE_MESH_MEND_H

#include <stdbool.h>

#include "scene/internal.h"

/* Numbers of triangles that were changed, for notes; joined: number of corners. */
typedef struct kf_mended {
    size_t flat, repeated, joined, turned, inside;
} kf_mended;

/* Makes of a heap of triangles the surface that is meant:
 *  - equal vertices are one, those that no triangle uses go, and so do triangles without area;
 *  - triangles on the same corners are one, whichever way they look and however many there are;
 *  - an open edge that corners of others lie on is cut there, so that what went leaves no gap;
 *  - neighbours look to the same side, and closed surfaces all outwards or all inwards;
 *  - surfaces that no stream reaches from outside do not act: they go, or lie behind the first
 *    triangle_count triangles where they bound a cavity (kf_mesh, inner_count);
 *  - sheets that stick out of a closed surface with both their sides come last of those that act
 * (sheet_count). A mesh to which none of this applies stays as it is, to the bit. */
void kf_mesh_mend(kf_mesh *mesh, kf_mended *done);

/* Finds the patches that the stream does not reach from outside through openings wider than 1/128 of the
 * mesh's length: hidden[patch]. patch[t]: the patch of triangle t, below `patches`. */
void kf_mesh_find_hidden(const kf_mesh *mesh, const uint32_t *patch, size_t patches, bool *hidden);

#endif
