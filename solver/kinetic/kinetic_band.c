/* The nodes that a solid's samples touch, on the device: their list, map and mask, and the sums there. */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "scene/scene.h"
#include "solver/flow/flow_problem.h"
#include "solver/kinetic/kinetic_samples.h"

/* Finds the distinct nodes that the samples touch, in ascending order. The caller frees them. */
static long long *touched_nodes(const kf_kinetic *kinetic, const long long *corner, size_t count,
                                size_t *found) {
    const kf_kinetic_geometry *g = &kinetic->corners;
    size_t words = (size_t)(g->capacity + 63) / 64;
    uint64_t *marked = kf_allocate_zeroed(words, sizeof(uint64_t));
    for (size_t s = 0; s < count; s++) {
        if (s > 0 && corner[s] == corner[s - 1]) continue;
        for (int c = 0; c < 8; c++) {
            long long k = kf_kinetic_cell_node(kinetic, corner[s], c) + g->before;
            marked[k / 64] |= UINT64_C(1) << (k % 64);
        }
    }
    size_t total = 0;
    for (size_t w = 0; w < words; w++)
        total += (size_t)__builtin_popcountll(marked[w]);
    long long *nodes = kf_allocate((total + 1) * sizeof(long long));
    size_t n = 0;
    for (size_t w = 0; w < words; w++)
        for (uint64_t bits = marked[w]; bits != 0; bits &= bits - 1)
            nodes[n++] = (long long)(w * 64) + __builtin_ctzll(bits) - g->before;
    free(marked);
    *found = total;
    return nodes;
}

/* Returns the places of the band. The band of a moving solid is marked anew every step and may grow, so it
 * gets twice the number. */
static size_t band_places(const kf_kinetic *kinetic, size_t touched) {
    return kinetic->moving ? 2 * touched + 1024 : touched;
}

/* Makes the band's buffers. The aggregated variant finds the band through its segments and needs no map on
 * the device. */
static kf_status make_band_buffers(kf_plan *plan, kf_kinetic *kinetic, size_t touched, kf_error *error) {
    size_t index_bytes = kinetic->geometry.index64 ? sizeof(long long) : sizeof(int);
    size_t place = band_places(kinetic, touched);
    kf_kinetic_arguments *a = &kinetic->arguments;
    kf_buffer *field;
    if (place > 2147483647 / 8)
        return kf_fail(error, KF_MACHINE, "the solid touches too many nodes (%zu)", touched);
    KF_TRY(kf_plan_buffer(plan, place * index_bytes, &kinetic->band_node, error));
    KF_TRY(kf_plan_buffer(plan, place * 4 * kinetic->real_bytes, &field, error));
    KF_TRY(kf_plan_buffer(plan, place * 4 * sizeof(double), &kinetic->band_force, error));
    KF_TRY(kf_plan_buffer(plan, 3 * sizeof(int), &kinetic->band_count, error));
    const bool keeps = kinetic->options.keep_streamed;
    if (kinetic->geometry.shift > 0 || keeps) {
        const size_t value = keeps ? kinetic->real_bytes : kinetic->store_bytes;
        kf_buffer *kept;
        KF_TRY(kf_plan_buffer(plan, (size_t)kinetic->node_values * place * value, &kept, error));
        a->band.kept = kf_buffer_address(kept);
    }
    if (kinetic->options.plan == KF_PLAN_MOMENTS && kinetic->listed == NULL) {
        KF_TRY(kf_plan_buffer(plan, 27 * place * kinetic->real_bytes, &kinetic->listed, error));
        a->band.listed = kf_buffer_address(kinetic->listed);
        a->band.listed_count = (int)place;
    }
    if (plan->all_parts == 1) kinetic->listed_all = a->band.listed_count;
    if (kinetic->passes > 1) {
        KF_TRY(kf_plan_buffer(plan, place * 4 * sizeof(double), &kinetic->band_total, error));
        a->band.total = kf_buffer_address(kinetic->band_total);
    }
    kinetic->band_count_static = kinetic->moving ? 0 : (int)touched;
    a->band.capacity = (int)place;
    a->band.node = kf_buffer_address(kinetic->band_node);
    a->band.field = kf_buffer_address(field);
    a->band.force = kf_buffer_address(kinetic->band_force);
    a->band.count = kf_buffer_address(kinetic->band_count);
    if (kinetic->segments) return KF_OK;
    KF_TRY(kf_plan_buffer(plan, (size_t)kinetic->geometry.capacity * sizeof(int), &kinetic->band_of, error));
    a->band.of = (int *)kf_buffer_address(kinetic->band_of) + kinetic->geometry.before;
    /* -1 means outside the band. */
    return kf_buffer_fill(kinetic->band_of, 0xff, error);
}

