/* Writes the velocity at all nodes for users on the same device, such as smoke. */
#include "arguments.h"
typedef kf_state_arguments kf_module_arguments; /* the headers' functions take this type */

#include "float4.h"
#include "left.h"

/* Writes [z][y][x][4] to a->fields.velocity after the last step. The velocity includes half of the body
 * force. The extent is (nodes_x, rows, planes), from first_plane on, which is the first plane of
 * a->fields.velocity. With cuts across y the rows begin at first_row. */
KF_SCALAR_KERNEL(velocity, kf_module_arguments) {
#if KF_CUT_Y
    y += a->part.first_row;
#endif
    const kf_index k = kf_node(a, x, y, a->part.first_plane + z);
    KF_LOAD_LEFT
    KF_DECLARE_STATE(-KF_BODY_X, -KF_BODY_Y, -KF_BODY_Z)
    const long long node = x + a->grid.nodes[0] * (y + (long long)a->grid.nodes[1] * z);
    kf_float4 value;
    value.x = (float)ux;
    value.y = (float)uy;
    value.z = (float)uz;
    value.w = 0.0f;
    ((kf_float4 *)a->fields.velocity)[node] = value;
}
