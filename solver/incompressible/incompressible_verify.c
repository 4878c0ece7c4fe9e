/* The correctness check: compares a plan's fields, its force on the solid and the residuals of its pressure
 * solves with the reference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/vector.h"
#include "solver/flow/gate.h"
#include "solver/incompressible/incompressible.h"
#include "solver/incompressible/reference.h"

/* The reference solves to rounding, and a plan to its tolerance. The error of its fields is that tolerance
 * times a factor for the condition of the Laplacian on a small grid. */
static const double margin = 30.0, single_rounding = 3e-5;

static double load_deviation(const kf_solid_load *load, const kf_solid_load *reference) {
    double force[3], torque[3];
    for (int i = 0; i < 3; i++) {
        force[i] = load->force[i] - reference->force[i];
        torque[i] = load->torque[i] - reference->torque[i];
    }
    const double scale = fmax(kf_length(reference->force), 1e-6);
    return kf_worse(kf_length(force) / scale,
                    kf_length(torque) / fmax(kf_length(reference->torque), 10.0 * scale));
}

kf_status kf_incompressible_verify(kf_plan *plan, const kf_reference *reference,
                                   kf_verification *verification, kf_error *error) {
    const kf_incompressible *system = plan->system;
    const int *n = kf_plan_scene(plan)->nodes;
    const double tolerance = system->arguments.tolerance;
    kf_solve_state states[KF_HALVES];
    kf_solid_load load;
    double *values;
    memset(verification, 0, sizeof *verification);
    verification->error = NAN;
    KF_TRY(kf_incompressible_solves(plan, states, error));
    /* Too few iterations are not a fault of a kernel. A diverged flow is judged by its fields. */
    const bool finite = isfinite(states[0].residual) && isfinite(states[1].residual);
    if (finite) KF_TRY(kf_incompressible_judge_solves(plan, KF_HALVES, "in the gate's steps", error));
    KF_TRY(kf_incompressible_read(plan, &values, error));
    const kf_field_deviation d = kf_compare_fields(values, reference->values, reference->count, 3);
    free(values);
    KF_TRY(plan->methods->flow->load(plan, &load, error));
    /* A reference has far fewer than 2^31 cells. */
    const int worst = (int)d.worst;
    (void)snprintf(verification->worst, sizeof verification->worst,
                   "velocity off by %.3g at cell (%d, %d, %d)", sqrt(d.worst_value), worst % n[0],
                   worst / n[0] % n[1], worst / (n[0] * n[1]));
    const double bound = margin * tolerance + (system->options.double_precision ? 0.0 : single_rounding);
    kf_verification_add(verification, "velocity", d.velocity, bound);
    kf_verification_add(verification, "pressure", d.density, 20.0 * bound);
    if (system->solid != 0)
        kf_verification_add(verification, "force", load_deviation(&load, &reference->load), 20.0 * bound);
    kf_verification_add(verification, "residual",
                        finite ? kf_worse(states[0].residual, states[1].residual) : (double)NAN,
                        1.001 * tolerance);
    return kf_verification_judge(verification, error);
}
