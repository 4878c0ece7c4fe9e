/* The reference: double precision, unsplit, unfused, on the host, and written another way than the kernels:
 * populations themselves instead of deviations, dense sums for the central moments, polynomial selectors
 * for their inverse, streaming link by link. Shares no code with kernels/. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "base/util/vector.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/kinetic_samples.h"
#include "solver/kinetic/nested_plan.h"
#include "solver/kinetic/reference.h"

enum { REFERENCE_AVERAGE_PERIOD = 16, REFERENCE_AVERAGE_STRIDE = 4, REFERENCE_LINK_STEPS = 32 };
enum { LEAST_SHARED = 500 }; /* nodes or samples for which threads are worth starting */

/* A solid: where it is at first, and now. */
typedef struct reference_solid {
    double start[3], center[3], rotation[9];
    double velocity[3], angular_velocity[3], angular_momentum[3];
} reference_solid;

typedef struct kf_reference_run {
    const kf_scene *scene;
    bool folded; /* 19 velocities: nothing goes along the other eight */
    double weights[KF_REFERENCE_Q];
    int n[3];
    size_t count;
    double *f, *streamed, *force; /* [KF_REFERENCE_Q][count] twice, [3][count] */
    double *outside[KF_FACES];    /* of outflows: [KF_REFERENCE_Q][count], at the face's nodes */
    double *area;                 /* of samples, as they act */
    double *link_memory,
        taken_back;    /* [links]: mean corrections; and what a weight gives back of their sum */
    double average[3]; /* density, |momentum|, |second moment| */
    double omega;
    kf_solid_load load, loads[KF_MOST_SOLIDS]; /* on all solids about the first's place; on each of several */
    reference_solid solid[1 + KF_MOST_SOLIDS]; /* one, or all together; each of several */
    double friction[3];                        /* of a law of the wall */
} reference_run;

static int direction_of(const int c[3]) {
    for (int i = 0; i < KF_REFERENCE_Q; i++)
        if (kf_reference_velocities[i][0] == c[0] && kf_reference_velocities[i][1] == c[1] &&
            kf_reference_velocities[i][2] == c[2])
            return i;
    return 0;
}

static size_t node_at(const reference_run *run, const int x[3]) {
    return (size_t)x[0] + (size_t)run->n[0] * ((size_t)x[1] + (size_t)run->n[1] * (size_t)x[2]);
}

static void set_equilibrium(const reference_run *run, double density, const double u[3], double *f,
                            size_t stride) {
    for (int i = 0; i < KF_REFERENCE_Q; i++)
        f[(size_t)i * stride] = kf_reference_equilibrium(i, density, u);
    if (run->folded) kf_reference_fold_corners(f, stride);
}

/* --- Streaming and domain boundaries
 * ------------------------------------------------------------------------- */

/* Returns what arrives at node x along velocity i when every face but the periodic ones and outflows
 * mirrors. */
static double arriving_mirrored(const reference_run *run, int i, const int x[3]) {
    int from[3], c[3], outflow = -1;
    for (int axis = 2; axis >= 0; axis--) {
        c[axis] = kf_reference_velocities[i][axis];
        from[axis] = x[axis] - c[axis];
        const int high = from[axis] >= run->n[axis], face = 2 * axis + high;
        if (from[axis] >= 0 && !high) continue;
        from[axis] = x[axis];
        if (run->scene->faces[face] == KF_PERIODIC)
            from[axis] = high ? 0 : run->n[axis] - 1;
        else if (run->scene->faces[face] == KF_OUTFLOW)
            outflow = face;
        else
            c[axis] = -c[axis];
    }
    const double *populations = outflow >= 0 ? run->outside[outflow] : run->f;
    return populations[(size_t)direction_of(c) * run->count + node_at(run, from)];
}

