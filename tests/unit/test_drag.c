/* Tests the means of a run's forces. Faults: rows lost between writing and reading, a mean over the wrong
 * time, a run that is called settled too early. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "solver/output/drag.h"

static void add(kf_force_series *series, uint64_t step, double drag, double lift) {
    kf_records records = {.step = step};
    kf_record *record = kf_records_add(&records, "forces");
    kf_record_add(record, "drag_coefficient", "", drag);
    kf_record_add(record, "lift_coefficient", "", lift);
    kf_record_add(record, "side_coefficient", "", 0.0);
    kf_force_series_add(series, step, record);
    kf_records_free(&records);
}

/* A start of 100 steps' time, then 0.3 with a ripple. */
static void fill(kf_force_series *series, int rows) {
    for (int i = 1; i <= rows; i++)
        add(series, 10 * (uint64_t)i, 0.3 + 2.0 * exp(-i / 10.0) + 0.003 * sin(2.0 * i), -0.1);
}

static void test_means_and_end(void **state) {
    (void)state;
    kf_force_series series = {0};
    kf_drag_report report = kf_drag_report_of(&series, 600.0, 0.0);
    assert_false(report.known || kf_drag_is_done(&report, 100.0));
    fill(&series, 400);
    add(&series, 4010, (double)NAN, 0.0); /* without an area there is no coefficient */
    assert_int_equal(series.count, 400);
    report = kf_drag_report_of(&series, 600.0, 0.0);
    assert_true(report.known && report.settled && report.step == 4000);
    assert_true(report.from_step > 400 && report.from_step < 2000);
    assert_true(fabs(report.mean[KF_DRAG].mean - 0.3) <= report.mean[KF_DRAG].half);
    assert_true(fabs(report.mean[KF_LIFT].mean + 0.1) < 1e-12 &&
                report.mean[KF_LIFT].first == report.mean[KF_DRAG].first);
    assert_true(kf_drag_is_done(&report, 600.0));
    assert_false(kf_drag_is_done(&report, 2000.0)); /* less than three flow-throughs */
    assert_true(kf_drag_report_of(&series, 4000.0, 0.0).settled);
    assert_false(
        kf_drag_report_of(&series, 4001.0, 0.0).settled); /* the stream was not through the domain once */
    report.mean[KF_DRAG].half = 0.004;
    assert_false(kf_drag_is_done(&report, 600.0)); /* wider than 1 % */
    kf_force_series_free(&series);
}

/* A run that began in another's flow has no mean that begins before the step which the run gives, however
 * steady its drag is. With too few rows after that there is no mean. A part that begins later anyway stays
 * as it is. */
static void test_a_foreign_beginning(void **state) {
    (void)state;
    kf_force_series even = {.from = 1500}, late = {.from = 50};
    for (int i = 1; i <= 400; i++)
        add(&even, 10 * (uint64_t)i, 0.3 + 0.003 * sin(2.0 * i), -0.1);
    fill(&late, 400);
    const size_t all = even.count;
    kf_drag_report report = kf_drag_report_of(&even, 600.0, 0.0);
    assert_true(report.settled && report.from_step == 1500 && report.step == 4000);
    assert_int_equal(report.mean[KF_DRAG].count, 251);
    assert_true(fabs(report.mean[KF_DRAG].mean - 0.3) <= report.mean[KF_DRAG].half);
    even.count = 160;
    assert_false(kf_drag_report_of(&even, 600.0, 0.0).settled);
    even.count = all;
    report = kf_drag_report_of(&late, 600.0, 0.0);
    late.from = 0;
    const kf_drag_report own = kf_drag_report_of(&late, 600.0, 0.0);
    assert_true(report.from_step == own.from_step && report.mean[KF_DRAG].half == own.mean[KF_DRAG].half);
    kf_force_series_free(&even);
    kf_force_series_free(&late);
}

/* Drag and side force rise and fall together, so one of the solid's own axes sees all of it and the other
 * nothing. Intervals of drag and side force alone cannot tell this. */
