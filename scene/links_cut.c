/* Finds where a mesh intersects the links from nodes to their 26 neighbours. Every triangle is tested with
 * the nodes near it. Its images across periodic and mirroring faces of the domain are tested too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/vector.h"
#include "scene/links.h"

enum { IMAGES = 3 };
/* The surface is moved by amounts of which no coordinate is a multiple, too small to affect the flow. So few
 * links meet an edge. */
static const double NUDGE[3] = {1.3e-7, 1.9e-7, 0.7e-7};
/* The tolerance of edges, in cells. An edge belongs to both of its triangles, and nodes on the surface belong
 * to the solid. It exceeds the nudge, so the nudge does not decide the side of anything. */
static const double EDGE = 1e-5;
/* A triangle is slender when the sine of the angle between its edges u and v is smaller. Rounding then
 * decides where the band of EDGE around it ends. */
static const double SLENDER = 1e-3;

/* A triangle with its unit normal and the dual vectors of its edges, which give a point's coordinates along u
 * and v, and EDGE in these coordinates. Links intersect it only between `least` and `most`. They rise along
 * its normal by `climb`, at most by `steepest`. */
typedef struct plate {
    double corner[3], normal[3], along_u[3], along_v[3], low[3], high[3], slack[3], least[3], most[3];
    double climb[KF_LINK_DIRECTIONS], steepest;
} plate;

/* The image of a triangle. Along each axis, position = sign x + offset. */
typedef struct image {
    double sign[3], offset[3];
} image;

/* Computes the bounds of the triangle, with EDGE added at each of its edges and on both sides. A slender
 * triangle gets all of space. `sine_squared` is that of the angle between u and v. */
static void bound_plate(plate *p, const double u[3], const double v[3], double sine_squared) {
    const double *s = p->slack;
    for (int a = 0; a < 3; a++) {
        const double corner = p->corner[a] - s[0] * u[a] - s[1] * v[a], width = 1.0 + s[0] + s[1] + s[2],
                     by_u = width * u[a], by_v = width * v[a];
        const bool slender = !(sine_squared >= SLENDER * SLENDER);
        p->least[a] = slender ? -INFINITY : corner + fmin(0.0, fmin(by_u, by_v)) - 2.0 * EDGE;
        p->most[a] = slender ? INFINITY : corner + fmax(0.0, fmax(by_u, by_v)) + 2.0 * EDGE;
    }
}

static void find_climbs(plate *p) {
    p->steepest = 0.0;
    for (int d = 0; d < KF_LINK_DIRECTIONS; d++) {
        int c[3];
        kf_link_direction(d, c);
        p->climb[d] = p->normal[0] * c[0] + p->normal[1] * c[1] + p->normal[2] * c[2];
        p->steepest = fmax(p->steepest, p->climb[d]);
    }
}

/* Computes the image of a triangle, and returns whether it has an area. */
static bool make_plate(const kf_mesh *mesh, size_t triangle, const image *moved, plate *p) {
    const uint32_t *corner = mesh->triangles + 3 * triangle;
    double at[3][3], u[3], v[3];
    for (int a = 0; a < 3; a++) {
        for (int c = 0; c < 3; c++)
            at[c][a] = moved->sign[a] * (mesh->vertices[3 * (size_t)corner[c] + (size_t)a] + NUDGE[a]) +
                       moved->offset[a];
        p->corner[a] = at[0][a];
        u[a] = at[1][a] - at[0][a];
        v[a] = at[2][a] - at[0][a];
        p->low[a] = at[0][a] + fmin(0.0, fmin(u[a], v[a]));
        p->high[a] = at[0][a] + fmax(0.0, fmax(u[a], v[a]));
    }
    const double uu = kf_dot(u, u), uv = kf_dot(u, v), vv = kf_dot(v, v), determinant = uu * vv - uv * uv;
    if (!(determinant > 0.0)) return false;
    kf_cross(u, v, p->normal);
    const double length = sqrt(kf_dot(p->normal, p->normal));
    for (int a = 0; a < 3; a++) {
        p->normal[a] /= length;
        p->along_u[a] = (vv * u[a] - uv * v[a]) / determinant;
        p->along_v[a] = (uu * v[a] - uv * u[a]) / determinant;
    }
    const double both[3] = {p->along_u[0] + p->along_v[0], p->along_u[1] + p->along_v[1],
                            p->along_u[2] + p->along_v[2]};
    p->slack[0] = EDGE * kf_length(p->along_u);
    p->slack[1] = EDGE * kf_length(p->along_v);
    p->slack[2] = EDGE * kf_length(both);
    bound_plate(p, u, v, determinant / (uu * vv));
    find_climbs(p);
    return true;
}

