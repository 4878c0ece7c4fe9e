/* Compiles kernels and prints what they become. `kernel_code list DRAWN` prints the sources of all known
 * configs, of so many others of each flow (known_configs.h) and of the kernels that belong to no plan,
 * each once, as the words of a compiler: FILE -DNAME=VALUE ... `kernel_code presets` prints those of the
 * presets on GPUs alone. `kernel_code code ARCHITECTURE` (sm_90, or
 * cpu: this machine's) reads such lines and prints each behind the hash of its machine code; with a FOLDER
 * behind it, it leaves the objects there, named by the number of the line. scripts/kernel-code.sh calls
 * both. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/backend/cache.h"
#include "base/plan/system.h"
#include "base/util/text.h"
#include "tests/tools/known_configs.h"
#include "tests/tools/recording_backend.h"
#include "tests/unit/modelled_gpu.h"

static bool begins_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* --- The list --------------------------------------------------------------------------------------------
 */

enum { MOST_SOURCES = 16384 };
typedef struct source_lines {
    char *list[MOST_SOURCES];
    int count;
    bool presets;   /* on GPUs alone */
    kf_error error; /* of the first config whose sources could not be listed */
} source_lines;

/* Takes the line, unless it is already there. */
static void add_line(source_lines *lines, char *line) {
    for (int i = 0; i < lines->count; i++)
        if (strcmp(lines->list[i], line) == 0) {
            free(line);
            return;
        }
    if (lines->count == MOST_SOURCES) abort();
    lines->list[lines->count++] = line;
}

/* A scheme's kernels are checked by another source with the same defines, which no plan names. */
static void add_check(source_lines *lines, const char *line) {
    const char *defines = strchr(line, ' ');
    const bool is_scheme =
        begins_with(line, "kernels/sph/modern.cu ") || begins_with(line, "kernels/sph/thesis.cu ");
    kf_text check = {0};
    if (!is_scheme) return;
    kf_text_append(&check, "kernels/sph/check.cu%s", defines);
    add_line(lines, check.text);
}

static kf_status add_source(const kf_source *source, void *data, kf_error *error) {
    kf_text line = {0};
    for (int i = 0; i < source->define_count; i++)
        if (strchr(source->defines[i].value, ' ') != NULL)
            return kf_fail(error, KF_BAD_INPUT,
                           "%s: %s has a space in its value, which ends a word of this list", source->file,
                           source->defines[i].name);
    kf_text_append(&line, "%s", source->file);
    for (int i = 0; i < source->define_count; i++)
        kf_text_append(&line, " -D%s=%s", source->defines[i].name, source->defines[i].value);
    add_check(data, line.text);
    add_line(data, line.text);
    return KF_OK;
}

