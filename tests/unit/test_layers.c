/* The model of turbulent layers without eddies, on a solid by links with a law of the wall: the
 * kernels against the reference, checkpoints, the viscosity of a known layer, and layers with eddies.
 * KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include "solver/kinetic/kinetic_cost.h"
#include "solver/kinetic/reference.h"
#include "tests/unit/layers_scenes.h"
#include "tests/unit/works_by_hand.h"

/* All storages and plans do what the reference does, and that is not what happens without the model. */
static void test_against_the_reference(void **state) {
    (void)state;
    enum { CONFIGS = 7, OF_GPU = 1, MOST = 2 };
    static const char *const values[CONFIGS][MOST] = {
        {"storage=f32"},   {"storage=f16"}, {"layout=aos"},        {"streaming=shift", "slab=4"},
        {"plan=baseline"}, {"storage=f64"}, {"nodes_per_thread=2"}};
    const int configs = kf_device_is_gpu(kf_backend_device(backend)) ? CONFIGS : CONFIGS - OF_GPU;
    kf_error error = {KF_OK, ""};
    kf_reference *reference;
    kf_scene *scenes[2] = {open_ball(NODES, false), open_ball(NODES, true)};
    kf_fields fields[2];
    double most = 0.0, quiet[2];
    for (int s = 0; s < 2; s++)
        fields[s] = run(scenes[s], &quiet[s]);
    for (int i = 0; i < scenes[0]->nodes[0] * scenes[0]->nodes[1] * scenes[0]->nodes[2]; i++)
        most = fmax(most, fabs((double)(fields[0].velocity[0][i] - fields[1].velocity[0][i])));
    print_message(
        "layers are modelled on %.2f of the surface, which changes velocities by %.2g of the stream\n",
        quiet[1], most / scenes[0]->reference_speed);
    assert_true(most > 3e-4 * scenes[0]->reference_speed);
    must(kinetic_system->reference(problem_of(kinetic_system, scenes[1]), STEPS, &reference, &error), &error);
    for (int c = 0; c < configs; c++) {
        const kf_config config = nearest_config(scenes[1], values[c], values[c][1] != NULL ? 2 : 1);
        const double off = verify_config(kinetic_system, scenes[1], &config, reference, STEPS);
        print_message("%s: off by %.2g\n", values[c][0], off);
    }
    kinetic_system->free_reference(reference);
    for (int s = 0; s < 2; s++) {
        kf_fields_free(&fields[s]);
        kf_scene_free(scenes[s]);
    }
}

/* Checks a config in double precision against the reference. */
static void compare_doubles(const kf_scene *scene) {
    enum { FEW = 24 };
    static const char *const values[1] = {"storage=f64"};
    kf_error error = {KF_OK, ""};
    kf_reference *reference;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), FEW, &reference, &error), &error);
    const kf_config config = nearest_config(scene, values, 1);
    const double off = verify_config(kinetic_system, scene, &config, reference, FEW);
    print_message("off by %.2g\n", off);
    assert_true(off < 1e-9);
    kinetic_system->free_reference(reference);
}

/* Between a bar and a plate above it, and at a small viscosity, the kernels do what the reference does:
 * columns end at the other surface, and layers have the wake of high Reynolds numbers. */
static void test_another_surface(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = make_stream((const int[3]){26, 20, 6}, 1e-5);
    kf_body_add_box(scene, (const double[3]){5.3, 4.3, -4.0}, (const double[3]){15.3, 7.2, 9.0});
    kf_body_add_box(scene, (const double[3]){5.3, 10.1, -4.0}, (const double[3]){15.3, 12.4, 9.0});
    must(kf_body_link(scene, false, &error), &error);
    compare_doubles(scene);
    kf_scene_free(scene);
}

/* On slopes of 30 degrees the kernels read the nodes that the reference reads. */
static void test_steps_along_slopes(void **state) {
    (void)state;
    static const turned usual = {{0, 1, 2}, {false, false, false}};
    kf_scene *scene = make_bar(&usual, true);
    compare_doubles(scene);
    kf_scene_free(scene);
}

