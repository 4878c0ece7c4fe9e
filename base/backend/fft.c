#include "base/backend/fft.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/backend/library.h"
#include "base/util/memory.h"

struct kf_fft {
    bool cuda;
    kf_fft_shape shape;
    int sign;
    void *input, *output;
    char version[48];
    int handle; /* cuFFT's */
    /* The work area of cuFFT. */
    kf_buffer *area;
    void *plan; /* FFTW's */
};

/* --- CuFFT ---------------------------------------------------------------------------------------------- */

/* The used part of cuFFT's interface. The numbers are those of cufft.h. */
enum {
    CUFFT_R2C = 0x2a,
    CUFFT_C2R = 0x2c,
    CUFFT_C2C = 0x29,
    CUFFT_D2Z = 0x6a,
    CUFFT_Z2D = 0x6c,
    CUFFT_Z2Z = 0x69
};

static struct cufft {
    int (*create)(int *plan);
    int (*set_auto_allocation)(int plan, int automatic);
    int (*make_plan_many)(int plan, int rank, long long *n, long long *input_embed, long long input_stride,
                          long long input_distance, long long *output_embed, long long output_stride,
                          long long output_distance, int type, long long batch, size_t *work_size);
    int (*set_work_area)(int plan, void *area);
    int (*set_stream)(int plan, void *stream);
    int (*destroy)(int plan);
    int (*get_version)(int *version);
    int (*execute_c2c)(int, void *, void *, int), (*execute_z2z)(int, void *, void *, int);
    int (*execute_r2c)(int, void *, void *), (*execute_d2z)(int, void *, void *);
    int (*execute_c2r)(int, void *, void *), (*execute_z2d)(int, void *, void *);
} cufft;

