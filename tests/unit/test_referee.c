/* Tests the gate of kftune's own plans, with cheats planted in a copy of the kernels. Faults: a cheat
 * passes, or an honest preset does not. KFTUNE_TEST_ALL=1: the presets of every shipped scene. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/backend/team/team.h"
#include "base/plan/trial.h"
#include "base/util/file.h"
#include "base/util/random.h"
#include "harness/worker/evaluate.h"
#include "kernels/d2q9/arguments.h"
#include "solver/systems.h"
#include "tests/unit/kernel_folder.h"

typedef struct stage {
    kf_backend *backend;
    kf_problem *problem;
    kf_trial trial;
    kf_space *space;
} stage;

static bool begin(stage *s, const char *source, const char *system, const char *device,
                  const kf_problem_options *options, kf_error *error) {
    *s = (stage){.backend = NULL};
    kf_status status = kf_backend_open(device, &s->backend, error);
    if (status == KF_OK) status = kf_problem_open(source, system, options, &s->problem, error);
    if (status == KF_OK) status = kf_trial_open(s->problem, &s->trial, error);
    if (status == KF_OK) status = kf_trial_refer(&s->trial, error);
    if (status == KF_OK)
        status = kf_problem_space(s->problem, kf_backend_device(s->backend), NULL, 0, &s->space, error);
    return status == KF_OK;
}

static void end(stage *s) {
    kf_space_free(s->space);
    if (s->trial.problem != NULL) kf_trial_close(&s->trial);
    kf_problem_free(s->problem);
    kf_backend_close(s->backend);
}

/* ---- Cheats ---- */

typedef enum cheat {
    HONEST,
    STOPS,       /* computes in its first launch only */
    SKIPS_A_ROW, /* leaves the last one */
    STOPS_LATER, /* skips the work once the gate is past */
    WRITES,      /* changes a byte that is not its own */
    /* In grids narrower than CHEAT_BELOW it leaves the last row, from the gate's second run on. */
    TIRES
} cheat;

/* Each kernel of the copy begins with this code. nx, ny, nz are its extent. A launch begins with block 0. */
static const char cheating[] =
    "#include <stdlib.h>\n#include <string.h>\n"
    "#define KF_CHEAT(name)                                                                      \\\n"
    "    {                                                                                       \\\n"
    "        static int launches, before;                                                        \\\n"
    "        const char *const kind_ = getenv(\"CHEAT\"), *const where_ = getenv(\"CHEAT_IN\");     \\\n"
    "        const int cheat_ = kind_ != NULL ? atoi(kind_) : 0;                                 \\\n"
    "        if (cheat_ != before) launches = 0;                                                 \\\n"
    "        before = cheat_;                                                                    \\\n"
    "        if (cheat_ > 0 && strstr(#name, where_) != NULL) {                                  \\\n"
    "            launches += first == 0 && (cheat_ != 5 || nx < atoi(getenv(\"CHEAT_BELOW\")));         \\\n"
    "            if (cheat_ == 1 && launches > 1) return;                                        \\\n"
    "            if (cheat_ == 2) ny--;                                                          \\\n"
    "            if (cheat_ == 3 && launches > 24) return;                                       \\\n"
    "            if (cheat_ == 5 && nx < atoi(getenv(\"CHEAT_BELOW\")) && launches > 10) ny--;           \\\n"
    "            if (cheat_ == 4 && first == 0) {                                                \\\n"
    "                char *at_;                                                                  \\\n"
    "                memcpy(&at_, (const char *)arguments + atoi(getenv(\"CHEAT_AT\")), sizeof at_); \\\n"
    "                at_[atol(getenv(\"CHEAT_BYTE\"))] = 'x';                                    \\\n"
    "            }                                                                               \\\n"
    "        }                                                                                   \\\n"
    "    }\n";

