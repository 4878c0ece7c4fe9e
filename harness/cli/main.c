/* The entry of the program: finds the command, reads its options, runs it, and prints its error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/backend/backend.h"
#include "base/backend/team/team.h"
#include "base/backend/team/world.h"
#include "base/util/clean.h"
#include "base/util/json.h"
#include "base/util/log.h"
#include "base/util/processors.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "harness/cli/placement_argument.h"
#include "results/store.h"

/* A longer pause without a message makes the program look as if it hangs. */
static const double SIGN_SECONDS = 30;

static const kf_command *find_command(const char *name) {
    for (const kf_command *const *command = kf_commands; *command != NULL; command++)
        if (strcmp((*command)->name, name) == 0) return *command;
    return NULL;
}

/* Refuses an unknown command with the nearest name. If the word looks like a file, it names the commands that
 * take a mesh. */
static kf_status unknown_command(const char *name, kf_error *error) {
    enum { MOST = 64 };
    const char *names[MOST];
    int count = 0;
    for (const kf_command *const *command = kf_commands; *command != NULL && count < MOST; command++)
        names[count++] = (*command)->name;
    const char *nearest = kf_nearest(name, names, count);
    if (nearest != NULL)
        return kf_fail(error, KF_BAD_INPUT, "unknown command '%s' (did you mean '%s'?)", name, nearest);
    if (strpbrk(name, "./") != NULL)
        return kf_fail(
            error, KF_BAD_INPUT,
            "unknown command '%s'; give a mesh or scene as in 'kftune scene %s' or 'kftune --scene %s'", name,
            name, name);
    return kf_fail(error, KF_BAD_INPUT, "unknown command '%s'; 'kftune --help' lists them", name);
}

static bool asks_for_help(int word_count, char *const *words) {
    for (int i = 0; i < word_count && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-h") == 0) return true;
    return false;
}

/* Warns of too many threads. The threads of the cpu backend wait for each other, so one without a processor
 * delays all. */
static void warn_of_threads(const char *device) {
    const int processors = kf_processors_find().usable;
    const long threads = device != NULL && strncmp(device, "cpu:", 4) == 0 ? strtol(device + 4, NULL, 10) : 0;
    if (threads > processors)
        kf_warn("%s has more threads than the %d processor%s that this process may use: it will be slow; cpu "
                "takes "
                "as many as there are",
                device, processors, processors == 1 ? "" : "s");
}

/* Runs a command: prints its help, or reads its arguments, checks the device, prepares logging and
 * interrupts, and calls it. */
static kf_status run_command(const kf_command *command, int word_count, char *const *words, kf_error *error) {
    if (asks_for_help(word_count, words)) {
        kf_help_command(command);
        return KF_OK;
    }
    kf_arguments arguments;
    KF_TRY(kf_arguments_parse(command, word_count, words, &arguments, error));
    /* A mistyped device is refused before the scene is sampled. */
    if (kf_argument_given(&arguments, "--device") && kf_argument_given(&arguments, "--devices"))
        return kf_fail(error, KF_BAD_INPUT, "give --device, or --devices for a team of them, not both");
    KF_TRY(kf_device_check(kf_argument_device(&arguments, NULL), NULL, error));
    if (kf_argument_given(&arguments, "--quiet")) kf_log_set_level(KF_LOG_QUIET);
    if (kf_argument_given(&arguments, "--verbose")) kf_log_set_level(KF_LOG_VERBOSE);
    warn_of_threads(kf_argument_device(&arguments, NULL));
    kf_catch_interrupts();
    kf_log_give_signs(SIGN_SECONDS);
    const kf_status status = command->run(&arguments, error);
    if (status != KF_OK) kf_argument_name_source(error);
    return status;
}

static kf_status help_about(int word_count, char *const *words, kf_error *error) {
    if (word_count == 0) {
        kf_help();
        return KF_OK;
    }
    const kf_command *command = find_command(words[0]);
    if (command == NULL) return unknown_command(words[0], error);
    kf_help_command(command);
    return KF_OK;
}

static kf_status dispatch(int word_count, char *const *words, kf_error *error) {
    if (word_count == 0) return kf_fail(error, KF_BAD_INPUT, "nothing to do; try 'kftune --help'");
    const char *first = words[0];
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) return help_about(0, NULL, error);
    if (strcmp(first, "help") == 0) return help_about(word_count - 1, words + 1, error);
    if (strcmp(first, "--version") == 0) {
        printf("kftune %s\n", KF_VERSION);
        return KF_OK;
    }
    if (first[0] == '-') return run_command(find_command("tune"), word_count, words, error);
    const kf_command *command = find_command(first);
    if (command == NULL) return unknown_command(first, error);
    return run_command(command, word_count - 1, words + 1, error);
}

/* Prints an error on a single line, although its message may quote a compiler. */
static void print_error(const kf_error *error) {
    (void)fflush(stdout);
    char line[sizeof error->message];
    kf_copy_text(line, sizeof line, error->message);
    kf_clean_text(line);
    for (char *c = line; *c != '\0'; c++)
        if (*c == '\n' || *c == '\t') *c = ' ';
    (void)fprintf(stderr, "kftune: %s\n", line);
}

/* Checks that enough files may be open. With too few, compilers and workers would fail with messages that
 * name another reason. */
static kf_status check_open_files(kf_error *error) {
    enum { LEAST = 32 };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= LEAST) return KF_OK;
    return kf_fail(
        error, KF_MACHINE,
        "a process may open %d files here, and kftune needs at least %d: ulimit -n 1024 allows more",
        (int)limit.rlim_cur, LEAST);
}

/* Runs the program: checks its requirements, runs the command, prints its error. It fails if standard output
 * could not be written in full. */
int kf_main(int argc, char **argv) {
    kf_error error = {KF_OK, ""};
    kf_json_check_memory();
    kf_store_check_memory();
    kf_clean_stdout();
    kf_status status = check_open_files(&error);
    if (status == KF_OK) status = dispatch(argc - 1, argv + 1, &error);
    if (status != KF_OK && error.message[0] != '\0' && kf_world_speaks_alone(&error)) print_error(&error);
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (!written &&
        (status == KF_OK || status == KF_GATE_FAILED)) { /* Both are answers, and the answer was lost. */
        (void)kf_fail(&error, KF_MACHINE, "cannot write to standard output; is the disk full?");
        print_error(&error);
        status = KF_MACHINE;
    }
    return status == KF_HOST ? KF_MACHINE : (int)status;
}
