/* Puts files of the source tree into the program as texts. */
#ifndef KF_BASE_UTIL_INCLUDE_TEXT_H
#define KF_BASE_UTIL_INCLUDE_TEXT_H

/* Declares `symbol` as the text of a file, which ends with a 0. file: a string literal, relative to the
 * repository's root, where the compiler runs. In the Makefile the object must depend on the file. */
#define KF_INCLUDE_TEXT(symbol, file)                                                                        \
    __asm__(".pushsection .rodata\n"                                                                         \
            ".global " #symbol "\n.hidden " #symbol "\n" #symbol ":\n"                                       \
            ".incbin \"" file "\"\n"                                                                         \
            ".byte 0\n"                                                                                      \
            ".popsection\n");                                                                                \
    extern const char(symbol)[]

#endif
