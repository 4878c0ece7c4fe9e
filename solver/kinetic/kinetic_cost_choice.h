/* What of a kinetic config its cost depends on. */
#ifndef KF_COST_MODEL_KINETIC_CHOICE_H
#define KF_COST_MODEL_KINETIC_CHOICE_H

#include <stdbool.h>

#include "base/space/config.h"

/* What the compiler makes of a collision form for sm_90: instructions a node of the fused kernel, registers
 * of its threads, the same with folded boundaries, and registers of a collision in a kernel of its own. */
typedef struct kf_collision_form {
    const char *name;
    double instructions, registers, folded_registers, separate_registers;
} kf_collision_form;

/* A config's parameters as far as they matter here. */
typedef struct kf_kinetic_choice {
    bool baseline, fused, moments, in_place, esoteric, exchange, aos, gather, aggregated, fixed, morton,
        concurrent, keeps, masked, overlap, chain, alternate, shell_apart;
    const kf_collision_form *form;
    double velocities, slab, alpha, value_bytes, split, block_x, block_y, boundary_kernels, block_length,
        segment, lanes, patch, reorder, nodes_per_thread, register_cap, march;
} kf_kinetic_choice;

/* Parameters that a config lacks (one of an older landscape) have the value that makes no difference. */
kf_kinetic_choice kf_read_kinetic_choice(const kf_config *config);

#endif
