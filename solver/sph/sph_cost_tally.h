/* Declarations that the files of sph's cost model share: the counts of a config on a scene. */
#ifndef KF_SOLVER_SPH_SPH_COST_TALLY_H
#define KF_SOLVER_SPH_SPH_COST_TALLY_H

#include "cost_model/model.h"
#include "solver/sph/sph.h"

typedef struct kf_sph_cost {
    const kf_particle_scene *scene;
    bool gpu;
    double multiprocessors;
    kf_device_info device;
    double full;      /* mean number of neighbours over that of a particle inside the fluid */
    double extent[2]; /* extent of the fluid along x and y, in spacings */
    double highest;   /* largest height of columns above the terrain */
} kf_sph_cost;

typedef struct kf_sph_tally {
    const kf_sph_cost *cost;
    const kf_particle_scene *scene;
    kf_sph_options options;
    kf_works *works;
    double particles, neighbours; /* particles of a device, walls included; neighbours inside the support */
    double kept;                  /* particles, with those of other devices that they interact with */
    double kept_cells;            /* cells into which the device sorts them */
    double support;               /* radius with the skin, in spacings */
    /* Numbers of rows, ranges and candidates that a particle searches. A row has more ranges where it is
     * periodic. */
    double rows, ranges, candidates;
    double passes;  /* candidates that a warp searches: the most of any of its lanes */
    double runs;    /* mean number of non-empty ranges of a row */
    double cells;   /* in all */
    double streams; /* particles of a warp that search candidates of their own */
    bool gpu;
} kf_sph_tally;

/* Adds a simple pass. bytes, instructions: of a particle. chain: cycles of the loads and additions that a
 * thread does one after the other. */
void kf_sph_add_pass(kf_sph_tally *t, const char *name, double launches, double bytes, double instructions,
                     double extent, double chain);
/* Returns the cycles that a thread waits for a load that is in no cache. */
double kf_sph_cost_wait(void);

/* sph_cost_team.c */
/* Computes particles, kept and kept_cells of the device with the most particles of a team
 * (sph_cost_team.c). */
void kf_sph_share_planes(kf_sph_tally *t);
/* Returns the bytes that a sort reads over links for each kept particle, as equivalent bytes of the device's
 * memory. */
double kf_sph_linked_bytes(const kf_sph_tally *t, double state);
/* Adds the work that only a team does. state: bytes of a particle. */
void kf_sph_add_team(kf_sph_tally *t, double state);

#endif
