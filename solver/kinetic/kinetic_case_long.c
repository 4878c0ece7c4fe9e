/* Runs of 200,000 steps with a ball in a box that keeps its sound and noise. With rates near 2 noise grows
 * along walls and in shear, by a sixth of a percent per step and more (docs/physics.md). Short cases do not
 * show this. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "scene/scene.h"
#include "solver/flow/flow_rules.h"
#include "solver/kinetic/kinetic_cases.h"

typedef struct long_run {
    const char *label;
    /* The faces across x, and across z. */
    kf_boundary along, across;
    double viscosity, speed;
    bool quick;
} long_run;

static const long_run long_runs[] = {
    {"walls, viscosity 2.4e-5", KF_PERIODIC, KF_WALL, 2.4e-5, 0.05, true},
    {"walls, viscosity 8e-4", KF_PERIODIC, KF_WALL, 8e-4, 0.05, false},
    {"walls, viscosity 2.4e-7", KF_PERIODIC, KF_WALL, 2.4e-7, 0.05, false},
    {"walls, viscosity 2.4e-7, 0.1 cells a step", KF_PERIODIC, KF_WALL, 2.4e-7, 0.1, false},
    {"walls, viscosity 2.4e-5, 0.02 cells a step", KF_PERIODIC, KF_WALL, 2.4e-5, 0.02, false},
    {"periodic, viscosity 2.4e-5", KF_PERIODIC, KF_PERIODIC, 2.4e-5, 0.05, true},
    {"periodic, viscosity 2.4e-7, 0.1 cells a step", KF_PERIODIC, KF_PERIODIC, 2.4e-7, 0.1, false},
    {"in- and outflow between walls, viscosity 2.4e-7", KF_INFLOW, KF_WALL, 2.4e-7, 0.05, false},
};

typedef struct rated {
    kf_collision collision;
    kf_rate_rule rule;
    double rate; /* of KF_RATE_CONSTANT */
} rated;

/* Rules without a minimum viscosity (flow_rules.h) run all of the above. The others run the first one at
 * their minimum. */
static const rated rules[] = {
    {KF_ACM_MRT, KF_RATE_ADAPTIVE_2020, 0.0},
    {KF_ACM_MRT, KF_RATE_K17, 0.0},
    {KF_ACM_MRT, KF_RATE_ONES, 0.0},
    {KF_ACM_MRT, KF_RATE_EMPIRICAL_2019, 0.0},
    {KF_ACM_MRT, KF_RATE_CONSTANT, 1.8},
    {KF_ACM_MRT, KF_RATE_CONSTANT, 1.97},
    {KF_ACM_MRT, KF_RATE_KBC, 0.0},
    {KF_RM_MRT, KF_RATE_CONSTANT, 1.4},
    {KF_RM_MRT, KF_RATE_ONES, 0.0},
    {KF_RM_MRT, KF_RATE_SUGA_2015, 0.0},
    {KF_BGK, KF_RATE_ONES, 0.0},
};

/* Makes a scene that is periodic along x. The fluid starts at full speed, and a force about equals the drag.
 */
static kf_scene *make_scene(const long_run *r, const rated *rule) {
    static const double drive = 1.5e-3; /* of speed^2 */
    kf_scene *scene = kf_flow_box("long_runs", 24, 16, 16, r->viscosity);
    scene->collision = rule->collision;
    scene->rate_rule = rule->rule;
    if (rule->rule == KF_RATE_CONSTANT) scene->high_order_rate = rule->rate;
    scene->reference_speed = r->speed;
    scene->faces[KF_ZMIN] = scene->faces[KF_ZMAX] = r->across;
    scene->initial_velocity[0] = r->speed;
    scene->initial_velocity[1] = 0.05 * r->speed;
    scene->initial_velocity[2] = 0.02 * r->speed;
    scene->body_force[0] = r->along == KF_PERIODIC ? drive * r->speed * r->speed : 0.0;
    if (r->along == KF_INFLOW) {
        scene->faces[KF_XMIN] = KF_INFLOW;
        scene->faces[KF_XMAX] = KF_OUTFLOW;
        scene->face_velocity[KF_XMIN][0] = r->speed;
    }
    kf_flow_add_ball(scene, (const double[3]){7.5, 7.5, 7.5}, 2.4, 20.0);
    return scene;
}

