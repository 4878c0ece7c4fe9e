/* The work of the d2q9 plans, launch by launch (docs/cost-model.md; the kernels: docs/d2q9.md). */
#include "solver/d2q9/d2q9_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/d2q9/d2q9.h"
#include "solver/flow/flow_problem.h"

/* The populations of a node, and those that move along x. */
enum { VALUES = 9, CUT = 6, SECTOR = 32, WARP = 32 };

typedef struct kf_d2q9_cost {
    const kf_scene *scene;
    const kf_device_info *device;
    bool gpu;
    /* Half-way bounce back at solid nodes; inflow and outflow inside the domain. */
    double links, open_nodes;
    /* Nodes that have links, and rows that have such nodes. */
    double linked_nodes, linked_rows;
} kf_d2q9_cost;

typedef struct kf_d2q9_tally {
    const kf_d2q9_cost *cost;
    kf_d2q9_options options;
    kf_works *works;
    double nodes, store_bytes;
    /* The bytes of all populations. */
    double grids;
    /* The ratio of memory traffic to bytes when the cache holds a part of the data. */
    double cached;
} kf_d2q9_tally;

/* --- A pass over all nodes ------------------------------------------------------------------------------ */

typedef struct kf_d2q9_pass {
    const char *name;
    double launches;     /* a step */
    double registers;    /* a thread */
    double instructions; /* a node */
    /* The values of a node that are read with a shift along x. */
    double cut_reads;
    double cut_writes; /* ... written */
    /* Reads flags, where bounce back is full-way. */
    bool relaxes;
} kf_d2q9_pass;

/* Distance of the streams in memory, as in the kinetic system; nine of them where there are 27 cost nothing
 * when they are near. */
static double stream_efficiency(const kf_d2q9_tally *t) {
    const kf_d2q9_options *o = &t->options;
    const double far = o->layout == KF_D2Q9_SOA ? 1 : (o->alpha_log2 - 5.0) / 15;
    return 1 - 0.065 * fmin(fmax(far, 0), 1);
}

/* Stores of a warp to parts of sectors, a value: groups shorter than a sector. The nine values of a warp's
 * nodes fill their sectors one after the other, which the cache brings together: each such part takes what a
 * sector of the cache takes. What a warp reads lies in the lines that its first read has fetched. */
static double partial_a_value(const kf_d2q9_tally *t) {
    static const double TOGETHER = 0.35; /* of an access to a part of a sector that nobody else fills */
    const kf_d2q9_options *o = &t->options;
    if (o->layout == KF_D2Q9_SOA || (double)o->alpha * t->store_bytes >= SECTOR) return 0;
    return TOGETHER * WARP / (double)o->alpha;
}

/* Instructions of a value's way between its type in memory and the arithmetic's; of arithmetic in double
 * precision. */
static double converted(const kf_d2q9_tally *t, double instructions, double values) {
    if (t->options.storage == KF_D2Q9_F64) return 2 * instructions;
    return instructions + (t->options.storage == KF_D2Q9_F16 ? values : 0);
}

/* Bytes that rows in turn take from the cache and not from memory: of one grid, which is written where it was
 * read, half of the cache, of two a seventh, once the grids are as large as these shares of it. Measured on
 * an H200 with grids of 19 to 680 MB. */
static double in_turn(const kf_d2q9_tally *t) {
    static const double KEPT[2] = {0.53, 0.15}, FROM[2] = {0.55, 0.85}, TO[2] = {0.95, 1.7};
    const double cache = (double)t->cost->device->l2_bytes;
    const int two = t->options.plan != KF_D2Q9_IN_PLACE;
    if (!t->options.alternate || cache <= 0) return 0;
    return KEPT[two] * cache * fmin(1, fmax(0, (t->grids / cache - FROM[two]) / (TO[two] - FROM[two])));
}

/* Adds the work of a pass over all nodes: bytes, partial sectors where rows are shifted, instructions, and
 * how well its addresses and its blocks use the memory. */
