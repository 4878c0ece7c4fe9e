/* Devices on which plans run: two backends behind one interface, `cuda` (driver API and NVRTC, loaded at
 * run time) and `cpu` (the same kernel sources built by the host compiler, on threads). Nothing else
 * speaks CUDA. */
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
    int parts;             /* devices of a team whose first this is (team/team.h), those of other
                            * processes included; 1, or 0: it is alone */
    int multiprocessors;   /* or threads used; of one device, as all that follows but the memory of a team */
    int warp_size;         /* 32; on the cpu the number of SIMD lanes of a float */
    int max_threads_per_block;
    uint64_t memory_bytes;      /* in all */
    uint64_t memory_free_bytes; /* when opened */
    uint64_t l2_bytes;          /* last-level cache */
    double peak_bandwidth;      /* bytes/s from memory clock and bus width; 0 when unknown */
    double clock_hz;            /* highest clock of a multiprocessor; 0 when unknown */
} kf_device_info;

/* Returns whether kernels run on a GPU there, of whatever backend. */
bool kf_device_is_gpu(const kf_device_info *device);

/* Process numbers of all programs that hold a context on a GPU, this one's too, at most capacity of them, and
 * how many were found; 0 on the cpu and where it is not known. */
enum { KF_MOST_DEVICES = 64, KF_MOST_PARTS = 1024 }; /* of a process; of all processes of a run */
/* Frees a backend with its team, after all that was made on it was freed; NULL is fine. */
void kf_backend_close(kf_backend *backend);
/* The device it was opened on; lives as long as the backend. */
const kf_device_info *kf_backend_device(const kf_backend *backend);

/* Process numbers of all programs that hold a context on a GPU, this one's too, at most capacity of them, and
 * how many were found; 0 on the cpu and where it is not known. */
int kf_device_processes(const kf_device_info *device, int *processes, int capacity);

/* Number of CUDA devices that can be used, 0 without a driver; why says in one line why not. Makes no
 * context. */
int kf_cuda_device_count(char *why, size_t why_size);
/* Name, memory and architecture of device index without making a context. */
kf_status kf_cuda_device_describe(int index, kf_device_info *info, kf_error *error);
/* The cpu device; cheap, starts no thread. */
kf_status kf_cpu_device_describe(kf_device_info *info, kf_error *error);

/* --- Compiling ---------------------------------------------------------------------------------------- */

typedef struct kf_define {
    const char *name;
    char value[64];
} kf_define;

/* The defines of a source while they are listed: as many as there is room for, which is asserted. */
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
    const char *file; /* below the data folder, e.g. "kernels/kinetic/fused.cu", or a kernel that is not
                       * kftune's by its absolute path */
    const kf_define *defines;
    int define_count;
    /* These are for kernels that are not kftune's; all are zero for those that are. */
    const char *name;           /* cuda: of its kernel as C++ has it, "gemm<float, 16>"; kf_module_function
                                 * then takes this name. NULL: kernels are found by their symbols */
    const char *const *options; /* of the compiler, as they are handed to it */
    int option_count;
    kf_language language; /* cpu */
} kf_source;

/* Returns a text that is equal for equal sources alone; the caller frees it. */
char *kf_source_text(const kf_source *source);
/* Makes a source, with strings of its own, of a text that kf_source_text made. */
kf_source *kf_source_from_text(const char *text);
/* Frees such a source; NULL is fine. */
void kf_source_free(kf_source *source);

typedef struct kf_build {
    char hash[KF_HASH_HEX]; /* of sources, defines, compiler, architecture: equal hash, equal machine code */
    double seconds;         /* spent compiling; 0 when it came from the cache */
    bool cached;
} kf_build;

/* Compiles (or takes from the disk cache) and loads. The compiler's message goes into *error (KF_MACHINE) on
 * failure, its first error line first. The cache is safe under several processes and bounded in size. */
