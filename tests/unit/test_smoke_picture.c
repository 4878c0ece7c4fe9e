/* Tests pictures of smoke. Faults: a camera elsewhere, a wrong light or depth, or a picture that differs
 * from run to run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <png.h>

#include "base/backend/team/team.h"
#include "base/util/memory.h"
#include "base/util/vector.h"
#include "kernels/smoke/tracers.h"
#include "solver/smoke/box_tree.h"
#include "solver/smoke/camera.h"
#include "solver/smoke/picture.h"
#include "solver/smoke/sources.h"
#include "tests/unit/check.h"
#include "tests/unit/output_scene.h"
#include "tests/unit/output_scratch.h"

enum { WIDTH = 320, HEIGHT = 180 };

/* --- Sources --- */

static void test_chosen_sources(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    for (int flow = 0; flow < 2; flow++) { /* from xmin, then from ymax */
        kf_smoke_sources sources;
        if (flow == 1) {
            scene->faces[KF_XMIN] = KF_FREE_SLIP;
            scene->faces[KF_YMAX] = KF_INFLOW;
            memset(scene->face_velocity, 0, sizeof scene->face_velocity);
            scene->face_velocity[KF_YMAX][1] = -inflow_speed;
        }
        kf_smoke_choose_sources(scene, &sources);
        assert_int_equal(sources.count, 3);
        double rate = 0;
        for (int e = 0; e < sources.count; e++) {
            const kf_emitter *rake = &sources.emitters[e];
            assert_int_equal(rake->shape, KF_EMITTER_RAKE);
            rate += rake->rate;
            for (int a = 0; a < 3; a++) {
                assert_true(rake->from[a] >= -0.5 && rake->from[a] <= scene->nodes[a] - 0.5);
                assert_true(rake->to[a] >= -0.5 && rake->to[a] <= scene->nodes[a] - 0.5);
            }
            if (flow == 0) assert_true(rake->from[0] < scene->solid_low[0]);
            if (flow == 1) assert_true(rake->from[1] > scene->solid_high[1]);
        }
        assert_true((double)sources.capacity > rate * scene->nodes[flow] / inflow_speed);
        assert_true((double)sources.capacity < 2 * rate * scene->nodes[flow] / inflow_speed);
    }
    free_scene(scene);
}

/* A disc of radius 2 that releases r tracers per step into a stream of speed u fills it with r / (4 pi u)
 * per cell. */
static void test_opacity_is_that_of_fresh_smoke(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_smoke_sources sources = {.count = 1, .opacity = 3, .capacity = 1000, .seed = 1};
    sources.emitters[0] = (kf_emitter){.shape = KF_EMITTER_DISC,
                                       .rate = 10,
                                       .from = {5, 5, 5},
                                       .to = {5, 5, 5},
                                       .normal = {1, 0, 0},
                                       .radius = 2};
    const double density = 10 / (4 * acos(-1) * inflow_speed);
    assert_true(fabs(kf_smoke_extinction(scene, &sources) * density * 4 - 3) < 1e-9);
    free_scene(scene);
}

/* --- Camera --- */

/* Computes the place of a point in the picture, which extends from -1 to 1. */
static void seen_at(const kf_camera *camera, const double point[3], double place[2]) {
    double from[3];
    for (int a = 0; a < 3; a++)
        from[a] = point[a] - camera->eye[a];
    const double depth = kf_dot(from, camera->ahead);
    assert_true(depth > 0);
    place[0] = kf_dot(from, camera->right) / kf_dot(camera->right, camera->right) / depth;
    place[1] = kf_dot(from, camera->above) / kf_dot(camera->above, camera->above) / depth;
}

static void check_camera(const kf_scene *scene, int up, double tallest) {
    kf_camera camera;
    kf_camera_choose(scene, 16.0 / 9.0, &KF_VIEWPOINT_USUAL, &camera);
    assert_int_equal(camera.up, up);
    assert_true(camera.light[up] > 0.5 && fabs(kf_dot(camera.light, camera.light) - 1) < 1e-9);
    assert_true(fabs(kf_dot(camera.ahead, camera.right)) < 1e-9 &&
                fabs(kf_dot(camera.ahead, camera.above)) < 1e-9);
    assert_true(fabs(camera.right[up]) < 1e-9 && camera.above[up] > 0 && camera.eye[up] > 0); /* upright */
    double most = 0;
    for (int corner = 0; corner < 8; corner++) {
        double point[3], place[2];
        for (int a = 0; a < 3; a++)
            point[a] = corner >> a & 1 ? scene->solid_high[a] : scene->solid_low[a];
        seen_at(&camera, point, place);
        assert_true(fabs(place[0]) < 1 && fabs(place[1]) < 1);
        most = fmax(most, fmax(fabs(place[0]), fabs(place[1])));
    }
    assert_true(most > tallest);
}

