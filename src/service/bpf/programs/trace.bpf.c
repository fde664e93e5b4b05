/* Writes when which task begins or ends to run on some CPUs, and what happens on the connections of
 * one server's port. */
#include "kernel.h"
/* after it: */
#include "trace.h"

#include <bpf/bpf_endian.h>

char LICENSE[] SEC("license") = "GPL"; /* required to read task structures */

const volatile __u16 port = 0;
const volatile __u64 send_call = 0; /* the number of sendto */
const volatile __u64 accept_calls[2] = {0};
const volatile __u8 watched[TRACE_CPUS] = {0};
__u8 enabled = 0;
__u64 lost = 0;

enum { TCP_SYN_SENT = 2, CALLS = 16384 };

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, TRACE_BYTES);
} events SEC(".maps");

/* When threads began to send or, 0, that they accept; by their ids. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, CALLS);
    __type(key, __u32);
    __type(value, __u64);
} calls SEC(".maps");

static __always_inline int is_watched(void) {
    __u32 cpu = bpf_get_smp_processor_id();
    return enabled && cpu < TRACE_CPUS && watched[cpu];
}

/* NULL: not wanted, or no room. */
static __always_inline struct trace_event *event(enum trace_kind kind) {
    if (!is_watched())
        return 0;
    struct trace_event *event = bpf_ringbuf_reserve(&events, sizeof *event, 0);
    if (event == 0) {
        __sync_fetch_and_add(&lost, 1);
        return 0;
    }
    *event = (struct trace_event){
        .at = bpf_ktime_get_ns(),
        .task = (__s32)bpf_get_current_pid_tgid(),
        .cpu = (__u16)bpf_get_smp_processor_id(),
        .kind = kind,
    };
    return event;
}

SEC("tp_btf/sched_switch")
int task_switch(__u64 *arguments) {
    const struct task_struct *before = (const struct task_struct *)arguments[1];
    const struct task_struct *next = (const struct task_struct *)arguments[2];
    struct trace_event *found = event(TRACE_SWITCH);
    if (found == 0)
        return 0;
    found->task = before->pid;
    found->next = next->pid;
    found->flag = arguments[0] || before->__state == 0;
    bpf_probe_read_kernel_str(found->name, sizeof found->name, next->comm);
    bpf_ringbuf_submit(found, BPF_RB_NO_WAKEUP);
    return 0;
}

static __always_inline int wakeup(const struct task_struct *task, int is_first) {
    struct trace_event *found = event(TRACE_WAKEUP);
    if (found == 0)
        return 0;
    found->flag = (__u8)is_first;
    found->next = task->pid;
    bpf_probe_read_kernel_str(found->name, sizeof found->name, task->comm);
    bpf_ringbuf_submit(found, BPF_RB_NO_WAKEUP);
    return 0;
}

SEC("tp_btf/sched_wakeup")
int task_wakeup(__u64 *arguments) {
    return wakeup((const struct task_struct *)arguments[0], 0);
}

SEC("tp_btf/sched_wakeup_new")
int task_wakeup_new(__u64 *arguments) {
    return wakeup((const struct task_struct *)arguments[0], 1);
}

SEC("tp_btf/sys_enter")
int call(__u64 *arguments) {
    __u64 number = arguments[1];
    int accepts = number == accept_calls[0] || number == accept_calls[1];
    if ((number != send_call && !accepts) || !is_watched())
        return 0;
    __u32 task = (__u32)bpf_get_current_pid_tgid();
    __u64 now = accepts ? 0 : bpf_ktime_get_ns();
    bpf_map_update_elem(&calls, &task, &now, 0);
    return 0;
}

