/* top_terminal.c - see top_terminal.h. */
#include "viewer/live/top_terminal.h"

#include "pastset/status.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
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
