#include "harness/cli/run_coefficients.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "harness/cli/drag_interval.h"

static const double AIR_DENSITY = 1.2; /* kg/m^3, at 20 degrees Celsius and 1013 hPa */

static double reference_area(const kf_scene *scene) {
    return kf_scene_reference_area(scene) * scene->cell_size * scene->cell_size;
}

const char *kf_run_area_source(const kf_scene *scene) {
    if (scene->reference_area_given) return "given";
    if (scene->mask != NULL) return "reference length times a cell's depth";
    return scene->yaw != 0.0 ? "front at zero yaw" : "measured front";
}

static const char *const names[KF_COEFFICIENTS] = {"drag", "lift", "side"};

static cJSON *mean_json(const kf_series_mean *mean) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "mean", mean->mean);
    if (isfinite(mean->half))
        cJSON_AddItemToObject(
            json, "interval_95",
            cJSON_CreateDoubleArray((const double[2]){mean->mean - mean->half, mean->mean + mean->half}, 2));
    else
        cJSON_AddNullToObject(json, "interval_95");
    cJSON_AddNumberToObject(json, "rms", mean->rms);
    return json;
}

/* Returns the coefficients in axes that turn with the solid. */
static cJSON *body_json(const kf_scene *scene, const kf_drag_report *drag) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "yaw_degrees", scene->yaw);
    for (int c = 0; c < KF_COEFFICIENTS; c++)
        cJSON_AddItemToObject(json, names[c], mean_json(&drag->body[c]));
    return json;
}

/* Makes the JSON of the coefficients with their means, intervals and reference values in SI units; null if
 * there are no coefficients. */
cJSON *kf_run_coefficients_json(const kf_scene *scene, const kf_drag_report *drag, double flow_through) {
    if (!drag->known || scene == NULL) return cJSON_CreateNull();
    cJSON *json = cJSON_CreateObject();
    for (int c = 0; c < KF_COEFFICIENTS; c++)
        cJSON_AddItemToObject(json, names[c], mean_json(&drag->mean[c]));
    cJSON_AddItemToObject(json, "body_axes", body_json(scene, drag));
    kf_drag_interval interval;
    kf_drag_interval_of(scene, drag, &interval);
    cJSON_AddItemToObject(json, "open_stream_drag", kf_drag_interval_json(&interval));
    cJSON_AddBoolToObject(json, "settled", drag->settled);
    cJSON_AddNumberToObject(json, "from_step", (double)drag->from_step);
    cJSON_AddNumberToObject(json, "to_step", (double)drag->step);
    cJSON_AddNumberToObject(json, "reference_area_m2", reference_area(scene));
    cJSON_AddStringToObject(json, "reference_area_is", kf_run_area_source(scene));
    cJSON_AddNumberToObject(json, "speed_m_s", scene->reference_speed * scene->cell_size / scene->time_step);
    cJSON_AddNumberToObject(json, "reynolds", scene->reynolds);
    cJSON_AddNumberToObject(json, "cells_a_length", kf_scene_finest(scene)->reference_length);
    cJSON_AddNumberToObject(json, "simulated_s", (double)drag->step * scene->time_step);
    if (flow_through > 0.0) cJSON_AddNumberToObject(json, "flow_throughs", (double)drag->step / flow_through);
    return json;
}

static void print_mean(const char *name, const kf_series_mean *mean) {
    printf("  %s %.4f", name, mean->mean);
    if (isfinite(mean->half)) printf(" +- %.2g", mean->half);
}

/* Prints why a run around a solid has no coefficients. */
static void print_reason(const kf_scene *scene) {
    if (scene == NULL || !kf_scene_has_solid(scene)) return;
    if (!(scene->reference_speed > 0.0))
        puts("  no drag coefficient: flow.speed is 0, so there is no pressure to refer to");
    else if (!(kf_scene_reference_area(scene) > 0.0))
        puts("  no drag coefficient: the solid shows no front to an inflow; give the reference area with "
             "--area A, or as flow.reference_area in the scene");
}

/* Prints the coefficients with their intervals, the steps over which they are averaged, and the reference
 * values in SI units. */
void kf_run_coefficients_print(const kf_scene *scene, const kf_drag_report *drag, double flow_through) {
    if (!drag->known) {
        print_reason(scene);
        return;
    }
    const double through = flow_through;
    print_mean("in the tunnel: drag", &drag->mean[KF_DRAG]);
    print_mean(" lift", &drag->mean[KF_LIFT]);
    puts(isfinite(drag->mean[KF_DRAG].half) ? "   (means; +- of their statistics alone, 95 %)"
                                            : "   (means, too short for an interval)");
    if (scene->yaw != 0.0) {
        printf("  in axes of the solid, which is turned by %g degrees:", scene->yaw);
        print_mean("drag", &drag->body[KF_DRAG]);
        print_mean("side", &drag->body[KF_SIDE]);
        puts("");
    }
    printf("  %s: means over step %" PRIu64 " to %" PRIu64, drag->settled ? "settled" : "NOT settled",
           drag->from_step, drag->step);
    if (through > 0.0)
        printf(", %.3g of %.3g flow-throughs", (double)(drag->step - drag->from_step) / through,
               (double)drag->step / through);
    printf(", %.3g of %.3g s\n", (double)(drag->step - drag->from_step) * scene->time_step,
           (double)drag->step * scene->time_step);
    printf("  with area %.4g m^2 (%s), %.4g m/s, Reynolds number %.4g\n", reference_area(scene),
           kf_run_area_source(scene), scene->reference_speed * scene->cell_size / scene->time_step,
           scene->reynolds);
    if (kf_mask_reaches_sides(scene))
        puts("  of all solid nodes of the mask, those at the domain's sides (walls of a channel) among them");
}

/* Prints the drag with its interval, and for each part its source or the reason why it is not known. A mask
 * may be the walls of a channel. If no rule covers its tunnel, only the reason is printed. */
void kf_run_interval_print(const kf_scene *scene, const kf_drag_report *drag) {
    kf_drag_interval interval;
    char text[256];
    if (!drag->known) return;
    kf_drag_interval_of(scene, drag, &interval);
    if (scene->mask != NULL && !isfinite(interval.half[KF_PART_TUNNEL])) {
        printf("  no drag coefficient in an open stream: %s\n", interval.why[KF_PART_TUNNEL]);
        return;
    }
    for (int p = KF_PART_GRID; p < KF_DRAG_PARTS; p++)
        printf("  %-10s %s%s\n", kf_drag_part_names[p],
               isfinite(interval.half[p]) ? "" : "not known: ", interval.why[p]);
    printf("  drag coefficient in an open stream, 95 %%: %s\n", kf_drag_interval_text(&interval, text));
    /* A single layer of nodes has no width, so it has no force. */
    if (scene->nodes[2] == 1) return;
    const double speed = scene->reference_speed * scene->cell_size / scene->time_step,
                 force = interval.corrected * 0.5 * speed * speed * reference_area(scene);
    printf("  that is %.4g m^4/s^2 times the fluid's density: %.4g N in air of %g kg/m^3\n", force,
           AIR_DENSITY * force, AIR_DENSITY);
}
