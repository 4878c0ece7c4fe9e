/* Libkftune does for programs what `kftune tune` does. It tunes a scene (or a T1 kernel), asks the store for
 * the best config known, and tunes what the program itself can run, given as functions.
 *
 *     kftune_problem *problem = NULL;
 *     kftune_result *result = NULL;
 *     if (kftune_open_scene("car.obj", NULL, &problem) != KFTUNE_OK ||
 *         kftune_tune(problem, NULL, &result) != KFTUNE_OK)
 *         fprintf(stderr, "%s\n", kftune_error());
 *
 * The library prints nothing, ends nothing, installs no signal handlers and works in every locale (functions
 * of the caller's are called in the caller's). Every measurement is made in a child process (fork), which
 * also calls the functions of kftune_open_functions: what crashes or hangs there costs one config. SIGCHLD
 * must not be ignored while a call runs. Calls from several threads wait for each other.
 *
 * Ownership: what a call is given need only live until it returns, unless its comment says otherwise. A call
 * that fails sets its result to NULL. Problems are freed by kftune_close, results by kftune_free; a result
 * stays valid when its problem is closed. Before either, no other thread may still use what is freed.
 *
 * What stays: functions and structs keep their meaning while the library's soname stays (libkftune.so.0);
 * structs begin with their size, so that new members at their end break nobody; 0.3 may add functions. Needs
 * kftune's data files (kernels, scenes), which lie in ../share/kftune seen from the library, or where
 * KFTUNE_DATA says. */
#ifndef KFTUNE_H
#define KFTUNE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KFTUNE_API __attribute__((visibility("default")))
#else
#define KFTUNE_API
#endif

/* These statuses are those with which the program exits. */
typedef enum kftune_status {
    KFTUNE_OK = 0,
    KFTUNE_NONE = 1,    /* no config passed its gate, or the store contains none */
    KFTUNE_INPUT = 2,   /* the caller's input was wrong */
    KFTUNE_MACHINE = 3, /* the machine could not do it: no device, no memory, no disk */
} kftune_status;

/* Returns the version, such as "0.2.0". */
KFTUNE_API const char *kftune_version(void);
/* Returns one line with the reason why this thread's last call failed; "": it succeeded. The line is valid
 * until the thread's next call. */
KFTUNE_API const char *kftune_error(void);

/* Passes diagnostics to the function, one line at a time; NULL (the default): they are dropped. A text has no
 * newline and is valid until the function returns. It may be called from any thread while a call runs. */
KFTUNE_API void kftune_log(void (*line)(void *context, const char *text), void *context);

/* --- Configs --- */

/* A point of a space: parameters with their values. */
typedef struct kftune_config kftune_config;
/* Returns the value of an integer or boolean (0, 1) parameter. fallback: there is no such parameter, or
 * config is NULL. */
KFTUNE_API int64_t kftune_integer(const kftune_config *config, const char *parameter, int64_t fallback);
/* Returns the value of a parameter whose values are names, valid as long as the config. NULL: there is no
 * such parameter, or config is NULL. */
KFTUNE_API const char *kftune_name(const kftune_config *config, const char *parameter);

/* --- Problems --- */

typedef struct kftune_problem kftune_problem;

typedef struct kftune_scene_options {
    size_t size;        /* sizeof(kftune_scene_options) */
    const char *system; /* NULL: the first system that can run the scene */
    int nodes[3];       /* along x, y, z (cells or particle spacings, as the system has it); 0: the scene's */
    double samples_per_cell; /* for each cell^2 of the solid's surface, 1 to 1000; 0: that of the scene */
    uint64_t seed;           /* of the sampling; 0: that of the scene */
} kftune_scene_options;

/* Opens a scene file, a mesh, a shipped scene by name, or a T1 file. A T1 file's name ends in .t1.json, or
 * the system is "t1"; its kernel is compiled and run. options may be NULL. */
KFTUNE_API kftune_status kftune_open_scene(const char *source, const kftune_scene_options *options,
                                           kftune_problem **problem);

/* An output of a run in host memory. Only the process that runs can read it. */
typedef struct kftune_output {
    void *data;
    size_t bytes;
    size_t real; /* sizeof(float) or sizeof(double) for such values; 0: other values */
} kftune_output;

/* Describes work that can be done in many ways. All functions are called in child processes, for one config
 * after another: prepare, then run any number of times, check after the first run and after each later one
 * that is verified, release. Each returns 0; another value means that this config cannot run here. */
