#include "harness/measure/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/world.h"
#include "base/util/memory.h"

static double fastest(const kf_kernel_time *row) {
    return row->fastest_us > 0.0 ? row->fastest_us : row->time_us.median;
}

void kf_rows_join(kf_kernel_time *row, const kf_kernel_time *other) {
    const double bytes = row->bytes * row->launches_per_step + other->bytes * other->launches_per_step,
                 flops = row->flops * row->launches_per_step + other->flops * other->launches_per_step;
    const double least = fmin(fastest(row), fastest(other));
    if (kf_kernel_step_us(other) > kf_kernel_step_us(row)) {
        row->time_us = other->time_us;
        row->launches_per_step = other->launches_per_step;
    }
    row->bytes = bytes / row->launches_per_step;
    row->flops = flops / row->launches_per_step;
    row->fastest_us = least;
}

/* Collects the rows of all processes one after another. */
static kf_status bring_together(const kf_measurement *m, kf_kernel_time **rows, size_t *count,
                                kf_error *error) {
    const size_t size = (size_t)kf_world_size(), self = (size_t)kf_world_rank();
    int64_t *counts = kf_allocate_zeroed(size, sizeof *counts);
    size_t *ends = kf_allocate(size * sizeof *ends), all = 0, first = 0;
    counts[self] = m->kernel_count;
    kf_status status = kf_world_sum(counts, (int)size, error);
    for (size_t rank = 0; rank < size; rank++) {
        if (rank == self) first = all;
        all += (size_t)counts[rank];
        ends[rank] = all * sizeof **rows;
    }
    *rows = kf_allocate_zeroed(all + 1, sizeof **rows);
    if (m->kernel_count > 0) memcpy(*rows + first, m->kernels, (size_t)m->kernel_count * sizeof **rows);
    if (status == KF_OK) status = kf_world_gather(*rows, ends, error);
    *count = all;
    free(counts);
    free(ends);
    return status;
}

/* Gathers the rows of all processes and joins those with the same name. All processes then have the same
 * table. */
kf_status kf_rows_gather(kf_measurement *measurement, kf_error *error) {
    kf_kernel_time *rows;
    size_t count;
    const kf_status status = bring_together(measurement, &rows, &count, error);
    if (status == KF_OK) measurement->kernel_count = 0;
    for (size_t i = 0; i < count && status == KF_OK; i++) {
        int at = 0;
        rows[i].name[sizeof rows[i].name - 1] = '\0';
        while (at < measurement->kernel_count && strcmp(measurement->kernels[at].name, rows[i].name) != 0)
            at++;
        if (at < measurement->kernel_count)
            kf_rows_join(&measurement->kernels[at], &rows[i]);
        else
            *kf_measurement_add_kernel(measurement) = rows[i];
    }
    free(rows);
    return status;
}
