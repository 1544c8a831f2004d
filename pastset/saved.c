/* saved.c - what another process has saved of an element, or tells it.
 *
 * Who reads the file of a space may save its tuples elsewhere; the space's own
 * process can make room for others then. So there is one number that goes the
 * other way, and a second one, which means what both agree on: they stand in
 * the element's header, and whoever reads the file maps that one page a second
 * time, to be written. */
#include <sys/mman.h>

#include "pastset/element_internal.h"

/* The header's line of these two, to be written. */
static int line_map(element_header **out, pastset_element *element)
{
    uintptr_t within = (uintptr_t)&element->header->reads % SPACE_PAGE;
    int err = element->saved_page
                  ? 0
                  : pastset__space_page(&element->saved_page, element->space,
                                        &element->header->reads);

    if (!err)
        *out = (element_header *)(void *)((char *)element->saved_page + within -
                                          offsetof(element_header, reads));
    return err;
}

int pastset_element_tell_saved(pastset_element *element, uint64_t index)
{
    element_header *header;
    int err;

    if (!element->read_only)
        return pastset_fail(PASTSET_ENOTSUP,
                            "element \"%s\" belongs to this process: only "
                            "another process can save it",
                            element->header->name);
    err = line_map(&header, element);
    /* Release: pairs with the acquire below. What is truncated for it has been
     * read by now. */
    if (!err)
        atomic_store_explicit(&header->saved, index, memory_order_release);
    return err;
}

int pastset_element_tell(pastset_element *element, uint64_t number)
{
    element_header *header = element->header;
    int err = element->read_only ? line_map(&header, element) : 0;

    if (!err)
        atomic_store_explicit(&header->told, number, memory_order_release);
    return err;
}

const _Atomic uint64_t *pastset_element_told(const pastset_element *element)
{
    return &element->header->told;
}

uint64_t pastset_element_saved(const pastset_element *element)
{
    return atomic_load_explicit(&element->header->saved, memory_order_acquire);
}

void pastset__saved_fini(pastset_element *element)
{
    if (element->saved_page)
        munmap(element->saved_page, SPACE_PAGE);
}
