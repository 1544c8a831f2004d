/* model_fuzz.c - whatever is read as a model comes to a number with a range
 * whose terms add up to it, or is refused. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "predict/structural/structural_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

static int find(predict_stochastic *out, predict_dimension *dimension,
                const char *name, const char *argument, void *context)
{
    (void)context;
    if (strcmp(name, "load") != 0)
        return PASTSET_ENOENT;
    *out = (predict_stochastic){0.5, *argument ? 0.1 : 0};
    *dimension = (predict_dimension){0, 0};
    return 0;
}

static void check(predict_structural *model, predict_group by)
{
    predict_structural_given given = {find, NULL};
    predict_structural_result r;
    double sum = 0, size = 0;
    int err = predict_structural_evaluate(&r, model, "time", by, &given);

    must(!err || r.term_count == 0, "what failed has no terms");
    if (err)
        return;
    must(isfinite(r.value.mean) && isfinite(r.value.range), "it is a number");
    must(r.value.range >= 0, "a range is from 0");
    for (size_t i = 0; i < r.term_count; i++) {
        sum += r.terms[i].value.mean;
        size += fabs(r.terms[i].value.mean);
        must(r.terms[i].value.range >= 0, "so is that of a term");
    }
    must(!isfinite(size) || fabs(sum - r.value.mean) <= 1e-6 * size,
         "terms add up to it");
    predict_structural_result_fini(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    predict_structural *model;
    char *text = malloc(bytes + 1);

    memcpy(text, data, bytes);
    text[bytes] = 0;
    if (predict__structural_of_text(&model, text, "fuzz.model") == 0) {
        check(model, PREDICT_BY_MEAN);
        if (predict_structural_set(model, "load(A) = 0.3 +- 0.2") == 0)
            check(model, PREDICT_BY_UPPER);
        predict_structural_destroy(model);
    }
    free(text);
    return 0;
}
