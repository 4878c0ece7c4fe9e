/* The t1 system: a kernel that is not kftune's, described by a T1 problem file (docs/t1.md). A time step is
 * one launch of it. Only solver/t1/ includes this header; other rooms use kf_system_t1. */
#ifndef KF_SOLVER_T1_T1_H
#define KF_SOLVER_T1_T1_H

#include "base/expression/expression.h"
#include "base/plan/system.h"
#include "base/util/text.h"

extern const kf_system kf_system_t1;

/* The type of a value: "float", "int32", or a vector such as "float4". */
typedef struct kf_t1_type {
    char name[16];
    size_t bytes; /* bytes of a component */
    int components;
    size_t alignment; /* alignment of a value among a kernel's parameters */
    bool real, is_signed;
} kf_t1_type;

typedef enum kf_t1_fill_kind {
    KF_T1_CONSTANT,
    KF_T1_RANDOM,
    KF_T1_FILE,
    KF_T1_GENERATOR, /* an expression of the index i */
    KF_T1_FILLS
} kf_t1_fill_kind;

enum { KF_T1_ARGUMENTS = 32, KF_T1_CONDITIONS = 256, KF_T1_OPTIONS = 64, KF_T1_FILES = 16 };

typedef struct kf_t1_argument {
    char name[KF_NAME];
    kf_t1_type type;
    bool scalar;
    bool constant;       /* it is copied to the __constant__ variable of its name */
    bool read, written;  /* what the kernel does with it */
    bool output;         /* it is compared with the reference */
    double threshold;    /* largest accepted relative deviation; NAN: the type's default */
    kf_expression *size; /* number of values, if it depends on the config; NULL: see count */
    size_t count;        /* number of components in the default config */
    kf_t1_fill_kind fill;
    double fill_value;
    uint64_t seed;
    kf_expression *generator;
    void *initial; /* [count] content before the first launch; owned */
    /* The right content of an output after one launch; NULL: a run of the reference computes it; owned. */
    void *answer;
} kf_t1_argument;

typedef struct kf_t1_parameter {
    char name[KF_NAME];
    kf_value_kind kind;
    char *reals;               /* names of a float parameter's values, "0.5", KF_NAME bytes each; owned */
    kf_expression *expression; /* it owns the strings among the values */
    kf_scalar *values;
    size_t count;
    size_t chosen; /* index of the default, or of the value that a search for a valid config tries */
} kf_t1_parameter;

typedef enum kf_t1_language {
    KF_T1_CUDA,
    KF_T1_PORTABLE, /* written with kernels/portable.h */
    KF_T1_C,        /* a function that a launch calls once */
    KF_T1_CXX,
    KF_T1_OPENCL,
    KF_T1_LANGUAGES
} kf_t1_language;

/* A problem of this system: the content of its file. */
typedef struct kf_t1_problem {
    char file[KF_PATH], name[128];
    kf_t1_language language;
    char *kernel_files[KF_T1_FILES]; /* compiled together in this order; owned */
    int kernel_file_count;
    char kernel_name[128];  /* in CUDA the name in C++: "gemm<float, 16>" */
    char hash[KF_HASH_HEX]; /* of the content of all files, and of the size */
    char reference_file[KF_PATH],
        /* File and name of a portable kernel that computes the right result; "": none. */
        reference_name[128];
    char candidate[KF_PATH];  /* a file that replaces the kernel and is judged by it; "": none */
    struct kf_problem *judge; /* the problem with its own kernel; owned */
    /* The first of kernel_files that is missing: the space can be shown, but nothing launched; NULL: none. */
    const char *missing_file;
    bool says_grid[3]; /* the source uses grid_size_x, _y, _z, which Kernel Tuner defines */
    long size[3];      /* ProblemSize; 1 for missing numbers */
    kf_t1_parameter parameters[KF_CONFIG_VALUES];
    int parameter_count;
    kf_expression *conditions[KF_T1_CONDITIONS];
    int condition_count;
    /* Expressions of the parameters, one for each axis. */
    kf_expression *threads[3], *blocks[3], *shared_bytes;
    kf_t1_argument arguments[KF_T1_ARGUMENTS];
    int argument_count;
    char *options[KF_T1_OPTIONS]; /* compiler options, see kf_source; owned */
    int option_count;
    cJSON *declaration; /* declaration of the space */
    kf_config
        reference; /* what results are compared with: the defaults, or the valid config nearest to them */
    kf_text notes; /* one line for each note to the user */
} kf_t1_problem;

/* Return whether the kernel is a function of C or C++, which runs on the cpu only; and whether it runs on a
 * GPU only. */
static inline bool kf_t1_is_plain(const kf_t1_problem *problem) {
    return problem->language == KF_T1_C || problem->language == KF_T1_CXX;
}
static inline bool kf_t1_needs_gpu(const kf_t1_problem *problem) {
    return problem->language == KF_T1_CUDA || problem->language == KF_T1_OPENCL;
}

/* Reads and checks everything except the data (t1_read.c). size replaces the file's ProblemSize; if size is
 * NULL or size[0] is 0, the file's holds. The caller frees the problem with kf_t1_release. */
