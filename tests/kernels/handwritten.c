/* Kernels as one would write them by hand for the cpu: test_handwritten holds those of
 * kernels/probe/simple.cu and stream_collide.cu against these loops. Same entry points and arguments as
 * KF_KERNEL makes; a share of the blocks stands for as large a share of the loop. */
typedef struct simple_arguments {
    int extent[3];
    const float *source;
    float *target;
    float factor;
} simple_arguments;

typedef struct stream_arguments {
    int extent[3];
    int row, plane;
    long stride;
    const float *source;
    float *target;
    float rate;
} stream_arguments;

/* Finds where the part of a loop over count begins that belongs to the blocks from b on. */
static long part(const int *block, const int *extent, long b, long count) {
    long blocks = 1;
    for (int axis = 0; axis < 3; axis++)
        blocks *= (extent[axis] + block[axis] - 1) / block[axis];
    return count * b / blocks;
}

void copy(const int *block, long first, long last, const void *arguments) {
    const simple_arguments *a = arguments;
    const long count = (long)a->extent[0] * a->extent[1] * a->extent[2];
    const float *restrict source = a->source;
    float *restrict target = a->target;
    const long begin = part(block, a->extent, first, count), end = part(block, a->extent, last, count);
#pragma omp simd
    for (long i = begin; i < end; i++)
        target[i] = source[i];
}

void scale_add(const int *block, long first, long last, const void *arguments) {
    const simple_arguments *a = arguments;
    const long count = (long)a->extent[0] * a->extent[1] * a->extent[2];
    const float *restrict source = a->source;
    float *restrict target = a->target;
    const float factor = a->factor;
    const long begin = part(block, a->extent, first, count), end = part(block, a->extent, last, count);
#pragma omp simd
    for (long i = begin; i < end; i++)
        target[i] += factor * source[i];
}

/* Every direction: its number, velocity, weight. */
/* clang-format off */
#define REST   (8.0f / 27)
#define FACE   (2.0f / 27)
#define EDGE   (1.0f / 54)
#define CORNER (1.0f / 216)
#define EACH_DIRECTION(DO)                                                                                   \
    DO(0, -1, -1, -1, CORNER)                                                                                \
    DO(1, 0, -1, -1, EDGE)                                                                                   \
    DO(2, 1, -1, -1, CORNER) DO(3, -1, 0, -1, EDGE) DO(4, 0, 0, -1, FACE) DO(5, 1, 0, -1, EDGE)              \
        DO(6, -1, 1, -1, CORNER) DO(7, 0, 1, -1, EDGE) DO(8, 1, 1, -1, CORNER) DO(9, -1, -1, 0, EDGE)        \
            DO(10, 0, -1, 0, FACE) DO(11, 1, -1, 0, EDGE) DO(12, -1, 0, 0, FACE) DO(13, 0, 0, 0, REST)       \
                DO(14, 1, 0, 0, FACE) DO(15, -1, 1, 0, EDGE) DO(16, 0, 1, 0, FACE) DO(17, 1, 1, 0, EDGE)     \
                    DO(18, -1, -1, 1, CORNER) DO(19, 0, -1, 1, EDGE) DO(20, 1, -1, 1, CORNER)                \
                        DO(21, -1, 0, 1, EDGE) DO(22, 0, 0, 1, FACE) DO(23, 1, 0, 1, EDGE)                   \
                            DO(24, -1, 1, 1, CORNER) DO(25, 0, 1, 1, EDGE) DO(26, 1, 1, 1, CORNER)
/* clang-format on */

#define POINT(q, cx, cy, cz, w)                                                                              \
    const float *restrict in##q = a->source + (q)*a->stride + node - (cx) - (cy)*row - (cz)*plane;           \
    float *restrict out##q = a->target + (q)*a->stride + node;
#define LOAD(q, cx, cy, cz, w)  const float f##q = in##q[x];
#define SUM(q, cx, cy, cz, w)   +f##q
#define SUM_X(q, cx, cy, cz, w) +(cx)*f##q
#define SUM_Y(q, cx, cy, cz, w) +(cy)*f##q
#define SUM_Z(q, cx, cy, cz, w) +(cz)*f##q
#define RELAX(q, cx, cy, cz, w)                                                                              \
    {                                                                                                        \
        const float along = 3 * ((cx)*ux + (cy)*uy + (cz)*uz);                                               \
        out##q[x] = f##q + rate * ((w)*density * (1 + along + 0.5f * along * along - square) - f##q);        \
    }

void stream_collide(const int *block, long first, long last, const void *arguments) {
    const stream_arguments *a = arguments;
    const int nx = a->extent[0], ny = a->extent[1], nz = a->extent[2];
    const long row = a->row, plane = a->plane;
    const float rate = a->rate;
    const long rows = (long)ny * nz, end = part(block, a->extent, last, rows);
    for (long at = part(block, a->extent, first, rows); at < end; at++) {
        const long node = (at / ny + 1) * plane + (at % ny + 1) * row + 1;
        EACH_DIRECTION(POINT)
#pragma omp simd
        for (int x = 0; x < nx; x++) {
            EACH_DIRECTION(LOAD)
            const float density = 0 EACH_DIRECTION(SUM);
            const float inverse = 1 / density;
            const float ux = inverse * (0 EACH_DIRECTION(SUM_X));
            const float uy = inverse * (0 EACH_DIRECTION(SUM_Y));
            const float uz = inverse * (0 EACH_DIRECTION(SUM_Z));
            const float square = 1.5f * (ux * ux + uy * uy + uz * uz);
            EACH_DIRECTION(RELAX)
        }
    }
}