static kf_work *add_pass(kf_d2q9_tally *t, const kf_d2q9_pass *p) {
    static const double WAIT_US = 0.3, DEPTH = 3, HIDDEN = 1.5, PUSHED = 0.93, SHIFTED = 0.85, HELD = 0.5,
                        FEW = 0.16, NODES = 2048, TURNED = 0.4, BEGUN = 25000;
    const kf_d2q9_options *o = &t->options;
    const int *n = t->cost->scene->nodes;
    const double rows = n[1] * ceil((double)n[0] / (o->threads * o->nodes_per_thread)); /* of blocks */
    const double flags = (p->relaxes && o->full_way ? 1 : 0) + (o->folded_boundary ? 1 : 0);
    kf_work *work = kf_works_add(t->works, p->name, p->launches);
    /* A row that is read shifted begins and ends in the middle of a sector, and the neighbours' caches hold
     * the rest of it. */
    work->amount[KF_COST_DRAM] =
        t->cached * (t->nodes * (2 * VALUES * t->store_bytes + flags) + HELD * rows * p->cut_reads * SECTOR) -
        in_turn(t);
    work->amount[KF_COST_PARTIAL] = t->nodes / WARP * partial_a_value(t) * VALUES + 2 * rows * p->cut_writes;
    work->amount[KF_COST_INSTRUCTIONS] = t->nodes * converted(t, p->instructions, 2 * VALUES);
    work->amount[KF_COST_LATENCY] =
        t->cached * DEPTH - (o->overlap ? HIDDEN * t->cached : 0) + (o->alternate ? TURNED : 0);
    work->follows = o->overlap;
    if (o->overlap) /* blocks that may begin while others end do so one by one, some 800 a microsecond */
        work->amount[KF_COST_INSTRUCTIONS] = fmax(work->amount[KF_COST_INSTRUCTIONS], BEGUN * rows);
    work->efficiency = stream_efficiency(t) * (!(p->cut_writes > 0) ? 1
                                               : p->cut_reads > 0   ? SHIFTED
                                                                    : PUSHED);
    if (!t->cost->gpu) return work;
    work->blocks = rows / kf_cost_multiprocessors(t->cost->device);
    work->resident = kf_cost_resident_blocks(t->options.threads, p->registers, 0);
    const double asked = work->resident * o->threads * o->nodes_per_thread / NODES; /* nodes at a time */
    work->efficiency *= 1 - FEW * (1 - fmin(1, asked));
    if (work->blocks <= work->resident) work->blocks = 0; /* all are on the device at once */
    work->wait_us = WAIT_US;
    return work;
}

/* --- Kernels beside the flow's --- */

/* Adds boundaries. Faces across x and links have each value in a separate sector. */
static void add_boundaries(kf_d2q9_tally *t) {
    static const double FACE_VALUES = 3, DEPTH = 0.8;
    const int *n = t->cost->scene->nodes;
    const double links = t->options.full_way ? 0 : t->cost->links;
    if (t->cost->open_nodes > 0) {
        kf_work *open = kf_works_add(t->works, "open_boundary", 1);
        open->amount[KF_COST_SCATTERED] = t->cost->open_nodes * 3 * VALUES;
        open->amount[KF_COST_LATENCY] = 2 * DEPTH;
    }
    kf_work *work = kf_works_add(t->works, "boundary", 1);
    work->amount[KF_COST_SCATTERED] = 2.0 * 2 * FACE_VALUES * n[1];
    work->amount[KF_COST_PARTIAL] = 2 * links;
    work->amount[KF_COST_DRAM] = 2.0 * 2 * FACE_VALUES * n[0] * t->store_bytes + 8 * links;
    work->amount[KF_COST_LATENCY] = DEPTH;
}

/* A thread a row moves three values for each border of two blocks, there and back, one after the other. */
static void add_exchange(kf_d2q9_tally *t) {
    const int *n = t->cost->scene->nodes;
    /* Accesses that wait: a load, and the place of the store. */
    static const double MOVE = 1.55;
    const double borders = 2 * ceil((double)n[0] / t->options.threads);
    kf_work *work = kf_works_add(t->works, "lb_exchange", 1);
    work->amount[KF_COST_SCATTERED] = t->cached * 2 * 3 * borders * (n[1] + 2.0);
    work->amount[KF_COST_LATENCY] = t->cached * MOVE * borders;
}

/* --- Several steps a launch ----------------------------------------------------------------------------- */

/* Works out the share of a tile's rows that have a node beside a face or a solid, on average and in the
 * tile that has most: those nodes fetch what they held, and look at their neighbours' flags one by one. */
static void bounced_rows(const kf_d2q9_tally *t, double width, double *mean, double *most) {
    const kf_d2q9_cost *c = t->cost;
    const kf_scene *scene = c->scene;
    const int *n = scene->nodes;
    const double near = c->linked_rows > 0 ? c->linked_nodes / c->linked_rows * width / n[0] : 0;
    *mean = t->options.full_way ? 0 : c->linked_rows / n[1] * fmin(1, near);
    *most = scene->faces[KF_XMIN] != KF_PERIODIC ? 1 : *mean;
}

