/* Tests checkpoints. Faults: a value that does not come back, or another file that is taken for a
 * checkpoint. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/backend/team/team.h"
#include "base/space/space.h"
#include "base/util/file.h"
#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/output/checkpoint.h"
#include "solver/output/vtkhdf.h"
#include "solver/systems.h"
#include "tests/unit/output_plan.h"
#include "tests/unit/output_scratch.h"
#include "tests/unit/problem_fixture.h"
#include "tests/unit/quick_compiler.h"

static kf_scene *scene;
static kf_plan *plan;

static int set_up(void **state) {
    (void)state;
    scene = make_scene();
    plan = make_quiet_plan(scene, NULL);
    (void)quiet_initialise(plan, NULL);
    plan->steps_done = 123;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free_quiet_plan(plan);
    free_scene(scene);
    return 0;
}

static quiet_system *quiet(void) {
    return plan->system;
}

static const char *write_good(void) {
    const char *path = in_scratch("good.kfc");
    kf_error error = {0};
    if (kf_checkpoint_write(path, plan, NULL, &error) != KF_OK) fail_msg("%s", error.message);
    return path;
}

/* Checks that restoring fails, names the file and the reason, and leaves the plan as it is. */
static void check_refused(const char *path, const char *what) {
    kf_error error = {0};
    memset(quiet()->state, 0x55, STATE_BYTES);
    plan->steps_done = 5;
    assert_int_equal(kf_checkpoint_restore(path, plan, NULL, NULL, &error), KF_BAD_INPUT);
    assert_non_null(strstr(error.message, path));
    if (!strstr(error.message, what)) fail_msg("'%s' does not say '%s'", error.message, what);
    assert_int_equal(plan->steps_done, 5);
    for (int i = 0; i < STATE_BYTES; i++)
        assert_int_equal(quiet()->state[i], 0x55);
}

static void test_round_trip(void **state) {
    (void)state;
    const char *path = write_good();
    unsigned char kept[STATE_BYTES];
    memcpy(kept, quiet()->state, STATE_BYTES);
    memset(quiet()->state, 0, STATE_BYTES);
    plan->steps_done = 0;
    kf_checkpoint described, restored;
    kf_error error;
    assert_int_equal(kf_checkpoint_describe(path, &described, &error), KF_OK);
    assert_int_equal(kf_checkpoint_restore(path, plan, NULL, &restored, &error), KF_OK);
    assert_memory_equal(quiet()->state, kept, STATE_BYTES);
    assert_int_equal(plan->steps_done, 123);
    assert_int_equal(described.step, 123);
    assert_int_equal(described.state_bytes, STATE_BYTES);
    assert_string_equal(described.scene, "ball");
    assert_string_equal(described.collision, "acm_mrt");
    assert_string_equal(described.storage, "f32");
    assert_memory_equal(&described, &restored, sizeof described);
    assert_int_not_equal(access(in_scratch("good.kfc.part"), F_OK), 0);
}

/* Files of equal states are equal, since they do not contain the time of day. */
static void test_equal_states_give_equal_files(void **state) {
    (void)state;
    char *first, *second;
    size_t first_size, second_size;
    kf_error error;
    assert_int_equal(kf_file_read(write_good(), 0, &first, &first_size, &error), KF_OK);
    (void)sleep(1);
    assert_int_equal(kf_file_read(write_good(), 0, &second, &second_size, &error), KF_OK);
    assert_int_equal(first_size, second_size);
    assert_memory_equal(first, second, first_size);
    free(first);
    free(second);
}

static void test_other_config_is_fine(void **state) {
    (void)state;
    const char *path = write_good();
    kf_config_set_integer(&plan->config, "alpha", 64);
    kf_error error;
    assert_int_equal(kf_checkpoint_restore(path, plan, NULL, NULL, &error), KF_OK);
}

/* The plan's problem after a change of its scene. */
static void open_again(void) {
    kf_problem_free((kf_problem *)(uintptr_t)plan->problem);
    plan->problem = kf_flow_problem(&quiet_runner, scene, false);
}

static void test_what_does_not_fit(void **state) {
    (void)state;
    const char *path = write_good();
    kf_config_set_name(&plan->config, "storage", "f64");
    check_refused(path, "storage f32, but this run has f64");
    kf_config_set_name(&plan->config, "storage", "f32");
    scene->collision = KF_BGK;
    open_again();
    check_refused(path, "collision acm_mrt, but this run has bgk");
    scene->collision = KF_ACM_MRT;
    scene->nodes[1]++;
    open_again();
    check_refused(path, "48x24x20 grid, but this run has 48x25x20");
    scene->nodes[1]--;
    scene->hash[3] = 'z';
    open_again();
    check_refused(path, "mesh, flow, motion or samples differ");
    scene->hash[3] = '3';
    open_again();
    kf_copy_text(plan->config.system, KF_NAME, "other");
    check_refused(path, "system quiet, but this run has other");
}

