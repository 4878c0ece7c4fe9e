#include "solver/output/mean_fields.h"

#include <math.h>
#include <stdbool.h>
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

static const size_t pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};

static bool is_velocity(const kf_quantity *quantity) {
    return quantity != NULL && quantity->components == 3 && strcmp(quantity->name, "velocity") == 0;
}

static void begin(kf_mean_fields *fields, const kf_snapshot *snapshot) {
    kf_snapshot_of_nodes(&fields->shape, snapshot->nodes, snapshot->origin[0], snapshot->spacing[0]);
    for (size_t q = 0; q < snapshot->quantity_count; q++) {
        const kf_quantity *quantity = &snapshot->quantities[q];
        (void)kf_snapshot_add(&fields->shape, quantity->name, quantity->unit, quantity->components);
    }
    fields->mean = kf_allocate_zeroed(values_of(snapshot) + 1, sizeof *fields->mean);
    fields->square = kf_allocate_zeroed(values_of(snapshot) + 1, sizeof *fields->square);
    if (is_velocity(kf_snapshot_find(snapshot, "velocity")))
        fields->cross = kf_allocate_zeroed(3 * snapshot->count + 1, sizeof *fields->cross);
}

/* Adds to the sums of products, by the means after this moment and before it. at: of the velocity's first
 * value among all. */
static void add_products(kf_mean_fields *fields, const kf_quantity *velocity, size_t at, size_t count) {
    const double before =
        /* The weight of the old mean. */
        1.0 - 1.0 / (double)fields->samples;
    for (size_t i = 0; i < count; i++) {
        const double *mean = fields->mean + at + 3 * i;
        double off[3];
        for (size_t a = 0; a < 3; a++)
            off[a] = (double)velocity->values[3 * i + a] - mean[a];
        for (size_t k = 0; k < 3 && before > 0.0; k++)
            fields->cross[3 * i + k] += off[pairs[k][0]] * off[pairs[k][1]] / before;
    }
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
        if (is_velocity(quantity)) add_products(fields, quantity, at - count, snapshot->count);
    }
}

static void add_stresses(const kf_mean_fields *fields, size_t velocity_at, kf_snapshot *snapshot) {
    float *stress = kf_snapshot_add(snapshot, "reynolds_stress", "m^2/s^2", 6);
    for (size_t i = 0; i < snapshot->count; i++)
        for (size_t k = 0; k < 3; k++) {
            stress[6 * i + k] = (float)(fields->square[velocity_at + 3 * i + k] / (double)fields->samples);
            stress[6 * i + 3 + k] = (float)(fields->cross[3 * i + k] / (double)fields->samples);
        }
}

/* Makes a snapshot of the means, and of the root mean square deviations under name_rms. */
void kf_mean_fields_snapshot(const kf_mean_fields *fields, kf_snapshot *snapshot) {
    const kf_snapshot *shape = &fields->shape;
    kf_snapshot_of_nodes(snapshot, shape->nodes, shape->origin[0], shape->spacing[0]);
    snapshot->time = shape->time;
    snapshot->step = shape->step;
    size_t at = 0, velocity_at = 0;
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
        if (is_velocity(quantity)) velocity_at = at - count;
    }
    if (fields->cross != NULL) add_stresses(fields, velocity_at, snapshot);
}

void kf_mean_fields_free(kf_mean_fields *fields) {
    kf_snapshot_free(&fields->shape);
    free(fields->mean);
    free(fields->square);
    free(fields->cross);
    *fields = (kf_mean_fields){.samples = 0};
}
