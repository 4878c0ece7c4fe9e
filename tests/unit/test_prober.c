/* Tests probes of flows that are known in closed form and differ along each axis: values between nodes, at
 * walls and across periodic faces, points that move with a solid, tables, means and Reynolds stresses.
 * Faults: axes that are swapped, or a third one that is forgotten. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/flow/flow_plan.h"
#include "solver/output/flow_files.h"
#include "solver/output/prober.h"
#include "tests/unit/check.h"
#include "tests/unit/output_scratch.h"

enum { STEPS = 6, EVERY = 10 };
static const int nodes[3] = {12, 10, 8};
static const double h = 0.5, dt = 0.125; /* a cell per step is 4 m/s */
static const double cell_speed = 4.0;

/* The flow in lattice units is linear in the place, with a part that is uniform in space and changes with
 * time. */
static const double slopes[3][3] = {{1, 2, 4}, {-3, 5, 7}, {6, -8, 9}};
static const double swings[3][STEPS] = {{0, 1, 0, 2, -1, 3}, {2, 0, 1, -2, 1, 0}, {-1, -1, 3, 0, 2, 2}};
static const double heaves[STEPS] = {1, -2, 0, 3, 1, -1};

static void lattice_flow(const double place[3], int moment, double *deviation, double velocity[3]) {
    for (int a = 0; a < 3; a++)
        velocity[a] = (slopes[a][0] * place[0] + slopes[a][1] * place[1] + slopes[a][2] * place[2]) / 1024 +
                      swings[a][moment] / 256;
    *deviation = (place[0] + 16 * place[1] + 256 * place[2]) / 65536 + heaves[moment] / 1024;
}

static int moment_of(const kf_plan *plan) {
    return (int)(plan->steps_done / EVERY) - 1;
}

/* Computes what a probe must record at a place in metres. */
static void expect_at(const double place[3], int moment, double value[KF_PROBED]) {
    double at[3], deviation, velocity[3];
    for (int a = 0; a < 3; a++)
        at[a] = place[a] / h - 0.5;
    lattice_flow(at, moment, &deviation, velocity);
    for (int a = 0; a < 3; a++)
        value[a] = velocity[a] * cell_speed;
    value[3] = deviation * cell_speed * cell_speed / 3;
}

/* The solid without fluid inside, which fills an edge of the domain. */
static bool has_solid;
static bool is_solid(const double place[3]) {
    return has_solid && (place[0] <= 4.0 || (place[1] <= 3.0 && place[2] >= 5.0));
}

static kf_status read_nodes(kf_plan *plan, const size_t *list, size_t count, float (*values)[4],
                            kf_error *error) {
    (void)error;
    for (size_t i = 0; i < count; i++) {
        const size_t row = list[i] / (size_t)nodes[0];
        const size_t plane = row / (size_t)nodes[1];
        const double place[3] = {(double)(list[i] % (size_t)nodes[0]), (double)(row % (size_t)nodes[1]),
                                 (double)plane};
        double deviation, velocity[3];
        lattice_flow(place, moment_of(plan), &deviation, velocity);
        const bool solid = is_solid(place);
        values[i][0] = solid ? 1.0F : (float)(1 + deviation);
        for (int a = 0; a < 3; a++)
            values[i][a + 1] = solid ? 0.0F : (float)velocity[a];
    }
    return KF_OK;
}

/* The pose of a free solid: x turns to y, y to z and z to x, and the centre has moved by a different
 * length along each axis. */
static const double center_before[3] = {4, 3.5, 3}, center_now[3] = {5.5, 4.25, 2.75};
static kf_status turned_pose(kf_plan *plan, kf_solid_pose *pose, kf_error *error) {
    (void)plan, (void)error;
    *pose = (kf_solid_pose){.rotation = {0, 0, 1, 1, 0, 0, 0, 1, 0}};
    memcpy(pose->center, center_now, sizeof center_now);
    return KF_OK;
}

static double time_of(const kf_plan *plan, uint64_t step) {
    (void)plan;
    return dt * (double)step;
}

static const kf_flow_methods known_flow = {.nodes = read_nodes, .pose = turned_pose};
static const kf_plan_methods known_methods = {.flow = &known_flow, .time = time_of};

