/* Reads what parameters a kernel has in its source. A text that is not compiled says little for certain: what
 * this does not understand it passes over. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "solver/t1/t1.h"

enum { MOST_WORDS = 24, MOST_TEMPLATE = 8 };

/* A piece of a text: a word, or a character that belongs to none. */
typedef struct token {
    const char *at;
    size_t length;
} token;

/* The files of a kernel without comments and texts; directives are apart, and '#' in their place. */
typedef struct source {
    const kf_t1_problem *problem;
    kf_t1_language language;
    const char *const *files;
    char *code[KF_T1_FILES], *directives[KF_T1_FILES];
    int file_count;     /* of those that are read */
    const char *kernel; /* KernelName */
    token name;         /* of it, without namespaces and what a template is given */
    token type_names[MOST_TEMPLATE], type_values[MOST_TEMPLATE]; /* of the template's parameters */
    int type_count;
} source;

/* --- Words ---------------------------------------------------------------------------------------------- */

static bool is_letter(char c) {
    return isalnum((unsigned char)c) != 0 || c == '_';
}

static token token_at(const char *at, const char *end) {
    while (at < end && isspace((unsigned char)*at))
        at++;
    size_t length = at < end ? 1 : 0;
    while (length > 0 && is_letter(*at) && at + length < end && is_letter(at[length]))
        length++;
    return (token){at, length};
}

static bool is(token word, const char *text) {
    return strlen(text) == word.length && strncmp(word.at, text, word.length) == 0;
}

static bool is_one_of(token word, const char *const *list) {
    for (; *list != NULL; list++)
        if (is(word, *list)) return true;
    return false;
}

static bool same(token a, token b) {
    return a.length == b.length && strncmp(a.at, b.at, a.length) == 0;
}

/* Returns the first place of a word from `at` on; NULL: it is nowhere. */
static const char *find_word(const char *at, token word) {
    const char *const end = at + strlen(at);
    for (token next = token_at(at, end); next.length > 0; next = token_at(next.at + next.length, end))
        if (same(next, word)) return next.at;
    return NULL;
}

static token word_of(const char *text) {
    return (token){text, strlen(text)};
}

/* --- The text ------------------------------------------------------------------------------------------- */

/* Returns the end of a comment or of a text in quotes that begins at `at`; at: nothing of the kind does. */
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

