#include "base/util/number.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

double kf_read_decimal(const char *text, char **end) {
    const char *digits = text + (*text == '-' || *text == '+');
    const bool begins =
        (digits[0] >= '0' && digits[0] <= '9') || (digits[0] == '.' && digits[1] >= '0' && digits[1] <= '9');
    *end = (char *)(uintptr_t)text;
    if (!begins || (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))) return 0.0;
    return strtod(text, end);
}
