/* Tests several solids in one scene. Faults: a solid that differs from itself alone, or forces that count
 * for another solid. KFTUNE_TEST_DEVICE chooses the device (default cpu). */
#include "tests/unit/scene_files.h"

#include <math.h>

#include "scene/document.h"
#include "solver/kinetic/reference.h"
#include "solver/output/run_folder.h"
#include "solver/systems.h"
#include "tests/unit/kinetic_variants.h"

#define FLOW_OF(reynolds, samples)                                                                           \
    "\"domain\": {\"cells\": [30, 24, 20], \"cell_size\": 0.1}, \"flow\": {\"speed\": 1, "                   \
    "\"reynolds\": " reynolds ", \"reference_length\": 0.6}, \"model\": {\"collision\": \"bgk\"}, "          \
    "\"sampling\": {\"samples_per_cell\": " samples "}"
#define FLOW                     FLOW_OF("40", "9")
#define SLOW                     FLOW_OF("4", "25") /* soon steady */
#define LEFT                     "\"shape\": \"ball\", \"radius\": 0.3, \"position\": [1, 0.6, 1]"
#define RIGHT                    "\"shape\": \"ball\", \"radius\": 0.3, \"position\": [1, 1.8, 1]"
#define TURNS(axis, speed)       ", \"motion\": {\"axis\": " axis ", \"angular_velocity\": " speed "}"
#define NAMED(name, solid)       "{\"name\": \"" name "\", " solid "}"
#define TWO(one, other)          TWO_IN(one, other, FLOW)
#define TWO_IN(one, other, flow) "{\"solids\": [" NAMED("left", one) ", " NAMED("right", other) "], " flow "}"

static kf_status try_scene(const char *text, kf_scene **scene, kf_error *error) {
    return kf_scene_open(write_text("several.json", text), NULL, scene, error);
}
static kf_scene *open_text(const char *text) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    must(try_scene(text, &scene, &error), &error);
    return scene;
}

static void assert_refused(const char *text, const char *why) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene;
    if (try_scene(text, &scene, &error) == KF_OK) fail_msg("'%s' is not refused for '%s'", text, why);
    assert_int_equal(error.status, KF_BAD_INPUT);
    if (strstr(error.message, why) == NULL) fail_msg("'%s' does not say '%s'", error.message, why);
}

/* What a grid adds to the box lies on both sides of it, and each solid stays in the middle. 30 x 24 x 20
 * cells of 0.1 m become 30 x 30 x 20, which are 0.6 m more along y, or 36 x 24 x 20, which are 0.6 m more
 * along x, all behind. */
static void test_other_grids(void **state) {
    (void)state;
    static const struct {
        int nodes[3];
        double added;
    } grids[] = {{{30, 24, 20}, 0.0}, {{30, 30, 20}, 0.3}, {{36, 24, 20}, 0.0}};
    const char *path = write_text("several.json", TWO(LEFT, RIGHT));
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        const kf_scene_options options = {.nodes = {grids[g].nodes[0], grids[g].nodes[1], grids[g].nodes[2]}};
        kf_error error = {KF_OK, ""};
        kf_scene *scene;
        must(kf_scene_open(path, &options, &scene, &error), &error);
        assert_int_equal(scene->solid_count, 2);
        const double left = 0.5 * (scene->solid_low[1] + scene->solid_high[1]) * scene->cell_size;
        if (fabs(left - (1.2 + grids[g].added)) > 0.06) fail_msg("grid %zu: the middle is at %g", g, left);
        kf_scene_free(scene);
    }
}

/* --- The scene ------------------------------------------------------------------------------------------ */

/* A list with one solid is the same scene as with "solid", including its hash. */
static void test_list_of_one(void **state) {
    (void)state;
    kf_scene *one = open_text("{\"solid\": {" LEFT TURNS("[0, 0, 1]", "0.5") "}, " FLOW "}"),
             *list = open_text("{\"solids\": [" NAMED("a", LEFT TURNS("[0, 0, 1]", "0.5")) "], " FLOW "}");
    assert_int_equal(list->solid_count, 0);
    assert_string_equal(one->hash, list->hash);
    kf_scene_free(one);
    kf_scene_free(list);
}

