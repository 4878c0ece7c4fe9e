/* A scene file of the stable fluids system while it is read. */
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

/* Returns the cells a step that a metre a second is. */
static inline double kf_fluid_speed_unit(const kf_fluid *f) {
    return f->time_step / f->cell_size;
}

/* Finds a section of the file, whose keys must be among these (ended by NULL); *object NULL: the file has
 * none. */
kf_status kf_fluid_section(const kf_fluid_reader *r, const char *name, bool required, const char *const *keys,
                           const cJSON **object);
/* Reads a vector of as many numbers as the box has dimensions. */
kf_status kf_fluid_vector(const kf_fluid_reader *r, kf_json_place place, const cJSON *object, const char *key,
                          bool required, double values[3]);

/* Read the sections "pushes" and "sources" into the fluid (stable_fluids_sources.c). */
kf_status kf_fluid_read_pushes(const kf_fluid_reader *r);
kf_status kf_fluid_read_sources(const kf_fluid_reader *r);
/* Mirrors what acts in a domain between walls, with the velocity across turned, so that the mirror image does
 * the same; pushes are then in the order of their steps. */
void kf_fluid_mirror_sources(kf_fluid *f);

#endif
