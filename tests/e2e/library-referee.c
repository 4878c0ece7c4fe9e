/* Calls the referee of libkftune with functions that do not do their work. It is built against the
 * installed library by tests/e2e/library.sh. Usage: referee STORE */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kftune.h>

enum { N = 4000 };
static float in[N], out[N], right[N];
static int how, runs;
static uint64_t seed_now;

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            dprintf(2, "library-referee.c:%d: %s; %s\n", __LINE__, #condition, kftune_error());              \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static int restore(void *context, uint64_t seed) {
    (void)context;
    seed_now = seed;
    for (int i = 0; i < N; i++) {
        in[i] = (float)((uint64_t)(i + 1) * (2 * seed + 3) % 1009);
        right[i] = sqrtf(in[i]);
    }
    return 0;
}

static int outputs(void *context, kftune_output *list, int most) {
    (void)context;
    list[0] = (kftune_output){out, sizeof out, sizeof *out};
    return most < 1 ? -1 : 1;
}

static int prepare(void *context, const kftune_config *config) {
    (void)context;
    how = (int)kftune_integer(config, "how", 0);
    runs = 0;
    return 0;
}

/* 0 is honest and slow; 1 keeps its first result; 2 knows seed 0; 3 computes half; 4 knows the seeds of the
 * gate; 5 is right within the bound, and another time otherwise; 6 is honest and fast. */
static int run(void *context) {
    (void)context;
    runs++;
    if (how == 0) usleep(2000);
    if ((how == 1 && runs > 1) || (how == 2 && seed_now != 0) || (how == 4 && seed_now > 1)) return 0;
    for (int i = 0; i < (how == 3 ? N / 2 : N); i++)
        out[i] = sqrtf(in[i]);
    if (how == 5) out[7] *= 1.0F + 1e-6F * (float)(runs % 7);
    return 0;
}

static int check(void *context, double *deviation, double *bound) {
    (void)context;
    double square = 0;
    for (int i = 0; i < N; i++)
        square += (double)(out[i] - right[i]) * (double)(out[i] - right[i]);
    *deviation = sqrt(square);
    *bound = 1e-2;
    return 0;
}

int main(int argc, char **argv) {
    static const char space[] =
        "{\"parameters\": [{\"name\": \"how\", \"type\": \"integer\", \"values\": [0, 1, 2, "
        "3, 4, 5, 6], \"default\": 0}]}";
    const kftune_functions functions = {.size = sizeof functions,
                                        .prepare = prepare,
                                        .run = run,
                                        .check = check,
                                        .restore = restore,
                                        .outputs = outputs};
    kftune_functions half = functions;
    half.outputs = NULL;
    const kftune_options options = {.size = sizeof options,
                                    .store = argc > 1 ? argv[1] : NULL,
                                    .strategy = "enumerate",
                                    .evaluations = 20};
    kftune_problem *problem = NULL;
    kftune_result *result = NULL;
    MUST(kftune_open_functions("half", space, &half, &problem) == KFTUNE_INPUT);
    MUST(kftune_open_functions("cheats", space, &functions, &problem) == KFTUNE_OK);
    MUST(kftune_tune(problem, &options, &result) == KFTUNE_OK);
    const long best = (long)kftune_integer(kftune_best_config(result), "how", -1);
    MUST(best == 5 || best == 6);
    kftune_free(result);
    kftune_close(problem);
    return 0;
}
