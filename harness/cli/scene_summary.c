#include "harness/cli/scene_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/json.h"
#include "base/util/text.h"
#include "base/util/vector.h"
#include "harness/cli/drag_interval.h"
#include "harness/cli/run_coefficients.h"
#include "harness/cli/scene_levels.h"
#include "solver/flow/flow_rules.h"

enum { POPULATIONS = 27, FLAT_POPULATIONS = 9, GRIDS = 2, FLOWS = 10 };
static const double TURBULENT = 5e5, LEAST_VISCOSITY = 1e-4, FEW_CELLS = 16.0, THIN_LAYER = 2.0,
                    WALL_RESOLVED = 5.0, MUCH_BLOCKAGE = 0.1, LIKE = 0.001, THIN_CELLS = 4.0,
                    THIN_SHARE = 1e-3;
/* Above these Reynolds numbers wakes (Williamson 1996) and plane channels vary along all three axes. */
static const double FLAT_WAKE = 190.0, FLAT_CHANNEL = 1000.0;

static double along(const double velocity[3], const double stream[3]) {
    double sum = 0.0, square = 0.0;
    for (int a = 0; a < 3; a++) {
        sum += velocity[a] * stream[a];
        square += stream[a] * stream[a];
    }
    return square > 0.0 ? sum / sqrt(square) : 0.0;
}

/* Finds the fastest inflow, and the wall along it whose speed differs most from the inflow's. */
static void measure_road(const kf_scene *scene, kf_scene_summary *s) {
    const double metres = scene->cell_size / scene->time_step;
    double stream[3];
    if (kf_scene_fastest_face(scene, KF_INFLOW, stream) == 0.0) return;
    s->wind = along(stream, stream) * metres;
    for (int f = 0; f < KF_FACES; f++) {
        const double speed = along(scene->face_velocity[f], stream) * metres;
        if (scene->faces[f] != KF_WALL || speed == 0.0) continue;
        if (s->road == 0.0 || fabs(speed - s->wind) > fabs(s->road - s->wind)) s->road = speed;
    }
}

/* Returns whether a face moves with the velocity of an inflow. */
static bool moves_with_inflow(const kf_scene *scene, int face) {
    for (int f = 0; f < KF_FACES; f++) {
        double apart = 0.0;
        for (int a = 0; a < 3; a++)
            apart = fmax(apart, fabs(scene->face_velocity[face][a] - scene->face_velocity[f][a]));
        if (scene->faces[f] == KF_INFLOW && apart <= 0.01 * scene->reference_speed) return true;
    }
    return false;
}

/* Returns a wall of the domain that does not move with an inflow, if a solid has a law of the wall; otherwise
 * -1. */
static int find_bare_wall(const kf_scene *scene) {
    for (int f = 0; f < KF_FACES && scene->wall_law && !scene->laminar; f++)
        if (scene->faces[f] == KF_WALL && !moves_with_inflow(scene, f)) return f;
    return -1;
}

/* Returns whether fluid and solids are at rest at the start and nothing sets them in motion. */
static bool is_still(const kf_scene *scene) {
    bool still = scene->initial_state == NULL && kf_length(scene->initial_velocity) == 0.0 &&
                 scene->disturbance == 0.0 && kf_length(scene->body_force) == 0.0 &&
                 kf_length(scene->mask_velocity) == 0.0 && !scene->mask_has_pressure && !scene->motion.free &&
                 scene->motion.angular_speed == 0.0 && kf_length(scene->motion.velocity) == 0.0;
    for (int f = 0; f < KF_FACES; f++)
        still = still && kf_length(scene->face_velocity[f]) == 0.0;
    for (int i = 0; i < scene->solid_count; i++)
        still = still && scene->solids[i].motion.angular_speed == 0.0;
    return still;
}

static bool has_solid(const kf_scene *scene) {
    double size = 0.0;
    for (int a = 0; a < 3; a++)
        size += scene->solid_high[a] - scene->solid_low[a];
    return size > 0.0;
}

double kf_scene_wall_distance(const kf_scene *scene) {
    const double re = scene->reynolds, nan = (double)NAN,
                 friction = re <= 0.0        ? nan
                            : re < TURBULENT ? 0.664 / sqrt(re)
                                             : 0.026 / pow(re, 1.0 / 7.0);
    const kf_scene *fine = kf_scene_finest(scene);
    if (!has_solid(scene)) return nan;
    return 0.5 / fine->viscosity * fine->reference_speed * sqrt(0.5 * friction);
}

