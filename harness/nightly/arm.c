/* Runs one process for an arm of a comparison: starts it, reads its answer, and stores the measurement. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/nightly/entry.h"
#include "harness/nightly/steady.h"

static const double LEAST_LIMIT_SECONDS = 600.0; /* limit for one process, compiling included */

static const double COUNTING_RUNS = 100.0; /* limit of counting, as a multiple of a run's time */

/* Records the result of a process: its time and clock, that the device throttled, or how the process failed.
 */
void kf_entry_note(kf_entry *entry, kf_arm arm, const kf_measurement *measurement, double time_us) {
    kf_arm_state *state = &entry->arms[arm];
    state->done++;
    if (measurement->state == KF_STATE_OK) {
        if (state->count < KF_NIGHT_PROCESSES) {
            state->clock_mhz[state->count] =
                measurement->clock_mhz > 0.0 ? measurement->clock_mhz : (double)NAN;
            state->time_us[state->count++] = time_us;
        }
        if (arm == KF_ARM_NIGHT && entry->build[0] == '\0')
            kf_copy_text(entry->build, sizeof entry->build, measurement->build_hash);
    } else if (measurement->state == KF_STATE_SKIPPED) {
        state->throttled++;
    } else if (arm == KF_ARM_NIGHT) {
        entry->failed = measurement->state;
        kf_copy_text(entry->failure, sizeof entry->failure, measurement->reason);
    }
}

/* Stores an answer that is a measurement of tonight's scene. */
static kf_status keep_answer(kf_nightly_session *session, kf_entry *entry, kf_arm arm,
                             const kf_program *program, const char *job, kf_job_end *answer,
                             kf_error *error) {
    entry->samples_out += kf_leave_out_throttled(&answer->measurement);
    kf_config config = entry->config;
    if (arm == KF_ARM_REFERENCE && entry->benchmark->command == NULL) {
        kf_nightly_job *old = kf_allocate(sizeof *old);
        kf_status status = kf_nightly_job_read(job, old, error);
        config = old->config;
        free(old);
        KF_TRY(status);
    }
    const char *measured = program->hash;
    /* A command is judged by its files, not by the kftune that times it. The job of an earlier night has the
     * hash of its files. */
    if (entry->benchmark->command != NULL)
        measured = arm == KF_ARM_REFERENCE && answer->measurement.build_hash[0] != '\0'
                       ? answer->measurement.build_hash
                       : entry->program;
    const kf_process_row row = {.benchmark = entry->benchmark->name,
                                .arm = arm,
                                .ordinal = entry->arms[arm].done,
                                .series = entry->series,
                                .program = measured,
                                .job = job};
    KF_TRY(kf_store_add_process(session->request->store, &session->result->night, &row, entry->opened,
                                &entry->device, &entry->run, &config, &answer->measurement, error));
    kf_entry_note(entry, arm, &answer->measurement, answer->measurement.step_us.median);
    session->result->processes++;
    return KF_OK;
}

static double limit_seconds(const kf_suite_benchmark *benchmark) {
    const kf_timed_command *command = benchmark->command;
    if (command == NULL) return fmax(LEAST_LIMIT_SECONDS, 20.0 * benchmark->seconds);
    double runs = command->warm_up + command->repeats + (command->instructions ? COUNTING_RUNS : 0.0);
    return LEAST_LIMIT_SECONDS + runs * command->timeout;
}

/* Measures in a separate process for an arm, and keeps the answer. A process without an answer, or with
 * another scene, gives the entry a problem. A lack of the machine becomes the problem of the night, so that a
 * night without results does not look like a good one. */
static kf_status measure_once(kf_nightly_session *session, kf_entry *entry, kf_arm arm, kf_error *error) {
    bool earlier = arm == KF_ARM_REFERENCE;
    const kf_program *program = earlier ? &entry->reference_program : &session->program;
    const char *job = earlier ? entry->reference_job : entry->job;
    /* The first process of the night verifies. The others run the same code. */
    bool verify = arm == KF_ARM_NIGHT && entry->arms[arm].done == 0;
    double limit = limit_seconds(entry->benchmark);
    kf_job_end *answer = kf_allocate(sizeof *answer);
    kf_progress(false, "%s: %s process %d", entry->benchmark->name, kf_arm_names[arm],
                entry->arms[arm].done + 1);
    kf_status status = kf_process_measure(program, job, verify, limit, answer, error);
    if (status == KF_OK && !answer->measured) {
        kf_copy_text(entry->problem, sizeof entry->problem, answer->problem);
        if (answer->machine && !earlier) entry->problem_status = KF_MACHINE;
    } else if (status == KF_OK && answer->scene_hash[0] != '\0' &&
               strcmp(answer->scene_hash, entry->opened->hash) != 0)
        kf_copy_text(entry->problem, sizeof entry->problem,
                     earlier ? "the earlier program makes another scene of the same file"
                             : "the scene changed while it was measured");
    else if (status == KF_OK) {
        status = keep_answer(session, entry, arm, program, job, answer, error);
    }
    if (status == KF_OK && answer->measured) kf_measurement_free(&answer->measurement);
    free(answer);
    return status;
}

/* Measures again after a device throttled, at most twice. */
kf_status kf_entry_measure(kf_nightly_session *session, kf_entry *entry, kf_arm arm, kf_error *error) {
    enum { TRIES = 3 };
    for (int i = 0; i < TRIES && entry->problem[0] == '\0'; i++) {
        const int throttled = entry->arms[arm].throttled;
        KF_TRY(measure_once(session, entry, arm, error));
        if (entry->arms[arm].throttled == throttled) break;
    }
    return KF_OK;
}
