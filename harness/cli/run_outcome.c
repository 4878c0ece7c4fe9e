#include "harness/cli/run_job.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/backend/device_json.h"
#include "base/backend/team/world.h"
#include "base/util/json.h"
#include "base/util/text.h"
#include "harness/cli/drag_interval.h"
#include "harness/cli/placement_argument.h"
#include "harness/cli/run_coefficients.h"
#include "harness/cli/run_duration.h"
#include "harness/cli/run_plan.h"
#include "solver/output/run_folder.h"

/* Returns the last row of each table by the table's name, with the columns of its file; null: there are no
 * tables. */
static cJSON *records_json(const kf_production *done) {
    if (done->records.count == 0) return cJSON_CreateNull();
    cJSON *tables = cJSON_CreateObject();
    for (size_t t = 0; t < done->records.count; t++) {
        const kf_record *record = &done->records.tables[t];
        cJSON *row = cJSON_AddObjectToObject(tables, record->table);
        (void)cJSON_AddNumberToObject(row, "step", (double)done->records.step);
        (void)cJSON_AddNumberToObject(row, "time_s", done->records.time);
        for (size_t i = 0; i < record->count; i++) {
            const kf_column *column = &record->columns[i];
            char name[sizeof column->name + sizeof column->unit];
            kf_column_title(column, name, sizeof name);
            kf_json_add_number(row, name, column->value);
        }
    }
    return tables;
}

static cJSON *smoke_json(const kf_run_job *job) {
    if (job->smoke == NULL) return cJSON_CreateNull();
    const kf_smoke_sources *sources = kf_smoke_sources_of(job->smoke);
    double rate = 0;
    for (int e = 0; e < sources->count; e++)
        rate += sources->emitters[e].rate;
    cJSON *smoke = cJSON_CreateObject();
    cJSON_AddNumberToObject(smoke, "pictures", (double)job->done.smoke_pictures);
    cJSON_AddNumberToObject(smoke, "tracers", (double)job->done.tracers);
    cJSON_AddNumberToObject(smoke, "tracers_a_step", rate);
    cJSON_AddNumberToObject(smoke, "capacity", (double)sources->capacity);
    cJSON_AddNumberToObject(smoke, "steps_a_move", kf_smoke_period(job->smoke));
    return smoke;
}

/* Returns half of the drag's whole interval as a share of the drag; NAN: no part is known. */
static double share_of_drag(const kf_run_job *job) {
    const kf_scene *scene = kf_run_scene(job->problem);
    kf_drag_interval interval;
    if (scene == NULL || !job->done.drag.known) return (double)NAN;
    kf_drag_interval_of(scene, &job->done.drag, &interval);
    return kf_drag_interval_total(&interval) / fabs(interval.corrected);
}

/* Returns the prediction of `kftune plan` together with the result; null: there is no plan for this scene. */
static cJSON *plan_json(const kf_run_job *job) {
    kf_run_plan plan;
    kf_error ignored;
    if (!job->how.until_settled || kf_run_plan_find(job->problem->hash, &plan, &ignored) != KF_OK)
        return cJSON_CreateNull();
    cJSON *json = kf_run_plan_json(&plan);
    kf_json_add_number(json, "came_share_of_drag", share_of_drag(job));
    cJSON_AddNumberToObject(json, "came_steps", (double)job->done.last_step);
    cJSON_AddNumberToObject(json, "came_seconds", job->done.seconds);
    return json;
}

/* Prints how well the plan predicted this run. */
static void print_plan(const kf_run_job *job) {
    kf_run_plan plan;
    kf_error ignored;
    char foretold[32], came[32];
    if (!job->how.until_settled || kf_run_plan_find(job->problem->hash, &plan, &ignored) != KF_OK) return;
    printf("  planned    %.0f steps, %s, drag within %.10g %%; it took %" PRIu64
           " steps, %s, and the drag is known within %.10g %%\n",
           plan.steps,
           isfinite(plan.seconds) ? kf_human_time_us(1e6 * plan.seconds, foretold) : "a time not known",
           kf_percent(plan.share), job->done.last_step, kf_human_time_us(1e6 * job->done.seconds, came),
           kf_percent(share_of_drag(job)));
}

