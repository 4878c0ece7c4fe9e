/* Devices on which plans run: two backends behind one interface. `cuda` uses the driver API and NVRTC, loaded
 * at run time. `cpu` builds the same kernel sources with the host compiler and runs them on threads. No other
 * room speaks CUDA. */
#ifndef KF_BASE_BACKEND_BACKEND_H
#define KF_BASE_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util/hash.h"
#include "base/util/status.h"

typedef struct kf_backend kf_backend;
typedef struct kf_module kf_module;
typedef struct kf_function kf_function;
typedef struct kf_buffer kf_buffer;
typedef struct kf_event kf_event;
typedef struct kf_graph kf_graph;
typedef struct kf_stream kf_stream;
typedef struct kf_mark kf_mark;

typedef struct kf_device_info {
    char spec[32];         /* "cpu", "cuda:0": what the user types */
    char backend[8];       /* "cpu" or "cuda" */
    char name[128];        /* "NVIDIA H200", or the processor's model name */
    char identity[64];     /* GPU UUID, or a hash of processor, cores and caches */
    char architecture[32]; /* "sm_90", or the host compiler's -march=native target */
    char driver[64];       /* driver version, or kernel release */
    char compiler[128];    /* NVRTC or host compiler version */
    /* Devices of the team whose first device this is, those of other processes included (team/team.h); 0 or
     * 1: it is alone. */
    int parts;
    /* Or threads used. This member and those below are of one device; a team's memory is the sum. */
    int multiprocessors;
    int warp_size; /* 32; on the cpu the number of SIMD lanes of a float */
    int max_threads_per_block;
    uint64_t memory_bytes;      /* in all */
    uint64_t memory_free_bytes; /* when opened */
    uint64_t l2_bytes;          /* size of the last-level cache */
    double peak_bandwidth;      /* bytes/s, from memory clock and bus width; 0 when unknown */
    double clock_hz;            /* highest clock of a multiprocessor; 0 when unknown */
} kf_device_info;

/* Returns whether the device's kernels run on a GPU, whatever its backend. */
bool kf_device_is_gpu(const kf_device_info *device);

enum { KF_MOST_DEVICES = 64, KF_MOST_PARTS = 1024 }; /* of a process; of all processes of a run */
/* Frees a backend with its team. Everything that was made on it must be freed before. NULL is fine. */
void kf_backend_close(kf_backend *backend);
/* Returns the device on which it was opened. The pointer is valid as long as the backend. */
const kf_device_info *kf_backend_device(const kf_backend *backend);

/* Lists the process numbers of all programs that hold a context on a GPU, this one included, at most capacity
 * of them. Returns how many were found; 0 on the cpu and where it is not known. */
int kf_device_processes(const kf_device_info *device, int *processes, int capacity);

/* Returns the number of usable CUDA devices, without making a context. 0 without a driver; `why` then gives
 * the reason in one line. */
int kf_cuda_device_count(char *why, size_t why_size);
/* Fills in name, memory and architecture of a device, without making a context. */
kf_status kf_cuda_device_describe(int index, kf_device_info *info, kf_error *error);
/* Describes the cpu device. It is cheap and starts no thread. */
kf_status kf_cpu_device_describe(kf_device_info *info, kf_error *error);

/* --- Compiling ---------------------------------------------------------------------------------------- */

typedef struct kf_define {
    const char *name;
    char value[64];
} kf_define;

/* The list of a source's defines. It is an error of the program (asserted) to add more than KF_DEFINES. */
enum { KF_DEFINES = 64 };
typedef struct kf_defines {
    kf_define list[KF_DEFINES];
    int count;
} kf_defines;
/* Append a define: a whole number, or a text of at most 63 characters. */
void kf_define_to(kf_defines *defines, const char *name, long value);
__attribute__((format(printf, 3, 4))) void kf_define_text(kf_defines *defines, const char *name,
                                                          const char *format, ...);

typedef enum kf_language { KF_LANGUAGE_C, KF_LANGUAGE_CXX } kf_language;

typedef struct kf_source {
    /* Below the data folder, such as "kernels/kinetic/fused.cu"; the absolute path of a kernel that is not
     * kftune's. */
    const char *file;
    const kf_define *defines;
    int define_count;
    /* The members below are for kernels that are not kftune's, and zero for its own. */
    /* For cuda: the kernel's name in C++, "gemm<float, 16>"; kf_module_function then takes this name. NULL:
     * kernels are found by their symbols. */
    const char *name;
    const char *const *options; /* passed to the compiler unchanged */
    int option_count;
    kf_language language; /* used by cpu only */
} kf_source;

