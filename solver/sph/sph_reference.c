#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "solver/sph/reference.h"

/* ---- Neighbours ---- */

static double image(const kf_particle_scene *s, int axis, double d) {
    if (axis >= s->dimensions || s->sides[2 * axis] != KF_SIDE_PERIODIC) return d;
    return d - s->size[axis] * nearbyint(d / s->size[axis]);
}

static void note(kf_sph_world *w, size_t at, int other, const double d[3], double r) {
    if (at == w->room) {
        w->room = w->room == 0 ? 1 << 16 : 2 * w->room;
        w->neighbours = kf_reallocate(w->neighbours, w->room * sizeof *w->neighbours);
    }
    w->neighbours[at] = (kf_sph_neighbour){.other = other, .d = {d[0], d[1], d[2]}, .r = r};
}

/* Finds all pairs within the support by trying each, nearest images across periodic faces included. */
static void find_neighbours(kf_sph_world *w) {
    const kf_particle_scene *s = w->scene;
    size_t at = 0;
    for (int i = 0; i < w->count; i++) {
        w->first[i] = at;
        for (int j = 0; j < w->count; j++) {
            double d[3];
            if (j == i || w->bodies[i].gone || w->bodies[j].gone) continue;
            for (int k = 0; k < 3; k++)
                d[k] = image(s, k, w->bodies[i].x[k] - w->bodies[j].x[k]);
            const double r2 = kf_dot(d, d);
            if (r2 < s->support * s->support) note(w, at++, j, d, sqrt(r2));
        }
    }
    w->first[w->count] = at;
}

/* ---- Walls without particles ---- */

int kf_sph_half_count(const kf_particle_scene *s) {
    int count = s->terrain.heights != NULL;
    for (int f = 0; f < 2 * s->dimensions; f++)
        count += kf_side_is_wall(s->sides[f]);
    return count;
}

static void face_half(const kf_particle_scene *s, const double x[3], int k, kf_sph_half *half) {
    for (int f = 0; f < 2 * s->dimensions; f++) {
        if (!kf_side_is_wall(s->sides[f])) continue;
        if (k-- > 0) continue;
        half->n[f / 2] = f % 2 == 0 ? 1.0 : -1.0;
        half->distance = f % 2 == 0 ? x[f / 2] : s->size[f / 2] - x[f / 2];
        half->slip = s->sides[f] == KF_SIDE_FREE_SLIP;
        memcpy(half->velocity, s->side_velocity[f], sizeof half->velocity);
        return;
    }
}

/* Finds the tangent plane below the particle, and then at the particle's foot on that plane. */
static void terrain_half(const kf_particle_scene *s, const double x[3], kf_sph_half *half) {
    const int up = s->dimensions - 1;
    double foot[2] = {x[0], x[1]};
    for (int pass = 0; pass < 2; pass++) {
        double slope[2];
        const double height = kf_terrain_height(&s->terrain, foot[0], up == 2 ? foot[1] : 0.0, slope);
        const double size = sqrt(1.0 + slope[0] * slope[0] + slope[1] * slope[1]);
        half->distance = (x[up] - height) / size;
        half->n[up] = 1.0 / size;
        for (int i = 0; i < up; i++) {
            half->n[i] = -slope[i] / size;
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): dimensions are 2 or 3 */
            half->distance += (x[i] - foot[i]) * half->n[i];
        }
        for (int i = 0; i < up; i++)
            foot[i] = x[i] - half->distance * half->n[i];
    }
}

/* Finds the half-space behind face or terrain k for a particle at x, with its share of the sums from the
 * table. Returns false when it is out of reach. */
bool kf_sph_half_at(const kf_sph_world *w, const double x[3], int k, kf_sph_half *half) {
    const kf_particle_scene *s = w->scene;
    memset(half, 0, sizeof *half);
    if (s->terrain.heights != NULL && k == kf_sph_half_count(s) - 1)
        terrain_half(s, x, half);
    else
        face_half(s, x, k, half);
    const double share = fmax(half->distance, 0.25) / s->support;
    if (share >= 1.0) return false;
    const double at = share * (KF_SPH_TABLE - 1);
    const int i = at >= KF_SPH_TABLE - 2 ? KF_SPH_TABLE - 2 : (int)at;
    half->gradient = w->table[i][0] + (at - i) * (w->table[i + 1][0] - w->table[i][0]);
    half->moment = w->table[i][1] + (at - i) * (w->table[i + 1][1] - w->table[i][1]);
    half->along = w->table[i][2] + (at - i) * (w->table[i + 1][2] - w->table[i][2]);
    return true;
}

/* ---- Time ---- */

static double viscous_limit(const kf_particle_scene *s) {
    const kf_material *m = &s->material;
    const double length = 0.5 * s->support;
    double viscosity = m->viscosity;
    if (m->law != KF_LAW_NEWTONIAN) {
        if (s->scheme == KF_SCHEME_THESIS)
            viscosity = m->yield_kind == KF_YIELD_NONE ? m->consistency
                                                       : fmax(m->consistency, s->thesis.viscosity_at_rest);
        else
            viscosity = m->branch == KF_BRANCH_ELASTIC ? 0.0 : m->viscosity_limit;
    }
    return viscosity > 0.0 ? 0.125 * length * length / viscosity : 1e30;
}

