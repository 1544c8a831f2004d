/* shown.h - what `contract watch` prints of an interval that was judged. */
#ifndef VIEWER_SHOWN_H
#define VIEWER_SHOWN_H

#include "contracts/check/checker.h"

/* Of what. */
typedef struct cli_shown {
    const contracts_checker *checker;
    const contracts_contract *contract;
    const char *run;
} cli_shown;

/* "" where it is nobody. */
const char *cli_shown_other(const contracts_checker *checker,
                            const contracts_judgement *j);
/* A line of JSON. Errors: PASTSET_ENOMEM. */
int cli_show_json(const cli_shown *s, uint32_t process,
                  const contracts_judgement *j, int64_t start_ns);
/* A line where something begins or ends. */
void cli_show_change(const cli_shown *s, uint32_t process, contracts_kind kind,
                     const contracts_judgement *j, int64_t start_ns);
/* The whole screen. */
void cli_show_screen(const cli_shown *s, const contracts_judgement *all,
                     int64_t start_ns);

#endif
