/* The speeds of outflows (docs/physics.md). */
#include <math.h>

#include "scene/scene.h"

static double outward(const double velocity[3], int face) {
    return face % 2 ? velocity[face / 2] : -velocity[face / 2];
}

static double face_nodes(const kf_scene *scene, int face) {
    return (double)scene->nodes[(face / 2 + 1) % 3] * scene->nodes[(face / 2 + 2) % 3];
}

/* Returns the mean speed at which all outflows together release what all inflows add. */
static double balanced_speed(const kf_scene *scene) {
    double influx = 0.0, area = 0.0;
    for (int f = 0; f < KF_FACES; f++) {
        if (scene->faces[f] == KF_OUTFLOW) area += face_nodes(scene, f);
        if (scene->faces[f] == KF_INFLOW)
            influx -= outward(scene->face_velocity[f], f) * face_nodes(scene, f);
    }
    return area > 0.0 ? fmax(0.0, influx / area) : 0.0;
}

double kf_scene_outflow_speed(const kf_scene *scene, kf_face face) {
    /* Of several inflows the fastest one is the stream, whatever its axis. */
    const int inflow = kf_scene_fastest_of(scene, KF_INFLOW);
    const double *stream = inflow >= 0 ? scene->face_velocity[inflow] : scene->initial_velocity;
    double fastest = 0.0;
    for (int f = 0; f < KF_FACES; f++)
        if (scene->faces[f] == KF_OUTFLOW) fastest = fmax(fastest, outward(stream, f));
    return fastest > 0.0 ? fmax(0.0, outward(stream, (int)face)) : balanced_speed(scene);
}

double kf_scene_outflow_pull(const kf_scene *scene, kf_face face) {
    const int axis = (int)face / 2;
    return 0.27 / sqrt(3.0) / scene->nodes[axis];
}
