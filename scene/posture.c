/* Guesses how a mesh lies in its file: which side is up, along which axis it is long, where its front is. All
 * measures use points spread over the surface, so they do not depend on the names of the axes.
 *
 *  - Mirror: the left and right of a car are equal. Points are sorted into cubes. The measure is the share of
 *    points whose mirror image across the middle of the box falls into a cube with points. It is 1 for a
 *    symmetric body, and 0.1 to 0.8 for others.
 *  - Stand: the points that touch the ground when a side is below. The measure is the area of their hull
 *    divided by that of the box's footprint. It is large for four wheels or a flat bottom, and small for a
 *    roof. A body stands only if its middle is above the hull.
 *  - Front: the cabin of a car lies behind the middle. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/posture.h"

enum { POINTS = 40000, CUBES = 40 };

/* ---- Points ---- */

typedef struct cloud {
    size_t count;
    double *points; /* [count][3] */
    kf_box box;
    /* The extent and middle of the box, and the area of the surface. */
    double extent[3], middle[3];
} cloud;

/* Makes points spread evenly over the surface. Within triangles they follow a sequence of low discrepancy
 * (Roberts' R2). */
static cloud make_cloud(const kf_mesh *mesh) {
    cloud c = {.box = kf_mesh_bounds(mesh)};
    const double total = kf_mesh_area(mesh);
    double before = 0.0;
    c.points = kf_allocate(3 * ((size_t)POINTS + mesh->vertex_count) * sizeof *c.points);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        before += kf_mesh_triangle_area(mesh, t);
        const uint32_t *corner = mesh->triangles + 3 * t;
        for (; c.count < POINTS && ((double)c.count + 0.5) * total / POINTS < before; c.count++) {
            double u = fmod(0.5 + 0.7548776662466927 * (double)c.count, 1.0),
                   v = fmod(0.5 + 0.5698402909980532 * (double)c.count, 1.0);
            if (u + v > 1.0) {
                u = 1.0 - u;
                v = 1.0 - v;
            }
            for (size_t a = 0; a < 3; a++) {
                const double p = mesh->vertices[3 * (size_t)corner[0] + a],
                             q = mesh->vertices[3 * (size_t)corner[1] + a],
                             r = mesh->vertices[3 * (size_t)corner[2] + a];
                c.points[3 * c.count + a] = p + u * (q - p) + v * (r - p);
            }
        }
    }
    for (size_t a = 0; a < 3; a++) {
        c.extent[a] = c.box.high[a] - c.box.low[a];
        for (size_t i = 0; i < c.count; i++)
            c.middle[a] += c.points[3 * i + a] / (double)c.count;
    }
    return c;
}

/* ---- Mirror ---- */

static void cube_of(const cloud *c, double edge, const int cubes[3], size_t i, int cube[3]) {
    for (size_t a = 0; a < 3; a++) {
        const double from_middle = c->points[3 * i + a] - 0.5 * (c->box.low[a] + c->box.high[a]);
        const int k = (int)floor(from_middle / edge + 0.5 * cubes[a]);
        cube[a] = k < 0 ? 0 : k >= cubes[a] ? cubes[a] - 1 : k;
    }
}

/* Measures how symmetric a cloud is to the middle plane across each axis, by cubes: 0 to 1. */
static void measure_mirrors(const cloud *c, double mirror[3]) {
    const double edge = 1.0001 * fmax(c->extent[0], fmax(c->extent[1], c->extent[2])) / CUBES;
    int cubes[3];
    for (int a = 0; a < 3; a++)
        cubes[a] = (int)fmax(1.0, ceil(c->extent[a] / edge));
    unsigned char *filled = kf_allocate_zeroed((size_t)CUBES * CUBES * CUBES, 1);
#define AT(cube) filled[(size_t)(cube)[0] + CUBES * ((size_t)(cube)[1] + CUBES * (size_t)(cube)[2])]
    int cube[3];
    for (size_t i = 0; i < c->count; i++) {
        cube_of(c, edge, cubes, i, cube);
        AT(cube) = 1;
    }
    for (int a = 0; a < 3; a++) {
        size_t matched = 0;
        for (size_t i = 0; i < c->count; i++) {
            cube_of(c, edge, cubes, i, cube);
            const int image = cubes[a] - 1 - cube[a];
            bool any = false;
            for (cube[a] = image > 0 ? image - 1 : 0; cube[a] <= image + 1 && cube[a] < cubes[a]; cube[a]++)
                any = any || AT(cube) != 0;
            matched += any;
        }
        mirror[a] = (double)matched / (double)c->count;
    }
#undef AT
    free(filled);
}

/* ---- Stand ---- */

/* The largest share of the hull that touches the ground on feet. */
static const double FEET = 0.4;

typedef struct spot {
    double x, y;
} spot;

