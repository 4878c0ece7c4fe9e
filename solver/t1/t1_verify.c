/* The referee: what a launch makes of spoiled outputs, against the answers that the problem file gives, and
 * where it gives none, or inputs are new, against a reference run on the same device: of the problem's
 * reference kernel or, if it has none, of its default config. It needs the device, which only a worker has,
 * so it is made there when it is first asked for. docs/gate.md lists what each check catches. */
#include <dirent.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/plan/machine_limit.h"
#include "base/util/memory.h"
#include "solver/t1/t1.h"

typedef struct kf_t1_outputs {
    bool made;
    void *values[KF_T1_ARGUMENTS]; /* NULL for what is no output */
} kf_t1_outputs;

/* One size of the problem, and the data with which its results are compared. */
typedef struct kf_t1_bench {
    const kf_problem *problem;
    kf_t1_outputs rounds[KF_T1_ROUNDS];
    /* How far an output that is not spoiled is from what is right before the launch: how far off a kernel is
     * that does nothing. 0: not known, or not at all. */
    double idle[KF_T1_ROUNDS][KF_T1_ARGUMENTS];
    kf_t1_masters masters;
} kf_t1_bench;

struct kf_reference {
    /* The problem's size, and another size made with the first config. */
    kf_t1_bench own, other;
    kf_problem *other_problem; /* NULL: the problem has no other size, or it is not known yet */
    bool looked;               /* for another size */
    /* The threads of this process before any config was launched; 0: not counted. */
    int threads;
};

kf_status kf_t1_reference(const kf_problem *problem, int steps, kf_reference **reference, kf_error *error) {
    (void)steps, (void)error;
    *reference = kf_allocate_zeroed(1, sizeof **reference);
    (*reference)->own.problem = problem;
    return KF_OK;
}

static void free_bench(kf_t1_bench *bench) {
    for (int round = 0; round < KF_T1_ROUNDS; round++)
        for (int i = 0; i < KF_T1_ARGUMENTS; i++)
            free(bench->rounds[round].values[i]);
    kf_t1_free_masters(&bench->masters);
}

void kf_t1_free_reference(kf_reference *reference) {
    free_bench(&reference->own);
    free_bench(&reference->other);
    kf_problem_free(reference->other_problem);
    free(reference);
}

/* Returns the correct values: the file's own answer, if it gives one, for the file's own inputs. */
static const void *right_of(const kf_t1_bench *bench, int round, int i) {
    const kf_t1_argument *argument = &((const kf_t1_problem *)bench->problem->own)->arguments[i];
    return round == 0 && argument->answer != NULL ? argument->answer : bench->rounds[round].values[i];
}

/* Rounds other than the first have other inputs, where there is a Random one. */
static int rounds_of(const kf_t1_problem *problem) {
    for (int i = 0; i < problem->argument_count; i++) {
        const kf_t1_argument *argument = &problem->arguments[i];
        if (argument->fill == KF_T1_RANDOM && argument->read && !argument->scalar && !argument->constant)
            return KF_T1_ROUNDS;
    }
    return 1;
}

/* --- The reference ---------------------------------------------------------------------------------------
 */

static kf_status launch(kf_plan *plan, kf_t1_masters *masters, int round, kf_error *error) {
    KF_TRY(kf_t1_restore(plan, masters, round, error));
    KF_TRY(kf_plan_advance(plan, 1, error));
    return kf_backend_synchronize(plan->backend, error);
}

/* Keeps what outputs that are not spoiled hold before the launch. */
static kf_status keep_before(kf_plan *plan, const kf_t1_problem *problem, void *before[KF_T1_ARGUMENTS],
                             kf_error *error) {
    for (int i = 0; i < problem->argument_count; i++) {
        const kf_t1_argument *argument = &problem->arguments[i];
        if (argument->output && argument->type.real && (argument->read || argument->answer != NULL))
            KF_TRY(kf_t1_download(plan, i, &before[i], error));
    }
    return KF_OK;
}

