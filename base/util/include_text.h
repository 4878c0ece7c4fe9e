/* Files of the source tree as texts of the program. */
#ifndef KF_BASE_UTIL_INCLUDE_TEXT_H
#define KF_BASE_UTIL_INCLUDE_TEXT_H

/* Declares symbol, the text of a file, which ends with a 0. file: a literal, from the repository's root,
 * where the compiler runs. The object has to depend on the file in the Makefile. */
#define KF_INCLUDE_TEXT(symbol, file)                                                                        \
    __asm__(".pushsection .rodata\n"                                                                         \
            ".global " #symbol "\n.hidden " #symbol "\n" #symbol ":\n"                                       \
            ".incbin \"" file "\"\n"                                                                         \
            ".byte 0\n"                                                                                      \
            ".popsection\n");                                                                                \
    extern const char(symbol)[]

#endif
