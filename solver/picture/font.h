/* A 5x7 bitmap font of the printable ASCII characters, for labels in pictures. */
#ifndef KF_SOLVER_PICTURE_FONT_H
#define KF_SOLVER_PICTURE_FONT_H

enum { KF_GLYPH_WIDTH = 5, KF_GLYPH_HEIGHT = 7, KF_GLYPH_ADVANCE = 6 };

/* Returns seven rows from the top. In a row the leftmost pixel is bit 4. A character outside the font gives a
 * box. */
const unsigned char *kf_glyph(char character);

/* Returns how many pixels lower a character is drawn, for letters with descenders. */
int kf_glyph_drop(char character);

#endif
