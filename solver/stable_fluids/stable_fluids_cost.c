/* The work of the stable fluids plans, launch by launch. A pass through the transforms is made of blocks that
 * read lines, work on them and write them, in turn: what a block computes and what it moves add up where it
 * is alone on a multiprocessor, and hide each other where several are. Registers and instructions are those
 * of the compiler for sm_90 (docs/cost-model.md). */
#include "solver/stable_fluids/stable_fluids_cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/stable_fluids/stable_fluids.h"

typedef struct kf_fluid_cost {
    const kf_fluid *fluid;
    const kf_device_info *device;
    bool gpu;
} kf_fluid_cost;

typedef struct kf_fluid_tally {
    const kf_fluid_cost *cost;
    const kf_fluid *fluid;
    kf_fluid_options options;
    kf_fluid_design design;
    kf_works *works;
    /* The cells of all simulations; the values of a velocity field. */
    double cells, values;
    /* The number of mirror images that walls add to each cell and that passes write. */
    double images;
    double least_threads, least_registers; /* of a block, that another pass of the same kernel asks for */
    double arithmetic;                     /* of an instruction in single precision */
    /* The ratio of memory traffic to bytes when the caches hold a part of the data. */
    double cached;
} kf_fluid_tally;

/* Rates that are neither counted nor compiled but read off measurements of an H200. */
static struct {
    double spill_issued, /* instructions that a spilled value's way costs */
        spill_wait,      /* us that a thread waits for one that the nearest cache holds */
        spill_far_wait,  /* more, for one that it does not hold */
        spill_far,       /* bytes of memory that a byte costs on its way to the second cache */
        fetch,           /* accesses that wait, a KiB of code */
        stage,           /* us that a block waits for a stage of a transform, and for what it reads */
        read, issued;    /* of the time that instructions take which wait for memory */
} rates = {2.4, 0.0235, 0.025, 0.37, 0.067, 0.084, 0.5, 0.75};

static const kf_cost_rate chosen[] = {{"spill_issued", &rates.spill_issued, 4},
                                      {"spill_wait", &rates.spill_wait, 0.0167},
                                      {"spill_far_wait", &rates.spill_far_wait, 0.035},
                                      {"spill_far", &rates.spill_far, 0.52},
                                      {"fetch", &rates.fetch, 0.08},
                                      {"stage", &rates.stage, 0.1},
                                      {"read", &rates.read, 0.5},
                                      {"issued", &rates.issued, 0.75},
                                      {NULL, NULL, 0}};

/* --- A block of lines ----------------------------------------------------------------------------------- */

/* How much longer a stage takes than if all threads of a line had as many of its butterflies: by what its
 * warps issue, or by the thread that has most, for which all wait; across: neighbours among the threads have
 * lines next to each other. */
static double idle_share(const kf_line_engine *e, int radix, double lines, bool across) {
    static const double WARP = 32;
    const double all = (double)e->n / radix, together = across ? lines : 1;
    const int slots = (int)ceil(all / e->threads);
    double issued = 0;
    for (int b = 0; b < slots; b++) {
        const double here = fmin(e->threads, all - (double)e->threads * b);
        issued += e->threads * together < WARP ? e->threads : WARP * ceil(here * together / WARP) / together;
    }
    return fmax(issued, slots * (double)e->threads) / all;
}

/* Returns the instructions that threads spend on one complex value of a line: butterflies, exchanges
 * through shared memory, twiddles, and the way from memory and back. */
static double line_instructions(const kf_fluid_tally *t, const kf_line_engine *e, double lines, bool across) {
    static const double LEVEL = 2.3, EXCHANGE = 5, UNEVEN = 18, TURN[] = {3, 6, 2}, ENDS = 9;
    /* Places of values are constants apart where the padding of 16 values goes with the threads. */
    const double exchange = EXCHANGE * (t->options.exchange_buffers == 2 ? 0.9 : 1) +
                            (t->cost->gpu && e->threads % 16 != 0 && e->threads > 1 ? UNEVEN : 0);
    double sum = ENDS;
    for (int i = 0; i < 5 && e->radices[i] > 1; i++)
        sum += idle_share(e, e->radices[i], lines, across) *
               (LEVEL * log2(e->radices[i]) + (i > 0 ? exchange + TURN[t->options.twiddles] : 0));
    return sum;
}

