/* Scenes of particles for teams of devices, and comparisons of a team with one device. */
#ifndef KF_TESTS_UNIT_SPH_TEAM_FIXTURE_H
#define KF_TESTS_UNIT_SPH_TEAM_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/team.h"
#include "base/backend/team/world.h"
#include "solver/sph/sph.h"
#include "solver/sph/sph_problem.h"
#include "tests/unit/team_fixture.h"

enum { STEPS = 37, VALUES = 32 };

#define WATER                                                                                                \
    "\"gravity\": [0, -9.81], \"material\": {\"density\": 1000, \"sound_speed\": 45, \"viscosity\": 0.001}"
/* A column that falls and spreads over three times its width, so that cuts move. */
static const char column[] =
    "{\"particles\": {\"dimensions\": 2, \"spacing\": 0.05}, \"box\": {\"size\": [2, "
    "1.5]}, " WATER ", \"gauges\": [{\"name\": \"H\", \"height\": [0.3]}, {\"name\": "
    "\"P\", \"pressure\": [0.45, 0.1]}], \"fluid\": [{\"shape\": \"box\", \"low\": [0, "
    "0], \"high\": [0.5, 1]}]}";
/* A fluid four spacings wide in a box of 14 planes: some parts have no particles, and one has all. */
static const char needle[] =
    "{\"particles\": {\"dimensions\": 2, \"spacing\": 0.05}, \"box\": {\"size\": [2, "
    "1.5]}, " WATER ", \"fluid\": [{\"shape\": \"box\", \"low\": [1.04, 0], \"high\": "
    "[1.16, 1]}]}";
/* Wall particles on two sides, and a block that turns. */
static const char tank[] =
    "{\"particles\": {\"dimensions\": 2, \"spacing\": 0.05, \"shake\": 0.1}, \"box\": {\"size\": [2, 1.5], "
    "\"faces\": {\"xmin\": \"dummies\", \"ymin\": \"dummies\"}}, \"gravity\": [1, -9.81], \"material\": "
    "{\"density\": 300, \"sound_speed\": 20, \"viscosity\": 2}, \"gauges\": [{\"name\": \"P\", \"pressure\": "
    "[0.4, 0.62]}], \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 0.9], \"velocity\": "
    "[0.5, "
    "-0.25], \"rotation\": 1}]}";
/* A stream in a periodic domain, in which the first and the last part see each other. */
static const char stream[] =
    "{\"particles\": {\"dimensions\": 2, \"spacing\": 0.05, \"shake\": 0.1}, \"box\": {\"size\": [1.5, 0.6], "
    "\"faces\": {\"xmin\": \"periodic\", \"xmax\": \"periodic\"}}, \"gravity\": [5, 0], \"material\": "
    "{\"density\": 300, \"sound_speed\": 20, \"law\": \"power\", \"consistency\": 20, \"exponent\": 0.5}, "
    "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1.5, 0.6], \"velocity\": [8, 0]}]}";
#define MUD(law, size, high)                                                                                 \
    "{\"particles\": {\"spacing\": 0.1, \"shake\": 0.1}, \"box\": {\"size\": " size                          \
    ", \"faces\": {\"zmin\": \"dummies\", \"xmax\": \"open\"}}, \"gravity\": [0, 1, -9.81], \"material\": "  \
    "{\"density\": 300, \"sound_speed\": 20, " law "}, \"gauges\": [{\"name\": \"P\", \"pressure\": [0.4, "  \
    "0.3, 0.2]}], \"fluid\": [{\"shape\": \"box\", \"low\": [0, 0, 0], \"high\": " high                      \
    ", \"velocity\": [6, 0, 1]}]}"
static const char block[] = MUD("\"law\": \"bingham\", \"branch\": \"biviscous\", \"viscosity\": 2, "
                                "\"yield_stress\": 300",
                                "[1.4, 0.7, 0.9]", "[0.9, 0.6, 0.5]");
