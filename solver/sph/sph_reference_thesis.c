/* Rates of the scheme `thesis` (docs/sph.md), written after its equations. */
#include <math.h>
#include <string.h>

#include "base/util/vector.h"
#include "solver/sph/reference.h"

static const double PI = 3.14159265358979323846;

static double poly6(double h, double r) {
    return 315.0 / (64.0 * PI * pow(h, 9.0)) * pow(h * h - r * r, 3.0);
}
static double spiky_slope(double h, double r) {
    return -45.0 / (PI * pow(h, 6.0)) * (h - r) * (h - r);
}

static void density_of(kf_sph_world *w, int i) {
    const double h = w->scene->support;
    double sum = poly6(h, 0.0);
    for (size_t k = w->first[i]; k < w->first[i + 1]; k++)
        sum += poly6(h, w->neighbours[k].r);
    w->bodies[i].e = sum - 1.0;
}

/* Works out a particle's stress by the thesis' scheme: viscous beyond the yield stress, very viscous below
 * it. */
static void stress_of(const kf_sph_world *w, kf_sph_body *b, size_t first, size_t end) {
    const kf_material *m = &w->scene->material;
    double l[3][3] = {{0}}, d[3][3], size = 0.0;
    for (size_t k = first; k < end; k++) {
        const kf_sph_neighbour *n = &w->neighbours[k];
        const kf_sph_body *o = &w->bodies[n->other];
        const double slope = spiky_slope(w->scene->support, n->r) / (1.0 + o->e);
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
                l[p][q] += (o->v[p] - b->v[p]) * slope * n->d[q] / fmax(n->r, 1e-6);
    }
    const double trace = l[0][0] + l[1][1] + l[2][2];
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) {
            d[p][q] = 0.5 * (l[p][q] + l[q][p]) - (p == q ? trace / 3.0 : 0.0);
            size += 0.5 * d[p][q] * d[p][q];
        }
    size = sqrt(size);
    const bool yields = m->yield_kind != KF_YIELD_NONE;
    double factor = 2.0 * w->scene->thesis.viscosity_at_rest;
    if (!yields || factor * size > m->yield) {
        factor = 2.0 * m->consistency * (m->exponent == 1.0 ? 1.0 : pow(fmax(size, 1e-8), m->exponent - 1.0));
        if (yields) factor += m->yield / fmax(size, 1e-8);
    }
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            b->stress[p][q] = factor * d[p][q];
}

static void add_walls(const kf_sph_world *w, kf_sph_body *b) {
    const kf_thesis_model *t = &w->scene->thesis;
    for (int k = 0; k < kf_sph_half_count(w->scene); k++) {
        kf_sph_half half;
        if (!kf_sph_half_at(w, b->x, k, &half)) continue;
        const double vn = kf_dot(b->v, half.n);
        for (int i = 0; i < 3; i++) {
            if (half.distance < 0.0)
                b->new_a[i] += (-t->penalty * half.distance - t->damping * vn) * half.n[i];
            if (half.distance < t->drag_height) b->new_a[i] -= t->drag * (b->v[i] - vn * half.n[i]);
        }
    }
}

/* Sums the forces on a particle by the thesis' scheme, with XSPH, walls' penalty and the limit of
 * acceleration. */
static void force_on(const kf_sph_world *w, kf_sph_body *b, size_t first, size_t end) {
    const kf_particle_scene *s = w->scene;
    const double h = s->support, half = s->thesis.consistent ? 1.0 : 0.5, own = 1.0 + b->e;
    const bool newtonian = s->material.law == KF_LAW_NEWTONIAN;
    double f[3] = {0}, smooth[3] = {0};
    for (size_t k = first; k < end; k++) {
        const kf_sph_neighbour *n = &w->neighbours[k];
        const kf_sph_body *o = &w->bodies[n->other];
        const double other = 1.0 + o->e, slope = spiky_slope(h, n->r) / other / fmax(n->r, 1e-6);
        const double push = half * (fmax(b->e, 0.0) + fmax(o->e, 0.0));
        for (int p = 0; p < 3; p++) {
            f[p] -= push * slope * n->d[p];
            if (newtonian)
                f[p] += s->material.viscosity * (o->v[p] - b->v[p]) / other * 45.0 / (PI * pow(h, 6.0)) *
                        (h - n->r);
            for (int q = 0; q < 3 && !newtonian; q++)
                f[p] += (b->stress[p][q] + o->stress[p][q]) * slope * n->d[q];
            smooth[p] += s->thesis.xsph * 2.0 * (o->v[p] - b->v[p]) / (own + other) * poly6(h, n->r);
        }
    }
    for (int p = 0; p < 3; p++) {
        b->new_a[p] = f[p] / own + s->gravity[p];
        b->shift[p] = smooth[p];
    }
    add_walls(w, b);
    const double size = kf_length(b->new_a), most = s->thesis.acceleration_limit;
    for (int p = 0; p < 3 && size > most; p++)
        b->new_a[p] *= most / size;
}

void kf_sph_thesis_rates(kf_sph_world *w) {
    for (int i = 0; i < w->count; i++)
        if (!w->bodies[i].gone) density_of(w, i);
    for (int i = 0; i < w->count && w->scene->material.law != KF_LAW_NEWTONIAN; i++)
        if (!w->bodies[i].gone) stress_of(w, &w->bodies[i], w->first[i], w->first[i + 1]);
    for (int i = 0; i < w->count; i++)
        if (!w->bodies[i].gone) force_on(w, &w->bodies[i], w->first[i], w->first[i + 1]);
}