/* Runs the reference of a round, keeps its outputs, and notes how much a kernel that does nothing would be
 * off.
 */
static kf_status run_reference(kf_plan *plan, kf_t1_bench *bench, int round, kf_error *error) {
    const kf_t1_problem *problem = bench->problem->own;
    void *before[KF_T1_ARGUMENTS] = {NULL};
    KF_TRY(kf_t1_restore(plan, &bench->masters, round, error));
    kf_status status = keep_before(plan, problem, before, error);
    if (status == KF_OK) status = kf_plan_advance(plan, 1, error);
    if (status == KF_OK) status = kf_backend_synchronize(plan->backend, error);
    for (int i = 0; i < problem->argument_count && status == KF_OK; i++)
        if (problem->arguments[i].output && bench->rounds[round].values[i] == NULL)
            status = kf_t1_download(plan, i, &bench->rounds[round].values[i], error);
    for (int i = 0; i < problem->argument_count; i++) {
        size_t worst = 0;
        if (status == KF_OK && before[i] != NULL)
            bench->idle[round][i] =
                kf_t1_deviation(&problem->arguments[i], before[i], right_of(bench, round, i), &worst);
        free(before[i]);
    }
    return status;
}

/* Makes the references of all rounds at once, unless they are there. room: bytes before and behind each
 * argument, in which the reference must not write. */
static kf_status make_references(kf_backend *backend, kf_t1_bench *bench, size_t room, kf_error *error) {
    const kf_t1_problem *problem = bench->problem->own;
    kf_plan *plan = NULL;
    const int rounds = rounds_of(problem);
    if (bench->rounds[0].made) return KF_OK;
    const bool kernel = problem->reference_file[0] != '\0';
    const kf_problem *judge = problem->judge != NULL ? problem->judge : bench->problem;
    kf_status status = kf_t1_plan_with_room(
        judge, kernel ? NULL : &((const kf_t1_problem *)judge->own)->reference, room, backend, &plan, error);
    /* This sets its guards. */
    if (status == KF_OK) status = kf_t1_spoil(plan, error);
    for (int round = 0; round < rounds && status == KF_OK; round++)
        status = run_reference(plan, bench, round, error);
    if (status == KF_OK) status = kf_t1_check(plan, -1, error);
    if (plan != NULL) kf_plan_free(plan);
    bench->rounds[0].made = status == KF_OK;
    return status == KF_OK ? KF_OK
                           : kf_fail_context(error, "the reference run, with %s, failed",
                                             kernel ? "the reference kernel" : "the default config");
}

/* --- Another size ------------------------------------------------------------------------------------------
 * Twice as much along one axis keeps every divisor that the size has; where that is much memory, half. */

static bool other_size(const kf_t1_problem *problem, int size[3]) {
    static const double MUCH = 268435456.0; /* bytes */
    double bytes = 0.0;
    int axis = -1;
    for (int i = 0; i < problem->argument_count; i++)
        bytes += (double)problem->arguments[i].count * (double)problem->arguments[i].type.bytes;
    for (int k = 0; k < 3; k++) {
        size[k] = (int)problem->size[k];
        if (size[k] > 1 && (axis < 0 || size[k] < size[axis])) axis = k;
    }
    if (axis < 0 || size[axis] > 1 << 29) return false;
    if (bytes > MUCH && size[axis] % 2 != 0) return false;
    size[axis] = bytes > MUCH ? size[axis] / 2 : size[axis] * 2;
    return true;
}

/* Returns room for a kernel that has the file's size in it, where the other size is a smaller one: by so much
 * it may write past the end. */
