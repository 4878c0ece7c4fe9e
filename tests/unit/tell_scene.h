/* Writes scenes of every kind as lines of a known text: every number, and sums over lists. */
#ifndef KF_TESTS_UNIT_TELL_SCENE_H
#define KF_TESTS_UNIT_TELL_SCENE_H

#include <math.h>

#include "scene/ordering.h"
#include "scene/particles.h"
#include "scene/scene.h"
#include "solver/incompressible/incompressible_model.h"
#include "solver/kinetic/kinetic_samples.h"
#include "solver/stable_fluids/stable_fluids_problem.h"
#include "tests/unit/known_text.h"

/* Appends a number with so few digits that the rounding of a sine does not show, and rounding errors
 * around zero as zero. */
static inline void tell(kf_text *text, const char *name, const double *values, int count) {
    kf_text_append(text, "  %s", name);
    for (int i = 0; i < count; i++)
        kf_text_append(text, " %.6g", fabs(values[i]) < 1e-12 ? 0.0 : values[i]);
    kf_text_append(text, "\n");
}
static inline void tell_one(kf_text *text, const char *name, double value) {
    tell(text, name, &value, 1);
}

/* Appends sums over a list, plain and weighted by position, which depend on every member and on the order. */
static inline void tell_list(kf_text *text, const char *name, const double *values, size_t count) {
    double sums[3] = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        sums[0] += values[i];
        sums[1] += values[i] * values[i];
        sums[2] += values[i] * (double)(i % 97);
    }
    tell(text, name, sums, 3);
}

static inline void tell_motion(kf_text *text, const kf_motion *motion) {
    if (!motion->moving) return;
    double rotation[9], center[3];
    kf_text_append(text, "  moves%s\n", motion->free ? " freely" : "");
    if (motion->free) {
        tell_one(text, "excess mass", motion->excess_mass);
        tell(text, "excess inertia", motion->excess_inertia, 9);
        tell(text, "gravity", motion->gravity, 3);
    }
    tell(text, "center", motion->center, 3);
    tell(text, "axis", motion->axis, 3);
    tell_one(text, "angular speed", motion->angular_speed);
    tell(text, "velocity", motion->velocity, 3);
    kf_motion_pose(motion, 12.5, rotation, center);
    tell(text, "rotation after 12.5 steps", rotation, 9);
    tell(text, "center after 12.5 steps", center, 3);
}

static inline void tell_samples(kf_text *text, const kf_scene *s) {
    if (s->solid_area <= 0) return;
    tell(text, "solid from", s->solid_low, 3);
    tell(text, "solid to", s->solid_high, 3);
    const double solid[] = {s->solid_area, s->surface_depth, s->frontal_area, kf_scene_shortest_edge(s)};
    tell(text, "area, depth, frontal area, shortest edge", solid, 4);
    kf_text_append(text, "  mesh %zu %zu, samples %zu\n", s->mesh.vertex_count, s->mesh.triangle_count,
                   s->samples.count);
    tell_list(text, "vertices", s->mesh.vertices, 3 * s->mesh.vertex_count);
    tell_list(text, "x", s->samples.x, s->samples.count);
    tell_list(text, "y", s->samples.y, s->samples.count);
    tell_list(text, "z", s->samples.z, s->samples.count);
    tell_list(text, "area", s->samples.area, s->samples.count);
    double *acting = kf_kinetic_acting_areas(s);
    tell_list(text, "acting areas", acting, s->samples.count);
    free(acting);
}

static inline void tell_faces(kf_text *text, const kf_scene *s) {
    for (int f = 0; f < KF_FACES; f++) {
        kf_text_append(text, "  face %d %s", f, kf_boundary_names[s->faces[f]]);
        const double numbers[] = {s->face_velocity[f][0], s->face_velocity[f][1], s->face_velocity[f][2],
                                  s->specular_share[f]};
        tell(text, "", numbers, 4);
        if (s->faces[f] != KF_OUTFLOW) continue;
        tell_one(text, "outflow speed", kf_scene_outflow_speed(s, (kf_face)f));
        tell_one(text, "outflow pull", kf_scene_outflow_pull(s, (kf_face)f));
    }
}

static inline void tell_mask(kf_text *text, const kf_scene *s) {
    if (s->mask == NULL) return;
    size_t counts[KF_NODE_KINDS] = {0}, places[KF_NODE_KINDS] = {0};
    const size_t count = (size_t)s->nodes[0] * (size_t)s->nodes[1];
    for (size_t n = 0; n < count; n++)
        counts[s->mask[n]]++, places[s->mask[n]] += n;
    for (int kind = 0; kind < KF_NODE_KINDS; kind++)
        kf_text_append(text, "  mask %d: %zu nodes, places %zu\n", kind, counts[kind], places[kind]);
    tell(text, "mask velocity", s->mask_velocity, 3);
    kf_text_append(text, "  mask density %.6g %d\n", s->mask_density, s->mask_has_pressure);
}

