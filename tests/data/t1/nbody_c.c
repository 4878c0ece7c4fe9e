/* Acceleration and potential of bodies (x, y, z, mass) by all others, softened: plain C. `lanes` bodies go
 * together, those that are pulled or (over_others) those that pull; soa: the bodies are copied to an array
 * for each of the four first; root: 0: one over the root, 1: the root of one over, 2: two divisions; simd:
 * the compiler is told that lanes do not depend on each other; the inner loop is `unrolled`. */
#include <math.h>
#include <stddef.h>

#define TEXT(words)   #words
#define UNROLL(times) _Pragma(TEXT(GCC unroll times))

#define SOFTENING 0.01f
enum { MOST = 1 << 14 };
#if simd
#define INDEPENDENT _Pragma("omp simd")
#else
#define INDEPENDENT
#endif
#if soa
static float copies[4][MOST];
#define BODY(i, axis) copies[axis][i]
#else
#define BODY(i, axis) bodies[4 * (i) + (axis)]
#endif

static inline __attribute__((always_inline)) void attract(float *sums, int pitch, const float *d,
                                                          float mass) {
    const float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + SOFTENING;
#if root == 2
    const float length = sqrtf(square), potential = mass / length, pull = mass / (square * length);
#else
#if root == 1
    const float inverse = sqrtf(1.0f / square);
#else
    const float inverse = 1.0f / sqrtf(square);
#endif
    const float potential = mass * inverse, pull = potential * inverse * inverse;
#endif
    sums[0] += pull * d[0];
    sums[pitch] += pull * d[1];
    sums[2 * pitch] += pull * d[2];
    sums[3 * pitch] += potential;
}

/* What the others from first on do to bodies from i on: by_others of them at a time to by_own. */
static inline __attribute__((always_inline)) void pull_all(float *sums, const float *bodies, int i, int first,
                                                           int last, const int own, const int others) {
    UNROLL(unrolled)
    for (int j = first; j < last; j += others) {
        INDEPENDENT
        for (int l = 0; l < lanes; l++) {
            if (l >= own * others) continue;
            const int to = own > 1 ? i + l : i, from = others > 1 ? j + l : j;
            const float d[3] = {BODY(from, 0) - BODY(to, 0), BODY(from, 1) - BODY(to, 1),
                                BODY(from, 2) - BODY(to, 2)};
            attract(sums + l, lanes, d, BODY(from, 3));
        }
    }
}

void nbody(float *out, const float *bodies, int count);

void nbody(float *out, const float *bodies, int count) {
#if soa
    for (int i = 0; i < count; i++)
        for (int axis = 0; axis < 4; axis++)
            copies[axis][i] = bodies[4 * i + axis];
#endif
    const int whole = count / lanes * lanes;
#if over_others
    for (int i = 0; i < count; i++) {
        float sums[4 * lanes] = {0};
        pull_all(sums, bodies, i, 0, whole, 1, lanes);
        pull_all(sums, bodies, i, whole, count, 1, 1);
        for (int axis = 0; axis < 4; axis++) {
            out[4 * i + axis] = 0;
            for (int l = 0; l < lanes; l++)
                out[4 * i + axis] += sums[axis * lanes + l];
        }
    }
#else
    for (int i = 0; i < count; i += i < whole ? lanes : 1) {
        float sums[4 * lanes] = {0};
        if (i < whole)
            pull_all(sums, bodies, i, 0, count, lanes, 1);
        else
            pull_all(sums, bodies, i, 0, count, 1, 1);
        for (int l = 0; l < (i < whole ? lanes : 1); l++)
            for (int axis = 0; axis < 4; axis++)
                out[4 * (i + l) + axis] = sums[axis * lanes + l];
    }
#endif
}
