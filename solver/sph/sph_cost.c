/* The work of the sph plans, launch by launch. It counts candidates and neighbours of a particle, what a
 * thread computes for each, and how many warps fit the registers and shared memory of a multiprocessor
 * (docs/cost-model.md). */
#include "solver/sph/sph_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics/statistics.h"
#include "base/util/memory.h"
#include "solver/sph/sph_cost_tally.h"

/* Rates that are neither counted nor compiled but read off measurements of an H200. */
static struct {
    double
        line, /* instructions that take as long as a cycle of the L1 cache, of which others hide the most */
        rows, /* that the l-th neighbours of particles side by side lie in */
        wait_range,  /* cycles that a thread waits for where a range begins, */
        wait_own,    /* for a place of its own, */
        wait_beside; /* and for one that others have just read, with what is computed from it */
} rates = {0.6, 12, 600, 220, 140};

static const kf_cost_rate chosen[] = {{"line", &rates.line, 1},
                                      {"rows", &rates.rows, 10},
                                      {"wait_range", &rates.wait_range, 300},
                                      {"wait_own", &rates.wait_own, 250},
                                      {"wait_beside", &rates.wait_beside, 60},
                                      {NULL, NULL, 0}};

/* Instructions, counted in the compiler's output or as many as take as long: of a range of candidates, more
 * of one that is cut, of one beyond a periodic face that is empty, to compare a distance, to note a bit and
 * to take it up again, to append to a list; to move a value that does not fit the registers, once a
 * neighbour; of a loop, shared by those in flight; of a wall without particles, and of terrain. */
static const double RANGE = 80, PRUNE = 38, IMAGE = 20, TEST = 9, NOTE = 8, BIT = 6, APPEND = 20, SPILL = 2,
                    LOOP = 7, PLANE = 35, TERRAIN = 300;
/* To add a value up over the lanes of a particle, each time their number halves; values of a sum. */
static const double SHUFFLE = 5, VALUES = 7;
/* Lanes wait for the one of their warp with most neighbours. */
static const double UNEVEN_LISTS = 1.15, UNEVEN_BITS = 1.25;
/* Bytes of a line of the L1 cache. */
static const double LINE = 128;
static const double WARP = 32;
/* RAISE is what all multiprocessors issue, for each thread of a warp, while the L2 cache answers its read
 * of a place that all warps read: two a cycle. */
static const double RAISE = 160;
/* Cycles from an instruction to one that takes its result, and of an addition of what shared memory holds. */
static const double DEPEND = 4, ADDITION = 2;
/* Memory accesses one after the other: at a launch's beginning and end, and of a particle beside its sums. */
static const double BOUNDS = 2, OWN = 4;

/* --- Candidates that are looked through --- */

/* Cells of a row, `across` spacings away, that a support along the row reaches: a range ends with a cell. */
static double cells_of_row(const kf_sph_tally *t, double across2) {
    const double cell = t->support / t->options.reach, width = 2 * t->options.reach + 1;
    if (!t->options.prune) return width;
    const double left = t->support * t->support - across2;
    return left <= 0 ? 0 : fmin(width, 1 + 2 * sqrt(left) / cell);
}

/* Rows of cells that begin at the ground. */
static bool in_columns(const kf_particle_scene *scene) {
    return scene->terrain.heights != NULL && scene->dimensions == 3;
}

/* Over places of a particle in its cell: cells that a row has in the mean, and the most of any particle of a
 * warp, for which the others wait. */
