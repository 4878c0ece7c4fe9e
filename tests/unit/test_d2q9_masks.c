/* Masks at random, of solid, fluid and open nodes, between faces of all kinds: every plan of d2q9 as the
 * reference. Kernels go from the last item to the first (take_quick_compiler). */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/random.h"
#include "tests/unit/d2q9_fixture.h"

enum { STEPS = 6, LARGEST = 22, LEAST = 3 };

static int draw(uint64_t *random, int count) {
    return (int)kf_random_below(random, (uint64_t)count);
}

/* Draws a face and its velocity, which a wall has along itself. */
static void draw_face(uint64_t *random, kf_scene *scene, int face, kf_boundary kind) {
    scene->faces[face] = kind;
    for (int axis = 0; axis < 2; axis++) {
        const bool moves = kind == KF_INFLOW || (kind == KF_WALL && axis != face / 2);
        scene->face_velocity[face][axis] = moves ? 0.01 * draw(random, 4) : 0.0;
    }
}

static void draw_faces(uint64_t *random, kf_scene *scene, bool closed) {
    static const kf_boundary kinds[] = {KF_WALL, KF_FREE_SLIP, KF_INFLOW, KF_OUTFLOW};
    for (int axis = 0; axis < 2; axis++) {
        const bool periodic = draw(random, 2) == 0;
        for (int face = 2 * axis; face < 2 * axis + 2; face++)
            draw_face(random, scene, face,
                      periodic ? KF_PERIODIC
                      : closed ? KF_WALL
                               : kinds[draw(random, 4)]);
    }
}

static void draw_mask(uint64_t *random, kf_scene *scene, bool closed) {
    const int count = scene->nodes[0] * scene->nodes[1], solid_of = 2 + draw(random, 10);
    free(scene->mask);
    scene->mask = kf_allocate((size_t)count);
    for (int node = 0; node < count; node++) {
        const kf_node_kind open = draw(random, 2) == 0 ? KF_NODE_INFLOW : KF_NODE_OUTFLOW;
        const bool is_open = !closed && draw(random, 10) == 0, solid = draw(random, solid_of) == 0;
        scene->mask[node] = (unsigned char)(solid ? KF_NODE_SOLID : is_open ? open : KF_NODE_FLUID);
    }
    scene->mask[0] = KF_NODE_SOLID; /* full-way bounce-back needs one */
}

static kf_scene *draw_scene(uint64_t seed, bool closed) {
    uint64_t random = seed;
    kf_scene *scene = open_shipped_scene("cavity2d", (long)LARGEST * LARGEST);
    for (int axis = 0; axis < 2; axis++) {
        scene->nodes[axis] = LEAST + draw(&random, LARGEST - LEAST + 1);
        scene->initial_velocity[axis] = 0.01 * (1 + draw(&random, 4));
    }
    draw_faces(&random, scene, closed);
    draw_mask(&random, scene, closed);
    scene->mask_velocity[0] = 0.02, scene->mask_velocity[1] = -0.01;
    scene->mask_has_pressure = draw(&random, 2) == 0;
    scene->mask_density = 0.01;
    return scene;
}

static void test_random_masks(void **state) {
    (void)state;
    static const char *const open[] = {SOA "plan=pull",
                                       SOA "plan=push",
                                       SOA "plan=separate",
                                       SOA "plan=inplace",
                                       SOA "plan=pull bounce_back=full_way",
                                       SOA "plan=toelke bounce_back=full_way",
                                       NULL},
                             *const closed[] = {SOA "plan=pull", SOA "plan=push", SOA "plan=inplace",
                                                SOA "plan=temporal steps_per_launch=3 tile_rows=32", NULL};
    for (size_t seed = 1; seed <= cases_taken(24, 200); seed++) {
        const bool is_closed = seed % 4 == 0;
        kf_scene *scene = draw_scene(seed, is_closed);
        print_message("mask %zu: %d x %d nodes, faces %d %d %d %d\n", seed, scene->nodes[0], scene->nodes[1],
                      (int)scene->faces[0], (int)scene->faces[1], (int)scene->faces[2], (int)scene->faces[3]);
        verify_configs(scene, STEPS, is_closed ? closed : open);
        if (is_closed) compare_folded(scene, SOA "plan=pull");
        if (is_closed) compare_folded(scene, SOA "plan=inplace");
        kf_scene_free(scene);
    }
}

/* Open nodes in a band of two rows between solids: those at its outside, which have no fluid beside them,
 * bounce at solids as fluid does, and their links count. */
static void test_open_nodes_without_fluid(void **state) {
    (void)state;
    enum { N = 16 };
    kf_scene *scene = open_shipped_scene("cavity2d", N * N);
    free(scene->mask);
    scene->mask = kf_allocate((size_t)N * N);
    memset(scene->mask, KF_NODE_FLUID, (size_t)N * N);
    memset(scene->face_velocity, 0, sizeof scene->face_velocity);
    for (int n = 0; n < N; n++) {
        scene->mask[N * n] = scene->mask[N * n + 1] = KF_NODE_INFLOW;
        scene->mask[N * n + N - 1] = scene->mask[N * n + N - 2] = KF_NODE_OUTFLOW;
    }
    for (int n = 0; n < N; n++)
        scene->mask[n] = scene->mask[N * (N - 1) + n] = KF_NODE_SOLID;
    scene->mask_velocity[0] = 0.04, scene->mask_velocity[1] = 0.01;
    verify_configs(scene, STEPS, (const char *const[]){SOA "plan=pull", SOA "plan=push", NULL});
    kf_scene_free(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_open_nodes_without_fluid),
                                       cmocka_unit_test(test_random_masks)};
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
