/* Reads "solid" of a scene file, or "solids": a mesh or a shape, its pose and its motion. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/util/json.h"
#include "base/util/vector.h"
#include "scene/internal.h"

/* The last two keys apply to meshes only, the first to members of solids only. */
enum { COMMON_KEYS = 12, KEYS_OF_MESHES = 2 };
static const char *const common_keys[COMMON_KEYS] = {"name",     "scale",    "length",    "position",
                                                     "anchor",   "rotation", "yaw",       "motion",
                                                     "boundary", "links",    "mesh_hash", "mesh"};
static const char *const boundary_names[2] = {"immersed", "links"};
static const char *const links_names[2] = {"interpolated", "half-way"};

/* The longest name that messages give to a member of a solid, such as "solids[2].motion". */
enum { INNER_PATH = KF_SOLID_PATH + 16 };
static const char *inner_path(const kf_solid_description *s, const char *member, char path[INNER_PATH]) {
    (void)snprintf(path, INNER_PATH, "%s.%s", s->path, member);
    return path;
}

static kf_status read_axis(kf_json_place place, const cJSON *object, bool required, double axis[3],
                           kf_error *error) {
    KF_TRY(kf_json_numbers(place, object, "axis", required, -KF_FARTHEST, KF_FARTHEST, 3, axis, error));
    const double length = kf_length(axis);
    if (length < 1e-9)
        return kf_fail(error, KF_BAD_INPUT, "%s: %s.axis: has no direction; give a vector such as [0, 0, 1]",
                       place.file, place.path);
    for (int a = 0; a < 3; a++)
        axis[a] /= length;
    return KF_OK;
}

static kf_status read_turn(const char *file, const cJSON *object, kf_solid_description *s, kf_error *error) {
    static const char *const keys[] = {"axis", "degrees", NULL};
    char path[INNER_PATH];
    const kf_json_place place = {file, inner_path(s, "rotation", path)};
    double *axis = s->turn[s->turns].axis, *degrees = &s->turn[s->turns].degrees;
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    KF_TRY(read_axis(place, object, true, axis, error));
    s->turns++;
    return kf_json_number(place, object, "degrees", true, -360.0, 360.0, degrees, error);
}

/* Reads one rotation, or a list of rotations. */
static kf_status read_rotation(const char *file, const cJSON *solid, kf_solid_description *s,
                               kf_error *error) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(solid, "rotation"), *item = NULL;
    if (value == NULL) return KF_OK;
    if (cJSON_IsObject(value)) return read_turn(file, value, s, error);
    if (!cJSON_IsArray(value) || cJSON_GetArraySize(value) > KF_TURNS)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.rotation: must be {\"axis\": [x, y, z], \"degrees\": d}, or a list of at "
                       "most %d of them",
                       file, s->path, KF_TURNS);
    cJSON_ArrayForEach(item, value) {
        if (!cJSON_IsObject(item))
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: %s.rotation: each entry of the list must be {\"axis\": [x, y, z], "
                           "\"degrees\": d}",
                           file, s->path);
        KF_TRY(read_turn(file, item, s, error));
    }
    return KF_OK;
}

/* Reads a solid that the fluid moves: its mass and its initial motion. */
static kf_status read_free(kf_json_place place, const cJSON *object, kf_solid_description *s,
                           kf_error *error) {
    static const char *const keys[] = {"free",     "density", "gravity", "axis", "angular_velocity",
                                       "velocity", NULL};
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    s->moving = true;
    KF_TRY(kf_json_number(place, object, "density", true, 1.0, 1e6, &s->density, error));
    return kf_json_numbers(place, object, "gravity", false, -1e6, 1e6, 3, s->gravity, error);
}