/* Returns the fewest cells between the solid and a face of its grid that is none of the domain. */
static double find_room(const kf_scene *scene) {
    const kf_scene *fine = kf_scene_finest(scene);
    double least = INFINITY; /* node 0 is the middle of cell 0 */
    for (int a = 0; a < 3; a++) {
        int own[2];
        kf_scene_level_cells(scene, scene->finer_count, a, own);
        if (own[0] > 0) least = fmin(least, fine->solid_low[a] + 0.5 - own[0]);
        if (own[1] < fine->nodes[a]) least = fmin(least, own[1] - 0.5 - fine->solid_high[a]);
    }
    return least;
}

/* Computes the figures of a scene. With nested grids those about the solid are of the finest grid. Units are
 * SI unless the name says cells, steps or lattice. The first node's y+ follows from the friction of a flat
 * plate: 0.664 / sqrt(Re) if it is laminar (Blasius), 0.026 / Re^(1/7) if it is turbulent. The boundary layer
 * is 5 L / sqrt(Re) (Blasius), in cells. Figures without a meaning are NAN. */
kf_scene_summary kf_summarise_scene(const kf_scene *scene) {
    kf_scene_summary s = {.lattice_viscosity = scene->viscosity, .reynolds = scene->reynolds};
    const kf_scene *fine = kf_scene_finest(scene);
    const double dx = scene->cell_size, dt = scene->time_step, nan = (double)NAN;
    for (int a = 0; a < 3; a++) {
        s.domain[a] = scene->nodes[a] * dx;
        s.solid[a] = (scene->solid_high[a] - scene->solid_low[a]) * dx;
    }
    s.cells_a_length = fine->reference_length;
    s.length = scene->reference_length * dx;
    s.open_edges = scene->open_edges;
    s.even_axis = kf_scene_even_axis(fine);
    s.solid_cells = 0.0;
    for (int a = 0; a < 3; a++)
        s.solid_cells = fmax(s.solid_cells, fine->solid_high[a] - fine->solid_low[a]);
    s.least_viscosity = kf_flow_least_viscosity(scene);
    (void)kf_flow_rule_name(scene, s.rule);
    kf_scene_thinness(fine, THIN_CELLS, &s.parts, &s.gaps);
    s.cell_size = fine->cell_size;
    s.speed = scene->reference_speed * dx / dt;
    s.viscosity = scene->viscosity * dx * dx / dt;
    s.frontal_area = scene->frontal_area > 0.0 ? scene->frontal_area * dx * dx : nan;
    s.reference_area = kf_scene_reference_area(scene) > 0.0 ? kf_scene_reference_area(scene) * dx * dx : nan;
    const double *stream = scene->initial_velocity;
    int main_axis = 0;
    for (int a = 1; a < 3; a++)
        if (fabs(stream[a]) > fabs(stream[main_axis])) main_axis = a;
    const double section = (double)scene->nodes[(main_axis + 1) % 3] * scene->nodes[(main_axis + 2) % 3];
    s.blockage = scene->frontal_area > 0.0 ? scene->frontal_area / section : nan;
    s.flow_through_steps = kf_scene_flow_through(scene);
    if (s.flow_through_steps == 0.0) s.flow_through_steps = nan;
    s.flow_through_seconds = s.flow_through_steps * dt;
    s.bytes = kf_scene_all_nodes(scene) * (scene->nodes[2] == 1 ? FLAT_POPULATIONS : POPULATIONS) * GRIDS *
              sizeof(float);
    const double re = scene->reynolds;
    s.wall_distance = kf_scene_wall_distance(scene);
    s.linked = scene->linked;
    s.wall_law = scene->wall_law;
    s.layers = scene->layers;
    s.layer = scene->layers && !scene->laminar ? kf_scene_layer_thickness(fine) : 0.0;
    s.layer_room = find_room(scene);
    s.laminar = scene->laminar;
    s.boundary_layer = re > 0.0 && has_solid(scene) ? 5.0 * fine->reference_length / sqrt(re) : nan;
    measure_road(scene, &s);
    s.bare_wall = find_bare_wall(scene);
    s.still = is_still(scene);
    return s;
}

/* Returns a place in metres from the domain's lower corner. A value that is only rounding error becomes 0. */
static double metres_at(const kf_scene_summary *s, double node) {
    static const double ROUNDING = 1e-9;
    return fabs(node + 0.5) > ROUNDING ? (node + 0.5) * s->cell_size : 0.0;
}

/* Collects the warnings of a scene: what its grid cannot resolve, and numbers that contradict each other. The
 * lines belong to the function and are valid until its next call. */
