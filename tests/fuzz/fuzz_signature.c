/* Reads any bytes as the source of a T1 kernel, and the types of its parameters. The first byte chooses
 * the language. */
#include "tests/fuzz/fuzz_file.h"

#include "base/util/memory.h"
#include "solver/t1/t1.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const kf_t1_language languages[] = {KF_T1_CUDA, KF_T1_C, KF_T1_OPENCL, KF_T1_PORTABLE};
    static const char *const names[] = {"smooth", "a::smooth<float, 3>", "smooth<T<int>, ", "<", "::"};
    if (size == 0) return 0;
    kf_error error = {KF_OK, ""};
    kf_t1_problem *problem = kf_allocate_zeroed(1, sizeof *problem);
    kf_copy_text(problem->file, sizeof problem->file, "fuzz.t1.json");
    kf_copy_text(problem->kernel_name, sizeof problem->kernel_name, names[data[0] / 4 % 5]);
    problem->language = languages[data[0] % 4];
    problem->kernel_files[0] = kf_duplicate(fuzz_file(data + 1, size - 1, ".cu"));
    problem->kernel_file_count = 1;
    problem->options[0] = kf_duplicate("-Doption=int x");
    problem->option_count = 1;
    for (int i = 0; i < 3; i++) {
        kf_t1_argument *argument = &problem->arguments[problem->argument_count++];
        (void)snprintf(argument->name, sizeof argument->name, "argument_%d", i);
        (void)kf_t1_find_type(i == 2 ? "int32" : "float", &argument->type);
        argument->scalar = i == 2;
        argument->constant = i == 1;
    }
    fuzz_check(kf_t1_check_signature(problem, &error), &error);
    kf_t1_release(problem);
    return 0;
}
