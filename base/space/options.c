#include "base/space/options.h"

#include <string.h>

static kf_status read_number(const kf_config *config, const kf_config_field *option, void *member,
                             kf_error *error) {
    long value;
    KF_TRY(kf_config_integer(config, option->parameter, &value, error));
    if (value < option->low || value > option->high)
        return kf_fail(error, KF_BAD_INPUT, "config: %s must lie between %ld and %ld", option->parameter,
                       option->low, option->high);
    if (option->kind == KF_OPTION_LONG)
        *(long *)member = value;
    else
        *(int *)member = (int)value;
    return KF_OK;
}

static kf_status read_choice(const kf_config *config, const kf_config_field *option, void *member,
                             kf_error *error) {
    int count = 0, index;
    while (option->names[count] != NULL)
        count++;
    KF_TRY(kf_config_choice(config, option->parameter, option->names, count, &index, error));
    if (option->kind == KF_OPTION_SECOND)
        *(bool *)member = index == 1;
    else
        /* Enums have the size of an int. */
        memcpy(member, &index, sizeof index);
    return KF_OK;
}

static kf_status read_option(const kf_config *config, const kf_config_field *option, void *options,
                             kf_error *error) {
    void *member = (char *)options + option->offset;
    if (option->kind == KF_OPTION_FLAG) return kf_config_boolean(config, option->parameter, member, error);
    if (option->kind == KF_OPTION_INT || option->kind == KF_OPTION_LONG)
        return read_number(config, option, member, error);
    return read_choice(config, option, member, error);
}

kf_status kf_options_read(const kf_config *config, const kf_config_field *table, size_t count, void *options,
                          kf_error *error) {
    for (size_t i = 0; i < count; i++)
        KF_TRY(read_option(config, &table[i], options, error));
    return KF_OK;
}

void kf_options_read_known(const kf_config *config, const kf_config_field *table, size_t count,
                           void *options) {
    kf_error ignored;
    for (size_t i = 0; i < count; i++)
        (void)read_option(config, &table[i], options, &ignored);
}

kf_status kf_options_refuse(kf_error *error, const char *reason) {
    return kf_fail(error, KF_BAD_INPUT, "config: %s", reason);
}
