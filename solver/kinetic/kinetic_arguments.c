/* Gives a module's kernels those arguments that they read, of all that a plan has for them. */
#include <assert.h>

#include "solver/kinetic/kinetic.h"

/* Takes the groups that a kernel of the flow reads out of all arguments. */
static kf_flow_arguments flow_arguments(const kf_kinetic_arguments *a) {
    return (kf_flow_arguments){.extent = {a->extent[0], a->extent[1], a->extent[2]},
                               .march = a->march,
                               .grid = a->grid,
                               .part = a->part,
                               .memory = a->memory,
                               .populations = a->populations,
                               .fields = a->fields,
                               .faces = a->faces,
                               .outflow = a->outflow,
                               .band = a->band,
                               .segments = a->segments,
                               .scalars = a->scalars,
                               .covered = a->covered,
                               .needed = a->needed,
                               .edges = a->edges,
                               .layer = a->layer};
}

static kf_solid_arguments solid_arguments(const kf_kinetic_arguments *a) {
    return (kf_solid_arguments){.extent = {a->extent[0], a->extent[1], a->extent[2]},
                                .grid = a->grid,
                                .part = a->part,
                                .memory = a->memory,
                                .populations = a->populations,
                                .fields = a->fields,
                                .samples = a->samples,
                                .band = a->band,
                                .segments = a->segments,
                                .patches = a->patches,
                                .body = a->body,
                                .solids = a->solids};
}

static kf_state_arguments state_arguments(const kf_kinetic_arguments *a) {
    return (kf_state_arguments){.extent = {a->extent[0], a->extent[1], a->extent[2]},
                                .grid = a->grid,
                                .part = a->part,
                                .memory = a->memory,
                                .populations = a->populations,
                                .fields = a->fields,
                                .outflow = a->outflow,
                                .band = a->band,
                                .scalars = a->scalars};
}

static kf_links_arguments links_arguments(const kf_kinetic_arguments *a) {
    return (kf_links_arguments){.extent = {a->extent[0], a->extent[1], a->extent[2]},
                                .grid = a->grid,
                                .part = a->part,
                                .memory = a->memory,
                                .populations = a->populations,
                                .links = a->links,
                                .body = a->body};
}

static kf_wall_arguments wall_arguments(const kf_kinetic_arguments *a) {
    return (kf_wall_arguments){.extent = {a->extent[0], a->extent[1], a->extent[2]},
                               .grid = a->grid,
                               .part = a->part,
                               .memory = a->memory,
                               .populations = a->populations,
                               .links = a->links,
                               .wall = a->wall,
                               .body = a->body,
                               .layer = a->layer};
}

static kf_moving_links_arguments moving_links_arguments(const kf_kinetic_arguments *a) {
    return (kf_moving_links_arguments){.extent = {a->extent[0], a->extent[1], a->extent[2]},
                                       .grid = a->grid,
                                       .part = a->part,
                                       .memory = a->memory,
                                       .populations = a->populations,
                                       .moving = a->moving,
                                       .body = a->body};
}

void kf_kinetic_set_launch(kf_launch *launch, const char *name, kf_function *function,
                           kf_kinetic_source source, const int block[3],
                           const kf_kinetic_arguments *arguments) {
    assert(source != KF_SOURCE_ORDER); /* order.cu has its own arguments. */
    if (source == KF_SOURCE_FLOW || source == KF_SOURCE_BOUNDARY) {
        const kf_flow_arguments flow = flow_arguments(arguments);
        kf_launch_set(launch, name, function, block, &flow, sizeof flow);
    } else if (source == KF_SOURCE_IMMERSED || source == KF_SOURCE_MOTION) {
        const kf_solid_arguments solid = solid_arguments(arguments);
        kf_launch_set(launch, name, function, block, &solid, sizeof solid);
    } else if (source == KF_SOURCE_LINKS) {
        const kf_links_arguments links = links_arguments(arguments);
        kf_launch_set(launch, name, function, block, &links, sizeof links);
    } else if (source == KF_SOURCE_MOVING_LINKS) {
        const kf_moving_links_arguments moving = moving_links_arguments(arguments);
        kf_launch_set(launch, name, function, block, &moving, sizeof moving);
    } else if (source == KF_SOURCE_WALL) {
        const kf_wall_arguments wall = wall_arguments(arguments);
        kf_launch_set(launch, name, function, block, &wall, sizeof wall);
    } else {
        const kf_state_arguments state = state_arguments(arguments);
        kf_launch_set(launch, name, function, block, &state, sizeof state);
    }
}
