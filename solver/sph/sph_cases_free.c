/* Flows without walls: sums on a lattice, vortices, a rotating patch. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solver/sph/sph_cases.h"

static const double PI = 3.14159265358979323846;

/* ---- Sums on a lattice ---- */

/* Sets a velocity and density that grow along x: e = 1e-4 x, v_y = 1e-6 x^2. */
static void set_slopes(kf_particle_scene *scene) {
    for (size_t k = 0; k < scene->count; k++) {
        const float x = scene->position[3 * k] - 10.0f;
        scene->deviation[k] = 1e-4f * x;
        scene->velocity[3 * k + 1] = 1e-5f * x * x;
    }
}

typedef struct sums {
    double density, gradient, viscosity;
} sums;

/* Finds the rates of the middle particle in the first step, over the exact ones. */
static kf_status first_step(const kf_validation *validation, const char *scheme, double support, sums *result,
                            kf_error *error) {
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "{\"particles\": {\"spacing\": 1, \"support\": %.17g}, \"box\": {\"size\": [20, 20, 20], "
                   "\"faces\": {\"xmin\": \"open\", "
                   "\"xmax\": \"open\", \"ymin\": \"open\", \"ymax\": \"open\", \"zmin\": \"open\", "
                   "\"zmax\": \"open\"}}, \"material\": "
                   "{\"density\": 1, \"sound_speed\": 1, \"viscosity\": 0.5, \"state\": \"linear\"}, "
                   "\"model\": {\"scheme\": \"%s\", "
                   "\"time_step\": 1e-6%s}, \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0, 0], \"high\": "
                   "[20, 20, 20], "
                   "\"hydrostatic\": false}]}",
                   support, scheme, strcmp(scheme, "modern") == 0 ? ", \"artificial_viscosity\": 0" : "");
    kf_sph_flow flow;
    kf_status status = kf_sph_open(validation, text, set_slopes, NULL, &flow, error);
    if (status == KF_OK) status = kf_plan_advance(flow.plan, 1, error);
    if (status == KF_OK) status = kf_sph_look(&flow, error);
    if (status == KF_OK) {
        const size_t middle = (10 * 20 + 10) * 20 + 10;
        const float *values = flow.values + middle * KF_SPH_STATE_VALUES;
        const double e = 1e-4 * 0.5;
        result->density = 1.0 + (double)values[6];
        result->gradient = -(double)values[7] * (1.0 + e) / 1e-4;
        result->viscosity = (double)values[8] * (1.0 + e) / (0.5 * 1e-5);
    }
    kf_sph_close(&flow);
    return status;
}

/* Checks gradient, Laplacian and density of both schemes on a square lattice by the sums over the lattice,
 * which were computed by hand. */
kf_status kf_case_sph_operators(kf_validation *validation, kf_error *error) {
    static const double supports[] = {2.03, 2.71}, gradient[] = {0.9887, 0.9848},
                        laplacian[] = {1.9622, 1.9505}, density[] = {1.0119, 0.9951},
                        thesis_laplacian[] = {1.9670, 2.1246};
    char quantity[96];
    for (int k = 0; k < 2; k++) {
        sums modern = {0}, thesis = {0};
        KF_TRY(first_step(validation, "modern", supports[k], &modern, error));
        KF_TRY(first_step(validation, "thesis", supports[k], &thesis, error));
        (void)snprintf(quantity, sizeof quantity, "modern, support %.2f: gradient of p = x", supports[k]);
        kf_check_absolute(validation, quantity, "sum over the lattice", gradient[k], modern.gradient, 3e-4);
        (void)snprintf(quantity, sizeof quantity, "modern, support %.2f: Laplacian of x^2 (Morris)",
                       supports[k]);
        kf_check_absolute(validation, quantity, "sum over the lattice", laplacian[k], modern.viscosity, 1e-3);
        (void)snprintf(quantity, sizeof quantity, "thesis, support %.2f: density", supports[k]);
        kf_check_absolute(validation, quantity, "sum over the lattice", density[k], thesis.density, 1e-4);
        (void)snprintf(quantity, sizeof quantity, "thesis, support %.2f: Laplacian of x^2", supports[k]);
        kf_check_absolute(validation, quantity, "sum over the lattice",
                          thesis_laplacian[k] / density[k] / density[k], thesis.viscosity / 1.00005, 2e-3);
    }
    return KF_OK;
}

