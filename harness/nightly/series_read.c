/* Reads series from lines of a CSV file, or from files of benchmark libraries, each of which is a night. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/foreign.h"
#include "base/util/hash.h"
#include "base/util/memory.h"
#include "base/util/number.h"
#include "base/util/text.h"
#include "harness/nightly/result_files.h"
#include "harness/nightly/series.h"

enum { LARGEST_FILE = 1 << 28, FIELDS = 64 };
typedef enum column { TIME, VALUE, COMMIT, MACHINE, BENCHMARK, COLUMNS } column;
static const char *const column_names[COLUMNS] = {"time", "value", "commit", "machine", "benchmark"};

typedef struct reader {
    const char *path;
    int line;
    int places[COLUMNS]; /* place of a column among the fields; -1: it is missing */
    int columns;         /* number of columns in the header, known or not */
    kf_series_rows *rows;
    kf_error *error;
} reader;

void kf_series_free(kf_series_rows *rows) {
    free(rows->list);
    *rows = (kf_series_rows){.list = NULL};
}

static kf_series_row *add_row(kf_series_rows *rows) {
    rows->list = kf_grow(rows->list, rows->count, &rows->room, sizeof *rows->list);
    kf_series_row *row = &rows->list[rows->count++];
    *row = (kf_series_row){.order = (double)NAN};
    return row;
}

/* Cuts the next field off *line, which then begins after the comma; NULL after the last field. Quotes may
 * enclose commas, and two quotes mean one. *open: a quote is not closed on this line. */
static char *next_field(char **line, bool *open) {
    char *field = *line, *from = field, *to = field;
    bool quoted = false;
    if (field == NULL) return NULL;
    for (; *from != '\0' && (quoted || *from != ','); from++) {
        if (*from == '"' && quoted && from[1] == '"')
            *to++ = *from++;
        else if (*from == '"')
            quoted = !quoted;
        else
            *to++ = *from;
    }
    *line = *from == ',' ? from + 1 : NULL;
    *to = '\0';
    *open = quoted;
    return field;
}

static char *trimmed(char *text) {
    text += strspn(text, " \t\r");
    for (char *end = text + strlen(text); end > text && strchr(" \t\r", end[-1]) != NULL;)
        *--end = '\0';
    return text;
}

/* Cuts a line into its fields. A line with too many fields, or with an open quote, is refused, because its
 * fields would be misread. */
static kf_status split(const reader *r, char *line, char *fields[FIELDS], int *count) {
    bool open = false;
    *count = 0;
    for (char *field; (field = next_field(&line, &open)) != NULL;) {
        if (*count == FIELDS)
            return kf_fail(r->error, KF_BAD_INPUT, "%s:%d: has more than %d fields", r->path, r->line,
                           FIELDS);
        fields[(*count)++] = trimmed(field);
    }
    if (!open) return KF_OK;
    return kf_fail(r->error, KF_BAD_INPUT, "%s:%d: a quote is not closed on its line", r->path, r->line);
}

/* Returns whether a time is a date that does not begin with the year. Such dates cannot be sorted as text. */
static bool is_backward_date(const char *text) {
    int day = 0, month = 0, year = 0, used = 0;
    char one = '\0', other = '\0';
    const bool date =
        sscanf(text, "%2d%c%2d%c%4d%n", &day, &one, &month, &other, &year, &used) == 5 && used > 0;
    return date && one == other && strchr("./-", one) != NULL;
}

/* Finds the columns by their names in the first line. */
static kf_status read_header(reader *r, char *line) {
    char *fields[FIELDS];
    int count = 0;
    const char *other = strchr(line, ';') != NULL ? "semicolons" : strchr(line, '\t') != NULL ? "tabs" : NULL;
    KF_TRY(split(r, line, fields, &count));
    r->columns = count;
    for (int c = 0; c < COLUMNS; c++) {
        r->places[c] = -1;
        for (int i = 0; i < count; i++)
            if (strcmp(fields[i], column_names[c]) == 0) {
                if (r->places[c] >= 0)
                    return kf_fail(r->error, KF_BAD_INPUT,
                                   "%s: the first line names the column %s twice; rename one", r->path,
                                   column_names[c]);
                r->places[c] = i;
            }
    }
    if (r->places[TIME] >= 0 && r->places[VALUE] >= 0) return KF_OK;
    return kf_fail(
        r->error, KF_BAD_INPUT,
        "%s: the first line must name the columns time and value; commit, machine and benchmark may "
        "be beside them%s%s",
        r->path, other != NULL ? "; fields are separated by commas, not " : "", other != NULL ? other : "");
}

