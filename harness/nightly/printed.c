#include "harness/nightly/printed.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/util/json.h"
#include "base/util/text.h"

const char *const kf_comma_names[KF_COMMAS] = {"unknown", "thousands", "decimal"};

enum { SHOWN = 40 }; /* bytes of a program's output that a message quotes */

/* --- Units -----------------------------------------------------------------------------------------------
 */

static const struct {
    const char *names; /* separated by blanks */
    double us;
} units[] = {{"s sec secs second seconds", 1e6},
             {"ms msec msecs millisecond milliseconds", 1e3},
             {"us usec usecs microsecond microseconds \xc2\xb5s \xce\xbcs", 1.0},
             {"ns nsec nsecs nanosecond nanoseconds", 1e-3},
             {"min mins minute minutes", 60e6},
             {"h hr hrs hour hours", 3600e6}};

static double unit_of(const char *text, size_t length) {
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        for (const char *name = units[i].names; *name != '\0'; name += strspn(name, " ")) {
            const size_t size = strcspn(name, " ");
            if (size == length && strncasecmp(name, text, size) == 0) return units[i].us;
            name += size;
        }
    return 0.0;
}

double kf_unit_of_time(const char *text) {
    return unit_of(text, strlen(text));
}

/* --- Numbers ---------------------------------------------------------------------------------------------
 */

static bool is_letter(char c) {
    return isalpha((unsigned char)c) || (unsigned char)c >= 0x80 || c == '_';
}

static size_t digits(const char *text) {
    return strspn(text, "0123456789");
}

/* Returns the length of a number such as "12,345,678" with at least one group; 0: it is none. */
static size_t grouped(const char *text) {
    size_t length = digits(text), groups = 0;
    if (length < 1 || length > 3 || text[0] == '0') return 0;
    while (text[length] == ',' && digits(text + length + 1) == 3) {
        length += 4;
        groups++;
    }
    return groups > 0 ? length : 0;
}

static bool refuse(kf_printed *printed, const char *at, const char *what) {
    const size_t length = strcspn(at, "\n");
    (void)snprintf(printed->why, sizeof printed->why, "'%.*s': %s", (int)(length < SHOWN ? length : SHOWN),
                   at, what);
    return false;
}

/* Returns the length of an exponent. Fortran's may begin with a D. */
static size_t exponent(const char *text) {
    if (text[0] == '\0' || strchr("eEdD", text[0]) == NULL) return 0;
    const size_t sign = text[1] == '+' || text[1] == '-';
    const bool marked = tolower((unsigned char)text[0]) == 'e' || sign == 1;
    const size_t count = digits(text + 1 + sign);
    return marked && count > 0 ? 1 + sign + count : 0;
}

/* Returns the length of the whole part, which may contain commas. *ambiguous: a comma could also begin the
 * decimals. */
static size_t whole_part(const char *text, kf_comma comma, bool *ambiguous) {
    const size_t groups = grouped(text);
    *ambiguous = false;
    if (groups == 0 || comma == KF_COMMA_DECIMAL) return digits(text);
    const bool one = groups == digits(text) + 4;
    *ambiguous = comma == KF_COMMA_UNKNOWN && one && text[groups] != '.';
    return groups;
}

/* Reads a number that begins with a digit, a sign or a point. Returns its end; NULL, with the reason: it is
 * none. */
static const char *read_number(const char *text, kf_comma comma, kf_printed *printed) {
    char plain[64];
    size_t count = 0;
    const char *at = text + (*text == '+' || *text == '-');
    bool ambiguous = false;
    size_t length = whole_part(at, comma, &ambiguous);
    if (ambiguous) {
        (void)refuse(
            printed, text,
            "does the comma separate thousands or decimals? Add \"comma\": \"thousands\" or \"decimal\"");
        return NULL;
    }
    if (*text == '-') plain[count++] = '-';
    for (size_t i = 0; i < length && count < sizeof plain - 1; i++)
        if (at[i] != ',') plain[count++] = at[i];
    at += length;
    if (*at == '.' || (*at == ',' && comma == KF_COMMA_DECIMAL)) {
        length = 1 + digits(at + 1);
        if (count + length < sizeof plain)
            count += (size_t)snprintf(plain + count, sizeof plain - count, ".%.*s", (int)length - 1, at + 1);
        at += length;
    }
    length = exponent(at);
    if (length > 0 && count + length < sizeof plain)
        count += (size_t)snprintf(plain + count, sizeof plain - count, "e%.*s", (int)length - 1, at + 1);
    at += length;
    plain[count] = '\0';
    char *end = NULL;
    printed->number = strtod(plain, &end);
    if (end != plain && *end == '\0' && count < sizeof plain - 1) return at;
    (void)refuse(printed, text, "is no number");
    return NULL;
}

