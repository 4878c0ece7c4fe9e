/* Tokens of an expression. */
#ifndef KF_BASE_EXPRESSION_EXPRESSION_TOKENS_H
#define KF_BASE_EXPRESSION_EXPRESSION_TOKENS_H

#include "base/expression/expression.h"

typedef enum kf_token_kind {
    TOKEN_END,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_NAME,
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_NOT,
    TOKEN_IN,
    TOKEN_FOR,
    TOKEN_IF,
    TOKEN_TRUE,
    TOKEN_FALSE,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_OPEN_LIST,
    TOKEN_CLOSE_LIST,
    TOKEN_COMMA,
    TOKEN_POWER,
    TOKEN_FLOOR_DIVIDE,
    TOKEN_PLUS,
    TOKEN_MINUS,
    TOKEN_TIMES,
    TOKEN_DIVIDE,
    TOKEN_MODULO,
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER_EQUAL,
    TOKEN_LESS,
    TOKEN_GREATER,
} kf_token_kind;

typedef struct kf_token {
    kf_token_kind kind;
    const char *text;
    int length, column;
    kf_scalar value; /* of a number */
} kf_token;

/* Splits text into *count tokens, the last one TOKEN_END. The caller frees *tokens, also after an error. */
kf_status kf_expression_tokens(const char *text, kf_token **tokens, int *count, kf_error *error);
bool kf_token_is(const kf_token *token, const char *text);

#endif