static void known_scene(kf_scene *scene) {
    memset(scene, 0, sizeof *scene);
    memcpy(scene->nodes, nodes, sizeof nodes);
    scene->cell_size = h;
    scene->time_step = dt;
    scene->motion.free = scene->motion.moving = true;
    memcpy(scene->motion.center, center_before, sizeof center_before);
    for (int f = 0; f < KF_FACES; f++)
        scene->faces[f] = KF_FREE_SLIP;
}

/* Reads the numbers of a table below its header. */
enum { COLUMNS = 15, ROWS = 64 };
static int read_table(const char *path, const char *header, double rows[ROWS][COLUMNS]) {
    char line[1000];
    int count = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    line[strcspn(line, "\n")] = '\0';
    assert_string_equal(line, header);
    while (fgets(line, sizeof line, file) != NULL) {
        char *at = line;
        assert_true(count < ROWS);
        for (int c = 0; c < COLUMNS; c++) {
            rows[count][c] = strtod(at, &at);
            at += *at == ',';
        }
        count++;
    }
    (void)fclose(file);
    return count;
}

static void assert_close(double value, double expected, const char *what, int index) {
    if (!(fabs(value - expected) < 1e-6)) fail_msg("%s %d is %.9g, not %.9g", what, index, value, expected);
}

static double point[1][3] = {{1.4, 2.1, 3.3}};
static double line[3][3] = {{0.5, 4.2, 1.1}, {1.5, 3.9, 2.3}, {2.5, 3.6, 3.5}};
static double skin[2][3] = {{2.9, 1.6, 1.3}, {1.7, 2.4, 2.1}};
static double normals[2][3] = {{0.6, 0, -0.8}, {0, 0.28, 0.96}};
static const kf_probe probes[] = {
    {.name = "dot", .kind = KF_PROBE_POINT, .count = 1, .points = point},
    {.name = "row", .kind = KF_PROBE_LINE, .count = 3, .points = line},
    {.name = "skin", .kind = KF_PROBE_SURFACE, .count = 2, .points = skin, .normals = normals},
};
enum { PROBES = 3 };

/* Computes where a point of the surface is when its solid has turned and moved. */
static void moved(const double start[3], const double normal[3], double place[3]) {
    double arm[3];
    for (int a = 0; a < 3; a++)
        arm[a] = start[a] + KF_PRESSURE_AT * h * normal[a] - (center_before[a] + 0.5) * h;
    place[0] = (center_now[0] + 0.5) * h + arm[2];
    place[1] = (center_now[1] + 0.5) * h + arm[0];
    place[2] = (center_now[2] + 0.5) * h + arm[1];
}

#define VELOCITY ",velocity_x_m_s,velocity_y_m_s,velocity_z_m_s"
#define PRESSURE ",kinematic_pressure_m2_s2"

static void check_tables(const kf_prober *prober) {
    double rows[ROWS][COLUMNS], value[KF_PROBED], place[3];
    for (int p = 0; p < PROBES; p++) {
        const bool surface = probes[p].kind == KF_PROBE_SURFACE;
        const int count = (int)probes[p].count;
        assert_int_equal(
            read_table(prober->reports[p].table,
                       surface ? "step,time_s,point" PRESSURE : "step,time_s,point" VELOCITY PRESSURE, rows),
            STEPS * count);
        for (int r = 0; r < STEPS * count; r++) {
            const int i = r % count, moment = r / count;
            memcpy(place, probes[p].points[i], sizeof place);
            if (surface) moved(skin[i], normals[i], place);
            expect_at(place, moment, value);
            assert_close(rows[r][0], EVERY * (moment + 1), "step", r);
            assert_close(rows[r][1], dt * EVERY * (moment + 1), "time", r);
            assert_close(rows[r][2], i, "point", r);
            if (surface)
                assert_close(rows[r][3], value[3], "pressure on the skin", r);
            else
                for (int q = 0; q < KF_PROBED; q++)
                    assert_close(rows[r][3 + q], value[q], probes[p].name, 10 * r + q);
        }
    }
}

/* Returns the mean of the product of two fluctuations over the moments from `from` on, in (m/s)^2. */
static double covariance(const double one[STEPS], const double other[STEPS], int from) {
    double means[2] = {0, 0}, sum = 0;
    for (int m = from; m < STEPS; m++) {
        means[0] += one[m] / (STEPS - from);
        means[1] += other[m] / (STEPS - from);
    }
    for (int m = from; m < STEPS; m++)
        sum += (one[m] - means[0]) * (other[m] - means[1]) / (STEPS - from);
    return sum * cell_speed * cell_speed / (256.0 * 256.0);
}

