/* packet_frames_test.c - the headers of single frames, link by link. Each frame
 * has one message; how many bytes it has must come out. */
#include <pcap/dlt.h>

#include "tests/measure/frames.h"
#include "tests/support/check.h"
#include "measure/packets/tcp_internal.h"

TestSuite(packet_frames, .timeout = 120);

/* A frame whose capture is cut to `keep` bytes (0: its headers). Gives the
 * bytes that were found; -1: it was not taken as TCP. */
static int64_t found_in(const segment *s, size_t keep)
{
    uint8_t frame[FRAME_CAPACITY];
    size_t length, count = frame_make(frame, s, &length);
    measure_tcp *tcp = measure_tcp_create();
    const measure_packets *found;
    int64_t bytes;

    if (keep && keep < count)
        count = keep;
    check_status(measure_tcp_frame(tcp, s->link, 5, frame, count, length), 0);
    check_status(measure_tcp_end(tcp, &found), 0);
    cr_assert_eq(found->packets + found->not_tcp, 1);
    if (found->not_tcp)
        bytes = -1;
    else
        bytes = found->message_count ? (int64_t)found->messages[0].bytes : 0;
    measure_tcp_destroy(tcp);
    return bytes;
}

static segment plain(int link, bool ipv6)
{
    return (segment){.link = link,
                     .ipv6 = ipv6,
                     .flags = PSH | ACK,
                     .scale = -1,
                     .payload = 321};
}

Test(packet_frames, every_link_carries_both_versions)
{
    const int links[] = {DLT_EN10MB, DLT_LINUX_SLL, DLT_LINUX_SLL2,
                         DLT_NULL,   DLT_LOOP,      DLT_RAW};

    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        for (int ipv6 = 0; ipv6 < 2; ipv6++) {
            segment s = plain(links[i], ipv6);
            cr_assert_eq(found_in(&s, 0), 321, "link %d, ipv6 %d", links[i],
                         ipv6);
        }
    }
}

Test(packet_frames, a_link_that_is_not_known_is_passed_over)
{
    segment s = plain(DLT_EN10MB, false);

    s.link = 250;
    cr_assert_eq(found_in(&s, 0), -1);
}

Test(packet_frames, tags_of_vlans_are_stepped_over)
{
    segment s = plain(DLT_EN10MB, false);

    s.vlans = 1;
    cr_assert_eq(found_in(&s, 0), 321);
    s.vlans = 2;
    cr_assert_eq(found_in(&s, 0), 321);
}

Test(packet_frames, options_and_extensions_are_stepped_over)
{
    segment s = plain(DLT_EN10MB, false);

    s.ip_options = 12;
    s.timestamps = true;
    cr_assert_eq(found_in(&s, 0), 321);
    s = plain(DLT_EN10MB, true);
    s.extensions = 3;
    s.timestamps = true;
    cr_assert_eq(found_in(&s, 0), 321);
}

Test(packet_frames, padding_of_ethernet_is_no_payload)
{
    segment s = plain(DLT_EN10MB, false);

    s.payload = 2;
    s.padding = 10;
    cr_assert_eq(found_in(&s, 0), 2);
    s.ipv6 = true;
    cr_assert_eq(found_in(&s, 0), 2);
}

Test(packet_frames, fragments_are_passed_over)
{
    segment s = plain(DLT_EN10MB, false);

    s.fragment = 0x2000; /* more follow */
    cr_assert_eq(found_in(&s, 0), -1);
    s.fragment = 100; /* a later one */
    cr_assert_eq(found_in(&s, 0), -1);
    s.fragment = 0x4000; /* must not be cut */
    cr_assert_eq(found_in(&s, 0), 321);
    s = plain(DLT_EN10MB, true);
    s.fragment = 8;
    cr_assert_eq(found_in(&s, 0), -1);
    s.fragment = 0x0006; /* reserved bits: it is whole */
    cr_assert_eq(found_in(&s, 0), 321);
}

Test(packet_frames, a_length_that_ip_cannot_tell_is_the_frames)
{
    segment s = plain(DLT_EN10MB, false);

    s.payload = 180000;
    s.length_untold = true;
    cr_assert_eq(found_in(&s, 0), 180000);
    s.ipv6 = true;
    cr_assert_eq(found_in(&s, 0), 180000);
    s.extensions = 1; /* as of a jumbogram */
    cr_assert_eq(found_in(&s, 0), 180000);
}

Test(packet_frames, frames_that_are_cut_anywhere_are_taken_or_passed_over)
{
    for (int ipv6 = 0; ipv6 < 2; ipv6++) {
        segment s = plain(DLT_EN10MB, ipv6);
        size_t headers = 14 + (ipv6 ? 40 : 20) + 20;
        s.timestamps = true;
        for (size_t keep = 1; keep < headers + 12; keep++)
            cr_assert_eq(found_in(&s, keep), keep < headers ? -1 : 321,
                         "%zu bytes, ipv6 %d", keep, ipv6);
    }
}

/* Changes bytes of a good frame. */
static int64_t found_changed(size_t at, uint8_t value)
{
    uint8_t frame[FRAME_CAPACITY];
    segment s = plain(DLT_RAW, false);
    size_t length, count = frame_make(frame, &s, &length);
    measure_tcp *tcp = measure_tcp_create();
    const measure_packets *found;
    int64_t packets;

    frame[at] = value;
    check_status(measure_tcp_frame(tcp, DLT_RAW, 5, frame, count, length), 0);
    check_status(measure_tcp_end(tcp, &found), 0);
    packets = (int64_t)found->packets;
    measure_tcp_destroy(tcp);
    return packets;
}

Test(packet_frames, damaged_headers_are_passed_over)
{
    cr_assert_eq(found_changed(1, 0), 1, "the service may be any");
    cr_assert_eq(found_changed(0, 0x44), 0, "an IP header of 16 bytes");
    cr_assert_eq(found_changed(0, 0x55), 0, "IP version 5");
    cr_assert_eq(found_changed(2, 0x20), 0, "longer than the frame");
    cr_assert_eq(found_changed(9, 17), 0, "UDP");
    cr_assert_eq(found_changed(32, 0x40), 0, "a TCP header of 16 bytes");
}