static double next_step(const kf_sph_world *w, double speed, double acceleration) {
    const kf_particle_scene *s = w->scene;
    const double length = 0.5 * s->support;
    const bool elastic = s->material.law != KF_LAW_NEWTONIAN && s->material.branch == KF_BRANCH_ELASTIC;
    const double sound = elastic ? sqrt(1.0 + 4.0 / 3.0 * s->material.shear_modulus) : 1.0;
    if (s->time_step > 0.0) return s->time_step;
    return fmin(fmin(s->courant * length / (sound + speed), viscous_limit(s)),
                0.25 * sqrt(length / fmax(acceleration, 1e-12)));
}

/* Returns how far a particle may be beyond a face. Walls of scheme thesis push it back, others stop it. */
static double beyond(const kf_particle_scene *s, int face) {
    if (s->sides[face] == KF_SIDE_OPEN) return INFINITY;
    return kf_side_is_wall(s->sides[face]) && s->scheme == KF_SCHEME_THESIS ? s->support : 0.0;
}

/* Brings a particle back across periodic faces. One that has passed an open face is gone for good. */
static void settle(const kf_particle_scene *s, kf_sph_body *b) {
    for (int i = 0; i < s->dimensions; i++) {
        if (s->sides[2 * i] == KF_SIDE_PERIODIC) b->x[i] -= s->size[i] * floor(b->x[i] / s->size[i]);
        b->x[i] = fmin(fmax(b->x[i], -beyond(s, 2 * i)), s->size[i] + beyond(s, 2 * i + 1));
        b->gone = b->gone || (s->sides[2 * i] == KF_SIDE_OPEN && b->x[i] < 0.0) ||
                  (s->sides[2 * i + 1] == KF_SIDE_OPEN && b->x[i] > s->size[i]);
    }
}

/* Moves a particle by kick, drift, kick with predicted rates (see kernels/sph/integrate.h). */
static void move_modern(const kf_sph_world *w, kf_sph_body *b) {
    for (int i = 0; i < 3; i++) {
        const double v = b->v[i] + 0.5 * w->previous * (b->new_a[i] - b->a[i]);
        b->x[i] += w->step * v + 0.5 * w->step * w->step * b->new_a[i] + b->shift[i];
        b->v[i] = v + w->step * b->new_a[i];
        b->a[i] = b->new_a[i];
    }
    b->e += 0.5 * w->previous * (b->new_de - b->de) + w->step * b->new_de;
    b->de = b->new_de;
}

static void limit(double v[3], double most) {
    const double size = kf_length(v);
    for (int i = 0; i < 3 && size > most; i++)
        v[i] *= most / size;
}

static void move_thesis(const kf_sph_world *w, kf_sph_body *b) {
    for (int i = 0; i < 3; i++)
        /* The shift is that of XSPH. */
        b->v[i] += b->shift[i] + w->step * b->new_a[i];
    limit(b->v, w->scene->thesis.speed_limit);
    for (int i = 0; i < 3; i++) {
        b->x[i] += w->step * b->v[i];
        b->a[i] = b->new_a[i];
    }
}

/* Advances the reference by one step: neighbours, rates, motion, and the next time step. */
static void advance(kf_sph_world *w) {
    const bool thesis = w->scene->scheme == KF_SCHEME_THESIS;
    double speed = 0.0, acceleration = 0.0;
    find_neighbours(w);
    if (thesis)
        kf_sph_thesis_rates(w);
    else
        kf_sph_modern_rates(w);
    for (int i = 0; i < w->count; i++) {
        kf_sph_body *b = &w->bodies[i];
        if (b->wall || b->gone) continue;
        if (thesis)
            move_thesis(w, b);
        else
            move_modern(w, b);
        settle(w->scene, b);
        speed = fmax(speed, kf_length(b->v));
        acceleration = fmax(acceleration, kf_length(b->a));
    }
    w->time += w->step;
    w->previous = w->step;
    w->step = next_step(w, speed, acceleration);
}

/* Begins a run of the reference at the scene's particles, with the first time step. */
static void begin(const kf_particle_scene *s, kf_sph_world *w) {
    double speed = 0.0;
    w->scene = s;
    w->count = (int)s->count;
    w->bodies = kf_allocate_zeroed(s->count, sizeof *w->bodies);
    w->first = kf_allocate_zeroed(s->count + 1, sizeof *w->first);
    for (size_t k = 0; k < s->count; k++) {
        kf_sph_body *b = &w->bodies[k];
        for (size_t i = 0; i < 3; i++) {
            b->x[i] = (double)s->position[3 * k + i];
            b->v[i] = (double)s->velocity[3 * k + i];
        }
        b->e = (double)s->deviation[k];
        b->wall = k >= s->count - s->wall_count;
        speed = fmax(speed, kf_length(b->v));
    }
    for (int k = 0; k < KF_SPH_TABLE; k++)
        kf_sph_half_space(s->dimensions, s->support, s->support * k / (KF_SPH_TABLE - 1), w->table[k]);
    w->step = next_step(w, speed, kf_length(s->gravity));
}

kf_status kf_sph_reference(const kf_problem *problem, int steps, kf_reference **reference, kf_error *error) {
    enum { MOST = 30000 };
    const kf_particle_scene *scene = problem->own;
    if (scene->count > MOST)
        return kf_fail(error, KF_BAD_INPUT, "%s: a reference has at most %d particles", scene->source, MOST);
    kf_reference *made = kf_allocate_zeroed(1, sizeof *made);
    begin(scene, &made->world);
    for (int t = 0; t < steps; t++)
        advance(&made->world);
    find_neighbours(&made->world);
    *reference = made;
    return KF_OK;
}

void kf_sph_free_reference(kf_reference *reference) {
    if (reference == NULL) return;
    free(reference->world.bodies);
    free(reference->world.neighbours);
    free(reference->world.first);
    free(reference);
}
