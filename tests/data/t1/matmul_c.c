/* c = a b of row-major matrices in plain C, tile by tile: tile_i rows, tile_j columns, tile_k of the depth.
 * `order` of the loops in a tile: 0: row, depth, column; 1: depth, row, column; 2: row, column, depth; 3:
 * column, row, depth. So many `rows` go together; pack: a tile of b is copied to where it lies without gaps;
 * the innermost loop is `unrolled`. */
#include <stddef.h>

#define TEXT(words)   #words
#define UNROLL(times) _Pragma(TEXT(GCC unroll times))

typedef struct tile {
    float *c;
    const float *a, *b;
    int c_pitch, a_pitch, b_pitch, columns, depth;
} tile;

#if order < 2
static inline __attribute__((always_inline)) void update(const tile *t, int i, int k, const int together) {
    const float *b = t->b + (size_t)k * t->b_pitch;
    float *c = t->c + (size_t)i * t->c_pitch, left[rows];
    for (int r = 0; r < together; r++)
        left[r] = t->a[(size_t)(i + r) * t->a_pitch + k];
    UNROLL(unrolled)
    for (int j = 0; j < t->columns; j++)
        for (int r = 0; r < together; r++)
            c[(size_t)r * t->c_pitch + j] += left[r] * b[j];
}
#define OTHER depth
#else
static inline __attribute__((always_inline)) void update(const tile *t, int i, int j, const int together) {
    float sums[rows] = {0};
    UNROLL(unrolled)
    for (int k = 0; k < t->depth; k++)
        for (int r = 0; r < together; r++)
            sums[r] += t->a[(size_t)(i + r) * t->a_pitch + k] * t->b[(size_t)k * t->b_pitch + j];
    for (int r = 0; r < together; r++)
        t->c[(size_t)(i + r) * t->c_pitch + j] += sums[r];
}
#define OTHER columns
#endif

static void multiply(const tile *t, int height) {
    const int whole = height / rows * rows;
#if order % 2 == 0
    for (int i = 0; i < whole; i += rows)
        for (int o = 0; o < t->OTHER; o++)
            update(t, i, o, rows);
#else
    for (int o = 0; o < t->OTHER; o++)
        for (int i = 0; i < whole; i += rows)
            update(t, i, o, rows);
#endif
    for (int i = whole; i < height; i++)
        for (int o = 0; o < t->OTHER; o++)
            update(t, i, o, 1);
}

static int least(int a, int b) {
    return a < b ? a : b;
}

void matmul(float *c, const float *a, const float *b, int columns, int height, int depth);

void matmul(float *c, const float *a, const float *b, int columns, int height, int depth) {
    for (size_t at = 0; at < (size_t)height * columns; at++)
        c[at] = 0;
    for (int k0 = 0; k0 < depth; k0 += tile_k)
        for (int j0 = 0; j0 < columns; j0 += tile_j) {
            tile t = {.b = b + (size_t)k0 * columns + j0,
                      .c_pitch = columns,
                      .a_pitch = depth,
                      .b_pitch = columns,
                      .columns = least(tile_j, columns - j0),
                      .depth = least(tile_k, depth - k0)};
#if pack
            float copy[tile_k * tile_j];
            for (int k = 0; k < t.depth; k++)
                for (int j = 0; j < t.columns; j++)
                    copy[k * tile_j + j] = t.b[(size_t)k * columns + j];
            t.b = copy;
            t.b_pitch = tile_j;
#endif
            for (int i0 = 0; i0 < height; i0 += tile_i) {
                t.c = c + (size_t)i0 * columns + j0;
                t.a = a + (size_t)i0 * depth + k0;
                multiply(&t, least(tile_i, height - i0));
            }
        }
}
