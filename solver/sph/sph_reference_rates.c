/* Rates of the scheme `modern` (docs/sph.md), written after its equations. */
#include <math.h>
#include <string.h>

#include "base/util/vector.h"
#include "solver/sph/reference.h"

static const double PI = 3.14159265358979323846;

/* Returns (1/r) dW/dr of Wendland's C2 kernel, W = w (1 - q/2)^4 (1 + 2q), q = r / s. */
static double slope_over_r(const kf_particle_scene *s, double r) {
    const double length = 0.5 * s->support, q = r / length;
    const double w =
        s->dimensions == 2 ? 7.0 / (4.0 * PI * length * length) : 21.0 / (16.0 * PI * pow(length, 3.0));
    return q >= 2.0 ? 0.0 : -5.0 * w * pow(1.0 - 0.5 * q, 3.0) / (length * length);
}
static double kernel(const kf_particle_scene *s, double r) {
    const double q = 2.0 * r / s->support;
    return q >= 2.0 ? 0.0 : pow(1.0 - 0.5 * q, 4.0) * (1.0 + 2.0 * q);
}

static double pressure_of(const kf_particle_scene *s, double e) {
    const double p = s->material.stiff ? (pow(1.0 + e, 7.0) - 1.0) / 7.0 : e;
    return s->tension ? p : fmax(p, 0.0);
}
/* ---- Particles of walls ---- */

/* Gives a wall's particle the fluid's mean velocity (turned, or as it is where it slips), stress and
 * pressure, with hydrostatics between (Adami, Hu and Adams 2012). */
static void settle_wall(kf_sph_world *w, int i) {
    const kf_particle_scene *s = w->scene;
    double sum = 0.0, pressure = 0.0, velocity[3] = {0}, stress[3][3] = {{0}};
    kf_sph_body *b = &w->bodies[i];
    for (size_t k = w->first[i]; k < w->first[i + 1]; k++) {
        const kf_sph_neighbour *n = &w->neighbours[k];
        const kf_sph_body *o = &w->bodies[n->other];
        if (o->wall) continue;
        const double weight = kernel(s, n->r);
        sum += weight;
        pressure += weight * (pressure_of(s, o->e) + (1.0 + o->e) * kf_dot(s->gravity, n->d));
        for (int p = 0; p < 3; p++) {
            velocity[p] += weight * o->v[p];
            for (int q = 0; q < 3; q++)
                stress[p][q] += weight * o->stress[p][q];
        }
    }
    const double share = sum > 1e-6 ? 1.0 / sum : 0.0;
    for (int p = 0; p < 3; p++) {
        b->v[p] = (s->dummies_slip ? share : -share) * velocity[p];
        for (int q = 0; q < 3; q++)
            b->stress[p][q] = share * stress[p][q];
    }
    pressure = fmax(share * pressure, 0.0);
    b->e = s->material.stiff ? pow(1.0 + 7.0 * pressure, 1.0 / 7.0) - 1.0 : pressure;
}

/* ---- Density, strain, displacement ---- */

/* Adds what the fluid beyond a half-space adds: there v is linear in the distance, and vanishes on the
 * wall. */
static void add_half_strain(const kf_sph_body *b, const kf_sph_half *h, double d, double gradient[3][3],
                            double *inflow, double crowding[3], double *spread) {
    double u[3], tangent[3];
    for (int p = 0; p < 3; p++)
        u[p] = b->v[p] - h->velocity[p];
    const double un = kf_dot(u, h->n), g = h->moment / d;
    *inflow -= b->lone && b->e <= 0.0 ? fmin(un, 0.0) * g : un * g;
    for (int p = 0; p < 3; p++) {
        tangent[p] = u[p] - un * h->n[p];
        for (int q = 0; q < 3; q++)
            gradient[p][q] += (u[p] - h->slip * tangent[p]) * h->n[q] * g;
        crowding[p] -= h->gradient * h->n[p];
    }
    *spread += h->moment;
}

/* Works out a particle's velocity gradient, rate of density with diffusion, and shift, from its neighbours
 * and the walls. */
