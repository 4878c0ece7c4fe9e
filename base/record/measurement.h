/* A measurement: timings and verification of one config on one device in one tuning run. */
#ifndef KF_BASE_RECORD_MEASUREMENT_H
#define KF_BASE_RECORD_MEASUREMENT_H

#include <cjson/cJSON.h>

#include "base/plan/system.h"
#include "base/statistics/statistics.h"

typedef enum kf_state {
    KF_STATE_OK,
    KF_STATE_WRONG_RESULT,
    KF_STATE_CRASH,
    KF_STATE_TIMEOUT,
    KF_STATE_INVALID, /* cannot launch: too many threads, registers, a constraint of the device */
    KF_STATE_COMPILE,
    KF_STATE_OUT_OF_MEMORY,
    KF_STATE_SKIPPED, /* clearly slower than the best; not timed to the end */
    KF_STATES
} kf_state;
extern const char *const kf_state_names[KF_STATES]; /* "ok", "wrong_result", "crash", ... */

typedef enum kf_stop { KF_STOP_PRECISE, KF_STOP_SAMPLES, KF_STOP_TIME, KF_STOPS } kf_stop;
extern const char *const kf_stop_names[KF_STOPS]; /* why timing ended: "precise", "samples", "time" */

/* The clock of the multiprocessors while samples were taken. */
typedef enum kf_clock_state {
    KF_CLOCK_UNKNOWN,  /* it cannot be read */
    KF_CLOCK_STEADY,   /* at most a fifth of the samples ran at another clock than their median */
    KF_CLOCK_UNSTEADY, /* more of them did, also after a pause */
    KF_CLOCK_STATES
} kf_clock_state;
extern const char *const kf_clock_state_names[KF_CLOCK_STATES]; /* "unknown", "steady", "unsteady" */

/* Content of the last-level cache when a sample begins. */
typedef enum kf_cache_policy {
    KF_CACHE_STEADY, /* what the step before left there: as in a production run */
    KF_CACHE_COLD,   /* nothing of the plan */
    KF_CACHE_HOT,    /* what the same steps left there just before, from the same state */
    KF_CACHE_POLICIES
} kf_cache_policy;
extern const char *const kf_cache_policy_names[KF_CACHE_POLICIES]; /* "steady", "cold", "hot" */

/* A row of the kernel table: a kernel, a library call or a copy. Of a team's parts, which work at the same
 * time, it has the time and the launches of the slowest, and the bytes and flops of all: their quotient is
 * the team's rate. */
typedef struct kf_kernel_time {
    char name[48];
    kf_summary time_us; /* of one launch */
    double fastest_us;  /* of a team: the median of the part that is fastest; 0: of one part alone */
    double
        launches_per_step; /* 1; less where it is due only at some steps, more where items share the name */
    double bytes, flops;
    /* Registers and spills of a thread, shared memory (static and dynamic) and threads of a block; 0 where
     * they are not known: the cpu, a library's kernels, what an earlier version stored. */
    int registers, spill_bytes, shared_bytes, block_threads;
    double theoretical_occupancy; /* 0..1; NAN there */
    char occupancy_limit[16];     /* what keeps more blocks from being resident: "registers", "shared memory",
                                   * "threads", "blocks"; "" on the cpu */
} kf_kernel_time;

/* A hardware counter, or what was computed from some. */
typedef struct kf_counter {
    char kernel[48]; /* name in kernels; "": the whole step */
    char metric[48];
    char unit[16]; /* "B", "%", "1" for a pure number */
    double value;
    int passes; /* runs it took to count it */
} kf_counter;

/* This is what an expression of the user's gave (base/record/user_metrics.h); NAN: it could not be computed.
 */
enum { KF_USER_METRIC_NAME = 48 };
typedef struct kf_user_value {
    char name[KF_USER_METRIC_NAME];
    double value;
} kf_user_value;

