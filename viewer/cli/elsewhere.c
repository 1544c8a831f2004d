/* elsewhere.c - the commands that `eventspace` does not have itself.
 *
 * They need libraries for pictures, the web, packed runs, or what others
 * record, that take longer to load than most commands take in all. So there is
 * another program, PREFIX/libexec/eventspace-whole, which has all commands,
 * these with the rest of them; this one becomes that one, with the words that
 * it was given. It is as deep below PREFIX as this one, so that both find the
 * same files. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pastset/status.h"
#include "pastset/text.h"
#include "viewer/cli/command.h"
#include "viewer/cli/command_map.h"
#include "viewer/cli/packed_runs.h"

static int whole_find(char out[PATH_MAX])
{
    static const char name[] = "/../libexec/eventspace-whole";
    ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - sizeof(name));
    char *slash;

    if (length <= 0)
        return pastset_fail(PASTSET_EIO, "/proc/self/exe: %s", strerror(errno));
    out[length] = 0;
    slash = strrchr(out, '/');
    strcpy(slash ? slash : out, name);
    return 0;
}

/* As text, each word with its end, and where the last one ends; NULL after an
 * error. It is what the command was given: parsers of options move words. */
static char *words_read(size_t *bytes)
{
    static const char name[] = "/proc/self/cmdline";
    FILE *in = fopen(name, "re"), *out = NULL;
    char *text = NULL;
    int byte;

    if (!in) {
        (void)pastset_fail_errno(name);
        return NULL;
    }
    out = pastset_text_begin(&text, bytes);
    while (out && (byte = getc(in)) != EOF)
        putc(byte, out);
    fclose(in);
    if (!out || !pastset_text_end(out)) {
        (void)pastset_no_memory("for the command line");
        free(text);
        return NULL;
    }
    return text;
}

static char **words_split(char *text, size_t bytes)
{
    size_t count = 0, next = 0;
    char **words;

    for (size_t i = 0; i < bytes; i++)
        count += !text[i];
    words = calloc(count + 1, sizeof(*words));
    if (!words)
        (void)pastset_no_memory("for the command line");
    for (size_t i = 0; words && next < count; i += strlen(&text[i]) + 1)
        words[next++] = &text[i];
    return words;
}

/* Returns when it has failed, and told why. */
static int elsewhere(void)
{
    char file[PATH_MAX], *text, **words = NULL;
    size_t bytes = 0;

    if (whole_find(file))
        return cli_fail();
    text = words_read(&bytes);
    if (text)
        words = words_split(text, bytes);
    if (words) {
        fflush(NULL);
        execv(file, words);
        (void)pastset_fail(PASTSET_ENOENT,
                           "%s: %s: is EventSpace installed as a whole?", file,
                           strerror(errno));
    }
    free(words);
    free(text);
    return cli_fail();
}

#define ELSEWHERE(name)                                                        \
    int name(int argc, char **argv)                                            \
    {                                                                          \
        (void)argc;                                                            \
        (void)argv;                                                            \
        return elsewhere();                                                    \
    }

ELSEWHERE(cli_report)
ELSEWHERE(cli_serve)
ELSEWHERE(cli_export)
ELSEWHERE(cli_import)
ELSEWHERE(cli_pack)
ELSEWHERE(cli_unpack)
ELSEWHERE(cli_map_draw)
ELSEWHERE(cli_profile)
ELSEWHERE(cli_experiment)

/* As all files of zstd begin. */
static bool is_packed(const char *word)
{
    static const unsigned char begin[] = {0x28, 0xb5, 0x2f, 0xfd};
    unsigned char found[sizeof(begin)];
    struct stat status;
    ssize_t got;
    int fd;

    if (stat(word, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    fd = open(word, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    got = read(fd, found, sizeof(found));
    close(fd);
    return got == sizeof(found) && memcmp(found, begin, sizeof(begin)) == 0;
}

/* Later it may have read what it was given, or told something. */
int cli_begin_packed(char *const *words)
{
    for (; *words; words++)
        if (is_packed(*words))
            return elsewhere();
    return COMMAND_OK;
}

/* It is none: that program says why. */
const char *cli_run_unpack(const char *file)
{
    (void)file;
    elsewhere();
    return NULL;
}
