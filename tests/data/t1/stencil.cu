/* A weighted mean of 2 RADIUS + 1 values along x, in CUDA: weights in constant memory, and with use_shared the row in
 * dynamic shared memory. With loses_edge the last thread of a block does not load what lies beyond it, which is
 * faster and wrong. */
#define RADIUS 4

__constant__ float weights[2 * RADIUS + 1];

extern "C" __global__ void stencil(float *out, const float *in, int width, int height) {
#if use_shared
    extern __shared__ float row[];
#endif
    const int tile = block_x * per_thread, first = (int)blockIdx.x * tile;
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    const int inside = y < height;
    const float *line = in + (size_t)(inside ? y : 0) * (width + 2 * RADIUS);
#if use_shared
    float *mine = row + threadIdx.y * (tile + 2 * RADIUS);
    for (int i = (int)threadIdx.x; i < tile + (loses_edge ? RADIUS : 2 * RADIUS); i += block_x)
        mine[i] = first + i < width + 2 * RADIUS ? line[first + i] : 0.0f;
    __syncthreads();
#else
    const float *mine = line + first;
#endif
#pragma unroll
    for (int k = 0; k < per_thread; k++) {
        const int at = (int)threadIdx.x + k * block_x, x = first + at;
        float sum = 0.0f;
        if (!inside || x >= width) continue;
#pragma unroll
        for (int j = 0; j <= 2 * RADIUS; j++)
            sum += weights[j] * mine[at + j];
        out[(size_t)y * width + x] = sum;
    }
}
