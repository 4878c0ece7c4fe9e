/* A backend that does nothing and counts its calls. Kernels are neither compiled nor run, buffers are host
 * memory that begins as zeros, and time is the sum of the launches' set durations. It is for tests of what
 * plans, cases and measurement ask of a device. */
#ifndef KF_TESTS_TOOLS_RECORDING_BACKEND_H
#define KF_TESTS_TOOLS_RECORDING_BACKEND_H

#include "base/backend/backend.h"
#include "base/util/text.h"

/* Counts calls since it was last zeroed. Launches, calls and copies of graphs count each time that the
 * graph is launched. */
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
    size_t most_bytes;   /* larger buffers are out of memory; with 0 none are */
    kf_text *sources;    /* each module's file and defines are added, unless NULL */
    bool no_numbers;     /* what is downloaded is NaN */
    const char *failing; /* a launch of this name fails, unless NULL */
    /* Returns how many blocks of a function of this source are resident on a multiprocessor. With NULL it
     * follows from the number of threads. */
    int (*resident)(const kf_source *source, int threads_per_block, size_t shared_bytes);
} recording;

/* A cpu of one thread, whose plans are listed. */
extern const kf_device_info recording_host;

/* Opens a device with this description. kf_backend_close frees it. */
kf_backend *recording_open(const kf_device_info *device);
/* Opens a team of this many devices. */
kf_backend *recording_open_team(const kf_device_info *device, int parts);
recording *recording_of(kf_backend *backend);

#endif
