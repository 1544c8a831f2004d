/* messages_test.c - messages of runs made by hand, also of damaged ones. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/stat.h>

#include "eventspace/define/definition_internal.h"
#include "pastset/status.h"
#include "scopes/reading/reading_internal.h"
#include "tests/scopes/fake_run.h"
#include "tests/support/scratch.h"

static const char map_text[] =
    "digraph two {\n"
    "subgraph \"cluster_h0\" { t0 [kind=thread, number=0]; "
    "e [kind=element, type=\"u64\"]; c0 [kind=collector, id=0, trace=x]; }\n"
    "subgraph \"cluster_h1\" { t1 [kind=thread, number=1]; "
    "f [kind=element, type=\"u64\"]; c1 [kind=collector, id=1, trace=y]; }\n"
    "t0 -> c0 [as=a]; c0 -> e; t1 -> c1 [as=b]; c1 -> f;\n"
    "}\n";

static paths_map *map;
static fake_run *fake;

static void begin(void)
{
    scratch_make();
    cr_assert_eq(paths_map_parse(&map, map_text, sizeof(map_text) - 1, "map"),
                 0, "%s", pastset_error());
    cr_assert_eq(mkdir(scratch_file("run"), 0777), 0);
    fake = fake_run_begin(scratch_file("run"), map);
    cr_assert_not_null(fake, "%s", pastset_error());
}

static void end(void)
{
    paths_map_destroy(map);
    scratch_remove();
}

TestSuite(messages, .timeout = 60, .init = begin, .fini = end);

/* --- writing --- */

static void define(uint32_t process, uint32_t kind, uint32_t id,
                   uint32_t parent, const char *name, const char *keys[2],
                   const char *values[2])
{
    unsigned char tuple[EVENTSPACE_DEFINITION_BYTES];
    eventspace_attributes attributes = {NULL, 0, 0};
    eventspace_definition definition = {
        .kind = kind, .id = id, .parent = parent, .name = name};
    size_t at = 0, bytes;

    for (int i = 0; i < 2 && keys && keys[i]; i++)
        cr_assert_eq(
            eventspace_attributes_add(&attributes, keys[i], values[i], false),
            0);
    definition.attributes = attributes.text;
    definition.attribute_bytes = attributes.bytes;
    while ((bytes = eventspace__definition_encode(tuple, &at, &definition)) > 0)
        cr_assert_eq(fake_run_define(fake, process, tuple, bytes), 0);
    free(attributes.text);
}

static void communicator(uint32_t process, uint32_t id, const char *name,
                         const char *key)
{
    define(process, EVENTSPACE_DEFINES_COMMUNICATOR, id, EVENTSPACE_NO_PARENT,
           name, (const char *[]){"key", NULL}, (const char *[]){key, NULL});
}

static void channel(uint32_t process, uint32_t id, uint32_t parent,
                    const char *from, const char *to)
{
    define(process, EVENTSPACE_DEFINES_CHANNEL, id, parent, "",
           (const char *[]){"from", "to"}, (const char *[]){from, to});
}

static void message(uint32_t thread, uint16_t kind, uint32_t by,
                    uint32_t ordinal, uint64_t bytes)
{
    eventspace_message tuple = {.tick = FAKE_START + 10 * bytes,
                                .bytes = bytes,
                                .channel = by,
                                .ordinal = ordinal,
                                .call = 1,
                                .operation = 2,
                                .tag = -5,
                                .kind = kind};

    cr_assert_eq(fake_run_message(fake, thread, thread, &tuple), 0, "%s",
                 pastset_error());
}

/* --- reading --- */

typedef struct opened {
    eventspace_run *run;
    scopes_topology *topology;
    scopes_messages *messages;
} opened;

static opened open_run(void)
{
    opened o;

    cr_assert_eq(fake_run_end(fake), 0, "%s", pastset_error());
    cr_assert_eq(eventspace_run_open(&o.run, scratch_file("run")), 0, "%s",
                 pastset_error());
    cr_assert_eq(scopes_topology_create(&o.topology, eventspace_run_map(o.run)),
                 0);
    cr_assert_eq(scopes_messages_open(&o.messages, o.run, o.topology), 0);
    return o;
}

static void close_run(opened *o)
{
    scopes_messages_close(o->messages);
    scopes_topology_destroy(o->topology);
    eventspace_run_close(o->run);
}

/* Processes number what they define by themselves; the key of a communicator
 * tells that it is the same one. */
