#include "solver/output/production.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util/log.h"
#include "base/util/text.h"
#include "solver/flow/flow_problem.h"
#include "solver/output/checkpoint.h"
#include "solver/output/motion.h"
#include "solver/output/sanity.h"
#include "solver/output/vtkhdf.h"
#include "solver/picture/picture.h"

/* Seconds between two looks at the interruption flag and two progress lines. */
static const double pace_seconds = 0.25;

/* A run in progress. */
typedef struct production_run {
    kf_plan *plan;
    const kf_production_options *options;
    kf_production *result;
    FILE *forces, *motion; /* motion: of a free solid */
    char forces_path[KF_PATH], motion_path[KF_PATH];
    uint64_t end;    /* step to reach */
    uint64_t stride; /* steps that take about pace_seconds */
    double started;  /* wall clock */
    double saved;    /* likewise, when the last checkpoint was written; at first as started */
    bool solid;
} production_run;

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

static kf_status check_state(const production_run *producer, kf_fields *fields, kf_error *error) {
    KF_TRY(producer->plan->methods->fields(producer->plan, fields, error));
    return kf_fields_check(fields, producer->plan->steps_done, error);
}

static kf_status add_motion(production_run *producer, kf_error *error) {
    kf_plan *plan = producer->plan;
    kf_solid_pose pose;
    if (producer->motion == NULL) return KF_OK;
    KF_TRY(plan->methods->pose(plan, &pose, error));
    return kf_motion_add(producer->motion, producer->motion_path, kf_plan_scene(plan), plan->steps_done,
                         &pose, error);
}

static kf_status add_forces(production_run *producer, kf_error *error) {
    kf_plan *plan = producer->plan;
    kf_solid_load load;
    KF_TRY(plan->methods->load(plan, &load, error));
    for (int a = 0; a < 3; a++) {
        if (isfinite(load.force[a]) && isfinite(load.torque[a])) continue;
        kf_fields fields = {0};
        kf_status status = check_state(producer, &fields, error);
        kf_fields_free(&fields);
        if (status != KF_OK) return status;
        return kf_fail(error, KF_GATE_FAILED,
                       "the simulation blew up: step %" PRIu64 ": the force on the solid is not finite",
                       plan->steps_done);
    }
    kf_force_row_of(kf_plan_scene(plan), plan->steps_done, &load, &producer->result->forces);
    producer->result->has_forces = true;
    return kf_forces_add(producer->forces, producer->forces_path, &producer->result->forces, error);
}

/* The smoke's density for the caller to free; NULL without smoke. */
static kf_status read_smoke(production_run *producer, float **density, kf_error *error) {
    const int *n = kf_plan_scene(producer->plan)->nodes;
    *density = NULL;
    if (producer->options->smoke == NULL) return KF_OK;
    *density = kf_allocate((size_t)n[0] * (size_t)n[1] * (size_t)n[2] * sizeof **density);
    return kf_smoke_density(producer->options->smoke, *density, &producer->result->tracers, error);
}

static kf_status write_fields(production_run *producer, kf_error *error) {
    const kf_plan *plan = producer->plan;
    const kf_production_options *options = producer->options;
    char path[KF_PATH];
    kf_fields fields = {0};
    float *smoke = NULL;
    kf_status status = check_state(producer, &fields, error);
    if (status == KF_OK) status = read_smoke(producer, &smoke, error);
    if (status == KF_OK) status = output_path(producer, "fields", "vtkhdf", path, error);
    if (status == KF_OK) {
        status = kf_vtkhdf_write(path, kf_plan_scene(plan), &fields, smoke, plan->steps_done,
                                 options->compression, error);
    }
    free(smoke);
    if (status == KF_OK) {
        note_output(producer->result, path);
        status = output_path(producer, "speed", "png", path, error);
    }
    if (status == KF_OK) {
        status = kf_picture_write(path, kf_plan_scene(plan), &fields, plan->steps_done, options->slice_normal,
                                  error);
    }
    if (status == KF_OK) note_output(producer->result, path);
    kf_fields_free(&fields);
    return status;
}

static kf_status draw_smoke(production_run *producer, kf_error *error) {
    char path[KF_PATH];
    KF_TRY(output_path(producer, "smoke", "png", path, error));
    KF_TRY(kf_smoke_picture_png(producer->options->smoke, path, error));
    note_output(producer->result, path);
    producer->result->smoke_pictures++;
    return KF_OK;
}

static kf_status add_forces_and_motion(production_run *producer, kf_error *error) {
    KF_TRY(add_forces(producer, error));
    return add_motion(producer, error);
}

/* What is due after the steps done so far. */
static kf_status write_due(production_run *producer, kf_error *error) {
    uint64_t step = producer->plan->steps_done;
    bool last = step == producer->end;
    if (producer->solid && (last || step % producer->options->force_every == 0))
        KF_TRY(add_forces_and_motion(producer, error));
    if (producer->options->smoke != NULL && (last || step % producer->options->smoke_every == 0))
        KF_TRY(draw_smoke(producer, error));
    return last || step % producer->options->every == 0 ? write_fields(producer, error) : KF_OK;
}

