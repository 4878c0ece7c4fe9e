/* Estimates by rules how much the tunnel's walls and its inflow raise the drag. */
#include <math.h>
#include <stdio.h>

#include "base/util/text.h"
#include "harness/cli/drag_interval.h"

static const double PI = 3.14159265358979323846, MOST_BLOCKAGE = 0.2, SOLID = 0.65, BLUFF = 2.5,
                    BLUFF_SPANNING = 0.96, ALIKE = 1e-3, MOST_INFLOW = 1.5;

/* The tunnel around the solid, along the axis of the stream. */
typedef struct tunnel {
    int axis;       /* axis of the stream */
    double section; /* cells^2, with the mirror image behind a road */
    double mirror;  /* 2: a road mirrors the body; otherwise 1 */
    double span; /* cells along which the body spans the tunnel, as a slice of an endless body does; or 0 */
} tunnel;

static bool moves_with_the_stream(const kf_scene *scene, int face, const double *stream) {
    double apart = 0.0, speed = 0.0;
    for (int a = 0; a < 3; a++) {
        apart += pow(scene->face_velocity[face][a] - stream[a], 2);
        speed += stream[a] * stream[a];
    }
    return apart <= ALIKE * ALIKE * speed;
}

static bool reaches(const kf_scene *scene, int face) {
    enum { NEAR = 2 };
    const int axis = face / 2;
    return face % 2 == 0 ? scene->solid_low[axis] <= -0.5 + NEAR
                         : scene->solid_high[axis] >= scene->nodes[axis] - 0.5 - NEAR;
}

bool kf_mask_reaches_sides(const kf_scene *scene) {
    for (int face = 0; face < KF_ZMIN && scene->mask != NULL; face++)
        if (scene->faces[face] != KF_PERIODIC && reaches(scene, face)) return true;
    return false;
}

double kf_solid_front(const kf_scene *scene) {
    const int inflow = kf_scene_fastest_of(scene, KF_INFLOW), axis = inflow < 0 ? -1 : inflow / 2;
    double front = 0.0;
    if (scene->mask == NULL) return scene->frontal_area;
    for (int across = 0; (axis == 0 || axis == 1) && across < scene->nodes[1 - axis]; across++) {
        bool shows = false;
        for (int along = 0; along < scene->nodes[axis]; along++) {
            const int x = axis == 0 ? along : across, y = axis == 0 ? across : along;
            shows = shows || scene->mask[(size_t)y * (size_t)scene->nodes[0] + (size_t)x] == KF_NODE_SOLID;
        }
        front += shows;
    }
    return front;
}

/* Checks the walls along one axis across the stream. Returns NULL, or the reason why no rule covers such
 * walls. */
static const char *look_across(const kf_scene *scene, int axis, const double *stream, tunnel *t) {
    const bool spanned = reaches(scene, 2 * axis) && reaches(scene, 2 * axis + 1);
    if (spanned) t->span = scene->nodes[axis];
    if (scene->mask != NULL && axis != 2 && (reaches(scene, 2 * axis) || reaches(scene, 2 * axis + 1)))
        return "solid nodes reach the sides of the domain, as the walls of a channel do";
    if (scene->faces[2 * axis] == KF_PERIODIC)
        return spanned ? NULL : "no published rule for a row of bodies (periodic faces)";
    for (int face = 2 * axis; face < 2 * axis + 2; face++) {
        if (scene->faces[face] == KF_FREE_SLIP) continue;
        if (scene->faces[face] != KF_WALL) return "no published rule for open sides";
        if (!moves_with_the_stream(scene, face, stream))
            return "no published rule for walls with boundary layers of their own";
        if (reaches(scene, face)) t->mirror = 2.0;
    }
    return NULL;
}

