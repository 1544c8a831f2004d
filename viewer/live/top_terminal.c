/* top_terminal.c - see top_terminal.h. */
#include "viewer/live/top_terminal.h"

#include "pastset/status.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

/* Alternate screen, cleared, no cursor; and back. */
static const char enter_text[] = "\033[?1049h\033[?25l\033[2J\033[H";
static const char leave_text[] = "\033[0m\033[?25h\033[?1049l";

static volatile sig_atomic_t taken, keys_taken;
static struct termios before;

static int put(const char *text, size_t bytes)
{
    while (bytes) {
        ssize_t done = write(STDOUT_FILENO, text, bytes);
        if (done < 0 && errno != EINTR)
            return -1;
        if (done > 0) {
            text += done;
            bytes -= (size_t)done;
        }
    }
    return 0;
}

int viewer_terminal_enter(void)
{
    struct termios raw;

    if (taken)
        return 0;
    if (tcgetattr(STDIN_FILENO, &before) == 0) {
        raw = before;
        /* Signals of the keyboard stay what they are. */
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
        keys_taken = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
    taken = 1;
    if (put(enter_text, sizeof(enter_text) - 1) != 0) {
        int failed = errno;
        viewer_terminal_leave();
        return pastset_fail(PASTSET_EIO, "the terminal: %s", strerror(failed));
    }
    return 0;
}

void viewer_terminal_leave(void)
{
    int failed = errno;

    if (!taken)
        return;
    taken = 0;
    put(leave_text, sizeof(leave_text) - 1);
    if (keys_taken)
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
    keys_taken = 0;
    errno = failed;
}

void viewer_terminal_size(unsigned *rows, unsigned *columns)
{
    struct winsize size;

    *rows = 24;
    *columns = 80;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return;
    if (size.ws_row)
        *rows = size.ws_row;
    if (size.ws_col)
        *columns = size.ws_col;
}

int viewer_terminal_keep_errors(void)
{
    int real = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    int file = memfd_create("errors", MFD_CLOEXEC);
    bool is_kept = real >= 0 && file >= 0 && dup2(file, STDERR_FILENO) >= 0;

    if (file >= 0)
        close(file);
    if (is_kept)
        return real;
    if (real >= 0)
        close(real);
    return -1;
}

void viewer_terminal_release_errors(int kept)
{
    char bytes[4096];
    off_t at = 0;
    ssize_t got;
    int file;

    if (kept < 0)
        return;
    fflush(stderr);
    file = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(kept, STDERR_FILENO);
    close(kept);
    while (file >= 0 && (got = pread(file, bytes, sizeof(bytes), at)) > 0) {
        fwrite(bytes, 1, (size_t)got, stderr);
        at += got;
    }
    if (file >= 0)
        close(file);
}