int kf_scene_warnings(const kf_scene_summary *s, const char *const **lines) {
    static char texts[24][320];
    static const char *found[24];
    int count = 0;
#define WARN(condition, ...)                                                                                 \
    if (condition) {                                                                                         \
        (void)snprintf(texts[count], sizeof texts[count], __VA_ARGS__);                                      \
        found[count] = texts[count];                                                                         \
        count++;                                                                                             \
    }
    WARN(s->still,
         "nothing moves: there is no inflow, no moving wall or solid, no acceleration, and the fluid starts "
         "at "
         "rest; flow.speed alone sets only the time step, so give \"flow\" an \"initial_velocity\" or an "
         "\"acceleration\", or the scene an inflow")
    WARN(s->solid_cells > 0.0 && s->solid_cells < 1.0,
         "the whole solid is smaller than a cell: its longest side is %.3g m, a cell %.3g m; are mesh and "
         "domain in the same unit?",
         s->solid_cells * s->cell_size, s->cell_size)
    WARN(s->boundary_layer < THIN_LAYER,
         "the grid cannot resolve this Reynolds number: a laminar boundary layer would be %.2g cells thick; "
         "do not trust friction; forces of separated flow are those of a coarse large eddy simulation",
         s->boundary_layer)
    WARN(s->lattice_viscosity < LEAST_VISCOSITY,
         "lattice viscosity %.2g: the collision's damping decides, not the Reynolds number; this grid "
         "resolves lattice viscosities from %g on (Reynolds numbers up to %.2g)",
         s->lattice_viscosity, LEAST_VISCOSITY, s->reynolds * s->lattice_viscosity / LEAST_VISCOSITY)
    WARN(s->lattice_viscosity < s->least_viscosity,
         "long runs with %s blow up at such a viscosity (%.2g and less at this speed) between walls, behind "
         "an outflow "
         "or in a box; \"acm_mrt\" with the rates \"adaptive_2020\", \"k17\" or \"ones\" stays stable",
         s->rule, s->least_viscosity)
    WARN(s->wall_distance > WALL_RESOLVED,
         "y+ about %.2g at the surface: %s; eddies smaller than a cell are damped by the "
         "collision (implicit large-eddy simulation)",
         s->wall_distance,
         !s->wall_law || s->laminar ? "there is no wall model"
         : s->layers ? "friction follows a law of the wall, and layers without eddies are modelled"
                     : "friction follows a law of the wall")
    WARN(s->even_axis >= 0 && s->reynolds > (s->solid[0] > 0.0 ? FLAT_WAKE : FLAT_CHANNEL),
         "nothing varies along %c, so the flow stays two-dimensional; a real flow at Reynolds number %.2g "
         "does not; give \"flow\" a \"disturbance\" of 0.01",
         "xyz"[s->even_axis], s -> reynolds)
    WARN(s->layer > KF_LINK_OPEN,
         "turbulent layers grow to about %.3g cells, of which \"layers\": \"modelled\" looks through %d: it "
         "would make them too thin; such layers have eddies on the grid, so take \"resolved\"",
         s->layer, (int)KF_LINK_OPEN)
    WARN(s->layer <= KF_LINK_OPEN && s->layer > s->layer_room,
         "turbulent layers grow to about %.3g cells, and the finest grid ends %.3g cells from the solid, "
         "where their model ends, too; give its box in \"refine\" more room",
         s->layer, s->layer_room)
    WARN(s->laminar,
         "Reynolds number %.2g: below %.2g all layers along the solid are laminar, so the law of the wall "
         "acts nowhere; if a wire makes the layer turbulent, give its distance from the front in metres as "
         "\"trip\" in \"model\"",
         s->reynolds, KF_LAMINAR_REYNOLDS)
    WARN(s->wall_law && !s->laminar && s->reynolds < KF_LAMINAR_REYNOLDS,
         "Reynolds number %.2g: layers along a body are laminar up to about %.2g. The law of the wall treats "
         "them as turbulent, which gives a sphere a third of its drag",
         s->reynolds, KF_LAMINAR_REYNOLDS)
    WARN(s->bare_wall >= 0,
         "the law of the wall acts on the solid only: the wall at %s has no slip, which gives a turbulent "
         "layer a third to a half of its friction; use a floor with \"boundary\": \"links\", or let the wall "
         "move with the wind",
         kf_face_names[s->bare_wall < 0 ? 0 : s->bare_wall])
    WARN(isfinite(s->boundary_layer) && s->cells_a_length < FEW_CELLS,
         "%.3g cells along the solid: with fewer than %g results are only rough", s->cells_a_length,
         FEW_CELLS)
    WARN(s->parts.share > THIN_SHARE,
         "parts thinner than %g cells, %.10g %% of the surface (%.2g cells or %.2g m, as at %.3g %.3g %.3g "
         "m): %s; use more cells, or leave these parts out",
         THIN_CELLS, kf_percent(s->parts.share), s->parts.width, s->parts.width * s->cell_size,
         metres_at(s, s->parts.at[0]), metres_at(s, s->parts.at[1]), metres_at(s, s->parts.at[2]),
         s->linked ? "links keep their size, but hardly resolve the flow around them"
                   : "they act about a cell thicker on each side")
    WARN(s->gaps.share > THIN_SHARE,
         "gaps narrower than %g cells, beside %.10g %% of the surface (%.2g cells or %.2g m, as at %.3g %.3g "
         "%.3g m): the grid hardly resolves the flow through them",
         THIN_CELLS, kf_percent(s->gaps.share), s->gaps.width, s->gaps.width * s->cell_size,
         metres_at(s, s->gaps.at[0]), metres_at(s, s->gaps.at[1]), metres_at(s, s->gaps.at[2]))
    WARN(s->blockage > MUCH_BLOCKAGE,
         "blockage %.10g %%: the tunnel's walls raise the drag by about that much; below 5 %% is usual",
         kf_percent(s->blockage))
    WARN(s->open_edges > 0,
         "%zu edges of the mesh are open, or join triangles with opposite orientation: the flow enters the "
         "mesh, and forces are those of a shell",
         s->open_edges)
    WARN(s->road != 0.0 && s->wind > 0.0 && fabs(s->road - s->wind) > LIKE * s->wind,
         "the road moves at %.4g m/s and the wind at %.4g m/s: the solid does not drive at the wind's speed; "
         "--speed sets both",
         s->road, s->wind)
    WARN(isfinite(s->reference_area) && s->wind > 0.0 && fabs(s->speed - s->wind) > LIKE * s->wind,
         "flow.speed is %.4g m/s and the wind %.4g m/s: coefficients and the Reynolds number refer to the "
         "former",
         s->speed, s->wind)
#undef WARN
    *lines = found;
    return count;
}

