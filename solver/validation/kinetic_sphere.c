/* The flow past a sphere: drag, shedding. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util/text.h"
#include "solver/picture/picture.h"
#include "solver/validation/kinetic_cases.h"

/* A sphere in a wind tunnel with slip walls, lengths in diameters. */
typedef struct tunnel {
    double diameter, speed, reynolds; /* cells, cells a step */
    double before, behind, width;
    double bound; /* of the drag coefficient's error */
} tunnel;

static const char wake_source[] = "Johnson & Patel, J. Fluid Mech. 378 (1999) 19";
static const char drag_source[] =
    "Clift, Grace & Weber, Bubbles, Drops, and Particles (1978), table 5.2, at the hydrodynamic diameter";

/* The standard drag curve from Re 20 on. */
static double standard_drag(double reynolds) {
    const double w = log10(reynolds);
    if (reynolds <= 260.0) return 24.0 / reynolds * (1.0 + 0.1935 * pow(reynolds, 0.6305));
    return pow(10.0, 1.6435 - 1.1242 * w + 0.1558 * w * w);
}

/* Forces spread over two nodes an axis make a body larger than its surface: by 0.24 to 0.37 cells at a flat
 * wall along the axes, about half a cell at a sphere (docs/physics.md). Its drag is that of the larger body.
 */
static double hydrodynamic_diameter(const tunnel *t) {
    return t->diameter + 1.0;
}

static kf_scene *make_tunnel(const tunnel *t) {
    const int width = 2 * (int)lround(0.5 * t->width * t->diameter);
    kf_scene *scene = kf_flow_box("sphere", (int)lround((t->before + t->behind) * t->diameter), width, width,
                                  t->speed * t->diameter / t->reynolds);
    const double center[3] = {t->before * t->diameter - 0.5, 0.5 * width - 0.5, 0.5 * width - 0.5};
    kf_flow_add_ball(scene, center, 0.5 * t->diameter, 20.0);
    for (int face = KF_YMIN; face < KF_FACES; face++)
        scene->faces[face] = KF_FREE_SLIP;
    scene->faces[KF_XMIN] = KF_INFLOW;
    scene->faces[KF_XMAX] = KF_OUTFLOW;
    scene->face_velocity[KF_XMIN][0] = scene->initial_velocity[0] = t->speed;
    scene->reference_speed = t->speed;
    scene->reynolds = t->reynolds;
    return scene;
}

static double coefficient(const tunnel *t, double force) {
    const double diameter = hydrodynamic_diameter(t);
    return force / (0.5 * t->speed * t->speed * 0.25 * kf_pi * diameter * diameter);
}

/* Slip walls squeeze the stream: between sphere and walls it is faster by 0.65 V / A^1.5 (Young and Squire,
 * ARC R&M 1984, 1945) and, for the wake, Cd S / (4 A) (Herriot, NACA Report 995, 1950). */
static double blockage_factor(const tunnel *t, double drag) {
    const double area = t->width * t->width, sphere = kf_pi / 6.0, front = kf_pi / 4.0;
    const double faster = 1.0 + 0.65 * sphere / pow(area, 1.5) + 0.25 * drag * front / area;
    return faster * faster;
}

static kf_status run_drag(kf_validation *validation, const tunnel *t, double travels, kf_error *error) {
    kf_scene *scene = make_tunnel(t);
    enum { LOOKS = 40 };
    const uint64_t steps = (uint64_t)(travels * t->diameter / t->speed);
    const uint64_t stride = steps / (5 * LOOKS) + 1;
    double drag = 0;
    kf_plan *plan;
    kf_solid_load load;
    kf_status status = kf_flow_open(validation, scene, NULL, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, steps - LOOKS * stride, error);
    for (int look = 0; look < LOOKS && status == KF_OK; look++) {
        status = kf_flow_advance(validation, plan, stride, error);
        if (status == KF_OK) status = plan->methods->load(plan, &load, error);
        if (status == KF_OK) drag += coefficient(t, load.force[0]) / LOOKS;
    }
    char quantity[96];
    (void)snprintf(quantity, sizeof quantity, "Re %g, %g cells a diameter, %g wide: Cd, blockage corrected",
                   t->reynolds, t->diameter, t->width);
    const double reynolds = t->reynolds * hydrodynamic_diameter(t) / t->diameter;
    kf_plan_free(plan);
    kf_scene_free(scene);
    KF_TRY(status);
    kf_check_relative(validation, quantity, drag_source, standard_drag(reynolds),
                      drag / blockage_factor(t, drag), t->bound);
    return KF_OK;
}

