/* OBJ files are text that assimp reads forgivingly: it skips a face with a wrong index and takes a NaN for a
 * number. This walks over the lines first and names the first that cannot be meant. */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scene/internal.h"

/* What a face may refer to; a corner is 'vertex/texture/normal', the last two optional. */
enum { VERTEX, TEXTURE, NORMAL, KINDS };
static const char *const kind_names[KINDS] = {"vertex", "texture coordinate", "normal"};

typedef struct obj_scan {
    const char *file;
    long line, faces;
    long count[KINDS];
    long largest[KINDS],
        largest_line[KINDS]; /* indices may point forward: the largest is checked at the end */
    kf_error *error;
} obj_scan;

static const char *skip_blanks(const char *text) {
    for (;;) {
        if (*text == ' ' || *text == '\t' || *text == '\r')
            text++;
        else if (text[0] == '\\' && text[1] == '\n') /* a line that goes on */
            text += 2;
        else if (text[0] == '\\' && text[1] == '\r' && text[2] == '\n')
            text += 3;
        else
            return text;
    }
}

/* The line after the one that starts at text. */
static const char *next_line(const char *text, long *line) {
    const char *start = text;
    for (; *text != '\0'; text++) {
        if (*text != '\n') continue;
        (*line)++;
        const char *last = text > start && text[-1] == '\r' ? text - 1 : text;
        if (last == start || last[-1] != '\\') return text + 1;
    }
    return text;
}

static kf_status check_vertex(obj_scan *scan, const char *text) {
    for (int a = 0; a < 3; a++) {
        text = skip_blanks(text);
        char *end = NULL;
        const double value = *text == '\n' ? 0.0 : strtod(text, &end);
        if (end == NULL || end == text)
            return kf_fail(scan->error, KF_BAD_INPUT,
                           "%s:%ld: the %s coordinate of this vertex is not a number; a "
                           "vertex line is 'v X Y Z'",
                           scan->file, scan->line, (const char *[]){"x", "y", "z"}[a]);
        if (!isfinite(value) || fabs(value) > (double)FLT_MAX)
            return kf_fail(scan->error, KF_BAD_INPUT,
                           "%s:%ld: the %s coordinate of this vertex is NaN or infinite; "
                           "repair the mesh and export it again",
                           scan->file, scan->line, (const char *[]){"x", "y", "z"}[a]);
        text = end;
    }
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

static kf_status check_face(obj_scan *scan, const char *text) {
    for (text = skip_blanks(text); *text != '\n' && *text != '\0'; text = skip_blanks(text))
        for (int kind = VERTEX; kind < KINDS; kind++) {
            char *end = NULL;
            const long index = strtol(text, &end, 10);
            const bool left_out = kind == TEXTURE && *text == '/';
            if (!left_out && (end == text || isspace((unsigned char)*text)))
                return kf_fail(
                    scan->error, KF_BAD_INPUT,
                    "%s:%ld: a corner of this face is not a vertex number; a face line is 'f 1 2 3' or "
                    "'f 1/1/1 2/2/2 3/3/3'",
                    scan->file, scan->line);
            if (!left_out) {
                KF_TRY(check_index(scan, kind, index));
                text = end;
            }
            if (*text != '/') break;
            text++;
        }
    scan->faces++;
    return KF_OK;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static kf_status check_line(obj_scan *scan, const char *word) {
    if (word[0] == 'v' && is_blank(word[1])) return check_vertex(scan, word + 1);
    if (word[0] == 'f' && is_blank(word[1])) return check_face(scan, word + 1);
    if (word[0] == 'v' && word[1] == 't' && is_blank(word[2])) scan->count[TEXTURE]++;
    if (word[0] == 'v' && word[1] == 'n' && is_blank(word[2])) scan->count[NORMAL]++;
    return KF_OK;
}

static kf_status check_lines(obj_scan *scan, const char *text) {
    /* Before a comment it does no harm; assimp would leave out a vertex. */
    if (strncmp(text, "\xef\xbb\xbfv", 4) == 0)
        return kf_fail(
            scan->error, KF_BAD_INPUT,
            "%s:1: begins with a mark of UTF-8 (BOM), which hides its first vertex; save it without",
            scan->file);
    while (*text != '\0') {
        long line = scan->line;
        KF_TRY(check_line(scan, skip_blanks(text)));
        text = next_line(text, &line);
        scan->line = line;
    }
    if (scan->count[VERTEX] == 0)
        return kf_fail(scan->error, KF_BAD_INPUT,
                       "%s: holds no vertices (lines 'v X Y Z'); is it an OBJ mesh?", scan->file);
    if (scan->faces == 0)
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
    return KF_OK;
}

kf_status kf_obj_check(const char *file, kf_error *error) {
    char *text = NULL;
    size_t size = 0;
    KF_TRY(kf_file_read(file, (size_t)KF_MESH_FILE_GIB << 30, &text, &size, error));
    obj_scan scan = {.file = file, .line = 1, .error = error};
    kf_status status = KF_OK;
    if (memchr(text, '\0', size) != NULL)
        status = kf_fail(error, KF_BAD_INPUT,
                         "%s: is not a text file, so not an OBJ mesh; give the file its right "
                         "ending (.stl, .ply, .glb)",
                         file);
    else
        status = check_lines(&scan, text);
    free(text);
    return status;
}
