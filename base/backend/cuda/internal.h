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
    CUstream stream;   /* the main lane */
    CUstream aside;    /* a lane of higher priority */
    CUstream beside;   /* a lane of the main lane's priority */
    CUstream ahead;    /* a second lane of higher priority */
    size_t captured;   /* pieces of work in the graph that is being recorded */
    int grid_limit[3], block_limit[3];
    bool launches_overlap; /* the device has programmatic dependent launch */
    bool launches_whole;   /* the device has cooperative launches */
    bool said_parted;      /* the message that it has none was printed */
    /* The counters of marks that processes share, as the device and as the host address them. registered: set
     * if this backend registered them with the driver. */
    CUdeviceptr flags;
    void *flags_on_host, *registered;
    /* Pinned memory through which large copies pass. It is allocated on first use. */
    void *stage[KF_STAGES];
    CUevent stage_free[KF_STAGES];
} kf_cuda_backend;

static inline kf_cuda_backend *kf_cuda_of(kf_backend *backend) {
    return (kf_cuda_backend *)backend;
}

/* Makes the backend's context that of the calling thread. Every method starts with it, so that backends and
 * threads can be mixed. Only one thread at a time may use a backend. */
kf_status kf_cuda_enter(kf_backend *backend, kf_error *error);

/* A stretch of a buffer that lies in one device's memory. */
typedef struct kf_cuda_run {
    size_t offset, bytes;
} kf_cuda_run;

typedef struct kf_cuda_buffer {
    kf_buffer base;
    kf_cuda_run *runs; /* for a buffer that is spread over a team; NULL: it is in one piece */
    int run_count;
    size_t reserved; /* bytes of addresses that a spread buffer reserves */
    bool on_host;    /* pinned memory */
} kf_cuda_buffer;

/* Make a buffer from pages (pages.c), in these steps. kf_cuda_reserve reserves addresses. kf_cuda_make_pages
 * allocates memory on a device, if `shared` also for other processes. kf_cuda_map_pages maps it at an address
 * and takes over the handle; kf_cuda_add_pages does both. kf_cuda_give_access lets devices read and write.
 * kf_cuda_end_pages returns the buffer, or frees everything after a failure. */
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

/* Methods on buffers (memory.c). */
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

/* Methods on modules and functions (module.c). */
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

/* Methods that put work into streams (launch.c). */
void *kf_cuda_stream_handle(const kf_stream *stream);
kf_status kf_cuda_launch(kf_stream *stream, const kf_launch *launch, kf_error *error);
kf_status kf_cuda_call(kf_stream *stream, kf_call_function *enqueue, void *object, kf_error *error);
kf_status kf_cuda_copy(kf_stream *stream, const kf_copy *copy, kf_error *error);
/* Waits until a stream is idle. It fails early when another process of the run has failed. */
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
