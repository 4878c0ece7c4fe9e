/* Keeps the files that a command needs. They are copied, and words and variables that name them are changed
 * to name the copies. Names are compared as paths, so "./solver", "solver" and its absolute path are equal.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util/text.h"
#include "harness/nightly/command.h"
#include "harness/nightly/program.h"

typedef struct keeping {
    const kf_timed_command *command;
    const char *copies; /* the folder of the copies; NULL: nothing is replaced */
    bool named[KF_COMMAND_KEPT];
    bool lost; /* a named copy is missing, because links that leave a kept folder are not followed */
} keeping;

/* Makes a path absolute, without ".", ".." and empty parts. Links are not followed. */
static bool tidy(const char *folder, const char *name, char path[KF_PATH]) {
    char joined[KF_PATH], *rest = NULL;
    size_t length = 0;
    if (kf_path(joined, NULL, "%s/%s", name[0] == '/' ? "" : folder, name) != KF_OK) return false;
    path[0] = '\0';
    for (char *part = strtok_r(joined, "/", &rest); part != NULL; part = strtok_r(NULL, "/", &rest)) {
        if (strcmp(part, ".") == 0) continue;
        if (strcmp(part, "..") == 0) {
            while (length > 0 && path[length - 1] != '/')
                length--;
            length -= length > 0;
        } else {
            path[length++] = '/';
            memcpy(path + length, part, strlen(part));
            length += strlen(part);
        }
        path[length] = '\0';
    }
    return true;
}

/* Returns whether path is root or lies below it; *rest: the part after root. */
static bool is_below(const char *path, const char *root, const char **rest) {
    const size_t length = strlen(root);
    if (strncmp(path, root, length) != 0 || (path[length] != '\0' && path[length] != '/')) return false;
    *rest = path + length;
    return true;
}

/* Returns whether a text names a kept file, or a file in a kept folder, directly or by links; *there: it
 * exists. A text without '/' that is not a file may mean anything. */
static bool names(const char *folder, const char *text, const char *kept, char below[KF_PATH], bool *there) {
    char path[KF_PATH], root[KF_PATH], real_path[KF_PATH], real_root[KF_PATH];
    const char *rest = NULL;
    if (text[0] == '\0' || !tidy(folder, text, path) || !tidy(folder, kept, root)) return false;
    *there = access(path, F_OK) == 0;
    if (!*there && strchr(text, '/') == NULL) return false;
    if (!is_below(path, root, &rest) && (!kf_real_path(path, real_path) || !kf_real_path(root, real_root) ||
                                         !is_below(real_path, real_root, &rest)))
        return false;
    kf_copy_text(below, KF_PATH, rest);
    return true;
}

/* Appends the text, or the copy of the file that it names. */
static void append_path(keeping *k, const char *path, kf_text *text) {
    bool replaced = false;
    for (int i = 0; k->command->kept[i] != NULL; i++) {
        char below[KF_PATH], copy[2 * KF_PATH];
        bool there = false;
        if (!names(k->command->folder, path, k->command->kept[i], below, &there)) continue;
        k->named[i] = true;
        if (k->copies == NULL || replaced || !there) continue;
        replaced = true;
        (void)snprintf(copy, sizeof copy, "%s/%s%s", k->copies, k->command->kept[i], below);
        k->lost = k->lost || access(copy, F_OK) != 0;
        kf_text_append(text, "%s", copy);
    }
    if (!replaced) kf_text_append(text, "%s", path);
}

/* Replaces a path in a word, which is a path or ends with one: "--input=PATH". */
static void replace_word(keeping *k, char **word) {
    kf_text changed = {0};
    const char *equals = strchr(*word, '=');
    append_path(k, *word, &changed);
    if (equals != NULL && strcmp(changed.text, *word) == 0) {
        kf_text_free(&changed);
        kf_text_append(&changed, "%.*s", (int)(equals + 1 - *word), *word);
        append_path(k, equals + 1, &changed);
    }
    free(*word);
    *word = changed.text;
}

/* Replaces the paths in a variable, which are separated by colons. */
static void replace_variable(keeping *k, char **pair) {
    kf_text changed = {0};
    const char *at = strchr(*pair, '=') + 1;
    kf_text_append(&changed, "%.*s", (int)(at - *pair), *pair);
    for (bool more = true; more; at++) {
        const size_t length = strcspn(at, ":");
        kf_text part = {0};
        kf_text_append(&part, "%.*s", (int)length, at);
        append_path(k, part.text, &changed);
        kf_text_free(&part);
        at += length;
        more = *at == ':';
        if (more) kf_text_append(&changed, ":");
    }
    free(*pair);
    *pair = changed.text;
}

static void replace_all(keeping *k, kf_timed_command *command) {
    for (char **word = command->words; *word != NULL; word++)
        replace_word(k, word);
    for (char **pair = command->variables; *pair != NULL; pair++)
        replace_variable(k, pair);
}

static bool climbs(const char *name) {
    for (const char *at = name; *at != '\0'; at += strspn(at, "/")) {
        const size_t length = strcspn(at, "/");
        if (length == 2 && strncmp(at, "..", 2) == 0) return true;
        at += length;
    }
    return name[0] == '/';
}

/* Refuses a copy that nothing names. Every night would run tonight's file instead, and no change would be
 * seen. */
kf_status kf_command_check_kept(kf_json_place place, kf_timed_command *command, kf_error *error) {
    keeping k = {.command = command};
    replace_all(&k, command);
    for (int i = 0; command->kept[i] != NULL; i++) {
        char path[KF_PATH];
        const char *kept = command->kept[i];
        if (climbs(kept))
            return kf_fail(error, KF_BAD_INPUT, "%s: %s.keep: '%.200s' must lie below the working folder",
                           place.file, place.path, kept);
        KF_TRY(kf_path(path, error, "%s/%s", command->folder, kept));
        if (k.named[i] || access(path, F_OK) != 0) continue; /* a missing file fails its own benchmark */
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: %s.keep: no word or variable of the command names '%.200s', so every night would run "
            "tonight's file instead of its copy; name it there, or keep a folder that holds what names it",
            place.file, place.path, kept);
    }
    return KF_OK;
}

kf_status kf_command_keep(kf_timed_command *command, const char *archive, char hash[KF_HASH_HEX],
                          kf_error *error) {
    char folder[KF_PATH];
    KF_TRY(kf_files_keep(command->folder, (const char *const *)command->kept, archive, folder, hash, error));
    keeping k = {.command = command, .copies = folder};
    replace_all(&k, command);
    if (!k.lost) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "keep: a word of the command names a link, or a file, of which there is no copy; keep "
                   "what it points to");
}
