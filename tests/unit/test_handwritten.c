/* Tests what writing a kernel once costs on the cpu. Every probe kernel is compared with a hand-written C
 * loop, value by value and by times, and must take less than twice its time. The fastest round counts,
 * since other work on the machine only makes a round slower. Faults: a loop that is not vectorised. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/backend/backend.h"
#include "base/backend/team/team.h"
#include "base/statistics/statistics.h"
#include "base/util/memory.h"

enum { ROUNDS = 61, DIRECTIONS = 27 };
static const double round_us =
    2000; /* time of one round: long against the clock, short against disturbances */
static const double tolerance = 1e-5; /* relative; sums are taken in another order */

/* The kernels' argument structs. */
typedef struct simple_arguments {
    int extent[3];
    const float *source;
    float *target;
    float factor;
} simple_arguments;

typedef struct stream_arguments {
    int extent[3];
    int row, plane;
    int64_t stride;
    const float *source;
    float *target;
    float rate;
} stream_arguments;

typedef struct bench_probe {
    const char *name; /* of the figure */
    const char *function;
    const char *file;
    int extent[3];
    int arrays; /* of a float per node, in the source and in the target */
    int halo;   /* nodes around extent */
} bench_probe;

static const bench_probe probes[] = {
    {"copy, in cache", "copy", "kernels/probe/simple.cu", {128, 64, 4}, 1, 0},
    {"copy, in memory", "copy", "kernels/probe/simple.cu", {256, 256, 128}, 1, 0},
    {"scale and add, in cache", "scale_add", "kernels/probe/simple.cu", {128, 64, 4}, 1, 0},
    {"scale and add, in memory", "scale_add", "kernels/probe/simple.cu", {256, 256, 128}, 1, 0},
    {"D3Q27 stream and collide, in cache",
     "stream_collide",
     "tests/kernels/stream_collide.cu",
     {32, 16, 16},
     DIRECTIONS,
     1},
    {"D3Q27 stream and collide, in memory",
     "stream_collide",
     "tests/kernels/stream_collide.cu",
     {96, 96, 64},
     DIRECTIONS,
     1},
};

/* A way of computing a probe. */
typedef struct bench_contender {
    kf_module *module;
    kf_buffer *target;
    kf_launch launch;
    double samples[ROUNDS]; /* us a launch */
} bench_contender;

typedef struct bench_contest {
    kf_backend *backend;
    const bench_probe *probe;
    size_t bytes; /* of a buffer */
    int batch;    /* launches in a round */
    kf_buffer *source;
    kf_event *start, *stop;
    bench_contender kernel, loop;
} bench_contest;

/* --- Preparing ---------------------------------------------------------------------------------------- */

static void set_launch(const bench_contest *contest, bench_contender *contender, kf_function *function) {
    static const int block[3] = {256, 4, 1}; /* whole rows */
    const bench_probe *probe = contest->probe;
    const int row = probe->extent[0] + 2 * probe->halo, plane = row * (probe->extent[1] + 2 * probe->halo);
    if (probe->halo == 0) {
        simple_arguments arguments = {.source = kf_buffer_address(contest->source),
                                      .target = kf_buffer_address(contender->target),
                                      .factor = 0.25f};
        memcpy(arguments.extent, probe->extent, sizeof arguments.extent);
        kf_launch_set(&contender->launch, probe->function, function, block, &arguments, sizeof arguments);
        return;
    }
    stream_arguments arguments = {.row = row,
                                  .plane = plane,
                                  .stride = (int64_t)plane * (probe->extent[2] + 2 * probe->halo),
                                  .source = kf_buffer_address(contest->source),
                                  .target = kf_buffer_address(contender->target),
                                  .rate = 1.5f};
    memcpy(arguments.extent, probe->extent, sizeof arguments.extent);
    kf_launch_set(&contender->launch, probe->function, function, block, &arguments, sizeof arguments);
}

static kf_status prepare(bench_contest *contest, bench_contender *contender, const char *file,
                         kf_error *error) {
    const kf_source source = {.file = file};
    kf_function *function;
    KF_TRY(kf_module_load(contest->backend, &source, &contender->module, NULL, error));
    KF_TRY(kf_module_function(contender->module, contest->probe->function, &function, error));
    KF_TRY(kf_buffer_create(contest->backend, contest->bytes, &contender->target, error));
    KF_TRY(kf_buffer_fill(contender->target, 0, error));
    set_launch(contest, contender, function);
    return KF_OK;
}

/* Fills the source with positive values that differ from place to place and are near populations at rest. */
static kf_status fill_source(bench_contest *contest, kf_error *error) {
    const size_t count = contest->bytes / sizeof(float);
    float *values = kf_allocate(contest->bytes);
    for (size_t i = 0; i < count; i++)
        values[i] = (1 + 0.1f * (float)(i * 40503 % 65536) / 65536) / DIRECTIONS;
    const kf_status status = kf_buffer_upload(contest->source, 0, values, contest->bytes, error);
    free(values);
    return status;
}

