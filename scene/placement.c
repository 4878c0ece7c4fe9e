#include "scene/placement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/util/memory.h"
#include "scene/mesh_import.h"
#include "scene/posture.h"

static const double BLOCKAGE = 0.05, USUAL_NODES = 1e6, BEFORE = 1.25, BEHIND = 3.0;
/* A prescribed inflow this close to a bluff body raises its drag: with 1.25 diameters before a sphere at Re
 * 100 the drag is 5 % higher than with 4 (docs/accuracy.md). The unit is the width of a square as large as
 * the front. */
static const double BEFORE_BLUFF = 3.75;
static const double USUAL_SPEED = 10.0, USUAL_REYNOLDS = 10000.0, ROAD_SPECULAR = 0.5;
static const double PI = 3.14159265358979323846;

/* ---- Headings ---- */

bool kf_heading_read(const char *text, kf_heading *heading) {
    const int sign = text[0] == '-' ? -1 : 1;
    if (text[0] == '-' || text[0] == '+') text++;
    if (text[0] < 'x' || text[0] > 'z' || text[1] != '\0') return false;
    *heading = (kf_heading){text[0] - 'x', sign};
    return true;
}

const char *kf_heading_name(kf_heading heading) {
    static const char *const names[] = {"+x", "-x", "+y", "-y", "+z", "-z"};
    return names[2 * heading.axis + (heading.sign < 0)];
}

bool kf_placement_given(const kf_placement *p) {
    return p->wind.sign != 0 || p->up.sign != 0 || p->length > 0.0 || p->speed > 0.0 || p->reynolds > 0.0 ||
           p->viscosity > 0.0 || p->road != KF_ROAD_GUESS || p->yaw != 0.0 || p->yaw_given ||
           p->blockage > 0.0 || p->cells > 0.0 || p->refine != 0;
}

bool kf_scene_is_mesh(const char *file) {
    return kf_mesh_is_file_name(file);
}

/* ---- Which way ---- */

static int percent(double share) {
    return (int)lround(100.0 * share);
}

static void measure_extent(const kf_mesh *mesh, double extent[3]) {
    const kf_box box = kf_mesh_bounds(mesh);
    for (int a = 0; a < 3; a++)
        extent[a] = box.high[a] - box.low[a];
}

/* Writes the size of the mesh for each axis as the upward one: "--up x: 2 high, 3 long along z; ...". */
static void name_choices(const double extent[3], char *text, size_t size) {
    size_t length = 0;
    for (int up = 0; up < 3 && length < size; up++) {
        const int one = (up + 1) % 3, other = (up + 2) % 3,
                  along = extent[one] >= extent[other] ? one : other;
        length += (size_t)snprintf(text + length, size - length, "%s--up %c: %.4g high, %.4g long along %c",
                                   up == 0 ? "" : "; ", "xyz"[up], extent[up], extent[along], "xyz"[along]);
    }
}

/* Fails when the posture cannot be guessed. up_guessed: the upward axis is not given. The message then lists
 * the result for each axis. */
static kf_status refuse_guess(const char *file, const double extent[3], const kf_posture *p, bool up_guessed,
                              kf_error *error) {
    char choices[256], hint[400] = "";
    const kf_heading back = {p->wind.axis, -p->wind.sign};
    name_choices(extent, choices, sizeof choices);
    if (p->up_sure < KF_SURE)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: which way is up is not clear from the mesh (%s, %d %% sure); state it with --up "
                       "x, -x, y, -y, z or -z, or write a scene file (%s)",
                       file, kf_heading_name(p->up), percent(p->up_sure), choices);
    if (up_guessed)
        (void)snprintf(hint, sizeof hint,
                       "; that is with %s up, %d %% sure: if it is not, say --up first (%s)",
                       kf_heading_name(p->up), percent(p->up_sure), choices);
    if (p->axis_sure < KF_SURE)
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: along which axis the wind blows is not clear from the mesh (%c, %d %% sure); "
                       "state it with --wind, for example --wind %s%s",
                       file, "xyz"[p->wind.axis], percent(p->axis_sure), kf_heading_name(p->wind), hint);
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: which end is the front is not clear from the mesh (%d %% sure); state the direction "
                   "towards which the wind blows: --wind %s or --wind %s%s",
                   file, percent(p->front_sure), kf_heading_name(p->wind), kf_heading_name(back), hint);
}

