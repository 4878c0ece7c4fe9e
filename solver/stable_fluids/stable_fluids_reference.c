#include "solver/stable_fluids/stable_fluids_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/parallel.h"
#include "base/util/vector.h"

static const double pi = 3.14159265358979323846;

typedef struct reference {
    const kf_fluid *fluid;
    size_t count;
    kf_fluid_state state;
    double *field[3]; /* carried */
    double *wind[3];  /* carries */
    /* The velocity before the projection. */
    double *arrived[3];
    double *guess[3]; /* MacCormack: the field carried once */
    double *push[3];  /* acceleration by confinement and body force */
    double *new_dye[KF_FLUID_DYES], *dye_guess[KF_FLUID_DYES];
    /* The share of a step that a trace goes back. */
    double part;
    long long step;
    size_t next_impulse;
} reference;

static int wrapped(long i, int n) {
    const long rest = i % n;
    return (int)(rest < 0 ? rest + n : rest);
}
static size_t cell_at(const kf_fluid *f, long x, long y, long z) {
    return ((size_t)wrapped(z, f->cells[2]) * (size_t)f->cells[1] + (size_t)wrapped(y, f->cells[1])) *
               (size_t)f->cells[0] +
           (size_t)wrapped(x, f->cells[0]);
}
static void coordinates(const kf_fluid *f, size_t n, int at[3]) {
    at[0] = (int)(n % (size_t)f->cells[0]);
    at[1] = (int)(n / (size_t)f->cells[0] % (size_t)f->cells[1]);
    at[2] = (int)(n / ((size_t)f->cells[0] * (size_t)f->cells[1]));
}

/* --- Interpolation -------------------------------------------------------------------------------------- */

/* Weights of the cells `first` .. `first` + count - 1 along an axis. */
typedef struct weights {
    long first[3];
    int count;
    double w[3][4];
} weights;

/* Returns the cells and weights from which a value is interpolated at `upstream` from a cell: linear, or
 * cubic by Catmull and Rom. */
static weights weights_at(const kf_fluid *f, const int at[3], const double upstream[3], bool cubic) {
    weights result = {.count = cubic ? 4 : 2};
    for (int i = 0; i < 3; i++) {
        const double floored = i < f->dimensions ? floor(-upstream[i]) : 0;
        const double a = i < f->dimensions ? -upstream[i] - floored : 0;
        result.first[i] = at[i] + (long)floored - (cubic ? 1 : 0);
        if (!cubic) {
            result.w[i][0] = 1 - a, result.w[i][1] = a;
            continue;
        }
        result.w[i][0] = ((-0.5 * a + 1) * a - 0.5) * a;
        result.w[i][1] = (1.5 * a - 2.5) * a * a + 1;
        result.w[i][2] = ((-1.5 * a + 2) * a + 0.5) * a;
        result.w[i][3] = (0.5 * a - 0.5) * a * a;
    }
    return result;
}

static double interpolated(const kf_fluid *f, const double *values, const weights *w) {
    double sum = 0;
    for (int k = 0; k < (f->dimensions == 3 ? w->count : 1); k++)
        for (int j = 0; j < w->count; j++)
            for (int i = 0; i < w->count; i++)
                sum += w->w[0][i] * w->w[1][j] * (f->dimensions == 3 ? w->w[2][k] : 1.0) *
                       values[cell_at(f, w->first[0] + i, w->first[1] + j,
                                      f->dimensions == 3 ? w->first[2] + k : 0)];
    return sum;
}

/* Limits a value to the smallest and the largest value of the cells around the place. */
static double limited(const kf_fluid *f, const double *values, const weights *linear, double value) {
    double low = INFINITY, high = -INFINITY;
    for (int corner = 0; corner < 8; corner++) {
        const double here =
            values[cell_at(f, linear->first[0] + (corner & 1), linear->first[1] + (corner >> 1 & 1),
                           f->dimensions == 3 ? linear->first[2] + (corner >> 2) : 0)];
        low = fmin(low, here), high = fmax(high, here);
    }
    return fmin(fmax(value, low), high);
}

