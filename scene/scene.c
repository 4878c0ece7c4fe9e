#include "scene/scene.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util/clean.h"
#include "base/util/log.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "base/util/vector.h"
#include "scene/internal.h"

static const double PI = 3.14159265358979323846;

/* ---- Size and front ---- */

static double node_count(const kf_scene *scene) {
    return (double)scene->nodes[0] * scene->nodes[1] * scene->nodes[2];
}

/* Refuses a scene that is too large for the devices of the run, before its data are made. Every system keeps
 * at least 16 bytes per node. */
static kf_status check_room(const kf_scene *scene, const kf_scene_options *options, kf_error *error) {
    static const double LEAST_NODE_BYTES = 16;
    const double nodes = node_count(scene);
    char least[32], memory[32];
    if (options == NULL || options->memory == NULL || nodes < KF_MANY_NODES) return KF_OK;
    const double room = options->memory(options->memory_context);
    if (!(room > 0.0) || LEAST_NODE_BYTES * nodes <= room) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: the grid %dx%dx%d has %.3g nodes, which take %s at least, but the memory for them "
                   "has %s; make it coarser, or name more devices",
                   scene->source, scene->nodes[0], scene->nodes[1], scene->nodes[2], nodes,
                   kf_human_bytes(LEAST_NODE_BYTES * nodes, least), kf_human_bytes(room, memory));
}

/* Computes the frontal area of the solid before its yaw, which is the reference. The stream's direction is
 * turned back by the yaw. */
static void set_frontal_area(kf_scene *scene) {
    static const double upright[3] = {0, 0, 1};
    double turn[9], with_solid[3], v[3];
    scene->frontal_area = 0.0;
    if (!scene->reference_area_given) scene->reference_area = 0.0;
    kf_rotation(upright, scene->yaw * PI / 180.0, turn);
    if (kf_scene_fastest_face(scene, KF_INFLOW, v) == 0.0) return;
    scene->frontal_area = kf_mesh_shadow(&scene->mesh, v);
    for (int a = 0; a < 3; a++)
        with_solid[a] = turn[3 * a] * v[0] + turn[3 * a + 1] * v[1] + turn[3 * a + 2] * v[2];
    if (!scene->reference_area_given)
        scene->reference_area =
            scene->yaw == 0.0 ? scene->frontal_area : kf_mesh_shadow(&scene->mesh, with_solid);
}

bool kf_scene_has_solid(const kf_scene *scene) {
    return scene->mesh.triangle_count > 0 ||
           (scene->mask != NULL && scene->solid_high[0] > scene->solid_low[0]);
}

double kf_scene_reference_area(const kf_scene *scene) {
    if (scene->reference_area > 0.0) return scene->reference_area;
    return scene->mask != NULL && kf_scene_has_solid(scene) ? scene->reference_length : scene->frontal_area;
}

void kf_scene_refer_to_area(kf_scene *scene, double area) {
    scene->reference_area = area / (scene->cell_size * scene->cell_size);
    scene->reference_area_given = true;
}

/* ---- Hash ---- */

static void hash_numbers(kf_hasher *hasher, size_t count, const double *values) {
    for (size_t i = 0; i < count; i++) {
        /* -0 and 0 are the same number. */
        const double value = values[i] + 0.0;
        kf_hash_add(hasher, &value, sizeof value);
    }
}

static void hash_integer(kf_hasher *hasher, int64_t value) {
    kf_hash_add(hasher, &value, sizeof value);
}

/* Hashes the motions of several solids, and which samples belong to which solid. */
static void hash_solids(const kf_scene *scene, kf_hasher *hasher) {
    kf_hash_add_string(hasher, "several solids");
    hash_integer(hasher, scene->solid_count);
    for (int s = 0; s < scene->solid_count; s++) {
        const kf_motion *motion = &scene->solids[s].motion;
        hash_numbers(hasher, 3, motion->center);
        hash_numbers(hasher, 3, motion->axis);
        hash_numbers(hasher, 1, &motion->angular_speed);
    }
    kf_hash_add(hasher, scene->samples.solid, scene->samples.count);
}

static void hash_wall(const kf_links *links, kf_hasher *hasher) {
    kf_hash_add_string(hasher, "law of the wall");
    for (size_t i = 0; i < links->wall_count; i++) {
        for (int a = 0; a < 3; a++)
            hash_integer(hasher, links->wall[i].seen[a]);
        hash_numbers(hasher, 3, links->wall[i].normal);
        hash_numbers(hasher, 1, &links->wall[i].area);
        hash_numbers(hasher, 1, &links->wall[i].height);
    }
    /* The nodes of a modelled layer follow from these. */
    if (links->layer_depth > 0) hash_integer(hasher, links->layer_depth);
}

