/* Checks command lines against a command's table of options, and gives typed access to the values. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/number.h"
#include "base/util/text.h"
#include "harness/cli/command.h"
#include "harness/search/strategy.h"

static const kf_option common_options[] = {
    {"--json", NULL, "print one JSON object on stdout instead of text", KF_FLAG},
    {"--quiet", NULL, "no progress and no notes on stderr", KF_FLAG},
    {"--verbose", NULL, "more detail on stderr", KF_FLAG},
    {"--help", NULL, "show this help", KF_FLAG},
};

static int find_option(const kf_arguments *arguments, const char *name, size_t length) {
    for (int i = 0; i < arguments->option_count; i++) {
        const char *candidate = arguments->options[i].name;
        if (strlen(candidate) == length && strncmp(candidate, name, length) == 0) return i;
    }
    return -1;
}

static void merge_options(const kf_command *command, kf_arguments *arguments) {
    arguments->options = arguments->merged;
    for (const kf_option *option = command->options; option != NULL && option->name != NULL; option++)
        if (arguments->option_count < KF_OPTIONS) arguments->merged[arguments->option_count++] = *option;
    for (size_t i = 0; i < sizeof common_options / sizeof *common_options; i++) {
        bool own = find_option(arguments, common_options[i].name, strlen(common_options[i].name)) >= 0;
        if (!own && arguments->option_count < KF_OPTIONS)
            arguments->merged[arguments->option_count++] = common_options[i];
    }
}

static kf_status unknown_option(const kf_arguments *arguments, const kf_command *command, const char *word,
                                size_t length, kf_error *error) {
    char name[64];
    kf_copy_text(name, length + 1 < sizeof name ? length + 1 : sizeof name, word);
    const char *names[KF_OPTIONS];
    for (int i = 0; i < arguments->option_count; i++)
        names[i] = arguments->options[i].name;
    const char *nearest = kf_nearest(name, names, arguments->option_count);
    if (nearest != NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: unknown option '%s' (did you mean '%s'?)", command->name,
                       name, nearest);
    return kf_fail(error, KF_BAD_INPUT, "%s: unknown option '%s'; see 'kftune %s --help'", command->name,
                   name, command->name);
}

static bool is_of_file(const char *value_name) {
    return strstr(value_name, "FILE") != NULL || strcmp(value_name, "DIR") == 0 ||
           strcmp(value_name, "FOLDER") == 0;
}

/* Takes the option at words[*index], and advances *index to the last word that it uses. */
static kf_status take_option(const kf_command *command, int word_count, char *const *words, int *index,
                             kf_arguments *arguments, kf_error *error) {
    const char *word = words[*index];
    const char *equals = strchr(word, '=');
    size_t length = equals != NULL ? (size_t)(equals - word) : strlen(word);
    int found = find_option(arguments, word, length);
    if (found < 0) return unknown_option(arguments, command, word, length, error);

    const kf_option *option = &arguments->options[found];
    const char *value = equals != NULL ? equals + 1 : NULL;
    if (option->value_name == NULL) {
        if (value != NULL)
            return kf_fail(error, KF_BAD_INPUT, "%s: option '%s' takes no value", command->name,
                           option->name);
        value = "";
    } else if (value == NULL) {
        /* A word that looks like an option usually means that the value was forgotten. */
        if (*index + 1 >= word_count || strncmp(words[*index + 1], "--", 2) == 0)
            return kf_fail(error, KF_BAD_INPUT, "%s: option '%s' needs a value: %s %s", command->name,
                           option->name, option->name, option->value_name);
        value = words[++*index];
    }
    if (option->value_name != NULL && *value == '\0')
        return kf_fail(error, KF_BAD_INPUT, "%s: option '%s' has an empty value; expected %s", command->name,
                       option->name, option->value_name);
    if (option->value_name != NULL && strcmp(value, "-") == 0 && is_of_file(option->value_name))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: option '%s': '-' stands for no stream here; a file or folder of this name is './-'",
            command->name, option->name);
    int *count = &arguments->given[found].count;
    if (*count > 0 && !option->values.repeatable)
        return kf_fail(error, KF_BAD_INPUT, "%s: option '%s' is given twice; give it once", command->name,
                       option->name);
    if (*count == KF_OPTION_VALUES)
        return kf_fail(error, KF_BAD_INPUT, "%s: option '%s' is given more than %d times", command->name,
                       option->name, KF_OPTION_VALUES);
    arguments->given[found].values[(*count)++] = value;
    return option->values.check != NULL ? option->values.check(option, value, error) : KF_OK;
}

