/* Reads "material" and "model" of particle scenes. */
#include <math.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/vector.h"
#include "scene/particles_internal.h"

const char *const kf_scheme_names[KF_SCHEMES] = {"modern", "thesis"};
const char *const kf_branch_names[KF_BRANCHES] = {"biviscous", "papanastasiou", "elastic"};
const char *const kf_law_names[KF_LAWS] = {"newtonian",        "power", "bingham",
                                           "herschel_bulkley", "mu_i",  "drucker_prager"};

static const double PI = 3.14159265358979323846;

/* The units of the file, expressed in those of the scene. */
typedef struct units {
    double stress, viscosity, time;
} units;

static units units_of(const kf_particle_scene *s) {
    const double stress = s->density * s->sound_speed * s->sound_speed;
    return (units){.stress = 1.0 / stress,
                   .viscosity = 1.0 / (s->density * s->sound_speed * s->spacing),
                   .time = s->sound_speed / s->spacing};
}

/* Reads viscosity and power law of a material (Pa s, Pa s^n) into the scene's units. */
static kf_status read_flow(kf_json_place place, const cJSON *object, kf_particle_scene *s, kf_error *error) {
    kf_material *m = &s->material;
    const units u = units_of(s);
    const bool newtonian = m->law == KF_LAW_NEWTONIAN;
    double viscosity = 0.0, consistency = 0.0, limit = 0.0, growth = 100.0;
    m->exponent = 1.0;
    KF_TRY(kf_json_number(place, object, "viscosity", newtonian, 0.0, 1e9, &viscosity, error));
    KF_TRY(kf_json_number(place, object, "consistency", false, 0.0, 1e9, &consistency, error));
    KF_TRY(kf_json_number(place, object, "exponent",
                          m->law == KF_LAW_POWER || m->law == KF_LAW_HERSCHEL_BULKLEY, 0.1, 3.0, &m->exponent,
                          error));
    KF_TRY(kf_json_number(place, object, "viscosity_limit", false, 1e-9, 1e12, &limit, error));
    KF_TRY(kf_json_number(place, object, "growth", false, 1e-6, 1e9, &growth, error));
    if (consistency == 0.0) consistency = viscosity;
    m->viscosity = viscosity * u.viscosity;
    m->consistency = consistency * u.stress * pow(u.time, m->exponent);
    /* A viscosity of up to s c rho / 2 needs no smaller time step. There the viscous limit equals the
     * acoustic one. */
    m->viscosity_limit = limit > 0.0 ? limit * u.viscosity : 0.25 * s->support;
    m->growth = growth * u.time;
    return KF_OK;
}

/* Reads the yield stress of a material: a constant (Pa), mu(I), or Drucker-Prager. */
static kf_status read_yield(kf_json_place place, const cJSON *object, kf_particle_scene *s, kf_error *error) {
    kf_material *m = &s->material;
    const units u = units_of(s);
    double yield = 0.0, cohesion = 0.0, angle = 30.0, diameter = 1e-3, grain_density = s->density;
    const bool plastic = m->law == KF_LAW_BINGHAM || m->law == KF_LAW_HERSCHEL_BULKLEY;
    KF_TRY(kf_json_number(place, object, "yield_stress", plastic, 0.0, 1e9, &yield, error));
    KF_TRY(kf_json_number(place, object, "cohesion", false, 0.0, 1e9, &cohesion, error));
    KF_TRY(kf_json_number(place, object, "friction_angle", m->law == KF_LAW_DRUCKER_PRAGER, 0.0, 80.0, &angle,
                          error));
    KF_TRY(kf_json_number(place, object, "mu_s", m->law == KF_LAW_MU_I, 0.0, 5.0, &m->friction, error));
    m->friction_fast = m->friction;
    m->inertial_number = 0.279;
    KF_TRY(kf_json_number(place, object, "mu_2", false, m->friction, 5.0, &m->friction_fast, error));
    KF_TRY(kf_json_number(place, object, "I_0", false, 1e-6, 1e3, &m->inertial_number, error));
    KF_TRY(kf_json_number(place, object, "grain_diameter", false, 1e-9, 10.0, &diameter, error));
    KF_TRY(kf_json_number(place, object, "grain_density", false, 1.0, 1e5, &grain_density, error));
    KF_TRY(kf_json_number(place, object, "bed_friction", false, 0.0, 5.0, &m->bed_friction, error));
    m->grain = diameter / s->spacing * sqrt(grain_density / s->density);
    m->yield = yield * u.stress;
    m->yield_kind = KF_YIELD_NONE;
    if (plastic) m->yield_kind = KF_YIELD_CONSTANT;
    if (m->law == KF_LAW_MU_I) m->yield_kind = KF_YIELD_MU_I;
    if (m->law != KF_LAW_DRUCKER_PRAGER) return KF_OK;
    m->yield_kind = KF_YIELD_DRUCKER_PRAGER;
    m->yield = cohesion * cos(angle * PI / 180.0) * u.stress;
    m->friction = sin(angle * PI / 180.0);
    return KF_OK;
}

