/* Sets the arguments that kernels get of a scene. */
#include <math.h>
#include <string.h>

#include "base/util/vector.h"
#include "solver/sph/sph.h"

static const double PI = 3.14159265358979323846;

/* Returns the factor of the Wendland kernel, normal (1 - u)^4 (1 + 4 u) with u = r / support. */
static double normal(int dimensions, double support) {
    const double s = 0.5 * support;
    return dimensions == 2 ? 7.0 / (4.0 * PI * s * s) : 21.0 / (16.0 * PI * s * s * s);
}

static double wendland(int dimensions, double support, double r) {
    const double t = 1.0 - r / support;
    return t <= 0.0 ? 0.0 : normal(dimensions, support) * t * t * t * t * (5.0 - 4.0 * t);
}

/* Integrates |dW/dn| over a plane (a line in two dimensions) at a distance, by Simpson's rule along the line.
 */
static double plane_sum(int dimensions, double support, double distance) {
    enum { PARTS = 128 };
    const double left = support * support - distance * distance, s = 0.5 * support,
                 w = normal(dimensions, support);
    if (left <= 0.0) return 0.0;
    if (dimensions == 3) return 2.0 * PI * distance * wendland(3, support, distance);
    const double half = sqrt(left), step = 2.0 * half / PARTS;
    double sum = 0.0;
    for (int k = 0; k <= PARTS; k++) {
        const double y = -half + k * step, weight = k == 0 || k == PARTS ? 1.0 : k % 2 == 1 ? 4.0 : 2.0;
        const double t = fmax(1.0 - sqrt(distance * distance + y * y) / support, 0.0);
        sum += weight * distance * 5.0 * w / (s * s) * t * t * t;
    }
    return sum * step / 3.0;
}

/* Integrates u |dW/du| over the same plane, with u along it, by Simpson's rule outwards. */
static double plane_sum_along(int dimensions, double support, double distance) {
    enum { PARTS = 128 };
    const double left = support * support - distance * distance, s = 0.5 * support;
    if (left <= 0.0) return 0.0;
    const double step = sqrt(left) / PARTS, scale = 5.0 * normal(dimensions, support) / (s * s);
    double sum = 0.0;
    for (int k = 0; k <= PARTS; k++) {
        const double u = k * step, weight = k == 0 || k == PARTS ? 1.0 : k % 2 == 1 ? 4.0 : 2.0;
        const double t = fmax(1.0 - sqrt(distance * distance + u * u) / support, 0.0);
        sum += weight * t * t * t * u * u * (dimensions == 3 ? PI * u : 2.0);
    }
    return scale * sum * step / 3.0;
}

/* Layers half a spacing, one and a half ... behind the wall, as the fluid's lie before it: with the integral
 * over the half-space, a particle of the first layer would be pushed by a few percent more or less than its
 * neighbours balance. */
void kf_sph_half_space(int dimensions, double support, double distance, double sums[3]) {
    sums[0] = sums[1] = sums[2] = 0.0;
    double t = distance + 0.5;
    while (t < support) {
        const double layer = plane_sum(dimensions, support, t);
        sums[0] += layer;
        sums[1] += t * layer;
        sums[2] += plane_sum_along(dimensions, support, t);
        t += 1.0;
    }
}

static void set_planes(const kf_particle_scene *scene, kf_sph_arguments *a) {
    a->plane_count = 0;
    for (int f = 0; f < 2 * scene->dimensions; f++) {
        if (!kf_side_is_wall(scene->sides[f])) continue;
        const int axis = f / 2, upper = f % 2;
        kf_sph_plane *plane = &a->planes[a->plane_count++];
        memset(plane, 0, sizeof *plane);
        plane->normal[axis] = upper ? -1.0f : 1.0f;
        plane->offset = upper ? (float)-scene->size[axis] : 0.0f;
        plane->slip = scene->sides[f] == KF_SIDE_FREE_SLIP ? 1.0f : 0.0f;
        for (int i = 0; i < 3; i++)
            plane->velocity[i] = (float)scene->side_velocity[f][i];
    }
}

/* Returns the largest kinematic viscosity that is integrated explicitly. */
static double explicit_viscosity(const kf_particle_scene *scene) {
    const kf_material *m = &scene->material;
    if (!kf_sph_has_stress(scene)) return m->viscosity;
    if (scene->scheme == KF_SCHEME_THESIS)
        return m->yield_kind == KF_YIELD_NONE ? m->consistency
                                              : fmax(m->consistency, scene->thesis.viscosity_at_rest);
    return m->branch == KF_BRANCH_ELASTIC ? 0.0 : m->viscosity_limit;
}

/* Sets the limits of the time step: dt <= courant s / (c + |v|), 0.25 sqrt(s / |a|), 0.125 s^2 / nu. Stress
 * waves add to the speed of sound. */
static void set_limits(const kf_particle_scene *scene, kf_sph_arguments *a) {
    const double s = 0.5 * scene->support, viscosity = explicit_viscosity(scene);
    const bool elastic = kf_sph_has_stress(scene) && scene->material.branch == KF_BRANCH_ELASTIC;
    a->time_step = (float)scene->time_step;
    a->courant_length = (float)(scene->courant * s);
    a->acoustic_speed = (float)sqrt(1.0 + (elastic ? 4.0 / 3.0 * scene->material.shear_modulus : 0.0));
    a->force_length = (float)s;
    a->viscous_step = viscosity > 0.0 ? (float)(0.125 * s * s / viscosity) : 1e30f;
}

