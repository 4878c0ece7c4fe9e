/* Holds a problem's arguments against the parameters that the kernel has in its source. */
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "solver/t1/t1.h"

/* Writes what a T1 file calls a type. */
static void name_type(const kf_t1_type *type, char name[16]) {
    const char *real = type->bytes == 2 ? "half" : type->bytes == 4 ? "float" : "double";
    char components[8] = "";
    if (type->components > 1) (void)snprintf(components, sizeof components, "%d", type->components % 100);
    if (type->real)
        (void)snprintf(name, 16, "%s%s", real, components);
    else if (type->components > 1 || strcmp(type->name, "bool") == 0)
        (void)snprintf(name, 16, "%s", type->name);
    else
        (void)snprintf(name, 16, "%sint%d", type->is_signed ? "" : "u", 8 * (int)type->bytes % 100);
}

static kf_status refuse(const kf_t1_problem *problem, int number, const kf_t1_parameter_text *p,
                        const kf_t1_signature *known, kf_error *error) {
    const kf_t1_argument *argument = &problem->arguments[number];
    char cure[16] = "", name[32] = "";
    if (p->known) {
        kf_t1_type type = p->type;
        if (p->pointer) type.components = 1;
        name_type(&type, cure);
        (void)snprintf(name, sizeof name, "%s of %s", p->pointer ? "a Vector" : "a Scalar", cure);
    }
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: KernelSpecification.Arguments[%d]: %s is a %s of %s, and the kernel %.*s of %s has "
                   "'%s' there, which is %s",
                   problem->file, number, argument->name, argument->scalar ? "Scalar" : "Vector",
                   argument->type.name, (int)strcspn(known->kernel, "<"), known->kernel, known->file, p->text,
                   p->known     ? name
                   : p->pointer ? "a Vector"
                                : "a Scalar");
}

/* Compares the type of a value. C functions get scalars as a call converts them. A GPU's kernel may move its
 * values as vectors, or read them byte by byte. */
static kf_status compare_bits(kf_t1_problem *problem, int number, const kf_t1_parameter_text *p,
                              const kf_t1_signature *known, kf_error *error) {
    const kf_t1_argument *argument = &problem->arguments[number];
    const kf_t1_type *given = &argument->type, *own = &p->type;
    const bool fits = argument->fill != KF_T1_CONSTANT || kf_t1_fits(own, argument->fill_value);
    const bool equal = given->real == own->real && given->bytes == own->bytes;
    if (argument->scalar && known->converts) return fits ? KF_OK : refuse(problem, number, p, known, error);
    if (argument->scalar && (!equal || given->components != own->components))
        return refuse(problem, number, p, known, error);
    const bool moved = !own->real && (own->components > 1 || (p->pointer && own->bytes == 1));
    if (!equal && !moved) return refuse(problem, number, p, known, error);
    if (!equal)
        kf_note(&problem->notes, "%s is %s, and the kernel has '%s': the same bits", argument->name,
                given->name, p->text);
    else if (!p->either && !given->real && given->is_signed != own->is_signed && (!argument->scalar || !fits))
        kf_note(&problem->notes, "%s is %s, and the kernel has '%s': the same bits with another sign",
                argument->name, given->name, p->text);
    return KF_OK;
}

/* Compares one argument with one parameter. */
static kf_status compare(kf_t1_problem *problem, int number, const kf_t1_parameter_text *p,
                         const kf_t1_signature *known, kf_error *error) {
    const bool scalar = problem->arguments[number].scalar;
    if (scalar ? p->pointer : !p->pointer && p->known) return refuse(problem, number, p, known, error);
    return p->known ? compare_bits(problem, number, p, known, error) : KF_OK;
}

/* Compares all arguments. One in constant memory may also be a parameter. */
static kf_status compare_all(kf_t1_problem *problem, const kf_t1_signature *known, kf_error *error) {
    int constants = 0, at = 0;
    kf_text all = {0};
    for (int i = 0; i < problem->argument_count; i++)
        constants += problem->arguments[i].constant;
    const bool with_constants = known->count == problem->argument_count;
    if (!with_constants && known->count != problem->argument_count - constants) {
        for (int i = 0; i < known->count; i++)
            kf_text_append(&all, "%s%s", i > 0 ? ", " : "", known->list[i].text);
        (void)kf_fail(error, KF_BAD_INPUT,
                      "%s: KernelSpecification.Arguments: are %d%s, and the kernel %.*s of %s has "
                      "%d: (%.300s)",
                      problem->file, problem->argument_count - constants,
                      constants > 0 ? " without those in constant memory" : "",
                      (int)strcspn(known->kernel, "<"), known->kernel, known->file, known->count,
                      all.text != NULL ? all.text : "");
        kf_text_free(&all);
        return error->status;
    }
    for (int i = 0; i < problem->argument_count; i++)
        if (with_constants || !problem->arguments[i].constant)
            KF_TRY(compare(problem, i, &known->list[at++], known, error));
        else if (known->constants[i].known)
            KF_TRY(compare_bits(problem, i, &known->constants[i], known, error));
    return KF_OK;
}

kf_status kf_t1_check_signature(kf_t1_problem *problem, kf_error *error) {
    /* It is too large for a thread's stack. */
    kf_t1_signature *known = kf_allocate(sizeof *known);
    kf_status status = KF_OK;
    for (int reference = 0; reference < 2 && status == KF_OK; reference++)
        if (kf_t1_read_signature(problem, reference == 1, known)) status = compare_all(problem, known, error);
    free(known);
    return status;
}