/* An IPv4 address also as the last word of an IPv6 address. */
static __always_inline __u64 client_of(const struct sock_common *socket, int is_client) {
    enum { IPV6 = 10, LAST = 3 };
    __be32 v4 = is_client ? BPF_CORE_READ(socket, skc_rcv_saddr) : BPF_CORE_READ(socket, skc_daddr);
    __be32 v6 = is_client ? BPF_CORE_READ(socket, skc_v6_rcv_saddr.in6_u.u6_addr32[LAST])
                          : BPF_CORE_READ(socket, skc_v6_daddr.in6_u.u6_addr32[LAST]);
    __u16 its_port =
        is_client ? BPF_CORE_READ(socket, skc_num) : bpf_ntohs(BPF_CORE_READ(socket, skc_dport));
    return (__u64)(BPF_CORE_READ(socket, skc_family) == IPV6 ? v6 : v4) << 16 | its_port;
}

static __always_inline int on_socket(const struct sock *sock, enum trace_kind kind, __u32 length) {
    const struct sock_common *socket = &sock->__sk_common;
    int is_client = BPF_CORE_READ(socket, skc_dport) == bpf_htons(port);
    if (!is_client && BPF_CORE_READ(socket, skc_num) != port)
        return 0;
    struct trace_event *found = event(kind);
    if (found == 0)
        return 0;
    found->socket = (__u64)sock;
    found->client = client_of(socket, is_client);
    found->length = length;
    found->flag = (__u8)is_client;
    __u32 task = (__u32)found->task;
    __u64 *began = kind == TRACE_SENT ? bpf_map_lookup_elem(&calls, &task) : 0;
    if (began != 0 && *began != 0) {
        found->began = *began;
        bpf_map_delete_elem(&calls, &task);
    }
    bpf_ringbuf_submit(found, BPF_RB_NO_WAKEUP);
    return 0;
}

SEC("tp_btf/inet_sock_set_state")
int state(__u64 *arguments) {
    if ((int)arguments[2] != TCP_SYN_SENT)
        return 0;
    return on_socket((const struct sock *)arguments[0], TRACE_CONNECTED, 0);
}

SEC("tp_btf/tcp_probe")
int reached(__u64 *arguments) {
    const struct sk_buff *packet = (const struct sk_buff *)arguments[1];
    enum { WORDS_AT = 12, WORD = 4 }; /* of the header: where its length in words is */
    __u8 words = 0;
    bpf_probe_read_kernel(&words, sizeof words, packet->data + WORDS_AT);
    __u32 header = (__u32)(words >> 4) * WORD;
    if (packet->len <= header)
        return 0;
    return on_socket((const struct sock *)arguments[0], TRACE_REACHED, packet->len - header);
}

SEC("tp_btf/sock_send_length")
int sent(__u64 *arguments) {
    int length = (int)arguments[1];
    return length > 0 ? on_socket((const struct sock *)arguments[0], TRACE_SENT, (__u32)length) : 0;
}

SEC("tp_btf/sock_recv_length")
int received(__u64 *arguments) {
    enum { MSG_PEEK = 2 };
    int length = (int)arguments[1];
    if (length <= 0 || (arguments[2] & MSG_PEEK))
        return 0;
    return on_socket((const struct sock *)arguments[0], TRACE_RECEIVED, (__u32)length);
}

/* Of accept: the socket behind the descriptor that it returns. */
SEC("tp_btf/sys_exit")
int returned(__u64 *arguments) {
    if (!is_watched())
        return 0;
    __u32 task = (__u32)bpf_get_current_pid_tgid();
    const __u64 *began = bpf_map_lookup_elem(&calls, &task);
    if (began == 0 || *began != 0)
        return 0;
    bpf_map_delete_elem(&calls, &task);
    __s64 descriptor = (__s64)arguments[1];
    const struct task_struct *self = (const struct task_struct *)bpf_get_current_task();
    struct fdtable *table = BPF_CORE_READ(self, files, fdt);
    if (descriptor < 0 || descriptor >= BPF_CORE_READ(table, max_fds))
        return 0;
    struct file **files = BPF_CORE_READ(table, fd), *file = 0;
    bpf_probe_read_kernel(&file, sizeof file, files + descriptor);
    struct socket *socket = BPF_CORE_READ(file, private_data);
    struct sock *sock = BPF_CORE_READ(socket, sk);
    return sock != 0 ? on_socket(sock, TRACE_ACCEPTED, 0) : 0;
}