static void set_material(const kf_material *m, kf_sph_arguments *a) {
    a->viscosity = (float)(2.0 * m->viscosity);
    a->consistency = (float)m->consistency;
    a->exponent = (float)m->exponent;
    a->yield = (float)m->yield;
    a->friction = (float)m->friction;
    a->friction_fast = (float)m->friction_fast;
    a->inertial_number = (float)m->inertial_number;
    a->grain = (float)m->grain;
    a->viscosity_limit = (float)m->viscosity_limit;
    a->growth = (float)m->growth;
    a->smallest_rate = 1e-8f;
    a->shear_modulus = (float)m->shear_modulus;
    a->bed_friction = (float)m->bed_friction;
}

/* Sets the constants of the thesis' scheme: kernels poly6 and spiky by the support h, and penalty walls. */
static void set_thesis(const kf_particle_scene *scene, kf_sph_arguments *a) {
    const double h = scene->support, h3 = h * h * h, h6 = h3 * h3;
    const kf_thesis_model *t = &scene->thesis;
    a->poly6 = (float)(315.0 / (64.0 * PI * h6 * h3));
    a->spiky = (float)(45.0 / (PI * h6));
    a->laplacian = (float)(45.0 / (PI * h6) * scene->material.viscosity);
    a->half_pressure = t->consistent ? 1.0f : 0.5f;
    a->xsph = (float)t->xsph;
    a->penalty = (float)t->penalty;
    a->damping = (float)t->damping;
    a->drag = (float)t->drag;
    a->drag_height = (float)t->drag_height;
    a->speed_limit = (float)t->speed_limit;
    a->acceleration_limit = (float)t->acceleration_limit;
    a->viscosity_at_rest = (float)t->viscosity_at_rest;
}

void kf_sph_set_arguments(const kf_particle_scene *scene, const kf_sph_options *options,
                          const kf_sph_grid *grid, kf_sph_arguments *a) {
    const double h = scene->support, s = 0.5 * h, w = normal(scene->dimensions, h);
    a->count = (int)scene->count;
    a->fluid_count = (int)(scene->count - scene->wall_count);
    a->cell_count = grid->cell_count;
    a->capacity = grid->capacity;
    a->cut_axis = options->cut_axis;
    a->row_step[0] = options->cut_axis == 0 ? grid->cells[1] : 1;
    a->row_step[1] = options->cut_axis == 0 ? 1 : grid->cells[0];
    a->wall_slips = scene->dummies_slip;
    for (int i = 0; i < 3; i++) {
        a->cells[i] = grid->cells[i];
        a->tiles[i] = grid->tiles[i];
        a->cell_inverse[i] = (float)grid->inverse[i];
        a->size[i] = (float)scene->size[i];
        a->gravity[i] = (float)scene->gravity[i];
        double low = 0.0, high = 1.0;
        if (i < scene->dimensions) kf_sph_bounds(scene, i, &low, &high);
        a->low[i] = (float)low;
        a->high[i] = (float)high;
        a->least[i] = scene->sides[2 * i] == KF_SIDE_OPEN ? -1e30f : a->low[i];
        a->most[i] = scene->sides[2 * i + 1] == KF_SIDE_OPEN ? 1e30f : a->high[i];
    }
    a->support = (float)h;
    a->support2 = (float)(h * h);
    a->inverse_support = (float)(1.0 / h);
    const double wider = h * (1.0 + 0.01 * options->skin);
    a->list_support2 = (float)(wider * wider);
    if (options->list_period > 1) {
        a->list_slack = (float)(0.5 * (wider - h));
        a->list_left = options->list_period - 1;
    }
    a->gradient = (float)(5.0 * w / (s * s));
    a->softening = (float)(0.01 * s * s);
    a->diffusion = (float)(2.0 * scene->diffusion * s);
    a->artificial = (float)(scene->artificial * s);
    a->impact = (float)scene->impact;
    a->shifting = (float)(scene->shifting * s);
    a->shifting_surface = scene->dimensions == 2 ? 1.5f : 2.5f;
    set_material(&scene->material, a);
    set_limits(scene, a);
    if (scene->scheme == KF_SCHEME_THESIS) set_thesis(scene, a);
    set_planes(scene, a);
    for (int i = 0; i < 2 && scene->terrain.heights != NULL; i++) {
        a->height_nodes[i] = scene->terrain.nodes[i];
        a->height_inverse[i] = (float)(1.0 / scene->terrain.cell);
        a->height_origin[i] = (float)scene->terrain.origin[i];
    }
}

double kf_sph_usual_step(const kf_particle_scene *scene) {
    kf_sph_arguments a;
    set_limits(scene, &a);
    if (a.time_step > 0.0f) return (double)a.time_step;
    return fmin((double)a.courant_length / ((double)a.acoustic_speed + 0.05), (double)a.viscous_step);
}

double kf_sph_first_step(const kf_particle_scene *scene, const kf_sph_arguments *a) {
    double fastest = 0.0;
    if (a->time_step > 0.0f) return (double)a->time_step;
    for (size_t k = 0; k < scene->count - scene->wall_count; k++) {
        const float *v = scene->velocity + 3 * k;
        fastest = fmax(fastest, sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]));
    }
    const double *g = scene->gravity, force = kf_length(g);
    double step =
        fmin((double)a->courant_length / ((double)a->acoustic_speed + fastest), (double)a->viscous_step);
    step = fmin(step, 0.25 * sqrt((double)a->force_length / fmax(force, 1e-12)));
    if (a->list_left == 0) return step;
    return fmin(step, 0.9 * (double)a->list_slack / a->list_left / fmax(fastest + force * step, 1e-12));
}
