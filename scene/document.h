/* Scenes as JSON documents: they are read, changed by the user's options, and written. Any system's scene
 * files are accepted, except where a mesh is placed. */
#ifndef KF_SCENE_DOCUMENT_H
#define KF_SCENE_DOCUMENT_H

#include <cjson/cJSON.h>

#include "base/util/text.h"
#include "scene/placement.h"

/* Reads a scene file, or a shipped scene by its name, or makes the scene of a mask's picture. File names in
 * it become absolute paths, so that the document means the same in any folder. The caller frees it with
 * cJSON_Delete. */
kf_status kf_scene_document_read(const char *file_or_name, cJSON **document, kf_error *error);

/* Changes the scene by the user's options, and everything that depends on them. A scene that was made from a
 * mesh (it has "placed") is placed again. Changes in the file stay unless an option overrides them; each
 * overridden one gets a line in notes. In other scenes of a flow, options can change speed (with that of
 * walls), Reynolds number or viscosity, and yaw; other options are KF_BAD_INPUT. file: for messages. */
kf_status kf_scene_document_change(const char *file, cJSON *document, const kf_placement *said,
                                   kf_text *notes, kf_error *error);

/* Replaces the scene's mesh by another one, with the same scale, rotation, position and tunnel. False: the
 * scene has no mesh file. */
bool kf_scene_document_swap_mesh(cJSON *document, const char *mesh_file);

/* Adds the options of the command line as the section "asked" (scenes of flows only), so that the document
 * opens as the scene that was run. */
void kf_scene_document_ask(cJSON *document, const kf_scene_options *options);

/* Adds the hash of the mesh file (solid.mesh_hash). If the file changes, the document is refused. */
kf_status kf_scene_document_pin(cJSON *document, kf_error *error);

/* Writes the document as NAME.scene.json among the scenes that kftune keeps for its user, in a folder named
 * after its content. So equal scenes have one file. *made (made may be NULL): there was none yet. */
kf_status kf_scene_document_keep(const cJSON *document, const char *name, char file[KF_PATH], bool *made,
                                 kf_error *error);
/* Removes a file of kf_scene_document_keep, because the scene turned out to be refused, and its folder if
 * that is then empty. */
void kf_scene_document_forget(const char *file);

/* Writes the document to the user's file; a mesh in the same folder is named without its path. An existing
 * file with another content is replaced only if kftune made it from a mesh and nobody has changed it;
 * otherwise KF_BAD_INPUT names the difference. *replaced: a file was replaced. */
kf_status kf_scene_document_write(const cJSON *document, const char *file, bool *replaced, kf_error *error);

/* Writes the first value in which two scenes differ, "flow.speed is 30 and 40"; empty if there is none.
 * Descriptions and placement are not compared. */
void kf_scene_document_difference(const cJSON *one, const cJSON *other, kf_text *text);

#endif
