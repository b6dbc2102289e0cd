#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

/* Set by whichever thread gets the signal, read by all that train. */
static atomic_int noted;

static void note(int number)
{
    if (noted) _exit(128 + number);
    noted = number;
}

/* A signal that the caller had ignored, as shells do for jobs in the background, stays ignored. */
static void catch_signal(int number)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART}, old;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(number, &action, NULL);
}

void interrupt_catch(void)
{
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
}

void interrupt_note(int number)
{
    noted = number;
}

int interrupt_signal(void)
{
    return noted;
}
