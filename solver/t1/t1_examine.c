/* Checks that the reference is usable. It runs with much space behind its arguments, once filled with zeros
 * and once with other values. If the results differ, it reads beyond an end. Bisection finds where. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/t1/t1.h"

enum { MOST_ROOM = 64 << 20, LEAST_ROOM = 1 << 20 };

typedef struct examination {
    const kf_t1_problem *problem;
    kf_plan *plan;
    size_t room;
    unsigned char *bytes; /* [room] */
} examination;

/* Fills the space behind an argument with zeros, and from that byte on with the pattern. */
static kf_status fill_behind(const examination *e, int i, size_t from, unsigned char pattern,
                             kf_error *error) {
    const size_t bytes = kf_t1_count_of(e->plan, i) * e->problem->arguments[i].type.bytes;
    memset(e->bytes, 0, from);
    memset(e->bytes + from, pattern, e->room - from);
    return kf_t1_upload(e->plan, i, bytes, e->bytes, e->room, error);
}

static bool is_input(const kf_t1_argument *argument) {
    return !argument->scalar && argument->read && !argument->constant;
}

/* Runs a launch and collects all outputs; the caller frees each. input: the argument behind which the pattern
 * lies, or -1. */
static kf_status run(const examination *e, int input, size_t from, unsigned char pattern,
                     void *outputs[KF_T1_ARGUMENTS], kf_error *error) {
    KF_TRY(kf_plan_initialise(e->plan, error));
    for (int i = 0; i < e->problem->argument_count; i++)
        if (is_input(&e->problem->arguments[i]))
            KF_TRY(fill_behind(e, i, i == input ? from : e->room, pattern, error));
    KF_TRY(kf_plan_advance(e->plan, 1, error));
    KF_TRY(kf_backend_synchronize(e->plan->backend, error));
    for (int i = 0; i < e->problem->argument_count; i++)
        if (e->problem->arguments[i].output) KF_TRY(kf_t1_download(e->plan, i, &outputs[i], error));
    return KF_OK;
}

static void free_outputs(void *outputs[KF_T1_ARGUMENTS]) {
    for (int i = 0; i < KF_T1_ARGUMENTS; i++)
        free(outputs[i]);
}

/* Finds whether the outputs differ from the first launch's, by more than launches do. */
static kf_status differs(const examination *e, void *const *first, double spread, int input, size_t from,
                         unsigned char pattern, bool *differ, kf_error *error) {
    void *outputs[KF_T1_ARGUMENTS] = {NULL};
    *differ = false;
    const kf_status status = run(e, input, from, pattern, outputs, error);
    for (int i = 0; i < e->problem->argument_count && status == KF_OK; i++) {
        const kf_t1_argument *argument = &e->problem->arguments[i];
        size_t worst = 0;
        if (!argument->output || memcmp(outputs[i], first[i], argument->count * argument->type.bytes) == 0)
            continue;
        const double off = kf_t1_deviation(argument, outputs[i], first[i], &worst);
        *differ = *differ || spread <= 0.0 || !(off <= 10.0 * spread);
    }
    free_outputs(outputs);
    return status;
}

/* Finds the last byte behind an input that changes the result, by bisection. */
static kf_status find_last(const examination *e, void *const *first, double spread, int input,
                           unsigned char pattern, size_t *last, kf_error *error) {
    /* The pattern has an effect from low on, and none from high on. */
    size_t low = 0, high = e->room;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        bool differ = false;
        KF_TRY(differs(e, first, spread, input, middle, pattern, &differ, error));
        if (differ)
            low = middle;
        else
            high = middle;
    }
    *last = low;
    return KF_OK;
}

/* Inputs of which more is read than they have. */
static kf_status look_behind(const examination *e, void *const *first, double spread, kf_error *error) {
    /* NaN; and 0.747 and similar values for an index. */
    static const unsigned char patterns[] = {0xFF, 0x3F};
    for (int i = 0; i < e->problem->argument_count; i++) {
        const kf_t1_argument *argument = &e->problem->arguments[i];
        const size_t value = argument->type.bytes * (size_t)argument->type.components;
        for (size_t k = 0; k < sizeof patterns && is_input(argument); k++) {
            bool differ = false;
            size_t last = 0;
            if (k > 0 && !argument->type.real) break;
            KF_TRY(differs(e, first, spread, i, 0, patterns[k], &differ, error));
            if (!differ) continue;
            KF_TRY(find_last(e, first, spread, i, patterns[k], &last, error));
            const size_t values = kf_t1_count_of(e->plan, i) / (size_t)argument->type.components;
            return kf_fail(error, KF_BAD_INPUT,
                           "'%s' is too short: its Size is %zu, and the kernel reads value %zu%s; give it at "
                           "least %zu",
                           argument->name, values, values + last / value,
                           last + value >= e->room ? ", or beyond" : "", values + last / value + 1);
        }
    }
    return KF_OK;
}

