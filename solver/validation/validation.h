/* Validation: flows with a known answer, run through ordinary plans. A case belongs to a system. It makes
 * scenes, advances plans and reports checks. A check is a measured number beside the expected one, with the
 * source of the latter. */
#ifndef KF_SOLVER_VALIDATION_VALIDATION_H
#define KF_SOLVER_VALIDATION_VALIDATION_H

#include "base/plan/system.h"

/* One checked number. */
typedef struct kf_check {
    char name[40]; /* the case's name */
    char quantity[96];
    double expected, measured;
    char source[160]; /* of the expected value */
    double error;     /* relative or absolute, as quantity says; NAN when nothing could be measured */
    double bound;     /* largest error with which the check passes */
    bool pass;
} kf_check;

/* The context of a running case, to which it adds its checks. */
typedef struct kf_validation kf_validation;
struct kf_validation {
    kf_backend *backend;
    bool quick;                      /* only small grids and few steps: minutes on two cores */
    bool gpu;                        /* large grids are affordable */
    const char *pictures;            /* folder for PNG files, or NULL for none */
    const volatile int *interrupted; /* checked between stretches of steps */
    double accuracy; /* accuracy of the running case's scenes (scene.h): the error that storage may add */

    const char *const *fixed; /* the user's --fix options; not NULL-terminated */
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
    /* Relative error that the case's bounds leave to storage; it becomes the accuracy of its scenes. Below
     * 0.005 the gate refuses 16-bit storage. 0: KF_DEFAULT_ACCURACY. */
    double accuracy;
} kf_case;
/* This accuracy is for flows whose answers 16-bit storage does not spoil; docs/gate.md says what it costs
 * each. */
#define KF_LEFT_TO_STORAGE 0.02

/* Each system has one table (kf_system.cases), which ends with an entry without a name. */

/* Chooses a config of the problem's space: the preset default with the "parameter=value" overrides of the
 * case (NULL-terminated; may be NULL) and then those of the user. If these exclude default values of other
 * parameters, it is the config that differs in the fewest. KF_BAD_INPUT when the space has no such config. */
kf_status kf_validation_configure(const kf_validation *validation, const kf_problem *problem,
                                  const char *const *overrides, kf_config *config, kf_error *error);

/* Add a check of |measured / expected - 1|, or of |measured - expected|, against bound. A value that is not
 * finite never passes. */
void kf_check_relative(kf_validation *validation, const char *quantity, const char *source, double expected,
                       double measured, double bound);
void kf_check_absolute(kf_validation *validation, const char *quantity, const char *source, double expected,
                       double measured, double bound);
/* Add a check whose error is how far measured falls below expected, or exceeds it. */
void kf_check_at_least(kf_validation *validation, const char *quantity, const char *source, double expected,
                       double measured, double bound);
void kf_check_at_most(kf_validation *validation, const char *quantity, const char *source, double expected,
                      double measured, double bound);

#endif