static void strain_of(kf_sph_world *w, int i) {
    const kf_particle_scene *s = w->scene;
    kf_sph_body *b = &w->bodies[i];
    double inflow = 0.0, diffusion = 0.0, crowding[3] = {0}, spread = 0.0, gradient[3][3] = {{0}};
    const double length = 0.5 * s->support;
    for (size_t k = w->first[i]; k < w->first[i + 1]; k++) {
        const kf_sph_neighbour *n = &w->neighbours[k];
        const kf_sph_body *o = &w->bodies[n->other];
        const double volume = 1.0 / (1.0 + o->e), f = slope_over_r(s, n->r), r2 = n->r * n->r;
        double u[3];
        for (int p = 0; p < 3; p++)
            u[p] = b->v[p] - o->v[p];
        for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
                gradient[p][q] -= volume * u[p] * f * n->d[q];
        inflow += volume * f * kf_dot(o->wall ? b->v : u, n->d);
        /* The term psi . grad W of Molteni and Colagrossi, less the hydrostatic difference of Fourtakas et
         * al.
         */
        if (!o->wall)
            diffusion += volume * 2.0 * (o->e - b->e + kf_dot(s->gravity, n->d)) * -f * r2 /
                         (r2 + 0.01 * length * length);
        for (int p = 0; p < 3; p++)
            crowding[p] += volume * f * n->d[p];
        spread -= volume * f * r2;
    }
    b->lone = s->tension && s->material.law == KF_LAW_NEWTONIAN && spread < s->dimensions / 8.0;
    for (int k = 0; k < kf_sph_half_count(s); k++) {
        kf_sph_half half;
        if (kf_sph_half_at(w, b->x, k, &half))
            add_half_strain(b, &half, fmax(half.distance, 0.25), gradient, &inflow, crowding, &spread);
    }
    b->new_de = (1.0 + b->e) * inflow + s->diffusion * length * diffusion;
    memcpy(b->strain, gradient, sizeof gradient);
    const bool shifts = s->shifting > 0.0 && spread >= (s->dimensions == 2 ? 1.5 : 2.5);
    for (int p = 0; p < 3; p++)
        b->shift[p] = shifts ? -s->shifting * length * kf_length(b->v) * w->step * crowding[p] : 0.0;
}

/* ---- The law ---- */

static double size_of(double t[3][3]) {
    double sum = 0.0;
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            sum += t[p][q] * t[p][q];
    return sqrt(0.5 * sum);
}

/* Returns the yield stress at a shear rate and a pressure, or 0 for a material without one. */
static double yield_of(const kf_material *m, double rate, double pressure) {
    switch (m->yield_kind) {
    case KF_YIELD_CONSTANT:
        return m->yield;
    case KF_YIELD_MU_I: {
        if (pressure <= 0.0) return 0.0;
        const double inertial = rate * m->grain / sqrt(pressure);
        return pressure *
               (m->friction + (m->friction_fast - m->friction) * inertial / (inertial + m->inertial_number));
    }
    case KF_YIELD_DRUCKER_PRAGER:
        return fmax(m->yield + m->friction * pressure, 0.0);
    default:
        return 0.0;
    }
}

