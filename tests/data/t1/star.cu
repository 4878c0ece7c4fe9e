/* A star of 13 points in three dimensions: the value, its neighbours and theirs along each axis, with a weight for each
 * distance. in has two more values at every end. A thread computes per_y rows, block_y apart, in per_z planes; method 0: from
 * memory; 1: planes move through registers; 2: and the plane between goes through shared memory. */
#define HALO 2
#define TILE_Y (block_y * per_y)
#define WIDTH (block_x + 2 * HALO)

extern "C" __global__ void __launch_bounds__(block_x * block_y)
    star(float *out, const float *__restrict__ in, float centre, float near, float far, int nx, int ny, int nz) {
    const int x = (int)(blockIdx.x * block_x + threadIdx.x), y0 = (int)blockIdx.y * TILE_Y, z0 = (int)blockIdx.z * per_z;
    const size_t row = (size_t)nx + 2 * HALO, plane = row * (size_t)(ny + 2 * HALO);
#if method == 2
    __shared__ float tile[(TILE_Y + 2 * HALO) * WIDTH];
#endif
#if method > 0
    float queue[per_y][2 * HALO + 1];
#pragma unroll
    for (int r = 0; r < per_y; r++) {
        const int y = y0 + (int)threadIdx.y + r * block_y;
#pragma unroll
        for (int k = 1; k <= 2 * HALO; k++)
            queue[r][k] = x < nx && y < ny && z0 + k - 1 < nz + 2 * HALO
                              ? in[(size_t)(z0 + k - 1) * plane + (size_t)(y + HALO) * row + x + HALO]
                              : 0.0f;
    }
#endif
#pragma unroll 1
    for (int z = z0; z < z0 + per_z && z < nz; z++) {
#if method == 2
        __syncthreads();
        for (int at = (int)(threadIdx.y * block_x + threadIdx.x); at < (TILE_Y + 2 * HALO) * WIDTH; at += block_x * block_y) {
            const int i = (int)blockIdx.x * block_x + at % WIDTH, j = y0 + at / WIDTH;
            tile[at] = i < nx + 2 * HALO && j < ny + 2 * HALO ? in[(size_t)(z + HALO) * plane + (size_t)j * row + i] : 0.0f;
        }
        __syncthreads();
#endif
#pragma unroll
        for (int r = 0; r < per_y; r++) {
            const int own = (int)threadIdx.y + r * block_y, y = y0 + own;
            if (x >= nx || y >= ny) continue;
            const float *at = in + (size_t)(z + HALO) * plane + (size_t)(y + HALO) * row + x + HALO;
#if method == 2
            const float *around = tile + (own + HALO) * WIDTH + (int)threadIdx.x + HALO;
            const int step = WIDTH;
#else
            const float *around = at;
            const size_t step = row;
#endif
#if method > 0
#pragma unroll
            for (int k = 0; k < 2 * HALO; k++)
                queue[r][k] = queue[r][k + 1];
            queue[r][2 * HALO] = at[2 * plane];
            const float value = queue[r][2], above = queue[r][1] + queue[r][3], beyond = queue[r][0] + queue[r][4];
#else
            const float value = *at, above = at[plane] + *(at - plane), beyond = at[2 * plane] + *(at - 2 * plane);
#endif
            const float one = around[1] + *(around - 1) + around[step] + *(around - step) + above;
            const float two = around[2] + *(around - 2) + around[2 * step] + *(around - 2 * step) + beyond;
            const float sum = centre * value + near * one + far * two;
            float *place = out + ((size_t)z * ny + y) * nx + x;
#if store_once
            __stcs(place, sum);
#else
            *place = sum;
#endif
        }
    }
}