/* Computes the scene's hash from all that its flow depends on. Newer keys are hashed only when they differ
 * from the default, so older hashes stay valid. */
static void hash_scene(kf_scene *scene) {
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add_string(&hasher, "kftune scene 1");
    for (int a = 0; a < 3; a++)
        hash_integer(&hasher, scene->nodes[a]);
    for (int f = 0; f < KF_FACES; f++)
        hash_integer(&hasher, scene->faces[f]);
    hash_numbers(&hasher, 3 * KF_FACES, &scene->face_velocity[0][0]);
    hash_integer(&hasher, scene->initial);
    hash_integer(&hasher, scene->collision);
    hash_integer(&hasher, scene->rate_rule);
    if (scene->basis != KF_BASIS_HERMITE) hash_integer(&hasher, scene->basis);
    hash_integer(&hasher, scene->motion.moving);
    const double scalars[] = {scene->cell_size,        scene->time_step,       scene->reynolds,
                              scene->reference_length, scene->reference_speed, scene->viscosity,
                              scene->high_order_rate,  scene->solid_area,      scene->motion.angular_speed};
    hash_numbers(&hasher, sizeof scalars / sizeof scalars[0], scalars);
    if (scene->accuracy != KF_DEFAULT_ACCURACY) hash_numbers(&hasher, 1, &scene->accuracy);
    hash_numbers(&hasher, 3, scene->initial_velocity);
    if (scene->disturbance > 0.0) {
        hash_numbers(&hasher, 1, &scene->disturbance);
        hash_integer(&hasher, (long long)scene->seed);
    }
    hash_numbers(&hasher, 3, scene->body_force);
    hash_numbers(&hasher, 3, scene->solid_low);
    hash_numbers(&hasher, 3, scene->solid_high);
    hash_numbers(&hasher, 3, scene->motion.center);
    hash_numbers(&hasher, 3, scene->motion.axis);
    hash_numbers(&hasher, 3, scene->motion.velocity);
    if (scene->motion.free) {
        kf_hash_add_string(&hasher, "free solid");
        hash_numbers(&hasher, 1, &scene->motion.excess_mass);
        hash_numbers(&hasher, 9, scene->motion.excess_inertia);
        hash_numbers(&hasher, 3, scene->motion.gravity);
    }
    if (scene->immersed_passes > 1) hash_integer(&hasher, scene->immersed_passes);
    if (scene->outer_ones) kf_hash_add_string(&hasher, "outer ones");
    if (scene->linked) {
        kf_hash_add_string(&hasher, "links");
        for (size_t i = 0; i < scene->links.count; i++) {
            const kf_link *link = &scene->links.link[i];
            for (int a = 0; a < 3; a++)
                hash_integer(&hasher, 4L * link->at[0].node[a] + link->at[0].direction[a]);
            hash_integer(&hasher, link->behind);
            hash_numbers(&hasher, 1, &link->share);
        }
        if (scene->wall_law) hash_wall(&scene->links, &hasher);
    }
    kf_scene_hash_sections(scene, &hasher);
    hash_integer(&hasher, (int64_t)scene->samples.count);
    hash_numbers(&hasher, scene->samples.count, scene->samples.x);
    hash_numbers(&hasher, scene->samples.count, scene->samples.y);
    hash_numbers(&hasher, scene->samples.count, scene->samples.z);
    hash_numbers(&hasher, scene->samples.count, scene->samples.area);
    if (scene->solid_count > 0) hash_solids(scene, &hasher);
    if (scene->mask != NULL) {
        kf_hash_add(&hasher, scene->mask, (size_t)scene->nodes[0] * (size_t)scene->nodes[1]);
        hash_numbers(&hasher, 3, scene->mask_velocity);
        if (scene->mask_has_pressure) hash_numbers(&hasher, 1, &scene->mask_density);
    }
    if (scene->parabolic_inflow) kf_hash_add_string(&hasher, "parabolic inflow");
    for (int f = 0; f < KF_FACES; f++)
        if (scene->specular_share[f] > 0.0) {
            hash_integer(&hasher, f);
            hash_numbers(&hasher, 1, &scene->specular_share[f]);
        }
    for (int l = 0; l < scene->finer_count; l++)
        for (int a = 0; a < 3; a++) {
            hash_integer(&hasher, scene->boxes[l].low[a]);
            hash_integer(&hasher, scene->boxes[l].high[a]);
        }
    if (scene->finer_count > 0) kf_hash_add_string(&hasher, kf_scene_finest(scene)->hash);
    kf_hash_end(&hasher, scene->hash);
}