static double number_of(const char *text) {
    char *end = NULL;
    const double value = kf_read_decimal(text, &end);
    return end != text && *end == '\0' ? value : (double)NAN;
}

/* Reads a row of a CSV file by its header. A value that is not a number above 0 is refused. */
static kf_status read_row(const reader *r, char *line) {
    char *fields[FIELDS];
    int count = 0;
    KF_TRY(split(r, line, fields, &count));
    if (count != r->columns)
        return kf_fail(r->error, KF_BAD_INPUT, "%s:%d: has %d field%s, and the first line names %d columns%s",
                       r->path, r->line, count, count == 1 ? "" : "s", r->columns,
                       count > r->columns ? KF_DECIMALS_HINT ", and texts with commas need quotes" : "");
    const char *texts[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        texts[c] = r->places[c] >= 0 ? fields[r->places[c]] : "";
    const double value = number_of(texts[VALUE]);
    if (!(value > 0.0) || !isfinite(value))
        return kf_fail(r->error, KF_BAD_INPUT, "%s:%d: value '%.40s' is no number above 0", r->path, r->line,
                       texts[VALUE]);
    if (texts[TIME][0] == '\0')
        return kf_fail(r->error, KF_BAD_INPUT, "%s:%d: the time is missing", r->path, r->line);
    if (is_backward_date(texts[TIME]))
        return kf_fail(r->error, KF_BAD_INPUT,
                       "%s:%d: time '%.40s' cannot be sorted; write dates as 2024-12-31, the year first",
                       r->path, r->line, texts[TIME]);
    kf_series_row *row = add_row(r->rows);
    row->value = value;
    row->order = number_of(texts[TIME]);
    kf_copy_text(row->time, sizeof row->time, texts[TIME]);
    kf_copy_name(row->commit, sizeof row->commit, texts[COMMIT]);
    kf_copy_name(row->machine, sizeof row->machine, texts[MACHINE]);
    kf_copy_name(row->benchmark, sizeof row->benchmark, texts[BENCHMARK]);
    return KF_OK;
}

/* Reads a CSV file of a series: a header, then one value in each row. A file without a value is refused. */
static kf_status read_csv(reader *r) {
    char *text = NULL, *line;
    size_t size = 0;
    KF_TRY(kf_file_read(r->path, LARGEST_FILE, &text, &size, r->error));
    kf_status status = KF_OK;
    const char *kind = kf_foreign_kind(text, size);
    if (kind == NULL && strlen(text) != size) kind = "is no text";
    if (kind != NULL) status = kf_fail(r->error, KF_BAD_INPUT, "%s: %s", r->path, kind);
    /* Spreadsheets of old Macs end lines by this letter alone. */
    for (char *end = strchr(text, '\n') == NULL ? strchr(text, '\r') : NULL; end != NULL;
         end = strchr(end, '\r'))
        *end = '\n';
    char *rest = text + (strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    const size_t before = r->rows->count;
    while (status == KF_OK && (line = strsep(&rest, "\n")) != NULL) {
        r->line++;
        if (r->line == 1)
            status = read_header(r, line);
        else if (trimmed(line)[0] != '\0')
            status = read_row(r, line);
    }
    free(text);
    if (status == KF_OK && r->rows->count == before)
        status = kf_fail(r->error, KF_BAD_INPUT, "%s: holds no value", r->path);
    return status;
}

/* Reads one file of a benchmark library as a night. Its path serves as the time and not as the commit,
 * because the file of each night may have the same name. */
static kf_status read_night(const char *path, int night, kf_series_rows *rows, kf_error *error) {
    kf_result_file file;
    KF_TRY(kf_result_file_read(path, &file, error));
    for (size_t i = 0; i < file.count; i++)
        for (size_t k = 0; k < file.list[i].count; k++) {
            kf_series_row *row = add_row(rows);
            row->order = night;
            row->value = file.list[i].us[k];
            row->microseconds = true;
            kf_copy_text(row->benchmark, sizeof row->benchmark, file.list[i].name);
            const size_t length = strlen(path), most = sizeof row->time - 1;
            kf_copy_text(row->time, sizeof row->time, length > most ? path + length - most : path);
        }
    kf_result_file_free(&file);
    return KF_OK;
}

kf_status kf_series_read(const char *path, int night, kf_series_rows *rows, kf_error *error) {
    reader r = {.path = path, .rows = rows, .error = error};
    if (kf_ends_in(path, ".csv")) return read_csv(&r);
    return read_night(path, night, rows, error);
}
