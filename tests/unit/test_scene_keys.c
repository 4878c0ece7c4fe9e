/* Tests optional keys of scene files, one at a time: with its default a scene is the one without the key,
 * with another value it is another scene. What can be said in two ways is the same scene. Faults: a default
 * that is not the documented one, a key that is read into another, is left out of a scene's hash, or does
 * nothing. */
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/systems.h"
#include "tests/unit/scene_files.h"

#define FLOW  "\"flow\": {\"speed\": 1, \"reynolds\": 100}"
#define BOX   "\"domain\": {\"cells\": [24, 12, 12], \"cell_size\": 0.125}, "
#define AT    "\"position\": [1, 0.75, 0.75]"
#define THIN  "\"sampling\": {\"samples_per_cell\": 2}, "
#define SOLID "{\"solid\": {\"shape\": "
#define REST  ", " AT "}, " BOX THIN FLOW "}"
#define BLOCK "\"plate\", \"chord\": 0.5, \"width\": 0.5, \"thickness\": 0.25"
static const char
    block[] = SOLID BLOCK REST,
    dense[] = SOLID BLOCK ", " AT "}, " BOX FLOW "}", any_ball[] = SOLID "\"ball\"" REST,
    plate[] = SOLID "\"plate\", \"rotation\": {\"axis\": [0, 1, 0], \"degrees\": 30}" REST,
    linked[] = SOLID BLOCK ", \"boundary\": \"links\", " AT "}, " BOX FLOW "}",
    turning[] = SOLID BLOCK ", \"motion\": {\"angular_velocity\": 1, \"axis\": [0, 1, 0]}" REST,
    fixed_rate[] = SOLID BLOCK ", " AT "}, " BOX THIN FLOW ", \"model\": {\"rates\": \"constant\"}}",
    of_rm[] = SOLID BLOCK ", " AT "}, " BOX THIN FLOW
                          ", \"model\": {\"collision\": \"rm_mrt\", \"rates\": \"constant\"}}",
    flat[] = "{\"domain\": {\"cells\": [24, 12, 1], \"cell_size\": 0.125}, "
             "\"boundaries\": {\"xmin\": \"inflow\", \"xmax\": \"outflow\", \"ymin\": \"wall\", \"ymax\": "
             "\"wall\", \"zmin\": \"periodic\", \"zmax\": \"periodic\"}, \"mask\": {\"shape\": \"disc\", "
             "\"center\": [1, 0.75], \"radius\": 0.25}, \"flow\": {\"speed\": 1, \"reynolds\": 100}}";
#define WATER                                                                                                \
    "{\"particles\": {\"dimensions\": 2, \"spacing\": 0.1}, \"box\": {\"size\": [4, 3]}, \"gravity\": [0, "  \
    "-9.81], \"material\": {\"density\": 1000, \"viscosity\": 0.001}, \"fluid\": [{\"shape\": "
static const char water[] = WATER "\"box\", \"low\": [0, 0], \"high\": [1, 2]}]}";
#define FLUID "{\"stable_fluids\": {}, \"domain\": {\"cells\": [16, 16], \"length\": 1}, "
static const char fluid[] =
    FLUID "\"flow\": {\"time_step\": 0.1}, \"initial\": {\"kind\": \"random\", \"amplitude\": 1}}",
                  tunnel[] =
                      "{\"incompressible\": {}, \"solid\": {\"shape\": " BLOCK ", " AT "}, " BOX FLOW "}";

