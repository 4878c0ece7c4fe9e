/* Where turbulent layers are modelled on a solid by links: which nodes are listed, at periodic faces, mirrors
 * and slopes too, and which scenes may ask for it. Faults: a node with the height of another place, or a flow
 * that depends on the order of axes. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include "tests/unit/layers_scenes.h"
#include "tests/unit/scene_texts.h"

/* All nodes near a ball are listed once, in the order of memory, with their distance from the ball. */
static void test_nodes_of_layers(void **state) {
    (void)state;
    kf_scene *scene = open_ball(20 * NODES, true);
    const kf_links *links = &scene->links;
    const double radius = 0.5 * (scene->solid_high[0] - scene->solid_low[0]);
    const int *n = scene->nodes;
    size_t near = 0;
    long long before = -1;
    for (size_t i = 0; i < links->layer_count; i++) {
        const kf_layer_node *node = &links->layer[i];
        const long long place =
            node->node[0] + (long long)n[0] * (node->node[1] + (long long)n[1] * node->node[2]);
        double squared = 0.0;
        for (int a = 0; a < 3; a++)
            squared += pow(node->node[a] - 0.5 * (scene->solid_low[a] + scene->solid_high[a]), 2);
        const double distance = sqrt(squared) - radius;
        assert_true(place > before);
        before = place;
        assert_true(node->height > 0.0 && node->height <= links->layer_depth + 2.0);
        assert_true(fabs(node->height - distance) < 0.6);
        assert_true(links->wall[node->wall].height > 0.0);
        near += distance < links->layer_depth - 1.0;
    }
    size_t all = 0;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                const int at[3] = {x, y, z};
                double squared = 0.0;
                for (int a = 0; a < 3; a++)
                    squared += pow(at[a] - 0.5 * (scene->solid_low[a] + scene->solid_high[a]), 2);
                const double distance = sqrt(squared) - radius;
                all += distance > 0.0 && distance < links->layer_depth - 1.0;
            }
    print_message("depth %d, %zu of %zu nodes near the ball\n", links->layer_depth, near, all);
    assert_true((double)near > 0.97 * (double)all);
    kf_scene_free(scene);
}

/* Returns the height at which a node is listed, or 0. */
static double listed_height(const kf_links *links, const int node[3]) {
    for (size_t i = 0; i < links->layer_count; i++)
        if (memcmp(links->layer[i].node, node, sizeof links->layer[i].node) == 0)
            return links->layer[i].height;
    return 0.0;
}

/* Behind 200 cells of a plate a turbulent layer is 0.37 x Re_x^-0.2 thick. Its nodes are listed up to one and
 * a half times that, on both sides of the plate. */
static void test_depth_of_layers(void **state) {
    (void)state;
    enum { LENGTH = 200, HIGH = 24, DEEP = 4 };
    kf_error error = {KF_OK, ""};
    kf_scene *scene = make_stream((const int[3]){LENGTH + 16, HIGH, DEEP}, 1e-5);
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_FREE_SLIP;
    kf_body_add_sheet(scene, (const double[2]){8.3, 11.4}, (const double[2]){LENGTH, 0.0});
    must(kf_body_link(scene, false, &error), &error);
    const double reynolds = scene->reference_speed * LENGTH / scene->viscosity;
    const int depth = (int)ceil(1.5 * 0.37 * LENGTH * pow(reynolds, -0.2));
    assert_true(depth > 5);
    assert_int_equal(scene->links.layer_depth, depth);
    for (int y = 0; y < HIGH; y++) {
        const double height = fabs(y - 11.4);
        const int first = y > 11.4 ? 12 : 11;
        const double listed = listed_height(&scene->links, (const int[3]){LENGTH / 2, y, 2});
        if (abs(y - first) <= depth)
            assert_true(fabs(listed - height) < 1e-5);
        else
            assert_true(listed == 0.0);
    }
    kf_scene_free(scene);
}

/* A periodic face makes no difference: layers that cross it have the nodes and the flow that they have
 * elsewhere. */
