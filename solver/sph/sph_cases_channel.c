/* Channels and films: exact solutions of steady and starting flows. */
#include <math.h>
#include <stdio.h>

#include "solver/sph/sph_cases.h"

static const double PI = 3.14159265358979323846;
static const char morris[] = "series solution; Morris, Fox & Zhu, J. Comput. Phys. 136 (1997) 214";

typedef struct channel {
    /* Kinematic viscosity; m, m/s^2, m/s. */
    double viscosity, width, force, speed;
    bool couette;
} channel;

static double exact(const channel *c, double y, double t) {
    double u = c->couette ? c->speed * y / c->width : 0.5 * c->force / c->viscosity * y * (c->width - y);
    for (int n = 0; n < 200; n++) {
        const double odd = 2 * n + 1, all = n + 1,
                     square = PI * PI * c->viscosity * t / (c->width * c->width);
        if (c->couette)
            u += 2.0 * c->speed / (all * PI) * (n % 2 == 0 ? -1.0 : 1.0) * sin(all * PI * y / c->width) *
                 exp(-all * all * square);
        else
            u -= 4.0 * c->force * c->width * c->width / (c->viscosity * pow(PI * odd, 3.0)) *
                 sin(odd * PI * y / c->width) * exp(-odd * odd * square);
    }
    return u;
}

/* Returns the root mean square deviation over the particles, relative to the largest velocity of the exact
 * profile. */
static double profile_error(const kf_sph_flow *flow, const channel *c) {
    double sum = 0.0, largest = 0.0;
    const size_t n = kf_sph_fluid(flow);
    for (size_t k = 0; k < n; k++) {
        const double y = kf_sph_place(flow, k, 1), u = exact(c, y, flow->time),
                     got = kf_sph_velocity(flow, k, 0);
        sum += (got - u) * (got - u);
        largest = fmax(largest, fabs(u));
    }
    return sqrt(sum / (double)n) / largest;
}

static kf_status run_channel(kf_validation *validation, const channel *c, const char *walls, int across,
                             kf_error *error) {
    static const double times[] = {0.0225, 0.045, 0.1125, 0.225, 1.0};
    const double spacing = c->width / across;
    char text[1024], quantity[96];
    (void)snprintf(text, sizeof text,
                   "{\"particles\": {\"dimensions\": 2, \"spacing\": %.17g}, \"box\": {\"size\": [%.17g, "
                   "%.17g], \"faces\": "
                   "{\"xmin\": \"periodic\", \"xmax\": \"periodic\", \"ymin\": \"%s\", \"ymax\": \"%s\"}%s}, "
                   "\"gravity\": [%.17g, 0], "
                   "\"material\": {\"density\": 1000, \"sound_speed\": 2.5e-4, \"viscosity\": 0.001, "
                   "\"state\": \"linear\"}, "
                   "\"model\": {\"artificial_viscosity\": 0, \"shifting\": 2}, "
                   "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, %.17g]}]}",
                   spacing, 10 * spacing, c->width, walls, walls,
                   c->couette ? ", \"face_velocity\": {\"ymax\": [1.25e-5, 0]}" : "",
                   c->couette ? 0.0 : c->force, c->width);
    kf_sph_flow flow;
    kf_status status = kf_sph_open(validation, text, NULL, NULL, &flow, error);
    for (int k = 0; k < (validation->quick ? 4 : 5) && status == KF_OK; k++) {
        status = kf_sph_until(validation, &flow, times[k], error);
        if (status == KF_OK) status = kf_sph_look(&flow, error);
        if (status != KF_OK || k % 3 != 0) continue;
        (void)snprintf(quantity, sizeof quantity, "%s, %s, %d across: profile at %.4g s, rms",
                       c->couette ? "Couette" : "Poiseuille", walls, across, times[k]);
        kf_check_absolute(validation, quantity, morris, 0.0, profile_error(&flow, c), 0.015);
    }
    kf_sph_close(&flow);
    return status;
}

