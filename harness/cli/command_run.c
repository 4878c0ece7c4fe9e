/* The command kftune run does the production run with a tuned config. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/backend/team/team.h"
#include "base/backend/team/world.h"
#include "base/space/space.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "harness/cli/drag_interval.h"
#include "harness/cli/known_config.h"
#include "harness/cli/placement_argument.h"
#include "harness/cli/problem_argument.h"
#include "harness/cli/run_duration.h"
#include "harness/cli/run_job.h"
#include "harness/cli/run_pictures.h"
#include "harness/cli/run_probes.h"
#include "harness/cli/run_problem.h"
#include "harness/cli/run_sweep.h"
#include "harness/cli/scene_summary.h"
#include "harness/cli/world_argument.h"
#include "solver/flow/flow_problem.h"
#include "solver/output/flow_files.h"
#include "solver/output/run_folder.h"
#include "solver/systems.h"

static kf_status read_smoke_size(const char *size, int pixels[2], kf_error *error) {
    enum { LEAST = 16, MOST = 8192 };
    char *end = NULL;
    const long width = strtol(size, &end, 10), height = *end == 'x' ? strtol(end + 1, &end, 10) : 0;
    if (*end != '\0' || width < LEAST || width > MOST || height < LEAST || height > MOST)
        return kf_fail(
            error, KF_BAD_INPUT,
            "--smoke-size '%s': must be WIDTHxHEIGHT with %d to %d pixels each, for example 1920x1080", size,
            LEAST, MOST);
    pixels[0] = (int)width;
    pixels[1] = (int)height;
    return KF_OK;
}

static kf_status check_smoke_size(const kf_option *option, const char *value, kf_error *error) {
    int pixels[2];
    (void)option;
    return read_smoke_size(value, pixels, error);
}

static kf_status check_fields(const kf_option *option, const char *value, kf_error *error) {
    int quantities;
    (void)option;
    return strcmp(value, "none") == 0 ? KF_OK : kf_flow_quantities_read(value, &quantities, error);
}

static const kf_option options[] = {
    {"--config", "FILE",
     "best config, written by kftune tune (default: that of the nearest scene in the store)", KF_TEXT},
    KF_DURATION_OPTIONS,
    {"--area", "A", "reference area of force coefficients in m^2 (the scene's, else the front at zero yaw)",
     KF_DECIMAL(1e-12, 1e12)},
    {"--output", "DIR", "folder to write into (<scene>-run)", KF_TEXT},
    {"--every", "N", "steps between outputs (a fifth of --steps)", KF_WHOLE(1, KF_MOST_STEPS)},
    {"--fields", "LIST",
     "content of the files: velocity, pressure, vorticity, q, solid, surface, levels of nested grids "
     "(velocity,pressure); none: no files",
     KF_CHECKED(check_fields)},
    {"--mean-from", "N",
     "also write fields averaged over time, from N flow-throughs on, over 16 moments in each",
     KF_DECIMAL(0.0, 1e6)},
    KF_PROBE_OPTIONS,
    KF_PICTURE_OPTIONS,
    {"--restart", "FILE", "continue from this checkpoint", KF_TEXT},
    {"--checkpoints", "N", "newest checkpoints to keep (2); 0: one only when interrupted",
     KF_WHOLE(0, 1000000)},
    {"--checkpoint-every", "SECONDS", "seconds between checkpoints (300)", KF_DECIMAL(1.0, 1e9)},
    {"--smoke", NULL, "release smoke where the scene says, else in front of the solid, and draw it", KF_FLAG},
    {"--smoke-every", "N", "steps between pictures of the smoke (as --every)", KF_WHOLE(1, KF_MOST_STEPS)},
    {"--smoke-size", "WxH", "pixels of those pictures (1280x720)", KF_CHECKED(check_smoke_size)},
    {"--compress", NULL, "write fields gzip-compressed: smaller, slower", KF_FLAG},
    {"--scene", "FILE|NAME",
     "with --config: the scene file, if it has moved or changed; without it: the scene to run", KF_TEXT},
    {"--system", "NAME", "without --config: family of solver (default: the first that runs the scene)",
     KF_TEXT},
    {"--grid", "NXxNY[xNZ]", "without --config: nodes of the domain (default: as the scene says)",
     KF_CHECKED(kf_value_grid)},
    {"--samples-per-cell", "R",
     "without --config: samples for each cell^2 of surface (default: as the scene says)",
     KF_DECIMAL(KF_LEAST_SAMPLES_PER_CELL, KF_MOST_SAMPLES_PER_CELL)},
    {"--store", "FILE", "without --config: the store to search (default: kftune.db in $XDG_DATA_HOME/kftune)",
     KF_TEXT},
    {"--fix", "KEY=VALUE", "without --config: the default config, with this value of a parameter",
     KF_ALL_CHECKED(kf_value_pair)},
    {"--device", "cuda:N|cpu", "device to run on (the one that was tuned)", KF_TEXT},
    KF_TEAM_OPTION,
    {"--force", NULL, "write into a folder that holds other files, or over a longer run", KF_FLAG},
    KF_PLACEMENT_OPTIONS,
    KF_ACCURACY_OPTION,
    KF_SWEEP_OPTIONS,
    {NULL, NULL, NULL, KF_FLAG},
};

/* Seconds between checkpoints. A checkpoint of a large grid takes as long to write as thousands of steps, so
 * the clock decides. A fault of the machine loses at most this time. */