static const struct {
    const char *scene, *key, *usual, *other; /* other: NULL, where the key needs others to have an effect */
} keys[] = {
    {block, "boundaries",
     "{\"xmin\": \"inflow\", \"xmax\": \"outflow\", \"ymin\": \"free_slip\", \"ymax\": \"free_slip\", "
     "\"zmin\": "
     "\"free_slip\", \"zmax\": \"free_slip\"}",
     "{\"xmin\": \"inflow\", \"xmax\": \"outflow\", \"ymin\": \"free_slip\", \"ymax\": \"wall\", \"zmin\": "
     "\"free_slip\", \"zmax\": \"free_slip\"}"},
    {block, "flow.reference_length", "0.5", "0.6"},
    {block, "flow.lattice_speed", "0.05", "0.04"},
    {block, "flow.initial", "\"uniform\"", NULL},
    {block, "flow.initial_velocity", "[1, 0, 0]", "[1, 0, 0.1]"},
    {block, "flow.disturbance", "0", "0.01"},
    {block, "flow.acceleration", "[0, 0, 0]", "[0, 0, 0.1]"},
    {any_ball, "solid.radius", "0.5", "0.4"},
    {block, "solid.rotation", "[]", "{\"axis\": [1, 0, 0], \"degrees\": 20}"},
    {plate, "solid.scale", "1", "0.9"},
    {plate, "solid.yaw", "0", "5"},
    {plate, "solid.anchor", "\"center\"", "\"bottom\""},
    {plate, "solid.chord", "1", "0.9"},
    {plate, "solid.width", "1", "0.9"},
    {plate, "solid.thickness", "0.02", "0.03"},
    {turning, "solid.motion.center", "[1, 0.75, 0.75]", "[1, 0.75, 0.7]"},
    {turning, "solid.motion.velocity", "[0, 0, 0]", NULL},
    {turning, "solid.motion.free", "false", NULL},
    {block, "solid.boundary", "\"immersed\"", "\"links\""},
    {linked, "solid.links", "\"interpolated\"", "\"half-way\""},
    {linked, "model.wall", "\"no-slip\"", "\"law\""},
    {block, "model.collision", "\"acm_mrt\"", "\"bgk\""},
    {block, "model.rates", "\"adaptive_2020\"", "\"ones\""},
    {fixed_rate, "model.high_order_rate", "1.98", "1.9"},
    {of_rm, "model.high_order_rate", "1.4", "1.9"},
    {block, "model.basis", "\"hermite\"", "\"raw\""},
    {block, "model.immersed_passes", "1", "2"},
    {block, "model.accuracy", "0.0001", "0.01"},
    {dense, "sampling.samples_per_cell", "25", "24"},
    {dense, "sampling.seed", "1", "2"},
    {flat, "model.collision", "\"mrt\"", "\"bgk\""},
    {water, "particles.shake", "0", "0.1"},
    {water, "particles.support", "3", "2.8"},
    {water, "material.state", "\"tait\"", "\"linear\""},
    {water, "material.law", "\"newtonian\"", NULL},
    {water, "fluid.0.velocity", "[0, 0]", "[0, 0.1]"},
    {water, "fluid.0.rotation", "0", "0.1"},
    {water, "fluid.0.hydrostatic", "true", "false"},
    {water, "model.scheme", "\"modern\"", NULL},
    {water, "model.diffusion", "0.1", "0.2"},
    {water, "model.artificial_viscosity", "0.02", "0.03"},
    {water, "model.impact", "0", "3"},
    {water, "model.central_viscosity", "false", NULL},
    {water, "model.shifting", "0", "2"},
    {water, "model.tension", "true", "false"},
    {water, "model.courant", "0.25", "0.2"},
    {water, "box.faces", "{\"xmin\": \"free_slip\"}", "{\"xmin\": \"no_slip\"}"},
    {fluid, "stable_fluids.advection", "\"linear\"", "\"cubic\""},
    {fluid, "stable_fluids.trace", "\"euler\"", "\"midpoint\""},
    {fluid, "stable_fluids.reflection", "false", NULL},
    {fluid, "stable_fluids.diffusion", "\"implicit\"", "\"exponential\""},
    {fluid, "stable_fluids.accuracy", "0.0001", "0.01"},
    {fluid, "domain.walls", "[]", "[\"x\"]"},
    {fluid, "domain.simulations", "1", "2"},
    {fluid, "flow.viscosity", "0", "0.01"},
    {fluid, "flow.confinement", "0", "0.1"},
    {fluid, "initial.velocity", "[0, 0]", "[0, 0.1]"},
    {fluid, "initial.seed", "1", "2"},
    {tunnel, "incompressible.limiter", "true", "false"},
    {tunnel, "incompressible.trace", "\"midpoint\"", "\"euler\""},
    {tunnel, "incompressible.viscous_term", "\"automatic\"", "\"off\""},
    {tunnel, "incompressible.steps", "1", "10"},
    {tunnel, "incompressible.tolerance", "0.0001", "0.001"},
};

