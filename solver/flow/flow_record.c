/* Forces on a flow's solid, and where a free one is, in the user's units. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/util/vector.h"
#include "solver/flow/flow_frame.h"
#include "solver/flow/flow_plan.h"

static void add_scaled(kf_record *record, const char *name, const char *unit, const double value[3],
                       double scale) {
    kf_record_add_vector(record, name, unit,
                         (const double[3]){value[0] * scale, value[1] * scale, value[2] * scale});
}

static void turn_about_z(const double from[3], double angle, double to[3]) {
    to[0] = cos(angle) * from[0] - sin(angle) * from[1];
    to[1] = sin(angle) * from[0] + cos(angle) * from[1];
    to[2] = from[2];
}

/* Adds coefficients in axes that turn with the solid's yaw, so drag is along the direction of the wind at yaw
 * 0. Adds moments about these axes over the reference length. They refer to the reference point of a solid at
 * rest, or to the centre of a moving one. */
static void add_body_axes(const kf_scene *scene, const kf_flow_frame *frame, const kf_solid_load *load,
                          double unit, kf_record *record) {
    const double turn = scene->yaw * 0.017453292519943295, length = scene->reference_length;
    double drag[3], side[3], arm[3] = {0}, moment[3];
    turn_about_z(frame->drag, turn, drag);
    turn_about_z(frame->side, turn, side);
    for (int a = 0; a < 3 && !scene->motion.moving;
         /* The torque of a mask is about the middle of its solid. */
         a++)
        arm[a] = (scene->mask != NULL ? 0.5 * (scene->solid_low[a] + scene->solid_high[a])
                                      : scene->motion.center[a]) -
                 scene->moment_center[a];
    kf_cross(arm, load->force, moment);
    for (int a = 0; a < 3; a++)
        moment[a] += load->torque[a];
    const double of_moment = length > 0 ? unit / length : NAN;
    kf_record_add(record, "body_drag_coefficient", "", kf_dot(load->force, drag) * unit);
    kf_record_add(record, "body_side_coefficient", "", kf_dot(load->force, side) * unit);
    kf_record_add(record, "roll_moment_coefficient", "", kf_dot(moment, drag) * of_moment);
    kf_record_add(record, "pitch_moment_coefficient", "", kf_dot(moment, side) * of_moment);
    kf_record_add(record, "yaw_moment_coefficient", "", kf_dot(moment, frame->lift) * of_moment);
}

/* Adds drag, lift and side coefficient by reference speed and area, and force and torque divided by density.
 * Returns the factor from lattice forces to coefficients. */
static double add_load(const kf_scene *scene, const kf_flow_frame *frame, const kf_solid_load *load,
                       kf_record *record) {
    const double h = scene->cell_size, speed_unit = h / scene->time_step,
                 force_unit = h * h * speed_unit * speed_unit;
    const double pressure =
                     0.5 * scene->reference_speed * scene->reference_speed * kf_scene_reference_area(scene),
                 unit = pressure > 0 ? 1 / pressure : NAN;
    kf_record_add(record, "drag_coefficient", "", kf_dot(load->force, frame->drag) * unit);
    kf_record_add(record, "lift_coefficient", "", kf_dot(load->force, frame->lift) * unit);
    kf_record_add(record, "side_coefficient", "", kf_dot(load->force, frame->side) * unit);
    add_scaled(record, "force", "m4_s2", load->force, force_unit);
    add_scaled(record, "torque", "m5_s2", load->torque, force_unit * h);
    return unit;
}

/* Adds the record "forces" of the load on all: the same, and in body axes and lattice units. */
void kf_flow_add_forces(const kf_scene *scene, const kf_solid_load *load, kf_records *records) {
    kf_flow_frame frame;
    kf_flow_frame_of(scene, &frame);
    kf_record *record = kf_records_add(records, "forces");
    const double unit = add_load(scene, &frame, load, record);
    kf_record_add_vector(record, "lattice_force", "", load->force);
    add_body_axes(scene, &frame, load, unit, record);
}

