#include "solver/output/production.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/backend/team/world.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/flow/flow_plan.h"
#include "solver/output/checkpoint.h"
#include "solver/output/flow_files.h"
#include "solver/output/mean_fields.h"
#include "solver/output/record_files.h"
#include "solver/output/series_file.h"
#include "solver/output/vtkhdf.h"
#include "solver/picture/field_picture.h"
#include "solver/picture/scene_view.h"

/* Steps, or as many more as a plan gives a device at once, between two looks at whether the state makes
 * sense. */
enum { WATCHED_STEPS = 256 };
/* Seconds between two looks at the interruption flag and two progress lines. */
static const double pace_seconds = 0.25;

/* A run in progress. */
typedef struct production_run {
    kf_plan *plan;
    const kf_production_options *options;
    kf_production *result;
    kf_record_files files;
    kf_force_series forces;
    kf_drag_judgement judgement;
    kf_mean_fields means;
    kf_prober prober;
    uint64_t end;          /* step to reach */
    double until;          /* s of the flow to reach, by which the end is moved; 0: none */
    uint64_t stride;       /* steps that take about pace_seconds */
    uint64_t watch;        /* steps from one look at the state to the next */
    double started;        /* wall clock */
    double judged;         /* likewise, when the drag was looked at */
    double saved;          /* likewise, when the last checkpoint was written; at first as started */
    double slowest;        /* seconds of a step, of the slowest stretch so far; 0: none was done */
    kf_watchdog *watchdog; /* NULL: none */
    bool records;          /* the plan has some, as far as is known */
    bool save_is_due;
    bool interrupted;
} production_run;

/* Returns whether this process writes files. One of a run's processes does; what they hold comes from all,
 * so all come here. */
