/* Removes triangles that lie on each other, and closes gaps at edges. Such gaps remain after triangles
 * without area are dropped. Programs also leave them when they cut an edge on one side only, or round a
 * corner twice. */
#include "scene/mesh_unite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/mesh_edges.h"
#include "scene/mesh_import.h"

/* ---- Triangles on the same corners ---- */

/* Sorts the corners of a triangle, and returns the direction in which it runs through them. */
static int sort_corners(const uint32_t *triangle, uint32_t sorted[3]) {
    int direction = 1;
    memcpy(sorted, triangle, 3 * sizeof *sorted);
    for (int pass = 0; pass < 3; pass++) {
        const int i = pass % 2;
        if (sorted[i] <= sorted[i + 1]) continue;
        const uint32_t larger = sorted[i];
        sorted[i] = sorted[i + 1];
        sorted[i + 1] = larger;
        direction = -direction;
    }
    return direction;
}

static void turn_triangle(uint32_t *triangle) {
    const uint32_t second = triangle[1];
    triangle[1] = triangle[2];
    triangle[2] = second;
}

/* Finds the slot of a triangle's corners among the triangles already kept. */
static size_t find_slot(const kf_mesh *mesh, const uint32_t *table, size_t slots, const uint32_t sorted[3]) {
    uint64_t hash = 0;
    for (int i = 0; i < 3; i++) {
        hash = (hash ^ sorted[i]) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 29;
    }
    for (size_t slot = hash & (slots - 1);; slot = (slot + 1) & (slots - 1)) {
        uint32_t other[3];
        if (table[slot] == UINT32_MAX) return slot;
        (void)sort_corners(mesh->triangles + 3 * (size_t)table[slot], other);
        if (memcmp(other, sorted, sizeof other) == 0) return slot;
    }
}

/* Unites the triangles with the same corners to one, with the winding of most of them (mesh_unite.h). */
size_t kf_mesh_unite(kf_mesh *mesh, int32_t *votes) {
    size_t slots = 16, kept = 0;
    while (slots < 2 * mesh->triangle_count)
        slots *= 2;
    uint32_t *table = kf_allocate(slots * sizeof *table);
    memset(table, 0xff, slots * sizeof *table);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        uint32_t sorted[3], other[3];
        const int direction = sort_corners(mesh->triangles + 3 * t, sorted);
        const size_t slot = find_slot(mesh, table, slots, sorted);
        const uint32_t first = table[slot];
        if (first == UINT32_MAX) {
            memmove(mesh->triangles + 3 * kept, mesh->triangles + 3 * t, sizeof sorted);
            votes[kept] = votes[t];
            table[slot] = (uint32_t)kept++;
        } else {
            votes[first] += direction * sort_corners(mesh->triangles + 3 * (size_t)first, other) * votes[t];
        }
    }
    free(table);
    for (size_t t = 0; t < kept; t++) {
        if (votes[t] < 0) turn_triangle(mesh->triangles + 3 * t);
        votes[t] = abs(votes[t]);
    }
    const size_t gone = mesh->triangle_count - kept;
    mesh->triangle_count = kept;
    return gone;
}

/* ---- Corners near open edges ---- */

/* A share of the mesh's extent, slightly more than the rounding of single precision. */
static const double ROUNDING = 0x1p-22;

/* The ends of open edges, sorted into cells. */
typedef struct loose {
    const kf_mesh *mesh;
    double near, cell, low[3];
    /* The step of a cell's number along y and z. */
    int64_t row, slab;
    size_t count;
    /* [count] The vertices in the order of their cells. */
    uint32_t *vertices;
    uint64_t *cells; /* [count] ascending */
} loose;

static const double *vertex_at(const kf_mesh *mesh, uint32_t vertex) {
    return mesh->vertices + 3 * (size_t)vertex;
}

