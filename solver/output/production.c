#include "solver/output/production_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/backend/team/world.h"
#include "base/util/clock.h"
#include "base/util/log.h"
#include "base/util/text.h"
#include "solver/output/checkpoint.h"

/* Steps, or as many more as a plan gives a device at once, between two looks at whether the state makes
 * sense. */
enum { WATCHED_STEPS = 256 };

/* Checks clocks, signals, and whether the drag has settled. The first process decides by them. An
 * interruption of any process counts. */
static kf_status look_around(kf_production_run *producer, kf_error *error) {
    const bool last = producer->plan->steps_done == producer->end,
               due = last || kf_clock_seconds() - producer->saved >= producer->options->checkpoint_seconds;
    int64_t values[] = {(int64_t)producer->end, (int64_t)producer->stride, due,
                        *producer->options->interrupted != 0};
    for (int i = 0; i < 3 && !kf_production_writes(); i++)
        values[i] = 0;
    KF_TRY(kf_world_sum(values, 4, error));
    producer->end = (uint64_t)values[0];
    producer->stride = (uint64_t)values[1];
    producer->save_is_due = values[2] != 0;
    producer->interrupted = values[3] != 0;
    return KF_OK;
}

/* Refuses a state that no run can go on from: a flow that blew up, a free solid that is held at an edge. */
static kf_status check_state(kf_plan *plan, kf_error *error) {
    const kf_plan_methods *methods = plan->methods;
    kf_snapshot snapshot = {.count = 0};
    kf_solid_load load;
    const kf_status status = methods->snapshot != NULL ? kf_plan_snapshot(plan, &snapshot, error) : KF_OK;
    kf_snapshot_free(&snapshot);
    if (status != KF_OK || methods->flow == NULL || methods->flow->load == NULL) return status;
    return methods->flow->load(plan, &load, error);
}

/* Names the last good state. A state that diverged is not saved; the last saved one may be good. */
static kf_status name_last_good(const kf_production_run *producer, kf_status failure, kf_error *error) {
    char message[sizeof error->message];
    if (producer->result->checkpoint[0] == '\0') return failure;
    kf_copy_text(message, sizeof message, error->message);
    return kf_fail(error, failure, "%.700s; the last good state is %.280s", message,
                   producer->result->checkpoint);
}

/* Saves a checkpoint when the time for it has come, independently of other outputs. A diverged state does not
 * replace a good one. */
static kf_status save_due(kf_production_run *producer, kf_error *error) {
    kf_plan *plan = producer->plan;
    if (producer->options->checkpoints == 0 || !producer->save_is_due || plan->methods->save == NULL)
        return KF_OK;
    kf_status status = kf_world_agree(check_state(plan, error), error);
    if (status == KF_BAD_INPUT) return name_last_good(producer, status, error);
    if (status == KF_OK) status = kf_production_checkpoint(producer, error);
    producer->saved = kf_clock_seconds();
    if (status == KF_OK) kf_production_prune(producer);
    return status;
}

/* Saves a checkpoint after a failure, so that an output that cannot be written does not lose the computed
 * state. */
static kf_status save_after(kf_production_run *producer, kf_status failure, kf_error *error) {
    kf_error why;
    if (failure == KF_GATE_FAILED) return failure;
    if (kf_world_agree(check_state(producer->plan, &why), &why) != KF_OK)
        return name_last_good(producer, failure, error);
    if (kf_production_checkpoint(producer, &why) != KF_OK) return failure;
    char message[sizeof error->message];
    kf_copy_text(message, sizeof message, error->message);
    return kf_fail(error, failure, "%.600s; the run would go on from there with --restart %.380s", message,
                   producer->result->checkpoint);
}

/* Estimates the remaining time, as "3 min", from the measured time of a step with all files and pictures. A
 * run until the drag has settled uses the convergence of the flow: "about 2 min, at most 28 min". Without
 * convergence so far it gives the flow-throughs for which a settled drag is watched: "at least 40 s". */
