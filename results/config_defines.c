/* Writes a config for users who compile the kernel themselves. */
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/text.h"
#include "results/best_config.h"

static void append_value(const kf_value *value, kf_text *text) {
    if (value->kind == KF_VALUE_NAME)
        kf_text_append(text, "%s", value->name);
    else
        kf_text_append(text, "%ld", value->integer);
}

char *kf_config_defines(const kf_config *config) {
    kf_text text = {0};
    for (int i = 0; i < config->count; i++) {
        kf_text_append(&text, "%s-D%s=", i > 0 ? " " : "", config->values[i].parameter);
        append_value(&config->values[i], &text);
    }
    return text.text;
}

/* A define among the compiler's options has priority over one in the header. */
kf_status kf_config_header_write(const char *path, const kf_config *config, kf_error *error) {
    kf_text text = {0};
    kf_text_append(&text, "/* Written by kftune: the parameters of the fastest config that was right. */\n");
    for (int i = 0; i < config->count; i++) {
        const char *name = config->values[i].parameter;
        kf_text_append(&text, "#ifndef %s\n#define %s ", name, name);
        append_value(&config->values[i], &text);
        kf_text_append(&text, "\n#endif\n");
    }
    const kf_status status = kf_file_write_atomic(path, text.text, strlen(text.text), error);
    kf_text_free(&text);
    return status;
}
