/* Chooses the kernel files of a plan, and the macros with which a config specialises each of them. */
#include <math.h>

#include "solver/kinetic/kinetic.h"
#include "solver/kinetic/nested.h"

bool kf_kinetic_uses(const kf_scene *scene, const kf_kinetic_options *options, kf_kinetic_source which) {
    bool solid = scene->samples.count > 0;
    if (which == KF_SOURCE_BOUNDARY)
        return options->boundary_kernels > 0 || kf_scene_has_face(scene, KF_OUTFLOW);
    if (which == KF_SOURCE_IMMERSED) return solid;
    if (which == KF_SOURCE_LINKS) return scene->links.count > 0 && !scene->links.leaves;
    if (which == KF_SOURCE_MOVING_LINKS) return scene->links.leaves;
    if (which == KF_SOURCE_WALL) return scene->links.wall_count > 0;
    if (which == KF_SOURCE_MOTION) return solid && scene->motion.moving;
    if (which == KF_SOURCE_ORDER) return solid && options->immersed_boundary == KF_GATHER;
    return true;
}

/* Returns the file of a source. Those of flow and immersed boundary depend on the plan. */
static const char *file_of(const kf_kinetic_options *options, kf_kinetic_source which) {
    static const char *const files[KF_SOURCES] = {[KF_SOURCE_BOUNDARY] = "kernels/kinetic/boundary.cu",
                                                  [KF_SOURCE_STATE] = "kernels/kinetic/state.cu",
                                                  [KF_SOURCE_MOTION] = "kernels/kinetic/motion.cu",
                                                  [KF_SOURCE_ORDER] = "kernels/kinetic/order.cu",
                                                  [KF_SOURCE_LINKS] = "kernels/kinetic/links.cu",
                                                  [KF_SOURCE_WALL] = "kernels/kinetic/wall.cu",
                                                  [KF_SOURCE_MOVING_LINKS] =
                                                      "kernels/kinetic/moving_links.cu",
                                                  [KF_SOURCE_VELOCITY] = "kernels/kinetic/velocity.cu"};
    if (which == KF_SOURCE_IMMERSED)
        return kf_kinetic_has_band(options) ? "kernels/kinetic/immersed_band.cu"
                                            : "kernels/kinetic/immersed.cu";
    if (which != KF_SOURCE_FLOW) return files[which];
    return options->plan == KF_PLAN_MOMENTS ? "kernels/kinetic/moments.cu"
           : options->plan == KF_PLAN_FUSED ? "kernels/kinetic/fused.cu"
                                            : "kernels/kinetic/separate.cu";
}

/* Defines where nodes and vectors lie. */
static void define_layout(const kf_kinetic_options *options, const kf_kinetic_geometry *geometry,
                          kf_defines *defines) {
    kf_define_to(defines, "KF_LAYOUT", (long)options->layout);
    kf_define_to(defines, "KF_ALPHA_LOG2", options->alpha_log2);
    kf_define_to(defines, "KF_ALIGNED_ROWS",
                 geometry->row_pitch % options->alpha == 0 && geometry->origin % options->alpha == 0);
}

/* Defines a layout for files that touch no field with components. */
static void define_no_layout(kf_defines *defines) {
    kf_define_to(defines, "KF_LAYOUT", KF_SOA);
    kf_define_to(defines, "KF_ALPHA_LOG2", 0);
}

/* Defines what a node keeps, and what its velocity is. */
static void define_populations(const kf_scene *scene, const kf_kinetic_options *options,
                               kf_kinetic_source which, kf_defines *defines) {
    const bool moments = options->plan == KF_PLAN_MOMENTS;
    const double *force = scene->body_force;
    if (which != KF_SOURCE_BOUNDARY || moments)
        kf_define_to(defines, "KF_BODY_FORCE", force[0] != 0.0 || force[1] != 0.0 || force[2] != 0.0);
    if (options->velocities != 27) kf_define_to(defines, "KF_VELOCITIES", options->velocities);
    if (!moments) return;
    kf_define_to(defines, "KF_MOMENTS", 1);
    kf_define_to(defines, "KF_LISTED", scene->samples.count > 0);
    if (options->storage == KF_F16) kf_define_to(defines, "KF_PACKED", 1);
}

