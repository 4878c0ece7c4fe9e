/* Finds the unit that a mesh file states: a comment of an OBJ or PLY file, the header of an STL file. No such
 * format has a key for it, so programs write it in words: "File units = millimeters", "Units: mm". */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "scene/internal.h"
#include "scene/mesh_import.h"

enum { NAMES = 7 };
static const struct {
    double metres;
    const char *title, *names[NAMES];
} units[] = {
    {1.0, "metre", {"m", "meter", "meters", "metre", "metres"}},
    {0.01, "centimetre", {"cm", "centimeter", "centimeters", "centimetre", "centimetres"}},
    {0.001, "millimetre", {"mm", "millimeter", "millimeters", "millimetre", "millimetres"}},
    {1e-6,
     "micrometre",
     {"um", "micron", "microns", "micrometer", "micrometers", "micrometre", "micrometres"}},
    {1e3, "kilometre", {"km", "kilometer", "kilometers", "kilometre", "kilometres"}},
    {0.0254, "inch", {"in", "inch", "inches"}},
    {0.3048, "foot", {"ft", "foot", "feet"}},
    {0.9144, "yard", {"yd", "yard", "yards"}},
};

const char *kf_unit_title(double metres, char text[KF_UNIT_TITLE]) {
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        if (units[u].metres == metres) return units[u].title;
    (void)snprintf(text, KF_UNIT_TITLE, "length of %.6g m", metres);
    return text;
}

static bool is_end(char c) {
    return c == '\0' || c == '\n' || c == '\r';
}

/* Reads a unit that is a word of its own. "in" is a unit only where nothing follows, because it is a word of
 * sentences, too. Returns 0 if there is none. */
static double read_name(const char *text, const char *end) {
    const char *after = text;
    while (after < end && isalpha((unsigned char)*after))
        after++;
    const size_t length = (size_t)(after - text);
    const bool goes_on =
        after < end && !is_end(*after) && (isalnum((unsigned char)*after) || strchr("/^*", *after) != NULL);
    while (after < end && !is_end(*after) && !isalnum((unsigned char)*after))
        after++;
    const bool last = after == end || is_end(*after);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        for (int n = 0; n < NAMES && units[u].names[n] != NULL; n++) {
            const char *name = units[u].names[n];
            if (strlen(name) != length || strncasecmp(text, name, length) != 0 || goes_on) continue;
            return strcmp(name, "in") != 0 || last ? units[u].metres : 0.0;
        }
    return 0.0;
}

static const char *skip(const char *text, const char *end, const char *letters) {
    while (text < end && *text != '\0' && strchr(letters, *text) != NULL)
        text++;
    return text;
}

/* Reads what follows the word "unit": "= millimeters", ": mm", " are in feet", "=0.01 m", " is 1 inch". */
static double read_behind(const char *text, const char *end) {
    static const char *const joining[] = {"are", "is", "in"};
    if (text < end && tolower((unsigned char)*text) == 's') text++;
    if (text < end && isalpha((unsigned char)*text)) return 0.0;
    text = skip(text, end, "\" '\t=:()[");
    for (size_t j = 0; j < sizeof joining / sizeof *joining; j++) {
        const size_t length = strlen(joining[j]);
        const bool joins = (size_t)(end - text) > length && strncasecmp(text, joining[j], length) == 0 &&
                           (text[length] == ' ' || text[length] == '\t');
        if (joins) text = skip(text + length, end, "\" '\t=:(");
    }
    char number[32];
    size_t digits = 0;
    while (text + digits < end && digits + 1 < sizeof number && strchr("0123456789.", text[digits]) != NULL &&
           text[digits] != '\0') {
        number[digits] = text[digits];
        digits++;
    }
    number[digits] = '\0';
    if (digits == 0) return read_name(text, end);
    const char *stop = number;
    const double times = kf_scan_number(number, &stop);
    return *stop == '\0' && times > 0.0 ? times * read_name(skip(text + digits, end, " \t"), end) : 0.0;
}

void kf_polygons_state_unit(kf_polygons *polygons, const char *text, size_t length, long line) {
    static const char word[] = "unit";
    const char *end = text + length;
    for (const char *at = text; polygons->unit == 0.0 && at + sizeof word - 1 <= end; at++)
        if (strncasecmp(at, word, sizeof word - 1) == 0) {
            polygons->unit = read_behind(at + sizeof word - 1, end);
            polygons->unit_line = line;
        }
}

void kf_mesh_note_unit(const char *file, const kf_mesh *mesh, kf_text *notes) {
    char title[KF_UNIT_TITLE], line[32] = "";
    if (mesh->unit == 0.0 || mesh->unit == 1.0) return;
    if (mesh->unit_line > 0) (void)snprintf(line, sizeof line, ":%ld", mesh->unit_line);
    kf_note(notes,
            "%s%s: says that its unit is a %s, but the scene gives no \"scale\", so it is read in metres; "
            "\"scale\": %.6g converts it",
            file, line, kf_unit_title(mesh->unit, title), mesh->unit);
}
