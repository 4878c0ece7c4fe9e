/* Paths to a value in JSON that others wrote: "benchmarks.0.real_time",
 * "benchmarks[name=sort][run_type=iteration].real_time". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/text.h"

/* One part of a path: a name, an index, or the text in brackets. */
typedef struct step {
    bool bracket;
    char text[256];
} step;

/* Reads the part at the beginning of a path. Returns NULL when it is invalid. Brackets within brackets belong
 * to the text. */
static const char *next_step(const char *path, step *part) {
    size_t length = 0;
    int depth = 0;
    part->bracket = *path == '[';
    if (part->bracket) {
        for (; path[length] != '\0'; length++) {
            depth += (path[length] == '[') - (path[length] == ']');
            if (depth == 0) break;
        }
        if (path[length] != ']') return NULL;
        (void)snprintf(part->text, sizeof part->text, "%.*s", (int)length - 1, path + 1);
        return path + length + 1;
    }
    length = strcspn(path, ".[");
    (void)snprintf(part->text, sizeof part->text, "%.*s", (int)length, path);
    return length > 0 && length < sizeof part->text ? path + length : NULL;
}

/* Returns whether a member of item has the value that a condition "name=value" names. */
static bool meets(const cJSON *item, const char *condition) {
    char name[sizeof((step *)0)->text];
    const char *equals = strchr(condition, '=');
    (void)snprintf(name, sizeof name, "%.*s", (int)(equals - condition), condition);
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(item, name);
    if (cJSON_IsString(member)) return strcmp(member->valuestring, equals + 1) == 0;
    if (cJSON_IsBool(member)) return strcmp(cJSON_IsTrue(member) ? "true" : "false", equals + 1) == 0;
    char *end = NULL;
    const double value = strtod(equals + 1, &end);
    return cJSON_IsNumber(member) && end != equals + 1 && *end == '\0' && member->valuedouble == value;
}

/* Returns the only item of a list that meets all conditions from *path on, and moves *path behind them. */
static const cJSON *select_item(const cJSON *list, const char **path, char *why, size_t size) {
    enum { MOST_CONDITIONS = 8 };
    step conditions[MOST_CONDITIONS];
    int count = 0, matches = 0;
    while (**path == '[' && count < MOST_CONDITIONS) {
        const char *next = next_step(*path, &conditions[count]);
        if (next == NULL || strchr(conditions[count].text, '=') == NULL) break;
        *path = next;
        count++;
    }
    const cJSON *item, *selected = NULL;
    cJSON_ArrayForEach(item, list) {
        bool all = true;
        for (int i = 0; i < count; i++)
            all = all && meets(item, conditions[i].text);
        if (!all) continue;
        selected = item;
        matches++;
    }
    if (matches == 1) return selected;
    if (matches == 0)
        (void)snprintf(why, size, "nothing has %.100s", conditions[0].text);
    else
        (void)snprintf(why, size, "%d have %.100s: add a condition", matches, conditions[0].text);
    return NULL;
}

/* Returns an index in a list, from 0 on, or -1 when the text is not one. */
static int place_of(const char *text) {
    return strspn(text, "0123456789") == strlen(text) && strlen(text) < 9 ? atoi(text) : -1;
}

/* Takes one step of a path, by name or by index. Returns NULL with the reason when nothing is there. */
static const cJSON *take_step(const cJSON *from, const step *part, char *why, size_t size) {
    char name[sizeof part->text];
    const size_t length = strlen(part->text);
    kf_copy_text(name, sizeof name, part->text);
    if (part->bracket && length > 1 && name[0] == '"' && name[length - 1] == '"')
        (void)snprintf(name, sizeof name, "%.*s", (int)length - 2, part->text + 1);
    const int place = place_of(name);
    const cJSON *found = cJSON_IsArray(from) ? place >= 0 ? cJSON_GetArrayItem(from, place) : NULL
                                             : cJSON_GetObjectItemCaseSensitive(from, name);
    if (found == NULL) {
        if (cJSON_IsArray(from))
            (void)snprintf(why, size, "'%.100s' is no place in a list of %d, counted from 0", name,
                           cJSON_GetArraySize(from));
        else
            (void)snprintf(why, size, "there is no '%.100s'", name);
    }
    return found;
}

/* Finds the value at a path such as "benchmarks[name=sort].real_time", and the object that holds it. Returns
 * NULL with the reason when there is none. */
const cJSON *kf_json_at(const cJSON *root, const char *path, const cJSON **parent, char *why, size_t size) {
    const cJSON *at = root;
    while (at != NULL && *path != '\0') {
        step part;
        const char *next = next_step(path, &part);
        if (next == NULL) {
            (void)snprintf(why, size, "'%.100s' is no path of names, places and [name=value]", path);
            return NULL;
        }
        *parent = at;
        if (part.bracket && strchr(part.text, '=') != NULL && part.text[0] != '"') {
            at = select_item(at, &path, why, size);
        } else {
            at = take_step(at, &part, why, size);
            path = next;
        }
        if (*path == '.') path++;
    }
    return at;
}