/* A pass of blocks over lines. */
typedef struct kf_line_pass {
    const char *name;
    const kf_line_engine *engine;
    double lines;               /* of a block */
    double blocks;              /* in all */
    double at_once;             /* lines that a thread works on: it has the values of all of them */
    double transforms;          /* there and back: 2 */
    double bytes;               /* moved in all */
    double pieces, piece_bytes; /* places of memory that are read and written apart, and how long they are */
    double instructions;        /* beside the transforms, in all */
    /* The blocks for which the config requests space; 0: no request. */
    int resident;
    /* Neighbouring threads have neighbouring lines. */
    bool across;
    size_t shared_bytes;
} kf_line_pass;

/* Returns the registers of a thread: its values, the remaining twiddles, and values in transfer from memory.
 */
static double registers_of(const kf_fluid_tally *t, const kf_line_pass *p) {
    static const double OWN = 26, VALUE = 2.1, EARLY = 0.9, TABLE = 1.2, BOTH = 10;
    const kf_line_engine *e = p->engine;
    const bool both = p->transforms > 1;
    const double wide = t->design.real_bytes == sizeof(double) ? 1.8 : 1;
    double more = both ? BOTH : 0;
    if (t->options.twiddles == KF_TWIDDLES_TABLE && both && p->at_once > 1) more += TABLE * e->most;
    for (int i = 1; i < 5 && t->options.twiddles == KF_TWIDDLES_EARLY; i++)
        more += e->radices[i] > 1 ? EARLY * e->most : 0;
    return OWN + wide * (VALUE * p->at_once * e->most + more);
}

/* Returns the blocks that a multiprocessor holds by threads, registers and shared memory, and the values that
 * do not fit into a thread's registers. */
static double resident_of(const kf_line_pass *p, double threads, double registers, double *spilled) {
    static const double ONE_TAKES = 2, MORE_TAKE = 1.3;
    const double warps = 32 * ceil(threads / 32), asked = p->resident > 0 ? p->resident : 1;
    const double allowed = kf_cost_registers_allowed(warps, asked);
    *spilled = fmax(0, registers - allowed);
    if (p->resident > 0) /* the compiler takes what it may */
        registers = fmax(registers, fmin((p->at_once > 1 ? MORE_TAKE : ONE_TAKES) * registers, allowed));
    return kf_cost_resident_blocks(warps, fmin(registers, allowed), (double)p->shared_bytes);
}

/* Returns the bytes that short pieces of rows lose. A piece shorter than two sectors writes a part of a
 * sector, and each piece is on another page. */
static double piece_bytes_lost(const kf_line_pass *p) {
    static const double PARTIAL = 35, SECTOR = 12, TWO = 6;
    if (p->piece_bytes < 16) return 2 * PARTIAL;
    if (p->piece_bytes < 32) return PARTIAL;
    return p->piece_bytes < 64 ? SECTOR : p->piece_bytes < 128 ? TWO : 0;
}

/* Values that do not fit into registers are stored and loaded again in every stage, through a quarter as
 * many ways as instructions are issued by, and the thread waits for each load. */
typedef struct kf_spills {
    double accesses; /* of a thread: half of them loads */
    double bytes;    /* of a thread, of what does not fit into the nearest cache beside shared memory */
    double wait_us;
} kf_spills;

static kf_spills spills_of(const kf_line_pass *p, double spilled, double stages, double resident,
                           double threads) {
    static const double ACCESSES = 2, CACHE = 256 << 10, VALUE = 4;
    const double accesses = ACCESSES * p->transforms * stages * spilled;
    const double held = resident * threads * spilled * VALUE,
                 room = fmax(0, CACHE - resident * ((double)p->shared_bytes + 1024));
    const double far = held > room ? (held - room) / held : 0;
    return (kf_spills){.accesses = accesses,
                       .bytes = rates.spill_far * VALUE * accesses * far,
                       .wait_us = (rates.spill_wait + far * rates.spill_far_wait) * accesses / 2};
}

