/* Transforms the spectrum along the last axis, divides by the diffusion and projects (Stam 1999), and
 * transforms back, in place. The extent is (blocks x threads, simulations). A block has KF_COLUMN_LINES
 * columns, in three dimensions of one y. */
#include "columns.h"

KF_BLOCK_KERNEL(columns, kf_fluid_arguments) {
    KF_DYNAMIC_SHARED(kf_wide, shared, KF_COLUMN_SHARED);
    kf_both_twiddles twiddles;
    kf_both_column_twiddles(a, &twiddles);
    KF_AWAIT_LAST;
    kf_columns(a, block_x, block_y, &twiddles, shared);
}
