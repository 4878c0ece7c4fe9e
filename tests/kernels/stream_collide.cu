/* A D3Q27 pull step with BGK collision, fluid only: 27 streams in, 27 out, the traffic and the register need
 * of a real kernel without its boundary handling. Each direction is an array of stride floats holding nodes
 * of rows x planes with a halo of one node on every side; extent is the inside. Direction q has velocity (q %
 * 3 - 1, q / 3 % 3 - 1, q / 9 - 1) in lattice units. */
#include "portable.h"

typedef struct stream_arguments {
    int extent[3];
    int row;   /* nodes a row, with the halo */
    int plane; /* nodes a plane, with the halo */
    kf_int64 stride;
    const float *source;
    float *target;
    float rate; /* relaxation rate, 1 / tau */
} stream_arguments;

enum { DIRECTIONS = 27 };

KF_FUNCTION int velocity_x(int q) {
    return q % 3 - 1;
}
KF_FUNCTION int velocity_y(int q) {
    return q / 3 % 3 - 1;
}
KF_FUNCTION int velocity_z(int q) {
    return q / 9 - 1;
}

KF_FUNCTION float weight(int q) {
    const int moving = (velocity_x(q) != 0) + (velocity_y(q) != 0) + (velocity_z(q) != 0);
    return moving == 0 ? 8.0f / 27 : moving == 1 ? 2.0f / 27 : moving == 2 ? 1.0f / 54 : 1.0f / 216;
}

KF_KERNEL(stream_collide, stream_arguments) {
    const kf_int64 node = (z + 1) * (kf_int64)a->plane + (y + 1) * (kf_int64)a->row + x + 1;
    float f[DIRECTIONS], density = 0, ux = 0, uy = 0, uz = 0;
    KF_UNROLL
    for (int q = 0; q < DIRECTIONS; q++) {
        const int cx = velocity_x(q), cy = velocity_y(q), cz = velocity_z(q);
        f[q] = a->source[q * a->stride + node - cx - cy * (kf_int64)a->row - cz * (kf_int64)a->plane];
        density += f[q];
        ux += (float)cx * f[q];
        uy += (float)cy * f[q];
        uz += (float)cz * f[q];
    }
    const float inverse = 1 / density;
    ux *= inverse;
    uy *= inverse;
    uz *= inverse;
    const float square = 1.5f * (ux * ux + uy * uy + uz * uz);
    KF_UNROLL
    for (int q = 0; q < DIRECTIONS; q++) {
        const float along =
            3 * ((float)velocity_x(q) * ux + (float)velocity_y(q) * uy + (float)velocity_z(q) * uz);
        const float equilibrium = weight(q) * density * (1 + along + 0.5f * along * along - square);
        a->target[q * a->stride + node] = f[q] + a->rate * (equilibrium - f[q]);
    }
}