static void trace(const reference *r, size_t n, const int at[3], double upstream[3]) {
    const kf_fluid *f = r->fluid;
    for (int i = 0; i < 3; i++)
        upstream[i] = r->part * r->wind[i][n];
    if (!f->midpoint) return;
    const double half[3] = {0.5 * upstream[0], 0.5 * upstream[1], 0.5 * upstream[2]};
    const weights w = weights_at(f, at, half, false);
    for (int i = 0; i < f->dimensions; i++)
        upstream[i] = r->part * interpolated(f, r->wind[i], &w);
}

static double carried(const reference *r, const double *values, const double *guess, size_t n,
                      const int at[3], const double upstream[3]) {
    const kf_fluid *f = r->fluid;
    const weights linear = weights_at(f, at, upstream, false);
    if (f->advection == KF_ADVECT_LINEAR) return interpolated(f, values, &linear);
    if (f->advection == KF_ADVECT_CUBIC) {
        const weights cubic = weights_at(f, at, upstream, true);
        return limited(f, values, &linear, interpolated(f, values, &cubic));
    }
    const double down[3] = {-upstream[0], -upstream[1], -upstream[2]};
    const weights back = weights_at(f, at, down, false);
    return limited(f, values, &linear, guess[n] + 0.5 * (values[n] - interpolated(f, guess, &back)));
}

static void guess_cells(void *data, size_t begin, size_t end) {
    reference *r = data;
    for (size_t n = begin; n < end; n++) {
        int at[3];
        double upstream[3];
        coordinates(r->fluid, n, at);
        trace(r, n, at, upstream);
        const weights w = weights_at(r->fluid, at, upstream, false);
        for (int i = 0; i < r->fluid->dimensions; i++)
            r->guess[i][n] = interpolated(r->fluid, r->field[i], &w);
        for (int i = 0; i < r->fluid->dye_count; i++)
            r->dye_guess[i][n] = interpolated(r->fluid, r->state.dye[i], &w);
    }
}

/* --- What acts ------------------------------------------------------------------------------------------ */

/* Finds the solid's share of a cell at the end of the step, and its velocity there. */
static double solid_at(const reference *r, const int at[3], double velocity[3]) {
    const kf_fluid *f = r->fluid;
    const kf_fluid_motion *m = &f->motion;
    memset(velocity, 0, 3 * sizeof *velocity);
    if (f->solid == KF_SOLID_STILL) return f->mask[cell_at(f, at[0], at[1], at[2])];
    const double time = (double)(r->step + 1), angle = -m->spin * time;
    double d[3], own[3], along = 0;
    for (int i = 0; i < 3; i++) {
        d[i] = at[i] - m->center[i] - m->velocity[i] * time;
        d[i] -= f->cells[i] * floor(d[i] / f->cells[i] + 0.5);
        along += m->axis[i] * d[i];
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const double cross = m->axis[j] * d[k] - m->axis[k] * d[j];
        velocity[i] = m->velocity[i] + m->spin * cross;
        own[i] =
            cos(angle) * d[i] + sin(angle) * cross + (1 - cos(angle)) * along * m->axis[i] + m->center[i];
    }
    double share = 0;
    for (int corner = 0; corner < (f->dimensions == 3 ? 8 : 4); corner++) {
        double weight = 1;
        long cell[3] = {0, 0, 0};
        bool inside = true;
        for (int i = 0; i < f->dimensions; i++) {
            const int upper = corner >> i & 1;
            const double low = floor(own[i]);
            cell[i] = (long)low + upper;
            weight *= upper ? own[i] - low : 1 - own[i] + low;
            inside &= cell[i] >= 0 && cell[i] < f->cells[i];
        }
        if (inside) share += weight * f->mask[cell_at(f, cell[0], cell[1], cell[2])];
    }
    return share;
}

