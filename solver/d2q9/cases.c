/* Validation cases of the d2q9 system (solver/validation). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/util/text.h"
#include "solver/d2q9/cases.h"
#include "solver/validation/flow.h"
#include "solver/validation/profile.h"

static const char ghia_source[] = "Ghia, Ghia & Shin, J. Comput. Phys. 48 (1982) 387, tables I and II";
static const char botella_source[] = "Botella & Peyret, Comput. Fluids 27 (1998) 421, tables 9 and 10";
static const char channel_source[] = "Schaefer & Turek 1996, case 2D-2";

typedef struct flow {
    kf_scene *scene;
    kf_plan *plan;
} flow;

static void close_flow(flow *opened) {
    kf_plan_free(opened->plan);
    kf_scene_free(opened->scene);
}

static kf_status open_plan(const kf_validation *validation, const char *const *overrides, flow *opened,
                           kf_error *error) {
    kf_config config;
    KF_TRY(validation->configure(validation, &kf_system_d2q9, opened->scene, overrides, &config, error));
    KF_TRY(kf_system_d2q9.plan(opened->scene, &config, validation->backend, &opened->plan, error));
    return kf_plan_initialise(opened->plan, error);
}

/* A shipped scene on another grid, and its plan; close_flow in either case. */
static kf_status open_flow(const kf_validation *validation, const char *name, int nx, int ny,
                           const char *const *overrides, flow *opened, kf_error *error) {
    const kf_scene_options options = {.nodes = {nx, ny, 1}};
    memset(opened, 0, sizeof *opened);
    KF_TRY(kf_scene_open(name, &options, &opened->scene, error));
    return open_plan(validation, overrides, opened, error);
}

/* --- Poiseuille -------------------------------------------------------------------------------------------
 */

/* With Eq. 9's rates half-way bounce back puts walls exactly half-way, and the parabola is met to rounding.
 */
kf_status kf_case_d2q9_poiseuille(kf_validation *validation, kf_error *error) {
    enum { NODES = 15, STEPS = 12000 };
    const double viscosity = 0.1, force = 1e-5;
    static const char *const overrides[] = {"storage=f64", NULL};
    flow channel = {.scene = kf_flow_box("poiseuille", 4, NODES, 1, viscosity)};
    channel.scene->faces[KF_YMIN] = channel.scene->faces[KF_YMAX] = KF_WALL;
    channel.scene->collision = KF_MRT_LINEAR;
    channel.scene->body_force[0] = force;
    kf_status status = open_plan(validation, overrides, &channel, error);
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
    close_flow(&channel);
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
    {botella_source, "u along x = 1/2", 0, KF_BOTELLA_U, kf_botella_u_1000, 0.005},
    {botella_source, "v along y = 1/2", 1, KF_BOTELLA_V, kf_botella_v_1000, 0.005},
    {ghia_source, "u along x = 1/2", 0, KF_GHIA_U, kf_ghia_u_1000, 0.01},
    {ghia_source, "v along y = 1/2, x < 0.9", 1, KF_GHIA_V_1000_GOOD, kf_ghia_v_1000, 0.01},
};
enum { PROFILES = sizeof profiles / sizeof profiles[0] };

kf_status kf_case_d2q9_cavity(kf_validation *validation, kf_error *error) {
    const int n = validation->gpu ? 512 : validation->quick ? 64 : 128;
    const double turnovers = validation->quick ? 40 : 80, margin = n < 128 ? 4.0 : 1.0;
    char quantity[96];
    flow cavity;
    double *values = NULL;
    kf_status status = open_flow(validation, "cavity2d", n, n, NULL, &cavity, error);
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
    close_flow(&cavity);
    return status;
}

/* --- square array of cylinders (section 7 of the paper) ----------------------------------------------------
 */

/* Eq. 16: Sangani & Acrivos. */
static double drag_factor(double fraction) {
    return -0.5 * log(fraction) - 0.738 + fraction - 0.887 * pow(fraction, 2) + 2.039 * pow(fraction, 3) -
           2.421 * pow(fraction, 4);
}

static kf_status darcy_velocity(kf_plan *plan, double *velocity, kf_error *error) {
    double *values;
    size_t count = (size_t)plan->scene->nodes[0] * (size_t)plan->scene->nodes[1];
    KF_TRY(kf_d2q9_read(plan, &values, error));
    *velocity = 0;
    for (size_t n = 0; n < count; n++)
        *velocity += values[count + n];
    *velocity /= (double)count;
    free(values);
    return KF_OK;
}

static double solid_fraction(const kf_scene *scene) {
    size_t count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1], solid = 0;
    for (size_t n = 0; n < count; n++)
        solid += scene->mask[n] == KF_NODE_SOLID;
    return (double)solid / (double)count;
}

/* Runs until the flow is steady. */
static kf_status settle_array(const kf_validation *validation, const flow *array, int n,
                              kf_array_errors *errors, kf_error *error) {
    enum { OBSTACLES = 324, ROUNDS = 60 };
    const double exact = kf_pi * 0.04, viscosity = array->scene->viscosity, spacing = n / 18.0;
    double velocity = 0, before = 0;
    /* Flow through the gaps settles within a few spacing^2 / viscosity / pi^2 steps. */
    const uint64_t steps = (uint64_t)(0.25 * spacing * spacing / viscosity) + 16;
    for (int round = 0; round < ROUNDS; round++) {
        KF_TRY(kf_flow_advance(validation, array->plan, steps, error));
        KF_TRY(darcy_velocity(array->plan, &velocity, error));
        if (fabs(velocity - before) < 1e-5 * fabs(velocity)) break;
        before = velocity;
    }
    kf_solid_load load;
    KF_TRY(array->plan->methods->load(array->plan, &load, error));
    double driving = array->scene->body_force[0] * n * n;
    double k = 4.0 * kf_pi * viscosity * velocity / (driving / OBSTACLES);
    errors->fraction = fabs(solid_fraction(array->scene) / exact - 1.0);
    errors->k = fabs(k / drag_factor(exact) - 1.0);
    errors->force = fabs(load.force[0] / driving - 1.0);
    return KF_OK;
}

