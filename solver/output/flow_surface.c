/* Writes the solid's surface with pressure, shear and y+. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "solver/flow/wall_law.h"
#include "solver/output/flow_files.h"
#include "solver/output/prober.h"

/* Distances from the surface in cells. */
static const double SHEAR_AT = 1.5, LAW_AT = 2.0, FIRST_NODE = 0.5;

/* Returns the angle of a triangle at corner p. */
static double angle_at(const double *p, const double *q, const double *r) {
    double qq = 0.0, rr = 0.0, qr = 0.0;
    for (int a = 0; a < 3; a++) {
        qq += (q[a] - p[a]) * (q[a] - p[a]);
        rr += (r[a] - p[a]) * (r[a] - p[a]);
        qr += (q[a] - p[a]) * (r[a] - p[a]);
    }
    return qq > 0.0 && rr > 0.0 ? acos(fmin(1.0, fmax(-1.0, qr / sqrt(qq * rr)))) : 0.0;
}

/* Adds a triangle's normal to its corners, weighted by the angle there. This weight does not depend on how a
 * face is cut into triangles. Returns six times the volume of the tetrahedron between the triangle and the
 * origin. */
static double add_normal(const double *const corner[3], double *const normal[3], const double *origin) {
    const double *p = corner[0], *q = corner[1], *r = corner[2];
    double n[3], length = 0.0, volume = 0.0;
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        n[a] = (q[b] - p[b]) * (r[c] - p[c]) - (q[c] - p[c]) * (r[b] - p[b]);
        length += n[a] * n[a];
        volume += (p[a] - origin[a]) * n[a];
    }
    for (int k = 0; k < 3 && length > 0.0; k++) {
        const double weight = angle_at(corner[k], corner[(k + 1) % 3], corner[(k + 2) % 3]) / sqrt(length);
        for (int a = 0; a < 3; a++)
            normal[k][a] += weight * n[a];
    }
    return volume;
}

/* Computes unit normals at the vertices, or 0 without a normal. In a mesh with negative volume triangles
 * point inwards, so the normals are reversed. */
static double *vertex_normals(const kf_mesh *mesh, const double *position) {
    double *normals = kf_allocate_zeroed(3 * mesh->vertex_count + 1, sizeof *normals), volume = 0.0;
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const double *corner[3];
        double *normal[3];
        for (size_t k = 0; k < 3; k++) {
            corner[k] = position + 3 * (size_t)mesh->triangles[3 * t + k];
            normal[k] = normals + 3 * (size_t)mesh->triangles[3 * t + k];
        }
        volume += add_normal(corner, normal, position);
    }
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        double *n = normals + 3 * v;
        const double length = kf_length(n);
        for (int a = 0; a < 3 && length > 0.0; a++)
            n[a] *= (volume < 0.0 ? -1.0 : 1.0) / length;
    }
    return normals;
}

/* Finds the nodes below and above a place along an axis, and the weight of the upper one. Returns false
 * beyond the outermost nodes of an axis that is not periodic. */
static bool find_nodes(int nodes, bool periodic, double at, size_t beside[2], double *share) {
    const double home = periodic ? at - nodes * floor(at / nodes) : at,
                 cell = fmin(floor(home), fmax(0.0, nodes - (periodic ? 1.0 : 2.0)));
    if (!periodic && !(at >= 0.0 && at <= nodes - 1.0)) return false;
    *share = home - cell;
    beside[0] = (size_t)cell;
    beside[1] = beside[0] + 1 < (size_t)nodes ? beside[0] + 1 : periodic ? 0 : beside[0];
    return true;
}

/* The nodes around a place, and their weights. */
typedef struct around {
    size_t node[KF_CORNERS];
    double weight[KF_CORNERS];
} around;

/* Finds the nodes around a place in lattice units. Returns false beyond the outermost nodes. */
static bool look_around(const kf_scene *scene, const kf_snapshot *flow, const double at[3], around *nodes) {
    size_t beside[3][2];
    double share[3];
    for (int a = 0; a < 3; a++)
        if (!find_nodes(flow->nodes[a], scene->faces[2 * a] == KF_PERIODIC, at[a], beside[a], &share[a]))
            return false;
    const size_t row = (size_t)flow->nodes[0], plane = row * (size_t)flow->nodes[1];
    for (size_t k = 0; k < KF_CORNERS; k++) {
        const size_t up[3] = {k & 1, k >> 1 & 1, k >> 2};
        nodes->weight[k] = 1.0;
        nodes->node[k] = 0;
        for (int a = 0; a < 3; a++) {
            nodes->weight[k] *= up[a] ? share[a] : 1.0 - share[a];
            nodes->node[k] += beside[a][up[a]] * (a == 0 ? 1 : a == 1 ? row : plane);
        }
    }
    return true;
}

