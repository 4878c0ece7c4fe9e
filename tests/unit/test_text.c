/* Tests names, growing strings, figures and allocation. Faults: text that is cut, or a figure that is
 * rounded wrongly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util/memory.h"
#include "base/util/status.h"
#include "base/util/text.h"

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ADDRESS_SANITIZER
#endif
#endif

static const char *const names[] = {"--scene", "--strategy", "--store", "--seed", "--budget", "--out"};
enum { NAMES = sizeof names / sizeof names[0] };

static void nearest_finds_slips(void **state) {
    (void)state;
    assert_string_equal(kf_nearest("--scnee", names, NAMES), "--scene");
    assert_string_equal(kf_nearest("--SCENE", names, NAMES), "--scene");
    assert_string_equal(kf_nearest("--stratgy", names, NAMES), "--strategy");
    assert_string_equal(kf_nearest("--budjet", names, NAMES), "--budget");
    assert_string_equal(kf_nearest("--store", names, NAMES), "--store");
}

static void nearest_does_not_guess_wildly(void **state) {
    (void)state;
    char longest[400];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_null(kf_nearest("viscosity", names, NAMES));
    assert_null(kf_nearest("", names, NAMES));
    assert_null(kf_nearest(longest, names, NAMES));
    assert_null(kf_nearest("--scene", names, 0));
    assert_null(kf_nearest("q", (const char *const[]){"x"}, 1));
}

static void text_grows(void **state) {
    (void)state;
    kf_text text = {0};
    for (int i = 0; i < 1000; i++)
        kf_text_append(&text, "%d,", i);
    kf_text_append(&text, "%s", "");
    assert_int_equal(text.length, strlen(text.text));
    assert_int_equal(text.length, 10 * 2 + 90 * 3 + 900 * 4);
    assert_string_equal(text.text + text.length - 8, "998,999,");
    kf_text_free(&text);
    assert_null(text.text);
    assert_int_equal(text.capacity, 0);
}

/* A stream's text is complete, however it was written and however often it outgrew its memory. */
static void streams_append_to_text(void **state) {
    (void)state;
    kf_text text = {0};
    kf_text_append(&text, "begin ");
    FILE *stream = kf_text_stream(&text);
    assert_non_null(stream);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(fprintf(stream, "%04d,", i), 5);
    assert_int_equal(fputc('.', stream), '.');
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(text.length, 6 + 5 * 5000 + 1);
    assert_int_equal(strlen(text.text), text.length);
    assert_memory_equal(text.text, "begin 0000,", 11);
    assert_string_equal(text.text + text.length - 6, "4999,.");
    kf_text_free(&text);
}

static void figures_have_three_digits(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *bytes, *time;
    } figures[] = {
        {0, "0 B", "0 us"},
        {0.0015, "0 B", "1.5 ns"},
        {1, "1 B", "1 us"},
        {4.5, "4.5 B", "4.5 us"},
        {9.996, "10 B", "10 us"},
        {999.6, "1000 B", "1 ms"},
        {1023.6, "1 KiB", "1.02 ms"},
        {1.5e6, "1.43 MiB", "1.5 s"},
        {1320702443.52, "1.23 GiB", "22 min"},
        {7.2e9 * 3, "20.1 GiB", "6 h"},
        {-2048, "-2 KiB", "-2.05 ms"},
    };
    char buffer[32];
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        if (figures[i].value >= 1 || figures[i].value <= 0)
            assert_string_equal(kf_human_bytes(figures[i].value, buffer), figures[i].bytes);
        assert_string_equal(kf_human_time_us(figures[i].value, buffer), figures[i].time);
    }
    assert_ptr_equal(kf_human_bytes(1e300, buffer), buffer); /* absurd values fit as well */
    assert_true(strlen(buffer) < 32);
}

/* A figure that would round up gets the next unit or loses a digit. It never has four digits, and never
 * reads "1024". */
static void figures_change_units_where_they_would_round_up(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *bytes, *time;
    } figures[] = {
        {9.994, "9.99 B", "9.99 us"},         {99.94, "99.9 B", "99.9 us"},
        {99.96, "100 B", "100 us"},           {999.4, "999 B", "999 us"},
        {1023.4, "1023 B", "1.02 ms"},        {999.4e3, "976 KiB", "999 ms"},
        {999.6e3, "976 KiB", "1 s"},          {1023.4 * 1024, "1023 KiB", "1.05 s"},
        {1023.6 * 1024, "1 MiB", "1.05 s"},   {119.4e6, "114 MiB", "119 s"},
        {119.6e6, "114 MiB", "1.99 min"},     {119.4 * 60e6, "6.67 GiB", "119 min"},
        {119.6 * 60e6, "6.68 GiB", "1.99 h"},
    };
    char buffer[32];
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        assert_string_equal(kf_human_bytes(figures[i].value, buffer), figures[i].bytes);
        assert_string_equal(kf_human_time_us(figures[i].value, buffer), figures[i].time);
    }
    assert_string_equal(kf_human_time_us(0.9994, buffer), "999 ns");
    assert_string_equal(kf_human_time_us(0.9996, buffer), "1 us");
    assert_string_equal(kf_human_bytes(3 * 1024.0 * 1024 * 1024 * 1024, buffer), "3 TiB");
    assert_string_equal(kf_human_bytes(2 * 1024.0 * 1024 * 1024 * 1024 * 1024, buffer), "2 PiB");
}

