/* Reads STL files: a header of 80 bytes, a count and 50 bytes per triangle; or text. The first word does not
 * decide which, because headers of binary files may begin with "solid" too. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/util/file.h"
#include "scene/mesh_import.h"

enum { HEADER = 80, BODY = 84, TRIANGLE = 50, NORMAL_BYTES = 12, CORNER_BYTES = 12 };

/* ---- Binary ---- */

static kf_status read_binary(const char *file, const char *data, size_t count, kf_polygons *polygons,
                             kf_error *error) {
    for (size_t t = 0; t < count; t++) {
        for (size_t c = 0; c < 3; c++) {
            float place[3];
            memcpy(place, data + BODY + t * TRIANGLE + NORMAL_BYTES + c * CORNER_BYTES, sizeof place);
            for (int a = 0; a < 3; a++) {
                if (!isfinite(place[a]))
                    return kf_fail(error, KF_BAD_INPUT,
                                   "%s: a corner of triangle %zu (counted from 1) is NaN or infinite; "
                                   "repair the mesh and export it again",
                                   file, t + 1);
                kf_polygons_single(polygons, place[a]);
            }
            kf_polygons_corner(polygons,
                               kf_mesh_add_vertex(&polygons->builder, place[0], place[1], place[2]));
        }
        kf_polygons_end(polygons);
    }
    return KF_OK;
}

/* ---- Text ---- */

typedef struct stl_scan {
    const char *file, *at;
    long line;
    kf_polygons *polygons;
    kf_error *error;
} stl_scan;

/* Returns the beginning of the next word; "" at the end. */
static const char *next_word(stl_scan *scan) {
    for (; isspace((unsigned char)*scan->at); scan->at++)
        if (*scan->at == '\n' || (*scan->at == '\r' && scan->at[1] != '\n')) scan->line++;
    return scan->at;
}

/* Returns whether the next word is this one, in any case, and skips it if so. */
static bool take_word(stl_scan *scan, const char *word) {
    const char *at = next_word(scan);
    const size_t length = strlen(word);
    if (strncasecmp(at, word, length) != 0 || !(at[length] == '\0' || isspace((unsigned char)at[length])))
        return false;
    scan->at += length;
    return true;
}

static void skip_word(stl_scan *scan) {
    (void)next_word(scan);
    while (*scan->at != '\0' && !isspace((unsigned char)*scan->at))
        scan->at++;
}

/* Skips the name of a solid. It ends with its line. When everything is in one line, it ends at the first
 * facet. */
static void skip_name(stl_scan *scan) {
    const stl_scan name = *scan;
    while (*scan->at != '\0' && *scan->at != '\n' && *scan->at != '\r') {
        stl_scan ahead = *scan;
        if (scan->at > name.at && isspace((unsigned char)scan->at[-1]) && take_word(&ahead, "facet") &&
            take_word(&ahead, "normal"))
            break;
        scan->at++;
    }
    kf_polygons_state_unit(scan->polygons, name.at, (size_t)(scan->at - name.at), scan->line);
}

static kf_status refuse_word(const stl_scan *scan, const char *wanted) {
    char word[32];
    size_t length = 0;
    while (length + 1 < sizeof word && isgraph((unsigned char)scan->at[length])) {
        word[length] = scan->at[length];
        length++;
    }
    word[length] = '\0';
    return kf_fail(scan->error, KF_BAD_INPUT, "%s:%ld: '%s' where %s should be; is it a whole STL file?",
                   scan->file, scan->line, length > 0 ? word : "the end", wanted);
}

/* Reads a number. Programs of some countries write a decimal comma. */
static kf_status read_number(stl_scan *scan, double *value) {
    char word[64];
    size_t length = 0;
    const char *from = next_word(scan), *end = word;
    while (length + 1 < sizeof word && from[length] != '\0' && !isspace((unsigned char)from[length])) {
        word[length] = (char)(from[length] == ',' ? '.' : from[length]);
        length++;
    }
    word[length] = '\0';
    *value = length > 0 ? kf_scan_number(word, &end) : 0.0;
    if (length == 0 || *end != '\0') return refuse_word(scan, "a coordinate");
    if (!isfinite(*value))
        return kf_fail(scan->error, KF_BAD_INPUT,
                       "%s:%ld: this vertex is NaN or infinite; repair the mesh and export it again",
                       scan->file, scan->line);
    scan->at += length;
    return KF_OK;
}