static void test_not_checkpoints(void **state) {
    (void)state;
    check_refused(in_scratch("missing.kfc"), "cannot be opened");
    kf_error error;
    const char *path = in_scratch("text.kfc");
    assert_int_equal(kf_file_write_atomic(path, "not one at all", 14, &error), KF_OK);
    check_refused(path, "not a checkpoint");
    kf_snapshot snapshot;
    make_snapshot(scene, 1, &snapshot);
    path = in_scratch("fields.vtkhdf");
    assert_int_equal(kf_vtkhdf_write(path, &snapshot, 0, &error), KF_OK);
    kf_snapshot_free(&snapshot);
    check_refused(path, "not a checkpoint");
    check_refused(scratch, "");
}

static void test_cut_short(void **state) {
    (void)state;
    char *bytes;
    size_t size;
    kf_error error;
    assert_int_equal(kf_file_read(write_good(), 0, &bytes, &size, &error), KF_OK);
    const char *path = in_scratch("cut.kfc");
    for (size_t length = 0; length < size; length += length < 64 ? 7 : size / 40) {
        assert_int_equal(kf_file_write_atomic(path, bytes, length, &error), KF_OK);
        check_refused(path, "");
    }
    free(bytes);
}

/* Returns the good file with another text in its description, which ends with the header of 1024 bytes. */
static const char *write_with_text(const char *name, size_t length) {
    enum { HEADER = 1024 };
    char *bytes = NULL, text[256] = "";
    size_t size = 0;
    kf_error error = {0};
    assert_int_equal(kf_file_read(write_good(), 0, &bytes, &size, &error), KF_OK);
    char *begin = strchr(bytes, '{');
    cJSON *json = cJSON_ParseWithLength(begin, (size_t)(bytes + HEADER - begin));
    assert_true(json != NULL && length < sizeof text);
    memset(text, 'x', length);
    assert_true(cJSON_ReplaceItemInObjectCaseSensitive(json, name, cJSON_CreateString(text)));
    char *changed = cJSON_PrintUnformatted(json);
    assert_true(begin + strlen(changed) < bytes + HEADER);
    memset(begin, ' ', (size_t)(bytes + HEADER - 1 - begin));
    memcpy(begin, changed, strlen(changed));
    const char *path = in_scratch("text-of-length.kfc");
    assert_int_equal(kf_file_write_atomic(path, bytes, size, &error), KF_OK);
    free(changed);
    cJSON_Delete(json);
    free(bytes);
    return path;
}

/* A text of the description fits whole or is refused: none is cut. */
static void test_texts_fit_whole(void **state) {
    (void)state;
    kf_checkpoint c;
    static const struct {
        const char *name;
        size_t size;
    } texts[] = {{"system", sizeof c.system},         {"scene", sizeof c.scene},
                 {"scene_hash", sizeof c.scene_hash}, {"config_hash", sizeof c.config_hash},
                 {"collision", sizeof c.collision},   {"storage", sizeof c.storage}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t length = texts[i].size - 1; length <= texts[i].size; length++) {
            kf_error error = {0};
            const kf_status status =
                                kf_checkpoint_describe(write_with_text(texts[i].name, length), &c, &error),
                            expected = length < texts[i].size ? KF_OK : KF_BAD_INPUT;
            if (status != expected) fail_msg("%s of %zu letters: %s", texts[i].name, length, error.message);
            if (status != KF_OK) assert_non_null(strstr(error.message, "its description cannot be read"));
        }
}

static void test_any_damage(void **state) {
    (void)state;
    char *bytes;
    size_t size;
    kf_error error;
    assert_int_equal(kf_file_read(write_good(), 0, &bytes, &size, &error), KF_OK);
    const char *path = in_scratch("damaged.kfc");
    for (size_t at = 0; at < size; at += at < 1100 ? 1 : 97) {
        bytes[at] = (char)(bytes[at] ^ 0x41);
        assert_int_equal(kf_file_write_atomic(path, bytes, size, &error), KF_OK);
        bytes[at] = (char)(bytes[at] ^ 0x41);
        check_refused(path, "");
    }
    char *longer = kf_allocate_zeroed(size + 1, 1);
    memcpy(longer, bytes, size);
    assert_int_equal(kf_file_write_atomic(path, longer, size + 1, &error), KF_OK);
    check_refused(path, "longer than it says");
    free(longer);
    free(bytes);
}