/* Finds the tunnel around the solid. Returns NULL, or the reason why no rule covers it. */
static const char *find_tunnel(const kf_scene *scene, tunnel *t) {
    *t = (tunnel){.axis = -1, .mirror = 1.0};
    const double *stream = NULL;
    if (scene->motion.moving) return "no published rule for a solid that moves";
    for (int face = 0; face < KF_FACES; face++) {
        if (scene->faces[face] != KF_INFLOW) continue;
        if (t->axis >= 0) return "no published rule for more than one inflow";
        t->axis = face / 2;
        stream = scene->face_velocity[face];
        if (scene->faces[face ^ 1] != KF_OUTFLOW) return "no published rule for such an outflow";
    }
    if (t->axis < 0 || scene->parabolic_inflow) return "no published rule without an even inflow";
    t->section = t->mirror;
    for (int axis = 0; axis < 3; axis++) {
        if (axis == t->axis) continue;
        if (stream[axis] != 0.0) return "no published rule for an inflow at an angle";
        const char *why = look_across(scene, axis, stream, t);
        if (why != NULL) return why;
        t->section *= scene->nodes[axis];
    }
    t->section *= t->mirror;
    return NULL;
}

/* Returns how much more drag a prescribed inflow causes than a stream that the body may slow there. `front`
 * has the mirror image behind a road. */
static double inflow_ratio(const kf_scene *scene, const tunnel *t, double front) {
    const double ahead = scene->faces[2 * t->axis] == KF_INFLOW
                             ? scene->solid_low[t->axis] + 0.5
                             : scene->nodes[t->axis] - 0.5 - scene->solid_high[t->axis];
    return 1.0 + (t->span > 0.0 ? front / (PI * t->span * ahead) : front / (2.0 * PI * ahead * ahead));
}

/* Applies the rules. The volume of the solid is approximated by that of an ellipsoid with its front and
 * length. */
kf_tunnel_effect kf_tunnel_effect_of(const kf_scene *scene, double front_drag) {
    kf_tunnel_effect effect = {.low = 1.0, .high = 1.0};
    tunnel t;
    const char *why = find_tunnel(scene, &t);
    const bool spanned = t.span > 0.0;
    const double front = t.mirror * kf_solid_front(scene), blockage = why == NULL ? front / t.section : 0.0;
    if (why == NULL && !(front > 0.0)) why = "the solid shows no front to the stream";
    if (why == NULL && blockage > MOST_BLOCKAGE) {
        (void)snprintf(effect.why, sizeof effect.why, "no published rule holds at a blockage of %.10g %%",
                       kf_percent(blockage));
        return effect;
    }
    const double inflow = why == NULL ? inflow_ratio(scene, &t, front) : 1.0;
    if (why == NULL && !(inflow > 0.0 && inflow < MOST_INFLOW)) why = "the solid is too near to the inflow";
    if (why != NULL) {
        kf_copy_text(effect.why, sizeof effect.why, why);
        return effect;
    }
    const double length = scene->solid_high[t.axis] - scene->solid_low[t.axis],
                 wake = 0.25 * front_drag * blockage,
                 solid = spanned ? PI * PI / 12.0 * blockage * blockage
                                 : SOLID * 2.0 / 3.0 * front * length / pow(t.section, 1.5),
                 attached = pow(1.0 + solid + wake, 2.0),
                 bluff = 1.0 + (spanned ? BLUFF_SPANNING : BLUFF) * front_drag * blockage,
                 beside = spanned ? 1.0 : pow(1.0 - blockage, -2.0);
    effect.known = true;
    effect.low = fmin(attached, bluff);
    effect.high = inflow * fmax(fmax(attached, bluff), beside);
    (void)snprintf(effect.why, sizeof effect.why,
                   "blockage %.10g %%: drag raised by %.10g %% (%s) to %.10g %% (walls and inflow)",
                   kf_percent(blockage), kf_percent(effect.low - 1.0),
                   spanned ? "Allen and Vincenti" : "Young and Squire", kf_percent(effect.high - 1.0));
    return effect;
}
