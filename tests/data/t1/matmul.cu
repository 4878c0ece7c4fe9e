/* c = a b of row-major matrices: a is rows x depth, b is depth x columns. A block has a tile of c, a thread per_x x per_y
 * values of it, block_x apart or side by side (strided). stage: how many of the two matrices go through shared memory,
 * tile_k of the depth at a time, that of a with the depth outside; vector: so many values are read at once on the way there;
 * prefetch: those of the next tile are on their way while this one is worked on; unrolled: the loop over a tile's depth is. */
#define TILE_X (block_x * per_x)
#define TILE_Y (block_y * per_y)
#define THREADS (block_x * block_y)
#define FETCHES(values) (((values) + THREADS * vector - 1) / (THREADS * vector))

/* `vector` values of a row of which `left` are left; the others are 0. */
static __device__ __forceinline__ void read(float *values, const float *row, int at, int left, int pitch) {
#if vector == 4
    if (left >= 4 && pitch % 4 == 0) { /* a row begins where four lie together */
        const float4 four = *(const float4 *)(row + at);
        values[0] = four.x, values[1] = four.y, values[2] = four.z, values[3] = four.w;
        return;
    }
#endif
#pragma unroll
    for (int v = 0; v < vector; v++)
        values[v] = v < left ? row[at + v] : 0.0f;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    matmul(float *c, const float *a, const float *b, int columns, int rows, int depth) {
#if stage > 0
    __shared__ __align__(16) float b_tile[tile_k][TILE_X];
    float b_next[FETCHES(tile_k * TILE_X)][vector];
    const int thread = (int)(threadIdx.y * block_x + threadIdx.x);
#endif
#if stage > 1
    __shared__ __align__(16) float a_tile[tile_k][TILE_Y + 4];
    float a_next[FETCHES(tile_k * TILE_Y)][vector];
#endif
    const int x0 = (int)blockIdx.x * TILE_X, y0 = (int)blockIdx.y * TILE_Y;
    float sums[per_y][per_x] = {};
    int x[per_x], y[per_y];
#pragma unroll
    for (int i = 0; i < per_x; i++)
        x[i] = strided ? (int)threadIdx.x + i * block_x : (int)threadIdx.x * per_x + i;
#pragma unroll
    for (int j = 0; j < per_y; j++)
        y[j] = (int)threadIdx.y * per_y + j;

#if stage > 0
    auto fetch = [&](int k0) {
#pragma unroll
        for (int n = 0; n < FETCHES(tile_k * TILE_X); n++) {
            const int at = (thread + n * THREADS) * vector, k = k0 + at / TILE_X, i = x0 + at % TILE_X;
            read(b_next[n], b + (size_t)k * columns, i, at < tile_k * TILE_X && k < depth ? columns - i : 0, columns);
        }
#if stage > 1
#pragma unroll
        for (int n = 0; n < FETCHES(tile_k * TILE_Y); n++) {
            const int at = (thread + n * THREADS) * vector, j = y0 + at / tile_k, k = k0 + at % tile_k;
            read(a_next[n], a + (size_t)j * depth, k, at < tile_k * TILE_Y && j < rows ? depth - k : 0, depth);
        }
#endif
    };
    auto put = [&]() {
#pragma unroll
        for (int n = 0; n < FETCHES(tile_k * TILE_X); n++) {
            const int at = (thread + n * THREADS) * vector;
#pragma unroll
            for (int v = 0; v < vector; v++)
                if (at < tile_k * TILE_X) b_tile[at / TILE_X][at % TILE_X + v] = b_next[n][v];
        }
#if stage > 1
#pragma unroll
        for (int n = 0; n < FETCHES(tile_k * TILE_Y); n++) {
            const int at = (thread + n * THREADS) * vector;
#pragma unroll
            for (int v = 0; v < vector; v++)
                if (at < tile_k * TILE_Y) a_tile[at % tile_k + v][at / tile_k] = a_next[n][v];
        }
#endif
    };
#if prefetch
    fetch(0);
#endif
#endif
    for (int k0 = 0; k0 < depth; k0 += tile_k) {
#if stage > 0
#if !prefetch
        fetch(k0);
#endif
        put();
        __syncthreads();
#if prefetch
        if (k0 + tile_k < depth) fetch(k0 + tile_k);
#endif
#endif
#if unrolled
#pragma unroll
#else
#pragma unroll 1
#endif
        for (int k = 0; k < tile_k; k++) {
            const int inside = k0 + k < depth;
            float row[per_x];
#pragma unroll
            for (int i = 0; i < per_x; i++)
#if stage > 0
                row[i] = b_tile[k][x[i]];
#else
                row[i] = inside && x0 + x[i] < columns ? b[(size_t)(k0 + k) * columns + x0 + x[i]] : 0.0f;
#endif
#pragma unroll
            for (int j = 0; j < per_y; j++) {
#if stage > 1
                const float left = a_tile[k][y[j]];
#else
                const float left = inside && y0 + y[j] < rows ? a[(size_t)(y0 + y[j]) * depth + k0 + k] : 0.0f;
#endif
#pragma unroll
                for (int i = 0; i < per_x; i++)
                    sums[j][i] += left * row[i];
            }
        }
#if stage > 0
        __syncthreads();
#endif
    }
#pragma unroll
    for (int j = 0; j < per_y; j++)
#pragma unroll
        for (int i = 0; i < per_x; i++)
            if (y0 + y[j] < rows && x0 + x[i] < columns) c[(size_t)(y0 + y[j]) * columns + x0 + x[i]] = sums[j][i];
}
