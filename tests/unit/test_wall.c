/* A law of the wall at a solid by links: the kernels against the reference, laminar layers that do not feel
 * it, the traction that it gives, and what is refused. KFTUNE_TEST_DEVICE chooses the device (default cpu).
 */
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
#include "solver/validation/body.h"
#include "tests/unit/folder_and_backend.h"
#include "tests/unit/kinetic_variants.h"
#include "tests/unit/scene_texts.h"

enum { NODES = 4000 };

static void cut(kf_scene *scene) {
    kf_error error = {KF_OK, ""};
    must(kf_scene_cut_links(scene, &error), &error);
}

/* The shipped ball, by links, with the law or without it. */
static kf_scene *open_ball(long nodes, double viscosity, bool law) {
    kf_scene *scene = open_scene("ball", nodes);
    scene->linked = true;
    scene->wall_law = law;
    scene->trip = 0.0;
    scene->viscosity = viscosity;
    scene->samples.count = 0;
    cut(scene);
    return scene;
}

static kf_wall_look look_at(kf_plan *plan) {
    kf_error error = {KF_OK, ""};
    kf_wall_look look;
    must(plan->methods->flow->wall(plan, &look, NULL, &error), &error);
    assert_true(look.known);
    return look;
}

/* The nodes beside a ball: all links have one, areas come to the ball's surface, normals point out of it, and
 * the law looks at nodes some two cells out. */
static void test_nodes_of_a_ball(void **state) {
    (void)state;
    kf_scene *scene = open_ball(20 * NODES, 1e-4, true);
    const kf_links *links = &scene->links;
    const double radius = 0.5 * (scene->solid_high[0] - scene->solid_low[0]);
    double area = 0.0;
    size_t count = 0;
    for (size_t n = 0; n < links->wall_count; n++) {
        const kf_wall_node *wall = &links->wall[n];
        const int *node = links->link[wall->first].at[0].node;
        double out = 0.0, distance = 0.0, seen = 0.0;
        for (int a = 0; a < 3; a++) {
            const double center = 0.5 * (scene->solid_low[a] + scene->solid_high[a]);
            out += wall->normal[a] * (node[a] - center);
            distance += pow(node[a] - center, 2);
            seen += pow(wall->seen[a] - center, 2);
        }
        assert_int_equal(wall->first, count);
        count += wall->count;
        area += wall->area;
        assert_true(out > 0.95 * sqrt(distance));
        assert_true(wall->height > 1.1 && wall->height < 2.9);
        for (int a = 0; a < 3; a++) /* which teams that copy planes rely on */
            assert_true(abs(wall->seen[a] - node[a]) <= 2);
        assert_true(fabs(sqrt(seen) - radius - wall->height) < 0.4);
    }
    assert_int_equal(count, links->count);
    print_message("radius %.2f, area %.4f of its own\n", radius, area / (4.0 * kf_pi * radius * radius));
    assert_true(fabs(area / (4.0 * kf_pi * radius * radius) - 1.0) < 0.03);
    kf_scene_free(scene);
}

/* A node between two walls has no law: their normals cancel, and there is nowhere to look. */
static void test_narrow_gaps_have_no_law(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = kf_flow_box("gap", 24, 16, 4, 1e-5);
    scene->wall_law = true;
    for (int s = -1; s <= 1; s += 2)
        kf_body_add_sheet(scene, (const double[2]){8.4, 8.0 + 0.7 * s}, (const double[2]){7.0, 0.0});
    must(kf_body_link(scene, false, &error), &error);
    size_t between = 0;
    for (size_t n = 0; n < scene->links.wall_count; n++) {
        const kf_wall_node *wall = &scene->links.wall[n];
        const int *node = scene->links.link[wall->first].at[0].node;
        const bool inside = node[1] == 8 && node[0] > 8 && node[0] < 15;
        between += inside;
        if (node[0] > 8 && node[0] < 15) assert_int_equal(wall->height > 0.0, !inside);
    }
    assert_int_equal(between, 6 * scene->nodes[2]);
    kf_scene_free(scene);
}

