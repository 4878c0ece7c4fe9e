/* Turbulent channels along walls with a law. */
#include "solver/kinetic/kinetic_layers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/kinetic/kinetic_cases.h"
#include "solver/validation/body.h"

/* The minimum distance in cells between a channel and its image. */
enum { PLATE = 4 };
static const double BULK = 0.09;

/* A channel between two sheets of a periodic box. */
typedef struct channel {
    /* Cells per half height. */
    int cells;
    /* The friction velocity of the driving force, and the Reynolds number with it and the half height. */
    double speed, reynolds;
    double along[2], across[2];
    /* A point half-way between the walls. */
    double start[2];
    /* The distance from a channel to its image. */
    double period;
    /* The length of a wall in the box. */
    double length;
} channel;

/* Returns the distance from the wall, which is negative outside the channel. */
static double from_wall(const channel *c, double x, double y) {
    double out = (x - c->start[0]) * c->across[0] + (y - c->start[1]) * c->across[1];
    out -= c->period * floor(out / c->period + 0.5);
    return c->cells - fabs(out);
}

/* Sets a logarithmic profile with large waves and a small asymmetric part. */
static void channel_state(const void *context, int x, int y, int z, double *density, double velocity[3]) {
    const channel *c = context;
    const double high = from_wall(c, x, y), k = 2.0 * kf_pi / c->cells;
    const double s = x * c->along[0] + y * c->along[1];
    const uint32_t number = (uint32_t)x * 73856093U ^ (uint32_t)y * 19349663U ^ (uint32_t)z * 83492791U;
    const double uneven = (double)((number * 2654435761U) >> 8U) / (1 << 24) - 0.5;
    memset(velocity, 0, 3 * sizeof *velocity);
    *density = 1.0;
    if (!(high > 0.0)) return;
    const double shape = c->speed * sin(0.5 * kf_pi * high / c->cells);
    const double u = c->speed * (log1p(0.384 * high / c->cells * c->reynolds) / 0.384 + 6.0 + 4.0 * uneven),
                 v = shape * (2.0 * cos(k * z) * cos(0.5 * k * s) + 2.0 * uneven);
    for (int a = 0; a < 2; a++)
        velocity[a] = u * c->along[a] + v * c->across[a];
    velocity[2] = shape * (2.0 * sin(k * z + 0.3) + 2.0 * sin(0.5 * k * s) * cos(2.0 * k * z));
}

/* Sets the position of the channel and the nodes of its box. Along (2, 1, 0) a box of 2 n by n contains one
 * channel. */
static void lay_out(channel *c, kf_channel_place place, int nodes[3]) {
    const double root = sqrt(5.0);
    const bool turned = place == KF_CHANNEL_TURNED;
    nodes[0] = 6 * c->cells + 4;
    nodes[1] = 2 * c->cells + PLATE;
    nodes[2] = 3 * c->cells + 2;
    if (turned) {
        nodes[1] = (int)ceil(0.5 * root * nodes[1]);
        nodes[0] = 2 * nodes[1];
    }
    c->along[0] = c->across[1] = turned ? 2.0 / root : 1.0;
    c->along[1] = turned ? 1.0 / root : 0.0;
    c->across[0] = -c->along[1];
    c->start[0] = turned ? 0.13 : 0.0;
    c->start[1] = turned ? 0.29 : c->cells + (place == KF_CHANNEL_BETWEEN ? 1.5 : 1.0);
    c->period = turned ? nodes[0] / root : nodes[1];
    c->length = turned ? nodes[1] * root : nodes[0];
}

/* Makes a channel between two sheets that stand as `place` says. The body force balances the friction of the
 * walls. */
