/* Teams: several devices of one kind, "cuda:0-3", "cuda:0,cuda:2", "cpu,cpu". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/backend/team/internal.h"
#include "base/backend/team/team.h"
#include "base/backend/team/world.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"

enum { SPEC = 32 };

typedef struct members {
    char specs[KF_MOST_DEVICES][SPEC];
    int count;
} members;

static const kf_teams teams = {
    .cpu = &kf_cpu_team_methods,
#ifdef KF_HAVE_CUDA
    .cuda = &kf_cuda_team_methods,
#endif
};

static bool is_team(const char *spec) {
    const char *dash = strchr(spec, '-');
    return strchr(spec, ',') != NULL || (dash != NULL && dash > spec && dash[-1] >= '0' && dash[-1] <= '9');
}

static kf_status add(const char *spec, const char *member, members *team, kf_error *error) {
    if (team->count == KF_MOST_DEVICES)
        return kf_fail(error, KF_BAD_INPUT, "devices \"%s\": a team has at most %d devices", spec,
                       KF_MOST_DEVICES);
    KF_TRY(kf_device_check_one(member, error));
    if (strncmp(member, spec, 2) != 0) /* "cp", "cu" */
        return kf_fail(error, KF_BAD_INPUT,
                       "devices \"%s\": the devices of a team must be of one kind, cpu or cuda", spec);
    kf_copy_text(team->specs[team->count++], SPEC, member);
    return KF_OK;
}

/* "cuda:0-3" */
static kf_status add_range(const char *spec, char *member, members *team, kf_error *error) {
    int first = 0, last = 0, end = 0;
    if (strncmp(member, "cpu", 3) == 0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "devices \"%s\": the number of a cpu is that of its threads; name it once for each part, as in "
            "cpu,cpu",
            spec);
    if (sscanf(member, "cuda:%d-%d%n", &first, &last, &end) != 2 || member[end] != '\0' || first < 0 ||
        last < first)
        return kf_fail(error, KF_BAD_INPUT,
                       "devices \"%s\": \"%s\" is no range; give the GPUs from first to last as in cuda:0-3",
                       spec, member);
    for (int n = first; n <= last; n++) {
        char one[SPEC];
        (void)snprintf(one, sizeof one, "cuda:%d", n);
        KF_TRY(add(spec, one, team, error));
    }
    return KF_OK;
}

static kf_status read_members(const char *spec, members *team, kf_error *error) {
    char words[256];
    team->count = 0;
    if (strlen(spec) >= sizeof((kf_device_info *)NULL)->spec)
        return kf_fail(error, KF_BAD_INPUT, "devices \"%s\": too long; give a range, as in cuda:0-7", spec);
    kf_copy_text(words, sizeof words, spec);
    for (char *word = words, *next; word != NULL; word = next) {
        next = strchr(word, ',');
        if (next != NULL) *next++ = '\0';
        KF_TRY(strchr(word, '-') != NULL ? add_range(spec, word, team, error) : add(spec, word, team, error));
    }
    return KF_OK;
}

static kf_status check_team(const char *spec, int *parts, kf_error *error) {
    members team;
    KF_TRY(read_members(spec, &team, error));
    if (parts != NULL) *parts = team.count;
    return KF_OK;
}

kf_status kf_device_check(const char *spec, int *parts, kf_error *error) {
    if (parts != NULL) *parts = 1;
    if (spec == NULL) return KF_OK;
    return is_team(spec) ? check_team(spec, parts, error) : kf_device_check_one(spec, error);
}

/* Returns the bytes of one device. The memory of the host counts once for all cpus of a team. */
static double memory_of(const char *spec) {
    kf_device_info info;
    kf_error ignored;
    const char *colon = strchr(spec, ':');
    const bool cpu = strncmp(spec, "cpu", 3) == 0;
    const kf_status status =
        cpu ? kf_cpu_device_describe(&info, &ignored)
            : kf_cuda_device_describe(colon != NULL ? atoi(colon + 1) : 0, &info, &ignored);
    return status == KF_OK ? (double)info.memory_bytes : 0.0;
}

/* Returns the memory of the best device of this host. When its GPU does not work, this is the cpu. */
static double memory_of_best(int of_each_host) {
    char why[256];
    return fmax(memory_of("cpu"),
                kf_cuda_device_count(why, sizeof why) > 0 ? of_each_host * memory_of("cuda") : 0.0);
}

/* Returns the memory of a device or team. A team with a member of unknown memory has 0. */
double kf_device_memory(const char *spec) {
    kf_error ignored;
    members team;
    int processes, hosts;
    kf_world_wanted(&processes, &hosts);
    /* GPUs without a number are chosen by take_share. */
    const int of_each_host = (processes + hosts - 1) / hosts;
    if (spec == NULL) return hosts * memory_of_best(of_each_host);
    if (read_members(spec, &team, &ignored) != KF_OK) return 0.0;
    if (strncmp(team.specs[0], "cpu", 3) == 0) return hosts * memory_of(team.specs[0]);
    if (strcmp(spec, "cuda") == 0) return hosts * of_each_host * memory_of(spec);
    double bytes = 0.0;
    for (int n = 0; n < team.count; n++) {
        const double more = memory_of(team.specs[n]);
        if (more == 0.0) return 0.0;
        bytes += more;
    }
    return hosts * bytes;
}

