/* Reads PLY files. A header in text lists the elements and the properties of each. Their numbers follow as
 * text, or as bytes in either order. Vertices (x, y, z), faces and strips of triangles are read. All other
 * data is skipped by its description in the header. */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "scene/mesh_import.h"

typedef enum ply_type { INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64, TYPES } ply_type;
static const size_t type_bytes[TYPES] = {1, 1, 2, 2, 4, 4, 4, 8};
static const char *const type_names[TYPES][2] = {
    {"char", "int8"}, {"uchar", "uint8"}, {"short", "int16"},   {"ushort", "uint16"},
    {"int", "int32"}, {"uint", "uint32"}, {"float", "float32"}, {"double", "float64"}};

/* The uses of a property's numbers. */
typedef enum ply_use { UNUSED, X, Y, Z, CORNERS, STRIP } ply_use;

typedef struct ply_property {
    ply_use use;
    ply_type type, count_type;
    bool list;
} ply_property;

enum { PROPERTIES = 64, ELEMENTS = 32, WORD = 64 };
typedef struct ply_element {
    char name[WORD];
    size_t count;
    ply_property property[PROPERTIES];
    int properties;
} ply_element;

typedef struct ply_scan {
    const char *file, *at, *end;
    /* The current line of the header or of the text. */
    long line;
    enum { TEXT, LITTLE, BIG } form;
    ply_element element[ELEMENTS];
    int elements;
    kf_polygons *polygons;
    kf_error *error;
} ply_scan;

static kf_status refuse(const ply_scan *scan, const char *what) {
    return kf_fail(scan->error, KF_BAD_INPUT, "%s: %s; is it a whole PLY file?", scan->file, what);
}

/* ---- Header ---- */

/* Reads the next word of the line; "" at its end. */
static void header_word(ply_scan *scan, char word[WORD]) {
    size_t length = 0;
    while (*scan->at == ' ' || *scan->at == '\t')
        scan->at++;
    for (; isgraph((unsigned char)*scan->at) || (unsigned char)*scan->at >= 0x80; scan->at++)
        if (length + 1 < WORD) word[length++] = *scan->at;
    word[length] = '\0';
}

/* Moves to the next line. The numbers of a binary file begin directly after the last line of the header. */
static void end_line(ply_scan *scan) {
    while (*scan->at != '\0' && *scan->at != '\n' && *scan->at != '\r')
        scan->at++;
    scan->at += *scan->at == '\0' ? 0 : scan->at[0] == '\r' && scan->at[1] == '\n' ? 2 : 1;
    scan->line++;
}

static kf_status refuse_line(const ply_scan *scan, const char *what) {
    return kf_fail(scan->error, KF_BAD_INPUT, "%s:%ld: %s", scan->file, scan->line, what);
}

static kf_status read_type(ply_scan *scan, ply_type *type) {
    char word[WORD];
    header_word(scan, word);
    for (int t = 0; t < TYPES; t++)
        if (strcmp(word, type_names[t][0]) == 0 || strcmp(word, type_names[t][1]) == 0) {
            *type = (ply_type)t;
            return KF_OK;
        }
    return refuse_line(scan, "not a type that a property of a PLY file may have");
}

/* Reads an element of the header. Each of its items takes at least a byte. */
static kf_status read_element(ply_scan *scan) {
    char word[WORD];
    const char *end = word;
    if (scan->elements == ELEMENTS) return refuse_line(scan, "more kinds of elements than a mesh has");
    ply_element *element = &scan->element[scan->elements++];
    header_word(scan, element->name);
    header_word(scan, word);
    const double count = kf_scan_number(word, &end), room = (double)(scan->end - scan->at);
    if (end == word || *end != '\0' || !(count >= 0.0) || count != floor(count))
        return refuse_line(scan, "not a number of elements");
    if (count > room)
        return kf_fail(scan->error, KF_BAD_INPUT, "%s: claims %.0f %s in %.0f bytes; is it whole?",
                       scan->file, count, element->name, room);
    element->count = (size_t)count;
    return KF_OK;
}

static ply_use use_of(const ply_element *element, const char *name, bool list) {
    const bool vertex = strcmp(element->name, "vertex") == 0 && !list;
    const bool corners = strcmp(name, "vertex_indices") == 0 || strcmp(name, "vertex_index") == 0;
    if (vertex && name[0] >= 'x' && name[0] <= 'z' && name[1] == '\0') return (ply_use)(X + name[0] - 'x');
    if (!corners || !list) return UNUSED;
    return strcmp(element->name, "face") == 0        ? CORNERS
           : strcmp(element->name, "tristrips") == 0 ? STRIP
                                                     : UNUSED;
}