static void arrive(reference *r, size_t n, const int at[3], double velocity[3]) {
    const kf_fluid *f = r->fluid;
    const int up = f->dimensions == 3 ? 2 : 1;
    for (int i = 0; i < f->dye_count && f->advection != KF_ADVECT_NONE; i++) {
        const double sign = f->walls[up] && 2 * at[up] >= f->cells[up] ? -1 : 1;
        velocity[up] += sign * r->part * f->dyes[i].lift * r->new_dye[i][n];
    }
    for (int i = 0; i < 3 && i < f->dimensions; i++)
        velocity[i] += r->part * r->push[i][n];
    if (f->solid == KF_SOLID_NONE) return;
    double solid[3];
    const double pull = r->part * f->drag * solid_at(r, at, solid);
    for (int i = 0; i < f->dimensions; i++)
        velocity[i] = solid[i] + (velocity[i] - solid[i]) * (1 - f->rebound * pull) / (1 + pull);
}

/* Advects cells begin to end - 1: traces each back, interpolates velocity and dyes there, and adds what
 * acts where they arrive. */
static void carry_cells(void *data, size_t begin, size_t end) {
    reference *r = data;
    const kf_fluid *f = r->fluid;
    for (size_t n = begin; n < end; n++) {
        int at[3];
        double upstream[3], velocity[3] = {0, 0, 0};
        coordinates(f, n, at);
        trace(r, n, at, upstream);
        for (int i = 0; i < f->dimensions; i++)
            velocity[i] = f->advection == KF_ADVECT_NONE
                              ? r->field[i][n]
                              : carried(r, r->field[i], r->guess[i], n, at, upstream);
        for (int i = 0; i < f->dye_count && f->advection != KF_ADVECT_NONE; i++)
            r->new_dye[i][n] = exp(-f->dyes[i].dissipation * r->part) *
                               carried(r, r->state.dye[i], r->dye_guess[i], n, at, upstream);
        arrive(r, n, at, velocity);
        for (int i = 0; i < f->dimensions; i++)
            r->arrived[i][n] = velocity[i];
    }
}

/* Adds the pushes that are due: 1 / (1 + dx^4 + dy^4 + dz^4) of each within its reach. */
static void push_impulses(reference *r) {
    const kf_fluid *f = r->fluid;
    for (; r->next_impulse < f->impulse_count && f->impulses[r->next_impulse].step <= r->step;
         r->next_impulse++) {
        const kf_fluid_impulse *p = &f->impulses[r->next_impulse];
        const int deep = f->dimensions == 3 ? p->reach : 0;
        for (int dz = -deep; dz <= deep; dz++)
            for (int dy = -p->reach; dy <= p->reach; dy++)
                for (int dx = -p->reach; dx <= p->reach; dx++) {
                    const size_t n = cell_at(f, p->cell[0] + dx, p->cell[1] + dy, p->cell[2] + dz);
                    const double weight = 1.0 / (1.0 + pow(dx, 4) + pow(dy, 4) + pow(dz, 4));
                    for (int i = 0; i < f->dimensions; i++)
                        r->state.velocity[i][n] += weight * p->vector[i];
                }
    }
}

/* What the sources do to a cell: the share of the velocity that they leave, the sum of their shares and of
 * the velocities to which they pull, and what they add. */
typedef struct effect {
    double kept, pulls, pulled[3], added[3];
} effect;

/* Adds a source to the cells of its ball, weighted by (1 - r^2 / R^2)^2, and pours its dyes. */
static void add_source(reference *r, const kf_fluid_source *s, effect *effects) {
    const kf_fluid *f = r->fluid;
    if (r->step < s->first || r->step > s->last) return;
    const long reach = (long)s->radius + 1, deep = f->dimensions == 3 ? reach : 0;
    const long middle[3] = {lround(s->center[0]), lround(s->center[1]), lround(s->center[2])};
    for (long dz = -deep; dz <= deep; dz++)
        for (long dy = -reach; dy <= reach; dy++)
            for (long dx = -reach; dx <= reach; dx++) {
                const double x = (double)(middle[0] + dx) - s->center[0],
                             y = (double)(middle[1] + dy) - s->center[1];
                const double z = f->dimensions == 3 ? (double)(middle[2] + dz) - s->center[2] : 0;
                const double share = 1 - (x * x + y * y + z * z) / (s->radius * s->radius);
                if (share <= 0) continue;
                const size_t n =
                    cell_at(f, middle[0] + dx, middle[1] + dy, f->dimensions == 3 ? middle[2] + dz : 0);
                const double pull = share * share * s->pull;
                effects[n].kept -= effects[n].kept * pull;
                effects[n].pulls += pull;
                for (int i = 0; i < f->dimensions; i++) {
                    effects[n].pulled[i] += pull * s->velocity[i];
                    effects[n].added[i] += share * share * s->acceleration[i];
                }
                for (int i = 0; i < f->dye_count; i++)
                    r->state.dye[i][n] += share * share * s->dye[i];
            }
}

