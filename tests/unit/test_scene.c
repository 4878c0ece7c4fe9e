/* Tests scene files: the shipped ones, units, poses, motions, grids and reduced scenes. Faults: a quantity
 * in the wrong unit, or an option that is ignored. */
#include "tests/unit/scene_files.h"
#include "tests/unit/scene_texts.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

static void assert_near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-9 * fmax(1e-3, fabs(expected))))
        fail_msg("%.12g is not %.12g", value, expected);
}

static kf_scene *open_scene(const char *name, const kf_scene_options *options) {
    kf_scene *scene = NULL;
    kf_error error = {0};
    if (kf_scene_open(name, options, &scene, &error) != KF_OK) fail_msg("%s: %s", name, error.message);
    assert_non_null(scene);
    return scene;
}

/* ---- The invariants of every scene ---- */

static void check_scene(const kf_scene *s) {
    double area = 0.0;
    for (size_t i = 0; i < s->samples.count; i++) {
        const double position[3] = {s->samples.x[i], s->samples.y[i], s->samples.z[i]};
        for (int a = 0; a < 3; a++) {
            assert_true(position[a] >= s->solid_low[a] - 1e-9 && position[a] <= s->solid_high[a] + 1e-9);
            if (s->faces[2 * a] == KF_PERIODIC) continue;
            assert_true(position[a] > 0.0 && (float)position[a] < (float)(s->nodes[a] - 1));
        }
        area += s->samples.area[i];
    }
    assert_true(fabs(area - s->solid_area) <= 1e-9 * area);
    if (s->solid_area > 0.0)
        assert_true(fabs((double)s->samples.count / s->solid_area / s->samples_per_cell - 1.0) < 0.01);
    assert_int_equal(strlen(s->hash), 64);
    assert_true(s->viscosity > 0.0 && s->reference_length > 0.0);
    assert_near(s->reynolds, s->reference_speed * s->reference_length / s->viscosity);
}

static void test_the_library_has_its_scenes(void **state) {
    (void)state;
    const char *const *names = NULL;
    kf_error error = {0};
    assert_int_equal(kf_scene_library(&names, &error), KF_OK);
    for (int n = 0; names[n] != NULL && names[n + 1] != NULL; n++)
        assert_true(strcmp(names[n], names[n + 1]) < 0);
    static const char *const flows[] = {"ahmed",      "ahmed_no_stilts",  "ball",  "cavity2d", "concave",
                                        "cylinder2d", "cylinder_array2d", "plate", "settling", "torus"};
    for (size_t n = 0; n < sizeof flows / sizeof *flows; n++) {
        bool shipped = false;
        for (int k = 0; names[k] != NULL; k++)
            shipped = shipped || strcmp(names[k], flows[n]) == 0;
        assert_true(shipped);
        kf_scene *scene = open_scene(flows[n], NULL);
        if (scene->nodes[2] == 1) { /* tests/unit/test_d2q9.c */
            assert_true((scene->mask != NULL) == (strcmp(flows[n], "cavity2d") != 0));
            kf_scene_free(scene);
            continue;
        }
        check_scene(scene);
        assert_string_equal(scene->name, flows[n]);
        assert_string_equal(scene->source, flows[n]);
        const bool settles = strcmp(flows[n], "settling") == 0;
        assert_true(settles || scene->frontal_area > 50.0);
        assert_true(scene->motion.moving == (settles || strcmp(flows[n], "torus") == 0));
        assert_true(scene->motion.free == settles);
        kf_scene_free(scene);
    }
}

/* These are the numbers of ball.json by hand: cells of 0.8 m / 96; a speed of 1 m/s is 0.05 cells per
 * step; the ball is 12 cells large. */
