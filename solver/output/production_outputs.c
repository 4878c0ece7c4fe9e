/* Writes the files of a production run when they are due: fields, pictures, tables, means, smoke and
 * checkpoints. */
#include "solver/output/production_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/backend/team/world.h"
#include "base/util/clock.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/flow/flow_plan.h"
#include "solver/output/checkpoint.h"
#include "solver/output/flow_files.h"
#include "solver/output/series_file.h"
#include "solver/output/vtkhdf.h"
#include "solver/picture/field_picture.h"
#include "solver/picture/scene_view.h"

bool kf_production_writes(void) {
    return kf_world_rank() == 0;
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

void kf_production_prune(kf_production_run *producer) {
    kf_production *result = producer->result;
    int newer = 0;
    for (size_t i = result->output_count; i-- > 0;) {
        if (!is_checkpoint(result->outputs[i]) || newer++ < producer->options->checkpoints) continue;
        unlink(result->outputs[i]);
        forget_output(result, i);
    }
}

static kf_status output_path(const kf_production_run *producer, const char *kind, const char *ending,
                             char path[KF_PATH], kf_error *error) {
    return kf_path(path, error, "%s/%s_%06" PRIu64 ".%s", producer->options->folder, kind,
                   producer->plan->steps_done, ending);
}

kf_status kf_production_checkpoint(kf_production_run *producer, kf_error *error) {
    char path[KF_PATH];
    KF_TRY(output_path(producer, "checkpoint", "kfc", path, error));
    if (strcmp(path, producer->result->checkpoint) == 0) return KF_OK;
    KF_TRY(kf_checkpoint_write(path, producer->plan, producer->options->smoke, error));
    kf_copy_text(producer->result->checkpoint, KF_PATH, path);
    note_output(producer->result, path);
    return KF_OK;
}

/* Adds the smoke's density to a snapshot of the flow that carries it. */
static kf_status add_smoke(kf_production_run *producer, kf_snapshot *snapshot, kf_error *error) {
    if (producer->options->smoke == NULL) return KF_OK;
    float *density = kf_snapshot_add(snapshot, "smoke", "tracers a cell", 1);
    return kf_smoke_density(producer->options->smoke, density, &producer->result->tracers, error);
}

static kf_status write_map(kf_production_run *producer, const kf_snapshot *snapshot, kf_error *error) {
    const kf_plan_methods *methods = producer->plan->methods;
    const char *name = methods->map_name != NULL ? methods->map_name(producer->plan) : NULL;
    char path[KF_PATH];
    if (name == NULL) return KF_OK;
    KF_TRY(output_path(producer, name, "asc", path, error));
    KF_TRY(methods->map(producer->plan, snapshot, path, error));
    note_output(producer->result, path);
    return KF_OK;
}

/* Writes the picture of a system that draws its own pictures. */
static kf_status write_own_picture(kf_production_run *producer, const kf_snapshot *snapshot,
                                   kf_error *error) {
    char path[KF_PATH];
    KF_TRY(output_path(producer, "picture", "png", path, error));
    KF_TRY(producer->plan->methods->picture(producer->plan, snapshot, path, error));
    note_output(producer->result, path);
    return KF_OK;
}

int kf_surface_drawn(const kf_production_options *options) {
    for (int kind = 0; kind < KF_SURFACE_KINDS; kind++)
        if (options->surfaces[kind].drawn) return kind;
    return -1;
}

static int views_of(const kf_production_options *options, const kf_picture_view **views) {
    static const kf_picture_view usual = {.field = KF_PICTURE_SPEED, .normal = KF_AXIS_AUTO};
    *views = options->picture_count > 0 ? options->pictures : &usual;
    if (options->no_pictures) return 0;
    return options->picture_count > 0 || kf_surface_drawn(options) >= 0 ? options->picture_count : 1;
}

/* Writes a flow's slices, at one time or of means. */
static kf_status write_slices(kf_production_run *producer, const kf_snapshot *snapshot, bool mean,
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

static kf_status write_field_pictures(kf_production_run *producer, const kf_snapshot *snapshot,
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

/* Finds the scene on the grid of the outputs, and where its solid is in it. */
static kf_status find_outputs(kf_plan *plan, const kf_scene **scene, kf_solid_pose *pose, kf_error *error) {
    *scene = kf_scene_of_outputs(kf_plan_scene(plan));
    return kf_flow_pose_on(plan, *scene, pose, error);
}

/* Draws what acts on the solid into a file. */
static kf_status draw_solid(kf_production_run *producer, const kf_snapshot *snapshot, int kind,
                            const char *path, kf_error *error) {
    const kf_production_options *options = producer->options;
    const kf_scene *scene;
    kf_solid_pose pose;
    kf_snapshot surface;
    KF_TRY(find_outputs(producer->plan, &scene, &pose, error));
    kf_flow_surface(scene, &pose, snapshot, &surface);
    const kf_surface_picture *picture = &options->surfaces[kind];
    const kf_status status =
        kf_surface_view_write(scene, &surface, (kf_surface_kind)kind, &options->viewpoint, picture->low,
                              picture->high, path, error);
    kf_snapshot_free(&surface);
    return status;
}

/* Writes all pictures of a flow at a moment. */
static kf_status write_pictures(kf_production_run *producer, const kf_snapshot *snapshot, kf_error *error) {
    char path[KF_PATH];
    if (producer->options->no_pictures) return KF_OK;
    if (producer->plan->methods->picture != NULL) return write_own_picture(producer, snapshot, error);
    KF_TRY(write_slices(producer, snapshot, false, error));
    for (int kind = 0; kind < KF_SURFACE_KINDS; kind++) {
        if (!producer->options->surfaces[kind].drawn) continue;
        KF_TRY(output_path(producer, kf_surface_kinds[kind], "png", path, error));
        KF_TRY(draw_solid(producer, snapshot, kind, path, error));
        note_output(producer->result, path);
    }
    return KF_OK;
}

/* Writes a numbered file of a snapshot, or of those of several levels, and updates the list of such files. */
static kf_status write_numbered(kf_production_run *producer, const char *kind, const kf_snapshot *snapshot,
                                int levels, kf_error *error) {
    const int compression = producer->options->compression;
    char path[KF_PATH];
    KF_TRY(output_path(producer, kind, "vtkhdf", path, error));
    KF_TRY(levels > 1 ? kf_vtkhdf_write_levels(path, snapshot, levels, compression, error)
                      : kf_vtkhdf_write(path, snapshot, compression, error));
    note_output(producer->result, path);
    const kf_series_files files = {producer->options->folder, producer->result->first_step,
                                   (const char *const *)producer->result->outputs,
                                   producer->result->output_count};
    return kf_series_file_write(&files, kind, snapshot->step, snapshot->time, error);
}

/* Adds a flow's picture, the solid's surface, and the requested quantities. */
static kf_status add_flow(kf_production_run *producer, kf_snapshot *snapshot, kf_error *error) {
    const kf_scene *scene;
    const int asked = producer->options->quantities,
              quantities = asked != 0 ? asked : KF_VELOCITY | KF_PRESSURE;
    kf_solid_pose pose;
    KF_TRY(write_pictures(producer, snapshot, error));
    KF_TRY(find_outputs(producer->plan, &scene, &pose, error));
    if (quantities & KF_SURFACE && scene->mesh.triangle_count > 0) {
        kf_snapshot surface;
        kf_flow_surface(scene, &pose, snapshot, &surface);
        const kf_status status = write_numbered(producer, "surface", &surface, 1, error);
        kf_snapshot_free(&surface);
        KF_TRY(status);
    }
    kf_flow_quantities_derive(scene, &pose, quantities, snapshot);
    return KF_OK;
}

/* Takes the snapshot of a level of nested grids with the requested quantities. */
static kf_status take_level(kf_production_run *producer, int level, kf_snapshot *snapshot, kf_error *error) {
    const kf_scene *coarsest = kf_plan_scene(producer->plan),
                   *scene = level == 0 ? coarsest : coarsest->finer[level - 1];
    kf_solid_pose pose;
    KF_TRY(kf_flow_pose_on(producer->plan, scene, &pose, error));
    KF_TRY(kf_flow_level_snapshot(producer->plan, level, snapshot, error));
    snapshot->time = kf_plan_time(producer->plan);
    snapshot->step = producer->plan->steps_done;
    kf_flow_quantities_derive(scene, &pose, producer->options->quantities, snapshot);
    return KF_OK;
}

static kf_status write_levels(kf_production_run *producer, kf_error *error) {
    kf_snapshot levels[KF_FINER_LEVELS + 1];
    const int count = kf_plan_scene(producer->plan)->finer_count + 1;
    int taken = 0;
    kf_status status = KF_OK;
    for (; taken < count && status == KF_OK; taken += status == KF_OK)
        status = take_level(producer, taken, &levels[taken], error);
    if (status == KF_OK) status = write_numbered(producer, "fields", levels, count, error);
    while (taken > 0)
        kf_snapshot_free(&levels[--taken]);
    return status;
}

static kf_status write_fields(kf_production_run *producer, const kf_snapshot *snapshot, kf_error *error) {
    if (producer->options->quantities & KF_LEVELS) return write_levels(producer, error);
    return write_numbered(producer, snapshot->on == KF_ON_NODES ? "fields" : "particles", snapshot, 1, error);
}

static kf_status write_state(kf_production_run *producer, kf_snapshot *snapshot, kf_error *error) {
    const kf_plan_methods *methods = producer->plan->methods;
    const bool on_nodes = snapshot->on == KF_ON_NODES;
    KF_TRY(add_smoke(producer, snapshot, error));
    if (methods->flow != NULL) KF_TRY(add_flow(producer, snapshot, error));
    const bool pictures = !producer->options->no_pictures, fields = !producer->options->no_fields;
    if (fields) KF_TRY(write_fields(producer, snapshot, error));
    if (methods->flow != NULL) return KF_OK;
    if (fields) KF_TRY(write_map(producer, snapshot, error));
    if (!pictures) return KF_OK;
    if (methods->picture != NULL) return write_own_picture(producer, snapshot, error);
    return on_nodes && kf_snapshot_find(snapshot, "velocity") != NULL
               ? write_field_pictures(producer, snapshot, error)
               : KF_OK;
}

static kf_status write_snapshot(kf_production_run *producer, kf_error *error) {
    const kf_production_options *options = producer->options;
    kf_snapshot snapshot;
    if (options->no_pictures && options->no_fields && options->smoke == NULL) return KF_OK;
    kf_status status = kf_plan_snapshot(producer->plan, &snapshot, error);
    if (status == KF_OK && kf_production_writes()) status = write_state(producer, &snapshot, error);
    kf_snapshot_free(&snapshot);
    return status;
}

static bool mean_is_due(const kf_production_run *producer, uint64_t step) {
    const kf_production_options *options = producer->options;
    return options->mean_from > 0 && step >= options->mean_from && step % options->mean_every == 0 &&
           producer->plan->methods->flow != NULL;
}

static kf_status add_to_means(kf_production_run *producer, kf_error *error) {
    kf_snapshot snapshot;
    const kf_status status = kf_plan_snapshot(producer->plan, &snapshot, error);
    if (status == KF_OK) kf_mean_fields_add(&producer->means, &snapshot);
    kf_snapshot_free(&snapshot);
    return status;
}

static kf_status write_means(kf_production_run *producer, kf_error *error) {
    char path[KF_PATH];
    kf_snapshot snapshot;
    if (producer->means.samples == 0 || !kf_production_writes()) return KF_OK;
    KF_TRY(output_path(producer, "mean", "vtkhdf", path, error));
    kf_mean_fields_snapshot(&producer->means, &snapshot);
    kf_status status = kf_vtkhdf_write(path, &snapshot, producer->options->compression, error);
    if (status == KF_OK) note_output(producer->result, path);
    if (status == KF_OK) status = write_slices(producer, &snapshot, true, error);
    kf_snapshot_free(&snapshot);
    return status;
}

/* Draws a frame of the film: the smoke, or else the first picture. Colours stay the same over the film. */
static kf_status draw_frame(kf_production_run *producer, kf_error *error) {
    const kf_production_options *options = producer->options;
    const uint64_t step = producer->plan->steps_done;
    char path[KF_PATH];
    if (options->film_every == 0 || step % options->film_every != 0) return KF_OK;
    KF_TRY(kf_path(path, error, "%s/film_%05" PRIu64 ".png", options->folder, step / options->film_every));
    producer->result->frames++;
    if (options->smoke != NULL)
        return kf_production_writes() ? kf_smoke_picture_png(options->smoke, path, error) : KF_OK;
    const kf_picture_view *views;
    kf_snapshot snapshot;
    KF_TRY(kf_plan_snapshot(producer->plan, &snapshot, error));
    const kf_status status = !kf_production_writes() ? KF_OK
                             : views_of(options, &views) > 0
                                 ? kf_picture_of_plan(path, producer->plan, &snapshot, &views[0], error)
                                 : draw_solid(producer, &snapshot, kf_surface_drawn(options), path, error);
    kf_snapshot_free(&snapshot);
    return status;
}

/* Draws a picture between the outputs. */
static kf_status draw_between(kf_production_run *producer, kf_error *error) {
    const uint64_t period = producer->options->picture_every;
    kf_snapshot snapshot;
    if (period == 0 || producer->plan->steps_done % period != 0 || producer->plan->methods->flow == NULL)
        return KF_OK;
    kf_status status = kf_plan_snapshot(producer->plan, &snapshot, error);
    if (status == KF_OK && kf_production_writes()) status = write_pictures(producer, &snapshot, error);
    kf_snapshot_free(&snapshot);
    return status;
}

static kf_status draw_smoke(kf_production_run *producer, kf_error *error) {
    char path[KF_PATH];
    if (!kf_production_writes()) return KF_OK;
    KF_TRY(output_path(producer, "smoke", "png", path, error));
    KF_TRY(kf_smoke_picture_png(producer->options->smoke, path, error));
    note_output(producer->result, path);
    producer->result->smoke_pictures++;
    return KF_OK;
}

/* Adds the rows of this time. A problem without tables now never has any. */
static kf_status add_records(kf_production_run *producer, kf_error *error) {
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
    if (!kf_production_writes()) return KF_OK;
    KF_TRY(kf_record_files_add(&producer->files, &result->records, error));
    for (size_t i = 0; i < producer->files.count && first; i++)
        note_output(result, producer->files.list[i].path);
    return KF_OK;
}

/* Draws the chart of the forces beside their file, where there are two records at least. */
static kf_status draw_chart(kf_production_run *producer, kf_error *error) {
    char path[KF_PATH];
    if (producer->forces.count < 2 || !kf_production_writes()) return KF_OK;
    const kf_problem *problem = producer->plan->problem;
    const double reynolds = kf_facts_value(&problem->facts, "reynolds");
    kf_text title = {0};
    kf_text_append(&title, "%s", problem->name);
    if (reynolds > 0.0) kf_text_append(&title, ", Reynolds number %.6g", reynolds);
    kf_status status = kf_path(path, error, "%s/forces.png", producer->options->folder);
    if (status == KF_OK)
        status = kf_drag_chart(path, title.text, &producer->forces, producer->options->flow_through, error);
    kf_text_free(&title);
    KF_TRY(status);
    note_output(producer->result, path);
    return KF_OK;
}

/* Judges whether the drag has settled. A run until then ends here. */
void kf_production_judge(kf_production_run *producer) {
    kf_production *result = producer->result;
    result->drag =
        kf_drag_report_of(&producer->forces, producer->options->flow_through, producer->options->turn);
    if (producer->options->until_settled && kf_drag_is_done(&result->drag, producer->options->flow_through))
        producer->end = producer->plan->steps_done;
}

/* Adds rows of the probes. At the end it adds their means, over the same steps as the drag if that has
 * settled. */
static kf_status ask_probes(kf_production_run *producer, bool last, kf_error *error) {
    const kf_production_options *options = producer->options;
    kf_production *result = producer->result;
    if (options->probe_count == 0) return KF_OK;
    if (last || producer->plan->steps_done % options->probe_every == 0)
        KF_TRY(kf_prober_add(&producer->prober, producer->plan, error));
    if (!last || !kf_production_writes()) return KF_OK;
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

/* Writes in this order: rows of tables, means, probes, frames, smoke, then pictures and fields when an output
 * is due. */
kf_status kf_production_write_due(kf_production_run *producer, kf_error *error) {
    uint64_t step = producer->plan->steps_done;
    const bool at_end = step == producer->end;
    if (producer->records && (at_end || step % producer->options->record_every == 0)) {
        KF_TRY(add_records(producer, error));
        if (at_end || producer->options->until_settled ||
            kf_clock_seconds() - producer->judged >= KF_PRODUCTION_PACE) {
            producer->judged = kf_clock_seconds();
            kf_production_judge(producer);
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
