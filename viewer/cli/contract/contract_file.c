/* contract_file.c - see contract_file.h. */
#include "viewer/cli/contract/contract_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pastset/status.h"
#include "viewer/tables/output.h"

/* Half of a contract could be read, and would promise less. */
int cli_contract_write(const contracts_contract *c, const char *file)
{
    viewer_output *output;
    int err;

    if (!file || strcmp(file, "-") == 0)
        return contracts_contract_print(c, stdout);
    err = viewer_output_begin(&output, file);
    if (err)
        return err;
    err = contracts_contract_print(c, viewer_output_file(output));
    return viewer_output_end(output, err);
}

/* A contract looks for a file beside itself: it may be written elsewhere than
 * where the file was named. */
static int name_fit(char **name, const char *path, bool is_elsewhere)
{
    struct stat about;
    char *whole = NULL;

    if (!*name)
        return 0;
    if (strncmp(path, "/dev/", 5) == 0 || stat(path, &about) != 0 ||
        !S_ISREG(about.st_mode))
        return pastset_fail(PASTSET_EINVAL,
                            "%s: the contract names this file, so it has to "
                            "be one that is there later",
                            path);
    if (is_elsewhere && **name != '/') {
        whole = realpath(path, NULL);
        if (!whole)
            return pastset_fail(PASTSET_EIO, "%s: %s", path, strerror(errno));
        free(*name);
        *name = whole;
    }
    return strpbrk(*name, "\"\n")
               ? pastset_fail(PASTSET_EINVAL,
                              "%s: a contract cannot name this file, for its "
                              "quotation marks",
                              *name)
               : 0;
}

int cli_contract_files_fit(contracts_contract *c, const char *from,
                           const char *to)
{
    bool is_elsewhere = (from && strchr(from, '/')) || (to && strchr(to, '/'));
    int err = name_fit(&c->rules_file, c->rules_path, is_elsewhere);

    return err ? err
               : name_fit(&c->cluster_file, c->cluster_path, is_elsewhere);
}