static void test_units_of_the_ball(void **state) {
    (void)state;
    kf_scene *s = open_scene("ball", NULL);
    assert_near(s->cell_size, 0.8 / 96);
    assert_near(s->time_step, 0.05 * (0.8 / 96) / 1.0);
    assert_near(s->reference_length, 12.0);
    assert_near(s->viscosity, 0.05 * 12.0 / 1000.0);
    assert_near(s->reynolds, 1000.0);
    assert_near(s->face_velocity[KF_XMIN][0], 0.05);
    assert_near(s->face_velocity[KF_XMAX][0], 0.0);
    assert_near(s->initial_velocity[0], 0.05);
    assert_near(s->solid_low[0], 0.25 * 120 - 0.5 - 6.0); /* 120 cells per metre; the domain begins at -0.5 */
    assert_near(s->solid_high[2], 0.2 * 120 - 0.5 + 6.0);
    assert_true(fabs(s->solid_area / (PI * pow(12.0 - 2.0 * s->surface_depth, 2)) - 1.0) < 0.002);
    assert_true(fabs(s->frontal_area / (PI * 36.0) - 1.0) < 0.01);
    assert_int_equal(kf_scene_shortest_edge(s), 12);
    double density, velocity[3];
    kf_scene_initial(s, 5, 6, 7, &density, velocity);
    assert_near(density, 1.0);
    assert_near(velocity[0], 0.05);
    kf_scene_free(s);
}

static void test_units_of_the_torus(void **state) {
    (void)state;
    kf_scene *s = open_scene("torus", NULL);
    assert_near(s->motion.angular_speed, 2.0 * 0.05 * (3.0 / 96) / 1.0); /* rad/s times the time step */
    assert_near(s->motion.center[0], 31.5);
    assert_near(s->motion.center[2], 31.5);
    assert_near(s->motion.angular_speed * 16.0, 0.05); /* the rim: half a metre, 16 cells */
    kf_scene_free(s);
}

/* The chord has 16 cells and the thickness is 0.8. The plate is turned by 30 degrees, with its leading
 * edge up. */
static void test_plate_is_slanted(void **state) {
    (void)state;
    kf_scene *s = open_scene("plate", NULL);
    assert_near(s->solid_high[0] - s->solid_low[0], 16.0 * cos(PI / 6) + 0.8 * sin(PI / 6));
    assert_near(s->solid_high[1] - s->solid_low[1], 24.0);
    assert_near(s->solid_high[2] - s->solid_low[2], 16.0 * sin(PI / 6) + 0.8 * cos(PI / 6));
    for (size_t v = 0; v < s->mesh.vertex_count; v++)
        if (s->mesh.vertices[3 * v] < s->solid_low[0] + 1.0) assert_true(s->mesh.vertices[3 * v + 2] > 24.0);
    kf_scene_free(s);
}

static void test_ahmed_stands_on_the_ground(void **state) {
    (void)state;
    kf_scene *s = open_scene("ahmed", NULL);
    assert_near(s->solid_low[2], -0.5);
    assert_near(s->solid_low[0], 1.05 / 0.0328125 - 0.5);
    assert_near(s->solid_high[2], -0.5 + 0.338 / 0.0328125);
    assert_int_equal(s->faces[KF_ZMIN], KF_WALL);
    assert_near(s->face_velocity[KF_ZMIN][0],
                s->face_velocity[KF_XMIN][0]); /* the road moves with the wind */
    assert_near(s->specular_share[KF_ZMIN], 0.5);
    assert_holds(s->notes, "lie within half a cell of the domain's faces and were left out");
    kf_scene_free(s);
}

/* ---- Scene files made here ---- */

static void test_viscosity_and_force(void **state) {
    (void)state;
    const char *file = write_text(
        "channel.scene.json",
        "{\"description\": \"moving lid\", \"domain\": {\"size\": [2, 1.6, 1.2], \"cell_size\": 0.1},"
        "\"boundaries\": {\"xmin\": \"periodic\", \"xmax\": \"periodic\", \"ymin\": \"wall\", \"ymax\": "
        "\"wall\","
        "\"zmin\": \"wall\", \"zmax\": {\"type\": \"wall\", \"velocity\": [3, 1, 0]}},"
        "\"flow\": {\"speed\": 2, \"viscosity\": 0.004, \"reference_length\": 1.6, \"lattice_speed\": 0.1,"
        "\"acceleration\": [0.5, 0, -0.25], \"initial_velocity\": [1, 0, 0.5]},"
        "\"model\": {\"collision\": \"acm_mrt\", \"rates\": \"constant\", \"high_order_rate\": 1.9}}");
    kf_scene *s = open_scene(file, NULL);
    assert_string_equal(s->name, "channel");
    assert_int_equal(s->nodes[0], 20);
    assert_int_equal(s->nodes[1], 16);
    assert_int_equal(s->nodes[2], 12);
    assert_near(s->time_step, 0.005);                /* 0.1 * 0.1 / 2 */
    assert_near(s->viscosity, 0.004 * 0.005 / 0.01); /* 0.002 */
    assert_near(s->reynolds, 2 * 1.6 / 0.004);       /* 800 */
    assert_near(s->face_velocity[KF_ZMAX][0], 0.15); /* 3 * 0.005 / 0.1 */
    assert_near(s->face_velocity[KF_ZMAX][1], 0.05);
    assert_near(s->body_force[0], 0.5 * 0.005 * 0.005 / 0.1);
    assert_near(s->body_force[2], -0.25 * 0.005 * 0.005 / 0.1);
    assert_near(s->initial_velocity[2], 0.025);
    assert_int_equal(s->rate_rule, KF_RATE_CONSTANT);
    assert_near(s->high_order_rate, 1.9);
    assert_int_equal(s->samples.count, 0);
    assert_near(s->frontal_area, 0.0);
    check_scene(s);
    kf_scene_free(s);
}

