/* Diffusion and projection (Stam 1999) between the transforms along the last axis, of the spectrum in place.
 * Extent: (blocks x threads, simulations); a block has KF_COLUMN_LINES columns, of one y in three dimensions.
 */
#include "columns.h"

KF_BLOCK_KERNEL(columns, kf_fluid_arguments) {
    KF_DYNAMIC_SHARED(kf_wide, shared, KF_COLUMN_SHARED);
    kf_both_twiddles twiddles;
    kf_both_column_twiddles(a, &twiddles);
    KF_AWAIT_LAST;
    kf_columns(a, block_x, block_y, &twiddles, shared);
}
