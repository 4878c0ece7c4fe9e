/* Starting a fresh process on a job, and understanding how it ended. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/clock.h"
#include "base/util/json.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/nightly/job.h"
#include "harness/worker/child.h"

enum { LONGEST_ANSWER = 64 << 20, PATIENCE_SECONDS = 10 };

/* A pipe from the process, and what came through. */
typedef struct outlet {
    int read, write;
    kf_text text;
} outlet;

static kf_status open_outlet(outlet *out, kf_error *error) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return kf_fail(error, KF_MACHINE, "cannot make a pipe for a process: %s", strerror(errno));
    *out = (outlet){.read = ends[0], .write = ends[1]};
    return KF_OK;
}

static void close_outlet(outlet *out) {
    (void)close(out->read);
    if (out->write >= 0) (void)close(out->write);
    kf_text_free(&out->text);
}

static _Noreturn void become(const kf_program *program, const char *job, bool verify, const char *counters,
                             const outlet *out, const outlet *complaints) {
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(out->write, 1) < 0 || dup2(complaints->write, 2) < 0 ||
        setenv("KFTUNE_DATA", program->data, 1) != 0)
        _exit(KF_MACHINE);
    const char *words[9] = {program->executable, "nightly", "measure", "--job", job};
    int count = 5;
    if (verify) words[count++] = "--verify";
    if (counters != NULL) {
        words[count++] = "--counters";
        words[count++] = counters;
    }
    (void)execv(program->executable, (char *const *)words);
    (void)fprintf(stderr, "%s: cannot be started: %s\n", program->executable, strerror(errno));
    _exit(KF_MACHINE);
}

/* Reads what there is; false at the end. */
static bool collect(outlet *out) {
    char bytes[4097];
    ssize_t size = read(out->read, bytes, sizeof bytes - 1);
    if (size < 0) return errno == EINTR || errno == EAGAIN;
    if (size == 0 || out->text.length > LONGEST_ANSWER) return false;
    bytes[size] = '\0';
    kf_text_append(&out->text, "%s", bytes);
    return true;
}

/* Until both pipes are closed; false when time is up or Ctrl-C was pressed. */
static bool collect_both(outlet *out, outlet *complaints, double deadline) {
    struct pollfd waiting[] = {{.fd = out->read, .events = POLLIN},
                               {.fd = complaints->read, .events = POLLIN}};
    outlet *const outlets[] = {out, complaints};
    while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
        if (kf_interrupted || kf_clock_seconds() > deadline) return false;
        if (poll(waiting, 2, 100) < 0) continue;
        for (int i = 0; i < 2; i++)
            if (waiting[i].fd >= 0 && waiting[i].revents != 0 && !collect(outlets[i])) waiting[i].fd = -1;
    }
    return true;
}

static void fail_measurement(kf_answer *answer, kf_state state) {
    memset(&answer->measurement, 0, sizeof answer->measurement);
    answer->measured = true;
    answer->measurement.state = state;
    answer->measurement.verification.error = (double)NAN;
    answer->measurement.verification.bound = (double)NAN;
}

/* The last line, which says what was wrong. */
static void quote_complaint(const outlet *complaints, int status, char *target, size_t size) {
    char *text = complaints->text.text;
    size_t length = complaints->text.length;
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    const char *line = text != NULL ? strrchr(text, '\n') : NULL;
    line = line != NULL ? line + 1 : text;
    if (line != NULL && strncmp(line, "kftune: ", 8) == 0) line += 8;
    if (line != NULL && *line != '\0')
        kf_copy_text(target, size, line);
    else
        (void)snprintf(target, size, "the process ended with status %d and said nothing", status);
}

/* Adds what is not there. */
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

/* An earlier program knows fewer fields than this one: what it does not say stays empty. */
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

static bool read_answer(const char *text, kf_answer *answer) {
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

static void understand(int status, const outlet *out, const outlet *complaints, kf_answer *answer) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && read_answer(out->text.text, answer)) return;
    if (WIFSIGNALED(status)) {
        fail_measurement(answer, KF_STATE_CRASH);
        (void)snprintf(answer->measurement.reason, sizeof answer->measurement.reason,
                       "the process was ended by signal %d (%s)%s", WTERMSIG(status),
                       strsignal(WTERMSIG(status)),
                       WTERMSIG(status) == SIGKILL ? "; was the machine out of memory?" : "");
        return;
    }
    quote_complaint(complaints, WEXITSTATUS(status), answer->problem, sizeof answer->problem);
}

static kf_status await(pid_t child, outlet *out, outlet *complaints, double limit, kf_answer *answer,
                       kf_error *error) {
    bool ended = collect_both(out, complaints, kf_clock_seconds() + limit);
    int status = 0;
    kf_child_end(child, ended ? PATIENCE_SECONDS : 0.0, &status);
    if (kf_interrupted) return kf_fail(error, KF_INTERRUPTED, "interrupted; what was measured is kept");
    if (ended) {
        understand(status, out, complaints, answer);
    } else {
        fail_measurement(answer, KF_STATE_TIMEOUT);
        (void)snprintf(answer->measurement.reason, sizeof answer->measurement.reason, "no answer within %g s",
                       limit);
    }
    return KF_OK;
}

static kf_status start(const kf_program *program, const char *job, bool verify, const char *counters,
                       double limit_seconds, kf_answer *answer, kf_error *error) {
    memset(answer, 0, sizeof *answer);
    outlet out, complaints;
    KF_TRY(open_outlet(&out, error));
    kf_status status = open_outlet(&complaints, error);
    if (status != KF_OK) {
        close_outlet(&out);
        return status;
    }
    pid_t child = kf_child_fork(error);
    if (child == 0) become(program, job, verify, counters, &out, &complaints);
    if (child < 0) {
        status = KF_MACHINE;
    } else {
        (void)close(out.write);
        (void)close(complaints.write);
        out.write = complaints.write = -1;
        status = await(child, &out, &complaints, limit_seconds, answer, error);
    }
    close_outlet(&out);
    close_outlet(&complaints);
    return status;
}

kf_status kf_process_measure(const kf_program *program, const char *job, bool verify, double limit_seconds,
                             kf_answer *answer, kf_error *error) {
    return start(program, job, verify, NULL, limit_seconds, answer, error);
}

kf_status kf_process_count(const kf_program *program, const char *job, const char *counters,
                           double limit_seconds, kf_answer *answer, kf_error *error) {
    return start(program, job, false, counters, limit_seconds, answer, error);
}
