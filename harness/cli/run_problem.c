#include "harness/cli/run_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/log.h"
#include "base/util/text.h"
#include "harness/cli/placement_argument.h"
#include "harness/cli/problem_argument.h"
#include "harness/cli/run_duration.h"
#include "scene/document.h"
#include "solver/flow/flow_problem.h"
#include "solver/systems.h"

/* ---- How scenes differ ---- */

/* Writes into a flow's document the options that change it, or all values that options may change. */
static void ask(cJSON *document, const kf_problem *problem, const kf_arguments *arguments, bool whole) {
    const kf_problem_options all = kf_problem_options_of(&problem->facts, problem->seed);
    const bool nodes = whole || (arguments != NULL && kf_argument_given(arguments, "--grid")),
               samples = whole || (arguments != NULL && kf_argument_given(arguments, "--samples-per-cell")),
               accuracy = whole || (arguments != NULL && kf_argument_given(arguments, "--accuracy"));
    kf_scene_options asked = {.samples_per_cell = samples ? all.samples_per_cell : 0.0,
                              .accuracy = accuracy ? all.accuracy : 0.0,
                              .seed = whole ? all.seed : 0};
    if (nodes) memcpy(asked.nodes, all.nodes, sizeof asked.nodes);
    kf_scene_document_ask(document, &asked);
}

kf_status kf_problem_document(const kf_problem *problem, const kf_arguments *arguments, bool whole,
                              cJSON **document, kf_error *error) {
    *document = NULL;
    const bool scene = problem->system->runs && problem->system->program_ending == NULL &&
                       (problem->source[0] != '/' || kf_ends_in(problem->source, ".json") ||
                        kf_ends_in(problem->source, ".png"));
    kf_status status = scene ? kf_scene_document_read(problem->source, document, error) : KF_OK;
    if (status == KF_OK && *document != NULL && kf_problem_is_flow(problem))
        ask(*document, problem, arguments, whole);
    if (status == KF_OK && *document != NULL) status = kf_scene_document_pin(*document, error);
    if (status == KF_OK) return KF_OK;
    cJSON_Delete(*document);
    *document = NULL;
    return status == KF_HOST ? status : KF_OK;
}

static void append_value(const kf_fact *fact, kf_text *text) {
    if (fact->word[0] != '\0')
        kf_text_append(text, "%s", fact->word);
    else
        kf_text_append(text, "%.10g", fact->value);
}

/* Returns whether two values are equal. Values that differ by rounding print alike and count as equal. */
static bool is_same(const kf_fact *one, const kf_fact *other) {
    if (one->word[0] != '\0' || other->word[0] != '\0') return strcmp(one->word, other->word) == 0;
    return fabs(one->value - other->value) <= 1e-9 * fabs(one->value);
}

/* Lists the facts in which a problem differs from the tuned one. With `plan` it lists only the facts that
 * determine a plan. */
static void append_differences(const kf_facts *then, const kf_facts *now, bool plan, kf_text *text) {
    static const char *const of_plan[] = {"size_x",    "size_y",   "size_z",
                                          "collision", "accuracy", "finer_levels"};
    /* The values of facts that a problem may lack. */
    static const kf_fact no_accuracy = {.value = KF_DEFAULT_ACCURACY}, no_levels = {.value = 0.0};
    for (int i = 0; i < then->count + now->count; i++) {
        const kf_fact *known = i < then->count ? &then->list[i] : &now->list[i - then->count];
        const kf_fact *old = kf_facts_find(then, known->name), *new = kf_facts_find(now, known->name);
        const kf_fact *missing = strcmp(known->name, "finer_levels") == 0 ? &no_levels : &no_accuracy;
        bool counts = !plan && old != NULL && new != NULL;
        for (size_t k = 0; plan && k < sizeof of_plan / sizeof *of_plan; k++)
            counts = counts || strcmp(of_plan[k], known->name) == 0;
        if (old == NULL) old = missing;
        if (new == NULL) new = missing;
        if (!counts || (i >= then->count && old != missing) || is_same(old, new)) continue;
        kf_text_append(text, "%s%s was ", text->length > 0 ? ", " : "", known->name);
        append_value(old, text);
        kf_text_append(text, " and is ");
        append_value(new, text);
    }
}

/* Describes the difference in the words of scene files if both documents are known. */
static void describe_difference(const kf_run_job *job, kf_text *text) {
    cJSON *now = NULL;
    kf_error ignored;
    (void)kf_problem_document(job->problem, NULL, false, &now, &ignored);
    if (job->best.document != NULL && now != NULL)
        kf_scene_document_difference(job->best.document, now, text);
    cJSON_Delete(now);
    if (text->length == 0) append_differences(&job->best.facts, &job->problem->facts, false, text);
    if (text->length == 0) kf_text_append(text, "the same but for its mesh or its samples");
}

static kf_status refuse_another(const kf_run_job *job, kf_error *error) {
    kf_text text = {0};
    append_differences(&job->best.facts, &job->problem->facts, true, &text);
    if (text.length == 0) describe_difference(job, &text);
    const kf_status status = kf_fail(
        error, KF_BAD_INPUT,
        "%s: tuned for another scene than %s is now: %s; run it without --config, or tune it ('kftune "
        "tune --scene %s', with the same options)",
        kf_argument(job->arguments, "--config", ""), job->problem->name, text.text,
        kf_argument(job->arguments, "--scene", job->best.scene));
    kf_text_free(&text);
    return status;
}

