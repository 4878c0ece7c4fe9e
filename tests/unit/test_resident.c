/* Tests kernels whose blocks wait for each other, for several GPUs without one, from what NVRTC makes of
 * the sources and a table of figures (NVIDIA, CUDA C++ Programming Guide, "Compute Capabilities", and data
 * sheets). Faults: more blocks than a GPU holds at once, so that it hangs. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/backend/cache.h"
#include "base/plan/plan.h"
#include "base/plan/system.h"
#include "base/util/text.h"
#include "tests/tools/known_configs.h"
#include "tests/tools/recording_backend.h"

enum { WARP = 32, REGISTERS = 65536, QUARTERS = 4, REGISTER_UNIT = 256, SHARED_UNIT = 128 };

typedef struct gpu_figures {
    const char *name, *architecture;
    int multiprocessors, threads, blocks, shared, shared_a_block, reserved; /* of a multiprocessor; bytes */
} gpu_figures;

static const gpu_figures gpus[] = {
    {"V100", "sm_70", 80, 2048, 32, 96 << 10, 96 << 10, 0},
    {"T4", "sm_75", 40, 1024, 16, 64 << 10, 64 << 10, 0},
    {"A100", "sm_80", 108, 2048, 32, 164 << 10, 163 << 10, 1024},
    {"A10", "sm_86", 72, 1536, 16, 100 << 10, 99 << 10, 1024},
    {"L4", "sm_89", 58, 1536, 24, 100 << 10, 99 << 10, 1024},
    {"L40", "sm_89", 142, 1536, 24, 100 << 10, 99 << 10, 1024},
    {"RTX 4090", "sm_89", 128, 1536, 24, 100 << 10, 99 << 10, 1024},
    {"H100", "sm_90", 132, 2048, 32, 228 << 10, 227 << 10, 1024},
    {"B200", "sm_100", 148, 2048, 32, 228 << 10, 227 << 10, 1024},
    {"RTX 5090", "sm_120", 170, 1536, 24, 100 << 10, 99 << 10, 1024},
};
static const gpu_figures *chosen;
static int asked; /* how often a plan asked for resident blocks */

/* --- The registers and memory of a kernel ------------------------------------------------------------- */

typedef struct kernel_needs {
    /* The most of any kernel in the machine code. Shared memory is the static one, in bytes. */
    int registers, shared;
} kernel_needs;

/* A record of .nv.info has a format, an attribute and a size. Attribute 0x2f has a symbol and its
 * registers. */
static void read_registers(const unsigned char *at, const unsigned char *end, kernel_needs *needs) {
    enum { SIZED = 4, REGISTER_COUNT = 0x2f };
    while (at + 4 <= end) {
        uint16_t size;
        uint32_t count;
        memcpy(&size, at + 2, sizeof size);
        if (at[0] == SIZED && at[1] == REGISTER_COUNT && at + 12 <= end) {
            memcpy(&count, at + 8, sizeof count);
            if ((int)count > needs->registers) needs->registers = (int)count;
        }
        at += 4 + (at[0] == SIZED ? size : 0);
    }
}

static kernel_needs needs_of(const unsigned char *object) {
    kernel_needs needs = {0, 0};
    const Elf64_Ehdr *header = (const void *)object;
    const Elf64_Shdr *sections = (const void *)(object + header->e_shoff);
    const char *names = (const char *)object + sections[header->e_shstrndx].sh_offset;
    for (int i = 0; i < header->e_shnum; i++) {
        const char *name = names + sections[i].sh_name;
        const unsigned char *begin = object + sections[i].sh_offset;
        if (strcmp(name, ".nv.info") == 0) read_registers(begin, begin + sections[i].sh_size, &needs);
        if (strncmp(name, ".nv.shared.", 11) == 0 && (int)sections[i].sh_size > needs.shared)
            needs.shared = (int)sections[i].sh_size;
    }
    assert_true(needs.registers > 0);
    return needs;
}

/* An architecture that this NVRTC lacks (13 has none before sm_75) is replaced by the next. */
static bool compile(const kf_source *source, const char *architecture, kernel_needs *needs) {
    kf_device_info device = {.backend = "cuda"};
    kf_build build;
    kf_error error = {KF_OK, ""};
    void *object = NULL;
    size_t size = 0;
    kf_copy_text(device.architecture, sizeof device.architecture, architecture);
    const kf_status status = kf_source_prebuild(&device, source, &build, &error);
    if (status == KF_OK) {
        assert_true(kf_cache_get(build.hash, "cubin", &object, &size));
        *needs = needs_of(object);
        free(object);
        return true;
    }
    if (strcmp(architecture, "sm_70") == 0) return compile(source, "sm_75", needs);
    if (strcmp(architecture, "sm_100") == 0 || strcmp(architecture, "sm_120") == 0)
        return compile(source, "sm_90", needs);
    if (status == KF_HOST) return false;
    fail_msg("%s for %s: %s", source->file, architecture, error.message);
    return false;
}

static int least(int a, int b) {
    return a < b ? a : b;
}

