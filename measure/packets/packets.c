/* packets.c - where frames come from: an interface, or a file of tcpdump.
 *
 * Only headers are copied (128 bytes of each frame). The kernel filters, and
 * hands packets over in blocks of a ring, each at most 10 ms after its first
 * packet: the programs that are watched pay for the copy, and we are woken 100
 * times a second at most. Packets on the loopback would be there twice, as
 * sent and as received; libpcap leaves those that are sent out. */
#include <errno.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure/packets/packets_internal.h"
#include "pastset/status.h"

#define HEADER_BYTES 128
#define RING_BYTES (32 << 20)
#define BLOCK_MS 10
#define STEP_PACKETS 65536 /* at most, so that a step ends */
#define LAST_MS 50         /* in which the last block surely comes */

struct measure_capture {
    pcap_t *pcap;
    measure_tcp *tcp;
    char *name;       /* of the interface or file */
    bool live;        /* from an interface */
    bool over;        /* nothing will come any more */
    int link;         /* DLT_ */
    int64_t until_ns; /* later packets are left out; 0: none are */
};

static int create(measure_capture **out, const char *name)
{
    measure_capture *capture = calloc(1, sizeof(*capture));

    if (capture) {
        capture->name = strdup(name);
        capture->tcp = measure_tcp_create();
    }
    if (!capture || !capture->name || !capture->tcp) {
        measure_capture_close(capture);
        return pastset_no_memory("to capture from %s", name);
    }
    *out = capture;
    return 0;
}

void measure_capture_close(measure_capture *capture)
{
    if (!capture)
        return;
    if (capture->pcap)
        pcap_close(capture->pcap);
    measure_tcp_destroy(capture->tcp);
    free(capture->name);
    free(capture);
}

/* --- opening --- */

static int activate_failed(const measure_capture *capture, int why)
{
    const char *text = pcap_geterr(capture->pcap);

    switch (why) {
    case PCAP_ERROR_PERM_DENIED:
    case PCAP_ERROR_PROMISC_PERM_DENIED:
        return pastset_fail(
            PASTSET_ENOTSUP,
            "no permission to capture packets on %s: it requires CAP_NET_RAW "
            "(root, or setcap cap_net_raw+ep); without it, read a file that "
            "tcpdump wrote, or ignore messages",
            capture->name);
    case PCAP_ERROR_NO_SUCH_DEVICE:
        return pastset_fail(PASTSET_ENOENT,
                            "there is no interface %s in this network "
                            "namespace: `ip link` lists them",
                            capture->name);
    case PCAP_ERROR_IFACE_NOT_UP:
        return pastset_fail(PASTSET_ENOENT, "the interface %s is down",
                            capture->name);
    default:
        return pastset_fail(PASTSET_EIO, "cannot capture on %s: %s",
                            capture->name,
                            *text ? text : pcap_statustostr(why));
    }
}

/* What both kinds do at last. */
static int prepare(measure_capture *capture, const char *filter)
{
    struct bpf_program program;
    const char *name;

    capture->link = pcap_datalink(capture->pcap);
    if (!measure__packet_link_known(capture->link)) {
        name = pcap_datalink_val_to_name(capture->link);
        return pastset_fail(
            capture->live ? PASTSET_EINVAL : PASTSET_EFORMAT,
            "%s has frames of the type %s (%d), which are not supported",
            capture->name, name ? name : "unknown", capture->link);
    }
    if (!filter)
        filter = "tcp";
    if (pcap_compile(capture->pcap, &program, filter, 1,
                     PCAP_NETMASK_UNKNOWN) != 0)
        return pastset_fail(PASTSET_EINVAL,
                            "\"%s\" is not a filter of pcap-filter(7): %s",
                            filter, pcap_geterr(capture->pcap));
    if (pcap_setfilter(capture->pcap, &program) != 0) {
        pcap_freecode(&program);
        return pastset_fail(PASTSET_EIO, "cannot filter packets of %s: %s",
                            capture->name, pcap_geterr(capture->pcap));
    }
    pcap_freecode(&program);
    return 0;
}

static int open_live(measure_capture *capture, const char *filter)
{
    char text[PCAP_ERRBUF_SIZE] = "";
    int err;

    capture->live = true;
    capture->pcap = pcap_create(capture->name, text);
    if (!capture->pcap)
        return pastset_fail(PASTSET_EIO, "cannot capture on %s: %s",
                            capture->name, text);
    /* These fail only for a capture that is active. */
    pcap_set_snaplen(capture->pcap, HEADER_BYTES);
    pcap_set_timeout(capture->pcap, BLOCK_MS);
    pcap_set_buffer_size(capture->pcap, RING_BYTES);
    /* Where there are no nanoseconds: as_ns() looks. */
    (void)pcap_set_tstamp_precision(capture->pcap, PCAP_TSTAMP_PRECISION_NANO);
    err = pcap_activate(capture->pcap);
    if (err < 0)
        return activate_failed(capture, err);
    if (pcap_setnonblock(capture->pcap, 1, text) != 0)
        return pastset_fail(PASTSET_EIO, "cannot capture on %s: %s",
                            capture->name, text);
    return prepare(capture, filter);
}

