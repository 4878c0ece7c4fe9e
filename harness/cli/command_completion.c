/* The command kftune completion prints what a shell needs to complete a command line. It is made from the
 * tables of commands and options, so it is always up to date. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/util/text.h"
#include "harness/cli/command.h"

/* Lists the completions at one place of a command line: fixed words, the words that 'kftune list KIND'
 * prints, and names of files. */
typedef struct kf_choices {
    char words[256]; /* separated by blanks */
    const char *list;
    bool files;
} kf_choices;

/* The options whose values are names that 'kftune list' prints. */
static const struct {
    const char *option, *kind;
} listed[] = {
    {"--scene", "scenes"}, {"--system", "systems"}, {"--strategy", "strategies"}, {"--counters", "metrics"}};

/* Adds the words in the name of a value. "cuda:N|cpu" and "run|list" contain words. "FILE|NAME" contains
 * none, because names in capitals are placeholders. Of devices only the first is offered. */
static void add_words(const char *names, kf_choices *choices) {
    while (*names != '\0') {
        size_t length = strcspn(names, "|");
        char word[64];
        kf_copy_text(word, length + 1 < sizeof word ? length + 1 : sizeof word, names);
        char *number = strstr(word, ":N");
        if (number != NULL) number[1] = '0';
        bool literal = word[0] != '\0';
        for (const char *c = word; *c != '\0'; c++)
            literal = literal &&
                      (islower((unsigned char)*c) || isdigit((unsigned char)*c) || strchr(":-.", *c) != NULL);
        size_t used = strlen(choices->words);
        if (literal && used + strlen(word) + 2 < sizeof choices->words)
            (void)snprintf(choices->words + used, sizeof choices->words - used, "%s%s", used > 0 ? " " : "",
                           word);
        names += length + (names[length] == '|');
    }
}

static void choices_of(const char *option, const char *value_name, kf_choices *choices) {
    *choices = (kf_choices){.list = NULL};
    add_words(value_name, choices);
    choices->files = strstr(value_name, "FILE") != NULL || strstr(value_name, "DIR") != NULL ||
                     strstr(value_name, "FOLDER") != NULL;
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        if (strcmp(option, listed[i].option) == 0) choices->list = listed[i].kind;
}

/* Merges the command's own options with the common ones. They are stored in *arguments, which belongs to the
 * caller. */
static void merge(const kf_command *command, kf_arguments *arguments) {
    (void)kf_arguments_parse(command, 0, NULL, arguments, NULL);
}

/* Collects completions for all arguments of a command that are not options. */
static void positional_choices(const kf_command *command, kf_choices *choices) {
    *choices = (kf_choices){.list = NULL};
    for (int i = 0; command->positional != NULL && command->positional[i] != NULL; i++) {
        const char *name = command->positional[i];
        add_words(name, choices);
        choices->files = choices->files || strstr(name, "FILE") != NULL;
        if (strcmp(name, "FILE|NAME") == 0) choices->list = "scenes";
    }
}

/* --- Bash ------------------------------------------------------------------------------------------------
 */

static void bash_choices(const kf_choices *choices) {
    printf("choices='%s' list='%s' files='%s'", choices->words, choices->list != NULL ? choices->list : "",
           choices->files ? "yes" : "");
}

/* Prints the completion script for bash: the commands, the options of each, and the values of each option.
 * The script calls 'kftune list' for names that may change. */
