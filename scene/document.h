/* Scenes as what their files say (JSON): read whole, changed by what is said of a placed mesh, and written.
 * Scene files of any system, as long as no mesh is placed. */
#ifndef KF_SCENE_DOCUMENT_H
#define KF_SCENE_DOCUMENT_H

#include <cjson/cJSON.h>

#include "base/util/text.h"
#include "scene/placement.h"

/* A scene file or a shipped scene's name; the files that it names are named by their whole paths then, so
 * that it means the same in any folder. The caller frees it. */
kf_status kf_scene_document_read(const char *file_or_name, cJSON **document, kf_error *error);

/* Changes the scene by what is said, and all that follows from it. One that was made of a mesh (it has
 * "placed") is placed anew: what was changed in it by hand stays where what is said does not touch it; else
 * a line in notes says what became of it. Of any other scene of a flow the speed (with that of its walls),
 * Reynolds number or viscosity, and yaw can be changed; what else is said is KF_BAD_INPUT. file: for
 * messages. */
kf_status kf_scene_document_change(const char *file, cJSON *document, const kf_placement *said,
                                   kf_text *notes, kf_error *error);

/* Puts another mesh in the place of the scene's own: scaled, turned and placed alike, in the same tunnel.
 * False: the scene has no mesh of a file. */
bool kf_scene_document_swap_mesh(cJSON *document, const char *mesh_file);

/* Adds what the command line says instead of the file (section "asked" of scenes of flows): so that it opens
 * as it was run. */
void kf_scene_document_ask(cJSON *document, const kf_scene_options *options);

/* Adds the hash of the mesh's file (solid.mesh_hash): opened with another mesh in its place it is refused. */
kf_status kf_scene_document_pin(cJSON *document, kf_error *error);

/* Writes it among the scenes that kftune keeps for its user, in a folder named after its content, as
 * NAME.scene.json. The same scene has the same file; *made (or NULL): there was none. */
kf_status kf_scene_document_keep(const cJSON *document, const char *name, char file[KF_PATH], bool *made,
                                 kf_error *error);
/* Removes such a file, which turned out to be refused, and its folder where that is empty then. */
void kf_scene_document_forget(const char *file);

/* Writes it where the user wants it; a mesh beside it by its name alone. A file that is there and says
 * something else is replaced when it is a scene that kftune made of a mesh and nobody changed, else
 * KF_BAD_INPUT with what differs. *replaced: whether one was. */
kf_status kf_scene_document_write(const cJSON *document, const char *file, bool *replaced, kf_error *error);

/* The first value in which two scenes differ, but for their descriptions and how they were placed:
 * "flow.speed is 30 and 40"; empty: none. */
void kf_scene_document_difference(const cJSON *one, const cJSON *other, kf_text *text);

#endif