/* Rows of segments for the fullest cells, as the solid lies at first: half as many samples again have place.
 */
static kf_status make_cell_buffers(kf_plan *plan, kf_kinetic *kinetic, const long long *corner,
                                   kf_error *error) {
    kf_kinetic_arguments *a = &kinetic->arguments;
    const size_t nodes = (size_t)kinetic->geometry.capacity, samples = (size_t)a->samples.count;
    const long length = kinetic->options.segment_length;
    int *counts = kf_allocate_zeroed((size_t)kinetic->corners.capacity, sizeof(int)), fullest = 0;
    for (size_t s = 0; s < samples; s++)
        if (++counts[corner[s] + kinetic->corners.before] > fullest)
            fullest = counts[corner[s] + kinetic->corners.before];
    free(counts);
    a->patches.cell_rows = (int)((3L * fullest / 2 + length - 1) / length);
    kf_buffer *filled, *rank, *crowded;
    const size_t places = (size_t)a->patches.cell_rows * (size_t)a->band.capacity;
    if (places > 2147483647)
        return kf_fail(error, KF_MACHINE,
                       "%d samples in one cell are too many for immersed_boundary aggregated", fullest);
    KF_TRY(kf_plan_buffer(plan, nodes * sizeof(int), &kinetic->cell_count, error));
    KF_TRY(kf_plan_buffer(plan, samples * sizeof(int), &rank, error));
    KF_TRY(kf_plan_buffer(plan, samples * sizeof(int), &crowded, error));
    KF_TRY(kf_plan_buffer(plan, places * (size_t)length * 4 * kinetic->real_bytes, &filled, error));
    a->patches.cell_count = (int *)kf_buffer_address(kinetic->cell_count) + kinetic->geometry.before;
    a->patches.sample_rank = kf_buffer_address(rank);
    a->patches.crowded = kf_buffer_address(crowded);
    a->segments.samples = kf_buffer_address(filled);
    return kf_buffer_fill(kinetic->cell_count, 0, error);
}

int kf_kinetic_patches(const kf_kinetic *kinetic) {
    const long length = kinetic->options.patch_length;
    return (int)((kinetic->arguments.samples.count + length - 1) / length);
}

size_t kf_kinetic_patch_words(const kf_kinetic *kinetic) {
    const int *box = kinetic->arguments.samples.box;
    return ((size_t)box[0] + 32) / 32 * ((size_t)box[1] + 1) * ((size_t)box[2] + 1);
}

/* Makes the buffers of each patch's samples and runs. The index of a cell's corner fits in 32 bits. */
static kf_status make_patch_buffers(kf_plan *plan, kf_kinetic *kinetic, kf_error *error) {
    const size_t patches = (size_t)kf_kinetic_patches(kinetic),
                 length = (size_t)kinetic->options.patch_length;
    const size_t words = kf_kinetic_patch_words(kinetic);
    kf_buffer *sorted, *runs;
    if (kinetic->geometry.capacity > 2147483647 || 4 * words > 2147483647)
        return kf_fail(error, KF_MACHINE, "patches are for grids of less than 2^31 nodes");
    KF_TRY(kf_plan_buffer(plan, patches * length * 4 * kinetic->real_bytes, &sorted, error));
    KF_TRY(kf_plan_buffer(plan, patches * (2 * length + 2) * sizeof(int), &runs, error));
    kinetic->arguments.segments.samples = kf_buffer_address(sorted);
    KF_TRY(kf_plan_buffer(plan, words * sizeof(unsigned), &kinetic->patch_band, error));
    kinetic->arguments.patches.runs = kf_buffer_address(runs);
    kinetic->arguments.patches.band = kf_buffer_address(kinetic->patch_band);
    return kf_buffer_fill(kinetic->patch_band, 0, error);
}

