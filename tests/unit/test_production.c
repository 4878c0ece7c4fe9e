/* Tests the production run around a plan: what it writes when, interruptions, blow-ups, the table of
 * forces. Faults: a file that is missing, late or wrong after a restart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "base/backend/team/team.h"
#include "base/util/file.h"
#include "base/util/log.h"
#include "solver/output/checkpoint.h"
#include "solver/output/production.h"
#include "solver/output/record_files.h"
#include "solver/picture/picture.h"
#include "tests/unit/output_plan.h"
#include "tests/unit/output_scratch.h"

static kf_scene *scene;
static kf_backend *backend;
static kf_plan *plan;
static const volatile int never;

static int open_all(void **state) {
    kf_log_set_level(KF_LOG_QUIET);
    kf_error error = {0};
    if (make_scratch(state) != 0) return -1;
    if (kf_backend_open("cpu", &backend, &error) != KF_OK) {
        print_error("%s\n", error.message);
        return -1;
    }
    return 0;
}

static int close_all(void **state) {
    kf_backend_close(backend);
    return remove_scratch(state);
}

static int set_up(void **state) {
    (void)state;
    scene = make_scene();
    plan = make_quiet_plan(scene, backend);
    return kf_production_start(plan, NULL, NULL, NULL) == KF_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    free_quiet_plan(plan);
    free_scene(scene);
    return 0;
}

static quiet_system *quiet(void) {
    return plan->system;
}

static kf_production_options every_five(const char *folder) {
    kf_error error;
    assert_int_equal(kf_make_folders(folder, &error), KF_OK);
    return (kf_production_options){.folder = folder,
                                   .steps = 12,
                                   .every = 5,
                                   .record_every = 2,
                                   .checkpoints = 1,
                                   .interrupted = &never};
}

static bool exists(const char *folder, const char *name) {
    char path[KF_PATH];
    kf_error error;
    assert_int_equal(kf_path(path, &error, "%s/%s", folder, name), KF_OK);
    return access(path, F_OK) == 0;
}

static char *read_forces(const char *folder) {
    char path[KF_PATH], *text = NULL;
    size_t size;
    kf_error error;
    assert_int_equal(kf_path(path, &error, "%s/forces.csv", folder), KF_OK);
    assert_int_equal(kf_file_read(path, 0, &text, &size, &error), KF_OK);
    return text;
}

static int count_of(const char *text, char wanted) {
    int count = 0;
    for (; *text; text++)
        count += *text == wanted;
    return count;
}

static void test_what_is_written(void **state) {
    (void)state;
    const char *folder = in_scratch("plain");
    kf_production_options options = every_five(folder);
    kf_production done;
    kf_error error = {0};
    if (kf_produce(plan, &options, &done, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(done.first_step, 0);
    assert_int_equal(done.last_step, 12);
    assert_true(done.updates_per_second > 0 && done.steps_per_second > 0);
    for (int i = 0; i < 3; i++) {
        static const int steps[] = {5, 10, 12};
        char name[64];
        (void)snprintf(name, sizeof name, "fields_%06d.vtkhdf", steps[i]);
        assert_true(exists(folder, name));
        (void)snprintf(name, sizeof name, "speed_%06d.png", steps[i]);
        assert_true(exists(folder, name));
        (void)snprintf(name, sizeof name, "checkpoint_%06d.kfc", steps[i]);
        assert_int_equal(exists(folder, name), steps[i] == 12);
    }
    /* The run leaves forces.csv, three field files, three pictures and one checkpoint. */
    assert_true(exists(folder, "forces.png"));
    assert_int_equal(done.output_count, 9);
    for (size_t i = 0; i < done.output_count; i++)
        assert_int_equal(access(done.outputs[i], F_OK), 0);
    assert_int_equal(done.records.count, 1);
    assert_int_equal(done.records.step, 12);
    assert_string_equal(done.records.tables[0].table, "forces");
    char *text = read_forces(folder);
    assert_int_equal(count_of(text, '\n'), 7); /* the header and steps 2, 4, ... 12 */
    assert_int_equal(count_of(text, ','), 7 * 20);
    free(text);
    kf_production_free(&done);
}

