/* The correctness gate: a plan's fields and its force on the solid against the reference (docs/gate.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/reference.h"

/* Accepted relative deviations: rounding of the storage type, grown over a few steps, with a margin of about
 * ten. */
static const double single_bound = 1e-4, double_bound = 1e-9;
/* Force and torque are differences of nearly equal velocities and lose some digits more. */
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
        for (size_t i = 1; i < 4; i++) {
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
    double floor_velocity = 1e-4 * sqrt((double)count), floor_density = 1e-4 * sqrt((double)count);
    result.velocity = sqrt(velocity_error) / fmax(sqrt(velocity_scale), floor_velocity);
    result.density = sqrt(density_error) / fmax(sqrt(density_scale), floor_density);
    result.mass = fabs(mass - reference_mass) / ((double)count + reference_mass);
    return result;
}

static double load_deviation(const kf_solid_load *load, const kf_solid_load *reference) {
    double error[2] = {0, 0}, scale[2] = {0, 0};
    for (int i = 0; i < 3; i++) {
        error[0] += pow(load->force[i] - reference->force[i], 2);
        scale[0] += pow(reference->force[i], 2);
        error[1] += pow(load->torque[i] - reference->torque[i], 2);
        scale[1] += pow(reference->torque[i], 2);
    }
    /* A symmetric body has no torque: measure it against the force at an arm of one cell too. */
    double force = sqrt(error[0]) / fmax(sqrt(scale[0]), 1e-6);
    double torque = sqrt(error[1]) / fmax(fmax(sqrt(scale[1]), sqrt(scale[0])), 1e-6);
    return fmax(force, torque);
}

kf_status kf_kinetic_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                            kf_error *error) {
    const kf_kinetic *kinetic = plan->system;
    const int *n = plan->scene->nodes;
    double *values;
    kf_solid_load load;
    memset(verification, 0, sizeof *verification);
    verification->error = NAN;
    KF_TRY(kf_kinetic_read(plan, &values, error));
    deviation d = compare(values, reference->values, reference->count);
    free(values);
    KF_TRY(plan->methods->load(plan, &load, error));
    verification->error = fmax(d.velocity, d.density);
    if (isnan(d.velocity) || isnan(d.density)) verification->error = NAN;
    verification->bound = kinetic->options.storage == KF_F64   ? double_bound
                          : kinetic->options.storage == KF_F32 ? single_bound
                                                               : plan->scene->accuracy;
    verification->mass_drift = d.mass;
    verification->load_error = kinetic->has_solid ? load_deviation(&load, &reference->load) : 0.0;
    int worst = (int)d.worst; /* a reference is far smaller than 2^31 nodes */
    (void)snprintf(verification->worst, sizeof verification->worst,
                   "velocity off by %.3g at node (%d, %d, %d)", sqrt(d.worst_value), worst % n[0],
                   worst / n[0] % n[1], worst / (n[0] * n[1]));
    bool fields = verification->error <= verification->bound && d.mass <= verification->bound;
    bool forces = verification->load_error <= load_margin * verification->bound;
    if (fields && forces) return KF_OK;
    return kf_fail(
        error, KF_GATE_FAILED,
        "%s deviate from the reference: fields %.3g, mass %.3g (bound %.3g), force %.3g (bound %.3g); %s",
        fields ? "forces" : "fields", verification->error, d.mass, verification->bound,
        verification->load_error, load_margin * verification->bound, verification->worst);
}