/* Returns the length of a non-breaking space, as it occurs before units and within numbers; 0: there is none.
 */
static size_t firm_space(const char *at) {
    static const char *const spaces[] = {"\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89"};
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (strncmp(at, spaces[i], strlen(spaces[i])) == 0) return strlen(spaces[i]);
    return 0;
}

/* Returns whether digits follow as in large numbers, times of day and ranges. */
static bool goes_on(const char *number, const char *at) {
    const size_t space = firm_space(at), length = (size_t)(at - number);
    if (space > 0 && isdigit((unsigned char)at[space])) return true;
    if (*at == ' ') return digits(at + 1) == 3 && length <= 3 && memchr(number, '.', length) == NULL;
    return *at != '\0' && strchr(",.'_:+-", *at) != NULL && isdigit((unsigned char)at[1]);
}

/* Returns whether the number ends with a single comma and digits, as in "12,5", where the comma can only
 * begin decimals. */
static bool has_decimals(const char *number, const char *at) {
    if (*at != ',' || memchr(number, '.', (size_t)(at - number)) != NULL) return false;
    const char *end = at + 1 + digits(at + 1);
    return !goes_on(at + 1, end);
}

/* Reads what follows a number: nothing, its unit, or a reason not to trust it. `comma` says what commas mean.
 */
static bool read_unit(const char *number, const char *at, kf_comma comma, kf_printed *printed) {
    if (comma == KF_COMMA_UNKNOWN && goes_on(number, at) && has_decimals(number, at))
        return refuse(
            printed, number,
            "the comma does not separate thousands; where decimals follow it, add \"comma\": \"decimal\"");
    if (goes_on(number, at))
        return refuse(printed, number, "is written in a way that is not read; print 1234.5");
    const size_t space = firm_space(at) + strspn(at + firm_space(at), " \t[(");
    const bool apart = space > 0;
    at += space;
    size_t length = 0;
    while (is_letter(at[length]))
        length++;
    printed->unit_us = unit_of(at, length);
    const char *behind = at + length;
    if (printed->unit_us > 0.0 && !isdigit((unsigned char)*behind)) return true;
    printed->unit_us = 0.0;
    if (*at == '%') return refuse(printed, number, "is a percentage");
    if (!apart && length > 0) return refuse(printed, number, "is no time, or its unit is not known");
    length = strcspn(at, " \t\n,;)");
    if ((length > 2 && strncmp(at + length - 2, "/s", 2) == 0) || strncasecmp(at, "hz", 2) == 0)
        return refuse(printed, number, "is a rate, not a time");
    return true;
}

static bool is_no_value(const char *at) {
    static const char *const words[] = {"nan", "inf", "infinity"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t length = strlen(words[i]);
        if (strncasecmp(at, words[i], length) == 0 && !is_letter(at[length])) return true;
    }
    return false;
}

/* Finds the beginning of a number in the line that is not within a word. NULL: there is none, or "nan" or
 * "inf" comes first. */
static const char *find_number(const char *at) {
    for (const char *begin = at; *at != '\0' && *at != '\n' && *at != '\r';) {
        const bool within = at > begin && (is_letter(at[-1]) || isdigit((unsigned char)at[-1]));
        const char *first = at + (strchr("+-", *at) != NULL);
        first += *first == '.';
        if (!within && isdigit((unsigned char)*first)) return at;
        if (!within && is_no_value(at)) return NULL;
        at++;
    }
    return NULL;
}