static void test_checkpoints_follow_the_clock(void **state) {
    (void)state;
    const char *folder = in_scratch("hourly");
    kf_production_options options = every_five(folder);
    options.checkpoints = 3;
    options.checkpoint_seconds = 3600;
    kf_production done;
    kf_error error;
    assert_int_equal(kf_produce(plan, &options, &done, &error), KF_OK);
    assert_false(exists(folder, "checkpoint_000005.kfc"));
    assert_false(exists(folder, "checkpoint_000010.kfc"));
    assert_true(exists(folder, "checkpoint_000012.kfc"));
    kf_production_free(&done);
}

/* Checkpoints are written between outputs, too: a crash must not lose the hour between them. */
static void test_checkpoints_between_outputs(void **state) {
    (void)state;
    const char *folder = in_scratch("between");
    kf_production_options options = every_five(folder);
    options.every = 1000;
    options.checkpoints = 100;
    options.checkpoint_seconds = 1e-9;
    kf_production done;
    kf_error error;
    assert_int_equal(kf_produce(plan, &options, &done, &error), KF_OK);
    assert_true(exists(folder, "checkpoint_000001.kfc"));
    assert_true(exists(folder, "checkpoint_000012.kfc"));
    assert_false(exists(folder, "fields_000005.vtkhdf"));
    kf_production_free(&done);
}

static volatile int interruption;
static void interrupt_run(const void *context, const kf_drag_report *report, double values[KF_DRAG_JUDGED]) {
    (void)context;
    for (int i = 0; i < KF_DRAG_JUDGED; i++)
        values[i] = 0.0;
    if (report->step >= 6) interruption = 1;
}

/* A run that is interrupted at a step with a checkpoint lists it once among its files, and of all
 * checkpoints only the newest. */
static void test_an_interrupted_run_names_each_file_once(void **state) {
    (void)state;
    const char *folder = in_scratch("interrupted");
    kf_production_options options = every_five(folder);
    options.every = 1000;
    options.checkpoints = 3;
    options.checkpoint_seconds = 1e-9;
    options.interrupted = &interruption;
    options.judge = interrupt_run;
    kf_production done;
    kf_error error;
    assert_int_equal(kf_produce(plan, &options, &done, &error), KF_INTERRUPTED);
    int checkpoints = 0;
    for (size_t i = 0; i < done.output_count; i++) {
        assert_int_equal(access(done.outputs[i], F_OK), 0);
        checkpoints += strstr(done.outputs[i], "checkpoint_") != NULL;
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(done.outputs[i], done.outputs[k]);
    }
    assert_int_equal(checkpoints, 3);
    assert_true(exists(folder, "checkpoint_000006.kfc"));
    assert_string_equal(done.checkpoint + strlen(folder), "/checkpoint_000006.kfc");
    kf_production_free(&done);
}

/* An output that fails loses nothing that was computed. */
static void test_failing_output(void **state) {
    (void)state;
    const char *folder = in_scratch("failing");
    char path[KF_PATH];
    kf_production_options options = every_five(folder);
    options.checkpoints = 0;
    kf_production done;
    kf_error error;
    assert_int_equal(kf_path(path, &error, "%s/fields_000010.vtkhdf/in the way", folder), KF_OK);
    assert_int_equal(kf_make_folders(path, &error), KF_OK);
    assert_int_not_equal(kf_produce(plan, &options, &done, &error), KF_OK);
    assert_non_null(strstr(error.message, "fields_000010.vtkhdf"));
    assert_non_null(strstr(error.message, "checkpoint_000010.kfc"));
    assert_true(exists(folder, "checkpoint_000010.kfc"));
    assert_string_equal(done.checkpoint + strlen(folder), "/checkpoint_000010.kfc");
    kf_production_free(&done);
}

static kf_status endless_state_size(kf_plan *of, size_t *bytes, kf_error *error) {
    (void)of;
    (void)error;
    *bytes = (size_t)1 << 62;
    return KF_OK;
}

