/* Finds the source that is compiled of a T1 kernel, and the message when it does not compile. */
#include <stdlib.h>
#include <string.h>

#include "base/backend/cache.h"
#include "base/util/file.h"
#include "solver/t1/t1.h"
#include "solver/t1/t1_tokens.h"

const char kf_t1_plain_entry[] = "kf_t1_entry";

/* --- Functions in C --------------------------------------------------------------------------------------
 * The cpu backend calls entries of one shape, so that a source of a few lines is written that includes the
 * kernel and calls it with the problem's arguments. */

/* Appends an argument's type as C or C++ names it. */
static void append_type(const kf_t1_argument *argument, bool cxx, kf_text *text) {
    static const char *const wholes[2][4] = {{"uint8_t", "uint16_t", "uint32_t", "uint64_t"},
                                             {"int8_t", "int16_t", "int32_t", "int64_t"}};
    const kf_t1_type *type = &argument->type;
    const size_t bytes = type->bytes;
    if (strncmp(type->name, "bool", 4) == 0)
        kf_text_append(text, "%s", cxx ? "bool" : "_Bool");
    else if (type->real)
        kf_text_append(text, "%s", bytes == 2 ? "_Float16" : bytes == 4 ? "float" : "double");
    else
        kf_text_append(text, "%s",
                       wholes[type->is_signed][bytes == 1   ? 0
                                               : bytes == 2 ? 1
                                               : bytes == 4 ? 2
                                                            : 3]);
}

/* Appends the entry by which the cpu backend calls a function of C or C++, with its arguments from one
 * struct. */
static void append_entry(const kf_t1_problem *problem, kf_text *text) {
    const bool cxx = problem->language == KF_T1_CXX;
    kf_text_append(text, "typedef struct kf_t1_packed {\n    int extent[3];\n");
    for (int i = 0; i < problem->argument_count; i++) {
        kf_text_append(text, "    ");
        append_type(&problem->arguments[i], cxx, text);
        kf_text_append(text, " %skf_argument_%d;\n", problem->arguments[i].scalar ? "" : "*", i);
    }
    kf_text_append(text,
                   "} kf_t1_packed;\n"
                   "%svoid %s(const int *block, int64_t first, int64_t last, const void *packed);\n"
                   "void %s(const int *block, int64_t first, int64_t last, const void *packed) {\n"
                   "    const kf_t1_packed *all = (const kf_t1_packed *)packed;\n"
                   "#ifdef _OPENMP\n    omp_set_num_threads(KF_T1_THREADS);\n#endif\n"
                   "    %s(",
                   cxx ? "extern \"C\" " : "", kf_t1_plain_entry, kf_t1_plain_entry, problem->kernel_name);
    for (int i = 0; i < problem->argument_count; i++)
        kf_text_append(text, "%s%sall->kf_argument_%d", i > 0 ? ", " : "",
                       cxx || problem->arguments[i].scalar ? "" : "(void *)", i);
    kf_text_append(text, ");\n}\n");
}

/* --- The source ------------------------------------------------------------------------------------------
 */

static kf_status append_files(const kf_t1_problem *problem, kf_text *text, kf_error *error) {
    if (problem->language == KF_T1_OPENCL) kf_text_append(text, "#include \"t1/opencl.h\"\n");
    for (int i = 0; i < problem->kernel_file_count; i++) {
        char *file = NULL;
        size_t size = 0;
        if (problem->language != KF_T1_OPENCL) {
            kf_text_append(text, "#include \"%s\"\n", problem->kernel_files[i]);
            continue;
        }
        KF_TRY(kf_file_read(problem->kernel_files[i], 0, &file, &size, error));
        kf_t1_translate(problem->kernel_files[i], file, text);
        free(file);
    }
    return KF_OK;
}

/* Writes the text where its name follows from its content, which goes into the key of what is compiled. */
static kf_status write_text(const kf_t1_problem *problem, const kf_text *text, char path[KF_PATH],
                            kf_error *error) {
    char folder[KF_PATH], hex[KF_HASH_HEX];
    KF_TRY(kf_cache_kernel_folder(folder, error));
    kf_hash_text(text->text, hex);
    KF_TRY(kf_path(path, error, "%s/t1-%s.%s", folder, hex, kf_t1_is_plain(problem) ? "c" : "cu"));
    return kf_file_write_atomic(path, text->text, text->length, error);
}

