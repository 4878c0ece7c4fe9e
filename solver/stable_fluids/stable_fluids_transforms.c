/* Transforms that are items of their own, by the system's kernels or by a library, on the work arrays of
 * separate.cu. */
#include <string.h>

#include "base/backend/fft.h"
#include "solver/stable_fluids/stable_fluids.h"

static int half_row(const kf_fluid *f) {
    return f->cells[0] / 2 + 1;
}
static long rows_of(const kf_fluid *f) {
    return (long)f->cells[1] * f->cells[2];
}

/* --- By a library --------------------------------------------------------------------------------------- */

/* Makes one transform. p->transforms holds the forward ones first, then as many inverse ones. */
static kf_status make(kf_plan *plan, const kf_fft_shape *shape, int sign, kf_buffer *input, size_t from,
                      kf_buffer *output, size_t to, kf_error *error) {
    kf_fluid_plan *p = plan->system;
    KF_TRY(kf_fft_create(plan->backend, shape, sign, input, from, output, to,
                         &p->transforms[p->transform_count], error));
    p->transform_count++;
    return KF_OK;
}

static kf_fft_shape shape_of(const kf_fluid_plan *p, kf_fft_kind kind) {
    const kf_fluid *f = p->fluid;
    kf_fft_shape s = {.kind = kind,
                      .double_precision = p->options.velocity_bits == 64,
                      .dimensions = f->dimensions,
                      .batch = 1};
    for (int i = 0; i < f->dimensions; i++)
        s.size[i] = f->cells[f->dimensions - 1 - i];
    s.mode_distance = kind == KF_FFT_COMPLEX ? (long)kf_fluid_cell_count(f) : rows_of(f) * half_row(f);
    s.real_row = 2 * half_row(f);
    s.real_distance = 2 * rows_of(f) * half_row(f);
    return s;
}

/* Makes the transforms of the plan that packs two components into one complex field, and in three
 * dimensions one for the third; back they go straight into the velocity. */
static kf_status make_packed(kf_plan *plan, int sign, kf_error *error) {
    const kf_fluid_plan *p = plan->system;
    const kf_fluid *f = p->fluid;
    const size_t pairs = 2 * kf_fluid_cell_count(f) * p->design.real_bytes;
    const kf_fft_shape complex = shape_of(p, KF_FFT_COMPLEX);
    kf_fft_shape real = shape_of(p, sign < 0 ? KF_FFT_REAL_TO_MODES : KF_FFT_MODES_TO_REAL);
    /* Back, straight into the velocity. */
    kf_buffer *target = sign < 0 ? p->spectrum : p->velocity;
    KF_TRY(make(plan, &complex, sign, p->spectrum, 0, target, 0, error));
    if (f->dimensions == 2) return KF_OK;
    if (sign > 0) {
        real.real_row = f->cells[0];
        real.real_distance = (long)kf_fluid_cell_count(f);
    }
    return make(plan, &real, sign, p->spectrum, pairs, target, pairs, error);
}

/* Makes the transforms of one component each, or of all in one batch. */
static kf_status make_planes(kf_plan *plan, int sign, kf_error *error) {
    const kf_fluid_plan *p = plan->system;
    const kf_fluid *f = p->fluid;
    const bool batched = p->options.plan == KF_FLUID_BATCHED;
    kf_fft_shape s = shape_of(p, sign < 0 ? KF_FFT_REAL_TO_MODES : KF_FFT_MODES_TO_REAL);
    kf_buffer *target = p->spectrum;
    if (batched) {
        s.batch = f->dimensions;
        if (sign > 0)
            target = p->velocity, s.real_row = f->cells[0], s.real_distance = (long)kf_fluid_cell_count(f);
        return make(plan, &s, sign, p->spectrum, 0, target, 0, error);
    }
    const size_t plane = (size_t)(2 * rows_of(f) * half_row(f)) * p->design.real_bytes;
    for (int i = 0; i < f->dimensions; i++)
        KF_TRY(make(plan, &s, sign, p->spectrum, (size_t)i * plane, target, (size_t)i * plane, error));
    return KF_OK;
}

kf_status kf_fluid_make_transforms(kf_plan *plan, kf_error *error) {
    const kf_fluid_plan *p = plan->system;
    for (int sign = -1; sign <= 1; sign += 2)
        KF_TRY(p->options.plan == KF_FLUID_PACKED ? make_packed(plan, sign, error)
                                                  : make_planes(plan, sign, error));
    return KF_OK;
}

static void add_calls(kf_plan *plan, bool inverse) {
    const kf_fluid_plan *p = plan->system;
    const int half = p->transform_count / 2;
    for (int i = 0; i < half; i++) {
        kf_fft *transform = p->transforms[i + (inverse ? half : 0)];
        kf_call call = {.enqueue = kf_fft_enqueue, .object = transform};
        kf_copy_text(call.version, sizeof call.version, kf_fft_version(transform));
        (void)kf_plan_add_call(plan, inverse ? "transform_inverse" : "transform_forward", &call);
    }
}

/* --- By the system's kernels ---------------------------------------------------------------------------- */

