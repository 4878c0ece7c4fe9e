/* Reads the text of landscape files: JSON, which may be gzipped or incomplete. */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/json_strict.h"
#include "base/util/spawn.h"
#include "base/util/text.h"
#include "results/foreign_words.h"
#include "results/landscape_read.h"

static const size_t largest_text = (size_t)1 << 30;

/* Text compresses ten to thirty times. A file of a few kB that unpacks to a GB does not contain results. */
static size_t most_unpacked(size_t packed) {
    static const size_t times = 200, least = (size_t)64 << 20;
    const size_t most = packed > largest_text / times ? largest_text : packed * times;
    return most > least ? most : least;
}

/* Unpacks a gzip file with the program gzip, up to a limit. */
static kf_status unpack(const char *file, size_t packed, kf_text *text, kf_error *error) {
    const size_t most = most_unpacked(packed);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return kf_fail(error, KF_MACHINE, "%s: no pipe: %s", file, strerror(errno));
    static const char *const words[] = {"gzip", "-dc", NULL};
    const kf_spawn gzip = {.words = words, .input = file, .output = ends[1], .errors = -1};
    pid_t process = 0;
    const int reason = kf_spawn_start(&gzip, &process);
    (void)close(ends[1]);
    if (reason == 0) text->text = kf_spawn_read(ends[0], most + 1, false, &text->length);
    (void)close(ends[0]); /* after the limit gzip ends at its next write */
    if (reason != 0)
        return kf_fail(error, KF_MACHINE,
                       "%s: cannot be unpacked, gzip does not start: %s; unpack it by hand", file,
                       kf_spawn_reason(reason));
    text->capacity = text->length + 1;
    const int ending = kf_spawn_wait(process);
    if (text->length > most)
        return kf_fail(error, KF_BAD_INPUT, "%s: its %zu bytes unpack to more than %zu; unpack it by hand",
                       file, packed, most);
    if (ending == -1 || !WIFEXITED(ending) || WEXITSTATUS(ending) != 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: is a damaged gzip file; fetch it again", file);
    return KF_OK;
}

static kf_status read_text(const char *file, kf_text *text, kf_error *error) {
    KF_TRY(kf_file_read(file, largest_text, &text->text, &text->length, error));
    text->capacity = text->length + 1;
    bool packed = text->length > 2 && memcmp(text->text, "\x1f\x8b", 2) == 0;
    if (!packed) return KF_OK;
    const size_t size = text->length;
    kf_text_free(text);
    return unpack(file, size, text, error);
}

/* Returns the length of a number such as -1.0, which is whole and has a point; 0: the text does not begin
 * with one. */
static size_t whole_float(const char *text) {
    const size_t sign = *text == '-', digits = kf_json_digits(text + sign);
    if (digits == 0 || text[sign + digits] != '.') return 0;
    size_t length = sign + digits + 1;
    const size_t point = length;
    while (text[length] == '0')
        length++;
    return length > point && strchr(",]} \t\r\n", text[length]) != NULL ? length : 0;
}

/* Returns the length of the token at `text`, and its replacement; 0: it stays as it is. Python writes words
 * that JSON does not have. NaN and the like become null. */
static size_t replacement(const char *text, char changed[40]) {
    static const char *const words[] = {"NaN", "-Infinity", "Infinity"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0) {
            kf_copy_text(changed, 40, "null");
            return strlen(words[i]);
        }
    const size_t length = whole_float(text);
    if (length == 0 || length > 24) return 0;
    (void)snprintf(changed, 40, "\"\\u%04x%.*s\"", KF_WHOLE_FLOAT, (int)length, text);
    return length;
}

/* Replaces tokens outside of quoted texts. */
static void replace_tokens(kf_text *text) {
    kf_text result = {0};
    const char *begin = text->text;
    bool quoted = false, token = true;
    for (const char *at = begin; *at != '\0'; at++) {
        char changed[40];
        if (quoted && *at == '\\' && at[1] != '\0') {
            at++;
            continue;
        }
        if (*at == '"') quoted = !quoted;
        const size_t length = token && !quoted ? replacement(at, changed) : 0;
        token = strchr(":,[ \t\r\n", *at) != NULL;
        if (length == 0) continue;
        kf_text_append(&result, "%.*s%s", (int)(at - begin), begin, changed);
        begin = at + length;
        at = begin - 1;
        token = false;
    }
    if (begin == text->text) return;
    kf_text_append(&result, "%s", begin);
    kf_text_free(text);
    *text = result;
}

static void make_number(cJSON *item) {
    const double number = strtod(item->valuestring + 1, NULL);
    cJSON_free(item->valuestring);
    item->valuestring = NULL;
    item->type = cJSON_Number;
    (void)cJSON_SetNumberHelper(item, number);
}

/* Turns marked numbers into numbers again. Those of parameters stay marked: in tune_params, under their names
 * in entries of a cache, and in a configuration. */
static void restore_numbers(cJSON *json, const cJSON *parameters, int depth) {
    enum { CACHE_ENTRY = 2 };
    cJSON *item;
    cJSON_ArrayForEach(item, json) {
        const bool parameter =
            item->string != NULL &&
            (strcmp(item->string, "configuration") == 0 || item == parameters ||
             (depth == CACHE_ENTRY && cJSON_GetObjectItemCaseSensitive(parameters, item->string) != NULL));
        if (parameter) continue;
        if (cJSON_IsString(item) && item->valuestring[0] == KF_WHOLE_FLOAT)
            make_number(item);
        else
            restore_numbers(item, parameters, depth + 1);
    }
}

/* Parses the text. The cache of a job that still runs, or was killed, ends with a comma, perhaps after half
 * an entry, and lacks its last two braces. */
static kf_status parse(const char *file, kf_text *text, cJSON **root, kf_error *error) {
    if (kf_json_parse(file, text->text, text->length, root, error) == KF_OK) return KF_OK;
    size_t length = text->length;
    while (length > 0 && isspace((unsigned char)text->text[length - 1]))
        length--;
    if (length > 0 && text->text[length - 1] != ',' && text->text[length - 1] != '}')
        while (length > 1 && !(text->text[length] == '\n' && text->text[length - 1] == ','))
            length--;
    if (length <= 1 || strstr(text->text, "\"cache\"") == NULL)
        return error != NULL ? error->status : KF_BAD_INPUT;
    bool comma = text->text[length - 1] == ',';
    kf_text closed = {0};
    kf_text_append(&closed, "%.*s}}", (int)(comma ? length - 1 : length), text->text);
    kf_status status = kf_json_parse(file, closed.text, closed.length, root, NULL);
    kf_text_free(&closed);
    return status; /* the first error counts, because it names the line in the file */
}

kf_status kf_landscape_text_read(const char *file, cJSON **root, kf_error *error) {
    kf_text text = {0};
    *root = NULL;
    kf_status status = read_text(file, &text, error);
    if (status == KF_OK) replace_tokens(&text);
    if (status == KF_OK) status = parse(file, &text, root, error);
    if (status == KF_OK) restore_numbers(*root, cJSON_GetObjectItemCaseSensitive(*root, "tune_params"), 0);
    kf_text_free(&text);
    return status;
}
