#include "harness/worker/builder.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/util/clock.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/text.h"
#include "harness/worker/child.h"
#include "harness/worker/message.h"

/* A compiler that takes longer counts as hanging. */
static const double LONGEST_BUILD_SECONDS = 300.0;

typedef enum task_state { TASK_QUEUED, TASK_RUNNING, TASK_DONE } task_state;

/* A source as a text (kf_source_text), because the system's own source exists only during the visit. */
typedef struct build_task {
    char *source;
    task_state state;
    bool dropped; /* it was not built; if it is queued again, it becomes a new task */
} build_task;

/* The tasks that a config needs. */
typedef struct build_order {
    size_t *tasks;
    size_t count;
} build_order;

/* A process that compiles one source after another, because starting the compiler can take longer than
 * compiling. */
typedef struct build_worker {
    bool alive;
    pid_t process; /* 0: it is a child of the host, not of this process */
    int socket;
    kf_inbox inbox;
    bool ready;  /* its compiler has started */
    size_t task; /* its current task; NO_TASK: none */
    double ends; /* time limit of the current task */
} build_worker;
static const size_t NO_TASK = SIZE_MAX;

struct kf_source_builder {
    const kf_setting *setting;
    const kf_device_info *device;
    pid_t host;            /* the process in which the compiler was started for all others; 0: none */
    build_worker *workers; /* [worker_count] of them have been started */
    int worker_count, most_workers;
    bool fails;        /* processes cannot be started, or die at once; workers then compile for themselves */
    build_task *tasks; /* in order of queueing; finished ones stay, so that nothing is built twice */
    size_t count, capacity;
    size_t first_queued; /* all tasks before it are finished or running */
    build_order *orders; /* ticket n belongs to orders[n - 1] */
    size_t order_count, order_capacity;
    kf_builder_figures figures;
};

static void end_worker(build_worker *worker) {
    if (!worker->alive) return;
    (void)close(
        worker->socket); /* a child of the host then ends by itself, at the latest together with the host */
    if (worker->process > 0) kf_child_end(worker->process, 0.0, NULL);
    kf_inbox_free(&worker->inbox);
    worker->alive = false;
}

void kf_builder_close(kf_source_builder *builder) {
    if (builder == NULL) return;
    if (builder->host > 0) kf_child_end(builder->host, 0.0, NULL);
    for (int w = 0; w < builder->worker_count; w++)
        end_worker(&builder->workers[w]);
    for (size_t i = 0; i < builder->count; i++)
        free(builder->tasks[i].source);
    for (size_t i = 0; i < builder->order_count; i++)
        free(builder->orders[i].tasks);
    free(builder->orders);
    free(builder->tasks);
    free(builder->workers);
    free(builder);
}

/* --- Queueing ------------------------------------------------------------------------------------------ */

void kf_builder_drop_queue(kf_source_builder *builder) {
    for (size_t i = builder->first_queued; i < builder->count; i++) {
        if (builder->tasks[i].state != TASK_QUEUED) continue;
        builder->tasks[i].state = TASK_DONE;
        builder->tasks[i].dropped = true;
    }
    builder->first_queued = builder->count;
}

/* Finds the task of this source, which is new if the source was not queued before. */
static size_t task_of(kf_source_builder *builder, const kf_source *source) {
    char *text = kf_source_text(source);
    for (size_t i = 0; i < builder->count; i++) {
        if (builder->tasks[i].dropped || strcmp(builder->tasks[i].source, text) != 0) continue;
        free(text);
        return i;
    }
    if (builder->count == builder->capacity) {
        builder->capacity = builder->capacity > 0 ? 2 * builder->capacity : 64;
        builder->tasks = kf_reallocate(builder->tasks, builder->capacity * sizeof *builder->tasks);
    }
    builder->tasks[builder->count++] = (build_task){.source = text, .state = TASK_QUEUED};
    return builder->count - 1;
}

/* Adds a source to the newest order. */
static kf_status queue_source(const kf_source *source, void *context, kf_error *error) {
    (void)error;
    kf_source_builder *builder = context;
    build_order *order = &builder->orders[builder->order_count - 1];
    const size_t task = task_of(builder, source);
    order->tasks = kf_reallocate(order->tasks, (order->count + 1) * sizeof *order->tasks);
    order->tasks[order->count++] = task;
    return KF_OK;
}

