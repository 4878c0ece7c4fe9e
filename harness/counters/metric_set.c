/* Reads metric sets. */
#include "harness/counters/metric_set.h"

#include <ctype.h>
#include <glob.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "base/util/text.h"

const char *const kf_set_variables[KF_SET_VARIABLES] = {"time_us", "least_bytes"};

enum { LONGEST_FILE = 1 << 20, NAMES = 2 * KF_SET_METRICS + KF_SET_DERIVED + KF_SET_VARIABLES };

typedef enum section { SECTION_NONE, SECTION_METRICS, SECTION_PAPI, SECTION_DERIVED, SECTION_LONG } section;
static const char *const section_names[] = {"", "METRICS", "PAPI", "DERIVED", "LONG"};

/* A file that is being read. */
typedef struct reader {
    const char *file;
    int line;
    section section;
    kf_text description;
    kf_metric_set *set;
} reader;

static kf_status complain(const reader *r, kf_error *error, const char *what, const char *word) {
    return kf_fail(error, KF_BAD_INPUT, "%s:%d: %s%s%s%s", r->file, r->line, what,
                   word[0] != '\0' ? " '" : "", word, word[0] != '\0' ? "'" : "");
}

/* Cuts the first word off *line. The rest begins with the next word; "": the line has ended. */
static char *take_word(char **line) {
    char *word = *line + strspn(*line, " \t");
    char *end = word + strcspn(word, " \t");
    *line = *end == '\0' ? end : end + 1 + strspn(end + 1, " \t");
    *end = '\0';
    return word;
}

/* --- Names ---------------------------------------------------------------------------------------------- */

/* Lists the names that a formula may use so far, and returns their number. */
static int known_names(const kf_metric_set *set, const char *names[NAMES]) {
    int count = 0;
    for (int i = 0; i < KF_SET_VARIABLES; i++)
        names[count++] = kf_set_variables[i];
    for (int i = 0; i < set->cupti_count; i++)
        names[count++] = set->cupti[i].name;
    for (int i = 0; i < set->papi_count; i++)
        names[count++] = set->papi[i].name;
    for (int i = 0; i < set->derived_count; i++)
        names[count++] = set->derived[i].name;
    return count;
}

static bool among(const char *name, const kf_metric *metrics, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(metrics[i].name, name) == 0) return true;
    return false;
}

/* Returns whether the name is taken. One name may stand for a CUPTI metric, a PAPI event, and a derived
 * metric if neither exists. They then have the same meaning. */
static bool is_taken(const kf_metric_set *set, section where, const char *name) {
    for (int i = 0; i < KF_SET_VARIABLES; i++)
        if (strcmp(kf_set_variables[i], name) == 0) return true;
    for (int i = 0; i < set->derived_count; i++)
        if (strcmp(set->derived[i].name, name) == 0) return true;
    return (where == SECTION_METRICS && among(name, set->cupti, set->cupti_count)) ||
           (where == SECTION_PAPI && among(name, set->papi, set->papi_count));
}

static bool is_name(const char *word) {
    if (!islower((unsigned char)word[0]) || strlen(word) >= KF_METRIC_NAME) return false;
    for (; *word != '\0'; word++)
        if (!islower((unsigned char)*word) && !isdigit((unsigned char)*word) && *word != '_') return false;
    return true;
}

/* --- Lines ---------------------------------------------------------------------------------------------- */

static kf_status take_name_and_unit(const reader *r, char **line, char *name, char *unit, kf_error *error) {
    const char *first = take_word(line);
    if (!is_name(first))
        return complain(r, error, "a name is lower-case letters, digits and _, begins with a letter, not",
                        first);
    if (is_taken(r->set, r->section, first)) return complain(r, error, "the name is used already:", first);
    kf_copy_text(name, KF_METRIC_NAME, first);
    const char *second = take_word(line);
    if (second[0] == '\0' || strlen(second) >= KF_METRIC_UNIT)
        return complain(r, error, "after the name comes a unit (1 for a pure number), not", second);
    kf_copy_text(unit, KF_METRIC_UNIT, second);
    if ((*line)[0] == '\0') return complain(r, error, "nothing comes after the unit of", name);
    return KF_OK;
}

