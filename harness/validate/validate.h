/* Runs validation cases (solver/validation/) with configs from the systems' spaces, and reports the results.
 */
#ifndef KF_HARNESS_VALIDATE_VALIDATE_H
#define KF_HARNESS_VALIDATE_VALIDATE_H

#include "solver/validation/validation.h"

typedef struct kf_validate_options {
    const char *const *cases; /* names; NULL: all cases */
    int case_count;
    const char *const *fixed; /* "parameter=value" */
    int fixed_count;
    bool quick;
    double accuracy; /* the accuracy of all cases' scenes, to examine a storage type; 0: that of each case */
    const char *pictures; /* an existing folder, or NULL */
    const volatile int *interrupted;
} kf_validate_options;

typedef struct kf_validate_result {
    kf_check *checks;
    int check_count;
    int cases_run, cases_refused, checks_failed;
    bool interrupted;     /* the checks are those made until then, and `unfinished` names the case */
    char unfinished[512]; /* cases that could not end, with the reason of the first; "": none */
    char refused[512]; /* cases in which the gate refuses the fixed values, with the reason of the first; "":
                          none */
} kf_validate_result;

/* Runs cases. KF_BAD_INPUT for an unknown case, or for fixed values that every case refuses. If only some
 * cases refuse them, `refused` names these. A case that the machine cannot run, or that fails otherwise, does
 * not stop the others; `unfinished` names it. An interrupt stops all, and the checks made until then are
 * kept. */
kf_status kf_validate(kf_backend *backend, const kf_validate_options *options, kf_validate_result *result,
                      kf_error *error);
void kf_validate_free(kf_validate_result *result);

#endif
