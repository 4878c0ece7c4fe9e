#include "scene/terrain_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/expression/expression.h"
#include "base/util/file.h"
#include "base/util/foreign.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/number.h"
#include "base/util/text.h"

enum { LEAST_NODES = 3 };
static const size_t LARGEST_FILE = (size_t)2 << 30;

void kf_terrain_free(kf_terrain *terrain) {
    free(terrain->heights);
    memset(terrain, 0, sizeof *terrain);
}

void kf_terrain_hash(const kf_terrain *terrain, kf_hasher *hasher) {
    kf_hash_add(hasher, terrain->nodes, sizeof terrain->nodes);
    kf_hash_add(hasher, terrain->origin, sizeof terrain->origin);
    kf_hash_add(hasher, &terrain->cell, sizeof terrain->cell);
    kf_hash_add(hasher, terrain->heights,
                (size_t)terrain->nodes[0] * (size_t)terrain->nodes[1] * sizeof *terrain->heights);
}

kf_status kf_terrain_reserve(const char *file, kf_terrain *terrain, double columns, double rows,
                             kf_error *error) {
    if (columns != floor(columns) || rows != floor(rows) || columns < LEAST_NODES ||
        rows < (terrain->nodes[1] == 1 ? 1 : LEAST_NODES) || columns > KF_TERRAIN_NODES ||
        rows > KF_TERRAIN_NODES)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: a terrain has %d to %d nodes along each axis, this one %.6gx%.6g", file,
                       LEAST_NODES, KF_TERRAIN_NODES, columns, rows);
    terrain->nodes[0] = (int)columns;
    terrain->nodes[1] = (int)rows;
    terrain->heights = kf_allocate((size_t)columns * (size_t)rows * sizeof *terrain->heights);
    return KF_OK;
}

/* The value for missing data when the grid's header gives none. */
static const double USUAL_MISSING = -9999.0;

/* ---- ESRI ASCII grid: a header of words and numbers, then rows from north to south ---- */

typedef struct grid_header {
    double columns, rows, place[2], cell, missing;
    /* Along an axis, place is the centre of the lower left cell, not its corner. */
    bool centres[2];
} grid_header;

/* Refuses text before a header or without a header, and names what it is. */
static kf_status check_beginning(const char *file, const char *text, kf_error *error) {
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: begins with a byte order mark, which an ESRI ASCII grid must not have; save it "
                       "as plain text (sed '1s/^\\xEF\\xBB\\xBF//')",
                       file);
    if (strchr("#/;%!", *text) != NULL && *text != '\0')
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: begins with a comment, which an ESRI ASCII grid must not have; remove the line '%.*s'", file,
            (int)strcspn(text, "\r\n") < 60 ? (int)strcspn(text, "\r\n") : 60, text);
    text += strspn(text, " \t\r\n");
    if (strchr("+-.0123456789", *text) != NULL && *text != '\0')
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: begins with numbers, where an ESRI ASCII grid has 'ncols'; of a list of places x y z "
            "'gdal_translate -of AAIGrid IN.xyz OUT.asc' makes one",
            file);
    return KF_OK;
}

/* The words of a header. */
enum { COLUMNS, ROWS, PLACE_X, PLACE_Y, CELL, NODATA, SAID };
static const struct {
    const char *word;
    int says;
    bool centre;
} header_words[] = {{"ncols", COLUMNS, false},     {"nrows", ROWS, false},
                    {"xllcorner", PLACE_X, false}, {"yllcorner", PLACE_Y, false},
                    {"xllcenter", PLACE_X, true},  {"yllcenter", PLACE_Y, true},
                    {"cellsize", CELL, false},     {"nodata_value", NODATA, false}};
enum { HEADER_WORDS = sizeof header_words / sizeof header_words[0] };

static int find_word(const char *text, size_t length) {
    int w = 0;
    while (w < HEADER_WORDS &&
           (strlen(header_words[w].word) != length || strncasecmp(header_words[w].word, text, length) != 0))
        w++;
    return w;
}

