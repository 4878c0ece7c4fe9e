#include "solver/validation/tunnel.h"

#include <math.h>

#include "solver/flow/flow_plan.h"
#include "solver/validation/body.h"

/* Makes the scene of a wind tunnel: a cylinder or a sphere between faces with free slip, with inflow and
 * outflow. */
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

kf_status kf_tunnel_link(const kf_tunnel *t, bool half_way, kf_scene *scene, kf_error *error) {
    if (t->cylinder)
        kf_body_add_tube(scene, scene->motion.center, 0.5 * t->diameter);
    else
        kf_body_set_ball(scene, scene->motion.center, 0.5 * t->diameter);
    return kf_body_link(scene, half_way, error);
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

/* Makes the tunnel with a ball of triangles, for systems that need a solid's mesh. */
static kf_scene *make_with_mesh(const kf_tunnel *t) {
    kf_scene *scene = kf_tunnel_scene(t);
    kf_body_set_ball(scene, scene->motion.center, 0.5 * t->diameter);
    return scene;
}

kf_status kf_tunnel_mean_force(const kf_validation *validation, const kf_tunnel *t, double travel,
                               int moments, kf_plan *plan, double *force, kf_error *error) {
    const uint64_t stride = (uint64_t)(t->watch * travel / moments) + 1;
    *force = 0.0;
    KF_TRY(kf_flow_advance(validation, plan, (uint64_t)(t->settle * travel), error));
    for (int moment = 0; moment < moments; moment++) {
        kf_solid_load load;
        KF_TRY(kf_flow_advance(validation, plan, stride, error));
        KF_TRY(plan->methods->flow->load(plan, &load, error));
        *force += load.force[0] / moments;
    }
    return KF_OK;
}

kf_status kf_tunnel_measure(const kf_validation *validation, const kf_system *system, const kf_tunnel *t,
                            double *corrected, kf_error *error) {
    enum { MOMENTS = 20 };
    kf_scene *scene = make_with_mesh(t);
    kf_plan *plan = NULL;
    double force = 0.0;
    kf_status status = kf_flow_open(validation, system, scene, NULL, &plan, error);
    if (status == KF_OK)
        status = kf_tunnel_mean_force(validation, t, t->diameter / t->speed, MOMENTS, plan, &force, error);
    kf_flow_close(plan);
    kf_scene_free(scene);
    const double drag = kf_tunnel_coefficient(t, force);
    *corrected = drag / kf_tunnel_blockage(t, drag);
    return status;
}