/* Each solid has the samples and the mesh that it has alone, and keeps them on a smaller grid. */
static void test_each_as_alone(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *two = open_text(TWO(LEFT, RIGHT)), *one = open_text("{\"solid\": {" RIGHT "}, " FLOW "}"),
             *small;
    const size_t from = two->samples.count - one->samples.count;
    assert_int_equal(two->solid_count, 2);
    assert_int_equal(two->samples.solid[from - 1], 0);
    assert_int_equal(two->samples.solid[from], 1);
    assert_memory_equal(two->samples.y + from, one->samples.y, one->samples.count * sizeof(double));
    assert_memory_equal(two->samples.area + from, one->samples.area, one->samples.count * sizeof(double));
    kf_mesh mesh = kf_scene_solid_mesh(two, 1);
    assert_int_equal(mesh.triangle_count, one->mesh.triangle_count);
    assert_memory_equal(mesh.vertices, one->mesh.vertices, 3 * mesh.vertex_count * sizeof(double));
    assert_memory_equal(mesh.triangles, one->mesh.triangles, 3 * mesh.triangle_count * sizeof(uint32_t));
    kf_mesh_free(&mesh);
    must(kf_scene_reduce(two, 6000, &small, &error), &error);
    assert_int_equal(small->solid_count, 2);
    const double middle = 0.5 * (small->solids[1].low[1] + small->solids[1].high[1]);
    assert_true(fabs(small->solids[1].motion.center[1] - middle) < 1e-9);
    assert_int_equal(small->samples.solid[small->samples.count - 1], 1);
    kf_scene_free(small);
    kf_scene_free(two);
    kf_scene_free(one);
}

/* A different speed of one solid makes a different scene. A picture shows each solid in its place. */
static void test_hash_and_place(void **state) {
    (void)state;
    kf_scene *a = open_text(TWO(LEFT, RIGHT TURNS("[0, 0, 1]", "0.5"))),
             *b = open_text(TWO(LEFT, RIGHT TURNS("[0, 0, 1]", "0.6")));
    assert_string_not_equal(a->hash, b->hash);
    const kf_motion *motion = &a->solids[1].motion;
    const double quarter = 0.5 * 3.14159265358979323846 / motion->angular_speed;
    const kf_scene *placed = kf_scene_placed(a, quarter);
    const size_t v = a->solids[1].first_vertex + 7;
    assert_memory_equal(placed->mesh.vertices, a->mesh.vertices,
                        3 * a->solids[1].first_vertex * sizeof(double));
    const double *from = a->mesh.vertices + 3 * v, *to = placed->mesh.vertices + 3 * v, *c = motion->center;
    assert_true(fabs(to[0] - c[0] + (from[1] - c[1])) < 1e-9 && fabs(to[1] - c[1] - (from[0] - c[0])) < 1e-9);
    kf_scene_free_placed(a, placed);
    kf_scene_free(a);
    kf_scene_free(b);
}

/* A command's --speed changes turning solids in the same ratio. The mesh of each is checked by its hash. */
static void test_documents_of_several_solids(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    cJSON *document;
    kf_text notes = {0};
    write_text("block.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    const char *file = write_text("document.json", TWO(LEFT TURNS("[0, 0, 1]", "0.5"),
                                                       "\"mesh\": \"block.obj\", \"position\": [1, 1.8, 1]"));
    const kf_placement faster = {.speed = 3.0};
    must(kf_scene_document_read(file, &document, &error), &error);
    must(kf_scene_document_change(file, document, &faster, &notes, &error), &error);
    must(kf_scene_document_pin(document, &error), &error);
    const cJSON *list = cJSON_GetObjectItem(document, "solids"), *left = cJSON_GetArrayItem(list, 0);
    const cJSON *turning = cJSON_GetObjectItem(cJSON_GetObjectItem(left, "motion"), "angular_velocity");
    assert_true(turning->valuedouble == 1.5);
    assert_int_equal(strlen(cJSON_GetObjectItem(cJSON_GetArrayItem(list, 1), "mesh_hash")->valuestring), 64);
    char *changed = cJSON_PrintUnformatted(document);
    kf_scene *scene = open_text(changed);
    cJSON_free(changed);
    assert_int_equal(scene->solid_count, 2);
    kf_scene_free(scene);
    const kf_placement turned = {.yaw = 5.0, .yaw_given = true};
    assert_int_equal(kf_scene_document_change(file, document, &turned, &notes, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "--yaw"));
    kf_text_free(&notes);
    cJSON_Delete(document);
}