kf_status kf_t1_source_file(const kf_t1_problem *problem, char path[KF_PATH], kf_error *error) {
    kf_text text = {0};
    if (problem->kernel_file_count == 1 && !kf_t1_is_plain(problem) && problem->language != KF_T1_OPENCL)
        return kf_path(path, error, "%s", problem->kernel_files[0]);
    if (kf_t1_is_plain(problem))
        kf_text_append(&text, "#include <stdint.h>\n#ifdef _OPENMP\n#include <omp.h>\n#endif\n");
    kf_status status = append_files(problem, &text, error);
    if (kf_t1_is_plain(problem)) append_entry(problem, &text);
    if (status == KF_OK) status = write_text(problem, &text, path, error);
    kf_text_free(&text);
    return status;
}

/* --- Faults of a kernel's source --- */

/* Returns the end of an expression in parentheses that begins at `at`, or end when nothing closes it. */
static const char *behind_parentheses(const char *at, const char *end) {
    int depth = 0;
    for (; at < end; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0) return at + 1;
    }
    return end;
}

/* The name behind __global__ or __kernel: the first word that is followed by '(' and is no attribute, nor in
 * one's parentheses. *length 0: there is none. */
const char *kf_t1_kernel_behind(const char *at, size_t *length) {
    enum { FARTHEST = 400 };
    static const char *const attributes[] = {"__launch_bounds__", "__attribute__",  "__maxnreg__",
                                             "__cluster_dims__",  "__block_size__", "__align__"};
    const char *end = at + strnlen(at, FARTHEST), *behind;
    for (; at < end; at = behind) {
        *length = kf_t1_word_length(at);
        const char *next = at + *length + strspn(at + *length, " \t\n\r");
        bool attribute = false;
        behind = at + (*length > 0 ? *length : 1);
        for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
            attribute =
                attribute || (strlen(attributes[i]) == *length && strncmp(at, attributes[i], *length) == 0);
        if (attribute && *next == '(')
            behind = behind_parentheses(next, end);
        else if (*length > 0 && *next == '(')
            return at;
        if (*at == '{' || *at == ';') break;
    }
    *length = 0;
    return at;
}

/* Appends the names of the kernels of a text, as they stand there. */
static void list_kernels(const char *text, kf_text *names) {
    static const char *const words[] = {"__global__", "__kernel"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (const char *at = strstr(text, words[i]); at != NULL; at = strstr(at + 1, words[i])) {
            size_t length = 0;
            const char *name = kf_t1_kernel_behind(at + strlen(words[i]), &length);
            if (length > 0 && names->length < 300)
                kf_text_append(names, "%s%.*s", names->length > 0 ? ", " : "", (int)length, name);
        }
}

/* Says that the source lacks the base of KernelName: "gemm" of "my::gemm<float, 16>". */
static void say_name(const kf_t1_problem *problem, kf_error *error) {
    kf_text names = {0};
    const kf_error first = *error;
    for (int i = 0; i < problem->kernel_file_count; i++) {
        char *text = NULL;
        size_t size = 0;
        if (kf_file_read(problem->kernel_files[i], 0, &text, &size, NULL) != KF_OK) continue;
        list_kernels(text, &names);
        free(text);
    }
    (void)kf_fail(error, first.status,
                  "%s: KernelSpecification.KernelName: \"%s\" is no kernel of %s%s%s%s (%s)", problem->file,
                  problem->kernel_name, problem->kernel_files[0],
                  problem->kernel_file_count > 1 ? " and the files behind it" : "",
                  names.length > 0 ? ", which has " : "", names.length > 0 ? names.text : "", first.message);
    kf_text_free(&names);
}

kf_status kf_t1_explain(const kf_t1_problem *problem, kf_error *error) {
    const char *message = error->message;
    const bool named = strstr(message, "has no kernel") != NULL;
    const bool called =
        kf_t1_is_plain(problem) && strstr(message, problem->kernel_name) != NULL &&
        (strstr(message, "implicit declaration") != NULL || strstr(message, "undefined reference") != NULL ||
         strstr(message, "not declared") != NULL);
    if (named || called) say_name(problem, error);
    return error->status;
}
