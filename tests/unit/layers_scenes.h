/* Scenes with modelled layers, for tests of them. */
#ifndef KF_TESTS_UNIT_LAYERS_SCENES_H
#define KF_TESTS_UNIT_LAYERS_SCENES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene/scene.h"
#include "solver/validation/body.h"
#include "solver/validation/flow.h"
#include "tests/unit/folder_and_backend.h"
#include "tests/unit/kinetic_variants.h"

enum { NODES = 4000, STEPS = 40 };

/* The shipped ball, by links with a law of the wall, with modelled layers or without. */
static inline kf_scene *open_ball(long nodes, bool layers) {
    kf_error error = {KF_OK, ""};
    kf_scene *scene = open_scene("ball", nodes);
    scene->linked = scene->wall_law = true;
    scene->layers = layers;
    scene->rate_rule = KF_RATE_K17;
    scene->trip = 0.0;
    scene->viscosity = 1e-4;
    scene->samples.count = 0;
    must(kf_scene_cut_links(scene, &error), &error);
    return scene;
}

/* Returns the velocities after STEPS. *quiet: the share of the surface whose layers have no eddies; NULL: it
 * is not asked for. */
static inline kf_fields run(const kf_scene *scene, double *quiet) {
    kf_error error = {KF_OK, ""};
    kf_fields fields = {.density = NULL};
    kf_wall_look look;
    static const char *const values[1] = {"storage=f32"};
    const kf_config config = nearest_config(scene, values, 1);
    kf_plan *plan = open_plan(scene, &config);
    advance(plan, STEPS);
    must(plan->methods->flow->fields(plan, &fields, &error), &error);
    if (quiet != NULL) {
        must(plan->methods->flow->wall(plan, &look, NULL, &error), &error);
        *quiet = look.modelled;
    }
    kf_plan_free(plan);
    return fields;
}

/* Makes a box with a stream along x, without a body. viscosity: lattice units. */
static inline kf_scene *make_stream(const int nodes[3], double viscosity) {
    kf_scene *scene = kf_flow_box("stream", nodes[0], nodes[1], nodes[2], viscosity);
    scene->faces[KF_XMIN] = KF_INFLOW;
    scene->faces[KF_XMAX] = KF_OUTFLOW;
    scene->face_velocity[KF_XMIN][0] = scene->initial_velocity[0] = scene->reference_speed;
    scene->wall_law = scene->layers = true;
    scene->rate_rule = KF_RATE_K17;
    return scene;
}

/* Axes exchanged, and mirrored: axis a of the usual scene is axis[a] of the other one. */
typedef struct turned {
    int axis[3];
    bool mirrored[3];
} turned;

/* Makes a bar across the stream, whose faces slope by 30 degrees, in a scene turned like that. */
static inline kf_scene *make_bar(const turned *t, bool layers) {
    static const int usual[3] = {28, 20, 14};
    static const double turn[9] = {
        0.86602540378443865, -0.5, 0.0, 0.5, 0.86602540378443865, 0.0, 0.0, 0.0, 1.0};
    kf_error error = {KF_OK, ""};
    int nodes[3];
    for (int a = 0; a < 3; a++)
        nodes[t->axis[a]] = usual[a];
    kf_scene *scene = make_stream(nodes, 1e-4);
    scene->layers = layers;
    for (int face = 0; face < KF_FACES; face++)
        scene->faces[face] = KF_FREE_SLIP;
    const int along = t->axis[0], from = 2 * along + t->mirrored[0];
    const double speed = scene->reference_speed * (t->mirrored[0] ? -1.0 : 1.0);
    scene->faces[from] = KF_INFLOW;
    scene->faces[from ^ 1] = KF_OUTFLOW;
    memset(scene->initial_velocity, 0, sizeof scene->initial_velocity);
    memset(scene->face_velocity, 0, sizeof scene->face_velocity);
    scene->face_velocity[from][along] = scene->initial_velocity[along] = speed;
    kf_body_add_box(scene, (const double[3]){-4.3, -3.2, -3.4}, (const double[3]){4.3, 3.2, 3.4});
    kf_body_place(scene, turn, (const double[3]){10.0, 9.7, 6.3});
    for (size_t v = 0; v < scene->mesh.vertex_count; v++) {
        double place[3];
        for (int a = 0; a < 3; a++) {
            const double at = scene->mesh.vertices[3 * v + (size_t)a];
            place[t->axis[a]] = t->mirrored[a] ? usual[a] - 1 - at : at;
        }
        memcpy(scene->mesh.vertices + 3 * v, place, sizeof place);
    }
    must(kf_body_link(scene, false, &error), &error);
    return scene;
}

#endif
