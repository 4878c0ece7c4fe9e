#include "base/util/foreign.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

typedef struct kind {
    const char *begins;
    /* The length of begins, which may contain zeros. */
    size_t length;
    const char *says;
} kind;

#define BEGINS(text) text, sizeof(text) - 1

static const char picture[] =
    "is a TIFF picture; 'gdal_translate -of AAIGrid IN.tif OUT.asc' makes a grid of heights";

static const char surfer[] =
    "is a grid of Surfer; 'gdal_translate -of AAIGrid IN.grd OUT.asc' makes an ESRI ASCII grid of it";
static const char wide[] = "is text in UTF-16; save it as UTF-8";

static const kind kinds[] = {
    {BEGINS("version https://git-lfs"),
     "is a pointer of Git LFS and not the file itself; get that with 'git lfs pull'"},
    {BEGINS("PK\x03\x04"), "is a zip archive; unpack it"},
    {BEGINS("\x1f\x8b"), "is compressed (gzip); unpack it with gunzip"},
    {BEGINS("BZh"), "is compressed (bzip2); unpack it with bunzip2"},
    {BEGINS("\xfd"
            "7zXZ"),
     "is compressed (xz); unpack it with unxz"},
    {BEGINS("\x28\xb5\x2f\xfd"), "is compressed (zstd); unpack it with unzstd"},
    {BEGINS("\xff\xfe"), wide},
    {BEGINS("\xfe\xff"), wide},
    {BEGINS("\x89PNG"), "is a PNG picture; a mask is named so (.png), a terrain gives it as \"picture\""},
    {BEGINS("II*\0"), picture},
    {BEGINS("MM\0*"), picture},
    {BEGINS("II+\0"), picture},
    {BEGINS("MM\0+"), picture},
    {BEGINS("%PDF"), "is a PDF document"},
    {BEGINS("ISO-10303-21"), "is a STEP file of curved surfaces; export it from the CAD program as STL"},
    {BEGINS("DSAA"), surfer},
    {BEGINS("DSBB"), surfer},
};

/* Returns whether a file is a web page, which people sometimes download instead of the file. It begins with
 * blanks, and letters may have any case. */
static bool is_web_page(const char *bytes, size_t size) {
    static const char *const begins[] = {"<!doctype html", "<html"};
    while (size > 0 && isspace((unsigned char)*bytes)) {
        bytes++;
        size--;
    }
    for (size_t b = 0; b < sizeof begins / sizeof begins[0]; b++)
        if (size >= strlen(begins[b]) && strncasecmp(bytes, begins[b], strlen(begins[b])) == 0) return true;
    return false;
}

const char *kf_foreign_kind(const char *bytes, size_t size) {
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (size >= kinds[k].length && memcmp(bytes, kinds[k].begins, kinds[k].length) == 0)
            return kinds[k].says;
    return is_web_page(bytes, size) ? "is a web page (HTML); download the file itself" : NULL;
}
