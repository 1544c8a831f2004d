/* packets_test.c - streams and messages, from frames made by hand. What has to
 * come out was worked out beside each test. */
#include <pcap/dlt.h>
#include <stdarg.h>
#include <stdio.h>

#include "tests/measure/frames.h"
#include "tests/support/check.h"

TestSuite(packets, .timeout = 120);

/* "a100 b20": who sent how much, in order, of all streams. */
static const char *shape(const measure_packets *found)
{
    static char text[4096];
    size_t used = 0;

    text[0] = 0;
    for (size_t i = 0; i < found->message_count && used < sizeof(text) - 40;
         i++)
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "%s%c%llu",
                             i ? " " : "", found->messages[i].back ? 'b' : 'a',
                             (unsigned long long)found->messages[i].bytes);
    return text;
}

static void check_shape(talk *t, const char *want)
{
    const measure_packets *found = talk_result(t);

    cr_assert_str_eq(shape(found), want, "found \"%s\", not \"%s\"",
                     shape(found), want);
}

/* --- what ends a message --- */

Test(packets, a_marked_packet_that_is_not_full_ends_a_message)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 300, PSH);
    talk_send(&t, A, 200, PSH);
    talk_send(&t, A, 100, PSH);
    check_shape(&t, "a300 a200 a100");
    talk_end(&t);
}

Test(packets, packets_that_are_not_marked_belong_to_what_follows)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1460, 0);
    talk_send(&t, A, 1460, 0);
    talk_send(&t, A, 80, PSH);
    check_shape(&t, "a3000");
    cr_assert_eq(talk_result(&t)->messages[0].packets, 3);
    cr_assert_eq(talk_result(&t)->messages[0].to_ns -
                     talk_result(&t)->messages[0].from_ns,
                 20000);
    talk_end(&t);
}

Test(packets, a_mark_on_a_full_packet_within_a_message_does_not_end_it)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1460, 0);
    talk_send(&t, A, 2920, PSH); /* two, which the card cuts */
    talk_send(&t, A, 1460, 0);
    talk_send(&t, A, 9, PSH);
    check_shape(&t, "a5849");
    talk_end(&t);
}

Test(packets, a_message_of_full_packets_ends_where_the_answer_begins)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    for (int i = 0; i < 3; i++) {
        talk_send(&t, A, 1460, 0);
        talk_send(&t, A, 1460, PSH);
        talk_send(&t, B, 1460, PSH);
    }
    check_shape(&t, "a2920 b1460 a2920 b1460 a2920 b1460");
    talk_end(&t);
}

Test(packets, an_answer_does_not_cut_a_message_that_is_surely_under_way)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1460, 0);
    talk_send(&t, B, 1460, 0);
    talk_send(&t, A, 1460, 0);
    talk_send(&t, B, 1460, 0);
    talk_send(&t, A, 80, PSH);
    talk_send(&t, B, 40, PSH);
    check_shape(&t, "a3000 b2960");
    talk_end(&t);
}

Test(packets, two_long_messages_at_once_do_not_cut_each_other_at_marks)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1460, 0);
    talk_send(&t, B, 1460, 0);
    for (int i = 0; i < 10; i++) {
        talk_send(&t, A, 1460, PSH);
        talk_send(&t, B, 1460, PSH);
    }
    talk_send(&t, A, 1, PSH);
    talk_send(&t, B, 2, PSH);
    check_shape(&t, "a16061 b16062");
    talk_end(&t);
}

Test(packets, what_is_not_acknowledged_is_not_answered)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1460, PSH);
    t.next[A] -= 1460; /* b speaks before that has come */
    talk_send(&t, B, 10, PSH);
    t.next[A] += 1460;
    talk_send(&t, A, 40, PSH);
    check_shape(&t, "a1500 b10");
    talk_end(&t);
}

Test(packets, a_long_pause_after_a_marked_full_packet_ends_a_message)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1460, PSH);
    talk_acknowledge(&t, B);
    talk_wait(&t, 50000000);
    talk_send(&t, A, 1460, PSH);
    talk_send(&t, A, 4, PSH);
    check_shape(&t, "a1460 a1464");
    talk_end(&t);
}

