/* Transforms whole fields, one axis at a time, for plans that have the transforms apart and use no
 * library.
 *
 * Defines that a config sets:
 *   KF_NX, KF_NY, KF_NZ
 *   KF_LINE_N            values of a line
 *   KF_LINE_THREADS, KF_LINE_LINES, KF_LINE_MOST, KF_LINE_R0 .. R4   as for rows (rows.h)
 *   KF_LINE_ACROSS 0|1   1: adjacent lines are adjacent in memory */
#define KF_LANES KF_LINE_LINES
#include "transform.h"

#define KF_LINE_RADICES KF_LINE_R0, KF_LINE_R1, KF_LINE_R2, KF_LINE_R3, KF_LINE_R4
#define KF_LINE_ENGINE                                                                                       \
    KF_LINE_N, KF_LINE_THREADS, KF_LINE_LINES, KF_LINE_ACROSS, 1, KF_LINE_MOST, KF_LINE_RADICES
#define KF_LINE_LAST        KF_LAST_OF(KF_LINE_R0, KF_LINE_R1, KF_LINE_R2, KF_LINE_R3, KF_LINE_R4)
#define KF_LINE_AT(slot, i) KF_AT(0, slot, i, KF_LINE_N, KF_LINE_MOST)
#define KF_LINE_EACH(l, slot, i, radix)                                                                      \
    KF_EACH_VALUE(l, slot, i, KF_LINE_N, KF_LINE_THREADS, KF_LINE_LINES, KF_LINE_ACROSS, radix)
#define KF_HALF_MODES (KF_NX / 2 + 1)

KF_FUNCTION void kf_transform_lines(const kf_transform_arguments *a, kf_wide *v, kf_wide *shared,
                                    const int sign) {
    kf_twiddles twiddles;
    kf_load_twiddles(&twiddles, (const kf_complex *)a->twiddles + (sign < 0 ? 0 : KF_LINE_N - 1), sign,
                     KF_LINE_ENGINE);
    kf_transform(v, shared, &twiddles, sign, KF_LINE_ENGINE);
}

/* Transforms complex lines in place. The extent is (blocks x threads, groups). */
KF_FUNCTION void kf_complex_lines(const kf_transform_arguments *a, int block, int group, kf_wide *shared,
                                  const int sign, const int from, const int to) {
    kf_wide v[KF_VALUES(1, KF_LINE_N, KF_LINE_MOST)];
    kf_complex *base = (kf_complex *)a->values + a->group * group;
    KF_LINE_EACH(l, slot, i, from) {
        const int wanted = block * KF_LINE_LINES + l;
        const int line = wanted < a->lines ? wanted : a->lines - 1;
        kf_set(v, KF_LINE_AT(slot, i), l, base[a->line * line + a->stride * i]);
    }
    kf_transform_lines(a, v, shared, sign);
    KF_LINE_EACH(l, slot, i, to) {
        const int line = block * KF_LINE_LINES + l;
        if (line < a->lines) base[a->line * line + a->stride * i] = kf_get(v, KF_LINE_AT(slot, i), l);
    }
}
KF_BLOCK_KERNEL(lines_forward, kf_transform_arguments) {
    KF_DYNAMIC_SHARED(kf_wide, shared, KF_EXCHANGE_VALUES(1, KF_LINE_N, KF_LINE_LINES));
    kf_complex_lines(a, block_x, block_y, shared, -1, KF_LINE_R0, KF_LINE_LAST);
}
KF_BLOCK_KERNEL(lines_inverse, kf_transform_arguments) {
    KF_DYNAMIC_SHARED(kf_wide, shared, KF_EXCHANGE_VALUES(1, KF_LINE_N, KF_LINE_LINES));
    kf_complex_lines(a, block_x, block_y, shared, 1, KF_LINE_LAST, KF_LINE_R0);
}

