/* Checks the scheme `thesis` by balances of weights, forces and energies, which hold for any kernels. The
 * reference has the same rules as the kernels. So a wrong rule in both passes the gate, but not these cases.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/statistics/statistics.h"
#include "base/util/memory.h"
#include "solver/sph/sph_cases.h"

enum { ACROSS = KF_SPH_TANK_SPACINGS };

/* The sums over 57 neighbours of a lattice for a gradient of 1 (spiky kernel), and for a Laplacian of 1. */
static const double GRADIENT = 0.94432, LAPLACIAN = 0.96643;

/* --- A tank at rest ----------------------------------------------------------------------------------- */

/* Returns the mean pressure over the weight above, of the particles in the middle half by height. The weight
 * is that of the higher particles. */
double kf_sph_pressure_over_weight(const kf_sph_flow *flow, double share) {
    const kf_particle_scene *s = flow->scene;
    const size_t n = kf_sph_fluid(flow);
    const double layer = s->density * 9.81 * s->spacing / (ACROSS * ACROSS);
    double *height = kf_allocate(n * sizeof *height), pressure = 0.0, weight = 0.0;
    for (size_t k = 0; k < n; k++)
        height[k] = kf_sph_place(flow, k, 2);
    qsort(height, n, sizeof *height, kf_ascending);
    for (size_t k = 0; k < n; k++) {
        const double z = kf_sph_place(flow, k, 2);
        size_t below = 0;
        while (below < n && height[below] < z)
            below++;
        if (below < n / 4 || below >= n - n / 4) continue;
        pressure += share * kf_sph_pressure(flow, k);
        weight += layer * ((double)(n - below) - 0.5);
    }
    free(height);
    return pressure / weight;
}

/* Makes a box of `deep` spacings, 1 m, along z, periodic across. rest: members of the scene. */
static kf_status open_box(const kf_validation *validation, int deep, double low, double height, double shake,
                          const char *top, const double gravity[2], const char *rest, kf_sph_flow *flow,
                          kf_error *error) {
    char text[2048];
    const double across = (double)ACROSS / deep;
    (void)snprintf(text, sizeof text,
                   "{\"particles\": {\"spacing\": %.17g, \"support\": 2.4, \"shake\": %g}, \"box\": "
                   "{\"size\": [%.17g, %.17g, %.17g], \"faces\": {\"xmin\": \"periodic\", \"xmax\": "
                   "\"periodic\", \"ymin\": \"periodic\", \"ymax\": \"periodic\"%s}}, \"gravity\": "
                   "[%.17g, 0, %.17g], %s, \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0, %.17g], "
                   "\"high\": [%.17g, %.17g, %.17g]}]}",
                   1.0 / deep, shake, across, across, height, top, gravity[0], gravity[1], rest, low, across,
                   across, low + 1.0);
    return kf_sph_open(validation, text, NULL, NULL, flow, error);
}

/* Advances to this time, and reads the state. */
static kf_status settle(const kf_validation *validation, kf_sph_flow *flow, double seconds, kf_error *error) {
    KF_TRY(kf_sph_until(validation, flow, seconds, error));
    return kf_sph_look(flow, error);
}

static const double down[2] = {0.0, -9.81};
static const char open_top[] = ", \"zmax\": \"open\"";

/* Checks a tank at rest with the scheme thesis, as printed or consistent: the pressure against the weight
 * above it, and the remaining kinetic energy. The printed gradient has half its weight, so half of p supports
 * the water there. */
static kf_status run_tank(kf_validation *validation, bool consistent, int deep, kf_error *error) {
    char rest[512], quantity[96];
    (void)snprintf(rest, sizeof rest,
                   "\"material\": {\"density\": 1000, \"sound_speed\": 40, \"viscosity\": 20}, \"model\": "
                   "{\"scheme\": \"thesis\", \"xsph\": 0.2, \"penalty\": 1e5, \"damping\": 500, "
                   "\"consistent\": %s}",
                   consistent ? "true" : "false");
    kf_sph_flow flow;
    kf_status status = open_box(validation, deep, 0.0, 1.5, 0.3, open_top, down, rest, &flow, error);
    if (status == KF_OK) status = settle(validation, &flow, 2.0, error);
    if (status == KF_OK) {
        /* The printed gradient has half its weight, so half of p supports the water. */
        (void)snprintf(quantity, sizeof quantity, "tank at rest, %s: pressure over weight above",
                       consistent ? "consistent" : "half of p, as printed");
        kf_check_relative(validation, quantity, "exact: balance of forces on a lattice", 1.0,
                          kf_sph_pressure_over_weight(&flow, GRADIENT * (consistent ? 1.0 : 0.5)),
                          validation->quick ? 0.03 : 0.02);
        const double mass = (double)kf_sph_fluid(&flow) * 1000.0 * pow(1.0 / deep, 3.0);
        (void)snprintf(quantity, sizeof quantity, "tank at rest, %s: kinetic energy over m g H",
                       consistent ? "consistent" : "as printed");
        kf_check_absolute(validation, quantity, "exact: rest", 0.0, kf_sph_kinetic(&flow) / (mass * 9.81),
                          1e-4);
    }
    kf_sph_close(&flow);
    return status;
}