static void add_config(void *data, const known_config *known) {
    source_lines *lines = data;
    kf_error error = {KF_OK, ""};
    const kf_device_info *device = kf_backend_device(known->backend);
    if (lines->presets && !(known->is_preset && kf_device_is_gpu(device))) return;
    const kf_status status =
        known->problem->system->sources(known->problem, known->config, device, add_source, lines, &error);
    if (status != KF_OK && lines->error.status == KF_OK) lines->error = error;
}

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* These are added to the known launches, because only a GPU, or only these scenes, can have them. */
static const known_flow other_flows[] = {
    {"kinetic", "ball", &gpu, 1, false, {128, 96, 96}, NULL, NULL, 0, NULL},
    {"kinetic", "spinning_torus", &gpu, 1, false, {128, 96, 96}, NULL, NULL, 0, NULL},
    {"kinetic", "ball", &gpu, 1, false, {0}, "adaptive_2020", "ones", 0, NULL},
    {"kinetic", "ball", &gpu, 1, true, {128, 96, 96}, "adaptive_2020", "ones", 0, NULL},
    {"kinetic", "ball", &gpu, 4, true, {128, 96, 96}, "adaptive_2020", "ones", 0, NULL},
    {"kinetic", "ball", &recording_host, 1, false, {0}, "adaptive_2020", "ones", 0, NULL},
    {"kinetic", "ball", &gpu, 1, false, {0}, "adaptive_2020", "constant", 0, NULL},
    {"kinetic", "ball", &gpu, 1, false, {0}, "acm_mrt\", \"rates\": \"adaptive_2020", "bgk", 0, NULL},
    {"kinetic", "spinning_torus", &gpu, 1, false, {0}, "adaptive_2020", "ones", 0, NULL},
    {"kinetic", "settling", &gpu, 1, false, {0}, "adaptive_2020", "ones", 0, NULL},
    {"kinetic", "spinning_torus", &gpu, 4, false, {0}, NULL, NULL, 0, NULL},
    {"kinetic", "settling", &gpu, 1, false, {0}, NULL, NULL, 0, NULL},
    {"stable_fluids", "plume", &gpu, 1, false, {0}, NULL, NULL, 0, NULL},
    {"stable_fluids", "decay", &gpu, 1, false, {0}, NULL, NULL, 0, NULL},
    {"stable_fluids", "plume3d", &gpu, 1, false, {0}, NULL, NULL, 0, NULL},
    {"stable_fluids", "stress", &gpu, 1, false, {0}, NULL, NULL, 0, NULL},
    {"incompressible", "plate", &gpu, 1, false, {0}, NULL, NULL, 0, NULL},
    {"sph", "river", &gpu, 1, false, {0}, NULL, NULL, 0, NULL},
    {"sph", "avalanche", &gpu, 1, false, {0}, NULL, NULL, 0, NULL},
    {"sph", "dam_break_2d", &gpu, 1, false, {0}, NULL, NULL, 0, NULL},
    {"sph",
     "river",
     &gpu,
     1,
     false,
     {0},
     "\"artificial_viscosity\": 0.05, \"tension\": false",
     "\"scheme\": \"thesis\"",
     0,
     NULL},
    {.system = NULL},
};

static kf_status add_flows(source_lines *lines, const known_flow *flows, int drawn, kf_error *error) {
    for (; flows->system != NULL; flows++) {
        known_flow flow = *flows;
        flow.drawn = drawn;
        KF_TRY(each_known_config(&flow, add_config, lines, error));
    }
    return KF_OK;
}

static kf_status list_sources(int drawn, bool presets, kf_error *error) {
    static const char *const others[] = {
        "kernels/probe/busy.cu",
        "kernels/probe/clock.cu",
        "kernels/probe/simple.cu",
        "kernels/probe/truth.cu",
        "kernels/roofs/atomics.cu",
        "kernels/roofs/copy.cu",
        "kernels/roofs/multiply_add.cu -DROOF_BITS=16",
        "kernels/roofs/multiply_add.cu -DROOF_BITS=32",
        "kernels/roofs/multiply_add.cu -DROOF_BITS=64",
        "kernels/smoke/picture.cu",
        "kernels/smoke/tracers.cu",
    };
    static source_lines lines;
    lines.presets = presets;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        add_line(&lines, kf_duplicate(others[i]));
    KF_TRY(add_flows(&lines, known_flows, drawn, error));
    KF_TRY(add_flows(&lines, other_flows, drawn, error));
    if (lines.error.status != KF_OK) return kf_fail(error, lines.error.status, "%s", lines.error.message);
    qsort(lines.list, (size_t)lines.count, sizeof lines.list[0], compare_lines);
    for (int i = 0; i < lines.count; i++) {
        printf("%s\n", lines.list[i]);
        free(lines.list[i]);
    }
    return KF_OK;
}

/* --- Machine code ----------------------------------------------------------------------------------------
 */

/* Code consists of instructions, constants and what a launch must know. Symbols are left out, because
 * their names may depend on the source's text. */
static bool is_code(const char *section) {
    return begins_with(section, ".text") || begins_with(section, ".rodata") ||
           begins_with(section, ".nv.constant") || begins_with(section, ".nv.global") ||
           begins_with(section, ".nv.shared");
}