static int by_place(const void *left, const void *right) {
    const spot *p = left, *q = right;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return p->y < q->y ? -1 : p->y > q->y;
}

static double turn(spot o, spot p, spot q) {
    return (p.x - o.x) * (q.y - o.y) - (p.y - o.y) * (q.x - o.x);
}

/* Computes the area of the convex hull (Andrew's monotone chain), and sorts the spots. *holds: whether the
 * middle lies in the hull. */
static double hull_area(spot *spots, size_t count, spot middle, bool *holds) {
    *holds = false;
    if (count < 3) return 0.0;
    qsort(spots, count, sizeof *spots, by_place);
    spot *hull = kf_allocate(2 * count * sizeof *hull);
    size_t k = 0;
    for (size_t i = 0; i < count; i++) {
        while (k >= 2 && turn(hull[k - 2], hull[k - 1], spots[i]) <= 0.0)
            k--;
        hull[k++] = spots[i];
    }
    const size_t lower = k + 1;
    for (size_t i = count - 1; i-- > 0;) {
        while (k >= lower && turn(hull[k - 2], hull[k - 1], spots[i]) <= 0.0)
            k--;
        hull[k++] = spots[i];
    }
    double area = 0.0;
    *holds = true;
    for (size_t i = 0; i + 1 < k; i++) {
        area += 0.5 * (hull[i].x * hull[i + 1].y - hull[i].y * hull[i + 1].x);
        *holds = *holds && turn(hull[i], hull[i + 1], middle) >= 0.0;
    }
    free(hull);
    return area;
}

/* How the footprint touches the ground. */
typedef struct contact {
    /* The share of its squares that touch. */
    double share;
    /* The number of connected groups of these squares. */
    int patches;
} contact;

enum { SQUARES = 24 };

/* Removes a square and all that are connected to it; corners connect too. */
static void take_patch(bool touched[SQUARES][SQUARES], int x, int y) {
    if (x < 0 || y < 0 || x >= SQUARES || y >= SQUARES || !touched[y][x]) return;
    touched[y][x] = false;
    for (int side = 0; side < 9; side++)
        take_patch(touched, x + side % 3 - 1, y + side / 3 - 1);
}

/* Finds the share of the footprint's squares that touch, and the number of their patches. */
static contact find_contact(const spot *spots, size_t count, spot low, spot extent) {
    bool touched[SQUARES][SQUARES] = {{false}};
    int found = 0;
    contact c = {0.0, 0};
    for (size_t i = 0; i < count; i++) {
        const int x = (int)fmin(SQUARES - 1, SQUARES * (spots[i].x - low.x) / extent.x),
                  y = (int)fmin(SQUARES - 1, SQUARES * (spots[i].y - low.y) / extent.y);
        found += !touched[y][x];
        touched[y][x] = true;
    }
    for (int i = 0; i < SQUARES * SQUARES; i++) {
        c.patches += touched[i / SQUARES][i % SQUARES];
        take_patch(touched, i % SQUARES, i / SQUARES);
    }
    c.share = (double)found / (SQUARES * SQUARES);
    return c;
}

/* Measures how well the body stands on this side, 0 to 1, and what touches the ground. Vertices count too,
 * because few sampled points lie on the bottom of a wheel. */
static double measure_stand(const cloud *c, const kf_mesh *mesh, int axis, int sign, contact *touching) {
    /* A fraction of the body's size. */
    static const double NEAR = 0.02;
    const size_t a = (size_t)axis, b = (a + 1) % 3, d = (a + 2) % 3;
    const double reach = NEAR * cbrt(c->extent[0] * c->extent[1] * c->extent[2]);
    spot *spots = kf_allocate((c->count + mesh->vertex_count) * sizeof *spots);
    size_t count = 0;
    for (size_t i = 0; i < c->count + mesh->vertex_count; i++) {
        const double *p = i < c->count ? c->points + 3 * i : mesh->vertices + 3 * (i - c->count);
        const double above = sign < 0 ? p[a] - c->box.low[a] : c->box.high[a] - p[a];
        if (above <= reach) spots[count++] = (spot){p[b], p[d]};
    }
    bool holds;
    *touching =
        find_contact(spots, count, (spot){c->box.low[b], c->box.low[d]}, (spot){c->extent[b], c->extent[d]});
    const double footprint = c->extent[b] * c->extent[d],
                 share = hull_area(spots, count, (spot){c->middle[b], c->middle[d]}, &holds) / footprint;
    free(spots);
    return holds && footprint > 0.0 ? share : 0.0;
}

/* ---- Front ---- */

/* Returns the position of the middle of the upper third along an axis, relative to the box's middle and
 * length: -1/2 to 1/2. */
