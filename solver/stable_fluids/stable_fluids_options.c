/* A config's parameters, the design that follows from them, and the defines of the kernels. */
#include <stdio.h>
#include <string.h>

#include "base/space/options.h"
#include "solver/stable_fluids/stable_fluids.h"

static bool power_of_two(int n) {
    return n > 0 && (n & (n - 1)) == 0;
}

/* Refuses options that the kernels do not have together, so that no config from a file gets past a plan's
 * buffers. */
static kf_status check(const kf_fluid *f, const kf_fluid_options *o, bool gpu, kf_error *error) {
    const bool own = o->plan == KF_FLUID_FUSED || o->plan == KF_FLUID_PERSISTENT;
    if (own && o->fft != KF_FFT_OWN)
        return kf_options_refuse(error, "plans fused and persistent have their own transforms");
    if (!own && f->simulations > 1)
        return kf_options_refuse(error, "only plans fused and persistent run several simulations at once");
    if (!own && (o->velocity_bits == 16 || o->spectrum_bits == 16))
        return kf_options_refuse(error, "16-bit storage is for plans fused and persistent");
    if ((o->velocity_bits == 64) != (o->spectrum_bits == 64))
        return kf_options_refuse(error, "f64 is for velocity and spectrum, or for none");
    if ((o->velocity_bits == 16 || o->spectrum_bits == 16) && f->accuracy < 0.005)
        return kf_options_refuse(
            error, "16-bit storage needs a scene whose stable_fluids.accuracy is 0.005 or more");
    if (o->plan == KF_FLUID_PERSISTENT && (!gpu || f->dimensions != 2))
        return kf_options_refuse(error, "plan persistent needs a GPU and two dimensions");
    if (!gpu && (o->tile > 0 || o->component_per_thread || o->exchange_buffers == 2 || o->graph ||
                 o->resident_rows > 0 || o->resident_columns > 0 || o->twiddles == KF_TWIDDLES_EARLY ||
                 o->overlap || o->ahead_rows > 0 || o->ahead_columns > 0))
        return kf_options_refuse(
            error, "tiles, component_per_thread, two exchange buffers, early twiddles, resident "
                   "blocks, graphs, overlap, ahead_rows and ahead_columns are for GPUs");
    if ((o->ahead_rows > 0 || o->ahead_columns > 0) && (o->plan != KF_FLUID_FUSED || f->dimensions == 3))
        return kf_options_refuse(error,
                                 "ahead_rows and ahead_columns are for the fused plan in two dimensions");
    if (!power_of_two(o->rows_per_block) || !power_of_two(o->columns_per_block) || o->rows_per_block > 32 ||
        o->columns_per_block > 32)
        return kf_options_refuse(error, "rows_per_block and columns_per_block are 1, 2, 4, 8, 16 or 32");
    if (o->block_x < 1 || o->block_y < 1 || (gpu && o->block_x * o->block_y > 1024))
        return kf_options_refuse(error, "a block has at most 1024 threads");
    if (o->tile > 0 && !power_of_two(o->tile))
        return kf_options_refuse(error, "tile_columns is 0 or a power of two");
    return KF_OK;
}

#define NUMBER(member)                 KF_NUMBER(kf_fluid_options, KF_OPTION_INT, member, #member, 0, 1 << 20)
#define FLAG(member)                   KF_FLAG(kf_fluid_options, member, #member)
#define CHOICE(member, parameter, ...) KF_CHOICE(kf_fluid_options, member, parameter, __VA_ARGS__)
static const kf_config_field table[] = {
    CHOICE(plan, "plan", "paper", "separate", "packed", "batched", "fused", "persistent"),
    CHOICE(fft, "fft", "own", "library"),
    CHOICE(velocity_bits, "storage_velocity", "f16", "f32", "f64"),
    CHOICE(spectrum_bits, "storage_spectrum", "f16", "f32", "f64"),
    CHOICE(twiddles, "twiddles", "products", "table", "early"),
    KF_NUMBER(kf_fluid_options, KF_OPTION_INT, tile, "tile_columns", 0, 1 << 20),
    NUMBER(pad),
    NUMBER(points_rows),
    NUMBER(points_columns),
    NUMBER(points_inverse),
    NUMBER(rows_per_block),
    NUMBER(columns_per_block),
    NUMBER(exchange_buffers),
    NUMBER(resident_rows),
    NUMBER(resident_columns),
    NUMBER(block_x),
    NUMBER(block_y),
    NUMBER(steps_per_launch),
    NUMBER(ahead_rows),
    NUMBER(ahead_columns),
    FLAG(component_per_thread),
    FLAG(graph),
    FLAG(overlap),
};