static bool is_within(const plate *p, const double at[3]) {
    const double arm[3] = {at[0] - p->corner[0], at[1] - p->corner[1], at[2] - p->corner[2]};
    const double u = kf_dot(p->along_u, arm), v = kf_dot(p->along_v, arm);
    return u >= -p->slack[0] && v >= -p->slack[1] && u + v <= 1.0 + p->slack[2];
}

static bool is_on(const plate *p, double above, const double at[3]) {
    return fabs(above) < EDGE && is_within(p, at);
}

/* Finds where a triangle cuts a link. A node at the link's end that lies on the triangle is the intersection.
 */
static bool meets(const plate *p, const double node[3], double above, int d, double *share) {
    const double step = p->climb[d], end = above + step;
    /* Both ends are on one side, and neither is on the triangle. */
    if ((above >= EDGE && end >= EDGE) || (above <= -EDGE && end <= -EDGE)) return false;
    int c[3];
    kf_link_direction(d, c);
    const double far[3] = {node[0] + c[0], node[1] + c[1], node[2] + c[2]};
    const bool begins_on = is_on(p, above, node);
    *share = begins_on ? 0.0 : 1.0;
    if (begins_on || is_on(p, end, far)) return true;
    *share = step != 0.0 ? -above / step : -1.0;
    if (!(*share >= 0.0 && *share <= 1.0)) return false;
    const double at[3] = {node[0] + *share * c[0], node[1] + *share * c[1], node[2] + *share * c[2]};
    return is_within(p, at);
}

/* Lists the links of a node that a triangle cuts. Only directions with a set bit are tested. */
static void cut_node(kf_link_box *b, const plate *p, const int node[3], uint32_t directions) {
    const double from[3] = {node[0], node[1], node[2]},
                 arm[3] = {from[0] - p->corner[0], from[1] - p->corner[1], from[2] - p->corner[2]};
    const double above = kf_dot(p->normal, arm);
    if (fabs(above) > p->steepest + EDGE) return;
    for (int d = 0; directions >> d != 0; d++) {
        double share;
        if ((directions >> d & 1U) == 0 || !meets(p, from, above, d, &share)) continue;
        b->hits = kf_grow(b->hits, b->count, &b->capacity, sizeof *b->hits);
        b->hits[b->count++] = (kf_link_hit){kf_link_node_index(b, node) * KF_LINK_DIRECTIONS + (uint64_t)d,
                                            share,
                                            {p->normal[0], p->normal[1], p->normal[2]}};
    }
}

/* Returns, as bits, the directions of links that reach the triangle's bounds along one axis from a
 * coordinate. `stepping` holds the directions that step by -1, 0 and 1. */
static uint32_t reaching(const plate *p, int axis, int at, const uint32_t stepping[3]) {
    uint32_t directions = 0;
    for (int step = -1; step <= 1; step++)
        if (at - (step < 0) <= p->most[axis] && at + (step > 0) >= p->least[axis])
            directions |= stepping[step + 1];
    return directions;
}

/* Tests the nodes near the image of a triangle. */
static void cut_plate(kf_link_box *b, const plate *p, uint32_t stepping[3][3]) {
    int first[3], last[3], node[3];
    for (int a = 0; a < 3; a++) {
        first[a] = (int)fmax(fmax(b->low[a], floor(p->low[a]) - 1.0), ceil(p->least[a]) - 1.0);
        last[a] =
            (int)fmin(fmin(b->low[a] + b->length[a] - 1, ceil(p->high[a]) + 1.0), floor(p->most[a]) + 1.0);
        if (first[a] > last[a]) return;
    }
    for (node[2] = first[2]; node[2] <= last[2]; node[2]++) {
        const uint32_t plane = reaching(p, 2, node[2], stepping[2]);
        if (kf_interrupted) return;
        for (node[1] = first[1]; node[1] <= last[1]; node[1]++) {
            const uint32_t row = plane & reaching(p, 1, node[1], stepping[1]);
            for (node[0] = first[0]; node[0] <= last[0]; node[0]++)
                cut_node(b, p, node, row & reaching(p, 0, node[0], stepping[0]));
        }
    }
}

/* Lists the images along an axis that can reach its nodes, and returns their number. */
static int list_images(const kf_scene *scene, int axis, double sign[IMAGES], double offset[IMAGES]) {
    const double n = scene->nodes[axis], low = scene->solid_low[axis], high = scene->solid_high[axis];
    int count = 0;
    sign[count] = 1.0;
    offset[count++] = 0.0;
    if (scene->faces[2 * axis] == KF_PERIODIC) {
        if (low < 1.0 || high > n - 2.0)
            for (int side = -1; side <= 1; side += 2) {
                sign[count] = 1.0;
                offset[count++] = side * n;
            }
        return count;
    }
    if (kf_link_mirrors(scene, 2 * axis) && low < 1.0) {
        sign[count] = -1.0;
        offset[count++] = -1.0;
    }
    if (kf_link_mirrors(scene, 2 * axis + 1) && high > n - 2.0) {
        sign[count] = -1.0;
        offset[count++] = 2.0 * n - 1.0;
    }
    return count;
}

