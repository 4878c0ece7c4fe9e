/* Lid-driven cavities: walls, a moving wall, corners, steady recirculation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "solver/kinetic/kinetic_cases.h"
#include "solver/validation/profile.h"

static const char ghia_source[] = "Ghia, Ghia & Shin, J. Comput. Phys. 48 (1982) 387, tables I and II";
static const char botella_source[] = "Botella & Peyret, Comput. Fluids 27 (1998) 421, tables 9 and 10";
static const char albensoeder_source[] = "Albensoeder & Kuhlmann, J. Comput. Phys. 206 (2005) 536";

typedef struct cavity {
    int nodes;
    bool cube;
    /* The lid's speed; the run time in units of nodes / lid. */
    double lid, reynolds, turnovers;
} cavity;

/* Returns the smallest (sign -1) or largest (+1) value on the centre line. */
static double extremum(const kf_scene *scene, const double *values, int component, double lid, double sign) {
    double best = 0;
    for (int i = 20; i < 980; i++) {
        const double here = kf_profile_velocity(scene, values, component, i / 1000.0, lid);
        if (sign * here > sign * best) best = here;
    }
    return best;
}

static kf_status run_cavity(const kf_validation *validation, const cavity *c, kf_scene **scene,
                            double **values, kf_error *error) {
    *scene =
        kf_flow_box("cavity", c->nodes, c->nodes, c->cube ? c->nodes : 1, c->lid * c->nodes / c->reynolds);
    for (int face = 0; face < (c->cube ? 6 : 4); face++)
        (*scene)->faces[face] = KF_WALL;
    (*scene)->face_velocity[KF_YMAX][0] = c->lid;
    (*scene)->reynolds = c->reynolds;
    char name[32];
    (void)snprintf(name, sizeof name, "cavity_%s_%g", c->cube ? "3d" : "2d", c->reynolds);
    kf_plan *plan;
    kf_status status = kf_kinetic_case_open(validation, *scene, NULL, &plan, error);
    if (status == KF_OK)
        status = kf_flow_advance(validation, plan, (uint64_t)(c->turnovers * c->nodes / c->lid), error);
    if (status == KF_OK) status = kf_flow_draw(validation, plan, name, 2, 0.0, error);
    if (status == KF_OK) status = kf_kinetic_read(plan, values, error);
    kf_flow_close(plan);
    return status;
}

/* A table of u along x = 1/2 and one of v along y = 1/2. */
typedef struct tables {
    const char *source;
    const kf_profile_point *points[2];
    int counts[2];
} tables;
static const tables ghia_100 = {ghia_source, {kf_ghia_u_100, kf_ghia_v_100}, {KF_GHIA_U, KF_GHIA_V}};
static const tables botella_1000 = {
    botella_source, {kf_botella_u_1000, kf_botella_v_1000}, {KF_BOTELLA_U, KF_BOTELLA_V}};

static kf_status check_plane(kf_validation *validation, const cavity *c, const tables *t, double bound,
                             kf_error *error) {
    kf_scene *scene;
    double *values = NULL;
    char quantity[96];
    kf_status status = run_cavity(validation, c, &scene, &values, error);
    for (int component = 0; component < 2 && status == KF_OK; component++) {
        (void)snprintf(quantity, sizeof quantity, "Re %g, %d^2: %s, largest deviation / lid speed",
                       c->reynolds, c->nodes, component == 0 ? "u along x = 1/2" : "v along y = 1/2");
        kf_check_absolute(validation, quantity, t->source, 0.0,
                          kf_profile_deviation(scene, values, component, c->lid, t->points[component],
                                               t->counts[component]),
                          bound);
    }
    free(values);
    kf_scene_free(scene);
    return status;
}

kf_status kf_case_cavity_2d(kf_validation *validation, kf_error *error) {
    const cavity quick = {48, false, 0.1, 100, 15}, slow = {128, false, 0.1, 1000, 80};
    KF_TRY(check_plane(validation, &quick, &ghia_100, 0.01, error));
    if (validation->quick) return KF_OK;
    return check_plane(validation, &slow, &botella_1000, 0.01, error);
}

/* Compares the lid-driven cubic cavity at Reynolds number 1000 with the profiles of Albensoeder et al.
 * (kf_albensoeder_u_1000). */
kf_status kf_case_cavity_3d(kf_validation *validation, kf_error *error) {
    const cavity c = {validation->gpu ? 128 : 48, true, 0.1, 1000, 60};
    kf_scene *scene;
    double *values = NULL;
    char quantity[96];
    const double bound = validation->gpu ? 0.01 : 0.03;
    kf_status status = run_cavity(validation, &c, &scene, &values, error);
    if (status == KF_OK) {
        (void)snprintf(quantity, sizeof quantity, "%d^3: u along x = z = 1/2, largest deviation / lid speed",
                       c.nodes);
        kf_check_absolute(
            validation, quantity, albensoeder_source, 0.0,
            kf_profile_deviation(scene, values, 0, c.lid, kf_albensoeder_u_1000, KF_ALBENSOEDER_U), bound);
        (void)snprintf(quantity, sizeof quantity, "%d^3: v along y = z = 1/2, largest deviation / lid speed",
                       c.nodes);
        kf_check_absolute(
            validation, quantity, albensoeder_source, 0.0,
            kf_profile_deviation(scene, values, 1, c.lid, kf_albensoeder_v_1000, KF_ALBENSOEDER_V), bound);
        (void)snprintf(quantity, sizeof quantity, "%d^3: least u on the vertical centre line", c.nodes);
        kf_check_relative(validation, quantity, albensoeder_source, -0.27293,
                          extremum(scene, values, 0, c.lid, -1.0), 3.0 * bound);
        (void)snprintf(quantity, sizeof quantity, "%d^3: least v on the horizontal centre line", c.nodes);
        kf_check_relative(validation, quantity, albensoeder_source, -0.43423,
                          extremum(scene, values, 1, c.lid, -1.0), 3.0 * bound);
    }
    free(values);
    kf_scene_free(scene);
    return status;
}