/* A thread's code has no loops: so many KiB for each of its values, more where which values it has depends on
 * the thread. */
static double code_kib(const kf_line_pass *p, const kf_spills *spills) {
    static const double THERE = 1.9, BOTH = 2.5, TOGETHER = 3.1, UNEVEN = 1.4, INSTRUCTION = 0.016;
    const kf_line_engine *e = p->engine;
    return e->most *
               (p->transforms < 2 ? THERE
                : p->at_once < 2  ? BOTH
                                  : TOGETHER) *
               (e->n % e->threads != 0 ? UNEVEN : 1) +
           INSTRUCTION * spills->accesses;
}

/* Adds a pass that transforms lines. On a GPU the registers and shared memory of a block determine the
 * resident blocks, the spilled values, and whether blocks run in step or hide each other's waits. */
static void add_lines(kf_fluid_tally *t, const kf_line_pass *p) {
    static const double BUSY_VALUES = 96, DRAWN = 3, IN_STEP = 2;
    /* Each launch fetches its code anew, for the last one's took its place; one kernel of all passes less. */
    static const double FETCHED[] = {1, 0.25};
    const kf_line_engine *e = p->engine;
    const double threads = fmax(1, e->threads * p->lines), values = p->blocks * p->lines * p->at_once * e->n;
    double spilled, stages = 0;
    kf_work *work = kf_works_add(t->works, p->name, 1);
    for (int i = 0; i < 5; i++)
        stages += e->radices[i] > 1;
    work->amount[KF_COST_DRAM] = t->cached * (p->bytes + p->pieces * piece_bytes_lost(p));
    work->follows = t->options.overlap;
    if (!t->cost->gpu) {
        work->amount[KF_COST_INSTRUCTIONS] =
            t->arithmetic *
            (p->transforms * values * line_instructions(t, e, p->lines, p->across) + p->instructions);
        return;
    }
    const double resident = resident_of(p, fmax(threads, t->least_threads),
                                        fmax(registers_of(t, p), t->least_registers), &spilled);
    const double blocks = p->blocks / kf_cost_multiprocessors(t->cost->device);
    const double together = fmin(ceil(blocks), resident); /* on a multiprocessor */
    const kf_spills spills = spills_of(p, spilled, stages, together, threads);
    const double wait_us = rates.read + p->transforms * stages * rates.stage + spills.wait_us;
    work->amount[KF_COST_DRAM] += p->blocks * threads * spills.bytes;
    work->amount[KF_COST_INSTRUCTIONS] =
        rates.issued * t->arithmetic *
            (p->transforms * values * line_instructions(t, e, p->lines, p->across) + p->instructions) +
        p->blocks * threads * rates.spill_issued * spills.accesses;
    /* A few warps with few values do not keep the schedulers of a multiprocessor busy. */
    const double in_work = together * ceil(threads / 32) * p->at_once * e->most;
    work->amount[KF_COST_INSTRUCTIONS] /= fmin(1, in_work / BUSY_VALUES);
    work->amount[KF_COST_LATENCY] =
        0.3 + rates.fetch * FETCHED[t->options.plan == KF_FLUID_PERSISTENT] * code_kib(p, &spills);
    const double rounds = ceil(blocks / resident);
    if (rounds <= IN_STEP) { /* what blocks read, compute and write hides behind nothing: all do the same */
        const double fullest = ceil(blocks) / blocks; /* multiprocessor, over the mean */
        work->amount[KF_COST_INSTRUCTIONS] *= fullest;
        work->amount[KF_COST_DRAM] *= fmax(1, fullest / DRAWN); /* one can draw more than its share */
        work->amount[KF_COST_LATENCY] += rounds * wait_us;
        work->in_step = true;
        return;
    }
    work->blocks = blocks;
    work->resident = resident;
    work->wait_us = wait_us;
    work->in_turn = true;
}

