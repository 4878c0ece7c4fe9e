/* The reference, in double precision on the host, unsplit and unfused. It uses other methods than the
 * kernels: populations themselves, sums along each axis for the central moments, polynomial selectors for
 * their inverse, and streaming link by link. It shares no code with kernels/. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "base/util/vector.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/nested_plan.h"
#include "solver/kinetic/reference_run.h"

enum { REFERENCE_AVERAGE_PERIOD = 16, REFERENCE_AVERAGE_STRIDE = 4, REFERENCE_LINK_STEPS = 32 };
typedef kf_reference_run reference_run;

static void number_velocities(reference_run *run) {
    for (int i = 0; i < KF_REFERENCE_Q; i++) {
        const int *c = kf_reference_velocities[i];
        run->numbers[c[0] + 1][c[1] + 1][c[2] + 1] = i;
    }
}

static int direction_of(const reference_run *run, const int c[3]) {
    return run->numbers[c[0] + 1][c[1] + 1][c[2] + 1];
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
    return populations[(size_t)direction_of(run, c) * run->count + kf_reference_node(run, from)];
}

/* Finds the faces beyond which the population that arrives at node x along velocity i comes from, and which
 * decide about it: inflows, or else walls. Returns their number. */
static int deciding_faces(const reference_run *run, int i, const int x[3], int faces[3]) {
    const int *c = kf_reference_velocities[i];
    int count = 0;
    for (int kind = 0; kind < 2 && count == 0; kind++)
        for (int axis = 0; axis < 3; axis++) {
            const int from = x[axis] - c[axis], high = from >= run->n[axis], face = 2 * axis + high;
            if (from >= 0 && !high) continue;
            if (run->scene->faces[face] == (kind == 0 ? KF_INFLOW : KF_WALL)) faces[count++] = face;
        }
    return count;
}

/* Finds the velocity where faces meet. Inflows have their mean velocity there. An edge of walls moves along
 * itself as the faster of them does, because none moves through another. */
static void edge_velocity(const reference_run *run, const int faces[3], int count, double velocity[3]) {
    const bool inflows = run->scene->faces[faces[0]] == KF_INFLOW;
    for (int a = 0; a < 3; a++) {
        velocity[a] = 0.0;
        for (int n = 0; n < count; n++) {
            const double u = run->scene->face_velocity[faces[n]][a];
            if (inflows)
                velocity[a] += u / count;
            else if (n > 0 && u == -velocity[a])
                velocity[a] = 0.0;
            else if (fabs(u) > fabs(velocity[a]))
                velocity[a] = u;
        }
    }
    for (int n = 0; n < count && count > 1 && !inflows; n++)
        velocity[faces[n] / 2] = 0.0;
}

/* Returns the population that arrives at node x along velocity i. */
static double arriving(const reference_run *run, int i, const int x[3]) {
    const int *c = kf_reference_velocities[i], back[3] = {-c[0], -c[1], -c[2]};
    int faces[3];
    const int count = deciding_faces(run, i, x, faces);
    if (count == 0) return arriving_mirrored(run, i, x);
    double velocity[3], share = 0.0;
    edge_velocity(run, faces, count, velocity);
    for (int n = 0; n < count; n++)
        share += run->scene->specular_share[faces[n]] / count;
    const double along = c[0] * velocity[0] + c[1] * velocity[1] + c[2] * velocity[2];
    const double returned = run->f[(size_t)direction_of(run, back) * run->count + kf_reference_node(run, x)] +
                            6.0 * run->weights[i] * along;
    return share > 0.0 ? (1.0 - share) * returned + share * arriving_mirrored(run, i, x) : returned;
}

/* Returns whether everything that arrives at a node comes from a node of the grid. */
static bool is_inner(const reference_run *run, const int x[3]) {
    for (int axis = 0; axis < 3; axis++)
        if (x[axis] < 1 || x[axis] > run->n[axis] - 2) return false;
    return true;
}

static void stream_nodes(void *context, size_t begin, size_t end) {
    const reference_run *run = context;
    for (size_t node = begin; node < end; node++) {
        const size_t nx = (size_t)run->n[0], ny = (size_t)run->n[1];
        const int x[3] = {(int)(node % nx), (int)(node / nx % ny), (int)(node / (nx * ny))};
        const bool inner = is_inner(run, x);
        for (int i = 0; i < KF_REFERENCE_Q; i++) {
            const int *c = kf_reference_velocities[i], from[3] = {x[0] - c[0], x[1] - c[1], x[2] - c[2]};
            run->streamed[(size_t)i * run->count + node] =
                inner ? run->f[(size_t)i * run->count + kf_reference_node(run, from)] : arriving(run, i, x);
        }
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
                total[0] += kf_reference_sums(run->f + kf_reference_node(run, at), run->count, j, second);
                total[1] += kf_length(j);
                total[2] += kf_reference_norm(second);
                nodes++;
            }
    for (int i = 0; i < 3; i++)
        run->average[i] = total[i] / nodes;
}