/* Sets a key such as "fluid.0.velocity"; objects on the way are made. */
static void set_key(cJSON *root, const char *key, const char *value) {
    char path[64], *rest = path, *name;
    kf_copy_text(path, sizeof path, key);
    for (cJSON *at = root; (name = strtok_r(rest, ".", &rest)) != NULL;) {
        cJSON *next = cJSON_IsArray(at) ? cJSON_GetArrayItem(at, atoi(name))
                                        : cJSON_GetObjectItemCaseSensitive(at, name);
        if (*rest == '\0') {
            cJSON_DeleteItemFromObjectCaseSensitive(at, name);
            cJSON_AddItemToObject(at, name, cJSON_Parse(value));
            return;
        }
        at = next != NULL ? next : cJSON_AddObjectToObject(at, name);
    }
}

/* Opens the scene with this value of a key, or without it, and gives its hash. */
static bool hash_with(const char *scene, const char *key, const char *value, char hash[KF_HASH_HEX],
                      kf_error *error) {
    cJSON *root = cJSON_Parse(scene);
    kf_problem *problem = NULL;
    const kf_problem_options options = {0};
    if (root == NULL) fail_msg("%s", scene);
    if (value != NULL) set_key(root, key, value);
    char *text = cJSON_Print(root);
    const kf_status status = kf_problem_open(write_text("scene.json", text), NULL, &options, &problem, error);
    if (status == KF_OK) memcpy(hash, problem->hash, KF_HASH_HEX);
    kf_problem_free(problem);
    free(text);
    cJSON_Delete(root);
    return status == KF_OK;
}

static void keys_have_their_defaults(void **state) {
    (void)state;
    int wrong = 0;
    const char *scene = NULL;
    char without[KF_HASH_HEX] = "", with[KF_HASH_HEX];
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        kf_error error = {KF_OK, ""};
        if (keys[i].scene != scene && !hash_with(keys[i].scene, "", NULL, without, &error))
            fail_msg("%s: %s", keys[i].key, error.message);
        scene = keys[i].scene;
        for (int other = 0; other < 2; other++) {
            const char *value = other ? keys[i].other : keys[i].usual;
            if (value == NULL) continue;
            if (!hash_with(scene, keys[i].key, value, with, &error)) {
                print_error("%s %s: %s\n", keys[i].key, value, error.message);
                wrong++;
            } else if ((strcmp(with, without) != 0) != (other == 1)) {
                print_error("%s %s makes %s scene\n", keys[i].key, value, other ? "the same" : "another");
                wrong++;
            }
        }
    }
    assert_int_equal(wrong, 0);
}