/* A state for which the disk has no room is reported before the first step, and before it is collected. */
static void test_no_room_for_checkpoints(void **state) {
    (void)state;
    const char *folder = in_scratch("small");
    kf_plan_methods endless = quiet_methods;
    endless.state_size = endless_state_size;
    plan->methods = &endless;
    kf_production_options options = every_five(folder);
    kf_production done;
    kf_error error = {0};
    char path[KF_PATH];
    assert_int_equal(kf_produce(plan, &options, &done, &error), KF_MACHINE);
    assert_non_null(strstr(error.message, "small: a checkpoint needs 4096 PiB, but "));
    assert_int_equal(done.last_step, 0);
    kf_production_free(&done);
    options.checkpoints = 0;
    assert_int_equal(kf_produce(plan, &options, &done, &error), KF_OK);
    kf_production_free(&done);
    assert_int_equal(kf_path(path, &error, "%s/checkpoint_000012.kfc", folder), KF_OK);
    assert_int_equal(kf_checkpoint_write(path, plan, NULL, &error), KF_MACHINE);
    assert_false(exists(folder, "checkpoint_000012.kfc"));
}

static void test_blow_up(void **state) {
    (void)state;
    const char *folder = in_scratch("blown");
    kf_production_options options = every_five(folder);
    quiet()->blow_up_at = 8;
    kf_production done;
    kf_error error;
    assert_int_equal(kf_produce(plan, &options, &done, &error), KF_GATE_FAILED);
    assert_non_null(strstr(error.message, ", node (1,1,0)"));
    assert_true(exists(folder, "fields_000005.vtkhdf"));
    assert_int_equal(access(done.checkpoint, F_OK), 0); /* the last good one, from before step 8 */
    for (int step = 8; step <= 12; step++) {
        char name[32];
        (void)snprintf(name, sizeof name, "checkpoint_%06d.kfc", step);
        assert_false(exists(folder, name));
    }
    assert_false(exists(folder, "fields_000010.vtkhdf"));
    assert_false(exists(folder, "speed_000010.png"));
    kf_production_free(&done);
}

/* A free solid that is held at an edge cannot continue from there. No checkpoint of it is written, and the
 * last earlier one is named. */
static void test_held_solid_leaves_no_checkpoint(void **state) {
    (void)state;
    const char *folder = in_scratch("held");
    for (int by_clock = 0; by_clock < 2; by_clock++) {
        kf_production_options options = every_five(folder);
        kf_production done;
        kf_error error;
        options.record_every = by_clock ? 5 : 1;
        options.checkpoint_seconds = 0;
        quiet()->held_at = 4;
        assert_int_equal(kf_production_start(plan, NULL, NULL, &error), KF_OK);
        assert_int_equal(kf_produce(plan, &options, &done, &error), KF_BAD_INPUT);
        assert_non_null(strstr(error.message, "the free solid is held"));
        assert_non_null(strstr(error.message, "; the last good state is "));
        assert_non_null(strstr(error.message, done.checkpoint));
        assert_int_equal(access(done.checkpoint, F_OK), 0);
        assert_false(exists(folder, "checkpoint_000004.kfc"));
        assert_false(exists(folder, "checkpoint_000005.kfc"));
        kf_production_free(&done);
    }
}

/* The state is also checked between two outputs. Some hundred steps after it blows up, the run ends and
 * says which checkpoint is left. */
static void test_blow_up_between_outputs(void **state) {
    (void)state;
    kf_production_options options = every_five(in_scratch("blown_between"));
    options.steps = options.every = options.record_every = 4000;
    options.checkpoint_seconds = 0;
    quiet()->blow_up_at = 700;
    kf_production done;
    kf_error error;
    assert_int_equal(kf_produce(plan, &options, &done, &error), KF_GATE_FAILED);
    assert_in_range(plan->steps_done, 700, 1000);
    assert_non_null(strstr(error.message, "or the rates \"k17\" or \"ones\""));
    assert_non_null(strstr(error.message, "the last good state is "));
    assert_non_null(strstr(error.message, done.checkpoint));
    kf_production_free(&done);
}

