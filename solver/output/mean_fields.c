#include "solver/output/mean_fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"

static size_t values_of(const kf_snapshot *snapshot) {
    size_t values = 0;
    for (size_t q = 0; q < snapshot->quantity_count; q++)
        values += snapshot->count * (size_t)snapshot->quantities[q].components;
    return values;
}

static void begin(kf_mean_fields *fields, const kf_snapshot *snapshot) {
    kf_snapshot_of_nodes(&fields->shape, snapshot->nodes, snapshot->origin[0], snapshot->spacing[0]);
    for (size_t q = 0; q < snapshot->quantity_count; q++) {
        const kf_quantity *quantity = &snapshot->quantities[q];
        (void)kf_snapshot_add(&fields->shape, quantity->name, quantity->unit, quantity->components);
    }
    fields->mean = kf_allocate_zeroed(values_of(snapshot) + 1, sizeof *fields->mean);
    fields->square = kf_allocate_zeroed(values_of(snapshot) + 1, sizeof *fields->square);
}

/* Adds a snapshot to the running means and sums of squares (Welford's method). */
void kf_mean_fields_add(kf_mean_fields *fields, const kf_snapshot *snapshot) {
    if (fields->samples == 0) begin(fields, snapshot);
    fields->samples++;
    fields->shape.time = snapshot->time;
    fields->shape.step = snapshot->step;
    size_t at = 0;
    for (size_t q = 0; q < snapshot->quantity_count; q++) {
        const kf_quantity *quantity = &snapshot->quantities[q];
        const size_t count = snapshot->count * (size_t)quantity->components;
        for (size_t i = 0; i < count; i++, at++) {
            const double value = (double)quantity->values[i], off = value - fields->mean[at];
            fields->mean[at] += off / (double)fields->samples;
            fields->square[at] += off * (value - fields->mean[at]);
        }
    }
}

/* Makes a snapshot of the means, and of the root mean square deviations under name_rms. */
void kf_mean_fields_snapshot(const kf_mean_fields *fields, kf_snapshot *snapshot) {
    const kf_snapshot *shape = &fields->shape;
    kf_snapshot_of_nodes(snapshot, shape->nodes, shape->origin[0], shape->spacing[0]);
    snapshot->time = shape->time;
    snapshot->step = shape->step;
    size_t at = 0;
    for (size_t q = 0; q < shape->quantity_count; q++) {
        const kf_quantity *quantity = &shape->quantities[q];
        const size_t count = shape->count * (size_t)quantity->components;
        char name[sizeof quantity->name];
        (void)snprintf(name, sizeof name, "%.40s_rms", quantity->name);
        float *mean = kf_snapshot_add(snapshot, quantity->name, quantity->unit, quantity->components),
              *rms = kf_snapshot_add(snapshot, name, quantity->unit, quantity->components);
        for (size_t i = 0; i < count; i++, at++) {
            mean[i] = (float)fields->mean[at];
            rms[i] = (float)sqrt(fields->square[at] / (double)fields->samples);
        }
    }
}

void kf_mean_fields_free(kf_mean_fields *fields) {
    kf_snapshot_free(&fields->shape);
    free(fields->mean);
    free(fields->square);
    *fields = (kf_mean_fields){.samples = 0};
}