static void look_through(kf_sph_tally *t) {
    enum { PLACES = 4 };
    const int reach = t->options.reach, deep = t->scene->dimensions == 3;
    const double cell = t->support / reach, together = t->gpu ? WARP / t->options.lanes : 1;
    double cells = 0, most = 0;
    for (int ox = -reach; ox <= reach; ox++)
        for (int oy = deep ? -reach : 0; oy <= (deep ? reach : 0); oy++) {
            double here[PLACES * PLACES] = {0};
            int count = 0;
            for (int a = 0; a < PLACES; a++)
                for (int b = 0; b < (deep ? PLACES : 1); b++) {
                    const double x = (a + 0.5) / PLACES, y = (b + 0.5) / PLACES;
                    const double gx = ox == 0 ? 0 : ox > 0 ? ox - x : x - ox - 1;
                    const double gy = oy == 0 ? 0 : oy > 0 ? oy - y : y - oy - 1;
                    here[count++] = cells_of_row(t, cell * cell * (gx * gx + gy * gy));
                }
            qsort(here, (size_t)count, sizeof *here, kf_ascending);
            for (int k = 0; k < count; k++) {
                cells += here[k] / count;
                most += here[k] * (pow((k + 1.0) / count, together) - pow((double)k / count, together));
            }
        }
    const int up = t->scene->dimensions - 1, width = 2 * reach + 1;
    const double rows = deep ? width * width : width, volume = pow(cell, t->scene->dimensions);
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
    t->candidates = cells * volume * t->cost->full;
    t->passes = most * volume * t->cost->full;
    t->streams = fmin(together, 1 + together / (volume * t->cost->full));
    t->cells = 1;
    for (int axis = 0; axis <= up; axis++)
        t->cells *= ceil(t->scene->size[axis] / cell);
    /* Columns on terrain end above what lies there (sph_grid.c). */
    if (in_columns(t->scene))
        t->cells = ceil(t->scene->size[0] / cell) * ceil(t->scene->size[1] / cell) *
                   ((2 * t->cost->highest + 4 * t->support) / cell + 3);
}

/* --- A kernel with a thread a particle ------------------------------------------------------------------ */

typedef struct kf_particle_kernel {
    const char *name;
    double launches;
    /* Per particle. */
    double bytes, instructions;
    double visits; /* neighbours, in which values that do not fit the registers are in the way */
    double waits;  /* cycles that a thread waits for what it loads, one after the other */
    double registers, threads, resident;
    /* Per thread. */
    double shared_bytes;
    /* The total number of threads. */
    double extent;
} kf_particle_kernel;

/* Adds the work of a kernel. On a GPU its registers and shared memory say how many blocks are resident and
 * what spills; the fullest multiprocessor's warps wait in rounds. */
static void add_kernel(kf_sph_tally *t, const kf_particle_kernel *k) {
    static const double CYCLES_US = 1980; /* an H200's */
    kf_work *work = kf_works_add(t->works, k->name, k->launches);
    work->amount[KF_COST_DRAM] = k->bytes * t->particles;
    work->amount[KF_COST_INSTRUCTIONS] = k->instructions * t->particles;
    if (!t->gpu) return;
    const double allowed = kf_cost_registers_allowed(k->threads, k->resident);
    const double spilled = fmax(0, k->registers - allowed);
    const double resident =
        kf_cost_resident_blocks(k->threads, fmin(k->registers, allowed), k->shared_bytes * k->threads);
    const double blocks = ceil(k->extent / k->threads) / t->cost->multiprocessors, fullest = ceil(blocks),
                 instructions = k->instructions + SPILL * spilled * k->visits;
    work->amount[KF_COST_INSTRUCTIONS] = t->particles * instructions * fullest / blocks;
    work->amount[KF_COST_LATENCY] = BOUNDS;
    /* Warps of the fullest multiprocessor, in rounds. */
    work->blocks = fullest * k->threads / WARP;
    work->resident = resident * k->threads / WARP;
    work->turns = 1;
    work->wait_us = (k->waits + DEPEND * instructions * t->particles / k->extent) / CYCLES_US;
    work->slowest_us = work->wait_us;
}

/* --- The sums over neighbours --------------------------------------------------------------------------- */

typedef struct kf_sum {
    const char *name;
    /* Instructions per pair. */
    double pair;
    /* Loads of four floats, besides the position. */
    double loads;
    /* Instructions per particle. */
    double own;
    /* From the compiler for sm_90. */
    double registers;
    /* Per particle, besides lists and bits. */
    double bytes;
    bool first, last; /* of a step */
} kf_sum;

/* Stretches of memory that the particles of a warp lie in. */
static double stretches(const kf_sph_tally *t) {
    static const double runs[KF_SPH_CELL_ORDERS] = {1e9, 4, 2};
    const double cell = pow(t->support / t->options.reach, t->scene->dimensions);
    return fmax(1, WARP / t->options.lanes / (cell * runs[t->options.cell_order]));
}

/* Lines of the L1 cache that `picks` loads touch which lie in so many rows at random, each of them so many
 * particles long. */
