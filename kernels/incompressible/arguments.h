/* The arguments of every kernel of the incompressible system, shared by host and device.
 *
 * A staggered grid. Cell (x, y, z), 0 <= x < cells[0] and so on, has its centre at that point; component c of
 * the velocity lies half a cell below it along c, so along c there is one more, at cells[c], unless the axis
 * is periodic. All fields have a place for cells[i] + 1 values along each axis: place (x, y, z) is origin + x
 * + row y + plane z, and what lies a plane before the first and behind the last may be read. Places of a
 * pressure that are no cells hold 0, which is the pressure half a cell outside of an outflow. Units: cells
 * and steps of the solver. */
#ifndef KF_KERNELS_INCOMPRESSIBLE_ARGUMENTS_H
#define KF_KERNELS_INCOMPRESSIBLE_ARGUMENTS_H

/* A word says how open a cell is: bytes 0 to 2 the open share of its lower faces along x, y, z in 1/KF_OPEN
 * (more at outflows of coarse levels), byte 3 how deep its centre lies in the solid, in 1/KF_DEPTH cells from
 * -128 (far outside). */
enum { KF_OPEN = 120, KF_DEPTH = 40 };

/* A face of the domain prescribes nothing, because it is periodic or lets everything pass (outflow); the
 * normal velocity; or the whole velocity. */
enum { KF_FACE_PERIODIC, KF_FACE_OUTFLOW, KF_FACE_SLIP, KF_FACE_FIXED };

/* Preconditioners that need no array, and those that leave z. */
enum { KF_INLINE_NONE, KF_INLINE_JACOBI, KF_INLINE_ARRAY };

/* This is where a pressure solve stands. Sums are taken over cells that have an open face. */
typedef struct kf_solve_state {
    double mean; /* of the right hand side, which is taken away where the pressure has no level of its own */
    double rz, alpha, beta;
    double limit;      /* square of the residual that is asked for */
    double scale;      /* square of the right hand side, or of one whose tolerance is rounding */
    double residual;   /* reached, relative */
    double divergence; /* square sum that the velocity had before it */
    double cells;      /* that the sums are taken over */
    int done, iterations;
    long long all_iterations, solves,
        missed;   /* since the beginning; missed: the tolerance, for want of iterations */
    double worst; /* residual that a solve ended with */
} kf_solve_state;

/* The solid is at x(t) = rotation (x0 - start) + center. */
typedef struct kf_solid_state {
    double rotation[9], center[3], velocity[3], turn[3]; /* turn: angular velocity */
    long long step;
} kf_solid_state;

typedef struct kf_incompressible_arguments {
    int extent[3];
    int cells[3];
    int faces[6]; /* KF_FACE_... */
    int row, plane;
    long long origin, capacity; /* of a scalar; components of a vector lie capacity apart */
    double face_velocity[6][3];

    void *source, *carrier, *predicted, *target; /* vectors: what is advected, by what; results */
    void *kept;                 /* two vectors: the least and the most of what a prediction is made of */
    double duration, viscosity; /* of a sub-step, in steps; cells^2 a step */
    double force[3];            /* acceleration */
    double reflect;             /* the source of the next sub-step has so much of the gradient taken away */

    const unsigned *open;     /* words, of this level */
    void *pressure;           /* times the time that it acts */
    const void *pressures[2]; /* of both halves of a step */
    void *right;              /* right hand side, then residual */
    void *residual;
    void *direction, *image, *corrected; /* p, A p, z */
    kf_solve_state *solve;
    double *partial; /* [3][partial_room] sums of blocks */
    int partial_room, blocks, rows_per_block;
    int singular; /* the pressure is known but for a constant */
    int inline_preconditioner, flexible, least_iterations;
    double tolerance, floor; /* floor: square of a residual that is rounding */

    /* Multigrid: this level's x, its other x, its right hand side; the next coarser level. */
    void *guess, *other, *wanted;
    void *coarse_guess, *coarse_wanted;
    unsigned *coarse_open;
    int coarse_cells[3], coarse_row, coarse_plane;
    long long coarse_origin;
    double damping, outflow_ratio[6]; /* of each face of the domain, see coarsen */
    int sweeps;

    int stream;           /* axis without a cosine transform */
    const void *modes[2]; /* eigenvalues along the other two, the lower axis first */

    /* Solid: signed distance in the body's frame at time 0, negative inside, `spacing` apart from `corner`.
     */
    const float *distance;
    int distance_size[3];
    double distance_corner[3], distance_spacing;
    kf_solid_state *solid;
    double start[3], axis[3], angular_speed, speed[3];
    double *load;  /* [6][partial_room] */
    void *compact; /* rows exchanged with the host, or a velocity at the nodes */
    int first_row;
} kf_incompressible_arguments;

#endif
