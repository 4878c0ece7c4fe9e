#include "base/backend/known_keys.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/util/memory.h"
#include "base/util/text.h"

typedef struct known_key {
    char inputs[KF_HASH_HEX], key[KF_HASH_HEX];
    kf_places_looked places;
} known_key;

/* A plan has some ten modules. The key kept longest makes room for a new one. */
enum { KNOWN = 256 };
static known_key known[KNOWN];
static int next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void kf_places_add(kf_places_looked *places, const char *path) {
    for (int i = 0; i < places->count; i++)
        if (strcmp(places->at[i].path, path) == 0) return;
    if (places->count == places->capacity) {
        places->capacity = 2 * places->capacity + 32;
        places->at = kf_reallocate(places->at, (size_t)places->capacity * sizeof *places->at);
    }
    kf_place_looked *place = &places->at[places->count++];
    memset(place, 0, sizeof *place);
    place->path = kf_duplicate(path);
    place->there = stat(path, &place->about) == 0;
}

void kf_places_free(kf_places_looked *places) {
    for (int i = 0; i < places->count; i++)
        free(places->at[i].path);
    free(places->at);
    memset(places, 0, sizeof *places);
}

static bool same_time(struct timespec one, struct timespec other) {
    return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

/* The time of the last change of a file's entry cannot be set, unlike that of its content. */
static bool is_unchanged(const kf_place_looked *place) {
    struct stat now;
    const bool there = stat(place->path, &now) == 0;
    if (!there || !place->there) return there == place->there;
    return now.st_dev == place->about.st_dev && now.st_ino == place->about.st_ino &&
           now.st_size == place->about.st_size && now.st_mode == place->about.st_mode &&
           same_time(now.st_mtim, place->about.st_mtim) && same_time(now.st_ctim, place->about.st_ctim);
}

static bool are_unchanged(const kf_places_looked *places) {
    for (int i = 0; i < places->count; i++)
        if (!is_unchanged(&places->at[i])) return false;
    return true;
}

/* The lock is only tried, because a process that was forked meanwhile would wait for ever. */
bool kf_known_key_find(const char inputs[KF_HASH_HEX], char key[KF_HASH_HEX]) {
    bool found = false;
    if (pthread_mutex_trylock(&lock) != 0) return false;
    for (int i = 0; i < KNOWN; i++) {
        if (strcmp(known[i].inputs, inputs) != 0) continue;
        found = are_unchanged(&known[i].places);
        if (found) {
            memcpy(key, known[i].key, KF_HASH_HEX);
        } else {
            kf_places_free(&known[i].places);
            known[i].inputs[0] = '\0';
        }
        break;
    }
    (void)pthread_mutex_unlock(&lock);
    return found;
}

static bool is_recent(const kf_places_looked *places, time_t now) {
    /* Some file systems count in steps of two seconds. */
    enum { SECONDS = 4 };
    for (int i = 0; i < places->count; i++) {
        const struct stat *about = &places->at[i].about;
        if (places->at[i].there && (about->st_ctime > now - SECONDS || about->st_mtime > now - SECONDS))
            return true;
    }
    return false;
}

void kf_known_key_keep(const char inputs[KF_HASH_HEX], const char key[KF_HASH_HEX], kf_places_looked *places,
                       time_t now) {
    if (!is_recent(places, now) && pthread_mutex_trylock(&lock) == 0) {
        known_key *entry = &known[next];
        next = (next + 1) % KNOWN;
        kf_places_free(&entry->places);
        memcpy(entry->inputs, inputs, KF_HASH_HEX);
        memcpy(entry->key, key, KF_HASH_HEX);
        entry->places = *places;
        memset(places, 0, sizeof *places);
        (void)pthread_mutex_unlock(&lock);
    }
    kf_places_free(places);
}