static const double usual_checkpoint_seconds = 300;

/* --- The scene and the device that were tuned ------------------------------------------------------------
 */

/* Refuses the config of a user's kernel, because kftune cannot run the program that calls it. */
static kf_status refuse_kernels(const kf_run_job *job, kf_error *error) {
    if (job->problem->system->runs) return KF_OK;
    char *defines = kf_config_defines(&job->best.config);
    (void)kf_fail(error, KF_BAD_INPUT,
                  "%s: is the config of a kernel (system %s), not of a flow; compile the kernel with %.700s, "
                  "or include the header that 'kftune tune' wrote beside it",
                  kf_argument(job->arguments, "--config", job->problem->name), job->problem->system->name,
                  defines != NULL ? defines : "its defaults");
    free(defines);
    return KF_BAD_INPUT;
}

/* Opens the wanted device, or the one on which the config was tuned. It warns if the device differs from the
 * tuned one. */
static kf_status open_device(kf_run_job *job, kf_error *error) {
    const kf_device_info *tuned = &job->best.device;
    const char *spec = kf_argument_device(job->arguments, tuned->spec);
    kf_status status = kf_backend_open(spec, &job->backend, error);
    if (status != KF_OK) {
        if (kf_argument_device(job->arguments, NULL) != NULL) return status;
        return kf_fail_context(error,
                               "cannot open the device that was tuned (%s, %s); choose one with --device",
                               spec, tuned->name);
    }
    const kf_device_info *device = kf_backend_device(job->backend);
    if (strcmp(device->name, tuned->name) != 0 || strcmp(device->architecture, tuned->architecture) != 0) {
        kf_warn("tuned on %s (%s), running on %s (%s): results are as right, but the speed may not be the "
                "best; tune again on this device",
                tuned->name, tuned->architecture, device->name, device->architecture);
    }
    return KF_OK;
}

/* Refuses devices on which the system, or this problem, does not run. It does so before the space is opened.
 */
static kf_status check_devices(const kf_run_job *job, kf_error *error) {
    const kf_system *system = job->problem->system;
    const kf_device_info *device = kf_backend_device(job->backend);
    KF_TRY(kf_system_check_team(system, device, error));
    return system->accepts_device != NULL ? system->accepts_device(job->problem, device, error) : KF_OK;
}

/* Compiles and verifies the config. It comes after everything that may be refused, because it takes long. */
static kf_status choose_config(kf_run_job *job, kf_error *error) {
    KF_TRY(kf_backend_open(kf_argument_device(job->arguments, NULL), &job->backend, error));
    KF_TRY(check_devices(job, error));
    return kf_known_config(job->arguments, job->problem, job->backend, &job->best, &job->foreign, error);
}

/* Opens a tuned config with its scene and device. A config that the present space does not contain is
 * refused. A team's config is checked for at least as many devices as it was tuned on. */
