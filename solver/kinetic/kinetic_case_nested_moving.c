/* Solids that move in the finest of nested grids, compared with uniform fine cells: a ball that sinks, and
 * one that is thrown into fluid at rest. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/vector.h"
#include "scene/scene.h"
#include "solver/kinetic/kinetic_cases.h"
#include "solver/kinetic/nested_plan.h"

/* A ball in a box six diameters wide, twice as heavy as the fluid, in cells and steps of the finest grid. */
typedef struct moving_ball {
    /* The member `throw` is the initial speed along x. */
    double diameter, viscosity, gravity, throw;
    kf_boundary faces;
    kf_cell_box box; /* in diameters */
} moving_ball;

/* Makes the scene of the ball on one grid of a level: cells, steps and the ball's values are in units of this
 * level. */
static kf_scene *make_grid(const moving_ball *ball, int level) {
    const double finer = ldexp(1.0, 1 - level), diameter = ball->diameter / finer;
    const int width = (int)lround(6.0 * diameter);
    const double middle = 0.5 * (width - 1), center[3] = {middle, middle, 4.5 * diameter - 0.5};
    kf_scene *scene = kf_flow_box("nested_moving", width, width, width, ball->viscosity / finer);
    kf_motion *m = &scene->motion;
    scene->rate_rule = KF_RATE_K17;
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = ball->faces;
    kf_flow_add_ball(scene, center, 0.5 * diameter, 20.0);
    m->moving = m->free = true;
    m->excess_mass = kf_pi / 6.0 * pow(diameter, 3);
    for (int i = 0; i < 3; i++)
        m->excess_inertia[4 * i] = 0.1 * m->excess_mass * diameter * diameter;
    m->velocity[0] = ball->throw;
    m->gravity[2] = -ball->gravity * finer;
    return scene;
}

/* Makes a grid of the finest cells only, or a box of them in cells twice as wide. */
static kf_scene *make_grids(const moving_ball *ball, bool nested) {
    kf_scene *scene = make_grid(ball, nested ? 0 : 1);
    if (!nested) return scene;
    const double coarse = 0.5 * ball->diameter;
    scene->finer_count = 1;
    scene->finer[0] = make_grid(ball, 1);
    scene->finer[0]->level = 1;
    for (int a = 0; a < 3; a++) {
        scene->boxes[0].low[a] = (int)lround(ball->box.low[a] * coarse);
        scene->boxes[0].high[a] = (int)lround(ball->box.high[a] * coarse);
    }
    return scene;
}

/* The result of a moving ball, in diameters and cells per step. */
typedef struct outcome {
    double gone[3], fastest;
    /* The momentum of fluid and ball along x that was lost, over the ball's initial one. */
    double lost;
    /* The mass gained, over that of the fluid. */
    double gained;
} outcome;

/* Returns whether a level's node counts: no ghost, and none that a finer level has. */
static bool counts(const kf_scene *level, const int at[3]) {
    bool covered = true;
    for (int a = 0; a < 3; a++) {
        covered = covered && at[a] >= level->covered.low[a] && at[a] < level->covered.high[a];
        if (at[a] < level->ghosts[2 * a] || at[a] >= level->nodes[a] - level->ghosts[2 * a + 1]) return false;
    }
    return !covered;
}

/* Totals of fluid and ball, in cells of the plan's coarsest grid. */
typedef struct totals {
    /* The mass of the fluid beyond that at density 1. */
    double mass;
    /* Along x, of the fluid and of the ball's excess mass. */
    double momentum;
} totals;

/* Adds what a level's fluid has in its cells, times the share. */
static kf_status add_fluid(kf_plan *level, double share, totals *t, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(level);
    const size_t count = kf_flow_count(scene), nx = (size_t)scene->nodes[0], ny = (size_t)scene->nodes[1];
    double *values;
    KF_TRY(kf_kinetic_read(level, &values, error));
    for (size_t node = 0; node < count; node++) {
        const int at[3] = {(int)(node % nx), (int)(node / nx % ny), (int)(node / nx / ny)};
        if (!counts(scene, at)) continue;
        t->mass += share * values[node];
        t->momentum += share * (1.0 + values[node]) * values[count + node];
    }
    free(values);
    return KF_OK;
}