static bool writes(void) {
    return kf_world_rank() == 0;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void note_output(kf_production *result, const char *path) {
    result->outputs = kf_reallocate(result->outputs, (result->output_count + 1) * sizeof *result->outputs);
    result->outputs[result->output_count++] = kf_duplicate(path);
}

static void forget_output(kf_production *result, size_t index) {
    free(result->outputs[index]);
    result->output_count--;
    memmove(result->outputs + index, result->outputs + index + 1,
            (result->output_count - index) * sizeof *result->outputs);
}

static bool is_checkpoint(const char *path) {
    const char *name = strrchr(path, '/');
    return strncmp(name ? name + 1 : path, "checkpoint_", 11) == 0;
}

/* Removes the oldest checkpoints of this run beyond the wanted number. */
static void prune_checkpoints(production_run *producer) {
    kf_production *result = producer->result;
    int newer = 0;
    for (size_t i = result->output_count; i-- > 0;) {
        if (!is_checkpoint(result->outputs[i]) || newer++ < producer->options->checkpoints) continue;
        unlink(result->outputs[i]);
        forget_output(result, i);
    }
}

static kf_status output_path(const production_run *producer, const char *kind, const char *ending,
                             char path[KF_PATH], kf_error *error) {
    return kf_path(path, error, "%s/%s_%06" PRIu64 ".%s", producer->options->folder, kind,
                   producer->plan->steps_done, ending);
}

static kf_status write_checkpoint(production_run *producer, kf_error *error) {
    char path[KF_PATH];
    KF_TRY(output_path(producer, "checkpoint", "kfc", path, error));
    if (strcmp(path, producer->result->checkpoint) == 0) return KF_OK;
    KF_TRY(kf_checkpoint_write(path, producer->plan, producer->options->smoke, error));
    kf_copy_text(producer->result->checkpoint, KF_PATH, path);
    note_output(producer->result, path);
    return KF_OK;
}

/* Adds the smoke's density to a snapshot of the flow that carries it. */
static kf_status add_smoke(production_run *producer, kf_snapshot *snapshot, kf_error *error) {
    if (producer->options->smoke == NULL) return KF_OK;
    float *density = kf_snapshot_add(snapshot, "smoke", "tracers a cell", 1);
    return kf_smoke_density(producer->options->smoke, density, &producer->result->tracers, error);
}

static kf_status write_map(production_run *producer, const kf_snapshot *snapshot, kf_error *error) {
    const kf_plan_methods *methods = producer->plan->methods;
    const char *name = methods->map_name != NULL ? methods->map_name(producer->plan) : NULL;
    char path[KF_PATH];
    if (name == NULL) return KF_OK;
    KF_TRY(output_path(producer, name, "asc", path, error));
    KF_TRY(methods->map(producer->plan, snapshot, path, error));
    note_output(producer->result, path);
    return KF_OK;
}

/* The picture of a system that draws itself. */
static kf_status write_own_picture(production_run *producer, const kf_snapshot *snapshot, kf_error *error) {
    char path[KF_PATH];
    KF_TRY(output_path(producer, "picture", "png", path, error));
    KF_TRY(producer->plan->methods->picture(producer->plan, snapshot, path, error));
    note_output(producer->result, path);
    return KF_OK;
}

static int views_of(const kf_production_options *options, const kf_picture_view **views) {
    static const kf_picture_view usual = {.field = KF_PICTURE_SPEED, .normal = KF_AXIS_AUTO};
    *views = options->picture_count > 0 ? options->pictures : &usual;
    if (options->no_pictures) return 0;
    return options->picture_count > 0 || options->surface_picture ? options->picture_count : 1;
}

/* A flow's slices, of a moment or of means. */
static kf_status write_slices(production_run *producer, const kf_snapshot *snapshot, bool mean,
                              kf_error *error) {
    const kf_picture_view *views;
    const int count = views_of(producer->options, &views);
    for (int i = 0; i < count; i++) {
        char path[KF_PATH], kind[32];
        kf_picture_view view = views[i];
        view.mean = mean;
        (void)snprintf(kind, sizeof kind, "%s%s", mean ? "mean_" : "", kf_picture_fields[view.field]);
        KF_TRY(output_path(producer, kind, "png", path, error));
        KF_TRY(kf_picture_of_plan(path, producer->plan, snapshot, &view, error));
        note_output(producer->result, path);
    }
    return KF_OK;
}

static kf_status write_field_pictures(production_run *producer, const kf_snapshot *snapshot,
                                      kf_error *error) {
    char path[KF_PATH];
    const char *name = producer->plan->problem->name;
    bool written;
    KF_TRY(output_path(producer, "dye", "png", path, error));
    KF_TRY(kf_dye_picture(path, name, snapshot, &written, error));
    if (written) note_output(producer->result, path);
    KF_TRY(output_path(producer, "speed", "png", path, error));
    KF_TRY(kf_speed_picture(path, name, snapshot, error));
    note_output(producer->result, path);
    return KF_OK;
}

/* The pressure on the solid, at a path. */
static kf_status draw_solid(production_run *producer, const kf_snapshot *snapshot, const char *path,
                            kf_error *error) {
    const kf_scene *scene = kf_plan_scene(producer->plan);
    const kf_production_options *options = producer->options;
    kf_solid_pose pose;
    kf_snapshot surface;
    KF_TRY(kf_flow_pose(producer->plan, &pose, error));
    kf_flow_surface(scene, pose.rotation, pose.center, snapshot, &surface);
    const kf_status status =
        kf_surface_view_write(scene, &surface, &options->viewpoint, options->surface_range[0],
                              options->surface_range[1], path, error);
    kf_snapshot_free(&surface);
    return status;
}

/* All pictures of a flow at a moment. */
static kf_status write_pictures(production_run *producer, const kf_snapshot *snapshot, kf_error *error) {
    char path[KF_PATH];
    if (producer->options->no_pictures) return KF_OK;
    if (producer->plan->methods->picture != NULL) return write_own_picture(producer, snapshot, error);
    KF_TRY(write_slices(producer, snapshot, false, error));
    if (!producer->options->surface_picture) return KF_OK;
    KF_TRY(output_path(producer, "surface", "png", path, error));
    KF_TRY(draw_solid(producer, snapshot, path, error));
    note_output(producer->result, path);
    return KF_OK;
}

/* A numbered file, and the list of the run's of its kind. */
static kf_status write_numbered(production_run *producer, const char *kind, const kf_snapshot *snapshot,
                                kf_error *error) {
    char path[KF_PATH];
    KF_TRY(output_path(producer, kind, "vtkhdf", path, error));
    KF_TRY(kf_vtkhdf_write(path, snapshot, producer->options->compression, error));
    note_output(producer->result, path);
    const double time_step = snapshot->step > 0 ? snapshot->time / (double)snapshot->step : 0.0;
    const kf_series_files files = {producer->options->folder, producer->result->first_step,
                                   (const char *const *)producer->result->outputs,
                                   producer->result->output_count};
    return kf_series_file_write(&files, kind, time_step, error);
}

/* A flow's picture, the solid's surface, and the quantities that are asked for. */
static kf_status add_flow(production_run *producer, kf_snapshot *snapshot, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(producer->plan);
    const int asked = producer->options->quantities,
              quantities = asked != 0 ? asked : KF_VELOCITY | KF_PRESSURE;
    kf_solid_pose pose;
    KF_TRY(write_pictures(producer, snapshot, error));
    KF_TRY(kf_flow_pose(producer->plan, &pose, error));
    if (quantities & KF_SURFACE && scene->mesh.triangle_count > 0) {
        kf_snapshot surface;
        kf_flow_surface(scene, pose.rotation, pose.center, snapshot, &surface);
        const kf_status status = write_numbered(producer, "surface", &surface, error);
        kf_snapshot_free(&surface);
        KF_TRY(status);
    }
    kf_flow_quantities_derive(scene, pose.rotation, pose.center, quantities, snapshot);
    return KF_OK;
}

static kf_status write_state(production_run *producer, kf_snapshot *snapshot, kf_error *error) {
    const kf_plan_methods *methods = producer->plan->methods;
    const bool on_nodes = snapshot->on == KF_ON_NODES;
    KF_TRY(add_smoke(producer, snapshot, error));
    if (methods->flow != NULL) KF_TRY(add_flow(producer, snapshot, error));
    const bool pictures = !producer->options->no_pictures, fields = !producer->options->no_fields;
    if (fields) KF_TRY(write_numbered(producer, on_nodes ? "fields" : "particles", snapshot, error));
    if (methods->flow != NULL) return KF_OK;
    if (fields) KF_TRY(write_map(producer, snapshot, error));
    if (!pictures) return KF_OK;
    if (methods->picture != NULL) return write_own_picture(producer, snapshot, error);
    return on_nodes && kf_snapshot_find(snapshot, "velocity") != NULL
               ? write_field_pictures(producer, snapshot, error)
               : KF_OK;
}

static kf_status write_snapshot(production_run *producer, kf_error *error) {
    const kf_production_options *options = producer->options;
    kf_snapshot snapshot;
    if (options->no_pictures && options->no_fields && options->smoke == NULL) return KF_OK;
    kf_status status = kf_plan_snapshot(producer->plan, &snapshot, error);
    if (status == KF_OK && writes()) status = write_state(producer, &snapshot, error);
    kf_snapshot_free(&snapshot);
    return status;
}

static bool mean_is_due(const production_run *producer, uint64_t step) {
    const kf_production_options *options = producer->options;
    return options->mean_from > 0 && step >= options->mean_from && step % options->mean_every == 0 &&
           producer->plan->methods->flow != NULL;
}

static kf_status add_to_means(production_run *producer, kf_error *error) {
    kf_snapshot snapshot;
    const kf_status status = kf_plan_snapshot(producer->plan, &snapshot, error);
    if (status == KF_OK) kf_mean_fields_add(&producer->means, &snapshot);
    kf_snapshot_free(&snapshot);
    return status;
}

static kf_status write_means(production_run *producer, kf_error *error) {
    char path[KF_PATH];
    kf_snapshot snapshot;
    if (producer->means.samples == 0 || !writes()) return KF_OK;
    KF_TRY(output_path(producer, "mean", "vtkhdf", path, error));
    kf_mean_fields_snapshot(&producer->means, &snapshot);
    kf_status status = kf_vtkhdf_write(path, &snapshot, producer->options->compression, error);
    if (status == KF_OK) note_output(producer->result, path);
    if (status == KF_OK) status = write_slices(producer, &snapshot, true, error);
    kf_snapshot_free(&snapshot);
    return status;
}

/* A frame of the film: the smoke, else the first picture, in colours that stay the same. */
static kf_status draw_frame(production_run *producer, kf_error *error) {
    const kf_production_options *options = producer->options;
    const uint64_t step = producer->plan->steps_done;
    char path[KF_PATH];
    if (options->film_every == 0 || step % options->film_every != 0) return KF_OK;
    KF_TRY(kf_path(path, error, "%s/film_%05" PRIu64 ".png", options->folder, step / options->film_every));
    producer->result->frames++;
    if (options->smoke != NULL) return writes() ? kf_smoke_picture_png(options->smoke, path, error) : KF_OK;
    const kf_picture_view *views;
    kf_snapshot snapshot;
    KF_TRY(kf_plan_snapshot(producer->plan, &snapshot, error));
    const kf_status status = !writes() ? KF_OK
                             : views_of(options, &views) > 0
                                 ? kf_picture_of_plan(path, producer->plan, &snapshot, &views[0], error)
                                 : draw_solid(producer, &snapshot, path, error);
    kf_snapshot_free(&snapshot);
    return status;
}

/* A picture between the outputs. */
static kf_status draw_between(production_run *producer, kf_error *error) {
    const uint64_t period = producer->options->picture_every;
    kf_snapshot snapshot;
    if (period == 0 || producer->plan->steps_done % period != 0 || producer->plan->methods->flow == NULL)
        return KF_OK;
    kf_status status = kf_plan_snapshot(producer->plan, &snapshot, error);
    if (status == KF_OK && writes()) status = write_pictures(producer, &snapshot, error);
    kf_snapshot_free(&snapshot);
    return status;
}

static kf_status draw_smoke(production_run *producer, kf_error *error) {
    char path[KF_PATH];
    if (!writes()) return KF_OK;
    KF_TRY(output_path(producer, "smoke", "png", path, error));
    KF_TRY(kf_smoke_picture_png(producer->options->smoke, path, error));
    note_output(producer->result, path);
    producer->result->smoke_pictures++;
    return KF_OK;
}

/* The rows of this moment; a problem that has no tables now never has any. */
static kf_status add_records(production_run *producer, kf_error *error) {
    kf_production *result = producer->result;
    const bool first = producer->files.list == NULL;
    kf_records_free(&result->records);
    KF_TRY(kf_plan_record(producer->plan, &result->records, error));
    producer->records = result->records.count > 0;
    if (!producer->records) return KF_OK;
    for (size_t t = 0; t < result->records.count; t++) {
        kf_record *table = &result->records.tables[t];
        if (strcmp(table->table, "forces") != 0) continue;
        kf_force_series_add(&producer->forces, result->records.step, table);
        kf_force_series_running_means(&producer->forces, table);
        kf_drag_judge_rows(&producer->judgement, &producer->forces);
        kf_drag_judgement_add(&producer->judgement, table);
    }
    if (!writes()) return KF_OK;
    KF_TRY(kf_record_files_add(&producer->files, &result->records, error));
    for (size_t i = 0; i < producer->files.count && first; i++)
        note_output(result, producer->files.list[i].path);
    return KF_OK;
}

/* Draws the chart of the forces beside their file, where there are two records at least. */
static kf_status draw_chart(production_run *producer, kf_error *error) {
    char path[KF_PATH];
    if (producer->forces.count < 2 || !writes()) return KF_OK;
    const kf_problem *problem = producer->plan->problem;
    const double reynolds = kf_facts_value(&problem->facts, "reynolds");
    kf_text title = {0};
    kf_text_append(&title, "%s", problem->name);
    if (reynolds > 0.0) kf_text_append(&title, ", Reynolds number %.4g", reynolds);
    kf_status status = kf_path(path, error, "%s/forces.png", producer->options->folder);
    if (status == KF_OK)
        status = kf_drag_chart(path, title.text, &producer->forces, producer->options->flow_through, error);
    kf_text_free(&title);
    KF_TRY(status);
    note_output(producer->result, path);
    return KF_OK;
}

/* Judges what the drag comes to; a run until it has settled ends here. */
static void judge_drag(production_run *producer) {
    kf_production *result = producer->result;
    result->drag =
        kf_drag_report_of(&producer->forces, producer->options->flow_through, producer->options->turn);
    if (producer->options->until_settled && kf_drag_is_done(&result->drag, producer->options->flow_through))
        producer->end = producer->plan->steps_done;
}

/* Rows of the probes; at the end what they come to, over the same steps as the drag where that has settled.
 */
static kf_status ask_probes(production_run *producer, bool last, kf_error *error) {
    const kf_production_options *options = producer->options;
    kf_production *result = producer->result;
    if (options->probe_count == 0) return KF_OK;
    if (last || producer->plan->steps_done % options->probe_every == 0)
        KF_TRY(kf_prober_add(&producer->prober, producer->plan, error));
    if (!last || !writes()) return KF_OK;
    const uint64_t from = options->mean_from > 0 ? options->mean_from
                          : result->drag.settled ? result->drag.from_step
                                                 : 0;
    KF_TRY(kf_prober_conclude(&producer->prober, options->folder, from, !options->no_pictures, error));
    for (size_t i = 0; i < producer->prober.count; i++) {
        const kf_probe_report *report = &producer->prober.reports[i];
        note_output(result, report->table);
        if (report->means[0] != '\0') note_output(result, report->means);
        if (report->picture[0] != '\0') note_output(result, report->picture);
    }
    return KF_OK;
}

/* Writes what is due after the steps done so far. */
static kf_status write_due(production_run *producer, kf_error *error) {
    uint64_t step = producer->plan->steps_done;
    const bool at_end = step == producer->end;
    if (producer->records && (at_end || step % producer->options->record_every == 0)) {
        KF_TRY(add_records(producer, error));
        if (at_end || producer->options->until_settled || now() - producer->judged >= pace_seconds) {
            producer->judged = now();
            judge_drag(producer);
        }
    }
    const bool last = step == producer->end;
    if (mean_is_due(producer, step)) KF_TRY(add_to_means(producer, error));
    if (last) KF_TRY(write_means(producer, error));
    KF_TRY(ask_probes(producer, last, error));
    KF_TRY(draw_frame(producer, error));
    if (producer->options->smoke != NULL && (last || step % producer->options->smoke_every == 0))
        KF_TRY(draw_smoke(producer, error));
    const bool output = last || step % producer->options->every == 0;
    if (!output) return draw_between(producer, error);
    if (last) KF_TRY(draw_chart(producer, error));
    return producer->plan->methods->snapshot != NULL ? write_snapshot(producer, error) : KF_OK;
}

/* Looks at clocks and signals, and whether the drag has settled. What they say is for the first process to
 * decide; an interruption of any counts. */
static kf_status look_around(production_run *producer, kf_error *error) {
    const bool last = producer->plan->steps_done == producer->end,
               due = last || now() - producer->saved >= producer->options->checkpoint_seconds;
    int64_t values[] = {(int64_t)producer->end, (int64_t)producer->stride, due,
                        *producer->options->interrupted != 0};
    for (int i = 0; i < 3 && !writes(); i++)
        values[i] = 0;
    KF_TRY(kf_world_sum(values, 4, error));
    producer->end = (uint64_t)values[0];
    producer->stride = (uint64_t)values[1];
    producer->save_is_due = values[2] != 0;
    producer->interrupted = values[3] != 0;
    return KF_OK;
}

/* By the clock, whatever outputs are due; a state that blew up takes no good one's place. */
static kf_status save_due(production_run *producer, kf_error *error) {
    kf_plan *plan = producer->plan;
    if (producer->options->checkpoints == 0 || !producer->save_is_due || plan->methods->save == NULL)
        return KF_OK;
    kf_snapshot snapshot = {.count = 0};
    kf_status status = plan->methods->snapshot != NULL ? kf_plan_snapshot(plan, &snapshot, error) : KF_OK;
    kf_snapshot_free(&snapshot);
    if (status == KF_OK) status = write_checkpoint(producer, error);
    producer->saved = now();
    if (status == KF_OK) prune_checkpoints(producer);
    return status;
}

/* An output that cannot be written must not cost what was computed. */
static kf_status save_after(production_run *producer, kf_status failure, kf_error *error) {
    kf_error why;
    if (failure == KF_GATE_FAILED || write_checkpoint(producer, &why) != KF_OK) return failure;
    char message[sizeof error->message];
    kf_copy_text(message, sizeof message, error->message);
    return kf_fail(error, failure, "%.600s; the run would go on from there with --restart %.380s", message,
                   producer->result->checkpoint);
}

/* "3 min"; of a run until the drag has settled, by the flow's own convergence: "about 2 min, at most 28 min".
 * Where it shows none yet: "at least 40 s", the flow-throughs that a settled drag is watched for. All by what
 * a step has taken so far, with all files and pictures. */
static void forecast(const production_run *producer, double step_us, uint64_t left, char text[96]) {
    const kf_production_options *options = producer->options;
    const double steps =
        kf_drag_steps_forecast(&producer->forces, &producer->result->drag, options->flow_through);
    const double least = KF_DRAG_FLOW_THROUGHS * options->flow_through;
    char most[32], about[32];
    kf_human_time_us(step_us * (double)left, most);
    if (!options->until_settled)
        (void)snprintf(text, 96, "%s", most);
    else if (!isfinite(steps) && least < (double)left)
        (void)snprintf(text, 96, "at least %s, at most %s", kf_human_time_us(step_us * least, about), most);
    else if (!isfinite(steps) || steps >= (double)left)
        (void)snprintf(text, 96, "%s", most);
    else
        (void)snprintf(text, 96, "about %s, at most %s", kf_human_time_us(step_us * steps, about), most);
}

static void show_progress(const production_run *producer) {
    const kf_production *result = producer->result;
    uint64_t done = producer->plan->steps_done - result->first_step,
             left = producer->end - producer->plan->steps_done;
    char remaining[96], rate[KF_RATE_TEXT], drag[64] = "";
    const kf_series_mean *mean = &result->drag.mean[KF_DRAG];
    if (result->drag.known && isfinite(mean->half))
        (void)snprintf(drag, sizeof drag, "   Cd %.3f +- %.3f%s", mean->mean, mean->half,
                       result->drag.settled ? "" : ", not settled");
    forecast(producer, 1e6 * (now() - producer->started) / (double)done, left, remaining);
    kf_progress(false, "step %" PRIu64 " of %" PRIu64 "   %.1f steps/s   %s%s   %s left",
                producer->plan->steps_done, producer->end, result->steps_per_second,
                kf_rate_text(producer->plan->problem->system->update, result->updates_per_second, rate), drag,
                remaining);
}

static uint64_t steps_to_next(uint64_t step, uint64_t period) {
    return period - step % period;
}

static uint64_t smaller(uint64_t left, uint64_t right) {
    return left < right ? left : right;
}

/* Estimates how many steps are left until the time is reached, where steps differ in length. */
static void look_at_the_time(production_run *producer) {
    const kf_plan *plan = producer->plan;
    if (producer->until <= 0) return;
    const double time = kf_plan_time(plan), left = producer->until - time;
    producer->result->seconds_left = left;
    const double step = plan->methods->time(plan, plan->steps_done + 1) - time;
    if (isfinite(left) && step > 0)
        producer->end = plan->steps_done + (uint64_t)fmin(fmax(ceil(left / step - 1e-6), 0), 1e12);
}

/* Advances by so many steps, and looks at the state on the way. */
static kf_status advance_watched(production_run *producer, uint64_t steps, kf_error *error) {
    kf_plan *plan = producer->plan;
    const uint64_t end = plan->steps_done + steps;
    while (plan->steps_done < end) {
        const uint64_t some =
            smaller(end - plan->steps_done, steps_to_next(plan->steps_done, producer->watch));
        if (producer->options->smoke != NULL)
            KF_TRY(kf_smoke_advance(producer->options->smoke, some, error));
        else
            KF_TRY(kf_plan_advance(plan, some, error));
        if (plan->steps_done % producer->watch == 0 || plan->steps_done == producer->end)
            KF_TRY(kf_world_agree(kf_plan_watch(plan, error), error));
    }
    return kf_backend_synchronize(plan->backend, error);
}

/* Seconds that so many steps may take. A busy machine is slower, but not a hundred times and ten minutes
 * more. Before any was measured, an hour and what a tenth of a GB/s would make of their traffic. */
static double most_seconds(const production_run *producer, uint64_t steps) {
    static const double times = 100, patience = 600, first_patience = 3600, slow_bytes = 1e8;
    return producer->slowest > 0 ? patience + times * producer->slowest * (double)steps
                                 : first_patience + producer->plan->least_bytes / slow_bytes * (double)steps;
}

/* In the watchdog's thread. The main one waits for the device and changes nothing meanwhile. */
static void report_hanging(void *context, double seconds) {
    production_run *producer = context;
    char within[32];
    kf_error error;
    (void)kf_fail(&error, KF_MACHINE,
                  "the steps after step %" PRIu64
                  " did not come back within %s: a kernel or the device hangs%s%s",
                  producer->result->last_step, kf_human_time_us(1e6 * seconds, within),
                  producer->result->checkpoint[0] != '\0' ? "; the last good state is " : "",
                  producer->result->checkpoint);
    producer->options->hangs(producer->options->hangs_context, &error);
}

/* Advances to whatever comes first: an output, the end, or the next look at the interruption flag. */
static kf_status advance(production_run *producer, kf_error *error) {
    kf_plan *plan = producer->plan;
    kf_production *result = producer->result;
    uint64_t steps =
        smaller(producer->end - plan->steps_done, steps_to_next(plan->steps_done, producer->options->every));
    if (producer->records)
        steps = smaller(steps, steps_to_next(plan->steps_done, producer->options->record_every));
    if (producer->options->smoke != NULL)
        steps = smaller(steps, steps_to_next(plan->steps_done, producer->options->smoke_every));
    if (producer->options->probe_count > 0)
        steps = smaller(steps, steps_to_next(plan->steps_done, producer->options->probe_every));
    if (producer->options->mean_from > 0)
        steps = smaller(steps, steps_to_next(plan->steps_done, producer->options->mean_every));
    if (producer->options->picture_every > 0)
        steps = smaller(steps, steps_to_next(plan->steps_done, producer->options->picture_every));
    if (producer->options->film_every > 0)
        steps = smaller(steps, steps_to_next(plan->steps_done, producer->options->film_every));
    steps = smaller(steps, producer->stride);
    double began = now();
    kf_watchdog_begin(producer->watchdog, most_seconds(producer, steps));
    const kf_status advanced = advance_watched(producer, steps, error);
    kf_watchdog_end(producer->watchdog);
    KF_TRY(advanced);
    double seconds = now() - began;
    producer->slowest = fmax(producer->slowest, seconds / (double)steps);
    result->seconds += seconds;
    result->last_step = plan->steps_done;
    look_at_the_time(producer);
    result->steps_per_second = (double)(plan->steps_done - result->first_step) / result->seconds;
    result->updates_per_second = plan->updates * result->steps_per_second;
    double wanted = pace_seconds / seconds * (double)steps;
    producer->stride = (uint64_t)fmin(fmax(wanted, 1), 4.0 * (double)producer->stride);
    return KF_OK;
}

/* Begins a run: its end in steps or seconds, the forces of a run that goes on, and room for checkpoints. */
static kf_status begin(production_run *producer, kf_error *error) {
    kf_plan *plan = producer->plan;
    const int stride = kf_plan_stride(plan) > 0 ? kf_plan_stride(plan) : 1;
    producer->watch = (uint64_t)((WATCHED_STEPS + stride - 1) / stride * stride);
    producer->result->first_step = producer->result->last_step = plan->steps_done;
    producer->end = plan->steps_done + producer->options->steps;
    producer->result->seconds_left = producer->options->seconds;
    if (producer->options->seconds > 0 && plan->methods->time != NULL)
        producer->until = kf_plan_time(plan) + producer->options->seconds;
    producer->records = plan->methods->record != NULL;
    producer->files = (kf_record_files){producer->options->folder, plan->steps_done, NULL, 0};
    char before[KF_PATH];
    KF_TRY(kf_path(before, error, "%s/forces.csv", producer->options->folder));
    if (plan->steps_done > 0)
        KF_TRY(kf_force_series_read(&producer->forces, before, plan->steps_done, error));
    producer->judgement = (kf_drag_judgement){.judge = producer->options->judge,
                                              .context = producer->options->judge_context,
                                              .flow_through_steps = producer->options->flow_through,
                                              .turn = producer->options->turn};
    kf_drag_judge_rows(&producer->judgement, &producer->forces);
    if (producer->options->checkpoints > 0 && plan->methods->save != NULL)
        KF_TRY(kf_checkpoint_check_room(producer->options->folder, producer->plan, producer->options->smoke,
                                        error));
    KF_TRY(kf_prober_open(&producer->prober, plan, producer->options->probes, producer->options->probe_count,
                          producer->options->folder, writes(), error));
    producer->started = producer->saved = now();
    return KF_OK;
}

/* A state that makes no sense is not worth keeping; the last one that did may be. */
static kf_status name_last_good(const production_run *producer, kf_status status, kf_error *error) {
    char message[sizeof error->message];
    if (status != KF_GATE_FAILED || producer->result->checkpoint[0] == '\0') return status;
    kf_copy_text(message, sizeof message, error->message);
    return kf_fail(error, status, "%.700s; the last good state is %.280s", message,
                   producer->result->checkpoint);
}

/* Runs to the end: advances, writes what is due, and looks around; an interruption or a failed write
 * leaves a checkpoint. */
static kf_status run(production_run *producer, kf_error *error) {
    KF_TRY(begin(producer, error));
    KF_TRY(look_around(producer, error));
    while (producer->plan->steps_done < producer->end) {
        if (producer->interrupted) {
            if (producer->plan->methods->save != NULL) KF_TRY(write_checkpoint(producer, error));
            return kf_fail(error, KF_INTERRUPTED, "interrupted after step %" PRIu64,
                           producer->plan->steps_done);
        }
        KF_TRY(advance(producer, error));
        show_progress(producer);
        const double writing = now();
        const kf_status written = kf_world_agree(write_due(producer, error), error);
        producer->result->output_seconds += now() - writing;
        if (written != KF_OK) return save_after(producer, written, error);
        KF_TRY(look_around(producer, error));
        KF_TRY(save_due(producer, error));
    }
    return KF_OK;
}

kf_status kf_produce(kf_plan *plan, const kf_production_options *options, kf_production *production,
                     kf_error *error) {
    *production = (kf_production){0};
    production_run producer = {.plan = plan, .options = options, .result = production, .stride = 1};
    if (options->hangs != NULL)
        KF_TRY(kf_watchdog_open(report_hanging, &producer, options->clock, &producer.watchdog, error));
    kf_status status = name_last_good(&producer, run(&producer, error), error);
    kf_watchdog_close(producer.watchdog);
    const kf_status closed = kf_record_files_close(&producer.files, status == KF_OK ? error : NULL);
    if (status == KF_OK) status = closed;
    judge_drag(&producer);
    kf_prober_close(&producer.prober);
    production->probes = producer.prober.reports;
    production->probe_count = producer.prober.count;
    kf_force_series_free(&producer.forces);
    kf_mean_fields_free(&producer.means);
    if (production->seconds > 0) {
        char rate[KF_RATE_TEXT];
        char files[64] = "";
        if (production->output_seconds > 0.05 * production->seconds)
            (void)snprintf(files, sizeof files, "   and %.1f s for files and pictures",
                           production->output_seconds);
        kf_progress(true, "%" PRIu64 " steps in %.1f s   %.1f steps/s   %s%s",
                    production->last_step - production->first_step, production->seconds,
                    production->steps_per_second,
                    kf_rate_text(plan->problem->system->update, production->updates_per_second, rate), files);
    }
    return status;
}

void kf_production_free(kf_production *production) {
    for (size_t i = 0; i < production->output_count; i++)
        free(production->outputs[i]);
    free(production->outputs);
    free(production->probes);
    kf_records_free(&production->records);
    *production = (kf_production){0};
}