kf_status kf_t1_read(const char *file, const int *size, kf_t1_problem **problem, kf_error *error);
/* Reads a problem whose kernel is replaced by another file. The file's own kernel becomes the reference. */
kf_status kf_t1_read_candidate(const char *file, const char *candidate, const int *size,
                               kf_t1_problem **problem, kf_error *error);
void kf_t1_release(kf_t1_problem *problem); /* NULL is fine */

/* Reads language, files, name and compiler options (t1_kernel.c). */
kf_status kf_t1_read_kernel(kf_t1_problem *problem, const cJSON *kernel, kf_error *error);
/* Returns the path of a file: relative to the problem file's folder, or absolute. */
kf_status kf_t1_beside(const kf_t1_problem *problem, const char *file, char path[KF_PATH], kf_error *error);

/* Makes the declaration of a space from parameters and conditions, and chooses the reference config
 * (t1_space.c). */
kf_status kf_t1_read_space(kf_t1_problem *problem, const cJSON *space, kf_error *error);

/* Read expressions of T1 files (t1_text.c). text may contain ProblemSize[i], and max(PARAMETER) and
 * min(PARAMETER) for the largest and smallest value of a domain. kf_t1_expand replaces these by numbers.
 * what: a name for messages. */
void kf_t1_expand(const kf_t1_problem *problem, const char *text, kf_text *expanded);
kf_status kf_t1_expression(const kf_t1_problem *problem, const char *what, const char *text,
                           kf_expression **expression, kf_error *error);
/* Evaluates an expression for a config. The value must lie within [low, high]. */
kf_status kf_t1_evaluate(const kf_t1_problem *problem, const char *what, const kf_expression *expression,
                         const kf_config *config, long low, long high, long *value, kf_error *error);
/* Returns whether an expression uses a parameter. */
bool kf_t1_depends(const kf_t1_problem *problem, const kf_expression *expression);
/* Reads a number, or an expression that does not depend on parameters. */
kf_status kf_t1_constant(const kf_t1_problem *problem, const char *what, const cJSON *item, double *value,
                         kf_error *error);

/* t1_arguments.c */
kf_status kf_t1_read_arguments(kf_t1_problem *problem, const cJSON *list, kf_error *error);
/* A parameter of a kernel, or a __constant__ variable, as in its source. The type of a pointer is that of its
 * target. */
enum { KF_T1_SHOWN = 160, KF_T1_MOST_PARAMETERS = 2 * KF_T1_ARGUMENTS };
typedef struct kf_t1_parameter_text {
    char text[KF_T1_SHOWN]; /* "const float *in" */
    bool pointer;
    bool known;  /* the type is known */
    bool either; /* the type is char, whose sign depends on the compiler */
    kf_t1_type type;
} kf_t1_parameter_text;

typedef struct kf_t1_signature {
    const char *kernel, *file; /* name of the kernel, and the problem's file that contains it */
    bool converts;             /* the kernel is called from C, which converts numbers */
    kf_t1_parameter_text list[KF_T1_MOST_PARAMETERS];
    int count;
    kf_t1_parameter_text constants[KF_T1_ARGUMENTS]; /* of arguments that are __constant__ variables */
} kf_t1_signature;

/* Reads the parameters of the kernel, or of the reference kernel, from its source (t1_signature.c). False if
 * there is none, or if they cannot be read with certainty, so that nothing may be concluded from them. */
bool kf_t1_read_signature(const kf_t1_problem *problem, bool reference, kf_t1_signature *read);
/* Refuses arguments that contradict the kernel's parameters, as far as these can be read: their number,
 * pointers and types. A different sign of an integer type is only a note (t1_check.c). */
kf_status kf_t1_check_signature(kf_t1_problem *problem, kf_error *error);
/* Computes the number of components of an argument for a config. */
kf_status kf_t1_count(const kf_t1_problem *problem, const kf_t1_argument *argument, const kf_config *config,
                      size_t *count, kf_error *error);

/* t1_values.c */
/* Finds a type by its name; false if there is none (t1_values.c). */
bool kf_t1_find_type(const char *name, kf_t1_type *type);
/* Returns whether a component of the type can have this value. */
bool kf_t1_fits(const kf_t1_type *type, double value);
double kf_t1_value(const kf_t1_type *type, const void *values, size_t index);
/* Fills in the first `count` components as before a launch; an argument from a file uses `initial`. Rounds
 * differ in Random values. Round 0 uses the file's seed, round 1 another seed. In round 2 most values are 0:
 * sums then have few terms, so that low precision shows. */
enum { KF_T1_ROUNDS = 3 };
kf_status kf_t1_fill(const kf_t1_problem *problem, const kf_t1_argument *argument, int round, size_t count,
                     void *values, kf_error *error);
/* Returns the relative L2 deviation of values from the reference, or a hundredth of the largest deviation of
 * one value if that is more: of itself, or of the root mean square of all if that is larger. *worst: the
 * index of the largest deviation. NaN or an infinity at the same index in both counts as equal. Whole numbers
 * are equal if all of their bits are. */