static kf_scene *make_channel(channel *c, kf_channel_place place, kf_rate_rule rule) {
    int nodes[3];
    lay_out(c, place, nodes);
    kf_scene *scene = kf_flow_box("channel", nodes[0], nodes[1], nodes[2], c->speed * c->cells / c->reynolds);
    scene->reference_speed = BULK;
    scene->rate_rule = rule;
    scene->initial_state = channel_state;
    scene->initial_context = c;
    scene->wall_law = true;
    for (int a = 0; a < 2; a++)
        scene->body_force[a] = c->speed * c->speed / c->cells * c->along[a];
    for (int side = -1; side <= 1; side += 2) {
        const double far = c->length + 20.0, out = side * c->cells;
        kf_body_add_sheet(scene,
                          (const double[2]){c->start[0] + out * c->across[0] - far * c->along[0],
                                            c->start[1] + out * c->across[1] - far * c->along[1]},
                          (const double[2]){3.0 * far * c->along[0], 3.0 * far * c->along[1]});
    }
    return scene;
}

/* Computes the mean velocity between the walls; NAN when the flow diverged. */
static kf_status find_bulk(const kf_scene *scene, const channel *c, kf_plan *plan, double *bulk,
                           kf_error *error) {
    const size_t count = kf_flow_count(scene), nx = (size_t)scene->nodes[0], ny = (size_t)scene->nodes[1];
    double *values;
    KF_TRY(kf_kinetic_read(plan, &values, error));
    *bulk = isnan(kf_flow_energy(scene, values)) ? (double)NAN : 0.0;
    size_t between = 0;
    for (size_t n = 0; n < count; n++) {
        if (!(from_wall(c, (double)(n % nx), (double)(n / nx % ny)) > 0.0)) continue;
        *bulk += values[count + n] * c->along[0] + values[2 * count + n] * c->along[1];
        between++;
    }
    *bulk /= (double)between;
    free(values);
    return KF_OK;
}

/* The result of a channel: bulk velocity over the friction velocity of the force on the walls, and that force
 * over the driving force. */
typedef struct outcome {
    double ratio, balance;
} outcome;

/* Runs a channel. Means are over the later half. */
static kf_status run_channel(kf_validation *validation, const channel *c, kf_scene *scene, double turnovers,
                             outcome *result, kf_error *error) {
    enum { LOOKS = 80, COUNTED = LOOKS / 2 };
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
        if (status != KF_OK || (look < LOOKS - COUNTED && !isnan(now))) continue;
        bulk += now / COUNTED;
        traction += (load.force[0] * c->along[0] + load.force[1] * c->along[1]) /
                    (2.0 * c->length * scene->nodes[2] * COUNTED);
    }
    *result = (outcome){bulk / sqrt(traction), traction / (c->speed * c->speed)};
    kf_flow_close(plan);
    return status;
}

kf_status kf_check_channel(kf_validation *validation, kf_channel_place place, double reynolds, int cells,
                           kf_rate_rule rule, double turnovers, kf_error *error) {
    static const char *const places[KF_CHANNEL_PLACES] = {"walls between nodes", "walls on nodes",
                                                          "turned by 26.6 degrees"};
    const double published = reynolds > 2000.0 ? 24.1 : 20.0;
    const bool quick = turnovers < 20.0;
    channel c = {.cells = cells, .speed = BULK / published, .reynolds = reynolds};
    char quantity[128];
    outcome result;
    kf_scene *scene = make_channel(&c, place, rule);
    const kf_status status = run_channel(validation, &c, scene, turnovers, &result, error);
    kf_scene_free(scene);
    KF_TRY(status);
    (void)snprintf(quantity, sizeof quantity, "channel at Re_tau %.0f, %s, %d cells, %s: U_b over u_tau",
                   reynolds, places[place], cells, kf_rate_rule_names[rule]);
    kf_check_relative(validation, quantity, "Lee and Moser 2015", published, result.ratio,
                      quick ? 0.1 : 0.04);
    if (quick) return KF_OK;
    kf_check_relative(validation, "the same: force on the walls, of what drives it", "balance", 1.0,
                      result.balance, 0.05);
    return KF_OK;
}
