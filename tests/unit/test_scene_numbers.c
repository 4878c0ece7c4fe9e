/* Tests what sections and options of a scene become, by hand: model, sampling, pose, masks, other grids
 * and time steps, outflows, directions of drag and lift. Faults: a wrong number of one option. */
#include "base/util/memory.h"
#include "solver/flow/flow_problem.h"
#include "solver/incompressible/incompressible_model.h"
#include "tests/unit/near.h"
#include "tests/unit/scene_files.h"
#include "tests/unit/scene_texts.h"

#include <math.h>
#include <png.h>

static const double PI = 3.14159265358979323846;

static void refused(const char *text, const char *why) {
    kf_scene *scene = NULL;
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_scene_open(write_text("scene.json", text), NULL, &scene, &error), KF_BAD_INPUT);
    assert_holds(error.message, why);
}

/* Cells are 0.1 m. 2 m/s is 0.05 cells per step of 2.5 ms. */
static void models_and_what_is_not_said(void **state) {
    (void)state;
    kf_scene *s = open_scene_text(
        "{\"domain\": {\"cells\": [20, 16, 12], \"cell_size\": 0.1}, " FLOW ", " BALL "}", NULL);
    static const kf_boundary faces[6] = {KF_INFLOW,    KF_OUTFLOW,   KF_FREE_SLIP,
                                         KF_FREE_SLIP, KF_FREE_SLIP, KF_FREE_SLIP};
    for (int f = 0; f < 6; f++)
        assert_int_equal(s->faces[f], faces[f]);
    assert_int_equal(s->collision, KF_ACM_MRT);
    assert_int_equal(s->rate_rule, KF_RATE_ADAPTIVE_2020);
    near(s->accuracy, KF_DEFAULT_ACCURACY);
    near(s->samples_per_cell, 25);
    near(s->reference_speed, 0.05);
    near(s->time_step, 0.0025);
    assert_true(s->seed == 1 && s->immersed_passes == 1 && !s->motion.moving && s->mask == NULL);
    near(kf_scene_flow_through(s), 20 / 0.05);
    s->initial_velocity[0] = 0.01, s->initial_velocity[1] = -0.04;
    near(kf_scene_flow_through(s), 16 / 0.04);
    s->initial = KF_INITIAL_TAYLOR_GREEN_3D;
    near(kf_scene_flow_through(s), 0);
    /* The flow begins at rest and enters at a node of the mask with a velocity. With a pressure no stream
     * is known. */
    s->initial = KF_INITIAL_UNIFORM;
    s->initial_velocity[0] = s->initial_velocity[1] = 0;
    near(kf_scene_flow_through(s), 0);
    s->mask = kf_allocate_zeroed((size_t)20 * 16 * 12, 1);
    s->mask_velocity[0] = 0.02, s->mask_velocity[1] = 0.01;
    near(kf_scene_flow_through(s), 0);
    s->mask[33] = KF_NODE_INFLOW;
    near(kf_scene_flow_through(s), 20 / 0.02);
    s->mask_has_pressure = true;
    near(kf_scene_flow_through(s), 0);
    kf_scene_free(s);

    s = open_scene_text(BOX(TUNNEL, FLOW ", " BALL ", \"model\": {\"collision\": \"rm_mrt\"}, \"sampling\": "
                                         "{\"samples_per_cell\": 9, \"seed\": 4}"),
                        NULL);
    assert_int_equal(s->collision, KF_RM_MRT);
    assert_int_equal(s->rate_rule, KF_RATE_CONSTANT);
    near(s->high_order_rate, 1.4);
    near(s->samples_per_cell, 9);
    assert_true(s->seed == 4);
    kf_scene_free(s);
    s = open_scene_text(
        BOX(TUNNEL, FLOW ", " BALL ", \"model\": {\"accuracy\": 0.03, \"immersed_passes\": 10}"), NULL);
    near(s->accuracy, 0.03);
    assert_int_equal(s->immersed_passes, 10);
    kf_problem *problem = kf_flow_problem(NULL, s, true);
    const kf_facts *f = &problem->facts;
    assert_true(kf_facts_value(f, "size_x") == 20 && kf_facts_value(f, "size_z") == 12);
    assert_true(kf_facts_value(f, "node_count") == 20 * 16 * 12);
    assert_true(kf_facts_value(f, "sample_count") == (double)s->samples.count);
    near(kf_facts_value(f, "reynolds"), 100);
    near(kf_facts_value(f, "viscosity"), 0.05 * 6 / 100);
    near(kf_facts_value(f, "cell_size"), 0.1);
    near(kf_facts_value(f, "time_step"), 0.0025);
    near(kf_facts_value(f, "accuracy"), 0.03);
    kf_problem_free(problem);
}