/* Checks a config for another scene. A flow's config can be verified on any scene with the same grid and
 * model. */
static kf_status check_difference(kf_run_job *job, kf_error *error) {
    kf_text text = {0};
    append_differences(&job->best.facts, &job->problem->facts, true, &text);
    const bool fits = text.length == 0 && kf_problem_is_flow(job->problem);
    kf_text_free(&text);
    if (!fits) return refuse_another(job, error);
    describe_difference(job, &text);
    kf_info("%s: was tuned for another scene (%s): the config is verified on this one; its speed may not be "
            "the best",
            kf_argument(job->arguments, "--config", ""), text.text);
    kf_text_free(&text);
    job->foreign = true;
    return KF_OK;
}

/* ---- The scene of a config ---- */

/* Warns if the scene file was changed after tuning, because the run uses the tuned scene. */
static void warn_of_changes(const kf_best_config *best) {
    cJSON *now = NULL;
    kf_text text = {0};
    kf_error ignored;
    if (best->scene[0] == '/' && kf_ends_in(best->scene, ".json") &&
        kf_scene_document_read(best->scene, &now, &ignored) == KF_OK)
        kf_scene_document_difference(best->document, now, &text);
    if (text.length > 0)
        kf_warn("%s was changed since it was tuned (%s): this runs what was tuned; --scene %s runs what the "
                "file says now",
                best->scene, text.text, best->scene);
    kf_text_free(&text);
    cJSON_Delete(now);
}

/* Opens a scene with the changes that the options make. If a scene was tuned with another grid than its
 * file's, it is tried with that grid before it counts as a different scene. */
static kf_status open_changed(kf_run_job *job, const char *source, bool inside, kf_error *error) {
    const kf_best_config *best = &job->best;
    kf_problem_options wanted = kf_problem_options_of(&best->facts, best->seed);
    kf_argument_memory(job->arguments, best->device.spec, &wanted);
    const char *placed = source;
    const bool mesh = kf_scene_is_mesh(source) && best->document == NULL;
    KF_TRY(kf_argument_placed(job->arguments, mesh ? wanted.nodes : (const int[3]){0}, 0.0, best->document,
                              &placed, error));
    if (placed == source) {
        KF_TRY(kf_problem_open(source, best->config.system, &wanted, &job->problem, error));
        const bool same = strcmp(job->problem->hash, best->scene_hash) == 0;
        if (same || inside || !kf_problem_is_flow(job->problem))
            return same ? KF_OK : refuse_another(job, error);
        kf_problem_free(job->problem);
        job->problem = NULL;
    }
    wanted = (kf_problem_options){.memory = wanted.memory, .memory_context = wanted.memory_context};
    KF_TRY(kf_problem_open(placed, best->config.system, &wanted, &job->problem, error));
    return strcmp(job->problem->hash, best->scene_hash) == 0 ? KF_OK : check_difference(job, error);
}

kf_status kf_run_open_tuned_scene(kf_run_job *job, kf_error *error) {
    const kf_best_config *best = &job->best;
    const bool inside = best->document != NULL && !kf_argument_given(job->arguments, "--scene");
    char kept[KF_PATH];
    if (inside) {
        char name[128];
        kf_scene_name(best->scene, name);
        warn_of_changes(best);
        KF_TRY(kf_scene_document_keep(best->document, name, kept, NULL, error));
    }
    KF_TRY(open_changed(job, inside ? kept : kf_argument(job->arguments, "--scene", best->scene), inside,
                        error));
    if (job->problem->notes.length > 0) kf_detail("%s", job->problem->notes.text);
    return KF_OK;
}

/* Refuses options that only make sense without a config. */
kf_status kf_run_refuse_said(const kf_arguments *arguments, kf_error *error) {
    static const kf_option said[] = {
        {"--grid", NULL, NULL, KF_FLAG},  {"--samples-per-cell", NULL, NULL, KF_FLAG},
        {"--store", NULL, NULL, KF_FLAG}, {"--system", NULL, NULL, KF_FLAG},
        {"--fix", NULL, NULL, KF_FLAG},   KF_ACCURACY_OPTION};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (kf_argument_given(arguments, said[i].name))
            return kf_fail(error, KF_BAD_INPUT,
                           "option '%s': --config already determines this; leave one of them out",
                           said[i].name);
    return KF_OK;
}

/* ---- A scene that was not tuned ---- */

/* Opens the scene of a run without a tuned config. --fix changes the default config. It is refused beside
 * --store, which may contain a better config. */
kf_status kf_run_open_scene(kf_run_job *job, const kf_command *command, kf_error *error) {
    const kf_arguments *arguments = job->arguments;
    kf_problem_options known = {.seed = 0};
    kf_argument_memory(arguments, NULL, &known);
    if (!kf_argument_given(arguments, "--scene"))
        return kf_fail(
            error, KF_BAD_INPUT,
            "run: --config FILE is missing; 'kftune tune --scene FILE' writes one. Or give --scene "
            "FILE, to run it with what was best for the nearest scene known, or the default");
    if (kf_argument_given(arguments, "--store") && kf_argument_given(arguments, "--fix"))
        return kf_fail(
            error, KF_BAD_INPUT,
            "option '--fix': changes the default config, not what --store knows; leave one of them out");
    KF_TRY(kf_argument_problem(arguments, command, NULL, NULL, &known, &job->problem, error));
    if (job->problem->notes.length > 0) kf_detail("%s", job->problem->notes.text);
    return KF_OK;
}
