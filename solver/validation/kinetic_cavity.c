/* Lid-driven cavities: walls, a moving wall, corners, steady recirculation. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "solver/validation/data.h"
#include "solver/validation/kinetic_cases.h"

static const char ghia_source[] = "Ghia, Ghia & Shin, J. Comput. Phys. 48 (1982) 387, tables I and II";
static const char albensoeder_source[] = "Albensoeder & Kuhlmann, J. Comput. Phys. 206 (2005) 536";

typedef struct cavity {
    int nodes;
    bool cube;
    double lid, reynolds, turnovers; /* lid speed; run time in nodes / lid */
} cavity;

/* A velocity component along a centre line of the cavity, over the lid's speed: place 0 to 1 along axis. */
static double along_center(const kf_scene *scene, const double *values, int component, int axis, double place,
                           double lid) {
    const int n = scene->nodes[1], depth = scene->nodes[2];
    const double at = place * n - 0.5;
    int low = (int)floor(at) - 1;
    if (low < 0) low = 0;
    if (low > n - 4) low = n - 4;
    const double s = at - low;
    const double weight[4] = {-(s - 1) * (s - 2) * (s - 3) / 6, s * (s - 2) * (s - 3) / 2,
                              -s * (s - 1) * (s - 3) / 2, s * (s - 1) * (s - 2) / 6};
    double sum = 0;
    /* The centre line lies between nodes: mean of the four (in the plane: two) around it. */
    for (int i = 0; i < 4; i++)
        for (int side = 0; side < 4; side++) {
            const int across = n / 2 - side % 2, z = depth == 1 ? 0 : depth / 2 - side / 2;
            const int x = axis == 0 ? low + i : across, y = axis == 0 ? across : low + i;
            const size_t node = (size_t)x + (size_t)n * ((size_t)y + (size_t)n * (size_t)z);
            sum += 0.25 * weight[i] * values[(size_t)(component + 1) * kf_flow_count(scene) + node];
        }
    return sum / lid;
}

/* Largest deviation from a table, in lid speeds. */
static double deviation(const kf_scene *scene, const double *values, int component, int axis, double lid,
                        const kf_profile_point *points, int count) {
    double largest = 0;
    for (int i = 0; i < count; i++) {
        if (points[i].place <= 0.0 || points[i].place >= 1.0) continue; /* on a wall */
        const double error =
            fabs(along_center(scene, values, component, axis, points[i].place, lid) - points[i].velocity);
        largest = error <= largest ? largest : error; /* keeps NaN */
    }
    return largest;
}

/* Least (sign -1) or largest (+1) value on the centre line. */
static double extremum(const kf_scene *scene, const double *values, int component, int axis, double lid,
                       double sign) {
    double best = 0;
    for (int i = 20; i < 980; i++) {
        const double here = along_center(scene, values, component, axis, i / 1000.0, lid);
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
    kf_plan *plan;
    kf_status status = kf_flow_open(validation, *scene, NULL, &plan, error);
    if (status == KF_OK)
        status = kf_flow_advance(validation, plan, (uint64_t)(c->turnovers * c->nodes / c->lid), error);
    if (status == KF_OK) status = kf_flow_read(plan, values, error);
    kf_plan_free(plan);
    return status;
}

static kf_status check_plane(kf_validation *validation, const cavity *c, const kf_profile_point *u,
                             const kf_profile_point *v, double bound, kf_error *error) {
    kf_scene *scene;
    double *values = NULL;
    char quantity[96];
    kf_status status = run_cavity(validation, c, &scene, &values, error);
    for (int axis = 1; axis >= 0 && status == KF_OK; axis--) {
        (void)snprintf(quantity, sizeof quantity, "Re %g, %d^2: %s, largest deviation / lid speed",
                       c->reynolds, c->nodes, axis == 1 ? "u along x = 1/2" : "v along y = 1/2");
        kf_check_absolute(validation, quantity, ghia_source, 0.0,
                          axis == 1 ? deviation(scene, values, 0, 1, c->lid, u, KF_GHIA_U)
                                    : deviation(scene, values, 1, 0, c->lid, v, KF_GHIA_V),
                          bound);
    }
    free(values);
    kf_scene_free(scene);
    return status;
}

kf_status kf_case_cavity_2d(kf_validation *validation, kf_error *error) {
    const cavity quick = {48, false, 0.1, 100, 15}, slow = {128, false, 0.1, 1000, 80};
    KF_TRY(check_plane(validation, &quick, kf_ghia_u_100, kf_ghia_v_100, 0.01, error));
    if (validation->quick) return KF_OK;
    return check_plane(validation, &slow, kf_ghia_u_1000, kf_ghia_v_1000, 0.01, error);
}

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
        kf_check_absolute(validation, quantity, albensoeder_source, 0.0,
                          deviation(scene, values, 0, 1, c.lid, kf_albensoeder_u_1000, KF_ALBENSOEDER_U),
                          bound);
        (void)snprintf(quantity, sizeof quantity, "%d^3: v along y = z = 1/2, largest deviation / lid speed",
                       c.nodes);
        kf_check_absolute(validation, quantity, albensoeder_source, 0.0,
                          deviation(scene, values, 1, 0, c.lid, kf_albensoeder_v_1000, KF_ALBENSOEDER_V),
                          bound);
        (void)snprintf(quantity, sizeof quantity, "%d^3: least u on the vertical centre line", c.nodes);
        kf_check_relative(validation, quantity, albensoeder_source, -0.27293,
                          extremum(scene, values, 0, 1, c.lid, -1.0), 3.0 * bound);
        (void)snprintf(quantity, sizeof quantity, "%d^3: least v on the horizontal centre line", c.nodes);
        kf_check_relative(validation, quantity, albensoeder_source, -0.43423,
                          extremum(scene, values, 1, 0, c.lid, -1.0), 3.0 * bound);
    }
    free(values);
    kf_scene_free(scene);
    return status;
}
