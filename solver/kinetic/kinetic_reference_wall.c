/* The friction of the reference by a law of the wall (see kernels/kinetic/wall.cu). It uses double precision
 * and other methods: populations themselves, matrices, and bisection for the law's equation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "solver/kinetic/reference.h"

/* Holds what the law says at a node. */
typedef struct law {
    double share, speed, friction_velocity, along[3];
} law;

static size_t node_at(const kf_scene *scene, const int x[3]) {
    return (size_t)x[0] + (size_t)scene->nodes[0] * ((size_t)x[1] + (size_t)scene->nodes[1] * (size_t)x[2]);
}

/* Returns the velocity over friction velocity at y+ (Reichardt 1951; constants of Lee and Moser 2015). */
static double law_velocity(double y) {
    const double k = 0.384, b = 4.27;
    return log1p(k * y) / k + (b - log(k) / k) * (1.0 - exp(-y / 11.0) - y / 11.0 * exp(-y / 3.0));
}

static double law_height(double reynolds) {
    double low = 0.0, high = 1.0 + reynolds;
    for (int i = 0; i < 200; i++) {
        const double middle = 0.5 * (low + high);
        if (middle * law_velocity(middle) < reynolds)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

static double product(const double one[3], const double other[3]) {
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2];
}

static void project(const double normal[3], double v[3]) {
    const double out = product(normal, v);
    for (int a = 0; a < 3; a++)
        v[a] -= out * normal[a];
}

/* Finds what the law says of the velocity at the node that it looks at. */
static law look(const kf_reference_wall *work, const kf_wall_node *wall) {
    law seen = {0};
    double j[3], second[3][3];
    const double density =
        kf_reference_sums(work->f + node_at(work->scene, wall->seen), work->count, j, second);
    project(wall->normal, j);
    const double speed = kf_length(j) / density, y = wall->height > 0.0 ? wall->height : 0.0;
    const double y_plus = y > 0.0 ? law_height(speed * y / work->scene->viscosity) : 0.0;
    const double part = fmin(1.0, fmax(0.0, (y_plus - 12.0) / 8.0));
    seen.share = 3.0 * pow(part, 2) - 2.0 * pow(part, 3);
    seen.speed = speed;
    seen.friction_velocity = y > 0.0 ? y_plus * work->scene->viscosity / y : 0.0;
    for (int a = 0; a < 3; a++)
        seen.along[a] = speed > 0.0 ? j[a] / kf_length(j) : 0.0;
    return seen;
}

static size_t direction_of(const signed char c[3], int sign) {
    for (size_t i = 0; i < KF_REFERENCE_Q; i++)
        if (kf_reference_velocities[i][0] == sign * c[0] && kf_reference_velocities[i][1] == sign * c[1] &&
            kf_reference_velocities[i][2] == sign * c[2])
            return i;
    return 0;
}

/* Lets the links of a node reflect as at a wall that moves: half-way bounce-back by 6 w c . v, and the wanted
 * interpolation of 1 + a + b times that with its mean. */
static void move_links(kf_reference_wall *work, const kf_wall_node *wall, const double velocity[3]) {
    for (size_t n = wall->first; n < wall->first + wall->count; n++) {
        const kf_link *link = &work->scene->links.link[n];
        const signed char *c = link->at[0].direction;
        const double q = link->share, weight = work->weights[direction_of(c, 1)];
        const double moved = 6.0 * weight * (c[0] * velocity[0] + c[1] * velocity[1] + c[2] * velocity[2]);
        const double wanted = link->behind == 2   ? 2.0 / pow(1.0 + q, 2)
                              : link->behind == 1 ? 2.0 / (1.0 + 2.0 * q)
                                                  : 1.0;
        const double late = (wanted - 1.0) * moved / work->mean_steps;
        work->memory[n] -= late;
        work->values[n] -= moved + late;
        work->mass -= moved + late;
    }
}

/* Finds what the links of a node take from the fluid along the surface. */
static void exchange(const kf_reference_wall *work, const kf_wall_node *wall, double taken[3]) {
    memset(taken, 0, 3 * sizeof *taken);
    for (size_t n = wall->first; n < wall->first + wall->count; n++) {
        const kf_link_node *at = &work->scene->links.link[n].at[0];
        const size_t i = direction_of(at->direction, 1);
        const double both = work->f[i * work->count + node_at(work->scene, at->node)] + work->values[n] -
                            2.0 * work->weights[i];
        for (int a = 0; a < 3; a++)
            taken[a] += both * at->direction[a];
    }
    project(wall->normal, taken);
}

/* Sums 6 w c over the links of a node: the area of the steps that they cross. */
static void add_steps(const kf_reference_wall *work, const kf_wall_node *wall, double area[3]) {
    memset(area, 0, 3 * sizeof *area);
    for (size_t n = wall->first; n < wall->first + wall->count; n++) {
        const signed char *c = work->scene->links.link[n].at[0].direction;
        for (int a = 0; a < 3; a++)
            area[a] += 6.0 * work->weights[direction_of(c, 1)] * c[a];
    }
}

/* Finds the source at a node which makes the mass that its links pass that of an even layer, as the law has
 * it a quarter of a cell from the surface. What of the source goes to the surface comes back and pushes. The
 * force takes this push along the surface away, and the surface bears the rest. */
static double even_mass(const kf_reference_wall *work, const kf_wall_node *wall, const law *seen,
                        const double slip[3], double force[3], double out[3]) {
    const double u = seen->friction_velocity,
                 layer = seen->share * u * law_velocity(0.25 * u / work->scene->viscosity);
    double area[3], along[3];
    add_steps(work, wall, area);
    memcpy(along, area, sizeof along);
    project(wall->normal, along);
    const double passes = product(area, slip) + product(area, force),
                 source = (passes - layer * product(area, seen->along)) / (1.0 - product(along, along) / 3.0);
    for (int a = 0; a < 3; a++) {
        force[a] += source * along[a] / 3.0;
        out[a] = -source * (area[a] - along[a]) / 3.0;
    }
    return source;
}

/* Adds a force and a source to what leaves a node, as it will be a step later: to populations, or to what
 * comes back. */
static void push(kf_reference_wall *work, const kf_wall_node *wall, const double force[3], double source) {
    const kf_links *links = &work->scene->links;
    const size_t node = node_at(work->scene, links->link[wall->first].at[0].node);
    bool cut[KF_REFERENCE_Q] = {false};
    for (size_t n = wall->first; n < wall->first + wall->count; n++) {
        const signed char *c = links->link[n].at[0].direction;
        const size_t back = direction_of(c, -1);
        cut[direction_of(c, 1)] = true;
        const double pushed =
            -3.0 * work->weights[back] * (c[0] * force[0] + c[1] * force[1] + c[2] * force[2]);
        work->pushed[n] = pushed + work->weights[back] * source;
        work->mass += 2.0 * pushed;
    }
    work->mass += source;
    for (size_t i = 0; i < KF_REFERENCE_Q; i++) {
        const int *c = kf_reference_velocities[i];
        const double more =
            work->weights[i] * (3.0 * (c[0] * force[0] + c[1] * force[1] + c[2] * force[2]) + source);
        if (!cut[i]) work->f[i * work->count + node] += more;
    }
}

static double smooth_step(double part) {
    const double inside = fmin(1.0, fmax(0.0, part));
    return inside * inside * (3.0 - 2.0 * inside);
}

/* Finds the direction of a node's motion across the stream, along the surface, and its speed. */
static double find_aside(const law *seen, const double velocity[3], double aside[3]) {
    const double own = product(velocity, seen->along);
    for (int a = 0; a < 3; a++)
        aside[a] = velocity[a] - own * seen->along[a];
    const double speed = kf_length(aside);
    for (int a = 0; a < 3; a++)
        aside[a] = speed > 0.0 ? aside[a] / speed : 0.0;
    return speed;
}

/* Takes from a force what would drive a node on that is much faster than what the law looks at, flows
 * against it, or flows across it. The node's speeds along and across are `own` and `across`, the direction of
 * the latter is `aside`. */
static void hold_back(const law *seen, double own, double across, const double aside[3], double force[3]) {
    if (!(seen->speed > 0.0)) return;
    const double forward = product(force, seen->along), outward = product(force, aside),
                 ratio = own / seen->speed;
    const double kept = smooth_step((forward > 0.0 ? 1.75 - ratio : 0.5 + ratio) / 0.5),
                 kept_across = outward > 0.0 ? smooth_step((1.0 - across / seen->speed) / 0.5) : 1.0;
    for (int a = 0; a < 3; a++)
        force[a] -= (1.0 - kept) * forward * seen->along[a] + (1.0 - kept_across) * outward * aside[a];
}

/* Makes friction at a node what the law says, as far as its share goes. */
static void rub_node(kf_reference_wall *work, const kf_wall_node *wall, const law *seen) {
    double taken[3], force[3], velocity[3], aside[3], slip[3], out[3], total[3], arm[3], moment[3], j[3],
        second[3][3];
    const int *node = work->scene->links.link[wall->first].at[0].node;
    const double density = kf_reference_sums(work->f + node_at(work->scene, node), work->count, j, second);
    const double u = seen->friction_velocity;
    for (int a = 0; a < 3; a++)
        velocity[a] = j[a] / density;
    project(wall->normal, velocity);
    const double own = product(velocity, seen->along), across = find_aside(seen, velocity, aside);
    for (int a = 0; a < 3; a++)
        slip[a] = seen->share *
                  (velocity[a] - (fmax(0.0, own - 1.25 * seen->speed) + fmin(0.0, own)) * seen->along[a] -
                   fmax(0.0, across - 0.5 * seen->speed) * aside[a]);
    if (seen->share > 0.0) move_links(work, wall, slip);
    exchange(work, wall, taken);
    for (int a = 0; a < 3; a++)
        force[a] = seen->share * (taken[a] - u * u * wall->area * seen->along[a]);
    hold_back(seen, own, across, aside, force);
    for (int a = 0; a < 3; a++) {
        work->friction[a] += taken[a] - force[a];
        total[a] = force[a];
        arm[a] = node[a] - work->center[a];
    }
    if (seen->share > 0.0) {
        const double source = even_mass(work, wall, seen, slip, force, out);
        push(work, wall, force, source);
        for (int a = 0; a < 3; a++)
            total[a] += out[a];
    }
    kf_reference_nearest(work->scene, arm);
    kf_cross(arm, total, moment);
    for (int a = 0; a < 3; a++) {
        work->load->force[a] -= total[a];
        work->load->torque[a] -= moment[a];
    }
}

void kf_reference_rub(kf_reference_wall *work) {
    const kf_links *links = &work->scene->links;
    law *seen = kf_allocate((links->wall_count + 1) * sizeof *seen);
    for (size_t n = 0; n < links->wall_count; n++)
        seen[n] = look(work, &links->wall[n]);
    for (size_t n = 0; n < links->wall_count && work->layer != NULL; n++)
        kf_reference_follow_layer(work, n, seen[n].share, seen[n].speed, seen[n].friction_velocity,
                                  seen[n].along);
    if (work->layer != NULL) kf_reference_spread_viscosity(work);
    for (size_t n = 0; n < links->wall_count; n++)
        rub_node(work, &links->wall[n], &seen[n]);
    free(seen);
}
