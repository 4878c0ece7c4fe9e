/* From a description in SI units to a scene in lattice units: the one place where units are converted.
 *
 * With cell size dx (m) and time step dt (s): lattice length = m / dx, lattice speed = m/s * dt / dx, lattice
 * viscosity = m^2/s * dt / dx^2, lattice acceleration = m/s^2 * dt^2 / dx. The lower corner of the domain is
 * lattice -0.5. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/internal.h"

static const double PI = 3.14159265358979323846;
/* The highest lattice speed. It is a Mach number of 0.52. */
static const double FASTEST = 0.3;
/* Below this viscosity the relaxation rate rounds to 2. */
static const double LEAST_VISCOSITY = 1e-7;
/* 2^34. Sums over all nodes then stay within 64 bits (kernels/kinetic/averages.h). The system of each device
 * may set a lower limit. */
static const double NODES_LIMIT = 17179869184.0;

/* ---- The solid's place ---- */

/* Multiplies a rotation onto the matrix. Entries are rounded to 2^-45, so sines that differ in the last bit
 * give the same samples. */
static void turn_on(const double axis[3], double degrees, double matrix[9]) {
    double turn[9], before[9];
    memcpy(before, matrix, sizeof before);
    kf_rotation(axis, degrees * PI / 180.0, turn);
    for (int i = 0; i < 9; i++) {
        matrix[i] = 0.0;
        for (int k = 0; k < 3; k++)
            matrix[i] += turn[3 * (i / 3) + k] * before[3 * k + i % 3];
        matrix[i] = nearbyint(matrix[i] * 0x1p45) * 0x1p-45;
    }
}

void kf_placing_matrix(const kf_solid_description *solid, double matrix[9]) {
    static const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, upright[3] = {0, 0, 1};
    memcpy(matrix, unit, sizeof unit);
    for (int t = 0; t < solid->turns; t++)
        turn_on(solid->turn[t].axis, solid->turn[t].degrees, matrix);
    if (solid->yaw != 0.0) turn_on(upright, solid->yaw, matrix);
}

/* Returns the box of the turned mesh without the yaw, which changes neither a solid's size nor what its
 * coefficients refer to. */
static kf_box straight_box(const kf_solid_description *solid, const kf_mesh *mesh) {
    kf_solid_description straight = *solid;
    kf_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    double matrix[9];
    straight.yaw = 0.0;
    kf_placing_matrix(&straight, matrix);
    for (size_t v = 0; v < mesh->vertex_count; v++)
        for (int a = 0; a < 3; a++) {
            const double at = kf_dot(&matrix[3 * a], &mesh->vertices[3 * v]);
            box.low[a] = fmin(box.low[a], at);
            box.high[a] = fmax(box.high[a], at);
        }
    return box;
}

/* Returns a coordinate of the anchor of a solid that has this box. */
static double anchor_in(const kf_box *box, kf_anchor anchor, int axis) {
    if (anchor == KF_ANCHOR_ORIGIN) return 0.0;
    return anchor == KF_ANCHOR_BOTTOM && axis == 2 ? box->low[axis]
                                                   : 0.5 * (box->low[axis] + box->high[axis]);
}

/* Turns, scales and moves the solid's mesh as the scene says. The file's units become cells. Sets the solid's
 * lengths without the yaw, and as point of moments where the yaw takes the anchor of the solid without it. */