/* Lets the sources act. Where several pull at a cell, they pull to the weighted mean of their velocities. */
static void pour(reference *r) {
    const kf_fluid *f = r->fluid;
    const size_t cells = kf_fluid_cell_count(f);
    effect *effects = kf_allocate_zeroed(cells, sizeof *effects);
    for (size_t n = 0; n < cells; n++)
        effects[n].kept = 1;
    for (int k = 0; k < f->source_count; k++)
        add_source(r, &f->sources[k], effects);
    for (size_t n = 0; n < cells; n++)
        for (int i = 0; i < f->dimensions; i++) {
            double *u = &r->state.velocity[i][n];
            if (effects[n].pulls > 0)
                *u = effects[n].kept * *u + (1 - effects[n].kept) * effects[n].pulled[i] / effects[n].pulls;
            *u += effects[n].added[i];
        }
    free(effects);
}

static void vorticity(const reference *r, long x, long y, long z, double curl[3]) {
    const kf_fluid *f = r->fluid;
    double *const *u = r->state.velocity;
#define D(i, dx, dy, dz)                                                                                     \
    (0.5 * (u[i][cell_at(f, x + (dx), y + (dy), z + (dz))] - u[i][cell_at(f, x - (dx), y - (dy), z - (dz))]))
    curl[0] = f->dimensions == 3 ? D(2, 0, 1, 0) - D(1, 0, 0, 1) : 0;
    curl[1] = f->dimensions == 3 ? D(0, 0, 0, 1) - D(2, 1, 0, 0) : 0;
    curl[2] = D(1, 1, 0, 0) - D(0, 0, 1, 0);
#undef D
}
static double strength(const reference *r, long x, long y, long z) {
    double curl[3];
    vorticity(r, x, y, z, curl);
    return kf_length(curl);
}

/* Finds the acceleration of all cells: the body force, and confinement of vorticity (Fedkiw, Stam and
 * Jensen 2001), epsilon N x omega. */
static void find_push(reference *r) {
    const kf_fluid *f = r->fluid;
    for (size_t n = 0; n < r->count; n++) {
        int at[3];
        double curl[3], d[3];
        coordinates(f, n, at);
        r->push[0][n] = kf_fluid_body(f, at[1]);
        if (f->confinement == 0) continue;
        const long x = at[0], y = at[1], z = at[2];
        vorticity(r, x, y, z, curl);
        d[0] = strength(r, x + 1, y, z) - strength(r, x - 1, y, z);
        d[1] = strength(r, x, y + 1, z) - strength(r, x, y - 1, z);
        d[2] = f->dimensions == 3 ? strength(r, x, y, z + 1) - strength(r, x, y, z - 1) : 0;
        const double share = f->confinement / (kf_length(d) + 0.03);
        for (int i = 0; i < 3; i++)
            r->push[i][n] = share * (d[(i + 1) % 3] * curl[(i + 2) % 3] - d[(i + 2) % 3] * curl[(i + 1) % 3]);
    }
}

/* --- Diffusion and projection --------------------------------------------------------------------------- */

/* Makes one mode divergence-free and applies the decay by viscosity. Modes at half the sampling rate are
 * removed; the mean does not change. */
