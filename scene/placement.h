/* Placing a bare mesh: which way is up, whence the wind blows, how large it is, and the wind tunnel around
 * it. What the user does not say is guessed from the mesh, with how sure the guess is. */
#ifndef KF_SCENE_PLACEMENT_H
#define KF_SCENE_PLACEMENT_H

#include <stdbool.h>

#include "base/util/json.h"
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

enum { KF_REFINE_NONE = -1, KF_REFINE_BODY = -2 };
/* "none", "body", "1" to "4": false when text is none of them. */
bool kf_refine_read(const char *text, int *refine);
/* Returns the value of a scene file's "refine", which the caller frees; NULL: the file has none. */
cJSON *kf_refine_json(int refine);

/* Placement of a mesh as the user gives it; zero: not said. */
typedef struct kf_placement {
    kf_heading wind; /* the way the wind blows, in the mesh's axes: -z for a car that looks along +z */
    kf_heading up;   /* in the mesh's axes */
    double length;   /* metres along the wind */
    double speed;    /* metres a second */
    double reynolds, viscosity; /* one of them; viscosity in metres^2 a second */
    kf_road road;
    double yaw; /* degrees that the solid is turned about the upright axis, counter-clockwise from above */
    bool yaw_given;
    double tunnel_yaw; /* of the solid for which the tunnel is made, where it is given; else its own */
    bool tunnel_yaw_given;
    double blockage; /* share of the tunnel's cross-section that the solid may take; 0: 0.05 */
    double cells;    /* along the solid, when no grid is given; 0: as many as make about a million nodes */
    int nodes[3];    /* of the grid, all 0: none is given */
    double samples_per_cell; /* 0: the usual */
    /* Nested grids around the solid: so many finer levels; KF_REFINE_BODY: as the cells along the solid say;
     * KF_REFINE_NONE; 0: not said. cells are those of the finest, nodes those of the coarsest. */
    int refine;
} kf_placement;

/* Returns whether anything is said. */
bool kf_placement_given(const kf_placement *placement);

/* Writes what is said as the section "placed" of a scene file that was made of a mesh; the caller frees
 * it. */
cJSON *kf_placement_to_json(const kf_placement *placement);
/* Reads that section again: unknown keys and values out of range are KF_BAD_INPUT. */
kf_status kf_placement_from_json(kf_json_place place, const cJSON *placed, kf_placement *placement,
                                 kf_error *error);
/* Changes a placement by what is said later, which goes before what was said: a Reynolds number takes the
 * place of a viscosity, and the other way round. The tunnel stays as wide as it was made, whatever the new
 * yaw. */
void kf_placement_change(kf_placement *placement, const kf_placement *said);

/* Returns whether the file is a mesh by its ending: what placement is for. */
bool kf_scene_is_mesh(const char *file);

/* Opens the scene of a mesh, placed so. Free with kf_scene_free. */
kf_status kf_scene_open_placed(const char *file_or_name, const kf_placement *placement,
                               const kf_scene_options *options, kf_scene **scene, kf_error *error);

/* The scene file (JSON, docs/scene-format.md) that stands for a mesh placed so, by its grid and samples too:
 * opened, it is the same scene to the bit. It names the mesh by its whole path. *notes: what was guessed, a
 * line each; NULL: not asked for. The caller frees both. A guess that is not sure is KF_BAD_INPUT. */
kf_status kf_scene_of_mesh(const char *mesh_file, const kf_placement *placement, cJSON **scene, char **notes,
                           kf_error *error);

#endif
