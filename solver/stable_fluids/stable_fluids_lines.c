/* How lines are transformed: radices, threads, twiddles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/stable_fluids/stable_fluids.h"

static const int radices[] = {32, 20, 16, 15, 12, 10, 9, 8, 6, 5, 4, 3, 2};
enum { RADICES = sizeof radices / sizeof *radices, STAGES = 5 };

typedef struct choice {
    int taken[STAGES], count, sum;
} choice;

/* Chooses the product with the fewest factors, which needs few exchanges. Of these it takes the one with the
 * smallest sum. */
static void choose(int rest, int points, choice *now, choice *best) {
    if (rest == 1) {
        if (best->count == 0 || now->count < best->count ||
            (now->count == best->count && now->sum < best->sum))
            *best = *now;
        return;
    }
    if (now->count == STAGES) return;
    for (int i = 0; i < RADICES; i++) {
        const int r = radices[i];
        const bool falls = now->count == 0 || r <= now->taken[now->count - 1];
        if (r > points || !falls || rest % r != 0) continue;
        now->taken[now->count++] = r, now->sum += r;
        choose(rest / r, points, now, best);
        now->count--, now->sum -= r;
    }
}

kf_status kf_line_design(int n, int points, int lines, int most_threads, kf_line_engine *engine,
                         kf_error *error) {
    choice now = {{0}, 0, 0}, best = {{0}, 0, 0};
    /* Powers of 3 and 5 may need larger radices to be done in five stages. */
    for (int limit = points; best.count == 0 && limit <= radices[0]; limit++)
        choose(n, limit, &now, &best);
    if (best.count == 0)
        return kf_fail(error, KF_BAD_INPUT, "config: lines of %d cannot be transformed in %d stages", n,
                       STAGES);
    memset(engine, 0, sizeof *engine);
    engine->n = n;
    engine->threads = (n + points - 1) / points;
    engine->lines = lines;
    for (int i = 0; i < STAGES; i++) {
        const int r = i < best.count ? best.taken[i] : 1;
        const int slots = (n / r + engine->threads - 1) / engine->threads;
        engine->radices[i] = r;
        if (r > 1 && slots * r > engine->most) engine->most = slots * r;
    }
    if (most_threads > 0 && engine->threads * lines > most_threads)
        return kf_fail(error, KF_BAD_INPUT,
                       "config: %d lines of %d values with %d a thread are more than %d threads a block",
                       lines, n, points, most_threads);
    return KF_OK;
}

size_t kf_line_shared_bytes(const kf_line_engine *engine, int lines, int at_once, int buffers,
                            size_t real_bytes) {
    const int pitch = engine->n + (engine->n >> 4) + (lines > 1 && lines < 16 ? 16 / lines : 1);
    return (size_t)buffers * (size_t)at_once * (size_t)lines * (size_t)pitch * 2 * real_bytes;
}

/* Returns the twiddles of all stages, forward and inverse, then quarters of a turn for walls; (re, im)
 * pairs, which the caller frees. */
double *kf_line_twiddles(const kf_line_engine *e) {
    static const double pi = 3.14159265358979323846;
    double *table = kf_allocate(sizeof *table * 6 * (size_t)e->n);
    double *quarters = table + 4 * (size_t)(e->n - 1);
    for (int k = 0; k < e->n; k++)
        quarters[2 * k] = cos(0.5 * pi * k / e->n), quarters[2 * k + 1] = -sin(0.5 * pi * k / e->n);
    for (int direction = 0; direction < 2; direction++) {
        double *half = table + 2 * (size_t)direction * (size_t)(e->n - 1);
        int s = 1;
        for (int stage = 0; stage < STAGES; stage++) {
            const int r = e->radices[direction == 0 ? stage : STAGES - 1 - stage];
            for (int q = 1; q < r; q++)
                for (int m = 0; m < s; m++) {
                    const double angle = -2.0 * pi * (double)((long)m * q % (s * r)) / (s * r);
                    double *entry = half + 2 * (size_t)(s - 1 + (q - 1) * s + m);
                    entry[0] = cos(angle), entry[1] = sin(angle);
                }
            s *= r;
        }
    }
    return table;
}
