/* Nested grids: what crosses between a level and the next finer one, whose cells are half as wide and which
 * takes two steps for one. Density and velocity are the same on both; the second moments that a collision
 * leaves stand for the rate of strain and are scaled by the host's factor (docs/physics.md). An item is a
 * cell of the coarser level. Defines: those of state.cu. */
#include "nested_arguments.h"
typedef kf_nested_side kf_module_arguments; /* what the functions of the headers take */

#include "left.h"
#include "moments.h"

enum { KF_CROSSING = 9 };
/* Density - 1, velocity, and halves of the second moments without their trace, xx yy xy xz yz, over the
 * density; all but the velocity in KF_UNIT. */
typedef struct kf_crossing {
    kf_real value[KF_CROSSING];
} kf_crossing;

#define KF_ADD_SUMS(i, name, cx, cy, cz)                                                                     \
    s.one += f_##name;                                                                                       \
    if ((cx) != 0) s.x += KF_R(cx) * f_##name;                                                               \
    if ((cy) != 0) s.y += KF_R(cy) * f_##name;                                                               \
    if ((cz) != 0) s.z += KF_R(cz) * f_##name;                                                               \
    if ((cx) != 0) s.xx += f_##name;                                                                         \
    if ((cy) != 0) s.yy += f_##name;                                                                         \
    if ((cz) != 0) s.zz += f_##name;                                                                         \
    if ((cx) * (cy) != 0) s.xy += KF_R((cx) * (cy)) * f_##name;                                              \
    if ((cx) * (cz) != 0) s.xz += KF_R((cx) * (cz)) * f_##name;                                              \
    if ((cy) * (cz) != 0) s.yz += KF_R((cy) * (cz)) * f_##name;

/* This is what populations after a collision say, whose momentum has half of a step's force too much. */
KF_FUNCTION kf_crossing kf_of_populations(const kf_nested_side *a, const kf_real *populations) {
    kf_sums s;
    kf_crossing c;
    s.one = s.x = s.y = s.z = s.xx = s.yy = s.zz = s.xy = s.xz = s.yz = KF_R(0.0);
    KF_EACH_VELOCITY(KF_TAKE_POPULATION)
    KF_EACH_VELOCITY(KF_ADD_SUMS)
    (void)a;
    const kf_real density = KF_R(KF_UNIT) + s.one, per_density = KF_R(1.0) / density;
    const kf_real ux = (s.x - KF_R(0.5) * KF_BODY_X) * per_density,
                  uy = (s.y - KF_R(0.5) * KF_BODY_Y) * per_density,
                  uz = (s.z - KF_R(0.5) * KF_BODY_Z) * per_density;
    const kf_real xx = s.xx - ux * (s.x + s.x - density * ux), yy = s.yy - uy * (s.y + s.y - density * uy),
                  zz = s.zz - uz * (s.z + s.z - density * uz);
    const kf_real third = (xx + yy + zz) * KF_R(1.0 / 3.0), half = KF_R(0.5) * per_density;
    c.value[0] = s.one;
    c.value[1] = ux;
    c.value[2] = uy;
    c.value[3] = uz;
    c.value[4] = half * (xx - third);
    c.value[5] = half * (yy - third);
    c.value[6] = half * (s.xy - ux * s.y - uy * s.x + density * ux * uy);
    c.value[7] = half * (s.xz - ux * s.z - uz * s.x + density * ux * uz);
    c.value[8] = half * (s.yz - uy * s.z - uz * s.y + density * uy * uz);
    return c;
}

#define KF_LOAD_TO_ARRAY(i, name, cx, cy, cz)                                                                \
    populations[i] = kf_from_store(*kf_address(a, a->populations.source, i, k));
#define KF_STORE_FROM_ARRAY(i, name, cx, cy, cz)                                                             \
    *kf_address(a, a->populations.source, i, k) = kf_to_store(populations[i]);

