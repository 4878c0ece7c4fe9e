#include "solver/t1/t1_tokens.h"

#include <ctype.h>
#include <string.h>

typedef kf_t1_token token;

bool kf_t1_is_letter(char c) {
    return isalnum((unsigned char)c) != 0 || c == '_';
}

size_t kf_t1_word_length(const char *text) {
    size_t length = 0;
    while (kf_t1_is_letter(text[length]))
        length++;
    return length;
}

token kf_t1_token_at(const char *at, const char *end) {
    while (at < end && isspace((unsigned char)*at))
        at++;
    size_t length = at < end ? 1 : 0;
    while (length > 0 && kf_t1_is_letter(*at) && at + length < end && kf_t1_is_letter(at[length]))
        length++;
    return (token){at, length};
}

bool kf_t1_is(token word, const char *text) {
    return strlen(text) == word.length && strncmp(word.at, text, word.length) == 0;
}

bool kf_t1_is_one_of(token word, const char *const *list) {
    for (; *list != NULL; list++)
        if (kf_t1_is(word, *list)) return true;
    return false;
}

bool kf_t1_same(token a, token b) {
    return a.length == b.length && strncmp(a.at, b.at, a.length) == 0;
}

const char *kf_t1_find_word(const char *at, token word) {
    const char *const end = at + strlen(at);
    for (token next = kf_t1_token_at(at, end); next.length > 0;
         next = kf_t1_token_at(next.at + next.length, end))
        if (kf_t1_same(next, word)) return next.at;
    return NULL;
}

token kf_t1_word(const char *text) {
    return (token){text, strlen(text)};
}

/* Returns the end of a comment or a quoted text that begins at `at`, or `at` when none begins there. */
static const char *skip_aside(const char *at) {
    if (at[0] == '/' && at[1] == '/') {
        while (*at != '\0' && *at != '\n')
            at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
    } else if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        at = end != NULL ? end + 2 : at + strlen(at);
    } else if (*at == '"' || *at == '\'') {
        const char quote = *at++;
        while (*at != '\0' && *at != quote && *at != '\n')
            at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
        if (*at == quote) at++;
    }
    return at;
}

/* Goes through the text once; a line that ends with a backslash goes on in the next. */
void kf_t1_split(const char *text, char *code, char *directives) {
    bool begins = true, directive = false; /* a line, and what it is */
    for (const char *at = text; *at != '\0';) {
        const char *behind = skip_aside(at);
        if (behind > at) {
            *(directive ? directives++ : code++) = *at == '/' ? ' ' : '"';
            begins = begins && *at == '/';
            at = behind;
        } else if (at[0] == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n'))) {
            at += at[1] == '\r' ? 3 : 2;
        } else {
            if (begins && *at == '#') {
                directive = true;
                *code++ = '#';
            }
            *(directive ? directives++ : code++) = *at;
            directive = directive && *at != '\n';
            begins = *at == '\n' || (begins && isspace((unsigned char)*at));
            at++;
        }
    }
    *code = *directives = '\0';
}