/* --- The fused plan ------------------------------------------------------------------------------------- */

/* Returns the instructions that an advected cell takes. */
static double gather_instructions(const kf_fluid *f) {
    static const double each[KF_ADVECTIONS] = {4, 50, 100, 160};
    const double deep = f->dimensions == 3 ? 1.9 : 1, trace = f->midpoint ? 40 : 0;
    return deep * (each[f->advection] + trace) + 25.0 * f->dye_count +
           (f->solid == KF_SOLID_MOVING  ? 150
            : f->solid == KF_SOLID_STILL ? 10
                                         : 0);
}
/* Returns the bytes that are read at the traced positions, besides the velocity. */
static double extra_bytes(const kf_fluid_tally *t) {
    const kf_fluid *f = t->fluid;
    const double value = (double)t->design.velocity_bytes,
                 more = f->advection == KF_ADVECT_MACCORMACK ? 1 : 0;
    double bytes = f->dye_count * (2 + more) * value + more * f->dimensions * value;
    if (f->confinement > 0 || f->body_amplitude != 0) bytes += f->dimensions * value;
    if (f->solid != KF_SOLID_NONE) bytes += sizeof(float);
    if (f->reflection) bytes += f->dimensions * value;
    return bytes * t->cells;
}

/* Returns the pass over rows: its blocks, the bytes of velocity and spectrum, and the pieces in which
 * tiles of modes are read or written. */
static kf_line_pass rows_pass(const kf_fluid_tally *t, const char *name, const kf_line_engine *e) {
    const kf_fluid *f = t->fluid;
    const kf_fluid_options *o = &t->options;
    const bool deep = f->dimensions == 3;
    const double rows = t->design.row_count, lines = deep ? ceil(rows / 2) : rows;
    const double mode =
        deep ? 2.0 * (double)t->design.spectrum_bytes : 4.0 * (double)t->design.spectrum_bytes;
    const double spectrum = t->values * (double)t->design.spectrum_bytes;
    kf_line_pass p = {.name = name, .engine = e, .lines = o->rows_per_block, .transforms = 1};
    p.blocks = ceil(lines / o->rows_per_block) * f->simulations;
    p.at_once = deep ? 3 : 1;
    p.bytes = t->values * (double)t->design.velocity_bytes + spectrum;
    p.piece_bytes = o->tile > 0 ? o->tile * mode : INFINITY;
    p.pieces = o->tile > 0 ? spectrum / p.piece_bytes : 0;
    p.shared_bytes =
        kf_line_shared_bytes(e, o->rows_per_block, (int)p.at_once, o->exchange_buffers, t->design.real_bytes);
    return p;
}

static kf_line_pass columns_pass(const kf_fluid_tally *t, const char *name, const kf_line_engine *e,
                                 bool last) {
    static const double CACHE_LINE = 128;
    const kf_fluid *f = t->fluid;
    const kf_fluid_options *o = &t->options;
    const bool deep = f->dimensions == 3, own = last && o->component_per_thread;
    const double tiles = ceil((double)t->design.modes_x / o->columns_per_block);
    const double spectrum = t->values * (double)t->design.spectrum_bytes,
                 mode = (deep ? 2.0 : 4.0) * (double)t->design.spectrum_bytes;
    kf_line_pass p = {.name = name, .engine = e, .transforms = last ? 2 : 1, .across = true};
    p.lines = last ? e->lines : o->columns_per_block;
    p.at_once = last && !own ? f->dimensions : 1;
    p.blocks = tiles * f->simulations *
               (!deep  ? 1
                : last ? f->cells[1]
                       : 3.0 * t->design.row_count / f->cells[1]);
    p.bytes = 2 * spectrum;
    /* A tile lies in one piece; its columns fill it when a block has them all. Else other blocks take the
     * rest of each line of the cache at about the same time. */
    p.piece_bytes = o->tile == 0                          ? o->columns_per_block * mode
                    : o->columns_per_block % o->tile == 0 ? INFINITY
                                                          : CACHE_LINE * o->columns_per_block / o->tile;
    p.pieces = isfinite(p.piece_bytes) ? 2 * spectrum / p.piece_bytes : 0;
    p.instructions = last ? 18 * t->cells : 0;
    /* The persistent plan's one kernel is built for its rows. */
    p.resident = o->plan == KF_FLUID_PERSISTENT ? o->resident_rows : o->resident_columns;
    p.shared_bytes =
        kf_line_shared_bytes(e, (int)p.lines, (int)p.at_once, o->exchange_buffers, t->design.real_bytes);
    return p;
}

