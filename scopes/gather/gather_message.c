/* gather_message.c - making and checking the messages of gather trees. Their
 * layout is in gather_message.h. */
#include "scopes/gather/gather_internal.h"

#include <string.h>

#include "eventspace/collect/message.h"
#include "eventspace/collect/scheduling.h"
#include "eventspace/define/definition.h"

/* --- making --- */

void scopes__gather_begin(gather_writer *w, void *data, size_t capacity,
                          uint32_t process)
{
    memset(w, 0, sizeof(*w));
    w->data = data;
    w->capacity = capacity;
    w->used = sizeof(w->head);
    w->head.magic = GATHER_MAGIC;
    w->head.version = GATHER_VERSION;
    w->head.process = process;
}

size_t scopes__gather_capacity(const gather_writer *w, size_t name_bytes)
{
    size_t taken =
        w->used + sizeof(gather_part) + scopes__gather_padded(name_bytes);
    return taken < w->capacity ? (w->capacity - taken) & ~(size_t)3 : 0;
}

/* Copies, and fills up with zeros to four bytes. */
static unsigned char *put(unsigned char *to, const void *from, size_t bytes)
{
    size_t padded = scopes__gather_padded(bytes);

    memset(to + bytes, 0, padded - bytes);
    if (from && bytes)
        memcpy(to, from, bytes);
    return to + padded;
}

void *scopes__gather_add(gather_writer *w, const gather_part *part,
                         const char *name, const void *body)
{
    unsigned char *at = w->data + w->used;
    unsigned char *place;
    size_t bytes = sizeof(*part) + scopes__gather_padded(part->name_bytes) +
                   scopes__gather_padded(part->bytes);

    if (bytes > w->capacity - w->used)
        return NULL;
    at = put(at, part, sizeof(*part));
    place = put(at, name, part->name_bytes);
    put(place, body, part->bytes);
    w->used += bytes;
    w->head.records++;
    return place;
}

size_t scopes__gather_end(gather_writer *w)
{
    w->head.bytes = (uint32_t)w->used;
    memcpy(w->data, &w->head, sizeof(w->head));
    return w->used;
}

/* --- reading --- */

void scopes__gather_read(gather_reader *r, const void *message, size_t bytes)
{
    r->at = (const unsigned char *)message + sizeof(gather_head);
    r->end = (const unsigned char *)message + bytes;
    r->name = r->body = NULL;
}

bool scopes__gather_next(gather_reader *r, gather_part *part)
{
    size_t left = (size_t)(r->end - r->at);

    if (left < sizeof(*part))
        return false;
    memcpy(part, r->at, sizeof(*part));
    left -= sizeof(*part);
    if (scopes__gather_padded(part->name_bytes) > left ||
        scopes__gather_padded(part->bytes) >
            left - scopes__gather_padded(part->name_bytes))
        return false;
    r->name = r->at + sizeof(*part);
    r->body = r->name + scopes__gather_padded(part->name_bytes);
    r->at = r->body + scopes__gather_padded(part->bytes);
    return true;
}

/* What a kind says of the length of its body, and of its name. */
static bool part_holds(const gather_part *part, const unsigned char *name)
{
    bool stream = false;
    size_t each = 0;

    switch (part->kind) {
    case SCOPES_RECORD_TUPLES:
        stream = true;
        each = sizeof(eventspace_trace);
        break;
    case SCOPES_RECORD_COUNTED:
    case SCOPES_RECORD_STREAM_END:
        stream = true;
        break;
    case SCOPES_RECORD_STATISTICS:
        each = sizeof(scopes_statistic);
        break;
    case SCOPES_RECORD_MESSAGES:
        stream = true;
        each = sizeof(eventspace_message);
        break;
    case SCOPES_RECORD_SCHEDULING:
        return part->bytes == part->count * sizeof(eventspace_scheduling) &&
               !part->name_bytes;
    case SCOPES_RECORD_SURROUNDINGS:
        return part->bytes == sizeof(scopes_surroundings) && part->count == 1 &&
               !part->name_bytes;
    case SCOPES_RECORD_DEFINITION:
        return part->bytes <= EVENTSPACE_DEFINITION_BYTES && part->count == 1 &&
               !part->name_bytes;
    case SCOPES_RECORD_META:
        return part->bytes <= EVENTSPACE_META_MAX_BYTES && !part->name_bytes;
    case SCOPES_RECORD_MAP:
        return part->index <= part->span &&
               part->bytes <= part->span - part->index && !part->name_bytes;
    case SCOPES_RECORD_PROBLEM:
        return !part->name_bytes;
    default:
        return false;
    }
    if (stream &&
        (part->count > part->span && part->kind != SCOPES_RECORD_STREAM_END))
        return false;
    if (stream && part->span > UINT64_MAX - part->index)
        return false;
    if (part->bytes != part->count * each &&
        (each || part->bytes)) /* COUNTED has a count and no body */
        return false;
    if (!stream)
        return part->name_bytes == 0;
    return part->name_bytes > 0 && part->name_bytes < PASTSET_NAME_BYTES &&
           !memchr(name, 0, part->name_bytes);
}

