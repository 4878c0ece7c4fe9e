/* The frequency at which a cylinder sheds vortices. Drag is in kinetic_case_drag.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "solver/kinetic/kinetic_cases.h"
#include "solver/picture/picture.h"
#include "solver/validation/tunnel.h"

static const char wake_source[] = "Park, Kwon & Choi, KSME Int. J. 12 (1998) 1200";

/* --- Shedding ------------------------------------------------------------------------------------------ */

/* Adds a disturbance across the stream. Without it only rounding would break the symmetry. */
static void pushed_aside(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const kf_tunnel *t = context;
    const double x = i / t->diameter - t->before - 2.0;
    (void)k, (void)j;
    *density = 1.0;
    velocity[0] = t->speed;
    velocity[1] = 0.2 * t->speed * exp(-x * x);
    velocity[2] = 0.0;
}

/* Scans for the frequency with the largest amplitude, in cycles per sample. */
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

/* Compares the wake of a cylinder at Reynolds number 100 with published values: its Strouhal number and mean
 * drag, both corrected for blockage. */
kf_status kf_case_cylinder_wake(kf_validation *validation, kf_error *error) {
    const kf_tunnel fine = {true, 16, 0.05, 100, 15, 25, 40, 150, 80, 0.05},
                    coarse = {true, 8, 0.08, 100, 6, 14, 16, 80, 60, 0.1};
    const kf_tunnel *t = validation->gpu ? &fine : &coarse;
    enum { LOOKS = 800 };
    const uint64_t stride = (uint64_t)(t->watch * t->diameter / t->speed / LOOKS);
    kf_scene *scene = kf_tunnel_scene(t);
    scene->initial_state = pushed_aside;
    scene->initial_context = t;
    double *side = kf_allocate(LOOKS * sizeof(double)), drag = 0;
    kf_plan *plan;
    kf_solid_load load;
    kf_status status = kf_kinetic_case_open(validation, scene, NULL, &plan, error);
    if (status == KF_OK)
        status = kf_flow_advance(validation, plan, (uint64_t)(t->settle * t->diameter / t->speed), error);
    for (int look = 0; look < LOOKS && status == KF_OK; look++) {
        status = kf_flow_advance(validation, plan, stride, error);
        if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
        if (status != KF_OK) break;
        side[look] = load.force[1];
        drag += kf_tunnel_coefficient(t, load.force[0]) / LOOKS;
    }
    if (status == KF_OK) status = kf_flow_draw(validation, plan, "cylinder_wake", KF_AXIS_AUTO, 0.0, error);
    kf_flow_close(plan);
    kf_scene_free(scene);
    const double spacing = (double)stride * t->speed / t->diameter;
    const double strouhal =
        status == KF_OK ? dominant_frequency(side, LOOKS, spacing, 0.05, 0.35) : (double)NAN;
    free(side);
    KF_TRY(status);
    kf_check_relative(validation, "Re 100: Strouhal number of the shedding", wake_source, 0.165,
                      strouhal / sqrt(kf_tunnel_blockage(t, drag)), 0.05);
    kf_check_relative(validation, "Re 100: mean Cd, blockage corrected", wake_source, 1.33,
                      drag / kf_tunnel_blockage(t, drag), t->bound);
    return KF_OK;
}
