/* Tokens to code: one pass of recursive descent that emits instructions. */
#include <stdlib.h>
#include <string.h>

#include "base/expression/expression_code.h"
#include "base/expression/expression_tokens.h"
#include "base/util/memory.h"

typedef struct kf_parser {
    kf_expression *expression;
    kf_token *tokens;
    int count, position;
    int nesting;
    /* The variables of the comprehensions around the current position. */
    kf_token loops[KF_EXPRESSION_LOOPS];
    int loop_count;
    kf_error *error;
} kf_parser;

const char *const kf_function_names[KF_CALLS] = {"list", "range", "min",  "max",
                                                 "abs",  "floor", "ceil", "log2"};

static kf_status fail_at(kf_parser *parser, int column, const char *what) {
    return kf_fail(parser->error, KF_BAD_INPUT, "column %d: %s", column, what);
}

/* --- Code ----------------------------------------------------------------------------------------------- */

static int emit(kf_parser *parser, kf_operation operation, int argument, int column) {
    kf_expression *expression = parser->expression;
    if (expression->code_count == expression->code_capacity) {
        expression->code_capacity = expression->code_capacity == 0 ? 16 : 2 * expression->code_capacity;
        expression->code =
            kf_reallocate(expression->code, (size_t)expression->code_capacity * sizeof *expression->code);
    }
    expression->code[expression->code_count] = (kf_instruction){(int)operation, argument, column};
    return expression->code_count++;
}

static void land_here(kf_parser *parser, int jump) {
    parser->expression->code[jump].argument = parser->expression->code_count;
}

static void emit_constant(kf_parser *parser, kf_scalar value, int column) {
    kf_expression *expression = parser->expression;
    if (expression->constant_count == expression->constant_capacity) {
        expression->constant_capacity =
            expression->constant_capacity == 0 ? 8 : 2 * expression->constant_capacity;
        expression->constants = kf_reallocate(expression->constants, (size_t)expression->constant_capacity *
                                                                         sizeof *expression->constants);
    }
    expression->constants[expression->constant_count] = value;
    emit(parser, KF_DO_CONSTANT, expression->constant_count++, column);
}

static char *copy_of(const char *text, int length) {
    char *copy = kf_allocate((size_t)length + 1);
    memcpy(copy, text, (size_t)length);
    copy[length] = '\0';
    return copy;
}

/* Emits a name: the variable of a loop around it, or one that is looked up when the expression runs. */
static void emit_name(kf_parser *parser, const kf_token *name) {
    kf_expression *expression = parser->expression;
    for (int i = parser->loop_count - 1; i >= 0; i--) {
        const kf_token *loop = &parser->loops[i];
        if (loop->length != name->length || memcmp(loop->text, name->text, (size_t)name->length) != 0)
            continue;
        emit(parser, KF_DO_LOCAL, i, name->column);
        return;
    }
    int index = 0;
    while (index < expression->name_count && !kf_token_is(name, expression->names[index]))
        index++;
    if (index == expression->name_count) {
        if (index == expression->name_capacity) {
            int capacity = index == 0 ? 4 : 2 * index;
            expression->names =
                kf_reallocate(expression->names, (size_t)capacity * sizeof *expression->names);
            expression->name_columns =
                kf_reallocate(expression->name_columns, (size_t)capacity * sizeof *expression->name_columns);
            expression->name_capacity = capacity;
        }
        expression->names[index] = copy_of(name->text, name->length);
        expression->name_columns[index] = name->column;
        expression->name_count++;
    }
    emit(parser, KF_DO_NAME, index, name->column);
}

/* --- Grammar -------------------------------------------------------------------------------------------- */

static const kf_token *current(const kf_parser *parser) {
    return &parser->tokens[parser->position];
}

static bool accept(kf_parser *parser, kf_token_kind kind) {
    if (current(parser)->kind != kind) return false;
    parser->position++;
    return true;
}

static kf_status fail_here(kf_parser *parser, const char *expected) {
    const kf_token *token = current(parser);
    if (token->kind == TOKEN_END)
        return kf_fail(parser->error, KF_BAD_INPUT, "column %d: the expression ends where %s is expected",
                       token->column, expected);
    return kf_fail(parser->error, KF_BAD_INPUT, "column %d: found '%.*s' where %s is expected", token->column,
                   token->length < 40 ? token->length : 40, token->text, expected);
}