typedef struct kf_measurement {
    kf_state state;
    char reason[512];             /* for every state but ok */
    kf_verification verification; /* error is NAN when it was not reached */

    kf_summary step_us; /* whole time step; only meaningful in state ok */
    double *samples_us; /* every sample of the whole step, in order; owned */
    size_t sample_count;
    int batch;        /* steps a sample stands for */
    double effort;    /* share of the usual measuring, in (0, 1] */
    int window_steps; /* the plan's (of a full turn of the solid), over which samples are spread */
    int windows;      /* the plan's: a sample is batch / windows steps of each, begun where seek goes with
                       * kf_policy_shift; 0: it has none */
    kf_stop stop;
    kf_cache_policy cache;
    double *clocks_mhz; /* during each sample, NAN where it could not be read; NULL: of none; owned */
    double clock_mhz;   /* their median; 0: not known */
    kf_clock_state clock_state;
    char outliers[128];         /* how many samples lie far off, and the likely cause; "": none do */
    double energy_j;            /* of one time step; 0: not known */
    double updates_per_us;      /* of what the system counts (kf_system.update) */
    double effective_bandwidth; /* least bytes a step / time, bytes/s */

    kf_kernel_time *kernels; /* owned */
    int kernel_count;

    kf_counter *counters; /* owned; never counted while timing */
    int counter_count;

    kf_user_value *user_values; /* owned; of the process that stores it, never sent */
    int user_value_count;

    double compile_seconds, verify_seconds, measure_seconds;
    char build_hash[KF_HASH_HEX]; /* of all modules together */
    kf_device_state device_before, device_after;
} kf_measurement;

/* Quantities of a step that objectives and the user's expressions may name: "time" (s), "energy" (J, of the
 * whole device), "power" (W), "edp" (energy x time, J s). */
enum { KF_QUANTITIES = 4 };
extern const char *const kf_quantity_names[KF_QUANTITIES];
/* " (s)" of "time", "" of what has no unit that is known. */
const char *kf_quantity_unit(const char *name);
/* The value of a quantity or of one of the user's metrics; NAN where it is not known. */
double kf_measurement_quantity(const kf_measurement *measurement, const char *name);

/* This is what a tuning run minimises or maximises. All zero: the time of a step. */
typedef struct kf_goal {
    char name[KF_USER_METRIC_NAME]; /* of a quantity or a metric */
    bool maximise;
} kf_goal;
enum { KF_GOALS = 4, KF_OBJECTIVE_TEXT = KF_GOALS * (KF_USER_METRIC_NAME + 5) };
typedef struct kf_objective {
    kf_goal goals[KF_GOALS];
    int count;
    bool energy; /* a goal needs the energy of a step */
} kf_objective;
bool kf_objective_is_time(const kf_objective *objective);
/* "time", "max:gflops", "time,energy"; "time" of an objective without goals. Returns buffer. */
char *kf_objective_text(const kf_objective *objective, char buffer[KF_OBJECTIVE_TEXT]);
/* The cost of one goal, which is to become small: the quantity in its unit (time in us), or, where it is to
 * become large, one over it. INFINITY where it is not known, or is not positive. */
double kf_measurement_goal_cost(const kf_measurement *measurement, const kf_goal *goal);
/* The cost of an objective: the geometric mean of its goals' costs; INFINITY where one of them is. */
double kf_measurement_cost(const kf_measurement *measurement, const kf_objective *objective);
/* Tells whether costs a are below b in one goal at least and above in none: then b is not on the front. */
bool kf_costs_dominate(const double *a, const double *b, int goals);
/* An objective as a run has it in the store; what is too long or too much is cut. */
void kf_objective_of_text(const char *text, kf_objective *objective);

/* NAN when there is none. kernel "": the whole step. */
double kf_counter_value(const kf_measurement *measurement, const char *kernel, const char *metric);
/* {"gflops": 12.5}, null for what is not known; the caller owns it. */
cJSON *kf_user_values_to_json(const kf_user_value *values, int count);
void kf_measurement_free(kf_measurement *measurement); /* its contents */
/* Returns the time of its launches in one step, the median of each; launches that were not recorded are
 * one. */
double kf_kernel_step_us(const kf_kernel_time *kernel);
/* One more row, all zero; valid until the next. */
kf_kernel_time *kf_measurement_add_kernel(kf_measurement *measurement);
/* The list of a verification's deviations, and back; a value that is null is lost. */
cJSON *kf_deviations_to_json(const kf_verification *verification);
kf_status kf_deviations_from_json(const cJSON *list, kf_verification *verification, kf_error *error);
cJSON *kf_measurement_to_json(const kf_measurement *measurement);
kf_status kf_measurement_from_json(const cJSON *json, kf_measurement *measurement, kf_error *error);

#endif
