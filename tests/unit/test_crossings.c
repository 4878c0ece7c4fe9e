/* Tests how vertical lines cross a mesh. Faults: a line through an edge that two triangles share crosses
 * both or neither, by rounding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>

#include "base/util/random.h"
#include "scene/crossings.h"

static uint64_t drawn;

static double draw(double low, double high) {
    return low + (high - low) * (double)(kf_random_mix(++drawn) >> 11) * 0x1p-53;
}

/* A prism over a quadrilateral that is cut along the diagonal from corner 0 to corner 2, below and above. */
static void make_prism(const double corners[4][2], kf_mesh_builder *builder) {
    for (int k = 0; k < 8; k++)
        (void)kf_mesh_add_vertex(builder, corners[k % 4][0], corners[k % 4][1], k < 4 ? 1.0 : 2.0);
    kf_mesh_add_triangle(builder, 0, 2, 1);
    kf_mesh_add_triangle(builder, 2, 0, 3);
    kf_mesh_add_triangle(builder, 4, 5, 6);
    kf_mesh_add_triangle(builder, 6, 7, 4);
    for (uint32_t k = 0; k < 4; k++)
        kf_mesh_add_quad(builder, k, (k + 1) % 4, (k + 1) % 4 + 4, k + 4);
}

/* The diagonal passes through the line of the column in the middle, but for the rounding of its ends. */
static void test_shared_edges_are_crossed_once(void **state) {
    (void)state;
    enum { PRISMS = 4000, EDGE = 9 };
    const double line[2] = {4.5 + 1.2345e-6, 4.5 + 2.3456e-6};
    const int columns[2] = {EDGE, EDGE};
    for (int n = 0; n < PRISMS; n++) {
        const double angle = draw(0, 6.2831853), along[2] = {cos(angle), sin(angle)};
        const double ends[2] = {draw(0.5, 4.0), draw(0.5, 4.0)}, sides[2] = {draw(0.5, 4.0), draw(0.5, 4.0)};
        double corners[4][2];
        for (int i = 0; i < 2; i++) {
            const double across = i == 0 ? -along[1] : along[0];
            corners[0][i] = line[i] + ends[0] * along[i];
            corners[2][i] = line[i] - ends[1] * along[i];
            corners[1][i] = line[i] + sides[0] * across;
            corners[3][i] = line[i] - sides[1] * across;
        }
        kf_mesh_builder builder = {0};
        make_prism(corners, &builder);
        kf_crossings crossings = kf_crossings_of(&builder.mesh, columns);
        const size_t middle = 4 * EDGE + 4;
        if (crossings.first[middle + 1] - crossings.first[middle] != 2)
            fail_msg("prism %d: %zu crossings instead of 2", n,
                     crossings.first[middle + 1] - crossings.first[middle]);
        assert_true(kf_crossings_inside(&crossings, middle, 1.5));
        assert_false(kf_crossings_inside(&crossings, middle, 0.5));
        assert_false(kf_crossings_inside(&crossings, middle, 2.5));
        kf_crossings_free(&crossings);
        kf_mesh_free(&builder.mesh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shared_edges_are_crossed_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