/* --- Links
 * ----------------------------------------------------------------------------------------------------- */

/* Returns the place of a link's population at a node: of that which goes to the surface, or of the other. */
static size_t of_link(const reference_run *run, const kf_link_node *at, bool away) {
    const int sign = away ? -1 : 1,
              c[3] = {sign * at->direction[0], sign * at->direction[1], sign * at->direction[2]};
    return (size_t)direction_of(run, c) * run->count + kf_reference_node(run, at->node);
}

/* Returns what the interpolation of a link adds to what left: linear about the node half-way, or a parabola
 * through three. */
static double link_correction(const reference_run *run, const kf_link *link, double drive) {
    const double q = link->share, half = 1.0 + 2.0 * q;
    const double *f = run->f;
    const double first = f[of_link(run, &link->at[1], false)] - f[of_link(run, &link->at[0], true)] - drive;
    if (link->behind < 2) return (2.0 - half) / half * first;
    const double second = f[of_link(run, &link->at[2], false)] - f[of_link(run, &link->at[1], true)] - drive;
    const double most = pow(1.0 + q, 2);
    return ((2.0 - most - q * q) * first + q * q * second) / most;
}

void kf_reference_nearest(const kf_scene *scene, double arm[3]) {
    for (int i = 0; i < 3; i++) {
        const double length = scene->nodes[i];
        while (scene->faces[2 * i] == KF_PERIODIC && arm[i] > 0.5 * length)
            arm[i] -= length;
        while (scene->faces[2 * i] == KF_PERIODIC && arm[i] < -0.5 * length)
            arm[i] += length;
    }
}

/* Finds the weight times 6 c . v of each link, where v is the surface's velocity at the cut, at the solid's
 * nearest image. The mean is subtracted, because it would be a source of mass. */
static void find_drives(reference_run *run, const kf_links *links) {
    const double *turn = run->solid[0].angular_velocity;
    double all = 0.0, weights = 0.0;
    for (size_t n = 0; n < links->count; n++) {
        const kf_link_node *at = &links->link[n].at[0];
        const double c[3] = {at->direction[0], at->direction[1], at->direction[2]};
        double arm[3], across[3];
        for (int i = 0; i < 3; i++)
            arm[i] = at->node[i] + links->link[n].share * c[i] - run->solid[0].center[i];
        kf_reference_nearest(run->scene, arm);
        kf_cross(arm, c, across);
        const double weight = run->weights[of_link(run, at, false) / run->count];
        run->link_drive[n] = 6.0 * weight * kf_dot(turn, across);
        all += run->link_drive[n];
        weights += weight;
    }
    for (size_t n = 0; n < links->count; n++)
        run->link_drive[n] -=
            all / weights * run->weights[of_link(run, &links->link[n].at[0], false) / run->count];
}

/* Adds the momentum that a link brings to the solid. */
static void load_link(reference_run *run, const kf_link *link, double both) {
    double force[3], arm[3], moment[3];
    for (int i = 0; i < 3; i++) {
        force[i] = both * link->at[0].direction[i];
        arm[i] = link->at[0].node[i] + link->share * link->at[0].direction[i] - run->solid[0].center[i];
    }
    kf_reference_nearest(run->scene, arm);
    kf_cross(arm, force, moment);
    for (int i = 0; i < 3; i++) {
        run->load.force[i] += force[i];
        run->load.torque[i] += moment[i];
    }
}

/* Computes the links' momentum. A law of the wall changes the returned populations before and after this.
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
                              .load = &run->load,
                              .layer = run->layer,
                              .eddies = run->eddies};
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
        if (!run->scene->half_way) {
            double *left = &run->link_memory[links->count + n];
            values[n] = 0.5 * (run->f[out] + weight + *left);
            *left = run->f[out] - weight;
        }
        values[n] -= run->link_drive[n];
        if (link->behind > 0) {
            run->link_memory[n] +=
                (link_correction(run, link, run->link_drive[n]) - run->link_memory[n]) / REFERENCE_LINK_STEPS;
            values[n] += run->link_memory[n] - weight * run->taken_back;
            sum += run->link_memory[n];
            weights += weight;
        }
    }
    sum += load_links(run, links, values);
    run->taken_back = weights > 0.0 ? sum / weights : 0.0;
}

/* Sets all nodes that are inside a solid by links at a step to fluid at rest. */
static void rest_inside(reference_run *run, int step) {
    if (run->scene->links.leaves) {
        kf_reference_rest_moving(run, step);
        return;
    }
    for (size_t n = 0; n < run->scene->links.inside_count; n++)
        for (size_t i = 0; i < KF_REFERENCE_Q; i++)
            run->f[i * run->count + kf_reference_node(run, run->scene->links.inside[n])] = run->weights[i];
}

