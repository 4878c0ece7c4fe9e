/* The reference, in double precision on the host, unfused. It uses other methods than the kernels. The
 * collision is that of the paper, Omega = M^-1 k, with M from the eigenvectors of its Appendix A and M^-1 = W
 * M^T diag(1 / |Q|^2). Streaming goes link by link by the scene itself. It shares no code with kernels/. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/d2q9/d2q9.h"
#include "solver/d2q9/reference.h"
#include "solver/flow/flow_problem.h"

enum { Q = 9 };

static const int e[Q][2] = {{0, 0}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};

typedef struct reference_run {
    const kf_scene *scene;
    bool full_way, linear;
    int n[2];
    size_t count;
    /* [Q][count]: the deviations from rest. */
    double *f, *streamed;
    /* The rates of v, e, h, epsilon. */
    double rate[4];
    double matrix[Q][Q], inverse[Q][Q];
} reference_run;

static double weight(int i) {
    return i == 0 ? 4.0 / 9.0 : i < 5 ? 1.0 / 9.0 : 1.0 / 36.0;
}

static int direction_of(int cx, int cy) {
    int i = 0;
    while (e[i][0] != cx || e[i][1] != cy)
        i++;
    return i;
}

/* Makes the matrices of Eq. 18 to 26, with their misprints corrected (docs/d2q9.md). */
static void make_matrices(reference_run *run) {
    for (int i = 0; i < Q; i++) {
        double x = e[i][0], y = e[i][1], square = x * x + y * y;
        const double column[Q] = {1.0,
                                  x,
                                  y,
                                  3.0 * square - 2.0,
                                  x * x - y * y,
                                  x * y,
                                  (3.0 * square - 4.0) * x,
                                  (3.0 * square - 4.0) * y,
                                  0.5 * (9.0 * square * square - 15.0 * square + 2.0)};
        for (int k = 0; k < Q; k++)
            run->matrix[k][i] = column[k];
    }
    for (int k = 0; k < Q; k++) {
        double norm = 0;
        for (int i = 0; i < Q; i++)
            norm += weight(i) * run->matrix[k][i] * run->matrix[k][i];
        for (int i = 0; i < Q; i++)
            run->inverse[i][k] = weight(i) * run->matrix[k][i] / norm;
    }
}

static kf_node_kind kind_at(const reference_run *run, size_t node) {
    return run->scene->mask == NULL ? KF_NODE_FLUID : (kf_node_kind)run->scene->mask[node];
}

static size_t node_at(const reference_run *run, int x, int y) {
    return (size_t)x + (size_t)run->n[0] * (size_t)y;
}

static void moments(const reference_run *run, size_t node, double m[3]) {
    memset(m, 0, 3 * sizeof(double));
    for (int i = 0; i < Q; i++) {
        double value = run->f[(size_t)i * run->count + node];
        m[0] += value;
        m[1] += e[i][0] * value;
        m[2] += e[i][1] * value;
    }
}

/* --- Boundaries -------------------------------------------------------------------------------------------
 */

/* Finds the fluid neighbour that an open node takes its moments from: along an axis if there is one, from
 * deepest in the domain, else where the given velocity leads. Returns 0 if there is none. */
static int choose_neighbour(const reference_run *run, int x, int y, const double *velocity) {
    const kf_scene *scene = run->scene;
    const double speed = velocity == NULL ? 0.0 : hypot(velocity[0], velocity[1]);
    int within[2], chosen = 0;
    double best = 0.0;
    for (int axis = 0; axis < 2; axis++) {
        const int at = axis == 0 ? x : y;
        const bool ends = scene->faces[2 * axis] != KF_PERIODIC;
        within[axis] = (ends && at == 0) - (ends && at == run->n[axis] - 1);
    }
    for (int i = 1; i < Q; i++) {
        const int fx = x + e[i][0], fy = y + e[i][1];
        if (fx < 0 || fy < 0 || fx >= run->n[0] || fy >= run->n[1]) continue;
        if (kind_at(run, node_at(run, fx, fy)) != KF_NODE_FLUID) continue;
        double rank = 16.0 * (e[i][0] * within[0] + e[i][1] * within[1]) + (i < 5 ? 64.0 : 0.0);
        if (speed > 0.0) rank += (velocity[0] * e[i][0] + velocity[1] * e[i][1]) / speed;
        if (chosen > 0 && rank <= best) continue;
        chosen = i;
        best = rank;
    }
    return chosen;
}

