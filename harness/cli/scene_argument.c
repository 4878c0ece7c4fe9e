#include "harness/cli/scene_argument.h"
#include "scene/scene.h"

static kf_status open_problem(const kf_arguments *arguments, const kf_command *command,
                              const kf_system *system, kf_scene **scene, kf_error *error) {
    static const char *const useless[] = {"--scene", "--grid", "--samples-per-cell"};
    for (int i = 0; i < 3; i++)
        if (kf_argument_given(arguments, useless[i]))
            return kf_fail(error, KF_BAD_INPUT,
                           "option '%s': system %s has no scenes; give --problem FILE alone", useless[i],
                           system->name);
    const char *file = kf_argument(arguments, "--problem", NULL);
    if (file == NULL)
        return kf_fail(error, KF_BAD_INPUT, "%s: option '--problem FILE' is missing; system %s needs it",
                       command->name, system->name);
    return system->open_problem(file, scene, error);
}

kf_status kf_argument_scene(const kf_arguments *arguments, const kf_command *command, const kf_system *system,
                            const kf_scene_options *options, kf_scene **scene, kf_error *error) {
    *scene = NULL;
    if (system->open_problem != NULL) return open_problem(arguments, command, system, scene, error);
    if (kf_argument_given(arguments, "--problem"))
        return kf_fail(error, KF_BAD_INPUT, "option '--problem': system %s works on scenes; add --system t1",
                       system->name);
    const char *name = kf_argument(arguments, "--scene", NULL);
    if (name == NULL)
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: option '--scene FILE|NAME' is missing; 'kftune list scenes' names the shipped ones",
            command->name);
    return kf_scene_open(name, options, scene, error);
}
