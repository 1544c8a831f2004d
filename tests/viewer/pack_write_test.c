/* pack_write_test.c - a run packed by calls of the C library that fail, or that
 * do not. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/scratch.h"
#include "viewer/pack/pack.h"

/* What close() does to a file whose name ends with ".part": it fails with this
 * error (what was written last is lost); 0: it does not. */
static int close_error;

static bool is_draft(int fd)
{
    char link[64], name[1024] = "";
    size_t length;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (readlink(link, name, sizeof(name) - 1) < 0)
        return false;
    length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".part") == 0;
}

/* One that succeeds may leave anything in errno. */
int close(int fd)
{
    bool fails = is_draft(fd) && close_error;
    int result = (int)syscall(SYS_close, fd);

    errno = fails ? close_error : EIO;
    return fails ? -1 : result;
}

static void make(void)
{
    scratch_make();
    close_error = 0;
    cr_assert_eq(mkdir(scratch_file("run"), 0777), 0);
    scratch_write("run/pathmap.dot", "digraph g {}\n");
}

TestSuite(pack_write, .init = make, .fini = scratch_remove, .timeout = 120);

static int pack(viewer_pack_counts *counts)
{
    char file[512];

    snprintf(file, sizeof(file), "%s", scratch_file("run.tar.zst"));
    return viewer_pack(file, scratch_file("run"), NULL, counts);
}

Test(pack_write, a_file_that_is_closed_is_written)
{
    viewer_pack_counts counts;
    struct stat status;

    check_status(pack(&counts), 0);
    cr_expect_eq(counts.files, 1);
    cr_assert_eq(stat(scratch_file("run.tar.zst"), &status), 0);
    cr_expect_eq((uint64_t)status.st_size, counts.packed_bytes);
}

/* As over a network, where the disk is full. */
Test(pack_write, a_file_that_cannot_be_closed_leaves_the_old_one)
{
    viewer_pack_counts counts;
    char *text;

    scratch_write("run.tar.zst", "old");
    close_error = ENOSPC;
    check_status(pack(&counts), PASTSET_ENOSPC);
    check_error("No space left on device");
    text = file_read(scratch_file("run.tar.zst"), NULL);
    cr_expect_str_eq(text, "old");
    free(text);
    cr_expect_neq(
        access(scratch_file("run.tar.zst.%ld.part", (long)getpid()), F_OK), 0);
}