kf_status kf_module_load(kf_backend *backend, const kf_source *source, kf_module **module, kf_build *build,
                         kf_error *error);
void kf_module_free(kf_module *module);

/* For a process that from now on does nothing but kf_source_prebuild for this device: the compiler is started
 * once. */
void kf_compiler_stay(const kf_device_info *info);
/* Compiles into the disk cache only; needs no device context, so it may run in any process ahead of time.
 * info: the device that will run it. */
kf_status kf_source_prebuild(const kf_device_info *info, const kf_source *source, kf_build *build,
                             kf_error *error);

typedef struct kf_function_info {
    int registers;         /* a thread; 0 on the cpu */
    int spill_bytes;       /* local memory a thread */
    int shared_bytes;      /* static, a block */
    int max_threads;       /* a block, for this function */
    size_t argument_bytes; /* of all parameters, as they lie in a struct; 0: not known */
} kf_function_info;

/* The function lives as long as its module. */
kf_status kf_module_function(kf_module *module, const char *name, kf_function **function, kf_error *error);
/* Copies data to the start of a variable of the module (CUDA's __constant__ and __device__). KF_BAD_INPUT
 * when the module has none of this name with room for it, KF_MACHINE on the cpu, which has no such variables.
 */
kf_status kf_module_write(kf_module *module, const char *variable, const void *data, size_t bytes,
                          kf_error *error);
void kf_function_describe(const kf_function *function, kf_function_info *info);
/* Blocks of this size, with so many bytes of dynamic shared memory each, that are resident on one
 * multiprocessor (theoretical occupancy); 0 when it cannot launch at all. */
int kf_function_resident_blocks(const kf_function *function, int threads_per_block, size_t shared_bytes);
/* Returns what keeps more blocks from being resident: "threads", "blocks", "registers", "shared memory";
 * "" on the cpu. */
const char *kf_function_occupancy_limit(const kf_function *function, int threads_per_block,
                                        size_t shared_bytes);

/* --- Memory ------------------------------------------------------------------------------------------- */

/* Contents are undefined until written. KF_MACHINE with "out of memory" when the device has too little.
 * Behind the buffer lies a guard of a few hundred bytes; see kf_buffer_check. */
kf_status kf_buffer_create(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error);
/* Addresses for all bytes on one device, which keeps only some of each period: kept[i][0] .. kept[i][1] - 1,
 * and the pages that these lie on (2 MiB on cuda, 4 KiB on most cpus). A kernel may form no other address. On
 * a GPU one that touches a page without memory ends with a fault. On the cpu its launch fails with
 * KF_GATE_FAILED, and kf_buffer_check finds what was written beside the kept bytes on pages with memory. */
kf_status kf_buffer_partial(kf_backend *backend, size_t bytes, size_t period, const size_t (*kept)[2],
                            int count, kf_buffer **buffer, kf_error *error);
/* Memory of the host that copies of any device of the kind reach: pinned on cuda. */
kf_status kf_buffer_on_host(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error);
/* Frees a buffer, which nothing may use any more; NULL is fine. */
void kf_buffer_free(kf_buffer *buffer);
/* Returns the bytes that were asked for. */
size_t kf_buffer_size(const kf_buffer *buffer);
void *kf_buffer_address(const kf_buffer *buffer); /* as kernels see it; of NULL: NULL */
/* Sets every byte. It goes onto the main lane, and returns before it is done. */
kf_status kf_buffer_fill(kf_buffer *buffer, unsigned char byte, kf_error *error);
/* Copy bytes between the host and a place in a buffer, after all that the main lane was given. The host's
 * memory may be used when they return. Beyond the buffer's end: KF_BAD_INPUT, and nothing is copied. */
kf_status kf_buffer_upload(kf_buffer *buffer, size_t offset, const void *data, size_t bytes, kf_error *error);
kf_status kf_buffer_download(const kf_buffer *buffer, size_t offset, void *data, size_t bytes,
                             kf_error *error);
