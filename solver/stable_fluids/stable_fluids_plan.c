/* Builds a plan: modules, buffers, tables, items. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/stable_fluids/stable_fluids.h"

static const double pi = 3.14159265358979323846;

static kf_status buffer(kf_plan *plan, size_t bytes, kf_buffer **made, kf_error *error) {
    KF_TRY(kf_plan_buffer(plan, bytes, made, error));
    return kf_buffer_fill(*made, 0, error);
}

/* Doubles to a buffer in the precision of the arithmetic. */
static kf_status upload_reals(const kf_fluid_plan *p, kf_buffer *target, const double *values, size_t count,
                              kf_error *error) {
    if (p->design.real_bytes == sizeof(double))
        return kf_buffer_upload(target, 0, values, count * sizeof(double), error);
    float *single = kf_allocate(count * sizeof *single);
    for (size_t i = 0; i < count; i++)
        single[i] = (float)values[i];
    const kf_status status = kf_buffer_upload(target, 0, single, count * sizeof *single, error);
    free(single);
    return status;
}

/* Makes and uploads the twiddles of each axis. The inverse transforms of rows have separate engines. */
static kf_status make_twiddles(kf_plan *plan, kf_fluid_plan *p, kf_error *error) {
    const kf_fluid *f = p->fluid;
    for (int axis = 0; axis < f->dimensions; axis++) {
        const kf_line_engine *engine = axis == 0                   ? &p->design.rows
                                       : axis == f->dimensions - 1 ? &p->design.columns
                                                                   : &p->design.axis;
        const size_t half = 2 * (size_t)(engine->n - 1), count = 2 * half + 2 * (size_t)engine->n;
        KF_TRY(buffer(plan, count * p->design.real_bytes, &p->twiddles[axis], error));
        double *forward = kf_line_twiddles(engine),
               *inverse = axis == 0 ? kf_line_twiddles(&p->design.inverse) : NULL;
        /* Rows have engines of their own for the way back. */
        if (inverse != NULL && p->options.plan == KF_FLUID_FUSED)
            memcpy(forward + half, inverse + half, half * sizeof *forward);
        const kf_status status = upload_reals(p, p->twiddles[axis], forward, count, error);
        free(forward);
        free(inverse);
        KF_TRY(status);
    }
    return KF_OK;
}

/* Makes the buffers that the scene needs in any plan: clock, pushes, sources, solid, dyes, particles. */
static kf_status make_scene_buffers(kf_plan *plan, kf_fluid_plan *p, kf_error *error) {
    const kf_fluid *f = p->fluid;
    const size_t cells = kf_fluid_cell_count(f), simulations = (size_t)f->simulations;
    if (kf_fluid_has_clock(f)) KF_TRY(buffer(plan, 2 * simulations * sizeof(long long), &p->clock, error));
    KF_TRY(buffer(plan, (f->impulse_count + 1) * sizeof *f->impulses, &p->impulses, error));
    if (f->impulse_count > 0)
        KF_TRY(kf_buffer_upload(p->impulses, 0, f->impulses, f->impulse_count * sizeof *f->impulses, error));
    if (f->source_count > 0) {
        const size_t bytes = (size_t)f->source_count * sizeof *f->sources;
        KF_TRY(buffer(plan, bytes, &p->sources, error));
        KF_TRY(kf_buffer_upload(p->sources, 0, f->sources, bytes, error));
    }
    if (f->solid != KF_SOLID_NONE) {
        KF_TRY(buffer(plan, cells * sizeof *f->mask, &p->solid, error));
        KF_TRY(kf_buffer_upload(p->solid, 0, f->mask, cells * sizeof *f->mask, error));
    }
    for (int i = 0; i < 2 && f->dye_count > 0; i++)
        KF_TRY(buffer(plan, cells * simulations * (size_t)f->dye_count * p->design.velocity_bytes,
                      &p->dyes[i], error));
    if (f->particle_count > 0)
        KF_TRY(buffer(plan,
                      (size_t)f->particle_count * simulations * (size_t)f->dimensions * p->design.real_bytes,
                      &p->particles, error));
    return KF_OK;
}

/* Bytes of the arrays that whole transforms work on. */
static size_t work_bytes(const kf_fluid_plan *p) {
    const kf_fluid *f = p->fluid;
    const size_t rows = (size_t)f->cells[1] * (size_t)f->cells[2],
                 plane = rows * 2 * (size_t)(f->cells[0] / 2 + 1);
    const size_t cells = kf_fluid_cell_count(f);
    if (p->options.plan == KF_FLUID_PACKED)
        return (2 * cells + (f->dimensions == 3 ? plane : 0)) * p->design.real_bytes;
    return (size_t)f->dimensions * plane * p->design.real_bytes;
}