/* Splits a file's text into code and directives, which are no longer than the text. */
static void split(const char *text, char *code, char *directives) {
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

/* Returns whether what a macro becomes could be more than a word or two. */
static bool is_intricate(const char *body) {
    return strcspn(body, "(),*&[]<>:;={}#") < strcspn(body, "\n");
}

/* Returns whether a word is a macro, of the files, of the compiler's options, or a parameter of the space;
 * *intricate: it may stand for more than a word. */
static bool is_macro(const source *s, token word, bool *intricate) {
    const kf_t1_problem *problem = s->problem;
    bool found = false;
    for (int i = 0; i < s->file_count; i++)
        for (const char *at = s->directives[i]; (at = find_word(at, word_of("define"))) != NULL;) {
            at += strlen("define");
            const token name = token_at(at, at + strcspn(at, "\n"));
            if (!same(name, word)) continue;
            found = true;
            *intricate = *intricate || is_intricate(name.at + name.length);
        }
    for (int i = 0; i < problem->option_count; i++) {
        const char *option = problem->options[i];
        if (strncmp(option, "-D", 2) != 0) continue;
        const token name = token_at(option + 2, option + strlen(option));
        if (!same(name, word)) continue;
        found = true;
        *intricate = *intricate || is_intricate(name.at + name.length + (name.at[name.length] == '='));
    }
    for (int p = 0; p < problem->parameter_count; p++)
        found = found || is(word, problem->parameters[p].name);
    return found;
}

/* Returns whether the files may give a name a meaning of their own: it is part of a typedef or a using, or
 * follows the word struct or one like it. */
static bool is_renamed(const source *s, token word) {
    static const char *const makers[] = {"struct", "class", "union", "enum", "typename", NULL};
    for (int i = 0; i < s->file_count; i++) {
        bool within = false, makes = false;
        const char *at = s->code[i], *const end = at + strlen(at);
        for (token next = token_at(at, end); next.length > 0; next = token_at(next.at + next.length, end)) {
            if ((within || makes) && same(next, word)) return true;
            if (is(next, "typedef") || is(next, "using")) within = true;
            if (is(next, ";")) within = false;
            makes = is_one_of(next, makers);
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
        if (is(word, names[i][0])) return kf_t1_find_type(names[i][1], type);
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
        if (is_one_of(w, qualifiers)) continue;
        longs += is(w, "long"), shorts += is(w, "short"), chars += is(w, "char"), ints += is(w, "int");
        reals += is(w, "float"), doubles += is(w, "double"), bools += is(w, "bool") || is(w, "_Bool");
        without_sign = without_sign || is(w, "unsigned");
        with_sign = with_sign || is(w, "signed");
        other += !is_one_of(w, builtin) || is(w, "void");
    }
    const bool whole = longs + shorts + chars + ints > 0 || without_sign || with_sign;
    if (other > 0 || reals + doubles + bools + whole != 1) return false;
    *either = chars > 0 && !without_sign && !with_sign;
    if (!whole) return kf_t1_find_type(reals > 0 ? "float" : doubles > 0 ? "double" : "bool", type);
    return kf_t1_find_type(wholes[without_sign][chars > 0 ? 0 : shorts > 0 ? 1 : longs > 0 ? 3 : 2], type);
}

/* Returns the one word among others that is no qualifier; of none or several, none. */
static token only_word(const token *words, int count) {
    token only = {"", 0};
    int others = 0;
    for (int i = 0; i < count; i++) {
        if (is_one_of(words[i], qualifiers)) continue;
        only = words[i];
        others++;
    }
    return others == 1 ? only : (token){"", 0};
}

/* Reads the words of a type; false: it is not known what it is. */
static bool read_type(const source *s, const token *words, int count, kf_t1_type *type, bool *either) {
    token given[MOST_WORDS] = {{"", 0}}, only = only_word(words, count);
    bool intricate = false;
    for (int i = 0; i < s->type_count && only.length > 0; i++) {
        if (!same(only, s->type_names[i])) continue;
        const char *end = s->type_values[i].at + s->type_values[i].length;
        words = given;
        count = 0;
        for (token w = token_at(s->type_values[i].at, end); w.length > 0 && count < MOST_WORDS;
             w = token_at(w.at + w.length, end))
            given[count++] = w;
        only = only_word(given, count);
        break;
    }
    for (int i = 0; i < count; i++)
        if (is_macro(s, words[i], &intricate)) return false;
    if (put_together(words, count, type, either)) return true;
    return only.length > 0 && !is_renamed(s, only) && find_named(only, s->language == KF_T1_OPENCL, type);
}

/* --- Parameters ----------------------------------------------------------------------------------------- */

/* Reads one parameter from its tokens. Returns false where it might not be one: a macro that stands for
 * several, a pointer to a function, a pack. */
static bool read_parameter(const source *s, const token *tokens, int count, kf_t1_parameter_text *p) {
    int stars = 0, brackets = 0, words = 0, before = 0;
    bool odd = false, intricate = false;
    token word[MOST_WORDS];
    for (int i = 0; i < count && !is(tokens[i], "="); i++) {
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
        } else if (is_letter(c) && brackets == 0) {
            (void)is_macro(s, tokens[i], &intricate);
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
    /* The parameter's name, if it has one, stands behind the type. */
    int typed = stars > 0 ? before : words;
    const bool named = stars == 0 && words > 1 && !is_one_of(word[words - 1], builtin) &&
                       !is_one_of(word[words - 1], qualifiers);
    p->known = read_type(s, word, typed - named, &p->type, &p->either);
    return p->known || p->pointer || words > 1;
}

/* Copies a piece of the code, its blanks as one, without what a terminal would obey. */
static void copy_shown(const char *from, const char *end, char *text) {
    size_t length = 0;
    for (; from < end && length + 1 < KF_T1_SHOWN; from++) {
        const bool blank = isspace((unsigned char)*from);
        if (!blank || (length > 0 && text[length - 1] != ' '))
            text[length++] = blank ? ' ' : *from > ' ' && *from <= '~' ? *from : '?';
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    text[length] = '\0';
}

/* Returns whether the last token, '<' or '>', stands in a default or in the size of an array: it may be less,
 * more or a shift. */
static bool is_in_value(const token *tokens, int count) {
    int brackets = 0;
    for (int i = 0; i < count; i++)
        brackets += is(tokens[i], "[") - is(tokens[i], "]") + (is(tokens[i], "=") ? count : 0);
    return brackets > 0 && strchr("<>", tokens[count - 1].at[0]) != NULL;
}

/* Reads the list that begins behind a parenthesis, up to the one that ends it. False where it is not known
 * for certain how many parameters it has. */
static bool read_list(const source *s, const char *at, kf_t1_signature *read) {
    const char *const end = at + strlen(at), *first = at;
    token tokens[2 * MOST_WORDS];
    int count = 0, depth = 0;
    read->count = 0;
    for (token t = token_at(at, end);; t = token_at(t.at + t.length, end)) {
        if (t.length == 0 || count == 2 * MOST_WORDS || read->count == KF_T1_MOST_PARAMETERS) return false;
        const bool closes = depth == 0 && is(t, ")");
        if (!closes && (depth > 0 || !is(t, ","))) {
            depth += strchr("([<", t.at[0]) != NULL;
            depth -= strchr(")]>", t.at[0]) != NULL;
            tokens[count++] = t;
            if (is_in_value(tokens, count)) return false;
            continue;
        }
        if (closes && read->count == 0 && (count == 0 || (count == 1 && is(tokens[0], "void")))) return true;
        kf_t1_parameter_text *p = &read->list[read->count++];
        memset(p, 0, sizeof *p);
        copy_shown(first, t.at, p->text);
        if (count == 0 || !read_parameter(s, tokens, count, p)) return false;
        if (closes) return true;
        count = 0;
        first = t.at + 1;
    }
}

static bool alike(const kf_t1_signature *a, const kf_t1_signature *b) {
    bool equal = a->count == b->count;
    for (int i = 0; equal && i < a->count; i++) {
        const kf_t1_parameter_text *x = &a->list[i], *y = &b->list[i];
        equal = x->pointer == y->pointer && x->known == y->known &&
                (!x->known ||
                 (x->type.bytes == y->type.bytes && x->type.real == y->type.real &&
                  x->type.is_signed == y->type.is_signed && x->type.components == y->type.components));
    }
    return equal;
}

/* --- Templates ------------------------------------------------------------------------------------------ */

/* Splits "<A, B<C, D>, E>" behind its '<' into its members. */
static int split_template(const char *at, const char *end, token members[MOST_TEMPLATE]) {
    int depth = 0, count = 0;
    const char *first = at;
    for (; at < end && count < MOST_TEMPLATE; at++) {
        const bool closes = *at == '>' && depth == 0;
        if (closes || (*at == ',' && depth == 0)) {
            members[count++] = (token){first, (size_t)(at - first)};
            first = at + 1;
        }
        if (closes) return count;
        depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
    }
    return 0;
}

/* Notes what stands for the type names of the template that begins last before a kernel, where KernelName
 * gives it as many values as it has parameters. */
static void read_template(source *s, const char *code, const char *kernel) {
    const char *begin = NULL, *given = strchr(s->kernel, '<');
    token parameters[MOST_TEMPLATE], values[MOST_TEMPLATE];
    s->type_count = 0;
    for (const char *at = code; (at = find_word(at, word_of("template"))) != NULL && at < kernel; at++)
        begin = at + strlen("template");
    if (begin == NULL || given == NULL) return;
    const token open = token_at(begin, kernel);
    const size_t between = strcspn(begin, ";{}");
    if (!is(open, "<") || begin + between < kernel) return;
    const int count = split_template(open.at + 1, kernel, parameters),
              given_count = split_template(given + 1, given + strlen(given), values);
    for (int i = 0; i < count && count == given_count; i++) {
        const char *end = parameters[i].at + parameters[i].length;
        const token kind = token_at(parameters[i].at, end), name = token_at(kind.at + kind.length, end);
        if (!is(kind, "typename") && !is(kind, "class")) continue;
        s->type_names[s->type_count] = name;
        s->type_values[s->type_count++] = values[i];
    }
}

/* --- Finding the kernel --------------------------------------------------------------------------------- */

/* Takes what a text says of the kernel behind `at`, its name. Returns false where that is not certain, or
 * differs from what another place says. */
static bool take_signature(const source *s, const char *at, kf_t1_signature *known) {
    kf_t1_signature *read = kf_allocate_zeroed(1, sizeof *read); /* too large for a thread's stack */
    const token open = token_at(at + s->name.length, at + strlen(at));
    bool certain = is(open, "(") && read_list(s, open.at + 1, read);
    if (certain && known->count < 0) {
        memcpy(known->list, read->list, sizeof read->list);
        known->count = read->count;
    } else {
        certain = certain && alike(known, read);
    }
    free(read);
    return certain;
}

/* Reads the signatures of a GPU's kernels, which a word announces. */
static bool find_kernels(source *s, const char *code, const char *announces, kf_t1_signature *known) {
    for (const char *at = code; (at = find_word(at, word_of(announces))) != NULL;) {
        size_t length = 0;
        const char *kernel = at;
        at += strlen(announces);
        const char *name = kf_t1_kernel_behind(at, &length);
        if (!same((token){name, length}, s->name)) continue;
        read_template(s, code, kernel);
        if (!take_signature(s, name, known)) return false;
    }
    return true;
}

/* Reads the declarations and the definition of a function of C: its name outside of all braces, behind a
 * word or a star. */
static bool find_functions(const source *s, const char *code, kf_t1_signature *known) {
    const char *const end = code + strlen(code);
    int depth = 0;
    token before = {"", 0};
    for (token t = token_at(code, end); t.length > 0; t = token_at(t.at + t.length, end)) {
        const bool typed = before.length > 0 && (is_letter(before.at[0]) || before.at[0] == '*');
        if (depth == 0 && typed && same(t, s->name) && !take_signature(s, t.at, known)) return false;
        depth += strchr("({", t.at[0]) != NULL;
        depth -= strchr(")}", t.at[0]) != NULL;
        before = t;
    }
    return true;
}

/* Reads the members of a struct behind its '{': "float *out; int width, height;". */
static bool read_members(const source *s, const char *at, kf_t1_signature *read) {
    const char *const end = at + strlen(at), *first = at;
    token tokens[2 * MOST_WORDS];
    int count = 0, typed = 0; /* tokens; those of the type, which every name of a member shares */
    for (token t = token_at(at, end);; t = token_at(t.at + t.length, end)) {
        if (t.length == 0 || count == 2 * MOST_WORDS || read->count == KF_T1_MOST_PARAMETERS) return false;
        if (is(t, "}") && count == 0) return true;
        if (typed == 0 && (is(t, "*") || is(t, "[") || is(t, ",") || is(t, ";")))
            typed = is(t, "*") ? count : count - 1;
        if (!is(t, ",") && !is(t, ";")) {
            tokens[count++] = t;
            continue;
        }
        kf_t1_parameter_text *p = &read->list[read->count++];
        copy_shown(first, t.at, p->text);
        if (typed < 1 || !read_parameter(s, tokens, count, p)) return false;
        count = typed = is(t, ",") ? typed : 0;
        first = t.at + 1;
    }
}

/* Reads the struct that is a portable kernel's arguments: its first member is the extent. */
static bool read_struct(const source *s, const char *code, token type, kf_t1_signature *known) {
    const char *const end = code + strlen(code), *opened = NULL;
    int depth = 0;
    bool found = false;
    token before = {"", 0};
    for (token t = token_at(code, end); t.length > 0 && !found; t = token_at(t.at + t.length, end)) {
        if (is(t, "{") && depth++ == 0) opened = t.at + 1;
        depth -= is(t, "}");
        found = depth == 0 && is(before, "}") && same(t, type) && opened != NULL;
        before = t;
    }
    if (!found || known->count >= 0) return known->count < 0;
    known->count = 0;
    if (!read_members(s, opened, known) || known->count == 0 ||
        strncmp(known->list[0].text, "int extent[", 11) != 0)
        return false;
    memmove(&known->list[0], &known->list[1], sizeof known->list - sizeof known->list[0]);
    known->count--;
    return true;
}

/* Finds the macro that begins a kernel of kernels/portable.h, and the struct that it names. */
static bool find_portable(const source *s, const char *code, kf_t1_signature *known) {
    static const char *const macros[] = {"KF_KERNEL", "KF_SCALAR_KERNEL", "KF_BLOCK_KERNEL", NULL};
    const char *const end = code + strlen(code);
    for (token t = token_at(code, end); t.length > 0; t = token_at(t.at + t.length, end)) {
        token words[4], last = t;
        if (!is_one_of(t, macros)) continue;
        for (int i = 0; i < 4; i++)
            last = words[i] = token_at(last.at + last.length, end);
        if (is(words[0], "(") && same(words[1], s->name) && is(words[2], ","))
            return read_struct(s, code, words[3], known);
    }
    return true;
}

static bool find_in(source *s, const char *code, kf_t1_signature *known) {
    if (s->language == KF_T1_PORTABLE) return find_portable(s, code, known);
    if (s->language == KF_T1_C || s->language == KF_T1_CXX) return find_functions(s, code, known);
    if (s->language == KF_T1_CUDA) return find_kernels(s, code, "__global__", known);
    return find_kernels(s, code, "__kernel", known) && find_kernels(s, code, "kernel", known);
}

/* Finds the kernel's parameters, and the file that has them; false: they are not known for certain. */
static bool find_signature(source *s, kf_t1_signature *known) {
    bool intricate = false;
    known->count = -1;
    if (is_macro(s, s->name, &intricate)) return false;
    for (int i = 0; i < s->file_count; i++) {
        const bool unknown = known->count < 0;
        if (!find_in(s, s->code[i], known)) return false;
        if (unknown && known->count >= 0) known->file = s->files[i];
    }
    return known->count >= 0;
}

/* Reads the __constant__ variable of an argument's name, with what it is an array of. */
static void find_constant(const source *s, const char *code, token name, kf_t1_parameter_text *p) {
    const char *const end = code + strlen(code);
    for (const char *at = code; (at = find_word(at, word_of("__constant__"))) != NULL;) {
        token tokens[MOST_WORDS], word = {"", 0};
        const char *first = at + strlen("__constant__");
        int count = 0;
        at = first;
        for (token t = token_at(at, end);
             t.length > 0 && count < MOST_WORDS && strchr("=;,(){}", *t.at) == NULL; t = token_at(at, end)) {
            tokens[count++] = t;
            if (is(t, "[")) break;
            word = is_letter(*t.at) ? t : word;
            at = t.at + t.length;
        }
        if (!same(word, name)) continue;
        copy_shown(first, at, p->text);
        if (!read_parameter(s, tokens, count, p)) p->known = false;
        return;
    }
}

/* --- The whole ----- */

/* Finds the kernel's own name in KernelName: "gemm" of "my::gemm<float, 16>". */
static token base_name(const char *name) {
    const char *end = name + strcspn(name, "<"), *begin;
    while (end > name && !is_letter(end[-1]))
        end--;
    for (begin = end; begin > name && is_letter(begin[-1]);)
        begin--;
    return (token){begin, (size_t)(end - begin)};
}

/* Reads the files; false: one cannot be read, or has texts that end where their author says. */
static bool read_files(source *s, int count) {
    for (int i = 0; i < count; i++) {
        char *text = NULL;
        size_t size = 0;
        if (kf_file_read(s->files[i], 0, &text, &size, NULL) != KF_OK) return false;
        s->code[i] = kf_allocate(strlen(text) + 2);
        s->directives[i] = kf_allocate(strlen(text) + 2);
        s->file_count++;
        split(text, s->code[i], s->directives[i]);
        const bool raw = strstr(text, "R\"") != NULL;
        free(text);
        if (raw) return false;
    }
    return true;
}

bool kf_t1_read_signature(const kf_t1_problem *problem, bool reference, kf_t1_signature *read) {
    const char *reference_file = problem->reference_file;
    memset(read, 0, sizeof *read);
    if (reference ? reference_file[0] == '\0' : problem->missing_file != NULL) return false;
    source *s = kf_allocate_zeroed(1, sizeof *s); /* too large for a thread's stack */
    s->problem = problem;
    s->language = reference ? KF_T1_PORTABLE : problem->language;
    s->files = reference ? &reference_file : (const char *const *)problem->kernel_files;
    s->kernel = read->kernel = reference ? problem->reference_name : problem->kernel_name;
    s->name = base_name(s->kernel);
    read->converts = s->language == KF_T1_C || s->language == KF_T1_CXX;
    const bool found = read_files(s, reference ? 1 : problem->kernel_file_count) && find_signature(s, read);
    for (int i = 0; i < problem->argument_count && found; i++)
        for (int f = 0; f < s->file_count && problem->arguments[i].constant; f++)
            find_constant(s, s->code[f], word_of(problem->arguments[i].name), &read->constants[i]);
    for (int f = 0; f < s->file_count; f++) {
        free(s->code[f]);
        free(s->directives[f]);
    }
    free(s);
    return found;
}
