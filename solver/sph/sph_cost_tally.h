/* Between the files of the cost model of sph: what of a config and a scene is counted. */
#ifndef KF_SOLVER_SPH_SPH_COST_TALLY_H
#define KF_SOLVER_SPH_SPH_COST_TALLY_H

#include "cost_model/model.h"
#include "solver/sph/sph.h"

typedef struct kf_sph_cost {
    const kf_particle_scene *scene;
    bool gpu;
    double multiprocessors;
    kf_device_info device;
    double full;      /* neighbours over those of a particle inside the fluid, in the mean */
    double extent[2]; /* of the fluid along x and y, in spacings */
    double highest;   /* above the terrain, in columns */
} kf_sph_cost;

typedef struct kf_sph_tally {
    const kf_sph_cost *cost;
    const kf_particle_scene *scene;
    kf_sph_options options;
    kf_works *works;
    double particles, neighbours; /* of a device, walls included; inside the support */
    double kept;                  /* with those of others that its own see */
    double kept_cells;            /* cells that it sorts into */
    double support;               /* with the skin, in spacings */
    /* Numbers of what a particle looks through; a row has more ranges where it is periodic. */
    double rows, ranges, candidates;
    double passes;  /* candidates that a warp looks through: where its lanes differ, the most of any */
    double runs;    /* ranges of a row that hold any, in the mean */
    double cells;   /* in all */
    double streams; /* of a warp's particles, those that look through candidates of their own */
    bool gpu;
} kf_sph_tally;

/* Adds a simple pass; bytes and instructions are of a particle; chain: cycles of what a thread loads and adds
 * one after the other. */
void kf_sph_add_pass(kf_sph_tally *t, const char *name, double launches, double bytes, double instructions,
                     double extent, double chain);
/* Cycles that a thread waits where it loads what nobody has loaded just before. */
double kf_sph_cost_wait(void);

/* sph_cost_team.c */
/* Works out what the device with most of a team's particles has: particles, kept, kept_cells. */
void kf_sph_share_planes(kf_sph_tally *t);
/* Bytes that a sort reads over links, for each particle that it keeps, in bytes of the device's own memory.
 */
double kf_sph_linked_bytes(const kf_sph_tally *t, double state);
/* Adds what a team does beside what one device does: state: bytes of a particle. */
void kf_sph_add_team(kf_sph_tally *t, double state);

#endif
