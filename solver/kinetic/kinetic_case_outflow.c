/* Measures the reflections of the outflow: of a vortex that a stream carries out, compared with a domain
 * twice as long, and of a plane sound wave. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "scene/scene.h"
#include "solver/kinetic/kinetic_cases.h"

static kf_scene *make_stream(int length, int width, double speed) {
    kf_scene *scene = kf_flow_box("outflow", length, width, 1, 0.002);
    scene->faces[KF_XMIN] = KF_INFLOW;
    scene->faces[KF_XMAX] = KF_OUTFLOW;
    scene->face_velocity[KF_XMIN][0] = speed;
    return scene;
}

/* --- A vortex ------------------------------------------------------------------------------------------ */

typedef struct passing_vortex {
    /* The size of the shorter domain. */
    int length, width;
    /* The radius of the fastest ring. */
    double radius;
    double stream, swirl; /* speeds */
} passing_vortex;

/* The Gaussian vortex of CFD workshops in the middle of the shorter domain: u_theta = swirl (r / R) exp((1 -
 * r^2 / R^2) / 2), without circulation far away, and the density that belongs to its pressure. */
static void vortex_state(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const passing_vortex *v = context;
    (void)k;
    const double x = (i - 0.5 * v->length) / v->radius, y = (j - 0.5 * (v->width - 1)) / v->radius;
    const double ring = v->swirl * exp(0.5 * (1.0 - x * x - y * y));
    velocity[0] = v->stream - ring * y;
    velocity[1] = ring * x;
    velocity[2] = 0.0;
    *density = 1.0 - 1.5 * ring * ring;
}

/* Finds the largest difference of density ([0]) and velocity ([1]) over the nodes of both domains, without
 * the last radius before the outflow. */
static void compare(const passing_vortex *v, const double *near, const double *far, double difference[2]) {
    const size_t rows = (size_t)v->width, row = (size_t)v->length, count = rows * row;
    const size_t end = (size_t)(v->length - v->radius);
    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < end; x++) {
            double square = 0;
            for (size_t c = 0; c < 4; c++) {
                const double d = near[c * count + y * row + x] - far[2 * (c * count + y * row) + x];
                if (c == 0) difference[0] = kf_worse(difference[0], fabs(d));
                if (c > 0) square += d * d;
            }
            difference[1] = kf_worse(difference[1], sqrt(square));
        }
}

/* Advances both domains and compares them. */
static kf_status look_at_both(const kf_validation *validation, const passing_vortex *v,
                              kf_plan *const plans[2], uint64_t steps, double difference[2],
                              kf_error *error) {
    double *values[2] = {NULL, NULL};
    kf_status status = KF_OK;
    for (int p = 0; p < 2 && status == KF_OK; p++) {
        status = kf_flow_advance(validation, plans[p], steps, error);
        if (status == KF_OK) status = kf_kinetic_read(plans[p], &values[p], error);
    }
    if (status == KF_OK) compare(v, values[0], values[1], difference);
    free(values[0]);
    free(values[1]);
    return status;
}

/* Starts the vortex half a domain before the outflow. After three quarters of a domain it has left. */
static kf_status carry_out(kf_validation *validation, const passing_vortex *v, double passing[2],
                           double afterwards[2], kf_error *error) {
    enum { LOOKS = 20, GONE = 15 };
    kf_scene *scenes[2];
    kf_plan *plans[2] = {NULL, NULL};
    kf_status status = KF_OK;
    for (int p = 0; p < 2; p++) {
        scenes[p] = make_stream((p + 1) * v->length, v->width, v->stream);
        scenes[p]->initial_state = vortex_state;
        scenes[p]->initial_context = v;
        if (status == KF_OK) status = kf_kinetic_case_open(validation, scenes[p], NULL, &plans[p], error);
    }
    const uint64_t steps = (uint64_t)(v->length / v->stream / LOOKS);
    for (int look = 1; look <= LOOKS && status == KF_OK; look++)
        status = look_at_both(validation, v, plans, steps, look > GONE ? afterwards : passing, error);
    for (int p = 0; p < 2; p++) {
        kf_flow_close(plans[p]);
        kf_scene_free(scenes[p]);
    }
    return status;
}

static kf_status check_vortex(kf_validation *validation, const passing_vortex *v, const char *label,
                              kf_error *error) {
    static const char source[] = "the same flow in a domain twice as long";
    double passing[2] = {0, 0}, afterwards[2] = {0, 0};
    char quantity[96];
    KF_TRY(carry_out(validation, v, passing, afterwards, error));
    (void)snprintf(quantity, sizeof quantity, "vortex, %s, passing: velocity off / swirl", label);
    kf_check_absolute(validation, quantity, source, 0.0, passing[1] / v->swirl, 0.05);
    (void)snprintf(quantity, sizeof quantity, "vortex, %s, gone: velocity off / swirl", label);
    kf_check_absolute(validation, quantity, source, 0.0, afterwards[1] / v->swirl, 0.01);
    (void)snprintf(quantity, sizeof quantity, "vortex, %s, passing: pressure off / its own", label);
    kf_check_absolute(validation, quantity, source, 0.0, passing[0] / (1.5 * exp(1.0) * v->swirl * v->swirl),
                      0.1);
    return KF_OK;
}

/* --- Sound --------------------------------------------------------------------------------------------- */

typedef struct plane_wave {
    int length;
    /* The height of the wave's density. */
    double stream, height, width;
} plane_wave;

static void wave_state(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    const plane_wave *w = context;
    (void)j, (void)k;
    const double x = (i - 0.5 * w->length) / w->width, here = w->height * exp(-x * x);
    *density = 1.0 + here;
    velocity[0] = w->stream + here / sqrt(3.0);
    velocity[1] = velocity[2] = 0.0;
}

/* Sends a sound wave to the outflow. It arrives after 150 steps, and 110 steps later its echo is half-way
 * back. */
static kf_status check_sound(kf_validation *validation, kf_error *error) {
    const plane_wave w = {.length = 200, .stream = 0.1, .height = 1e-4, .width = 10.0};
    enum { STEPS = 260, ROWS = 4 };
    kf_scene *scene = make_stream(w.length, ROWS, w.stream);
    scene->initial_state = wave_state;
    scene->initial_context = &w;
    kf_plan *plan;
    double *values = NULL, echo = 0;
    kf_status status = kf_kinetic_case_open(validation, scene, NULL, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, STEPS, error);
    if (status == KF_OK) status = kf_kinetic_read(plan, &values, error);
    for (int x = 0; x < w.length && status == KF_OK; x++)
        echo = kf_worse(echo, fabs(values[x]));
    free(values);
    kf_flow_close(plan);
    kf_scene_free(scene);
    KF_TRY(status);
    kf_check_absolute(validation, "plane sound wave: echo / wave",
                      "none; a fixed pressure sends back all of it (docs/physics.md)", 0.0, echo / w.height,
                      0.35);
    return KF_OK;
}

kf_status kf_case_outflow(kf_validation *validation, kf_error *error) {
    const passing_vortex weak = {.length = 96, .width = 64, .radius = 6, .stream = 0.1, .swirl = 0.05},
                         strong = {.length = 96, .width = 64, .radius = 6, .stream = 0.05, .swirl = 0.1};
    KF_TRY(check_vortex(validation, &weak, "swirl = stream / 2", error));
    KF_TRY(check_vortex(validation, &strong, "swirl = 2 stream", error));
    return check_sound(validation, error);
}