static void print_bash(void) {
    printf("# kftune's completion for bash, made by 'kftune completion bash'.\n"
           "_kftune() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
           "command=${COMP_WORDS[1]}\n"
           "    local options choices list files\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ] && [[ $word != -* ]]; then\n"
           "        mapfile -t COMPREPLY < <(compgen -W '");
    for (const kf_command *const *command = kf_commands; *command != NULL; command++)
        printf("%s ", (*command)->name);
    printf("help' -- \"$word\")\n"
           "        return\n"
           "    fi\n"
           "    [[ $command != -* ]] || command=tune\n"
           "    case \"$command $before\" in\n");
    for (const kf_command *const *command = kf_commands; *command != NULL; command++) {
        kf_arguments arguments;
        merge(*command, &arguments);
        for (int i = 0; i < arguments.option_count; i++) {
            const kf_option *option = &arguments.options[i];
            if (option->value_name == NULL) continue;
            kf_choices choices;
            choices_of(option->name, option->value_name, &choices);
            printf("    '%s %s') ", (*command)->name, option->name);
            bash_choices(&choices);
            printf(" ;;\n");
        }
    }
    printf("    *)\n"
           "        case $command in\n");
    for (const kf_command *const *command = kf_commands; *command != NULL; command++) {
        kf_arguments arguments;
        kf_choices choices;
        merge(*command, &arguments);
        positional_choices(*command, &choices);
        printf("        %s) options='", (*command)->name);
        for (int i = 0; i < arguments.option_count; i++)
            printf("%s%s", i > 0 ? " " : "", arguments.options[i].name);
        printf("' ");
        bash_choices(&choices);
        printf(" ;;\n");
    }
    printf("        esac\n"
           "        [[ $word != -* ]] || choices=$options list= files= ;;\n"
           "    esac\n"
           "    [ -z \"$list\" ] || choices=\"$choices $(\"${COMP_WORDS[0]}\" list \"$list\" 2>/dev/null | "
           "cut -d ' ' -f 1)\"\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$choices\" -- \"$word\"; [ -z \"$files\" ] || compgen "
           "-f -- \"$word\")\n"
           "    [ -z \"$files\" ] || compopt -o filenames 2>/dev/null\n"
           "}\n"
           "complete -F _kftune kftune\n");
}

/* --- Zsh --------------------------------------------------------------------------------------------------
 */

/* Prints a text inside single quotes. `marks` are characters with a meaning for _arguments or _describe,
 * which are escaped. */
static void quoted(const char *text, const char *marks) {
    for (; *text != '\0'; text++)
        if (*text == '\'')
            printf("'\\''");
        else if (strchr(marks, *text) != NULL)
            printf("\\%c", *text);
        else
            (void)putchar(*text);
}

static void zsh_action(const kf_choices *choices) {
    if (choices->list != NULL || choices->files)
        printf("{_kftune_words %s -- %s%s}", choices->list != NULL ? choices->list : "''", choices->words,
               choices->files ? "; _files" : "");
    else if (choices->words[0] != '\0') {
        printf("(");
        quoted(choices->words, ":");
        printf(")");
    } else
        printf(" ");
}

/* Prints the completion script for zsh, with the help of every command and option. Characters with a meaning
 * for _arguments are escaped. */
static void print_zsh(void) {
    static const char special[] = "[]:\\";
    printf("#compdef kftune\n"
           "# kftune's completion for zsh, made by 'kftune completion zsh'.\n"
           "_kftune_words() { # LIST -- WORD...\n"
           "    local -a found=(\"${@:3}\")\n"
           "    [[ -z $1 ]] || found+=(${${(f)\"$(kftune list $1 2>/dev/null)\"}%%%% *})\n"
           "    compadd -- $found\n"
           "}\n"
           "_kftune() {\n"
           "    local -a commands=(");
    for (const kf_command *const *command = kf_commands; *command != NULL; command++) {
        printf("\n        '%s:", (*command)->name);
        quoted((*command)->summary, special);
        printf("'");
    }
    printf(")\n"
           "    if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    local command=$words[2]\n"
           "    if [[ $command == -* ]]; then command=tune; else shift words; (( CURRENT-- )); fi\n"
           "    case $command in\n");
    for (const kf_command *const *command = kf_commands; *command != NULL; command++) {
        kf_arguments arguments;
        kf_choices choices;
        merge(*command, &arguments);
        printf("    %s) _arguments", (*command)->name);
        for (int i = 0; i < arguments.option_count; i++) {
            const kf_option *option = &arguments.options[i];
            printf(" \\\n        '%s%s%s[", option->values.repeatable ? "*" : "", option->name,
                   option->value_name != NULL ? "=" : "");
            quoted(option->help, special);
            printf("]");
            if (option->value_name != NULL) {
                choices_of(option->name, option->value_name, &choices);
                printf(":");
                quoted(option->value_name, special);
                printf(":");
                zsh_action(&choices);
            }
            printf("'");
        }
        positional_choices(*command, &choices);
        if ((*command)->positional != NULL) {
            printf(" \\\n        '*: :");
            zsh_action(&choices);
            printf("'");
        }
        printf(" ;;\n");
    }
    printf("    esac\n"
           "}\n"
           "# Read as a file of $fpath it is called; sourced it says what it is for.\n"
           "if [[ $funcstack[1] == _kftune ]]; then _kftune \"$@\"; else compdef _kftune kftune; fi\n");
}

