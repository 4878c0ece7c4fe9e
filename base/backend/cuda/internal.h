/* The cuda backend's own objects, shared by its files. */
#ifndef KF_BASE_BACKEND_CUDA_INTERNAL_H
#define KF_BASE_BACKEND_CUDA_INTERNAL_H

#include "base/backend/cuda/driver.h"
#include "base/backend/internal.h"

enum { KF_STAGES = 2 };

typedef struct kf_cuda_backend {
    kf_backend base;
    CUdevice device;
    CUcontext context; /* the device's primary context */
    CUstream stream;   /* the main lane: everything runs in its order */
    CUstream aside;    /* another one, of higher priority */
    CUstream beside;   /* one of the same, */
    CUstream ahead;    /* and another one before */
    size_t captured;   /* pieces of work in the graph that is being made */
    int grid_limit[3], block_limit[3];
    bool launches_overlap; /* the device knows programmatic dependent launch */
    bool launches_whole;   /* and launches that begin with all of their blocks at once, or are refused */
    bool said_parted;      /* that it has none was said */
    /* Words of marks that processes share, as the device and as the host sees them; registered: by this one.
     */
    CUdeviceptr flags;
    void *flags_on_host, *registered;
    /* Pinned memory through which large copies go, made when first needed. */
    void *stage[KF_STAGES];
    CUevent stage_free[KF_STAGES];
} kf_cuda_backend;

static inline kf_cuda_backend *kf_cuda_of(kf_backend *backend) {
    return (kf_cuda_backend *)backend;
}

/* Makes the backend's context the calling thread's; every method starts with it, so that several backends and
 * threads can be mixed (one thread at a time for a backend). */
kf_status kf_cuda_enter(kf_backend *backend, kf_error *error);

/* A stretch of a buffer that lies in one device's memory. */
typedef struct kf_cuda_run {
    size_t offset, bytes;
} kf_cuda_run;

typedef struct kf_cuda_buffer {
    kf_buffer base;
    kf_cuda_run *runs; /* of one that is spread over a team; NULL: it lies in one piece */
    int run_count;
    size_t reserved; /* bytes of addresses of a spread one */
    bool on_host;    /* pinned memory */
} kf_cuda_buffer;

/* Make buffers that are put together from pages (pages.c). The steps of making one are addresses without
 * memory; memory on a device, perhaps for other processes too; that memory at its place, which takes the
 * handle over; both at once; reading and writing for these devices; and the whole, or nothing where
 * something has failed. */
kf_status kf_cuda_reserve(kf_backend *backend, size_t bytes, kf_cuda_buffer **buffer, size_t *page,
                          kf_error *error);
kf_status kf_cuda_make_pages(kf_backend *part, size_t bytes, bool shared,
                             CUmemGenericAllocationHandle *handle, kf_error *error);
kf_status kf_cuda_map_pages(kf_cuda_buffer *buffer, size_t offset, size_t bytes,
                            CUmemGenericAllocationHandle handle, kf_error *error);
kf_status kf_cuda_add_pages(kf_cuda_buffer *buffer, kf_backend *part, size_t offset, size_t bytes,
                            kf_error *error);
kf_status kf_cuda_give_access(const kf_cuda_buffer *buffer, size_t offset, size_t bytes,
                              kf_backend *const *parts, int count, kf_error *error);
kf_status kf_cuda_end_pages(kf_cuda_buffer *made, kf_status status, kf_buffer **buffer);
void kf_cuda_pages_free(kf_cuda_buffer *buffer);
kf_status kf_cuda_buffer_partial(kf_backend *backend, size_t bytes, size_t period, const size_t (*kept)[2],
                                 int count, kf_buffer **buffer, kf_error *error);

/* The file memory.c has the methods on buffers. */
kf_status kf_cuda_buffer_create(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error);
kf_status kf_cuda_buffer_on_host(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error);
void kf_cuda_buffer_free(kf_buffer *buffer);
kf_status kf_cuda_buffer_fill(kf_buffer *buffer, unsigned char byte, kf_error *error);
kf_status kf_cuda_buffer_upload(kf_buffer *buffer, size_t offset, const void *data, size_t bytes,
                                kf_error *error);
kf_status kf_cuda_buffer_download(const kf_buffer *buffer, size_t offset, void *data, size_t bytes,
                                  kf_error *error);
kf_status kf_cuda_buffer_copy(kf_buffer *target, const kf_buffer *source, size_t bytes, kf_error *error);
void kf_cuda_stages_free(kf_cuda_backend *backend);

/* The file module.c has the methods on modules and functions. */
kf_status kf_cuda_module_load(kf_backend *backend, const kf_source *source, kf_module **module,
                              kf_build *build, kf_error *error);
void kf_cuda_module_free(kf_module *module);
kf_status kf_cuda_module_function(kf_module *module, const char *name, kf_function **function,
                                  kf_error *error);
kf_status kf_cuda_module_write(kf_module *module, const char *variable, const void *data, size_t bytes,
                               kf_error *error);
void kf_cuda_function_describe(const kf_function *function, kf_function_info *info);
int kf_cuda_function_resident_blocks(const kf_function *function, int threads_per_block, size_t shared_bytes);
const char *kf_cuda_function_occupancy_limit(const kf_function *function, int threads_per_block,
                                             size_t shared_bytes);

/* The file launch.c has the methods that put work on the stream. */
void *kf_cuda_stream_handle(const kf_stream *stream);
kf_status kf_cuda_launch(kf_stream *stream, const kf_launch *launch, kf_error *error);
kf_status kf_cuda_call(kf_stream *stream, kf_call_function *enqueue, void *object, kf_error *error);
kf_status kf_cuda_copy(kf_stream *stream, const kf_copy *copy, kf_error *error);
/* Until a stream has done what it was given; where other processes take part, while they do. */
kf_status kf_cuda_wait(const kf_backend *backend, CUstream stream, kf_error *error);
kf_status kf_cuda_synchronize(kf_backend *backend, kf_error *error);
kf_status kf_cuda_stream_synchronize(kf_stream *stream, kf_error *error);
kf_status kf_cuda_mark_create(kf_backend *backend, kf_mark **mark, kf_error *error);
void kf_cuda_mark_free(kf_mark *mark);
kf_status kf_cuda_signal(kf_stream *stream, kf_mark *mark, kf_error *error);
kf_status kf_cuda_await(kf_stream *stream, kf_mark *mark, kf_error *error);
kf_status kf_cuda_reach_flags(kf_backend *first, void *flags, size_t bytes, kf_error *error);
kf_status kf_cuda_raise(kf_stream *stream, uint32_t *flag, uint32_t count, kf_error *error);
kf_status kf_cuda_await_flag(kf_stream *stream, uint32_t *flag, uint32_t count, kf_error *error);
kf_status kf_cuda_graph_begin(kf_backend *backend, kf_error *error);
kf_status kf_cuda_graph_end(kf_backend *backend, kf_graph **graph, kf_error *error);
kf_status kf_cuda_graph_launch(kf_graph *graph, kf_error *error);
void kf_cuda_graph_free(kf_graph *graph);
kf_status kf_cuda_event_create(kf_backend *backend, kf_event **event, kf_error *error);
void kf_cuda_event_free(kf_event *event);
kf_status kf_cuda_event_record(kf_event *event, kf_error *error);
kf_status kf_cuda_event_elapsed_us(const kf_event *start, const kf_event *stop, double *microseconds,
                                   kf_error *error);

typedef struct kf_cuda_function {
    kf_function base;
    struct kf_cuda_function *next;
    CUfunction handle;
    kf_function_info info;
    char *name;
} kf_cuda_function;

#endif
