/* profiler_messages.c - messages between nodes, from packets.
 *
 * A capture tells streams between addresses and ports; the watch has noted
 * which process had a socket with them. Where both ends are the command's, the
 * messages are its. */
#include "measure/profiler/profiler_internal.h"

#include "pastset/array.h"
#include "pastset/status.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int capture(measure__making *m, const char *interface)
{
    int err;
    if (m->capture_count == MEASURE__CAPTURES)
        return pastset_fail(PASTSET_EINVAL,
                            "more than %d interfaces to capture from",
                            MEASURE__CAPTURES);
    err = measure_capture_open(&m->captures[m->capture_count], interface,
                               m->options->filter);
    m->capture_count += !err;
    return err;
}

/* Without the right to capture there is a profile without messages. */
int measure__open_captures(measure__making *m)
{
    static const char *const usual[] = {"lo", NULL};
    const char *const *names =
        m->options->interfaces ? m->options->interfaces : usual;
    int err = 0;
    if (m->options->no_packets || m->options->packets_file || m->run_directory)
        return 0;
    for (; *names && !err; names++)
        err = capture(m, *names);
    if (err == PASTSET_ENOTSUP) {
        measure__note(m, "this profile has no messages: %s", pastset_error());
        m->notes->incomplete |= m->options->interfaces != NULL;
        err = 0;
    }
    return err;
}

void measure__step_captures(measure__making *m)
{
    for (size_t i = 0; i < m->capture_count && !m->capture_failed; i++)
        if (measure_capture_step(m->captures[i])) {
            measure__note(m, "capturing ended before the command: %s",
                          pastset_error());
            m->notes->incomplete = true;
            m->capture_failed = true; /* what there is will be used */
        }
}

/* --- whose a stream is --- */

static uint32_t owner(const measure__making *m, const measure_end *local,
                      const measure_end *remote)
{
    pid_t pid = measure_watch_owner(m->watch, m->network, local->address,
                                    local->port, remote->address, remote->port);
    for (size_t i = 0; pid && i < m->seen->process_count; i++)
        if (m->seen->processes[i].pid == pid)
            return m->group_of[i];
    return PREDICT_NONE;
}

typedef struct ends {
    uint32_t a, b;
} ends;

static bool add(measure__messages *out, predict_message message)
{
    void *grown =
        pastset_array_grow(out->items, out->count, sizeof(*out->items));
    if (!grown)
        return false;
    out->items = grown;
    out->items[out->count++] = message;
    return true;
}

static int take(measure__making *m, measure__messages *out,
                const measure_packets *packets)
{
    ends *of = calloc(packets->stream_count + 1, sizeof(*of));
    bool well = of != NULL;
    for (size_t i = 0; well && i < packets->stream_count; i++) {
        const measure_stream *s = &packets->streams[i];
        of[i] = (ends){owner(m, &s->a, &s->b), owner(m, &s->b, &s->a)};
    }
    for (size_t i = 0; well && i < packets->message_count; i++) {
        const measure_packet_message *p = &packets->messages[i];
        ends e = of[p->stream];
        uint32_t from = p->back ? e.b : e.a, to = p->back ? e.a : e.b;
        int64_t at = p->from_ns - m->real_ns;
        if (from == PREDICT_NONE || to == PREDICT_NONE) {
            out->strange += from != to;
            continue;
        }
        at = at < 0 ? 0 : at > m->profile->wall_ns ? m->profile->wall_ns : at;
        if (from != to)
            well = add(out, (predict_message){at, p->bytes, from, to});
    }
    free(of);
    return well ? 0
                : pastset_no_memory("for %zu messages", packets->message_count);
}