/* The lattice viscosity is that of the file on every grid, and the time step is proportional to the cell's
 * square. */
static void test_lattice_viscosity(void **state) {
    (void)state;
    static const int sizes[] = {64, 512, 8192};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const kf_scene_options options = {.nodes = {sizes[i], sizes[i], 1}};
        const double cell = 180.0 / sizes[i];
        kf_scene *s = open_scene("cylinder_array2d", &options);
        assert_near(s->viscosity, 1.0 / 6.0);
        assert_near(s->time_step, cell * cell);
        assert_near(s->reference_speed, 0.01 * cell);
        assert_near(s->body_force[0], 0.00025 * cell * cell * cell);
        kf_scene_free(s);
    }
    kf_error error = {0};
    kf_scene *s;
    const kf_scene_options coarse = {.nodes = {4, 4, 1}};
    assert_int_equal(kf_scene_open("cylinder_array2d", &coarse, &s, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "flow.lattice_viscosity: 0.166667 makes flow.speed 0.45"));
}

/* A tetrahedron of 4 x 2 x 1 is turned by 90 degrees about z and scaled to 0.6 m along x: 0.6 x 1.2 x 0.3
 * m. */
static void test_a_mesh_is_turned_and_scaled(void **state) {
    (void)state;
    write_text("mesh.obj", "v 0 0 0\nv 4 0 0\nv 0 2 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    const char *file = write_text(
        "placed.json",
        BOX(TUNNEL, FLOW ", \"solid\": {\"mesh\": \"mesh.obj\", \"length\": 0.6, \"position\": [1, 0.8, 0.6],"
                         "\"rotation\": {\"axis\": [0, 0, 2], \"degrees\": 90}}"));
    kf_scene *s = open_scene(file, NULL);
    const double low[3] = {(1 - 0.3) * 10 - 0.5, (0.8 - 0.6) * 10 - 0.5, (0.6 - 0.15) * 10 - 0.5};
    const double high[3] = {(1 + 0.3) * 10 - 0.5, (0.8 + 0.6) * 10 - 0.5, (0.6 + 0.15) * 10 - 0.5};
    for (int a = 0; a < 3; a++) {
        assert_near(s->solid_low[a], low[a]);
        assert_near(s->solid_high[a], high[a]);
    }
    assert_near(s->reference_length, 6.0);
    assert_holds(s->notes, "flow.reference_length: 0.6 m");
    check_scene(s);
    kf_scene_free(s);
    file =
        write_text("origin.json", BOX(TUNNEL, FLOW ", \"solid\": {\"mesh\": \"mesh.obj\", \"scale\": 0.1, "
                                                   "\"anchor\": \"origin\", \"position\": [1, 0.8, 0.6]}"));
    s = open_scene(file, NULL);
    assert_near(s->solid_low[0], 9.5);
    assert_near(s->solid_high[0], 13.5);
    kf_scene_free(s);
}

