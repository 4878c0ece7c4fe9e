/* Tests solids by links: what the surface cuts, the kernels against the reference, checkpoints, mass in a
 * closed domain, and refusals. Faults: a link that is missed or has a wrong share or correction.
 * KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/random.h"
#include "base/util/vector.h"
#include "scene/links.h"
#include "scene/scene.h"
#include "solver/validation/body.h"
#include "tests/unit/folder_and_backend.h"
#include "tests/unit/kinetic_states.h"
#include "tests/unit/scene_texts.h"

enum { NODES = 4000 };

static void cut(kf_scene *scene) {
    kf_error error = {KF_OK, ""};
    must(kf_scene_cut_links(scene, &error), &error);
}

/* The shipped ball, by links. */
static kf_scene *open_linked(void) {
    kf_scene *scene = open_scene("ball", NODES);
    scene->linked = true;
    scene->samples.count = 0;
    cut(scene);
    return scene;
}

static double distance(const kf_scene *scene, const double at[3]) {
    double sum = 0.0;
    for (int a = 0; a < 3; a++)
        sum += pow(at[a] - 0.5 * (scene->solid_low[a] + scene->solid_high[a]), 2);
    return sqrt(sum);
}

static size_t nodes_within(const kf_scene *scene, double radius) {
    size_t count = 0;
    for (int z = 0; z < scene->nodes[2]; z++)
        for (int y = 0; y < scene->nodes[1]; y++)
            for (int x = 0; x < scene->nodes[0]; x++)
                count += distance(scene, (double[3]){x, y, z}) < radius;
    return count;
}

/* Every link of a ball leads from outside to where the ball is, and the nodes in the ball are inside. */
static void test_links_of_a_ball(void **state) {
    (void)state;
    kf_scene *scene = open_linked();
    const double radius = 0.5 * (scene->solid_high[0] - scene->solid_low[0]);
    const kf_links *links = &scene->links;
    assert_true(links->inside_count >= nodes_within(scene, 0.97 * radius));
    assert_true(links->inside_count <= nodes_within(scene, radius));
    assert_true(links->count > 100 && links->shell_count <= links->inside_count);
    for (size_t n = 0; n < links->count; n++) {
        const kf_link *link = &links->link[n];
        double at[3], outer[3];
        for (int a = 0; a < 3; a++) {
            outer[a] = link->at[0].node[a];
            at[a] = outer[a] + link->share * link->at[0].direction[a];
            assert_int_equal(link->inner.node[a], link->at[0].node[a] + link->at[0].direction[a]);
            assert_int_equal(link->at[2].node[a], link->at[0].node[a] - 2 * link->at[0].direction[a]);
        }
        assert_true(fabs(distance(scene, at) - radius) < 0.03 * radius); /* triangles are flat */
        assert_true(distance(scene, outer) > 0.97 * radius);
        assert_int_equal(link->behind, 2);
    }
    kf_scene_free(scene);
}

/* Returns how far inside of a triangle a link crosses it, or a negative number outside: the least of the
 * three shares of its area there and of the parts of the link before and beyond. */
static double depth_on_link(const double corner[3][3], const double normal[3], const int node[3],
                            const int direction[3]) {
    double above = 0.0, step = 0.0;
    for (int a = 0; a < 3; a++) {
        above += normal[a] * (node[a] - corner[0][a]);
        step += normal[a] * direction[a];
    }
    const double share = -above / step;
    double depth = fmin(share, 1.0 - share);
    for (int side = 0; side < 3; side++) {
        double edge[3], arm[3], out[3];
        for (int a = 0; a < 3; a++) {
            edge[a] = corner[(side + 1) % 3][a] - corner[side][a];
            arm[a] = node[a] + share * direction[a] - corner[side][a];
        }
        kf_cross(edge, arm, out);
        depth = fmin(depth, kf_dot(out, normal) / kf_dot(normal, normal));
    }
    return isfinite(depth) ? depth : -1.0;
}

/* Draws a triangle between a hundredth of a cell and the whole box in size, every fourth one slender.
 * Returns its least height. */
