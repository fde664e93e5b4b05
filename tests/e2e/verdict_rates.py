"""How often verdicts on real servers are right: equal versions, and twice the threshold worse.

    .venv/bin/python -m tests.e2e.verdict_rates                       40 races of each, a day
    .venv/bin/python -m tests.e2e.verdict_rates --races 2 --of holds --budget 1min
    .venv/bin/python -m tests.e2e.verdict_rates --node --of cpu --planted 0 1   5 % in Node.js

Run it on a quiet machine, after `make`. Each race is `regatta versus --base --head` with the
default thresholds, or those of `--fail-over`. In turn head is equal to base, and twice the
threshold worse in one of what is judged. A line of CSV for each says what was planted and what came
out; the last lines say the shares. Status 1 if fewer than 95 % of what was planted in something is
found by its name, or more than 5 % of equals are called different in anything.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from regatta.judge.judged import BY_NAME, DEFAULT, Judged, thresholds
from tests.commands import run
from tests.e2e.racing import environment, regatta
from tests.e2e.toy_servers import NODE, build_toy, user_server, versions

SLOW = {"p50": ("waits", 20.0), "p99": ("sometimes", 20.0), "holds": ("blocks", 4.0)}
"""How a server is slow, and for how many ms its base is."""


def servers(toy: Path | str, judged: Judged, share: float) -> tuple[str, ...]:
    """A base, and a head that is worse by this share; 0: an equal."""
    if judged.name not in SLOW:
        return versions(toy, 100 * share)
    how, wait_ms = SLOW[judged.name]
    worse_ms = wait_ms * (1 + share if judged.more_is_worse else 1 / (1 - share))
    return ("--base", user_server(how, wait_ms), "--head", user_server(how, worse_ms))


def outcomes(folder: Path, words: tuple[str, ...], budget: str, seed: int) -> dict[str, str]:
    """By what is judged, and the seconds that it took."""
    begun_s = time.monotonic()
    out = folder / str(time.monotonic_ns())
    asked = ("versus", *words, "--budget", budget, "--seed", str(seed), "--quiet", "--json")
    command = regatta(*asked, "--out", str(out))
    done = run(*command, cwd=folder, env=environment(), timeout=1800)
    took = {"seconds": f"{time.monotonic() - begun_s:.0f}"}
    if done.returncode not in {0, 1, 3}:
        print(done.stderr.strip(), file=sys.stderr)
        return {**took, "all": "failed"}
    verdict = json.loads(done.stdout)["verdict"]
    ratios = {
        f"{load['judged']} ratio": "{value:.3f} ({low:.3f} to {high:.3f})".format(
            **load["head_over_base"]
        )
        for load in verdict["loads"]
    }
    return {**took, "all": verdict["outcome"], **verdict["outcomes"], **ratios}


def is_right(races: int, times: float, counts: Mapping[str, int]) -> bool:
    found = counts.get("regression", 0)
    return found >= 0.95 * races if times else found <= 0.05 * races


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--races", type=int, default=40)
    parser.add_argument("--node", action="store_true", help="cpu by a just-in-time compiler")
    parser.add_argument("--of", nargs="*", choices=BY_NAME, default=list(BY_NAME))
    parser.add_argument("--planted", nargs="*", type=float, default=[0.0, 2.0])
    parser.add_argument("--budget", default="5min")
    parser.add_argument("--connections", default="50")
    parser.add_argument("--fail-over", default=DEFAULT)
    given = parser.parse_args()
    if given.node and given.of != ["cpu"]:
        parser.error("--node takes a share of CPU: --of cpu")
    limits = thresholds(given.fail_over)
    found: dict[tuple[str, float], Counter[str]] = {}
    columns = ["seconds", "all", *BY_NAME, *(f"{name} ratio" for name in BY_NAME)]
    print(",".join(["judged", "times_the_threshold", *columns]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        toy = NODE if given.node else build_toy(folder)
        for number in range(given.races):
            for judged in (BY_NAME[name] for name in given.of):
                for times in given.planted:
                    words = servers(toy, judged, times * limits[judged.name])
                    words += ("--connections", given.connections, "--fail-over", given.fail_over)
                    how = outcomes(folder, words, given.budget, number)
                    # Of equals, on anything.
                    outcome = how.get(judged.name if times else "all", how["all"])
                    found.setdefault((judged.name, times), Counter())[outcome] += 1
                    shown = [judged.name, f"{times:g}", *(how.get(key, "") for key in columns)]
                    print(",".join(shown), flush=True)
    for (what, times), counts in found.items():
        shares = ", ".join(f"{how} {count} of {given.races}" for how, count in counts.items())
        print(f"{what}, {times:g} times the threshold: {shares}")
    return int(
        not all(is_right(given.races, times, counts) for (_, times), counts in found.items())
    )


if __name__ == "__main__":
    sys.exit(main())
