/* page_files.c - the assembler takes the files in as they are: nothing has to
 * be turned into C first. CMake defines where they are, and builds this file
 * again when one of them changes. */
#include "viewer/report/page_internal.h"

#define FILE_AT(path) ".incbin \"" path "\"\n"
#define PAGE(name) FILE_AT(PAGE_FOLDER "/" name)

/* Files, one behind the other. */
#define TAKE_IN(name, files)                                                   \
    __asm__(".pushsection .rodata\n"                                           \
            ".hidden viewer__" name "_begin\n"                                 \
            ".hidden viewer__" name "_end\n"                                   \
            ".global viewer__" name "_begin\n"                                 \
            ".global viewer__" name "_end\n"                                   \
            "viewer__" name "_begin:\n" files "viewer__" name "_end:\n"        \
            ".byte 0\n"                                                        \
            ".popsection\n")

/* The scripts in the order in which they need each other. */
TAKE_IN("html", PAGE("report.html"));
TAKE_IN("css", PAGE("report.css") PAGE("map.css"));
/* clang-format off */
TAKE_IN("scripts",
        PAGE("data.js") PAGE("regions.js") PAGE("rows.js")
        PAGE("bars.js") PAGE("timeline.js") PAGE("arrows.js")
        PAGE("charts.js") PAGE("charts_series.js") PAGE("charts_grid.js")
        PAGE("export.js") PAGE("tables.js") PAGE("views.js")
        PAGE("panels.js") PAGE("map.js") PAGE("answers.js")
        PAGE("search.js") PAGE("link.js") PAGE("report.js"));
/* clang-format on */
TAKE_IN("d3", FILE_AT(PAGE_D3));
TAKE_IN("scheme", PAGE("scheme.js"));
TAKE_IN("head", PAGE("head.html"));
TAKE_IN("colours", PAGE("colours.html"));
TAKE_IN("pair_html", PAGE("pair.html"));
TAKE_IN("pair_css", PAGE("pair.css"));
TAKE_IN("pair_script", PAGE("pair.js"));
TAKE_IN("series_html", PAGE("series.html"));
TAKE_IN("series_css", PAGE("series.css"));
TAKE_IN("series_script", PAGE("series.js"));
TAKE_IN("signature_html", PAGE("signature.html"));
TAKE_IN("signature_css", PAGE("signature.css"));
TAKE_IN("signature_script", PAGE("signature.js"));

#define TAKEN_IN(name)                                                         \
    extern const char viewer__##name##_begin[], viewer__##name##_end[];        \
    const viewer_page_file viewer__page_##name = {viewer__##name##_begin,      \
                                                  viewer__##name##_end}

TAKEN_IN(html);
TAKEN_IN(css);
TAKEN_IN(scripts);
TAKEN_IN(d3);
TAKEN_IN(scheme);
TAKEN_IN(head);
TAKEN_IN(colours);
TAKEN_IN(pair_html);
TAKEN_IN(pair_css);
TAKEN_IN(pair_script);
TAKEN_IN(series_html);
TAKEN_IN(series_css);
TAKEN_IN(series_script);
TAKEN_IN(signature_html);
TAKEN_IN(signature_css);
TAKEN_IN(signature_script);