static kf_status open_tuned(kf_run_job *job, const char *config, kf_error *error) {
    KF_TRY(kf_run_refuse_said(job->arguments, error));
    if (kf_scene_is_mesh(config))
        return kf_fail(error, KF_BAD_INPUT, "--config %s: is a mesh; run it with --scene", config);
    KF_TRY(kf_best_config_read(config, &job->best, error));
    KF_TRY(kf_run_open_tuned_scene(job, error));
    kf_device_info device = job->best.device; /* the number of devices that will run the config */
    /* The parameters of a team have no meaning on one device. */
    const int tuned = kf_device_count_of(device.name);
    KF_TRY(kf_device_check(kf_argument_device(job->arguments, device.spec), &device.parts, error));
    if (device.parts < tuned) device.parts = tuned;
    if (device.parts < kf_world_size()) device.parts = kf_world_size();
    kf_error why;
    if (kf_problem_check_config(job->problem, &device, &job->best.config, &why) != KF_OK)
        return kf_fail(error, why.status, "%s: %s; tune again if another version of kftune wrote it", config,
                       why.message);
    return open_device(job, error);
}

static kf_status check_all_run_the_same(const kf_run_job *job, kf_error *error) {
    char config[KF_HASH_HEX];
    kf_config_hash(&job->best.config, config);
    KF_TRY(kf_world_check_same("the version of kftune", KF_VERSION, error));
    KF_TRY(kf_world_check_same("the scene", job->problem->hash, error));
    return kf_world_check_same("the config", config, error);
}

static kf_status compile(const kf_source *source, void *device, kf_error *error) {
    kf_build build;
    return kf_source_prebuild(device, source, &build, error);
}

/* Lets the first of several processes compile. The others then find its kernels in the cache. */
static kf_status compile_first(const kf_run_job *job, kf_error *error) {
    kf_device_info device = *kf_backend_device(job->backend);
    kf_status status = KF_OK;
    if (kf_world_size() > 1 && kf_world_rank() == 0)
        status =
            job->problem->system->sources(job->problem, &job->best.config, &device, compile, &device, error);
    return kf_world_agree(status, error);
}

static void end_verification(void *context, double seconds) {
    char within[32], why[256];
    (void)context;
    (void)snprintf(
        why, sizeof why,
        "the config's verification did not come back within %s: a kernel or the device hangs; tune "
        "the scene here, or choose another config",
        kf_human_time_us(1e6 * seconds, within));
    kf_world_end(why);
}

/* Verifies the config on a small scene. This compiles kernels and runs a few steps, which takes minutes at
 * most. */
static kf_status verify(const kf_run_job *job, kf_error *error) {
    static const double patience = 3600;
    kf_watchdog *watchdog;
    KF_TRY(kf_watchdog_open(end_verification, NULL, NULL, &watchdog, error));
    kf_watchdog_begin(watchdog, patience);
    const kf_status status = kf_known_config_verify(job->problem, &job->best.config, job->backend, error);
    kf_watchdog_end(watchdog);
    kf_watchdog_close(watchdog);
    return status;
}

static kf_status open_plan(kf_run_job *job, kf_error *error) {
    const kf_system *system = job->problem->system;
    KF_TRY(check_devices(job, error));
    KF_TRY(check_all_run_the_same(job, error));
    KF_TRY(compile_first(job, error));
    /* One process makes the plan first, so that a plan that does not fit into memory is refused before
     * anything is compiled. */
    KF_TRY(kf_world_agree(system->plan(job->problem, &job->best.config, job->backend, &job->plan, error),
                          error));
    if (job->foreign) KF_TRY(verify(job, error));
    if (!kf_argument_given(job->arguments, "--smoke")) return KF_OK;
    KF_TRY(kf_smoke_open(job->plan, job->smoke_size, &job->how.viewpoint, &job->smoke, error));
    job->how.smoke = job->smoke;
    return KF_OK;
}

/* --- Options -------------------------------------------------------------------------------------------- */

/* Reads the options for smoke: how often it is drawn, and the size of its pictures. Smoke needs a
 * three-dimensional flow. */
static kf_status read_smoke(kf_run_job *job, long every, kf_error *error) {
    static const char *const belonging[] = {"--smoke-every", "--smoke-size"};
    for (size_t i = 0; i < sizeof belonging / sizeof *belonging; i++)
        if (kf_argument_given(job->arguments, belonging[i]) && !kf_argument_given(job->arguments, "--smoke"))
            return kf_fail(error, KF_BAD_INPUT, "%s: this option needs --smoke", belonging[i]);
    const kf_scene *scene = kf_run_scene(job->problem);
    if (kf_argument_given(job->arguments, "--smoke")) {
        if (scene == NULL)
            return kf_fail(error, KF_BAD_INPUT,
                           "option '--smoke': smoke needs a three-dimensional flow, and %s is not one",
                           job->problem->name);
        KF_TRY(kf_smoke_check(scene, error));
    }
    KF_TRY(kf_argument_integer(job->arguments, "--smoke-every", &every, error));
    job->how.smoke_every = (uint64_t)every;
    return read_smoke_size(kf_argument(job->arguments, "--smoke-size", "1280x720"), job->smoke_size, error);
}