/* Finds the option that was probably meant for a word without an option, as in 'kftune run car.obj'; NULL:
 * none. */
static const char *meant_option(const char *word, const kf_arguments *arguments) {
    static const char *const candidates[] = {"--config", "--scene", "--suite", "--case", "--landscape"};
    const bool is_config = kf_ends_in(word, ".kftune.json");
    if (word[0] >= '0' && word[0] <= '9') return NULL;
    for (size_t i = is_config ? 0 : 1; i < sizeof candidates / sizeof candidates[0]; i++) {
        const int found = find_option(arguments, candidates[i], strlen(candidates[i]));
        if (found >= 0) return arguments->given[found].count > 0 ? NULL : candidates[i];
    }
    return NULL;
}

static kf_status refuse_positional(const kf_command *command, const char *word, const kf_arguments *arguments,
                                   kf_error *error) {
    const char *option = meant_option(word, arguments);
    if (option != NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: unexpected argument '%s'; did you mean '%s %s'?",
                       command->name, word, option, word);
    return kf_fail(error, KF_BAD_INPUT, "%s: unexpected argument '%s'; see 'kftune %s --help'", command->name,
                   word, command->name);
}

/* Takes a positional word. A command accepts none, some, or any number of them. */
static kf_status take_positional(const kf_command *command, const char *word, kf_arguments *arguments,
                                 kf_error *error) {
    int accepted = 0;
    bool any_number = false;
    while (command->positional != NULL && command->positional[accepted] != NULL) {
        const char *name = command->positional[accepted++];
        any_number = kf_ends_in(name, "...");
    }
    if (any_number) accepted = KF_OPTION_VALUES;
    if (arguments->positional_count >= accepted || arguments->positional_count >= KF_OPTION_VALUES)
        return refuse_positional(command, word, arguments, error);
    arguments->positional[arguments->positional_count++] = word;
    return KF_OK;
}

kf_status kf_arguments_parse(const kf_command *command, int word_count, char *const *words,
                             kf_arguments *arguments, kf_error *error) {
    memset(arguments, 0, sizeof *arguments);
    merge_options(command, arguments);
    bool options_end = false;
    for (int i = 0; i < word_count; i++) {
        if (!options_end && strcmp(words[i], "--") == 0)
            options_end = true;
        else if (!options_end && words[i][0] == '-' && words[i][1] != '\0')
            KF_TRY(take_option(command, word_count, words, &i, arguments, error));
        else
            KF_TRY(take_positional(command, words[i], arguments, error));
    }
    if (kf_argument_given(arguments, "--quiet") && kf_argument_given(arguments, "--verbose"))
        return kf_fail(error, KF_BAD_INPUT, "%s: '--quiet' and '--verbose' exclude each other",
                       command->name);
    return KF_OK;
}

static bool is_among(const char *name, const char *list) {
    const size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return true;
    return false;
}

static bool is_common(const char *name) {
    for (size_t i = 0; i < sizeof common_options / sizeof *common_options; i++)
        if (strcmp(name, common_options[i].name) == 0) return true;
    return false;
}

kf_status kf_argument_only(const kf_arguments *arguments, const char *what, const char *read,
                           kf_error *error) {
    for (int i = 0; i < arguments->option_count; i++) {
        const char *name = arguments->options[i].name;
        if (arguments->given[i].count == 0 || is_common(name) || is_among(name, read)) continue;
        return kf_fail(error, KF_BAD_INPUT, "%s: does not use '%s'; leave it out", what, name);
    }
    return KF_OK;
}

kf_status kf_action_find(const char *command, const kf_action *actions, int count, const char *name,
                         const kf_arguments *arguments, const kf_action **found, kf_error *error) {
    enum { MOST = 16 };
    const char *names[MOST];
    char what[64], hint[KF_HINT];
    kf_text all = {0};
    for (int i = 0; i < count && i < MOST; i++) {
        names[i] = actions[i].name;
        kf_text_append(&all, "%s%s", i > 0 ? ", " : "", names[i]);
        if (strcmp(name, names[i]) != 0) continue;
        kf_text_free(&all);
        *found = &actions[i];
        (void)snprintf(what, sizeof what, "%s %s", command, name);
        return kf_argument_only(arguments, what, actions[i].options, error);
    }
    const kf_status status =
        kf_fail(error, KF_BAD_INPUT, "%s: unknown action '%.40s'; there are: %s%s", command, name, all.text,
                kf_hint(name, names, count < MOST ? count : MOST, hint));
    kf_text_free(&all);
    return status;
}