/* A domain has two of cells, size and cell size. Cells are cubes up to 0.2 %. */
static void domains_from_two_of_three(void **state) {
    (void)state;
#define DOMAIN(domain) "{\"domain\": {" domain "}, " FLOW ", " BALL "}"
    kf_scene *s = open_scene_text(DOMAIN("\"cells\": [40, 32, 24], \"size\": [2, 1.6, 1.2]"), NULL);
    near(s->cell_size, 0.05);
    kf_scene_free(s);
    s = open_scene_text(DOMAIN("\"size\": [2, 1.6, 1.2], \"cell_size\": 0.08"), NULL);
    assert_true(s->nodes[0] == 25 && s->nodes[1] == 20 && s->nodes[2] == 15);
    kf_scene_free(s);
    s = open_scene_text(DOMAIN("\"cells\": [40, 32, 24], \"size\": [2, 1.603, 1.2]"), NULL);
    kf_scene_free(s);
    refused(DOMAIN("\"cells\": [40, 32, 24], \"size\": [2, 1.61, 1.2]"), "along y");
    /* Another grid is longer along z, half on either side between faces of one kind. */
    const kf_scene_options wide = {.nodes = {20, 16, 18}};
    s = open_scene_text(
        BOX(TUNNEL,
            FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.3, \"position\": [1, 0.8, 0.6], "
                 "\"motion\": {\"center\": [1, 0.8, 0.7], \"axis\": [0, 0, 3], "
                 "\"angular_velocity\": 2}}, \"smoke\": {\"emitters\": [{\"shape\": \"rake\", \"rate\": "
                 "1, \"from\": [0.5, 0.2, 0.1], \"to\": [0.5, 1.4, 0.2], \"nozzles\": 7, \"radius\": "
                 "0.01}]}"),
        &wide);
    near(s->cell_size, 0.1);
    near_vector(s->motion.center, 9.5, 7.5, 6.5 + 3);
    near_vector(s->motion.axis, 0, 0, 1);
    near(s->motion.angular_speed, 2 * 0.0025);
    near(s->solid_low[2], 5.5 + 3 - 3);
    near_vector(s->smoke.emitters[0].from, 4.5, 1.5, 0.5 + 3);
    near_vector(s->smoke.emitters[0].to, 4.5, 13.5, 1.5 + 3);
    kf_scene_free(s);
    const kf_scene_options longer = {.nodes = {30, 16, 12}};
    s = open_scene_text(BOX(TUNNEL, FLOW ", " BALL), &longer); /* from inflow to outflow: at the far end */
    near(0.5 * (s->solid_low[0] + s->solid_high[0]), 9.5);
    near(0.5 * (s->solid_low[1] + s->solid_high[1]), 7.5);
    kf_scene_free(s);
    const kf_scene_options finer = {.nodes = {40, 32, 24}};
    s = open_scene_text(BOX(TUNNEL, FLOW ", " BALL), &finer);
    near(s->cell_size, 0.05);
    near(0.5 * (s->solid_low[0] + s->solid_high[0]), 19.5);
    near(s->solid_high[2] - s->solid_low[2], 12);
    near(s->time_step, 0.05 * 0.05 / 2);
    kf_scene_free(s);
}

