/* fail.c - a library to be put before a program (LD_PRELOAD): one of its calls
 * that can fail does, and what it never gave back is told at its end.
 *
 *   FAULT_KIND     memory, descriptor, space, write, send, receive or process
 *   FAULT_AT       which call of the kind fails, from 1; 0 or nothing: none
 *   FAULT_FOR      how many fail from there on (1)
 *   FAULT_PROCESS  only in this process of the map; "": in one that is none of
 *                  its processes
 *   FAULT_LOG      a file, to which each process appends lines:
 *                      calls KIND COUNT
 *                      failed FUNCTION CALLER
 *                      leak memory|descriptor CALLER
 *                  CALLER is an address in the program, for addr2line
 *
 * Only calls of the program's own code count (it is linked with our libraries
 * statically), not those of the C library or others on its behalf; processes
 * are started by libuv, so of `process` all count. What is freed is filled with
 * something else first, so that whoever still uses it does not go on well. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#define FREED 0xd5 /* what was freed is filled with it */
#define EXPORT __attribute__((visibility("default")))
#define CALLER ((uintptr_t)__builtin_return_address(0))

enum kind {
    MEMORY,
    DESCRIPTOR,
    SPACE,
    WRITE,
    SEND,
    RECEIVE,
    PROCESS,
    KINDS,
};

static const char *const kind_names[KINDS] = {
    "memory", "descriptor", "space", "write", "send", "receive", "process"};

static uintptr_t code_from, code_to, code_base; /* of the program */
static int chosen = -1;                         /* a kind; -1: none */
static unsigned long at, until;
static _Atomic unsigned long calls[KINDS];
static const char *log_file;

/* --- what is said --- */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Without anything that is interposed here. */
static void say(const char *format, ...)
{
    char line[200];
    va_list arguments;
    int fd, length;
    static int (*real_open)(const char *, int, ...);
    static ssize_t (*real_write)(int, const void *, size_t);
    static int (*real_close)(int);

    if (!log_file)
        return;
    *(void **)&real_open = dlsym(RTLD_NEXT, "open");
    *(void **)&real_write = dlsym(RTLD_NEXT, "write");
    *(void **)&real_close = dlsym(RTLD_NEXT, "close");
    va_start(arguments, format);
    length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    fd = real_open(log_file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    if (real_write(fd, line, (size_t)length) != length)
        length = 0;
    real_close(fd);
}

/* --- what fails --- */

static bool is_ours(uintptr_t caller)
{
    return caller >= code_from && caller < code_to;
}

static bool fails(enum kind kind, const char *function, uintptr_t caller,
                  int error)
{
    unsigned long number;
    int before = errno;

    if (kind != PROCESS && !is_ours(caller))
        return false;
    number = atomic_fetch_add(&calls[kind], 1) + 1;
    if ((int)kind != chosen || number < at || number >= until)
        return false;
    say("failed %s %#lx\n", function, (unsigned long)(caller - code_base));
    errno = before;
    errno = error;
    return true;
}

/* --- what is kept --- */

#define TRACKED 65536 /* a power of two; more are not looked after */

typedef struct tracked {
    uintptr_t what; /* 0: nothing */
    uintptr_t caller;
} tracked;

static tracked memory_kept[TRACKED]; /* open addressing */
static size_t memory_count;
static uintptr_t descriptor_kept[4096]; /* its caller, by number */
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t place_of(uintptr_t what)
{
    return (size_t)((what >> 4) * 0x9e3779b97f4a7c15u >> 48) % TRACKED;
}

static void *keep(void *memory, uintptr_t caller)
{
    size_t place = place_of((uintptr_t)memory);

    if (!memory || !is_ours(caller))
        return memory;
    pthread_mutex_lock(&kept_lock);
    if (memory_count < TRACKED / 4 * 3) {
        while (memory_kept[place].what)
            place = (place + 1) % TRACKED;
        memory_kept[place] = (tracked){(uintptr_t)memory, caller};
        memory_count++;
    }
    pthread_mutex_unlock(&kept_lock);
    return memory;
}

/* Those behind it move up. */
static void take_out(size_t hole)
{
    memory_count--;
    for (size_t i = (hole + 1) % TRACKED; memory_kept[i].what;
         i = (i + 1) % TRACKED) {
        size_t home = place_of(memory_kept[i].what);
        if ((i - home) % TRACKED < (i - hole) % TRACKED)
            continue;
        memory_kept[hole] = memory_kept[i];
        hole = i;
    }
    memory_kept[hole].what = 0;
}

static bool let_go(void *memory)
{
    size_t place = place_of((uintptr_t)memory);
    bool found;

    if (!memory)
        return false;
    pthread_mutex_lock(&kept_lock);
    while (memory_kept[place].what &&
           memory_kept[place].what != (uintptr_t)memory)
        place = (place + 1) % TRACKED;
    found = memory_kept[place].what != 0;
    if (found)
        take_out(place);
    pthread_mutex_unlock(&kept_lock);
    return found;
}

static int keep_fd(int fd, uintptr_t caller)
{
    if (fd >= 0 && fd < 4096 && is_ours(caller))
        descriptor_kept[fd] = caller;
    return fd;
}

/* --- beginning and end --- */

static int find_code(struct dl_phdr_info *info, size_t bytes, void *context)
{
    (void)bytes;
    (void)context;
    code_base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        code_from = info->dlpi_addr + p->p_vaddr;
        code_to = code_from + p->p_memsz;
    }
    return 1; /* the first is the program */
}

