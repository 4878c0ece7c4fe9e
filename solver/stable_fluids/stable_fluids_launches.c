/* The items of a step of each plan. The entry point is kf_fluid_make_items. */
#include <math.h>
#include <string.h>

#include "solver/stable_fluids/stable_fluids.h"

typedef struct builder {
    kf_plan *plan;
    const kf_fluid_plan *p;
    const kf_fluid *f;
    bool gpu;
    /* The number of versions of items that use the dyes, whose buffers swap every step: one for even, one for
     * odd steps. */
    int versions;
    kf_error *error;
} builder;

static size_t cell_count(const builder *b) {
    return kf_fluid_cell_count(b->f) * (size_t)b->f->simulations;
}
static double field_bytes(const builder *b) {
    return (double)cell_count(b) * b->f->dimensions * (double)b->p->design.velocity_bytes;
}
static double spectrum_bytes(const builder *b) {
    return (double)cell_count(b) * b->f->dimensions * (double)b->p->design.spectrum_bytes;
}

static void set_single(kf_fluid_arguments *a) {
#define KF_SINGLE(name) a->single_precision.name = (float)a->double_precision.name;
    KF_FLUID_SCALARS(KF_SINGLE)
#undef KF_SINGLE
}

/* Returns the arguments of half a step: the carried field, the velocity that carries it, and the time. */
static kf_fluid_arguments arguments_of(const builder *b, int half) {
    const kf_fluid *f = b->f;
    kf_fluid_arguments a = b->p->arguments;
    kf_fluid_doubles *d = &a.double_precision;
    const double part = f->reflection ? 0.5 : 1.0;
    double *const decays[] = {&d->decay_0, &d->decay_1, &d->decay_2}, *const lifts[] = {
                                                                          &d->lift_0, &d->lift_1, &d->lift_2};
    d->step = part;
    d->viscosity = f->reflection && half == 0 ? 0 : f->viscosity;
    d->drag = f->drag * part;
    d->rebound = f->rebound;
    for (int i = 0; i < KF_FLUID_DYES && i < f->dye_count; i++) {
        *decays[i] = exp(-f->dyes[i].dissipation * part);
        *lifts[i] = f->dyes[i].lift * part;
    }
    if (f->reflection) {
        void *kept = kf_buffer_address(b->p->kept);
        if (half == 0)
            a.kept = kept;
        else
            a.field = kept;
    } else if (b->p->options.plan == KF_FLUID_PAPER) {
        a.wind = a.field = kf_buffer_address(b->p->copy);
    }
    set_single(&a);
    return a;
}

/* Sets the dye buffers of a half step of that parity. */
static void set_dyes(const builder *b, kf_fluid_arguments *a, int half, int version) {
    if (b->f->dye_count == 0) return;
    const int from = b->f->reflection ? half : version;
    a->dye = kf_buffer_address(b->p->dyes[from]);
    a->dye_target = kf_buffer_address(b->p->dyes[1 - from]);
}

typedef struct work {
    const char *name;
    kf_fluid_module module;
    int extent[3], block[3];
    size_t shared;
    double bytes;
} work;

static kf_status add(const builder *b, const work *w, const kf_fluid_arguments *given, int period,
                     int phase) {
    kf_function *function;
    kf_launch launch;
    kf_fluid_arguments a = *given;
    KF_TRY(kf_module_function(b->p->modules[w->module], w->name, &function, b->error));
    memcpy(a.extent, w->extent, sizeof a.extent);
    kf_launch_set(&launch, w->name, function, w->block, &a, sizeof a);
    launch.shared_bytes = b->gpu ? w->shared : 0;
    launch.overlaps = b->p->options.overlap && w->module <= KF_AXIS;
    kf_item *item = kf_plan_add_kernel(b->plan, &launch);
    item->period = period;
    item->phase = phase;
    item->bytes = w->bytes;
    return KF_OK;
}

/* Adds an item for each version of the dyes. */
static kf_status add_versions(const builder *b, const work *w, kf_fluid_arguments a, int half) {
    for (int version = 0; version < b->versions; version++) {
        set_dyes(b, &a, half, version);
        KF_TRY(add(b, w, &a, b->versions, version));
    }
    return KF_OK;
}

