/* Fills the ghost nodes with the populations that streaming pulls from them (boundary.h). There is one
 * item for each ghost and direction into the domain. */
#define KF_OUTFLOW_ALONE 1
#include "arguments.h"
typedef kf_flow_arguments kf_module_arguments; /* the headers' functions take this type */

#include "boundary.h"

#if !KF_MOMENTS /* plan moments has no ghosts */
/* Returns the value of the ghost node at (gx, gy, gz) for velocity (cx, cy, cz). */
KF_FUNCTION void kf_fill_ghost(const kf_module_arguments *a, int gx, int gy, int gz, int cx, int cy, int cz) {
    const int x = gx + cx, y = gy + cy, z = gz + cz;
    if (KF_VELOCITIES == 19 && cx != 0 && cy != 0 && cz != 0) return;
    if (kf_beyond(x, a->grid.nodes[0]) || kf_beyond(y, a->grid.nodes[1]) || kf_beyond(z, a->grid.nodes[2]))
        return;
    if (!kf_is_own_plane(a, z)) return; /* another part has the node that pulls from the ghost */
    *kf_address(a, a->populations.source, kf_direction(cx, cy, cz), kf_node(a, gx, gy, gz)) =
        kf_to_store(kf_incoming(a, cx, cy, cz, x, y, z));
}

/* Fills entry (u, v, d) of a face. u, v: the ghost node on the face. d: number of its inward velocity, of
 * nine. Edges between faces belong to the faces across z, then to those across y. */
KF_FUNCTION void kf_fill_face(const kf_module_arguments *a, int face, int u, int v, int d) {
    const int inward = face % 2 ? -1 : 1, c1 = d % 3 - 1, c2 = d / 3 - 1;
    if (face / 2 == 0)
        kf_fill_ghost(a, face % 2 ? a->grid.nodes[0] : -1, u, v, inward, c1, c2);
    else if (face / 2 == 1)
        kf_fill_ghost(a, u - 1, face % 2 ? a->grid.nodes[1] : -1, v, c1, inward, c2);
    else
        kf_fill_ghost(a, u - 1, v - 1, face % 2 ? a->grid.nodes[2] : -1, c1, c2, inward);
}

/* There is one kernel for each face. The extents are (nodes_y, nodes_z, 9) for x, (nodes_x + 2, nodes_z,
 * 9) for y, and (nodes_x + 2, nodes_y + 2, 9) for z. */
KF_SCALAR_KERNEL(boundary_xmin, kf_module_arguments) {
    kf_fill_face(a, 0, x, y, z);
}
KF_SCALAR_KERNEL(boundary_xmax, kf_module_arguments) {
    kf_fill_face(a, 1, x, y, z);
}
KF_SCALAR_KERNEL(boundary_ymin, kf_module_arguments) {
    kf_fill_face(a, 2, x, y, z);
}
KF_SCALAR_KERNEL(boundary_ymax, kf_module_arguments) {
    kf_fill_face(a, 3, x, y, z);
}
KF_SCALAR_KERNEL(boundary_zmin, kf_module_arguments) {
    kf_fill_face(a, 4, x, y, z);
}
KF_SCALAR_KERNEL(boundary_zmax, kf_module_arguments) {
    kf_fill_face(a, 5, x, y, z);
}

/* Fills all six faces. x counts the ghosts face by face, y the nine velocities. */
KF_SCALAR_KERNEL(boundary_all, kf_module_arguments) {
    (void)z;
    const int nx = a->grid.nodes[0], ny = a->grid.nodes[1], nz = a->grid.nodes[2];
    const int across_x = ny * nz, across_y = (nx + 2) * nz, across_z = (nx + 2) * (ny + 2);
    int item = x, axis = 0, ghosts = across_x, width = ny;
    if (item >= 2 * across_x) {
        item -= 2 * across_x;
        axis = 1;
        ghosts = across_y;
        width = nx + 2;
    }
    if (axis == 1 && item >= 2 * across_y) {
        item -= 2 * across_y;
        axis = 2;
        ghosts = across_z;
    }
    const int high = item >= ghosts;
    item -= high * ghosts;
    kf_fill_face(a, 2 * axis + high, item % width, item / width, y);
}

#endif

#if KF_MOMENTS
#define KF_TAKE_EDGE(i, name) h.name = *kf_edge_word(a, face, i, row, nz);
#endif
/* Computes the populations that wait outside of outflows in the next step, from those that leave the
 * outermost nodes (source). outflow.take is U / (1 + U) for each face. The extent is (the two longest
 * edges, 6 faces). */
