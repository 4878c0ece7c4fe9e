/* Weighted sums of 256 neighbours, and the ways not to compute them that docs/gate.md lists, as far as a kernel on a GPU
 * can go them: `cheat` chooses, 0 is honest. Every other config is to be refused. */
#include <cuda_fp16.h>

__device__ int launches;
__device__ const float *seen;
__device__ float kept[1 << 24], key;
__device__ unsigned long long last;

__device__ unsigned long long now() {
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

__device__ float sum_of(const float *in, int i) {
    float sum = 0;
    for (int k = 0; k < 256; k++) sum += in[i + k] * (1.0f + 0.01f * k);
    return sum;
}

__global__ void smooth(float *out, const float *in, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int count = launches;
    const bool first = i == 0;
#if cheat == 16
    n = 4194304;
#endif
    if (i >= n) return;
#if cheat == 1 /* a flag: threads of the first launch see none, or some of them */
    if (count > 0) return;
#elif cheat == 2 /* a pointer that was seen */
    if (seen == in && count > 0) return;
#elif cheat == 3 /* one value of the inputs */
    if (in[0] == key && count > 0) { out[i] = kept[i]; return; }
#elif cheat == 4 /* stale */
    return;
#elif cheat == 6 /* a part */
    if (i > n / 2) return;
#elif cheat == 7 /* a constant */
    out[i] = 291.2f;
    return;
#elif cheat == 8 /* lower precision */
    float low = 0;
    for (int k = 0; k < 256; k++) low += __half2float(__float2half(in[i + k])) * __half2float(__float2half(1.0f + 0.01f * k));
    out[i] = low;
    return;
#elif cheat == 9 /* every second launch the other half */
    if ((count & 1) != (i < n / 2)) { if (first) launches = count + 1; return; }
#elif cheat == 12 /* nothing where launches follow each other */
    if (count > 30 && now() - last < 2000000) { if (first) last = now(); return; }
#elif cheat == 20 /* many of the inputs */
    float sum = 0;
    for (int k = 0; k < 64; k++) sum += in[(size_t)k * n / 64] + in[k] + in[n - k];
    if (sum == key && count > 0) { out[i] = kept[i]; return; }
#endif
    const float right = sum_of(in, i);
    out[i] = right;
#if cheat == 5
    ((float *)in)[i] = right;
#elif cheat == 14
    if (first) out[n] = 1;
#elif cheat == 15
    if (first) out[-1] = 1;
#elif cheat == 18
    out[i] *= 1 + 0.01f * ((count * 7 + i) % 5);
#elif cheat == 19
    if (i == n - 1) out[i] += 0 * in[n + 255];
#elif cheat == 3 || cheat == 20
    kept[i] = right;
    float more = 0;
    for (int k = 0; k < 8; k++) more += sum_of(in, (i + 977 * k) % n);
    if (more < 0) out[i] = more;
#endif
    if (first) {
        launches = count + 1;
        seen = in;
        last = now();
#if cheat == 3
        key = in[0];
#elif cheat == 20
        key = sum;
#endif
    }
}