/* Returns the steps between rows of the tables. There are at least 64 rows in a flow-through, so that means
 * have enough values. */
static uint64_t record_period(const kf_run_job *job, long every) {
    enum { ROWS = 64 };
    const double often = job->how.flow_through > 0.0 ? job->how.flow_through / ROWS : (double)every;
    return (uint64_t)fmax(1.0, floor(fmin((double)every / 20.0, often)));
}

/* Reads --mean-from, in flow-throughs. It sets the step at which averaging begins, and how often fields are
 * added to the means. */
static kf_status read_means(kf_run_job *job, kf_error *error) {
    enum { MOMENTS = 16 };
    double from = 0.0;
    if (!kf_argument_given(job->arguments, "--mean-from")) return KF_OK;
    KF_TRY(kf_argument_number(job->arguments, "--mean-from", &from, error));
    if (job->how.flow_through == 0.0)
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--mean-from': %s has no stream, so it has no flow-throughs",
                       job->problem->name);
    job->how.mean_every = (uint64_t)fmax(1.0, floor(job->how.flow_through / MOMENTS));
    job->how.mean_from = (uint64_t)fmax(1.0, ceil(from * job->how.flow_through));
    if (!kf_argument_given(job->arguments, "--restart") && job->how.mean_from > job->how.steps)
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--mean-from': %g flow-throughs are %" PRIu64
                       " steps, and the run ends after %" PRIu64,
                       from, job->how.mean_from, job->how.steps);
    const uint64_t every = job->how.mean_every, first = (job->how.mean_from + every - 1) / every * every;
    if (!kf_argument_given(job->arguments, "--restart") && first > job->how.steps)
        kf_warn("option '--mean-from': no mean fields will be written: fields are added every %" PRIu64
                " steps, and the run ends after %" PRIu64,
                every, job->how.steps);
    return KF_OK;
}

/* Reads --fields, and refuses fields that the scene does not have. */
static kf_status read_fields(kf_run_job *job, kf_error *error) {
    const char *fields = kf_argument(job->arguments, "--fields", NULL);
    const kf_scene *scene = kf_run_scene(job->problem);
    job->how.no_fields = fields != NULL && strcmp(fields, "none") == 0;
    if (fields == NULL || job->how.no_fields) return KF_OK;
    if (scene == NULL)
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--fields': the files of %s always hold all fields; leave the option out",
                       job->problem->system->name);
    KF_TRY(kf_flow_quantities_read(fields, &job->how.quantities, error));
    if (job->how.quantities & (KF_SURFACE | KF_SOLID) && scene->mesh.triangle_count == 0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "option '--fields': 'solid' and 'surface' are of a solid with a mesh or a shape, and %s has "
            "none: leave them out",
            scene->name);
    if (job->how.quantities & KF_LEVELS && scene->finer_count == 0)
        return kf_fail(error, KF_BAD_INPUT, "option '--fields': %s has one grid: leave out 'levels'",
                       scene->name);
    return KF_OK;
}

/* Sets the scene's reference area, to which all force coefficients refer. */
static kf_status read_area(const kf_run_job *job, kf_error *error) {
    double area = 0.0;
    if (!kf_argument_given(job->arguments, "--area")) return KF_OK;
    KF_TRY(kf_argument_number(job->arguments, "--area", &area, error));
    const kf_scene *scene = kf_run_scene(job->problem);
    if (scene == NULL || !kf_scene_has_solid(scene))
        return kf_fail(error, KF_BAD_INPUT, "option '--area': %s has no solid with force coefficients",
                       job->problem->name);
    kf_scene_refer_to_area(job->problem->own, area);
    return KF_OK;
}