/* A domain that is cut across y, which is longer. */
static const char across[] = MUD("\"law\": \"bingham\", \"viscosity\": 2, \"yield_stress\": 300",
                                 "[0.8, 1.6, 0.9]", "[0.6, 1.0, 0.5]");
static const char hill[] =
    "{\"particles\": {\"spacing\": 0.1, \"support\": 2.4}, \"box\": {\"size\": [1.5, 0.8, 1.2]}, "
    "\"gravity\": "
    "[0, 0, -9.81], \"material\": {\"law\": \"drucker_prager\", \"density\": 250, \"sound_speed\": 40, "
    "\"viscosity\": 4, \"cohesion\": 15, \"friction_angle\": 28}, \"terrain\": {\"formula\": \"0.1 + 0.4 * "
    "max(0, 1 - x)\", \"cell\": 0.1}, \"fluid\": [{\"shape\": \"polygon\", \"depth\": 0.3, \"polygon\": "
    "[[0.1, "
    "0.1], [0.9, 0.1], [0.9, 0.7], [0.1, 0.7]]}]}";
static const char pool[] =
    "{\"particles\": {\"spacing\": 0.3, \"support\": 2}, \"box\": {\"size\": [4, 2.4, 3], \"faces\": "
    "{\"zmax\": "
    "\"open\"}}, \"gravity\": [0, 0, -9.81], \"material\": {\"density\": 1000, \"sound_speed\": 200, "
    "\"viscosity\": 10}, \"model\": {\"scheme\": \"thesis\", \"xsph\": 0.1, \"penalty\": 10000, \"damping\": "
    "50}, "
    "\"fluid\": [{\"shape\": \"box\", \"low\": [0.4, 0.4, 0.4], \"high\": [2.2, 1.8, 2]}]}";

static const char *const staged[] = {"search=staged", NULL};
static const char *const rows[] = {"search=rows", "layout=float3", "fuse_count=false", NULL};
static const char *const cells[] = {"search=cells", "prune=false", "cells=2", "layout=float4", NULL};
static const char *const lists[] = {"search=list", "fuse_count=false", "list_period=4", "skin=10", NULL};
static const char *const listed[] = {"search=list", NULL};
static const char *const masks[] = {"search=masks", NULL};

/* The state, and all columns of all records. */
typedef struct outcome {
    void *state;
    size_t bytes;
    double values[VALUES];
    int count;
} outcome;

static inline kf_problem *problem_from(const char *text) {
    kf_particle_scene *scene = NULL;
    kf_error error = {KF_OK, ""};
    must(kf_particle_scene_parse("team.json", text, NULL, &scene, &error), &error);
    return kf_sph_problem(scene);
}

static const char *team_transfer = "direct"; /* their parameter `transfer` */

static inline kf_plan *open_plan(const kf_problem *problem, const char *const *fixed, const char *device) {
    kf_error error = {KF_OK, ""};
    kf_backend *backend;
    kf_variables variables;
    kf_space *space;
    kf_config config;
    kf_plan *plan;
    int count = 0;
    while (fixed[count] != NULL)
        count++;
    must(kf_backend_open(device, &backend, &error), &error);
    kf_system_sph.variables(problem, kf_backend_device(backend), &variables);
    must(kf_space_open("sph", kf_system_sph.space_file, &variables, fixed, count, &space, &error), &error);
    must(kf_space_preset(space, "default", &config, &error), &error);
    kf_space_free(space);
    if (kf_backend_device(backend)->parts > 1) kf_config_set_name(&config, "transfer", team_transfer);
    must(kf_system_sph.plan(problem, &config, backend, &plan, &error), &error);
    must(kf_plan_initialise(plan, &error), &error);
    return plan;
}

static inline void close_plan(kf_plan *plan) {
    kf_backend *backend = plan->backend;
    kf_error error = {KF_OK, ""};
    must(kf_plan_check_buffers(plan, &error), &error);
    kf_plan_free(plan);
    kf_backend_close(backend);
}

