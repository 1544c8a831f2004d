/* tokens.h - texts that people write, word by word: rulebases, metrics and
 * contracts. `#` and `//` begin a comment that ends with its line.
 *
 * The first thing that is wrong is remembered, with its place; what is asked
 * for afterwards is not there. So a reader may go on and look at `err` at its
 * end.
 *
 * Threads:   one thread per text.
 * Ownership: `text` and `name` must outlive it; what it gives points into
 * `text`, but for copies, which are freed with free. */
#ifndef CONTRACTS_TOKENS_H
#define CONTRACTS_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum contracts__token_kind {
    CONTRACTS__END,
    CONTRACTS__WORD,   /* letters, digits and _, and no digit first */
    CONTRACTS__NUMBER, /* 3, 0.5, 1e-3; a sign is a mark */
    CONTRACTS__STRING, /* "h0": of one line, and without a quotation mark */
    CONTRACTS__MARK,   /* ( ) { } , ; = + - * / : . % < > and == != && || */
} contracts__token_kind;

typedef struct contracts__tokens {
    const char *name; /* for errors */
    /* The next token. */
    contracts__token_kind kind;
    const char *at;
    size_t bytes;
    double number;
    uint32_t line;
    const char *line_begin;
    int err; /* PASTSET_EFORMAT, PASTSET_ENOMEM */
} contracts__tokens;

/* The whole of a file (`-`: standard input), to be released with free, and how
 * errors call it. `what` is what it is read for: "a rulebase". Errors:
 * PASTSET_EIO, PASTSET_EFORMAT (no text, or more than 1 MiB), PASTSET_ENOMEM.
 */
int contracts__text_read(char **text, const char **name, const char *file,
                         const char *what);

void contracts__tokens_begin(contracts__tokens *t, const char *text,
                             const char *name);
/* The next token is wrong: "name:line:column: ", and this. */
void contracts__wrong(contracts__tokens *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same: "expected WHAT, not " and what is there. */
void contracts__expected(contracts__tokens *t, const char *what);
void contracts__text_no_memory(contracts__tokens *t);

/* Room for one more item behind `*count` of them, cleared, where at most so
 * many of `what` are allowed; NULL: it is wrong. */
void *contracts__more(contracts__tokens *t, void **items, size_t *count,
                      size_t bytes, size_t most, const char *what);

/* Whether it is next; if so, takes it. */
bool contracts__take_mark(contracts__tokens *t, const char *mark);
bool contracts__take_word(contracts__tokens *t, const char *word);
/* Takes it, or else it is wrong. */
void contracts__need_mark(contracts__tokens *t, const char *mark);
/* A name of any kind, copied; NULL: it is wrong. `what` is what is expected. */
char *contracts__need_name(contracts__tokens *t, const char *what);
/* What is between quotation marks, copied; NULL: it is wrong. */
char *contracts__need_string(contracts__tokens *t, const char *what);
/* With a sign or without; 0: it is wrong. */
double contracts__need_number(contracts__tokens *t);
/* Whether the next token is this name. */
bool contracts__is_name(const contracts__tokens *t, const char *name);
void contracts__token_next(contracts__tokens *t);

#endif
