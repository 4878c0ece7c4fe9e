/* Running sums of each row, a tile of `rows` rows and `columns` columns at a time: plain C. With by_columns
 * the loops are the other way round. With `forgets` a row begins anew in every tile, which is faster and
 * wrong. */
#include <stddef.h>

void sums(float *out, const float *in, int width, int height);

void sums(float *out, const float *in, int width, int height) {
    for (int y0 = 0; y0 < height; y0 += rows)
        for (int x0 = 0; x0 < width; x0 += columns) {
            const int y1 = y0 + rows < height ? y0 + rows : height,
                      x1 = x0 + columns < width ? x0 + columns : width;
#if by_columns
            for (int x = x0; x < x1; x++)
                for (int y = y0; y < y1; y++)
#else
            for (int y = y0; y < y1; y++)
                for (int x = x0; x < x1; x++)
#endif
                {
                    const size_t at = (size_t)y * width + x;
                    out[at] = in[at] + (x > (forgets ? x0 : 0) ? out[at - 1] : 0);
                }
        }
}