static double draw_triangle(const kf_link_box *b, int number, uint64_t *random, double corner[3][3],
                            double normal[3]) {
    double middle[3], edge[3][3], longest = 0.0;
    const double size = pow(10.0, -2.0 + 3.0 * kf_random_unit(random));
    for (int a = 0; a < 3; a++)
        middle[a] = b->low[a] + (b->length[a] - 1) * kf_random_unit(random);
    for (int c = 0; c < 3; c++)
        for (int a = 0; a < 3; a++)
            corner[c][a] = middle[a] + size * (kf_random_unit(random) - 0.5);
    for (int a = 0; a < 3 && number % 4 == 0; a++)
        corner[number / 4 % 3][a] =
            corner[(number / 4 + 1) % 3][a] + 1e-3 * size * (kf_random_unit(random) - 0.5);
    for (int side = 0; side < 3; side++) {
        for (int a = 0; a < 3; a++)
            edge[side][a] = corner[(side + 1) % 3][a] - corner[side][a];
        longest = fmax(longest, kf_length(edge[side]));
    }
    kf_cross(edge[0], edge[1], normal);
    return kf_length(normal) / longest;
}

/* A single triangle cuts all links through its inside, and no others. */
static void test_links_of_one_triangle(void **state) {
    (void)state;
    enum { TRIANGLES = 600 };
    kf_scene *scene = open_linked();
    uint64_t random = 7;
    size_t cut_links = 0, judged = 0;
    for (int t = 0; t < TRIANGLES; t++) {
        kf_link_box b = {.scene = scene, .low = {2, 3, 4}, .length = {9, 8, 7}, .nodes = 9 * 8 * 7};
        double corner[3][3], normal[3];
        /* A link also counts as cut 1e-5 cells beside a triangle. */
        if (draw_triangle(&b, t, &random, corner, normal) < 1e-3) continue;
        judged++;
        memcpy(scene->mesh.vertices, corner, sizeof corner);
        memcpy(scene->mesh.triangles, (const uint32_t[3]){0, 1, 2}, 3 * sizeof(uint32_t));
        scene->mesh.triangle_count = 1;
        b.cut = kf_allocate_zeroed(b.nodes, sizeof *b.cut);
        kf_link_box_cut(&b);
        for (size_t n = 0; n < b.nodes * KF_LINK_DIRECTIONS; n++) {
            const int index = (int)(n / KF_LINK_DIRECTIONS), d = (int)(n % KF_LINK_DIRECTIONS),
                      node[3] = {2 + index % 9, 3 + index / 9 % 8, 4 + index / 72};
            int direction[3];
            kf_link_direction(d, direction);
            const double depth = depth_on_link(corner, normal, node, direction);
            const bool is_cut = (b.cut[index] >> d & 1U) != 0;
            if (fabs(depth) > 0.02) assert_int_equal(is_cut, depth > 0.0);
            cut_links += is_cut;
        }
        free(b.hits);
        free(b.cut);
    }
    print_message("%zu triangles cut %zu links\n", judged, cut_links);
    assert_true(judged > TRIANGLES / 2 && cut_links > 5000);
    kf_scene_free(scene);
}

/* Opens a box of 8 x 6 x 4 cells with faces halfway between nodes, or on nodes. */
static kf_scene *open_aligned(bool on_nodes) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    char text[512];
    const double shift = on_nodes ? 0.0625 : 0.0;
    (void)snprintf(text, sizeof text,
                   "{\"domain\": {\"cells\": [20, 16, 14], \"cell_size\": 0.125}, \"flow\": {\"speed\": 1, "
                   "\"reynolds\": 100}, \"solid\": {\"shape\": \"plate\", \"chord\": 1, \"width\": 0.75, "
                   "\"thickness\": 0.5, \"position\": [%g, %g, %g], \"boundary\": \"links\"}}",
                   1.25 + shift, 1 + shift, 0.875 - shift);
    must(kf_scene_open(write_text("aligned.json", text), NULL, &scene, &error), &error);
    return scene;
}

