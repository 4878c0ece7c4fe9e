/* The work of the sph plans, launch by launch: candidates and neighbours of a particle, what a thread
 * computes for each, and how many warps the registers and the shared memory of a multiprocessor hold
 * (docs/cost-model.md). */
#include "cost_model/sph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/sph/sph.h"

typedef struct kf_sph_cost {
    const kf_particle_scene *scene;
    bool gpu;
} kf_sph_cost;

typedef struct kf_tally {
    const kf_particle_scene *scene;
    kf_sph_options options;
    kf_works *works;
    double particles, neighbours; /* inside the support */
    double support;               /* with the skin, in spacings */
    /* That a particle looks through; a row has more ranges where it is periodic. */
    double rows, ranges, candidates;
    double runs;  /* ranges of a row that hold any, in the mean */
    double cells; /* in all */
    bool gpu;
} kf_tally;

/* Instructions, or as many as take as long: of a range of candidates (its beginning and end are read), more
 * of one that is cut, of one beyond a periodic face that is empty, to gather four floats from places of a
 * lane's own, to compare a distance, to note a bit and to take it up again, to append to a list; to move a
 * value that does not fit the registers, once a neighbour. */
static const double RANGE = 90, PRUNE = 60, IMAGE = 20, GATHER = 26, TEST = 9, NOTE = 8, BIT = 6, APPEND = 20,
                    SPILL = 2;
/* To add a value up over the lanes of a particle, each time their number halves; values of a sum. */
static const double SHUFFLE = 3, VALUES = 7;
/* Lanes wait for the one of their warp with most neighbours. */
static const double UNEVEN_LISTS = 1.15, UNEVEN_BITS = 1.25;
/* Groups of lanes that look at different candidates. */
static const double LANES_APART = 6;
/* Instructions that a multiprocessor issues while a warp waits for what it loads, four a cycle: places of a
 * lane's own, and where a range begins, which come from L1 or L2 (40 and 260 cycles); candidates side by
 * side, and those just looked through, from L1. */
static const double WAIT_APART = 4 * 150, WAIT_BESIDE = 4 * 40;

/* --- what is looked through ----------------------------------------------------------------------------- */

/* Cells of a row, `across` spacings away, that a support along the row reaches: a range ends with a cell. */
static double cells_of_row(const kf_tally *t, double across2) {
    const double cell = t->support / t->options.reach, width = 2 * t->options.reach + 1;
    if (!t->options.prune) return width;
    const double left = t->support * t->support - across2;
    return left <= 0 ? 0 : fmin(width, 1 + 2 * sqrt(left) / cell);
}

/* Means over places of a particle in its cell. */
static void look_through(kf_tally *t) {
    enum { PLACES = 4 };
    const int reach = t->options.reach, deep = t->scene->dimensions == 3;
    const double cell = t->support / reach;
    double cells = 0;
    for (int a = 0; a < PLACES; a++)
        for (int b = 0; b < (deep ? PLACES : 1); b++)
            for (int ox = -reach; ox <= reach; ox++)
                for (int oy = deep ? -reach : 0; oy <= (deep ? reach : 0); oy++) {
                    const double x = (a + 0.5) / PLACES, y = (b + 0.5) / PLACES;
                    const double gx = ox == 0 ? 0 : ox > 0 ? ox - x : x - ox - 1;
                    const double gy = oy == 0 ? 0 : oy > 0 ? oy - y : y - oy - 1;
                    cells += cells_of_row(t, cell * cell * (gx * gx + gy * gy));
                }
    cells /= deep ? PLACES * PLACES : PLACES;
    const int up = t->scene->dimensions - 1, width = 2 * reach + 1;
    const double rows = deep ? width * width : width;
    const bool periodic = t->scene->sides[2 * up] == KF_SIDE_PERIODIC;
    const int runs = kf_sph_runs(&t->options);
    const double parts = t->options.search == KF_SPH_CELLS ? width
                         : runs > 1                        ? runs + periodic
                         : periodic                        ? 3
                                                           : 1;
    t->runs = t->options.cell_order == KF_SPH_ORDER_BRICKS   ? 1 + (width - 1) / 4.0
              : t->options.cell_order == KF_SPH_ORDER_MORTON ? 1 + (width - 1) / 2.0
                                                             : 1;
    t->rows = rows;
    t->ranges = rows * parts;
    t->candidates = cells * pow(cell, t->scene->dimensions);
    t->cells = 1;
    for (int axis = 0; axis <= up; axis++)
        t->cells *= ceil(t->scene->size[axis] / cell);
    /* Columns on terrain end soon above what lies there. */
    if (t->scene->terrain.heights != NULL) t->cells = fmin(t->cells, t->particles);
}

