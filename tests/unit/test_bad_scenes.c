/* Tests scenes that must be refused. Faults: a wrong scene is taken, or the line does not say what is
 * wrong, where, and what to do. */
#include "tests/unit/scene_files.h"
#include "tests/unit/scene_texts.h"

typedef struct bad_scene {
    const char *text, *part;
} bad_scene;

static const bad_scene bad_scenes[] = {
    {"", ""},
    {"{\"domain\": ", ""},
    {"[1, 2]", "one JSON object"},
    {"{}", "domain"},
    {BOX(TUNNEL, FLOW ", \"solidd\": {}"), "solid"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"position\": [1, 1, 1]}"), "either \"mesh\""},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"bal\", \"position\": [1, 1, 1]}"), "ball"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"position\": [1, 1, 1], \"radios\": 1}"),
     "radius"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\"}"), "position"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"position\": [1, 1]}"), "position"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"position\": [1, 1, 1], \"mesh\": \"a.obj\"}"),
     "either"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"torus\", \"minor_radius\": 1, \"position\": [1, 1, 1]}"),
     "minor_radius"},
    {BOX(TUNNEL,
         FLOW ", \"solid\": {\"shape\": \"knot\", \"turns\": 2, \"windings\": 4, \"position\": [1, 1, 1]}"),
     "divisor"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ahmed\", \"slant_angle\": 85, \"position\": [1, 1, 1]}"),
     "slant_angle"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ahmed\", \"nose_radius\": 0.15, \"position\": [1, 1, 1]}"),
     "nose_radius"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ahmed\", \"body_width\": 0.3, \"position\": [1, 1, 1]}"),
     "stilts"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ahmed\", \"slant_length\": 0.95, \"position\": [1, 1, 1]}"),
     "slant_length"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"mesh\": \"none.obj\", \"position\": [1, 1, 1]}"),
     "bad.json: solid.mesh: "},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"mesh\": \"\", \"position\": [1, 1, 1]}"), "solid.mesh"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 3, \"position\": [1, 1, 1]}"),
     "the domain only 2 m"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 1.5, 0.6]}"),
     "along y, out of the domain"},
    {BOX(TUNNEL,
         FLOW ", \"solid\": {\"shape\": \"ball\", \"scale\": 1, \"length\": 1, \"position\": [1, 1, 1]}"),
     "not both"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"position\": [1, 1, 1], \"rotation\": {\"axis\": "
                      "[0, 0, 0], \"degrees\": 5}}"),
     "no direction"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"position\": [1, 1, 1], \"motion\": {}}"),
     "neither angular_velocity"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"position\": [1, 1, 1], \"motion\": "
                      "{\"angular_velocity\": 1}}"),
     "axis"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, 0.6], "
                      "\"motion\": {\"velocity\": [0, 1, 0]}}"),
     "moves along y"},
    {BOX(TUNNEL,
         FLOW ", \"solid\": {\"shape\": \"plate\", \"width\": 0.2, \"scale\": 0.7, \"position\": [1, 0.8, "
              "0.6], \"motion\": {\"axis\": [1, 0, 0], \"angular_velocity\": 1, \"center\": [1, 0.8, 0.2]}}"),
     "turning, the solid reaches"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, 0.6], "
                      "\"motion\": {\"axis\": [1, 0, 0], \"angular_velocity\": 100}}"),
     "the surface moves at 20 m/s"},
