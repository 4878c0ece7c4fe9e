/* Flows with an exact solution: channel, decaying plane vortices. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "scene/scene.h"
#include "solver/kinetic/kinetic_cases.h"

static const char *const in_double[] = {"storage=f64", NULL};

/* --- Channel ------------------------------------------------------------------------------------------- */

static const char poiseuille_source[] =
    "docs/physics.md, Channels: u = G/(2 nu) [y (H - y) + 4/3 Lambda - 1/4], exact for this discretisation";

typedef struct channel {
    const char *model;
    kf_collision collision;
    kf_rate_rule rule;
    double omega;
    const char *const *overrides;
    double bound;
} channel;

static double channel_viscosity(const channel *c) {
    return (1.0 / c->omega - 0.5) / 3.0;
}

/* Returns the offset of the wall, 4/3 Lambda - 1/4, with Lambda from the rates of orders two and three. */
static double wall_offset(const channel *c, const kf_scene *scene) {
    double third = c->collision == KF_BGK             ? c->omega
                   : scene->rate_rule == KF_RATE_ONES ? 1.0
                                                      : scene->high_order_rate;
    return 4.0 / 3.0 * (1.0 / c->omega - 0.5) * (1.0 / third - 0.5) - 0.25;
}

/* The speed is low, because different rates of orders two and three leave an error of the order of u^2. */
static const double top_speed = 0.005;

/* The channel starts from the continuous solution at unit top speed, scaled. */
static void parabola_state(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const int height = *(const int *)context;
    (void)i, (void)k;
    *density = 1.0;
    velocity[0] = 0.9 * top_speed * 4.0 * (j + 0.5) * (height - j - 0.5) / ((double)height * height);
    velocity[1] = velocity[2] = 0.0;
}

/* Runs a channel of this height in nodes to its steady state. Computes the relative L2 deviations of the
 * profile from the exact discrete solution and from the continuous one. */
static kf_status run_channel(const kf_validation *validation, const channel *c, int height,
                             double deviation[2], kf_error *error) {
    const double viscosity = channel_viscosity(c);
    kf_scene *scene = kf_flow_box("poiseuille", 16, height, 1, viscosity);
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_WALL;
    scene->initial_state = parabola_state;
    scene->initial_context = &height;
    scene->collision = c->collision;
    scene->rate_rule = c->rule;
    scene->body_force[0] = 8.0 * viscosity * top_speed / ((double)height * height);
    /* After this time exp(-16) of the slowest mode remains. */
    uint64_t steps = (uint64_t)(16.0 * height * height / (kf_pi * kf_pi * viscosity));
    kf_plan *plan;
    double *values = NULL;
    kf_status status = kf_kinetic_case_open(validation, scene, c->overrides, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, steps, error);
    if (status == KF_OK) status = kf_kinetic_read(plan, &values, error);
    double sums[3] = {0, 0, 0};
    for (int y = 0; status == KF_OK && y < height; y++) {
        double place = y + 0.5, parabola = place * (height - place);
        double scale = scene->body_force[0] / (2.0 * viscosity);
        double u = values[kf_flow_count(scene) + (size_t)y * 16];
        sums[0] += pow(u - scale * (parabola + wall_offset(c, scene)), 2);
        sums[1] += pow(u - scale * parabola, 2);
        sums[2] += pow(scale * parabola, 2);
    }
    deviation[0] = sqrt(sums[0] / sums[2]);
    deviation[1] = sqrt(sums[1] / sums[2]);
    free(values);
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

/* Poiseuille flow in channels of 8 nodes must have the parabolic profile to rounding, and converge with
 * second order from 6 to 18 nodes. */
kf_status kf_case_poiseuille(kf_validation *validation, kf_error *error) {
    static const channel channels[] = {
        {"BGK, omega 1.5, f64", KF_BGK, KF_RATE_ONES, 1.5, in_double, 1e-6},
        {"ACM-MRT rate 1.98, omega 1.5, f64", KF_ACM_MRT, KF_RATE_CONSTANT, 1.5, in_double, 1e-6},
        {"ACM-MRT rate 1, omega 0.8, f64", KF_ACM_MRT, KF_RATE_ONES, 0.8, in_double, 1e-6},
        {"ACM-MRT rate 1.98, omega 1.5, default storage", KF_ACM_MRT, KF_RATE_CONSTANT, 1.5, NULL, 1e-4},
    };
    double deviation[2];
    char quantity[96];
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        KF_TRY(run_channel(validation, &channels[i], 8, deviation, error));
        (void)snprintf(quantity, sizeof quantity, "profile, L2: %s", channels[i].model);
        kf_check_absolute(validation, quantity, poiseuille_source, 0.0, deviation[0], channels[i].bound);
    }
    const channel ordered = {"", KF_ACM_MRT, KF_RATE_ONES, 1.0, in_double, 0};
    double coarse[2], fine[2];
    KF_TRY(run_channel(validation, &ordered, 6, coarse, error));
    KF_TRY(run_channel(validation, &ordered, 18, fine, error));
    kf_check_at_least(validation, "order of convergence, 6 to 18 nodes",
                      "half-way bounce-back is of second order", 2.0, log(coarse[1] / fine[1]) / log(3.0),
                      0.1);
    return KF_OK;
}

/* --- Decaying vortices --------------------------------------------------------------------------------- */

typedef struct vortices {
    int nodes;
    double amplitude, carry[2];
    /* A wave of shear and no vortices. */
    bool wave;
} vortices;