static const kf_link *find_link(const kf_links *links, const int node[3], const int direction[3]) {
    for (size_t n = 0; n < links->count; n++) {
        const kf_link_node *at = &links->link[n].at[0];
        bool same = true;
        for (int a = 0; a < 3; a++)
            same = same && at->node[a] == node[a] && at->direction[a] == direction[a];
        if (same) return &links->link[n];
    }
    return NULL;
}

/* Checks that every link has its mirror image about the middle of the solid, with the image of the
 * surface. */
static void assert_mirrored(const kf_scene *scene, int axis) {
    const kf_links *links = &scene->links;
    const int both = (int)lround(scene->solid_low[axis] + scene->solid_high[axis]);
    for (size_t n = 0; n < links->count; n++) {
        const kf_link *link = &links->link[n];
        int node[3], direction[3];
        for (int a = 0; a < 3; a++) {
            node[a] = a == axis ? both - link->at[0].node[a] : link->at[0].node[a];
            direction[a] = (a == axis ? -1 : 1) * link->at[0].direction[a];
        }
        const kf_link *image = find_link(links, node, direction);
        assert_non_null(image);
        assert_true(fabs(image->share - link->share) < 1e-6);
        for (int a = 0; a < 3; a++)
            assert_true(fabs(image->normal[a] - (a == axis ? -1 : 1) * link->normal[a]) < 1e-9);
    }
}

/* Links that graze an edge cut nothing, a link that meets an edge meets both faces, and nodes on the
 * surface belong to the solid. So a box along the cells has exactly the links that lead into it, and is
 * symmetric. */
static void test_an_aligned_box_is_symmetric(void **state) {
    (void)state;
    for (int on_nodes = 0; on_nodes < 2; on_nodes++) {
        kf_scene *scene = open_aligned(on_nodes);
        const int size[3] = {8 + on_nodes, 6 + on_nodes, 4 + on_nodes};
        int into = 0;
        for (int code = 0; code < 27; code++)
            into += size[0] * size[1] * size[2] - (size[0] - abs(code % 3 - 1)) *
                                                      (size[1] - abs(code / 3 % 3 - 1)) *
                                                      (size[2] - abs(code / 9 - 1));
        assert_int_equal(scene->links.inside_count, size[0] * size[1] * size[2]);
        assert_int_equal(scene->links.count, into);
        assert_int_equal(scene->links.thin_count, 0);
        for (int axis = 0; axis < 3; axis++)
            assert_mirrored(scene, axis);
        kf_scene_free(scene);
    }
}

static void move_solid(kf_scene *scene, int axis, double shift) {
    for (size_t v = 0; v < scene->mesh.vertex_count; v++)
        scene->mesh.vertices[3 * v + (size_t)axis] += shift;
    scene->solid_low[axis] += shift;
    scene->solid_high[axis] += shift;
    cut(scene);
}

/* A periodic face makes no difference: a ball across it has the links that it has elsewhere. Cut in half
 * by a face that mirrors, it has half of them. */
static void test_links_across_faces(void **state) {
    (void)state;
    kf_scene *scene = open_linked();
    const double middle = 0.5 * (scene->solid_low[2] + scene->solid_high[2]);
    move_solid(scene, 2, floor(middle) + 0.5 - middle);
    const size_t count = scene->links.count, inside = scene->links.inside_count;
    assert_true(inside % 2 == 0);
    move_solid(scene, 2, -floor(middle) - 1.0);
    assert_int_equal(scene->faces[KF_ZMIN], KF_FREE_SLIP);
    assert_int_equal(2 * scene->links.inside_count, inside);
    assert_int_equal(2 * scene->links.count, count);
    scene->faces[KF_ZMIN] = scene->faces[KF_ZMAX] = KF_PERIODIC;
    move_solid(scene, 2, 0.0);
    assert_int_equal(scene->links.inside_count, inside);
    assert_int_equal(scene->links.count, count);
    kf_scene_free(scene);
}

