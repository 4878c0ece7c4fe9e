/* Placing a bare mesh: which way is up, whence the wind blows, how large it is, and the wind tunnel around
 * it. What the user does not say is guessed from the mesh, with how sure the guess is. */
#ifndef KF_SCENE_PLACEMENT_H
#define KF_SCENE_PLACEMENT_H

#include <stdbool.h>

#include "base/util/file.h"
#include "base/util/status.h"
#include "scene/scene.h"

/* An axis of the mesh with a sign: sign 0 means not given. */
typedef struct kf_heading {
    int axis; /* 0 x, 1 y, 2 z */
    int sign; /* +1, -1; 0: none */
} kf_heading;

/* "x", "+x", "-z": false when text is none of them. */
bool kf_heading_read(const char *text, kf_heading *heading);
/* "+x" to "-z". */
const char *kf_heading_name(kf_heading heading);

typedef enum kf_road { KF_ROAD_GUESS, KF_ROAD_YES, KF_ROAD_NO } kf_road;

/* What the user says about a mesh; zero: not said. */
typedef struct kf_placement {
    kf_heading wind; /* the way the wind blows, in the mesh's axes: -z for a car that looks along +z */
    kf_heading up;   /* in the mesh's axes */
    double length;   /* metres along the wind */
    double speed;    /* metres a second */
    double reynolds, viscosity; /* one of them; viscosity in metres^2 a second */
    kf_road road;
    double yaw; /* degrees that the solid is turned about the upright axis, counter-clockwise from above */
    double blockage; /* share of the tunnel's cross-section that the solid may take; 0: 0.05 */
    double cells;    /* along the solid, when no grid is given; 0: as many as make about a million nodes */
} kf_placement;

/* Whether anything is said. */
bool kf_placement_given(const kf_placement *placement);

/* Whether the file is a mesh by its ending: what placement is for. */
bool kf_scene_is_mesh(const char *file);

/* kf_scene_open of a mesh, placed so. Free with kf_scene_free. */
kf_status kf_scene_open_placed(const char *file_or_name, const kf_placement *placement,
                               const kf_scene_options *options, kf_scene **scene, kf_error *error);

/* Writes the scene file (JSON, docs/scene-format.md) that stands for a mesh placed so: opened, it is the same
 * scene to the bit. nodes all 0: no grid is given; samples_per_cell 0: the usual. *notes: what was guessed, a
 * line each; NULL: not asked for; the caller frees it. A guess that is not sure is KF_BAD_INPUT, and so is a
 * scene file that is there and says something else. */
kf_status kf_scene_write_placed(const char *mesh_file, const kf_placement *placement, const int nodes[3],
                                double samples_per_cell, const char *scene_file, char **notes,
                                kf_error *error);
/* The same, but a file that says something else is left alone: scene_file, which ends in .scene.json, becomes
 * the name with the least number from 2 on ("car-2.scene.json") that is free or says the same. */
kf_status kf_scene_write_numbered(const char *mesh_file, const kf_placement *placement, const int nodes[3],
                                  double samples_per_cell, char scene_file[KF_PATH], char **notes,
                                  kf_error *error);

#endif