typedef struct seen {
    /* The number of steps until the state diverged. */
    uint64_t steps;
    /* The largest speed over the initial one; the largest mean density - 1. */
    double speed, drift;
} seen;

static void look(const kf_scene *scene, const double *values, seen *s) {
    const size_t count = kf_flow_count(scene);
    double sum = 0, top = 0;
    for (size_t n = 0; n < count; n++) {
        double square = 0;
        for (size_t c = 1; c <= 3; c++)
            square += values[c * count + n] * values[c * count + n];
        top = kf_worse(top, sqrt(square));
        sum += values[n];
    }
    s->speed = kf_worse(s->speed, top / scene->reference_speed);
    s->drift = kf_worse(s->drift, fabs(sum) / (double)count);
}

/* Runs until the end or until the state makes no sense, which is a result, not an error. Nothing is known of
 * such a state's speed and mass. */
static kf_status run_long(const kf_validation *validation, const kf_scene *scene, kf_plan *plan,
                          uint64_t steps, seen *s, kf_error *error) {
    enum { LOOKS = 40 };
    for (int look_number = 0; look_number < LOOKS; look_number++) {
        double *values;
        KF_TRY(kf_flow_advance(validation, plan, steps / LOOKS, error));
        const bool diverged = kf_plan_watch(plan, error) != KF_OK;
        if (diverged && error->status != KF_GATE_FAILED) return error->status;
        if (diverged) break;
        KF_TRY(kf_kinetic_read(plan, &values, error));
        if (!isnan(kf_flow_energy(scene, values))) {
            s->steps = plan->steps_done;
            look(scene, values, s);
        }
        free(values);
        if (s->steps != plan->steps_done) break;
    }
    if (s->steps != plan->steps_done) s->speed = s->drift = (double)NAN;
    return KF_OK;
}

static void add_checks(kf_validation *validation, const long_run *r, const char *rule, const seen *s,
                       uint64_t steps) {
    static const char source[] = "it runs on, and nothing grows";
    char quantity[128];
    (void)snprintf(quantity, sizeof quantity, "%s, %s: steps", rule, r->label);
    kf_check_at_least(validation, quantity, source, (double)steps, (double)s->steps, 0.0);
    (void)snprintf(quantity, sizeof quantity, "%s, %s: largest speed", rule, r->label);
    kf_check_at_most(validation, quantity, "no more than a stream around a ball in a narrow box has", 2.5,
                     s->speed, 0.0);
    if (r->along != KF_PERIODIC) return;
    (void)snprintf(quantity, sizeof quantity, "%s, %s: mass", rule, r->label);
    kf_check_absolute(validation, quantity, "exact but for rounding", 0.0, s->drift, 1e-4);
}

static kf_status run_one(kf_validation *validation, const long_run *r, const rated *rule, kf_error *error) {
    const uint64_t steps = validation->quick ? 6000 : 200000;
    char name[64];
    kf_plan *plan = NULL;
    seen s = {0, 0, 0};
    kf_scene *scene = make_scene(r, rule);
    kf_status status = kf_kinetic_case_open(validation, scene, NULL, &plan, error);
    if (status == KF_OK) status = run_long(validation, scene, plan, steps, &s, error);
    if (status == KF_OK) add_checks(validation, r, kf_flow_rule_name(scene, name), &s, steps);
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

/* Says whether the rule has a least viscosity at the speed of a run, which goes into least. */
static bool is_bounded(const rated *rule, const long_run *r, double *least) {
    kf_scene *scene = make_scene(r, rule);
    *least = kf_flow_least_viscosity(scene);
    kf_scene_free(scene);
    return *least > 0.0;
}

kf_status kf_case_long_runs(kf_validation *validation, kf_error *error) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        long_run least = long_runs[0];
        if (is_bounded(&rules[i], &long_runs[0], &least.viscosity)) {
            least.label = "walls, its least viscosity";
            KF_TRY(run_one(validation, &least, &rules[i], error));
            continue;
        }
        for (size_t r = 0; r < sizeof long_runs / sizeof *long_runs; r++)
            if (long_runs[r].quick || !validation->quick)
                KF_TRY(run_one(validation, &long_runs[r], &rules[i], error));
    }
    return KF_OK;
}