static inline void look(kf_plan *plan, outcome *o) {
    kf_error error = {KF_OK, ""};
    kf_records records;
    memset(o, 0, sizeof *o);
    must(kf_plan_watch(plan, &error), &error);
    must(kf_plan_record(plan, &records, &error), &error);
    for (size_t t = 0; t < records.count; t++)
        for (size_t c = 0; c < records.tables[t].count && o->count < VALUES; c++)
            o->values[o->count++] = records.tables[t].columns[c].value;
    kf_records_free(&records);
    take_state(plan, &o->state, &o->bytes);
}

static inline void advance(kf_plan *plan, uint64_t steps) {
    kf_error error = {KF_OK, ""};
    must(kf_plan_advance(plan, steps, &error), &error);
}

static inline void run(const kf_problem *problem, const char *const *fixed, const char *device, int steps,
                       outcome *o) {
    kf_plan *plan = open_plan(problem, fixed, device);
    advance(plan, (uint64_t)steps);
    look(plan, o);
    close_plan(plan);
}

static inline bool equal(const outcome *one, const outcome *team) {
    return one->bytes == team->bytes && memcmp(one->state, team->state, one->bytes) == 0 &&
           one->count == team->count && memcmp(one->values, team->values, sizeof one->values) == 0;
}

static const char *const teams[] = {"cpu:1,cpu:1,cpu:1", "cpu:1,cpu:1", "cpu:1,cpu:1,cpu:1,cpu:1"};
enum { TEAMS = sizeof teams / sizeof *teams };

static const struct {
    const char *name, *text;
    const char *const *fixed;
} cases[] = {
    {"column", column, staged},
    {"column in lists that are kept", column, lists},
    {"needle", needle, staged},
    {"tank", tank, rows},
    {"tank by cells", tank, cells},
    {"stream", stream, staged},
    {"stream in lists", stream, listed},
    {"block", block, masks},
    {"across", across, staged},
    {"hill", hill, staged},
    {"pool", pool, staged},
};
enum { CASES = sizeof cases / sizeof *cases };

/* Runs a case on a team by this transfer, and compares its outcome with that of one device. */
static inline void run_as_alone(int c, const char *devices, const char *way, const outcome *one,
                                const kf_problem *problem) {
    outcome team;
    team_transfer = way;
    run(problem, cases[c].fixed, devices, STEPS, &team);
    if (!equal(one, &team)) fail_msg("%s on %s by %s: not one device's", cases[c].name, devices, way);
    free(team.state);
}

/* Runs all cases in two processes, with one device each and with two each. The cases take the two transfers
 * in turn. */
static inline void hold_in_two_processes(const char *const transfers[2]) {
    kf_error error = {KF_OK, ""};
    kf_problem *problems[CASES];
    outcome alone[CASES];
    for (int c = 0; c < CASES; c++) {
        problems[c] = problem_from(cases[c].text);
        run(problems[c], cases[c].fixed, "cpu:1", STEPS, &alone[c]);
    }
    must(kf_world_open(&error), &error);
    assert_int_equal(kf_world_size(), 2);
    for (int c = 0; c < CASES; c++)
        for (int many = 0; many < 2; many++)
            run_as_alone(c, many ? teams[2] : "cpu:1", transfers[(c + many) % 2], &alone[c], problems[c]);
    for (int c = 0; c < CASES; c++) {
        free(alone[c].state);
        kf_problem_free(problems[c]);
    }
    kf_world_close(KF_OK, &error);
}

static inline kf_sph_share share_of(const kf_plan *plan, int part) {
    kf_error error = {KF_OK, ""};
    kf_sph_share share;
    must(kf_backend_synchronize(plan->backend, &error), &error);
    must(kf_sph_download(&((const kf_sph *)plan->system)->seen[part].share, &share, sizeof share, &error),
         &error);
    return share;
}

#endif