/* The table of a run that is interrupted after step 6 and resumed equals that of a run without
 * interruption. */
static void test_interrupted_and_resumed(void **state) {
    (void)state;
    const char *whole = in_scratch("whole"), *parts = in_scratch("parts");
    kf_production_options options = every_five(whole);
    kf_production done;
    kf_error error;
    assert_int_equal(kf_produce(plan, &options, &done, &error), KF_OK);
    kf_production_free(&done);

    options = every_five(parts);
    options.checkpoints = 0;
    options.interrupted = &quiet()->interrupted;
    quiet()->interrupt_at = 6;
    assert_int_equal(kf_production_start(plan, NULL, NULL, &error), KF_OK);
    assert_int_equal(kf_produce(plan, &options, &done, &error), KF_INTERRUPTED);
    assert_int_equal(done.last_step, 6);
    assert_true(exists(parts, "checkpoint_000006.kfc"));
    assert_false(exists(parts, "checkpoint_000005.kfc"));

    quiet()->interrupted = 0;
    quiet()->interrupt_at = 0;
    options.steps = 6;
    assert_int_equal(kf_production_start(plan, NULL, done.checkpoint, &error), KF_OK);
    kf_production_free(&done);
    assert_int_equal(kf_produce(plan, &options, &done, &error), KF_OK);
    assert_int_equal(done.first_step, 6);
    assert_int_equal(done.last_step, 12);
    char *wanted = read_forces(whole), *got = read_forces(parts);
    assert_string_equal(got, wanted);
    free(wanted);
    free(got);
    kf_production_free(&done);
}