/* Two ways to say the same: both make one scene. */
static const struct {
    const char *scene, *key, *one, *two;
} ways[] = {
    {block, "domain", "{\"cells\": [24, 12, 16], \"cell_size\": 0.125}",
     "{\"cells\": [24, 12, 16], \"size\": [3, 1.5, 2]}"},
    {block, "domain", "{\"cells\": [24, 12, 16], \"cell_size\": 0.125}",
     "{\"size\": [3, 1.5, 2], \"cell_size\": 0.125}"},
    {flat, "domain", "{\"cells\": [24, 12], \"cell_size\": 0.125}",
     "{\"cells\": [24, 12, 1], \"cell_size\": 0.125}"},
    {flat, "domain", "{\"cells\": [24, 12], \"cell_size\": 0.125}",
     "{\"cells\": [24, 12], \"size\": [3, 1.5]}"},
    {flat, "domain", "{\"cells\": [24, 12], \"cell_size\": 0.125}",
     "{\"size\": [3, 1.5], \"cell_size\": 0.125}"},
    {flat, "domain", "{\"size\": [3, 1.5, 0.125], \"cell_size\": 0.125}",
     "{\"cells\": [24, 12, 1], \"size\": [3, 1.5]}"},
    {block, "flow", "{\"speed\": 2, \"reynolds\": 100}", "{\"speed\": 2, \"viscosity\": 0.01}"},
    {block, "flow", "{\"speed\": 2, \"viscosity\": 0.01, \"lattice_speed\": 0.05}",
     "{\"speed\": 2, \"viscosity\": 0.01, \"lattice_viscosity\": 0.002}"},
    {flat, "boundaries.ymin", "\"wall\"", "{\"type\": \"wall\", \"velocity\": [0, 0, 0]}"},
    {flat, "boundaries.xmin", "\"inflow\"", "{\"type\": \"inflow\", \"velocity\": [1, 0, 0]}"},
    {plate, "solid.rotation", "{\"axis\": [0, 1, 0], \"degrees\": 30}",
     "[{\"axis\": [0, 2, 0], \"degrees\": 30}]"},
    {plate, "solid.rotation", "{\"axis\": [0, -1, 0], \"degrees\": -30}",
     "{\"axis\": [0, 1, 0], \"degrees\": 30}"},
    {turning, "solid.motion.axis", "[0, 1, 0]", "[0, 7, 0]"},
    {water, "box.size", "[4, 3]", "[4.0, 3.0]"},
    {fluid, "domain.cells", "[16, 16]", "[16, 16.0]"},
};

static void ways_say_the_same(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char one[KF_HASH_HEX], two[KF_HASH_HEX];
        kf_error error = {KF_OK, ""};
        if (!hash_with(ways[i].scene, ways[i].key, ways[i].one, one, &error) ||
            !hash_with(ways[i].scene, ways[i].key, ways[i].two, two, &error))
            fail_msg("%s %s or %s: %s", ways[i].key, ways[i].one, ways[i].two, error.message);
        if (strcmp(one, two) != 0) fail_msg("%s %s and %s differ", ways[i].key, ways[i].one, ways[i].two);
    }
}

/* What is said twice and differs is refused, along any axis. */
static void contradictions_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *scene, *key, *value, *words;
    } cases[] = {
        {flat, "domain", "{\"cells\": [24, 12, 5], \"size\": [3, 1.5]}", "along z, but size says 0.125 m"},
        {block, "domain", "{\"cells\": [24, 12, 16], \"size\": [3, 1.5, 1.9]}",
         "along z, but size says 1.9 m"},
        {block, "domain", "{\"cells\": [24, 12, 16], \"size\": [3, 1.6, 2]}", "along y, but size says 1.6 m"},
        {block, "domain", "{\"cells\": [24, 12, 16], \"size\": [3, 1.5, 2], \"cell_size\": 0.126}",
         "along x, but size says 3 m"},
        {block, "domain", "{\"cells\": [24, 12, 16]}", "domain: give two of"},
        {block, "flow", "{\"speed\": 2, \"reynolds\": 100, \"viscosity\": 0.02}", "viscosity"},
        {block, "flow",
         "{\"speed\": 2, \"viscosity\": 0.01, \"lattice_speed\": 0.05, \"lattice_viscosity\": 0.002}",
         "lattice_viscosity"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char hash[KF_HASH_HEX];
        kf_error error = {KF_OK, ""};
        if (hash_with(cases[c].scene, cases[c].key, cases[c].value, hash, &error))
            fail_msg("%s %s is taken", cases[c].key, cases[c].value);
        if (strstr(error.message, cases[c].words) == NULL)
            fail_msg("%s %s: %s", cases[c].key, cases[c].value, error.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys_have_their_defaults),
                                       cmocka_unit_test(ways_say_the_same),
                                       cmocka_unit_test(contradictions_are_refused)};
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