/* Returns whether a value still is what spoiled it. */
static bool is_untouched(const kf_t1_argument *argument, const void *outputs, size_t at) {
    const unsigned char *bytes = (const unsigned char *)outputs + at * argument->type.bytes;
    for (size_t i = 0; i < argument->type.bytes; i++)
        if (bytes[i] != 0xFF) return false;
    return true;
}

static bool has_write_only(const kf_t1_problem *problem) {
    bool has = false;
    for (int i = 0; i < problem->argument_count; i++)
        has = has || (!problem->arguments[i].scalar && !problem->arguments[i].read);
    return has;
}

/* Parts that the kernel leaves alone hold the NaN from before the launch, in every config's outputs. */
static kf_status look_for_infinite(const examination *e, void *const *outputs, kf_error *error) {
    for (int i = 0; i < e->problem->argument_count; i++) {
        const kf_t1_argument *argument = &e->problem->arguments[i];
        size_t untouched = 0;
        for (size_t at = 0; argument->output && argument->type.real && at < argument->count; at++) {
            const double value = kf_t1_value(&argument->type, outputs[i], at);
            const bool left = !argument->read && is_untouched(argument, outputs[i], at);
            untouched += left;
            if (isfinite(value) || left) continue;
            return kf_fail(error, KF_BAD_INPUT, "its output is not finite: %s[%zu] is %g%s", argument->name,
                           at, isnan(value) ? fabs(value) : value,
                           isnan(value) && has_write_only(e->problem)
                               ? "; what is WriteOnly begins as NaN: does the kernel read such an argument?"
                               : "");
        }
        if (argument->output && untouched == argument->count)
            return kf_fail(error, KF_BAD_INPUT, "it writes nothing to its output '%s'", argument->name);
    }
    return KF_OK;
}

/* Finds outputs that are called WriteOnly and are read. With NaN such an output looks like one that was not
 * written, and any kernel that does not write it would be right. With other values the results differ from
 * those. */
static kf_status look_for_read_outputs(const examination *e, void *const *first, kf_error *error) {
    enum { OTHER = 0x3F }; /* 0.747 and the like */
    for (int i = 0; i < e->problem->argument_count; i++) {
        const kf_t1_argument *argument = &e->problem->arguments[i];
        const size_t size = argument->type.bytes;
        void *values = NULL;
        size_t left = 0;
        if (!argument->output || argument->read) continue;
        while (left < argument->count && !is_untouched(argument, first[i], left))
            left++;
        if (left == argument->count) continue;
        unsigned char *other = kf_allocate(argument->count * size);
        memset(other, OTHER, argument->count * size);
        kf_status status = kf_plan_initialise(e->plan, error);
        if (status == KF_OK) status = kf_t1_upload(e->plan, i, 0, other, argument->count * size, error);
        if (status == KF_OK) status = kf_plan_advance(e->plan, 1, error);
        if (status == KF_OK) status = kf_backend_synchronize(e->plan->backend, error);
        if (status == KF_OK) status = kf_t1_download(e->plan, i, &values, error);
        for (size_t at = left; status == KF_OK && at < argument->count; at++)
            if (is_untouched(argument, first[i], at) &&
                memcmp((const unsigned char *)values + at * size, other, size) != 0)
                status =
                    kf_fail(error, KF_BAD_INPUT,
                            "it reads its output '%s', as %s[%zu], which is called WriteOnly and begins as "
                            "NaN; make it ReadWrite",
                            argument->name, argument->name, at);
        free(other);
        free(values);
        if (status != KF_OK) return status;
    }
    return KF_OK;
}

/* Refuses a reference that changes nothing, because it would equal a kernel that does nothing. */
static kf_status look_for_idle(const examination *e, void *const *first, kf_error *error) {
    bool changes = false;
    KF_TRY(kf_plan_initialise(e->plan, error));
    for (int i = 0; i < e->problem->argument_count && !changes; i++) {
        const kf_t1_argument *argument = &e->problem->arguments[i];
        void *before = NULL;
        if (!argument->output) continue;
        KF_TRY(kf_t1_download(e->plan, i, &before, error));
        changes = memcmp(before, first[i], argument->count * argument->type.bytes) != 0;
        free(before);
    }
    return changes
               ? KF_OK
               : kf_fail(error, KF_BAD_INPUT,
                         "it changes none of its outputs, so a kernel that does nothing would be right; give "
                         "its inputs other values, as with \"FillType\": \"Random\"");
}