static kf_plan *open_single(const kf_scene *scene) {
    static const char *const values[1] = {"storage=f32"};
    const kf_config config = nearest_config(scene, values, 1);
    return open_plan(scene, &config);
}

/* A stream that is slow between two sheets. */
enum { SHEET_LOW = 6, SHEET_HIGH = 10 };
static void slow_between(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    (void)context, (void)i, (void)k;
    *density = 1.0;
    velocity[0] = j > SHEET_LOW && j < SHEET_HIGH ? 0.02 : 0.05;
    velocity[1] = velocity[2] = 0.0;
}

/* Between two sheets without nodes inside, nothing is looked for beyond the other sheet. */
static void test_columns_end_at_a_sheet(void **state) {
    (void)state;
    static const double NEWS = 0.25; /* what counts of the first look */
    kf_error error = {KF_OK, ""};
    kf_scene *scene = make_stream((const int[3]){30, 24, 4}, 1e-5);
    for (int sheet = 0; sheet < 2; sheet++)
        kf_body_add_sheet(scene, (const double[2]){6.3, sheet ? SHEET_HIGH - 0.4 : SHEET_LOW + 0.4},
                          (const double[2]){16.0, 0.0});
    scene->initial_state = slow_between;
    must(kf_body_link(scene, false, &error), &error);
    const kf_links *links = &scene->links;
    int between = 0, outside = 0;
    for (size_t n = 0; n < links->wall_count; n++) {
        const kf_wall_node *wall = &links->wall[n];
        const int *node = links->link[wall->first].at[0].node;
        if (node[0] < 9 || node[0] > 19) continue;
        const int apart =
            node[1] > SHEET_LOW && node[1] < SHEET_HIGH ? SHEET_HIGH - SHEET_LOW - 2 : KF_LAYER_DEPTH;
        assert_int_equal(wall->open, apart);
        between += apart < KF_LAYER_DEPTH;
        outside += apart == KF_LAYER_DEPTH;
    }
    assert_true(between > 50 && outside > 50);
    for (size_t n = 0; n < links->layer_count; n++) {
        const int y = links->layer[n].node[1],
                  from = links->link[links->wall[links->layer[n].wall].first].at[0].node[1];
        if (from > SHEET_LOW && from < SHEET_HIGH) assert_true(y > SHEET_LOW - 2 && y < SHEET_HIGH + 2);
    }
    kf_plan *plan = open_single(scene);
    const kf_kinetic *kinetic = plan->system;
    double *layer = kf_allocate(kinetic->layer_bytes[0]);
    advance(plan, 1);
    must(kf_buffer_download(kinetic->layer[0], 0, layer, kinetic->layer_bytes[0], &error), &error);
    for (size_t n = 0; n < links->wall_count; n++)
        if (links->wall[n].open < KF_LAYER_DEPTH)
            assert_true(layer[KF_LAYER_THICKNESS * links->wall_count + n] <
                        NEWS * (links->wall[n].open + 1.0));
    free(layer);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* A checkpoint contains what is known of layers, so that a run that continues equals one without a break. */
static void test_a_checkpoint_keeps_the_layers(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_ball(NODES, true);
    kf_plan *whole = open_single(scene), *again = open_single(scene);
    kf_fields fields[2] = {{.density = NULL}, {.density = NULL}};
    size_t bytes;
    advance(whole, STEPS - 1);
    must(whole->methods->state_size(whole, &bytes, &error), &error);
    void *saved = kf_allocate(bytes);
    must(whole->methods->save(whole, saved, &error), &error);
    must(again->methods->restore(again, saved, whole->steps_done, &error), &error);
    kf_plan *const plans[2] = {whole, again};
    for (int p = 0; p < 2; p++) {
        advance(plans[p], STEPS);
        must(plans[p]->methods->flow->fields(plans[p], &fields[p], &error), &error);
        kf_plan_free(plans[p]);
    }
    const size_t nodes = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    for (int a = 0; a < 3; a++)
        assert_memory_equal(fields[0].velocity[a], fields[1].velocity[a], nodes * sizeof(float));
    for (int p = 0; p < 2; p++)
        kf_fields_free(&fields[p]);
    free(saved);
    kf_scene_free(scene);
}

/* A plan that begins again forgets what it knew of layers. */
static void test_a_new_start_forgets_the_layers(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_ball(NODES, true);
    kf_plan *plan = open_single(scene);
    kf_fields fields[2] = {{.density = NULL}, {.density = NULL}};
    for (int start = 0; start < 2; start++) {
        must(kf_plan_initialise(plan, &error), &error);
        advance(plan, STEPS);
        must(plan->methods->flow->fields(plan, &fields[start], &error), &error);
    }
    const size_t nodes = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    assert_memory_equal(fields[0].velocity[0], fields[1].velocity[0], nodes * sizeof(float));
    for (int start = 0; start < 2; start++)
        kf_fields_free(&fields[start]);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* The cost model knows the kernel of layers: an index, a height and a viscosity of each node in every period.
 */
static void test_cost_of_layers(void **state) {
    (void)state;
    enum { BYTES = 16 };
    kf_scene *scene = open_ball(NODES, true);
    static const char *const values[1] = {"storage=f32"};
    const kf_config config = nearest_config(scene, values, 1);
    kf_works works = works_of_model(&kf_cost_kinetic, problem_of(kinetic_system, scene),
                                    kf_backend_device(backend), &config);
    int found = 0;
    for (size_t i = 0; i < works.count; i++)
        if (strcmp(works.list[i].name, "spread_viscosity") == 0) {
            const double right = BYTES * (double)scene->links.layer_count / KF_LAYER_PERIOD;
            assert_true(fabs(works.list[i].amount[KF_COST_DRAM] / right - 1.0) < 1e-9);
            found++;
        }
    assert_int_equal(found, 1);
    kf_works_free(&works);
    kf_scene_free(scene);
}

/* The kernels follow mean and fluctuation of the speed that the law reads at each node, and see where there
 * are no eddies: step by step as computed here from what the law found. The stream comes faster than the flow
 * begins, which is a fluctuation. */
static void test_kernels_follow_the_speed(void **state) {
    (void)state;
    static const double START = 0.5;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_ball(NODES, true);
    scene->initial_velocity[0] *= START;
    kf_plan *plan = open_single(scene);
    const kf_kinetic *kinetic = plan->system;
    const size_t count = scene->links.wall_count, found_bytes = KF_WALL_FOUND * count * sizeof(double);
    double *found = kf_allocate(found_bytes), *layer = kf_allocate(kinetic->layer_bytes[0]),
           *mean = kf_allocate_zeroed(count, sizeof *mean),
           *square = kf_allocate_zeroed(count, sizeof *square);
    size_t quiet = 0, eddies = 0;
    for (int step = 0; step < STEPS; step++) {
        advance(plan, 1);
        must(kf_buffer_download(kinetic->wall_found, 0, found, found_bytes, &error), &error);
        for (size_t n = 0; n < count; n++) {
            const double speed = found[5 * count + n], height = scene->links.wall[n].height;
            if (!(height > 0.0)) continue;
            if (step == 0) mean[n] = speed;
            const double part = fmin(1.0, speed / (30.0 * height)), off = speed - mean[n];
            mean[n] += part * off;
            square[n] += part * (off * off - square[n]);
        }
    }
    must(kf_buffer_download(kinetic->layer[0], 0, layer, kinetic->layer_bytes[0], &error), &error);
    for (size_t n = 0; n < count; n++) {
        if (!(scene->links.wall[n].height > 0.0)) continue;
        const bool none = found[n] >= 1.0 && sqrt(square[n]) < found[count + n];
        assert_true(fabs(layer[KF_LAYER_MEAN * count + n] - mean[n]) < 1e-12);
        assert_true(fabs(layer[KF_LAYER_SQUARE * count + n] - square[n]) < 1e-12);
        assert_true(layer[KF_LAYER_STEPS * count + n] == STEPS);
        assert_int_equal(layer[KF_LAYER_QUIET * count + n] > 0.0, none);
        quiet += none;
        eddies += !none && found[n] >= 1.0;
    }
    print_message("%zu nodes without eddies, %zu with\n", quiet, eddies);
    assert_true(quiet > 10 && eddies > 10);
    free(found);
    free(layer);
    free(mean);
    free(square);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* Returns the viscosity that a node of a layer has by what is known of the layer. */
static double viscosity_at(double height, double friction, bool quiet, double outer, double thickness) {
    const double most = 0.015;
    if (!quiet || !(thickness > 0.0)) return 0.0;
    return fmin(most, fmin(0.384 * height * friction, outer / (1.0 + 5.5 * pow(height / thickness, 6))));
}

/* Returns the place of a listed node in the box, which begins and ends with listed nodes on each axis. */
static size_t place_in_box(const kf_kinetic_region *box, const kf_links *links, size_t number) {
    size_t place = 0;
    for (int a = 2; a >= 0; a--) {
        int low = links->layer[0].node[a], high = low;
        for (size_t n = 0; n < links->layer_count; n++) {
            const int at = links->layer[n].node[a];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        assert_int_equal(box->low[a], low);
        assert_int_equal(box->high[a], high + 1);
        place = place * (size_t)(high + 1 - low) + (size_t)(links->layer[number].node[a] - low);
    }
    return place;
}

/* Layers of all kinds: each node gets the viscosity that follows from the state of its layer, near the wall,
 * further out, at the limit, and none in a layer with eddies. The share of the surface is by area. */
static void test_kernels_spread_the_viscosity(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_ball(NODES, true);
    scene->viscosity = 4e-4;
    const size_t count = scene->links.wall_count, nodes = scene->links.layer_count,
                 found_bytes = KF_WALL_FOUND * count * sizeof(double);
    for (size_t n = 0; n < nodes; n++)
        scene->links.layer[n].height *= 1.0 + (double)(n % 5) * 4.0;
    kf_plan *plan = open_single(scene);
    const kf_kinetic *kinetic = plan->system;
    const size_t bytes = kinetic->layer_bytes[0];
    double *found = kf_allocate(found_bytes), *layer = kf_allocate(bytes), covered = 0.0, area = 0.0,
           sum = 0.0;
    float *eddies = kf_allocate(kinetic->layer_bytes[1]);
    size_t kinds[4] = {0, 0, 0, 0}, resolved = 0;
    kf_wall_look look;
    advance(plan, 1);
    must(kf_buffer_download(kinetic->layer[0], 0, layer, bytes, &error), &error);
    for (size_t n = 0; n < count; n++) {
        layer[KF_LAYER_SQUARE * count + n] = n % 3 == 0 ? 1.0 : 0.0;
        layer[KF_LAYER_STEPS * count + n] = KF_LAYER_PERIOD;
        layer[KF_LAYER_VISCOSITY * count + n] = 0.01 * (double)(n % 11);
        layer[KF_LAYER_THICKNESS * count + n] = 10.0 * (double)(n % 13);
    }
    must(kf_buffer_upload(kinetic->layer[0], 0, layer, bytes, &error), &error);
    advance(plan, 1);
    must(kf_buffer_download(kinetic->layer[0], 0, layer, bytes, &error), &error);
    must(kf_buffer_download(kinetic->layer[1], 0, eddies, kinetic->layer_bytes[1], &error), &error);
    must(kf_buffer_download(kinetic->wall_found, 0, found, found_bytes, &error), &error);
    must(plan->methods->flow->wall(plan, &look, NULL, &error), &error);
    for (size_t n = 0; n < nodes; n++) {
        const size_t w = (size_t)scene->links.layer[n].wall;
        const double height = scene->links.layer[n].height, friction = found[count + w];
        const bool quiet = found[w] >= 1.0 && layer[KF_LAYER_SQUARE * count + w] < friction * friction;
        const double right = viscosity_at(height, friction, quiet, layer[KF_LAYER_VISCOSITY * count + w],
                                          layer[KF_LAYER_THICKNESS * count + w]);
        const double got = (double)eddies[place_in_box(&kinetic->arguments.layer.box, &scene->links, n)];
        assert_true(fabs(got - right) < 1e-6 * right + 1e-12);
        sum += right;
        kinds[!(right > 0.0)                                           ? 0
              : right == 0.015                                         ? 1
              : fabs(right - 0.384 * height * friction) < 1e-9 * right ? 2
                                                                       : 3]++;
    }
    for (size_t n = 0; n < count; n++) {
        const double own = scene->links.wall[n].area;
        resolved += found[n] > 0.0 && found[n] < 1.0;
        covered += layer[KF_LAYER_QUIET * count + n] > 0.0 ? own : 0.0;
        area += own;
    }
    print_message("%zu nodes without, %zu at the limit, %zu near the wall, %zu further out\n", kinds[0],
                  kinds[1], kinds[2], kinds[3]);
    for (size_t n = 0; n < kinetic->layer_bytes[1] / sizeof *eddies; n++)
        sum -= (double)eddies[n];
    assert_true(fabs(sum) < 1e-6); /* other nodes of the box have none */
    for (int k = 0; k < 4; k++)
        assert_true(kinds[k] > 10);
    assert_true(resolved > 10);
    assert_true(covered > 0.0 && covered < area && fabs(look.modelled - covered / area) < 1e-12);
    free(found);
    free(layer);
    free(eddies);
    kf_plan_free(plan);
    kf_scene_free(scene);
}

/* A flow that shears everywhere, so that every node's viscosity matters. */
static void shear_everywhere(const void *context, int i, int j, int k, double *density, double velocity[3]) {
    (void)context;
    *density = 1.0;
    for (int a = 0; a < 3; a++)
        velocity[a] = (a == 0 ? 0.04 : 0.0) + 0.01 * sin(0.9 * i + 0.7 * j + 0.8 * k + a);
}

/* Returns the velocities after two steps in which one place of the box has a large viscosity, or none. */
static kf_fields run_with_eddies(kf_plan *plan, size_t place) {
    kf_error error = {KF_OK, ""};
    kf_fields fields = {.density = NULL};
    const kf_kinetic *kinetic = plan->system;
    const size_t places = kinetic->layer_bytes[1] / sizeof(float);
    float *eddies = kf_allocate_zeroed(places, sizeof *eddies);
    must(kf_plan_initialise(plan, &error), &error);
    advance(plan, 1); /* the first step looks at the layers */
    if (place < places) eddies[place] = 0.015F;
    must(kf_buffer_upload(kinetic->layer[1], 0, eddies, kinetic->layer_bytes[1], &error), &error);
    advance(plan, 2);
    must(plan->methods->flow->fields(plan, &fields, &error), &error);
    free(eddies);
    return fields;
}

/* Checks that two flows differ at most of the neighbours of a node, and nowhere else. */
static void check_neighbours(const kf_scene *scene, const int node[3], const kf_fields *with,
                             const kf_fields *without) {
    size_t near = 0, at = 0;
    for (int z = 0; z < scene->nodes[2]; z++)
        for (int y = 0; y < scene->nodes[1]; y++)
            for (int x = 0; x < scene->nodes[0]; x++, at++) {
                bool differ = false;
                for (int a = 0; a < 3; a++)
                    differ = differ || with->velocity[a][at] != without->velocity[a][at];
                const bool beside = abs(x - node[0]) <= 1 && abs(y - node[1]) <= 1 && abs(z - node[2]) <= 1;
                assert_true(beside || !differ);
                near += differ;
            }
    assert_true(near >= 9);
}

/* The flow takes a node's viscosity at this node alone: at the ends of the box on each axis, and at both
 * nodes of a pair. */
static void test_the_flow_takes_a_nodes_own_viscosity(void **state) {
    (void)state;
    enum { PLACES = 8 };
    static const char *const values[2] = {"storage=f32", "nodes_per_thread=2"};
    const int plans = kf_device_is_gpu(kf_backend_device(backend)) ? 2 : 1;
    kf_scene *scene = open_ball(NODES, true);
    const kf_links *links = &scene->links;
    scene->initial_state = shear_everywhere;
    size_t chosen[PLACES] = {0};
    for (size_t n = 0; n < links->layer_count; n++) {
        const int *node = links->layer[n].node;
        for (int a = 0; a < 3; a++) {
            if (node[a] < links->layer[chosen[2 * a]].node[a]) chosen[2 * a] = n;
            if (node[a] > links->layer[chosen[2 * a + 1]].node[a]) chosen[2 * a + 1] = n;
        }
        chosen[6 + node[0] % 2] = n;
    }
    for (int p = 0; p < plans; p++) {
        const kf_config config = nearest_config(scene, values, p + 1);
        kf_plan *plan = open_plan(scene, &config);
        const kf_kinetic *kinetic = plan->system;
        kf_fields without = run_with_eddies(plan, SIZE_MAX);
        for (int c = 0; c < PLACES; c++) {
            kf_fields with =
                run_with_eddies(plan, place_in_box(&kinetic->arguments.layer.box, links, chosen[c]));
            check_neighbours(scene, links->layer[chosen[c]].node, &with, &without);
            kf_fields_free(&with);
        }
        kf_fields_free(&without);
        kf_plan_free(plan);
    }
    kf_scene_free(scene);
}

/* A layer of 16 cells with speeds by the power 1/7 of the height has a displacement thickness of an eighth of
 * it and a momentum thickness of 7/72 of it. Cebeci and Smith's viscosity follows from these. */
static void test_a_known_layer(void **state) {
    (void)state;
    enum { HEIGHT = 26, ABOVE = 8 };
    static const double THICKNESS = 16.0, SPEED = 0.06, FRICTION = 0.0025, VISCOSITY = 1e-5, FIRST = 0.3;
    double f[KF_REFERENCE_Q * HEIGHT], eddies[HEIGHT] = {0.0};
    kf_link link = {.share = FIRST};
    kf_wall_node wall = {.count = 1,
                         .normal = {0.0, 1.0, 0.0},
                         .seen = {0, 2, 0},
                         .distance = FIRST,
                         .open = HEIGHT,
                         .height = FIRST + 2.0};
    kf_layer_node nodes[2] = {{.node = {0, 1, 0}, .height = FIRST + 1.0},
                              {.node = {0, ABOVE, 0}, .height = FIRST + ABOVE}};
    kf_scene scene = {.nodes = {1, HEIGHT, 1}, .viscosity = VISCOSITY};
    kf_reference_layer layer = {0};
    scene.links = (kf_links){.count = 1,
                             .link = &link,
                             .wall_count = 1,
                             .wall = &wall,
                             .layer_count = 2,
                             .layer = nodes,
                             .layer_depth = HEIGHT - 2};
    for (int y = 0; y < HEIGHT; y++)
        for (int i = 0; i < KF_REFERENCE_Q; i++) {
            const int *c = kf_reference_velocities[i];
            const double u = SPEED * pow(fmin(1.0, (y + FIRST) / THICKNESS), 1.0 / 7.0);
            const double weight = (c[0] != 0 ? 1.0 / 6.0 : 2.0 / 3.0) * (c[1] != 0 ? 1.0 / 6.0 : 2.0 / 3.0) *
                                  (c[2] != 0 ? 1.0 / 6.0 : 2.0 / 3.0);
            f[i * HEIGHT + y] = weight * (1.0 + 3.0 * c[0] * u);
        }
    const kf_reference_wall work = {
        .scene = &scene, .f = f, .count = HEIGHT, .layer = &layer, .eddies = eddies};
    for (int step = 0; step < 161; step++)
        kf_reference_follow_layer(&work, 0, 1.0, 0.045, FRICTION, (const double[3]){1.0, 0.0, 0.0});
    kf_reference_spread_viscosity(&work);
    const double reynolds = SPEED * 7.0 / 72.0 * THICKNESS / VISCOSITY, z = reynolds / 425.0 - 1.0,
                 strength = 0.55 * (1.0 - exp(-0.243 * sqrt(z) - 0.298 * z)),
                 outer = 0.0168 * 1.55 / (1.0 + strength) * SPEED * THICKNESS / 8.0,
                 there = outer / (1.0 + 5.5 * pow((ABOVE + FIRST) / layer.thickness, 6));
    print_message("thickness %.2f, outer viscosity %.4f of the right one\n", layer.thickness,
                  layer.outer / outer);
    assert_true(fabs(layer.thickness - THICKNESS) < 1.0);
    assert_true(fabs(layer.outer / outer - 1.0) < 0.05);
    assert_true(fabs(eddies[1] / (0.384 * FRICTION * (FIRST + 1.0)) - 1.0) < 1e-12);
    assert_true(fabs(eddies[ABOVE] / there - 1.0) < 0.05);
}

/* Follows the speed at a node two cells from a wall that fluctuates by an amplitude with a period of 20
 * steps. Returns whether the layer counts as one without eddies after 300 periods. */
static bool is_quiet(double amplitude) {
    double f[KF_REFERENCE_Q];
    kf_link link = {.share = 0.5};
    kf_wall_node wall = {.count = 1, .normal = {0.0, 1.0, 0.0}, .seen = {0, 2, 0}, .height = 2.0};
    kf_scene scene = {.nodes = {1, 1, 1}, .viscosity = 1e-5};
    kf_reference_layer layer = {0};
    for (int i = 0; i < KF_REFERENCE_Q; i++)
        f[i] = 1.0 / KF_REFERENCE_Q;
    scene.links = (kf_links){.count = 1, .link = &link, .wall_count = 1, .wall = &wall};
    const kf_reference_wall work = {.scene = &scene, .f = f, .count = 1, .layer = &layer};
    for (int step = 0; step < 6000; step++)
        kf_reference_follow_layer(&work, 0, 1.0, 0.06 + amplitude * sin(kf_pi * step / 10.0), 0.003,
                                  (const double[3]){1.0, 0.0, 0.0});
    return layer.quiet;
}

/* A layer whose speed fluctuates by more than the friction velocity has eddies, which the model would damp.
 */
static void test_layers_with_eddies_are_left_alone(void **state) {
    (void)state;
    assert_true(is_quiet(0.0));
    assert_true(is_quiet(0.9 * 0.003 * sqrt(2.0)));
    assert_false(is_quiet(1.1 * 0.003 * sqrt(2.0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_reference),
        cmocka_unit_test(test_another_surface),
        cmocka_unit_test(test_steps_along_slopes),
        cmocka_unit_test(test_columns_end_at_a_sheet),
        cmocka_unit_test(test_a_checkpoint_keeps_the_layers),
        cmocka_unit_test(test_a_new_start_forgets_the_layers),
        cmocka_unit_test(test_cost_of_layers),
        cmocka_unit_test(test_kernels_follow_the_speed),
        cmocka_unit_test(test_kernels_spread_the_viscosity),
        cmocka_unit_test(test_the_flow_takes_a_nodes_own_viscosity),
        cmocka_unit_test(test_a_known_layer),
        cmocka_unit_test(test_layers_with_eddies_are_left_alone),
    };
    return cmocka_run_group_tests(tests, open_folder_and_backend, close_folder_and_backend);
}