/* Makes the JSON object for --json and for the folder's run.json. */
static cJSON *record(const kf_run_job *job, const char *state) {
    const kf_production *done = &job->done;
    cJSON *json = kf_json_answer("run");
    const kf_scene *scene = kf_run_scene(job->problem);
    cJSON_AddItemToObject(json, "device", kf_device_to_json(kf_backend_device(job->backend)));
    cJSON_AddStringToObject(json, "state", state);
    cJSON_AddStringToObject(json, "scene", job->problem->name);
    cJSON_AddStringToObject(json, "scene_hash", job->problem->hash);
    cJSON_AddItemToObject(json, "facts", kf_facts_to_json(&job->problem->facts));
    cJSON_AddItemToObject(json, "config", kf_config_to_json(&job->best.config));
    cJSON_AddStringToObject(json, "config_hash", job->best.config_hash);
    cJSON_AddNumberToObject(json, "first_step", (double)done->first_step);
    cJSON_AddNumberToObject(json, "last_step", (double)done->last_step);
    cJSON_AddNumberToObject(json, "steps", (double)(done->last_step - done->first_step));
    cJSON_AddNumberToObject(json, "seconds", done->seconds);
    cJSON_AddNumberToObject(json, "output_seconds", done->output_seconds);
    cJSON_AddNumberToObject(json, "steps_per_second", done->steps_per_second);
    kf_rate_add(json, job->problem->system->update, done->updates_per_second);
    cJSON_AddItemToObject(
        json, "outputs",
        cJSON_CreateStringArray((const char *const *)done->outputs, (int)done->output_count));
    cJSON_AddStringToObject(json, "checkpoint", done->checkpoint);
    cJSON_AddStringToObject(json, "begun_in", job->begun_in);
    cJSON_AddItemToObject(json, "records", records_json(done));
    cJSON_AddItemToObject(json, "columns_refer_to", kf_facts_to_json(&job->meaning));
    cJSON_AddItemToObject(json, "coefficients",
                          kf_run_coefficients_json(scene, &job->done.drag, job->how.flow_through));
    cJSON_AddItemToObject(json, "plan", plan_json(job));
    cJSON_AddItemToObject(json, "probes", kf_run_probes_json(done, &job->probes));
    cJSON_AddItemToObject(json, "smoke", smoke_json(job));
    return json;
}

kf_status kf_run_record(const kf_run_job *job, const char *state, bool print, kf_error *error) {
    cJSON *json = record(job, state);
    kf_status status = kf_world_rank() > 0 ? KF_OK : kf_run_folder_record(job->folder, json, error);
    if (print && kf_world_rank() == 0)
        kf_json_print(json);
    else
        cJSON_Delete(json);
    return status;
}

/* Returns the length of the path before the number of the step, which "run/speed_000200.png" and
 * "run/speed_000400.png" have in common. A path without a step counts in full. */
static size_t stem_length(const char *path) {
    const char *slash = strrchr(path, '/'), *underscore = strrchr(path, '_');
    const bool numbered = underscore != NULL && (slash == NULL || underscore > slash) &&
                          underscore[1] >= '0' && underscore[1] <= '9';
    return numbered ? (size_t)(underscore - path) : strlen(path);
}

static bool is_last_of_stem(const kf_production *done, size_t index) {
    const char *path = done->outputs[index];
    const size_t stem = stem_length(path);
    for (size_t i = index + 1; i < done->output_count; i++)
        if (stem_length(done->outputs[i]) == stem && strncmp(done->outputs[i], path, stem) == 0 &&
            kf_ends_in(done->outputs[i], strrchr(path, '.')))
            return false;
    return true;
}

/* Returns whether a file belongs to smoke or probes, which have their own lines. */
static bool is_named_apart(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    return strncmp(name, "smoke_", 6) == 0 || strncmp(name, "probe_", 6) == 0;
}

