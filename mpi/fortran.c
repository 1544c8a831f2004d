/* fortran.c - how a call of Fortran comes to the function of C that records it.
 *
 * A library's binding for Fortran converts what it is given and calls C, MPI_
 * in one library and PMPI_ in the other. So a call is recorded there, with what
 * it means in C (calls.c), and nothing is converted here. Two kinds of symbols
 * lead to it:
 *
 *     mpi_send_    what the program calls. It notes which call this is, and
 *                  where it returns to, and goes on to the library's, with all
 *                  arguments as they are.
 *     PMPI_Send    what the binding calls. Is it what was noted, it goes to
 *                  MPI_Send of calls.c, else to the library's. What bindings
 *                  need beside it (PMPI_Comm_size, PMPI_Type_free) is no call
 *                  of the program.
 *
 * MPI_Send takes the note, so a call is recorded once however it comes there.
 * Both are a few instructions of assembly code, since they must leave registers
 * and the stack as they are, whatever the arguments. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/interpose.h"

/* --- what a way leads to --- */

/* Beginning a way that was not gone before. */
extern char mpi__way_open[] __attribute__((visibility("hidden")));

static void *find_in(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void *found = handle ? dlsym(handle, name) : NULL;

    if (handle)
        dlclose(handle);
    return found;
}

/* Libraries that were loaded later, and not for all (RTLD_LOCAL). The program,
 * which is the first, would show the symbol of this library. */
static void *find_anywhere(const char *name)
{
    struct link_map *map = _r_debug.r_map;
    void *found = NULL;

    for (map = map ? map->l_next : NULL; map && !found; map = map->l_next)
        if (map->l_name[0] && !strstr(map->l_name, "libeventspace_"))
            found = find_in(map->l_name, name);
    return found;
}

void *mpi__way_to(mpi_way *way)
{
    void *to = __atomic_load_n(&way->to, __ATOMIC_RELAXED);

    if (to != mpi__way_open)
        return to;
    to = dlsym(RTLD_NEXT, way->name);
    if (!to)
        to = find_anywhere(way->name);
    if (!to) {
        fprintf(stderr, "eventspace: no library of MPI has %s\n", way->name);
        abort();
    }
    __atomic_store_n(&way->to, to, __ATOMIC_RELAXED);
    return to;
}

/* --- the symbols --- */

/* An instruction in each line. */
/* clang-format off */

#define BEGIN(symbol)                                                          \
    "    .pushsection .text\n"                                                 \
    "    .balign 16\n"                                                         \
    "    .type " #symbol ", %function\n"                                       \
    #symbol ":\n"                                                              \
    "    .cfi_startproc\n"
#define END(symbol)                                                            \
    "    .cfi_endproc\n"                                                       \
    "    .size " #symbol ", . - " #symbol "\n"                                 \
    "    .popsection\n"

#if defined(__x86_64__)

/* r10 and r11 are free; the way is in r11. */
#define NOTE                                                                   \
    "    movq mpi__note@gottpoff(%rip), %r10\n"
#define WAY(symbol)                                                            \
    "    leaq mpi__way_" #symbol "(%rip), %r11\n"
