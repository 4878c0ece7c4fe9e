/* The interface between a backend and backend.c, which dispatches to it. Only base/backend/ includes this
 * file.
 *
 * Every object of a backend begins with a base struct of this file (`struct cuda_buffer { kf_buffer base; ...
 * }`), through which backend.c finds the methods. The method that creates an object allocates it and fills in
 * the base; another method frees it.
 *
 * backend.c checks the callers' arguments, so methods may rely on them. Objects are not NULL and belong to
 * this backend; the methods that free are not called with NULL. Ranges lie within a buffer or its guard and
 * are not empty; a buffer has at least one byte. A launch has a function of this backend, a block of at least
 * 1x1x1, a non-empty extent, and extent + block fits an int. Empty launches are dropped before, also from
 * graphs, so a graph may be empty. A copy has at least one byte and one row, and both buffers belong to
 * backends with these methods. graph_end follows graph_begin, and no second graph begins in between. A
 * backend itself checks the limits of its device (threads of a block, size of a grid). */
#ifndef KF_BASE_BACKEND_INTERNAL_H
#define KF_BASE_BACKEND_INTERNAL_H

#include "base/backend/backend.h"

typedef struct kf_backend_methods {
    /* Frees the backend itself too. All objects that it made are freed before. */
    void (*close)(kf_backend *backend);

    kf_status (*module_load)(kf_backend *backend, const kf_source *source, kf_module **module,
                             kf_build *build, kf_error *error);
    void (*module_free)(kf_module *module); /* frees its functions too */
    kf_status (*module_function)(kf_module *module, const char *name, kf_function **function,
                                 kf_error *error);
    kf_status (*module_write)(kf_module *module, const char *variable, const void *data, size_t bytes,
                              kf_error *error); /* NULL: modules have no variables */
    void (*function_describe)(const kf_function *function, kf_function_info *info);
    int (*function_resident_blocks)(const kf_function *function, int threads_per_block, size_t shared_bytes);
    const char *(*function_occupancy_limit)(const kf_function *function, int threads_per_block,
                                            size_t shared_bytes); /* may be NULL */

    /* Allocate KF_GUARD_BYTES more behind the buffer, which uploads and downloads also reach. */
    kf_status (*buffer_create)(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error);
    kf_status (*buffer_partial)(kf_backend *backend, size_t bytes, size_t period, const size_t (*kept)[2],
                                int count, kf_buffer **buffer, kf_error *error);
    /* Creates a buffer in the host's memory. NULL: buffer_create does it. */
    kf_status (*buffer_on_host)(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error);
    /* Looks for faults beside the guard, which backend.c checks. NULL: there is nothing to look for. */
    kf_status (*buffer_check)(const kf_buffer *buffer, kf_error *error);
    void (*buffer_free)(kf_buffer *buffer);
    kf_status (*buffer_fill)(kf_buffer *buffer, unsigned char byte, kf_error *error);
    kf_status (*buffer_upload)(kf_buffer *buffer, size_t offset, const void *data, size_t bytes,
                               kf_error *error);
    kf_status (*buffer_download)(const kf_buffer *buffer, size_t offset, void *data, size_t bytes,
                                 kf_error *error);
    kf_status (*buffer_copy)(kf_buffer *target, const kf_buffer *source, size_t bytes, kf_error *error);

    void *(*stream_handle)(const kf_stream *stream); /* NULL: streams have none */
    kf_status (*launch)(kf_stream *stream, const kf_launch *launch, kf_error *error);
    kf_status (*call)(kf_stream *stream, kf_call_function *enqueue, void *object, kf_error *error);
    kf_status (*copy)(kf_stream *stream, const kf_copy *copy, kf_error *error);
    kf_status (*synchronize)(kf_backend *backend, kf_error *error);
    /* Waits for a stream. NULL: a call starts only when the earlier work of its stream is done. */
    kf_status (*stream_synchronize)(kf_stream *stream, kf_error *error);

    kf_status (*mark_create)(kf_backend *backend, kf_mark **mark, kf_error *error);
    void (*mark_free)(kf_mark *mark);
    kf_status (*signal)(kf_stream *stream, kf_mark *mark, kf_error *error);
    kf_status (*await)(kf_stream *stream, kf_mark *mark, kf_error *error);

    /* For shared marks, whose counters are 32-bit words. reach_flags makes the words known to the team's
     * devices (NULL: they know them). raise writes a count into a word when the stream's earlier work is
     * done. await_flag makes the stream wait for a count. */
    kf_status (*reach_flags)(kf_backend *first, void *flags, size_t bytes, kf_error *error);
    kf_status (*raise)(kf_stream *stream, uint32_t *flag, uint32_t count, kf_error *error);
    kf_status (*await_flag)(kf_stream *stream, uint32_t *flag, uint32_t count, kf_error *error);

    kf_status (*graph_begin)(kf_backend *backend, kf_error *error);
    kf_status (*graph_end)(kf_backend *backend, kf_graph **graph, kf_error *error); /* graph may be NULL */
    kf_status (*graph_launch)(kf_graph *graph, kf_error *error);
    void (*graph_free)(kf_graph *graph);

    kf_status (*event_create)(kf_backend *backend, kf_event **event, kf_error *error);
    void (*event_free)(kf_event *event);
    kf_status (*event_record)(kf_event *event, kf_error *error);
    kf_status (*event_elapsed_us)(const kf_event *start, const kf_event *stop, double *microseconds,
                                  kf_error *error);

    /* Called with all fields NAN and no throttle reason. It fills in what it can read. */
    void (*device_state)(kf_backend *backend, kf_device_state *state);
} kf_backend_methods;