/* Kinds of files that a run writes, in the order in which they are printed. */
static const struct {
    const char *label, *ending;
} kinds[] = {{"fields", ".vtkhdf"},    {"picture", ".png"},       {"map", ".asc"},
             {"chart", "/forces.png"}, {"forces", "/forces.csv"}, {"motion", "/motion.csv"},
             {"wall", "/wall.csv"},    {"table", ".csv"},         {"checkpoint", ".kfc"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Finds the kind with the longest matching ending; KINDS: none. */
static size_t kind_of(const char *path) {
    size_t best = KINDS;
    for (size_t k = 0; k < KINDS; k++)
        if (kf_ends_in(path, kinds[k].ending) &&
            (best == KINDS || strlen(kinds[k].ending) > strlen(kinds[best].ending)))
            best = k;
    return best;
}

/* Prints the last file of each series. */
static void print_outputs(const kf_production *done) {
    for (size_t k = 0; k < KINDS; k++)
        for (size_t i = 0; i < done->output_count; i++)
            if (kind_of(done->outputs[i]) == k && !is_named_apart(done->outputs[i]) &&
                is_last_of_stem(done, i))
                printf("  %-11s%s\n", kinds[k].label, done->outputs[i]);
}

/* Appends one word of a command, quoted for the shell if necessary. */
static void append_word(kf_text *text, const char *word) {
    if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%") ==
                     strlen(word)) {
        kf_text_append(text, " %s", word);
        return;
    }
    kf_text_append(text, " '");
    for (const char *c = word; *c; c++) {
        if (*c == '\'') {
            kf_text_append(text, "'\\''");
        } else {
            kf_text_append(text, "%c", *c);
        }
    }
    kf_text_append(text, "'");
}

/* Appends the scene. If options placed or changed it, this is the scene that the run keeps. */
static void append_scene(const kf_run_job *job, kf_text *text) {
    const char *scene = kf_argument(job->arguments, "--scene", NULL);
    kf_placement said;
    kf_error ignored;
    const bool changed =
        kf_argument_placement(job->arguments, &said, &ignored) == KF_OK && kf_placement_given(&said);
    if (scene == NULL && !changed) return;
    kf_text kept = {0};
    kf_text_append(&kept, "%s/scene.json", job->folder);
    append_word(text, "--scene");
    append_word(text, changed || kf_scene_is_mesh(scene) ? kept.text : scene);
    kf_text_free(&kept);
}

/* Writes the command that continues this run with the same options: up to its planned end, or as long again
 * if it reached the end. */
static void append_resumption(const kf_run_job *job, kf_text *text) {
    static const char *const kept[] = {
        "--config",  "--accuracy",         "--checkpoints",   "--slice",     "--fields",
        "--picture", "--camera",           "--picture-every", "--mean-from", "--area",
        "--grid",    "--samples-per-cell", "--store",         "--device",    "--devices",
        "--system",  "--checkpoint-every"};
    kf_text_append(text, "kftune run");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (!kf_argument_given(job->arguments, kept[i])) continue;
        append_word(text, kept[i]);
        append_word(text, kf_argument(job->arguments, kept[i], ""));
    }
    append_scene(job, text);
    static const char *const repeated[] = {"--range", "--fix", "--probe"};
    for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++) {
        const char *const *values = NULL;
        const int count = kf_argument_all(job->arguments, repeated[i], &values);
        for (int v = 0; v < count; v++) {
            append_word(text, repeated[i]);
            append_word(text, values[v]);
        }
    }
    if (job->how.probe_count > 0) kf_text_append(text, " --probe-every %" PRIu64, job->how.probe_every);
    if (job->how.film_every > 0) kf_text_append(text, " --film --film-every %" PRIu64, job->how.film_every);
    if (job->how.compression) append_word(text, "--compress");
    if (job->how.until_settled) kf_text_append(text, " --until settled");
    if (job->smoke)
        kf_text_append(text, " --smoke --smoke-every %" PRIu64 " --smoke-size %dx%d", job->how.smoke_every,
                       job->smoke_size[0], job->smoke_size[1]);
    kf_text_append(text, " --every %" PRIu64, job->how.every);
    const uint64_t left = job->how.steps - (job->done.last_step - job->done.first_step);
    if (job->how.seconds > 0.0)
        kf_text_append(text, " --time %.9gs", fmax(job->done.seconds_left, 1e-9));
    else
        kf_text_append(text, " --steps %" PRIu64, left > 0 ? left : job->how.steps);
    kf_text_append(text, " --output");
    append_word(text, job->folder);
    append_word(text, "--restart");
    append_word(text, job->done.checkpoint);
}

