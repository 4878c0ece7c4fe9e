/* Reads OBJ files, which are lines of text. A wrong index, or a coordinate that is not a number, is refused
 * with its line. Data of textures and materials are skipped. */
#include <ctype.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "scene/mesh_import.h"

/* The kinds of indices of a face. A corner is 'vertex/texture/normal', and the last two are optional. */
enum { VERTEX, TEXTURE, NORMAL, KINDS };
static const char *const kind_names[KINDS] = {"vertex", "texture coordinate", "normal"};

typedef struct obj_scan {
    const char *file;
    kf_polygons *polygons;
    long line, curves;
    long count[KINDS];
    long largest[KINDS],
        /* Indices may refer to later lines, so the largest index is checked at the end. */
        largest_line[KINDS];
    kf_error *error;
} obj_scan;

/* Returns whether a character ends a line. A line ends with a line feed, a carriage return (old Macs), or
 * both. */
static bool is_end(char c) {
    return c == '\n' || c == '\r' || c == '\0';
}

static const char *after_end(const char *text) {
    return text + (*text == '\0' ? 0 : text[0] == '\r' && text[1] == '\n' ? 2 : 1);
}

/* Skips blanks, and the end of a line that continues on the next one. */
static const char *skip_blanks(obj_scan *scan, const char *text) {
    for (;;) {
        if (*text == ' ' || *text == '\t') {
            text++;
        } else if (text[0] == '\\' && (text[1] == '\n' || text[1] == '\r')) {
            text = after_end(text + 1);
            scan->line++;
        } else {
            return text;
        }
    }
}

static const char *next_line(obj_scan *scan, const char *text) {
    for (; *text != '\0'; text++) {
        if (text[0] == '\\' && text[1] != '\0' && is_end(text[1])) {
            text = after_end(text + 1) - 1;
            scan->line++;
        } else if (is_end(*text)) {
            scan->line++;
            return after_end(text);
        }
    }
    return text;
}

/* Returns whether nothing follows on this line but a comment. */
static bool is_last(char c) {
    return c == '#' || is_end(c);
}

/* Returns whether a word ends here. */
static bool ends_word(const char *text) {
    return *text == ' ' || *text == '\t' || is_last(*text) || (*text == '\\' && is_end(text[1]));
}

static kf_status read_coordinate(obj_scan *scan, const char **text, const char *name, double *value) {
    const char *from = skip_blanks(scan, *text);
    *value = is_end(*from) ? 0.0 : kf_scan_number(from, text);
    if (is_end(*from) || *text == from || !ends_word(*text))
        return kf_fail(
            scan->error, KF_BAD_INPUT,
            "%s:%ld: the %s coordinate of this vertex is not a number%s; a vertex line is 'v X Y Z'",
            scan->file, scan->line, name,
            *text != from && **text == ',' ? " (decimals begin with a point)" : "");
    if (isfinite(*value) && fabs(*value) <= (double)FLT_MAX) return KF_OK;
    return kf_fail(scan->error, KF_BAD_INPUT,
                   "%s:%ld: the %s coordinate of this vertex is NaN, infinite or above 3.4e38; "
                   "repair the mesh and export it again",
                   scan->file, scan->line, name);
}

/* Reads a vertex. Numbers after the third are a weight (one number) or a colour (three numbers). Programs
 * disagree on what a weight does to a polygon. */
static kf_status read_vertex(obj_scan *scan, const char *text, const char **end) {
    double place[3], weight = 1.0;
    KF_TRY(read_coordinate(scan, &text, "x", &place[0]));
    KF_TRY(read_coordinate(scan, &text, "y", &place[1]));
    KF_TRY(read_coordinate(scan, &text, "z", &place[2]));
    const char *from = skip_blanks(scan, text);
    if (!is_last(*from)) weight = kf_scan_number(from, &text);
    *end = text;
    from = skip_blanks(scan, text);
    if (is_last(*from) && weight != 1.0)
        return kf_fail(scan->error, KF_BAD_INPUT,
                       "%s:%ld: this vertex has a weight of %g, which belongs to curves; export polygons",
                       scan->file, scan->line, weight);
    (void)kf_mesh_add_vertex(&scan->polygons->builder, place[0], place[1], place[2]);
    scan->count[VERTEX]++;
    return KF_OK;
}

static kf_status check_index(obj_scan *scan, int kind, long index) {
    if (index == 0 || index < -scan->count[kind])
        return kf_fail(
            scan->error, KF_BAD_INPUT,
            "%s:%ld: this face refers to %s %ld, which is out of range (%ld so far, counted from 1); "
            "export the mesh again",
            scan->file, scan->line, kind_names[kind], index, scan->count[kind]);
    if (index > scan->largest[kind]) {
        scan->largest[kind] = index;
        scan->largest_line[kind] = scan->line;
    }
    return KF_OK;
}

/* Reads an index. It does not use strtol, which reads on to the end of the file in a build with sanitizers. A
 * number that is too large is out of every range. */
static long read_index(const char *text, const char **end) {
    const char *at = text + (*text == '-' || *text == '+'), *first = at;
    long value = 0;
    for (; isdigit((unsigned char)*at); at++)
        value = value < LONG_MAX / 10 ? 10 * value + (*at - '0') : LONG_MAX;
    *end = at == first ? text : at;
    return *text == '-' ? -value : value;
}