/* Returns whether at an edge of two walls, or of two inflows, the first of them alone would be wrong. */
static bool mixes_edge(const kf_scene *scene, int first, int second) {
    const double *one = scene->face_velocity[first], *other = scene->face_velocity[second];
    const kf_boundary kind = scene->faces[first];
    if (kind != scene->faces[second] || (kind != KF_WALL && kind != KF_INFLOW)) return false;
    for (int a = 0; a < 3; a++) {
        const bool wall = kind == KF_WALL, rests = wall && (a == first / 2 || a == second / 2),
                   slower = wall && fabs(other[a]) < fabs(one[a]);
        if (rests ? one[a] != 0.0 : !slower && one[a] != other[a]) return true;
    }
    return scene->specular_share[first] != scene->specular_share[second];
}

static bool mixes_edges(const kf_scene *scene) {
    for (int first = 0; first < KF_FACES; first++)
        for (int second = 2 * (first / 2) + 2; second < KF_FACES; second++)
            if (mixes_edge(scene, first, second)) return true;
    return false;
}

static void define_faces(const kf_scene *scene, kf_defines *defines) {
    static const char *const faces[KF_FACES] = {"KF_FACE_0", "KF_FACE_1", "KF_FACE_2",
                                                "KF_FACE_3", "KF_FACE_4", "KF_FACE_5"};
    long mirrors = 0;
    for (int face = 0; face < KF_FACES; face++) {
        kf_define_to(defines, faces[face], (long)scene->faces[face]);
        if (scene->specular_share[face] > 0.0) mirrors |= 1L << face;
    }
    kf_define_to(defines, "KF_SPECULAR", mirrors);
    if (mixes_edges(scene)) kf_define_to(defines, "KF_MIXED_EDGES", 1);
}

/* Defines the collision and its split. For a fused kernel also defines its boundaries and what it reads on
 * the band. */
static void define_flow(const kf_scene *scene, const kf_kinetic_options *options, kf_defines *defines) {
    kf_define_to(defines, "KF_COLLISION", (long)scene->collision);
    if (scene->collision != KF_BGK) kf_define_to(defines, "KF_RATE_RULE", (long)scene->rate_rule);
    if (scene->collision == KF_ACM_MRT) kf_define_to(defines, "KF_BASIS", (long)scene->basis);
    kf_define_to(defines, "KF_FORM", (long)options->collision_form);
    const bool folded = options->boundary_kernels == 0;
    if (folded) define_faces(scene, defines);
    if (scene->covered.high[0] > scene->covered.low[0]) kf_define_to(defines, "KF_COVERED", 1);
    if (kf_nested_has_ghosts(scene)) kf_define_to(defines, "KF_GHOSTS", 1);
    const long edges = kf_kinetic_edge_sides(scene, options);
    if (edges != 0) kf_define_to(defines, "KF_EDGES", edges);
    if (options->plan == KF_PLAN_MOMENTS) {
        kf_define_to(defines, "KF_TILE_X", options->block[0]);
        kf_define_to(defines, "KF_TILE_Y", options->block[1]);
    }
    if (options->plan == KF_PLAN_FUSED) {
        kf_define_to(defines, "KF_FOLDED_BOUNDARY", folded);
        if (options->slab > 0) kf_define_to(defines, "KF_SLABS", 1);
        if (options->alternate) kf_define_to(defines, "KF_ALTERNATE", 1);
        /* With ghosts from other kernels, branches need 78 registers; without them it is 56. */
        if (options->boundary_choices || edges != 0) kf_define_to(defines, "KF_BOUNDARY_CHOICES", 1);
        if (options->keep_streamed) kf_define_to(defines, "KF_KEEP_STREAMED", 1);
        if (options->masked_band)
            kf_define_to(defines, scene->links.count > 0 ? "KF_HOLLOW" : "KF_MASKED_BAND", 1);
        const bool long_rows = scene->nodes[0] > 32 * options->nodes_per_thread;
        if (options->boundary_rows_apart) kf_define_to(defines, "KF_BOUNDARY_ROWS_APART", long_rows ? 1 : 2);
        kf_define_to(defines, "KF_NODES_PER_THREAD", options->nodes_per_thread);
    }
    if (options->prefetch_rows > 0) kf_define_to(defines, "KF_PREFETCH_ROWS", options->prefetch_rows);
    if (kf_kinetic_has_chain(scene, options)) {
        kf_define_to(defines, "KF_BAND_CHAIN", 1);
        kf_define_to(defines, "KF_SEGMENT_LENGTH", options->segment_length);
        kf_define_to(defines, "KF_WRAP", kf_kinetic_wraps(scene));
    }
    if (options->collision_split > 0) {
        kf_define_to(defines, "KF_SPLIT", options->collision_split);
        return;
    }
    kf_define_to(defines, "KF_FIXED_POINT_FORCE", options->fixed_point_force);
    /* After several passes the flow reads the force that band_join has summed. */
    const bool aggregated = options->immersed_boundary == KF_AGGREGATED;
    kf_define_to(defines, "KF_SEGMENTS",
                 aggregated && !kf_kinetic_samples_move(scene) && scene->immersed_passes <= 1);
    if (options->segment_lanes > 1) kf_define_to(defines, "KF_SEGMENT_LANES", options->segment_lanes);
    if (options->overlap) kf_define_to(defines, "KF_OVERLAP", 1);
    kf_define_to(defines, "KF_MOVING", kf_kinetic_samples_move(scene));
    if (options->staged_nodes > 0) {
        enum { LONG_ROW = 64 };
        kf_define_to(defines, "KF_STAGED", options->staged_nodes);
        kf_define_to(defines, "KF_LONG_ROWS", scene->nodes[0] >= LONG_ROW);
    }
    if (options->register_cap > 0)
        kf_define_text(defines, "KF_LAUNCH_BOUNDS", "__maxnreg__(%ld)", options->register_cap);
}

