/* The command kftune judge compares kernels that a person or a model wrote with a problem's reference and
 * baseline. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/backend/device_json.h"
#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "harness/cli/problem_argument.h"
#include "harness/worker/worker.h"
#include "solver/systems.h"

static const kf_option options[] = {
    {"--problem", "FILE", "the T1 file of the problem that candidates must solve", KF_TEXT},
    KF_DEVICE_OPTION,
    {"--grid", "NXxNY[xNZ]", "size in place of the file's ProblemSize", KF_CHECKED(kf_value_grid)},
    {"--metric", "NAME=EXPRESSION",
     "compute this of every candidate, as kftune tune does; gflops=2*n/time/1e9", KF_TEXTS},
    {NULL, NULL, NULL, KF_FLAG},
};

static const double LIMIT_SECONDS = 60.0, COMPILE_LIMIT_SECONDS = 300.0;

typedef struct verdict {
    char file[KF_PATH];
    kf_measurement m; /* owned */
} verdict;

typedef struct judgement {
    const kf_arguments *arguments;
    const char *problem_file;
    kf_device_info device;
    kf_user_metrics metrics;
    kf_measurement baseline; /* owned */
    char name[KF_NAME];      /* the problem's name */
    verdict *verdicts;
    int count, room;
} judgement;

/* --- Candidates ------------------------------------------------------------------------------------------
 */

static void add_candidate(judgement *j, const char *file) {
    if (j->count == j->room) {
        j->room = j->room > 0 ? 2 * j->room : 16;
        j->verdicts = kf_reallocate(j->verdicts, (size_t)j->room * sizeof *j->verdicts);
    }
    verdict *made = &j->verdicts[j->count++];
    memset(made, 0, sizeof *made);
    kf_copy_text(made->file, sizeof made->file, file);
}

static int is_source(const struct dirent *entry) {
    static const char *const endings[] = {".cu", ".c", ".cpp", ".cc", ".cl"};
    const char *dot = strrchr(entry->d_name, '.');
    for (size_t i = 0; i < sizeof endings / sizeof *endings && dot != NULL; i++)
        if (strcmp(dot, endings[i]) == 0) return 1;
    return 0;
}

/* Adds a file, or all sources in a folder, sorted by name. */
static kf_status add_candidates(judgement *j, const char *path, kf_error *error) {
    struct stat status;
    struct dirent **entries = NULL;
    char file[KF_PATH];
    if (stat(path, &status) != 0) return kf_fail(error, KF_BAD_INPUT, "%s: is not there", path);
    if (!S_ISDIR(status.st_mode)) {
        add_candidate(j, path);
        return KF_OK;
    }
    const int count = scandir(path, &entries, is_source, alphasort);
    if (count < 0)
        return kf_fail(error, kf_errno_status(errno), "%s: cannot be listed: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (kf_path(file, NULL, "%s/%s", path, entries[i]->d_name) == KF_OK) add_candidate(j, file);
        free(entries[i]);
    }
    free(entries);
    if (count > 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: contains no file with the ending .cu, .c, .cpp, .cc or .cl",
                   path);
}

/* --- Measuring -------------------------------------------------------------------------------------------
 */

/* Measures the default config of the problem, or of a candidate that replaces its kernel. A fault of the
 * machine ends the run; a fault of the kernel is recorded in *m. With `examine` the problem itself is checked
 * first. */
static kf_status measure(judgement *j, const kf_problem *problem, bool examine, kf_measurement *m,
                         kf_error *error) {
    kf_user_metrics *metrics = &j->metrics;
    kf_trial trial;
    kf_space *space = NULL;
    kf_worker *worker = NULL;
    kf_job job = {.examine = examine, .verify = true};
    kf_outcome outcome = KF_ABANDONED;
    kf_status status = kf_trial_open(problem, &trial, error);
    if (status == KF_OK) status = kf_trial_refer(&trial, error);
    if (status == KF_OK) status = kf_problem_space(problem, &j->device, NULL, 0, &space, error);
    if (status == KF_OK) status = kf_space_preset(space, "default", &job.config, error);
    if (status == KF_OK && kf_user_metrics_check(metrics, problem, space, NULL, 0, error) != KF_OK)
        status = kf_fail_context(error, "option '--metric'");
    const kf_worker_setup setup = {
        .setting = {.problem = problem, .trial = &trial, .energy = kf_user_metrics_need_energy(metrics)},
        .device = j->device.spec,
        .limit_seconds = LIMIT_SECONDS,
        .compile_limit_seconds = COMPILE_LIMIT_SECONDS};
    if (status == KF_OK) status = kf_worker_open(&setup, &worker, error);
    if (status == KF_OK) status = kf_worker_measure(worker, &job, 0.0, NULL, NULL, &outcome, m, error);
    if (status == KF_OK && outcome == KF_ABANDONED) status = kf_fail(error, KF_INTERRUPTED, "interrupted");
    if (status == KF_OK) kf_user_metrics_compute(metrics, problem, &job.config, m, NULL);
    kf_worker_close(worker);
    kf_space_free(space);
    if (trial.problem != NULL) kf_trial_close(&trial);
    return status;
}

