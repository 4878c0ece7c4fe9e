#ifdef KF_HAVE_CUDA

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/cuda/internal.h"
#include "base/backend/cuda/nvrtc.h"
#include "base/util/memory.h"
#include "base/util/text.h"

typedef struct kf_cuda_module {
    kf_module base;
    CUmodule handle;
    kf_cuda_function *functions;
    char *file; /* for messages */
    /* The kernel that the source names, or NULL. */
    char *name, *symbol;
} kf_cuda_module;

kf_status kf_cuda_module_load(kf_backend *backend, const kf_source *source, kf_module **module,
                              kf_build *build, kf_error *error) {
    void *cubin = NULL;
    size_t size = 0;
    CUmodule handle = NULL;
    KF_TRY(kf_cuda_enter(backend, error));
    KF_TRY(kf_nvrtc_build(backend->device.architecture, source, &cubin, &size, build, error));
    const CUresult result = kf_cuda.cuModuleLoadData(&handle, cubin);
    char *symbol = source->name != NULL ? kf_duplicate(kf_nvrtc_symbol(cubin, size)) : NULL;
    free(cubin);
    if (result != CUDA_SUCCESS) {
        free(symbol);
        kf_cuda_fail(error, result, "cuModuleLoadData");
        return kf_fail_context(error, "%s", source->file);
    }
    kf_cuda_module *made = kf_allocate_zeroed(1, sizeof *made);
    made->base.backend = backend;
    made->handle = handle;
    made->file = kf_duplicate(source->file);
    made->name = source->name != NULL ? kf_duplicate(source->name) : NULL;
    made->symbol = symbol;
    *module = &made->base;
    return KF_OK;
}

void kf_cuda_module_free(kf_module *module) {
    kf_cuda_module *own = (kf_cuda_module *)module;
    if (kf_cuda_enter(module->backend, NULL) == KF_OK) kf_cuda.cuModuleUnload(own->handle);
    while (own->functions) {
        kf_cuda_function *next = own->functions->next;
        free(own->functions->name);
        free(own->functions);
        own->functions = next;
    }
    free(own->file);
    free(own->name);
    free(own->symbol);
    free(own);
}

/* Returns the end of the kernel's last parameter, or 0 when the driver cannot tell. Kernels of portable.h
 * have one parameter. For others it asks for parameters until the driver refuses, which a sanitizer reports.
 */
static size_t argument_bytes(CUfunction function, bool has_one) {
    size_t offset = 0, size = 0, end = 0;
    if (!kf_cuda.parameter_info) return 0;
    for (size_t i = 0; kf_cuda.parameter_info(function, i, &offset, &size) == CUDA_SUCCESS; i++) {
        end = offset + size;
        if (has_one) break;
    }
    return end;
}

static kf_status describe(CUfunction handle, kf_function_info *info, kf_error *error) {
    KF_CUDA_TRY(cuFuncGetAttribute, &info->registers, CU_FUNC_ATTRIBUTE_NUM_REGS, handle);
    KF_CUDA_TRY(cuFuncGetAttribute, &info->spill_bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, handle);
    KF_CUDA_TRY(cuFuncGetAttribute, &info->shared_bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, handle);
    KF_CUDA_TRY(cuFuncGetAttribute, &info->max_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, handle);
    return KF_OK;
}