static double lines_picked(double rows, double picks, double together, double bytes) {
    static const double APART = 1.7;
    return rows * (1 - pow(1 - 1 / rows, picks)) * (1 + APART * (together - 1) * bytes / LINE);
}
/* Cycles of the cache for a warp that loads values of so many bytes from places of its lanes' own, particles
 * being so many bytes apart: one for each line, and for each 128 bytes of answers. */
static double cycles_own(const kf_sph_tally *t, double loaded, double apart) {
    const double turns = loaded * WARP / LINE, lanes = WARP / turns;
    const double together = fmin(fmin(t->options.lanes, lanes), fmax(1, t->neighbours / t->rows));
    return turns * lines_picked(rates.rows * stretches(t), lanes / together, together, apart);
}
/* Returns the cycles of loads that are side by side for the lanes of a particle, and the same for particles
 * of a cell. */
static double cycles_beside(const kf_sph_tally *t, double loaded, double apart) {
    const double turns = loaded * WARP / LINE, share = 1 / turns;
    const double lanes = fmin(t->options.lanes, WARP * share), particles = WARP * share / lanes;
    const double parts = 1 + (stretches(t) - 1) * share,
                 places = fmin(particles, 1 + (t->streams - 1) * share);
    return turns * fmin(places * (1 + (lanes - 1) * apart / LINE),
                        parts * (1 + (particles / parts + lanes) * apart / LINE));
}
/* Instructions, and as many as take as long as the cache's cycles, of a thread that loads four floats; or
 * where it only compares a distance the three that say where something is: four that lie together come
 * together. */
static double load_floats(const kf_sph_tally *t, double (*cycles)(const kf_sph_tally *, double, double),
                          int floats) {
    const double line = t->gpu ? rates.line : 0;
    switch (t->options.layout) {
    case KF_SPH_FLOAT4:
        return 3 + line * cycles(t, 16, 16);
    case KF_SPH_FLOAT3:
        return 5 + line * (3 * cycles(t, 4, 12) + (floats - 3) * cycles(t, 4, 4));
    default:
        return 7 + line * floats * cycles(t, 4, 4);
    }
}

/* A warp goes through a pair when any of its lanes has one; lanes side by side look at pairs that are alike,
 * and count as six. */
static double any_lane(double share) {
    static const double LANES_APART = 6;
    return 1 - pow(1 - share, LANES_APART);
}

/* Ranges of candidates: cells' beginnings are read, and the way around periodic faces found. */
static double full_ranges(const kf_sph_tally *t) {
    return t->options.search == KF_SPH_CELLS ? t->ranges : t->rows * t->runs;
}
static double range_instructions(const kf_sph_tally *t) {
    const double full = full_ranges(t);
    return full * RANGE + (t->ranges - full) * IMAGE + (t->options.prune ? t->ranges * PRUNE : 0);
}
/* Returns the cycles that a thread waits to learn where a range begins; on terrain it learns first where
 * its column does. */
static double range_waits(const kf_sph_tally *t) {
    return full_ranges(t) * (in_columns(t->scene) ? 2 : 1) * rates.wait_range;
}
/* Returns how often a loop waits that processes this many at a time. The remaining ones are processed one by
 * one. */
static double turns_of(const kf_sph_tally *t, double passes) {
    const double flight = t->options.in_flight;
    return fmin(passes, passes / flight + 0.5 * (flight - 1));
}
/* Candidates that lanes look through: whole passes of each range. */
static double lane_passes(const kf_sph_tally *t) {
    return t->passes + 0.5 * (t->options.lanes - 1) * full_ranges(t);
}
static double scan_waits(const kf_sph_tally *t, double lanes) {
    const double full = full_ranges(t), passes = lanes > 1 ? lane_passes(t) / lanes : t->passes;
    return range_waits(t) + full * turns_of(t, passes / full) * rates.wait_beside;
}
/* Bits of those that are near: `staged`, and what makes lists. */
static double scan_instructions(const kf_sph_tally *t) {
    const double words = ceil(t->candidates / t->ranges / 32) * t->ranges;
    return range_instructions(t) +
           t->passes * (NOTE + LOOP / t->options.in_flight + load_floats(t, cycles_beside, 3)) + 12 * words;
}

/* How often a warp that walks through bits looks for a range, for each time that one of its lanes does:
 * before each neighbour it waits for the group of lanes with the most ranges to go. Geometric, of the mean
 * that a neighbour has. */
