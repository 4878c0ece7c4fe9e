#include "solver/output/prober.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/flow/flow_plan.h"
#include "solver/output/flow_files.h"
#include "solver/output/probe_chart.h"
#include "solver/output/table.h"

/* The two components of each stress: u'u', v'v', w'w', u'v', u'w', v'w'. */
static const int stress_components[KF_STRESSES][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

/* Returns the name of a pressure's column with its unit, as tables write it. */
static const char *pressure_column(const char *pressure) {
    return strcmp(pressure, "kinematic_pressure") == 0 ? "kinematic_pressure_m2_s2" : pressure;
}

static void append_header(const kf_prober *prober, const kf_probe *probe, kf_text *header) {
    kf_text_append(header, "step,time_s,point");
    if (probe->kind != KF_PROBE_SURFACE)
        kf_text_append(header, ",velocity_x_m_s,velocity_y_m_s,velocity_z_m_s");
    if (prober->pressure != NULL) kf_text_append(header, ",%s", pressure_column(prober->pressure));
    kf_text_append(header, "\n");
}

/* Finds the first and last of the quantities in a probe's table. */
static void quantities_of(const kf_prober *prober, const kf_probe *probe, int *first, int *end) {
    *first = probe->kind == KF_PROBE_SURFACE ? KF_PROBED - 1 : 0;
    *end = prober->pressure != NULL ? KF_PROBED : KF_PROBED - 1;
}

kf_status kf_prober_open(kf_prober *prober, kf_plan *plan, const kf_probe *probes, size_t count,
                         const char *folder, bool writes, kf_error *error) {
    *prober = (kf_prober){.plan = plan, .probes = probes, .count = count};
    if (count == 0) return KF_OK;
    prober->reports = kf_allocate_zeroed(count, sizeof *prober->reports);
    if (plan->methods->flow != NULL) {
        kf_flow_units units;
        kf_flow_units_of(kf_plan_scene(plan), &units);
        prober->pressure = units.pressure_name;
        prober->pressure_unit = units.pressure_unit;
    }
    if (!writes) return KF_OK;
    prober->tables = kf_allocate_zeroed(count, sizeof *prober->tables);
    for (size_t i = 0; i < count; i++) {
        kf_text header = {0};
        char *table = prober->reports[i].table;
        append_header(prober, &probes[i], &header);
        kf_status status = kf_path(table, error, "%s/probe_%s.csv", folder, probes[i].name);
        if (status == KF_OK)
            status = kf_table_open(table, header.text, plan->steps_done, &prober->tables[i], error);
        kf_text_free(&header);
        KF_TRY(status);
    }
    return KF_OK;
}

/* Finds where a probe's points are: those of a surface turn and go with the solid, a little outside of it. */
static kf_status place_points(const kf_probe *probe, kf_plan *plan, double (*points)[3], kf_error *error) {
    memcpy(points, probe->points, probe->count * sizeof *points);
    if (probe->kind != KF_PROBE_SURFACE) return KF_OK;
    const kf_scene *scene = kf_plan_scene(plan);
    const double h = scene->cell_size, out = KF_PRESSURE_AT * kf_scene_of_outputs(scene)->cell_size;
    kf_solid_pose pose;
    KF_TRY(kf_flow_pose(plan, &pose, error));
    for (size_t i = 0; i < probe->count; i++)
        for (int a = 0; a < 3; a++) {
            points[i][a] = (pose.center[a] + 0.5) * h;
            for (int b = 0; b < 3; b++)
                points[i][a] += pose.rotation[3 * a + b] * (probe->points[i][b] + out * probe->normals[i][b] -
                                                            (scene->motion.center[b] + 0.5) * h);
        }
    return KF_OK;
}

static kf_status add_rows(const kf_prober *prober, size_t which, double (*const values)[KF_PROBED],
                          kf_error *error) {
    const kf_probe *probe = &prober->probes[which];
    int first, end;
    quantities_of(prober, probe, &first, &end);
    for (size_t i = 0; i < probe->count; i++) {
        (void)fprintf(prober->tables[which], "%" PRIu64 ",%.9g,%zu", prober->plan->steps_done,
                      kf_plan_time(prober->plan), i);
        kf_table_add(prober->tables[which], end - first, values[i] + first);
        if (i + 1 < probe->count) (void)fputc('\n', prober->tables[which]);
    }
    return kf_table_end_row(prober->tables[which], prober->reports[which].table, error);
}

/* Asks the plan for all points of all probes at once, then adds the rows of each probe to its table. */
kf_status kf_prober_add(kf_prober *prober, kf_plan *plan, kf_error *error) {
    size_t total = 0, done = 0;
    const char *pressure, *unit;
    for (size_t i = 0; i < prober->count; i++)
        total += prober->probes[i].count;
    if (total == 0) return KF_OK;
    double(*points)[3] = kf_allocate(total * sizeof *points);
    double(*values)[KF_PROBED] = kf_allocate(total * sizeof *values);
    kf_status status = KF_OK;
    for (size_t i = 0; i < prober->count && status == KF_OK; done += prober->probes[i++].count)
        status = place_points(&prober->probes[i], plan, points + done, error);
    if (status == KF_OK)
        status = kf_probe_values(plan, (const double(*)[3])points, total, values, &pressure, &unit, error);
    done = 0;
    for (size_t i = 0; i < prober->count && status == KF_OK && prober->tables != NULL;
         done += prober->probes[i++].count)
        status = add_rows(prober, i, values + done, error);
    free(points);
    free(values);
    return status;
}

/* ---- Means and stresses ---- */

/* Sums over time at one point (Welford's method). */
typedef struct sums {
    double mean[KF_PROBED], stress[KF_STRESSES], pressure_square;
} sums;

static void add_to_sums(sums *s, double rows, const double value[KF_PROBED]) {
    double before[KF_PROBED];
    for (int q = 0; q < KF_PROBED; q++) {
        before[q] = value[q] - s->mean[q];
        s->mean[q] += before[q] / rows;
    }
    for (int k = 0; k < KF_STRESSES; k++)
        s->stress[k] += before[stress_components[k][0]] *
                        (value[stress_components[k][1]] - s->mean[stress_components[k][1]]);
    s->pressure_square += before[KF_PROBED - 1] * (value[KF_PROBED - 1] - s->mean[KF_PROBED - 1]);
}

/* Reads a row of a table: its step, time, point and quantities from first to end. False: it is none. */
static bool read_row(const char *row, int first, int end, uint64_t *step, double *time, size_t *point,
                     double value[KF_PROBED]) {
    char *rest = NULL;
    *step = strtoull(row, &rest, 10);
    if (rest == row || *rest != ',') return false;
    *time = strtod(rest + 1, &rest);
    if (*rest != ',') return false;
    *point = strtoull(rest + 1, &rest, 10);
    for (int q = 0; q < KF_PROBED; q++)
        value[q] = 0.0;
    for (int q = first; q < end; q++) {
        if (*rest != ',') return false;
        value[q] = strtod(rest + 1, &rest);
    }
    return true;
}

/* A table as this run and the runs before it have written it. */
typedef struct probe_rows {
    size_t moments, room;
    uint64_t *steps;
    /* [moments] Time and values of the first point. */
    kf_probe_curve *first;
    sums *points; /* [probe->count] */
} probe_rows;

static void free_rows(probe_rows *rows) {
    free(rows->steps);
    free(rows->first);
    free(rows->points);
}

/* Goes through a table twice: for the moments, and then for the means over those from a step on (0: the later
 * half of them). */
static kf_status read_table(const kf_prober *prober, size_t which, uint64_t from, probe_rows *rows,
                            kf_error *error) {
    const kf_probe *probe = &prober->probes[which];
    kf_probe_report *report = &prober->reports[which];
    int first, end;
    quantities_of(prober, probe, &first, &end);
    FILE *stream = fopen(report->table, "r");
    if (stream == NULL) return kf_fail(error, KF_MACHINE, "%s: cannot be read again", report->table);
    char *line = NULL;
    size_t size = 0, point = 0, room = 0;
    uint64_t step;
    double time, value[KF_PROBED];
    rows->points = kf_allocate_zeroed(probe->count + 1, sizeof *rows->points);
    for (int pass = 0; pass < 2; pass++) {
        rewind(stream);
        while (getline(&line, &size, stream) > 0) {
            if (!read_row(line, first, end, &step, &time, &point, value) || point >= probe->count) continue;
            if (pass == 0 && point == 0) {
                rows->first = kf_grow(rows->first, rows->moments, &rows->room, sizeof *rows->first);
                rows->steps = kf_grow(rows->steps, rows->moments, &room, sizeof *rows->steps);
                rows->steps[rows->moments] = step;
                rows->first[rows->moments].at = time;
                memcpy(rows->first[rows->moments++].value, value, sizeof value);
            }
            if (pass == 0 || step < from) continue;
            report->rows += point == 0;
            report->to_step = step;
            add_to_sums(&rows->points[point], (double)report->rows, value);
        }
        if (from == 0 && rows->moments > 0) from = rows->steps[rows->moments / 2];
    }
    free(line);
    (void)fclose(stream);
    for (size_t m = 0; m < rows->moments; m++)
        if (rows->steps[m] >= from && (report->from_step == 0 || rows->steps[m] < report->from_step))
            report->from_step = rows->steps[m];
    return KF_OK;
}

/* Writes a probe's table of means, a row a point. */
static kf_status write_means(const kf_prober *prober, size_t which, const probe_rows *rows, kf_error *error) {
    const kf_probe *probe = &prober->probes[which];
    const kf_probe_report *report = &prober->reports[which];
    const double count = (double)report->rows;
    const bool surface = probe->kind == KF_PROBE_SURFACE;
    FILE *stream;
    kf_text header = {0};
    kf_text_append(&header, "point,x_m,y_m,z_m");
    kf_text_append(&header,
                   surface ? ",normal_x,normal_y,normal_z" : ",velocity_x_m_s,velocity_y_m_s,velocity_z_m_s");
    if (prober->pressure != NULL)
        kf_text_append(&header, ",%s,%s", pressure_column(prober->pressure),
                       report->pressure_unit[0] == '1' ? "pressure_coefficient_rms"
                                                       : "kinematic_pressure_rms_m2_s2");
    if (!surface)
        kf_text_append(&header, ",stress_xx_m2_s2,stress_yy_m2_s2,stress_zz_m2_s2,stress_xy_m2_s2,"
                                "stress_xz_m2_s2,stress_yz_m2_s2");
    kf_text_append(&header, "\n");
    const kf_status status = kf_table_open(report->means, header.text, 0, &stream, error);
    kf_text_free(&header);
    KF_TRY(status);
    for (size_t i = 0; i < probe->count; i++) {
        const sums *s = &rows->points[i];
        double stress[KF_STRESSES];
        (void)fprintf(stream, "%zu", i);
        kf_table_add(stream, 3, probe->points[i]);
        kf_table_add(stream, 3, surface ? probe->normals[i] : s->mean);
        const double pressure[2] = {s->mean[KF_PROBED - 1], sqrt(s->pressure_square / count)};
        if (prober->pressure != NULL) kf_table_add(stream, 2, pressure);
        for (int k = 0; k < KF_STRESSES; k++)
            stress[k] = s->stress[k] / count;
        if (!surface) kf_table_add(stream, KF_STRESSES, stress);
        if (i + 1 < probe->count) (void)fputc('\n', stream);
    }
    const kf_status ended = kf_table_end_row(stream, report->means, error);
    if (fclose(stream) != 0 && ended == KF_OK)
        return kf_fail(error, KF_MACHINE, "%s: cannot write the last rows", report->means);
    return ended;
}

/* Computes the means of the first point with their intervals. */
static void fill_report(const kf_prober *prober, size_t which, const probe_rows *rows) {
    kf_probe_report *report = &prober->reports[which];
    size_t first = 0;
    while (first < rows->moments && rows->steps[first] < report->from_step)
        first++;
    double *values = kf_allocate((rows->moments - first) * sizeof *values + 1);
    for (int q = 0; q < KF_PROBED; q++) {
        for (size_t m = first; m < rows->moments; m++)
            values[m - first] = rows->first[m].value[q];
        report->mean[q] = kf_series_mean_of(values, rows->moments - first);
    }
    free(values);
    for (int k = 0; k < KF_STRESSES; k++)
        report->stress[k] = rows->points[0].stress[k] / (double)report->rows;
    memcpy(report->at, prober->probes[which].points[0], sizeof report->at);
    report->pressure = prober->pressure;
    report->pressure_unit = prober->pressure_unit;
}

double kf_probe_along(const kf_probe *probe, size_t point) {
    const double *p = probe->points[point], *o = probe->points[0],
                 apart[3] = {p[0] - o[0], p[1] - o[1], p[2] - o[2]};
    return probe->kind == KF_PROBE_LINE
               ? sqrt(apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2])
               : p[0];
}

