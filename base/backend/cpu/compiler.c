/* The host compiler: it is found and identified once, and builds every kernel. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/backend/cache.h"
#include "base/backend/cpu/cpu.h"
#include "base/util/signals.h"
#include "base/util/text.h"

/* The flag -w hides warnings. They concern the author of a kernel, and would hide the first error. */
const char kf_host_compiler_flags[] =
    "-std=gnu17 -O3 -march=native -fopenmp-simd -fPIC -shared -fno-math-errno "
    "-fno-trapping-math -pipe -w -Wl,-z,defs";

enum { COMMAND_WORDS = 8, FLAG_WORDS = 16, OTHER_WORDS = 16, DEFINES = 64, OPTIONS = 64 };
enum { WORDS = COMMAND_WORDS + FLAG_WORDS + OTHER_WORDS + DEFINES + OPTIONS };

/* Ends the word that begins at text, takes its quotes away, and returns where the rest begins. */
static char *end_word(char *text) {
    char *to = text, quote = '\0';
    for (; *text != '\0'; text++) {
        if (quote == '\0' && (*text == ' ' || *text == '\t')) break;
        if (*text == quote)
            quote = '\0';
        else if (quote == '\0' && (*text == '"' || *text == '\''))
            quote = *text;
        else
            *to++ = *text;
    }
    char *rest = *text != '\0' ? text + 1 : text;
    *to = '\0';
    return rest;
}

/* Splits text at blanks outside quotes, in place; returns the number of words. */
static int split(char *text, const char **words, int most) {
    int count = 0;
    while (count < most) {
        text += strspn(text, " \t");
        if (*text == '\0') break;
        words[count++] = text;
        text = end_word(text);
    }
    return count;
}

/* Splits a command into words. A program's name with spaces needs no quotes. */
static int split_command(char *text, const char **words) {
    if (strchr(text, '/') == NULL || access(text, X_OK) != 0) return split(text, words, COMMAND_WORDS);
    words[0] = text;
    return 1;
}

/* --- Who it is ---------------------------------------------------------------------------------------- */

/* Runs `command arguments...` and gives its output, or fails when it does not end with status 0. */
static kf_status ask(const char *command, const char *const *arguments, char **output, kf_error *error) {
    char text[KF_COMMAND];
    const char *words[WORDS];
    if (strlen(command) >= sizeof text)
        return kf_fail(error, KF_HOST, "the name of the compiler is longer than %d bytes", KF_COMMAND - 1);
    kf_copy_text(text, sizeof text, command);
    int count = split_command(text, words);
    if (count == 0) return kf_fail(error, KF_HOST, "the name of the compiler is empty");
    while (*arguments != NULL)
        words[count++] = *arguments++;
    words[count] = NULL;
    kf_program_result result;
    KF_TRY(kf_program_run(words, &result, error));
    *output = result.output;
    if (result.exit_status == 0) return KF_OK;
    result.output[strcspn(result.output, "\n")] = '\0';
    const kf_status status = kf_fail(error, KF_HOST, "%s does not work: %s", command, result.output);
    free(result.output);
    *output = NULL;
    return status;
}

/* Names the architecture, as in "znver3-1a2b3c4d". The macros that -march=native predefines tell every
 * instruction set it turns on. */
static void name_architecture(const char *macros, char architecture[32]) {
    char hex[KF_HASH_HEX], name[20] = "native";
    kf_hash_text(macros, hex);
    const char *tune = strstr(macros, "#define __tune_");
    if (tune != NULL) {
        const char *word = tune + strlen("#define __tune_");
        const size_t length = strcspn(word, " \n");
        /* The copy leaves out the closing "__". */
        if (length > 2 && length < sizeof name) kf_copy_text(name, length - 2 + 1, word);
    }
    snprintf(architecture, 32, "%s-%.8s", name, hex);
}

