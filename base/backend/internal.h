/* The interface between a backend and the dispatch in backend.c. Only base/backend/ includes this.
 *
 * Every object of a backend starts with the base struct declared here (`struct cuda_buffer { kf_buffer
 * base; ... }`), so that backend.c finds the methods through it. The method that creates an object
 * allocates it, fills the base and is paired with one that frees it.
 *
 * Division of work: backend.c checks what callers pass in, so methods may rely on it. Objects are never
 * NULL and belong to this backend; the free methods are not called with NULL. Buffer ranges lie within the
 * buffer or its guard and are not empty; a buffer has at least one byte. A launch has a function of this
 * backend, a block of at least 1x1x1, a non-empty extent (empty ones are dropped before, also from graphs,
 * which may thus hold nothing at all), extent + block within an int. A copy has at least one byte and one
 * row, and the buffers are of backends with these methods. graph_end follows graph_begin, and no second
 * graph is begun in between. Limits of the device (threads a block, grid size) are the backend's own to
 * check. */
#ifndef KF_BASE_BACKEND_INTERNAL_H
#define KF_BASE_BACKEND_INTERNAL_H

#include "base/backend/backend.h"

typedef struct kf_backend_methods {
    /* Frees the backend itself too. The objects made by it are gone before. */
    void (*close)(kf_backend *backend);

    kf_status (*module_load)(kf_backend *backend, const kf_source *source, kf_module **module,
                             kf_build *build, kf_error *error);
    void (*module_free)(kf_module *module); /* with its functions */
    kf_status (*module_function)(kf_module *module, const char *name, kf_function **function,
                                 kf_error *error);
    kf_status (*module_write)(kf_module *module, const char *variable, const void *data, size_t bytes,
                              kf_error *error); /* NULL: modules have no variables */
    void (*function_describe)(const kf_function *function, kf_function_info *info);
    int (*function_resident_blocks)(const kf_function *function, int threads_per_block, size_t shared_bytes);
    const char *(*function_occupancy_limit)(const kf_function *function, int threads_per_block,
                                            size_t shared_bytes); /* may be NULL */

    /* With KF_GUARD_BYTES more behind them, which uploads and downloads also reach. */
    kf_status (*buffer_create)(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error);
    kf_status (*buffer_partial)(kf_backend *backend, size_t bytes, size_t period, const size_t (*kept)[2],
                                int count, kf_buffer **buffer, kf_error *error);
    /* NULL: the same as buffer_create. */
    kf_status (*buffer_on_host)(kf_backend *backend, size_t bytes, kf_buffer **buffer, kf_error *error);
    /* Finds faults beside the guard, whose look is backend.c's. NULL: nothing is looked for. */
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
    /* NULL: a call is made when what its stream was given before is done. */
    kf_status (*stream_synchronize)(kf_stream *stream, kf_error *error);

    kf_status (*mark_create)(kf_backend *backend, kf_mark **mark, kf_error *error);
    void (*mark_free)(kf_mark *mark);
    kf_status (*signal)(kf_stream *stream, kf_mark *mark, kf_error *error);
    kf_status (*await)(kf_stream *stream, kf_mark *mark, kf_error *error);

    /* Words of shared marks: makes them known to the team's devices (NULL: they are); puts a count into one
     * when what the stream was given is done; has the stream wait for a count. */
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

    /* Called with every field NAN and no throttle reason; fills in what it can read. */
    void (*device_state)(kf_backend *backend, kf_device_state *state);
} kf_backend_methods;

/* Methods of a team of devices of one kind on their memories. The room above (team/) has one for each kind
 * and gives it to the open function, so that no backend knows of teams or of other processes. Ends and
 * period are as in team/team.h. */
typedef struct kf_team_methods {
    /* Over the memories of count >= 2 devices. */
    kf_status (*buffer_spread)(kf_backend *const *parts, int count, size_t bytes, size_t period,
                               const size_t *ends, kf_buffer **buffer, kf_error *error);
    /* Over the memories that processes of a host share. */
    kf_status (*buffer_share)(kf_backend *first, size_t bytes, size_t period, const size_t *ends,
                              kf_buffer **buffer, kf_error *error);
} kf_team_methods;
/* The methods of each kind; a member may be NULL: its devices are alone. */
typedef struct kf_teams {
    const kf_team_methods *cpu, *cuda;
} kf_teams;

