/* A backend that does nothing and counts what it is asked for: kernels are neither compiled nor run, buffers
 * are host memory that begins as zeros, and time is what its launches are said to take. For tests of what
 * plans, cases and measuring ask of a device. */
#ifndef KF_TESTS_TOOLS_RECORDING_BACKEND_H
#define KF_TESTS_TOOLS_RECORDING_BACKEND_H

#include "base/backend/backend.h"
#include "base/util/text.h"

/* Counts what has been asked for since it was last zeroed; launches, calls and copies of graphs count each
 * time that the graph is launched. */
typedef struct recorded_work {
    uint64_t launches, calls, copies, signals, awaits;
    uint64_t graphs_made, graphs_launched;
    uint64_t events, synchronized, fills;
    uint64_t modules, functions;
} recorded_work;

typedef struct recording {
    recorded_work work;
    double launch_us;    /* what a launch takes */
    double clock_us;     /* the device's clock */
    size_t most_bytes;   /* larger buffers are out of memory; 0: none are */
    kf_text *sources;    /* each module's file and defines are added; or NULL */
    const char *failing; /* a launch of this name fails; or NULL */
    /* How many blocks of a function of this source are resident on a multiprocessor; NULL: as its threads
     * allow. */
    int (*resident)(const kf_source *source, int threads_per_block, size_t shared_bytes);
} recording;

/* A cpu of one thread, whose plans are told. */
extern const kf_device_info recording_host;

/* A device with this description; kf_backend_close frees it. */
kf_backend *recording_open(const kf_device_info *device);
/* A team of so many of them. */
kf_backend *recording_open_team(const kf_device_info *device, int parts);
recording *recording_of(kf_backend *backend);

#endif
