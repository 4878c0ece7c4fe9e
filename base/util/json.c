#include "base/util/json.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/clean.h"
#include "base/util/file.h"
#include "base/util/foreign.h"
#include "base/util/json_strict.h"
#include "base/util/memory.h"
#include "base/util/program.h"
#include "base/util/text.h"

/* Fails with "file: path.key: message". */
__attribute__((format(printf, 4, 5))) static kf_status fail_at(kf_json_place place, const char *key,
                                                               kf_error *error, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    bool top = place.path == NULL || place.path[0] == '\0';
    const char *dot = top || key[0] == '\0' ? "" : ".";
    (void)kf_fail(error, KF_BAD_INPUT, "%s: %s%s%.160s: %s", place.file, top ? "" : place.path, dot, key,
                  message);
    return KF_BAD_INPUT;
}

/* --- Parsing ------------------------------------------------------------------------------------------ */

/* Returns the last character before a position that is not blank, or '\0'. */
static char letter_before(const char *text, const char *at) {
    while (at > text && strchr(" \t\r\n", at[-1]) != NULL)
        at--;
    return at > text ? at[-1] : '\0';
}

/* Says whether brackets stand in each other at this place more deeply than cJSON reads. */
static bool is_too_deep(const char *text, const char *at) {
    size_t open = 0;
    bool quoted = false;
    for (; text < at; text++) {
        if (*text == '\\' && quoted)
            text++;
        else if (*text == '"')
            quoted = !quoted;
        else if (!quoted && (*text == '[' || *text == '{'))
            open++;
        else if (!quoted && (*text == ']' || *text == '}') && open > 0)
            open--;
    }
    return open >= CJSON_NESTING_LIMIT;
}

/* Says what to write instead to people who know JavaScript, Python or YAML better. */
static const char *syntax_hint(const char *text, const char *at) {
    static const char *const numbers[] = {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf"};
    const char before = letter_before(text, at);
    if (*at == '#' || (*at == '/' && (at[1] == '/' || at[1] == '*')))
        return strchr(text, '{') == NULL ? "" : "; JSON has no comments: words go into \"description\"";
    if (*at == '\'') return "; JSON has double quotes";
    if (*at == '\\')
        return at[1] == 'u' ? "; behind \\u stand four hexadecimal digits, and both halves of a pair"
                            : "; in a text a backslash is written \\\\";
    if ((*at == '[' || *at == '{') && is_too_deep(text, at))
        return "; brackets stand too deeply in each other";
    if ((*at == 'x' || *at == 'X') && at > text && at[-1] == '0') return "; JSON has decimal numbers only";
    if ((*at == '}' || *at == ']') && before == ',') return "; remove the comma before it";
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strncmp(at, numbers[i], strlen(numbers[i])) == 0) return "; JSON has finite numbers only";
    if ((*at == '.' || *at == '+') && isdigit((unsigned char)at[1]))
        return "; a number begins with a digit or '-'";
    if (isdigit((unsigned char)*at) && before == ',' && at - text >= 2 && isdigit((unsigned char)at[-2]))
        return KF_DECIMALS_HINT;
    if (*at == '"' && before != '\0' && strchr("{[,:", before) == NULL)
        return "; is a comma missing before it?";
    if ((isalpha((unsigned char)*at) || *at == '_') && (before == '{' || before == ','))
        return "; a key stands in double quotes";
    return "";
}

/* Finds the place of a key without quotes: cJSON points a letter behind it. */
static const char *place_of_key(const char *text, const char *at) {
    if (at == text || strchr(" \t\r\n\"", at[-1]) != NULL) return at;
    const char before = letter_before(text, at - 1);
    return before == '{' || before == ',' ? at - 1 : at;
}

