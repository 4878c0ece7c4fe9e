/* The validation cases of the d2q9 system, and the numbers of the paper's section 7 for `bench --suite
 * toelke`. */
#ifndef KF_SOLVER_VALIDATION_D2Q9_CASES_H
#define KF_SOLVER_VALIDATION_D2Q9_CASES_H

#include "scene/scene.h"
#include "solver/d2q9/d2q9.h"
#include "solver/validation/validation.h"

extern const kf_case kf_d2q9_cases[]; /* ended by an entry without a name */

/* A scene and its plan, initialised. */
typedef struct kf_d2q9_flow {
    kf_scene *scene;
    kf_problem *problem; /* of that scene */
    kf_plan *plan;
} kf_d2q9_flow;

/* Opens the plan of flow->scene, with overrides of the default config (NULL-terminated, may be NULL). */
kf_status kf_d2q9_open_plan(const kf_validation *validation, const char *const *overrides, kf_d2q9_flow *flow,
                            kf_error *error);
/* Opens a shipped scene on nx x ny nodes, and its plan. */
kf_status kf_d2q9_open_flow(const kf_validation *validation, const char *name, int nx, int ny,
                            const char *const *overrides, kf_d2q9_flow *flow, kf_error *error);
/* Closes a flow, also after it failed to open. */
void kf_d2q9_close_flow(kf_d2q9_flow *flow);

/* Cases (solver/validation/validation.h), which add their checks. They return an error if they cannot compute
 * them. */
kf_status kf_case_d2q9_poiseuille(kf_validation *validation, kf_error *error);
kf_status kf_case_d2q9_array(kf_validation *validation, kf_error *error);
kf_status kf_case_d2q9_channel(kf_validation *validation, kf_error *error);

/* Errors of the square array of cylinders on the pixels of the paper's Table 4 (d2q9_cases_array.c), all
 * relative. fraction: of the solid fraction against Eq. 14 (as printed, from six digits). k: of k from Eq. 15
 * in the steady state, with the analytic force on an obstacle, against Eq. 16. force: of the momentum
 * exchange against the driving force. */
typedef struct kf_array_errors {
    double fraction, k, force;
} kf_array_errors;

/* A row of Table 4. mesh: nodes along an edge. */
typedef struct kf_table_4_row {
    int mesh;
    double fraction, k;
} kf_table_4_row;
enum { KF_TABLE_4_ROWS = 6 };
extern const kf_table_4_row kf_table_4[KF_TABLE_4_ROWS];

/* Returns only the error `fraction`, which needs no run. */
double kf_table_4_fraction_error(int mesh);
kf_status kf_d2q9_array_errors(const kf_validation *validation, int mesh, kf_array_errors *errors,
                               kf_error *error);

#endif