kf_status kf_fluid_read_options(const kf_fluid *fluid, const kf_config *config, bool gpu, kf_fluid_options *o,
                                kf_error *error) {
    memset(o, 0, sizeof *o);
    KF_TRY(kf_options_read(config, table, sizeof table / sizeof *table, o, error));
    /* The index of a name becomes its number of bits. */
    o->velocity_bits = 16 << o->velocity_bits;
    o->spectrum_bits = 16 << o->spectrum_bits;
    o->most_threads = gpu ? 1024 : 0;
    return check(fluid, o, gpu, error);
}

/* --- Design --------------------------------------------------------------------------------------------- */

/* Lines of the engine of the pass along the last axis: a component each where threads have one. */
static int column_lines(const kf_fluid *f, const kf_fluid_options *o) {
    return o->columns_per_block * (o->component_per_thread ? f->dimensions : 1);
}

kf_status kf_fluid_design_of(const kf_fluid *f, const kf_fluid_options *o, kf_fluid_design *d,
                             kf_error *error) {
    enum { ALIGNMENT = 16 /* modes */, PAGE = 4096 };
    memset(d, 0, sizeof *d);
    d->real_bytes = o->velocity_bits == 64 ? sizeof(double) : sizeof(float);
    d->velocity_bytes = (size_t)o->velocity_bits / 8;
    d->spectrum_bytes = (size_t)o->spectrum_bits / 8;
    const bool own = o->plan == KF_FLUID_FUSED || o->plan == KF_FLUID_PERSISTENT;
    d->fold_x = own && f->walls[0] && f->dimensions == 2;
    d->fold_last = own && f->walls[f->dimensions - 1];
    const int along_x = d->fold_x ? f->cells[0] / 2 : f->cells[0];
    const int last = d->fold_last ? f->cells[f->dimensions - 1] / 2 : f->cells[f->dimensions - 1];
    d->row_count = f->cells[1] * f->cells[2] / (d->fold_last ? 2 : 1);
    KF_TRY(kf_line_design(along_x, o->points_rows, o->rows_per_block, o->most_threads, &d->rows, error));
    KF_TRY(
        kf_line_design(along_x, o->points_inverse, o->rows_per_block, o->most_threads, &d->inverse, error));
    KF_TRY(kf_line_design(last, o->points_columns, column_lines(f, o), o->most_threads, &d->columns, error));
    KF_TRY(kf_line_design(f->cells[1], o->points_columns, o->columns_per_block, o->most_threads, &d->axis,
                          error));
    d->modes_x = (along_x + 1) / 2;
    int unit = ALIGNMENT;
    if (o->columns_per_block > unit) unit = o->columns_per_block;
    d->pitch = (d->modes_x + unit - 1) / unit * unit + o->pad;
    /* Rows that begin a page apart share few places of a cpu's caches: columns would push each other out. */
    if (o->most_threads == 0 && f->dimensions == 2 && (size_t)d->pitch * 4 * d->spectrum_bytes % PAGE == 0)
        d->pitch += ALIGNMENT / 4;
    if (o->tile > 0) d->pitch = (d->pitch + o->tile - 1) / o->tile * o->tile;
    return KF_OK;
}

bool kf_fluid_has_clock(const kf_fluid *f) {
    return f->impulse_count > 0 || f->source_count > 0 || f->solid == KF_SOLID_MOVING;
}

bool kf_fluid_pairs_particles(const kf_fluid *f) {
    return f->dimensions == 2 && f->particle_count % 2 == 0;
}

/* Returns whether a config on this fluid needs a module. */
bool kf_fluid_uses(const kf_fluid *f, const kf_fluid_options *o, kf_fluid_module module) {
    const bool fused = o->plan == KF_FLUID_FUSED;
    const bool parts = !fused && o->plan != KF_FLUID_PERSISTENT;
    switch (module) {
    case KF_ROWS_FORWARD:
    case KF_ROWS_INVERSE:
    case KF_COLUMNS:
        return fused;
    case KF_AXIS:
        return fused && f->dimensions == 3;
    case KF_PARTS:
        return parts;
    case KF_LINES_X:
    case KF_LINES_Y:
        return parts && o->fft == KF_FFT_OWN;
    case KF_LINES_Z:
        return parts && o->fft == KF_FFT_OWN && f->dimensions == 3;
    case KF_FORCES:
        return kf_fluid_has_clock(f) || f->confinement > 0 || f->advection == KF_ADVECT_MACCORMACK ||
               f->reflection;
    case KF_PARTICLES:
        return f->particle_count > 0;
    case KF_PERSISTENT_STEPS:
        return o->plan == KF_FLUID_PERSISTENT;
    default:
        return false;
    }
}