static kf_status add_up(kf_plan *plan, const kf_solid_pose *pose, totals *t, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    *t = (totals){.mass = 0.0, .momentum = scene->motion.excess_mass * pose->velocity[0]};
    if (scene->finer_count == 0) return add_fluid(plan, 1.0, t, error);
    KF_TRY(add_fluid(kf_nested_level_plan(plan, 0), 1.0, t, error));
    return add_fluid(kf_nested_level_plan(plan, 1), 0.125, t, error);
}

/* Follows a ball for so many steps of the fine cells. */
static kf_status run(const kf_validation *validation, const moving_ball *ball, bool nested, int steps,
                     outcome *o, kf_error *error) {
    enum { LOOKS = 20 };
    static const char *const in_double[] = {"storage=f64", NULL};
    kf_scene *scene = make_grids(ball, nested);
    kf_solid_pose pose;
    kf_solid_load load;
    kf_plan *plan;
    totals t = {0.0, 0.0};
    const double begun = scene->motion.excess_mass * ball->throw;
    memset(o, 0, sizeof *o);
    kf_status status =
        kf_kinetic_case_open(validation, scene, ball->throw != 0.0 ? in_double : NULL, &plan, error);
    for (int look = 0; look < LOOKS && status == KF_OK; look++) {
        status = kf_flow_advance(validation, plan, (uint64_t)(steps / LOOKS / (nested ? 2 : 1)), error);
        if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
        if (status == KF_OK) status = plan->methods->flow->pose(plan, &pose, error);
        if (status == KF_OK) o->fastest = kf_worse(o->fastest, kf_length(pose.velocity));
    }
    for (int a = 0; a < 3 && status == KF_OK; a++)
        o->gone[a] = (pose.center[a] - scene->motion.center[a]) / ball->diameter * (nested ? 2.0 : 1.0);
    if (status == KF_OK) status = add_up(plan, &pose, &t, error);
    o->lost = begun != 0.0 ? fabs(t.momentum / begun - 1.0) : 0.0;
    o->gained = fabs(t.mass) / (double)kf_flow_count(scene);
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

static const char everywhere[] = "the same in fine cells everywhere";

/* Checks a ball that sinks through a box of fine cells towards the floor, at a Reynolds number of about 30.
 */
static kf_status check_sinking(kf_validation *validation, kf_error *error) {
    const double diameter = validation->gpu ? 12.0 : 6.0;
    const moving_ball ball = {.diameter = diameter,
                              .viscosity = 0.0016 * diameter,
                              .gravity = 0.0032 / diameter,
                              .faces = KF_WALL,
                              .box = {{2, 2, 0}, {4, 4, 6}}};
    outcome nested, fine;
    const int steps = (int)(40.0 * diameter);
    KF_TRY(run(validation, &ball, true, steps, &nested, error));
    KF_TRY(run(validation, &ball, false, steps, &fine, error));
    kf_check_relative(validation, "ball that sinks in a finer box: its largest speed", everywhere,
                      fine.fastest, nested.fastest, 0.005);
    kf_check_relative(validation, "ball that sinks in a finer box: its way", everywhere, fine.gone[2],
                      nested.gone[2], 0.005);
    kf_check_at_most(validation, "mass that the fluid gains there, over the pressure's amplitude",
                     "kept but for what the grid does not resolve", 0.0,
                     nested.gained / (1.5 * nested.fastest * nested.fastest), 0.05);
    return KF_OK;
}

/* Checks a ball that is thrown into fluid at rest, in a periodic domain with fine cells in its middle. */
static kf_status check_thrown(kf_validation *validation, kf_error *error) {
    const moving_ball ball = {.diameter = 6.0,
                              .viscosity = 0.01,
                              .throw = 0.04,
                              .faces = KF_PERIODIC,
                              .box = {{0, 1, 0}, {6, 5, 6}}};
    outcome nested, fine;
    KF_TRY(run(validation, &ball, true, 400, &nested, error));
    KF_TRY(run(validation, &ball, false, 400, &fine, error));
    kf_check_relative(validation, "ball that is thrown in a finer box: its way", everywhere, fine.gone[0],
                      nested.gone[0], 0.005);
    kf_check_at_most(validation, "momentum of fluid and ball that is lost, over the ball's at first",
                     "kept but for what the grid does not resolve", 0.0, nested.lost, 2e-3);
    return KF_OK;
}

kf_status kf_case_nested_moving(kf_validation *validation, kf_error *error) {
    KF_TRY(check_sinking(validation, error));
    return validation->quick ? KF_OK : check_thrown(validation, error);
}
