/* The gate for plans of nested grids: it compares every level with the reference's (kinetic_verify.c). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/flow/gate.h"
#include "solver/kinetic/nested_plan.h"
#include "solver/kinetic/nested_reference.h"

kf_status kf_nested_reference(const kf_problem *problem, int steps, kf_reference **reference,
                              kf_error *error) {
    const kf_scene *scene = kf_problem_scene(problem);
    kf_nested *nested;
    kf_reference_result results[KF_MOST_LEVELS];
    KF_TRY(kf_nested_make(scene, &nested, error));
    kf_nested_run *run = kf_nested_begin(nested);
    for (int step = 0; step < steps; step++)
        kf_nested_advance(run, step);
    kf_nested_end(run, results);
    kf_reference *made = kf_allocate_zeroed(1, sizeof *made);
    made->count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    made->of_27 = results[0];
    for (int l = 1; l < nested->count; l++)
        made->finer[l - 1] = results[l];
    kf_nested_free(nested);
    *reference = made;
    return KF_OK;
}

/* Copies the reference's ghost nodes, so that the comparison leaves them out: they are valid only between
 * two steps. */
static void take_ghosts(const kf_scene *scene, const double *from, double *to) {
    const int *n = scene->nodes, *ghosts = scene->ghosts;
    const size_t count = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    for (size_t node = 0; node < count; node++) {
        const int at[3] = {(int)(node % (size_t)n[0]), (int)(node / (size_t)n[0] % (size_t)n[1]),
                           (int)(node / (size_t)n[0] / (size_t)n[1])};
        bool is_ghost = false;
        for (int a = 0; a < 3; a++)
            is_ghost = is_ghost || at[a] < ghosts[2 * a] || at[a] >= n[a] - ghosts[2 * a + 1];
        for (size_t value = 0; value < 4 && is_ghost; value++)
            to[value * count + node] = from[value * count + node];
    }
}

/* Compares a level with its reference, and keeps the larger deviations. */
static kf_status compare_level(kf_plan *plan, int level, const kf_reference_result *exact,
                               kf_field_deviation *most, kf_verification *verification, kf_error *error) {
    kf_plan *of_level = kf_nested_level_plan(plan, level);
    const int *n = kf_plan_scene(of_level)->nodes;
    double *values;
    KF_TRY(kf_kinetic_read(of_level, &values, error));
    take_ghosts(kf_plan_scene(of_level), exact->values, values);
    const kf_field_deviation d =
        kf_compare_fields(values, exact->values, (size_t)n[0] * (size_t)n[1] * (size_t)n[2], 3);
    free(values);
    if (level == 0 || !(d.velocity <= most->velocity)) { /* also true for NaN */
        const int worst = (int)d.worst;
        (void)snprintf(verification->worst, sizeof verification->worst,
                       "velocity off by %.3g at node (%d, %d, %d) of level %d", sqrt(d.worst_value),
                       worst % n[0], worst / n[0] % n[1], worst / (n[0] * n[1]), level);
        most->velocity = d.velocity;
    }
    if (level == 0 || !(d.density <= most->density)) most->density = d.density;
    if (level == 0 || !(d.mass <= most->mass)) most->mass = d.mass;
    return KF_OK;
}

kf_status kf_nested_verify(kf_plan *plan, const kf_reference *reference, kf_verification *verification,
                           kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    const int levels = scene->finer_count + 1;
    const kf_kinetic *finest = kf_nested_level_plan(plan, levels - 1)->system;
    kf_field_deviation most = {0};
    const double bound = kf_kinetic_bound(scene, finest->options.storage);
    double off = 0.0;
    memset(verification, 0, sizeof *verification);
    verification->error = NAN;
    KF_TRY(kf_nested_settle(plan, error));
    for (int l = 0; l < levels; l++)
        KF_TRY(compare_level(plan, l, l == 0 ? &reference->of_27 : &reference->finer[l - 1], &most,
                             verification, error));
    kf_plan *of_finest = kf_nested_level_plan(plan, levels - 1);
    const kf_reference_result *exact = &reference->finer[levels - 2];
    if (finest->has_solid || finest->linked)
        KF_TRY(kf_reference_compare_loads(of_finest, exact, &off, error));
    if (finest->wall_found != NULL)
        KF_TRY(kf_reference_compare_friction(of_finest, exact, bound, verification, error));
    return kf_judge(&most, off, bound, verification, error);
}
