#include "solver/output/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/backend/team/world.h"
#include "base/plan/system.h"
#include "base/util/json.h"
#include "base/util/memory.h"
#include "base/util/text.h"
#include "solver/flow/flow_plan.h"

/* The beginning of the file: "kftune-checkpoint 2 ", then the checksum of everything after its line. The
 * description follows as a JSON object, padded with spaces to HEADER bytes in all. Then comes the state. */
static const char magic[] = "kftune-checkpoint ";
enum {
    FORMAT = 3,
    MAGIC = sizeof magic - 1,
    SEAL_AT = MAGIC + 2,
    SEALED_AT = SEAL_AT + KF_HASH_HEX,
    HEADER = 1024,
    LANES = 8
};

/* The texts of a description, in one table for writing and for reading. */
typedef struct text_field {
    const char *name;
    size_t offset, size;
} text_field;
#define TEXT_FIELD(member)                                                                                   \
    { #member, offsetof(kf_checkpoint, member), sizeof(((kf_checkpoint *)0)->member) }
static const text_field text_fields[] = {
    TEXT_FIELD(system),    TEXT_FIELD(scene),   TEXT_FIELD(scene_hash), TEXT_FIELD(config_hash),
    TEXT_FIELD(collision), TEXT_FIELD(storage), TEXT_FIELD(smoke_hash),
};
enum { TEXT_FIELDS = sizeof text_fields / sizeof text_fields[0] };

/* --- Writing ---------------------------------------------------------------------------------------------
 */

/* Copies a text so that every character takes one byte in JSON. This bounds the size of the header. */
static void plain_copy(char *target, size_t size, const char *source) {
    kf_copy_text(target, size, source);
    for (; *target; target++) {
        if (*target < ' ' || *target > '~' || *target == '"' || *target == '\\') *target = '?';
    }
}

/* Fills in what a checkpoint says of its plan: step, system, scene, config, collision, storage, size, and
 * smoke. */
static void describe_plan(const kf_plan *plan, const kf_smoke *smoke, kf_checkpoint *checkpoint) {
    *checkpoint = (kf_checkpoint){.step = plan->steps_done, .smoke_hash = "-"};
    if (smoke != NULL) {
        kf_smoke_hash(smoke, checkpoint->smoke_hash);
        checkpoint->smoke_bytes = kf_smoke_state_size(smoke);
    }
    const char *storage = "-";
    for (int i = 0; i < plan->config.count; i++) {
        const kf_value *value = &plan->config.values[i];
        if (strcmp(value->parameter, "storage") == 0) storage = value->name;
    }
    plain_copy(checkpoint->system, sizeof checkpoint->system, plan->config.system);
    plain_copy(checkpoint->scene, sizeof checkpoint->scene, plan->problem->name);
    plain_copy(checkpoint->scene_hash, sizeof checkpoint->scene_hash, plan->problem->hash);
    kf_config_hash(&plan->config, checkpoint->config_hash);
    const kf_fact *collision = kf_facts_find(&plan->problem->facts, "collision");
    plain_copy(checkpoint->collision, sizeof checkpoint->collision,
               collision != NULL ? collision->word : "-");
    plain_copy(checkpoint->storage, sizeof checkpoint->storage, storage);
    (void)kf_facts_get_size(&plan->problem->facts, checkpoint->nodes);
}

static kf_status check_keeps_state(const kf_plan *plan, kf_error *error) {
    if (plan->methods->save != NULL) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "system %s keeps no checkpoints: run it from the beginning",
                   plan->problem->system->name);
}

/* Sums the state in eight interleaved sums, at the speed of memory. SHA-256 alone would take longer than the
 * simulation. Every step is a bijection of its sum, so a change of one word is always detected. */
static void begin_sums(uint64_t sums[LANES]) {
    for (int lane = 0; lane < LANES; lane++)
        sums[lane] = 0x9e3779b97f4a7c15U * (uint64_t)(lane + 1);
}

/* Adds a multiple of LANES words, or the last words. */
static void add_up(const void *state, size_t bytes, uint64_t sums[LANES]) {
    for (size_t at = 0; at < bytes; at += LANES * sizeof(uint64_t)) {
        uint64_t words[LANES] = {0};
        size_t left = bytes - at;
        memcpy(words, (const char *)state + at, left < sizeof words ? left : sizeof words);
        for (int lane = 0; lane < LANES; lane++) {
            uint64_t mixed = (sums[lane] ^ words[lane]) * 0xff51afd7ed558ccdU;
            sums[lane] = mixed ^ mixed >> 29;
        }
    }
}

