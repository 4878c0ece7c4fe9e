/* Transforms rows back, from the spectrum to velocities. The extent is (blocks of KF_ROW_LINES lines x
 * threads, simulations). */
#include "rows.h"

KF_BLOCK_KERNEL(rows_inverse, kf_fluid_arguments) {
    KF_DYNAMIC_SHARED(kf_wide, shared, KF_ROW_SHARED);
    kf_twiddles twiddles;
    kf_row_twiddles(a, 1, &twiddles);
    KF_AWAIT_LAST;
    kf_rows_inverse(a, block_x, block_y, &twiddles, shared);
}