/* ---- a channel ---- */

/* Returns the curvature of u(z) about the middle, by least squares over the middle three quarters: u = a + b
 * (z - 1/2)^2. */
static double curvature(const kf_sph_flow *flow) {
    double n = 0.0, q = 0.0, qq = 0.0, u = 0.0, uq = 0.0;
    for (size_t k = 0; k < kf_sph_fluid(flow); k++) {
        const double d = kf_sph_place(flow, k, 2) - 0.5, speed = kf_sph_velocity(flow, k, 0);
        if (fabs(d) > 0.375) continue;
        n += 1.0, q += d * d, qq += d * d * d * d, u += speed, uq += speed * d * d;
    }
    return (n * uq - q * u) / (n * qq - q * q);
}

/* Returns the sum of the speeds in the layers at walls with friction. */
static double rubbed(const kf_sph_flow *flow, double height) {
    double sum = 0.0;
    for (size_t k = 0; k < kf_sph_fluid(flow); k++) {
        const double z = kf_sph_place(flow, k, 2);
        if (z < height || 1.0 - z < height) sum += kf_sph_velocity(flow, k, 0);
    }
    return sum;
}

/* Checks a channel of 1 m driven by 1 m/s^2, nu 0.1 m^2/s, with a friction of 40/s in the layers within 0.08
 * m of the walls. */
static kf_status run_channel(kf_validation *validation, int deep, kf_error *error) {
    static const double along[2] = {1.0, 0.0};
    kf_sph_flow flow;
    kf_status status = open_box(validation, deep, 0.0, 1.0, 0.0, "", along,
                                "\"material\": {\"density\": 1000, \"sound_speed\": 20, \"viscosity\": 100}, "
                                "\"model\": {\"scheme\": \"thesis\", \"penalty\": 1e4, \"damping\": 100, "
                                "\"drag\": 40, \"drag_height\": 0.08, \"consistent\": true}",
                                &flow, error);
    if (status == KF_OK) status = settle(validation, &flow, 5.0, error);
    if (status == KF_OK) {
        kf_check_relative(validation, "channel: curvature of the profile", "exact: -g / (2 nu), of a lattice",
                          -5.0 / LAPLACIAN, curvature(&flow), 0.05);
        kf_check_relative(validation, "channel: friction at the walls over the force on all",
                          "exact: balance", 1.0, 40.0 * rubbed(&flow, 0.08) / (double)kf_sph_fluid(&flow),
                          0.03);
    }
    kf_sph_close(&flow);
    return status;
}

/* ---- Bingham ---- */

/* A channel of 1 m and 12 layers, driven by 1 m/s^2, with XSPH: its fluid, and the effect of the method. */
static const struct {
    double density, viscosity, at_rest, yield, xsph, step;
} bingham = {1000, 100, 2000, 200, 0.02, 4e-4};

/* This is what XSPH (Eq. 4.11, fed back into the velocity by Eq. 4.23) adds to the viscosity mu: every step
 * spreads the momentum by xsph * XSPH_SPREAD * spacing^2. The constant is the sum of W_poly6 z^2 / 2 over 56
 * neighbours on a lattice at 2.4 spacings; h^2 / 22 in the limit of many. */
static double viscosity_of_xsph(void) {
    static const double XSPH_SPREAD = 0.25807;
    return bingham.density * bingham.xsph * XSPH_SPREAD / (ACROSS * ACROSS) / bingham.step;
}

/* The shear rate at a distance from the middle, from the balance there: G T(G rate) + mu_x rate = rho g d,
 * with G what the lattice makes of a gradient and T the thesis' law (Eq. 4.17). */
static double bingham_rate(double distance) {
    const double stress = bingham.density * distance, added = viscosity_of_xsph(),
                 at_rest = stress / (GRADIENT * GRADIENT * bingham.at_rest + added);
    if (bingham.at_rest * GRADIENT * at_rest <= bingham.yield) return at_rest;
    return fmax((stress - GRADIENT * bingham.yield) / (GRADIENT * GRADIENT * bingham.viscosity + added),
                bingham.yield / (bingham.at_rest * GRADIENT));
}

