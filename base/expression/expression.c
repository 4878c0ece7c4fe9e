/* Runs an expression's code on a machine with its own stack. No input leads to recursion. */
#include "base/expression/expression.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/expression/expression_code.h"
#include "base/util/memory.h"
#include "base/util/text.h"

/* The number of values kept without allocation, on the stack and in lists. Constraints need no more. */
enum { QUICK = 16 };

typedef struct kf_loop {
    kf_operand sequence, variable;
    unsigned long long position;
    /* The height of the stack below the values gathered so far. */
    size_t height;
    /* The use of the pool when the loop began. Everything that an element added after that is dropped. */
    size_t pool;
} kf_loop;

typedef struct kf_machine {
    const kf_expression *expression;
    kf_name_lookup lookup;
    void *context;
    kf_operand *stack, *pool;
    size_t height, stack_capacity, pool_used, pool_capacity;
    /* The initial stack and pool, of QUICK values each. */
    kf_operand *quick, *quick_pool;
    kf_loop loops[KF_EXPRESSION_LOOPS];
    int loop_count;
    kf_error *error;
} kf_machine;

static kf_status push(kf_machine *machine, kf_operand operand) {
    if (machine->height == machine->stack_capacity) {
        if (machine->height >= KF_EXPRESSION_VALUES)
            return kf_fail(machine->error, KF_BAD_INPUT, "a list of more than %d values",
                           KF_EXPRESSION_VALUES);
        size_t capacity = 2 * machine->stack_capacity;
        bool quick = machine->stack == machine->quick;
        machine->stack = kf_reallocate(quick ? NULL : machine->stack, capacity * sizeof *machine->stack);
        if (quick) memcpy(machine->stack, machine->quick, QUICK * sizeof *machine->stack);
        machine->stack_capacity = capacity;
    }
    machine->stack[machine->height++] = operand;
    return KF_OK;
}

static kf_operand pop(kf_machine *machine) {
    return machine->stack[--machine->height];
}

/* Makes room for count more values in the pool. */
static kf_status reserve(kf_machine *machine, unsigned long long count) {
    if (count > KF_EXPRESSION_VALUES || machine->pool_used + count > KF_EXPRESSION_VALUES)
        return kf_fail(machine->error, KF_BAD_INPUT, "a list of more than %d values", KF_EXPRESSION_VALUES);
    size_t needed = machine->pool_used + (size_t)count;
    if (needed > machine->pool_capacity) {
        bool quick = machine->pool == machine->quick_pool;
        machine->pool_capacity = 2 * needed;
        machine->pool =
            kf_reallocate(quick ? NULL : machine->pool, machine->pool_capacity * sizeof *machine->pool);
        if (quick) memcpy(machine->pool, machine->quick_pool, machine->pool_used * sizeof *machine->pool);
    }
    return KF_OK;
}

/* Makes one list of the top count values of the stack. */
static kf_status gather(kf_machine *machine, size_t count) {
    KF_TRY(reserve(machine, count));
    kf_operand list = {.kind = KF_OPERAND_LIST};
    list.as.list.offset = machine->pool_used;
    list.as.list.count = count;
    machine->height -= count;
    for (size_t i = 0; i < count; i++) {
        kf_operand value = machine->stack[machine->height + i];
        if (value.kind == KF_OPERAND_LIST || value.kind == KF_OPERAND_RANGE)
            return kf_fail(machine->error, KF_BAD_INPUT, "a list inside a list");
        machine->pool[machine->pool_used++] = value;
    }
    return push(machine, list);
}

/* Appends a copy of a list or range to the pool. list() and + of lists use it. */
static kf_status append(kf_machine *machine, kf_operand sequence, kf_operand *list) {
    unsigned long long count = kf_operand_length(sequence);
    KF_TRY(reserve(machine, count));
    for (unsigned long long i = 0; i < count; i++)
        machine->pool[machine->pool_used++] = kf_operand_at(machine->pool, sequence, i);
    list->as.list.count += (size_t)count;
    return KF_OK;
}

static kf_status add(kf_machine *machine, kf_operand left, kf_operand right, kf_operand *result) {
    if (left.kind != KF_OPERAND_LIST || right.kind != KF_OPERAND_LIST)
        return kf_operand_arithmetic(KF_DO_ADD, left, right, result, machine->error);
    result->kind = KF_OPERAND_LIST;
    result->as.list.offset = machine->pool_used;
    result->as.list.count = 0;
    KF_TRY(append(machine, left, result));
    return append(machine, right, result);
}