/* Returns the work of a thread per cell, or per mode. On the cpu a block is a few whole rows. */
static work over(const builder *b, kf_fluid_module module, const char *name, int nx, int ny, int nz,
                 double bytes) {
    const kf_fluid_options *o = &b->p->options;
    work w = {.name = name, .module = module, .extent = {nx, ny, nz}, .bytes = bytes};
    w.block[0] = b->gpu ? o->block_x : nx;
    w.block[1] = o->block_y;
    w.block[2] = 1;
    return w;
}
static work over_cells(const builder *b, kf_fluid_module module, const char *name, double bytes) {
    const int *n = b->f->cells;
    return over(b, module, name, n[0], n[1], n[2] * b->f->simulations, bytes);
}
/* Blocks of an engine's lines. */
static work over_lines(const builder *b, kf_fluid_module module, const char *name, const kf_line_engine *e,
                       int lines, int at_once, long blocks, double bytes) {
    const int threads = e->threads * lines;
    work w = {.name = name, .module = module, .bytes = bytes};
    w.extent[0] = (int)blocks * threads;
    w.extent[1] = b->f->simulations;
    w.extent[2] = 1;
    w.block[0] = threads;
    w.block[1] = w.block[2] = 1;
    w.shared =
        kf_line_shared_bytes(e, lines, at_once, b->p->options.exchange_buffers, b->p->design.real_bytes);
    return w;
}

/* --- Before and after ----------------------------------------------------------------------------------- */

/* Appends what acts before the flow moves: pushes, sources (dyes in two versions, as they go to and fro),
 * and confinement of vorticity. */
static kf_status add_forces(const builder *b) {
    enum { THREADS = 128 };
    const kf_fluid *f = b->f;
    kf_fluid_arguments a = arguments_of(b, 0);
    a.field = a.wind = a.target; /* the velocity itself, also in the seed's plan */
    if (kf_fluid_has_clock(f)) {
        const work w = {.name = "impulses",
                        .module = KF_FORCES,
                        .extent = {THREADS, f->simulations, 1},
                        .block = {THREADS, 1, 1}};
        KF_TRY(add(b, &w, &a, 1, 0));
    }
    if (f->source_count > 0) {
        int most = 0;
        for (int i = 0; i < f->source_count; i++) {
            const int width = 2 * ((int)f->sources[i].radius + 1) + 1;
            const int count = f->dimensions == 3 ? width * width * width : width * width;
            if (count > most) most = count;
        }
        const work w = {.name = "sources",
                        .module = KF_FORCES,
                        .extent = {most, f->source_count, f->simulations},
                        .block = {THREADS, 1, 1}};
        for (int version = 0; version < b->versions; version++) {
            set_dyes(b, &a, 0, version);
            kf_fluid_arguments poured = a;
            if (f->dye_count > 0) poured.dye_target = (void *)a.dye;
            KF_TRY(add(b, &w, &poured, b->versions, version));
        }
    }
    if (f->confinement == 0) return KF_OK;
    const work w = over_cells(b, KF_FORCES, "confine", 2 * field_bytes(b));
    return add(b, &w, &a, 1, 0);
}

/* Appends the seed's copy of the velocity, from which all that follows in the step reads. */
static kf_status add_copy(const builder *b, int half) {
    if (b->p->options.plan != KF_FLUID_PAPER) return KF_OK;
    const kf_fluid_arguments a = arguments_of(b, half);
    kf_fluid_arguments copied = a;
    const work w = over_cells(b, KF_PARTS, "copy_velocity", 2 * field_bytes(b));
    copied.field = copied.wind = a.target;
    copied.target = (void *)a.wind;
    return add(b, &w, &copied, 1, 0);
}

static kf_status add_prediction(const builder *b, int half) {
    if (b->f->advection != KF_ADVECT_MACCORMACK) return KF_OK;
    const work w = over_cells(b, KF_FORCES, "predict", 2 * field_bytes(b));
    return add_versions(b, &w, arguments_of(b, half), half);
}

static kf_status add_reflection(const builder *b, int half) {
    if (!b->f->reflection || half == 1) return KF_OK;
    const work w = over_cells(b, KF_FORCES, "reflect", 3 * field_bytes(b));
    const kf_fluid_arguments a = arguments_of(b, half);
    return add(b, &w, &a, 1, 0);
}

