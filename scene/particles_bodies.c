/* Reads "fluid" and "obstacles" of particle scenes: boxes, balls, meshes, polygons on the terrain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/particles_internal.h"

static const char *const body_names[KF_BODY_KINDS] = {"box", "ball", "mesh", "polygon"};

void kf_particle_bodies_free(kf_particle_bodies *bodies) {
    for (int b = 0; b < bodies->count; b++) {
        kf_mesh_free(&bodies->list[b].mesh);
        free(bodies->list[b].corners);
    }
    bodies->count = 0;
}

/* Converts metres of the file to spacings in the box. */
static void to_spacings(const kf_particle_scene *s, double place[3]) {
    for (int i = 0; i < 3; i++)
        place[i] = place[i] / s->spacing + s->origin[i];
}

static kf_status read_box(kf_json_place place, const cJSON *object, const kf_particle_scene *s,
                          kf_particle_body *body, kf_error *error) {
    KF_TRY(kf_json_numbers(place, object, "low", true, -1e6, 1e6, s->dimensions, body->low, error));
    KF_TRY(kf_json_numbers(place, object, "high", true, -1e6, 1e6, s->dimensions, body->high, error));
    for (int i = 0; i < s->dimensions; i++)
        if (body->high[i] <= body->low[i])
            return kf_fail(error, KF_BAD_INPUT, "%s: %s: high must be above low along each axis", place.file,
                           place.path);
    to_spacings(s, body->low);
    to_spacings(s, body->high);
    return KF_OK;
}

static kf_status read_ball(kf_json_place place, const cJSON *object, const kf_particle_scene *s,
                           kf_particle_body *body, kf_error *error) {
    KF_TRY(kf_json_numbers(place, object, "center", true, -1e6, 1e6, s->dimensions, body->center, error));
    KF_TRY(kf_json_number(place, object, "radius", true, 1e-6, 1e6, &body->radius, error));
    to_spacings(s, body->center);
    body->radius /= s->spacing;
    for (int i = 0; i < s->dimensions; i++) {
        body->low[i] = body->center[i] - body->radius;
        body->high[i] = body->center[i] + body->radius;
    }
    return KF_OK;
}

static kf_status read_mesh(kf_json_place place, const cJSON *object, const kf_particle_scene *s,
                           kf_particle_body *body, kf_text *notes, kf_error *error) {
    const char *name, *slash = strrchr(place.file, '/');
    char path[KF_PATH];
    double scale = 1.0, offset[3] = {0.0, 0.0, 0.0};
    kf_body volume;
    if (s->dimensions != 3)
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: a mesh needs three dimensions", place.file, place.path);
    KF_TRY(kf_json_string(place, object, "mesh", true, &name, error));
    KF_TRY(kf_json_number(place, object, "scale", false, 1e-9, 1e9, &scale, error));
    KF_TRY(kf_json_numbers(place, object, "position", false, -1e6, 1e6, 3, offset, error));
    if (name[0] == '/' || slash == NULL)
        KF_TRY(kf_path(path, error, "%s", name));
    else
        KF_TRY(kf_path(path, error, "%.*s/%s", (int)(slash - place.file), place.file, name));
    const kf_status status = kf_mesh_read(path, &body->mesh, notes, error);
    if (status == KF_BAD_INPUT) return kf_fail_context(error, "%s: %s.mesh", place.file, place.path);
    KF_TRY(status);
    if (!cJSON_HasObjectItem(object, "scale")) kf_mesh_note_unit(path, &body->mesh, notes);
    const size_t open = kf_mesh_body(&body->mesh, true, &volume);
    if (open > 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: the mesh %s is not closed: %zu edges are open",
                       place.file, place.path, path, open);
    if (!(volume.volume > 0.0))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: the mesh %s is a sheet and encloses no volume",
                       place.file, place.path, path);
    to_spacings(s, offset);
    const double factor = scale / s->spacing, matrix[9] = {factor, 0, 0, 0, factor, 0, 0, 0, factor};
    kf_mesh_transform(&body->mesh, matrix, offset);
    const kf_box box = kf_mesh_bounds(&body->mesh);
    memcpy(body->low, box.low, sizeof body->low);
    memcpy(body->high, box.high, sizeof body->high);
    return KF_OK;
}

static kf_status read_polygon(kf_json_place place, const cJSON *object, const kf_particle_scene *s,
                              kf_particle_body *body, kf_error *error) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "polygon");
    const int count = cJSON_GetArraySize(list), axes = s->dimensions - 1;
    if (s->terrain.heights == NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: a polygon lies on the terrain; the scene has none",
                       place.file, place.path);
    if (!cJSON_IsArray(list) || count < axes + 1 || count > 10000)
        return kf_fail(error, KF_BAD_INPUT, "%s: %s.polygon: must be a list of %d to 10000 corners",
                       place.file, place.path, axes + 1);
    KF_TRY(kf_json_number(place, object, "depth", true, 1e-6, 1e4, &body->depth, error));
    body->depth /= s->spacing;
    body->corners = kf_allocate_zeroed(2 * (size_t)count, sizeof *body->corners);
    body->corner_count = count;
    for (int i = 0; i < axes; i++) {
        body->low[i] = INFINITY;
        body->high[i] = -INFINITY;
    }
    for (int c = 0; c < count; c++) {
        const cJSON *corner = cJSON_GetArrayItem(list, c);
        for (int i = 0; i < axes; i++) {
            const cJSON *number =
                axes == 1 && cJSON_IsNumber(corner) ? corner : cJSON_GetArrayItem(corner, i);
            if (!cJSON_IsNumber(number) || !isfinite(number->valuedouble) || fabs(number->valuedouble) > 1e7)
                return kf_fail(error, KF_BAD_INPUT, "%s: %s.polygon: corner %d must be %d numbers, metres",
                               place.file, place.path, c + 1, axes);
            const double x = number->valuedouble / s->spacing + s->origin[i];
            body->corners[2 * c + i] = x;
            body->low[i] = fmin(body->low[i], x);
            body->high[i] = fmax(body->high[i], x);
        }
    }
    return KF_OK;
}

