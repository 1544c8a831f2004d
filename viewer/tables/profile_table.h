/* profile_table.h - tables of a profile. */
#ifndef VIEWER_PROFILE_TABLE_H
#define VIEWER_PROFILE_TABLE_H

#include "predict/profile/profile.h"
#include "scopes/tables/table.h"

/* By name: "nodes" (the columns of paper 000's figure 3 and paper 001's table
 * 1), "links", "phases", "messages". NULL when there is no such table
 * (errno 0) or memory is out. The caller destroys it; it borrows from the
 * profile. */
scopes_table *viewer_profile_table(const predict_profile *profile,
                                   const char *name);

/* Says on standard error, in one line that begins with `name`, when the profile
 * was measured while others used its processors (measure/load/others.h). */
void viewer_profile_warn(const predict_profile *profile, const char *name);

#endif
