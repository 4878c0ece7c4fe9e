/* Advects and transforms rows in one pass, from the velocity to the spectrum. The extent is (blocks of
 * KF_ROW_LINES lines x threads, simulations). */
#include "rows.h"

KF_BLOCK_KERNEL(rows_forward, kf_fluid_arguments) {
    KF_DYNAMIC_SHARED(kf_wide, shared, KF_ROW_SHARED);
    kf_twiddles twiddles;
    kf_row_twiddles(a, -1, &twiddles);
    KF_AWAIT_LAST;
    kf_rows_forward(a, block_x, block_y, &twiddles, shared);
}
