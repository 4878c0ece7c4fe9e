/* Forces on a flow's solid, and where a free one is, in the user's units. */
#include <inttypes.h>
#include <math.h>

#include "base/util/vector.h"
#include "solver/flow/flow_frame.h"
#include "solver/flow/flow_plan.h"

static void add_scaled(kf_record *record, const char *name, const char *unit, const double value[3],
                       double scale) {
    kf_record_add_vector(record, name, unit,
                         (const double[3]){value[0] * scale, value[1] * scale, value[2] * scale});
}

void kf_flow_add_forces(const kf_scene *scene, const kf_solid_load *load, kf_records *records) {
    const double h = scene->cell_size, speed_unit = h / scene->time_step,
                 force_unit = h * h * speed_unit * speed_unit;
    const double pressure = 0.5 * scene->reference_speed * scene->reference_speed * scene->frontal_area,
                 unit = pressure > 0 ? 1 / pressure : NAN;
    kf_flow_frame frame;
    kf_flow_frame_of(scene, &frame);
    kf_record *record = kf_records_add(records, "forces");
    kf_record_add(record, "drag_coefficient", "", kf_dot(load->force, frame.drag) * unit);
    kf_record_add(record, "lift_coefficient", "", kf_dot(load->force, frame.lift) * unit);
    kf_record_add(record, "side_coefficient", "", kf_dot(load->force, frame.side) * unit);
    add_scaled(record, "force", "m4_s2", load->force, force_unit);
    add_scaled(record, "torque", "m5_s2", load->torque, force_unit * h);
    kf_record_add_vector(record, "lattice_force", "", load->force);
}

static void add_motion(const kf_scene *scene, const kf_solid_pose *pose, kf_records *records) {
    static const char *const quaternion[4] = {"quaternion_w", "quaternion_x", "quaternion_y", "quaternion_z"};
    const double h = scene->cell_size, dt = scene->time_step;
    kf_record *record = kf_records_add(records, "motion");
    kf_record_add_vector(record, "center", "m",
                         (const double[3]){(pose->center[0] + 0.5) * h, (pose->center[1] + 0.5) * h,
                                           (pose->center[2] + 0.5) * h});
    add_scaled(record, "velocity", "m_s", pose->velocity, h / dt);
    add_scaled(record, "angular_velocity", "rad_s", pose->angular_velocity, 1 / dt);
    for (int i = 0; i < 4; i++)
        kf_record_add(record, quaternion[i], "", pose->quaternion[i]);
}

/* The fields say more about what went wrong. */
static kf_status blew_up(kf_plan *plan, kf_error *error) {
    kf_fields fields = {.density = NULL};
    KF_TRY(plan->methods->flow->fields(plan, &fields, error));
    const kf_status status = kf_fields_check(kf_plan_scene(plan), &fields, plan->steps_done, error);
    kf_fields_free(&fields);
    KF_TRY(status);
    return kf_fail(error, KF_GATE_FAILED,
                   "the simulation blew up: step %" PRIu64 ": the force on the solid is not finite",
                   plan->steps_done);
}

kf_status kf_flow_record(kf_plan *plan, kf_records *records, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    const kf_flow_methods *flow = plan->methods->flow;
    kf_solid_load load;
    if (scene->mesh.triangle_count == 0) return KF_OK;
    KF_TRY(flow->load(plan, &load, error));
    for (int a = 0; a < 3; a++)
        if (!isfinite(load.force[a]) || !isfinite(load.torque[a])) return blew_up(plan, error);
    kf_flow_add_forces(scene, &load, records);
    if (!scene->motion.free) return KF_OK;
    kf_solid_pose pose;
    KF_TRY(flow->pose(plan, &pose, error));
    add_motion(scene, &pose, records);
    return KF_OK;
}
