/* Tests where the nodes at the ends of a nested grid's rows are stored (kernels/kinetic/edges.h). Faults:
 * two nodes share a place, or a node finds the ghosts of another row, plane or velocity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernels/kinetic/arguments.h"
#define KF_EDGES    3
#define KF_FUNCTION static inline
#define KF_UNROLL
typedef kf_flow_arguments kf_module_arguments;
typedef float kf_stored;
typedef int kf_index;
#include "kernels/kinetic/edges.h"

enum { NX = 14, NY = 5, NZ = 4, ROWS = NY * NZ };
static float fresh[2 * 27 * ROWS * KF_EDGE_GHOSTS], inner[2 * 27 * ROWS * KF_EDGE_INNER];
static const kf_flow_arguments a = {.grid = {.nodes = {NX, NY, NZ}}, .edges = {fresh, inner}};

static bool is_ghost(int x) {
    return x < KF_EDGE_GHOSTS || x >= NX - KF_EDGE_GHOSTS;
}
/* A number of a velocity at a node. */
static float number_of(int i, int x, int y, int z) {
    return (float)(((i * NZ + z) * NY + y) * NX + x + 1);
}

/* Gives each ghost's value its number; no two have one place. */
static void fill(void) {
    for (size_t i = 0; i < sizeof fresh / sizeof *fresh; i++)
        fresh[i] = 0.0F;
    for (int i = 0; i < 27; i++)
        for (int n = 0; n < ROWS * NX; n++) {
            const int x = n % NX, y = n / NX % NY, z = n / NX / NY;
            float *place = kf_fresh_place(&a, i, x, y, z);
            assert_int_equal(place != NULL, is_ghost(x));
            if (place == NULL) continue;
            assert_true(place >= fresh && place < fresh + sizeof fresh / sizeof *fresh);
            assert_true(*place == 0.0F);
            *place = number_of(i, x, y, z);
        }
}

static void test_every_ghost_has_a_place(void **state) {
    (void)state;
    fill();
    for (size_t i = 0; i < sizeof fresh / sizeof *fresh; i++)
        assert_true(fresh[i] > 0.0F);
}

/* The ghost at the end of a row stands for what would lie beyond it. */
static int held(int column) {
    return column < 0 ? 0 : column >= NX ? NX - 1 : column;
}
static void check_node(int x, int y, int z) {
    const kf_ghosts_beside ghosts = kf_ghosts_of(&a, x, y, z);
    for (int i = 0; i < 27; i++) {
        const int cx = i % 3 - 1, cy = i / 3 % 3 - 1, cz = i / 9 - 1;
        const kf_index column = ghosts.column[1 + cx];
        assert_int_equal(column >= 0, is_ghost(x - cx));
        if (column >= 0)
            assert_true(ghosts.here[column + i * ghosts.values - cy * ghosts.row - cz * ghosts.plane] ==
                        number_of(i, held(x - cx), y - cy, z - cz));
    }
}
static void test_streams_read_their_neighbours(void **state) {
    (void)state;
    fill();
    for (int z = 1; z < NZ - 1; z++)
        for (int y = 1; y < NY - 1; y++)
            for (int x = 0; x < NX; x++) {
                assert_int_equal(kf_is_by_ghosts(&a, x), is_ghost(x - 1) || is_ghost(x) || is_ghost(x + 1));
                if (kf_is_by_ghosts(&a, x)) check_node(x, y, z);
            }
    kf_flow_arguments second = a;
    second.edges.fresh = NULL;
    assert_false(kf_is_by_ghosts(&second, 0));
    assert_null(kf_fresh_place(&second, 0, 0, 1, 1));
}

static void test_no_two_inner_nodes_share_a_place(void **state) {
    (void)state;
    static bool used[sizeof inner / sizeof *inner];
    size_t count = 0;
    for (int i = 0; i < 27; i++)
        for (int n = 0; n < ROWS * NX; n++) {
            const int x = n % NX, from_low = x - KF_EDGE_GHOSTS, from_high = NX - 1 - x - KF_EDGE_GHOSTS;
            const kf_index first = kf_inner_index(&a, x, n / NX % NY, n / NX / NY);
            assert_int_equal(first >= 0, (from_low >= 0 && from_low < KF_EDGE_INNER) ||
                                             (from_high >= 0 && from_high < KF_EDGE_INNER));
            if (first < 0) continue;
            const kf_index place = first + i * kf_edge_values(&a, KF_EDGE_INNER);
            assert_true((size_t)place < sizeof inner / sizeof *inner && !used[place]);
            used[place] = true;
            count++;
        }
    assert_int_equal(count, sizeof inner / sizeof *inner);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_ghost_has_a_place),
                                       cmocka_unit_test(test_streams_read_their_neighbours),
                                       cmocka_unit_test(test_no_two_inner_nodes_share_a_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
