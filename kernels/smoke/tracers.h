/* The arguments of the tracers' kernels (tracers.cu), which host and device share. In lattice units node
 * (i, j, k) is at (i, j, k), and the domain's faces are half a cell outside the outermost nodes. */
#ifndef KF_KERNELS_SMOKE_TRACERS_H
#define KF_KERNELS_SMOKE_TRACERS_H

/* The effect of a face of the domain on a tracer that crosses it. */
enum { KF_TRACER_KEEP, KF_TRACER_WRAP, KF_TRACER_RETIRE };
/* The meaning of a tracer's paint, which colours the smoke and is 0 to KF_PAINT_UNIT. */
enum { KF_PAINTED_PLAIN, KF_PAINTED_AGE, KF_PAINTED_SPEED };
enum { KF_PAINT_UNIT = 1024 };
enum { KF_PLACE_BOX, KF_PLACE_DISC, KF_PLACE_RAKE };

/* Density is in fixed point, so that sums do not depend on the order of atomics. A weight along one axis is a
 * multiple of 1 / KF_TRACER_PARTS, so the eight weights of a tracer add up to KF_TRACER_UNIT exactly. */
enum { KF_TRACER_PARTS = 64, KF_TRACER_UNIT = 64 * 64 * 64 };

typedef struct kf_tracer_arguments {
    int extent[3];
    int nodes[3];
    int faces[6];
    int capacity;
    float steps;           /* time steps in one move */
    const float *velocity; /* [z][y][x][4] */
    /* The tracers are a ring of `capacity` slots with position, and the velocity there at the last move. A
     * slot whose x is below -1 or not a number is empty. */
    float *x, *y, *z, *u, *v, *w;
    long long *density;      /* [z][y][x] of the fine grid, in units of 1 / KF_TRACER_UNIT tracers */
    int refinement;          /* cells of the fine grid along the edge of a lattice cell */
    long long *paint;        /* sums of the tracers' paint, like density; NULL: the smoke is plain */
    int painted, next_place; /* meaning of the paint; slot of the next new tracer */
    float per_paint; /* for the age: KF_PAINT_UNIT divided by the number of tracers released in that time; for
                        the speed: divided by the speed */

    /* These describe one emitter. */
    int shape, nozzles;
    int first_place; /* slot of the first tracer that is released now */
    unsigned long long first_birth,
        key;              /* number of that tracer among all of the emitter; key from seed and emitter */
    float from[3], to[3]; /* box: corners; rake: first and last nozzle; disc: centre (`to` is not used) */
    float across[2][3];   /* disc: two perpendicular vectors from the centre to the rim */
    float radius;         /* of a rake's nozzle */
} kf_tracer_arguments;

#endif
