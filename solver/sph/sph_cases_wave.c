/* A standing wave on a viscous fluid. */
#include <math.h>
#include <stdio.h>

#include "solver/sph/sph_cases.h"

static const double PI = 3.14159265358979323846;

/* It is as long as twice the depth of 1, gravity is 1. */
/* The wave's height over the depth. */
static const double STEEPNESS = 0.05;

static void set_off(kf_particle_scene *scene) {
    const double omega = sqrt(PI * tanh(PI)), speed = STEEPNESS * PI / omega / scene->sound_speed / cosh(PI);
    for (size_t k = 0; k < scene->count; k++) {
        const double x = (double)scene->position[3 * k] * scene->spacing,
                     y = (double)scene->position[3 * k + 1] * scene->spacing;
        scene->velocity[3 * k] = (float)(-speed * cosh(PI * y) * sin(PI * x));
        scene->velocity[3 * k + 1] = (float)(speed * sinh(PI * y) * cos(PI * x));
    }
}

/* Returns the amplitude of the wave's vertical velocity. */
static double swing(const kf_sph_flow *flow) {
    double sum = 0.0;
    for (size_t k = 0; k < kf_sph_fluid(flow); k++)
        sum += kf_sph_velocity(flow, k, 1) * cos(PI * kf_sph_place(flow, k, 0));
    return sum;
}

/* The number of samples of three periods. */
enum { SAMPLES = 240 };

/* Finds the period from the first and the last zero, and the rate of decay of the energy from the first
 * and the last maximum. */
static void read_swings(const double (*seen)[2], double *period, double *damping) {
    double first = 0.0, last = 0.0, top[2][2] = {{0.0}};
    int passages = 0, tops = 0;
    for (int k = 1; k < SAMPLES; k++) {
        const double before = seen[k - 1][1], now = seen[k][1], after = seen[k + 1][1];
        if (before * now < 0.0) {
            last = seen[k - 1][0] + (seen[k][0] - seen[k - 1][0]) * before / (before - now);
            if (passages++ == 0) first = last;
        }
        if (fabs(now) <= fabs(before) || fabs(now) < fabs(after)) continue;
        top[tops++ > 0][0] = seen[k][0];
        top[tops > 1][1] = fabs(now);
    }
    *period = 2.0 * (last - first) / (passages - 1);
    *damping = 2.0 * log(top[0][1] / top[1][1]) / (top[1][0] - top[0][0]);
}

/* The roots of (s + 2 nu k^2)^2 + g k tanh k = 4 nu^2 k^4 sqrt(1 + s / (nu k^2)) (Lamb, Hydrodynamics, 349),
 * for nu = 0.01 and k = pi, are -0.163496 +- 1.737118 i. */
kf_status kf_case_sph_wave(kf_validation *validation, kf_error *error) {
    static const char source[] = "viscous waves (Lamb, Hydrodynamics, 349)";
    const double spacing = validation->gpu     ? 0.0125
                           : validation->quick ? 0.05
                                               : 0.025,
                 damping = 2.0 * 0.163496, period = 2.0 * PI / 1.737118;
    char text[1024];
    (void)snprintf(
        text, sizeof text,
        "{\"particles\": {\"dimensions\": 2, \"spacing\": %.17g}, \"box\": {\"size\": [2, 1.5], \"faces\": "
        "{\"xmin\": \"periodic\", \"xmax\": \"periodic\"}}, \"gravity\": [0, -1], \"material\": "
        "{\"density\": 1, "
        "\"sound_speed\": 15, \"viscosity\": 0.01, \"state\": \"linear\"}, \"model\": "
        "{\"artificial_viscosity\": 0, "
        "\"central_viscosity\": true}, \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [2, 1]}]}",
        spacing);
    kf_sph_flow flow;
    double seen[SAMPLES + 1][2] = {{0.0}};
    kf_status status = kf_sph_open(validation, text, set_off, NULL, &flow, error);
    for (int k = 0; k <= SAMPLES && status == KF_OK; k++) {
        if (k > 0) status = kf_sph_until(validation, &flow, 3.0 * period * k / SAMPLES, error);
        if (status == KF_OK) status = kf_sph_look(&flow, error);
        if (status != KF_OK) break;
        seen[k][0] = flow.time;
        seen[k][1] = swing(&flow);
    }
    if (status == KF_OK) {
        double computed[2];
        read_swings(seen, &computed[0], &computed[1]);
        kf_check_relative(validation, "period", source, period, computed[0], 0.02);
        kf_check_relative(validation, "damping of the energy at Re 100", source, damping, computed[1], 0.15);
    }
    kf_sph_close(&flow);
    return status;
}