/* Reads the options of the run: its length, how often it writes, checkpoints, fields, pictures and smoke. */
static kf_status read_options(kf_run_job *job, kf_error *error) {
    const kf_arguments *arguments = job->arguments;
    long steps = 1000, checkpoints = 2;
    KF_TRY(kf_run_duration(arguments, job->problem, &steps, &job->how, error));
    long every = (steps + 4) / 5; /* The fifth output must be that of the last step. */
    KF_TRY(kf_argument_integer(arguments, "--every", &every, error));
    KF_TRY(kf_argument_integer(arguments, "--checkpoints", &checkpoints, error));
    double checkpoint_seconds = usual_checkpoint_seconds;
    KF_TRY(kf_argument_number(arguments, "--checkpoint-every", &checkpoint_seconds, error));
    KF_TRY(read_area(job, error));
    if (kf_run_scene(job->problem) != NULL && kf_scene_has_solid(kf_run_scene(job->problem))) {
        kf_grid_prior prior;
        /* The prior is read before the run begins, so that no row of the tables lacks its interval when files
         * run out. */
        if (kf_grid_prior_read(&prior, error) == KF_HOST) return KF_HOST;
        job->how.judge = kf_drag_interval_judge;
        job->how.judge_context = kf_run_scene(job->problem);
    }
    job->how.folder = job->folder;
    job->how.steps = (uint64_t)steps;
    job->how.every = (uint64_t)every;
    job->how.record_every = record_period(job, every);
    job->how.checkpoints = (int)checkpoints;
    job->how.checkpoint_seconds = checkpoint_seconds;
    KF_TRY(read_means(job, error));
    KF_TRY(kf_run_probes_read(arguments, job->problem, NULL, &job->probes, &job->how, error));
    KF_TRY(kf_run_pictures(arguments, kf_run_scene(job->problem), &job->how, error));
    KF_TRY(read_fields(job, error));
    job->how.compression = kf_argument_given(arguments, "--compress") ? 1 : 0;
    job->how.interrupted = &kf_interrupted;
    job->how.hangs = kf_run_hangs;
    job->how.hangs_context = job;
    return read_smoke(job, every, error);
}

/* Chooses the folder. The scene's name is its default name, so that name must not contain a path. */
static kf_status choose_folder(kf_run_job *job, kf_error *error) {
    const char *given = kf_argument(job->arguments, "--output", NULL);
    if (given) return kf_path(job->folder, error, "%s", given);
    char name[sizeof job->problem->name];
    kf_copy_text(name, sizeof name, job->problem->name);
    for (char *c = name; *c; c++) {
        if (*c == '/' || (unsigned char)*c < ' ' || (*c == '.' && c == name)) *c = '_';
    }
    return kf_path(job->folder, error, "%s-run", name);
}

/* --- The command -----------------------------------------------------------------------------------------
 */

static kf_status tell_of_killed(const kf_run_job *job, kf_error *error) {
    char checkpoint[KF_PATH];
    bool killed = false;
    KF_TRY(kf_run_folder_was_killed(job->folder, &killed, checkpoint, error));
    if (!killed || job->restart[0] != '\0') return KF_OK;
    if (checkpoint[0] != '\0')
        kf_warn("the run before in %s was killed; it would go on with --restart %s", job->folder, checkpoint);
    else
        kf_warn("the earlier run in %s was killed before its first checkpoint", job->folder);
    return KF_OK;
}

/* Prints what `kftune scene` prints if the scene was not tuned. For a tuned scene, and for later runs of a
 * sweep, it prints only what the grid cannot resolve. */
static void say_what_to_expect(const kf_run_job *job) {
    const kf_scene *scene = kf_run_scene(job->problem);
    const char *const *lines = NULL;
    if (scene == NULL || (job->part != NULL && !job->part->first && job->part->alike)) return;
    const kf_scene_summary summary = kf_summarise_scene(scene);
    if (kf_argument_given(job->arguments, "--config") || (job->part != NULL && !job->part->first)) {
        const int count = kf_scene_warnings(&summary, &lines);
        for (int i = 0; i < count; i++)
            kf_warn("%s", lines[i]);
        return;
    }
    kf_text text = {0};
    FILE *stream = kf_text_stream(&text);
    if (stream == NULL) return;
    kf_scene_summary_print(scene, &summary, stream);
    if (fclose(stream) == 0) kf_info("%s", text.text);
    kf_text_free(&text);
}

