#include "solver/output/forces.h"

#include <inttypes.h>
#include <math.h>

#include "solver/output/table.h"

static const char header[] =
    "step,time_s,drag_coefficient,lift_coefficient,side_coefficient,"
    "force_x_m4_s2,force_y_m4_s2,force_z_m4_s2,torque_x_m5_s2,torque_y_m5_s2,torque_z_m5_s2,"
    "lattice_force_x,lattice_force_y,lattice_force_z\n";

static double dot(const double left[3], const double right[3]) {
    return left[0] * right[0] + left[1] * right[1] + left[2] * right[2];
}

void kf_force_row_of(const kf_scene *scene, uint64_t step, const kf_solid_load *load, kf_force_row *row) {
    double h = scene->cell_size, speed_unit = h / scene->time_step;
    double force_unit = h * h * speed_unit * speed_unit;
    *row = (kf_force_row){.step = step, .time = (double)step * scene->time_step};
    for (int a = 0; a < 3; a++) {
        row->lattice_force[a] = load->force[a];
        row->force[a] = load->force[a] * force_unit;
        row->torque[a] = load->torque[a] * force_unit * h;
    }
    double pressure = 0.5 * scene->reference_speed * scene->reference_speed * scene->frontal_area;
    double unit = pressure > 0 ? 1 / pressure : NAN;
    kf_flow_frame frame;
    kf_flow_frame_of(scene, &frame);
    row->drag = dot(load->force, frame.drag) * unit;
    row->lift = dot(load->force, frame.lift) * unit;
    row->side = dot(load->force, frame.side) * unit;
}

kf_status kf_forces_open(const char *path, uint64_t from_step, FILE **stream, kf_error *error) {
    return kf_table_open(path, header, from_step, stream, error);
}

kf_status kf_forces_add(FILE *stream, const char *path, const kf_force_row *row, kf_error *error) {
    const double coefficients[3] = {row->drag, row->lift, row->side};
    (void)fprintf(stream, "%" PRIu64 ",%.9g", row->step, row->time);
    kf_table_add(stream, 3, coefficients);
    kf_table_add(stream, 3, row->force);
    kf_table_add(stream, 3, row->torque);
    kf_table_add(stream, 3, row->lattice_force);
    return kf_table_end_row(stream, path, error);
}
