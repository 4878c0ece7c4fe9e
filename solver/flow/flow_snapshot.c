/* A flow's fields in the user's units. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/flow/flow_plan.h"

/* Beyond this the lattice Boltzmann method no longer describes a flow; sound travels 0.577 cells a step. */
static const double speed_limit = 0.5;

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

kf_status kf_fields_check(const kf_fields *fields, uint64_t step, kf_error *error) {
    size_t columns = (size_t)fields->nodes[0], rows = (size_t)fields->nodes[1];
    size_t count = columns * rows * (size_t)fields->nodes[2];
    for (size_t i = 0; i < count; i++) {
        double x = fields->velocity[0][i], y = fields->velocity[1][i], z = fields->velocity[2][i];
        double speed = sqrt(x * x + y * y + z * z);
        if (isfinite(fields->density[i]) && speed <= speed_limit) continue;
        size_t at[3] = {i % columns, i / columns % rows, i / columns / rows};
        return kf_fail(
            error, KF_GATE_FAILED,
            "the simulation blew up: step %" PRIu64 ", node (%zu,%zu,%zu): density %.4g, speed %.4g cells a "
            "step (at most %.4g is sound); use a finer grid, a lower Reynolds number or a smaller time step",
            step, at[0], at[1], at[2], (double)fields->density[i], speed, speed_limit);
    }
    return KF_OK;
}

double kf_flow_time(const kf_plan *plan, uint64_t step) {
    return (double)step * kf_plan_scene(plan)->time_step;
}

static void add_velocity(const kf_scene *scene, const kf_fields *fields, kf_snapshot *snapshot) {
    float *values = kf_snapshot_add(snapshot, "velocity", "m/s", 3);
    const double unit = scene->cell_size / scene->time_step;
    for (size_t i = 0; i < snapshot->count; i++)
        for (size_t c = 0; c < 3; c++)
            values[3 * i + c] = (float)(fields->velocity[c][i] * unit);
}

static void add_pressure(const kf_scene *scene, const kf_fields *fields, kf_snapshot *snapshot) {
    const bool coefficient = scene->reference_speed > 0;
    const double speed = coefficient ? scene->reference_speed : scene->cell_size / scene->time_step;
    /* p = (density - 1) c_s^2 with c_s^2 = 1/3, per unit of reference density. */
    const double unit = coefficient ? 1 / (3 * 0.5 * speed * speed) : speed * speed / 3;
    float *values = kf_snapshot_add(snapshot, coefficient ? "pressure_coefficient" : "kinematic_pressure",
                                    coefficient ? "1" : "m^2/s^2", 1);
    for (size_t i = 0; i < snapshot->count; i++)
        values[i] = (float)((fields->density[i] - 1.0) * unit);
}

void kf_flow_snapshot_of(const kf_scene *scene, const kf_fields *fields, kf_snapshot *snapshot) {
    kf_snapshot_of_nodes(snapshot, scene->nodes, scene->cell_size / 2, scene->cell_size);
    add_velocity(scene, fields, snapshot);
    add_pressure(scene, fields, snapshot);
}

kf_status kf_flow_snapshot(kf_plan *plan, kf_snapshot *snapshot, kf_error *error) {
    kf_fields fields = {.density = NULL};
    KF_TRY(plan->methods->flow->fields(plan, &fields, error));
    const kf_status status = kf_fields_check(&fields, plan->steps_done, error);
    if (status == KF_OK) kf_flow_snapshot_of(kf_plan_scene(plan), &fields, snapshot);
    kf_fields_free(&fields);
    return status;
}