/* Reads one property of the header into its element. */
static kf_status read_property(ply_scan *scan) {
    char name[WORD];
    if (scan->elements == 0) return refuse_line(scan, "a property without an element");
    ply_element *element = &scan->element[scan->elements - 1];
    if (element->properties == PROPERTIES) return refuse_line(scan, "more properties than a mesh has");
    ply_property *property = &element->property[element->properties++];
    const char *before = scan->at;
    header_word(scan, name);
    property->list = strcmp(name, "list") == 0;
    if (property->list)
        KF_TRY(read_type(scan, &property->count_type));
    else
        scan->at = before;
    KF_TRY(read_type(scan, &property->type));
    header_word(scan, name);
    property->use = use_of(element, name, property->list);
    return KF_OK;
}

static kf_status read_format(ply_scan *scan) {
    char word[WORD];
    header_word(scan, word);
    if (strcmp(word, "ascii") == 0)
        scan->form = TEXT;
    else if (strcmp(word, "binary_little_endian") == 0)
        scan->form = LITTLE;
    else if (strcmp(word, "binary_big_endian") == 0)
        scan->form = BIG;
    else
        return refuse_line(scan, "the format is ascii, binary_little_endian or binary_big_endian");
    return KF_OK;
}

/* Reads the header. A line with an unknown first word is a comment, because some programs omit the word
 * comment. */
static kf_status read_header(ply_scan *scan) {
    char word[WORD];
    header_word(scan, word);
    if (strcmp(word, "ply") != 0) return refuse(scan, "does not begin with the word ply");
    bool format = false;
    for (end_line(scan);; end_line(scan)) {
        if (*scan->at == '\0') return refuse(scan, "its header has no end");
        const char *from = scan->at;
        header_word(scan, word);
        if (strcmp(word, "end_header") == 0) break;
        if (strcmp(word, "format") == 0) {
            format = true;
            KF_TRY(read_format(scan));
        } else if (strcmp(word, "element") == 0) {
            KF_TRY(read_element(scan));
        } else if (strcmp(word, "property") == 0) {
            KF_TRY(read_property(scan));
        } else {
            size_t length = 0;
            while (from[length] != '\0' && from[length] != '\n' && from[length] != '\r')
                length++;
            kf_polygons_state_unit(scan->polygons, from, length, scan->line);
        }
    }
    end_line(scan);
    return format ? KF_OK : refuse(scan, "its header names no format");
}

/* ---- Numbers ---- */

static kf_status read_text_number(ply_scan *scan, double *value) {
    while (isspace((unsigned char)*scan->at)) {
        if (*scan->at == '\n' || (*scan->at == '\r' && scan->at[1] != '\n')) scan->line++;
        scan->at++;
    }
    const char *from = scan->at;
    if (*from == '\0') return refuse(scan, "ends before the elements that its header names");
    *value = kf_scan_number(from, &scan->at);
    if (scan->at == from || !(isspace((unsigned char)*scan->at) || *scan->at == '\0'))
        return refuse_line(scan, "not a number");
    return KF_OK;
}

/* Returns a number of the file's type as a double. */
static double number_of(const unsigned char bytes[8], ply_type type) {
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        float f32;
        double f64;
    } number;
    memcpy(&number, bytes, sizeof number);
    switch (type) {
    case INT8:
        return number.i8;
    case UINT8:
        return number.u8;
    case INT16:
        return number.i16;
    case UINT16:
        return number.u16;
    case INT32:
        return number.i32;
    case UINT32:
        return number.u32;
    case FLOAT32:
        return (double)number.f32;
    default:
        return number.f64;
    }
}

static kf_status read_number(ply_scan *scan, ply_type type, double *value) {
    unsigned char bytes[8] = {0};
    const size_t size = type_bytes[type];
    if (scan->form == TEXT) return read_text_number(scan, value);
    if ((size_t)(scan->end - scan->at) < size)
        return refuse(scan, "ends before the elements that its header names");
    for (size_t b = 0; b < size; b++)
        bytes[b] = (unsigned char)scan->at[scan->form == BIG ? size - 1 - b : b];
    scan->at += size;
    *value = number_of(bytes, type);
    return KF_OK;
}

/* ---- Elements ---- */

/* A strip of triangles. Its first three corners form a triangle, and each further corner forms one with the
 * two before it. Every second triangle has the opposite winding. An index of -1 begins a new strip. */
typedef struct ply_strip {
    uint32_t before[2];
    size_t length;
} ply_strip;

static void strip_corner(ply_scan *scan, ply_strip *strip, uint32_t corner) {
    const size_t odd = strip->length % 2;
    /* A repeated corner joins one strip to the next. */
    const bool turns =
        corner == strip->before[0] || corner == strip->before[1] || strip->before[0] == strip->before[1];
    if (strip->length++ >= 2 && !turns) {
        kf_polygons_corner(scan->polygons, strip->before[odd]);
        kf_polygons_corner(scan->polygons, strip->before[1 - odd]);
        kf_polygons_corner(scan->polygons, corner);
        kf_polygons_end(scan->polygons);
    }
    strip->before[0] = strip->before[1];
    strip->before[1] = corner;
}