static void check_means(const kf_prober *prober, int from) {
    static const int components[KF_STRESSES][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    double rows[ROWS][COLUMNS], value[KF_PROBED], place[3], heave = 0, squares = 0;
    for (int m = from; m < STEPS; m++)
        heave += heaves[m] / (STEPS - from);
    for (int m = from; m < STEPS; m++)
        squares += (heaves[m] - heave) * (heaves[m] - heave) / (STEPS - from);
    const double rms = sqrt(squares) / 1024 * cell_speed * cell_speed / 3;
    for (int p = 0; p < PROBES; p++) {
        const kf_probe_report *report = &prober->reports[p];
        const bool surface = probes[p].kind == KF_PROBE_SURFACE;
        const int count = (int)probes[p].count;
        assert_int_equal(read_table(report->means,
                                    surface
                                        ? "point,x_m,y_m,z_m,normal_x,normal_y,normal_z" PRESSURE
                                          ",kinematic_pressure_rms_m2_s2"
                                        : "point,x_m,y_m,z_m" VELOCITY PRESSURE
                                          ",kinematic_pressure_rms_m2_s2,stress_xx_m2_s2,stress_yy_m2_s2,"
                                          "stress_zz_m2_s2,stress_xy_m2_s2,stress_xz_m2_s2,stress_yz_m2_s2",
                                    rows),
                         count);
        assert_int_equal(report->rows, STEPS - from);
        assert_int_equal(report->from_step, EVERY * (from + 1));
        assert_int_equal(report->to_step, EVERY * STEPS);
        for (int i = 0; i < count; i++) {
            double mean[KF_PROBED] = {0};
            memcpy(place, probes[p].points[i], sizeof place);
            if (surface) moved(skin[i], normals[i], place);
            for (int m = from; m < STEPS; m++) {
                expect_at(place, m, value);
                for (int q = 0; q < KF_PROBED; q++)
                    mean[q] += value[q] / (STEPS - from);
            }
            for (int a = 0; a < 3; a++) {
                assert_close(rows[i][1 + a], probes[p].points[i][a], "place", a);
                assert_close(rows[i][4 + a], surface ? normals[i][a] : mean[a], probes[p].name, a);
                if (i == 0) assert_close(report->at[a], probes[p].points[0][a], "report's place", a);
                if (i == 0 && !surface) assert_close(report->mean[a].mean, mean[a], "report's mean", a);
            }
            if (i == 0) assert_close(report->mean[3].mean, mean[3], "report's pressure", p);
            assert_close(rows[i][7], mean[3], "mean pressure", i);
            assert_close(rows[i][8], rms, "rms of the pressure", i);
            for (int k = 0; k < KF_STRESSES && !surface; k++) {
                const double stress = covariance(swings[components[k][0]], swings[components[k][1]], from);
                /* All six differ by more than this. */
                if (!(fabs(rows[i][9 + k] - stress) < 1e-7)) fail_msg("stress %d: %g", k, rows[i][9 + k]);
                if (i == 0) assert_true(fabs(report->stress[k] - stress) < 1e-7);
            }
        }
    }
}

static void tables_and_means(void **state) {
    (void)state;
    static const struct {
        uint64_t from_step;
        int from;
    } parts[] = {{0, STEPS / 2}, {EVERY, 0}, {2 * EVERY, 1}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        kf_error error = {KF_OK, ""};
        kf_scene scene;
        kf_prober prober;
        known_scene(&scene);
        kf_problem problem = {.own = &scene};
        kf_plan plan = {.problem = &problem, .methods = &known_methods};
        must(kf_prober_open(&prober, &plan, probes, PROBES, scratch, true, &error), &error);
        for (int m = 0; m < STEPS; m++) {
            plan.steps_done = (uint64_t)EVERY * (uint64_t)(m + 1);
            must(kf_prober_add(&prober, &plan, &error), &error);
        }
        check_tables(&prober);
        must(kf_prober_conclude(&prober, scratch, parts[i].from_step, false, &error), &error);
        check_means(&prober, parts[i].from);
        kf_prober_close(&prober);
        free(prober.reports);
    }
}

/* In a picture a line is as long as in space, and a cut is drawn over x. */
static void along_a_line(void **state) {
    (void)state;
    double corners[4][3] = {{1, 2, 3}, {3, 2, 3}, {1, 5, 3}, {3, 5, 9}};
    const double lengths[4] = {0, 2, 3, 7};
    kf_probe probe = {.kind = KF_PROBE_LINE, .count = 4, .points = corners};
    for (size_t i = 0; i < 4; i++)
        assert_near(kf_probe_along(&probe, i), lengths[i], 1e-15);
    probe.kind = KF_PROBE_SURFACE;
    for (size_t i = 0; i < 4; i++)
        assert_near(kf_probe_along(&probe, i), corners[i][0], 1e-15);
}

/* Within half a cell of a wall the velocity tends to that wall's, and the pressure is the outermost
 * node's. */
static void beside_each_wall(void **state) {
    (void)state;
    for (int face = 0; face < KF_FACES; face++)
        for (int wall = 0; wall < 2; wall++) {
            const int axis = face / 2;
            kf_error error = {KF_OK, ""};
            kf_scene scene;
            double place[1][3] = {{2.05, 1.85, 1.65}}, value[1][KF_PROBED], inner[3], expected[KF_PROBED];
            const char *name, *unit;
            known_scene(&scene);
            if (wall) scene.faces[face] = KF_WALL;
            for (int f = 0; f < KF_FACES; f++)
                for (int a = 0; a < 3; a++)
                    scene.face_velocity[f][a] = 0.01 * (1 + f) + 0.1 * (1 + a);
            kf_problem problem = {.own = &scene};
            kf_plan plan = {.problem = &problem, .methods = &known_methods, .steps_done = EVERY};
            /* At an eighth of a cell from the face, the wall's velocity has a weight of three quarters. */
            place[0][axis] = face % 2 ? h * (nodes[axis] - 0.125) : h * 0.125;
            memcpy(inner, place[0], sizeof inner);
            inner[axis] = face % 2 ? h * (nodes[axis] - 0.5) : h * 0.5;
            expect_at(inner, 0, expected);
            must(kf_probe_values(&plan, (const double(*)[3])place, 1, value, &name, &unit, &error), &error);
            for (int a = 0; a < 3; a++)
                assert_close(value[0][a],
                             wall ? 0.25 * expected[a] + 0.75 * cell_speed * scene.face_velocity[face][a]
                                  : expected[a],
                             kf_face_names[face], a);
            assert_close(value[0][3], expected[3], "pressure at the wall", face);
            assert_string_equal(name, "kinematic_pressure");
        }
}

/* Across a periodic face the neighbours are those of the other side. */
static void across_each_period(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++)
        for (int upper = 0; upper < 2; upper++) {
            kf_error error = {KF_OK, ""};
            kf_scene scene;
            double place[1][3] = {{2.05, 1.85, 1.65}}, value[1][KF_PROBED], near[3], far[3],
                   at_near[KF_PROBED], at_far[KF_PROBED];
            const char *name, *unit;
            known_scene(&scene);
            scene.faces[2 * axis] = scene.faces[2 * axis + 1] = KF_PERIODIC;
            kf_problem problem = {.own = &scene};
            kf_plan plan = {.problem = &problem, .methods = &known_methods, .steps_done = EVERY};
            /* At a quarter of a cell inside the face, a quarter of the value comes from the other side. */
            memcpy(near, place[0], sizeof near);
            memcpy(far, place[0], sizeof far);
            place[0][axis] = upper ? h * (nodes[axis] - 0.25) : h * 0.25;
            near[axis] = upper ? h * (nodes[axis] - 0.5) : h * 0.5;
            far[axis] = upper ? h * 0.5 : h * (nodes[axis] - 0.5);
            expect_at(near, 0, at_near);
            expect_at(far, 0, at_far);
            must(kf_probe_values(&plan, (const double(*)[3])place, 1, value, &name, &unit, &error), &error);
            for (int q = 0; q < KF_PROBED; q++)
                assert_close(value[0][q], 0.75 * at_near[q] + 0.25 * at_far[q], "across axis", 10 * axis + q);
        }
}