/* Reads the number after a word of the header. Cells are squares, so there is only one. */
static kf_status read_header_number(const char *file, const char **at, int w, double *value,
                                    kf_error *error) {
    const char *word = header_words[w].word, *number = *at + strspn(*at, " \t\r\n");
    char *end;
    *value = kf_read_decimal(number, &end);
    if (end == number && header_words[w].says == NODATA) /* "nan" and "-inf" mean missing data too. */
        *value = strtod(number, &end);
    if (end == number) return kf_fail(error, KF_BAD_INPUT, "%s: no number after '%s'", file, word);
    *at = end;
    number = end + strspn(end, " \t\r");
    if (*number == '\0' || *number == '\n' || isalpha((unsigned char)*number)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: more than a number after '%s'%s", file, word,
                   header_words[w].says == CELL ? "; cells are squares: resample the grid" : "");
}

/* Reads the header of an ESRI ASCII grid: sizes, corner or centre, cell size, and the value of missing data.
 */
static kf_status read_header(const char *file, const char **at, grid_header *header, kf_error *error) {
    double *const values[SAID] = {&header->columns,  &header->rows, &header->place[0],
                                  &header->place[1], &header->cell, &header->missing};
    bool said[SAID] = {false};
    header->missing = USUAL_MISSING;
    KF_TRY(check_beginning(file, *at, error));
    for (;;) {
        *at += strspn(*at, " \t\r\n");
        const size_t length = strcspn(*at, " \t\r\n");
        const int w = find_word(*at, length);
        if (w == HEADER_WORDS) break;
        const int says = header_words[w].says;
        if (said[says])
            return kf_fail(error, KF_BAD_INPUT, "%s: its header contains '%s' twice; remove one", file,
                           header_words[w].word);
        said[says] = true;
        *at += length;
        KF_TRY(read_header_number(file, at, w, values[says], error));
        if (says == PLACE_X || says == PLACE_Y) header->centres[says == PLACE_Y] = header_words[w].centre;
    }
    const int shown = (int)strcspn(*at, " \t\r\n");
    if (isalpha((unsigned char)**at) && strncasecmp(*at, "nan", 3) != 0 && strncasecmp(*at, "inf", 3) != 0)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: '%.*s' is no word of an ESRI ASCII grid's header, which gives ncols, nrows and cellsize%s",
            file, shown < 40 ? shown : 40, *at,
            strncasecmp(*at, "dx", 2) == 0 ? "; cells are squares: resample the grid (gdalwarp -tr)" : "");
    if (!(header->cell > 0.0) || !isfinite(header->cell) || !(header->columns >= 1) || !(header->rows >= 1))
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: not an ESRI ASCII grid: its header must give ncols, nrows and cellsize, above 0",
                       file);
    return KF_OK;
}

/* Returns whether a value means missing data. Files write the same value with different digits. Some use the
 * lowest number of 16 bits, the largest of 32 bits or its written form, whatever the header says. */
static bool is_missing(double value, double missing) {
    static const double NEAR = 1e-6, EDGE = 0.999e30, LEAST_OF_16_BITS = -32768.0;
    return fabs(value - missing) <= NEAR * fabs(missing) || fabs(value) > EDGE || value == LEAST_OF_16_BITS ||
           value == LEAST_OF_16_BITS + 1.0;
}

static kf_status read_values(const char *file, const char *at, const grid_header *header, kf_terrain *terrain,
                             kf_error *error) {
    const size_t columns = (size_t)terrain->nodes[0], rows = (size_t)terrain->nodes[1];
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) {
            char *end;
            at += strspn(at, " \t\r\n");
            double value = kf_read_decimal(at, &end);
            if (strncasecmp(at + (*at == '-'), "inf", 3) == 0) value = strtod(at, &end); /* is missing */
            const size_t length = strcspn(at, " \t\r\n");
            const bool whole = *end == '\0' || strchr(" \t\r\n", *end) != NULL;
            if (length == 0)
                return kf_fail(error, KF_BAD_INPUT,
                               "%s: ends in row %zu, before column %zu; its header says %zu rows of %zu",
                               file, r + 1, c + 1, rows, columns);
            if (end == at || isnan(value) || !whole)
                return kf_fail(error, KF_BAD_INPUT, "%s: row %zu, column %zu: '%.*s' is not a height%s", file,
                               r + 1, c + 1, length < 24 ? (int)length : 24, at,
                               *end == ',' ? KF_DECIMALS_HINT : "");
            if (is_missing(value, header->missing))
                return kf_fail(error, KF_BAD_INPUT,
                               "%s: row %zu, column %zu has no data; cut the grid or fill the gap", file,
                               r + 1, c + 1);
            terrain->heights[c * rows + rows - 1 - r] = value;
            at = end;
        }
    at += strspn(at, " \t\r\n");
    if (*at == '\0') return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: more values than %zu rows of %zu", file, rows, columns);
}