Test(packets, a_pause_before_the_acknowledgement_ends_nothing)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1460, PSH);
    talk_wait(&t, 50000000); /* on its way: the sender has to wait */
    talk_acknowledge(&t, B);
    talk_send(&t, A, 4, PSH);
    check_shape(&t, "a1464");
    talk_end(&t);
}

Test(packets, a_pause_after_a_packet_that_is_not_marked_ends_nothing)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1460, 0);
    talk_acknowledge(&t, B);
    talk_wait(&t, 50000000);
    talk_send(&t, A, 4, PSH);
    check_shape(&t, "a1464");
    talk_end(&t);
}

Test(packets, a_packet_of_nearly_64_kib_counts_as_full)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 62000, PSH);
    talk_send(&t, A, 100, PSH);
    check_shape(&t, "a62100");
    talk_end(&t);
}

Test(packets, half_of_the_window_counts_as_full)
{
    talk t;

    talk_begin(&t);
    t.mss = 65495;
    talk_connect(&t, 100, 5000); /* windows of 64000 */
    talk_send(&t, A, 32000, PSH);
    talk_send(&t, A, 31999, PSH);
    check_shape(&t, "a63999");
    talk_end(&t);
}

Test(packets, a_short_packet_without_a_mark_ends_by_the_answer)
{
    talk t;

    talk_begin(&t); /* as of a stream that is corked */
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 700, 0);
    talk_send(&t, B, 20, PSH);
    talk_send(&t, A, 700, 0);
    talk_send(&t, B, 20, PSH);
    check_shape(&t, "a700 b20 a700 b20");
    talk_end(&t);
}

Test(packets, a_packet_that_fills_the_window_is_no_end)
{
    talk t;

    talk_begin(&t);
    t.window[B] = 3000;
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1400, 0);
    talk_send(&t, A, 1600, 0);
    talk_send(&t, B, 20, PSH);
    talk_send(&t, A, 50, PSH);
    check_shape(&t, "a3050 b20");
    talk_end(&t);
}

Test(packets, the_end_of_a_stream_ends_its_messages)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1460, FIN);
    talk_send(&t, B, 1460, 0);
    talk_send(&t, B, 0, RST);
    check_shape(&t, "a1460 b1460");
    talk_end(&t);
}

/* --- sequence numbers --- */

Test(packets, what_is_sent_again_counts_once)
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
    check_shape(&t, "a3000");
    cr_assert_eq(talk_result(&t)->streams[0].gaps, 0);
    talk_end(&t);
}

Test(packets, only_what_is_new_of_an_overlapping_packet_counts)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1000, 0);
    talk_send_at(&t, A, -400, 700, PSH); /* 300 of them are new */
    check_shape(&t, "a1300");
    talk_end(&t);
}

Test(packets, packets_out_of_order_are_put_in_order)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send_at(&t, A, 1560, 200, PSH);
    talk_send_at(&t, A, 100, 1460, 0);
    talk_send_at(&t, A, 0, 100, PSH);
    talk_miss(&t, A, 1760);
    talk_acknowledge(&t, B);
    check_shape(&t, "a100 a1660");
    cr_assert_eq(talk_result(&t)->streams[0].gaps, 0);
    talk_end(&t);
}

Test(packets, sequence_numbers_wrap_around)
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
    check_shape(&t, "a1500 b700 a1500 b700 a1500 b700");
    talk_end(&t);
}

Test(packets, who_asks_whether_somebody_is_there_sends_nothing)
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
    check_shape(&t, "a100 a100");
    cr_assert_eq(talk_result(&t)->streams[0].gaps, 0);
    talk_end(&t);
}

Test(packets, what_was_acknowledged_but_not_seen_is_a_gap_that_counts_as_sent)
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
    check_shape(&t, "a4460 b10 a30");
    cr_assert_eq(talk_result(&t)->streams[0].gaps, 1540);
    cr_assert_eq(talk_result(&t)->messages[0].packets, 2);
    talk_end(&t);
}

Test(packets, what_waits_at_the_end_is_not_lost)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send_at(&t, A, 50, 100, PSH);
    check_shape(&t, "a150");
    cr_assert_eq(talk_result(&t)->streams[0].gaps, 50);
    talk_end(&t);
}