static kf_status place_solid(const kf_description *d, const kf_solid_description *solid, kf_scene *scene,
                             double lengths[3], kf_error *error) {
    kf_mesh *mesh = &scene->mesh;
    static const double nowhere[3] = {0}, upright[3] = {0, 0, 1};
    double matrix[9], yaw[9], anchor[3] = {0}, scale = solid->scale, offset[3], place[3];
    const kf_box own = kf_mesh_bounds(mesh);
    for (int a = 0; a < 3 && solid->anchor != KF_ANCHOR_ORIGIN; a++)
        anchor[a] = -0.5 * (own.low[a] + own.high[a]);
    const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    kf_mesh_transform(mesh, unit, anchor);
    kf_placing_matrix(solid, matrix);
    const kf_box unturned = solid->yaw != 0.0 || solid->length > 0.0 ? straight_box(solid, mesh) : own;
    kf_mesh_transform(mesh, matrix, nowhere);

    const kf_box turned = kf_mesh_bounds(mesh), straight = solid->yaw != 0.0 ? unturned : turned;
    if (solid->length > 0.0) {
        const double length = unturned.high[0] - unturned.low[0];
        if (length <= 0.0)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: %s.length: the placed solid has no extent along x; use scale", d->source,
                           solid->path);
        scale = solid->length / length;
    }
    const double k = scale / d->cell_size, scaling[9] = {k, 0, 0, 0, k, 0, 0, 0, k};
    for (int a = 0; a < 3; a++) {
        anchor[a] = anchor_in(&straight, solid->anchor, a);
        place[a] = anchor_in(&turned, solid->anchor, a);
        offset[a] = solid->position[a] / d->cell_size - 0.5 - place[a] * scale / d->cell_size;
    }
    kf_rotation(upright, solid->yaw * PI / 180.0, yaw);
    for (int a = 0; a < 3; a++)
        scene->moment_center[a] =
            solid->position[a] / d->cell_size - 0.5 + k * (kf_dot(&yaw[3 * a], anchor) - place[a]);
    kf_mesh_transform(mesh, scaling, offset);
    const kf_box box = kf_mesh_bounds(mesh);
    memcpy(scene->solid_low, box.low, sizeof box.low);
    memcpy(scene->solid_high, box.high, sizeof box.high);
    for (int a = 0; a < 3; a++)
        lengths[a] = solid->yaw != 0.0 ? k * (straight.high[a] - straight.low[a]) : box.high[a] - box.low[a];
    return KF_OK;
}

/* Returns the end of a message about a solid that is too large: its mesh may state another unit than metres.
 */
static const char *stated_unit(const kf_solid_description *solid, const kf_mesh *mesh, char hint[KF_HINT]) {
    char title[KF_UNIT_TITLE];
    if (solid->scaled || mesh->unit == 0.0 || mesh->unit == 1.0) return "";
    (void)snprintf(hint, KF_HINT, " (its file says that its unit is a %s: \"scale\": %.6g)",
                   kf_unit_title(mesh->unit, title), mesh->unit);
    return hint;
}

/* Refuses a solid that extends beyond the domain, and says what to change. */
static kf_status check_inside(const kf_description *d, const kf_solid_description *solid,
                              const kf_scene *scene, kf_error *error) {
    /* The message names the solid by its member: solid, or solids[2]. */
    const char *the = d->solid_count > 0 ? "" : "the ";
    char hint[KF_HINT];
    for (int a = 0; a < 3; a++) {
        const double slack = 1e-6 * scene->nodes[a], upper = scene->nodes[a] - 0.5;
        const double low = scene->solid_low[a], high = scene->solid_high[a];
        if (low >= -0.5 - slack && high <= upper + slack) continue;
        if (high - low > scene->nodes[a] + 2.0 * slack)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: %s%s is %.4g m long along %c, the domain only %.4g m; make "
                           "the domain larger, or the solid smaller with %s.scale or %s.length%s",
                           d->source, the, solid->path, (high - low) * d->cell_size, "xyz"[a],
                           scene -> nodes[a] * d -> cell_size, solid -> path, solid -> path,
                           stated_unit(solid, &scene->mesh, hint));
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s%s reaches from %.4g m to %.4g m along %c, out of the domain "
                       "(0 to %.4g m); change %s.position",
                       d->source, the, solid->path, (low + 0.5) * d->cell_size, (high + 0.5) * d->cell_size,
                       "xyz"[a], scene -> nodes[a] * d -> cell_size, solid -> path);
    }
    return KF_OK;
}

/* ---- Its motion ---- */

/* Finds how far the turning solid extends from the motion's centre along each axis, and from the axis of
 * rotation. */
