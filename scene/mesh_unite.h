/* Triangles that are one, and edges that should meet: the first half of mending (mesh_mend.c). */
#ifndef KF_SCENE_MESH_UNITE_H
#define KF_SCENE_MESH_UNITE_H

#include "scene/internal.h"

/* Makes one triangle of those on the same corners, wound as most are; returns how many went. votes[t], one
 * for each triangle: how many of those on the same corners are wound as it is, less those that are wound
 * the other way. */
size_t kf_mesh_unite(kf_mesh *mesh, int32_t *votes);

/* Joins corners on open edges that lie a rounding apart, and cuts triangles whose open edges have corners of
 * others on them. Grows *votes with the triangles: what is cut inherits. Returns how many corners were
 * joined; 0: nothing changed. */
size_t kf_mesh_stitch(kf_mesh *mesh, int32_t **votes);

#endif
