/* Computes volume, centre and inertia of the solid that a mesh encloses. The divergence theorem turns the
 * integrals into sums over tetrahedra between the triangles and a point. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/internal.h"

/* An edge in the direction of its triangle. Edges are sorted under the lower of their two vertices. */
typedef struct mesh_edge {
    uint32_t high;
    /* +1 when the edge runs towards the higher vertex. */
    int direction;
} mesh_edge;

static int by_end(const void *left, const void *right) {
    const mesh_edge *a = left, *b = right;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return b->direction - a->direction;
}

/* Finds the two vertices of edge e of a mesh. Returns whether the triangle goes from the lower to the higher
 * one. */
static bool find_ends(const kf_mesh *mesh, size_t e, uint32_t *low, uint32_t *high) {
    const uint32_t from = mesh->triangles[e], to = mesh->triangles[e % 3 == 2 ? e - 2 : e + 1];
    *low = from < to ? from : to;
    *high = from < to ? to : from;
    return from < to;
}

/* Counts the open edges under one vertex. At an open edge the triangles do not meet in pairs of opposite
 * directions. */
static size_t count_open(mesh_edge *edges, size_t count) {
    size_t open = 0;
    if (count > 1) qsort(edges, count, sizeof *edges, by_end);
    for (size_t first = 0, end; first < count; first = end) {
        int balance = 0;
        for (end = first; end < count && edges[end].high == edges[first].high; end++)
            balance += edges[end].direction;
        open += balance != 0;
    }
    return open;
}

/* Counts the open edges of a mesh. */
static size_t count_open_edges(const kf_mesh *mesh) {
    const size_t count = 3 * mesh->triangle_count;
    mesh_edge *edges = kf_allocate(count * sizeof *edges);
    /* The edges under vertex v begin at end[v]. Once all are entered, end[v] is where they end. */
    size_t *end = kf_allocate_zeroed(mesh->vertex_count + 1, sizeof *end), open = 0;
    uint32_t low, high;
    for (size_t e = 0; e < count; e++) {
        (void)find_ends(mesh, e, &low, &high);
        end[low + 1]++;
    }
    for (size_t v = 0; v < mesh->vertex_count; v++)
        end[v + 1] += end[v];
    for (size_t e = 0; e < count; e++) {
        const bool upwards = find_ends(mesh, e, &low, &high);
        edges[end[low]++] = (mesh_edge){high, upwards ? 1 : -1};
    }
    for (size_t v = 0, begin = 0; v < mesh->vertex_count; begin = end[v++])
        open += count_open(edges + begin, end[v] - begin);
    free(edges);
    free(end);
    return open;
}

/* Adds the moments of order 0, 1 and 2 of the tetrahedron between three corners and the origin. */
static void add_tetrahedron(const double corner[3][3], kf_body *body, double second[9]) {
    const double *p = corner[0], *q = corner[1], *r = corner[2];
    double product[3];
    kf_cross(q, r, product);
    const double volume = kf_dot(p, product) / 6.0;
    body->volume += volume;
    for (int i = 0; i < 3; i++) {
        body->center[i] += volume * (p[i] + q[i] + r[i]) / 4.0;
        for (int j = 0; j < 3; j++)
            second[3 * i + j] +=
                volume *
                ((p[i] + q[i] + r[i]) * (p[j] + q[j] + r[j]) + p[i] * p[j] + q[i] * q[j] + r[i] * r[j]) /
                20.0;
    }
}

/* Copies the triangles that enclose a volume. Sheets are left out; they come before the cavities in the mesh.
 */
static kf_mesh closing(const kf_mesh *mesh, bool cavities) {
    const size_t outer = mesh->triangle_count - mesh->sheet_count, inner = cavities ? mesh->inner_count : 0;
    kf_mesh part = {.vertex_count = mesh->vertex_count,
                    .triangle_count = outer + inner,
                    .vertices = mesh->vertices,
                    .triangles = kf_allocate(3 * (outer + inner) * sizeof *part.triangles + 1)};
    memcpy(part.triangles, mesh->triangles, 3 * outer * sizeof *part.triangles);
    memcpy(part.triangles + 3 * outer, mesh->triangles + 3 * mesh->triangle_count,
           3 * inner * sizeof *part.triangles);
    return part;
}

/* Returns whether a volume is only rounding. Volumes that cancel do not sum to exactly 0. So the volume is
 * compared with what the same surface could enclose at most. */
static bool encloses_nothing(const kf_mesh *mesh, double volume) {
    static const double LEAST = 1e-10;
    const double area = kf_mesh_area(mesh);
    return !(fabs(volume) > LEAST * area * sqrt(area));
}

/* Computes volume, centre and inertia of what a mesh encloses, from tetrahedra between its triangles and one
 * vertex. All are zero when the mesh encloses nothing. */
static void measure(const kf_mesh *mesh, kf_body *body) {
    double second[9] = {0};
    /* The tetrahedra share a vertex of the mesh, so a mesh far from the origin loses no digits. */
    const double *origin = mesh->vertices + 3 * (size_t)mesh->triangles[0];
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double corner[3][3];
        for (size_t c = 0; c < 3; c++)
            for (size_t a = 0; a < 3; a++)
                corner[c][a] = mesh->vertices[3 * (size_t)mesh->triangles[3 * t + c] + a] - origin[a];
        add_tetrahedron((const double(*)[3])corner, body, second);
    }
    if (encloses_nothing(mesh, body->volume)) {
        memset(body, 0, sizeof *body);
        return;
    }
    body->inwards = body->volume < 0.0;
    const double sign = body->inwards ? -1.0 : 1.0;
    double center[3], trace = 0.0;
    for (int a = 0; a < 3; a++)
        center[a] = body->center[a] / body->volume;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            second[3 * i + j] = sign * (second[3 * i + j] - body->volume * center[i] * center[j]);
    for (int i = 0; i < 3; i++)
        trace += second[4 * i];
    for (int i = 0; i < 9; i++)
        body->inertia[i] = (i % 4 == 0 ? trace : 0.0) - second[i];
    body->volume *= sign;
    for (int a = 0; a < 3; a++)
        body->center[a] = origin[a] + center[a];
}

size_t kf_mesh_body(const kf_mesh *mesh, bool cavities, kf_body *body) {
    kf_mesh part = closing(mesh, cavities);
    memset(body, 0, sizeof *body);
    const size_t open = part.triangle_count == 0 ? 1 : count_open_edges(&part);
    if (open == 0) measure(&part, body);
    free(part.triangles);
    return open;
}
