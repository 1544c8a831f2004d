/* packet_streams_test.c - which bytes are of which stream, and in which order,
 * from frames made by hand. */
#include <pcap/dlt.h>

#include "tests/measure/frames.h"
#include "tests/support/check.h"
#include "measure/packets/tcp_internal.h"

TestSuite(packet_streams, .timeout = 120);

/* --- sequence numbers --- */

Test(packet_streams, what_is_sent_again_counts_once)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1460, 0);
    talk_send(&t, A, 1460, 0);
    talk_send_at(&t, A, -1460, 1460, 0);
    talk_send_at(&t, A, -2920, 2920, 0);
    talk_send(&t, A, 80, PSH);
    talk_send_at(&t, A, -80, 80, PSH);
    talk_check(&t, "a3000");
    cr_assert_eq(talk_result(&t)->streams[0].gaps, 0);
    talk_end(&t);
}

Test(packet_streams, only_what_is_new_of_an_overlapping_packet_counts)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1000, 0);
    talk_send_at(&t, A, -400, 700, PSH); /* 300 of them are new */
    talk_check(&t, "a1300");
    talk_end(&t);
}

Test(packet_streams, packets_out_of_order_are_put_in_order)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send_at(&t, A, 1560, 200, PSH);
    talk_send_at(&t, A, 100, 1460, 0);
    talk_send_at(&t, A, 0, 100, PSH);
    talk_miss(&t, A, 1760);
    talk_acknowledge(&t, B);
    talk_check(&t, "a100 a1660");
    cr_assert_eq(talk_result(&t)->streams[0].gaps, 0);
    talk_end(&t);
}

Test(packet_streams, sequence_numbers_wrap_around)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, UINT32_MAX - 2000, UINT32_MAX);
    for (int i = 0; i < 3; i++) {
        talk_send(&t, A, 1460, 0);
        talk_send(&t, A, 40, PSH);
        talk_send(&t, B, 700, PSH);
    }
    talk_send_at(&t, A, -40, 40, PSH);
    talk_check(&t, "a1500 b700 a1500 b700 a1500 b700");
    talk_end(&t);
}

Test(packet_streams, who_asks_whether_somebody_is_there_sends_nothing)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 100, PSH);
    talk_acknowledge(&t, B);
    talk_send_at(&t, A, -1, 0, 0);
    talk_send_at(&t, A, -1, 1, 0);
    talk_acknowledge(&t, B);
    talk_send(&t, A, 100, PSH);
    talk_check(&t, "a100 a100");
    cr_assert_eq(talk_result(&t)->streams[0].gaps, 0);
    talk_end(&t);
}

Test(packet_streams,
     what_was_acknowledged_but_not_seen_is_a_gap_that_counts_as_sent)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1460, 0);
    talk_miss(&t, A, 1460);
    talk_send(&t, A, 1460, 0);
    talk_miss(&t, A, 80);
    talk_send(&t, B, 10, PSH);
    talk_send(&t, A, 30, PSH);
    talk_check(&t, "a4460 b10 a30");
    cr_assert_eq(talk_result(&t)->streams[0].gaps, 1540);
    cr_assert_eq(talk_result(&t)->messages[0].packets, 2);
    talk_end(&t);
}

Test(packet_streams, what_waits_at_the_end_is_not_lost)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send_at(&t, A, 50, 100, PSH);
    talk_check(&t, "a150");
    cr_assert_eq(talk_result(&t)->streams[0].gaps, 50);
    talk_end(&t);
}

Test(packet_streams, thousands_of_packets_that_wait_end_as_a_gap)
{
    talk t;
    const measure_packets *found;
    uint64_t bytes = 0;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_miss(&t, A, 5);
    for (int i = 0; i < 3000; i++)
        talk_send(&t, A, 10, PSH);
    found = talk_result(&t);
    for (size_t i = 0; i < found->message_count; i++)
        bytes += found->messages[i].bytes;
    cr_assert_eq(bytes, 30005);
    cr_assert_eq(found->streams[0].gaps, 5);
    cr_assert_geq(found->message_count, 3000);
    talk_end(&t);
}

/* --- streams --- */

Test(packet_streams, a_stream_that_had_begun_before_is_followed_from_there)
{
    talk t;

    talk_begin(&t);
    t.next[A] = 77777;
    t.next[B] = 99999;
    talk_send(&t, B, 100, PSH);
    talk_send(&t, A, 200, PSH);
    talk_check(&t, "a100 b200"); /* b was seen first */
    cr_assert_eq(talk_result(&t)->streams[0].a.port, 2000);
    cr_assert_eq(talk_result(&t)->streams[0].gaps, 0);
    talk_end(&t);
}

