#include "solver/flow/flow_rules.h"

#include <stdio.h>

static bool is_known(const kf_scene *scene) {
    return scene->nodes[2] > 1 &&
           (scene->collision == KF_BGK || scene->collision == KF_RM_MRT || scene->collision == KF_ACM_MRT);
}

double kf_flow_least_viscosity(const kf_scene *scene) {
    /* The smallest viscosities at which all runs stayed stable, measured at 0.05 cells per step. Noise grows
     * in proportion to the speed. */
    static const double measured_speed = 0.05, high_rate = 1.8;
    const double speed = scene->reference_speed / measured_speed;
    if (!is_known(scene)) return 0.0;
    if (scene->collision == KF_BGK) return 8e-4 * speed;
    if (scene->collision == KF_RM_MRT) return (scene->rate_rule == KF_RATE_ONES ? 8e-4 : 4e-4) * speed;
    if (scene->rate_rule == KF_RATE_KBC) return 8e-4 * speed;
    if (scene->rate_rule == KF_RATE_EMPIRICAL_2019) return 2.4e-5 * speed;
    return scene->rate_rule == KF_RATE_CONSTANT && scene->high_order_rate > high_rate ? 4e-4 * speed : 0.0;
}

const char *kf_flow_rule_name(const kf_scene *scene, char text[64]) {
    const char *of = scene->collision == KF_RM_MRT ? "the collision \"rm_mrt\" with " : "";
    if (scene->collision != KF_ACM_MRT && scene->collision != KF_RM_MRT)
        (void)snprintf(text, 64, "the collision \"%s\"", kf_collision_names[scene->collision]);
    else if (scene->rate_rule == KF_RATE_CONSTANT)
        (void)snprintf(text, 64, "%srates of %.3g", of, scene->high_order_rate);
    else
        (void)snprintf(text, 64, "%sthe rates \"%s\"", of, kf_rate_rule_names[scene->rate_rule]);
    return text;
}

const char *kf_flow_steadier_rules(const kf_scene *scene) {
    if (!is_known(scene)) return "";
    if (scene->collision != KF_ACM_MRT) return ", or the collision \"acm_mrt\"";
    return scene->rate_rule == KF_RATE_ONES  ? ""
           : scene->rate_rule == KF_RATE_K17 ? ", or the rates \"ones\""
           : scene->rate_rule == KF_RATE_ADAPTIVE_2020
               ? ", or the rates \"k17\" or \"ones\""
               : ", or the rates \"adaptive_2020\", \"k17\" or \"ones\"";
}