/* Sets the populations of an open node from a fluid neighbour, with the velocity or density that is
 * prescribed there. */
static void refresh_open_node(reference_run *run, int x, int y) {
    const size_t node = node_at(run, x, y);
    const bool inflow = kind_at(run, node) == KF_NODE_INFLOW;
    const double *velocity = inflow && !run->scene->mask_has_pressure ? run->scene->mask_velocity : NULL;
    const double density = inflow ? run->scene->mask_density : 0.0;
    const int i = choose_neighbour(run, x, y, velocity);
    if (i == 0) return;
    const size_t from = node_at(run, x + e[i][0], y + e[i][1]);
    double m[3];
    moments(run, from, m);
    for (int j = 0; j < Q; j++) {
        const double change = velocity != NULL
                                  ? 3.0 * (e[j][0] * (velocity[0] - m[1]) + e[j][1] * (velocity[1] - m[2]))
                                  : density - m[0];
        run->f[(size_t)j * run->count + node] = run->f[(size_t)j * run->count + from] + weight(j) * change;
    }
}

static void refresh_open(reference_run *run) {
    for (int y = 0; y < run->n[1]; y++)
        for (int x = 0; x < run->n[0]; x++) {
            kf_node_kind kind = kind_at(run, node_at(run, x, y));
            if (kind == KF_NODE_INFLOW || kind == KF_NODE_OUTFLOW) refresh_open_node(run, x, y);
        }
}

static double profile(const kf_scene *scene, int position, int count) {
    double s = (position + 0.5) / count;
    return scene->parabolic_inflow ? 6.0 * s * (1.0 - s) : 1.0;
}

/* Returns what arrives from outside the domain at (x, y) along i; face[axis] is the face that was crossed,
 * or -1. */
static double from_outside(const reference_run *run, int i, int x, int y, const int face[2]) {
    const kf_scene *scene = run->scene;
    int at[2] = {x - e[i][0], y - e[i][1]}, c[2] = {e[i][0], e[i][1]};
    int walls = 0;
    double gain = 0.0;
    for (int axis = 0; axis < 2; axis++) {
        if (face[axis] < 0 || scene->faces[face[axis]] != KF_WALL) continue;
        const double *wall = scene->face_velocity[face[axis]];
        gain = 6.0 * weight(i) * (c[0] * wall[0] + c[1] * wall[1]);
        walls++;
    }
    if (walls > 0) /* the corner of two is at rest */
        return run->f[(size_t)direction_of(-c[0], -c[1]) * run->count + node_at(run, x, y)] +
               (walls == 1 ? gain : 0.0);
    int inflows = 0;
    bool outflow = false;
    for (int axis = 0; axis < 2; axis++) {
        if (face[axis] < 0) continue;
        bool high = face[axis] % 2 == 1, wraps = scene->faces[face[axis]] == KF_PERIODIC;
        at[axis] = high == wraps ? 0 : run->n[axis] - 1;
        if (scene->faces[face[axis]] == KF_FREE_SLIP) c[axis] = -c[axis];
        if (scene->faces[face[axis]] == KF_OUTFLOW) outflow = true;
        inflows += scene->faces[face[axis]] == KF_INFLOW;
    }
    size_t node = node_at(run, at[0], at[1]);
    if (!run->full_way && kind_at(run, node) == KF_NODE_SOLID)
        return run->f[(size_t)direction_of(-e[i][0], -e[i][1]) * run->count + node_at(run, x, y)];
    double value = run->f[(size_t)direction_of(c[0], c[1]) * run->count + node], m[3];
    moments(run, node, m);
    if (outflow) value -= weight(i) * m[0];
    for (int axis = 0; axis < 2 && inflows > 0; axis++) {
        if (face[axis] < 0 || scene->faces[face[axis]] != KF_INFLOW) continue;
        const int across = 1 - axis;
        const double p = profile(scene, at[across], run->n[across]);
        for (int b = 0; b < 2; b++)
            value += 3.0 * weight(i) * c[b] * (p * scene->face_velocity[face[axis]][b] - m[b + 1]) / inflows;
    }
    return value;
}

