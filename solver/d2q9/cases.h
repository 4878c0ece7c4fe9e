/* The d2q9 system's validation cases, and the numbers of the paper's section 7 for `bench --suite toelke`. */
#ifndef KF_SOLVER_D2Q9_CASES_H
#define KF_SOLVER_D2Q9_CASES_H

#include "solver/d2q9/d2q9.h"
#include "solver/validation/validation.h"

extern const kf_case kf_d2q9_cases[]; /* ended by an entry without a name */

kf_status kf_case_d2q9_poiseuille(kf_validation *validation, kf_error *error);
kf_status kf_case_d2q9_cavity(kf_validation *validation, kf_error *error);
kf_status kf_case_d2q9_array(kf_validation *validation, kf_error *error);
kf_status kf_case_d2q9_channel(kf_validation *validation, kf_error *error);

/* Relative errors of the square array of cylinders on n x n nodes, in the steady state (Table 4). */
typedef struct kf_array_errors {
    double fraction, k, force;
} kf_array_errors;
kf_status kf_d2q9_array_errors(const kf_validation *validation, int n, kf_array_errors *errors,
                               kf_error *error);

#endif