static void test_the_camera_looks_across_the_stream(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    check_camera(scene, 2, 0.3);
    scene->faces[KF_ZMIN] = KF_WALL;
    kf_camera camera;
    kf_camera_choose(scene, 16.0 / 9.0, &KF_VIEWPOINT_USUAL, &camera);
    assert_true(camera.has_ground && camera.ground < -0.49);
    memset(scene->face_velocity, 0, sizeof scene->face_velocity);
    scene->faces[KF_XMIN] = KF_OUTFLOW;
    scene->faces[KF_XMAX] = KF_INFLOW;
    scene->face_velocity[KF_XMAX][0] = -inflow_speed;
    check_camera(scene, 2, 0.3);
    scene->faces[KF_ZMIN] = KF_FREE_SLIP;
    scene->faces[KF_YMIN] = KF_WALL;
    check_camera(scene, 1, 0.3);
    scene->mesh.triangle_count = 0; /* no solid: the whole domain, of which the box is a part */
    check_camera(scene, 1, 0.05);
    free_scene(scene);
}

/* --- The tree of boxes --- */

/* Returns the number of triangles below a node. All of their corners lie in its box. */
static int check_node(const kf_box_tree *tree, int index, int depth) {
    const kf_box_node *node = &tree->nodes[index];
    assert_true(depth < KF_TREE_DEPTH / 2);
    for (int i = node->first; i < node->first + node->count; i++) {
        const float *t = tree->triangles + (size_t)KF_TRIANGLE_FLOATS * (size_t)i;
        for (int a = 0; a < 3; a++) {
            assert_true(t[a] >= node->low[a] && t[a] <= node->high[a]);
            assert_true(t[a] + t[3 + a] >= node->low[a] && t[a] + t[3 + a] <= node->high[a]);
            assert_true(t[a] + t[6 + a] >= node->low[a] && t[a] + t[6 + a] <= node->high[a]);
        }
    }
    if (node->count > 0) return node->count;
    for (int child = 0; child < 2; child++)
        for (int a = 0; a < 3; a++)
            assert_true(tree->nodes[node->first + child].low[a] >= node->low[a] &&
                        tree->nodes[node->first + child].high[a] <= node->high[a]);
    return check_node(tree, node->first, depth + 1) + check_node(tree, node->first + 1, depth + 1);
}

static void test_tree_of_a_ball(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_box_tree tree;
    kf_box_tree_build(&scene->mesh, &tree);
    assert_int_equal(check_node(&tree, 0, 0), scene->mesh.triangle_count);
    int round = 0;
    for (size_t i = 0; i < tree.triangle_count; i++) {
        const float *t = tree.triangles + KF_TRIANGLE_FLOATS * i;
        double radius = 0, along = 0;
        for (int a = 0; a < 3; a++) {
            const double r = (double)t[a] - ball_center[a];
            radius += r * r;
            along += r * (double)t[9 + a];
        }
        round += along / sqrt(radius) > 0.99;
    }
    assert_true(round > (int)(0.9 * (double)tree.triangle_count)); /* all but those at the poles */
    kf_box_tree_free(&tree);
    free_scene(scene);
}

static void test_edges_stay_sharp(void **state) {
    (void)state;
    double vertices[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
    uint32_t triangles[] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                            2, 3, 7, 2, 7, 6, 0, 4, 7, 0, 7, 3, 1, 2, 6, 1, 6, 5};
    const kf_mesh cube = {
        .vertex_count = 8, .triangle_count = 12, .vertices = vertices, .triangles = triangles};
    kf_box_tree tree;
    kf_box_tree_build(&cube, &tree);
    assert_int_equal(check_node(&tree, 0, 0), 12);
    for (size_t i = 0; i < 12; i++)
        for (int n = 9; n < KF_TRIANGLE_FLOATS; n++) {
            const float component = fabsf(tree.triangles[KF_TRIANGLE_FLOATS * i + (size_t)n]);
            assert_true(component < 1e-6F || fabsf(component - 1) < 1e-6F);
        }
    kf_box_tree_free(&tree);
}

