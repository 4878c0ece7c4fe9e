/* The model of turbulent layers without eddies in the reference (see kernels/kinetic/layer.h). It looks
 * through the columns of velocities themselves, in double precision. */
#include <math.h>

#include "base/util/vector.h"
#include "solver/kinetic/reference.h"

/* Looks from a node beside the surface along its normal. Sets the layer's thickness, the displacement and
 * momentum thickness in cells, and returns its largest speed along the stream. */
static double look_through(const kf_reference_wall *work, const kf_wall_node *wall, const double along[3],
                           double *thickness, double *displacement, double *momentum) {
    const kf_scene *scene = work->scene;
    const int *start = scene->links.link[wall->first].at[0].node;
    double height[KF_REFERENCE_COLUMN] = {0.0}, speed[KF_REFERENCE_COLUMN] = {0.0}, most = 0.0;
    int count = 0;
    for (; count <= scene->links.layer_depth && count <= wall->open; count++) {
        int node[3];
        double j[3], second[3][3];
        bool inside = true;
        height[count] = wall->distance;
        for (int a = 0; a < 3; a++) {
            /* The nearest number of steps; of two the one nearer to the wall. */
            const double along_axis = count * wall->normal[a],
                         by = copysign(ceil(fabs(along_axis) - 0.5 - 1e-6), along_axis);
            node[a] = start[a] + (int)by;
            if (scene->faces[2 * a] == KF_PERIODIC)
                node[a] -= scene->nodes[a] * (int)floor((double)node[a] / scene->nodes[a]);
            height[count] += by * wall->normal[a];
            inside = inside && node[a] >= 0 && node[a] < scene->nodes[a];
        }
        if (!inside) break;
        const size_t at = (size_t)node[0] + (size_t)scene->nodes[0] *
                                                ((size_t)node[1] + (size_t)scene->nodes[1] * (size_t)node[2]);
        const double density = kf_reference_sums(work->f + at, work->count, j, second);
        speed[count] = kf_dot(j, along) / density;
        if (speed[count] < 0.5 * most) break;
        most = fmax(most, speed[count]);
    }
    *thickness = *displacement = *momentum = 0.0;
    for (int n = 0; n < count && most > 0.0; n++) {
        const double below = n == 0 ? 0.0 : 0.5 * (height[n - 1] + height[n]),
                     above = n == count - 1 ? height[n] + 0.5 : 0.5 * (height[n] + height[n + 1]),
                     part = speed[n] / most;
        *displacement += (1.0 - part) * (above - below);
        *momentum += part * (1.0 - part) * (above - below);
        *thickness = height[n];
        if (part >= 0.995) break;
    }
    return most;
}

/* Returns the outer viscosity of Cebeci and Smith, with their factor for low Reynolds numbers. */
static double outer_viscosity(double speed, double displacement, double momentum, double viscosity) {
    const double z = fmax(0.0, speed * momentum / viscosity / 425.0 - 1.0),
                 strength = 0.55 * (1.0 - exp(-0.243 * sqrt(z) - 0.298 * z));
    return 0.0168 * 1.55 / (1.0 + strength) * speed * displacement;
}

/* Layers are looked at every fourth of the first 16 steps, then every sixteenth. */
static bool is_time(long steps) {
    return steps < 16 ? steps % 4 == 0 : steps % 16 == 0;
}

void kf_reference_follow_layer(const kf_reference_wall *work, size_t number, double share, double speed,
                               double friction_velocity, const double along[3]) {
    const kf_wall_node *wall = &work->scene->links.wall[number];
    kf_reference_layer *layer = &work->layer[number];
    if (!(wall->height > 0.0)) return;
    if (layer->steps == 0) layer->mean = speed;
    const double part = fmin(1.0, speed / (30.0 * wall->height)), off = speed - layer->mean;
    layer->mean += part * off;
    layer->square = (1.0 - part) * layer->square + part * off * off;
    layer->quiet = share >= 1.0 && layer->square < friction_velocity * friction_velocity;
    layer->friction_velocity = friction_velocity;
    if (layer->quiet && is_time(layer->steps)) {
        double thickness, displacement, momentum;
        const double most = look_through(work, wall, along, &thickness, &displacement, &momentum);
        const double outer = outer_viscosity(most, displacement, momentum, work->scene->viscosity);
        layer->outer = 0.75 * layer->outer + 0.25 * outer;
        layer->thickness = 0.75 * layer->thickness + 0.25 * thickness;
    }
    layer->steps++;
}

void kf_reference_spread_viscosity(const kf_reference_wall *work) {
    const kf_links *links = &work->scene->links;
    for (size_t n = 0; n < links->layer_count; n++) {
        const kf_layer_node *node = &links->layer[n];
        const kf_reference_layer *layer = &work->layer[node->wall];
        if (!is_time(layer->steps - 1)) continue;
        const double inner = 0.384 * node->height * layer->friction_velocity,
                     outer = layer->outer / (1.0 + 5.5 * pow(node->height / layer->thickness, 6));
        const size_t at = (size_t)node->node[0] +
                          (size_t)work->scene->nodes[0] *
                              ((size_t)node->node[1] + (size_t)work->scene->nodes[1] * (size_t)node->node[2]);
        work->eddies[at] = layer->quiet && layer->thickness > 0.0 ? fmin(fmin(inner, outer), 0.015) : 0.0;
    }
}