static kf_status open_contest(bench_contest *contest, kf_error *error) {
    const bench_probe *probe = contest->probe;
    contest->bytes = sizeof(float) * (size_t)probe->arrays;
    for (int axis = 0; axis < 3; axis++)
        contest->bytes *= (size_t)(probe->extent[axis] + 2 * probe->halo);
    KF_TRY(kf_buffer_create(contest->backend, contest->bytes, &contest->source, error));
    KF_TRY(fill_source(contest, error));
    KF_TRY(kf_event_create(contest->backend, &contest->start, error));
    KF_TRY(kf_event_create(contest->backend, &contest->stop, error));
    KF_TRY(prepare(contest, &contest->kernel, probe->file, error));
    return prepare(contest, &contest->loop, "tests/kernels/handwritten.c", error);
}

static void close_contest(bench_contest *contest) {
    kf_buffer_free(contest->source);
    kf_buffer_free(contest->kernel.target);
    kf_buffer_free(contest->loop.target);
    kf_event_free(contest->start);
    kf_event_free(contest->stop);
    kf_module_free(contest->kernel.module);
    kf_module_free(contest->loop.module);
}

/* --- Measuring ---------------------------------------------------------------------------------------- */

static kf_status time_batch(const bench_contest *contest, const bench_contender *contender, double *us,
                            kf_error *error) {
    KF_TRY(kf_event_record(contest->start, error));
    for (int i = 0; i < contest->batch; i++)
        KF_TRY(kf_backend_launch(contest->backend, &contender->launch, error));
    KF_TRY(kf_event_record(contest->stop, error));
    KF_TRY(kf_backend_synchronize(contest->backend, error));
    KF_TRY(kf_event_elapsed_us(contest->start, contest->stop, us, error));
    *us /= contest->batch;
    return KF_OK;
}

/* One launch each, compared. */
static kf_status verify(const bench_contest *contest, kf_error *error) {
    const size_t count = contest->bytes / sizeof(float);
    float *ours = kf_allocate(contest->bytes), *theirs = kf_allocate(contest->bytes);
    kf_status status = kf_backend_launch(contest->backend, &contest->kernel.launch, error);
    if (status == KF_OK) status = kf_backend_launch(contest->backend, &contest->loop.launch, error);
    if (status == KF_OK) status = kf_buffer_download(contest->kernel.target, 0, ours, contest->bytes, error);
    if (status == KF_OK) status = kf_buffer_download(contest->loop.target, 0, theirs, contest->bytes, error);
    for (size_t i = 0; i < count && status == KF_OK; i++) {
        const double difference = fabs((double)ours[i] - (double)theirs[i]);
        if (!(difference <= tolerance * fabs((double)theirs[i])))
            status =
                kf_fail(error, KF_GATE_FAILED, "%s: value %zu is %.9g from the kernel, %.9g from the loop",
                        contest->probe->name, i, (double)ours[i], (double)theirs[i]);
    }
    free(ours);
    free(theirs);
    return status;
}

static kf_status measure(bench_contest *contest, kf_error *error) {
    double us;
    contest->batch = 1;
    for (int i = 0; i < 3; i++)
        KF_TRY(time_batch(contest, &contest->kernel, &us, error)); /* warm up */
    contest->batch = us < round_us ? (int)(round_us / fmax(us, 1)) : 1;
    for (int round = -1; round < ROUNDS; round++) { /* round -1 is not kept */
        const int at = round < 0 ? 0 : round;
        KF_TRY(time_batch(contest, &contest->kernel, &contest->kernel.samples[at], error));
        KF_TRY(time_batch(contest, &contest->loop, &contest->loop.samples[at], error));
    }
    return KF_OK;
}

static void test_kernels_against_loops(void **state) {
    (void)state;
    kf_backend *backend = NULL;
    kf_error error = {KF_OK, ""};
    if (kf_backend_open("cpu:1", &backend, &error) != KF_OK) fail_msg("%s", error.message);
    int slow = 0;
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        bench_contest contest = {.backend = backend, .probe = &probes[i]};
        kf_status status = open_contest(&contest, &error);
        if (status == KF_OK) status = verify(&contest, &error);
        double kernel = 0, loop = 0;
        for (int attempt = 0; attempt < 3 && (attempt == 0 || kernel > 2 * loop); attempt++) {
            if (status == KF_OK) status = measure(&contest, &error);
            if (status != KF_OK) fail_msg("%s: %s", probes[i].name, error.message);
            kernel = kf_summarise(contest.kernel.samples, ROUNDS).minimum;
            loop = kf_summarise(contest.loop.samples, ROUNDS).minimum;
        }
        print_message("%-36s %8.1f us, by hand %8.1f us\n", probes[i].name, kernel, loop);
        slow += kernel > 2 * loop;
        close_contest(&contest);
    }
    assert_int_equal(slow, 0);
    kf_backend_close(backend);
}

int main(void) {
    const char *compiler = getenv("KFTUNE_CC");
    if (compiler != NULL && strstr(compiler, "quick_compiler") != NULL)
        (void)unsetenv("KFTUNE_CC"); /* times are those of kernels as users get them */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_against_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
