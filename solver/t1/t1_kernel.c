/* The kernel of a T1 file: its language, files, name and the compiler's options. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/util/file.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "solver/t1/t1.h"

/* --- Options of the compiler ---------------------------------------------------------------------------- */

enum { GPU = 1, HOST = 2, PORTABLE = 4, ALL = 7 };

static unsigned compiler_of(kf_t1_language language) {
    return language == KF_T1_PORTABLE                           ? PORTABLE
           : language == KF_T1_CUDA || language == KF_T1_OPENCL ? GPU
                                                                : HOST;
}

/* A rule for options that are taken: one that is just this text, or begins so where it ends with '='. `as`
 * takes its place (for one that ends with '=', of that beginning); "": it says what is done anyway. The
 * first that suits counts. */
static const struct option_rule {
    const char *text;
    unsigned compilers;
    const char *as;
} rules[] = {
    {"-use_fast_math", GPU, "--use_fast_math"},
    {"--use_fast_math", GPU, "--use_fast_math"},
    {"-cl-fast-relaxed-math", GPU, "--use_fast_math"},
    {"-cl-mad-enable", GPU, ""},
    {"-cl-std=", GPU, ""},
    {"-maxrregcount=", GPU, "--maxrregcount="},
    {"--maxrregcount=", GPU, "--maxrregcount="},
    {"-lineinfo", GPU, "-lineinfo"},
    {"--generate-line-info", GPU, "-lineinfo"},
    {"-ftz=", GPU, "--ftz="},
    {"--ftz=", GPU, "--ftz="},
    {"-prec-div=", GPU, "--prec-div="},
    {"--prec-div=", GPU, "--prec-div="},
    {"-prec-sqrt=", GPU, "--prec-sqrt="},
    {"--prec-sqrt=", GPU, "--prec-sqrt="},
    {"-fmad=", GPU, "--fmad="},
    {"--fmad=", GPU, "--fmad="},
    {"--ptxas-options=", GPU, "--ptxas-options="},
    {"--extra-device-vectorization", GPU, "--extra-device-vectorization"},
    {"-w", GPU | HOST, "-w"},
    {"-O3", GPU, ""},
    {"-O2", GPU, ""},
    {"-std=c++20", GPU, "--std=c++20"},
    {"--std=c++20", GPU, "--std=c++20"},
    /* C++17, which the headers of CUDA need. */
    {"-std=", GPU | PORTABLE, ""},
    {"--std=", GPU | PORTABLE, ""},
    {"-std=", HOST, "-std="},
};

