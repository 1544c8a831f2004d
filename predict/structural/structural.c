/* structural.c - models: begin and end. */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "pastset/text.h"
#include "predict/structural/structural_internal.h"

#define FILE_MAX (1u << 20)

/* --- begin and end --- */

static int source_add(predict_structural *model, const char *text,
                      const char *name)
{
    predict__source *sources = pastset_array_grow(
        model->sources, model->source_count, sizeof(*sources));
    predict__source *s;

    if (!sources)
        return pastset_no_memory("for a model");
    model->sources = sources;
    s = &sources[model->source_count];
    s->text = strdup(text);
    s->name = strdup(name);
    model->source_count++;
    return s->text && s->name ? 0 : pastset_no_memory("for a model");
}

int predict__structural_of_text(predict_structural **out, const char *text,
                                const char *name)
{
    predict_structural *model = calloc(1, sizeof(*model));
    int err;

    *out = NULL;
    if (!model)
        return pastset_no_memory("for a model");
    err = source_add(model, text, name);
    if (!err)
        err = predict__structural_parse(model, false);
    if (err) {
        predict_structural_destroy(model);
        return err;
    }
    *out = model;
    return 0;
}

int predict_structural_set(predict_structural *model, const char *definition)
{
    int err = source_add(model, definition, definition);

    return err ? err : predict__structural_parse(model, true);
}

/* What a text cannot have in it ends it. */
static int text_read(char **text, FILE *file, const char *name)
{
    size_t bytes = 0, got = 0;

    *text = malloc(FILE_MAX + 1);
    if (!*text)
        return pastset_no_memory("for a model");
    do {
        got = fread(*text + bytes, 1, FILE_MAX + 1 - bytes, file);
        bytes += got;
    } while (got > 0 && bytes <= FILE_MAX);
    if (ferror(file))
        return pastset_fail(PASTSET_EIO, "cannot read %s: %s", name,
                            strerror(errno));
    if (bytes > FILE_MAX || memchr(*text, 0, bytes))
        return pastset_fail(PASTSET_EFORMAT, "%s is no model: it %s", name,
                            bytes > FILE_MAX ? "has more than 1 MiB"
                                             : "is no text");
    (*text)[bytes] = 0;
    return 0;
}

int predict_structural_read(predict_structural **out, const char *file)
{
    bool is_input = strcmp(file, "-") == 0;
    FILE *in = is_input ? stdin : fopen(file, "re");
    const char *name = is_input ? "standard input" : file;
    char *text = NULL;
    int err;

    *out = NULL;
    if (!in)
        return pastset_fail(PASTSET_EIO, "cannot open %s: %s", name,
                            strerror(errno));
    err = text_read(&text, in, name);
    if (!is_input)
        fclose(in);
    if (!err)
        err = predict__structural_of_text(out, text, name);
    free(text);
    return err;
}

void predict_structural_destroy(predict_structural *model)
{
    if (!model)
        return;
    for (uint32_t i = 0; i < model->source_count; i++) {
        free(model->sources[i].text);
        free(model->sources[i].name);
    }
    tdestroy(model->words, free);
    for (uint32_t i = 0; i < model->set_count; i++)
        free(model->sets[i].members);
    free(model->sources);
    free(model->nodes);
    free(model->sets);
    free(model->definitions);
    free(model->relations);
    free(model);
}

/* --- evaluating --- */

int predict_structural_evaluate(predict_structural_result *out,
                                predict_structural *model, const char *what,
                                predict_group by,
                                const predict_structural_given *given)
{
    predict__evaluation e = {.model = model,
                             .by = by,
                             .given = given,
                             .sources = model->group_count};
    const char *name = predict__structural_word(model, what, strlen(what));
    uint32_t d = name ? predict__structural_definition(model, name, NULL)
                      : PREDICT__NONE;
    predict__value value;
    int err;

    memset(out, 0, sizeof(*out));
    if (!name)
        return pastset_no_memory("for a model");
    if (d == PREDICT__NONE)
        return pastset_fail(PASTSET_EINVAL,
                            "%s does not say what %s is: add a line %s = ...",
                            model->sources[0].name, what, what);
    err =
        predict__structural_value(&value, &e, model->definitions[d].node, NULL);
    if (!err) {
        out->value = predict__value_whole(&value);
        out->dimension = value.dimension;
        predict__value_fini(&value);
        err = predict__structural_terms(out, &e, model->definitions[d].node);
    }
    predict__structural_fini(&e);
    if (err)
        predict_structural_result_fini(out);
    return err;
}

void predict_structural_result_fini(predict_structural_result *result)
{
    for (size_t i = 0; i < result->term_count; i++)
        free(result->terms[i].name);
    free(result->terms);
    memset(result, 0, sizeof(*result));
}
