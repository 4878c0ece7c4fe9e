#include "solver/flow/gate.h"

#include <math.h>

void kf_gate_take(void *context, size_t index, const double *value) {
    kf_gate_fields *fields = context;
    for (int i = 0; i < fields->components; i++)
        fields->values[(size_t)i * fields->count + index] = value[i];
}

kf_field_deviation kf_compare_fields(const double *values, const double *reference, size_t count,
                                     int components) {
    double velocity_error = 0, velocity_scale = 0, density_error = 0, density_scale = 0, mass = 0,
           reference_mass = 0;
    kf_field_deviation result = {.worst_value = -1};
    for (size_t n = 0; n < count; n++) {
        double node = 0;
        for (size_t i = 1; i <= (size_t)components; i++) {
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
        /* This is also true for NaN. */
        if (!(node <= result.worst_value)) {
            result.worst_value = node;
            result.worst = n;
        }
    }
    /* A fluid at rest with density 1 has no natural scale. The only scale of density in a uniform stream is
     * the dynamic pressure, u^2 / (2 c_s^2). */
    const double rest = KF_REST_SPEED * sqrt((double)count),
                 dynamic = 1.5 * velocity_scale / sqrt((double)count);
    result.velocity = sqrt(velocity_error) / fmax(sqrt(velocity_scale), rest);
    result.density = sqrt(density_error) / fmax(fmax(sqrt(density_scale), dynamic), rest);
    result.mass = fabs(mass - reference_mass) / ((double)count + reference_mass);
    return result;
}

kf_status kf_judge(const kf_field_deviation *deviation, double load_error, double bound,
                   kf_verification *verification, kf_error *error) {
    const double load_bound = 20.0 * bound;
    const bool lost = isnan(deviation->velocity) || isnan(deviation->density);
    kf_verification_add(verification, "fields",
                        lost ? (double)NAN : fmax(deviation->velocity, deviation->density), bound);
    kf_verification_add(verification, "mass", deviation->mass, bound);
    kf_verification_add(verification, "force", load_error, load_bound);
    return kf_verification_judge(verification, error);
}
