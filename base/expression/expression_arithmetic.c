/* Arithmetic, comparisons and functions on operands, with the meaning of Python. Python's integers are
 * unlimited; here a result beyond 64 bits is an error. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/expression/expression_code.h"

static const char *const operation_symbols[] = {
    [KF_DO_ADD] = "+",
    [KF_DO_SUBTRACT] = "-",
    [KF_DO_MULTIPLY] = "*",
    [KF_DO_DIVIDE] = "/",
    [KF_DO_FLOOR_DIVIDE] = "//",
    [KF_DO_MODULO] = "%",
    [KF_DO_POWER] = "**",
    [KF_DO_NEGATE] = "-",
    [KF_DO_PLUS] = "+",
    [KF_DO_LESS] = "<",
    [KF_DO_LESS_EQUAL] = "<=",
    [KF_DO_GREATER] = ">",
    [KF_DO_GREATER_EQUAL] = ">=",
};

const char *kf_operand_kind_name(kf_operand operand) {
    static const char *const names[] = {"an integer", "a float", "a string",
                                        "a boolean",  "a list",  "a range"};
    return names[operand.kind];
}

static bool is_whole(kf_operand operand) {
    return operand.kind == KF_OPERAND_INTEGER || operand.kind == KF_OPERAND_BOOLEAN;
}
static bool is_number(kf_operand operand) {
    return is_whole(operand) || operand.kind == KF_OPERAND_FLOAT;
}
static bool is_sequence(kf_operand operand) {
    return operand.kind == KF_OPERAND_LIST || operand.kind == KF_OPERAND_RANGE;
}
static double as_double(kf_operand operand) {
    return operand.kind == KF_OPERAND_FLOAT ? operand.as.number : (double)operand.as.integer;
}

static kf_status overflow(kf_error *error) {
    return kf_fail(error, KF_BAD_INPUT, "integer overflow beyond 64 bits");
}
static kf_status zero_division(kf_error *error) {
    return kf_fail(error, KF_BAD_INPUT, "division by zero");
}

static kf_status wrong_kinds(kf_operation operation, kf_operand left, kf_operand right, kf_error *error) {
    return kf_fail(error, KF_BAD_INPUT, "'%s' does not take %s and %s", operation_symbols[operation],
                   kf_operand_kind_name(left), kf_operand_kind_name(right));
}

bool kf_operand_truth(kf_operand operand) {
    switch (operand.kind) {
    case KF_OPERAND_FLOAT:
        return operand.as.number < 0 || operand.as.number > 0 || isnan(operand.as.number);
    case KF_OPERAND_STRING:
        return operand.as.text[0] != '\0';
    case KF_OPERAND_LIST:
    case KF_OPERAND_RANGE:
        return kf_operand_length(operand) > 0;
    default:
        return operand.as.integer != 0;
    }
}

/* --- Arithmetic ----------------------------------------------------------------------------------------- */

/* Divides and rounds towards minus infinity. The caller has excluded 0 and the one overflow. */
static long long floor_divide(long long left, long long right) {
    long long quotient = left / right;
    return left % right != 0 && (left < 0) != (right < 0) ? quotient - 1 : quotient;
}

static kf_status integer_power(long long base, long long exponent, kf_operand *result, kf_error *error) {
    long long power = 1;
    for (;;) {
        if ((exponent & 1) != 0 && __builtin_mul_overflow(power, base, &power)) return overflow(error);
        exponent >>= 1;
        if (exponent == 0) break;
        if (__builtin_mul_overflow(base, base, &base)) return overflow(error);
    }
    *result = kf_operand_integer(power);
    return KF_OK;
}

static kf_status float_power(double base, double exponent, kf_operand *result, kf_error *error) {
    if (base == 0 && exponent < 0) return zero_division(error);
    if (base < 0 && isfinite(base) && isfinite(exponent) && exponent != floor(exponent))
        return kf_fail(error, KF_BAD_INPUT, "a negative number cannot have a fractional exponent");
    double power = pow(base, exponent);
    if (!isfinite(power) && isfinite(base) && isfinite(exponent))
        return kf_fail(error, KF_BAD_INPUT, "float overflow");
    *result = kf_operand_float(power);
    return KF_OK;
}

