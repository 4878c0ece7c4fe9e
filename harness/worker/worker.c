#include "harness/worker/worker.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/backend/team/team.h"
#include "base/util/clock.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/signals.h"
#include "base/util/text.h"
#include "harness/counters/count.h"
#include "harness/worker/child.h"
#include "harness/worker/job.h"
#include "harness/worker/message.h"
#include "harness/worker/together.h"

/* Time between two calls of idle. */
enum { IDLE_MILLISECONDS = 20 };

/* The state of waiting for a reply. */
typedef struct wait_state {
    kf_stage stage;
    double limit, ends; /* limit of this stage in seconds, and the time at which it ends */
} wait_state;

struct kf_worker {
    kf_worker_setup setup;
    char device[64];
    pid_t process; /* 0: none is running */
    int socket;
    kf_inbox inbox;
    int starts, jobs; /* number of started processes; number of configs that the present one was given */
    kf_job job;       /* the last */
    double deadline;  /* of that */
    wait_state wait;
};

/* --- The child ----------------------------------------------------------------------------------------- */

static void report_stage(void *context, kf_stage stage) {
    cJSON *message = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(message, "stage", stage);
    (void)kf_message_send(*(const int *)context, message);
}

/* Does one job. Returns false if this process can do no more. */
static bool serve_job(const kf_worker_setup *setup, kf_backend *backend, int socket, const cJSON *request) {
    kf_job job;
    kf_error error = {KF_OK, ""};
    kf_measurement measurement;
    bool usable = true;
    kf_status status = kf_job_from_json(request, &job, &error);
    if (status == KF_OK) {
        const kf_setting *setting = job.other > 0 ? &setup->others[job.other - 1] : &setup->setting;
        status = kf_evaluate(setting, backend, &job, report_stage, &socket, &measurement, &usable, &error);
    } else {
        memset(&measurement, 0, sizeof measurement);
        measurement.state = KF_STATE_INVALID;
        kf_copy_text(measurement.reason, sizeof measurement.reason, error.message);
    }
    cJSON *reply = cJSON_CreateObject();
    (void)cJSON_AddItemToObject(reply, "measurement", kf_measurement_to_json(&measurement));
    (void)cJSON_AddBoolToObject(reply, "usable", usable);
    if (status == KF_HOST) (void)cJSON_AddStringToObject(reply, "fault", error.message);
    kf_measurement_free(&measurement);
    return kf_message_send(socket, reply) && usable;
}

/* The worker's process: opens the device, sends a first message, and does jobs until the connection closes or
 * the device cannot be used any more. */
static void serve(const kf_worker_setup *setup, int socket) {
    kf_error error = {KF_OK, ""};
    kf_backend *backend = NULL;
    if (setup->setting.counters != NULL) kf_counting_prepare();
    kf_status status = kf_backend_open(setup->device, &backend, &error);
    cJSON *hello = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(hello, "status", status);
    (void)cJSON_AddStringToObject(hello, "message", error.message);
    bool running = kf_message_send(socket, hello) && status == KF_OK;
    kf_inbox inbox = {0};
    cJSON *request = NULL;
    while (running && kf_message_receive(socket, &inbox, -1, &request) == KF_RECEIVED) {
        running = serve_job(setup, backend, socket, request);
        cJSON_Delete(request);
    }
    kf_inbox_free(&inbox);
}

/* --- The driver's side ---------------------------------------------------------------------------------- */

/* Stops a worker. If status is not NULL, its connection had closed, and *status says how it ended. */
static void stop_worker(kf_worker *worker, int *status) {
    enum { PATIENCE_SECONDS = 2 };
    if (worker->process == 0) return;
    (void)close(worker->socket);
    kf_child_end(worker->process, status != NULL ? PATIENCE_SECONDS : 0.0, status);
    kf_inbox_free(&worker->inbox);
    worker->process = 0;
}