Test(messages, have_one_key_whatever_processes_call_them)
{
    scopes_message_end sent, received, other;
    opened o;

    communicator(0, 0, "world", "w");
    channel(0, 1, 0, "0", "1");
    define(0, EVENTSPACE_DEFINES_OPERATION, 2, EVENTSPACE_NO_PARENT, "MPI_Send",
           NULL, NULL);
    communicator(1, 0, "rows", "r");
    communicator(1, 4, "world", "w");
    channel(1, 7, 4, "0", "1");
    channel(1, 9, 0, "0", "1");
    message(0, EVENTSPACE_MESSAGE_SENT, 1, 0, 11);
    message(1, EVENTSPACE_MESSAGE_RECEIVED, 7, 0, 12);
    message(1, EVENTSPACE_MESSAGE_RECEIVED, 9, 0, 13);
    o = open_run();
    cr_assert(scopes_messages_next(o.messages, 0, &sent));
    cr_assert(scopes_messages_next(o.messages, 1, &received));
    cr_assert(scopes_messages_next(o.messages, 1, &other));
    cr_expect_not(scopes_messages_next(o.messages, 1, &other));
    cr_expect_eq(scopes_message_compare(&sent.key, &received.key), 0);
    cr_expect_neq(scopes_message_compare(&sent.key, &other.key), 0);
    cr_expect_str_eq(sent.operation, "MPI_Send");
    cr_expect_str_eq(received.operation, "");
    cr_expect_eq(sent.key.tag, -5);
    cr_expect_eq(sent.bytes, 11);
    cr_expect_eq(received.bytes, 12);
    cr_expect(!sent.is_received && received.is_received);
    cr_expect_str_eq(
        scopes_messages_communicator(o.messages, sent.key.communicator),
        "world");
    cr_expect_str_eq(
        scopes_messages_communicator(o.messages, other.key.communicator),
        "rows");
    cr_expect_eq(scopes__messages_damaged(o.messages), 0);
    close_run(&o);
}

/* What cannot be right is left out, counted, and what is right is read. */
Test(messages, of_damaged_files_are_read_as_far_as_they_are_right)
{
    scopes_message_end end_of;
    opened o;

    communicator(0, 3, "world", "w");
    channel(0, 5, 3, "0", "1");
    channel(0, 4, 3, "0", "1");   /* ids ascend */
    channel(0, 6, 2, "0", "1");   /* of nothing */
    channel(0, 7, 5, "0", "1");   /* of a channel */
    channel(0, 8, 3, "0", "77");  /* to nobody */
    channel(0, 9, 3, "0", "0x1"); /* no number */
    channel(0, 10, 3, "1", "0");  /* another's */
    for (uint32_t id = 4; id <= 11; id++)
        message(0, EVENTSPACE_MESSAGE_SENT, id, 0, id);
    message(0, 7, 5, 0, 12);                           /* no kind */
    message(0, EVENTSPACE_MESSAGE_RECEIVED, 5, 0, 13); /* it only sends */
    message(0, EVENTSPACE_MESSAGE_SENT, 5, 1, 14);
    o = open_run();
    cr_expect(strstr(eventspace_run_process_at(o.run, 0)->problem,
                     "what it belongs to is missing"),
              "%s", eventspace_run_process_at(o.run, 0)->problem);
    cr_assert(scopes_messages_next(o.messages, 0, &end_of));
    cr_expect_eq(end_of.bytes, 5);
    cr_assert(scopes_messages_next(o.messages, 0, &end_of));
    cr_expect_eq(end_of.bytes, 14);
    cr_expect_not(scopes_messages_next(o.messages, 0, &end_of));
    cr_expect_eq(scopes__messages_damaged(o.messages), 9);
    close_run(&o);
}

/* Any bytes where they stand: no crash, and nothing without a channel. */
Test(messages, of_random_bytes_have_channels_or_are_left_out)
{
    uint64_t random = 1, found = 0;
    opened o;

    communicator(0, 0, "world", "w");
    channel(0, 1, 0, "0", "1");
    for (int i = 0; i < 500; i++) {
        eventspace_message tuple;
        unsigned char bytes[sizeof(tuple)];
        for (size_t k = 0; k < sizeof(bytes); k++) {
            random = random * UINT64_C(6364136223846793005) + 1;
            bytes[k] = (unsigned char)(random >> 56);
        }
        memcpy(&tuple, bytes, sizeof(tuple));
        if (i % 5 == 0) {
            tuple.channel = 1;
            tuple.kind = EVENTSPACE_MESSAGE_SENT;
        }
        cr_assert_eq(fake_run_message(fake, 0, 0, &tuple), 0);
    }
    o = open_run();
    for (scopes_message_end e; scopes_messages_next(o.messages, 0, &e);) {
        cr_assert_eq(e.key.from, 0);
        cr_assert_eq(e.key.to, 1);
        found++;
    }
    cr_expect_eq(found, 100);
    cr_expect_eq(scopes__messages_damaged(o.messages), 400);
    close_run(&o);
}