/* Returns gamma with K gamma^n + G dt gamma = excess, by bisection. */
static double plastic_rate(const kf_material *m, double stiff, double excess) {
    double low = 0.0, high = excess / stiff;
    for (int k = 0; k < 200; k++) {
        const double middle = 0.5 * (low + high);
        if (m->consistency * pow(middle, m->exponent) + stiff * middle < excess)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* Advances an elastic stress by a step: Hooke's law with Jaumann's rate, then brought back to the yield
 * stress. */
static void elastic(const kf_sph_world *w, kf_sph_body *b, double d[3][3], double yield) {
    const kf_material *m = &w->scene->material;
    double spin[3][3], trial[3][3];
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            spin[p][q] = 0.5 * (b->strain[p][q] - b->strain[q][p]);
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) {
            double turned = 0.0;
            for (int k = 0; k < 3; k++)
                turned += spin[p][k] * b->stress[k][q] - b->stress[p][k] * spin[k][q];
            trial[p][q] = b->stress[p][q] + w->previous * (2.0 * m->shear_modulus * d[p][q] + turned);
        }
    const double size = size_of(trial), stiff = m->shear_modulus * w->previous;
    double factor = 1.0;
    if (size > yield)
        factor = stiff > 0.0 ? (size - stiff * plastic_rate(m, stiff, size - yield)) / size : 1.0;
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            b->stress[p][q] = factor * trial[p][q];
}

/* Works out a particle's stress from its strain by the material's law. */
static void new_stress(const kf_sph_world *w, kf_sph_body *b) {
    const kf_material *m = &w->scene->material;
    double d[3][3];
    const double trace = b->strain[0][0] + b->strain[1][1] + b->strain[2][2];
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            d[p][q] = 0.5 * (b->strain[p][q] + b->strain[q][p]) - (p == q ? trace / 3.0 : 0.0);
    const double rate = 2.0 * size_of(d), yield = yield_of(m, rate, pressure_of(w->scene, b->e));
    if (m->branch == KF_BRANCH_ELASTIC) {
        elastic(w, b, d, yield);
        return;
    }
    const double least = fmax(rate, 1e-8),
                 solid = m->branch == KF_BRANCH_PAPANASTASIOU ? 1.0 - exp(-m->growth * least) : 1.0;
    const double power = m->exponent == 1.0 ? 1.0 : pow(least, m->exponent - 1.0);
    b->viscosity = fmin(m->consistency * power + yield * solid / least, m->viscosity_limit);
    for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
            b->stress[p][q] = 2.0 * b->viscosity * d[p][q];
}

/* ---- Forces ---- */

/* Returns the share of the stress that acts between pairs: a tenth for laws with a viscosity. */
static double share_between_pairs(const kf_material *m) {
    return m->law == KF_LAW_NEWTONIAN ? 1.0 : m->branch == KF_BRANCH_ELASTIC ? 0.0 : 0.1;
}

/* Returns the impact of two particles that close in: p* = (p_i + p_j) / 2 + min(eta c u, c) rho u / 2
 * (Zhang, Hu, Adams 2017); behind a wall the velocity is the mirrored one. */
static double impact_of(const kf_particle_scene *s, double closing) {
    return closing > 0.0 ? fmin(s->impact * closing, 1.0) * closing : 0.0;
}

/* Friction apart from the other forces: of Newtonian fluids. */
static void add_pair(const kf_sph_world *w, const kf_sph_body *b, const kf_sph_neighbour *n, double a[3],
                     double friction[3]) {
    const kf_particle_scene *s = w->scene;
    const kf_sph_body *o = &w->bodies[n->other];
    const double length = 0.5 * s->support, soft = n->r * n->r + 0.01 * length * length;
    const double vi = 1.0 / (1.0 + b->e), vj = 1.0 / (1.0 + o->e), f = slope_over_r(s, n->r);
    double u[3];
    for (int p = 0; p < 3; p++)
        u[p] = b->v[p] - o->v[p];
    const double approach = fmin(kf_dot(u, n->d), 0.0);
    const double push = pressure_of(s, b->e) + pressure_of(s, o->e) -
                        s->artificial * length * approach / soft +
                        impact_of(s, -(o->wall ? 2.0 * kf_dot(b->v, n->d) : kf_dot(u, n->d)) / n->r);
    const double paired = share_between_pairs(&s->material),
                 viscosity = s->material.law == KF_LAW_NEWTONIAN
                                 ? 2.0 * s->material.viscosity
                                 : b->viscosity + (o->wall ? b->viscosity : o->viscosity);
    for (int p = 0; p < 3; p++) {
        double traction = -push * n->d[p];
        friction[p] +=
            paired * vi * vj * f * viscosity / soft *
            (s->central_viscosity ? (s->dimensions + 2.0) * kf_dot(u, n->d) * n->d[p] : n->r * n->r * u[p]);
        for (int q = 0; q < 3; q++)
            traction += (1.0 - paired) * (b->stress[p][q] + o->stress[p][q]) * n->d[q];
        a[p] += vi * vj * f * traction;
    }
}

static void add_half(const kf_particle_scene *s, const kf_sph_body *b, const kf_sph_half *h, double a[3],
                     double friction[3]) {
    const kf_material *m = &s->material;
    const double d = fmax(h->distance, 0.25), volume = 1.0 / (1.0 + b->e);
    const double p = b->lone ? fmax(pressure_of(s, b->e), 0.0) : pressure_of(s, b->e);
    double on_wall = p * h->gradient - kf_dot(s->gravity, h->n) * (1.0 + b->e) * h->moment;
    if (!s->tension || b->lone) on_wall = fmax(on_wall, 0.0);
    double approach = 0.0;
    for (int i = 0; i < 3; i++)
        approach -= (b->v[i] - h->velocity[i]) * h->n[i];
    const double artificial = s->artificial * 0.5 * s->support * fmax(approach, 0.0) / d;
    const double push = on_wall + (p + artificial + impact_of(s, 2.0 * approach) +
                                   0.1 * fmin(fmax(0.25 - h->distance, 0.0), 1.0)) *
                                      h->gradient;
    const double paired = share_between_pairs(m);
    double along[3], drag[3], u[3], normal = 0.0, factor = 1.0 - h->slip;
    for (int i = 0; i < 3; i++)
        u[i] = b->v[i] - h->velocity[i];
    const double un = kf_dot(u, h->n), viscosity = m->law == KF_LAW_NEWTONIAN ? m->viscosity : b->viscosity;
    for (int i = 0; i < 3; i++)
        along[i] = drag[i] = 2.0 * paired * viscosity * volume * h->gradient / d * (u[i] - un * h->n[i]);
    if (m->law != KF_LAW_NEWTONIAN) {
        for (int i = 0; i < 3; i++)
            along[i] = 2.0 * (1.0 - paired) * h->gradient * kf_dot(b->stress[i], h->n);
        normal = kf_dot(along, h->n);
        for (int i = 0; i < 3; i++)
            along[i] -= normal * h->n[i];
        /* The traction is linear behind the wall: d tau / d n = rho (a - g). */
        double lack[3];
        for (int i = 0; i < 3; i++)
            lack[i] = s->gravity[i] - b->a[i];
        const double upright = kf_dot(lack, h->n);
        for (int i = 0; i < 3; i++)
            along[i] += (1.0 - paired) * h->moment * (1.0 + b->e) * (lack[i] - upright * h->n[i]) + drag[i];
        const double size = kf_length(along), most = m->bed_friction * fmax(push - normal, 0.0);
        if (m->bed_friction > 0.0 && size > most) factor *= most / size;
    }
    for (int i = 0; i < 3; i++) {
        a[i] += volume * (push - normal) * h->n[i];
        friction[i] -= volume * factor * along[i];
    }
}

/* Sums the forces on a particle: pairs, walls, and what walls lack of the pressure along them. */
static void force_on(const kf_sph_world *w, kf_sph_body *b, size_t first, size_t end) {
    const bool completed = w->scene->material.law == KF_LAW_NEWTONIAN && !b->lone;
    double a[3] = {0}, friction[3] = {0}, more[3] = {0};
    for (size_t k = first; k < end; k++)
        add_pair(w, b, &w->neighbours[k], a, friction);
    for (int k = 0; k < kf_sph_half_count(w->scene); k++) {
        kf_sph_half half;
        if (kf_sph_half_at(w, b->x, k, &half)) add_half(w->scene, b, &half, a, friction);
    }
    /* Walls go on with the pressure along them. */
    for (int k = 0; k < kf_sph_half_count(w->scene) && completed; k++) {
        kf_sph_half half;
        if (!kf_sph_half_at(w, b->x, k, &half)) continue;
        const double normal = kf_dot(a, half.n), share = half.along / (1.0 - half.along);
        for (int i = 0; i < 3; i++)
            more[i] += share * (a[i] - normal * half.n[i]);
    }
    for (int i = 0; i < 3; i++)
        b->new_a[i] = w->scene->gravity[i] + a[i] + more[i] + friction[i];
}

void kf_sph_modern_rates(kf_sph_world *w) {
    for (int i = 0; i < w->count; i++)
        if (w->bodies[i].wall) settle_wall(w, i);
    for (int i = 0; i < w->count; i++)
        if (!w->bodies[i].wall && !w->bodies[i].gone) strain_of(w, i);
    for (int i = 0; i < w->count && w->scene->material.law != KF_LAW_NEWTONIAN; i++)
        if (!w->bodies[i].wall && !w->bodies[i].gone) new_stress(w, &w->bodies[i]);
    for (int i = 0; i < w->count; i++)
        if (!w->bodies[i].wall && !w->bodies[i].gone)
            force_on(w, &w->bodies[i], w->first[i], w->first[i + 1]);
}
