/* Tests plans of nested grids as lists of kernels: what compiles for a GPU, which kernels wait for which,
 * marches, presets, and costs. Faults: a kernel that does not wait for what it reads. */
#include "tests/unit/kinetic_fixture.h"
#include "tests/unit/nested_tunnel.h"

#include "cost_model/model.h"
#include "solver/kinetic/nested_plan.h"

/* Where NVRTC is installed, it compiles the kernels that couple levels, and the first flow kernel that
 * handles the ends of rows separately. These are the counts of both kinds of sources. */
typedef struct sources {
    int crossings, edges;
} sources;
static kf_status compile_crossing(const kf_source *source, void *data, kf_error *error) {
    static const kf_device_info gpu = {.spec = "cuda:0", .backend = "cuda", .architecture = "sm_90"};
    sources *said = data;
    kf_build build;
    bool edges = false;
    for (int i = 0; i < source->define_count; i++)
        edges = edges || strcmp(source->defines[i].name, "KF_EDGES") == 0;
    said->edges += edges;
    const bool crosses = strcmp(source->file, "kernels/kinetic/nested.cu") == 0;
    said->crossings += crosses;
    return crosses || (edges && said->edges == 1) ? kf_source_prebuild(&gpu, source, &build, error) : KF_OK;
}
static void test_compiles_for_cuda(void **state) {
    (void)state;
    stage s;
    kf_error error = {KF_OK, ""};
    begin_tunnel(&s, KF_RATE_ONES);
    must(nest(&s, tunnel_boxes, 3, &error), &error);
    static const char *const plans[][4] = {{"plan=moments", "march=8", "storage=f16", "staged_nodes=0"},
                                           {"plan=fused", "march=0", "storage=f16", "staged_nodes=0"},
                                           {"plan=fused", "march=8", "storage=f16", "staged_nodes=0"}};
    /* The flow and the coupling of both finer levels have edges; a plan of moments has none. */
    static const int edges[] = {0, 4, 2};
    for (int i = 0; i < 3; i++) {
        for (int l = 0; l < 3; l++)
            s.whole[l]->outer_ones = i == 2;
        kf_device_info seen = *kf_backend_device(backend);
        sources said = {0, 0};
        const kf_config config = config_of(s.whole[0], plans[i], 4);
        strcpy(seen.backend, "cuda");
        const kf_status status = kinetic_system->sources(problem_of(kinetic_system, s.whole[0]), &config,
                                                         &seen, compile_crossing, &said, &error);
        const bool missing = strstr(error.message, "libnvrtc") || strstr(error.message, "without CUDA");
        if (status != KF_OK && !missing) fail_msg("%s", error.message);
        assert_true(status != KF_OK || said.crossings == 2);
        assert_true(status != KF_OK || said.edges == edges[i]);
    }
    end(&s);
}

/* A kernel of a plan: the kind of its work, its level, and how many kernels of its name came before it. */
typedef enum kind { FLOW, SOLID, REFINE, COARSEN } kind;
enum { MOST_KERNELS = 128 };
typedef struct kernel {
    char name[48];
    kind kind;
    int level, number;
    /* For each kernel before it in the plan, whether it waits for that one. */
    bool after[MOST_KERNELS];
} kernel;

/* Records which kernels each lane and each mark come after. */
typedef struct order {
    int count;
    kernel kernels[MOST_KERNELS];
    bool lanes[KF_LANES][MOST_KERNELS], begun[KF_LANES];
    struct {
        const kf_mark *mark;
        bool after[MOST_KERNELS];
    } marks[KF_LANES];
} order;

static void unite(bool *into, const bool *other) {
    for (int i = 0; i < MOST_KERNELS; i++)
        into[i] = into[i] || other[i];
}

static void note_kernel(order *o, const kf_item *item, bool *lane) {
    assert_true(o->count < MOST_KERNELS);
    kernel *made = &o->kernels[o->count];
    const size_t length = strlen(item->name);
    memcpy(made->name, item->name, length + 1);
    made->level = item->name[length - 1] - '0';
    made->kind = strncmp(item->name, "refine", 6) == 0    ? REFINE
                 : strncmp(item->name, "coarsen", 7) == 0 ? COARSEN
                 : strncmp(item->name, "stream", 6) == 0  ? FLOW
                                                          : SOLID;
    memcpy(made->after, lane, sizeof made->after);
    for (int i = 0; i < o->count; i++)
        made->number += strcmp(o->kernels[i].name, made->name) == 0;
    lane[o->count++] = true;
}

