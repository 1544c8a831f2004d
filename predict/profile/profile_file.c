/* profile_file.c - saving and loading profiles: the frame around what
 * profile_pack.c and profile_unpack.c make and read. */
#include "predict/profile/profile_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "pastset/status.h"

#define LEVEL 3
/* A block of zstd has 128 KiB at most, and takes 4 bytes at least. */
#define MAX_RATIO 32768
#define MAX_BYTES (UINT64_C(1) << 36)

/* --- saving --- */

static int compress(uint8_t **out, size_t *bytes, const char *flat,
                    size_t flat_bytes)
{
    size_t capacity = PREDICT__HEAD_BYTES + ZSTD_compressBound(flat_bytes);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    uint8_t *data = malloc(capacity);
    size_t made = 0;
    int err = 0;
    if (context && data) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
        memcpy(data, PREDICT__MAGIC, PREDICT__MAGIC_BYTES);
        for (int i = 0; i < 4; i++)
            data[PREDICT__MAGIC_BYTES + i] =
                (uint8_t)((uint32_t)PREDICT__VERSION >> 8 * i);
        made = ZSTD_compress2(context, data + PREDICT__HEAD_BYTES,
                              capacity - PREDICT__HEAD_BYTES, flat, flat_bytes);
    }
    if (!context || !data || ZSTD_isError(made)) {
        free(data);
        data = NULL;
        err = pastset_no_memory("to compress the profile");
    }
    ZSTD_freeCCtx(context);
    *out = data;
    *bytes = PREDICT__HEAD_BYTES + made;
    return err;
}

static int failed(const char *file, int error)
{
    int status = pastset_status_from_errno(error);
    return pastset_fail(status == PASTSET_ENOSPC ? status : PASTSET_EIO,
                        "%s: %s", file, strerror(error));
}

static int write_bytes(const char *file, const uint8_t *data, size_t bytes)
{
    FILE *out = fopen(file, "we");
    size_t written;
    int error = 0;
    if (!out)
        return failed(file, errno);
    written = fwrite(data, 1, bytes, out);
    if (written != bytes)
        error = errno;
    if (fclose(out) != 0 && !error)
        error = errno;
    return error ? failed(file, error) : 0;
}

/* A device or a pipe is written to; only a file can be replaced. */
static bool is_other(const char *file)
{
    struct stat status;
    return stat(file, &status) == 0 && !S_ISREG(status.st_mode);
}

static int write_beside(const char *file, const uint8_t *data, size_t bytes)
{
    size_t capacity = strlen(file) + sizeof(".tmp");
    char *temporary = malloc(capacity);
    int err;
    if (!temporary)
        return pastset_no_memory("to write %s", file);
    snprintf(temporary, capacity, "%s.tmp", file);
    err = write_bytes(temporary, data, bytes);
    if (!err && rename(temporary, file) != 0)
        err = failed(file, errno);
    if (err)
        remove(temporary);
    free(temporary);
    return err;
}

int predict_profile_save(const predict_profile *profile, const char *file)
{
    char *flat = NULL;
    uint8_t *data = NULL;
    size_t flat_bytes = 0, bytes = 0;
    int err = predict_profile_check(profile);
    if (err)
        return pastset_fail_while(err, "cannot write %s", file);
    err = predict__profile_pack(&flat, &flat_bytes, profile);
    if (!err)
        err = compress(&data, &bytes, flat, flat_bytes);
    free(flat);
    if (!err)
        err = is_other(file) ? write_bytes(file, data, bytes)
                             : write_beside(file, data, bytes);
    free(data);
    return err;
}

/* --- loading --- */

static int check_head(const uint8_t *data, size_t count)
{
    uint32_t version = 0;
    if (count == 0)
        return pastset_fail(PASTSET_EFORMAT, "it is empty: not a profile");
    if (count < PREDICT__HEAD_BYTES ||
        memcmp(data, PREDICT__MAGIC, PREDICT__MAGIC_BYTES) != 0)
        return pastset_fail(
            PASTSET_EFORMAT,
            "it is not a profile; `eventspace profile` makes one");
    for (int i = 0; i < 4; i++)
        version |= (uint32_t)data[PREDICT__MAGIC_BYTES + i] << 8 * i;
    if (version != PREDICT__VERSION)
        return pastset_fail(PASTSET_EFORMAT,
                            "it is a profile of version %u, and this program "
                            "reads version %u: measure again",
                            version, PREDICT__VERSION);
    return 0;
}

