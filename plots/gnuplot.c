#include "plots/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/util/clean.h"
#include "base/util/file.h"
#include "base/util/spawn.h"

/* A separate folder for data and result. gnuplot treats some file names ("|...", "<...") as commands, so it
 * only gets absolute names that kftune made. */
typedef struct workplace {
    char folder[KF_PATH], data[KF_PATH], picture[KF_PATH];
} workplace;

const char *kf_gnuplot_format(const char *path) {
    static const char *const formats[] = {"svg", "png", "pdf"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof formats / sizeof *formats; i++) {
        if (strcasecmp(dot + 1, formats[i]) == 0) return formats[i];
    }
    return NULL;
}

static bool is_special(char character) {
    return (unsigned char)character < ' ' || character == 0x7f || strchr("\"'\\`#@$&<>|", character) != NULL;
}

void kf_gnuplot_field(kf_text *data, const char *text) {
    while (*text) {
        const int length = (int)kf_utf8_length(text); /* a picture is XML, which must be UTF-8 */
        if (length == 0 || (length == 1 && is_special(*text)))
            kf_text_append(data, "_");
        else
            kf_text_append(data, "%.*s", length, text);
        text += length > 0 ? length : 1;
    }
}

/* Returns the bytes of this number of characters in a UTF-8 text. */
static size_t bytes_of(const char *text, size_t characters) {
    size_t bytes = 0;
    for (; characters > 0 && text[bytes] != '\0'; characters--)
        bytes += kf_utf8_length(text + bytes);
    return bytes;
}

/* The end of a word is kept, because names that were shortened differ there. */
void kf_gnuplot_heading(kf_text *heading, const char *text) {
    enum { LONGEST = 48, BEGIN = 33, END = 12 };
    kf_text whole = {0};
    kf_gnuplot_field(&whole, text);
    for (const char *word = whole.text != NULL ? whole.text : ""; *word != '\0';) {
        const size_t length = strcspn(word, " ");
        size_t characters = 0;
        for (size_t at = 0; at < length; at += kf_utf8_length(word + at))
            characters++;
        if (characters > LONGEST)
            kf_text_append(heading, "%.*s...%.*s", (int)bytes_of(word, BEGIN), word,
                           (int)(length - bytes_of(word, characters - END)),
                           word + bytes_of(word, characters - END));
        else
            kf_text_append(heading, "%.*s", (int)length, word);
        word += length;
        for (; *word == ' '; word++)
            kf_text_append(heading, " ");
    }
    kf_text_free(&whole);
}

static kf_status open_workplace(workplace *place, kf_error *error) {
    const char *base = getenv("TMPDIR");
    if (!base || base[0] != '/') base = "/tmp";
    KF_TRY(kf_path(place->folder, error, "%s/kftune-plot-XXXXXX", base));
    if (!mkdtemp(place->folder)) {
        kf_status status =
            kf_fail(error, KF_MACHINE, "%s: cannot make a temporary folder: %s; set TMPDIR to another place",
                    base, strerror(errno));
        place->folder[0] = '\0';
        return status;
    }
    KF_TRY(kf_path(place->data, error, "%s/data", place->folder));
    return kf_path(place->picture, error, "%s/picture", place->folder);
}

static void close_workplace(const workplace *place) {
    if (!place->folder[0]) return;
    unlink(place->data);
    unlink(place->picture);
    rmdir(place->folder);
}

/* Runs gnuplot. It opens the terminal that users set for their screens even if the script asks for another
 * one. *complaints: its output on stderr; owned by the caller. */
static kf_status run_gnuplot(const char *const *words, char **complaints, int *ending, kf_error *error) {
    enum { MOST_COMPLAINTS = 1 << 16 };
    int ends[2];
    pid_t child = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return kf_fail(error, KF_MACHINE, "cannot start gnuplot: no pipe: %s", strerror(errno));
    static const char *const of_screens[] = {"GNUTERM", NULL};
    char **environment = kf_spawn_environment(of_screens, NULL);
    const kf_spawn gnuplot = {.words = words, .output = -1, .errors = ends[1], .environment = environment};
    const int failure = kf_spawn_start(&gnuplot, &child);
    free(environment);
    (void)close(ends[1]);
    if (failure == 0) *complaints = kf_spawn_read(ends[0], MOST_COMPLAINTS, true, NULL);
    (void)close(ends[0]);
    if (failure == ENOENT)
        return kf_fail(error, KF_MACHINE,
                       "gnuplot is not installed, and plots need it; on Debian: apt-get install gnuplot-nox");
    if (failure != 0) return kf_fail(error, KF_MACHINE, "cannot start gnuplot: %s", kf_spawn_reason(failure));
    *ending = kf_spawn_wait(child);
    return KF_OK;
}

/* Fails with the first meaningful line of gnuplot's messages. */
static kf_status complain(char *text, const char *script, kf_error *error) {
    const char *found = strstr(text, "line ");
    const char *first = found ? found : text + strspn(text, " \t\n");
    text[(size_t)(first - text) + strcspn(first, "\n")] = '\0';
    const bool lacks_terminal = strstr(first, "unknown or ambiguous terminal") != NULL;
    return kf_fail(
        error, KF_MACHINE, "gnuplot failed in %s: %s%s", script, *first ? first : "it wrote no picture",
        lacks_terminal ? "; this gnuplot is too old or lacks cairo, on Debian: apt-get install gnuplot-nox"
                       : "");
}

/* Draws one picture: writes the data, runs gnuplot with the script, and moves the picture to its place. After
 * a failure the error contains gnuplot's message. */
static kf_status draw(const kf_gnuplot_job *job, const workplace *place, kf_error *error) {
    const char *folder;
    char script[KF_PATH];
    KF_TRY(kf_data_folder(&folder, error));
    KF_TRY(kf_path(script, error, "%s/plots/%s", folder, job->script));
    KF_TRY(kf_file_write_atomic(place->data, job->data, strlen(job->data), error));
    kf_text title = {0}, subtitle = {0};
    kf_gnuplot_heading(&title, job->title);
    kf_gnuplot_heading(&subtitle, job->subtitle);
    const char *words[10 + KF_GNUPLOT_VALUES] = {"gnuplot",
                                                 "--default-settings",
                                                 "-c",
                                                 script,
                                                 place->data,
                                                 place->picture,
                                                 kf_gnuplot_format(job->path),
                                                 title.text ? title.text : "",
                                                 subtitle.text ? subtitle.text : ""};
    for (int i = 0; i < KF_GNUPLOT_VALUES && job->values[i]; i++)
        words[9 + i] = job->values[i];
    int ending = 0;
    char *complaints = NULL;
    kf_status status = run_gnuplot(words, &complaints, &ending, error);
    kf_text_free(&title);
    kf_text_free(&subtitle);
    if (status != KF_OK) return status;
    char *picture = NULL;
    size_t size = 0;
    if (ending != 0 || kf_file_read(place->picture, 0, &picture, &size, NULL) != KF_OK || size == 0)
        status = complain(complaints, job->script, error);
    else
        status = kf_file_write_atomic(job->path, picture, size, error);
    free(picture);
    free(complaints);
    return status;
}

kf_status kf_gnuplot_run(const kf_gnuplot_job *job, kf_error *error) {
    workplace place = {0};
    kf_status status = open_workplace(&place, error);
    if (status == KF_OK) status = draw(job, &place, error);
    close_workplace(&place);
    return status;
}
