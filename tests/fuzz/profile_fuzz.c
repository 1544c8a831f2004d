/* profile_fuzz.c - any bytes as a profile: as a file, and, as no fuzzer finds
 * its way through a checksum, as what is in one (when the first byte is 0). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "pastset/status.h"
#include "predict/profile/profile.h"
#include "predict/profile/profile_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD 12

/* Whatever links were before, what comes of it holds together. */
static void change(predict_profile *profile)
{
    predict_setting *settings =
        calloc(profile->link_count + 1, sizeof(*settings));

    if (!settings)
        abort();
    for (size_t i = 0; i < profile->link_count; i++)
        settings[i] = (predict_setting){true, 1e-4, 1e8, {0, 0, 0}};
    if (predict_profile_set_wires(profile, settings) != 0 ||
        predict_profile_check(profile) != 0)
        abort();
    free(settings);
}

static void look(const uint8_t *data, size_t size)
{
    predict_profile *profile = NULL;
    int err = predict_profile_parse(&profile, data, size);
    if (err && (err != PASTSET_EFORMAT || !pastset_error()[0] || profile))
        abort();
    if (err)
        return;
    if (predict_profile_check(profile) != 0)
        abort();
    for (uint32_t i = 0; i < profile->node_count && i < 100; i++) {
        predict_sums s = predict_profile_sums(profile, i);
        if (!(s.comp_s >= 0 && s.comm_s >= 0 && s.idle_s >= 0))
            abort();
    }
    change(profile);
    predict_profile_destroy(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t capacity = HEAD + ZSTD_compressBound(size);
    uint8_t *file;
    size_t made;
    if (size == 0 || data[0] != 0) {
        look(data, size);
        return 0;
    }
    file = malloc(capacity);
    if (!file)
        abort();
    memcpy(file, "ESprofil\1\0\0\0", HEAD);
    made = ZSTD_compress(file + HEAD, capacity - HEAD, data + 1, size - 1, 1);
    if (ZSTD_isError(made))
        abort();
    look(file, HEAD + made);
    free(file);
    return 0;
}