/* Refuses keys of another law, or of another branch, because they have no effect on this material. */
static kf_status refuse_others(kf_json_place place, const cJSON *object, const kf_material *m,
                               kf_error *error) {
    static const char *const power[] = {"consistency", "exponent", NULL},
                             *const plastic[] = {"yield_stress", NULL},
                             *const drucker_prager[] = {"cohesion", "friction_angle", NULL},
                             *const mu_i[] = {"mu_s", "mu_2", "I_0", "grain_diameter", "grain_density", NULL},
                             *const growth[] = {"growth", NULL}, *const shear_speed[] = {"shear_speed", NULL};
    const struct {
        bool is_read;
        const char *const *keys, *why;
    } groups[] = {
        {m->law != KF_LAW_NEWTONIAN, power, "is for other laws than newtonian, such as power"},
        {m->yield_kind == KF_YIELD_CONSTANT, plastic, "is for the laws bingham and herschel_bulkley"},
        {m->yield_kind == KF_YIELD_DRUCKER_PRAGER, drucker_prager, "is for the law drucker_prager"},
        {m->yield_kind == KF_YIELD_MU_I, mu_i, "is for the law mu_i"},
        {m->branch == KF_BRANCH_PAPANASTASIOU, growth, "is for the branch papanastasiou"},
        {m->branch == KF_BRANCH_ELASTIC, shear_speed, "is for the branch elastic"},
    };
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
        if (!groups[g].is_read)
            KF_TRY(kf_json_refuse_keys(place, object, groups[g].keys, groups[g].why, error));
    return KF_OK;
}

/* Reads the law of a material, its equation of state, and the branch below the yield stress. */
static kf_status read_law(kf_json_place place, const cJSON *object, kf_particle_scene *s, kf_error *error) {
    static const char *const states[] = {"linear", "tait"};
    kf_material *m = &s->material;
    int law = KF_LAW_NEWTONIAN, state, branch;
    KF_TRY(kf_json_choice(place, object, "law", false, kf_law_names, KF_LAWS, &law, error));
    m->law = (kf_law)law;
    state = m->law == KF_LAW_NEWTONIAN && s->scheme == KF_SCHEME_MODERN;
    KF_TRY(kf_json_choice(place, object, "state", false, states, 2, &state, error));
    m->stiff = state == 1;
    KF_TRY(read_flow(place, object, s, error));
    KF_TRY(read_yield(place, object, s, error));
    const bool yields = m->yield_kind != KF_YIELD_NONE;
    branch = yields ? KF_BRANCH_ELASTIC : KF_BRANCH_BIVISCOUS;
    KF_TRY(kf_json_choice(place, object, "branch", false, kf_branch_names, KF_BRANCHES, &branch, error));
    m->branch = (kf_branch)branch;
    if (!yields && m->branch != KF_BRANCH_BIVISCOUS)
        return kf_fail(error, KF_BAD_INPUT, "%s: material.branch: law '%s' has no yield stress; leave it out",
                       place.file, kf_law_names[law]);
    if (s->scheme == KF_SCHEME_THESIS && m->stiff)
        return kf_fail(error, KF_BAD_INPUT, "%s: material.state: scheme thesis has the linear one",
                       place.file);
    if (s->scheme == KF_SCHEME_THESIS &&
        (m->yield_kind > KF_YIELD_CONSTANT || m->branch == KF_BRANCH_PAPANASTASIOU))
        return kf_fail(
            error, KF_BAD_INPUT,
            "%s: material: scheme thesis has the laws newtonian, power, bingham and herschel_bulkley",
            place.file);
    KF_TRY(refuse_others(place, object, m, error));
    double share = 1.0 / 3.0;
    KF_TRY(kf_json_number(place, object, "shear_speed", false, 0.01, 1.0, &share, error));
    m->shear_modulus = share * share;
    return KF_OK;
}