/* The population that arrives at node x along velocity i. */
static double arriving(const reference_run *run, int i, const int x[3]) {
    const int *c = kf_reference_velocities[i];
    for (int axis = 0; axis < 3; axis++) {
        const int from = x[axis] - c[axis], high = from >= run->n[axis], face = 2 * axis + high;
        if (from >= 0 && !high) continue;
        const kf_boundary kind = run->scene->faces[face];
        if (kind != KF_WALL && kind != KF_INFLOW) continue;
        const double *wall = run->scene->face_velocity[face];
        const int back[3] = {-c[0], -c[1], -c[2]};
        const double along = c[0] * wall[0] + c[1] * wall[1] + c[2] * wall[2];
        const double returned =
            run->f[(size_t)direction_of(back) * run->count + node_at(run, x)] + 6.0 * run->weights[i] * along;
        const double share = run->scene->specular_share[face];
        return share > 0.0 ? (1.0 - share) * returned + share * arriving_mirrored(run, i, x) : returned;
    }
    return arriving_mirrored(run, i, x);
}

static void stream_nodes(void *context, size_t begin, size_t end) {
    const reference_run *run = context;
    for (size_t node = begin; node < end; node++) {
        const size_t nx = (size_t)run->n[0], ny = (size_t)run->n[1];
        const int x[3] = {(int)(node % nx), (int)(node / nx % ny), (int)(node / (nx * ny))};
        for (int i = 0; i < KF_REFERENCE_Q; i++)
            run->streamed[(size_t)i * run->count + node] = arriving(run, i, x);
    }
}

/* Finds what waits outside of an outflow a step later: convected with the stream, and drawn to density 1.
 * first: of the state at the beginning. */
static void convect_outflow(reference_run *run, int face, bool first) {
    const int axis = face / 2, edge = face % 2 ? run->n[axis] - 1 : 0;
    const double speed = kf_scene_outflow_speed(run->scene, (kf_face)face),
                 pull = kf_scene_outflow_pull(run->scene, (kf_face)face);
    for (size_t node = 0; node < run->count; node++) {
        const size_t nx = (size_t)run->n[0], ny = (size_t)run->n[1];
        const int x[3] = {(int)(node % nx), (int)(node / nx % ny), (int)(node / (nx * ny))};
        double j[3], second[3][3];
        if (x[axis] != edge) continue;
        const double density = kf_reference_sums(run->f + node, run->count, j, second);
        for (size_t i = 0; i < KF_REFERENCE_Q; i++) {
            double *outside = run->outside[face] + i * run->count + node;
            const double here = run->f[i * run->count + node];
            *outside =
                first ? here
                      : (*outside + speed * here) / (1.0 + speed) - pull * run->weights[i] * (density - 1.0);
        }
    }
}

static void update_averages(reference_run *run) {
    double total[3] = {0, 0, 0}, nodes = 0;
    for (int z = 0; z < run->n[2]; z += REFERENCE_AVERAGE_STRIDE)
        for (int y = 0; y < run->n[1]; y += REFERENCE_AVERAGE_STRIDE)
            for (int x = 0; x < run->n[0]; x++) {
                const int at[3] = {x, y, z};
                double j[3], second[3][3];
                total[0] += kf_reference_sums(run->f + node_at(run, at), run->count, j, second);
                total[1] += kf_length(j);
                total[2] += kf_reference_norm(second);
                nodes++;
            }
    for (int i = 0; i < 3; i++)
        run->average[i] = total[i] / nodes;
}

/* --- Immersed boundary
 * ---------------------------------------------------------------------------------------- */

typedef struct touched {
    size_t node[8];
    double weight[8];
} touched;

/* Between faces a sample on the last node belongs to the last cell. */
static touched nodes_around(const reference_run *run, const double p[3]) {
    touched t;
    int cell[3];
    double fraction[3];
    for (int i = 0; i < 3; i++) {
        cell[i] = (int)floor(p[i]);
        if (run->scene->faces[2 * i] != KF_PERIODIC) {
            if (cell[i] > run->n[i] - 2) cell[i] = run->n[i] - 2;
            if (cell[i] < 0) cell[i] = 0;
        }
        fraction[i] = p[i] - cell[i];
    }
    for (int corner = 0; corner < 8; corner++) {
        int at[3];
        t.weight[corner] = 1.0;
        for (int i = 0; i < 3; i++) {
            int up = corner >> i & 1;
            at[i] = ((cell[i] + up) % run->n[i] + run->n[i]) % run->n[i];
            t.weight[corner] *= up ? fraction[i] : 1.0 - fraction[i];
        }
        t.node[corner] = node_at(run, at);
    }
    return t;
}

