/* Stable fluids: walls and solids. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "solver/stable_fluids/stable_fluids_cases.h"

/* A disc of 16 cells in a stream of so many cells a step. */
static kf_status disc_leak(kf_validation *v, double speed, bool reflection, kf_error *error) {
    enum { N = 64 };
    kf_fluid *f = kf_fluid_case_box(v, 2 * N, N, 1, NULL, NULL);
    kf_fluid_state state;
    f->start_velocity[0] = speed;
    f->reflection = reflection;
    f->viscosity = 0.04 * speed;
    f->solid = KF_SOLID_STILL;
    f->drag = KF_FLUID_SOLID_DRAG;
    f->rebound = KF_FLUID_SOLID_REBOUND;
    f->mask = kf_allocate_zeroed(kf_fluid_cell_count(f), sizeof *f->mask);
    for (int y = 0; y < N; y++)
        for (int x = 0; x < 2 * N; x++)
            f->mask[(size_t)y * 2 * N + (size_t)x] = hypot(x - N / 2.0, y - N / 2.0) < 8 ? 1.0F : 0.0F;
    const int steps = (int)(40 / speed);
    const kf_status status =
        kf_fluid_case_run(v, f, &kf_fluid_precisions[1], steps, steps, NULL, NULL, &state, error);
    if (status == KF_OK) {
        double sum = 0, count = 0;
        for (int y = 0; y < N; y++)
            for (int x = 0; x < 2 * N; x++) {
                const size_t n = (size_t)y * 2 * N + (size_t)x;
                if (hypot(x - N / 2.0, y - N / 2.0) < 6) sum += state.velocity[0][n], count++;
            }
        char text[96];
        (void)snprintf(text, sizeof text,
                       "disc of 16 cells, %g cells a step%s: mean velocity in it over the stream's", speed,
                       reflection ? ", reflection" : "");
        kf_check_absolute(v, text, "penalisation", 0, fabs(sum / count) / speed, 0.01);
        kf_fluid_state_free(&state);
    }
    kf_fluid_free(f);
    return status;
}

/* A jet against walls, and a disc in a stream. */
kf_status kf_case_fluid_walls(kf_validation *v, kf_error *error) {
    enum { N = 64 };
    const kf_fluid_precision *p = &kf_fluid_precisions[1];
    kf_fluid *f = kf_fluid_case_box(v, 2 * N, 2 * N, 1, NULL, NULL);
    kf_fluid_state state;
    f->walls[0] = f->walls[1] = true;
    f->start = KF_START_RANDOM;
    f->start_amplitude = 1.5;
    kf_status status = kf_fluid_case_run(v, f, p, 50, 50, NULL, NULL, &state, error);
    if (status == KF_OK) {
        double leak = 0;
        for (int i = 0; i < N; i++) {
            const size_t across[2][2] = {
                {(size_t)i * 2 * N + N - 1, (size_t)i * 2 * N + N},
                {(size_t)(N - 1) * 2 * N + (size_t)i, (size_t)N * 2 * N + (size_t)i}};
            for (int axis = 0; axis < 2; axis++)
                leak = kf_worse(leak, fabs(0.5 * (state.velocity[axis][across[axis][0]] +
                                                  state.velocity[axis][across[axis][1]])));
        }
        const double speed = sqrt(kf_fluid_energy(f, state.velocity) / (4.0 * N * N));
        kf_check_absolute(v, "walls: velocity through them over the mean speed", "symmetry", 0, leak / speed,
                          0.01);
        kf_fluid_state_free(&state);
    }
    kf_fluid_free(f);
    KF_TRY(status);
    KF_TRY(disc_leak(v, 0.2, false, error));
    return disc_leak(v, 0.5, true, error);
}