/* ---- Taylor and Green's vortices: U = 0.1 c, Re 100 ---- */

static void set_vortices(kf_particle_scene *scene) {
    const double n = scene->size[0];
    for (size_t k = 0; k < scene->count; k++) {
        const double x = 2.0 * PI * (double)scene->position[3 * k] / n,
                     y = 2.0 * PI * (double)scene->position[3 * k + 1] / n;
        scene->velocity[3 * k] = (float)(-0.1 * cos(x) * sin(y));
        scene->velocity[3 * k + 1] = (float)(0.1 * sin(x) * cos(y));
        scene->deviation[k] = (float)(-0.25 * 0.01 * (cos(2.0 * x) + cos(2.0 * y)));
    }
}

/* Checks that the Taylor-Green vortex decays with the exact rate at Reynolds number 100, and has the exact
 * velocity at t = 1. */
kf_status kf_case_sph_taylor_green(kf_validation *validation, kf_error *error) {
    const int across = validation->gpu ? 100 : 50;
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "{\"particles\": {\"dimensions\": 2, \"spacing\": %.17g, \"support\": 4}, \"box\": "
                   "{\"size\": [1, 1], \"faces\": {\"xmin\": \"periodic\", "
                   "\"xmax\": \"periodic\", \"ymin\": \"periodic\", \"ymax\": \"periodic\"}}, \"material\": "
                   "{\"density\": 1, \"sound_speed\": "
                   "10, \"viscosity\": 0.01, \"state\": \"linear\"}, \"model\": {\"artificial_viscosity\": "
                   "0, \"shifting\": 32}, "
                   "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 1]}]}",
                   1.0 / across);
    const double rate = -8.0 * PI * PI / 100.0;
    kf_sph_flow flow;
    kf_status status = kf_sph_open(validation, text, set_vortices, NULL, &flow, error);
    if (status == KF_OK) status = kf_sph_look(&flow, error);
    const double before = status == KF_OK ? kf_sph_kinetic(&flow) : 0.0;
    if (status == KF_OK) status = kf_sph_until(validation, &flow, 1.0, error);
    if (status == KF_OK) status = kf_sph_look(&flow, error);
    if (status == KF_OK) {
        double sum = 0.0, scale = 0.0;
        for (size_t k = 0; k < kf_sph_fluid(&flow); k++) {
            const double x = 2.0 * PI * kf_sph_place(&flow, k, 0), y = 2.0 * PI * kf_sph_place(&flow, k, 1);
            const double u = -exp(rate * flow.time) * cos(x) * sin(y),
                         v = exp(rate * flow.time) * sin(x) * cos(y);
            sum += fabs(kf_sph_velocity(&flow, k, 0) - u) + fabs(kf_sph_velocity(&flow, k, 1) - v);
            scale += fabs(u) + fabs(v);
        }
        kf_check_relative(validation, "decay rate of the velocity until t = 1", "exact: -8 pi^2 / Re", rate,
                          0.5 * log(kf_sph_kinetic(&flow) / before) / flow.time, 0.02);
        kf_check_absolute(validation, "velocity at t = 1, relative L1", "exact", 0.0, sum / scale, 0.05);
    }
    kf_sph_close(&flow);
    return status;
}

/* ---- A rotating square patch, side 1, omega 1 ---- */