/* Reads solid.motion: free, or turning (rad/s) and moving (m/s) as prescribed. */
static kf_status read_motion(const char *file, const cJSON *solid, kf_solid_description *s, kf_error *error) {
    static const char *const keys[] = {"free", "center", "axis", "angular_velocity", "velocity", NULL};
    static const char *const of_free[] = {"density", "gravity", NULL};
    char path[INNER_PATH];
    const kf_json_place parent = {file, s->path}, place = {file, inner_path(s, "motion", path)};
    const cJSON *object = NULL;
    KF_TRY(kf_json_object(parent, solid, "motion", false, &object, error));
    if (object == NULL) return KF_OK;
    KF_TRY(kf_json_boolean(place, object, "free", false, &s->free, error));
    if (!s->free)
        KF_TRY(kf_json_refuse_keys(place, object, of_free, "is for a solid with \"free\": true", error));
    KF_TRY(s->free ? read_free(place, object, s, error) : kf_json_check_keys(place, object, keys, error));
    s->motion_center_given = cJSON_HasObjectItem(object, "center");
    KF_TRY(kf_json_numbers(place, object, "center", false, -KF_FARTHEST, KF_FARTHEST, 3, s->motion_center,
                           error));
    KF_TRY(kf_json_number(place, object, "angular_velocity", false, -1e9, 1e9, &s->angular_velocity, error));
    KF_TRY(read_axis(place, object, s->angular_velocity != 0.0, s->motion_axis, error));
    if (cJSON_HasObjectItem(object, "axis") && !cJSON_HasObjectItem(object, "angular_velocity"))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.motion.axis: belongs to \"angular_velocity\" (rad/s); give that, or remove "
                       "the key",
                       file, s->path);
    KF_TRY(kf_json_numbers(place, object, "velocity", false, -1e6, 1e6, 3, s->velocity, error));
    if (s->free) return KF_OK;
    s->moving =
        s->angular_velocity != 0.0 || s->velocity[0] != 0.0 || s->velocity[1] != 0.0 || s->velocity[2] != 0.0;
    if (!s->moving)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.motion: neither angular_velocity (rad/s) nor velocity (m/s) is "
                       "given; remove the key for a solid at rest",
                       file, s->path);
    return KF_OK;
}

static kf_status read_parameter(kf_json_place place, const cJSON *object, const kf_shape_parameter *parameter,
                                double *value, kf_error *error) {
    *value = parameter->fallback;
    if (parameter->kind == KF_SHAPE_BOOLEAN) {
        bool on = parameter->fallback != 0.0;
        KF_TRY(kf_json_boolean(place, object, parameter->key, false, &on, error));
        *value = on ? 1.0 : 0.0;
    } else if (parameter->kind == KF_SHAPE_INTEGER) {
        long number = lround(parameter->fallback);
        KF_TRY(kf_json_integer(place, object, parameter->key, false, lround(parameter->low),
                               lround(parameter->high), &number, error));
        *value = (double)number;
    } else {
        KF_TRY(kf_json_number(place, object, parameter->key, false, parameter->low, parameter->high, value,
                              error));
    }
    return KF_OK;
}

