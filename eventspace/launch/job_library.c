/* job_library.c - the client library of a job's server, where there is a job.
 */
#include <dlfcn.h>
#include <string.h>

#include "eventspace/launch/job_internal.h"
#include "pastset/status.h"

int eventspace__job_library_load(const char *library, const char *package,
                                 const job_symbol *symbols, size_t count)
{
    /* Global: PMIx opens parts of its own that look for its functions. */
    void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);

    if (!handle)
        return pastset_fail(PASTSET_ENOENT,
                            "this is a task of a parallel job, and the library "
                            "to talk to the other tasks is missing: install "
                            "the package %s (%s)",
                            package, dlerror());
    for (size_t i = 0; i < count; i++) {
        void *at = dlsym(handle, symbols[i].name);
        if (!at)
            return pastset_fail(PASTSET_ENOENT, "%s has no function %s",
                                library, symbols[i].name);
        memcpy(symbols[i].pointer, &at, sizeof(at));
    }
    return 0;
}