/* With half of the force that is there already. */
static void velocity_at_node(const reference_run *run, size_t node, double *density, double u[3]) {
    double j[3], second[3][3];
    *density = kf_reference_sums(run->streamed + node, run->count, j, second);
    for (int i = 0; i < 3; i++)
        u[i] = (j[i] + 0.5 * run->scene->body_force[i] + 0.5 * run->force[(size_t)i * run->count + node]) /
               *density;
}

/* A sample as the step finds it: where it is, and what the fluid does there. */
typedef struct seen_sample {
    touched around;
    double position[3], arm[3], strength, fluid[3]; /* strength: 2 density area */
} seen_sample;

/* The number of the solid that a sample belongs to. */
static int solid_of(const reference_run *run, size_t s) {
    return run->scene->samples.solid != NULL ? 1 + run->scene->samples.solid[s] : 0;
}

/* Finds what a sample sees: its position and arm, the eight nodes around it, the fluid's velocity there,
 * and the strength of its penalty force, 2 rho A. */
static void look(const reference_run *run, size_t s, seen_sample *seen) {
    const reference_solid *solid = &run->solid[solid_of(run, s)];
    const double from_start[3] = {run->scene->samples.x[s] - solid->start[0],
                                  run->scene->samples.y[s] - solid->start[1],
                                  run->scene->samples.z[s] - solid->start[2]};
    double mean_density = 0;
    memset(seen->fluid, 0, sizeof seen->fluid);
    for (int i = 0; i < 3; i++) {
        seen->arm[i] = 0;
        for (int j = 0; j < 3; j++)
            seen->arm[i] += solid->rotation[3 * i + j] * from_start[j];
        seen->position[i] = solid->center[i] + seen->arm[i];
    }
    seen->around = nodes_around(run, seen->position);
    for (int c = 0; c < 8; c++) {
        double density, velocity[3];
        velocity_at_node(run, seen->around.node[c], &density, velocity);
        mean_density += seen->around.weight[c] * density;
        for (int i = 0; i < 3; i++)
            seen->fluid[i] += seen->around.weight[c] * velocity[i];
    }
    seen->strength = 2.0 * mean_density * run->area[s];
}

typedef struct sight {
    const reference_run *run;
    seen_sample *seen;
} sight;

static void look_at_samples(void *context, size_t begin, size_t end) {
    const sight *all = context;
    for (size_t s = begin; s < end; s++)
        look(all->run, s, &all->seen[s]);
}

/* --- A free solid: kernels/kinetic/body.h in other words --------------------------------------------------
 */

/* A step along and about the velocities, by Rodrigues' formula. */
static void move_body(reference_solid *run) {
    const double *w = run->angular_velocity, speed = kf_length(w);
    for (int i = 0; i < 3; i++)
        run->center[i] += run->velocity[i];
    if (speed == 0.0) return;
    for (int column = 0; column < 3; column++) {
        const double axis[3] = {w[0] / speed, w[1] / speed, w[2] / speed};
        const double before[3] = {run->rotation[column], run->rotation[3 + column],
                                  run->rotation[6 + column]};
        const double along = axis[0] * before[0] + axis[1] * before[1] + axis[2] * before[2];
        double beside[3];
        kf_cross(axis, before, beside);
        for (int i = 0; i < 3; i++)
            run->rotation[3 * i + column] =
                before[i] * cos(speed) + beside[i] * sin(speed) + axis[i] * along * (1.0 - cos(speed));
    }
}

/* Solves the equations a x = b by Gauss-Jordan elimination with pivots. */
static void solve_equations(double a[6][7]) {
    for (int column = 0; column < 6; column++) {
        int pivot = column;
        for (int row = column + 1; row < 6; row++)
            if (fabs(a[row][column]) > fabs(a[pivot][column])) pivot = row;
        for (int k = 0; k < 7; k++) {
            const double held = a[column][k];
            a[column][k] = a[pivot][k];
            a[pivot][k] = held;
        }
        for (int row = 0; row < 6; row++)
            for (int k = 6; row != column && k >= column; k--)
                a[row][k] -= a[row][column] / a[column][column] * a[column][k];
    }
    for (int row = 0; row < 6; row++)
        a[row][6] /= a[row][row];
}

