/* Ctrl-C and SIGTERM as a wish to stop: the first is noted, the second ends the process at once. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

/* From now on the first SIGINT or SIGTERM is only noted. */
void interrupt_catch(void);

/* A sentence for who is told to end and still has not a moment later, since it waits for other processes; NULL: none
 * any more.  It must stay. */
void interrupt_announce(const char *sentence);

/* Notes one that another process has got. */
void interrupt_note(int number);

/* The signal that was noted, or 0. */
int interrupt_signal(void);

#endif
