/* Plans of the kinetic system's validation cases. */
#include <string.h>

#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/kinetic_cases.h"

/* Sets the rates of cases with the default rule. When the plan moments is fixed they are 1, because it has no
 * others. */
static void take_rates(const kf_validation *validation, kf_scene *scene) {
    for (int i = 0; i < validation->fixed_count; i++)
        if (strcmp(validation->fixed[i], "plan=moments") == 0 && scene->rate_rule == KF_RATE_ADAPTIVE_2020)
            scene->rate_rule = KF_RATE_ONES;
}

double kf_kinetic_case_leeway(const kf_scene *scene) {
    return scene->rate_rule == KF_RATE_ONES ? 2.0 : 1.0;
}

kf_status kf_kinetic_case_open(const kf_validation *validation, kf_scene *scene, const char *const *overrides,
                               kf_plan **plan, kf_error *error) {
    take_rates(validation, scene);
    kf_problem *problem = kf_flow_problem(&kf_system_kinetic, scene, false);
    kf_scene stated_scene = *scene;
    kf_problem stated = *problem;
    stated_scene.accuracy = validation->accuracy;
    stated.own = &stated_scene;
    return kf_flow_open_problem(validation, problem, &stated, overrides, plan, error);
}