/* Waits for the worker's first message, which says whether it opened the device. */
static kf_status await_hello(kf_worker *worker, kf_error *error) {
    enum { START_SECONDS = 120 }; /* making a CUDA context can take long on a busy machine with many GPUs */
    double deadline = kf_clock_seconds() + START_SECONDS;
    cJSON *hello = NULL;
    kf_receipt receipt = KF_RECEIPT_NOTHING;
    while (receipt == KF_RECEIPT_NOTHING && kf_clock_seconds() < deadline && !kf_interrupted) {
        receipt = kf_message_receive(worker->socket, &worker->inbox, IDLE_MILLISECONDS, &hello);
        if (worker->setup.idle != NULL) worker->setup.idle(worker->setup.context);
    }
    if (kf_interrupted) {
        cJSON_Delete(hello);
        return kf_fail(error, KF_INTERRUPTED, "interrupted while the device was opened");
    }
    if (receipt == KF_RECEIPT_NOTHING)
        return kf_fail(error, KF_MACHINE, "the device did not open within %d s", START_SECONDS);
    if (receipt == KF_RECEIPT_END)
        return kf_fail(error, KF_MACHINE, "the worker process died while it opened the device");
    const cJSON *said = cJSON_GetObjectItemCaseSensitive(hello, "status");
    const char *words = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(hello, "message"));
    kf_status status = KF_MACHINE;
    if (cJSON_IsNumber(said) && words != NULL && kf_is_status(said->valueint))
        status = (kf_status)said->valueint;
    if (status != KF_OK)
        (void)kf_fail(error, status, "%s", words != NULL ? words : "the worker's answer is invalid");
    cJSON_Delete(hello);
    return status;
}

/* Starts a worker in its own process and waits for its first message. The child leaves with _exit(), because
 * buffers and exit handlers belong to the driver. */
static kf_status start_worker(kf_worker *worker, kf_error *error) {
    int socket = -1;
    pid_t process = kf_child_fork_connected(&socket, error);
    if (process < 0) return KF_MACHINE;
    if (process == 0) {
        serve(&worker->setup, socket);
        /* The process must use _exit(), because buffers and exit handlers belong to the driver. */
        _exit(KF_OK);
    }
    worker->process = process;
    worker->socket = socket;
    worker->starts++;
    worker->jobs = 0;
    kf_status status = await_hello(worker, error);
    if (status != KF_OK) stop_worker(worker, NULL);
    return status;
}

kf_status kf_worker_open(const kf_worker_setup *setup, kf_worker **worker, kf_error *error) {
    kf_worker *made = kf_allocate_zeroed(1, sizeof *made);
    made->setup = *setup;
    if (setup->device != NULL) {
        kf_copy_text(made->device, sizeof made->device, setup->device);
        made->setup.device = made->device;
    }
    kf_status status = made->setup.together == NULL ? start_worker(made, error) : KF_OK;
    if (status != KF_OK) {
        free(made);
        made = NULL;
    }
    *worker = made;
    return status;
}

int kf_worker_starts(const kf_worker *worker) {
    return worker->starts;
}

void kf_worker_close(kf_worker *worker) {
    if (worker == NULL) return;
    stop_worker(worker, NULL);
    free(worker);
}

/* --- One measurement ------------------------------------------------------------------------------------ */

static void no_measurement(kf_measurement *m, kf_state state) {
    memset(m, 0, sizeof *m);
    m->state = state;
    m->verification.error = (double)NAN;
    m->verification.bound = (double)NAN;
}

/* Records a crash. A worker without memory on the host prints that and exits (kf_allocate), or is killed.
 * While it compiles, its config has not allocated any memory yet. */