static void test_layers_across_faces(void **state) {
    (void)state;
    enum { LENGTH = 24, WIDTH = 16 };
    kf_error error = {KF_OK, ""};
    static const int nodes[3] = {LENGTH, WIDTH, WIDTH};
    kf_scene *scenes[2];
    kf_fields fields[2];
    for (int seam = 0; seam < 2; seam++) {
        const double at = seam ? 3.6 : 3.6 + 0.5 * WIDTH;
        scenes[seam] = make_stream(nodes, 1e-4);
        kf_body_set_ball(scenes[seam], (const double[3]){9.3, at, at}, 4.0);
        must(kf_body_link(scenes[seam], false, &error), &error);
        fields[seam] = run(scenes[seam], NULL);
    }
    const kf_links *links = &scenes[0]->links;
    assert_true(links->layer_count > 500);
    assert_int_equal(links->layer_count, scenes[1]->links.layer_count);
    for (size_t i = 0; i < links->layer_count; i++) {
        int node[3];
        for (int a = 0; a < 3; a++)
            node[a] = (links->layer[i].node[a] + (a > 0 ? WIDTH / 2 : 0)) % nodes[a];
        assert_true(fabs(listed_height(&scenes[1]->links, node) - links->layer[i].height) < 1e-9);
    }
    double off = 0.0;
    for (int z = 0; z < WIDTH; z++)
        for (int y = 0; y < WIDTH; y++)
            for (int x = 0; x < LENGTH; x++) {
                const int one = x + LENGTH * (y + WIDTH * z),
                          other = x + LENGTH * ((y + WIDTH / 2) % WIDTH + WIDTH * ((z + WIDTH / 2) % WIDTH));
                off = fmax(off, fabs((double)(fields[0].velocity[0][one] - fields[1].velocity[0][other])));
            }
    print_message("across faces the flow is off by %.2g of the stream\n", off / scenes[0]->reference_speed);
    assert_true(off < 1e-4 * scenes[0]->reference_speed);
    for (int seam = 0; seam < 2; seam++) {
        kf_fields_free(&fields[seam]);
        kf_scene_free(scenes[seam]);
    }
}

/* Half a ball on a mirror has the layers and the flow of half of a whole ball. */
static void test_half_a_ball_on_a_mirror(void **state) {
    (void)state;
    enum { LENGTH = 24, WIDTH = 16, HALF = 8 };
    kf_error error = {KF_OK, ""};
    kf_scene *scenes[2];
    kf_fields fields[2];
    for (int half = 0; half < 2; half++) {
        scenes[half] = make_stream((const int[3]){LENGTH, WIDTH, half ? HALF : 2 * HALF}, 1e-4);
        for (int face = KF_YMIN; face < KF_FACES; face++)
            scenes[half]->faces[face] = KF_FREE_SLIP;
        kf_body_set_ball(scenes[half], (const double[3]){9.3, 7.6, half ? -0.5 : HALF - 0.5}, 4.0);
        must(kf_body_link(scenes[half], false, &error), &error);
        fields[half] = run(scenes[half], NULL);
    }
    double off = 0.0;
    for (int i = 0; i < LENGTH * WIDTH * HALF; i++)
        for (int a = 0; a < 3; a++)
            off = fmax(off, fabs((double)(fields[1].velocity[a][i] -
                                          fields[0].velocity[a][i + LENGTH * WIDTH * HALF])));
    print_message("%zu nodes, %zu in half, flow off by %.2g of the stream\n", scenes[0]->links.layer_count,
                  scenes[1]->links.layer_count, off / scenes[0]->reference_speed);
    assert_int_equal(scenes[0]->links.layer_count, 2 * scenes[1]->links.layer_count);
    assert_true(off < 2e-5 * scenes[0]->reference_speed);
    for (int half = 0; half < 2; half++) {
        kf_fields_free(&fields[half]);
        kf_scene_free(scenes[half]);
    }
}

/* Returns how far the speeds of two scenes along the stream are apart. */
static double compare_turned(const kf_scene *one, const kf_fields *usual, const kf_scene *other,
                             const kf_fields *fields, const turned *t) {
    const float *speeds = fields->velocity[t->axis[0]];
    double off = 0.0;
    for (int i = 0; i < one->nodes[0] * one->nodes[1] * one->nodes[2]; i++) {
        const int at[3] = {i % one->nodes[0], i / one->nodes[0] % one->nodes[1],
                           i / one->nodes[0] / one->nodes[1]};
        int to[3];
        for (int a = 0; a < 3; a++)
            to[t->axis[a]] = t->mirrored[a] ? one->nodes[a] - 1 - at[a] : at[a];
        const double speed = speeds[to[0] + other->nodes[0] * (to[1] + other->nodes[1] * to[2])];
        off = fmax(off, fabs((t->mirrored[0] ? -speed : speed) - (double)usual->velocity[0][i]));
    }
    return off;
}

