#include "solver/smoke/camera.h"

#include <math.h>
#include <string.h>

#include "base/util/vector.h"

static const double DEGREE = 3.14159265358979323846 / 180.0;
/* Half the width of the picture at distance 1. */
static const double HALF_WIDTH = 0.30;
/* The share of the picture that its subject fills. */
static const double MARGIN = 0.93;
/* The camera shows this much of the space around the solid, in extents of the solid. */
static const double BEFORE = 0.35, BEHIND = 1.60, BESIDE = 0.25, OVER = 0.35;

/* Finds the box that the picture shows. */
static void find_subject(const kf_scene *scene, const kf_flow_frame *frame, double low[3], double high[3]) {
    for (int a = 0; a < 3; a++) {
        low[a] = -0.5;
        high[a] = scene->nodes[a] - 0.5;
    }
    if (scene->mesh.triangle_count == 0) return;
    const int flow = frame->flow_axis, up = frame->up_axis;
    const bool forwards = frame->drag[flow] > 0;
    for (int a = 0; a < 3; a++) {
        const double extent = scene->solid_high[a] - scene->solid_low[a];
        const double below = a == flow ? (forwards ? BEFORE : BEHIND) : a == up ? 0 : BESIDE;
        const double above = a == flow ? (forwards ? BEHIND : BEFORE) : a == up ? OVER : BESIDE;
        low[a] = fmax(low[a], scene->solid_low[a] - below * extent);
        high[a] = fmin(high[a], scene->solid_high[a] + above * extent);
    }
}

/* Projects the box's corners on the picture. Its extent is -1 to 1 inside the picture. */
static void project_box(const kf_camera *c, const double low[3], const double high[3], double least[2],
                        double most[2]) {
    for (int i = 0; i < 2; i++) {
        least[i] = INFINITY;
        most[i] = -INFINITY;
    }
    for (int corner = 0; corner < 8; corner++) {
        double from[3];
        for (int a = 0; a < 3; a++)
            from[a] = (corner >> a & 1 ? high[a] : low[a]) - c->eye[a];
        const double depth = fmax(kf_dot(from, c->ahead), 1e-3);
        const double at[2] = {kf_dot(from, c->right) / kf_dot(c->right, c->right) / depth,
                              kf_dot(from, c->above) / kf_dot(c->above, c->above) / depth};
        for (int i = 0; i < 2; i++) {
            least[i] = fmin(least[i], at[i]);
            most[i] = fmax(most[i], at[i]);
        }
    }
}

/* Moves the eye until the box just fills the picture, in the middle of it. */
static void fit(kf_camera *c, const double low[3], const double high[3]) {
    double target[3], distance = 4 * c->reach;
    memcpy(target, c->focus, sizeof target);
    for (int round = 0; round < 40; round++) {
        double least[2], most[2], size = 0;
        for (int a = 0; a < 3; a++)
            c->eye[a] = target[a] - distance * c->ahead[a];
        project_box(c, low, high, least, most);
        for (int i = 0; i < 2; i++)
            size = fmax(size, 0.5 * (most[i] - least[i]));
        for (int a = 0; a < 3; a++)
            target[a] +=
                0.5 * distance * ((least[0] + most[0]) * c->right[a] + (least[1] + most[1]) * c->above[a]);
        distance *= 0.5 + 0.5 * size / MARGIN;
    }
}

/* Chooses the camera and the light. The viewpoint gives the direction relative to the flow. The distance is
 * such that the solid and its wake fill the picture. */
void kf_camera_choose(const kf_scene *scene, double aspect, const kf_viewpoint *from, kf_camera *camera) {
    const double beside = DEGREE * (90.0 - from->azimuth), above = DEGREE * from->elevation;
    kf_flow_frame frame;
    kf_flow_frame_of(scene, &frame);
    *camera = (kf_camera){.up = frame.up_axis, .ground = -0.5};
    camera->has_ground = scene->faces[2 * frame.up_axis] == KF_WALL;
    double low[3], high[3], up[3] = {0}, flow[3] = {0}, side[3];
    up[frame.up_axis] = 1;
    flow[frame.flow_axis] = frame.drag[frame.flow_axis] > 0 ? 1 : -1;
    kf_cross(flow, up, side);
    find_subject(scene, &frame, low, high);
    for (int a = 0; a < 3; a++) {
        camera->focus[a] = 0.5 * (low[a] + high[a]);
        camera->reach = fmax(camera->reach, 0.5 * (high[a] - low[a]));
        camera->ahead[a] = -cos(above) * (cos(beside) * side[a] - sin(beside) * flow[a]) - sin(above) * up[a];
        camera->light[a] = 0.74 * up[a] + 0.52 * side[a] + 0.34 * flow[a];
    }
    kf_normalise(camera->light);
    kf_cross(camera->ahead, up, camera->right);
    kf_normalise(camera->right);
    kf_cross(camera->right, camera->ahead, camera->above);
    for (int a = 0; a < 3; a++) {
        camera->right[a] *= HALF_WIDTH;
        camera->above[a] *= HALF_WIDTH / aspect;
    }
    fit(camera, low, high);
    for (int a = 0; a < 3; a++) {
        camera->right[a] /= from->zoom;
        camera->above[a] /= from->zoom;
    }
}
