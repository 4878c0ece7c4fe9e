/* Does what a library's caller must not do. It is built against the installed libkftune by
 * tests/e2e/library.sh. Usage: misuse STORE */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <kftune.h>

static int lines;
static void count_line(void *context, const char *text) {
    (void)context;
    lines += text[0] != '\0';
}

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            dprintf(2, "library-misuse.c:%d: %s; %s\n", __LINE__, #condition, kftune_error());               \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* Values of "how": 0 is right, 1 wrong, 2 crashes, 3 refuses, 4 is right and slow. */
static int how;
static int prepare(void *context, const kftune_config *config) {
    (void)context;
    how = (int)kftune_integer(config, "how", -1);
    return how == 3 ? 17 : 0;
}
static int run(void *context) {
    (void)context;
    if (how == 2) raise(SIGSEGV);
    if (how == 4) usleep(20000);
    usleep(500);
    return 0;
}
static int check(void *context, double *deviation, double *bound) {
    (void)context;
    *deviation = how == 1 ? 0.5 : 0.0;
    *bound = 0.25;
    return 0;
}

/* With these numbers a check would accept anything, or nothing. */
static double odd_deviation, odd_bound;
static int check_oddly(void *context, double *deviation, double *bound) {
    (void)context;
    *deviation = odd_deviation;
    *bound = odd_bound;
    return 0;
}

static const char space[] = "{\"parameters\": [{\"name\": \"how\", \"type\": \"integer\", \"values\": [0, 1, "
                            "2, 3, 4], \"default\": 4}]}";

static void *open_beside(void *arguments) {
    kftune_problem *problem = NULL;
    MUST(kftune_open_scene("no-such-scene", NULL, &problem) == KFTUNE_INPUT && problem == NULL);
    MUST(strstr(kftune_error(), "no-such-scene") != NULL);
    return arguments;
}

int main(int argc, char **argv) {
    const char *store = argc > 1 ? argv[1] : NULL;
    kftune_problem *problem = NULL;
    kftune_result *result = NULL;
    struct sigaction before[NSIG], after;
    for (int i = 1; i < NSIG; i++)
        (void)sigaction(i, NULL, &before[i]);

    /* Wrong input gives a status and a line, whatever is missing. */
    kftune_functions functions = {sizeof functions, NULL, prepare, run, check, NULL};
    MUST(kftune_open_functions(NULL, space, &functions, &problem) == KFTUNE_INPUT &&
         kftune_error()[0] != '\0');
    MUST(kftune_open_functions("a b", space, &functions, &problem) == KFTUNE_INPUT);
    MUST(kftune_open_functions("a", NULL, &functions, &problem) == KFTUNE_INPUT);
    MUST(kftune_open_functions("a", "{", &functions, &problem) == KFTUNE_INPUT);
    MUST(kftune_open_functions("a", "[]", &functions, &problem) == KFTUNE_INPUT);
    MUST(kftune_open_functions("a", space, NULL, &problem) == KFTUNE_INPUT);
    functions.size = 4;
    MUST(kftune_open_functions("a", space, &functions, &problem) == KFTUNE_INPUT);
    functions.size = sizeof functions;
    functions.run = NULL;
    MUST(kftune_open_functions("a", space, &functions, &problem) == KFTUNE_INPUT);
    functions.run = run;
    MUST(kftune_open_scene(NULL, NULL, &problem) == KFTUNE_INPUT && problem == NULL);
    MUST(kftune_tune(NULL, NULL, &result) == KFTUNE_INPUT && result == NULL);
    kftune_close(NULL);
    kftune_free(NULL);

    /* Errors belong to the thread. */
    pthread_t beside;
    MUST(kftune_open_functions("how", space, &functions, &problem) == KFTUNE_OK && kftune_error()[0] == '\0');
    MUST(pthread_create(&beside, NULL, open_beside, NULL) == 0 && pthread_join(beside, NULL) == 0);
    MUST(kftune_error()[0] == '\0');

    /* A config that is wrong, crashes or refuses costs only itself. One that is right and fast wins. */
    kftune_options options = {.size = sizeof options, .store = store, .evaluations = 10};
    MUST(kftune_best(problem, &options, &result) != KFTUNE_OK && result == NULL); /* no store yet */
    kftune_log(count_line, NULL);
    MUST(kftune_tune(problem, &options, &result) == KFTUNE_OK);
    kftune_log(NULL, NULL);
    MUST(kftune_integer(kftune_best_config(result), "how", -1) == 0 && kftune_exact(result));
    MUST(kftune_name(kftune_best_config(result), "how") == NULL &&
         kftune_integer(kftune_best_config(result), "x", 7) == 7);
    MUST(kftune_time_us(result) > 400 && kftune_time_us(result) < 20000);
    MUST(strstr(kftune_json(result), "\"wrong_result\":1") && strstr(kftune_json(result), "\"crash\":1") &&
         strstr(kftune_json(result), "\"invalid\":1"));
    kftune_free(result);
    MUST(kftune_best(problem, &options, &result) == KFTUNE_OK &&
         kftune_integer(kftune_best_config(result), "how", -1) == 0);
    kftune_free(result);
    const char *fixed[] = {"how=1", NULL};
    options.fixed = fixed;
    MUST(kftune_tune(problem, &options, &result) == KFTUNE_NONE && result == NULL &&
         kftune_error()[0] != '\0');
    options.fixed = NULL;
    options.device = "cudda";
    MUST(kftune_tune(problem, &options, &result) == KFTUNE_INPUT);
    kftune_close(problem);

    /* A bound that excludes nothing is refused. */
    static const double odd[][2] = {{1e9, INFINITY}, {0, -1}, {-5, 1}, {0, NAN}, {INFINITY, INFINITY}};
    functions.check = check_oddly;
    const char *right[] = {"how=0", NULL};
    kftune_options oddly = {.size = sizeof oddly, .store = store, .evaluations = 1, .fixed = right};
    MUST(kftune_open_functions("odd", space, &functions, &problem) == KFTUNE_OK);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        odd_deviation = odd[i][0];
        odd_bound = odd[i][1];
        MUST(kftune_tune(problem, &oddly, &result) == KFTUNE_NONE && result == NULL &&
             strstr(kftune_error(), "a bound is a finite number of at least 0") != NULL);
    }
    kftune_close(problem);
    functions.check = check;

    /* Each axis of the grid is checked. */
    for (int axis = 0; axis < 3; axis++) {
        kftune_scene_options wrong = {.size = sizeof wrong, .nodes = {24, 12, 12}, .samples_per_cell = 2};
        wrong.nodes[axis] = -1;
        MUST(kftune_open_scene("ball", &wrong, &problem) == KFTUNE_INPUT &&
             strstr(kftune_error(), "nodes must be positive") != NULL);
    }

    /* Without memory there is an error, and the process goes on. */
    struct rlimit limit = {64u << 20, RLIM_INFINITY}, all;
    const kftune_scene_options large = {
        .size = sizeof large, .nodes = {1024, 512, 512}, .samples_per_cell = 150};
    MUST(getrlimit(RLIMIT_AS, &all) == 0 && setrlimit(RLIMIT_AS, &limit) == 0);
    MUST(kftune_open_scene("ball", &large, &problem) == KFTUNE_MACHINE &&
         strstr(kftune_error(), "memory") != NULL);
    MUST(setrlimit(RLIMIT_AS, &all) == 0);
    MUST(kftune_open_scene("ball", NULL, &problem) == KFTUNE_OK);
    kftune_close(problem);

    for (int i = 1; i < NSIG; i++)
        if (sigaction(i, NULL, &after) == 0) MUST(after.sa_handler == before[i].sa_handler);
    dprintf(2, "lines of log: %d\n", lines);
    return 0;
}