static kf_status read_metric(const reader *r, char *line, kf_error *error) {
    kf_metric_set *set = r->set;
    const bool papi = r->section == SECTION_PAPI;
    int *count = papi ? &set->papi_count : &set->cupti_count;
    if (*count == KF_SET_METRICS) return complain(r, error, "too many metrics in one set", "");
    kf_metric metric = {.name = ""};
    KF_TRY(take_name_and_unit(r, &line, metric.name, metric.unit, error));
    const char *event = take_word(&line);
    if (strlen(event) >= KF_EVENT_NAME) return complain(r, error, "the event's name is too long:", event);
    if (line[0] != '\0') return complain(r, error, "too much in a line:", line);
    kf_copy_text(metric.event, sizeof metric.event, event);
    (papi ? set->papi : set->cupti)[(*count)++] = metric;
    return KF_OK;
}

/* Reads the line of a derived metric: name, unit and formula. The formula may only use names above it. */
static kf_status read_derived(const reader *r, char *line, kf_error *error) {
    kf_metric_set *set = r->set;
    if (set->derived_count == KF_SET_DERIVED) return complain(r, error, "too many derived metrics", "");
    kf_derived_metric derived = {.name = ""};
    KF_TRY(take_name_and_unit(r, &line, derived.name, derived.unit, error));
    const char *names[NAMES];
    const int count = known_names(set, names);
    kf_status status = kf_expression_parse(line, &derived.formula, error);
    if (status == KF_OK) status = kf_expression_check_names(derived.formula, names, count, error);
    if (status != KF_OK) {
        kf_expression_free(derived.formula);
        return kf_fail_context(error, "%s:%d: the formula of '%s'", r->file, r->line, derived.name);
    }
    set->derived[set->derived_count++] = derived;
    return KF_OK;
}

/* Returns whether the line begins a section. */
static bool begins_section(reader *r, const char *line) {
    for (int i = SECTION_METRICS; i <= SECTION_LONG; i++)
        if (strcmp(line, section_names[i]) == 0) {
            r->section = (section)i;
            return true;
        }
    return false;
}

/* Reads one line of a metric set according to its section. The section LONG is the description. */
static kf_status read_line(reader *r, char *line, kf_error *error) {
    for (size_t length = strlen(line); length > 0 && isspace((unsigned char)line[length - 1]);)
        line[--length] = '\0';
    if (r->section == SECTION_LONG) { /* it contains the rest of the file */
        kf_text_append(&r->description, "%s\n", line);
        return KF_OK;
    }
    if (line[0] == '#' || line[0] == '\0' || begins_section(r, line)) return KF_OK;
    switch (r->section) {
    case SECTION_METRICS:
    case SECTION_PAPI:
        return read_metric(r, line, error);
    case SECTION_DERIVED:
        return read_derived(r, line, error);
    default:
        if (strncmp(line, "SHORT ", 6) == 0 && r->set->summary[0] == '\0') {
            kf_copy_text(r->set->summary, sizeof r->set->summary, line + 6 + strspn(line + 6, " "));
            return KF_OK;
        }
        return complain(r, error, "expected SHORT, METRICS, PAPI, DERIVED or LONG, found", line);
    }
}