/* Rotations are applied one after the other: x to y, then y to z. */
static void rotations_are_applied_in_turn(void **state) {
    (void)state;
    kf_scene *s = open_scene_text(
        BOX(TUNNEL,
            FLOW ", \"solid\": {\"shape\": \"plate\", \"chord\": 0.8, \"width\": 0.4, \"thickness\": 0.2, "
                 "\"position\": [1, 0.8, 0.2], \"anchor\": \"bottom\", \"rotation\": [{\"axis\": [0, 0, 1], "
                 "\"degrees\": 90}, {\"axis\": [2, 0, 0], \"degrees\": 90}]}"),
        NULL);
    near_vector(s->solid_low, 9.5 - 2, 7.5 - 1, 1.5);
    near_vector(s->solid_high, 9.5 + 2, 7.5 + 1, 1.5 + 8);
    near(s->reference_length, 4); /* along the inflow */
    assert_true(fabs(s->frontal_area / (2 * 8) - 1) < 0.06);
    assert_int_equal(kf_scene_shortest_edge(s), 2);
    kf_scene_free(s);
}

/* The limits are speeds of 0.3 cells per step and distances of half a cell. */
static void limits_of_speed_and_distance(void **state) {
    (void)state;
#define TURNING(speed, z)                                                                                    \
    BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.3, \"position\": [1, 0.8, " z "], "   \
                     "\"motion\": {\"axis\": [0, 1, 0], \"angular_velocity\": " speed "}}")
    /* The rim of 3 cells moves 0.3 cells per step: 0.1 rad in 2.5 ms. */
    kf_scene_free(open_scene_text(TURNING("39.9", "0.6"), NULL));
    refused(TURNING("40.2", "0.6"), "the surface moves at");
    kf_scene_free(open_scene_text(TURNING("1", "0.351"), NULL));
    refused(TURNING("1", "0.348"), "turning, the solid reaches");
    kf_scene_free(open_scene_text(TURNING("1", "0.849"), NULL));
    refused(TURNING("1", "0.852"), "turning, the solid reaches");
#define LIMITED(flow, more)                                                                                  \
    "{\"domain\": {\"cells\": [20, 16, 12], \"cell_size\": 0.1}, \"flow\": {\"speed\": 2, " flow             \
    "}, " more BALL "}"
    kf_scene_free(open_scene_text(LIMITED("\"reynolds\": 100, \"lattice_speed\": 0.3", ""), NULL));
    refused(LIMITED("\"reynolds\": 100, \"lattice_speed\": 0.301", ""), "flow.lattice_speed");
    kf_scene_free(open_scene_text(LIMITED("\"reynolds\": 100, \"initial_velocity\": [0, 8, 8]", ""), NULL));
    refused(LIMITED("\"reynolds\": 100, \"initial_velocity\": [0, 9, 9]", ""), "flow.initial_velocity");
    kf_scene_free(open_scene_text(LIMITED("\"reynolds\": 0.16", ""), NULL)); /* viscosity 1.9 */
    refused(LIMITED("\"reynolds\": 0.14", ""), "above 2");
    /* Three cells between faces are enough. */
    kf_scene_free(
        open_scene_text("{\"domain\": {\"cells\": [20, 3, 12], \"cell_size\": 0.1}, \"flow\": {\"speed\": 2, "
                        "\"reynolds\": 100, \"reference_length\": 0.5}}",
                        NULL));
    refused(LIMITED("\"reynolds\": 4e6", ""), "below 1e-07");
    kf_scene_free(open_scene_text(LIMITED("\"reynolds\": 2e6", ""), NULL));
}

/* The section of the incompressible solver has its own names, and longer steps that scale everything with
 * a time. */
