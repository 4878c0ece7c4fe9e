/* Reads PNG files. */
#ifndef KF_TESTS_UNIT_PNG_PIXELS_H
#define KF_TESTS_UNIT_PNG_PIXELS_H

#include <png.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/util/memory.h"

typedef struct pixels {
    int width, height;
    unsigned char *rgb; /* [height][width][3] */
} pixels;

/* Caller frees rgb. */
static inline pixels read_png(const char *path) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path));
    image.format = PNG_FORMAT_RGB;
    pixels read = {(int)image.width, (int)image.height, kf_allocate(PNG_IMAGE_SIZE(image))};
    assert_true(png_image_finish_read(&image, NULL, read.rgb, 0, NULL));
    return read;
}

#endif
