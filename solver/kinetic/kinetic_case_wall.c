/* Checks a law of the wall at solids by links: its traction on a prescribed stream, and turbulent layers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/flow/wall_law.h"
#include "solver/kinetic/kinetic_cases.h"
#include "solver/kinetic/kinetic_layers.h"
#include "solver/validation/body.h"

/* --- Given stream --------------------------------------------------------------------------------------- */

/* A channel along (2, 1, 0), between a plate and its image in a periodic box of 2 n by n nodes. */
typedef struct stream {
    int nodes; /* n */
    double speed, along[2], across[2], half_plate;
} stream;

static void even_state(const void *context, int x, int y, int z, double *density, double velocity[3]) {
    const stream *s = context;
    (void)x, (void)y, (void)z;
    *density = 1.0;
    velocity[0] = s->speed * s->along[0];
    velocity[1] = s->speed * s->along[1];
    velocity[2] = 0.0;
}

static kf_scene *make_stream(const stream *s) {
    kf_scene *scene = kf_flow_box("stream", 2 * s->nodes, s->nodes, 2, 1e-5);
    scene->initial_state = even_state;
    scene->initial_context = s;
    scene->wall_law = true;
    for (int side = -1; side <= 1; side += 2) {
        const double far = 8.0 * s->nodes, out = side * s->half_plate;
        kf_body_add_sheet(scene,
                          (const double[2]){0.13 + out * s->across[0] - far * s->along[0],
                                            0.29 + out * s->across[1] - far * s->along[1]},
                          (const double[2]){2.0 * far * s->along[0], 2.0 * far * s->along[1]});
    }
    return scene;
}

/* Checks the traction along the surface in the first step of a uniform stream between oblique walls. The
 * fluid also loses momentum by pressure on the grid's steps; this part sums to zero. */
static kf_status check_stream(kf_validation *validation, kf_error *error) {
    static const char *const in_double[] = {"storage=f64", NULL};
    const double root = sqrt(5.0);
    const stream s = {.nodes = 20,
                      .speed = 0.06,
                      .along = {2.0 / root, 1.0 / root},
                      .across = {-1.0 / root, 2.0 / root},
                      .half_plate = 4.0 / root};
    kf_scene *scene = make_stream(&s);
    kf_plan *plan = NULL;
    kf_wall_look look;
    kf_solid_load load;
    kf_status status = kf_body_link(scene, false, error);
    if (status == KF_OK) status = kf_kinetic_case_open(validation, scene, in_double, &plan, error);
    if (status == KF_OK) status = kf_flow_advance(validation, plan, 1, error);
    if (status == KF_OK) status = plan->methods->flow->wall(plan, &look, NULL, error);
    if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
    if (status == KF_OK) {
        double right = 0.0, area = 0.0;
        for (size_t n = 0; n < scene->links.wall_count; n++) {
            const kf_wall_node *wall = &scene->links.wall[n];
            right += wall->area * pow(kf_wall_law_friction(s.speed, wall->height, scene->viscosity), 2);
            area += wall->area;
        }
        kf_check_relative(validation, "even stream along turned walls: surface of its nodes", "exact",
                          4.0 * s.nodes * root, area, 0.01);
        kf_check_relative(validation, "the same: friction, of the law's own", "the law", right,
                          look.friction[0] * s.along[0] + look.friction[1] * s.along[1], 0.01);
        kf_check_relative(validation, "the same: force along the walls, of it", "the law", right,
                          load.force[0] * s.along[0] + load.force[1] * s.along[1], 0.01);
    }
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

/* Checks a law of the wall at solids by links: its traction, and a turbulent channel. */
kf_status kf_case_wall_law(kf_validation *validation, kf_error *error) {
    const double turnovers = validation->quick ? 6.0 : 40.0;
    KF_TRY(check_stream(validation, error));
    return kf_check_channel(validation, KF_CHANNEL_BETWEEN, 1000.0, 10, KF_RATE_ADAPTIVE_2020, turnovers,
                            error);
}

/* Checks channels whose walls lie between nodes, on nodes and across the grid. They have two friction
 * Reynolds numbers, and 10 and 20 cells per half height. docs/accuracy.md cites these results. */
static kf_status check_channels(kf_validation *validation, kf_rate_rule rule, kf_error *error) {
    static const double reynolds[2] = {1000.0, 5200.0};
    if (validation->quick)
        return kf_check_channel(validation, KF_CHANNEL_TURNED, 1000.0, 10, rule, 6.0, error);
    for (int cells = 10; cells <= 20; cells += 10)
        for (int r = 0; r < 2; r++)
            for (int place = 0; place < KF_CHANNEL_PLACES; place++)
                KF_TRY(kf_check_channel(validation, (kf_channel_place)place, reynolds[r], cells, rule,
                                        cells == 10 ? 40.0 : 20.0, error));
    return KF_OK;
}

kf_status kf_case_wall_channels(kf_validation *validation, kf_error *error) {
    return check_channels(validation, KF_RATE_ADAPTIVE_2020, error);
}

kf_status kf_case_wall_channels_k17(kf_validation *validation, kf_error *error) {
    return check_channels(validation, KF_RATE_K17, error);
}

/* Checks a flat plate at two Reynolds numbers of a cell, with a trip and by the model of layers. */
kf_status kf_case_wall_plate(kf_validation *validation, kf_error *error) {
    for (int tripped = 1; tripped >= 0; tripped--) {
        KF_TRY(kf_check_plate(validation, 1e3, tripped, error));
        if (!validation->quick) KF_TRY(kf_check_plate(validation, 1e4, tripped, error));
    }
    return KF_OK;
}
