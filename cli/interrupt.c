#define _XOPEN_SOURCE 700 /* setitimer */
#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* Set by whichever thread gets the signal, read by all that train. */
static atomic_int noted;

/* What is said when the process has not ended a while after the signal; NULL: nothing. */
static const char *_Atomic announced;

static void announce(int number)
{
    (void)number;
    const char *sentence = announced;
    if (sentence) (void)!write(STDERR_FILENO, sentence, strlen(sentence));
}

static void note(int number)
{
    const struct itimerval soon = {.it_value = {.tv_usec = 700000}}; /* mpirun kills after a second */
    if (noted) _exit(128 + number);
    noted = number;
    if (announced) setitimer(ITIMER_REAL, &soon, NULL);
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

void interrupt_announce(const char *sentence)
{
    struct sigaction action = {.sa_handler = announce, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    announced = sentence;
    sigaction(SIGALRM, &action, NULL);
}

void interrupt_note(int number)
{
    noted = number;
}

int interrupt_signal(void)
{
    return noted;
}