static inline void tell_smoke(kf_text *text, const kf_smoke_sources *smoke) {
    if (smoke->count == 0) return;
    kf_text_append(text, "  smoke %ld tracers, opacity %g, seed %llu, paint %s, body %s\n", smoke->capacity,
                   smoke->opacity, (unsigned long long)smoke->seed, kf_smoke_paint_names[smoke->paint],
                   kf_smoke_body_names[smoke->body]);
    for (int e = 0; e < smoke->count; e++) {
        const kf_emitter *emitter = &smoke->emitters[e];
        const double numbers[] = {emitter->rate, emitter->radius, emitter->nozzles};
        kf_text_append(text, "  %s\n", kf_emitter_shape_names[emitter->shape]);
        tell(text, "rate, radius, nozzles", numbers, 3);
        tell(text, "from", emitter->from, 3);
        tell(text, "to", emitter->to, 3);
        tell(text, "normal", emitter->normal, 3);
    }
}

static inline void tell_scene(kf_text *text, const kf_scene *s) {
    kf_text_append(text, "%s: %d x %d x %d nodes, seed %llu\n", s->name, s->nodes[0], s->nodes[1],
                   s->nodes[2], (unsigned long long)s->seed);
    kf_text_append(text, "  %s, rates %s, basis %s, begins %s, passes %d%s\n",
                   kf_collision_names[s->collision], kf_rate_rule_names[s->rate_rule],
                   kf_moment_basis_names[s->basis], kf_initial_names[s->initial], s->immersed_passes,
                   s->parabolic_inflow ? ", parabolic" : "");
    if (s->layers) kf_text_append(text, "  layers modelled\n");
    const double units[] = {s->cell_size, s->time_step},
                 flow[] = {s->reynolds, s->reference_length, s->reference_speed,  s->viscosity,
                           s->accuracy, s->high_order_rate,  s->samples_per_cell, kf_scene_flow_through(s)};
    tell(text, "cell and step", units, 2);
    tell(text, "reynolds, length, speed, viscosity, accuracy, rate, samples a cell, flow through", flow, 8);
    tell(text, "initial velocity", s->initial_velocity, 3);
    tell(text, "body force", s->body_force, 3);
    double state[4];
    kf_scene_initial(s, s->nodes[0] / 3, s->nodes[1] / 4, s->nodes[2] / 5, &state[0], &state[1]);
    tell(text, "initial state", state, 4);
    tell_faces(text, s);
    tell_samples(text, s);
    tell_motion(text, &s->motion);
    tell_mask(text, s);
    tell_smoke(text, &s->smoke);
    const kf_incompressible_model *i = kf_incompressible_model_of(s);
    kf_text_append(text, "  incompressible %d %s %s %g %g\n", i->unlimited, kf_trace_names[i->trace],
                   kf_viscous_term_names[i->viscous_term], i->steps, i->tolerance);
    kf_text_append(text, "%s%s", s->notes != NULL ? s->notes : "",
                   s->notes != NULL && s->notes[0] != '\0' ? "\n" : "");
}

static inline void tell_floats(kf_text *text, const char *name, const float *values, size_t count,
                               size_t stride) {
    double sums[3] = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        sums[0] += values[i * stride];
        sums[1] += (double)values[i * stride] * values[i * stride];
        sums[2] += values[i * stride] * (double)(i % 97);
    }
    tell(text, name, sums, 3);
}

