#include "solver/t1/t1_types.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef kf_t1_token token;
typedef kf_t1_source_text source;

/* --- Macros --------------------------------------------------------------------------------------------- */

/* Returns whether what a macro becomes could be more than a word or two. */
static bool is_intricate(const char *body) {
    return strcspn(body, "(),*&[]<>:;={}#") < strcspn(body, "\n");
}

/* Looks through the directives of all files, the compiler's options, and the parameters. */
bool kf_t1_is_macro(const source *s, token word, bool *intricate) {
    const kf_t1_problem *problem = s->problem;
    bool found = false;
    for (int i = 0; i < s->file_count; i++)
        for (const char *at = s->directives[i]; (at = kf_t1_find_word(at, kf_t1_word("define"))) != NULL;) {
            at += strlen("define");
            const token name = kf_t1_token_at(at, at + strcspn(at, "\n"));
            if (!kf_t1_same(name, word)) continue;
            found = true;
            *intricate = *intricate || is_intricate(name.at + name.length);
        }
    for (int i = 0; i < problem->option_count; i++) {
        const char *option = problem->options[i];
        if (strncmp(option, "-D", 2) != 0) continue;
        const token name = kf_t1_token_at(option + 2, option + strlen(option));
        if (!kf_t1_same(name, word)) continue;
        found = true;
        *intricate = *intricate || is_intricate(name.at + name.length + (name.at[name.length] == '='));
    }
    for (int p = 0; p < problem->parameter_count; p++)
        found = found || kf_t1_is(word, problem->parameters[p].name);
    return found;
}

/* Returns whether the files may redefine a name: it is part of a typedef or a using, or follows struct or a
 * similar word. */
static bool is_renamed(const source *s, token word) {
    static const char *const makers[] = {"struct", "class", "union", "enum", "typename", NULL};
    for (int i = 0; i < s->file_count; i++) {
        bool within = false, makes = false;
        const char *at = s->code[i], *const end = at + strlen(at);
        for (token next = kf_t1_token_at(at, end); next.length > 0;
             next = kf_t1_token_at(next.at + next.length, end)) {
            if ((within || makes) && kf_t1_same(next, word)) return true;
            if (kf_t1_is(next, "typedef") || kf_t1_is(next, "using")) within = true;
            if (kf_t1_is(next, ";")) within = false;
            makes = kf_t1_is_one_of(next, makers);
        }
    }
    return false;
}

/* --- Types ---------------------------------------------------------------------------------------------- */

static const char *const qualifiers[] = {"const",       "volatile",          "restrict",  "__restrict",
                                         "__global",    "__restrict__",      "global",    "__constant",
                                         "constant",    "register",          "__private", "private",
                                         "__read_only", "__grid_constant__", NULL};
static const char *const builtin[] = {"signed", "unsigned", "short", "long",  "int",  "char",
                                      "float",  "double",   "bool",  "_Bool", "void", NULL};

/* Finds a type of one word that no C compiler has by itself: int32_t, half, float4. */
static bool find_named(token word, bool opencl, kf_t1_type *type) {
    static const char *const names[][2] = {
        {"int8_t", "int8"},    {"int16_t", "int16"},   {"int32_t", "int32"},   {"int64_t", "int64"},
        {"uint8_t", "uint8"},  {"uint16_t", "uint16"}, {"uint32_t", "uint32"}, {"uint64_t", "uint64"},
        {"size_t", "uint64"},  {"ssize_t", "int64"},   {"ptrdiff_t", "int64"}, {"uintptr_t", "uint64"},
        {"intptr_t", "int64"}, {"__half", "half"},     {"__half2", "half2"},   {"_Float16", "half"},
        {"half", "half"},      {"uint", "uint"},       {"uchar", "uchar"},     {"ushort", "ushort"},
        {"ulong", "ulong"}};
    static const char *const vectors[] = {"float",  "double", "half", "char", "uchar", "short",
                                          "ushort", "int",    "uint", "long", "ulong"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (kf_t1_is(word, names[i][0])) return kf_t1_find_type(names[i][1], type);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const size_t length = strlen(vectors[i]), behind = word.length - length;
        if (word.length <= length || behind > 2 || strncmp(word.at, vectors[i], length) != 0) continue;
        const int n = atoi(word.at + length);
        const bool small = behind == 1 && n >= 2 && n <= 4, large = opencl && (n == 8 || n == 16);
        if (!isdigit((unsigned char)word.at[length]) || (!small && !large)) continue;
        /* T1's own "int8" has eight bits; the language's has eight components. */
        (void)kf_t1_find_type(vectors[i], type);
        (void)snprintf(type->name, sizeof type->name, "%s%d", vectors[i], n);
        type->components = n;
        return true;
    }
    return false;
}

