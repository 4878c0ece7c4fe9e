/* What every system's plans make of their configs, as known texts: what is compiled with which defines, every
 * item of a step with its shape and its place in the schedule, buffers. On devices that only record
 * (tests/tools/recording_backend.h), so that a GPU's plans and a team's are among them. Of each space:
 * its presets, and every value of every parameter, with as little else changed as its constraints allow. */
#include <math.h>
#include <stdio.h>

#include "base/space/space.h"
#include "solver/systems.h"
#include "tests/tools/recording_backend.h"
#include "tests/unit/known_text.h"
#include "tests/unit/modelled_gpu.h"

static void must(kf_status status, const kf_error *error) {
    if (status != KF_OK) fail_msg("%s", error->message);
}

/* --- a plan as lines -------------------------------------------------------------------------------------
 */

enum { MOST_LINES = 4096, LINE = 256 };
typedef struct lines {
    char (*list)[LINE];
    int count;
} lines;

static bool has_line(const lines *all, const char *line) {
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->list[i], line) == 0) return true;
    return false;
}

static void add_line(lines *all, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_line(lines *all, const char *format, ...) {
    char line[LINE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (has_line(all, line)) return;
    assert_true(all->count < MOST_LINES);
    memcpy(all->list[all->count++], line, sizeof line);
}

static void add_kernel(lines *all, const kf_item *item, const char *when) {
    const kf_launch *launch = item->kernel;
    int extent[3];
    memcpy(extent, launch->arguments, sizeof extent);
    add_line(all, "%s: blocks %dx%dx%d of %dx%dx%d, %zu shared%s, %.6g B, %.6g flop%s", item->name,
             launch->block[0], launch->block[1], launch->block[2], extent[0], extent[1], extent[2],
             launch->shared_bytes, launch->overlaps ? ", overlaps" : "", item->bytes, item->flops, when);
}

static void add_items(lines *all, const kf_plan *plan) {
    static const char *const kinds[] = {"kernel", "call", "copy", "signal", "await"};
    for (size_t i = 0; i < plan->item_count; i++) {
        const kf_item *item = &plan->items[i];
        char when[64];
        (void)snprintf(when, sizeof when, "; part %d, lane %d%s, %d of %d", item->part, item->lane,
                       item->joins ? " joins" : "", item->phase, item->period);
        if (item->kind == KF_ITEM_KERNEL)
            add_kernel(all, item, when);
        else if (item->kind == KF_ITEM_COPY)
            add_line(all, "%s: copy of %zu rows of %zu from %zu to %zu%s", item->name, item->copy.rows,
                     item->copy.bytes, item->copy.source_offset, item->copy.target_offset, when);
        else
            add_line(all, "%s: %s, %.6g B, %.6g flop%s", item->name, kinds[item->kind], item->bytes,
                     item->flops, when);
    }
}

static kf_status add_source(const kf_source *source, void *data, kf_error *error) {
    (void)error;
    for (int i = 0; i < source->define_count; i++)
        add_line(data, "%s %s %s", source->file, source->defines[i].name, source->defines[i].value);
    return KF_OK;
}

static lines lines_of(const kf_problem *problem, const kf_config *config, kf_backend *backend) {
    lines all = {malloc((size_t)MOST_LINES * LINE), 0};
    kf_error error = {KF_OK, ""};
    kf_plan *plan = NULL;
    assert_non_null(all.list);
    kf_status status = problem->system->plan(problem, config, backend, &plan, &error);
    if (status != KF_OK) {
        add_line(&all, "refused: %s", error.message);
        return all;
    }
    must(problem->system->sources(problem, config, kf_backend_device(backend), add_source, &all, &error),
         &error);
    size_t bytes = 0;
    for (size_t i = 0; i < plan->buffer_count; i++)
        bytes += kf_buffer_size(plan->buffers[i]);
    add_line(&all, "%zu buffers of %zu bytes, %zu modules, %zu items, a cycle of %d, %d windows of %d",
             plan->buffer_count, bytes, plan->module_count, plan->item_count, kf_plan_cycle(plan),
             plan->windows, (int)plan->window_steps);
    add_line(&all, "at least %.6g bytes for %.6g updates", plan->least_bytes, plan->updates);
    add_items(&all, plan);
    recorded_work *work = &recording_of(backend)->work;
    *work = (recorded_work){0};
    if (kf_plan_initialise(plan, &error) != KF_OK) add_line(&all, "to begin: %s", error.message);
    add_line(&all, "to begin: %d launches, %d calls, %d fills", (int)work->launches, (int)work->calls,
             (int)work->fills);
    kf_plan_free(plan);
    return all;
}

static int differing(const lines *all, const lines *other) {
    int count = 0;
    for (int i = 0; i < all->count; i++)
        count += !has_line(other, all->list[i]);
    for (int i = 0; i < other->count; i++)
        count += !has_line(all, other->list[i]);
    return count;
}

/* --- configs ---------------------------------------------------------------------------------------------
 */

/* Changes so many of the values from parameter first on, but not that of `kept`. */
static bool change_values(const kf_space *space, int *positions, int kept, int first, int changes,
                          uint64_t *index) {
    if (changes == 0) return kf_space_positions_index(space, positions, index);
    for (int p = first; p < kf_space_parameter_count(space); p++) {
        const int usual = positions[p];
        for (int i = 0; p != kept && i < kf_space_domain_size(space, p); i++) {
            if (i == usual) continue;
            positions[p] = i;
            if (change_values(space, positions, kept, p + 1, changes - 1, index)) return true;
        }
        positions[p] = usual;
    }
    return false;
}

enum { MOST_PRESETS = 8 };
typedef struct told {
    kf_text *text;
    const kf_problem *problem;
    kf_backend *backend;
    kf_config usual;
    const char *names[MOST_PRESETS]; /* of presets, the usual one first */
    lines lines[MOST_PRESETS];
    int presets;
} told;

/* What it has and has not beside the preset that it differs from in the fewest lines. */
static void tell_difference(const told *t, const lines *all) {
    int nearest = 0;
    for (int i = 1; i < t->presets; i++)
        if (differing(all, &t->lines[i]) < differing(all, &t->lines[nearest])) nearest = i;
    const lines *other = &t->lines[nearest];
    kf_text_append(t->text, "  of %s\n", t->names[nearest]);
    for (int i = 0; i < other->count; i++)
        if (!has_line(all, other->list[i])) kf_text_append(t->text, "  - %s\n", other->list[i]);
    for (int i = 0; i < all->count; i++)
        if (!has_line(other, all->list[i])) kf_text_append(t->text, "  + %s\n", all->list[i]);
}

static void tell_config(told *t, const char *name, const kf_config *config, bool is_preset) {
    lines all = lines_of(t->problem, config, t->backend);
    char *summary = kf_config_relative(config, &t->usual, "default");
    kf_text_append(t->text, " %s: %s\n", name, summary);
    free(summary);
    if (t->presets > 0) tell_difference(t, &all);
    for (int i = 0; t->presets == 0 && i < all.count; i++)
        kf_text_append(t->text, "  + %s\n", all.list[i]);
    if (!is_preset) {
        free(all.list);
        return;
    }
    assert_true(t->presets < MOST_PRESETS);
    t->names[t->presets] = name;
    t->lines[t->presets++] = all;
}

/* of_teams: of the parameters of teams alone. */
static void tell_values(told *t, const kf_space *space, bool of_teams) {
    uint64_t index = 0;
    int usual[KF_CONFIG_VALUES] = {0};
    char why[256];
    assert_true(kf_space_index(space, &t->usual, &index, why, sizeof why));
    kf_space_positions(space, index, usual);
    for (int p = 0; p < kf_space_parameter_count(space); p++)
        for (int i = 0; i < kf_space_domain_size(space, p); i++) {
            int positions[KF_CONFIG_VALUES];
            kf_config config;
            bool found = false;
            kf_value value;
            kf_space_value(space, p, i, &value);
            if (strcmp(value.name, "nccl") == 0) continue; /* whose library wants a GPU */
            if (i == usual[p] || (of_teams && !kf_space_parameter_is_of_team(space, p))) continue;
            for (int changes = 0; changes <= 1 && !found; changes++) {
                memcpy(positions, usual, sizeof positions);
                positions[p] = i;
                found = change_values(space, positions, p, 0, changes, &index);
            }
            if (!found) continue;
            kf_space_config(space, index, &config);
            tell_config(t, kf_space_parameter_name(space, p), &config, false);
        }
}

/* every: all values of all parameters, of a team of those of teams, else the presets alone. */
static void tell_plans(kf_text *text, const char *system, const char *scene, const kf_device_info *device,
                       int parts, bool every) {
    kf_error error = {KF_OK, ""};
    kf_problem *large = NULL, *problem = NULL;
    kf_space *space = NULL;
    int steps = 0;
    kf_backend *backend = recording_open_team(device, parts);
    told t = {.text = text, .backend = backend};
    const kf_problem_options options = {.accuracy = strcmp(system, "kinetic") == 0 ? 0.02 : 0};
    must(kf_problem_open(scene, system, &options, &large, &error), &error);
    must(large->system->trial(large, &problem, &steps, &error), &error);
    problem->system = large->system;
    t.problem = problem;
    must(kf_problem_space(problem, kf_backend_device(backend), NULL, 0, &space, &error), &error);
    must(kf_space_preset(space, "default", &t.usual, &error), &error);
    kf_text_append(text, "%s of %s on %d x %s:\n", system, scene, parts, device->backend);
    tell_config(&t, "default", &t.usual, true);
    for (int i = 0; i < kf_space_preset_count(space); i++) {
        kf_config config;
        const char *name = kf_space_preset_name(space, i);
        must(kf_space_preset(space, name, &config, &error), &error);
        if (strcmp(name, "default") != 0) tell_config(&t, name, &config, true);
    }
    if (every) tell_values(&t, space, parts > 1);
    for (int i = 0; i < t.presets; i++)
        free(t.lines[i].list);
    kf_space_free(space);
    kf_backend_close(backend);
    kf_problem_free(problem);
    kf_problem_free(large);
}

static void test_kinetic(void **state) {
    (void)state;
    kf_text text = {0};
    tell_plans(&text, "kinetic", "ball", &gpu, 1, true);
    tell_plans(&text, "kinetic", "spinning_torus", &gpu, 1, false);
    tell_plans(&text, "kinetic", "settling", &recording_host, 1, false);
    tell_plans(&text, "kinetic", "ball", &gpu, 2, true);
    assert_known("launches-kinetic.txt", text.text);
}

static void test_flat(void **state) {
    (void)state;
    kf_text text = {0};
    tell_plans(&text, "d2q9", "cylinder2d", &gpu, 1, true);
    tell_plans(&text, "d2q9", "cavity2d", &recording_host, 1, false);
    tell_plans(&text, "d2q9", "cylinder2d", &gpu, 2, true);
    assert_known("launches-d2q9.txt", text.text);
}

static void test_fluids(void **state) {
    (void)state;
    kf_text text = {0};
    tell_plans(&text, "stable_fluids", "plume", &recording_host, 1, true);
    tell_plans(&text, "stable_fluids", "kolmogorov", &recording_host, 1, false);
    tell_plans(&text, "stable_fluids", "plume3d", &recording_host, 1, false);
    assert_known("launches-stable-fluids.txt", text.text);
}

static void test_particles(void **state) {
    (void)state;
    kf_text text = {0};
    tell_plans(&text, "sph", "dam_break_3d", &gpu, 1, true);
    tell_plans(&text, "sph", "slump", &gpu, 1, false);
    tell_plans(&text, "sph", "river", &recording_host, 1, false);
    assert_known("launches-sph.txt", text.text);
}

static void test_incompressible(void **state) {
    (void)state;
    kf_text text = {0};
    /* Of few triangles, from which every config looks for the distances of all nodes. */
    tell_plans(&text, "incompressible", "plate", &recording_host, 1, true);
    assert_known("launches-incompressible.txt", text.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinetic),        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_fluids),         cmocka_unit_test(test_particles),
        cmocka_unit_test(test_incompressible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
