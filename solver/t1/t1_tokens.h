/* Splits a kernel's source into tokens: a run of letters and digits, or a single other character. A token
 * points into the text, which must stay. */
#ifndef KF_SOLVER_T1_T1_TOKENS_H
#define KF_SOLVER_T1_T1_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

/* A token: a word, or a character that is not part of one. Length 0: there is none. */
typedef struct kf_t1_token {
    const char *at;
    size_t length;
} kf_t1_token;

/* Returns whether a character can be part of a word: a letter, a digit or '_'. */
bool kf_t1_is_letter(char c);
/* Returns how many characters of a word `text` begins with; 0: it begins with another character. */
size_t kf_t1_word_length(const char *text);
/* Returns the next token from `at` on, without blanks; of length 0 at the end. */
kf_t1_token kf_t1_token_at(const char *at, const char *end);
/* Returns a text as a token. */
kf_t1_token kf_t1_word(const char *text);
bool kf_t1_is(kf_t1_token word, const char *text);
/* Returns whether the word is in the list, which ends with NULL. */
bool kf_t1_is_one_of(kf_t1_token word, const char *const *list);
bool kf_t1_same(kf_t1_token a, kf_t1_token b);
/* Returns the first occurrence of a word from `at` on; NULL: there is none. */
const char *kf_t1_find_word(const char *at, kf_t1_token word);

/* Splits a file's text into code and preprocessor directives, without comments and the content of quotes. In
 * the code '#' stands for a directive. Each result is at most as long as the text, plus its terminating
 * byte. */
void kf_t1_split(const char *text, char *code, char *directives);

#endif