/* Completes the finest of nested grids. Only it has samples, depth and open edges. The coarsest grid gets
 * them in its own cells. */
kf_status kf_scene_finish(kf_scene *scene, const kf_scene_options *options, kf_text *notes, kf_error *error) {
    const kf_scene_options of_finer = {.described = options != NULL && options->described};
    double samples = 0.0;
    bool placed = true;
    KF_TRY(check_room(scene, options, error));
    if (scene->finer_count > 0) {
        kf_scene *finest = scene->finer[scene->finer_count - 1];
        KF_TRY(kf_scene_finish(finest, &of_finer, notes, error));
        placed = finest->hash[0] != '\0';
        scene->open_edges = finest->open_edges;
        scene->solid_area = ldexp(finest->solid_area, -2 * scene->finer_count);
        scene->surface_depth = ldexp(finest->surface_depth, -scene->finer_count);
        scene->laminar = finest->laminar;
        for (int l = 0; l < scene->finer_count; l++)
            scene->finer[l]->laminar = finest->laminar;
        KF_TRY(kf_scene_check_boxes(scene, error));
    }
    if (scene->mesh.triangle_count > 0) {
        const bool later = of_finer.described && scene->linked && scene->finer_count == 0 &&
                           kf_scene_link_work(scene) >= KF_MANY_LINKED;
        if (later) kf_scene_set_depth(scene);
        if (later)
            kf_note(notes, "links: of %.3g nodes around the solid, which this command does not cut",
                    kf_scene_link_work(scene));
        placed = !later && placed;
        if (scene->finer_count == 0 && !later) KF_TRY(kf_scene_count_samples(scene, &samples, error));
        set_frontal_area(scene);
    }
    if (of_finer.described && samples >= KF_MANY_SAMPLES) {
        kf_note(notes, "samples: about %.3g, which this command does not place", samples);
        placed = false;
    } else if (samples > 0.0) {
        KF_TRY(kf_scene_place_samples(scene, samples, notes, error));
    }
    if (placed) hash_scene(scene);
    return KF_OK;
}

/* ---- Opening ---- */

/* Shortens a name for the names of output files. Two long names that differ at their end stay different. */
static void shorten(const char *whole, char name[128]) {
    /* "-" and eight digits. */
    enum { SIZE = 128, TAIL = 9 };
    const size_t length = strlen(whole);
    kf_copy_text(name, SIZE, whole);
    if (length < SIZE) return;
    char hex[KF_HASH_HEX];
    kf_hash_text(whole, hex);
    (void)snprintf(name + SIZE - 1 - TAIL, TAIL + 1, "-%.8s", hex);
    /* The cut may split a character. */
    kf_clean_text(name);
}

static void strip_endings(char *name) {
    static const char *const endings[] = {".json", ".scene", ".obj", ".stl", ".ply", ".gltf", ".glb", ".png"};
    for (bool found = true; found;) {
        found = false;
        char *dot = strrchr(name, '.');
        for (size_t e = 0; dot != NULL && dot != name && e < sizeof endings / sizeof endings[0]; e++)
            found = found || strcasecmp(dot, endings[e]) == 0;
        if (found) *dot = '\0';
    }
}

/* Returns the folder's name for the scene that a run keeps in its folder: "car-run/scene.json" is "car". */
static char *name_of_folder(const char *path, const char *slash) {
    static const char ending[] = "-run";
    const char *start = slash;
    while (start > path && start[-1] != '/')
        start--;
    size_t length = (size_t)(slash - start);
    const size_t tail = sizeof ending - 1;
    if (length > tail && strncmp(slash - tail, ending, tail) == 0) length -= tail;
    char *name = kf_duplicate(start);
    name[length] = '\0';
    return name;
}