static void seal(const void *header, const uint64_t sums[LANES], char checksum[KF_HASH_HEX]) {
    kf_hasher hasher;
    kf_hash_begin(&hasher);
    kf_hash_add(&hasher, (const char *)header + SEALED_AT, HEADER - SEALED_AT);
    kf_hash_add(&hasher, sums, LANES * sizeof *sums);
    kf_hash_end(&hasher, checksum);
}

static kf_status write_header(const kf_checkpoint *checkpoint, char *header, const void *state,
                              kf_error *error) {
    cJSON *json = cJSON_CreateObject();
    for (int i = 0; i < TEXT_FIELDS; i++)
        cJSON_AddStringToObject(json, text_fields[i].name, (const char *)checkpoint + text_fields[i].offset);
    cJSON_AddItemToObject(json, "nodes", cJSON_CreateIntArray(checkpoint->nodes, 3));
    cJSON_AddNumberToObject(json, "step", (double)checkpoint->step);
    cJSON_AddNumberToObject(json, "state_bytes", (double)checkpoint->state_bytes);
    cJSON_AddNumberToObject(json, "smoke_bytes", (double)checkpoint->smoke_bytes);
    memset(header, ' ', HEADER);
    header[HEADER - 1] = '\n';
    bool fits = cJSON_PrintPreallocated(json, header + SEALED_AT, HEADER - SEALED_AT - 1, false);
    cJSON_Delete(json);
    if (!fits) return kf_fail(error, KF_MACHINE, "the description of a checkpoint is too long");
    size_t end = SEALED_AT + strlen(header + SEALED_AT);
    memset(header + end, ' ', HEADER - 1 - end);
    header[HEADER - 1] = '\n';
    char first[SEALED_AT + 1], checksum[KF_HASH_HEX];
    uint64_t sums[LANES];
    begin_sums(sums);
    add_up(state, checkpoint->state_bytes + checkpoint->smoke_bytes, sums);
    seal(header, sums, checksum);
    (void)snprintf(first, sizeof first, "%s%d %s\n", magic, FORMAT, checksum);
    memcpy(header, first, SEALED_AT);
    return KF_OK;
}

/* Refuses a folder without enough free space. A folder whose free space is unknown is accepted. */
static kf_status check_room(const char *folder, size_t bytes, kf_error *error) {
    struct statvfs disk;
    if (statvfs(folder, &disk) != 0) return KF_OK;
    const double room = (double)disk.f_bavail * (double)disk.f_frsize;
    if ((double)bytes <= room) return KF_OK;
    char needed[32], there[32];
    return kf_fail(
        error, KF_MACHINE,
        "%s: a checkpoint needs %s, but only %s are free there: give --output a folder with more room, "
        "or --checkpoints 0",
        folder, kf_human_bytes((double)bytes, needed), kf_human_bytes(room, there));
}

/* Finds the bytes of a plan's state, and of the whole file with its smoke. */
static kf_status file_size(kf_plan *plan, const kf_smoke *smoke, size_t *state, size_t *all,
                           kf_error *error) {
    KF_TRY(check_keeps_state(plan, error));
    KF_TRY(plan->methods->state_size(plan, state, error));
    *all = HEADER + *state + (smoke != NULL ? kf_smoke_state_size(smoke) : 0);
    return KF_OK;
}

/* Returns whether this process writes the file, which is the first one. All processes receive its errors. */
static bool writes_file(void) {
    return kf_world_rank() == 0;
}

kf_status kf_checkpoint_check_room(const char *folder, kf_plan *plan, const kf_smoke *smoke,
                                   kf_error *error) {
    size_t state = 0, all = 0;
    KF_TRY(file_size(plan, smoke, &state, &all, error));
    return kf_world_agree(writes_file() ? check_room(folder, all, error) : KF_OK, error);
}

/* Looks for room first: minutes may go into a state. */
static kf_status begin_file(const char *path, size_t bytes, kf_file_draft *draft, kf_error *error) {
    char folder[KF_PATH];
    KF_TRY(kf_path(folder, error, "%s", path));
    KF_TRY(check_room(dirname(folder), bytes, error));
    return kf_file_begin(path, bytes, draft, error);
}

