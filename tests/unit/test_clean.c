/* Tests how text of others is cleaned for terminals, spreadsheets and formats in UTF-8. Faults: a control
 * sequence or formula gets through, or harmless text changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/util/clean.h"
#include "base/util/text.h"
#include "tests/unit/caught_child.h"

static void expect_clean(const char *text, const char *expected) {
    char *copy = kf_duplicate(text);
    kf_clean_text(copy);
    assert_string_equal(copy, expected);
    free(copy);
}

static void terminals_are_not_commanded(void **state) {
    (void)state;
    expect_clean("plain, \xc3\xa4\xe2\x82\xac\xf0\x9f\x9a\x97\tand\nlines",
                 "plain, \xc3\xa4\xe2\x82\xac\xf0\x9f\x9a\x97\tand\nlines");
    expect_clean("\x1b]0;title\a\x1b[2J", "?]0;title??[2J");
    expect_clean("a\rb\bc\x7f", "a?b?c?");
    expect_clean("\xc2\x9b"
                 "31m, \x9b"
                 "31m",
                 "?31m, ?31m"); /* the same command as one character, and as one byte */
    /* The text is written as bytes, or linters would take it for an attack on readers of this file. */
    static const char turned[] = {'u',        's', 'e', 'r', (char)0xe2, (char)0x80,
                                  (char)0xae, 'g', 'p', 'j', '\0'};
    expect_clean(turned, "user?gpj");
    expect_clean("\xc0\xaf \xe0\x80\xaf \xed\xa0\x80 \xf5\x80\x80\x80 \xe2\x82", "?? ??? ??? ???? ??");
}

/* It tests the first and the last character of each range that is removed, and the neighbours that stay. */
static void ranges_end_where_they_should(void **state) {
    (void)state;
    static const struct {
        unsigned long code;
        bool kept;
    } codes[] = {{0x1f, false},   {0x20, true},    {0x7e, true},   {0x7f, false},  {0x80, false},
                 {0x9f, false},   {0xa0, true},    {0x7ff, true},  {0x800, true},  {0x2029, true},
                 {0x202a, false}, {0x202e, false}, {0x202f, true}, {0x2065, true}, {0x2066, false},
                 {0x2069, false}, {0x206a, true},  {0xd7ff, true}, {0xe000, true}, {0xffff, true},
                 {0x10000, true}, {0x10ffff, true}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        const unsigned long c = codes[i].code;
        char text[8] = "", kept[8];
        if (c < 0x80) {
            text[0] = (char)c;
        } else if (c < 0x800) {
            text[0] = (char)(0xc0 | c >> 6);
            text[1] = (char)(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
            text[0] = (char)(0xe0 | c >> 12);
            text[1] = (char)(0x80 | (c >> 6 & 0x3f));
            text[2] = (char)(0x80 | (c & 0x3f));
        } else {
            text[0] = (char)(0xf0 | c >> 18);
            text[1] = (char)(0x80 | (c >> 12 & 0x3f));
            text[2] = (char)(0x80 | (c >> 6 & 0x3f));
            text[3] = (char)(0x80 | (c & 0x3f));
        }
        memcpy(kept, text, sizeof kept);
        assert_int_equal(kf_utf8_length(text), strlen(text));
        kf_clean_text(text);
        if (strcmp(text, codes[i].kept ? kept : "?") != 0) fail_msg("U+%04lx becomes '%s'", c, text);
    }
    expect_clean("\xf4\x90\x80\x80", "????"); /* beyond the last */
    expect_clean("\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80");
}

/* Every byte sequence of up to three bytes: clean text is UTF-8, holds no control character, and stays as it
 * is. */
static void whatever_is_cleaned_is_clean(void **state) {
    (void)state;
    for (unsigned long n = 0; n < 1UL << 24; n += 7) {
        char text[4] = {(char)(n & 0xff), (char)(n >> 8 & 0xff), (char)(n >> 16 & 0xff), '\0'}, again[4];
        kf_clean_text(text);
        for (const char *c = text; *c != '\0'; c += kf_utf8_length(c)) {
            assert_true(kf_utf8_length(c) > 0);
            assert_true((unsigned char)*c >= ' ' || *c == '\n' || *c == '\t');
            assert_false(*c == 0x7f || (c[0] == '\xc2' && (unsigned char)c[1] < 0xa0));
        }
        memcpy(again, text, sizeof again);
        kf_clean_text(again);
        assert_string_equal(again, text);
    }
}

/* It runs in a process of its own, whose stdout is a pipe, also with a buffer that ends within a
 * character. */
static void stdout_is_cleaned(void **state) {
    (void)state;
    const caught_child child = fork_caught(STDOUT_FILENO);
    if (child.process == 0) {
        kf_clean_stdout();
        (void)printf("name \x1b[31m\xe2");
        (void)fflush(stdout);
        (void)printf("\x82\xac\n");
        (void)putchar(0);
        for (int i = 0; i < 3000; i++)
            (void)fputs("\xf0\x9f\x9a\x97 ", stdout);
        (void)fflush(stdout);
        _exit(ferror(stdout) != 0 ? 1 : 0);
    }
    char text[20000] = "";
    assert_int_equal(end_caught(child, text, sizeof text), 0);
    const char begins[] = "name ?[31m\xe2\x82\xac\n?";
    const size_t length = strlen(text);
    assert_int_equal(length, sizeof begins - 1 + 5 * 3000);
    assert_memory_equal(text, begins, sizeof begins - 1);
    assert_memory_equal(text + length - 5, "\xf0\x9f\x9a\x97 ", 5);
}

static void spreadsheets_run_nothing(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"plain", "plain"},     {"", ""},
        {"a,b", "\"a,b\""},     {"say \"x\"", "\"say \"\"x\"\"\""},
        {"=1+1", "'=1+1"},      {"+1", "'+1"},
        {"-1", "'-1"},          {"@SUM(A1)", "'@SUM(A1)"},
        {"\t=1", "\"'\t=1\""},  {"=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\""},
        {"a\x1b[2Jb", "a?[2Jb"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200] = "";
        FILE *stream = fmemopen(text, sizeof text, "w");
        kf_csv_text(stream, cases[i][0]);
        (void)fclose(stream);
        assert_string_equal(text, cases[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminals_are_not_commanded),  cmocka_unit_test(whatever_is_cleaned_is_clean),
        cmocka_unit_test(ranges_end_where_they_should), cmocka_unit_test(stdout_is_cleaned),
        cmocka_unit_test(spreadsheets_run_nothing),
    };
    return cmocka_run_group_tests_name("clean", tests, NULL, NULL);
}