/* Uploads the band's map for a static solid whose samples are spread one by one. */
static kf_status upload_map(const kf_kinetic *kinetic, const long long *nodes, size_t touched,
                            kf_error *error) {
    const size_t bytes = (size_t)kinetic->geometry.capacity * sizeof(int);
    int *map = kf_allocate(bytes);
    memset(map, 0xff, bytes);
    for (size_t n = 0; n < touched; n++)
        map[nodes[n] + kinetic->geometry.before] = (int)n;
    kf_status status = kf_buffer_upload(kinetic->band_of, 0, map, bytes, error);
    free(map);
    return status;
}

kf_status kf_kinetic_upload_mask(kf_plan *plan, kf_kinetic *kinetic, const long long *nodes, size_t touched,
                                 kf_error *error) {
    const size_t words = ((size_t)kinetic->geometry.capacity + 31) / 32;
    kf_buffer *buffer;
    KF_TRY(kf_plan_buffer(plan, words * sizeof(unsigned), &buffer, error));
    unsigned *mask = kf_allocate_zeroed(words, sizeof *mask);
    for (size_t n = 0; n < touched; n++)
        mask[(nodes[n] + kinetic->geometry.before) / 32] |= 1U << (nodes[n] + kinetic->geometry.before) % 32;
    /* Planes begin with a word: a part's first one has the bits from its first node on. */
    kinetic->arguments.band.mask =
        (const unsigned *)kf_buffer_address(buffer) + kinetic->geometry.before / 32;
    const kf_status status = kf_buffer_upload(buffer, 0, mask, words * sizeof *mask, error);
    free(mask);
    return status;
}

/* Makes the segments' memory. Their host copy stays there, and is mostly memory that is never touched. */
static kf_status make_segments(kf_plan *plan, kf_kinetic *kinetic, const kf_ordered_samples *ordered,
                               const long long *nodes, size_t touched, kf_error *error) {
    int *map = kf_allocate_zeroed((size_t)kinetic->geometry.capacity, sizeof(int));
    for (size_t n = 0; n < touched; n++)
        map[nodes[n] + kinetic->geometry.before] = (int)n + 1;
    double *const values[4] = {ordered->coordinate[0], ordered->coordinate[1], ordered->coordinate[2],
                               ordered->area};
    kf_status status = kf_kinetic_make_segments(plan, kinetic, ordered->corner, values,
                                                map + kinetic->geometry.before, (int)touched, error);
    free(map);
    return status;
}

/* Returns the plane of the node with this index. */
static int plane_of(const kf_kinetic *kinetic, long long node) {
    return (int)((node - kinetic->geometry.origin) / kinetic->geometry.plane_pitch) - 1;
}

/* Finds where a part's nodes begin in the list of a team, which is where those of the parts below end. The
 * band of a moving solid gets all places of the part. */
static void place_in_list(kf_kinetic *kinetic, const long long *nodes, size_t touched) {
    size_t first = 0;
    while (!kinetic->moving && !kinetic->computes_halo && first < touched &&
           plane_of(kinetic, nodes[first]) < kinetic->first_plane)
        first++;
    kinetic->arguments.band.listed_from = kinetic->listed_before - (int)first;
}

/* Makes the list of listed nodes that all parts of a team share in plan moments (kinetic.h). It orders the
 * samples of the whole domain, counts each part's band nodes, and spreads one buffer of 27 values per node
 * over the parts' memories. */
