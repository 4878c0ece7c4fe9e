/* Replaces the host's header. NVRTC has the mathematical functions without it. */
#ifndef M_PI
#define M_E       2.7182818284590452354
#define M_LN2     0.69314718055994530942
#define M_PI      3.14159265358979323846
#define M_PI_2    1.57079632679489661923
#define M_SQRT1_2 0.70710678118654752440
#define M_SQRT2   1.41421356237309504880
#endif