static void longer_steps(void **state) {
    (void)state;
    static const kf_scene_section *const sections[] = {&kf_incompressible_section, NULL};
    const kf_scene_options with_section = {.sections = sections};
    kf_scene *s = open_scene_text(
        BOX(TUNNEL, FLOW ", " BALL ", \"incompressible\": {\"trace\": \"euler\", \"viscous_term\": "
                         "\"implicit\", \"tolerance\": 1e-6, \"limiter\": true, \"steps\": 4}"),
        &with_section);
    assert_int_equal(kf_incompressible_model_of(s)->trace, KF_TRACE_EULER);
    assert_int_equal(kf_incompressible_model_of(s)->viscous_term, KF_VISCOUS_IMPLICIT);
    near(kf_incompressible_model_of(s)->tolerance, 1e-6);
    near(kf_incompressible_model_of(s)->steps, 4);
    assert_false(kf_incompressible_model_of(s)->unlimited);
    kf_scene_free(s);
    s = open_scene_text(BOX(TUNNEL, FLOW ", " BALL), NULL);
    assert_int_equal(kf_incompressible_model_of(s)->trace, KF_TRACE_MIDPOINT);
    assert_int_equal(kf_incompressible_model_of(s)->viscous_term, KF_VISCOUS_AUTOMATIC);
    assert_true(kf_incompressible_model_of(s)->steps == 0 && kf_incompressible_model_of(s)->tolerance == 0 &&
                !kf_incompressible_model_of(s)->unlimited);
    for (int a = 0; a < 3; a++) {
        s->body_force[a] = 1e-3 * (a + 1);
        s->motion.velocity[a] = 0.01 * (a + 1);
        s->motion.gravity[a] = 2e-3 * (a + 1);
        s->mask_velocity[a] = 0.02 * (a + 1);
        s->face_velocity[KF_ZMAX][a] = 0.03 * (a + 1);
    }
    s->motion.angular_speed = 0.1;
    s->smoke.count = 1;
    s->smoke.emitters[0].rate = 2;
    const double viscosity = s->viscosity;
    kf_scene_stretch_time(s, 3);
    near(s->time_step, 0.0075);
    near(s->reference_speed, 0.15);
    near(s->viscosity, 3 * viscosity);
    near(s->motion.angular_speed, 0.3);
    near_vector(s->body_force, 9e-3, 18e-3, 27e-3);
    near_vector(s->motion.velocity, 0.03, 0.06, 0.09);
    near_vector(s->motion.gravity, 18e-3, 36e-3, 54e-3);
    near_vector(s->mask_velocity, 0.06, 0.12, 0.18);
    near_vector(s->face_velocity[KF_ZMAX], 0.09, 0.18, 0.27);
    near_vector(s->face_velocity[KF_XMIN], 0.15, 0, 0);
    near_vector(s->initial_velocity, 0.15, 0, 0);
    near(s->smoke.emitters[0].rate, 6);
    kf_scene_free(s);
}

/* The stream flows out through each face at this rate. Where no stream leads out, the inflow is spread
 * over the outflows. */
static void rates_of_outflows(void **state) {
    (void)state;
    kf_scene s = {.nodes = {20, 10, 5}};
    for (int f = 0; f < KF_FACES; f++)
        s.faces[f] = KF_OUTFLOW;
    s.faces[KF_XMIN] = KF_INFLOW;
    s.face_velocity[KF_XMIN][0] = 0.08;
    s.face_velocity[KF_XMIN][1] = -0.02;
    near(kf_scene_outflow_speed(&s, KF_XMAX), 0.08);
    near(kf_scene_outflow_speed(&s, KF_YMIN), 0.02);
    near(kf_scene_outflow_speed(&s, KF_YMAX), 0);
    near(kf_scene_outflow_speed(&s, KF_ZMIN), 0);
    near(kf_scene_outflow_pull(&s, KF_XMAX), 0.27 / sqrt(3) / 20);
    near(kf_scene_outflow_pull(&s, KF_YMIN), 0.27 / sqrt(3) / 10);
    near(kf_scene_outflow_pull(&s, KF_ZMAX), 0.27 / sqrt(3) / 5);
    /* The fluid enters at xmin and leaves only at both faces across z: 50 nodes at 0.08 through 2 x 200. */
    s.face_velocity[KF_XMIN][1] = 0;
    s.faces[KF_XMAX] = s.faces[KF_YMIN] = s.faces[KF_YMAX] = KF_WALL;
    near(kf_scene_outflow_speed(&s, KF_ZMAX), 0.08 * 50 / 400);
    near(kf_scene_outflow_speed(&s, KF_ZMIN), 0.08 * 50 / 400);
    /* Without an inflow the stream at the start counts. */
    s.faces[KF_XMIN] = KF_WALL;
    s.initial_velocity[2] = -0.03;
    near(kf_scene_outflow_speed(&s, KF_ZMIN), 0.03);
    near(kf_scene_outflow_speed(&s, KF_ZMAX), 0);
    s.initial_velocity[2] = 0;
    near(kf_scene_outflow_speed(&s, KF_ZMIN), 0);
}

