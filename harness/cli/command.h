/* Declares the command line: a table of subcommands, each with its own table of options. */
#ifndef KF_HARNESS_CLI_COMMAND_H
#define KF_HARNESS_CLI_COMMAND_H

#include <stdbool.h>

#include "base/record/user_metrics.h"
#include "base/util/program.h"
#include "base/util/status.h"
#include "harness/tune/budget.h"

typedef struct kf_option kf_option;
/* Refuses a wrong value of an option with KF_BAD_INPUT, which names option, value and what is accepted. */
typedef kf_status kf_value_check(const kf_option *option, const char *value, kf_error *error);

/* Says what values an option takes. They are checked when the command line is read, before anything else
 * is: a mesh may take a minute. What needs the scene, the command checks later. */
typedef struct kf_values {
    bool repeatable;       /* every value is kept */
    kf_value_check *check; /* NULL: any text will do */
    double low, high;      /* range of numbers */
} kf_values;

/* Describes one option. A flag has no value_name (NULL). */
struct kf_option {
    const char *name;       /* "--scene" */
    const char *value_name; /* "FILE|NAME" */
    const char *help;
    kf_values values;
};

/* These are the kinds of values. */
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
kf_value_check kf_value_grid, kf_value_budget; /* as the functions below read them */
kf_value_check kf_value_pair;                  /* KEY=VALUE, both not empty */
kf_value_check kf_value_strategy;

enum { KF_OPTION_VALUES = 256, KF_OPTIONS = 64 };
typedef struct kf_arguments {
    const kf_option *options;
    int option_count;
    struct {
        int count;
        const char *values[KF_OPTION_VALUES];
    } given[KF_OPTIONS]; /* parallel to options; flags have value "" */
    int positional_count;
    const char *positional[KF_OPTION_VALUES];
    kf_option merged[KF_OPTIONS]; /* what kf_arguments_parse lets options point to: the command's own and the
                                     common ones */
} kf_arguments;

typedef struct kf_command {
    const char *name;
    const char *summary;      /* one line for `kftune --help` */
    const char *synopsis;     /* "kftune tune --scene FILE|NAME [options]" */
    const char *description;  /* a few lines */
    void (*describe)(void);   /* prints what the description ends with and tables know; may be NULL */
    const char *example;      /* a runnable command */
    const kf_option *options; /* ends with an entry whose name is NULL; --help, --json, --quiet, --verbose are
                                 added for all */
    const char *const *positional; /* names of accepted positionals, NULL-terminated, or NULL; a last name
                                    * that ends in "..." takes any number */
    kf_status (*run)(const kf_arguments *arguments, kf_error *error);
} kf_command;

/* Lists all commands and ends with NULL (harness/cli/commands.c). Each has a file:
 * harness/cli/command_<name>.c defines kf_command_<name>. */
extern const kf_command *const kf_commands[];

/* Reads words ("--name value", "--name=value", flags, positionals; "--" ends the options). The values point
 * into words, so both words and *arguments must stay where they are. Anything unknown, missing or given twice
 * is KF_BAD_INPUT with the nearest right name, and so is a wrong value. */
kf_status kf_arguments_parse(const kf_command *command, int word_count, char *const *words,
                             kf_arguments *arguments, kf_error *error);

/* Returns the value of the last occurrence, or fallback. */
const char *kf_argument(const kf_arguments *arguments, const char *option, const char *fallback);
bool kf_argument_given(const kf_arguments *arguments, const char *option);
/* Gives all occurrences and returns their count. */
int kf_argument_all(const kf_arguments *arguments, const char *option, const char *const **values);
/* Changes what is given of an option; value NULL takes it away. The value must live as long as the arguments.
 */
void kf_argument_set(kf_arguments *arguments, const char *option, const char *value);
/* These read numbers within the range of the option. Where it is missing, *value stays. */
kf_status kf_argument_integer(const kf_arguments *arguments, const char *option, long *value,
                              kf_error *error);
kf_status kf_argument_number(const kf_arguments *arguments, const char *option, double *value,
                             kf_error *error);
/* Refuses with KF_BAD_INPUT a file, named by the option, that does not end so; "none" is no file. */
kf_status kf_argument_ending(const kf_arguments *arguments, const char *option, const char *ending,
                             kf_error *error);
/* Refuses --json of what prints a text of a form of its own; `what` names it, and what to do instead. */
kf_status kf_argument_no_json(const kf_arguments *arguments, const char *what, kf_error *error);
/* Refuses options that are not among `read` ("--store --run"), but for the common ones; KF_BAD_INPUT names
 * the first. `what` has no use for them, such as "store list". */
kf_status kf_argument_only(const kf_arguments *arguments, const char *what, const char *read,
                           kf_error *error);

/* Describes one of the things that a command does: its word, and the options of the command that it reads. */
typedef struct kf_action {
    const char *name, *options;
    kf_status (*run)(const kf_arguments *arguments, kf_error *error);
} kf_action;
/* Finds the action of a name. KF_BAD_INPUT names those there are, or an option that it has no use for. */
kf_status kf_action_find(const char *command, const kf_action *actions, int count, const char *name,
                         const kf_arguments *arguments, const kf_action **found, kf_error *error);

/* Reads a grid such as "96x48x48", or "1024x512" for one plane of nodes. */
kf_status kf_argument_grid(const kf_arguments *arguments, const char *option, int nodes[3], kf_error *error);
/* Reads a budget such as "60s", "2m", "1h", "20s-device" or "500evals". It fills one member and sets the
 * others to 0. A missing option changes nothing. */
kf_status kf_argument_budget(const kf_arguments *arguments, const char *option, kf_budget *budget,
                             kf_error *error);
/* Adds every --metric of the user's. */
kf_status kf_argument_metrics(const kf_arguments *arguments, kf_user_metrics *metrics, kf_error *error);
/* Gives the device of option --device, or the team of --devices; the fallback without either. */
const char *kf_argument_device(const kf_arguments *arguments, const char *fallback);
bool kf_arguments_json(const kf_arguments *arguments);

/* Parses argv, dispatches, prints errors; returns the exit status. `kftune --scene X` means `kftune tune
 * --scene X`. */
int kf_main(int argc, char **argv);

/* These print the help of one command and of the whole program on stdout. */
void kf_help_command(const kf_command *command);
void kf_help(void);

#endif