kf_status kf_case_sph_channel(kf_validation *validation, kf_error *error) {
    const channel poiseuille = {.viscosity = 1e-6, .width = 1e-3, .force = 1e-4},
                  couette = {.viscosity = 1e-6, .width = 1e-3, .speed = 1.25e-5, .couette = true};
    const int across = validation->quick ? 40 : 50;
    KF_TRY(run_channel(validation, &poiseuille, "no_slip", across, error));
    KF_TRY(run_channel(validation, &couette, "no_slip", across, error));
    return run_channel(validation, &poiseuille, "dummies", across, error);
}

/* Returns how far the particles' speeds along x are off an exact profile of their heights y: relative L2. */
static double profile_l2(const kf_sph_flow *flow, double (*profile)(const void *context, double y),
                         const void *context) {
    double sum = 0.0, scale = 0.0;
    for (size_t k = 0; k < kf_sph_fluid(flow); k++) {
        const double u = profile(context, kf_sph_place(flow, k, 1)), d = kf_sph_velocity(flow, k, 0) - u;
        sum += d * d;
        scale += u * u;
    }
    return sqrt(sum / scale);
}

/* ---- Bingham ---- */

static double plug_profile(const void *context,
                           double y) { /* Returns the profile for G = mu = 1, tau_y = 0.2, half width 0.5. */
    (void)context;
    const double wall = fmin(y, 1.0 - y);
    return wall < 0.3 ? 0.5 * wall - 0.5 * wall * wall - 0.2 * wall : 0.045;
}

/* Checks a Bingham fluid driven through a channel: the exact profile with its plug, and the plug's speed. */
kf_status kf_case_sph_bingham(kf_validation *validation, kf_error *error) {
    const int across = validation->gpu ? 50 : 32;
    const double spacing = 1.0 / across;
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "{\"particles\": {\"dimensions\": 2, \"spacing\": %.17g}, \"box\": {\"size\": [%.17g, 1], "
                   "\"faces\": {\"xmin\": "
                   "\"periodic\", \"xmax\": \"periodic\", \"ymin\": \"no_slip\", \"ymax\": \"no_slip\"}}, "
                   "\"gravity\": [1, 0], "
                   "\"material\": {\"law\": \"bingham\", \"density\": 1, \"sound_speed\": 1, \"viscosity\": "
                   "1, \"yield_stress\": 0.2, "
                   "\"branch\": \"papanastasiou\", \"growth\": 200, \"viscosity_limit\": 40}, \"model\": "
                   "{\"artificial_viscosity\": 0, \"shifting\": 2}, "
                   "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 1]}]}",
                   spacing, 10 * spacing);
    kf_sph_flow flow;
    kf_status status = kf_sph_open(validation, text, NULL, NULL, &flow, error);
    if (status == KF_OK) status = kf_sph_until(validation, &flow, 0.5, error);
    if (status == KF_OK) status = kf_sph_look(&flow, error);
    if (status == KF_OK) {
        kf_check_relative(validation, "speed of the plug", "exact: (G h - tau_y)^2 / (2 mu G)", 0.045,
                          kf_sph_mean_velocity(&flow, 0, 1, 0.5, 0.2), 0.03);
        kf_check_absolute(validation, "profile, relative L2", "exact", 0.0,
                          profile_l2(&flow, plug_profile, NULL), 0.03);
    }
    kf_sph_close(&flow);
    return status;
}

/* ---- Power law and Herschel-Bulkley ---- */

/* A fluid K gamma^n above a yield stress, driven by 1 through a channel of width 1; K = 1. */
typedef struct power_fluid {
    const char *name, *law;
    double exponent, yield;
} power_fluid;

/* Returns u at a distance d from the middle: the integral of (G d - tau_y)^(1/n) from there to the wall. */
static double power_profile(const void *context, double y) {
    const power_fluid *fluid = context;
    const double m = 1.0 + 1.0 / fluid->exponent, wall = 0.5 - fluid->yield,
                 here = fmax(fabs(y - 0.5) - fluid->yield, 0.0);
    return (pow(wall, m) - pow(here, m)) / m;
}

