/* A small RGB picture in memory: rectangles, text, blending, and its PNG file. Pixel (0,0) is the upper left.
 */
#ifndef KF_SOLVER_PICTURE_CANVAS_H
#define KF_SOLVER_PICTURE_CANVAS_H

#include "base/util/status.h"
#include "solver/picture/colour_map.h"

typedef struct kf_canvas {
    int width, height;
    unsigned char *pixels; /* [height][width][3]; owned */
} kf_canvas;

/* Makes a picture of one colour; free its pixels with kf_canvas_free. */
void kf_canvas_begin(kf_canvas *canvas, int width, int height, kf_colour background);
void kf_canvas_free(kf_canvas *canvas);

/* Everything outside the picture is left out. share: 0 keeps what is there, 1 replaces it. */
void kf_canvas_blend(kf_canvas *canvas, int x, int y, kf_colour colour, double share);
void kf_canvas_fill(kf_canvas *canvas, int x, int y, int width, int height, kf_colour colour);
void kf_canvas_frame(kf_canvas *canvas, int x, int y, int width, int height, kf_colour colour);

/* (x,y): upper left corner of the text, whose capitals are about 7 scale pixels high: in an outline font
 * where there is one (face.h), else in the bitmap font, of which every pixel becomes scale x scale pixels. */
void kf_canvas_text(kf_canvas *canvas, int x, int y, int scale, kf_colour colour, const char *text);
int kf_text_width(const char *text, int scale);

/* Written whole or not at all. */
kf_status kf_canvas_write_png(const kf_canvas *canvas, const char *path, kf_error *error);

#endif