/* Makes the memory that the plan asks for: velocity, spectrum, and the copies that some plans and schemes
 * need. */
static kf_status make_buffers(kf_plan *plan, kf_fluid_plan *p, kf_error *error) {
    const kf_fluid *f = p->fluid;
    const kf_fluid_design *d = &p->design;
    const size_t rows = (size_t)d->row_count, simulations = (size_t)f->simulations;
    const size_t field = kf_fluid_cell_count(f) * simulations * (size_t)f->dimensions * d->velocity_bytes;
    KF_TRY(buffer(plan, field, &p->velocity, error));
    if (p->options.plan == KF_FLUID_FUSED || p->options.plan == KF_FLUID_PERSISTENT)
        KF_TRY(buffer(plan,
                      (size_t)d->pitch * rows * simulations * (size_t)f->dimensions * 2 * d->spectrum_bytes,
                      &p->spectrum, error));
    else
        KF_TRY(buffer(plan, work_bytes(p), &p->spectrum, error));
    if (p->options.plan == KF_FLUID_PAPER) KF_TRY(buffer(plan, field, &p->copy, error));
    if (p->options.plan == KF_FLUID_PERSISTENT) {
        KF_TRY(buffer(plan, field, &p->base, error));
        KF_TRY(buffer(plan, 256, &p->barrier, error));
    }
    if (f->reflection) KF_TRY(buffer(plan, field, &p->kept, error));
    if (f->confinement > 0 || f->body_amplitude != 0) KF_TRY(buffer(plan, field, &p->acceleration, error));
    if (f->advection == KF_ADVECT_MACCORMACK) {
        KF_TRY(buffer(plan, field, &p->predicted, error));
        if (f->dye_count > 0) KF_TRY(buffer(plan, kf_buffer_size(p->dyes[0]), &p->dye_predicted, error));
    }
    return make_twiddles(plan, p, error);
}

/* A list of what a step writes before it reads it. Dyes go to and fro within a step of two halves, else from
 * step to step. */
static void declare_fresh(kf_plan *plan, const kf_fluid_plan *p) {
    kf_buffer *const written[] = {p->copy, p->kept, p->predicted, p->dye_predicted,
                                  p->fluid->confinement > 0 ? p->acceleration : NULL};
    const int period = p->options.plan == KF_FLUID_PERSISTENT ? p->options.steps_per_launch : 1;
    kf_plan_fresh(plan, p->spectrum, period, 0);
    kf_plan_fresh(plan, p->base, period, 0);
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        kf_plan_fresh(plan, written[i], 1, 0);
    if (p->fluid->reflection) kf_plan_fresh(plan, p->dyes[1], 1, 0);
    for (int i = 0; i < 2 && !p->fluid->reflection; i++)
        kf_plan_fresh(plan, p->dyes[1 - i], 2, i);
}

static const void *address(const kf_buffer *buffer) {
    return buffer == NULL ? NULL : kf_buffer_address(buffer);
}

/* Sets the arguments that all launches share. */
static void set_arguments(kf_fluid_plan *p) {
    const kf_fluid *f = p->fluid;
    kf_fluid_arguments *a = &p->arguments;
    const bool fused = p->options.plan == KF_FLUID_FUSED || p->options.plan == KF_FLUID_PERSISTENT;
    kf_fluid_doubles *d = &a->double_precision;
    a->simulations = f->simulations;
    a->wind = a->field = address(p->velocity);
    a->target = (void *)address(p->velocity);
    a->predicted = address(p->predicted);
    a->dye_predicted = address(p->dye_predicted);
    a->acceleration = address(p->acceleration);
    a->solid = address(p->solid);
    a->spectrum = (void *)address(p->spectrum);
    a->twiddles_x = address(p->twiddles[0]);
    a->twiddles_y = address(p->twiddles[1]);
    a->twiddles_z = address(p->twiddles[2]);
    a->particles = (void *)address(p->particles);
    a->particle_count = f->particle_count;
    a->clock = (void *)address(p->clock);
    a->impulses = address(p->impulses);
    a->impulse_count = (long long)f->impulse_count;
    a->sources = address(p->sources);
    a->motion = f->motion;
    a->barrier = (void *)address(p->barrier);
    d->wave_x = 2 * pi / f->cells[0];
    d->wave_y = 2 * pi / f->cells[1];
    d->wave_z = 2 * pi / f->cells[2];
    d->scale = 1.0 / (p->design.row_count * (fused ? 1.0 : f->cells[0]));
    d->confinement = f->confinement;
    d->particle_step = 1;
}