int measure_capture_open(measure_capture **out, const char *interface,
                         const char *filter)
{
    measure_capture *capture = NULL;
    int err = create(&capture, interface);

    if (err)
        return err;
    err = open_live(capture, filter);
    if (err)
        measure_capture_close(capture);
    else
        *out = capture;
    return err;
}

static int open_file(measure_capture *capture, const char *filter)
{
    char text[PCAP_ERRBUF_SIZE] = "";
    FILE *file = fopen(capture->name, "rb");

    if (!file)
        return pastset_fail(PASTSET_EIO, "%s: %s", capture->name,
                            strerror(errno));
    capture->pcap = pcap_fopen_offline_with_tstamp_precision(
        file, PCAP_TSTAMP_PRECISION_NANO, text);
    if (!capture->pcap) {
        fclose(file);
        return pastset_fail(PASTSET_EFORMAT,
                            "%s: not a file of captured packets (pcap): %s",
                            capture->name, text);
    }
    return prepare(capture, filter);
}

int measure_capture_read(measure_capture **out, const char *file,
                         const char *filter)
{
    measure_capture *capture = NULL;
    int err = create(&capture, file);

    if (err)
        return err;
    err = open_file(capture, filter);
    if (err)
        measure_capture_close(capture);
    else
        *out = capture;
    return err;
}

int measure_capture_fd(const measure_capture *capture)
{
    return capture->live ? pcap_get_selectable_fd(capture->pcap) : -1;
}

/* --- packets --- */

static int64_t as_ns(const measure_capture *capture,
                     const struct pcap_pkthdr *header)
{
    bool fine =
        pcap_get_tstamp_precision(capture->pcap) == PCAP_TSTAMP_PRECISION_NANO;

    return (int64_t)header->ts.tv_sec * 1000000000 +
           (int64_t)header->ts.tv_usec * (fine ? 1 : 1000);
}

/* 1: there was one; 0: there is none now. */
static int take_one(measure_capture *capture)
{
    struct pcap_pkthdr *header;
    const u_char *bytes;
    int64_t at_ns;
    int got = pcap_next_ex(capture->pcap, &header, &bytes);
    int err;

    if (got == 0)
        return 0;
    if (got == PCAP_ERROR_BREAK) {
        capture->over = true;
        return 0;
    }
    if (got != 1) {
        capture->over = true;
        return pastset_fail(capture->live ? PASTSET_EIO : PASTSET_EFORMAT,
                            "%s: %s", capture->name,
                            pcap_geterr(capture->pcap));
    }
    at_ns = as_ns(capture, header);
    if (capture->until_ns && at_ns > capture->until_ns) {
        capture->over = true;
        return 0;
    }
    err = measure_tcp_frame(capture->tcp, capture->link, at_ns, bytes,
                            header->caplen, header->len);
    return err ? err : 1;
}

int measure_capture_step(measure_capture *capture)
{
    int got = 1;

    for (int i = 0;
         got == 1 && !capture->over && (!capture->live || i < STEP_PACKETS);
         i += capture->live)
        got = take_one(capture);
    return got < 0 ? got : 0;
}

/* What the kernel has not handed over yet. */
static int take_rest(measure_capture *capture)
{
    struct pollfd ready = {.fd = measure_capture_fd(capture), .events = POLLIN};
    struct timespec now;
    int err = 0;

    clock_gettime(CLOCK_REALTIME, &now);
    capture->until_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    while (!err && !capture->over) {
        int got = poll(&ready, 1, LAST_MS);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        err = measure_capture_step(capture);
    }
    return err;
}

int measure_capture_end(measure_capture *capture, const measure_packets **out)
{
    struct pcap_stat counts;
    int err, end;

    if (capture->over)
        err = 0;
    else
        err =
            capture->live ? take_rest(capture) : measure_capture_step(capture);
    /* What was found until then is given in any case. */
    end = measure_tcp_end(capture->tcp, out);
    if (capture->live && pcap_stats(capture->pcap, &counts) == 0)
        measure__set_dropped(capture->tcp, counts.ps_drop);
    capture->over = true;
    return err ? err : end;
}
