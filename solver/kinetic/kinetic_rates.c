/* Refuses relaxation rates that do not go with a collision, or that are unstable. */
#include "solver/kinetic/kinetic.h"

/* Returns the smallest relaxation rate of the shear moments for a high-order rate. It comes from the linear
 * stability of raw central moments with the trace in the high-order group, found with noise in a periodic box
 * (docs/physics.md). */
static double least_shear_rate(double high_order_rate) {
    static const double limits[][2] = {{1.0, 0.0},   {1.8, 0.64},  {1.9, 0.88},
                                       {1.95, 1.26}, {1.98, 1.63}, {1.99, 1.79}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (high_order_rate <= limits[i][0] + 1e-9) return limits[i][1];
    return 2.0;
}

/* Refuses a collision of another system, rates that do not go with it, and a basis 'raw' whose high-order
 * rates would be unstable at the scene's viscosity. */
kf_status kf_kinetic_check_collision(const kf_scene *scene, kf_error *error) {
    /* The largest rates that the rules adaptive_2020 (tau at least 0.005) and empirical_2019 choose. */
    static const double largest[KF_RATE_RULES] = {1.0 / 0.505, 0.0, 1.0, 1.0 / 0.515, 0.0, 0.0, 0.0};
    const kf_rate_rule rule = scene->rate_rule;
    if (scene->collision != KF_BGK && scene->collision != KF_RM_MRT && scene->collision != KF_ACM_MRT)
        return kf_fail(error, KF_BAD_INPUT,
                       "collision '%s' belongs to another system; use bgk, rm_mrt or acm_mrt",
                       kf_collision_names[scene->collision]);
    if (scene->collision == KF_RM_MRT && rule != KF_RATE_ONES && rule != KF_RATE_CONSTANT &&
        rule != KF_RATE_SUGA_2015)
        return kf_fail(error, KF_BAD_INPUT,
                       "collision rm_mrt takes the rates 'suga_2015', 'ones' or 'constant'");
    if (scene->collision == KF_ACM_MRT && rule == KF_RATE_SUGA_2015)
        return kf_fail(error, KF_BAD_INPUT, "the rates 'suga_2015' belong to the collision rm_mrt");
    if (scene->collision != KF_ACM_MRT || scene->basis == KF_BASIS_HERMITE) return KF_OK;
    if (rule == KF_RATE_KBC || rule == KF_RATE_K17)
        return kf_fail(error, KF_BAD_INPUT,
                       "model.basis: the rates '%s' bring their own moments; remove the key",
                       kf_rate_rule_names[rule]);
    const double rate = rule == KF_RATE_CONSTANT ? scene->high_order_rate : largest[rule];
    const double omega = 1.0 / (3.0 * scene->viscosity + 0.5), least = least_shear_rate(rate);
    if (omega >= least) return KF_OK;
    return kf_fail(
        error, KF_BAD_INPUT,
        "model.basis 'raw' is unstable here: high-order rates of %.3g need a shear rate of at least "
        "%.2f, and this viscosity gives %.2f; use the basis 'hermite', lower rates, or a smaller "
        "viscosity",
        rate, least, omega);
}

/* Refuses the rates k17 where that of the differences of order 3 is not positive: at shear rates below 7/4
 * (Geier, Pasquali, Schoenherr, J. Comput. Phys. 348, 862, 2017, equation of omega_4). Such moments grow. */
kf_status kf_kinetic_check_k17(const kf_scene *finest, kf_error *error) {
    static const double MOST = 1.0 / 42.0; /* 1/(3 viscosity + 1/2) is 7/4 there */
    if (finest->collision != KF_ACM_MRT || finest->rate_rule != KF_RATE_K17 || finest->viscosity <= MOST)
        return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: model.rates: 'k17' blows up at a lattice viscosity above %.3g, and the finest cells "
                   "have %.3g; use the rates 'ones', a smaller lattice_speed, or fewer cells a length",
                   finest->source, MOST, finest->viscosity);
}