kf_status kf_kinetic_share_list(kf_plan *plan, kf_kinetic *kinetics, kf_error *error) {
    const kf_scene *scene = kf_plan_scene(plan);
    if (plan->all_parts == 1 || kinetics->options.plan != KF_PLAN_MOMENTS || !kinetics->has_solid)
        return KF_OK;
    if (!kinetics->computes_halo && plan->near_parts < plan->all_parts)
        return kf_fail(error, KF_BAD_INPUT,
                       "with plan moments and a solid, either all devices read planes in place or none does; "
                       "use transfer=copies, host or nccl");
    kf_kinetic whole = *kinetics;
    whole.first_plane = 0;
    whole.planes = scene->nodes[2];
    /* A part has memory for some rows only. */
    if (kinetics->options.parts_y > 1) {
        whole.first_row = 0;
        whole.rows = scene->nodes[1];
        whole.options.parts = whole.options.parts_y = 1;
        kf_kinetic_lay_out(scene, &whole.options, &whole.geometry);
        whole.corners = whole.geometry;
    }
    kf_kinetic_begin_ordering(scene, &whole);
    kf_ordered_samples ordered = kf_kinetic_order_samples(scene, &whole);
    size_t touched, ends[KF_MOST_PARTS], n = 0;
    long long *nodes = touched_nodes(&whole, ordered.corner, ordered.count, &touched);
    int first[KF_MOST_PARTS + 1];
    kf_kinetic_cut(scene, kinetics->options.sample_cost, 2, plan->all_parts, first);
    const size_t each = band_places(kinetics, touched);
    for (int part = 0; part < plan->all_parts && !kinetics->computes_halo; part++) {
        const int own = part - plan->first_part;
        if (own >= 0 && own < plan->part_count) kinetics[own].listed_before = (int)n;
        while (!kinetics->moving && n < touched && plane_of(&whole, nodes[n]) < first[part + 1])
            n++;
        if (kinetics->moving) n += each;
        ends[part] = n * kinetics->real_bytes;
    }
    free(nodes);
    kf_kinetic_free_ordered(&ordered);
    for (int part = 0; part < plan->part_count; part++)
        kinetics[part].listed_all = (int)each;
    if (kinetics->computes_halo) return KF_OK;
    if (n > 2147483647 / 8) return kf_fail(error, KF_MACHINE, "the solid touches too many nodes (%zu)", n);
    kf_buffer *list;
    const size_t row = n * kinetics->real_bytes;
    KF_TRY(kf_plan_spread(plan, 27 * row, row, ends, &list, error));
    for (int part = 0; part < plan->part_count; part++) {
        kinetics[part].listed = list;
        kinetics[part].arguments.band.listed = kf_buffer_address(list);
        kinetics[part].arguments.band.listed_count = (int)n;
    }
    return KF_OK;
}

/* Fills the band of a static solid, once. */
static kf_status fill_band(kf_plan *plan, kf_kinetic *kinetic, const kf_ordered_samples *ordered,
                           const long long *nodes, size_t touched, kf_error *error) {
    KF_TRY(kf_kinetic_upload_indices(kinetic, kinetic->band_node, nodes, touched, error));
    if (kinetic->options.masked_band) KF_TRY(kf_kinetic_upload_mask(plan, kinetic, nodes, touched, error));
    return kinetic->segments ? make_segments(plan, kinetic, ordered, nodes, touched, error)
                             : upload_map(kinetic, nodes, touched, error);
}

kf_status kf_kinetic_make_band(kf_plan *plan, kf_kinetic *kinetic, const kf_ordered_samples *ordered,
                               kf_error *error) {
    size_t touched;
    long long *nodes = touched_nodes(kinetic, ordered->corner, ordered->count, &touched);
    kf_status status = make_band_buffers(plan, kinetic, touched, error);
    if (kinetic->options.plan == KF_PLAN_MOMENTS && kinetic->options.parts > 1)
        place_in_list(kinetic, nodes, touched);
    if (status == KF_OK && !kinetic->moving)
        status = fill_band(plan, kinetic, ordered, nodes, touched, error);
    if (status == KF_OK && kinetic->cells) status = make_cell_buffers(plan, kinetic, ordered->corner, error);
    if (status == KF_OK && kinetic->patches) status = make_patch_buffers(plan, kinetic, error);
    free(nodes);
    return status;
}
