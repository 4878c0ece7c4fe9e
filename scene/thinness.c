/* Measures how thin the parts of a solid are, and the gaps beside it. From points spread over the surface,
 * one line goes inwards to the opposite side. Another goes outwards to the next surface that faces it. Both
 * end at the limit. Triangles are found by the cubes that they pass through. A cube is about as large as two
 * triangles, and at most as large as the limit. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/internal.h"

enum { MOST_POINTS = 4000, LEAST_POINTS = 100, MOST_TESTS = 100000000 };
static const size_t MOST_ENTRIES = (size_t)1 << 25;
/* Surfaces face each other when they differ by less than 45 degrees. Surfaces closer than a quarter of a cell
 * touch. */
static const double FACING = 0.7, TOUCHING = 0.25;

typedef struct entry {
    uint64_t cube;
    uint32_t triangle;
} entry;

typedef struct cubes {
    const kf_mesh *mesh;
    double low[3], edge;
    uint64_t number[3];
    size_t count, capacity, fullest;
    /* Sorted by cube, ascending. */
    entry *entries;
} cubes;

/* The end of a line of sight. */
typedef struct sight {
    /* INFINITY: nothing within the limit. */
    double distance;
    /* The normal at the end, by the triangle's winding. */
    double normal[3];
} sight;

/* A point of the surface with a near opposite side. */
typedef struct found {
    double width, at[3];
} found;

static const double *corner_of(const kf_mesh *mesh, size_t triangle, size_t corner) {
    return mesh->vertices + 3 * (size_t)mesh->triangles[3 * triangle + corner];
}

static void cube_at(const cubes *c, const double place[3], int64_t cube[3]) {
    for (int a = 0; a < 3; a++)
        cube[a] = (int64_t)floor((place[a] - c->low[a]) / c->edge);
}

static uint64_t number_of(const cubes *c, const int64_t cube[3]) {
    return (uint64_t)cube[0] + c->number[0] * ((uint64_t)cube[1] + c->number[1] * (uint64_t)cube[2]);
}

static void add_entry(cubes *c, const int64_t cube[3], uint32_t triangle) {
    c->entries = kf_grow(c->entries, c->count, &c->capacity, sizeof *c->entries);
    c->entries[c->count++] = (entry){number_of(c, cube), triangle};
}

/* Adds a triangle to the cubes of its box that its plane crosses. */
static void enter_triangle(cubes *c, uint32_t triangle) {
    const double *p = corner_of(c->mesh, triangle, 0);
    double low[3] = {p[0], p[1], p[2]}, high[3] = {p[0], p[1], p[2]}, normal[3];
    int64_t first[3], last[3], cube[3];
    for (size_t i = 1; i < 3; i++)
        for (int a = 0; a < 3; a++) {
            low[a] = fmin(low[a], corner_of(c->mesh, triangle, i)[a]);
            high[a] = fmax(high[a], corner_of(c->mesh, triangle, i)[a]);
        }
    kf_mesh_normal(c->mesh, triangle, normal);
    cube_at(c, low, first);
    cube_at(c, high, last);
    for (cube[2] = first[2]; cube[2] <= last[2]; cube[2]++)
        for (cube[1] = first[1]; cube[1] <= last[1]; cube[1]++)
            for (cube[0] = first[0]; cube[0] <= last[0]; cube[0]++) {
                double from_plane = 0.0;
                for (int a = 0; a < 3; a++)
                    from_plane += normal[a] * (c->low[a] + c->edge * ((double)cube[a] + 0.5) - p[a]);
                /* Half of the cube's diagonal. */
                if (fabs(from_plane) <= 0.87 * c->edge) add_entry(c, cube, triangle);
            }
}

