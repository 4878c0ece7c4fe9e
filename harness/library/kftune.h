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
    KFTUNE_NONE = 1,    /* no config passed its gate; the store knows none */
    KFTUNE_INPUT = 2,   /* the caller's input was wrong */
    KFTUNE_MACHINE = 3, /* the machine could not do it: no device, no memory, no disk */
} kftune_status;

/* Returns the version, such as "0.2.0". */
KFTUNE_API const char *kftune_version(void);
/* Returns one line on why this thread's last call failed, or "" if it did not. It is valid until the thread's
 * next call. */
KFTUNE_API const char *kftune_error(void);

/* Sends diagnostics to the function, a line at a time. NULL, as at the beginning, sends them nowhere. */
KFTUNE_API void kftune_log(void (*line)(void *context, const char *text), void *context);

/* --- Configs --- */

/* Holds one point of a space: parameters with a value each. */
typedef struct kftune_config kftune_config;
/* Gives the value of an integer or boolean (0, 1) parameter, or fallback where there is none of this name. */
KFTUNE_API int64_t kftune_integer(const kftune_config *config, const char *parameter, int64_t fallback);
/* Gives the value of a parameter whose values are names; NULL where there is none. */
KFTUNE_API const char *kftune_name(const kftune_config *config, const char *parameter);

/* --- Problems --- */

typedef struct kftune_problem kftune_problem;

typedef struct kftune_scene_options {
    size_t size;             /* sizeof(kftune_scene_options) */
    const char *system;      /* NULL: the first that runs the scene */
    int nodes[3];            /* of the domain along x, y, z; 0: as the scene says */
    double samples_per_cell; /* of the solid's surface, 1 to 1000; 0: as the scene says */
    uint64_t seed;           /* of the sampling; 0: the scene's own */
} kftune_scene_options;

/* Opens a scene file, a mesh, the name of a shipped scene, or a T1 file, whose kernel is compiled and run:
 * its name ends in .t1.json, or the system is "t1". options may be NULL. */
KFTUNE_API kftune_status kftune_open_scene(const char *source, const kftune_scene_options *options,
                                           kftune_problem **problem);

/* Describes a result of a run. It lies in memory of the host, which only the process that runs sees. */
typedef struct kftune_output {
    void *data;
    size_t bytes;
    size_t real; /* sizeof(float) or sizeof(double), if these are its values; 0: others */
} kftune_output;

/* Describes what can be run in many ways. All functions are called in child processes, one config after
 * another: prepare, then run any number of times, check after the first run, release. Each returns 0;
 * anything else means that this config cannot run here. */
typedef struct kftune_functions {
    size_t size; /* sizeof(kftune_functions) */
    void *context;
    int (*prepare)(void *context, const kftune_config *config);
    int (*run)(
        void *context); /* what is timed, by the clock: work given to a device must be over when it returns */
    /* Says how far the result of the run is from what is right, and what is accepted. A config that is off by
     * more is wrong and cannot win, however fast. */
    int (*check)(void *context, double *deviation, double *bound);
    void (*release)(void *context); /* may be NULL */

    /* The referee, for what may not do its work (docs/library.md): both of these, or neither. A size that
     * ends here leaves them out. restore puts the inputs of a seed in place (0: the usual ones), for which
     * check then says what is right. outputs names what a run only writes, at most `most`, and returns how
     * many there are; a negative number means that this config cannot run here. */
    int (*restore)(void *context, uint64_t seed);
    int (*outputs)(void *context, kftune_output *outputs, int most);
} kftune_functions;

/* Opens a problem under its name in the store, which has letters, digits, '-', '_' and '.', up to 39. The
 * space is JSON as docs/space-format.md has it; only "parameters" must be there, the presets are the
 * defaults where they are not said. functions is copied, its context is not. */
KFTUNE_API kftune_status kftune_open_functions(const char *name, const char *space,
                                               const kftune_functions *functions, kftune_problem **problem);
KFTUNE_API void kftune_close(kftune_problem *problem); /* NULL is fine */

/* --- Tuning and asking --- */

typedef struct kftune_options {
    size_t size;              /* sizeof(kftune_options) */
    const char *device;       /* "cpu", "cuda:0"; NULL: the best there is; functions: always "cpu" */
    const char *store;        /* file; NULL: the user's own, as the program's */
    const char *strategy;     /* as `kftune list strategies` has them; NULL: by the size of the space */
    const char *const *fixed; /* "parameter=value", NULL-terminated; or NULL */
    double seconds;           /* budget of wall time; 0 with evaluations 0: 60 s */
    long evaluations;         /* budget of configs; 0: no limit */
    uint64_t seed;            /* of the search; 0: 1 */
    /* These are metrics of every config and goals, as for `kftune tune`. A size that ends before them leaves
     * both out. */
    const char *const *metrics; /* "gflops=2*n/time/1e9", NULL-terminated; or NULL */
    const char *objective;      /* "max:gflops", "time,energy"; NULL: "time" */
} kftune_options;

typedef struct kftune_result kftune_result;

/* Measures and searches; every measurement is in the store as soon as it is made. */
KFTUNE_API kftune_status kftune_tune(const kftune_problem *problem, const kftune_options *options,
                                     kftune_result **result);
/* Asks the store, without measuring, for the best config of this problem on such a device or, for scenes,
 * of the one most like it (kftune_exact tells). KFTUNE_NONE: it knows nothing. */
KFTUNE_API kftune_status kftune_best(const kftune_problem *problem, const kftune_options *options,
                                     kftune_result **result);

/* Returns the best config by the objective. It lives as long as the result. */
KFTUNE_API const kftune_config *kftune_best_config(const kftune_result *result);
KFTUNE_API double kftune_time_us(const kftune_result *result); /* of a step, or of a run; microseconds */
/* Returns 1 if the config was measured for this very problem, 0 for the one most like it. */
KFTUNE_API int kftune_exact(const kftune_result *result);
/* Gives as JSON what `kftune tune --json` prints, for a tuning, and the config, for an answer of the
 * store. Lives as long as the result. */
KFTUNE_API const char *kftune_json(const kftune_result *result);
/* Writes it for `kftune run --config` (docs/best-config.md). */
KFTUNE_API kftune_status kftune_save(const kftune_result *result, const char *path);
KFTUNE_API void kftune_free(kftune_result *result); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