int scopes__gather_check(const void *message, size_t bytes, gather_head *head)
{
    gather_reader r;
    gather_part part;
    uint32_t records = 0;

    if (bytes < sizeof(*head))
        return pastset_fail(PASTSET_EPROTO,
                            "a message of %zu bytes, shorter than its head",
                            bytes);
    memcpy(head, message, sizeof(*head));
    if (head->magic != GATHER_MAGIC || head->version != GATHER_VERSION)
        return pastset_fail(PASTSET_EPROTO,
                            "a message that is not one of version %u",
                            GATHER_VERSION);
    if (head->bytes != bytes || (head->flags & ~GATHER_FLAGS))
        return pastset_fail(PASTSET_EPROTO, "a message whose head is wrong");
    scopes__gather_read(&r, message, bytes);
    while (scopes__gather_next(&r, &part)) {
        if (!part_holds(&part, r.name))
            return pastset_fail(PASTSET_EPROTO,
                                "record %u of a message is wrong (kind %u)",
                                records, part.kind);
        records++;
    }
    if (r.at != r.end || records != head->records)
        return pastset_fail(PASTSET_EPROTO,
                            "a message of %u records, of which %u can be read",
                            head->records, records);
    return 0;
}

bool scopes__gather_meta_take(eventspace_meta *meta, const gather_part *part,
                              const void *body)
{
    eventspace_meta taken;

    if (part->kind != SCOPES_RECORD_META ||
        eventspace_meta_decode(&taken, body, part->bytes, "meta") != 0 ||
        !(taken.tick_hz > 0))
        return false;
    *meta = taken;
    return true;
}

static void record_of(scopes_record *out, const gather_head *head,
                      const gather_part *part, const gather_reader *r)
{
    out->kind = (scopes_record_kind)part->kind;
    out->process = head->process;
    memcpy(out->stream, r->name, part->name_bytes);
    out->stream[part->name_bytes] = 0;
    out->index = part->index;
    out->span = part->span;
    out->count = part->count;
    out->body = r->body;
    out->bytes = part->bytes;
}

int scopes__gather_deliver(const void *message, size_t bytes, gather_head *head,
                           scopes_each_record *each, void *context)
{
    scopes_record record = {0};
    gather_reader r;
    gather_part part;
    int err = scopes__gather_check(message, bytes, head);

    if (err)
        return err;
    scopes__gather_read(&r, message, bytes);
    while (!err && scopes__gather_next(&r, &part)) {
        record_of(&record, head, &part, &r);
        err = each(&record, context);
    }
    if (err || head->process == PATHS_NONE)
        return err;
    memset(&record, 0, sizeof(record));
    record.kind = SCOPES_RECORD_LEDGER;
    record.process = head->process;
    record.ledger = (scopes_ledger){.recorded = head->recorded,
                                    .read = head->read,
                                    .lost = head->lost,
                                    .unread = head->unread};
    record.processor_ns = head->processor_ns;
    record.more = head->flags & GATHER_MORE;
    record.ended = head->flags & GATHER_ENDED;
    return each(&record, context);
}
