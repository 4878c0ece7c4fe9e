/* Each value is the sum of FILTER x FILTER values from it on, weighted. A thread computes per_x values block_x apart in
 * per_y rows; stage: the block's part of the input goes through shared memory; constant_weights: they lie in constant memory;
 * down: a column of the input at a time goes into all of a thread's rows, instead of a row of the filter at a time; unrolled: a
 * row of the filter is, or such a column. */
#define FILTER 15
#define TILE_X (block_x * per_x)
#define TILE_Y (block_y * per_y)
#define WIDTH (TILE_X + FILTER - 1)

#if constant_weights
__constant__ float weights[FILTER * FILTER];
#define WEIGHTS
#else
#define WEIGHTS , const float *__restrict__ weights
#endif

extern "C" __global__ void __launch_bounds__(block_x * block_y)
    convolution(float *out, const float *__restrict__ in WEIGHTS, int width, int height) {
    const int pitch = width + FILTER - 1, x0 = (int)blockIdx.x * TILE_X, y0 = (int)blockIdx.y * TILE_Y;
#if stage
    __shared__ float tile[(TILE_Y + FILTER - 1) * WIDTH];
    const int thread = (int)(threadIdx.y * block_x + threadIdx.x);
    for (int at = thread; at < (TILE_Y + FILTER - 1) * WIDTH; at += block_x * block_y) {
        const int y = y0 + at / WIDTH, x = x0 + at % WIDTH;
        tile[at] = y < height + FILTER - 1 && x < pitch ? in[(size_t)y * pitch + x] : 0.0f;
    }
    __syncthreads();
#endif
    /* The input from the thread's row y and column x of the tile on. */
    auto value = [&](int y, int x) {
#if stage
        return tile[y * WIDTH + x];
#else
        return x0 + x < pitch && y0 + y < height + FILTER - 1 ? in[(size_t)(y0 + y) * pitch + x0 + x] : 0.0f;
#endif
    };
    float sums[per_y][per_x] = {};
#pragma unroll 1
    for (int outer = 0; outer < FILTER; outer++) {
#if unrolled
#pragma unroll
#else
#pragma unroll 1
#endif
        for (int inner = 0; inner < (down ? FILTER + per_y - 1 : FILTER); inner++) {
#if down
#pragma unroll
            for (int c = 0; c < per_x; c++) {
                const float one = value((int)threadIdx.y * per_y + inner, (int)threadIdx.x + c * block_x + outer);
#pragma unroll
                for (int r = 0; r < per_y; r++)
                    if (inner >= r && inner - r < FILTER) sums[r][c] += weights[(inner - r) * FILTER + outer] * one;
            }
#else
            const float weight = weights[outer * FILTER + inner];
#pragma unroll
            for (int r = 0; r < per_y; r++)
#pragma unroll
                for (int c = 0; c < per_x; c++)
                    sums[r][c] +=
                        weight * value((int)threadIdx.y * per_y + r + outer, (int)threadIdx.x + c * block_x + inner);
#endif
        }
    }
#pragma unroll
    for (int r = 0; r < per_y; r++)
#pragma unroll
        for (int c = 0; c < per_x; c++) {
            const int x = x0 + (int)threadIdx.x + c * block_x, y = y0 + (int)threadIdx.y * per_y + r;
            if (x < width && y < height) out[(size_t)y * width + x] = sums[r][c];
        }
}
