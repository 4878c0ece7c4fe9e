/* The motion of a free rigid solid, in double precision.
 *
 * The fluid inside the surface moves with it. So the equations of motion contain only what the solid
 * weighs more than that fluid (Feng and Michaelides 2009, Comput. Fluids 38, 370): excess mass M, excess
 * inertia I, weight W. The penalty forces of a step depend on the surface's velocity v and angular
 * velocity w in that step,
 *
 *     M (v - v_before) = W + sum k (u - v - w x r),     I w - L_before = sum k r x (u - v - w x r),
 *
 * with k = 2 rho area, u the fluid's velocity and r the arm of a sample. Solving for v and w before the
 * forces are spread is stable for every M >= 0, and the solid gains what the fluid loses. */
#ifndef KF_KERNELS_KINETIC_BODY_H
#define KF_KERNELS_KINETIC_BODY_H

#include "arguments.h"
#include "portable.h"

/* Adds a sample to the sums, with arms in units of the radius: k, k r (3), k u (3), k r x u (3), k r r (xx
 * yy zz xy xz yz). */
KF_FUNCTION void kf_add_to_body(double *sums, double k, double rx, double ry, double rz, double ux, double uy,
                                double uz) {
    sums[0] += k;
    sums[1] += k * rx;
    sums[2] += k * ry;
    sums[3] += k * rz;
    sums[4] += k * ux;
    sums[5] += k * uy;
    sums[6] += k * uz;
    sums[7] += k * (ry * uz - rz * uy);
    sums[8] += k * (rz * ux - rx * uz);
    sums[9] += k * (rx * uy - ry * ux);
    sums[10] += k * rx * rx;
    sums[11] += k * ry * ry;
    sums[12] += k * rz * rz;
    sums[13] += k * rx * ry;
    sums[14] += k * rx * rz;
    sums[15] += k * ry * rz;
}

/* Computes the inertia in the domain's axes: rotation inertia rotation^T. */
KF_FUNCTION void kf_turned_inertia(const kf_pose *pose, double turned[9]) {
    const double *r = pose->rotation, *inertia = pose->excess_inertia;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0.0;
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++)
                    sum += r[3 * i + k] * inertia[3 * k + l] * r[3 * j + l];
            turned[3 * i + j] = sum;
        }
}

/* Solves the symmetric system matrix x = right by elimination, and replaces right by x. */
KF_FUNCTION void kf_solve_six(double matrix[6][6], double right[6]) {
    for (int i = 0; i < 6; i++)
        for (int row = i + 1; row < 6; row++) {
            const double factor = matrix[row][i] / matrix[i][i];
            for (int column = i; column < 6; column++)
                matrix[row][column] -= factor * matrix[i][column];
            right[row] -= factor * right[i];
        }
    for (int i = 5; i >= 0; i--) {
        for (int column = i + 1; column < 6; column++)
            right[i] -= matrix[i][column] * right[column];
        right[i] /= matrix[i][i];
    }
}

/* Computes the velocities of the step from the sums. The weight acts once, in the first pass. */
KF_FUNCTION void kf_solve_body(kf_pose *pose, const double *sums, int pass) {
    const double r = pose->radius, *k = sums;
    const double s[3] = {r * k[1], r * k[2], r * k[3]};
    const double xx = r * r * k[10], yy = r * r * k[11], zz = r * r * k[12];
    const double xy = r * r * k[13], xz = r * r * k[14], yz = r * r * k[15];
    const double second[9] = {yy + zz, -xy, -xz, -xy, xx + zz, -yz, -xz, -yz, xx + yy};
    double inertia[9], matrix[6][6], right[6];
    kf_turned_inertia(pose, inertia);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            matrix[i][j] = i == j && i < 3 ? pose->excess_mass + k[0] : 0.0;
    /* The block of s x v below and that of w x s beside it are each other's transpose. */
    matrix[3][1] = matrix[1][3] = -s[2];
    matrix[3][2] = matrix[2][3] = s[1];
    matrix[4][0] = matrix[0][4] = s[2];
    matrix[4][2] = matrix[2][4] = -s[0];
    matrix[5][0] = matrix[0][5] = -s[1];
    matrix[5][1] = matrix[1][5] = s[0];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            matrix[3 + i][3 + j] = inertia[3 * i + j] + second[3 * i + j];
        right[i] = pose->excess_mass * pose->velocity[i] + (pass == 0 ? pose->weight[i] : 0.0) + k[4 + i];
        right[3 + i] = pose->angular_momentum[i] + r * k[7 + i];
    }
    kf_solve_six(matrix, right);
    for (int i = 0; i < 3; i++) {
        pose->velocity[i] = right[i];
        pose->angular_velocity[i] = right[3 + i];
    }
    for (int i = 0; i < 3; i++)
        pose->angular_momentum[i] =
            inertia[3 * i] * right[3] + inertia[3 * i + 1] * right[4] + inertia[3 * i + 2] * right[5];
}

/* Moves the solid by a step: turns the quaternion, then computes the rotation from it. */
KF_FUNCTION void kf_move_body(kf_pose *pose) {
    const double *w = pose->angular_velocity, *q = pose->quaternion;
    const double speed = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    const double c = cos(0.5 * speed), s = speed > 0.0 ? sin(0.5 * speed) / speed : 0.5;
    const double x = s * w[0], y = s * w[1], z = s * w[2];
    double n[4];
    n[0] = c * q[0] - x * q[1] - y * q[2] - z * q[3];
    n[1] = c * q[1] + x * q[0] + y * q[3] - z * q[2];
    n[2] = c * q[2] + y * q[0] + z * q[1] - x * q[3];
    n[3] = c * q[3] + z * q[0] + x * q[2] - y * q[1];
    const double size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3]);
    for (int i = 0; i < 4; i++)
        pose->quaternion[i] = n[i] = n[i] / size;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        pose->center[i] += pose->velocity[i];
        pose->rotation[3 * i + i] = 1.0 - 2.0 * (n[1 + j] * n[1 + j] + n[1 + k] * n[1 + k]);
        pose->rotation[3 * i + j] = 2.0 * (n[1 + i] * n[1 + j] - n[0] * n[1 + k]);
        pose->rotation[3 * i + k] = 2.0 * (n[1 + i] * n[1 + k] + n[0] * n[1 + j]);
    }
}

#endif