/* --- Pictures --- */

typedef struct drawn {
    unsigned char *pixels; /* [HEIGHT][WIDTH][3] */
} drawn;

/* Returns a grid of tracers at nodes twice as fine as the scene's, in units of 1 / KF_TRACER_UNIT. It is
 * empty. */
static long long *empty_grid(const kf_scene *scene) {
    return kf_allocate_zeroed(8 * (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2],
                              sizeof(long long));
}

/* Puts this many tracers at every node of a box, up to its upper corner, whose coordinates are divisible
 * by spacing. */
static void fill(const kf_scene *scene, long long *values, double density, const int low[3],
                 const int high[3], int spacing) {
    const long nx = 2 * scene->nodes[0], ny = 2 * scene->nodes[1];
    for (int a = 0; a < 3; a++)
        assert_true(low[a] >= 0 && high[a] <= 2 * scene->nodes[a]);
    for (int z = low[2]; z < high[2]; z++)
        for (int y = low[1]; y < high[1]; y++)
            for (int x = low[0]; x < high[0]; x++)
                if (x % spacing == 0 && y % spacing == 0 && z % spacing == 0)
                    values[x + nx * (y + ny * z)] = (long long)(density * KF_TRACER_UNIT);
}

/* Draws the scene after that step with such smoke, where every tracer has the same paint. The extinction
 * is that of a tracer per cell. */
static drawn draw_smoke(const kf_scene *scene, const char *device, uint64_t step, const long long *values,
                        double extinction, kf_smoke_paint paint, int amount) {
    kf_error error = {0};
    kf_backend *backend;
    kf_smoke_picture *picture;
    kf_buffer *buffers[2] = {NULL, NULL};
    const size_t nodes = 8 * (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    must(kf_backend_open(device, &backend, &error), &error);
    must(kf_smoke_picture_open(backend, scene, paint, extinction, 2, (int[2]){WIDTH, HEIGHT},
                               &KF_VIEWPOINT_USUAL, &picture, &error),
         &error);
    for (int b = 0; b < (paint == KF_PAINT_NONE ? 1 : 2); b++) {
        long long *scaled = kf_allocate_zeroed(nodes, sizeof *scaled);
        for (size_t i = 0; i < nodes; i++)
            scaled[i] = values[i] * (b == 0 ? 1 : amount);
        must(kf_buffer_create(backend, nodes * sizeof *scaled, &buffers[b], &error), &error);
        must(kf_buffer_upload(buffers[b], 0, scaled, nodes * sizeof *scaled, &error), &error);
        free(scaled);
    }
    kf_solid_pose pose;
    kf_motion_pose(&scene->motion, (double)step, pose.rotation, pose.center);
    must(kf_smoke_picture_write(picture, buffers[0], buffers[1], &pose, in_scratch("smoke.png"), &error),
         &error);
    assert_int_not_equal(kf_smoke_picture_write(picture, buffers[0], buffers[1], &pose,
                                                in_scratch("no/such/folder.png"), &error),
                         KF_OK);
    for (int b = 0; b < 2; b++)
        if (buffers[b] != NULL) kf_buffer_free(buffers[b]);
    kf_smoke_picture_free(picture);
    kf_backend_close(backend);

    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, in_scratch("smoke.png")));
    assert_int_equal(image.width, WIDTH);
    assert_int_equal(image.height, HEIGHT);
    image.format = PNG_FORMAT_RGB;
    drawn result = {kf_allocate((size_t)WIDTH * HEIGHT * 3)};
    assert_true(png_image_finish_read(&image, NULL, result.pixels, 0, NULL));
    return result;
}

/* Draws with this many tracers at the nodes between two planes across y. */
static drawn draw(const kf_scene *scene, const char *device, uint64_t step, double density, int from,
                  int to) {
    long long *values = empty_grid(scene);
    const int low[3] = {0, from, 0}, high[3] = {2 * scene->nodes[0], to, 2 * scene->nodes[2]};
    fill(scene, values, density, low, high, 1);
    drawn result = draw_smoke(scene, device, step, values, 0.05, KF_PAINT_NONE, 0);
    free(values);
    return result;
}