static void swept_box(const kf_scene *scene, kf_box *swept, double *farthest) {
    const kf_motion *m = &scene->motion;
    kf_box box = {{0}, {0}};
    *farthest = 0.0;
    for (size_t v = 0; v < scene->mesh.vertex_count; v++) {
        double low[3], high[3];
        *farthest = fmax(*farthest, kf_motion_reach(m, scene->mesh.vertices + 3 * v, low, high));
        for (int a = 0; a < 3; a++) {
            box.low[a] = v == 0 ? low[a] : fmin(box.low[a], low[a]);
            box.high[a] = v == 0 ? high[a] : fmax(box.high[a], high[a]);
        }
    }
    *swept = box;
}

static kf_status check_speed(const kf_description *d, const kf_solid_description *solid,
                             const kf_scene *scene, double farthest, kf_error *error) {
    const kf_motion *m = &scene->motion;
    const double *v = m->velocity;
    const double speed = kf_length(v) + fabs(m->angular_speed) * farthest;
    if (speed <= FASTEST) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: %s.motion: the surface moves at %.3g m/s, %.3g cells a step (at most %g); make "
                   "flow.lattice_speed smaller, at most %.2g",
                   d->source, solid->path, speed * d->cell_size / scene->time_step, speed, FASTEST,
                   d->lattice_speed * FASTEST / speed);
}

/* Refuses a motion that leaves the domain, touches its boundary, or is too fast. */
static kf_status check_motion(const kf_description *d, const kf_solid_description *solid,
                              const kf_scene *scene, kf_error *error) {
    const kf_motion *m = &scene->motion;
    kf_box swept;
    double farthest;
    swept_box(scene, &swept, &farthest);
    for (int a = 0; a < 3; a++) {
        if (scene->faces[2 * a] == KF_PERIODIC && d->solid_count == 0) continue;
        if (m->velocity[a] != 0.0)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: %s.motion.velocity: the solid moves along %c and leaves the "
                           "domain in the end; make both %c faces periodic, or let the fluid move instead",
                           d->source, solid->path, "xyz"[a], "xyz"[a]);
        if (m->center[a] + swept.low[a] < 0.0 || m->center[a] + swept.high[a] > scene->nodes[a] - 1.0)
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: %s.motion: turning, the solid reaches from %.4g m to %.4g m "
                "along %c and comes closer than half a cell to the domain's edge (0 and %.4g m); move "
                "%s.%s, or make the domain larger",
                d->source, solid->path, (m->center[a] + swept.low[a] + 0.5) * d->cell_size,
                (m->center[a] + swept.high[a] + 0.5) * d->cell_size, "xyz"[a],
                scene -> nodes[a] * d -> cell_size, solid -> path,
                solid -> motion_center_given ? "motion.center" : "position");
    }
    return check_speed(d, solid, scene, farthest, error);
}

/* Sets the mass of a free solid, and refuses one without enough space around it at the start. */
static kf_status set_free(const kf_description *d, kf_scene *scene, kf_error *error) {
    kf_motion *m = &scene->motion;
    kf_body body;
    kf_box swept;
    double farthest;
    const size_t open = kf_mesh_matter(&scene->mesh, &body);
    if (open > 0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: solid.motion.free: the mesh does not enclose a volume (%zu of its edges are open, or "
            "its triangles look to both sides); repair it, or prescribe the motion",
            d->source, open);
    if (!(body.volume > 0.0))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: solid.motion.free: the mesh is a sheet and encloses no volume; give it a thickness, "
            "or prescribe the motion",
            d->source);
    const double excess = d->solid.density - 1.0;
    m->free = true;
    m->excess_mass = excess * body.volume;
    for (int i = 0; i < 9; i++)
        m->excess_inertia[i] = excess * body.inertia[i];
    for (int a = 0; a < 3; a++) {
        m->center[a] = body.center[a];
        m->gravity[a] = d->solid.gravity[a] * scene->time_step * scene->time_step / d->cell_size;
        if (scene->faces[2 * a] != KF_PERIODIC &&
            (scene->solid_low[a] < 0.0 || scene->solid_high[a] > scene->nodes[a] - 1.0))
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: solid.motion.free: the solid begins closer than half a cell to the domain's edge "
                "along %c; move it with solid.position",
                d->source, "xyz"[a]);
    }
    swept_box(scene, &swept, &farthest);
    return check_speed(d, &d->solid, scene, farthest, error);
}

