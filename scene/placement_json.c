/* Stores the options for a mesh in the scene file that is made of it, and reads them back. */
#include <string.h>

#include "scene/placement.h"

static void add_given(cJSON *object, const char *key, double value) {
    if (value > 0.0) cJSON_AddNumberToObject(object, key, value);
}

/* Writes only options that were given. Guesses are made again for another mesh. */
cJSON *kf_placement_to_json(const kf_placement *p) {
    cJSON *placed = cJSON_CreateObject();
    if (p->wind.sign != 0) cJSON_AddStringToObject(placed, "wind", kf_heading_name(p->wind));
    if (p->up.sign != 0) cJSON_AddStringToObject(placed, "up", kf_heading_name(p->up));
    add_given(placed, "length", p->length);
    add_given(placed, "speed", p->speed);
    add_given(placed, "reynolds", p->reynolds);
    add_given(placed, "viscosity", p->viscosity);
    if (p->road != KF_ROAD_GUESS)
        cJSON_AddStringToObject(placed, "road", p->road == KF_ROAD_YES ? "yes" : "no");
    if (p->yaw_given || p->yaw != 0.0) cJSON_AddNumberToObject(placed, "yaw", p->yaw);
    if (p->tunnel_yaw_given) cJSON_AddNumberToObject(placed, "tunnel_yaw", p->tunnel_yaw);
    add_given(placed, "blockage", p->blockage);
    add_given(placed, "cells", p->cells);
    if (p->nodes[0] > 0) cJSON_AddItemToObject(placed, "grid", cJSON_CreateIntArray(p->nodes, 3));
    add_given(placed, "samples_per_cell", p->samples_per_cell);
    if (p->refine > 0) cJSON_AddNumberToObject(placed, "refine", p->refine);
    if (p->refine < 0)
        cJSON_AddStringToObject(placed, "refine", p->refine == KF_REFINE_NONE ? "none" : "body");
    return placed;
}

static kf_status read_heading(kf_json_place place, const cJSON *placed, const char *key, kf_heading *heading,
                              kf_error *error) {
    const char *text = NULL;
    KF_TRY(kf_json_string(place, placed, key, false, &text, error));
    if (text == NULL || kf_heading_read(text, heading)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: %s.%s: is not an axis; use +x, -x, +y, -y, +z or -z", place.file,
                   place.path, key);
}

bool kf_refine_read(const char *text, int *refine) {
    const bool levels = text[0] >= '1' && text[0] <= '0' + KF_FINER_LEVELS && text[1] == '\0';
    *refine = strcmp(text, "none") == 0   ? KF_REFINE_NONE
              : strcmp(text, "body") == 0 ? KF_REFINE_BODY
              : levels                    ? text[0] - '0'
                                          : 0;
    return *refine != 0;
}

cJSON *kf_refine_json(int refine) {
    if (refine == KF_REFINE_BODY) return cJSON_CreateString("body");
    if (refine <= 0) return NULL;
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "around", "body");
    cJSON_AddNumberToObject(json, "levels", refine);
    return json;
}

/* Reads refine: a number of levels, or a word. */
static kf_status read_refine(kf_json_place place, const cJSON *placed, int *refine, kf_error *error) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(placed, "refine");
    const char *text = cJSON_GetStringValue(item);
    if (item == NULL) return KF_OK;
    if (cJSON_IsNumber(item) && item->valuedouble >= 1.0 && item->valuedouble <= KF_FINER_LEVELS &&
        item->valuedouble == (double)item->valueint) {
        *refine = item->valueint;
        return KF_OK;
    }
    if (text != NULL && kf_refine_read(text, refine)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: %s.refine: must be \"none\", \"body\" or 1 to %d levels",
                   place.file, place.path, KF_FINER_LEVELS);
}

static kf_status read_grid(kf_json_place place, const cJSON *placed, int nodes[3], kf_error *error) {
    double values[3] = {0};
    KF_TRY(kf_json_numbers(place, placed, "grid", false, 1.0, 16384.0, 3, values, error));
    for (int a = 0; a < 3; a++)
        nodes[a] = (int)values[a];
    return KF_OK;
}