/* Returns whether a mesh is glTF. The format defines the axes: y is up, and the front points along z. */
static bool is_gltf(const char *file) {
    return strcasecmp(kf_mesh_ending(file), ".gltf") == 0 || strcasecmp(kf_mesh_ending(file), ".glb") == 0;
}

/* Notes how certain the guesses are, and the size of the mesh that follows from them. */
static void note_sureness(const kf_posture *p, const kf_placement *said, const double extent[3],
                          kf_text *notes) {
    const bool up = said->up.sign == 0, wind = said->wind.sign == 0;
    const int wide = 3 - p->up.axis - p->wind.axis;
    kf_text sure = {0};
    if (!up && !wind) return;
    if (up) kf_text_append(&sure, "up %d %%", percent(p->up_sure));
    if (wind)
        kf_text_append(&sure, "%saxis of the wind %d %%, front %d %%", up ? ", " : "", percent(p->axis_sure),
                       percent(p->front_sure));
    kf_note(notes,
            "guess: %s sure; the mesh is then %.4g high (along %c), %.4g long (%c) and %.4g wide (%c); %s",
            sure.text, extent[p->up.axis], "xyz"[p->up.axis], extent[p->wind.axis], "xyz"[p->wind.axis],
            extent[wide], "xyz"[wide],
            up && wind ? "--up and --wind override this"
            : up       ? "--up overrides this"
                       : "--wind overrides this");
    kf_text_free(&sure);
}

static void note_posture(const kf_posture *p, const kf_placement *said, const double extent[3],
                         bool by_format, kf_text *notes) {
    if (p->as_it_is && said->up.sign == 0 && said->wind.sign == 0 && !by_format)
        kf_note(notes,
                "axes: as in the file, z up and the wind along +x (the mesh is symmetric along all three)");
    else
        kf_note(notes, "axes of the mesh: %s is up%s, the wind blows towards %s%s", kf_heading_name(p->up),
                said->up.sign != 0 ? ""
                : by_format        ? " (as glTF has it)"
                                   : " (guessed: it stands that way)",
                kf_heading_name(p->wind),
                said->wind.sign != 0 ? ""
                : p->like_a_car      ? " (guessed: the cabin is behind the middle)"
                                     : " (guessed)");
    note_sureness(p, said, extent, notes);
}

/* Chooses the posture. The user's options come first, then the format's definition, then a guess that is
 * certain enough. */
static kf_status choose_posture(const char *file, const kf_mesh *mesh, const kf_placement *said,
                                kf_posture *p, kf_text *notes, kf_error *error) {
    const bool by_format =
        is_gltf(file) && said->up.sign == 0 && (said->wind.sign == 0 || said->wind.axis != 1);
    const bool guessed = said->up.sign == 0 && !by_format;
    double extent[3];
    measure_extent(mesh, extent);
    *p = kf_mesh_posture(mesh);
    if (said->up.sign != 0 || by_format) {
        p->up = by_format ? (kf_heading){1, 1} : said->up;
        p->up_sure = 1.0;
        kf_posture_heading(mesh, p);
        if (by_format && !p->like_a_car && p->wind.axis == 2) {
            p->wind.sign = -1;
            p->front_sure = fmax(p->front_sure, KF_SURE);
        }
    } else if (said->wind.sign != 0 && said->wind.axis == p->up.axis) {
        /* The guess contradicts what is given. */
        p->up_sure = 0.0;
    }
    if (said->wind.sign != 0) kf_posture_set_wind(mesh, said->wind, p);
    if (p->up_sure < KF_SURE) return refuse_guess(file, extent, p, guessed, error);
    if (p->wind.axis == p->up.axis)
        return kf_fail(error, KF_BAD_INPUT, "%s: --wind %s and --up %s lie along the same axis", file,
                       kf_heading_name(p->wind), kf_heading_name(p->up));
    if (p->axis_sure < KF_SURE || p->front_sure < KF_SURE)
        return refuse_guess(file, extent, p, guessed, error);
    note_posture(p, said, extent, by_format, notes);
    return KF_OK;
}