/* Sets the solid's motion in lattice units, and the reference point of moments. */
static kf_status set_motion(const kf_description *d, const kf_solid_description *solid, kf_scene *scene,
                            kf_error *error) {
    kf_motion *m = &scene->motion;
    m->moving = solid->moving;
    m->angular_speed = solid->angular_velocity * scene->time_step;
    for (int a = 0; a < 3; a++) {
        m->axis[a] = solid->motion_axis[a];
        m->velocity[a] = solid->velocity[a] * scene->time_step / d->cell_size;
        const double center = solid->motion_center_given ? solid->motion_center[a] : solid->position[a];
        m->center[a] = center / d->cell_size - 0.5;
        if (d->reference_point_given)
            scene->moment_center[a] = d->reference_point[a] / d->cell_size - 0.5;
        else if (m->moving || solid->motion_center_given)
            scene->moment_center[a] = m->center[a];
    }
    if (solid->free) return set_free(d, scene, error);
    return m->moving ? check_motion(d, solid, scene, error) : KF_OK;
}

/* Places one of several solids in a scene of its own, and appends it to the whole scene. */
static kf_status build_one_of_several(const kf_description *d, const kf_solid_description *solid,
                                      kf_scene *alone, kf_scene *scene, kf_error *error) {
    kf_box swept;
    double farthest, low[3], high[3], lengths[3];
    KF_TRY(place_solid(d, solid, alone, lengths, error));
    KF_TRY(check_inside(d, solid, alone, error));
    KF_TRY(set_motion(d, solid, alone, error));
    swept_box(alone, &swept, &farthest);
    for (int a = 0; a < 3; a++) {
        low[a] = alone->motion.center[a] + swept.low[a];
        high[a] = alone->motion.center[a] + swept.high[a];
    }
    kf_scene_add_solid(scene, solid->name, &alone->motion, &alone->mesh, low, high);
    return KF_OK;
}

/* Places the solid, or each of several in turn. The scene then has one mesh for all of them. Sets the lengths
 * of a single solid without its yaw. */
static kf_status build_solids(const kf_description *d, kf_mesh *meshes, kf_scene *scene, double lengths[3],
                              kf_error *error) {
    double about[3];
    if (d->solid_count == 0) {
        scene->mesh = meshes[0];
        memset(meshes, 0, sizeof *meshes);
        KF_TRY(place_solid(d, &d->solid, scene, lengths, error));
        KF_TRY(check_inside(d, &d->solid, scene, error));
        return set_motion(d, &d->solid, scene, error);
    }
    kf_scene *alone = kf_allocate(sizeof *alone);
    kf_status status = KF_OK;
    for (int s = 0; s < d->solid_count && status == KF_OK; s++) {
        *alone = *scene;
        memset(&alone->motion, 0, sizeof alone->motion);
        alone->mesh = meshes[s];
        memset(&meshes[s], 0, sizeof meshes[s]);
        status = build_one_of_several(d, &d->solids[s], alone, scene, error);
        kf_mesh_free(&alone->mesh);
    }
    free(alone);
    KF_TRY(status);
    for (int a = 0; a < 3; a++)
        about[a] = d->reference_point[a] / d->cell_size - 0.5;
    return kf_scene_end_solids(scene, d->reference_point_given ? about : NULL, error);
}

/* ---- The smoke ---- */

/* Sets the smoke's emitters in cells, and refuses one outside the domain. */
static kf_status set_smoke(const kf_description *d, kf_scene *scene, kf_error *error) {
    scene->smoke = d->smoke;
    for (int e = 0; e < d->smoke.count; e++) {
        kf_emitter *emitter = &scene->smoke.emitters[e];
        emitter->radius /= d->cell_size;
        for (int a = 0; a < 3; a++) {
            emitter->from[a] = emitter->from[a] / d->cell_size - 0.5;
            emitter->to[a] = emitter->to[a] / d->cell_size - 0.5;
            const double low = fmin(emitter->from[a], emitter->to[a]),
                         high = fmax(emitter->from[a], emitter->to[a]);
            if (low >= -0.5 && high <= scene->nodes[a] - 0.5) continue;
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: smoke.emitters[%d] reaches from %.4g m to %.4g m along %c, out of the domain (0 to "
                "%.4g m)",
                d->source, e, (low + 0.5) * d->cell_size, (high + 0.5) * d->cell_size, "xyz"[a],
                scene -> nodes[a] * d -> cell_size);
        }
    }
    return KF_OK;
}

