/* sql_api.c - in the extension, the functions of the SQLite that has loaded it.
 */
#include "viewer/sql/sql_internal.h"

SQLITE_EXTENSION_INIT1
