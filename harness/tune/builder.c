#include "harness/tune/builder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/cli/command.h"
#include "harness/measure/child.h"
#include "harness/measure/clock.h"
#include "harness/measure/message.h"
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
} build_task;

/* A process that compiles one source after the other, because starting the compiler can take longer than
 * compiling. */
typedef struct build_worker {
    pid_t process;
    int socket;
    kf_inbox inbox;
    bool ready;  /* its compiler has started */
    size_t task; /* it is busy with; NO_TASK */
    double ends; /* when that takes too long */
} build_worker;
static const size_t NO_TASK = SIZE_MAX;

struct kf_builder {
    const kf_bench *bench;
    const kf_device_info *device;
    build_worker *workers; /* [worker_count] of them have been started */
    int worker_count, most_workers;
    bool fails; /* no process was to be had, or one died at once: workers compile what they need themselves */
    build_task *tasks; /* in order of queueing; done ones stay, so that nothing is built twice */
    size_t count, capacity;
    size_t first_open;   /* all before are done */
    size_t first_queued; /* all before are done or running */
};

kf_builder *kf_builder_open(const kf_bench *bench, const kf_device_info *device, int processes) {
    kf_builder *builder = kf_allocate_zeroed(1, sizeof *builder);
    builder->bench = bench;
    builder->device = device;
    builder->most_workers = processes > 1 ? processes : 1;
    builder->workers = kf_allocate_zeroed((size_t)builder->most_workers, sizeof *builder->workers);
    return builder;
}

static void end_worker(build_worker *worker) {
    if (worker->process <= 0) return;
    (void)close(worker->socket);
    kf_child_end(worker->process, 0.0, NULL);
    kf_inbox_free(&worker->inbox);
    worker->process = 0;
}

void kf_builder_close(kf_builder *builder) {
    if (builder == NULL) return;
    for (int w = 0; w < builder->worker_count; w++)
        end_worker(&builder->workers[w]);
    for (size_t i = 0; i < builder->count; i++) {
        build_task *task = &builder->tasks[i];
        for (int d = 0; d < task->define_count; d++)
            free((char *)task->defines[d].name);
        free(task->defines);
        free(task->file);
    }
    free(builder->tasks);
    free(builder->workers);
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

/* --- in the process that compiles ----------------------------------------------------------------------- */

static cJSON *message_of(size_t task, bool ready) {
    cJSON *message = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(message, "task", (double)task);
    (void)cJSON_AddBoolToObject(message, "ready", ready);
    return message;
}

/* What was queued after the process began came over the socket. */
static cJSON *task_to_json(const build_task *task, size_t number) {
    cJSON *message = message_of(number, false), *defines = cJSON_AddArrayToObject(message, "defines");
    (void)cJSON_AddStringToObject(message, "file", task->file);
    for (int d = 0; d < task->define_count; d++) {
        (void)cJSON_AddItemToArray(defines, cJSON_CreateString(task->defines[d].name));
        (void)cJSON_AddItemToArray(defines, cJSON_CreateString(task->defines[d].value));
    }
    return message;
}

static void compile(const kf_device_info *device, const cJSON *message) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(message, "defines");
    const int count = cJSON_GetArraySize(list) / 2;
    kf_define *defines = kf_allocate_zeroed((size_t)count + 1, sizeof *defines);
    const cJSON *item = list->child;
    for (int d = 0; d < count; d++, item = item->next->next) {
        defines[d].name = item->valuestring;
        kf_copy_text(defines[d].value, sizeof defines[d].value, item->next->valuestring);
    }
    const kf_source source = {cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(message, "file")),
                              defines, count};
    kf_build build;
    kf_error error;
    (void)kf_source_prebuild(device, &source, &build, &error);
    free(defines);
}

