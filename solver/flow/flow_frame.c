#include "solver/flow/flow_frame.h"

#include <math.h>
#include <string.h>

#include "base/util/vector.h"

static void flow_direction(const kf_scene *scene, double direction[3]) {
    double found[3];
    if (kf_scene_fastest_face(scene, KF_INFLOW, found) <= 0 && scene->initial == KF_INITIAL_UNIFORM) {
        memcpy(found, scene->initial_velocity, sizeof found);
    }
    if (kf_length(found) <= 0 && kf_scene_mask_has_stream(scene))
        memcpy(found, scene->mask_velocity, sizeof found);
    if (kf_length(found) <= 0) memcpy(found, scene->body_force, sizeof found);
    if (kf_length(found) <= 0) (void)kf_scene_fastest_face(scene, KF_WALL, found);
    if (kf_length(found) <= 0) found[0] = 1;
    for (int a = 0; a < 3; a++)
        direction[a] = found[a] / kf_length(found);
}

static int largest(const double vector[3]) {
    int axis = 0;
    for (int a = 1; a < 3; a++) {
        if (fabs(vector[a]) > fabs(vector[axis])) axis = a;
    }
    return axis;
}

static int up_axis(const kf_scene *scene, int flow_axis) {
    int walled = -1, walled_count = 0;
    /* The direction in the plane of the mask. */
    if (scene->mask != NULL && flow_axis != 2) return 1 - flow_axis;
    for (int axis = 0; axis < 3; axis++) {
        bool wall = scene->faces[2 * axis] == KF_WALL || scene->faces[2 * axis + 1] == KF_WALL;
        if (axis == flow_axis || !wall) continue;
        walled = axis;
        walled_count++;
    }
    if (walled_count == 1) return walled;
    return flow_axis == 2 ? 1 : 2;
}

/* Finds the directions of drag, lift and side for a scene (flow_frame.h): unit vectors at right angles. */
void kf_flow_frame_of(const kf_scene *scene, kf_flow_frame *frame) {
    *frame = (kf_flow_frame){0};
    flow_direction(scene, frame->drag);
    frame->flow_axis = largest(frame->drag);
    frame->up_axis = up_axis(scene, frame->flow_axis);
    double along = frame->drag[frame->up_axis];
    for (int a = 0; a < 3; a++)
        frame->lift[a] = (a == frame->up_axis) - along * frame->drag[a];
    double size = kf_length(frame->lift);
    for (int a = 0; a < 3; a++)
        frame->lift[a] /= size;
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3, c = (a + 2) % 3;
        frame->side[a] = frame->drag[b] * frame->lift[c] - frame->drag[c] * frame->lift[b];
    }
}
