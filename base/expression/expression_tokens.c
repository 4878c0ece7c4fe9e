/* Splits a text into tokens. */
#include "base/expression/expression_tokens.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"

static const struct {
    const char *text;
    kf_token_kind kind;
} symbols[] = {
    /* Longer symbols come first. TOKEN_END marks a refused symbol. */
    {"**", TOKEN_POWER},      {"//", TOKEN_FLOOR_DIVIDE},  {"==", TOKEN_EQUAL},     {"!=", TOKEN_NOT_EQUAL},
    {"<=", TOKEN_LESS_EQUAL}, {">=", TOKEN_GREATER_EQUAL}, {"<<", TOKEN_END},       {">>", TOKEN_END},
    {"<", TOKEN_LESS},        {">", TOKEN_GREATER},        {"+", TOKEN_PLUS},       {"-", TOKEN_MINUS},
    {"*", TOKEN_TIMES},       {"/", TOKEN_DIVIDE},         {"%", TOKEN_MODULO},     {"(", TOKEN_OPEN},
    {")", TOKEN_CLOSE},       {"[", TOKEN_OPEN_LIST},      {"]", TOKEN_CLOSE_LIST}, {",", TOKEN_COMMA},
};

static const struct {
    const char *text;
    kf_token_kind kind;
} words[] = {
    {"and", TOKEN_AND}, {"or", TOKEN_OR}, {"not", TOKEN_NOT},   {"in", TOKEN_IN},
    {"for", TOKEN_FOR}, {"if", TOKEN_IF}, {"True", TOKEN_TRUE}, {"False", TOKEN_FALSE},
};

/* Words of Python that this language does not have. They are refused, so they are never taken for parameters.
 */
static const char *const refused_words[] = {
    "None",   "as",       "assert", "async",  "await",   "break", "class",  "continue", "def",
    "del",    "elif",     "else",   "except", "finally", "from",  "global", "import",   "is",
    "lambda", "nonlocal", "pass",   "raise",  "return",  "try",   "while",  "with",     "yield",
};

static kf_status fail_at(kf_error *error, int column, const char *what) {
    return kf_fail(error, KF_BAD_INPUT, "column %d: %s", column, what);
}

bool kf_token_is(const kf_token *token, const char *text) {
    return strlen(text) == (size_t)token->length && memcmp(token->text, text, (size_t)token->length) == 0;
}

static kf_status read_word(kf_token *token, kf_error *error) {
    int length = 0;
    while (isalnum((unsigned char)token->text[length]) || token->text[length] == '_')
        length++;
    token->length = length;
    token->kind = TOKEN_NAME;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (kf_token_is(token, words[i].text)) token->kind = words[i].kind;
    for (size_t i = 0; i < sizeof refused_words / sizeof refused_words[0]; i++)
        if (kf_token_is(token, refused_words[i]))
            return kf_fail(error, KF_BAD_INPUT, "column %d: '%s' is not part of the expression language",
                           token->column, refused_words[i]);
    return KF_OK;
}

/* Reads a number: digits, and optionally a fraction and an exponent. Nothing may follow that looks like a
 * part of the number. */
static kf_status read_number(kf_token *token, kf_error *error) {
    const char *text = token->text;
    size_t digits = strspn(text, "0123456789"), length = digits;
    if (text[length] == '.') length += 1 + strspn(text + length + 1, "0123456789");
    if (text[length] == 'e' || text[length] == 'E') {
        size_t sign = text[length + 1] == '+' || text[length + 1] == '-' ? 1 : 0;
        size_t exponent = strspn(text + length + 1 + sign, "0123456789");
        if (exponent > 0) length += 1 + sign + exponent;
    }
    if (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == '.')
        return fail_at(error, token->column, "not a decimal number");
    token->kind = TOKEN_NUMBER;
    token->length = (int)length;
    if (length > digits) {
        token->value.kind = KF_SCALAR_FLOAT;
        token->value.number = strtod(text, NULL);
        return KF_OK;
    }
    if (digits > 1 && text[0] == '0' && strspn(text, "0") < digits)
        return fail_at(error, token->column, "an integer must not begin with 0");
    errno = 0;
    token->value.kind = KF_SCALAR_INTEGER;
    token->value.integer = strtoll(text, NULL, 10);
    if (errno == ERANGE) return fail_at(error, token->column, "integer beyond 64 bits");
    return KF_OK;
}