/* Returns a copy without the escape sequences of terminals, such as colours. The caller frees it. */
static char *without_escapes(const char *output) {
    char *copy = kf_duplicate(output), *to = copy;
    for (const char *from = output; *from != '\0';) {
        if (from[0] != '\x1b') {
            *to++ = *from++;
            continue;
        }
        from++;
        if (*from != '[') {
            from += *from != '\0';
            continue;
        }
        from += 1 + strcspn(from + 1, "@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~");
        from += *from != '\0';
    }
    *to = '\0';
    return copy;
}

static bool number_after(const char *output, const char *mark, kf_comma comma, kf_printed *printed) {
    const char *at = NULL;
    for (const char *next = output; (next = strstr(next, mark)) != NULL && *next != '\0'; next++)
        at = next;
    if (mark[0] == '\0') at = output;
    if (at == NULL) {
        (void)snprintf(printed->why, sizeof printed->why, "it is not printed");
        return false;
    }
    at += strlen(mark);
    const char *number = find_number(at);
    if (number == NULL) return refuse(printed, at, "holds no number");
    const char *end = read_number(number, comma, printed);
    return end != NULL && read_unit(number, end, comma, printed);
}

bool kf_printed_in_text(const char *output, const char *mark, kf_comma comma, kf_printed *printed) {
    *printed = (kf_printed){.number = (double)NAN};
    char *plain = without_escapes(output);
    const bool found = number_after(plain, mark, comma, printed);
    free(plain);
    return found;
}

/* --- JSON ------------------------------------------------------------------------------------------------
 */

/* Reads a number. It may be a text, because programs write large numbers as text to keep digits that
 * JavaScript would lose. */
static bool number_of(const cJSON *value, kf_printed *printed) {
    const char *text = cJSON_GetStringValue(value);
    printed->number = cJSON_IsNumber(value) ? value->valuedouble : (double)NAN;
    if (cJSON_IsNumber(value)) return true;
    if (text == NULL) {
        (void)snprintf(printed->why, sizeof printed->why, "it is no number");
        return false;
    }
    if (find_number(text) != text) return refuse(printed, text, "is no number");
    const char *end = read_number(text, KF_COMMA_UNKNOWN, printed);
    if (end == NULL || !read_unit(text, end, KF_COMMA_THOUSANDS, printed)) return false;
    return *end == '\0' || printed->unit_us > 0.0 || refuse(printed, text, "is no number");
}

bool kf_printed_at(const cJSON *json, const char *path, kf_printed *printed) {
    static const char *const members[] = {"time_unit", "unit"};
    const cJSON *parent = NULL;
    *printed = (kf_printed){.number = (double)NAN};
    const cJSON *value = kf_json_at(json, path, &parent, printed->why, sizeof printed->why);
    if (value == NULL || !number_of(value, printed)) return false;
    for (size_t i = 0; i < sizeof members / sizeof members[0] && printed->unit_us <= 0.0; i++) {
        const char *unit = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(parent, members[i]));
        if (unit == NULL) continue;
        printed->unit_us = kf_unit_of_time(unit);
        if (printed->unit_us <= 0.0) return refuse(printed, unit, "is no unit of time");
    }
    return true;
}

/* Finds the number in the last JSON document of the output that contains it. Programs may print other lines
 * before and after it, so each line that begins with '{' or '[' is tried, from the last one up. */
bool kf_printed_in_json(const char *output, const char *path, kf_printed *printed) {
    kf_printed nearest = {.why = "no JSON object or list begins a line"};
    bool any = false;
    for (const char *at = output + strlen(output); at >= output; at--) {
        if ((*at != '{' && *at != '[') || (at > output && at[-1] != '\n')) continue;
        cJSON *json = cJSON_Parse(at);
        const bool found = json != NULL && kf_printed_at(json, path, printed);
        /* The last document most likely explains the failure. */
        if (json != NULL && !found && !any) nearest = *printed;
        any = any || json != NULL;
        cJSON_Delete(json);
        if (found) return true;
    }
    *printed = nearest;
    return false;
}