static void test_means_of_the_body(void **state) {
    (void)state;
    static const double turn = 0.5235987755982988; /* 30 degrees */
    kf_force_series series = {0};
    for (int i = 1; i <= 400; i++) {
        const double along = 0.5, across = 0.1 + 0.05 * sin(2.0 * i) + 0.03 * cos(0.37 * i * i);
        kf_records records = {.step = 10 * (uint64_t)i};
        kf_record *record = kf_records_add(&records, "forces");
        kf_record_add(record, "drag_coefficient", "", cos(turn) * along + sin(turn) * across);
        kf_record_add(record, "lift_coefficient", "", -0.1);
        kf_record_add(record, "side_coefficient", "", cos(turn) * across - sin(turn) * along);
        kf_force_series_add(&series, records.step, record);
        kf_records_free(&records);
    }
    const kf_drag_report turned = kf_drag_report_of(&series, 600.0, turn),
                         plain = kf_drag_report_of(&series, 600.0, 0.0);
    assert_true(fabs(turned.body[KF_DRAG].mean - 0.5) < 1e-6 && turned.body[KF_DRAG].half < 1e-6);
    assert_true(fabs(turned.body[KF_SIDE].mean - 0.1) <= turned.body[KF_SIDE].half);
    assert_true(turned.body[KF_SIDE].half > 1.5 * turned.mean[KF_DRAG].half &&
                turned.mean[KF_DRAG].half > 1e-4);
    assert_true(turned.body[KF_SIDE].count == turned.mean[KF_DRAG].count &&
                turned.body[KF_SIDE].first == turned.mean[KF_DRAG].first);
    for (int c = 0; c < KF_COEFFICIENTS; c++)
        assert_true(plain.body[c].mean == plain.mean[c].mean && plain.body[c].half == plain.mean[c].half);
    kf_force_series_free(&series);
}

static void test_running_means(void **state) {
    (void)state;
    kf_force_series series = {0};
    for (int rows = 0; rows <= 9; rows++) { /* 1, 4, 9, ... */
        double sum = 0.0;
        int taken = 0;
        kf_records records = {0};
        kf_record *record = kf_records_add(&records, "forces");
        kf_force_series_running_means(&series, record);
        for (int i = rows / 2 + 1; i <= rows; i++, taken++)
            sum += i * i;
        const double drag = kf_record_value(record, "drag_running_mean");
        if (rows == 0)
            assert_true(isnan(drag));
        else
            assert_true(fabs(drag - sum / taken) < 1e-12 &&
                        fabs(kf_record_value(record, "lift_running_mean") + sum / taken) < 1e-12);
        kf_records_free(&records);
        const double next = (rows + 1.0) * (rows + 1.0);
        add(&series, (uint64_t)rows, next, -next);
    }
    kf_force_series_free(&series);
}

static void test_rows_read_back(void **state) {
    (void)state;
    kf_force_series series = {0};
    kf_error error;
    char path[] = "/tmp/kftune-forces-XXXXXX";
    const int file = mkstemp(path);
    static const char rows[] =
        "step,time_s,drag_coefficient,lift_coefficient,side_coefficient,force_x_m4_s2\n"
        "10,0.1,0.5,0.1,0,7\n20,0.2,0.4,nan,0,7\n30,0.3,0.35,0.2,0,7\n40,0.4,0.3,0.2";
    assert_int_equal(write(file, rows, strlen(rows)), strlen(rows));
    assert_int_equal(close(file), 0);
    assert_int_equal(kf_force_series_read(&series, path, 35, &error), KF_OK);
    assert_int_equal(series.count, 2); /* not the undefined one, and none after step 35 */
    assert_true(series.steps[1] == 30 && series.values[KF_DRAG][1] == 0.35 &&
                series.values[KF_LIFT][1] == 0.2);
    kf_force_series_free(&series);
    assert_int_equal(kf_force_series_read(&series, path, 1000, &error), KF_OK);
    assert_int_equal(series.count, 2); /* the last row is cut off */
    kf_force_series_free(&series);
    unlink(path);
    assert_int_equal(kf_force_series_read(&series, path, 1000, &error), KF_OK);
    assert_int_equal(series.count, 0);
}

/* The forecast of a flow that settles, from its later half, is near the time that it takes. The start
 * decays fast or slowly, with and without a ripple. */
