/* A small scene made by hand, for the tests of the output writers: a ball in potential flow along x. */
#ifndef KF_TESTS_UNIT_OUTPUT_SCENE_H
#define KF_TESTS_UNIT_OUTPUT_SCENE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plan/plan.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/flow/flow_plan.h"

enum { BALL_RINGS = 24, BALL_SECTORS = 48 };
static const double ball_center[3] = {20, 11, 9}, ball_radius = 5, inflow_speed = 0.08;

static inline void add_triangle(kf_mesh *mesh, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t *corner = mesh->triangles + 3 * mesh->triangle_count++;
    corner[0] = a;
    corner[1] = b;
    corner[2] = c;
}

/* Makes a closed ball with outward normals. The vertices of a pole are separate, which does no harm. */
static inline void make_ball(kf_mesh *mesh) {
    const double pi = acos(-1);
    mesh->vertices = kf_allocate_zeroed((size_t)(BALL_RINGS + 1) * BALL_SECTORS * 3, sizeof(double));
    mesh->triangles = kf_allocate_zeroed((size_t)BALL_RINGS * BALL_SECTORS * 6, sizeof(uint32_t));
    for (int ring = 0; ring <= BALL_RINGS; ring++) {
        for (int sector = 0; sector < BALL_SECTORS; sector++) {
            double polar = pi * ring / BALL_RINGS, around = 2 * pi * sector / BALL_SECTORS;
            double *vertex = mesh->vertices + 3 * mesh->vertex_count++;
            vertex[0] = ball_center[0] + ball_radius * sin(polar) * cos(around);
            vertex[1] = ball_center[1] + ball_radius * sin(polar) * sin(around);
            vertex[2] = ball_center[2] + ball_radius * cos(polar);
        }
    }
    for (uint32_t ring = 0; ring < BALL_RINGS; ring++) {
        for (uint32_t sector = 0; sector < BALL_SECTORS; sector++) {
            uint32_t next = (sector + 1) % BALL_SECTORS;
            uint32_t a = ring * BALL_SECTORS + sector, b = ring * BALL_SECTORS + next;
            add_triangle(mesh, a, a + BALL_SECTORS, b + BALL_SECTORS);
            add_triangle(mesh, a, b + BALL_SECTORS, b);
        }
    }
}

static inline kf_scene *make_scene(void) {
    kf_scene *scene = kf_allocate_zeroed(1, sizeof *scene);
    kf_copy_text(scene->name, sizeof scene->name, "ball");
    kf_copy_text(scene->hash, sizeof scene->hash, "0123456789abcdef");
    memcpy(scene->nodes, (int[3]){48, 24, 20}, sizeof scene->nodes);
    scene->cell_size = 0.05;
    scene->time_step = 0.002;
    scene->faces[KF_XMIN] = KF_INFLOW;
    scene->faces[KF_XMAX] = KF_OUTFLOW;
    for (int face = KF_YMIN; face < KF_FACES; face++)
        scene->faces[face] = KF_FREE_SLIP;
    scene->face_velocity[KF_XMIN][0] = inflow_speed;
    scene->initial_velocity[0] = inflow_speed;
    scene->reference_speed = inflow_speed;
    scene->reference_length = 2 * ball_radius;
    scene->frontal_area = acos(-1) * ball_radius * ball_radius;
    scene->reynolds = 200;
    scene->collision = KF_ACM_MRT;
    make_ball(&scene->mesh);
    for (int a = 0; a < 3; a++) {
        scene->motion.center[a] = ball_center[a];
        scene->solid_low[a] = ball_center[a] - ball_radius;
        scene->solid_high[a] = ball_center[a] + ball_radius;
    }
    scene->motion.axis[2] = 1;
    return scene;
}

static inline void free_scene(kf_scene *scene) {
    free(scene->mesh.vertices);
    free(scene->mesh.triangles);
    free(scene);
}

/* Returns potential flow around the ball, at rest inside, with the pressure by Bernoulli's equation. */
static inline void node_flow(const double at[3], double *density, double velocity[3]) {
    double r[3], squared = 0;
    for (int a = 0; a < 3; a++) {
        r[a] = at[a] - ball_center[a];
        squared += r[a] * r[a];
    }
    double cube = pow(ball_radius, 3) / pow(squared, 1.5), speed2 = 0;
    bool inside = squared < ball_radius * ball_radius;
    for (int a = 0; a < 3; a++) {
        double wind = a == 0 ? 1 + 0.5 * cube : 0;
        velocity[a] = inside ? 0 : inflow_speed * (wind - 1.5 * cube * r[0] * r[a] / squared);
        speed2 += velocity[a] * velocity[a];
    }
    *density = 1 + 1.5 * (inflow_speed * inflow_speed - speed2);
}

static inline void make_fields(const kf_scene *scene, kf_fields *fields) {
    size_t count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2], node = 0;
    *fields = (kf_fields){.density = kf_allocate(count * sizeof(float))};
    memcpy(fields->nodes, scene->nodes, sizeof fields->nodes);
    for (int a = 0; a < 3; a++)
        fields->velocity[a] = kf_allocate(count * sizeof(float));
    for (int k = 0; k < scene->nodes[2]; k++) {
        for (int j = 0; j < scene->nodes[1]; j++) {
            for (int i = 0; i < scene->nodes[0]; i++, node++) {
                double density, velocity[3];
                node_flow((double[3]){i, j, k}, &density, velocity);
                fields->density[node] = (float)density;
                for (int a = 0; a < 3; a++)
                    fields->velocity[a][node] = (float)velocity[a];
            }
        }
    }
}

/* Makes the same flow as a snapshot of a run. */
static inline void make_snapshot(const kf_scene *scene, uint64_t step, kf_snapshot *snapshot) {
    kf_fields fields;
    make_fields(scene, &fields);
    kf_flow_snapshot_of(scene, &fields, snapshot);
    snapshot->step = step;
    snapshot->time = (double)step * scene->time_step;
    kf_fields_free(&fields);
}

#endif
