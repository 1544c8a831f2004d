/* noise_test.c - the handshake's cryptography against the published vector of
 * its protocol, from the set of cacophony, with which other implementations
 * are tested too. */
#include <sodium.h>
#include <string.h>

#include "paths/net/noise_internal.h"
#include "tests/support/check.h"

static const char prologue[] = "John Galt";
static const char psk[] = "This is my Austrian perspective!";
static const char initiator_secret[] =
    "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a";
static const char responder_secret[] =
    "bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b";
/* What the vector has as the hash of the handshake is the one after its first
 * message, as a second computation from the specification has shown. */
static const char first_hash[] =
    "054a32eaeedc4061a64cec028e34e5775d4de033e32525a5dfbd719056bae0b6";

/* The first two are of the handshake; then they take turns. */
static const struct {
    const char *payload, *sealed;
} messages[] = {
    {"Ludwig von Mises",
     "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944"
     "79b962b8aff8485742ac32f905ba45369e2465fb59e138a93d67a0d1266b6a54"},
    {"Murray Rothbard",
     "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f144808843"
     "d6062704d5a9c422a8e834423f8c1feada7e8d0d910a1a2cd030fb584221e3"},
    {"F. A. Hayek", "e632c3763d7669067383433197a3baddf146e9e70ad4b4e9e59e0f"},
    {"Carl Menger", "64c6bee32ea91c8474bb4c21d7a700109ad45af77b29764ba5eb1e"},
    {"Jean-Baptiste Say",
     "e2fa0bed0603b62d3ccac2ecabbf3fe33f3e86514909b323361626266cb2471cc8"},
    {"Eugen B\xf6hm von Bawerk",
     "0c01dc9cec1fe4ddd692e8dd32188aa351088dc91183639a53b57aa4692b5ebdef8b8ca1"
     "11"},
};

static noise initiator, responder;

static size_t unhex(uint8_t *out, size_t capacity, const char *hex)
{
    size_t bytes;

    cr_assert_eq(
        sodium_hex2bin(out, capacity, hex, strlen(hex), NULL, &bytes, NULL), 0);
    return bytes;
}

static void begin(void)
{
    uint8_t secret[32];

    cr_assert_geq(sodium_init(), 0);
    unhex(secret, sizeof(secret), initiator_secret);
    paths__noise_begin(&initiator, prologue, strlen(prologue),
                       (const uint8_t *)psk, secret);
    unhex(secret, sizeof(secret), responder_secret);
    paths__noise_begin(&responder, prologue, strlen(prologue),
                       (const uint8_t *)psk, secret);
}

TestSuite(noise, .init = begin, .timeout = 30);

static void check_message(int number, const uint8_t *message, size_t bytes)
{
    uint8_t want[256];

    cr_assert_eq(unhex(want, sizeof(want), messages[number].sealed), bytes);
    cr_assert_eq(memcmp(message, want, bytes), 0, "message %d", number);
}

static void check_payload(int number, const char *payload)
{
    const char *want = messages[number].payload;
    cr_assert_eq(memcmp(payload, want, strlen(want)), 0, "payload %d", number);
}

static void say_first(uint8_t message[256])
{
    const char *text = messages[0].payload;

    cr_assert_eq(
        paths__noise_first_write(&initiator, text, strlen(text), message), 0);
}

static void hear_first(const uint8_t *message, char payload[256])
{
    cr_assert_eq(paths__noise_first_read(&responder, payload,
                                         strlen(messages[0].payload), message),
                 0);
}

static void say_second(uint8_t message[256])
{
    const char *text = messages[1].payload;

    cr_assert_eq(
        paths__noise_second_write(&responder, text, strlen(text), message), 0);
}

Test(noise, gives_the_bytes_of_the_published_vector)
{
    noise_cipher said[2][2]; /* by whom, of which side */
    uint8_t message[256];
    uint8_t want[32];
    char payload[256];

    say_first(message);
    check_message(0, message, strlen(messages[0].payload) + 48);
    hear_first(message, payload);
    check_payload(0, payload);
    unhex(want, sizeof(want), first_hash);
    cr_assert_eq(memcmp(initiator.hash, want, sizeof(want)), 0);
    cr_assert_eq(memcmp(responder.hash, want, sizeof(want)), 0);
    say_second(message);
    check_message(1, message, strlen(messages[1].payload) + 48);
    cr_assert_eq(paths__noise_second_read(&initiator, payload,
                                          strlen(messages[1].payload), message),
                 0);
    check_payload(1, payload);
    cr_assert_eq(memcmp(initiator.hash, responder.hash, sizeof(want)), 0);
    paths__noise_split(&initiator, &said[0][0], &said[1][0]);
    paths__noise_split(&responder, &said[0][1], &said[1][1]);
    for (int i = 2; i < 6; i++) {
        size_t bytes = strlen(messages[i].payload);
        paths__noise_seal(&said[i % 2][i % 2], messages[i].payload, bytes,
                          message);
        check_message(i, message, bytes + 16);
        cr_assert_eq(
            paths__noise_open(&said[i % 2][1 - i % 2], payload, bytes, message),
            0);
        check_payload(i, payload);
    }
}

/* Each byte of a message counts. */
Test(noise, refuses_a_first_message_that_was_changed)
{
    size_t bytes = strlen(messages[0].payload);
    uint8_t message[256];
    char payload[256];

    say_first(message);
    for (size_t i = 0; i < bytes + 48; i++) {
        begin();
        message[i] ^= 1;
        cr_expect_eq(
            paths__noise_first_read(&responder, payload, bytes, message), -1,
            "byte %zu", i);
        message[i] ^= 1;
    }
}

Test(noise, refuses_a_second_message_that_was_changed)
{
    size_t bytes = strlen(messages[1].payload);
    uint8_t first[256], second[256];
    char payload[256];

    say_first(first);
    hear_first(first, payload);
    say_second(second);
    for (size_t i = 0; i < bytes + 48; i++) {
        noise before = initiator;
        second[i] ^= 1;
        cr_expect_eq(
            paths__noise_second_read(&initiator, payload, bytes, second), -1,
            "byte %zu", i);
        second[i] ^= 1;
        initiator = before;
    }
}

Test(noise, refuses_who_has_another_key_or_prologue)
{
    size_t bytes = strlen(messages[0].payload);
    uint8_t message[256], other[32], secret[32] = {7};
    char payload[256];

    say_first(message);
    memcpy(other, psk, sizeof(other));
    other[0] ^= 1;
    paths__noise_begin(&responder, prologue, strlen(prologue), other, secret);
    cr_expect_eq(paths__noise_first_read(&responder, payload, bytes, message),
                 -1);
    paths__noise_begin(&responder, "John Gald", 9, (const uint8_t *)psk,
                       secret);
    cr_expect_eq(paths__noise_first_read(&responder, payload, bytes, message),
                 -1);
}

/* The points of small order, with which every secret gives zero. */
Test(noise, refuses_keys_that_give_zero)
{
    static const char *const points[] = {
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    };

    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        uint8_t message[256];
        begin();
        unhex(responder.theirs, 32, points[i]);
        cr_expect_eq(paths__noise_second_write(&responder, "", 0, message), -1,
                     "%s", points[i]);
    }
}
