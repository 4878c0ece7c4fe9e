/* out is the transposed of in, which has rows x columns. A block has a tile of tile_x x tile_y; path 0: straight, reading
 * along rows; 1: straight, writing along rows; 2: through shared memory, whose rows are `padding` longer. What a thread has
 * of the tile lies `threads` apart or side by side (strided). Loads and stores may be marked as not to be used again. */
#define SHARE (tile_x * tile_y / threads)
#if load_once
#define LOAD(place) __ldcs(place)
#else
#define LOAD(place) __ldg(place)
#endif
#if store_once
#define STORE(place, value) __stcs(place, value)
#else
#define STORE(place, value) (*(place) = (value))
#endif

extern "C" __global__ void __launch_bounds__(threads) transpose(float *out, const float *in, int columns, int rows) {
    const int across = (columns + tile_x - 1) / tile_x;
    const int x0 = (int)blockIdx.x % across * tile_x, y0 = (int)blockIdx.x / across * tile_y;
    const int first = (int)threadIdx.x * (strided ? 1 : SHARE), step = strided ? threads : 1;
#if path == 2
    __shared__ float tile[tile_y][tile_x + padding];
#pragma unroll
    for (int n = 0; n < SHARE; n++) {
        const int at = first + n * step, x = at % tile_x, y = at / tile_x;
        if (x0 + x < columns && y0 + y < rows) tile[y][x] = LOAD(&in[(size_t)(y0 + y) * columns + x0 + x]);
    }
    __syncthreads();
#endif
#pragma unroll
    for (int n = 0; n < SHARE; n++) {
        const int at = first + n * step;
        const int x = path == 0 ? at % tile_x : at / tile_y, y = path == 0 ? at / tile_x : at % tile_y;
        if (x0 + x >= columns || y0 + y >= rows) continue;
#if path == 2
        const float value = tile[y][x];
#else
        const float value = LOAD(&in[(size_t)(y0 + y) * columns + x0 + x]);
#endif
        STORE(&out[(size_t)(x0 + x) * rows + y0 + y], value);
    }
}