/* Checks a fluid's steady profile between plates. */
static kf_status run_power(kf_validation *validation, const power_fluid *fluid, kf_error *error) {
    enum { ACROSS = 32 };
    static const char yields[] = ", \"yield_stress\": 0.1, \"branch\": \"papanastasiou\", \"growth\": 200";
    const double spacing = 1.0 / ACROSS;
    char text[1024], quantity[96];
    (void)snprintf(text, sizeof text,
                   "{\"particles\": {\"dimensions\": 2, \"spacing\": %.17g}, \"box\": {\"size\": [%.17g, 1], "
                   "\"faces\": {\"xmin\": \"periodic\", \"xmax\": \"periodic\", \"ymin\": \"no_slip\", "
                   "\"ymax\": \"no_slip\"}}, \"gravity\": [1, 0], \"material\": {\"law\": \"%s\", "
                   "\"density\": 1, \"sound_speed\": 2, \"consistency\": 1, \"exponent\": %g, "
                   "\"viscosity_limit\": 40%s}, \"model\": {\"artificial_viscosity\": 0, \"shifting\": 2}, "
                   "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [%.17g, 1]}]}",
                   spacing, 10 * spacing, fluid->law, fluid->exponent, fluid->yield > 0.0 ? yields : "",
                   10 * spacing);
    kf_sph_flow flow;
    kf_status status = kf_sph_open(validation, text, NULL, NULL, &flow, error);
    if (status == KF_OK) status = kf_sph_until(validation, &flow, 0.5, error);
    if (status == KF_OK) status = kf_sph_look(&flow, error);
    if (status == KF_OK) {
        (void)snprintf(quantity, sizeof quantity, "%s: profile, relative L2", fluid->name);
        kf_check_absolute(validation, quantity, "exact", 0.0, profile_l2(&flow, power_profile, fluid), 0.03);
    }
    kf_sph_close(&flow);
    return status;
}

/* Fluids whose viscosity follows a power of the shear rate must have their exact profiles between plates. */
kf_status kf_case_sph_power(kf_validation *validation, kf_error *error) {
    static const power_fluid fluids[] = {{"power law, n = 1/2", "power", 0.5, 0.0},
                                         {"Herschel-Bulkley, n = 1/2", "herschel_bulkley", 0.5, 0.1}};
    for (size_t i = 0; i < sizeof fluids / sizeof fluids[0]; i++)
        KF_TRY(run_power(validation, &fluids[i], error));
    return KF_OK;
}

/* ---- Films ---- */

/* Opens a film of 250 kg/m^3, 1 m deep, on a slope of 30 degrees. Gravity is turned, and the ground is not.
 */
static kf_status open_film(const kf_validation *validation, double yield, double spacing, kf_sph_flow *flow,
                           kf_error *error) {
    char text[1024];
    (void)snprintf(
        text, sizeof text,
        "{\"particles\": {\"dimensions\": 2, \"spacing\": %.17g}, \"box\": {\"size\": [%.17g, 1.5], "
        "\"faces\": {\"xmin\": "
        "\"periodic\", \"xmax\": \"periodic\", \"ymin\": \"no_slip\"}}, \"gravity\": [4.905, -8.4957], "
        "\"material\": {\"law\": "
        "\"bingham\", \"density\": 250, \"sound_speed\": 50, \"viscosity\": 500, \"yield_stress\": %.17g}, "
        "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [10, 1]}]}",
        spacing, 10 * spacing, yield);
    return kf_sph_open(validation, text, NULL, NULL, flow, error);
}

/* Returns how far particles have moved along x, in m; less than half of the period. */
static double mean_shift(const kf_sph_flow *flow) {
    const kf_particle_scene *s = flow->scene;
    double sum = 0.0;
    for (size_t k = 0; k < kf_sph_fluid(flow); k++)
        sum +=
            remainder((double)flow->values[k * KF_SPH_STATE_VALUES] - (double)s->position[3 * k], s->size[0]);
    return sum / (double)kf_sph_fluid(flow) * s->spacing;
}

/* Checks that a Bingham film on a slope flows with the exact speed of its plug, and rests below its yield
 * stress. */