/* Nodes inside a solid without fluid are at rest and have the pressure 0. They count in a velocity, which
 * tends to the solid's, but have no share in a pressure, as long as one of the nodes around the point has
 * fluid. */
static void beside_a_solid_without_fluid(void **state) {
    (void)state;
    static const double places[][3] = {{4.75, 6.3, 2.6}, {4.01, 1.5, 2.6}, {6.3, 3.2, 4.9},
                                       {6.3, 3.9, 5.9},  {4.4, 3.6, 4.7},  {8.2, 7.4, 3.3}};
    kf_scene scene;
    kf_error error = {KF_OK, ""};
    known_scene(&scene);
    kf_problem problem = {.own = &scene};
    kf_plan plan = {.problem = &problem, .methods = &known_methods, .steps_done = EVERY};
    has_solid = true;
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        double place[1][3], value[1][KF_PROBED], sum[KF_PROBED] = {0}, fluid = 0.0;
        const char *name, *unit;
        for (int a = 0; a < 3; a++)
            place[0][a] = (places[p][a] + 0.5) * h;
        for (int k = 0; k < 8; k++) {
            double node[3], at[3], expected[KF_PROBED], weight = 1.0;
            for (int a = 0; a < 3; a++) {
                node[a] = floor(places[p][a]) + (k >> a & 1);
                at[a] = (node[a] + 0.5) * h;
                weight *= 1.0 - fabs(places[p][a] - node[a]);
            }
            if (is_solid(node)) continue;
            expect_at(at, 0, expected);
            fluid += weight;
            for (int q = 0; q < KF_PROBED; q++)
                sum[q] += weight * expected[q];
        }
        must(kf_probe_values(&plan, (const double(*)[3])place, 1, value, &name, &unit, &error), &error);
        for (int a = 0; a < 3; a++)
            assert_close(value[0][a], sum[a], "velocity beside a solid", (int)p);
        assert_close(value[0][3], sum[3] / fluid, "pressure beside a solid", (int)p);
    }
    double inside[1][3] = {{1.2, 1.1, 1.0}}, value[1][KF_PROBED];
    const char *name, *unit;
    must(kf_probe_values(&plan, (const double(*)[3])inside, 1, value, &name, &unit, &error), &error);
    assert_true(value[0][3] == 0.0);
    has_solid = false;
}

