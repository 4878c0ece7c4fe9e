#include "harness/tune/builder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/cli/command.h"
#include "harness/measure/child.h"
#include "harness/measure/clock.h"
#include "harness/util/text.h"

/* A compiler that takes longer hangs. */
static const double LONGEST_BUILD_SECONDS = 300.0;

typedef enum task_state { TASK_QUEUED, TASK_RUNNING, TASK_DONE } task_state;

/* One source with its defines, copied: the system's own live only during the visit. */
typedef struct build_task {
    char *file;
    kf_define *defines; /* with names of our own */
    int define_count;
    char key[KF_HASH_HEX]; /* of file and defines */
    task_state state;
    pid_t process;
    double ends;
} build_task;

struct kf_builder {
    const kf_bench *bench;
    const kf_device_info *device;
    int processes;
    build_task *tasks; /* in order of queueing; done ones stay, so that nothing is built twice */
    size_t count, capacity;
    size_t first_open; /* all before are done */
    int running;
};

kf_builder *kf_builder_open(const kf_bench *bench, const kf_device_info *device, int processes) {
    kf_builder *builder = kf_allocate_zeroed(1, sizeof *builder);
    builder->bench = bench;
    builder->device = device;
    builder->processes = processes > 1 ? processes : 1;
    return builder;
}

static void finish(kf_builder *builder, build_task *task) {
    kf_child_end(task->process, 0.0, NULL);
    task->state = TASK_DONE;
    builder->running--;
}

void kf_builder_close(kf_builder *builder) {
    if (builder == NULL) return;
    for (size_t i = 0; i < builder->count; i++) {
        build_task *task = &builder->tasks[i];
        if (task->state == TASK_RUNNING) finish(builder, task);
        for (int d = 0; d < task->define_count; d++)
            free((char *)task->defines[d].name);
        free(task->defines);
        free(task->file);
    }
    free(builder->tasks);
    free(builder);
}

/* --- queueing ------------------------------------------------------------------------------------------ */

static void name_source(const kf_source *source, char key[KF_HASH_HEX]) {
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, source->file);
    for (int i = 0; i < source->define_count; i++) {
        kf_hash_add_string(&hasher, source->defines[i].name);
        kf_hash_add_string(&hasher, source->defines[i].value);
    }
    kf_hash_end(&hasher, key);
}

static kf_status queue_source(const kf_source *source, void *context, kf_error *error) {
    (void)error;
    kf_builder *builder = context;
    char key[KF_HASH_HEX];
    name_source(source, key);
    for (size_t i = 0; i < builder->count; i++)
        if (strcmp(builder->tasks[i].key, key) == 0) return KF_OK;
    if (builder->count == builder->capacity) {
        builder->capacity = builder->capacity > 0 ? 2 * builder->capacity : 64;
        builder->tasks = kf_reallocate(builder->tasks, builder->capacity * sizeof *builder->tasks);
    }
    build_task *task = &builder->tasks[builder->count++];
    memset(task, 0, sizeof *task);
    memcpy(task->key, key, sizeof key);
    task->file = kf_duplicate(source->file);
    task->define_count = source->define_count;
    task->defines = kf_allocate_zeroed((size_t)source->define_count + 1, sizeof *task->defines);
    for (int i = 0; i < source->define_count; i++) {
        task->defines[i] = source->defines[i];
        task->defines[i].name = kf_duplicate(source->defines[i].name);
    }
    return KF_OK;
}

size_t kf_builder_add_scene(kf_builder *builder, const kf_scene *scene, const kf_config *config) {
    (void)builder->bench->system->sources(scene, config, builder->device, queue_source, builder, NULL);
    return builder->count;
}

size_t kf_builder_add(kf_builder *builder, const kf_config *config) {
    (void)kf_builder_add_scene(builder, builder->bench->reduced, config);
    return kf_builder_add_scene(builder, builder->bench->scene, config);
}

size_t kf_builder_queued(const kf_builder *builder) {
    return builder->count;
}

/* --- building ------------------------------------------------------------------------------------------ */

static void start(kf_builder *builder, build_task *task) {
    pid_t process = kf_child_fork(NULL);
    if (process == 0) {
        (void)nice(5); /* the device's own host thread comes first */
        kf_source source = {task->file, task->defines, task->define_count};
        kf_build build;
        kf_error error;
        _exit(kf_source_prebuild(builder->device, &source, &build, &error) == KF_OK ? 0 : 1);
    }
    if (process < 0) { /* no process to be had: the worker will compile it itself */
        task->state = TASK_DONE;
        return;
    }
    task->process = process;
    task->state = TASK_RUNNING;
    task->ends = kf_clock_seconds() + LONGEST_BUILD_SECONDS;
    builder->running++;
}

static bool has_ended(const build_task *task) {
    siginfo_t info = {0};
    int looked = waitid(P_PID, (id_t)task->process, &info, WEXITED | WNOHANG | WNOWAIT);
    return looked != 0 || info.si_pid != 0 || kf_clock_seconds() > task->ends;
}

void kf_builder_poll(kf_builder *builder) {
    for (size_t i = builder->first_open; i < builder->count; i++) {
        build_task *task = &builder->tasks[i];
        if (task->state == TASK_RUNNING && has_ended(task)) finish(builder, task);
        if (task->state == TASK_QUEUED && builder->running < builder->processes) start(builder, task);
    }
    while (builder->first_open < builder->count && builder->tasks[builder->first_open].state == TASK_DONE)
        builder->first_open++;
}

bool kf_builder_ready(const kf_builder *builder, size_t ticket) {
    return builder->first_open >= ticket;
}

bool kf_builder_wait(kf_builder *builder, size_t ticket, double deadline, void (*idle)(void *context),
                     void *context) {
    for (;;) {
        kf_builder_poll(builder);
        if (kf_builder_ready(builder, ticket)) return true;
        if (kf_interrupted || (deadline > 0.0 && kf_clock_seconds() >= deadline)) return false;
        struct timespec moment = {.tv_nsec = 2000000};
        (void)nanosleep(&moment, NULL);
        if (idle != NULL) idle(context);
    }
}