static kf_status whole_arithmetic(kf_operation operation, long long left, long long right, kf_operand *result,
                                  kf_error *error) {
    long long value = 0;
    switch (operation) {
    case KF_DO_ADD:
        if (__builtin_add_overflow(left, right, &value)) return overflow(error);
        break;
    case KF_DO_SUBTRACT:
        if (__builtin_sub_overflow(left, right, &value)) return overflow(error);
        break;
    case KF_DO_MULTIPLY:
        if (__builtin_mul_overflow(left, right, &value)) return overflow(error);
        break;
    case KF_DO_DIVIDE:
        if (right == 0) return zero_division(error);
        /* A long double holds any 64-bit integer when it has 64 bits of mantissa. */
        *result = kf_operand_float((double)((long double)left / (long double)right));
        return KF_OK;
    case KF_DO_POWER:
        if (right < 0) return float_power((double)left, (double)right, result, error);
        return integer_power(left, right, result, error);
    default: /* // and % */
        if (right == 0) return zero_division(error);
        /* LLONG_MIN / -1 would trap. */
        if (right == -1) {
            if (operation == KF_DO_FLOOR_DIVIDE && left == LLONG_MIN) return overflow(error);
            value = operation == KF_DO_FLOOR_DIVIDE ? -left : 0;
            break;
        }
        value = floor_divide(left, right);
        if (operation == KF_DO_MODULO) value = left - value * right;
        break;
    }
    *result = kf_operand_integer(value);
    return KF_OK;
}

/* Does Python's float_divmod. The modulus has the divisor's sign, and quotient * divisor + modulus equals the
 * left operand. */
static kf_status float_divide_floor(kf_operation operation, double left, double right, kf_operand *result,
                                    kf_error *error) {
    if (right == 0) return zero_division(error);
    double modulus = fmod(left, right);
    double quotient = (left - modulus) / right;
    if (modulus != 0) {
        if ((right < 0) != (modulus < 0)) {
            modulus += right;
            quotient -= 1;
        }
    } else {
        modulus = copysign(0.0, right);
    }
    if (quotient != 0) {
        double whole = floor(quotient);
        quotient = quotient - whole > 0.5 ? whole + 1 : whole;
    } else {
        quotient = copysign(0.0, left / right);
    }
    *result = kf_operand_float(operation == KF_DO_MODULO ? modulus : quotient);
    return KF_OK;
}

static kf_status float_arithmetic(kf_operation operation, double left, double right, kf_operand *result,
                                  kf_error *error) {
    switch (operation) {
    case KF_DO_ADD:
        *result = kf_operand_float(left + right);
        return KF_OK;
    case KF_DO_SUBTRACT:
        *result = kf_operand_float(left - right);
        return KF_OK;
    case KF_DO_MULTIPLY:
        *result = kf_operand_float(left * right);
        return KF_OK;
    case KF_DO_DIVIDE:
        if (right == 0) return zero_division(error);
        *result = kf_operand_float(left / right);
        return KF_OK;
    case KF_DO_POWER:
        return float_power(left, right, result, error);
    default:
        return float_divide_floor(operation, left, right, result, error);
    }
}

kf_status kf_operand_arithmetic(kf_operation operation, kf_operand left, kf_operand right, kf_operand *result,
                                kf_error *error) {
    if (is_whole(left) && is_whole(right))
        return whole_arithmetic(operation, left.as.integer, right.as.integer, result, error);
    if (is_number(left) && is_number(right))
        return float_arithmetic(operation, as_double(left), as_double(right), result, error);
    return wrong_kinds(operation, left, right, error);
}

kf_status kf_operand_sign(kf_operation operation, kf_operand operand, kf_operand *result, kf_error *error) {
    if (operand.kind == KF_OPERAND_FLOAT) {
        *result = operation == KF_DO_NEGATE ? kf_operand_float(-operand.as.number) : operand;
        return KF_OK;
    }
    if (!is_whole(operand))
        return kf_fail(error, KF_BAD_INPUT, "'%s' does not take %s", operation_symbols[operation],
                       kf_operand_kind_name(operand));
    if (operation == KF_DO_PLUS) {
        *result = kf_operand_integer(operand.as.integer);
        return KF_OK;
    }
    return whole_arithmetic(KF_DO_SUBTRACT, 0, operand.as.integer, result, error);
}