static kf_status add_particles(const builder *b) {
    enum { THREADS = 256 };
    const kf_fluid *f = b->f;
    if (f->particle_count == 0) return KF_OK;
    kf_fluid_arguments a = b->p->arguments;
    set_single(&a);
    const work w = {.name = "particles",
                    .module = KF_PARTICLES,
                    .extent = {(int)(f->particle_count / (b->gpu && kf_fluid_pairs_particles(f) ? 2 : 1)),
                               f->simulations, 1},
                    .block = {THREADS, 1, 1},
                    .bytes = (double)f->particle_count * f->simulations * f->dimensions *
                             (2 * (double)b->p->design.real_bytes + (double)b->p->design.velocity_bytes)};
    return add(b, &w, &a, 1, 0);
}

/* --- The plans ------------------------------------------------------------------------------------------ */

static double dye_bytes(const builder *b) {
    return 2.0 * b->f->dye_count * (double)cell_count(b) * (double)b->p->design.velocity_bytes;
}

/* Appends the three launches of the fused plan, rows forward, columns and rows inverse; in three
 * dimensions the axis between takes one before and one after the columns. */
static kf_status add_fused(const builder *b, int half) {
    const kf_fluid *f = b->f;
    const kf_fluid_options *o = &b->p->options;
    const kf_fluid_design *d = &b->p->design;
    const kf_fluid_arguments a = arguments_of(b, half);
    kf_fluid_arguments along = a, across = a; /* the axes, and what is asked for ahead there */
    along.ahead = o->ahead_rows * kf_backend_device(b->plan->backend)->multiprocessors;
    across.ahead = o->ahead_columns * kf_backend_device(b->plan->backend)->multiprocessors;
    const int rows = d->row_count, deep = f->dimensions == 3, lines = deep ? (rows + 1) / 2 : rows;
    const long row_blocks = (lines + o->rows_per_block - 1) / o->rows_per_block;
    const long tiles = (d->modes_x + o->columns_per_block - 1) / o->columns_per_block;
    const int at_once = deep ? 3 : 1;
    const double velocity = field_bytes(b), spectrum = spectrum_bytes(b);
    const work forward = over_lines(b, KF_ROWS_FORWARD, "rows_forward", &d->rows, o->rows_per_block, at_once,
                                    row_blocks, velocity + spectrum + dye_bytes(b));
    const work inverse = over_lines(b, KF_ROWS_INVERSE, "rows_inverse", &d->inverse, o->rows_per_block,
                                    at_once, row_blocks, velocity + spectrum);
    const work columns = over_lines(b, KF_COLUMNS, "columns", &d->columns, d->columns.lines,
                                    o->component_per_thread ? 1 : f->dimensions,
                                    deep ? tiles * f->cells[1] : tiles, 2 * spectrum);
    const long axis_blocks = tiles * (rows / f->cells[1]) * 3;
    KF_TRY(add_versions(b, &forward, along, half));
    if (deep) {
        const work w = over_lines(b, KF_AXIS, "axis_forward", &d->axis, o->columns_per_block, 1, axis_blocks,
                                  2 * spectrum);
        KF_TRY(add(b, &w, &a, 1, 0));
    }
    KF_TRY(add(b, &columns, &across, 1, 0));
    if (deep) {
        const work w = over_lines(b, KF_AXIS, "axis_inverse", &d->axis, o->columns_per_block, 1, axis_blocks,
                                  2 * spectrum);
        KF_TRY(add(b, &w, &a, 1, 0));
    }
    return add(b, &inverse, &along, 1, 0);
}

/* Transforms are passes of their own. */
static kf_status add_parts(const builder *b, int half) {
    const kf_fluid *f = b->f;
    const int *n = f->cells;
    const kf_fluid_arguments a = arguments_of(b, half);
    const bool packed = b->p->options.plan == KF_FLUID_PACKED;
    const double bytes = field_bytes(b);
    const work advect =
        over_cells(b, KF_PARTS, packed ? "advect_packed" : "advect_planes", 2 * bytes + dye_bytes(b));
    KF_TRY(add_versions(b, &advect, a, half));
    KF_TRY(kf_fluid_add_forward(b->plan, b->error));
    const bool deep = f->dimensions == 3;
    const work project = packed ? over(b, KF_PARTS, "project_packed", n[0], deep ? n[1] : n[1] / 2 + 1,
                                       deep ? n[2] / 2 + 1 : 1, 2 * bytes)
                                : over(b, KF_PARTS, "project_planes", n[0] / 2 + 1, n[1], n[2], 2 * bytes);
    KF_TRY(add(b, &project, &a, 1, 0));
    KF_TRY(kf_fluid_add_inverse(b->plan, b->error));
    if (packed || (b->p->options.plan == KF_FLUID_BATCHED && b->p->options.fft == KF_FFT_LIBRARY))
        return KF_OK;
    const work update = over_cells(b, KF_PARTS, "update", 2 * bytes);
    return add(b, &update, &a, 1, 0);
}