static void test_errors_of_solids_are_named_with_their_place(void **state) {
    (void)state;
    assert_refused(TWO(LEFT, "\"shape\": \"ball\", \"position\": [9, 1, 1]"), ": solids[1] reaches");
    assert_refused("{\"solids\": [], " FLOW "}", "1 to 8");
    assert_refused("{\"solid\": {" LEFT "}, \"solids\": [" NAMED("a", LEFT) "], " FLOW "}", "not both");
    assert_refused("{\"solids\": [" NAMED("a", LEFT) ", " NAMED("A", RIGHT) "], " FLOW "}", "solids[1].name");
    assert_refused("{\"solids\": [" NAMED("a/b", LEFT) "], " FLOW "}", "solids[0].name");
    assert_refused("{\"solids\": [{" LEFT "}], " FLOW "}", "solids[0]");
    assert_refused("{\"solid\": " NAMED("a", LEFT) ", " FLOW "}", "solid.name");
    assert_refused(TWO(LEFT, RIGHT ", \"yaw\": 3"), "solids[1].yaw");
    assert_refused(TWO(LEFT, RIGHT ", \"boundary\": \"links\""), "solids[1].boundary");
    assert_refused(TWO(LEFT ", \"motion\": {\"free\": true, \"density\": 2}", RIGHT),
                   "solids[0].motion.free");
    assert_refused(TWO(LEFT, RIGHT ", \"motion\": {\"velocity\": [0, 0, 1]}"), "solids[1].motion.velocity");
    assert_refused(TWO(LEFT, RIGHT ", \"motion\": {\"axis\": [0, 0, 1], \"angular_velocity\": 90}"),
                   "solids[1].motion");
    assert_refused(TWO(LEFT, RIGHT ", \"shape_\": 1"), "shape_");
    assert_refused("{\"solids\": [" NAMED("a", LEFT) ", " NAMED(
                       "b", RIGHT) "], \"probes\": {\"taps\": \"surface\"}, " FLOW "}",
                   "probes.taps");
}

/* Balls that touch do not overlap, and those that intersect do. A turning solid counts with the volume
 * that it sweeps, and a sheet needs a distance. */
static void test_overlapping_solids_are_refused(void **state) {
    (void)state;
#define BALL(y) "\"shape\": \"ball\", \"radius\": 0.3, \"position\": [1, " y ", 1]"
#define PLATE(y)                                                                                             \
    "\"shape\": \"plate\", \"chord\": 0.8, \"width\": 0.2, \"thickness\": 0.1, \"position\": [1, " y ", 1]"
    kf_scene_free(open_text(TWO(BALL("0.6"), BALL("1.2"))));
    assert_refused(TWO(BALL("0.6"), BALL("1.15")), "\"left\" and \"right\" overlap;");
    assert_refused(TWO(BALL("0.6"), BALL("0.6")), "overlap");
    /* One ball is inside another, and their surfaces do not meet. */
    assert_refused(TWO(BALL("0.6"), "\"shape\": \"ball\", \"radius\": 0.1, \"position\": [1, 0.6, 1]"),
                   "overlap");
    /* A ball is beside a plate, at a place that the plate's end passes when it turns. */
    kf_scene_free(open_text(TWO(BALL("0.6"), PLATE("1.2"))));
    assert_refused(TWO(BALL("0.6"), PLATE("1.2") TURNS("[0, 0, 1]", "0.5")), "cylinder");
    /* Boxes may overlap where the bodies do not. */
    kf_scene_free(
        open_text(TWO(BALL("0.6"), "\"shape\": \"ball\", \"radius\": 0.3, \"position\": [1.5, 1, 1]")));
    const char *sheet = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
    write_text("sheet.obj", sheet);
    assert_refused(TWO(BALL("0.6"), "\"mesh\": \"sheet.obj\", \"position\": [1, 1, 1]"), "open or a sheet");
    assert_refused(
        TWO(BALL("0.6"),
            "\"mesh\": \"sheet.obj\", \"scale\": 0.3, \"position\": [1, 0.6, 1]" TURNS("[0, 0, 1]", "0.5")),
        "open or a sheet");
    kf_scene_free(open_text(TWO(BALL("0.6"), "\"mesh\": \"sheet.obj\", \"position\": [1, 1.5, 1]")));
}

