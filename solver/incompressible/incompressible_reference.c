/* The reference. It uses double precision on the host, computes one face after the other, and solves the
 * pressure to rounding by plain conjugate gradients. It shares no code with kernels/; only the grid of the
 * solid's distance is the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/incompressible/incompressible.h"
#include "solver/incompressible/reference.h"

typedef struct run {
    const kf_scene *scene;
    /* The numbers of cells, and of faces along each axis, which are one more. */
    int n[3], m[3];
    size_t room;
    bool wraps[3], solid, singular;
    kf_distance_grid distance;
    /* The motion of the solid. */
    double rotation[9], center[3], velocity[3], turn[3];
    /* How open faces are, and the heights of cells. */
    double *open[3], *height;
    double *u[3], *moved[3], *back[3], *next[3], *p[2];
} run;

static size_t at(const run *r, const int x[3]) {
    return (size_t)x[0] + (size_t)r->m[0] * ((size_t)x[1] + (size_t)r->m[1] * (size_t)x[2]);
}

/* Moves to the next cell or face along an axis. Returns false when there is none. */
static bool step(const run *r, const int from[3], int axis, int by, int last, int to[3]) {
    memcpy(to, from, 3 * sizeof *to);
    to[axis] += by;
    if (r->wraps[axis]) to[axis] = (to[axis] + r->n[axis]) % r->n[axis];
    return to[axis] >= 0 && to[axis] <= last;
}

/* --- The solid -------------------------------------------------------------------------------------------
 */

/* Returns the signed distance to the moved solid at a place, in cells, from its grid by trilinear
 * interpolation. */
static double distance_at(const run *r, const double x[3]) {
    double body[3];
    for (int i = 0; i < 3; i++) {
        body[i] = r->scene->motion.center[i];
        for (int j = 0; j < 3; j++)
            body[i] += r->rotation[3 * j + i] * (x[j] - r->center[j]);
    }
    return kf_distance_at(&r->distance, body);
}

/* Returns the area, of 1/2, of the part of a triangle where the linear function is positive. It clips the
 * triangle. */
static double positive_area(const double f[3]) {
    static const double corner[3][2] = {{0, 0}, {1, 0}, {0, 1}};
    double polygon[6][2], area = 0.0;
    int count = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        if (f[i] > 0.0) memcpy(polygon[count++], corner[i], sizeof corner[i]);
        if ((f[i] > 0.0) != (f[j] > 0.0)) {
            const double t = f[i] / (f[i] - f[j]);
            for (int a = 0; a < 2; a++)
                polygon[count][a] = corner[i][a] + t * (corner[j][a] - corner[i][a]);
            count++;
        }
    }
    for (int i = 0; i < count; i++) {
        const double *p = polygon[i], *q = polygon[(i + 1) % count];
        area += 0.5 * (p[0] * q[1] - q[0] * p[1]);
    }
    return area;
}

static double open_share(const run *r, int axis, const int x[3]) {
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    double d[4];
    for (int corner = 0; corner < 4; corner++) {
        double place[3] = {x[0], x[1], x[2]};
        place[axis] -= 0.5;
        place[i] += corner == 1 || corner == 2 ? 0.5 : -0.5;
        place[j] += corner >= 2 ? 0.5 : -0.5;
        d[corner] = distance_at(r, place);
    }
    /* The mean of cuts along both diagonals is symmetric. */
    double share = 0.0;
    for (int c = 0; c < 4; c++)
        share += 0.5 * positive_area((double[3]){d[c], d[(c + 1) % 4], d[(c + 2) % 4]});
    return share < 0.02 ? 0.0 : share;
}

/* Works out the open share of every face, rounded as kernels store it, and the solid's height at every
 * corner. */