static kf_status syntax_error(const char *file, const char *text, const char *at, const char *what,
                              kf_error *error) {
    int line = 1, column = 1;
    at = place_of_key(text, at);
    for (const char *c = text; c < at; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    char found[16];
    unsigned char letter = (unsigned char)*at;
    /* After these characters more must follow. */
    const char *rest = at + (letter != '\0' && strchr("\"{[,:", letter) != NULL);
    if (rest[strspn(rest, " \t\r\n")] == '\0')
        return kf_fail(error, KF_BAD_INPUT, "%s:%d:%d: %s, but the text ends here", file, line, column, what);
    (void)snprintf(found, sizeof found, isprint(letter) ? "'%c'" : "byte 0x%02x", letter);
    return kf_fail(error, KF_BAD_INPUT, "%s:%d:%d: %s, near %s%s", file, line, column, what, found,
                   syntax_hint(text, at));
}

/* Refuses a text of which cJSON made nothing. */
static kf_status refuse_text(const char *file, const char *text, size_t size, const char *at,
                             kf_error *error) {
    const char *kind = kf_foreign_kind(text, size);
    if (kind == NULL && strncmp(text, "glTF", 4) == 0)
        kind = "is a binary glTF mesh; let its name end in .glb";
    if (kind != NULL) return kf_fail(error, KF_BAD_INPUT, "%s: %s", file, kind);
    return syntax_error(file, text, at < text + size ? at : text + size, "not valid JSON", error);
}

void kf_json_check_memory(void) {
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = kf_allocate, .free_fn = free});
}

/* Values of a text, or a few more: each but the first follows a bracket or a comma. */
static size_t count_values(const char *text, size_t size) {
    size_t values = 1;
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\\' && quoted)
            i++;
        else if (text[i] == '"')
            quoted = !quoted;
        else
            values += !quoted && (text[i] == ',' || text[i] == '[' || text[i] == '{');
    }
    return values;
}

/* Checks the memory of the values before the first is made. A value of two characters takes forty times their
 * memory. */
static kf_status check_claim(const char *file, const char *text, size_t size, kf_error *error) {
    /* The overhead of malloc, and a short text. */
    enum { VALUE_BYTES = sizeof(cJSON) + 32, MOST_VALUES = 1 << 26 };
    const size_t values = count_values(text, size);
    const double bytes = (double)values * VALUE_BYTES + 2.0 * (double)size,
                 memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (values <= MOST_VALUES && bytes <= 0.5 * memory) return KF_OK;
    char taken[32], there[32];
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: %.3g values, which would take %s of memory; at most %d, and half of the %s of this "
                   "machine: split the file",
                   file, (double)values, kf_human_bytes(bytes, taken), (int)MOST_VALUES,
                   kf_human_bytes(memory, there));
}

/* Refuses what cJSON reads although it is no JSON. */
static kf_status check_strictly(const char *file, const char *text, size_t size, const cJSON *root,
                                kf_error *error) {
    const char *at = text, *fault = kf_json_letter_fault(text, size, &at);
    if (fault != NULL) return syntax_error(file, text, at, fault, error);
    kf_text path = {0};
    const bool twice = kf_json_name_fault(root, &path);
    if (twice) (void)kf_fail(error, KF_BAD_INPUT, "%s: %.300s is there twice; remove one", file, path.text);
    kf_text_free(&path);
    return twice ? KF_BAD_INPUT : KF_OK;
}

/* Parses JSON strictly: one value and nothing after it. A message names the file, line and column. */
kf_status kf_json_parse(const char *file, const char *text, size_t size, cJSON **root, kf_error *error) {
    KF_TRY(check_claim(file, text, size, error));
    /* Callers may pass a part of a larger text, so the parser gets a zero-terminated copy. */
    char *copy = kf_allocate(size + 1);
    memcpy(copy, text, size);
    copy[size] = '\0';
    const char *end = copy;
    errno = 0;
    cJSON *parsed = cJSON_ParseWithLengthOpts(copy, size, &end, 0);
    kf_status status = KF_OK;
    if (parsed == NULL && errno == ENOMEM) {
        status = kf_fail(error, KF_HOST, "%s: out of memory", file);
    } else if (parsed == NULL) {
        status = refuse_text(file, copy, size, end, error);
    } else {
        end += strspn(end, " \t\r\n");
        if (end < copy + size)
            status = syntax_error(file, copy, end, "something follows the JSON value", error);
        else
            status = check_strictly(file, copy, size, parsed, error);
    }
    free(copy);
    if (status != KF_OK) {
        cJSON_Delete(parsed);
        return status;
    }
    *root = parsed;
    return KF_OK;
}

kf_status kf_json_read_file(const char *file, cJSON **root, kf_error *error) {
    char *text = NULL;
    size_t size = 0;
    KF_TRY(kf_file_read(file, (size_t)256 << 20, &text, &size, error));
    kf_status status = kf_json_parse(file, text, size, root, error);
    free(text);
    return status;
}

kf_status kf_json_read_known(const char *file, cJSON **root, kf_error *error) {
    kf_error why;
    *root = NULL;
    if (kf_json_read_file(file, root, &why) != KF_HOST) return KF_OK;
    return kf_fail(error, KF_HOST, "%s", why.message);
}

