/* Values and domains in words. */
#include "base/space/space_parts.h"
#include "base/util/text.h"

enum { SHOWN_IN_FULL = 8 };

/* Writes a value as a declaration would have it. */
void kf_scalar_text(const kf_scalar *value, kf_text *text) {
    switch (value->kind) {
    case KF_SCALAR_INTEGER:
        kf_text_append(text, "%lld", value->integer);
        break;
    case KF_SCALAR_BOOLEAN:
        kf_text_append(text, "%s", value->integer != 0 ? "true" : "false");
        break;
    case KF_SCALAR_FLOAT:
        kf_text_append(text, "%.17g", value->number);
        break;
    case KF_SCALAR_STRING:
        kf_text_append(text, "%s", value->text);
        break;
    }
}

static bool consecutive(const kf_parameter *parameter) {
    if (parameter->kind != KF_VALUE_INTEGER || parameter->value_count <= 4) return false;
    for (int i = 1; i < parameter->value_count; i++)
        if (parameter->values[i].integer != parameter->values[i - 1].integer + 1) return false;
    return true;
}

/* Writes a parameter's domain in few words: "1 to 64", all values if they are few, or the first ones and
 * the last. */
void kf_domain_text(const kf_parameter *parameter, kf_text *text) {
    int count = parameter->value_count;
    if (consecutive(parameter)) {
        kf_text_append(text, "%lld to %lld", parameter->values[0].integer,
                       parameter->values[count - 1].integer);
        return;
    }
    int shown = count <= SHOWN_IN_FULL ? count : SHOWN_IN_FULL - 3;
    for (int i = 0; i < shown; i++) {
        if (i > 0) kf_text_append(text, " ");
        kf_scalar_text(&parameter->values[i], text);
    }
    if (shown == count) return;
    kf_text_append(text, " ... ");
    kf_scalar_text(&parameter->values[count - 1], text);
    kf_text_append(text, " (%d values)", count);
}