/* --- Comparisons ---------------------------------------------------------------------------------------- */

typedef enum order { ORDER_LESS = -1, ORDER_EQUAL = 0, ORDER_GREATER = 1, ORDER_NONE = 2 } order;

/* Compares an integer with a double exactly. Rounding the integer to a double first would not be exact. */
static order order_mixed(long long left, double right) {
    if (isnan(right)) return ORDER_NONE;
    if (right >= 9223372036854775808.0) return ORDER_LESS;
    if (right < -9223372036854775808.0) return ORDER_GREATER;
    double whole = trunc(right);
    long long integer = (long long)whole;
    if (left != integer) return left < integer ? ORDER_LESS : ORDER_GREATER;
    return right > whole ? ORDER_LESS : right < whole ? ORDER_GREATER : ORDER_EQUAL;
}

/* Compares two numbers or two strings. */
static order order_of(kf_operand left, kf_operand right) {
    if (left.kind == KF_OPERAND_STRING) {
        int difference = strcmp(left.as.text, right.as.text);
        return difference < 0 ? ORDER_LESS : difference > 0 ? ORDER_GREATER : ORDER_EQUAL;
    }
    if (is_whole(left) && is_whole(right)) {
        if (left.as.integer == right.as.integer) return ORDER_EQUAL;
        return left.as.integer < right.as.integer ? ORDER_LESS : ORDER_GREATER;
    }
    if (is_whole(left)) return order_mixed(left.as.integer, right.as.number);
    if (is_whole(right)) {
        order turned = order_mixed(right.as.integer, left.as.number);
        return turned == ORDER_LESS ? ORDER_GREATER : turned == ORDER_GREATER ? ORDER_LESS : turned;
    }
    if (isnan(left.as.number) || isnan(right.as.number)) return ORDER_NONE;
    return left.as.number < right.as.number   ? ORDER_LESS
           : left.as.number > right.as.number ? ORDER_GREATER
                                              : ORDER_EQUAL;
}

static bool comparable(kf_operand left, kf_operand right) {
    return (is_number(left) && is_number(right)) ||
           (left.kind == KF_OPERAND_STRING && right.kind == KF_OPERAND_STRING);
}

/* Returns whether two operands are equal. Operands of different kinds are not, and lists are compared value
 * by value. A range equals nothing; list() makes a list of it that can be compared. */
static bool equal(const kf_operand *pool, kf_operand left, kf_operand right) {
    if (comparable(left, right)) return order_of(left, right) == ORDER_EQUAL;
    if (left.kind != KF_OPERAND_LIST || right.kind != KF_OPERAND_LIST) return false;
    if (left.as.list.count != right.as.list.count) return false;
    for (size_t i = 0; i < left.as.list.count; i++) {
        kf_operand a = kf_operand_at(pool, left, i), b = kf_operand_at(pool, right, i);
        if (!comparable(a, b) || order_of(a, b) != ORDER_EQUAL) return false;
    }
    return true;
}

/* Returns whether a range holds a value, without iterating over it. */
static bool range_holds(kf_operand range, kf_operand value) {
    long long integer;
    if (is_whole(value)) {
        integer = value.as.integer;
    } else if (value.kind == KF_OPERAND_FLOAT && fabs(value.as.number) < 9e18 &&
               value.as.number == trunc(value.as.number)) {
        integer = (long long)value.as.number;
    } else {
        return false;
    }
    if (range.as.range.count == 0) return false;
    bool upwards = range.as.range.step > 0;
    if (upwards ? integer < range.as.range.start : integer > range.as.range.start) return false;
    /* Differences and the size of the step are exact modulo 2^64, with any signs. */
    unsigned long long a = (unsigned long long)integer, b = (unsigned long long)range.as.range.start;
    unsigned long long step = (unsigned long long)range.as.range.step;
    unsigned long long distance = upwards ? a - b : b - a, size = upwards ? step : 0 - step;
    return distance % size == 0 && distance / size < range.as.range.count;
}

