/* A solid by links: its lists on the device, and its kernels in a step. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/util/memory.h"
#include "base/util/vector.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_builder.h"
#include "solver/kinetic/kinetic_samples.h"

enum { PER_ITEM = 16 };

long long kf_kinetic_node_index(const kf_kinetic *kinetic, const int node[3]) {
    const kf_kinetic_geometry *g = &kinetic->geometry;
    int row = node[1], first, rows;
    if (kinetic->row_ring) {
        kf_kinetic_rows(kinetic, kinetic->halo_width, &first, &rows);
        row += row < first ? g->nodes[1] : row >= first + rows ? -g->nodes[1] : 0;
    }
    return g->origin + node[0] + (long long)g->row_pitch * (row + 1) + g->plane_pitch * (node[2] + 1);
}

void kf_kinetic_extend_box(kf_kinetic_region *box, const int node[3]) {
    const bool empty = box->high[0] <= box->low[0];
    for (int a = 0; a < 3; a++) {
        if (empty || node[a] < box->low[a]) box->low[a] = node[a];
        if (empty || node[a] >= box->high[a]) box->high[a] = node[a] + 1;
    }
}

/* Finds the box of the nodes inside, which begins at an even x: nodes in pairs are both in it or not. */
static void bound_inside(const kf_links *links, kf_kinetic_region *box) {
    *box = (kf_kinetic_region){{0}, {0}};
    for (size_t n = 0; n < links->inside_count; n++)
        kf_kinetic_extend_box(box, links->inside[n]);
    box->low[0] -= box->low[0] % 2;
}

/* Uploads the nodes inside the solid, and where they lie if the flow leaves them out. */
static kf_status upload_inside(kf_plan *plan, kf_kinetic *kinetic, const kf_links *links, kf_error *error) {
    const size_t bytes = kinetic->geometry.index64 ? sizeof(long long) : sizeof(int);
    long long *indices = kf_allocate((links->inside_count + 1) * sizeof *indices);
    kf_buffer *buffer;
    for (size_t n = 0; n < links->inside_count; n++)
        indices[n] = kf_kinetic_node_index(kinetic, links->inside[n]);
    kf_status status = kf_plan_buffer(plan, (links->inside_count + 1) * bytes, &buffer, error);
    if (status == KF_OK && links->inside_count > 0)
        status = kf_kinetic_upload_indices(kinetic, buffer, indices, links->inside_count, error);
    if (status == KF_OK && kinetic->options.masked_band) {
        status = kf_kinetic_upload_mask(plan, kinetic, indices, links->inside_count, error);
        bound_inside(links, &kinetic->arguments.covered);
    }
    if (status == KF_OK) kinetic->arguments.links.inside = kf_buffer_address(buffer);
    free(indices);
    return status;
}

static int code_of(const kf_link_node *at) {
    return (at->direction[0] + 1) + 3 * (at->direction[1] + 1) + 9 * (at->direction[2] + 1);
}

static double weight_of(const kf_link *link) {
    static const double of_axis[2] = {2.0 / 3.0, 1.0 / 6.0};
    const signed char *c = link->at[0].direction;
    return of_axis[c[0] != 0] * of_axis[c[1] != 0] * of_axis[c[2] != 0];
}

/* Returns the sum of the weights of link velocities that have a correction. */
static double sum_of_weights(const kf_links *links) {
    double sum = 0.0;
    for (size_t n = 0; n < links->count; n++)
        if (links->link[n].behind > 0) sum += weight_of(&links->link[n]);
    return sum;
}

/* Returns the numbers that the device keeps of a link: its share, and of a turning solid what the surface's
 * motion takes from the population that returns. */
static size_t reals_of_link(const kf_scene *scene) {
    return scene->motion.moving ? 2 : 1;
}

/* Finds what the surface's motion takes from the population that returns along each of the scene's links.
 * Beyond the seam of a periodic axis is the solid's image. What all take together would be mass, so each
 * gives its part of that back. */
