/* The flow past a sphere: shedding. Its drag is with that of the cylinder (kinetic_drag.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util/text.h"
#include "solver/picture/picture.h"
#include "solver/validation/kinetic_cases.h"
#include "solver/validation/kinetic_tunnel.h"

static const char wake_source[] = "Johnson & Patel, J. Fluid Mech. 378 (1999) 19";

/* --- shedding ------------------------------------------------------------------------------------------ */

/* A small push aside, without which rounding would have to break the symmetry. */
static void pushed_aside(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const kf_tunnel *t = context;
    const double x = i / t->diameter - t->before - 2.0;
    (void)k, (void)j;
    *density = 1.0;
    velocity[0] = t->speed;
    velocity[1] = 0.0;
    velocity[2] = 0.1 * t->speed * exp(-x * x);
}

/* Frequency with the largest amplitude, in cycles for each unit of the samples' distance, by a scan. */
static double dominant_frequency(const double *signal, int count, double spacing, double low, double high) {
    double mean = 0, best = 0, frequency = 0;
    for (int i = 0; i < count; i++)
        mean += signal[i] / count;
    for (int f = 0; f <= 400; f++) {
        const double candidate = low + (high - low) * f / 400.0;
        double s = 0, c = 0;
        for (int i = 0; i < count; i++) {
            const double window = 0.5 - 0.5 * cos(2.0 * kf_pi * (i + 0.5) / count);
            s += window * (signal[i] - mean) * sin(2.0 * kf_pi * candidate * spacing * i);
            c += window * (signal[i] - mean) * cos(2.0 * kf_pi * candidate * spacing * i);
        }
        if (s * s + c * c <= best) continue;
        best = s * s + c * c;
        frequency = candidate;
    }
    return frequency;
}

kf_status kf_case_sphere_wake(kf_validation *validation, kf_error *error) {
    const kf_tunnel fine = {false, 20, 0.08, 300, 5, 11, 9, 220, 80, 0.05},
                    coarse = {false, 10, 0.08, 300, 3, 7, 6, 100, 80, 0.2};
    const kf_tunnel *t = validation->gpu ? &fine : &coarse;
    enum { LOOKS = 800 };
    const uint64_t stride = (uint64_t)(t->watch * t->diameter / t->speed / LOOKS);
    kf_scene *scene = kf_tunnel_scene(t);
    scene->initial_state = pushed_aside;
    scene->initial_context = t;
    double *side = kf_allocate(LOOKS * sizeof(double)), drag = 0;
    kf_plan *plan;
    kf_solid_load load;
    kf_status status = kf_flow_open(validation, scene, NULL, &plan, error);
    if (status == KF_OK)
        status = kf_flow_advance(validation, plan, (uint64_t)(t->settle * t->diameter / t->speed), error);
    for (int look = 0; look < LOOKS && status == KF_OK; look++) {
        status = kf_flow_advance(validation, plan, stride, error);
        if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
        if (status != KF_OK) break;
        side[look] = load.force[2];
        drag += kf_tunnel_coefficient(t, load.force[0]) / LOOKS;
    }
    if (status == KF_OK) status = kf_flow_draw(validation, plan, "sphere_wake", KF_AXIS_AUTO, error);
    kf_flow_close(plan);
    kf_scene_free(scene);
    const double spacing = (double)stride * t->speed / t->diameter;
    const double strouhal =
        status == KF_OK ? dominant_frequency(side, LOOKS, spacing, 0.05, 0.35) : (double)NAN;
    free(side);
    KF_TRY(status);
    kf_check_relative(validation, "Re 300: Strouhal number of the shedding", wake_source, 0.137,
                      strouhal / sqrt(kf_tunnel_blockage(t, drag)), 0.05);
    kf_check_relative(validation, "Re 300: mean Cd, blockage corrected", wake_source, 0.656,
                      drag / kf_tunnel_blockage(t, drag), t->bound);
    return KF_OK;
}
