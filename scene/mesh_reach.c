/* Finds the parts of a mesh that the stream reaches. Nodes around the mesh, 256 along its length, are flooded
 * from outside; the flood does not cross nodes that a triangle touches. A part is reached when a flooded node
 * is visible from one of its points, past all other triangles. So walls may be very thin, and the result does
 * not depend on the triangles' winding, on their connections, or on the grid of the flow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/mesh_mend.h"

enum {
    FINENESS = 256,
    RIM = 3,
    /* The number of nodes searched in each direction around a point. */
    SIGHT = 3,
    /* The number of flooded nodes tested, the nearest ones. */
    LOOKS = 16,
    /* The number of points tested per part. */
    POINTS = 300
};
enum { DRY, TOUCHED, WET };

typedef struct reach {
    const kf_mesh *mesh;
    double low[3], step;
    int length[3];
    /* The state of the nodes, [z][y][x]. */
    unsigned char *state;
    size_t count, capacity;
    /* The cells that triangles pass through, in ascending order after sorting. */
    uint64_t *cells;
    uint32_t *triangles; /* and which */
} reach;

static size_t index_of(const reach *r, const int node[3]) {
    return (size_t)node[0] +
           (size_t)r->length[0] * ((size_t)node[1] + (size_t)r->length[1] * (size_t)node[2]);
}

/* Makes the grid of nodes around a mesh that the stream floods, with FINENESS nodes along the longest side.
 */
static reach reach_around(const kf_mesh *mesh) {
    reach r = {.mesh = mesh};
    const kf_box box = kf_mesh_bounds(mesh);
    double longest = 0.0;
    size_t nodes = 1;
    for (int a = 0; a < 3; a++)
        longest = fmax(longest, box.high[a] - box.low[a]);
    r.step = longest / FINENESS;
    for (int a = 0; a < 3; a++) {
        r.low[a] = box.low[a] - RIM * r.step;
        r.length[a] = (int)ceil((box.high[a] - box.low[a]) / r.step) + 2 * RIM + 1;
        nodes *= (size_t)r.length[a];
    }
    r.state = kf_allocate_zeroed(nodes, 1);
    return r;
}

/* Finds the cell of a point, given by its lowest node. */
static void cell_at(const reach *r, const double place[3], int cell[3]) {
    for (int a = 0; a < 3; a++)
        cell[a] = (int)floor((place[a] - r->low[a]) / r->step);
}

/* ---- Points on triangles ---- */

/* Rows of points along the longest side. Their distance is at most half a step. */
typedef struct lattice {
    const double *from, *to, *tip;
    /* The number of rows, and of points in the first row. */
    int count, most;
} lattice;

static lattice rows_of(const reach *r, size_t triangle) {
    const double *corner[3];
    double length[3];
    int longest = 0;
    for (size_t i = 0; i < 3; i++)
        corner[i] = r->mesh->vertices + 3 * (size_t)r->mesh->triangles[3 * triangle + i];
    for (int i = 0; i < 3; i++) {
        const double *p = corner[i], *q = corner[(i + 1) % 3];
        length[i] = kf_length((const double[3]){q[0] - p[0], q[1] - p[1], q[2] - p[2]});
        if (length[i] > length[longest]) longest = i;
    }
    const double height = 2.0 * kf_mesh_triangle_area(r->mesh, triangle) / length[longest];
    return (lattice){corner[longest], corner[(longest + 1) % 3], corner[(longest + 2) % 3],
                     1 + (int)(2.0 * height / r->step), 1 + (int)(2.0 * length[longest] / r->step)};
}

static int points_in(const lattice *rows, double up) {
    return 1 + (int)((1.0 - up) * rows->most);
}

static void point_at(const lattice *rows, double up, double along, double place[3]) {
    for (int a = 0; a < 3; a++)
        place[a] = rows->from[a] + up * (rows->tip[a] - rows->from[a]) +
                   along * (1.0 - up) * (rows->to[a] - rows->from[a]);
}

/* ---- The flood ---- */

static void touch(reach *r, const int cell[3]) {
    for (int c = 0; c < 8; c++)
        r->state[index_of(r, (const int[3]){cell[0] + (c & 1), cell[1] + (c >> 1 & 1), cell[2] + (c >> 2)})] =
            TOUCHED;
}

static void note_cell(reach *r, uint64_t cell, uint32_t triangle) {
    if (r->count > 0 && r->cells[r->count - 1] == cell && r->triangles[r->count - 1] == triangle) return;
    if (r->count == r->capacity) {
        r->capacity = 2 * r->capacity + 4096;
        r->cells = kf_reallocate(r->cells, r->capacity * sizeof *r->cells);
        r->triangles = kf_reallocate(r->triangles, r->capacity * sizeof *r->triangles);
    }
    r->cells[r->count] = cell;
    r->triangles[r->count++] = triangle;
}

/* Marks the nodes that triangles touch. Edges and corners count, so nodes on different sides of a wall are
 * never neighbours. */
