/* Reads "refine" of a scene file: boxes of nested grids, or levels around the solid. */
#include <stdio.h>
#include <string.h>

#include "base/util/json.h"
#include "scene/internal.h"

static const double USUAL_CELLS = 64.0, MOST_CELLS = 65536.0, MOST_NODES = 1e12;

static kf_status read_levels(kf_json_place place, const cJSON *object, int *levels, kf_error *error) {
    long count = *levels;
    KF_TRY(kf_json_integer(place, object, "levels", false, 1, KF_FINER_LEVELS, &count, error));
    *levels = (int)count;
    return KF_OK;
}

static kf_status read_around(const char *file, const cJSON *object, kf_refine_description *r,
                             kf_error *error) {
    static const char *const keys[] = {"around", "levels", "cells_a_length", "nodes", NULL};
    static const char *const whom[] = {"body"};
    const kf_json_place place = {file, "refine"};
    int which = 0;
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    KF_TRY(kf_json_choice(place, object, "around", true, whom, 1, &which, error));
    KF_TRY(read_levels(place, object, &r->levels, error));
    KF_TRY(
        kf_json_number(place, object, "cells_a_length", false, 1.0, MOST_CELLS, &r->cells_a_length, error));
    KF_TRY(kf_json_number(place, object, "nodes", false, 1.0, MOST_NODES, &r->nodes, error));
    const bool of_length = cJSON_HasObjectItem(object, "cells_a_length");
    if (r->nodes > 0.0 && !of_length) r->cells_a_length = 0.0;
    r->least_cells = of_length ? r->cells_a_length : 0.0;
    if (r->levels > 0 && of_length)
        return kf_fail(error, KF_BAD_INPUT, "%s: refine: give \"levels\" or \"cells_a_length\", not both",
                       file);
    r->around_body = true;
    return KF_OK;
}

static kf_status read_box(const char *file, const cJSON *item, int number, kf_refine_description *r,
                          kf_error *error) {
    static const char *const keys[] = {"box", "levels", NULL}, *const corners[] = {"low", "high", NULL};
    char path[32], inner[40];
    (void)snprintf(path, sizeof path, "refine[%d]", number);
    (void)snprintf(inner, sizeof inner, "%s.box", path);
    const kf_json_place place = {file, path}, of_box = {file, inner};
    const cJSON *box = NULL;
    int levels = 1;
    if (!cJSON_IsObject(item))
        return kf_fail(error, KF_BAD_INPUT, "%s: %s: must be an object with \"box\" and \"levels\"", file,
                       path);
    KF_TRY(kf_json_check_keys(place, item, keys, error));
    KF_TRY(kf_json_object(place, item, "box", true, &box, error));
    KF_TRY(kf_json_check_keys(of_box, box, corners, error));
    KF_TRY(read_levels(place, item, &levels, error));
    r->boxes[number].levels = levels;
    KF_TRY(
        kf_json_numbers(of_box, box, "low", true, -KF_FARTHEST, KF_FARTHEST, 3, r->boxes[number].low, error));
    KF_TRY(kf_json_numbers(of_box, box, "high", true, -KF_FARTHEST, KF_FARTHEST, 3, r->boxes[number].high,
                           error));
    for (int a = 0; a < 3; a++)
        if (!(r->boxes[number].high[a] > r->boxes[number].low[a]))
            return kf_fail(error, KF_BAD_INPUT, "%s: %s: high must be larger than low along %c", file, inner,
                           "xyz"[a]);
    r->count = number + 1;
    return KF_OK;
}

static kf_status read_boxes(const char *file, const cJSON *list, kf_refine_description *r, kf_error *error) {
    const int count = cJSON_GetArraySize(list);
    int levels = 0;
    if (count < 1 || count > KF_FINER_LEVELS)
        return kf_fail(error, KF_BAD_INPUT, "%s: refine: must be a list of 1 to %d boxes, or \"body\"", file,
                       KF_FINER_LEVELS);
    for (int i = 0; i < count; i++) {
        KF_TRY(read_box(file, cJSON_GetArrayItem(list, i), i, r, error));
        levels += r->boxes[i].levels;
    }
    if (levels > KF_FINER_LEVELS)
        return kf_fail(error, KF_BAD_INPUT, "%s: refine: %d levels in all, at most %d", file, levels,
                       KF_FINER_LEVELS);
    return KF_OK;
}

/* Reads model.outer_rates. All levels but the finest then relax with rates of 1, and moments up to order two
 * describe their state. */
static kf_status read_outer_rates(const char *file, const cJSON *root, kf_description *d, kf_error *error) {
    static const char *const rules[] = {"ones"};
    const cJSON *model = cJSON_GetObjectItemCaseSensitive(root, "model");
    const kf_json_place place = {file, "model"};
    int rule = 0;
    if (!cJSON_HasObjectItem(model, "outer_rates")) return KF_OK;
    KF_TRY(kf_json_choice(place, model, "outer_rates", true, rules, 1, &rule, error));
    if (!cJSON_HasObjectItem(root, "refine"))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: model.outer_rates: there are no nested grids; remove the key, or give \"refine\"",
                       file);
    if (d->collision != KF_ACM_MRT || d->basis != KF_BASIS_HERMITE || d->rate_rule == KF_RATE_ADAPTIVE_2020)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: model.outer_rates: needs the collision \"acm_mrt\", its moments of Hermite, and "
                       "rates without averages of the domain, as \"k17\"",
                       file);
    d->outer_ones = d->rate_rule != KF_RATE_ONES;
    return KF_OK;
}

kf_status kf_description_read_refine(const char *file, const cJSON *root, kf_description *d, kf_text *notes,
                                     kf_error *error) {
    const cJSON *refine = cJSON_GetObjectItemCaseSensitive(root, "refine");
    kf_refine_description *r = &d->refine;
    if (refine == NULL) return read_outer_rates(file, root, d, error);
    r->cells_a_length = USUAL_CELLS;
    if (cJSON_IsArray(refine)) {
        KF_TRY(read_boxes(file, refine, r, error));
    } else if (cJSON_IsObject(refine)) {
        KF_TRY(read_around(file, refine, r, error));
    } else if (cJSON_IsString(refine) && strcmp(refine->valuestring, "body") == 0) {
        r->around_body = true;
    } else {
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: refine: must be \"body\", an object with \"around\", or a list of boxes", file);
    }
    const cJSON *model = cJSON_GetObjectItemCaseSensitive(root, "model");
    if (d->collision == KF_ACM_MRT && !cJSON_HasObjectItem(model, "rates")) {
        d->rate_rule = KF_RATE_K17;
        kf_note(notes, "model.rates: k17, as usual with nested grids");
    }
    return read_outer_rates(file, root, d, error);
}