/* This machine's compilers have just made the object. */
static void hash_code(const unsigned char *object, char hex[KF_HASH_HEX]) {
    const Elf64_Ehdr *header = (const void *)object;
    const Elf64_Shdr *sections = (const void *)(object + header->e_shoff);
    const char *names = (const char *)object + sections[header->e_shstrndx].sh_offset;
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    for (int i = 0; i < header->e_shnum; i++) {
        const char *name = names + sections[i].sh_name;
        if (!is_code(name)) continue;
        kf_hash_add_string(&hasher, name);
        kf_hash_add(&hasher, &sections[i].sh_size, sizeof sections[i].sh_size);
        if (sections[i].sh_type != SHT_NOBITS)
            kf_hash_add(&hasher, object + sections[i].sh_offset, sections[i].sh_size);
    }
    kf_hash_end(&hasher, hex);
}

/* Prints the code of a source. The object is left in the folder under that number, unless folder is NULL. */
static kf_status print_code(const kf_device_info *device, const kf_source *source, const char *line,
                            const char *folder, int number, kf_error *error) {
    kf_build build;
    void *object = NULL;
    size_t size = 0;
    char hex[KF_HASH_HEX];
    KF_TRY(kf_source_prebuild(device, source, &build, error));
    if (!kf_cache_get(build.hash, kf_device_is_gpu(device) ? "cubin" : "so", &object, &size))
        return kf_fail(error, KF_HOST, "%s: the machine code is not in the cache", source->file);
    hash_code(object, hex);
    char path[KF_PATH];
    kf_status status = KF_OK;
    if (folder != NULL) status = kf_path(path, error, "%s/%d", folder, number);
    if (folder != NULL && status == KF_OK) status = kf_file_write_own(path, object, size, error);
    free(object);
    printf("%.16s %s\n", hex, line);
    (void)fflush(stdout);
    return status;
}

/* Takes "FILE -DNAME=VALUE ..." apart, in place. */
static kf_status read_source(char *words, kf_source *source, kf_defines *defines, kf_error *error) {
    defines->count = 0;
    char *rest = NULL;
    source->file = strtok_r(words, " ", &rest);
    for (char *word; source->file != NULL && (word = strtok_r(NULL, " ", &rest)) != NULL;) {
        char *value = strchr(word, '=');
        if (!begins_with(word, "-D") || value == NULL || defines->count == KF_DEFINES)
            return kf_fail(error, KF_BAD_INPUT, "%s: '%s' is not -DNAME=VALUE", source->file, word);
        *value = '\0';
        kf_define_text(defines, word + 2, "%s", value + 1);
    }
    source->defines = defines->list;
    source->define_count = defines->count;
    return KF_OK;
}

static kf_status print_codes(const char *architecture, const char *folder, kf_error *error) {
    kf_device_info device = {.backend = "cuda"};
    char *line = NULL;
    size_t room = 0;
    kf_status status = KF_OK;
    if (strcmp(architecture, "cpu") == 0)
        KF_TRY(kf_cpu_device_describe(&device, error));
    else
        kf_copy_text(device.architecture, sizeof device.architecture, architecture);
    kf_compiler_stay(&device);
    for (int number = 1; status == KF_OK && getline(&line, &room, stdin) >= 0; number++) {
        kf_source source;
        kf_defines defines;
        line[strcspn(line, "\n")] = '\0';
        char *words = kf_duplicate(line);
        status = read_source(words, &source, &defines, error);
        if (status == KF_OK) status = print_code(&device, &source, line, folder, number, error);
        free(words);
    }
    free(line);
    return status;
}

int main(int count, char **words) {
    kf_error error = {KF_OK, ""};
    kf_status status = KF_BAD_INPUT;
    if (count == 3 && strcmp(words[1], "list") == 0)
        status = list_sources(atoi(words[2]), false, &error);
    else if (count == 2 && strcmp(words[1], "presets") == 0)
        status = list_sources(0, true, &error);
    else if ((count == 3 || count == 4) && strcmp(words[1], "code") == 0)
        status = print_codes(words[2], count == 4 ? words[3] : NULL, &error);
    else
        kf_fail(&error, status,
                "usage: kernel_code list DRAWN | kernel_code presets | kernel_code code ARCHITECTURE "
                "[FOLDER] < LIST");
    if (status != KF_OK) fprintf(stderr, "kernel_code: %s\n", error.message);
    return status == KF_OK ? 0 : status == KF_BAD_INPUT ? 2 : 3;
}