static double walks(const kf_sph_tally *t) {
    const double mean = t->rows * t->runs / t->neighbours, more = mean / (1 + mean);
    double most = 0;
    double left = more;
    while (left > 1e-12) {
        most += 1 - pow(1 - left, WARP);
        left *= more;
    }
    return most / mean;
}

static double walls_instructions(const kf_sph_tally *t) {
    double planes = 0;
    for (int side = 0; side < 2 * t->scene->dimensions; side++)
        planes += kf_side_is_wall(t->scene->sides[side]);
    return PLANE * planes + (t->scene->terrain.heights != NULL ? TERRAIN : 0);
}

/* Adds the work of a sum over neighbours, by the way of searching: lists, staged slots, masks, or ranges
 * of cells. */
static void add_sum(kf_sph_tally *t, const kf_sum *s) {
    const kf_sph_options *o = &t->options;
    const double four = load_floats(t, cycles_beside, 4), place = load_floats(t, cycles_beside, 3),
                 loop = TEST + LOOP / o->in_flight, test = loop + place,
                 body = s->pair + s->loads * four + four - place;
    const double apart = loop + s->pair + (1 + s->loads) * load_floats(t, cycles_own, 4);
    const double listed = pow(1 + 0.01 * o->skin, t->scene->dimensions) * t->neighbours;
    kf_particle_kernel k = {.name = s->name,
                            .launches = 1,
                            .bytes = s->bytes,
                            .visits = t->neighbours,
                            .registers = s->registers,
                            .threads = t->gpu ? o->threads : 256,
                            .resident = o->resident_blocks,
                            .extent = t->particles * o->lanes};
    const double lanes = o->lanes, bits = UNEVEN_BITS * t->neighbours;
    /* A step's last sum raises the largest speed, acceleration and way: a read of one place for all of each.
     */
    const double raises = s->last && t->gpu ? (o->list_period > 1 ? 3 : 2) : 0;
    double pairs = 0, visits, hits;
    switch (o->search) {
    case KF_SPH_LIST:
        k.registers += 4;
        /* The longest list of a warp, in whole passes of the lanes. */
        visits = (1 + (UNEVEN_LISTS - 1) / sqrt(lanes)) * listed + 0.5 * (lanes - 1);
        /* Word k of 32 particles lies side by side: a warp's lanes read a line each. */
        pairs = visits * (apart + (t->gpu ? rates.line * lanes : 0));
        k.waits = turns_of(t, visits / lanes) * 2 * rates.wait_own;
        k.bytes += 4 * listed;
        k.visits = listed;
        break;
    case KF_SPH_STAGED:
        /* Neighbours are processed one after the other, however many candidates are in flight. */
        pairs = bits * (apart + BIT) + (s->first ? scan_instructions(t) : 0);
        k.waits = bits * (s->first ? rates.wait_beside : rates.wait_own) + (s->first ? scan_waits(t, 1) : 0);
        k.registers += s->first ? 7 : -8;
        k.shared_bytes = 8.0 * kf_sph_slots(t->scene, o);
        if (kf_sph_keeps_slots(t->scene, o)) k.bytes += 8 * t->candidates / 16;
        break;
    case KF_SPH_MASKS:
        if (!s->first) {
            pairs = bits * (apart + BIT) + walks(t) * range_instructions(t);
            k.waits = bits * rates.wait_own + walks(t) * range_waits(t);
            k.bytes += t->candidates / 8;
            break;
        }
        k.bytes += t->candidates / 8;
        pairs = 3 * t->candidates;
        /* fallthrough */
    default:
        hits = any_lane(t->neighbours / t->candidates) * lane_passes(t);
        pairs += lanes * range_instructions(t) + lane_passes(t) * test + hits * body;
        k.visits = hits;
        k.waits = scan_waits(t, lanes) + (s->loads > 0 ? hits / lanes * rates.wait_beside : 0);
        break;
    }
    k.instructions = pairs + lanes * (s->own + (s->own > 100 ? walls_instructions(t) : 0) + RAISE * raises +
                                      (lanes > 1 ? SHUFFLE * VALUES * log2(lanes) : 0));
    k.waits += OWN * rates.wait_range + (t->scene->terrain.heights != NULL ? 3 * rates.wait_own : 0);
    add_kernel(t, &k);
}