/* Prints the memory of a run, and that of the other way of streaming if it could decide whether the run fits.
 */
static void print_memory(const kf_scene *scene, const kf_scene_summary *s, FILE *file) {
    enum { PLANES_MORE = 34 }; /* planes of a grid that moves by slabs of 16 */
    static const double much = 4.0 * (1 << 30);
    const double planes = scene->nodes[2], one = s->bytes / GRIDS * (planes + PLANES_MORE) / planes;
    char two_grids[32], one_grid[32];
    fprintf(file, "  memory       about %s on the device", kf_human_bytes(s->bytes, two_grids));
    if (s->bytes > much && scene->finer_count == 0)
        fprintf(file, ", %s on one grid (streaming=shift), the default where two do not fit",
                kf_human_bytes(one, one_grid));
    fputc('\n', file);
}

static void print_cost(const kf_scene *scene, const kf_scene_summary *s, FILE *file) {
    const double updates = kf_scene_step_updates(scene) * s->flow_through_steps * FLOWS;
    print_memory(scene, s, file);
    if (!isfinite(updates)) return;
    fprintf(file, "  flow-through %.0f steps, %.3g s of the flow\n", s->flow_through_steps,
            s->flow_through_seconds);
    char large[32], small[32];
    fprintf(file,
            "  %d of them   %.2g node updates: %s at 10000 MLUPS (a large GPU), %s at 20 MLUPS (two cores)\n",
            FLOWS, updates, kf_human_time_us(updates / 1e4, large), kf_human_time_us(updates / 20.0, small));
}

/* Prints the names of several solids and their angular speeds. */
static void print_solids(const kf_scene *scene, FILE *file) {
    for (int s = 0; s < scene->solid_count; s++) {
        const kf_solid *solid = &scene->solids[s];
        fprintf(file, "%s%s ", s == 0 ? "  solids       " : ", ", solid->name);
        if (solid->motion.moving)
            fprintf(file, "turns at %.4g rad/s", solid->motion.angular_speed / scene->time_step);
        else
            fprintf(file, "rests");
    }
    if (scene->solid_count > 0) fputc('\n', file);
}