/* A system that is not a flow: its snapshot has nodes of its own, with a different spacing along each
 * axis. */
static const double first_node[3] = {0.1, 0.4, 0.7}, apart[3] = {0.5, 0.25, 0.125};
static kf_status own_snapshot(kf_plan *plan, kf_snapshot *snapshot, kf_error *error) {
    (void)plan, (void)error;
    const int own[3] = {3, 5, 7};
    kf_snapshot_of_nodes(snapshot, own, 0, 1);
    memcpy(snapshot->origin, first_node, sizeof first_node);
    memcpy(snapshot->spacing, apart, sizeof apart);
    float *velocity = kf_snapshot_add(snapshot, "velocity", "m/s", 3);
    for (int k = 0; k < own[2]; k++)
        for (int j = 0; j < own[1]; j++)
            for (int i = 0; i < own[0]; i++)
                for (int a = 0; a < 3; a++, velocity++)
                    *velocity = (float)((a + 1) * (i + 10 * j + 100 * k));
    return KF_OK;
}

static void nodes_of_other_systems(void **state) {
    (void)state;
    static const kf_plan_methods methods = {.snapshot = own_snapshot};
    static const kf_plan plan = {.methods = &methods};
    kf_error error = {KF_OK, ""};
    kf_plan copy = plan;
    double place[2][3], value[2][KF_PROBED];
    const double shares[2][3] = {{0.5, 2.25, 4.75}, {1.75, 0.5, 3.25}};
    const char *name, *unit;
    for (int i = 0; i < 2; i++)
        for (int a = 0; a < 3; a++)
            place[i][a] = first_node[a] + shares[i][a] * apart[a];
    must(kf_probe_values(&copy, (const double(*)[3])place, 2, value, &name, &unit, &error), &error);
    for (int i = 0; i < 2; i++)
        for (int a = 0; a < 3; a++)
            assert_near(value[i][a], (a + 1) * (shares[i][0] + 10 * shares[i][1] + 100 * shares[i][2]), 1e-6);
    assert_null(name);
    assert_true(isnan(value[0][3]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_and_means),
        cmocka_unit_test(along_a_line),
        cmocka_unit_test(beside_each_wall),
        cmocka_unit_test(across_each_period),
        cmocka_unit_test(beside_a_solid_without_fluid),
        cmocka_unit_test(nodes_of_other_systems),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