/* Returns whether two links of a node meet the surface with different normals. */
static bool has_two_normals(const kf_links *links, const kf_wall_node *wall) {
    const double *normal = links->link[wall->first].normal;
    for (size_t n = wall->first + 1; n < wall->first + wall->count; n++)
        for (int a = 0; a < 3; a++)
            if (fabs(links->link[n].normal[a] - normal[a]) > 1e-3) return true;
    return false;
}

/* A node at a sharp edge that the fluid leaves has no slip, so that the stream leaves the surface there; all
 * others have the law: on faces, in corners that face the fluid, and on a rounding of three cells (see
 * test_nodes_of_a_ball, too). */
static void test_edges_have_no_law(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    const double turned[9] = {cos(0.4), -sin(0.4), 0.0, sin(0.4), cos(0.4), 0.0, 0.0, 0.0, 1.0};
    kf_scene *box = kf_flow_box("edges", 32, 32, 20, 1e-5), *corner = kf_flow_box("corner", 32, 16, 4, 1e-5),
             *ball = kf_flow_box("rounding", 16, 16, 16, 1e-5);
    kf_body_add_box(box, (const double[3]){-6.2, -5.3, -4.4}, (const double[3]){6.1, 5.2, 4.3});
    kf_body_place(box, turned, (const double[3]){15.7, 16.2, 10.1});
    kf_body_add_sheet(corner, (const double[2]){8.4, 3.3}, (const double[2]){0.0, 8.0});
    kf_body_add_sheet(corner, (const double[2]){8.4, 3.3}, (const double[2]){16.0, 0.0});
    kf_body_set_ball(ball, (const double[3]){8.0, 8.0, 8.0}, 3.0);
    size_t edges = 0, corners = 0;
    kf_scene *const scenes[3] = {box, corner, ball};
    for (int s = 0; s < 3; s++) {
        scenes[s]->wall_law = true;
        must(kf_body_link(scenes[s], false, &error), &error);
        const kf_links *links = &scenes[s]->links;
        for (size_t n = 0; n < links->wall_count; n++) {
            const kf_wall_node *wall = &links->wall[n];
            const int *node = links->link[wall->first].at[0].node;
            const bool two = has_two_normals(links, wall);
            if (s == 1 && (node[0] < 9 || node[0] > 20 || node[1] < 4 || node[1] > 9)) continue;
            edges += s == 0 && two;
            corners += s == 1 && two;
            if ((wall->height > 0.0) != !(s == 0 && two))
                fail_msg("scene %d: node %d %d %d: height %g", s, node[0], node[1], node[2], wall->height);
        }
        kf_scene_free(scenes[s]);
    }
    print_message("%zu nodes at edges, %zu in corners\n", edges, corners);
    assert_true(edges > 30 && corners == 4);
}

/* Verifies configs that differ in what the law touches, from `first` on. */
static void verify_law(const kf_scene *scene, int first) {
    enum { CONFIGS = 6, MOST = 3 };
    static const char *const values[CONFIGS][MOST] = {{"storage=f32"},   {"storage=f16"},
                                                      {"layout=aos"},    {"streaming=shift", "slab=4"},
                                                      {"plan=baseline"}, {"storage=f64"}};
    kf_error error = {KF_OK, ""};
    kf_reference *reference;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), 20, &reference, &error), &error);
    for (int c = first; c < CONFIGS; c++) {
        const kf_config config = nearest_config(scene, values[c], values[c][1] != NULL ? 2 : 1);
        const double off = verify_config(kinetic_system, scene, &config, reference, 20);
        print_message("%s: off by %.2g\n", values[c][0], off);
    }
    kinetic_system->free_reference(reference);
}

static kf_plan *open_stored(const kf_scene *scene, const char *storage) {
    kf_config config;
    kf_space *space = open_space(scene);
    take_preset(space, "default", &config);
    kf_config_set_name(&config, "storage", storage);
    kf_space_free(space);
    return open_plan(scene, &config);
}

