/* fail_calls GROUP FAULT N REPORT COMMAND ARGUMENT...
 *
 * Runs a command and lets the n-th system call of a group end otherwise than the system would have it, or with n+ that
 * one and all after it; stdio's and libraries' own calls are reached too, which no preloaded function could do.
 *
 *   GROUP    a row of the table below, or all
 *   FAULT    the name of an error (EIO, ENOSPC, ...): the call is not made and fails with it
 *            short: a read or write moves one byte at most
 *            kill: the process gets SIGKILL just before the call
 *            do: the shell command in FAIL_DO is run just before the call
 *   N        from 1; 0: nothing fails
 *   REPORT   gets a line for each call that counts, "n name path-or-descriptor"; - for none
 *
 * Calls of the dynamic loader before the program runs do not count, nor those that write to stderr: what is to be seen
 * is what the program says.  Ends as the command ends, also by a signal.  For Linux on x86-64. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct call {
    const char *group, *name;
    int number;
    int path; /* the argument that is a path, counted from 0; -1: the first is a descriptor */
} calls[] = {
    {"open", "open", SYS_open, 0},
    {"open", "openat", SYS_openat, 1},
    {"open", "creat", SYS_creat, 0},
    {"open", "mkdir", SYS_mkdir, 0},
    {"open", "getdents64", SYS_getdents64, -1},
    {"read", "read", SYS_read, -1},
    {"read", "pread64", SYS_pread64, -1},
    {"write", "write", SYS_write, -1},
    {"write", "pwrite64", SYS_pwrite64, -1},
    {"write", "writev", SYS_writev, -1},
    {"write", "ftruncate", SYS_ftruncate, -1},
    {"sync", "fsync", SYS_fsync, -1},
    {"sync", "fdatasync", SYS_fdatasync, -1},
    {"name", "rename", SYS_rename, 1},
    {"name", "renameat", SYS_renameat, 3},
    {"name", "renameat2", SYS_renameat2, 3},
    {"name", "link", SYS_link, 1},
    {"name", "linkat", SYS_linkat, 3},
    {"name", "unlink", SYS_unlink, 0},
    {"name", "unlinkat", SYS_unlinkat, 1},
    {"close", "close", SYS_close, -1},
    {"stat", "stat", SYS_stat, 0},
    {"stat", "fstat", SYS_fstat, -1},
    {"stat", "lstat", SYS_lstat, 0},
    {"stat", "newfstatat", SYS_newfstatat, 1},
    {"stat", "statx", SYS_statx, 1},
    {"stat", "lseek", SYS_lseek, -1},
    {"stat", "fchmod", SYS_fchmod, -1},
    {"map", "mmap", SYS_mmap, -1},
};

enum { CALLS = sizeof calls / sizeof *calls };

static const struct {
    const char *name;
    int number;
} errors[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EINTR", EINTR}, {"EMFILE", EMFILE}, {"EACCES", EACCES},
              {"ENOMEM", ENOMEM}, {"EDQUOT", EDQUOT}, {"EROFS", EROFS}, {"EAGAIN", EAGAIN}, {"ENOSYS", ENOSYS}};

struct plan {
    const char *group;
    int error;         /* 0: one of the following */
    const char *shell; /* what do does */
    bool is_short, kill, sticky;
    long at, count;
    FILE *report;
    unsigned long long loader_begin, loader_end;
};

static void die(const char *what)
{
    fprintf(stderr, "fail_calls: %s: %s\n", what, strerror(errno));
    exit(125);
}

static bool in_group(const struct plan *plan, const struct call *call)
{
    return strcmp(plan->group, "all") == 0 ? strcmp(call->group, "map") != 0 : strcmp(plan->group, call->group) == 0;
}

/* Calls of the group stop for the tracer; all others run as always. */
static void install_filter(const struct plan *plan)
{
    struct sock_filter code[2 * CALLS + 2];
    unsigned short length = 0;
    code[length++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < CALLS; i++) {
        if (!in_group(plan, &calls[i])) continue;
        code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, 0, 1);
        code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {length, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die("no_new_privs");
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) die("seccomp");
}

static pid_t start(const struct plan *plan, char **command)
{
    pid_t child = fork();
    if (child < 0) die("fork");
    if (child > 0) return child;
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) die("ptrace");
    raise(SIGSTOP);
    install_filter(plan);
    execvp(command[0], command);
    die(command[0]);
    return 0;
}

