/* The correctness check: compares a plan's fields and its force on the solid with the reference
 * (docs/gate.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/flow/gate.h"
#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/nested_plan.h"
#include "solver/kinetic/reference.h"

/* Returns the accepted relative deviations: the rounding of the storage type, grown over a few steps, times a
 * margin of about ten. */
double kf_kinetic_bound(const kf_scene *scene, kf_storage storage) {
    return storage == KF_F64 ? 1e-9 : storage == KF_F32 ? 1e-4 : scene->accuracy;
}

/* Returns the larger deviation of force and torque from the reference's, relative to a part that cannot
 * cancel. reach: the distance to the solid's farthest place, if its forces may cancel; 0 otherwise. */
static double load_deviation(const kf_solid_load *load, const kf_solid_load *reference, double reach) {
    double error[2] = {0, 0}, scale[2] = {0, 0};
    for (int i = 0; i < 3; i++) {
        error[0] += pow(load->force[i] - reference->force[i], 2);
        scale[0] += pow(reference->force[i], 2);
        error[1] += pow(load->torque[i] - reference->torque[i], 2);
        scale[1] += pow(reference->torque[i], 2);
    }
    /* A symmetric turning body has no total force. It is compared with the smallest sum of forces on its
     * parts, which is the torque over its reach. A body that does not turn has no torque, and is compared
     * with the force at an arm of one cell. */
    const double parts = reach > 0.0 ? sqrt(scale[1]) / reach : 0.0;
    double force = sqrt(error[0]) / fmax(fmax(sqrt(scale[0]), parts), 1e-6);
    double torque = sqrt(error[1]) / fmax(fmax(sqrt(scale[1]), sqrt(scale[0])), 1e-6);
    return kf_worse(force, torque);
}

/* Returns the distance from a turning solid by links to its farthest point; 0 for others, whose forces do not
 * cancel. */
static double reach_of(const kf_scene *scene) {
    double square = 0.0;
    for (int a = 0; a < 3; a++) {
        const double center = scene->motion.center[a];
        square += pow(fmax(scene->solid_high[a] - center, center - scene->solid_low[a]), 2);
    }
    return scene->linked && scene->motion.moving ? sqrt(square) : 0.0;
}

/* Compares the loads. Each of several solids has its load about its own centre. */
kf_status kf_reference_compare_loads(kf_plan *plan, const kf_reference_result *exact, double *deviation,
                                     kf_error *error) {
    const int solids = kf_plan_scene(plan)->solid_count;
    kf_solid_load load, loads[KF_MOST_SOLIDS];
    KF_TRY(plan->methods->flow->load(plan, &load, error));
    *deviation = load_deviation(&load, &exact->load, reach_of(kf_plan_scene(plan)));
    if (solids == 0) return KF_OK;
    KF_TRY(plan->methods->flow->loads(plan, loads, error));
    for (int s = 0; s < solids; s++)
        *deviation = kf_worse(*deviation, load_deviation(&loads[s], &exact->loads[s], 0.0));
    return KF_OK;
}

kf_status kf_reference_compare_friction(kf_plan *plan, const kf_reference_result *exact, double bound,
                                        kf_verification *verification, kf_error *error) {
    kf_wall_look look;
    kf_solid_load seen = {{0}, {0}}, right = {{0}, {0}};
    KF_TRY(kf_kinetic_look_at_wall(plan, &look, NULL, error));
    memcpy(seen.force, look.friction, sizeof seen.force);
    memcpy(right.force, exact->friction, sizeof right.force);
    kf_verification_add(verification, "friction", load_deviation(&seen, &right, 0.0), 20.0 * bound);
    return KF_OK;
}

kf_status kf_kinetic_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                            kf_error *error) {
    if (kf_plan_scene(plan)->finer_count > 0) return kf_nested_verify(plan, reference, verification, error);
    const kf_kinetic *kinetic = plan->system;
    const int *n = kf_plan_scene(plan)->nodes;
    double *values;
    memset(verification, 0, sizeof *verification);
    verification->error = NAN;
    const bool folded = kinetic->options.velocities == 19;
    verification->scheme = folded;
    const kf_reference_result *exact = folded ? &reference->of_19 : &reference->of_27;
    if (exact->values == NULL)
        return kf_fail(error, KF_BAD_INPUT,
                       "the scene's model.accuracy does not allow 19 velocities: it must be %g or more",
                       KF_ACCURACY_OF_19);
    KF_TRY(kf_kinetic_read(plan, &values, error));
    const kf_field_deviation d = kf_compare_fields(values, exact->values, reference->count, 3);
    const kf_field_deviation to_27 = kf_compare_fields(values, reference->of_27.values, reference->count, 3);
    free(values);
    double of_load = 0.0;
    if (kinetic->has_solid || kinetic->linked)
        KF_TRY(kf_reference_compare_loads(plan, exact, &of_load, error));
    /* A reference has far fewer than 2^31 nodes. */
    int worst = (int)d.worst;
    (void)snprintf(verification->worst, sizeof verification->worst,
                   "velocity off by %.3g at node (%d, %d, %d)", sqrt(d.worst_value), worst % n[0],
                   worst / n[0] % n[1], worst / (n[0] * n[1]));
    const double bound = kf_kinetic_bound(kf_plan_scene(plan), kinetic->options.storage);
    if (kinetic->wall_found != NULL)
        KF_TRY(kf_reference_compare_friction(plan, exact, bound, verification, error));
    /* The scene allows the model's error, and the error of the arithmetic is added. The check covers the
     * velocity only: the sound of the sudden start, which dominates the density at first, has wavelengths
     * that neither lattice resolves. */
    if (folded)
        kf_verification_add(verification, "27 velocities", to_27.velocity, kf_plan_scene(plan)->accuracy);
    return kf_judge(&d, of_load, bound, verification, error);
}
