/* A law of the wall at solids by links: what it takes from a stream that is given, and turbulent channels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/kinetic/kinetic_cases.h"
#include "solver/validation/body.h"

/* --- Given stream --------------------------------------------------------------------------------------- */

/* A channel along (2, 1, 0), between a plate and its own image in a periodic box of 2 n by n nodes. */
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

/* The traction of the law at a height above the wall, by its own equation. */
static double law_traction(double speed, double height, double viscosity) {
    static const double k = 0.384, b = 4.27;
    double low = 0.0, high = speed;
    for (int i = 0; i < 100; i++) {
        const double u = 0.5 * (low + high), y = u * height / viscosity;
        const double of_law =
            u * (log1p(k * y) / k + (b - log(k) / k) * (1.0 - exp(-y / 11.0) - y / 11.0 * exp(-y / 3.0)));
        if (of_law < speed)
            low = u;
        else
            high = u;
    }
    return low * low;
}

/* The first step of an even stream between turned walls: what the surface takes along itself. The momentum
 * that the fluid loses is more by what pressure and stream do to the grid's steps, which comes to nothing. */
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
    if (status == KF_OK) status = plan->methods->flow->wall(plan, &look, error);
    if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
    if (status == KF_OK) {
        double right = 0.0, area = 0.0;
        for (size_t n = 0; n < scene->links.wall_count; n++) {
            const kf_wall_node *wall = &scene->links.wall[n];
            right += wall->area * law_traction(s.speed, wall->height, scene->viscosity);
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

/* --- Channel -------------------------------------------------------------------------------------------- */

enum { PLATE = 4 }; /* cells between a channel and its image */

/* A channel along x between plates of a periodic box. */
typedef struct channel {
    const char *label;
    int cells; /* a half height */
    kf_rate_rule rule;
    double speed, reynolds; /* friction velocity that the force stands for; by it and the half height */
    double low, high;       /* the walls, y */
} channel;

/* A logarithmic profile with large waves, and a little that is not even. */
static void channel_state(const void *context, int x, int y, int z, double *density, double velocity[3]) {
    const channel *c = context;
    const double from_wall = fmin(y - c->low, c->high - y), k = 2.0 * kf_pi / c->cells;
    const uint32_t number = (uint32_t)x * 73856093U ^ (uint32_t)y * 19349663U ^ (uint32_t)z * 83492791U;
    const double uneven = (double)((number * 2654435761U) >> 8U) / (1 << 24) - 0.5;
    memset(velocity, 0, 3 * sizeof *velocity);
    *density = 1.0;
    if (!(from_wall > 0.0)) return;
    const double shape = c->speed * sin(kf_pi * (y - c->low) / (c->high - c->low));
    velocity[0] = c->speed * (log1p(0.384 * from_wall / c->cells * c->reynolds) / 0.384 + 6.0 + 4.0 * uneven);
    velocity[1] = shape * (2.0 * cos(k * z) * cos(0.5 * k * x) + 2.0 * uneven);
    velocity[2] = shape * (2.0 * sin(k * z + 0.3) + 2.0 * sin(0.5 * k * x) * cos(2.0 * k * z));
}

static kf_scene *make_channel(channel *c) {
    kf_scene *scene = kf_flow_box("channel", 6 * c->cells + 4, 2 * c->cells + PLATE, 3 * c->cells + 2,
                                  c->speed * c->cells / c->reynolds);
    c->low = 1.5;
    c->high = c->low + 2.0 * c->cells;
    scene->reference_speed = 20.0 * c->speed;
    scene->rate_rule = c->rule;
    scene->initial_state = channel_state;
    scene->initial_context = c;
    scene->wall_law = true;
    scene->body_force[0] = c->speed * c->speed / c->cells;
    for (int side = 0; side < 2; side++)
        kf_body_add_sheet(scene, (const double[2]){-20.0, side == 0 ? c->low : c->high},
                          (const double[2]){scene->nodes[0] + 40.0, 0.0});
    return scene;
}

/* The mean velocity between the walls; NAN when the flow blew up. */
static kf_status find_bulk(const kf_scene *scene, const channel *c, kf_plan *plan, double *bulk,
                           kf_error *error) {
    const size_t count = kf_flow_count(scene), nx = (size_t)scene->nodes[0], ny = (size_t)scene->nodes[1];
    double *values;
    KF_TRY(kf_kinetic_read(plan, &values, error));
    *bulk = isnan(kf_flow_energy(scene, values)) ? (double)NAN : 0.0;
    for (size_t n = 0; n < count; n++) {
        const double y = (double)(n / nx % ny);
        if (y > c->low && y < c->high) *bulk += values[count + n];
    }
    *bulk /= 2.0 * c->cells * (double)(count / ny);
    free(values);
    return KF_OK;
}

/* A channel comes to this: bulk velocity over friction velocity by the force on the walls, and that force
 * over what drives the flow. */
typedef struct outcome {
    double ratio, balance;
} outcome;

/* Runs a channel; means are over the later half. */
static kf_status run_channel(kf_validation *validation, channel *c, double turnovers, outcome *result,
                             kf_error *error) {
    enum { LOOKS = 20 };
    kf_scene *scene = make_channel(c);
    const uint64_t stretch = (uint64_t)(turnovers * c->cells / c->speed / LOOKS);
    double bulk = 0.0, traction = 0.0;
    kf_plan *plan = NULL;
    kf_status status = kf_body_link(scene, false, error);
    if (status == KF_OK) status = kf_kinetic_case_open(validation, scene, NULL, &plan, error);
    for (int look = 0; status == KF_OK && look < LOOKS && !isnan(bulk); look++) {
        kf_solid_load load;
        double now = 0.0;
        status = kf_flow_advance(validation, plan, stretch, error);
        if (status == KF_OK) status = plan->methods->flow->load(plan, &load, error);
        if (status == KF_OK) status = find_bulk(scene, c, plan, &now, error);
        if (status != KF_OK || (look < LOOKS / 2 && !isnan(now))) continue;
        bulk += now / (LOOKS / 2);
        traction += load.force[0] / (2.0 * scene->nodes[0] * scene->nodes[2] * (LOOKS / 2));
    }
    *result = (outcome){bulk / sqrt(traction), traction / (c->speed * c->speed)};
    kf_flow_close(plan);
    kf_scene_free(scene);
    return status;
}

/* A law of the wall at solids by links: its traction, and channels at a friction Reynolds number of 1000. */
kf_status kf_case_wall_law(kf_validation *validation, kf_error *error) {
    static const double speed = 0.0045, reynolds = 1000.0;
    channel channels[] = {
        {.label = "adaptive_2020, 10 cells a half height", .cells = 10, .rule = KF_RATE_ADAPTIVE_2020},
        {.label = "adaptive_2020, 20 cells a half height", .cells = 20, .rule = KF_RATE_ADAPTIVE_2020},
        {.label = "k17, 10 cells a half height", .cells = 10, .rule = KF_RATE_K17},
        {.label = "k17, 20 cells a half height", .cells = 20, .rule = KF_RATE_K17},
    };
    const bool quick = validation->quick;
    KF_TRY(check_stream(validation, error));
    for (size_t c = 0; c < (quick ? 1 : sizeof channels / sizeof *channels); c++) {
        char quantity[96];
        outcome result;
        channels[c].speed = speed;
        channels[c].reynolds = reynolds;
        KF_TRY(run_channel(validation, &channels[c], quick ? 6.0 : 40.0, &result, error));
        (void)snprintf(quantity, sizeof quantity, "channel at Re_tau 1000, %s: U_b over u_tau",
                       channels[c].label);
        kf_check_relative(validation, quantity, "Lee and Moser 2015", 20.0, result.ratio, quick ? 0.1 : 0.04);
        (void)snprintf(quantity, sizeof quantity, "the same: force on the walls, of what drives it");
        if (!quick) kf_check_relative(validation, quantity, "balance", 1.0, result.balance, 0.05);
    }
    return KF_OK;
}