/* ---- The probes ---- */

/* Refuses a probe that the method cannot read, or that lies outside the domain. Probes do not change the
 * flow. */
static kf_status check_probes(const kf_description *d, const kf_scene *scene, kf_error *error) {
    kf_probe_frame frame;
    kf_probe_frame_of(scene, &frame);
    for (int i = 0; i < d->probes.count; i++) {
        char place[KF_PATH + 64];
        kf_probe probe;
        (void)snprintf(place, sizeof place, "%s: probes.%s", d->source, d->probes.list[i].name);
        KF_TRY(kf_probe_read(place, d->probes.list[i].name, d->probes.list[i].text, &frame, &probe, error));
        kf_probe_free(&probe);
    }
    return KF_OK;
}

/* ---- The flow ---- */

/* Sets the reference point of moments for the solid nodes of a mask. */
static void set_moment_center(const kf_description *d, kf_scene *scene) {
    for (int a = 0; a < 3; a++)
        scene->moment_center[a] = d->reference_point_given
                                      ? d->reference_point[a] / d->cell_size - 0.5
                                      : 0.5 * (scene->solid_low[a] + scene->solid_high[a]);
}

/* Sets the reference length as given, else as one of the solid's lengths. */
static kf_status set_reference_length(const kf_description *d, const double lengths[3], kf_scene *scene,
                                      kf_text *notes, kf_error *error) {
    if (d->reference_length > 0.0) {
        scene->reference_length = d->reference_length / d->cell_size;
        return KF_OK;
    }
    if (scene->initial != KF_INITIAL_UNIFORM) {
        scene->reference_length = scene->nodes[0] / (2.0 * PI);
        kf_note(notes, "flow.reference_length: %.4g m, the domain's length over 2 pi",
                scene->reference_length * d->cell_size);
        return KF_OK;
    }
    if (!kf_scene_has_solid(scene))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: flow.reference_length: is missing, and there is no solid to take it "
                       "from; give it in metres",
                       d->source);
    const int face = kf_description_inflow(d);
    int axis = face < 0 ? 0 : face / 2;
    /* A sheet across the wind has no length along it. */
    for (int a = 0; a < 3 && lengths[axis] < 1.0; a++)
        if (lengths[a] > lengths[axis]) axis = a;
    scene->reference_length = lengths[axis];
    kf_note(notes, "flow.reference_length: %.4g m, the solid's length along %c%s",
            lengths[axis] * d->cell_size, "xyz"[axis], scene -> yaw != 0.0 ? " without its yaw" : "");
    return KF_OK;
}

/* Computes the viscosity from the Reynolds number, or the reverse. Refuses what the grid or the method cannot
 * do. */
static kf_status set_viscosity(const kf_description *d, kf_scene *scene, kf_error *error) {
    if (d->reynolds > 0.0) {
        scene->reynolds = d->reynolds;
        scene->viscosity = d->lattice_speed * scene->reference_length / d->reynolds;
    } else {
        scene->viscosity = d->viscosity * scene->time_step / (d->cell_size * d->cell_size);
        scene->reynolds = scene->reference_speed * scene->reference_length / scene->viscosity;
    }
    if (!(scene->viscosity >= LEAST_VISCOSITY))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: flow: Reynolds number %.3g needs the lattice viscosity %.2g, below "
                       "%g: the grid is far too coarse for it; lower the Reynolds number or add cells",
                       d->source, scene->reynolds, scene->viscosity, LEAST_VISCOSITY);
    if (scene->viscosity > KF_LARGEST_VISCOSITY)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: flow: the lattice viscosity is %.3g, above %g, where the method is "
                       "inaccurate; raise the Reynolds number, or make the scene's flow.lattice_speed "
                       "smaller, at most %.2g",
                       d->source, scene->viscosity, KF_LARGEST_VISCOSITY,
                       d->lattice_speed * KF_LARGEST_VISCOSITY / scene->viscosity);
    return KF_OK;
}

