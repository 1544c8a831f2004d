/* space_fuzz.c - any bytes as the file of a space. It is opened, every element
 * is listed, counted and read in every way that does not wait. Whatever the
 * file claims, reading stays within it and ends.
 *
 * Most of such a file is empty; the mutator of libFuzzer is led to where
 * something stands: the space's header, the directory, and the beginning of
 * each page from the third on, where elements have their headers and slots. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pastset/element.h"
#include "pastset/request.h"

#define PAGE 4096u
#define TUPLE_CAPACITY (1u << 20) /* larger ones are not read */
#define READS_MAX 40              /* of one element, by one cursor */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t capacity,
                               unsigned seed);
/* libFuzzer's; not there when only the corpus is run. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t capacity)
    __attribute__((weak));

static unsigned char tuple[TUPLE_CAPACITY];

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s (%s)\n", what, pastset_error());
    abort();
}

/* Gives the room of the tuple, unless that would be too much to copy. */
static void *room_for(pastset_request *request, size_t bytes)
{
    (void)request;
    return bytes <= sizeof(tuple) ? tuple : NULL;
}

static int read_one(pastset_element *element, pastset_verb verb,
                    uint64_t *index, const pastset_pattern *pattern)
{
    pastset_request request = {.verb = verb,
                               .nowait = true,
                               .index = *index,
                               .pattern = pattern,
                               .capacity = room_for};
    int status = pastset_submit(element, &request);

    must(status == 0 || pastset_error()[0], "a failure has its text");
    must(status == 0 || status == PASTSET_EAGAIN ||
             status == PASTSET_EEXPIRED || status == PASTSET_EROOM ||
             status == PASTSET_EFORMAT,
         "a read gives a tuple, or says why not");
    if (status == 0) {
        must(request.bytes <= pastset_element_type(element)->max_bytes,
             "no tuple is longer than its type");
        *index = request.index;
    }
    return status;
}

static void read_all(pastset_element *element)
{
    uint64_t index = 0;

    for (int i = 0; i < READS_MAX; i++, index++) {
        uint64_t from = index;
        if (read_one(element, PASTSET_READ_NEXT, &index, NULL) != 0)
            return;
        must(index >= from, "a cursor goes forward");
    }
}

static void read_at(pastset_element *element, const pastset_ledger *ledger)
{
    const uint64_t indexes[] = {0,
                                ledger->first,
                                ledger->first + ledger->present / 2,
                                ledger->written - 1,
                                ledger->written,
                                UINT64_MAX};

    for (size_t i = 0; i < sizeof(indexes) / sizeof(indexes[0]); i++) {
        uint64_t index = indexes[i];
        if (read_one(element, PASTSET_READ, &index, NULL) == 0)
            must(index == indexes[i], "a read gives what was asked for");
    }
}

static void read_matching(pastset_element *element)
{
    const pastset_type *type = pastset_element_type(element);
    pastset_pattern pattern = {.fields = 1, .values = tuple, .bytes = 3};
    uint64_t index = 0;

    if (type->max_bytes > sizeof(tuple))
        return;
    if (read_one(element, PASTSET_READ_LAST, &index, NULL) == 0)
        (void)read_one(element, PASTSET_READ_MATCH, &index, &pattern);
    memset(tuple, 0xA5, type->max_bytes);
    pattern.fields = UINT64_MAX;
    (void)read_one(element, PASTSET_READ_MATCH, &index, &pattern);
}

static void check_element(pastset_element *element)
{
    pastset_ledger l;
    uint64_t index = 0;

    must(strlen(pastset_element_name(element)) < PASTSET_NAME_BYTES,
         "names end");
    pastset_element_ledger(element, &l);
    must(l.written == l.present + l.consumed + l.truncated + l.dropped,
         "the ledger adds up");
    must(l.present <= l.written && l.first <= l.written,
         "no more is there than was written");
    read_all(element);
    read_at(element, &l);
    (void)read_one(element, PASTSET_READ_FIRST, &index, NULL);
    read_matching(element);
    must(pastset_element_delete(element) == PASTSET_ENOTSUP,
         "a file is not changed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static int fd = -1;
    static char path[64];
    pastset_space *space;
    size_t count;
    int err;

    if (fd < 0) {
        fd = memfd_create("space", MFD_CLOEXEC);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    }
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, bytes, 0) != (ssize_t)bytes)
        abort();
    err = pastset_space_open(&space, path);
    if (err) {
        must(err == PASTSET_EFORMAT && pastset_error()[0],
             "a damaged file is called that");
        return 0;
    }
    for (size_t i = 0; i < pastset_space_count(space); i++)
        check_element(pastset_space_at(space, i));
    count = pastset_space_count(space);
    err = pastset_space_refresh(space);
    must(err == 0 || (err == PASTSET_EFORMAT && pastset_error()[0]),
         "what is damaged is called that");
    must(pastset_space_count(space) == count, "nothing has changed");
    pastset_space_close(space);
    return 0;
}

/* Changes some bytes of a part, and leaves its length. */
static void mutate_part(uint8_t *data, size_t bytes, size_t begin,
                        size_t length)
{
    uint8_t part[1024];
    size_t after;

    if (begin >= bytes)
        return;
    if (length > bytes - begin)
        length = bytes - begin;
    memcpy(part, data + begin, length);
    after = LLVMFuzzerMutate(part, length, length);
    memcpy(data + begin, part, after);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t capacity,
                               unsigned seed)
{
    size_t pages = bytes / PAGE;

    if (seed % 16 == 0 || pages < 2)
        return LLVMFuzzerMutate(data, bytes, capacity);
    if (seed % 16 == 1)
        mutate_part(data, bytes, 0, 64);
    else if (seed % 16 == 2)
        mutate_part(data, bytes, PAGE, 64);
    else if (seed % 16 < 6) /* an 8-byte word of a header */
        mutate_part(data, bytes,
                    (2 + seed / 16 % pages) * PAGE + seed / 256 % 88 * 8, 8);
    else
        mutate_part(data, bytes,
                    (2 + seed / 16 % pages) * PAGE + seed / 256 % 14 * 64, 256);
    return bytes;
}
