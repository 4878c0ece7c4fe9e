#include "solver/output/sanity.h"

#include <inttypes.h>
#include <math.h>

/* Beyond this the lattice Boltzmann method no longer describes a flow; sound travels 0.577 cells a step. */
static const double speed_limit = 0.5;

kf_status kf_fields_check(const kf_fields *fields, uint64_t step, kf_error *error) {
    size_t columns = (size_t)fields->nodes[0], rows = (size_t)fields->nodes[1];
    size_t count = columns * rows * (size_t)fields->nodes[2];
    for (size_t i = 0; i < count; i++) {
        double x = fields->velocity[0][i], y = fields->velocity[1][i], z = fields->velocity[2][i];
        double speed = sqrt(x * x + y * y + z * z);
        if (isfinite(fields->density[i]) && speed <= speed_limit) continue;
        size_t at[3] = {i % columns, i / columns % rows, i / columns / rows};
        return kf_fail(
            error, KF_GATE_FAILED,
            "the simulation blew up: step %" PRIu64 ", node (%zu,%zu,%zu): density %.4g, speed %.4g cells a "
            "step (at most %.4g is sound); use a finer grid, a lower Reynolds number or a smaller time step",
            step, at[0], at[1], at[2], (double)fields->density[i], speed, speed_limit);
    }
    return KF_OK;
}