static kf_status add_pass(kf_plan *plan, const char *name, int axis, kf_transform_arguments a, int groups,
                          kf_error *error) {
    const kf_fluid_plan *p = plan->system;
    const kf_fluid *f = p->fluid;
    const bool gpu = kf_device_is_gpu(kf_backend_device(plan->backend));
    const kf_line_engine *e = axis == 0                   ? &p->design.rows
                              : axis == f->dimensions - 1 ? &p->design.columns
                                                          : &p->design.axis;
    const int lines = axis == 0 ? p->options.rows_per_block : p->options.columns_per_block,
              threads = e->threads * lines;
    /* Rows of reals go two and two. */
    const int engine_lines = strncmp(name, "real", 4) == 0 ? (a.lines + 1) / 2 : a.lines;
    const int block[3] = {threads, 1, 1};
    kf_function *function;
    kf_launch launch;
    KF_TRY(kf_module_function(p->modules[KF_LINES_X + axis], name, &function, error));
    a.twiddles = kf_buffer_address(p->twiddles[axis]);
    a.extent[0] = (engine_lines + lines - 1) / lines * threads;
    a.extent[1] = groups;
    a.extent[2] = 1;
    kf_launch_set(&launch, name, function, block, &a, sizeof a);
    launch.shared_bytes =
        gpu ? kf_line_shared_bytes(e, lines, 1, p->options.exchange_buffers, p->design.real_bytes) : 0;
    kf_item *item = kf_plan_add_kernel(plan, &launch);
    item->bytes = (double)a.lines * groups * (axis == 0 && engine_lines != a.lines ? 2.0 : 4.0) *
                  f->cells[axis] * (double)p->design.real_bytes;
    return KF_OK;
}

/* A field that begins at `offset` reals, along all axes; complex rows of `row` values, or rows of reals. */
static kf_status add_field(kf_plan *plan, bool complex, bool inverse, size_t offset, int components,
                           kf_error *error) {
    const kf_fluid_plan *p = plan->system;
    const kf_fluid *f = p->fluid;
    const int row = complex ? f->cells[0] : half_row(f), deep = f->dimensions == 3;
    const long plane = (long)row * f->cells[1];
    kf_transform_arguments a = {.values = (char *)p->arguments.spectrum + offset * p->design.real_bytes};
    kf_transform_arguments x = a, y = a, z = a;
    x.lines = (int)rows_of(f) * components;
    x.stride = 1;
    x.line = complex ? row : 2L * row;
    y.lines = z.lines = row;
    y.line = z.line = 1;
    y.stride = row;
    z.stride = plane;
    y.group = plane;
    z.lines = (int)plane;
    z.group = plane * f->cells[2];
    const char *const lines = inverse ? "lines_inverse" : "lines_forward";
    const char *const rows = complex ? lines : inverse ? "real_rows_inverse" : "real_rows_forward";
    if (!inverse) KF_TRY(add_pass(plan, rows, 0, x, 1, error));
    if (!inverse || !deep) KF_TRY(add_pass(plan, lines, 1, y, f->cells[2] * components, error));
    if (deep) KF_TRY(add_pass(plan, lines, 2, z, components, error));
    if (inverse && deep) KF_TRY(add_pass(plan, lines, 1, y, f->cells[2] * components, error));
    return inverse ? add_pass(plan, rows, 0, x, 1, error) : KF_OK;
}

static kf_status add_own(kf_plan *plan, bool inverse, kf_error *error) {
    const kf_fluid_plan *p = plan->system;
    const kf_fluid *f = p->fluid;
    if (p->options.plan == KF_FLUID_PACKED) {
        KF_TRY(add_field(plan, true, inverse, 0, 1, error));
        return f->dimensions == 3 ? add_field(plan, false, inverse, 2 * kf_fluid_cell_count(f), 1, error)
                                  : KF_OK;
    }
    if (p->options.plan == KF_FLUID_BATCHED) return add_field(plan, false, inverse, 0, f->dimensions, error);
    for (int i = 0; i < f->dimensions; i++)
        KF_TRY(add_field(plan, false, inverse, (size_t)i * (size_t)(2 * rows_of(f) * half_row(f)), 1, error));
    return KF_OK;
}

/* Copies what the transforms left in place to the velocity: pairs as they are, w without the ends of its
 * rows. */
static void add_unpacking(kf_plan *plan) {
    const kf_fluid_plan *p = plan->system;
    const kf_fluid *f = p->fluid;
    const size_t real = p->design.real_bytes, pairs = 2 * kf_fluid_cell_count(f) * real,
                 row = (size_t)f->cells[0] * real;
    const kf_copy copy = {.target = p->velocity, .source = p->spectrum, .bytes = pairs, .rows = 1};
    kf_plan_add_copy(plan, "unpack", &copy)->bytes = 2.0 * (double)pairs;
    if (f->dimensions == 2) return;
    const kf_copy thirds = {.target = p->velocity,
                            .source = p->spectrum,
                            .target_offset = pairs,
                            .source_offset = pairs,
                            .bytes = row,
                            .rows = (size_t)rows_of(f),
                            .target_pitch = row,
                            .source_pitch = 2 * (size_t)half_row(f) * real};
    kf_plan_add_copy(plan, "unpack", &thirds)->bytes = 2.0 * (double)row * (double)rows_of(f);
}

kf_status kf_fluid_add_forward(kf_plan *plan, kf_error *error) {
    const kf_fluid_plan *p = plan->system;
    if (p->options.fft == KF_FFT_OWN) return add_own(plan, false, error);
    add_calls(plan, false);
    return KF_OK;
}

kf_status kf_fluid_add_inverse(kf_plan *plan, kf_error *error) {
    const kf_fluid_plan *p = plan->system;
    if (p->options.fft == KF_FFT_LIBRARY) {
        add_calls(plan, true);
        return KF_OK;
    }
    KF_TRY(add_own(plan, true, error));
    if (p->options.plan == KF_FLUID_PACKED) add_unpacking(plan);
    return KF_OK;
}
