/* The first half of mending (mesh_mend.c): triangles that coincide, and edges that should meet. */
#ifndef KF_SCENE_MESH_UNITE_H
#define KF_SCENE_MESH_UNITE_H

#include "scene/internal.h"

/* Replaces triangles on the same corners by one, wound as most of them. Returns how many were removed.
 * votes[t]: of the triangles on the corners of triangle t, the number wound as it is less the number wound
 * the other way. */
size_t kf_mesh_unite(kf_mesh *mesh, int32_t *votes);

/* Joins corners of open edges that differ by rounding only, and cuts triangles whose open edges have corners
 * of others on them. *votes grows with the triangles; a new triangle gets the votes of the one that was cut.
 * Returns how many corners were joined; 0: nothing changed. */
size_t kf_mesh_stitch(kf_mesh *mesh, int32_t **votes);

#endif