/* Every system but kinetic refuses several solids by its name. */
static void test_other_systems(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_text(TWO(LEFT, RIGHT));
    const kf_system *system;
    must(kf_system_find("incompressible", &system, &error), &error);
    assert_int_equal(system->accepts(problem_of(system, scene), &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "solids"));
    kf_device_info device = *kf_backend_device(backend);
    device.parts = 2;
    assert_int_equal(kinetic_system->accepts_device(problem_of(kinetic_system, scene), &device, &error),
                     KF_BAD_INPUT);
    assert_non_null(strstr(error.message, "solids"));
    scene->immersed_passes = 2;
    assert_int_equal(kinetic_system->accepts(problem_of(kinetic_system, scene), &error), KF_BAD_INPUT);
    kf_scene_free(scene);
}

/* --- The flow ------------------------------------------------------------------------------------------- */

static void take(const kf_scene *scene, kf_config *config) {
    kf_space *space = open_space(scene);
    take_preset(space, "default", config);
    kf_config_set_integer(config, "staged_nodes", 0);
    kf_space_free(space);
}

/* The gate refuses a force that deviates from the reference on the second solid alone, or is no number. */
static void assert_gate_sees_each(const kf_scene *scene, const kf_config *config, kf_reference *reference,
                                  uint64_t steps) {
    kf_error error = {KF_OK, ""};
    kf_verification verification;
    double *force = &reference->of_27.loads[1].force[0];
    const double right = *force;
    kf_plan *plan = open_plan(scene, config);
    advance(plan, steps);
    for (int way = 0; way < 2; way++) {
        *force = way == 0 ? 1.01 * right : (double)NAN;
        assert_int_equal(kinetic_system->verify(plan, reference, &verification, &error), KF_GATE_FAILED);
    }
    *force = right;
    kf_plan_free(plan);
}

/* The plans and variants that support several solids agree with the reference, with the load on each. */
static void test_variants_agree_with_the_reference(void **state) {
    (void)state;
    enum { STEPS = 7, CASES = 5, VALUES = 4 };
    static const char *const values[CASES][VALUES] = {
        {"plan=fused", "staged_nodes=0", "patch_length=256", "slab=0"},
        {"plan=fused", "staged_nodes=0", "immersed_boundary=scatter", "slab=0"},
        {"plan=fused", "streaming=shift", "slab=4", "immersed_boundary=scatter"},
        {"plan=baseline", "storage=f32", "alpha=1", "slab=0"},
        {"plan=paper", "storage=f32", "collision_split=2", "slab=0"}};
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_text(TWO(LEFT TURNS("[0, 1, 0]", "1"), RIGHT TURNS("[0.6, 0, 0.8]", "-0.7")));
    kf_reference *reference;
    must(kinetic_system->reference(problem_of(kinetic_system, scene), STEPS, &reference, &error), &error);
    for (int c = 0; c < CASES; c++) {
        const kf_config config = nearest_config(scene, values[c], VALUES);
        (void)verify_config(kinetic_system, scene, &config, reference, STEPS);
        if (c == 0) assert_gate_sees_each(scene, &config, reference, STEPS);
    }
    kinetic_system->free_reference(reference);
    kf_scene_free(scene);
}

/* The loads on both solids of a scene and on all together, after a number of steps. */
typedef struct seen_loads {
    kf_solid_load all, each[KF_MOST_SOLIDS];
} seen_loads;
static seen_loads loads_after(const kf_scene *scene, uint64_t steps) {
    kf_error error = {KF_OK, ""};
    kf_config config;
    seen_loads seen = {.all = {{0}, {0}}};
    take(scene, &config);
    kf_plan *plan = open_plan(scene, &config);
    advance(plan, steps);
    must(plan->methods->flow->load(plan, &seen.all, &error), &error);
    if (scene->solid_count > 0) must(plan->methods->flow->loads(plan, seen.each, &error), &error);
    kf_plan_free(plan);
    return seen;
}