static kf_status identify(const char *command, kf_host_compiler *compiler, kf_error *error) {
    static const char *const version[] = {"--version", NULL};
    static const char *const macros[] = {"-march=native", "-dM", "-E", "-x", "c", "/dev/null", NULL};
    char *output;
    kf_copy_text(compiler->command, sizeof compiler->command, command);
    KF_TRY(ask(command, version, &output, error));
    output[strcspn(output, "\n")] = '\0';
    kf_copy_text(compiler->version, sizeof compiler->version, output);
    free(output);
    KF_TRY(ask(command, macros, &output, error));
    name_architecture(output, compiler->architecture);
    free(output);
    return KF_OK;
}

/* Finds a C compiler: the requested one, or the first that works of the one that built kftune, cc, gcc and
 * clang. When none works, it reports why the first one that exists does not. */
static kf_status find(const char *wanted, kf_host_compiler *compiler, kf_error *error) {
    static const char *const candidates[] = {
#ifdef KF_HOST_CC
        KF_HOST_CC,
#endif
        "cc", "gcc", "clang"};
    if (wanted != NULL && wanted[0] != '\0') {
        if (identify(wanted, compiler, error) == KF_OK) return KF_OK;
        return kf_fail_context(error, "KFTUNE_CC=%s", wanted);
    }
    /* Why the first one that exists does not work. */
    kf_error broken = {0};
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        kf_error why = {0};
        const kf_status status = identify(candidates[i], compiler, &why);
        if (status == KF_INTERRUPTED) return kf_fail(error, status, "%s", why.message);
        if (status == KF_OK) return status;
        if (broken.message[0] == '\0' && strstr(why.message, strerror(ENOENT)) == NULL) broken = why;
    }
    if (strstr(broken.message, "mount /dev") != NULL) return kf_fail(error, KF_HOST, "%s", broken.message);
    if (broken.message[0] != '\0')
        return kf_fail(
            error, KF_HOST,
            "%s; the cpu backend needs a C compiler at run time: mend this one, or set KFTUNE_CC to "
            "another",
            broken.message);
    return kf_fail(
        error, KF_HOST,
        "the cpu backend needs a C compiler at run time and finds none: install gcc (apt-get install gcc) or "
        "set KFTUNE_CC");
}

/* Finds the compiler once for each setting of KFTUNE_CC and PATH, and keeps it. */
kf_status kf_host_compiler_find(kf_host_compiler *compiler, kf_error *error) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static kf_host_compiler known;
    /* The values of the variables when it was found. */
    static char known_for[KF_PATH];
    const char *wanted = getenv("KFTUNE_CC"), *path = getenv("PATH");
    char variables[KF_PATH];
    snprintf(variables, sizeof variables, "%s\n%s", wanted != NULL ? wanted : "", path != NULL ? path : "");

    pthread_mutex_lock(&lock);
    kf_status status = KF_OK;
    if (strcmp(known_for, variables) != 0) {
        known_for[0] = '\0';
        status = find(wanted, &known, error);
        if (status == KF_OK) kf_copy_text(known_for, sizeof known_for, variables);
    }
    if (status == KF_OK) *compiler = known;
    pthread_mutex_unlock(&lock);
    return status;
}

/* --- Building ----------------------------------------------------------------------------------------- */

static bool is_error(const char *line, size_t length) {
    static const char *const signs[] = {"error:", "undefined reference", "cannot find", "Error:"};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (memmem(line, length, signs[i], strlen(signs[i])) != NULL) return true;
    return false;
}

/* Returns the host's fault that the compiler reports, or NULL: no disk space, no memory, or missing parts of
 * the compiler. Such errors do not depend on the source. */
static const char *fault_of_host(const kf_program_result *result) {
    /* Exit codes of a shell, or of ccache, that could not start it. */
    enum { NOT_EXECUTABLE = 126, NOT_FOUND = 127 };
    static const int reasons[] = {ENOSPC, EDQUOT, EROFS, ENOMEM, EMFILE, ENFILE, EAGAIN, EIO, EFBIG};
    static const char *const signs[] = {"virtual memory exhausted",
                                        "out of memory",
                                        "Killed signal",
                                        "Terminated signal",
                                        "File size limit exceeded",
                                        "Cannot create temporary file",
                                        "cannot execute"};
    if (result->signal != 0 && !kf_signal_is_fault(result->signal)) return strsignal(result->signal);
    if (result->exit_status == NOT_EXECUTABLE || result->exit_status == NOT_FOUND)
        return "it cannot be started any more";
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (strstr(result->output, strerror(reasons[i])) != NULL) return strerror(reasons[i]);
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (strstr(result->output, signs[i]) != NULL) return signs[i];
    return NULL;
}