/* Adds to force and torque what a sample adds for unit velocities; these fill the columns one after the
 * other. */
static void add_reaction(double equations[6][7], const seen_sample *sample) {
    for (int column = 0; column < 7; column++) {
        double unit[3] = {0, 0, 0}, motion[3], moment[3];
        if (column < 6) unit[column % 3] = 1.0;
        if (column < 3)
            memcpy(motion, unit, sizeof motion);
        else if (column < 6)
            kf_cross(unit, sample->arm, motion);
        else
            memcpy(motion, sample->fluid, sizeof motion);
        kf_cross(sample->arm, motion, moment);
        for (int i = 0; i < 3; i++) {
            equations[i][column] += sample->strength * motion[i];
            equations[3 + i][column] += sample->strength * moment[i];
        }
    }
}

/* The velocities of this step, so that the forces they cause are those that cause them. */
static void solve_body(reference_run *run, const seen_sample *seen, bool first) {
    const kf_motion *motion = &run->scene->motion;
    reference_solid *body = &run->solid[0];
    double equations[6][7] = {{0}}, inertia[9] = {0};
    for (size_t s = 0; s < run->scene->samples.count; s++)
        add_reaction(equations, &seen[s]);
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 9; k++)
            inertia[i] += body->rotation[i / 3 * 3 + k / 3] * motion->excess_inertia[k] *
                          body->rotation[i % 3 * 3 + k % 3];
    for (int i = 0; i < 3; i++) {
        equations[i][i] += motion->excess_mass;
        equations[i][6] += motion->excess_mass * (body->velocity[i] + (first ? motion->gravity[i] : 0.0));
        equations[3 + i][6] += body->angular_momentum[i];
        for (int j = 0; j < 3; j++)
            equations[3 + i][3 + j] += inertia[3 * i + j];
    }
    solve_equations(equations);
    for (int i = 0; i < 3; i++) {
        body->velocity[i] = equations[i][6];
        body->angular_velocity[i] = equations[3 + i][6];
    }
    for (int i = 0; i < 3; i++) {
        body->angular_momentum[i] = 0.0;
        for (int j = 0; j < 3; j++)
            body->angular_momentum[i] += inertia[3 * i + j] * body->angular_velocity[j];
    }
}

/* Takes the force g on the fluid at an arm away from a load. */
static void add_reaction_to(kf_solid_load *load, const double arm[3], const double g[3]) {
    double moment[3];
    kf_cross(arm, g, moment);
    for (int i = 0; i < 3; i++) {
        load->force[i] -= g[i];
        load->torque[i] -= moment[i];
    }
}

/* Force of every sample on the fluid, spread on the nodes around it, and the reaction on the solid. */
static void apply_samples(reference_run *run, const seen_sample *seen) {
    for (size_t s = 0; s < run->scene->samples.count; s++) {
        const int number = solid_of(run, s);
        const reference_solid *solid = &run->solid[number];
        double g[3], turning[3], arm[3];
        kf_cross(solid->angular_velocity, seen[s].arm, turning);
        for (int i = 0; i < 3; i++) {
            g[i] = seen[s].strength * (solid->velocity[i] + turning[i] - seen[s].fluid[i]);
            arm[i] = number > 0 ? seen[s].position[i] - run->solid[0].center[i] : seen[s].arm[i];
            for (int c = 0; c < 8; c++)
                run->force[(size_t)i * run->count + seen[s].around.node[c]] +=
                    seen[s].around.weight[c] * g[i];
        }
        add_reaction_to(&run->load, arm, g);
        if (number > 0) add_reaction_to(&run->loads[number - 1], seen[s].arm, g);
    }
}

/* Works out the solid's force on the nodes in all passes of a step: moves the solid, looks at the fluid at
 * each sample, solves for a free solid's velocities, and spreads the forces. */
