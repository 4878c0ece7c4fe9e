/* Reads numbers in the text of mesh files. There are millions of them. Those that a double holds exactly are
 * computed here, and only the others use the C library. */
#include <locale.h>
#include <stdlib.h>

#include "scene/mesh_import.h"

/* Reads a number with the C library in the plain locale. In a locale with decimal commas strtod would stop at
 * a point. */
static double read_slowly(const char *text, const char **end) {
    static locale_t plain;
    char *stop = NULL;
    if (plain == (locale_t)0) plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    /* Without memory for the locale, plain strtod is used. */
    const double value = plain == (locale_t)0 ? strtod(text, &stop) : strtod_l(text, &stop, plain);
    *end = stop;
    return value;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Reads a number. The product or quotient of two exact numbers is rounded once, so it is the nearest double.
 */
double kf_scan_number(const char *text, const char **end) {
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    enum { MOST_DIGITS = 15, MOST_TENS = 22 };
    const char *at = text;
    const bool negative = *at == '-';
    int64_t whole = 0;
    int digits = 0, scale = 0;
    if (*at == '-' || *at == '+') at++;
    for (; is_digit(*at); at++, digits++)
        whole = digits < MOST_DIGITS ? 10 * whole + (*at - '0') : whole;
    if (*at == '.')
        for (at++; is_digit(*at); at++, digits++, scale--)
            whole = digits < MOST_DIGITS ? 10 * whole + (*at - '0') : whole;
    if (digits == 0 || digits > MOST_DIGITS) return read_slowly(text, end);
    if (*at == 'e' || *at == 'E') {
        const char *power = at + 1;
        const bool smaller = *power == '-';
        int tenfold = 0;
        if (*power == '-' || *power == '+') power++;
        if (!is_digit(*power)) return read_slowly(text, end);
        for (; is_digit(*power) && tenfold < 1000; power++)
            tenfold = 10 * tenfold + (*power - '0');
        scale += smaller ? -tenfold : tenfold;
        at = power;
    }
    if (scale < -MOST_TENS || scale > MOST_TENS || (*at | 0x20) == 'x') return read_slowly(text, end);
    const double value = scale < 0 ? (double)whole / tens[-scale] : (double)whole * tens[scale];
    *end = at;
    return negative ? -value : value;
}
