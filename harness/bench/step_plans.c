/* What the suite `step` times, as data. */
#include "harness/bench/step_timings.h"

/* Layouts, blocks and ways of storing that were the fastest in earlier searches. */
static const kf_step_candidate flow[] = {
    {"preset", false, {NULL}, {NULL}},
    {"groups of 256", true, {"layout=csoa", "alpha=256"}, {NULL}},
    {"soa", true, {"layout=soa", "alpha=1"}, {NULL}},
    {"blocks of 128", true, {"block_x=128", "block_y=1"}, {NULL}},
    {"blocks of 64 x 4", true, {"block_x=64", "block_y=4"}, {NULL}},
    {"all moments", true, {"collision_form=factorised"}, {NULL}},
    {"segments of 32", true, {NULL}, {"segment_length=32"}},
    {"the solid in turn", true, {NULL}, {"concurrent_solid=false"}},
    {"rows of 256", false, {"block_x=256", "block_y=1"}, {NULL}},
    {"faces by choices", true, {"shell_choices=true"}, {NULL}},
    {"faces by branches", true, {"shell_choices=false"}, {NULL}},
    {"16 nodes staged", false, {"staged_nodes=16"}, {NULL}}, /* of the cpu alone */
    {"32 nodes staged", false, {"staged_nodes=32"}, {NULL}},
    {NULL, false, {NULL}, {NULL}},
};

/* Pairs in groups of 64, whose rows are one line of the cache, but for the last. */
#define PAIRS "nodes_per_thread=2", "alpha=64", "shell_choices=false"
static const kf_step_candidate half[] = {
    {"preset", false, {NULL}, {NULL}},
    {"64 registers", true, {"alpha=64", "register_cap=64", "block_x=128"}, {NULL}},
    {"pairs, 128", true, {PAIRS, "block_x=128"}, {NULL}},
    {"pairs, 32 x 4", true, {PAIRS, "block_x=32", "block_y=4"}, {NULL}},
    {"pairs, 32 x 2", true, {PAIRS, "block_x=32", "block_y=2"}, {NULL}},
    {"pairs, 16 x 8", true, {PAIRS, "block_x=16", "block_y=8"}, {NULL}},
    {"pairs, 16 x 4", true, {PAIRS, "block_x=16", "block_y=4"}, {NULL}},
    {"pairs, 16 x 4, streaming stores",
     true,
     {PAIRS, "block_x=16", "block_y=4", "streaming_stores=true"},
     {NULL}},
    {"pairs, 16 x 4, groups of 32",
     true,
     {"nodes_per_thread=2", "shell_choices=false", "block_x=16", "block_y=4"},
     {NULL}},
    {"pairs, 16 x 4, 80 registers",
     true,
     {"nodes_per_thread=2", "shell_choices=false", "block_x=16", "block_y=4", "register_cap=80"},
     {NULL}},
    {NULL, false, {NULL}, {NULL}},
};

#define HANDED_ON "streaming=esoteric", "exchange=true"
static const kf_step_candidate in_place[] = {
    {"AA", false, {"streaming=in_place"}, {NULL}},
    {"AA, 80 registers", true, {"streaming=in_place", "register_cap=80", "block_x=128"}, {NULL}},
    {"esoteric pull", false, {"streaming=esoteric"}, {NULL}},
    {"esoteric pull, 80 registers", true, {"streaming=esoteric", "register_cap=80", "block_x=256"}, {NULL}},
    {"handed on", true, {HANDED_ON}, {NULL}},
    {"handed on, 80 registers", true, {HANDED_ON, "register_cap=80"}, {NULL}},
    {"handed on, 80 registers, 256", true, {HANDED_ON, "register_cap=80", "block_x=256"}, {NULL}},
    {"slabs of 8", true, {"streaming=shift", "slab=8"}, {NULL}},
    {"slabs of 16", true, {"streaming=shift", "slab=16"}, {NULL}},
    {"slabs of 32", true, {"streaming=shift", "slab=32"}, {NULL}},
    {"slabs of 16, rows of 256", true, {"streaming=shift", "slab=16", "block_x=256", "block_y=1"}, {NULL}},
    {"handed on, 80 registers, 128", true, {HANDED_ON, "register_cap=80", "block_x=128"}, {NULL}},
    {NULL, false, {NULL}, {NULL}},
};