/* How a team of devices of one kind combines its memories. The room above (team/) has a table for each kind
 * and passes it to the open function, so that a backend knows neither teams nor processes. For ends and
 * period see team/team.h. */
typedef struct kf_team_methods {
    /* Makes a buffer over the memories of count >= 2 devices. */
    kf_status (*buffer_spread)(kf_backend *const *parts, int count, size_t bytes, size_t period,
                               const size_t *ends, kf_buffer **buffer, kf_error *error);
    /* Makes a buffer over the memories of processes of one host. */
    kf_status (*buffer_share)(kf_backend *first, size_t bytes, size_t period, const size_t *ends,
                              kf_buffer **buffer, kf_error *error);
} kf_team_methods;
/* The tables of both kinds. NULL: devices of the kind form no teams. */
typedef struct kf_teams {
    const kf_team_methods *cpu, *cuda;
} kf_teams;

/* The base structs of a backend's objects. */
struct kf_stream {
    kf_backend *backend;
    int lane;
};
struct kf_backend {
    const kf_backend_methods *methods;
    const kf_team_methods *team_methods; /* NULL: it is in no team */
    kf_device_info device;               /* filled by the open function */
    kf_stream streams[KF_LANES];
    uint64_t graphs;   /* number of graphs begun so far */
    bool capturing;    /* between graph_begin and graph_end */
    bool suspects;     /* kf_backend_suspect */
    kf_backend *own;   /* the backend itself, as the team of a device that is alone */
    kf_backend **team; /* [parts] the team of which it is the first; &own for any other */
    kf_mark **come;    /* [parts] for the first of a team: marks of kf_event_record; NULL: not made yet */
    int parts;
    int first_part; /* for the first of a team: parts of the run that earlier processes have (world.h) */
    /* For a first part that can reach parts of other processes: index of the first of these, their number,
     * and the number of parts of each process. Otherwise NULL. */
    int near_first, near_parts, *near_counts;
    /* Fails when another process has failed (team/world.h). Code that waits for another process calls it
     * again and again. NULL: there is no other process. */
    kf_status (*look)(kf_error *error);
    /* [process + 1] the first part of each process, and at the end the number of all parts; NULL: there is
     * one process. */
    int *firsts;
    /* NCCL's communicator, for the first of a team that NCCL has joined (team/nccl.c); or NULL. */
    struct kf_nccl *nccl;
    /* Undoes what team/ did with the backend, before it is closed; or NULL. */
    void (*part)(kf_backend *first);
};
struct kf_module {
    kf_backend *backend;
};
struct kf_function {
    kf_module *module;
};
enum { KF_GUARD_BYTES = 256, KF_FRONT_BYTES = 4096 };
struct kf_buffer {
    kf_backend *backend;
    size_t bytes;              /* without the guards */
    void *address;             /* as kernels see it */
    size_t front;              /* bytes of the guard before the buffer; 0: there is none */
    unsigned uploads, changes; /* kf_buffer_uploads, kf_buffer_changes */
};
/* Finds the next run of pages that have memory in a partial buffer of so many bytes. A page has memory if it
 * holds a kept byte or a byte of the guard. The search starts at page run[1]; run becomes the first page and
 * the one behind the last. False if there is none before `pages`. Begin with run {0, 0}. */
