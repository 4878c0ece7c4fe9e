/* Reads the multiprocessors' clocks during a measurement. From two readings follow the cycles and the
 * nanoseconds that have passed, and so the frequency. */
#include "../portable.h"

typedef struct clock_arguments {
    int extent[3];
    int slot, slots; /* readings are [multiprocessor][slot][2]: cycles, nanoseconds */
    int multiprocessors;
    long long *readings;
} clock_arguments;

/* Reads each multiprocessor's cycle counter and the GPU's clock in nanoseconds. */
KF_SCALAR_KERNEL(read_clock, clock_arguments) {
    (void)x;
    (void)y;
    (void)z;
#if KF_CUDA
    unsigned processor;
    long long cycles, nanoseconds;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    if ((int)processor < a->multiprocessors) {
        long long *reading = a->readings + 2 * ((kf_int64)processor * a->slots + a->slot);
        reading[0] = cycles;
        reading[1] = nanoseconds;
    }
#else
    a->readings[2 * a->slot] = a->readings[2 * a->slot + 1] = 0; /* a cpu's cores have no such clock */
#endif
}
