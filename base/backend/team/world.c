#include "base/backend/team/world.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/backend/cache.h"
#include "base/backend/cpu/cpu.h"
#include "base/backend/team/world_internal.h"
#include "base/util/clock.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "base/util/watchdog.h"

/* NULL for a single process. */
static kf_world *world;
/* A world exists, or existed. */
static bool began;

/* --- The shim ------------------------------------------------------------------------------------------ */

static const char shim_extension[] = "so", shim_flags[] = "-O2 -fPIC -shared -w";

static const char *mpicc(void) {
    const char *named = getenv("KFTUNE_MPICC");
    return named != NULL && named[0] != '\0' ? named : "mpicc";
}

static kf_status no_mpi(const char *why, kf_error *error) {
    return kf_fail(
        error, KF_HOST,
        "this is one of several processes (mpirun, srun), and there is no MPI to speak with the others: %s; "
        "install openmpi-bin and libopenmpi-dev (or mpich and libmpich-dev), or name its compiler in "
        "KFTUNE_MPICC, or what it made of kernels/mpi/shim.c in KFTUNE_MPI_SHIM",
        why);
}

static kf_status run(const char *const *words, char **output, kf_error *error) {
    kf_program_result result;
    char why[256];
    if (kf_program_run(words, &result, NULL) != KF_OK) {
        (void)snprintf(why, sizeof why, "%s cannot be started", words[0]);
        return no_mpi(why, error);
    }
    *output = result.output;
    if (result.exit_status == 0) return KF_OK;
    result.output[strcspn(result.output, "\n")] = '\0';
    (void)snprintf(why, sizeof why, "%s: %.200s", words[0], result.output);
    free(result.output);
    *output = NULL;
    return no_mpi(why, error);
}

static kf_status build_shim(const kf_source *source, const char *key, kf_error *error) {
    char path[KF_PATH], temporary[KF_PATH], *data = NULL, *output = NULL;
    size_t size = 0;
    KF_TRY(kf_source_path(source, path, error));
    KF_TRY(kf_cache_temporary(temporary, shim_extension, error));
    const char *const words[] = {mpicc(), "-O2", "-fPIC", "-shared", "-w", "-o", temporary, path, NULL};
    kf_status status = run(words, &output, error);
    free(output);
    if (status == KF_OK) status = kf_file_read(temporary, 0, &data, &size, error);
    if (status == KF_OK) status = kf_cache_put(key, shim_extension, data, size, error);
    free(data);
    unlink(temporary);
    return status;
}

/* Finds the shim for this MPI: the one that is named, or one from the cache. Otherwise one process of each
 * host builds it. */
static kf_status provide_shim(char path[KF_PATH], kf_error *error) {
    const char *named = getenv("KFTUNE_MPI_SHIM");
    if (named != NULL && named[0] != '\0') {
        kf_copy_text(path, KF_PATH, named);
        return KF_OK;
    }
    const kf_source source = {.file = "kernels/mpi/shim.c"};
    const char *const show[] = {mpicc(), "-show", NULL};
    char *line = NULL, key[KF_HASH_HEX];
    KF_TRY(run(show, &line, error));
    kf_status status = kf_cache_key(&source, line, shim_flags, "mpi", key, error);
    free(line);
    KF_TRY(status);
    if (kf_cache_find(key, shim_extension, path)) return KF_OK;
    const int claim = kf_cache_claim(key);
    if (!kf_cache_find(key, shim_extension, path)) status = build_shim(&source, key, error);
    kf_cache_release(claim);
    KF_TRY(status);
    return kf_cache_find(key, shim_extension, path) ? KF_OK
                                                    : no_mpi("the shim has gone from the cache", error);
}