static void serve(const kf_device_info *device, int socket) {
    kf_inbox inbox = {0};
    cJSON *message = NULL;
    kf_compiler_stay(device);
    bool connected = kf_message_send(socket, message_of(0, true));
    while (connected && kf_message_receive(socket, &inbox, -1, &message) != KF_RECEIPT_END) {
        if (message == NULL) continue; /* a signal */
        compile(device, message);
        connected = kf_message_send(socket, message_of((size_t)cJSON_GetNumberValue(
                                                           cJSON_GetObjectItemCaseSensitive(message, "task")),
                                                       false));
        cJSON_Delete(message);
        message = NULL;
    }
    kf_inbox_free(&inbox);
}

/* --- in the driver -------------------------------------------------------------------------------------- */

static void start_worker(kf_builder *builder, build_worker *worker) {
    *worker = (build_worker){.task = NO_TASK, .ends = kf_clock_seconds() + LONGEST_BUILD_SECONDS};
    worker->process = kf_child_fork_connected(&worker->socket, NULL);
    if (worker->process == 0) {
        (void)nice(5); /* the device's own host thread comes first */
        serve(builder->device, worker->socket);
        _exit(0);
    }
    builder->fails = worker->process < 0;
}

/* One more where all are busy and none is just starting: they would wait for each other in the driver. */
static void add_worker(kf_builder *builder) {
    build_worker *free_place = NULL;
    for (int w = 0; w < builder->worker_count; w++) {
        build_worker *worker = &builder->workers[w];
        if (worker->process <= 0)
            free_place = worker;
        else if (!worker->ready || worker->task == NO_TASK)
            return;
    }
    if (free_place == NULL && builder->worker_count == builder->most_workers) return;
    if (free_place == NULL) free_place = &builder->workers[builder->worker_count++];
    start_worker(builder, free_place);
}

static void finish(kf_builder *builder, build_worker *worker) {
    if (worker->task != NO_TASK) builder->tasks[worker->task].state = TASK_DONE;
    worker->task = NO_TASK;
}

/* A source that crashes the compiler, or takes too long, costs its process; its config's evaluation will say
 * why. */
static void look_after(kf_builder *builder, build_worker *worker) {
    cJSON *message = NULL;
    if (worker->process <= 0) return;
    const kf_receipt receipt = kf_message_receive(worker->socket, &worker->inbox, 0, &message);
    if (receipt == KF_RECEIVED) {
        cJSON_Delete(message);
        worker->ready = true;
        finish(builder, worker);
        return;
    }
    const bool busy = !worker->ready || worker->task != NO_TASK;
    if (receipt != KF_RECEIPT_END && !(busy && kf_clock_seconds() > worker->ends)) return;
    builder->fails = !worker->ready;
    finish(builder, worker);
    end_worker(worker);
}

static void give_task(kf_builder *builder, build_worker *worker) {
    if (worker->process <= 0 || !worker->ready || worker->task != NO_TASK) return;
    while (builder->first_queued < builder->count &&
           builder->tasks[builder->first_queued].state != TASK_QUEUED)
        builder->first_queued++;
    if (builder->first_queued == builder->count) return;
    build_task *task = &builder->tasks[builder->first_queued];
    if (!kf_message_send(worker->socket, task_to_json(task, builder->first_queued))) return;
    task->state = TASK_RUNNING;
    worker->task = builder->first_queued;
    worker->ends = kf_clock_seconds() + LONGEST_BUILD_SECONDS;
}

static bool has_queued(const kf_builder *builder) {
    for (size_t i = builder->first_queued; i < builder->count; i++)
        if (builder->tasks[i].state == TASK_QUEUED) return true;
    return false;
}

void kf_builder_poll(kf_builder *builder) {
    for (int w = 0; w < builder->worker_count; w++) {
        look_after(builder, &builder->workers[w]);
        give_task(builder, &builder->workers[w]);
    }
    if (has_queued(builder) && !builder->fails) add_worker(builder);
    for (size_t i = builder->first_open; builder->fails && i < builder->count; i++)
        if (builder->tasks[i].state == TASK_QUEUED) builder->tasks[i].state = TASK_DONE;
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
