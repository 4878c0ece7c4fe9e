/* The correctness gate: a plan's fields and its force on the solid against the reference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/d2q9/d2q9.h"
#include "solver/d2q9/reference.h"

/* Accepted relative deviations by storage type: rounding, grown over a few steps, with a margin of about ten;
 * for f16 the scene says what it may cost. */
static double bound_of(const kf_plan *plan) {
    const kf_d2q9 *system = plan->system;
    switch (system->options.storage) {
    case KF_D2Q9_F16:
        return plan->scene->accuracy;
    case KF_D2Q9_F32:
        return 1e-4;
    default:
        return 1e-9;
    }
}

/* Force and torque are sums of nearly equal terms and lose some digits more. */
static const double load_margin = 20.0;

typedef struct deviation {
    double velocity, density, mass; /* relative L2, relative L2, relative */
    size_t worst;
    double worst_value;
} deviation;

static deviation compare(const double *values, const double *reference, size_t count) {
    double velocity_error = 0, velocity_scale = 0, density_error = 0, density_scale = 0, mass = 0,
           reference_mass = 0;
    deviation result = {.worst_value = -1};
    for (size_t n = 0; n < count; n++) {
        double node = 0;
        for (size_t i = 1; i < 3; i++) {
            double d = values[i * count + n] - reference[i * count + n];
            node += d * d;
            velocity_scale += reference[i * count + n] * reference[i * count + n];
        }
        double d = values[n] - reference[n];
        velocity_error += node;
        density_error += d * d;
        density_scale += reference[n] * reference[n];
        mass += values[n];
        reference_mass += reference[n];
        if (!(node <= result.worst_value)) { /* also true for NaN */
            result.worst_value = node;
            result.worst = n;
        }
    }
    /* Fluid at rest with density 1 has no scale of its own. */
    double floor_scale = 1e-4 * sqrt((double)count);
    result.velocity = sqrt(velocity_error) / fmax(sqrt(velocity_scale), floor_scale);
    result.density = sqrt(density_error) / fmax(sqrt(density_scale), floor_scale);
    result.mass = fabs(mass - reference_mass) / ((double)count + reference_mass);
    return result;
}

/* A force that is nothing beside what a fluid of density 1 moving at 0.01 exerts on the solid's extent counts
 * as that much; torque is held against the force at an arm of one cell too. */
static double load_deviation(const kf_scene *scene, const kf_solid_load *load,
                             const kf_solid_load *reference) {
    double extent = scene->solid_high[0] - scene->solid_low[0] + scene->solid_high[1] - scene->solid_low[1];
    double floor_scale = 1e-4 * fmax(extent, 1.0);
    double dx = load->force[0] - reference->force[0], dy = load->force[1] - reference->force[1];
    double force = sqrt(dx * dx + dy * dy), scale = hypot(reference->force[0], reference->force[1]);
    double torque = fabs(load->torque[2] - reference->torque[2]);
    double torque_scale = fmax(fabs(reference->torque[2]), fmax(scale, floor_scale) * fmax(extent, 1.0));
    return fmax(force / fmax(scale, floor_scale), torque / torque_scale);
}

kf_status kf_d2q9_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                         kf_error *error) {
    const kf_d2q9 *system = plan->system;
    const kf_d2q9_solution *solution = &reference->solutions[system->options.full_way];
    int nx = plan->scene->nodes[0];
    double *values;
    kf_solid_load load;
    memset(verification, 0, sizeof *verification);
    verification->error = NAN;
    KF_TRY(kf_d2q9_read(plan, &values, error));
    deviation d = compare(values, solution->values, reference->count);
    free(values);
    KF_TRY(plan->methods->load(plan, &load, error));
    verification->error = fmax(d.velocity, d.density);
    if (isnan(d.velocity) || isnan(d.density)) verification->error = NAN;
    verification->bound = bound_of(plan);
    verification->mass_drift = d.mass;
    verification->load_error = system->has_solid ? load_deviation(plan->scene, &load, &solution->load) : 0.0;
    (void)snprintf(verification->worst, sizeof verification->worst, "velocity off by %.3g at node (%d, %d)",
                   sqrt(d.worst_value), (int)(d.worst % (size_t)nx), (int)(d.worst / (size_t)nx));
    bool fields = verification->error <= verification->bound && d.mass <= verification->bound;
    bool forces = verification->load_error <= load_margin * verification->bound;
    if (fields && forces) return KF_OK;
    return kf_fail(
        error, KF_GATE_FAILED,
        "%s deviate from the reference: fields %.3g, mass %.3g (bound %.3g), force %.3g (bound %.3g); %s",
        fields ? "forces" : "fields", verification->error, d.mass, verification->bound,
        verification->load_error, load_margin * verification->bound, verification->worst);
}
