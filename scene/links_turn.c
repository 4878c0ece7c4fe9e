/* Finds whether a moving solid by links occupies the same space at all times, as a cylinder that turns about
 * its axis does. Its links are then those of a solid at rest. The device finds the links of other solids anew
 * in each step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/internal.h"

enum { AZIMUTHS = 32, FINENESS = 2 };
static const double OFF = 0.1, OFF_OF_RADIUS = 0.005, TURN = 6.283185307179586;
/* A surface covers at most this share of a periodic axis. The nearest image of a place is then the only one
 * at which the solid can be. */
static const double FARTHEST_OF_DOMAIN = 0.475;

/* Which parts of the plane of height and distance from the axis a surface fills. Each of several azimuths has
 * a bit. */
typedef struct profile {
    const kf_mesh *mesh;
    const kf_motion *motion;
    /* Together with the axis these are three unit vectors at right angles. */
    double aside[3], beside[3];
    double lowest, spacing;
    int heights, distances;
    uint32_t *seen; /* [distances][heights] */
} profile;

/* Finds a vertex's height along the axis, and its position in the plane across the axis. */
static void find_place(const profile *p, size_t vertex, double *height, double across[2]) {
    double arm[3];
    for (int a = 0; a < 3; a++)
        arm[a] = p->mesh->vertices[3 * vertex + (size_t)a] - p->motion->center[a];
    *height = kf_dot(arm, p->motion->axis);
    across[0] = kf_dot(arm, p->aside);
    across[1] = kf_dot(arm, p->beside);
}

/* Makes the grid over all vertices. Its spacing is a fraction of the allowed deviation of the surface. */
static void lay_out(profile *p) {
    const double *axis = p->motion->axis;
    const int least = fabs(axis[0]) < fabs(axis[1]) ? (fabs(axis[0]) < fabs(axis[2]) ? 0 : 2)
                                                    : (fabs(axis[1]) < fabs(axis[2]) ? 1 : 2);
    double unit[3] = {0.0, 0.0, 0.0}, highest = -HUGE_VAL, farthest = 0.0;
    unit[least] = 1.0;
    kf_cross(axis, unit, p->aside);
    kf_normalise(p->aside);
    kf_cross(axis, p->aside, p->beside);
    p->lowest = HUGE_VAL;
    for (size_t v = 0; v < p->mesh->vertex_count; v++) {
        double height, across[2];
        find_place(p, v, &height, across);
        p->lowest = fmin(p->lowest, height);
        highest = fmax(highest, height);
        farthest = fmax(farthest, hypot(across[0], across[1]));
    }
    p->spacing = fmax(OFF, OFF_OF_RADIUS * farthest) / FINENESS;
    p->heights = (int)((highest - p->lowest) / p->spacing) + 1;
    p->distances = (int)(farthest / p->spacing) + 1;
    p->seen = kf_allocate_zeroed((size_t)p->heights * (size_t)p->distances, sizeof *p->seen);
}

/* Marks the grid's places near (height, distance). */
static void mark(profile *p, double height, double distance, uint32_t bit) {
    const int h = (int)((height - p->lowest) / p->spacing), d = (int)(distance / p->spacing);
    for (int y = d - FINENESS; y <= d + FINENESS; y++)
        for (int x = h - FINENESS; x <= h + FINENESS; x++)
            if (x >= 0 && y >= 0 && x < p->heights && y < p->distances)
                p->seen[(size_t)y * (size_t)p->heights + (size_t)x] |= bit;
}

/* Marks the line at which the half plane of an azimuth cuts a triangle. */
static void cut_triangle(profile *p, size_t triangle, int azimuth) {
    const double angle = TURN * (azimuth + 0.371) / AZIMUTHS, c = cos(angle), s = sin(angle);
    double height[3], out[3], off[3], ends[2][2];
    int found = 0;
    for (int i = 0; i < 3; i++) {
        double across[2];
        find_place(p, p->mesh->triangles[3 * triangle + (size_t)i], &height[i], across);
        out[i] = c * across[0] + s * across[1];
        off[i] = c * across[1] - s * across[0];
    }
    for (int i = 0; i < 3 && found < 2; i++) {
        const int j = (i + 1) % 3;
        if ((off[i] < 0.0) == (off[j] < 0.0)) continue;
        const double part = off[i] / (off[i] - off[j]);
        ends[found][0] = height[i] + part * (height[j] - height[i]);
        ends[found++][1] = out[i] + part * (out[j] - out[i]);
    }
    if (found < 2) return;
    const double along = ends[1][0] - ends[0][0], across = ends[1][1] - ends[0][1];
    const int steps = (int)(hypot(along, across) / p->spacing) + 1;
    for (int k = 0; k <= steps; k++) {
        const double distance = ends[0][1] + across * k / steps;
        if (distance >= 0.0) mark(p, ends[0][0] + along * k / steps, distance, 1U << azimuth);
    }
}

/* Returns whether the surface occupies a point of a triangle at all azimuths. */
static bool is_round_at(const profile *p, size_t triangle, const double share[3]) {
    double height = 0.0, across[2] = {0.0, 0.0};
    for (int i = 0; i < 3; i++) {
        double h, place[2];
        find_place(p, p->mesh->triangles[3 * triangle + (size_t)i], &h, place);
        height += share[i] * h;
        across[0] += share[i] * place[0];
        across[1] += share[i] * place[1];
    }
    const int x = (int)((height - p->lowest) / p->spacing),
              y = (int)(hypot(across[0], across[1]) / p->spacing);
    return p->seen[(size_t)y * (size_t)p->heights + (size_t)x] == UINT32_MAX;
}

