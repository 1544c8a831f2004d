#include "contracts/text/tokens.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

#define FILE_MAX                                                               \
    (64u << 20) /* a contract of a thousand ranks has megabytes                \
                 */
#define FILE_FIRST (64u << 10)

/* --- reading --- */

/* All of a file, into room that grows. */
static int fill(char **text, size_t *bytes, FILE *in)
{
    size_t room = 0, got;

    *bytes = 0;
    do {
        size_t more = room ? 2 * room : FILE_FIRST;
        char *grown = realloc(*text, more + 1);
        if (!grown)
            return pastset_no_memory("for a file");
        *text = grown;
        room = more;
        got = fread(grown + *bytes, 1, room - *bytes, in);
        *bytes += got;
    } while (*bytes == room && *bytes <= FILE_MAX);
    return 0;
}

static int text_of(char **text, FILE *in, const char *name, const char *what)
{
    size_t bytes;
    int err = fill(text, &bytes, in);

    if (err)
        return err;
    if (ferror(in))
        return pastset_fail(PASTSET_EIO, "cannot read %s: %s", name,
                            strerror(errno));
    if (bytes > FILE_MAX || memchr(*text, 0, bytes))
        return pastset_fail(PASTSET_EFORMAT, "%s is not %s: it %s", name, what,
                            bytes > FILE_MAX ? "has more than 64 MiB"
                                             : "is no text");
    (*text)[bytes] = 0;
    return 0;
}

int contracts__text_read(char **text, const char **name, const char *file,
                         const char *what)
{
    bool is_input = strcmp(file, "-") == 0;
    FILE *in = is_input ? stdin : fopen(file, "re");
    int err;

    *text = NULL;
    *name = is_input ? "standard input" : file;
    if (!in)
        return pastset_fail(PASTSET_EIO, "cannot open %s: %s", *name,
                            strerror(errno));
    err = text_of(text, in, *name, what);
    if (!is_input)
        fclose(in);
    if (err) {
        free(*text);
        *text = NULL;
    }
    return err;
}

/* --- what is wrong --- */

void contracts__wrong(contracts__tokens *t, const char *format, ...)
{
    char text[400];
    va_list rest;

    if (t->err)
        return;
    va_start(rest, format);
    vsnprintf(text, sizeof(text), format, rest);
    va_end(rest);
    t->err = pastset_fail(PASTSET_EFORMAT, "%s:%u:%u: %s", t->name,
                          (unsigned)t->line,
                          (unsigned)(t->at - t->line_begin) + 1, text);
}

void contracts__expected(contracts__tokens *t, const char *what)
{
    if (t->kind == CONTRACTS__END)
        contracts__wrong(t, "expected %s, not the end of the file", what);
    else
        contracts__wrong(t, "expected %s, not \"%.*s\"", what,
                         t->bytes < 40 ? (int)t->bytes : 40, t->at);
}

void contracts__text_no_memory(contracts__tokens *t)
{
    if (!t->err)
        t->err = pastset_no_memory("for a file");
}

void *contracts__more(contracts__tokens *t, void **items, size_t *count,
                      size_t bytes, size_t most, const char *what)
{
    void *grown;

    if (t->err)
        return NULL;
    if (*count >= most) {
        contracts__wrong(t, "more than %zu %s", most, what);
        return NULL;
    }
    grown = pastset_array_grow(*items, *count, bytes);
    if (!grown) {
        contracts__text_no_memory(t);
        return NULL;
    }
    *items = grown;
    return memset((char *)grown + bytes * (*count)++, 0, bytes);
}

/* --- tokens --- */

static void skip(contracts__tokens *t)
{
    for (;;) {
        if (*t->at == '#' || (t->at[0] == '/' && t->at[1] == '/'))
            t->at += strcspn(t->at, "\n");
        else if (*t->at == '\n') {
            t->line++;
            t->line_begin = ++t->at;
        } else if (isspace((unsigned char)*t->at))
            t->at++;
        else
            return;
    }
}

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t mark_bytes(const char *at)
{
    static const char *const two[] = {"==", "!=", "&&", "||"};

    for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++)
        if (strncmp(at, two[i], 2) == 0)
            return 2;
    return 1;
}