/* Calls a function with the arguments on top of the stack, and pushes its result. */
static kf_status call(kf_machine *machine, kf_function_name function, int count) {
    const kf_operand *arguments = machine->stack + machine->height - count;
    kf_operand result = {.kind = KF_OPERAND_LIST};
    if (function == KF_CALL_LIST) {
        if (count != 1)
            return kf_fail(machine->error, KF_BAD_INPUT, "list() takes 1 argument, not %d", count);
        if (arguments[0].kind != KF_OPERAND_LIST && arguments[0].kind != KF_OPERAND_RANGE)
            return kf_fail(machine->error, KF_BAD_INPUT, "list() needs a list or range, not %s",
                           kf_operand_kind_name(arguments[0]));
        result.as.list.offset = machine->pool_used;
        result.as.list.count = 0;
        KF_TRY(append(machine, arguments[0], &result));
    } else {
        KF_TRY(kf_operand_call(function, machine->pool, arguments, count, &result, machine->error));
    }
    machine->height -= (size_t)count;
    return push(machine, result);
}

static kf_operand operand_of(const kf_scalar *scalar) {
    kf_operand operand = {.kind = KF_OPERAND_STRING};
    switch (scalar->kind) {
    case KF_SCALAR_INTEGER:
        return kf_operand_integer(scalar->integer);
    case KF_SCALAR_FLOAT:
        return kf_operand_float(scalar->number);
    case KF_SCALAR_BOOLEAN:
        return kf_operand_boolean(scalar->integer != 0);
    case KF_SCALAR_STRING:
        break;
    }
    operand.as.text = scalar->text;
    return operand;
}

static kf_scalar scalar_of(kf_operand operand) {
    switch (operand.kind) {
    case KF_OPERAND_INTEGER:
        return (kf_scalar){.kind = KF_SCALAR_INTEGER, .integer = operand.as.integer};
    case KF_OPERAND_BOOLEAN:
        return (kf_scalar){.kind = KF_SCALAR_BOOLEAN, .integer = operand.as.integer};
    case KF_OPERAND_FLOAT:
        return (kf_scalar){.kind = KF_SCALAR_FLOAT, .number = operand.as.number};
    default:
        return (kf_scalar){.kind = KF_SCALAR_STRING, .text = operand.as.text};
    }
}

static kf_status push_name(kf_machine *machine, const char *name) {
    kf_scalar value = {0};
    if (machine->lookup == NULL || !machine->lookup(machine->context, name, &value))
        return kf_fail(machine->error, KF_BAD_INPUT, "unknown name '%s'", name);
    return push(machine, operand_of(&value));
}

static kf_status begin_loop(kf_machine *machine, int number) {
    kf_operand sequence = pop(machine);
    if (sequence.kind != KF_OPERAND_LIST && sequence.kind != KF_OPERAND_RANGE)
        return kf_fail(machine->error, KF_BAD_INPUT, "a comprehension runs over a list or range, not %s",
                       kf_operand_kind_name(sequence));
    machine->loops[number] =
        (kf_loop){.sequence = sequence, .height = machine->height, .pool = machine->pool_used};
    machine->loop_count = number + 1;
    return KF_OK;
}

static kf_status next_of_loop(kf_machine *machine, int jump, int *place) {
    kf_loop *loop = &machine->loops[machine->loop_count - 1];
    machine->pool_used = loop->pool;
    if (loop->position < kf_operand_length(loop->sequence)) {
        loop->variable = kf_operand_at(machine->pool, loop->sequence, loop->position++);
        return KF_OK;
    }
    machine->loop_count--;
    *place = jump;
    return gather(machine, machine->height - loop->height);
}

/* Does most operations of constraints without a call: left op right with two integers. Returns false for
 * other operands, or after overflow. */
static bool quick_integers(kf_operation operation, kf_operand *left, long long right) {
    long long integer = left->as.integer, value;
    switch (operation) {
    case KF_DO_ADD:
        if (__builtin_add_overflow(integer, right, &value)) return false;
        break;
    case KF_DO_SUBTRACT:
        if (__builtin_sub_overflow(integer, right, &value)) return false;
        break;
    case KF_DO_MULTIPLY:
        if (__builtin_mul_overflow(integer, right, &value)) return false;
        break;
    case KF_DO_EQUAL:
        *left = kf_operand_boolean(integer == right);
        return true;
    case KF_DO_NOT_EQUAL:
        *left = kf_operand_boolean(integer != right);
        return true;
    case KF_DO_LESS:
        *left = kf_operand_boolean(integer < right);
        return true;
    case KF_DO_LESS_EQUAL:
        *left = kf_operand_boolean(integer <= right);
        return true;
    case KF_DO_GREATER:
        *left = kf_operand_boolean(integer > right);
        return true;
    case KF_DO_GREATER_EQUAL:
        *left = kf_operand_boolean(integer >= right);
        return true;
    default:
        return false;
    }
    left->as.integer = value;
    return true;
}