bool kf_buffer_next_kept(size_t page, size_t pages, size_t bytes, size_t period, const size_t (*kept)[2],
                         int count, size_t run[2]);
struct kf_event {
    kf_backend *backend;
};
struct kf_mark {
    kf_backend *backend;
    /* For a mark that processes share (team/shared.c): flag counts its signals for all to see, *given is the
     * count that is due by now, and free releases it. Otherwise NULL. */
    uint32_t *flag, *given;
    void (*free)(kf_mark *mark);
    bool own; /* this process is the one that signals it */
    bool signalled;
    /* Number of the graph (by the backend's count) in which it was signalled last; 0: outside of graphs. */
    uint64_t graph;
};
struct kf_graph {
    kf_backend *backend;
};

/* Opens the cpu (cpu/cpu.c). threads 0: as many as this process may use. */
kf_status kf_cpu_open(int threads, const kf_team_methods *team, kf_backend **backend, kf_error *error);
kf_status kf_cpu_prebuild(const kf_device_info *info, const kf_source *source, kf_build *build,
                          kf_error *error);
/* Makes a buffer of memory from mmap, `mapped` bytes of which are unmapped when it is freed. */
kf_buffer *kf_cpu_buffer_of(kf_backend *backend, void *address, size_t bytes, size_t mapped);

/* Opens a GPU (cuda/cuda.c), in a build with KF_HAVE_CUDA; in others open.c answers that the build has no
 * CUDA. cuda/cuda.c also has kf_cuda_device_count and kf_cuda_device_describe of backend.h. */
kf_status kf_cuda_open(int index, const kf_team_methods *team, kf_backend **backend, kf_error *error);
void kf_cuda_compiler_stay(const kf_device_info *info);
kf_status kf_cuda_prebuild(const kf_device_info *info, const kf_source *source, kf_build *build,
                           kf_error *error);

/* Functions of open.c for a single device: check that spec names one, open it, and open the best one of the
 * machine. threads: for "cpu" without a number; 0: all. */
kf_status kf_device_check_one(const char *spec, kf_error *error);
kf_status kf_device_open_one(const char *spec, int threads, const kf_teams *teams, kf_backend **backend,
                             kf_error *error);
kf_status kf_device_open_best(const kf_teams *teams, kf_backend **backend, kf_error *error);

/* Check the size of a new buffer, and write its guard. Every new buffer passes both. */
kf_status kf_buffer_check_size(size_t bytes, kf_error *error);
kf_status kf_buffer_write_guard(kf_buffer **buffer, kf_error *error);

/* Sets methods and streams of a new backend, for the open functions. */
void kf_backend_begin(kf_backend *backend, const kf_backend_methods *methods, const kf_team_methods *team);

/* Returns the extent of a launch: the first three ints of its arguments. */
void kf_launch_extent(const kf_launch *launch, int extent[3]);

#endif
