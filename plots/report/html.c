#include "plots/report/html.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/util/clean.h"

/* Longer texts are cut as in lists, because a name of megabytes would make such a page. */
enum { LONGEST_TEXT = 4096 };

/* Appends a text to a page. Characters with a meaning in HTML are escaped, and bytes that are not UTF-8 are
 * replaced. */
void kf_html_text(kf_text *page, const char *text) {
    for (const char *c = text; *c != '\0';) {
        if (c - text >= LONGEST_TEXT) {
            kf_text_append(page, "\xe2\x80\xa6");
            return;
        }
        const size_t length = kf_utf8_length(c);
        if (length == 0)
            kf_text_append(page, "\xef\xbf\xbd");
        else if ((unsigned char)*c < ' ' || *c == 0x7f)
            kf_text_append(page, " ");
        else if (strchr("&<>\"'", *c) != NULL && length == 1)
            kf_text_append(page, "&#%d;", *c);
        else
            kf_text_append(page, "%.*s", (int)length, c);
        c += length > 0 ? length : 1;
    }
}

void kf_html_print(kf_text *page, const char *format, ...) {
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    kf_html_text(page, line);
}

void kf_html_fact(kf_text *page, const char *name, const char *value) {
    kf_text_append(page, "<tr><th scope=\"row\">");
    kf_html_text(page, name);
    kf_text_append(page, "</th><td>");
    kf_html_text(page, value);
    kf_text_append(page, "</td></tr>\n");
}

/* Appends bytes in base 64, for a picture within the page. */
static void append_base64(kf_text *page, const unsigned char *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char block[4096 + 1];
    size_t at = 0;
    for (size_t i = 0; i < size; i += 3) {
        unsigned long group = (unsigned long)bytes[i] << 16;
        if (i + 1 < size) group |= (unsigned long)bytes[i + 1] << 8;
        if (i + 2 < size) group |= bytes[i + 2];
        block[at++] = digits[group >> 18];
        block[at++] = digits[(group >> 12) & 63];
        block[at++] = i + 1 < size ? digits[(group >> 6) & 63] : '=';
        block[at++] = i + 2 < size ? digits[group & 63] : '=';
        if (at + 4 > sizeof block - 1 || i + 3 >= size) {
            block[at] = '\0';
            kf_text_append(page, "%s", block);
            at = 0;
        }
    }
}

void kf_html_image(kf_text *page, const char *type, const void *bytes, size_t size, const char *description) {
    kf_text_append(page, "<img alt=\"");
    kf_html_text(page, description);
    kf_text_append(page, "\" src=\"data:%s;base64,", type);
    append_base64(page, bytes, size);
    kf_text_append(page, "\">\n");
}

/* The page has no scripts or fonts and needs no other files. A long name breaks anywhere, so that it does not
 * widen the page. Tables scroll sideways on a phone and are complete on paper. */
static const char style[] =
    "*{box-sizing:border-box}"
    "body{font:16px/1.5 system-ui,sans-serif;color:#1b1f24;background:#fff;max-width:62rem;margin:0 "
    "auto;padding:1rem;overflow-wrap:anywhere}"
    "h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0}"
    "h2{font-size:1.25rem;margin:2.2rem 0 .6rem;padding-bottom:.2rem;border-bottom:2px solid #0072b2}"
    "h3{font-size:1.05rem;margin:1.4rem 0 .4rem}"
    "p{margin:.4rem 0}.quiet{color:#57606a}"
    "nav a{display:inline-block;margin:.1rem .8rem .1rem 0}a{color:#0059a0}"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.7rem;margin:.8rem "
    "0;padding:0;list-style:none}"
    ".cards li{border:1px solid #d0d7de;border-radius:.5rem;padding:.6rem .8rem}"
    ".cards b{display:block;font-size:1.35rem;line-height:1.3}"
    ".wide{overflow-x:auto}"
    "table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;width:100%}"
    "th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid "
    "#e3e7eb}"
    "thead th{white-space:nowrap;border-bottom:2px solid #8c959f}"
    ".wide td,.wide "
    "th{overflow-wrap:normal}td.s{white-space:nowrap;min-width:6rem}td.c{min-width:16rem}.counters "
    "thead th{white-space:normal;vertical-align:bottom}.counters td{padding:.3rem .4rem}"
    "td.n,th.n{text-"
    "align:right;white-space:"
    "nowrap}"
    "table.facts th{font-weight:normal;color:#57606a;width:13rem}"
    ".two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1.2rem;align-"
    "items:start}"
    "figure{margin:1rem 0;overflow-x:auto}figure.plot "
    "img{min-width:45rem}img{max-width:100%;height:auto;display:block}"
    "pre{background:#f6f8fa;border:1px solid "
    "#d0d7de;border-radius:.4rem;padding:.7rem;overflow-x:auto;font-size:.85rem;white-space:pre-wrap}"
    ".v{display:inline-block;padding:0 "
    ".5rem;border-radius:.8rem;font-weight:600;font-size:.8rem;color:#fff;background:#57606a}"
    ".SAME{background:#0065a0}.FAST{background:#00724f}.SLOW{background:#b84a00}.DRIFT{background:#9c4378}."
    "WRONG{background:#111}.AMBIGUOUS{background:#8a5a00}"
    ".bar{display:block;height:.55rem;background:#0072b2;border-radius:.2rem;min-width:2px}"
    "@media "
    "print{body{max-width:none;font-size:10pt;padding:0}nav{display:none}h2{break-after:avoid}figure,tr,."
    "cards{break-inside:avoid}"
    ".wide,figure{overflow:visible}figure.plot "
    "img{min-width:0}table{font-size:8pt}*{-webkit-print-color-adjust:exact;print-color-adjust:exact}"
    "}";

void kf_html_begin(kf_text *page, const char *title) {
    kf_text_append(
        page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
              "style-src 'unsafe-inline'\">\n<title>");
    kf_html_text(page, title);
    kf_text_append(page, "</title>\n<style>");
    kf_text_append(page, "%s", style);
    kf_text_append(page, "</style>\n</head>\n<body>\n");
}

void kf_html_end(kf_text *page) {
    kf_text_append(page, "</body>\n</html>\n");
}