/* --- Fish -------------------------------------------------------------------------------------------------
 */

static void fish_choices(const kf_choices *choices) {
    printf(choices->files ? " -F" : " -f");
    if (choices->words[0] == '\0' && choices->list == NULL) return;
    printf(" -a '%s%s", choices->words, choices->words[0] != '\0' && choices->list != NULL ? " " : "");
    if (choices->list != NULL)
        printf("(kftune list %s 2>/dev/null | string replace -r \" .*\" \"\")", choices->list);
    printf("'");
}

/* Prints the completion script for fish: a line 'complete' for each command, option and list of arguments. */
static void print_fish(void) {
    printf("# kftune's completion for fish, made by 'kftune completion fish'.\n"
           "function __kftune_command\n"
           "    set -l words (commandline -opc)\n"
           "    set -l command tune\n"
           "    if set -q words[2]; and not string match -q -- '-*' $words[2]\n"
           "        set command $words[2]\n"
           "    end\n"
           "    test $command = $argv[1]\n"
           "end\n"
           "complete -c kftune -f\n");
    for (const kf_command *const *command = kf_commands; *command != NULL; command++) {
        kf_arguments arguments;
        kf_choices choices;
        merge(*command, &arguments);
        printf("complete -c kftune -n 'test (count (commandline -opc)) -eq 1' -a %s -d '", (*command)->name);
        quoted((*command)->summary, "\\");
        printf("'\n");
        for (int i = 0; i < arguments.option_count; i++) {
            const kf_option *option = &arguments.options[i];
            printf("complete -c kftune -n '__kftune_command %s' -l %s -d '", (*command)->name,
                   option->name + 2);
            for (const char *c = option->help; *c != '\0'; c++)
                printf(*c == '\'' || *c == '\\' ? "\\%c" : "%c", *c);
            printf("'");
            if (option->value_name != NULL) {
                choices_of(option->name, option->value_name, &choices);
                printf(" -r");
                fish_choices(&choices);
            }
            printf("\n");
        }
        positional_choices(*command, &choices);
        if ((*command)->positional == NULL) continue;
        printf("complete -c kftune -n '__kftune_command %s'", (*command)->name);
        fish_choices(&choices);
        printf("\n");
    }
}

/* --- The command ------------------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    void (*print)(void);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
enum { SHELLS = sizeof shells / sizeof *shells };

/* Prints the script for the named shell. */
static kf_status run(const kf_arguments *arguments, kf_error *error) {
    if (arguments->positional_count == 0)
        return kf_fail(error, KF_BAD_INPUT, "completion: say for which shell: bash, zsh or fish");
    const char *names[SHELLS], *wanted = arguments->positional[0];
    for (int i = 0; i < SHELLS; i++) {
        names[i] = shells[i].name;
        if (strcmp(wanted, names[i]) != 0) continue;
        KF_TRY(
            kf_argument_no_json(arguments, "a completion is a shell's script; leave the option out", error));
        shells[i].print();
        return KF_OK;
    }
    char hint[KF_HINT];
    return kf_fail(error, KF_BAD_INPUT, "completion: unknown shell '%.40s'%s; there are bash, zsh and fish",
                   wanted, kf_hint(wanted, names, SHELLS, hint));
}

static const kf_option options[] = {{NULL, NULL, NULL, KF_FLAG}};
static const char *const positional[] = {"bash|zsh|fish", NULL};

extern const kf_command kf_command_completion;
const kf_command kf_command_completion = {
    .name = "completion",
    .summary = "print a shell's completion script",
    .synopsis = "kftune completion bash|zsh|fish",
    .description =
        "Prints a script that completes commands, options and their values. 'make install' and the\n"
        "package install it. Otherwise:\n"
        "    bash: source <(kftune completion bash)\n"
        "    zsh:  source <(kftune completion zsh)       # after compinit\n"
        "    fish: kftune completion fish | source",
    .example = "kftune completion bash",
    .options = options,
    .positional = positional,
    .run = run,
};