static int by_time(const void *a, const void *b)
{
    const predict_message *x = a, *y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static void tell_losses(measure__making *m, const measure_packets *packets)
{
    uint64_t gaps = 0;
    for (size_t i = 0; i < packets->stream_count; i++)
        gaps += packets->streams[i].gaps;
    m->profile->lost_packets += packets->dropped;
    if (packets->dropped || gaps)
        measure__note(m,
                      "the capture missed %llu packets and %llu bytes: "
                      "messages are missing, or are recorded too long",
                      (unsigned long long)packets->dropped,
                      (unsigned long long)gaps);
}

static int end_captures(measure__making *m, measure__messages *out)
{
    int err = 0;
    for (size_t i = 0; i < m->capture_count && !err; i++) {
        const measure_packets *packets;
        err = measure_capture_end(m->captures[i], &packets);
        if (err)
            break;
        tell_losses(m, packets);
        err = take(m, out, packets);
    }
    return err;
}

/* A capture file that is damaged or empty does not spoil the rest. */
static int read_file(measure__making *m)
{
    const char *file = m->options->packets_file;
    int err = 0;
    if (file)
        err = measure_capture_read(&m->captures[0], file, m->options->filter);
    if (file && !err) {
        m->capture_count = 1;
        err = measure_capture_step(m->captures[0]);
    }
    if (err && err != PASTSET_ENOMEM) {
        measure__note(m, "this profile has no messages: %s", pastset_error());
        m->notes->incomplete = true;
        err = 0;
    }
    return err;
}

/* --- what was not captured --- */

static void tell_strange(measure__making *m, const measure__messages *out)
{
    if (!out->strange)
        return;
    measure__note(m,
                  "%llu of %llu messages are left out: their other end is not "
                  "a process of the command, or ended too soon to be seen",
                  (unsigned long long)out->strange,
                  (unsigned long long)(out->strange + out->count));
    m->notes->incomplete |= out->strange > out->count;
}

/* A process, no launcher, that has connections of which nothing comes by here;
 * NULL: none. */
static const measure_process *one_elsewhere(const measure__making *m)
{
    for (size_t i = 0; i < m->seen->process_count; i++) {
        const measure_process *p = &m->seen->processes[i];
        if (p->network && p->network != m->network &&
            !measure__is_launcher(m, m->group_of[i]) &&
            measure_watch_connects(m->watch, p->pid))
            return p;
    }
    return NULL;
}

static size_t count_ranks(const measure__making *m)
{
    size_t count = 0;

    for (size_t i = 0; i < m->group_count; i++)
        count += strncmp(m->groups[i].label, "rank", 4) == 0 &&
                 isdigit((unsigned char)m->groups[i].label[4]);
    return count;
}

/* Of those that send each other messages, nothing came by. */
static void tell_missing(measure__making *m, const measure__messages *out)
{
    const measure_process *p =
        m->options->packets_file ? NULL : one_elsewhere(m);

    if (m->capture_count == 0)
        return;
    if (p)
        measure__note(m,
                      "%s has connections in another network namespace, where "
                      "nothing was captured: profile it there, or give what "
                      "tcpdump wrote there to --packets",
                      p->label);
    else if (!out->count && count_ranks(m) > 1)
        measure__note(m,
                      "no packets went between the ranks of MPI: they share "
                      "memory, or use another network interface. Put "
                      "'eventspace mpi' in front of the program, let MPI use "
                      "TCP (--mca btl tcp,self of Open MPI), or say "
                      "--no-packets");
    else
        return;
    m->notes->incomplete = true;
}

int measure__take_packets(measure__making *m, measure__messages *out)
{
    int err = read_file(m);
    if (!err)
        err = end_captures(m, out);
    if (err)
        return err;
    if (out->count > 1)
        qsort(out->items, out->count, sizeof(*out->items), by_time);
    for (size_t i = 0; i < out->count; i++) {
        m->groups[out->items[i].from].messages++;
        m->groups[out->items[i].to].messages++;
    }
    tell_strange(m, out);
    tell_missing(m, out);
    if (m->options->packets_file && m->capture_count && !out->count) {
        measure__note(m, "%s has no message between processes of the command",
                      m->options->packets_file);
        m->notes->incomplete = true;
    }
    return 0;
}

int measure__add_messages(measure__making *m, const measure__messages *from)
{
    for (size_t i = 0; i < from->count; i++) {
        predict_message message = from->items[i];
        int64_t err;
        message.from = m->groups[message.from].node;
        message.to = m->groups[message.to].node;
        if (message.from == PREDICT_NONE || message.to == PREDICT_NONE)
            continue; /* a launcher's */
        err = predict_profile_add_link(m->profile, message.from, message.to);
        if (err >= 0)
            err = predict_profile_add_message(m->profile, message);
        if (err < 0)
            return (int)err;
    }
    return 0;
}