/* Counts the links with this many nodes behind. */
static void count_behind(const kf_scene *scene, size_t counts[KF_LINK_BEHIND + 1]) {
    memset(counts, 0, (KF_LINK_BEHIND + 1) * sizeof *counts);
    for (size_t i = 0; i < scene->links.count; i++)
        counts[scene->links.link[i].behind]++;
}

static void turn_over(kf_scene *scene, int axis) {
    const double low = scene->solid_low[axis], end = scene->nodes[axis] - 1.0;
    for (size_t v = 0; v < scene->mesh.vertex_count; v++)
        scene->mesh.vertices[3 * v + (size_t)axis] = end - scene->mesh.vertices[3 * v + (size_t)axis];
    scene->solid_low[axis] = end - scene->solid_high[axis];
    scene->solid_high[axis] = end - low;
    cut(scene);
}

/* Behind a wall that mirrors a share a link has no nodes, at a low face as at a high one, whatever the
 * other face is. Behind a face that mirrors all it has its nodes. */
static void test_walls_end_what_lies_behind(void **state) {
    (void)state;
    for (int axis = 1; axis < 3; axis++) {
        size_t mirrored[KF_LINK_BEHIND + 1], low[KF_LINK_BEHIND + 1], high[KF_LINK_BEHIND + 1];
        kf_scene *scene = open_linked();
        move_solid(scene, axis, -scene->solid_low[axis] + 1.3);
        count_behind(scene, mirrored);
        scene->faces[2 * axis] = KF_WALL;
        scene->specular_share[2 * axis] = 0.5;
        cut(scene);
        count_behind(scene, low);
        scene->faces[2 * axis] = KF_FREE_SLIP;
        scene->faces[2 * axis + 1] = KF_WALL;
        scene->specular_share[2 * axis] = 0.0;
        scene->specular_share[2 * axis + 1] = 0.5;
        turn_over(scene, axis);
        count_behind(scene, high);
        assert_true(low[KF_LINK_BEHIND] < mirrored[KF_LINK_BEHIND]);
        assert_memory_equal(low, high, sizeof low);
        kf_scene_free(scene);
    }
}

/* Verifies configs that differ in what links need: plans, layouts, types, one grid that shifts. */
static void verify_linked(const kf_scene *scene, int first) {
    enum { CONFIGS = 7 };
    static const char *const values[CONFIGS][MOST_VALUES] = {
        {"storage=f32"},   {"storage=f16"}, {"layout=aos"}, {"streaming=shift", "slab=4"},
        {"plan=baseline"}, {"plan=paper"},  {"storage=f64"}};
    verify_nearest(scene, values + first, CONFIGS - first);
}

/* The scenes are in a tunnel, on a face that mirrors, beside a wall that mirrors a share, and half-way. */
static void test_against_the_reference(void **state) {
    (void)state;
    enum { LAST = 6, LAST_TWO = 5 };
    kf_scene *scene = open_linked();
    verify_linked(scene, 0);
    scene->half_way = true;
    cut(scene);
    verify_linked(scene, LAST);
    scene->half_way = false;
    scene->faces[KF_YMIN] = KF_WALL;
    scene->specular_share[KF_YMIN] = 0.5;
    move_solid(scene, 1, -scene->solid_low[1] - 1.3);
    move_solid(scene, 2, -scene->solid_low[2] - 1.2);
    verify_linked(scene, LAST_TWO);
    kf_scene_free(scene);
}

static void assert_same_fields(kf_plan *one, kf_plan *other) {
    kf_fields fields[2];
    memset(fields, 0, sizeof fields);
    kf_error error = {KF_OK, ""};
    must(one->methods->flow->fields(one, &fields[0], &error), &error);
    must(other->methods->flow->fields(other, &fields[1], &error), &error);
    const size_t count = (size_t)fields[0].nodes[0] * (size_t)fields[0].nodes[1] * (size_t)fields[0].nodes[2];
    assert_memory_equal(fields[0].density, fields[1].density, count * sizeof(float));
    assert_memory_equal(fields[0].velocity[0], fields[1].velocity[0], count * sizeof(float));
    for (int i = 0; i < 2; i++)
        kf_fields_free(&fields[i]);
}