/* How much is in the frame, which must be all that there is. */
static int frame_size(const uint8_t *frame, size_t count, size_t *out)
{
    unsigned long long size = ZSTD_getFrameContentSize(frame, count);
    size_t takes = ZSTD_findFrameCompressedSize(frame, count);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
        ZSTD_isError(takes) || takes != count)
        return pastset_fail(PASTSET_EFORMAT, "the profile is damaged: %s",
                            ZSTD_isError(takes) ? "its end is missing"
                                                : "it is not in one piece");
    if (size > MAX_BYTES || size > (uint64_t)count * MAX_RATIO)
        return pastset_fail(
            PASTSET_EFORMAT,
            "the profile is damaged: it claims an impossible size");
    *out = (size_t)size;
    return 0;
}

static int expand(uint8_t **out, size_t *bytes, const uint8_t *frame,
                  size_t count)
{
    size_t size = 0, made;
    uint8_t *data;
    int err = frame_size(frame, count, &size);
    if (err)
        return err;
    data = malloc(size + 1);
    if (!data)
        return pastset_no_memory("for the profile");
    made = ZSTD_decompress(data, size, frame, count);
    if (ZSTD_isError(made) &&
        ZSTD_getErrorCode(made) == ZSTD_error_memory_allocation) {
        free(data);
        return pastset_no_memory("for the profile");
    }
    if (ZSTD_isError(made) || made != size) {
        free(data);
        return pastset_fail(PASTSET_EFORMAT, "the profile is damaged: %s",
                            ZSTD_isError(made) ? ZSTD_getErrorName(made)
                                               : "it is too short");
    }
    *out = data;
    *bytes = size;
    return 0;
}

int predict_profile_parse(predict_profile **out, const void *data, size_t count)
{
    uint8_t *flat = NULL;
    size_t flat_bytes = 0;
    predict_profile *profile = NULL;
    const uint8_t *at = data;
    int err = check_head(at, count);
    if (!err)
        err = expand(&flat, &flat_bytes, at + PREDICT__HEAD_BYTES,
                     count - PREDICT__HEAD_BYTES);
    if (!err)
        err = predict__profile_unpack(&profile, flat, flat_bytes);
    free(flat);
    if (!err)
        err = predict_profile_check(profile);
    if (err == PASTSET_EINVAL)
        err = pastset_fail_while(PASTSET_EFORMAT, "the profile is damaged");
    if (err)
        predict_profile_destroy(profile);
    else
        *out = profile;
    return err;
}

static int read_bytes(uint8_t **out, size_t *count, FILE *in, const char *file)
{
    size_t capacity = 65536, bytes = 0, got;
    uint8_t *data = malloc(capacity), *more;
    while (data && (got = fread(data + bytes, 1, capacity - bytes, in)) > 0) {
        bytes += got;
        if (bytes < capacity)
            continue;
        capacity *= 2;
        more = realloc(data, capacity);
        if (!more)
            free(data);
        data = more;
    }
    if (!data)
        return pastset_fail_while(pastset_no_memory("to read it"), "%s", file);
    if (ferror(in)) {
        free(data);
        return failed(file, errno);
    }
    *out = data;
    *count = bytes;
    return 0;
}

int predict_profile_load(predict_profile **out, const char *file)
{
    FILE *in = fopen(file, "re");
    uint8_t *data = NULL;
    size_t count = 0;
    int err;
    if (!in)
        return failed(file, errno);
    err = read_bytes(&data, &count, in, file);
    fclose(in);
    if (err)
        return err;
    err = predict_profile_parse(out, data, count);
    free(data);
    return err ? pastset_fail_while(err, "%s", file) : 0;
}
