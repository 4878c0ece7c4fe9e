#include "solver/output/forces.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/util/text.h"

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

/* Length of the part of text that stays: the header and whole rows of steps up to last. */
static size_t kept_length(const char *text, uint64_t last) {
    if (strncmp(text, header, sizeof header - 1) != 0) return 0;
    const char *row = text + sizeof header - 1;
    for (const char *end; (end = strchr(row, '\n')); row = end + 1) {
        char *after;
        uint64_t step = strtoull(row, &after, 10);
        if (after == row || *after != ',' || step > last) break;
    }
    return (size_t)(row - text);
}

kf_status kf_forces_open(const char *path, uint64_t from_step, FILE **stream, kf_error *error) {
    size_t kept = 0;
    if (from_step > 0 && access(path, R_OK) == 0) {
        char *text = NULL;
        size_t size;
        KF_TRY(kf_file_read(path, 0, &text, &size, error));
        kept = kept_length(text, from_step);
        free(text);
    }
    *stream = fopen(path, kept > 0 ? "r+" : "w");
    bool good = *stream != NULL;
    if (good && kept > 0)
        good = ftruncate(fileno(*stream), (off_t)kept) == 0 && fseek(*stream, 0, SEEK_END) == 0;
    if (good && kept == 0) good = fputs(header, *stream) >= 0 && fflush(*stream) == 0;
    if (good) return KF_OK;
    int reason = errno;
    if (*stream) fclose(*stream);
    *stream = NULL;
    return kf_fail(error, KF_MACHINE, "%s: cannot write: %s", path, strerror(reason));
}

/* An undefined number is "nan" on every machine, never "-nan". */
static void add_three(FILE *stream, const double values[3]) {
    for (int a = 0; a < 3; a++)
        (void)fprintf(stream, ",%.8g", isnan(values[a]) ? fabs((double)NAN) : values[a]);
}

kf_status kf_forces_add(FILE *stream, const char *path, const kf_force_row *row, kf_error *error) {
    const double coefficients[3] = {row->drag, row->lift, row->side};
    (void)fprintf(stream, "%" PRIu64 ",%.9g", row->step, row->time);
    add_three(stream, coefficients);
    add_three(stream, row->force);
    add_three(stream, row->torque);
    add_three(stream, row->lattice_force);
    (void)fputc('\n', stream);
    if (fflush(stream) == 0 && !ferror(stream)) return KF_OK;
    return kf_fail(error, KF_MACHINE, "%s: cannot write: %s", path, strerror(errno));
}