/* Draws the curves: over time for a point, and the means along other probes. */
static kf_status draw(const kf_prober *prober, size_t which, const probe_rows *rows, kf_error *error) {
    const kf_probe *probe = &prober->probes[which];
    const kf_probe_report *report = &prober->reports[which];
    const bool point = probe->kind == KF_PROBE_POINT;
    kf_probe_curve *along = kf_allocate_zeroed(probe->count + 1, sizeof *along);
    for (size_t i = 0; i < probe->count; i++) {
        along[i].at = kf_probe_along(probe, i);
        memcpy(along[i].value, rows->points[i].mean, sizeof along[i].value);
    }
    const kf_status status = kf_probe_chart(prober->plan, probe, report, point ? rows->first : along,
                                            point ? rows->moments : probe->count, error);
    free(along);
    return status;
}

static kf_status conclude_one(kf_prober *prober, size_t which, const char *folder, uint64_t from,
                              bool pictures, kf_error *error) {
    kf_probe_report *report = &prober->reports[which];
    const char *name = prober->probes[which].name;
    probe_rows rows = {.moments = 0};
    report->pressure = prober->pressure;
    report->pressure_unit = prober->pressure_unit;
    kf_status status = read_table(prober, which, from, &rows, error);
    if (status == KF_OK && report->rows > 0) {
        fill_report(prober, which, &rows);
        status = kf_path(report->means, error, "%s/probe_%s_mean.csv", folder, name);
        if (status == KF_OK) status = write_means(prober, which, &rows, error);
        if (status == KF_OK && pictures)
            status = kf_path(report->picture, error, "%s/probe_%s.png", folder, name);
        if (status == KF_OK && pictures) status = draw(prober, which, &rows, error);
    }
    free_rows(&rows);
    return status;
}

kf_status kf_prober_conclude(kf_prober *prober, const char *folder, uint64_t from_step, bool pictures,
                             kf_error *error) {
    for (size_t i = 0; i < prober->count && prober->tables != NULL; i++)
        KF_TRY(conclude_one(prober, i, folder, from_step, pictures, error));
    return KF_OK;
}

void kf_prober_close(kf_prober *prober) {
    for (size_t i = 0; i < prober->count && prober->tables != NULL; i++)
        if (prober->tables[i] != NULL) (void)fclose(prober->tables[i]);
    free(prober->tables);
    prober->tables = NULL;
}
