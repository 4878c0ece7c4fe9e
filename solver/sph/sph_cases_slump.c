/* Cases of what flows and comes to rest: a Bingham block, granular columns. */
#include <math.h>
#include <stdio.h>

#include "solver/sph/sph_cases.h"

/* Returns the place that all but that share of the particles are behind. */
static double front(const kf_sph_flow *flow, double quantile) {
    enum { BINS = 4096 };
    static double counts[BINS];
    const double width = flow->scene->size[0] * flow->scene->spacing, n = (double)kf_sph_fluid(flow);
    for (int b = 0; b < BINS; b++)
        counts[b] = 0.0;
    for (size_t k = 0; k < kf_sph_fluid(flow); k++) {
        const int bin = (int)(kf_sph_place(flow, k, 0) / width * BINS);
        counts[bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin] += 1.0;
    }
    double beyond = 0.0;
    for (int b = BINS - 1; b > 0; b--) {
        beyond += counts[b];
        if (beyond > quantile * n) return (b + 1) * width / BINS;
    }
    return 0.0;
}

/* Returns the toe of a deposit: the farthest position at which it is thicker than this. */
static double toe(const kf_sph_flow *flow, double above) {
    double most = 0.0;
    for (size_t k = 0; k < kf_sph_fluid(flow); k++)
        if (kf_sph_place(flow, k, 1) > above) most = fmax(most, kf_sph_place(flow, k, 0));
    return most + 0.5 * flow->scene->spacing;
}

static double highest(const kf_sph_flow *flow) {
    double most = 0.0;
    for (size_t k = 0; k < kf_sph_fluid(flow); k++)
        most = fmax(most, kf_sph_place(flow, k, 1) + 0.5 * flow->scene->spacing);
    return most;
}

/* Length and height at the wall of half a block that has come to rest on its bed. A slice is in balance when
 * its horizontal force, rho g h^2 / 2 - (pi / 2) tau_y h, falls by tau_y a length: the plug is drawn out to
 * yield, sigma_xx - sigma_yy = 2 sqrt(tau_y^2 - tau^2) with tau linear in the depth (the second term is what
 * lubrication lacks; Liu, Balmforth, Hormozi, Hewitt, J. Non-Newtonian Fluid Mech. 238 (2016) 65). With D =
 * tau_y / (rho g): h^2 / 2 - pi D h / 2 = D (L - x), and pi D high at the nose. */
static void final_shape(double d, double volume, double *length, double *height) {
    const double pi = 3.14159265358979323846, nose = pi * d;
    double low = nose, high = 1e3 * nose;
    for (int k = 0; k < 100; k++) {
        const double h = 0.5 * (low + high);
        const double held = (pow(h, 3.0) - pow(nose, 3.0)) / 3.0 - 0.25 * nose * (h * h - nose * nose);
        *(held < d * volume ? &low : &high) = h;
    }
    *height = low;
    *length = (0.5 * low * low - 0.5 * nose * low) / d;
}

/* Runs half of a block by symmetry against a wall: length 2, height 0.4; B = tau_y X0 / (rho g H0^2). */
kf_status kf_case_sph_slump(kf_validation *validation, kf_error *error) {
    const double length = 2.0, height = 0.4, b = 0.1, spacing = validation->gpu ? 0.01 : 0.04;
    const double yield = b * 1000.0 * 9.81 * height * height / length;
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "{\"particles\": {\"dimensions\": 2, \"spacing\": %.17g}, \"box\": {\"size\": [6, 0.8], "
                   "\"faces\": {\"ymin\": \"no_slip\"}}, "
                   "\"gravity\": [0, -9.81], \"material\": {\"law\": \"bingham\", \"density\": 1000, "
                   "\"sound_speed\": 30, \"viscosity\": 20, "
                   "\"yield_stress\": %.17g}, \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": "
                   "[%.17g, %.17g]}]}",
                   spacing, yield, length, height);
    kf_sph_flow flow;
    double rest, top;
    final_shape(yield / 9810.0, length * height, &rest, &top);
    kf_status status = kf_sph_open(validation, text, NULL, NULL, &flow, error);
    if (status == KF_OK) status = kf_sph_until(validation, &flow, 20.0, error);
    if (status == KF_OK) status = kf_sph_look(&flow, error);
    if (status == KF_OK) {
        const char *source = "balance of slices at yield";
        kf_check_relative(validation, "B 0.1: final length over the first", source, rest / length,
                          front(&flow, 0.0005) / length, 0.05);
        kf_check_relative(validation, "B 0.1: final height over the first", source, top / height,
                          highest(&flow) / height, 0.08);
    }
    kf_sph_close(&flow);
    return status;
}

/* Lets a granular column collapse. mu_s is the tangent of the angle of repose of Lube's fine quartz sand,
 * 29.5 degrees (their Table II, at second hand). The toe is where a twentieth of the width lies, which is
 * five grains, whatever the spacing. */
static kf_status run_column(kf_validation *validation, double aspect, kf_error *error) {
    const double width = 0.1, height = aspect * width, least = fmin(width, height),
                 spacing = least / (validation->gpu ? 80 : 20),
                 friction = tan(29.5 / 180.0 * 3.14159265358979323846);
    const double runout = aspect < 2.3 ? 1.2 * aspect : 1.9 * pow(aspect, 2.0 / 3.0);
    char text[1024], quantity[96];
    (void)snprintf(text, sizeof text,
                   "{\"particles\": {\"dimensions\": 2, \"spacing\": %.17g}, \"box\": {\"size\": [%.17g, "
                   "%.17g], \"faces\": {\"ymin\": \"no_slip\"}}, "
                   "\"gravity\": [0, -9.81], \"material\": {\"law\": \"mu_i\", \"density\": 1500, "
                   "\"sound_speed\": %.17g, \"mu_s\": %.17g, "
                   "\"mu_2\": 0.9, \"grain_diameter\": 0.001, \"grain_density\": 2500}, \"model\": "
                   "{\"tension\": false}, \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], "
                   "\"high\": [%.17g, %.17g]}]}",
                   spacing, width * (2.5 + 1.5 * runout), height * 1.2 + 0.05,
                   15.0 * sqrt(2.0 * 9.81 * height), friction, width, height);
    kf_sph_flow flow;
    kf_status status = kf_sph_open(validation, text, NULL, NULL, &flow, error);
    if (status == KF_OK) status = kf_sph_until(validation, &flow, 6.0 * sqrt(height / 9.81) + 0.2, error);
    if (status == KF_OK) status = kf_sph_look(&flow, error);
    if (status == KF_OK) {
        (void)snprintf(quantity, sizeof quantity, "aspect ratio %.2g: run-out over the width", aspect);
        kf_check_relative(validation, quantity, "Lube et al., Phys. Rev. E 72 (2005) 041301", runout,
                          toe(&flow, 0.055 * least) / width - 1.0, 0.15);
    }
    kf_sph_close(&flow);
    return status;
}

kf_status kf_case_sph_column(kf_validation *validation, kf_error *error) {
    static const double aspects[] = {0.5, 1.0, 2.0, 4.0};
    for (int k = 0; k < 4; k++)
        KF_TRY(run_column(validation, aspects[k], error));
    return KF_OK;
}
