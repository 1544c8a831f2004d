/* packets_test.c - what ends a message, from frames made by hand. */
#include "tests/measure/frames.h"
#include "tests/support/check.h"

TestSuite(packets, .timeout = 120);

Test(packets, a_marked_packet_that_is_not_full_ends_a_message)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 300, PSH);
    talk_send(&t, A, 200, PSH);
    talk_send(&t, A, 100, PSH);
    talk_check(&t, "a300 a200 a100");
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
    talk_check(&t, "a3000");
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
    talk_check(&t, "a5849");
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
    talk_check(&t, "a2920 b1460 a2920 b1460 a2920 b1460");
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
    talk_check(&t, "a3000 b2960");
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
    talk_check(&t, "a16061 b16062");
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
    talk_check(&t, "a1500 b10");
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
    talk_check(&t, "a1460 a1464");
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
    talk_check(&t, "a1464");
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
    talk_check(&t, "a1464");
    talk_end(&t);
}

Test(packets, a_packet_of_nearly_64_kib_counts_as_full)
{
    talk t;

    talk_begin(&t);
    talk_connect(&t, 100, 5000);
    talk_send(&t, A, 62000, PSH);
    talk_send(&t, A, 100, PSH);
    talk_check(&t, "a62100");
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
    talk_check(&t, "a63999");
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
    talk_check(&t, "a700 b20 a700 b20");
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
    talk_check(&t, "a3050 b20");
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
    talk_check(&t, "a1460 b1460");
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
    talk_check(&t, "a3050");
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
    talk_check(&t, "a679340 a1000");
    talk_end(&t);
}