static void add_turn(kf_solid_description *solid, const double axis[3], double degrees) {
    if (degrees == 0.0) return;
    memcpy(solid->turn[solid->turns].axis, axis, 3 * sizeof *axis);
    solid->turn[solid->turns++].degrees = degrees;
}

/* Sets the rotations that turn the upward axis to z and then the wind to x. There are none, one or two. */
static void set_turns(const kf_posture *p, kf_solid_description *solid) {
    static const double z[3] = {0, 0, 1}, x[3] = {1, 0, 0};
    double axis[3] = {0}, matrix[9], wind[2];
    solid->turns = 0;
    if (p->up.axis == 2) {
        add_turn(solid, x, p->up.sign > 0 ? 0.0 : 180.0);
    } else {
        /* This is the cross product of the upward axis and z. */
        axis[1 - p->up.axis] = p->up.axis == 0 ? -p->up.sign : p->up.sign;
        add_turn(solid, axis, 90.0);
    }
    kf_placing_matrix(solid, matrix);
    for (int a = 0; a < 2; a++)
        wind[a] = p->wind.sign * matrix[3 * a + p->wind.axis];
    add_turn(solid, z, nearbyint(-atan2(wind[1], wind[0]) * 180.0 / PI));
}

/* ---- How large ---- */

/* The lengths of the turned mesh in its units, without and with the yaw, and its frontal area. */
typedef struct turned {
    double straight, extent[3], front;
} turned;

/* Measures the turned mesh: extents, length along the wind, and frontal area. */
static turned measure_turned(const kf_mesh *mesh, const kf_posture *p, const kf_solid_description *solid) {
    static const double along[3] = {1, 0, 0}, nowhere[3] = {0};
    turned t = {0};
    double matrix[9];
    const kf_box own = kf_mesh_bounds(mesh);
    kf_mesh copy = *mesh;
    copy.vertices = kf_allocate(3 * mesh->vertex_count * sizeof(double) + 1);
    memcpy(copy.vertices, mesh->vertices, 3 * mesh->vertex_count * sizeof(double));
    kf_placing_matrix(solid, matrix);
    kf_mesh_transform(&copy, matrix, nowhere);
    const kf_box box = kf_mesh_bounds(&copy);
    double longest = 0.0;
    for (int a = 0; a < 3; a++) {
        t.extent[a] = box.high[a] - box.low[a];
        longest = fmax(longest, t.extent[a]);
    }
    t.straight = own.high[p->wind.axis] - own.low[p->wind.axis];
    /* A flat sheet across the wind. */
    if (t.straight < 1e-6 * longest) t.straight = longest;
    t.front = kf_mesh_shadow(&copy, along);
    free(copy.vertices);
    return t;
}

/* Takes the unit that the mesh's file states, or guesses it. A car is 2.5 to 6.5 m long, and glTF is in
 * metres. */
static double choose_unit(const char *file, const kf_mesh *mesh, const kf_posture *p, double straight,
                          kf_text *notes) {
    static const double units[] = {1.0, 0.01, 0.001, 0.0254, 0.3048};
    char title[KF_UNIT_TITLE], line[40] = "";
    if (mesh->unit > 0.0) {
        if (mesh->unit_line > 0) (void)snprintf(line, sizeof line, " in line %ld", mesh->unit_line);
        kf_note(notes, "unit: a %s, as the file says%s, so the solid is %.4g m long (--length overrides it)",
                kf_unit_title(mesh->unit, title), line, straight * mesh->unit);
        return mesh->unit;
    }
    for (size_t u = 0; p->like_a_car && !is_gltf(file) && u < sizeof units / sizeof *units; u++) {
        const double length = straight * units[u];
        if (length < 2.5 || length > 6.5) continue;
        kf_note(notes, "unit: a %s, so the car is %.4g m long (guessed; --length overrides it)",
                kf_unit_title(units[u], title), length);
        return units[u];
    }
    kf_note(notes, "unit: a metre, so the solid is %.4g m long (%s; --length overrides it)", straight,
            is_gltf(file) ? "as glTF has it" : "not known from the mesh");
    return 1.0;
}

/* ---- The tunnel ---- */

/* Computes width and height of the cross-section with the given area. The margin is equal at both sides and
 * above; without a road also below. It is at least half of the solid's width and height. */