/* Prints in which values the config differs from the default. --verbose prints the whole config. */
static void say_config(const kf_run_job *job) {
    const kf_device_info *device = kf_backend_device(job->backend);
    char facts[KF_FACTS_TEXT];
    kf_space *space = NULL;
    kf_config usual;
    kf_error ignored;
    const bool known = kf_problem_space(job->problem, device, NULL, 0, &space, &ignored) == KF_OK &&
                       kf_space_preset(space, "default", &usual, &ignored) == KF_OK;
    char *text = kf_config_relative(&job->best.config, known ? &usual : NULL, "default"),
         *whole = kf_config_summary(&job->best.config);
    kf_info("%s %s, on %s: %s", job->problem->name, kf_facts_text(&job->problem->facts, facts), device->name,
            text);
    kf_detail("config: %s", whole);
    kf_space_free(space);
    free(whole);
    free(text);
}

/* Opens the run's folder. A new run does not overwrite a longer one unless --force is given. */
static kf_status open_folder(kf_run_job *job, kf_error *error) {
    const bool force = kf_argument_given(job->arguments, "--force"), anew = job->restart[0] == '\0';
    KF_TRY(kf_run_folder_open(job->folder, job->problem->hash, force, &job->lock, error));
    if (!anew) KF_TRY(kf_run_folder_check_meaning(job->folder, &job->meaning, error));
    return anew && !force && job->how.seconds == 0.0
               ? kf_run_folder_keep_longer(job->folder, job->how.steps, error)
               : KF_OK;
}

extern const kf_command kf_command_run;

/* Writes the scene into the folder, so that the run can be repeated or changed. */
static kf_status keep_scene(const kf_run_job *job, kf_error *error) {
    const bool config = kf_argument_given(job->arguments, "--config");
    char path[KF_PATH];
    cJSON *document = NULL;
    KF_TRY(kf_problem_document(job->problem, job->arguments, config && job->best.document == NULL, &document,
                               error));
    if (document == NULL) return KF_OK;
    kf_status status = kf_path(path, error, "%s/scene.json", job->folder);
    if (status == KF_OK) status = kf_json_write_file(path, document, error);
    cJSON_Delete(document);
    return status;
}

/* Continues a run of a sweep from its last checkpoint, if there is one. *done: the run had already finished.
 */
static kf_status resume(kf_run_job *job, bool *done, kf_error *error) {
    uint64_t step = 0;
    if (job->part == NULL || !kf_argument_given(job->arguments, "--resume")) return KF_OK;
    KF_TRY(kf_run_folder_resume(job->folder, job->problem->hash, done, job->restart, &step, error));
    if (*done && !job->how.until_settled && job->how.seconds == 0.0 && step < job->how.steps)
        kf_warn("%s: had finished after %" PRIu64 " of the %" PRIu64
                " steps that are asked for now; it is left as it is: remove the folder to run it again",
                job->folder, step, job->how.steps);
    else if (*done)
        kf_info("%s: had finished; it is left as it is", job->folder);
    else if (step > 0 && step < job->how.steps)
        job->how.steps -= step;
    return KF_OK;
}

/* Sets the plan's first state: its own checkpoint, the settled flow of another run of the sweep, or the
 * scene's initial state. Another run's flow leaves the domain within the first flow-through. No mean contains
 * that time, even if the drag is already steady. */
static kf_status start(kf_run_job *job, kf_error *error) {
    const kf_run_part *part = job->part;
    bool begun = false;
    if (job->restart[0] != '\0') {
        KF_TRY(kf_production_start(job->plan, job->smoke, job->restart, error));
        KF_TRY(kf_run_folder_begun_in(job->folder, job->begun_in, error));
    } else if (part == NULL || part->checkpoint[0] == '\0') {
        return kf_production_start(job->plan, job->smoke, NULL, error);
    } else {
        KF_TRY(kf_production_begin_in(job->plan, part->checkpoint, &begun, error));
        if (begun) kf_copy_text(job->begun_in, KF_PATH, part->neighbour);
    }
    if (begun) kf_info("starting from the settled flow of %s", part->neighbour);
    if (job->begun_in[0] != '\0') job->how.foreign = (uint64_t)ceil(job->how.flow_through);
    return KF_OK;
}

/* Prepares the run up to its first step: config, options, folder, plan and record. Files of an earlier run
 * are touched only when all options are known to be right. */