static void open_faces(run *r) {
    int x[3];
    for (x[2] = 0; x[2] <= r->n[2]; x[2]++)
        for (x[1] = 0; x[1] <= r->n[1]; x[1]++)
            for (x[0] = 0; x[0] <= r->n[0]; x[0]++) {
                const size_t k = at(r, x);
                const double place[3] = {x[0], x[1], x[2]};
                if (r->solid) {
                    const double depth = 128.0 - round(distance_at(r, place) * KF_DEPTH);
                    r->height[k] = (128.0 - fmin(fmax(depth, 0.0), 255.0)) / KF_DEPTH;
                }
                for (int axis = 0; axis < 3; axis++) {
                    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
                    const bool edge = !r->wraps[axis] && (x[axis] == 0 || x[axis] == r->n[axis]);
                    const bool shut = x[i] >= r->n[i] || x[j] >= r->n[j] ||
                                      (r->wraps[axis] && x[axis] >= r->n[axis]) ||
                                      (edge && r->scene->faces[2 * axis + (x[axis] > 0)] != KF_OUTFLOW);
                    const double share = shut ? 0.0 : r->solid ? open_share(r, axis, x) : 1.0;
                    r->open[axis][k] = floor(share * KF_OPEN + 0.5) / KF_OPEN;
                }
            }
}

static double solid_speed(const run *r, int axis, const double x[3]) {
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    return r->velocity[axis] + r->turn[i] * (x[j] - r->center[j]) - r->turn[j] * (x[i] - r->center[i]);
}

static double solid_speed_at_face(const run *r, int axis, const int x[3]) {
    double place[3] = {x[0], x[1], x[2]};
    place[axis] -= 0.5;
    return solid_speed(r, axis, place);
}

/* Returns whether a face of the domain has its normal velocity prescribed. */
static bool is_prescribed(const run *r, int axis, const int x[3]) {
    return !r->wraps[axis] && (x[axis] == 0 || x[axis] == r->n[axis]) &&
           r->scene->faces[2 * axis + (x[axis] > 0)] != KF_OUTFLOW;
}

static double hold(const run *r, int axis, const int x[3], double value) {
    if (is_prescribed(r, axis, x)) return r->scene->face_velocity[2 * axis + (x[axis] > 0)][axis];
    if (r->solid && r->open[axis][at(r, x)] == 0.0) return solid_speed_at_face(r, axis, x);
    return value;
}

/* --- Advection -------------------------------------------------------------------------------------------
 */

static bool has_face(const run *r, int axis, const int x[3]) {
    for (int i = 0; i < 3; i++)
        if (x[i] >= r->n[i] + (i == axis && !r->wraps[i])) return false;
    return true;
}

/* Interpolates component `axis` of a field at a point, and finds the smallest and largest of the values used.
 */
static double sample(const run *r, double *const field[3], int axis, const double point[3], double range[2]) {
    double share[3], sum = 0.0;
    int low[3];
    for (int i = 0; i < 3; i++) {
        const double place = point[i] + (i == axis ? 0.5 : 0.0);
        low[i] = (int)floor(place);
        share[i] = place - low[i];
    }
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1.0;
        int x[3];
        for (int i = 0; i < 3; i++) {
            const int up = corner >> i & 1, last = r->n[i] - 1 + (i == axis);
            x[i] = low[i] + up;
            weight *= up == 1 ? share[i] : 1.0 - share[i];
            if (r->wraps[i])
                x[i] = (x[i] % r->n[i] + r->n[i]) % r->n[i];
            else
                x[i] = x[i] < 0 ? 0 : x[i] > last ? last : x[i];
        }
        const double value = field[axis][at(r, x)];
        sum += weight * value;
        range[0] = fmin(range[0], value);
        range[1] = fmax(range[1], value);
    }
    return sum;
}

static void trace(const run *r, int axis, const int x[3], double time, double end[3]) {
    double start[3] = {x[0], x[1], x[2]}, middle[3], ignored[2];
    start[axis] -= 0.5;
    for (int i = 0; i < 3; i++)
        middle[i] = start[i] + 0.5 * time * sample(r, r->u, i, start, ignored);
    const double *from = kf_incompressible_model_of(r->scene)->trace == KF_TRACE_MIDPOINT ? middle : start;
    for (int i = 0; i < 3; i++)
        end[i] = start[i] + time * sample(r, r->u, i, from, ignored);
}

static double face_height(const run *r, int axis, const int x[3]) {
    int below[3];
    const bool inside = step(r, x, axis, -1, r->n[axis], below);
    return 0.5 * (r->height[at(r, x)] + (inside ? r->height[at(r, below)] : 128.0 / KF_DEPTH));
}

/* Returns the sum of the viscous term at a face. *links times the face's value must be subtracted.
 * *wall_links of the links and *wall of the sum belong to the solid. */