size_t kf_builder_add_problems(kf_source_builder *builder, const kf_problem *trial, const kf_problem *problem,
                               const kf_config *config) {
    const kf_system *system = problem->system;
    if (builder->order_count == builder->order_capacity) {
        builder->order_capacity = builder->order_capacity > 0 ? 2 * builder->order_capacity : 64;
        builder->orders = kf_reallocate(builder->orders, builder->order_capacity * sizeof *builder->orders);
    }
    builder->orders[builder->order_count++] = (build_order){.count = 0};
    (void)system->sources(trial, config, builder->device, queue_source, builder, NULL);
    (void)system->sources(problem, config, builder->device, queue_source, builder, NULL);
    return builder->order_count;
}

size_t kf_builder_add(kf_source_builder *builder, const kf_config *config) {
    return kf_builder_add_problems(builder, builder->setting->trial->problem, builder->setting->problem,
                                   config);
}

/* --- In the process that compiles ----------------------------------------------------------------------- */

static cJSON *message_of(size_t task) {
    cJSON *message = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(message, "task", (double)task);
    return message;
}

/* Makes the message for a task that was queued after the process began. */
static cJSON *task_to_json(const build_task *task, size_t number) {
    cJSON *message = message_of(number);
    (void)cJSON_AddStringToObject(message, "source", task->source);
    return message;
}

/* Compiles, and returns the compiler's seconds. */
static double compile(const kf_device_info *device, const cJSON *message) {
    kf_source *source =
        kf_source_from_text(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(message, "source")));
    kf_build build = {.seconds = 0.0};
    kf_error error;
    (void)kf_source_prebuild(device, source, &build, &error);
    kf_source_free(source);
    return build.seconds;
}

/* Does tasks. The first answer, which belongs to no task, says that the compiler has started. Every task then
 * gets one answer. */
static void serve(const kf_device_info *device, int socket) {
    kf_inbox inbox = {0};
    cJSON *message = NULL;
    (void)nice(5); /* the thread that launches kernels has priority */
    kf_compiler_stay(device);
    bool connected = kf_message_send(socket, message_of(0));
    while (connected && kf_message_receive(socket, &inbox, -1, &message) != KF_RECEIPT_END) {
        if (message == NULL) continue; /* a signal */
        cJSON *answer =
            message_of((size_t)cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(message, "task")));
        (void)cJSON_AddNumberToObject(answer, "seconds", compile(device, message));
        connected = kf_message_send(socket, answer);
        cJSON_Delete(message);
        message = NULL;
    }
    kf_inbox_free(&inbox);
}

/* Starts the compiler, and then forks as many processes, in which it is already started. */
static _Noreturn void be_host(const kf_device_info *device, const int *sockets, int count) {
    (void)signal(SIGCHLD, SIG_IGN); /* nobody waits for them */
    kf_compiler_stay(device);
    for (int i = 0; i < count; i++) {
        if (kf_child_fork(NULL) != 0) continue;
        for (int other = 0; other < count; other++)
            if (other != i) (void)close(sockets[other]);
        serve(device, sockets[i]);
        _exit(0);
    }
    for (int i = 0; i < count; i++)
        (void)close(sockets[i]);
    for (;;)
        (void)pause(); /* they end together with this process */
}

/* --- In the driver -------------------------------------------------------------------------------------- */

/* Starts the host of the compilers. Without it every process would start its own compiler, and processes that
 * start beside CUDA's driver wait for each other. When the host has started its compiler, so have its
 * processes. If it fails or takes too long, processes of start_worker replace it. */
static void start_host(kf_source_builder *builder) {
    static const double LONGEST_START_SECONDS = 20.0;
    int *sockets = kf_allocate((size_t)builder->most_workers * sizeof *sockets);
    for (int made = 0; made < builder->most_workers; made++) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) break;
        builder->workers[builder->worker_count++] =
            (build_worker){.alive = true,
                           .socket = ends[0],
                           .task = NO_TASK,
                           .ends = kf_clock_seconds() + LONGEST_START_SECONDS};
        sockets[made] = ends[1];
    }
    builder->host = kf_child_fork(NULL);
    for (int w = 0; builder->host == 0 && w < builder->worker_count; w++)
        (void)close(builder->workers[w].socket);
    if (builder->host == 0) be_host(builder->device, sockets, builder->worker_count);
    for (int w = 0; w < builder->worker_count; w++)
        (void)close(sockets[w]);
    free(sockets);
}

static void start_worker(kf_source_builder *builder, build_worker *worker) {
    *worker = (build_worker){.task = NO_TASK, .ends = kf_clock_seconds() + LONGEST_BUILD_SECONDS};
    worker->process = kf_child_fork_connected(&worker->socket, NULL);
    if (worker->process == 0) {
        serve(builder->device, worker->socket);
        _exit(0);
    }
    worker->alive = worker->process > 0;
    builder->fails = !worker->alive;
}