/* Returns a text that only equal sources share. The caller frees it. */
char *kf_source_text(const kf_source *source);
/* Makes a source from a text of kf_source_text. It owns its strings; the caller frees it by
 * kf_source_free. */
kf_source *kf_source_from_text(const char *text);
/* Frees a source that kf_source_from_text made. NULL is fine. */
void kf_source_free(kf_source *source);

typedef struct kf_build {
    char hash[KF_HASH_HEX]; /* of sources, defines, compiler, architecture: equal hash, equal machine code */
    double seconds;         /* spent compiling; 0 when it came from the cache */
    bool cached;
} kf_build;

/* Compiles a module, or takes it from the disk cache, and loads it. A compiler error is KF_MACHINE; the
 * message begins with the compiler's first error line. Several processes may use the cache at once; its size
 * is bounded. */
kf_status kf_module_load(kf_backend *backend, const kf_source *source, kf_module **module, kf_build *build,
                         kf_error *error);
void kf_module_free(kf_module *module);

/* Keeps the compiler running in a process that from this call on only calls kf_source_prebuild for this
 * device. */
void kf_compiler_stay(const kf_device_info *info);
/* Compiles into the disk cache without loading. It needs no device context, so any process may call it ahead
 * of time. info: the device that will run the module. */
kf_status kf_source_prebuild(const kf_device_info *info, const kf_source *source, kf_build *build,
                             kf_error *error);

typedef struct kf_function_info {
    int registers;         /* of a thread; 0 on the cpu */
    int spill_bytes;       /* local memory of a thread */
    int shared_bytes;      /* static shared memory of a block */
    int max_threads;       /* most threads of a block of this function */
    size_t argument_bytes; /* of all parameters, laid out as a struct; 0: not known */
} kf_function_info;

/* The function lives as long as its module. */
kf_status kf_module_function(kf_module *module, const char *name, kf_function **function, kf_error *error);
/* Copies data to the start of a variable of the module (CUDA's __constant__ or __device__). KF_BAD_INPUT: the
 * module has no variable of this name, or it is too small. KF_MACHINE on the cpu, which has no such
 * variables. */
kf_status kf_module_write(kf_module *module, const char *variable, const void *data, size_t bytes,
                          kf_error *error);
void kf_function_describe(const kf_function *function, kf_function_info *info);
/* Returns the blocks of this size, each with so many bytes of dynamic shared memory, that fit on a
 * multiprocessor at once (theoretical occupancy). 0: the kernel cannot be launched with them. */
int kf_function_resident_blocks(const kf_function *function, int threads_per_block, size_t shared_bytes);
/* Returns what limits the number of resident blocks: "threads", "blocks", "registers", "shared memory"; "" on
 * the cpu. */
const char *kf_function_occupancy_limit(const kf_function *function, int threads_per_block,
                                        size_t shared_bytes);

/* --- Memory ------------------------------------------------------------------------------------------- */

/* Allocates device memory with undefined contents. KF_MACHINE with "out of memory" when the device has too
 * little. A guard of a few hundred bytes lies behind the buffer (kf_buffer_check). */
kf_status kf_buffer_create(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error);
/* Reserves addresses for all `bytes`, but memory only for some bytes of each period: kept[i][0] .. kept[i][1]
 * - 1, and the whole pages on which they lie (2 MiB on cuda, 4 KiB on most cpus). Kernels must not use other
 * addresses. On a GPU, access to a page without memory is a fault. On the cpu it fails the launch with
 * KF_GATE_FAILED, and kf_buffer_check finds writes beside the kept bytes on pages with memory. */
kf_status kf_buffer_partial(kf_backend *backend, size_t bytes, size_t period, const size_t (*kept)[2],
                            int count, kf_buffer **buffer, kf_error *error);