/* A checkpoint contains the links' corrections, so that a run that continues equals one without a break. */
static void test_a_checkpoint_keeps_the_corrections(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_linked();
    kf_plan *whole = open_default(scene), *again = open_default(scene);
    size_t bytes;
    advance(whole, 31);
    must(whole->methods->state_size(whole, &bytes, &error), &error);
    void *saved = kf_allocate(bytes);
    must(whole->methods->save(whole, saved, &error), &error);
    must(again->methods->restore(again, saved, whole->steps_done, &error), &error);
    advance(whole, 20);
    advance(again, 20);
    assert_same_fields(whole, again);
    free(saved);
    kf_plan_free(whole);
    kf_plan_free(again);
    kf_scene_free(scene);
}

/* On the device each link has one place, and the rows of a node lead to its links one after the other. */
static void test_order_of_the_device(void **state) {
    (void)state;
    kf_scene *scene = open_linked();
    const kf_links *links = &scene->links;
    int *order = kf_allocate(links->count * sizeof *order);
    kf_link_row *rows = kf_allocate_zeroed(links->count + KF_LINK_ROWS, KF_LINK_ROWS * sizeof *rows);
    kf_kinetic_order_links(links, order, rows);
    size_t node = 0, n = 0;
    for (; n < links->count; node++) {
        const int *first = links->link[n].at[0].node;
        for (int number = 0;; number++) {
            const kf_link_row *row = &rows[node / KF_LINK_LANES * KF_LINK_ROWS + (size_t)number];
            const unsigned bit = 1U << node % KF_LINK_LANES;
            const bool more =
                n < links->count && memcmp(links->link[n].at[0].node, first, 3 * sizeof *first) == 0;
            assert_int_equal((row->nodes & bit) != 0, more);
            if (!more) break;
            assert_int_equal(order[row->first + __builtin_popcount(row->nodes & (bit - 1))], (int)n++);
        }
    }
    print_message("%zu links of %zu nodes\n", n, node);
    assert_true(node > KF_LINK_LANES);
    free(order);
    free(rows);
    kf_scene_free(scene);
}

/* The config with these values whose flow leaves out what is inside, or does not. */
static kf_config hollow_config(const kf_scene *scene, const char *storage, const char *nodes, bool hollow) {
    const char *const values[] = {hollow ? "masked_band=true" : "masked_band=false",
                                  "boundary_kernels=1",
                                  "staged_nodes=0",
                                  "layout=csoa",
                                  "alpha=8",
                                  "boundary_choices=false",
                                  "boundary_rows_apart=false",
                                  nodes,
                                  storage,
                                  NULL};
    return default_with(scene, values);
}

/* Verifies a scene in which the flow leaves out what is inside, from spoilt outputs too, and compares it with
 * a flow that does not. */
static void compare_hollow(const kf_scene *scene) {
    enum { CONFIGS = 4 };
    static const char *const storage[CONFIGS] = {"storage=f32", "storage=f64", "storage=f32", "storage=f16"},
                             *const nodes[CONFIGS] = {"nodes_per_thread=1", "nodes_per_thread=1",
                                                      "nodes_per_thread=2", "nodes_per_thread=2"};
    kf_error error = {KF_OK, ""};
    kf_reference *reference;
    bool hollow;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), 20, &reference, &error), &error);
    for (int c = 0; c < CONFIGS; c++) {
        const kf_config config = hollow_config(scene, storage[c], nodes[c], true),
                        whole = hollow_config(scene, storage[c], nodes[c], false);
        const double off = verify_config(kinetic_system, scene, &config, reference, 20);
        print_message("%s, %s: off by %.2g\n", storage[c], nodes[c], off);
        must(kf_config_boolean(&config, "masked_band", &hollow, &error), &error);
        assert_true(hollow);
        kf_plan *left_out = open_plan(scene, &config), *all = open_plan(scene, &whole);
        advance(left_out, 21);
        advance(all, 21);
        assert_same_fields(left_out, all);
        kf_plan_free(left_out);
        kf_plan_free(all);
    }
    kinetic_system->free_reference(reference);
}

