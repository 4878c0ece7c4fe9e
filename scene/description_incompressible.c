/* "incompressible" of a scene: what only that solver asks (docs/incompressible.md). */
#include "base/util/json.h"
#include "scene/internal.h"

const char *const kf_viscous_term_names[KF_VISCOUS_TERMS] = {"automatic", "implicit", "off", "explicit"};
const char *const kf_trace_names[KF_TRACES] = {"midpoint", "euler"};

kf_status kf_description_read_incompressible(const char *file, const cJSON *root,
                                             kf_incompressible_model *model, kf_error *error) {
    static const char *const keys[] = {"limiter", "trace", "viscous_term", "steps", "tolerance", NULL};
    const kf_json_place top = {file, ""}, place = {file, "incompressible"};
    const cJSON *object = NULL;
    KF_TRY(kf_json_object(top, root, "incompressible", false, &object, error));
    if (object == NULL) return KF_OK;
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