/* By the clock, whatever outputs are due; a state that blew up takes no good one's place. */
static kf_status save_due(production_run *producer, kf_error *error) {
    const bool last = producer->plan->steps_done == producer->end;
    const bool due = last || now() - producer->saved >= producer->options->checkpoint_seconds;
    if (producer->options->checkpoints == 0 || !due) return KF_OK;
    kf_fields fields = {0};
    kf_status status = check_state(producer, &fields, error);
    kf_fields_free(&fields);
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

static void show_progress(const production_run *producer) {
    const kf_production *result = producer->result;
    uint64_t done = producer->plan->steps_done - result->first_step,
             left = producer->end - producer->plan->steps_done;
    char remaining[32];
    kf_human_time_us(1e6 * (now() - producer->started) / (double)done * (double)left, remaining);
    kf_progress(false, "step %" PRIu64 " of %" PRIu64 "   %.1f steps/s   %.1f MLUPS   %s left",
                producer->plan->steps_done, producer->end, result->steps_per_second, result->mlups,
                remaining);
}

static uint64_t steps_to_next(uint64_t step, uint64_t period) {
    return period - step % period;
}

static uint64_t smaller(uint64_t left, uint64_t right) {
    return left < right ? left : right;
}

/* Advances to whatever comes first: an output, the end, or the next look at the interruption flag. */
static kf_status advance(production_run *producer, kf_error *error) {
    kf_plan *plan = producer->plan;
    kf_production *result = producer->result;
    uint64_t steps =
        smaller(producer->end - plan->steps_done, steps_to_next(plan->steps_done, producer->options->every));
    if (producer->solid)
        steps = smaller(steps, steps_to_next(plan->steps_done, producer->options->force_every));
    if (producer->options->smoke != NULL)
        steps = smaller(steps, steps_to_next(plan->steps_done, producer->options->smoke_every));
    steps = smaller(steps, producer->stride);
    double began = now();
    if (producer->options->smoke != NULL)
        KF_TRY(kf_smoke_advance(producer->options->smoke, steps, error));
    else
        KF_TRY(kf_plan_advance(plan, steps, error));
    KF_TRY(kf_backend_synchronize(plan->backend, error));
    double seconds = now() - began;
    result->seconds += seconds;
    result->last_step = plan->steps_done;
    result->steps_per_second = (double)(plan->steps_done - result->first_step) / result->seconds;
    result->mlups = 1e-6 * plan->node_count * result->steps_per_second;
    double wanted = pace_seconds / seconds * (double)steps;
    producer->stride = (uint64_t)fmin(fmax(wanted, 1), 4.0 * (double)producer->stride);
    return KF_OK;
}

kf_status kf_production_start(kf_plan *plan, kf_smoke *smoke, const char *restart, kf_error *error) {
    if (!restart) return kf_plan_initialise(plan, error);
    kf_checkpoint stored;
    KF_TRY(kf_checkpoint_restore(restart, plan, smoke, &stored, error));
    if (smoke != NULL && stored.smoke_bytes == 0) kf_warn("%s has no smoke: it begins now", restart);
    if (plan->steps_done != stored.step) {
        return kf_fail(error, KF_MACHINE, "%s: the plan did not take up step %" PRIu64, restart, stored.step);
    }
    char config_hash[KF_HASH_HEX];
    kf_config_hash(&plan->config, config_hash);
    if (strcmp(config_hash, stored.config_hash) != 0) {
        kf_warn("%s was written with another config; the run goes on from it, but not bit for bit", restart);
    }
    return KF_OK;
}

static kf_status begin(production_run *producer, kf_error *error) {
    const kf_plan *plan = producer->plan;
    producer->result->first_step = producer->result->last_step = plan->steps_done;
    producer->end = plan->steps_done + producer->options->steps;
    producer->solid = kf_plan_scene(plan)->mesh.triangle_count > 0;
    if (!producer->solid) return KF_OK;
    KF_TRY(kf_path(producer->forces_path, error, "%s/forces.csv", producer->options->folder));
    KF_TRY(kf_forces_open(producer->forces_path, plan->steps_done, &producer->forces, error));
    note_output(producer->result, producer->forces_path);
    if (!kf_plan_scene(plan)->motion.free) return KF_OK;
    KF_TRY(kf_path(producer->motion_path, error, "%s/motion.csv", producer->options->folder));
    KF_TRY(kf_motion_open(producer->motion_path, plan->steps_done, &producer->motion, error));
    note_output(producer->result, producer->motion_path);
    return KF_OK;
}

static kf_status run(production_run *producer, kf_error *error) {
    KF_TRY(begin(producer, error));
    producer->started = producer->saved = now();
    while (producer->plan->steps_done < producer->end) {
        if (*producer->options->interrupted) {
            KF_TRY(write_checkpoint(producer, error));
            return kf_fail(error, KF_INTERRUPTED, "interrupted after step %" PRIu64,
                           producer->plan->steps_done);
        }
        KF_TRY(advance(producer, error));
        show_progress(producer);
        const kf_status written = write_due(producer, error);
        if (written != KF_OK) return save_after(producer, written, error);
        KF_TRY(save_due(producer, error));
    }
    return KF_OK;
}

kf_status kf_produce(kf_plan *plan, const kf_production_options *options, kf_production *production,
                     kf_error *error) {
    *production = (kf_production){0};
    production_run producer = {.plan = plan, .options = options, .result = production, .stride = 1};
    kf_status status = run(&producer, error);
    if (producer.motion && fclose(producer.motion) != 0 && status == KF_OK) {
        status = kf_fail(error, KF_MACHINE, "%s: cannot write the last rows", producer.motion_path);
    }
    if (producer.forces && fclose(producer.forces) != 0 && status == KF_OK) {
        status = kf_fail(error, KF_MACHINE, "%s: cannot write the last rows", producer.forces_path);
    }
    if (production->seconds > 0) {
        kf_progress(true, "%" PRIu64 " steps in %.1f s   %.1f steps/s   %.1f MLUPS",
                    production->last_step - production->first_step, production->seconds,
                    production->steps_per_second, production->mlups);
    }
    return status;
}

void kf_production_free(kf_production *production) {
    for (size_t i = 0; i < production->output_count; i++)
        free(production->outputs[i]);
    free(production->outputs);
    *production = (kf_production){0};
}
