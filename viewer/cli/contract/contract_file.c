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

/* Would this name, in a contract in the file `to`, be that of the file? */
static bool is_found(const char *name, const struct stat *about, const char *to)
{
    const char *slash = to ? strrchr(to, '/') : NULL;
    struct stat found;
    char *path;
    bool is;

    if (*name == '/')
        return true;
    if (asprintf(&path, "%.*s%s", slash ? (int)(slash - to + 1) : 0,
                 to ? to : "", name) < 0)
        return false;
    is = stat(path, &found) == 0 && found.st_dev == about->st_dev &&
         found.st_ino == about->st_ino;
    free(path);
    return is;
}

/* A contract looks for a file beside itself: it may be written elsewhere than
 * where the file was named. */
static int name_fit(char **name, const char *path, const char *to, mode_t kind)
{
    struct stat about;

    if (!*name)
        return 0;
    if (strncmp(path, "/dev/", 5) == 0 || stat(path, &about) != 0 ||
        (about.st_mode & S_IFMT) != kind)
        return pastset_fail(PASTSET_EINVAL,
                            "%s: the contract names this %s, so it has to be "
                            "one that is there later",
                            path, kind == S_IFDIR ? "folder" : "file");
    if (!is_found(*name, &about, to)) {
        char *whole = realpath(path, NULL);
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

int cli_contract_files_fit(contracts_contract *c, const char *to)
{
    int err = name_fit(&c->rules_file, c->rules_path, to, S_IFREG);

    if (!err)
        err = name_fit(&c->cluster_file, c->cluster_path, to, S_IFREG);
    return err ? err
               : name_fit(&c->histories_file, c->histories_path, to, S_IFDIR);
}
