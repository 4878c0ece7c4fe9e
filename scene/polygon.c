/* Cuts polygons into triangles by clipping ears. An ear is a corner whose triangle contains nothing else of
 * the outline.
 *
 * The outline is projected on its own plane, whose normal is that of its area vector. An ear is cut off only
 * if no remaining edge passes through its inside. Ears without a corner on their new edge come first, so
 * corners within straight edges get triangles with an area. This also cuts an outline correctly that touches
 * itself, such as one with a hole and a bridge to it. An outline that crosses itself has no correct cut. The
 * difference of its areas with and without signs shows the error. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/mesh_import.h"

/* A fraction of the polygon's extent. Two points nearer than this are equal. */
static const double ROUNDING = 1e-12;

/* ---- Collecting ---- */

void kf_polygons_corner(kf_polygons *p, uint32_t vertex) {
    if (p->corner_count == p->corner_capacity)
        p->corners = kf_grow(p->corners, p->corner_count, &p->corner_capacity, sizeof *p->corners);
    p->corners[p->corner_count++] = vertex;
}

void kf_polygons_end(kf_polygons *p) {
    const size_t begin = p->count > 0 ? p->ends[p->count - 1] : 0;
    if (p->corner_count - begin < 3) {
        p->corner_count = begin;
        return;
    }
    if (p->count == p->capacity) p->ends = kf_grow(p->ends, p->count, &p->capacity, sizeof *p->ends);
    p->ends[p->count++] = p->corner_count;
}

void kf_polygons_single(kf_polygons *p, double value) {
    p->coarsest = fmax(p->coarsest, fabs(value) * 0x1p-23);
}

void kf_polygons_free(kf_polygons *p) {
    kf_mesh_free(&p->builder.mesh);
    free(p->corners);
    free(p->ends);
    memset(p, 0, sizeof *p);
}

/* ---- An outline in its plane ---- */

typedef struct corner {
    double x, y;
    uint32_t vertex;
    /* The neighbours in the remaining outline. */
    size_t before, after;
} corner;

typedef struct outline {
    kf_mesh_builder *builder;
    corner *at;
    size_t count; /* corners left */
    /* Points nearer than this are equal. */
    double near;
    /* The sum of the triangles' areas, with and without their signs. */
    double area, covered;
} outline;

static const double *place_of(const kf_mesh_builder *b, uint32_t vertex) {
    return b->mesh.vertices + 3 * (size_t)vertex;
}

static bool same_place(const kf_mesh_builder *b, uint32_t one, uint32_t other) {
    const double *p = place_of(b, one), *q = place_of(b, other);
    return one == other || (p[0] == q[0] && p[1] == q[1] && p[2] == q[2]);
}

/* Returns whether the corners repeat one round of this length. */
static bool repeats(const outline *o, size_t round) {
    for (size_t i = round; i < o->count; i++)
        if (!same_place(o->builder, o->at[i].vertex, o->at[i - round].vertex)) return false;
    return true;
}

/* Copies the corners. Leaves out those that repeat the previous one, and all rounds but the first. */
static void take_corners(outline *o, const uint32_t *corners, size_t count) {
    o->count = 0;
    for (size_t i = 0; i < count; i++)
        if (o->count == 0 || !same_place(o->builder, o->at[o->count - 1].vertex, corners[i]))
            o->at[o->count++].vertex = corners[i];
    while (o->count > 1 && same_place(o->builder, o->at[0].vertex, o->at[o->count - 1].vertex))
        o->count--;
    for (size_t round = 3; 2 * round <= o->count; round++)
        if (o->count % round == 0 && repeats(o, round)) o->count = round;
    for (size_t i = 0; i < o->count; i++) {
        o->at[i].before = (i + o->count - 1) % o->count;
        o->at[i].after = (i + 1) % o->count;
    }
}

/* Projects the corners on the plane, relative to the first one, so that outlines far from the origin lose no
 * digits. */
static void lay_flat(outline *o) {
    const double *origin = place_of(o->builder, o->at[0].vertex);
    double normal[3] = {0}, widest[3] = {0, 0, 1}, u[3] = {0}, v[3], extent = 0.0, width = 0.0;
    for (size_t i = 0; i < o->count; i++) {
        const double *p = place_of(o->builder, o->at[i].vertex),
                     *q = place_of(o->builder, o->at[o->at[i].after].vertex);
        double from[3], to[3], product[3];
        for (int a = 0; a < 3; a++) {
            from[a] = p[a] - origin[a];
            to[a] = q[a] - origin[a];
            extent = fmax(extent, fabs(from[a]));
        }
        kf_cross(from, to, product);
        for (int a = 0; a < 3; a++)
            normal[a] += product[a];
        if (kf_length(product) <= width) continue;
        width = kf_length(product);
        memcpy(widest, product, sizeof widest);
    }
    o->near = ROUNDING * extent;
    int least = 0;
    if (!(kf_length(normal) > ROUNDING * width)) /* The parts of the outline cancel. */
        memcpy(normal, widest, sizeof normal);
    kf_normalise(normal);
    for (int a = 1; a < 3; a++)
        if (fabs(normal[a]) < fabs(normal[least])) least = a;
    u[least] = 1.0;
    for (int a = 0; a < 3; a++)
        v[a] = u[a] - normal[least] * normal[a];
    kf_normalise(v);
    kf_cross(v, normal, u);
    for (size_t i = 0; i < o->count; i++) {
        const double *p = place_of(o->builder, o->at[i].vertex);
        const double arm[3] = {p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]};
        o->at[i].x = kf_dot(arm, u);
        o->at[i].y = kf_dot(arm, v);
    }
}

/* ---- Ears ---- */