#define ENTRY(symbol, call)                                                    \
    NOTE                                                                       \
    WAY(P##call)                                                               \
    "    movq %r11, %fs:(%r10)\n"                                              \
    "    movq (%rsp), %r11\n"                                                  \
    "    movq %r11, %fs:8(%r10)\n"                                             \
    WAY(symbol)                                                                \
    "    jmp *(%r11)\n"
#define FORK(call)                                                             \
    NOTE                                                                       \
    WAY(P##call)                                                               \
    "    cmpq %r11, %fs:(%r10)\n"                                              \
    "    je " #call "\n"                                                       \
    "    jmp *(%r11)\n"

/* All that may be arguments is as it was when it goes on. */
__asm__("    .hidden mpi__way_open\n"
        "    .globl mpi__way_open\n"
        BEGIN(mpi__way_open)
        "    pushq %rax\n"
        "    pushq %rdi\n"
        "    pushq %rsi\n"
        "    pushq %rdx\n"
        "    pushq %rcx\n"
        "    pushq %r8\n"
        "    pushq %r9\n"
        "    .cfi_def_cfa_offset 64\n"
        "    movq %r11, %rdi\n"
        "    call mpi__way_to\n"
        "    movq %rax, %r11\n"
        "    popq %r9\n"
        "    popq %r8\n"
        "    popq %rcx\n"
        "    popq %rdx\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "    popq %rax\n"
        "    .cfi_def_cfa_offset 8\n"
        "    jmp *%r11\n"
        END(mpi__way_open));

#else /* __aarch64__: mpi/CMakeLists.txt */

/* x16 and x17 are free; the way is in x17. */
#define NOTE                                                                   \
    "    adrp x16, :gottprel:mpi__note\n"                                      \
    "    ldr x16, [x16, #:gottprel_lo12:mpi__note]\n"                          \
    "    mrs x17, tpidr_el0\n"
#define WAY(symbol)                                                            \
    "    adrp x17, mpi__way_" #symbol "\n"                                     \
    "    add x17, x17, #:lo12:mpi__way_" #symbol "\n"
#define ENTRY(symbol, call)                                                    \
    NOTE                                                                       \
    "    add x16, x16, x17\n"                                                  \
    WAY(P##call)                                                               \
    "    stp x17, x30, [x16]\n"                                                \
    WAY(symbol)                                                                \
    "    ldr x16, [x17]\n"                                                     \
    "    br x16\n"
#define FORK(call)                                                             \
    NOTE                                                                       \
    "    ldr x16, [x16, x17]\n"                                                \
    WAY(P##call)                                                               \
    "    cmp x16, x17\n"                                                       \
    "    b.ne 1f\n"                                                            \
    "    b " #call "\n"                                                        \
    "1:  ldr x16, [x17]\n"                                                     \
    "    br x16\n"

/* All that may be arguments is as it was when it goes on. */
__asm__("    .hidden mpi__way_open\n"
        "    .globl mpi__way_open\n"
        BEGIN(mpi__way_open)
        "    stp x29, x30, [sp, #-96]!\n"
        "    .cfi_def_cfa_offset 96\n"
        "    .cfi_offset 29, -96\n"
        "    .cfi_offset 30, -88\n"
        "    stp x0, x1, [sp, #16]\n"
        "    stp x2, x3, [sp, #32]\n"
        "    stp x4, x5, [sp, #48]\n"
        "    stp x6, x7, [sp, #64]\n"
        "    str x8, [sp, #80]\n"
        "    mov x0, x17\n"
        "    bl mpi__way_to\n"
        "    mov x16, x0\n"
        "    ldr x8, [sp, #80]\n"
        "    ldp x6, x7, [sp, #64]\n"
        "    ldp x4, x5, [sp, #48]\n"
        "    ldp x2, x3, [sp, #32]\n"
        "    ldp x0, x1, [sp, #16]\n"
        "    ldp x29, x30, [sp], #96\n"
        "    .cfi_restore 29\n"
        "    .cfi_restore 30\n"
        "    .cfi_def_cfa_offset 0\n"
        "    br x16\n"
        END(mpi__way_open));

#endif

/* clang-format on */

/* Assembly code refers to them by name. */
#define MPI_WAY(symbol, call)                                                  \
    extern mpi_way mpi__way_##symbol __attribute__((visibility("hidden")));    \
    mpi_way mpi__way_##symbol = {mpi__way_open, #symbol, MPI__CALL_##call};

/* PMPI_ functions. */
#define CALL(name, parameters, arguments, word, roles) OWN(name)
#define OWN(name)                                                              \
    MPI_WAY(P##name, name)                                                     \
    __asm__(".globl P" #name "\n" BEGIN(P##name) FORK(name) END(P##name));
#define OLD(name)
#include "mpi/calls.def"
#undef CALL
#undef OWN
#undef OLD

/* Functions of Fortran. They are weak: those of fortran_whole.c take the place
 * of some. */
#define BINDING(call, symbol)                                                  \
    MPI_WAY(symbol, call)                                                      \
    __asm__(".weak " #symbol "\n" BEGIN(symbol) ENTRY(symbol, call)            \
                END(symbol));
#ifdef MPICH_VERSION /* with descriptors, and with large counts */
#define FORTRAN(call, name)                                                    \
    BINDING(call, name##_)                                                     \
    BINDING(call, name##_f08_) BINDING(call, name##_f08ts_)
#define FORTRAN_LARGE(call, name)                                              \
    BINDING(call, name##_f08_large_) BINDING(call, name##_f08ts_large_)
#else
#define FORTRAN(call, name) BINDING(call, name##_) BINDING(call, name##_f08_)
BINDING(MPI_Alloc_mem, mpi_alloc_mem_cptr_)
BINDING(MPI_Win_allocate, mpi_win_allocate_cptr_)
BINDING(MPI_Win_allocate_shared, mpi_win_allocate_shared_cptr_)
BINDING(MPI_Win_shared_query, mpi_win_shared_query_cptr_)
#endif
#include "fortran.def"