static void test_emitters_are_in_cells(void **state) {
    (void)state;
    kf_scene *clean = open_scene(write_text("clean.json", BOX(TUNNEL, FLOW ", " BALL)), NULL);
    assert_int_equal(clean->smoke.count, 0);
    kf_scene *s = open_scene(
        write_text(
            "smoke.json",
            SMOKE("{\"shape\": \"disc\", \"rate\": 2.5, \"center\": [0.5, 0.8, 0.6], \"radius\": 0.2, "
                  "\"normal\": [3, 0, 4]}, {\"shape\": \"rake\", \"rate\": 1, \"from\": [0.5, 0.2, 0.1], "
                  "\"to\": [0.5, 1.4, 0.1], \"nozzles\": 7, \"radius\": 0.01}")),
        NULL);
    assert_int_equal(s->smoke.count, 2);
    assert_near(s->smoke.emitters[0].from[0], 4.5);
    assert_near(s->smoke.emitters[0].radius, 2.0);
    assert_near(s->smoke.emitters[0].normal[2], 0.8);
    assert_near(s->smoke.emitters[0].rate, 2.5);
    assert_near(s->smoke.emitters[1].to[1], 13.5);
    assert_int_equal(s->smoke.emitters[1].nozzles, 7);
    assert_string_equal(s->hash, clean->hash); /* its tuned configs still apply */
    kf_scene_free(s);
    kf_scene_free(clean);
}

/* The ball has twice the fluid's density. It is 6 cells across, with 0.1 m per cell and 0.0025 s per step. */
static void test_free_ball(void **state) {
    (void)state;
    kf_scene *s = open_scene(
        write_text("free.json",
                   BOX(TUNNEL, FLOW
                       ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.3, \"position\": [1, 0.8, 0.6], "
                       "\"motion\": {\"free\": true, \"density\": 2, \"gravity\": [0, 0, -8], "
                       "\"velocity\": [1, 0, 0], \"axis\": [0, 2, 0], \"angular_velocity\": 3}}, "
                       "\"model\": {\"immersed_passes\": 3}")),
        NULL);
    const kf_motion *m = &s->motion;
    assert_true(m->moving && m->free);
    assert_int_equal(s->immersed_passes, 3);
    assert_true(fabs(m->excess_mass / (36.0 * PI) - 1.0) < 2e-3);
    assert_true(fabs(m->excess_inertia[4] / (0.4 * 36.0 * PI * 9.0) - 1.0) < 4e-3);
    assert_near(m->gravity[2], -8 * 0.0025 * 0.0025 / 0.1);
    assert_near(m->velocity[0], 0.025);
    assert_near(m->angular_speed, 0.0075);
    assert_near(m->axis[1], 1.0);
    assert_true(fabs(m->center[0] - 9.5) < 1e-9 && fabs(m->center[2] - 5.5) < 1e-9);
    kf_scene *coarse;
    kf_error error = {0};
    assert_int_equal(kf_scene_reduce(s, 2200, &coarse, &error), KF_OK);
    const double factor = coarse->reference_length / s->reference_length; /* weight over drag stays */
    assert_true(factor < 0.95);
    assert_near(coarse->motion.excess_mass, m->excess_mass * pow(factor, 3));
    assert_near(coarse->motion.gravity[2], m->gravity[2] / factor);
    assert_near(coarse->motion.excess_inertia[0], m->excess_inertia[0] * pow(factor, 5));
    kf_scene_free(coarse);
    kf_scene_free(s);
}

static void test_taylor_green(void **state) {
    (void)state;
    const char *file =
        write_text("vortex.json", "{\"domain\": {\"cells\": [16, 16, 16], \"cell_size\": 0.1}, " PERIODIC
                                  ", \"flow\": {\"speed\": 1, \"reynolds\": 1600, \"initial\": "
                                  "\"taylor_green_3d\"}}");
    kf_scene *s = open_scene(file, NULL);
    assert_near(s->reference_length, 16 / (2 * PI));
    assert_near(s->viscosity, 0.05 * 16 / (2 * PI) / 1600);
    double density, u[3], mass = 0.0, momentum = 0.0;
    kf_scene_initial(s, 4, 0, 0, &density, u); /* x = pi/2, y = z = 0 */
    assert_near(u[0], 0.05);
    assert_near(u[1], 0.0);
    assert_near(density, 1.0); /* cos 2x + cos 2y = 0 */
    kf_scene_initial(s, 0, 0, 0, &density, u);
    assert_near(density, 1.0 + 3.0 * 0.0025 / 16.0 * 2.0 * 3.0);
    for (int i = 0; i < 4096; i++) {
        kf_scene_initial(s, i % 16, i / 16 % 16, i / 256, &density, u);
        mass += density;
        momentum += u[0] + u[1];
        double ahead[3], behind[3], above[3], below[3], unused; /* divergence by central differences */
        kf_scene_initial(s, i % 16 + 1, i / 16 % 16, i / 256, &unused, ahead);
        kf_scene_initial(s, i % 16 - 1, i / 16 % 16, i / 256, &unused, behind);
        kf_scene_initial(s, i % 16, i / 16 % 16 + 1, i / 256, &unused, above);
        kf_scene_initial(s, i % 16, i / 16 % 16 - 1, i / 256, &unused, below);
        assert_true(fabs(ahead[0] - behind[0] + above[1] - below[1]) < 1e-14);
    }
    assert_near(mass, 4096.0);
    assert_true(fabs(momentum) < 1e-12);
    kf_scene_free(s);
}