/* Makes a copy of the tests' data folder, with kernels that cheat if the environment asks for it. */
static int make_cheating_folder(void **state) {
    static const char extent[] = "const int nx = a.extent[0], ny = a.extent[1], nz = a.extent[2]; ";
    char shipped[KF_PATH], path[KF_PATH], *text = NULL;
    kf_text command = {0};
    (void)state;
    if (find_shipped_data(shipped) || kf_path(kernel_scratch, NULL, "/tmp/kftune-cheats-XXXXXX") != KF_OK ||
        mkdtemp(kernel_scratch) == NULL)
        return 1;
    kf_text_append(&command,
                   "mkdir '%s/data' && cd '%s/data' && cp -r '%s/kernels' kernels && for f in scene variants "
                   "metrics; do ln -s '%s'/$f $f; done",
                   kernel_scratch, kernel_scratch, shipped, shipped);
    const int made = system(command.text); /* NOLINT(cert-env33-c): the test made both paths */
    kf_text_free(&command);
    if (made != 0) return 1;
    kf_error error;
    size_t size = 0;
    if (kf_path(path, NULL, "%s/data/kernels/portable.h", kernel_scratch) != KF_OK ||
        kf_file_read(path, 1 << 20, &text, &size, &error) != KF_OK)
        return 1;
    kf_text changed = {0};
    const char *guard = strstr(text, "#ifndef KF_KERNELS_PORTABLE_H");
    kf_text_append(&changed, "%s%.*s", cheating, (int)(guard - text), text);
    for (const char *at = guard; at != NULL;) {
        const char *next = strstr(at, extent);
        kf_text_append(&changed, "%.*s", next != NULL ? (int)(next - at) : (int)strlen(at), at);
        if (next != NULL) kf_text_append(&changed, "%s KF_CHEAT(name) ", extent + strlen("const "));
        at = next != NULL ? next + strlen(extent) : NULL;
    }
    const kf_status status = kf_file_write_atomic(path, changed.text, changed.length, &error);
    kf_text_free(&changed);
    free(text);
    if (kf_path(path, NULL, "%s/data", kernel_scratch) != KF_OK) return 1;
    return status != KF_OK || setenv("KFTUNE_DATA", path, 1) != 0;
}
static void set_number(const char *name, long long number) {
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", number);
    assert_int_equal(setenv(name, text, 1), 0);
}

/* Measures a config, as tuning does, with a kernel of that name that cheats. The caller frees. */
static kf_measurement measure(const stage *s, const kf_config *config, cheat how, const char *kernel) {
    const kf_setting setting = {.problem = s->problem, .trial = &s->trial};
    /* There are enough samples for more launches than the cheat waits for. */
    const kf_job job = {.config = *config, .verify = true, .time_limit_us = 1e4, .least_samples = 60};
    kf_measurement m;
    kf_error error = {KF_OK, ""};
    bool usable = false;
    set_number("CHEAT", how);
    assert_int_equal(setenv("CHEAT_IN", kernel, 1), 0);
    if (kf_evaluate(&setting, s->backend, &job, NULL, NULL, &m, &usable, &error) != KF_OK)
        fail_msg("%s", error.message);
    set_number("CHEAT", HONEST);
    assert_true(usable);
    return m;
}

static void expect_honest(const stage *s, const kf_config *config, const char *kernel) {
    kf_measurement m = measure(s, config, HONEST, kernel);
    if (m.state != KF_STATE_OK) fail_msg("honest: %s", m.reason);
    assert_true(m.verification.repeated && m.verification.spread == 0.0);
    kf_measurement_free(&m);
}

static void expect_refused(const stage *s, const kf_config *config, cheat how, const char *kernel,
                           const char *says) {
    kf_measurement m = measure(s, config, how, kernel);
    if (m.state != KF_STATE_WRONG_RESULT || strstr(m.reason, says) == NULL)
        fail_msg("cheat %d in %s: state %d, \"%s\" instead of \"%s\"", (int)how, kernel, (int)m.state,
                 m.reason, says);
    assert_true(m.step_us.count == 0);
    kf_measurement_free(&m);
}

static kf_config preset_of(const stage *s, const char *name) {
    kf_config config;
    kf_error error;
    assert_int_equal(kf_space_preset(s->space, name, &config, &error), KF_OK);
    return config;
}