#define CUFFT_ENTRY(name, member)                                                                            \
    { "cufft" #name, offsetof(struct cufft, member), false }
static const kf_symbol cufft_symbols[] = {
    CUFFT_ENTRY(Create, create),
    CUFFT_ENTRY(SetAutoAllocation, set_auto_allocation),
    CUFFT_ENTRY(MakePlanMany64, make_plan_many),
    CUFFT_ENTRY(SetWorkArea, set_work_area),
    CUFFT_ENTRY(SetStream, set_stream),
    CUFFT_ENTRY(Destroy, destroy),
    CUFFT_ENTRY(GetVersion, get_version),
    CUFFT_ENTRY(ExecC2C, execute_c2c),
    CUFFT_ENTRY(ExecZ2Z, execute_z2z),
    CUFFT_ENTRY(ExecR2C, execute_r2c),
    CUFFT_ENTRY(ExecD2Z, execute_d2z),
    CUFFT_ENTRY(ExecC2R, execute_c2r),
    CUFFT_ENTRY(ExecZ2D, execute_z2d),
};
#undef CUFFT_ENTRY

static const char *const cufft_names[] = {"libcufft.so.12", "libcufft.so.11", "libcufft.so.13", "libcufft.so",
                                          NULL};
static const kf_library cufft_library = {
    .override = "KFTUNE_CUFFT",
    .names = cufft_names,
    .folders = kf_cuda_folders,
    .cure = "install cuFFT with the CUDA toolkit, or name its file in $KFTUNE_CUFFT; plans with transforms "
            "of their own need none",
    .symbols = cufft_symbols,
    .symbol_count = sizeof cufft_symbols / sizeof *cufft_symbols,
};

static kf_status load_cufft(kf_error *error) {
    static bool loaded;
    char file[KF_PATH];
    if (loaded) return KF_OK;
    KF_TRY(kf_library_load(&cufft_library, &cufft, file, error));
    loaded = true;
    return KF_OK;
}

static int cufft_type(const kf_fft_shape *shape) {
    static const int types[3][2] = {{CUFFT_C2C, CUFFT_Z2Z}, {CUFFT_R2C, CUFFT_D2Z}, {CUFFT_C2R, CUFFT_Z2D}};
    return types[shape->kind][shape->double_precision];
}

static kf_status cufft_failed(int result, const char *where, kf_error *error) {
    return kf_fail(error, KF_MACHINE, "cuFFT: %s failed with %d", where, result);
}

/* Makes cuFFT's plan of a transform, with a work area of our own. */
static kf_status plan_cufft(kf_backend *backend, kf_fft *fft, kf_error *error) {
    const kf_fft_shape *s = &fft->shape;
    long long n[3], real[3], modes[3];
    const int last = s->dimensions - 1;
    for (int i = 0; i < s->dimensions; i++)
        n[i] = real[i] = modes[i] = s->size[i];
    if (s->kind != KF_FFT_COMPLEX) real[last] = s->real_row, modes[last] = s->size[last] / 2 + 1;
    const bool forward = s->kind == KF_FFT_REAL_TO_MODES, inverse = s->kind == KF_FFT_MODES_TO_REAL;
    const long long input_distance = forward ? s->real_distance : s->mode_distance;
    const long long output_distance = inverse ? s->real_distance : s->mode_distance;
    size_t bytes = 0;
    int result = cufft.create(&fft->handle);
    if (result != 0) return cufft_failed(result, "cufftCreate", error);
    result = cufft.set_auto_allocation(fft->handle, 0);
    if (result == 0)
        result =
            cufft.make_plan_many(fft->handle, s->dimensions, n, forward ? real : modes, 1, input_distance,
                                 inverse ? real : modes, 1, output_distance, cufft_type(s), s->batch, &bytes);
    if (result != 0) return cufft_failed(result, "cufftMakePlanMany64", error);
    KF_TRY(kf_buffer_create(backend, bytes > 0 ? bytes : 1, &fft->area, error));
    result = cufft.set_work_area(fft->handle, kf_buffer_address(fft->area));
    int version = 0;
    (void)cufft.get_version(&version);
    (void)snprintf(fft->version, sizeof fft->version, "cuFFT %d.%d.%d", version / 1000, version / 100 % 10,
                   version % 100);
    return result == 0 ? KF_OK : cufft_failed(result, "cufftSetWorkArea", error);
}

static kf_status execute_cufft(const kf_fft *fft, kf_stream *stream, kf_error *error) {
    const bool wide = fft->shape.double_precision;
    int result = cufft.set_stream(fft->handle, kf_stream_handle(stream));
    if (result != 0) return cufft_failed(result, "cufftSetStream", error);
    if (fft->shape.kind == KF_FFT_COMPLEX)
        result =
            (wide ? cufft.execute_z2z : cufft.execute_c2c)(fft->handle, fft->input, fft->output, fft->sign);
    else if (fft->shape.kind == KF_FFT_REAL_TO_MODES)
        result = (wide ? cufft.execute_d2z : cufft.execute_r2c)(fft->handle, fft->input, fft->output);
    else
        result = (wide ? cufft.execute_z2d : cufft.execute_c2r)(fft->handle, fft->input, fft->output);
    return result == 0 ? KF_OK : cufft_failed(result, "cufftExec", error);
}

/* --- FFTW ----------------------------------------------------------------------------------------------- */

/* The functions of one precision. Their names differ only by a prefix. */
typedef struct fftw {
    bool loaded;
    void *(*plan_c2c)(int, const int *, int, void *, const int *, int, int, void *, const int *, int, int,
                      int, unsigned);
    void *(*plan_r2c)(int, const int *, int, void *, const int *, int, int, void *, const int *, int, int,
                      unsigned);
    void *(*plan_c2r)(int, const int *, int, void *, const int *, int, int, void *, const int *, int, int,
                      unsigned);
    void (*execute)(void *);
    void (*destroy)(void *);
    int (*init_threads)(void);
    void (*plan_with_threads)(int);
    const char *version;
} fftw;
static fftw single_precision, double_precision;

#define FFTW_SYMBOLS(prefix)                                                                                 \
    {                                                                                                        \
        {prefix "_plan_many_dft", offsetof(fftw, plan_c2c), false},                                          \
            {prefix "_plan_many_dft_r2c", offsetof(fftw, plan_r2c), false},                                  \
            {prefix "_plan_many_dft_c2r", offsetof(fftw, plan_c2r), false},                                  \
            {prefix "_execute", offsetof(fftw, execute), false},                                             \
            {prefix "_destroy_plan", offsetof(fftw, destroy), false},                                        \
            {prefix "_init_threads", offsetof(fftw, init_threads), true},                                    \
            {prefix "_plan_with_nthreads", offsetof(fftw, plan_with_threads), true},                         \
            {prefix "_version", offsetof(fftw, version), true},                                              \
    }
enum { FFTW_SYMBOL_COUNT = 8 };
static const kf_symbol fftw_symbols[2][FFTW_SYMBOL_COUNT] = {FFTW_SYMBOLS("fftwf"), FFTW_SYMBOLS("fftw")};
#undef FFTW_SYMBOLS
/* The library with threads loads the other one. */
static const char *const fftw_names[2][3] = {{"libfftw3f_threads.so.3", "libfftw3f.so.3", NULL},
                                             {"libfftw3_threads.so.3", "libfftw3.so.3", NULL}};

/* Loads FFTW in single or double precision, once. */
static kf_status load_fftw(bool wide, kf_error *error) {
    static const char *const folders[] = {NULL};
    fftw *f = wide ? &double_precision : &single_precision;
    char file[KF_PATH];
    const kf_library library = {
        .names = fftw_names[wide],
        .folders = folders,
        .cure = "install FFTW (Debian: libfftw3-dev); plans with transforms of their own need none",
        .symbols = fftw_symbols[wide],
        .symbol_count = FFTW_SYMBOL_COUNT,
    };
    if (f->loaded) return KF_OK;
    KF_TRY(kf_library_load(&library, f, file, error));
    if (f->init_threads == NULL || f->init_threads() == 0) f->plan_with_threads = NULL;
    if (f->version == NULL) f->version = "fftw";
    f->loaded = true;
    return KF_OK;
}

/* Makes FFTW's plan of a transform, measured, on as many threads as the device has. */
static kf_status plan_fftw(const kf_backend *backend, kf_fft *fft, kf_error *error) {
    enum { MEASURE = 0 };
    const kf_fft_shape *s = &fft->shape;
    const fftw *f = s->double_precision ? &double_precision : &single_precision;
    const int threads = kf_backend_device(backend)->multiprocessors, last = s->dimensions - 1;
    int real[3], modes[3];
    for (int i = 0; i < s->dimensions; i++)
        real[i] = modes[i] = s->size[i];
    if (s->kind != KF_FFT_COMPLEX) real[last] = s->real_row, modes[last] = s->size[last] / 2 + 1;
    if (f->plan_with_threads != NULL) f->plan_with_threads(threads);
    const int real_distance = (int)s->real_distance, mode_distance = (int)s->mode_distance;
    if (s->kind == KF_FFT_COMPLEX)
        fft->plan = f->plan_c2c(s->dimensions, s->size, s->batch, fft->input, modes, 1, mode_distance,
                                fft->output, modes, 1, mode_distance, fft->sign, MEASURE);
    else if (s->kind == KF_FFT_REAL_TO_MODES)
        fft->plan = f->plan_r2c(s->dimensions, s->size, s->batch, fft->input, real, 1, real_distance,
                                fft->output, modes, 1, mode_distance, MEASURE);
    else
        fft->plan = f->plan_c2r(s->dimensions, s->size, s->batch, fft->input, modes, 1, mode_distance,
                                fft->output, real, 1, real_distance, MEASURE);
    /* "fftw-3.3.10-sse2-avx" */
    (void)snprintf(fft->version, sizeof fft->version, "%.24s, %d threads", f->version,
                   f->plan_with_threads != NULL ? threads : 1);
    return fft->plan != NULL ? KF_OK : kf_fail(error, KF_MACHINE, "FFTW has no plan for this transform");
}

/* --- Either --------------------------------------------------------------------------------------------- */

kf_status kf_fft_available(const char *backend, kf_error *error) {
    return strcmp(backend, "cuda") == 0 ? load_cufft(error) : load_fftw(false, error);
}

kf_status kf_fft_create(kf_backend *backend, const kf_fft_shape *shape, int sign, kf_buffer *input,
                        size_t input_offset, kf_buffer *output, size_t output_offset, kf_fft **fft,
                        kf_error *error) {
    const bool cuda = strcmp(kf_backend_device(backend)->backend, "cuda") == 0;
    KF_TRY(cuda ? load_cufft(error) : load_fftw(shape->double_precision, error));
    kf_fft *made = kf_allocate_zeroed(1, sizeof *made);
    made->cuda = cuda;
    made->shape = *shape;
    made->sign = sign;
    made->input = (char *)kf_buffer_address(input) + input_offset;
    made->output = (char *)kf_buffer_address(output) + output_offset;
    made->handle = -1;
    const kf_status status = cuda ? plan_cufft(backend, made, error) : plan_fftw(backend, made, error);
    if (status != KF_OK)
        kf_fft_free(made);
    else
        *fft = made;
    return status;
}

void kf_fft_free(kf_fft *fft) {
    if (fft == NULL) return;
    if (fft->cuda && fft->handle >= 0) (void)cufft.destroy(fft->handle);
    if (fft->plan != NULL)
        (fft->shape.double_precision ? &double_precision : &single_precision)->destroy(fft->plan);
    if (fft->area != NULL) kf_buffer_free(fft->area);
    free(fft);
}

kf_status kf_fft_enqueue(void *object, kf_stream *stream, kf_error *error) {
    const kf_fft *fft = object;
    if (fft->cuda) return execute_cufft(fft, stream, error);
    (fft->shape.double_precision ? &double_precision : &single_precision)->execute(fft->plan);
    return KF_OK;
}

const char *kf_fft_version(const kf_fft *fft) {
    return fft->version;
}
