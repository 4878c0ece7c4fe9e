/* Validation cases of the d2q9 system (solver/validation): exact and published flows between walls. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/util/file.h"
#include "solver/d2q9/cases.h"
#include "solver/output/picture.h"
#include "solver/validation/flow.h"
#include "solver/validation/profile.h"

static const char ghia_source[] = "Ghia, Ghia & Shin, J. Comput. Phys. 48 (1982) 387, tables I and II";
static const char botella_source[] = "Botella & Peyret, Comput. Fluids 27 (1998) 421, tables 9 and 10";

void kf_d2q9_close_flow(kf_d2q9_flow *flow) {
    kf_plan_free(flow->plan);
    kf_scene_free(flow->scene);
}

kf_status kf_d2q9_open_plan(const kf_validation *validation, const char *const *overrides, kf_d2q9_flow *flow,
                            kf_error *error) {
    kf_config config;
    KF_TRY(validation->configure(validation, &kf_system_d2q9, flow->scene, overrides, &config, error));
    KF_TRY(kf_system_d2q9.plan(flow->scene, &config, validation->backend, &flow->plan, error));
    return kf_plan_initialise(flow->plan, error);
}

kf_status kf_d2q9_open_flow(const kf_validation *validation, const char *name, int nx, int ny,
                            const char *const *overrides, kf_d2q9_flow *flow, kf_error *error) {
    const kf_scene_options options = {.nodes = {nx, ny, 1}};
    memset(flow, 0, sizeof *flow);
    KF_TRY(kf_scene_open(name, &options, &flow->scene, error));
    return kf_d2q9_open_plan(validation, overrides, flow, error);
}

kf_status kf_d2q9_draw(const kf_validation *validation, const kf_d2q9_flow *flow, const char *name,
                       kf_error *error) {
    char path[KF_PATH];
    kf_fields fields = {0};
    if (validation->pictures == NULL) return KF_OK;
    KF_TRY(kf_path(path, error, "%s/%s.png", validation->pictures, name));
    KF_TRY(flow->plan->methods->fields(flow->plan, &fields, error));
    kf_status status =
        kf_picture_write(path, flow->scene, &fields, flow->plan->steps_done, KF_AXIS_AUTO, error);
    kf_fields_free(&fields);
    return status;
}

/* --- Poiseuille -------------------------------------------------------------------------------------------
 */

/* With Eq. 9's rates half-way bounce back puts walls exactly half-way, and the parabola is met to rounding.
 */
kf_status kf_case_d2q9_poiseuille(kf_validation *validation, kf_error *error) {
    enum { NODES = 15, STEPS = 12000 };
    const double viscosity = 0.1, force = 1e-5;
    static const char *const overrides[] = {"storage=f64", NULL};
    kf_d2q9_flow channel = {.scene = kf_flow_box("poiseuille", 4, NODES, 1, viscosity)};
    channel.scene->faces[KF_YMIN] = channel.scene->faces[KF_YMAX] = KF_WALL;
    channel.scene->collision = KF_MRT_LINEAR;
    channel.scene->body_force[0] = force;
    kf_status status = kf_d2q9_open_plan(validation, overrides, &channel, error);
    if (status == KF_OK) status = kf_flow_advance(validation, channel.plan, STEPS, error);
    double *values = NULL;
    if (status == KF_OK) status = kf_d2q9_read(channel.plan, &values, error);
    if (status == KF_OK) {
        double largest = 0, middle = force / (2.0 * viscosity) * 0.25 * NODES * NODES;
        for (size_t y = 0; y < NODES; y++) {
            double height = (double)y + 0.5, exact = force / (2.0 * viscosity) * height * (NODES - height);
            double error_here = fabs(values[4 * NODES + 4 * y] - exact) / middle;
            largest = error_here <= largest ? largest : error_here;
        }
        kf_check_absolute(validation, "largest deviation from the parabola / its maximum",
                          "exact solution; Ginzburg & d'Humieres 2003", 0.0, largest, 1e-6);
    }
    free(values);
    kf_d2q9_close_flow(&channel);
    return status;
}

/* --- cavity -----------------------------------------------------------------------------------------------
 */

/* What the profiles of u (component 0) and v are held against. Ghia's v ends before the boundary layer at x =
 * 1 (data.h). The scheme's error falls with the square of the spacing: 0.0031 at 128^2, 0.0007 at 256^2. */
typedef struct profile_table {
    const char *source, *quantity;
    int component, count;
    const kf_profile_point *points;
    double bound; /* at 128^2 and finer */
} profile_table;
static const profile_table profiles[] = {
    {botella_source, "u along x = 1/2 against Botella", 0, KF_BOTELLA_U, kf_botella_u_1000, 0.005},
    {botella_source, "v along y = 1/2 against Botella", 1, KF_BOTELLA_V, kf_botella_v_1000, 0.005},
    {ghia_source, "u along x = 1/2 against Ghia", 0, KF_GHIA_U, kf_ghia_u_1000, 0.01},
    {ghia_source, "v along y = 1/2 against Ghia, x < 0.9", 1, KF_GHIA_V_1000_GOOD, kf_ghia_v_1000, 0.01},
};
enum { PROFILES = sizeof profiles / sizeof profiles[0] };

kf_status kf_case_d2q9_cavity(kf_validation *validation, kf_error *error) {
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
    {"d2q9-poiseuille", "channel driven by a force: the parabola, exactly", false, kf_case_d2q9_poiseuille},
    {"d2q9-cavity", "lid-driven cavity at Re 1000: published profiles", false, kf_case_d2q9_cavity},
    {"d2q9-array", "Stokes flow through a square array of cylinders: drag factor", false, kf_case_d2q9_array},
    {"d2q9-channel", "cylinder in a channel at Re 100: shedding frequency, drag, lift", false,
     kf_case_d2q9_channel},
    {NULL, NULL, false, NULL},
};