/* A block walks up its tile row by row, with a barrier each. A row waits for what it fetches, then for level
 * after level; where registers do not hold all that is fetched, for one value after the other. */
static void add_temporal(kf_d2q9_tally *t) {
    static const double MEMORY_US = 0.5, LEVEL_US = 0.06, FLAGS_US = 0.14, UPDATE = 132, ACCESS = 1,
                        REAL_ROWS = 20, OWN = 43, LEVEL = 7;
    /* Registers of 3, 5 and 7 steps, as the compiler chooses; and where it is told how many it may use. */
    static const double registers[2][3] = {{64, 113, 128}, {96, 122, 128}};
    const kf_d2q9_options *o = &t->options;
    const int *n = t->cost->scene->nodes;
    const double steps = o->steps_per_launch, last = steps - 1, width = kf_d2q9_tile_width(o);
    const double tiles = ceil(n[0] / width) * ceil((double)n[1] / o->tile_rows);
    const double wide = o->storage == KF_D2Q9_F64 ? 2 : 1;
    const double shared = last * (o->threads + 2) * REAL_ROWS * sizeof(float) * wide;
    const double allowed = kf_cost_registers_allowed(o->threads, fmax(1, o->resident_blocks));
    const double taken =
        fmin(allowed, wide * registers[o->resident_blocks > 0][(o->steps_per_launch - 3) / 2]);
    const double updates = tiles * o->threads * (steps * (o->tile_rows + 2 * last) - last * last);
    const double read = tiles * o->threads * (o->tile_rows + 2 * last);
    kf_work *work = kf_works_add(t->works, "temporal", 1 / steps);
    work->amount[KF_COST_DRAM] =
        t->cached * (read * (VALUES * t->store_bytes + 1) + t->nodes * VALUES * t->store_bytes);
    work->amount[KF_COST_PARTIAL] = t->nodes / WARP * partial_a_value(t) * VALUES;
    work->efficiency = stream_efficiency(t);
    work->amount[KF_COST_INSTRUCTIONS] =
        updates * converted(t, UPDATE, 0) + converted(t, 0, 1) * ACCESS * VALUES * (read + t->nodes);
    if (!t->cost->gpu) return;
    double mean, most;
    bounced_rows(t, width, &mean, &most);
    const double missing = wide * (OWN + LEVEL * last) - taken,
                 fetched_us = MEMORY_US * (1 + fmin(VALUES, fmax(0, missing))),
                 bounce_us = MEMORY_US + FLAGS_US * steps;
    work->blocks = tiles / kf_cost_multiprocessors(t->cost->device);
    work->resident = kf_cost_resident_blocks(t->options.threads, taken, shared);
    work->turns = o->tile_rows + 3 * last;
    work->wait_us = fetched_us + LEVEL_US * steps + mean * bounce_us;
    work->slowest_us = fetched_us + LEVEL_US * steps + most * bounce_us;
}

/* --- A step --------------------------------------------------------------------------------------------- */

/* Instructions of a node: collision, 18 accesses, addresses (docs/d2q9.md); without the collision. */
enum { RELAXED = 132, MOVED = 36, FOLDED = 30, PLAIN_REGISTERS = 32 };

static double registers_of(const kf_d2q9_options *o) {
    /* Nodes per thread. */
    static const double EACH[] = {0, PLAIN_REGISTERS, 48, 0, 72};
    return EACH[o->nodes_per_thread] * (o->storage == KF_D2Q9_F64 ? 1.8 : 1);
}

/* Adds the kernels of a step by the config's plan. */
static void add_step(kf_d2q9_tally *t) {
    const kf_d2q9_options *o = &t->options;
    const double registers = registers_of(o), relaxed = RELAXED + (o->folded_boundary ? FOLDED : 0);
    if (o->plan == KF_D2Q9_TEMPORAL) {
        add_temporal(t);
        return;
    }
    if (!o->folded_boundary) add_boundaries(t);
    kf_d2q9_pass pass = {.launches = 1, .registers = registers, .instructions = relaxed, .relaxes = true};
    switch (o->plan) {
    case KF_D2Q9_SEPARATE: {
        kf_d2q9_pass stream = {
            .name = "stream",
            .launches = 1,
            .registers = registers,
            .instructions = MOVED,
            .cut_reads = CUT,
        };
        (void)add_pass(t, &stream);
        pass.name = "collide";
        (void)add_pass(t, &pass);
        break;
    }
    case KF_D2Q9_PUSH:
        pass.name = "collide_push";
        pass.cut_writes = CUT;
        (void)add_pass(t, &pass);
        break;
    case KF_D2Q9_IN_PLACE:
        pass.launches = 0.5;
        pass.name = "collide_here";
        (void)add_pass(t, &pass);
        pass.name = "collide_neighbours";
        pass.cut_reads = pass.cut_writes = CUT;
        (void)add_pass(t, &pass);
        break;
    case KF_D2Q9_TOELKE:
        pass.name = "lb_coll_prop";
        (void)add_pass(t, &pass);
        add_exchange(t);
        break;
    default:
        pass.name = "stream_collide";
        pass.cut_reads = CUT;
        (void)add_pass(t, &pass);
        break;
    }
}

