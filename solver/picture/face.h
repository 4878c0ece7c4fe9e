/* Text in an outline font, by FreeType. The font is the file that KFTUNE_FONT names, else
 * fonts/DejaVuSans.ttf in the data folder, else DejaVu Sans or Liberation Sans where Debian has them. Not for
 * several threads at once. */
#ifndef KF_SOLVER_PICTURE_FACE_H
#define KF_SOLVER_PICTURE_FACE_H

#include <stdbool.h>

#include "solver/picture/canvas.h"

/* Takes this file, or with NULL the one there is; "": none. False: there is none, and pictures use the bitmap
 * font of font.h. Called with NULL by the first text. */
bool kf_face_use(const char *file);
bool kf_face_there(void);

/* UTF-8; what is none, or not in the font, becomes a box. size: pixels of an em. */
int kf_face_width(const char *text, int size);
/* (x, baseline): where the first letter stands. */
void kf_face_draw(kf_canvas *canvas, int x, int baseline, int size, kf_colour colour, const char *text);

#endif
