/* Water with a surface: at rest in a tank, and a column that collapses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "solver/sph/sph_cases.h"
#include "solver/validation/data.h"

/* ---- A tank at rest ---- */

/* Checks that water at rest in a tank with one kind of walls keeps the hydrostatic pressure, and stays at
 * rest. */
static kf_status run_tank(kf_validation *validation, const char *walls, double spacing, kf_error *error) {
    char text[1024], quantity[96];
    (void)snprintf(
        text, sizeof text,
        "{\"particles\": {\"dimensions\": 2, \"spacing\": %.17g}, \"box\": {\"size\": [1, 1.5], \"faces\": "
        "{\"xmin\": \"%s\", "
        "\"xmax\": \"%s\", \"ymin\": \"%s\"}}, \"gravity\": [0, -9.81], \"material\": {\"density\": 1000, "
        "\"sound_speed\": 40, "
        "\"viscosity\": 0.001}, \"model\": {\"artificial_viscosity\": 0.1, \"dummies_slip\": true}, "
        "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 1]}]}",
        spacing, walls, walls, walls);
    kf_sph_flow flow;
    kf_status status = kf_sph_open(validation, text, NULL, NULL, &flow, error);
    if (status == KF_OK) status = kf_sph_until(validation, &flow, 20.0 * sqrt(1.0 / 9.81), error);
    if (status == KF_OK) status = kf_sph_look(&flow, error);
    if (status == KF_OK) {
        double sum = 0.0;
        for (size_t k = 0; k < kf_sph_fluid(&flow); k++) {
            const double d = kf_sph_pressure(&flow, k) / 9810.0 - (1.0 - kf_sph_place(&flow, k, 1));
            sum += d * d;
        }
        (void)snprintf(quantity, sizeof quantity, "%s: pressure, L2 over rho g H", walls);
        kf_check_absolute(validation, quantity, "exact: rho g (H - y)", 0.0,
                          sqrt(sum / (double)kf_sph_fluid(&flow)), 0.01);
        (void)snprintf(quantity, sizeof quantity, "%s: kinetic energy over m g H", walls);
        kf_check_absolute(validation, quantity, "exact: rest", 0.0, kf_sph_kinetic(&flow) / 9810.0, 1e-4);
    }
    kf_sph_close(&flow);
    return status;
}

kf_status kf_case_sph_hydrostatic(kf_validation *validation, kf_error *error) {
    const double spacing = validation->quick ? 0.05 : 0.025;
    KF_TRY(run_tank(validation, "free_slip", spacing, error));
    return run_tank(validation, "dummies", spacing, error);
}

/* ---- Dam break ---- */

/* The tip of the water over the column's width of 1 m; Koshizuka and Oka 1996, as in DualSPHysics' example
 * 01. */
static const double tips[][2] = {{.1907, 1.244}, {.2663, 1.464}, {.3221, 1.695}, {.3681, 1.903},
                                 {.4140, 2.123}, {.4466, 2.365}, {.4958, 2.584}, {.5219, 2.804},
                                 {.5646, 3.034}, {.5940, 3.219}, {.6366, 3.462}, {.6693, 3.704},
                                 {.7021, 3.900}};
enum { TIPS = sizeof tips / sizeof tips[0] };

/* Returns the tip of the computed flow at a time, interpolated. */
static double tip_at(const double (*noted)[2], int count, double time) {
    int k = 1;
    while (k < count - 1 && noted[k][0] < time)
        k++;
    const double share = (time - noted[k - 1][0]) / (noted[k][0] - noted[k - 1][0]);
    return noted[k - 1][1] + share * (noted[k][1] - noted[k - 1][1]);
}

/* Returns the root mean square difference from the experiment, when the water is released `late` seconds
 * after the clock starts. */
static double tip_error(const double (*noted)[2], int count, double late) {
    double sum = 0.0, scale = 0.0;
    for (int k = 0; k < TIPS; k++) {
        const double d = tip_at(noted, count, tips[k][0] - late) - tips[k][1];
        sum += d * d;
        scale += tips[k][1] * tips[k][1];
    }
    return sqrt(sum / scale);
}

/* Returns the root mean square difference from the exact solution, until the exact tip reaches the far wall.
 */
static double potential_error(const double (*noted)[2], int count) {
    double sum = 0.0, scale = 0.0;
    for (int k = 0; k < KF_DAM_BREAK_TIPS && kf_dam_break_tip[k] < 3.9; k++) {
        const double exact = kf_dam_break_tip[k], d = tip_at(noted, count, k * KF_DAM_BREAK_SECONDS) - exact;
        sum += d * d;
        scale += exact * exact;
    }
    return sqrt(sum / scale);
}

static const char exact[] = "potential flow, boundary elements";
enum { NOTED = 71 };
typedef struct fall {
    double noted[NOTED][2]; /* time, tip */
    double density_free, density_stopped,
        /* The largest deviations before and after the wall, and the speed in m/s before it. */
        speed;
} fall;

/* Returns the pressure over the density directly after the release of the column at rest. It is that of the
 * potential flow, 0 at the top and the free side, by a series in x. */
static double first_pressure(double x, double y) {
    enum { TERMS = 200 };
    const double pi = acos(-1.0), gravity = 9.81, height = 2.0;
    double sum = 0.0;
    for (int k = 0; k < TERMS; k++) {
        const double n = 0.5 * pi * (2 * k + 1);
        /* The quotient is sinh(n (height - y)) / cosh(n height), whose parts would be too large. */
        const double share =
            exp(-n * y) * (1.0 - exp(-2.0 * n * (height - y))) / (1.0 + exp(-2.0 * n * height));
        sum += (k % 2 == 0 ? 2.0 : -2.0) / (n * n) * cos(n * x) * share;
    }
    return fmax(0.0, gravity * sum);
}