static int by_cube(const void *one, const void *other) {
    const entry *a = one, *b = other;
    return a->cube != b->cube ? (a->cube > b->cube) - (a->cube < b->cube)
                              : (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

/* Sorts the triangles into cubes, and finds the number in the fullest one, which limits the cost of a look.
 */
static cubes sort_triangles(const kf_mesh *mesh, double edge) {
    const kf_box box = kf_mesh_bounds(mesh);
    cubes c = {.mesh = mesh, .edge = edge};
    for (int a = 0; a < 3; a++) {
        c.low[a] = box.low[a] - edge;
        c.number[a] = (uint64_t)((box.high[a] - c.low[a]) / edge) + 2;
    }
    for (size_t t = 0; t < mesh->triangle_count && c.count < MOST_ENTRIES; t++)
        enter_triangle(&c, (uint32_t)t);
    if (c.count > 0) qsort(c.entries, c.count, sizeof *c.entries, by_cube);
    for (size_t e = 0, first = 0; e < c.count; e++) {
        if (c.entries[e].cube != c.entries[first].cube) first = e;
        if (e + 1 - first > c.fullest) c.fullest = e + 1 - first;
    }
    return c;
}

static size_t first_entry(const cubes *c, uint64_t cube) {
    size_t low = 0, high = c->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (c->entries[middle].cube < cube)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Finds the nearest triangle of a cube, except the one of the point. It replaces what was seen when it is
 * nearer. */
static void look_into(const cubes *c, const int64_t cube[3], uint32_t own, const double from[3],
                      const double direction[3], sight *seen) {
    for (int a = 0; a < 3; a++)
        if (cube[a] < 0 || cube[a] >= (int64_t)c->number[a]) return;
    const uint64_t number = number_of(c, cube);
    for (size_t e = first_entry(c, number); e < c->count && c->entries[e].cube == number; e++) {
        const uint32_t triangle = c->entries[e].triangle;
        if (triangle == own) continue;
        const double distance = kf_mesh_ray_meets(c->mesh, triangle, from, direction);
        if (distance < 1e-6 || distance >= seen->distance) continue;
        seen->distance = distance;
        kf_mesh_normal(c->mesh, triangle, seen->normal);
    }
}

/* Follows a line of sight from a point of a triangle, cube after cube up to the limit. It ignores that
 * triangle. */
static sight look(const cubes *c, uint32_t own, const double from[3], const double direction[3],
                  double limit) {
    sight seen = {.distance = INFINITY};
    int64_t cube[3];
    /* The distances at which the line enters the next cube along each axis. */
    double next[3], step[3], reached = 0.0;
    cube_at(c, from, cube);
    for (int a = 0; a < 3; a++) {
        const double place = (from[a] - c->low[a]) / c->edge - (double)cube[a];
        step[a] = direction[a] != 0.0 ? c->edge / fabs(direction[a]) : INFINITY;
        next[a] = direction[a] != 0.0 ? (direction[a] > 0.0 ? 1.0 - place : place) * step[a] : INFINITY;
    }
    while (reached <= limit && reached <= seen.distance) {
        look_into(c, cube, own, from, direction, &seen);
        int a = next[0] <= next[1] ? 0 : 1;
        if (next[2] < next[a]) a = 2;
        reached = next[a];
        next[a] += step[a];
        cube[a] += direction[a] > 0.0 ? 1 : -1;
    }
    if (seen.distance > limit) seen.distance = INFINITY;
    return seen;
}

/* Uses the distance to a wall of the domain in the direction of sight, when it is nearer. */
static double wall_ahead(const kf_scene *scene, const double from[3], const double direction[3],
                         double limit) {
    double nearest = limit;
    for (int face = 0; face < KF_FACES; face++) {
        const int a = face / 2, high = face % 2;
        const double ahead = high ? direction[a] : -direction[a];
        const double gap = high ? scene->nodes[a] - 0.5 - from[a] : from[a] + 0.5;
        if (scene->faces[face] != KF_WALL && scene->faces[face] != KF_FREE_SLIP) continue;
        if (ahead >= FACING && gap < nearest) nearest = gap / ahead;
    }
    return nearest;
}

/* Sorts by width, then by position. Widths are rounded, so that differences of rounding have no effect. */
static int by_width(const void *one, const void *other) {
    const found *a = one, *b = other;
    const double difference = round(1e6 * a->width) - round(1e6 * b->width);
    int order = (difference > 0.0) - (difference < 0.0);
    for (int axis = 0; axis < 3 && order == 0; axis++)
        order = (a->at[axis] > b->at[axis]) - (a->at[axis] < b->at[axis]);
    return order;
}

static kf_thin middle_of(found *all, size_t count, size_t points) {
    kf_thin thin = {0};
    if (count == 0) return thin;
    qsort(all, count, sizeof *all, by_width);
    thin.share = (double)count / (double)points;
    thin.width = all[count / 2].width;
    memcpy(thin.at, all[count / 2].at, sizeof thin.at);
    return thin;
}

typedef struct survey {
    const kf_scene *scene;
    cubes sorted;
    /* The sign `outwards` is 1, or -1 where triangles point inwards. */
    double limit, outwards;
    found *parts, *gaps;
    /* The member `points` counts the points tested. */
    size_t part_count, gap_count, points;
} survey;

/* Looks from a point of the surface to both sides: inwards to the opposite side, and outwards to the next
 * surface or wall that faces it. Anything nearer than TOUCHING touches and is not a gap. */
static void look_both_ways(survey *s, uint32_t triangle, const double at[3]) {
    double normal[3], inwards[3];
    kf_mesh_normal(s->sorted.mesh, triangle, normal);
    for (int a = 0; a < 3; a++) {
        normal[a] *= s->outwards;
        inwards[a] = -normal[a];
    }
    const sight inside = look(&s->sorted, triangle, at, inwards, s->limit),
                outside = look(&s->sorted, triangle, at, normal, s->limit);
    if (inside.distance < s->limit && s->outwards * kf_dot(inside.normal, inwards) > FACING)
        s->parts[s->part_count++] = (found){inside.distance, {at[0], at[1], at[2]}};
    double gap = wall_ahead(s->scene, at, normal, s->limit);
    if (outside.distance < gap)
        gap = s->outwards * kf_dot(outside.normal, normal) < -FACING ? outside.distance : s->limit;
    if (gap < s->limit && gap > TOUCHING) s->gaps[s->gap_count++] = (found){gap, {at[0], at[1], at[2]}};
}

/* Looks from points spread evenly over the area. Within triangles they follow a sequence of low discrepancy
 * (Roberts' R2). */
static void look_from_all(survey *s, size_t triangles) {
    const kf_mesh *mesh = s->sorted.mesh;
    double total = 0.0, before = 0.0;
    size_t n = 0;
    for (size_t t = 0; t < triangles; t++)
        total += kf_mesh_triangle_area(mesh, t);
    for (size_t t = 0; t < triangles; t++) {
        before += kf_mesh_triangle_area(mesh, t);
        for (; n < s->points && ((double)n + 0.5) * total / (double)s->points < before; n++) {
            double u = fmod(0.5 + 0.7548776662466927 * (double)n, 1.0),
                   v = fmod(0.5 + 0.5698402909980532 * (double)n, 1.0), at[3];
            if (u + v > 1.0) {
                u = 1.0 - u;
                v = 1.0 - v;
            }
            for (int a = 0; a < 3; a++)
                at[a] = (1.0 - u - v) * corner_of(mesh, t, 0)[a] + u * corner_of(mesh, t, 1)[a] +
                        v * corner_of(mesh, t, 2)[a];
            look_both_ways(s, (uint32_t)t, at);
        }
    }
}

/* Measures how thin the solid is, and the gaps beside it, from points over its surface. When many triangles
 * lie in one place, fewer points are used, which limits the time. A mesh without an inside is skipped. */
void kf_scene_thinness(const kf_scene *scene, double limit, kf_thin *parts, kf_thin *gaps) {
    const kf_mesh *mesh = &scene->mesh;
    *parts = *gaps = (kf_thin){0};
    kf_body body;
    if (mesh->triangle_count == 0 || scene->nodes[2] == 1) return;
    /* The mesh has no inside. */
    if (kf_mesh_body(mesh, false, &body) > 0) return;
    const double triangle = sqrt(kf_mesh_area(mesh) / (double)mesh->triangle_count);
    survey s = {.scene = scene, .limit = limit, .outwards = body.inwards ? -1.0 : 1.0};
    s.sorted = sort_triangles(mesh, fmin(limit, fmax(2.0 * triangle, limit / 32.0)));
    /* When many triangles lie in one place, fewer points are used. */
    const size_t affordable = MOST_TESTS / (2 * s.sorted.fullest + 1);
    s.points = affordable > MOST_POINTS ? MOST_POINTS : affordable < LEAST_POINTS ? LEAST_POINTS : affordable;
    s.parts = kf_allocate(s.points * sizeof *s.parts);
    s.gaps = kf_allocate(s.points * sizeof *s.gaps);
    if (s.sorted.count < MOST_ENTRIES) look_from_all(&s, mesh->triangle_count - mesh->sheet_count);
    *parts = middle_of(s.parts, s.part_count, s.points);
    *gaps = middle_of(s.gaps, s.gap_count, s.points);
    free(s.parts);
    free(s.gaps);
    free(s.sorted.entries);
}