/* There is no fluid inside, so a flow that leaves it out is the same everywhere else, in a tunnel and on a
 * face that mirrors. Where averages include the inside, or an outflow waits beside it, no config leaves it
 * out. */
static void test_hollow_solids(void **state) {
    (void)state;
    kf_scene *scene = open_linked();
    assert_false(kf_kinetic_may_be_hollow(scene));
    scene->rate_rule = KF_RATE_K17;
    assert_true(kf_kinetic_may_be_hollow(scene));
    compare_hollow(scene);
    move_solid(scene, 2, -scene->solid_low[2] - 1.2);
    compare_hollow(scene);
    scene->faces[KF_ZMIN] = KF_OUTFLOW;
    cut(scene);
    assert_false(kf_kinetic_may_be_hollow(scene));
    kf_scene_free(scene);
}

/* Returns the mass of the fluid over that at the beginning, less 1. */
static double gained_mass(const kf_scene *scene, const kf_plan *plan) {
    kf_fields fields = {0};
    kf_error error = {KF_OK, ""};
    must(plan->methods->flow->fields((kf_plan *)(uintptr_t)plan, &fields, &error), &error);
    const size_t count = (size_t)fields.nodes[0] * (size_t)fields.nodes[1] * (size_t)fields.nodes[2];
    double sum = 0.0;
    for (size_t n = 0; n < count; n++) /* inside the density is 1 */
        sum += (double)fields.density[n] - 1.0;
    kf_fields_free(&fields);
    return sum / (double)(count - scene->links.inside_count);
}

