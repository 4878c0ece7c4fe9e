/* The gate of flows (docs/gate.md): compares the fields of a plan, and the force on its solid, with the
 * reference. */
#ifndef KF_SOLVER_FLOW_GATE_H
#define KF_SOLVER_FLOW_GATE_H

#include "base/plan/system.h"

/* Relative deviation of fields from the reference, in the L2 norm except for the mass. */
typedef struct kf_field_deviation {
    double velocity, density, mass;
    size_t worst;       /* the node with the largest deviation of the velocity */
    double worst_value; /* the square of this deviation */
} kf_field_deviation;

/* Fields that the gate compares: density - 1 and the components of the velocity at each node. */
typedef struct kf_gate_fields {
    double *values; /* [components][count] */
    size_t count;
    int components;
} kf_gate_fields;

/* Stores the values of a node, value[components], in a kf_gate_fields (context). */
void kf_gate_take(void *context, size_t index, const double *value);

/* Compares fields: density - 1 and the components of the velocity, [1 + components][count]. */
kf_field_deviation kf_compare_fields(const double *values, const double *reference, size_t count,
                                     int components);

/* Fills in the verification, except `worst`, the place of the largest deviation. KF_GATE_FAILED when fields
 * or mass deviate by more than the bound, or the force by more than 20 times the bound: the force is a
 * difference of nearly equal terms and has fewer correct digits. */
kf_status kf_judge(const kf_field_deviation *deviation, double load_error, double bound,
                   kf_verification *verification, kf_error *error);

#endif