void kf_reference_rest_inside(kf_reference_run *run) {
    rest_inside(run, run->step);
}

/* Empties the inside where the flow touches it, and puts what comes back where it will be streamed from. */
static void reflect_links(reference_run *run) {
    const kf_links *links = &run->scene->links;
    double *values = kf_allocate((links->count + 1) * sizeof *values);
    if (run->link_memory == NULL) {
        run->link_memory = kf_allocate_zeroed(2 * links->count + 1, sizeof *run->link_memory);
        run->link_drive = kf_allocate_zeroed(links->count + 1, sizeof *run->link_drive);
        if (run->scene->motion.moving) find_drives(run, links);
    }
    reflect_all(run, links, values);
    for (size_t n = 0; n < links->shell_count; n++)
        for (size_t i = 0; i < KF_REFERENCE_Q; i++)
            run->f[i * run->count + kf_reference_node(run, links->inside[n])] = run->weights[i];
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
        const double eddies = run->eddies != NULL ? run->eddies[node] : 0.0,
                     omega = eddies > 0.0 ? 1.0 / (1.0 / run->omega + 3.0 * eddies) : run->omega;
        kf_reference_collide(run->scene, run->folded, omega, run->average, run->streamed + node, run->count,
                             F, run->f + node);
        if (run->folded) kf_reference_fold_corners(run->f + node, run->count);
    }
}

/* --- The run
 * ----------------------------------------------------------------------------------------------------- */

/* Begins a run of the reference in equilibrium at the scene's initial state. The frees of reference_result
 * end it. */
static void begin(reference_run *run, const kf_scene *scene, bool folded) {
    static const double at_rest[3] = {0, 0, 0};
    memset(run, 0, sizeof *run);
    run->scene = scene;
    run->folded = folded;
    number_velocities(run);
    set_equilibrium(run, 1.0, at_rest, run->weights, 1);
    memcpy(run->n, scene->nodes, sizeof run->n);
    run->count = (size_t)run->n[0] * (size_t)run->n[1] * (size_t)run->n[2];
    run->f = kf_allocate(KF_REFERENCE_Q * run->count * sizeof(double));
    run->streamed = kf_allocate(KF_REFERENCE_Q * run->count * sizeof(double));
    run->force = kf_allocate_zeroed(3 * run->count, sizeof(double));
    run->omega = 1.0 / (3.0 * scene->viscosity + 0.5);
    if (scene->links.layer_count > 0) {
        run->layer = kf_allocate_zeroed(scene->links.wall_count, sizeof *run->layer);
        run->eddies = kf_allocate_zeroed(run->count, sizeof *run->eddies);
    }
    kf_reference_begin_solids(run);
    int x[3];
    for (x[2] = 0; x[2] < run->n[2]; x[2]++)
        for (x[1] = 0; x[1] < run->n[1]; x[1]++)
            for (x[0] = 0; x[0] < run->n[0]; x[0]++) {
                double density, u[3];
                kf_scene_initial(scene, x[0], x[1], x[2], &density, u);
                set_equilibrium(run, density, u, run->f + kf_reference_node(run, x), run->count);
            }
    rest_inside(run, 0);
    for (int face = 0; face < KF_FACES; face++) {
        if (scene->faces[face] != KF_OUTFLOW) continue;
        run->outside[face] = kf_allocate(KF_REFERENCE_Q * run->count * sizeof(double));
        convect_outflow(run, face, true);
    }
}

bool kf_reference_averages_at(int step) {
    return step % REFERENCE_AVERAGE_PERIOD == 0;
}

void kf_reference_give_averages(kf_reference_run *run, const kf_reference_run *from) {
    memcpy(run->average, from->average, sizeof run->average);
    run->averages_given = true;
}

static void advance(reference_run *run, int step) {
    run->step = step;
    if (run->scene->links.leaves)
        kf_reference_move_links(run, step);
    else if (run->scene->links.count > 0)
        reflect_links(run);
    for (int face = 0; face < KF_FACES; face++)
        if (run->outside[face] != NULL) convect_outflow(run, face, false);
    if (kf_reference_averages_at(step) && !run->averages_given) update_averages(run);
    kf_in_parallel(run->count, KF_REFERENCE_LEAST_SHARED, stream_nodes, run);
    if (run->scene->samples.count > 0) kf_reference_immerse(run, step);
    kf_in_parallel(run->count, KF_REFERENCE_LEAST_SHARED, collide_nodes, run);
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

/* Computes density and velocity from the populations, and frees everything else of the run. */
kf_reference_result kf_reference_end(kf_reference_run *run) {
    kf_reference_result result = {.load = run->load};
    memcpy(result.loads, run->loads, sizeof result.loads);
    memcpy(result.friction, run->friction, sizeof result.friction);
    rest_inside(run, run->step);
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
    free(run->layer);
    free(run->eddies);
    free(run->link_drive);
    free(run->distance.values);
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
