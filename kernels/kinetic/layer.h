/* A model of turbulent layers that have no eddies, for wall.cu.
 *
 * A layer of few cells, or one without a trip, has no eddies on the grid. Nothing carries the wall's friction
 * outwards then: the nodes beside the wall slow down alone, friction falls, and the stream leaves edges as a
 * thin sheet. The model gives such a layer the viscosity of turbulence. It is that of Cebeci and Smith
 * (Analysis of Turbulent Boundary Layers, 1974): near the wall k y u_tau, further out a constant times the
 * layer's speed and displacement thickness, with Klebanoff's intermittency and the factor for low Reynolds
 * numbers. The flow's kernel takes it at the nodes of the layer (relaxation.h).
 *
 * A layer with eddies must not have it, because it would damp them. Each node beside the surface follows the
 * speed that the law reads. If the root of its mean squared fluctuation exceeds the friction velocity, there
 * are eddies: in a turbulent layer it is about twice that, in one without eddies a small part.
 *
 * Uses what the law has found at the node (kf_found of wall.cu) in the same step. */
#ifndef KF_KERNELS_KINETIC_LAYER_H
#define KF_KERNELS_KINETIC_LAYER_H

#include "law.h"

/* The mean speed forgets over the time that the stream takes for this many heights of the node read. */
#define KF_LAYER_MEMORY 30.0
/* Part of what a look at a layer finds that counts at once. */
#define KF_LAYER_NEWS 0.25
/* The edge of a layer has this part of its largest speed. Further out, nodes below the second part of it
 * belong to something else, such as another surface. */
#define KF_LAYER_EDGE  0.995
#define KF_LAYER_OTHER 0.5
/* Constants of Cebeci and Smith: outer viscosity, wake strength, and the Reynolds number of the momentum
 * thickness from which layers are turbulent. */
#define KF_LAYER_OUTER     0.0168
#define KF_LAYER_WAKE      0.55
#define KF_LAYER_TURBULENT 425.0
/* Largest viscosity of turbulence. The rates k17 take up to 1/42 in all (kinetic_rates.c). */
#define KF_LAYER_LIMIT 0.015

KF_FUNCTION double *kf_layer(const kf_wall_arguments *a, int wall, int number) {
    return a->layer.state + (long long)number * a->wall.count + wall;
}

/* Speeds along the stream on the normal of a node beside the surface, and their distances from it. */
typedef struct kf_profile {
    int count;
    double speed[KF_LAYER_DEPTH + 1], height[KF_LAYER_DEPTH + 1], most;
} kf_profile;

/* Rounds a step along a normal. Halves are rounded towards 0, even if they are off by an error of rounding,
 * so that mirrored normals make mirrored steps. */
KF_FUNCTION int kf_round_step(double step) {
    const int steps = (int)(fabs(step) + 0.5 - 1e-6);
    return step < 0.0 ? -steps : steps;
}

/* Reads the speeds on the normal up to the depth of the layers, the grid's end or another surface. The define
 * KF_WRAPS has a bit for each periodic axis. */
KF_FUNCTION void kf_read_profile(const kf_wall_arguments *a, int wall, const double normal[3],
                                 const double along[3], kf_profile *p) {
    const double first = kf_load_constant(a->layer.distance + wall);
    const int open = kf_load_constant(a->layer.open + wall),
              last = open < a->layer.depth ? open : a->layer.depth;
    int at[3], to[3];
    kf_position(a, kf_load_constant((const kf_index *)a->wall.node + wall), &at[0], &at[1], &at[2]);
    p->count = 0;
    p->most = 0.0;
    for (int j = 0; j <= last; j++) {
        double height = first, momentum[3];
        kf_real f[27];
        int inside = 1;
        for (int i = 0; i < 3; i++) {
            const int by = kf_round_step(j * normal[i]), nodes = a->grid.nodes[i];
            to[i] = at[i] + by;
            height += by * normal[i];
            if (KF_WRAPS >> i & 1) to[i] = (to[i] % nodes + nodes) % nodes;
            inside = inside && to[i] >= 0 && to[i] < nodes;
        }
        if (!inside) return;
        kf_load_node(a, kf_node(a, to[0], to[1], to[2]), f);
        const double density = 1.0 + kf_sum_node(f, momentum), speed = kf_dot(momentum, along) / density;
        if (speed < KF_LAYER_OTHER * p->most) return;
        p->speed[p->count] = speed;
        p->height[p->count] = height;
        p->count++;
        if (speed > p->most) p->most = speed;
    }
}