static int by_link(const void *one, const void *other) {
    const kf_link_hit *a = one, *b = other;
    return a->link != b->link ? (a->link > b->link) - (a->link < b->link)
                              : (a->share > b->share) - (a->share < b->share);
}

double kf_link_box_work(const kf_link_box *b) {
    const kf_mesh *mesh = &b->scene->mesh;
    double nodes = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double near = 1.0;
        for (int a = 0; a < 3; a++) {
            double low, high;
            kf_mesh_stretch(mesh, t, a, &low, &high);
            near *= fmin(high - low + 3.0, b->length[a]);
        }
        nodes += near;
    }
    return nodes;
}

/* Cuts links by each triangle and by its images across periodic or mirroring faces. Sorts the hits by link.
 */
void kf_link_box_cut(kf_link_box *b) {
    const kf_mesh *mesh = &b->scene->mesh;
    double sign[3][IMAGES], offset[3][IMAGES];
    int count[3];
    uint32_t stepping[3][3] = {{0}};
    for (int a = 0; a < 3; a++)
        count[a] = list_images(b->scene, a, sign[a], offset[a]);
    for (int d = 0; d < KF_LINK_DIRECTIONS; d++) {
        int c[3];
        kf_link_direction(d, c);
        for (int a = 0; a < 3; a++)
            stepping[a][c[a] + 1] |= UINT32_C(1) << d;
    }
    for (size_t t = 0; t < mesh->triangle_count && !kf_interrupted; t++)
        for (int i = 0; i < count[0] * count[1] * count[2]; i++) {
            const int at[3] = {i % count[0], i / count[0] % count[1], i / count[0] / count[1]};
            image moved;
            plate p;
            for (int a = 0; a < 3; a++) {
                moved.sign[a] = sign[a][at[a]];
                moved.offset[a] = offset[a][at[a]];
            }
            if (make_plate(mesh, t, &moved, &p)) cut_plate(b, &p, stepping);
        }
    if (b->count > 0) qsort(b->hits, b->count, sizeof *b->hits, by_link);
    for (size_t h = 0; h < b->count; h++)
        b->cut[b->hits[h].link / KF_LINK_DIRECTIONS] |= UINT32_C(1) << b->hits[h].link % KF_LINK_DIRECTIONS;
}

/* Returns whether a link enters and leaves the solid at one place, where two faces meet at an angle. The two
 * sides of a thin sheet are parallel. */
static bool grazes(const kf_link_hit *hits, size_t count) {
    int c[3];
    kf_link_direction((int)(hits->link % KF_LINK_DIRECTIONS), c);
    const double way[3] = {c[0], c[1], c[2]};
    for (size_t h = 1; h < count; h++)
        if (kf_dot(hits[0].normal, way) * kf_dot(hits[h].normal, way) < 0.0 &&
            fabs(kf_dot(hits[0].normal, hits[h].normal)) < KF_LINK_PARALLEL)
            return true;
    return false;
}

/* Moves the hits of one link that cut more than a sliver to the front of `to`, and returns their number. */
static size_t keep_cutting(const kf_link_hit *hits, size_t count, kf_link_hit *to) {
    size_t kept = 0;
    for (size_t h = 0, end = 0; h < count; h = end) {
        for (end = h + 1; end < count && hits[end].share - hits[h].share < KF_LINK_ONE_PLACE;)
            end++;
        const bool sliver = grazes(hits + h, end - h);
        for (size_t k = h; k < end && !sliver; k++)
            to[kept++] = hits[k];
    }
    return kept;
}

/* Each link keeps only the hits that really cut it. A link between two nodes of the fluid that has none is
 * not cut any more; any other link keeps all of its hits. */
void kf_link_box_drop_slivers(kf_link_box *b) {
    size_t all = 0;
    for (size_t h = 0, end = 0; h < b->count; h = end) {
        const uint64_t link = b->hits[h].link;
        for (end = h; end < b->count && b->hits[end].link == link;)
            end++;
        size_t kept = keep_cutting(b->hits + h, end - h, b->hits + all);
        if (kept == 0 && kf_link_joins_fluid(b, link)) {
            b->cut[link / KF_LINK_DIRECTIONS] &= ~(UINT32_C(1) << link % KF_LINK_DIRECTIONS);
        } else if (kept == 0) {
            kept = end - h;
            memmove(b->hits + all, b->hits + h, kept * sizeof *b->hits);
        }
        all += kept;
    }
    b->count = all;
}