/* Where the dynamic loader lies: the mapping at AT_BASE and those of the same file. */
static void find_loader(struct plan *plan, pid_t pid)
{
    char path[64], line[512], name[256] = "", found[256];
    uint64_t pair[2], base = 0;
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    FILE *file = fopen(path, "rb");
    if (!file) die(path);
    while (fread(pair, sizeof pair, 1, file) == 1)
        if (pair[0] == AT_BASE) base = pair[1];
    fclose(file);
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    file = fopen(path, "r");
    if (!file) die(path);
    while (base != 0 && fgets(line, sizeof line, file)) {
        unsigned long long begin, end;
        if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %255s", &begin, &end, found) != 3) continue;
        if (begin == base) memcpy(name, found, sizeof name);
        if (*name && strcmp(name, found) == 0) plan->loader_end = end;
    }
    plan->loader_begin = base;
    fclose(file);
}

static const struct call *call_of(const struct user_regs_struct *registers)
{
    for (size_t i = 0; i < CALLS; i++)
        if ((long long)registers->orig_rax == calls[i].number) return &calls[i];
    return NULL;
}

static void describe(const struct plan *plan, pid_t pid, const struct call *call, const struct user_regs_struct *r)
{
    if (!plan->report) return;
    const unsigned long long arguments[] = {r->rdi, r->rsi, r->rdx, r->r10};
    fprintf(plan->report, "%ld %s ", plan->count, call->name);
    if (call->path < 0) {
        fprintf(plan->report, "%lld\n", (long long)r->rdi);
        return;
    }
    char text[4096] = "";
    struct iovec here = {text, sizeof text - 1}, there = {(void *)(uintptr_t)arguments[call->path], 256};
    if (process_vm_readv(pid, &here, 1, &there, 1, 0) < 0) text[0] = '\0';
    fprintf(plan->report, "%s\n", text);
}

/* The call is about to be made. */
static void meet_call(struct plan *plan, pid_t pid)
{
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) != 0) return;
    const struct call *call = call_of(&registers);
    bool loader = registers.rip >= plan->loader_begin && registers.rip < plan->loader_end;
    bool messages = call && strcmp(call->group, "write") == 0 && registers.rdi == STDERR_FILENO;
    if (!call || loader || messages) return;
    plan->count++;
    describe(plan, pid, call, &registers);
    if (plan->at == 0 || plan->count < plan->at || (plan->count > plan->at && !plan->sticky)) return;
    if (plan->kill) {
        kill(pid, SIGKILL);
        return;
    }
    if (plan->shell) {
        if (system(plan->shell) != 0) die(plan->shell);
        return;
    }
    if (plan->is_short) {
        if (registers.rdx > 1) registers.rdx = 1;
    } else {
        registers.orig_rax = (unsigned long long)-1; /* no call at all */
        registers.rax = (unsigned long long)-plan->error;
    }
    ptrace(PTRACE_SETREGS, pid, NULL, &registers);
}

static void finish(const struct plan *plan, int status)
{
    if (plan->report) fclose(plan->report);
    if (WIFEXITED(status)) exit(WEXITSTATUS(status));
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    exit(128 + WTERMSIG(status));
}

static void follow(struct plan *plan, pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) die("the command does not start");
    const long options =
        PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, options) != 0) die("ptrace");
    ptrace(PTRACE_CONT, child, NULL, NULL);
    for (;;) {
        pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0 && errno == EINTR) continue;
        if (pid < 0) die("wait");
        if (!WIFSTOPPED(status)) {
            if (pid == child) finish(plan, status);
            continue;
        }
        int event = status >> 16, signal = WSTOPSIG(status);
        if (event == PTRACE_EVENT_SECCOMP) meet_call(plan, pid);
        if (event == PTRACE_EVENT_EXEC) find_loader(plan, pid);
        /* A new thread begins with a SIGSTOP that nobody sent. */
        if (event != 0 || signal == SIGSTOP || signal == SIGTRAP) signal = 0;
        ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)signal);
    }
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fputs("usage: fail_calls GROUP FAULT N REPORT COMMAND ARGUMENT...\n", stderr);
        return 125;
    }
    struct plan plan = {.group = argv[1], .at = atol(argv[3]), .sticky = strchr(argv[3], '+') != NULL};
    plan.is_short = strcmp(argv[2], "short") == 0;
    plan.kill = strcmp(argv[2], "kill") == 0;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(argv[2], errors[i].name) == 0) plan.error = errors[i].number;
    plan.shell = strcmp(argv[2], "do") == 0 ? getenv("FAIL_DO") : NULL;
    if (!plan.is_short && !plan.kill && !plan.shell && plan.error == 0) {
        fprintf(stderr, "fail_calls: %s is no fault\n", argv[2]);
        return 125;
    }
    if (strcmp(argv[4], "-") != 0 && !(plan.report = fopen(argv[4], "we"))) die(argv[4]);
    follow(&plan, start(&plan, argv + 5));
}