int kf_argument_all(const kf_arguments *arguments, const char *option, const char *const **values) {
    int found = find_option(arguments, option, strlen(option));
    if (values != NULL) *values = found < 0 ? NULL : arguments->given[found].values;
    return found < 0 ? 0 : arguments->given[found].count;
}

bool kf_argument_given(const kf_arguments *arguments, const char *option) {
    return kf_argument_all(arguments, option, NULL) > 0;
}

const char *kf_argument(const kf_arguments *arguments, const char *option, const char *fallback) {
    const char *const *values = NULL;
    int count = kf_argument_all(arguments, option, &values);
    return count > 0 ? values[count - 1] : fallback;
}

const char *kf_argument_device(const kf_arguments *arguments, const char *fallback) {
    return kf_argument(arguments, "--devices", kf_argument(arguments, "--device", fallback));
}

bool kf_arguments_json(const kf_arguments *arguments) {
    return kf_argument_given(arguments, "--json");
}

static kf_status read_whole(const kf_option *option, const char *text, long *value, kf_error *error) {
    char *end = NULL;
    errno = 0;
    const long parsed = strtol(text, &end, 10);
    if (end == text || *end != '\0')
        return kf_fail(error, KF_BAD_INPUT, "option '%s': '%s' is not a whole number", option->name, text);
    if (errno == ERANGE || parsed < (long)option->values.low || parsed > (long)option->values.high)
        return kf_fail(error, KF_BAD_INPUT, "option '%s': %s is outside %.0f to %.0f", option->name, text,
                       option->values.low, option->values.high);
    *value = parsed;
    return KF_OK;
}

static kf_status read_decimal(const kf_option *option, const char *text, double *value, kf_error *error) {
    char *end = NULL;
    const double parsed = kf_read_decimal(text, &end);
    if (end == text || *end != '\0' || !isfinite(parsed))
        return kf_fail(error, KF_BAD_INPUT, "option '%s': '%s' is not a number%s", option->name, text,
                       end != text && *end == ',' ? KF_DECIMALS_HINT : "");
    if (parsed < option->values.low || parsed > option->values.high)
        return kf_fail(error, KF_BAD_INPUT, "option '%s': %s is outside %g to %g", option->name, text,
                       option->values.low, option->values.high);
    *value = parsed;
    return KF_OK;
}

kf_status kf_value_whole(const kf_option *option, const char *value, kf_error *error) {
    long read;
    return read_whole(option, value, &read, error);
}

kf_status kf_value_decimal(const kf_option *option, const char *value, kf_error *error) {
    double read;
    return read_decimal(option, value, &read, error);
}

kf_status kf_value_pair(const kf_option *option, const char *value, kf_error *error) {
    const char *equals = strchr(value, '=');
    if (equals != NULL && equals != value && equals[1] != '\0') return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "option '%s': '%s' must be %s", option->name, value,
                   option->value_name);
}

kf_status kf_value_strategy(const kf_option *option, const char *value, kf_error *error) {
    if (kf_strategy_check(value, error) == KF_OK) return KF_OK;
    return kf_fail_context(error, "option '%s'", option->name);
}

kf_status kf_argument_integer(const kf_arguments *arguments, const char *option, long *value,
                              kf_error *error) {
    const char *text = kf_argument(arguments, option, NULL);
    if (text == NULL) return KF_OK;
    return read_whole(&arguments->options[find_option(arguments, option, strlen(option))], text, value,
                      error);
}

kf_status kf_argument_number(const kf_arguments *arguments, const char *option, double *value,
                             kf_error *error) {
    const char *text = kf_argument(arguments, option, NULL);
    if (text == NULL) return KF_OK;
    return read_decimal(&arguments->options[find_option(arguments, option, strlen(option))], text, value,
                        error);
}

kf_status kf_argument_ending(const kf_arguments *arguments, const char *option, const char *ending,
                             kf_error *error) {
    const char *text = kf_argument(arguments, option, ending);
    if (text == ending || strcmp(text, "none") == 0 || kf_ends_in(text, ending)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "option '%s': '%s' must end in %s", option, text, ending);
}

kf_status kf_argument_no_json(const kf_arguments *arguments, const char *what, kf_error *error) {
    if (!kf_arguments_json(arguments)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "option '--json': %s", what);
}

