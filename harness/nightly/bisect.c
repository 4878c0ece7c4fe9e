#include "harness/nightly/bisect.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/log.h"
#include "base/util/program.h"
#include "harness/nightly/entry.h"

enum { MOST_COMMITS = 100000 };
static const double PROCESS_LIMIT_SECONDS = 600.0;

typedef struct bisection {
    const kf_bisect_request *request;
    kf_bisect_result *result;
    char folder[KF_PATH]; /* of our own, for the checked-out revisions */
    char tree[KF_PATH];   /* in it: the work tree */
    char log[KF_PATH];    /* output of the builds */
    char archive[KF_PATH];
    kf_entry entry;
    char **commits; /* oldest first; the last is bad */
    int count;
    kf_program good;
    double threshold; /* log; above it a revision is bad */
} bisection;

/* --- running git and the build
 * ------------------------------------------------------------------------------ */

/* Runs words; output (may be NULL) gets what it prints, the rest goes to log. False unless its status is 0.
 */
static bool run(const char *const *words, const char *log, kf_text *output) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    pid_t child = 0;
    int failure = posix_spawnp(&child, words[0], &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[1]);
    char bytes[4096];
    ssize_t size = 0;
    while (failure == 0 &&
           ((size = read(ends[0], bytes, sizeof bytes - 1)) > 0 || (size < 0 && errno == EINTR))) {
        if (size < 0 || output == NULL) continue;
        bytes[size] = '\0';
        kf_text_append(output, "%s", bytes);
    }
    (void)close(ends[0]);
    int status = -1;
    while (failure == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return failure == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool git(const bisection *b, const char *folder, const char *const *words, kf_text *output) {
    const char *whole[16] = {"git", "-C", folder};
    int count = 3;
    for (; *words != NULL && count < 15; words++)
        whole[count++] = *words;
    whole[count] = NULL;
    return run(whole, b->log, output);
}

/* --- the range
 * ------------------------------------------------------------------------------------------------ */

static kf_status resolve(const bisection *b, const char *name, char hash[64], kf_error *error) {
    kf_text output = {0};
    kf_text commit = {0};
    kf_text_append(&commit, "%s^{commit}", name);
    bool found =
        git(b, b->request->repository,
            (const char *const[]){"rev-parse", "--verify", "--quiet", "--end-of-options", commit.text, NULL},
            &output);
    kf_text_free(&commit);
    if (found) kf_copy_text(hash, 64, output.text != NULL ? output.text : "");
    hash[strcspn(hash, "\n")] = '\0';
    kf_text_free(&output);
    if (found && hash[0] != '\0') return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "bisect: '%.80s' is no commit of %s", name, b->request->repository);
}

static kf_status list_commits(bisection *b, const char *good, const char *bad, kf_error *error) {
    char range[160];
    (void)snprintf(range, sizeof range, "%s..%s", good, bad);
    kf_text output = {0};
    bool listed = git(b, b->request->repository,
                      (const char *const[]){"rev-list", "--first-parent", "--reverse", range, NULL}, &output);
    b->commits = kf_allocate_zeroed(MOST_COMMITS, sizeof *b->commits);
    char *rest = output.text;
    for (char *line = listed && rest != NULL ? strtok_r(rest, "\n", &rest) : NULL;
         line != NULL && b->count < MOST_COMMITS; line = strtok_r(NULL, "\n", &rest))
        b->commits[b->count++] = kf_duplicate(line);
    kf_text_free(&output);
    b->result->commits = b->count;
    if (b->count > 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "bisect: there are no commits between '%.60s' and '%.60s'",
                   b->request->good, b->request->bad);
}

/* --- one revision
 * ----------------------------------------------------------------------------------------------- */

/* Checks out, builds, and keeps the program. KF_MACHINE when that fails: the revision is skipped. */
static kf_status build(const bisection *b, const char *commit, kf_program *program, kf_error *error) {
    kf_info("building %.12s", commit);
    if (!git(b, b->tree, (const char *const[]){"checkout", "--quiet", "--force", "--detach", commit, NULL},
             NULL))
        return kf_fail(error, KF_MACHINE, "%.12s cannot be checked out; see %s", commit, b->log);
    kf_text command = {0};
    kf_text_append(&command, "cd \"$0\" && { %s\n} >&2", b->request->build);
    bool built = run((const char *const[]){"sh", "-c", command.text, b->tree, NULL}, b->log, NULL);
    kf_text_free(&command);
    if (!built) return kf_fail(error, KF_MACHINE, "%.12s cannot be built", commit);
    char executable[KF_PATH];
    KF_TRY(kf_path(executable, error, "%s/%s", b->tree, b->request->program));
    if (access(executable, X_OK) != 0)
        return kf_fail(error, KF_MACHINE, "%.12s: the build made no %s", commit, b->request->program);
    return kf_program_keep(executable, b->tree, b->archive, program, error);
}