static double arriving(const reference_run *run, int i, int x, int y) {
    const int at[2] = {x - e[i][0], y - e[i][1]};
    int face[2], wrapped[2];
    bool outside = false;
    for (int axis = 0; axis < 2; axis++) {
        face[axis] = at[axis] < 0 ? 2 * axis : at[axis] >= run->n[axis] ? 2 * axis + 1 : -1;
        wrapped[axis] = (at[axis] + run->n[axis]) % run->n[axis];
        outside = outside || (face[axis] >= 0 && run->scene->faces[face[axis]] != KF_PERIODIC);
    }
    if (outside) return from_outside(run, i, x, y, face);
    size_t here = node_at(run, x, y), from = node_at(run, wrapped[0], wrapped[1]);
    if (!run->full_way && kind_at(run, from) == KF_NODE_SOLID)
        return run->f[(size_t)direction_of(-e[i][0], -e[i][1]) * run->count + here];
    return run->f[(size_t)i * run->count + from];
}

/* --- Collision --------------------------------------------------------------------------------------------
 */

/* Relaxes a node's populations by the multiple-relaxation-time collision: moments, their differences to
 * equilibrium times the rates, and back. */
static void collide(const reference_run *run, double f[Q]) {
    double m[Q], k[Q];
    for (int row = 0; row < Q; row++) {
        m[row] = 0;
        for (int i = 0; i < Q; i++)
            m[row] += run->matrix[row][i] * f[i];
    }
    double ux = run->linear ? 0.0 : m[1], uy = run->linear ? 0.0 : m[2]; /* only where squared; rho_0 = 1 */
    k[0] = 0.0;
    k[1] = run->scene->body_force[0];
    k[2] = run->scene->body_force[1];
    k[3] = -run->rate[1] * (m[3] - 3.0 * (ux * ux + uy * uy));
    k[4] = -run->rate[0] * (m[4] - (ux * ux - uy * uy));
    k[5] = -run->rate[0] * (m[5] - ux * uy);
    k[6] = -run->rate[2] * m[6];
    k[7] = -run->rate[2] * m[7];
    k[8] = -run->rate[3] * m[8];
    for (int i = 0; i < Q; i++)
        for (int row = 0; row < Q; row++)
            f[i] += run->inverse[i][row] * k[row];
}

static void update_node(reference_run *run, int x, int y) {
    size_t node = node_at(run, x, y);
    double arrived[Q];
    for (int i = 0; i < Q; i++)
        arrived[i] = arriving(run, i, x, y);
    bool solid = kind_at(run, node) == KF_NODE_SOLID;
    if (!solid) collide(run, arrived);
    for (int i = 0; i < Q; i++) {
        int from = solid ? direction_of(-e[i][0], -e[i][1]) : i;
        run->streamed[(size_t)i * run->count + node] = arrived[from];
    }
}

static void step(reference_run *run) {
    refresh_open(run);
    for (int y = 0; y < run->n[1]; y++)
        for (int x = 0; x < run->n[0]; x++)
            update_node(run, x, y);
    double *swap = run->f;
    run->f = run->streamed;
    run->streamed = swap;
}

static void start(reference_run *run) {
    for (int y = 0; y < run->n[1]; y++)
        for (int x = 0; x < run->n[0]; x++) {
            size_t node = node_at(run, x, y);
            double density = 1.0, u[3] = {0, 0, 0};
            if (kind_at(run, node) != KF_NODE_SOLID) kf_scene_initial(run->scene, x, y, 0, &density, u);
            double square = run->linear ? 0.0 : u[0] * u[0] + u[1] * u[1];
            for (int i = 0; i < Q; i++) {
                double along = e[i][0] * u[0] + e[i][1] * u[1];
                double second = run->linear ? 0.0 : 4.5 * along * along;
                run->f[(size_t)i * run->count + node] =
                    weight(i) * (density - 1.0 + 3.0 * along + second - 1.5 * square);
            }
        }
}

/* --- Results ----------------------------------------------------------------------------------------------
 */