static kf_status read_thesis(kf_json_place place, const cJSON *object, kf_particle_scene *s,
                             kf_error *error) {
    kf_thesis_model *t = &s->thesis;
    const units u = units_of(s);
    /* The value of 1 m/s^2. */
    const double acceleration = 1.0 / (u.time * s->sound_speed);
    double penalty = 1e4, damping = 10.0, drag = 0.0, height = 0.0, speed = s->sound_speed, limit = 1e4,
           at_rest = 500.0;
    KF_TRY(kf_json_number(place, object, "xsph", false, 0.0, 1.0, &t->xsph, error));
    KF_TRY(kf_json_number(place, object, "penalty", false, 0.0, 1e9, &penalty, error));
    KF_TRY(kf_json_number(place, object, "damping", false, 0.0, 1e6, &damping, error));
    KF_TRY(kf_json_number(place, object, "drag", false, 0.0, 1e6, &drag, error));
    KF_TRY(kf_json_number(place, object, "drag_height", false, 0.0, 1e3, &height, error));
    KF_TRY(kf_json_number(place, object, "speed_limit", false, 1e-3, 1e6, &speed, error));
    KF_TRY(kf_json_number(place, object, "acceleration_limit", false, 1e-3, 1e9, &limit, error));
    KF_TRY(kf_json_number(place, object, "viscosity_at_rest", false, 0.0, 1e9, &at_rest, error));
    KF_TRY(kf_json_boolean(place, object, "consistent", false, &t->consistent, error));
    t->penalty = penalty / (u.time * u.time);
    t->damping = damping / u.time;
    t->drag = drag / u.time;
    t->drag_height = height / s->spacing;
    t->speed_limit = speed / s->sound_speed;
    t->acceleration_limit = limit * acceleration;
    t->viscosity_at_rest = at_rest * u.viscosity;
    return KF_OK;
}

