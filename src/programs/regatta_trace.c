/* regatta-trace: writes down when tasks run on some CPUs and what happens on the connections of a
 * server's port (trace.h), for the lab, which tells from it where a request's time goes.
 *
 * It reads commands, a line each, and answers `ack` to each: `enable`; `disable`, which also writes
 * what has happened since; anything else does nothing. It ends with its input. */
#include "base/cpus.h"
#include "programs/option.h"

#include <linux/types.h>
/* after it: */
#include "trace.h"
#include "trace.skel.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

enum { COMMAND = 16 };

static const char PROGRAM[] = "regatta-trace";

static int say_nothing(enum libbpf_print_level level, const char *format, va_list arguments) {
    (void)level;
    (void)format;
    (void)arguments;
    return 0;
}

static _Noreturn void fail(const char *what, int error) {
    fprintf(stderr, "%s: cannot %s: %s\n", PROGRAM, what, strerror(error < 0 ? -error : error));
    exit(EXIT_FAILURE);
}

static void read_cpus(const char *list, __u8 watched[TRACE_CPUS]) {
    cpu_set_t set;
    if (cpus_parse(list, &set) != 0)
        option_wrong(PROGRAM, "%s is not a list of CPUs; write it as 0, 0,2 or 1-3", list);
    for (size_t cpu = 0; cpu < TRACE_CPUS; cpu++)
        watched[cpu] = CPU_ISSET(cpu, &set) ? 1 : 0;
}

static int write_event(void *file, void *event, size_t length) {
    return fwrite(event, length, 1, file) == 1 ? 0 : -EIO;
}

static void write_all(struct trace *trace, struct ring_buffer *ring, FILE *file) {
    int error = ring_buffer__consume(ring);
    struct trace_event lost = {.kind = TRACE_LOST, .length = (__u32)trace->bss->lost};
    if (error >= 0 && lost.length > 0)
        error = write_event(file, &lost, sizeof lost);
    if (error < 0 || fflush(file) != 0)
        fail("write the events", error < 0 ? error : errno);
}

int main(int argc, char **argv) {
    const int arguments = 4;
    if (argc != arguments)
        option_wrong(PROGRAM, "name the server's port, the CPUs as 0,2, and a file");
    const char *file_name = argv[3];
    libbpf_set_print(say_nothing);
    struct trace *trace = trace__open();
    if (trace == NULL)
        fail("open its program", errno);
    trace->rodata->port = (__u16)option_number(PROGRAM, "the port", argv[1], 1, UINT16_MAX);
    trace->rodata->send_call = SYS_sendto;
    trace->rodata->accept_calls[0] = SYS_accept;
    trace->rodata->accept_calls[1] = SYS_accept4;
    read_cpus(argv[2], trace->rodata->watched);
    FILE *file = fopen(file_name, "we");
    if (file == NULL)
        fail("write its file", errno);
    int error = trace__load(trace);
    if (error == 0)
        error = trace__attach(trace);
    if (error != 0)
        fail("follow requests", error);
    struct ring_buffer *ring =
        ring_buffer__new(bpf_map__fd(trace->maps.events), write_event, file, NULL);
    if (ring == NULL)
        fail("read its ring", errno);

    char command[COMMAND];
    while (fgets(command, sizeof command, stdin) != NULL) {
        trace->bss->enabled = strcmp(command, "enable\n") == 0;
        if (strcmp(command, "disable\n") == 0)
            write_all(trace, ring, file);
        if (puts("ack") == EOF || fflush(stdout) != 0)
            break;
    }
    ring_buffer__free(ring);
    trace__destroy(trace);
    return fclose(file) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
