/* Reads the multiprocessors' clocks on the way: from cycles and nanoseconds before, how many cycles passed,
 * and how much time. */
#include "../portable.h"

typedef struct clock_arguments {
    int extent[3];
    int slot, slots; /* readings are [multiprocessor][slot][2]: cycles, nanoseconds */
    int multiprocessors;
    long long *readings;
} clock_arguments;

/* Reads a multiprocessor's cycle counter and the GPU's clock in ns, from whose differences its frequency
 * follows. */
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
    a->readings[2 * a->slot] = a->readings[2 * a->slot + 1] = 0; /* a processor's cores do not tell */
#endif
}