/* Prints the summary of a scene with its warnings. */
void kf_scene_summary_print(const kf_scene *scene, const kf_scene_summary *s, FILE *file) {
    const char *const *lines;
    char grid[KF_GRID_TEXT];
    fprintf(file, "%s: %s nodes, cells of %.4g m, domain %.4g x %.4g x %.4g m\n", scene->name,
            kf_grid_text(scene->nodes, grid), scene->cell_size, s->domain[0], s->domain[1], s->domain[2]);
    kf_scene_levels_print(scene, file);
    if (isfinite(s->boundary_layer)) {
        fprintf(file, "  solid        %.4g x %.4g x %.4g m, %.3g cells a length", s->solid[0], s->solid[1],
                s->solid[2], s->cells_a_length);
        if (isfinite(s->frontal_area)) /* there is an inflow */
            fprintf(file, ", frontal area %.4g m^2, blockage %.10g %%", s->frontal_area,
                    kf_percent(s->blockage));
        if (isfinite(s->reference_area) && s->reference_area != s->frontal_area)
            fprintf(file, ", area of reference %.4g m^2 (%s)", s->reference_area, kf_run_area_source(scene));
        fputc('\n', file);
    }
    print_solids(scene, file);
    fprintf(file, "  flow         %.4g m/s, Reynolds number %.4g with %.4g m, viscosity %.3g m^2/s\n",
            s->speed, s->reynolds, s->length, s->viscosity);
    fprintf(file, "  lattice      %.3g cells a step (Mach %.2g), viscosity %.3g, time step %.3g s\n",
            scene->reference_speed, scene->reference_speed * sqrt(3.0), s->lattice_viscosity,
            scene->time_step);
    if (isfinite(s->wall_distance))
        fprintf(file,
                "  wall         y+ about %.2g at the first node, laminar boundary layer %.2g cells; %s\n",
                s->wall_distance, s->boundary_layer,
                s->wall_law && !s->laminar ? "a law of the wall" : "no wall model");
    print_cost(scene, s, file);
    const int count = kf_scene_warnings(s, &lines);
    for (int i = 0; i < count; i++)
        fprintf(file, "  warning: %s\n", lines[i]);
}

/* Makes the JSON of a scene's summary with its warnings; the caller owns it. */
cJSON *kf_scene_summary_json(const kf_scene *scene, const kf_scene_summary *s) {
    const char *const *lines;
    cJSON *json = kf_json_answer("scene");
    cJSON_AddStringToObject(json, "scene", scene->name);
    if (scene->hash[0] != '\0') cJSON_AddStringToObject(json, "scene_hash", scene->hash);
    cJSON_AddItemToObject(json, "grid", cJSON_CreateIntArray(scene->nodes, 3));
    kf_json_add_number(json, "cell_size_m", scene->cell_size);
    kf_json_add_number(json, "time_step_s", scene->time_step);
    cJSON_AddItemToObject(json, "domain_m", cJSON_CreateDoubleArray(s->domain, 3));
    cJSON_AddItemToObject(json, "solid_m", cJSON_CreateDoubleArray(s->solid, 3));
    kf_json_add_number(json, "cells_a_length", s->cells_a_length);
    kf_json_add_number(json, "cells_across", s->solid[0] > 0.0 ? kf_cells_across(scene) : (double)NAN);
    kf_json_add_number(json, "frontal_area_m2", s->frontal_area);
    kf_json_add_number(json, "reference_area_m2", s->reference_area);
    kf_json_add_number(json, "blockage", s->blockage);
    kf_json_add_number(json, "speed_m_s", s->speed);
    kf_json_add_number(json, "reynolds", s->reynolds);
    kf_json_add_number(json, "reference_length_m", s->length);
    kf_json_add_number(json, "viscosity_m2_s", s->viscosity);
    kf_json_add_number(json, "lattice_viscosity", s->lattice_viscosity);
    kf_json_add_number(json, "flow_through_steps", s->flow_through_steps);
    kf_json_add_number(json, "flow_through_s", s->flow_through_seconds);
    kf_json_add_number(json, "memory_bytes", s->bytes);
    if (scene->finer_count > 0) {
        cJSON_AddItemToObject(json, "levels", kf_scene_levels_json(scene));
        kf_json_add_number(json, "nodes", kf_scene_all_nodes(scene));
        kf_json_add_number(json, "updates_a_step", kf_scene_step_updates(scene));
        cJSON_AddItemToObject(json, "uniform", kf_uniform_cost_json(scene));
    }
    kf_json_add_number(json, "y_plus", s->wall_distance);
    kf_json_add_number(json, "boundary_layer_cells", s->boundary_layer);
    const int count = kf_scene_warnings(s, &lines);
    cJSON_AddItemToObject(json, "warnings", cJSON_CreateStringArray(lines, count));
    return json;
}