static void test_the_time_to_settle_is_forecast(void **state) {
    (void)state;
    static const double through = 1000.0, decays[] = {0.3, 0.8, 1.5}, ripples[] = {0.0, 0.004};
    for (size_t d = 0; d < 3; d++)
        for (size_t r = 0; r < 2; r++) {
            kf_force_series series = {0};
            double forecast[2] = {(double)NAN, (double)NAN};
            uint64_t step = 0;
            for (bool done = false; !done && step < 60000;) {
                step += 20;
                add(&series, step,
                    1.0 + 0.5 * exp(-(double)step / (decays[d] * through)) +
                        ripples[r] * sin(0.05 * (double)step),
                    0.0);
                const kf_drag_report report = kf_drag_report_of(&series, through, 0.0);
                for (int when = 0; when < 2; when++)
                    if (step == (uint64_t)(through * (2 + 2 * when)))
                        forecast[when] = (double)step + kf_drag_steps_forecast(&series, &report, through);
                done = kf_drag_is_done(&report, through);
            }
            for (int when = 0; when < 2; when++)
                if (isfinite(forecast[when]) &&
                    (forecast[when] > 1.6 * (double)step || forecast[when] < 0.6 * (double)step))
                    fail_msg("decay %g, ripple %g: %g was forecast, it took %g", decays[d], ripples[r],
                             forecast[when], (double)step);
            assert_true(isfinite(forecast[0]) || isfinite(forecast[1]));
            kf_force_series_free(&series);
        }
    kf_force_series worse = {0}; /* what does not come nearer has no end to forecast */
    for (uint64_t step = 20; step <= 4000; step += 20)
        add(&worse, step, 1.0 + 1e-4 * (double)step, 0.0);
    const kf_drag_report report = kf_drag_report_of(&worse, through, 0.0);
    assert_true(!report.settled && isnan(kf_drag_steps_forecast(&worse, &report, through)));
    kf_force_series_free(&worse);
}

static void note(const void *context, const kf_drag_report *report, double values[KF_DRAG_JUDGED]) {
    (void)context;
    for (int i = 0; i < KF_DRAG_JUDGED; i++)
        values[i] = report->mean[KF_DRAG].mean + (double)report->step;
}

/* A row's values do not depend on whether the rows before it came one by one or all at once, and are at most
 * a twentieth of the rows old. */
static void test_judged_rows(void **state) {
    (void)state;
    kf_force_series series = {0};
    kf_drag_judgement one = {.judge = note, .flow_through_steps = 100.0};
    for (int rows = 1; rows <= 300; rows++) {
        add(&series, 10 * (uint64_t)rows, 1.0 + 1.0 / rows, 0.0);
        kf_drag_judge_rows(&one, &series);
        kf_drag_judgement all = {.judge = note, .flow_through_steps = 100.0};
        kf_drag_judge_rows(&all, &series);
        assert_true(all.values[0] == one.values[0] && all.next == one.next);
        assert_true(one.values[0] > 10.0 * rows * 0.94 && (int)series.count == rows);
    }
    kf_records records = {0};
    kf_record *row = kf_records_add(&records, "forces");
    kf_drag_judgement_add(&one, row);
    assert_true(kf_record_value(row, "half_tunnel") == one.values[4]);
    const kf_drag_judgement none = {.judge = NULL};
    const size_t columns = row->count;
    kf_drag_judgement_add(&none, row);
    assert_true(row->count == columns);
    kf_records_free(&records);
    kf_force_series_free(&series);
}

static void test_a_chart_is_drawn_of_a_series(void **state) {
    (void)state;
    kf_force_series series = {0};
    kf_error error;
    struct stat about;
    char path[] = "/tmp/kftune-chart-XXXXXX";
    assert_int_equal(close(mkstemp(path)), 0);
    unlink(path);
    assert_int_equal(kf_drag_chart(path, "ball", &series, 100.0, &error), KF_OK);
    assert_int_not_equal(stat(path, &about), 0); /* nothing to draw */
    fill(&series, 200);
    assert_int_equal(kf_drag_chart(path, "ball", &series, 100.0, &error), KF_OK);
    assert_int_equal(stat(path, &about), 0);
    assert_true(about.st_size > 1000);
    unlink(path);
    for (size_t i = 0; i < series.count; i++) /* with equal values there is still a range to draw */
        series.values[KF_DRAG][i] = series.values[KF_LIFT][i] = 1.0;
    assert_int_equal(kf_drag_chart(path, "ball", &series, 0.0, &error), KF_OK);
    unlink(path);
    kf_force_series_free(&series);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_means_and_end),
        cmocka_unit_test(test_a_foreign_beginning),
        cmocka_unit_test(test_means_of_the_body),
        cmocka_unit_test(test_running_means),
        cmocka_unit_test(test_rows_read_back),
        cmocka_unit_test(test_a_chart_is_drawn_of_a_series),
        cmocka_unit_test(test_the_time_to_settle_is_forecast),
        cmocka_unit_test(test_judged_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
