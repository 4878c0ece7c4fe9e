/* Configs whose launches and sources are known. They belong to flows of every system, on devices that only
 * record: the presets of their spaces, and of some flows every value of every parameter, with as few other
 * changes as the constraints allow. */
#ifndef KF_TESTS_TOOLS_KNOWN_CONFIGS_H
#define KF_TESTS_TOOLS_KNOWN_CONFIGS_H

#include <stdbool.h>

#include "base/backend/backend.h"
#include "base/plan/problem.h"
#include "base/space/space.h"

typedef struct known_flow {
    const char *system, *scene;
    const kf_device_info *device;
    int parts; /* devices of the team */
    /* All values of all parameters, or for a team those of its own. Otherwise only the presets. */
    bool every;
    /* {0, 0, 0} takes those of the small problem on which configs are verified. */
    int nodes[3];
    /* The first occurrence of this text in the scene's file is replaced by the other. NULL leaves it as it
     * is. */
    const char *of, *by;
    int drawn;         /* further configs, at fixed places all over the space */
    const char *model; /* takes the place of USUAL (known_configs.c), or NULL; only with `of` */
} known_flow;

/* All flows, those of a system one after the other. The last has no system. */
extern const known_flow known_flows[];

typedef struct known_config {
    const known_flow *flow;
    const kf_problem *problem;
    kf_backend *backend;    /* a recording one, with as many parts */
    const char *name;       /* of the preset, or of the parameter that has another value */
    const kf_config *usual; /* the preset "default", which comes first */
    const kf_config *config;
    bool is_preset;
} known_config;

/* Calls take for each config of the flow, presets first. */
typedef void take_known_config(void *data, const known_config *known);
kf_status each_known_config(const known_flow *flow, take_known_config *take, void *data, kf_error *error);

#endif