/* Reads solid.shape with the parameters of that shape. */
static kf_status read_shape(const char *file, const cJSON *object, kf_solid_description *s, kf_error *error) {
    const kf_json_place place = {file, s->path};
    int index = 0;
    KF_TRY(kf_json_choice(place, object, "shape", true, kf_shape_names(), KF_SHAPES, &index, error));
    s->shape = &kf_shapes[index];
    const char *keys[COMMON_KEYS + 1 + KF_SHAPE_PARAMETERS + 1] = {"shape"};
    int count = 1;
    for (int k = 0; k < COMMON_KEYS - KEYS_OF_MESHES; k++)
        keys[count++] = common_keys[k];
    for (int p = 0; p < KF_SHAPE_PARAMETERS && s->shape->parameters[p].key != NULL; p++)
        keys[count++] = s->shape->parameters[p].key;
    keys[count] = NULL;
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    for (int p = 0; p < KF_SHAPE_PARAMETERS && s->shape->parameters[p].key != NULL; p++)
        KF_TRY(read_parameter(place, object, &s->shape->parameters[p], &s->shape_values[p], error));
    const char *wrong = s->shape->check == NULL ? NULL : s->shape->check(s->shape_values);
    if (wrong != NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: %s: %s", file, s->path, s->shape->name, wrong);
    return KF_OK;
}

/* Checks the hash of the mesh. A stored scene holds it, because the mesh file may change. */
static kf_status check_mesh_hash(kf_json_place place, const cJSON *object, const char *mesh,
                                 kf_error *error) {
    const char *kept = NULL;
    char hash[KF_HASH_HEX];
    KF_TRY(kf_json_string(place, object, "mesh_hash", false, &kept, error));
    if (kept == NULL) return KF_OK;
    KF_TRY(kf_mesh_file_hash(mesh, hash, error));
    if (strcmp(kept, hash) == 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: %s is not the mesh from which this scene was made, because its file has changed; "
                   "give the new one with --scene, or remove %s.mesh_hash",
                   place.file, mesh, place.path);
}

/* Reads the mesh's file name. A relative path starts at the folder of the scene file. */
static kf_status read_mesh_name(const char *file, const cJSON *object, kf_solid_description *s,
                                kf_error *error) {
    const char *keys[COMMON_KEYS + 1] = {NULL};
    memcpy(keys, common_keys, sizeof common_keys);
    const kf_json_place place = {file, s->path};
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    const char *name = NULL, *slash = strrchr(file, '/');
    KF_TRY(kf_json_string(place, object, "mesh", true, &name, error));
    if (name[0] == '\0')
        return kf_fail(error, KF_BAD_INPUT, "%s: %s.mesh: is empty; give a mesh file", file, s->path);
    if (name[0] == '/' || slash == NULL)
        KF_TRY(kf_path(s->mesh_file, error, "%s", name));
    else
        KF_TRY(kf_path(s->mesh_file, error, "%.*s/%s", (int)(slash - file), file, name));
    return check_mesh_hash(place, object, s->mesh_file, error);
}

/* Reads the boundary method of the solid. */
static kf_status read_boundary(const char *file, const cJSON *object, kf_solid_description *s,
                               kf_error *error) {
    const kf_json_place place = {file, s->path};
    int boundary = 0, links = 0;
    KF_TRY(kf_json_choice(place, object, "boundary", false, boundary_names, 2, &boundary, error));
    KF_TRY(kf_json_choice(place, object, "links", false, links_names, 2, &links, error));
    s->linked = boundary == 1;
    s->half_way = links == 1;
    if (!s->linked && cJSON_GetObjectItemCaseSensitive(object, "links") != NULL)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.links is an option of \"boundary\": \"links\"; add that, or remove the key",
                       file, s->path);
    return KF_OK;
}

/* Reads the pose and motion of a solid: size, position, rotations, motion and boundary. */
static kf_status read_pose(const char *file, const cJSON *object, kf_solid_description *s, kf_error *error) {
    const kf_json_place place = {file, s->path};
    int anchor = 0;
    KF_TRY(kf_json_number(place, object, "scale", false, 1e-9, 1e9, &s->scale, error));
    KF_TRY(kf_json_number(place, object, "length", false, 1e-9, 1e9, &s->length, error));
    s->scaled = cJSON_HasObjectItem(object, "scale") || cJSON_HasObjectItem(object, "length");
    if (cJSON_HasObjectItem(object, "scale") && cJSON_HasObjectItem(object, "length"))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: give \"scale\" or \"length\" (metres along x), not both",
                       file, s->path);
    KF_TRY(
        kf_json_numbers(place, object, "position", true, -KF_FARTHEST, KF_FARTHEST, 3, s->position, error));
    KF_TRY(kf_json_choice(place, object, "anchor", false, kf_anchor_names, KF_ANCHORS, &anchor, error));
    s->anchor = (kf_anchor)anchor;
    KF_TRY(read_rotation(file, object, s, error));
    KF_TRY(kf_json_number(place, object, "yaw", false, -180.0, 180.0, &s->yaw, error));
    KF_TRY(read_motion(file, object, s, error));
    return read_boundary(file, object, s, error);
}

/* Reads one solid. The caller has set its path. */
static kf_status read_object(const char *file, const cJSON *object, kf_solid_description *s,
                             kf_error *error) {
    const bool mesh = cJSON_HasObjectItem(object, "mesh"), shape = cJSON_HasObjectItem(object, "shape");
    if (mesh == shape)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s: give either \"mesh\" (a file) or \"shape\" (ball, torus, "
                       "ahmed, plate, knot, car, aircraft, town, bunch)",
                       file, s->path);
    s->present = true;
    KF_TRY(mesh ? read_mesh_name(file, object, s, error) : read_shape(file, object, s, error));
    return read_pose(file, object, s, error);
}

