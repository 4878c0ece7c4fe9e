/* Declares the command line: a table of subcommands, each with its own table of options. */
#ifndef KF_HARNESS_CLI_COMMAND_H
#define KF_HARNESS_CLI_COMMAND_H

#include <stdbool.h>

#include "base/record/user_metrics.h"
#include "base/util/program.h"
#include "base/util/status.h"
#include "harness/tune/budget.h"

typedef struct kf_option kf_option;
/* Checks the value of an option. KF_BAD_INPUT names option, value and what is accepted. */
typedef kf_status kf_value_check(const kf_option *option, const char *value, kf_error *error);

/* The values that an option takes. They are checked when the command line is read, before anything else,
 * because opening a mesh may take a minute. The command itself checks what depends on the scene. */
typedef struct kf_values {
    bool repeatable;       /* the option may be repeated, and every value is kept */
    kf_value_check *check; /* NULL: any text is accepted */
    double low, high;      /* the range of numbers */
} kf_values;

/* Describes one option. A flag has no value_name (NULL). */
struct kf_option {
    const char *name;       /* "--scene" */
    const char *value_name; /* "FILE|NAME" */
    const char *help;
    kf_values values;
};

/* Kinds of values. */
#define KF_FLAG                                                                                              \
    { .check = NULL }
#define KF_TEXT                                                                                              \
    { .check = NULL }
#define KF_TEXTS                                                                                             \
    { .repeatable = true }
#define KF_CHECKED(function)                                                                                 \
    { .check = (function) }
#define KF_ALL_CHECKED(function)                                                                             \
    { .repeatable = true, .check = (function) }
#define KF_WHOLE(least, most)                                                                                \
    { .check = kf_value_whole, .low = (double)(least), .high = (double)(most) }
#define KF_DECIMAL(least, most)                                                                              \
    { .check = kf_value_decimal, .low = (least), .high = (most) }
#define KF_MOST_STEPS 1e12
kf_value_check kf_value_whole, kf_value_decimal;
kf_value_check kf_value_grid, kf_value_budget; /* They accept what the functions below read. */
kf_value_check kf_value_pair;                  /* KEY=VALUE, where both are not empty */
kf_value_check kf_value_strategy;

enum { KF_OPTION_VALUES = 256, KF_OPTIONS = 64 };
typedef struct kf_arguments {
    const kf_option *options;
    int option_count;
    struct {
        int count;
        const char *values[KF_OPTION_VALUES];
    } given[KF_OPTIONS]; /* parallel to options; a flag's value is "" */
    int positional_count;
    const char *positional[KF_OPTION_VALUES];
    kf_option merged[KF_OPTIONS]; /* the merged options of the command and of all commands; kf_arguments_parse
                                     lets `options` point to them */
} kf_arguments;

typedef struct kf_command {
    const char *name;
    const char *summary;     /* one line for `kftune --help` */
    const char *synopsis;    /* "kftune tune --scene FILE|NAME [options]" */
    const char *description; /* a few lines */
    void (*describe)(
        void);           /* prints lines at the end of the description that come from tables; may be NULL */
    const char *example; /* a runnable command */
    const kf_option *options; /* ends with an entry whose name is NULL; --help, --json, --quiet, --verbose are
                                 added to every command */
    const char *const *positional; /* names of accepted positionals, NULL-terminated, or NULL; a last name
                                      that ends in "..." may be repeated */
    kf_status (*run)(const kf_arguments *arguments, kf_error *error);
} kf_command;

/* All commands; the list ends with NULL (harness/cli/commands.c). harness/cli/command_<name>.c defines
 * kf_command_<name>. */
extern const kf_command *const kf_commands[];

/* Reads words ("--name value", "--name=value", flags, positionals; "--" ends the options). The values point
 * into words, so both words and *arguments must stay where they are. KF_BAD_INPUT names an unknown, missing,
 * repeated or wrong word, and the nearest right one. */
kf_status kf_arguments_parse(const kf_command *command, int word_count, char *const *words,
                             kf_arguments *arguments, kf_error *error);

/* Returns the value of the last occurrence, or fallback. */
const char *kf_argument(const kf_arguments *arguments, const char *option, const char *fallback);
bool kf_argument_given(const kf_arguments *arguments, const char *option);
/* Gives all occurrences and returns their count. */
int kf_argument_all(const kf_arguments *arguments, const char *option, const char *const **values);
/* Sets the value of an option; NULL removes the option. The value must live as long as the arguments. */
void kf_argument_set(kf_arguments *arguments, const char *option, const char *value);
/* These read numbers within the option's range. Without the option *value is unchanged. */
kf_status kf_argument_integer(const kf_arguments *arguments, const char *option, long *value,
                              kf_error *error);
kf_status kf_argument_number(const kf_arguments *arguments, const char *option, double *value,
                             kf_error *error);
/* Checks that the option's file name has one of the endings; "none" means no file. KF_BAD_INPUT if it does
 * not. */
kf_status kf_argument_ending(const kf_arguments *arguments, const char *option, const char *ending,
                             kf_error *error);
/* Refuses --json for output that has its own text format. `what` names the output and the alternative. */
kf_status kf_argument_no_json(const kf_arguments *arguments, const char *what, kf_error *error);
/* Refuses options that are not listed in `read` ("--store --run") and not common to all commands.
 * KF_BAD_INPUT names the first one. `what` names the action that does not use them, such as "store list". */
kf_status kf_argument_only(const kf_arguments *arguments, const char *what, const char *read,
                           kf_error *error);

/* Describes one of the things that a command does: its word, and the options of the command that it reads. */
typedef struct kf_action {
    const char *name, *options;
    kf_status (*run)(const kf_arguments *arguments, kf_error *error);
} kf_action;
/* Finds an action by its name. KF_BAD_INPUT names the known actions, or an option that this action does not
 * use. */
kf_status kf_action_find(const char *command, const kf_action *actions, int count, const char *name,
                         const kf_arguments *arguments, const kf_action **found, kf_error *error);

/* Reads a grid such as "96x48x48", or "1024x512" for one plane of nodes. */
kf_status kf_argument_grid(const kf_arguments *arguments, const char *option, int nodes[3], kf_error *error);
/* Reads a budget such as "60s", "2m", "1h", "20s-device" or "500evals". It fills one member and sets the
 * others to 0. A missing option changes nothing. */
kf_status kf_argument_budget(const kf_arguments *arguments, const char *option, kf_budget *budget,
                             kf_error *error);
/* Adds every metric that the user defined with --metric. */
kf_status kf_argument_metrics(const kf_arguments *arguments, kf_user_metrics *metrics, kf_error *error);
/* Returns the value of --device, or the team of --devices; without either the fallback. */
const char *kf_argument_device(const kf_arguments *arguments, const char *fallback);
bool kf_arguments_json(const kf_arguments *arguments);

/* Parses argv, runs the command, prints its error, and returns the exit status. `kftune --scene X` means
 * `kftune tune --scene X`. */
int kf_main(int argc, char **argv);

/* These print the help of one command, or of the whole program, to stdout. */
void kf_help_command(const kf_command *command);
void kf_help(void);

#endif