static double viscous_sum(const run *r, const double *u, int axis, const int x[3], double *links,
                          double *wall, double *wall_links) {
    double sum = 0.0;
    *links = *wall = *wall_links = 0.0;
    for (int side = 0; side < 6; side++) {
        const int along = side / 2, last = r->n[along] - 1 + (along == axis && !r->wraps[along]);
        int to[3];
        if (!step(r, x, along, side % 2 ? 1 : -1, last, to)) {
            const kf_boundary face = r->scene->faces[side];
            if (along == axis || (face != KF_WALL && face != KF_INFLOW)) continue;
            sum += 2.0 * r->scene->face_velocity[side][axis];
            *links += 2.0;
            continue;
        }
        const double there = r->solid ? face_height(r, axis, to) : 1.0;
        if (there <= 0.0) {
            const double here = fmax(face_height(r, axis, x), 0.02),
                         link = 1.0 / fmax(here / (here - there), 0.25);
            *wall += link * solid_speed_at_face(r, axis, x);
            *wall_links += link;
            continue;
        }
        sum += u[at(r, to)];
        *links += 1.0;
    }
    return sum;
}

/* Does one half of MacCormack's advection of a component (Selle et al. 2008): the prediction, or the
 * correction with limiter, force and explicit viscosity. */
static void advect_faces(run *r, double *const source[3], int axis, bool correct) {
    const double half = 0.5, nu = r->scene->viscosity * half;
    const kf_incompressible_model *model = kf_incompressible_model_of(r->scene);
    const kf_viscous_term viscous = kf_incompressible_viscous_term(r->scene);
    int x[3];
    for (x[2] = 0; x[2] <= r->n[2]; x[2]++)
        for (x[1] = 0; x[1] <= r->n[1]; x[1]++)
            for (x[0] = 0; x[0] <= r->n[0]; x[0]++) {
                if (!has_face(r, axis, x)) continue;
                const size_t k = at(r, x);
                double from[3], range[2], ignored[2], to[3];
                trace(r, axis, x, -half, from);
                const double moved = sample(r, source, axis, from, range);
                if (!correct) {
                    r->moved[axis][k] = hold(r, axis, x, moved);
                    continue;
                }
                trace(r, axis, x, half, to);
                double value =
                    r->moved[axis][k] + 0.5 * (source[axis][k] - sample(r, r->moved, axis, to, ignored));
                if (!model->unlimited) value = fmin(fmax(value, range[0]), range[1]);
                value += half * r->scene->body_force[axis];
                if (viscous == KF_VISCOUS_EXPLICIT) {
                    double links, wall, wall_links;
                    const double around = viscous_sum(r, r->u[axis], axis, x, &links, &wall, &wall_links);
                    value = (value + nu * (around - links * r->u[axis][k] + wall)) / (1.0 + nu * wall_links);
                }
                r->next[axis][k] = hold(r, axis, x, value);
            }
}

/* Solves the implicit viscous term by Gauss-Seidel to rounding. */
static void diffuse(run *r, int axis) {
    enum { SWEEPS = 60 };
    const double nu = r->scene->viscosity * 0.5;
    double *u = r->next[axis];
    memcpy(r->back[axis], u, r->room * sizeof *u);
    int x[3];
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (x[2] = 0; x[2] <= r->n[2]; x[2]++)
            for (x[1] = 0; x[1] <= r->n[1]; x[1]++)
                for (x[0] = 0; x[0] <= r->n[0]; x[0]++) {
                    if (!has_face(r, axis, x)) continue;
                    const size_t k = at(r, x);
                    double links, wall, wall_links;
                    const double around = viscous_sum(r, u, axis, x, &links, &wall, &wall_links);
                    u[k] =
                        hold(r, axis, x,
                             (r->back[axis][k] + nu * (around + wall)) / (1.0 + nu * (links + wall_links)));
                }
}

static void advect(run *r, double *const source[3]) {
    for (int axis = 0; axis < 3; axis++)
        advect_faces(r, source, axis, false);
    for (int axis = 0; axis < 3; axis++)
        advect_faces(r, source, axis, true);
    for (int axis = 0; axis < 3 && kf_incompressible_viscous_term(r->scene) == KF_VISCOUS_IMPLICIT; axis++)
        diffuse(r, axis);
}

/* --- Pressure --------------------------------------------------------------------------------------------
 */

static bool is_cell(const run *r, const int x[3]) {
    return x[0] < r->n[0] && x[1] < r->n[1] && x[2] < r->n[2];
}

