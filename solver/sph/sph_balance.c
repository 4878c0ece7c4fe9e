/* Checks that hold for any kernels: a run must not lose particles from a closed box, or all of them from any
 * box, or gain energy. */
#include <math.h>

#include "solver/sph/sph.h"

/* A share of the energy that the scene can release. */
static const double MOST_GAIN = 0.5;

static bool has_open_side(const kf_particle_scene *s) {
    for (int k = 0; k < 2 * s->dimensions; k++)
        if (s->sides[k] == KF_SIDE_OPEN) return true;
    return false;
}

/* Tells whether nothing but gravity gives energy: no wall moves, and the fluid cannot fall round a period for
 * ever.
 */
static bool keeps_energy(const kf_particle_scene *s) {
    double pull = 0.0;
    for (int axis = 0; axis < s->dimensions; axis++) {
        pull += fabs(s->gravity[axis]);
        if (s->gravity[axis] != 0.0 && s->sides[2 * axis] == KF_SIDE_PERIODIC) return false;
        for (int side = 0; side < 6; side++)
            if (s->side_velocity[side][axis] != 0.0) return false;
    }
    return pull > 0.0;
}

/* Computes the kinetic, potential and elastic energy at the start, and the rest of it when everything lies in
 * the lowest corner, in units of the sums. */
static void energies(const kf_particle_scene *s, double *begin, double *lowest) {
    const size_t fluid = s->count - s->wall_count;
    *begin = *lowest = 0.0;
    for (size_t k = 0; k < fluid; k++) {
        const double e = (double)s->deviation[k];
        *begin += 0.5 * e * e;
        for (int axis = 0; axis < s->dimensions; axis++) {
            const double v = (double)s->velocity[3 * k + (size_t)axis], g = s->gravity[axis];
            *begin += 0.5 * v * v - g * (double)s->position[3 * k + (size_t)axis];
            *lowest -= g > 0.0 ? g * s->size[axis] : 0.0;
        }
    }
}

/* Checks that no particle has left a closed box, and that energy has not grown beyond MOST_GAIN of what was
 * available. */
kf_status kf_sph_balance(const kf_particle_scene *s, const double sums[KF_SPH_TOTALS], kf_error *error) {
    const double fluid = (double)(s->count - s->wall_count), inside = sums[KF_SPH_INSIDE];
    if (fluid > 0.0 && inside <= 0.0)
        return kf_fail(error, KF_GATE_FAILED, "no particle is left in the box: all %.0f have left it", fluid);
    if (inside < fluid && !has_open_side(s))
        return kf_fail(error, KF_GATE_FAILED,
                       "%.0f of %.0f particles have left a box without an open face: the scene is not "
                       "resolved, or its walls are too soft",
                       fluid - inside, fluid);
    if (inside < fluid || !keeps_energy(s)) return KF_OK;
    double begin = 0.0, lowest = 0.0;
    energies(s, &begin, &lowest);
    const double energy = sums[KF_SPH_KINETIC] + sums[KF_SPH_POTENTIAL], given = begin - lowest;
    if (energy - begin <= MOST_GAIN * given) return KF_OK;
    return kf_fail(
        error, KF_GATE_FAILED,
        "kinetic and potential energy are %.3g times what there was: the scene is not resolved; use a "
        "smaller time step or a higher sound speed",
        (energy - lowest) / given);
}