static void define_samples(const kf_scene *scene, kf_defines *defines) {
    kf_define_to(defines, "KF_MOVING", scene->motion.moving);
    kf_define_to(defines, "KF_WRAP", kf_kinetic_wraps(scene));
    if (scene->solid_count > 0) kf_define_to(defines, "KF_SOLIDS", 1);
}

/* Defines the sides at which a free solid leaves the box of a level. */
static void define_inner_sides(const kf_scene *scene, kf_defines *defines) {
    long sides = 0;
    for (int face = 0; face < KF_FACES; face++)
        if (scene->ghosts[face] > 0) sides |= 1L << face;
    if (!scene->motion.free || sides == 0) return;
    kf_define_to(defines, "KF_INNER_SIDES", sides);
    kf_define_to(defines, "KF_INNER_ROOM", KF_NESTED_GHOSTS + KF_NESTED_ROOM - 1);
}

static void define_immersed(const kf_scene *scene, const kf_kinetic_options *options, kf_defines *defines) {
    const bool aggregated = options->immersed_boundary == KF_AGGREGATED;
    define_samples(scene, defines);
    kf_define_to(defines, "KF_FREE", scene->motion.free);
    define_inner_sides(scene, defines);
    if (!kf_kinetic_has_band(options)) return;
    kf_define_to(defines, "KF_FIXED_POINT_FORCE", options->fixed_point_force);
    kf_define_to(defines, "KF_SEGMENTS", aggregated && !scene->motion.moving);
    kf_define_to(defines, "KF_CELLS", aggregated && scene->motion.moving);
    if (options->patch_length > 0) kf_define_to(defines, "KF_PATCH", options->patch_length);
    if (kf_kinetic_sorts_with_pose(scene, options)) kf_define_to(defines, "KF_OWN_POSE", 1);
    kf_define_to(defines, "KF_SEGMENT_LENGTH", aggregated ? options->segment_length : 1);
    if (options->segment_lanes > 1) kf_define_to(defines, "KF_SEGMENT_LANES", options->segment_lanes);
    if (options->overlap) kf_define_to(defines, "KF_OVERLAP", 1);
}

/* Defines the periodic axes whose seam is near a solid by links. Arms of torques are then those of the
 * nearest image. */
static void define_seams(const kf_scene *scene, kf_defines *defines) {
    long seams = 0;
    for (int a = 0; a < 3; a++)
        if (scene->faces[2 * a] == KF_PERIODIC &&
            (scene->solid_low[a] < 1.0 || scene->solid_high[a] > scene->nodes[a] - 2.0))
            seams |= 1L << a;
    if (seams != 0) kf_define_to(defines, "KF_SEAMS", seams);
}

