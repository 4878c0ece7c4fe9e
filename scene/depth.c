/* Computes how deep below the solid's surface its samples lie, so that the flow meets the surface where it
 * is.
 *
 * A sample's force is spread over the nodes around it. There it bends the profile of the velocity, which is
 * to be zero at the sample. Let the flow along a wall have the slope s at the distance n. Then u = s (n -
 * shift) away from the wall, and u is a constant c behind it. Let the forces have the profile phi across the
 * wall and the sum -nu s. They give u = c + s <max(0, n - X)>, where X is distributed as phi, so shift =
 * -c/s. No slip means <u(Y)> = 0, where Y is distributed as phi too. This gives c = -s <|X - Y|>/2. The
 * lattice adds two terms. A force also acts as kappa times its second difference, with kappa = 1/4 - 4/3
 * Lambda (the shift of a bounce-back wall). The interpolated velocity is the one before half of the force is
 * added. The sum is
 *
 *   shift = <|X - Y|>/2 + kappa <delta(X - Y)> - nu (1 - <delta(X - Y)>)/2.
 *
 * For the hat function on 2x2x2 nodes, X and Y have the variance 1/6 for each orientation of the wall.
 * <|X - Y|>/2 is 7/30 (0.230 to 0.233 over all directions), and <delta(X - Y)> is 2/3 (at most 0.69). The
 * measured shift of a wall along the axes is 0.24 to 0.37, depending on the position of the nodes. The
 * formula for one position, f(1 - f)(1 - nu) + kappa (1 - 2 f(1 - f)), gives 0.25 to 0.375.
 *
 * The fluid behind a closed surface moves with c and takes part of the force. In a ball and in a cylinder its
 * shear is c A/V (Hill's vortex and its plane counterpart), where A is the surface and V the volume. Then
 * shift = shift_0/(1 - shift_0 A/V). docs/physics.md lists the measured values of spheres and cylinders. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "scene/internal.h"

static const double DEEPEST = 1.0, MOST_BY_INSIDE = 2.0;

/* Returns the relaxation rate of the third-order moments. Rules that choose the rate by the flow stay near
 * these values. */
static double third_order_rate(const kf_scene *scene, double omega) {
    if (scene->collision == KF_BGK) return omega;
    switch (scene->rate_rule) {
    case KF_RATE_ONES:
        return 1.0;
    case KF_RATE_CONSTANT:
        return scene->high_order_rate;
    case KF_RATE_KBC:
        return omega;
    case KF_RATE_K17:
        return 8.0 * (omega - 2.0) * (1.0 + 2.0 * omega) / (-8.0 - 14.0 * omega + 7.0 * omega * omega);
    /* The rate of sums is 1.5, that of differences 1.74. This value lies between them. */
    case KF_RATE_SUGA_2015:
        return 1.61;
    default:
        return 1.97;
    }
}

double kf_scene_surface_depth(const kf_scene *scene, double surface_to_volume) {
    const double relaxation = 3.0 * scene->viscosity; /* 1/omega - 1/2 */
    const double rate = third_order_rate(scene, 1.0 / (relaxation + 0.5));
    const double lambda = relaxation * (1.0 / rate - 0.5);
    const double overlap = 2.0 / 3.0;
    const double flat =
        7.0 / 30.0 + overlap * (0.25 - 4.0 / 3.0 * lambda) - 0.5 * (1.0 - overlap) * scene->viscosity;
    const double depth = fmax(0.0, flat);
    const double inside = fmin(1.0 - 1.0 / MOST_BY_INSIDE, depth * surface_to_volume);
    return fmin(DEEPEST, depth / (1.0 - inside));
}

/* ---- Which way is inside ---- */

/* The nodes around the solid that the stream reaches. They are flooded from the box's rim, and no flood
 * crosses a node that a sample touches. */
typedef struct flood {
    int low[3], length[3];
    unsigned char *state; /* [z][y][x] */
} flood;
enum { DRY, SURFACE, WET, FLOOD_RIM = 4 };

static size_t flood_index(const flood *f, const int node[3]) {
    return (size_t)node[0] +
           (size_t)f->length[0] * ((size_t)node[1] + (size_t)f->length[1] * (size_t)node[2]);
}

static bool flood_holds(const flood *f, const int node[3]) {
    for (int a = 0; a < 3; a++)
        if (node[a] < 0 || node[a] >= f->length[a]) return false;
    return true;
}

static void flood_mark_surface(flood *f, const kf_samples *samples) {
    const double *const position[3] = {samples->x, samples->y, samples->z};
    for (size_t s = 0; s < samples->count; s++)
        for (int c = 0; c < 8; c++) {
            int node[3];
            for (int a = 0; a < 3; a++)
                node[a] = (int)floor(position[a][s]) - f->low[a] + (c >> a & 1);
            f->state[flood_index(f, node)] = SURFACE;
        }
}