/* The base structs. */
struct kf_stream {
    kf_backend *backend;
    int lane;
};
struct kf_backend {
    const kf_backend_methods *methods;
    const kf_team_methods *team_methods; /* NULL: it is alone */
    kf_device_info device;               /* filled by the open function */
    kf_stream streams[KF_LANES];
    uint64_t graphs;   /* begun so far */
    bool capturing;    /* between graph_begin and graph_end */
    bool suspects;     /* kf_backend_suspect */
    kf_backend *own;   /* itself: the team of one that is alone */
    kf_backend **team; /* of which it is the first; &own where it is alone, or another one's */
    kf_mark **come;    /* [parts], of a first: see kf_event_record; NULL: not made yet */
    int parts;
    int first_part; /* of a first: parts of other processes before its own (world.h) */
    /* A first part that reaches parts of other processes knows how many there are, and each process's; or
     * NULL. */
    int near_first, near_parts, *near_counts;
    /* Fails when another process has failed (devices of several processes, team/world.h). Whatever waits
     * for what another process does asks it again and again. NULL: there is no other. */
    kf_status (*look)(kf_error *error);
    int *firsts; /* [process + 1] of all processes: their first parts, and the number of all; NULL: it is
                    alone */
    struct kf_nccl *nccl;            /* of a first whose parts NCCL has joined (team/nccl.c); or NULL */
    void (*part)(kf_backend *first); /* undoes what a team did with it before it is closed; or NULL */
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
    size_t front;              /* bytes of a guard before it; 0: it has none */
    unsigned uploads, changes; /* kf_buffer_uploads, kf_buffer_changes */
};
/* The pages of a buffer_partial of so many bytes that have memory: those with one of the bytes kept, or of
 * the guard. Sets run to the next run of them from page run[1] on, the first and the one behind the last;
 * false where there is none before pages. Begin with run {0, 0}. */
bool kf_buffer_next_kept(size_t page, size_t pages, size_t bytes, size_t period, const size_t (*kept)[2],
                         int count, size_t run[2]);
struct kf_event {
    kf_backend *backend;
};
struct kf_mark {
    kf_backend *backend;
    /* A mark that processes share (team/shared.c) has where its signals are counted for all to see, how
     * many there must have been by now, and what frees it; else NULL. */
    uint32_t *flag, *given;
    void (*free)(kf_mark *mark);
    bool own; /* this process signals it */
    bool signalled;
    uint64_t graph; /* in which it was signalled last, by the backend's count; 0: outside of any */
};
struct kf_graph {
    kf_backend *backend;
};

/* The file cpu/cpu.c opens the cpu; threads 0: all that this process may use. */
kf_status kf_cpu_open(int threads, const kf_team_methods *team, kf_backend **backend, kf_error *error);
kf_status kf_cpu_prebuild(const kf_device_info *info, const kf_source *source, kf_build *build,
                          kf_error *error);
/* A buffer of mapped memory, which is unmapped with it. */
kf_buffer *kf_cpu_buffer_of(kf_backend *backend, void *address, size_t bytes, size_t mapped);

/* The file cuda/cuda.c opens a GPU, when built with KF_HAVE_CUDA; else open.c answers that this build has
 * no CUDA. There too are kf_cuda_device_count and kf_cuda_device_describe of backend.h. */
kf_status kf_cuda_open(int index, const kf_team_methods *team, kf_backend **backend, kf_error *error);
void kf_cuda_compiler_stay(const kf_device_info *info);
kf_status kf_cuda_prebuild(const kf_device_info *info, const kf_source *source, kf_build *build,
                           kf_error *error);

/* The file open.c is for one device: it tells whether spec names one, opens that device (threads: of a cpu
 * that leaves it open, 0 for all), and finds the best there is. */
kf_status kf_device_check_one(const char *spec, kf_error *error);
kf_status kf_device_open_one(const char *spec, int threads, const kf_teams *teams, kf_backend **backend,
                             kf_error *error);
kf_status kf_device_open_best(const kf_teams *teams, kf_backend **backend, kf_error *error);

/* Every new buffer passes these: its size is checked, and its guard written. */
kf_status kf_buffer_check_size(size_t bytes, kf_error *error);
kf_status kf_buffer_write_guard(kf_buffer **buffer, kf_error *error);

/* For the open functions: methods and streams. */
void kf_backend_begin(kf_backend *backend, const kf_backend_methods *methods, const kf_team_methods *team);

/* The extent a launch covers: the first three ints of its arguments. */
void kf_launch_extent(const kf_launch *launch, int extent[3]);

#endif