static void mark_open(const kf_edges *edges, unsigned char *marked) {
    for (size_t e = 0; e < edges->slots; e++)
        if (edges->table[e].count == 1) marked[edges->table[e].low] = marked[edges->table[e].high] = 1;
}

static int64_t cell_along(const loose *l, int axis, double place) {
    return (int64_t)floor((place - l->low[axis]) / l->cell);
}

static int64_t cell_of(const loose *l, const double place[3]) {
    return cell_along(l, 0, place[0]) + l->row * cell_along(l, 1, place[1]) +
           l->slab * cell_along(l, 2, place[2]);
}

/* Sorts the ends into cells. There are about as many cells as ends. A margin of one cell keeps neighbours
 * inside the range of numbers. */
static loose gather_loose(const kf_mesh *mesh, const unsigned char *marked) {
    const kf_box box = kf_mesh_bounds(mesh);
    loose l = {.mesh = mesh};
    double extent = 0.0;
    for (size_t v = 0; v < mesh->vertex_count; v++)
        l.count += marked[v];
    for (int a = 0; a < 3; a++)
        extent = fmax(extent, box.high[a] - box.low[a]);
    l.near = ROUNDING * extent;
    l.cell = extent / fmin(1000.0, 1.0 + cbrt((double)l.count));
    for (int a = 0; a < 3; a++)
        l.low[a] = box.low[a] - 2.0 * l.cell;
    l.row = (int64_t)((box.high[0] - l.low[0]) / l.cell) + 4;
    l.slab = l.row * ((int64_t)((box.high[1] - l.low[1]) / l.cell) + 4);
    const int64_t cells = l.slab * ((int64_t)((box.high[2] - l.low[2]) / l.cell) + 4);
    uint64_t *keys = kf_allocate(l.count * sizeof *keys + 1);
    uint32_t *ends = kf_allocate(l.count * sizeof *ends + 1),
             *order = kf_allocate(l.count * sizeof *order + 1);
    for (size_t v = 0, n = 0; v < mesh->vertex_count; v++)
        if (marked[v]) {
            keys[n] = (uint64_t)cell_of(&l, vertex_at(mesh, (uint32_t)v));
            ends[n++] = (uint32_t)v;
        }
    kf_radix_order(l.count, keys, (uint64_t)cells, order);
    l.vertices = kf_allocate(l.count * sizeof *l.vertices + 1);
    l.cells = kf_allocate(l.count * sizeof *l.cells + 1);
    for (size_t n = 0; n < l.count; n++) {
        l.vertices[n] = ends[order[n]];
        l.cells[n] = keys[order[n]];
    }
    free(keys);
    free(ends);
    free(order);
    return l;
}

static void free_loose(loose *l) {
    free(l->vertices);
    free(l->cells);
}

/* Calls look for each end in the cells around a box from p to q. */
static void look_about(const loose *l, const double p[3], const double q[3],
                       void (*look)(void *context, uint32_t vertex), void *context) {
    int64_t from[3], to[3];
    for (int a = 0; a < 3; a++) {
        from[a] = cell_along(l, a, fmin(p[a], q[a]) - l->near);
        to[a] = cell_along(l, a, fmax(p[a], q[a]) + l->near);
    }
    for (int64_t z = from[2]; z <= to[2]; z++)
        for (int64_t y = from[1]; y <= to[1]; y++) {
            const int64_t row = l->row * y + l->slab * z, first = row + from[0], last = row + to[0];
            if (last < 0) continue;
            for (size_t n = kf_first_key(l->count, l->cells, first < 0 ? 0 : (uint64_t)first);
                 n < l->count && l->cells[n] <= (uint64_t)last; n++)
                look(context, l->vertices[n]);
        }
}

/* ---- Corners that lie a rounding apart ---- */

typedef struct welding {
    const loose *loose;
    /* [vertex_count] The first of the vertices that are united with this one. */
    uint32_t *joined;
    uint32_t vertex;
} welding;