static kf_status open_problem(const judgement *j, const char *candidate, kf_problem **problem,
                              kf_error *error) {
    const kf_problem_options known = {.seed = 0, .candidate = candidate};
    kf_problem_options with_size = known;
    KF_TRY(kf_argument_grid(j->arguments, "--grid", with_size.nodes, error));
    KF_TRY(kf_problem_open(j->problem_file, "t1", &with_size, problem, error));
    const kf_status status = (*problem)->system->accepts_device(*problem, &j->device, error);
    if (status == KF_OK) return KF_OK;
    kf_problem_free(*problem);
    *problem = NULL;
    return status;
}

/* Checks and times the baseline. If the baseline is wrong, no verdict on a candidate means anything. */
static kf_status measure_baseline(judgement *j, kf_error *error) {
    kf_problem *problem = NULL;
    kf_measurement examined = {.state = KF_STATE_OK};
    KF_TRY(open_problem(j, NULL, &problem, error));
    kf_problem_print_notes(problem);
    kf_copy_text(j->name, sizeof j->name, problem->name);
    kf_status status = measure(j, problem, true, &examined, error);
    if (status == KF_OK && examined.state != KF_STATE_OK)
        status = kf_fail(error, KF_BAD_INPUT, "%s", examined.reason);
    kf_measurement_free(&examined);
    if (status == KF_OK) status = measure(j, problem, false, &j->baseline, error);
    if (status == KF_OK && j->baseline.state != KF_STATE_OK)
        status = kf_fail(error, KF_BAD_INPUT, "%s: the problem's own kernel is %s: %s", j->problem_file,
                         kf_state_names[j->baseline.state], j->baseline.reason);
    kf_problem_free(problem);
    return status;
}

/* Judges a candidate. A file that cannot be read as a candidate is refused, unless the machine is at fault.
 */
static kf_status judge(judgement *j, verdict *v, kf_error *error) {
    kf_problem *problem = NULL;
    kf_error reason = {KF_OK, ""};
    if (open_problem(j, v->file, &problem, &reason) != KF_OK) {
        if (reason.status == KF_HOST) return kf_fail(error, KF_HOST, "%s", reason.message);
        v->m.state = KF_STATE_INVALID;
        kf_copy_text(v->m.reason, sizeof v->m.reason, reason.message);
        return KF_OK;
    }
    const kf_status status = measure(j, problem, false, &v->m, error);
    kf_problem_free(problem);
    return status;
}

/* --- Telling ---------------------------------------------------------------------------------------------
 */

/* Names the check that refused a candidate. The name follows from the reason (docs/gate.md), otherwise from
 * the state. */
static const char *check_of(const kf_measurement *m) {
    static const char *const checks[][2] = {{"another seed", "other_inputs"},
                                            {"few inputs that are not zero", "precision"},
                                            {"at another size", "other_size"},
                                            {"after it was timed", "after_timing"},
                                            {"does less when", "repeated_launches"},
                                            {"remembers its inputs", "new_inputs"},
                                            {"faster than the machine", "machine"},
                                            {"which is ReadOnly", "inputs"},
                                            {"writes past", "guard"},
                                            {"writes before", "guard"},
                                            {"wrote out of bounds", "guard"},
                                            {"of its own when it returns", "threads"},
                                            {"nondeterministic", "repeatability"},
                                            {"deviates", "reference"}};
    if (m->state == KF_STATE_OK) return "";
    for (size_t i = 0; i < sizeof checks / sizeof *checks && m->state == KF_STATE_WRONG_RESULT; i++)
        if (strstr(m->reason, checks[i][0]) != NULL) return checks[i][1];
    return kf_state_names[m->state];
}

/* Returns the measured bandwidth as a share of the memory's peak; NAN: the peak is not known. */
static double roof_share(const judgement *j, const kf_measurement *m) {
    return j->device.peak_bandwidth > 0.0 ? m->effective_bandwidth / j->device.peak_bandwidth : (double)NAN;
}

/* Prints the verdict on a candidate: the reason why it was refused, or its time beside that of the problem's
 * own kernel. */
static void print_verdict(const judgement *j, const verdict *v) {
    const kf_measurement *m = &v->m;
    char time[32], low[32], high[32], share[32] = "";
    if (m->state != KF_STATE_OK) {
        printf("%s: refused (%s): %s\n", v->file, check_of(m), m->reason);
        return;
    }
    if (isfinite(roof_share(j, m)))
        (void)snprintf(share, sizeof share, ", %.0f %% of the memory's", 100.0 * roof_share(j, m));
    printf("%s: right, %s a launch (%s to %s), %.2f times as fast as the problem's own, %.1f GB/s%s\n",
           v->file, kf_human_time_us(m->step_us.median, time), kf_human_time_us(m->step_us.low, low),
           kf_human_time_us(m->step_us.high, high), j->baseline.step_us.median / m->step_us.median,
           1e-9 * m->effective_bandwidth, share);
    if (m->verification.repeated && m->verification.spread > 0.0)
        printf("    nondeterministic: two launches from equal inputs differ by %.2g\n",
               m->verification.spread);
    for (int i = 0; i < m->user_value_count; i++)
        printf(isfinite(m->user_values[i].value) ? "    %s %.5g\n" : "    %s -\n", m->user_values[i].name,
               m->user_values[i].value);
}