static kf_status expect(kf_parser *parser, kf_token_kind kind, const char *expected) {
    return accept(parser, kind) ? KF_OK : fail_here(parser, expected);
}

static kf_status enter(kf_parser *parser) {
    if (++parser->nesting <= KF_EXPRESSION_NESTING) return KF_OK;
    return fail_at(parser, current(parser)->column, "nested too deeply");
}

static kf_status parse_or(kf_parser *parser);
static kf_status parse_unary(kf_parser *parser);

/* Finds the 'for' of the list whose content begins here. Returns -1 without one. */
static int find_for(const kf_parser *parser) {
    int depth = 0;
    for (int i = parser->position; i < parser->count; i++) {
        kf_token_kind kind = parser->tokens[i].kind;
        if (kind == TOKEN_OPEN || kind == TOKEN_OPEN_LIST) depth++;
        if (kind == TOKEN_CLOSE || kind == TOKEN_CLOSE_LIST) depth--;
        if (depth < 0) return -1;
        if (depth == 0 && kind == TOKEN_FOR) return i;
    }
    return -1;
}

/* Parses [element for variable in iterable if condition]. The code of the element comes last, so the parser
 * goes back to it. */
static kf_status parse_comprehension(kf_parser *parser, int opening, int for_position) {
    int element = parser->position;
    parser->position = for_position + 1;
    kf_token variable = *current(parser);
    KF_TRY(expect(parser, TOKEN_NAME, "the comprehension's variable"));
    KF_TRY(expect(parser, TOKEN_IN, "'in'"));
    KF_TRY(parse_or(parser));
    if (parser->loop_count == KF_EXPRESSION_LOOPS)
        return fail_at(parser, variable.column, "too many comprehensions inside each other");
    emit(parser, KF_DO_FOR, parser->loop_count, opening);
    int next = emit(parser, KF_DO_NEXT, 0, opening);
    parser->loops[parser->loop_count++] = variable;
    while (current(parser)->kind == TOKEN_IF) {
        int column = current(parser)->column;
        parser->position++;
        KF_TRY(parse_or(parser));
        emit(parser, KF_DO_JUMP_IF_FALSE, next, column);
    }
    if (current(parser)->kind == TOKEN_FOR)
        return fail_at(parser, current(parser)->column, "a comprehension takes one 'for'");
    int closing = parser->position;
    parser->position = element;
    KF_TRY(parse_or(parser));
    if (parser->position != for_position) return fail_here(parser, "'for'");
    emit(parser, KF_DO_JUMP, next, opening);
    land_here(parser, next);
    parser->loop_count--;
    parser->position = closing;
    return KF_OK;
}

/* Parses a list or a comprehension in brackets. */
static kf_status parse_list(kf_parser *parser) {
    int opening = current(parser)->column;
    parser->position++;
    KF_TRY(enter(parser));
    int for_position = find_for(parser);
    if (for_position >= 0) {
        KF_TRY(parse_comprehension(parser, opening, for_position));
    } else {
        int count = 0;
        while (current(parser)->kind != TOKEN_CLOSE_LIST) {
            KF_TRY(parse_or(parser));
            count++;
            if (!accept(parser, TOKEN_COMMA)) break;
        }
        emit(parser, KF_DO_LIST, count, opening);
    }
    KF_TRY(expect(parser, TOKEN_CLOSE_LIST, "']' or ','"));
    parser->nesting--;
    return KF_OK;
}

/* Parses a call of one of the functions that the language has. */
static kf_status parse_call(kf_parser *parser, const kf_token *name) {
    int function = 0;
    while (function < KF_CALLS && !kf_token_is(name, kf_function_names[function]))
        function++;
    if (function == KF_CALLS)
        return kf_fail(
            parser->error, KF_BAD_INPUT,
            "column %d: unknown function '%.*s'; there are list, range, min, max, abs, floor, ceil, log2",
            name->column, name->length < 40 ? name->length : 40, name->text);
    parser->position++; /* the bracket */
    KF_TRY(enter(parser));
    int count = 0;
    while (current(parser)->kind != TOKEN_CLOSE) {
        KF_TRY(parse_or(parser));
        if (++count > KF_EXPRESSION_ARGUMENTS) return fail_at(parser, name->column, "too many arguments");
        if (!accept(parser, TOKEN_COMMA)) break;
    }
    KF_TRY(expect(parser, TOKEN_CLOSE, "')' or ','"));
    parser->nesting--;
    emit(parser, KF_DO_CALL, function + 256 * count, name->column);
    return KF_OK;
}