/* Returns the blocks on a multiprocessor, as limited by registers, threads, blocks and shared memory. */
static int resident_of(const gpu_figures *gpu, const kernel_needs *needs, int threads, size_t dynamic) {
    const int warps = (threads + WARP - 1) / WARP,
              of_warp = (needs->registers * WARP + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT,
              by_registers = REGISTERS / QUARTERS / of_warp * QUARTERS / warps;
    const long own = (long)dynamic + needs->shared,
               taken = (own + gpu->reserved + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
    if (own > gpu->shared_a_block) return 0;
    const int blocks = least(by_registers, least(gpu->threads / WARP / warps, gpu->blocks));
    return taken > 0 ? least(blocks, (int)(gpu->shared / taken)) : blocks;
}

static int resident(const kf_source *source, int threads_per_block, size_t shared_bytes) {
    kernel_needs needs;
    asked++;
    return compile(source, chosen->architecture, &needs)
               ? resident_of(chosen, &needs, threads_per_block, shared_bytes)
               : 1;
}

/* --- plans --- */

static int waiting; /* launches that were checked */

static void check_launch(const kf_item *item) {
    const kf_launch *launch = item->kernel;
    if (strcmp(item->name, "persistent") != 0 && strcmp(item->name, "band_chain") != 0) return;
    const int threads = launch->block[0] * launch->block[1] * launch->block[2];
    const int64_t blocks = kf_launch_blocks(launch), most = kf_launch_resident_blocks(launch);
    waiting++;
    if (blocks < 1 || blocks > most)
        fail_msg("%s: %lld blocks of %d threads with %zu bytes wait for each other, and %lld are resident",
                 chosen->name, (long long)blocks, threads, launch->shared_bytes, (long long)most);
    if (!launch->waits_for_all) fail_msg("%s: the launch does not say that its blocks wait", item->name);
}

static void check_config(void *data, const known_config *known) {
    (void)data;
    kf_plan *plan = NULL;
    kf_error error = {KF_OK, ""};
    if (known->config != known->usual) return; /* other presets have no kernel that waits, and need cuFFT */
    recording_of(known->backend)->resident = resident;
    if (known->problem->system->plan(known->problem, known->config, known->backend, &plan, &error) != KF_OK) {
        if (strstr(error.message, "not one block of") == NULL)
            fail_msg("%s: %s", chosen->name, error.message);
        return;
    }
    for (size_t i = 0; i < plan->item_count; i++)
        if (plan->items[i].kind == KF_ITEM_KERNEL) check_launch(&plan->items[i]);
    kf_plan_free(plan);
}

static kf_device_info device_of(const gpu_figures *gpu) {
    kf_device_info device = {.backend = "cuda",
                             .spec = "cuda:0",
                             .warp_size = WARP,
                             .max_threads_per_block = 1024,
                             .multiprocessors = gpu->multiprocessors,
                             .peak_bandwidth = 1e12,
                             .l2_bytes = 40 << 20,
                             .memory_bytes = (uint64_t)16 << 30};
    kf_copy_text(device.name, sizeof device.name, gpu->name);
    kf_copy_text(device.architecture, sizeof device.architecture, gpu->architecture);
    return device;
}

static void check_flow(const known_flow *flow) {
    kf_error error = {KF_OK, ""};
    if (each_known_config(flow, check_config, NULL, &error) != KF_OK) fail_msg("%s", error.message);
}

static void blocks_that_wait_are_resident(void **state) {
    (void)state;
    static const int edges[] = {64, 256, 512};
    for (size_t g = 0; g < sizeof gpus / sizeof *gpus; g++)
        for (size_t e = 0; e < sizeof edges / sizeof *edges; e++) {
            chosen = &gpus[g];
            const kf_device_info device = device_of(chosen);
            const known_flow flow = {.system = "stable_fluids",
                                     .scene = "decay",
                                     .device = &device,
                                     .parts = 1,
                                     .nodes = {edges[e], edges[e], 1}};
            check_flow(&flow);
        }
    assert_true(asked > 0 && waiting >= (int)(sizeof gpus / sizeof *gpus));
}

/* The band of a solid has more blocks than a small part of an H100 holds. Kernels that do not wait compute
 * it there. The whole GPU holds them. */
static void a_chain_that_does_not_fit_is_taken_apart(void **state) {
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        static gpu_figures gpu;
        gpu = gpus[7];
        if (!whole) gpu.multiprocessors = 4;
        chosen = &gpu;
        waiting = 0;
        const kf_device_info device = device_of(chosen);
        check_flow(&(known_flow){
            .system = "kinetic", .scene = "ball", .device = &device, .parts = 1, .nodes = {80, 60, 60}});
        assert_int_equal(waiting > 0, whole);
    }
}

/* By hand: 256 threads of 64 registers with 48 KiB. */
static void the_table_is_worked_out(void **state) {
    (void)state;
    const kernel_needs needs = {64, 0};
    static const int expected[] = {2, 1, 3, 2, 2, 2, 2, 4, 4, 2};
    for (size_t g = 0; g < sizeof gpus / sizeof *gpus; g++)
        assert_int_equal(resident_of(&gpus[g], &needs, 256, 48 << 10), expected[g]);
    assert_int_equal(resident_of(&gpus[7], &needs, 1024, 0), 1);                /* registers */
    assert_int_equal(resident_of(&gpus[7], &(kernel_needs){32, 0}, 64, 0), 32); /* threads and blocks alike */
    assert_int_equal(resident_of(&gpus[1], &(kernel_needs){16, 0}, 32, 0), 16); /* blocks */
    assert_int_equal(resident_of(&gpus[1], &needs, 256, 65 << 10), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_table_is_worked_out),
                                       cmocka_unit_test(blocks_that_wait_are_resident),
                                       cmocka_unit_test(a_chain_that_does_not_fit_is_taken_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