static kf_status follow_lanes(void *data, const kf_item *item, kf_error *error) {
    (void)error;
    order *o = data;
    bool *lane = o->lanes[item->lane];
    int m = 0;
    assert_false(item->joins);
    if (!o->begun[item->lane]) unite(lane, o->lanes[KF_LANE_MAIN]);
    o->begun[item->lane] = true;
    if (item->kind == KF_ITEM_KERNEL) {
        note_kernel(o, item, lane);
        return KF_OK;
    }
    while (m + 1 < KF_LANES && o->marks[m].mark != NULL && o->marks[m].mark != item->mark)
        m++;
    o->marks[m].mark = item->mark;
    if (item->kind == KF_ITEM_SIGNAL) memcpy(o->marks[m].after, lane, sizeof o->marks[m].after);
    if (item->kind == KF_ITEM_AWAIT) unite(lane, o->marks[m].after);
    return KF_OK;
}

/* Returns whether two kernels may run at once, because neither reads or writes what the other writes. A
 * level steps from one of its grids to the other. Boxes lie three cells apart, one of which belongs both
 * to the means and to the lines from which means are taken. No node of the solid is a ghost. */
static bool may_run_at_once(const kernel *a, const kernel *b) {
    if (a->kind > b->kind) return may_run_at_once(b, a);
    const int finer = b->level - a->level;
    /* In one step these are the boundary rows and the others. */
    if (b->kind == FLOW) return finer != 0 || (a->number == b->number && strcmp(a->name, b->name) != 0);
    if (a->kind == FLOW && b->kind == SOLID) return finer != 0 || a->number == b->number;
    if (a->kind == FLOW && b->kind == REFINE) return finer != 0 && (finer != 1 || a->number == b->number);
    if (a->kind == FLOW) return finer != 0 && finer != 1;
    if (b->kind == SOLID) return finer != 0;
    if (a->kind == SOLID && b->kind == REFINE) return true;
    if (a->kind == SOLID) return finer != 0 || a->number == 2 * b->number + 2;
    if (a->kind == REFINE) return finer != 0;
    return finer < -1 || finer > 1;
}

static const kernel *find_kernel(const order *o, const char *name, int number) {
    for (int i = 0; i < o->count; i++)
        if (strcmp(o->kernels[i].name, name) == 0 && o->kernels[i].number == number) return &o->kernels[i];
    fail_msg("the plan has no %s", name);
    return NULL;
}

static bool wait(const order *o, const char *name, int number, const char *other, int other_number) {
    const kernel *a = find_kernel(o, name, number), *b = find_kernel(o, other, other_number);
    return a->after[b - o->kernels] || b->after[a - o->kernels];
}

/* Returns the order of the kernels of two steps. The caller frees it. */
static order *order_by(const kf_scene *scene, const char *const *fixed, int count, bool rows_apart) {
    order *o = calloc(1, sizeof *o);
    kf_error error = {KF_OK, ""};
    kf_config config = config_of(scene, fixed, count);
    kf_config_set_boolean(&config, "concurrent_solid", true); /* as a GPU's default */
    /* A thread has two nodes, because the cpu's kernels of whole rows have no boundary rows. */
    if (rows_apart) {
        kf_config_set_integer(&config, "nodes_per_thread", 2);
        kf_config_set_integer(&config, "boundary_kernels", 0);
        kf_config_set_boolean(&config, "boundary_rows_apart", true);
    }
    kf_plan *plan = open_plan(scene, &config);
    for (uint64_t step = 0; step < 2; step++)
        must(kf_plan_walk(plan, step, follow_lanes, o, &error), &error);
    kf_plan_free(plan);
    for (int j = 0; j < o->count; j++)
        for (int i = 0; i < j; i++)
            if (!o->kernels[j].after[i] && !may_run_at_once(&o->kernels[i], &o->kernels[j]))
                fail_msg("%s (%d) does not wait for %s (%d)", o->kernels[j].name, o->kernels[j].number,
                         o->kernels[i].name, o->kernels[i].number);
    return o;
}

static order *order_of(const kf_scene *scene, const char *const *fixed, int count) {
    return order_by(scene, fixed, count, false);
}

/* Levels, their coupling and the solid run concurrently where none needs or changes what another writes,
 * and nowhere else. */
