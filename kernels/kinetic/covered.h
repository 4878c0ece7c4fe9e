/* The nodes that a step of a nested grid need not compute. A finer grid has the state of the nodes in its
 * box. Other nodes read only the outermost layer of these, which is written after the step. Ghosts lie
 * beyond the grid's own box: the first of two steps leaves one layer of them right, which the second
 * reads, and the second step leaves none.
 *
 * Defines of a level's scene: KF_COVERED 1: a finer grid covers some nodes. KF_GHOSTS 1: there are ghosts. */
#ifndef KF_KERNELS_KINETIC_COVERED_H
#define KF_KERNELS_KINETIC_COVERED_H

#ifndef KF_COVERED
#define KF_COVERED 0
#endif
#ifndef KF_GHOSTS
#define KF_GHOSTS 0
#endif
#define KF_LEAVES_OUT (KF_COVERED || KF_GHOSTS)

#if KF_LEAVES_OUT
/* Returns whether a finer grid covers nodes x0 to x1 - 1 in rows y0 to y1 - 1, in the planes
 * covered.low[2] to covered.high[2] - 1. */
KF_FUNCTION int kf_is_column_covered(const kf_module_arguments *a, int x0, int x1, int y0, int y1) {
    return KF_COVERED && x0 >= a->covered.low[0] && x1 <= a->covered.high[0] && y0 >= a->covered.low[1] &&
           y1 <= a->covered.high[1];
}
KF_FUNCTION int kf_are_covered(const kf_module_arguments *a, int x0, int x1, int y, int z) {
    return z >= a->covered.low[2] && z < a->covered.high[2] && kf_is_column_covered(a, x0, x1, y, y + 1);
}
/* Returns whether rows y0 to y1 - 1 are all ghosts that nothing reads. Columns of ghosts are parts of
 * rows. */
KF_FUNCTION int kf_are_rows_unread(const kf_module_arguments *a, int y0, int y1) {
    return KF_GHOSTS && (y1 <= a->needed.low[1] || y0 >= a->needed.high[1]);
}
KF_FUNCTION int kf_are_left_out(const kf_module_arguments *a, int x0, int x1, int y, int z) {
    return kf_are_rows_unread(a, y, y + 1) ||
           (KF_GHOSTS && (z < a->needed.low[2] || z >= a->needed.high[2])) || kf_are_covered(a, x0, x1, y, z);
}
#else
#define kf_are_left_out(a, x0, x1, y, z) 0
#endif

#if defined(KF_TILE_X)
/* Shortens a walk from plane *first to before *end by the planes at its ends that the tile leaves out.
 * Returns whether none is left. */
KF_FUNCTION int kf_shorten_walk(const kf_module_arguments *a, int x0, int y0, int *first, int *end) {
#if KF_LEAVES_OUT
    if (kf_are_rows_unread(a, y0 + 1, y0 + 1 + KF_TILE_Y)) return 1;
    if (KF_GHOSTS && *first < a->needed.low[2]) *first = a->needed.low[2];
    if (KF_GHOSTS && *end > a->needed.high[2]) *end = a->needed.high[2];
    if (kf_is_column_covered(a, x0 + 1, x0 + 1 + KF_TILE_X, y0 + 1, y0 + 1 + KF_TILE_Y)) {
        const int low = a->covered.low[2], high = a->covered.high[2];
        if (*first >= low && *first < high) *first = high;
        if (*end > low && *end <= high) *end = low;
    }
    return *first >= *end;
#else
    (void)a, (void)x0, (void)y0, (void)first, (void)end;
    return 0;
#endif
}
#endif

#endif