/* Reads an ESRI ASCII grid of heights. Positions are relative to its lower left node. */
static kf_status read_grid(const char *file, kf_terrain *terrain, kf_error *error) {
    char *text;
    size_t size;
    KF_TRY(kf_file_read(file, LARGEST_FILE, &text, &size, error));
    grid_header header = {0};
    const char *at = text;
    const char *kind = kf_foreign_kind(text, size);
    if (kind == NULL && strlen(text) != size) kind = "is not a text file, so not an ESRI ASCII grid";
    kf_status status = kind != NULL ? kf_fail(error, KF_BAD_INPUT, "%s: %s", file, kind)
                                    : read_header(file, &at, &header, error);
    if (status == KF_OK) status = kf_terrain_reserve(file, terrain, header.columns, header.rows, error);
    if (status == KF_OK) status = read_values(file, at, &header, terrain, error);
    terrain->cell = header.cell;
    /* Positions are relative to the grid's lower left node, because the coordinates of maps can be thousands
     * of kilometres. */
    for (int i = 0; i < 2; i++) {
        terrain->origin[i] = header.centres[i] ? 0.0 : 0.5 * header.cell;
        terrain->corner[i] = header.place[i];
    }
    free(text);
    return status;
}

/* ---- Formulas ---- */

static bool look_up(void *context, const char *name, kf_scalar *value) {
    const double *place = context;
    if (strcmp(name, "x") != 0 && strcmp(name, "y") != 0) return false;
    *value = (kf_scalar){.kind = KF_SCALAR_FLOAT, .number = place[name[0] == 'y']};
    return true;
}

static kf_status evaluate(const kf_expression *expression, double place[2], double *height, kf_error *error) {
    kf_scalar value;
    KF_TRY(kf_expression_scalar(expression, look_up, place, &value, error));
    *height = value.kind == KF_SCALAR_INTEGER ? (double)value.integer : value.number;
    if ((value.kind == KF_SCALAR_INTEGER || value.kind == KF_SCALAR_FLOAT) && isfinite(*height)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "no height at x = %g, y = %g", place[0], place[1]);
}

static kf_status read_formula(const char *file, const char *text, int dimensions, const double size[3],
                              kf_terrain *terrain, kf_error *error) {
    static const char *const names[] = {"x", "y"};
    kf_expression *expression;
    const double rows = dimensions == 2 ? 1 : ceil(size[1] / terrain->cell) + 3;
    terrain->nodes[1] = dimensions == 2 ? 1 : LEAST_NODES;
    if (kf_expression_parse(text, &expression, error) != KF_OK)
        return kf_fail_context(error, "%s: terrain.formula", file);
    kf_status status = kf_expression_check_names(expression, names, dimensions == 2 ? 1 : 2, error);
    if (status == KF_OK)
        status = kf_terrain_reserve(file, terrain, ceil(size[0] / terrain->cell) + 3, rows, error);
    terrain->origin[0] = terrain->origin[1] = -terrain->cell;
    for (int i = 0; i < terrain->nodes[0] && status == KF_OK; i++)
        for (int j = 0; j < terrain->nodes[1] && status == KF_OK; j++) {
            double place[2] = {terrain->origin[0] + i * terrain->cell,
                               terrain->origin[1] + j * terrain->cell};
            status = evaluate(expression, place, &terrain->heights[i * terrain->nodes[1] + j], error);
        }
    kf_expression_free(expression);
    return status == KF_OK ? KF_OK : kf_fail_context(error, "%s: terrain.formula", file);
}

/* ---- Reading ---- */

static kf_status beside(const char *file, const char *name, char path[KF_PATH], kf_error *error) {
    const char *slash = strrchr(file, '/');
    if (name[0] == '/' || slash == NULL) return kf_path(path, error, "%s", name);
    return kf_path(path, error, "%.*s/%s", (int)(slash - file), file, name);
}