/* This is what node k of a level says. */
KF_FUNCTION kf_crossing kf_look(const kf_nested_side *a, kf_index k) {
    kf_real populations[27];
#if KF_MOMENTS
    const kf_held h = kf_load_held(a, a->populations.source, k);
    if (!kf_is_listed(&h)) {
        const kf_moments m = kf_to_moments(&h);
        const kf_real per_density = KF_R(1.0) / (KF_R(KF_UNIT) + m.deviation),
                      third = (m.xx + m.yy + KF_ZZ(&m)) * KF_R(1.0 / 3.0);
        kf_crossing c;
        c.value[0] = m.deviation;
        c.value[1] = m.ux;
        c.value[2] = m.uy;
        c.value[3] = m.uz;
        c.value[4] = (m.xx - third) * per_density;
        c.value[5] = (m.yy - third) * per_density;
        c.value[6] = m.xy * per_density;
        c.value[7] = m.xz * per_density;
        c.value[8] = m.yz * per_density;
        return c;
    }
    kf_held_populations(a, &h, populations, 1);
#else
    KF_EACH_VELOCITY(KF_LOAD_TO_ARRAY)
#endif
    return kf_of_populations(a, populations);
}

/* Gives node k of a level the state after a collision that says c. */
KF_FUNCTION void kf_put(const kf_nested_side *a, kf_index k, const kf_real *c, kf_real scale) {
    const kf_real factor = (KF_R(KF_UNIT) + c[0]) * scale;
    kf_moments m;
    m.deviation = c[0];
    m.ux = c[1];
    m.uy = c[2];
    m.uz = c[3];
    m.xx = c[4] * factor;
    m.yy = c[5] * factor;
    m.xy = c[6] * factor;
    m.xz = c[7] * factor;
    m.yz = c[8] * factor;
#if KF_BODY_FORCE
    m.zz = -(m.xx + m.yy);
#endif
#if KF_MOMENTS
    kf_store_moments(a, a->populations.source, k, m);
#else
    kf_real populations[27];
    kf_to_populations(&m, KF_BODY_FORCE, KF_BODY_X, KF_BODY_Y, KF_BODY_Z, populations, 1);
    KF_EACH_VELOCITY(KF_STORE_FROM_ARRAY)
#endif
}

/* The cell of an item, counted from the nested box. */
KF_FUNCTION void kf_cell_of(const kf_nested_arguments *a, int item, int cell[3]) {
    int box = 0;
    while (box + 1 < a->boxes && item >= a->start[box + 1])
        box++;
    const int inside = item - a->start[box], *size = a->size[box];
    cell[0] = a->low[box][0] + inside % size[0];
    cell[1] = a->low[box][1] + inside / size[0] % size[1];
    cell[2] = a->low[box][2] + inside / size[0] / size[1];
}

/* Place of a node that may lie beyond a grid that is periodic along the axis. */
KF_FUNCTION int kf_around(int place, int nodes) {
    return place < 0 ? place + nodes : place >= nodes ? place - nodes : place;
}

/* The eight ghosts of the finer level in a cell beside the nested box, from the 27 cells of the coarser one
 * around it: along each axis the parabola through three of them. At a face of the domain the cells lie one
 * farther in. */
KF_SCALAR_KERNEL(refine, kf_nested_arguments) {
    const kf_nested_side *from = &a->coarse, *to = &a->fine;
    (void)y, (void)z;
    int cell[3], at[3][3];
    kf_real weight[3][2][3], sum[8][KF_CROSSING];
    kf_cell_of(a, x, cell);
    KF_UNROLL
    for (int axis = 0; axis < 3; axis++) {
        const int nodes = from->grid.nodes[axis], place = a->first[axis] + cell[axis];
        const int inner = place < 1           ? 1
                          : place > nodes - 2 ? nodes - 2
                                              : place,
                  middle = a->around[axis] ? place : inner;
        for (int half = 0; half < 2; half++) {
            const kf_real off = (kf_real)(place - middle) + (half ? KF_R(0.25) : KF_R(-0.25));
            weight[axis][half][0] = KF_R(0.5) * off * (off - KF_R(1.0));
            weight[axis][half][1] = KF_R(1.0) - off * off;
            weight[axis][half][2] = KF_R(0.5) * off * (off + KF_R(1.0));
        }
        for (int i = 0; i < 3; i++)
            at[axis][i] = a->around[axis] ? kf_around(middle + i - 1, nodes) : middle + i - 1;
    }
    KF_UNROLL
    for (int b = 0; b < 8; b++)
        KF_UNROLL
    for (int i = 0; i < KF_CROSSING; i++)
        sum[b][i] = KF_R(0.0);
    for (int n = 0; n < 27; n++) {
        const int i = n % 3, j = n / 3 % 3, l = n / 9;
        const kf_crossing c = kf_look(from, kf_node(from, at[0][i], at[1][j], at[2][l]));
        KF_UNROLL
        for (int b = 0; b < 8; b++) {
            const kf_real share = weight[0][b & 1][i] * weight[1][b >> 1 & 1][j] * weight[2][b >> 2][l];
            KF_UNROLL
            for (int q = 0; q < KF_CROSSING; q++)
                sum[b][q] += share * c.value[q];
        }
    }
    KF_UNROLL
    for (int b = 0; b < 8; b++)
        kf_put(to,
               kf_node(to, 2 * cell[0] + a->ghosts[0] + (b & 1), 2 * cell[1] + a->ghosts[1] + (b >> 1 & 1),
                       2 * cell[2] + a->ghosts[2] + (b >> 2)),
               sum[b], KF_R(a->scale));
}