static size_t room_at_other_size(const kf_t1_problem *own, const kf_t1_problem *other) {
    size_t room = KF_T1_GUARD;
    for (int i = 0; i < own->argument_count; i++) {
        const size_t bytes = own->arguments[i].type.bytes, larger = own->arguments[i].count;
        const size_t smaller = other->arguments[i].count;
        if (larger > smaller && (larger - smaller) * bytes > room) room = (larger - smaller) * bytes;
    }
    return (room + KF_T1_GUARD - 1) / KF_T1_GUARD * KF_T1_GUARD;
}

static bool same_counts(const kf_t1_problem *a, const kf_t1_problem *b) {
    for (int i = 0; i < a->argument_count; i++)
        if (a->arguments[i].count != b->arguments[i].count) return false;
    return true;
}

/* Returns the share of an output that the reference left as it was before the launch. */
static double untouched(const kf_t1_bench *bench, int i) {
    const kf_t1_problem *problem = bench->problem->own;
    const kf_t1_argument *argument = &problem->arguments[i];
    const size_t size = argument->type.bytes;
    const char *after = bench->rounds[0].values[i], *before = argument->read ? argument->initial : NULL;
    const char spoiled[16] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    size_t count = 0;
    for (size_t at = 0; at < argument->count; at++)
        count += memcmp(after + at * size, before != NULL ? before + at * size : spoiled, size) == 0;
    return (double)count / (double)argument->count;
}

/* Returns whether the reference has a size in it that is not the problem's: it leaves much more of an output
 * alone than at the file's size. Such a kernel is right for its own size alone, and what it does at another
 * one differs from config to config. */
static bool has_its_size_in_it(const kf_reference *reference) {
    static const double MORE = 0.02;
    const kf_t1_problem *problem = reference->own.problem->own;
    for (int i = 0; i < problem->argument_count; i++)
        if (problem->arguments[i].output &&
            untouched(&reference->other, i) > untouched(&reference->own, i) + MORE)
            return true;
    return false;
}

/* Looks for another problem size. Its arguments must follow the size, and the reference must be able to
 * compute it. Otherwise this is not an error, because many kernels contain their size. */
static void look_for_other_size(kf_backend *backend, kf_reference *reference) {
    const kf_t1_problem *problem = reference->own.problem->own;
    kf_t1_problem *other = NULL;
    kf_error error;
    int size[3];
    if (reference->looked) return;
    reference->looked = true;
    if (!other_size(problem, size)) return;
    const kf_status status =
        problem->judge != NULL ? kf_t1_read_candidate(problem->file, problem->candidate, size, &other, &error)
                               : kf_t1_read(problem->file, size, &other, &error);
    if (status != KF_OK) return;
    if (same_counts(problem, other)) {
        kf_t1_release(other);
        return;
    }
    reference->other_problem = kf_t1_wrap(other, true);
    reference->other_problem->system = reference->own.problem->system;
    reference->other.problem = reference->other_problem;
    if (make_references(backend, &reference->other, room_at_other_size(problem, other), &error) == KF_OK &&
        !has_its_size_in_it(reference))
        return;
    free_bench(&reference->other);
    memset(&reference->other, 0, sizeof reference->other);
    kf_problem_free(reference->other_problem);
    reference->other_problem = NULL;
}

/* --- Judging -----------------------------------------------------------------------------------------------
 */

/* Returns the bound: the rounding of the type over some thousand operations. Whole numbers must be equal. */
static double bound_of(const kf_t1_argument *argument) {
    if (!isnan(argument->threshold)) return argument->threshold;
    if (!argument->type.real) return 0.0;
    return argument->type.bytes == sizeof(double)  ? 1e-10
           : argument->type.bytes == sizeof(float) ? 1e-4
                                                   : 1e-2;
}

/* Returns the bound of an argument in a round. Where a kernel that does nothing would be within the bound, it
 * is a quarter of what that one is off by, but no less than rounding, as far as that tells the two apart. */
