#include "harness/cli/run_figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/util/json.h"
#include "solver/output/run_folder.h"

const char *const kf_figure_names[KF_FIGURES] = {"drag", "lift", "side"};

static double number_of(const cJSON *object, const char *key) {
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(number) ? number->valuedouble : (double)NAN;
}

static void copy_word(const cJSON *object, const char *key, char *target, size_t size) {
    const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
    kf_copy_text(target, size, word != NULL ? word : "");
}

static kf_figure figure_of(const cJSON *means, const char *name) {
    const cJSON *mean = cJSON_GetObjectItemCaseSensitive(means, name),
                *interval = cJSON_GetObjectItemCaseSensitive(mean, "interval_95"),
                *low = cJSON_GetArrayItem(interval, 0), *high = cJSON_GetArrayItem(interval, 1);
    const bool known = cJSON_IsNumber(low) && cJSON_IsNumber(high);
    return (kf_figure){number_of(mean, "mean"),
                       known ? 0.5 * (high->valuedouble - low->valuedouble) : (double)NAN};
}

/* Reads the coefficients from a run.json. A missing figure is NAN. */
static void read_coefficients(const cJSON *json, kf_run_figures *f) {
    const cJSON *body = cJSON_GetObjectItemCaseSensitive(json, "body_axes");
    f->known = cJSON_IsObject(json);
    f->settled = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "settled"));
    for (int c = 0; c < KF_FIGURES; c++) {
        f->wind[c] = figure_of(json, kf_figure_names[c]);
        f->body[c] = figure_of(body, kf_figure_names[c]);
    }
    f->judged =
        kf_drag_interval_read(cJSON_GetObjectItemCaseSensitive(json, "open_stream_drag"), &f->open_stream);
    f->yaw = number_of(body, "yaw_degrees");
    f->area = number_of(json, "reference_area_m2");
    f->speed = number_of(json, "speed_m_s");
    f->reynolds = number_of(json, "reynolds");
    f->cells = number_of(json, "cells_a_length");
    f->flow_throughs = number_of(json, "flow_throughs");
}

/* Returns whether a word is a state. The record is untrusted, and its state is printed. */
static bool is_state(const char *word) {
    static const char *const states[] = {"running", "broken off", "finished", "interrupted", "failed"};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(word, states[i]) == 0) return true;
    return false;
}

/* Reads the record and the scene file in a run's folder. A record without a scene and a state is not that of
 * a run. The scene file may be missing. */
kf_status kf_run_figures_read(const char *folder, kf_run_figures *f, kf_error *error) {
    char path[KF_PATH];
    cJSON *record = NULL;
    memset(f, 0, sizeof *f);
    KF_TRY(kf_path(f->folder, error, "%s", folder));
    for (size_t length = strlen(f->folder); length > 1 && f->folder[length - 1] == '/';)
        f->folder[--length] = '\0';
    KF_TRY(kf_path(path, error, "%s/run.json", f->folder));
    KF_TRY(kf_json_read_file(path, &record, error));
    copy_word(record, "scene", f->name, sizeof f->name);
    copy_word(record, "state", f->state, sizeof f->state);
    if (strcmp(f->state, "running") == 0 && !kf_run_folder_is_in_use(f->folder))
        kf_copy_text(f->state, sizeof f->state, "broken off");
    f->seconds = number_of(record, "seconds");
    copy_word(record, "checkpoint", f->checkpoint, sizeof f->checkpoint);
    copy_word(record, "begun_in", f->begun_in, sizeof f->begun_in);
    read_coefficients(cJSON_GetObjectItemCaseSensitive(record, "coefficients"), f);
    const bool is_run = cJSON_HasObjectItem(record, "scene_hash") && is_state(f->state);
    cJSON_Delete(record);
    if (!is_run) return kf_fail(error, KF_BAD_INPUT, "%s: is not the record of a kftune run", path);
    KF_TRY(kf_path(path, error, "%s/scene.json", f->folder));
    return kf_json_read_known(path, &f->scene, error);
}

void kf_run_figures_free(kf_run_figures *figures) {
    cJSON_Delete(figures->scene);
    figures->scene = NULL;
}

const char *kf_figure_text(const kf_figure *figure, char text[48]) {
    if (!isfinite(figure->mean))
        (void)snprintf(text, 48, "-");
    else if (isfinite(figure->half))
        (void)snprintf(text, 48, "%.4f +- %.2g", figure->mean, figure->half);
    else
        (void)snprintf(text, 48, "%.4f", figure->mean);
    return text;
}

cJSON *kf_figure_json(const kf_figure *figure) {
    cJSON *json = cJSON_CreateObject();
    kf_json_add_number(json, "mean", figure->mean);
    kf_json_add_number(json, "half_of_interval_95", figure->half);
    return json;
}