static kf_status read_set(reader *r, char *text, kf_error *error) {
    for (char *line = text; line != NULL;) {
        char *end = strchr(line, '\n');
        if (end != NULL) *end = '\0';
        r->line++;
        KF_TRY(read_line(r, line, error));
        line = end != NULL ? end + 1 : NULL;
    }
    if (r->set->summary[0] == '\0')
        return kf_fail(error, KF_BAD_INPUT, "%s: the line 'SHORT what the set is for' is missing", r->file);
    if (r->set->cupti_count + r->set->papi_count == 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: has no METRICS and no PAPI events", r->file);
    return KF_OK;
}

/* --- Files ---------------------------------------------------------------------------------------------- */

static void name_set(kf_metric_set *set, const char *path) {
    const char *slash = strrchr(path, '/');
    kf_copy_text(set->name, sizeof set->name, slash != NULL ? slash + 1 : path);
    char *dot = strrchr(set->name, '.');
    if (dot != NULL) *dot = '\0';
}

static bool is_set_file(const char *path) {
    return strcmp(strrchr(path, '/') + 1, "aliases.txt") != 0;
}

kf_status kf_metric_sets(kf_status (*visit)(void *context, const char *name, kf_error *error), void *context,
                         kf_error *error) {
    const char *folder;
    char pattern[KF_PATH];
    glob_t found;
    KF_TRY(kf_data_folder(&folder, error));
    KF_TRY(kf_path(pattern, error, "%s/metrics/*.txt", folder));
    if (glob(pattern, 0, NULL, &found) != 0)
        return kf_fail(error, KF_MACHINE, "%s: there is none; install kftune again", pattern);
    kf_status status = KF_OK;
    for (size_t i = 0; i < found.gl_pathc && status == KF_OK; i++) {
        kf_metric_set named = {.name = ""};
        if (!is_set_file(found.gl_pathv[i])) continue;
        name_set(&named, found.gl_pathv[i]);
        status = visit(context, named.name, error);
    }
    globfree(&found);
    return status;
}

enum { MOST_SETS = 64 };
typedef struct name_list {
    char *names[MOST_SETS];
    int count;
} name_list;

static kf_status collect_name(void *context, const char *name, kf_error *error) {
    (void)error;
    name_list *list = context;
    if (list->count < MOST_SETS) list->names[list->count++] = kf_duplicate(name);
    return KF_OK;
}

/* The file of a shipped set; the error of an unknown one names them all. */
static kf_status find_shipped(const char *name, char path[KF_PATH], kf_error *error) {
    name_list list = {.count = 0};
    kf_text all = {0};
    const char *folder;
    KF_TRY(kf_data_folder(&folder, error));
    kf_status status = kf_metric_sets(collect_name, &list, error);
    bool found = false;
    for (int i = 0; i < list.count; i++) {
        found = found || strcmp(list.names[i], name) == 0;
        kf_text_append(&all, "%s%s", i > 0 ? ", " : "", list.names[i]);
    }
    const char *nearest = kf_nearest(name, (const char *const *)list.names, list.count);
    if (status == KF_OK && found)
        status = kf_path(path, error, "%s/metrics/%s.txt", folder, name);
    else if (status == KF_OK && nearest != NULL)
        status = kf_fail(error, KF_BAD_INPUT, "no metric set '%s' (did you mean '%s'?)", name, nearest);
    else if (status == KF_OK)
        status =
            kf_fail(error, KF_BAD_INPUT, "no metric set '%s'; there are %s, or give a file", name, all.text);
    for (int i = 0; i < list.count; i++)
        free(list.names[i]);
    kf_text_free(&all);
    return status;
}

/* Opens a metric set: a file if the name contains a slash or a dot, otherwise a shipped set. */
kf_status kf_metric_set_open(const char *name, kf_metric_set **set, kf_error *error) {
    char path[KF_PATH], *text = NULL;
    size_t size = 0;
    *set = NULL;
    if (strpbrk(name, "/.") != NULL)
        KF_TRY(kf_path(path, error, "%s", name));
    else
        KF_TRY(find_shipped(name, path, error));
    KF_TRY(kf_file_read(path, LONGEST_FILE, &text, &size, error));
    kf_metric_set *made = kf_allocate_zeroed(1, sizeof *made);
    name_set(made, path);
    reader r = {.file = path, .set = made};
    kf_status status =
        strlen(text) == size
            ? read_set(&r, text, error)
            : kf_fail(error, KF_BAD_INPUT, "%s: is not a text file: it contains a zero byte", path);
    free(text);
    made->description = r.description.text != NULL ? r.description.text : kf_duplicate("");
    if (status != KF_OK) {
        kf_metric_set_free(made);
        return status;
    }
    *set = made;
    return KF_OK;
}

void kf_metric_set_free(kf_metric_set *set) {
    if (set == NULL) return;
    for (int i = 0; i < set->derived_count; i++)
        kf_expression_free(set->derived[i].formula);
    free(set->description);
    free(set);
}
