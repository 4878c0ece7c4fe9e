/* Compares the drag of a cylinder by stable fluids and by d2q9 at the same force, blockage and Reynolds
 * number. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "solver/compare/comparisons.h"
#include "solver/d2q9/d2q9_cases.h"
#include "solver/stable_fluids/stable_fluids_cases.h"
#include "solver/validation/flow.h"

/* A periodic array of cylinders in a stream that a uniform force drives. One cylinder lies in NX x NY cells.
 * A cell is solid when its centre is. */
enum { NX = 240, NY = 160, DIAMETER = 40 };
static bool in_cylinder(int x, int y) {
    return hypot(x + 0.5 - NX / 2.0, y + 0.5 - NY / 2.0) < DIAMETER / 2.0;
}

typedef struct stream {
    /* The speed along x in the whole box, and inside the cylinder. */
    double mean, leak;
} stream;

/* Returns the drag over density / 2 mean speed^2 diameter. In a steady stream the drag equals the driving
 * force. */
static double coefficient(double acceleration, double mean) {
    return acceleration * NX * NY / (0.5 * mean * mean * DIAMETER);
}

static kf_status lattice_stream(kf_validation *v, double viscosity, double acceleration, double begin,
                                int steps, stream *s, kf_error *error) {
    kf_d2q9_flow flow = {.scene = kf_flow_box("cylinder", NX, NY, 1, viscosity)};
    kf_scene *scene = flow.scene;
    double *values = NULL;
    scene->collision = KF_MRT;
    scene->body_force[0] = acceleration;
    scene->initial_velocity[0] = begin;
    scene->mask = kf_allocate_zeroed(NX * NY, 1);
    for (int n = 0; n < NX * NY; n++)
        scene->mask[n] = in_cylinder(n % NX, n / NX) ? KF_NODE_SOLID : KF_NODE_FLUID;
    kf_status status = kf_d2q9_open_plan(v, NULL, &flow, error);
    if (status == KF_OK) status = kf_flow_advance(v, flow.plan, (uint64_t)steps, error);
    if (status == KF_OK) status = kf_d2q9_read(flow.plan, &values, error);
    s->mean = 0;
    for (int n = 0; status == KF_OK && n < NX * NY; n++)
        s->mean += values[NX * NY + n] / (NX * NY);
    free(values);
    kf_d2q9_close_flow(&flow);
    return status;
}

static kf_status fluid_stream(kf_validation *v, double viscosity, double acceleration, double begin,
                              int steps, stream *s, kf_error *error) {
    kf_fluid *f = kf_fluid_case_box(v, NX, NY, 1, NULL, NULL);
    kf_fluid_state state;
    f->advection = KF_ADVECT_CUBIC;
    f->midpoint = f->exponential = true;
    f->viscosity = viscosity;
    f->start_velocity[0] = begin;
    f->body_amplitude = acceleration;
    f->body_mode = 0;
    f->solid = KF_SOLID_STILL;
    f->drag = KF_FLUID_SOLID_DRAG;
    f->rebound = KF_FLUID_SOLID_REBOUND;
    f->mask = kf_allocate_zeroed(NX * NY, sizeof *f->mask);
    for (int n = 0; n < NX * NY; n++)
        f->mask[n] = in_cylinder(n % NX, n / NX) ? 1.0F : 0.0F;
    const kf_status status =
        kf_fluid_case_run(v, f, &kf_fluid_precisions[1], steps, steps / 8, NULL, NULL, &state, error);
    if (status == KF_OK) {
        double inside = 0, count = 0;
        s->mean = 0;
        for (int n = 0; n < NX * NY; n++) {
            s->mean += state.velocity[0][n] / (NX * NY);
            const int row = n / NX;
            if (hypot(n % NX + 0.5 - NX / 2.0, row + 0.5 - NY / 2.0) < 0.75 * DIAMETER / 2)
                inside += state.velocity[0][n], count++;
        }
        s->leak = fabs(inside / count) / s->mean;
        kf_fluid_state_free(&state);
    }
    kf_fluid_free(f);
    return status;
}

/* Runs both systems at the same force in units of viscosity and diameter, with 40 cells per diameter and
 * blockage 1/4. */
kf_status kf_case_cylinder(kf_validation *v, kf_error *error) {
    static const double LATTICE = 0.1, FAST = 0.5,
                        FORCE = 1.9e-4; /* speed scales, a D^3 / nu^2 through FORCE */
    /* In lengths of the box. */
    static const int TRAVELS = 10;
    stream lattice = {0, 0}, fluid = {0, 0};
    char text[96];
    KF_TRY(lattice_stream(v, LATTICE, FORCE * LATTICE * LATTICE / (FAST * FAST), LATTICE,
                          (int)(TRAVELS * NX / LATTICE), &lattice, error));
    KF_TRY(fluid_stream(v, FAST, FORCE, FAST, (int)(TRAVELS * NX / FAST), &fluid, error));
    const double expected = coefficient(FORCE * LATTICE * LATTICE / (FAST * FAST), lattice.mean);
    (void)snprintf(text, sizeof text, "Re %.3g (d2q9 %.3g), 40 cells a diameter: drag coefficient",
                   fluid.mean * DIAMETER / FAST, lattice.mean * DIAMETER / LATTICE);
    kf_check_relative(v, text, "d2q9 at the same blockage and force", expected,
                      coefficient(FORCE, fluid.mean), 0.05);
    kf_check_absolute(v, "the same, about 0.5 cells a step: mean velocity in it over the stream's",
                      "penalisation", 0, fluid.leak, 0.01);
    return KF_OK;
}