/* --- Opening -------------------------------------------------------------------------------------------- */

/* Links of a fluid node: solid neighbours; those across faces that are not periodic belong to the faces. */
static int links_of(const kf_scene *scene, int x, int y) {
    const int nx = scene->nodes[0], ny = scene->nodes[1];
    int links = 0;
    for (int i = 0; i < VALUES; i++) {
        const int ax = x + i % 3 - 1, ay = y + i / 3 - 1, wx = (ax + nx) % nx, wy = (ay + ny) % ny;
        if (wx != ax && scene->faces[KF_XMIN] != KF_PERIODIC) continue;
        if (wy != ay && scene->faces[KF_YMIN] != KF_PERIODIC) continue;
        links += scene->mask[(size_t)wx + (size_t)nx * (size_t)wy] == KF_NODE_SOLID;
    }
    return links;
}

static void survey_mask(kf_d2q9_cost *cost) {
    const kf_scene *scene = cost->scene;
    const int nx = scene->nodes[0], ny = scene->nodes[1];
    for (int y = 0; scene->mask != NULL && y < ny; y++) {
        const double before = cost->linked_nodes;
        for (int x = 0; x < nx; x++) {
            const unsigned char kind = scene->mask[(size_t)x + (size_t)nx * (size_t)y];
            const int links = kind == KF_NODE_FLUID ? links_of(scene, x, y) : 0;
            cost->open_nodes += kind == KF_NODE_INFLOW || kind == KF_NODE_OUTFLOW;
            cost->links += links;
            cost->linked_nodes += links > 0;
        }
        cost->linked_rows += cost->linked_nodes > before;
    }
}

static void *open_cost(const kf_problem *problem, const kf_device_info *device) {
    kf_d2q9_cost *cost = kf_allocate_zeroed(1, sizeof *cost);
    cost->scene = kf_problem_scene(problem);
    cost->device = device;
    cost->gpu = kf_device_is_gpu(device);
    survey_mask(cost);
    return cost;
}

/* Works out the kernels of a config's step and what each takes of the device, for the queueing model of
 * cost_model/. */
static kf_status works_of(void *state, const kf_config *config, kf_works *works, kf_error *error) {
    static const double CACHED = 0.52; /* a copy in the cache takes 4201 / 8111 of one in memory, an H200's */
    static const double WRITTEN = 1.6; /* a grid all of which is written counts as so many of two in turn */
    const kf_d2q9_cost *cost = state;
    if (strcmp(config->system, "d2q9") != 0)
        return kf_fail(error, KF_BAD_INPUT, "the config is for system %s, not d2q9", config->system);
    kf_d2q9_tally t = {.cost = cost, .works = works};
    KF_TRY(kf_d2q9_read_options(cost->scene, config, cost->device, &t.options, error));
    const kf_d2q9_storage storage = t.options.storage;
    t.nodes = (double)cost->scene->nodes[0] * cost->scene->nodes[1];
    t.store_bytes = storage == KF_D2Q9_F64 ? 8 : storage == KF_D2Q9_F16 ? 2 : 4;
    const bool in_place = t.options.plan == KF_D2Q9_IN_PLACE;
    t.grids = (in_place ? 1 : 2) * VALUES * t.store_bytes * t.nodes;
    t.cached = kf_cost_cached((in_place ? WRITTEN : 1) * t.grids, (double)cost->device->l2_bytes, CACHED);
    works->one_by_one = cost->gpu && !t.options.graph;
    add_step(&t);
    return KF_OK;
}

const kf_cost_methods kf_cost_d2q9 = {
    .open = open_cost,
    .works = works_of,
    .close = free,
    .predicts_only = true,
};