static void touch_triangles(reach *r) {
    for (size_t t = 0; t < r->mesh->triangle_count; t++) {
        const lattice rows = rows_of(r, t);
        for (int j = 0; j <= rows.count; j++) {
            const double up = (double)j / rows.count;
            const int points = points_in(&rows, up);
            for (int i = 0; i <= points; i++) {
                double place[3];
                int cell[3];
                point_at(&rows, up, (double)i / points, place);
                cell_at(r, place, cell);
                touch(r, cell);
                note_cell(r, index_of(r, cell), (uint32_t)t);
            }
        }
    }
}

/* Rows of nodes that are still to be flooded. Each is given by one of its nodes. */
typedef struct seeds {
    size_t *list, count, capacity;
} seeds;

/* Adds a seed for each dry part of a row between two nodes. */
static void seed_row(const reach *r, size_t first, size_t last, seeds *s) {
    for (size_t at = first; at <= last; at++) {
        if (r->state[at] != DRY || (at > first && r->state[at - 1] == DRY)) continue;
        if (s->count == s->capacity) s->list = kf_grow(s->list, s->count, &s->capacity, sizeof *s->list);
        s->list[s->count++] = at;
    }
}

/* Floods row by row from the rim, which no triangle touches. */
static void flood(reach *r) {
    const size_t row = (size_t)r->length[0], rows = (size_t)r->length[1], planes = (size_t)r->length[2];
    seeds s = {NULL, 0, 0};
    seed_row(r, 0, 0, &s);
    while (s.count > 0) {
        size_t first = s.list[--s.count], last = first;
        const size_t y = first / row % rows, z = first / row / rows, begin = first / row * row;
        if (r->state[first] != DRY) continue;
        while (first > begin && r->state[first - 1] == DRY)
            first--;
        while (last + 1 < begin + row && r->state[last + 1] == DRY)
            last++;
        memset(r->state + first, WET, last - first + 1);
        if (y > 0) seed_row(r, first - row, last - row, &s);
        if (y + 1 < rows) seed_row(r, first + row, last + row, &s);
        if (z > 0) seed_row(r, first - row * rows, last - row * rows, &s);
        if (z + 1 < planes) seed_row(r, first + row * rows, last + row * rows, &s);
    }
    free(s.list);
}

/* Sorts pairs of cells and triangles by cell. */
static void sort_cells(reach *r) {
    uint32_t *order = kf_allocate((r->count + 1) * sizeof *order),
             *triangles = kf_allocate((r->count + 1) * sizeof *triangles);
    uint64_t *cells = kf_allocate((r->count + 1) * sizeof *cells);
    const size_t nodes = (size_t)r->length[0] * (size_t)r->length[1] * (size_t)r->length[2];
    kf_radix_order(r->count, r->cells, nodes, order);
    for (size_t i = 0; i < r->count; i++) {
        cells[i] = r->cells[order[i]];
        triangles[i] = r->triangles[order[i]];
    }
    free(r->cells);
    free(r->triangles);
    free(order);
    r->cells = cells;
    r->triangles = triangles;
}

/* ---- Looking ---- */

typedef struct view {
    const reach *reach;
    double from[3];
    /* The triangle of the point. */
    uint32_t own;
    double node[LOOKS][3], distance[LOOKS];
    int nodes;
    /* The triangles that may block the line of sight. */
    uint32_t *near;
    size_t count, capacity;
    /* [triangle_count] The number of the look in which a triangle was last listed. */
    uint32_t *seen, look;
} view;

/* Finds the nearest flooded nodes. */
static void find_nodes(view *v, const int cell[3]) {
    const reach *r = v->reach;
    v->nodes = 0;
    for (int n = 0; n < 8 * SIGHT * SIGHT * SIGHT; n++) {
        const int side = 2 * SIGHT,
                  node[3] = {cell[0] + n % side - SIGHT + 1, cell[1] + n / side % side - SIGHT + 1,
                             cell[2] + n / side / side - SIGHT + 1};
        double arm[3], place[3];
        bool within = true;
        for (int a = 0; a < 3; a++) {
            within = within && node[a] >= 0 && node[a] < r->length[a];
            place[a] = r->low[a] + node[a] * r->step;
            arm[a] = place[a] - v->from[a];
        }
        if (!within || r->state[index_of(r, node)] != WET) continue;
        const double distance = kf_length(arm);
        int at = v->nodes < LOOKS ? v->nodes++ : LOOKS;
        for (; at > 0 && v->distance[at - 1] > distance; at--)
            if (at < LOOKS) {
                v->distance[at] = v->distance[at - 1];
                memcpy(v->node[at], v->node[at - 1], sizeof place);
            }
        if (at == LOOKS) continue;
        v->distance[at] = distance;
        memcpy(v->node[at], place, sizeof place);
    }
}

/* Finds the triangles in the cells around the lines to all nodes, and in the neighbouring cells. A triangle
 * is listed only in the cells of its sampled points. */