/* Looks at a layer: its thickness, and its viscosity beyond the part near the wall. */
KF_FUNCTION void kf_look_at_layer(const kf_wall_arguments *a, int wall, const kf_profile *p) {
    double displaced = 0.0, lost = 0.0, edge = 0.0, from = 0.0;
    for (int j = 0; j < p->count && p->most > 0.0; j++) {
        const double to = j + 1 < p->count ? 0.5 * (p->height[j] + p->height[j + 1]) : p->height[j] + 0.5,
                     part = p->speed[j] / p->most;
        displaced += (1.0 - part) * (to - from);
        lost += part * (1.0 - part) * (to - from);
        from = to;
        edge = p->height[j];
        if (part >= KF_LAYER_EDGE) break;
    }
    const double excess = lost * p->most / a->wall.viscosity / KF_LAYER_TURBULENT - 1.0,
                 above = excess > 0.0 ? excess : 0.0,
                 wake = KF_LAYER_WAKE * (1.0 - exp(-0.243 * sqrt(above) - 0.298 * above)),
                 outer = KF_LAYER_OUTER * (1.0 + KF_LAYER_WAKE) / (1.0 + wake) * p->most * displaced;
    *kf_layer(a, wall, KF_LAYER_VISCOSITY) +=
        KF_LAYER_NEWS * (outer - *kf_layer(a, wall, KF_LAYER_VISCOSITY));
    *kf_layer(a, wall, KF_LAYER_THICKNESS) += KF_LAYER_NEWS * (edge - *kf_layer(a, wall, KF_LAYER_THICKNESS));
}

/* Returns whether layers are looked at in the step after so many. */
KF_FUNCTION int kf_looks_at_layers(long long steps) {
    return steps % (steps < KF_LAYER_PERIOD ? KF_LAYER_FIRST : KF_LAYER_PERIOD) == 0;
}

/* Follows the speed that the law reads. */
KF_FUNCTION void kf_follow_layer(const kf_wall_arguments *a, int wall) {
    const double height = kf_surface(a, wall, 4), speed = *kf_found(a, wall, 5),
                 friction = *kf_found(a, wall, 1), steps = *kf_layer(a, wall, KF_LAYER_STEPS);
    if (!(height > 0.0)) return;
    const double all = speed / (KF_LAYER_MEMORY * height), part = all < 1.0 ? all : 1.0;
    double mean = steps > 0.0 ? *kf_layer(a, wall, KF_LAYER_MEAN) : speed,
           square = *kf_layer(a, wall, KF_LAYER_SQUARE);
    const double more = speed - mean;
    mean += part * more;
    square += part * (more * more - square);
    *kf_layer(a, wall, KF_LAYER_MEAN) = mean;
    *kf_layer(a, wall, KF_LAYER_SQUARE) = square;
    *kf_layer(a, wall, KF_LAYER_QUIET) = *kf_found(a, wall, 0) >= 1.0 && square < friction * friction;
    *kf_layer(a, wall, KF_LAYER_STEPS) = steps + 1.0;
}

/* Looks at the layers without eddies every few steps, after the law has found its friction. It is a kernel of
 * its own, so that the others keep their registers. */
KF_SCALAR_KERNEL(look_at_layers, kf_wall_arguments) {
    (void)y, (void)z;
    if (x >= a->wall.count || !(*kf_layer(a, x, KF_LAYER_QUIET) > 0.0)) return;
    if (!kf_looks_at_layers((long long)*kf_layer(a, x, KF_LAYER_STEPS) - 1)) return;
    kf_profile profile;
    const double normal[3] = {kf_surface(a, x, 0), kf_surface(a, x, 1), kf_surface(a, x, 2)},
                 along[3] = {*kf_found(a, x, 2), *kf_found(a, x, 3), *kf_found(a, x, 4)};
    kf_read_profile(a, x, normal, along, &profile);
    kf_look_at_layer(a, x, &profile);
}

/* Gives the nodes of layers their viscosity of turbulence, after each look at the layers. */
KF_SCALAR_KERNEL(spread_viscosity, kf_wall_arguments) {
    (void)y, (void)z;
    if (x >= a->layer.count) return;
    /* All nodes beside the surface with a law have counted the same steps. */
    if (!kf_looks_at_layers((long long)*kf_layer(a, kf_load_constant(a->layer.wall), KF_LAYER_STEPS) - 1))
        return;
    const int wall = kf_load_constant(a->layer.wall + x);
    const double height = kf_load_constant(a->layer.height + x),
                 thickness = *kf_layer(a, wall, KF_LAYER_THICKNESS),
                 inner = KF_LAW_KAPPA * height * *kf_found(a, wall, 1);
    double least = 0.0;
    if (*kf_layer(a, wall, KF_LAYER_QUIET) > 0.0 && thickness > 0.0) {
        const double part = height / thickness, cube = part * part * part,
                     outer = *kf_layer(a, wall, KF_LAYER_VISCOSITY) / (1.0 + 5.5 * cube * cube);
        least = inner < outer ? inner : outer;
    }
    ((kf_real *)a->layer.eddies)[kf_load_constant(a->layer.place + x)] =
        (kf_real)(least < KF_LAYER_LIMIT ? least : KF_LAYER_LIMIT);
}

#endif