static double *find_drives(const kf_scene *scene) {
    const kf_links *links = &scene->links;
    const kf_motion *motion = &scene->motion;
    double *drive = kf_allocate(links->count * sizeof *drive), sum = 0.0, weights = 0.0;
    for (size_t n = 0; n < links->count; n++) {
        const kf_link *link = &links->link[n];
        const signed char *c = link->at[0].direction;
        double arm[3], velocity[3], along = 0.0;
        for (int a = 0; a < 3; a++) {
            arm[a] = link->at[0].node[a] + link->share * c[a] - motion->center[a];
            if (scene->faces[2 * a] == KF_PERIODIC)
                arm[a] -= scene->nodes[a] * nearbyint(arm[a] / scene->nodes[a]);
        }
        kf_cross(motion->axis, arm, velocity);
        for (int a = 0; a < 3; a++)
            along += motion->angular_speed * c[a] * velocity[a];
        drive[n] = 6.0 * weight_of(link) * along;
        sum += drive[n];
        weights += weight_of(link);
    }
    for (size_t n = 0; n < links->count; n++)
        drive[n] -= weight_of(&links->link[n]) * sum / weights;
    return drive;
}

static kf_status upload_lists(kf_kinetic *kinetic, const kf_scene *scene, kf_buffer *nodes, kf_buffer *codes,
                              kf_buffer *shares, kf_error *error) {
    const kf_links *links = &scene->links;
    const size_t count = kinetic->links.count, each = reals_of_link(scene);
    long long *node = kf_allocate(KF_LINK_NODES * count * sizeof *node);
    int *code = kf_allocate(count * sizeof *code);
    double *share = kf_allocate(each * count * sizeof *share);
    for (size_t n = 0; n < count; n++) {
        const kf_link *link = &links->link[kinetic->link_order[n]];
        code[n] = link->behind << (KF_LINK_CODE_BITS * KF_LINK_NODES);
        for (int i = 0; i < KF_LINK_NODES; i++) {
            const kf_link_node *at =
                i == KF_LINK_NODES - 1 ? &link->inner : &link->at[i <= link->behind ? i : 0];
            node[(size_t)i * count + n] = kf_kinetic_node_index(kinetic, at->node);
            code[n] |= code_of(at) << (KF_LINK_CODE_BITS * i);
        }
        share[n] = link->share;
    }
    double *drive = each > 1 ? find_drives(scene) : NULL;
    for (size_t n = 0; drive != NULL && n < count; n++)
        share[count + n] = drive[kinetic->link_order[n]];
    free(drive);
    kf_status status = kf_kinetic_upload_indices(kinetic, nodes, node, KF_LINK_NODES * count, error);
    if (status == KF_OK) status = kf_buffer_upload(codes, 0, code, count * sizeof *code, error);
    if (status == KF_OK) status = kf_kinetic_upload_reals(kinetic, shares, share, each * count, error);
    free(node);
    free(code);
    free(share);
    return status;
}

bool kf_kinetic_balances(const kf_scene *scene, const kf_kinetic *kinetic) {
    return scene->links.wall_count > 0 || kinetic->arguments.links.part_of_sum > 0.0;
}

/* Sets what the kernels are given but for lists. */
static void set_arguments(const kf_scene *scene, kf_kinetic *kinetic) {
    kf_kinetic_links *a = &kinetic->arguments.links;
    const double weights = sum_of_weights(&scene->links);
    a->count = (int)kinetic->links.count;
    a->at_once = scene->half_way;
    a->thin = scene->links.thin_count > 0;
    a->direct = scene->links.wall_count == 0 && kf_kinetic_puts_back(&scene->links, &kinetic->options);
    a->part_of_sum = weights > 0.0 ? 1.0 / (KF_FORCE_SCALE * weights) : 0.0;
    for (int i = 0; i < 3; i++)
        a->center[i] = scene->motion.moving ? scene->motion.center[i]
                                            : 0.5 * (scene->solid_low[i] + scene->solid_high[i]);
}

/* Allocates the sums of links. */
static kf_status make_sums(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    KF_TRY(kf_kinetic_make_sums(plan, kinetic, KF_SUM_LINKS, error));
    KF_TRY(
        kf_plan_buffer(plan, KF_LOAD_SUMS * KF_LOAD_SLOTS * sizeof(long long), &kinetic->load_sums, error));
    kinetic->arguments.links.sums = kf_buffer_address(kinetic->sums[KF_SUM_LINKS].own);
    kinetic->arguments.body.load_sums = kf_buffer_address(kinetic->load_sums);
    return KF_OK;
}