/* Makes the launch that does this many steps in one kernel. Its blocks wait for each other, so their number
 * is at most what the device holds at once. */
kf_status kf_fluid_persistent_launch(const kf_plan *plan, int steps, kf_launch *launch, kf_error *error) {
    const kf_fluid_plan *p = plan->system;
    const kf_fluid_options *o = &p->options;
    const kf_line_engine *rows = &p->design.rows, *columns = &p->design.columns;
    const builder b = {
        .plan = (kf_plan *)plan, .p = p, .f = p->fluid, .gpu = true, .versions = 1, .error = error};
    kf_function *function;
    KF_TRY(kf_module_function(p->modules[KF_PERSISTENT_STEPS], "persistent", &function, error));
    const int row_threads = rows->threads * o->rows_per_block,
              column_threads = columns->threads * columns->lines;
    const int threads = row_threads > column_threads ? row_threads : column_threads;
    const size_t row_bytes =
        kf_line_shared_bytes(rows, o->rows_per_block, 1, o->exchange_buffers, p->design.real_bytes);
    const size_t column_bytes = kf_line_shared_bytes(columns, columns->lines, o->component_per_thread ? 1 : 2,
                                                     o->exchange_buffers, p->design.real_bytes);
    const size_t shared = row_bytes > column_bytes ? row_bytes : column_bytes;
    const long most = (long)kf_function_resident_blocks(function, threads, shared) *
                      kf_backend_device(plan->backend)->multiprocessors;
    const long row_blocks =
        (p->design.row_count + o->rows_per_block - 1) / o->rows_per_block * p->fluid->simulations;
    const long column_blocks =
        (p->design.modes_x + o->columns_per_block - 1) / o->columns_per_block * p->fluid->simulations;
    const long needed = row_blocks > column_blocks ? row_blocks : column_blocks,
               blocks = needed < most ? needed : most;
    if (blocks < 1)
        return kf_fail(error, KF_MACHINE,
                       "plan persistent: not one block of %d threads and %zu bytes fits a multiprocessor",
                       threads, shared);
    kf_fluid_arguments a = arguments_of(&b, 0);
    const int block[3] = {threads, 1, 1};
    a.extent[0] = (int)blocks * threads;
    a.extent[1] = a.extent[2] = 1;
    a.steps = steps;
    kf_launch_set(launch, "persistent", function, block, &a, sizeof a);
    launch->waits_for_all = true;
    launch->shared_bytes = shared;
    return KF_OK;
}

static kf_status add_persistent(const builder *b) {
    kf_launch launch;
    const int steps = b->p->options.steps_per_launch;
    const kf_copy base = {
        .target = b->p->base, .source = b->p->velocity, .rows = 1, .bytes = kf_buffer_size(b->p->velocity)};
    kf_item *copy = kf_plan_add_copy(b->plan, "remember", &base);
    copy->period = steps;
    KF_TRY(kf_fluid_persistent_launch(b->plan, steps, &launch, b->error));
    kf_item *item = kf_plan_add_kernel(b->plan, &launch);
    item->period = steps;
    item->bytes = steps * (2 * field_bytes(b) + 4 * spectrum_bytes(b));
    return KF_OK;
}

/* Makes the items of a step, by the config's plan. */
kf_status kf_fluid_make_items(kf_plan *plan, kf_error *error) {
    const kf_fluid_plan *p = plan->system;
    const kf_fluid *f = p->fluid;
    const bool gpu = kf_device_is_gpu(kf_backend_device(plan->backend));
    const builder b = {.plan = plan,
                       .p = p,
                       .f = f,
                       .gpu = gpu,
                       .versions = f->dye_count > 0 && !f->reflection ? 2 : 1,
                       .error = error};
    if (p->options.plan == KF_FLUID_PERSISTENT) {
        KF_TRY(add_persistent(&b));
        return KF_OK;
    }
    KF_TRY(add_forces(&b));
    for (int half = 0; half < (f->reflection ? 2 : 1); half++) {
        KF_TRY(add_copy(&b, half));
        KF_TRY(add_prediction(&b, half));
        KF_TRY(p->options.plan == KF_FLUID_FUSED ? add_fused(&b, half) : add_parts(&b, half));
        KF_TRY(add_reflection(&b, half));
    }
    return add_particles(&b);
}