/* Sets the pressure of the released column. With the pressure of its weight, the sudden release would send
 * sound through the water, of more than 1 % in the corner. */
static void press(kf_particle_scene *scene) {
    for (size_t k = 0; k < scene->count - scene->wall_count; k++) {
        double place[2];
        for (int i = 0; i < 2; i++)
            place[i] = ((double)scene->position[3 * k + (size_t)i] - scene->origin[i]) * scene->spacing;
        const double pressure =
            first_pressure(place[0], place[1]) / (scene->sound_speed * scene->sound_speed);
        scene->deviation[k] = (float)(pow(1.0 + 7.0 * pressure, 1.0 / 7.0) - 1.0);
    }
}

/* Releases a column of water over a floor. Notes the tip of the wave over time, the largest speed, and the
 * largest density deviation before and after the wave hits the wall. */
static kf_status let_go(kf_validation *validation, const char *floor, fall *f, kf_error *error) {
    const double spacing = validation->gpu ? 0.005 : validation->quick ? 0.04 : 0.02;
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "{\"particles\": {\"dimensions\": 2, \"spacing\": %.17g}, \"box\": {\"size\": [4, 3], "
                   "\"faces\": {\"ymin\": \"%s\"}}, "
                   "\"gravity\": [0, -9.81], "
                   "\"material\": {\"density\": 1000, \"sound_speed\": 62.6, \"viscosity\": 0.001}, "
                   "\"fluid\": [{\"shape\": \"box\", \"low\": [0, 0], \"high\": [1, 2]}]}",
                   spacing, floor);
    kf_sph_flow flow;
    bool reached = false;
    kf_status status = kf_sph_open(validation, text, press, NULL, &flow, error);
    for (int k = 0; k < NOTED && status == KF_OK; k++) {
        double tip = 0.0, speed = 0.0;
        if (k > 0) status = kf_sph_until(validation, &flow, 0.01 * k + 0.0021, error);
        if (status == KF_OK) status = kf_sph_look(&flow, error);
        for (size_t i = 0; i < kf_sph_fluid(&flow) && status == KF_OK; i++) {
            if (kf_sph_place(&flow, i, 1) < 0.3) tip = fmax(tip, kf_sph_place(&flow, i, 0) + 0.5 * spacing);
            speed = fmax(speed, hypot(kf_sph_velocity(&flow, i, 0), kf_sph_velocity(&flow, i, 1)));
        }
        reached = reached || tip > 4.0 - 3.0 * spacing;
        if (!reached) f->speed = fmax(f->speed, speed);
        double *most = reached ? &f->density_stopped : &f->density_free;
        for (size_t i = 0; i < kf_sph_fluid(&flow) && status == KF_OK; i++)
            *most = fmax(*most, fabs((double)flow.values[i * KF_SPH_STATE_VALUES + 6]));
        f->noted[k][0] = flow.time;
        f->noted[k][1] = tip;
    }
    kf_sph_close(&flow);
    return status;
}

/* Compares with the experiment: on a floor of particles, which their artificial viscosity makes rough, and
 * behind the experiment's gate, which opens slowly. Without the gate the exact solution is 12 % ahead. */
static kf_status against_the_experiment(kf_validation *validation, const fall *smooth, fall *rough,
                                        kf_error *error) {
    static const char experiment[] = "Koshizuka & Oka, Nucl. Sci. Eng. 123 (1996) 421";
    double best = 0.0;
    KF_TRY(let_go(validation, "dummies", rough, error));
    for (int k = 0; k < 100; k++) {
        const double late = 0.001 * k;
        if (tip_error(smooth->noted, NOTED, late) < tip_error(smooth->noted, NOTED, best)) best = late;
    }
    kf_check_absolute(validation, "the same on a floor of particles", exact, 0.0,
                      potential_error(rough->noted, NOTED), 0.05);
    kf_check_absolute(validation, "a smooth floor, when the gate opens later than the clock starts",
                      experiment, 0.0, tip_error(smooth->noted, NOTED, best), 0.02);
    kf_check_absolute(validation, "a floor of particles and the same gate", experiment, 0.0,
                      tip_error(rough->noted, NOTED, best), 0.05);
    kf_check_at_most(validation, "how much later, s", "a gate that is drawn up", 0.06, best, 0.0);
    return KF_OK;
}

/* Compares water without friction with the potential flow. The density of a freely moving fluid changes by (v
 * / c)^2, and that of a stopped one by v / c (Joukowsky). */
kf_status kf_case_sph_dam_break(kf_validation *validation, kf_error *error) {
    fall smooth = {0}, rough = {0};
    KF_TRY(let_go(validation, "free_slip", &smooth, error));
    kf_check_absolute(validation, "tip of the water until it reaches the wall, rms", exact, 0.0,
                      potential_error(smooth.noted, NOTED), 0.01);
    if (!validation->quick) KF_TRY(against_the_experiment(validation, &smooth, &rough, error));
    kf_check_at_most(validation, "largest deviation of the density until then",
                     "a fall at a tenth of the speed of sound", 0.01,
                     fmax(smooth.density_free, rough.density_free), 0.0);
    kf_check_at_most(validation, "the same once it is there",
                     "Joukowsky: its fastest over the speed of sound", smooth.speed / 62.6,
                     fmax(smooth.density_stopped, rough.density_stopped), 0.0);
    return KF_OK;
}