static bool is_here(void)
{
    const char *want = getenv("FAULT_PROCESS"),
               *process = getenv("EVENTSPACE_PROCESS");

    return !want || strcmp(want, process ? process : "") == 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *kind = getenv("FAULT_KIND"), *text = getenv("FAULT_AT");
    const char *count = getenv("FAULT_FOR");

    dl_iterate_phdr(find_code, NULL);
    if (!is_here())
        return;
    log_file = getenv("FAULT_LOG");
    at = text ? strtoul(text, NULL, 10) : 0;
    until = at ? at + (count ? strtoul(count, NULL, 10) : 1) : 0;
    for (int i = 0; kind && i < KINDS; i++) {
        if (strcmp(kind, kind_names[i]) == 0)
            chosen = i;
    }
}

__attribute__((destructor)) static void end(void)
{
    for (int i = 0; i < KINDS; i++)
        say("calls %s %lu\n", kind_names[i], atomic_load(&calls[i]));
    for (size_t i = 0; i < TRACKED; i++) {
        if (memory_kept[i].what)
            say("leak memory %#lx\n",
                (unsigned long)(memory_kept[i].caller - code_base));
    }
    for (size_t i = 0; i < 4096; i++) {
        if (descriptor_kept[i])
            say("leak descriptor %#lx\n",
                (unsigned long)(descriptor_kept[i] - code_base));
    }
}

/* --- memory --- */

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

EXPORT void *malloc(size_t bytes)
{
    if (fails(MEMORY, "malloc", CALLER, ENOMEM))
        return NULL;
    return keep(__libc_malloc(bytes), CALLER);
}

EXPORT void *calloc(size_t count, size_t bytes)
{
    if (fails(MEMORY, "calloc", CALLER, ENOMEM))
        return NULL;
    return keep(__libc_calloc(count, bytes), CALLER);
}

EXPORT void *realloc(void *old, size_t bytes)
{
    bool kept;
    void *memory;

    if (fails(MEMORY, "realloc", CALLER, ENOMEM))
        return NULL;
    kept = let_go(old);
    memory = __libc_realloc(old, bytes);
    if (!memory)
        return kept ? (keep(old, CALLER), NULL) : NULL;
    return keep(memory, CALLER);
}