static kf_status record_crash(kf_worker *worker, kf_stage stage, kf_measurement *m, kf_error *error) {
    int status = 0;
    stop_worker(worker, &status);
    no_measurement(m, KF_STATE_CRASH);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        return kf_fail(error, KF_HOST, "the worker process was ended while %s: its processor time is limited",
                       kf_stage_names[stage]);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && stage == KF_STAGE_COMPILE;
    if (killed || (WIFEXITED(status) && WEXITSTATUS(status) == KF_MACHINE))
        return kf_fail(error, KF_HOST, "the worker process was ended while %s: the machine is out of memory",
                       kf_stage_names[stage]);
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL && !kf_signal_is_fault(WTERMSIG(status)))
        return kf_fail(error, KF_HOST, "another process ended the worker by signal %d (%s) while %s",
                       WTERMSIG(status), strsignal(WTERMSIG(status)), kf_stage_names[stage]);
    if (WIFSIGNALED(status))
        (void)snprintf(m->reason, sizeof m->reason, "the worker was ended by signal %d (%s) while %s%s",
                       WTERMSIG(status), strsignal(WTERMSIG(status)), kf_stage_names[stage],
                       WTERMSIG(status) == SIGKILL ? "; was the machine out of memory?" : "");
    else
        (void)snprintf(m->reason, sizeof m->reason, "the worker exited with status %d while %s",
                       WEXITSTATUS(status), kf_stage_names[stage]);
    return KF_OK;
}

static void record_timeout(kf_worker *worker, kf_stage stage, double limit, kf_measurement *m) {
    stop_worker(worker, NULL);
    no_measurement(m, KF_STATE_TIMEOUT);
    (void)snprintf(m->reason, sizeof m->reason, "no answer within %g s while %s", limit,
                   kf_stage_names[stage]);
}

static void enter_stage(kf_worker *worker, kf_stage stage) {
    wait_state *wait = &worker->wait;
    /* Verifying and measuring share a limit, which does not include the time for which others had the device.
     */
    const bool begins = wait->stage == KF_STAGE_COMPILE || wait->stage == KF_STAGE_WAIT;
    const bool waits = stage == KF_STAGE_WAIT;
    if (stage == wait->stage || (!begins && !waits)) {
        wait->stage = stage;
        return;
    }
    wait->stage = stage;
    wait->limit = waits ? (double)INFINITY : worker->setup.limit_seconds;
    wait->ends = kf_clock_seconds() + wait->limit;
}

/* Takes the reply, or the fault of the host that prevented one. */
static kf_status take_reply(kf_worker *worker, const cJSON *message, kf_measurement *m, kf_error *error) {
    kf_error senseless = {KF_OK, ""};
    const char *fault = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(message, "fault"));
    if (fault != NULL) return kf_fail(error, KF_HOST, "%s", fault);
    const cJSON *json = cJSON_GetObjectItemCaseSensitive(message, "measurement");
    if (kf_measurement_from_json(json, m, &senseless) != KF_OK) {
        no_measurement(m, KF_STATE_CRASH);
        (void)kf_fail_context(&senseless, "the worker's answer is invalid");
        kf_copy_text(m->reason, sizeof m->reason, senseless.message);
    }
    if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(message, "usable"))) stop_worker(worker, NULL);
    return KF_OK;
}

/* Returns whether the message only reported the worker's stage. */
static bool take_stage(kf_worker *worker, const cJSON *message) {
    const cJSON *stage = cJSON_GetObjectItemCaseSensitive(message, "stage");
    if (!cJSON_IsNumber(stage)) return false;
    if (stage->valueint >= 0 && stage->valueint < KF_STAGES) enter_stage(worker, (kf_stage)stage->valueint);
    return true;
}

/* Looks once for the worker's reply; *ended: it has arrived, or it never will. */
static kf_status look_for_reply(kf_worker *worker, int milliseconds, bool *ended, kf_outcome *outcome,
                                kf_measurement *m, kf_error *error) {
    cJSON *message = NULL;
    *ended = true;
    *outcome = KF_MEASURED;
    const kf_receipt receipt = kf_message_receive(worker->socket, &worker->inbox, milliseconds, &message);
    if (receipt == KF_RECEIVED) {
        *ended = !take_stage(worker, message);
        const kf_status status = *ended ? take_reply(worker, message, m, error) : KF_OK;
        cJSON_Delete(message);
        return status;
    }
    /* A signal that interrupts the run may have ended its worker, too. */
    if (receipt == KF_RECEIPT_END && !kf_interrupted)
        return record_crash(worker, worker->wait.stage, m, error);
    const double now = kf_clock_seconds();
    if (kf_interrupted || (worker->deadline > 0.0 && now >= worker->deadline)) {
        stop_worker(worker, NULL);
        *outcome = KF_ABANDONED;
    } else if (now >= worker->wait.ends) {
        record_timeout(worker, worker->wait.stage, worker->wait.limit, m);
    } else {
        *ended = false;
    }
    return KF_OK;
}

