/* Tests the corrections of the paper's misprints in d2q9. Faults: a formula as it is printed would pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"
#include "solver/d2q9/d2q9.h"
#include "solver/d2q9/reference.h"
#include "solver/validation/flow.h"
#include "tests/unit/config_changes.h"
#include "tests/unit/plan_fixture.h"
#include "tests/unit/problem_fixture.h"

static const kf_system *const d2q9 = &kf_system_d2q9;

static const int e[9][2] = {{0, 0}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
static const double w[9] = {4.0 / 9,  1.0 / 9,  1.0 / 9,  1.0 / 9, 1.0 / 9,
                            1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};

static double weighted_product(const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum += w[i] * a[i] * b[i];
    return sum;
}

/* Eq. 25 as printed has its parenthesis after 4c^2, which is not orthogonal to e_y; row 6 of the matrix lacks
 * an entry. With the corrections all nine are orthogonal. */
static void test_misprinted_eigenvectors(void **state) {
    (void)state;
    double q[9][9], printed[9];
    for (int i = 0; i < 9; i++) {
        double x = e[i][0], y = e[i][1], square = x * x + y * y;
        const double column[9] = {1,
                                  x,
                                  y,
                                  3 * square - 2,
                                  x * x - y * y,
                                  x * y,
                                  (3 * square - 4) * x,
                                  (3 * square - 4) * y,
                                  0.5 * (9 * square * square - 15 * square + 2)};
        for (int k = 0; k < 9; k++)
            q[k][i] = column[k];
        printed[i] = 3 * (square - 4) * y;
    }
    for (int a = 0; a < 9; a++)
        for (int b = 0; b < a; b++)
            assert_true(fabs(weighted_product(q[a], q[b])) < 1e-12);
    assert_true(fabs(weighted_product(printed, q[2])) > 0.1);
    static const double row_6[9] = {0, -1, 0, 1, 0, 2, -2, -2, 2}; /* printed without one -2 */
    for (int i = 0; i < 9; i++)
        assert_true(row_6[i] == q[6][i]);
}

/* In the third line of Eq. 5 the parenthesis belongs around u_x u_y - p_xy / rho_0. The moments are those
 * of a decaying Taylor-Green vortex, where this rate of strain is zero. As printed it would not be. */
static void test_misprinted_strain(void **state) {
    (void)state;
    enum { N = 48, STEPS = 200 };
    kf_error error = {0};
    kf_scene *scene = open_shipped_scene("cavity2d", N * N);
    for (int face = 0; face < 4; face++)
        scene->faces[face] = KF_PERIODIC;
    scene->initial = KF_INITIAL_TAYLOR_GREEN_2D;
    scene->initial_velocity[0] = 0.02;
    scene->viscosity = 0.05;
    const kf_problem *problem = problem_of(d2q9, scene);
    kf_space *space;
    kf_config config;
    must(kf_problem_space(problem, kf_backend_device(backend), NULL, 0, &space, &error), &error);
    must(kf_space_preset(space, "default", &config, &error), &error);
    change_config_within(space, &config,
                         "layout=soa alpha=1 threads=64 folded_boundary=false plan=pull storage=f64");
    kf_space_free(space);
    kf_plan *plan = open_plan_of(d2q9, scene, &config);
    advance(plan, STEPS);
    double *populations = malloc(9 * N * N * sizeof(double)), rates[4], *u;
    assert_non_null(populations);
    must(plan->methods->save(plan, populations, &error), &error);
    must(kf_d2q9_read(plan, &u, &error), &error);
    kf_d2q9_rates(scene, rates);
    double off = 0, printed_off = 0;
    for (int y = 1; y < N - 1; y++)
        for (int x = 1; x < N - 1; x++) {
            const double *f = populations + 9 * N * y + x, *ux = u + N * N, *uy = u + 2 * N * N;
            int n = N * y + x;
            double after = f[5 * N] - f[6 * N] + f[7 * N] - f[8 * N], product = ux[n] * uy[n];
            double pxy = (after - rates[0] * product) / (1.0 - rates[0]); /* before the collision */
            double strain = 0.5 * (ux[n + N] - ux[n - N] + uy[n + 1] - uy[n - 1]);
            off += pow(3.0 * rates[0] * (product - pxy) - strain, 2);
            printed_off += pow(3.0 * rates[0] * product - pxy - strain, 2);
        }
    assert_true(off < 0.01 * printed_off);
    free(populations);
    free(u);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* Appendix C as printed: both loops run over all nbx blocks, one more than there are borders. The last
 * write goes to the next row, before that row has read the place. */
static void exchange_east(float *f, int nx, int ny, int threads, int blocks) {
    for (int b = blocks - 1; b >= 0; b--) /* the rows advance together, as threads do */
        for (int y = 0; y < ny; y++)
            f[nx * y + (b + 1) * threads] = f[nx * y + b * threads];
}
static void test_misprinted_exchange(void **state) {
    (void)state;
    enum { NX = 12, NY = 3, THREADS = 4, BLOCKS = NX / THREADS };
    for (int printed = 0; printed < 2; printed++) {
        float f[NX * NY + NX] = {0};
        for (int y = 0; y < NY; y++)
            for (int b = 0; b < BLOCKS;
                 b++) /* what left block b across its east border, kept in its place 0 */
                f[NX * y + b * THREADS] = (float)(100 * y + b + 1);
        exchange_east(f, NX, NY, THREADS, printed ? BLOCKS : BLOCKS - 1);
        bool right = true;
        for (int y = 0; y < NY; y++)
            for (int b = 0; b + 1 < BLOCKS; b++)
                right = right && f[NX * y + (b + 1) * THREADS] == (float)(100 * y + b + 1);
        assert_int_equal(right, !printed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misprinted_eigenvectors),
        cmocka_unit_test(test_misprinted_strain),
        cmocka_unit_test(test_misprinted_exchange),
    };
    return cmocka_run_group_tests(tests, open_backend, close_backend);
}
