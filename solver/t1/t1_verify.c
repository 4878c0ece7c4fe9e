/* The gate: outputs after a number of launches against the answers that the problem file gives, and where it
 * gives none against those of a reference run on the same device, of the problem's reference kernel or, if it
 * has none, of its default config. It needs the device, which only a worker has, so it is made there when it
 * is first asked for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/t1/t1.h"

typedef struct kf_t1_outputs {
    bool made;
    void *values[KF_T1_ARGUMENTS]; /* NULL for what is no output */
} kf_t1_outputs;

struct kf_reference {
    const kf_problem *problem;
    int steps;
    kf_t1_outputs *outputs;
};

kf_status kf_t1_reference(const kf_problem *problem, int steps, kf_reference **reference, kf_error *error) {
    (void)error;
    *reference = kf_allocate(sizeof **reference);
    **reference = (kf_reference){problem, steps, kf_allocate_zeroed(1, sizeof(kf_t1_outputs))};
    return KF_OK;
}

void kf_t1_free_reference(kf_reference *reference) {
    for (int i = 0; i < KF_T1_ARGUMENTS; i++)
        free(reference->outputs->values[i]);
    free(reference->outputs);
    free(reference);
}

static bool by_run(const kf_t1_argument *argument) {
    return argument->output && argument->answer == NULL;
}

static kf_status run_reference(kf_plan *plan, const kf_reference *reference, kf_error *error) {
    const kf_t1_problem *problem = reference->problem->own;
    KF_TRY(kf_plan_initialise(plan, error));
    KF_TRY(kf_plan_advance(plan, (uint64_t)reference->steps, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    for (int i = 0; i < problem->argument_count; i++)
        if (by_run(&problem->arguments[i]))
            KF_TRY(kf_t1_download(plan, i, &reference->outputs->values[i], error));
    reference->outputs->made = true;
    return KF_OK;
}

static kf_status make_reference(kf_backend *backend, const kf_reference *reference, kf_error *error) {
    const kf_t1_problem *problem = reference->problem->own;
    kf_plan *plan = NULL;
    bool needed = false;
    for (int i = 0; i < problem->argument_count; i++)
        needed = needed || by_run(&problem->arguments[i]);
    if (!needed || reference->outputs->made) return KF_OK;
    const bool kernel = problem->reference_file[0] != '\0';
    kf_status status = kernel ? kf_t1_reference_plan(reference->problem, backend, &plan, error)
                              : kf_t1_plan(reference->problem, &problem->reference, backend, &plan, error);
    if (status == KF_OK) status = run_reference(plan, reference, error);
    if (plan != NULL) kf_plan_free(plan);
    return status == KF_OK ? KF_OK
                           : kf_fail_context(error, "the reference run, with %s, failed",
                                             kernel ? "the reference kernel" : "the default config");
}

/* What the type's rounding may come to over some thousand operations; whole numbers are the same or wrong. */
static double bound_of(const kf_t1_argument *argument) {
    if (!isnan(argument->threshold)) return argument->threshold;
    if (!argument->type.real) return 0.0;
    return argument->type.bytes == sizeof(double)  ? 1e-10
           : argument->type.bytes == sizeof(float) ? 1e-4
                                                   : 1e-2;
}

static void describe(const kf_t1_argument *argument, const void *values, const void *right, size_t worst,
                     kf_verification *verification) {
    (void)snprintf(verification->worst, sizeof verification->worst, "%.24s[%zu] is %.6g, not %.6g",
                   argument->name, worst, kf_t1_value(&argument->type, values, worst),
                   kf_t1_value(&argument->type, right, worst));
}

kf_status kf_t1_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                       kf_error *error) {
    const kf_t1_problem *problem = reference->problem->own;
    double farthest = -1.0;
    bool answered = false; /* what stands for all is held against an answer */
    memset(verification, 0, sizeof *verification);
    verification->error = (double)NAN;
    KF_TRY(make_reference(plan->backend, reference, error));
    for (int i = 0; i < problem->argument_count; i++) {
        const kf_t1_argument *argument = &problem->arguments[i];
        void *values = NULL;
        size_t worst = 0;
        if (!argument->output) continue;
        const void *right = argument->answer != NULL ? argument->answer : reference->outputs->values[i];
        KF_TRY(kf_t1_download(plan, i, &values, error));
        const double bound = bound_of(argument);
        const double off = kf_t1_deviation(argument, values, right, &worst);
        /* The output that comes nearest to its bound, or is farthest beyond it, stands for all. */
        const double share = off == 0.0 ? 0.0 : bound > 0.0 ? off / bound : (double)INFINITY;
        if (!(share <= farthest)) {
            answered = argument->answer != NULL;
            farthest = isnan(share) ? (double)INFINITY : share;
            verification->count = 0;
            kf_verification_add(verification, argument->name, off, bound);
            describe(argument, values, right, worst, verification);
        }
        free(values);
    }
    answered = answered || problem->reference_file[0] != '\0';
    if (verification->error <= verification->bound) return KF_OK;
    return kf_fail(error, KF_GATE_FAILED, "deviates from the reference%s by %.3g, accepted is %.3g: %s",
                   answered ? " answer" : " run", verification->error, verification->bound,
                   verification->worst);
}
