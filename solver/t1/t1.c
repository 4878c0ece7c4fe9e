#include "solver/t1/t1.h"

#include <stdlib.h>
#include <string.h>

static void release(void *own) {
    kf_t1_release(own);
}

kf_problem *kf_t1_wrap(kf_t1_problem *own, bool owned) {
    kf_problem *problem = kf_problem_make(own, owned ? release : NULL);
    const int size[3] = {(int)own->size[0], (int)own->size[1], (int)own->size[2]};
    kf_copy_text(problem->name, sizeof problem->name, own->name);
    kf_copy_text(problem->source, sizeof problem->source, own->file);
    memcpy(problem->hash, own->hash, sizeof problem->hash);
    problem->seed = 1;
    kf_facts_size(&problem->facts, size, "");
    kf_facts_amount(&problem->facts, "element_count", (double)size[0] * size[1] * size[2], "elements");
    /* Other tuners look for this name in their caches. */
    if (strlen(own->kernel_name) < KF_NAME) kf_facts_word(&problem->facts, "kernel", own->kernel_name);
    if (own->notes.length > 0) kf_note(&problem->notes, "%s", own->notes.text);
    return problem;
}

static kf_status open_file(const char *source, const kf_problem_options *options, kf_problem **problem,
                           kf_error *error) {
    kf_t1_problem *own = NULL;
    if (options->candidate != NULL)
        KF_TRY(kf_t1_read_candidate(source, options->candidate, options->nodes, &own, error));
    else
        KF_TRY(kf_t1_read(source, options->nodes, &own, error));
    kf_status status = KF_OK;
    if (options->samples_per_cell > 0)
        status =
            kf_fail(error, KF_BAD_INPUT,
                    "option '--samples-per-cell': the kernel of %s has no samples; leave it out", source);
    else if (options->accuracy > 0)
        status = kf_fail(error, KF_BAD_INPUT, "option '--accuracy': the kernel of %s has none; leave it out",
                         source);
    if (status == KF_OK)
        *problem = kf_t1_wrap(own, true);
    else
        kf_t1_release(own);
    return status;
}

/* Makes the trial. Configs are verified on the problem itself, because a config may be right for a smaller
 * problem only. */
static kf_status make_trial(const kf_problem *problem, kf_problem **small, int *steps, kf_error *error) {
    const kf_t1_problem *own = problem->own;
    if (own->missing_file != NULL)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: KernelSpecification.KernelFile: %s is not there; kftune looks for it in the "
                       "problem file's folder",
                       own->file, own->missing_file);
    *small = kf_t1_wrap(problem->own, false);
    /* Each verified launch starts from fresh arguments. */
    *steps = 1;
    return KF_OK;
}

static kf_status accepts(const kf_problem *problem, kf_error *error) {
    (void)problem, (void)error;
    return KF_OK;
}

static kf_status accepts_device(const kf_problem *problem, const kf_device_info *device, kf_error *error) {
    const kf_t1_problem *own = problem->own;
    const bool gpu = kf_device_is_gpu(device);
    if (kf_t1_is_plain(own) && gpu)
        return kf_fail(error, KF_BAD_INPUT, "%s is C, and this device is a GPU; tune it with --device cpu",
                       own->kernel_files[0]);
    if (!kf_t1_needs_gpu(own) || gpu) return KF_OK;
    return kf_fail(error, KF_MACHINE,
                   "%s is %s and needs a GPU, this device is the cpu, which takes functions in C (Language "
                   "\"C\"); a kernel written with kernels/portable.h (Language \"portable\") runs on both",
                   own->kernel_files[0], own->language == KF_T1_OPENCL ? "OpenCL" : "CUDA");
}

static void describe(const kf_problem *problem, const kf_device_info *device, kf_variables *variables) {
    (void)device;
    const kf_t1_problem *own = problem->own;
    memset(variables, 0, sizeof *variables);
    variables->declaration = own->declaration;
    variables->declaration_file = own->file;
}

/* Lists the scalars of the file that the kernel is called with, such as "n". */
static void visit_scalars(const kf_problem *problem,
                          void (*visit)(void *context, const char *name, double value), void *context) {
    const kf_t1_problem *own = problem->own;
    for (int i = 0; i < own->argument_count; i++)
        if (own->arguments[i].scalar) visit(context, own->arguments[i].name, own->arguments[i].fill_value);
}

static const char *const sections[] = {"ConfigurationSpace", "KernelSpecification", NULL};

const kf_system kf_system_t1 = {
    .name = "t1",
    .summary = "a kernel that is not kftune's, from its T1 problem file",
    .update = "item",
    .sections = sections,
    .program_ending = ".t1.json",
    .open = open_file,
    .trial = make_trial,
    .accepts = accepts,
    .accepts_device = accepts_device,
    .variables = describe,
    .numbers = visit_scalars,
    .plan = kf_t1_plan,
    .sources = kf_t1_sources,
    .reference = kf_t1_reference,
    .verify = kf_t1_verify,
    .recheck = kf_t1_recheck,
    .examine = kf_t1_examine,
    .free_reference = kf_t1_free_reference,
};