static void lattices_in_two_dimensions(void **state) {
    static const kf_problem_options grid = {.nodes = {48, 40, 1}};
    const size_t target = offsetof(kf_d2q9_arguments, target);
    stage s;
    kf_error error;
    (void)state;
    if (!begin(&s, "cavity2d", NULL, "cpu:1", &grid, &error)) fail_msg("%s", error.message);
    kf_config config = preset_of(&s, "default");
    expect_honest(&s, &config, "stream_collide");
    expect_refused(&s, &config, STOPS, "stream_collide", "deviates from the reference");
    expect_refused(&s, &config, SKIPS_A_ROW, "stream_collide", "nan");
    expect_refused(&s, &config, STOPS_LATER, "stream_collide", "after it was timed, ");
    set_number("CHEAT_AT", (long long)target);
    set_number("CHEAT_BYTE", -5);
    expect_refused(&s, &config, WRITES, "stream_collide", "5 bytes before the beginning");
    end(&s);
}

/* The gate's second half is for configs that are timed: before the first one, whose state is the reference
 * for others, and after the others. */
static void the_second_half_is_for_who_has_a_time(void **state) {
    static const kf_problem_options grid = {.nodes = {192, 192, 1}};
    stage s;
    kf_error error;
    (void)state;
    if (!begin(&s, "cavity2d", NULL, "cpu:1", &grid, &error)) fail_msg("%s", error.message);
    const kf_config config = preset_of(&s, "default");
    set_number("CHEAT_BELOW", 192);
    expect_refused(&s, &config, TIRES, "stream_collide", "from spoilt outputs, ");
    expect_honest(&s, &config, "stream_collide");
    expect_refused(&s, &config, TIRES, "stream_collide", "from spoilt outputs, ");
    expect_honest(&s, &config, "stream_collide");
    const kf_setting setting = {.problem = s.problem, .trial = &s.trial};
    const kf_job job = {.config = config,
                        .verify = true,
                        .may_lose = true,
                        .incumbent = {.samples_us = {0.01, 0.01}, .count = KF_SKIP_SAMPLES, .high_us = 0.01}};
    kf_measurement m;
    bool usable = false;
    assert_int_equal(kf_evaluate(&setting, s.backend, &job, NULL, NULL, &m, &usable, &error), KF_OK);
    assert_int_equal(m.state, KF_STATE_SKIPPED);
    assert_true(m.verification.error < m.verification.bound);
    assert_false(m.verification.repeated);
    kf_measurement_free(&m);
    end(&s);
}

/* One grid that a step changes in place has nothing that could be spoilt. */
static void lattices_in_place(void **state) {
    static const kf_problem_options grid = {.nodes = {48, 40, 1}};
    stage s;
    kf_error error;
    (void)state;
    if (!begin(&s, "cavity2d", NULL, "cpu:1", &grid, &error)) fail_msg("%s", error.message);
    kf_config config = preset_of(&s, "default");
    kf_config_set_name(&config, "plan", "inplace");
    expect_refused(&s, &config, STOPS_LATER, "collide_", "the velocity on the whole problem");
    expect_honest(&s, &config, "collide_");
    expect_refused(&s, &config, STOPS, "collide_", "deviates from the reference");
    expect_refused(&s, &config, STOPS_LATER, "collide_", "the velocity on the whole problem");
    end(&s);
}

/* The paper's config has flags of nodes for its full-way bounce back. */
static void flags_are_inputs(void **state) {
    static const kf_problem_options grid = {.nodes = {110, 21, 1}};
    stage s;
    kf_error error;
    (void)state;
    if (!begin(&s, "cylinder2d", NULL, "cpu:1", &grid, &error)) fail_msg("%s", error.message);
    kf_config config = preset_of(&s, "default");
    kf_config_set_name(&config, "bounce_back", "full_way");
    expect_honest(&s, &config, "stream_collide");
    set_number("CHEAT_AT", (long long)offsetof(kf_d2q9_arguments, flags));
    set_number("CHEAT_BYTE", 0);
    expect_refused(&s, &config, WRITES, "stream_collide", "changes an input");
    end(&s);
}

