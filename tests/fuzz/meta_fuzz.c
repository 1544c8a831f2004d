/* meta_fuzz.c - any bytes as a meta file. What is taken from them must be
 * within its bounds, and what is refused is refused with a text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/run/meta.h"
#include "pastset/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    eventspace_meta meta;
    int err = eventspace_meta_decode(&meta, data, size, "fuzz.meta");

    if (err && (err != PASTSET_EFORMAT || !pastset_error()[0]))
        abort();
    if (err)
        return 0;
    if (!memchr(meta.process, 0, sizeof(meta.process)) ||
        !memchr(meta.eventspace, 0, sizeof(meta.eventspace)) ||
        !memchr(meta.tick_source, 0, sizeof(meta.tick_source)) ||
        !memchr(meta.machine, 0, sizeof(meta.machine)) ||
        !memchr(meta.library, 0, sizeof(meta.library)) ||
        !memchr(meta.counter, 0, sizeof(meta.counter)) ||
        !memchr(meta.text, 0, sizeof(meta.text)) || !(meta.tick_hz > 0) ||
        !isfinite(meta.tick_hz) ||
        strcmp(eventspace_state_name(meta.state), "?") == 0)
        abort();
    return 0;
}
