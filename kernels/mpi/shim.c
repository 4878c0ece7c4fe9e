/* MPI for kftune, in types that are the same for every MPI. The first run of several processes builds this
 * file with the user's own mpicc, and keeps the result like a kernel. base/backend/team/world.c loads it
 * and has the same declarations.
 *
 * A request is an address. It is NULL when there was no memory or MPI refused. All sizes are in bytes,
 * below 2^31. Functions of type int return 0 or an error of MPI. Each channel is a communicator of its
 * own: 0 for what all processes do together, 1 for the watch over processes, 2 for what some send to some. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

enum { CHANNELS = 3 };
static MPI_Comm channels[CHANNELS];

/* Initialises MPI. *threads becomes whether several threads may call it at once. */
int kf_mpi_begin(int *rank, int *size, int *threads) {
    int provided = 0, status = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    if (status != MPI_SUCCESS) return status;
    *threads = provided == MPI_THREAD_MULTIPLE;
    /* MPI may raise an error of a nonblocking collective on these, whatever communicator it belongs to. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (int channel = 0; channel < CHANNELS; channel++) {
        status = MPI_Comm_dup(MPI_COMM_WORLD, &channels[channel]);
        if (status != MPI_SUCCESS) return status;
        MPI_Comm_set_errhandler(channels[channel], MPI_ERRORS_RETURN);
    }
    status = MPI_Comm_rank(channels[0], rank);
    return status != MPI_SUCCESS ? status : MPI_Comm_size(channels[0], size);
}

int kf_mpi_end(void) {
    return MPI_Finalize();
}

/* Returns 1 if MPI takes data in the memory of a CUDA device. Open MPI and MPICH have an extension that
 * tells. */
int kf_mpi_takes_device_memory(void) {
    int takes = 0;
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    takes = MPIX_Query_cuda_support();
#elif defined(MPIX_GPU_SUPPORT_CUDA)
    if (MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &takes) != MPI_SUCCESS) takes = 0;
#endif
    return takes;
}

static void *begun(MPI_Request *request, int status) {
    if (status == MPI_SUCCESS) return request;
    free(request);
    return NULL;
}

void *kf_mpi_send(const void *data, int bytes, int to, int tag, int channel) {
    MPI_Request *request = malloc(sizeof *request);
    return request == NULL
               ? NULL
               : begun(request, MPI_Isend(data, bytes, MPI_BYTE, to, tag, channels[channel], request));
}

/* Begins to receive a message. It may come from any process if from < 0. */
void *kf_mpi_receive(void *data, int bytes, int from, int tag, int channel) {
    MPI_Request *request = malloc(sizeof *request);
    const int source = from < 0 ? MPI_ANY_SOURCE : from;
    return request == NULL
               ? NULL
               : begun(request, MPI_Irecv(data, bytes, MPI_BYTE, source, tag, channels[channel], request));
}

/* Begins a sum in place: the values of every process become the sums over all. */
void *kf_mpi_sum(int64_t *values, int count) {
    MPI_Request *request = malloc(sizeof *request);
    return request == NULL ? NULL
                           : begun(request, MPI_Iallreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_SUM,
                                                           channels[0], request));
}

/* Begins a broadcast from one process to all. */
void *kf_mpi_share(void *data, int bytes, int from) {
    MPI_Request *request = malloc(sizeof *request);
    return request == NULL ? NULL
                           : begun(request, MPI_Ibcast(data, bytes, MPI_BYTE, from, channels[0], request));
}

/* Returns 1 if a request is done, 0 if not yet, and a negative number if it failed. It frees a request
 * that is done or has failed. */
int kf_mpi_test(void *request) {
    int done = 0;
    const int status = MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (status == MPI_SUCCESS && !done) return 0;
    free(request);
    return status == MPI_SUCCESS ? 1 : -1;
}

/* Cancels a receive. Returns 1 if a message had come before, 0 if none had, and a negative number if MPI
 * cannot say. */
int kf_mpi_cancel(void *request) {
    int cancelled = 0;
    MPI_Status end;
    int status = MPI_Cancel(request);
    if (status == MPI_SUCCESS) status = MPI_Wait(request, &end);
    if (status == MPI_SUCCESS) status = MPI_Test_cancelled(&end, &cancelled);
    free(request);
    return status == MPI_SUCCESS ? !cancelled : -1;
}

/* Returns whether a message from `from` waits to be received, with its bytes and its tag; negative: MPI
 * failed. */
int kf_mpi_probe(int from, int channel, int *bytes, int *tag) {
    int waits = 0;
    MPI_Status found;
    int status = MPI_Iprobe(from, MPI_ANY_TAG, channels[channel], &waits, &found);
    if (status == MPI_SUCCESS && waits) status = MPI_Get_count(&found, MPI_BYTE, bytes);
    if (status != MPI_SUCCESS) return -1;
    if (waits) *tag = found.MPI_TAG;
    return waits;
}
