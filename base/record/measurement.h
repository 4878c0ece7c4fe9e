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
    KF_STATE_INVALID, /* it cannot be launched: too many threads or registers, or a limit of the device */
    KF_STATE_COMPILE,
    KF_STATE_OUT_OF_MEMORY,
    KF_STATE_SKIPPED, /* clearly slower than the best, so its timing was not finished */
    KF_STATES
} kf_state;
extern const char *const kf_state_names[KF_STATES]; /* "ok", "wrong_result", "crash", ... */

typedef enum kf_stop { KF_STOP_PRECISE, KF_STOP_SAMPLES, KF_STOP_TIME, KF_STOPS } kf_stop;
extern const char *const kf_stop_names[KF_STOPS]; /* why timing ended: "precise", "samples", "time" */

/* The clock of the multiprocessors while samples were taken. */
typedef enum kf_clock_state {
    KF_CLOCK_UNKNOWN,  /* it cannot be read */
    KF_CLOCK_STEADY,   /* at most a fifth of the samples ran at a clock other than their median */
    KF_CLOCK_UNSTEADY, /* more of them did, also after a pause */
    KF_CLOCK_STATES
} kf_clock_state;
extern const char *const kf_clock_state_names[KF_CLOCK_STATES]; /* "unknown", "steady", "unsteady" */

/* Content of the last-level cache when a sample begins. */
typedef enum kf_cache_policy {
    KF_CACHE_STEADY, /* whatever the step before left there, as in a production run */
    KF_CACHE_COLD,   /* nothing of the plan */
    KF_CACHE_HOT,    /* what the same steps left there just before, run from the same state */
    KF_CACHE_POLICIES
} kf_cache_policy;
extern const char *const kf_cache_policy_names[KF_CACHE_POLICIES]; /* "steady", "cold", "hot" */

/* A row of the table of kernels: a kernel, a library call or a copy. For a team, whose parts work at the same
 * time, it has the time and the launches of the slowest part, and the bytes and flops of all. Their quotient
 * is the team's rate. */
typedef struct kf_kernel_time {
    char name[48];
    kf_summary time_us; /* of one launch */
    double fastest_us;  /* for a team: the median of its fastest part; 0 for a single part */
    /* 1; less if it is due only at some steps, more if items share the name. */
    double launches_per_step;
    double bytes, flops; /* of one launch: least bytes moved, floating-point operations */
    /* Registers and spilled bytes of a thread; shared memory (static and dynamic) and threads of a block. 0
     * where they are not known: on the cpu, for kernels of libraries, in rows of earlier versions. */
    int registers, spill_bytes, shared_bytes, block_threads;
    double theoretical_occupancy; /* 0..1; NAN where it is not known */
    /* The limit of the number of resident blocks: "registers", "shared memory", "threads", "blocks"; "" on
     * the cpu. */
    char occupancy_limit[16];
} kf_kernel_time;

/* The value of a hardware counter, or one computed from several. */
typedef struct kf_counter {
    char kernel[48]; /* as in the table of kernels; "": the whole step */
    char metric[48];
    char unit[16]; /* "B", "%", "1" for a pure number */
    double value;
    int passes; /* runs that were needed to count it */
} kf_counter;

/* The value of a metric of the user (base/record/user_metrics.h); NAN: it could not be computed. */
enum { KF_USER_METRIC_NAME = 48 };
typedef struct kf_user_value {
    char name[KF_USER_METRIC_NAME];
    double value;
} kf_user_value;

