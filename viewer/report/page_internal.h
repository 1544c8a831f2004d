/* page_internal.h - the files of viewer/report/page and D3, which are part of
 * the program, and how pages are put together from them. */
#ifndef VIEWER_PAGE_INTERNAL_H
#define VIEWER_PAGE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

/* A text from `begin` up to `end`. */
typedef struct viewer_page_file {
    const char *begin;
    const char *end;
} viewer_page_file;

extern const viewer_page_file viewer__page_html, viewer__page_css;
extern const viewer_page_file viewer__page_d3;
/* What all pages have: their head, the script in it, and by what one chooses
 * light or dark. */
extern const viewer_page_file viewer__page_head, viewer__page_scheme;
extern const viewer_page_file viewer__page_colours;

/* The scripts of the page, one behind the other. */
extern const viewer_page_file viewer__page_scripts;

/* The page of two runs, which has these besides. */
extern const viewer_page_file viewer__page_pair_html, viewer__page_pair_css;
extern const viewer_page_file viewer__page_pair_script;

/* The page of series. */
extern const viewer_page_file viewer__page_series_html, viewer__page_series_css;
extern const viewer_page_file viewer__page_series_script;

/* The page of a signature. */
extern const viewer_page_file viewer__page_signature_html;
extern const viewer_page_file viewer__page_signature_css;
extern const viewer_page_file viewer__page_signature_script;

/* --- putting them together --- */

/* Puts what {{name}} stands for; an error ends the page. What all pages have is
 * put without it: nonce, head, style, scheme, colours, d3. */
typedef int viewer__page_part(void *context, const char *name, size_t bytes);
int viewer__page_put(FILE *file, viewer_page_file html, const char *nonce,
                     viewer__page_part *put_part, void *context);
/* Is a name this one? */
bool viewer__page_is(const char *name, size_t bytes, const char *what);

/* Any text, escaped for HTML. */
void viewer__page_html_text(FILE *file, const char *text);
/* A file as it is. */
void viewer__page_file_text(FILE *file, viewer_page_file part);

/* Data for scripts: no '<' of a name ends the element that it is in. Numbers
 * have so many digits. Errors: PASTSET_ENOMEM; that `file` failed is seen by
 * who closes it. */
int viewer__page_data(FILE *file, const json_t *data, int digits);

/* The number by which a page knows its own scripts, in hexadecimal.
 * Errors: PASTSET_EIO. */
#define VIEWER__NONCE_TEXT 33
int viewer__page_nonce(char nonce[VIEWER__NONCE_TEXT]);

#endif