Test(packets, thousands_of_packets_that_wait_end_as_a_gap)
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

Test(packets, a_stream_that_had_begun_before_is_followed_from_there)
{
    talk t;

    talk_begin(&t);
    t.next[A] = 77777;
    t.next[B] = 99999;
    talk_send(&t, B, 100, PSH);
    talk_send(&t, A, 200, PSH);
    check_shape(&t, "a100 b200"); /* b was seen first */
    cr_assert_eq(talk_result(&t)->streams[0].a.port, 2000);
    cr_assert_eq(talk_result(&t)->streams[0].gaps, 0);
    talk_end(&t);
}

Test(packets, a_stream_first_seen_by_a_question_is_followed_without_a_gap)
{
    talk t;

    talk_begin(&t);
    t.next[A] = 77777;
    t.next[B] = 99999;
    talk_send_at(&t, A, -1, 0, 0);
    talk_acknowledge(&t, B);
    talk_send(&t, A, 200, PSH);
    check_shape(&t, "a200");
    cr_assert_eq(talk_result(&t)->streams[0].gaps, 0);
    talk_end(&t);
}

Test(packets, the_end_that_connected_is_a)
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

Test(packets, a_stream_of_which_only_the_answer_to_syn_was_seen_knows_who_is_a)
{
    talk t;

    talk_begin(&t);
    t.next[A] = 100;
    t.next[B] = 5000;
    talk_send_at(&t, B, 0, 0, SYN | ACK);
    t.next[B]++;
    talk_send(&t, A, 10, PSH);
    check_shape(&t, "a10");
    cr_assert_eq(talk_result(&t)->streams[0].a.port, 1000);
    talk_end(&t);
}

Test(packets, a_port_that_is_used_again_makes_a_new_stream)
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
    check_shape(&t, "a10 a20 b30");
    found = talk_result(&t);
    cr_assert_eq(found->stream_count, 3);
    cr_assert_eq(found->messages[1].stream, 1);
    cr_assert_eq(found->messages[2].stream, 2);
    talk_end(&t);
}

Test(packets, a_syn_that_is_sent_again_is_the_same_stream)
{
    talk t;

    talk_begin(&t);
    t.next[A] = 100;
    talk_send_at(&t, A, 0, 0, SYN);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 10, PSH);
    check_shape(&t, "a10");
    cr_assert_eq(talk_result(&t)->stream_count, 1);
    talk_end(&t);
}

Test(packets, streams_are_told_apart_and_messages_stand_by_time)
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

Test(packets, nothing_can_be_added_to_what_has_ended)
{
    talk t;
    uint8_t frame[FRAME_ROOM];
    size_t length, count;
    segment s = {.link = DLT_EN10MB, .scale = -1};

    talk_begin(&t);
    count = frame_make(frame, &s, &length);
    talk_result(&t);
    check_status(measure_tcp_frame(t.tcp, DLT_EN10MB, 0, frame, count, length),
                 PASTSET_EINVAL);
    talk_end(&t);
}

Test(packets, a_marked_packet_that_fills_the_window_may_go_on)
{
    talk t;

    talk_begin(&t);
    t.window[B] = 3000;
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 1460, 0);
    talk_send(&t, A, 1540, PSH);
    talk_acknowledge(&t, B);
    talk_send(&t, A, 50, PSH);
    check_shape(&t, "a3050");
    talk_end(&t);
}

/* 600 KiB in, a mark behind a full packet without one tells nothing: full
 * packets that follow belong to it, and the answer, or a packet that is not
 * full, ends it. */
Test(packets, marks_of_a_long_call_tell_nothing_behind_full_packets)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    for (int i = 0; i < 10; i++) {
        talk_send(&t, A, 61440, 0);
        talk_acknowledge(&t, B);
    }
    talk_send(&t, A, 2000, PSH);
    talk_acknowledge(&t, B);
    talk_send(&t, A, 61440, 0);
    talk_send(&t, A, 1500, PSH);
    talk_send(&t, A, 1000, PSH);
    check_shape(&t, "a679340 a1000");
    talk_end(&t);
}