#define FLAT_FACES                                                                                           \
    "\"boundaries\": {\"xmin\": \"wall\", \"xmax\": \"wall\", \"ymin\": \"wall\", \"ymax\": \"wall\", "      \
    "\"zmin\": \"periodic\", \"zmax\": \"periodic\"}"

/* Pixels of pictures have kinds by their colours, however pale. On coarser grids a cell that is half solid
 * is solid, and openings stay open. Discs cover the nodes whose centres they contain. */
static void masks_from_pictures_and_discs(void **state) {
    (void)state;
    unsigned char pixels[12][16][3];
    memset(pixels, 255, sizeof pixels);
    for (int x = 0; x < 16; x++)
        memset(pixels[11][x], 127, 3); /* dark enough; at ymin */
    memset(pixels[0][7], 128, 3);      /* not */
    const unsigned char green[3] = {60, 200, 130}, red[3] = {200, 100, 120};
    for (int y = 2; y < 10; y++) {
        memcpy(pixels[y][0], green, 3);
        memcpy(pixels[y][15], red, 3);
    }
    png_image image = {.version = PNG_IMAGE_VERSION, .width = 16, .height = 12, .format = PNG_FORMAT_RGB};
    assert_int_equal(png_image_write_to_file(&image, test_path("channel.png"), 0, pixels, 0, NULL), 1);
#define MASKED(mask)                                                                                         \
    "{\"domain\": {\"cells\": [16, 12, 1], \"cell_size\": 0.1}, " FLAT_FACES ", \"flow\": {\"speed\": 2, "   \
    "\"reynolds\": 100, \"reference_length\": 0.5}, \"model\": {\"collision\": \"mrt\"}, \"mask\": {" mask   \
    "}}"
    kf_scene *s = open_scene_text(MASKED("\"file\": \"channel.png\", \"pressure\": 8"), NULL);
    for (int y = 0; y < 12; y++)
        for (int x = 0; x < 16; x++) {
            const int row = 11 - y; /* of the picture */
            const int kind = row == 11                         ? KF_NODE_SOLID
                             : row >= 2 && row < 10 && x == 0  ? KF_NODE_INFLOW
                             : row >= 2 && row < 10 && x == 15 ? KF_NODE_OUTFLOW
                                                               : KF_NODE_FLUID;
            assert_int_equal(s->mask[16 * y + x], kind);
        }
    near_vector(s->solid_low, -0.5, -0.5, 0);
    near_vector(s->solid_high, 15.5, 0.5, 0);
    assert_true(s->mask_has_pressure);
    near(s->mask_density, 3 * 8 * pow(0.0025 / 0.1, 2));
    near(s->mask_velocity[0], 0.05);
    const int half[3] = {8, 6, 1};
    kf_mask_coarsen(s, half);
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 8; x++) {
            const int kind = x == 0 && y >= 1 && y <= 4   ? KF_NODE_INFLOW
                             : x == 7 && y >= 1 && y <= 4 ? KF_NODE_OUTFLOW
                             : y == 0                     ? KF_NODE_SOLID
                                                          : KF_NODE_FLUID;
            assert_int_equal(s->mask[8 * y + x], kind);
        }
    near(s->solid_high[1], 0.5);
    kf_scene_free(s);
    s = open_scene_text(MASKED("\"file\": \"channel.png\", \"velocity\": [1, -0.5, 0]"), NULL);
    near_vector(s->mask_velocity, 0.025, -0.0125, 0);
    assert_false(s->mask_has_pressure);
    kf_scene_free(s);
    refused(MASKED("\"file\": \"channel.png\", \"velocity\": [1, 0, 0], \"pressure\": 1"), "not both");
    refused(MASKED("\"file\": \"channel.png\", \"pressure\": 200"), "at most 0.3");

    s = open_scene_text(MASKED("\"shape\": \"disc\", \"center\": [0.8, 0.6], \"radius\": 0.31"), NULL);
    int solid = 0;
    for (int n = 0; n < 16 * 12; n++) {
        const int row = n / 16;
        const double dx = n % 16 + 0.5 - 8, dy = row + 0.5 - 6;
        const int inside = dx * dx + dy * dy < 3.1 * 3.1;
        assert_int_equal(s->mask[n], inside ? KF_NODE_SOLID : KF_NODE_FLUID);
        solid += inside;
    }
    assert_int_equal(solid, 32);
    near_vector(s->solid_low, 4.5, 2.5, 0);
    kf_scene_free(s);
    s = open_scene_text(
        MASKED("\"shape\": \"disc_array\", \"center\": [0.4, 0.2], \"radius\": 0.11, \"spacing\": 0.8"),
        NULL);
    for (int n = 0; n < 16 * 12; n++) {
        /* There are four nodes about (4, 2) of every 8 x 8. */
        const int x = n % 16 % 8, y = n / 16 % 8;
        assert_int_equal(s->mask[n] == KF_NODE_SOLID, (x == 3 || x == 4) && (y == 1 || y == 2));
    }
    kf_scene_free(s);

    /* In a picture without sizes a pixel is a millimetre. There are walls, and the picture itself says
     * where fluid enters. */
    kf_error error = {KF_OK, ""};
    assert_int_equal(kf_scene_open(test_path("channel.png"), NULL, &s, &error), KF_OK);
    near(s->cell_size, 0.001);
    near(s->reference_length, 3);
    near(s->reynolds, 100);
    assert_int_equal(s->faces[KF_YMIN], KF_WALL);
    assert_int_equal(s->faces[KF_XMIN], KF_WALL);
    assert_int_equal(s->faces[KF_ZMIN], KF_PERIODIC);
    near(s->time_step, 0.05 * 0.001 / 1);
    kf_scene_free(s);
}

