/* The words of a kernel's source: letters and digits in a row, or one character that belongs to none. A token
 * points into the text, which must stay. */
#ifndef KF_SOLVER_T1_T1_TOKENS_H
#define KF_SOLVER_T1_T1_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

/* A piece of a text: a word, or a character that belongs to none. Length 0: there is none. */
typedef struct kf_t1_token {
    const char *at;
    size_t length;
} kf_t1_token;

bool kf_t1_is_letter(char c);
/* Returns the next token from `at` on, blanks left out; of length 0 at the end. */
kf_t1_token kf_t1_token_at(const char *at, const char *end);
/* Returns a text as a token. */
kf_t1_token kf_t1_word(const char *text);
bool kf_t1_is(kf_t1_token word, const char *text);
/* Returns whether the word is one of the list, which ends with NULL. */
bool kf_t1_is_one_of(kf_t1_token word, const char *const *list);
bool kf_t1_same(kf_t1_token a, kf_t1_token b);
/* Returns the first place of a word from `at` on; NULL: it is nowhere. */
const char *kf_t1_find_word(const char *at, kf_t1_token word);

/* Splits a file's text into code and directives, without comments and what stands in quotes; '#' stands in
 * the code for a directive. Neither is longer than the text, and each has one byte more for its end. */
void kf_t1_split(const char *text, char *code, char *directives);

#endif
