/* The links between neighbouring nodes that a solid's surface cuts, and the nodes that the stream does not
 * reach. Triangles are held against the 13 directions of a link and its opposite; nodes are flooded from
 * outside over links that are not cut, so nothing depends on which way triangles look, and a thin sheet has
 * fluid on both sides. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/internal.h"

enum { DIRECTIONS = 13, RIM = 2 };
/* A node on the surface itself is on neither side: the surface is moved by what no coordinate is a multiple
 * of, and no flow feels. */
static const double NUDGE[3] = {1.3e-7, 1.9e-7, 0.7e-7};
/* Edges belong to both of their triangles. */
static const double EDGE = 1e-9;

/* One of each pair of opposite directions. */
static const int directions[DIRECTIONS][3] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1},  {1, 1, 0},  {1, -1, 0},
                                              {1, 0, 1},  {1, 0, -1}, {0, 1, 1},  {0, 1, -1}, {1, 1, 1},
                                              {1, 1, -1}, {1, -1, 1}, {1, -1, -1}};

/* A place where a link from a node along a direction meets the surface. */
typedef struct hit {
    uint64_t link; /* node of the box * DIRECTIONS + direction */
    double share;
} hit;

typedef struct box {
    const kf_scene *scene;
    int low[3], length[3];
    size_t nodes, count, capacity;
    hit *hits;
    uint16_t *cut;        /* [z][y][x]: a bit a direction */
    unsigned char *fluid; /* likewise */
} box;

static size_t index_of(const box *b, const int at[3]) {
    return (size_t)(at[0] - b->low[0]) +
           (size_t)b->length[0] *
               ((size_t)(at[1] - b->low[1]) + (size_t)b->length[1] * (size_t)(at[2] - b->low[2]));
}

static void position_of(const box *b, size_t index, int at[3]) {
    const size_t row = (size_t)b->length[0], plane = row * (size_t)b->length[1];
    at[0] = b->low[0] + (int)(index % row);
    at[1] = b->low[1] + (int)(index % plane / row);
    at[2] = b->low[2] + (int)(index / plane);
}

static bool holds(const box *b, const int at[3]) {
    for (int a = 0; a < 3; a++)
        if (at[a] < b->low[a] || at[a] >= b->low[a] + b->length[a]) return false;
    return true;
}

static void add_hit(box *b, size_t node, int direction, double share) {
    if (b->count == b->capacity) {
        b->capacity = 2 * b->capacity + 4096;
        b->hits = kf_reallocate(b->hits, b->capacity * sizeof *b->hits);
    }
    b->hits[b->count++] = (hit){node * DIRECTIONS + (uint64_t)direction, share};
}

/* A triangle, its unit normal, and the dual of its edges: a point's parts along u and v. */
typedef struct plate {
    double corner[3], normal[3], along_u[3], along_v[3], low[3], high[3];
} plate;

static bool make_plate(const kf_mesh *mesh, size_t triangle, plate *p) {
    double u[3], v[3], uu, uv, vv;
    kf_mesh_normal(mesh, triangle, p->normal);
    for (int a = 0; a < 3; a++) {
        const uint32_t *corner = mesh->triangles + 3 * triangle;
        p->corner[a] = mesh->vertices[3 * (size_t)corner[0] + (size_t)a] + NUDGE[a];
        u[a] = mesh->vertices[3 * (size_t)corner[1] + (size_t)a] + NUDGE[a] - p->corner[a];
        v[a] = mesh->vertices[3 * (size_t)corner[2] + (size_t)a] + NUDGE[a] - p->corner[a];
        p->low[a] = p->corner[a] + fmin(0.0, fmin(u[a], v[a]));
        p->high[a] = p->corner[a] + fmax(0.0, fmax(u[a], v[a]));
    }
    uu = kf_dot(u, u);
    uv = kf_dot(u, v);
    vv = kf_dot(v, v);
    const double determinant = uu * vv - uv * uv;
    if (!(determinant > 0.0)) return false;
    for (int a = 0; a < 3; a++) {
        p->along_u[a] = (vv * u[a] - uv * v[a]) / determinant;
        p->along_v[a] = (uu * v[a] - uv * u[a]) / determinant;
    }
    return true;
}