/* Transforms rows of a real field to their modes in place, two rows as one complex line. */
KF_BLOCK_KERNEL(real_rows_forward, kf_transform_arguments) {
    KF_DYNAMIC_SHARED(kf_wide, shared, KF_EXCHANGE_VALUES(1, KF_LINE_N, KF_LINE_LINES));
    kf_wide v[KF_VALUES(1, KF_LINE_N, KF_LINE_MOST)];
    KF_LINE_EACH(l, slot, i, KF_LINE_R0) {
        const int wanted = 2 * (block_x * KF_LINE_LINES + l);
        const int row = wanted < a->lines ? wanted : a->lines - 1, next = row + 1 < a->lines ? row + 1 : row;
        kf_set(v, KF_LINE_AT(slot, i), l,
               kf_complex_of(((const kf_real *)a->values)[a->line * row + i],
                             ((const kf_real *)a->values)[a->line * next + i]));
    }
    kf_transform_lines(a, v, shared, -1);
    KF_BARRIER;
    KF_LINE_EACH(l, slot, i, KF_LINE_LAST) {
        kf_set(shared, KF_LINE_PLACE(0, i, l, KF_LINE_N, KF_LINE_LINES), l,
               kf_get(v, KF_LINE_AT(slot, i), l));
    }
    KF_BARRIER;
    KF_LINE_EACH(l, slot, i, KF_LINE_LAST) {
        const int row = 2 * (block_x * KF_LINE_LINES + l);
        kf_complex *modes = (kf_complex *)((kf_real *)a->values + a->line * row);
        if (i < KF_HALF_MODES && row < a->lines) {
            const kf_complex here = kf_get(v, KF_LINE_AT(slot, i), l);
            const kf_complex mirrored =
                kf_get(shared, KF_LINE_PLACE(0, i == 0 ? 0 : KF_LINE_N - i, l, KF_LINE_N, KF_LINE_LINES), l);
            modes[i] =
                kf_complex_of(KF_R(0.5) * (here.re + mirrored.re), KF_R(0.5) * (here.im - mirrored.im));
            if (row + 1 < a->lines)
                modes[i + a->line / 2] =
                    kf_complex_of(KF_R(0.5) * (here.im + mirrored.im), KF_R(0.5) * (mirrored.re - here.re));
        }
    }
}
/* Transforms modes back to rows of a real field. A mode at half the sampling rate counts as real. */
KF_BLOCK_KERNEL(real_rows_inverse, kf_transform_arguments) {
    KF_DYNAMIC_SHARED(kf_wide, shared, KF_EXCHANGE_VALUES(1, KF_LINE_N, KF_LINE_LINES));
    kf_wide v[KF_VALUES(1, KF_LINE_N, KF_LINE_MOST)];
    KF_LINE_EACH(l, slot, i, KF_LINE_LAST) {
        const int wanted = 2 * (block_x * KF_LINE_LINES + l);
        const int row = wanted < a->lines ? wanted : a->lines - 1;
        const kf_complex *modes = (const kf_complex *)((const kf_real *)a->values + a->line * row);
        const long long next = row + 1 < a->lines ? a->line / 2 : 0;
        const int up = i < KF_HALF_MODES, k = up ? i : KF_LINE_N - i;
        kf_complex p = modes[k], q = modes[k + next];
        if (!up) p.im = -p.im, q.im = -q.im;
        if (k == 0 || 2 * k == KF_LINE_N) p.im = q.im = 0;
        kf_set(v, KF_LINE_AT(slot, i), l, kf_complex_of(p.re - q.im, p.im + q.re));
    }
    KF_BARRIER;
    kf_transform_lines(a, v, shared, 1);
    KF_LINE_EACH(l, slot, i, KF_LINE_R0) {
        const int row = 2 * (block_x * KF_LINE_LINES + l);
        kf_real *values = (kf_real *)a->values + a->line * row;
        if (row < a->lines) values[i] = kf_get(v, KF_LINE_AT(slot, i), l).re;
        if (row + 1 < a->lines) values[i + a->line] = kf_get(v, KF_LINE_AT(slot, i), l).im;
    }
}
