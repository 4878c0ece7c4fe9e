#include "harness/cli/run_coefficients.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static double measured_area(const kf_scene *scene) {
    return scene->frontal_area * scene->cell_size * scene->cell_size;
}

static cJSON *mean_json(const kf_series_mean *mean, double share) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "mean", mean->mean * share);
    if (isfinite(mean->half))
        cJSON_AddItemToObject(
            json, "interval_95",
            cJSON_CreateDoubleArray(
                (const double[2]){(mean->mean - mean->half) * share, (mean->mean + mean->half) * share}, 2));
    else
        cJSON_AddNullToObject(json, "interval_95");
    cJSON_AddNumberToObject(json, "rms", mean->rms * share);
    return json;
}

cJSON *kf_run_coefficients_json(const kf_scene *scene, const kf_drag_report *drag, double area,
                                double flow_through) {
    static const char *const names[KF_COEFFICIENTS] = {"drag", "lift", "side"};
    if (!drag->known) return cJSON_CreateNull();
    const double measured = measured_area(scene), reference = area > 0.0 ? area : measured;
    cJSON *json = cJSON_CreateObject();
    for (int c = 0; c < KF_COEFFICIENTS; c++)
        cJSON_AddItemToObject(json, names[c], mean_json(&drag->mean[c], measured / reference));
    cJSON_AddBoolToObject(json, "settled", drag->settled);
    cJSON_AddNumberToObject(json, "from_step", (double)drag->from_step);
    cJSON_AddNumberToObject(json, "to_step", (double)drag->step);
    cJSON_AddNumberToObject(json, "reference_area_m2", reference);
    cJSON_AddNumberToObject(json, "speed_m_s", scene->reference_speed * scene->cell_size / scene->time_step);
    cJSON_AddNumberToObject(json, "reynolds", scene->reynolds);
    cJSON_AddNumberToObject(json, "simulated_s", (double)drag->step * scene->time_step);
    if (flow_through > 0.0) cJSON_AddNumberToObject(json, "flow_throughs", (double)drag->step / flow_through);
    return json;
}

static void print_mean(const char *name, const kf_series_mean *mean, double share) {
    printf("  %s %.4f", name, mean->mean * share);
    if (isfinite(mean->half)) printf(" +- %.2g", mean->half * share);
}

void kf_run_coefficients_print(const kf_scene *scene, const kf_drag_report *drag, double area,
                               double flow_through) {
    if (!drag->known) return;
    const double measured = measured_area(scene), reference = area > 0.0 ? area : measured,
                 through = flow_through;
    print_mean("drag coefficient", &drag->mean[KF_DRAG], measured / reference);
    print_mean(" lift", &drag->mean[KF_LIFT], measured / reference);
    puts(isfinite(drag->mean[KF_DRAG].half) ? "   (means with 95 % intervals)"
                                            : "   (means, too short for an interval)");
    printf("  %s: means over step %" PRIu64 " to %" PRIu64, drag->settled ? "settled" : "NOT settled",
           drag->from_step, drag->step);
    if (through > 0.0)
        printf(", %.3g of %.3g flow-throughs", (double)(drag->step - drag->from_step) / through,
               (double)drag->step / through);
    printf(", %.3g s of the flow\n", (double)drag->step * scene->time_step);
    printf("  with area %.4g m^2 (%s), %.4g m/s, Reynolds number %.4g\n", reference,
           reference == measured ? "measured front" : "given",
           scene->reference_speed * scene->cell_size / scene->time_step, scene->reynolds);
}
