/* kept.c - see kept.h. */
#include "apps/common/kept.h"

#include <inttypes.h>

#include "pastset/status.h"
#include "pastset/type.h"

#define PIECE_BYTES (256u * 1024)
#define STATES 3u

static size_t pieces_of(size_t bytes)
{
    return (bytes + PIECE_BYTES - 1) / PIECE_BYTES;
}

static size_t piece_of(size_t bytes)
{
    return bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
}

void kept_mapping_begin(FILE *out)
{
    fprintf(out, "    restart=true;\n");
}

void kept_mapping(FILE *out, uint32_t thread, size_t bytes)
{
    fprintf(out,
            "    kept_%" PRIu32 " [kind=element, type=\"bytes[%zu]\", "
            "capacity=%zu, policy=discard, kept=true];\n"
            "    t%" PRIu32 " -> kept_%" PRIu32 " [as=keep, use=write];\n"
            "    t%" PRIu32 " -> kept_%" PRIu32 " [as=kept, use=read];\n",
            thread, piece_of(bytes), STATES * pieces_of(bytes), thread, thread,
            thread, thread);
}

int kept_open(kept *k, paths_thread *self, size_t bytes)
{
    int err;

    *k = (kept){.self = self, .bytes = bytes};
    err = paths_open(&k->to, self, "keep");
    if (!err)
        err = paths_open(&k->from, self, "kept");
    if (!err && paths_type(k->to)->max_bytes < piece_of(bytes))
        err = pastset_fail(PASTSET_ETYPE,
                           "%s: its tuples have %" PRIu32
                           " bytes, but %zu are to be kept: the map is for "
                           "another problem",
                           paths_describe(k->to), paths_type(k->to)->max_bytes,
                           piece_of(bytes));
    return err;
}

int kept_save(const kept *k, uint64_t step, const void *state)
{
    const char *from = state;
    int err = 0;

    for (size_t at = 0; at < k->bytes && !err; at += PIECE_BYTES)
        err = paths_write(k->to, from + at, piece_of(k->bytes - at));
    return err ? err : paths_commit(k->self, step);
}

static int piece_read(const kept *k, pastset_verb verb, uint64_t *index,
                      char *to, size_t bytes)
{
    paths_arguments arguments = {.verb = verb,
                                 .tuple = to,
                                 .bytes = bytes,
                                 .index = *index,
                                 .timeout_ms = PASTSET_FOREVER};
    int err = paths_call(k->from, &arguments);

    if (!err && arguments.bytes != bytes)
        err = pastset_fail(PASTSET_EAPP,
                           "%s: tuple %" PRIu64 " has %zu bytes and not %zu: "
                           "what was kept is of another problem",
                           paths_describe(k->from), arguments.index,
                           arguments.bytes, bytes);
    *index = arguments.index;
    return err;
}

/* The last piece says where the others are. */
int kept_load(const kept *k, uint64_t *step, void *state)
{
    size_t pieces = pieces_of(k->bytes), last = (pieces - 1) * PIECE_BYTES;
    char *to = state;
    uint64_t index = 0;
    int err;

    *step = paths_restored(k->self);
    if (!*step)
        return 0;
    err = piece_read(k, PASTSET_READ_LAST, &index, to + last, k->bytes - last);
    for (size_t i = 0; i + 1 < pieces && !err; i++) {
        uint64_t at = index - (pieces - 1) + i;
        err =
            piece_read(k, PASTSET_READ, &at, to + i * PIECE_BYTES, PIECE_BYTES);
    }
    return err;
}
