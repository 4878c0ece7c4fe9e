/* Reads what parameters a kernel has in its source: finds the kernel, and reads the list behind its name. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/file.h"
#include "base/util/memory.h"
#include "solver/t1/t1_types.h"

typedef kf_t1_token token;
typedef kf_t1_source_text source;

/* --- Lists of parameters -------------------------------------------------------------------------------- */

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
        brackets +=
            kf_t1_is(tokens[i], "[") - kf_t1_is(tokens[i], "]") + (kf_t1_is(tokens[i], "=") ? count : 0);
    return brackets > 0 && strchr("<>", tokens[count - 1].at[0]) != NULL;
}

/* Reads the list that begins behind a parenthesis, up to the one that ends it. False where it is not known
 * for certain how many parameters it has. */
static bool read_list(const source *s, const char *at, kf_t1_signature *read) {
    const char *const end = at + strlen(at), *first = at;
    token tokens[2 * KF_T1_MOST_WORDS];
    int count = 0, depth = 0;
    read->count = 0;
    for (token t = kf_t1_token_at(at, end);; t = kf_t1_token_at(t.at + t.length, end)) {
        if (t.length == 0 || count == 2 * KF_T1_MOST_WORDS || read->count == KF_T1_MOST_PARAMETERS)
            return false;
        const bool closes = depth == 0 && kf_t1_is(t, ")");
        if (!closes && (depth > 0 || !kf_t1_is(t, ","))) {
            depth += strchr("([<", t.at[0]) != NULL;
            depth -= strchr(")]>", t.at[0]) != NULL;
            tokens[count++] = t;
            if (is_in_value(tokens, count)) return false;
            continue;
        }
        if (closes && read->count == 0 && (count == 0 || (count == 1 && kf_t1_is(tokens[0], "void"))))
            return true;
        kf_t1_parameter_text *p = &read->list[read->count++];
        memset(p, 0, sizeof *p);
        copy_shown(first, t.at, p->text);
        if (count == 0 || !kf_t1_read_parameter(s, tokens, count, p)) return false;
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
static int split_template(const char *at, const char *end, token members[KF_T1_MOST_TEMPLATE]) {
    int depth = 0, count = 0;
    const char *first = at;
    for (; at < end && count < KF_T1_MOST_TEMPLATE; at++) {
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
    token parameters[KF_T1_MOST_TEMPLATE], values[KF_T1_MOST_TEMPLATE];
    s->type_count = 0;
    for (const char *at = code; (at = kf_t1_find_word(at, kf_t1_word("template"))) != NULL && at < kernel;
         at++)
        begin = at + strlen("template");
    if (begin == NULL || given == NULL) return;
    const token open = kf_t1_token_at(begin, kernel);
    const size_t between = strcspn(begin, ";{}");
    if (!kf_t1_is(open, "<") || begin + between < kernel) return;
    const int count = split_template(open.at + 1, kernel, parameters),
              given_count = split_template(given + 1, given + strlen(given), values);
    for (int i = 0; i < count && count == given_count; i++) {
        const char *end = parameters[i].at + parameters[i].length;
        const token kind = kf_t1_token_at(parameters[i].at, end),
                    name = kf_t1_token_at(kind.at + kind.length, end);
        if (!kf_t1_is(kind, "typename") && !kf_t1_is(kind, "class")) continue;
        s->type_names[s->type_count] = name;
        s->type_values[s->type_count++] = values[i];
    }
}

/* --- Finding the kernel --------------------------------------------------------------------------------- */

/* Takes what a text says of the kernel behind `at`, its name. Returns false where that is not certain, or
 * differs from what another place says. */
static bool take_signature(const source *s, const char *at, kf_t1_signature *known) {
    /* It is too large for a thread's stack. */
    kf_t1_signature *read = kf_allocate_zeroed(1, sizeof *read);
    const token open = kf_t1_token_at(at + s->name.length, at + strlen(at));
    bool certain = kf_t1_is(open, "(") && read_list(s, open.at + 1, read);
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
    for (const char *at = code; (at = kf_t1_find_word(at, kf_t1_word(announces))) != NULL;) {
        size_t length = 0;
        const char *kernel = at;
        at += strlen(announces);
        const char *name = kf_t1_kernel_behind(at, &length);
        if (!kf_t1_same((token){name, length}, s->name)) continue;
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
    for (token t = kf_t1_token_at(code, end); t.length > 0; t = kf_t1_token_at(t.at + t.length, end)) {
        const bool typed = before.length > 0 && (kf_t1_is_letter(before.at[0]) || before.at[0] == '*');
        if (depth == 0 && typed && kf_t1_same(t, s->name) && !take_signature(s, t.at, known)) return false;
        depth += strchr("({", t.at[0]) != NULL;
        depth -= strchr(")}", t.at[0]) != NULL;
        before = t;
    }
    return true;
}

/* Reads the members of a struct after its '{': "float *out; int width, height;". */
static bool read_members(const source *s, const char *at, kf_t1_signature *read) {
    const char *const end = at + strlen(at), *first = at;
    token tokens[2 * KF_T1_MOST_WORDS];
    int count = 0, typed = 0; /* tokens; those of the type, which every name of a member shares */
    for (token t = kf_t1_token_at(at, end);; t = kf_t1_token_at(t.at + t.length, end)) {
        if (t.length == 0 || count == 2 * KF_T1_MOST_WORDS || read->count == KF_T1_MOST_PARAMETERS)
            return false;
        if (kf_t1_is(t, "}") && count == 0) return true;
        if (typed == 0 && (kf_t1_is(t, "*") || kf_t1_is(t, "[") || kf_t1_is(t, ",") || kf_t1_is(t, ";")))
            typed = kf_t1_is(t, "*") ? count : count - 1;
        if (!kf_t1_is(t, ",") && !kf_t1_is(t, ";")) {
            tokens[count++] = t;
            continue;
        }
        kf_t1_parameter_text *p = &read->list[read->count++];
        copy_shown(first, t.at, p->text);
        if (typed < 1 || !kf_t1_read_parameter(s, tokens, count, p)) return false;
        count = typed = kf_t1_is(t, ",") ? typed : 0;
        first = t.at + 1;
    }
}

/* Reads the struct that is a portable kernel's arguments: its first member is the extent. */
static bool read_struct(const source *s, const char *code, token type, kf_t1_signature *known) {
    const char *const end = code + strlen(code), *opened = NULL;
    int depth = 0;
    bool found = false;
    token before = {"", 0};
    for (token t = kf_t1_token_at(code, end); t.length > 0 && !found;
         t = kf_t1_token_at(t.at + t.length, end)) {
        if (kf_t1_is(t, "{") && depth++ == 0) opened = t.at + 1;
        depth -= kf_t1_is(t, "}");
        found = depth == 0 && kf_t1_is(before, "}") && kf_t1_same(t, type) && opened != NULL;
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
    for (token t = kf_t1_token_at(code, end); t.length > 0; t = kf_t1_token_at(t.at + t.length, end)) {
        token words[4], last = t;
        if (!kf_t1_is_one_of(t, macros)) continue;
        for (int i = 0; i < 4; i++)
            last = words[i] = kf_t1_token_at(last.at + last.length, end);
        if (kf_t1_is(words[0], "(") && kf_t1_same(words[1], s->name) && kf_t1_is(words[2], ","))
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

/* Finds the kernel's parameters, and the file that contains them. Returns false when they are not certain. */
static bool find_signature(source *s, kf_t1_signature *known) {
    bool intricate = false;
    known->count = -1;
    if (kf_t1_is_macro(s, s->name, &intricate)) return false;
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
    for (const char *at = code; (at = kf_t1_find_word(at, kf_t1_word("__constant__"))) != NULL;) {
        token tokens[KF_T1_MOST_WORDS], word = {"", 0};
        const char *first = at + strlen("__constant__");
        int count = 0;
        at = first;
        for (token t = kf_t1_token_at(at, end);
             t.length > 0 && count < KF_T1_MOST_WORDS && strchr("=;,(){}", *t.at) == NULL;
             t = kf_t1_token_at(at, end)) {
            tokens[count++] = t;
            if (kf_t1_is(t, "[")) break;
            word = kf_t1_is_letter(*t.at) ? t : word;
            at = t.at + t.length;
        }
        if (!kf_t1_same(word, name)) continue;
        copy_shown(first, at, p->text);
        if (!kf_t1_read_parameter(s, tokens, count, p)) p->known = false;
        return;
    }
}

/* Finds the kernel's own name in KernelName: "gemm" of "my::gemm<float, 16>". */
static token base_name(const char *name) {
    const char *end = name + strcspn(name, "<"), *begin;
    while (end > name && !kf_t1_is_letter(end[-1]))
        end--;
    for (begin = end; begin > name && kf_t1_is_letter(begin[-1]);)
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
        kf_t1_split(text, s->code[i], s->directives[i]);
        const bool raw = strstr(text, "R\"") != NULL;
        free(text);
        if (raw) return false;
    }
    return true;
}

/* Reads the kernel's files, finds the parameters of its signature, and the constants that arguments refer
 * to. */
bool kf_t1_read_signature(const kf_t1_problem *problem, bool reference, kf_t1_signature *read) {
    const char *reference_file = problem->reference_file;
    memset(read, 0, sizeof *read);
    if (reference ? reference_file[0] == '\0' : problem->missing_file != NULL) return false;
    /* It is too large for a thread's stack. */
    source *s = kf_allocate_zeroed(1, sizeof *s);
    s->problem = problem;
    s->language = reference ? KF_T1_PORTABLE : problem->language;
    s->files = reference ? &reference_file : (const char *const *)problem->kernel_files;
    s->kernel = read->kernel = reference ? problem->reference_name : problem->kernel_name;
    s->name = base_name(s->kernel);
    read->converts = s->language == KF_T1_C || s->language == KF_T1_CXX;
    const bool found = read_files(s, reference ? 1 : problem->kernel_file_count) && find_signature(s, read);
    for (int i = 0; i < problem->argument_count && found; i++)
        for (int f = 0; f < s->file_count && problem->arguments[i].constant; f++)
            find_constant(s, s->code[f], kf_t1_word(problem->arguments[i].name), &read->constants[i]);
    for (int f = 0; f < s->file_count; f++) {
        free(s->code[f]);
        free(s->directives[f]);
    }
    free(s);
    return found;
}