/* --- Defines -------------------------------------------------------------------------------------------- */

static void define_engine(kf_defines *d, const char *const names[8], const kf_line_engine *e, int lines) {
    kf_define_to(d, names[0], e->threads);
    kf_define_to(d, names[1], lines);
    kf_define_to(d, names[2], e->most);
    for (int i = 0; i < 5; i++)
        kf_define_to(d, names[3 + i], e->radices[i]);
}
static const char *const row_names[] = {"KF_ROW_THREADS", "KF_ROW_LINES", "KF_ROW_MOST", "KF_ROW_R0",
                                        "KF_ROW_R1",      "KF_ROW_R2",    "KF_ROW_R3",   "KF_ROW_R4"};
static const char *const column_names[] = {"KF_COLUMN_THREADS", "KF_COLUMN_LINES", "KF_COLUMN_MOST",
                                           "KF_COLUMN_R0",      "KF_COLUMN_R1",    "KF_COLUMN_R2",
                                           "KF_COLUMN_R3",      "KF_COLUMN_R4"};
static const char *const line_names[] = {"KF_LINE_THREADS", "KF_LINE_LINES", "KF_LINE_MOST", "KF_LINE_R0",
                                         "KF_LINE_R1",      "KF_LINE_R2",    "KF_LINE_R3",   "KF_LINE_R4"};

static void define_bounds(kf_defines *d, int threads, int resident) {
    if (resident > 0)
        kf_define_text(d, "KF_LAUNCH_BOUNDS", "__launch_bounds__(%d,%d)", threads, resident);
    else
        kf_define_text(d, "KF_LAUNCH_BOUNDS", "__launch_bounds__(%d)", threads);
}

/* Defines what happens where the flow arrives. */
static void define_physics(const kf_fluid *f, const kf_fluid_options *o, kf_defines *d) {
    bool lifts = false;
    for (int i = 0; i < f->dye_count; i++)
        lifts |= f->dyes[i].lift != 0;
    kf_define_to(d, "KF_ADVECTION", (long)f->advection);
    kf_define_to(d, "KF_MIDPOINT", f->midpoint);
    kf_define_to(d, "KF_DYES", f->dye_count);
    kf_define_to(d, "KF_BUOYANCY", lifts);
    kf_define_to(d, "KF_LIFT_MIRRORED", f->walls[f->dimensions - 1]);
    kf_define_to(d, "KF_ACCELERATION", f->confinement > 0 || f->body_amplitude != 0);
    kf_define_to(d, "KF_SOLID", (long)f->solid);
    kf_define_to(d, "KF_KEEP", f->reflection);
    kf_define_to(d, "KF_PLANAR", o->plan == KF_FLUID_BATCHED);
}

static void define_layout(const kf_fluid_options *o, const kf_fluid_design *design, kf_defines *d) {
    kf_define_to(d, "KF_PITCH", design->pitch);
    kf_define_to(d, "KF_TILE", o->tile);
    kf_define_to(d, "KF_FOLD_X", design->fold_x);
    kf_define_to(d, "KF_FOLD_LAST", design->fold_last);
}

static void define_pass(const kf_fluid *f, const kf_fluid_options *o, const kf_fluid_design *design,
                        kf_fluid_module module, bool gpu, kf_defines *d) {
    const kf_line_engine *engine = module == KF_ROWS_FORWARD ? &design->rows : &design->inverse;
    define_layout(o, design, d);
    kf_define_to(d, "KF_EXCHANGE_BUFFERS", o->exchange_buffers);
    kf_define_to(d, "KF_TWIDDLES", (long)o->twiddles);
    kf_define_to(d, "KF_OVERLAP", o->overlap);
    if (module == KF_ROWS_FORWARD || module == KF_ROWS_INVERSE) {
        kf_define_to(d, "KF_AHEAD", o->ahead_rows > 0);
        define_engine(d, row_names, engine, o->rows_per_block);
        if (gpu) define_bounds(d, engine->threads * o->rows_per_block, o->resident_rows);
        if (module == KF_ROWS_FORWARD) define_physics(f, o, d);
        return;
    }
    engine = module == KF_AXIS ? &design->axis : &design->columns;
    define_engine(d, column_names, engine, o->columns_per_block);
    if (gpu) define_bounds(d, engine->threads * engine->lines, o->resident_columns);
    if (module == KF_AXIS) return;
    kf_define_to(d, "KF_COMPONENT_PER_THREAD", o->component_per_thread);
    kf_define_to(d, "KF_EXPONENTIAL", f->exponential);
    kf_define_to(d, "KF_AHEAD", o->ahead_columns > 0);
}

