/* The arguments of every kernel of the incompressible system, which host and device share.
 *
 * The grid is staggered. Cell (x, y, z), 0 <= x < cells[0] and so on, has its centre at that point.
 * Component c of the velocity lies half a cell below it along c. So along c there is one component more,
 * at cells[c], unless the axis is periodic. Every field has room for cells[i] + 1 values along each axis:
 * the place of (x, y, z) is origin + x + row y + plane z. A plane before the first and one behind the last
 * may be read, too. A pressure's places that are no cells hold 0, which is the pressure half a cell
 * outside of an outflow. Lengths are in cells, times in steps of the solver. */
#ifndef KF_KERNELS_INCOMPRESSIBLE_ARGUMENTS_H
#define KF_KERNELS_INCOMPRESSIBLE_ARGUMENTS_H

#include "../distance_table.h"

/* A word describes a cell. Bytes 0 to 2 are the open shares of its lower faces along x, y, z in 1 /
 * KF_OPEN (more at outflows of coarse levels). Byte 3 is the depth of its centre in the solid in 1 /
 * KF_DEPTH cells, from -128 (far outside). */
enum { KF_OPEN = 120, KF_DEPTH = 40 };

/* The kinds of the domain's faces, by what they prescribe: nothing (periodic, outflow), the normal
 * velocity (slip), or the whole velocity (fixed). */
enum { KF_FACE_PERIODIC, KF_FACE_OUTFLOW, KF_FACE_SLIP, KF_FACE_FIXED };

/* The state of a pressure solve, in device memory. Sums are over the cells that have an open face. */
typedef struct kf_solve_state {
    double mean; /* of the right-hand side; subtracted if the pressure is unique only up to a constant */
    double rz, alpha, beta;
    double limit; /* square of the residual that the tolerance asks for */
    /* The square of the right-hand side, but at least the value at which the tolerance would be rounding
     * error. */
    double scale;
    double residual;   /* relative residual that the solve reached */
    double divergence; /* sum of squares of the velocity's divergence before the solve */
    double cells;      /* number of cells in the sums */
    int done, iterations;
    long long all_iterations, solves,
        missed;   /* since the run began; missed: solves that ran out of iterations */
    double worst; /* largest residual at the end of a solve */
} kf_solve_state;

/* The pose of a moving solid: its point x0 at time 0 is at rotation (x0 - start) + center. */
typedef struct kf_solid_state {
    double rotation[9], center[3], velocity[3], turn[3]; /* turn: angular velocity */
    long long step;
} kf_solid_state;

typedef struct kf_incompressible_arguments {
    int extent[3];
    int cells[3];
    int faces[6]; /* KF_FACE_... */
    int row, plane;
    /* The number of values of a scalar field. Component c of a vector begins at c capacity. */
    long long origin, capacity;
    double face_velocity[6][3];

    /* Vectors: the field to advect, the field that advects it, and results. */
    void *source, *carrier, *predicted, *target;
    /* Two vectors: the smallest and the largest value from which a prediction was interpolated. */
    void *kept;
    double duration, viscosity; /* of a sub-step, in steps; in cells^2 a step */
    double force[3];            /* acceleration */
    double reflect; /* factor of the pressure gradient that the next sub-step's source loses besides */

    const unsigned *open;     /* a word for each cell of this level */
    void *pressure;           /* pressure times the duration for which it acts */
    const void *pressures[2]; /* of the two halves of a step */
    void *right;              /* right-hand side, then the residual */
    void *residual;
    void *direction, *image, *corrected; /* p, A p and z of conjugate gradients */
    kf_solve_state *solve;
    double *partial; /* [3][partial_room]: partial sums of blocks */
    int partial_room, blocks, rows_per_block;
    int singular;       /* whether the pressure is unique only up to a constant */
    int preconditioned; /* whether z is an array that other kernels write, or else the residual itself */
    int flexible, least_iterations;
    double tolerance, floor; /* floor: square of a residual that is only rounding error */

    /* Multigrid: the two arrays of this level's solution, its right-hand side, and those of the next
     * coarser level. */
    void *guess, *other, *wanted;
    void *coarse_guess, *coarse_wanted;
    unsigned *coarse_open;
    int coarse_cells[3], coarse_row, coarse_plane;
    long long coarse_origin;
    double damping, outflow_ratio[6]; /* outflow_ratio: for each face of the domain, see `coarsen` */
    int sweeps;

    int stream;           /* axis without a cosine transform */
    const void *modes[2]; /* eigenvalues along the two other axes, the lower axis first */

    kf_distance_table distance; /* of the solid */
    kf_solid_state *solid;
    double start[3], axis[3], angular_speed, speed[3];
    double *load;  /* [6][partial_room] */
    void *compact; /* rows for the host, or the velocity at the nodes */
} kf_incompressible_arguments;

#endif
