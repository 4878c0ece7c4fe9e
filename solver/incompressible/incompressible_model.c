#include "solver/incompressible/incompressible_model.h"

#include "base/util/json.h"

const char *const kf_viscous_term_names[KF_VISCOUS_TERMS] = {"automatic", "implicit", "off", "explicit"};
const char *const kf_trace_names[KF_TRACES] = {"midpoint", "euler"};

/* Reads the scene's section "incompressible". Defaults are kept as 0, so that old scenes keep their
 * hashes. */
static kf_status read_section(const char *file, const cJSON *object, void *values, kf_error *error) {
    static const char *const keys[] = {"limiter", "trace", "viscous_term", "steps", "tolerance", NULL};
    const kf_json_place place = {file, kf_incompressible_section.name};
    kf_incompressible_model *model = values;
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    bool limiter = true;
    int trace = 0, viscous = 0;
    double steps = 1.0, tolerance = KF_DEFAULT_TOLERANCE;
    KF_TRY(kf_json_boolean(place, object, "limiter", false, &limiter, error));
    KF_TRY(kf_json_choice(place, object, "trace", false, kf_trace_names, KF_TRACES, &trace, error));
    KF_TRY(kf_json_choice(place, object, "viscous_term", false, kf_viscous_term_names, KF_VISCOUS_TERMS,
                          &viscous, error));
    KF_TRY(kf_json_number(place, object, "steps", false, 1e-3, KF_MOST_STEP_RATIO, &steps, error));
    KF_TRY(kf_json_number(place, object, "tolerance", false, 1e-10, 0.1, &tolerance, error));
    model->unlimited = !limiter;
    model->trace = (kf_trace)trace;
    model->viscous_term = (kf_viscous_term)viscous;
    model->steps = steps == 1.0 ? 0.0 : steps;
    model->tolerance = tolerance == KF_DEFAULT_TOLERANCE ? 0.0 : tolerance;
    return KF_OK;
}

static void hash_integer(kf_hasher *hasher, int64_t value) {
    kf_hash_add(hasher, &value, sizeof value);
}

/* Hashes the section. Default values add nothing, so a scene with them has the same hash as one without the
 * section. */
static void hash_section(const void *values, kf_hasher *hasher) {
    const kf_incompressible_model *model = values;
    if (!model->unlimited && model->trace == KF_TRACE_MIDPOINT &&
        model->viscous_term == KF_VISCOUS_AUTOMATIC && model->steps == 0.0 && model->tolerance == 0.0)
        return;
    kf_hash_add_string(hasher, kf_incompressible_section.name);
    hash_integer(hasher, model->unlimited);
    hash_integer(hasher, model->trace);
    hash_integer(hasher, model->viscous_term);
    kf_hash_add(hasher, &model->steps, sizeof model->steps);
    kf_hash_add(hasher, &model->tolerance, sizeof model->tolerance);
}

const kf_scene_section kf_incompressible_section = {"incompressible", sizeof(kf_incompressible_model),
                                                    read_section, hash_section};

const kf_incompressible_model *kf_incompressible_model_of(const kf_scene *scene) {
    static const kf_incompressible_model usual;
    const kf_incompressible_model *own = kf_scene_section_values(scene, &kf_incompressible_section);
    return own != NULL ? own : &usual;
}

kf_incompressible_model *kf_incompressible_own_model(kf_scene *scene) {
    return kf_scene_make_section(scene, &kf_incompressible_section);
}