static kf_status parse_group(kf_parser *parser) {
    parser->position++;
    KF_TRY(enter(parser));
    KF_TRY(parse_or(parser));
    if (current(parser)->kind == TOKEN_COMMA)
        return fail_at(parser, current(parser)->column,
                       "tuples are not part of the language; write a list in []");
    KF_TRY(expect(parser, TOKEN_CLOSE, "')'"));
    parser->nesting--;
    return KF_OK;
}

/* Parses a number, a truth, a text, a name, a call, or something in brackets. */
static kf_status parse_atom(kf_parser *parser) {
    const kf_token *token = current(parser);
    switch (token->kind) {
    case TOKEN_NUMBER:
        emit_constant(parser, token->value, token->column);
        break;
    case TOKEN_TRUE:
    case TOKEN_FALSE:
        emit_constant(parser, (kf_scalar){.kind = KF_SCALAR_BOOLEAN, .integer = token->kind == TOKEN_TRUE},
                      token->column);
        break;
    case TOKEN_STRING:
        emit_constant(
            parser,
            (kf_scalar){.kind = KF_SCALAR_STRING, .text = copy_of(token->text + 1, token->length - 2)},
            token->column);
        break;
    case TOKEN_NAME:
        parser->position++;
        if (current(parser)->kind == TOKEN_OPEN) return parse_call(parser, token);
        if (current(parser)->kind == TOKEN_OPEN_LIST)
            return fail_at(parser, current(parser)->column,
                           "subscripts are not part of the expression language");
        emit_name(parser, token);
        return KF_OK;
    case TOKEN_OPEN:
        return parse_group(parser);
    case TOKEN_OPEN_LIST:
        return parse_list(parser);
    default:
        return fail_here(parser, "a value");
    }
    parser->position++;
    return KF_OK;
}

/* Parses a power: as in Python, ** binds tighter than a sign before it and looser than one behind it. */
static kf_status parse_power(kf_parser *parser) {
    KF_TRY(parse_atom(parser));
    if (current(parser)->kind != TOKEN_POWER) return KF_OK;
    int column = current(parser)->column;
    parser->position++;
    KF_TRY(enter(parser));
    KF_TRY(parse_unary(parser));
    parser->nesting--;
    emit(parser, KF_DO_POWER, 0, column);
    return KF_OK;
}

static kf_status parse_unary(kf_parser *parser) {
    const kf_token *sign = current(parser);
    if (sign->kind != TOKEN_MINUS && sign->kind != TOKEN_PLUS) return parse_power(parser);
    parser->position++;
    KF_TRY(enter(parser));
    KF_TRY(parse_unary(parser));
    parser->nesting--;
    emit(parser, sign->kind == TOKEN_MINUS ? KF_DO_NEGATE : KF_DO_PLUS, 0, sign->column);
    return KF_OK;
}

/* Parses factors and what multiplies or divides them, from left to right. */
static kf_status parse_product(kf_parser *parser) {
    KF_TRY(parse_unary(parser));
    for (;;) {
        kf_operation operation;
        switch (current(parser)->kind) {
        case TOKEN_TIMES:
            operation = KF_DO_MULTIPLY;
            break;
        case TOKEN_DIVIDE:
            operation = KF_DO_DIVIDE;
            break;
        case TOKEN_FLOOR_DIVIDE:
            operation = KF_DO_FLOOR_DIVIDE;
            break;
        case TOKEN_MODULO:
            operation = KF_DO_MODULO;
            break;
        default:
            return KF_OK;
        }
        int column = current(parser)->column;
        parser->position++;
        KF_TRY(parse_unary(parser));
        emit(parser, operation, 0, column);
    }
}

static kf_status parse_sum(kf_parser *parser) {
    KF_TRY(parse_product(parser));
    while (current(parser)->kind == TOKEN_PLUS || current(parser)->kind == TOKEN_MINUS) {
        const kf_token *sign = current(parser);
        parser->position++;
        KF_TRY(parse_product(parser));
        emit(parser, sign->kind == TOKEN_PLUS ? KF_DO_ADD : KF_DO_SUBTRACT, 0, sign->column);
    }
    return KF_OK;
}