#define FREE(motion)                                                                                         \
    BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, 0.6], "     \
                     "\"motion\": {\"free\": true, " motion "}}")
    {FREE("\"gravity\": [0, 0, -1]"), "solid.motion.density: is missing"},
    {FREE("\"density\": 0.5"), "density: must be a finite number from 1"},
    {FREE("\"density\": 2, \"center\": [1, 1, 1]"), "solid.motion.center: unknown key"},
    {FREE("\"density\": 2, \"velocity\": [30, 0, 0]"), "the surface moves at 30 m/s"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, 0.22], "
                      "\"motion\": {\"free\": true, \"density\": 2}}"),
     "closer than half a cell"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"mesh\": \"open.obj\", \"position\": [1, 0.8, 0.6], "
                      "\"motion\": {\"free\": true, \"density\": 2}}"),
     "3 of its edges are open"},
    {BOX(TUNNEL, FLOW ", " BALL ", \"model\": {\"immersed_passes\": 11}"), "immersed_passes"},
    {"{\"domain\": {\"cells\": [20, 16, 12]}, " FLOW "}", "give two of"},
    {"{\"domain\": {\"cells\": [20, 16], \"cell_size\": 1}, " FLOW "}", "at least 3"},
    {"{\"domain\": {\"cells\": [20], \"cell_size\": 1}, " FLOW "}", "domain.cells: must have 3"},
    {"{\"domain\": {\"cells\": [20, 16, 1.5], \"cell_size\": 1}, " FLOW "}", "whole number"},
    {"{\"domain\": {\"cells\": [20, 16, -1], \"cell_size\": 1}, " FLOW "}", "cells"},
    {"{\"domain\": {\"cells\": [20, 16, 12], \"size\": [2, 1.6, 2]}, " FLOW "}",
     "along z, but size says 2 m"},
    {"{\"domain\": {\"size\": [2, 1.6, 2], \"cell_size\": 1e-6}, " FLOW "}", "make cell_size larger"},
    {"{\"domain\": {\"cells\": [9000, 9000, 9000], \"cell_size\": 1}, " FLOW ", " BALL "}", "has more than"},
    {"{\"domain\": {\"cells\": [20, 2, 20], \"cell_size\": 1}, " FLOW ", " BALL "}", "at least 3"},
    {BOX("\"boundaries\": {\"xmin\": \"inflow\"}", FLOW), "xmax"},
    {BOX("\"boundaries\": {\"xmin\": \"periodic\", \"xmax\": \"outflow\", \"ymin\": \"wall\", \"ymax\": "
         "\"wall\", \"zmin\": \"wall\", \"zmax\": \"wall\"}",
         FLOW),
     "xmin and xmax must both be periodic"},
    {BOX("\"boundaries\": {\"xmin\": \"inflow\", \"xmax\": \"wall\", \"ymin\": \"wall\", \"ymax\": \"wall\", "
         "\"zmin\": \"wall\", \"zmax\": \"wall\"}",
         FLOW ", " BALL),
     "flows in but cannot leave"},
    {BOX("\"boundaries\": {\"xmin\": \"inflo\", \"xmax\": \"wall\", \"ymin\": \"wall\", \"ymax\": \"wall\", "
         "\"zmin\": \"wall\", \"zmax\": \"wall\"}",
         FLOW),
     "inflow"},
    {BOX("\"boundaries\": {\"xmin\": {\"type\": \"wall\", \"velocity\": [1, 0, 0]}, \"xmax\": \"wall\", "
         "\"ymin\": \"wall\", \"ymax\": \"wall\", \"zmin\": \"wall\", \"zmax\": \"wall\"}",
         FLOW),
     "own plane"},
    {BOX("\"boundaries\": {\"xmin\": {\"type\": \"inflow\", \"specular_share\": 0.5}, \"xmax\": \"outflow\", "
         "\"ymin\": \"wall\", \"ymax\": \"wall\", \"zmin\": \"wall\", \"zmax\": \"wall\"}",
         FLOW),
     "boundaries.xmin.specular_share: only a wall can reflect"},
    {BOX("\"boundaries\": {\"xmin\": {\"type\": \"outflow\", \"velocity\": [1, 0, 0]}, \"xmax\": \"wall\", "
         "\"ymin\": \"wall\", \"ymax\": \"wall\", \"zmin\": \"wall\", \"zmax\": \"wall\"}",
         FLOW),
     "no velocity of its own"},
    {BOX("\"boundaries\": {\"xmin\": {\"type\": \"inflow\", \"velocity\": [50, 0, 0]}, \"xmax\": "
         "\"outflow\", \"ymin\": \"wall\", \"ymax\": \"wall\", \"zmin\": \"wall\", \"zmax\": \"wall\"}",
         FLOW ", " BALL),
     "xmin.velocity: 1.25 cells a step"},
    {BOX("\"boundaries\": {\"xmin\": {\"type\": \"inflow\", \"velocity\": [-2, 0, 0]}, \"xmax\": "
         "\"outflow\", "
         "\"ymin\": \"wall\", \"ymax\": \"wall\", \"zmin\": \"wall\", \"zmax\": \"wall\"}",
         FLOW ", " BALL),
     "velocities point out of the domain"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, 0.21], "
                      "\"motion\": {\"axis\": [1, 0, 0], \"angular_velocity\": 1}}"),
     "move solid.position, or make"},
    {BOX(TUNNEL,
         FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, 0.6], "
              "\"motion\": {\"axis\": [1, 0, 0], \"angular_velocity\": 1, \"center\": [1, 0.8, 0.3]}}"),
     "move solid.motion.center, or make"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, 0.6], "
                      "\"motion\": {\"velocity\": [1, 0, 0], \"density\": 2}}"),
     "solid.motion.density: is for a solid with \"free\": true"},