static inline void tell_particles(kf_text *text, const kf_particle_scene *s) {
    const kf_material *m = &s->material;
    const kf_thesis_model *t = &s->thesis;
    kf_text_append(
        text, "%s: %d dimensions, %zu particles, %zu of walls, seed %llu\n  %s %s %d %s%s%s%s, colour %s\n",
        s->name, s->dimensions, s->count, s->wall_count, (unsigned long long)s->seed,
        kf_scheme_names[s->scheme], kf_law_names[m->law], (int)m->yield_kind, kf_branch_names[m->branch],
        m->stiff ? ", stiff" : "", s->tension ? ", tension" : "", s->dummies_slip ? ", dummies slip" : "",
        kf_particle_colour_names[s->colour]);
    const double units[] = {s->spacing, s->sound_speed, s->density,  s->support,
                            s->courant, s->time_step,   s->end_time, s->shake},
                 material[] = {m->viscosity,       m->consistency,   m->exponent,        m->yield,
                               m->friction,        m->friction_fast, m->inertial_number, m->grain,
                               m->viscosity_limit, m->growth,        m->shear_modulus,   m->bed_friction},
                 thesis[] = {t->xsph,
                             t->penalty,
                             t->damping,
                             t->drag,
                             t->drag_height,
                             t->speed_limit,
                             t->acceleration_limit,
                             t->viscosity_at_rest,
                             t->consistent ? 1 : 0},
                 terms[] = {s->diffusion, s->artificial, s->shifting, kf_particle_seconds(s)};
    tell(text, "units", units, 8);
    tell(text, "material", material, 12);
    tell(text, "thesis", thesis, 9);
    tell(text, "diffusion, artificial, shifting, second", terms, 4);
    tell(text, "size", s->size, 3);
    tell(text, "origin", s->origin, 3);
    tell(text, "gravity", s->gravity, 3);
    for (int side = 0; side < 6; side++) {
        kf_text_append(text, "  side %d %s", side, kf_side_names[s->sides[side]]);
        tell(text, "", s->side_velocity[side], 3);
    }
    static const char *const axes[] = {"x", "y", "z"};
    for (int axis = 0; axis < 3; axis++)
        tell_floats(text, axes[axis], s->position + axis, s->count, 3);
    for (int axis = 0; axis < 3; axis++)
        tell_floats(text, "velocity", s->velocity + axis, s->count, 3);
    tell_floats(text, "deviation", s->deviation, s->count, 1);
    if (s->terrain.heights != NULL) {
        double height[3], range[2];
        kf_text_append(text, "  terrain %d x %d\n", s->terrain.nodes[0], s->terrain.nodes[1]);
        tell(text, "origin", s->terrain.origin, 2);
        tell_one(text, "cell", s->terrain.cell);
        height[0] = kf_terrain_height(&s->terrain, 0.31 * s->size[0], 0.47 * s->size[1], &height[1]);
        tell(text, "height and slopes", height, s->dimensions);
        kf_terrain_range(&s->terrain, &range[0], &range[1]);
        tell(text, "range", range, 2);
    }
    for (int g = 0; g < s->gauge_count; g++) {
        kf_text_append(text, "  gauge %s %d", s->gauges[g].name, s->gauges[g].is_pressure);
        tell(text, "", s->gauges[g].place, 3);
    }
    tell(text, "windows", s->windows, s->window_count);
    kf_text_append(text, "%s%s", s->notes != NULL ? s->notes : "",
                   s->notes != NULL && s->notes[0] != '\0' ? "\n" : "");
}

static inline void tell_fluid(kf_text *text, const kf_fluid *f) {
    kf_text_append(text, "%s: %d dimensions, %d x %d x %d cells%s%s%s, %d simulations, seed %llu\n", f->name,
                   f->dimensions, f->cells[0], f->cells[1], f->cells[2], f->walls[0] ? ", x walls" : "",
                   f->walls[1] ? ", y walls" : "", f->walls[2] ? ", z walls" : "", f->simulations,
                   (unsigned long long)f->seed);
    kf_text_append(text, "  %s%s%s%s, begins %s %d%s\n", kf_fluid_advection_names[f->advection],
                   f->midpoint ? ", midpoint" : "", f->reflection ? ", reflection" : "",
                   f->exponential ? ", exponential" : "", kf_fluid_start_names[f->start], f->start_mode,
                   f->initial != NULL ? " of its own" : "");
    const double numbers[] = {f->cell_size, f->time_step,       f->viscosity, f->confinement,
                              f->accuracy,  f->start_amplitude, f->shake,     f->body_amplitude,
                              f->drag,      f->rebound};
    tell(text, "cell, step, viscosity, confinement, accuracy, start, shake, body, drag, rebound", numbers,
         10);
    tell(text, "start velocity", f->start_velocity, 3);
    const double body[] = {f->body_mode, kf_fluid_body(f, 1), kf_fluid_body(f, f->cells[1] / 3)};
    tell(text, "body mode and force", body, 3);
    kf_fluid_waves *waves = kf_fluid_waves_make(f, f->simulations - 1);
    double sums[9] = {0};
    for (int z = 0; z < f->cells[2]; z++)
        for (int y = 0; y < f->cells[1]; y++)
            for (int x = 0; x < f->cells[0]; x++) {
                const int cell[3] = {x, y, z};
                double velocity[3] = {0, 0, 0};
                kf_fluid_initial(waves, cell, velocity);
                for (int i = 0; i < f->dimensions; i++) {
                    sums[3 * i] += velocity[i];
                    sums[3 * i + 1] += velocity[i] * velocity[i];
                    sums[3 * i + 2] += velocity[i] * ((x + 2 * y + 3 * z) % 97);
                }
            }
    kf_fluid_waves_free(waves);
    for (int i = 0; i < 9; i++)
        if (fabs(sums[i]) < 1e-7) sums[i] = 0; /* but for rounding */
    tell(text, "initial velocity", sums, 9);
    kf_text_append(text, "  %zu impulses, %d sources, %d dyes, solid %d, %lld particles%s\n",
                   f->impulse_count, f->source_count, f->dye_count, (int)f->solid, f->particle_count,
                   f->particle_midpoint ? " midpoint" : "");
    for (int i = 0; i < f->dye_count; i++) {
        const double dye[] = {f->dyes[i].dissipation, f->dyes[i].lift};
        tell(text, f->dyes[i].name, dye, 2);
    }
    if (f->mask == NULL) return;
    double shares[2] = {0, 0};
    for (size_t i = 0; i < kf_fluid_cell_count(f); i++)
        shares[0] += (double)f->mask[i], shares[1] += (double)f->mask[i] * (double)(i % 97);
    tell(text, "mask", shares, 2);
}

#endif
