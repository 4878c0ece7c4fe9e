/* The transform along y of a three-dimensional spectrum, one component at a time, in place. The extent is
 * (blocks x threads, simulations). A block has KF_COLUMN_LINES columns of one z and one component. The
 * defines are those of columns.h, for lines of NY values. */
#define KF_LANES KF_COLUMN_LINES
#include "modes.h"
#include "transform.h"

#define KF_COLUMN_RADICES KF_COLUMN_R0, KF_COLUMN_R1, KF_COLUMN_R2, KF_COLUMN_R3, KF_COLUMN_R4
#define KF_COLUMN_ENGINE  KF_NY, KF_COLUMN_THREADS, KF_COLUMN_LINES, 1, 1, KF_COLUMN_MOST, KF_COLUMN_RADICES
#define KF_COLUMN_LAST    KF_LAST_OF(KF_COLUMN_R0, KF_COLUMN_R1, KF_COLUMN_R2, KF_COLUMN_R3, KF_COLUMN_R4)
#define KF_COLUMN_TILES   ((KF_MODES_X + KF_COLUMN_LINES - 1) / KF_COLUMN_LINES)

KF_FUNCTION void kf_axis(const kf_fluid_arguments *a, int block, int simulation, kf_wide *shared,
                         const int sign, const int from, const int to) {
    kf_wide v[KF_VALUES(1, KF_NY, KF_COLUMN_MOST)];
    const int first = block % KF_COLUMN_TILES * KF_COLUMN_LINES, rest = block / KF_COLUMN_TILES;
    const int planes = KF_ROWS / KF_NY, iz = rest % planes, component = rest / planes;
    kf_twiddles twiddles;
    kf_load_twiddles(&twiddles, (const kf_complex *)a->twiddles_y + (sign < 0 ? 0 : KF_NY - 1), sign,
                     KF_COLUMN_ENGINE);
    KF_AWAIT_LAST;
    KF_EACH_VALUE(l, slot, i, KF_NY, KF_COLUMN_THREADS, KF_COLUMN_LINES, 1, from) {
        kf_set(v, KF_AT(0, slot, i, KF_NY, KF_COLUMN_MOST), l,
               kf_mode_from(*kf_mode(a, simulation, component, kf_mode_place(first + l, iz * KF_NY + i))));
    }
    kf_transform(v, shared, &twiddles, sign, KF_COLUMN_ENGINE);
    KF_EACH_VALUE(l, slot, i, KF_NY, KF_COLUMN_THREADS, KF_COLUMN_LINES, 1, to) {
        *kf_mode(a, simulation, component, kf_mode_place(first + l, iz * KF_NY + i)) =
            kf_mode_to(kf_get(v, KF_AT(0, slot, i, KF_NY, KF_COLUMN_MOST), l));
    }
}

KF_BLOCK_KERNEL(axis_forward, kf_fluid_arguments) {
    KF_DYNAMIC_SHARED(kf_wide, shared, KF_EXCHANGE_VALUES(1, KF_NY, KF_COLUMN_LINES));
    kf_axis(a, block_x, block_y, shared, -1, KF_COLUMN_R0, KF_COLUMN_LAST);
}
KF_BLOCK_KERNEL(axis_inverse, kf_fluid_arguments) {
    KF_DYNAMIC_SHARED(kf_wide, shared, KF_EXCHANGE_VALUES(1, KF_NY, KF_COLUMN_LINES));
    kf_axis(a, block_x, block_y, shared, 1, KF_COLUMN_LAST, KF_COLUMN_R0);
}
