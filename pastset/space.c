/* space.c - creating and opening a space, and the elements in it. */
#include "pastset/space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pastset/array.h"
#include "pastset/fence.h"
#include "pastset/space_internal.h"

#define DEFAULT_MAX_BYTES (64ull << 30)
#define LARGEST_MAX_BYTES (1ull << 44)
#define DEFAULT_MAX_ELEMENTS 65536u
#define LARGEST_MAX_ELEMENTS (1u << 20)

static _Atomic uint64_t *directory(const pastset_space *space)
{
    return (_Atomic uint64_t *)(void *)(space->base + SPACE_PAGE);
}

static int space_new(pastset_space **out, const char *path)
{
    pastset_space *space = calloc(1, sizeof(*space));

    if (!space)
        return pastset_no_memory("for a space");
    space->fd = -1;
    space->base = MAP_FAILED;
    space->path = strdup(path ? path : "memory");
    if (!space->path) {
        free(space);
        return pastset_no_memory("for a space");
    }
    pthread_mutex_init(&space->lock, NULL);
    *out = space;
    return 0;
}

/* As long as this or a child of it has the file open, or mapped, it is seen
 * that somebody writes it (settle.c), also where the process cannot be seen: in
 * another container, or on another machine that shares the file system. Where
 * that knows no locks nothing is lost but that. */
static void lock_shared(const pastset_space *space)
{
    while (flock(space->fd, LOCK_SH) != 0 && errno == EINTR)
        continue;
}

/* What the environment allows, where addresses are limited. */
static int bytes_allowed(uint64_t *bytes)
{
    const char *text = getenv("EVENTSPACE_SPACE_BYTES");
    char *end;

    *bytes = UINT64_MAX;
    if (!text || !*text)
        return 0;
    errno = 0;
    *bytes = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return pastset_fail(PASTSET_EINVAL,
                            "EVENTSPACE_SPACE_BYTES=%s: not a number of bytes",
                            text);
    return 0;
}