static double distance(const double *p, const double *q) {
    return kf_length((const double[3]){p[0] - q[0], p[1] - q[1], p[2] - q[2]});
}

static void weld_pair(void *context, uint32_t other) {
    welding *w = context;
    const kf_mesh *mesh = w->loose->mesh;
    if (other < w->joined[w->vertex] && w->joined[other] == other &&
        distance(vertex_at(mesh, other), vertex_at(mesh, w->vertex)) <= w->loose->near)
        w->joined[w->vertex] = other;
}

static bool two_are_equal(const uint32_t *corner) {
    return corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0];
}

/* Joins corners within the rounding and removes triangles that collapse. Returns the number of joined
 * corners. */
static size_t weld(kf_mesh *mesh, const loose *l, const unsigned char *marked, int32_t *votes) {
    welding w = {.loose = l, .joined = kf_allocate(mesh->vertex_count * sizeof *w.joined)};
    size_t count = 0, kept = 0;
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        const double *place = mesh->vertices + 3 * v;
        w.joined[v] = w.vertex = (uint32_t)v;
        if (marked[v]) look_about(l, place, place, weld_pair, &w);
        count += w.joined[v] != v;
    }
    for (size_t t = 0; t < mesh->triangle_count && count > 0; t++) {
        uint32_t *to = mesh->triangles + 3 * kept;
        for (size_t i = 0; i < 3; i++)
            to[i] = w.joined[mesh->triangles[3 * t + i]];
        votes[kept] = votes[t];
        kept += !two_are_equal(to);
    }
    if (count > 0) mesh->triangle_count = kept;
    free(w.joined);
    return count;
}

/* ---- Corners on the edges of others ---- */

/* The largest number of corners on one edge. */
enum { ON_EDGE = 1024 };

typedef struct cutting {
    const loose *loose;
    /* The edge, and the third corner of its triangle. */
    uint32_t from, to, opposite;
    size_t count;
    struct {
        double along;
        uint32_t vertex;
    } found[ON_EDGE];
} cutting;

/* Notes a vertex that lies on the edge that is being cut, in order along it. */
static void find_on_edge(void *context, uint32_t vertex) {
    cutting *c = context;
    const kf_mesh *mesh = c->loose->mesh;
    if (vertex == c->from || vertex == c->to || vertex == c->opposite || c->count == ON_EDGE) return;
    const double *p = vertex_at(mesh, c->from), *q = vertex_at(mesh, c->to), *at = vertex_at(mesh, vertex);
    const double edge[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]},
                 arm[3] = {at[0] - p[0], at[1] - p[1], at[2] - p[2]};
    const double length = kf_length(edge), along = kf_dot(arm, edge) / length;
    if (!(along > c->loose->near && along < length - c->loose->near)) return;
    double off[3];
    for (int a = 0; a < 3; a++)
        off[a] = arm[a] - along / length * edge[a];
    if (kf_length(off) > c->loose->near) return;
    size_t i = c->count;
    for (size_t k = 0; k < c->count; k++)
        /* The neighbouring piece of the edge has found this vertex before. */
        if (c->found[k].vertex == vertex) return;
    while (i > 0 && c->found[i - 1].along > along)
        i--;
    memmove(&c->found[i + 1], &c->found[i], (c->count - i) * sizeof c->found[0]);
    c->found[i].along = along;
    c->found[i].vertex = vertex;
    c->count++;
}

/* Finds the corners on a triangle's side, in its direction. It searches piece by piece; no piece is longer
 * than a cell. */