/* On a reduced grid the outermost nodes stay outermost between faces, and periods stay periods. */
static void reduced_grids(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *r = NULL, *s = open_scene_text(
                            "{\"domain\": {\"cells\": [48, 24, 24], \"cell_size\": 0.1}, \"boundaries\": "
                            "{\"xmin\": \"inflow\", \"xmax\": "
                            "\"outflow\", \"ymin\": \"periodic\", \"ymax\": \"periodic\", \"zmin\": "
                            "\"wall\", \"zmax\": \"wall\"}, \"flow\": "
                            "{\"speed\": 2, \"reynolds\": 100, \"acceleration\": [1, 0, 0]}, \"solid\": "
                            "{\"shape\": \"ball\", \"radius\": "
                            "0.4, \"position\": [1.6, 1, 1.5], \"motion\": {\"velocity\": [0, 0.5, 0]}}}",
                            NULL);
    assert_int_equal(kf_scene_reduce(s, 24 * 12 * 12, &r, &error), KF_OK);
    assert_true(r->nodes[0] == 24 && r->nodes[1] == 12 && r->nodes[2] == 12);
    const double factor = 11.0 / 23; /* the least of 23 / 47, 1 / 2, 11 / 23 */
    near(r->cell_size, 0.1 / factor);
    near(r->time_step, 0.0025 / factor);
    near(r->viscosity, s->viscosity * factor);
    near(r->body_force[0], s->body_force[0] / factor);
    near(r->reference_length, s->reference_length * factor);
    near(r->motion.velocity[1], s->motion.velocity[1]);
    near_vector(r->motion.center, 15.5 * 23 / 47, 10 * 0.5 - 0.5, 14.5 * 11 / 23);
    for (int a = 0; a < 3; a++) {
        near(r->solid_high[a] - r->solid_low[a], 8 * factor);
        near(0.5 * (r->solid_high[a] + r->solid_low[a]), r->motion.center[a]);
    }
    near(r->reynolds, 100);
    kf_scene_free(r);
    kf_scene_free(s);
}

/* A rotation about each axis follows the right-hand rule. */
static void rotations_follow_the_right_hand(void **state) {
    (void)state;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        double axis[3] = {0}, r[9];
        axis[a] = 1;
        kf_rotation(axis, 0.3, r);
        near(r[4 * a], 1);
        near(r[4 * b], cos(0.3));
        near(r[4 * c], cos(0.3));
        near(r[3 * c + b], sin(0.3)); /* b goes to c */
        near(r[3 * b + c], -sin(0.3));
        near(r[3 * a + b] * r[3 * b + a], 0);
    }
    const double skew[3] = {1 / sqrt(3), 1 / sqrt(3), 1 / sqrt(3)};
    double r[9];
    kf_rotation(skew, 2 * PI / 3, r); /* x to y to z to x */
    for (int i = 0; i < 9; i++)
        assert_true(fabs(r[i] - (i == 3 || i == 7 || i == 2)) < 1e-12);
}

