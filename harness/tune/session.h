/* Holds a tuning run while it lasts: what its phases share. Internal to harness/tune. */
#ifndef KF_HARNESS_TUNE_SESSION_H
#define KF_HARNESS_TUNE_SESSION_H

#include "base/space/space.h"
#include "harness/search/strategy.h"
#include "harness/tune/knowledge.h"
#include "harness/tune/tune.h"
#include "harness/worker/builder.h"
#include "harness/worker/worker.h"

/* Holds a result of a run that is carried on. */
typedef struct kf_past {
    int tried;          /* index */
    double evaluations; /* that it counts for */
    double device_seconds;
    bool known; /* it has a cost */
    double cost;
    bool waiting; /* for the strategy to propose it again */
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
    int compilers; /* processes that it may have */
    kf_worker *worker;
    struct {
        kf_worker *worker;
        char device[32];
        int lock;
    } others[KF_MOST_DEVICES]; /* that share the search */
    int other_count;
    char *metrics;     /* text of the user's, which the run refers to; owned */
    double effort;     /* share of the usual measuring that a config gets in the search */
    int lock;          /* of the device; -1: none */
    double waited;     /* seconds, for it */
    double deadline;   /* kf_clock_seconds; 0: none */
    double search_end; /* the same, leaving time for the final; 0: none */
    int sequence;      /* of the next result in the store */
    int incumbent;     /* index in tried of the best so far; -1: none */
    kf_past *past;     /* in the order they were measured */
    int past_count, past_capacity, waiting_count;
    double waiting_evaluations, waiting_device_seconds; /* of those that are waiting */
    double evaluations;    /* measured so far, past ones included; measuring with less effort counts less */
    double device_seconds; /* verifying and measuring so far, past ones included */
    double seconds;        /* a config takes about so long, its compiling included; 0: not known yet */
    double opening;        /* the device in a worker takes about so long */
    double overhead;       /* of which neither compiling, verifying nor timing: building the plan, mostly */
    double shown;          /* when progress was shown last */
} kf_session;

/* Opens everything that needs no device. kf_session_close frees the session's parts in any case. */
kf_status kf_session_open(kf_session *session, const kf_tune_request *request, kf_tune_result *result,
                          kf_error *error);
void kf_session_close(kf_session *session);

/* Waits until no other run measures, and opens the device in a worker. */
kf_status kf_session_take_device(kf_session *session, kf_error *error);

/* These take the devices that share the search in the same way, and give them back. */
kf_status kf_session_take_others(kf_session *session, kf_error *error);
void kf_session_free_others(kf_session *session);

/* Returns seconds of the timeline at a time of kf_clock_seconds: since the command began, without waiting for
 * the device. */
double kf_session_moment(const kf_session *session, double clock_seconds);
/* Notes that a moment of the timeline has come, unless it came before. */
void kf_session_reach(const kf_session *session, double *moment);

/* Returns the index in tried of the config with this hash, or -1. */
int kf_session_find(const kf_session *session, const char *hash);

/* Gives what a result says about a config: its cost; of one that was left alone as too slow, the first
 * samples say how slow. False: nothing. */
bool kf_session_cost(const kf_session *session, const kf_measurement *measurement, double *cost);

/* Returns how a worker for this session is set up. */
kf_worker_setup kf_session_worker_setup(kf_session *session);

/* Takes a result into tried (which then owns the measurement) and updates states and incumbent; returns its
 * index. Of two results of a config, the later one stays: it was measured with more effort. */
int kf_session_note(kf_session *session, const char *role, const kf_config *config,
                    const kf_measurement *measurement);

/* Returns the share of the usual measuring that a proposal of this effort gets, and what it then counts for.
 */
double kf_session_effort(const kf_session *session, double effort);
double kf_session_evaluations(const kf_session *session, const kf_measurement *measurement);
/* Returns for how long a measurement kept the device from others. */
double kf_session_device_seconds(const kf_measurement *measurement);

/* Ends the worker and starts another. */
kf_status kf_session_fresh_worker(kf_session *session, kf_error *error);

/* Measures one config in the worker. *outcome as of kf_worker_measure. */
kf_status kf_session_measure(kf_session *session, const kf_job *job, double deadline, kf_outcome *outcome,
                             kf_measurement *measurement, kf_error *error);

/* Computes the user's metrics of a measurement, and commits it as one result. */
kf_status kf_session_store(kf_session *session, const char *role, const kf_config *config,
                           kf_measurement *measurement, kf_error *error);

/* Compiles ahead and shows progress while the session waits. context is the session. */
void kf_session_idle(void *context);
void kf_session_progress(kf_session *session, bool final);

/* These are the phases. Each ends early, with KF_OK, on Ctrl-C and when time is up. */
kf_status kf_tune_search(kf_session *session, kf_error *error);
kf_status kf_tune_final(kf_session *session, kf_error *error);
/* Makes the job of a worker for one config. The effort is that of a proposal; with may_lose the config is
 * left alone once it is seen to be far slower than the best. */
kf_job kf_tune_job(const kf_session *session, const kf_config *config, double effort, bool may_lose);
/* Stores and notes what was measured, and owns it, whatever the status; *index: where in tried. */
kf_status kf_tune_accept(kf_session *session, const char *role, const kf_config *config, kf_measurement *m,
                         int *index, kf_error *error);
/* Measures, stores and notes one config; *index: where in tried, -1 when there was no time left for it
 * (deadline as for kf_worker_measure). effort: as a proposal's. */
kf_status kf_tune_try(kf_session *session, const char *role, const kf_config *config, double effort,
                      bool may_lose, double deadline, int *index, kf_error *error);
/* Takes back, one parameter at a time, what the best config has of its own, and measures that for
 * kf_tune_explain. It needs a budget of wall time, and goes as far as time allows. */
kf_status kf_tune_take_back(kf_session *session, kf_error *error);
double kf_tune_back_seconds(double budget); /* of a budget of seconds, kept for that */
/* Measures likewise what the best would gain by values that the scene's accuracy keeps out of its space. It
 * ends the worker. */
kf_status kf_tune_alternatives(kf_session *session, kf_error *error);
/* Counts the presets and the finalists (the best where there was no final), in a worker of its own. */
kf_status kf_tune_count(kf_session *session, kf_error *error);
/* Returns the seconds the final will take, judged by what was measured so far. */
double kf_tune_final_seconds(const kf_session *session);

/* Fills best, gains and ties of the result. */
void kf_tune_choose(kf_tune_result *result);

/* Adds an evaluation, whose `eligible` starts false. */
kf_evaluation *kf_evaluations_add(kf_evaluations *list, const char *role, const kf_config *config,
                                  const kf_measurement *measurement);

#endif
