/* Text in an outline font, drawn by FreeType. The font is the file named by KFTUNE_FONT, else
 * fonts/DejaVuSans.ttf in the data folder, else DejaVu Sans or Liberation Sans in Debian's folders. Only one
 * thread at a time may use it. */
#ifndef KF_SOLVER_PICTURE_FACE_H
#define KF_SOLVER_PICTURE_FACE_H

#include <stdbool.h>

#include "solver/picture/canvas.h"

/* Selects a font file; NULL: the default above; "": none. False: there is no font, and pictures use the
 * bitmap font of font.h. The first text calls it with NULL. */
bool kf_face_use(const char *file);
bool kf_face_there(void);

/* Returns the width of UTF-8 text in pixels. Invalid bytes, and characters that the font lacks, become a box.
 * size: pixels of an em. */
int kf_face_width(const char *text, int size);
/* Draws text whose first letter stands at (x, baseline). */
void kf_face_draw(kf_canvas *canvas, int x, int baseline, int size, kf_colour colour, const char *text);

#endif
