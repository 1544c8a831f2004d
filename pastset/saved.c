/* saved.c - what another process has saved of an element.
 *
 * Who reads the file of a space may save its tuples elsewhere; the space's own
 * process can make room for others then. So there is one number that goes the
 * other way: it stands in the element's header, and whoever reads the file maps
 * that one page a second time, to be written. */
#include <sys/mman.h>

#include "pastset/element_internal.h"

static int page_map(pastset_element *element)
{
    if (!element->read_only)
        return pastset_fail(PASTSET_ENOTSUP,
                            "element \"%s\" belongs to this process: only "
                            "another process can save it",
                            element->header->name);
    if (element->saved_page)
        return 0;
    return pastset__space_page(&element->saved_page, element->space,
                               &element->header->saved);
}

int pastset_element_tell_saved(pastset_element *element, uint64_t index)
{
    int err = page_map(element);
    uintptr_t within = (uintptr_t)&element->header->saved % SPACE_PAGE;

    if (err)
        return err;
    /* Release: pairs with the acquire below. What is truncated for it has been
     * read by now. */
    atomic_store_explicit(
        (_Atomic uint64_t *)(void *)((char *)element->saved_page + within),
        index, memory_order_release);
    return 0;
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
