/* The two parts of reading glTF: the file's claims are checked, then the library reads it. */
#ifndef KF_SCENE_MESH_GLTF_H
#define KF_SCENE_MESH_GLTF_H

#include "scene/mesh_import.h"

/* Checks a glTF or GLB file before the library reads it: sizes that exceed the file or the files that it
 * names, and versions or extensions that kftune does not read. KF_BAD_INPUT with the reason. */
kf_status kf_gltf_check(const char *file, kf_text *notes, kf_error *error);

/* Decodes %20 and the like in a URI, in place. %00 stays as it is. */
void kf_gltf_decode(char *address);

#endif