kf_status kf_device_member(const char *spec, int n, char member[32], kf_error *error) {
    members team;
    KF_TRY(read_members(spec, &team, error));
    if (n < 0 || n >= team.count)
        return kf_fail(error, KF_BAD_INPUT, "devices \"%s\": device number %d does not exist", spec, n);
    kf_copy_text(member, SPEC, team.specs[n]);
    return KF_OK;
}

/* Returns the threads of a cpu whose spec has no number of threads. */
static int share_of_threads(const members *team) {
    kf_device_info cpu;
    if (strncmp(team->specs[0], "cpu", 3) != 0 || kf_cpu_device_describe(&cpu, NULL) != KF_OK) return 0;
    return cpu.multiprocessors > team->count ? cpu.multiprocessors / team->count : 1;
}

int kf_device_count_of(const char *name) {
    int parts = 0, end = 0;
    return sscanf(name, "%d x %n", &parts, &end) == 1 && end > 0 && parts > 1 ? parts : 1;
}

/* Describes the first of a team as all its devices together: its name, their number and their memory. */
static void describe(const char *spec, int parts, kf_backend *first) {
    kf_device_info *info = &first->device;
    char name[sizeof info->name];
    kf_copy_text(name, sizeof name, info->name);
    (void)snprintf(info->name, sizeof info->name, "%d x %.*s", parts, (int)sizeof info->name - 16, name);
    kf_copy_text(info->spec, sizeof info->spec, spec);
    info->parts = parts;
    if (strcmp(info->backend, "cuda") != 0) return;
    info->memory_bytes *= (uint64_t)parts;
    info->memory_free_bytes *= (uint64_t)parts;
}

static kf_status check_equal(const char *spec, const kf_backend *first, const kf_backend *other,
                             kf_error *error) {
    if (strcmp(first->device.name, other->device.name) == 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "devices \"%s\": %s is a %s and %s a %s; the devices of a team must be equal", spec,
                   first->device.spec, first->device.name, other->device.spec, other->device.name);
}

static kf_status open_members(const char *spec, const members *team, int threads, kf_backend **backend,
                              kf_error *error) {
    kf_backend *first = NULL;
    KF_TRY(kf_device_open_one(team->specs[0], threads, &teams, &first, error));
    if (team->count == 1) {
        *backend = first;
        return KF_OK;
    }
    first->team = kf_allocate((size_t)team->count * sizeof *first->team);
    first->team[0] = first;
    kf_status status = KF_OK;
    for (int part = 1; part < team->count && status == KF_OK; part++) {
        status = kf_device_open_one(team->specs[part], threads, &teams, &first->team[part], error);
        if (status != KF_OK) break;
        first->parts++;
        status = check_equal(spec, first, first->team[part], error);
    }
    if (status != KF_OK) {
        /* Closing the team frees what it has in addition to its first device. */
        if (first->parts == 1) {
            free(first->team);
            first->team = &first->own;
        }
        kf_backend_close(first);
        return status;
    }
    *backend = first;
    return KF_OK;
}

static kf_status open_team(const char *spec, kf_backend **backend, kf_error *error) {
    members team;
    *backend = NULL;
    KF_TRY(read_members(spec, &team, error));
    KF_TRY(open_members(spec, &team, share_of_threads(&team), backend, error));
    if (team.count > 1) describe(spec, team.count, *backend);
    return KF_OK;
}

/* --- The share of a process ------------------------------------------------------------------------------
 */

/* Takes this process's share of a host's devices: one for each process, or as many for each. One cpu, or
 * GPUs without a number, are for all. */
static kf_status take_share(const char *spec, members *team, kf_error *error) {
    const int processes = kf_world_local_size(), rank = kf_world_local_rank();
    if (team->count == 1 && strcmp(team->specs[0], "cuda") == 0)
        (void)snprintf(team->specs[0], SPEC, "cuda:%d", rank);
    if (team->count == 1) return KF_OK;
    if (team->count % processes != 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "devices \"%s\": %d devices cannot be divided among the %d processes of this host: "
                       "start one process for each device, or one for all",
                       spec, team->count, processes);
    team->count /= processes;
    memmove(team->specs, team->specs + (size_t)rank * (size_t)team->count, (size_t)team->count * SPEC);
    return KF_OK;
}

/* Returns the processors of this process. mpirun may have bound it to some; otherwise all processes of the
 * host share them. */
static int share_of_host(const members *team) {
    kf_device_info cpu;
    if (strncmp(team->specs[0], "cpu", 3) != 0 || kf_cpu_device_describe(&cpu, NULL) != KF_OK) return 0;
    const bool bound = cpu.multiprocessors < (int)sysconf(_SC_NPROCESSORS_ONLN);
    const int users = team->count * (bound ? 1 : kf_world_local_size());
    return cpu.multiprocessors > users ? cpu.multiprocessors / users : 1;
}

