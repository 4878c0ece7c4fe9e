#include "plots/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/clean.h"
#include "base/util/file.h"

/* A folder of our own for data and result. gnuplot treats some file names ("|...", "<...") as commands, so it
 * is only ever given absolute names that we made. */
typedef struct workplace {
    char folder[KF_PATH], data[KF_PATH], picture[KF_PATH], complaints[KF_PATH];
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
    KF_TRY(kf_path(place->picture, error, "%s/picture", place->folder));
    return kf_path(place->complaints, error, "%s/complaints", place->folder);
}

static void close_workplace(const workplace *place) {
    if (!place->folder[0]) return;
    unlink(place->data);
    unlink(place->picture);
    unlink(place->complaints);
    rmdir(place->folder);
}

static kf_status spawn(const char *const *words, const workplace *place, int *exit_status, kf_error *error) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, place->complaints, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t child;
    int failure = posix_spawnp(&child, words[0], &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure == ENOENT) {
        return kf_fail(error, KF_MACHINE,
                       "gnuplot is not installed, and plots need it; on Debian: apt-get install gnuplot-nox");
    }
    if (failure != 0) return kf_fail(error, KF_MACHINE, "cannot start gnuplot: %s", strerror(failure));
    while (waitpid(child, exit_status, 0) < 0) {
        if (errno != EINTR) return kf_fail(error, KF_MACHINE, "lost gnuplot: %s", strerror(errno));
    }
    return KF_OK;
}

/* The first telling line of what gnuplot complained about. */
static kf_status complain(const workplace *place, const char *script, kf_error *error) {
    char *text = NULL;
    size_t size = 0;
    const char *line = "it wrote no picture";
    if (kf_file_read(place->complaints, 0, &text, &size, NULL) == KF_OK) {
        const char *found = strstr(text, "line ");
        const char *first = found ? found : text + strspn(text, " \t\n");
        text[(size_t)(first - text) + strcspn(first, "\n")] = '\0';
        if (*first) line = first;
    }
    kf_status status = kf_fail(error, KF_MACHINE, "gnuplot failed in %s: %s", script, line);
    free(text);
    return status;
}

static kf_status draw(const kf_gnuplot_job *job, const workplace *place, kf_error *error) {
    const char *folder;
    char script[KF_PATH];
    KF_TRY(kf_data_folder(&folder, error));
    KF_TRY(kf_path(script, error, "%s/plots/%s", folder, job->script));
    KF_TRY(kf_file_write_atomic(place->data, job->data, strlen(job->data), error));
    kf_text title = {0}, subtitle = {0};
    kf_gnuplot_field(&title, job->title);
    kf_gnuplot_field(&subtitle, job->subtitle);
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
    int exit_status = 0;
    kf_status status = spawn(words, place, &exit_status, error);
    kf_text_free(&title);
    kf_text_free(&subtitle);
    if (status != KF_OK) return status;
    char *picture = NULL;
    size_t size = 0;
    if (exit_status != 0 || kf_file_read(place->picture, 0, &picture, &size, NULL) != KF_OK || size == 0) {
        free(picture);
        return complain(place, job->script, error);
    }
    status = kf_file_write_atomic(job->path, picture, size, error);
    free(picture);
    return status;
}

kf_status kf_gnuplot_run(const kf_gnuplot_job *job, kf_error *error) {
    workplace place = {0};
    kf_status status = open_workplace(&place, error);
    if (status == KF_OK) status = draw(job, &place, error);
    close_workplace(&place);
    return status;
}
