/* own_network.c - see own_network.h. */
#include "tests/measure/own_network.h"

#include <criterion/criterion.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

void own_network(void)
{
    struct ifreq loopback = {.ifr_name = "lo"};
    int fd;

    if (unshare(CLONE_NEWNET) != 0)
        return;
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    cr_assert_geq(fd, 0);
    cr_assert_eq(ioctl(fd, SIOCGIFFLAGS, &loopback), 0);
    loopback.ifr_flags |= IFF_UP;
    cr_assert_eq(ioctl(fd, SIOCSIFFLAGS, &loopback), 0);
    close(fd);
}
