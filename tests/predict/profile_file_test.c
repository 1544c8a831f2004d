/* profile_file_test.c - profiles that go into a file and come back, and files
 * that are none. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/predict/some_profile.h"
#include "tests/support/check.h"
#include "tests/support/memory.h"
#include "tests/support/scratch.h"
#include "predict/profile/profile_internal.h"

TestSuite(profile_file, .init = scratch_make, .fini = scratch_remove,
          .timeout = 240);

/* The bytes of a profile's file; the caller frees them. */
static uint8_t *saved(const predict_profile *p, size_t *bytes)
{
    const char *file = scratch_file("app.profile");
    check_status(predict_profile_save(p, file), 0);
    return (uint8_t *)file_read(file, bytes);
}

Test(profile_file, what_comes_back_is_what_was_saved)
{
    const char *file = scratch_file("app.profile");
    for (uint64_t seed = 0; seed < 60; seed++) {
        predict_profile *p = some_profile(seed, seed * seed, seed % 3 > 0);
        predict_profile *again = NULL;
        check_status(predict_profile_save(p, file), 0);
        check_status(predict_profile_load(&again, file), 0);
        check_same_profile(p, again);
        predict_profile_destroy(p);
        predict_profile_destroy(again);
    }
    cr_assert_neq(access(scratch_file("app.profile.tmp"), F_OK), 0);
}

Test(profile_file, an_empty_profile_is_one_as_well)
{
    predict_profile *p = predict_profile_create(""), *again = NULL;
    size_t bytes;
    uint8_t *data = saved(p, &bytes);
    check_status(predict_profile_parse(&again, data, bytes), 0);
    check_same_profile(p, again);
    predict_profile_destroy(again);
    predict_profile_destroy(p);
    free(data);
}

Test(profile_file, one_that_was_loaded_can_be_added_to)
{
    for (size_t messages = 0; messages < 10; messages++) {
        predict_profile *p = some_profile(messages, messages, true);
        predict_profile *again = NULL;
        size_t bytes;
        uint8_t *data = saved(p, &bytes);
        check_status(predict_profile_parse(&again, data, bytes), 0);
        for (int i = 0; i < 10; i++) {
            cr_assert(
                predict_profile_add_message(
                    again, (predict_message){INT64_C(1) << 50, 1, 0, 0}) >= 0);
            cr_assert(predict_profile_add_actor(again, 0, 0) >= 0);
            cr_assert(predict_profile_add_step(
                          again, (predict_step){PREDICT_SEND,
                                                (uint32_t)messages + i, 0}) >=
                      0);
        }
        check_status(predict_profile_check(again), 0);
        predict_profile_destroy(again);
        predict_profile_destroy(p);
        free(data);
    }
}

typedef struct packed {
    const uint8_t *data;
    size_t bytes;
} packed;

static int parse(void *context)
{
    const packed *from = context;
    predict_profile *p;
    int err = predict_profile_parse(&p, from->data, from->bytes);

    if (!err)
        predict_profile_destroy(p);
    return err;
}

Test(profile_file, without_memory_it_is_not_called_damaged)
{
    predict_profile *p = some_profile(5, 20, true);
    unsigned count = 0;
    size_t bytes;
    uint8_t *data = saved(p, &bytes);
    packed from = {data, bytes};
    int err;

    for (unsigned at = 1; memory_fails_at(at, parse, &from, &err); at++) {
        check_status(err, PASTSET_ENOMEM);
        count++;
    }
#ifndef __SANITIZE_ADDRESS__
    cr_expect_gt(count, 10);
#endif
    predict_profile_destroy(p);
    free(data);
}

Test(profile_file, each_truncation_is_refused)
{
    predict_profile *p = some_profile(5, 20, true), *none = NULL;
    size_t bytes;
    uint8_t *data = saved(p, &bytes);
    for (size_t i = 0; i < bytes; i++) {
        uint8_t *part = malloc(i + 1); /* so that a read beyond is seen */
        memcpy(part, data, i);
        check_status(predict_profile_parse(&none, part, i), PASTSET_EFORMAT);
        cr_assert(pastset_error()[0]);
        free(part);
    }
    cr_assert_null(none);
    predict_profile_destroy(p);
    free(data);
}

Test(profile_file, each_flipped_bit_is_refused_or_changes_nothing)
{
    predict_profile *p = some_profile(7, 20, true);
    size_t bytes;
    uint8_t *data = saved(p, &bytes);
    size_t refused = 0;
    for (size_t bit = 0; bit < bytes * 8; bit++) {
        predict_profile *again = NULL;
        int err;
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        err = predict_profile_parse(&again, data, bytes);
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (err) {
            check_status(err, PASTSET_EFORMAT);
            refused++;
            continue;
        }
        check_same_profile(p, again);
        predict_profile_destroy(again);
    }
    /* A few bits of a compressed frame mean nothing. */
    cr_assert_gt(refused, bytes * 8 - 64);
    predict_profile_destroy(p);
    free(data);
}

Test(profile_file, tells_what_is_wrong_with_a_file)
{
    predict_profile *p = some_profile(3, 4, false), *none = NULL;
    size_t bytes;
    uint8_t *data = saved(p, &bytes);
    check_status(predict_profile_load(&none, scratch_file("nowhere")),
                 PASTSET_EIO);
    check_error("nowhere: No such file");
    check_status(predict_profile_load(&none, scratch_file(".")), PASTSET_EIO);
    check_status(predict_profile_load(&none, scratch_write("empty", "")),
                 PASTSET_EFORMAT);
    check_error("empty: it is empty");
    check_status(
        predict_profile_load(&none, scratch_write("map", "digraph { a -> b }")),
        PASTSET_EFORMAT);
    check_error("is not a profile");
    data[8] = 9;
    check_status(predict_profile_parse(&none, data, bytes), PASTSET_EFORMAT);
    check_error("of version 9, and this program reads version 1");
    data[8] = 1;
    data = realloc(data, bytes + 1);
    data[bytes] = 0;
    check_status(predict_profile_parse(&none, data, bytes + 1),
                 PASTSET_EFORMAT);
    predict_profile_destroy(p);
    free(data);
}

Test(profile_file, what_is_wrong_is_not_saved)
{
    const char *file = scratch_write("app.profile", "as it was");
    predict_profile *p = some_profile(3, 4, false);
    size_t bytes;
    char *text;
    p->wall_ns = -1;
    check_status(predict_profile_save(p, file), PASTSET_EINVAL);
    check_error("app.profile: the time of the run");
    text = file_read(file, &bytes);
    cr_assert_str_eq(text, "as it was");
    free(text);
    p->wall_ns = 1;
    check_status(predict_profile_save(p, scratch_file("no/folder")),
                 PASTSET_EIO);
    predict_profile_destroy(p);
}

/* A rename would put a file in its place. */
Test(profile_file, a_device_stays_a_device)
{
    predict_profile *p = some_profile(3, 4, false);
    struct stat status;
    check_status(predict_profile_save(p, "/dev/null"), 0);
    cr_assert_eq(stat("/dev/null", &status), 0);
    cr_assert(S_ISCHR(status.st_mode));
    predict_profile_destroy(p);
}

Test(profile_file, a_full_disk_is_told_as_such)
{
    predict_profile *p = some_profile(3, 400, false);
    if (access("/dev/full", W_OK) != 0)
        cr_skip_test("there is no /dev/full");
    check_status(predict_profile_save(p, "/dev/full"), PASTSET_ENOSPC);
    predict_profile_destroy(p);
}