/* Builds and loads the shim of the installed MPI, and finds its functions. */
static kf_status load_shim(kf_mpi *mpi, kf_error *error) {
    char path[KF_PATH];
    KF_TRY(provide_shim(path, error));
    /* Open MPI's plug-ins search for its symbols, so they must be global. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        const char *why = dlerror();
        return no_mpi(why != NULL ? why : "the shim cannot be loaded", error);
    }
    const struct {
        const char *name;
        void *to;
    } functions[] = {
        {"kf_mpi_begin", &mpi->begin}, {"kf_mpi_end", &mpi->end},
        {"kf_mpi_send", &mpi->send},   {"kf_mpi_receive", &mpi->receive},
        {"kf_mpi_sum", &mpi->sum},     {"kf_mpi_share", &mpi->share},
        {"kf_mpi_test", &mpi->test},   {"kf_mpi_cancel", &mpi->cancel},
        {"kf_mpi_probe", &mpi->probe}, {"kf_mpi_takes_device_memory", &mpi->takes_device_memory},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *symbol = dlsym(library, functions[i].name);
        if (symbol == NULL) return no_mpi("the shim is not whole", error);
        memcpy(functions[i].to, &symbol,
               sizeof symbol); /* ISO C has no cast from object to function pointers */
    }
    return KF_OK;
}

/* --- The world ----------------------------------------------------------------------------------------- */

static int count_in(const char *variable) {
    const char *text = getenv(variable);
    return text != NULL ? atoi(text) : 0;
}

bool kf_world_is_wanted(void) {
    const bool slurm = getenv("PMIX_RANK") != NULL || getenv("PMI_RANK") != NULL;
    return count_in("OMPI_COMM_WORLD_SIZE") > 1 || count_in("PMI_SIZE") > 1 ||
           (slurm && count_in("SLURM_NTASKS") > 1);
}

void kf_world_wanted(int *processes, int *hosts) {
    const int open_mpi = count_in("OMPI_COMM_WORLD_SIZE"), mpich = count_in("PMI_SIZE"),
              slurm = count_in("SLURM_NTASKS");
    *processes = *hosts = 1;
    if (!kf_world_is_wanted()) return;
    *processes = open_mpi > 1 ? open_mpi : mpich > 1 ? mpich : slurm;
    const int here = count_in(open_mpi > 1 ? "OMPI_COMM_WORLD_LOCAL_SIZE" : "MPI_LOCALNRANKS"),
              nodes = count_in("SLURM_STEP_NUM_NODES");
    *hosts = here > 0 ? (*processes + here - 1) / here : nodes > 0 ? nodes : *processes;
}

bool kf_world_speaks_alone(kf_error *error) {
    const struct timespec pause = {.tv_sec = 2};
    const int pmi = count_in("PMI_RANK"), pmix = count_in("PMIX_RANK"), rank = pmi > pmix ? pmi : pmix;
    char host[KF_HOST_NAME] = "this host";
    if (began || !kf_world_is_wanted() || rank == 0) return true;
    (void)gethostname(host, sizeof host - 1);
    (void)kf_fail_context(error, "rank %d on %s", rank, host);
    return nanosleep(&pause, NULL) == 0;
}

kf_world *kf_world_here(void) {
    return world;
}

int kf_world_rank(void) {
    return world != NULL ? world->rank : 0;
}

int kf_world_size(void) {
    return world != NULL ? world->size : 1;
}

const kf_member *kf_world_member(int rank) {
    return &world->members[rank];
}

static bool is_here(int rank) {
    return strcmp(world->members[rank].host, world->members[world->rank].host) == 0;
}

void kf_world_near(int *first, int *count) {
    *first = kf_world_rank();
    *count = 1;
    if (world == NULL) return;
    while (*first > 0 && is_here(*first - 1))
        --*first;
    while (*first + *count < world->size && is_here(*first + *count))
        ++*count;
}

bool kf_world_takes_device_memory(void) {
    return world != NULL && world->mpi.takes_device_memory() != 0;
}

int kf_world_local_rank(void) {
    return world != NULL ? world->local_rank : 0;
}

