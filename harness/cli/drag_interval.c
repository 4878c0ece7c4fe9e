#include "harness/cli/drag_interval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/cli/scene_summary.h"

const char *const kf_drag_part_names[KF_DRAG_PARTS] = {"statistics", "grid", "tunnel"};

double kf_cells_across(const kf_scene *scene) {
    const kf_scene *finest = kf_scene_finest(scene);
    for (int a = 0; a < 3; a++)
        if (finest->solid_high[a] - finest->solid_low[a] >= finest->nodes[a] - 1.0)
            return finest->frontal_area / finest->nodes[a];
    return sqrt(finest->frontal_area);
}

/* ---- The grid ---- */

/* Reads the numbers of the prior, all of which are required. */
static kf_status read_prior(const char *path, const cJSON *root, kf_grid_prior *prior, kf_error *error) {
    const kf_json_place place = {path, ""};
    const struct {
        const char *key;
        double low, high, *value;
    } numbers[] = {{"factor", 0.0, 1e6, &prior->factor},
                   {"cells_power", 0.0, 10.0, &prior->cells_power},
                   {"y_plus_power", 0.0, 10.0, &prior->y_plus_power},
                   {"least_cells_across", 1.0, 1e6, &prior->least_cells},
                   {"most_cells_across", 1.0, 1e6, &prior->most_cells},
                   {"most_y_plus", 0.0, 1e6, &prior->most_y_plus}};
    long flows = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        KF_TRY(kf_json_number(place, root, numbers[i].key, true, numbers[i].low, numbers[i].high,
                              numbers[i].value, error));
    KF_TRY(kf_json_integer(place, root, "flows", true, 1, 1000000, &flows, error));
    prior->flows = (int)flows;
    return KF_OK;
}

/* Reads the file only once, because the drag of a run is judged at many steps. */
kf_status kf_grid_prior_read(kf_grid_prior *prior, kf_error *error) {
    static char path_of_last[KF_PATH];
    static kf_grid_prior last;
    const char *folder = NULL;
    char path[KF_PATH];
    cJSON *root = NULL;
    *prior = (kf_grid_prior){0};
    KF_TRY(kf_data_folder(&folder, error));
    KF_TRY(kf_path(path, error, "%s/accuracy/drag-prior.json", folder));
    if (strcmp(path, path_of_last) != 0) {
        KF_TRY(kf_json_read_file(path, &root, error));
        const kf_status status = read_prior(path, root, prior, error);
        cJSON_Delete(root);
        if (status != KF_OK) return status;
        last = *prior;
        kf_copy_text(path_of_last, sizeof path_of_last, path);
    }
    *prior = last;
    return KF_OK;
}

/* Returns the prior's share of the drag. Beyond the table's most cells the power law goes on, but its share
 * is not less than at the most cells. */
double kf_grid_prior_share(const kf_grid_prior *prior, double cells_across, double y_plus, char why[160]) {
    const double cells = fmin(cells_across, prior->most_cells);
    if (!(cells_across >= prior->least_cells)) {
        (void)snprintf(why, 160,
                       "%.2g cells across the front, and the flows with an answer have from %.2g on",
                       cells_across, prior->least_cells);
        return (double)NAN;
    }
    if (!(y_plus <= prior->most_y_plus)) {
        (void)snprintf(why, 160, "y+ of %.2g, and the flows with an answer have up to %.2g", y_plus,
                       prior->most_y_plus);
        return (double)NAN;
    }
    (void)snprintf(why, 160, "what %d flows were off by: %.2g cells across the front, y+ %.2g", prior->flows,
                   cells_across, y_plus);
    return prior->factor * pow(cells, -prior->cells_power) * pow(fmax(1.0, y_plus), prior->y_plus_power);
}

double kf_grid_prior_of(const kf_scene *scene, const kf_grid_prior *prior, double cells_across, double y_plus,
                        char why[160]) {
    if (!scene->linked && scene->mask == NULL) return kf_grid_prior_share(prior, cells_across, y_plus, why);
    if (scene->mask != NULL)
        kf_copy_text(why, 160, "the flows with an answer had samples, this solid is a mask");
    else if (scene->wall_law && !scene->laminar && scene->reynolds < KF_LAMINAR_REYNOLDS)
        (void)snprintf(
            why, 160,
            "a law of the wall makes layers turbulent that are laminar at Reynolds number %.2g: this is "
            "not the body's drag",
            scene->reynolds);
    else
        kf_copy_text(why, 160, "the flows with an answer had samples, this solid is one by links");
    return (double)NAN;
}

static void take_grid(const kf_scene *scene, kf_drag_interval *i) {
    kf_grid_prior prior;
    kf_error error;
    i->half[KF_PART_GRID] = (double)NAN;
    if (kf_grid_prior_read(&prior, &error) != KF_OK) {
        (void)snprintf(i->why[KF_PART_GRID], sizeof *i->why, "%.150s", error.message);
        return;
    }
    const double y_plus = kf_scene_wall_distance(scene);
    i->half[KF_PART_GRID] = fabs(i->corrected) * kf_grid_prior_of(scene, &prior, kf_cells_across(scene),
                                                                  y_plus, i->why[KF_PART_GRID]);
}

/* ---- The whole ---- */