/* Writes a checkpoint of a plan and its smoke, with the state of all processes. */
kf_status kf_checkpoint_write(const char *path, kf_plan *plan, kf_smoke *smoke, kf_error *error) {
    kf_checkpoint checkpoint;
    size_t bytes = 0, all = 0;
    KF_TRY(file_size(plan, smoke, &bytes, &all, error));
    describe_plan(plan, smoke, &checkpoint);
    checkpoint.state_bytes = bytes;
    /* The other processes only send their part. */
    const bool writes = writes_file();
    kf_file_draft draft = {.data = NULL};
    KF_TRY(kf_world_agree(writes ? begin_file(path, all, &draft, error) : KF_OK, error));
    char *file = draft.data, *state = writes ? file + HEADER : NULL;
    kf_status status = plan->methods->save(plan, state, error);
    if (status == KF_OK && writes && smoke != NULL) status = kf_smoke_save(smoke, state + bytes, error);
    if (status == KF_OK && writes) status = write_header(&checkpoint, file, state, error);
    return writes ? kf_file_end(&draft, status, error) : status;
}

/* --- Reading ---------------------------------------------------------------------------------------------
 */

static kf_status damaged(const char *path, const char *what, kf_error *error) {
    return kf_fail(error, KF_BAD_INPUT, "%s: a damaged checkpoint: %s; use an older one", path, what);
}

/* Opens a checkpoint and reads its header, or says why it is none: no file, another kind, another format,
 * cut short. */
static kf_status open_file(const char *path, FILE **file, char header[HEADER], kf_error *error) {
    struct stat about;
    *file = NULL;
    /* Opening a FIFO would wait for a writer. */
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return kf_fail(error, KF_BAD_INPUT, "%s: not a regular file; give a checkpoint that kftune run wrote",
                       path);
    *file = fopen(path, "rb");
    if (!*file) {
        return kf_fail(error, kf_errno_status(errno),
                       "%s: cannot be opened: %s; give a checkpoint that kftune run wrote", path,
                       strerror(errno));
    }
    size_t got = fread(header, 1, HEADER, *file);
    kf_status status = KF_OK;
    if (got < MAGIC || memcmp(header, magic, MAGIC) != 0) {
        status = kf_fail(error, KF_BAD_INPUT,
                         "%s: not a checkpoint; give a checkpoint_*.kfc file that kftune run wrote", path);
    } else if (got == HEADER && (header[MAGIC] != '0' + FORMAT || header[MAGIC + 1] != ' ')) {
        status =
            kf_fail(error, KF_BAD_INPUT,
                    "%s: not of checkpoint format %d, which this program reads; use the one that wrote it",
                    path, FORMAT);
    } else if (got < HEADER || header[SEALED_AT - 1] != '\n' || header[HEADER - 1] != '\n') {
        status = damaged(path, got < HEADER ? "it is cut short" : "its first lines are not whole", error);
    }
    if (status == KF_OK) return KF_OK;
    (void)fclose(*file);
    *file = NULL;
    return status;
}

static kf_status read_fields(kf_json_place place, const cJSON *json, kf_checkpoint *checkpoint,
                             kf_error *error) {
    for (int i = 0; i < TEXT_FIELDS; i++) {
        const text_field *field = &text_fields[i];
        const char *text = "";
        KF_TRY(kf_json_string(place, json, field->name, true, &text, error));
        if (strlen(text) >= field->size) return kf_fail(error, KF_BAD_INPUT, "%s is too long", field->name);
        kf_copy_text((char *)checkpoint + field->offset, field->size, text);
    }
    double nodes[3];
    long step = 0, bytes = 0, smoke_bytes = 0;
    KF_TRY(kf_json_numbers(place, json, "nodes", true, 0, INT_MAX, 3, nodes, error));
    KF_TRY(kf_json_integer(place, json, "step", true, 0, KF_JSON_WHOLE, &step, error));
    KF_TRY(kf_json_integer(place, json, "state_bytes", true, 1, KF_JSON_WHOLE, &bytes, error));
    KF_TRY(kf_json_integer(place, json, "smoke_bytes", true, 0, KF_JSON_WHOLE, &smoke_bytes, error));
    for (int a = 0; a < 3; a++)
        checkpoint->nodes[a] = (int)nodes[a];
    checkpoint->step = (uint64_t)step;
    checkpoint->state_bytes = (uint64_t)bytes;
    checkpoint->smoke_bytes = (uint64_t)smoke_bytes;
    return KF_OK;
}

