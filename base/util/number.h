/* Reads numbers that people write. */
#ifndef KF_BASE_UTIL_NUMBER_H
#define KF_BASE_UTIL_NUMBER_H

/* Returns the decimal number at the beginning of text and sets *end behind it. Without a number it returns 0
 * and *end is text. strtod would also take leading blanks, hexadecimal numbers, infinity and nan, which
 * nobody means. */
double kf_read_decimal(const char *text, char **end);

#endif
