/* Checks for JSON that RFC 8259 forbids and cJSON accepts: numbers such as 01, unescaped control characters,
 * bytes that are not UTF-8, two members with the same name. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/clean.h"
#include "base/util/json_strict.h"
#include "base/util/memory.h"
#include "base/util/text.h"

/* --- Letters -------------------------------------------------------------------------------------------- */

size_t kf_json_digits(const char *text) {
    size_t count = 0;
    while (text[count] >= '0' && text[count] <= '9')
        count++;
    return count;
}

/* Checks a number: [-] digits [. digits] [e [+ or -] digits], without a zero before other digits. *end
 * becomes its end. Returns the fault, or NULL. */
static const char *number_fault(const char *text, const char **end) {
    const char *at = text + (*text == '-');
    const size_t whole = kf_json_digits(at);
    *end = at + whole;
    if (whole == 0) return "a number begins with a digit or '-'";
    if (whole > 1 && *at == '0') return "a number has no leading zeros";
    if (**end == '.') {
        const size_t part = kf_json_digits(++*end);
        if (part == 0) return "digits follow the point of a number";
        *end += part;
    }
    if (**end != 'e' && **end != 'E') return NULL;
    *end += 1 + (size_t)((*end)[1] == '+' || (*end)[1] == '-');
    const size_t power = kf_json_digits(*end);
    if (power == 0) return "digits follow the exponent's e";
    *end += power;
    return NULL;
}

/* Checks an escape after a backslash. \u0000 is refused, because it would end the text. */
static const char *escape_fault(const char *text) {
    if (text[1] != 'u') return NULL;
    for (int i = 2; i < 6; i++)
        if (!isxdigit((unsigned char)text[i])) return "four digits of 0 to 9 and a to f follow \\u";
    return strncmp(text + 2, "0000", 4) == 0 ? "a text has no zero byte" : NULL;
}

/* Checks a text from the character after its opening quotes. *end becomes its end, or the position of the
 * fault. */
static const char *text_fault(const char *text, const char *stop, const char **end) {
    const char *fault = NULL;
    for (; text < stop && *text != '"' && fault == NULL; *end = text) {
        const size_t length = kf_utf8_length(text);
        *end = text;
        if ((unsigned char)*text < 0x20)
            fault = *text == '\n'
                        ? "a text ends on its line: write \\n for a new one"
                        : "a text has no control characters: write \\t for a tab, \\u001b for others";
        else if (length == 0)
            fault = "a byte that is no UTF-8: save the file as UTF-8";
        else if (*text == '\\')
            fault = escape_fault(text);
        if (fault != NULL) return fault;
        text += *text == '\\' ? 2 : length;
    }
    *end = text + 1;
    return NULL;
}

/* Checks texts, numbers and blanks as RFC 8259 has them, because cJSON accepts more. *at is where the fault
 * lies. */
const char *kf_json_letter_fault(const char *text, size_t size, const char **at) {
    /* Some editors write this mark before UTF-8. */
    static const char mark[] = "\xef\xbb\xbf";
    const char *c = text, *stop = text + size, *fault = NULL;
    if (size >= 3 && memcmp(text, mark, 3) == 0) c += 3;
    while (c < stop) {
        const char *end = c + 1;
        if (*c == '"')
            fault = text_fault(c + 1, stop, &end);
        else if (isdigit((unsigned char)*c) || *c == '-')
            fault = number_fault(c, &end);
        else if ((unsigned char)*c < 0x20 && strchr("\t\r\n", *c) == NULL)
            fault = "only blanks, tabs and new lines stand between values";
        *at = *c == '"' && fault != NULL ? end : c;
        if (fault != NULL) return fault;
        c = end;
    }
    return NULL;
}

/* --- Names ---------------------------------------------------------------------------------------------- */

static int compare_names(const void *left, const void *right) {
    const cJSON *const *a = left, *const *b = right;
    return strcmp((*a)->string, (*b)->string);
}

/* Returns a member of an object whose name another member has too, or NULL. */
static const cJSON *same_name(const cJSON *object) {
    const size_t count = (size_t)cJSON_GetArraySize(object);
    if (count < 2) return NULL;
    const cJSON **members = kf_allocate(count * sizeof *members), *found = NULL;
    size_t i = 0;
    for (const cJSON *member = object->child; member != NULL && i < count; member = member->next)
        members[i++] = member;
    qsort(members, count, sizeof(const cJSON *), compare_names);
    for (i = 1; i < count && found == NULL; i++)
        if (strcmp(members[i - 1]->string, members[i]->string) == 0) found = members[i];
    free(members);
    return found;
}

/* Finds an object that has a name twice, at any depth. path gets the place, "solid.motion". */
bool kf_json_name_fault(const cJSON *value, kf_text *path) {
    const cJSON *twice = cJSON_IsObject(value) ? same_name(value) : NULL;
    const size_t length = path->length;
    if (twice != NULL) kf_text_append(path, "%s%s", length > 0 ? "." : "", twice->string);
    if (twice != NULL) return true;
    int index = 0;
    for (const cJSON *item = value->child; item != NULL; item = item->next, index++) {
        if (item->child == NULL) continue;
        if (cJSON_IsObject(value))
            kf_text_append(path, "%s%s", length > 0 ? "." : "", item->string);
        else
            kf_text_append(path, "[%d]", index);
        if (kf_json_name_fault(item, path)) return true;
        path->length = length;
        path->text[length] = '\0';
    }
    return false;
}
