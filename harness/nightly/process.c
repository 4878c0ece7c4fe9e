/* Starts a new process for a job, and interprets its end. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/util/json.h"
#include "base/util/signals.h"
#include "base/util/text.h"
#include "harness/nightly/job.h"
#include "harness/worker/await.h"

static void fail_measurement(kf_job_end *answer, kf_state state) {
    memset(&answer->measurement, 0, sizeof answer->measurement);
    answer->measured = true;
    answer->measurement.state = state;
    answer->measurement.verification.error = (double)NAN;
    answer->measurement.verification.bound = (double)NAN;
}

/* Adds the members that are missing. */
static void complete(cJSON *json, const cJSON *standard) {
    const cJSON *item;
    cJSON_ArrayForEach(item, standard) {
        cJSON *mine = cJSON_GetObjectItemCaseSensitive(json, item->string);
        if (mine == NULL)
            (void)cJSON_AddItemToObject(json, item->string, cJSON_Duplicate(item, true));
        else if (cJSON_IsObject(mine) && cJSON_IsObject(item))
            complete(mine, item);
    }
}

/* Fills in the members that an earlier program does not know. They get empty values. */
static void complete_measurement(cJSON *json) {
    kf_measurement empty = {.kernel_count = 0};
    (void)kf_measurement_add_kernel(&empty);
    cJSON *standard = kf_measurement_to_json(&empty);
    kf_measurement_free(&empty);
    cJSON *kernel_list = cJSON_DetachItemFromObjectCaseSensitive(standard, "kernels"), *kernel;
    cJSON_ArrayForEach(kernel, cJSON_GetObjectItemCaseSensitive(json, "kernels"))
        complete(kernel, cJSON_GetArrayItem(kernel_list, 0));
    complete(json, standard);
    cJSON_Delete(kernel_list);
    cJSON_Delete(standard);
}

/* Reads the answer of a process from its output. Returns false if there is none. An answer without sense is a
 * problem. */
static bool read_answer(const char *text, kf_job_end *answer) {
    const char *line = text != NULL ? strstr(text, "{\"kftune\"") : NULL;
    cJSON *json = NULL;
    if (line == NULL || kf_json_parse("answer", line, strlen(line), &json, NULL) != KF_OK) return false;
    kf_error error = {KF_OK, ""};
    const char *scene = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "scene_hash"));
    kf_copy_text(answer->scene_hash, sizeof answer->scene_hash, scene != NULL ? scene : "");
    cJSON *measurement = cJSON_GetObjectItemCaseSensitive(json, "measurement");
    if (cJSON_IsObject(measurement)) complete_measurement(measurement);
    answer->measured = kf_measurement_from_json(measurement, &answer->measurement, &error) == KF_OK;
    if (!answer->measured)
        (void)snprintf(answer->problem, sizeof answer->problem, "the process's answer makes no sense: %.400s",
                       error.message);
    cJSON_Delete(json);
    return true;
}

/* Interprets the end of a process: an answer, the time limit, a signal, or an error message. */
static void understand(const kf_awaited *process, double limit, kf_job_end *answer) {
    if (!process->ended) {
        fail_measurement(answer, KF_STATE_TIMEOUT);
        (void)snprintf(answer->measurement.reason, sizeof answer->measurement.reason, "no answer within %g s",
                       limit);
        return;
    }
    const int status = process->status, number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && read_answer(process->out.text, answer)) return;
    if (number == SIGKILL || kf_signal_is_fault(number)) {
        fail_measurement(answer, KF_STATE_CRASH);
        (void)snprintf(answer->measurement.reason, sizeof answer->measurement.reason,
                       "the process was ended by signal %d (%s)%s", number, strsignal(number),
                       number == SIGKILL ? "; was the machine out of memory?" : "");
        return;
    }
    char line[sizeof answer->problem];
    const char *complaint = kf_awaited_complaint(process, line, sizeof line);
    if (strncmp(complaint, "kftune: ", 8) == 0) complaint += 8;
    kf_copy_text(answer->problem, sizeof answer->problem, complaint);
    answer->machine = number != 0 || WEXITSTATUS(status) == KF_MACHINE;
}

static kf_status start(const kf_program *program, const char *job, bool verify, const char *counters,
                       double limit_seconds, kf_job_end *answer, kf_error *error) {
    memset(answer, 0, sizeof *answer);
    const char *words[9] = {program->executable, "nightly", "measure", "--job", job};
    int count = 5;
    if (verify) words[count++] = "--verify";
    if (counters != NULL) {
        words[count++] = "--counters";
        words[count++] = counters;
    }
    char data[KF_PATH + 16];
    (void)snprintf(data, sizeof data, "KFTUNE_DATA=%s", program->data);
    const char *const environment[] = {data, NULL};
    const kf_await_request request = {
        .words = words, .environment = environment, .limit_seconds = limit_seconds};
    kf_awaited process;
    kf_status status = kf_await(&request, &process, error);
    if (status == KF_OK) understand(&process, limit_seconds, answer);
    kf_awaited_free(&process);
    return status;
}

kf_status kf_process_measure(const kf_program *program, const char *job, bool verify, double limit_seconds,
                             kf_job_end *answer, kf_error *error) {
    return start(program, job, verify, NULL, limit_seconds, answer, error);
}

kf_status kf_process_count(const kf_program *program, const char *job, const char *counters,
                           double limit_seconds, kf_job_end *answer, kf_error *error) {
    return start(program, job, false, counters, limit_seconds, answer, error);
}
