/* archive_index.c - opening a large archive without going everywhere in it.
 *
 * Some head stands near the end of the file, after a flush its very last
 * bytes; it leads to the last index, and that to those before. They are taken
 * from the first to the last, and the blocks between them, of which they do
 * not tell, from head to head: where a writer was killed and another one went
 * on there are some. */
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/archive/archive_internal.h"

/* How far from the end a head is looked for, at first and then: longer than
 * any block. */
static const uint64_t windows[] = {4096, 1u << 20};

/* The last good head in the window. */
static bool head_find(const unsigned char *bytes, size_t count, uint64_t offset,
                      archive_block *out)
{
    const unsigned char *at = bytes;
    bool found = false;

    while ((at = scopes__archive_block_seek(
                at, (size_t)(bytes + count - at))) != NULL) {
        archive_block block;
        if ((size_t)(bytes + count - at) < ARCHIVE_BLOCK_BYTES)
            break;
        if (scopes__archive_block_get(&block, at,
                                      offset + (uint64_t)(at - bytes))) {
            *out = block;
            found = true;
        }
        at++;
    }
    return found;
}

/* Where the last index is; 0 when that is not known. */
static int last_find(scopes_archive *a, uint64_t size, uint64_t *index)
{
    bool found = false;

    *index = 0;
    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
        uint64_t window = size - a->at < windows[i] ? size - a->at : windows[i];
        unsigned char *bytes = malloc(window + 1);
        archive_block block;
        ssize_t got;
        if (!bytes)
            return pastset_fail(PASTSET_ENOMEM, "%s: no memory", a->file);
        got = scopes__archive_pread(a, bytes, window, size - window);
        if (got > 0)
            found = head_find(bytes, (size_t)got, size - window, &block);
        free(bytes);
        if (got < 0)
            return (int)got;
        if (found) {
            *index = block.kind == ARCHIVE_INDEX ? block.offset : block.index;
            return 0;
        }
    }
    return 0;
}

/* The indexes, from the last to the first. */
typedef struct chain {
    archive_block *items;
    size_t count;
} chain;

static int chain_add(chain *c, const archive_block *index)
{
    archive_block *more = pastset_array_grow(c->items, c->count, sizeof(*more));

    if (!more)
        return pastset_no_memory("for an archive");
    c->items = more;
    c->items[c->count++] = *index;
    return 0;
}

/* Those that can be found: each is in front of the one that leads to it. */
static int chain_follow(scopes_archive *a, uint64_t size, uint64_t from,
                        chain *c)
{
    uint64_t before = size;
    int err = 0;

    while (!err && from >= a->at && from < before) {
        archive_block index;
        int found = scopes__archive_look(a, from, &index);
        if (found < 0)
            return found;
        if (!found || index.kind != ARCHIVE_INDEX)
            break;
        err = chain_add(c, &index);
        before = from;
        from = index.numbers[INDEX_BEFORE];
    }
    return err;
}

/* Takes in the blocks of which the heads tell, as far as they stand one behind
 * the other up to the index. */
static int heads_take(scopes_archive *a, const archive_block *index)
{
    for (uint32_t i = 0; i < index->count; i++) {
        archive_block b;
        int err;
        if (!scopes__archive_block_get(
                &b, a->raw + (size_t)i * ARCHIVE_BLOCK_BYTES, a->at) ||
            b.packed > index->offset - a->at || b.kind == ARCHIVE_INDEX)
            return 0; /* the rest is walked */
        err = scopes__archive_take(a, &b);
        if (err)
            return err;
    }
    return a->at == index->offset ? scopes__archive_take(a, index) : 0;
}

static int index_take(scopes_archive *a, const archive_block *index)
{
    archive_content content = {index->packed, index->raw, index->sum, false};
    uint64_t from = index->numbers[INDEX_FROM];
    int err;

    if (from < a->at) /* it tells of what is known, or is none of ours */
        return 0;
    err = scopes__archive_unpack(a, index->offset, &content);
    if (err)
        return err == PASTSET_EFORMAT ? 0 : err;
    if (from > a->at)
        err = scopes__archive_heads(a, from);
    if (err || a->at != from)
        return err;
    return heads_take(a, index);
}

int scopes__archive_index_use(scopes_archive *a, uint64_t size)
{
    chain indexes = {0};
    uint64_t last = 0;
    int err = size > a->at ? last_find(a, size, &last) : 0;

    if (!err && last)
        err = chain_follow(a, size, last, &indexes);
    while (!err && indexes.count > 0)
        err = index_take(a, &indexes.items[--indexes.count]);
    free(indexes.items);
    return err;
}
