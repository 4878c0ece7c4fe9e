/* The correctness check: compares a plan's fields and its force on the solid with the reference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"
#include "solver/d2q9/d2q9.h"
#include "solver/d2q9/reference.h"
#include "solver/flow/flow_problem.h"
#include "solver/flow/gate.h"

/* Returns the accepted relative deviation for a storage type: rounding, grown over a few steps, times a
 * margin of about ten. For f16 the scene gives it. */
static double bound_of(const kf_plan *plan) {
    const kf_d2q9 *system = plan->system;
    switch (system->options.storage) {
    case KF_D2Q9_F16:
        return kf_plan_scene(plan)->accuracy;
    case KF_D2Q9_F32:
        return 1e-4;
    default:
        return 1e-9;
    }
}

/* Returns the deviation of force and torque. The scale of a force is at least that of a fluid of density 1 at
 * the speed 0.01 on the solid's extent. Torque is also compared with the force at an arm of one cell. */
static double load_deviation(const kf_scene *scene, const kf_solid_load *load,
                             const kf_solid_load *reference) {
    double extent = scene->solid_high[0] - scene->solid_low[0] + scene->solid_high[1] - scene->solid_low[1];
    double floor_scale = 1e-4 * fmax(extent, 1.0);
    double dx = load->force[0] - reference->force[0], dy = load->force[1] - reference->force[1];
    double force = sqrt(dx * dx + dy * dy), scale = hypot(reference->force[0], reference->force[1]);
    double torque = fabs(load->torque[2] - reference->torque[2]);
    double torque_scale = fmax(fabs(reference->torque[2]), fmax(scale, floor_scale) * fmax(extent, 1.0));
    return kf_worse(force / fmax(scale, floor_scale), torque / torque_scale);
}

kf_status kf_d2q9_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                         kf_error *error) {
    const kf_d2q9 *system = plan->system;
    const kf_d2q9_solution *solution = &reference->solutions[system->options.full_way];
    int nx = kf_plan_scene(plan)->nodes[0];
    double *values;
    kf_solid_load load;
    memset(verification, 0, sizeof *verification);
    verification->error = NAN;
    verification->scheme = system->options.full_way;
    KF_TRY(kf_d2q9_read(plan, &values, error));
    const kf_field_deviation d = kf_compare_fields(values, solution->values, reference->count, 2);
    free(values);
    KF_TRY(plan->methods->flow->load(plan, &load, error));
    (void)snprintf(verification->worst, sizeof verification->worst, "velocity off by %.3g at node (%d, %d)",
                   sqrt(d.worst_value), (int)(d.worst % (size_t)nx), (int)(d.worst / (size_t)nx));
    return kf_judge(&d, system->has_solid ? load_deviation(kf_plan_scene(plan), &load, &solution->load) : 0.0,
                    bound_of(plan), verification, error);
}