#define DISC(more)                                                                                           \
    "{\"domain\": {\"cells\": [20, 16], \"cell_size\": 0.1}, \"boundaries\": {\"xmin\": \"inflow\", "        \
    "\"xmax\": "                                                                                             \
    "\"outflow\", \"ymin\": \"wall\", \"ymax\": \"wall\", \"zmin\": \"periodic\", \"zmax\": \"periodic\"}, " \
    "\"flow\": {\"speed\": 1, \"reynolds\": 20, \"reference_length\": 0.4}, \"mask\": {\"shape\": "          \
    "\"disc\", " more "}}"
    {BOX(TUNNEL, FLOW ", " BALL ", \"model\": {\"collision\": \"mrt\", \"rates\": \"k17\"}"),
     "model.rates: only the collisions"},
    {DISC("\"center\": [20, 0.8], \"radius\": 0.2"),
     "mask: no node lies in the disc of radius 0.2 m around 20"},
    {DISC("\"center\": [1, 0.8], \"radius\": 0.02"), "make the cells of 0.1 m smaller"},
    {"{\"domain\": {\"cells\": [20, 16], \"cell_size\": 0.1}, \"boundaries\": {\"xmin\": \"inflow\", "
     "\"xmax\": "
     "\"outflow\", \"ymin\": \"periodic\", \"ymax\": \"periodic\", \"zmin\": \"periodic\", \"zmax\": "
     "\"periodic\"}, "
     "\"flow\": {\"speed\": 1, \"reynolds\": 20, \"reference_length\": 0.4}, \"mask\": {\"shape\": \"disc\", "
     "\"center\": [1, 0.1], \"radius\": 0.2}}",
     "the disc reaches beyond the periodic faces along y, from -0.1 to 0.3 m"},
    {DISC("\"center\": [1, 0.8], \"radius\": 0.2, \"spacing\": 1"), "mask.spacing: is for a \"disc_array\""},
    {BOX(TUNNEL, FLOW ", " BALL ", \"smoke\": {\"emitters\": []}"), "list of 1 to 8"},
    {BOX(TUNNEL, FLOW ", " BALL ", \"smoke\": {\"capacity\": 1e9}"), "capacity"},
    {BOX(TUNNEL, FLOW ", " BALL ", \"smoke\": {\"paint\": \"rainbow\"}"), "none, age, speed"},
    {BOX(TUNNEL, FLOW ", " BALL ", \"smoke\": {\"body\": \"jelly\"}"), "lacquer, stone"},
    {SMOKE("{\"shape\": \"cone\", \"rate\": 1}"), "box, disc, rake"},
    {SMOKE("{\"shape\": \"box\", \"low\": [0, 0, 0], \"high\": [1, 1, 1]}"), "smoke.emitters[0].rate"},
    {SMOKE("{\"shape\": \"box\", \"rate\": 1, \"low\": [0, 1, 0], \"high\": [1, 0, 1]}"),
     "smaller than low along y"},
    {SMOKE("{\"shape\": \"box\", \"rate\": 1, \"low\": [0, 0, 0], \"high\": [1, 1, 5]}"),
     "out of the domain"},
    {SMOKE(
         "{\"shape\": \"disc\", \"rate\": 1, \"center\": [1, 1, 1], \"radius\": 0.1, \"normal\": [0, 0, 0]}"),
     "no direction"},
    {BOX(TUNNEL, "\"flow\": {\"speed\": 1}"), "exactly one of"},
    {BOX(TUNNEL, "\"flow\": {\"speed\": 1, \"reynolds\": 1, \"viscosity\": 1}"), "exactly one of"},
    {BOX(TUNNEL, "\"flow\": {\"reynolds\": 1}"), "speed"},
    {BOX(TUNNEL, "\"flow\": {\"speed\": -1, \"reynolds\": 1}"), "speed"},
    {BOX(TUNNEL, "\"flow\": {\"speed\": \"fast\", \"reynolds\": 1}"), "speed"},
    {BOX(TUNNEL, FLOW), "flow.reference_length: is missing"},
    {BOX(TUNNEL, BALL ", \"flow\": {\"speed\": 1, \"reynolds\": 100, \"lattice_speed\": 0.4}"),
     "lattice_speed: 0.4"},
    {BOX(TUNNEL, BALL ", \"flow\": {\"speed\": 1, \"reynolds\": 100, \"lattice_viscosity\": 0.1}"),
     "needs \"viscosity\""},
    {BOX(TUNNEL, BALL ", \"flow\": {\"speed\": 1, \"viscosity\": 1, \"lattice_viscosity\": 0.1, "
                      "\"lattice_speed\": 0.1}"),
     "no \"lattice_speed\""},
    {BOX(TUNNEL, BALL ", \"flow\": {\"speed\": 1, \"reynolds\": 1e9}"), "far too coarse"},
    {BOX(TUNNEL, BALL ", \"flow\": {\"speed\": 1, \"reynolds\": 0.01}"), "lattice viscosity is 30"},
    {BOX(TUNNEL, BALL ", \"flow\": {\"speed\": 1, \"reynolds\": 100, \"initial\": \"taylor_green_2d\"}"),
     "periodic"},
    {BOX(PERIODIC, "\"flow\": {\"speed\": 1, \"reynolds\": 100, \"initial\": \"taylor_green_2d\"}"),
     "equally many cells along x and y"},
    {BOX(TUNNEL, FLOW ", " BALL ", \"model\": {\"collision\": \"bkg\"}"), "bgk"},
    {BOX(TUNNEL, FLOW ", " BALL ", \"model\": {\"collision\": \"rm_mrt\", \"rates\": \"kbc\"}"), "suga_2015"},
    {BOX(TUNNEL, FLOW ", " BALL ", \"model\": {\"rates\": \"suga_2015\"}"), "belongs to the collision"},
    {BOX(TUNNEL, FLOW ", " BALL ", \"model\": {\"collision\": \"bgk\", \"rates\": \"ones\"}"),
     "only the collisions \"acm_mrt\""},
    {BOX(TUNNEL, FLOW ", " BALL ", \"model\": {\"high_order_rate\": 1.5}"), "needs \"rates\""},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, 0.6], "
                      "\"motion\": {\"velocity\": [1, 0, 0], \"axis\": [0, 0, 1]}}"),
     "solid.motion.axis: belongs to \"angular_velocity\""},
    {FREE("\"density\": 2, \"axis\": [0, 0, 1]"), "solid.motion.axis: belongs to \"angular_velocity\""},
    {BOX(TUNNEL,
         "\"flow\": {\"speed\": 1, \"reynolds\": 20, \"reference_length\": 1, \"reference_area\": 2}"),
     "flow.reference_area: is for the coefficients of a solid, and there is none"},
    {BOX(TUNNEL, "\"flow\": {\"speed\": 1, \"reynolds\": 20, \"reference_length\": 1, \"reference_point\": "
                 "[1, 1, 1]}"),
     "flow.reference_point: is for the coefficients of a solid, and there is none"},
    {BOX(TUNNEL, FLOW ", \"model\": {\"immersed_passes\": 2}"), "immersed_passes: acts on a solid"},
    {BOX(TUNNEL, FLOW ", " BALL ", \"sampling\": {\"samples_per_cell\": 0}"), "samples_per_cell"},
    {BOX(TUNNEL, FLOW ", " BALL ", \"sampling\": {\"samples_per_cell\": 2000}"), "samples_per_cell"},
    {BOX(TUNNEL, FLOW ", " BALL ", \"sampling\": {\"seed\": -4}"), "seed"},
    {BOX(TUNNEL, FLOW ", " BALL ", \"sampling\": {\"sed\": 4}"), "seed"},
    {BOX(PERIODIC, "\"flow\": {\"speed\": 2, \"reynolds\": 100, \"initial_velocity\": [10, 10, 0]}"),
     "flow.initial_velocity: 0.354 cells a step"},
    {BOX(TUNNEL, FLOW
         ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, 0.6], \"rotation\": 5}"),
     "solid.rotation: must be"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, 0.6], "
                      "\"rotation\": [{\"axis\": [0, 0, 1], \"degrees\": 5}, 5]}"),
     "solid.rotation: each entry"},
    {BOX(TUNNEL, FLOW ", \"solids\": []"), "solids: must be a list of 1 to"},
    {BOX(TUNNEL, FLOW ", \"solids\": [{\"name\": \"a\", \"shape\": \"ball\", \"radius\": 0.2, \"position\": "
                      "[1, 0.8, 0.6]}, 7]"),
     "must be an object, as"},
    {BOX(TUNNEL,
         FLOW ", \"solids\": [{\"name\": \"a\", \"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, "
              "0.6]}], \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, 0.6]}"),
     "solids\", not both"},
    {BOX(TUNNEL, FLOW ", \"solids\": [{\"name\": \"a\", \"shape\": \"ball\", \"radius\": 0.2, \"position\": "
                      "[1, 0.8, 0.6], \"yaw\": 5}, {\"name\": \"b\", \"shape\": \"ball\", \"radius\": 0.2, "
                      "\"position\": [1, 0.8, 0.6]}]"),
     "is a key of a single solid"},
    {BOX(TUNNEL, FLOW
         ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, 0.6]}, \"refine\": []"),
     "refine: must be a list of 1 to"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, 0.6]}, "
                      "\"refine\": {\"around\": \"body\", \"levels\": 1, \"cells_a_length\": 20}"),
     "cells_a_length\", not both"},
    {BOX(TUNNEL, FLOW ", \"solid\": {\"shape\": \"ball\", \"radius\": 0.2, \"position\": [1, 0.8, 0.6]}, "
                      "\"smoke\": {\"emitters\": []}"),
     "smoke.emitters: must be a list"},
    {BOX(TUNNEL, FLOW ", \"smoke\": {\"emitters\": [{\"shape\": \"disc\", \"rate\": 1, \"center\": [1, 1, "
                      "1], \"normal\": [0, 0, 0], \"radius\": 0.1}]}"),
     "normal: has no direction"},
    {BOX(TUNNEL, FLOW ", \"mask\": {\"shape\": \"disc\", \"center\": [1, 0.8], \"radius\": 0.2}"),
     "mask: is for two-dimensional scenes"},
};

