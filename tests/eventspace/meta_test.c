/* meta_test.c - what is known of a process, on its way to a file and back. */
#include "eventspace/run/meta.h"

#include <msgpack.h>
#include <stdbool.h>
#include <time.h>

#include "eventspace/collect/ticks.h"
#include "check.h"

static eventspace_meta sample(void)
{
    eventspace_meta meta = {
        .eventspace = "0.1.0",
        .process = "h0",
        .pid = 4711,
        .tick_source = "tsc",
        .tick_hz = 2596120120.5,
        .start_tick = 1ull << 63,
        .start_wall_ns = 1700000000123456789u,
        .end_tick = 0,
        .threads = 7,
        .state = EVENTSPACE_FAILED,
        .text = "process h1 has died",
        .counter = "2c6a0e8e tsc",
    };
    return meta;
}

/* --- a file made by hand: each key with its value, some of them changed --- */

typedef struct entry {
    const char *key;
    char kind; /* u, f, s; n: nil, a: an array, 0: left out */
    uint64_t number;
    const char *text;
} entry;

#define ENTRIES 12

static entry entries[ENTRIES + 4];
static size_t entry_count;

static void entries_reset(void)
{
    static const entry good[ENTRIES] = {
        {"version", 'u', EVENTSPACE_META_VERSION, NULL},
        {"eventspace", 's', 0, "0.1.0"},
        {"host", 's', 0, "h0"},
        {"pid", 'u', 4711, NULL},
        {"tick_source", 's', 0, "tsc"},
        {"tick_hz", 'f', 1000, NULL},
        {"start_tick", 'u', 1, NULL},
        {"start_wall_ns", 'u', 2, NULL},
        {"end_tick", 'u', 3, NULL},
        {"threads", 'u', 4, NULL},
        {"state", 's', 0, "running"},
        {"text", 's', 0, ""},
    };
    memcpy(entries, good, sizeof(good));
    entry_count = ENTRIES;
}

static entry *entry_of(const char *key)
{
    for (size_t i = 0; i < entry_count; i++) {
        if (strcmp(entries[i].key, key) == 0)
            return &entries[i];
    }
    cr_assert_fail("no entry %s", key);
    return NULL;
}

static void pack_text(msgpack_packer *packer, const char *text)
{
    msgpack_pack_str_with_body(packer, text, strlen(text));
}

static void entry_pack(msgpack_packer *packer, const entry *e)
{
    pack_text(packer, e->key);
    if (e->kind == 'u')
        msgpack_pack_uint64(packer, e->number);
    else if (e->kind == 'i')
        msgpack_pack_int64(packer, (int64_t)e->number);
    else if (e->kind == 'f')
        msgpack_pack_double(packer, (double)(int64_t)e->number);
    else if (e->kind == 's')
        pack_text(packer, e->text);
    else if (e->kind == 'n')
        msgpack_pack_nil(packer);
    else
        msgpack_pack_array(packer, 0);
}

static void entries_pack(msgpack_sbuffer *buffer)
{
    msgpack_packer packer;
    size_t count = 0;

    msgpack_sbuffer_init(buffer);
    msgpack_packer_init(&packer, buffer, msgpack_sbuffer_write);
    for (size_t i = 0; i < entry_count; i++)
        count += entries[i].kind != 0;
    msgpack_pack_map(&packer, count);
    for (size_t i = 0; i < entry_count; i++) {
        if (entries[i].kind)
            entry_pack(&packer, &entries[i]);
    }
}

static int entries_decode(eventspace_meta *out)
{
    msgpack_sbuffer buffer;
    int err;

    entries_pack(&buffer);
    err = eventspace_meta_decode(out, buffer.data, buffer.size, "h0.meta");
    msgpack_sbuffer_destroy(&buffer);
    return err;
}