static double patch_pressure(double x, double y) {
    double sum = 0.0;
    for (int m = 1; m < 80; m += 2)
        for (int n = 1; n < 80; n += 2)
            sum -= 32.0 / (m * n * PI * PI * (m * m + n * n) * PI * PI) * sin(m * PI * x) * sin(n * PI * y);
    return sum;
}

static void set_patch(kf_particle_scene *scene) {
    const double speed2 = scene->sound_speed * scene->sound_speed;
    for (size_t k = 0; k < scene->count; k++)
        scene->deviation[k] =
            (float)(patch_pressure((double)scene->position[3 * k] * scene->spacing - 1.0,
                                   (double)scene->position[3 * k + 1] * scene->spacing - 1.0) /
                    speed2);
}

static double angular_momentum(const kf_sph_flow *flow) {
    double sum = 0.0;
    for (size_t k = 0; k < kf_sph_fluid(flow); k++)
        sum += (kf_sph_place(flow, k, 0) - 1.5) * kf_sph_velocity(flow, k, 1) -
               (kf_sph_place(flow, k, 1) - 1.5) * kf_sph_velocity(flow, k, 0);
    return sum;
}

/* Returns the mean pressure within two spacings of the middle. */
static double pressure_in_middle(const kf_sph_flow *flow) {
    double sum = 0.0, count = 0.0;
    for (size_t k = 0; k < kf_sph_fluid(flow); k++) {
        const double x = kf_sph_place(flow, k, 0) - 1.5, y = kf_sph_place(flow, k, 1) - 1.5;
        if (x * x + y * y > 4.0 * flow->scene->spacing * flow->scene->spacing) continue;
        sum += kf_sph_pressure(flow, k);
        count += 1.0;
    }
    return sum / count;
}

/* Checks a square patch of fluid that turns freely: the pressure in its middle by a series, and its angular
 * momentum. */
kf_status kf_case_sph_patch(kf_validation *validation, kf_error *error) {
    /* With a finer spacing the tension tears the patch before its pressure settles. */
    const double spacing = 0.02;
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "{\"particles\": {\"dimensions\": 2, \"spacing\": %.17g, \"support\": 3}, \"box\": "
                   "{\"size\": [3, 3], \"faces\": {\"xmin\": \"open\", \"xmax\": "
                   "\"open\", \"ymin\": \"open\", \"ymax\": \"open\"}}, \"material\": {\"density\": 1, "
                   "\"sound_speed\": 7, \"viscosity\": 0, "
                   "\"state\": \"linear\"}, \"model\": {\"artificial_viscosity\": 0.01}, "
                   "\"fluid\": [{\"shape\": \"box\", \"low\": [1, 1], "
                   "\"high\": [2, 2], \"rotation\": 1, \"hydrostatic\": false}]}",
                   spacing);
    kf_sph_flow flow;
    kf_status status = kf_sph_open(validation, text, set_patch, NULL, &flow, error);
    double pressure = 0.0, samples = 0.0, before = 0.0;
    if (status == KF_OK) status = kf_sph_look(&flow, error);
    if (status == KF_OK) before = angular_momentum(&flow);
    for (int k = 1; k <= 20 && status == KF_OK;
         /* The mean over two crossings of sound removes its noise. */
         k++) {
        status = kf_sph_until(validation, &flow, 0.014 * k, error);
        if (status == KF_OK) status = kf_sph_look(&flow, error);
        if (status == KF_OK) pressure += pressure_in_middle(&flow), samples += 1.0;
    }
    if (status == KF_OK) status = kf_sph_until(validation, &flow, 2.0, error);
    if (status == KF_OK) status = kf_sph_look(&flow, error);
    if (status == KF_OK) {
        kf_check_absolute(validation, "pressure in the middle at first, of rho omega^2 L^2",
                          "series solution", -0.14734, pressure / samples, 0.03 * 0.14734);
        kf_check_relative(validation, "angular momentum at omega t = 2", "conserved", before,
                          angular_momentum(&flow), 1e-3);
    }
    kf_sph_close(&flow);
    return status;
}