int pastset_space_create(pastset_space **out,
                         const pastset_space_options *options)
{
    uint64_t max_bytes =
        options->max_bytes ? options->max_bytes : DEFAULT_MAX_BYTES;
    uint32_t max_elements =
        options->max_elements ? options->max_elements : DEFAULT_MAX_ELEMENTS;
    uint64_t begin = space_begin(max_elements);
    uint64_t allowed;
    pastset_space *space = NULL;
    int err = bytes_allowed(&allowed);

    *out = NULL;
    if (err)
        return err;
    max_bytes = max_bytes < allowed ? max_bytes : allowed;
    /* Now, since it takes long in a process that has many threads already. */
    pastset_fence_init();
    if (max_bytes < begin || max_bytes > LARGEST_MAX_BYTES ||
        max_elements > LARGEST_MAX_ELEMENTS)
        return pastset_fail(PASTSET_EINVAL,
                            "a space of %llu bytes for %u elements: at least "
                            "%llu bytes, at most 16 TiB and %u elements",
                            (unsigned long long)max_bytes, max_elements,
                            (unsigned long long)begin, LARGEST_MAX_ELEMENTS);
    err = space_new(&space, options->path);
    if (err)
        return err;
    if (options->path) {
        /* A new file, not the old one emptied: somebody may be reading it.
         * What is in it is the application's, so it is for its owner only. */
        unlink(options->path);
        space->fd =
            open(options->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (space->fd < 0) {
            int error = errno;
            err = pastset_fail(pastset_status_from_errno(error),
                               "cannot create %s: %s", options->path,
                               strerror(error));
            goto fail;
        }
        err = pastset__space_file_note(space);
    }
    if (!err)
        err = pastset__space_map(space, max_bytes);
    if (!err && options->path)
        lock_shared(space);
    if (!err)
        err = pastset__space_commit(space, 0, begin, false);
    if (err)
        goto fail;
    space->header->version = SPACE_VERSION;
    space->header->byte_order = SPACE_BYTE_ORDER;
    space->header->max_bytes = max_bytes;
    space->header->max_elements = space->max_elements = max_elements;
    atomic_store(&space->header->used_bytes, begin);
    memcpy(space->header->magic, SPACE_MAGIC, sizeof(space->header->magic));
    *out = space;
    return 0;
fail:
    pastset_space_close(space);
    return err;
}

static int header_check(const pastset_space *space, const space_header *header)
{
    uint64_t begin = space_begin(header->max_elements);

    if (memcmp(header->magic, SPACE_MAGIC, sizeof(header->magic)) != 0)
        return pastset_fail(PASTSET_EFORMAT, "%s is not a space file",
                            space->path);
    if (header->byte_order != SPACE_BYTE_ORDER)
        return pastset_fail(PASTSET_EFORMAT,
                            "%s was written on a machine of the other byte "
                            "order: read it there",
                            space->path);
    if (header->version != SPACE_VERSION)
        return pastset_fail(PASTSET_EFORMAT,
                            "%s has version %u of the format; this program "
                            "reads %u",
                            space->path, header->version, SPACE_VERSION);
    if (header->max_elements > LARGEST_MAX_ELEMENTS ||
        header->max_bytes > LARGEST_MAX_BYTES || header->max_bytes < begin ||
        header->used_bytes < begin || header->used_bytes > header->max_bytes ||
        atomic_load(&space->file_bytes) < begin)
        return pastset_fail(PASTSET_EFORMAT,
                            "%s is damaged: its header contradicts its size",
                            space->path);
    return 0;
}

/* Room for all that it may become; or, where so many spaces are open that there
 * are no addresses left (16 of 8 TiB), for what it has now, and again when it
 * has grown. */
static int map_read_only(pastset_space *space, const space_header *header)
{
    int err = pastset__space_map(space, header->max_bytes);

    space->max_bytes = header->max_bytes;
    return err == PASTSET_ENOMEM ? pastset__space_map(space, header->used_bytes)
                                 : err;
}

int pastset_space_open(pastset_space **out, const char *path)
{
    space_header header;
    pastset_space *space = NULL;
    ssize_t got;
    int err;

    *out = NULL;
    err = space_new(&space, path);
    if (err)
        return err;
    space->read_only = true;
    space->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (space->fd < 0) {
        int error = errno;
        err = pastset_fail(pastset_status_from_errno(error),
                           "cannot open %s: %s", path, strerror(error));
        goto fail;
    }
    err = pastset__space_file_size(space);
    if (err)
        goto fail;
    got = pread(space->fd, &header, sizeof(header), 0);
    if (got < 0) {
        int error = errno;
        err = pastset_fail(pastset_status_from_errno(error),
                           "cannot read %s: %s", path, strerror(error));
        goto fail;
    }
    if (got != (ssize_t)sizeof(header)) {
        err = pastset_fail(PASTSET_EFORMAT,
                           "%s is too short to be a space file", path);
        goto fail;
    }
    err = header_check(space, &header);
    space->max_elements = header.max_elements;
    if (!err)
        err = map_read_only(space, &header);
    if (!err)
        err = pastset_space_refresh(space);
    if (err && space->header && err == PASTSET_EFORMAT)
        err = 0; /* elements that are damaged: the others can be read */
    if (err)
        goto fail;
    *out = space;
    return 0;
fail:
    pastset_space_close(space);
    return err;
}

void pastset_space_close(pastset_space *space)
{
    if (!space)
        return;
    for (uint32_t i = 0; !space->read_only && i < space->known; i++)
        (void)pastset__end(space->elements[i], false);
    pastset__space_wait_left(space);
    for (uint32_t i = 0; i < space->known; i++)
        pastset__element_destroy(space->elements[i]);
    free(space->elements);
    free(space->hashes);
    free(space->left_out);
    if (space->base != MAP_FAILED)
        munmap(space->base, space->mapped_bytes);
    for (uint32_t i = 0; i < space->older_count; i++)
        munmap(space->older[i].base, space->older[i].bytes);
    free(space->older);
    if (space->fd >= 0)
        close(space->fd);
    pthread_mutex_destroy(&space->lock);
    free(space->path);
    free(space);
}

/* Headers have pages of their own. Where there are tens of thousands, as in a
 * program with thousands of threads, all of them are not to be looked at for a
 * name. */
static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

/* Adds a handle; under the lock. */
static int handle_add(pastset_space *space, pastset_element *element)
{
    pastset_element **grown =
        pastset_array_grow(space->elements, space->known, sizeof(*grown));
    uint32_t *hashes;

    if (!grown)
        return pastset_no_memory("for an element");
    space->elements = grown;
    hashes = pastset_array_grow(space->hashes, space->known, sizeof(*hashes));
    if (!hashes)
        return pastset_no_memory("for an element");
    space->hashes = hashes;
    hashes[space->known] = hash_of(element->header->name);
    space->elements[space->known++] = element;
    return 0;
}

/* As many elements as the file has pages, so that a damaged one cannot make
 * us take much more memory than it has itself. */
static uint64_t count_max(const pastset_space *space)
{
    return atomic_load(&space->file_bytes) / SPACE_PAGE;
}

/* How many elements the space has; `*wrong` when it claims more than it can
 * have: then those that the directory begins with. */
static uint32_t count_elements(const pastset_space *space, uint32_t claimed,
                               bool *wrong)
{
    uint32_t count = space->looked;

    *wrong = claimed > space->max_elements || claimed > count_max(space);
    if (!*wrong)
        return claimed;
    while (count < space->max_elements && count < count_max(space) &&
           directory(space)[count] != 0)
        count++;
    return count;
}

/* Entries that are new are left out at first. */
static int entries_look(pastset_space *space, uint32_t count)
{
    for (; space->looked < count; space->looked++) {
        uint32_t *grown = pastset_array_grow(space->left_out, space->left_count,
                                             sizeof(*grown));
        if (!grown)
            return pastset_no_memory("for an element");
        space->left_out = grown;
        space->left_out[space->left_count++] = space->looked;
    }
    return 0;
}

static int entry_take(pastset_space *space, uint32_t entry)
{
    pastset_element *element;
    int err = pastset__element_attach(&element, space, directory(space)[entry]);

    if (err)
        return err;
    err = handle_add(space, element);
    if (err)
        pastset__element_destroy(element);
    return err;
}

/* Takes in those that were left out, as far as they are whole. A damaged one
 * does not keep the others from being read, and is tried again the next time.
 * Errors: PASTSET_EFORMAT (some are damaged), PASTSET_ENOMEM. */
static int entries_take(pastset_space *space)
{
    uint32_t kept = 0, first = 0;
    char why[400] = "", others[64] = "";

    for (uint32_t i = 0; i < space->left_count; i++) {
        uint32_t entry = space->left_out[i];
        int err = entry_take(space, entry);
        if (err == PASTSET_ENOMEM) {
            memmove(space->left_out + kept, space->left_out + i,
                    (space->left_count - i) * sizeof(*space->left_out));
            space->left_count -= i - kept;
            return err;
        }
        if (!err)
            continue;
        if (kept == 0) {
            first = entry;
            snprintf(why, sizeof(why), "%s", pastset_error());
        }
        space->left_out[kept++] = entry;
    }
    space->left_count = kept;
    if (kept == 0)
        return 0;
    if (kept > 1)
        snprintf(others, sizeof(others), "; %u more are damaged", kept - 1);
    return pastset_fail(PASTSET_EFORMAT,
                        "%s: element %u of %u: %s%s; what was in %s is lost",
                        space->path, first, space->looked, why, others,
                        kept > 1 ? "them" : "it");
}

int pastset_space_refresh(pastset_space *space)
{
    uint32_t claimed;
    bool wrong = false;
    int err = 0;

    if (!space->read_only)
        return 0;
    pthread_mutex_lock(&space->lock);
    /* Acquire: pairs with the release in publish(); the headers of that many
     * elements are whole. */
    claimed = atomic_load_explicit(&space->header->element_count,
                                   memory_order_acquire);
    /* The file's size is looked at when there is something new; a tuple beyond
     * what is known of it is looked for then. So asking costs nothing. */
    if (claimed != space->looked || claimed == 0 || space->left_count > 0) {
        err = pastset__space_file_size(space);
        if (!err)
            err = pastset__space_extend(space);
    }
    if (err)
        goto done;
    err = entries_look(space, count_elements(space, claimed, &wrong));
    if (err)
        goto done;
    err = entries_take(space);
    if (err)
        goto done;
    if (wrong)
        err = pastset_fail(PASTSET_EFORMAT,
                           "%s is damaged: it claims %u elements", space->path,
                           claimed);
done:
    pthread_mutex_unlock(&space->lock);
    return err;
}

static bool is_live(const pastset_element *element)
{
    return atomic_load_explicit(&element->header->state,
                                memory_order_relaxed) == ELEMENT_LIVE;
}

size_t pastset_space_count(pastset_space *space)
{
    size_t count = 0;

    pthread_mutex_lock(&space->lock);
    space->next = 0;
    for (uint32_t i = 0; i < space->known; i++)
        count += is_live(space->elements[i]);
    pthread_mutex_unlock(&space->lock);
    return count;
}

/* Who asks for one after the other does not go past all of them each time. */
pastset_element *pastset_space_at(pastset_space *space, size_t position)
{
    pastset_element *found = NULL;
    size_t to_pass = position;
    uint32_t i = 0;

    pthread_mutex_lock(&space->lock);
    if (position > 0 && position == space->next) {
        i = space->after;
        to_pass = 0;
    }
    for (; i < space->known && !found; i++)
        if (is_live(space->elements[i]) && to_pass-- == 0)
            found = space->elements[i];
    space->next = found ? position + 1 : 0;
    space->after = i;
    pthread_mutex_unlock(&space->lock);
    return found;
}

/* Under the lock. */
static pastset_element *find(pastset_space *space, const char *name)
{
    uint32_t hash = hash_of(name);

    for (uint32_t i = 0; i < space->known; i++) {
        if (space->hashes[i] == hash && is_live(space->elements[i]) &&
            strcmp(space->elements[i]->header->name, name) == 0)
            return space->elements[i];
    }
    return NULL;
}

pastset_element *pastset_space_find(pastset_space *space, const char *name)
{
    pastset_element *found;

    pthread_mutex_lock(&space->lock);
    found = find(space, name);
    pthread_mutex_unlock(&space->lock);
    return found;
}

/* Under the lock. */
static int admit(pastset_space *space, const char *name)
{
    if (find(space, name))
        return pastset_fail(PASTSET_EEXIST,
                            "there is an element \"%s\" already", name);
    if (space->known >= space->max_elements)
        return pastset_fail(PASTSET_ENOSPC, "%s: already holds its %u elements",
                            space->path, space->max_elements);
    return 0;
}

static int publish(pastset_space *space, pastset_element *element)
{
    int err;

    pthread_mutex_lock(&space->lock);
    err = admit(space, element->header->name);
    if (!err)
        err = handle_add(space, element);
    if (!err) {
        atomic_store_explicit(&directory(space)[space->known - 1],
                              pastset__space_offset(space, element->header),
                              memory_order_relaxed);
        /* Release: pairs with the acquire in refresh(). */
        atomic_store_explicit(&space->header->element_count, space->known,
                              memory_order_release);
    }
    pthread_mutex_unlock(&space->lock);
    return err;
}

/* Is there room for an element of that name? It is asked again when it is
 * published; here so that it costs no memory. */
static int may_publish(pastset_space *space, const char *name)
{
    int err;

    if (space->read_only)
        return pastset_fail(PASTSET_ENOTSUP,
                            "element \"%s\": the space was opened for reading",
                            name);
    pthread_mutex_lock(&space->lock);
    err = admit(space, name);
    pthread_mutex_unlock(&space->lock);
    return err;
}

int pastset_element_create(pastset_element **out, pastset_space *space,
                           const pastset_element_options *options)
{
    pastset_element *element = NULL;
    int err;

    *out = NULL;
    err = pastset__element_check(options);
    if (!err)
        err = may_publish(space, options->name);
    if (err)
        return err;
    err = pastset__element_create(&element, space, options);
    if (!err)
        err = publish(space, element);
    if (err) {
        pastset__element_destroy(element);
        return pastset_fail_while(err, "creating element \"%s\"",
                                  options->name);
    }
    *out = element;
    return 0;
}

pastset_element **pastset__space_elements(pastset_space *space, uint32_t *count)
{
    pthread_mutex_lock(&space->lock);
    *count = space->known;
    pthread_mutex_unlock(&space->lock);
    return space->elements;
}
