/* Makes the figures of a suite from times and roofs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/team/team.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/bench/suite_run.h"
#include "harness/worker/child.h"

/* --- Choosing ------------------------------------------------------------------------------------------- */

static bool is_chosen(const kf_bench_options *options, const kf_suite_figure *figure) {
    for (int i = 0; i < options->figure_count; i++)
        if (strcmp(options->figures[i], figure->name) == 0) return true;
    return options->figure_count == 0;
}

static kf_status check_name(const kf_suite_file *file, const char *name, kf_error *error) {
    const char **names = kf_allocate((size_t)file->figure_count * sizeof *names);
    bool known = false;
    char hint[KF_HINT];
    for (int i = 0; i < file->figure_count; i++) {
        names[i] = file->figures[i].name;
        known = known || strcmp(names[i], name) == 0;
    }
    const kf_status status = known
                                 ? KF_OK
                                 : kf_fail(error, KF_BAD_INPUT, "--figure %s: the suite has no such figure%s",
                                           name, kf_hint(name, names, file->figure_count, hint));
    free(names);
    return status;
}

kf_status kf_suite_select(const kf_suite_file *file, const kf_bench_options *options, bool *timings,
                          bool *scenes, kf_error *error) {
    for (int i = 0; i < options->figure_count; i++)
        KF_TRY(check_name(file, options->figures[i], error));
    for (const kf_suite_figure *f = file->figures; f < file->figures + file->figure_count; f++) {
        if (!is_chosen(options, f)) continue;
        for (int i = 0; i < f->of_count; i++)
            timings[f->of[i]] = true;
        for (int i = 0; i < f->against_count; i++)
            timings[f->against[i]] = true;
    }
    kf_suite_add_leaders(file, timings);
    for (int i = 0; i < file->timing_count; i++)
        if (timings[i]) scenes[file->timings[i].scene] = true;
    return KF_OK;
}

/* --- One figure ----------------------------------------------------------------------------------------- */

/* Returns the fastest of some timings. If there is none, the figure's verdict gives the reason. */
static const kf_suite_time *fastest(const kf_suite_results *results, const int *timings, int count,
                                    kf_figure *figure, kf_timed *timed) {
    const kf_suite_file *file = results->problems->file;
    const kf_suite_time *best = NULL, *time = NULL;
    for (int i = 0; i < count; i++) {
        time = &results->times[timings[i]];
        figure->failed = figure->failed || time->failed;
        if (time->best < 0) continue;
        if (best != NULL && best->measurement.updates_per_us >= time->measurement.updates_per_us) continue;
        best = time;
        *timed = (kf_timed){.problem = results->problems->list[file->timings[timings[i]].scene].problem,
                            .config = &time->tries[time->best].config,
                            .measurement = &time->measurement};
    }
    if (best == NULL && time != NULL && figure->verdict->note[0] == '\0')
        (void)snprintf(figure->verdict->note, sizeof figure->verdict->note, "not available: %s%s%.250s",
                       file->timings[timings[count - 1]].name, time->reason[0] != '\0' ? ": " : "",
                       time->reason);
    return best;
}

/* Shows the config of this time, and whether the clock was unsteady. */
static void show(const kf_suite_time *time, kf_figure *figure) {
    kf_judgement *verdict = figure->verdict;
    kf_text text = {0};
    kf_text_append(&text, "%s", time->tries[time->best].candidate->name);
    if (time->try_count > 1) kf_text_append(&text, " (of %d tried)", time->try_count);
    verdict->config = text.text;
    cJSON *own = verdict->details;
    verdict->details = kf_suite_details(time);
    while (own != NULL && own->child != NULL) { /* These members come from the figure's kind. */
        cJSON *member = cJSON_DetachItemViaPointer(own, own->child);
        (void)cJSON_AddItemToObject(verdict->details, member->string, member);
    }
    cJSON_Delete(own);
    if (time->measurement.clock_state == KF_CLOCK_UNSTEADY && verdict->note[0] == '\0')
        kf_copy_text(verdict->note, sizeof verdict->note, "the clock was not steady");
}

typedef struct measuring {
    const kf_figure_kind *kind;
    const kf_figure_input *input;
} measuring;