static void define_persistent(const kf_fluid *f, const kf_fluid_options *o, const kf_fluid_design *design,
                              kf_defines *d) {
    const int rows = design->rows.threads * o->rows_per_block,
              columns = design->columns.threads * design->columns.lines;
    define_layout(o, design, d);
    kf_define_to(d, "KF_EXCHANGE_BUFFERS", o->exchange_buffers);
    kf_define_to(d, "KF_TWIDDLES", (long)o->twiddles);
    define_engine(d, row_names, &design->rows, o->rows_per_block);
    define_engine(d, column_names, &design->columns, o->columns_per_block);
    kf_define_to(d, "KF_COMPONENT_PER_THREAD", o->component_per_thread);
    kf_define_to(d, "KF_EXPONENTIAL", f->exponential);
    define_bounds(d, rows > columns ? rows : columns, o->resident_rows);
    define_physics(f, o, d);
}

static void define_lines(const kf_fluid *f, const kf_fluid_options *o, const kf_fluid_design *design,
                         kf_fluid_module module, bool gpu, kf_defines *d) {
    const int axis = (int)module - (int)KF_LINES_X;
    const kf_line_engine *engine = axis == 0                   ? &design->rows
                                   : axis == f->dimensions - 1 ? &design->columns
                                                               : &design->axis;
    const int lines = axis == 0 ? o->rows_per_block : o->columns_per_block;
    kf_define_to(d, "KF_EXCHANGE_BUFFERS", o->exchange_buffers);
    kf_define_to(d, "KF_TWIDDLES", (long)o->twiddles);
    kf_define_to(d, "KF_LINE_N", f->cells[axis]);
    kf_define_to(d, "KF_LINE_ACROSS", axis > 0);
    define_engine(d, line_names, engine, lines);
    if (gpu) define_bounds(d, engine->threads * lines, 0);
}

void kf_fluid_define(const kf_fluid *f, const kf_fluid_options *o, const kf_fluid_design *design,
                     kf_fluid_module module, bool gpu, kf_source *source, kf_defines *d) {
    static const char *const paths[KF_FLUID_MODULES] = {
        "kernels/stable_fluids/rows_forward.cu", "kernels/stable_fluids/rows_inverse.cu",
        "kernels/stable_fluids/columns.cu",      "kernels/stable_fluids/axis.cu",
        "kernels/stable_fluids/separate.cu",     "kernels/stable_fluids/transforms.cu",
        "kernels/stable_fluids/transforms.cu",   "kernels/stable_fluids/transforms.cu",
        "kernels/stable_fluids/forces.cu",       "kernels/stable_fluids/particles.cu",
        "kernels/stable_fluids/persistent.cu"};
    d->count = 0;
    kf_define_to(d, "KF_DIMENSIONS", f->dimensions);
    kf_define_to(d, "KF_NX", f->cells[0]);
    kf_define_to(d, "KF_NY", f->cells[1]);
    kf_define_to(d, "KF_NZ", f->cells[2]);
    kf_define_to(d, "KF_VELOCITY_BITS", o->velocity_bits);
    kf_define_to(d, "KF_SPECTRUM_BITS", o->spectrum_bits);
    if (module <= KF_AXIS) define_pass(f, o, design, module, gpu, d);
    if (module >= KF_LINES_X && module <= KF_LINES_Z) define_lines(f, o, design, module, gpu, d);
    if (module == KF_PARTS) {
        define_layout(o, design, d);
        kf_define_to(d, "KF_EXPONENTIAL", f->exponential);
    }
    if (module == KF_PARTS || module == KF_FORCES) define_physics(f, o, d);
    if (module == KF_PARTICLES) {
        kf_define_to(d, "KF_PARTICLE_RULE", f->particle_midpoint ? KF_MIDPOINT_RULE : KF_EULER_RULE);
        kf_define_to(d, "KF_PARTICLE_PAIRS", gpu && kf_fluid_pairs_particles(f));
        kf_define_to(d, "KF_PLANAR", o->plan == KF_FLUID_BATCHED);
    }
    if (module == KF_PERSISTENT_STEPS) define_persistent(f, o, design, d);
    *source = (kf_source){.file = paths[module], .defines = d->list, .define_count = d->count};
}