static void forecast(const kf_production_run *producer, double step_us, uint64_t left, char text[96]) {
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

static void show_progress(const kf_production_run *producer) {
    const kf_production *result = producer->result;
    uint64_t done = producer->plan->steps_done - result->first_step,
             left = producer->end - producer->plan->steps_done;
    char remaining[96], rate[KF_RATE_TEXT], drag[64] = "";
    const kf_series_mean *mean = &result->drag.mean[KF_DRAG];
    if (result->drag.known && isfinite(mean->half))
        (void)snprintf(drag, sizeof drag, "   Cd %.3f +- %.3f%s", mean->mean, mean->half,
                       result->drag.settled ? "" : ", not settled");
    forecast(producer, 1e6 * (kf_clock_seconds() - producer->started) / (double)done, left, remaining);
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
static void look_at_the_time(kf_production_run *producer) {
    const kf_plan *plan = producer->plan;
    if (producer->until <= 0) return;
    const double time = kf_plan_time(plan), left = producer->until - time;
    producer->result->seconds_left = left;
    const double step = plan->methods->time(plan, plan->steps_done + 1) - time;
    if (isfinite(left) && step > 0)
        producer->end = plan->steps_done + (uint64_t)fmin(fmax(ceil(left / step - 1e-6), 0), 1e12);
}

/* Advances by so many steps, and looks at the state on the way. */
static kf_status advance_watched(kf_production_run *producer, uint64_t steps, kf_error *error) {
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

/* Returns the seconds that this many steps may take. On a busy machine a step may take a hundred times as
 * long, plus ten minutes. Before the first measurement the limit is an hour plus the time of their traffic at
 * a tenth of a GB/s. */
static double most_seconds(const kf_production_run *producer, uint64_t steps) {
    static const double times = 100, patience = 600, first_patience = 3600, slow_bytes = 1e8;
    return producer->slowest > 0 ? patience + times * producer->slowest * (double)steps
                                 : first_patience + producer->plan->least_bytes / slow_bytes * (double)steps;
}

/* Reports a hanging run. It is called in the watchdog's thread. The main thread waits for the device and
 * changes nothing meanwhile. */
static void report_hanging(void *context, double seconds) {
    kf_production_run *producer = context;
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

/* Advances to the first of these: an output, the end, or the next check of the interruption flag. */
static kf_status advance(kf_production_run *producer, kf_error *error) {
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
    double began = kf_clock_seconds();
    kf_watchdog_begin(producer->watchdog, most_seconds(producer, steps));
    const kf_status advanced = advance_watched(producer, steps, error);
    kf_watchdog_end(producer->watchdog);
    KF_TRY(advanced);
    double seconds = kf_clock_seconds() - began;
    producer->slowest = fmax(producer->slowest, seconds / (double)steps);
    result->seconds += seconds;
    result->last_step = plan->steps_done;
    look_at_the_time(producer);
    result->steps_per_second = (double)(plan->steps_done - result->first_step) / result->seconds;
    result->updates_per_second = plan->updates * result->steps_per_second;
    double wanted = KF_PRODUCTION_PACE / seconds * (double)steps;
    producer->stride = (uint64_t)fmin(fmax(wanted, 1), 4.0 * (double)producer->stride);
    return KF_OK;
}

/* Begins a run: its end in steps or seconds, the forces of a run that goes on, and room for checkpoints. */
static kf_status begin(kf_production_run *producer, kf_error *error) {
    kf_plan *plan = producer->plan;
    const int stride = kf_plan_stride(plan) > 0 ? kf_plan_stride(plan) : 1;
    producer->watch = (uint64_t)((WATCHED_STEPS + stride - 1) / stride) * (uint64_t)stride;
    producer->result->first_step = producer->result->last_step = plan->steps_done;
    producer->end = plan->steps_done + producer->options->steps;
    producer->result->seconds_left = producer->options->seconds;
    if (producer->options->seconds > 0 && plan->methods->time != NULL)
        producer->until = kf_plan_time(plan) + producer->options->seconds;
    producer->records = plan->methods->record != NULL;
    producer->files = (kf_record_files){producer->options->folder, plan->steps_done, NULL, 0};
    char before[KF_PATH];
    producer->forces.from = producer->options->foreign;
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
                          producer->options->folder, kf_production_writes(), error));
    producer->started = producer->saved = kf_clock_seconds();
    return KF_OK;
}

/* Runs to the end: advances, writes the outputs that are due, and checks for interruptions. An interruption
 * or a failed write leaves a checkpoint. */
static kf_status run(kf_production_run *producer, kf_error *error) {
    KF_TRY(begin(producer, error));
    KF_TRY(look_around(producer, error));
    while (producer->plan->steps_done < producer->end) {
        if (producer->interrupted) {
            if (producer->plan->methods->save != NULL) KF_TRY(kf_production_checkpoint(producer, error));
            return kf_fail(error, KF_INTERRUPTED, "interrupted after step %" PRIu64,
                           producer->plan->steps_done);
        }
        KF_TRY(advance(producer, error));
        show_progress(producer);
        const double writing = kf_clock_seconds();
        const kf_status written = kf_world_agree(kf_production_write_due(producer, error), error);
        producer->result->output_seconds += kf_clock_seconds() - writing;
        if (written != KF_OK) return save_after(producer, written, error);
        KF_TRY(look_around(producer, error));
        KF_TRY(save_due(producer, error));
    }
    return KF_OK;
}

kf_status kf_produce(kf_plan *plan, const kf_production_options *options, kf_production *production,
                     kf_error *error) {
    *production = (kf_production){0};
    kf_production_run producer = {.plan = plan, .options = options, .result = production, .stride = 1};
    if (options->hangs != NULL)
        KF_TRY(kf_watchdog_open(report_hanging, &producer, options->clock, &producer.watchdog, error));
    kf_status status = run(&producer, error);
    if (status == KF_GATE_FAILED) status = name_last_good(&producer, status, error);
    kf_watchdog_close(producer.watchdog);
    const kf_status closed = kf_record_files_close(&producer.files, status == KF_OK ? error : NULL);
    if (status == KF_OK) status = closed;
    kf_production_judge(&producer);
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