Test(packet_streams,
     a_stream_first_seen_by_a_question_is_followed_without_a_gap)
{
    talk t;

    talk_begin(&t);
    t.next[A] = 77777;
    t.next[B] = 99999;
    talk_send_at(&t, A, -1, 0, 0);
    talk_acknowledge(&t, B);
    talk_send(&t, A, 200, PSH);
    talk_check(&t, "a200");
    cr_assert_eq(talk_result(&t)->streams[0].gaps, 0);
    talk_end(&t);
}

Test(packet_streams, the_end_that_connected_is_a)
{
    talk t;
    const measure_stream *s;

    talk_begin(&t);
    t.ports[A] = 9;
    t.ports[B] = 3;
    talk_connect(&t, 100, 5000);
    talk_send(&t, B, 10, PSH);
    s = &talk_result(&t)->streams[0];
    cr_assert_str_eq(s->a.address, "10.0.0.1");
    cr_assert_str_eq(s->b.address, "10.0.0.2");
    cr_assert_eq(s->a.port, 9);
    cr_assert_eq(s->b.port, 3);
    cr_assert(talk_result(&t)->messages[0].back);
    talk_end(&t);
}

Test(packet_streams, ends_of_ipv6_are_told_as_text)
{
    talk t;

    talk_begin(&t);
    t.ipv6 = true;
    talk_connect(&t, 100, 5000);
    talk_send(&t, B, 10, PSH);
    talk_check(&t, "b10");
    cr_assert_str_eq(talk_result(&t)->streams[0].a.address, "fd00::1");
    cr_assert_str_eq(talk_result(&t)->streams[0].b.address, "fd00::2");
    talk_end(&t);
}

Test(packet_streams,
     a_stream_of_which_only_the_answer_to_syn_was_seen_knows_who_is_a)
{
    talk t;

    talk_begin(&t);
    t.next[A] = 100;
    t.next[B] = 5000;
    talk_send_at(&t, B, 0, 0, SYN | ACK);
    t.next[B]++;
    talk_send(&t, A, 10, PSH);
    talk_check(&t, "a10");
    cr_assert_eq(talk_result(&t)->streams[0].a.port, 1000);
    talk_end(&t);
}

Test(packet_streams, a_port_that_is_used_again_makes_a_new_stream)
{
    talk t;
    const measure_packets *found;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 10, PSH);
    talk_send(&t, A, 0, FIN);
    talk_send(&t, B, 0, FIN);
    talk_acknowledge(&t, A);
    talk_connect(&t, 900000, 700000);
    talk_send(&t, A, 20, PSH);
    talk_send(&t, B, 0, RST);
    talk_connect(&t, 30, 40);
    talk_send(&t, B, 30, PSH);
    talk_check(&t, "a10 a20 b30");
    found = talk_result(&t);
    cr_assert_eq(found->stream_count, 3);
    cr_assert_eq(found->messages[1].stream, 1);
    cr_assert_eq(found->messages[2].stream, 2);
    talk_end(&t);
}

Test(packet_streams, a_syn_that_is_sent_again_is_the_same_stream)
{
    talk t;

    talk_begin(&t);
    t.next[A] = 100;
    talk_send_at(&t, A, 0, 0, SYN);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 10, PSH);
    talk_check(&t, "a10");
    cr_assert_eq(talk_result(&t)->stream_count, 1);
    talk_end(&t);
}

Test(packet_streams, streams_are_told_apart_and_messages_stand_by_time)
{
    talk t;
    const measure_packets *found;
    int64_t last = 0;

    talk_begin(&t);
    for (uint16_t i = 0; i < 600; i++) {
        t.ports[A] = 3000 + i;
        talk_connect(&t, 100, 5000);
        talk_send(&t, A, 1460, 0);
    }
    for (uint16_t i = 0; i < 600; i++) {
        t.ports[A] = 3000 + i;
        t.next[A] = 101 + 1460;
        t.next[B] = 5001;
        talk_send(&t, A, 1 + i, PSH);
    }
    found = talk_result(&t);
    cr_assert_eq(found->stream_count, 600);
    cr_assert_eq(found->message_count, 600);
    for (uint16_t i = 0; i < 600; i++) {
        cr_assert_eq(found->messages[i].bytes, 1461u + i);
        cr_assert_eq(found->streams[found->messages[i].stream].a.port,
                     3000 + i);
        cr_assert_gt(found->messages[i].from_ns, last);
        last = found->messages[i].from_ns;
    }
    talk_end(&t);
}

Test(packet_streams, nothing_can_be_added_to_what_has_ended)
{
    talk t;
    uint8_t frame[FRAME_CAPACITY];
    size_t length, count;
    segment s = {.link = DLT_EN10MB, .scale = -1};

    talk_begin(&t);
    count = frame_make(frame, &s, &length);
    talk_result(&t);
    check_status(measure_tcp_frame(t.tcp, DLT_EN10MB, 0, frame, count, length),
                 PASTSET_EINVAL);
    talk_end(&t);
}