/* Returns a bit for each axis that is periodic. */
static long periodic_axes(const kf_scene *scene) {
    long axes = 0;
    for (int a = 0; a < 3; a++)
        if (scene->faces[2 * a] == KF_PERIODIC && scene->faces[2 * a + 1] == KF_PERIODIC) axes |= 1L << a;
    return axes;
}

void kf_kinetic_define(const kf_scene *scene, const kf_kinetic_options *options,
                       const kf_kinetic_geometry *geometry, kf_kinetic_source which, kf_source *source,
                       kf_defines *defines) {
    /* Samples and their order are in the precision of the arithmetic. */
    const bool samples = which == KF_SOURCE_IMMERSED || which == KF_SOURCE_ORDER;
    defines->count = 0;
    if (which == KF_SOURCE_MOTION) {
        kf_define_to(defines, "KF_FREE", scene->motion.free);
        if (scene->motion.free && options->parts > 1) kf_define_to(defines, "KF_TEAM", 1);
        if (scene->solid_count > 0) kf_define_to(defines, "KF_SOLIDS", 1);
    } else {
        const bool words = samples || options->plan == KF_PLAN_MOMENTS; /* kernels/kinetic/packed.h */
        kf_define_to(defines, "KF_STORAGE",
                     (long)(options->storage == KF_F16 && words ? KF_F32 : options->storage));
        const bool whole =
            which == KF_SOURCE_STATE || which == KF_SOURCE_VELOCITY || which == KF_SOURCE_BOUNDARY;
        kf_define_to(defines, "KF_INDEX64", whole ? geometry->domain_index64 : geometry->index64);
        if (options->parts > 1) kf_define_to(defines, "KF_TEAM", 1);
        if (options->parts_y > 1) kf_define_to(defines, "KF_CUT_Y", 1);
        if (samples && (which == KF_SOURCE_ORDER || kf_kinetic_has_band(options)))
            define_no_layout(defines);
        else
            define_layout(options, geometry, defines);
        if (!samples) define_populations(scene, options, which, defines);
    }
    if (which == KF_SOURCE_STATE && options->parts > 1) {
        if (options->parts_y > 1 && kf_kinetic_is_bounced(scene, 1)) kf_define_to(defines, "KF_BOUNCED_Y", 1);
        if (kf_kinetic_is_bounced(scene, 2)) kf_define_to(defines, "KF_BOUNCED_Z", 1);
    }
    if (which == KF_SOURCE_FLOW) define_flow(scene, options, defines);
    /* With this many threads on a multiprocessor a thread has 96 registers and not 168, and more nodes are
     * processed at once. */
    enum { WALL_THREADS = 640 };
    if (which == KF_SOURCE_WALL && options->gpu)
        kf_define_text(defines, "KF_LAUNCH_BOUNDS", "__launch_bounds__(%ld,%ld)", options->solid_block,
                       WALL_THREADS / options->solid_block);
    /* With 128 registers and not 163, the nodes of a large solid take three turns and not four. Blocks of the
     * box have 128 threads (kinetic_moving_links.c). */
    enum { MOVING_THREADS = 512, BOX_THREADS = 128 };
    const long most = options->solid_block > BOX_THREADS ? options->solid_block : BOX_THREADS;
    if (which == KF_SOURCE_MOVING_LINKS && options->gpu)
        kf_define_text(defines, "KF_LAUNCH_BOUNDS", "__launch_bounds__(%ld,%ld)", most,
                       most < MOVING_THREADS ? MOVING_THREADS / most : 1L);
    if (which == KF_SOURCE_LINKS || which == KF_SOURCE_WALL) define_seams(scene, defines);
    if ((which == KF_SOURCE_FLOW || which == KF_SOURCE_WALL) && scene->links.layer_count > 0)
        kf_define_to(defines, "KF_LAYERS", 1);
    if (which == KF_SOURCE_WALL && scene->links.layer_count > 0)
        kf_define_to(defines, "KF_WRAPS", periodic_axes(scene));
    if (which == KF_SOURCE_LINKS && scene->motion.moving) kf_define_to(defines, "KF_TURNING", 1);
    if (which == KF_SOURCE_BOUNDARY) define_faces(scene, defines);
    if (which == KF_SOURCE_IMMERSED) define_immersed(scene, options, defines);
    if (which == KF_SOURCE_ORDER) define_samples(scene, defines);
    *source = (kf_source){
        .file = file_of(options, which), .defines = defines->list, .define_count = defines->count};
}