/* Allocates memory of the host that copies of every device of this kind reach; on cuda it is pinned. */
kf_status kf_buffer_on_host(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error);
/* Frees a buffer. Nothing may use it any more. NULL is fine. */
void kf_buffer_free(kf_buffer *buffer);
/* Returns the bytes that were asked for. */
size_t kf_buffer_size(const kf_buffer *buffer);
void *kf_buffer_address(const kf_buffer *buffer); /* the address that kernels use; NULL for NULL */
/* Sets every byte. The work goes onto the main lane, and the call returns before it is done. */
kf_status kf_buffer_fill(kf_buffer *buffer, unsigned char byte, kf_error *error);
/* Copy bytes between the host and a place in a buffer, after the earlier work of the main lane. When they
 * return the host's memory may be reused. KF_BAD_INPUT beyond the buffer's end; nothing is copied then. */
kf_status kf_buffer_upload(kf_buffer *buffer, size_t offset, const void *data, size_t bytes, kf_error *error);
kf_status kf_buffer_download(const kf_buffer *buffer, size_t offset, void *data, size_t bytes,
                             kf_error *error);
/* Copies the first bytes of a buffer to the beginning of another one, on the main lane. The call returns
 * before the copy is done. */
kf_status kf_buffer_copy(kf_buffer *target, const kf_buffer *source, size_t bytes, kf_error *error);
/* KF_GATE_FAILED when a kernel wrote to a guard. A guard lies behind every buffer, before those that were
 * made while kernels were suspect, and beside the kept bytes of a partial one. */
kf_status kf_buffer_check(const kf_buffer *buffer, kf_error *error);

/* While kernels are suspect, each byte of a buffer from kf_buffer_create starts as KF_SPOILT: NAN in every
 * floating-point type, -1 as an integer. Such a buffer also has a guard before it. It holds for the backend's
 * whole team. */
enum { KF_SPOILT = 0xff };
void kf_backend_suspect(kf_backend *backend, bool suspect);
/* Return how often the host has uploaded to a buffer, and how often anything but a kernel has changed it. */
unsigned kf_buffer_uploads(const kf_buffer *buffer);
unsigned kf_buffer_changes(const kf_buffer *buffer);

/* --- Launching ---------------------------------------------------------------------------------------- */

enum { KF_ARGUMENT_BYTES = 1024 };

/* One kernel launch. A kernel takes one struct by value. Its first member is int extent[3], the number of
 * items along x, y, z (kernels/portable.h); the backend computes the grid from extent and block. If grid is
 * set, the kernel is not written with portable.h, and arguments are its parameters, laid out as a struct.
 * Only cuda can launch such kernels. */
typedef struct kf_launch {
    char name[48]; /* as in tables: "stream", "collide", "spread" */
    kf_function *function;
    int block[3];
    int grid[3];         /* blocks; {0, 0, 0}: computed from the extent */
    size_t shared_bytes; /* dynamic shared memory of a block */
    /* It may start while the preceding kernel of its stream ends (compute capability 9.0 and higher). The
     * kernel calls KF_AWAIT_PREDECESSOR (kernels/portable.h) before it uses memory that other kernels use. */
    bool overlaps;
    /* The blocks of this launch wait for each other, so all must be resident at once. If they do not fit, the
     * launch is refused (KF_MACHINE) instead of hanging. On cuda it is a cooperative launch. On a device
     * without cooperative launches only the number of blocks is checked, and kftune says so. */
    bool waits_for_all;
    size_t argument_bytes;
    _Alignas(16) unsigned char arguments[KF_ARGUMENT_BYTES];
} kf_launch;

/* Fills in *launch and copies the arguments, a struct of at most KF_ARGUMENT_BYTES that begins with int
 * extent[3]. */
void kf_launch_set(kf_launch *launch, const char *name, kf_function *function, const int block[3],
                   const void *arguments, size_t bytes);
/* Returns whether the extent is empty, so that there is nothing to do. */
bool kf_launch_is_empty(const kf_launch *launch);
/* Return the blocks of a launch, and how many of them its device holds at once. */
int64_t kf_launch_blocks(const kf_launch *launch);
int64_t kf_launch_resident_blocks(const kf_launch *launch);

/* The lanes of a device are streams. A lane's work is done in its order. Buffers, events, graphs and single
 * launches use the main lane. The lanes aside and ahead have a higher priority, the lane beside the same. */
enum { KF_LANE_MAIN, KF_LANE_ASIDE, KF_LANE_BESIDE, KF_LANE_AHEAD, KF_LANES };
kf_stream *kf_backend_stream(kf_backend *backend, int lane); /* lives as long as the backend */
/* Returns the stream as libraries know it: a CUstream. NULL on the cpu, where work is done at once. */
void *kf_stream_handle(const kf_stream *stream);

