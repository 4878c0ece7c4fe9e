/* Does many steps in one launch, in two dimensions: the three passes of the plan fused, with a barrier of
 * all blocks between them. It serves small grids, whose steps are chains of latencies. All blocks must be
 * resident at once, so the plan launches no more than fit. The cpu cannot run it, because its blocks run
 * one after the other. The defines are those of rows.h and columns.h. A block has threads for the larger
 * of both. */
#define KF_KEEP_POWERS 1
#define KF_SURPLUS                                                                                           \
    (KF_ROW_THREADS * KF_ROW_LINES != KF_COLUMN_THREADS * KF_COLUMN_LINES * (KF_COMPONENT_PER_THREAD ? 2 : 1))
#include "rows.h"
#include "columns.h"

/* Makes blocks wait until all have arrived. goal: the number of arrivals since the launch at which this is
 * so. After it, all see what others wrote before it. Arriving is a reduction, which need not wait for the
 * old value. */
KF_FUNCTION void kf_wait_for_all(int *arrivals, int goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        int seen;
        asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(arrivals) : "memory");
        do
            asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(arrivals) : "memory");
        while (seen - goal < 0);
    }
    __syncthreads();
}

/* Does a->steps time steps. All blocks share each of the three passes (rows forward, columns, rows
 * inverse), and wait for each other between them. */
KF_BLOCK_KERNEL(persistent, kf_fluid_arguments) {
    KF_DYNAMIC_SHARED(kf_complex, shared, 1);
    const int row_blocks = (KF_ROWS + KF_ROW_LINES - 1) / KF_ROW_LINES, column_blocks = KF_COLUMN_TILES;
    const int blocks = (int)gridDim.x;
    int arrivals = 0;
    kf_twiddles rows, back;
    kf_both_twiddles columns;
    kf_row_twiddles(a, -1, &rows);
    if (!KF_PALINDROME(KF_ROW_R0, KF_ROW_R1, KF_ROW_R2, KF_ROW_R3, KF_ROW_R4)) kf_row_twiddles(a, 1, &back);
    kf_both_column_twiddles(a, &columns);
    for (int step = 0; step < a->steps; step++) {
        for (int i = block_x; i < row_blocks * a->simulations; i += blocks) {
            kf_rows_forward(a, i % row_blocks, i / row_blocks, &rows, shared);
            KF_BARRIER;
        }
        kf_wait_for_all(a->barrier, arrivals += blocks);
        for (int i = block_x; i < column_blocks * a->simulations; i += blocks) {
            kf_columns(a, i % column_blocks, i / column_blocks, &columns, shared);
            KF_BARRIER;
        }
        kf_wait_for_all(a->barrier, arrivals += blocks);
        for (int i = block_x; i < row_blocks * a->simulations; i += blocks) {
            kf_rows_inverse(
                a, i % row_blocks, i / row_blocks,
                KF_PALINDROME(KF_ROW_R0, KF_ROW_R1, KF_ROW_R2, KF_ROW_R3, KF_ROW_R4) ? &rows : &back, shared);
            KF_BARRIER;
        }
        if (step + 1 < a->steps) kf_wait_for_all(a->barrier, arrivals += blocks);
    }
    /* The last block to end sets the counters to 0, for the next launch. */
    if (threadIdx.x == 0 && atomicAdd(a->barrier + 32, 1) == blocks - 1) a->barrier[0] = a->barrier[32] = 0;
    (void)block_y;
}
