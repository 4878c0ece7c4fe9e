#include "harness/cli/sweep_lanes.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/backend/team/team.h"
#include "base/util/log.h"
#include "base/util/processors.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/worker/child.h"

/* ---- Which devices ---- */

/* Names a team of some of the devices, such as "cuda:2-3" or "cpu:4,cpu:4". A cpu without a number of threads
 * gets its share of them. */
static kf_status name_team(const char *spec, int first, int each, int all, char devices[32],
                           kf_error *error) {
    kf_text text = {0};
    int begin = -1, next = -1, number = -1;
    bool row = each > 1;
    for (int i = first; i < first + each; i++) {
        char member[32];
        KF_TRY(kf_device_member(spec, i, member, error));
        if (strcmp(member, "cpu") == 0) {
            const int threads = kf_processors_find().usable / all;
            (void)snprintf(member, sizeof member, "cpu:%d", threads > 1 ? threads : 1);
        }
        row = row && sscanf(member, "cuda:%d", &number) == 1 && (next < 0 || number == next);
        if (begin < 0) begin = number;
        next = number + 1;
        kf_text_append(&text, "%s%s", i > first ? "," : "", member);
    }
    const bool fits = row || text.length < 32;
    if (row)
        (void)snprintf(devices, 32, "cuda:%d-%d", begin, number);
    else
        kf_copy_text(devices, 32, text.text);
    kf_text_free(&text);
    return fits ? KF_OK
                : kf_fail(error, KF_BAD_INPUT,
                          "option '--devices-each': %d devices of \"%s\" are too long a "
                          "name for a team; give them in rising order",
                          each, spec);
}

/* Divides the devices of spec into teams of `each` devices. Each team is a lane of the sweep. */
kf_status kf_sweep_lanes_open(kf_sweep_lanes *lanes, const char *spec, int each, kf_error *error) {
    int all = 1;
    memset(lanes, 0, sizeof *lanes);
    if (spec != NULL) KF_TRY(kf_device_check(spec, &all, error));
    if (all % each != 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "option '--devices-each': %d device%s no whole number of teams of %d", all,
                       all == 1 ? " is" : "s are", each);
    lanes->count = all / each;
    if (lanes->count > KF_SWEEP_LANES)
        return kf_fail(error, KF_BAD_INPUT,
                       "a sweep runs on %d devices at a time at most; give --devices-each", KF_SWEEP_LANES);
    for (int i = 0; i < lanes->count && lanes->count > 1; i++)
        KF_TRY(name_team(spec, i * each, each, all, lanes->devices[i], error));
    return KF_OK;
}

/* ---- The work ---- */

typedef struct item_job {
    kf_sweep_item *work;
    const char *(*name)(void *context, int item);
    void *context;
    int item, before;
    const char *devices;
} item_job;

/* A lane, which does the items from `next` to `end` - 1. */
typedef struct lane_state {
    item_job job; /* the item that it does now */
    kf_child child;
    bool busy;
    int next, end, before;
} lane_state;

static bool ends_all(kf_status status) {
    return status == KF_BAD_INPUT || status == KF_INTERRUPTED || status == KF_HOST;
}

/* Records how an item ended. The last failure is kept. */
static void note(lane_state *lane, kf_status status, const kf_error *own, kf_status *worst, kf_error *error) {
    if (status == KF_OK) {
        lane->before = lane->job.item;
        return;
    }
    if (!ends_all(status)) kf_warn("%s: %s", lane->job.name(lane->job.context, lane->job.item), own->message);
    if (ends_all(*worst)) return;
    *worst = status;
    *error = *own;
}

static kf_status do_item(const item_job *job, kf_error *error) {
    return job->work(job->context, job->item, job->before, job->devices, error);
}

/* Does an item in its own process. SIGTERM makes that process end with a checkpoint; Ctrl-C does not reach
 * it. */
static kf_status work_alone(const void *context, void *answer, kf_error *error) {
    const item_job *job = context;
    (void)answer;
    kf_catch_interrupts();
    kf_log_as(job->name(job->context, job->item));
    return do_item(job, error);
}

static void give_next(lane_state *lane) {
    lane->job.item = lane->next++;
    lane->job.before = lane->before;
}