/* Does an operation with two operands. Two integers are handled by the fast path. */
static kf_status two_operands(kf_machine *machine, const kf_instruction *instruction) {
    kf_operation operation = (kf_operation)instruction->operation;
    kf_operand *top = machine->stack + machine->height - 1;
    if (top->kind == KF_OPERAND_INTEGER && top[-1].kind == KF_OPERAND_INTEGER &&
        quick_integers(operation, top - 1, top->as.integer)) {
        machine->height--;
        return KF_OK;
    }
    kf_operand right = pop(machine), left = pop(machine), result;
    if (operation == KF_DO_ADD) {
        KF_TRY(add(machine, left, right, &result));
    } else if (operation <= KF_DO_POWER) {
        KF_TRY(kf_operand_arithmetic(operation, left, right, &result, machine->error));
    } else {
        bool truth = false;
        KF_TRY(kf_operand_compare(operation, machine->pool, left, right, &truth, machine->error));
        result = kf_operand_boolean(truth);
    }
    return push(machine, result);
}

/* Does one link of a chained comparison. A true result keeps the middle value and skips the jump that
 * follows. */
static kf_status chain(kf_machine *machine, kf_operation operation, int *place) {
    kf_operand right = pop(machine), left = pop(machine);
    bool truth = false;
    KF_TRY(kf_operand_compare(operation, machine->pool, left, right, &truth, machine->error));
    if (truth) ++*place;
    return push(machine, truth ? right : kf_operand_boolean(false));
}

/* Does one instruction. */
static kf_status step(kf_machine *machine, const kf_instruction *instruction, int *place) {
    const kf_expression *expression = machine->expression;
    int argument = instruction->argument;
    /* An operation with one operand works in place. */
    kf_operand *top = machine->stack + machine->height - 1;
    switch ((kf_operation)instruction->operation) {
    case KF_DO_CONSTANT:
        return push(machine, operand_of(&expression->constants[argument]));
    case KF_DO_NAME:
        return push_name(machine, expression->names[argument]);
    case KF_DO_LOCAL:
        return push(machine, machine->loops[argument].variable);
    case KF_DO_NEGATE:
    case KF_DO_PLUS:
        return kf_operand_sign((kf_operation)instruction->operation, *top, top, machine->error);
    case KF_DO_NOT:
        *top = kf_operand_boolean(!kf_operand_truth(*top));
        return KF_OK;
    case KF_DO_CHAIN:
        return chain(machine, (kf_operation)argument, place);
    case KF_DO_JUMP:
        *place = argument;
        return KF_OK;
    case KF_DO_JUMP_IF_FALSE:
        if (!kf_operand_truth(pop(machine))) *place = argument;
        return KF_OK;
    case KF_DO_AND:
    case KF_DO_OR:
        if (kf_operand_truth(*top) == (instruction->operation == KF_DO_OR))
            *place = argument;
        else
            machine->height--;
        return KF_OK;
    case KF_DO_LIST:
        return gather(machine, (size_t)argument);
    case KF_DO_FOR:
        return begin_loop(machine, argument);
    case KF_DO_NEXT:
        return next_of_loop(machine, argument, place);
    case KF_DO_CALL:
        return call(machine, (kf_function_name)(argument % 256), argument / 256);
    default:
        return two_operands(machine, instruction);
    }
}

/* Runs an expression to its end, within a number of steps that ends every endless loop. */
static kf_status run(kf_machine *machine, kf_operand *result) {
    const kf_expression *expression = machine->expression;
    int place = 0;
    for (long steps = 0; place < expression->code_count; steps++) {
        const kf_instruction *instruction = &expression->code[place++];
        kf_status status = KF_OK;
        if (steps == KF_EXPRESSION_STEPS)
            status = kf_fail(machine->error, KF_BAD_INPUT, "more than %d steps of work", KF_EXPRESSION_STEPS);
        if (status == KF_OK) status = step(machine, instruction, &place);
        if (status != KF_OK) {
            (void)kf_fail_context(machine->error, "column %d", instruction->column);
            return status;
        }
    }
    *result = pop(machine);
    return KF_OK;
}

/* Uses the result for a caller while the machine's lists still exist. */
typedef kf_status (*finisher)(const kf_machine *machine, kf_operand result, void *target);

static kf_status evaluate(const kf_expression *expression, kf_name_lookup lookup, void *context,
                          finisher finish, void *target, kf_error *error) {
    kf_operand quick[QUICK] = {0}, quick_pool[QUICK] = {0}, result = {0};
    kf_machine machine = {.expression = expression,
                          .lookup = lookup,
                          .context = context,
                          .stack = quick,
                          .pool = quick_pool,
                          .stack_capacity = QUICK,
                          .pool_capacity = QUICK,
                          .quick = quick,
                          .quick_pool = quick_pool,
                          .error = error};
    kf_status status = run(&machine, &result);
    if (status == KF_OK) status = finish(&machine, result, target);
    if (machine.stack != quick) free(machine.stack);
    if (machine.pool != quick_pool) free(machine.pool);
    return status;
}

