#include "server/steering.h"

#include <errno.h>
#include <linux/filter.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { OF_EACH_CPU = 6, OF_OTHERS = 3 }; /* instructions */

size_t steering_cpu(const cpu_set_t *cpus, unsigned worker) {
    unsigned left = worker % (unsigned)CPU_COUNT(cpus);
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, cpus) || left-- > 0)
        cpu++;
    return cpu;
}

static struct sock_filter load(int what) {
    return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + what));
}

static struct sock_filter compute(uint16_t operation, uint32_t with) {
    return (struct sock_filter)BPF_STMT(BPF_ALU | operation | BPF_K, with);
}

/* Worker i is the (i / count)-th of CPU i % count. */
static unsigned write_program(struct sock_filter *code, const cpu_set_t *cpus, unsigned workers) {
    const unsigned count = (unsigned)CPU_COUNT(cpus);
    const struct sock_filter give = BPF_STMT(BPF_RET | BPF_A, 0);
    unsigned length = 0;
    code[length++] = load(SKF_AD_CPU);
    for (unsigned i = 0; i < count && i < workers; i++) {
        code[length++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)steering_cpu(cpus, i), 0, OF_EACH_CPU - 1);
        code[length++] = load(SKF_AD_RANDOM);
        code[length++] = compute(BPF_MOD, (workers - i + count - 1) / count);
        code[length++] = compute(BPF_MUL, count);
        code[length++] = compute(BPF_ADD, i);
        code[length++] = give;
    }
    code[length++] = load(SKF_AD_RANDOM);
    code[length++] = compute(BPF_MOD, workers);
    code[length++] = give;
    return length;
}

int steering_attach(int fd, const cpu_set_t *cpus, unsigned workers) {
    const size_t limit = 1 + OF_EACH_CPU * (size_t)CPU_COUNT(cpus) + OF_OTHERS;
    struct sock_filter *code = calloc(limit, sizeof *code);
    if (code == NULL)
        return -ENOMEM;
    const struct sock_fprog program = {.len = (unsigned short)write_program(code, cpus, workers),
                                       .filter = code};
    const int failed =
        setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program);
    const int error = failed != 0 ? -errno : 0;
    free(code);
    return error;
}
