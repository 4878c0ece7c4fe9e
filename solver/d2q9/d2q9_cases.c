/* Validation cases of the d2q9 system (solver/validation): exact and published flows between walls. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "solver/d2q9/d2q9_cases.h"
#include "solver/flow/flow_plan.h"
#include "solver/validation/flow.h"
#include "solver/validation/profile.h"

static const char ghia_source[] = "Ghia, Ghia & Shin, J. Comput. Phys. 48 (1982) 387, tables I and II";
static const char botella_source[] = "Botella & Peyret, Comput. Fluids 27 (1998) 421, tables 9 and 10";

void kf_d2q9_close_flow(kf_d2q9_flow *flow) {
    kf_plan_free(flow->plan);
    kf_problem_free(flow->problem);
    kf_scene_free(flow->scene);
}

kf_status kf_d2q9_open_plan(const kf_validation *validation, const char *const *overrides, kf_d2q9_flow *flow,
                            kf_error *error) {
    kf_config config;
    flow->scene->accuracy = validation->accuracy;
    flow->problem = kf_flow_problem(&kf_system_d2q9, flow->scene, false);
    KF_TRY(kf_validation_configure(validation, flow->problem, overrides, &config, error));
    KF_TRY(kf_system_d2q9.plan(flow->problem, &config, validation->backend, &flow->plan, error));
    return kf_plan_initialise(flow->plan, error);
}

kf_status kf_d2q9_open_flow(const kf_validation *validation, const char *name, int nx, int ny,
                            const char *const *overrides, kf_d2q9_flow *flow, kf_error *error) {
    const kf_scene_options options = {.nodes = {nx, ny, 1}};
    memset(flow, 0, sizeof *flow);
    KF_TRY(kf_scene_open(name, &options, &flow->scene, error));
    return kf_d2q9_open_plan(validation, overrides, flow, error);
}

/* --- Poiseuille -------------------------------------------------------------------------------------------
 */

/* Returns the largest deviation of a column's velocity from the parabola of a force, over the parabola's
 * maximum. */
static double parabola_deviation(const kf_scene *scene, const double *values, size_t column, double force) {
    const size_t nx = (size_t)scene->nodes[0], ny = (size_t)scene->nodes[1];
    const double scale = force / (2.0 * scene->viscosity), width = (double)ny;
    double largest = 0;
    for (size_t y = 0; y < ny; y++) {
        const double height = (double)y + 0.5, exact = scale * height * (width - height);
        const double error = fabs(values[nx * (ny + y) + column] - exact) / (0.25 * scale * width * width);
        largest = error <= largest ? largest : error; /* keeps NaN */
    }
    return largest;
}

/* Makes a channel along x between walls, with fluid at rest. */
static kf_scene *make_channel(int nx, int ny, double viscosity) {
    kf_scene *scene = kf_flow_box("poiseuille", nx, ny, 1, viscosity);
    scene->faces[KF_YMIN] = scene->faces[KF_YMAX] = KF_WALL;
    scene->collision = KF_MRT_LINEAR;
    return scene;
}

/* Checks a flow driven by open nodes at both ends with different densities. */
static kf_status check_pressure(kf_validation *validation, kf_error *error) {
    enum { NX = 40, NY = 15, STEPS = 12000 };
    static const char *const overrides[] = {"storage=f64", NULL};
    const double difference = 1e-3;
    kf_d2q9_flow channel = {.scene = make_channel(NX, NY, 0.1)};
    kf_scene *scene = channel.scene;
    /* Behind the open nodes. */
    scene->faces[KF_XMIN] = scene->faces[KF_XMAX] = KF_WALL;
    scene->mask = kf_allocate_zeroed(NX * NY, 1);
    for (size_t y = 0; y < NY; y++) {
        scene->mask[NX * y] = KF_NODE_INFLOW;
        scene->mask[NX * y + NX - 1] = KF_NODE_OUTFLOW;
    }
    scene->mask_has_pressure = true;
    scene->mask_density = difference;
    double *values = NULL;
    kf_status status = kf_d2q9_open_plan(validation, overrides, &channel, error);
    if (status == KF_OK) status = kf_flow_advance(validation, channel.plan, STEPS, error);
    if (status == KF_OK) status = kf_d2q9_read(channel.plan, &values, error);
    if (status == KF_OK)
        kf_check_absolute(validation, "driven by pressure: deviation from the parabola / its maximum",
                          "exact solution", 0.0,
                          parabola_deviation(scene, values, NX / 2, difference / 3.0 / (NX - 1)), 1e-3);
    free(values);
    kf_d2q9_close_flow(&channel);
    return status;
}