/* --- Checked access ------------------------------------------------------------------------------------- */

static const char *type_name(const cJSON *value) {
    if (cJSON_IsString(value)) return "a string";
    if (cJSON_IsNumber(value)) return "a number";
    if (cJSON_IsBool(value)) return "a boolean";
    if (cJSON_IsArray(value)) return "an array";
    return cJSON_IsObject(value) ? "an object" : "null";
}

static kf_status check_object(kf_json_place place, const cJSON *object, kf_error *error) {
    if (cJSON_IsObject(object)) return KF_OK;
    bool top = place.path == NULL || place.path[0] == '\0';
    return fail_at(place, top ? "the whole text" : "", error, "must be an object {...}, not %s",
                   type_name(object));
}

static void join_names(const char *const *names, int count, kf_text *list) {
    for (int i = 0; i < count; i++)
        kf_text_append(list, "%s%s", i > 0 ? ", " : "", names[i]);
}

static kf_status unknown_name(kf_json_place place, const char *key, const char *what, const char *word,
                              const char *const *names, int count, kf_error *error) {
    const char *nearest = kf_nearest(word, names, count);
    kf_text list = {0};
    join_names(names, count, &list);
    kf_status status = nearest != NULL
                           ? fail_at(place, key, error, "unknown %s; did you mean \"%s\"?", what, nearest)
                           : fail_at(place, key, error, "unknown %s; there are: %s", what,
                                     list.text != NULL ? list.text : "none");
    kf_text_free(&list);
    return status;
}

kf_status kf_json_check_keys(kf_json_place place, const cJSON *object, const char *const *keys,
                             kf_error *error) {
    KF_TRY(check_object(place, object, error));
    int count = 0;
    while (keys[count] != NULL)
        count++;
    bool *seen = kf_allocate_zeroed((size_t)count + 1, sizeof *seen);
    kf_status status = KF_OK;
    for (const cJSON *member = object->child; member != NULL && status == KF_OK; member = member->next) {
        int i = 0;
        while (i < count && strcmp(keys[i], member->string) != 0)
            i++;
        if (i == count)
            status = unknown_name(place, member->string, "key", member->string, keys, count, error);
        else if (seen[i])
            status = fail_at(place, member->string, error, "is there twice; remove one");
        else
            seen[i] = true;
    }
    free(seen);
    return status;
}

kf_status kf_json_refuse_keys(kf_json_place place, const cJSON *object, const char *const *keys,
                              const char *why, kf_error *error) {
    for (int i = 0; keys[i] != NULL; i++)
        if (cJSON_GetObjectItemCaseSensitive(object, keys[i]) != NULL)
            return fail_at(place, keys[i], error, "%s; remove the key", why);
    return KF_OK;
}

/* Finds a member. *member is NULL when an optional key is missing. */
static kf_status find(kf_json_place place, const cJSON *object, const char *key, bool required,
                      const cJSON **member, kf_error *error) {
    *member = NULL;
    KF_TRY(check_object(place, object, error));
    *member = cJSON_GetObjectItemCaseSensitive(object, key);
    if (*member == NULL && required) return fail_at(place, key, error, "is missing; add it");
    return KF_OK;
}

static const char *describe_range(double low, double high, char text[96]) {
    bool below = high > -1e300 && high<1e300, above = low> - 1e300 && low < 1e300;
    if (below && above)
        (void)snprintf(text, 96, " from %.10g to %.10g", low, high);
    else if (above)
        (void)snprintf(text, 96, " of at least %.10g", low);
    else if (below)
        (void)snprintf(text, 96, " of at most %.10g", high);
    else
        text[0] = '\0';
    return text;
}

/* Returns whether a value is a number in a range. The comparison is false for NaN. */
static bool is_number_within(const cJSON *value, double low, double high) {
    return cJSON_IsNumber(value) && isfinite(value->valuedouble) && value->valuedouble >= low &&
           value->valuedouble <= high;
}

static kf_status fail_number(kf_json_place place, const char *key, const cJSON *value, const char *kind,
                             double low, double high, kf_error *error) {
    char range[96];
    describe_range(low, high, range);
    if (cJSON_IsNumber(value))
        return fail_at(place, key, error, "must be %s%s, not %.10g", kind, range, value->valuedouble);
    return fail_at(place, key, error, "must be %s%s, not %s", kind, range, type_name(value));
}

