/* started.c - see started.h. */
#include "viewer/cli/contract/started.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pastset/array.h"

#define PATIENCE 100 /* looks at those that still run at the end */
#define LOOK_NS 10000000

struct cli_started_one {
    pid_t pid;
    char why[128];
};

static int spawn(pid_t *pid, const char *command)
{
    static char shell[] = "sh", option[] = "-c";
    char *words[] = {shell, option, strdup(command), NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t plain;
    int failed = words[2] ? posix_spawn_file_actions_init(&files) : ENOMEM;

    if (failed) {
        free(words[2]);
        return failed;
    }
    sigemptyset(&plain);
    sigaddset(&plain, SIGXFSZ);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &plain);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    /* What it prints is no part of what is told here. */
    failed =
        posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    if (!failed)
        failed = posix_spawnp(pid, shell, &files, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    free(words[2]);
    return failed;
}

void cli_started_add(cli_started *s, const char *command, const char *why)
{
    cli_started_one *list =
        pastset_array_grow(s->list, s->count, sizeof(*list));
    int failed = ENOMEM;

    if (list) {
        s->list = list;
        failed = spawn(&list[s->count].pid, command);
    }
    if (failed) {
        fprintf(stderr, "eventspace: %s: cannot start %s: %s\n", why, command,
                strerror(failed));
        return;
    }
    snprintf(list[s->count++].why, sizeof(list->why), "%s", why);
}

static void tell(const cli_started_one *one, int status)
{
    if (WIFSIGNALED(status))
        fprintf(stderr,
                "eventspace: %s: the command was killed by signal %d (%s)\n",
                one->why, WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        fprintf(stderr, "eventspace: %s: the command failed, exit code %d\n",
                one->why, WEXITSTATUS(status));
}

void cli_started_reap(cli_started *s)
{
    size_t left = 0;

    for (size_t i = 0; i < s->count; i++) {
        int status = 0;
        pid_t ended = waitpid(s->list[i].pid, &status, WNOHANG);
        if (ended > 0)
            tell(&s->list[i], status);
        else if (ended == 0 || errno == EINTR)
            s->list[left++] = s->list[i];
    }
    s->count = left;
}

void cli_started_end(cli_started *s)
{
    cli_started_reap(s);
    for (int i = 0; i < PATIENCE && s->count > 0; i++) {
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
        cli_started_reap(s);
    }
    free(s->list);
    *s = (cli_started){0};
}