static kf_status read_shape(kf_json_place place, const cJSON *object, const kf_particle_scene *s,
                            kf_particle_body *body, kf_text *notes, kf_error *error) {
    switch (body->kind) {
    case KF_BODY_BOX:
        return read_box(place, object, s, body, error);
    case KF_BODY_BALL:
        return read_ball(place, object, s, body, error);
    case KF_BODY_MESH:
        return read_mesh(place, object, s, body, notes, error);
    default:
        return read_polygon(place, object, s, body, error);
    }
}

/* Notes a body whose velocity and rotation exceed the speed of sound. */
static void note_speed(const char *path, const kf_particle_scene *s, const kf_particle_body *body,
                       kf_text *notes) {
    const double width = body->high[0] - body->low[0],
                 reach =
                     0.5 * (body->kind == KF_BODY_BALL ? width : hypot(width, body->high[1] - body->low[1])),
                 turns = body->rotation != 0.0 ? fabs(body->rotation) * reach : 0.0,
                 fastest = kf_length(body->velocity) + turns;
    if (fastest > 1.0)
        kf_note(notes,
                "%s.velocity: %.4g m/s is faster than material.sound_speed, %.4g m/s: the fluid will be "
                "compressed; give a speed of sound of about ten times the flow's speed",
                path, fastest * s->sound_speed, s->sound_speed);
}

static kf_status read_body(const char *file, const cJSON *object, const char *path,
                           const kf_particle_scene *s, kf_particle_body *body, kf_text *notes,
                           kf_error *error) {
    static const char *const keys[KF_BODY_KINDS][10] = {
        {"shape", "low", "high", "velocity", "rotation", "hydrostatic", NULL},
        {"shape", "center", "radius", "velocity", "rotation", NULL},
        {"shape", "mesh", "scale", "position", "velocity", "hydrostatic", NULL},
        {"shape", "polygon", "depth", "velocity", "hydrostatic", NULL}};
    static const char *const of_fluid[] = {"velocity", "rotation", "hydrostatic", NULL};
    const kf_json_place place = {file, path};
    int kind;
    if (!cJSON_IsObject(object))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: must be an object with \"shape\"", file, path);
    KF_TRY(kf_json_choice(place, object, "shape", true, body_names, KF_BODY_KINDS, &kind, error));
    body->kind = (kf_body_kind)kind;
    KF_TRY(kf_json_check_keys(place, object, keys[kind], error));
    if (body->wall)
        KF_TRY(kf_json_refuse_keys(place, object, of_fluid, "is for fluid: obstacles rest", error));
    KF_TRY(
        kf_json_numbers(place, object, "velocity", false, -1e5, 1e5, s->dimensions, body->velocity, error));
    if (cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(object, "rotation")))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: %s.rotation: is the speed in rad/s at which the fluid turns about its middle; a shape "
            "of particles that stands askew is a \"mesh\"",
            file, path);
    KF_TRY(kf_json_number(place, object, "rotation", false, -1e6, 1e6, &body->rotation, error));
    body->hydrostatic = kind != KF_BODY_BALL;
    KF_TRY(kf_json_boolean(place, object, "hydrostatic", false, &body->hydrostatic, error));
    for (int i = 0; i < 3; i++)
        body->velocity[i] /= s->sound_speed;
    body->rotation *= s->spacing / s->sound_speed;
    if (body->wall && kind == KF_BODY_POLYGON)
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: an obstacle is a box, a ball or a mesh", file, path);
    KF_TRY(read_shape(place, object, s, body, notes, error));
    note_speed(path, s, body, notes);
    return KF_OK;
}

static kf_status read_list(const char *file, const cJSON *root, const char *key, bool wall,
                           const kf_particle_scene *s, kf_particle_bodies *bodies, kf_text *notes,
                           kf_error *error) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, key);
    if (list == NULL && wall) return KF_OK;
    const int count = cJSON_GetArraySize(list);
    if (!cJSON_IsArray(list) || count < 1 || count + bodies->count > KF_PARTICLE_SHAPES)
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: must be a list of 1 to %d shapes", file, key,
                       KF_PARTICLE_SHAPES);
    for (int b = 0; b < count; b++) {
        char path[48];
        (void)snprintf(path, sizeof path, "%s[%d]", key, b);
        kf_particle_body *body = &bodies->list[bodies->count++];
        memset(body, 0, sizeof *body);
        body->wall = wall;
        KF_TRY(read_body(file, cJSON_GetArrayItem(list, b), path, s, body, notes, error));
    }
    return KF_OK;
}

kf_status kf_particle_bodies_read(const char *file, const cJSON *root, const kf_particle_scene *scene,
                                  kf_particle_bodies *bodies, kf_text *notes, kf_error *error) {
    bodies->count = 0;
    KF_TRY(read_list(file, root, "obstacles", true, scene, bodies, notes, error));
    return read_list(file, root, "fluid", false, scene, bodies, notes, error);
}