/* Reads the description from a header of the file, which is as long as it says. */
static kf_status read_description(const char *path, FILE *file, const char header[HEADER],
                                  kf_checkpoint *checkpoint, kf_error *error) {
    *checkpoint = (kf_checkpoint){0};
    cJSON *json = NULL;
    kf_json_place place = {path, ""};
    kf_status status = kf_json_parse(path, header + SEALED_AT, HEADER - SEALED_AT, &json, NULL);
    if (status == KF_OK) status = read_fields(place, json, checkpoint, NULL);
    cJSON_Delete(json);
    if (status != KF_OK) return damaged(path, "its description cannot be read", error);
    struct stat facts;
    if (fstat(fileno(file), &facts) != 0 || !S_ISREG(facts.st_mode)) {
        return kf_fail(error, KF_BAD_INPUT, "%s: not a regular file", path);
    }
    uint64_t size = (uint64_t)facts.st_size,
             wanted = HEADER + checkpoint->state_bytes + checkpoint->smoke_bytes;
    if (size == wanted) return KF_OK;
    return damaged(path, size < wanted ? "it is cut short" : "it is longer than it says", error);
}

kf_status kf_checkpoint_describe(const char *path, kf_checkpoint *checkpoint, kf_error *error) {
    FILE *file = NULL;
    char header[HEADER];
    KF_TRY(open_file(path, &file, header, error));
    kf_status status = read_description(path, file, header, checkpoint, error);
    (void)fclose(file);
    return status;
}

/* Fails with KF_BAD_INPUT when two texts differ, and names the text. */
static kf_status must_match(const char *path, const char *what, const char *stored, const char *wanted,
                            kf_error *error) {
    if (strcmp(stored, wanted) == 0) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: written with %s %s, but this run has %s; they cannot be mixed",
                   path, what, stored, wanted);
}

/* Checks the smoke. A run may begin to make smoke, or stop. */
static kf_status check_smoke(const char *path, const kf_checkpoint *stored, const kf_checkpoint *wanted,
                             kf_error *error) {
    if (wanted->smoke_bytes == 0 || stored->smoke_bytes == 0) return KF_OK;
    if (strcmp(stored->smoke_hash, wanted->smoke_hash) == 0 && stored->smoke_bytes == wanted->smoke_bytes)
        return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: its smoke differs from the scene's (emitters, capacity or seed); restore the scene's "
                   "\"smoke\", or continue without --smoke",
                   path);
}

/* The use of a checkpoint: to continue its scene, or to begin another scene in its flow. */
typedef enum way { GO_ON, BEGIN } way;

static kf_status check_lends(const char *path, const kf_plan *plan, kf_error *error) {
    const kf_flow_methods *flow = plan->methods->flow;
    if (flow != NULL && flow->lends != NULL && flow->lends(plan)) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT, "%s: holds more than a flow, which belongs to its own scene", path);
}

static kf_status check_fits(const char *path, const kf_checkpoint *stored, kf_plan *plan,
                            const kf_smoke *smoke, way wanted_for, kf_error *error) {
    kf_checkpoint wanted;
    KF_TRY(check_keeps_state(plan, error));
    describe_plan(plan, smoke, &wanted);
    KF_TRY(check_smoke(path, stored, &wanted, error));
    KF_TRY(must_match(path, "system", stored->system, wanted.system, error));
    if (memcmp(stored->nodes, wanted.nodes, sizeof wanted.nodes) != 0) {
        char grids[2][KF_GRID_TEXT];
        return kf_fail(error, KF_BAD_INPUT, "%s: of a %s grid, but this run has %s; they cannot be mixed",
                       path, kf_grid_text(stored->nodes, grids[0]), kf_grid_text(wanted.nodes, grids[1]));
    }
    KF_TRY(must_match(path, "collision", stored->collision, wanted.collision, error));
    KF_TRY(must_match(path, "storage", stored->storage, wanted.storage, error));
    if (wanted_for == BEGIN) KF_TRY(check_lends(path, plan, error));
    if (wanted_for == GO_ON && strcmp(stored->scene_hash, wanted.scene_hash) != 0) {
        return kf_fail(error, KF_BAD_INPUT,
                       "%s: of scene %s (%.12s), but this run has scene %s (%.12s): mesh, flow, motion or "
                       "samples differ",
                       path, stored->scene, stored->scene_hash, wanted.scene, wanted.scene_hash);
    }
    size_t bytes = 0;
    KF_TRY(plan->methods->state_size(plan, &bytes, error));
    if (stored->state_bytes == bytes) return KF_OK;
    return kf_fail(error, KF_BAD_INPUT,
                   "%s: holds %" PRIu64
                   " bytes of state, but this run needs %zu; give the plan that wrote it",
                   path, stored->state_bytes, bytes);
}