/* A row of A: a cell, its neighbours, the openness of the faces between them, and the sum of that. The place
 * of a neighbour beyond an open face of the domain is the last one, which is no cell and has the pressure 0.
 */
typedef struct row {
    size_t cell, other[6];
    double open[6], sum;
} row;

static row row_at(const run *r, const int x[3]) {
    row found = {.cell = at(r, x)};
    for (size_t side = 0; side < 6; side++) {
        const int axis = (int)side / 2;
        int to[3], face[3] = {x[0], x[1], x[2]};
        const bool inside = step(r, x, axis, side % 2 ? 1 : -1, r->n[axis] - 1, to);
        if (side % 2) face[axis] = r->wraps[axis] ? to[axis] : x[axis] + 1;
        found.other[side] = inside ? at(r, to) : r->room - 1;
        found.open[side] = r->open[axis][at(r, face)];
        found.sum += found.open[side];
    }
    return found;
}

/* Returns A p at a cell. */
static double balance(const row *a, const double *p) {
    double result = 0.0;
    for (int side = 0; side < 6; side++)
        result += a->open[side] * (p[a->cell] - p[a->other[side]]);
    return result;
}

/* Returns what flows into a cell through its six faces, the solid's motion taken off where it has a share. */
static double inflow(const run *r, double *const u[3], const int x[3]) {
    double sum = 0.0;
    for (int side = 0; side < 6; side++) {
        const int axis = side / 2;
        int face[3] = {x[0], x[1], x[2]};
        if (side % 2) face[axis] = r->wraps[axis] ? (x[axis] + 1) % r->n[axis] : x[axis] + 1;
        const size_t k = at(r, face);
        double place[3] = {x[0], x[1], x[2]};
        place[axis] += side % 2 ? 0.5 : -0.5;
        const double share = is_prescribed(r, axis, face) ? 1.0 : r->open[axis][k];
        const double flux = share * (u[axis][k] - (r->solid ? solid_speed_at_face(r, axis, face) : 0.0));
        sum += side % 2 ? -flux : flux;
    }
    return sum;
}

static double product(const run *r, const double *a, const double *b) {
    double sum = 0.0;
    for (size_t k = 0; k < r->room; k++)
        sum += a[k] * b[k];
    return sum;
}

/* Solves for p with the velocity u, which stays. */
static void solve(const run *r, double *const u[3], double *p) {
    enum { MOST = 20000 };
    double *residual = kf_allocate_zeroed(r->room, sizeof *residual),
           *direction = kf_allocate_zeroed(r->room, sizeof *direction),
           *image = kf_allocate_zeroed(r->room, sizeof *image), mean = 0.0;
    row *rows = kf_allocate(r->room * sizeof *rows);
    size_t count = 0;
    int x[3];
    memset(p, 0, r->room * sizeof *p);
    for (x[2] = 0; x[2] < r->n[2]; x[2]++)
        for (x[1] = 0; x[1] < r->n[1]; x[1]++)
            for (x[0] = 0; x[0] < r->n[0]; x[0]++) {
                rows[count] = row_at(r, x);
                if (rows[count].sum == 0.0) continue;
                residual[rows[count].cell] = inflow(r, u, x);
                mean += residual[rows[count].cell];
                count++;
            }
    for (size_t i = 0; i < count && r->singular; i++)
        residual[rows[i].cell] -= mean / (double)count;
    double square = product(r, residual, residual);
    const double limit = 1e-22 * square;
    memcpy(direction, residual, r->room * sizeof *residual);
    for (int i = 0; i < MOST && square > limit; i++) {
        for (size_t k = 0; k < count; k++)
            image[rows[k].cell] = balance(&rows[k], direction);
        const double alpha = square / product(r, direction, image), before = square;
        for (size_t k = 0; k < r->room; k++) {
            p[k] += alpha * direction[k];
            residual[k] -= alpha * image[k];
        }
        square = product(r, residual, residual);
        for (size_t k = 0; k < r->room; k++)
            direction[k] = residual[k] + square / before * direction[k];
    }
    free(rows);
    free(residual);
    free(direction);
    free(image);
}

