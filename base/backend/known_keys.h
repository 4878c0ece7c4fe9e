/* Remembers keys of builds in this process, with the files from which each was found. A plan asks for the
 * keys of its modules each time it is made, and finding a key reads some twenty files. */
#ifndef KF_BASE_BACKEND_KNOWN_KEYS_H
#define KF_BASE_BACKEND_KNOWN_KEYS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include "base/util/hash.h"

/* Holds one place at which a file was looked for, and the file that was there. */
typedef struct kf_place_looked {
    char *path;
    bool there;
    struct stat about;
} kf_place_looked;

/* Holds all places at which files were looked for. Begin with zeros. */
typedef struct kf_places_looked {
    kf_place_looked *at;
    int count, capacity;
} kf_places_looked;

/* Adds a place once, before the file there is read: a later change would then be noticed. */
void kf_places_add(kf_places_looked *places, const char *path);

/* Frees the places and leaves an empty list. */
void kf_places_free(kf_places_looked *places);

/* Finds the key that was kept for the hash of these inputs. Returns false if there is none, or if a file at
 * its places has changed, is gone or is new. Any thread may call it. */
bool kf_known_key_find(const char inputs[KF_HASH_HEX], char key[KF_HASH_HEX]);

/* Keeps a key and takes its places. A key is not kept if one of its files changed within a few seconds before
 * now: a second change could leave the same time. */
void kf_known_key_keep(const char inputs[KF_HASH_HEX], const char key[KF_HASH_HEX], kf_places_looked *places,
                       time_t now);

#endif
