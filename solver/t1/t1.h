/* The t1 system: a kernel that is not kftune's, described by a T1 problem file (docs/t1.md). A time step is
 * one launch of it. This header is shared by the files of solver/t1/ only, apart from kf_system_t1. */
#ifndef KF_SOLVER_T1_T1_H
#define KF_SOLVER_T1_T1_H

#include "base/expression/expression.h"
#include "base/plan/system.h"
#include "base/util/text.h"

extern const kf_system kf_system_t1;

typedef struct kf_t1_type {
    const char *name;
    size_t bytes;
    bool real, is_signed;
} kf_t1_type;

enum { KF_T1_ARGUMENTS = 32, KF_T1_CONDITIONS = 256, KF_T1_DEFINES = 24 };

typedef struct kf_t1_argument {
    char name[KF_NAME];
    const kf_t1_type *type;
    bool scalar;
    bool constant;      /* goes to the __constant__ variable of its name */
    bool read, written; /* by the kernel */
    bool output;        /* compared with the reference */
    double threshold;   /* accepted relative deviation; NAN: what the type allows */
    size_t count;       /* values; 1 for a scalar */
    void *initial;      /* before the first launch; owned */
    bool from_file;     /* initial is what a file holds */
    void *answer;       /* of an output: what is right after one launch; NULL: a run says; owned */
} kf_t1_argument;

typedef struct kf_t1_parameter {
    char name[KF_NAME];
    kf_value_kind kind;
    kf_expression *expression; /* owns the strings among the values */
    kf_scalar *values;
    size_t count;
    size_t chosen; /* the default, or what a search for a valid one tries */
} kf_t1_parameter;

/* One problem file: what is inside of a problem of this system. */
typedef struct kf_t1_problem {
    char file[KF_PATH], kernel_file[KF_PATH], kernel_name[128], name[128];
    char hash[KF_HASH_HEX]; /* of all files' content, and of the size */
    char reference_file[KF_PATH],
        reference_name[128]; /* a portable kernel that says what is right; "": none */
    bool kernel_missing;     /* its file is not there: the space can be shown, and nothing be launched */
    bool portable;           /* written with kernels/portable.h */
    bool plain;              /* a C function; neither: CUDA */
    long size[3];            /* ProblemSize; 1 where it has fewer */
    kf_t1_parameter parameters[KF_CONFIG_VALUES];
    int parameter_count;
    kf_expression *conditions[KF_T1_CONDITIONS];
    int condition_count;
    /* Over the parameters, by axis. */
    kf_expression *threads[3], *blocks[3], *shared_bytes;
    kf_t1_argument arguments[KF_T1_ARGUMENTS];
    int argument_count;
    kf_define defines[KF_T1_DEFINES]; /* of the file's compiler options; names are owned */
    int define_count;
    cJSON *declaration; /* of the space */
    kf_config
        reference; /* what results are compared with: the defaults, or the valid config nearest to them */
    char *notes;   /* for the user, a line each; NULL: none */
} kf_t1_problem;

void kf_t1_note(kf_t1_problem *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* t1_read.c: reads and checks everything but what the data holds. size takes the place of the file's
 * ProblemSize; NULL, or its first is 0: the file's. The caller frees with kf_t1_release. */
kf_status kf_t1_read(const char *file, const int *size, kf_t1_problem **problem, kf_error *error);
void kf_t1_release(kf_t1_problem *problem); /* NULL is fine */

/* t1_space.c: parameters and conditions become the declaration of a space, and a reference is chosen. */
kf_status kf_t1_read_space(kf_t1_problem *problem, const cJSON *space, kf_error *error);

/* t1_text.c: expressions as T1 files have them. text may also use ProblemSize[i], and max(PARAMETER) and
 * min(PARAMETER) for the ends of a domain; expanding it puts numbers in their place. what names it in
 * messages. */
void kf_t1_expand(const kf_t1_problem *problem, const char *text, kf_text *expanded);
kf_status kf_t1_expression(const kf_t1_problem *problem, const char *what, const char *text,
                           kf_expression **expression, kf_error *error);
/* The value of an expression for a config; within [low, high]. */
kf_status kf_t1_evaluate(const kf_t1_problem *problem, const char *what, const kf_expression *expression,
                         const kf_config *config, long low, long high, long *value, kf_error *error);
/* A number, or an expression that does not depend on parameters. */
kf_status kf_t1_constant(const kf_t1_problem *problem, const char *what, const cJSON *item, double *value,
                         kf_error *error);

/* t1_arguments.c */
kf_status kf_t1_read_arguments(kf_t1_problem *problem, const cJSON *list, kf_error *error);
double kf_t1_value(const kf_t1_type *type, const void *values, size_t index);
/* Relative L2 deviation of values from reference; *worst: where it is largest. NaN at the same place is
 * equal. */
double kf_t1_deviation(const kf_t1_argument *argument, const void *values, const void *reference,
                       size_t *worst);

/* t1_plan.c */
kf_status kf_t1_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend, kf_plan **plan,
                     kf_error *error);
kf_status kf_t1_sources(const kf_problem *problem, const kf_config *config, const kf_device_info *device,
                        kf_status (*visit)(const kf_source *source, void *data, kf_error *error), void *data,
                        kf_error *error);
/* Its kernel launched once for each item of the problem's size; only where it has one. */
kf_status kf_t1_reference_plan(const kf_problem *problem, kf_backend *backend, kf_plan **plan,
                               kf_error *error);
/* Downloads an output of the plan; caller frees. */
kf_status kf_t1_download(kf_plan *plan, int argument, void **values, kf_error *error);

/* t1_plain.c: writes the source that makes an entry for the cpu backend of a kernel in plain C, and says
 * where. */
extern const char kf_t1_plain_entry[];
kf_status kf_t1_plain_source(const kf_t1_problem *problem, char path[KF_PATH], kf_error *error);

/* t1_verify.c */
kf_status kf_t1_reference(const kf_problem *problem, int steps, kf_reference **reference, kf_error *error);
kf_status kf_t1_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                       kf_error *error);
void kf_t1_free_reference(kf_reference *reference);

#endif
