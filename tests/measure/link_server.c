/* link_server.c - see link_server.h. */
#include "tests/measure/link_server.h"

#include <string.h>
#include <unistd.h>

#include "measure/links/links.h"
#include "tests/support/check.h"

static void tell(void *context, const char *address)
{
    server *s = context;
    cr_assert_gt(write(s->pipe[1], address, strlen(address) + 1), 0);
}

static void *serve(void *context)
{
    server *s = context;
    s->result = measure_link_serve("127.0.0.1", 1, -1, tell, s);
    return NULL;
}

void server_start(server *s)
{
    cr_assert_eq(pipe(s->pipe), 0);
    cr_assert_eq(pthread_create(&s->thread, NULL, serve, s), 0);
    cr_assert_gt(read(s->pipe[0], s->address, sizeof(s->address)), 0);
}
