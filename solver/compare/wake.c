/* Compares the wake of a ball by the incompressible solver and by the kinetic one at the same time: the
 * distribution of its energy over wavelengths, and pictures of both. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/compare/comparisons.h"
#include "solver/incompressible/incompressible.h"
#include "solver/kinetic/kinetic.h"
#include "solver/picture/picture.h"
#include "solver/validation/flow.h"

/* Octaves of the wavelength, the longest of 4 to 2 diameters. */
enum { BANDS = 4 };
static const double longest = 4.0;
/* The highest value of the pictures' colours over the stream's speed. Beside a ball the flow is 1.5 times as
 * fast. */
static const double most_of_stream = 1.5;

typedef struct wake {
    /* The mean square of the velocity's waves, over the square of the stream's speed. */
    double energy[BANDS];
    /* The mean velocity along the stream behind the solid, over the stream's. */
    double mean;
} wake;

/* Computes waves along the stream by a discrete Fourier transform with a Hann window. The lines run from the
 * solid's rear to two cells before the outflow, and lie within a diameter of the axis. */
static void find_wake(const kf_scene *scene, const kf_fields *fields, wake *found) {
    const int *n = scene->nodes;
    const double diameter = scene->solid_high[0] - scene->solid_low[0],
                 speed = scene->face_velocity[KF_XMIN][0],
                 middle[2] = {0.5 * (scene->solid_low[1] + scene->solid_high[1]),
                              0.5 * (scene->solid_low[2] + scene->solid_high[2])};
    const int first = (int)ceil(scene->solid_high[0]) + 1, count = n[0] - 2 - first;
    double *line = kf_allocate((size_t)count * sizeof *line), lines = 0.0;
    *found = (wake){.mean = 0.0};
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++) {
            if (hypot(y - middle[0], z - middle[1]) > diameter) continue;
            lines += 1.0;
            for (int c = 0; c < 3; c++) {
                const float *values =
                    fields->velocity[c] + ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0] + first;
                double mean = 0.0;
                for (int i = 0; i < count; i++)
                    mean += (double)values[i] / count;
                if (c == 0) found->mean += mean / speed;
                for (int i = 0; i < count; i++)
                    line[i] = ((double)values[i] - mean) * (1.0 - cos(2.0 * kf_pi * (i + 0.5) / count));
                for (int k = 1; 2 * k < count; k++) {
                    const int band = (int)floor(log2(longest * diameter * k / count));
                    double s = 0.0, r = 0.0;
                    if (band < 0 || band >= BANDS) continue;
                    for (int i = 0; i < count; i++) {
                        s += line[i] * sin(2.0 * kf_pi * k * i / count);
                        r += line[i] * cos(2.0 * kf_pi * k * i / count);
                    }
                    /* A wave's mean square is 2 (s^2 + r^2) / count^2. The window multiplies it by 3 / 2. */
                    found->energy[band] +=
                        2.0 / 1.5 * (s * s + r * r) / ((double)count * count) / (speed * speed);
                }
            }
        }
    for (int band = 0; band < BANDS; band++)
        found->energy[band] /= lines;
    found->mean /= lines;
    free(line);
}

/* Runs one system for this many diameters of the stream. ratio: kinetic time steps in one step of this
 * system. */
static kf_status run_system(const kf_validation *validation, const kf_system *system, double ratio,
                            double diameters, wake *found, kf_error *error) {
    static const int coarse[3] = {48, 24, 24}, fine[3] = {192, 96, 96};
    const int *nodes = validation->gpu ? fine : coarse;
    const kf_scene_options options = {.nodes = {nodes[0], nodes[1], nodes[2]}};
    char name[64];
    kf_config config;
    kf_scene *scene = NULL;
    kf_plan *plan = NULL;
    kf_fields fields = {.density = NULL};
    KF_TRY(kf_scene_open("ball", &options, &scene, error));
    scene->accuracy = validation->accuracy;
    if (ratio > 1.0) kf_scene_stretch_time(scene, ratio);
    kf_problem *problem = kf_flow_problem(system, scene, false);
    const double diameter = scene->solid_high[0] - scene->solid_low[0];
    const uint64_t steps = (uint64_t)(diameters * diameter / scene->face_velocity[KF_XMIN][0]);
    kf_status status = kf_validation_configure(validation, problem, NULL, &config, error);
    if (status == KF_OK) status = system->plan(problem, &config, validation->backend, &plan, error);
    if (status == KF_OK) status = kf_plan_initialise(plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, steps, error);
    if (status == KF_OK) status = plan->methods->flow->fields(plan, &fields, error);
    if (status == KF_OK) {
        find_wake(scene, &fields, found);
        if (ratio > 1.0)
            (void)snprintf(name, sizeof name, "wake_%s_%gx", system->name, ratio);
        else
            (void)snprintf(name, sizeof name, "wake_%s", system->name);
        status = kf_flow_draw(validation, plan, name, KF_AXIS_AUTO,
                              most_of_stream * scene->face_velocity[KF_XMIN][0], error);
    }
    kf_fields_free(&fields);
    kf_plan_free(plan);
    kf_problem_free(problem);
    kf_scene_free(scene);
    return status;
}

/* Compares the wake with steps this many times as long with the kinetic one. */
static kf_status compare(kf_validation *validation, double ratio, double diameters, const wake *kinetic,
                         kf_error *error) {
    static const char source[] = "the kinetic solver at the same moment";
    /* Bounds for the measured values -1.5, -0.2, -2.0 and -4.4 on the cpu. They detect a change and do not
     * measure quality. */
    static const double octaves[BANDS] = {2.0, 2.0, 3.0, 6.0};
    /* Steps that are forty times as long, two cells each, leave less of small eddies. */
    const double loose = ratio > 10.0 ? 2.0 : 1.0;
    wake incompressible;
    char quantity[128];
    KF_TRY(run_system(validation, &kf_system_incompressible, ratio, diameters, &incompressible, error));
    (void)snprintf(quantity, sizeof quantity,
                   "ball, steps %g times as long: mean velocity in the wake / stream", ratio);
    kf_check_relative(validation, quantity, source, kinetic->mean, incompressible.mean, 0.1 * loose);
    for (int band = 0; band < BANDS; band++) {
        const double from = longest / pow(2.0, band);
        (void)snprintf(quantity, sizeof quantity,
                       "%gx, waves of %.3g to %.3g diameters (%.3g): log2 of energy over kinetic's", ratio,
                       from, 0.5 * from, kinetic->energy[band]);
        kf_check_absolute(validation, quantity, source, 0.0,
                          log2(incompressible.energy[band] / kinetic->energy[band]), octaves[band] * loose);
    }
    return KF_OK;
}

kf_status kf_case_wake(kf_validation *validation, kf_error *error) {
    static const double ratios[] = {1.0, 10.0, 40.0};
    const double diameters = validation->gpu ? 12.0 : 6.0;
    wake kinetic;
    KF_TRY(run_system(validation, &kf_system_kinetic, 1.0, diameters, &kinetic, error));
    for (int i = validation->gpu ? 0 : 1; i < 3; i++)
        KF_TRY(compare(validation, ratios[i], diameters, &kinetic, error));
    return KF_OK;
}