kf_status kf_case_sph_film(kf_validation *validation, kf_error *error) {
    const double weight = 250.0 * 4.905, yield = 200.0, viscosity = 500.0,
                 spacing = validation->gpu ? 0.02 : 0.04;
    const double sheared = 1.0 - yield / weight, speed = 0.5 * weight / viscosity * sheared * sheared;
    kf_sph_flow flow;
    kf_status status = open_film(validation, yield, spacing, &flow, error);
    if (status == KF_OK) status = kf_sph_until(validation, &flow, 2.5, error);
    if (status == KF_OK) status = kf_sph_look(&flow, error);
    if (status == KF_OK)
        kf_check_relative(validation, "Bingham film: speed of the plug", "exact", speed,
                          kf_sph_mean_velocity(&flow, 0, 1, 0.5 * (1.0 + sheared), 0.5 * (1.0 - sheared)),
                          0.03);
    kf_sph_close(&flow);
    KF_TRY(status);
    /* When released at once, the film oscillates like an elastic layer, so the farthest position counts. */
    double before = 0.0;
    status = open_film(validation, 2.0 * weight, spacing, &flow, error);
    if (status == KF_OK) status = kf_sph_until(validation, &flow, 1.5, error);
    if (status == KF_OK) status = kf_sph_look(&flow, error);
    if (status == KF_OK) before = mean_shift(&flow);
    const double begin = flow.time;
    if (status == KF_OK) status = kf_sph_until(validation, &flow, 6.0, error);
    if (status == KF_OK) status = kf_sph_look(&flow, error);
    if (status == KF_OK)
        kf_check_absolute(validation, "film below its yield stress: drift, of sqrt(g H)", "exact: rest", 0.0,
                          fabs(mean_shift(&flow) - before) / (flow.time - begin) / sqrt(9.81), 1e-3);
    kf_sph_close(&flow);
    return status;
}

/* Returns u under a surface at height 1 that moves at this speed. */
static double bagnold_profile(const void *context, double y) {
    const double *surface = context;
    return *surface * (1.0 - pow(fmax(1.0 - y, 0.0), 1.5));
}

/* Checks grains that flow down a slope with mu(I). I is the same at all depths, so the speed is that of
 * Bagnold, u = 2/3 I / d sqrt(phi g cos(theta)) (H^(3/2) - (H - y)^(3/2)), where phi is the bulk's density
 * over the grains'. */
kf_status kf_case_sph_grains(kf_validation *validation, kf_error *error) {
    const double slow = 0.43, fast = 0.7, inertial = 0.3, slope = 0.55, diameter = 0.2, height = 1.0;
    const double spacing = validation->gpu ? 0.02 : 0.04, phi = 0.6;
    const double down = 9.81 / sqrt(1.0 + slope * slope), along = slope * down;
    const double number = inertial * (slope - slow) / (fast - slope);
    const double scale = 2.0 / 3.0 * number / diameter * sqrt(phi * down);
    char text[1024];
    (void)snprintf(
        text, sizeof text,
        "{\"particles\": {\"dimensions\": 2, \"spacing\": %.17g}, \"box\": {\"size\": [%.17g, 1.5], "
        "\"faces\": {\"xmin\": \"periodic\", \"xmax\": \"periodic\", \"ymin\": \"no_slip\"}}, "
        "\"gravity\": [%.17g, %.17g], \"material\": {\"law\": \"mu_i\", \"density\": 1500, \"sound_speed\": "
        "60, "
        "\"mu_s\": %.17g, \"mu_2\": %.17g, \"I_0\": %.17g, \"grain_diameter\": %.17g, \"grain_density\": "
        "2500}, "
        "\"model\": {\"tension\": false}, \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [10, "
        "%.17g]}]}",
        spacing, 10 * spacing, along, -down, slow, fast, inertial, diameter, height);
    kf_sph_flow flow;
    kf_status status = kf_sph_open(validation, text, NULL, NULL, &flow, error);
    if (status == KF_OK) status = kf_sph_until(validation, &flow, 10.0, error);
    if (status == KF_OK) status = kf_sph_look(&flow, error);
    if (status == KF_OK) {
        kf_check_relative(validation, "grains on a slope: speed at the surface", "mu(I): Bagnold's profile",
                          scale, kf_sph_mean_velocity(&flow, 0, 1, height - spacing, 2.0 * spacing), 0.03);
        kf_check_absolute(validation, "grains on a slope: profile, relative L2", "mu(I): Bagnold's profile",
                          0.0, profile_l2(&flow, bagnold_profile, &scale), 0.03);
    }
    kf_sph_close(&flow);
    return status;
}
