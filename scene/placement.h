/* Places a bare mesh: which way is up, where the wind comes from, how large it is, and the wind tunnel around
 * it. What the user does not give is guessed from the mesh, with a measure of how sure the guess is. */
#ifndef KF_SCENE_PLACEMENT_H
#define KF_SCENE_PLACEMENT_H

#include <stdbool.h>

#include "base/util/json.h"
#include "base/util/status.h"
#include "scene/scene.h"

/* An axis of the mesh and a direction along it. */
typedef struct kf_heading {
    int axis; /* 0 x, 1 y, 2 z */
    int sign; /* +1, -1; 0: it is not given */
} kf_heading;

/* Reads "x", "+x", "-z". False when text is none of these. */
bool kf_heading_read(const char *text, kf_heading *heading);
/* Returns "+x" to "-z". */
const char *kf_heading_name(kf_heading heading);

typedef enum kf_road { KF_ROAD_GUESS, KF_ROAD_YES, KF_ROAD_NO } kf_road;

enum { KF_REFINE_NONE = -1, KF_REFINE_BODY = -2 };
/* Reads "none", "body", "1" to "4". False when text is none of these. */
bool kf_refine_read(const char *text, int *refine);
/* Returns the value for the key "refine" of a scene file, which the caller frees. NULL: the file gets no such
 * key. */
cJSON *kf_refine_json(int refine);

/* The user's options for the placement of a mesh. Zero: not given. */
typedef struct kf_placement {
    kf_heading wind; /* direction in which the wind blows, in the mesh's axes: -z for a car that faces +z */
    kf_heading up;   /* in the mesh's axes */
    double length;   /* metres along the wind */
    double speed;    /* metres a second */
    double reynolds, viscosity; /* at most one is given; viscosity in metres^2 a second */
    kf_road road;
    /* Degrees by which the solid is turned about the upright axis, counter-clockwise from above. */
    double yaw;
    bool yaw_given;
    double tunnel_yaw; /* the yaw for which the tunnel is made; if it is not given, the solid's yaw */
    bool tunnel_yaw_given;
    double blockage; /* largest share of the tunnel's cross-section that the solid may take; 0: 0.05 */
    /* Along the solid, if no grid is given; 0: so many that the grid has about a million nodes. */
    double cells;
    int nodes[3];            /* of the grid; all 0: none is given */
    double samples_per_cell; /* 0: the default */
    /* Nested grids around the solid: the number of finer levels. KF_REFINE_BODY: as many as the cells along
     * the solid need; KF_REFINE_NONE: none; 0: not given. `cells` then counts cells of the finest level,
     * `nodes` those of the coarsest. */
    int refine;
} kf_placement;

/* Returns whether the user says anything. */
bool kf_placement_given(const kf_placement *placement);

/* Writes the placement as the section "placed" of a scene file that is made from a mesh. The caller frees it
 * with cJSON_Delete. */
cJSON *kf_placement_to_json(const kf_placement *placement);
/* Reads the section "placed". Unknown keys and values out of range are KF_BAD_INPUT. */
kf_status kf_placement_from_json(kf_json_place place, const cJSON *placed, kf_placement *placement,
                                 kf_error *error);
/* Changes a placement by later options, which override earlier ones. A Reynolds number replaces a viscosity,
 * and a viscosity a Reynolds number. The tunnel keeps its width whatever the new yaw. */
void kf_placement_change(kf_placement *placement, const kf_placement *said);

/* Returns whether the file's ending is that of a mesh. */
bool kf_scene_is_mesh(const char *file);

/* Opens the scene of a mesh with this placement. Free it with kf_scene_free. */
kf_status kf_scene_open_placed(const char *file_or_name, const kf_placement *placement,
                               const kf_scene_options *options, kf_scene **scene, kf_error *error);

/* Makes the scene file (JSON, docs/scene-format.md) of a mesh with this placement. When it is opened it gives
 * the same scene bit for bit, with the same grid and samples. It names the mesh by its absolute path. *notes:
 * a line for each guess; notes NULL: not wanted. The caller frees both. An uncertain guess is
 * KF_BAD_INPUT. */
kf_status kf_scene_of_mesh(const char *mesh_file, const kf_placement *placement, cJSON **scene, char **notes,
                           kf_error *error);

#endif
