/* The t1 system: a kernel that is not kftune's, described by a T1 problem file (docs/t1.md). A time step is
 * one launch of it. This header is shared by the files of solver/t1/ only, apart from kf_system_t1. */
#ifndef KF_SOLVER_T1_T1_H
#define KF_SOLVER_T1_T1_H

#include "base/expression/expression.h"
#include "base/plan/system.h"
#include "base/util/text.h"

extern const kf_system kf_system_t1;

/* "float", "int32", and vectors of them, "float4": what one value is made of. */
typedef struct kf_t1_type {
    char name[16];
    size_t bytes; /* of a component */
    int components;
    size_t alignment; /* of a value among a kernel's parameters */
    bool real, is_signed;
} kf_t1_type;

typedef enum kf_t1_fill_kind {
    KF_T1_CONSTANT,
    KF_T1_RANDOM,
    KF_T1_FILE,
    KF_T1_GENERATOR, /* an expression over the place, i */
    KF_T1_FILLS
} kf_t1_fill_kind;

enum { KF_T1_ARGUMENTS = 32, KF_T1_CONDITIONS = 256, KF_T1_OPTIONS = 64, KF_T1_FILES = 16 };

typedef struct kf_t1_argument {
    char name[KF_NAME];
    kf_t1_type type;
    bool scalar;
    bool constant;       /* goes to the __constant__ variable of its name */
    bool read, written;  /* by the kernel */
    bool output;         /* compared with the reference */
    double threshold;    /* accepted relative deviation; NAN: what the type allows */
    kf_expression *size; /* values, where that depends on the config; NULL: count says */
    size_t count;        /* components, of the default config */
    kf_t1_fill_kind fill;
    double fill_value;
    uint64_t seed;
    kf_expression *generator;
    void *initial; /* before the first launch; owned */
    void *answer;  /* of an output: what is right after one launch; NULL: a run says; owned */
} kf_t1_argument;

typedef struct kf_t1_parameter {
    char name[KF_NAME];
    kf_value_kind kind;
    char *reals; /* of a float parameter, whose values are names: "0.5", in KF_NAME bytes each; owned */
    kf_expression *expression; /* owns the strings among the values */
    kf_scalar *values;
    size_t count;
    size_t chosen; /* the default, or what a search for a valid one tries */
} kf_t1_parameter;

typedef enum kf_t1_language {
    KF_T1_CUDA,
    KF_T1_PORTABLE, /* written with kernels/portable.h */
    KF_T1_C,        /* a function, called once a launch */
    KF_T1_CXX,
    KF_T1_OPENCL,
    KF_T1_LANGUAGES
} kf_t1_language;

/* One problem file: what is inside of a problem of this system. */
typedef struct kf_t1_problem {
    char file[KF_PATH], name[128];
    kf_t1_language language;
    char *kernel_files[KF_T1_FILES]; /* compiled as one, in this order; owned */
    int kernel_file_count;
    char kernel_name[128];  /* as C++ has it where the language is CUDA: "gemm<float, 16>" */
    char hash[KF_HASH_HEX]; /* of all files' content, and of the size */
    char reference_file[KF_PATH],
        reference_name[128];  /* a portable kernel that says what is right; "": none */
    char candidate[KF_PATH];  /* stands for the file's own kernels, which judge it; "": none does */
    struct kf_problem *judge; /* the problem without it; owned */
    const char *missing_file; /* of kernel_files, is not there: the space can be shown, and nothing be
                               * launched; NULL: all are */
    bool says_grid[3];        /* the source uses grid_size_x, _y, _z, as Kernel Tuner defines them */
    long size[3];             /* ProblemSize; 1 where it has fewer */
    kf_t1_parameter parameters[KF_CONFIG_VALUES];
    int parameter_count;
    kf_expression *conditions[KF_T1_CONDITIONS];
    int condition_count;
    /* Over the parameters, by axis. */
    kf_expression *threads[3], *blocks[3], *shared_bytes;
    kf_t1_argument arguments[KF_T1_ARGUMENTS];
    int argument_count;
    char *options[KF_T1_OPTIONS]; /* of the compiler, as kf_source has them; owned */
    int option_count;
    cJSON *declaration; /* of the space */
    kf_config
        reference; /* what results are compared with: the defaults, or the valid config nearest to them */
    char *notes;   /* for the user, a line each; NULL: none */
} kf_t1_problem;

