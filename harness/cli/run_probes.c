#include "harness/cli/run_probes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/text.h"
#include "harness/cli/run_duration.h"
#include "harness/cli/run_problem.h"
#include "solver/flow/flow_frame.h"
#include "solver/flow/flow_plan.h"

/* ---- Reading ---- */

/* Finds the frame of reference for places in another system: the nodes of its snapshots. */
static kf_status frame_of_plan(kf_plan *plan, kf_probe_frame *frame, kf_error *error) {
    kf_snapshot snapshot = {.count = 0};
    kf_status status = KF_OK;
    if (plan->methods->snapshot == NULL)
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--probe': %s has no velocity or pressure that a probe could record",
                       plan->problem->name);
    status = kf_plan_snapshot(plan, &snapshot, error);
    if (status == KF_OK && (snapshot.on != KF_ON_NODES || kf_snapshot_find(&snapshot, "velocity") == NULL))
        status = kf_fail(error, KF_BAD_INPUT,
                         "option '--probe': %s has no velocity at nodes; particles have gauges (docs/sph.md)",
                         plan->problem->name);
    *frame = (kf_probe_frame){.cell_size = snapshot.spacing[0], .across = 1};
    memcpy(frame->nodes, snapshot.nodes, sizeof frame->nodes);
    kf_snapshot_free(&snapshot);
    return status;
}

static void make_frame(const kf_scene *scene, kf_probe_frame *frame) {
    kf_flow_frame flow;
    kf_flow_frame_of(scene, &flow);
    kf_probe_frame_of(scene, frame);
    if (flow.flow_axis != flow.up_axis) frame->across = 3 - flow.flow_axis - flow.up_axis;
}

/* Adds a probe, or replaces the one with the same name. */
static kf_status add_probe(const char *place, const char *name, const char *text, const kf_probe_frame *frame,
                           kf_run_probes *probes, kf_error *error) {
    kf_probe probe;
    KF_TRY(kf_probe_read(place, name, text, frame, &probe, error));
    for (size_t i = 0; i < probes->count; i++) {
        if (strcmp(probes->list[i].name, name) != 0) continue;
        kf_probe_free(&probes->list[i]);
        probes->list[i] = probe;
        return KF_OK;
    }
    if (probes->count == KF_PROBES) {
        kf_probe_free(&probe);
        return kf_fail(error, KF_BAD_INPUT, "%s: there are %d probes at most", place, KF_PROBES);
    }
    probes->list[probes->count++] = probe;
    return KF_OK;
}

static kf_status add_of_scene(const kf_problem *problem, const kf_probe_frame *frame, kf_run_probes *probes,
                              kf_error *error) {
    kf_probe_texts texts = {.count = 0};
    cJSON *document = NULL;
    kf_status status = kf_problem_document(problem, NULL, false, &document, error);
    if (document != NULL) status = kf_probes_of_file(problem->source, document, &texts, error);
    for (int i = 0; i < texts.count && status == KF_OK; i++) {
        char place[KF_PATH + 64];
        (void)snprintf(place, sizeof place, "%s: probes.%s", problem->source, texts.list[i].name);
        status = add_probe(place, texts.list[i].name, texts.list[i].text, frame, probes, error);
    }
    cJSON_Delete(document);
    return status;
}

kf_status kf_value_probe(const kf_option *option, const char *value, kf_error *error) {
    const char *equals = strchr(value, '=');
    if (equals != NULL && equals != value) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "option '%s': '%s' must be NAME=PLACE, for example wake=2L,0,0.5L",
                   option->name, value);
}

/* Adds the probes of the command line. They replace the scene's probes of the same name. Two probes of the
 * command line must not have the same name. */
static kf_status add_of_options(const kf_arguments *arguments, const kf_probe_frame *frame,
                                kf_run_probes *probes, kf_error *error) {
    const char *const *values = NULL;
    const int count = kf_argument_all(arguments, "--probe", &values);
    for (int i = 0; i < count; i++) {
        char name[KF_PROBE_NAME + 1] = "", place[160];
        const char *equals = strchr(values[i], '=');
        const size_t length = (size_t)(equals - values[i]); /* the option's check has found the '=' */
        for (int other = 0; other < i; other++)
            if (strncmp(values[other], values[i], length + 1) == 0)
                return kf_fail(error, KF_BAD_INPUT,
                               "option '--probe': two are called '%.*s'; give one another name", (int)length,
                               values[i]);
        (void)snprintf(name, sizeof name, "%.*s", (int)length, values[i]);
        (void)snprintf(place, sizeof place, "option '--probe': %s", name);
        KF_TRY(add_probe(place, name, equals + 1, frame, probes, error));
    }
    return KF_OK;
}

/* Warns of probes inside a solid at rest. The immersed boundary has a flow there, which has no meaning. */
static void warn_inside(const kf_scene *scene, const kf_run_probes *probes) {
    for (size_t i = 0; i < probes->count; i++) {
        const size_t inside = kf_probe_points_inside(&probes->list[i], scene);
        if (inside == 0) continue;
        kf_warn("probe %s: %zu of %zu points lie in the solid at step 0, where there is no flow",
                probes->list[i].name, inside, probes->list[i].count);
    }
}

