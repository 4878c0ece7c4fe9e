/* What the suite `step` times, as data. */
#include "harness/bench/step_timings.h"

/* Layouts, blocks and ways of storing that were the fastest in earlier searches. The first is the preset. */
static const kf_step_candidate flow[] = {
    {"preset", false, {NULL}, {NULL}},
    {"groups of 32", true, {"layout=csoa", "alpha=32"}, {NULL}},
    {"soa", true, {"layout=soa", "alpha=1"}, {NULL}},
    {"blocks of 512", true, {"block_x=512"}, {NULL}},
    {"blocks of 128", true, {"block_x=128"}, {NULL}},
    {"streaming stores", true, {"streaming_stores=true"}, {NULL}},
    {"segments of 32", true, {NULL}, {"segment_length=32"}},
    {"rows of 256", false, {"block_x=256"}, {NULL}},
    {NULL, false, {NULL}, {NULL}},
};

static const kf_step_candidate half[] = {
    {"preset", false, {NULL}, {NULL}},
    {"groups of 32", true, {"layout=csoa", "alpha=32"}, {NULL}},
    {"groups of 65536", true, {"layout=csoa", "alpha=65536"}, {NULL}},
    {"soa", true, {"layout=soa", "alpha=1"}, {NULL}},
    {"blocks of 512", true, {"block_x=512"}, {NULL}},
    {"blocks of 128", true, {"block_x=128"}, {NULL}},
    {NULL, false, {NULL}, {NULL}},
};

static const kf_step_candidate in_place[] = {
    {"preset", false, {NULL}, {NULL}},
    {"groups of 32", true, {"layout=csoa", "alpha=32"}, {NULL}},
    {"soa", true, {"layout=soa", "alpha=1"}, {NULL}},
    {"blocks of 128", true, {"block_x=128"}, {NULL}},
    {NULL, false, {NULL}, {NULL}},
};

static const kf_step_candidate moving[] = {
    {"preset", false, {NULL}, {NULL}},
    {"ordered every 8 steps", true, {"reorder_period=8"}, {NULL}},
    {"never ordered", true, {"reorder_period=0"}, {NULL}},
    {"floating sums", false, {"force_sum=float"}, {NULL}},
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

const kf_step_plan kf_step_plans[KF_TIMES] = {
    [KF_TIME_F32] = {.name = "f32", .scene = KF_STEP_MAIN, .preset = "default", .candidates = flow},
    [KF_TIME_F16] = {.name = "f16",
                     .scene = KF_STEP_MAIN,
                     .preset = "default",
                     .common = {"storage=f16"},
                     .candidates = half},
    [KF_TIME_IN_PLACE] = {.name = "f32 in place",
                          .scene = KF_STEP_MAIN,
                          .preset = "default",
                          .common = {"streaming=in_place"},
                          .candidates = in_place},
    [KF_TIME_MOMENTS] = {.name = "moments",
                         .scene = KF_STEP_MAIN,
                         .preset = "default",
                         .common = {"plan=moments"},
                         .candidates = single},
    [KF_TIME_PAPER] = {.name = "paper", .scene = KF_STEP_MAIN, .preset = "paper", .candidates = single},
    [KF_TIME_BASELINE] =
        {.name = "baseline", .scene = KF_STEP_MAIN, .preset = "baseline", .candidates = single, .slow = true},
    [KF_TIME_BGK] = {.name = "f32 BGK",
                     .scene = KF_STEP_BGK,
                     .preset = "default",
                     .candidates = same,
                     .follows_f32 = true},
    [KF_TIME_EMPTY] = {.name = "f32 without the body",
                       .scene = KF_STEP_EMPTY,
                       .preset = "default",
                       .candidates = same,
                       .follows_f32 = true},
    [KF_TIME_ROTATING] = {.name = "f32 rotating",
                          .scene = KF_STEP_ROTATING,
                          .preset = "default",
                          .candidates = moving,
                          .follows_f32 = true},
    [KF_TIME_ODD] = {.name = "f32, no multiples of 32",
                     .scene = KF_STEP_ODD,
                     .preset = "default",
                     .candidates = same,
                     .follows_f32 = true},
    [KF_TIME_DENSE] = {.name = "immersed boundary",
                       .scene = KF_STEP_DENSE,
                       .preset = "default",
                       .candidates = segments},
    [KF_TIME_CACHED] = {.name = "f32 within the cache",
                        .scene = KF_STEP_CACHED,
                        .preset = "default",
                        .candidates = same,
                        .follows_f32 = true},
    [KF_TIME_SMALL] = {.name = "96^3, one graph",
                       .scene = KF_STEP_SMALL,
                       .preset = "default",
                       .candidates = single},
    [KF_TIME_SMALL_LAUNCHES] = {.name = "96^3, single launches",
                                .scene = KF_STEP_SMALL,
                                .preset = "default",
                                .candidates = single,
                                .single_launches = true},
    [KF_TIME_TINY] = {.name = "32^3, one graph",
                      .scene = KF_STEP_TINY,
                      .preset = "default",
                      .candidates = single},
    [KF_TIME_TINY_LAUNCHES] = {.name = "32^3, single launches",
                               .scene = KF_STEP_TINY,
                               .preset = "default",
                               .candidates = single,
                               .single_launches = true},
    [KF_TIME_WIDE] = {.name = "f32, 64-bit indices",
                      .scene = KF_STEP_WIDE,
                      .preset = "default",
                      .candidates = same,
                      .follows_f32 = true},
    [KF_TIME_CAPACITY] = {.name = "f32 in place, 1000^3",
                          .scene = KF_STEP_CAPACITY,
                          .preset = "default",
                          .common = {"streaming=in_place"},
                          .candidates = same,
                          .follows_f32 = true},
};
