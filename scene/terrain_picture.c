/* Reads heights from a PNG picture. Its samples are numbers: black is low and white is high. Its curves for
 * screens (gAMA, sRGB) describe light and are ignored, so the PNG is read sample by sample. */
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "scene/terrain_internal.h"

typedef struct reader {
    const char *name;
    /* The content of the file. */
    char *content;
    size_t size, at;
    png_structp png;
    png_infop info;
    /* One row, or all rows of an interlaced picture. */
    unsigned char *rows;
    char why[128];
} reader;

static void on_error(png_structp png, png_const_charp message) {
    reader *r = png_get_error_ptr(png);
    kf_copy_text(r->why, sizeof r->why, message);
    longjmp(png_jmpbuf(png), 1);
}

static void give(png_structp png, png_bytep into, size_t count) {
    reader *r = png_get_io_ptr(png);
    if (count > r->size - r->at) png_error(png, "it ends too early");
    memcpy(into, r->content + r->at, count);
    r->at += count;
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

/* The layout of a pixel: one or three samples of 8 or 16 bits, with or without opacity. */
typedef struct layout {
    size_t columns, rows, channels, bytes, row_bytes;
    bool opacity, colours;
} layout;

static unsigned sample_at(const layout *l, const unsigned char *pixel, size_t channel) {
    const unsigned char *at = pixel + channel * l->bytes;
    return l->bytes == 1 ? at[0] : (unsigned)at[0] << 8 | at[1];
}

static kf_status take_row(const reader *r, const layout *l, const unsigned char *row, size_t number,
                          double low, double high, kf_terrain *terrain, kf_error *error) {
    const double most = l->bytes == 1 ? 255.0 : 65535.0;
    for (size_t c = 0; c < l->columns; c++) {
        const unsigned char *pixel = row + c * l->channels * l->bytes;
        const unsigned grey = sample_at(l, pixel, 0);
        if (l->opacity && sample_at(l, pixel, l->channels - 1) == 0)
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: row %zu, column %zu is transparent: it has no height; cut the picture or fill "
                "the gap",
                r->name, number + 1, c + 1);
        if (l->colours && (sample_at(l, pixel, 1) != grey || sample_at(l, pixel, 2) != grey))
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: row %zu, column %zu is rgb(%u, %u, %u): heights are greys, not colours; make "
                           "it a grey picture",
                           r->name, number + 1, c + 1, grey, sample_at(l, pixel, 1), sample_at(l, pixel, 2));
        terrain->heights[c * l->rows + l->rows - 1 - number] = low + (high - low) * grey / most;
    }
    return KF_OK;
}

/* Reads the samples. libpng may leave this function by a jump, so the reader owns all that is allocated here.
 */
static kf_status read_samples(reader *r, double low, double high, kf_terrain *terrain, kf_error *error) {
    if (setjmp(png_jmpbuf(r->png)) != 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: the PNG picture is damaged: %s", r->name, r->why);
    png_set_read_fn(r->png, r, give);
    png_set_user_limits(r->png, KF_TERRAIN_NODES, KF_TERRAIN_NODES);
    png_read_info(r->png, r->info);
    KF_TRY(kf_terrain_reserve(r->name, terrain, png_get_image_width(r->png, r->info),
                              png_get_image_height(r->png, r->info), error));
    /* Expands palettes, fewer than 8 bits, and a colour that counts as transparent. */
    png_set_expand(r->png);
    const int passes = png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
    layout l = {.columns = (size_t)terrain->nodes[0],
                .rows = (size_t)terrain->nodes[1],
                .channels = png_get_channels(r->png, r->info),
                .bytes = png_get_bit_depth(r->png, r->info) / 8U,
                .row_bytes = png_get_rowbytes(r->png, r->info)};
    l.opacity = l.channels % 2 == 0;
    l.colours = l.channels >= 3;
    r->rows = kf_allocate((passes > 1 ? l.rows : 1) * l.row_bytes);
    for (int pass = 0; pass < passes; pass++)
        for (size_t row = 0; row < l.rows; row++) {
            unsigned char *into = r->rows + (passes > 1 ? row * l.row_bytes : 0);
            png_read_row(r->png, into, NULL);
            if (pass + 1 == passes) KF_TRY(take_row(r, &l, into, row, low, high, terrain, error));
        }
    png_read_end(r->png, NULL);
    return KF_OK;
}

kf_status kf_terrain_read_picture(const char *file, double low, double high, kf_terrain *terrain,
                                  kf_error *error) {
    static const size_t LARGEST_FILE = (size_t)2 << 30, SIGNATURE = 8;
    reader r = {.name = file};
    KF_TRY(kf_file_read(file, LARGEST_FILE, &r.content, &r.size, error));
    kf_status status = KF_OK;
    if (r.size < SIGNATURE || png_sig_cmp((png_const_bytep)r.content, 0, SIGNATURE) != 0)
        status = kf_fail(error, KF_BAD_INPUT, "%s: is no PNG picture", file);
    if (status == KF_OK) r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, on_error, on_warning);
    if (r.png != NULL) r.info = png_create_info_struct(r.png);
    if (status == KF_OK)
        status = r.info != NULL ? read_samples(&r, low, high, terrain, error)
                                : kf_fail(error, KF_MACHINE, "%s: out of memory", file);
    if (r.png != NULL) png_destroy_read_struct(&r.png, &r.info, NULL);
    free(r.content);
    free(r.rows);
    return status;
}