static void immersed_boundary(reference_run *run, int step) {
    const kf_motion *motion = &run->scene->motion;
    const int given = run->scene->immersed_passes, passes = given > 1 ? given : 1;
    const size_t count = run->scene->samples.count;
    seen_sample *seen = kf_allocate(count * sizeof *seen);
    memset(run->force, 0, 3 * run->count * sizeof(double));
    memset(&run->load, 0, sizeof run->load);
    memset(run->loads, 0, sizeof run->loads);
    if (motion->moving && !motion->free)
        kf_motion_pose(motion, step, run->solid[0].rotation, run->solid[0].center);
    for (int k = 0; k < run->scene->solid_count; k++)
        kf_motion_pose(&run->scene->solids[k].motion, step, run->solid[1 + k].rotation,
                       run->solid[1 + k].center);
    if (motion->free && step > 0) move_body(&run->solid[0]);
    for (int pass = 0; pass < passes; pass++) {
        kf_in_parallel(count, LEAST_SHARED, look_at_samples, &(sight){run, seen});
        if (motion->free) solve_body(run, seen, pass == 0);
        apply_samples(run, seen);
    }
    free(seen);
}

static void begin_solid(const kf_scene *scene, const kf_motion *motion, bool moving, reference_solid *solid) {
    for (int i = 0; i < 3; i++) {
        solid->rotation[4 * i] = 1.0;
        solid->start[i] = solid->center[i] =
            moving ? motion->center[i] : 0.5 * (scene->solid_low[i] + scene->solid_high[i]);
        solid->velocity[i] = moving ? motion->velocity[i] : 0.0;
        solid->angular_velocity[i] = moving ? motion->angular_speed * motion->axis[i] : 0.0;
    }
    for (int i = 0; i < 9; i++)
        solid->angular_momentum[i / 3] += motion->excess_inertia[i] * solid->angular_velocity[i % 3];
}

/* --- Links
 * ----------------------------------------------------------------------------------------------------- */

/* Returns the place of a link's population at a node: of that which goes to the surface, or of the other. */
static size_t of_link(const reference_run *run, const kf_link_node *at, bool away) {
    const int sign = away ? -1 : 1,
              c[3] = {sign * at->direction[0], sign * at->direction[1], sign * at->direction[2]};
    return (size_t)direction_of(c) * run->count + node_at(run, at->node);
}

/* Returns what the interpolation of a link adds to what left: linear about the node half-way, or a parabola
 * through three. */
static double link_correction(const reference_run *run, const kf_link *link) {
    const double q = link->share, half = 1.0 + 2.0 * q;
    const double *f = run->f;
    const double first =
        link->behind > 0 ? f[of_link(run, &link->at[1], false)] - f[of_link(run, &link->at[0], true)] : 0.0;
    if (link->behind < 2) return (2.0 - half) / half * first;
    const double second = f[of_link(run, &link->at[2], false)] - f[of_link(run, &link->at[1], true)];
    const double most = pow(1.0 + q, 2);
    return ((2.0 - most - q * q) * first + q * q * second) / most;
}

/* Adds the momentum that a link brings to the solid. */
static void load_link(reference_run *run, const kf_link *link, double both) {
    double force[3], arm[3], moment[3];
    for (int i = 0; i < 3; i++) {
        force[i] = both * link->at[0].direction[i];
        arm[i] = link->at[0].node[i] + link->share * link->at[0].direction[i] - run->solid[0].center[i];
    }
    kf_cross(arm, force, moment);
    for (int i = 0; i < 3; i++) {
        run->load.force[i] += force[i];
        run->load.torque[i] += moment[i];
    }
}

/* Works out the links' momentum; by a law of the wall, what comes back changes before it and after it.
 * Returns the mass that the law adds. */
