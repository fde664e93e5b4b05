"""What perf stat would print of these figures: by its format, in the way of a locale."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Locale:
    point: str
    gap: str
    indian: bool = False

    def whole(self, value: int) -> str:
        digits = str(value)
        if not self.gap:
            return digits
        head, tail = digits[:-3], digits[-3:]
        size, groups = (2 if self.indian else 3), [tail]
        while head:
            head, group = head[:-size], head[-size:]
            groups.insert(0, group)
        return self.gap.join(groups)

    def decimal(self, value: float, decimals: int) -> str:
        return f"{value:.{decimals}f}".replace(".", self.point)


LOCALES = {
    "C": Locale(".", ""),
    "en_US": Locale(".", ","),
    "en_IN": Locale(".", ",", indian=True),
    "de_DE": Locale(",", "."),
    "fr_FR": Locale(",", "\u202f"),
    "de_CH": Locale(".", "\u2019"),
    "fa_IR": Locale("\u066b", "\u066c"),
}
COUNTS = {
    "context_switches": "context-switches",
    "cpu_migrations": "cpu-migrations",
    "page_faults": "page-faults",
    "cycles": "cycles",
    "stalled_cycles_frontend": "stalled-cycles-frontend",
    "stalled_cycles_backend": "stalled-cycles-backend",
    "instructions": "instructions",
    "branches": "branches",
    "branch_misses": "branch-misses",
    "cache_references": "cache-references",
    "cache_misses": "cache-misses",
}
SHARES = {
    "branch_misses": ("branches", "of all branches"),
    "cache_misses": ("cache_references", "of all cache refs"),
    "stalled_cycles_frontend": ("cycles", "frontend cycles idle"),
    "stalled_cycles_backend": ("cycles", "backend cycles idle"),
}
TIMES = {"elapsed_s": "time elapsed", "user_s": "user", "system_s": "sys"}


def perf_text(
    figures: Mapping[str, float],
    locale: Locale = LOCALES["C"],
    command: str = "./server",
    running: str = "",
    replaced: Mapping[str, str] | None = None,
) -> str:
    """`figures`: task_clock_ms, elapsed_s and counts. `replaced`: what stands after # instead."""
    lines = [f"\n Performance counter stats for '{command}':\n"]
    lines += event_lines(figures, locale, running, replaced or {})
    lines.append("")
    for name, words in TIMES.items():
        if name in figures:
            lines.append(f"  {locale.decimal(figures[name], 9)} seconds {words}")
    return "\n".join(lines) + "\n"


def event_lines(
    figures: Mapping[str, float], locale: Locale, running: str, metrics: Mapping[str, str]
) -> list[str]:
    lines = []
    task_s, elapsed = figures["task_clock_ms"] / 1e3, figures["elapsed_s"]
    clock = locale.decimal(figures["task_clock_ms"], 2)
    used = f"{locale.decimal(task_s / elapsed, 3)} CPUs utilized"
    lines.append(f"  {clock} msec task-clock   #  {metrics.get('task_clock_ms', used)}")
    for name, event in COUNTS.items():
        if name in figures:
            metric = metrics.get(name) or metric_of(name, figures, task_s, locale)
            lines.append(
                f"  {locale.whole(int(figures[name]))}      {event}   #  {metric}  {running}"
            )
    return lines


def metric_of(name: str, figures: Mapping[str, float], task_s: float, locale: Locale) -> str:
    """As perf chooses it, and rounds it."""
    value = figures[name]
    if name == "cycles":
        return f"{locale.decimal(value / task_s / 1e9, 3)} GHz"
    if name == "instructions" and figures.get("cycles"):
        return f"{locale.decimal(value / figures['cycles'], 2)}  insn per cycle"
    whole, words = SHARES.get(name, ("", ""))
    if figures.get(whole):
        return f"{locale.decimal(value / figures[whole] * 100, 2)}% {words}"
    rate, letters = value / task_s, " KMG"
    size = next((step for step in range(3) if rate < 1000 ** (step + 1)), 3)
    return f"{locale.decimal(rate / 1000**size, 3)} {letters[size].strip()}/sec"