static void add_times(cJSON *json, const judgement *j, const kf_measurement *m) {
    const bool ok = m->state == KF_STATE_OK;
    kf_json_add_number(json, "time_us", ok ? m->step_us.median : (double)NAN);
    cJSON *interval = cJSON_AddArrayToObject(json, "ci_us");
    (void)cJSON_AddItemToArray(interval, kf_json_number_or_null(ok ? m->step_us.low : (double)NAN));
    (void)cJSON_AddItemToArray(interval, kf_json_number_or_null(ok ? m->step_us.high : (double)NAN));
    kf_json_add_number(json, "bandwidth", ok ? m->effective_bandwidth : (double)NAN);
    kf_json_add_number(json, "roof_share", ok ? roof_share(j, m) : (double)NAN);
    kf_json_add_number(json, "spread", m->verification.repeated ? m->verification.spread : (double)NAN);
    (void)cJSON_AddItemToObject(json, "metrics", kf_user_values_to_json(m->user_values, m->user_value_count));
}

/* Prints the baseline and all verdicts as one JSON object. A candidate's gain is the baseline's time
 * divided by its own. */
static void print_json(const judgement *j) {
    cJSON *json = kf_json_answer("judge");
    (void)cJSON_AddItemToObject(json, "device", kf_device_to_json(&j->device));
    (void)cJSON_AddStringToObject(json, "problem", j->name);
    add_times(cJSON_AddObjectToObject(json, "baseline"), j, &j->baseline);
    cJSON *list = cJSON_AddArrayToObject(json, "candidates");
    for (int i = 0; i < j->count; i++) {
        const kf_measurement *m = &j->verdicts[i].m;
        const bool ok = m->state == KF_STATE_OK;
        cJSON *entry = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(entry, "file", j->verdicts[i].file);
        (void)cJSON_AddBoolToObject(entry, "right", ok);
        (void)cJSON_AddStringToObject(entry, "state", kf_state_names[m->state]);
        (void)cJSON_AddStringToObject(entry, "check", check_of(m));
        (void)cJSON_AddStringToObject(entry, "reason", m->reason);
        kf_json_add_number(entry, "error", m->verification.error);
        add_times(entry, j, m);
        kf_json_add_number(entry, "gain", ok ? j->baseline.step_us.median / m->step_us.median : (double)NAN);
        (void)cJSON_AddItemToArray(list, entry);
    }
    kf_json_print(json);
}

static kf_status judge_all(judgement *j, kf_error *error) {
    int refused = 0;
    KF_TRY(kf_device_probe(kf_argument(j->arguments, "--device", NULL), &j->device, error));
    KF_TRY(measure_baseline(j, error));
    for (int i = 0; i < j->count; i++) {
        KF_TRY(judge(j, &j->verdicts[i], error));
        refused += j->verdicts[i].m.state != KF_STATE_OK;
        if (!kf_arguments_json(j->arguments)) print_verdict(j, &j->verdicts[i]);
    }
    if (kf_arguments_json(j->arguments)) print_json(j);
    if (refused == 0) return KF_OK;
    return kf_fail(error, KF_GATE_FAILED, "%d of %d candidate%s refused", refused, j->count,
                   j->count == 1 ? " is" : "s are");
}

/* Runs kftune judge: collects candidates from files and folders, judges each, and frees the measurements. */
static kf_status run(const kf_arguments *arguments, kf_error *error) {
    judgement j = {.arguments = arguments, .problem_file = kf_argument(arguments, "--problem", NULL)};
    if (j.problem_file == NULL || arguments->positional_count == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "judge: name the candidates and their --problem, as in kftune judge fast.cu --problem "
                       "matmul.t1.json");
    kf_status status = KF_OK;
    status = kf_argument_metrics(arguments, &j.metrics, error);
    for (int i = 0; i < arguments->positional_count && status == KF_OK; i++)
        status = add_candidates(&j, arguments->positional[i], error);
    if (status == KF_OK) status = judge_all(&j, error);
    for (int i = 0; i < j.count; i++)
        kf_measurement_free(&j.verdicts[i].m);
    kf_measurement_free(&j.baseline);
    kf_user_metrics_free(&j.metrics);
    free(j.verdicts);
    return status;
}

static const char *const positional[] = {"CANDIDATE...", NULL};

const kf_command kf_command_judge = {
    .name = "judge",
    .summary = "check and time kernels that somebody wrote",
    .synopsis = "kftune judge CANDIDATE... --problem FILE [options]",
    .description =
        "Replaces a T1 problem's own kernel by each candidate (a source, or all sources of a folder).\n"
        "Compares its results with the problem's reference, looks for every cheat that docs/gate.md\n"
        "lists, and times it beside the problem's own kernel. Exit status 1: a candidate is refused.",
    .example = "kftune judge candidates/ --problem matmul.t1.json --device cpu",
    .options = options,
    .positional = positional,
    .run = run,
};
