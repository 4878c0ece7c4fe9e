/* The parts of kf_mesh_read: readers of files, which collect polygons, and what makes a mesh of these. All of
 * it works on untrusted input and runs in a child process (mesh.c). */
#ifndef KF_SCENE_MESH_IMPORT_H
#define KF_SCENE_MESH_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util/text.h"
#include "scene/internal.h"

enum { KF_MESH_TRIANGLES = 100000000 }; /* a mesh of more is refused */

/* ---- Polygons, as files have them ---- */

/* Faces of any number of corners, in the order of the file. */
typedef struct kf_polygons {
    kf_mesh_builder builder; /* vertices; triangles once the faces are cut */
    uint32_t *corners;       /* of all faces, one after the other; they may lie beyond the vertices */
    size_t corner_count, corner_capacity;
    size_t *ends; /* [count] where each face's corners end */
    size_t count, capacity;
    double coarsest; /* the largest step between neighbouring numbers of the file's precision; 0: double */
} kf_polygons;

void kf_polygons_corner(kf_polygons *polygons, uint32_t vertex);
/* Ends the face of the corners since the last end; fewer than three are a point or a line and are dropped. */
void kf_polygons_end(kf_polygons *polygons);
/* Numbers of single precision lie this far apart at value; coarsest grows to it. */
void kf_polygons_single(kf_polygons *polygons, double value);
void kf_polygons_free(kf_polygons *polygons);

/* Cuts a polygon of at least three corners into triangles that have its area, concave or not, by clipping
 * ears in its plane; appends them to the builder, whose vertices the corners are. Corners that follow each
 * other at one place count once, and so does a round that is repeated. Returns the area that is covered twice
 * or from behind because the polygon crosses itself: 0 of one that does not, up to rounding. */
double kf_polygon_cut(kf_mesh_builder *builder, const uint32_t *corners, size_t count);

/* ---- Readers: polygons from a file, in double precision where the file has it ---- */

kf_status kf_obj_read(const char *file, kf_polygons *polygons, kf_text *notes, kf_error *error);
kf_status kf_stl_read(const char *file, kf_polygons *polygons, kf_text *notes, kf_error *error);
kf_status kf_ply_read(const char *file, kf_polygons *polygons, kf_text *notes, kf_error *error);
/* Reads glTF and GLB, through assimp (mesh_gltf.h). */
kf_status kf_gltf_read(const char *file, kf_polygons *polygons, kf_text *notes, kf_error *error);

/* The file's ending with its dot, or "". */
const char *kf_mesh_ending(const char *file);

/* Reads, cuts and mends; to be run confined (base/util/confined.h). */
kf_status kf_mesh_import(const char *file, kf_mesh *mesh, kf_text *notes, kf_error *error);

/* ---- Text ---- */

/* A number at the beginning of text, read to the nearest double whatever the locale; *end as of strtod. */
double kf_scan_number(const char *text, const char **end);

#endif
