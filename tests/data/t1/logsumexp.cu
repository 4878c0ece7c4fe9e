/* The logarithm of the sum of exponentials of each row. `threads` share a row, a block has `rows_per_block` of them; a thread reads
 * `vector` values at a time, `unrolled` such reads in a row, from all over the row or (chunked) from a part of its own; online: the
 * largest is found in the same pass as the sum. shuffle: a row's threads combine through shuffles first; fast: by the
 * hardware's exponential. */
#if fast
#define EXP(value) __expf(value)
#else
#define EXP(value) expf(value)
#endif

typedef struct part {
    float largest, sum; /* of exponentials of the differences from the largest */
} part;

static __device__ __forceinline__ part joined(part a, part b) {
    const float largest = fmaxf(a.largest, b.largest);
    part both;
    both.largest = largest;
    both.sum = a.sum * EXP(a.largest - largest) + b.sum * EXP(b.largest - largest);
    return both;
}

static __device__ __forceinline__ void read(const float *row, int at, int columns, float *values) {
#if vector == 4
    if (columns % 4 == 0 && at + 3 < columns) { /* a row begins where four lie together */
        const float4 four = *(const float4 *)(row + at);
        values[0] = four.x, values[1] = four.y, values[2] = four.z, values[3] = four.w;
        return;
    }
#elif vector == 2
    if (columns % 2 == 0 && at + 1 < columns) {
        const float2 two = *(const float2 *)(row + at);
        values[0] = two.x, values[1] = two.y;
        return;
    }
#endif
#pragma unroll
    for (int v = 0; v < vector; v++)
        values[v] = at + v < columns ? row[at + v] : -1e30f;
}

extern "C" __global__ void __launch_bounds__(threads *rows_per_block)
    logsumexp(float *out, const float *__restrict__ in, int columns, int rows) {
    __shared__ part parts[rows_per_block][threads];
    const int own = (int)threadIdx.x, y = (int)(blockIdx.x * rows_per_block + threadIdx.y);
    const float *row = in + (size_t)min(y, rows - 1) * columns;
    const int groups = (columns + vector - 1) / vector, share = (groups + threads - 1) / threads;
    const int first = chunked ? own * share : own, step = chunked ? 1 : threads;
    const int last = chunked ? min(first + share, groups) : groups;
    part mine = {-1e30f, 0.0f};
#if !online
#pragma unroll unrolled
    for (int group = first; group < last; group += step) {
        float values[vector];
        read(row, group * vector, columns, values);
#pragma unroll
        for (int v = 0; v < vector; v++)
            mine.largest = fmaxf(mine.largest, values[v]);
    }
#endif
#pragma unroll unrolled
    for (int group = first; group < last; group += step) {
        float values[vector];
        read(row, group * vector, columns, values);
#if online
        float largest = mine.largest;
#pragma unroll
        for (int v = 0; v < vector; v++)
            largest = fmaxf(largest, values[v]);
        mine.sum *= EXP(mine.largest - largest);
        mine.largest = largest;
#endif
#pragma unroll
        for (int v = 0; v < vector; v++)
            mine.sum += EXP(values[v] - mine.largest);
    }
#if shuffle
#pragma unroll
    for (int lanes = threads < 32 ? threads / 2 : 16; lanes > 0; lanes /= 2) {
        part other;
        other.largest = __shfl_xor_sync(0xffffffffu, mine.largest, lanes);
        other.sum = __shfl_xor_sync(0xffffffffu, mine.sum, lanes);
        mine = joined(mine, other);
    }
    if (own % 32 == 0) parts[threadIdx.y][own / 32] = mine;
    int left = threads < 32 ? 1 : threads / 32;
#else
    parts[threadIdx.y][own] = mine;
    int left = threads;
#endif
    for (left /= 2; left > 0; left /= 2) {
        __syncthreads();
        if (own < left) parts[threadIdx.y][own] = joined(parts[threadIdx.y][own], parts[threadIdx.y][own + left]);
    }
    if (own == 0 && y < rows) out[y] = parts[threadIdx.y][0].largest + logf(parts[threadIdx.y][0].sum);
}
