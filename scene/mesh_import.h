/* The parts of kf_mesh_read. */
#ifndef KF_SCENE_MESH_IMPORT_H
#define KF_SCENE_MESH_IMPORT_H

#include "base/util/text.h"
#include "scene/scene.h"

/* The file's ending with its dot, or "". */
const char *kf_mesh_ending(const char *file);

/* Holds what a PLY, glTF or GLB file of so many bytes claims to contain against its size, and that of the
 * files it names: an element takes at least a byte. KF_BAD_INPUT with the claim. */
kf_status kf_mesh_check_claims(const char *file, size_t bytes, kf_error *error);

/* Reads the file through assimp; to be run confined (base/util/confined.h). */
kf_status kf_mesh_import(const char *file, kf_mesh *mesh, kf_text *notes, kf_error *error);

#endif