static bool is_within(const plate *p, const double at[3]) {
    const double arm[3] = {at[0] - p->corner[0], at[1] - p->corner[1], at[2] - p->corner[2]};
    const double u = kf_dot(p->along_u, arm), v = kf_dot(p->along_v, arm);
    return u >= -EDGE && v >= -EDGE && u + v <= 1.0 + EDGE;
}

/* The links of a node that a triangle cuts. */
static void cut_node(box *b, const plate *p, const int node[3]) {
    const double arm[3] = {node[0] - p->corner[0], node[1] - p->corner[1], node[2] - p->corner[2]};
    const double above = kf_dot(p->normal, arm);
    if (fabs(above) > 1.74) return; /* the longest link */
    for (int d = 0; d < DIRECTIONS; d++) {
        const int *c = directions[d], next[3] = {node[0] + c[0], node[1] + c[1], node[2] + c[2]};
        const double step = p->normal[0] * c[0] + p->normal[1] * c[1] + p->normal[2] * c[2];
        const double share = step != 0.0 ? -above / step : -1.0;
        if (share < 0.0 || share > 1.0 || !holds(b, next)) continue;
        const double at[3] = {node[0] + share * c[0], node[1] + share * c[1], node[2] + share * c[2]};
        if (is_within(p, at)) add_hit(b, index_of(b, node), d, share);
    }
}

static void cut_links(box *b) {
    const kf_mesh *mesh = &b->scene->mesh;
    plate p;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        int first[3], last[3], node[3];
        if (!make_plate(mesh, t, &p)) continue;
        for (int a = 0; a < 3; a++) {
            first[a] = (int)fmax(b->low[a], floor(p.low[a]) - 1.0);
            last[a] = (int)fmin(b->low[a] + b->length[a] - 1, ceil(p.high[a]) + 1.0);
        }
        for (node[2] = first[2]; node[2] <= last[2]; node[2]++)
            for (node[1] = first[1]; node[1] <= last[1]; node[1]++)
                for (node[0] = first[0]; node[0] <= last[0]; node[0]++)
                    cut_node(b, &p, node);
    }
}

static int by_link(const void *one, const void *other) {
    const hit *a = one, *b = other;
    return a->link != b->link ? (a->link > b->link) - (a->link < b->link)
                              : (a->share > b->share) - (a->share < b->share);
}

static bool is_cut(const box *b, const int at[3], int direction, int sign) {
    const int *c = directions[direction];
    const int from[3] = {sign > 0 ? at[0] : at[0] - c[0], sign > 0 ? at[1] : at[1] - c[1],
                         sign > 0 ? at[2] : at[2] - c[2]};
    return holds(b, from) && (b->cut[index_of(b, from)] >> direction & 1) != 0;
}

/* From the nodes outside of the solid's box, over links that are not cut. Returns whether there are any. */
static bool flood(box *b) {
    size_t *stack = kf_allocate(b->nodes * sizeof *stack), depth = 0;
    for (size_t n = 0; n < b->nodes; n++) {
        int at[3];
        position_of(b, n, at);
        bool outside = false;
        for (int a = 0; a < 3; a++)
            outside =
                outside || at[a] < b->scene->solid_low[a] - 1.0 || at[a] > b->scene->solid_high[a] + 1.0;
        b->fluid[n] = outside;
        if (outside) stack[depth++] = n;
    }
    const bool any = depth > 0;
    while (depth > 0) {
        int at[3];
        position_of(b, stack[--depth], at);
        for (int d = 0; d < DIRECTIONS; d++)
            for (int sign = -1; sign <= 1; sign += 2) {
                const int next[3] = {at[0] + sign * directions[d][0], at[1] + sign * directions[d][1],
                                     at[2] + sign * directions[d][2]};
                if (!holds(b, next) || b->fluid[index_of(b, next)] || is_cut(b, at, d, sign)) continue;
                b->fluid[index_of(b, next)] = 1;
                stack[depth++] = index_of(b, next);
            }
    }
    free(stack);
    return any;
}

/* Whether what a node sends away from the surface comes from a node of the fluid in its reach. */
static bool has_fluid_behind(const box *b, const int at[3], int direction, int sign) {
    const int *c = directions[direction];
    const int behind[3] = {at[0] - sign * c[0], at[1] - sign * c[1], at[2] - sign * c[2]};
    return holds(b, behind) && b->fluid[index_of(b, behind)] && !is_cut(b, at, direction, -sign);
}