kf_status kf_run_probes_read(const kf_arguments *arguments, const kf_problem *problem, kf_plan *plan,
                             kf_run_probes *probes, kf_production_options *how, kf_error *error) {
    const kf_scene *scene = kf_run_scene(problem);
    const bool asked = kf_argument_given(arguments, "--probe");
    long every = (long)how->record_every;
    kf_probe_frame frame = {.cell_size = 0.0};
    if (plan == NULL && scene == NULL) return KF_OK; /* It is read later, when its plan exists. */
    if (plan != NULL && scene != NULL) return KF_OK; /* It has been read before. */
    if (scene != NULL) make_frame(scene, &frame);
    if (scene == NULL) {
        cJSON *document = NULL;
        if (!asked) KF_TRY(kf_problem_document(problem, NULL, false, &document, error));
        const bool none = !asked && !cJSON_HasObjectItem(document, "probes");
        cJSON_Delete(document);
        if (!none) KF_TRY(frame_of_plan(plan, &frame, error));
    }
    if (frame.cell_size > 0.0) KF_TRY(add_of_scene(problem, &frame, probes, error));
    KF_TRY(add_of_options(arguments, &frame, probes, error));
    if (scene != NULL) warn_inside(scene, probes);
    if (kf_argument_given(arguments, "--probe-every") && probes->count == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "--probe-every: there is no probe; give one with --probe wake=2L,0,0.5L");
    KF_TRY(kf_argument_integer(arguments, "--probe-every", &every, error));
    how->probes = probes->list;
    how->probe_count = probes->count;
    how->probe_every = (uint64_t)every;
    return KF_OK;
}

void kf_run_probes_free(kf_run_probes *probes) {
    for (size_t i = 0; i < probes->count; i++)
        kf_probe_free(&probes->list[i]);
    probes->count = 0;
}

/* ---- Saying ---- */

static cJSON *numbers(const double *values, int count) {
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < count; i++)
        cJSON_AddItemToArray(list, kf_json_number_or_null(values[i]));
    return list;
}

/* Adds the means at the probe's first point with their intervals. */
static void add_means(cJSON *json, const kf_probe_report *report, bool velocity) {
    double mean[KF_PROBED], half[KF_PROBED];
    char name[64];
    for (int q = 0; q < KF_PROBED; q++) {
        mean[q] = report->mean[q].mean;
        half[q] = report->mean[q].half;
    }
    if (velocity) {
        cJSON_AddItemToObject(json, "velocity_m_s", numbers(mean, 3));
        cJSON_AddItemToObject(json, "velocity_half_interval_95_m_s", numbers(half, 3));
        cJSON_AddItemToObject(json, "reynolds_stress_m2_s2", numbers(report->stress, KF_STRESSES));
    }
    if (report->pressure == NULL) return;
    const char *unit = report->pressure_unit[0] == '1' ? "" : "_m2_s2";
    (void)snprintf(name, sizeof name, "%s%s", report->pressure, unit);
    kf_json_add_number(json, name, mean[3]);
    (void)snprintf(name, sizeof name, "%s_half_interval_95%s", report->pressure, unit);
    kf_json_add_number(json, name, half[3]);
}

/* Lists each probe's kind, place, files and rows, and for a point the means. */
cJSON *kf_run_probes_json(const kf_production *done, const kf_run_probes *probes) {
    static const char *const kinds[] = {"point", "line", "surface"};
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < probes->count && done->probes != NULL; i++) {
        const kf_probe_report *report = &done->probes[i];
        const kf_probe *probe = &probes->list[i];
        cJSON *json = cJSON_CreateObject();
        cJSON_AddItemToArray(list, json);
        cJSON_AddStringToObject(json, "name", probe->name);
        cJSON_AddStringToObject(json, "kind", kinds[probe->kind]);
        cJSON_AddNumberToObject(json, "points", (double)probe->count);
        cJSON_AddItemToObject(json, "first_m", numbers(probe->points[0], 3));
        cJSON_AddItemToObject(json, "last_m", numbers(probe->points[probe->count - 1], 3));
        cJSON_AddStringToObject(json, "table", report->table);
        cJSON_AddStringToObject(json, "means", report->means);
        cJSON_AddStringToObject(json, "picture", report->picture);
        cJSON_AddNumberToObject(json, "rows", (double)report->rows);
        cJSON_AddNumberToObject(json, "from_step", (double)report->from_step);
        cJSON_AddNumberToObject(json, "to_step", (double)report->to_step);
        if (report->rows > 0 && probe->kind == KF_PROBE_POINT) add_means(json, report, true);
    }
    return list;
}

static void print_mean(const char *before, const kf_series_mean *mean) {
    printf("%s%.4g", before, mean->mean);
    if (isfinite(mean->half)) printf(" +- %.2g", mean->half);
}

/* Prints a line for each probe: the means of a point, and the files of tables, means and pictures. */
void kf_run_probes_print(const kf_production *done, const kf_run_probes *probes) {
    for (size_t i = 0; i < probes->count && done->probes != NULL; i++) {
        const kf_probe_report *report = &done->probes[i];
        printf("  probe      %s: ", probes->list[i].name);
        if (probes->list[i].kind == KF_PROBE_POINT && report->rows > 0) {
            print_mean("velocity ", &report->mean[0]);
            print_mean(", ", &report->mean[1]);
            print_mean(", ", &report->mean[2]);
            if (report->pressure != NULL)
                print_mean(report->pressure_unit[0] == '1' ? " m/s, pressure coefficient "
                                                           : " m/s, pressure over density ",
                           &report->mean[3]);
            printf("%s (means over step %" PRIu64 " to %" PRIu64 ")\n             ",
                   report->pressure == NULL          ? " m/s"
                   : report->pressure_unit[0] == '1' ? ""
                                                     : " m2/s2",
                   report->from_step, report->to_step);
        }
        printf("%s%s%s%s%s\n", report->table, report->means[0] != '\0' ? ", " : "", report->means,
               report->picture[0] != '\0' ? ", " : "", report->picture);
    }
}