/* Where the law is alone, and where layers are on the way from no slip to it. */
static void test_against_the_reference(void **state) {
    (void)state;
    enum { LAST = 5 };
    kf_scene *scene = open_ball(NODES, 1e-4, true);
    kf_plan *plan = open_stored(scene, "f32");
    advance(plan, 20);
    const kf_wall_look look = look_at(plan);
    print_message("share %.2f, y+ %.1f to %.1f\n", look.share, look.y_plus[0], look.y_plus[2]);
    assert_true(look.share > 0.5 && look.y_plus[2] > 10.0);
    kf_plan_free(plan);
    verify_law(scene, 0);
    scene->viscosity = 4e-4;
    verify_law(scene, LAST);
    kf_scene_free(scene);
}

/* The flow and the load after 40 steps. */
static void run_ball(const kf_scene *scene, kf_fields *fields, kf_solid_load *load, kf_wall_look *look) {
    kf_error error = {KF_OK, ""};
    kf_plan *plan = open_stored(scene, "f32");
    advance(plan, 40);
    must(plan->methods->flow->fields(plan, fields, &error), &error);
    must(plan->methods->flow->load(plan, load, &error), &error);
    must(plan->methods->flow->wall(plan, look, NULL, &error), &error);
    kf_plan_free(plan);
}

/* Where the grid resolves the layer, below y+ 12, every digit is the one without the law. Without it nothing
 * is known of friction; with it, what links take along the surface is friction, and less than the drag. */
static void test_resolved_layers_do_not_feel_it(void **state) {
    (void)state;
    kf_fields fields[2] = {{.density = NULL}, {.density = NULL}};
    kf_solid_load load[2];
    kf_wall_look look[2];
    for (int law = 0; law < 2; law++) {
        kf_scene *scene = open_ball(NODES, 2e-3, law == 1);
        run_ball(scene, &fields[law], &load[law], &look[law]);
        kf_scene_free(scene);
    }
    const int *n = fields[0].nodes;
    const size_t bytes = (size_t)n[0] * (size_t)n[1] * (size_t)n[2] * sizeof(float);
    assert_memory_equal(fields[0].density, fields[1].density, bytes);
    for (int a = 0; a < 3; a++)
        assert_memory_equal(fields[0].velocity[a], fields[1].velocity[a], bytes);
    assert_true(kf_solid_load_same(&load[0], &load[1]));
    assert_false(look[0].known);
    assert_true(look[1].known && look[1].share == 0.0 && look[1].y_plus[2] < 12.0);
    assert_true(look[1].friction[0] > 0.0);
    for (int law = 0; law < 2; law++)
        kf_fields_free(&fields[law]);
}

/* Friction velocity of the law at a height, by its own equation. */
static double of_the_law(double speed, double height, double viscosity) {
    double low = 0.0, high = speed;
    for (int i = 0; i < 80; i++) {
        const double u = 0.5 * (low + high), y = u * height / viscosity;
        const double velocity =
            u * (log(1.0 + 0.384 * y) / 0.384 +
                 (4.27 - log(0.384) / 0.384) * (1.0 - exp(-y / 11.0) - y / 11.0 * exp(-y / 3.0)));
        *(velocity < speed ? &low : &high) = u;
    }
    return low;
}

/* Density - 1 and momentum along x of the fluid's nodes, summed. */
static void sum_fluid(const kf_scene *scene, kf_plan *plan, double *mass, double *momentum) {
    kf_error error = {KF_OK, ""};
    double *values;
    const size_t count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    must(kf_kinetic_read(plan, &values, &error), &error);
    for (size_t i = 0; i < scene->links.inside_count; i++) {
        const int *at = scene->links.inside[i];
        const size_t node = (size_t)at[0] + (size_t)scene->nodes[0] *
                                                ((size_t)at[1] + (size_t)scene->nodes[1] * (size_t)at[2]);
        values[node] = values[count + node] = 0.0;
    }
    *mass = *momentum = 0.0;
    for (size_t n = 0; n < count; n++) {
        *mass += values[n];
        *momentum += (1.0 + values[n]) * values[count + n];
    }
    free(values);
}