typedef struct colour {
    int value[3]; /* red, green, blue; 0 to 255 */
} colour;

/* Returns the colour about a point: the mean of five by five pixels, because light through thick smoke is
 * noisy. */
static colour colour_at(const kf_scene *scene, const drawn *picture, const double point[3]) {
    kf_camera camera;
    double place[2];
    colour mean = {{0, 0, 0}};
    kf_camera_choose(scene, (double)WIDTH / HEIGHT, &KF_VIEWPOINT_USUAL, &camera);
    seen_at(&camera, point, place);
    const int x = (int)((place[0] + 1) / 2 * WIDTH), y = (int)((1 - place[1]) / 2 * HEIGHT);
    assert_true(x >= 2 && x < WIDTH - 2 && y >= 2 && y < HEIGHT - 2);
    for (int row = y - 2; row <= y + 2; row++)
        for (int column = x - 2; column <= x + 2; column++)
            for (int i = 0; i < 3; i++)
                mean.value[i] += picture->pixels[3 * ((size_t)row * WIDTH + (size_t)column) + (size_t)i];
    for (int i = 0; i < 3; i++)
        mean.value[i] /= 25;
    return mean;
}

static bool is_red(colour seen) {
    return seen.value[0] > 2 * seen.value[1] && seen.value[0] > 2 * seen.value[2];
}

/* No pixel of the solid's colour lies outside the solid. */
static void assert_nothing_beside(const kf_scene *scene, const drawn *picture) {
    kf_camera camera;
    double center[2], outline = 0.0, farthest = 0.0;
    int seen = 0;
    kf_camera_choose(scene, (double)WIDTH / HEIGHT, &KF_VIEWPOINT_USUAL, &camera);
    seen_at(&camera, ball_center, center);
    for (size_t v = 0; v < scene->mesh.vertex_count; v++) {
        double place[2];
        seen_at(&camera, scene->mesh.vertices + 3 * v, place);
        outline =
            fmax(outline, hypot((place[0] - center[0]) / 2 * WIDTH, (place[1] - center[1]) / 2 * HEIGHT));
    }
    for (int row = 0; row < HEIGHT; row++)
        for (int column = 0; column < WIDTH; column++) {
            colour one;
            for (size_t i = 0; i < 3; i++)
                one.value[i] = picture->pixels[3 * ((size_t)row * WIDTH + (size_t)column) + i];
            if (!is_red(one)) continue;
            seen++;
            farthest = fmax(farthest, hypot(column + 0.5 - (center[0] + 1) / 2 * WIDTH,
                                            row + 0.5 - (1 - center[1]) / 2 * HEIGHT));
        }
    assert_true(seen > 100);
    if (farthest > outline + 1) fail_msg("%g pixels from the middle instead of %g", farthest, outline);
}

/* Of the points of the ball that the camera sees well, chooses the one whose cosine between normal and
 * light is nearest to this one. */
static colour lit_by(const kf_scene *scene, const drawn *picture, double cosine) {
    kf_camera camera;
    double nearest = INFINITY, point[3] = {0, 0, 0};
    kf_camera_choose(scene, (double)WIDTH / HEIGHT, &KF_VIEWPOINT_USUAL, &camera);
    for (int i = 0; i < 2000; i++) {
        const double z = 1 - (i + 0.5) / 1000, around = 2.399963 * i, r = sqrt(1 - z * z); /* a spiral */
        const double normal[3] = {r * cos(around), r * sin(around), z};
        double towards[3], length = 0, seen = 0, lit = 0;
        for (int a = 0; a < 3; a++) {
            towards[a] = camera.eye[a] - ball_center[a] - ball_radius * normal[a];
            length += towards[a] * towards[a];
            seen += normal[a] * towards[a];
            lit += normal[a] * camera.light[a];
        }
        if (seen < 0.4 * sqrt(length) || fabs(lit - cosine) >= nearest) continue;
        nearest = fabs(lit - cosine);
        for (int a = 0; a < 3; a++)
            point[a] = ball_center[a] + ball_radius * normal[a];
    }
    assert_true(nearest < 0.1);
    return colour_at(scene, picture, point);
}