static void test_pose_in_time(void **state) {
    (void)state;
    const kf_motion motion = {.moving = true,
                              .center = {1, 2, 3},
                              .axis = {0, 0, 1},
                              .angular_speed = PI / 200,
                              .velocity = {0.01, 0, -0.02}};
    double r[9], center[3];
    kf_motion_pose(&motion, 100.0, r, center); /* a quarter turn: x to y */
    static const double expected[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1};
    for (int i = 0; i < 9; i++)
        assert_true(fabs(r[i] - expected[i]) < 1e-12);
    assert_near(center[0], 2.0);
    assert_near(center[1], 2.0);
    assert_near(center[2], 1.0);
    const kf_motion odd = {.moving = true, .axis = {2.0 / 7, 3.0 / 7, 6.0 / 7}, .angular_speed = 0.1};
    kf_motion_pose(&odd, 7.0, r, center);
    for (int i = 0; i < 3; i++) { /* orthogonal, and the axis stays */
        double turned = 0.0;
        for (int j = 0; j < 3; j++) {
            double product = 0.0;
            for (int k = 0; k < 3; k++)
                product += r[3 * i + k] * r[3 * j + k];
            assert_true(fabs(product - (i == j)) < 1e-12);
            turned += r[3 * i + j] * odd.axis[j];
        }
        assert_near(turned, odd.axis[i]);
    }
    assert_near(r[0] + r[4] + r[8], 1.0 + 2.0 * cos(0.7));
    kf_motion still = motion;
    still.moving = false;
    kf_motion_pose(&still, 100.0, r, center);
    assert_near(r[0], 1.0);
    assert_near(center[0], 1.0);
}

/* ---- Bare meshes ---- */

/* Only the car shows by its shape where its front is (test_placement.c). */
static void test_bare_meshes(void **state) {
    (void)state;
    const kf_scene_options options = {.nodes = {96, 48, 48}};
    const char *path = shared_mesh("beetle.obj");
    if (path == NULL) skip();
    kf_scene *s = open_scene(path, &options);
    check_scene(s);
    assert_int_equal(s->nodes[0], 96);
    assert_true(s->frontal_area / (48.0 * 48.0) < 0.055);
    assert_near(s->reynolds, 10000.0);
    assert_near(s->reference_length, s->solid_high[0] - s->solid_low[0]);
    assert_near(s->solid_low[2], -0.5);
    assert_near(0.5 * (s->solid_low[1] + s->solid_high[1]), 23.5);
    assert_int_equal(s->faces[KF_XMIN], KF_INFLOW);
    assert_int_equal(s->faces[KF_XMAX], KF_OUTFLOW);
    assert_int_equal(s->faces[KF_ZMIN], KF_WALL);
    assert_int_equal(s->faces[KF_ZMAX], KF_FREE_SLIP);
    assert_holds(s->notes, "+y is up (guessed");
    assert_holds(s->notes, "domain: 96x48x48");
    assert_holds(s->notes, "Reynolds number 1e+04");
    assert_holds(s->notes, "samples: ");
    kf_scene_free(s);
    s = NULL;
    kf_error error;
    assert_int_equal(kf_scene_open(shared_mesh("spot.obj"), &options, &s, &error), KF_BAD_INPUT);
    assert_holds(error.message, "--wind");
}

/* 'kftune run' opens a scene with the grid that was tuned. The scene's own grid must give exactly the same
 * scene. */