/* The table of forces of a free solid also has its place in SI units. */
static void test_motion_of_a_free_solid(void **state) {
    (void)state;
    const char *folder = in_scratch("free");
    kf_production_options options = every_five(folder);
    kf_production done;
    kf_error error = {0};
    char path[KF_PATH], *text = NULL, expected[128];
    size_t size;
    scene->motion.moving = scene->motion.free = true;
    if (kf_produce(plan, &options, &done, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(kf_path(path, &error, "%s/motion.csv", folder), KF_OK);
    assert_int_equal(kf_file_read(path, 0, &text, &size, &error), KF_OK);
    assert_int_equal(count_of(text, '\n'), 7);
    (void)snprintf(expected, sizeof expected, "\n12,%.9g,%.8g,%.8g,%.8g,%.8g,0,0,0,0,0,1,0,0,0\n",
                   12 * scene->time_step, 32.5 * scene->cell_size, 0.5 * scene->cell_size,
                   0.5 * scene->cell_size, scene->cell_size / scene->time_step);
    if (!strstr(text, expected)) fail_msg("'%s' is not in '%s'", expected, text);
    free(text);
    kf_production_free(&done);
}

static void add_row(kf_record_files *files, uint64_t step) {
    kf_error error = {0};
    kf_records records = {.step = step, .time = (double)step * scene->time_step};
    kf_flow_add_forces(scene, &(kf_solid_load){.force = {1, 2, 3}}, &records);
    if (kf_record_files_add(files, &records, &error) != KF_OK) fail_msg("%s", error.message);
    kf_records_free(&records);
}

static void test_records_go_on_behind_the_checkpoint(void **state) {
    (void)state;
    kf_error error;
    kf_record_files files = {.folder = scratch};
    for (uint64_t step = 2; step <= 8; step += 2)
        add_row(&files, step);
    (void)fputs("10,0.5,7", files.list[0].stream);
    assert_int_equal(kf_record_files_close(&files, &error), KF_OK);
    files.from_step = 4;
    add_row(&files, 5);
    assert_int_equal(kf_record_files_close(&files, &error), KF_OK);
    char *text = read_forces(scratch);
    assert_int_equal(count_of(text, '\n'), 4);
    assert_non_null(strstr(text, "\n2,0.004,"));
    assert_non_null(strstr(text, "\n4,0.008,"));
    assert_non_null(strstr(text, "\n5,0.01,"));
    free(text);
}

static void test_coefficients_and_units(void **state) {
    (void)state;
    const kf_solid_load load = {.force = {0.4, 0.1, 0.2}, .torque = {0, 0, 3}};
    kf_records records = {.count = 0};
    kf_flow_add_forces(scene, &load, &records);
    const kf_record *row = kf_records_find(&records, "forces");
    double area = acos(-1) * ball_radius * ball_radius, drag = kf_record_value(row, "drag_coefficient");
    assert_true(fabs(drag - 2 * 0.4 / (inflow_speed * inflow_speed * area)) < 1e-12);
    assert_true(fabs(kf_record_value(row, "lift_coefficient") -
                     2 * 0.2 / (inflow_speed * inflow_speed * area)) < 1e-12);
    assert_true(fabs(kf_record_value(row, "side_coefficient") +
                     2 * 0.1 / (inflow_speed * inflow_speed * area)) < 1e-12);
    /* F/rho in SI units gives the same coefficient from metres and seconds. */
    double speed = inflow_speed * 0.05 / 0.002, area_m2 = area * 0.05 * 0.05;
    assert_true(fabs(2 * kf_record_value(row, "force_x") / (speed * speed * area_m2) - drag) < 1e-9);
    assert_true(fabs(kf_record_value(row, "torque_z") - 3 * pow(0.05, 5) / pow(0.002, 2)) < 1e-12);
    /* A solid is turned by 30 degrees. Drag is along the direction that the wind had, (cos, sin), and the
     * side force to its right. */
    assert_true(kf_record_value(row, "body_drag_coefficient") == drag);
    kf_records_free(&records);
    scene->yaw = 30;
    scene->reference_length = 5;
    for (int a = 0; a < 3; a++)
        scene->moment_center[a] = scene->motion.center[a] - (a == 0 ? 2.0 : 0.0);
    kf_flow_add_forces(scene, &load, &records);
    row = kf_records_find(&records, "forces");
    const double unit = drag / 0.4, c = sqrt(0.75), s = 0.5;
    assert_true(fabs(kf_record_value(row, "body_drag_coefficient") - unit * (c * 0.4 + s * 0.1)) < 1e-12);
    assert_true(fabs(kf_record_value(row, "body_side_coefficient") - unit * (s * 0.4 - c * 0.1)) < 1e-12);
    /* (2, 0, 0) x (0.4, 0.1, 0.2) = (0, -0.4, 0.2) about the point, and 3 upright about the centre. */
    assert_true(fabs(kf_record_value(row, "roll_moment_coefficient") - unit / 5 * s * -0.4) < 1e-12);
    assert_true(fabs(kf_record_value(row, "pitch_moment_coefficient") - unit / 5 * c * 0.4) < 1e-12);
    assert_true(fabs(kf_record_value(row, "yaw_moment_coefficient") - unit / 5 * 3.2) < 1e-12);
    assert_true(isnan(kf_record_value(row, "gravity")));
    assert_null(kf_records_find(&records, "motion"));
    kf_records_free(&records);
    scene->frontal_area = 0;
    kf_flow_add_forces(scene, &load, &records);
    row = kf_records_find(&records, "forces");
    assert_true(isnan(kf_record_value(row, "drag_coefficient")) &&
                isnan(kf_record_value(row, "lift_coefficient")));
    kf_records_free(&records);
}

/* --- A system with particles, which knows no flow and keeps no state --- */

enum { FALLING = 100 };

static kf_status drop(kf_plan *falling, kf_error *error) {
    (void)falling, (void)error;
    return KF_OK;
}

static kf_status see_particles(kf_plan *falling, kf_snapshot *snapshot, kf_error *error) {
    (void)error;
    kf_snapshot_of_particles(snapshot, FALLING);
    float *position = kf_snapshot_add(snapshot, "position", "m", 3);
    for (int i = 0; i < 3 * FALLING; i++)
        position[i] = (float)i;
    if (falling->steps_done >= 50) position[7] = NAN;
    return KF_OK;
}

static kf_status record_particles(kf_plan *falling, kf_records *records, kf_error *error) {
    (void)error;
    kf_record_add(kf_records_add(records, "energy"), "kinetic", "J", 0.5 * (double)falling->steps_done);
    kf_record *gauges = kf_records_add(records, "gauges");
    kf_record_add(gauges, "level_1", "m", 0.25);
    kf_record_add(gauges, "share", "", NAN);
    return KF_OK;
}

/* Steps are shorter from the 13th on. */
static double falling_time(const kf_plan *falling, uint64_t step) {
    (void)falling;
    return step <= 12 ? 0.001 * (double)step : 0.012 + 0.0005 * (double)(step - 12);
}

static void let_go(kf_plan *falling) {
    (void)falling;
}

static const kf_plan_methods falling_methods = {.initialise = drop,
                                                .snapshot = see_particles,
                                                .record = record_particles,
                                                .time = falling_time,
                                                .free = let_go};

static void check_text(const char *folder, const char *name, const char *expected) {
    char path[KF_PATH], *text = NULL;
    size_t size;
    kf_error error = {0};
    assert_int_equal(kf_path(path, &error, "%s/%s", folder, name), KF_OK);
    assert_int_equal(kf_file_read(path, 0, &text, &size, &error), KF_OK);
    assert_string_equal(text, expected);
    free(text);
}

static void test_particles_and_their_records(void **state) {
    (void)state;
    static const kf_system system = {.name = "falling", .update = "particle"};
    const char *folder = in_scratch("falling");
    kf_problem *problem = kf_problem_make(NULL, NULL);
    problem->system = &system;
    const kf_config config = {.count = 0};
    kf_plan *falling = kf_plan_create(plan->backend, problem, &config, &falling_methods, NULL);
    falling->updates = FALLING;
    kf_production_options options = every_five(folder);
    options.record_every = 5;
    kf_production done;
    kf_error error = {0};
    if (kf_produce(falling, &options, &done, &error) != KF_OK) fail_msg("%s", error.message);
    assert_true(exists(folder, "particles_000005.vtkhdf") && exists(folder, "particles_000012.vtkhdf"));
    assert_int_equal(done.output_count, 5); /* three snapshots, two tables: no picture, no checkpoint */
    assert_string_equal(done.checkpoint, "");
    check_text(folder, "energy.csv", "step,time_s,kinetic_J\n5,0.005,2.5\n10,0.01,5\n12,0.012,6\n");
    check_text(folder, "gauges.csv",
               "step,time_s,level_1_m,share\n5,0.005,0.25,nan\n10,0.01,0.25,nan\n12,0.012,0.25,nan\n");
    kf_production_free(&done);
    /* 10 ms further are neither the 12 steps of the estimate, nor 10. */
    options.seconds = 0.01;
    if (kf_produce(falling, &options, &done, &error) != KF_OK) fail_msg("%s", error.message);
    assert_int_equal(done.last_step, 32);
    assert_true(exists(folder, "particles_000032.vtkhdf") && !exists(folder, "particles_000024.vtkhdf"));
    kf_production_free(&done);
    options.seconds = 0;
    options.steps = 60;
    options.every = 50;
    assert_int_equal(kf_produce(falling, &options, &done, &error), KF_GATE_FAILED);
    assert_non_null(strstr(error.message, "step 50, particle 2: position"));
    kf_production_free(&done);
    assert_int_equal(kf_checkpoint_write(in_scratch("none.kfc"), falling, NULL, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "falling keeps no checkpoints"));
    kf_plan_free(falling);
    kf_problem_free(problem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_is_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_checkpoints_follow_the_clock, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_checkpoints_between_outputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_interrupted_run_names_each_file_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failing_output, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_room_for_checkpoints, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_blow_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_held_solid_leaves_no_checkpoint, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_blow_up_between_outputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_interrupted_and_resumed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_motion_of_a_free_solid, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_records_go_on_behind_the_checkpoint, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_coefficients_and_units, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_particles_and_their_records, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