/* --- Names ---------------------------------------------------------------------------------------------- */

static void assert_named(const char *path, const char *wanted) {
    char name[128];
    kf_scene_name(path, name);
    assert_string_equal(name, wanted);
}
/* Makes the name of a path of `count` letters a and one more letter. */
static void name_of_letters(size_t count, char last, char name[128]) {
    char path[256];
    memset(path, 'a', count);
    path[count] = last;
    kf_copy_text(path + count + 1, sizeof path - count - 1, ".json");
    kf_scene_name(path, name);
}
static void names_of_paths(void **state) {
    (void)state;
    char one[128], other[128];
    assert_named("a/b.c/wall.JSON", "wall");
    assert_named("car.scene.json", "car");
    assert_named("car.v2.obj", "car.v2");
    assert_named(".json", ".json");
    assert_named("a/.hidden.Png", ".hidden");
    name_of_letters(126, 'x', one); /* the longest that is kept whole */
    assert_true(strlen(one) == 127 && one[125] == 'a' && one[126] == 'x');
    name_of_letters(127, 'x', one);
    name_of_letters(127, 'y', other);
    assert_true(strlen(one) == 127 && strlen(other) == 127 && strcmp(one, other) != 0);
    assert_true(one[118] == '-' && one[117] == 'a');

    kf_scene *scene = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_scene_open(write_text("wall.JSON", BOX(TUNNEL, FLOW ", " BALL)), NULL, &scene, &error) != KF_OK)
        fail_msg("%s", error.message);
    assert_string_equal(scene->name, "wall");
    kf_scene_free(scene);
}

/* A ball reaches beyond the outermost nodes on all six sides. On each side samples end a thousandth of a
 * cell within the outermost nodes, as interpolation reads two nodes along each axis. Each side keeps
 * equally many. */
static void samples_end_at_each_face(void **state) {
    (void)state;
    static const double MARGIN = 1e-3, LAST = 11.0;
    kf_scene *s =
        open_scene_text("{\"domain\": {\"cells\": [12, 12, 12], \"cell_size\": 0.1}, " FLOW
                        ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.6, \"position\": [0.6, 0.6, "
                        "0.6]}, \"sampling\": {\"samples_per_cell\": 200}}",
                        NULL);
    const double *const along[3] = {s->samples.x, s->samples.y, s->samples.z};
    for (int a = 0; a < 3; a++) {
        double low = LAST, high = 0.0;
        for (size_t i = 0; i < s->samples.count; i++) {
            low = fmin(low, along[a][i]);
            high = fmax(high, along[a][i]);
        }
        if (!(low >= MARGIN && low < 4.0 * MARGIN && high <= LAST - MARGIN && high > LAST - 4.0 * MARGIN))
            fail_msg("along %d samples go from %.5f to %.5f", a, low, high);
    }
    kf_scene_free(s);
}

/* Each value of a solid's motion changes the scene's hash. */
static void motions_have_hashes(void **state) {
    (void)state;
#define MOVING(motion)                                                                                       \
    BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.3, \"position\": [1, 0.8, 0.6], "     \
                     "\"motion\": {" motion "}}, \"sampling\": {\"samples_per_cell\": 1}")