/* Puts C's own words together: unsigned long int. */
static bool put_together(const token *words, int count, kf_t1_type *type, bool *either) {
    static const char *const wholes[2][4] = {{"int8", "int16", "int32", "int64"},
                                             {"uint8", "uint16", "uint32", "uint64"}};
    int longs = 0, shorts = 0, chars = 0, ints = 0, reals = 0, doubles = 0, bools = 0, other = 0;
    bool without_sign = false, with_sign = false;
    for (int i = 0; i < count; i++) {
        const token w = words[i];
        if (kf_t1_is_one_of(w, qualifiers)) continue;
        longs += kf_t1_is(w, "long"), shorts += kf_t1_is(w, "short"), chars += kf_t1_is(w, "char"),
            ints += kf_t1_is(w, "int");
        reals += kf_t1_is(w, "float"), doubles += kf_t1_is(w, "double"),
            bools += kf_t1_is(w, "bool") || kf_t1_is(w, "_Bool");
        without_sign = without_sign || kf_t1_is(w, "unsigned");
        with_sign = with_sign || kf_t1_is(w, "signed");
        other += !kf_t1_is_one_of(w, builtin) || kf_t1_is(w, "void");
    }
    const bool whole = longs + shorts + chars + ints > 0 || without_sign || with_sign;
    if (other > 0 || reals + doubles + bools + whole != 1) return false;
    *either = chars > 0 && !without_sign && !with_sign;
    if (!whole) return kf_t1_find_type(reals > 0 ? "float" : doubles > 0 ? "double" : "bool", type);
    return kf_t1_find_type(wholes[without_sign][chars > 0 ? 0 : shorts > 0 ? 1 : longs > 0 ? 3 : 2], type);
}

/* Returns the single word among others that is not a qualifier, or an empty one when there is none or more.
 */
static token only_word(const token *words, int count) {
    token only = {"", 0};
    int others = 0;
    for (int i = 0; i < count; i++) {
        if (kf_t1_is_one_of(words[i], qualifiers)) continue;
        only = words[i];
        others++;
    }
    return others == 1 ? only : (token){"", 0};
}

/* Reads the words of a type. Returns false for an unknown type. */
static bool read_type(const source *s, const token *words, int count, kf_t1_type *type, bool *either) {
    token given[KF_T1_MOST_WORDS] = {{"", 0}}, only = only_word(words, count);
    bool intricate = false;
    for (int i = 0; i < s->type_count && only.length > 0; i++) {
        if (!kf_t1_same(only, s->type_names[i])) continue;
        const char *end = s->type_values[i].at + s->type_values[i].length;
        words = given;
        count = 0;
        for (token w = kf_t1_token_at(s->type_values[i].at, end); w.length > 0 && count < KF_T1_MOST_WORDS;
             w = kf_t1_token_at(w.at + w.length, end))
            given[count++] = w;
        only = only_word(given, count);
        break;
    }
    for (int i = 0; i < count; i++)
        if (kf_t1_is_macro(s, words[i], &intricate)) return false;
    if (put_together(words, count, type, either)) return true;
    return only.length > 0 && !is_renamed(s, only) && find_named(only, s->language == KF_T1_OPENCL, type);
}

/* --- Parameters ----------------------------------------------------------------------------------------- */

/* Sorts the tokens into words, stars and brackets, from which name and type follow. */
bool kf_t1_read_parameter(const source *s, const token *tokens, int count, kf_t1_parameter_text *p) {
    int stars = 0, brackets = 0, words = 0, before = 0;
    bool odd = false, intricate = false;
    token word[2 * KF_T1_MOST_WORDS];
    for (int i = 0; i < count && !kf_t1_is(tokens[i], "="); i++) {
        const char c = tokens[i].at[0];
        if (strchr("(){}.#\"", c) != NULL || isdigit((unsigned char)c)) {
            if (brackets == 0) return false;
        } else if (c == '*') {
            stars++;
            before = words;
        } else if (c == '[') {
            brackets++;
        } else if (strchr("<>:&", c) != NULL) {
            odd = true;
        } else if (kf_t1_is_letter(c) && brackets == 0) {
            (void)kf_t1_is_macro(s, tokens[i], &intricate);
            word[words++] = tokens[i];
        } else if (c != ']' && brackets == 0) {
            return false;
        }
    }
    if (words == 0 || intricate) return false;
    p->pointer = stars + brackets > 0;
    if (odd || stars + brackets > 1) {
        p->pointer = stars > 0 && !odd;
        return true;
    }
    /* The parameter's name, if it has one, follows the type. */
    int typed = stars > 0 ? before : words;
    const bool named = stars == 0 && words > 1 && !kf_t1_is_one_of(word[words - 1], builtin) &&
                       !kf_t1_is_one_of(word[words - 1], qualifiers);
    p->known = read_type(s, word, typed - named, &p->type, &p->either);
    return p->known || p->pointer || words > 1;
}