/* --- a kernel with a thread a particle ------------------------------------------------------------------ */

typedef struct kf_particle_kernel {
    const char *name;
    double launches;
    double bytes, instructions; /* of a particle */
    double visits;              /* neighbours, in which values that do not fit the registers are in the way */
    double waits;               /* instructions that the multiprocessor's warps share the waiting for */
    double registers, threads, resident;
    double shared_bytes; /* of a thread */
} kf_particle_kernel;

static void add_kernel(kf_tally *t, const kf_particle_kernel *k) {
    static const double FILE = 65536, THREADS = 2048, BLOCKS = 32, SHARED = 227 << 10, PORTION = 8,
                        MOST = 255;
    kf_work *work = kf_works_add(t->works, k->name, k->launches);
    work->amount[KF_COST_DRAM] = k->bytes * t->particles;
    work->amount[KF_COST_INSTRUCTIONS] = k->instructions * t->particles;
    if (!t->gpu) return;
    const double allowed =
        k->resident > 0 ? fmin(MOST, PORTION * floor(FILE / (k->resident * k->threads) / PORTION)) : MOST;
    const double spilled = fmax(0, k->registers - allowed);
    const double given = PORTION * ceil(fmin(k->registers, allowed) / PORTION);
    const double blocks =
        fmin(fmin(BLOCKS, floor(THREADS / k->threads)),
             fmin(floor(FILE / (given * k->threads)), floor(SHARED / (k->shared_bytes * k->threads + 1024))));
    const double warps = fmax(1, blocks) * k->threads / 32;
    const double spills = SPILL * spilled * k->visits;
    work->amount[KF_COST_INSTRUCTIONS] = t->particles * (k->instructions + spills + k->waits / warps);
    work->amount[KF_COST_LATENCY] = 1;
}

/* --- the sums over neighbours --------------------------------------------------------------------------- */

typedef struct kf_sum {
    const char *name;
    double pair;      /* instructions of a pair */
    double loads;     /* of four floats, beside the place */
    double own;       /* instructions of a particle */
    double registers; /* as the compiler gives them for sm_90 */
    double bytes;     /* of a particle, beside lists and bits */
    bool first;       /* of a step */
} kf_sum;

/* Lanes that look at places of their own. */
static double gather_instructions(const kf_tally *t) {
    static const double each[KF_SPH_LAYOUTS] = {1, 1.4, 2.5};
    return GATHER * each[t->options.layout];
}
static double load_instructions(const kf_tally *t) {
    static const double each[KF_SPH_LAYOUTS] = {3, 6, 9};
    return each[t->options.layout];
}

/* A warp goes through a pair when any of its lanes has one. */
static double any_lane(double share) {
    return 1 - pow(1 - share, LANES_APART);
}

/* Ranges of candidates: cells' beginnings are read, and the way around periodic faces found. */
static double full_ranges(const kf_tally *t) {
    return t->options.search == KF_SPH_CELLS ? t->ranges : t->rows * t->runs;
}
static double range_instructions(const kf_tally *t) {
    const double full = full_ranges(t);
    return full * RANGE + (t->ranges - full) * IMAGE + (t->options.prune ? t->ranges * PRUNE : 0);
}
/* Bits of those that are near: `staged`, and what makes lists. */
static double scan_instructions(const kf_tally *t) {
    const double words = ceil(t->candidates / t->ranges / 32) * t->ranges;
    return range_instructions(t) + t->candidates * (NOTE + load_instructions(t)) + 12 * words;
}

