/* The state of reading a scene file of the system stable_fluids. */
#ifndef KF_SOLVER_STABLE_FLUIDS_STABLE_FLUIDS_READER_H
#define KF_SOLVER_STABLE_FLUIDS_STABLE_FLUIDS_READER_H

#include "base/util/json.h"
#include "solver/stable_fluids/stable_fluids_problem.h"

#define KF_FLUID_FAR 1e9 /* no number in a scene file is larger */

typedef struct kf_fluid_reader {
    const char *file;
    const cJSON *root;
    kf_fluid *fluid;
    kf_error *error;
} kf_fluid_reader;

/* Returns the factor from m/s to cells a step. */
static inline double kf_fluid_speed_unit(const kf_fluid *f) {
    return f->time_step / f->cell_size;
}

/* Finds a section of the file and checks that all its keys are in `keys` (ended by NULL). *object is NULL if
 * the file does not have it. */
kf_status kf_fluid_section(const kf_fluid_reader *r, const char *name, bool required, const char *const *keys,
                           const cJSON **object);
/* Reads a vector with as many numbers as the box has dimensions. */
kf_status kf_fluid_vector(const kf_fluid_reader *r, kf_json_place place, const cJSON *object, const char *key,
                          bool required, double values[3]);

/* Read the sections "pushes" and "sources" into the fluid (stable_fluids_sources.c). */
kf_status kf_fluid_read_pushes(const kf_fluid_reader *r);
kf_status kf_fluid_read_sources(const kf_fluid_reader *r);
/* Mirrors pushes and sources of a domain between walls, with the velocity component across the wall reversed,
 * so that the mirror image stays symmetric. Pushes are sorted by step afterwards. */
void kf_fluid_mirror_sources(kf_fluid *f);

#endif