static kf_status run_in_order(lane_state *lane, kf_error *error) {
    kf_status worst = KF_OK;
    while (lane->next < lane->end && !ends_all(worst)) {
        kf_error own = {KF_OK, ""};
        give_next(lane);
        note(lane, do_item(&lane->job, &own), &own, &worst, error);
    }
    return worst;
}

static kf_status begin_next(lane_state *lane, kf_error *error) {
    give_next(lane);
    KF_TRY(kf_child_begin(work_alone, &lane->job, sizeof(char), &lane->child, error));
    lane->busy = true;
    return KF_OK;
}

/* Waits at most a second until a lane has an answer. */
static void await_any(const lane_state *lanes, int count) {
    struct pollfd ready[KF_SWEEP_LANES];
    nfds_t busy = 0;
    for (int i = 0; i < count; i++)
        if (lanes[i].busy) ready[busy++] = (struct pollfd){.fd = lanes[i].child.socket, .events = POLLIN};
    (void)poll(ready, busy, 1000);
}

static bool has_answer(const lane_state *lane) {
    struct pollfd ready = {.fd = lane->child.socket, .events = POLLIN};
    return lane->busy && poll(&ready, 1, 0) > 0;
}

static void tell_to_end(const lane_state *lanes, int count) {
    for (int i = 0; i < count; i++)
        if (lanes[i].busy) (void)kill(lanes[i].child.process, SIGTERM);
}

static int count_busy(const lane_state *lanes, int count) {
    int busy = 0;
    for (int i = 0; i < count; i++)
        busy += lanes[i].busy;
    return busy;
}

/* Starts the next item in each idle lane. */
static void give_work(lane_state *lanes, int count, kf_status *worst, kf_error *error) {
    for (int i = 0; i < count && !ends_all(*worst); i++) {
        kf_error own = {KF_OK, ""};
        if (lanes[i].busy || lanes[i].next == lanes[i].end) continue;
        const kf_status begun = begin_next(&lanes[i], &own);
        if (begun != KF_OK) note(&lanes[i], begun, &own, worst, error);
    }
}

/* Takes the available answers and returns their number. */
static int take_answers(lane_state *lanes, int count, kf_status *worst, kf_error *error) {
    int taken = 0;
    for (int i = 0; i < count; i++) {
        kf_error own = {KF_OK, ""};
        char answer;
        if (!has_answer(&lanes[i])) continue;
        const kf_status status = kf_child_collect(&lanes[i].child, "the run", &answer, sizeof answer, &own);
        lanes[i].busy = false;
        note(&lanes[i], status, &own, worst, error);
        taken++;
    }
    return taken;
}

/* Keeps all lanes busy until no item is left. The first item that ends the sweep, or Ctrl-C, makes the other
 * lanes end with a checkpoint. */
static kf_status run_together(lane_state *lanes, int count, int items, kf_error *error) {
    kf_status worst = KF_OK;
    bool told = false;
    for (int done = 0;;) {
        if (kf_interrupted && !ends_all(worst)) worst = kf_fail(error, KF_INTERRUPTED, "interrupted");
        give_work(lanes, count, &worst, error);
        if (ends_all(worst) && !told) tell_to_end(lanes, count);
        told = ends_all(worst);
        const int busy = count_busy(lanes, count);
        if (busy == 0) return worst;
        kf_progress(false, "%d of %d runs done, %d at work", done, items, busy);
        await_any(lanes, count);
        done += take_answers(lanes, count, &worst, error);
    }
}

kf_status kf_sweep_lanes_run(const kf_sweep_lanes *lanes, int count, kf_sweep_item *work,
                             const char *(*name)(void *context, int item), void *context, kf_error *error) {
    lane_state all[KF_SWEEP_LANES] = {{.busy = false}};
    const int used = lanes->count < count ? lanes->count : count;
    for (int i = 0; i < used; i++)
        all[i] = (lane_state){
            .job = {.work = work, .name = name, .context = context, .devices = lanes->devices[i]},
            .next = count * i / used,
            .end = count * (i + 1) / used,
            .before = -1};
    return lanes->count == 1 ? run_in_order(all, error) : run_together(all, used, count, error);
}
