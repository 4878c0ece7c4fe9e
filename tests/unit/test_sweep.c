/* Tests where the drags of finer grids lead, and how far a run is from a settled drag. Faults: a wrong
 * limit or order, or an estimate that cannot be made. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/cli/sweep_result.h"
#include "solver/output/drag.h"

static double drag_of(double cells, double order, double factor) {
    return 0.5 + factor * pow(cells, -order);
}

/* Errors of one order between 1 and 3 are found, whatever the ratios of the grids. With more grids the
 * three finest count. */
static void test_an_order_is_found(void **state) {
    (void)state;
    static const double grids[][4] = {{8, 16, 32, 64}, {8, 24, 32, 48}, {10, 11, 13, 14}};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
        for (int tenths = 11; tenths < 30; tenths += 3)
            for (int sign = -1; sign <= 1; sign += 2) {
                const double order = 0.1 * tenths, factor = 2.0 * sign;
                double drags[4] = {7.0};
                for (int i = 1; i < 4; i++)
                    drags[i] = drag_of(grids[g][i], order, factor);
                const kf_grid_limit limit = kf_grid_limit_of(4, grids[g], drags);
                assert_true(limit.known && limit.extrapolated);
                assert_true(fabs(limit.order - order) < 1e-5);
                assert_true(fabs(limit.limit - 0.5) < 1e-6);
                assert_true(fabs(limit.error - 1.25 * fabs(drags[3] - 0.5)) < 1e-6);
            }
}

/* Otherwise the finest grid's value counts, and its error is the spread of all. */
static void test_no_order_is_made_up(void **state) {
    (void)state;
    static const double cells[] = {16, 24, 32};
    const double orders[] = {0.5, 4.0};
    for (int i = 0; i < 2; i++) {
        double drags[3];
        for (int k = 0; k < 3; k++)
            drags[k] = drag_of(cells[k], orders[i], 3.0);
        const kf_grid_limit limit = kf_grid_limit_of(3, cells, drags);
        assert_true(limit.known && !limit.extrapolated && limit.limit == drags[2]);
        assert_true(fabs(limit.error - (drags[0] - drags[2])) < 1e-12);
    }
    const double up_and_down[] = {0.4, 0.6, 0.5}, alike[] = {0.4, 0.4, 0.4}, late[] = {0.3, 0.4, 0.4};
    assert_false(kf_grid_limit_of(3, cells, up_and_down).extrapolated);
    assert_true(fabs(kf_grid_limit_of(3, cells, up_and_down).error - 0.2) < 1e-12);
    assert_true(kf_grid_limit_of(3, cells, alike).error == 0.0);
    assert_true(fabs(kf_grid_limit_of(3, cells, late).error - 0.1) < 1e-12);
    assert_true(kf_grid_limit_of(2, cells, late).known);
    assert_false(kf_grid_limit_of(1, cells, late).known);
}

static void test_how_far_away_the_end_is(void **state) {
    (void)state;
    kf_drag_report report = {.known = true, .settled = true, .from_step = 1000, .step = 3000};
    report.mean[KF_DRAG] = (kf_series_mean){.mean = 0.5, .half = 0.01};
    /* The interval is twice too wide, so that four times the settled part is needed. A quarter of it
     * exists. */
    assert_true(fabs(kf_drag_steps_left(&report, 100.0) - 6000.0) < 1e-6);
    report.mean[KF_DRAG].half = 0.001;
    assert_true(fabs(kf_drag_steps_left(&report, 1000.0) - 1000.0) < 1e-6); /* three flow-throughs are left */
    assert_true(kf_drag_steps_left(&report, 100.0) == 0.0 && kf_drag_is_done(&report, 100.0));
    report.settled = false;
    assert_true(isnan(kf_drag_steps_left(&report, 100.0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_order_is_found),
        cmocka_unit_test(test_no_order_is_made_up),
        cmocka_unit_test(test_how_far_away_the_end_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