static void test_what_runs_concurrently(void **state) {
    (void)state;
    static const char *const twice[] = {"plan=fused", "storage=f64", "masked_band=false"};
    static const char *const masked[] = {"plan=fused", "storage=f64", "masked_band=true",
                                         "boundary_kernels=1", "staged_nodes=0"};
    static const char *const apart[][5] = {
        {"plan=fused", "storage=f64", "masked_band=false", "layout=soa", "staged_nodes=0"},
        {"plan=fused", "storage=f64", "masked_band=true", "boundary_kernels=1", "staged_nodes=0"}};
    static const char *const moving[] = {"plan=fused", "storage=f64", "immersed_boundary=aggregated",
                                         "patch_length=256"};
    stage s;
    kf_error error = {KF_OK, ""};
    begin_tunnel(&s, KF_RATE_ONES);
    must(nest(&s, tunnel_boxes, 3, &error), &error);
    order *o = order_of(s.whole[0], masked, 5);
    assert_false(wait(o, "stream_collide 0", 1, "stream_collide 2", 4));
    assert_false(wait(o, "stream_collide 0", 0, "refine 2", 0));
    assert_false(wait(o, "stream_collide 1", 1, "refine 2", 1));
    assert_false(wait(o, "coarsen 1", 0, "refine 2", 2));
    assert_false(wait(o, "stream_collide 1", 1, "stream_collide 2", 3));
    assert_false(wait(o, "band_collide 2", 3, "stream_collide 2", 3));
    free(o);
    o = order_of(s.whole[0], twice, 3);
    assert_false(wait(o, "band_macroscopic 2", 2, "refine 2", 1));
    assert_false(wait(o, "band_macroscopic 2", 2, "coarsen 2", 0));
    assert_false(wait(o, "band_macroscopic 2", 3, "stream_collide 2", 3));
    /* The flow's kernel first computes the band's nodes as if no solid were there. */
    for (int step = 0; step < 8; step++)
        assert_true(wait(o, "band_collide 2", step, "stream_collide 2", step));
    free(o);
    for (int masks = 0; masks < 2; masks++) {
        o = order_by(s.whole[0], apart[masks], 5, true);
        assert_false(wait(o, "stream_collide_boundary 2", 3, "stream_collide 2", 3));
        assert_true(wait(o, "stream_collide_boundary 2", 2, "refine 2", 1));
        free(o);
    }
    for (int l = 0; l < 3; l++) {
        kf_motion *motion = &s.whole[l]->motion;
        *motion = (kf_motion){.moving = true, .axis = {1, 0, 0}, .angular_speed = 0.1 / (1 << l)};
        for (int a = 0; a < 3; a++)
            motion->center[a] = 0.5 * (s.whole[l]->solid_low[a] + s.whole[l]->solid_high[a]);
    }
    o = order_of(s.whole[0], moving, 4);
    assert_false(wait(o, "patch_sort 2", 2, "refine 2", 1));
    /* patch_collect replaces the nodes that band_collide reads in the step before. */
    for (int step = 1; step < 8; step++)
        assert_true(wait(o, "patch_collect 2", step, "band_collide 2", step - 1));
    free(o);
    end(&s);
}

/* Kernels of a level's own plan, by name. */
typedef struct level_items {
    int count, level;
    struct {
        char name[48];
        double bytes, flops;
    } list[MOST_KERNELS];
} level_items;

static kf_status note_item(void *data, const kf_item *item, kf_error *error) {
    level_items *own = data;
    (void)error;
    if (item->kind != KF_ITEM_KERNEL) return KF_OK;
    assert_true(own->count < MOST_KERNELS);
    (void)snprintf(own->list[own->count].name, sizeof own->list->name, "%.40s %d", item->name, own->level);
    own->list[own->count].bytes = item->bytes;
    own->list[own->count++].flops = item->flops;
    return KF_OK;
}

static kf_status look_for_item(void *data, const kf_item *item, kf_error *error) {
    (void)error;
    const level_items *levels = data;
    const int level = item->name[strlen(item->name) - 1] - '0';
    if (item->kind != KF_ITEM_KERNEL || strncmp(item->name, "refine", 6) == 0 ||
        strncmp(item->name, "coarsen", 7) == 0)
        return KF_OK;
    for (int i = 0; i < levels[level].count; i++)
        if (strcmp(levels[level].list[i].name, item->name) == 0 &&
            levels[level].list[i].bytes == item->bytes && levels[level].list[i].flops == item->flops)
            return KF_OK;
    fail_msg("%s: %g bytes and %g operations are not those of its level", item->name, item->bytes,
             item->flops);
    return KF_OK;
}