/* Accepts a comparison if one follows, `not in` included. */
static bool accept_comparison(kf_parser *parser, kf_operation *operation) {
    static const struct {
        kf_token_kind kind;
        kf_operation operation;
    } comparisons[] = {{TOKEN_EQUAL, KF_DO_EQUAL},
                       {TOKEN_NOT_EQUAL, KF_DO_NOT_EQUAL},
                       {TOKEN_LESS, KF_DO_LESS},
                       {TOKEN_LESS_EQUAL, KF_DO_LESS_EQUAL},
                       {TOKEN_GREATER, KF_DO_GREATER},
                       {TOKEN_GREATER_EQUAL, KF_DO_GREATER_EQUAL},
                       {TOKEN_IN, KF_DO_IN}};
    for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
        if (!accept(parser, comparisons[i].kind)) continue;
        *operation = comparisons[i].operation;
        return true;
    }
    if (current(parser)->kind == TOKEN_NOT && parser->tokens[parser->position + 1].kind == TOKEN_IN) {
        parser->position += 2;
        *operation = KF_DO_NOT_IN;
        return true;
    }
    return false;
}

/* Parses a chain of comparisons: a < b < c evaluates b once and stops at the first comparison that is false.
 * All links of the chain jump to one position. Until it is known, the argument of each jump holds the
 * previous jump. */
static kf_status parse_comparison(kf_parser *parser) {
    KF_TRY(parse_sum(parser));
    kf_operation operation, following;
    int column = current(parser)->column, last_jump = -1;
    if (!accept_comparison(parser, &operation)) return KF_OK;
    for (;;) {
        KF_TRY(parse_sum(parser));
        int next_column = current(parser)->column;
        if (!accept_comparison(parser, &following)) break;
        emit(parser, KF_DO_CHAIN, (int)operation, column);
        last_jump = emit(parser, KF_DO_JUMP, last_jump, column);
        operation = following;
        column = next_column;
    }
    emit(parser, operation, 0, column);
    while (last_jump >= 0) {
        int earlier = parser->expression->code[last_jump].argument;
        land_here(parser, last_jump);
        last_jump = earlier;
    }
    return KF_OK;
}

static kf_status parse_not(kf_parser *parser) {
    const kf_token *word = current(parser);
    if (word->kind != TOKEN_NOT) return parse_comparison(parser);
    parser->position++;
    KF_TRY(enter(parser));
    KF_TRY(parse_not(parser));
    parser->nesting--;
    emit(parser, KF_DO_NOT, 0, word->column);
    return KF_OK;
}

static kf_status parse_and(kf_parser *parser) {
    KF_TRY(parse_not(parser));
    while (current(parser)->kind == TOKEN_AND) {
        int jump = emit(parser, KF_DO_AND, 0, current(parser)->column);
        parser->position++;
        KF_TRY(parse_not(parser));
        land_here(parser, jump);
    }
    return KF_OK;
}

static kf_status parse_or(kf_parser *parser) {
    KF_TRY(parse_and(parser));
    while (current(parser)->kind == TOKEN_OR) {
        int jump = emit(parser, KF_DO_OR, 0, current(parser)->column);
        parser->position++;
        KF_TRY(parse_and(parser));
        land_here(parser, jump);
    }
    return KF_OK;
}

/* Parses a text into an expression, or gives the column of the error. kf_expression_free frees it. */
kf_status kf_expression_parse(const char *text, kf_expression **expression, kf_error *error) {
    *expression = NULL;
    if (strlen(text) >= KF_EXPRESSION_TEXT)
        return kf_fail(error, KF_BAD_INPUT, "column %d: expression longer than %d bytes", KF_EXPRESSION_TEXT,
                       KF_EXPRESSION_TEXT - 1);
    kf_parser parser = {.expression = kf_allocate_zeroed(1, sizeof(kf_expression)), .error = error};
    kf_status status = kf_expression_tokens(text, &parser.tokens, &parser.count, error);
    if (status == KF_OK) status = parse_or(&parser);
    if (status == KF_OK && current(&parser)->kind == TOKEN_IF)
        status =
            fail_at(&parser, current(&parser)->column, "'if' is only for comprehensions; use 'and', 'or'");
    if (status == KF_OK) status = expect(&parser, TOKEN_END, "an operator or the end");
    free(parser.tokens);
    if (status == KF_OK)
        *expression = parser.expression;
    else
        kf_expression_free(parser.expression);
    return status;
}