/* Sets target = source - share of the gradient. */
static void take_gradient(const run *r, double *const source[3], const double *p, double share,
                          double *const target[3]) {
    int x[3];
    for (x[2] = 0; x[2] <= r->n[2]; x[2]++)
        for (x[1] = 0; x[1] <= r->n[1]; x[1]++)
            for (x[0] = 0; x[0] <= r->n[0]; x[0]++)
                for (int axis = 0; axis < 3; axis++) {
                    if (!has_face(r, axis, x)) continue;
                    int below[3];
                    const bool inside = step(r, x, axis, -1, r->n[axis], below);
                    const double slope =
                        (is_cell(r, x) ? p[at(r, x)] : 0.0) - (inside ? p[at(r, below)] : 0.0);
                    const size_t k = at(r, x);
                    target[axis][k] = hold(r, axis, x, source[axis][k] - share * slope);
                }
}

/* --- All of it -------------------------------------------------------------------------------------------
 */

static void pose(run *r, int steps) {
    const kf_motion *motion = &r->scene->motion;
    kf_motion_pose(motion, steps, r->rotation, r->center);
    for (int i = 0; i < 3 && motion->moving; i++) {
        r->velocity[i] = motion->velocity[i];
        r->turn[i] = motion->angular_speed * motion->axis[i];
    }
    open_faces(r);
}

/* Begins with the scene's velocities, averaged to faces and projected. */
static void begin(run *r) {
    int x[3];
    for (x[2] = 0; x[2] <= r->n[2]; x[2]++)
        for (x[1] = 0; x[1] <= r->n[1]; x[1]++)
            for (x[0] = 0; x[0] <= r->n[0]; x[0]++)
                for (int axis = 0; axis < 3; axis++) {
                    double density, upper[3], lower[3];
                    if (!has_face(r, axis, x)) continue;
                    int below[3], here[3] = {x[0], x[1], x[2]};
                    if (!step(r, x, axis, -1, r->n[axis] - 1, below)) below[axis] = x[axis];
                    if (here[axis] == r->n[axis]) here[axis]--;
                    kf_scene_initial(r->scene, here[0], here[1], here[2], &density, upper);
                    kf_scene_initial(r->scene, below[0], below[1], below[2], &density, lower);
                    r->u[axis][at(r, x)] = 0.5 * (upper[axis] + lower[axis]);
                    if (is_prescribed(r, axis, x))
                        r->u[axis][at(r, x)] = r->scene->face_velocity[2 * axis + (x[axis] > 0)][axis];
                }
    solve(r, r->u, r->p[0]);
    take_gradient(r, r->u, r->p[0], 1.0, r->u);
}

/* Does one step: half of it advected and projected, the velocity reflected about that, and the other half
 * advected and projected. */
static void advance(run *r) {
    advect(r, r->u);
    solve(r, r->next, r->p[0]);
    take_gradient(r, r->next, r->p[0], 1.0, r->u);
    take_gradient(r, r->next, r->p[0], 2.0, r->back);
    double *reflected[3];
    for (int i = 0; i < 3; i++) {
        reflected[i] = kf_allocate(r->room * sizeof(double));
        memcpy(reflected[i], r->back[i], r->room * sizeof(double));
    }
    advect(r, reflected);
    for (int i = 0; i < 3; i++)
        free(reflected[i]);
    solve(r, r->next, r->p[1]);
    take_gradient(r, r->next, r->p[1], 1.0, r->u);
}

/* Sums the force and torque on the solid: pressure on the shares of faces that it closes, and friction. */
static void find_load(const run *r, kf_solid_load *load) {
    int x[3];
    const double nu = kf_incompressible_viscous_term(r->scene) == KF_VISCOUS_OFF ? 0.0 : r->scene->viscosity;
    memset(load, 0, sizeof *load);
    for (x[2] = 0; x[2] < r->n[2] && r->solid; x[2]++)
        for (x[1] = 0; x[1] < r->n[1]; x[1]++)
            for (x[0] = 0; x[0] < r->n[0]; x[0]++) {
                double force[3], arm[3];
                const double sum = row_at(r, x).sum;
                for (int axis = 0; axis < 3; axis++) {
                    double links, wall, wall_links;
                    int up[3];
                    (void)step(r, x, axis, 1, r->n[axis], up);
                    const bool edge = !r->wraps[axis] && (x[axis] == 0 || x[axis] == r->n[axis] - 1);
                    const double p = 2.0 * r->p[0][at(r, x)] + r->p[1][at(r, x)];
                    force[axis] = edge ? 0.0 : -p * (r->open[axis][at(r, up)] - r->open[axis][at(r, x)]);
                    if (sum == 0.0) force[axis] = 0.0;
                    arm[axis] = x[axis] - r->center[axis];
                    if (r->open[axis][at(r, x)] == 0.0 || face_height(r, axis, x) <= 0.0) continue;
                    (void)viscous_sum(r, r->u[axis], axis, x, &links, &wall, &wall_links);
                    force[axis] += nu * (wall_links * r->u[axis][at(r, x)] - wall);
                }
                for (int i = 0; i < 3; i++) {
                    const int j = (i + 1) % 3, k = (i + 2) % 3;
                    load->force[i] += force[i];
                    load->torque[i] += arm[j] * force[k] - arm[k] * force[j];
                }
            }
}