typedef struct kf_measurement {
    kf_state state;
    char reason[512];             /* empty only in state ok */
    kf_verification verification; /* error is NAN if the check was not reached */

    kf_summary step_us; /* of a whole time step; valid only in state ok */
    double *samples_us; /* every sample of the whole step, in order; owned */
    size_t sample_count;
    int batch;     /* steps of one sample */
    double effort; /* share of the usual measuring time, in (0, 1] */
    /* The plan's window_steps (a full turn of the solid), over which the samples are spread. */
    int window_steps;
    /* The plan's windows: a sample has batch / windows steps in each window, which begin at the shift of
     * kf_policy_shift; 0: none. */
    int windows;
    kf_stop stop;
    kf_cache_policy cache;
    /* The clock during each sample, NAN where it could not be read; NULL: no sample has one; owned. */
    double *clocks_mhz;
    double clock_mhz; /* their median; 0: not known */
    kf_clock_state clock_state;
    char outliers[128];         /* how many samples lie far off, with the likely cause; "": none */
    double energy_j;            /* of one time step; 0: not known */
    double updates_per_us;      /* units that a step updates (kf_system.update), per microsecond */
    double effective_bandwidth; /* least bytes of a step / its time, bytes/s */

    kf_kernel_time *kernels; /* owned */
    int kernel_count;

    kf_counter *counters; /* owned; never counted while timing */
    int counter_count;

    kf_user_value *user_values; /* set by the process that stores it, never sent between processes; owned */
    int user_value_count;

    double compile_seconds, verify_seconds, measure_seconds; /* wall time */
    char build_hash[KF_HASH_HEX];                            /* of all modules together */
    kf_device_state device_before, device_after;
} kf_measurement;

/* Quantities of a step that objectives and the user's expressions may name: "time" (s), "energy" (J, of the
 * whole device), "power" (W), "edp" (energy x time, J s). */
enum { KF_QUANTITIES = 4 };
extern const char *const kf_quantity_names[KF_QUANTITIES];
/* Returns the unit, " (s)" for "time"; "" where none is known. */
const char *kf_quantity_unit(const char *name);
/* Returns the value of a quantity or of a metric of the user; NAN where it is not known. */
double kf_measurement_quantity(const kf_measurement *measurement, const char *name);

/* The objective: one or several goals that a tuning run minimises or maximises. Without goals it is the time
 * of a step. */
typedef struct kf_goal {
    char name[KF_USER_METRIC_NAME]; /* name of a quantity or a metric */
    bool maximise;
} kf_goal;
enum { KF_GOALS = 4, KF_OBJECTIVE_TEXT = KF_GOALS * (KF_USER_METRIC_NAME + 5) };
typedef struct kf_objective {
    kf_goal goals[KF_GOALS];
    int count;
    bool energy; /* a goal needs the energy of a step */
} kf_objective;
bool kf_objective_is_time(const kf_objective *objective);
/* Writes the objective: "time", "max:gflops", "time,energy"; "time" if it has no goals. Returns buffer. */
char *kf_objective_text(const kf_objective *objective, char buffer[KF_OBJECTIVE_TEXT]);
/* Returns the cost of a goal, which tuning minimises: the quantity in its unit (time in us), or its inverse
 * if it is maximised. INFINITY if it is not known or not positive. */
double kf_measurement_goal_cost(const kf_measurement *measurement, const kf_goal *goal);
/* Returns the cost of an objective: the geometric mean of the costs of its goals; INFINITY if one of them
 * is. */
double kf_measurement_cost(const kf_measurement *measurement, const kf_objective *objective);
/* Returns whether costs a are lower than b in at least one goal and higher in none. b is then not on the
 * Pareto front. */
bool kf_costs_dominate(const double *a, const double *b, int goals);
/* Reads an objective's text from the store. Goals and names beyond the limits are cut off. */
void kf_objective_of_text(const char *text, kf_objective *objective);

/* Returns the value of a counter; NAN when there is none. kernel "": the whole step. */
double kf_counter_value(const kf_measurement *measurement, const char *kernel, const char *metric);
/* Returns {"gflops": 12.5}, with null for unknown values. The caller deletes it. */
cJSON *kf_user_values_to_json(const kf_user_value *values, int count);
void kf_measurement_free(kf_measurement *measurement); /* its contents */
/* Returns the kernel's time in one step: the median time of a launch times its launches. If their number was
 * not stored, it counts as one. */
double kf_kernel_step_us(const kf_kernel_time *kernel);
/* Adds a row to the table of kernels, all zero. The pointer is valid until the next row is added. */
kf_kernel_time *kf_measurement_add_kernel(kf_measurement *measurement);
/* Convert a verification's deviations to JSON and back. null becomes NAN. */
cJSON *kf_deviations_to_json(const kf_verification *verification);
kf_status kf_deviations_from_json(const cJSON *list, kf_verification *verification, kf_error *error);
cJSON *kf_measurement_to_json(const kf_measurement *measurement);
kf_status kf_measurement_from_json(const cJSON *json, kf_measurement *measurement, kf_error *error);

#endif
