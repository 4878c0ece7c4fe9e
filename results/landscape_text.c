/* The text of landscape files: JSON, perhaps gzipped, perhaps cut off. */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/text.h"
#include "results/landscape_read.h"

static const size_t largest_text = (size_t)1 << 30;

static kf_status start_gzip(const char *file, int output, pid_t *process, kf_error *error) {
    posix_spawn_file_actions_t actions;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, file, O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    char program[] = "gzip", option[] = "-dc";
    char *const words[] = {program, option, NULL};
    int code = posix_spawnp(process, program, &actions, NULL, words, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (code == 0) return KF_OK;
    return kf_fail(error, KF_MACHINE, "%s: cannot be unpacked, gzip does not start: %s; unpack it by hand",
                   file, strerror(code));
}

/* Reads to the end or to the limit. */
static void drain(int input, kf_text *text) {
    static const size_t piece = (size_t)1 << 20;
    for (;;) {
        if (text->capacity < text->length + piece + 1) {
            text->capacity = 2 * text->capacity + piece + 1;
            text->text = kf_reallocate(text->text, text->capacity);
        }
        ssize_t got = read(input, text->text + text->length, piece);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        text->length += (size_t)got;
        if (text->length > largest_text) break;
    }
    text->text[text->length] = '\0';
}

static kf_status unpack(const char *file, kf_text *text, kf_error *error) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return kf_fail(error, KF_MACHINE, "%s: no pipe: %s", file, strerror(errno));
    pid_t process = 0;
    kf_status status = start_gzip(file, ends[1], &process, error);
    (void)close(ends[1]);
    if (status == KF_OK) drain(ends[0], text);
    (void)close(ends[0]); /* gzip ends at its next write if the limit was reached */
    if (status != KF_OK) return status;
    int ended = 0;
    while (waitpid(process, &ended, 0) < 0 && errno == EINTR)
        continue;
    if (text->length > largest_text)
        return kf_fail(error, KF_BAD_INPUT, "%s: unpacks to more than %zu bytes", file, largest_text);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0)
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
