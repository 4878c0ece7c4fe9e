/* Variables and values of a space. */
#include <ctype.h>
#include <string.h>

#include "base/space/space_parts.h"

static const kf_scalar_kind scalar_kinds[] = {KF_SCALAR_INTEGER, KF_SCALAR_BOOLEAN, KF_SCALAR_STRING};

bool kf_space_variable(void *space, const char *name, kf_scalar *value) {
    const kf_variables *variables = &((const kf_space *)space)->variables;
    for (int i = 0; i < variables->count; i++) {
        if (strcmp(variables->values[i].name, name) != 0) continue;
        double number = variables->values[i].value;
        *value = (kf_scalar){.kind = KF_SCALAR_FLOAT, .number = number};
        if (number >= -9e18 && number <= 9e18 && number == (double)(long long)number)
            *value = (kf_scalar){.kind = KF_SCALAR_INTEGER, .integer = (long long)number};
        return true;
    }
    return false;
}

kf_status kf_space_check_line(const char *file, const char *path, const char *key, const char *text,
                              kf_error *error) {
    for (const char *c = text; c != NULL && *c != '\0'; c++)
        if (iscntrl((unsigned char)*c))
            return kf_fail(error, KF_BAD_INPUT, "%s: %s.%s must be one line without control characters", file,
                           path, key);
    return KF_OK;
}

int kf_scalar_compare(const kf_scalar *left, const kf_scalar *right) {
    if (left->kind == KF_SCALAR_STRING) return strcmp(left->text, right->text);
    return (left->integer > right->integer) - (left->integer < right->integer);
}

int kf_parameter_position(const kf_parameter *parameter, const kf_scalar *value) {
    int low = 0, high = parameter->value_count - 1;
    if (value->kind != scalar_kinds[parameter->kind]) return -1;
    while (low <= high) {
        int middle = (low + high) / 2, position = parameter->sorted[middle];
        int order = kf_scalar_compare(value, &parameter->values[position]);
        if (order == 0) return position;
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return -1;
}

bool kf_parameter_allows(const kf_parameter *parameter, int position) {
    for (int i = 0; i < parameter->choice_count; i++)
        if (parameter->choices[i] == position) return true;
    return parameter->choices == NULL;
}
