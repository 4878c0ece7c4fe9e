/* Sets the initial flow: uniform or Taylor-Green vortices, as the scene says, plus the waves of a
 * disturbance. */
#include <math.h>
#include <string.h>

#include "base/util/random.h"
#include "scene/internal.h"

#define PI 3.14159265358979323846

bool kf_scene_starts_uniform(const kf_scene *scene) {
    return scene->initial_state == NULL && scene->initial == KF_INITIAL_UNIFORM && scene->disturbance == 0.0;
}

/* Sets a node's initial density and velocity without the disturbance. Taylor-Green vortices have their exact
 * pressure, with density = 1 + 3 pressure. */
static void undisturbed(const kf_scene *scene, const int node[3], double *density, double velocity[3]) {
    if (scene->initial == KF_INITIAL_UNIFORM) {
        *density = 1.0;
        memcpy(velocity, scene->initial_velocity, 3 * sizeof *velocity);
        return;
    }
    const double speed = scene->initial_velocity[0];
    const double x = 2.0 * PI * node[0] / scene->nodes[0], y = 2.0 * PI * node[1] / scene->nodes[1];
    const bool flat = scene->initial == KF_INITIAL_TAYLOR_GREEN_2D;
    const double z = flat ? 0.0 : 2.0 * PI * node[2] / scene->nodes[2];
    velocity[0] = speed * sin(x) * cos(y) * cos(z);
    velocity[1] = -speed * cos(x) * sin(y) * cos(z);
    velocity[2] = 0.0;
    const double share = flat ? 0.25 : (cos(2.0 * z) + 2.0) / 16.0;
    *density = 1.0 + 3.0 * speed * speed * share * (cos(2.0 * x) + cos(2.0 * y));
}

/* Returns whether velocity component `to` varies along the axis in the disturbance. A component that varied
 * along its own axis would compress the fluid. In two dimensions there is no velocity along z. */
static bool has_waves(const kf_scene *scene, int axis, int to) {
    return axis != to && scene->nodes[axis] > 1 && (scene->nodes[2] > 1 || to < 2);
}

void kf_scene_draw_disturbance(kf_scene *scene) {
    uint64_t state = scene->seed;
    for (int axis = 0; axis < 3; axis++)
        for (int to = 0; to < 3; to++)
            for (int wave = 0; wave < KF_DISTURBING_WAVES; wave++) {
                const double phase = 2.0 * PI * kf_random_unit(&state);
                const int axes = scene->nodes[2] > 1 ? 2 : 1;
                const double amplitude =
                    has_waves(scene, axis, to) ? sqrt(2.0 / (KF_DISTURBING_WAVES * axes)) : 0.0;
                scene->disturbing[axis][to][wave][0] = amplitude * cos(phase);
                scene->disturbing[axis][to][wave][1] = amplitude * sin(phase);
            }
}

/* Adds the disturbance to a velocity. Each component is a sum of waves along the other axes, so its
 * divergence is zero. A whole number of wavelengths fits into the domain. So the waves are the same on every
 * grid, and continuous across periodic faces. */
static void disturb(const kf_scene *scene, const int node[3], double velocity[3]) {
    for (int axis = 0; axis < 3; axis++) {
        const double turn = 2.0 * PI * (node[axis] + 0.5) / scene->nodes[axis];
        const double c = cos(turn), s = sin(turn);
        double cosine = c, sine = s;
        for (int wave = 0; wave < KF_DISTURBING_WAVES; wave++) {
            for (int to = 0; to < 3; to++) {
                const double *part = scene->disturbing[axis][to][wave];
                velocity[to] += scene->disturbance * (part[0] * sine + part[1] * cosine);
            }
            const double next = cosine * c - sine * s;
            sine = sine * c + cosine * s;
            cosine = next;
        }
    }
}

void kf_scene_initial(const kf_scene *scene, int i, int j, int k, double *density, double velocity[3]) {
    if (scene->initial_state != NULL) {
        scene->initial_state(scene->initial_context, i, j, k, density, velocity);
        return;
    }
    const int node[3] = {i, j, k};
    undisturbed(scene, node, density, velocity);
    if (scene->disturbance > 0.0) disturb(scene, node, velocity);
}

/* Returns whether the mesh has the same cross-section everywhere along the axis. Then each triangle is
 * parallel to the axis, or lies in one of the two faces of the domain, where the mesh ends. */
static bool is_even(const kf_scene *scene, int axis) {
    const kf_mesh *mesh = &scene->mesh;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        double low, high, normal[3];
        kf_mesh_stretch(mesh, t, axis, &low, &high);
        kf_mesh_normal(mesh, t, normal);
        const bool at_end = high <= -0.5 + 1e-6 || low >= scene->nodes[axis] - 0.5 - 1e-6;
        if (!at_end && fabs(normal[axis]) > 1e-6) return false;
    }
    return true;
}

int kf_scene_even_axis(const kf_scene *scene) {
    const bool flat = scene->initial == KF_INITIAL_TAYLOR_GREEN_2D;
    const bool has_samples = scene->samples.count > 0 && !scene->linked;
    if (scene->nodes[2] == 1 || scene->initial_state != NULL || scene->disturbance > 0.0 || has_samples)
        return -1;
    for (int axis = 2; axis >= 0; axis--) {
        const bool starts_even = scene->initial == KF_INITIAL_UNIFORM || (flat && axis == 2);
        if (scene->faces[2 * axis] == KF_PERIODIC && scene->nodes[axis] > 1 && starts_even &&
            is_even(scene, axis))
            return axis;
    }
    return -1;
}
