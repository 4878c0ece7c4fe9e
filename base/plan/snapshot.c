#include "base/plan/snapshot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"

void kf_snapshot_of_nodes(kf_snapshot *snapshot, const int nodes[3], double origin, double spacing) {
    *snapshot = (kf_snapshot){.on = KF_ON_NODES, .count = 1};
    for (int a = 0; a < 3; a++) {
        snapshot->nodes[a] = nodes[a];
        snapshot->count *= (size_t)nodes[a];
        snapshot->origin[a] = origin;
        snapshot->spacing[a] = spacing;
    }
}

void kf_snapshot_of_particles(kf_snapshot *snapshot, size_t count) {
    *snapshot = (kf_snapshot){.on = KF_ON_PARTICLES, .count = count};
}

float *kf_snapshot_add(kf_snapshot *snapshot, const char *name, const char *unit, int components) {
    snapshot->quantities = kf_grow(snapshot->quantities, snapshot->quantity_count, &snapshot->quantity_room,
                                   sizeof *snapshot->quantities);
    kf_quantity *quantity = &snapshot->quantities[snapshot->quantity_count++];
    *quantity = (kf_quantity){.components = components};
    kf_copy_text(quantity->name, sizeof quantity->name, name);
    kf_copy_text(quantity->unit, sizeof quantity->unit, unit);
    quantity->values = kf_allocate(snapshot->count * (size_t)components * sizeof *quantity->values);
    return quantity->values;
}

const kf_quantity *kf_snapshot_find(const kf_snapshot *snapshot, const char *name) {
    for (size_t i = 0; i < snapshot->quantity_count; i++)
        if (strcmp(snapshot->quantities[i].name, name) == 0) return &snapshot->quantities[i];
    return NULL;
}

/* Names a place, such as "node (3,4,5)" or "particle 17". */
static void name_place(const kf_snapshot *snapshot, size_t index, char text[96]) {
    const size_t columns = (size_t)snapshot->nodes[0], rows = (size_t)snapshot->nodes[1];
    if (snapshot->on == KF_ON_PARTICLES)
        (void)snprintf(text, 96, "particle %zu", index);
    else
        (void)snprintf(text, 96, "node (%zu,%zu,%zu)", index % columns, index / columns % rows,
                       index / columns / rows);
}

kf_status kf_snapshot_check(const kf_snapshot *snapshot, kf_error *error) {
    char place[96];
    for (size_t q = 0; q < snapshot->quantity_count; q++) {
        const kf_quantity *quantity = &snapshot->quantities[q];
        const size_t components = (size_t)quantity->components;
        for (size_t i = 0; i < snapshot->count * components; i++) {
            if (isfinite(quantity->values[i])) continue;
            name_place(snapshot, i / components, place);
            return kf_fail(error, KF_GATE_FAILED, "the simulation blew up: step %" PRIu64 ", %s: %s is %g",
                           snapshot->step, place, quantity->name, (double)quantity->values[i]);
        }
    }
    return KF_OK;
}

void kf_snapshot_free(kf_snapshot *snapshot) {
    for (size_t i = 0; i < snapshot->quantity_count; i++)
        free(snapshot->quantities[i].values);
    free(snapshot->quantities);
    *snapshot = (kf_snapshot){.count = 0};
}