static void project_mode(const kf_fluid *f, const int at[3], double viscosity, kf_dcomplex *mode[3]) {
    double k[3] = {0, 0, 0}, k2 = 0;
    bool highest = false;
    kf_dcomplex along = {0, 0};
    for (int i = 0; i < f->dimensions; i++) {
        highest |= 2 * at[i] == f->cells[i];
        k[i] = 2 * pi * (2 * at[i] > f->cells[i] ? at[i] - f->cells[i] : at[i]) / f->cells[i];
        k2 += k[i] * k[i];
        along.re += k[i] * mode[i]->re, along.im += k[i] * mode[i]->im;
    }
    const double decay = f->exponential ? exp(-viscosity * k2) : 1 / (1 + viscosity * k2);
    for (int i = 0; i < f->dimensions; i++) {
        if (highest) *mode[i] = (kf_dcomplex){0, 0};
        if (highest || k2 == 0) continue;
        mode[i]->re = decay * (mode[i]->re - k[i] * along.re / k2);
        mode[i]->im = decay * (mode[i]->im - k[i] * along.im / k2);
    }
}

/* Projects a velocity field to be free of divergence, by way of its modes. */
static void project(const reference *r, double *const velocity[3], double viscosity) {
    const kf_fluid *f = r->fluid;
    kf_dcomplex *modes[3] = {NULL, NULL, NULL};
    for (int i = 0; i < f->dimensions; i++) {
        modes[i] = kf_allocate(r->count * sizeof *modes[i]);
        for (size_t n = 0; n < r->count; n++)
            modes[i][n] = (kf_dcomplex){velocity[i][n], 0};
        kf_plain_transform(modes[i], f->cells, -1);
    }
    for (size_t n = 0; n < r->count; n++) {
        int at[3];
        kf_dcomplex *mode[3] = {NULL, NULL, NULL};
        coordinates(f, n, at);
        for (int i = 0; i < f->dimensions; i++)
            mode[i] = &modes[i][n];
        project_mode(f, at, viscosity, mode);
    }
    for (int i = 0; i < f->dimensions; i++) {
        kf_plain_transform(modes[i], f->cells, 1);
        for (size_t n = 0; n < r->count; n++)
            velocity[i][n] = modes[i][n].re / (double)r->count;
        free(modes[i]);
    }
}

/* --- A step --------------------------------------------------------------------------------------------- */

static void copy_fields(const reference *r, double *const to[3], double *const from[3]) {
    for (int i = 0; i < r->fluid->dimensions; i++)
        memcpy(to[i], from[i], r->count * sizeof(double));
}

/* Carries `field` by `wind` for part of a step. The result before projection is `arrived`. */
static void carry(reference *r) {
    if (r->fluid->advection == KF_ADVECT_MACCORMACK) kf_in_parallel(r->count, 4096, guess_cells, r);
    kf_in_parallel(r->count, 4096, carry_cells, r);
    for (int i = 0; i < r->fluid->dye_count && r->fluid->advection != KF_ADVECT_NONE; i++)
        memcpy(r->state.dye[i], r->new_dye[i], r->count * sizeof(double));
}

/* Does one step of the reference: pushes, sources, forces, advection, projection; with reflection (Zehnder
 * et al. 2018) two halves about a projected middle. */
static void one_step(reference *r) {
    const kf_fluid *f = r->fluid;
    push_impulses(r);
    if (f->source_count > 0) pour(r);
    find_push(r);
    r->part = f->reflection ? 0.5 : 1.0;
    copy_fields(r, r->field, r->state.velocity);
    copy_fields(r, r->wind, r->state.velocity);
    carry(r);
    if (f->reflection) {
        copy_fields(r, r->wind, r->arrived);
        project(r, r->wind, 0);
        for (int i = 0; i < f->dimensions; i++)
            for (size_t n = 0; n < r->count; n++)
                r->field[i][n] = 2 * r->wind[i][n] - r->arrived[i][n];
        carry(r);
    }
    copy_fields(r, r->state.velocity, r->arrived);
    project(r, r->state.velocity, f->viscosity);
    r->step++;
}

/* --- Particles ------------------------------------------------------------------------------------------ */

