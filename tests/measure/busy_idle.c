/* busy_idle.c - a program of which it is known how it uses processors.
 *
 *   busy_idle MODE COUNT PHASES BUSY_MS IDLE_MS
 *
 * MODE is how the COUNT doers come to be: `threads` of this process, `forks`
 * that it waits for, `orphans` whose parents have ended, `one` (this process
 * itself). Each is busy, by its own clock of processor time, and then sleeps,
 * so many times; and writes a line, "cpu NANOSECONDS", of its own processor
 * time, when it ends. `fail N` ends with that exit code, `wait` waits for a
 * signal. `talk COUNT BUSY_MS` forks one that answers: COUNT times it is busy,
 * sends 100 bytes over TCP and gets 5000 back.
 *
 * $BUSY_IDLE_WATCHER, if set, is the process that watches: nobody ends before
 * that has had time to look, however busy the machine is. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int phases;
static long busy_ns, idle_ns;

static long now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < phases; i++) {
        long until = now(CLOCK_THREAD_CPUTIME_ID) + busy_ns;
        struct timespec idle = {idle_ns / 1000000000, idle_ns % 1000000000};
        while (now(CLOCK_THREAD_CPUTIME_ID) < until) {
        }
        nanosleep(&idle, NULL);
    }
    return NULL;
}

/* How often the watcher has gone to sleep; -1: nobody can tell. */
static long naps_of(const char *watcher)
{
    char name[64], line[128];
    long naps = -1;
    FILE *file;
    snprintf(name, sizeof(name), "/proc/%s/status", watcher);
    file = fopen(name, "r");
    while (file && fgets(line, sizeof(line), file))
        sscanf(line, "voluntary_ctxt_switches: %ld", &naps);
    if (file)
        fclose(file);
    return naps;
}

/* Between two of its naps the watcher looks, or takes packets, which come every
 * 10 ms; it looks every 20 ms. So that of NAPS many are with a look. */
#define NAPS 30

static void wait_for_watcher(void)
{
    const char *watcher = getenv("BUSY_IDLE_WATCHER");
    struct timespec while_ = {0, 5000000};
    long first = watcher ? naps_of(watcher) : -1, now = first;
    while (now >= 0 && now < first + NAPS) {
        nanosleep(&while_, NULL);
        now = naps_of(watcher);
    }
}

static void say(void)
{
    char line[64];
    int length = snprintf(line, sizeof(line), "cpu %ld\n",
                          now(CLOCK_PROCESS_CPUTIME_ID));
    if (write(STDOUT_FILENO, line, (size_t)length) != length)
        exit(1);
}

static void with_threads(int count)
{
    pthread_t threads[64];
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void with_forks(int count, int orphans)
{
    for (int i = 0; i < count; i++)
        if (fork() == 0) {
            if (orphans && fork() != 0)
                _exit(0);
            work(NULL);
            wait_for_watcher();
            say();
            _exit(0);
        }
    while (wait(NULL) > 0) {
    }
}

/* --- talking --- */

static void whole(int fd, size_t bytes, int in)
{
    char data[5000] = {0};
    for (size_t done = 0; done < bytes;) {
        ssize_t got =
            in ? read(fd, data, bytes - done) : write(fd, data, bytes - done);
        if (got <= 0)
            _exit(3);
        done += (size_t)got;
    }
}

static void answer(int listener, int count)
{
    int fd = accept(listener, NULL, NULL);
    for (int i = 0; i < count; i++) {
        whole(fd, 100, 1);
        whole(fd, 5000, 0);
    }
    wait_for_watcher();
    _exit(0);
}

static int talk(int count)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0), fd, on = 1;
    if (bind(listener, (struct sockaddr *)&at, length) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&at, &length))
        return 3;
    if (fork() == 0)
        answer(listener, count);
    close(listener);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(fd, (struct sockaddr *)&at, length))
        return 3;
    phases = 1;
    for (int i = 0; i < count; i++) {
        work(NULL);
        whole(fd, 100, 0);
        whole(fd, 5000, 1);
    }
    wait_for_watcher();
    wait(NULL);
    return 0;
}

static void ended(int number)
{
    (void)number;
    _exit(7);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int count = argc > 2 ? atoi(argv[2]) : 0;
    if (strcmp(mode, "fail") == 0)
        return count;
    if (strcmp(mode, "wait") == 0) {
        signal(SIGTERM, ended);
        if (write(STDOUT_FILENO, "ready\n", 6) == 6)
            pause();
        return 0;
    }
    if (strcmp(mode, "talk") == 0 && argc == 4) {
        busy_ns = (long)(atof(argv[3]) * 1e6);
        return talk(count);
    }
    if (argc != 6 || count < 1 || count > 64)
        return 2;
    phases = atoi(argv[3]);
    busy_ns = (long)(atof(argv[4]) * 1e6);
    idle_ns = (long)(atof(argv[5]) * 1e6);
    if (strcmp(mode, "threads") == 0)
        with_threads(count);
    else if (strcmp(mode, "one") == 0)
        work(NULL);
    else
        with_forks(count, strcmp(mode, "orphans") == 0);
    wait_for_watcher();
    say();
    return 0;
}