/* By hand where strtod would take more than decimal digits. */
static void number_read(contracts__tokens *t)
{
    char *end;

    t->kind = CONTRACTS__NUMBER;
    t->number = strtod(t->at, &end);
    t->bytes = (size_t)(end - t->at);
    if (t->at[0] == '0' && (t->at[1] == 'x' || t->at[1] == 'X'))
        contracts__expected(t, "a decimal number");
    else if (!isfinite(t->number))
        contracts__wrong(t, "%.*s is too large",
                         t->bytes < 40 ? (int)t->bytes : 40, t->at);
    else if (is_of_word(*end))
        contracts__wrong(t, "a number ends with a letter");
}

static void string_read(contracts__tokens *t)
{
    size_t bytes = strcspn(t->at + 1, "\"\n");

    t->kind = CONTRACTS__STRING;
    t->bytes = bytes + 2;
    if (t->at[bytes + 1] != '"') {
        t->bytes = 1;
        contracts__wrong(t, "a quotation mark is missing in this line");
    }
}

static void read_next(contracts__tokens *t)
{
    skip(t);
    t->bytes = 0;
    if (*t->at == 0) {
        t->kind = CONTRACTS__END;
    } else if (isdigit((unsigned char)*t->at) ||
               (*t->at == '.' && isdigit((unsigned char)t->at[1]))) {
        number_read(t);
    } else if (*t->at == '"') {
        string_read(t);
    } else if (is_of_word(*t->at)) {
        t->kind = CONTRACTS__WORD;
        while (is_of_word(t->at[t->bytes]))
            t->bytes++;
    } else {
        t->kind = CONTRACTS__MARK;
        t->bytes = mark_bytes(t->at);
    }
}

void contracts__tokens_begin(contracts__tokens *t, const char *text,
                             const char *name)
{
    *t = (contracts__tokens){
        .name = name, .at = text, .line = 1, .line_begin = text};
    read_next(t);
}

void contracts__token_next(contracts__tokens *t)
{
    if (t->err)
        return;
    t->at += t->bytes;
    read_next(t);
}

static bool is_next(const contracts__tokens *t, contracts__token_kind kind,
                    const char *text)
{
    return !t->err && t->kind == kind && strlen(text) == t->bytes &&
           memcmp(t->at, text, t->bytes) == 0;
}

bool contracts__take_mark(contracts__tokens *t, const char *mark)
{
    bool is = is_next(t, CONTRACTS__MARK, mark);

    if (is)
        contracts__token_next(t);
    return is;
}

bool contracts__take_word(contracts__tokens *t, const char *word)
{
    bool is = contracts__is_name(t, word);

    if (is)
        contracts__token_next(t);
    return is;
}

void contracts__need_mark(contracts__tokens *t, const char *mark)
{
    char what[8];

    snprintf(what, sizeof(what), "\"%s\"", mark);
    if (!contracts__take_mark(t, mark))
        contracts__expected(t, what);
}

bool contracts__is_name(const contracts__tokens *t, const char *name)
{
    return is_next(t, CONTRACTS__WORD, name);
}

char *contracts__need_name(contracts__tokens *t, const char *what)
{
    char *name;

    if (t->err || t->kind != CONTRACTS__WORD) {
        contracts__expected(t, what);
        return NULL;
    }
    name = strndup(t->at, t->bytes);
    if (!name)
        contracts__text_no_memory(t);
    contracts__token_next(t);
    return name;
}

char *contracts__need_string(contracts__tokens *t, const char *what)
{
    char *text;

    if (t->err || t->kind != CONTRACTS__STRING) {
        contracts__expected(t, what);
        return NULL;
    }
    text = strndup(t->at + 1, t->bytes - 2);
    if (!text)
        contracts__text_no_memory(t);
    contracts__token_next(t);
    return text;
}

double contracts__need_number(contracts__tokens *t)
{
    double sign = contracts__take_mark(t, "-") ? -1 : 1, number;

    if (t->err || t->kind != CONTRACTS__NUMBER) {
        contracts__expected(t, "a number");
        return 0;
    }
    number = t->number;
    contracts__token_next(t);
    return sign * number;
}
