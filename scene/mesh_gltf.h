/* The two parts of reading glTF: what the file says is checked, then the library reads it. */
#ifndef KF_SCENE_MESH_GLTF_H
#define KF_SCENE_MESH_GLTF_H

#include "scene/mesh_import.h"

/* Holds what a glTF or GLB file says against what the library makes of it: claims larger than the file and
 * those that it names, versions and extensions that are not read. KF_BAD_INPUT with the reason. */
kf_status kf_gltf_check(const char *file, kf_text *notes, kf_error *error);

/* In place: what a URI writes as %20 and the like; a zero stays as it is written. */
void kf_gltf_decode(char *address);

#endif