/* A box, periodic or between walls across z, that an even stream begins in. */
static kf_scene *make_box(double viscosity, bool walls) {
    kf_scene *scene = kf_flow_box("box", 24, 16, 16, viscosity);
    scene->initial_velocity[0] = 0.06;
    scene->wall_law = true;
    if (walls) scene->faces[KF_ZMIN] = scene->faces[KF_ZMAX] = KF_WALL;
    return scene;
}

static void link_solid(kf_scene *scene) {
    kf_error error = {KF_OK, ""};
    must(kf_body_link(scene, false, &error), &error);
}

/* A box with a plate across the grid, along (2, 1, 0), and an even stream along it. */
static kf_scene *make_plate(double viscosity) {
    kf_scene *scene = make_box(viscosity, false);
    scene->nodes[0] = 32;
    scene->initial_velocity[0] = 0.12 / sqrt(5.0);
    scene->initial_velocity[1] = 0.06 / sqrt(5.0);
    for (int side = -1; side <= 1; side += 2)
        kf_body_add_sheet(scene, (const double[2]){-63.87 - 0.8 * side, -31.71 + 1.6 * side},
                          (const double[2]){128.0, 64.0});
    link_solid(scene);
    return scene;
}

/* An even stream past a plate across the grid: in its first step the surface takes along itself what the law
 * has at the heights that it looks at. */