#define FREE "\"free\": true, \"density\": 2, \"gravity\": [0, 0, -1]"
    static const char *const texts[] = {
        MOVING("\"axis\": [0, 0, 1], \"angular_velocity\": 1"),
        MOVING("\"axis\": [0, 0, 1], \"angular_velocity\": 2"),
        MOVING("\"axis\": [0, 1, 0], \"angular_velocity\": 1"),
        MOVING("\"axis\": [0, 0, 1], \"angular_velocity\": 1, \"center\": [1, 0.8, 0.7]"),
        MOVING(FREE),
        MOVING(FREE ", \"velocity\": [0.1, 0, 0]"),
        MOVING(FREE ", \"velocity\": [0, 0.1, 0]"),
        MOVING("\"free\": true, \"density\": 3, \"gravity\": [0, 0, -1]"),
        MOVING("\"free\": true, \"density\": 2, \"gravity\": [0, 0, -2]"),
    };
    enum { TEXTS = sizeof texts / sizeof *texts };
    char hashes[TEXTS][KF_HASH_HEX];
    for (size_t i = 0; i < TEXTS; i++) {
        kf_scene *s = open_scene_text(texts[i], NULL);
        memcpy(hashes[i], s->hash, sizeof hashes[i]);
        kf_scene_free(s);
        for (size_t k = 0; k < i; k++)
            if (strcmp(hashes[i], hashes[k]) == 0) fail_msg("motions %zu and %zu have one hash", k, i);
    }
}

/* A zero with a negative sign is the same number. Scenes that differ in it are one. */
static void zeros_have_no_sign(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {MOVING(FREE ", \"velocity\": [0.1, 0, 0]"), MOVING(FREE ", \"velocity\": [0.1, -0.0, -0.0]")},
        {MOVING("\"axis\": [0, 0, 1], \"angular_velocity\": 1"),
         MOVING("\"axis\": [-0.0, -0.0, 1], \"angular_velocity\": 1")},
        {MOVING("\"free\": true, \"density\": 2, \"gravity\": [0, 0, -1]"),
         MOVING("\"free\": true, \"density\": 2, \"gravity\": [-0.0, 0, -1]")}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kf_scene *one = open_scene_text(texts[i][0], NULL), *other = open_scene_text(texts[i][1], NULL);
        if (strcmp(one->hash, other->hash) != 0) fail_msg("%s: two hashes", texts[i][1]);
        kf_scene_free(one);
        kf_scene_free(other);
    }
}

/* There are as many emitters as allowed, and one more. */
static void many_emitters(void **state) {
    (void)state;
#define EMITTER                                                                                              \
    "{\"shape\": \"rake\", \"rate\": 1, \"from\": [0.5, 0.2, 0.1], \"to\": [0.5, 1.4, 0.2], \"nozzles\": "   \
    "7, \"radius\": 0.01}"
#define FOUR      EMITTER ", " EMITTER ", " EMITTER ", " EMITTER
#define SMOKES(e) BOX(TUNNEL, FLOW ", " BALL ", \"smoke\": {\"emitters\": [" e "]}")
    kf_scene *scene = open_scene_text(SMOKES(FOUR ", " FOUR), NULL);
    assert_int_equal(scene->smoke.count, 8);
    near(scene->smoke.emitters[7].rate, scene->smoke.emitters[0].rate);
    assert_int_equal(scene->smoke.paint, KF_PAINT_NONE);
    kf_scene_free(scene);
    refused(SMOKES(FOUR ", " FOUR ", " EMITTER), "list of 1 to 8");
    for (int paint = 0; paint < KF_SMOKE_PAINTS; paint++) {
        char text[1000];
        (void)snprintf(text, sizeof text, BOX(TUNNEL, FLOW ", " BALL ", \"smoke\": {\"paint\": \"%s\"}"),
                       kf_smoke_paint_names[paint]);
        scene = open_scene_text(text, NULL);
        assert_int_equal(scene->smoke.paint, paint);
        kf_scene_free(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_paths),
        cmocka_unit_test(motions_have_hashes),
        cmocka_unit_test(zeros_have_no_sign),
        cmocka_unit_test(samples_end_at_each_face),
        cmocka_unit_test(many_emitters),
        cmocka_unit_test(models_and_what_is_not_said),
        cmocka_unit_test(domains_from_two_of_three),
        cmocka_unit_test(rotations_are_applied_in_turn),
        cmocka_unit_test(limits_of_speed_and_distance),
        cmocka_unit_test(longer_steps),
        cmocka_unit_test(rates_of_outflows),
        cmocka_unit_test(masks_from_pictures_and_discs),
        cmocka_unit_test(reduced_grids),
        cmocka_unit_test(rotations_follow_the_right_hand),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