/* Finds in *spread the largest relative difference between two launches from the same arguments. */
static kf_status look_for_spread(const examination *e, void *const *first, double *spread, kf_error *error) {
    void *outputs[KF_T1_ARGUMENTS] = {NULL};
    *spread = 0.0;
    kf_status status = run(e, -1, 0, 0, outputs, error);
    for (int i = 0; i < e->problem->argument_count && status == KF_OK; i++) {
        const kf_t1_argument *argument = &e->problem->arguments[i];
        size_t worst = 0;
        if (!argument->output) continue;
        const double off = kf_t1_deviation(argument, outputs[i], first[i], &worst);
        const double bound = isnan(argument->threshold) ? 0.01 : argument->threshold;
        if (!(off <= *spread)) *spread = off;
        if (!(off <= bound)) {
            char text[128];
            kf_t1_tell_difference(argument, outputs[i], first[i], worst, text, sizeof text);
            status = kf_fail(error, KF_BAD_INPUT,
                             "it differs from launch to launch: %s as before; does it wait for all of its "
                             "threads, and write each value once?",
                             text);
        }
    }
    free_outputs(outputs);
    return status;
}

static kf_status examine(const examination *e, kf_error *error) {
    void *first[KF_T1_ARGUMENTS] = {NULL};
    double spread = 0.0;
    kf_status status = run(e, -1, 0, 0, first, error);
    if (status == KF_OK) status = look_for_spread(e, first, &spread, error);
    if (status == KF_OK) status = look_behind(e, first, spread, error);
    if (status == KF_OK) status = look_for_read_outputs(e, first, error);
    if (status == KF_OK) status = look_for_infinite(e, first, error);
    if (status == KF_OK) status = look_for_idle(e, first, error);
    free_outputs(first);
    return status;
}

/* Checks what the kernel writes, with guards of the usual size, which the room would hide. */
static kf_status check_writes(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                              kf_error *error) {
    kf_plan *plan = NULL;
    kf_status status = kf_t1_plan_with_room(problem, config, KF_T1_GUARD, backend, &plan, error);
    if (status == KF_OK) status = kf_plan_initialise(plan, error);
    if (status == KF_OK) status = kf_plan_advance(plan, 1, error);
    if (status == KF_OK) status = kf_backend_synchronize(backend, error);
    if (status == KF_OK) status = kf_t1_check(plan, 0, error);
    if (plan != NULL) kf_plan_free(plan);
    return status;
}

/* Returns as much room as the largest argument has, within bounds. */
static size_t room_for(const kf_t1_problem *problem) {
    size_t room = LEAST_ROOM;
    for (int i = 0; i < problem->argument_count; i++) {
        const size_t bytes = problem->arguments[i].count * problem->arguments[i].type.bytes;
        if (bytes > room) room = bytes;
    }
    return room < MOST_ROOM ? (room + KF_T1_GUARD - 1) / KF_T1_GUARD * KF_T1_GUARD : MOST_ROOM;
}

static kf_status examine_one(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                             kf_error *error) {
    const kf_t1_problem *own = problem->own;
    examination e = {.problem = own, .room = room_for(own)};
    if (kf_t1_plan_with_room(problem, config, e.room, backend, &e.plan, error) != KF_OK) {
        /* Without memory the gate reports it later. */
        if (strstr(error->message, "out of memory") != NULL) return KF_OK;
        return error->status;
    }
    e.bytes = kf_allocate(e.room);
    kf_status status = examine(&e, error);
    kf_plan_free(e.plan);
    free(e.bytes);
    return status == KF_OK ? check_writes(problem, config, backend, error) : status;
}

kf_status kf_t1_examine(const kf_problem *problem, kf_backend *backend, kf_error *error) {
    const kf_t1_problem *own = problem->own;
    if (own->reference_file[0] != '\0' && examine_one(problem, NULL, backend, error) != KF_OK)
        return kf_fail_context(error, "%s: the reference kernel %s is of no use", own->file,
                               own->reference_name);
    if (examine_one(problem, &own->reference, backend, error) == KF_OK) return KF_OK;
    return kf_fail_context(error, "%s: the default config of %s is of no use", own->file, own->kernel_name);
}
