/* Many steps in one launch, in two dimensions: the three passes of the fused plan with a barrier of all blocks between
 * them. All blocks must be resident at once; the plan launches no more than fit. For small grids, where a step is a chain
 * of latencies. Only for GPUs: the cpu's
 * blocks run one after the other.
 * Defines: those of rows.h and columns.h; a block has threads for the larger of both */
#include "rows.h"
#include "columns.h"

/* Blocks wait until all have come as often. What they wrote before is then seen by all. */
KF_FUNCTION void kf_wait_for_all(int *arrivals, int blocks) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const int mine = atomicAdd(arrivals, 1);
        const int goal = (mine / blocks + 1) * blocks;
        while (*(volatile int *)arrivals - goal < 0) {}
        __threadfence();
    }
    __syncthreads();
}

KF_BLOCK_KERNEL(persistent, kf_fluid_arguments) {
    KF_DYNAMIC_SHARED(kf_complex, shared, 1);
    const int row_blocks = (KF_ROWS + KF_ROW_LINES - 1) / KF_ROW_LINES, column_blocks = KF_COLUMN_TILES;
    const int blocks = (int)gridDim.x;
    for (int step = 0; step < a->steps; step++) {
        for (int i = block_x; i < row_blocks * a->simulations; i += blocks) {
            kf_rows_forward(a, i % row_blocks, i / row_blocks, shared);
            KF_BARRIER;
        }
        kf_wait_for_all(a->barrier, blocks);
        for (int i = block_x; i < column_blocks * a->simulations; i += blocks) {
            kf_columns(a, i % column_blocks, i / column_blocks, shared);
            KF_BARRIER;
        }
        kf_wait_for_all(a->barrier, blocks);
        for (int i = block_x; i < row_blocks * a->simulations; i += blocks) {
            kf_rows_inverse(a, i % row_blocks, i / row_blocks, shared);
            KF_BARRIER;
        }
        if (step + 1 < a->steps) kf_wait_for_all(a->barrier, blocks);
    }
    /* The last block to end leaves the counters as they were. */
    if (threadIdx.x == 0 && atomicAdd(a->barrier + 32, 1) == blocks - 1) a->barrier[0] = a->barrier[32] = 0;
    (void)block_y;
}