static kf_status contains(const kf_operand *pool, kf_operand value, kf_operand sequence, bool *truth,
                          kf_error *error) {
    if (!is_sequence(sequence))
        return kf_fail(error, KF_BAD_INPUT, "'in' needs a list on its right, not %s",
                       kf_operand_kind_name(sequence));
    if (is_sequence(value))
        return kf_fail(error, KF_BAD_INPUT, "'in' needs a single value on its left, not %s",
                       kf_operand_kind_name(value));
    if (sequence.kind == KF_OPERAND_RANGE) {
        *truth = range_holds(sequence, value);
        return KF_OK;
    }
    *truth = false;
    for (size_t i = 0; i < sequence.as.list.count && !*truth; i++)
        *truth = equal(pool, value, kf_operand_at(pool, sequence, i));
    return KF_OK;
}

kf_status kf_operand_compare(kf_operation operation, const kf_operand *pool, kf_operand left,
                             kf_operand right, bool *truth, kf_error *error) {
    if (operation == KF_DO_IN || operation == KF_DO_NOT_IN) {
        KF_TRY(contains(pool, left, right, truth, error));
        if (operation == KF_DO_NOT_IN) *truth = !*truth;
        return KF_OK;
    }
    if (operation == KF_DO_EQUAL || operation == KF_DO_NOT_EQUAL) {
        if (left.kind == KF_OPERAND_RANGE || right.kind == KF_OPERAND_RANGE)
            return kf_fail(error, KF_BAD_INPUT, "a range is compared as list(range(...))");
        *truth = equal(pool, left, right) == (operation == KF_DO_EQUAL);
        return KF_OK;
    }
    if (!comparable(left, right)) return wrong_kinds(operation, left, right, error);
    order found = order_of(left, right);
    *truth = (operation == KF_DO_LESS && found == ORDER_LESS) ||
             (operation == KF_DO_GREATER && found == ORDER_GREATER) ||
             (operation == KF_DO_LESS_EQUAL && (found == ORDER_LESS || found == ORDER_EQUAL)) ||
             (operation == KF_DO_GREATER_EQUAL && (found == ORDER_GREATER || found == ORDER_EQUAL));
    return KF_OK;
}

/* --- Functions ------------------------------------------------------------------------------------------ */

static kf_status wrong_argument(kf_function_name function, const char *needs, kf_operand given,
                                kf_error *error) {
    return kf_fail(error, KF_BAD_INPUT, "%s() needs %s, not %s", kf_function_names[function], needs,
                   kf_operand_kind_name(given));
}

/* Makes a range like Python's range(). Its count is computed modulo 2^64, so no end overflows. */
static kf_status call_range(const kf_operand *arguments, int count, kf_operand *result, kf_error *error) {
    long long start = 0, stop, step = 1;
    for (int i = 0; i < count; i++)
        if (!is_whole(arguments[i])) return wrong_argument(KF_CALL_RANGE, "integers", arguments[i], error);
    stop = arguments[count == 1 ? 0 : 1].as.integer;
    if (count > 1) start = arguments[0].as.integer;
    if (count > 2) step = arguments[2].as.integer;
    if (step == 0) return kf_fail(error, KF_BAD_INPUT, "range() needs a step that is not 0");
    unsigned long long a = (unsigned long long)start, b = (unsigned long long)stop,
                       s = (unsigned long long)step;
    result->kind = KF_OPERAND_RANGE;
    result->as.range.start = start;
    result->as.range.step = step;
    if (step > 0 ? start >= stop : start <= stop)
        result->as.range.count = 0;
    else
        result->as.range.count = step > 0 ? (b - a - 1) / s + 1 : (a - b - 1) / (0 - s) + 1;
    return KF_OK;
}

