/* source.c - see source.h. The debugging information is read by libdw, which
 * is loaded when the first call is looked up: a program that needs it for
 * itself gets its own, and one that never calls needs none. */
#include "mpi/source.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    bool was_tried;
    Dwfl *dwfl; /* NULL: there is no libdw, or it fails */
    __typeof__(&dwfl_begin) begin;
    __typeof__(&dwfl_end) end;
    __typeof__(&dwfl_linux_proc_report) proc_report;
    __typeof__(&dwfl_report_begin) report_begin;
    __typeof__(&dwfl_report_end) report_end;
    __typeof__(&dwfl_addrmodule) addrmodule;
    __typeof__(&dwfl_module_getsrc) getsrc;
    __typeof__(&dwfl_lineinfo) lineinfo;
    __typeof__(&dwfl_module_addrname) addrname;
    __typeof__(&dwfl_linux_proc_find_elf) find_elf;
    __typeof__(&dwfl_standard_find_debuginfo) find_debuginfo;
} dw = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* --- libdw --- */

static bool symbols_load(void)
{
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    const struct {
        void *to;
        const char *name;
    } all[] = {{&dw.begin, "dwfl_begin"},
               {&dw.end, "dwfl_end"},
               {&dw.proc_report, "dwfl_linux_proc_report"},
               {&dw.report_begin, "dwfl_report_begin"},
               {&dw.report_end, "dwfl_report_end"},
               {&dw.addrmodule, "dwfl_addrmodule"},
               {&dw.getsrc, "dwfl_module_getsrc"},
               {&dw.lineinfo, "dwfl_lineinfo"},
               {&dw.addrname, "dwfl_module_addrname"},
               {&dw.find_elf, "dwfl_linux_proc_find_elf"},
               {&dw.find_debuginfo, "dwfl_standard_find_debuginfo"}};

    for (size_t i = 0; library && i < sizeof(all) / sizeof(*all); i++) {
        void *found = dlsym(library, all[i].name);
        if (!found)
            return false;
        memcpy(all[i].to, &found, sizeof(found));
    }
    return library != NULL;
}

static void report(void)
{
    dw.report_begin(dw.dwfl);
    (void)dw.proc_report(dw.dwfl, getpid());
    (void)dw.report_end(dw.dwfl, NULL, NULL);
}

/* Under the lock, as all that follows. */
static void load(void)
{
    static Dwfl_Callbacks callbacks;

    dw.was_tried = true;
    if (!symbols_load())
        return;
    callbacks.find_elf = dw.find_elf;
    callbacks.find_debuginfo = dw.find_debuginfo;
    dw.dwfl = dw.begin(&callbacks);
    if (dw.dwfl)
        report();
}

static bool line_find(mpi_source *out, uintptr_t at)
{
    Dwfl_Module *module = dw.addrmodule(dw.dwfl, at);
    Dwfl_Line *line;
    const char *file, *function;
    int number;

    if (!module) { /* it may have been loaded since */
        report();
        module = dw.addrmodule(dw.dwfl, at);
    }
    if (!module)
        return false;
    function = dw.addrname(module, at);
    snprintf(out->function, sizeof(out->function), "%s",
             function ? function : "");
    line = dw.getsrc(module, at);
    file = line ? dw.lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    if (!file)
        return false;
    snprintf(out->file, sizeof(out->file), "%s", file);
    out->line = (uint32_t)number;
    snprintf(out->text, sizeof(out->text), "%.200s:%d", base_name(file),
             number);
    return true;
}

/* --- without --- */

static void offset_find(mpi_source *out, uintptr_t at)
{
    Dl_info info;

    if (!dladdr((void *)at, &info) || !info.dli_fname)
        return;
    snprintf(out->text, sizeof(out->text), "%.200s+0x%lx",
             base_name(info.dli_fname),
             (unsigned long)(at - (uintptr_t)info.dli_fbase));
}

void mpi__source_of(mpi_source *out, uintptr_t from)
{
    uintptr_t at = from - 1; /* in the call, not behind it */

    *out = (mpi_source){.line = 0};
    pthread_mutex_lock(&dw.lock);
    if (!dw.was_tried)
        load();
    if (!dw.dwfl || !line_find(out, at))
        offset_find(out, at);
    pthread_mutex_unlock(&dw.lock);
}