static double bound_in(const kf_t1_bench *bench, int round, int i) {
    static const double QUARTER = 0.25, HALF = 0.5, ROUNDINGS = 2.0;
    const kf_t1_argument *argument = &((const kf_t1_problem *)bench->problem->own)->arguments[i];
    const double bound = bound_of(argument), idle = bench->idle[round][i],
                 rounding = ROUNDINGS * (argument->type.bytes == sizeof(double)  ? DBL_EPSILON
                                         : argument->type.bytes == sizeof(float) ? (double)FLT_EPSILON
                                                                                 : 1e-3);
    if (!(idle > 0.0) || QUARTER * idle >= bound) return bound;
    return fmin(bound, fmax(QUARTER * idle, fmin(rounding, HALF * idle)));
}

/* Finds values that a launch should have written and did not: they still hold what outputs hold before it. */
static size_t find_unwritten(const kf_t1_argument *argument, const void *values, const void *right,
                             size_t *first) {
    const size_t size = argument->type.bytes;
    const char before[16] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    size_t found = 0;
    for (size_t at = 0; !argument->read && at < argument->count; at++)
        if (memcmp((const char *)values + at * size, before, size) == 0 &&
            memcmp((const char *)right + at * size, before, size) != 0 && found++ == 0)
            *first = at;
    return found;
}

/* Describes the fault: the values that were left out, else the value with the largest deviation. Returns how
 * many were left out. */
static size_t describe(const kf_t1_argument *argument, const void *values, const void *right, size_t worst,
                       kf_verification *verification) {
    const size_t unwritten = find_unwritten(argument, values, right, &worst);
    if (unwritten > 0)
        (void)snprintf(verification->worst, sizeof verification->worst, "%.24s[%zu] is not written",
                       argument->name, worst);
    else
        kf_t1_tell_difference(argument, values, right, worst, verification->worst,
                              sizeof verification->worst);
    return unwritten;
}

/* The outputs of a launch against those that are right in this round. The output that comes nearest to its
 * bound, or is farthest beyond it, stands for all. kept: where the outputs stay. */
static kf_status judge(kf_plan *plan, kf_t1_bench *bench, int round, int kept, kf_verification *verification,
                       kf_error *error) {
    const kf_t1_problem *problem = bench->problem->own;
    double farthest = -1.0;
    size_t unwritten = 0;
    bool real = false;
    memset(verification, 0, sizeof *verification);
    verification->error = (double)NAN;
    for (int i = 0; i < problem->argument_count; i++) {
        const kf_t1_argument *argument = &problem->arguments[i];
        size_t worst = 0;
        if (!argument->output) continue;
        const void *right = right_of(bench, round, i);
        KF_TRY(kf_t1_download(plan, i, &bench->masters.outputs[kept][i], error));
        const void *values = bench->masters.outputs[kept][i];
        const double bound = bound_in(bench, round, i);
        const double off = kf_t1_deviation(argument, values, right, &worst);
        const double share = off == 0.0 ? 0.0 : bound > 0.0 ? off / bound : (double)INFINITY;
        if (!(share <= farthest)) {
            farthest = isnan(share) ? (double)INFINITY : share;
            verification->count = 0;
            kf_verification_add(verification, argument->name, off, bound);
            unwritten = describe(argument, values, right, worst, verification);
            real = argument->type.real;
        }
    }
    if (verification->error <= verification->bound) return KF_OK;
    bool answered = problem->reference_file[0] != '\0';
    for (int i = 0; i < problem->argument_count; i++)
        answered = answered || (round == 0 && problem->arguments[i].answer != NULL);
    const char *from = answered ? "answer" : "run";
    /* A NaN from behind an input has the same bits. */
    if (unwritten > 0)
        return kf_fail(error, KF_GATE_FAILED,
                       "deviates from the reference %s: %s (or is the %s), one of %zu such values", from,
                       verification->worst, real ? "NaN behind an input" : "-1 of before", unwritten);
    if (isnan(verification->error)) /* a NaN, which no number is near */
        return kf_fail(error, KF_GATE_FAILED, "deviates from the reference %s: %s", from,
                       verification->worst);
    return kf_fail(error, KF_GATE_FAILED, "deviates from the reference %s by %.3g, accepted is %.3g: %s",
                   from, verification->error, verification->bound, verification->worst);
}

