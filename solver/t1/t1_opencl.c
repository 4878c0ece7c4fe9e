/* Translates OpenCL C to CUDA C. What a header of macros and types (kernels/t1/opencl.h) cannot express is
 * rewritten word by word. Lines keep their numbers, so a compiler's messages refer to the user's lines. */
#include <ctype.h>
#include <string.h>

#include "solver/t1/t1.h"
#include "solver/t1/t1_tokens.h"

/* Comments, strings and characters, which are left alone; 0: none begins here. */
static size_t quiet_length(const char *text) {
    if (strncmp(text, "//", 2) == 0) return strcspn(text, "\n");
    if (strncmp(text, "/*", 2) == 0) {
        const char *end = strstr(text + 2, "*/");
        return end != NULL ? (size_t)(end - text) + 2 : strlen(text);
    }
    if (*text != '"' && *text != '\'') return 0;
    size_t length = 1;
    while (text[length] != '\0' && text[length] != '\n' && text[length] != *text)
        length += text[length] == '\\' && text[length + 1] != '\0' ? 2 : 1;
    return length + (text[length] == *text);
}

/* Returns whether a qualifier of an address space belongs to a pointer, which CUDA has none for, and not
 * to a variable: a '*' comes before the declarator ends. At the end of a macro's line it is a pointer's,
 * as in "#define LOCAL_PTR __local". */
static bool of_pointer(const char *behind, bool in_macro) {
    for (; *behind != '\0'; behind++) {
        if (*behind == '*') return true;
        if (in_macro && *behind == '\n' && behind[-1] != '\\') return true;
        if (strchr(";,)=[({", *behind) != NULL) return *behind == ')';
    }
    return true;
}

static bool is_word(const char *text, size_t length, const char *word) {
    return strlen(word) == length && strncmp(text, word, length) == 0;
}

/* Returns whether a name is a vector type, such as "float4". */
static bool is_vector(const char *text, size_t length) {
    char name[16];
    kf_t1_type type;
    if (length == 0 || length >= sizeof name) return false;
    kf_copy_text(name, length + 1, text);
    return kf_t1_find_type(name, &type) && type.components > 1;
}

/* Translates a literal, which begins with "(float4)(", to a call of the function that makes one. Returns how
 * many characters were read; 0: it is none. */
static size_t translate_literal(const char *text, kf_text *out) {
    if (*text != '(') return 0;
    const char *name = text + 1 + strspn(text + 1, " \t");
    const size_t length = kf_t1_word_length(name);
    const char *end = name + length + strspn(name + length, " \t");
    if (*end != ')' || !is_vector(name, length)) return 0;
    const char *open = end + 1 + strspn(end + 1, " \t");
    if (*open != '(') return 0;
    kf_text_append(out, "kf_cl_%.*s", (int)length, name);
    return (size_t)(open - text);
}

/* Translates one word. in_macro: it is in a line of the preprocessor. */
static void translate_word(const char *text, size_t length, bool in_macro, kf_text *out) {
    const bool local = is_word(text, length, "__local") || is_word(text, length, "local");
    const bool constant = is_word(text, length, "__constant") || is_word(text, length, "constant");
    if (is_word(text, length, "global") || is_word(text, length, "private")) return;
    if (is_word(text, length, "kernel"))
        kf_text_append(out, "__kernel");
    else if (local)
        kf_text_append(out, "%s", of_pointer(text + length, in_macro) ? "" : "__shared__");
    else if (constant)
        kf_text_append(out, "%s", of_pointer(text + length, in_macro) ? "" : "__constant__");
    else
        kf_text_append(out, "%.*s", (int)length, text);
}

/* Translates OpenCL C to CUDA C word by word. Comments, strings and numbers do not change. */
void kf_t1_translate(const char *file, const char *text, kf_text *out) {
    bool in_macro = false, begins = true; /* a line */
    kf_text_append(out, "#line 1 \"%s\"\n", file);
    while (*text != '\0') {
        if (*text == '\n') {
            in_macro = in_macro && text[-1] == '\\';
            begins = true;
        } else if (begins && *text == '#') {
            in_macro = true;
        }
        begins = begins && isspace((unsigned char)*text);
        size_t read = quiet_length(text);
        if (read > 0) {
            kf_text_append(out, "%.*s", (int)read, text);
        } else if ((read = translate_literal(text, out)) == 0) {
            read = isalpha((unsigned char)*text) || *text == '_' ? kf_t1_word_length(text) : 0;
            if (read > 0)
                translate_word(text, read, in_macro, out);
            else
                /* A number with its letters is not a word. */
                read = isdigit((unsigned char)*text) ? kf_t1_word_length(text) : 1,
                kf_text_append(out, "%.*s", (int)read, text);
        }
        text += read;
    }
    kf_text_append(out, "\n");
}