static void find_reach(kf_backend *first, const int64_t parts_of[]) {
    kf_error why = {KF_OK, ""};
    if (kf_find_reach(first, parts_of, &why) != KF_OK)
        kf_warn("processes of a host exchange planes through its memory: %s", why.message);
}

/* Finds where this process's parts stand among those of all processes. */
static kf_status number_parts(const char *spec, kf_backend *first, kf_error *error) {
    const int size = kf_world_size(), rank = kf_world_rank();
    int64_t *counts = kf_allocate_zeroed((size_t)size, sizeof *counts);
    counts[rank] =
        first->parts; /* NOLINT(clang-analyzer-core.NullDereference): all processes have opened theirs */
    const kf_status status = kf_world_sum(counts, size, error);
    first->firsts = kf_allocate(((size_t)size + 1) * sizeof *first->firsts);
    int all = 0;
    for (int r = 0; r < size; r++) {
        first->firsts[r] = all;
        all += (int)counts[r];
    }
    first->firsts[size] = all;
    first->first_part = first->firsts[rank];
    for (int part = 0; part < first->parts; part++)
        first->team[part]->look = kf_world_look;
    if (status == KF_OK && all <= KF_MOST_PARTS) find_reach(first, counts);
    free(counts);
    KF_TRY(status);
    if (all > KF_MOST_PARTS)
        return kf_fail(error, KF_BAD_INPUT, "%d devices of all processes are more than %d", all,
                       KF_MOST_PARTS);
    describe(spec, all, first);
    return KF_OK;
}

static kf_status open_share(const char *spec, kf_backend **backend, kf_error *error) {
    members team;
    KF_TRY(read_members(spec, &team, error));
    KF_TRY(take_share(spec, &team, error));
    return open_members(spec, &team, share_of_host(&team), backend, error);
}

static kf_status open_in_world(const char *spec, kf_backend **backend, kf_error *error) {
    const char *devices = spec != NULL ? spec : kf_cuda_device_count(NULL, 0) > 0 ? "cuda" : "cpu";
    *backend = NULL;
    kf_status status = kf_world_agree(open_share(devices, backend, error), error);
    if (status == KF_OK) status = kf_world_check_same("the device", kf_backend_device(*backend)->name, error);
    if (status == KF_OK) status = kf_world_agree(number_parts(devices, *backend, error), error);
    if (status == KF_OK) return KF_OK;
    if (*backend != NULL) kf_shared_forget(*backend);
    kf_backend_close(*backend);
    *backend = NULL;
    return status;
}

static void come_apart(kf_backend *first) {
    kf_nccl_close(first);
    kf_shared_forget(first);
}

static kf_status open_any(const char *spec, kf_backend **backend, kf_error *error) {
    if (kf_world_size() > 1) return open_in_world(spec, backend, error);
    if (spec == NULL) return kf_device_open_best(&teams, backend, error);
    if (is_team(spec)) return open_team(spec, backend, error);
    return kf_device_open_one(spec, 0, &teams, backend, error);
}

kf_status kf_backend_open(const char *spec, kf_backend **backend, kf_error *error) {
    KF_TRY(open_any(spec, backend, error));
    (*backend)->part = come_apart; /* NOLINT(clang-analyzer-core.NullDereference): it is open */
    return KF_OK;
}

/* --- The first of a team ------------------------------------------------------------------------------ */

int kf_backend_first_part(const kf_backend *backend) {
    return backend->first_part;
}

const int *kf_backend_first_parts(const kf_backend *backend) {
    return backend->firsts;
}

void kf_backend_near(const kf_backend *backend, int *first, int *count) {
    const bool others = backend->near_counts != NULL;
    *first = others ? backend->near_first : backend->first_part;
    *count = others ? backend->near_parts : backend->parts;
}

kf_backend *const *kf_backend_team(const kf_backend *backend, int *count) {
    *count = backend->parts;
    return backend->team;
}

/* --- Memory --------------------------------------------------------------------------------------------- */

kf_status kf_buffer_spread(kf_backend *backend, size_t bytes, size_t period, const size_t *ends,
                           kf_buffer **buffer, kf_error *error) {
    if (backend->parts == 1) return kf_buffer_create(backend, bytes, buffer, error);
    *buffer = NULL;
    KF_TRY(kf_buffer_check_size(bytes, error));
    for (int part = 0; part < backend->parts; part++)
        if (ends[part] > period || (part > 0 && ends[part] < ends[part - 1]))
            return kf_fail(error, KF_BAD_INPUT,
                           "the shares of a buffer must be ascending parts of its period");
    KF_TRY(backend->team_methods->buffer_spread(backend->team, backend->parts, bytes, period, ends, buffer,
                                                error));
    return kf_buffer_write_guard(buffer, error);
}

kf_status kf_buffer_share(kf_backend *backend, size_t bytes, size_t period, const size_t *ends,
                          kf_buffer **buffer, kf_error *error) {
    *buffer = NULL;
    KF_TRY(kf_buffer_check_size(bytes, error));
    KF_TRY(backend->team_methods->buffer_share(backend, bytes, period, ends, buffer, error));
    return kf_buffer_write_guard(buffer, error);
}