static void cross_section(const double extent[3], double section, bool road, double *width, double *height) {
    const double w = extent[1], h = extent[2], a = road ? 2.0 : 4.0, b = road ? w + 2.0 * h : 2.0 * (w + h),
                 c = w * h - section;
    const double margin = fmax(0.5 * fmax(w, h), (-b + sqrt(fmax(0.0, b * b - 4.0 * a * c))) / (2.0 * a));
    *width = w + 2.0 * margin;
    *height = h + (road ? 1.0 : 2.0) * margin;
}

static int even_cells(double cells) {
    return 4 * (int)fmax(2.0, ceil(cells / 4.0 - 1e-9));
}

/* Rounds to twelve digits, which a scene file keeps exactly. With more than fifteen digits a written number
 * may have a rounding error. */
static double rounded(double value) {
    if (value == 0.0) return value;
    const double digits = 11.0 - floor(log10(fabs(value))), power = pow(10.0, fabs(digits));
    return digits >= 0.0 ? nearbyint(value * power) / power : nearbyint(value / power) * power;
}

/* Chooses the number of levels around the solid. On the coarsest level the solid still has some cells along
 * it. */
static int choose_levels(int refine, double cells_along) {
    static const double COARSEST = 8.0;
    if (refine > 0) return refine;
    return refine == KF_REFINE_BODY
               ? (int)fmin(fmax(floor(log2(cells_along / COARSEST)), 1.0), KF_FINER_LEVELS)
               : 0;
}

/* Sets the domain's cells to those of the coarsest level. The finest level then has the cells of a uniform
 * grid. */
static void set_refine(kf_description *d, int refine, double length, kf_text *notes) {
    const int levels = choose_levels(refine, length / d->cell_size);
    if (levels == 0) return;
    d->cell_size = ldexp(d->cell_size, levels);
    d->refine.around_body = true;
    d->refine.levels = levels;
    d->rate_rule = KF_RATE_K17;
    kf_note(notes, "refine: %d level%s around the solid%s, with the cells of one grid in the finest", levels,
            levels == 1 ? "" : "s", refine > 0 ? "" : ", by its cells");
}

/* Sets cells and cell_size, and the position of the solid's middle along x. */
static void set_domain(kf_description *d, const turned *t, double scale, bool road, const kf_placement *said,
                       const int nodes[3], kf_text *notes) {
    double extent[3], size[3];
    for (int a = 0; a < 3; a++)
        extent[a] = t->extent[a] * scale;
    const double front = t->front * scale * scale,
                 blockage = said->blockage > 0.0 ? said->blockage : BLOCKAGE;
    const double reach = fmax(extent[0], sqrt(front));
    const double before = fmax(BEFORE * reach, BEFORE_BLUFF * sqrt(front));
    size[0] = before + extent[0] + BEHIND * reach;
    cross_section(extent, front / blockage, road, &size[1], &size[2]);
    d->cell_size = said->cells > 0.0 ? t->straight * scale / said->cells
                                     : cbrt(size[0] * size[1] * size[2] / USUAL_NODES);
    set_refine(d, said->refine, t->straight * scale, notes);
    for (int a = 0; a < 3; a++)
        d->cells[a] = even_cells(size[a] / d->cell_size);
    /* A request for the present grid does not change the scene; 'kftune run' makes such requests. */
    if (nodes[0] > 0 && memcmp(d->cells, nodes, sizeof d->cells) != 0) {
        memcpy(d->cells, nodes, sizeof d->cells);
        d->cell_size = fmax(size[0] / nodes[0], sqrt(front / blockage / ((double)nodes[1] * nodes[2])));
        for (int a = 1; a < 3; a++)
            d->cell_size = fmax(d->cell_size, 1.5 * extent[a] / nodes[a]);
    }
    d->cell_size = rounded(d->cell_size);
    const double longer = d->cells[0] * d->cell_size / size[0];
    d->solid.position[0] = rounded(longer * (before + 0.5 * extent[0]));
    for (int a = 1; a < 3; a++)
        d->solid.position[a] = rounded(0.5 * d->cells[a] * d->cell_size);
    kf_note(notes, "domain: %dx%dx%d cells of %.4g m%s, %.3g cells along the solid, blockage %.2g %%",
            d->cells[0], d->cells[1], d->cells[2], d->cell_size,
            nodes[0] > 0           ? ""
            : said->cells > 0.0    ? ""
            : d->refine.levels > 0 ? " (in the finest about a million)"
                                   : " (about a million)",
            ldexp(t->straight * scale / d->cell_size, d->refine.levels),
            100.0 * front / (d->cells[1] * d->cells[2] * d->cell_size * d->cell_size));
}