/* The file with one value changed is refused, with a text that names it. */
static void check_refused(const char *key, char kind, uint64_t number,
                          const char *text, const char *says)
{
    eventspace_meta meta;
    entry *e;

    entries_reset();
    e = entry_of(key);
    e->kind = kind;
    e->number = number;
    e->text = text;
    check_status(entries_decode(&meta), PASTSET_EFORMAT);
    check_error("h0.meta");
    check_error(key);
    check_error(says);
}

TestSuite(meta, .timeout = 120, .init = directory_make,
          .fini = directory_remove);

Test(meta, comes_back_as_it_was_saved)
{
    eventspace_meta saved = sample(), loaded;

    check_status(eventspace_meta_save(&saved, in_directory("h0.meta")), 0);
    check_status(eventspace_meta_load(&loaded, in_directory("h0.meta")), 0);
    cr_assert_str_eq(loaded.eventspace, saved.eventspace);
    cr_assert_str_eq(loaded.process, saved.process);
    cr_assert_eq(loaded.pid, saved.pid);
    cr_assert_str_eq(loaded.tick_source, saved.tick_source);
    cr_assert_eq(loaded.tick_hz, saved.tick_hz);
    cr_assert_eq(loaded.start_tick, saved.start_tick);
    cr_assert_eq(loaded.start_wall_ns, saved.start_wall_ns);
    cr_assert_eq(loaded.end_tick, saved.end_tick);
    cr_assert_eq(loaded.threads, saved.threads);
    cr_assert_eq(loaded.state, saved.state);
    cr_assert_str_eq(loaded.text, saved.text);
    cr_assert_str_eq(loaded.counter, saved.counter);
}

Test(meta, replaces_the_file_and_leaves_no_other)
{
    eventspace_meta meta = sample();

    check_status(eventspace_meta_save(&meta, in_directory("h0.meta")), 0);
    meta.state = EVENTSPACE_FINISHED;
    check_status(eventspace_meta_save(&meta, in_directory("h0.meta")), 0);
    check_status(eventspace_meta_load(&meta, in_directory("h0.meta")), 0);
    cr_assert_eq(meta.state, EVENTSPACE_FINISHED);
    cr_assert_neq(access(in_directory("h0.meta.tmp"), F_OK), 0);
}

Test(meta, that_cannot_be_written_says_where)
{
    eventspace_meta meta = sample();

    check_status(eventspace_meta_save(&meta, in_directory("no/h0.meta")),
                 PASTSET_EIO);
    check_error("no/h0.meta");
}

Test(meta, that_is_missing_is_no_damaged_file)
{
    eventspace_meta meta;

    check_status(eventspace_meta_load(&meta, in_directory("h0.meta")),
                 PASTSET_ENOENT);
    check_error("h0.meta");
    check_status(eventspace_meta_load(&meta, test_directory), PASTSET_EIO);
}

Test(meta, skips_keys_of_a_later_version)
{
    eventspace_meta meta;

    entries_reset();
    entries[entry_count++] = (entry){"colour", 's', 0, "green"};
    entries[entry_count++] = (entry){"shape", 'a', 0, NULL};
    check_status(entries_decode(&meta), 0);
    cr_assert_str_eq(meta.process, "h0");
    cr_assert_eq(meta.threads, 4);
}

/* The files of programs that did not know it yet. */
Test(meta, does_without_the_name_of_the_counter)
{
    eventspace_meta meta;

    entries_reset();
    check_status(entries_decode(&meta), 0);
    cr_assert_str_eq(meta.counter, "");
    entries[entry_count++] = (entry){"counter", 's', 0, "boot tsc"};
    check_status(entries_decode(&meta), 0);
    cr_assert_str_eq(meta.counter, "boot tsc");
    entries[entry_count - 1].kind = 'u';
    check_status(entries_decode(&meta), PASTSET_EFORMAT);
    check_error("counter");
}

Test(meta, tells_counters_apart_by_their_names)
{
    eventspace_meta a = sample(), b = sample();

    b.start_tick += 1000; /* nothing else tells */
    cr_assert(eventspace_meta_same_counter(&a, &b));
    snprintf(b.counter, sizeof(b.counter), "another tsc");
    cr_assert_not(eventspace_meta_same_counter(&a, &b));
    b = a;
    b.start_wall_ns += 3600000000000u; /* a wall clock that was set */
    cr_assert(eventspace_meta_same_counter(&a, &b));
}