/* Corrects the drag to the middle of the two rules' results. */
static void take_tunnel(const kf_scene *scene, kf_drag_interval *i) {
    const double area = kf_scene_reference_area(scene), front = kf_solid_front(scene),
                 front_drag = front > 0.0 ? fabs(i->raw) * area / front : 0.0;
    const kf_tunnel_effect effect = kf_tunnel_effect_of(scene, front_drag);
    kf_copy_text(i->why[KF_PART_TUNNEL], sizeof *i->why, effect.why);
    i->half[KF_PART_TUNNEL] = (double)NAN;
    if (!effect.known) return;
    i->corrected = 0.5 * (i->raw / effect.low + i->raw / effect.high);
    i->half[KF_PART_TUNNEL] = 0.5 * fabs(i->raw / effect.low - i->raw / effect.high);
}

void kf_drag_interval_of(const kf_scene *scene, const kf_drag_report *report, kf_drag_interval *i) {
    const kf_series_mean *mean = &report->mean[KF_DRAG];
    const bool lasts = report->settled && isfinite(mean->half);
    *i = (kf_drag_interval){.raw = mean->mean, .corrected = mean->mean};
    take_tunnel(scene, i);
    take_grid(scene, i);
    i->half[KF_PART_STATISTICS] =
        lasts ? mean->half * (i->raw != 0.0 ? fabs(i->corrected / i->raw) : 1.0) : (double)NAN;
    (void)snprintf(i->why[KF_PART_STATISTICS], sizeof *i->why, "%s",
                   lasts ? "of the mean over time" : "the flow has not settled: how it began is in the mean");
}

double kf_drag_interval_total(const kf_drag_interval *i) {
    double squares = 0.0;
    bool any = false;
    for (int p = 0; p < KF_DRAG_PARTS; p++) {
        if (!isfinite(i->half[p])) continue;
        squares += i->half[p] * i->half[p];
        any = true;
    }
    return any ? sqrt(squares) : (double)NAN;
}

void kf_drag_interval_judge(const void *scene, const kf_drag_report *report, double values[KF_DRAG_JUDGED]) {
    kf_drag_interval i;
    if (!report->known) return;
    kf_drag_interval_of(scene, report, &i);
    values[0] = i.corrected;
    values[1] = kf_drag_interval_total(&i);
    for (int p = 0; p < KF_DRAG_PARTS; p++)
        values[2 + p] = i.half[p];
}

bool kf_drag_interval_complete(const kf_drag_interval *i) {
    for (int p = 0; p < KF_DRAG_PARTS; p++)
        if (!isfinite(i->half[p])) return false;
    return true;
}

/* Writes the drag, its interval and the half-width of each part. If a part is unknown, the interval is "or
 * more". */
const char *kf_drag_interval_text(const kf_drag_interval *i, char text[256]) {
    const double total = kf_drag_interval_total(i);
    int at = snprintf(text, 256, "%.4g", i->corrected);
    if (kf_drag_interval_complete(i))
        at += snprintf(text + at, 256 - (size_t)at, " +- %.2g", total);
    else if (total > 0.0)
        at += snprintf(text + at, 256 - (size_t)at, " +- %.2g or more", total);
    else
        at += snprintf(text + at, 256 - (size_t)at, ", interval not known");
    for (int p = 0; p < KF_DRAG_PARTS; p++) {
        at += snprintf(text + at, 256 - (size_t)at, "%s%s ", p == 0 ? " (" : ", ", kf_drag_part_names[p]);
        if (isfinite(i->half[p]))
            at += snprintf(text + at, 256 - (size_t)at, "%.2g", i->half[p]);
        else
            at += snprintf(text + at, 256 - (size_t)at, "not known");
    }
    (void)snprintf(text + at, 256 - (size_t)at, ")");
    return text;
}

/* ---- JSON ---- */

cJSON *kf_drag_interval_json(const kf_drag_interval *i) {
    cJSON *json = cJSON_CreateObject(), *parts = NULL;
    cJSON_AddNumberToObject(json, "raw", i->raw);
    cJSON_AddNumberToObject(json, "corrected", i->corrected);
    kf_json_add_number(json, "half_of_interval_95", kf_drag_interval_total(i));
    cJSON_AddBoolToObject(json, "complete", kf_drag_interval_complete(i));
    parts = cJSON_AddObjectToObject(json, "parts");
    for (int p = 0; p < KF_DRAG_PARTS; p++) {
        cJSON *part = cJSON_AddObjectToObject(parts, kf_drag_part_names[p]);
        kf_json_add_number(part, "half_of_interval_95", i->half[p]);
        cJSON_AddStringToObject(part, "because", i->why[p]);
    }
    return json;
}

static double number_of(const cJSON *object, const char *key) {
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(number) ? number->valuedouble : (double)NAN;
}

bool kf_drag_interval_read(const cJSON *json, kf_drag_interval *i) {
    const cJSON *parts = cJSON_GetObjectItemCaseSensitive(json, "parts");
    *i = (kf_drag_interval){.raw = number_of(json, "raw"), .corrected = number_of(json, "corrected")};
    for (int p = 0; p < KF_DRAG_PARTS; p++) {
        const cJSON *part = cJSON_GetObjectItemCaseSensitive(parts, kf_drag_part_names[p]);
        const char *why = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(part, "because"));
        i->half[p] = number_of(part, "half_of_interval_95");
        kf_copy_text(i->why[p], sizeof i->why[p], why != NULL ? why : "");
    }
    return cJSON_IsObject(json) && isfinite(i->corrected);
}
