/* definition_fuzz.c - any tuples as definitions: each has its length in two
 * bytes, and then these. A definition that is taken must be within its bounds
 * and be the same again when it is encoded and taken; what is damaged is
 * counted, with a text. The map that is built of them can be written, and
 * defines one that is written alike; and so is one that two processes have
 * added them to, those before the first mark and those behind it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/define/definition_internal.h"
#include "eventspace/define/map_additions.h"
#include "eventspace/define/map_definitions.h"
#include "pastset/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_same(const eventspace_definition *one)
{
    eventspace_definition_reader reader = {0};
    eventspace_definition again;
    unsigned char tuple[EVENTSPACE_DEFINITION_BYTES];
    uint64_t count = 0;
    size_t at = 0, bytes;
    int err = PASTSET_EAGAIN;

    while ((bytes = eventspace__definition_encode(tuple, &at, one)) > 0) {
        check(err == PASTSET_EAGAIN);
        err = eventspace__definition_take(&reader, tuple, bytes, &again);
        count++;
    }
    check(!err && count == eventspace_definition_tuples(one));
    check(again.kind == one->kind && again.id == one->id &&
          again.parent == one->parent && !strcmp(again.name, one->name) &&
          again.attribute_bytes == one->attribute_bytes);
    if (one->attribute_bytes)
        check(!memcmp(again.attributes, one->attributes, one->attribute_bytes));
    eventspace_definition_reader_fini(&reader);
}

static void check_definition(const eventspace_definition *one)
{
    eventspace_attribute item;
    size_t at = 0, bytes = 0;

    check(one->kind > 0 && one->kind < EVENTSPACE_DEFINITION_KINDS);
    while (eventspace__definition_attribute(one, &at, &item)) {
        bytes += 3 + strlen(item.key) + strlen(item.value);
    }
    check(bytes == one->attribute_bytes);
    check_same(one);
}

static char *text_of(const paths_map *map)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    check(file && paths_map_write(map, file) == 0);
    fclose(file);
    return text;
}

static int take(const eventspace_definition *one, void *context)
{
    return eventspace_map_builder_take(context, one);
}

static void check_map(const paths_map *map)
{
    eventspace_definition_reader reader = {.seen = UINT64_MAX};
    eventspace_map_builder *builder;
    paths_map *again;
    uint32_t nodes;
    char *text = text_of(map), *same;

    check(!eventspace_map_builder_create(&builder, &reader, "fuzz"));
    check(!eventspace_map_define(map, take, builder));
    eventspace_map_builder_finish(builder, &again, &nodes);
    check(!reader.damaged && nodes == map->node_count);
    same = text_of(again);
    check(!strcmp(text, same));
    paths_map_destroy(again);
    eventspace_map_builder_destroy(builder);
    free(same);
    free(text);
}

/* --- what processes add --- */

typedef struct adding {
    paths_map *map;
    eventspace_map_additions *additions;
    bool second, some;
    uint32_t last; /* id, if there are some */
} adding;

static void adding_begin(adding *a)
{
    *a = (adding){0};
    check(!paths_map_create(&a->map, "fuzz"));
    check(paths_map_add_process(a->map, "a") != PATHS_NONE);
    check(paths_map_add_process(a->map, "b") != PATHS_NONE);
    check(!eventspace_map_additions_begin(&a->additions, a->map));
    eventspace_map_additions_by(a->additions, 0);
}

static void adding_take(adding *a, const eventspace_definition *one)
{
    int err;

    if (one->kind == EVENTSPACE_DEFINES_MARK && !a->second) {
        eventspace_map_additions_by(a->additions, 1);
        a->second = true;
        a->some = false;
    }
    if (!eventspace_is_addition(one->kind) || (a->some && one->id <= a->last))
        return;
    err = eventspace_map_additions_take(a->additions, one);
    check(!err || err == PASTSET_EFORMAT);
    a->some = true;
    a->last = one->id;
}

static void adding_end(adding *a)
{
    check(!eventspace_map_additions_end(a->additions, 0));
    eventspace_map_additions_destroy(a->additions);
    check_map(a->map);
    paths_map_destroy(a->map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    adding added;
    eventspace_definition_reader reader = {0};
    eventspace_definition one;
    eventspace_map_builder *builder;
    paths_map *map;
    uint32_t nodes;

    adding_begin(&added);
    check(!eventspace_map_builder_create(&builder, &reader, "fuzz"));
    while (size >= 2) {
        size_t bytes = (size_t)data[0] | (size_t)data[1] << 8;
        if (bytes > size - 2)
            bytes = size - 2;
        int err = eventspace__definition_take(&reader, data + 2, bytes, &one);
        check(!err || err == PASTSET_EAGAIN);
        if (!err) {
            check_definition(&one);
            check(!eventspace_map_builder_take(builder, &one));
            adding_take(&added, &one);
        }
        data += 2 + bytes;
        size -= 2 + bytes;
    }
    adding_end(&added);
    eventspace_map_builder_finish(builder, &map, &nodes);
    check(!reader.damaged || reader.problem[0]);
    check(nodes >= map->node_count);
    check_map(map);
    paths_map_destroy(map);
    eventspace_map_builder_destroy(builder);
    eventspace_definition_reader_fini(&reader);
    return 0;
}