static void set_road(kf_description *d) {
    d->solid.anchor = KF_ANCHOR_BOTTOM;
    d->solid.position[2] = 0.0;
    d->faces[KF_ZMIN] = KF_WALL;
    d->face_velocity_given[KF_ZMIN] = true;
    d->face_velocity[KF_ZMIN][0] = d->speed;
    d->specular_share[KF_ZMIN] = ROAD_SPECULAR;
}

static void set_flow(kf_description *d, const kf_placement *said, double length, kf_text *notes) {
    d->speed = said->speed > 0.0 ? said->speed : USUAL_SPEED;
    d->reference_length = rounded(length);
    d->viscosity = said->viscosity;
    if (said->viscosity == 0.0) d->reynolds = said->reynolds > 0.0 ? said->reynolds : USUAL_REYNOLDS;
    kf_note(notes, "flow: %g m/s%s, Reynolds number %.4g%s with the length of %.4g m, %g cells a step",
            d->speed, said->speed > 0.0 ? "" : " (default)",
            d->reynolds > 0.0 ? d->reynolds : d->speed * length / d->viscosity,
            said->reynolds > 0.0 || said->viscosity > 0.0 ? "" : " (default)", length, d->lattice_speed);
}

static void note_yaw(const kf_placement *said, kf_text *notes) {
    if (said->tunnel_yaw_given && said->tunnel_yaw != said->yaw)
        kf_note(notes, "yaw: %g degrees, in the tunnel that was made for %g", said->yaw, said->tunnel_yaw);
    else if (said->yaw != 0.0)
        kf_note(notes, "yaw: %g degrees, counter-clockwise from above", said->yaw);
}

kf_status kf_description_place(kf_description *d, const kf_mesh *mesh, const kf_placement *placement,
                               const int nodes[3], kf_text *notes, kf_error *error) {
    static const kf_placement nothing;
    const kf_placement *said = placement != NULL ? placement : &nothing;
    kf_posture p;
    KF_TRY(choose_posture(d->source, mesh, said, &p, notes, error));
    d->solid.present = true;
    set_turns(&p, &d->solid);
    d->solid.yaw = said->tunnel_yaw_given ? said->tunnel_yaw : said->yaw;
    const turned t = measure_turned(mesh, &p, &d->solid);
    d->solid.yaw = said->yaw;
    d->solid.scale =
        said->length > 0.0 ? said->length / t.straight : choose_unit(d->source, mesh, &p, t.straight, notes);
    d->solid.scale = rounded(d->solid.scale);
    const bool road =
        said->road == KF_ROAD_YES || (said->road == KF_ROAD_GUESS && !p.as_it_is && p.stand >= 0.2);
    set_domain(d, &t, d->solid.scale, road, said, nodes, notes);
    set_flow(d, said, t.straight * d->solid.scale, notes);
    note_yaw(said, notes);
    if (road) set_road(d);
    if (road && p.patches > 0)
        kf_note(notes, "contact: %d patch%s of the solid touch%s the road, %.3g %% of its footprint%s",
                p.patches, p.patches == 1 ? "" : "es", p.patches == 1 ? "es" : "", 100.0 * p.contact,
                p.stand > 0.0 ? "" : "; they do not lie around its middle: it would fall over, is up right?");
    kf_note(
        notes,
        road ? "boundaries: inflow at xmin, outflow at xmax, a road at zmin that moves with the wind and on "
               "which the solid stands (%s), free_slip on the other faces"
             : "boundaries: inflow at xmin, outflow at xmax, free_slip on the other faces (%s)",
        said->road == KF_ROAD_GUESS ? "guessed; --road yes or no overrides it" : "as said");
    kf_note(notes, "model: %s, rates %s", kf_collision_names[d->collision], kf_rate_rule_names[d->rate_rule]);
    return KF_OK;
}