EXPORT void *reallocarray(void *old, size_t count, size_t bytes)
{
    size_t all;

    if (__builtin_mul_overflow(count, bytes, &all) ||
        fails(MEMORY, "reallocarray", CALLER, ENOMEM))
        return NULL;
    let_go(old);
    return keep(__libc_realloc(old, all), CALLER);
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    if (fails(MEMORY, "aligned_alloc", CALLER, ENOMEM))
        return NULL;
    return keep(__libc_memalign(alignment, bytes), CALLER);
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    if (fails(MEMORY, "posix_memalign", CALLER, ENOMEM))
        return ENOMEM;
    *out = keep(__libc_memalign(alignment, bytes), CALLER);
    return *out ? 0 : ENOMEM;
}

EXPORT void free(void *memory)
{
    int before = errno;

    if (let_go(memory))
        memset(memory, FREED, malloc_usable_size(memory));
    __libc_free(memory);
    errno = before;
}

static char *copy_of(const char *text, size_t length, uintptr_t caller)
{
    char *copy = __libc_malloc(length + 1);

    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return keep(copy, caller);
}

#undef strdup
#undef strndup
EXPORT char *strdup(const char *text)
{
    if (fails(MEMORY, "strdup", CALLER, ENOMEM))
        return NULL;
    return copy_of(text, strlen(text), CALLER);
}

EXPORT char *strndup(const char *text, size_t max)
{
    if (fails(MEMORY, "strndup", CALLER, ENOMEM))
        return NULL;
    return copy_of(text, strnlen(text, max), CALLER);
}

static int print_into(char **out, uintptr_t caller, const char *format,
                      va_list arguments)
{
    va_list again;
    int length;

    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    *out = length < 0 ? NULL : __libc_malloc((size_t)length + 1);
    if (!*out)
        return -1;
    keep(*out, caller);
    return vsnprintf(*out, (size_t)length + 1, format, arguments);
}

EXPORT int vasprintf(char **out, const char *format, va_list arguments)
{
    /* Its result is all that may be relied on. */
    *out = (char *)(uintptr_t)FREED;
    if (fails(MEMORY, "vasprintf", CALLER, ENOMEM))
        return -1;
    return print_into(out, CALLER, format, arguments);
}

EXPORT int asprintf(char **out, const char *format, ...)
{
    va_list arguments;
    int length;

    *out = (char *)(uintptr_t)FREED;
    if (fails(MEMORY, "asprintf", CALLER, ENOMEM))
        return -1;
    va_start(arguments, format);
    length = print_into(out, CALLER, format, arguments);
    va_end(arguments);
    return length;
}

/* --- the rest: what the C library does, unless it fails --- */

#define REAL(result, name, ...)                                                \
    static result (*real)(__VA_ARGS__);                                        \
    if (!real)                                                                 \
    *(void **)&real = dlsym(RTLD_NEXT, name)

EXPORT FILE *open_memstream(char **text, size_t *bytes)
{
    REAL(FILE *, "open_memstream", char **, size_t *);
    if (fails(MEMORY, "open_memstream", CALLER, ENOMEM))
        return NULL;
    return real(text, bytes);
}

EXPORT DIR *opendir(const char *name)
{
    REAL(DIR *, "opendir", const char *);
    if (fails(DESCRIPTOR, "opendir", CALLER, EMFILE))
        return NULL;
    return real(name);
}

EXPORT FILE *fopen(const char *name, const char *mode)
{
    REAL(FILE *, "fopen", const char *, const char *);
    if (fails(DESCRIPTOR, "fopen", CALLER, EMFILE))
        return NULL;
    return real(name, mode);
}

EXPORT FILE *fdopen(int fd, const char *mode)
{
    FILE *file;
    REAL(FILE *, "fdopen", int, const char *);
    if (fails(DESCRIPTOR, "fdopen", CALLER, ENOMEM))
        return NULL;
    file = real(fd, mode);
    if (file && fd >= 0 && fd < 4096)
        descriptor_kept[fd] = 0; /* fclose closes it */
    return file;
}