/* Enqueues a library's work in the stream and does not wait for it; on the cpu it does the work. It may be
 * called once and replayed by a graph. */
typedef kf_status kf_call_function(void *object, kf_stream *stream, kf_error *error);

/* A copy of `rows` runs of `bytes` bytes. The runs begin target_pitch and source_pitch bytes apart. The two
 * buffers may be on two devices of the same kind. */
typedef struct kf_copy {
    kf_buffer *target;
    const kf_buffer *source;
    size_t target_offset, source_offset;
    size_t bytes, rows;
    size_t target_pitch, source_pitch; /* at least bytes; not used for one row */
} kf_copy;

/* Put work into a stream; asynchronous on cuda. Errors of a launch show here or at kf_backend_synchronize. An
 * empty extent is not an error. */
kf_status kf_stream_launch(kf_stream *stream, const kf_launch *launch, kf_error *error);
kf_status kf_stream_call(kf_stream *stream, kf_call_function *enqueue, void *object, kf_error *error);
kf_status kf_stream_copy(kf_stream *stream, const kf_copy *copy, kf_error *error);
kf_status kf_backend_launch(kf_backend *backend, const kf_launch *launch, kf_error *error); /* main lane */
/* For a call on one part of a team: puts "device 2 of 4" before its error. Returns status. */
kf_status kf_backend_of_part(const kf_backend *first, int part, kf_status status, kf_error *error);
kf_status kf_backend_synchronize(kf_backend *backend, kf_error *error); /* waits for the whole team */
/* Waits for the work that the stream has so far. A library call that talks to the host needs it. */
kf_status kf_stream_synchronize(kf_stream *stream, kf_error *error);

/* A mark orders work of two streams, which may belong to two devices of the same kind. A signal is done when
 * the earlier work of its stream is done. Work after an await starts when the latest signal before it, in the
 * order of these calls, is done. An await of a mark that was never signalled waits for nothing. */
kf_status kf_mark_create(kf_backend *backend, kf_mark **mark, kf_error *error);
void kf_mark_free(kf_mark *mark);
kf_status kf_stream_signal(kf_stream *stream, kf_mark *mark, kf_error *error);
kf_status kf_stream_await(kf_stream *stream, kf_mark *mark, kf_error *error);

/* A graph is a sequence of work that is prepared once and replayed cheaply (a CUDA graph; on the cpu the list
 * itself). Work that the device's streams get between begin and end is recorded, not done. Launches are
 * copied; buffers, marks and objects of calls must outlive the graph. Recording starts on the main lane.
 * Another lane joins by awaiting one that records, and the main lane must await it before the end. graph
 * NULL: the recorded work is dropped, as after an error. */
kf_status kf_graph_begin(kf_backend *backend, kf_error *error);
kf_status kf_graph_end(kf_backend *backend, kf_graph **graph, kf_error *error);
/* Makes a graph of launches on the main lane. */
kf_status kf_graph_create(kf_backend *backend, const kf_launch *const *launches, int count, kf_graph **graph,
                          kf_error *error);
kf_status kf_graph_launch(kf_graph *graph, kf_error *error); /* on the main lane */
void kf_graph_free(kf_graph *graph);

/* Events mark a moment in the order of the launches around them. On a team's first device it is the moment at
 * which all devices are done so far. kf_event_elapsed_us needs both events to have happened: synchronise
 * first. */
kf_status kf_event_create(kf_backend *backend, kf_event **event, kf_error *error);
void kf_event_free(kf_event *event);
kf_status kf_event_record(kf_event *event, kf_error *error);
/* Records an event on its own device, whatever the other devices of the team do. */
kf_status kf_event_record_alone(kf_event *event, kf_error *error);
kf_status kf_event_elapsed_us(const kf_event *start, const kf_event *stop, double *microseconds,
                              kf_error *error);

/* The present state of the device, stored with every measurement. Fields that cannot be read are NAN. kftune
 * changes no setting. */
typedef struct kf_device_state {
    double sm_clock_mhz, memory_clock_mhz, temperature_c, power_w;
    double energy_j;           /* used by the whole device since some past moment */
    uint64_t throttle_reasons; /* NVML bits; 0 when unknown */
} kf_device_state;
void kf_backend_device_state(kf_backend *backend, kf_device_state *state);

#endif