/* Checks a channel. With the rates of Eq. 9 half-way bounce back puts walls exactly half-way, and the
 * parabola is reached to rounding. */
kf_status kf_case_d2q9_poiseuille(kf_validation *validation, kf_error *error) {
    enum { NODES = 15, STEPS = 12000 };
    static const char *const overrides[] = {"storage=f64", NULL};
    const double force = 1e-5;
    kf_d2q9_flow channel = {.scene = make_channel(4, NODES, 0.1)};
    channel.scene->body_force[0] = force;
    kf_status status = kf_d2q9_open_plan(validation, overrides, &channel, error);
    if (status == KF_OK) status = kf_flow_advance(validation, channel.plan, STEPS, error);
    double *values = NULL;
    if (status == KF_OK) status = kf_d2q9_read(channel.plan, &values, error);
    if (status == KF_OK)
        kf_check_absolute(validation, "driven by a force: deviation from the parabola / its maximum",
                          "exact solution; Ginzburg & d'Humieres 2003", 0.0,
                          parabola_deviation(channel.scene, values, 0, force), 1e-6);
    free(values);
    kf_d2q9_close_flow(&channel);
    return status == KF_OK ? check_pressure(validation, error) : status;
}

/* --- Cavity -----------------------------------------------------------------------------------------------
 */

/* Published profiles of u (component 0) and v. Ghia's v ends before the boundary layer at x = 1 (data.h). The
 * error of the scheme falls with the square of the spacing: 0.0031 at 128^2, 0.0007 at 256^2. */
typedef struct profile_table {
    const char *source, *quantity;
    int component, count;
    const kf_profile_point *points;
    /* At 128^2 and finer. */
    double bound;
} profile_table;
static const profile_table profiles[] = {
    {botella_source, "u along x = 1/2 against Botella", 0, KF_BOTELLA_U, kf_botella_u_1000, 0.005},
    {botella_source, "v along y = 1/2 against Botella", 1, KF_BOTELLA_V, kf_botella_v_1000, 0.005},
    {ghia_source, "u along x = 1/2 against Ghia", 0, KF_GHIA_U, kf_ghia_u_1000, 0.01},
    {ghia_source, "v along y = 1/2 against Ghia, x < 0.9", 1, KF_GHIA_V_1000_GOOD, kf_ghia_v_1000, 0.01},
};
enum { PROFILES = sizeof profiles / sizeof profiles[0] };

/* Compares the lid-driven cavity at Reynolds number 1000 with published profiles of its velocity. */
static kf_status cavity(kf_validation *validation, kf_error *error) {
    const int n = validation->gpu ? 512 : validation->quick ? 64 : 128;
    const double turnovers = validation->quick ? 40 : 80, margin = n < 128 ? 4.0 : 1.0;
    char quantity[96];
    kf_d2q9_flow cavity;
    double *values = NULL;
    kf_status status = kf_d2q9_open_flow(validation, "cavity2d", n, n, NULL, &cavity, error);
    if (status == KF_OK)
        status = kf_flow_advance(validation, cavity.plan,
                                 (uint64_t)(turnovers * n / cavity.scene->reference_speed), error);
    if (status == KF_OK) status = kf_d2q9_read(cavity.plan, &values, error);
    for (int i = 0; i < PROFILES && status == KF_OK; i++) {
        const profile_table *p = &profiles[i];
        (void)snprintf(quantity, sizeof quantity, "Re 1000, %d^2: %s, largest deviation / lid speed", n,
                       p->quantity);
        kf_check_absolute(validation, quantity, p->source, 0.0,
                          kf_profile_deviation(cavity.scene, values, p->component,
                                               cavity.scene->face_velocity[KF_YMAX][0], p->points, p->count),
                          margin * p->bound);
    }
    free(values);
    kf_d2q9_close_flow(&cavity);
    return status;
}

const kf_case kf_d2q9_cases[] = {
    {"d2q9-poiseuille", "channel driven by a force or by pressure: the parabola", false,
     kf_case_d2q9_poiseuille, 0},
    {"d2q9-cavity", "lid-driven cavity at Re 1000: published profiles", false, cavity, 0},
    {"d2q9-array", "Stokes flow through a square array of cylinders: drag factor", false, kf_case_d2q9_array,
     KF_LEFT_TO_STORAGE},
    {"d2q9-channel", "cylinder in a channel at Re 100: shedding frequency, drag, lift", false,
     kf_case_d2q9_channel, KF_LEFT_TO_STORAGE},
    {NULL, NULL, false, NULL, 0},
};