/* Until sound from one solid reaches the other, each has the force that it has alone. The loads on both,
 * about one point, add up to those on all. */
static void test_loads_add_up(void **state) {
    (void)state;
    enum { BEFORE_SOUND = 5 };
    kf_scene *two = open_text(TWO(LEFT, RIGHT TURNS("[0, 0, 1]", "0.8"))),
             *one = open_text("{\"solid\": {" RIGHT TURNS("[0, 0, 1]", "0.8") "}, " FLOW "}");
    const seen_loads together = loads_after(two, BEFORE_SOUND), alone = loads_after(one, BEFORE_SOUND);
    double arm[2][3], force[3] = {0}, torque[3] = {0}, largest = 0.0;
    for (int s = 0; s < 2; s++)
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, c = (a + 2) % 3;
            for (int i = 0; i < 3; i++)
                arm[s][i] = two->solids[s].motion.center[i] - two->motion.center[i];
            force[a] += together.each[s].force[a];
            torque[a] += together.each[s].torque[a] + arm[s][b] * together.each[s].force[c] -
                         arm[s][c] * together.each[s].force[b];
        }
    for (int a = 0; a < 3; a++) {
        largest = fmax(largest, fabs(alone.all.force[a]));
        assert_true(fabs(together.each[1].force[a] - alone.all.force[a]) < 1e-5 * fabs(alone.all.force[0]));
        assert_true(fabs(together.each[1].torque[a] - alone.all.torque[a]) <
                    1e-5 * fabs(alone.all.torque[2]));
        assert_true(fabs(force[a] - together.all.force[a]) < 1e-5 * fabs(force[0]));
        assert_true(fabs(torque[a] - together.all.torque[a]) < 1e-4 * fabs(force[0]));
    }
    assert_true(largest > 1e-3);
    kf_scene_free(two);
    kf_scene_free(one);
}

/* Two solids that turn in opposite directions on both sides of the middle have mirrored torques and
 * forces, except for their samples' places. */
static void test_mirrored_solids_have_mirrored_loads(void **state) {
    (void)state;
    kf_scene *scene =
        open_text(TWO_IN(LEFT TURNS("[0, 0, 1]", "0.8"), RIGHT TURNS("[0, 0, 1]", "-0.8"), SLOW));
    const seen_loads seen = loads_after(scene, 60);
    const kf_solid_load *left = &seen.each[0], *right = &seen.each[1];
    assert_true(fabs(left->torque[2]) > 1e-3);
    assert_true(fabs(left->torque[2] + right->torque[2]) < 0.01 * fabs(left->torque[2]));
    assert_true(fabs(left->force[0] - right->force[0]) < 0.01 * fabs(left->force[0]));
    assert_true(fabs(left->force[1] + right->force[1]) < 0.01 * fabs(left->force[0]));
    kf_scene_free(scene);
}

/* The two halves of a block, side by side, together have about the drag of the block. */
static void test_two_halves_have_the_drag_of_the_whole(void **state) {
    (void)state;
#define BLOCK(width, y)                                                                                      \
    "\"shape\": \"plate\", \"chord\": 0.6, \"thickness\": 0.6, \"width\": " width ", \"position\": [1, " y   \
    ", 1]"
    kf_scene *two = open_text(TWO_IN(BLOCK("0.4", "1"), BLOCK("0.4", "1.4"), SLOW)),
             *one = open_text("{\"solid\": {" BLOCK("0.8", "1.2") "}, " SLOW "}");
    const seen_loads halves = loads_after(two, 120), whole = loads_after(one, 120);
    const double drag = halves.each[0].force[0] + halves.each[1].force[0];
    assert_true(fabs(halves.each[0].force[0] - halves.each[1].force[0]) < 0.02 * drag);
    assert_true(fabs(drag - whole.all.force[0]) < 0.03 * whole.all.force[0]);
    kf_scene_free(two);
    kf_scene_free(one);
}