static void lattices_in_three_dimensions(void **state) {
    static const kf_problem_options grid = {.nodes = {24, 16, 16}, .samples_per_cell = 2};
    stage s;
    kf_error error;
    (void)state;
    if (!begin(&s, "ball", NULL, "cpu:1", &grid, &error)) fail_msg("%s", error.message);
    const kf_config config = preset_of(&s, "default");
    expect_honest(&s, &config, "stream_collide");
    expect_refused(&s, &config, STOPS, "stream_collide", "deviates from the reference");
    expect_refused(&s, &config, SKIPS_A_ROW, "stream_collide", "nan");
    expect_refused(&s, &config, STOPS_LATER, "stream_collide", "after it was timed, ");
    end(&s);
}

static int remove_cheating_folder(void **state) {
    (void)state;
    return remove_kernel_folder();
}

/* --- Honest kernels --- */

static bool passes(const stage *s, const char *name, const char *which, const kf_config *config) {
    kf_verification verification;
    kf_error error = {KF_OK, ""};
    const kf_status status = kf_trial_verify(&s->trial, config, s->backend, &verification, &error);
    char *summary = kf_config_summary(config);
    print_message("%s, %s: %s: %s\n", name, which, summary, status == KF_OK ? "passes" : error.message);
    if (status == KF_OK && verification.spread > 0.0) print_message("  spread %.2g\n", verification.spread);
    free(summary);
    return status != KF_GATE_FAILED;
}

/* Returns how many presets, and how many of KFTUNE_TEST_CONFIGS random configs, do not pass. */
static int try_presets(const stage *s, const char *name) {
    const char *wanted = getenv("KFTUNE_TEST_CONFIGS");
    const int count = wanted != NULL ? atoi(wanted) : 0;
    uint64_t random = 7;
    int refused = 0;
    for (int i = 0; i < kf_space_preset_count(s->space) + count; i++) {
        const bool preset = i < kf_space_preset_count(s->space);
        const char *which = preset ? kf_space_preset_name(s->space, i) : "random";
        kf_config config;
        if (preset)
            config = preset_of(s, which);
        else
            kf_space_config(s->space, kf_random_below(&random, kf_space_size(s->space)), &config);
        refused += !passes(s, name, which, &config);
    }
    return refused;
}

/* Does this for a scene and a system, if the system runs the scene. */
static int try_scene(const char *name, const char *system) {
    const char *device = getenv("KFTUNE_TEST_DEVICE");
    kf_error error;
    stage s;
    int refused = 0;
    if (begin(&s, name, system, device != NULL ? device : "cpu:2", NULL, &error))
        refused = try_presets(&s, name);
    else
        print_message("%s: %s\n", name, error.message);
    end(&s);
    return refused;
}

static void every_preset_of_every_scene(void **state) {
    (void)state;
    const char *which = getenv("KFTUNE_TEST_ALL"), *data = NULL;
    char folder[KF_PATH];
    int refused = 0;
    kf_error error = {KF_OK, ""};
    if (which == NULL) skip();
    assert_int_equal(kf_data_folder(&data, &error), KF_OK);
    assert_int_equal(kf_path(folder, &error, "%s/scene/library", data), KF_OK);
    DIR *scenes = opendir(folder);
    assert_non_null(scenes);
    for (const struct dirent *entry = readdir(scenes); entry != NULL; entry = readdir(scenes)) {
        char name[128];
        const char *dot = strrchr(entry->d_name, '.');
        if (dot == NULL || strcmp(dot, ".json") != 0) continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)(dot - entry->d_name), entry->d_name);
        if (strlen(which) > 1 && strcmp(which, name) != 0) continue;
        refused += try_scene(name, NULL);
        refused += try_scene(name, "incompressible");
    }
    (void)closedir(scenes);
    assert_int_equal(refused, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lattices_in_two_dimensions),
                                       cmocka_unit_test(lattices_in_place),
                                       cmocka_unit_test(the_second_half_is_for_who_has_a_time),
                                       cmocka_unit_test(flags_are_inputs),
                                       cmocka_unit_test(lattices_in_three_dimensions),
                                       cmocka_unit_test(every_preset_of_every_scene)};
    return cmocka_run_group_tests(tests, make_cheating_folder, remove_cheating_folder);
}
