/* The correctness gate (docs/gate.md): what a system's verify does with the fields of a plan and the force on
 * its solid, once it has read them. */
#ifndef KF_SOLVER_FLOW_GATE_H
#define KF_SOLVER_FLOW_GATE_H

#include "base/plan/system.h"

/* How far fields are from the reference: relative, in the L2 norm but for the mass. */
typedef struct kf_field_deviation {
    double velocity, density, mass;
    size_t worst;       /* the node with the largest deviation of the velocity, */
    double worst_value; /* and the square of that */
} kf_field_deviation;

/* Fields as the gate compares them, node by node: density - 1 and the components of the velocity. */
typedef struct kf_gate_fields {
    double *values; /* [components][count] */
    size_t count;
    int components;
} kf_gate_fields;

/* Takes what a node has, value[components], into a kf_gate_fields (context). */
void kf_gate_take(void *context, size_t index, const double *value);

/* Compares fields: density - 1 and the components of the velocity, [1 + components][count]. */
kf_field_deviation kf_compare_fields(const double *values, const double *reference, size_t count,
                                     int components);

/* Fills the verification, but for `worst`, which says where the largest deviation is. KF_GATE_FAILED when
 * fields or mass are off by more than the bound, or the force by more than 20 times that: it is a difference
 * of nearly equal terms and loses some digits more. */
kf_status kf_judge(const kf_field_deviation *deviation, double load_error, double bound,
                   kf_verification *verification, kf_error *error);

#endif