static double measure_cabin(const cloud *c, kf_heading up, int along) {
    double sum = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++) {
        const size_t u = (size_t)up.axis, l = (size_t)along;
        double height = (c->points[3 * i + u] - c->box.low[u]) / c->extent[u];
        if (up.sign < 0) height = 1.0 - height;
        if (height < 0.65) continue;
        sum += (c->points[3 * i + l] - c->box.low[l]) / c->extent[l] - 0.5;
        count++;
    }
    return count == 0 ? 0.0 : sum / (double)count;
}

/* ---- The guess ---- */

static const double SYMMETRIC = 0.97, STANDS = 0.2, ON_FEET = 2.5;

/* Guesses the upward axis: the side on which the mesh stands best. A few feet far apart are better than a
 * plane. */
static void guess_up(const cloud *c, const kf_mesh *mesh, kf_posture *p) {
    double best = 0.0, second = 0.0;
    contact touching;
    for (int side = 0; side < 6; side++) {
        const kf_heading up = {side / 2, side % 2 == 0 ? 1 : -1};
        if (up.axis == p->across) continue;
        const double stand = measure_stand(c, mesh, up.axis, -up.sign, &touching);
        /* Wheels or legs are far apart. */
        const bool feet = touching.share < FEET * stand;
        const double worth = (feet ? ON_FEET : 1.0) * stand;
        if (worth > best) {
            second = best;
            best = worth;
            p->up = up;
            /* The value of this guess measures how certain it is. */
            p->stand = stand;
        } else {
            second = fmax(second, worth);
        }
    }
    if (best > 0.0) p->up_sure = best / (best + second) * fmin(1.0, p->stand / STANDS);
}

/* Returns whether the mesh is symmetric to the plane along an axis, and longer along it than wide and high.
 */
static bool is_like_a_car(const kf_posture *p, const double extent[3], int along) {
    const int up = p->up.axis;
    if (p->across < 0 || p->across == up || p->across == along || along == up) return false;
    return extent[along] > 1.7 * extent[up] && extent[along] > 1.5 * extent[p->across];
}

void kf_posture_set_wind(const kf_mesh *mesh, kf_heading wind, kf_posture *p) {
    const kf_box box = kf_mesh_bounds(mesh);
    double extent[3];
    for (int a = 0; a < 3; a++)
        extent[a] = box.high[a] - box.low[a];
    p->wind = wind;
    p->axis_sure = p->front_sure = 1.0;
    p->like_a_car = is_like_a_car(p, extent, wind.axis);
}

/* Guesses the direction of the wind for a mesh with a known upward axis. It is the longer side. It blows
 * against the front of a body like a car. */
void kf_posture_heading(const kf_mesh *mesh, kf_posture *p) {
    cloud c = make_cloud(mesh);
    contact touching;
    p->stand = measure_stand(&c, mesh, p->up.axis, -p->up.sign, &touching);
    p->patches = touching.patches;
    p->contact = touching.share;
    const int first = (p->up.axis + 1) % 3, other = (p->up.axis + 2) % 3;
    int along = c.extent[first] >= c.extent[other] ? first : other;
    const double ratio = c.extent[along] / fmax(1e-300, c.extent[first + other - along]);
    double axis_sure = fmin(0.95, 0.5 + (ratio - 1.0));
    if (p->across >= 0 && p->across != p->up.axis) {
        along = first + other - p->across;
        axis_sure = 0.95;
    }
    const double cabin = measure_cabin(&c, p->up, along);
    const bool like_a_car = is_like_a_car(p, c.extent, along);
    double front_sure = like_a_car ? 0.5 + fmin(0.45, 4.0 * fabs(cabin)) : 0.5;
    /* Both ends look the same. */
    if (p->mirror[along] >= SYMMETRIC) front_sure = 0.95;
    /* The wind blows from the front to the side of the cabin. Without a front it comes from the lower end of
     * the axis. */
    p->wind = (kf_heading){along, like_a_car && cabin < 0.0 ? -1 : 1};
    p->axis_sure = axis_sure;
    p->front_sure = front_sure;
    p->like_a_car = like_a_car;
    free(c.points);
}

/* Guesses the posture of a mesh, and how certain each part of it is. */
kf_posture kf_mesh_posture(const kf_mesh *mesh) {
    kf_posture p = {.across = -1, .up = {2, 1}, .wind = {0, 1}};
    cloud c = make_cloud(mesh);
    int symmetric = 0;
    measure_mirrors(&c, p.mirror);
    for (int a = 0; a < 3; a++)
        if (p.mirror[a] >= SYMMETRIC) {
            symmetric++;
            p.across = a;
        }
    if (symmetric > 1) p.across = -1;
    p.as_it_is = symmetric == 3;
    if (p.as_it_is)
        p.up_sure = p.axis_sure = p.front_sure = 1.0;
    else
        guess_up(&c, mesh, &p);
    free(c.points);
    if (!p.as_it_is) kf_posture_heading(mesh, &p);
    return p;
}