double kf_t1_deviation(const kf_t1_argument *argument, const void *values, const void *reference,
                       size_t *worst);
/* Writes "out[5] is 1.5, not 2" with as many digits as tell the two apart. */
void kf_t1_tell_difference(const kf_t1_argument *argument, const void *values, const void *right,
                           size_t index, char *text, size_t size);

/* t1_plan.c */
kf_status kf_t1_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend, kf_plan **plan,
                     kf_error *error);
kf_status kf_t1_sources(const kf_problem *problem, const kf_config *config, const kf_device_info *device,
                        kf_status (*visit)(const kf_source *source, void *data, kf_error *error), void *data,
                        kf_error *error);
/* Makes the plan of a config, or (NULL) of the reference kernel, which the problem must have, with `room`
 * bytes of guard before and behind each argument; other plans have KF_T1_GUARD. The guards hold 0xFF, a NaN
 * in floating point. */
enum { KF_T1_GUARD = 256 };
kf_status kf_t1_plan_with_room(const kf_problem *problem, const kf_config *config, size_t room,
                               kf_backend *backend, kf_plan **plan, kf_error *error);
/* Downloads an output of the plan into *values, which must have room for it. If *values is NULL, memory is
 * allocated, and the caller frees it. */
kf_status kf_t1_download(kf_plan *plan, int argument, void **values, kf_error *error);
size_t kf_t1_count_of(const kf_plan *plan, int argument);
/* Uploads bytes of an argument from `offset` on. Bytes beyond its end are its guard. */
kf_status kf_t1_upload(kf_plan *plan, int argument, size_t offset, const void *data, size_t bytes,
                       kf_error *error);

/* Memory that a whole run keeps. buffers: the values of the arguments before a launch, on the device.
 * outputs: results on the host, KF_T1_FIRST of the first launch of a config, KF_T1_LATEST of the latest. They
 * are kept because allocating new pages for each download takes longer than the download. */
enum { KF_T1_FIRST, KF_T1_LATEST, KF_T1_KEPT };
typedef struct kf_t1_masters {
    kf_buffer *buffers[KF_T1_ROUNDS][KF_T1_ARGUMENTS];
    void *outputs[KF_T1_KEPT][KF_T1_ARGUMENTS];
} kf_t1_masters;
void kf_t1_free_masters(kf_t1_masters *masters);
/* Fills all arguments of a new plan, and their guards, with 0xFF. */
kf_status kf_t1_spoil(kf_plan *plan, kf_error *error);
/* Prepares a launch that will be verified: arguments get their values of the round, and arguments that are
 * only written get 0xFF. Asynchronous. */
kf_status kf_t1_restore(kf_plan *plan, kf_t1_masters *masters, int round, kf_error *error);
/* Puts new values into the beginning, middle and end of Random arguments, so that no earlier launch had the
 * same input. */
kf_status kf_t1_disturb(kf_plan *plan, uint64_t seed, kf_error *error);
/* KF_GATE_FAILED if the kernel wrote before or behind an argument, or to a ReadOnly one. round: the values
 * that they had; -1: only guards are checked. */
kf_status kf_t1_check(kf_plan *plan, int round, kf_error *error);

/* Finds what is compiled (t1_source.c). A kernel in one CUDA file is compiled as it is. Otherwise a source is
 * written into the cache's folder: functions in C get an entry for the cpu backend, OpenCL becomes CUDA C. */
extern const char kf_t1_plain_entry[];
kf_status kf_t1_source_file(const kf_t1_problem *problem, char path[KF_PATH], kf_error *error);
/* Adds to a compiler's error how the problem's file relates to it. Returns error->status. */
kf_status kf_t1_explain(const kf_t1_problem *problem, kf_error *error);
/* Finds the name of the kernel declared after `at`, which points behind the keyword that makes it a kernel.
 * *length is 0 if there is none. */
const char *kf_t1_kernel_behind(const char *at, size_t *length);

/* Translates an OpenCL C source to CUDA C that includes kernels/t1/opencl.h, and appends it to out
 * (t1_opencl.c). */
void kf_t1_translate(const char *file, const char *text, kf_text *out);

/* Checks that the reference kernel and the reference config are usable (t1_examine.c): they end, give finite
 * results, give the same results again, and access no memory beyond their arguments. KF_BAD_INPUT names the
 * argument that is too short and what is read of it. */
kf_status kf_t1_examine(const kf_problem *problem, kf_backend *backend, kf_error *error);

/* t1_verify.c */
kf_status kf_t1_recheck(kf_plan *plan, const kf_reference *reference, double step_us, kf_error *error);
/* Makes the kf_problem around a T1 problem. owned: it frees the T1 problem. */
kf_problem *kf_t1_wrap(kf_t1_problem *own, bool owned);
kf_status kf_t1_reference(const kf_problem *problem, int steps, kf_reference **reference, kf_error *error);
kf_status kf_t1_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                       kf_error *error);
void kf_t1_free_reference(kf_reference *reference);

#endif