void kf_t1_note(kf_t1_problem *problem, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Return whether a kernel is a function of C or C++, and so runs on the cpu alone; or runs on a GPU alone. */
static inline bool kf_t1_is_plain(const kf_t1_problem *problem) {
    return problem->language == KF_T1_C || problem->language == KF_T1_CXX;
}
static inline bool kf_t1_needs_gpu(const kf_t1_problem *problem) {
    return problem->language == KF_T1_CUDA || problem->language == KF_T1_OPENCL;
}

/* Reads and checks everything but what the data holds (t1_read.c). size takes the place of the file's
 * ProblemSize; where it or its first member is 0, the file's is kept. The caller frees with kf_t1_release. */
kf_status kf_t1_read(const char *file, const int *size, kf_t1_problem **problem, kf_error *error);
/* Reads a problem with another file in the place of its kernel's, whose reference is what the file's own
 * kernel does. */
kf_status kf_t1_read_candidate(const char *file, const char *candidate, const int *size,
                               kf_t1_problem **problem, kf_error *error);
void kf_t1_release(kf_t1_problem *problem); /* NULL is fine */

/* Reads language, files, name and the compiler's options (t1_kernel.c). */
kf_status kf_t1_read_kernel(kf_t1_problem *problem, const cJSON *kernel, kf_error *error);
/* The path of a file beside the problem file, or of an absolute one. */
kf_status kf_t1_beside(const kf_t1_problem *problem, const char *file, char path[KF_PATH], kf_error *error);

/* Makes the declaration of a space of parameters and conditions, and chooses a reference (t1_space.c). */
kf_status kf_t1_read_space(kf_t1_problem *problem, const cJSON *space, kf_error *error);

/* Read expressions as T1 files have them (t1_text.c). text may also use ProblemSize[i], and max(PARAMETER)
 * and min(PARAMETER) for the ends of a domain; expanding it puts numbers in their place. `what` names it
 * in messages. */
void kf_t1_expand(const kf_t1_problem *problem, const char *text, kf_text *expanded);
kf_status kf_t1_expression(const kf_t1_problem *problem, const char *what, const char *text,
                           kf_expression **expression, kf_error *error);
/* The value of an expression for a config; within [low, high]. */
kf_status kf_t1_evaluate(const kf_t1_problem *problem, const char *what, const kf_expression *expression,
                         const kf_config *config, long low, long high, long *value, kf_error *error);
/* Returns whether an expression uses a parameter. */
bool kf_t1_depends(const kf_t1_problem *problem, const kf_expression *expression);
/* A number, or an expression that does not depend on parameters. */
kf_status kf_t1_constant(const kf_t1_problem *problem, const char *what, const cJSON *item, double *value,
                         kf_error *error);

/* t1_arguments.c */
kf_status kf_t1_read_arguments(kf_t1_problem *problem, const cJSON *list, kf_error *error);
/* One parameter of a kernel, or a __constant__ variable, as its source has it; a pointer's type is that of
 * what it points to. */
enum { KF_T1_SHOWN = 160, KF_T1_MOST_PARAMETERS = 2 * KF_T1_ARGUMENTS };
typedef struct kf_t1_parameter_text {
    char text[KF_T1_SHOWN]; /* "const float *in" */
    bool pointer;
    bool known;  /* its type is */
    bool either; /* char, whose sign is the compiler's */
    kf_t1_type type;
} kf_t1_parameter_text;

typedef struct kf_t1_signature {
    const char *kernel, *file; /* its name, and the file that has it, as the problem has them */
    bool converts;             /* a call of C converts numbers */
    kf_t1_parameter_text list[KF_T1_MOST_PARAMETERS];
    int count;
    kf_t1_parameter_text constants[KF_T1_ARGUMENTS]; /* of the arguments that are such variables */
} kf_t1_signature;

/* Reads the kernel's parameters from its source, or the reference kernel's; false: there is none, or they
 * cannot be read with certainty, so that nothing may be concluded (t1_signature.c). */
bool kf_t1_read_signature(const kf_t1_problem *problem, bool reference, kf_t1_signature *read);
/* Refuses arguments that are not the parameters of the kernel as its source has them, as far as these can be
 * read: count, what is a pointer, types. Another sign alone is a note (t1_check.c). */
kf_status kf_t1_check_signature(kf_t1_problem *problem, kf_error *error);
/* Components that an argument has for a config. */
kf_status kf_t1_count(const kf_t1_problem *problem, const kf_t1_argument *argument, const kf_config *config,
                      size_t *count, kf_error *error);

/* t1_values.c */
/* False when there is no such type. */
bool kf_t1_find_type(const char *name, kf_t1_type *type);
/* Returns whether a number is a value of a component. */
bool kf_t1_fits(const kf_t1_type *type, double value);
double kf_t1_value(const kf_t1_type *type, const void *values, size_t index);
/* Fills the first count components as they are before a launch (of a file: initial). Rounds differ in what
 * is Random: 0 has the file's seed, 1 another one; in 2 most values are zero, so that few terms make a sum
 * and low precision shows. */
enum { KF_T1_ROUNDS = 3 };
kf_status kf_t1_fill(const kf_t1_problem *problem, const kf_t1_argument *argument, int round, size_t count,
                     void *values, kf_error *error);
/* Relative L2 deviation of values from reference; *worst: where it is largest. NaN, or an infinity, at the
 * same place is equal. */
double kf_t1_deviation(const kf_t1_argument *argument, const void *values, const void *reference,
                       size_t *worst);

/* t1_plan.c */
kf_status kf_t1_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend, kf_plan **plan,
                     kf_error *error);