static kf_status call_extreme(kf_function_name function, const kf_operand *pool, const kf_operand *arguments,
                              int count, kf_operand *result, kf_error *error) {
    kf_operand sequence = arguments[0];
    bool spread = count == 1;
    if (spread && !is_sequence(sequence))
        return wrong_argument(function, "a list or at least two values", sequence, error);
    unsigned long long length = spread ? kf_operand_length(sequence) : (unsigned long long)count;
    if (length == 0)
        return kf_fail(error, KF_BAD_INPUT, "%s() of an empty list", kf_function_names[function]);
    /* The result is at one of the range's ends, so no iteration is needed. */
    if (spread && sequence.kind == KF_OPERAND_RANGE) {
        bool first = (sequence.as.range.step > 0) == (function == KF_CALL_MIN);
        *result = kf_operand_at(pool, sequence, first ? 0 : length - 1);
        return KF_OK;
    }
    kf_operand best = spread ? kf_operand_at(pool, sequence, 0) : arguments[0];
    for (unsigned long long i = 1; i < length; i++) {
        kf_operand next = spread ? kf_operand_at(pool, sequence, i) : arguments[i];
        if (!comparable(best, next))
            return kf_fail(error, KF_BAD_INPUT, "%s() cannot compare %s with %s", kf_function_names[function],
                           kf_operand_kind_name(best), kf_operand_kind_name(next));
        if (order_of(next, best) == (function == KF_CALL_MIN ? ORDER_LESS : ORDER_GREATER)) best = next;
    }
    if (length == 1 && is_sequence(best)) return wrong_argument(function, "single values", best, error);
    *result = best;
    return KF_OK;
}

static kf_status call_round(kf_function_name function, kf_operand argument, kf_operand *result,
                            kf_error *error) {
    if (argument.kind != KF_OPERAND_FLOAT) {
        *result = kf_operand_integer(argument.as.integer);
        return KF_OK;
    }
    double whole = function == KF_CALL_FLOOR ? floor(argument.as.number) : ceil(argument.as.number);
    if (!(whole >= -9223372036854775808.0 && whole < 9223372036854775808.0)) return overflow(error);
    *result = kf_operand_integer((long long)whole);
    return KF_OK;
}

static kf_status call_absolute(kf_operand argument, kf_operand *result, kf_error *error) {
    if (argument.kind == KF_OPERAND_FLOAT) {
        *result = kf_operand_float(fabs(argument.as.number));
        return KF_OK;
    }
    if (argument.as.integer == LLONG_MIN) return overflow(error);
    *result = kf_operand_integer(argument.as.integer < 0 ? -argument.as.integer : argument.as.integer);
    return KF_OK;
}

static kf_status call_log2(kf_operand argument, kf_operand *result, kf_error *error) {
    bool positive = argument.kind == KF_OPERAND_FLOAT ? argument.as.number > 0 && isfinite(argument.as.number)
                                                      : argument.as.integer > 0;
    if (!positive) return kf_fail(error, KF_BAD_INPUT, "log2() needs a positive, finite number");
    int exponent;
    if (argument.kind == KF_OPERAND_FLOAT) {
        (void)frexp(argument.as.number, &exponent);
        exponent--;
    } else {
        exponent = 63 - __builtin_clzll((unsigned long long)argument.as.integer);
    }
    *result = kf_operand_integer(exponent);
    return KF_OK;
}

/* Calls a function. list() is missing here, because it needs the machine's pool. */
kf_status kf_operand_call(kf_function_name function, const kf_operand *pool, const kf_operand *arguments,
                          int count, kf_operand *result, kf_error *error) {
    int most = function == KF_CALL_RANGE                            ? 3
               : function == KF_CALL_MIN || function == KF_CALL_MAX ? INT_MAX
                                                                    : 1;
    if (count < 1 || count > most)
        return kf_fail(error, KF_BAD_INPUT, "%s() takes %s, not %d", kf_function_names[function],
                       most == 1   ? "1 argument"
                       : most == 3 ? "1 to 3 arguments"
                                   : "at least 1 argument",
                       count);
    if (function == KF_CALL_RANGE) return call_range(arguments, count, result, error);
    if (function == KF_CALL_MIN || function == KF_CALL_MAX)
        return call_extreme(function, pool, arguments, count, result, error);
    if (!is_number(arguments[0])) return wrong_argument(function, "a number", arguments[0], error);
    if (function == KF_CALL_ABS) return call_absolute(arguments[0], result, error);
    if (function == KF_CALL_LOG2) return call_log2(arguments[0], result, error);
    return call_round(function, arguments[0], result, error);
}