/* Errors as Table 4 gives them: of the solid fraction, and of k from Eq. 15 with the analytic force on one
 * obstacle, a^2 g. force_error: of the momentum exchange against the force that drives the flow. */
kf_status kf_d2q9_array_errors(const kf_validation *validation, int n, kf_array_errors *errors,
                               kf_error *error) {
    flow array;
    kf_status status = open_flow(validation, "cylinder_array2d", n, n, NULL, &array, error);
    if (status == KF_OK) status = settle_array(validation, &array, n, errors, error);
    close_flow(&array);
    return status;
}

kf_status kf_case_d2q9_array(kf_validation *validation, kf_error *error) {
    const int n = validation->gpu ? 1024 : 256;
    char quantity[96];
    kf_array_errors errors;
    KF_TRY(kf_d2q9_array_errors(validation, n, &errors, error));
    (void)snprintf(quantity, sizeof quantity, "%d^2: relative error of the solid fraction", n);
    kf_check_absolute(validation, quantity, "pi r^2 / a^2 (Eq. 14 of Toelke 2008)", 0.0, errors.fraction,
                      0.02);
    (void)snprintf(quantity, sizeof quantity, "%d^2: relative error of the drag factor k", n);
    kf_check_absolute(validation, quantity, "Sangani & Acrivos 1982 (Eq. 16 of Toelke 2008)", 0.0, errors.k,
                      n <= 256 ? 0.04 : 0.02);
    (void)snprintf(quantity, sizeof quantity, "%d^2: force by momentum exchange / driving force - 1", n);
    kf_check_absolute(validation, quantity, "conservation of momentum", 0.0, errors.force, 1e-3);
    return KF_OK;
}

/* --- cylinder in a channel --------------------------------------------------------------------------------
 */

typedef struct shedding {
    double strouhal, drag, lift; /* lift: largest amplitude */
} shedding;

/* Force coefficients are sampled over the last periods; the frequency comes from the lift's upward crossings
 * of its mean. */
static kf_status sample_shedding(const kf_validation *validation, flow *channel, uint64_t stride, int samples,
                                 shedding *result, kf_error *error) {
    double *lift = kf_allocate((size_t)samples * sizeof *lift), mean = 0;
    double diameter = channel->scene->reference_length, speed = channel->scene->reference_speed;
    double scale = 0.5 * speed * speed * diameter;
    kf_status status = KF_OK;
    result->drag = 0;
    for (int s = 0; s < samples && status == KF_OK; s++) {
        kf_solid_load load = {{0}, {0}};
        status = kf_flow_advance(validation, channel->plan, stride, error);
        if (status == KF_OK) status = channel->plan->methods->load(channel->plan, &load, error);
        lift[s] = load.force[1] / scale;
        mean += lift[s] / samples;
        result->drag = fmax(result->drag, load.force[0] / scale);
    }
    double first = -1, last = -1;
    int periods = 0;
    result->lift = 0;
    for (int s = 0; s < samples && status == KF_OK; s++) {
        result->lift = fmax(result->lift, lift[s]);
        if (s == 0 || lift[s - 1] >= mean || lift[s] < mean) continue;
        last = s - 1 + (mean - lift[s - 1]) / (lift[s] - lift[s - 1]);
        if (first < 0)
            first = last;
        else
            periods++;
    }
    result->strouhal =
        periods > 0 ? periods / ((last - first) * (double)stride) * diameter / speed : (double)NAN;
    free(lift);
    return status;
}

kf_status kf_case_d2q9_channel(kf_validation *validation, kf_error *error) {
    enum { SAMPLES_A_PERIOD = 40, SAMPLED = 6 };
    const int cells = validation->gpu ? 40 : validation->quick ? 10 : 20; /* across the cylinder */
    const double staircase = 1.0 / cells;                                 /* the circle is made of squares */
    flow channel;
    shedding result = {0};
    char quantity[96];
    kf_status status =
        open_flow(validation, "cylinder2d", 22 * cells, (41 * cells + 5) / 10, NULL, &channel, error);
    if (status == KF_OK) {
        double period = cells / (0.3 * channel.scene->reference_speed);
        status = kf_flow_advance(validation, channel.plan, (uint64_t)(24 * period), error);
        if (status == KF_OK)
            status = sample_shedding(validation, &channel, (uint64_t)(period / SAMPLES_A_PERIOD),
                                     SAMPLES_A_PERIOD * SAMPLED, &result, error);
    }
    if (status == KF_OK) {
        (void)snprintf(quantity, sizeof quantity, "Re 100, %d cells across: Strouhal number", cells);
        kf_check_relative(validation, quantity, channel_source, 0.300, result.strouhal, 0.8 * staircase);
        (void)snprintf(quantity, sizeof quantity, "Re 100, %d cells across: largest drag coefficient", cells);
        kf_check_relative(validation, quantity, channel_source, 3.23, result.drag, 1.6 * staircase);
        (void)snprintf(quantity, sizeof quantity, "Re 100, %d cells across: largest lift coefficient", cells);
        kf_check_relative(validation, quantity, channel_source, 1.00, result.lift, 4.0 * staircase);
    }
    close_flow(&channel);
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