/* A ball is in a driven channel between walls. Its links take back what they add to the fluid. */
static void test_closed_domain_keeps_its_mass(void **state) {
    (void)state;
    kf_scene *scene = open_linked();
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = face < KF_ZMIN ? KF_PERIODIC : KF_WALL;
    memset(scene->face_velocity, 0, sizeof scene->face_velocity);
    scene->viscosity = 0.01;
    scene->body_force[0] = 2e-5;
    scene->body_force[2] = 2e-5; /* with walls across it a pressure at rest */
    cut(scene);
    kf_plan *plan = open_default(scene);
    advance(plan, 100);
    const double early = gained_mass(scene, plan);
    advance(plan, 700);
    const double late = gained_mass(scene, plan);
    print_message("mass gained after 100 and 800 steps: %.2g, %.2g\n", early, late);
    assert_true(fabs(late - early) < 2e-6);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* Returns how much the force on a plate beside a wall oscillates from step to step, over the force of a
 * uniform stream against it. The node between them throws its fluid from one to the other. */
static double swing(bool half_way) {
    kf_error error = {KF_OK, ""};
    kf_solid_load load[2];
    kf_scene *scene = kf_flow_box("gap", 32, 16, 4, 1e-4);
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_WALL;
    scene->initial_velocity[0] = 0.05;
    scene->initial_velocity[1] = 0.01;
    kf_body_add_sheet(scene, (const double[2]){8.4, 0.6}, (const double[2]){12.0, 0.0});
    kf_body_add_sheet(scene, (const double[2]){8.4, 4.3}, (const double[2]){12.0, 0.0});
    must(kf_body_link(scene, half_way, &error), &error);
    kf_plan *plan = open_default(scene);
    advance(plan, 300);
    for (int step = 0; step < 2; step++) {
        advance(plan, 1);
        must(plan->methods->flow->load(plan, &load[step], &error), &error);
    }
    kf_plan_free(plan);
    kf_scene_free(scene);
    return fabs(load[1].force[1] - load[0].force[1]) / (0.05 * 0.05 * 12.0 * 4.0);
}

/* Walls a node apart do not throw the fluid between them to and fro, as half-way bounce-back does. */
static void test_gaps_do_not_swing(void **state) {
    (void)state;
    const double half_way = swing(true), interpolated = swing(false);
    print_message("swing of the force: half-way %.3g, interpolated %.3g\n", half_way, interpolated);
    assert_true(half_way > 0.05);
    assert_true(interpolated < 0.01 * half_way);
}

#define SOLID(more) "\"solid\": {\"shape\": \"ball\", \"radius\": 0.3, \"position\": [1, 0.8, 0.6]" more "}"

static void assert_problem_refused(const kf_scene *scene, int parts, const char *what) {
    kf_error error = {KF_OK, ""};
    const kf_problem *problem = problem_of(kinetic_system, scene);
    kf_device_info device = *kf_backend_device(backend);
    device.parts = parts;
    kf_status status = kinetic_system->accepts(problem, &error);
    if (status == KF_OK) status = kinetic_system->accepts_device(problem, &device, &error);
    assert_int_equal(status, KF_BAD_INPUT);
    if (strstr(error.message, what) == NULL) fail_msg("'%s' does not say '%s'", error.message, what);
}

/* Links refuse what they cannot do by name: motion, passes, solids outside of the stream. */
static void test_what_links_cannot_do_is_refused(void **state) {
    (void)state;
    assert_scene_refused(
        BOX(TUNNEL, FLOW ", " SOLID(", \"boundary\": \"links\", \"motion\": {\"velocity\": [0.1, 0, 0]}")),
        "leaves the domain");
    assert_scene_refused(BOX(TUNNEL, FLOW ", " SOLID(", \"links\": \"half-way\"")), "solid.links");
    assert_scene_refused(BOX(TUNNEL, FLOW ", " SOLID(", \"boundary\": \"link\"")), "solid.boundary");
    assert_scene_refused(
        BOX(TUNNEL,
            FLOW ", "
                 "\"solid\": {\"shape\": \"ball\", \"radius\": 0.001, \"position\": [1.02, 0.83, 0.62], "
                 "\"boundary\": \"links\"}"),
        "larger than a cell");
    assert_scene_refused(
        BOX(TUNNEL, FLOW ", \"refine\": [{\"low\": [0.5, 0.4, 0.3], \"high\": [1.5, 1.2, 0.9]}], " SOLID(
                        ", \"boundary\": \"links\"")),
        "refine");
    kf_scene *scene = open_linked();
    scene->immersed_passes = 2;
    assert_problem_refused(scene, 1, "immersed_passes");
    kf_scene_free(scene);
}

/* A scene file can ask for links, and the file that is written of the scene does. */
static void test_scene_files(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    for (int half_way = 0; half_way < 2; half_way++) {
        kf_scene *scene;
        const char *path = write_text(
            "linked.json",
            half_way ? BOX(TUNNEL, FLOW ", " SOLID(", \"boundary\": \"links\", \"links\": \"half-way\""))
                     : BOX(TUNNEL, FLOW ", " SOLID(", \"boundary\": \"links\"")));
        must(kf_scene_open(path, NULL, &scene, &error), &error);
        assert_int_equal(scene->samples.count, 0);
        assert_true(scene->links.count > 100 && scene->links.inside_count > 50);
        for (size_t n = 0; n < scene->links.count; n++)
            assert_int_equal(scene->links.link[n].behind == 0, half_way);
        assert_non_null(strstr(scene->notes, "links: the surface cuts"));
        kf_scene_free(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links_of_a_ball),
        cmocka_unit_test(test_links_of_one_triangle),
        cmocka_unit_test(test_an_aligned_box_is_symmetric),
        cmocka_unit_test(test_links_across_faces),
        cmocka_unit_test(test_walls_end_what_lies_behind),
        cmocka_unit_test(test_against_the_reference),
        cmocka_unit_test(test_hollow_solids),
        cmocka_unit_test(test_order_of_the_device),
        cmocka_unit_test(test_a_checkpoint_keeps_the_corrections),
        cmocka_unit_test(test_closed_domain_keeps_its_mass),
        cmocka_unit_test(test_gaps_do_not_swing),
        cmocka_unit_test(test_what_links_cannot_do_is_refused),
        cmocka_unit_test(test_scene_files),
    };
    return cmocka_run_group_tests(tests, open_folder_and_backend, close_folder_and_backend);
}