/* Returns whether the host's compiler takes an option, by its first letters. */
static bool host_takes(const char *text) {
    static const char *const begins[] = {"-O", "-f", "-m", "-l", "-L", "-W", "-g", "-pthread"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (strncmp(text, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

/* Translates a compiler's option. NULL: it is refused. "": there is nothing to pass on. The caller frees it.
 */
static char *translate_option(const char *text, unsigned compiler) {
    kf_text out = {0};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const size_t length = strlen(rules[i].text);
        const bool begins = rules[i].text[length - 1] == '=';
        if ((rules[i].compilers & compiler) == 0 || strncmp(text, rules[i].text, length) != 0 ||
            (!begins && text[length] != '\0'))
            continue;
        kf_text_append(&out, "%s%s", rules[i].as, begins && rules[i].as[0] != '\0' ? text + length : "");
        return out.text != NULL ? out.text : kf_duplicate("");
    }
    return compiler == HOST && host_takes(text) ? kf_duplicate(text) : NULL;
}

static kf_status refuse_option(const kf_t1_problem *problem, const char *text, kf_error *error) {
    static const char *const taken[] = {
        [GPU] =
            ("-I, -D, -U, -std=, --use_fast_math, -maxrregcount=, -lineinfo, -ftz=, -prec-div=, -prec-sqrt=, "
             "-fmad=, --ptxas-options= and -w are"),
        [HOST] = "-I, -D, -U, -std=, -O, -f, -m, -W, -w, -g, -l and -L are",
        [PORTABLE] = "-D and -std= are"};
    const bool architecture = strstr(text, "arch") != NULL || strstr(text, "gencode") != NULL;
    return kf_fail(error, KF_BAD_INPUT, "%s: KernelSpecification.CompilerOptions: '%.80s' is not taken%s%s",
                   problem->file, text,
                   architecture ? "; the architecture is the device's, leave it out" : "; only ",
                   architecture ? "" : taken[compiler_of(problem->language)]);
}

static kf_status add_option(kf_t1_problem *problem, char *text, kf_error *error) {
    if (problem->option_count == KF_T1_OPTIONS) {
        free(text);
        return kf_fail(error, KF_BAD_INPUT, "%s: more than %d CompilerOptions", problem->file, KF_T1_OPTIONS);
    }
    problem->options[problem->option_count++] = text;
    return KF_OK;
}

/* Reads "-DNAME=VALUE", "-UNAME" and "-IFOLDER" (seen from the problem file). Their value may be the next
 * option. */
static kf_status read_lettered(kf_t1_problem *problem, const char *text, const char *next, kf_error *error) {
    const char *value = text[2] != '\0' ? text + 2 : next;
    char path[KF_PATH];
    kf_text out = {0};
    if (value == NULL || value[0] == '\0' || value[0] == '=' ||
        (text[1] != 'D' && compiler_of(problem->language) == PORTABLE))
        return refuse_option(problem, text, error);
    if (text[1] == 'I') {
        KF_TRY(kf_t1_beside(problem, value, path, error));
        value = path;
    }
    kf_text_append(&out, "%.2s%s", text, value);
    return add_option(problem, out.text, error);
}

/* Reads the compiler options of a problem: defines and folders as they are, others translated for the
 * compiler, or refused. */
static kf_status read_options(kf_t1_problem *problem, const cJSON *kernel, kf_error *error) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(kernel, "CompilerOptions"), *option;
    for (option = list != NULL ? list->child : NULL; option != NULL; option = option->next) {
        const char *text = cJSON_IsString(option) ? option->valuestring : "";
        const char *next = cJSON_GetStringValue(option->next);
        if (text[0] == '-' && text[1] != '\0' && strchr("DUI", text[1]) != NULL) {
            KF_TRY(read_lettered(problem, text, next, error));
            if (text[2] == '\0') option = option->next;
            continue;
        }
        char *as = translate_option(text, compiler_of(problem->language));
        if (as == NULL) return refuse_option(problem, text, error);
        if (as[0] == '\0')
            free(as);
        else
            KF_TRY(add_option(problem, as, error));
    }
    return KF_OK;
}

/* --- Files ---------------------------------------------------------------------------------------------- */

kf_status kf_t1_beside(const kf_t1_problem *problem, const char *file, char path[KF_PATH], kf_error *error) {
    const char *slash = strrchr(problem->file, '/');
    if (file[0] == '/' || slash == NULL) return kf_path(path, error, "%s", file);
    return kf_path(path, error, "%.*s/%s", (int)(slash - problem->file), problem->file, file);
}

/* Finds the source by the file's own path, else in the folders searched. */
static kf_status find_source(const kf_t1_problem *problem, const char *file, char found[KF_PATH], bool *there,
                             kf_error *error) {
    char path[KF_PATH];
    KF_TRY(kf_t1_beside(problem, file, path, error));
    *there = kf_real_path(path, found);
    if (!*there) memcpy(found, path, sizeof path);
    return KF_OK;
}

static kf_status add_file(kf_t1_problem *problem, const char *file, kf_error *error) {
    char path[KF_PATH];
    bool there = false;
    if (file == NULL || file[0] == '\0' || problem->kernel_file_count == KF_T1_FILES)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: KernelSpecification.KernelFile: must be the name of a file, or a list of up to %d",
            problem->file, KF_T1_FILES);
    KF_TRY(find_source(problem, file, path, &there, error));
    problem->kernel_files[problem->kernel_file_count] = kf_duplicate(path);
    if (!there && problem->missing_file == NULL)
        problem->missing_file = problem->kernel_files[problem->kernel_file_count];
    problem->kernel_file_count++;
    return KF_OK;
}

static kf_status read_files(kf_t1_problem *problem, const cJSON *kernel, kf_error *error) {
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(kernel, "KernelFile"), *file;
    if (problem->candidate[0] != '\0') return add_file(problem, problem->candidate, error);
    if (!cJSON_IsArray(files) || files->child == NULL)
        return add_file(problem, cJSON_GetStringValue(files), error);
    cJSON_ArrayForEach(file, files) KF_TRY(add_file(problem, cJSON_GetStringValue(file), error));
    return KF_OK;
}

static bool has_word(const char *text, const char *word) {
    const size_t length = strlen(word);
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        if ((at == text || strchr(letters, at[-1]) == NULL) &&
            (at[length] == '\0' || strchr(letters, at[length]) == NULL))
            return true;
    return false;
}

/* Reads what the text of the files asks for: the grid's size as a define, and OpenMP. */
static kf_status read_wishes(kf_t1_problem *problem, kf_error *error) {
    static const char *const words[] = {"grid_size_x", "grid_size_y", "grid_size_z"};
    bool openmp = false;
    for (int i = 0; i < problem->kernel_file_count && problem->missing_file == NULL; i++) {
        char *text = NULL;
        size_t size = 0;
        KF_TRY(kf_file_read(problem->kernel_files[i], 0, &text, &size, error));
        for (int axis = 0; axis < 3; axis++)
            problem->says_grid[axis] = problem->says_grid[axis] || has_word(text, words[axis]);
        openmp = openmp || strstr(text, "pragma omp") != NULL || strstr(text, "omp.h") != NULL;
        free(text);
    }
    if (openmp && kf_t1_is_plain(problem)) return add_option(problem, kf_duplicate("-fopenmp"), error);
    return KF_OK;
}

static kf_status read_reference(kf_t1_problem *problem, kf_json_place place, const cJSON *kernel,
                                kf_error *error) {
    const char *file = NULL, *name = problem->kernel_name;
    bool there = false;
    KF_TRY(kf_json_string(place, kernel, "ReferenceFile", false, &file, error));
    KF_TRY(kf_json_string(place, kernel, "ReferenceName", false, &name, error));
    if (file == NULL) return KF_OK;
    KF_TRY(find_source(problem, file, problem->reference_file, &there, error));
    kf_copy_text(problem->reference_name, sizeof problem->reference_name, name);
    if (there) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: KernelSpecification.ReferenceFile: %s is not there; kftune looks for it in the "
                   "problem file's folder",
                   problem->file, problem->reference_file);
}

