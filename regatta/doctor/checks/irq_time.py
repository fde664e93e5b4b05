"""Interrupts: to whom is the time charged in which the kernel receives what arrives?"""

from __future__ import annotations

from regatta.doctor.activity import Activity
from regatta.doctor.finding import FINE, MINOR, UNKNOWN, Finding, Situation
from regatta.doctor.machine import Machine
from regatta.machine import kernel_config

NAME = "irq-time"
MATTERS = (
    "The kernel receives packets in interrupts. What they take is charged to the program that they "
    "interrupt, and to nobody where they find the CPU asleep; with IRQ_TIME_ACCOUNTING never to "
    "anybody. The report's second account, CPU busy per request, has all of it."
)


def look(machine: Machine, situation: Situation, activity: Activity) -> Finding:
    del situation, activity
    apart = kernel_config.irq_time_accounting(machine.root)
    if apart is None:
        return Finding(
            NAME,
            UNKNOWN,
            "the kernel does not tell whether time in interrupts is charged to anybody",
            MATTERS,
            advice="Look: grep IRQ_TIME_ACCOUNTING /boot/config-$(uname -r)",
        )
    if apart:
        return Finding(
            NAME,
            MINOR,
            "the kernel was built to charge time in interrupts to nobody (IRQ_TIME_ACCOUNTING): "
            "where its clock is stable server CPU lacks what it does to receive",
            MATTERS,
            advice="Read CPU busy per request beside it; on x86 a boot with tsc=noirqtime has it "
            "charged to whatever is interrupted.",
        )
    return Finding(
        NAME, FINE, "time in interrupts is charged to the program that they interrupt", MATTERS
    )