/* Adds the three passes of the fused plan, in three dimensions with two more along the axis between. */
static void add_fused(kf_fluid_tally *t) {
    const kf_fluid *f = t->fluid;
    kf_line_pass forward = rows_pass(t, "rows_forward", &t->design.rows);
    const bool persistent = t->options.plan == KF_FLUID_PERSISTENT; /* which has one engine for all rows */
    kf_line_pass inverse = rows_pass(t, "rows_inverse", persistent ? &t->design.rows : &t->design.inverse);
    /* A mode is split from, or joined with, its mirror image, which another thread has. */
    static const double MIRROR = 25;
    inverse.instructions = t->cells * MIRROR;
    forward.instructions = t->cells * (gather_instructions(f) + MIRROR);
    forward.bytes += extra_bytes(t);
    inverse.bytes += t->images * t->values * (double)t->design.velocity_bytes;
    forward.resident = inverse.resident = t->options.resident_rows;
    add_lines(t, &forward);
    kf_line_pass axis = columns_pass(t, "axis_forward", &t->design.axis, false);
    if (f->dimensions == 3) add_lines(t, &axis);
    const kf_line_pass columns = columns_pass(t, "columns", &t->design.columns, true);
    add_lines(t, &columns);
    axis.name = "axis_inverse";
    if (f->dimensions == 3) add_lines(t, &axis);
    add_lines(t, &inverse);
}

/* Adds the passes of one kernel. They have barriers between them and no launches. The largest registers and
 * shared memory apply to all. */
static void add_persistent(kf_fluid_tally *t) {
    static const double BARRIER = 0.35, KEPT = 1.6;
    const size_t first = t->works->count;
    const kf_line_pass rows = rows_pass(t, "rows_forward", &t->design.rows),
                       columns = columns_pass(t, "columns", &t->design.columns, true);
    t->least_threads = fmax(rows.engine->threads * rows.lines, columns.engine->threads * columns.lines);
    t->least_registers = KEPT * fmax(registers_of(t, &rows), registers_of(t, &columns));
    add_fused(t);
    for (size_t i = first; i < t->works->count; i++) {
        kf_work *work = &t->works->list[i];
        work->amount[KF_COST_LAUNCH] = i == first ? 1.0 / t->options.steps_per_launch : 0;
        work->amount[KF_COST_LATENCY] += BARRIER;
    }
}

/* --- Plans with their transforms apart ------------------------------------------------------------------ */

/* Adds a kernel with a thread per cell. */
static void add_cells(kf_fluid_tally *t, const char *name, double bytes, double instructions,
                      double efficiency) {
    kf_work *work = kf_works_add(t->works, name, 1);
    work->amount[KF_COST_DRAM] = t->cached * bytes;
    work->amount[KF_COST_INSTRUCTIONS] = t->arithmetic * instructions;
    work->amount[KF_COST_LATENCY] = t->cost->gpu ? 0.8 : 0;
    work->efficiency = efficiency;
}

/* A library's transforms of whole fields: a kernel for each axis. Complex ones reach 0.61, real ones 0.53 of
 * a copy's speed (cuFFT 12.0 at 4096^2 on an H200), half of that where an axis is no power of two. */
