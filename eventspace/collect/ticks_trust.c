/* ticks_trust.c - asking the kernel whether the counter can be trusted.
 *
 * What a processor says of its time stamp counter holds for one core. Whether
 * the counters of all cores agree, and firmware leaves them alone, the kernel
 * finds out: it compares them with each other at boot, and with another clock
 * for as long as it runs, and takes the counter off the list of clocks that it
 * would go by when they differ. Nothing else tells: the flags in /proc/cpuinfo
 * stay as they are. */
#include <stdio.h>
#include <string.h>

#include "eventspace/collect/ticks_internal.h"

#define CLOCKS "/sys/devices/system/clocksource/clocksource0/"

/* Clocks by which a virtual machine goes rather than by a counter that it
 * would trust too. */
static const char *const virtual_clocks[] = {"kvm-clock",
                                             "hyperv_clocksource_tsc_page",
                                             "hyperv_clocksource_msr", "xen"};

#define VIRTUAL_CLOCKS (sizeof(virtual_clocks) / sizeof(virtual_clocks[0]))

/* Is a word one of those in the text? */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    while (*text) {
        size_t here = strcspn(text, " \n");
        if (here == length && strncmp(text, word, length) == 0)
            return true;
        text += here + strspn(text + here, " \n");
    }
    return false;
}

bool eventspace__ticks_believed(const char *current, const char *available)
{
    bool goes_by = !current || has_word(current, "tsc");

    for (size_t i = 0; i < VIRTUAL_CLOCKS && !goes_by; i++)
        goes_by = has_word(current, virtual_clocks[i]);
    return goes_by && (!available || has_word(available, "tsc"));
}

/* A file of sysfs as a text; NULL when it cannot be read. */
static const char *file_text(const char *file, char *out, size_t capacity)
{
    FILE *in = fopen(file, "re");
    size_t got;

    if (!in)
        return NULL;
    got = fread(out, 1, capacity - 1, in);
    fclose(in);
    out[got] = 0;
    return got ? out : NULL;
}

bool eventspace__ticks_believed_now(void)
{
    char current[256], available[1024];

    return eventspace__ticks_believed(
        file_text(CLOCKS "current_clocksource", current, sizeof(current)),
        file_text(CLOCKS "available_clocksource", available,
                  sizeof(available)));
}
