/* The state of a tuning run, which its phases share. Internal to harness/tune. */
#ifndef KF_HARNESS_TUNE_SESSION_H
#define KF_HARNESS_TUNE_SESSION_H

#include "base/space/space.h"
#include "harness/search/strategy.h"
#include "harness/tune/knowledge.h"
#include "harness/tune/tune.h"
#include "harness/worker/builder.h"
#include "harness/worker/worker.h"

/* A result of an earlier, resumed run. */
typedef struct kf_past {
    int tried; /* index */
    double device_seconds;
    bool known; /* its cost is known */
    double cost;
    bool waiting; /* it waits until the strategy proposes it again */
} kf_past;

typedef struct kf_session {
    const kf_tune_request *request;
    kf_tune_result *result;
    bool gpu;
    kf_trial trial;
    kf_setting setting;
    kf_space *space;
    kf_strategy *strategy;
    kf_knowledge knowledge;
    kf_source_builder *builder;
    int compilers; /* number of processes for compiling */
    kf_worker *worker;
    struct {
        kf_worker *worker;
        char device[32];
        int lock;
    } others[KF_MOST_DEVICES]; /* they share the search */
    int other_count;
    char *metrics;     /* the user's texts, to which the run refers; owned */
    double effort;     /* share of the usual measuring that a config gets in the search */
    int lock;          /* the device's lock; -1: none */
    double waited;     /* seconds that the run waited for it */
    double deadline;   /* end of the budget (kf_clock_seconds); 0: none */
    double search_end; /* the same minus the time for the final; 0: none */
    int sequence;      /* of the next result in the store */
    int incumbent;     /* index in tried of the best so far; -1: none */
    kf_past *past;     /* in the order in which they were measured */
    int past_count, past_capacity, waiting_count;
    double waiting_device_seconds; /* those of waiting results */
    long evaluations;              /* measurements so far, earlier ones included */
    double device_seconds;         /* seconds of verifying and measuring so far, earlier ones included */
    double seconds;                /* approximate time of a config, compiling included; 0: not known yet */
    double opening;                /* approximate time to open the device in a worker */
    double overhead; /* the part that is not compiling, verifying or timing; mostly building the plan */
    double shown;    /* time of the last progress line */
} kf_session;

/* Opens all that needs no device. kf_session_close frees the session, also after a failure. */
kf_status kf_session_open(kf_session *session, const kf_tune_request *request, kf_tune_result *result,
                          kf_error *error);
void kf_session_close(kf_session *session);

/* Waits until no other run measures, and opens the device in a worker. */
kf_status kf_session_take_device(kf_session *session, kf_error *error);

/* These take the devices that share the search in the same way, and release them. */
kf_status kf_session_take_others(kf_session *session, kf_error *error);
void kf_session_free_others(kf_session *session);

/* Returns the moment of the timeline for a time of kf_clock_seconds: seconds since the command began, without
 * waiting for the device. */
double kf_session_moment(const kf_session *session, double clock_seconds);
/* Records a moment of the timeline when it is reached for the first time. */
void kf_session_reach(const kf_session *session, double *moment);

/* Returns the index in tried of the config with this hash, or -1. */
int kf_session_find(const kf_session *session, const char *hash);

/* Returns a config's cost by its result. For a config that was skipped as too slow it follows from the first
 * samples. Returns false if nothing is known. */
bool kf_session_cost(const kf_session *session, const kf_measurement *measurement, double *cost);

/* Returns the setup of a worker for this session. */
kf_worker_setup kf_session_worker_setup(kf_session *session);

/* Moves a result into tried, which then owns the measurement, and updates states and incumbent. Returns its
 * index. If a config has two results, the later one is kept. */
int kf_session_note(kf_session *session, const char *role, const kf_config *config,
                    const kf_measurement *measurement);

/* Returns for how long a measurement occupied the device. */
double kf_session_device_seconds(const kf_measurement *measurement);

/* Ends the worker and starts another. */
kf_status kf_session_fresh_worker(kf_session *session, kf_error *error);

/* Measures one config in the worker. *outcome is that of kf_worker_measure. */
kf_status kf_session_measure(kf_session *session, const kf_job *job, double deadline, kf_outcome *outcome,
                             kf_measurement *measurement, kf_error *error);

/* Computes the user's metrics of a measurement and commits it as one result. */
kf_status kf_session_store(kf_session *session, const char *role, const kf_config *config,
                           kf_measurement *measurement, kf_error *error);

/* Compiles ahead and shows progress while the session waits. context is the session. */
void kf_session_idle(void *context);
void kf_session_progress(kf_session *session, bool final);

/* The phases of a run. Each ends early with KF_OK on Ctrl-C and when its time is over. */
kf_status kf_tune_search(kf_session *session, kf_error *error);
kf_status kf_tune_final(kf_session *session, kf_error *error);
/* Makes the worker's job for one config. may_lose: the config is skipped once it is known to be far slower
 * than the best. */
kf_job kf_tune_job(const kf_session *session, const kf_config *config, bool may_lose);
/* Stores and records a measurement, which it then owns, whatever the status; *index: its place in tried. */
kf_status kf_tune_accept(kf_session *session, const char *role, const kf_config *config, kf_measurement *m,
                         int *index, kf_error *error);
/* Measures, stores and records one config; *index: its place in tried, or -1 if there was no time left
 * (deadline as for kf_worker_measure). */
kf_status kf_tune_try(kf_session *session, const char *role, const kf_config *config, bool may_lose,
                      double deadline, int *index, kf_error *error);
/* Undoes the best config's differences from the default, one at a time, and measures each result for
 * kf_tune_explain. It needs a budget of wall time and stops when the time is over. */
kf_status kf_tune_take_back(kf_session *session, kf_error *error);
double kf_tune_back_seconds(double budget); /* seconds of a budget that are reserved for this */
/* Measures what the best config would gain by values that the scene's accuracy forbids. It ends the worker.
 */
kf_status kf_tune_alternatives(kf_session *session, kf_error *error);
/* Counts for the presets and the finalists (for the best if there was no final) in a separate worker. */
kf_status kf_tune_count(kf_session *session, kf_error *error);
/* Estimates the seconds of the final from the measurements so far. */
double kf_tune_final_seconds(const kf_session *session);

/* Fills best, gains and ties of the result. */
void kf_tune_choose(kf_tune_result *result);

/* Adds an evaluation whose `eligible` is false. */
kf_evaluation *kf_evaluations_add(kf_evaluations *list, const char *role, const kf_config *config,
                                  const kf_measurement *measurement);

#endif