/* Checks that the state behind the header matches its checksum. It reads piece by piece. */
static kf_status check_state(const char *path, FILE *file, const char header[HEADER],
                             const kf_checkpoint *checkpoint, kf_error *error) {
    enum { PIECE = 16 << 20 };
    uint64_t left = checkpoint->state_bytes + checkpoint->smoke_bytes, sums[LANES];
    char checksum[KF_HASH_HEX], *piece = kf_allocate(PIECE);
    bool good = true;
    begin_sums(sums);
    for (size_t bytes = 0; left > 0 && good; left -= bytes) {
        bytes = left < PIECE ? (size_t)left : PIECE;
        good = fread(piece, 1, bytes, file) == bytes;
        if (good) add_up(piece, bytes, sums);
    }
    free(piece);
    if (good) seal(header, sums, checksum);
    if (good && memcmp(checksum, header + SEAL_AT, KF_HASH_HEX - 1) == 0) return KF_OK;
    return damaged(path, "its content does not match its checksum", error);
}

/* The file as memory. Only pages that are read take memory, and the processes of a host share them. */
typedef struct mapping {
    void *at;
    size_t bytes;
    const char *state;
} mapping;

static kf_status map_state(const char *path, FILE *file, const kf_checkpoint *checkpoint, mapping *map,
                           kf_error *error) {
    const size_t bytes = HEADER + (size_t)checkpoint->state_bytes + (size_t)checkpoint->smoke_bytes;
    struct stat about;
    if (fstat(fileno(file), &about) != 0 || about.st_size < (off_t)bytes)
        return damaged(path, "it has become shorter while it was read", error);
    void *at = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fileno(file), 0);
    if (at == MAP_FAILED)
        return kf_fail(error, KF_HOST, "%s: cannot be mapped into memory: %s", path, strerror(errno));
    kf_file_guard(path);
    *map = (mapping){.at = at, .bytes = bytes, .state = (const char *)at + HEADER};
    return KF_OK;
}

/* Reads a checkpoint into the plan after all checks. With BEGIN the plan starts at step 0. */
static kf_status take_up(const char *path, kf_plan *plan, kf_smoke *smoke, way wanted_for,
                         kf_checkpoint *checkpoint, kf_error *error) {
    FILE *file = NULL;
    char header[HEADER];
    KF_TRY(open_file(path, &file, header, error));
    kf_checkpoint stored;
    mapping map = {.at = NULL};
    kf_status status = read_description(path, file, header, &stored, error);
    if (status == KF_OK) status = check_fits(path, &stored, plan, smoke, wanted_for, error);
    if (status == KF_OK) status = check_state(path, file, header, &stored, error);
    if (status == KF_OK) status = map_state(path, file, &stored, &map, error);
    if (status == KF_OK && smoke != NULL && stored.smoke_bytes > 0)
        status = kf_smoke_restore(smoke, map.state + stored.state_bytes, error);
    if (status == KF_OK)
        status = plan->methods->restore(plan, map.state, wanted_for == BEGIN ? 0 : stored.step, error);
    if (map.at != NULL) kf_file_guard(NULL);
    if (map.at != NULL) (void)munmap(map.at, map.bytes);
    (void)fclose(file);
    if (checkpoint) *checkpoint = stored;
    return status;
}

kf_status kf_checkpoint_restore(const char *path, kf_plan *plan, kf_smoke *smoke, kf_checkpoint *checkpoint,
                                kf_error *error) {
    return take_up(path, plan, smoke, GO_ON, checkpoint, error);
}

kf_status kf_checkpoint_begin(const char *path, kf_plan *plan, kf_error *error) {
    return take_up(path, plan, NULL, BEGIN, NULL, error);
}