/* Interpolates the velocity linearly. Returns false beyond the outermost nodes. */
static bool velocity_at(const kf_scene *scene, const kf_snapshot *flow, const double at[3],
                        double velocity[3]) {
    const float *values = kf_snapshot_find(flow, "velocity")->values;
    around nodes;
    if (!look_around(scene, flow, at, &nodes)) return false;
    for (size_t a = 0; a < 3; a++) {
        velocity[a] = 0.0;
        for (size_t k = 0; k < KF_CORNERS; k++)
            if (nodes.weight[k] > 0.0) velocity[a] += nodes.weight[k] * (double)values[3 * nodes.node[k] + a];
    }
    return true;
}

/* Interpolates the pressure of the fluid linearly. Beyond the outermost nodes it is theirs. */
static double pressure_at(const kf_scene *scene, const kf_snapshot *flow, const kf_quantity *pressure,
                          const double at[3]) {
    double place[3];
    float values[KF_CORNERS];
    around nodes;
    for (int a = 0; a < 3; a++)
        place[a] = scene->faces[2 * a] == KF_PERIODIC ? at[a] : fmin(fmax(at[a], 0.0), flow->nodes[a] - 1.0);
    if (!look_around(scene, flow, place, &nodes)) return 0.0;
    for (size_t k = 0; k < KF_CORNERS; k++)
        values[k] = pressure->values[nodes.node[k]];
    return kf_pressure_between(nodes.weight, values);
}

static void step_out(const double position[3], const double normal[3], double distance, double at[3]) {
    for (int a = 0; a < 3; a++)
        at[a] = position[a] + distance * normal[a];
}

/* A vertex of the surface, and the flow around it. */
typedef struct surface_vertex {
    const kf_scene *scene;
    const kf_solid_pose *pose;
    const kf_snapshot *flow;
    size_t vertex;
    const double *position, *normal;
} surface_vertex;

/* Finds the velocity of the solid at a place, in cells per step. Of several solids it is the one with the
 * vertex. */
static void velocity_with(const surface_vertex *of, const double at[3], double velocity[3]) {
    const kf_scene *scene = of->scene;
    const double *center = of->pose->center;
    double turns[3], arm[3];
    memcpy(turns, of->pose->angular_velocity, sizeof turns);
    for (int s = 0; s < scene->solid_count && scene->solids[s].first_vertex <= of->vertex; s++) {
        const kf_motion *motion = &scene->solids[s].motion;
        center = motion->center;
        for (int a = 0; a < 3; a++)
            turns[a] = motion->moving ? motion->angular_speed * motion->axis[a] : 0.0;
    }
    for (int a = 0; a < 3; a++)
        arm[a] = at[a] - center[a];
    kf_cross(turns, arm, velocity);
    for (int a = 0; a < 3; a++)
        velocity[a] += of->pose->velocity[a];
}

/* Returns the speed along the surface at a height (cells), relative to the solid, and its direction. Returns
 * false where the flow is not known. */
static bool speed_along(const surface_vertex *of, double height, double v[3], double *speed) {
    double at[3], moves[3], through = 0.0;
    step_out(of->position, of->normal, height, at);
    if (!velocity_at(of->scene, of->flow, at, v)) return false;
    velocity_with(of, at, moves);
    for (int a = 0; a < 3; a++) {
        v[a] -= moves[a] * of->scene->cell_size / of->scene->time_step;
        through += v[a] * of->normal[a];
    }
    for (int a = 0; a < 3; a++)
        v[a] -= through * of->normal[a];
    *speed = kf_length(v);
    return true;
}

/* Returns the ratio of the slope at the surface to that of the line to the first height. It fits a parabola
 * through a second point twice as high. On a sphere at Reynolds number 100 with 12 cells the line gives 0.54
 * of the friction, the parabola 0.75. The ratio is at most 1.5, because a second speed below the first
 * belongs to another flow. */
static double steeper(const surface_vertex *of, const double first[3], double speed) {
    double v[3], second, along = 0.0;
    if (!(speed > 0.0) || !speed_along(of, 2.0 * SHEAR_AT, v, &second)) return 1.0;
    for (int a = 0; a < 3; a++)
        along += v[a] * first[a] / speed;
    return fmin(1.5, fmax(0.5, 2.0 - 0.5 * along / speed));
}