#define OPENS(name, head, types, call)                                         \
    EXPORT int name head                                                       \
    {                                                                          \
        static int(*real) types;                                               \
        if (!real)                                                             \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                         \
        if (fails(DESCRIPTOR, #name, CALLER, EMFILE))                          \
            return -1;                                                         \
        return keep_fd(real call, CALLER);                                     \
    }

OPENS(socket, (int a, int b, int c), (int, int, int), (a, b, c))
OPENS(accept4, (int fd, struct sockaddr *a, socklen_t *n, int f),
      (int, struct sockaddr *, socklen_t *, int), (fd, a, n, f))
OPENS(eventfd, (unsigned a, int b), (unsigned, int), (a, b))
OPENS(timerfd_create, (int a, int b), (int, int), (a, b))
OPENS(epoll_create1, (int a), (int), (a))
OPENS(memfd_create, (const char *a, unsigned b), (const char *, unsigned),
      (a, b))
OPENS(dup, (int a), (int), (a))

#define OPENS_FILE(name)                                                       \
    EXPORT int name(const char *file, int flags, ...)                          \
    {                                                                          \
        va_list arguments;                                                     \
        mode_t mode = 0;                                                       \
        REAL(int, #name, const char *, int, ...);                              \
        va_start(arguments, flags);                                            \
        if (flags & (O_CREAT | O_TMPFILE))                                     \
            mode = va_arg(arguments, mode_t);                                  \
        va_end(arguments);                                                     \
        if (fails(DESCRIPTOR, #name, CALLER, EMFILE))                          \
            return -1;                                                         \
        return keep_fd(real(file, flags, mode), CALLER);                       \
    }

OPENS_FILE(open)
OPENS_FILE(open64)

EXPORT int openat(int at_fd, const char *file, int flags, ...)
{
    va_list arguments;
    mode_t mode = 0;
    REAL(int, "openat", int, const char *, int, ...);

    va_start(arguments, flags);
    if (flags & (O_CREAT | O_TMPFILE))
        mode = va_arg(arguments, mode_t);
    va_end(arguments);
    if (fails(DESCRIPTOR, "openat", CALLER, EMFILE))
        return -1;
    return keep_fd(real(at_fd, file, flags, mode), CALLER);
}

static int keep_pipe(int r, const int fds[2], uintptr_t caller)
{
    if (r == 0) {
        keep_fd(fds[0], caller);
        keep_fd(fds[1], caller);
    }
    return r;
}

EXPORT int pipe2(int fds[2], int flags)
{
    REAL(int, "pipe2", int[2], int);
    if (fails(DESCRIPTOR, "pipe2", CALLER, EMFILE))
        return -1;
    return keep_pipe(real(fds, flags), fds, CALLER);
}

EXPORT int pipe(int fds[2])
{
    REAL(int, "pipe", int[2]);
    if (fails(DESCRIPTOR, "pipe", CALLER, EMFILE))
        return -1;
    return keep_pipe(real(fds), fds, CALLER);
}

EXPORT int close(int fd)
{
    REAL(int, "close", int);
    if (fd >= 0 && fd < 4096)
        descriptor_kept[fd] = 0;
    return real(fd);
}

#define CALLS(result, none, kind, error, name, head, types, call)              \
    EXPORT result name head                                                    \
    {                                                                          \
        static result(*real) types;                                            \
        if (!real)                                                             \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                         \
        if (fails(kind, #name, CALLER, error))                                 \
            return none;                                                       \
        return real call;                                                      \
    }

CALLS(int, -1, SPACE, ENOSPC, fallocate, (int fd, int m, off_t o, off_t n),
      (int, int, off_t, off_t), (fd, m, o, n))
CALLS(int, ENOSPC, SPACE, ENOSPC, posix_fallocate, (int fd, off_t o, off_t n),
      (int, off_t, off_t), (fd, o, n))
CALLS(int, -1, SPACE, ENOSPC, ftruncate, (int fd, off_t n), (int, off_t),
      (fd, n))
CALLS(void *, MAP_FAILED, SPACE, ENOMEM, mmap,
      (void *a, size_t n, int p, int f, int fd, off_t o),
      (void *, size_t, int, int, int, off_t), (a, n, p, f, fd, o))

CALLS(ssize_t, -1, WRITE, ENOSPC, write, (int fd, const void *a, size_t n),
      (int, const void *, size_t), (fd, a, n))
CALLS(ssize_t, -1, WRITE, ENOSPC, writev,
      (int fd, const struct iovec *v, int n), (int, const struct iovec *, int),
      (fd, v, n))
CALLS(ssize_t, -1, WRITE, ENOSPC, pwrite,
      (int fd, const void *a, size_t n, off_t o),
      (int, const void *, size_t, off_t), (fd, a, n, o))
CALLS(int, EOF, WRITE, ENOSPC, fflush, (FILE * f), (FILE *), (f))
CALLS(int, -1, WRITE, EIO, fsync, (int fd), (int), (fd))
CALLS(int, -1, WRITE, EIO, fdatasync, (int fd), (int), (fd))
CALLS(int, -1, WRITE, ENOSPC, rename, (const char *a, const char *b),
      (const char *, const char *), (a, b))
CALLS(int, -1, WRITE, ENOSPC, mkdir, (const char *a, mode_t m),
      (const char *, mode_t), (a, m))

/* As it would be in the C library, the stream knows that it has failed. */
EXPORT size_t fwrite(const void *data, size_t bytes, size_t count, FILE *file)
{
    REAL(size_t, "fwrite", const void *, size_t, size_t, FILE *);
    if (!fails(WRITE, "fwrite", CALLER, ENOSPC))
        return real(data, bytes, count, file);
    file->_flags |= 0x20; /* _IO_ERR_SEEN */
    return 0;
}

/* What was buffered is lost; the file is closed all the same. Of a file that is
 * read nothing can be lost. */
EXPORT int fclose(FILE *file)
{
    bool reads = file->_flags & 0x8; /* _IO_NO_WRITES */
    bool refused = !reads && fails(WRITE, "fclose", CALLER, ENOSPC);
    int status;
    REAL(int, "fclose", FILE *);

    status = real(file);
    if (refused)
        errno = ENOSPC;
    return refused ? EOF : status;
}

CALLS(ssize_t, -1, SEND, ECONNRESET, send,
      (int fd, const void *a, size_t n, int f),
      (int, const void *, size_t, int), (fd, a, n, f))
CALLS(ssize_t, -1, SEND, ECONNRESET, sendmsg,
      (int fd, const struct msghdr *m, int f),
      (int, const struct msghdr *, int), (fd, m, f))
CALLS(int, -1, SEND, ENETUNREACH, connect,
      (int fd, const struct sockaddr *a, socklen_t n),
      (int, const struct sockaddr *, socklen_t), (fd, a, n))
CALLS(int, -1, SEND, EADDRINUSE, bind,
      (int fd, const struct sockaddr *a, socklen_t n),
      (int, const struct sockaddr *, socklen_t), (fd, a, n))
CALLS(int, -1, SEND, EADDRINUSE, listen, (int fd, int n), (int, int), (fd, n))

CALLS(ssize_t, -1, RECEIVE, ECONNRESET, recv,
      (int fd, void *a, size_t n, int f), (int, void *, size_t, int),
      (fd, a, n, f))
CALLS(ssize_t, -1, RECEIVE, EIO, read, (int fd, void *a, size_t n),
      (int, void *, size_t), (fd, a, n))
CALLS(ssize_t, -1, RECEIVE, EIO, pread, (int fd, void *a, size_t n, off_t o),
      (int, void *, size_t, off_t), (fd, a, n, o))

CALLS(pid_t, -1, PROCESS, EAGAIN, fork, (void), (void), ())
CALLS(int, EAGAIN, PROCESS, EAGAIN, posix_spawn,
      (pid_t * p, const char *f, const posix_spawn_file_actions_t *a,
       const posix_spawnattr_t *t, char *const *v, char *const *e),
      (pid_t *, const char *, const posix_spawn_file_actions_t *,
       const posix_spawnattr_t *, char *const *, char *const *),
      (p, f, a, t, v, e))
CALLS(int, EAGAIN, PROCESS, EAGAIN, pthread_create,
      (pthread_t * p, const pthread_attr_t *a, void *(*f)(void *), void *x),
      (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *),
      (p, a, f, x))