static double scan_waits(const kf_tally *t) {
    return t->candidates * WAIT_BESIDE / t->options.in_flight +
           full_ranges(t) * t->options.lanes * WAIT_APART;
}

/* How often a warp that walks through bits looks for a range, for each time that one of its lanes does:
 * before each neighbour it waits for the group of lanes with the most ranges to go. Geometric, of the mean
 * that a neighbour has. */
static double walks(const kf_tally *t) {
    const double mean = t->rows * t->runs / t->neighbours, more = mean / (1 + mean);
    double most = 0;
    for (double left = more; left > 1e-12; left *= more)
        most += any_lane(left);
    return most / mean;
}

static void add_sum(kf_tally *t, const kf_sum *s) {
    const kf_sph_options *o = &t->options;
    const double load = load_instructions(t), test = TEST + load, body = s->pair + s->loads * load;
    const double apart = TEST + s->pair + (1 + s->loads) * gather_instructions(t);
    const double listed = pow(1 + 0.01 * o->skin, t->scene->dimensions) * t->neighbours;
    kf_particle_kernel k = {.name = s->name,
                            .launches = 1,
                            .bytes = s->bytes,
                            .visits = t->neighbours,
                            .registers = s->registers,
                            .threads = t->gpu ? o->threads : 256,
                            .resident = o->resident_blocks};
    const double lanes = o->lanes, bits = UNEVEN_BITS * t->neighbours;
    double pairs = 0, visits;
    switch (o->search) {
    case KF_SPH_LIST:
        k.registers += 4;
        /* The longest list of a warp, in whole passes of the lanes. */
        visits = (1 + (UNEVEN_LISTS - 1) / sqrt(lanes)) * listed + 0.5 * (lanes - 1);
        pairs = visits * apart;
        k.waits = visits * WAIT_APART / o->in_flight;
        k.bytes += 4 * listed;
        k.visits = listed;
        break;
    case KF_SPH_STAGED:
        /* One neighbour after the other, however many candidates are in flight. */
        pairs = bits * (apart + BIT) + (s->first ? scan_instructions(t) : 0);
        k.waits = bits * (s->first ? WAIT_BESIDE : WAIT_APART) + (s->first ? scan_waits(t) : 0);
        k.registers += s->first ? 7 : -8;
        k.shared_bytes = 8.0 * kf_sph_slots(t->scene, o);
        if (kf_sph_keeps_slots(t->scene, o)) k.bytes += 8 * t->candidates / 16;
        break;
    case KF_SPH_MASKS:
        if (!s->first) {
            pairs = bits * (apart + BIT) + walks(t) * range_instructions(t);
            k.waits = bits * WAIT_APART;
            k.bytes += t->candidates / 8;
            break;
        }
        k.bytes += t->candidates / 8;
        pairs = 3 * t->candidates;
        /* fallthrough */
    default:
        pairs += lanes * range_instructions(t) +
                 t->candidates * (test + any_lane(t->neighbours / t->candidates) * body);
        k.visits = any_lane(t->neighbours / t->candidates) * t->candidates;
        k.waits = scan_waits(t);
        break;
    }
    k.instructions = lanes * (s->own + (lanes > 1 ? SHUFFLE * VALUES * log2(lanes) : 0)) + pairs;
    add_kernel(t, &k);
}

static void add_sums(kf_tally *t, double state) {
    const bool stress = kf_sph_has_stress(t->scene);
    const double stresses = 4.0 * KF_SPH_STRESSES;
    const kf_sum dummies = {"dummies", 30, 1, 60, 56, 32, true};
    if (t->scene->wall_count > 0) add_sum(t, &dummies);
    if (t->scene->scheme == KF_SCHEME_THESIS) {
        const kf_sum density = {"density", 6, 0, 30, 40, 48, true},
                     rates = {"stress", 30, 1, 80, 56, 48 + stresses, false},
                     force = {"force", 40, stress ? 3 : 1, 150, 64, 2 * state, false};
        add_sum(t, &density);
        if (stress) add_sum(t, &rates);
        add_sum(t, &force);
    } else if (stress) {
        const kf_sum strain = {"strain", 38, 1, 250, 52, 48 + 2 * stresses, true},
                     motion = {"motion", 36, 2.5, 150, 58, 2 * state + 16, false};
        add_sum(t, &strain);
        add_sum(t, &motion);
    } else {
        const kf_sum flow = {"flow", 40, 1, 150, 50, 2 * state, true};
        add_sum(t, &flow);
    }
}