/* Takes one index of a face or of a strip. In a strip -1 begins a new one. */
static kf_status take_index(ply_scan *scan, const ply_property *property, double index, ply_strip *strip) {
    if (property->use == STRIP && index == -1.0) {
        strip->length = 0;
        return KF_OK;
    }
    if (!(index >= 0.0 && index < (double)UINT32_MAX && index == floor(index)))
        return kf_fail(
            scan->error, KF_BAD_INPUT,
            "%s: face %zu (counted from 1) refers to vertex %g, which cannot be; export the mesh again",
            scan->file, scan->polygons->count + 1, index);
    if (property->use == STRIP)
        strip_corner(scan, strip, (uint32_t)index);
    else
        kf_polygons_corner(scan->polygons, (uint32_t)index);
    return KF_OK;
}

static kf_status read_list(ply_scan *scan, const ply_property *property) {
    double count = 0.0, value = 0.0;
    ply_strip strip = {{0}, 0};
    KF_TRY(read_number(scan, property->count_type, &count));
    if (!(count >= 0.0 && count <= (double)(scan->end - scan->at) && count == floor(count)))
        return refuse(scan, "a list is longer than the file");
    for (size_t i = 0; i < (size_t)count; i++) {
        KF_TRY(read_number(scan, property->type, &value));
        if (property->use != UNUSED) KF_TRY(take_index(scan, property, value, &strip));
    }
    if (property->use == CORNERS) kf_polygons_end(scan->polygons);
    return KF_OK;
}

static kf_status take_place(ply_scan *scan, const double place[3]) {
    for (int a = 0; a < 3; a++)
        if (!isfinite(place[a]) || fabs(place[a]) > (double)FLT_MAX)
            return kf_fail(scan->error, KF_BAD_INPUT,
                           "%s: vertex %zu (counted from 0) is NaN, infinite or above 3.4e38; repair the "
                           "mesh and export it again",
                           scan->file, scan->polygons->builder.mesh.vertex_count);
    (void)kf_mesh_add_vertex(&scan->polygons->builder, place[0], place[1], place[2]);
    return KF_OK;
}

/* Reads one item: a vertex's position, a face's corners, or data that is skipped. */
static kf_status read_one(ply_scan *scan, const ply_element *element, bool vertex) {
    double place[3] = {0.0, 0.0, 0.0};
    for (int p = 0; p < element->properties; p++) {
        const ply_property *property = &element->property[p];
        double value = 0.0;
        if (property->list) {
            KF_TRY(read_list(scan, property));
            continue;
        }
        KF_TRY(read_number(scan, property->type, &value));
        if (property->use < X || property->use > Z) continue;
        place[property->use - X] = value;
        if (scan->form != TEXT && property->type == FLOAT32) kf_polygons_single(scan->polygons, value);
    }
    return vertex ? take_place(scan, place) : KF_OK;
}

static kf_status read_elements(ply_scan *scan, const ply_element *element) {
    const bool vertex = strcmp(element->name, "vertex") == 0;
    int axes = 0;
    for (int p = 0; p < element->properties; p++)
        axes |= element->property[p].use >= X && element->property[p].use <= Z ? 1 << element->property[p].use
                                                                               : 0;
    if (vertex && axes != (1 << X | 1 << Y | 1 << Z))
        return refuse(scan, "its vertices have no properties x, y and z");
    for (size_t i = 0; i < element->count && element->properties > 0; i++)
        KF_TRY(read_one(scan, element, vertex));
    return KF_OK;
}

static kf_status check_indices(const ply_scan *scan) {
    const kf_polygons *p = scan->polygons;
    for (size_t f = 0, c = 0; f < p->count; f++)
        for (; c < p->ends[f]; c++)
            if (p->corners[c] >= p->builder.mesh.vertex_count)
                return kf_fail(
                    scan->error, KF_BAD_INPUT,
                    "%s: face %zu (counted from 1) refers to vertex %u, but there are %zu (counted "
                    "from 0); export the mesh again",
                    scan->file, f + 1, p->corners[c], p->builder.mesh.vertex_count);
    return KF_OK;
}

kf_status kf_ply_read(const char *file, kf_polygons *polygons, kf_text *notes, kf_error *error) {
    (void)notes;
    char *data = NULL;
    size_t size = 0;
    KF_TRY(kf_file_read(file, (size_t)KF_MESH_FILE_GIB << 30, &data, &size, error));
    ply_scan scan = {
        .file = file, .at = data, .end = data + size, .line = 1, .polygons = polygons, .error = error};
    kf_status status = read_header(&scan);
    for (int e = 0; e < scan.elements && status == KF_OK; e++)
        status = read_elements(&scan, &scan.element[e]);
    free(data);
    return status == KF_OK ? check_indices(&scan) : status;
}
