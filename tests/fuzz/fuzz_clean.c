/* Cleans any bytes for output. Clean text is UTF-8, and cleaning it again changes nothing. */
#include "tests/fuzz/fuzz_file.h"

#include "base/util/clean.h"
#include "base/util/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kf_error error = {KF_OK, ""};
    (void)error;
    char *text = kf_allocate(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    kf_clean_text(text);
    for (const char *c = text; *c != 0; c += kf_utf8_length(c))
        if (kf_utf8_length(c) == 0) abort();
    char *again = kf_duplicate(text);
    kf_clean_text(again);
    if (strcmp(again, text) != 0) abort();
    free(again);
    free(text);
    return 0;
}