/* Copies the first bytes of a buffer to the beginning of another, on the main lane; returns before it is
 * done. */
kf_status kf_buffer_copy(kf_buffer *target, const kf_buffer *source, size_t bytes, kf_error *error);
/* KF_GATE_FAILED when a kernel wrote to a guard, that is, past the buffer's end or before the beginning of
 * one that has a guard there, or beside what a partial one keeps. */
kf_status kf_buffer_check(const kf_buffer *buffer, kf_error *error);

/* While kernels are suspect, buffers that kf_buffer_create makes on the backend's team begin with every byte
 * KF_SPOILT, NAN in every floating-point type and -1 as an integer, and have a guard before them too. */
enum { KF_SPOILT = 0xff };
void kf_backend_suspect(kf_backend *backend, bool suspect);
/* How often the host has uploaded to a buffer, and how often it has changed it in any way but by a launch. */
unsigned kf_buffer_uploads(const kf_buffer *buffer);
unsigned kf_buffer_changes(const kf_buffer *buffer);

/* --- Launching ---------------------------------------------------------------------------------------- */

enum { KF_ARGUMENT_BYTES = 1024 };

/* One kernel launch. A kernel takes one struct by value; its first member is int extent[3], the number of
 * items along x, y, z (see kernels/portable.h); the backend derives the grid from extent and block. Where
 * grid is given, the kernel is one that is not written with portable.h, and arguments are its parameters as
 * they would lie in a struct; only cuda can launch these. */
typedef struct kf_launch {
    char name[48]; /* as shown in tables: "stream", "collide", "spread" */
    kf_function *function;
    int block[3];
    int grid[3];         /* blocks; {0, 0, 0}: by the extent */
    size_t shared_bytes; /* dynamic shared memory of a block */
    /* It may begin while the kernel before it in its stream ends, from compute capability 9.0 on: its kernel
     * calls KF_AWAIT_PREDECESSOR (kernels/portable.h) before it touches what others read or write. */
    bool overlaps;
    /* The blocks of such a launch wait for each other, so all must be resident at once: a launch of more than
     * fit is refused (KF_MACHINE) and does not hang. On cuda it is a cooperative launch, which begins with
     * all of them; a device without these is taken by the count alone, and kftune says so. */
    bool waits_for_all;
    size_t argument_bytes;
    _Alignas(16) unsigned char arguments[KF_ARGUMENT_BYTES];
} kf_launch;

/* Copies arguments (a struct starting with int extent[3]) into *launch. bytes <= KF_ARGUMENT_BYTES. */
void kf_launch_set(kf_launch *launch, const char *name, kf_function *function, const int block[3],
                   const void *arguments, size_t bytes);
/* Nothing to do: an extent without items. */
bool kf_launch_is_empty(const kf_launch *launch);
/* The blocks of a launch, and the most of its kind that its device holds at once. */
int64_t kf_launch_blocks(const kf_launch *launch);
int64_t kf_launch_resident_blocks(const kf_launch *launch);

/* The lanes of a device. What is given to one is done in its order; the main one is where everything else
 * happens: buffers, events, graphs, single launches. What runs aside or ahead has a higher priority, what
 * runs beside the same. */
enum { KF_LANE_MAIN, KF_LANE_ASIDE, KF_LANE_BESIDE, KF_LANE_AHEAD, KF_LANES };
kf_stream *kf_backend_stream(kf_backend *backend, int lane); /* lives as long as the backend */
kf_backend *kf_stream_backend(const kf_stream *stream);
/* Returns what a library calls a stream: CUDA's CUstream; NULL on the cpu, where work is done when it is
 * given. */
void *kf_stream_handle(const kf_stream *stream);

/* Work that is not kftune's own: a library puts it into the stream, and does not wait for it. On the cpu it
 * does the work. It may be called once and replayed by a graph. */
typedef kf_status kf_call_function(void *object, kf_stream *stream, kf_error *error);