/* Gives the worker a job. If it died since its last answer, a new one gets it. */
static kf_status give_job(kf_worker *worker, const kf_job *job, kf_error *error) {
    if (worker->process == 0 || !kf_message_send(worker->socket, kf_job_to_json(job))) {
        stop_worker(worker, NULL);
        KF_TRY(start_worker(worker, error));
        if (!kf_message_send(worker->socket, kf_job_to_json(job)))
            return kf_fail(error, KF_MACHINE, "the worker process died at once, before its first config");
    }
    worker->jobs++;
    return KF_OK;
}

kf_status kf_worker_give(kf_worker *worker, const kf_job *job, double deadline, kf_error *error) {
    if (kf_interrupted) return kf_fail(error, KF_INTERRUPTED, "interrupted");
    KF_TRY(give_job(worker, job, error));
    worker->job = *job;
    worker->deadline = deadline;
    worker->wait = (wait_state){.stage = KF_STAGE_COMPILE, .limit = worker->setup.compile_limit_seconds};
    worker->wait.ends = kf_clock_seconds() + worker->wait.limit;
    return KF_OK;
}

kf_status kf_worker_poll(kf_worker *worker, int milliseconds, bool *ended, kf_outcome *outcome,
                         kf_measurement *measurement, kf_error *error) {
    no_measurement(measurement, KF_STATE_CRASH);
    KF_TRY(look_for_reply(worker, milliseconds, ended, outcome, measurement, error));
    /* Earlier configs may have leaked memory, so a new process decides whether this config needs too much. */
    if (!*ended || *outcome != KF_MEASURED || measurement->state != KF_STATE_OUT_OF_MEMORY ||
        worker->jobs == 1)
        return KF_OK;
    kf_measurement_free(measurement);
    no_measurement(measurement, KF_STATE_CRASH);
    *ended = false;
    const kf_job again = worker->job;
    const kf_status status = kf_worker_give(worker, &again, worker->deadline, error);
    if (status != KF_INTERRUPTED) return status;
    *ended = true;
    *outcome = KF_ABANDONED;
    return KF_OK;
}

kf_status kf_worker_measure(kf_worker *worker, const kf_job *job, double deadline,
                            void (*idle)(void *context), void *context, kf_outcome *outcome,
                            kf_measurement *measurement, kf_error *error) {
    no_measurement(measurement, KF_STATE_CRASH);
    *outcome = KF_ABANDONED;
    if (worker->setup.together != NULL) {
        if (kf_interrupted || (deadline > 0.0 && kf_clock_seconds() >= deadline)) return KF_OK;
        *outcome = KF_MEASURED;
        return kf_together_measure(&worker->setup, job, measurement, error);
    }
    const kf_status status = kf_worker_give(worker, job, deadline, error);
    if (status == KF_INTERRUPTED) return KF_OK;
    KF_TRY(status);
    for (bool ended = false; !ended;) {
        KF_TRY(kf_worker_poll(worker, IDLE_MILLISECONDS, &ended, outcome, measurement, error));
        if (!ended && idle != NULL) idle(context);
    }
    return KF_OK;
}

/* --- Asking what a device is ---------------------------------------------------------------------------- */

static kf_status describe_device(const void *context, void *answer, kf_error *error) {
    kf_backend *backend = NULL;
    KF_TRY(kf_backend_open(context, &backend, error));
    *(kf_device_info *)answer = *kf_backend_device(backend);
    return KF_OK;
}

kf_status kf_device_probe(const char *device, kf_device_info *info, kf_error *error) {
    return kf_child_run("opening the device", describe_device, device, info, sizeof *info, error);
}
