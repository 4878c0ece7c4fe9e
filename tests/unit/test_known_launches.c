/* Tests what every system's plans make of their configs, as known texts: sources with their defines, every
 * item of a step with its shape and place in the schedule, buffers. Devices only record
 * (tests/tools/recording_backend.h), so that plans of GPUs and teams are among them. Of each space it
 * takes the presets, and every value of every parameter with as little else changed as the constraints
 * allow. Faults: a launch, define or buffer that changes by accident. */
#include <math.h>
#include <stdio.h>

#include "base/space/space.h"
#include "solver/systems.h"
#include "tests/tools/known_configs.h"
#include "tests/tools/recording_backend.h"
#include "tests/unit/check.h"
#include "tests/unit/known_text.h"

/* --- A plan as lines --- */

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

/* --- Configs --- */

enum { MOST_PRESETS = 8 };
typedef struct told {
    kf_text text;
    const char *names[MOST_PRESETS]; /* of presets, the usual one first */
    lines lines[MOST_PRESETS];
    int presets;
} told;

/* Appends what a config has and lacks beside the preset from which it differs in the fewest lines. */
static void tell_difference(told *t, const lines *all) {
    int nearest = 0;
    for (int i = 1; i < t->presets; i++)
        if (differing(all, &t->lines[i]) < differing(all, &t->lines[nearest])) nearest = i;
    const lines *other = &t->lines[nearest];
    kf_text_append(&t->text, "  of %s\n", t->names[nearest]);
    for (int i = 0; i < other->count; i++)
        if (!has_line(all, other->list[i])) kf_text_append(&t->text, "  - %s\n", other->list[i]);
    for (int i = 0; i < all->count; i++)
        if (!has_line(other, all->list[i])) kf_text_append(&t->text, "  + %s\n", all->list[i]);
}

static void tell_config(void *data, const known_config *known) {
    told *t = data;
    lines all = lines_of(known->problem, known->config, known->backend);
    char *summary = kf_config_relative(known->config, known->usual, "default");
    kf_text_append(&t->text, " %s: %s\n", known->name, summary);
    free(summary);
    if (t->presets > 0) tell_difference(t, &all);
    for (int i = 0; t->presets == 0 && i < all.count; i++)
        kf_text_append(&t->text, "  + %s\n", all.list[i]);
    if (!known->is_preset) {
        free(all.list);
        return;
    }
    assert_true(t->presets < MOST_PRESETS);
    t->names[t->presets] = known->name;
    t->lines[t->presets++] = all;
}

/* Compares what all known configs of the system launch with the file. */
static void assert_launches(const char *system, const char *file) {
    told t = {.presets = 0};
    for (const known_flow *flow = known_flows; flow->system != NULL; flow++) {
        kf_error error = {KF_OK, ""};
        if (strcmp(flow->system, system) != 0) continue;
        kf_text_append(&t.text, "%s of %s on %d x %s:\n", system, flow->scene, flow->parts,
                       flow->device->backend);
        must(each_known_config(flow, tell_config, &t, &error), &error);
        for (; t.presets > 0; t.presets--)
            free(t.lines[t.presets - 1].list);
    }
    assert_known(file, t.text.text);
}

static void test_launches_of_kinetic(void **state) {
    (void)state;
    assert_launches("kinetic", "launches-kinetic.txt");
}

static void test_launches_of_d2q9(void **state) {
    (void)state;
    assert_launches("d2q9", "launches-d2q9.txt");
}

static void test_launches_of_stable_fluids(void **state) {
    (void)state;
    assert_launches("stable_fluids", "launches-stable-fluids.txt");
}

static void test_launches_of_sph(void **state) {
    (void)state;
    assert_launches("sph", "launches-sph.txt");
}

static void test_launches_of_incompressible(void **state) {
    (void)state;
    assert_launches("incompressible", "launches-incompressible.txt");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches_of_kinetic),        cmocka_unit_test(test_launches_of_d2q9),
        cmocka_unit_test(test_launches_of_stable_fluids),  cmocka_unit_test(test_launches_of_sph),
        cmocka_unit_test(test_launches_of_incompressible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