Test(meta, without_names_tells_counters_apart_by_the_wall_clocks)
{
    eventspace_meta a = sample(), b = sample();

    a.counter[0] = 0;
    b.start_tick += (uint64_t)b.tick_hz;
    b.start_wall_ns += 1000000000u;
    cr_assert(eventspace_meta_same_counter(&a, &b));
    b.start_wall_ns += 10000000u;
    cr_assert_not(eventspace_meta_same_counter(&a, &b));
    b.start_wall_ns -= 10000000u;
    snprintf(b.tick_source, sizeof(b.tick_source), "monotonic_raw");
    cr_assert_not(eventspace_meta_same_counter(&a, &b));
}

Test(meta, tells_by_how_much_a_wall_clock_is_made_wrong)
{
    eventspace_meta meta = sample();

    eventspace_meta loaded;

    check_status(eventspace_meta_save(&meta, in_directory("h0.meta")), 0);
    check_status(eventspace_meta_load(&loaded, in_directory("h0.meta")), 0);
    cr_assert_eq(loaded.counter_offset_ns, 0);
    meta.counter_offset_ns = -3200000000;
    check_status(eventspace_meta_save(&meta, in_directory("h0.meta")), 0);
    check_status(eventspace_meta_load(&loaded, in_directory("h0.meta")), 0);
    cr_assert_eq(loaded.counter_offset_ns, -3200000000);
    meta.counter_offset_ns = 7500000000;
    check_status(eventspace_meta_save(&meta, in_directory("h0.meta")), 0);
    check_status(eventspace_meta_load(&loaded, in_directory("h0.meta")), 0);
    cr_assert_eq(loaded.counter_offset_ns, 7500000000);
}

Test(meta, takes_a_whole_number_for_that)
{
    eventspace_meta meta;

    entries_reset();
    entries[entry_count++] =
        (entry){"counter_offset_ns", 'u', (uint64_t)1 << 63, NULL};
    check_status(entries_decode(&meta), PASTSET_EFORMAT);
    check_error("counter_offset_ns");
    entries[entry_count - 1].number--;
    check_status(entries_decode(&meta), 0);
    cr_assert_eq(meta.counter_offset_ns, INT64_MAX);
    entries[entry_count - 1].kind = 'f';
    check_status(entries_decode(&meta), PASTSET_EFORMAT);
}

Test(meta, checks_the_type_of_each_value)
{
    check_refused("pid", 's', 0, "4711", "not a number");
    check_refused("pid", 'u', 1ull << 32, NULL, "4294967295");
    check_refused("threads", 'i', (uint64_t)-1, NULL, "not a number");
    check_refused("start_tick", 'f', 1, NULL, "not a number");
    check_refused("end_tick", 'n', 0, NULL, "not a number");
    check_refused("host", 'u', 1, NULL, "not a text");
    check_refused("text", 'a', 0, NULL, "not a text");
    check_refused("tick_hz", 'u', 1000, NULL, "from 1 to 1e12");
    check_refused("tick_hz", 'f', 0, NULL, "from 1 to 1e12");
    check_refused("tick_hz", 'f', (uint64_t)-1, NULL, "from 1 to 1e12");
    check_refused("tick_hz", 'f', 2000000000000, NULL, "from 1 to 1e12");
    check_refused("state", 's', 0, "asleep", "not one of running");
    check_refused("state", 'u', 0, NULL, "not one of running");
    check_refused("version", 'u', 2, NULL, "version 2");
    check_refused("version", 's', 0, "1", "not a number");
}

Test(meta, refuses_a_text_that_is_too_long)
{
    char text[129];

    memset(text, 'x', sizeof(text));
    text[128] = 0;
    check_refused("host", 's', 0, text, "longer than 127 bytes");
    check_refused("eventspace", 's', 0, text, "longer than 31 bytes");
}

