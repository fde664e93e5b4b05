"""Sampled stacks, as `perf script` of Linux 6.18 printed them, and what a CPU does by them."""

import pytest

from regatta.errors import LedgerError
from regatta.judge.activity import activity
from regatta.measure.accounts.stacks import stacks
from regatta.record.recordings import pack_stacks, unpack_stacks

SERVER = 700
TIMER = "asm_sysvec_apic_timer_interrupt sysvec_apic_timer_interrupt"
CALL = "entry_SYSCALL_64_after_hwframe do_syscall_64"
SOFTIRQ = "__local_bh_enable_ip do_softirq.part.0 handle_softirqs net_rx_action"


def sample(outermost_first: str, pid: int = SERVER, thread: str = "a server") -> str:
    """Words are functions of the kernel; those with a file in brackets are of it."""
    frames = []
    for word in outermost_first.split():
        name, _, file = word.rpartition("[") if word[-1] == "]" else (word, "", "")
        frames.append(f"\tffffffff8100 {name} ({file.rstrip(']') or '[kernel.kallsyms]'})")
    return "\n".join([f"{thread} {pid} ", *reversed(frames), ""])


def fork(child: int, parent: int) -> str:
    return f"some name {parent} PERF_RECORD_FORK({child}:{child}):({parent}:{parent})"


def read(*lines: str) -> list[str]:
    return list(stacks("\n".join(lines) + "\n", SERVER))


def told(*lines: str) -> list[str]:
    return [activity(stack) for stack in read(*lines)]


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        ("main[/bin/a] parse[/bin/a]", "user code;a;parse"),
        (
            "operator new(unsigned long)[/lib/x]".replace(" ", "_"),
            "user code;x;operator_new(unsigned_long)",
        ),
        (f"main[/bin/a] send[libc] {CALL} __x64_sys_sendto tcp_sendmsg", "system calls;sendto"),
        # The outermost tells: what a call does on the way belongs to it.
        (f"{CALL} __x64_sys_recvfrom copy_to_user asm_exc_page_fault", "system calls;recvfrom"),
        (f"{CALL} __x64_sys_epoll_wait do_epoll_wait schedule", "system calls;epoll_wait"),
        ("a[/bin/a] asm_exc_page_fault exc_page_fault clear_page_erms", "page faults"),
        # Packets are nobody's call: they come when a softirq runs, here within a send.
        (f"{CALL} __x64_sys_sendto {SOFTIRQ} ip_rcv tcp_v4_rcv tcp_ack", "packets received;tcp"),
        (f"{CALL} __x64_sys_sendto {SOFTIRQ} __netif_receive_skb ip_rcv", "packets received;ip"),
        (f"cpu_startup_entry {TIMER} {SOFTIRQ}", "packets received;device"),
        # Calls whose wrappers have no frame.
        (f"{CALL} __sys_sendmsg ___sys_sendmsg", "system calls;sendmsg"),
        (f"{CALL} ksys_read vfs_read", "system calls;read"),
        (f"{CALL} kernel_wait4 do_wait", "end of tasks;wait4"),
        (f"{CALL} __do_sys_clone kernel_clone copy_process", "start of tasks;clone"),
        ("ret_from_fork_asm ret_from_fork schedule_tail", "start of tasks;first run"),
        (f"{CALL} __x64_sys_exit_group do_group_exit do_exit mmput", "end of tasks;exit_group"),
        (f"{CALL} __x64_sys_wait4 kernel_wait4", "end of tasks;wait4"),
        ("irqentry_exit arch_do_signal_or_restart get_signal do_exit", "end of tasks;exit"),
        (f"a[/bin/a] {TIMER}", "interrupts and timers;timers"),
        # A softirq that has only begun: the clock ticked before, while interrupts were off.
        (f"a[/bin/a] {TIMER} __irq_exit_rcu handle_softirqs", "interrupts and timers;timers"),
        (f"{CALL} __x64_sys_sendto __local_bh_enable_ip handle_softirqs", "system calls;sendto"),
        (
            f"{CALL} __x64_sys_close {SOFTIRQ.replace('net_rx_action', 'rcu_core')}",
            "interrupts and timers;freeing memory (RCU)",
        ),
        (f"a[/bin/a] {TIMER} irqentry_exit_to_user_mode schedule __schedule", "scheduling"),
        (f"a[/bin/a] {CALL} syscall_exit_to_user_mode schedule", "scheduling"),
        (f"a[/bin/a] {CALL} syscall_exit_to_user_mode", "system calls;entry and exit"),
        ("ret_from_fork_asm ret_from_fork io_wq_worker", "system calls;io_uring threads"),
        (f"{CALL} exit_to_user_mode_loop task_work_run ____fput", "system calls;deferred work"),
    ],
)
def test_a_stack_of_the_server(stack: str, expected: str) -> None:
    assert told(sample(stack)) == [expected]


