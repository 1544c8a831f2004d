/* page_internal.h - the files of viewer/report/page and D3, which are part of
 * the program. */
#ifndef VIEWER_PAGE_INTERNAL_H
#define VIEWER_PAGE_INTERNAL_H

/* A text from `begin` up to `end`. */
typedef struct viewer_page_file {
    const char *begin;
    const char *end;
} viewer_page_file;

extern const viewer_page_file viewer__page_html, viewer__page_css;
extern const viewer_page_file viewer__page_d3;

/* The scripts of the page, to be put in this order. */
extern const viewer_page_file viewer__page_data, viewer__page_regions;
extern const viewer_page_file viewer__page_timeline;
extern const viewer_page_file viewer__page_tables, viewer__page_report;

#endif