/* Floods the nodes that the stream reaches from the box's rim. The flood does not cross a node that a sample
 * touches. */
static void flood_fill(flood *f) {
    const size_t count = (size_t)f->length[0] * (size_t)f->length[1] * (size_t)f->length[2];
    size_t *stack = kf_allocate(count * sizeof *stack), depth = 0;
    /* The rim has a distance from the surface. */
    f->state[0] = WET;
    stack[depth++] = 0;
    while (depth > 0) {
        const size_t at = stack[--depth];
        const size_t row = (size_t)f->length[0], plane = row * (size_t)f->length[1];
        const int here[3] = {(int)(at % row), (int)(at % plane / row), (int)(at / plane)};
        for (int side = 0; side < 6; side++) {
            int next[3] = {here[0], here[1], here[2]};
            next[side / 2] += side % 2 == 0 ? -1 : 1;
            if (!flood_holds(f, next)) continue;
            const size_t index = flood_index(f, next);
            if (f->state[index] != DRY) continue;
            f->state[index] = WET;
            stack[depth++] = index;
        }
    }
    free(stack);
}

static flood flood_around(const kf_scene *scene) {
    flood f;
    size_t count = 1;
    for (int a = 0; a < 3; a++) {
        f.low[a] = (int)floor(scene->solid_low[a]) - FLOOD_RIM;
        f.length[a] = (int)floor(scene->solid_high[a]) + 2 + FLOOD_RIM - f.low[a];
        count *= (size_t)f.length[a];
    }
    f.state = kf_allocate_zeroed(count, 1);
    flood_mark_surface(&f, &scene->samples);
    flood_fill(&f);
    return f;
}

/* Follows the normal to one side of a sample, and returns the state of the first node that no sample touches.
 */
static int flood_look(const flood *f, const double position[3], const double normal[3], double sign) {
    for (int halves = 3; halves < 2 * FLOOD_RIM; halves++) {
        const double distance = 0.5 * halves;
        int node[3];
        for (int a = 0; a < 3; a++)
            node[a] = (int)lround(position[a] + sign * distance * normal[a]) - f->low[a];
        if (!flood_holds(f, node)) return WET;
        const int state = f->state[flood_index(f, node)];
        if (state != SURFACE) return state;
    }
    return SURFACE;
}

/* Turns the normals outwards. Where the stream reaches the surface from both sides, or from neither, the
 * normal becomes 0. */
static void turn_by_flood(const kf_scene *scene, double *normals) {
    flood f = flood_around(scene);
    const kf_samples *samples = &scene->samples;
    for (size_t s = 0; s < samples->count; s++) {
        const double position[3] = {samples->x[s], samples->y[s], samples->z[s]};
        double *normal = normals + 3 * s;
        const bool front = flood_look(&f, position, normal, 1.0) == WET,
                   back = flood_look(&f, position, normal, -1.0) == WET;
        const double sign = front == back ? 0.0 : front ? 1.0 : -1.0;
        for (int a = 0; a < 3; a++)
            normal[a] *= sign;
    }
    free(f.state);
}

/* ---- Thin parts ---- */

/* The sum of the samples of a cube whose normals point to about the same side. */
typedef struct patch {
    size_t count;
    double position[3], normal[3];
} patch;

/* A cube that has samples. They are grouped by the axis and sign nearest to their normals. */
typedef struct cube {
    long at[3];
    patch looks[6];
} cube;

typedef struct patches {
    /* The edge of a cube. */
    double edge;
    cube *cubes;
    size_t count, room;
    /* A hash table with open addressing. An entry is the number of a cube plus 1, or 0 when it is free. It is
     * small enough for the caches. */
    uint32_t *table;
    size_t slots;
} patches;

static int nearest_side(const double normal[3]) {
    int axis = 0;
    for (int a = 1; a < 3; a++)
        if (fabs(normal[a]) > fabs(normal[axis])) axis = a;
    return 2 * axis + (normal[axis] < 0.0);
}

/* Returns the slot of a cube, or the free slot for it. */
static uint32_t *find_slot(const patches *p, const long at[3]) {
    uint64_t hash = 0;
    for (int a = 0; a < 3; a++) {
        hash = (hash ^ (uint64_t)at[a]) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 29;
    }
    size_t slot = hash & (p->slots - 1);
    while (p->table[slot] > 0 && memcmp(p->cubes[p->table[slot] - 1].at, at, sizeof p->cubes->at) != 0)
        slot = (slot + 1) & (p->slots - 1);
    return &p->table[slot];
}

static void cube_of(const patches *p, const kf_samples *samples, size_t s, long at[3]) {
    const double position[3] = {samples->x[s], samples->y[s], samples->z[s]};
    for (int a = 0; a < 3; a++)
        at[a] = (long)floor(position[a] / p->edge);
}

