/* The internals of an expression, shared by its parser, interpreter and arithmetic: code for a small stack
 * machine. */
#ifndef KF_BASE_EXPRESSION_EXPRESSION_CODE_H
#define KF_BASE_EXPRESSION_EXPRESSION_CODE_H

#include <stdint.h>

#include "base/expression/expression.h"

enum {
    KF_EXPRESSION_TEXT = 65536, /* bytes of source */
    KF_EXPRESSION_NESTING = 50, /* of brackets, signs, nots and powers; it bounds the parser's recursion */
    KF_EXPRESSION_LOOPS = 8,    /* comprehensions within each other */
    KF_EXPRESSION_VALUES = 1 << 20, /* of all lists that exist at the same time */
    KF_EXPRESSION_STEPS = 1 << 23,  /* most instructions of an evaluation */
    KF_EXPRESSION_ARGUMENTS = 255,
};

typedef enum kf_operation {
    KF_DO_CONSTANT, /* argument: index of the constant */
    KF_DO_NAME,     /* argument: index of the name */
    KF_DO_LOCAL,    /* argument: index of the comprehension whose variable it is */
    KF_DO_ADD,
    KF_DO_SUBTRACT,
    KF_DO_MULTIPLY,
    KF_DO_DIVIDE,
    KF_DO_FLOOR_DIVIDE,
    KF_DO_MODULO,
    KF_DO_POWER,
    KF_DO_NEGATE,
    KF_DO_PLUS,
    KF_DO_NOT,
    KF_DO_EQUAL,
    KF_DO_NOT_EQUAL,
    KF_DO_LESS,
    KF_DO_LESS_EQUAL,
    KF_DO_GREATER,
    KF_DO_GREATER_EQUAL,
    KF_DO_IN,
    KF_DO_NOT_IN,
    KF_DO_CHAIN,         /* argument: comparison; a false one leaves False and takes the jump that follows */
    KF_DO_JUMP,          /* argument: target, as for all jumps */
    KF_DO_JUMP_IF_FALSE, /* pops */
    KF_DO_AND,           /* jumps when the top is false, else pops it */
    KF_DO_OR,            /* jumps when the top is true, else pops it */
    KF_DO_LIST,          /* argument: number of values to take from the stack */
    KF_DO_FOR,  /* pops the list or range to loop over, and begins the loop whose number is the argument */
    KF_DO_NEXT, /* sets the loop variable of the innermost loop, or builds its list and jumps */
    KF_DO_CALL, /* argument: function + 256 * argument count */
} kf_operation;

typedef enum kf_function_name {
    KF_CALL_LIST,
    KF_CALL_RANGE,
    KF_CALL_MIN,
    KF_CALL_MAX,
    KF_CALL_ABS,
    KF_CALL_FLOOR,
    KF_CALL_CEIL,
    KF_CALL_LOG2,
    KF_CALLS
} kf_function_name;
extern const char *const kf_function_names[KF_CALLS];

typedef struct kf_instruction {
    int operation, argument;
    int column; /* for messages, from 1 */
} kf_instruction;

struct kf_expression {
    kf_instruction *code;
    int code_count, code_capacity;
    kf_scalar *constants;
    int constant_count, constant_capacity;
    char **names; /* free names, each once */
    int *name_columns;
    int name_count, name_capacity;
};

typedef enum kf_operand_kind {
    KF_OPERAND_INTEGER,
    KF_OPERAND_FLOAT,
    KF_OPERAND_STRING,
    KF_OPERAND_BOOLEAN,
    KF_OPERAND_LIST,
    KF_OPERAND_RANGE,
} kf_operand_kind;

/* A value on the machine's stack. A list is a stretch of the machine's pool. */
typedef struct kf_operand {
    kf_operand_kind kind;
    union {
        long long integer; /* and boolean */
        double number;
        const char *text;
        struct {
            size_t offset, count;
        } list;
        struct {
            long long start, step;
            unsigned long long count;
        } range;
    } as;
} kf_operand;

/* Arithmetic with Python's meaning. pool holds the lists. Messages have no column; the interpreter adds
 * it. */
kf_status kf_operand_arithmetic(kf_operation operation, kf_operand left, kf_operand right, kf_operand *result,
                                kf_error *error);
kf_status kf_operand_sign(kf_operation operation, kf_operand operand, kf_operand *result, kf_error *error);
kf_status kf_operand_compare(kf_operation operation, const kf_operand *pool, kf_operand left,
                             kf_operand right, bool *truth, kf_error *error);
kf_status kf_operand_call(kf_function_name function, const kf_operand *pool, const kf_operand *arguments,
                          int count, kf_operand *result, kf_error *error);
bool kf_operand_truth(kf_operand operand);
const char *kf_operand_kind_name(kf_operand operand);

static inline kf_operand kf_operand_integer(long long value) {
    kf_operand operand = {.kind = KF_OPERAND_INTEGER};
    operand.as.integer = value;
    return operand;
}
static inline kf_operand kf_operand_boolean(bool value) {
    kf_operand operand = {.kind = KF_OPERAND_BOOLEAN};
    operand.as.integer = value;
    return operand;
}
static inline kf_operand kf_operand_float(double value) {
    kf_operand operand = {.kind = KF_OPERAND_FLOAT};
    operand.as.number = value;
    return operand;
}
/* Returns the value at a position of a list or range. */
static inline kf_operand kf_operand_at(const kf_operand *pool, kf_operand list, unsigned long long position) {
    if (list.kind == KF_OPERAND_LIST) return pool[list.as.list.offset + position];
    /* The sum is modulo 2^64; the true value fits, or the range would be shorter. */
    return kf_operand_integer((long long)((unsigned long long)list.as.range.start +
                                          position * (unsigned long long)list.as.range.step));
}
static inline unsigned long long kf_operand_length(kf_operand list) {
    return list.kind == KF_OPERAND_LIST ? list.as.list.count : list.as.range.count;
}

#endif