/* Returns the distance of p to the left of the line from a to b. */
static double left_of(const corner *a, const corner *b, const corner *p) {
    const double x = b->x - a->x, y = b->y - a->y, length = hypot(x, y);
    return length > 0.0 ? (x * (p->y - a->y) - y * (p->x - a->x)) / length : 0.0;
}

/* Returns whether the edge from p to q passes through the inside of the triangle. */
static bool passes(const corner *const side[3], const corner *p, const corner *q, double near) {
    double from = 0.0, to = 1.0;
    for (int i = 0; i < 3; i++) {
        const double at_p = left_of(side[i], side[(i + 1) % 3], p) - near,
                     at_q = left_of(side[i], side[(i + 1) % 3], q) - near;
        if (at_p <= 0.0 && at_q <= 0.0) return false;
        if (at_p <= 0.0) from = fmax(from, at_p / (at_p - at_q));
        if (at_q <= 0.0) to = fmin(to, at_p / (at_p - at_q));
    }
    return from < to;
}

/* Returns whether p lies within the edge from a to b and not at its ends. */
static bool lies_on(const corner *a, const corner *b, const corner *p, double near) {
    const double x = b->x - a->x, y = b->y - a->y, length = hypot(x, y);
    if (fabs(left_of(a, b, p)) > near) return false;
    const double along = (x * (p->x - a->x) + y * (p->y - a->y)) / length;
    return along > near && along < length - near;
}

/* Returns whether the triangle of corner b and its neighbours may be cut off. */
static bool is_ear(const outline *o, size_t b, bool strict) {
    const corner *const side[3] = {&o->at[o->at[b].before], &o->at[b], &o->at[o->at[b].after]};
    /* The corner must lie to the right of the new edge. */
    if (!(left_of(side[0], side[2], side[1]) < -o->near)) return false;
    const double low_x = fmin(side[0]->x, fmin(side[1]->x, side[2]->x)) - o->near,
                 low_y = fmin(side[0]->y, fmin(side[1]->y, side[2]->y)) - o->near,
                 high_x = fmax(side[0]->x, fmax(side[1]->x, side[2]->x)) + o->near,
                 high_y = fmax(side[0]->y, fmax(side[1]->y, side[2]->y)) + o->near;
    for (size_t p = o->at[b].after; p != o->at[b].before; p = o->at[p].after) {
        const corner *from = &o->at[p], *to = &o->at[from->after];
        if ((from->x < low_x && to->x < low_x) || (from->x > high_x && to->x > high_x) ||
            (from->y < low_y && to->y < low_y) || (from->y > high_y && to->y > high_y))
            continue;
        if (passes(side, from, to, o->near)) return false;
        if (strict && lies_on(side[0], side[2], from, o->near)) return false;
    }
    return true;
}

static double area_at(const outline *o, size_t b) {
    const corner *a = &o->at[o->at[b].before], *m = &o->at[b], *c = &o->at[o->at[b].after];
    return 0.5 * ((m->x - a->x) * (c->y - a->y) - (m->y - a->y) * (c->x - a->x));
}

static void clip(outline *o, size_t b) {
    const size_t a = o->at[b].before, c = o->at[b].after;
    const double area = area_at(o, b);
    o->area += area;
    o->covered += fabs(area);
    kf_mesh_add_triangle(o->builder, o->at[a].vertex, o->at[b].vertex, o->at[c].vertex);
    o->at[a].after = c;
    o->at[c].before = a;
    o->count--;
}

/* Finds the first ear from start on. Returns false when there is none. */
static bool find_ear(const outline *o, size_t start, bool strict, size_t *found) {
    size_t b = start;
    for (size_t i = 0; i < o->count; i++, b = o->at[b].after)
        if (is_ear(o, b, strict)) {
            *found = b;
            return true;
        }
    return false;
}

/* Returns the smallest corner. It is used when no ear exists, because the outline crosses itself or has no
 * area left. */
static size_t smallest_corner(const outline *o, size_t start) {
    size_t best = start, b = start;
    for (size_t i = 0; i < o->count; i++, b = o->at[b].after)
        if (fabs(area_at(o, b)) < fabs(area_at(o, best))) best = b;
    return best;
}

/* Cuts off every other corner where possible, so that the triangles do not all meet at one corner. */
static void clip_all(outline *o) {
    size_t start = 1;
    while (o->count > 3) {
        size_t b = 0;
        if (!find_ear(o, start, true, &b) && !find_ear(o, start, false, &b)) b = smallest_corner(o, start);
        clip(o, b);
        start = o->at[o->at[b].after].after;
    }
    clip(o, start);
}

/* Cuts a quadrilateral along the first diagonal when that is valid, as most programs do. */
static bool cut_quad(outline *o) {
    for (size_t first = 1; first <= 2; first++) {
        if (!(area_at(o, first) > 0.0) || !(area_at(o, (first + 2) % 4) > 0.0)) continue;
        clip(o, first);
        clip(o, (first + 1) % 4);
        return true;
    }
    return false;
}

/* Cuts a polygon into triangles by clipping ears. Returns the difference of their area from the polygon's. */
double kf_polygon_cut(kf_mesh_builder *builder, const uint32_t *corners, size_t count) {
    if (count == 3) {
        kf_mesh_add_triangle(builder, corners[0], corners[1], corners[2]);
        return 0.0;
    }
    outline o = {.builder = builder, .at = kf_allocate(count * sizeof *o.at)};
    take_corners(&o, corners, count);
    if (o.count < 3) {
        /* It counts as a triangle without area. */
        kf_mesh_add_triangle(builder, corners[0], corners[1], corners[2]);
    } else {
        lay_flat(&o);
        if (o.count != 4 || !cut_quad(&o)) clip_all(&o);
    }
    free(o.at);
    return o.covered - fabs(o.area);
}