/* Tiles and walks; march is always given, for other plans have none. */
static const kf_step_candidate moments[] = {
    {"tiles of 32 x 8", false, {"block_x=32", "block_y=8", "march=64"}, {NULL}},
    {"walks of 32", true, {"block_x=32", "block_y=8", "march=32"}, {NULL}},
    {"48 registers", true, {"block_x=32", "block_y=8", "march=64", "register_cap=48"}, {NULL}},
    {"48 registers, walks of 32", true, {"block_x=32", "block_y=8", "march=32", "register_cap=48"}, {NULL}},
    {"planes ahead",
     true,
     {"block_x=32", "block_y=8", "march=64", "prefetch=true", "register_cap=80"},
     {NULL}},
    {"planes ahead, 64 registers",
     true,
     {"block_x=32", "block_y=8", "march=64", "prefetch=true", "register_cap=64"},
     {NULL}},
    {"streaming stores", true, {"block_x=32", "block_y=8", "march=64", "streaming_stores=true"}, {NULL}},
    {"groups of 256", true, {"block_x=32", "block_y=8", "march=64", "alpha=256"}, {NULL}},
    {"tiles of 16 x 16", true, {"block_x=16", "block_y=16", "march=64"}, {NULL}},
    {"tiles of 32 x 4", true, {"block_x=32", "block_y=4", "march=64"}, {NULL}},
    {NULL, false, {NULL}, {NULL}},
};

static const kf_step_candidate moving[] = {
    {"preset", false, {NULL}, {NULL}},
    {"ordered every 32 steps", true, {"reorder_period=32"}, {NULL}},
    {"floating sums", false, {"force_sum=float"}, {NULL}},
    {"cells in rows of 32", true, {"segment_length=32"}, {NULL}},
    {"floating sums, rows of 32", true, {"force_sum=float", "segment_length=32"}, {NULL}},
    {"floating sums, rows of 64", true, {"force_sum=float", "segment_length=64"}, {NULL}},
    {"the solid in turn", true, {"concurrent_solid=false"}, {NULL}},
    {"sample by sample", true, {"immersed_boundary=scatter"}, {NULL}},
    {NULL, false, {NULL}, {NULL}},
};

static const kf_step_candidate segments[] = {
    {"preset", false, {NULL}, {NULL}},
    {"segments of 8", true, {NULL}, {"segment_length=8"}},
    {"segments of 32", false, {NULL}, {"segment_length=32"}},
    {"segments of 64", true, {NULL}, {"segment_length=64"}},
    {NULL, false, {NULL}, {NULL}},
};

static const kf_step_candidate single[] = {
    {"preset", false, {NULL}, {NULL}},
    {NULL, false, {NULL}, {NULL}},
};

/* Of those that follow the best f32 candidate. */
static const kf_step_candidate same[] = {
    {"as f32", false, {NULL}, {NULL}},
    {NULL, false, {NULL}, {NULL}},
};

#define FITS(list) _Static_assert(sizeof(list) / sizeof *(list) <= KF_STEP_CANDIDATES + 1, #list)
FITS(flow);
FITS(half);
FITS(in_place);
FITS(moments);
FITS(moving);
FITS(segments);
#undef FITS