static kf_status measure(const void *context, void *answer, kf_error *error) {
    const measuring *asked = context;
    kf_backend *backend = NULL;
    KF_TRY(kf_backend_open(asked->input->device->spec, &backend, error));
    const kf_status status = asked->kind->measure(asked->input, backend, answer, error);
    kf_backend_close(backend);
    return status;
}

static kf_status make_value(const kf_suite_results *results, const kf_suite_figure *row, kf_figure *figure,
                            kf_error *error) {
    kf_figure_input input = {.row = row->row,
                             .limit = results->copy_rate,
                             .roofs = results->roofs,
                             .device = results->problems->device};
    const kf_suite_time *of = fastest(results, row->of, row->of_count, figure, &input.of);
    const kf_suite_time *against = fastest(results, row->against, row->against_count, figure, &input.against);
    if ((row->kind->timings > 0 && of == NULL) || (row->kind->timings > 1 && against == NULL)) return KF_OK;
    if (row->kind->measure != NULL)
        KF_TRY(kf_child_run(figure->name, measure, &(measuring){row->kind, &input}, input.values,
                            sizeof input.values, error));
    row->kind->make(&input, figure);
    if (of != NULL) show(of, figure);
    return KF_OK;
}

/* Returns the published value with which a figure is compared on this device; 0: none. A paper's figures for
 * a GPU do not apply to a cpu, which has its own row. Figures without a timing apply to every device. */
static double published_of(const kf_suite_results *results, const kf_suite_figure *row) {
    return results->problems->gpu || row->cpu_only || row->kind->timings == 0 ? row->published : 0;
}

static kf_status add_figure(const kf_suite_results *results, const kf_suite_figure *row, kf_figures *figures,
                            kf_error *error) {
    const kf_suite_file *file = results->problems->file;
    const bool asked = file->asked_of == NULL || strstr(results->problems->device->name, file->asked_of);
    kf_figure figure = {
        .value = NAN, .spread = NAN, .floor = NAN, .share = NAN, .published = published_of(results, row)};
    kf_judgement *verdict = figure.verdict = kf_allocate_zeroed(1, sizeof *verdict);
    kf_copy_text(figure.name, sizeof figure.name, row->name);
    kf_copy_text(figure.unit, sizeof figure.unit, row->unit);
    *verdict = (kf_judgement){.low = NAN,
                              .high = NAN,
                              .must = asked ? row->must : (double)NAN,
                              .aim = asked ? row->aim : (double)NAN,
                              .of_share = row->of_share,
                              .at_most = row->at_most};
    const kf_status status = make_value(results, row, &figure, error);
    if (verdict->note[0] == '\0' && !asked && isfinite(row->must))
        (void)snprintf(verdict->note, sizeof verdict->note, "asked of an %s", file->asked_of);
    if (verdict->note[0] == '\0') kf_copy_text(verdict->note, sizeof verdict->note, row->note);
    kf_figures_add(figures, &figure);
    return status;
}

/* --- All ------------------------------------------------------------------------------------------------ */

static cJSON *describe(const kf_suite_results *results) {
    cJSON *about = cJSON_CreateObject();
    const int scene = results->problems->file->about;
    if (scene >= 0 && results->problems->list[scene].problem != NULL) {
        const kf_problem *problem = results->problems->list[scene].problem;
        (void)cJSON_AddStringToObject(about, "scene", problem->name);
        (void)cJSON_AddItemToObject(about, "facts", kf_facts_to_json(&problem->facts));
    }
    kf_json_add_number(about, "limit_gb_s", results->copy_rate * 1e-9);
    return about;
}

kf_status kf_suite_add_figures(const kf_bench_options *options, const kf_suite_results *results,
                               kf_figures *figures, kf_error *error) {
    const kf_suite_file *file = results->problems->file;
    figures->about = describe(results);
    for (int i = 0; i < file->figure_count; i++)
        if (is_chosen(options, &file->figures[i]) &&
            !(results->problems->gpu ? file->figures[i].cpu_only : file->figures[i].gpu_only))
            KF_TRY(add_figure(results, &file->figures[i], figures, error));
    return KF_OK;
}
