/* Scenes on nested grids that tests of plans share: vortices that a slanted stream carries, and a ball in
 * a tunnel. */
#ifndef KF_TESTS_UNIT_NESTED_TUNNEL_H
#define KF_TESTS_UNIT_NESTED_TUNNEL_H

#include "base/space/space_nearest.h"
#include "tests/unit/kinetic_fixture.h"
#include "tests/unit/nested_stage.h"

/* Vortices in a slanting stream, so that each part of an interface has to pass something on. */
static inline void carried(const flow *f, const double at[3], double *density, double velocity[3]) {
    const double wave = 2.0 * kf_pi / f->nodes;
    *density = 1.0 + 1e-3 * cos(wave * (at[0] + at[1]));
    for (int a = 0; a < 3; a++)
        velocity[a] = f->stream[a] + f->speed * sin(wave * at[(a + 1) % 3]) * cos(wave * at[(a + 2) % 3]);
}

static inline flow slantwise(kf_rate_rule rule) {
    return (flow){.state = carried, .nodes = 12, .speed = 0.02, .stream = {0.04, 0.02, -0.01}, .rule = rule};
}

/* Returns the default config with these parameters fixed. */
static inline kf_config config_of(const kf_scene *scene, const char *const *fixed, int count) {
    kf_error error = {KF_OK, ""};
    kf_config config;
    kf_space *space = open_space_of(scene, false, fixed, count);
    must(kf_space_nearest(space, &config, &error), &error);
    kf_space_free(space);
    return config;
}

/* A ball in the finest of three levels in a tunnel, and boxes at its walls and its inflow. */
static inline void begin_tunnel(stage *s, kf_rate_rule rule) {
    flow f = {.state = uniform, .stream = {0.05}, .rule = rule};
    begin(s, f, (const int[3]){14, 10, 12}, 0.005, 3);
    for (int l = 0; l < 3; l++) {
        kf_scene *whole = s->whole[l];
        const double center[3] = {(4.5 * (1 << l)) - 0.5, (4 << l) - 0.5, (4.5 * (1 << l)) - 0.5};
        whole->accuracy = 0.005;
        whole->faces[KF_XMIN] = KF_INFLOW;
        whole->faces[KF_XMAX] = KF_OUTFLOW;
        whole->faces[KF_YMIN] = whole->faces[KF_YMAX] = KF_WALL;
        whole->faces[KF_ZMIN] = whole->faces[KF_ZMAX] = KF_FREE_SLIP;
        for (int face = 0; face < KF_ZMIN; face++)
            whole->face_velocity[face][0] = f.stream[0];
        kf_flow_add_ball(whole, center, 1 << l, 4.0);
    }
}
static const kf_cell_box tunnel_boxes[] = {{{0, 0, 0}, {8, 7, 8}}, {{4, 4, 5}, {13, 11, 13}}};

#endif