/* A surface at a grazing angle to the light is dark. */
static void test_grazing_light_is_dark(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    drawn clear = draw(scene, "cpu:2", 0, 0, 0, 0);
    const colour full = lit_by(scene, &clear, 0.85), grazed = lit_by(scene, &clear, 0.25);
    if (full.value[0] < 1.4 * grazed.value[0])
        fail_msg("red is %d where light falls and %d where it grazes", full.value[0], grazed.value[0]);
    free(clear.pixels);
    free_scene(scene);
}

static void test_what_is_seen(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    drawn clear = draw(scene, "cpu:2", 0, 0, 0, 0);
    assert_true(is_red(colour_at(scene, &clear, ball_center)));
    assert_nothing_beside(scene, &clear);
    const unsigned char *corner = clear.pixels;
    assert_true(corner[0] < 100 && abs(corner[0] - corner[2]) < 40); /* the background */

    /* Thick smoke in front of the ball (the camera looks from ymin) hides it. Smoke behind it does not. */
    drawn hidden = draw(scene, "cpu:2", 0, 200, 2, 8), shown = draw(scene, "cpu:1", 0, 1, 36, 44);
    const colour veil = colour_at(scene, &hidden, ball_center);
    assert_true(veil.value[0] > 60 && abs(veil.value[0] - veil.value[1]) < 20);
    assert_true(is_red(colour_at(scene, &shown, ball_center)));
    const double beside[3] = {ball_center[0] + 11, ball_center[1] + 7, ball_center[2]};
    assert_true(colour_at(scene, &shown, beside).value[1] > colour_at(scene, &clear, beside).value[1] + 25);

    drawn again = draw(scene, "cpu:2", 0, 1, 36, 44);
    assert_memory_equal(shown.pixels, again.pixels, (size_t)WIDTH * HEIGHT * 3);
    free(clear.pixels);
    free(hidden.pixels);
    free(shown.pixels);
    free(again.pixels);
    free_scene(scene);
}

static void test_stone_has_a_roof(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    scene->smoke.body = KF_BODY_STONE;
    drawn clear = draw(scene, "cpu:2", 0, 0, 0, 0);
    const colour lit = lit_by(scene, &clear, 0.85);
    assert_true(!is_red(lit) && lit.value[0] > lit.value[1] && lit.value[1] > lit.value[2]);
    assert_true(lit.value[0] > 100);
    /* A surface that slopes upwards counts as a roof and is redder than a wall. */
    const colour wall = lit_by(scene, &clear, 0.05);
    assert_true((double)lit.value[0] / lit.value[1] > 1.2 * wall.value[0] / wall.value[1]);
    free(clear.pixels);
    free_scene(scene);
}

/* A solid that moves keeps its place in the picture. */
static void test_camera_goes_along(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    scene->motion.moving = true;
    scene->motion.velocity[0] = -0.1;
    for (uint64_t step = 0; step <= 150; step += 150) {
        drawn clear = draw(scene, "cpu:2", step, 0, 0, 0);
        assert_true(is_red(colour_at(scene, &clear, ball_center)));
        assert_nothing_beside(scene, &clear);
        free(clear.pixels);
    }
    free_scene(scene);
}

/* A solid that has passed periodic faces is drawn inside the domain, where the smoke is. */
static void test_solid_beyond_a_seam(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_PERIODIC;
    scene->motion.moving = true;
    scene->motion.velocity[0] = 0.25 * scene->nodes[0];
    scene->motion.velocity[1] = -0.5 * scene->nodes[1];
    drawn first = draw(scene, "cpu:2", 0, 1, 36, 44), later = draw(scene, "cpu:2", 4, 1, 36, 44),
          clear = draw(scene, "cpu:2", 0, 0, 0, 0);
    assert_memory_equal(first.pixels, later.pixels, (size_t)WIDTH * HEIGHT * 3);
    assert_memory_not_equal(first.pixels, clear.pixels, (size_t)WIDTH * HEIGHT * 3);
    free(first.pixels);
    free(later.pixels);
    free(clear.pixels);
    free_scene(scene);
}