static void test_a_folder_that_cannot_be_written_fails(void **state) {
    (void)state;
    kf_error error;
    assert_int_not_equal(kf_checkpoint_write(in_scratch("no/such/checkpoint.kfc"), plan, NULL, &error),
                         KF_OK);
}

/* --- The real thing --- */

static void need(kf_status status, const kf_error *error) {
    if (status != KF_OK) fail_msg("%s", error->message);
}

static kf_plan *real_plan(const kf_scene *real, const kf_config *config, kf_backend *backend) {
    const kf_system *system;
    kf_error error = {0};
    kf_plan *made = NULL;
    need(kf_system_find("kinetic", &system, &error), &error);
    need(system->plan(problem_of(system, real), config, backend, &made, &error), &error);
    need(kf_plan_initialise(made, &error), &error);
    return made;
}

static void *saved_state(kf_plan *from, size_t *bytes) {
    kf_error error = {0};
    need(from->methods->state_size(from, bytes, &error), &error);
    void *bytes_of_state = kf_allocate(*bytes);
    need(from->methods->save(from, bytes_of_state, &error), &error);
    return bytes_of_state;
}

static void preset_config(const kf_scene *real, const kf_backend *backend, const char *preset,
                          kf_config *config) {
    const kf_system *system;
    kf_error error = {0};
    need(kf_system_find("kinetic", &system, &error), &error);
    kf_variables variables = {0};
    system->variables(problem_of(system, real), kf_backend_device(backend), &variables);
    kf_space *space = NULL;
    need(kf_space_open(system->name, system->space_file, &variables, NULL, 0, &space, &error), &error);
    need(kf_space_preset(space, preset, config, &error), &error);
    kf_space_free(space);
}

/* Compares 7 + 6 steps, with a checkpoint between them and in plans of their own, with 13 in one go. The
 * number of steps before the checkpoint is odd, because two grids swap roles. */
static void check_bit_for_bit(const char *scene_name, const char *preset) {
    kf_error error = {0};
    kf_scene_options small = {.nodes = {36, 18, 18}, .samples_per_cell = 10};
    kf_scene *real = NULL;
    need(kf_scene_open(scene_name, &small, &real, &error), &error);
    kf_backend *backend = NULL;
    need(kf_backend_open("cpu:1", &backend, &error),
         &error); /* one thread: sums in one order for every plan */
    kf_config config = {0};
    preset_config(real, backend, preset, &config);
    const char *path = in_scratch("real.kfc");

    kf_plan *through = real_plan(real, &config, backend);
    need(kf_plan_advance(through, 13, &error), &error);
    need(kf_backend_synchronize(backend, &error), &error);
    size_t bytes, other_bytes;
    void *wanted = saved_state(through, &bytes);
    kf_solid_load wanted_load, load;
    need(through->methods->flow->load(through, &wanted_load, &error), &error);
    kf_plan_free(through);

    kf_plan *first = real_plan(real, &config, backend);
    need(kf_plan_advance(first, 7, &error), &error);
    need(kf_checkpoint_write(path, first, NULL, &error), &error);
    kf_plan_free(first);

    kf_plan *second = real_plan(real, &config, backend);
    need(kf_checkpoint_restore(path, second, NULL, NULL, &error), &error);
    assert_int_equal(second->steps_done, 7);
    need(kf_plan_advance(second, 6, &error), &error);
    need(kf_backend_synchronize(backend, &error), &error);
    void *got = saved_state(second, &other_bytes);
    need(second->methods->flow->load(second, &load, &error), &error);
    assert_int_equal(bytes, other_bytes);
    assert_memory_equal(got, wanted, bytes);
    assert_memory_equal(&load, &wanted_load, sizeof load);
    kf_plan_free(second);

    free(got);
    free(wanted);
    kf_backend_close(backend);
    kf_scene_free(real);
}

static void test_static_solid_bit_for_bit(void **state) {
    (void)state;
    check_bit_for_bit("ahmed", "default");
    check_bit_for_bit("ahmed", "paper");
    check_bit_for_bit("ahmed", "baseline");
}

static void test_moving_solid_bit_for_bit(void **state) {
    (void)state;
    check_bit_for_bit("torus", "default");
}

static kf_scene *open_small(const char *name) {
    const kf_scene_options small = {.nodes = {36, 18, 18}, .samples_per_cell = 10};
    kf_error error = {0};
    kf_scene *real = NULL;
    need(kf_scene_open(name, &small, &real, &error), &error);
    return real;
}

