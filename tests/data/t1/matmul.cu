/* c = a b of row-major matrices: a is rows x depth, b is depth x columns. A block has a tile of c, a thread per_x x per_y
 * values of it, block_x apart or side by side (strided). stage: how many of the two matrices go through shared memory,
 * tile_k of the depth at a time. */
#define TILE_X (block_x * per_x)
#define TILE_Y (block_y * per_y)

extern "C" __global__ void __launch_bounds__(block_x * block_y)
    matmul(float *c, const float *a, const float *b, int columns, int rows, int depth) {
#if stage > 0
    __shared__ float b_tile[tile_k][TILE_X];
#endif
#if stage > 1
    __shared__ float a_tile[TILE_Y][tile_k + 1];
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
    for (int k0 = 0; k0 < depth; k0 += tile_k) {
#if stage > 0
        const int thread = (int)(threadIdx.y * block_x + threadIdx.x);
        for (int at = thread; at < tile_k * TILE_X; at += block_x * block_y) {
            const int k = at / TILE_X, i = at % TILE_X;
            b_tile[k][i] = k0 + k < depth && x0 + i < columns ? b[(size_t)(k0 + k) * columns + x0 + i] : 0.0f;
        }
#if stage > 1
        for (int at = thread; at < tile_k * TILE_Y; at += block_x * block_y) {
            const int j = at / tile_k, k = at % tile_k;
            a_tile[j][k] = k0 + k < depth && y0 + j < rows ? a[(size_t)(y0 + j) * depth + k0 + k] : 0.0f;
        }
#endif
        __syncthreads();
#endif
#pragma unroll
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
                const float left = a_tile[y[j]][k];
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