/* Sets the faces and their velocities in cells per step. Refuses a flow that enters the domain and cannot
 * leave it. */
static kf_status set_faces(const kf_description *d, kf_scene *scene, kf_error *error) {
    const double to_lattice = scene->time_step / d->cell_size;
    double influx = 0.0;
    bool inflow = false, outflow = false;
    for (int f = 0; f < KF_FACES; f++) {
        const double inward = f % 2 == 0 ? 1.0 : -1.0;
        double square = 0.0;
        scene->faces[f] = d->faces[f];
        scene->specular_share[f] = d->specular_share[f];
        for (int a = 0; a < 3; a++) {
            double v = d->face_velocity[f][a];
            if (d->faces[f] == KF_INFLOW && !d->face_velocity_given[f])
                v = a == f / 2 ? inward * d->speed : 0.0;
            scene->face_velocity[f][a] = v * to_lattice;
            square += v * v * to_lattice * to_lattice;
        }
        if (sqrt(square) > FASTEST)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: boundaries.%s.velocity: %.3g cells a step, at most %g; make "
                           "flow.lattice_speed smaller, at most %.2g",
                           d->source, kf_face_names[f], sqrt(square), FASTEST,
                           d->lattice_speed * FASTEST / sqrt(square));
        const double face_area = (double)d->cells[(f / 2 + 1) % 3] * d->cells[(f / 2 + 2) % 3];
        inflow = inflow || d->faces[f] == KF_INFLOW;
        outflow = outflow || d->faces[f] == KF_OUTFLOW;
        if (d->faces[f] == KF_INFLOW) influx += inward * scene->face_velocity[f][f / 2] * face_area;
    }
    if (inflow && !outflow && fabs(influx) > 1e-9)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: boundaries: fluid flows in but cannot leave; make the opposite face an outflow",
                       d->source);
    if (outflow && influx < -1e-9)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: boundaries: the inflows' velocities point out of the domain; reverse them, or "
                       "make that face the outflow",
                       d->source);
    return KF_OK;
}

/* Sets the initial flow and the force on the fluid, in lattice units. */
static kf_status set_initial(const kf_description *d, kf_scene *scene, kf_error *error) {
    scene->initial = d->initial;
    double square = 0.0;
    const int face = kf_description_inflow(d);
    for (int a = 0; a < 3; a++) {
        scene->body_force[a] = d->acceleration[a] * scene->time_step * scene->time_step / d->cell_size;
        if (d->initial_velocity_given)
            scene->initial_velocity[a] = d->initial_velocity[a] * scene->time_step / d->cell_size;
        else if (face >= 0)
            scene->initial_velocity[a] = scene->face_velocity[face][a];
        square += scene->initial_velocity[a] * scene->initial_velocity[a];
    }
    if (sqrt(square) > FASTEST)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: flow.initial_velocity: %.3g cells a step, at most %g; make "
                       "flow.lattice_speed smaller",
                       d->source, sqrt(square), FASTEST);
    scene->disturbance = d->disturbance * d->lattice_speed;
    if (scene->disturbance > 0.0) kf_scene_draw_disturbance(scene);
    if (d->initial == KF_INITIAL_UNIFORM) return KF_OK;
    memset(scene->initial_velocity, 0, sizeof scene->initial_velocity);
    scene->initial_velocity[0] = d->lattice_speed;
    const int axes = d->initial == KF_INITIAL_TAYLOR_GREEN_2D ? 2 : 3;
    for (int a = 0; a < 3; a++)
        if (d->faces[2 * a] != KF_PERIODIC || (a < axes && d->cells[a] != d->cells[0]))
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: flow.initial: %s needs all faces periodic and equally many cells "
                           "along %s",
                           d->source, kf_initial_names[d->initial], axes == 2 ? "x and y" : "x, y and z");
    return KF_OK;
}