/* Smoke in the shadow of other smoke is darker, the more so the thicker the other is. */
static void test_light_falls_with_depth(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    const double place[3] = {ball_center[0] + 10, ball_center[1] - 4, ball_center[2]};
    int low[3], high[3], brightness[4];
    for (int a = 0; a < 3; a++) { /* a cube of eight cells, its upper side above the place */
        low[a] = (int)(2 * place[a]) - 8 - (a == 2 ? 6 : 0);
        high[a] = low[a] + 16;
    }
    for (int i = 0; i < 4; i++) {
        long long *values = empty_grid(scene);
        fill(scene, values, 4, low, high, 1);
        const int under[3] = {0, 0, high[2] + 8},
                  over[3] = {2 * scene->nodes[0], 2 * scene->nodes[1], high[2] + 8 + 4};
        const double above[] = {0, 0.2, 0.8, 20};
        fill(scene, values, above[i], under, over, 1);
        drawn picture = draw_smoke(scene, "cpu:2", 0, values, 0.05, KF_PAINT_NONE, 0);
        brightness[i] = colour_at(scene, &picture, place).value[1];
        free(picture.pixels);
        free(values);
    }
    for (int i = 0; i < 3; i++)
        if (brightness[i + 1] > brightness[i] - 8)
            fail_msg("under thicker smoke %d instead of %d", brightness[i + 1], brightness[i]);
    assert_true(brightness[3] > 20); /* light of the sky, and light that is scattered more than once */
    free_scene(scene);
}

/* The ball shades a bed of smoke below it. Beside its shadow the bed is as bright as without the ball. */
static void test_solid_shades_smoke(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    kf_camera camera;
    kf_camera_choose(scene, (double)WIDTH / HEIGHT, &KF_VIEWPOINT_USUAL, &camera);
    const double top = ball_center[2] - ball_radius - 1, way = (ball_center[2] - top) / camera.light[2];
    double shadow[3], beside[3];
    for (int a = 0; a < 3; a++) {
        shadow[a] = ball_center[a] - way * camera.light[a];
        beside[a] = shadow[a] + (a == 0 ? 3 * ball_radius : 0);
    }
    const int low[3] = {0, 0, 0}, high[3] = {2 * scene->nodes[0], 2 * scene->nodes[1], (int)(2 * top)};
    long long *values = empty_grid(scene);
    fill(scene, values, 60, low, high, 1);
    drawn picture = draw_smoke(scene, "cpu:2", 0, values, 0.05, KF_PAINT_NONE, 0);
    const colour dark = colour_at(scene, &picture, shadow), lit = colour_at(scene, &picture, beside);
    if (dark.value[1] > 0.7 * lit.value[1] || dark.value[1] < 20)
        fail_msg("%d in the ball's shadow, %d beside it", dark.value[1], lit.value[1]);
    free(picture.pixels);
    free(values);
    free_scene(scene);
}

/* Few tracers are not visible as grains, and they scatter as much light as if they were spread evenly. */
static void test_no_grains(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    const double place[3] = {ball_center[0] + 11, ball_center[1] + 7, ball_center[2]};
    const int low[3] = {0, 36, 0}, high[3] = {2 * scene->nodes[0], 40, 2 * scene->nodes[2]};
    long long *grains = empty_grid(scene), *even = empty_grid(scene);
    fill(scene, grains, 1, low, high, 4);      /* one layer of them */
    fill(scene, even, 1e4 / 64, low, high, 1); /* tracers of a ten-thousandth each, none of which are few */
    drawn pictures[2] = {draw_smoke(scene, "cpu:2", 0, grains, 12, KF_PAINT_NONE, 0),
                         draw_smoke(scene, "cpu:2", 0, even, 12e-4, KF_PAINT_NONE, 0)};
    const colour expected = colour_at(scene, &pictures[1], place);
    drawn clear = draw(scene, "cpu:2", 0, 0, 0, 0);
    assert_true(expected.value[1] > colour_at(scene, &clear, place).value[1] + 20);
    for (int i = -6; i <= 6; i++)
        for (int k = -6; k <= 6; k++) { /* over three times the grains' distance */
            const double near[3] = {place[0] + 0.5 * i, place[1], place[2] + 0.5 * k};
            const int seen = colour_at(scene, &pictures[0], near).value[1],
                      wanted = colour_at(scene, &pictures[1], near).value[1];
            if (abs(seen - wanted) > 6) fail_msg("%d instead of %d", seen, wanted);
        }
    free(pictures[0].pixels);
    free(pictures[1].pixels);
    free(clear.pixels);
    free(grains);
    free(even);
    free_scene(scene);
}

