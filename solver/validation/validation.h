/* Validation: flows whose answer is known, run through ordinary plans. A case belongs to a system; it makes
 * scenes, advances plans and reports checks, each a measured number beside the expected one and its source.
 */
#ifndef KF_SOLVER_VALIDATION_VALIDATION_H
#define KF_SOLVER_VALIDATION_VALIDATION_H

#include "base/plan/system.h"

/* One checked number. */
typedef struct kf_check {
    char name[40]; /* of the case */
    char quantity[96];
    double expected, measured;
    char source[160]; /* of the expected value */
    double error;     /* relative or absolute, as quantity says; NAN when nothing could be measured */
    double bound;     /* largest error that passes */
    bool pass;
} kf_check;

/* A case runs with this, and adds its checks to it. */
typedef struct kf_validation kf_validation;
struct kf_validation {
    kf_backend *backend;
    bool quick;                      /* small grids and few steps only: minutes on two cores */
    bool gpu;                        /* large grids are affordable */
    const char *pictures;            /* folder for PNG files, or NULL for none */
    const volatile int *interrupted; /* looked at between stretches of steps */
    double accuracy; /* that the running case's scenes state (scene.h): what storage may cost */

    const char *const *fixed; /* the user's, not NULL-terminated */
    int fixed_count;

    const char *case_name; /* of the running case */
    kf_check *checks;      /* owned by whoever made the validation */
    int check_count;
};

/* A named case. */
typedef struct kf_case {
    const char *name;
    const char *summary;
    bool slow; /* left out by --quick */
    kf_status (*run)(kf_validation *validation, kf_error *error);
    /* Relative error that its bounds leave to storage, as a scene's accuracy: less than 0.005, and the gate
     * refuses 16-bit storage. 0: KF_DEFAULT_ACCURACY. */
    double accuracy;
} kf_case;
/* Bound for flows whose answers 16-bit storage does not spoil; docs/gate.md has what it costs each. */
#define KF_LEFT_TO_STORAGE 0.02

/* One table a system (kf_system.cases), ended by an entry without a name. */

/* The config of the problem's space that equals its preset default but for "parameter=value" overrides of the
 * case (NULL-terminated; may be NULL) and those of the user on top; where one of these excludes default
 * values of others, the config that differs from it in the fewest parameters. KF_BAD_INPUT when the space has
 * none such. */
kf_status kf_validation_configure(const kf_validation *validation, const kf_problem *problem,
                                  const char *const *overrides, kf_config *config, kf_error *error);

/* Add a check: |measured / expected - 1|, or |measured - expected|, against bound. Not finite never passes.
 */
void kf_check_relative(kf_validation *validation, const char *quantity, const char *source, double expected,
                       double measured, double bound);
void kf_check_absolute(kf_validation *validation, const char *quantity, const char *source, double expected,
                       double measured, double bound);
/* The error is how far measured falls short of expected, or exceeds it. */
void kf_check_at_least(kf_validation *validation, const char *quantity, const char *source, double expected,
                       double measured, double bound);
void kf_check_at_most(kf_validation *validation, const char *quantity, const char *source, double expected,
                      double measured, double bound);

#endif