Test(meta, needs_every_key_and_each_only_once)
{
    for (size_t i = 0; i < ENTRIES; i++) {
        eventspace_meta meta;
        entries_reset();
        check_refused(entries[i].key, 0, 0, NULL, "missing");
        entries_reset();
        entries[entry_count++] = entries[i];
        check_status(entries_decode(&meta), PASTSET_EFORMAT);
        check_error("twice");
    }
}

Test(meta, refuses_a_file_that_was_cut_anywhere)
{
    msgpack_sbuffer buffer;
    eventspace_meta meta;

    entries_reset();
    entries_pack(&buffer);
    for (size_t bytes = 0; bytes < buffer.size; bytes++) {
        check_status(
            eventspace_meta_decode(&meta, buffer.data, bytes, "h0.meta"),
            PASTSET_EFORMAT);
    }
    msgpack_sbuffer_destroy(&buffer);
}

Test(meta, refuses_what_stands_behind_the_map)
{
    msgpack_sbuffer buffer;
    eventspace_meta meta;

    entries_reset();
    entries_pack(&buffer);
    msgpack_sbuffer_write(&buffer, "\xc0", 1);
    check_status(
        eventspace_meta_decode(&meta, buffer.data, buffer.size, "h0.meta"),
        PASTSET_EFORMAT);
    msgpack_sbuffer_destroy(&buffer);
}

/* Five bytes announce as many items as memory could not hold. */
Test(meta, takes_no_memory_for_items_that_are_not_there)
{
    static const char *const huge[] = {
        "\xdf\xff\xff\xff\xff", "\xdd\xff\xff\xff\xff", "\x81\xa1x\xdd\x10",
        "\xdb\xff\xff\xff\xff", "\xc9\xff\xff\xff\xff"};
    eventspace_meta meta;

    for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++)
        check_status(eventspace_meta_decode(&meta, huge[i], 5, "h0.meta"),
                     PASTSET_EFORMAT);
}

Test(meta, refuses_what_is_nested_too_deeply)
{
    char nested[EVENTSPACE_META_MAX_BYTES];
    eventspace_meta meta;

    memset(nested, '\x91', sizeof(nested));
    nested[sizeof(nested) - 1] = '\xc0';
    check_status(
        eventspace_meta_decode(&meta, nested, sizeof(nested), "h0.meta"),
        PASTSET_EFORMAT);
}

Test(meta, refuses_a_file_that_is_too_large)
{
    static char large[EVENTSPACE_META_MAX_BYTES + 1];
    eventspace_meta meta;

    file_write(in_directory("h0.meta"), large, sizeof(large));
    check_status(eventspace_meta_load(&meta, in_directory("h0.meta")),
                 PASTSET_EFORMAT);
    check_error("larger than 65536 bytes");
}

/* --- now --- */

static uint64_t wall_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* One that started 3.25 s ago by its own clock, which is `ahead_ns` ahead of
 * ours; a tick takes 2 ns. */
static void check_now(int64_t ahead_ns)
{
    uint64_t before_ns = wall_ns(), ticks, after_ns;
    eventspace_meta meta = {.tick_hz = 5e8,
                            .start_tick = 1000,
                            .start_wall_ns =
                                before_ns + (uint64_t)ahead_ns - 3250000000,
                            .counter_offset_ns = ahead_ns};

    ticks = eventspace_meta_now(&meta);
    after_ns = wall_ns();
    cr_expect_geq(ticks, 1000 + 1625000000);
    cr_expect_leq(ticks, 1000 + 1625000000 + (after_ns - before_ns) / 2 + 1);
}

Test(meta, tells_the_ticks_of_now_by_the_wall_clock)
{
    eventspace_meta later = {.tick_hz = 5e8,
                             .start_tick = 1000,
                             .start_wall_ns = wall_ns() + 60000000000};

    check_now(0);
    check_now(7500000000);
    check_now(-7500000000);
    cr_expect_eq(eventspace_meta_now(&later), 1000);
}
