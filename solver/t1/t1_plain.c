/* Kernels in plain C: a function of the problem's arguments, called once a launch. The cpu backend calls
 * entries of one shape, so that a source of a few lines is written, beside what is compiled, that includes
 * the kernel and calls it. */
#include <string.h>

#include "base/backend/cache.h"
#include "base/util/file.h"
#include "solver/t1/t1.h"

const char kf_t1_plain_entry[] = "kf_t1_entry";

static const char *type_of(const kf_t1_argument *argument) {
    static const char *const wholes[2][4] = {{"uint8_t", "uint16_t", "uint32_t", "uint64_t"},
                                             {"int8_t", "int16_t", "int32_t", "int64_t"}};
    const size_t bytes = argument->type->bytes;
    if (argument->type->real) return bytes == sizeof(float) ? "float" : "double";
    return wholes[argument->type->is_signed][bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
}

static void write_source(const kf_t1_problem *problem, kf_text *text) {
    kf_text_append(
        text, "#include <stdint.h>\n#include \"%s\"\ntypedef struct kf_t1_packed {\n    int extent[3];\n",
        problem->kernel_file);
    for (int i = 0; i < problem->argument_count; i++)
        kf_text_append(text, "    %s %skf_argument_%d;\n", type_of(&problem->arguments[i]),
                       problem->arguments[i].scalar ? "" : "*", i);
    kf_text_append(text,
                   "} kf_t1_packed;\n"
                   "void %s(const int *block, int64_t first, int64_t last, const void *packed);\n"
                   "void %s(const int *block, int64_t first, int64_t last, const void *packed) {\n"
                   "    const kf_t1_packed *all = packed;\n    %s(",
                   kf_t1_plain_entry, kf_t1_plain_entry, problem->kernel_name);
    for (int i = 0; i < problem->argument_count; i++)
        kf_text_append(text, "%sall->kf_argument_%d", i > 0 ? ", " : "", i);
    kf_text_append(text, ");\n}\n");
}

kf_status kf_t1_plain_source(const kf_t1_problem *problem, char path[KF_PATH], kf_error *error) {
    char folder[KF_PATH], hex[KF_HASH_HEX];
    kf_text text = {0};
    kf_hasher hasher;
    KF_TRY(kf_cache_kernel_folder(folder, error));
    write_source(problem, &text);
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, text.text);
    kf_hash_end(&hasher, hex);
    /* The name follows from the content, and goes into the key of what is compiled. */
    kf_status status = kf_path(path, error, "%s/t1-%s.c", folder, hex);
    if (status == KF_OK) status = kf_file_write_atomic(path, text.text, strlen(text.text), error);
    kf_text_free(&text);
    return status;
}