kf_status kf_t1_sources(const kf_problem *problem, const kf_config *config, const kf_device_info *device,
                        kf_status (*visit)(const kf_source *source, void *data, kf_error *error), void *data,
                        kf_error *error);
/* Makes a plan that launches the reference kernel once for each item of the problem's size; only where it
 * has one. */
kf_status kf_t1_reference_plan(const kf_problem *problem, kf_backend *backend, kf_plan **plan,
                               kf_error *error);
/* The plan of a config, or (NULL) of the reference kernel, with that many bytes before and behind what each
 * argument has; other plans have KF_T1_GUARD. They hold 0xFF, in floating point a NaN. */
enum { KF_T1_GUARD = 256 };
kf_status kf_t1_plan_with_room(const kf_problem *problem, const kf_config *config, size_t room,
                               kf_backend *backend, kf_plan **plan, kf_error *error);
/* Downloads an output of the plan: into *values, which has room for all of it, or, where it is NULL, into
 * memory that the caller frees. */
kf_status kf_t1_download(kf_plan *plan, int argument, void **values, kf_error *error);
size_t kf_t1_count_of(const kf_plan *plan, int argument);
/* Uploads bytes of an argument, from that one on; those behind its end are its guard. */
kf_status kf_t1_upload(kf_plan *plan, int argument, size_t offset, const void *data, size_t bytes,
                       kf_error *error);

/* Holds what a whole run keeps of the arguments: `buffers` are their values before a launch, on the
 * device; `outputs` are what launches made of them, on the host, KF_T1_FIRST of the first launch of a
 * config, KF_T1_LATEST of the latest. Pages that are new for each download take longer than the download
 * does. */
enum { KF_T1_FIRST, KF_T1_LATEST, KF_T1_KEPT };
typedef struct kf_t1_masters {
    kf_buffer *buffers[KF_T1_ROUNDS][KF_T1_ARGUMENTS];
    void *outputs[KF_T1_KEPT][KF_T1_ARGUMENTS];
} kf_t1_masters;
void kf_t1_free_masters(kf_t1_masters *masters);
/* Fills all arguments of a new plan, and their guards, with 0xFF. */
kf_status kf_t1_spoil(kf_plan *plan, kf_error *error);
/* Before a launch that is to be verified: arguments get their values of the round, and what is only written
 * is spoiled (0xFF). Asynchronous. */
kf_status kf_t1_restore(kf_plan *plan, kf_t1_masters *masters, int round, kf_error *error);
/* Puts new values into the beginning, the middle and the end of what is Random, so that no launch before had
 * such inputs. */
kf_status kf_t1_disturb(kf_plan *plan, uint64_t seed, kf_error *error);
/* KF_GATE_FAILED when the kernel wrote before or behind an argument, or to one that is ReadOnly; round: what
 * they held, -1: only guards are looked at. */
kf_status kf_t1_check(kf_plan *plan, int round, kf_error *error);

/* The file t1_source.c finds what is compiled. A kernel of one file is compiled as it is; of others a
 * source is written into the cache's folder: functions in C get an entry for the cpu backend, OpenCL
 * becomes CUDA C. */
extern const char kf_t1_plain_entry[];
kf_status kf_t1_source_file(const kf_t1_problem *problem, char path[KF_PATH], kf_error *error);
/* Adds to a compiler's error what the problem's file has to do with it. Returns error->status. */
kf_status kf_t1_explain(const kf_t1_problem *problem, kf_error *error);
/* Finds the name of the kernel that is declared from `at` on, behind the word that makes it one; *length is 0
 * where there is none. */
const char *kf_t1_kernel_behind(const char *at, size_t *length);

/* Appends the text of an OpenCL C source as CUDA C that includes kernels/t1/opencl.h (t1_opencl.c). */
void kf_t1_translate(const char *file, const char *text, kf_text *out);

/* Examines whether the reference (the reference kernel, and the default config) is of any use: it ends, is
 * finite, the same again, and reads and writes no more than its arguments (t1_examine.c). KF_BAD_INPUT
 * says which argument is too short, and what is read of it. */
kf_status kf_t1_examine(const kf_problem *problem, kf_backend *backend, kf_error *error);

/* t1_verify.c */
kf_status kf_t1_recheck(kf_plan *plan, const kf_reference *reference, double step_us, kf_error *error);
/* The problem around what is inside of one. */
kf_problem *kf_t1_wrap(kf_t1_problem *own, bool owned);
kf_status kf_t1_reference(const kf_problem *problem, int steps, kf_reference **reference, kf_error *error);
kf_status kf_t1_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                       kf_error *error);
void kf_t1_free_reference(kf_reference *reference);

#endif