/* Adds a worker if all are busy and none is starting, because workers that start together wait for each other
 * in the driver. */
static void add_worker(kf_source_builder *builder) {
    build_worker *free_place = NULL;
    for (int w = 0; w < builder->worker_count; w++) {
        build_worker *worker = &builder->workers[w];
        if (!worker->alive)
            free_place = worker;
        else if (!worker->ready || worker->task == NO_TASK)
            return;
    }
    if (free_place == NULL && builder->worker_count == builder->most_workers) return;
    if (free_place == NULL) free_place = &builder->workers[builder->worker_count++];
    start_worker(builder, free_place);
}

static void finish(kf_source_builder *builder, build_worker *worker) {
    if (worker->task != NO_TASK) builder->tasks[worker->task].state = TASK_DONE;
    worker->task = NO_TASK;
}

static void take_answer(kf_source_builder *builder, build_worker *worker, const cJSON *answer) {
    const cJSON *seconds = cJSON_GetObjectItemCaseSensitive(answer, "seconds");
    kf_builder_figures *figures = &builder->figures;
    if (!worker->ready && figures->compilers++ == 0) figures->started = kf_clock_seconds();
    worker->ready = true;
    if (worker->task == NO_TASK) return;
    if (cJSON_IsNumber(seconds)) figures->compiling_seconds += seconds->valuedouble;
    figures->sources++;
    finish(builder, worker);
}

/* Checks a worker. A source that crashes the compiler, or takes too long, ends its process. The evaluation of
 * its config will give the reason. */
static void look_after(kf_source_builder *builder, build_worker *worker) {
    cJSON *message = NULL;
    if (!worker->alive) return;
    const kf_receipt receipt = kf_message_receive(worker->socket, &worker->inbox, 0, &message);
    if (receipt == KF_RECEIVED) {
        take_answer(builder, worker, message);
        cJSON_Delete(message);
        return;
    }
    const bool busy = !worker->ready || worker->task != NO_TASK;
    if (receipt != KF_RECEIPT_END && !(busy && kf_clock_seconds() > worker->ends)) return;
    /* A process that the host cannot start is not replaced. */
    builder->fails = builder->fails || (!worker->ready && worker->process > 0);
    finish(builder, worker);
    end_worker(worker);
}

static void give_task(kf_source_builder *builder, build_worker *worker) {
    if (!worker->alive || !worker->ready || worker->task != NO_TASK) return;
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

static bool has_queued(const kf_source_builder *builder) {
    for (size_t i = builder->first_queued; i < builder->count; i++)
        if (builder->tasks[i].state == TASK_QUEUED) return true;
    return false;
}

void kf_builder_poll(kf_source_builder *builder) {
    for (int w = 0; w < builder->worker_count; w++) {
        look_after(builder, &builder->workers[w]);
        give_task(builder, &builder->workers[w]);
    }
    if (has_queued(builder) && !builder->fails) add_worker(builder);
    for (size_t i = builder->first_queued; builder->fails && i < builder->count; i++)
        if (builder->tasks[i].state == TASK_QUEUED) builder->tasks[i].state = TASK_DONE;
}

bool kf_builder_ready(const kf_source_builder *builder, size_t ticket) {
    if (ticket == 0) return true;
    const build_order *order = &builder->orders[ticket - 1];
    for (size_t i = 0; i < order->count; i++)
        if (builder->tasks[order->tasks[i]].state != TASK_DONE) return false;
    return true;
}

bool kf_builder_wait(kf_source_builder *builder, size_t ticket, double deadline, void (*idle)(void *context),
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

bool kf_builder_wait_all(kf_source_builder *builder, void (*idle)(void *context), void *context) {
    for (size_t ticket = 1; ticket <= builder->order_count; ticket++)
        if (!kf_builder_wait(builder, ticket, 0.0, idle, context)) return false;
    return true;
}

const kf_builder_figures *kf_builder_tell(const kf_source_builder *builder) {
    return &builder->figures;
}

kf_source_builder *kf_builder_open(const kf_setting *setting, const kf_device_info *device, int processes) {
    kf_source_builder *builder = kf_allocate_zeroed(1, sizeof *builder);
    builder->setting = setting;
    builder->device = device;
    builder->most_workers = processes > 1 ? processes : 1;
    builder->workers = kf_allocate_zeroed((size_t)builder->most_workers, sizeof *builder->workers);
    if (kf_device_is_gpu(device)) start_host(builder);
    return builder;
}
