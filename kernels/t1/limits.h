/* Replaces the host's header, which NVRTC does not have. */
#ifndef INT_MAX
#define INT_MAX  0x7fffffff
#define INT_MIN  (-INT_MAX - 1)
#define UINT_MAX 0xffffffff
#endif
