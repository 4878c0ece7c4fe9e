/* Nodes whose state a finer grid has (nested grids): nothing of this grid's step is needed there, as what
 * others read of them, the outermost layer, is written after it.
 *
 * Define of a level's scene: KF_COVERED 1: there are such nodes. */
#ifndef KF_KERNELS_KINETIC_COVERED_H
#define KF_KERNELS_KINETIC_COVERED_H

#if KF_COVERED
/* True of nodes x0 to x1 - 1 in rows y0 to y1 - 1, of the planes covered.low[2] to covered.high[2] - 1. */
KF_FUNCTION int kf_is_column_covered(const kf_module_arguments *a, int x0, int x1, int y0, int y1) {
    return x0 >= a->covered.low[0] && x1 <= a->covered.high[0] && y0 >= a->covered.low[1] &&
           y1 <= a->covered.high[1];
}
KF_FUNCTION int kf_are_covered(const kf_module_arguments *a, int x0, int x1, int y, int z) {
    return z >= a->covered.low[2] && z < a->covered.high[2] && kf_is_column_covered(a, x0, x1, y, y + 1);
}
#else
#define kf_are_covered(a, x0, x1, y, z) 0
#endif

#endif
