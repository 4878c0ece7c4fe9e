#include "base/space/variables.h"

#include "base/util/text.h"

void kf_add_variable(kf_variables *variables, const char *name, double value) {
    kf_variable *variable = &variables->values[variables->count++];
    kf_copy_text(variable->name, sizeof variable->name, name);
    variable->value = value;
}