/* Reads a grid such as 96x48x48, or 1024x1024 in two dimensions. If the text is wrong, `nodes` is unchanged.
 */
static kf_status read_grid(const char *option, const char *text, int nodes[3], kf_error *error) {
    enum { LONGEST_EDGE = 65536 };
    int parsed[3] = {1, 1, 1};
    const char *at = text;
    for (int axis = 0; axis < 3 && at != NULL; axis++) {
        char *end = NULL;
        errno = 0;
        /* The function strtol would also accept blanks and signs. */
        long edge = *at >= '0' && *at <= '9' ? strtol(at, &end, 10) : 0;
        const bool last = end != NULL && *end == '\0' && axis > 0;
        if (end == NULL || (!last && (*end != 'x' || axis == 2)))
            return kf_fail(error, KF_BAD_INPUT,
                           "option '%s': '%s' is not a grid: write 96x48x48, or 1024x1024 in two dimensions",
                           option, text);
        if (errno == ERANGE || edge < 1 || edge > LONGEST_EDGE)
            return kf_fail(error, KF_BAD_INPUT, "option '%s': '%s': every edge must have 1 to %d nodes",
                           option, text, LONGEST_EDGE);
        parsed[axis] = (int)edge;
        at = last ? NULL : end + 1;
    }
    memcpy(nodes, parsed, sizeof parsed);
    return KF_OK;
}

kf_status kf_value_grid(const kf_option *option, const char *value, kf_error *error) {
    int nodes[3];
    return read_grid(option->name, value, nodes, error);
}

kf_status kf_argument_grid(const kf_arguments *arguments, const char *option, int nodes[3], kf_error *error) {
    const char *text = kf_argument(arguments, option, NULL);
    return text != NULL ? read_grid(option, text, nodes, error) : KF_OK;
}

kf_status kf_argument_metrics(const kf_arguments *arguments, kf_user_metrics *metrics, kf_error *error) {
    const char *const *given = NULL;
    const int count = kf_argument_all(arguments, "--metric", &given);
    for (int i = 0; i < count; i++)
        if (kf_user_metrics_add(metrics, given[i], error) != KF_OK)
            return kf_fail_context(error, "option '--metric'");
    return KF_OK;
}

/* Reads an amount with its unit. A number of evaluations must be whole. */
static kf_status read_budget(const char *option, const char *text, kf_budget *budget, kf_error *error) {
    static const struct {
        const char *suffix;
        double seconds; /* 0: the unit counts evaluations */
        bool device;
    } units[] = {{"s", 1.0, false},          {"m", 60.0, false},      {"min", 60.0, false},
                 {"h", 3600.0, false},       {"s-device", 1.0, true}, {"m-device", 60.0, true},
                 {"h-device", 3600.0, true}, {"evals", 0.0, false},   {"eval", 0.0, false}};
    char *end = NULL;
    double amount = kf_read_decimal(text, &end);
    bool number = end != text && isfinite(amount) && amount > 0.0;
    for (size_t i = 0; number && i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].suffix) != 0) continue;
        const double seconds = amount * units[i].seconds;
        const bool counts = units[i].seconds == 0.0;
        if (counts ? amount != floor(amount) || amount > 1e9 : seconds > 1e8 || seconds < 1e-3) break;
        *budget = (kf_budget){.seconds = units[i].device ? 0.0 : seconds,
                              .device_seconds = units[i].device ? seconds : 0.0,
                              .evaluations = counts ? (long)amount : 0};
        return KF_OK;
    }
    return kf_fail(error, KF_BAD_INPUT,
                   "option '%s': '%s' is not a budget such as 60s, 2m, 1h, 20s-device or 500evals", option,
                   text);
}

kf_status kf_value_budget(const kf_option *option, const char *value, kf_error *error) {
    kf_budget budget;
    return read_budget(option->name, value, &budget, error);
}

kf_status kf_argument_budget(const kf_arguments *arguments, const char *option, kf_budget *budget,
                             kf_error *error) {
    const char *text = kf_argument(arguments, option, NULL);
    return text != NULL ? read_budget(option, text, budget, error) : KF_OK;
}

void kf_argument_set(kf_arguments *arguments, const char *option, const char *value) {
    for (int i = 0; i < arguments->option_count; i++) {
        if (strcmp(arguments->options[i].name, option) != 0) continue;
        arguments->given[i].count = value != NULL;
        arguments->given[i].values[0] = value;
    }
}