/* Returns how much slower the fluid is there than in the middle. */
static double bingham_drop(double distance) {
    enum { STRIPS = 2000 };
    double sum = 0.0;
    for (int i = 0; i < STRIPS; i++)
        sum += bingham_rate((i + 0.5) * distance / STRIPS);
    return sum * distance / STRIPS;
}

/* Returns the mean speed of the layers at this distance from the middle, on both sides. */
static double layer_speed(const kf_sph_flow *flow, double distance) {
    double n = 0.0, sum = 0.0;
    for (size_t k = 0; k < kf_sph_fluid(flow); k++)
        if (fabs(fabs(kf_sph_place(flow, k, 2) - 0.5) - distance) < 0.5 / ACROSS)
            n += 1.0, sum += kf_sph_velocity(flow, k, 0);
    return sum / n;
}

/* A Bingham fluid between walls that rub, with XSPH as the thesis has it: layers in the plug and outside it
 * against the thesis' law with the viscosity that XSPH adds. Without XSPH particles that slide over each
 * other come into disorder, which the law counts as shear: the plug is then twice to five times too fast. */
static kf_status run_bingham(kf_validation *validation, kf_error *error) {
    static const double along[2] = {1.0, 0.0};
    /* Half layers from the middle. */
    static const int plug = 1, sheared = 9;
    char rest[512];
    (void)snprintf(rest, sizeof rest,
                   "\"material\": {\"law\": \"bingham\", \"branch\": \"biviscous\", \"density\": %g, "
                   "\"sound_speed\": 20, \"viscosity\": %g, \"yield_stress\": %g}, \"model\": {\"scheme\": "
                   "\"thesis\", \"penalty\": 1e4, \"damping\": 100, \"time_step\": %g, \"xsph\": %g, "
                   "\"viscosity_at_rest\": %g, \"drag\": 40, \"drag_height\": 0.08, \"consistent\": true}",
                   bingham.density, bingham.viscosity, bingham.yield, bingham.step, bingham.xsph,
                   bingham.at_rest);
    kf_sph_flow flow;
    kf_status status = open_box(validation, ACROSS, 0.0, 1.0, 0.0, "", along, rest, &flow, error);
    if (status == KF_OK) status = settle(validation, &flow, 3.0, error);
    if (status == KF_OK) {
        const double inner = 0.5 * plug / ACROSS, outer = 0.5 * sheared / ACROSS;
        kf_check_relative(validation, "Bingham channel: speed of the plug over the sheared layers",
                          "exact: Eq. 4.17 with the viscosity of XSPH, of a lattice",
                          bingham_drop(outer) - bingham_drop(inner),
                          layer_speed(&flow, inner) - layer_speed(&flow, outer), 0.05);
    }
    kf_sph_close(&flow);
    return status;
}

/* ---- energy ---- */

static double energy(const kf_sph_flow *flow) {
    double sum = kf_sph_kinetic(flow);
    const double mass = flow->scene->density * pow(flow->scene->spacing, 3.0);
    for (size_t k = 0; k < kf_sph_fluid(flow); k++)
        sum += mass * 9.81 * kf_sph_place(flow, k, 2);
    return sum;
}

/* Checks that water that falls from wall to wall without damping never gains energy. */
static kf_status run_energy(kf_validation *validation, kf_error *error) {
    enum { LOOKS = 20 };
    kf_sph_flow flow;
    kf_status status =
        open_box(validation, ACROSS, 0.5, 2.0, 0.0, "", down,
                 "\"material\": {\"density\": 1000, \"sound_speed\": 60, \"viscosity\": 0.001}, "
                 "\"model\": {\"scheme\": \"thesis\", \"penalty\": 1e5, \"damping\": 0}",
                 &flow, error);
    double begin = 0.0, most = 0.0;
    for (int look = 0; look <= LOOKS && status == KF_OK; look++) {
        status = settle(validation, &flow, 0.05 * look, error);
        if (status == KF_OK && look == 0) begin = energy(&flow);
        if (status == KF_OK) most = fmax(most, energy(&flow));
    }
    if (status == KF_OK)
        kf_check_relative(validation, "falling water: largest energy over that at first",
                          "exact: not above 1", 1.0, most / begin, 0.001);
    kf_sph_close(&flow);
    return status;
}

kf_status kf_case_sph_thesis(kf_validation *validation, kf_error *error) {
    const int deep = validation->quick ? 12 : 20;
    KF_TRY(run_tank(validation, true, deep, error));
    KF_TRY(run_tank(validation, false, deep, error));
    KF_TRY(run_channel(validation, deep, error));
    KF_TRY(run_bingham(validation, error));
    return run_energy(validation, error);
}
