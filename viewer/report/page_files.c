/* page_files.c - the assembler takes the files in as they are: nothing has to
 * be turned into C first. CMake defines where they are, and builds this file
 * again when one of them changes. */
#include "viewer/report/page_internal.h"

#define TAKE_IN(name, file)                                                    \
    __asm__(".pushsection .rodata\n"                                           \
            ".hidden viewer__" name "_begin\n"                                 \
            ".hidden viewer__" name "_end\n"                                   \
            ".global viewer__" name "_begin\n"                                 \
            ".global viewer__" name "_end\n"                                   \
            "viewer__" name "_begin:\n"                                        \
            ".incbin \"" file "\"\n"                                           \
            "viewer__" name "_end:\n"                                          \
            ".byte 0\n"                                                        \
            ".popsection\n")

TAKE_IN("html", PAGE_FOLDER "/report.html");
TAKE_IN("css", PAGE_FOLDER "/report.css");
TAKE_IN("data", PAGE_FOLDER "/data.js");
TAKE_IN("regions", PAGE_FOLDER "/regions.js");
TAKE_IN("timeline", PAGE_FOLDER "/timeline.js");
TAKE_IN("tables", PAGE_FOLDER "/tables.js");
TAKE_IN("report", PAGE_FOLDER "/report.js");
TAKE_IN("d3", PAGE_D3);

#define TAKEN_IN(name)                                                         \
    extern const char viewer__##name##_begin[], viewer__##name##_end[];        \
    const viewer_page_file viewer__page_##name = {viewer__##name##_begin,      \
                                                  viewer__##name##_end}

TAKEN_IN(html);
TAKEN_IN(css);
TAKEN_IN(data);
TAKEN_IN(regions);
TAKEN_IN(timeline);
TAKEN_IN(tables);
TAKEN_IN(report);
TAKEN_IN(d3);
