/* Counts with PAPI: one event in each pass, summed over the threads of this process. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/memory.h"
#include "harness/counters/count_internal.h"
#include "harness/counters/papi_library.h"

typedef struct kf_papi_counting {
    int pass;  /* the event of this pass is counts->metrics[pass] */
    int *sets; /* one for each thread; made when the first part begins, because all threads exist by then */
    int count;
} kf_papi_counting;

/* Returns whether an event of this name can be counted here. */
static bool can_count(const char *event) {
    int set = KF_PAPI_NO_SET;
    long long value = 0;
    if (kf_papi.PAPI_create_eventset(&set) != 0) return false;
    const bool can = kf_papi.PAPI_add_named_event(set, event) == 0 && kf_papi.PAPI_start(set) == 0 &&
                     kf_papi.PAPI_stop(set, &value) == 0;
    (void)kf_papi.PAPI_cleanup_eventset(set);
    (void)kf_papi.PAPI_destroy_eventset(&set);
    return can;
}

/* Fails because no event can be counted: either the kernel forbids it (Debian's level 3), or the cpu has no
 * such event. */
static kf_status fail_without_events(const char *what, kf_error *error) {
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    int level = -1;
    const bool known = file != NULL && fscanf(file, "%d", &level) == 1;
    if (file != NULL) (void)fclose(file);
    if (known && level > 2 && geteuid() != 0)
        return kf_fail(
            error, KF_MACHINE,
            "counters: not available because the kernel lets only root count (perf_event_paranoid is %d); as "
            "root: sysctl kernel.perf_event_paranoid=2",
            level);
    return kf_fail(error, KF_MACHINE,
                   "counters: not available because the processor shows %s; virtual machines and containers "
                   "often hide them",
                   what);
}

kf_status kf_papi_check(kf_error *error) {
    KF_TRY(kf_papi_load(error));
    return can_count("PAPI_TOT_INS") || can_count("PAPI_TOT_CYC") ? KF_OK
                                                                  : fail_without_events("no counters", error);
}

/* Opens counting with PAPI, with the events of the set that this cpu has. KF_MACHINE if there is none. */
static kf_status open_counting(kf_counting *counting, kf_error *error) {
    const kf_metric_set *set = counting->set;
    kf_counts *counts = counting->counts;
    KF_TRY(kf_papi_load(error));
    for (int i = 0; i < set->papi_count; i++)
        if (can_count(set->papi[i].event)) counts->metrics[counts->metric_count++] = &set->papi[i];
    if (set->papi_count == 0)
        return kf_fail(error, KF_MACHINE, "counters: the set '%s' has no PAPI events", set->name);
    if (counts->metric_count == 0) {
        char what[KF_METRIC_NAME + 40];
        (void)snprintf(what, sizeof what, "none of the events of the set '%s'", set->name);
        return fail_without_events(what, error);
    }
    counting->own = kf_allocate_zeroed(1, sizeof(kf_papi_counting));
    return KF_OK;
}

static void free_sets(kf_papi_counting *own) {
    for (int i = 0; i < own->count; i++) {
        (void)kf_papi.PAPI_cleanup_eventset(own->sets[i]);
        (void)kf_papi.PAPI_destroy_eventset(&own->sets[i]);
    }
    free(own->sets);
    own->sets = NULL;
    own->count = 0;
}

static void close_counting(kf_counting *counting) {
    if (counting->own != NULL) free_sets(counting->own);
    free(counting->own);
}

static kf_status fail(kf_error *error, const char *event) {
    return kf_fail(error, KF_MACHINE, "counters: PAPI cannot count %s in every thread", event);
}

static kf_status add_thread(kf_papi_counting *own, unsigned long thread, const char *event, kf_error *error) {
    enum { CORE = 0 };
    int set = KF_PAPI_NO_SET;
    if (kf_papi.PAPI_create_eventset(&set) != 0) return fail(error, event);
    own->sets = kf_reallocate(own->sets, (size_t)(own->count + 1) * sizeof *own->sets);
    own->sets[own->count++] = set;
    if (kf_papi.PAPI_assign_eventset_component(set, CORE) != 0 || kf_papi.PAPI_attach(set, thread) != 0 ||
        kf_papi.PAPI_add_named_event(set, event) != 0)
        return fail(error, event);
    return KF_OK;
}

static kf_status add_threads(kf_papi_counting *own, const char *event, kf_error *error) {
    DIR *folder = opendir("/proc/self/task");
    if (folder == NULL) return fail(error, event);
    kf_status status = KF_OK;
    for (const struct dirent *entry; status == KF_OK && (entry = readdir(folder)) != NULL;) {
        const unsigned long thread = strtoul(entry->d_name, NULL, 10);
        if (thread != 0) status = add_thread(own, thread, event, error);
    }
    (void)closedir(folder);
    return status;
}

static kf_status pass_begin(kf_counting *counting, kf_error *error) {
    (void)error;
    free_sets(counting->own);
    return KF_OK;
}

static kf_status part_begin(kf_counting *counting, int part, kf_error *error) {
    kf_papi_counting *own = counting->own;
    const char *event = counting->counts->metrics[own->pass]->event;
    (void)part;
    if (own->count == 0) KF_TRY(add_threads(own, event, error));
    for (int i = 0; i < own->count; i++)
        if (kf_papi.PAPI_start(own->sets[i]) != 0) return fail(error, event);
    return KF_OK;
}

static kf_status part_end(kf_counting *counting, kf_error *error) {
    const kf_papi_counting *own = counting->own;
    kf_counts *counts = counting->counts;
    double sum = 0.0;
    for (int i = 0; i < own->count; i++) {
        long long value = 0;
        if (kf_papi.PAPI_stop(own->sets[i], &value) != 0)
            return fail(error, counts->metrics[own->pass]->event);
        sum += (double)value;
    }
    counts->values[counting->open_part * counts->metric_count + own->pass] = sum;
    return KF_OK;
}

static kf_status pass_end(kf_counting *counting, bool *done, kf_error *error) {
    kf_papi_counting *own = counting->own;
    (void)error;
    free_sets(own);
    *done = ++own->pass >= counting->counts->metric_count;
    return KF_OK;
}

static kf_status read_nothing(kf_counting *counting, kf_error *error) {
    (void)counting;
    (void)error;
    return KF_OK;
}

const kf_counter_methods kf_papi_methods = {
    .open = open_counting,
    .close = close_counting,
    .pass_begin = pass_begin,
    .pass_end = pass_end,
    .part_begin = part_begin,
    .part_end = part_end,
    .read = read_nothing,
};