/* Reads the section "placed", and checks every value as the command line does. */
kf_status kf_placement_from_json(kf_json_place place, const cJSON *placed, kf_placement *p, kf_error *error) {
    static const char *const keys[] = {
        "wind",  "up",   "length",     "speed",    "reynolds",         "viscosity", "road", "yaw",
        "cells", "grid", "tunnel_yaw", "blockage", "samples_per_cell", "refine",    NULL};
    static const char *const roads[] = {"guess", "yes", "no"};
    *p = (kf_placement){.yaw_given = cJSON_HasObjectItem(placed, "yaw"),
                        .tunnel_yaw_given = cJSON_HasObjectItem(placed, "tunnel_yaw")};
    int road = KF_ROAD_GUESS;
    KF_TRY(kf_json_check_keys(place, placed, keys, error));
    KF_TRY(read_heading(place, placed, "wind", &p->wind, error));
    KF_TRY(read_heading(place, placed, "up", &p->up, error));
    KF_TRY(kf_json_number(place, placed, "length", false, 1e-6, 1e6, &p->length, error));
    KF_TRY(kf_json_number(place, placed, "speed", false, 1e-6, 1e6, &p->speed, error));
    KF_TRY(kf_json_number(place, placed, "reynolds", false, 1e-3, 1e9, &p->reynolds, error));
    KF_TRY(kf_json_number(place, placed, "viscosity", false, 1e-12, 1e6, &p->viscosity, error));
    KF_TRY(kf_json_choice(place, placed, "road", false, roads, 3, &road, error));
    KF_TRY(kf_json_number(place, placed, "yaw", false, -180.0, 180.0, &p->yaw, error));
    KF_TRY(kf_json_number(place, placed, "tunnel_yaw", false, -180.0, 180.0, &p->tunnel_yaw, error));
    KF_TRY(kf_json_number(place, placed, "blockage", false, 1e-4, 0.25, &p->blockage, error));
    KF_TRY(kf_json_number(place, placed, "cells", false, 4.0, 4096.0, &p->cells, error));
    KF_TRY(
        kf_json_number(place, placed, "samples_per_cell", false, 1.0, 1000.0, &p->samples_per_cell, error));
    KF_TRY(read_grid(place, placed, p->nodes, error));
    KF_TRY(read_refine(place, placed, &p->refine, error));
    p->road = (kf_road)road;
    return KF_OK;
}

/* Replaces each given value. A new grid, number of cells or blockage removes the old grid. */
void kf_placement_change(kf_placement *p, const kf_placement *said) {
    if (!p->tunnel_yaw_given) p->tunnel_yaw = p->yaw;
    p->tunnel_yaw_given = true;
    if (said->wind.sign != 0) p->wind = said->wind;
    if (said->up.sign != 0) p->up = said->up;
    if (said->length > 0.0) p->length = said->length;
    if (said->speed > 0.0) p->speed = said->speed;
    if (said->reynolds > 0.0 || said->viscosity > 0.0) {
        p->reynolds = said->reynolds;
        p->viscosity = said->viscosity;
    }
    if (said->road != KF_ROAD_GUESS) p->road = said->road;
    if (said->yaw_given) p->yaw = said->yaw;
    p->yaw_given = p->yaw_given || said->yaw_given;
    if (said->tunnel_yaw_given) p->tunnel_yaw = said->tunnel_yaw;
    if (said->blockage > 0.0) p->blockage = said->blockage;
    if (said->cells > 0.0) p->cells = said->cells;
    if (said->refine != 0) p->refine = said->refine;
    if (said->cells > 0.0 || said->blockage > 0.0 || said->refine != 0 || said->nodes[0] > 0)
        memcpy(p->nodes, said->nodes, sizeof p->nodes);
    if (said->samples_per_cell > 0.0) p->samples_per_cell = said->samples_per_cell;
}
