/* dying_app.h - see dying_app.c. */
#ifndef TESTS_SUPPORT_DYING_APP_H
#define TESTS_SUPPORT_DYING_APP_H

/* Until a process of it that nothing has ended does so itself. */
#define DYING_APP_SECONDS 100

#endif
