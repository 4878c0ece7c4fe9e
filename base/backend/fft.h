/* Fourier transforms of a library as work in a stream: cuFFT on cuda, FFTW on the cpu. Both are looked for at
 * run time. Where one is missing, everything else works. */
#ifndef KF_BASE_BACKEND_FFT_H
#define KF_BASE_BACKEND_FFT_H

#include "base/backend/backend.h"

typedef enum kf_fft_kind {
    KF_FFT_COMPLEX,       /* either direction; input and output have the same layout */
    KF_FFT_REAL_TO_MODES, /* forward: rows of n reals to n / 2 + 1 modes */
    KF_FFT_MODES_TO_REAL  /* inverse */
} kf_fft_kind;

/* An unnormalised transform of `batch` arrays of 1 to 3 dimensions. size: of the real (or complex) array,
 * slowest axis first. Rows of reals lie real_row reals apart: n for the last axis, 2 (n / 2 + 1) in place.
 * Arrays lie real_distance reals, or mode_distance modes, apart; complex arrays lie mode_distance complex
 * values apart. */
typedef struct kf_fft_shape {
    kf_fft_kind kind;
    bool double_precision;
    int dimensions, size[3], batch;
    int real_row;
    long real_distance, mode_distance;
} kf_fft_shape;

typedef struct kf_fft kf_fft;

/* KF_MACHINE, with what is missing and the cure, where there is no such library. */
kf_status kf_fft_available(const char *backend, kf_error *error);
/* Plans a transform and allocates its work area. It overwrites the buffers, because the libraries measure;
 * input and output may be the same. sign: -1 forward, 1 inverse. Offsets are in bytes. Planning can take
 * seconds and must not happen while a graph is recorded. */
kf_status kf_fft_create(kf_backend *backend, const kf_fft_shape *shape, int sign, kf_buffer *input,
                        size_t input_offset, kf_buffer *output, size_t output_offset, kf_fft **fft,
                        kf_error *error);
void kf_fft_free(kf_fft *fft);
/* A kf_call_function: the object is a kf_fft. */
kf_status kf_fft_enqueue(void *object, kf_stream *stream, kf_error *error);
/* Returns the library's version, "cuFFT 12.0.0" or "FFTW 3.3.10, 16 threads", which is part of a plan's
 * hash. */
const char *kf_fft_version(const kf_fft *fft);

#endif