static const char *const round_names[KF_T1_ROUNDS] = {"", "with inputs of another seed, ",
                                                      "with few inputs that are not zero, "};

/* Judges the latest launch, which is not of the file's own problem. *verification stays as it is unless the
 * launch is refused. */
static kf_status judge_another(kf_plan *plan, kf_t1_bench *bench, int round, kf_verification *verification,
                               kf_error *error) {
    kf_verification of_this;
    const kf_status status = judge(plan, bench, round, KF_T1_LATEST, &of_this, error);
    if (status == KF_GATE_FAILED) *verification = of_this;
    return status;
}

/* Checks another round than the file's. */
static kf_status judge_round(kf_plan *plan, kf_t1_bench *bench, int round, kf_verification *verification,
                             kf_error *error) {
    KF_TRY(launch(plan, &bench->masters, round, error));
    const kf_status status = judge_another(plan, bench, round, verification, error);
    if (status != KF_GATE_FAILED) return status;
    const kf_error reason = *error;
    return kf_fail(error, KF_GATE_FAILED, "%s%s", round_names[round], reason.message);
}

/* A second launch from the same inputs: bit for bit the same, or how far off, for the user to know. */
static kf_status repeat(kf_plan *plan, kf_t1_bench *bench, kf_verification *verification, kf_error *error) {
    const kf_t1_problem *problem = bench->problem->own;
    double spread = 0.0;
    KF_TRY(launch(plan, &bench->masters, 0, error));
    for (int i = 0; i < problem->argument_count; i++) {
        const kf_t1_argument *argument = &problem->arguments[i];
        size_t worst = 0;
        if (!argument->output) continue;
        KF_TRY(kf_t1_download(plan, i, &bench->masters.outputs[KF_T1_LATEST][i], error));
        const void *first = bench->masters.outputs[KF_T1_FIRST][i],
                   *values = bench->masters.outputs[KF_T1_LATEST][i];
        const bool same = memcmp(values, first, argument->count * argument->type.bytes) == 0;
        const double off = same ? 0.0 : kf_t1_deviation(argument, values, first, &worst);
        /* Other bits of the same value, as of -0 and 0, are a spread too. */
        if (!same && !(fmax(off, DBL_MIN) <= spread)) spread = fmax(off, DBL_MIN);
        if (off <= bound_of(argument)) continue;
        return kf_fail(
            error, KF_GATE_FAILED,
            "nondeterministic: '%s' differs by %.3g between two launches from equal inputs, accepted "
            "is %.3g",
            argument->name, off, bound_of(argument));
    }
    verification->repeated = true;
    verification->spread = spread;
    return KF_OK;
}

/* Checks one launch at another size of the problem. */
static kf_status judge_other_size(const kf_plan *plan, kf_reference *reference, kf_verification *verification,
                                  kf_error *error) {
    kf_plan *other = NULL;
    if (reference->other_problem == NULL) return KF_OK;
    const kf_t1_problem *problem = reference->other_problem->own;
    kf_status status = kf_t1_plan(reference->other_problem, &plan->config, plan->backend, &other, error);
    /* This sets its guards. */
    if (status == KF_OK) status = kf_t1_spoil(other, error);
    if (status == KF_OK) status = launch(other, &reference->other.masters, 0, error);
    if (status == KF_OK) status = judge_another(other, &reference->other, 0, verification, error);
    if (status == KF_OK) status = kf_t1_check(other, -1, error);
    if (other != NULL) kf_plan_free(other);
    if (status == KF_OK) return KF_OK;
    const kf_error reason = *error;
    return kf_fail(error, status, "at another size, %ldx%ldx%ld, %s", problem->size[0], problem->size[1],
                   problem->size[2], reason.message);
}