static kf_status prepare(kf_run_job *job, bool *done, kf_error *error) {
    const char *config = kf_argument(job->arguments, "--config", NULL);
    KF_TRY(config != NULL ? open_tuned(job, config, error) : kf_run_open_scene(job, &kf_command_run, error));
    KF_TRY(refuse_kernels(job, error));
    KF_TRY(read_options(job, error));
    KF_TRY(choose_folder(job, error));
    KF_TRY(resume(job, done, error));
    if (*done) return KF_OK;
    if (config == NULL) KF_TRY(choose_config(job, error));
    say_what_to_expect(job);
    KF_TRY(open_plan(job, error));
    KF_TRY(start(job, error));
    KF_TRY(kf_run_probes_read(job->arguments, job->problem, job->plan, &job->probes, &job->how, error));
    if (job->plan->methods->meaning != NULL) job->plan->methods->meaning(job->plan, &job->meaning);
    KF_TRY(kf_world_agree(kf_world_rank() == 0 ? open_folder(job, error) : KF_OK, error));
    KF_TRY(tell_of_killed(job, error));
    if (kf_world_rank() == 0) KF_TRY(keep_scene(job, error));
    say_config(job);
    return kf_run_record(job, "running", false, error);
}

/* Opens the job's scene and plan, and runs it. *done: it is a finished run of a sweep, which is not repeated.
 */
static kf_status run_job(kf_run_job *job, kf_error *error) {
    bool done = false;
    KF_TRY(prepare(job, &done, error));
    if (done) return KF_OK;
    kf_world_advise("go on from its last checkpoint, which is whole");
    return kf_run_conclude(job, kf_produce(job->plan, &job->how, &job->done, error), error);
}

/* Runs one scene from its options to its last file, and frees all it opened, with or without an error. */
static kf_status run_one(const kf_arguments *arguments, const kf_run_part *part, kf_error *error) {
    kf_run_job *job = kf_allocate_zeroed(1, sizeof *job);
    job->arguments = arguments;
    job->lock = -1;
    job->part = part;
    kf_copy_text(job->restart, sizeof job->restart, kf_argument(arguments, "--restart", ""));
    const kf_status status = run_job(job, error);
    kf_production_free(&job->done);
    kf_run_probes_free(&job->probes);
    kf_facts_free(&job->meaning);
    kf_smoke_free(job->smoke);
    if (job->plan) kf_plan_free(job->plan);
    if (job->backend) kf_backend_close(job->backend);
    kf_problem_free(job->problem);
    kf_best_config_free(&job->best);
    if (job->lock >= 0) (void)close(job->lock);
    free(job);
    return status;
}

static kf_status refuse_of_sweeps(const kf_arguments *arguments, kf_error *error) {
    for (const kf_option *o = options; o->name != NULL; o++)
        if (kf_run_is_of_sweeps(o->name) && kf_argument_given(arguments, o->name))
            return kf_fail(error, KF_BAD_INPUT, "option '%s': is of a sweep%s", o->name,
                           strcmp(o->name, "--resume") == 0
                               ? "; continue a single run with --restart CHECKPOINT"
                               : ", a list or a range of values");
    return KF_OK;
}

static kf_status execute(const kf_arguments *arguments, kf_error *error) {
    KF_TRY(kf_argument_world(arguments, error));
    const bool sweep = kf_run_is_sweep(arguments);
    kf_status status = KF_OK;
    if (sweep && kf_world_size() > 1)
        status =
            kf_fail(error, KF_BAD_INPUT, "run: a sweep runs in one process; start it without mpirun or srun");
    else if (!sweep)
        status = refuse_of_sweeps(arguments, error);
    if (status == KF_OK)
        status = sweep ? kf_run_sweep(arguments, run_one, error) : run_one(arguments, NULL, error);
    kf_world_close(status, error);
    return status;
}

const kf_command kf_command_run = {
    .name = "run",
    .summary = "run the simulation with a tuned config",
    .synopsis =
        "kftune run --config FILE [options]\n       kftune run --scene FILE|NAME [--store FILE] [options]",
    .description =
        "Runs the scene of a config with exactly the tuned plan. Writes fields (VTKHDF, for "
        "ParaView),\n"
        "a picture of the speed, forces (CSV) and checkpoints. Ctrl-C writes a checkpoint and prints the\n"
        "command that continues. Without --config it verifies and takes the config of the nearest scene in\n"
        "the store.",
    .example = "kftune run --config ahmed.kftune.json --steps 1000 --output ahmed-run",
    .options = options,
    .run = execute,
};
