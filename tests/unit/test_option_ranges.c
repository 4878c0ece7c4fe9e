/* Tests the range of every option that is a number, at both ends, in every unit that it may have. Faults: a
 * bound or a unit of one option that changes by accident, such as a share whose bound is in percent. */
#include <math.h>

#include "tests/unit/known_text.h"

#include "harness/cli/command.h"
#include "harness/cli/placement_argument.h"

static const kf_command *command_of(const char *name) {
    for (const kf_command *const *c = kf_commands; *c != NULL; c++)
        if (strcmp((*c)->name, name) == 0) return *c;
    fail_msg("there is no command %s", name);
    return NULL;
}

/* Parses "COMMAND WORD..." up to the positionals; its words stay in line. */
static kf_status parse(char *line, const kf_command **command, kf_arguments *arguments, kf_error *error) {
    char *words[12], *rest = line;
    int count = 0;
    for (char *word; (word = strtok_r(rest, " ", &rest)) != NULL && count < 12;)
        words[count++] = word;
    *command = command_of(words[0]);
    return kf_arguments_parse(*command, count - 1, words + 1, arguments, error);
}

/* Whole and decimal numbers have ranges in the tables of options. They are listed, and the last digit
 * beyond each is refused. */
static void ranges_in_tables(void **state) {
    (void)state;
    kf_text text = {0};
    for (const kf_command *const *c = kf_commands; *c != NULL; c++)
        for (const kf_option *o = (*c)->options; o != NULL && o->name != NULL; o++) {
            const bool whole = o->values.check == kf_value_whole;
            if (!whole && o->values.check != kf_value_decimal) continue;
            kf_text_append(&text, "%s %s: %s from %.16g to %.16g\n", (*c)->name, o->name,
                           whole ? "whole" : "decimal", o->values.low, o->values.high);
            const double beyond = whole ? 1.0 : 1e-6 * fabs(o->values.high),
                         below = whole ? 1.0 : fmax(1e-6 * fabs(o->values.low), 1e-15);
            const double values[] = {o->values.low - below, o->values.low, o->values.high,
                                     o->values.high + beyond};
            for (int v = 0; v < 4; v++) {
                char value[64];
                kf_error error = {KF_OK, ""};
                (void)snprintf(value, sizeof value, "%.17g", values[v]);
                if (whole)
                    (void)snprintf(value, sizeof value, "%ld",
                                   (long)(v < 2 ? o->values.low : o->values.high) + (v == 0 ? -1 : v == 3));
                if (o->values.check(o, value, &error) != (v == 0 || v == 3 ? KF_BAD_INPUT : KF_OK))
                    fail_msg("%s %s %s: '%s'", (*c)->name, o->name, value, error.message);
            }
        }
    assert_known("ranges.txt", text.text);
}

/* A number with its unit, and what it is in SI units. */
typedef struct unit {
    const char *name;
    double factor;
} unit;
static const unit
    lengths[] = {{"", 1}, {"m", 1}, {"cm", 0.01}, {"mm", 0.001}, {"ft", 0.3048}, {"in", 0.0254}, {NULL, 0}},
    speeds[] = {{"", 1}, {"m/s", 1}, {"km/h", 1 / 3.6}, {"mph", 0.44704}, {"kn", 1852 / 3600.0}, {NULL, 0}},
    viscosities[] = {{"", 1}, {"m2/s", 1}, {"m^2/s", 1}, {"m²/s", 1}, {NULL, 0}},
    angles[] = {{"", 1}, {"deg", 1}, {"°", 1}, {NULL, 0}}, shares[] = {{"", 1}, {"%", 0.01}, {NULL, 0}},
    numbers[] = {{"", 1}, {NULL, 0}};

/* Options with units. `words`: a command that ends soon after it has read the option, because there is
 * nothing of that name. */
static const struct quantity {
    const char *words, *option;
    const unit *units;
    double low, high;
    size_t member; /* of kf_placement; 0: the value is not looked at */
} quantities[] = {
    {"scene none.obj", "--length", lengths, 1e-6, 1e6, offsetof(kf_placement, length)},
    {"scene none.obj", "--speed", speeds, 1e-6, 1e6, offsetof(kf_placement, speed)},
    {"scene none.obj", "--viscosity", viscosities, 1e-12, 1e6, offsetof(kf_placement, viscosity)},
    {"scene none.obj", "--reynolds", numbers, 1e-3, 1e9, offsetof(kf_placement, reynolds)},
    {"scene none.obj", "--yaw", angles, -180, 180, offsetof(kf_placement, yaw)},
    {"scene none.obj", "--blockage", shares, 1e-4, 0.25, offsetof(kf_placement, blockage)},
    {"scene none.obj", "--cells", numbers, 4, 4096, offsetof(kf_placement, cells)},
    {"compare none-1 none-2", "--floor", shares, 0, 1, 0},
    {"plan --device nowhere --scene none.obj", "--drag-within", shares, 0.001, 1, 0},
    {"run --scene none.obj", "--accuracy", shares, 1e-4, 0.1, 0},
};

static void ends_of_quantities(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
        for (const unit *u = quantities[i].units; u->name != NULL; u++)
            for (int end = 0; end < 4; end++) { /* below the range, in it twice, above it */
                const struct quantity *q = &quantities[i];
                const double edge = (end < 2 ? q->low : q->high) / u->factor,
                             step = (end % 2 == 0 ? -1e-6 : 1e-6) * fmax(fabs(edge), 1e-9);
                const bool refused = end == 0 || end == 3;
                char line[160];
                kf_arguments *arguments = calloc(1, sizeof *arguments);
                const kf_command *command;
                kf_error error = {KF_OK, ""};
                (void)snprintf(line, sizeof line, "%s %s=%.12g%s", q->words, q->option, edge + step, u->name);
                assert_int_equal(parse(line, &command, arguments, &error), KF_OK);
                if (q->member > 0) {
                    kf_placement placement;
                    const kf_status status = kf_argument_placement(arguments, &placement, &error);
                    const double found =
                        *(const double *)(const void *)((const char *)&placement + q->member);
                    assert_int_equal(status, refused ? KF_BAD_INPUT : KF_OK);
                    if (!refused && fabs(found - (edge + step) * u->factor) > 1e-9 * fabs(found))
                        fail_msg("%s in %s: %.12g", q->option, u->name, found);
                } else {
                    assert_int_not_equal(command->run(arguments, &error), KF_OK);
                }
                if ((strstr(error.message, "' is outside ") != NULL) != refused)
                    fail_msg("%s in '%s', end %d: '%s'", q->option, u->name, end, error.message);
                free(arguments);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranges_in_tables),
                                       cmocka_unit_test(ends_of_quantities)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