/* Counts every value of velocity and dyes read and written once, and the spectrum once per pass. Passes that
 * fold the box at its walls leave the mirror images out; only the velocity is written to these, too. */
static double least_bytes(const kf_fluid_plan *p) {
    const kf_fluid *f = p->fluid;
    const double d = f->dimensions, passes = d == 3 ? 8 : 4,
                 images = (p->design.fold_x ? 2 : 1) * (p->design.fold_last ? 2 : 1);
    const double cell = (1 + images) * d * (double)p->design.velocity_bytes +
                        passes * d * (double)p->design.spectrum_bytes +
                        2 * f->dye_count * (double)p->design.velocity_bytes;
    return cell * (double)kf_fluid_cell_count(f) / images * f->simulations;
}

/* Uploads a steady force. Confinement overwrites it. */
static kf_status upload_body(const kf_fluid_plan *p, kf_error *error) {
    const kf_fluid *f = p->fluid;
    if (f->body_amplitude == 0) return KF_OK;
    const size_t cells = kf_fluid_cell_count(f), simulations = (size_t)f->simulations;
    const bool planar = p->options.plan == KF_FLUID_BATCHED;
    double *values = kf_allocate_zeroed(cells * simulations * (size_t)f->dimensions, sizeof *values);
    for (size_t n = 0; n < cells * simulations; n++) {
        const int y = (int)(n / (size_t)f->cells[0] % (size_t)f->cells[1]);
        values[planar ? n : 2 * n] = kf_fluid_body(f, y);
    }
    kf_status status = KF_OK;
    if (p->options.velocity_bits == 16) {
        uint16_t *half = kf_allocate(cells * simulations * (size_t)f->dimensions * sizeof *half);
        for (size_t n = 0; n < cells * simulations * (size_t)f->dimensions; n++)
            half[n] = kf_half_of(values[n]);
        status = kf_buffer_upload(p->acceleration, 0, half,
                                  cells * simulations * (size_t)f->dimensions * sizeof *half, error);
        free(half);
    } else {
        status = upload_reals(p, p->acceleration, values, cells * simulations * (size_t)f->dimensions, error);
    }
    free(values);
    return status;
}

/* Compiles the modules that the config uses, makes memory and items. */
static kf_status build(kf_plan *plan, kf_fluid_plan *p, bool gpu, kf_error *error) {
    const kf_fluid *f = p->fluid;
    plan->updates = kf_fluid_domain_count(f) * f->simulations;
    KF_TRY(kf_fluid_design_of(f, &p->options, &p->design, error));
    plan->least_bytes = least_bytes(p);
    for (int which = 0; which < KF_FLUID_MODULES; which++) {
        kf_source source;
        kf_defines defines;
        if (!kf_fluid_uses(f, &p->options, (kf_fluid_module)which)) continue;
        kf_fluid_define(f, &p->options, &p->design, (kf_fluid_module)which, gpu, &source, &defines);
        KF_TRY(kf_plan_module(plan, &source, &p->modules[which], error));
    }
    KF_TRY(make_scene_buffers(plan, p, error));
    KF_TRY(make_buffers(plan, p, error));
    declare_fresh(plan, p);
    set_arguments(p);
    KF_TRY(upload_body(p, error));
    if (p->options.fft == KF_FFT_LIBRARY) KF_TRY(kf_fluid_make_transforms(plan, error));
    return kf_fluid_make_items(plan, error);
}

kf_status kf_fluid_make_plan(const kf_problem *problem, const kf_config *config, kf_backend *backend,
                             kf_plan **plan, kf_error *error) {
    const kf_fluid *fluid = kf_problem_fluid(problem);
    const bool gpu = kf_device_is_gpu(kf_backend_device(backend));
    kf_fluid_options options;
    KF_TRY(kf_fluid_read_options(fluid, config, gpu, &options, error));
    kf_fluid_plan *p = kf_allocate_zeroed(1, sizeof *p);
    p->fluid = fluid;
    p->options = options;
    kf_plan *made = kf_plan_create(backend, problem, config, &kf_fluid_methods, p);
    if (!options.graph) made->graph_steps = -1;
    const kf_status status = build(made, p, gpu, error);
    return kf_plan_built(made, status, plan);
}