/* Sets plane Taylor-Green vortices carried by a uniform stream. */
static void carried_vortices(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const vortices *v = context;
    (void)k;
    const double x = 2.0 * kf_pi * i / v->nodes, y = 2.0 * kf_pi * j / v->nodes;
    velocity[0] = v->carry[0] + v->amplitude * sin(x) * cos(y);
    velocity[1] = v->carry[1] - v->amplitude * cos(x) * sin(y);
    velocity[2] = 0.0;
    *density = 1.0 + 0.75 * v->amplitude * v->amplitude * (cos(2.0 * x) + cos(2.0 * y));
}

/* Sets a wave of velocity across x, carried by a uniform stream. */
static void carried_wave(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const vortices *v = context;
    (void)j, (void)k;
    velocity[0] = v->carry[0];
    velocity[1] = v->carry[1] + v->amplitude * sin(2.0 * kf_pi * i / v->nodes);
    velocity[2] = 0.0;
    *density = 1.0;
}

/* Returns the energy of the deviation from the mean velocity. */
static double fluctuation(const kf_scene *scene, const double *values) {
    const size_t count = kf_flow_count(scene);
    double mean[3] = {0, 0, 0}, sum = 0;
    for (int i = 0; i < 3; i++)
        for (size_t n = 0; n < count; n++)
            mean[i] += values[(size_t)(i + 1) * count + n] / (double)count;
    for (size_t n = 0; n < count; n++)
        for (int i = 0; i < 3; i++)
            sum += pow(values[(size_t)(i + 1) * count + n] - mean[i], 2);
    return 0.5 * sum / (double)count;
}

/* Measures the viscosity by the decay of the flow's energy between two times, divided by the required one. */
static kf_status measure_viscosity(const kf_validation *validation, const vortices *v, double viscosity,
                                   double *ratio, kf_error *error) {
    kf_scene *scene = kf_flow_box("vortices", v->nodes, v->wave ? 4 : v->nodes, 1, viscosity);
    scene->initial_state = v->wave ? carried_wave : carried_vortices;
    scene->initial_context = v;
    const double wave_square = (v->wave ? 0.5 : 1.0) * pow(2.0 * kf_pi / v->nodes, 2);
    const double life = 1.0 / (4.0 * viscosity * wave_square);
    const uint64_t begin = (uint64_t)(0.3 * life), span = (uint64_t)life;
    double energy[2] = {0, 0};
    kf_plan *plan;
    kf_status status = kf_kinetic_case_open(validation, scene, in_double, &plan, error);
    for (int when = 0; when < 2 && status == KF_OK; when++) {
        double *values = NULL;
        status = kf_flow_advance(validation, plan, when == 0 ? begin : span, error);
        if (status == KF_OK) status = kf_kinetic_read(plan, &values, error);
        if (status == KF_OK) energy[when] = fluctuation(scene, values);
        free(values);
    }
    *ratio = log(energy[0] / energy[1]) / (4.0 * viscosity * wave_square * (double)span);
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

static const char decay_source[] = "Navier-Stokes: energy decays as exp(-4 nu k^2 t)";

kf_status kf_case_taylor_green_2d(kf_validation *validation, kf_error *error) {
    double ratio[2];
    vortices v = {.nodes = 32, .amplitude = 0.02};
    KF_TRY(measure_viscosity(validation, &v, 0.02, &ratio[0], error));
    kf_check_relative(validation, "viscosity from the decay, 32^2, nu 0.02", decay_source, 1.0, ratio[0],
                      0.005);
    v = (vortices){.nodes = 12, .amplitude = 0.02};
    KF_TRY(measure_viscosity(validation, &v, 0.05, &ratio[0], error));
    v = (vortices){.nodes = 24, .amplitude = 0.01};
    KF_TRY(measure_viscosity(validation, &v, 0.05, &ratio[1], error));
    kf_check_at_least(validation, "order of convergence of the decay, 12 to 24 nodes",
                      "second order in space at fixed viscosity", 2.0,
                      log(fabs(ratio[0] - 1.0) / fabs(ratio[1] - 1.0)) / log(2.0), 0.1);
    return KF_OK;
}

/* Returns the share by which a stream of velocity U along an axis reduces the viscosity of normal stresses
 * with any collision: because c^3 = c, the flux of momentum lacks rho u^3. */
static double cubic_defect(const double carry[2]) {
    return 4.5 * 0.5 * (carry[0] * carry[0] + carry[1] * carry[1]);
}

static kf_status carry_at(kf_validation *validation, bool wave, double speed, double *ratio,
                          kf_error *error) {
    const vortices v = {.nodes = 32, .amplitude = 0.02, .carry = {speed, 0.5 * speed}, .wave = wave};
    const char *what = wave ? "shear wave" : "vortices";
    char quantity[96];
    double carried;
    KF_TRY(measure_viscosity(validation, &v, 0.02, &carried, error));
    if (speed == 0.0) {
        *ratio = carried;
        return KF_OK;
    }
    (void)snprintf(quantity, sizeof quantity, "decay of %s carried at (%.2f, %.3f) over at rest", what, speed,
                   0.5 * speed);
    if (wave)
        kf_check_relative(validation, quantity, "Galilean invariance", 1.0, carried / *ratio, 0.005);
    else
        kf_check_relative(validation, quantity,
                          "1 - 9/4 U^2: cubic defect of lattices with speeds -1, 0, 1 (Dellar, J. Comput. "
                          "Phys. 259 (2014) 270)",
                          1.0 - cubic_defect(v.carry), carried / *ratio, 0.005);
    return KF_OK;
}

kf_status kf_case_galilean(kf_validation *validation, kf_error *error) {
    static const double speeds[] = {0.0, 0.05, 0.1, 0.15};
    double at_rest = 1.0;
    for (int wave = 1; wave >= 0; wave--)
        for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
            KF_TRY(carry_at(validation, wave, speeds[i], &at_rest, error));
    return KF_OK;
}
