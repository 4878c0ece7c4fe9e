/* Sums over channels, each of which is delayed by shifts[channel] / 16 samples more for every row of the result. A thread has
 * per_x samples, block_x apart or side by side (strided), in per_y rows; `unrolled` channels are read at a time; whole: sums are
 * whole numbers, and floats only in the end; words 1: four samples side by side are cut out of two words, 2: out of the words of
 * all that a thread has side by side, each read once; packed: two of their sums share a word, 16 bits each, which 256 channels
 * do not overflow. Words are read up to 16 bytes beyond the last sample: in is 32 bytes longer than what it holds. */
#define TILE_X (block_x * per_x)
#define TILE_Y (block_y * per_y)

extern "C" __global__ void __launch_bounds__(block_x * block_y)
    dedispersion(float *out, const unsigned char *__restrict__ in, const int *__restrict__ shifts, int samples, int rows,
                 int channels, int pitch) {
    const int x0 = (int)blockIdx.x * TILE_X, y0 = (int)blockIdx.y * TILE_Y;
#if whole
    int sums[per_y][per_x] = {};
#else
    float sums[per_y][per_x] = {};
#endif
#if packed
    unsigned pairs[per_y][per_x / 2] = {}; /* of each four samples the first and third, then the second and fourth */
#endif
#pragma unroll unrolled
    for (int c = 0; c < channels; c++) {
        const int shift = shifts[c];
#pragma unroll
        for (int j = 0; j < per_y; j++) {
            const int y = y0 + (int)threadIdx.y + j * block_y;
            const size_t row = (size_t)c * pitch + (unsigned)(min(y, rows - 1) * shift) / 16;
#if words
#if words == 2
            const size_t begin = row + min(x0 + (int)threadIdx.x * per_x, (samples - 1) / 4 * 4);
            const unsigned *word = (const unsigned *)in + begin / 4;
            const unsigned cut = 8 * (unsigned)(begin % 4);
            unsigned next = word[0];
#endif
#pragma unroll
            for (int i = 0; i < per_x; i += 4) {
#if words == 2
                const unsigned one = next;
                next = word[i / 4 + 1];
                const unsigned four = __funnelshift_r(one, next, cut);
#else
                const size_t at = row + min(x0 + (int)threadIdx.x * per_x + i, (samples - 1) / 4 * 4);
                const unsigned *two = (const unsigned *)in + at / 4;
                const unsigned four = __funnelshift_r(two[0], at % 4 > 0 ? two[1] : 0u, 8 * (unsigned)(at % 4));
#endif
#if packed
                pairs[j][i / 2] += __byte_perm(four, 0, 0x4240);
                pairs[j][i / 2 + 1] += __byte_perm(four, 0, 0x4341);
#else
                sums[j][i] += four & 255u;
                sums[j][i + 1] += four >> 8 & 255u;
                sums[j][i + 2] += four >> 16 & 255u;
                sums[j][i + 3] += four >> 24;
#endif
            }
#else
#pragma unroll
            for (int i = 0; i < per_x; i++) {
                const int x = x0 + (strided ? (int)threadIdx.x + i * block_x : (int)threadIdx.x * per_x + i);
                sums[j][i] += in[row + min(x, samples - 1)];
            }
#endif
        }
    }
#if packed
#pragma unroll
    for (int j = 0; j < per_y; j++)
#pragma unroll
        for (int i = 0; i < per_x; i++)
            sums[j][i] = pairs[j][i / 4 * 2 + i % 2] >> i % 4 / 2 * 16 & 0xffffu;
#endif
#pragma unroll
    for (int j = 0; j < per_y; j++)
#pragma unroll
        for (int i = 0; i < per_x; i++) {
            const int y = y0 + (int)threadIdx.y + j * block_y;
            const int x = x0 + (strided ? (int)threadIdx.x + i * block_x : (int)threadIdx.x * per_x + i);
            if (x < samples && y < rows) out[(size_t)y * samples + x] = (float)sums[j][i];
        }
}