/* A copy of `rows` runs of bytes, whose beginnings lie so many bytes apart in target and source. The
 * buffers may be of two devices of the same kind. */
typedef struct kf_copy {
    kf_buffer *target;
    const kf_buffer *source;
    size_t target_offset, source_offset;
    size_t bytes, rows;
    size_t target_pitch, source_pitch; /* >= bytes; of no meaning for one row */
} kf_copy;

/* Asynchronous on cuda. Launch errors show here or at kf_backend_synchronize. Empty extents are no error. */
kf_status kf_stream_launch(kf_stream *stream, const kf_launch *launch, kf_error *error);
kf_status kf_stream_call(kf_stream *stream, kf_call_function *enqueue, void *object, kf_error *error);
kf_status kf_stream_copy(kf_stream *stream, const kf_copy *copy, kf_error *error);
kf_status kf_backend_launch(kf_backend *backend, const kf_launch *launch, kf_error *error); /* main lane */
/* Says what came of something that was asked of a part of a team: an error names the device. */
kf_status kf_backend_of_part(const kf_backend *first, int part, kf_status status, kf_error *error);
kf_status kf_backend_synchronize(kf_backend *backend, kf_error *error); /* the same, of the whole team */
/* Waits for what the stream was given so far; for a call that speaks with the host. */
kf_status kf_stream_synchronize(kf_stream *stream, kf_error *error);

/* A mark is signalled when what its stream was given before is done. What a stream is given after an await
 * begins when the latest signal before it, in the order of these calls, has come; a mark that was never
 * signalled holds nothing up. The two streams may be of two devices of the same kind. */
kf_status kf_mark_create(kf_backend *backend, kf_mark **mark, kf_error *error);
void kf_mark_free(kf_mark *mark);
kf_status kf_stream_signal(kf_stream *stream, kf_mark *mark, kf_error *error);
kf_status kf_stream_await(kf_stream *stream, kf_mark *mark, kf_error *error);

/* A sequence made ready once and replayed cheaply (a CUDA graph; on the cpu the sequence itself). What the
 * device's streams are given between begin and end is kept instead of done; launches are copied, buffers,
 * marks and the objects of calls must outlive the graph. It begins on the main lane; others take part from
 * where they await one that does, and the main lane awaits them before the end. graph NULL: give up what was
 * kept, as after an error. */
kf_status kf_graph_begin(kf_backend *backend, kf_error *error);
kf_status kf_graph_end(kf_backend *backend, kf_graph **graph, kf_error *error);
/* Launches on the main lane, as a graph. */
kf_status kf_graph_create(kf_backend *backend, const kf_launch *const *launches, int count, kf_graph **graph,
                          kf_error *error);
kf_status kf_graph_launch(kf_graph *graph, kf_error *error); /* on the main lane */
void kf_graph_free(kf_graph *graph);

/* Events: recorded in the order of the launches around them, on a team's first device when all have come so
 * far. elapsed needs both to have happened (synchronise). */
kf_status kf_event_create(kf_backend *backend, kf_event **event, kf_error *error);
void kf_event_free(kf_event *event);
kf_status kf_event_record(kf_event *event, kf_error *error);
/* Records an event on its own device alone, whatever the others of a team do. */
kf_status kf_event_record_alone(kf_event *event, kf_error *error);
kf_status kf_event_elapsed_us(const kf_event *start, const kf_event *stop, double *microseconds,
                              kf_error *error);

/* State of the device now, for the row of every measurement; fields that cannot be read are NAN. No setting
 * is ever changed. */
typedef struct kf_device_state {
    double sm_clock_mhz, memory_clock_mhz, temperature_c, power_w;
    double energy_j;           /* used by the whole device since some moment in the past */
    uint64_t throttle_reasons; /* NVML bits; 0 when unknown */
} kf_device_state;
void kf_backend_device_state(kf_backend *backend, kf_device_state *state);

#endif