/* Prints the results of the law of the wall in the last step. */
static void print_wall(const kf_production *done) {
    const kf_record *wall = kf_records_find(&done->records, "wall");
    if (wall == NULL) return;
    printf("  wall       y+ of half a cell %.3g, %.3g to %.3g; friction velocity %.3g, %.3g to %.3g m/s; the "
           "law has %.0f %%\n",
           kf_record_value(wall, "y_plus_mean"), kf_record_value(wall, "y_plus_least"),
           kf_record_value(wall, "y_plus_largest"), kf_record_value(wall, "friction_velocity_mean"),
           kf_record_value(wall, "friction_velocity_least"),
           kf_record_value(wall, "friction_velocity_largest"), 100.0 * kf_record_value(wall, "law_share"));
    printf("             drag of friction %.4f, of pressure %.4f, %.4f of it on the front (last step)\n",
           kf_record_value(wall, "friction_drag_coefficient"),
           kf_record_value(wall, "pressure_drag_coefficient"),
           kf_record_value(wall, "front_pressure_drag_coefficient"));
    const double modelled = kf_record_value(wall, "modelled_share");
    if (isfinite(modelled))
        printf("             layers are modelled on %.0f %% of the surface\n", 100.0 * modelled);
}

/* Prints the results of a run: steps, rate beside the tuned rate, coefficients, files, and the command that
 * continues it if the means have not settled. */
static void print_result(const kf_run_job *job) {
    const kf_production *done = &job->done;
    printf("%s: step %" PRIu64 " to %" PRIu64 " on %s\n", job->problem->name, done->first_step,
           done->last_step, kf_backend_device(job->backend)->name);
    char rate[KF_RATE_TEXT], tuned[KF_RATE_TEXT];
    printf("  %.1f steps/s, %s", done->steps_per_second,
           kf_rate_text(job->problem->system->update, done->updates_per_second, rate));
    if (job->best.updates_per_second > 0.0)
        printf(job->foreign ? " (its config on the scene that was tuned: %s)\n" : " (tuned: %s)\n",
               kf_rate_text(job->problem->system->update, job->best.updates_per_second, tuned));
    else
        puts(" (not tuned)");
    kf_run_coefficients_print(kf_run_scene(job->problem), &done->drag, job->how.flow_through);
    print_wall(done);
    if (done->smoke_pictures > 0) {
        printf("  smoke      %s/smoke_*.png: %zu picture%s, %" PRIu64 " tracers at the end\n", job->folder,
               done->smoke_pictures, done->smoke_pictures == 1 ? "" : "s", done->tracers);
    }
    if (done->frames > 0)
        printf("  film       %zu frames; ffmpeg -framerate 25 -i '%s/film_%%05d.png' -vf "
               "'pad=ceil(iw/2)*2:ceil(ih/2)*2' "
               "-pix_fmt yuv420p '%s/film.mp4'\n",
               done->frames, job->folder, job->folder);
    print_outputs(done);
    print_plan(job);
    kf_run_probes_print(done, &job->probes);
    kf_run_interval_print(kf_run_scene(job->problem), &done->drag);
    if (!done->drag.known || done->drag.settled || done->checkpoint[0] == '\0') return;
    kf_text command = {0};
    append_resumption(job, &command);
    printf("  go on      %s\n", command.text);
    kf_text_free(&command);
}

void kf_run_hangs(void *context, const kf_error *why) {
    const kf_run_job *job = context;
    (void)kf_run_record(job, "failed", kf_arguments_json(job->arguments), NULL);
    kf_world_end(why->message);
}

/* Concludes a run: writes its record and prints the result. After an interrupt it prints the command that
 * continues the run. The run fails if the record cannot be written. */
kf_status kf_run_conclude(const kf_run_job *job, kf_status status, kf_error *error) {
    bool json = kf_arguments_json(job->arguments);
    const char *state = status == KF_OK ? "finished" : status == KF_INTERRUPTED ? "interrupted" : "failed";
    kf_error record_error;
    kf_status recorded = kf_run_record(job, state, json, &record_error);
    if (status == KF_OK && recorded != KF_OK) {
        *error = record_error;
        return recorded;
    }
    if (status == KF_OK && !json && job->part == NULL && kf_world_rank() == 0) print_result(job);
    if (status != KF_INTERRUPTED) return status;
    kf_text command = {0};
    append_resumption(job, &command);
    kf_status result = kf_fail(error, KF_INTERRUPTED, "interrupted after step %" PRIu64 "; go on with: %s",
                               job->done.last_step, command.text);
    kf_text_free(&command);
    return result;
}