kf_status kf_terrain_read(const char *file, const cJSON *object, int dimensions, const double size[3],
                          kf_terrain *terrain, kf_error *error) {
    static const char *const keys[] = {"file", "picture", "formula", "low", "high", "cell", NULL};
    static const char *const of_picture[] = {"low", "high", NULL}, *const of_others[] = {"cell", NULL};
    const kf_json_place place = {file, "terrain"};
    const char *grid = NULL, *picture = NULL, *formula = NULL;
    double low = 0.0, high = 0.0;
    char path[KF_PATH];
    memset(terrain, 0, sizeof *terrain);
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    KF_TRY(kf_json_string(place, object, "file", false, &grid, error));
    KF_TRY(kf_json_string(place, object, "picture", false, &picture, error));
    KF_TRY(kf_json_string(place, object, "formula", false, &formula, error));
    if ((grid != NULL) + (picture != NULL) + (formula != NULL) != 1)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: terrain: give one of \"file\" (an ESRI ASCII grid), \"picture\" and \"formula\"",
                       file);
    if (dimensions == 2 && formula == NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: terrain: two dimensions take a formula of x", file);
    if (picture == NULL)
        KF_TRY(kf_json_refuse_keys(place, object, of_picture, "is for a \"picture\"", error));
    if (grid != NULL)
        KF_TRY(kf_json_refuse_keys(place, object, of_others,
                                   "is for a \"picture\" or a \"formula\"; the file says its own cellsize",
                                   error));
    KF_TRY(kf_json_number(place, object, "low", picture != NULL, -1e5, 1e5, &low, error));
    KF_TRY(kf_json_number(place, object, "high", picture != NULL, low, 1e5, &high, error));
    KF_TRY(kf_json_number(place, object, "cell", grid == NULL, 1e-6, 1e5, &terrain->cell, error));
    if (formula != NULL) return read_formula(file, formula, dimensions, size, terrain, error);
    KF_TRY(beside(file, grid != NULL ? grid : picture, path, error));
    const kf_status status = grid != NULL ? read_grid(path, terrain, error)
                                          : kf_terrain_read_picture(path, low, high, terrain, error);
    if (status != KF_BAD_INPUT) return status;
    return kf_fail_context(error, "%s: terrain.%s", file, grid != NULL ? "file" : "picture");
}

/* ---- Heights between the nodes ---- */

/* Returns the first of three nodes around a position along one axis, with the weights of the quadratic
 * B-spline and their slopes. */
static int spline(double x, double cell, double origin, int nodes, double weight[3], double slope[3]) {
    if (nodes == 1) {
        weight[0] = 1.0;
        weight[1] = weight[2] = slope[0] = slope[1] = slope[2] = 0.0;
        return 0;
    }
    const double u = (x - origin) / cell;
    int i = (int)floor(fmin(fmax(u, 0.0), (double)nodes) + 0.5);
    i = i < 1 ? 1 : i > nodes - 2 ? nodes - 2 : i;
    const double t = fmin(fmax(u - i, -0.5), 0.5);
    weight[0] = 0.5 * (0.5 - t) * (0.5 - t);
    weight[1] = 0.75 - t * t;
    weight[2] = 0.5 * (0.5 + t) * (0.5 + t);
    slope[0] = (t - 0.5) / cell;
    slope[1] = -2.0 * t / cell;
    slope[2] = (t + 0.5) / cell;
    return i - 1;
}

/* Returns the height of the terrain at a position, and its slope, by smooth quadratic B-splines. */
double kf_terrain_height(const kf_terrain *terrain, double x, double y, double slope[2]) {
    double wx[3], wy[3], gx[3], gy[3], height = 0.0, along[2] = {0.0, 0.0};
    const int ix = spline(x, terrain->cell, terrain->origin[0], terrain->nodes[0], wx, gx);
    const int iy = spline(y, terrain->cell, terrain->origin[1], terrain->nodes[1], wy, gy);
    const int columns = terrain->nodes[1] == 1 ? 1 : 3;
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < columns; l++) {
            const double value =
                terrain->heights[(size_t)(ix + k) * (size_t)terrain->nodes[1] + (size_t)(iy + l)];
            height += wx[k] * wy[l] * value;
            along[0] += gx[k] * wy[l] * value;
            along[1] += wx[k] * gy[l] * value;
        }
    if (slope != NULL) {
        slope[0] = along[0];
        slope[1] = along[1];
    }
    return height;
}

void kf_terrain_range(const kf_terrain *terrain, double *low, double *high) {
    const size_t count = (size_t)terrain->nodes[0] * (size_t)terrain->nodes[1];
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        *low = fmin(*low, terrain->heights[i]);
        *high = fmax(*high, terrain->heights[i]);
    }
}
