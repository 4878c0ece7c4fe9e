/* Reads any text as an expression. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/expression/expression.h"
#include "base/util/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool look_up(void *context, const char *name, kf_scalar *value) {
    (void)context;
    switch (name[0]) {
    case 'a':
        *value = (kf_scalar){.kind = KF_SCALAR_INTEGER, .integer = -7};
        return true;
    case 'b':
        *value = (kf_scalar){.kind = KF_SCALAR_FLOAT, .number = 2.5};
        return true;
    case 's':
        *value = (kf_scalar){.kind = KF_SCALAR_STRING, .text = "csoa"};
        return true;
    case 't':
        *value = (kf_scalar){.kind = KF_SCALAR_BOOLEAN, .integer = 1};
        return true;
    default:
        return false;
    }
}

/* An error must be one line with the column. */
static void check(kf_status status, const kf_error *error) {
    if (status == KF_OK) return;
    if (status != KF_BAD_INPUT || strncmp(error->message, "column ", 7) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = kf_allocate(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    kf_expression *expression = NULL;
    kf_error error = {0};
    kf_status status = kf_expression_parse(text, &expression, &error);
    check(status, &error);
    if (status == KF_OK) {
        kf_scalar value, *values = NULL;
        size_t count = 0;
        check(kf_expression_scalar(expression, look_up, NULL, &value, &error), &error);
        check(kf_expression_list(expression, look_up, NULL, 1000, &values, &count, &error), &error);
        free(values);
    }
    kf_expression_free(expression);
    free(text);
    return 0;
}