static void add_link(box *b, kf_links *links, const int at[3], int direction, int sign, double share) {
    kf_link *link = &links->link[links->count];
    if (!b->fluid[index_of(b, at)]) return;
    links->count++;
    for (int a = 0; a < 3; a++) {
        link->node[a] = at[a];
        link->direction[a] = (signed char)(sign * directions[direction][a]);
    }
    link->share = share;
    link->alone = !has_fluid_behind(b, at, direction, sign);
}

/* Both ends of a link that is cut have one of their own: to where the surface meets it first. */
static void list_links(box *b, kf_links *links) {
    links->link = kf_allocate((2 * b->count + 1) * sizeof *links->link);
    for (size_t h = 0; h < b->count;) {
        size_t end = h;
        int at[3];
        while (end < b->count && b->hits[end].link == b->hits[h].link)
            end++;
        const int d = (int)(b->hits[h].link % DIRECTIONS);
        position_of(b, b->hits[h].link / DIRECTIONS, at);
        const int next[3] = {at[0] + directions[d][0], at[1] + directions[d][1], at[2] + directions[d][2]};
        add_link(b, links, at, d, 1, b->hits[h].share);
        add_link(b, links, next, d, -1, 1.0 - b->hits[end - 1].share);
        h = end;
    }
}

/* Nodes inside, those beside the fluid first. */
static void list_inside(const box *b, kf_links *links) {
    links->inside = kf_allocate((b->nodes + 1) * sizeof *links->inside);
    for (int deep = 0; deep < 2; deep++) {
        for (size_t n = 0; n < b->nodes; n++) {
            int at[3];
            bool beside = false;
            if (b->fluid[n]) continue;
            position_of(b, n, at);
            for (int d = 0; d < DIRECTIONS; d++)
                for (int sign = -1; sign <= 1; sign += 2) {
                    const int next[3] = {at[0] + sign * directions[d][0], at[1] + sign * directions[d][1],
                                         at[2] + sign * directions[d][2]};
                    beside = beside || (holds(b, next) && b->fluid[index_of(b, next)]);
                }
            if (beside == (deep == 1)) continue;
            memcpy(links->inside[links->inside_count++], at, sizeof at);
        }
        if (deep == 0) links->shell_count = links->inside_count;
    }
}

kf_status kf_scene_cut_links(kf_scene *scene, kf_error *error) {
    box b = {.scene = scene, .nodes = 1};
    for (int a = 0; a < 3; a++) {
        const int first = (int)floor(scene->solid_low[a]) - RIM,
                  end = (int)ceil(scene->solid_high[a]) + RIM + 1;
        if (scene->faces[2 * a] == KF_PERIODIC && (first < 0 || end > scene->nodes[a]))
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: solid.boundary: with \"links\" the solid keeps %d cells from faces that are "
                           "periodic; move it, or take \"immersed\"",
                           scene->source, RIM);
        b.low[a] = first < 0 ? 0 : first;
        b.length[a] = (end > scene->nodes[a] ? scene->nodes[a] : end) - b.low[a];
        b.nodes *= (size_t)b.length[a];
    }
    b.cut = kf_allocate_zeroed(b.nodes, sizeof *b.cut);
    b.fluid = kf_allocate_zeroed(b.nodes, 1);
    cut_links(&b);
    if (b.count > 0) qsort(b.hits, b.count, sizeof *b.hits, by_link);
    for (size_t h = 0; h < b.count; h++)
        b.cut[b.hits[h].link / DIRECTIONS] |= (uint16_t)(1U << b.hits[h].link % DIRECTIONS);
    const bool any = flood(&b);
    if (any) list_links(&b, &scene->links);
    if (any) list_inside(&b, &scene->links);
    free(b.hits);
    free(b.cut);
    free(b.fluid);
    if (scene->links.count > 0) return KF_OK;
    return kf_fail(
        error, KF_BAD_INPUT,
        "%s: no link between nodes is cut by the solid; make it larger than a cell, or take more cells",
        scene->source);
}

void kf_links_free(kf_links *links) {
    free(links->link);
    free(links->inside);
    *links = (kf_links){0};
}