/* --- Threads of a function ---------------------------------------------------------------------------------
 * A function in C can leave work to a thread of its own and return. The thread would also run into whatever
 * takes the place of the function's code, so that it is waited for. OpenMP's threads stay, and are no such.
 */

static int count_threads(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    if (folder == NULL) return 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    (void)closedir(folder);
    return count;
}

static bool counts_threads(const kf_t1_problem *problem) {
    for (int i = 0; i < problem->option_count; i++)
        if (strncmp(problem->options[i], "-fopenmp", 8) == 0) return false;
    return kf_t1_is_plain(problem);
}

static kf_status look_for_threads(const kf_reference *reference, kf_error *error) {
    enum { LOOKS = 400 };
    const int left = reference->threads > 0 ? count_threads() - reference->threads : 0;
    for (int look = 0; look < LOOKS && left > 0 && count_threads() > reference->threads; look++)
        (void)nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    if (left <= 0) return KF_OK;
    return kf_fail(error, KF_GATE_FAILED, "leaves %d thread%s of its own at work when it returns", left,
                   left == 1 ? "" : "s");
}

static kf_status judge_all(kf_plan *plan, kf_reference *reference, kf_verification *verification,
                           kf_error *error) {
    kf_t1_bench *bench = &reference->own;
    KF_TRY(look_for_threads(reference, error));
    KF_TRY(judge(plan, bench, 0, KF_T1_FIRST, verification, error));
    KF_TRY(kf_t1_check(plan, 0, error));
    for (int round = 1; round < KF_T1_ROUNDS && round < rounds_of(bench->problem->own); round++)
        KF_TRY(judge_round(plan, bench, round, verification, error));
    KF_TRY(repeat(plan, bench, verification, error));
    KF_TRY(look_for_threads(reference, error));
    KF_TRY(kf_t1_check(plan, -1, error));
    look_for_other_size(plan->backend, reference);
    return judge_other_size(plan, reference, verification, error);
}

kf_status kf_t1_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                       kf_error *error) {
    /* A reference's buffers are made by whoever needs them first. */
    kf_reference *own = (kf_reference *)(uintptr_t)reference;
    memset(verification, 0, sizeof *verification);
    verification->error = (double)NAN;
    const bool begins = !own->own.rounds[0].made;
    KF_TRY(make_references(plan->backend, &own->own, KF_T1_GUARD, error));
    if (begins && counts_threads(own->own.problem->own)) own->threads = count_threads();
    return judge_all(plan, own, verification, error);
}

/* --- After timing ------------------------------------------------------------------------------------------
 */