/* A level's kernels read, write and compute as much as in the level's own plan. */
static void test_bytes_of_levels(void **state) {
    (void)state;
    static const char *const fixed[] = {"plan=fused", "storage=f64", "masked_band=false"};
    stage s;
    kf_error error = {KF_OK, ""};
    level_items *levels = kf_allocate_zeroed(3, sizeof *levels);
    double sums[3] = {0.0, 0.0, 0.0};
    begin_tunnel(&s, KF_RATE_ONES);
    must(nest(&s, tunnel_boxes, 3, &error), &error);
    const kf_config config = config_of(s.whole[0], fixed, 3);
    kf_plan *plan = open_plan(s.whole[0], &config);
    for (int l = 0; l < 3; l++) {
        levels[l].level = l;
        for (uint64_t step = 0; step < 2; step++)
            must(kf_plan_walk(kf_nested_level_plan(plan, l), step, note_item, &levels[l], &error), &error);
        for (int i = 0; i < levels[l].count; i++)
            sums[l] += levels[l].list[i].bytes;
        assert_true(sums[l] > 0.0 && (l == 0 || sums[l] != sums[l - 1]));
    }
    for (uint64_t step = 0; step < 2; step++)
        must(kf_plan_walk(plan, step, look_for_item, levels, &error), &error);
    kf_plan_free(plan);
    free(levels);
    end(&s);
}

/* Notes for each level how many planes a block walks at most. */
static kf_status note_march(void *data, const kf_item *item, kf_error *error) {
    (void)error;
    int *marches = data;
    const size_t length = strlen("stream_collide ");
    if (item->kind == KF_ITEM_KERNEL && strncmp(item->name, "stream_collide ", length) == 0)
        marches[item->name[length] - '0'] =
            ((const kf_flow_arguments *)(const void *)item->kernel->arguments)->march;
    return KF_OK;
}

/* On small levels blocks walk fewer planes than the config says, so that there are blocks for the whole
 * device. */
static void test_small_levels_walk_fewer_planes(void **state) {
    (void)state;
    static const char *const fixed[] = {"plan=moments", "storage=f64", "block_x=8", "block_y=8", "march=64"};
    stage s;
    kf_error error = {KF_OK, ""};
    int marches[3] = {0, 0, 0};
    begin(&s, slantwise(KF_RATE_ONES), (const int[3]){12, 12, 12}, 0.01, 3);
    must(nest(&s, two_boxes, 3, &error), &error);
    const kf_config config = config_of(s.whole[0], fixed, 5);
    kf_plan *plan = open_plan(s.whole[0], &config);
    must(kf_plan_walk(plan, 0, note_march, marches, &error), &error);
    const int *nodes = kf_plan_scene(kf_nested_level_plan(plan, 2))->nodes;
    const int tiles = (nodes[0] + 7) / 8 * ((nodes[1] + 7) / 8),
              least = 11 * kf_backend_device(backend)->multiprocessors;
    for (int l = 0; l < 3; l++)
        assert_true(marches[l] >= KF_SHORTEST_WALK && marches[l] <= 64);
    assert_true(marches[2] == KF_SHORTEST_WALK ||
                tiles * ((nodes[2] + marches[2] - 1) / marches[2]) >= least);
    assert_true(marches[2] == 64 || tiles < least);
    assert_int_equal(marches[0], KF_SHORTEST_WALK);
    kf_plan_free(plan);
    end(&s);
}

/* The space on a GPU opens with all presets for any size of scene, with outer rates of 1 or without. */
static void test_presets_open_at_every_size(void **state) {
    (void)state;
    static const double counts[] = {5e4, 1.5e5, 4e5, 8e5, 3e6, 1e7, 5e7, 2e8};
    stage s;
    kf_error error = {KF_OK, ""};
    begin_tunnel(&s, KF_RATE_K17);
    must(nest(&s, tunnel_boxes, 3, &error), &error);
    for (size_t i = 0; i < 2 * (sizeof counts / sizeof *counts); i++) {
        kf_variables variables;
        kf_space *space;
        s.whole[0]->outer_ones = i % 2 == 1;
        kinetic_system->variables(problem_of(kinetic_system, s.whole[0]), kf_backend_device(backend),
                                  &variables);
        for (int v = 0; v < variables.count; v++)
            if (strcmp(variables.values[v].name, "gpu") == 0)
                variables.values[v].value = 1;
            else if (strcmp(variables.values[v].name, "node_count") == 0)
                variables.values[v].value = counts[i / 2];
        must(kf_space_open(kinetic_system->name, kinetic_system->space_file, &variables, NULL, 0, &space,
                           &error),
             &error);
        kf_space_free(space);
    }
    end(&s);
}