const kf_step_plan kf_step_plans[KF_TIMES] = {
    [KF_TIME_F32] =
        {.name = "f32", .scene = KF_STEP_MAIN, .preset = "default", .candidates = flow, .follows = KF_TIMES},
    [KF_TIME_F16] = {.name = "f16",
                     .scene = KF_STEP_MAIN,
                     .preset = "default",
                     .common = {"storage=f16"},
                     .candidates = half,
                     .follows = KF_TIMES},
    [KF_TIME_IN_PLACE] = {.name = "f32 in place",
                          .scene = KF_STEP_MAIN,
                          .preset = "default",
                          .common = {"concurrent_solid=false", "staged_nodes=0", "shell_choices=false"},
                          .candidates = in_place,
                          .follows = KF_TIMES},
    [KF_TIME_MOMENTS] = {.name = "moments",
                         .scene = KF_STEP_ONES,
                         .preset = "default",
                         .common = {"plan=moments", "boundary_kernels=0", "concurrent_solid=false",
                                    "staged_nodes=0", "shell_choices=false"},
                         .candidates = moments,
                         .follows = KF_TIMES},
    [KF_TIME_PAPER] = {.name = "paper",
                       .scene = KF_STEP_MAIN,
                       .preset = "paper",
                       .candidates = single,
                       .follows = KF_TIMES},
    [KF_TIME_BASELINE] = {.name = "baseline",
                          .scene = KF_STEP_MAIN,
                          .preset = "baseline",
                          .candidates = single,
                          .follows = KF_TIMES,
                          .slow = true},
    [KF_TIME_BGK] = {.name = "f32 BGK",
                     .scene = KF_STEP_BGK,
                     .preset = "default",
                     .candidates = same,
                     .follows = KF_TIME_F32},
    [KF_TIME_EMPTY] = {.name = "f32 without the body",
                       .scene = KF_STEP_EMPTY,
                       .preset = "default",
                       .candidates = same,
                       .follows = KF_TIME_F32},
    [KF_TIME_ROTATING] = {.name = "f32 rotating",
                          .scene = KF_STEP_ROTATING,
                          .preset = "default",
                          .candidates = moving,
                          .follows = KF_TIME_F32},
    [KF_TIME_ODD] = {.name = "f32, no multiples of 32",
                     .scene = KF_STEP_ODD,
                     .preset = "default",
                     .candidates = same,
                     .follows = KF_TIME_F32},
    [KF_TIME_DENSE] = {.name = "immersed boundary",
                       .scene = KF_STEP_DENSE,
                       .preset = "default",
                       .candidates = segments,
                       .follows = KF_TIMES},
    [KF_TIME_CACHED] = {.name = "f32 within the cache",
                        .scene = KF_STEP_CACHED,
                        .preset = "default",
                        .candidates = same,
                        .follows = KF_TIME_F32},
    [KF_TIME_SMALL] = {.name = "96^3, one graph",
                       .scene = KF_STEP_SMALL,
                       .preset = "default",
                       .candidates = single,
                       .follows = KF_TIMES},
    [KF_TIME_SMALL_LAUNCHES] = {.name = "96^3, single launches",
                                .scene = KF_STEP_SMALL,
                                .preset = "default",
                                .candidates = single,
                                .follows = KF_TIMES,
                                .single_launches = true},
    [KF_TIME_TINY] = {.name = "32^3, one graph",
                      .scene = KF_STEP_TINY,
                      .preset = "default",
                      .candidates = single,
                      .follows = KF_TIMES},
    [KF_TIME_TINY_LAUNCHES] = {.name = "32^3, single launches",
                               .scene = KF_STEP_TINY,
                               .preset = "default",
                               .candidates = single,
                               .follows = KF_TIMES,
                               .single_launches = true},
    [KF_TIME_WIDE] = {.name = "f32, 64-bit indices",
                      .scene = KF_STEP_WIDE,
                      .preset = "default",
                      .candidates = same,
                      .follows = KF_TIME_F32},
    [KF_TIME_CAPACITY] = {.name = "f32 in place, 1000^3",
                          .scene = KF_STEP_CAPACITY,
                          .preset = "default",
                          .common = {"concurrent_solid=false", "staged_nodes=0", "shell_choices=false"},
                          .candidates = same,
                          .follows = KF_TIME_IN_PLACE},
};