/* Adds the record "forces_NAME" of one of several solids. The torque is about its centre, or about the axis
 * of a turning solid. For that one it adds the power that keeps it turning. */
static void add_solid(const kf_scene *scene, const kf_solid *solid, const kf_solid_load *load,
                      kf_records *records) {
    const double h = scene->cell_size, dt = scene->time_step, unit = pow(h, 5) / (dt * dt);
    char table[sizeof records->tables->table];
    kf_flow_frame frame;
    kf_flow_frame_of(scene, &frame);
    (void)snprintf(table, sizeof table, "forces_%s", solid->name);
    kf_record *record = kf_records_add(records, table);
    (void)add_load(scene, &frame, load, record);
    if (!solid->motion.moving) return;
    const double about_axis = kf_dot(load->torque, solid->motion.axis) * unit;
    kf_record_add(record, "axis_torque", "m5_s2", about_axis);
    kf_record_add(record, "power", "m5_s3", -about_axis * solid->motion.angular_speed / dt);
}

/* Adds the records of several solids. */
static kf_status add_solids(kf_plan *plan, kf_records *records, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    kf_solid_load loads[KF_MOST_SOLIDS];
    if (scene->solid_count == 0) return KF_OK;
    KF_TRY(plan->methods->flow->loads(plan, loads, error));
    for (int s = 0; s < scene->solid_count; s++)
        add_solid(scene, &scene->solids[s], &loads[s], records);
    return KF_OK;
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

/* Reports a diverged flow. The fields give more details of the cause. */
static kf_status blew_up(kf_plan *plan, kf_error *error) {
    kf_fields fields = {.density = NULL};
    KF_TRY(plan->methods->flow->fields(plan, &fields, error));
    const kf_status status =
        kf_fields_check(kf_scene_of_outputs(kf_plan_scene(plan)), &fields, plan->steps_done, error);
    kf_fields_free(&fields);
    KF_TRY(status);
    return kf_fail(error, KF_GATE_FAILED,
                   "the simulation blew up: step %" PRIu64 ": the force on the solid is not finite",
                   plan->steps_done);
}

static void add_range(kf_record *record, const char *name, const char *unit, const double range[3],
                      double scale) {
    static const char *const which[3] = {"least", "mean", "largest"};
    for (int i = 0; i < 3; i++) {
        char column[64];
        (void)snprintf(column, sizeof column, "%s_%s", name, which[i]);
        kf_record_add(record, column, unit, range[i] * scale);
    }
}

/* Adds the record "wall" of a law of the wall: y+ and friction velocity over the surface, the share where the
 * law is used, and the parts of drag by friction and by pressure. */
static kf_status add_wall(kf_plan *plan, const kf_solid_load *load, kf_records *records, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    const double speed = scene->cell_size / scene->time_step, area = scene->cell_size * scene->cell_size,
                 pressure =
                     0.5 * scene->reference_speed * scene->reference_speed * kf_scene_reference_area(scene),
                 unit = pressure > 0 ? 1 / pressure : NAN;
    kf_wall_look look;
    kf_flow_frame frame;
    KF_TRY(plan->methods->flow->wall(plan, &look, NULL, error));
    if (!look.known) return KF_OK;
    kf_flow_frame_of(scene, &frame);
    const double drag = kf_dot(load->force, frame.drag), rubbed = kf_dot(look.friction, frame.drag);
    kf_record *record = kf_records_add(records, "wall");
    add_range(record, "y_plus", "", look.y_plus, 1.0);
    add_range(record, "friction_velocity", "m_s", look.friction_velocity, speed);
    kf_record_add(record, "law_share", "", look.share);
    if (scene->layers) kf_record_add(record, "modelled_share", "", look.modelled);
    kf_record_add(record, "friction_drag_coefficient", "", rubbed * unit);
    kf_record_add(record, "pressure_drag_coefficient", "", (drag - rubbed) * unit);
    kf_record_add(record, "front_pressure_drag_coefficient", "", look.pressure[0] * unit);
    add_scaled(record, "friction", "m4_s2", look.friction, area * speed * speed);
    return KF_OK;
}

/* Records the loads of the last step, on each of several solids too, and where a free one is. */
kf_status kf_flow_record(kf_plan *plan, kf_records *records, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    const kf_flow_methods *flow = plan->methods->flow;
    kf_solid_load load;
    if (!kf_scene_has_solid(scene)) return KF_OK;
    KF_TRY(flow->load(plan, &load, error));
    for (int a = 0; a < 3; a++)
        if (!isfinite(load.force[a]) || !isfinite(load.torque[a])) return blew_up(plan, error);
    kf_flow_add_forces(scene, &load, records);
    KF_TRY(add_solids(plan, records, error));
    if (scene->wall_law && flow->wall != NULL) KF_TRY(add_wall(plan, &load, records, error));
    if (!scene->motion.free) return KF_OK;
    kf_solid_pose pose;
    KF_TRY(flow->pose(plan, &pose, error));
    add_motion(scene, &pose, records);
    return KF_OK;
}

kf_status kf_flow_pose(kf_plan *plan, kf_solid_pose *pose, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    *pose = (kf_solid_pose){.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    memcpy(pose->center, scene->motion.center, sizeof pose->center);
    if (scene->motion.free) return plan->methods->flow->pose(plan, pose, error);
    if (!scene->motion.moving) return KF_OK;
    kf_motion_pose(&scene->motion, (double)plan->steps_done, pose->rotation, pose->center);
    for (int a = 0; a < 3; a++) {
        pose->velocity[a] = scene->motion.velocity[a];
        pose->angular_velocity[a] = scene->motion.angular_speed * scene->motion.axis[a];
    }
    return KF_OK;
}

kf_status kf_flow_pose_on(kf_plan *plan, const kf_scene *level, kf_solid_pose *pose, kf_error *error) {
    double center[3];
    KF_TRY(kf_flow_pose(plan, pose, error));
    memcpy(center, pose->center, sizeof center);
    kf_scene_place_on_level(level, center, pose->center);
    for (int a = 0; a < 3; a++)
        pose->angular_velocity[a] = ldexp(pose->angular_velocity[a], -level->level);
    return KF_OK;
}

/* Lists the facts that define the meaning of a plan's tables. Lengths and times scale a scene without
 * changing its lattice and its hash. The hash also contains neither the references of coefficients and
 * moments nor the names of several solids, which name tables. */
void kf_flow_meaning(const kf_plan *plan, kf_facts *meaning) {
    const kf_scene *scene = kf_plan_scene(plan);
    const double h = scene->cell_size;
    kf_facts_number(meaning, "cell_size", h, "m");
    kf_facts_number(meaning, "time_step", scene->time_step, "s");
    if (!kf_scene_has_solid(scene)) return;
    kf_facts_number(meaning, "reference_area", kf_scene_reference_area(scene) * h * h, "m2");
    kf_facts_number(meaning, "reference_length", scene->reference_length * h, "m");
    kf_facts_number(meaning, "reference_speed", scene->reference_speed * h / scene->time_step, "m/s");
    kf_facts_number(meaning, "yaw", scene->yaw, "degrees");
    for (int i = 0; i < scene->solid_count; i++) {
        char name[KF_NAME];
        (void)snprintf(name, sizeof name, "solid_%d", i + 1);
        kf_facts_word(meaning, name, scene->solids[i].name);
    }
    if (scene->motion.moving && scene->solid_count == 0) return;
    static const char *const names[3] = {"reference_point_x", "reference_point_y", "reference_point_z"};
    for (int a = 0; a < 3; a++)
        kf_facts_number(meaning, names[a], (scene->moment_center[a] + 0.5) * h, "m");
}
