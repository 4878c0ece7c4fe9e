/* out is the transposed of in, which has rows x columns. A block has tiles of tile_x x tile_y, one after the other where there are
 * fewer blocks than tiles; path 0: straight, reading along rows; 1: straight, writing along rows; 2: through shared memory, whose
 * rows are `padding` longer. What a thread has of a tile lies `threads` apart or side by side (strided). Stores may be marked as
 * not to be used again. */
#define SHARE (tile_x * tile_y / threads)
#if store_once
#define STORE(place, value) __stcs(place, value)
#else
#define STORE(place, value) (*(place) = (value))
#endif

extern "C" __global__ void __launch_bounds__(threads)
    transpose(float *out, const float *__restrict__ in, int columns, int rows) {
    const int across = (columns + tile_x - 1) / tile_x, tiles = across * ((rows + tile_y - 1) / tile_y);
    const int first = (int)threadIdx.x * (strided ? 1 : SHARE), step = strided ? threads : 1;
#if path == 2
    __shared__ float tile[tile_y][tile_x + padding];
#endif
#pragma unroll 1
    for (int number = (int)blockIdx.x; number < tiles; number += (int)gridDim.x) {
        const int x0 = number % across * tile_x, y0 = number / across * tile_y;
#if path == 2
        if (number >= (int)gridDim.x) __syncthreads(); /* the tile before has been read */
#pragma unroll
        for (int n = 0; n < SHARE; n++) {
            const int at = first + n * step, x = at % tile_x, y = at / tile_x;
            if (x0 + x < columns && y0 + y < rows) tile[y][x] = in[(size_t)(y0 + y) * columns + x0 + x];
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
            const float value = in[(size_t)(y0 + y) * columns + x0 + x];
#endif
            STORE(&out[(size_t)(x0 + x) * rows + y0 + y], value);
        }
    }
}
