/* Each value is the sum of FILTER x FILTER values from it on, weighted: plain C. per_x values in per_y rows
 * are summed at a time; by_columns: the filter is gone through column by column; down: each value of the
 * input is added to all rows that it belongs to; simd: the compiler is told that the values of a row do not
 * depend on each other; the inner loop over the filter is `unrolled`. */
#include <stddef.h>

#define TEXT(words)   #words
#define UNROLL(times) _Pragma(TEXT(GCC unroll times))

#define FILTER 15
#if simd
#define INDEPENDENT _Pragma("omp simd")
#else
#define INDEPENDENT
#endif

/* Of height rows and width values, from in on. */
static inline __attribute__((always_inline)) void sum(float *out, const float *in, const float *weights,
                                                      int pitch, int out_pitch, const int across,
                                                      const int down_to) {
    float sums[per_y][per_x] = {{0}};
    for (int outer = 0; outer < FILTER + (down && !by_columns ? down_to - 1 : 0); outer++) {
        UNROLL(unrolled)
        for (int inner = 0; inner < FILTER + (down && by_columns ? down_to - 1 : 0); inner++) {
            const int j = by_columns ? inner : outer, i = by_columns ? outer : inner;
#if down
            const float *from = in + (size_t)j * pitch + i;
            for (int r = 0; r < down_to; r++) {
                if (j < r || j - r >= FILTER) continue;
                const float weight = weights[(j - r) * FILTER + i];
                INDEPENDENT
                for (int c = 0; c < across; c++)
                    sums[r][c] += weight * from[c];
            }
#else
            const float weight = weights[j * FILTER + i];
            for (int r = 0; r < down_to; r++) {
                const float *from = in + (size_t)(j + r) * pitch + i;
                INDEPENDENT
                for (int c = 0; c < across; c++)
                    sums[r][c] += weight * from[c];
            }
#endif
        }
    }
    for (int r = 0; r < down_to; r++)
        for (int c = 0; c < across; c++)
            out[(size_t)r * out_pitch + c] = sums[r][c];
}

void convolution(float *out, const float *in, const float *weights, int width, int height);

void convolution(float *out, const float *in, const float *weights, int width, int height) {
    const int pitch = width + FILTER - 1;
    for (int y = 0; y < height; y += per_y)
        for (int x = 0; x < width; x += per_x) {
            float *to = out + (size_t)y * width + x;
            const float *from = in + (size_t)y * pitch + x;
            if (x + per_x <= width && y + per_y <= height)
                sum(to, from, weights, pitch, width, per_x, per_y);
            else
                for (int r = 0; r < per_y && y + r < height; r++)
                    for (int c = 0; c < per_x && x + c < width; c++)
                        sum(to + (size_t)r * width + c, from + (size_t)r * pitch + c, weights, pitch, width,
                            1, 1);
        }
}