kf_status kf_case_sphere_drag(kf_validation *validation, kf_error *error) {
    static const tunnel quick = {8, 0.08, 100, 3, 4, 6, 0.12};
    static const tunnel full[] = {
        {20, 0.04, 20, 6, 8, 12, 0.05}, {20, 0.05, 100, 6, 8, 12, 0.05}, {20, 0.05, 300, 6, 10, 10, 0.05}};
    static const tunnel small[] = {{10, 0.05, 20, 4, 5, 8, 0.10}, {10, 0.05, 100, 4, 5, 8, 0.10}};
    if (validation->quick) return run_drag(validation, &quick, 15, error);
    if (!validation->gpu) {
        for (int i = 0; i < 2; i++)
            KF_TRY(run_drag(validation, &small[i], 20, error));
        return KF_OK;
    }
    for (int i = 0; i < 3; i++)
        KF_TRY(run_drag(validation, &full[i], i == 2 ? 40 : 25, error));
    return KF_OK;
}

/* --- shedding ------------------------------------------------------------------------------------------ */

/* A small push aside, without which rounding would have to break the symmetry. */
static void pushed_aside(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const tunnel *t = context;
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
    const tunnel fine = {20, 0.08, 300, 5, 11, 9, 0.05}, coarse = {10, 0.08, 300, 3, 7, 6, 0.2};
    const tunnel *t = validation->gpu ? &fine : &coarse;
    enum { LOOKS = 800 };
    const double settle = 100, watch = 80; /* travels of one diameter */
    const uint64_t stride = (uint64_t)(watch * t->diameter / t->speed / LOOKS);
    kf_scene *scene = make_tunnel(t);
    scene->initial_state = pushed_aside;
    scene->initial_context = t;
    double *side = kf_allocate(LOOKS * sizeof(double)), drag = 0;
    kf_plan *plan;
    kf_solid_load load;
    kf_status status = kf_flow_open(validation, scene, NULL, &plan, error);
    if (status == KF_OK)
        status = kf_flow_advance(validation, plan, (uint64_t)(settle * t->diameter / t->speed), error);
    for (int look = 0; look < LOOKS && status == KF_OK; look++) {
        status = kf_flow_advance(validation, plan, stride, error);
        if (status == KF_OK) status = plan->methods->load(plan, &load, error);
        if (status != KF_OK) break;
        side[look] = load.force[2];
        drag += coefficient(t, load.force[0]) / LOOKS;
    }
    if (status == KF_OK) status = kf_flow_draw(validation, plan, "sphere_wake", KF_AXIS_AUTO, error);
    kf_plan_free(plan);
    kf_scene_free(scene);
    const double spacing = (double)stride * t->speed / t->diameter;
    const double strouhal =
        status == KF_OK ? dominant_frequency(side, LOOKS, spacing, 0.05, 0.35) : (double)NAN;
    free(side);
    KF_TRY(status);
    kf_check_relative(validation, "Re 300: Strouhal number of the shedding", wake_source, 0.137,
                      strouhal * hydrodynamic_diameter(t) / t->diameter / sqrt(blockage_factor(t, drag)),
                      0.05);
    kf_check_relative(validation, "Re 300: mean Cd, blockage corrected", wake_source, 0.656,
                      drag / blockage_factor(t, drag), t->bound);
    return KF_OK;
}
