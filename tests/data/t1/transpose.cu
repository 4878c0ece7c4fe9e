/* out is the transposed of in, which has rows x columns. A block has a tile of tile_x x tile_y; path 0: straight, reading
 * along rows; 1: straight, writing along rows; 2: through shared memory, whose rows are `padding` longer. by_columns: blocks that follow
 * each other lie below each other. Loads and stores may be marked as not to be used again. */
#define AREA (tile_x * tile_y)
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
    const int across = (columns + tile_x - 1) / tile_x, down = (rows + tile_y - 1) / tile_y, block = (int)blockIdx.x;
    const int x0 = (by_columns ? block / down : block % across) * tile_x;
    const int y0 = (by_columns ? block % down : block / across) * tile_y;
#if path == 2
    __shared__ float tile[tile_y][tile_x + padding];
#pragma unroll
    for (int at = (int)threadIdx.x; at < AREA; at += threads) {
        const int x = at % tile_x, y = at / tile_x;
        if (x0 + x < columns && y0 + y < rows) tile[y][x] = LOAD(&in[(size_t)(y0 + y) * columns + x0 + x]);
    }
    __syncthreads();
#endif
#pragma unroll
    for (int at = (int)threadIdx.x; at < AREA; at += threads) {
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