/* Reads a corner: 'v', 'v/t', 'v//n' or 'v/t/n'. The number after a slash may be missing, as some programs
 * write it. */
static kf_status read_corner(obj_scan *scan, const char **text) {
    long vertex = 0;
    for (int kind = VERTEX; kind < KINDS; kind++) {
        const char *end = *text;
        const bool left_out = kind != VERTEX && (**text == '/' || ends_word(*text));
        const long index = left_out ? 0 : read_index(*text, &end);
        if (!left_out && end == *text) break;
        if (!left_out) {
            KF_TRY(check_index(scan, kind, index));
            *text = end;
        }
        if (kind == VERTEX) vertex = index > 0 ? index - 1 : index + scan->count[VERTEX];
        if (**text != '/') break;
        (*text)++;
    }
    if (!ends_word(*text))
        return kf_fail(scan->error, KF_BAD_INPUT,
                       "%s:%ld: a corner of this face is not a vertex number; a face line is 'f 1 2 3' or "
                       "'f 1/1/1 2/2/2 3/3/3'",
                       scan->file, scan->line);
    kf_polygons_corner(scan->polygons, vertex > UINT32_MAX ? UINT32_MAX : (uint32_t)vertex);
    return KF_OK;
}

static kf_status read_face(obj_scan *scan, const char *text, const char **end) {
    for (text = skip_blanks(scan, text); !is_last(*text); text = skip_blanks(scan, text))
        KF_TRY(read_corner(scan, &text));
    kf_polygons_end(scan->polygons);
    *end = text;
    return KF_OK;
}

static bool is_word(const char *text, const char *word) {
    const size_t length = strlen(word);
    return strncmp(text, word, length) == 0 && ends_word(text + length);
}

/* Reads one line. *end becomes the end of what was read. */
static kf_status read_line(obj_scan *scan, const char *text, const char **end) {
    /* The last four are patches and curves by old names. */
    static const char *const curved[] = {"surf", "curv", "bzp", "bsp", "cdc", "cdp"};
    *end = text;
    if (is_word(text, "v")) return read_vertex(scan, text + 1, end);
    if (is_word(text, "f")) return read_face(scan, text + 1, end);
    /* An old name of the same element. */
    if (is_word(text, "fo")) return read_face(scan, text + 2, end);
    if (is_word(text, "vt")) scan->count[TEXTURE]++;
    if (is_word(text, "vn")) scan->count[NORMAL]++;
    for (size_t i = 0; i < sizeof curved / sizeof *curved; i++)
        scan->curves += is_word(text, curved[i]);
    if (*text == '#') {
        size_t length = 0;
        while (!is_end(text[length]))
            length++;
        kf_polygons_state_unit(scan->polygons, text, length, scan->line);
    }
    return KF_OK;
}

/* Refuses a file without vertices or faces, and indices of elements that it does not have. */
static kf_status check_counts(const obj_scan *scan, kf_text *notes) {
    if (scan->count[VERTEX] == 0)
        return kf_fail(scan->error, KF_BAD_INPUT,
                       "%s: holds no vertices (lines 'v X Y Z'); is it an OBJ mesh?", scan->file);
    if (scan->polygons->count == 0)
        return kf_fail(
            scan->error, KF_BAD_INPUT,
            "%s: holds %ld vertices but no faces (lines 'f 1 2 3'); export the mesh with its faces",
            scan->file, scan->count[VERTEX]);
    for (int kind = VERTEX; kind < KINDS; kind++)
        if (scan->largest[kind] > scan->count[kind])
            return kf_fail(
                scan->error, KF_BAD_INPUT,
                "%s:%ld: this face refers to %s %ld, which is out of range (the file holds %ld); export "
                "the mesh again",
                scan->file, scan->largest_line[kind], kind_names[kind], scan->largest[kind],
                scan->count[kind]);
    if (scan->curves > 0)
        kf_note(notes, "%s: %ld curves and curved surfaces are not read; export them as polygons", scan->file,
                scan->curves);
    return KF_OK;
}

/* Reads the vertices and faces of an OBJ file line by line. Notes other elements. */
kf_status kf_obj_read(const char *file, kf_polygons *polygons, kf_text *notes, kf_error *error) {
    char *text = NULL;
    size_t size = 0;
    KF_TRY(kf_file_read(file, (size_t)KF_MESH_FILE_GIB << 30, &text, &size, error));
    obj_scan scan = {.file = file, .polygons = polygons, .line = 1, .error = error};
    kf_status status = KF_OK;
    if (memchr(text, '\0', size) != NULL)
        status = kf_fail(error, KF_BAD_INPUT,
                         "%s: is not a text file, so not an OBJ mesh; give the file its right "
                         "ending (.stl, .ply, .glb)",
                         file);
    const char *at = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text;
    while (status == KF_OK && *at != '\0') {
        const char *end = at;
        status = read_line(&scan, skip_blanks(&scan, at), &end);
        at = next_line(&scan, end);
    }
    free(text);
    return status == KF_OK ? check_counts(&scan, notes) : status;
}