static void enlarge_table(patches *p) {
    free(p->table);
    p->slots *= 2;
    p->table = kf_allocate_zeroed(p->slots, sizeof *p->table);
    for (size_t c = 0; c < p->count; c++)
        *find_slot(p, p->cubes[c].at) = (uint32_t)(c + 1);
}

/* Finds a cube, and makes it when it does not exist yet. */
static cube *need_cube(patches *p, const long at[3]) {
    uint32_t *slot = find_slot(p, at);
    if (*slot == 0) {
        p->cubes = kf_grow(p->cubes, p->count, &p->room, sizeof *p->cubes);
        cube *made = &p->cubes[p->count++];
        memset(made, 0, sizeof *made);
        memcpy(made->at, at, sizeof made->at);
        *slot = (uint32_t)p->count;
        if (4 * p->count >= p->slots) enlarge_table(p);
        return made;
    }
    return &p->cubes[*slot - 1];
}

/* Groups samples into cubes by the side to which they point. Each group gets its mean position and normal. */
static patches gather_patches(const kf_samples *samples, const double *normals, double edge) {
    patches p = {.edge = edge, .slots = 64};
    p.table = kf_allocate_zeroed(p.slots, sizeof *p.table);
    for (size_t s = 0; s < samples->count; s++) {
        long at[3];
        const double *normal = normals + 3 * s, position[3] = {samples->x[s], samples->y[s], samples->z[s]};
        cube_of(&p, samples, s, at);
        patch *here = &need_cube(&p, at)->looks[nearest_side(normal)];
        here->count++;
        for (int a = 0; a < 3; a++) {
            here->position[a] += position[a];
            here->normal[a] += normal[a];
        }
    }
    return p;
}

/* A plane of the surface near a sample. */
typedef struct near_plane {
    double normal[3];
    /* The distance of the sample behind the plane. INFINITY means that there is no plane. */
    double below;
} near_plane;

/* Returns the plane of a patch, with the distance of the sample behind it. */
static near_plane plane_of(const patch *other, const double position[3], double reach) {
    near_plane plane = {.below = 0.0};
    double square = 0.0, length = 0.0;
    for (int a = 0; a < 3; a++)
        length += other->normal[a] * other->normal[a];
    length = sqrt(length);
    for (int a = 0; a < 3 && length > 0.0; a++) {
        const double arm = other->position[a] / (double)other->count - position[a];
        plane.normal[a] = other->normal[a] / length;
        plane.below += arm * plane.normal[a];
        square += arm * arm;
    }
    if (length == 0.0 || plane.below < 0.0 || square >= reach * reach) plane.below = INFINITY;
    return plane;
}

/* The surroundings of a sample: the solid's thickness below it, and one plane for each side. Of the
 * planes that form an edge with the sample's plane, it is the one that the sample lies behind least. */
typedef struct surroundings {
    double thickness;
    near_plane edge[6];
} surroundings;

/* Updates the surroundings of a sample by the patches of a cube that point elsewhere. */
static void look_at_cube(const cube *there, const double position[3], const double normal[3], double reach,
                         surroundings *found) {
    const int own = nearest_side(normal);
    for (int looks = 0; looks < 6; looks++) {
        const patch *other = &there->looks[looks];
        if (looks == own || other->count == 0) continue;
        const near_plane plane = plane_of(other, position, reach);
        double facing = 0.0;
        for (int a = 0; a < 3; a++)
            facing -= plane.normal[a] * normal[a];
        if (facing > 0.1) found->thickness = fmin(found->thickness, plane.below / facing);
        if (fabs(facing) < 0.5 && plane.below < found->edge[looks].below) found->edge[looks] = plane;
    }
}

static surroundings look_around(const patches *p, const kf_samples *samples, size_t s,
                                const double normal[3]) {
    surroundings found = {.thickness = INFINITY};
    const double position[3] = {samples->x[s], samples->y[s], samples->z[s]};
    long at[3];
    cube_of(p, samples, s, at);
    for (int looks = 0; looks < 6; looks++)
        found.edge[looks].below = INFINITY;
    for (int n = 0; n < 27; n++) {
        const long there[3] = {at[0] + n % 3 - 1, at[1] + n / 3 % 3 - 1, at[2] + n / 9 - 1};
        const uint32_t number = *find_slot(p, there);
        if (number > 0) look_at_cube(&p->cubes[number - 1], position, normal, 1.5 * p->edge, &found);
    }
    return found;
}

/* ---- Moving the samples ---- */

/* Returns whether a triangle is part of a sheet, which has fluid on both sides. */
static bool is_sheet(const kf_mesh *mesh, uint32_t triangle) {
    return triangle >= mesh->triangle_count - mesh->sheet_count;
}