static void find_on_side(cutting *c, const kf_mesh *mesh, size_t triangle, size_t side) {
    c->count = 0;
    kf_side(mesh, triangle, side, &c->from, &c->to);
    c->opposite = mesh->triangles[3 * triangle + (side + 2) % 3];
    const double *p = vertex_at(mesh, c->from), *q = vertex_at(mesh, c->to);
    const int pieces = (int)ceil(distance(p, q) / c->loose->cell);
    for (int piece = 0; piece < pieces; piece++) {
        double begin[3], end[3];
        for (int a = 0; a < 3; a++) {
            begin[a] = p[a] + (q[a] - p[a]) * piece / pieces;
            end[a] = p[a] + (q[a] - p[a]) * (piece + 1) / pieces;
        }
        look_about(c->loose, begin, end, find_on_edge, c);
    }
}

/* Appends the triangle, cut at the corners that lie on its open edges. Returns the number of those corners.
 */
static size_t cut_triangle(const kf_mesh *mesh, const kf_edges *edges, size_t triangle, cutting *c,
                           kf_polygons *outline, kf_mesh_builder *builder) {
    size_t count = 0;
    outline->corner_count = 0;
    for (size_t side = 0; side < 3; side++) {
        kf_polygons_corner(outline, mesh->triangles[3 * triangle + side]);
        if (kf_edge_at(edges, mesh, triangle, side)->count != 1) continue;
        find_on_side(c, mesh, triangle, side);
        for (size_t i = 0; i < c->count; i++)
            kf_polygons_corner(outline, c->found[i].vertex);
        count += c->count;
    }
    (void)kf_polygon_cut(builder, outline->corners, outline->corner_count);
    return count;
}

/* Cuts triangles at vertices within their edges, so that neighbours share whole edges. Returns the number of
 * cuts. */
static size_t cut_edges(kf_mesh *mesh, const kf_edges *edges, const loose *l, int32_t **votes) {
    cutting *c = kf_allocate(sizeof *c);
    kf_mesh_builder builder = {.mesh = {.vertex_count = mesh->vertex_count, .vertices = mesh->vertices}};
    kf_polygons outline = {.coarsest = 0.0};
    int32_t *grown = NULL;
    size_t count = 0, have = 0, capacity = 0;
    c->loose = l;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        count += cut_triangle(mesh, edges, t, c, &outline, &builder);
        for (; have < builder.mesh.triangle_count; have++) {
            if (have == capacity) grown = kf_grow(grown, have, &capacity, sizeof *grown);
            grown[have] = (*votes)[t];
        }
    }
    free(c);
    free(mesh->triangles);
    free(*votes);
    mesh->triangles = builder.mesh.triangles;
    mesh->triangle_count = builder.mesh.triangle_count;
    *votes = grown;
    kf_polygons_free(&outline);
    return count;
}

/* Finds the edges of the mesh and the ends of the open ones. Returns false when no edge is open. */
static bool find_loose(const kf_mesh *mesh, kf_edges *edges, loose *l, unsigned char *marked) {
    memset(marked, 0, mesh->vertex_count);
    *edges = kf_edges_of(mesh, mesh->triangle_count);
    mark_open(edges, marked);
    if (memchr(marked, 1, mesh->vertex_count) == NULL) {
        kf_edges_free(edges);
        return false;
    }
    *l = gather_loose(mesh, marked);
    return true;
}

/* Closes narrow gaps of a surface. Joins vertices that differ by rounding, then cuts edges at vertices that
 * lie on them. Returns the number of changes. */
size_t kf_mesh_stitch(kf_mesh *mesh, int32_t **votes) {
    unsigned char *marked = kf_allocate(mesh->vertex_count + 1);
    kf_edges edges;
    loose l;
    size_t count = 0;
    if (find_loose(mesh, &edges, &l, marked)) {
        count = weld(mesh, &l, marked, *votes);
        kf_edges_free(&edges);
        free_loose(&l);
    }
    if (count > 0) (void)kf_mesh_unite(mesh, *votes);
    if (find_loose(mesh, &edges, &l, marked)) {
        count += cut_edges(mesh, &edges, &l, votes);
        kf_edges_free(&edges);
        free_loose(&l);
    }
    free(marked);
    return count;
}