static kf_status finish_scalar(const kf_machine *machine, kf_operand result, void *target) {
    if (result.kind == KF_OPERAND_LIST || result.kind == KF_OPERAND_RANGE)
        return kf_fail(machine->error, KF_BAD_INPUT, "column 1: a single value is needed, this is %s",
                       kf_operand_kind_name(result));
    *(kf_scalar *)target = scalar_of(result);
    return KF_OK;
}

kf_status kf_expression_scalar(const kf_expression *expression, kf_name_lookup lookup, void *context,
                               kf_scalar *value, kf_error *error) {
    return evaluate(expression, lookup, context, finish_scalar, value, error);
}

static kf_status finish_truth(const kf_machine *machine, kf_operand result, void *target) {
    (void)machine;
    *(bool *)target = kf_operand_truth(result);
    return KF_OK;
}

kf_status kf_expression_truth(const kf_expression *expression, kf_name_lookup lookup, void *context,
                              bool *truth, kf_error *error) {
    return evaluate(expression, lookup, context, finish_truth, truth, error);
}

typedef struct kf_list_target {
    size_t limit, count;
    kf_scalar *values;
} kf_list_target;

static kf_status finish_list(const kf_machine *machine, kf_operand result, void *target) {
    kf_list_target *list = target;
    if (result.kind != KF_OPERAND_LIST && result.kind != KF_OPERAND_RANGE)
        return kf_fail(machine->error, KF_BAD_INPUT, "column 1: a list is needed, this is %s",
                       kf_operand_kind_name(result));
    unsigned long long length = kf_operand_length(result);
    if (length > list->limit)
        return kf_fail(machine->error, KF_BAD_INPUT,
                       "column 1: the list has %llu values; at most %zu are accepted", length, list->limit);
    list->values = kf_allocate((length == 0 ? 1 : (size_t)length) * sizeof *list->values);
    for (unsigned long long i = 0; i < length; i++)
        list->values[i] = scalar_of(kf_operand_at(machine->pool, result, i));
    list->count = (size_t)length;
    return KF_OK;
}

kf_status kf_expression_list(const kf_expression *expression, kf_name_lookup lookup, void *context,
                             size_t limit, kf_scalar **values, size_t *count, kf_error *error) {
    kf_list_target list = {.limit = limit};
    kf_status status = evaluate(expression, lookup, context, finish_list, &list, error);
    *values = list.values;
    *count = list.count;
    return status;
}

void kf_expression_names(const kf_expression *expression, void (*visit)(void *context, const char *name),
                         void *context) {
    for (int i = 0; i < expression->name_count; i++)
        visit(context, expression->names[i]);
}

/* Appends the first names that there are, for who misses one. */
static void list_names(const char *const *names, int count, kf_text *text) {
    enum { MOST = 16 };
    for (int i = 0; i < count && i < MOST; i++)
        kf_text_append(text, "%s%s", i == 0 ? "; there are: " : ", ", names[i]);
    if (count > MOST) kf_text_append(text, " and %d more", count - MOST);
}

kf_status kf_expression_check_names(const kf_expression *expression, const char *const *names, int count,
                                    kf_error *error) {
    for (int i = 0; i < expression->name_count; i++) {
        int known = 0;
        while (known < count && strcmp(names[known], expression->names[i]) != 0)
            known++;
        if (known < count) continue;
        const char *nearest = kf_nearest(expression->names[i], names, count);
        kf_text hint = {0};
        if (nearest != NULL)
            kf_text_append(&hint, " (did you mean '%s'?)", nearest);
        else
            list_names(names, count, &hint);
        const kf_status status =
            kf_fail(error, KF_BAD_INPUT, "column %d: unknown name '%.60s'%.400s", expression->name_columns[i],
                    expression->names[i], hint.text != NULL ? hint.text : "");
        kf_text_free(&hint);
        return status;
    }
    return KF_OK;
}

void kf_expression_free(kf_expression *expression) {
    if (expression == NULL) return;
    for (int i = 0; i < expression->constant_count; i++)
        if (expression->constants[i].kind == KF_SCALAR_STRING)
            free((void *)(uintptr_t)expression->constants[i].text);
    for (int i = 0; i < expression->name_count; i++)
        free(expression->names[i]);
    free(expression->names);
    free(expression->name_columns);
    free(expression->constants);
    free(expression->code);
    free(expression);
}