kf_status kf_json_number(kf_json_place place, const cJSON *object, const char *key, bool required, double low,
                         double high, double *value, kf_error *error) {
    const cJSON *member = NULL;
    KF_TRY(find(place, object, key, required, &member, error));
    if (member == NULL) return KF_OK;
    if (!is_number_within(member, low, high))
        return fail_number(place, key, member, "a finite number", low, high, error);
    *value = member->valuedouble;
    return KF_OK;
}

kf_status kf_json_integer(kf_json_place place, const cJSON *object, const char *key, bool required, long low,
                          long high, long *value, kf_error *error) {
    const cJSON *member = NULL;
    KF_TRY(find(place, object, key, required, &member, error));
    if (member == NULL) return KF_OK;
    const double whole = (double)KF_JSON_WHOLE, least = fmax((double)low, -whole),
                 most = fmin((double)high, whole);
    if (!is_number_within(member, least, most) || member->valuedouble != floor(member->valuedouble))
        return fail_number(place, key, member, "a whole number", least, most, error);
    *value = (long)member->valuedouble;
    return KF_OK;
}

kf_status kf_json_boolean(kf_json_place place, const cJSON *object, const char *key, bool required,
                          bool *value, kf_error *error) {
    const cJSON *member = NULL;
    KF_TRY(find(place, object, key, required, &member, error));
    if (member == NULL) return KF_OK;
    if (!cJSON_IsBool(member))
        return fail_at(place, key, error, "must be true or false, not %s", type_name(member));
    *value = cJSON_IsTrue(member) != 0;
    return KF_OK;
}

kf_status kf_json_string(kf_json_place place, const cJSON *object, const char *key, bool required,
                         const char **value, kf_error *error) {
    const cJSON *member = NULL;
    KF_TRY(find(place, object, key, required, &member, error));
    if (member == NULL) return KF_OK;
    if (!cJSON_IsString(member))
        return fail_at(place, key, error, "must be a string, not %s", type_name(member));
    *value = member->valuestring;
    return KF_OK;
}

kf_status kf_json_numbers(kf_json_place place, const cJSON *object, const char *key, bool required,
                          double low, double high, int count, double *values, kf_error *error) {
    const cJSON *member = NULL;
    KF_TRY(find(place, object, key, required, &member, error));
    if (member == NULL) return KF_OK;
    if (!cJSON_IsArray(member))
        return fail_at(place, key, error, "must be an array of %d numbers, not %s", count, type_name(member));
    int there = cJSON_GetArraySize(member);
    if (there != count) return fail_at(place, key, error, "must have %d numbers, not %d", count, there);
    int i = 0;
    for (const cJSON *item = member->child; item != NULL; item = item->next, i++) {
        if (is_number_within(item, low, high)) continue;
        char indexed[160];
        (void)snprintf(indexed, sizeof indexed, "%s[%d]", key, i);
        return fail_number(place, indexed, item, "a finite number", low, high, error);
    }
    /* The values are set only now, so that an error leaves them unchanged. */
    i = 0;
    for (const cJSON *item = member->child; item != NULL; item = item->next)
        values[i++] = item->valuedouble;
    return KF_OK;
}