/* Times a launch; new_inputs: of a seed that no launch before had; 0: those of the round. */
static kf_status time_launch(kf_plan *plan, kf_t1_masters *masters, int round, uint64_t new_inputs,
                             kf_event *const events[2], double *least_us, kf_error *error) {
    double us = 0.0;
    KF_TRY(kf_t1_restore(plan, masters, round, error));
    if (new_inputs > 0) KF_TRY(kf_t1_disturb(plan, new_inputs, error));
    KF_TRY(kf_event_record(events[0], error));
    KF_TRY(kf_plan_advance(plan, 1, error));
    KF_TRY(kf_event_record(events[1], error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    KF_TRY(kf_event_elapsed_us(events[0], events[1], &us, error));
    if (!(us >= *least_us)) *least_us = us;
    return KF_OK;
}

/* Times a launch with fresh inputs. A shared machine has slow moments, so the smallest of several times
 * counts, and more are taken while it looks too slow. */
static kf_status time_fresh(kf_plan *plan, kf_t1_masters *masters, int round, bool new_inputs,
                            kf_event *const events[2], double enough_us, double *us, kf_error *error) {
    enum { LEAST = 2, MOST = 24 };
    *us = INFINITY;
    for (int i = 0; i < MOST && (i < LEAST || *us > enough_us); i++)
        KF_TRY(time_launch(plan, masters, round, new_inputs ? 0x7e57U + (uint64_t)i * 64U : 0, events, us,
                           error));
    return KF_OK;
}

/* Refuses a time in which the device could not even have written the bytes that a launch must write. These
 * are all outputs that are only written, because the check has seen that they were. */
static kf_status check_roof(const kf_plan *plan, double step_us, kf_error *error) {
    const kf_t1_problem *problem = plan->problem->own;
    double bytes = 0.0;
    for (int i = 0; i < problem->argument_count; i++)
        if (!problem->arguments[i].scalar && !problem->arguments[i].read)
            bytes += (double)kf_t1_count_of(plan, i) * (double)problem->arguments[i].type.bytes;
    return kf_check_machine_limit(kf_backend_device(plan->backend), bytes, step_us, error);
}

static kf_status recheck(kf_plan *plan, kf_t1_bench *bench, double step_us, kf_event *const events[2],
                         kf_error *error) {
    static const double SLOWER = 3.0, LAUNCH_US = 60.0;
    const kf_t1_problem *problem = bench->problem->own;
    kf_verification verification;
    double same_us = 0.0, other_us = 0.0;
    /* It gets fresh arguments, so a launch cannot omit what the previous one did. */
    bool changes = false;
    const int round = rounds_of(problem) > 1 ? 1 : 0;
    for (int i = 0; i < problem->argument_count; i++)
        changes = changes || (!problem->arguments[i].scalar && problem->arguments[i].read &&
                              problem->arguments[i].written);
    const double enough_us = changes ? INFINITY : SLOWER * step_us + LAUNCH_US;
    KF_TRY(check_roof(plan, step_us, error));
    KF_TRY(time_fresh(plan, &bench->masters, 0, false, events, enough_us, &same_us, error));
    KF_TRY(time_fresh(plan, &bench->masters, round, true, events, SLOWER * same_us + LAUNCH_US, &other_us,
                      error));
    KF_TRY(launch(plan, &bench->masters, round, error));
    const kf_status status = judge(plan, bench, round, KF_T1_LATEST, &verification, error);
    if (status == KF_GATE_FAILED) {
        const kf_error reason = *error;
        return kf_fail(error, KF_GATE_FAILED, "after it was timed, %s%s", round_names[round], reason.message);
    }
    KF_TRY(status);
    KF_TRY(kf_t1_check(plan, -1, error));
    if (same_us > enough_us)
        return kf_fail(error, KF_GATE_FAILED,
                       "does less work when it is launched again: the measured launches took %.4g us, but a "
                       "launch from overwritten outputs takes %.4g us",
                       step_us, same_us);
    if (other_us > SLOWER * same_us + LAUNCH_US)
        return kf_fail(error, KF_GATE_FAILED,
                       "keeps results for inputs that it has seen: a launch takes %.4g us with those, and "
                       "%.4g us with new ones",
                       same_us, other_us);
    return check_roof(plan, step_us, error);
}

kf_status kf_t1_recheck(kf_plan *plan, const kf_reference *reference, double step_us, kf_error *error) {
    kf_reference *own = (kf_reference *)(uintptr_t)reference;
    kf_event *events[2] = {NULL, NULL};
    KF_TRY(make_references(plan->backend, &own->own, KF_T1_GUARD, error));
    kf_status status = kf_event_create(plan->backend, &events[0], error);
    if (status == KF_OK) status = kf_event_create(plan->backend, &events[1], error);
    if (status == KF_OK) status = recheck(plan, &own->own, step_us, events, error);
    for (int i = 0; i < 2; i++)
        if (events[i] != NULL) kf_event_free(events[i]);
    return status;
}