/* Every config that the space offers with moments on the outer levels is accepted by every level. */
static void test_outer_configs(void **state) {
    (void)state;
    static const char *const others[] = {
        "layout=aos",         "layout=soa",         "layout=csoa",           "boundary_kernels=1",
        "boundary_kernels=6", "staged_nodes=0",     "nodes_per_thread=2",    "collision_form=expanded",
        "storage=f16",        "keep_streamed=true", "masked_band=true",      "immersed_boundary=scatter",
        "band_chain=true",    "overlap=true",       "concurrent_solid=true", "boundary_rows_apart=true",
        "alternate=true",     "prefetch_rows=0",    "register_cap=40",       "segment_lanes=8"};
    stage s;
    kf_error error = {KF_OK, ""};
    int taken = 0;
    begin_tunnel(&s, KF_RATE_K17);
    for (int l = 0; l < 3; l++)
        s.whole[l]->outer_ones = true;
    must(nest(&s, tunnel_boxes, 3, &error), &error);
    for (size_t i = 0; i < 2 * (sizeof others / sizeof *others); i++) {
        const char *const fixed[] = {"plan=fused", "march=16", others[i / 2]};
        kf_device_info device = *kf_backend_device(backend);
        kf_variables variables;
        kf_space *space;
        if (i % 2 == 1) strcpy(device.backend, "cuda");
        kinetic_system->variables(problem_of(kinetic_system, s.whole[0]), &device, &variables);
        if (kf_space_open(kinetic_system->name, kinetic_system->space_file, &variables, fixed, 3, &space,
                          NULL) != KF_OK)
            continue;
        kf_config config;
        const bool valid = kf_space_nearest(space, &config, NULL) == KF_OK;
        for (int l = 0; l < 3 && valid; l++) {
            kf_kinetic_options options;
            must(kf_kinetic_read_options(&s.nested->level[l].scene, &config, &device, &options, &error),
                 &error);
            assert_int_equal(options.plan, l < 2 ? KF_PLAN_MOMENTS : KF_PLAN_FUSED);
        }
        taken += valid;
        kf_space_free(space);
    }
    assert_true(taken > 20);
    end(&s);
}

/* Counts the items whose name is this one, followed by the level. */
typedef struct tally {
    const char *name;
    double count;
} tally;

static kf_status count_item(void *data, const kf_item *item, kf_error *error) {
    (void)error;
    tally *t = data;
    const size_t length = strlen(t->name);
    if (strncmp(item->name, t->name, length) == 0 && item->name[length] == ' ') t->count += 0.5;
    return KF_OK;
}

/* The model of a step's cost has the launches of all levels, as often as the plan has them, and the bytes
 * of the levels' nodes. */
static void test_the_cost_has_all_levels(void **state) {
    (void)state;
    static const char *const names[] = {"stream_collide", "refine", "coarsen"};
    static const double steps[] = {7.0, 3.0, 3.0};
    stage s;
    kf_error error = {KF_OK, ""};
    begin_tunnel(&s, KF_RATE_ONES);
    must(nest(&s, tunnel_boxes, 3, &error), &error);
    const kf_config config = config_of(s.whole[0], (const char *const[]){"plan=fused", "storage=f64"}, 2);
    kf_plan *plan = open_plan(s.whole[0], &config);
    kf_works works = {.count = 0};
    void *model =
        kinetic_system->cost->open(problem_of(kinetic_system, s.whole[0]), kf_backend_device(backend));
    must(kinetic_system->cost->works(model, &config, &works, &error), &error);
    double bytes = 0.0;
    for (size_t i = 0; i < works.count; i++)
        if (strcmp(works.list[i].name, "stream_collide") == 0)
            bytes += works.list[i].launches * works.list[i].amount[KF_COST_DRAM];
    for (int n = 0; n < 3; n++) {
        tally of_plan = {names[n], 0.0};
        double of_model = 0.0;
        for (uint64_t step = 0; step < 2; step++)
            must(kf_plan_walk(plan, step, count_item, &of_plan, &error), &error);
        for (size_t i = 0; i < works.count; i++)
            of_model += strcmp(works.list[i].name, names[n]) == 0 ? works.list[i].launches : 0.0;
        assert_true(of_plan.count == steps[n] && of_model == steps[n]);
    }
    assert_true(bytes >= plan->least_bytes && bytes < 2.0 * plan->least_bytes);
    kinetic_system->cost->close(model);
    kf_works_free(&works);
    kf_plan_free(plan);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compiles_for_cuda),
        cmocka_unit_test(test_what_runs_concurrently),
        cmocka_unit_test(test_bytes_of_levels),
        cmocka_unit_test(test_small_levels_walk_fewer_planes),
        cmocka_unit_test(test_presets_open_at_every_size),
        cmocka_unit_test(test_outer_configs),
        cmocka_unit_test(test_the_cost_has_all_levels),
    };
    return cmocka_run_group_tests(tests, open_backend_for_variants, close_backend);
}