static void test_own_grid_again(void **state) {
    (void)state;
    const char *files[5] = {"ball", "cylinder2d",
                            write_text("hundredths.json",
                                       "{\"domain\": {\"cells\": [108, 40, 24], \"cell_size\": 0.21}, " TUNNEL
                                       ", " FLOW ", " BALL "}"),
                            write_text("sheet.obj", "v 0 0 0\nv 0 1 0\nv 0 1 1\nv 0 0 1\nf 1 2 3 4\n"),
                            shared_mesh("beetle.obj")};
    for (int i = 0; i < 5 && files[i] != NULL; i++) {
        kf_scene *own = open_scene(files[i], NULL);
        kf_scene_options options = {.seed = 0};
        memcpy(options.nodes, own->nodes, sizeof options.nodes);
        kf_scene *again = open_scene(files[i], &options);
        if (strcmp(own->hash, again->hash) != 0)
            fail_msg("%s: cells of %.17g and %.17g", files[i], own->cell_size, again->cell_size);
        kf_scene_free(own);
        kf_scene_free(again);
    }
}

/* A domain of two dimensions needs no z. Cells, size, or both as two numbers give one scene, which is one
 * cell deep on every grid. */
static void test_flat_domains(void **state) {
    (void)state;
    static const char *const domains[] = {
        "\"cells\": [40, 20, 1], \"size\": [2, 1, 0.05]", "\"cells\": [40, 20], \"size\": [2, 1]",
        "\"cells\": [40, 20], \"cell_size\": 0.05", "\"size\": [2, 1], \"cell_size\": 0.05"};
    char hash[2][80] = {"", ""};
    for (int i = 0; i < 8; i++) {
        char text[512];
        (void)snprintf(text, sizeof text, "{\"domain\": {%s}, " PERIODIC ", " FLOW ", \"mask\": %s}",
                       domains[i / 2], "{\"shape\": \"disc\", \"center\": [1, 0.5], \"radius\": 0.2}");
        const kf_scene_options finer = {.nodes = {80, 40, 1}};
        kf_scene *scene = open_scene(write_text("flat.json", text), i % 2 == 1 ? &finer : NULL);
        assert_int_equal(scene->nodes[2], 1);
        if (i < 2) (void)snprintf(hash[i], sizeof hash[i], "%s", scene->hash);
        assert_string_equal(scene->hash, hash[i % 2]);
        assert_null(scene->notes == NULL ? NULL : strstr(scene->notes, "longer along z"));
        kf_scene_free(scene);
    }
}

static void test_options_change_grid_and_hash(void **state) {
    (void)state;
    const kf_scene_options finer = {.nodes = {144, 72, 72}, .samples_per_cell = 10, .seed = 7};
    kf_scene *s = open_scene("ball", &finer), *again = open_scene("ball", &finer),
             *plain = open_scene("ball", NULL);
    check_scene(s);
    assert_near(s->reference_length, 18.0);
    assert_near(s->samples_per_cell, 10.0);
    assert_near(s->reynolds, 1000.0);
    assert_string_equal(s->hash, again->hash);
    assert_string_not_equal(s->hash, plain->hash);
    kf_scene_free(s);
    kf_scene_free(again);
    const kf_scene_options seed = {.seed = 2};
    s = open_scene("ball", &seed);
    assert_string_not_equal(s->hash, plain->hash);
    kf_scene_free(s);
    kf_scene_free(plain);
    /* With other proportions room is added, half on either side between faces of one kind. The cells stay
     * cubes. */
    const kf_scene_options wide = {.nodes = {96, 64, 48}};
    s = open_scene("ball", &wide);
    assert_near(s->cell_size, 0.8 / 96);
    assert_near(s->solid_low[1], 31.5 - 6.0);
    assert_near(s->solid_low[2], 23.5 - 6.0);
    assert_holds(s->notes, "longer along y");
    kf_scene_free(s);
    const kf_scene_options limit = {.node_limit = 30000};
    s = open_scene("torus", &limit);
    assert_true((long)s->nodes[0] * s->nodes[1] * s->nodes[2] <= 30000);
    check_scene(s);
    kf_scene_free(s);
}

