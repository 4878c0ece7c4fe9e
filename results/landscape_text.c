/* The text of landscape files: JSON, perhaps gzipped, perhaps cut off. */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/spawn.h"
#include "base/util/text.h"
#include "results/landscape_read.h"

static const size_t largest_text = (size_t)1 << 30;

static kf_status unpack(const char *file, kf_text *text, kf_error *error) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return kf_fail(error, KF_MACHINE, "%s: no pipe: %s", file, strerror(errno));
    static const char *const words[] = {"gzip", "-dc", NULL};
    const kf_spawn gzip = {.words = words, .input = file, .output = ends[1], .errors = -1};
    pid_t process = 0;
    const int reason = kf_spawn_start(&gzip, &process);
    (void)close(ends[1]);
    if (reason == 0) text->text = kf_spawn_read(ends[0], largest_text + 1, false, &text->length);
    (void)close(ends[0]); /* gzip ends at its next write if the limit was reached */
    if (reason != 0)
        return kf_fail(error, KF_MACHINE,
                       "%s: cannot be unpacked, gzip does not start: %s; unpack it by hand", file,
                       strerror(reason));
    text->capacity = text->length + 1;
    const int ending = kf_spawn_wait(process);
    if (text->length > largest_text)
        return kf_fail(error, KF_BAD_INPUT, "%s: unpacks to more than %zu bytes", file, largest_text);
    if (ending == -1 || !WIFEXITED(ending) || WEXITSTATUS(ending) != 0)
        return kf_fail(error, KF_BAD_INPUT, "%s: is a damaged gzip file; fetch it again", file);
    return KF_OK;
}

static kf_status read_text(const char *file, kf_text *text, kf_error *error) {
    KF_TRY(kf_file_read(file, largest_text, &text->text, &text->length, error));
    text->capacity = text->length + 1;
    bool packed = text->length > 2 && memcmp(text->text, "\x1f\x8b", 2) == 0;
    if (!packed) return KF_OK;
    kf_text_free(text);
    return unpack(file, text, error);
}

/* The cache of a job that still runs, or was killed, ends in a comma, perhaps after half an entry, and its
 * last two braces are missing. */
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
    return status; /* the first error stands: it names the file's own line */
}

kf_status kf_landscape_text_read(const char *file, cJSON **root, kf_error *error) {
    kf_text text = {0};
    *root = NULL;
    kf_status status = read_text(file, &text, error);
    if (status == KF_OK) status = parse(file, &text, root, error);
    kf_text_free(&text);
    return status;
}