/* A share in percent has two digits, and from a hundred on all of its digits. */
static void percents_have_no_exponent(void **state) {
    (void)state;
    static const struct {
        double share;
        const char *text;
    } shares[] = {{0.0, "0"},      {0.0494, "4.9"},      {0.3333, "33"},   {0.9949, "99"},
                  {0.9951, "100"}, {1.0, "100"},         {4.23, "420"},    {12.0, "1200"},
                  {-0.3, "-30"},   {7.12e-7, "7.1e-05"}, {INFINITY, "inf"}};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%.10g", kf_percent(shares[i].share));
        assert_string_equal(text, shares[i].text);
    }
}

static void grids_are_told_as_they_are_given(void **state) {
    (void)state;
    char buffer[KF_GRID_TEXT];
    assert_string_equal(kf_grid_text((const int[3]){96, 48, 32}, buffer), "96x48x32");
    assert_string_equal(kf_grid_text((const int[3]){1024, 512, 1}, buffer), "1024x512");
    assert_string_equal(kf_grid_text((const int[3]){7, 1, 1}, buffer), "7x1");
    assert_string_equal(kf_grid_text((const int[3]){2147483647, 2147483647, 2147483647}, buffer),
                        "2147483647x2147483647x2147483647");
}

/* One error per three letters is allowed, and two swapped letters are one. */
static void nearest_allows_a_slip_in_three_letters(void **state) {
    (void)state;
    static const char *const three[] = {"abc"}, *const six[] = {"abcdef"}, *const swaps[] = {"axbycz"};
    assert_string_equal(kf_nearest("abd", three, 1), "abc");
    assert_null(kf_nearest("axd", three, 1));
    assert_string_equal(kf_nearest("abcdxx", six, 1), "abcdef");
    assert_null(kf_nearest("abcxxx", six, 1));
    assert_string_equal(kf_nearest("xabycz", swaps, 1), "axbycz");
    assert_string_equal(kf_nearest("xaybcz", swaps, 1), "axbycz"); /* two swaps */
    assert_null(kf_nearest("xaybzc", swaps, 1));
    static const char *const several[] = {"store", "scene", "score"};
    assert_string_equal(kf_nearest("scoer", several, 3), "score"); /* the nearest, not the first */
    char hint[KF_HINT];
    assert_non_null(strstr(kf_hint("scoer", several, 3, hint), "'score'"));
    assert_string_equal(kf_hint("zzz", several, 3, hint), "");
}

static void controls_are_not_printable(void **state) {
    (void)state;
    assert_true(kf_is_printable("a ~") && kf_is_printable(""));
    assert_false(kf_is_printable("a\x1f") || kf_is_printable("a\x7f") || kf_is_printable("\n"));
}

static void copies_truncate(void **state) {
    (void)state;
    char target[4] = "zzz";
    kf_copy_text(target, sizeof target, "abcdef");
    assert_string_equal(target, "abc");
    kf_copy_text(target, sizeof target, "");
    assert_string_equal(target, "");
    kf_copy_text(target, 0, "abc"); /* touches nothing */
    assert_string_equal(target, "");
}

/* Returns the exit status of a child that asks for more memory than there is. */
static int status_without_memory(void) {
    pid_t child = fork();
    if (child == 0) {
        (void)close(STDERR_FILENO);
        free(kf_allocate_zeroed(SIZE_MAX / 4, 8));
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void allocation_ends_the_program_cleanly(void **state) {
    (void)state;
    char *copy = kf_duplicate("kept");
    copy = kf_reallocate(copy, 100);
    assert_string_equal(copy, "kept");
    free(copy);
    void *empty = kf_allocate(0);
    assert_non_null(empty);
    free(empty);
    unsigned char *zeroed = kf_allocate_zeroed(16, 4);
    for (int i = 0; i < 64; i++)
        assert_int_equal(zeroed[i], 0);
    free(zeroed);
#ifndef WITH_ADDRESS_SANITIZER /* The sanitizer ends the program itself on such a request. */
    assert_int_equal(status_without_memory(), KF_MACHINE);
#else
    assert_int_not_equal(status_without_memory(), 0);
#endif
}

static void errors_gain_context(void **state) {
    (void)state;
    kf_error error;
    assert_int_equal(kf_fail(&error, KF_BAD_INPUT, "line %d", 7), KF_BAD_INPUT);
    assert_int_equal(kf_fail_context(&error, "%s", "car.obj"), KF_BAD_INPUT);
    assert_string_equal(error.message, "car.obj: line 7");
    assert_int_equal(kf_fail(NULL, KF_MACHINE, "x"), KF_MACHINE);
    char longest[3000];
    memset(longest, 'y', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(kf_fail_context(&error, "%s", longest), KF_BAD_INPUT);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
}

static void errors_are_one_line(void **state) {
    (void)state;
    kf_error error;
    assert_int_equal(kf_fail(&error, KF_BAD_INPUT, "%s: is missing", "blu\n.cu"), KF_BAD_INPUT);
    assert_string_equal(error.message, "blu .cu: is missing");
    assert_int_equal(kf_fail_context(&error, "%s", "a\r\nb"), KF_BAD_INPUT);
    assert_string_equal(error.message, "a  b: blu .cu: is missing");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_finds_slips),
        cmocka_unit_test(nearest_does_not_guess_wildly),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(streams_append_to_text),
        cmocka_unit_test(figures_have_three_digits),
        cmocka_unit_test(figures_change_units_where_they_would_round_up),
        cmocka_unit_test(percents_have_no_exponent),
        cmocka_unit_test(grids_are_told_as_they_are_given),
        cmocka_unit_test(nearest_allows_a_slip_in_three_letters),
        cmocka_unit_test(controls_are_not_printable),
        cmocka_unit_test(copies_truncate),
        cmocka_unit_test(allocation_ends_the_program_cleanly),
        cmocka_unit_test(errors_gain_context),
        cmocka_unit_test(errors_are_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
