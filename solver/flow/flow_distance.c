#include "solver/flow/flow_distance.h"

#include <stdlib.h>
#include <string.h>

#include "solver/flow/flow_problem.h"

kf_status kf_flow_upload_distance(kf_plan *plan, kf_distance_table *table, kf_error *error) {
    kf_distance_grid grid;
    kf_buffer *values;
    kf_scene_distance(kf_plan_scene(plan), &grid);
    const size_t bytes = (size_t)grid.size[0] * (size_t)grid.size[1] * (size_t)grid.size[2] * sizeof(float);
    const kf_status status = kf_plan_buffer_of(plan, grid.values, bytes, &values, error);
    free(grid.values);
    KF_TRY(status);
    table->values = kf_buffer_address(values);
    memcpy(table->size, grid.size, sizeof table->size);
    memcpy(table->corner, grid.corner, sizeof table->corner);
    table->spacing = grid.spacing;
    return KF_OK;
}