/* Reads model: scheme and its numbers. */
static kf_status read_model(const char *file, const cJSON *root, kf_particle_scene *s, kf_error *error) {
    static const char *const modern[] = {
        "scheme",       "diffusion", "artificial_viscosity", "shifting", "tension", "courant", "time_step",
        "dummies_slip", "impact",    "central_viscosity",    NULL};
    static const char *const thesis[] = {"scheme",
                                         "time_step",
                                         "courant",
                                         "xsph",
                                         "penalty",
                                         "damping",
                                         "drag",
                                         "drag_height",
                                         "speed_limit",
                                         "acceleration_limit",
                                         "viscosity_at_rest",
                                         "consistent",
                                         NULL};
    const kf_json_place place = {file, "model"};
    const cJSON *object;
    int scheme = KF_SCHEME_MODERN;
    double step = 0.0;
    KF_TRY(kf_json_object((kf_json_place){file, ""}, root, "model", false, &object, error));
    s->diffusion = 0.1;
    s->tension = true;
    s->courant = 0.25;
    s->artificial = s->material.law == KF_LAW_NEWTONIAN ? 0.02 : 0.1;
    if (object == NULL) return KF_OK;
    KF_TRY(kf_json_choice(place, object, "scheme", false, kf_scheme_names, KF_SCHEMES, &scheme, error));
    s->scheme = (kf_scheme)scheme;
    KF_TRY(kf_json_check_keys(place, object, s->scheme == KF_SCHEME_THESIS ? thesis : modern, error));
    KF_TRY(kf_json_number(place, object, "diffusion", false, 0.01, 0.5, &s->diffusion, error));
    KF_TRY(kf_json_number(place, object, "artificial_viscosity", false, 0.0, 1.0, &s->artificial, error));
    KF_TRY(kf_json_number(place, object, "shifting", false, 0.0, 50.0, &s->shifting, error));
    KF_TRY(kf_json_boolean(place, object, "tension", false, &s->tension, error));
    KF_TRY(kf_json_number(place, object, "courant", false, 0.01, 0.4, &s->courant, error));
    KF_TRY(kf_json_number(place, object, "time_step", false, 1e-9, 1.0, &step, error));
    KF_TRY(kf_json_boolean(place, object, "dummies_slip", false, &s->dummies_slip, error));
    KF_TRY(kf_json_number(place, object, "impact", false, 0.0, 10.0, &s->impact, error));
    if (s->impact > 0.0 && s->material.law != KF_LAW_NEWTONIAN)
        return kf_fail(error, KF_BAD_INPUT, "%s: model: impact is for Newtonian fluids; leave it out", file);
    KF_TRY(kf_json_boolean(place, object, "central_viscosity", false, &s->central_viscosity, error));
    s->time_step = step * units_of(s).time;
    if (s->scheme == KF_SCHEME_THESIS) KF_TRY(read_thesis(place, object, s, error));
    return KF_OK;
}

kf_status kf_particle_material_read(const char *file, const cJSON *root, kf_particle_scene *s, kf_text *notes,
                                    kf_error *error) {
    static const char *const keys[] = {"law",
                                       "density",
                                       "sound_speed",
                                       "state",
                                       "viscosity",
                                       "consistency",
                                       "exponent",
                                       "viscosity_limit",
                                       "growth",
                                       "yield_stress",
                                       "cohesion",
                                       "friction_angle",
                                       "mu_s",
                                       "mu_2",
                                       "I_0",
                                       "grain_diameter",
                                       "grain_density",
                                       "bed_friction",
                                       "branch",
                                       "shear_speed",
                                       NULL};
    const kf_json_place place = {file, "material"};
    const cJSON *object;
    /* Still in m/s^2. */
    const double *g = s->gravity;
    const double height = s->size[s->dimensions - 1] * s->spacing;
    double fastest = sqrt(2.0 * kf_length(g) * height);
    KF_TRY(kf_json_object((kf_json_place){file, ""}, root, "material", true, &object, error));
    KF_TRY(kf_json_check_keys(place, object, keys, error));
    KF_TRY(kf_json_number(place, object, "density", true, 1e-3, 1e5, &s->density, error));
    s->sound_speed = 10.0 * fastest;
    KF_TRY(kf_json_number(place, object, "sound_speed", fastest == 0.0, 1e-9, 1e5, &s->sound_speed, error));
    if (cJSON_GetObjectItemCaseSensitive(object, "sound_speed") == NULL)
        kf_note(notes, "material.sound_speed: %.4g m/s, ten times the speed of a fall through the box",
                s->sound_speed);
    else if (s->sound_speed < fastest)
        kf_note(notes,
                "material.sound_speed: %.4g m/s is less than the speed of a fall through the box, %.4g m/s: "
                "the fluid may be compressed; leave the key out, or give about ten times the fastest flow",
                s->sound_speed, fastest);
    const cJSON *law = cJSON_GetObjectItemCaseSensitive(object, "law");
    s->material.law = law == NULL || strcmp(cJSON_IsString(law) ? law->valuestring : "", "newtonian") == 0
                          ? KF_LAW_NEWTONIAN
                          : KF_LAWS;
    KF_TRY(read_model(file, root, s, error));
    return read_law(place, object, s, error);
}
