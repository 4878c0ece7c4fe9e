/* Sums over channels, each of which is delayed by shifts[channel] / 16 samples more for every row of the result. A thread has
 * per_x samples, block_x apart or side by side (strided), in per_y rows; `unrolled` channels are read at a time; staged: shifts
 * lie in shared memory. */
#define TILE_X (block_x * per_x)
#define TILE_Y (block_y * per_y)
#define MOST_CHANNELS 1024

extern "C" __global__ void __launch_bounds__(block_x * block_y)
    dedispersion(float *out, const unsigned char *__restrict__ in, const int *__restrict__ shifts, int samples, int rows,
                 int channels, int pitch) {
#if staged
    __shared__ int table[MOST_CHANNELS];
    for (int c = (int)(threadIdx.y * block_x + threadIdx.x); c < channels; c += block_x * block_y)
        table[c] = shifts[c];
    __syncthreads();
#else
    const int *__restrict__ table = shifts;
#endif
    const int x0 = (int)blockIdx.x * TILE_X, y0 = (int)blockIdx.y * TILE_Y;
    float sums[per_y][per_x] = {};
#pragma unroll unrolled
    for (int c = 0; c < channels; c++) {
        const int shift = table[c];
#pragma unroll
        for (int j = 0; j < per_y; j++) {
            const int y = y0 + (int)threadIdx.y + j * block_y;
            const unsigned char *row = in + (size_t)c * pitch + (min(y, rows - 1) * shift) / 16;
#pragma unroll
            for (int i = 0; i < per_x; i++) {
                const int x = x0 + (strided ? (int)threadIdx.x + i * block_x : (int)threadIdx.x * per_x + i);
                sums[j][i] += (float)row[min(x, samples - 1)];
            }
        }
    }
#pragma unroll
    for (int j = 0; j < per_y; j++)
#pragma unroll
        for (int i = 0; i < per_x; i++) {
            const int y = y0 + (int)threadIdx.y + j * block_y;
            const int x = x0 + (strided ? (int)threadIdx.x + i * block_x : (int)threadIdx.x * per_x + i);
            if (x < samples && y < rows) out[(size_t)y * samples + x] = sums[j][i];
        }
}