/* Allocates and fills the arrays of the part's cut links on the device. A part may have none. */
kf_status kf_kinetic_upload_links(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    const kf_links *links = &kinetic->links;
    kf_kinetic_arguments *a = &kinetic->arguments;
    const size_t index_bytes = kinetic->geometry.index64 ? sizeof(long long) : sizeof(int);
    kf_buffer *nodes, *codes, *shares, *value;
    if (scene->links.count + scene->links.inside_count > INT_MAX / KF_LINK_NODES)
        return kf_fail(error, KF_MACHINE, "%s: the solid cuts too many links (%zu)", scene->source,
                       scene->links.count);
    kf_kinetic_take_links(plan, kinetic);
    const size_t room = links->count > 0 ? links->count : 1;
    KF_TRY(kf_plan_buffer(plan, KF_LINK_NODES * room * index_bytes, &nodes, error));
    KF_TRY(kf_plan_buffer(plan, room * sizeof(int), &codes, error));
    KF_TRY(kf_plan_buffer(plan, reals_of_link(scene) * room * kinetic->real_bytes, &shares, error));
    KF_TRY(kf_plan_buffer(plan, kf_kinetic_link_bytes(kinetic, links->count), &kinetic->link_memory, error));
    KF_TRY(kf_plan_buffer(plan, 2 * room * kinetic->real_bytes, &value, error));
    KF_TRY(make_sums(plan, kinetic, error));
    a->links.node = kf_buffer_address(nodes);
    a->links.code = kf_buffer_address(codes);
    a->links.share = kf_buffer_address(shares);
    a->links.memory = kf_buffer_address(kinetic->link_memory);
    a->links.value = kf_buffer_address(value);
    set_arguments(scene, kinetic);
    KF_TRY(upload_inside(plan, kinetic, links, error));
    KF_TRY(kf_kinetic_upload_wall(plan, kinetic, error));
    KF_TRY(kf_kinetic_upload_layer(plan, kinetic, error));
    return links->count > 0 ? upload_lists(kinetic, scene, nodes, codes, shares, error) : KF_OK;
}

/* Sets the part's nodes inside of the solid to fluid at rest. */
static kf_status rest_part(kf_plan *plan, const kf_kinetic *kinetic, kf_error *error) {
    const int block[3] = {(int)kinetic->options.solid_block, 1, 1};
    kf_launch launch;
    kf_function *rest;
    if (kinetic->links.inside_count == 0) return KF_OK;
    KF_TRY(kf_module_function(kinetic->modules[KF_SOURCE_LINKS], "rest_inside", &rest, error));
    kf_kinetic_arguments arguments = kinetic->arguments;
    kf_kinetic_find_populations(kinetic, plan->steps_done, &arguments);
    arguments.extent[0] = (int)kinetic->links.inside_count;
    arguments.extent[1] = arguments.extent[2] = 1;
    kf_kinetic_set_launch(&launch, "rest_inside", rest, KF_SOURCE_LINKS, block, &arguments);
    return kf_backend_launch(plan->parts[kinetic->part], &launch, error);
}

kf_status kf_kinetic_rest_inside(kf_plan *plan, kf_error *error) {
    const kf_kinetic *kinetics = plan->system;
    if (kinetics->leaves) return kf_kinetic_rest_moving_links(plan, kinetics, error);
    for (int part = 0; part < plan->part_count; part++)
        KF_TRY(rest_part(plan, &kinetics[part], error));
    return KF_OK;
}

kf_status kf_kinetic_reset_links(kf_plan *plan, kf_error *error) {
    kf_kinetic *kinetics = plan->system;
    if (kinetics->leaves) KF_TRY(kf_kinetic_reset_moving_links(plan, kinetics, error));
    for (int part = 0; kinetics->linked && !kinetics->leaves && part < plan->part_count; part++) {
        KF_TRY(kf_buffer_fill(kinetics[part].link_memory, 0, error));
        KF_TRY(kf_kinetic_reset_layer(&kinetics[part], error));
        KF_TRY(kf_kinetic_clear_sums(&kinetics[part], KF_SUM_LINKS, error));
    }
    return kf_kinetic_rest_inside(plan, error);
}