void kf_scene_name(const char *path, char name[128]) {
    const char *slash = strrchr(path, '/');
    const bool kept = slash != NULL && slash != path && slash[-1] != '.' && slash[-1] != '/' &&
                      strcmp(slash + 1, "scene.json") == 0;
    char *whole = kept ? name_of_folder(path, slash) : kf_duplicate(slash == NULL ? path : slash + 1);
    if (!kept) strip_endings(whole);
    kf_clean_text(whole);
    shorten(whole, name);
    free(whole);
}

static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Lists the names of the shipped scenes. The program owns the list. */
kf_status kf_scene_library(const char *const **names, kf_error *error) {
    static char *found[65];
    static int count;
    if (count == 0) {
        const char *data = NULL;
        char folder[KF_PATH];
        KF_TRY(kf_data_folder(&data, error));
        KF_TRY(kf_path(folder, error, "%s/scene/library", data));
        DIR *listing = NULL;
        const kf_status opened = kf_folder_open(folder, &listing, error);
        if (opened == KF_HOST) return opened;
        if (opened != KF_OK)
            return kf_fail(error, KF_MACHINE,
                           "%s: the shipped scenes are missing; install kftune again, or set "
                           "KFTUNE_DATA to its data folder",
                           folder);
        for (const struct dirent *item; count < 64 && (item = readdir(listing)) != NULL;) {
            if (!kf_ends_in(item->d_name, ".json")) continue;
            found[count] = kf_duplicate(item->d_name);
            found[count++][strlen(item->d_name) - strlen(".json")] = '\0';
        }
        closedir(listing);
        qsort(found, (size_t)count, sizeof found[0], compare_names);
    }
    *names = (const char *const *)found;
    return KF_OK;
}

