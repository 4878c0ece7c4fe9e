/* Prints the user's metrics, and the front of several goals, in a tuning run's report. */
#include <math.h>
#include <stdlib.h>

#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/tune/explain.h"
#include "harness/tune/report.h"

enum { SHOWN_FRONT = 20, COLUMN = 12 };

/* Writes a number; "-": it could not be computed. */
static const char *number_text(double value, char text[32]) {
    if (!isfinite(value)) return "-";
    (void)snprintf(text, 32, "%.5g", value);
    return text;
}

void kf_report_user_values(const kf_measurement *m, FILE *stream) {
    char text[32];
    for (int i = 0; i < m->user_value_count; i++)
        (void)fprintf(stream, "%-*s%s %s\n", KF_REPORT_LABEL, i == 0 ? "metrics" : "", m->user_values[i].name,
                      number_text(m->user_values[i].value, text));
}

/* Prints the front as a table with a column for each goal and a row for each config. The best is marked. */
void kf_report_front(const kf_tune_result *result, FILE *stream) {
    const kf_objective *objective = &result->objective;
    char head[KF_USER_METRIC_NAME + 8], text[32];
    if (result->front_count == 0) return;
    (void)fprintf(stream, "%-*s%d config%s that none is better than in every goal; * has the least product\n",
                  KF_REPORT_LABEL, "front", result->front_count, result->front_count == 1 ? "" : "s");
    (void)fprintf(stream, "%-*s", KF_REPORT_LABEL, "");
    for (int i = 0; i < objective->count; i++) {
        (void)snprintf(head, sizeof head, "%s%s", objective->goals[i].name,
                       kf_quantity_unit(objective->goals[i].name));
        (void)fprintf(stream, " %*s", COLUMN, head);
    }
    (void)fprintf(stream, "\n");
    for (int row = 0; row < result->front_count && row < SHOWN_FRONT; row++) {
        const int tried = result->front[row];
        const kf_measurement *m = kf_tune_measurement(result, tried);
        char *summary = kf_tune_config_text(result, &result->tried.items[tried].config);
        (void)fprintf(stream, "%*s", KF_REPORT_LABEL, tried == result->best ? "*" : "");
        for (int i = 0; i < objective->count; i++)
            (void)fprintf(stream, " %*s", COLUMN,
                          number_text(kf_measurement_quantity(m, objective->goals[i].name), text));
        (void)fprintf(stream, "  %s\n", summary);
        free(summary);
    }
    if (result->front_count > SHOWN_FRONT)
        (void)fprintf(stream, "%-*s%d more are in the store\n", KF_REPORT_LABEL, "",
                      result->front_count - SHOWN_FRONT);
}

cJSON *kf_report_front_json(const kf_system *system, const kf_tune_result *result) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < result->front_count; i++) {
        const int tried = result->front[i];
        const kf_measurement *m = kf_tune_measurement(result, tried);
        cJSON *entry = kf_report_config_json(system, &result->tried.items[tried], m);
        cJSON *goals = cJSON_AddArrayToObject(entry, "goals");
        for (int g = 0; g < result->objective.count; g++)
            (void)cJSON_AddItemToArray(
                goals, cJSON_CreateNumber(kf_measurement_quantity(m, result->objective.goals[g].name)));
        (void)cJSON_AddItemToArray(list, entry);
    }
    return list;
}