/* Reads the name of one of several solids. Names of result files contain it. */
static kf_status read_name(const char *file, const cJSON *object, const kf_description *d,
                           kf_solid_description *s, kf_error *error) {
    const char *name = NULL;
    KF_TRY(kf_json_string((kf_json_place){file, s->path}, object, "name", true, &name, error));
    bool plain = name[0] != '\0' && strlen(name) < sizeof s->name;
    for (const char *c = name; *c != '\0'; c++)
        plain = plain && (isalnum((unsigned char)*c) || *c == '_' || *c == '-');
    if (!plain)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.name: must be 1 to %d letters, digits, _ and -, because it becomes part of "
                       "the file name forces_NAME.csv",
                       file, s->path, KF_SOLID_NAME - 1);
    for (const kf_solid_description *other = d->solids; other < s; other++)
        if (strcasecmp(other->name, name) == 0)
            return kf_fail(error, KF_BAD_INPUT, "%s: %s.name: \"%s\" is the name of %s, too; give another",
                           file, s->path, name, other->path);
    (void)snprintf(s->name, sizeof s->name, "%s", name);
    return KF_OK;
}

/* Refuses keys that one of several solids cannot have. */
static kf_status check_one_of_several(const char *file, const cJSON *object, const kf_solid_description *s,
                                      kf_error *error) {
    if (s->free)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: %s.motion.free: only a single solid can be free; prescribe the motion of each of several",
            file, s->path);
    if (s->linked)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.boundary: \"links\" works with one solid only; use \"immersed\"", file,
                       s->path);
    if (cJSON_HasObjectItem(object, "yaw"))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.yaw: is a key of a single solid; give \"rotation\" and \"position\"", file,
                       s->path);
    if (kf_length(s->velocity) > 0.0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.motion.velocity: with several solids each may only rest or turn about a fixed "
                       "axis; let the fluid and the walls move instead",
                       file, s->path);
    return KF_OK;
}

/* Reads "solids". A list with one member means the same as "solid". */
static kf_status read_list(const char *file, const cJSON *list, kf_description *d, kf_error *error) {
    const int count = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    if (count < 1 || count > KF_MOST_SOLIDS)
        return kf_fail(error, KF_BAD_INPUT, "%s: solids: must be a list of 1 to %d solids", file,
                       KF_MOST_SOLIDS);
    for (int i = 0; i < count; i++) {
        kf_solid_description *s = &d->solids[i];
        const cJSON *object = cJSON_GetArrayItem(list, i);
        *s = d->solid;
        (void)snprintf(s->path, sizeof s->path, "solids[%d]", i);
        if (!cJSON_IsObject(object))
            return kf_fail(error, KF_BAD_INPUT, "%s: %s: must be an object, as \"solid\" is", file, s->path);
        KF_TRY(read_name(file, object, d, s, error));
        KF_TRY(read_object(file, object, s, error));
        if (count > 1) KF_TRY(check_one_of_several(file, object, s, error));
    }
    d->solid_count = count > 1 ? count : 0;
    if (count == 1) d->solid = d->solids[0];
    d->solid.present = true;
    return KF_OK;
}

kf_status kf_description_read_solid(const char *file, const cJSON *root, kf_description *d, kf_error *error) {
    const kf_json_place top = {file, ""};
    const cJSON *object = NULL, *list = cJSON_GetObjectItemCaseSensitive(root, "solids");
    KF_TRY(kf_json_object(top, root, "solid", false, &object, error));
    if (object != NULL && list != NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: give \"solid\" or \"solids\", not both", file);
    if (list != NULL) return read_list(file, list, d, error);
    if (object == NULL) return KF_OK;
    if (cJSON_HasObjectItem(object, "name"))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: solid.name: is a key of the entries of \"solids\"; remove the key", file);
    return read_object(file, object, &d->solid, error);
}
