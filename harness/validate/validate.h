/* Runs validation cases (solver/validation/) with configs from the systems' spaces, and reports them. */
#ifndef KF_HARNESS_VALIDATE_VALIDATE_H
#define KF_HARNESS_VALIDATE_VALIDATE_H

#include "solver/validation/validation.h"

typedef struct kf_validate_options {
    const char *const *cases; /* names; none: all */
    int case_count;
    const char *const *fixed; /* "parameter=value" */
    int fixed_count;
    bool quick;
    double accuracy;      /* that all cases' scenes state, to see what a storage type costs; 0: their own */
    const char *pictures; /* existing folder, or NULL */
    const volatile int *interrupted;
} kf_validate_options;

typedef struct kf_validate_result {
    kf_check *checks;
    int check_count;
    int cases_run, cases_refused, checks_failed;
    bool interrupted;     /* its checks are those up to then, the case is named in unfinished */
    char unfinished[512]; /* cases that could not run to their end, with the first one's reason; else "" */
    char refused[512];    /* cases for which the gate refuses the fixed values, with the first one's reason */
} kf_validate_result;

/* Runs cases. An unknown case, or fixed values that every case refuses, is KF_BAD_INPUT. A case that refuses
 * them while others do not is named in `refused`. A case that the machine cannot run, or that fails
 * otherwise, does not stop the others: it is named in `unfinished`. An interrupt does, and what is checked by
 * then is kept. */
kf_status kf_validate(kf_backend *backend, const kf_validate_options *options, kf_validate_result *result,
                      kf_error *error);
void kf_validate_free(kf_validate_result *result);

#endif
