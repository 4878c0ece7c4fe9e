/* The parts of kf_mesh_read: readers that collect the polygons of a file, and functions that make a mesh of
 * them. The input is untrusted, so everything runs in a child process (mesh.c). */
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
    uint32_t *corners; /* of all faces, one after the other; indices may exceed the number of vertices */
    size_t corner_count, corner_capacity;
    size_t *ends; /* [count] index behind each face's last corner */
    size_t count, capacity;
    /* Largest distance between neighbouring numbers in the file's precision; 0: double precision. */
    double coarsest;
    double unit; /* metres of the unit that the file states; 0: none */
    long unit_line;
} kf_polygons;

/* Takes the unit from a comment or header that states one, if none was found before. line: for messages; 0:
 * the header has none. */
void kf_polygons_state_unit(kf_polygons *polygons, const char *text, size_t length, long line);

/* Adds a corner to the present face. */
void kf_polygons_corner(kf_polygons *polygons, uint32_t vertex);
/* Ends the face of the corners added since the last call. Faces with fewer than three corners are dropped. */
void kf_polygons_end(kf_polygons *polygons);
/* Notes that a coordinate is in single precision: `coarsest` grows to the distance of such numbers at
 * `value`. */
void kf_polygons_single(kf_polygons *polygons, double value);
void kf_polygons_free(kf_polygons *polygons);

/* Cuts a polygon of at least three corners, concave or not, into triangles of the same total area by clipping
 * ears in its plane. It appends them to the builder, whose vertices the corners are. Consecutive corners at
 * one place count once, and so does a repeated round. Returns the area that is covered twice or from behind
 * because the polygon crosses itself: 0, up to rounding, if it does not. */
double kf_polygon_cut(kf_mesh_builder *builder, const uint32_t *corners, size_t count);

/* ---- Readers: polygons from a file, in double precision where the file has it ---- */

/* Read OBJ, STL and PLY, text and binary. Free the polygons with kf_polygons_free, whatever the status. */
kf_status kf_obj_read(const char *file, kf_polygons *polygons, kf_text *notes, kf_error *error);
kf_status kf_stl_read(const char *file, kf_polygons *polygons, kf_text *notes, kf_error *error);
kf_status kf_ply_read(const char *file, kf_polygons *polygons, kf_text *notes, kf_error *error);
/* Reads glTF and GLB, through assimp (mesh_gltf.h). */
kf_status kf_gltf_read(const char *file, kf_polygons *polygons, kf_text *notes, kf_error *error);

/* Returns the file's ending with its dot, or "". */
const char *kf_mesh_ending(const char *file);

/* Reads a file, cuts its polygons and mends the mesh. Run it confined (base/util/confined.h). */
kf_status kf_mesh_import(const char *file, kf_mesh *mesh, kf_text *notes, kf_error *error);

/* ---- Text ---- */

/* Reads the number at the beginning of text, rounded to the nearest double, whatever the locale. *end is set
 * as by strtod. */
double kf_scan_number(const char *text, const char **end);

#endif