kf_status kf_json_choice(kf_json_place place, const cJSON *object, const char *key, bool required,
                         const char *const *names, int count, int *index, kf_error *error) {
    const char *word = NULL;
    KF_TRY(kf_json_string(place, object, key, required, &word, error));
    if (word == NULL) return KF_OK;
    for (int i = 0; i < count; i++) {
        if (strcmp(word, names[i]) != 0) continue;
        *index = i;
        return KF_OK;
    }
    kf_text list = {0};
    join_names(names, count, &list);
    const char *nearest = kf_nearest(word, names, count);
    kf_status status = fail_at(place, key, error, "\"%.64s\" is none of: %s%s%s%s", word,
                               list.text != NULL ? list.text : "", nearest != NULL ? "; did you mean \"" : "",
                               nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
    kf_text_free(&list);
    return status;
}

kf_status kf_json_object(kf_json_place place, const cJSON *object, const char *key, bool required,
                         const cJSON **member, kf_error *error) {
    const cJSON *found = NULL;
    KF_TRY(find(place, object, key, required, &found, error));
    if (found != NULL && !cJSON_IsObject(found))
        return fail_at(place, key, error, "must be an object {...}, not %s", type_name(found));
    *member = found;
    return KF_OK;
}

/* --- Canonical text ------------------------------------------------------------------------------------- */

static void append_number(kf_text *out, double value) {
    if (!isfinite(value)) {
        kf_text_append(out, "null");
    } else if (value == floor(value) && fabs(value) < 1e15) {
        /* -0 and 0 are the same number. */
        kf_text_append(out, "%.0f", value == 0 ? 0.0 : value);
    } else {
        char text[40];
        for (int digits = 1; digits <= 17; digits++) {
            (void)snprintf(text, sizeof text, "%.*g", digits, value);
            if (strtod(text, NULL) == value) break;
        }
        kf_text_append(out, "%s", text);
    }
}

static void append_string(kf_text *out, const char *string) {
    kf_text_append(out, "\"");
    while (*string != '\0') {
        size_t plain = 0;
        while (string[plain] != '\0' && string[plain] != '"' && string[plain] != '\\' &&
               (unsigned char)string[plain] >= 0x20)
            plain++;
        kf_text_append(out, "%.*s", (int)plain, string);
        string += plain;
        if (*string == '\0') break;
        unsigned char letter = (unsigned char)*string++;
        kf_text_append(out, letter < 0x20 ? "\\u%04x" : "\\%c", letter);
    }
    kf_text_append(out, "\"");
}

static int compare_members(const void *left, const void *right) {
    const cJSON *const *a = left, *const *b = right;
    return strcmp((*a)->string, (*b)->string);
}

static void append_value(kf_text *out, const cJSON *value);

/* Appends an object in canonical form: keys in order, no blanks, so that equal objects have equal texts
 * and hashes. */
static void append_object(kf_text *out, const cJSON *object) {
    size_t count = (size_t)cJSON_GetArraySize(object), i = 0;
    const cJSON **members = kf_allocate_zeroed(count, sizeof(const cJSON *));
    for (const cJSON *member = object->child; member != NULL; member = member->next)
        members[i++] = member;
    qsort(members, count, sizeof(const cJSON *), compare_members);
    kf_text_append(out, "{");
    for (i = 0; i < count; i++) {
        kf_text_append(out, i > 0 ? "," : "");
        append_string(out, members[i]->string);
        kf_text_append(out, ":");
        append_value(out, members[i]);
    }
    kf_text_append(out, "}");
    free(members);
}

/* Appends a value in canonical form. */
static void append_value(kf_text *out, const cJSON *value) {
    if (cJSON_IsNumber(value)) {
        append_number(out, value->valuedouble);
    } else if (cJSON_IsString(value)) {
        append_string(out, value->valuestring);
    } else if (cJSON_IsBool(value)) {
        kf_text_append(out, cJSON_IsTrue(value) ? "true" : "false");
    } else if (cJSON_IsObject(value)) {
        append_object(out, value);
    } else if (cJSON_IsArray(value)) {
        kf_text_append(out, "[");
        for (const cJSON *item = value->child; item != NULL; item = item->next) {
            append_value(out, item);
            kf_text_append(out, item->next != NULL ? "," : "");
        }
        kf_text_append(out, "]");
    } else {
        kf_text_append(out, "null");
    }
}

char *kf_json_text(const cJSON *value, bool indented) {
    char *text = indented ? cJSON_Print(value) : cJSON_PrintUnformatted(value);
    if (text == NULL) kf_out_of_memory(0);
    kf_clean_text(text);
    return text;
}

char *kf_json_canonical(const cJSON *value) {
    kf_text out = {0};
    append_value(&out, value);
    return out.text;
}

/* --- Writing -------------------------------------------------------------------------------------------- */

cJSON *kf_json_number_or_null(double value) {
    return isfinite(value) ? cJSON_CreateNumber(value) : cJSON_CreateNull();
}

void kf_json_add_number(cJSON *object, const char *key, double value) {
    (void)cJSON_AddItemToObject(object, key, kf_json_number_or_null(value));
}

cJSON *kf_json_answer(const char *command) {
    cJSON *json = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(json, "kftune", KF_VERSION);
    (void)cJSON_AddStringToObject(json, "command", command);
    return json;
}

void kf_json_print(cJSON *json) {
    char *text = kf_json_text(json, true);
    cJSON_Delete(json);
    (void)puts(text);
    cJSON_free(text);
}

kf_status kf_json_write_file(const char *file, const cJSON *json, kf_error *error) {
    char *text = kf_json_text(json, true);
    kf_text content = {0};
    kf_text_append(&content, "%s\n", text);
    cJSON_free(text);
    const kf_status status = kf_file_write_atomic(file, content.text, content.length, error);
    kf_text_free(&content);
    return status;
}
