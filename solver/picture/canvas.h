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

/* Makes a picture of one colour. kf_canvas_free frees its pixels. */
void kf_canvas_begin(kf_canvas *canvas, int width, int height, kf_colour background);
void kf_canvas_free(kf_canvas *canvas);

/* Draw into the picture; parts outside it are ignored. share: 0 keeps the present colour, 1 replaces it. */
void kf_canvas_blend(kf_canvas *canvas, int x, int y, kf_colour colour, double share);
void kf_canvas_fill(kf_canvas *canvas, int x, int y, int width, int height, kf_colour colour);
void kf_canvas_frame(kf_canvas *canvas, int x, int y, int width, int height, kf_colour colour);

/* Draws text. (x,y): its upper left corner; capitals are about 7 scale pixels high. It uses an outline font
 * if there is one (face.h). In the bitmap font every pixel becomes scale x scale pixels. */
void kf_canvas_text(kf_canvas *canvas, int x, int y, int scale, kf_colour colour, const char *text);
int kf_text_width(const char *text, int scale);

/* Writes a PNG file, which appears whole or not at all. */
kf_status kf_canvas_write_png(const kf_canvas *canvas, const char *path, kf_error *error);

#endif