/* Adds a node of the finer level, which lies around the domain where the box reaches there. */
KF_FUNCTION void kf_add_node(const kf_nested_arguments *a, const int node[3], kf_real weight, kf_real *sum) {
    int home[3];
    KF_UNROLL
    for (int axis = 0; axis < 3; axis++)
        home[axis] = a->periodic[axis] ? kf_around(node[axis], a->end[axis]) : node[axis];
    const kf_crossing c = kf_look(&a->fine, kf_node(&a->fine, home[0], home[1], home[2]));
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++)
        sum[q] += weight * c.value[q];
}

/* Of node k of four in a line, in an eighth of the second difference that is taken off: over the four lines
 * that lie along an axis. */
KF_FUNCTION kf_real kf_line_weight(int k) {
    return k == 0 || k == 3 ? KF_R(-1.0 / 64.0) : KF_R(1.0 / 64.0);
}

/* A cell of the coarser level that the nested box covers: the mean of its eight nodes, less an eighth of the
 * second difference along each axis. That takes four nodes in a line, all of the box: ghosts are not right
 * any more when the coarser level has come to the same time. */
KF_SCALAR_KERNEL(coarsen, kf_nested_arguments) {
    (void)y, (void)z;
    int cell[3], low[3];
    kf_real sum[KF_CROSSING];
    kf_cell_of(a, x, cell);
    KF_UNROLL
    for (int axis = 0; axis < 3; axis++)
        low[axis] = 2 * cell[axis] + a->ghosts[axis];
    KF_UNROLL
    for (int q = 0; q < KF_CROSSING; q++)
        sum[q] = KF_R(0.0);
    int from[3];
    KF_UNROLL
    for (int axis = 0; axis < 3; axis++) {
        const int last = a->end[axis] - 4, before = low[axis] - 1, highest = before > last ? last : before,
                  inside = highest < a->ghosts[axis] ? a->ghosts[axis] : highest;
        from[axis] = a->periodic[axis] ? before : inside;
    }
    /* The eight nodes of the cell lie in lines along all axes. */
    for (int b = 0; b < 8; b++) {
        const int node[3] = {low[0] + (b & 1), low[1] + (b >> 1 & 1), low[2] + (b >> 2)};
        kf_real weight = KF_R(0.125);
        KF_UNROLL
        for (int axis = 0; axis < 3; axis++)
            weight += kf_line_weight(node[axis] - from[axis]);
        kf_add_node(a, node, weight, sum);
    }
    for (int i = 0; i < 24; i++) { /* the other two of each line */
        const int axis = i / 8, line = i % 4, second = axis == 2 ? 0 : axis + 1,
                  first_two = low[axis] == from[axis], last_two = low[axis] == from[axis] + 2,
                  k = i / 4 % 2 == 0 ? (first_two ? 2 : 0) : (last_two ? 1 : 3);
        int node[3];
        KF_UNROLL
        for (int along = 0; along < 3; along++)
            node[along] = along == axis     ? from[along] + k
                          : along == second ? low[along] + line % 2
                                            : low[along] + line / 2;
        kf_add_node(a, node, kf_line_weight(k), sum);
    }
    kf_put(&a->coarse,
           kf_node(&a->coarse, kf_around(a->first[0] + cell[0], a->coarse.grid.nodes[0]),
                   kf_around(a->first[1] + cell[1], a->coarse.grid.nodes[1]),
                   kf_around(a->first[2] + cell[2], a->coarse.grid.nodes[2])),
           sum, KF_R(a->scale));
}