/* Paint gives smoke another colour. Where there is none, including its shadow on the ball, the picture
 * does not change. Half of the paint of speed is white. */
static void test_paint_colours_the_smoke_alone(void **state) {
    (void)state;
    kf_scene *scene = make_scene();
    long long *values = empty_grid(scene);
    const int middle = (int)(2 * ball_center[0]);
    const int low[3] = {middle - 16, (int)(2 * ball_center[1]) - 18,
                        (int)(2 * (ball_center[2] + ball_radius)) + 6},
              high[3] = {middle + 16, low[1] + 20, low[2] + 4};
    const double place[3] = {ball_center[0], ball_center[1] - 4, 0.5 * (low[2] + 1)};
    fill(scene, values, 6, low, high, 1);
    long long *nothing = empty_grid(scene);
    drawn clear = draw_smoke(scene, "cpu:2", 0, nothing, 0.05, KF_PAINT_NONE, 0),
          plain = draw_smoke(scene, "cpu:2", 0, values, 0.05, KF_PAINT_NONE, 0),
          half = draw_smoke(scene, "cpu:2", 0, values, 0.05, KF_PAINT_SPEED, KF_PAINT_UNIT / 2),
          slow = draw_smoke(scene, "cpu:2", 0, values, 0.05, KF_PAINT_SPEED, 0),
          fast = draw_smoke(scene, "cpu:2", 0, values, 0.05, KF_PAINT_SPEED, KF_PAINT_UNIT);
    assert_true(lit_by(scene, &clear, 0.85).value[0] > lit_by(scene, &plain, 0.85).value[0] + 8); /* shadow */
    int painted = 0;
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT * 3; i += 3) {
        int change = 0, turned = 0, tinged = 0;
        for (size_t c = 0; c < 3; c++) {
            assert_true(abs(half.pixels[i + c] - plain.pixels[i + c]) <= 1);
            change += abs(clear.pixels[i + c] - plain.pixels[i + c]);
            turned += abs(fast.pixels[i + c] - slow.pixels[i + c]);
            tinged +=
                abs(fast.pixels[i + c] - plain.pixels[i + c]) + abs(slow.pixels[i + c] - plain.pixels[i + c]);
        }
        painted += turned > 60;
        if (change == 0 && tinged > 6) fail_msg("pixel %zu has no smoke, but paint", i / 3);
    }
    assert_true(painted > 300);
    const colour warm = colour_at(scene, &fast, place), cold = colour_at(scene, &slow, place),
                 white = colour_at(scene, &plain, place);
    assert_true(warm.value[0] > warm.value[2] + 30 && cold.value[2] > cold.value[0] + 30);
    assert_true(abs(white.value[0] - white.value[2]) < 20);
    const double ball[3] = {ball_center[0], ball_center[1], ball_center[2] - 0.3 * ball_radius};
    for (int c = 0; c < 3; c++)
        assert_int_equal(colour_at(scene, &fast, ball).value[c], colour_at(scene, &plain, ball).value[c]);
    free(values);
    free(nothing);
    drawn *all[] = {&clear, &plain, &half, &slow, &fast};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]->pixels);
    free_scene(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chosen_sources),
        cmocka_unit_test(test_opacity_is_that_of_fresh_smoke),
        cmocka_unit_test(test_the_camera_looks_across_the_stream),
        cmocka_unit_test(test_tree_of_a_ball),
        cmocka_unit_test(test_edges_stay_sharp),
        cmocka_unit_test(test_what_is_seen),
        cmocka_unit_test(test_camera_goes_along),
        cmocka_unit_test(test_solid_beyond_a_seam),
        cmocka_unit_test(test_grazing_light_is_dark),
        cmocka_unit_test(test_stone_has_a_roof),
        cmocka_unit_test(test_light_falls_with_depth),
        cmocka_unit_test(test_solid_shades_smoke),
        cmocka_unit_test(test_no_grains),
        cmocka_unit_test(test_paint_colours_the_smoke_alone),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