static void add_library(kf_fluid_tally *t, const char *name) {
    static const double PACKED = 0.65, APART = 0.58, OTHER_LENGTHS = 0.5;
    const kf_fluid *f = t->fluid;
    const double bytes = 2 * (double)t->design.real_bytes * t->cells;
    const bool packed = t->options.plan == KF_FLUID_PACKED;
    const int calls = packed ? f->dimensions - 1 : t->options.plan == KF_FLUID_BATCHED ? 1 : f->dimensions;
    for (int call = 0; call < calls; call++) {
        const double fields = packed && call == 0                   ? 2
                              : t->options.plan == KF_FLUID_BATCHED ? f->dimensions
                                                                    : 1;
        for (int axis = 0; axis < f->dimensions; axis++)
            add_cells(t, name, fields * bytes, fields * 30 * t->cells,
                      (packed && call == 0 ? PACKED : APART) *
                          ((f->cells[axis] & (f->cells[axis] - 1)) != 0 ? OTHER_LENGTHS : 1));
    }
}

/* Adds the transform of one field, or of several in one launch, along all axes. */
static void add_field(kf_fluid_tally *t, double fields, bool complex, bool inverse) {
    const kf_fluid *f = t->fluid;
    const kf_fluid_options *o = &t->options;
    const double real = (double)t->design.real_bytes, rows = (double)f->cells[1] * f->cells[2];
    for (int i = 0; i < f->dimensions; i++) {
        const int axis = inverse ? f->dimensions - 1 - i : i;
        const kf_line_engine *e = axis == 0                   ? &t->design.rows
                                  : axis == f->dimensions - 1 ? &t->design.columns
                                                              : &t->design.axis;
        const double row = complex ? f->cells[0] : f->cells[0] / 2 + 1;
        kf_line_pass p = {.name = "lines", .engine = e, .at_once = 1, .transforms = 1};
        p.lines = axis == 0 ? o->rows_per_block : o->columns_per_block;
        const double lines = axis == 0 ? (complex ? rows : ceil(rows / 2)) : row * rows / f->cells[axis];
        p.blocks = ceil(lines / p.lines) * fields;
        p.bytes = 2 * fields * (complex ? 2 : 1) * real * t->cells;
        p.piece_bytes = axis == 0 ? INFINITY : 2 * real * p.lines;
        p.pieces = axis == 0 ? 0 : p.bytes / p.piece_bytes;
        p.shared_bytes = kf_line_shared_bytes(e, (int)p.lines, 1, o->exchange_buffers, t->design.real_bytes);
        add_lines(t, &p);
    }
}
static void add_own(kf_fluid_tally *t, bool inverse) {
    const kf_fluid *f = t->fluid;
    const kf_fluid_plan_kind plan = t->options.plan;
    if (plan == KF_FLUID_PACKED) {
        add_field(t, 1, true, inverse);
        if (f->dimensions == 3) add_field(t, 1, false, inverse);
    } else if (plan == KF_FLUID_BATCHED) {
        add_field(t, f->dimensions, false, inverse);
    } else {
        for (int i = 0; i < f->dimensions; i++)
            add_field(t, 1, false, inverse);
    }
}

static void add_parts(kf_fluid_tally *t) {
    const bool own = t->options.fft == KF_FFT_OWN;
    const kf_fluid_plan_kind plan = t->options.plan;
    const double moved = 2 * t->values * (double)t->design.real_bytes; /* a field read and written */
    /* Warps that cover several short rows, and blocks of few threads, ask for less at a time. */
    const double shape = t->options.block_x * t->options.block_y >= 128 ? 0.92 : 0.8;
    if (plan == KF_FLUID_PAPER) add_cells(t, "copy_velocity", moved, 12 * t->cells, shape);
    add_cells(t, "advect", moved + extra_bytes(t), t->cells * (gather_instructions(t->fluid) + 20),
              0.85 * shape);
    own ? add_own(t, false) : add_library(t, "transform_forward");
    add_cells(t, "project", moved, 40 * t->cells, (plan == KF_FLUID_PACKED ? 0.85 : 1) * shape);
    own ? add_own(t, true) : add_library(t, "transform_inverse");
    if (plan == KF_FLUID_PACKED ? own : plan != KF_FLUID_BATCHED || own)
        add_cells(t, "update", moved, 12 * t->cells, shape);
}

