/* serve_page_internal.h - the files of viewer/serve/page, which are part of the
 * program. */
#ifndef VIEWER_SERVE_PAGE_INTERNAL_H
#define VIEWER_SERVE_PAGE_INTERNAL_H

#include "viewer/report/page_internal.h"

extern const viewer_page_file viewer__serve_html, viewer__serve_script;
extern const viewer_page_file viewer__serve_style;

#endif