def test_a_stack_is_folded_and_packed_for_the_ledger() -> None:
    found = read(sample(f"main[/bin/a] send[/lib/libc.so.6] {CALL} tcp_sendmsg", thread="a b"))
    in_kernel = "entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];tcp_sendmsg_[k]"
    assert found == [f"a b;main (a);send (libc.so.6);{in_kernel}"]
    spent = {found[0]: 17, "idle": 2_006_018}
    assert unpack_stacks(pack_stacks(spent)) == spent
    with pytest.raises(LedgerError, match="stacks cannot be unpacked"):
        unpack_stacks(b"x")


def test_callers_without_names_are_one() -> None:
    nameless = "[unknown][/bin/a]"
    assert read(sample(f"{nameless} {nameless} f[/bin/a] f[/bin/a] {nameless}")) == [
        "a server;[unknown] (a);f (a);f (a);[unknown] (a)"
    ]


def test_a_task_that_has_no_number_any_more_is_the_servers() -> None:
    """As the kernel frees it: its process, or only its thread, is unknown."""
    end = f"{CALL} __x64_sys_exit do_exit release_task"
    for pid in (-1, SERVER):
        assert told(sample(end, pid=pid, thread=":-1")) == ["end of tasks;exit"]


def test_a_thread_may_have_any_name() -> None:
    assert told(sample("main[/bin/a]", thread="idle")) == ["user code;a;main"]
    assert told(sample("main[/bin/a]", thread="other programs")) == ["user code;a;main"]


def test_nothing_runs() -> None:
    idle = "cpu_startup_entry do_idle default_idle"
    assert told(sample(f"{idle} {TIMER}", pid=0, thread="swapper")) == ["idle"]
    woken = sample(f"{idle} {TIMER} __irq_exit_rcu handle_softirqs", pid=0, thread="swapper")
    assert told(woken) == ["idle"]
    packets = sample(f"{idle} {TIMER} {SOFTIRQ}", pid=0, thread="swapper")
    assert told(packets) == ["packets received;device"]


def test_threads_of_the_kernel_work_for_everybody() -> None:
    stack = "ret_from_fork_asm ret_from_fork kthread worker_thread"
    assert told(sample(stack, pid=9, thread="kworker/0:1-events")) == ["kernel threads;kworker"]


def test_what_other_programs_do_is_not_the_servers() -> None:
    code = "main[/bin/b] work[/bin/b]"
    assert told(sample(code, pid=900, thread=":899 900")) == ["other programs"]
    assert told(sample(f"{CALL} {SOFTIRQ}", pid=900)) == ["packets received;device"]
    nameless = sample(code, pid=900, thread=":900")
    assert read(nameless) == ["other programs;[unknown];main (b);work (b)"]


def test_children_are_known_by_their_forks() -> None:
    """Of a process that perf found when it began, and of one that was forked since."""
    code = "main[/bin/a] work[/bin/a]"
    found = told(
        fork(SERVER, 1),
        fork(701, SERVER),
        sample(code, pid=701),
        fork(702, 701),
        sample(code, pid=702),
        fork(703, 1),
        sample(code, pid=703),
    )
    assert found == ["user code;a;work", "user code;a;work", "other programs"]


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (
            "7f00 LazyCompile:~f /app.js:1 (/tmp/perf-99.map)",
            "generated code;LazyCompile:~f /app.js:1",
        ),
        ("7f00 [unknown] (/memfd:jit-1 (deleted))", "generated code;[unknown]"),
        ("7f00 [unknown] ([JIT] tid 99)", "generated code;[unknown]"),
        ("7f00 f(void (*)(int)) (/usr/bin/a (deleted))", "a;f(void (*)(int))"),
        (
            "7f00 std::function<void (int)>::operator() (/lib/x.so.6)",
            "x.so.6;std::function<void (int)>::operator()",
        ),
    ],
)
def test_code_in_files_that_perf_names_its_own_way(frame: str, expected: str) -> None:
    assert told(f"a server {SERVER} ", f"\t    {frame}", "") == [f"user code;{expected}"]


def test_a_stack_without_frames_and_a_path_with_a_semicolon() -> None:
    assert told(f"a {SERVER} ", "") == ["user code;[unknown];[unknown]"]
    assert told(sample("a;b[/x;y]")) == ["user code;x,y;a,b"]
