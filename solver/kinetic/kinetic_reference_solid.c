/* The solid of the reference. Its samples interpolate the fluid at the eight nodes around them. Their penalty
 * forces are spread on the same nodes. The motion of the solid is prescribed or free. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "base/util/vector.h"
#include "solver/kinetic/kinetic_samples.h"
#include "solver/kinetic/reference_run.h"

typedef kf_reference_run reference_run;
typedef kf_reference_solid reference_solid;

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
        t.node[corner] = kf_reference_node(run, at);
    }
    return t;
}

/* Computes the velocity at a node with half of the force that acts there already. */
static void velocity_at_node(const reference_run *run, size_t node, double *density, double u[3]) {
    double j[3], second[3][3];
    *density = kf_reference_sums(run->streamed + node, run->count, j, second);
    for (int i = 0; i < 3; i++)
        u[i] = (j[i] + 0.5 * run->scene->body_force[i] + 0.5 * run->force[(size_t)i * run->count + node]) /
               *density;
}

/* A sample in a step: its position, and the fluid there. */
typedef struct seen_sample {
    touched around;
    /* The strength is 2 density area. */
    double position[3], arm[3], strength, fluid[3];
} seen_sample;

/* Returns the number of the sample's solid. */
static int solid_of(const reference_run *run, size_t s) {
    return run->scene->samples.solid != NULL ? 1 + run->scene->samples.solid[s] : 0;
}

/* Finds the data of a sample: its position and arm, the eight nodes around it, the fluid's velocity there,
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

/* Moves the body by a step along and about its velocities, by Rodrigues' formula. */
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

/* Adds a sample's contribution to force and torque for unit velocities. They fill the columns one after the
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

/* Solves for the velocities of this step that agree with the forces that they cause. */
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

/* Spreads the force of every sample on the nodes around it, and sums the reaction on the solid. */
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

/* Looks at all samples before any force is spread, in each pass anew. */
void kf_reference_immerse(reference_run *run, int step) {
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
        kf_in_parallel(count, KF_REFERENCE_LEAST_SHARED, look_at_samples, &(sight){run, seen});
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

void kf_reference_begin_solids(reference_run *run) {
    const kf_scene *scene = run->scene;
    run->area = kf_kinetic_acting_areas(scene);
    begin_solid(scene, &scene->motion, scene->motion.moving, &run->solid[0]);
    for (int k = 0; k < scene->solid_count; k++)
        begin_solid(scene, &scene->solids[k].motion, true, &run->solid[1 + k]);
}