/* Sets the wall shear over density, and y+ of the first node at a vertex, from speeds along the surface at
 * some heights. The layer is viscous, or follows the scene's law of the wall where that is used. */
static void set_shear(const surface_vertex *of, float shear[3], float *y_plus) {
    const kf_scene *scene = of->scene;
    const bool turbulent = kf_scene_turbulent_at(scene, of->position);
    const double cell = scene->cell_size, viscosity = scene->viscosity * cell * cell / scene->time_step,
                 height = turbulent ? LAW_AT : SHEAR_AT;
    double v[3], speed;
    if (!speed_along(of, height, v, &speed)) return;
    const double friction = kf_wall_law_friction(speed, height * cell, viscosity),
                 share = turbulent ? kf_wall_law_share(friction * height * cell / viscosity) : 0.0,
                 viscous = viscosity * speed / (height * cell) * (turbulent ? 1.0 : steeper(of, v, speed)),
                 square = share * friction * friction + (1.0 - share) * viscous;
    for (int a = 0; a < 3; a++)
        shear[a] = speed > 0.0 ? (float)(square * v[a] / speed) : 0.0F;
    *y_plus = (float)(sqrt(square) * FIRST_NODE * cell / viscosity);
}

/* Places the vertices at the pose, and the whole beyond a periodic face back in the domain. Adds what that
 * moves to the pose's centre. */
static double *place_vertices(const kf_scene *scene, const kf_mesh *mesh, kf_solid_pose *pose) {
    double *place = kf_allocate(3 * mesh->vertex_count * sizeof *place + 1);
    for (size_t a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t v = 0; v < mesh->vertex_count; v++) {
            double *at = &place[3 * v + a];
            *at = pose->center[a];
            for (size_t b = 0; b < 3; b++)
                *at += pose->rotation[3 * a + b] * (mesh->vertices[3 * v + b] - scene->motion.center[b]);
            low = fmin(low, *at);
            high = fmax(high, *at);
        }
        const int nodes = scene->nodes[a];
        const double back = scene->faces[2 * a] == KF_PERIODIC && mesh->vertex_count > 0
                                ? -nodes * floor((0.5 * (low + high) + 0.5) / nodes)
                                : 0.0;
        pose->center[a] += back;
        for (size_t v = 0; v < mesh->vertex_count; v++)
            place[3 * v + a] += back;
    }
    return place;
}

void kf_flow_surface(const kf_scene *scene, const kf_solid_pose *pose, const kf_snapshot *flow,
                     kf_snapshot *surface) {
    const kf_scene *placed = kf_scene_placed(scene, (double)flow->step);
    const kf_mesh *mesh = &placed->mesh;
    const kf_quantity *pressure = kf_snapshot_find(flow, "pressure_coefficient");
    if (pressure == NULL) pressure = kf_snapshot_find(flow, "kinematic_pressure");
    kf_solid_pose here = *pose;
    double *place = place_vertices(scene, mesh, &here), at[3];
    double *normals = vertex_normals(mesh, place);
    kf_snapshot_of_particles(surface, mesh->vertex_count);
    surface->time = flow->time;
    surface->step = flow->step;
    surface->triangle_count = mesh->triangle_count;
    surface->triangles = mesh->triangles;
    float *points = kf_snapshot_add(surface, "position", "m", 3);
    float *cp = kf_snapshot_add(surface, pressure->name, pressure->unit, 1);
    float *shear = kf_snapshot_add(surface, "wall_shear", "m^2/s^2", 3);
    float *y_plus = kf_snapshot_add(surface, "y_plus", "1", 1);
    memset(shear, 0, 3 * mesh->vertex_count * sizeof *shear);
    memset(y_plus, 0, mesh->vertex_count * sizeof *y_plus);
    for (size_t v = 0; v < mesh->vertex_count; v++) {
        const double *p = place + 3 * v, *n = normals + 3 * v;
        for (size_t a = 0; a < 3; a++)
            points[3 * v + a] = (float)((p[a] + 0.5) * scene->cell_size);
        step_out(p, n, KF_PRESSURE_AT, at);
        cp[v] = (float)pressure_at(scene, flow, pressure, at);
        const surface_vertex of = {scene, &here, flow, v, p, n};
        set_shear(&of, shear + 3 * v, &y_plus[v]);
    }
    free(normals);
    free(place);
    kf_scene_free_placed(scene, placed);
}