static void test_a_reduced_scene_fits_its_limit(void **state) {
    (void)state;
    static const char *const names[] = {"ahmed", "torus", "plate"};
    static const long limits[] = {100000, 20000, 4000};
    kf_error error = {0};
    for (int n = 0; n < 3; n++) {
        kf_scene *s = open_scene(names[n], NULL), *copy = NULL;
        for (int l = 0; l < 3; l++) {
            kf_scene *r = NULL;
            if (kf_scene_reduce(s, limits[l], &r, &error) != KF_OK)
                fail_msg("%s: %s", names[n], error.message);
            const long nodes = (long)r->nodes[0] * r->nodes[1] * r->nodes[2];
            assert_true(nodes <= limits[l] && nodes > limits[l] / 2);
            for (int a = 0; a < 3; a++)
                assert_true(r->nodes[a] >= 12);
            check_scene(r);
            assert_near(r->reynolds, s->reynolds);
            assert_near(r->reference_speed, s->reference_speed);
            assert_near(r->face_velocity[KF_XMIN][0], s->face_velocity[KF_XMIN][0]);
            assert_near(r->motion.angular_speed * r->reference_length,
                        s->motion.angular_speed * s->reference_length);
            assert_near(r->time_step * r->reference_speed / r->cell_size,
                        s->time_step * s->reference_speed / s->cell_size);
            assert_true(fabs(r->samples.area[0] * r->samples_per_cell - 1.0) < 0.01);
            assert_string_not_equal(r->hash, s->hash);
            kf_scene_free(r);
        }
        assert_int_equal(kf_scene_reduce(s, 1L << 40, &copy, &error), KF_OK);
        assert_string_equal(copy->hash, s->hash); /* nothing to reduce: the same scene */
        kf_scene_free(copy);
        assert_int_equal(kf_scene_reduce(s, 100, &copy, &error), KF_BAD_INPUT);
        assert_null(copy);
        kf_scene_free(s);
    }
}

/* A file that a config or a store remembers is found from any folder. */
static void test_source_of_a_file(void **state) {
    (void)state;
    const char *file = write_text("sheet.obj", "v 0 0 0\nv 0 1 0\nv 0 1 1\nv 0 0 1\nf 1 2 3 4\n");
    char relative[600], absolute[KF_PATH], here[KF_PATH];
    assert_non_null(getcwd(here, sizeof here));
    setenv("KFTUNE_DATA", realpath(getenv("KFTUNE_DATA"), absolute), 1);
    assert_int_equal(chdir(test_folder), 0);
    (void)snprintf(relative, sizeof relative, "../%s/sheet.obj", strrchr(test_folder, '/') + 1);
    kf_scene *s = open_scene(relative, NULL);
    assert_string_equal(s->source, realpath(file, absolute));
    kf_scene_free(s);
    assert_int_equal(chdir(here), 0);
}

static void test_sheet_across_the_wind(void **state) {
    (void)state;
    kf_scene *s =
        open_scene(write_text("sheet.obj", "v 0 0 0\nv 0 1 0\nv 0 1 1\nv 0 0 1\nf 1 2 3 4\n"), NULL);
    check_scene(s);
    assert_near(s->reference_length, s->solid_high[1] - s->solid_low[1]);
    assert_near(s->solid_area, s->reference_length * s->reference_length);
    assert_int_equal(kf_scene_shortest_edge(s), 1);
    assert_int_equal(s->open_edges, 4); /* its sides, not its diagonal */
    kf_scene_free(s);
    s = open_scene("ahmed", NULL);
    assert_int_equal(s->open_edges, 0);
    kf_scene_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_library_has_its_scenes),
        cmocka_unit_test(test_units_of_the_ball),
        cmocka_unit_test(test_units_of_the_torus),
        cmocka_unit_test(test_plate_is_slanted),
        cmocka_unit_test(test_ahmed_stands_on_the_ground),
        cmocka_unit_test(test_viscosity_and_force),
        cmocka_unit_test(test_lattice_viscosity),
        cmocka_unit_test(test_a_mesh_is_turned_and_scaled),
        cmocka_unit_test(test_emitters_are_in_cells),
        cmocka_unit_test(test_taylor_green),
        cmocka_unit_test(test_pose_in_time),
        cmocka_unit_test(test_free_ball),
        cmocka_unit_test(test_bare_meshes),
        cmocka_unit_test(test_own_grid_again),
        cmocka_unit_test(test_flat_domains),
        cmocka_unit_test(test_options_change_grid_and_hash),
        cmocka_unit_test(test_a_reduced_scene_fits_its_limit),
        cmocka_unit_test(test_source_of_a_file),
        cmocka_unit_test(test_sheet_across_the_wind),
    };
    return cmocka_run_group_tests_name("scene", tests, make_test_folder, remove_test_folder);
}