/* Computes the unit normals of the samples' triangles from their winding. The normal of a sheet is 0. */
static double *triangle_normals(const kf_mesh *mesh, const uint32_t *triangles, size_t count) {
    double *normals = kf_allocate_zeroed(3 * count + 1, sizeof *normals);
    for (size_t s = 0; s < count; s++)
        if (!is_sheet(mesh, triangles[s])) kf_mesh_normal(mesh, triangles[s], normals + 3 * s);
    return normals;
}

/* Moves a sample along its normal by the depth, at most by half of the thickness. It moves as far below the
 * planes that form an edge with its plane. Between two of them it stays half-way. */
static void sink_sample(const surroundings *around, const double normal[3], double depth, double shift[3]) {
    const double own = fmin(depth, 0.5 * around->thickness);
    for (int a = 0; a < 3; a++)
        shift[a] = -own * normal[a];
    for (int looks = 0; looks < 6; looks++) {
        const near_plane *plane = &around->edge[looks], *opposite = &around->edge[looks ^ 1];
        const double wanted = fmin(depth, 0.5 * (plane->below + opposite->below));
        for (int a = 0; a < 3 && plane->below < wanted; a++)
            shift[a] -= (wanted - plane->below) * plane->normal[a];
    }
}

/* The input of the threads that find how far each sample moves. */
typedef struct sinking {
    const kf_scene *scene;
    const uint32_t *triangles;
    const double *normals;
    const patches *patches;
    double depth;
    /* Three values for each sample, 0 at first. */
    double *shifts;
} sinking;
/* Fewer samples do not justify a thread. */
enum { FEW_SAMPLES = 10000 };

static void find_shifts(void *data, size_t begin, size_t end) {
    const sinking *k = data;
    for (size_t s = begin; s < end; s++) {
        if (is_sheet(&k->scene->mesh, k->triangles[s])) continue;
        const surroundings around = look_around(k->patches, &k->scene->samples, s, k->normals + 3 * s);
        sink_sample(&around, k->normals + 3 * s, k->depth, k->shifts + 3 * s);
    }
}

static const double LEAST_AREA = 0.25;

void kf_scene_set_depth(kf_scene *scene) {
    kf_body body;
    double sheets = 0.0;
    for (size_t t = 0; t < scene->mesh.sheet_count; t++)
        sheets += kf_mesh_triangle_area(&scene->mesh, scene->mesh.triangle_count - 1 - t);
    const double area = kf_mesh_area(&scene->mesh) - sheets;
    scene->open_edges = kf_mesh_body(&scene->mesh, false, &body);
    const bool closed = scene->open_edges == 0 && body.volume > 0.0;
    const double surface_to_volume = closed ? area / body.volume : 0.0;
    scene->surface_depth = kf_scene_surface_depth(scene, surface_to_volume);
    /* The formula is exact for balls and cubes. */
    const double shrunk = fmax(0.0, 1.0 - scene->surface_depth * surface_to_volume / 3.0);
    scene->solid_area = area * fmax(LEAST_AREA, shrunk * shrunk) + sheets;
}

/* Moves the samples below the surface by the depth at which the hat kernel makes the body as large as the
 * solid. Thin parts get less depth. Each sample gets an equal share of the area. */
void kf_scene_sink_samples(kf_scene *scene, const uint32_t *triangles) {
    kf_samples *samples = &scene->samples;
    const double depth = scene->surface_depth;
    kf_body body;
    if (depth == 0.0) return;
    double *normals = triangle_normals(&scene->mesh, triangles, samples->count);
    if (kf_mesh_body(&scene->mesh, false, &body) > 0 || body.volume <= 0.0)
        turn_by_flood(scene, normals);
    else if (body.inwards)
        for (size_t i = 0; i < 3 * samples->count; i++)
            normals[i] = -normals[i];
    patches p = gather_patches(samples, normals, 2.0 * depth);
    double *shifts = kf_allocate_zeroed(3 * samples->count + 1, sizeof *shifts);
    kf_in_parallel(samples->count, FEW_SAMPLES, find_shifts,
                   &(sinking){scene, triangles, normals, &p, depth, shifts});
    const double share = scene->solid_area / (double)samples->count;
    double *const position[3] = {samples->x, samples->y, samples->z};
    for (size_t s = 0; s < samples->count; s++) {
        samples->area[s] = share;
        /* The planes of a sharp edge could push a sample outside the solid's box. It is kept inside. */
        for (int a = 0; a < 3; a++)
            position[a][s] = fmin(fmax(position[a][s] + shifts[3 * s + (size_t)a], scene->solid_low[a]),
                                  scene->solid_high[a]);
    }
    free(shifts);
    free(p.table);
    free(p.cubes);
    free(normals);
}