static void find_near(view *v, const int cell[3]) {
    const reach *r = v->reach;
    int from[3] = {cell[0], cell[1], cell[2]}, to[3] = {cell[0], cell[1], cell[2]};
    v->count = 0;
    v->look++;
    for (int n = 0; n < v->nodes; n++) {
        int there[3];
        cell_at(r, v->node[n], there);
        for (int a = 0; a < 3; a++) {
            from[a] = there[a] < from[a] ? there[a] : from[a];
            to[a] = there[a] > to[a] ? there[a] : to[a];
        }
    }
    for (int a = 0; a < 3; a++) {
        from[a] = from[a] > 0 ? from[a] - 1 : 0;
        to[a] = to[a] + 1 < r->length[a] ? to[a] + 1 : to[a];
    }
    for (int z = from[2]; z <= to[2]; z++)
        for (int y = from[1]; y <= to[1]; y++) {
            const uint64_t last = index_of(r, (const int[3]){to[0], y, z});
            for (size_t i = kf_first_key(r->count, r->cells, index_of(r, (const int[3]){from[0], y, z}));
                 i < r->count && r->cells[i] <= last; i++) {
                const uint32_t triangle = r->triangles[i];
                if (triangle == v->own || v->seen[triangle] == v->look) continue;
                if (v->count == v->capacity)
                    v->near = kf_grow(v->near, v->count, &v->capacity, sizeof *v->near);
                v->seen[triangle] = v->look;
                v->near[v->count++] = triangle;
            }
        }
}

/* Returns whether the triangle lies between from and to. */
static bool is_between(const kf_mesh *mesh, size_t triangle, const double from[3], const double to[3]) {
    static const double BEGIN = 1e-6;
    const double ray[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]},
                 along = kf_mesh_ray_meets(mesh, triangle, from, ray);
    return along > BEGIN && along <= 1.0;
}

/* Returns whether a flooded node nearby is visible from a point of a triangle. */
static bool sees_stream(view *v, uint32_t triangle, const double from[3]) {
    int cell[3];
    memcpy(v->from, from, sizeof v->from);
    v->own = triangle;
    cell_at(v->reach, from, cell);
    find_nodes(v, cell);
    if (v->nodes == 0) return false;
    find_near(v, cell);
    for (int n = 0; n < v->nodes; n++) {
        bool free = true;
        for (size_t i = 0; i < v->count && free; i++)
            free = !is_between(v->reach->mesh, v->near[i], from, v->node[n]);
        if (free) return true;
    }
    return false;
}

/* ---- Parts ---- */

/* Tests every stride-th point within the triangle. *number counts all points. Returns whether a flooded node
 * is visible from one of them. */
static bool look_from(view *v, uint32_t triangle, size_t stride, size_t *number) {
    const lattice rows = rows_of(v->reach, triangle);
    for (int j = 0; j < rows.count; j++) {
        const double up = (j + 0.5) / rows.count;
        const int points = points_in(&rows, up);
        for (int i = 0; i < points; i++) {
            double place[3];
            if ((*number)++ % stride != 0) continue;
            point_at(&rows, up, (i + 0.5) / points, place);
            if (sees_stream(v, triangle, place)) return true;
        }
    }
    return false;
}

static size_t count_points(const reach *r, size_t triangle) {
    const lattice rows = rows_of(r, triangle);
    size_t count = 0;
    for (int j = 0; j < rows.count; j++)
        count += (size_t)points_in(&rows, (j + 0.5) / rows.count);
    return count;
}

/* Tests the triangles of all undecided parts in the order of the mesh. A part is decided once a flooded node
 * is visible from one of its points. */
static void look_from_all(const reach *r, const uint32_t *patch, size_t patches, bool *hidden) {
    size_t *points = kf_allocate_zeroed(patches, sizeof *points),
           *number = kf_allocate_zeroed(patches, sizeof *number);
    view v = {.reach = r};
    v.seen = kf_allocate_zeroed(r->mesh->triangle_count, sizeof *v.seen);
    for (size_t t = 0; t < r->mesh->triangle_count; t++)
        if (hidden[patch[t]]) points[patch[t]] += count_points(r, t);
    for (size_t t = 0; t < r->mesh->triangle_count; t++) {
        const uint32_t p = patch[t];
        if (hidden[p] && look_from(&v, (uint32_t)t, 1 + points[p] / POINTS, &number[p])) hidden[p] = false;
    }
    free(v.near);
    free(v.seen);
    free(points);
    free(number);
}

void kf_mesh_find_hidden(const kf_mesh *mesh, const uint32_t *patch, size_t patches, bool *hidden) {
    memset(hidden, true, patches * sizeof *hidden);
    reach r = reach_around(mesh);
    touch_triangles(&r);
    flood(&r);
    sort_cells(&r);
    look_from_all(&r, patch, patches, hidden);
    free(r.state);
    free(r.cells);
    free(r.triangles);
}
