#include "solver/picture/face.h"

#include <ft2build.h>
#include <stdio.h>
#include <stdlib.h>
#include FT_FREETYPE_H
#include FT_MODULE_H

#include "base/util/file.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"

static FT_Library library;
/* NULL without a font. */
static FT_Face face;

/* --- FreeType's memory: without it a picture would lack its words, and nobody be told ---------------------
 */

static void *allocate(FT_Memory memory, long size) {
    (void)memory;
    return kf_allocate((size_t)size);
}

static void *reallocate(FT_Memory memory, long before, long size, void *block) {
    (void)memory, (void)before;
    return kf_reallocate(block, (size_t)size);
}

static void give_back(FT_Memory memory, void *block) {
    (void)memory;
    free(block);
}

static bool open_library(void) {
    static struct FT_MemoryRec_ memory = {.alloc = allocate, .realloc = reallocate, .free = give_back};
    if (library != NULL) return true;
    if (FT_New_Library(&memory, &library) != 0) return false;
    FT_Add_Default_Modules(library);
    return true;
}

/* --- The font --------------------------------------------------------------------------------------------
 */

/* The file of the font. */
static char *font;

static void close_face(void) {
    if (face != NULL) (void)FT_Done_Face(face);
    face = NULL;
    free(font);
    font = NULL;
}

static bool open_face(const char *file) {
    kf_error error;
    size_t size = 0;
    close_face();
    const kf_status status = kf_file_read(file, 0, &font, &size, &error);
    if (status == KF_HOST) kf_warn("pictures have a plain font: %s", error.message);
    if (status != KF_OK || !open_library()) return false;
    return FT_New_Memory_Face(library, (const FT_Byte *)font, (FT_Long)size, 0, &face) == 0;
}

static bool open_any(void) {
    static const char *const usual[] = {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
                                        "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf"};
    const char *named = getenv("KFTUNE_FONT"), *data = NULL;
    char path[KF_PATH];
    kf_error error;
    if (named != NULL) return *named != '\0' && open_face(named);
    if (kf_data_folder(&data, &error) == KF_OK &&
        kf_path(path, &error, "%s/fonts/DejaVuSans.ttf", data) == KF_OK && open_face(path))
        return true;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (open_face(usual[i])) return true;
    return false;
}

bool kf_face_use(const char *file) {
    if (file == NULL) return open_any();
    if (*file != '\0') return open_face(file);
    close_face();
    return false;
}

bool kf_face_there(void) {
    return face != NULL;
}

/* Returns the next character of UTF-8, and the start of the one after it. Invalid bytes give 0xFFFD. */
static FT_ULong next_character(const char **text) {
    const unsigned char *c = (const unsigned char *)*text;
    const int more = *c < 0x80 ? 0 : *c >> 5 == 6 ? 1 : *c >> 4 == 14 ? 2 : *c >> 3 == 30 ? 3 : -1;
    FT_ULong code = more <= 0 ? *c : *c & (0x3Fu >> more);
    *text += 1;
    for (int i = 1; i <= more; i++, *text += 1) {
        if (c[i] >> 6 != 2) return 0xFFFD;
        code = code << 6 | (c[i] & 0x3F);
    }
    return more < 0 ? 0xFFFD : code;
}

static void draw_glyph(kf_canvas *canvas, int x, int baseline, kf_colour colour) {
    const FT_GlyphSlotRec *glyph = face->glyph;
    for (unsigned row = 0; row < glyph->bitmap.rows; row++)
        for (unsigned column = 0; column < glyph->bitmap.width; column++) {
            const int pitch = glyph->bitmap.pitch;
            const unsigned char ink = glyph->bitmap.buffer[(ptrdiff_t)row * pitch + (ptrdiff_t)column];
            if (ink > 0)
                kf_canvas_blend(canvas, x + glyph->bitmap_left + (int)column,
                                baseline - glyph->bitmap_top + (int)row, colour, ink / 255.0);
        }
}

/* Draws a text when there is a canvas. Returns its width in pixels. */
static int walk(kf_canvas *canvas, int x, int baseline, int size, kf_colour colour, const char *text) {
    /* In 1/64 pixel. */
    FT_Pos at = 0;
    FT_UInt before = 0;
    if (face == NULL || FT_Set_Pixel_Sizes(face, 0, (FT_UInt)size) != 0) return 0;
    while (*text != '\0') {
        const FT_UInt index = FT_Get_Char_Index(face, next_character(&text));
        FT_Vector closer = {0, 0};
        if (before != 0) (void)FT_Get_Kerning(face, before, index, FT_KERNING_DEFAULT, &closer);
        if (FT_Load_Glyph(face, index, canvas != NULL ? FT_LOAD_RENDER : FT_LOAD_DEFAULT) != 0) continue;
        at += closer.x;
        if (canvas != NULL) draw_glyph(canvas, x + (int)((at + 32) >> 6), baseline, colour);
        at += face->glyph->advance.x;
        before = index;
    }
    return (int)((at + 32) >> 6);
}

int kf_face_width(const char *text, int size) {
    return walk(NULL, 0, 0, size, (kf_colour){0, 0, 0}, text);
}

void kf_face_draw(kf_canvas *canvas, int x, int baseline, int size, kf_colour colour, const char *text) {
    (void)walk(canvas, x, baseline, size, colour, text);
}
