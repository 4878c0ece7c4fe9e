/* Tunes a function of this program: the transpose of a matrix in blocks. Build: cc blocked.c $(pkg-config
 * --cflags --libs kftune) usage: blocked STORE */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <kftune.h>

enum { N = 256 };

/* Holds what the functions share. They are called in child processes, each with a copy of it. */
typedef struct transpose {
    float *from, *to;
    int block, down;
} transpose;

static int prepare(void *context, const kftune_config *config) {
    transpose *t = context;
    t->block = (int)kftune_integer(config, "block", 1);
    t->down = (int)kftune_integer(config, "columns_first", 0);
    for (int i = 0; i < N * N; i++)
        t->to[i] = 0.0f;
    return 0;
}

static int run(void *context) {
    const transpose *t = context;
    const int blocks = N / t->block;
    for (int b = 0; b < blocks * blocks; b++) {
        const int x = t->block * (t->down ? b / blocks : b % blocks),
                  y = t->block * (t->down ? b % blocks : b / blocks);
        for (int j = y; j < y + t->block; j++)
            for (int i = x; i < x + t->block; i++)
                t->to[(size_t)i * N + j] = t->from[(size_t)j * N + i];
    }
    return 0;
}

static int check(void *context, double *deviation, double *bound) {
    const transpose *t = context;
    *deviation = 0.0;
    *bound = 0.0; /* nothing is computed: it is right or wrong */
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            *deviation =
                fmax(*deviation, fabs((double)t->to[(size_t)i * N + j] - (double)t->from[(size_t)j * N + i]));
    return 0;
}

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, kftune_error());
    return 1;
}

/* Tunes a transposition whose block and loop order are parameters, prints the best config, and asks the
 * store for it again. */
int main(int argc, char **argv) {
    static const char space[] = "{\"parameters\": [{\"name\": \"block\", \"type\": \"integer\", \"values\": "
                                "[1, 4, 16, 64, 128], \"default\": 1},"
                                " {\"name\": \"columns_first\", \"type\": \"boolean\", \"default\": false}]}";
    transpose t = {malloc(sizeof(float) * N * N), malloc(sizeof(float) * N * N), 1, 0};
    const kftune_functions functions = {sizeof functions, &t, prepare, run, check, NULL};
    const kftune_options options = {
        .size = sizeof options, .store = argc > 1 ? argv[1] : NULL, .evaluations = 4};
    kftune_problem *problem = NULL;
    kftune_result *found = NULL, *known = NULL;
    for (int i = 0; i < N * N; i++)
        t.from[i] = (float)i;

    if (kftune_open_functions("transpose-256", space, &functions, &problem) != KFTUNE_OK) return fail("open");
    if (kftune_tune(problem, &options, &found) != KFTUNE_OK) return fail("tune");
    printf("block=%d columns_first=%d: %.1f us\n", (int)kftune_integer(kftune_best_config(found), "block", 0),
           (int)kftune_integer(kftune_best_config(found), "columns_first", 0), kftune_time_us(found));

    /* The next time the program starts, it need not tune. */
    if (kftune_best(problem, &options, &known) != KFTUNE_OK) return fail("best");
    printf("known: %s, %s\n", kftune_json(known), kftune_exact(known) ? "of this problem" : "of one like it");

    kftune_free(known);
    kftune_free(found);
    kftune_close(problem);
    free(t.from);
    free(t.to);
    return 0;
}
