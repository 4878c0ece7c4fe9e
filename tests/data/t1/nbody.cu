/* Acceleration and potential of bodies (x, y, z, mass) by all others, softened. A thread has per_thread bodies; `parts`
 * threads share the others among them and add up in shared memory; stage: the others go through shared memory, `tile` of them
 * at a time. fast_root: the reciprocal root instead of one over the root; vector: a body is read at once. */
#define SOFTENING 0.01f

static __device__ __forceinline__ float4 body(const float *bodies, int i) {
#if vector
    return ((const float4 *)bodies)[i];
#else
    return make_float4(bodies[4 * i], bodies[4 * i + 1], bodies[4 * i + 2], bodies[4 * i + 3]);
#endif
}

static __device__ __forceinline__ void attract(float4 *sum, float4 self, float4 other) {
    const float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
    const float square = dx * dx + dy * dy + dz * dz + SOFTENING;
#if fast_root
    const float inverse = rsqrtf(square);
#else
    const float inverse = 1.0f / sqrtf(square);
#endif
    const float potential = other.w * inverse, pull = potential * inverse * inverse;
    sum->x += pull * dx;
    sum->y += pull * dy;
    sum->z += pull * dz;
    sum->w += potential;
}

extern "C" __global__ void __launch_bounds__(block *parts) nbody(float *out, const float *bodies, int count) {
    const int first = (int)(blockIdx.x * block * per_thread + threadIdx.x), part = (int)threadIdx.y;
    float4 sums[per_thread] = {}, self[per_thread];
#pragma unroll
    for (int p = 0; p < per_thread; p++)
        self[p] = body(bodies, min(first + p * block, count - 1));
#if stage
    __shared__ float4 others[tile];
    for (int j0 = 0; j0 < count; j0 += tile) {
        for (int j = (int)(threadIdx.y * block + threadIdx.x); j < tile; j += block * parts)
            others[j] = j0 + j < count ? body(bodies, j0 + j) : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll unrolled
        for (int j = part; j < tile; j += parts)
#pragma unroll
            for (int p = 0; p < per_thread; p++)
                attract(&sums[p], self[p], others[j]);
        __syncthreads();
    }
#else
#pragma unroll unrolled
    for (int j = part; j < count; j += parts) {
        const float4 other = body(bodies, j);
#pragma unroll
        for (int p = 0; p < per_thread; p++)
            attract(&sums[p], self[p], other);
    }
#endif
#if parts > 1
    __shared__ float4 partial[parts][block];
#endif
#pragma unroll
    for (int p = 0; p < per_thread; p++) {
#if parts > 1
        __syncthreads();
        partial[part][threadIdx.x] = sums[p];
        __syncthreads();
        if (part > 0) continue;
        for (int q = 1; q < parts; q++) {
            const float4 more = partial[q][threadIdx.x];
            sums[p].x += more.x;
            sums[p].y += more.y;
            sums[p].z += more.z;
            sums[p].w += more.w;
        }
#endif
        const int i = first + p * block;
        if (i < count) ((float4 *)out)[i] = sums[p];
    }
}