static void test_takes_the_traction_of_the_law(void **state) {
    (void)state;
    const double root = sqrt(5.0), along[2] = {2.0 / root, 1.0 / root};
    kf_scene *scene = make_plate(1e-5);
    double right = 0.0, area = 0.0;
    for (size_t n = 0; n < scene->links.wall_count; n++) {
        const kf_wall_node *wall = &scene->links.wall[n];
        right += wall->area * pow(of_the_law(0.06, wall->height, scene->viscosity), 2);
        area += wall->area;
    }
    kf_plan *plan = open_stored(scene, "f64");
    advance(plan, 1);
    const kf_wall_look look = look_at(plan);
    const double taken = look.friction[0] * along[0] + look.friction[1] * along[1];
    print_message("area %.4f, friction %.6g, right %.6g\n", area, taken, right);
    assert_true(fabs(area / (2.0 * 16.0 * 16.0 * root) - 1.0) < 1e-3);
    assert_true(fabs(taken / right - 1.0) < 1e-3);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* A stream along a wall across the grid slows down by the law's friction alone: nothing on the grid's steps
 * drives it or holds it. */
static void test_walls_across_the_grid_drive_nothing(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = make_plate(2e-5);
    kf_plan *plan = open_stored(scene, "f32");
    double friction[2];
    for (int part = 0; part < 2; part++) {
        kf_solid_load load;
        advance(plan, 300);
        const kf_wall_look look = look_at(plan);
        must(plan->methods->flow->load(plan, &load, &error), &error);
        const double force = (2.0 * load.force[0] + load.force[1]) / sqrt(5.0);
        friction[part] = (2.0 * look.friction[0] + look.friction[1]) / sqrt(5.0);
        print_message("force along the wall %.5g, friction %.5g\n", force, friction[part]);
        assert_true(fabs(force / friction[part] - 1.0) < 1e-3);
    }
    assert_true(friction[1] > 0.0 && friction[1] < friction[0]);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* The mean velocity of the fluid, along a direction and across it. */
static void find_mean(const kf_scene *scene, kf_plan *plan, const double along[2], double mean[2]) {
    kf_error error = {KF_OK, ""};
    double *values, momentum[2] = {0.0, 0.0}, mass = 0.0;
    const size_t count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    bool *inside = kf_allocate_zeroed(count, sizeof *inside);
    must(kf_kinetic_read(plan, &values, &error), &error);
    for (size_t i = 0; i < scene->links.inside_count; i++) {
        const int *at = scene->links.inside[i];
        inside[(size_t)at[0] +
               (size_t)scene->nodes[0] * ((size_t)at[1] + (size_t)scene->nodes[1] * (size_t)at[2])] = true;
    }
    for (size_t n = 0; n < count; n++) {
        if (inside[n]) continue;
        mass += 1.0 + values[n];
        for (size_t a = 0; a < 2; a++)
            momentum[a] += (1.0 + values[n]) * values[(1 + a) * count + n];
    }
    mean[0] = (momentum[0] * along[0] + momentum[1] * along[1]) / mass;
    mean[1] = (momentum[1] * along[0] - momentum[0] * along[1]) / mass;
    free(inside);
    free(values);
}

/* A stream along a plate of 3.6 cells across the grid slows down by the friction that the law has for its
 * speed, on gentle slopes, too, and nothing passes the plate. Where each node's own velocity decides what
 * passes the links, the plate of slope 1 : 4 emits fluid on one side and absorbs it on the other: the stream
 * loses 2.2 times as much and has 3 % of its speed across. */
static void test_gentle_slopes(void **state) {
    (void)state;
    enum { STEPS = 1500, PART = 50, THICK = 2 };
    static const int widths[] = {32, 64};
    const double speed = 0.06, half = 1.8, height = 2.0, viscosity = 2e-5, wide = 16.0;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        const double length = widths[w], slope = hypot(length, wide),
                     along[2] = {length / slope, wide / slope};
        kf_scene *scene = kf_flow_box("slope", widths[w], (int)wide, THICK, viscosity);
        double mean[2], right = speed;
        scene->wall_law = true;
        scene->rate_rule = KF_RATE_K17;
        for (int a = 0; a < 2; a++)
            scene->initial_velocity[a] = speed * along[a];
        for (int side = -1; side <= 1; side += 2)
            kf_body_add_sheet(scene,
                              (const double[2]){0.13 - length - half * side * along[1],
                                                0.29 - wide + half * side * along[0]},
                              (const double[2]){3.0 * length, 3.0 * wide});
        link_solid(scene);
        const double fluid = length * wide * THICK - (double)scene->links.inside_count;
        kf_plan *plan = open_stored(scene, "f32");
        for (int step = 0; step < STEPS; step += PART) {
            advance(plan, PART);
            right -= PART * 2.0 * slope * THICK / fluid * pow(of_the_law(right, height, viscosity), 2);
        }
        find_mean(scene, plan, along, mean);
        print_message("slope 16 : %d: speed %.4f, right %.4f, across %.4f\n", widths[w], mean[0] / speed,
                      right / speed, mean[1] / speed);
        assert_true(fabs(mean[0] - right) < 0.15 * (speed - right));
        assert_true(fabs(mean[1]) < 0.01 * speed);
        kf_plan_free(plan);
        kf_scene_free(scene);
    }
}

/* What the fluid loses the solid gains, friction included; and what the law adds to the mass it takes back.
 */
static void test_keeps_momentum_and_mass(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    for (int walls = 0; walls < 2; walls++) {
        kf_scene *scene = make_box(2e-5, walls == 1);
        double mass[3], momentum[3];
        kf_solid_load load;
        kf_body_set_ball(scene, (const double[3]){10.2, 7.6, 8.1}, 3.3);
        link_solid(scene);
        kf_plan *plan = open_stored(scene, "f64");
        advance(plan, 50);
        sum_fluid(scene, plan, &mass[0], &momentum[0]);
        advance(plan, 99);
        sum_fluid(scene, plan, &mass[1], &momentum[1]);
        advance(plan, 1);
        sum_fluid(scene, plan, &mass[2], &momentum[2]);
        must(plan->methods->flow->load(plan, &load, &error), &error);
        print_message("force %.6g of %.6g, mass %.2g\n", load.force[0], momentum[1] - momentum[2],
                      (mass[2] - mass[0]) / 6000.0);
        assert_true(look_at(plan).share > 0.5);
        if (walls == 0)
            assert_true(fabs(load.force[0] - (momentum[1] - momentum[2])) < 1e-6 * fabs(load.force[0]));
        /* Half of what last left each link is on its way back. */
        assert_true(fabs(mass[2] - mass[0]) < 5e-5 * 6000.0);
        kf_plan_free(plan);
        kf_scene_free(scene);
    }
}

/* The parts of the force on a ball in a stream sum to the whole: friction, suction on the shoulders, and the
 * wake's. */
static void test_parts_of_the_force(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = make_box(2.59e-4, false);
    kf_solid_load load;
    scene->nodes[0] = 40;
    scene->nodes[1] = scene->nodes[2] = 24;
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = face == KF_XMIN ? KF_INFLOW : face == KF_XMAX ? KF_OUTFLOW : KF_FREE_SLIP;
    scene->face_velocity[KF_XMIN][0] = scene->initial_velocity[0] = scene->reference_speed = 0.08;
    scene->rate_rule = KF_RATE_K17;
    kf_body_set_ball(scene, (const double[3]){13.5, 11.62, 11.38}, 6.0);
    link_solid(scene);
    kf_plan *plan = open_stored(scene, "f32");
    advance(plan, 300);
    must(plan->methods->flow->load(plan, &load, &error), &error);
    const kf_wall_look look = look_at(plan);
    print_message("drag %.4g: friction %.3g, pressure %.3g before and %.3g behind\n", load.force[0],
                  look.friction[0], look.pressure[0], look.pressure[1]);
    assert_true(look.pressure[0] < 0.0 && look.pressure[1] > 0.0); /* suction on the shoulders, in the wake */
    assert_true(fabs(look.friction[0] + look.pressure[0] + look.pressure[1] - load.force[0]) <
                1e-5 * load.force[0]);
    assert_true(load.force[0] > 0.0 && load.force[0] < 0.5 * 0.08 * 0.08 * 113.0);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

#define SOLID(more) "\"solid\": {\"shape\": \"ball\", \"radius\": 0.3, \"position\": [1, 0.8, 0.6]" more "}"
#define LAW         ", \"model\": {\"wall\": \"law\"}"

/* Opens a scene of a box in a tunnel between mirrors, or of its upper half. */
static kf_scene *open_box_on_mirror(bool half) {
    kf_error error = {KF_OK, ""};
    char text[1024];
    kf_scene *scene;
    (void)snprintf(text, sizeof text,
                   "{\"solid\": {\"shape\": \"plate\", \"chord\": 0.3, \"width\": 0.3, \"thickness\": %g,"
                   " \"position\": [0.45, 0.4, %g], \"boundary\": \"links\"},"
                   " \"domain\": {\"cells\": [24, 16, %d], \"cell_size\": 0.05}, \"flow\": {\"speed\": 2,"
                   " \"reynolds\": 1e6}, \"model\": {\"wall\": \"law\"}}",
                   half ? 0.2 : 0.4, half ? 0.1 : 0.4, half ? 8 : 16);
    must(kf_scene_open(write_text("mirror.json", text), NULL, &scene, &error), &error);
    return scene;
}

/* A box that stands on a mirror has the surface of the box that the mirror makes it: its bottom is none, and
 * edges there have the normals of the sides. */
static void test_box_on_a_mirror(void **state) {
    (void)state;
    kf_scene *whole = open_box_on_mirror(false), *half = open_box_on_mirror(true);
    size_t found = 0;
    for (size_t h = 0; h < half->links.wall_count; h++)
        for (size_t w = 0; w < whole->links.wall_count; w++) {
            const kf_wall_node *one = &half->links.wall[h], *other = &whole->links.wall[w];
            const int *at = half->links.link[one->first].at[0].node,
                      *there = whole->links.link[other->first].at[0].node;
            if (at[0] != there[0] || at[1] != there[1] || at[2] + 8 != there[2]) continue;
            found++;
            assert_true(fabs(one->height - other->height) < 1e-6 && fabs(one->area - other->area) < 1e-6);
            for (int a = 0; a < 3; a++) {
                assert_true(fabs(one->normal[a] - other->normal[a]) < 1e-6);
                assert_int_equal(one->seen[a] + (a == 2 ? 8 : 0), other->seen[a]);
            }
        }
    assert_true(found == half->links.wall_count && 2 * found == whole->links.wall_count);
    kf_scene_free(whole);
    kf_scene_free(half);
}

/* A scene file says so; the law is for links that are interpolated, and a scene with it is another one. */
static void test_scene_files(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    char hash[2][KF_HASH_HEX];
    for (int law = 0; law < 2; law++) {
        kf_scene *scene;
        const char *text = law ? BOX(TUNNEL, FLOW ", " SOLID(", \"boundary\": \"links\"") LAW)
                               : BOX(TUNNEL, FLOW ", " SOLID(", \"boundary\": \"links\""));
        must(kf_scene_open(write_text("law.json", text), NULL, &scene, &error), &error);
        assert_int_equal(scene->wall_law, law);
        assert_int_equal(scene->rate_rule, law ? KF_RATE_K17 : KF_RATE_ADAPTIVE_2020);
        assert_int_equal(scene->links.wall_count > 50, law);
        memcpy(hash[law], scene->hash, sizeof scene->hash);
        kf_scene_free(scene);
    }
    assert_string_not_equal(hash[0], hash[1]);
    assert_scene_refused(BOX(TUNNEL, FLOW ", " SOLID("") LAW), "model.wall");
    assert_scene_refused(BOX(TUNNEL, FLOW LAW), "model.wall");
    assert_scene_refused(
        BOX(TUNNEL, FLOW ", " SOLID(", \"boundary\": \"links\", \"links\": \"half-way\"") LAW), "model.wall");
    assert_scene_refused(
        BOX(TUNNEL, FLOW ", " SOLID(", \"boundary\": \"links\"") ", \"model\": {\"wall\": \"laws\"}"),
        "model.wall");
}

#define STREAM(reynolds) "\"flow\": {\"speed\": 2, \"reynolds\": " reynolds "}"
#define BY_LAW(faces, reynolds, more)                                                                        \
    BOX(faces,                                                                                               \
        STREAM(reynolds) ", " SOLID(", \"boundary\": \"links\"") ", \"model\": {\"wall\": \"law\"" more "}")

/* No layer is turbulent on a solid of a small Reynolds number, unless it is tripped: then those behind are.
 * The ball's front is at 7 cells. */
static void test_laminar_layers(void **state) {
    (void)state;
    static const char *const texts[3] = {BY_LAW(TUNNEL, "1e6", ""), BY_LAW(TUNNEL, "1e4", ""),
                                         BY_LAW(TUNNEL, "1e4", ", \"trip\": 0.3")};
    static const double from[3] = {0.0, INFINITY, 10.0};
    kf_error error = {KF_OK, ""};
    for (int t = 0; t < 3; t++) {
        kf_scene *scene;
        must(kf_scene_open(write_text("law.json", texts[t]), NULL, &scene, &error), &error);
        assert_int_equal(scene->laminar, t == 1);
        for (size_t n = 0; n < scene->links.wall_count; n++) {
            const kf_wall_node *wall = &scene->links.wall[n];
            const int x = scene->links.link[wall->first].at[0].node[0];
            if ((wall->height > 0.0) != (x >= from[t])) fail_msg("scene %d: node at %d", t, x);
        }
        kf_scene_free(scene);
    }
    assert_scene_refused(BOX(TUNNEL, FLOW ", \"model\": {\"trip\": 0.1}"), "model.trip");
    assert_scene_refused(BY_LAW(PERIODIC, "1e6", ", \"trip\": 0.1"), "model.trip");
    assert_scene_refused(BY_LAW(TUNNEL, "1e6", ", \"trip\": -0.1"), "model.trip");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_of_a_ball),
        cmocka_unit_test(test_narrow_gaps_have_no_law),
        cmocka_unit_test(test_edges_have_no_law),
        cmocka_unit_test(test_against_the_reference),
        cmocka_unit_test(test_resolved_layers_do_not_feel_it),
        cmocka_unit_test(test_takes_the_traction_of_the_law),
        cmocka_unit_test(test_walls_across_the_grid_drive_nothing),
        cmocka_unit_test(test_gentle_slopes),
        cmocka_unit_test(test_keeps_momentum_and_mass),
        cmocka_unit_test(test_parts_of_the_force),
        cmocka_unit_test(test_box_on_a_mirror),
        cmocka_unit_test(test_scene_files),
        cmocka_unit_test(test_laminar_layers),
    };
    return cmocka_run_group_tests(tests, open_folder_and_backend, close_folder_and_backend);
}
