/* Finds the kernel of a step, and its counter, that changed together with the whole step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "harness/nightly/entry.h"

/* A kernel of both arms, with its time in a step for each process. */
typedef struct kernel_row {
    char name[48];
    int ordinal[2]; /* its place in the plan, which may differ between the programs */
    int count[2];
    double time_us[2][KF_NIGHT_PROCESSES];
    kf_kernel_time last[2]; /* registers and the like, which are the same in all processes */
} kernel_row;

typedef struct blame {
    int arm_of[3 * KF_NIGHT_PROCESSES +
               1]; /* by the sequence number of a result; 0: reference, 1: candidate, -1: neither */
    kernel_row *rows;
    size_t count, room;
    int ordinal; /* the blamed kernel */
    int side;    /* the arm whose counters are visited */
    struct {
        char metric[96];
        double value[2];
    } counters[64];
    int counter_count;
} blame;

static kf_status note_arm(void *context, const kf_process *process, kf_error *error) {
    (void)error;
    blame *b = context;
    if (process->sequence < (int)(sizeof b->arm_of / sizeof b->arm_of[0]))
        b->arm_of[process->sequence] = process->arm == KF_ARM_REFERENCE   ? 0
                                       : process->arm == KF_ARM_CANDIDATE ? 1
                                                                          : -1;
    return KF_OK;
}

static kernel_row *row_of(blame *b, const kf_kernel_time *kernel, int ordinal) {
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->rows[i].name, kernel->name) == 0) return &b->rows[i];
    b->rows = kf_grow(b->rows, b->count, &b->room, sizeof *b->rows);
    kernel_row *row = &b->rows[b->count++];
    memset(row, 0, sizeof *row);
    kf_copy_text(row->name, sizeof row->name, kernel->name);
    row->ordinal[0] = row->ordinal[1] = ordinal;
    return row;
}

static kf_status note_kernels(void *context, int sequence, const char *role, const kf_config *config,
                              const kf_measurement *measurement, kf_error *error) {
    (void)role;
    (void)config;
    (void)error;
    blame *b = context;
    if (sequence >= (int)(sizeof b->arm_of / sizeof b->arm_of[0])) return KF_OK;
    int side = b->arm_of[sequence];
    for (int i = 0; side >= 0 && i < measurement->kernel_count; i++) {
        const kf_kernel_time *kernel = &measurement->kernels[i];
        kernel_row *row = row_of(b, kernel, i);
        if (row->count[side] == KF_NIGHT_PROCESSES || !(kernel->time_us.median > 0.0)) continue;
        row->time_us[side][row->count[side]++] = kernel->time_us.median * kernel->launches_per_step;
        row->last[side] = *kernel;
        row->ordinal[side] = i;
    }
    return KF_OK;
}

/* Returns the kernel's time in a step; 0: the arm does not have this kernel. */
static double time_of(const kernel_row *row, int side) {
    return row->count[side] > 0 ? kf_median(row->time_us[side], (size_t)row->count[side]) : 0.0;
}

static void note_counter(void *context, int ordinal, const char *metric, double value) {
    blame *b = context;
    if (ordinal != b->ordinal) return;
    int at = 0;
    while (at < b->counter_count && strcmp(b->counters[at].metric, metric) != 0)
        at++;
    if (at == (int)(sizeof b->counters / sizeof b->counters[0])) return;
    if (at == b->counter_count) {
        kf_copy_text(b->counters[at].metric, sizeof b->counters[at].metric, metric);
        b->counters[at].value[0] = b->counters[at].value[1] = (double)NAN;
        b->counter_count++;
    }
    b->counters[at].value[b->side] = value;
}

/* Records what is known of a kernel without counters. */
static void note_static(blame *b, const kernel_row *row) {
    for (b->side = 0; b->side < 2; b->side++) {
        const kf_kernel_time *kernel = &row->last[b->side];
        if (row->count[b->side] == 0) continue;
        note_counter(b, b->ordinal, "registers a thread", kernel->registers);
        note_counter(b, b->ordinal, "spilled bytes a thread", kernel->spill_bytes);
        note_counter(b, b->ordinal, "shared memory a block", kernel->shared_bytes);
        note_counter(b, b->ordinal, "least bytes a launch", kernel->bytes);
        if (!isnan(kernel->theoretical_occupancy))
            note_counter(b, b->ordinal, "theoretical occupancy", kernel->theoretical_occupancy);
    }
}

static double movement(double before, double after) {
    if (isnan(before) || isnan(after) || before == after) return 0.0;
    return fabs(after - before) / fmax(fabs(before), fabs(after));
}

static void choose_counter(const blame *b, kf_verdict *verdict) {
    static const double LEAST = 0.005; /* smaller changes are noise */
    double most = LEAST;
    for (int i = 0; i < b->counter_count; i++) {
        double moved = movement(b->counters[i].value[0], b->counters[i].value[1]);
        if (moved <= most) continue;
        most = moved;
        kf_copy_text(verdict->counter, sizeof verdict->counter, b->counters[i].metric);
        verdict->counter_before = b->counters[i].value[0];
        verdict->counter_after = b->counters[i].value[1];
    }
}

static kf_status find_counter(kf_store *store, int64_t night, kf_entry *entry, blame *b,
                              const kernel_row *row, kf_error *error) {
    note_static(b, row);
    for (b->side = 0; b->side < 2; b->side++) {
        b->ordinal = row->ordinal[b->side];
        KF_TRY(kf_store_night_counters(store, night, entry->benchmark->name,
                                       b->side == 0 ? KF_ARM_REFERENCE : KF_ARM_CANDIDATE, note_counter, b,
                                       error));
    }
    choose_counter(b, &entry->verdict);
    return KF_OK;
}

/* Finds the kernel that changed most in the direction of the whole step, and then the counter that changed
 * most. */
static kf_status look(kf_store *store, int64_t night, kf_entry *entry, blame *b, kf_error *error) {
    KF_TRY(kf_store_processes(store, night, entry->benchmark->name, note_arm, b, error));
    KF_TRY(kf_store_results(store, entry->run.id, note_kernels, b, error));
    const kernel_row *most = NULL;
    for (size_t i = 0; i < b->count; i++) {
        double change = time_of(&b->rows[i], 1) - time_of(&b->rows[i], 0);
        /* Only kernels that changed in the direction of the whole step are named. */
        if (change * entry->comparison.shift <= 0.0 ||
            (most != NULL && fabs(change) <= fabs(time_of(most, 1) - time_of(most, 0))))
            continue;
        most = &b->rows[i];
    }
    if (most == NULL) return KF_OK;
    kf_copy_text(entry->verdict.kernel, sizeof entry->verdict.kernel, most->name);
    entry->verdict.kernel_change_us = time_of(most, 1) - time_of(most, 0);
    return find_counter(store, night, entry, b, most, error);
}

kf_status kf_entry_blame(kf_store *store, int64_t night, kf_entry *entry, kf_error *error) {
    if (entry->run.id == 0 || isnan(entry->comparison.shift)) return KF_OK;
    blame *b = kf_allocate_zeroed(1, sizeof *b);
    for (size_t i = 0; i < sizeof b->arm_of / sizeof b->arm_of[0]; i++)
        b->arm_of[i] = -1;
    kf_status status = look(store, night, entry, b, error);
    free(b->rows);
    free(b);
    return status;
}