/* Returns the language of a candidate by its name. It may differ from that of the kernel that it replaces. */
static kf_t1_language language_of(const char *file, kf_t1_language usual) {
    static const struct {
        const char *ending;
        kf_t1_language language;
    } endings[] = {{".c", KF_T1_C}, {".cpp", KF_T1_CXX}, {".cc", KF_T1_CXX}, {".cl", KF_T1_OPENCL}};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; i < sizeof endings / sizeof *endings && dot != NULL; i++)
        if (strcmp(dot, endings[i].ending) == 0) return endings[i].language;
    return usual == KF_T1_PORTABLE ? usual : KF_T1_CUDA;
}

/* Reads the language. HIP's device code is that of CUDA, unless it needs a header of its own. */
static kf_status read_language(kf_t1_problem *problem, kf_json_place place, const cJSON *kernel,
                               kf_error *error) {
    static const char *const names[] = {"CUDA", "portable", "C", "C++", "OpenCL", "HIP"};
    int language = 0;
    KF_TRY(kf_json_choice(place, kernel, "Language", true, names, sizeof names / sizeof *names, &language,
                          error));
    problem->language = language == KF_T1_LANGUAGES ? KF_T1_CUDA : (kf_t1_language)language;
    if (problem->candidate[0] != '\0') problem->language = language_of(problem->candidate, problem->language);
    return KF_OK;
}

kf_status kf_t1_read_kernel(kf_t1_problem *problem, const cJSON *kernel, kf_error *error) {
    const kf_json_place place = {problem->file, "KernelSpecification"};
    const char *name = NULL;
    KF_TRY(read_language(problem, place, kernel, error));
    KF_TRY(kf_json_string(place, kernel, "KernelName", true, &name, error));
    if (name[0] == '\0' || strlen(name) >= sizeof problem->kernel_name)
        return kf_fail(error, KF_BAD_INPUT, "%s: KernelSpecification.KernelName: must be 1 to %zu characters",
                       problem->file, sizeof problem->kernel_name - 1);
    kf_copy_text(problem->kernel_name, sizeof problem->kernel_name, name);
    KF_TRY(read_files(problem, kernel, error));
    KF_TRY(read_reference(problem, place, kernel, error));
    KF_TRY(read_options(problem, kernel, error));
    return read_wishes(problem, error);
}