/* --- a step --------------------------------------------------------------------------------------------- */

static void add_pass(kf_tally *t, const char *name, double launches, double bytes, double instructions) {
    const kf_particle_kernel k = {.name = name,
                                  .launches = launches,
                                  .bytes = bytes,
                                  .instructions = instructions,
                                  .registers = 28,
                                  .threads = 256};
    add_kernel(t, &k);
}

static void add_sort(kf_tally *t, double state) {
    const kf_sph_options *o = &t->options;
    const double often = 1.0 / o->list_period, cells = 4 * t->cells / t->particles;
    if (!o->fused_count) {
        add_pass(t, "count_cells", often, 24, 40);
        t->works->list[t->works->count - 1].amount[KF_COST_ATOMICS] = t->particles;
    }
    add_pass(t, "sum_cells", often, cells, 2 * cells);
    add_pass(t, "sum_groups", often, 0, 0);
    add_pass(t, "begin_cells", often, 3 * cells, 4 * cells);
    if (o->ranked) {
        add_pass(t, "place", often, 20, 20);
        add_pass(t, "rank", often, 16 + 2 * state, 60 + 4 * t->particles / t->cells);
    } else {
        add_pass(t, "scatter", often, 8 + 2 * state, 50);
    }
    if (o->search != KF_SPH_LIST) return;
    const double listed = pow(1 + 0.01 * o->skin, t->scene->dimensions) * t->neighbours;
    const kf_particle_kernel k = {.name = "make_lists",
                                  .launches = often,
                                  .bytes = 32 + 4 * listed,
                                  .visits = listed,
                                  .instructions = scan_instructions(t) +
                                                  UNEVEN_BITS * listed * (APPEND + load_instructions(t)),
                                  .waits = scan_waits(t),
                                  .registers = 47,
                                  .threads = t->gpu ? KF_SPH_THREADS : 256,
                                  .shared_bytes = 8.0 * kf_sph_slots(t->scene, o)};
    add_kernel(t, &k);
}

static void *open_cost(const kf_problem *problem, const kf_device_info *device) {
    kf_sph_cost *cost = kf_allocate_zeroed(1, sizeof *cost);
    cost->scene = problem->own;
    cost->gpu = strcmp(device->backend, "cuda") == 0;
    return cost;
}

static kf_status works_of(void *state, const kf_config *config, kf_works *works, kf_error *error) {
    const kf_sph_cost *cost = state;
    if (strcmp(config->system, "sph") != 0)
        return kf_fail(error, KF_BAD_INPUT, "the config is for system %s, not sph", config->system);
    kf_tally t = {.scene = cost->scene, .works = works, .gpu = cost->gpu};
    KF_TRY(kf_sph_read_options(cost->scene, config, cost->gpu, &t.options, error));
    t.particles = (double)cost->scene->count;
    t.neighbours = kf_sph_neighbours(cost->scene);
    t.support = cost->scene->support * (1 + 0.01 * t.options.skin);
    look_through(&t);
    works->one_by_one = cost->gpu && !t.options.graph;
    const double bytes = 52 + (kf_sph_has_stress(cost->scene) ? 4.0 * KF_SPH_STRESSES : 0);
    add_sort(&t, bytes);
    add_sums(&t, bytes);
    add_pass(&t, "advance_clock", 1, 0, 0);
    t.works->list[t.works->count - 1].amount[KF_COST_LATENCY] = 3;
    return KF_OK;
}

const kf_cost_methods kf_cost_sph = {
    .system = "sph",
    .open = open_cost,
    .works = works_of,
    .close = free,
    .predicts_only = true,
};
