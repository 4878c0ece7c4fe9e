#include "solver/validation/tunnel.h"

#include <math.h>

#include "scene/scene.h"

kf_scene *kf_tunnel_scene(const kf_tunnel *t) {
    enum { SLICE = 4 };
    const int width = 2 * (int)lround(0.5 * t->width * t->diameter), depth = t->cylinder ? SLICE : width;
    kf_scene *scene =
        kf_flow_box(t->cylinder ? "cylinder" : "sphere", (int)lround((t->before + t->behind) * t->diameter),
                    width, depth, t->speed * t->diameter / t->reynolds);
    const double center[3] = {t->before * t->diameter - 0.5, 0.5 * width - 0.5, 0.5 * depth - 0.5};
    for (int face = KF_YMIN; face < KF_FACES; face++)
        scene->faces[face] = KF_FREE_SLIP;
    scene->faces[KF_XMIN] = KF_INFLOW;
    scene->faces[KF_XMAX] = KF_OUTFLOW;
    scene->face_velocity[KF_XMIN][0] = scene->initial_velocity[0] = t->speed;
    if (t->cylinder)
        kf_flow_add_cylinder(scene, center, 0.5 * t->diameter, 20.0);
    else
        kf_flow_add_ball(scene, center, 0.5 * t->diameter, 20.0);
    scene->reference_speed = t->speed;
    scene->reynolds = t->reynolds;
    return scene;
}

double kf_tunnel_coefficient(const kf_tunnel *t, double force) {
    const double area = t->cylinder ? 4.0 * t->diameter : 0.25 * kf_pi * t->diameter * t->diameter;
    return force / (0.5 * t->speed * t->speed * area);
}

double kf_tunnel_blockage(const kf_tunnel *t, double drag) {
    double faster = 1.0;
    if (t->cylinder) {
        faster += kf_pi * kf_pi / 12.0 / (t->width * t->width) + 0.25 * drag / t->width;
    } else {
        const double area = t->width * t->width, sphere = kf_pi / 6.0, front = kf_pi / 4.0;
        faster += 0.65 * sphere / pow(area, 1.5) + 0.25 * drag * front / area;
    }
    return faster * faster;
}