/* Refuses a grid that is too large, too thin between faces, or too fast. */
static kf_status check_grid(const kf_description *d, kf_error *error) {
    if (d->lattice_speed > FASTEST && d->lattice_viscosity > 0.0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: flow.lattice_viscosity: %g makes flow.speed %.3g cells a step on this grid, at most "
            "%g; make it smaller, at most %.2g, or the grid finer",
            d->source, d->lattice_viscosity, d->lattice_speed, FASTEST,
            d->lattice_viscosity * FASTEST / d->lattice_speed);
    if (d->lattice_speed > FASTEST)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: flow.lattice_speed: %g cells a step, at most %g (Mach number 0.52); "
                       "0.05 is a good value",
                       d->source, d->lattice_speed, FASTEST);
    if ((double)d->cells[0] * d->cells[1] * d->cells[2] > NODES_LIMIT)
        return kf_fail(error, KF_BAD_INPUT, "%s: the grid %dx%dx%d has more than %.0f nodes; make it coarser",
                       d->source, d->cells[0], d->cells[1], d->cells[2], NODES_LIMIT);
    for (int a = 0; a < 3; a++)
        if (d->cells[a] < 3 && d->faces[2 * a] != KF_PERIODIC)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: the grid has %d cell%s along %c, at least 3 between faces that are "
                           "not periodic",
                           d->source, d->cells[a], d->cells[a] == 1 ? "" : "s", "xyz"[a]);
    return KF_OK;
}

/* Makes the scene of a description. kf_scene_build frees the remaining meshes. */
static kf_status build(const kf_description *d, kf_mesh *meshes, kf_text *notes, kf_scene *scene,
                       kf_error *error) {
    double lengths[3] = {0};
    KF_TRY(check_grid(d, error));
    memcpy(scene->nodes, d->cells, sizeof scene->nodes);
    scene->cell_size = d->cell_size;
    scene->time_step = d->lattice_speed * d->cell_size / d->speed;
    scene->reference_speed = d->lattice_speed;
    scene->collision = d->collision;
    scene->rate_rule = d->rate_rule;
    scene->outer_ones = d->outer_ones;
    scene->basis = d->basis;
    scene->high_order_rate = d->high_order_rate;
    scene->accuracy = d->accuracy;
    scene->immersed_passes = d->immersed_passes;
    scene->samples_per_cell = d->samples_per_cell;
    scene->seed = d->seed;
    scene->yaw = d->solid.yaw;
    scene->linked = d->solid.linked;
    scene->half_way = d->solid.half_way;
    scene->wall_law = d->wall_law;
    scene->trip = d->trip / d->cell_size;
    scene->layers = d->layers;
    scene->reference_area = d->reference_area / (d->cell_size * d->cell_size);
    scene->reference_area_given = d->reference_area > 0.0;
    KF_TRY(set_faces(d, scene, error));
    KF_TRY(set_initial(d, scene, error));
    if (d->solid.present) KF_TRY(build_solids(d, meshes, scene, lengths, error));
    KF_TRY(set_smoke(d, scene, error));
    scene->parabolic_inflow = d->parabolic_inflow;
    if (d->mask.source != KF_MASK_NONE) {
        KF_TRY(kf_mask_make(d, scene, error));
        set_moment_center(d, scene);
    }
    for (int a = 0; a < 3 && (d->solid_count > 0 || scene->mask != NULL); a++)
        lengths[a] = scene->solid_high[a] - scene->solid_low[a];
    KF_TRY(set_reference_length(d, lengths, scene, notes, error));
    KF_TRY(check_probes(d, scene, error));
    KF_TRY(set_viscosity(d, scene, error));
    return kf_scene_set_boxes(d, scene, notes, error);
}

kf_status kf_scene_build(const kf_description *d, kf_mesh meshes[KF_MOST_SOLIDS], kf_text *notes,
                         kf_scene *scene, kf_error *error) {
    const kf_status status = build(d, meshes, notes, scene, error);
    for (int s = 0; s < KF_MOST_SOLIDS; s++)
        kf_mesh_free(&meshes[s]);
    return status;
}
