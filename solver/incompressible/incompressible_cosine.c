/* Cosine transforms of a pressure: chooses their axes, and makes tables and launches. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/incompressible/incompressible.h"

static const double pi = 3.14159265358979323846;

int kf_incompressible_cosine_radices(int cells, int radices[KF_COSINE_STAGES]) {
    int count = 0;
    for (; cells % 4 == 0 && count < KF_COSINE_STAGES; cells /= 4)
        radices[count++] = 4;
    for (int factor = 2; cells > 1 && count < KF_COSINE_STAGES; factor++)
        for (; cells % factor == 0 && count < KF_COSINE_STAGES; cells /= factor)
            radices[count++] = factor;
    return cells == 1 ? count : 0;
}

int kf_incompressible_cosine_pairs(int cells, size_t real_bytes) {
    enum { SHARED = 48 * 1024, MOST = 16 };
    int pairs = MOST;
    while (pairs > 0 && (size_t)pairs * (size_t)cells * 4 * real_bytes > SHARED)
        pairs /= 2;
    return pairs;
}

static bool has_cosines(const kf_scene *scene, int axis) {
    int radices[KF_COSINE_STAGES];
    for (int face = 2 * axis; face < 2 * axis + 2; face++)
        if (scene->faces[face] == KF_OUTFLOW || scene->faces[face] == KF_PERIODIC) return false;
    return kf_incompressible_cosine_radices(scene->nodes[axis], radices) > 0 &&
           kf_incompressible_cosine_pairs(scene->nodes[axis], sizeof(double)) > 0;
}

/* Chooses the axes of cosine transforms. The third axis may have outflows, but must not be periodic. When all
 * axes are possible, it is x. */
bool kf_incompressible_cosine_axes(const kf_scene *scene, int axes[2]) {
    int count = 0;
    for (int axis = 2; axis >= 0 && count < 2; axis--)
        if (has_cosines(scene, axis)) axes[count++] = axis;
    if (count < 2) return false;
    const int stream = 3 - axes[0] - axes[1], lower = axes[1];
    axes[1] = axes[0];
    axes[0] = lower;
    return scene->faces[2 * stream] != KF_PERIODIC;
}

static kf_status upload(kf_plan *plan, const double *values, size_t count, size_t real_bytes,
                        kf_buffer **buffer, kf_error *error) {
    float *single = kf_allocate(count * sizeof *single);
    for (size_t i = 0; i < count; i++)
        single[i] = (float)values[i];
    const kf_status status =
        kf_plan_buffer_of(plan, real_bytes == sizeof(double) ? (const void *)values : single,
                          count * real_bytes, buffer, error);
    free(single);
    return status;
}

/* Makes and uploads the roots and the eigenvalues of the two axes along which cosine transforms solve the
 * pressure. */
kf_status kf_incompressible_make_cosines(kf_plan *plan, kf_incompressible *s, kf_error *error) {
    for (int i = 0; i < 2; i++) {
        const size_t n = (size_t)s->levels[0].cells[s->cosine_axes[i]];
        double *roots = kf_allocate(4 * n * sizeof *roots), *modes = kf_allocate(n * sizeof *modes);
        for (size_t k = 0; k < n; k++) {
            const double turn = 2.0 * pi * (double)k / (double)n;
            roots[2 * k] = cos(turn);
            roots[2 * k + 1] = -sin(turn);
            roots[2 * (n + k)] = cos(0.25 * turn);
            roots[2 * (n + k) + 1] = -sin(0.25 * turn);
            modes[k] = 2.0 - 2.0 * cos(0.5 * turn);
        }
        kf_status status = upload(plan, roots, 4 * n, s->real_bytes, &s->roots[i], error);
        if (status == KF_OK) status = upload(plan, modes, n, s->real_bytes, &s->modes[i], error);
        free(roots);
        free(modes);
        KF_TRY(status);
        s->arguments.modes[i] = kf_buffer_address(s->modes[i]);
    }
    return KF_OK;
}

static void transform(kf_incompressible_builder *b, int which, bool back, void *from,
                      const kf_incompressible_arguments *arguments) {
    const kf_incompressible *s = b->system;
    kf_incompressible_arguments a = *arguments;
    const int axis = s->cosine_axes[which], beside = axis == 0 ? 1 : 0, deep = 3 - axis - beside,
              lines = 2 * kf_incompressible_cosine_pairs(a.cells[axis], s->real_bytes);
    a.guess = from;
    a.compact = kf_buffer_address(s->roots[which]);
    a.blocks = (a.cells[beside] + lines - 1) / lines * a.cells[deep];
    kf_incompressible_launch(b, which == 0 ? KF_INCOMPRESSIBLE_COSINE : KF_INCOMPRESSIBLE_COSINE_SECOND,
                             back ? "cosines_back" : "cosines", NULL, &a,
                             2.0 * a.cells[0] * a.cells[1] * (double)a.cells[2] * (double)s->real_bytes);
}

void kf_incompressible_cosines(kf_incompressible_builder *b, const kf_incompressible_arguments *arguments) {
    const kf_incompressible *s = b->system;
    const kf_incompressible_arguments *a = arguments;
    const int extent[3] = {a->cells[s->cosine_axes[0]], a->cells[s->cosine_axes[1]], 1};
    transform(b, 0, false, a->residual, a);
    transform(b, 1, false, a->corrected, a);
    kf_incompressible_launch(b, KF_INCOMPRESSIBLE_COSINE, "tridiagonal", extent, a,
                             5.0 * a->cells[0] * a->cells[1] * (double)a->cells[2] * (double)s->real_bytes);
    transform(b, 1, true, a->corrected, a);
    transform(b, 0, true, a->corrected, a);
}