/* What follows a checkpoint is the same to the bit, with the load on each solid. */
static void test_a_checkpoint_continues_bit_for_bit(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_text(TWO(LEFT TURNS("[0, 1, 0]", "0.9"), RIGHT TURNS("[1, 0, 0]", "-0.6")));
    kf_config config;
    kf_solid_load loads[2][KF_MOST_SOLIDS] = {{{{0}, {0}}}};
    double *values[2];
    size_t bytes;
    take(scene, &config);
    kf_plan *plan = open_plan(scene, &config), *resumed = open_plan(scene, &config);
    advance(plan, 6);
    must(plan->methods->state_size(plan, &bytes, &error), &error);
    void *saved = malloc(bytes);
    assert_non_null(saved);
    must(plan->methods->save(plan, saved, &error), &error);
    must(resumed->methods->restore(resumed, saved, 6, &error), &error);
    kf_plan *const both[2] = {plan, resumed};
    for (int i = 0; i < 2; i++) {
        advance(both[i], 5);
        must(kf_kinetic_read(both[i], &values[i], &error), &error);
        must(both[i]->methods->flow->loads(both[i], loads[i], &error), &error);
    }
    assert_memory_equal(loads[0], loads[1], sizeof loads[0]);
    assert_memory_equal(values[0], values[1], 4 * sizeof(double) * 30 * 24 * 20);
    for (int i = 0; i < 2; i++) {
        free(values[i]);
        kf_plan_free(both[i]);
    }
    free(saved);
    kf_scene_free(scene);
}

/* Kind of fault: tables change their names' meaning. Two solids exchange their names, which are in no
 * hash, and a resumed run adds rows of one to those of the other. */
static void test_names_are_kept(void **state) {
    (void)state;
    kf_error error = {KF_OK, ""};
    const char *const texts[] = {
        TWO(LEFT, RIGHT), "{\"solids\": [" NAMED("right", LEFT) ", " NAMED("left", RIGHT) "], " FLOW "}"};
    char folder[KF_PATH];
    (void)snprintf(folder, sizeof folder, "%s", write_text("run.json", "{}"));
    *strrchr(folder, '/') = '\0';
    for (int i = 0; i < 2; i++) {
        kf_config config;
        kf_facts meaning = {0};
        kf_scene *scene = open_text(texts[i]);
        take(scene, &config);
        kf_plan *plan = open_plan(scene, &config);
        plan->methods->meaning(plan, &meaning);
        if (i == 0) {
            cJSON *record = cJSON_CreateObject();
            cJSON_AddItemToObject(record, "columns_refer_to", kf_facts_to_json(&meaning));
            must(kf_run_folder_record(folder, record, &error), &error);
            must(kf_run_folder_check_meaning(folder, &meaning, &error), &error);
            cJSON_Delete(record);
        } else {
            assert_int_equal(kf_run_folder_check_meaning(folder, &meaning, &error), KF_BAD_INPUT);
            assert_non_null(strstr(error.message, "\"left\" as solid_1, and this run to \"right\""));
        }
        kf_facts_free(&meaning);
        kf_plan_free(plan);
        kf_scene_free(scene);
    }
}

static int set_up(void **state) {
    return make_test_folder(state) != 0 || open_backend_for_variants(state) != 0;
}
static int tear_down(void **state) {
    return close_backend(state) != 0 || remove_test_folder(state) != 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_other_grids),
                                       cmocka_unit_test(test_list_of_one),
                                       cmocka_unit_test(test_each_as_alone),
                                       cmocka_unit_test(test_hash_and_place),
                                       cmocka_unit_test(test_documents_of_several_solids),
                                       cmocka_unit_test(test_errors_of_solids_are_named_with_their_place),
                                       cmocka_unit_test(test_overlapping_solids_are_refused),
                                       cmocka_unit_test(test_other_systems),
                                       cmocka_unit_test(test_variants_agree_with_the_reference),
                                       cmocka_unit_test(test_loads_add_up),
                                       cmocka_unit_test(test_mirrored_solids_have_mirrored_loads),
                                       cmocka_unit_test(test_two_halves_have_the_drag_of_the_whole),
                                       cmocka_unit_test(test_a_checkpoint_continues_bit_for_bit),
                                       cmocka_unit_test(test_names_are_kept)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