/* Adds the sums of the scheme: dummies of walls, then density, stress and force, strain and motion, or one
 * for all. */
static void add_sums(kf_sph_tally *t, double state) {
    const bool stress = kf_sph_has_stress(t->scene);
    const double stresses = 4.0 * KF_SPH_STRESSES;
    const kf_sum dummies = {"dummies", 30, 1, 60, 56, 32, true, false};
    if (t->scene->wall_count > 0) add_sum(t, &dummies);
    if (t->scene->scheme == KF_SCHEME_THESIS) {
        const kf_sum density = {"density", 6, 0, 30, 40, 48, true, false},
                     yielding = {"stress", 30, 1, 80, 56, 48 + stresses, false, false},
                     force = {"force", 40, stress ? 3 : 1, 300, 64, 2 * state, false, true};
        add_sum(t, &density);
        if (stress) add_sum(t, &yielding);
        add_sum(t, &force);
    } else if (stress) {
        const kf_sum strain = {"strain", 38, 1, 250, 52, 48 + 2 * stresses, true, false},
                     motion = {"motion", 52, 2.5, 400, 58, 2 * state + 16, false, true};
        add_sum(t, &strain);
        add_sum(t, &motion);
    } else {
        const kf_sum flow = {"flow", 40, 1, 300, 50, 2 * state, true, true};
        add_sum(t, &flow);
    }
}

/* --- A step --------------------------------------------------------------------------------------------- */

double kf_sph_cost_wait(void) {
    return rates.wait_range;
}

void kf_sph_add_pass(kf_sph_tally *t, const char *name, double launches, double bytes, double instructions,
                     double extent, double chain) {
    const kf_particle_kernel k = {.name = name,
                                  .launches = launches,
                                  .bytes = bytes,
                                  .instructions = instructions,
                                  .waits = chain,
                                  .extent = extent,
                                  .registers = 28,
                                  .threads = 256};
    add_kernel(t, &k);
}

/* Adds the kernels that sort particles by cells, and make lists, as often as a step in so many does so. */
static void add_sort(kf_sph_tally *t, double state) {
    const kf_sph_options *o = &t->options;
    /* A device also sorts the particles that it keeps of others. */
    kf_sph_tally kept = *t;
    kept.particles = t->kept;
    const double often = 1.0 / o->list_period, cells = 4 * t->kept_cells / t->kept, wait = rates.wait_range;
    const double groups = ceil(t->cells / KF_SPH_SCAN), threads = 256, n = t->particles, all = t->kept;
    if (!o->fused_count) {
        kf_sph_add_pass(t, "count_cells", often, 24, 40, n, 2 * wait);
        t->works->list[t->works->count - 1].amount[KF_COST_ATOMICS] = t->particles;
    }
    kf_sph_add_pass(&kept, "sum_cells", often, cells, 2 * cells, groups * threads, wait + threads * ADDITION);
    kf_sph_add_pass(&kept, "sum_groups", often, 0, 10 / all, threads,
                    ceil(groups / threads) * 2 * wait + threads * ADDITION);
    kf_sph_add_pass(&kept, "begin_cells", often, 3 * cells, 4 * cells, groups * threads,
                    2 * wait + 2 * sqrt(threads) * ADDITION);
    if (o->ranked) {
        kf_sph_add_pass(t, "place", often, 20, 20, n, 3 * wait);
        kf_sph_add_pass(&kept, "rank", often, 16 + 2 * state + kf_sph_linked_bytes(t, state),
                        60 + 4 * t->kept / t->kept_cells, all, 5 * wait);
    } else {
        kf_sph_add_pass(t, "scatter", often, 8 + 2 * state, 50, n, 3 * wait);
    }
    if (o->search != KF_SPH_LIST) return;
    const double listed = pow(1 + 0.01 * o->skin, t->scene->dimensions) * t->neighbours;
    /* Threads that make lists have one particle each. */
    kf_sph_tally alone = *t;
    alone.options.lanes = 1;
    look_through(&alone);
    const kf_particle_kernel k = {.name = "make_lists",
                                  .launches = often,
                                  .bytes = 32 + 4 * listed,
                                  .visits = listed,
                                  .instructions =
                                      scan_instructions(&alone) +
                                      UNEVEN_BITS * listed * (APPEND + load_floats(&alone, cycles_own, 3)),
                                  .waits = scan_waits(&alone, 1) + UNEVEN_BITS * listed * rates.wait_beside,
                                  .registers = 47,
                                  .extent = n,
                                  .threads = t->gpu ? KF_SPH_THREADS : 256,
                                  .shared_bytes = 8.0 * kf_sph_slots(t->scene, &alone.options)};
    add_kernel(&alone, &k);
}