int kf_world_local_size(void) {
    return world != NULL ? world->local_size : 1;
}

/* Exchanges which process is on which host. */
static kf_status introduce(kf_error *error) {
    world->members = kf_allocate_zeroed((size_t)world->size, sizeof *world->members);
    size_t *ends = kf_allocate((size_t)world->size * sizeof *ends);
    kf_member *self = &world->members[world->rank];
    (void)gethostname(self->host, sizeof self->host - 1);
    struct stat space = {0};
    (void)stat("/proc/self/ns/pid", &space);
    self->process = getpid();
    self->space = (int64_t)space.st_ino;
    if (getrandom(self->name, sizeof self->name, 0) != sizeof self->name ||
        getrandom(self->secret, sizeof self->secret, 0) != sizeof self->secret) {
        free(ends);
        return kf_fail(error, KF_HOST, "the system provides no random numbers: %s", strerror(errno));
    }
    for (int rank = 0; rank < world->size; rank++)
        ends[rank] = (size_t)(rank + 1) * sizeof *self;
    const kf_status status = kf_world_gather(world->members, ends, error);
    free(ends);
    world->local_rank = world->local_size = 0;
    for (int rank = 0; rank < world->size; rank++) {
        if (strcmp(world->members[rank].host, self->host) != 0) continue;
        if (rank < world->rank) world->local_rank++;
        world->local_size++;
    }
    return status;
}

/* Tells the others about the lack of memory before this process ends. */
static void say_out_of_memory(size_t bytes) {
    char text[96];
    (void)snprintf(text, sizeof text, "out of memory: %zu bytes cannot be allocated", bytes);
    if (world != NULL) (void)kf_watch_stop(KF_MACHINE, text);
}

/* Seconds in which all processes come together, which takes large clusters a minute. */
static const double join_seconds = 180;

static void end_joining(void *context, double seconds) {
    char why[256];
    (void)context;
    (void)snprintf(why, sizeof why,
                   "the processes that mpirun or srun has started do not come together within %.0f s: one of "
                   "them hangs, is stopped, or does not begin MPI",
                   seconds);
    kf_world_end(why);
}

/* Begins MPI, the exchange of news, and learns who the others are. */
static kf_status join(kf_mpi mpi, kf_error *error) {
    world = kf_allocate_zeroed(1, sizeof *world);
    world->mpi = mpi;
    if (mpi.begin(&world->rank, &world->size, &world->threads) != 0) {
        free(world);
        world = NULL;
        return no_mpi("MPI_Init failed", error);
    }
    began = true;
    KF_TRY(kf_news_begin(world, error));
    return introduce(error);
}

/* Begins the world of processes and its watch. Until that runs, a clock alone notices who does not come. */
kf_status kf_world_open(kf_error *error) {
    kf_mpi mpi;
    kf_watchdog *watchdog;
    KF_TRY(load_shim(&mpi, error));
    KF_TRY(kf_watchdog_open(end_joining, NULL, NULL, &watchdog, error));
    kf_watchdog_begin(watchdog, join_seconds);
    const kf_status status = join(mpi, error);
    kf_watchdog_end(watchdog);
    kf_watchdog_close(watchdog);
    KF_TRY(status);
    kf_on_out_of_memory(say_out_of_memory);
    return kf_watch_start(world, error);
}

/* Ends the world. Clears the message of a failure that another process has reported already. */
void kf_world_close(kf_status status, kf_error *error) {
    if (world == NULL) return;
    if (status == KF_OK) {
        int64_t here = 1;
        /* All processes have reached this point, so from now on the end of one is not a failure. */
        (void)kf_world_sum(&here, 1, NULL);
        (void)kf_watch_stop(KF_OK, NULL);
        kf_news_end(world);
        (void)world->mpi.end();
    } else if (kf_watch_stop(status, error->message)) {
        error->message[0] = '\0';
    }
    free(world->members);
    free(world);
    world = NULL;
}
