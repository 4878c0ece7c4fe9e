/* A star of 13 points in three dimensions: the value, its neighbours and theirs along each axis, with a weight for each
 * distance. in has two more values at every end, its rows an even number of them; threads beyond the end read beyond it, so
 * there are more of them. A thread computes per_x values side by side, read at once, in per_y rows, block_y
 * apart or next to each other (joined: what they share is read once), in per_z planes; method 0: from memory; 1: planes move
 * through registers; 2: and the plane between goes through shared memory. */
#define HALO 2
#define TILE_X (block_x * per_x)
#define TILE_Y (block_y * per_y)
#define WIDTH (TILE_X + 2 * HALO)
#define SPAN ((joined ? per_y : 1) + 2 * HALO) /* rows that a thread has at a time */

static __device__ __forceinline__ void read(const float *from, float *values) {
#if per_x == 2
    const float2 two = *(const float2 *)from;
    values[0] = two.x, values[1] = two.y;
#else
    values[0] = *from;
#endif
}

extern "C" __global__ void __launch_bounds__(block_x * block_y)
    star(float *out, const float *__restrict__ in, float centre, float near, float far, int nx, int ny, int nz) {
    const int x0 = (int)blockIdx.x * TILE_X, y0 = (int)blockIdx.y * TILE_Y, z0 = (int)blockIdx.z * per_z;
    const int own_x = (int)threadIdx.x * per_x, x = x0 + own_x;
    const int row = nx + 2 * HALO + nx % 2, plane = row * (ny + 2 * HALO);
    const float *corner = in + z0 * plane + y0 * row + x0; /* of what the block needs in its first plane */
    int own[per_y]; /* rows of the tile */
#pragma unroll
    for (int r = 0; r < per_y; r++)
        own[r] = joined ? (int)threadIdx.y * per_y + r : (int)threadIdx.y + r * block_y;
#if method == 2
    __shared__ __align__(8) float tile[(TILE_Y + 2 * HALO) * WIDTH];
#endif
#if method > 0
    float queue[per_y][2 * HALO + 1][per_x];
#pragma unroll
    for (int r = 0; r < per_y; r++)
#pragma unroll
        for (int k = 1; k <= 2 * HALO; k++)
            read(corner + (k - 1) * plane + (own[r] + HALO) * row + own_x + HALO, queue[r][k]);
#endif
#pragma unroll 1
    for (int z = z0; z < z0 + per_z && z < nz; z++, corner += plane) {
#if method == 2
        __syncthreads();
        for (int at = (int)(threadIdx.y * block_x + threadIdx.x); at < (TILE_Y + 2 * HALO) * WIDTH; at += block_x * block_y)
            tile[at] = corner[HALO * plane + at / WIDTH * row + at % WIDTH];
        __syncthreads();
#endif
        /* Of this plane, from the corner on. */
        auto around = [&](int y, int from, float *values) {
#if method == 2
            read(tile + y * WIDTH + from, values);
#else
            read(corner + HALO * plane + y * row + from, values);
#endif
        };
#if method > 0
#pragma unroll
        for (int r = 0; r < per_y; r++) {
#pragma unroll
            for (int k = 0; k < 2 * HALO; k++)
#pragma unroll
                for (int v = 0; v < per_x; v++)
                    queue[r][k][v] = queue[r][k + 1][v];
            read(corner + 2 * HALO * plane + (own[r] + HALO) * row + own_x + HALO, queue[r][2 * HALO]);
        }
#endif
        float rows[SPAN][per_x];
#pragma unroll
        for (int r = 0; r < per_y; r++) {
            const int top = joined ? r : 0; /* the first of this one's rows */
#pragma unroll
            for (int k = joined && r > 0 ? 2 * HALO : 0; k <= 2 * HALO; k++) {
#if method > 0
                const int same = joined ? r + k - HALO : k == HALO ? r : -1; /* whose value it is */
                if (same >= 0 && same < per_y) {
#pragma unroll
                    for (int v = 0; v < per_x; v++)
                        rows[top + k][v] = queue[same][HALO][v];
                    continue;
                }
#endif
                around(own[r] + k, own_x + HALO, rows[top + k]);
            }
            float line[per_x + 2 * HALO];
#pragma unroll
            for (int i = 0; i < HALO; i += per_x) {
                around(own[r] + HALO, own_x + i, line + i);
                around(own[r] + HALO, own_x + HALO + per_x + i, line + HALO + per_x + i);
            }
#if method > 0
            const float(*deep)[per_x] = queue[r];
#else
            float deep[2 * HALO + 1][per_x];
#pragma unroll
            for (int k = 0; k <= 2 * HALO; k++)
                if (k != HALO) read(corner + k * plane + (own[r] + HALO) * row + own_x + HALO, deep[k]);
#endif
            float sums[per_x];
#pragma unroll
            for (int v = 0; v < per_x; v++)
                line[HALO + v] = rows[top + HALO][v];
#pragma unroll
            for (int v = 0; v < per_x; v++) {
                const float one = line[v + 1] + line[v + 3] + rows[top + 1][v] + rows[top + 3][v] + deep[1][v] + deep[3][v];
                const float two = line[v] + line[v + 4] + rows[top][v] + rows[top + 4][v] + deep[0][v] + deep[4][v];
                sums[v] = centre * line[HALO + v] + near * one + far * two;
            }
            if (y0 + own[r] >= ny) continue;
            float *place = out + ((size_t)z * ny + y0 + own[r]) * nx + x;
#if per_x == 2
            if (nx % 2 == 0 && x < nx) *(float2 *)place = make_float2(sums[0], sums[1]);
            if (nx % 2 == 0) continue;
#endif
#pragma unroll
            for (int v = 0; v < per_x; v++)
                if (x + v < nx) place[v] = sums[v];
        }
    }
}