/* Returns pressure and velocity at cell centres, [4][z][y][x]. Without outflow the pressure's mean is 0. The
 * caller frees them. */
static double *centred(const run *r) {
    const size_t count = (size_t)r->n[0] * (size_t)r->n[1] * (size_t)r->n[2];
    double *values = kf_allocate(4 * count * sizeof *values), total = 0.0, cells = 0.0;
    int x[3];
    size_t i = 0;
    for (int pass = 0; pass < 2; pass++, i = 0)
        for (x[2] = 0; x[2] < r->n[2]; x[2]++)
            for (x[1] = 0; x[1] < r->n[1]; x[1]++)
                for (x[0] = 0; x[0] < r->n[0]; x[0]++, i++) {
                    const double sum = row_at(r, x).sum;
                    const double p = 3.0 * (2.0 * r->p[0][at(r, x)] + r->p[1][at(r, x)]);
                    total += pass == 0 && sum > 0.0 ? p : 0.0;
                    cells += pass == 0 && sum > 0.0 ? 1.0 : 0.0;
                    values[i] = sum > 0.0 ? p - (r->singular ? total / cells : 0.0) : 0.0;
                    for (int axis = 0; axis < 3; axis++) {
                        int up[3];
                        (void)step(r, x, axis, 1, r->n[axis], up);
                        values[((size_t)axis + 1) * count + i] =
                            0.5 * (r->u[axis][at(r, x)] + r->u[axis][at(r, up)]);
                    }
                }
    return values;
}

kf_status kf_incompressible_reference(const kf_problem *problem, int steps, kf_reference **reference,
                                      kf_error *error) {
    const kf_scene *scene = kf_problem_scene(problem);
    run r = {.scene = scene, .solid = scene->mesh.triangle_count > 0, .singular = true};
    (void)error;
    r.room = 1;
    for (int i = 0; i < 3; i++) {
        r.n[i] = scene->nodes[i];
        r.m[i] = r.n[i] + 1;
        r.room *= (size_t)r.m[i];
        r.wraps[i] = scene->faces[2 * i] == KF_PERIODIC;
        r.singular &= scene->faces[2 * i] != KF_OUTFLOW && scene->faces[2 * i + 1] != KF_OUTFLOW;
    }
    double **const arrays[] = {&r.open[0], &r.open[1],  &r.open[2],  &r.height,   &r.u[0],    &r.u[1],
                               &r.u[2],    &r.moved[0], &r.moved[1], &r.moved[2], &r.back[0], &r.back[1],
                               &r.back[2], &r.next[0],  &r.next[1],  &r.next[2],  &r.p[0],    &r.p[1]};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        *arrays[i] = kf_allocate_zeroed(r.room, sizeof(double));
    if (r.solid) kf_scene_distance(scene, &r.distance);
    pose(&r, 0);
    begin(&r);
    for (int i = 0; i < steps; i++) {
        if (scene->motion.moving) pose(&r, i + 1);
        advance(&r);
    }
    kf_reference *made = kf_allocate_zeroed(1, sizeof *made);
    made->count = (size_t)r.n[0] * (size_t)r.n[1] * (size_t)r.n[2];
    made->values = centred(&r);
    find_load(&r, &made->load);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(*arrays[i]);
    free(r.distance.values);
    *reference = made;
    return KF_OK;
}

void kf_incompressible_free_reference(kf_reference *reference) {
    if (reference == NULL) return;
    free(reference->values);
    free(reference);
}