static kf_status read_string(kf_token *token, kf_error *error) {
    const char *end = strchr(token->text + 1, token->text[0]);
    if (end == NULL) return fail_at(error, token->column, "string without its closing quote");
    for (const char *c = token->text + 1; c < end; c++)
        if (*c == '\\' || (unsigned char)*c < ' ')
            return fail_at(error, token->column, "strings take no backslash and no control character");
    token->kind = TOKEN_STRING;
    token->length = (int)(end + 1 - token->text);
    return KF_OK;
}

/* Reads an operator or a bracket. Refuses operators of other languages and says what to write. */
static kf_status read_symbol(kf_token *token, kf_error *error) {
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        size_t length = strlen(symbols[i].text);
        if (strncmp(token->text, symbols[i].text, length) != 0) continue;
        if (symbols[i].kind == TOKEN_END)
            return kf_fail(error, KF_BAD_INPUT, "column %d: '%s' is not part of the expression language",
                           token->column, symbols[i].text);
        token->kind = symbols[i].kind;
        token->length = (int)length;
        return KF_OK;
    }
    switch (token->text[0]) {
    case '=':
        return fail_at(error, token->column, "'=' is not a comparison; write '=='");
    case '&':
        return fail_at(
            error, token->column,
            "'&' is not part of the expression language; write 'and' between conditions; there are no "
            "operators on bits");
    case '|':
        return fail_at(
            error, token->column,
            "'|' is not part of the expression language; write 'or' between conditions; there are no "
            "operators on bits");
    case '!':
        return fail_at(error, token->column, "'!' is not part of the expression language; write 'not'");
    default:
        break;
    }
    char shown = isprint((unsigned char)token->text[0]) ? token->text[0] : '?';
    return kf_fail(error, KF_BAD_INPUT, "column %d: '%c' is not part of the expression language",
                   token->column, shown);
}

static kf_status read_token(kf_token *token, kf_error *error) {
    unsigned char c = (unsigned char)token->text[0];
    if (c == '\0') {
        token->kind = TOKEN_END;
        return KF_OK;
    }
    if (isalpha(c) || c == '_') return read_word(token, error);
    if (isdigit(c) || (c == '.' && isdigit((unsigned char)token->text[1]))) return read_number(token, error);
    if (c == '\'' || c == '"') return read_string(token, error);
    return read_symbol(token, error);
}

/* Splits a text into tokens, each with its column in characters, the last being TOKEN_END. */
kf_status kf_expression_tokens(const char *text, kf_token **tokens, int *count, kf_error *error) {
    int column = 1, capacity = 0;
    *tokens = NULL;
    *count = 0;
    do {
        while (*text == ' ' || *text == '\t') {
            text++;
            column++;
        }
        if (*count == capacity) {
            capacity = capacity == 0 ? 32 : 2 * capacity;
            *tokens = kf_reallocate(*tokens, (size_t)capacity * sizeof **tokens);
        }
        kf_token *token = &(*tokens)[(*count)++];
        memset(token, 0, sizeof *token);
        token->text = text;
        token->column = column;
        KF_TRY(read_token(token, error));
        for (int i = 0; i < token->length; i++)
            /* Columns count characters, not bytes of UTF-8. */
            column += ((unsigned char)text[i] & 0xc0) != 0x80;
        text += token->length;
    } while ((*tokens)[*count - 1].kind != TOKEN_END);
    return KF_OK;
}