static void refuse(const char *file, const kf_scene_options *options, const char *part) {
    kf_scene *scene = (kf_scene *)&scene;
    kf_error error = {0};
    if (kf_scene_open(file, options, &scene, &error) != KF_BAD_INPUT)
        fail_msg("accepted, but should say \"%s\"", part);
    assert_null(scene);
    assert_holds(error.message, part);
    assert_null(strchr(error.message, '\n'));
}

static void test_bad_scenes(void **state) {
    (void)state;
    (void)write_text("open.obj", "v 0 0 0\nv 0.4 0 0\nv 0 0.4 0\nv 0 0 0.4\nf 1 3 2\nf 1 2 4\nf 1 4 3\n");
    for (size_t b = 0; b < sizeof bad_scenes / sizeof bad_scenes[0]; b++) {
        const char *file = write_text("bad.json", bad_scenes[b].text);
        refuse(file, NULL, bad_scenes[b].part);
        refuse(file, NULL, "bad.json"); /* and names the file */
    }
}

static void test_bad_names(void **state) {
    (void)state;
    refuse("", NULL, "empty");
    refuse("bal", NULL, "did you mean ball?");
    refuse("zzzzzzzz", NULL, "shipped are ahmed, ");
    refuse("nowhere/car.obj", NULL, "nowhere/car.obj: no such file");
    refuse(test_folder, NULL, "is a folder");
    refuse(write_text("car.step", "x"), NULL, "neither a scene file");
    const kf_scene_options sparse = {.samples_per_cell = 0.5}, few = {.nodes = {10, 0, 10}},
                           negative = {.nodes = {-1, -1, -1}};
    refuse("ball", &sparse, "between 1 and 1000");
    refuse("ball", &few, "grid 10x0x10");
    refuse("ball", &negative, "grid -1");
    const kf_scene_options tiny = {.nodes = {2, 2, 2}}, unreachable = {.node_limit = 10};
    refuse("ball", &tiny, "at least 3");
    refuse("ball", &unreachable, "cannot be reduced");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_scenes),
        cmocka_unit_test(test_bad_names),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
