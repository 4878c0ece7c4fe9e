/* Prints --help. It is made from the tables of commands and options, so it is always up to date. */
#include <stdio.h>
#include <string.h>

#include "harness/cli/command.h"

enum { OPTION_COLUMN = 32 };

static void print_option(const kf_option *option) {
    char left[128];
    (void)snprintf(left, sizeof left, "  %s%s%s%s", option->name, option->value_name != NULL ? " " : "",
                   option->value_name != NULL ? option->value_name : "",
                   option->values.repeatable ? " ..." : "");
    if (strlen(left) < OPTION_COLUMN)
        printf("%-*s%s\n", OPTION_COLUMN, left, option->help);
    else
        printf("%s\n%*s%s\n", left, OPTION_COLUMN, "", option->help);
}

void kf_help_command(const kf_command *command) {
    kf_arguments arguments;
    (void)kf_arguments_parse(command, 0, NULL, &arguments,
                             NULL); /* This call merges the common options into the command's. */
    printf("%s\n\n%s\n", command->synopsis, command->description);
    if (command->describe != NULL) command->describe();
    printf("\nOptions:\n");
    for (int i = 0; i < arguments.option_count; i++)
        print_option(&arguments.options[i]);
    printf("\nExample:\n  %s\n", command->example);
}

/* Prints the program's help: usage, a line about each command, exit statuses, and an example. */
void kf_help(void) {
    printf("kftune %s: finds the fastest correct way to run a fluid simulation around a mesh, on this "
           "machine\n\n"
           "Usage:\n"
           "  kftune --scene FILE|NAME [options]   the same as 'kftune tune --scene FILE|NAME ...'\n"
           "  kftune COMMAND [options]\n"
           "  kftune help COMMAND\n\n"
           "Commands:\n",
           KF_VERSION);
    for (const kf_command *const *command = kf_commands; *command != NULL; command++)
        printf("  %-12s%s\n", (*command)->name, (*command)->summary);
    printf("\nExit status: 0 done, 1 the answer is no (a failed gate, a regression, drags that differ),\n"
           "2 wrong input, 3 the machine could not do it, 130 interrupted. Results go to stdout (--json: one "
           "JSON\n"
           "object), everything else to stderr.\n\n"
           "Example:\n"
           "  kftune --scene ahmed --budget 60s && kftune run --config ahmed.kftune.json --steps 200\n");
}