kf_status kf_cuda_module_function(kf_module *module, const char *name, kf_function **function,
                                  kf_error *error) {
    kf_cuda_module *own = (kf_cuda_module *)module;
    for (kf_cuda_function *known = own->functions; known; known = known->next)
        if (strcmp(known->name, name) == 0) {
            *function = &known->base;
            return KF_OK;
        }
    kf_function_info info = {0};
    CUfunction handle = NULL;
    KF_TRY(kf_cuda_enter(module->backend, error));
    const bool named = own->name != NULL && strcmp(own->name, name) == 0;
    const CUresult result = kf_cuda.cuModuleGetFunction(&handle, own->handle, named ? own->symbol : name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return kf_fail(error, KF_MACHINE, "cuda: %s has no kernel \"%s\"", own->file, name);
    if (result != CUDA_SUCCESS) return kf_cuda_fail(error, result, "cuModuleGetFunction");
    /* This also loads the kernel now, and not in the first timed launch. */
    KF_TRY(describe(handle, &info, error));
    kf_cuda_function *made = kf_allocate_zeroed(1, sizeof *made);
    made->base.module = module;
    made->handle = handle;
    made->info = info;
    made->info.argument_bytes = argument_bytes(handle, !named);
    made->name = kf_duplicate(name);
    made->next = own->functions;
    own->functions = made;
    *function = &made->base;
    return KF_OK;
}

kf_status kf_cuda_module_write(kf_module *module, const char *variable, const void *data, size_t bytes,
                               kf_error *error) {
    const kf_cuda_module *own = (const kf_cuda_module *)module;
    CUstream stream = kf_cuda_of(module->backend)->stream;
    CUdeviceptr address = 0;
    size_t room = 0;
    KF_TRY(kf_cuda_enter(module->backend, error));
    const CUresult result = kf_cuda.cuModuleGetGlobal(&address, &room, own->handle, variable);
    if (result == CUDA_ERROR_NOT_FOUND)
        return kf_fail(error, KF_BAD_INPUT, "cuda: %s has no variable \"%s\"", own->file, variable);
    if (result != CUDA_SUCCESS) return kf_cuda_fail(error, result, "cuModuleGetGlobal");
    if (room < bytes)
        return kf_fail(error, KF_BAD_INPUT,
                       "cuda: %s: variable \"%s\" has %zu bytes, but %zu are to be written", own->file,
                       variable, room, bytes);
    KF_CUDA_TRY(cuMemcpyHtoDAsync, address, data, bytes, stream);
    KF_CUDA_TRY(cuStreamSynchronize, stream);
    return KF_OK;
}

void kf_cuda_function_describe(const kf_function *function, kf_function_info *info) {
    *info = ((const kf_cuda_function *)function)->info;
}

int kf_cuda_function_resident_blocks(const kf_function *function, int threads_per_block,
                                     size_t shared_bytes) {
    const kf_cuda_function *own = (const kf_cuda_function *)function;
    int blocks = 0;
    if (threads_per_block < 1 || threads_per_block > own->info.max_threads) return 0;
    if (kf_cuda_enter(function->module->backend, NULL) != KF_OK) return 0;
    /* The kernel may use as much shared memory as its launches do. Without this call more than the default is
     * refused. */
    if (shared_bytes > 0 &&
        kf_cuda.cuFuncSetAttribute(own->handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                   (int)shared_bytes) != CUDA_SUCCESS)
        return 0;
    const CUresult result = kf_cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, own->handle, threads_per_block, shared_bytes);
    return result == CUDA_SUCCESS ? blocks : 0;
}

static int device_attribute(const kf_function *function, CUdevice_attribute attribute) {
    int value = 0;
    const CUdevice device = kf_cuda_of(function->module->backend)->device;
    return kf_cuda.cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS ? value : 0;
}

/* Registers are given out to warps, 256 at a time, within each quarter of a multiprocessor. */
static int blocks_by_registers(const kf_function *function, int registers, int warps_per_block) {
    enum { UNIT = 256, QUARTERS = 4, WARP = 32 };
    const int available = device_attribute(function, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    const int warp = (registers * WARP + UNIT - 1) / UNIT * UNIT;
    return warp > 0 ? available / QUARTERS / warp * QUARTERS / warps_per_block : INT_MAX;
}

static int blocks_by_shared_memory(const kf_function *function, int bytes) {
    const int available =
        device_attribute(function, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    return bytes > 0
               ? available / (bytes + device_attribute(function,
                                                       CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK))
               : INT_MAX;
}

const char *kf_cuda_function_occupancy_limit(const kf_function *function, int threads_per_block,
                                             size_t shared_bytes) {
    enum { WARP = 32 };
    const kf_function_info *info = &((const kf_cuda_function *)function)->info;
    const int warps = (threads_per_block + WARP - 1) / WARP;
    const struct {
        const char *name;
        int blocks;
    } limits[] = {
        {"threads",
         device_attribute(function, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / WARP / warps},
        {"blocks", device_attribute(function, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)},
        {"registers", blocks_by_registers(function, info->registers, warps)},
        {"shared memory", blocks_by_shared_memory(function, info->shared_bytes + (int)shared_bytes)},
    };
    int least = 0;
    for (int i = 1; i < (int)(sizeof limits / sizeof *limits); i++)
        if (limits[i].blocks < limits[least].blocks) least = i;
    return limits[least].name;
}

#endif