static kf_status measure(const bisection *b, const kf_program *program, double *log_time, kf_error *error) {
    kf_answer *answer = kf_allocate(sizeof *answer);
    kf_status status = kf_process_measure(program, b->entry.job, false, PROCESS_LIMIT_SECONDS, answer, error);
    if (status == KF_OK && (!answer->measured || answer->measurement.state != KF_STATE_OK))
        status = kf_fail(error, KF_MACHINE, "it cannot be measured: %s",
                         answer->measured ? answer->measurement.reason : answer->problem);
    if (status == KF_OK) *log_time = log(answer->measurement.step_us.median);
    if (answer->measured) kf_measurement_free(&answer->measurement);
    free(answer);
    return status;
}

/* In turns, as in a night; more processes where it stays open. */
static kf_status compare(const bisection *b, const kf_program *program, double threshold,
                         kf_comparison *comparison, kf_error *error) {
    double logs[2][KF_MORE_PROCESSES];
    const kf_program *const programs[2] = {&b->good, program};
    for (size_t count = 0; count < KF_MORE_PROCESSES;) {
        for (int turn = 0; turn < 2; turn++) {
            int side = (int)((count + (size_t)turn) % 2);
            KF_TRY(measure(b, programs[side], &logs[side][count], error));
        }
        count++;
        if (count != KF_LEAST_PROCESSES && count != KF_MORE_PROCESSES) continue;
        *comparison = kf_compare(logs[0], count, logs[1], count);
        if (!kf_undecided(comparison, threshold, &kf_standard_rules)) break;
    }
    return KF_OK;
}

static kf_status try_commit(bisection *b, const char *commit, kf_comparison *comparison, kf_error *error) {
    kf_program program;
    KF_TRY(build(b, commit, &program, error));
    KF_TRY(compare(b, &program, b->threshold, comparison, error));
    b->result->tried++;
    kf_info("%.12s: %+.2f %% against the good one", commit, 100.0 * expm1(comparison->shift));
    return KF_OK;
}

/* --- the search
 * -------------------------------------------------------------------------------------------------- */

/* good lies before index low, bad at index high; halves until they meet. Revisions that cannot be built or
 * measured are passed over towards the bad end. */
static kf_status halve(bisection *b, kf_error *error) {
    int low = 0, high = b->count - 1;
    b->result->step = b->result->whole;
    while (low < high) {
        int middle = low + (high - low) / 2, at = middle;
        kf_comparison comparison = {0};
        kf_status status = KF_MACHINE;
        for (; at < high; at++) {
            kf_error problem = {KF_OK, ""};
            status = try_commit(b, b->commits[at], &comparison, &problem);
            if (status == KF_INTERRUPTED || kf_interrupted)
                return kf_fail(error, KF_INTERRUPTED, "interrupted");
            if (status == KF_OK) break;
            kf_warn("%s: skipped", problem.message);
            b->result->skipped++;
        }
        if (status != KF_OK) {
            high = middle; /* nothing between the middle and the bad one can be tried */
            continue;
        }
        /* Half of the whole change tells the two levels apart, whatever the threshold of a night. */
        if (comparison.shift > 0.5 * b->result->whole.shift) {
            high = at;
            b->result->step = comparison;
        } else {
            low = at + 1;
        }
    }
    kf_copy_text(b->result->first_bad, sizeof b->result->first_bad, b->commits[high]);
    kf_text subject = {0};
    if (git(b, b->request->repository,
            (const char *const[]){"log", "-1", "--format=%s", b->commits[high], NULL}, &subject))
        kf_copy_text(b->result->subject, sizeof b->result->subject, subject.text != NULL ? subject.text : "");
    b->result->subject[strcspn(b->result->subject, "\n")] = '\0';
    kf_text_free(&subject);
    return KF_OK;
}