/* Returns whether the turned mesh fills the same space. Cuts the surface at all azimuths, and tests points of
 * each triangle at every azimuth. */
bool kf_scene_turns_in_place(const kf_mesh *mesh, const kf_motion *motion) {
    enum { PLACES = 7 };
    static const double shares[PLACES][3] = {{1, 0, 0},
                                             {0, 1, 0},
                                             {0, 0, 1},
                                             {0.5, 0.5, 0},
                                             {0, 0.5, 0.5},
                                             {0.5, 0, 0.5},
                                             {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0}};
    profile p = {.mesh = mesh, .motion = motion};
    bool round = true;
    lay_out(&p);
    for (size_t t = 0; t < mesh->triangle_count; t++)
        for (int azimuth = 0; azimuth < AZIMUTHS; azimuth++)
            cut_triangle(&p, t, azimuth);
    for (size_t t = 0; round && t < mesh->triangle_count; t++)
        for (int i = 0; round && i < PLACES; i++)
            round = is_round_at(&p, t, shares[i]);
    free(p.seen);
    return round;
}

/* Returns whether the motion moves a solid along itself. Its mesh is then longer than the domain along this
 * periodic axis, and the solid does not turn away from the axis. */
static bool reaches_through(const kf_scene *scene, int axis) {
    const kf_motion *motion = &scene->motion;
    const double ends = 0.5 * scene->nodes[axis] + 2.0;
    return (motion->angular_speed == 0.0 || fabs(motion->axis[axis]) == 1.0) &&
           motion->center[axis] - scene->solid_low[axis] > ends &&
           scene->solid_high[axis] - motion->center[axis] > ends;
}

void kf_scene_moving_reach(const kf_scene *scene, double below[3], double above[3]) {
    for (int a = 0; a < 3; a++)
        below[a] = above[a] = 0.0;
    for (size_t v = 0; v < scene->mesh.vertex_count; v++) {
        double low[3], high[3];
        (void)kf_motion_reach(&scene->motion, scene->mesh.vertices + 3 * v, low, high);
        for (int a = 0; a < 3; a++) {
            below[a] = fmax(below[a], -low[a]);
            above[a] = fmax(above[a], high[a]);
        }
    }
    for (int a = 0; a < 3; a++)
        if (reaches_through(scene, a)) below[a] = above[a] = 0.5 * scene->nodes[a];
}

/* Refuses a surface that leaves its place when the sides of its mesh, or the nearest image, are not unique.
 */
static kf_status check_leaving(const kf_scene *scene, kf_error *error) {
    double below[3], above[3];
    if (scene->open_edges > 0 || scene->mesh.sheet_count > 0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: solid.motion: by \"links\" a mesh with holes or sheets may turn only if its "
            "surface stays in place, as that of a cylinder about its axis; repair the mesh, or use "
            "\"immersed\"",
            scene->source);
    kf_scene_moving_reach(scene, below, above);
    for (int a = 0; a < 3; a++) {
        const double reach = fmax(below[a], above[a]);
        if (scene->faces[2 * a] != KF_PERIODIC || reaches_through(scene, a) ||
            reach <= FARTHEST_OF_DOMAIN * scene->nodes[a])
            continue;
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: solid.motion: the solid reaches %.4g cells from motion.center along %c, which is "
            "periodic and has %d: by \"links\" at most %g of it may be; make the domain longer, or "
            "use \"immersed\"",
            scene->source, reach, "xyz"[a], scene -> nodes[a], FARTHEST_OF_DOMAIN);
    }
    return KF_OK;
}

/* Refuses motions that links cannot follow, and notes whether the surface leaves its place. */
kf_status kf_scene_check_moving_links(kf_scene *scene, kf_error *error) {
    const kf_motion *motion = &scene->motion;
    scene->links.leaves = false;
    if (!motion->moving) return KF_OK;
    if (motion->free)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: solid.motion.free: by \"links\" a solid moves only as prescribed; use "
                       "\"immersed\"",
                       scene->source);
    if (scene->wall_law)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: solid.motion: the law of the wall acts on a solid at rest only; remove "
                       "model.wall, or the motion",
                       scene->source);
    scene->links.leaves = kf_length(motion->velocity) > 0.0 || !kf_scene_turns_in_place(&scene->mesh, motion);
    return scene->links.leaves ? check_leaving(scene, error) : KF_OK;
}

kf_status kf_scene_check_moving_thickness(const kf_scene *scene, kf_error *error) {
    /* THINNEST is the length of the longest link: a link that crosses a thicker part has a node in it.
     * OF_SURFACE is more than rounded edges make. */
    static const double THINNEST = 1.75, OF_SURFACE = 0.05;
    kf_thin parts, gaps;
    if (!scene->links.leaves) return KF_OK;
    kf_scene_thinness(scene, THINNEST, &parts, &gaps);
    if (parts.share <= OF_SURFACE) return KF_OK;
    return kf_fail(
        error, KF_BAD_INPUT,
        "%s: solid.motion: %.2g %% of the solid's surface are parts thinner than %g cells (most: %.2g), "
        "and by \"links\" fluid would pass through them when they move: make the grid finer, or use "
        "\"immersed\"",
        scene->source, 100.0 * parts.share, THINNEST, parts.width);
}