/* Makes *error of what the compiler printed: its first error (else its first line) and how many follow. Names
 * of files lose the data folder. */
static kf_status explain(const kf_source *source, const kf_program_result *result, kf_error *error) {
    const char *data = "", *first = NULL;
    size_t first_length = 0;
    int errors = 0;
    for (const char *line = result->output; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        const bool found = is_error(line, length);
        if ((found && errors == 0) || (first == NULL && length > 0)) {
            first = line;
            first_length = length;
        }
        errors += found;
        line += length + (line[length] == '\n');
    }
    if (result->signal != 0)
        return kf_fail(error, KF_MACHINE, "%s: the compiler was ended by signal %d", source->file,
                       result->signal);
    if (first == NULL)
        return kf_fail(error, KF_MACHINE, "%s: the compiler failed with status %d and said nothing",
                       source->file, result->exit_status);
    if (kf_data_folder(&data, NULL) == KF_OK && strncmp(first, data, strlen(data)) == 0 &&
        first[strlen(data)] == '/') {
        first += strlen(data) + 1;
        first_length -= strlen(data) + 1;
    }
    if (errors > 1)
        return kf_fail(error, KF_MACHINE, "%.*s (and %d more)", (int)first_length, first, errors - 1);
    return kf_fail(error, KF_MACHINE, "%.*s", (int)first_length, first);
}

kf_status kf_host_compile(const kf_host_compiler *compiler, const kf_source *source, const char *output,
                          kf_error *error) {
    char path[KF_PATH], include_folder[KF_PATH];
    KF_TRY(kf_source_path(source, path, error));
    KF_TRY(kf_source_include_folder(include_folder, error));
    const char *words[WORDS];
    char command[KF_COMMAND], flags[512];
    kf_copy_text(command, sizeof command, compiler->command);
    kf_copy_text(flags, sizeof flags, kf_host_compiler_flags);
    int count = split_command(command, words);
    count += split(flags, words + count, FLAG_WORDS);
    if (source->define_count > DEFINES || source->option_count > OPTIONS)
        return kf_fail(error, KF_BAD_INPUT, "%s: %d defines and %d options are too many", source->file,
                       source->define_count, source->option_count);
    char defines[DEFINES][160];
    for (int i = 0; i < source->define_count; i++) {
        const kf_define *define = &source->defines[i];
        if (snprintf(defines[i], sizeof defines[i], "-D%s=%s", define->name, define->value) >=
            (int)sizeof defines[i])
            return kf_fail(error, KF_BAD_INPUT, "%s: the name of the define %s is too long", source->file,
                           define->name);
        words[count++] = defines[i];
    }
    const bool cxx = source->language == KF_LANGUAGE_CXX;
    if (cxx) words[count++] = "-std=gnu++17";
    words[count++] = "-I";
    words[count++] = include_folder;
    for (int i = 0; i < source->option_count; i++)
        words[count++] = source->options[i];
    const char *const rest[] = {"-x",  cxx ? "c++" : "c",       path, "-o", output, "-x", "none",
                                "-lm", cxx ? "-lstdc++" : NULL, NULL};
    memcpy(words + count, rest, sizeof rest);

    kf_program_result result;
    KF_TRY(kf_program_run(words, &result, error));
    kf_status status = KF_OK;
    const char *fault = result.exit_status == 0 ? NULL : fault_of_host(&result);
    if (fault != NULL && cxx && strstr(result.output, "cc1plus") != NULL)
        status = kf_fail(
            error, KF_HOST,
            "%s does not compile C++: install g++ (apt-get install g++) or set KFTUNE_CC to a compiler "
            "that does",
            compiler->command);
    else if (fault != NULL)
        status = kf_fail(error, KF_HOST, "%s cannot compile here: %s; is there room in %s, and memory?",
                         compiler->command, fault, getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    else if (result.exit_status != 0)
        status = explain(source, &result, error);
    free(result.output);
    return status;
}