static kf_status search(bisection *b, kf_error *error) {
    char good[64] = "", bad[64] = "";
    kf_program program;
    KF_TRY(resolve(b, b->request->good, good, error));
    KF_TRY(resolve(b, b->request->bad, bad, error));
    KF_TRY(list_commits(b, good, bad, error));
    if (!git(b, b->request->repository,
             (const char *const[]){"worktree", "add", "--quiet", "--detach", b->tree, good, NULL}, NULL))
        return kf_fail(error, KF_MACHINE, "bisect: git cannot make a work tree; see %s", b->log);
    b->threshold = kf_standard_rules.least_change;
    kf_status status = build(b, good, &b->good, error);
    if (status == KF_OK) status = build(b, bad, &program, error);
    if (status == KF_OK) status = compare(b, &program, b->threshold, &b->result->whole, error);
    if (status == KF_MACHINE) (void)kf_fail_context(error, "bisect (output of the builds: %s)", b->log);
    KF_TRY(status);
    if (kf_confirm(&b->result->whole, b->threshold, &kf_standard_rules) != KF_FINDING_SLOWER)
        return kf_fail(error, KF_GATE_FAILED,
                       "bisect: '%.60s' is not slower than '%.60s': %+.2f %% (%+.2f to %+.2f), p %.2g",
                       b->request->bad, b->request->good, 100.0 * expm1(b->result->whole.shift),
                       100.0 * expm1(b->result->whole.low), 100.0 * expm1(b->result->whole.high),
                       b->result->whole.probability);
    return halve(b, error);
}

/* --- beginning and end
 * -------------------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *information, int type, struct FTW *place) {
    (void)information;
    (void)type;
    (void)place;
    return remove(path);
}

static kf_status choose_benchmark(bisection *b, kf_error *error) {
    const kf_suite *suite = b->request->suite;
    const char *name = b->request->benchmark;
    if (name == NULL && suite->count > 1)
        return kf_fail(error, KF_BAD_INPUT, "bisect: --benchmark NAME is missing; the suite has %d",
                       suite->count);
    for (int i = 0; i < suite->count; i++) {
        if (name != NULL && strcmp(suite->benchmarks[i].name, name) != 0) continue;
        kf_entry_open(&b->entry, &suite->benchmarks[i], b->request->store);
        if (b->entry.problem[0] == '\0') return KF_OK;
        return kf_fail(error, KF_BAD_INPUT, "bisect: %s: %s", suite->benchmarks[i].name, b->entry.problem);
    }
    return kf_fail(error, KF_BAD_INPUT, "bisect: the suite has no benchmark '%.80s'", name);
}

static kf_status make_folder(bisection *b, kf_error *error) {
    const char *base = getenv("TMPDIR");
    KF_TRY(
        kf_path(b->folder, error, "%s/kftune-bisect-XXXXXX", base != NULL && base[0] == '/' ? base : "/tmp"));
    if (mkdtemp(b->folder) == NULL) {
        kf_status status =
            kf_fail(error, KF_MACHINE, "%s: cannot be made: %s; set TMPDIR", b->folder, strerror(errno));
        b->folder[0] = '\0';
        return status;
    }
    KF_TRY(kf_path(b->tree, error, "%s/tree", b->folder));
    return kf_path(b->log, error, "%s.log", b->folder);
}

static void clean_up(bisection *b, bool keep_log) {
    if (b->folder[0] != '\0') {
        (void)git(b, b->request->repository,
                  (const char *const[]){"worktree", "remove", "--force", b->tree, NULL}, NULL);
        (void)nftw(b->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
        if (!keep_log) (void)unlink(b->log);
    }
    for (int i = 0; i < b->count; i++)
        free(b->commits[i]);
    free(b->commits);
    kf_entry_close(&b->entry);
}

kf_status kf_bisect(const kf_bisect_request *request, kf_bisect_result *result, kf_error *error) {
    memset(result, 0, sizeof *result);
    bisection *b = kf_allocate_zeroed(1, sizeof *b);
    b->request = request;
    b->result = result;
    kf_status status = choose_benchmark(b, error);
    if (status == KF_OK) status = kf_path(b->archive, error, "%s.programs", kf_store_path(request->store));
    if (status == KF_OK) status = make_folder(b, error);
    if (status == KF_OK) status = search(b, error);
    clean_up(b, status == KF_MACHINE);
    free(b);
    return status;
}
