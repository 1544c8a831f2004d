/* profile_table.c - to be replaced. */
#include "viewer/profile_table.h"

scopes_table *viewer_profile_table(const predict_profile *profile,
                                   const char *name)
{
    (void)profile;
    (void)name;
    return 0;
}
