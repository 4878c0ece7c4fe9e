/* Tests the range of every option that is a number, at both ends, in every unit that it may have, and the
 * forms of all values. Faults: a bound or a unit of one option that changes by accident, such as a share
 * whose bound is in percent; half a value that is accepted. */
#include <math.h>

#include "tests/unit/known_text.h"

#include "harness/cli/command.h"
#include "harness/cli/placement_argument.h"
#include "harness/cli/run_duration.h"
#include "harness/cli/run_pictures.h"
#include "harness/cli/run_probes.h"

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

/* Forms of values, whatever option has them: each right one is read, each with a part left out, a part too
 * many or something behind it is refused. The first two are checks of `run` without a name. */
static const struct form {
    kf_value_check *check;
    const char *right[6], *wrong[14];
} forms[] = {
    {NULL, {"none", "velocity", "velocity,q"}, {"", "velocities", "velocity,", ",velocity", "none,velocity"}},
    {NULL,
     {"1280x720", "16x8192"},
     {"", "1280", "1280x", "x720", "1280x720x1", "1280x720 ", "15x16", "16x15", "8193x16", "16x8193",
      "-64x64"}},
    {kf_value_whole, {"5", "12"}, {"", "5x", "5 ", "x", "5.0", "1e1", "99999999999999999999"}},
    {kf_value_decimal, {"5", "5.25", "1e1"}, {"", "5x", "x", "nan", "inf", "5,25", "1e999", "."}},
    {kf_value_grid,
     {"8x4x2", "1024x1024", "65536x1x1"},
     {"", "8", "8x", "8x4x", "x4x2", "8x4x2x1", "8x4x2 ", "8x-4x2", "8x 4x2", "8x0x2", "65537x1", "8X4X2"}},
    {kf_value_budget,
     {"60s", "2m", "1.5h", "20s-device", "500evals", "1eval"},
     {"", "60", "s", "0s", "-1s", "1.5evals", "60sec", "60s-", "nans", "infs", "2e9evals", "1e-4s", "2 m"}},
    {kf_value_pair, {"a=1", "a=b=c"}, {"", "a", "=", "a=", "=1"}},
    {kf_value_strategy, {"random", "local"}, {"", "randomly", "random:", "random:a", ":"}},
    {kf_value_time, {"2", "2s", "250ms"}, {"", "s", "0s", "-2s", "2 s", "2sec", "1e9s", "nan", "infs"}},
    {kf_value_until, {"settled"}, {"", "settle", "settled ", "Settled"}},
    {kf_value_pictures,
     {"speed", "speed,pressure,speed", "none", "surface,y_plus", "vorticity"},
     {"", "speeds", "speed,", ",speed", "none,speed", "speed,none", "speed pressure", "spee"}},
    {kf_value_slice,
     {"x", "y", "z", "y=0.4", "y=0.4m", "z=-1"},
     {"", "w", "xy", "y=", "y=m", "y0.4", "y=0.4cm", "y=0.4 m", "y=0.4mm", "=0.4"}},
    {kf_value_range,
     {"0:60", "-1.5:1", "pressure=-1.5:1", "-1:-0.5"},
     {"", ":", "0:", "-5:", ":60", "60", "60:0", "5:5", "0:60:70", "0:60x", "pressure=", "-5:nan", "-inf:0",
      "0:inf"}},
    {kf_value_camera,
     {"90,10", "0,0,1", "-360,80,20", "360,-80,0.1", "1.5,2.5"},
     {"", "90", "90,", "90,10,", "90,10,1,1", "361,0", "-361,0", "0,81", "0,-81", "0,0,0.09", "0,0,21",
      "90;10", "nan,0", "0,0,1x"}},
    {kf_value_probe, {"wake=2L,0,0", "a=b"}, {"", "wake", "=2L,0,0", "="}},
};

static kf_value_check *check_of(size_t form) {
    static const char *const unnamed[] = {"--fields", "--smoke-size"};
    if (forms[form].check != NULL) return forms[form].check;
    for (const kf_option *o = command_of("run")->options; o->name != NULL; o++)
        if (strcmp(o->name, unnamed[form]) == 0) return o->values.check;
    return NULL;
}

static void forms_of_values(void **state) {
    (void)state;
    for (const kf_command *const *c = kf_commands; *c != NULL; c++) /* the table has all of them */
        for (const kf_option *o = (*c)->options; o != NULL && o->name != NULL; o++) {
            bool found = o->values.check == NULL;
            for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
                found = found || check_of(f) == o->values.check;
            if (!found) fail_msg("no forms of %s %s", (*c)->name, o->name);
        }
    const kf_option option = {.name = "--it", .value_name = "IT", .values = {.low = -1e6, .high = 1e6}};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        kf_value_check *check = check_of(f);
        kf_error error = {KF_OK, ""};
        assert_non_null(check);
        for (int i = 0; i < 6 && forms[f].right[i] != NULL; i++)
            if (check(&option, forms[f].right[i], &error) != KF_OK)
                fail_msg("'%s': %s", forms[f].right[i], error.message);
        for (int i = 0; i < 14 && forms[f].wrong[i] != NULL; i++) {
            error = (kf_error){KF_OK, ""};
            if (check(&option, forms[f].wrong[i], &error) != KF_BAD_INPUT)
                fail_msg("%zu: '%s' is accepted", f, forms[f].wrong[i]);
            assert_true(error.message[0] != '\0' && strchr(error.message, '\n') == NULL);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranges_in_tables),
                                       cmocka_unit_test(ends_of_quantities),
                                       cmocka_unit_test(forms_of_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
