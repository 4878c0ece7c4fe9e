#include "harness/cli/run_plan.h"

#include <math.h>

#include "base/util/file.h"
#include "base/util/json.h"

static kf_status path_of(const char *scene_hash, char path[KF_PATH], kf_error *error) {
    char folder[KF_PATH];
    KF_TRY(kf_store_folder(folder, error));
    KF_TRY(kf_path(path, error, "%s/plans", folder));
    KF_TRY(kf_make_folders(path, error));
    return kf_path(path, error, "%s/plans/%s.json", folder, scene_hash);
}

cJSON *kf_run_plan_json(const kf_run_plan *plan) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "drag_within", plan->within);
    kf_json_add_number(json, "share_of_drag", plan->share);
    cJSON_AddNumberToObject(json, "steps", plan->steps);
    kf_json_add_number(json, "seconds", plan->seconds);
    return json;
}

kf_status kf_run_plan_keep(const char *scene_hash, const kf_run_plan *plan, kf_error *error) {
    char path[KF_PATH];
    KF_TRY(path_of(scene_hash, path, error));
    cJSON *json = kf_run_plan_json(plan);
    const kf_status status = kf_json_write_file(path, json, error);
    cJSON_Delete(json);
    return status;
}

/* Reads the plan that `kftune plan` kept for a scene. An unknown share or time is NAN. */
kf_status kf_run_plan_find(const char *scene_hash, kf_run_plan *plan, kf_error *error) {
    char path[KF_PATH];
    cJSON *json = NULL;
    *plan = (kf_run_plan){.share = (double)NAN, .seconds = (double)NAN};
    KF_TRY(path_of(scene_hash, path, error));
    KF_TRY(kf_json_read_file(path, &json, error));
    const kf_json_place place = {path, ""};
    const cJSON *share = cJSON_GetObjectItemCaseSensitive(json, "share_of_drag"),
                *seconds = cJSON_GetObjectItemCaseSensitive(json, "seconds");
    kf_status status = kf_json_number(place, json, "drag_within", true, 0.0, 10.0, &plan->within, error);
    if (status == KF_OK) status = kf_json_number(place, json, "steps", true, 0.0, 1e15, &plan->steps, error);
    if (cJSON_IsNumber(share)) plan->share = share->valuedouble;
    if (cJSON_IsNumber(seconds)) plan->seconds = seconds->valuedouble;
    cJSON_Delete(json);
    return status;
}