static bool is_folder(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Finds a scene by its file name, or by the name of a shipped scene. */
kf_status kf_scene_find(const char *name, char path[KF_PATH], kf_error *error) {
    if (is_file(name)) return kf_path(path, error, "%s", name);
    if (name[0] == '\0')
        return kf_fail(error, KF_BAD_INPUT, "the scene's name is empty; give a file or a shipped scene");
    const char *const *names = NULL, *data = NULL;
    KF_TRY(kf_scene_library(&names, error));
    KF_TRY(kf_data_folder(&data, error));
    kf_text list = {0};
    int count = 0;
    for (; names[count] != NULL; count++) {
        if (strcmp(names[count], name) == 0) {
            kf_text_free(&list);
            return kf_path(path, error, "%s/scene/library/%s.json", data, name);
        }
        kf_text_append(&list, "%s%s", count == 0 ? "" : ", ", names[count]);
    }
    const char *nearest = kf_nearest(name, names, count);
    kf_status status;
    if (nearest != NULL)
        status = kf_fail(error, KF_BAD_INPUT, "%s: no such file or shipped scene; did you mean %s?", name,
                         nearest);
    else if (is_folder(name))
        status = kf_fail(error, KF_BAD_INPUT, "%s: is a folder; give the mesh or the scene file in it", name);
    else if (strpbrk(name, "./") != NULL)
        status = kf_fail(error, KF_BAD_INPUT,
                         "%s: no such file; 'kftune list scenes' names the shipped scenes", name);
    else
        status = kf_fail(error, KF_BAD_INPUT, "%s: no such file or shipped scene; shipped are %s", name,
                         list.text);
    kf_text_free(&list);
    return status;
}

static kf_status check_options(const kf_scene_options *options, kf_error *error) {
    for (int a = 0; a < 3; a++)
        if (options->nodes[a] < 0 || options->nodes[a] > 16384 ||
            (options->nodes[a] == 0) != (options->nodes[0] == 0))
            return kf_fail(error, KF_BAD_INPUT, "grid %dx%dx%d: each axis needs 1 to 16384 nodes",
                           options->nodes[0], options->nodes[1], options->nodes[2]);
    const double samples = options->samples_per_cell;
    if (samples != 0.0 && !(samples >= 1.0 && samples <= 1000.0))
        return kf_fail(error, KF_BAD_INPUT, "samples per cell %g: must lie between 1 and 1000", samples);
    const double accuracy = options->accuracy;
    if (accuracy != 0.0 && !(accuracy >= KF_DEFAULT_ACCURACY && accuracy <= KF_LOOSEST_ACCURACY))
        return kf_fail(error, KF_BAD_INPUT, "accuracy %g: must lie between %g and %g", accuracy,
                       KF_DEFAULT_ACCURACY, KF_LOOSEST_ACCURACY);
    return KF_OK;
}

/* Makes the mesh of a described solid, in its own units. */
static kf_status read_solid(const kf_description *d, const kf_solid_description *solid, kf_mesh *mesh,
                            kf_text *notes, kf_error *error) {
    if (solid->shape != NULL) {
        kf_shape_mesh(solid->shape, solid->shape_values, mesh);
        return KF_OK;
    }
    const kf_status status = kf_mesh_read(solid->mesh_file, mesh, notes, error);
    if (status == KF_OK && !solid->scaled) kf_mesh_note_unit(solid->mesh_file, mesh, notes);
    return status == KF_BAD_INPUT ? kf_fail_context(error, "%s: %s.mesh", d->source, solid->path) : status;
}

static kf_status describe(const char *path, const kf_placement *placement, const kf_scene_options *options,
                          kf_scene *scene, kf_description *d, kf_mesh *meshes, kf_text *notes,
                          kf_error *error) {
    kf_description_defaults(d, path);
    const bool bare = kf_mesh_is_file_name(path);
    if (bare) {
        KF_TRY(kf_mesh_read(path, meshes, notes, error));
        KF_TRY(kf_description_place(d, meshes, placement, options->nodes, notes, error));
    } else if (kf_mask_is_file_name(path)) {
        KF_TRY(kf_description_mask_tunnel(d, options->nodes, notes, error));
    } else {
        if (!kf_ends_in(path, ".json"))
            return kf_fail(
                error, KF_BAD_INPUT,
                "%s: neither a scene file (.json) nor a mesh (.obj, .stl, .ply, .gltf, "
                ".glb) nor a mask (.png) by its ending; convert a mesh of another kind to one of these",
                path);
        KF_TRY(kf_description_read(path, options, d, notes, error));
        KF_TRY(kf_scene_read_sections(path, options, scene, error));
        const int *nodes = options->nodes[0] > 0 ? options->nodes : d->asked_nodes;
        if (nodes[0] > 0) kf_description_regrid(d, nodes, notes);
        /* The time step is proportional to the square of the cell size. */
        if (d->lattice_viscosity > 0.0)
            d->lattice_speed = d->lattice_viscosity * d->speed * d->cell_size / d->viscosity;
        if (d->solid_count == 0 && d->solid.present) KF_TRY(read_solid(d, &d->solid, meshes, notes, error));
        for (int i = 0; i < d->solid_count; i++)
            KF_TRY(read_solid(d, &d->solids[i], &meshes[i], notes, error));
    }
    if (options->samples_per_cell > 0.0) d->samples_per_cell = options->samples_per_cell;
    if (options->accuracy > 0.0) d->accuracy = options->accuracy;
    if (options->seed > 0) d->seed = options->seed;
    return KF_OK;
}

/* Notes the number of links, and the parts of the solid that contain no node. */
static void note_links(const kf_scene *scene, kf_text *notes) {
    /* About one of this many links of a round body grazes it. */
    enum { FEW = 20 };
    const kf_links *links = &scene->links;
    kf_note(notes, "links: the surface cuts %zu, %zu nodes lie inside", links->count, links->inside_count);
    if (links->inside_count == 0)
        kf_note(notes, "links: the fluid reaches every node: the solid is a sheet, or its mesh is open, and "
                       "fluid fills it");
    else if (links->thin_count > links->count / FEW)
        kf_note(notes,
                "links: %zu of them have fluid at both ends: they cut a corner of the solid, or it is "
                "thinner than a cell "
                "there, or open",
                links->thin_count);
}

static kf_status build_scene(const char *file_or_name, const kf_placement *placement,
                             const kf_scene_options *options, kf_scene *scene, kf_text *notes,
                             kf_error *error) {
    char path[KF_PATH];
    KF_TRY(check_options(options, error));
    KF_TRY(kf_scene_find(file_or_name, path, error));
    kf_scene_name(path, scene->name);
    kf_copy_text(scene->source, sizeof scene->source, file_or_name);
    kf_description *d = kf_allocate(sizeof *d);
    kf_mesh meshes[KF_MOST_SOLIDS] = {{0}};
    kf_status status = describe(path, placement, options, scene, d, meshes, notes, error);
    if (status == KF_OK) status = kf_scene_build(d, meshes, notes, scene, error);
    for (int i = 0; i < KF_MOST_SOLIDS; i++)
        kf_mesh_free(&meshes[i]);
    free(d);
    KF_TRY(status);
    if (options->node_limit > 0) KF_TRY(kf_scene_coarsen(scene, options->node_limit, error));
    kf_scene_make_finer(scene);
    KF_TRY(kf_scene_finish(scene, options, notes, error));
    KF_TRY(kf_scene_check_moving_thickness(scene, error));
    char absolute[KF_PATH];
    if (is_file(file_or_name) && kf_real_path(path, absolute))
        kf_copy_text(scene->source, sizeof scene->source, absolute);
    const size_t samples = kf_scene_finest(scene)->samples.count;
    if (samples > 0)
        kf_note(notes, "samples: %zu, %g for each cell^2 of surface, seed %llu", samples,
                scene->samples_per_cell, (unsigned long long)scene->seed);
    if (kf_scene_finest(scene)->links.count > 0) note_links(kf_scene_finest(scene), notes);
    return KF_OK;
}

kf_status kf_scene_open(const char *file_or_name, const kf_scene_options *options, kf_scene **scene,
                        kf_error *error) {
    return kf_scene_open_placed(file_or_name, NULL, options, scene, error);
}

kf_status kf_scene_open_placed(const char *file_or_name, const kf_placement *placement,
                               const kf_scene_options *options, kf_scene **scene, kf_error *error) {
    static const kf_scene_options none;
    kf_scene *opened = kf_allocate_zeroed(1, sizeof *opened);
    kf_text notes = {0};
    const kf_status status =
        build_scene(file_or_name, placement, options == NULL ? &none : options, opened, &notes, error);
    opened->notes = notes.text;
    *scene = status == KF_OK ? opened : NULL;
    if (status != KF_OK) kf_scene_free(opened);
    return status;
}

void kf_scene_free(kf_scene *scene) {
    if (scene == NULL) return;
    kf_mesh_free(&scene->mesh);
    kf_samples_free(&scene->samples);
    kf_links_free(&scene->links);
    for (int i = 0; i < KF_SCENE_SECTIONS; i++)
        free(scene->sections[i].values);
    for (int l = 0; l < scene->finer_count; l++)
        kf_scene_free(scene->finer[l]);
    free(scene->mask);
    free(scene->notes);
    free(scene);
}

/* ---- Small questions ---- */

int kf_scene_fastest_of(const kf_scene *scene, kf_boundary kind) {
    int found = -1;
    double fastest = -1.0;
    for (int face = 0; face < KF_FACES; face++) {
        const double speed = kf_length(scene->face_velocity[face]);
        if (scene->faces[face] != kind || speed <= fastest) continue;
        found = face;
        fastest = speed;
    }
    return found;
}

bool kf_scene_has_face(const kf_scene *scene, kf_boundary kind) {
    return kf_scene_fastest_of(scene, kind) >= 0;
}

double kf_scene_fastest_face(const kf_scene *scene, kf_boundary kind, double velocity[3]) {
    static const double none[3] = {0.0, 0.0, 0.0};
    const int face = kf_scene_fastest_of(scene, kind);
    memcpy(velocity, face >= 0 ? scene->face_velocity[face] : none, sizeof none);
    return kf_length(velocity);
}

bool kf_scene_mask_has_stream(const kf_scene *scene) {
    if (scene->mask == NULL || scene->mask_has_pressure) return false;
    const size_t count = (size_t)scene->nodes[0] * (size_t)scene->nodes[1] * (size_t)scene->nodes[2];
    return memchr(scene->mask, KF_NODE_INFLOW, count) != NULL;
}

double kf_scene_flow_through(const kf_scene *scene) {
    /* A flow that starts at rest may get a stream through nodes of the mask. */
    const double *stream = kf_length(scene->initial_velocity) == 0.0 && kf_scene_mask_has_stream(scene)
                               ? scene->mask_velocity
                               : scene->initial_velocity;
    int along = 0;
    for (int a = 1; a < 3; a++)
        if (fabs(stream[a]) > fabs(stream[along])) along = a;
    if (scene->initial != KF_INITIAL_UNIFORM || stream[along] == 0.0) return 0.0;
    return scene->nodes[along] / fabs(stream[along]);
}

int kf_scene_shortest_edge(const kf_scene *scene) {
    double shortest = INFINITY;
    for (int a = 0; a < 3; a++)
        shortest = fmin(shortest, scene->solid_high[a] - scene->solid_low[a]);
    /* 12 cells with a rounding error are 12 cells. */
    return shortest < 1.0 ? 1 : (int)ceil(shortest - 1e-6);
}
