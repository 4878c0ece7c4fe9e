/* Reads "smoke" of a scene file: emitters of tracers. Positions stay in metres until kf_scene_build. */
#include <math.h>
#include <stdio.h>

#include "base/util/json.h"
#include "scene/internal.h"

static const double FASTEST_RATE = 1e6;
enum { MOST_NOZZLES = 1000 };

static kf_status read_box(kf_json_place place, const cJSON *object, kf_emitter *emitter, kf_error *error) {
    static const char *const keys[] = {"shape", "rate", "low", "high", NULL};
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    KF_TRY(kf_json_numbers(place, object, "low", true, -KF_FARTHEST, KF_FARTHEST, 3, emitter->from, error));
    KF_TRY(kf_json_numbers(place, object, "high", true, -KF_FARTHEST, KF_FARTHEST, 3, emitter->to, error));
    for (int a = 0; a < 3; a++)
        if (emitter->to[a] < emitter->from[a])
            return kf_fail(error, KF_BAD_INPUT, "%s: %s: high must not be smaller than low along %c",
                           place.file, place.path, "xyz"[a]);
    return KF_OK;
}

/* Reads an emitter in the form of a disc: centre, normal and radius in metres. */
static kf_status read_disc(kf_json_place place, const cJSON *object, kf_emitter *emitter, kf_error *error) {
    static const char *const keys[] = {"shape", "rate", "center", "normal", "radius", NULL};
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    KF_TRY(
        kf_json_numbers(place, object, "center", true, -KF_FARTHEST, KF_FARTHEST, 3, emitter->from, error));
    KF_TRY(
        kf_json_numbers(place, object, "normal", true, -KF_FARTHEST, KF_FARTHEST, 3, emitter->normal, error));
    KF_TRY(kf_json_number(place, object, "radius", true, 1e-9, KF_FARTHEST, &emitter->radius, error));
    double length = 0.0;
    for (int a = 0; a < 3; a++)
        length = hypot(length, emitter->normal[a]);
    if (length < 1e-9)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: %s.normal: has no direction; give a vector such as [1, 0, 0]", place.file,
                       place.path);
    for (int a = 0; a < 3; a++) {
        emitter->normal[a] /= length;
        emitter->to[a] = emitter->from[a];
    }
    return KF_OK;
}

static kf_status read_rake(kf_json_place place, const cJSON *object, kf_emitter *emitter, kf_error *error) {
    static const char *const keys[] = {"shape", "rate", "from", "to", "nozzles", "radius", NULL};
    long nozzles = 0;
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    KF_TRY(kf_json_numbers(place, object, "from", true, -KF_FARTHEST, KF_FARTHEST, 3, emitter->from, error));
    KF_TRY(kf_json_numbers(place, object, "to", true, -KF_FARTHEST, KF_FARTHEST, 3, emitter->to, error));
    KF_TRY(kf_json_number(place, object, "radius", true, 1e-9, KF_FARTHEST, &emitter->radius, error));
    KF_TRY(kf_json_integer(place, object, "nozzles", true, 1, MOST_NOZZLES, &nozzles, error));
    emitter->nozzles = (int)nozzles;
    return KF_OK;
}

static kf_status read_emitter(const char *file, const cJSON *object, int index, kf_emitter *emitter,
                              kf_error *error) {
    char path[48];
    (void)snprintf(path, sizeof path, "smoke.emitters[%d]", index);
    const kf_json_place place = {file, path};
    int shape = 0;
    if (!cJSON_IsObject(object))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: must be an object with \"shape\" and \"rate\"", file,
                       path);
    KF_TRY(kf_json_choice(place, object, "shape", true, kf_emitter_shape_names, KF_EMITTER_SHAPES, &shape,
                          error));
    emitter->shape = (kf_emitter_shape)shape;
    KF_TRY(kf_json_number(place, object, "rate", true, 1e-6, FASTEST_RATE, &emitter->rate, error));
    if (emitter->shape == KF_EMITTER_BOX) return read_box(place, object, emitter, error);
    if (emitter->shape == KF_EMITTER_DISC) return read_disc(place, object, emitter, error);
    return read_rake(place, object, emitter, error);
}

kf_status kf_description_read_smoke(const char *file, const cJSON *root, kf_smoke_sources *smoke,
                                    kf_error *error) {
    static const char *const keys[] = {"emitters", "capacity", "opacity", "seed", "paint", "body", NULL};
    const kf_json_place top = {file, ""}, place = {file, "smoke"};
    const cJSON *object = NULL;
    KF_TRY(kf_json_object(top, root, "smoke", false, &object, error));
    if (object == NULL) return KF_OK;
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    long seed = (long)smoke->seed;
    int paint = KF_PAINT_NONE, body = KF_BODY_LACQUER;
    KF_TRY(kf_json_integer(place, object, "capacity", false, 1, KF_TRACERS_LIMIT, &smoke->capacity, error));
    KF_TRY(kf_json_number(place, object, "opacity", false, 0.01, 100.0, &smoke->opacity, error));
    KF_TRY(kf_json_integer(place, object, "seed", false, 1, KF_JSON_WHOLE, &seed, error));
    smoke->seed = (uint64_t)seed;
    KF_TRY(
        kf_json_choice(place, object, "paint", false, kf_smoke_paint_names, KF_SMOKE_PAINTS, &paint, error));
    smoke->paint = (kf_smoke_paint)paint;
    KF_TRY(kf_json_choice(place, object, "body", false, kf_smoke_body_names, KF_SMOKE_BODIES, &body, error));
    smoke->body = (kf_smoke_body)body;
    const cJSON *emitters = cJSON_GetObjectItemCaseSensitive(object, "emitters");
    if (emitters == NULL) return KF_OK;
    const int count = cJSON_GetArraySize(emitters);
    if (!cJSON_IsArray(emitters) || count < 1 || count > KF_EMITTERS)
        return kf_fail(error, KF_BAD_INPUT, "%s: smoke.emitters: must be a list of 1 to %d emitters", file,
                       KF_EMITTERS);
    for (int e = 0; e < count; e++)
        KF_TRY(read_emitter(file, cJSON_GetArrayItem(emitters, e), e, &smoke->emitters[e], error));
    smoke->count = count;
    return KF_OK;
}
