#include "base/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/util/text.h"

enum { LONGEST_GRAPH = 64 }; /* steps; longer periods run launch by launch */

void kf_fields_free(kf_fields *fields) {
    free(fields->density);
    for (int i = 0; i < 3; i++)
        free(fields->velocity[i]);
    memset(fields, 0, sizeof *fields);
}

kf_status kf_plan_buffer(kf_plan *plan, size_t bytes, kf_buffer **buffer, kf_error *error) {
    if (plan->buffer_count == KF_PLAN_BUFFERS)
        return kf_fail(error, KF_MACHINE, "a plan holds at most %d buffers", KF_PLAN_BUFFERS);
    KF_TRY(kf_buffer_create(plan->backend, bytes, buffer, error));
    plan->buffers[plan->buffer_count++] = *buffer;
    return KF_OK;
}

kf_status kf_plan_check_buffers(const kf_plan *plan, kf_error *error) {
    for (int i = 0; i < plan->buffer_count; i++)
        KF_TRY(kf_buffer_check(plan->buffers[i], error));
    return KF_OK;
}

kf_status kf_plan_module(kf_plan *plan, const kf_source *source, kf_module **module, kf_error *error) {
    if (plan->module_count == KF_PLAN_MODULES)
        return kf_fail(error, KF_MACHINE, "a plan holds at most %d modules", KF_PLAN_MODULES);
    KF_TRY(kf_module_load(plan->backend, source, module, &plan->builds[plan->module_count], error));
    plan->modules[plan->module_count++] = *module;
    return KF_OK;
}

kf_launch *kf_plan_append(kf_plan *plan, int parity, const char *name, kf_function *function,
                          const int block[3], const void *arguments, size_t bytes) {
    kf_launch *first = NULL;
    for (int p = 0; p < 2; p++) {
        if (parity != p && parity != 2) continue;
        if (plan->step_count[p] == KF_PLAN_LAUNCHES) return NULL;
        kf_launch *launch = &plan->step[p][plan->step_count[p]++];
        kf_launch_set(launch, name, function, block, arguments, bytes);
        launch->period = 1;
        if (first == NULL) first = launch;
    }
    return first;
}

static int least_common_multiple(int a, int b) {
    int multiple = a;
    while (multiple % b != 0)
        multiple += a;
    return multiple;
}

/* Steps after which the sequence of launches repeats. */
static int cycle_length(const kf_plan *plan) {
    int length = 2;
    for (int p = 0; p < 2; p++)
        for (int i = 0; i < plan->step_count[p]; i++) {
            int period = plan->step[p][i].period;
            length = least_common_multiple(length, period);
            if (length > LONGEST_GRAPH) return length;
        }
    return length;
}

static kf_status make_graph(kf_plan *plan, kf_error *error) {
    int steps = cycle_length(plan);
    if (steps > LONGEST_GRAPH) {
        plan->graph_steps = -1;
        return KF_OK;
    }
    const kf_launch **launches = kf_allocate((size_t)steps * KF_PLAN_LAUNCHES * sizeof(kf_launch *));
    int count = 0;
    for (int t = 0; t < steps; t++)
        for (int i = 0; i < plan->step_count[t % 2]; i++)
            if (t % plan->step[t % 2][i].period == 0) launches[count++] = &plan->step[t % 2][i];
    kf_status status = kf_graph_create(plan->backend, launches, count, &plan->graph, error);
    free(launches);
    if (status == KF_OK) plan->graph_steps = steps;
    return status;
}

static kf_status one_step(kf_plan *plan, kf_error *error) {
    int parity = (int)(plan->steps_done % 2);
    for (int i = 0; i < plan->step_count[parity]; i++) {
        const kf_launch *launch = &plan->step[parity][i];
        if (plan->steps_done % (uint64_t)launch->period == 0)
            KF_TRY(kf_backend_launch(plan->backend, launch, error));
    }
    plan->steps_done++;
    return KF_OK;
}

kf_status kf_plan_advance(kf_plan *plan, uint64_t steps, kf_error *error) {
    uint64_t end = plan->steps_done + steps;
    while (plan->steps_done < end) {
        uint64_t left = end - plan->steps_done;
        if (plan->graph_steps == 0 && left > 4) KF_TRY(make_graph(plan, error));
        if (plan->graph_steps > 0 && left >= (uint64_t)plan->graph_steps &&
            plan->steps_done % (uint64_t)plan->graph_steps == 0) {
            KF_TRY(kf_graph_launch(plan->graph, error));
            plan->steps_done += (uint64_t)plan->graph_steps;
        } else {
            KF_TRY(one_step(plan, error));
        }
    }
    return KF_OK;
}

kf_status kf_plan_initialise(kf_plan *plan, kf_error *error) {
    plan->steps_done = 0;
    return plan->methods->initialise(plan, error);
}

void kf_plan_free(kf_plan *plan) {
    if (plan == NULL) return;
    (void)kf_backend_synchronize(plan->backend, NULL);
    if (plan->graph != NULL) kf_graph_free(plan->graph);
    if (plan->methods != NULL) plan->methods->free(plan);
    for (int i = 0; i < plan->buffer_count; i++)
        kf_buffer_free(plan->buffers[i]);
    for (int i = 0; i < plan->module_count; i++)
        kf_module_free(plan->modules[i]);
    free(plan);
}