static double load_links(reference_run *run, const kf_links *links, double *values) {
    kf_reference_wall work = {.scene = run->scene,
                              .weights = run->weights,
                              .f = run->f,
                              .count = run->count,
                              .values = values,
                              .memory = run->link_memory,
                              .mean_steps = REFERENCE_LINK_STEPS,
                              .pushed = kf_allocate_zeroed(links->count + 1, sizeof *values),
                              .load = &run->load};
    memset(&run->load, 0, sizeof run->load);
    memcpy(work.center, run->solid[0].center, sizeof work.center);
    kf_reference_rub(&work);
    for (size_t n = 0; n < links->count; n++) {
        const size_t out = of_link(run, &links->link[n].at[0], false);
        load_link(run, &links->link[n], run->f[out] + values[n] - 2.0 * run->weights[out / run->count]);
        values[n] += work.pushed[n];
    }
    memcpy(run->friction, work.friction, sizeof run->friction);
    free(work.pushed);
    return work.mass;
}

/* Works out what comes back from all links, values, and what a weight gives back in the next step. */
static void reflect_all(reference_run *run, const kf_links *links, double *values) {
    double sum = 0.0, weights = 0.0;
    for (size_t n = 0; n < links->count; n++) {
        const kf_link *link = &links->link[n];
        const size_t out = of_link(run, &link->at[0], false);
        const double weight = run->weights[out / run->count];
        values[n] = run->f[out];
        if (link->behind > 0) {
            run->link_memory[n] += (link_correction(run, link) - run->link_memory[n]) / REFERENCE_LINK_STEPS;
            values[n] += run->link_memory[n] - weight * run->taken_back;
            sum += run->link_memory[n];
            weights += weight;
        }
    }
    sum += load_links(run, links, values);
    run->taken_back = weights > 0.0 ? sum / weights : 0.0;
}

/* Empties the inside where the flow touches it, and puts what comes back where it will be streamed from. */
static void reflect_links(reference_run *run) {
    const kf_links *links = &run->scene->links;
    double *values = kf_allocate((links->count + 1) * sizeof *values);
    if (run->link_memory == NULL)
        run->link_memory = kf_allocate_zeroed(links->count + 1, sizeof *run->link_memory);
    reflect_all(run, links, values);
    for (size_t n = 0; n < links->shell_count; n++)
        for (size_t i = 0; i < KF_REFERENCE_Q; i++)
            run->f[i * run->count + node_at(run, links->inside[n])] = run->weights[i];
    for (size_t n = 0; n < links->count; n++)
        run->f[of_link(run, &links->link[n].inner, true)] = values[n];
    free(values);
}

/* --- Collision
 * --------------------------------------------------------------------------------------------------- */

static void collide_nodes(void *context, size_t begin, size_t end) {
    const reference_run *run = context;
    for (size_t node = begin; node < end; node++) {
        double F[3];
        for (int i = 0; i < 3; i++)
            F[i] = run->scene->body_force[i] + run->force[(size_t)i * run->count + node];
        kf_reference_collide(run->scene, run->folded, run->omega, run->average, run->streamed + node,
                             run->count, F, run->f + node);
        if (run->folded) kf_reference_fold_corners(run->f + node, run->count);
    }
}

/* --- The run
 * ----------------------------------------------------------------------------------------------------- */

/* Begins a run of the reference at the scene's initial state, in equilibrium; finish with the frees of
 * reference_result. */
static void begin(reference_run *run, const kf_scene *scene, bool folded) {
    static const double at_rest[3] = {0, 0, 0};
    memset(run, 0, sizeof *run);
    run->scene = scene;
    run->folded = folded;
    set_equilibrium(run, 1.0, at_rest, run->weights, 1);
    memcpy(run->n, scene->nodes, sizeof run->n);
    run->count = (size_t)run->n[0] * (size_t)run->n[1] * (size_t)run->n[2];
    run->f = kf_allocate(KF_REFERENCE_Q * run->count * sizeof(double));
    run->streamed = kf_allocate(KF_REFERENCE_Q * run->count * sizeof(double));
    run->force = kf_allocate_zeroed(3 * run->count, sizeof(double));
    run->omega = 1.0 / (3.0 * scene->viscosity + 0.5);
    run->area = kf_kinetic_acting_areas(scene);
    begin_solid(scene, &scene->motion, scene->motion.moving, &run->solid[0]);
    for (int k = 0; k < scene->solid_count; k++)
        begin_solid(scene, &scene->solids[k].motion, true, &run->solid[1 + k]);
    int x[3];
    for (x[2] = 0; x[2] < run->n[2]; x[2]++)
        for (x[1] = 0; x[1] < run->n[1]; x[1]++)
            for (x[0] = 0; x[0] < run->n[0]; x[0]++) {
                double density, u[3];
                kf_scene_initial(scene, x[0], x[1], x[2], &density, u);
                set_equilibrium(run, density, u, run->f + node_at(run, x), run->count);
            }
    for (size_t n = 0; n < scene->links.inside_count; n++)
        for (size_t i = 0; i < KF_REFERENCE_Q; i++)
            run->f[i * run->count + node_at(run, scene->links.inside[n])] = run->weights[i];
    for (int face = 0; face < KF_FACES; face++) {
        if (scene->faces[face] != KF_OUTFLOW) continue;
        run->outside[face] = kf_allocate(KF_REFERENCE_Q * run->count * sizeof(double));
        convect_outflow(run, face, true);
    }
}

