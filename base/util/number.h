/* Numbers in what people write. */
#ifndef KF_BASE_UTIL_NUMBER_H
#define KF_BASE_UTIL_NUMBER_H

/* The decimal number at the beginning of text, and where it ends: *end is text itself, and the number 0,
 * where none begins. strtod also takes leading blanks, hexadecimal numbers, infinity and nan, which nobody
 * means. */
double kf_read_decimal(const char *text, char **end);

#endif
