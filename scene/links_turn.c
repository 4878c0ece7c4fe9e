/* Whether a solid by links that turns stays where it is, as a cylinder about its axis does. Its links are
 * then those of a solid at rest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/internal.h"

enum { AZIMUTHS = 32, FINENESS = 2 };
static const double OFF = 0.1, OFF_OF_RADIUS = 0.005, TURN = 6.283185307179586;

/* What a surface fills of the plane of height along the axis and distance from it, seen from each of so many
 * azimuths, which are a bit each. */
typedef struct profile {
    const kf_mesh *mesh;
    const kf_motion *motion;
    double aside[3], beside[3]; /* with the axis three unit vectors at right angles */
    double lowest, spacing;
    int heights, distances;
    uint32_t *seen; /* [distances][heights] */
} profile;

/* Finds a vertex's height along the axis, and its place across it. */
static void find_place(const profile *p, size_t vertex, double *height, double across[2]) {
    double arm[3];
    for (int a = 0; a < 3; a++)
        arm[a] = p->mesh->vertices[3 * vertex + (size_t)a] - p->motion->center[a];
    *height = kf_dot(arm, p->motion->axis);
    across[0] = kf_dot(arm, p->aside);
    across[1] = kf_dot(arm, p->beside);
}

/* Lays the grid out over all vertices. Its spacing is a part of how far the surface may be off. */
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

/* Marks what the half plane at an azimuth cuts out of a triangle: a line between two places. */
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

/* Returns whether the surface is at a place of a triangle from wherever one looks. */
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

kf_status kf_scene_check_turning_links(const kf_scene *scene, kf_error *error) {
    const kf_motion *motion = &scene->motion;
    if (!motion->moving) return KF_OK;
    if (motion->free || kf_length(motion->velocity) > 0.0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: solid.motion: by \"links\" a solid may turn but not travel, as nodes would be "
                       "covered and uncovered; use \"immersed\", or let the fluid move instead",
                       scene->source);
    if (scene->wall_law)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: solid.motion: the law of the wall acts on a solid at rest only; remove "
                       "model.wall, or the motion",
                       scene->source);
    if (kf_scene_turns_in_place(&scene->mesh, motion)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: solid.motion: by \"links\" a solid may turn only if its surface stays in place, as "
                   "that of a cylinder about its axis; this one's leaves it by more than %g cells and %g %% "
                   "of its radius: use \"immersed\", or correct motion.axis and motion.center",
                   scene->source, OFF, 100.0 * OFF_OF_RADIUS);
}
