/* Converts a flow's fields to the user's units. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/vector.h"
#include "solver/flow/flow_plan.h"
#include "solver/flow/flow_rules.h"

/* Beyond these the lattice Boltzmann method no longer describes a flow. The speed of sound is 0.577 cells per
 * step. */
static const double speed_limit = 0.5, density_limit = 5.0;

bool kf_solid_load_same(const kf_solid_load *one, const kf_solid_load *other) {
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c): bits are asked for */
    return memcmp(one, other, sizeof *one) == 0;
}

void kf_fields_free(kf_fields *fields) {
    free(fields->density);
    for (int i = 0; i < 3; i++)
        free(fields->velocity[i]);
    memset(fields, 0, sizeof *fields);
}

void kf_flow_watch_node(kf_flow_watch *watch, size_t index, double deviation, const double velocity[3]) {
    const double density = 1.0 + deviation, speed = kf_length(velocity);
    if (watch->failed || (speed <= speed_limit && density < density_limit && density > 1.0 / density_limit))
        return;
    *watch = (kf_flow_watch){watch->scene, true, index, density, speed};
}

kf_status kf_flow_watch_end(const kf_flow_watch *watch, uint64_t step, kf_error *error) {
    const size_t columns = (size_t)watch->scene->nodes[0], rows = (size_t)watch->scene->nodes[1];
    if (!watch->failed) return KF_OK;
    return kf_fail(error, KF_GATE_FAILED,
                   "the simulation blew up: step %" PRIu64 ", node (%zu,%zu,%zu): density %.4g, speed %.4g "
                   "cells a step (at most %.4g is sound); use a finer grid, a lower Reynolds number or a "
                   "smaller time step%s",
                   step, watch->index % columns, watch->index / columns % rows, watch->index / columns / rows,
                   watch->density, watch->speed, speed_limit, kf_flow_steadier_rules(watch->scene));
}

kf_status kf_fields_check(const kf_scene *scene, const kf_fields *fields, uint64_t step, kf_error *error) {
    const size_t count = (size_t)fields->nodes[0] * (size_t)fields->nodes[1] * (size_t)fields->nodes[2];
    kf_flow_watch watch = {.scene = scene};
    for (size_t i = 0; i < count; i++) {
        const double velocity[3] = {fields->velocity[0][i], fields->velocity[1][i], fields->velocity[2][i]};
        kf_flow_watch_node(&watch, i, fields->density[i] - 1.0, velocity);
    }
    return kf_flow_watch_end(&watch, step, error);
}

double kf_flow_time(const kf_plan *plan, uint64_t step) {
    return (double)step * kf_plan_scene(plan)->time_step;
}

void kf_flow_units_of(const kf_scene *scene, kf_flow_units *units) {
    const double cell = scene->cell_size / scene->time_step;
    const bool coefficient = scene->reference_speed > 0;
    const double speed = coefficient ? scene->reference_speed : cell;
    /* The pressure is p = (density - 1) c_s^2 with c_s^2 = 1/3, per unit of reference density. */
    *units = (kf_flow_units){.velocity = cell,
                             .pressure = coefficient ? 1 / (3 * 0.5 * speed * speed) : speed * speed / 3,
                             .pressure_name = coefficient ? "pressure_coefficient" : "kinematic_pressure",
                             .pressure_unit = coefficient ? "1" : "m^2/s^2"};
}

static void add_velocity(const kf_flow_units *units, const kf_fields *fields, kf_snapshot *snapshot) {
    float *values = kf_snapshot_add(snapshot, "velocity", "m/s", 3);
    for (size_t i = 0; i < snapshot->count; i++)
        for (size_t c = 0; c < 3; c++)
            values[3 * i + c] = (float)(fields->velocity[c][i] * units->velocity);
}

static void add_pressure(const kf_flow_units *units, const kf_fields *fields, kf_snapshot *snapshot) {
    float *values = kf_snapshot_add(snapshot, units->pressure_name, units->pressure_unit, 1);
    for (size_t i = 0; i < snapshot->count; i++)
        values[i] = (float)((fields->density[i] - 1.0) * units->pressure);
}

void kf_flow_snapshot_of(const kf_scene *scene, const kf_fields *fields, kf_snapshot *snapshot) {
    kf_snapshot_of_nodes(snapshot, scene->nodes, scene->cell_size / 2, scene->cell_size);
    kf_flow_units units;
    kf_flow_units_of(scene, &units);
    add_velocity(&units, fields, snapshot);
    add_pressure(&units, fields, snapshot);
}

kf_status kf_flow_level_snapshot(kf_plan *plan, int level, kf_snapshot *snapshot, kf_error *error) {
    const kf_scene *coarsest = kf_plan_scene(plan);
    /* The scene of this level, as if the level filled the whole domain. */
    kf_scene box = level == 0 ? *coarsest : *coarsest->finer[level - 1];
    kf_fields fields = {.density = NULL};
    int first[3];
    KF_TRY(plan->methods->flow->level(plan, level, &fields, first, error));
    memcpy(box.nodes, fields.nodes, sizeof box.nodes);
    const kf_status status = kf_fields_check(&box, &fields, plan->steps_done, error);
    if (status == KF_OK) kf_flow_snapshot_of(&box, &fields, snapshot);
    for (int a = 0; a < 3 && status == KF_OK; a++)
        snapshot->origin[a] += first[a] * box.cell_size;
    kf_fields_free(&fields);
    return status;
}

kf_status kf_flow_snapshot(kf_plan *plan, kf_snapshot *snapshot, kf_error *error) {
    kf_fields fields = {.density = NULL};
    KF_TRY(plan->methods->flow->fields(plan, &fields, error));
    const kf_scene *scene = kf_scene_of_outputs(kf_plan_scene(plan));
    const kf_status status = kf_fields_check(scene, &fields, plan->steps_done, error);
    if (status == KF_OK) kf_flow_snapshot_of(scene, &fields, snapshot);
    kf_fields_free(&fields);
    return status;
}