/* Neighbours of some particles over those that the fluid's inside has, as many as take a fraction of a second
 * to find; beyond a periodic face none is. */
static double share_of_neighbours(const kf_particle_scene *scene) {
    static const double PAIRS = 3e7;
    const size_t wanted = (size_t)fmax(8, fmin(256, PAIRS / (double)scene->count)),
                 every = scene->count > wanted ? scene->count / wanted : 1;
    const float reach = (float)(scene->support * scene->support);
    double found = 0;
    size_t looked = 0;
    for (size_t i = every / 2; i < scene->count; i += every, looked++) {
        const float *p = scene->position + 3 * i;
        size_t near = 0;
        for (size_t j = 0; j < scene->count; j++) {
            const float *q = scene->position + 3 * j, x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
            near += x * x + y * y + z * z < reach;
        }
        found += (double)near - 1;
    }
    return found / (double)looked / kf_sph_neighbours(scene);
}

/* Gives the spacings that the fluid takes along an axis, the halves beside its outermost particles included.
 */
static double extent_of(const kf_particle_scene *scene, int axis) {
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < scene->count - scene->wall_count; k++) {
        const double place = (double)scene->position[3 * k + (size_t)axis];
        low = fmin(low, place);
        high = fmax(high, place);
    }
    return high >= low ? high - low + 1 : 1;
}

/* Looks at the scene as all configs have it: how full the fluid is, how high and how long. */
static void *open_cost(const kf_problem *problem, const kf_device_info *device) {
    kf_sph_cost *cost = kf_allocate_zeroed(1, sizeof *cost);
    cost->scene = problem->own;
    cost->device = *device;
    cost->gpu = kf_device_is_gpu(device);
    cost->multiprocessors = kf_cost_multiprocessors(device);
    cost->full = 1;
    for (int side = 0; side < 2 * cost->scene->dimensions; side++)
        if (cost->scene->sides[side] != KF_SIDE_PERIODIC) cost->full = 0;
    if (cost->full == 0) cost->full = share_of_neighbours(cost->scene);
    if (in_columns(cost->scene)) cost->highest = kf_sph_highest(cost->scene);
    for (int axis = 0; axis < 2; axis++)
        cost->extent[axis] = extent_of(cost->scene, axis);
    return cost;
}

/* Works out the kernels of a config's step and what each takes of the device, for the queueing model of
 * cost_model/. */
static kf_status works_of(void *state, const kf_config *config, kf_works *works, kf_error *error) {
    const kf_sph_cost *cost = state;
    if (strcmp(config->system, "sph") != 0)
        return kf_fail(error, KF_BAD_INPUT, "the config is for system %s, not sph", config->system);
    kf_sph_tally t = {.cost = cost, .scene = cost->scene, .works = works, .gpu = cost->gpu};
    KF_TRY(kf_sph_read_options(cost->scene, config, &cost->device, &t.options, error));
    t.particles = (double)cost->scene->count;
    t.neighbours = cost->full * kf_sph_neighbours(cost->scene);
    t.support = cost->scene->support * (1 + 0.01 * t.options.skin);
    look_through(&t);
    kf_sph_share_planes(&t);
    works->one_by_one = cost->gpu && (!t.options.graph || t.options.parts > 1);
    const double bytes = 52 + (kf_sph_has_stress(cost->scene) ? 4.0 * KF_SPH_STRESSES : 0);
    add_sort(&t, bytes);
    add_sums(&t, bytes);
    kf_works_add(works, "advance_clock", 1)->amount[KF_COST_LATENCY] = 3;
    if (t.options.parts > 1) kf_sph_add_team(&t, bytes);
    return KF_OK;
}

const kf_cost_methods kf_cost_sph = {
    .open = open_cost,
    .works = works_of,
    .close = free,
    .predicts_only = true,
    .rates = chosen,
};