/* Reads one facet of a text file; its normal is skipped. */
static kf_status read_facet(stl_scan *scan) {
    size_t corners = 0;
    if (take_word(scan, "normal"))
        for (int a = 0; a < 3; a++)
            /* The corners give the normal more reliably, and some programs write NaN here. */
            skip_word(scan);
    if (!take_word(scan, "outer") || !take_word(scan, "loop")) return refuse_word(scan, "'outer loop'");
    for (; take_word(scan, "vertex"); corners++) {
        double place[3];
        for (int a = 0; a < 3; a++)
            KF_TRY(read_number(scan, &place[a]));
        kf_polygons_corner(scan->polygons,
                           kf_mesh_add_vertex(&scan->polygons->builder, place[0], place[1], place[2]));
    }
    if (corners < 3) return refuse_word(scan, "'vertex X Y Z', three of them,");
    kf_polygons_end(scan->polygons);
    if (!take_word(scan, "endloop")) return refuse_word(scan, "'vertex' or 'endloop'");
    return take_word(scan, "endfacet") ? KF_OK : refuse_word(scan, "'endfacet'");
}

/* Reads one solid after the other. The last one may lack its end. */
static kf_status read_text(stl_scan *scan) {
    while (*next_word(scan) != '\0') {
        if (take_word(scan, "facet"))
            KF_TRY(read_facet(scan));
        else if (take_word(scan, "solid") || take_word(scan, "endsolid"))
            skip_name(scan);
        else
            return refuse_word(scan, "'facet', 'solid' or 'endsolid'");
    }
    return KF_OK;
}

/* ---- Which of them ---- */

static bool begins_with_solid(const char *text) {
    stl_scan scan = {.at = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? text + 3 : text};
    return take_word(&scan, "solid");
}

static kf_status read_data(const char *file, const char *data, size_t size, kf_polygons *polygons,
                           kf_text *notes, kf_error *error) {
    uint32_t count = 0;
    if (size >= BODY) memcpy(&count, data + HEADER, sizeof count);
    const size_t whole = BODY + (size_t)count * TRIANGLE;
    const bool letters = size > 0 && memchr(data, '\0', size) == NULL,
               text = letters && begins_with_solid(data);
    if (letters && !text && whole != size && size >= BODY)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: is text that does not begin with 'solid', so not an STL mesh; give the file its right "
            "ending (.obj, .ply)",
            file);
    if (text && whole != size) {
        stl_scan scan = {.file = file, .at = data, .line = 1, .polygons = polygons, .error = error};
        if (strncmp(data, "\xef\xbb\xbf", 3) == 0) scan.at += 3;
        return read_text(&scan);
    }
    if (size < BODY)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: is no STL mesh: text begins with 'solid', a binary file has %d bytes and more",
                       file, BODY);
    if (whole > size)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: claims %u triangles in %zu bytes, which are enough for %zu; is it a whole STL file?", file,
            count, size, (size - BODY) / TRIANGLE);
    if (count == 0 && size >= BODY + TRIANGLE)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: claims 0 triangles in %zu bytes, which are enough for %zu; export the mesh again",
                       file, size, (size - BODY) / TRIANGLE);
    const size_t behind = whole < size ? size - whole : 0;
    if (behind > 0)
        kf_note(notes, "%s: %zu bytes behind its %u triangles are not read%s", file, behind, count,
                behind % TRIANGLE == 0 ? "; they may be triangles that its header does not count" : "");
    kf_polygons_state_unit(polygons, data, HEADER, 0);
    return read_binary(file, data, count, polygons, error);
}

kf_status kf_stl_read(const char *file, kf_polygons *polygons, kf_text *notes, kf_error *error) {
    char *data = NULL;
    size_t size = 0;
    KF_TRY(kf_file_read(file, (size_t)KF_MESH_FILE_GIB << 30, &data, &size, error));
    const kf_status status = read_data(file, data, size, polygons, notes, error);
    free(data);
    return status;
}
