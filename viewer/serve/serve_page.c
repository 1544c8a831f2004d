/* serve_page.c - the files of the page, taken in as viewer/report/page_files.c
 * does it. */
#include "viewer/serve/serve_page_internal.h"

#define TAKE_IN(name, file)                                                    \
    __asm__(".pushsection .rodata\n"                                           \
            ".hidden viewer__serve_" name "_begin\n"                           \
            ".hidden viewer__serve_" name "_end\n"                             \
            ".global viewer__serve_" name "_begin\n"                           \
            ".global viewer__serve_" name "_end\n"                             \
            "viewer__serve_" name "_begin:\n"                                  \
            ".incbin \"" SERVE_FOLDER "/" file "\"\n"                          \
            "viewer__serve_" name "_end:\n"                                    \
            ".byte 0\n"                                                        \
            ".popsection\n")

TAKE_IN("html", "live.html");
TAKE_IN("style", "live.css");
TAKE_IN("script", "live.js");

#define TAKEN_IN(name)                                                         \
    extern const char viewer__serve_##name##_begin[];                          \
    extern const char viewer__serve_##name##_end[];                            \
    const viewer_page_file viewer__serve_##name = {                            \
        viewer__serve_##name##_begin, viewer__serve_##name##_end}

TAKEN_IN(html);
TAKEN_IN(style);
TAKEN_IN(script);