kf_status kf_kinetic_settle_state(kf_plan *plan, kf_error *error) {
    KF_TRY(kf_kinetic_rest_inside(plan, error));
    return kf_kinetic_settle(plan, error);
}

/* Appends kernels to the part: those that compute returning populations, the friction, and those that write
 * returning populations where no earlier kernel does. */
static void append_reflection(kf_builder *b, int parity, int grid) {
    const kf_links *own = &b->kinetic->links;
    /* Only a flow that does not leave out what is inside brings something there. */
    const int shell = b->kinetic->options.masked_band ? 0 : (int)own->shell_count;
    if (kf_plan_scene(b->plan)->links.wall_count > 0)
        kf_append_found_friction(b, parity, grid, shell);
    else if (own->count + (size_t)shell > 0)
        kf_append_items(b, parity, KF_SOURCE_LINKS, "reflect_links", (int)own->count + shell, grid, grid);
}

static void append_friction(kf_builder *b, int parity, int grid) {
    if (b->kinetic->links.wall_count > 0) kf_append_friction(b, parity, grid);
}

static void append_placing(kf_builder *b, int parity, int grid) {
    const int count = (int)b->kinetic->links.count;
    if (count > 0) kf_append_items(b, parity, KF_SOURCE_LINKS, "place_links", count, grid, grid);
}

/* Appends a kernel to each part, when all neighbours have come so far. */
static void append_to_all(kf_builder *b, int parity, int grid, bool meet,
                          void (*append)(kf_builder *b, int parity, int grid)) {
    if (meet) kf_neighbour_barrier(b, parity);
    for (int part = 0; part < b->parts; part++) {
        kf_on_part(b, part);
        append(b, parity, grid);
    }
}

/* Returns whether a part reads what neighbours have written: nodes that a law has pushed, or inner nodes of
 * its own planes for averages and ghosts. A returned population is pulled only by the outer node of its link.
 */
static bool others_read_links(const kf_builder *b) {
    return kf_plan_scene(b->plan)->links.wall_count > 0 || b->kinetics->adaptive ||
           b->kinetics->options.boundary_kernels > 0;
}

/* Appends reflection and friction of all parts, and the barriers after which neighbours may read them. */
void kf_append_links(kf_builder *b, int parity, int grid) {
    const kf_scene *scene = kf_plan_scene(b->plan);
    /* Parts with grids of their own write to their copies of neighbours' nodes. */
    const bool team = b->plan->all_parts > 1, meet = team && b->kinetics->options.transfer == KF_DIRECT,
               placed = kf_kinetic_puts_back(&scene->links, &b->kinetics->options);
    if (!b->kinetics->linked) return;
    if (b->kinetics->leaves) {
        kf_append_moving_links(b, parity, grid);
        return;
    }
    kf_begin_link_sums(b, parity);
    append_to_all(b, parity, grid, false, append_reflection);
    if (scene->links.wall_count > 0) append_to_all(b, parity, grid, meet, append_friction);
    if (team && kf_kinetic_balances(scene, b->kinetics))
        kf_signal_all(b, parity, "links_summed", b->links_summed);
    if (!placed) append_to_all(b, parity, grid, meet, append_placing);
    kf_on_part(b, 0);
    if (meet && others_read_links(b))
        kf_neighbour_barrier(b, parity);
    else if (!team && placed)
        kf_append_items(b, parity, KF_SOURCE_LINKS, "balance_links", 1, grid, grid);
}

/* Prepares the launch that sums up the forces at the links. */
void kf_set_link_launches(kf_builder *b) {
    kf_kinetic *kinetic = b->kinetic;
    if (!kinetic->linked || kinetic->leaves) return;
    kf_kinetic_arguments arguments = kf_from_to(kinetic, kinetic->solution, kinetic->solution);
    kf_function *load = kf_builder_function(b, KF_SOURCE_LINKS, "load_links");
    if (b->status != KF_OK) return;
    arguments.extent[0] = (arguments.links.count + PER_ITEM - 1) / PER_ITEM;
    arguments.extent[1] = arguments.extent[2] = 1;
    kf_kinetic_set_launch(&kinetic->load_launch, "load_links", load, KF_SOURCE_LINKS, b->line_block,
                          &arguments);
    kf_set_wall_launches(b);
}