typedef struct kftune_functions {
    size_t size;   /* sizeof(kftune_functions) */
    void *context; /* given to each function; it must live until kftune_close */
    /* Makes what this config needs. The config is valid until release. */
    int (*prepare)(void *context, const kftune_config *config);
    /* Does the work that is timed, by the clock on the wall. Work on a device must have ended when it
     * returns. */
    int (*run)(void *context);
    /* Sets the deviation of the result from the right one, and the largest accepted deviation, both in one
     * unit of the caller's. Neither is negative, and the bound is finite. A config that exceeds it, or whose
     * deviation is NAN, is wrong and cannot win. */
    int (*check)(void *context, double *deviation, double *bound);
    void (*release)(void *context); /* may be NULL */

    /* The referee for kernels that may not do their work (docs/library.md): both functions, or neither. A
     * `size` that ends before them leaves them out. restore sets the inputs of a seed (0: the usual ones),
     * and check then knows the right result. outputs lists at most `most` (64) arrays that a run only writes,
     * and returns their number; they are filled with bytes 0xff before a run. A negative number means that
     * this config cannot run here. */
    int (*restore)(void *context, uint64_t seed);
    int (*outputs)(void *context, kftune_output *outputs, int most);
} kftune_functions;

/* Opens a problem under its name in the store, of up to 39 letters, digits, '-', '_' and '.'. The space is
 * JSON (docs/space-format.md). Only "parameters" is required; missing presets are the default config.
 * A space that has no config on this machine's cpu is refused. `functions` is copied, its context is not. */
KFTUNE_API kftune_status kftune_open_functions(const char *name, const char *space,
                                               const kftune_functions *functions, kftune_problem **problem);
/* Frees a problem; NULL: nothing. */
KFTUNE_API void kftune_close(kftune_problem *problem);

/* --- Tuning and asking --- */

typedef struct kftune_options {
    size_t size;              /* sizeof(kftune_options) */
    const char *device;       /* "cpu", "cuda:0"; NULL: the best device; for functions always "cpu" */
    const char *store;        /* a file; NULL: the user's store, as for the program */
    const char *strategy;     /* a name of `kftune list strategies`; NULL: the size of the space decides */
    const char *const *fixed; /* "parameter=value", NULL-terminated; or NULL */
    double seconds;           /* limit of wall time, below 1e8; 0 with evaluations 0: 60 s */
    long evaluations;         /* limit of configs, where seconds is 0; 0: none */
    uint64_t seed;            /* of the search; 0 means 1 */
    /* Metrics of every config, and goals, as for `kftune tune`. A `size` that ends before them leaves both
     * out. */
    const char *const *metrics; /* "gflops=2*n/time/1e9", NULL-terminated; or NULL */
    const char *objective;      /* "max:gflops", "time,energy"; NULL: "time" */
} kftune_options;

typedef struct kftune_result kftune_result;

/* Searches and measures. Every measurement is stored as soon as it is made. KFTUNE_NONE: no config passed its
 * gate. */
KFTUNE_API kftune_status kftune_tune(const kftune_problem *problem, const kftune_options *options,
                                     kftune_result **result);
/* Returns the best stored config for this problem on such a device, without measuring. For scenes it may be
 * that of the most similar one (kftune_exact). KFTUNE_NONE: the store contains none. */
KFTUNE_API kftune_status kftune_best(const kftune_problem *problem, const kftune_options *options,
                                     kftune_result **result);

/* Returns the best config by the objective. It is valid as long as the result. */
KFTUNE_API const kftune_config *kftune_best_config(const kftune_result *result);
/* Returns the median time of a step of a scene, a launch of a T1 kernel or a run of functions, in
 * microseconds. Of a config of the most similar scene it is that scene's. */
KFTUNE_API double kftune_time_us(const kftune_result *result);
/* Returns 1 if the config was measured for this problem, 0 if it is that of the most similar one. */
KFTUNE_API int kftune_exact(const kftune_result *result);
/* Returns JSON: for a tuning what `kftune tune --json` prints, for an answer of the store the config. It is
 * valid as long as the result. */
KFTUNE_API const char *kftune_json(const kftune_result *result);
/* Writes the config for `kftune run --config` (docs/best-config.md). The file appears whole or not at all. */
KFTUNE_API kftune_status kftune_save(const kftune_result *result, const char *path);
/* Frees a result; NULL: nothing. */
KFTUNE_API void kftune_free(kftune_result *result);

#ifdef __cplusplus
}
#endif

#endif
