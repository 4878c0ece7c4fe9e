/* Prints figures as JSON and as a table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/backend/device_json.h"
#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/bench/bench.h"

/* --- JSON ---------------------------------------------------------------------------------------------- */

/* Copies the members of an object, which may be NULL. */
static void add_members(cJSON *object, const cJSON *further) {
    const cJSON *member;
    cJSON_ArrayForEach(member, further) {
        (void)cJSON_AddItemToObject(object, member->string, cJSON_Duplicate(member, true));
    }
}

/* Adds a figure's goal, and whether it was reached; null: this cannot be judged. */
static void add_verdict(cJSON *object, const kf_figure *figure) {
    const kf_judgement *verdict = figure->verdict;
    cJSON *interval = cJSON_AddArrayToObject(object, "interval");
    (void)cJSON_AddItemToArray(interval, kf_json_number_or_null(verdict->low));
    (void)cJSON_AddItemToArray(interval, kf_json_number_or_null(verdict->high));
    kf_json_add_number(object, "must", verdict->must);
    kf_json_add_number(object, "aim", verdict->aim);
    if (isfinite(verdict->must)) {
        (void)cJSON_AddStringToObject(object, "asked_of", verdict->of_share ? "share" : "value");
        (void)cJSON_AddStringToObject(object, "asked", verdict->at_most ? "at most" : "at least");
    }
    const int met = kf_figure_met(figure);
    if (met < 0)
        (void)cJSON_AddNullToObject(object, "met");
    else
        (void)cJSON_AddBoolToObject(object, "met", met);
    if (verdict->note[0] != '\0') (void)cJSON_AddStringToObject(object, "note", verdict->note);
    add_members(object, verdict->details);
}

cJSON *kf_figures_to_json(const kf_bench_suite *suite, const kf_device_info *device,
                          const kf_figures *figures) {
    cJSON *root = kf_json_answer("bench");
    (void)cJSON_AddItemToObject(root, "device", kf_device_to_json(device));
    (void)cJSON_AddStringToObject(root, "suite", suite->name);
    add_members(root, figures->about);
    cJSON *list = cJSON_AddArrayToObject(root, "figures");
    for (int i = 0; i < figures->count; i++) {
        const kf_figure *figure = &figures->list[i];
        cJSON *object = cJSON_CreateObject();
        (void)cJSON_AddStringToObject(object, "name", figure->name);
        kf_json_add_number(object, "value", figure->value);
        (void)cJSON_AddStringToObject(object, "unit", figure->unit);
        kf_json_add_number(object, "spread", figure->spread);
        kf_json_add_number(object, "floor", figure->floor);
        kf_json_add_number(object, "share", figure->share);
        if (figure->published != 0) kf_json_add_number(object, "published", figure->published);
        if (figure->verdict != NULL) add_verdict(object, figure);
        if (figure->failed) (void)cJSON_AddBoolToObject(object, "failed", true);
        (void)cJSON_AddItemToArray(list, object);
    }
    return root;
}

/* --- Table --------------------------------------------------------------------------------------------- */

static void print_plain(const kf_figures *figures) {
    printf("%-38s %15s %8s %12s\n", "figure", "value", "spread", "floor");
    for (int i = 0; i < figures->count; i++) {
        const kf_figure *figure = &figures->list[i];
        char floor_text[32] = "-";
        if (figure->verdict != NULL) continue;
        if (isfinite(figure->floor))
            (void)snprintf(floor_text, sizeof floor_text, "%.4g %s", figure->floor, figure->unit);
        printf("%-38s %9.4g %-5s %6.1f %% %12s%s\n", figure->name, figure->value, figure->unit,
               100 * figure->spread, floor_text, figure->failed ? "  FAILED" : "");
    }
}

/* Writes a goal such as "92.0 %" or "1.02". */
static void describe_goal(const kf_judgement *verdict, double goal, char text[16]) {
    if (!isfinite(goal))
        kf_copy_text(text, 16, "");
    else if (verdict->of_share)
        (void)snprintf(text, 16, "%.3g %%", 100 * goal);
    else
        (void)snprintf(text, 16, "%.4g", goal);
}

/* Prints a figure with a goal as a row: its value, interval, goal, and whether the goal was reached. */
static void print_judged_row(const kf_figure *figure, int width) {
    static const char *const met[] = {"", "missed", "met"};
    const kf_judgement *verdict = figure->verdict;
    char value[32] = "-", interval[40] = "", share[16] = "", must[16], aim[16], published[32] = "";
    describe_goal(verdict, verdict->must, must);
    describe_goal(verdict, verdict->aim, aim);
    if (isfinite(figure->value)) (void)snprintf(value, sizeof value, "%.4g %s", figure->value, figure->unit);
    if (isfinite(verdict->low))
        (void)snprintf(interval, sizeof interval, "%.4g .. %.4g", verdict->low, verdict->high);
    if (isfinite(figure->share)) (void)snprintf(share, sizeof share, "%.1f %%", 100 * figure->share);
    if (figure->published != 0)
        (void)snprintf(published, sizeof published, "%.4g %s", figure->published, figure->unit);
    printf("%-*s %-19s %-19s %8s %7s %7s %-6s %13s  %s%s%s%s\n", width, figure->name, value, interval, share,
           must, aim, met[kf_figure_met(figure) + 1], published, figure->failed ? "FAILED: " : "",
           verdict->config != NULL ? verdict->config : "",
           verdict->config != NULL && verdict->note[0] != '\0' ? "; " : "", verdict->note);
}

static void print_judged(const kf_figures *figures) {
    int width = 32; /* that of the longest name */
    for (int i = 0; i < figures->count; i++) {
        const int length = (int)strlen(figures->list[i].name);
        if (figures->list[i].verdict != NULL && length > width) width = length;
    }
    printf("%-*s %-19s %-19s %8s %7s %7s %-6s %13s\n", width, "figure", "value", "95 % interval", "of limit",
           "must", "aim", "", "published");
    for (int i = 0; i < figures->count; i++)
        if (figures->list[i].verdict != NULL) print_judged_row(&figures->list[i], width);
}

void kf_figures_print(const kf_bench_suite *suite, const kf_device_info *device, const kf_figures *figures) {
    int judged = 0;
    for (int i = 0; i < figures->count; i++)
        judged += figures->list[i].verdict != NULL;
    printf("suite %s on %s (%s): %s\n", suite->name, device->spec, device->name, suite->summary);
    if (judged < figures->count) print_plain(figures);
    if (judged > 0) print_judged(figures);
}