/* --- A step --------------------------------------------------------------------------------------------- */

/* Adds all work of a step: forces, one or two halves of advection and projection, and particles. */
static void add_step(kf_fluid_tally *t) {
    const kf_fluid *f = t->fluid;
    const double moved = 2 * t->values * (double)t->design.velocity_bytes;
    if (kf_fluid_has_clock(f)) add_cells(t, "impulses", 0, 0, 1);
    if (f->source_count > 0) add_cells(t, "sources", 0, 0, 1);
    if (f->confinement > 0) add_cells(t, "confine", moved, 260 * t->cells, 0.8);
    for (int half = 0; half < (f->reflection ? 2 : 1); half++) {
        if (f->advection == KF_ADVECT_MACCORMACK) add_cells(t, "predict", moved, 80 * t->cells, 0.8);
        if (t->options.plan == KF_FLUID_FUSED)
            add_fused(t);
        else if (t->options.plan == KF_FLUID_PERSISTENT)
            add_persistent(t);
        else
            add_parts(t);
        if (f->reflection && half == 0) add_cells(t, "reflect", 1.5 * moved, 20 * t->cells, 0.9);
    }
    const double particles = (double)f->particle_count * f->simulations;
    if (particles > 0)
        add_cells(t, "particles",
                  particles * f->dimensions *
                      (2.0 * (double)t->design.real_bytes + (double)t->design.velocity_bytes),
                  particles * (f->particle_midpoint ? 120 : 45), 0.9);
}

static void *open_cost(const kf_problem *problem, const kf_device_info *device) {
    kf_fluid_cost *cost = kf_allocate_zeroed(1, sizeof *cost);
    cost->fluid = kf_problem_fluid(problem);
    cost->device = device;
    cost->gpu = kf_device_is_gpu(device);
    return cost;
}

/* Works out the kernels of a config's step and what each takes of the device, for the queueing model of
 * cost_model/. */
static kf_status works_of(void *state, const kf_config *config, kf_works *works, kf_error *error) {
    static const double DOUBLE = 1.9, HALF = 1.1;
    /* A copy in the cache is 1.8 times as fast in an H200's roofs; half of that is left to passes that wait
     * between each other. */
    static const double CACHED = 0.7;
    const kf_fluid_cost *cost = state;
    if (strcmp(config->system, "stable_fluids") != 0)
        return kf_fail(error, KF_BAD_INPUT, "the config is for system %s, not stable_fluids", config->system);
    kf_fluid_tally t = {.cost = cost, .fluid = cost->fluid, .works = works};
    KF_TRY(kf_fluid_read_options(cost->fluid, config, cost->gpu, &t.options, error));
    KF_TRY(kf_fluid_design_of(cost->fluid, &t.options, &t.design, error));
    t.cells = (double)kf_fluid_cell_count(cost->fluid) * cost->fluid->simulations;
    t.images = (t.design.fold_x ? 2 : 1) * (t.design.fold_last ? 2 : 1) - 1;
    t.cells /= 1 + t.images;
    t.values = t.cells * cost->fluid->dimensions;
    t.arithmetic = t.options.velocity_bits == 64                                    ? DOUBLE
                   : t.options.velocity_bits == 16 || t.options.spectrum_bits == 16 ? HALF
                                                                                    : 1;
    t.cached = kf_cost_cached(t.values * (double)(t.design.velocity_bytes + t.design.spectrum_bytes),
                              (double)cost->device->l2_bytes, CACHED);
    works->one_by_one = cost->gpu && !t.options.graph;
    add_step(&t);
    return KF_OK;
}

const kf_cost_methods kf_cost_stable_fluids = {
    .open = open_cost,
    .works = works_of,
    .close = free,
    .rates = chosen,
};