/* Scenes with exchanged axes or in a mirror have the exchanged or mirrored flow, by the law with modelled
 * layers or without. */
static void test_axes_and_mirrors(void **state) {
    (void)state;
    enum { SCENES = 5 };
    static const turned turns[SCENES] = {{{0, 1, 2}, {false, false, false}},
                                         {{0, 1, 2}, {false, true, false}},
                                         {{0, 1, 2}, {true, false, true}},
                                         {{1, 2, 0}, {false, false, false}},
                                         {{2, 1, 0}, {false, true, false}}};
    for (int layers = 0; layers < 2; layers++) {
        kf_scene *usual = make_bar(&turns[0], layers);
        kf_fields fields = run(usual, NULL);
        for (int i = 1; i < SCENES; i++) {
            kf_scene *scene = make_bar(&turns[i], layers);
            kf_fields own = run(scene, NULL);
            const double off = compare_turned(usual, &fields, scene, &own, &turns[i]);
            print_message("%zu nodes, flow off by %.2g of the stream\n", scene->links.layer_count,
                          off / usual->reference_speed);
            assert_int_equal(scene->links.layer_count, usual->links.layer_count);
            assert_true(off < 2e-5 * usual->reference_speed);
            kf_fields_free(&own);
            kf_scene_free(scene);
        }
        kf_fields_free(&fields);
        kf_scene_free(usual);
    }
}

#define STREAM(reynolds) "\"flow\": {\"speed\": 2, \"reynolds\": " reynolds "}"
#define SOLID                                                                                                \
    "\"solid\": {\"shape\": \"ball\", \"radius\": 0.3, \"position\": [1, 0.8, 0.6], \"boundary\": "          \
    "\"links\"}"
#define MODEL(faces, keys) BOX(faces, STREAM("1e6") ", " SOLID ", \"model\": {" keys "}")
#define MODELLED           "\"layers\": \"modelled\""
#define LAW                "\"wall\": \"law\""

/* A scene file says so. The model needs a law of the wall behind an inflow, the rates k17 and one device. */
static void test_scene_files(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    char hash[2][KF_HASH_HEX];
    for (int layers = 0; layers < 2; layers++) {
        kf_scene *scene;
        const char *text =
            layers ? MODEL(TUNNEL, LAW ", " MODELLED) : MODEL(TUNNEL, LAW ", \"layers\": \"resolved\"");
        must(kf_scene_open(write_text("layers.json", text), NULL, &scene, &error), &error);
        assert_int_equal(scene->links.layer_count > 100, layers);
        memcpy(hash[layers], scene->hash, sizeof scene->hash);
        kf_device_info device = *kf_backend_device(backend);
        device.parts = 2;
        assert_int_equal(kinetic_system->accepts_device(problem_of(kinetic_system, scene), &device, &error),
                         layers ? KF_BAD_INPUT : KF_OK);
        if (layers) assert_non_null(strstr(error.message, "model.layers"));
        kf_scene_free(scene);
    }
    assert_string_not_equal(hash[0], hash[1]);
    assert_scene_refused(MODEL(TUNNEL, MODELLED), "model.layers");
    assert_scene_refused(MODEL(PERIODIC, LAW ", " MODELLED), "model.layers");
    assert_scene_refused(MODEL(TUNNEL, LAW ", " MODELLED ", \"rates\": \"ones\""), "model.layers");
    assert_scene_refused(MODEL(TUNNEL, LAW ", " MODELLED ", \"collision\": \"bgk\""), "model.layers");
    assert_scene_refused(MODEL(TUNNEL, LAW ", \"layers\": \"both\""), "model.layers");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_of_layers),     cmocka_unit_test(test_depth_of_layers),
        cmocka_unit_test(test_layers_across_faces), cmocka_unit_test(test_half_a_ball_on_a_mirror),
        cmocka_unit_test(test_axes_and_mirrors),    cmocka_unit_test(test_scene_files),
    };
    return cmocka_run_group_tests(tests, open_folder_and_backend, close_folder_and_backend);
}
