#include "solver/picture/canvas.h"

#include <math.h>
#include <png.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "solver/picture/face.h"
#include "solver/picture/font.h"

void kf_canvas_begin(kf_canvas *canvas, int width, int height, kf_colour background) {
    canvas->width = width;
    canvas->height = height;
    canvas->pixels = kf_allocate((size_t)width * (size_t)height * 3);
    kf_canvas_fill(canvas, 0, 0, width, height, background);
}

void kf_canvas_free(kf_canvas *canvas) {
    free(canvas->pixels);
    *canvas = (kf_canvas){0};
}

void kf_canvas_blend(kf_canvas *canvas, int x, int y, kf_colour colour, double share) {
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height) return;
    unsigned char *pixel = canvas->pixels + ((size_t)y * (size_t)canvas->width + (size_t)x) * 3;
    const unsigned char wanted[3] = {colour.red, colour.green, colour.blue};
    for (int c = 0; c < 3; c++) {
        pixel[c] = (unsigned char)((1 - share) * pixel[c] + share * wanted[c] + 0.5);
    }
}

void kf_canvas_fill(kf_canvas *canvas, int x, int y, int width, int height, kf_colour colour) {
    for (int row = y; row < y + height; row++) {
        for (int column = x; column < x + width; column++) {
            kf_canvas_blend(canvas, column, row, colour, 1);
        }
    }
}

void kf_canvas_frame(kf_canvas *canvas, int x, int y, int width, int height, kf_colour colour) {
    kf_canvas_fill(canvas, x, y, width, 1, colour);
    kf_canvas_fill(canvas, x, y + height - 1, width, 1, colour);
    kf_canvas_fill(canvas, x, y, 1, height, colour);
    kf_canvas_fill(canvas, x + width - 1, y, 1, height, colour);
}

/* Returns the pixels of an em of the outline font that is about as large as the bitmap font at this scale; 0:
 * there is no outline font. */
static int face_size(int scale) {
    static bool looked;
    if (!looked) (void)kf_face_use(NULL);
    looked = true;
    return kf_face_there() ? (17 * scale + 1) / 2 : 0;
}

/* Writes a text with FreeType's face, or where there is none with the small font of the program. */
void kf_canvas_text(kf_canvas *canvas, int x, int y, int scale, kf_colour colour, const char *text) {
    const int size = face_size(scale);
    if (size > 0) {
        kf_face_draw(canvas, x, y + KF_GLYPH_HEIGHT * scale, size, colour, text);
        return;
    }
    for (; *text; text++, x += KF_GLYPH_ADVANCE * scale) {
        const unsigned char *glyph = kf_glyph(*text);
        int top = y + kf_glyph_drop(*text) * scale;
        for (int row = 0; row < KF_GLYPH_HEIGHT; row++) {
            for (int column = 0; column < KF_GLYPH_WIDTH; column++) {
                if (!(glyph[row] >> (KF_GLYPH_WIDTH - 1 - column) & 1)) continue;
                kf_canvas_fill(canvas, x + column * scale, top + row * scale, scale, scale, colour);
            }
        }
    }
}

int kf_text_width(const char *text, int scale) {
    const int length = (int)strlen(text), size = face_size(scale);
    if (size > 0) return kf_face_width(text, size);
    return length ? (length * KF_GLYPH_ADVANCE - (KF_GLYPH_ADVANCE - KF_GLYPH_WIDTH)) * scale : 0;
}

/* Writes a canvas as a PNG file, whole or not at all. */
kf_status kf_canvas_write_png(const kf_canvas *canvas, const char *path, kf_error *error) {
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)canvas->width,
                       .height = (png_uint_32)canvas->height,
                       .format = PNG_FORMAT_RGB};
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *memory = kf_allocate(size);
    kf_status status;
    if (png_image_write_to_memory(&image, memory, &size, 0, canvas->pixels, 0, NULL)) {
        status = kf_file_write_atomic(path, memory, size, error);
    } else {
        status = kf_fail(error, KF_HOST, "%s: cannot encode the picture: %s", path, image.message);
    }
    png_image_free(&image);
    free(memory);
    return status;
}