static void flow_at(const reference *r, const double p[3], double velocity[3]) {
    const kf_fluid *f = r->fluid;
    const int origin[3] = {0, 0, 0};
    const double upstream[3] = {0.5 - p[0], 0.5 - p[1], 0.5 - p[2]};
    const weights w = weights_at(f, origin, upstream, false);
    for (int i = 0; i < 3; i++)
        velocity[i] = i < f->dimensions ? interpolated(f, r->state.velocity[i], &w) : 0;
}

/* Moves the particles by the velocity at the end of the step: of their cell, or by the midpoint rule. */
static void move_particles(reference *r) {
    const kf_fluid *f = r->fluid;
    for (long long j = 0; j < f->particle_count; j++) {
        double *p = r->state.particles + 3 * j, velocity[3] = {0, 0, 0};
        if (f->particle_midpoint) {
            flow_at(r, p, velocity);
            const double middle[3] = {p[0] + 0.5 * velocity[0], p[1] + 0.5 * velocity[1],
                                      p[2] + 0.5 * velocity[2]};
            flow_at(r, middle, velocity);
        } else {
            const size_t n = cell_at(f, (long)p[0], (long)p[1], (long)p[2]);
            for (int i = 0; i < 3 && i < f->dimensions; i++)
                velocity[i] = r->state.velocity[i][n];
        }
        for (int i = 0; i < 3 && i < f->dimensions; i++) {
            p[i] += velocity[i];
            p[i] -= f->cells[i] * floor(p[i] / f->cells[i]);
        }
    }
}

static void start(reference *r, int simulation) {
    const kf_fluid *f = r->fluid;
    kf_fluid_waves *waves = kf_fluid_waves_make(f, simulation);
    for (size_t n = 0; n < r->count; n++) {
        int at[3];
        double velocity[3];
        coordinates(f, n, at);
        kf_fluid_initial(waves, at, velocity);
        for (int i = 0; i < 3; i++)
            r->state.velocity[i][n] = i < f->dimensions ? velocity[i] : 0;
    }
    kf_fluid_waves_free(waves);
    for (long long j = 0; j < f->particle_count; j++)
        kf_fluid_particle(f, j, r->state.particles + 3 * j);
}

static void allocate(reference *r) {
    double **const fields[] = {r->state.velocity, r->field, r->wind, r->arrived, r->guess, r->push};
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
        for (int i = 0; i < 3; i++)
            fields[k][i] = kf_allocate_zeroed(r->count, sizeof(double));
    for (int i = 0; i < r->fluid->dye_count; i++) {
        r->state.dye[i] = kf_allocate_zeroed(r->count, sizeof(double));
        r->new_dye[i] = kf_allocate_zeroed(r->count, sizeof(double));
        r->dye_guess[i] = kf_allocate_zeroed(r->count, sizeof(double));
    }
    r->state.particles = kf_allocate_zeroed(3 * (size_t)r->fluid->particle_count + 1, sizeof(double));
}

/* Runs the reference of one simulation for this many steps. The caller frees the state. */
void kf_fluid_refer(const kf_fluid *fluid, int simulation, int steps, kf_fluid_state *state) {
    reference r = {.fluid = fluid, .count = kf_fluid_cell_count(fluid)};
    allocate(&r);
    start(&r, simulation);
    for (int t = 0; t < steps; t++) {
        one_step(&r);
        move_particles(&r);
    }
    *state = r.state;
    double **const fields[] = {r.field, r.wind, r.arrived, r.guess, r.push};
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
        for (int i = 0; i < 3; i++)
            free(fields[k][i]);
    for (int i = 0; i < fluid->dye_count; i++) {
        free(r.new_dye[i]);
        free(r.dye_guess[i]);
    }
}

void kf_fluid_state_free(kf_fluid_state *state) {
    for (int i = 0; i < 3; i++)
        free(state->velocity[i]);
    for (int i = 0; i < KF_FLUID_DYES; i++)
        free(state->dye[i]);
    free(state->particles);
    memset(state, 0, sizeof *state);
}