/* Adds what one fluid node's populations carry into solid neighbours, twice for the bounce. */
static void add_load(const reference_run *run, int x, int y, kf_solid_load *load) {
    const kf_scene *scene = run->scene;
    for (int i = 1; i < Q; i++) {
        int to[2] = {x + e[i][0], y + e[i][1]}, push[2] = {e[i][0], e[i][1]};
        bool hits = true;
        for (int axis = 0; axis < 2; axis++) {
            if (to[axis] >= 0 && to[axis] < run->n[axis]) continue;
            const kf_boundary kind = scene->faces[2 * axis + (to[axis] > 0)];
            hits = hits && (kind == KF_PERIODIC || kind == KF_FREE_SLIP);
            if (kind == KF_FREE_SLIP) push[axis] = -push[axis]; /* on the solid, as its image has it */
            to[axis] =
                kind == KF_FREE_SLIP ? to[axis] - e[i][axis] : (to[axis] + run->n[axis]) % run->n[axis];
        }
        if (!hits || kind_at(run, node_at(run, to[0], to[1])) != KF_NODE_SOLID) continue;
        double amount = 2.0 * run->f[(size_t)i * run->count + node_at(run, x, y)];
        double arm_x = x + 0.5 * e[i][0] - 0.5 * (scene->solid_low[0] + scene->solid_high[0]);
        double arm_y = y + 0.5 * e[i][1] - 0.5 * (scene->solid_low[1] + scene->solid_high[1]);
        load->force[0] += amount * push[0];
        load->force[1] += amount * push[1];
        load->torque[2] += amount * (arm_x * push[1] - arm_y * push[0]);
    }
}

/* Reads density - 1, velocity and the load on the solid from the run's populations. */
static void read_solution(reference_run *run, kf_d2q9_solution *solution) {
    refresh_open(run);
    solution->values = kf_allocate_zeroed(3 * run->count, sizeof(double));
    memset(&solution->load, 0, sizeof solution->load);
    for (size_t node = 0; node < run->count; node++) {
        kf_node_kind kind = kind_at(run, node);
        if (kind == KF_NODE_SOLID) {
            for (int axis = 0; axis < 2; axis++)
                solution->load.force[axis] += run->scene->body_force[axis];
            continue;
        }
        double m[3];
        moments(run, node, m);
        solution->values[node] = m[0];
        for (size_t axis = 0; axis < 2; axis++)
            solution->values[(axis + 1) * run->count + node] =
                m[axis + 1] - 0.5 * run->scene->body_force[axis];
        const int x = (int)(node % (size_t)run->n[0]), y = (int)(node / (size_t)run->n[0]);
        /* An open node without fluid beside it is as a fluid node. */
        if (kind == KF_NODE_FLUID || choose_neighbour(run, x, y, NULL) == 0)
            add_load(run, x, y, &solution->load);
    }
}

/* Solves the flow for so many steps in double precision, in the plainest way. */
static void solve(const kf_scene *scene, int steps, bool full_way, kf_d2q9_solution *solution) {
    reference_run run = {.scene = scene, .full_way = full_way, .linear = kf_d2q9_is_linear(scene)};
    run.n[0] = scene->nodes[0];
    run.n[1] = scene->nodes[1];
    run.count = (size_t)run.n[0] * (size_t)run.n[1];
    run.f = kf_allocate(Q * run.count * sizeof(double));
    run.streamed = kf_allocate(Q * run.count * sizeof(double));
    kf_d2q9_rates(scene, run.rate);
    make_matrices(&run);
    start(&run);
    for (int t = 0; t < steps; t++)
        step(&run);
    read_solution(&run, solution);
    free(run.f);
    free(run.streamed);
}

kf_status kf_d2q9_reference(const kf_problem *problem, int steps, kf_reference **reference, kf_error *error) {
    const kf_scene *scene = kf_problem_scene(problem);
    (void)error;
    kf_reference *made = kf_allocate_zeroed(1, sizeof *made);
    made->count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1];
    solve(scene, steps, false, &made->solutions[0]);
    if (kf_d2q9_has_solid(scene)) solve(scene, steps, true, &made->solutions[1]);
    *reference = made;
    return KF_OK;
}

void kf_d2q9_free_reference(kf_reference *reference) {
    if (reference == NULL) return;
    free(reference->solutions[0].values);
    free(reference->solutions[1].values);
    free(reference);
}