static void advance(reference_run *run, int step) {
    if (run->scene->links.count > 0) reflect_links(run);
    for (int face = 0; face < KF_FACES; face++)
        if (run->outside[face] != NULL) convect_outflow(run, face, false);
    if (step % REFERENCE_AVERAGE_PERIOD == 0) update_averages(run);
    kf_in_parallel(run->count, LEAST_SHARED, stream_nodes, run);
    if (run->scene->samples.count > 0) immersed_boundary(run, step);
    kf_in_parallel(run->count, LEAST_SHARED, collide_nodes, run);
}

kf_reference_run *kf_reference_begin(const kf_scene *scene, bool folded) {
    reference_run *run = kf_allocate(sizeof *run);
    begin(run, scene, folded);
    return run;
}

void kf_reference_advance(kf_reference_run *run, int step) {
    advance(run, step);
}

double *kf_reference_state(kf_reference_run *run) {
    return run->f;
}

kf_reference_result kf_reference_end(kf_reference_run *run) {
    kf_reference_result result = {.load = run->load};
    memcpy(result.loads, run->loads, sizeof result.loads);
    memcpy(result.friction, run->friction, sizeof result.friction);
    result.values = kf_allocate(4 * run->count * sizeof(double));
    for (size_t node = 0; node < run->count; node++) {
        double j[3], second[3][3], density = kf_reference_sums(run->f + node, run->count, j, second);
        result.values[node] = density - 1.0;
        for (size_t i = 0; i < 3; i++)
            result.values[(i + 1) * run->count + node] = (j[i] - 0.5 * run->scene->body_force[i]) / density;
    }
    free(run->f);
    free(run->streamed);
    free(run->force);
    free(run->area);
    free(run->link_memory);
    for (int face = 0; face < KF_FACES; face++)
        free(run->outside[face]);
    free(run);
    return result;
}

/* Runs the reference for so many steps and returns density - 1, velocity and load at the end. */
static kf_reference_result reference_result(const kf_scene *scene, int steps, bool folded) {
    reference_run *run = kf_reference_begin(scene, folded);
    for (int step = 0; step < steps; step++)
        advance(run, step);
    return kf_reference_end(run);
}

kf_status kf_kinetic_reference(const kf_problem *problem, int steps, kf_reference **reference,
                               kf_error *error) {
    const kf_scene *scene = kf_problem_scene(problem);
    if (scene->finer_count > 0) return kf_nested_reference(problem, steps, reference, error);
    kf_reference *result = kf_allocate_zeroed(1, sizeof *result);
    result->count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    result->of_27 = reference_result(scene, steps, false);
    if (kf_kinetic_has_19_velocities(scene) && scene->accuracy >= KF_ACCURACY_OF_19)
        result->of_19 = reference_result(scene, steps, true);
    *reference = result;
    return KF_OK;
}

void kf_kinetic_free_reference(kf_reference *reference) {
    if (reference == NULL) return;
    free(reference->of_27.values);
    free(reference->of_19.values);
    for (int l = 0; l < KF_FINER_LEVELS; l++)
        free(reference->finer[l].values);
    free(reference);
}