/* Another scene begins in the flow of a checkpoint at its own step 0, with its own solid in its own place.
 * Only the flow is taken. */
static void test_another_scene_begins_in_the_flow(void **state) {
    (void)state;
    kf_error error = {0};
    kf_backend *backend = NULL;
    kf_config config = {0};
    const char *path = in_scratch("lent.kfc");
    kf_scene *lender = open_small("ahmed"), *taker = open_small("ball");
    need(kf_backend_open("cpu:1", &backend, &error), &error);
    preset_config(lender, backend, "default", &config);
    kf_plan *first = real_plan(lender, &config, backend), *second = real_plan(taker, &config, backend);
    kf_solid_pose own, pose, other;
    need(second->methods->flow->pose(second, &own, &error), &error);
    need(first->methods->flow->pose(first, &other, &error), &error);
    assert_memory_not_equal(&own, &other, sizeof own);
    need(kf_plan_advance(first, 7, &error), &error);
    need(kf_checkpoint_write(path, first, NULL, &error), &error);
    need(kf_checkpoint_begin(path, second, &error), &error);
    assert_int_equal(second->steps_done, 0);
    need(second->methods->flow->pose(second, &pose, &error), &error);
    assert_memory_equal(&own, &pose, sizeof own);
    kf_fields lent, taken;
    need(first->methods->flow->fields(first, &lent, &error), &error);
    need(second->methods->flow->fields(second, &taken, &error), &error);
    assert_memory_equal(lent.density, taken.density, 36 * 18 * 18 * sizeof *lent.density);
    kf_fields_free(&lent);
    kf_fields_free(&taken);
    need(kf_plan_advance(second, 5, &error), &error);
    need(kf_plan_watch(second, &error), &error);
    kf_plan_free(second);
    kf_plan_free(first);
    kf_backend_close(backend);
    kf_scene_free(taker);
    kf_scene_free(lender);
}

static void use_moments(kf_config *config) {
    kf_config_set_name(config, "plan", "moments");
    kf_config_set_name(config, "collision_form", "low_order");
    kf_config_set_integer(config, "boundary_kernels", 0);
    kf_config_set_integer(config, "march", 8);
    kf_config_set_integer(config, "staged_nodes", 0);
    kf_config_set_integer(config, "prefetch_rows", 0);
}

/* The state contains a moving solid's place, and in plan moments the list of nodes around the solid, so
 * another scene cannot begin in it. A plan that refuses does not change. */
static void test_more_than_a_flow_is_not_lent(void **state) {
    (void)state;
    const char *const scenes[] = {"torus", "ahmed"};
    const char *path = in_scratch("kept.kfc");
    for (int i = 0; i < 2; i++) {
        kf_error error = {0};
        kf_backend *backend = NULL;
        kf_config config = {0};
        size_t bytes;
        kf_scene *real = open_small(scenes[i]);
        if (i == 1) real->rate_rule = KF_RATE_ONES;
        need(kf_backend_open("cpu:1", &backend, &error), &error);
        preset_config(real, backend, "default", &config);
        if (i == 1) use_moments(&config);
        kf_plan *one = real_plan(real, &config, backend);
        need(kf_plan_advance(one, 2, &error), &error);
        need(kf_checkpoint_write(path, one, NULL, &error), &error);
        need(kf_plan_advance(one, 1, &error), &error);
        void *before = saved_state(one, &bytes);
        assert_int_equal(kf_checkpoint_begin(path, one, &error), KF_BAD_INPUT);
        assert_non_null(strstr(error.message, "belongs to its own scene"));
        assert_int_equal(one->steps_done, 3);
        void *after = saved_state(one, &bytes);
        assert_memory_equal(before, after, bytes);
        free(before);
        free(after);
        kf_plan_free(one);
        kf_backend_close(backend);
        kf_scene_free(real);
    }
}

static int begin(void **state) {
    return take_quick_compiler(state) != 0 ? -1 : make_scratch(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_equal_states_give_equal_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_config_is_fine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_does_not_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_checkpoints, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cut_short, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_texts_fit_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_any_damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_folder_that_cannot_be_written_fails, set_up, tear_down),
        cmocka_unit_test(test_static_solid_bit_for_bit),
        cmocka_unit_test(test_moving_solid_bit_for_bit),
        cmocka_unit_test(test_another_scene_begins_in_the_flow),
        cmocka_unit_test(test_more_than_a_flow_is_not_lent),
    };
    return cmocka_run_group_tests(tests, begin, remove_scratch);
}
