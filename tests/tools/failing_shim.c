/* A shim for MPI (kernels/mpi/shim.c) that refuses all messages from a number on: the
 * KFTUNE_TEST_MESSAGE-th that a process sends, receives or takes part in. tests/e2e/ranks-fail.sh builds
 * it. It is not part of any program. */
#ifdef KF_FAILING_SHIM
#define kf_mpi_send    real_send
#define kf_mpi_receive real_receive
#define kf_mpi_sum     real_sum
#define kf_mpi_share   real_share
#include "kernels/mpi/shim.c"
#undef kf_mpi_send
#undef kf_mpi_receive
#undef kf_mpi_sum
#undef kf_mpi_share

/* The watchdog has a channel of its own, which works until the end. */
static int refuses(int channel) {
    static int messages;
    const char *number = getenv("KFTUNE_TEST_MESSAGE");
    return channel != 1 && number != NULL && atoi(number) > 0 && ++messages >= atoi(number);
}

void *kf_mpi_send(const void *data, int bytes, int to, int tag, int channel) {
    return refuses(channel) ? NULL : real_send(data, bytes, to, tag, channel);
}

void *kf_mpi_receive(void *data, int bytes, int from, int tag, int channel) {
    return refuses(channel) ? NULL : real_receive(data, bytes, from, tag, channel);
}

void *kf_mpi_sum(int64_t *values, int count) {
    return refuses(0) ? NULL : real_sum(values, count);
}

void *kf_mpi_share(void *data, int bytes, int from) {
    return refuses(0) ? NULL : real_share(data, bytes, from);
}
#endif