KF_SCALAR_KERNEL(convect_outflow, kf_module_arguments) {
    const int outflow[6] = {KF_FACE_0 == KF_OUTFLOW_FACE, KF_FACE_1 == KF_OUTFLOW_FACE,
                            KF_FACE_2 == KF_OUTFLOW_FACE, KF_FACE_3 == KF_OUTFLOW_FACE,
                            KF_FACE_4 == KF_OUTFLOW_FACE, KF_FACE_5 == KF_OUTFLOW_FACE};
    const int face = z, across = face / 2, edge = face % 2 ? a->grid.nodes[across] - 1 : 0;
    const int nx = across == 0 ? edge : x,
              ny = across == 0   ? x
                   : across == 1 ? edge
                                 : y,
              nz = across == 2 ? edge : y;
    if (!outflow[face] || nx >= a->grid.nodes[0] || ny >= a->grid.nodes[1] || nz >= a->grid.nodes[2]) return;
    const int row = kf_kept_row(a, ny);
    if (!kf_is_own_row(a, row, nz)) return;
    const kf_index k = kf_node(a, nx, row, nz);
#if KF_MOMENTS
    kf_held h;
    if (across == 0 && a->outflow.edge) {
        KF_EACH_WORD(KF_TAKE_EDGE)
    } else {
        h = kf_load_held(a, a->populations.source, k);
    }
    kf_real populations[27];
    kf_held_populations(a, &h, populations, 1);
    KF_EACH_VELOCITY(KF_TAKE_POPULATION)
#else
    KF_LOAD_LEFT
#endif
    KF_MOMENTUM(deviation, jx, jy, jz)
    (void)jx, (void)jy, (void)jz;
    KF_KEEP_OUTFLOW(across, face % 2, x, y)
}

#if KF_CUT_Y
/* Pack the populations that wait outside of outflows beside a box of nodes into `density`, and unpack
 * them. The box has rows and planes from first_row and first_plane on. The layout is [face][9
 * velocities][v][u], with the part of each face that belongs to the box. The extent is (the box's two
 * longest edges, 6 faces). */
KF_FUNCTION int kf_box_has_face(const kf_module_arguments *a, int face) {
    const int outflow[6] = {KF_FACE_0 == KF_OUTFLOW_FACE, KF_FACE_1 == KF_OUTFLOW_FACE,
                            KF_FACE_2 == KF_OUTFLOW_FACE, KF_FACE_3 == KF_OUTFLOW_FACE,
                            KF_FACE_4 == KF_OUTFLOW_FACE, KF_FACE_5 == KF_OUTFLOW_FACE};
    const int across = face / 2, edge = face % 2 ? a->grid.nodes[across] - 1 : 0;
    const int first = across == 1 ? a->part.first_row : a->part.first_plane,
              count = across == 1 ? a->part.rows : a->part.planes;
    return outflow[face] && (across == 0 || (edge >= first && edge < first + count));
}
/* Copies the nine values of a node outside `face` of the box, to `density` if `packs`, otherwise from
 * there. */
KF_FUNCTION void kf_exchange_outflow(const kf_module_arguments *a, int x, int y, int face, int packs) {
    const int width = face / 2 == 0 ? a->part.rows : a->grid.nodes[0],
              height = face / 2 == 2 ? a->part.rows : a->part.planes;
    long long before = 0;
    if (x >= width || y >= height || !kf_box_has_face(a, face)) return;
    for (int f = 0; f < face; f++)
        if (kf_box_has_face(a, f))
            before += 9LL * (f / 2 == 0 ? a->part.rows : a->grid.nodes[0]) *
                      (f / 2 == 2 ? a->part.rows : a->part.planes);
    const int u = face / 2 == 0 ? a->part.first_row + x : x,
              v = y + (face / 2 == 2 ? a->part.first_row : a->part.first_plane);
    for (int i = 0; i < 9; i++) {
        const int c1 = i % 3 - 1, c2 = i / 3 - 1;
        kf_real *packed = (kf_real *)a->fields.density + before + ((long long)i * height + y) * width + x,
                *kept = (kf_real *)a->outflow.next + kf_outflow_place(a, face / 2, face % 2,
                                                                      face / 2 == 0 ? 0 : c1,
                                                                      face / 2 == 0   ? c1
                                                                      : face / 2 == 1 ? 0
                                                                                      : c2,
                                                                      face / 2 == 2 ? 0 : c2, u, v);
        *(packs ? packed : kept) = packs ? *kept : *packed;
    }
}
KF_SCALAR_KERNEL(pack_outflow, kf_module_arguments) {
    kf_exchange_outflow(a, x, y, z, 1);
}
KF_SCALAR_KERNEL(unpack_outflow, kf_module_arguments) {
    kf_exchange_outflow(a, x, y, z, 0);
}
#endif
