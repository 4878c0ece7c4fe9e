/* Tests names of probes, which become parts of file names. Faults: a letter that leaves the folder gets
 * through at one position. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene/probes.h"

static void names_are_looked_at_whole(void **state) {
    (void)state;
    static const char *const good[] = {"a", "wake", "Wake-2_b", "12345678901234567890123"};
    static const char *const bad[] = {
        "",      "../wake", "wake/..", "a/b",         "wake.", ".wake", "a b",
        "wake ", "wake\n",  "a\x7f",   "w\xc3\xa4ke", "a:b",   "a=b",   "123456789012345678901234"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!kf_probe_name_is_good(good[i])) fail_msg("'%s' is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (kf_probe_name_is_good(bad[i])) fail_msg("'%s' is taken", bad[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_looked_at_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
