"""What one run is worth, seen in ten; and the race, which can be believed."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from regatta.analysis.analyse import analyse
from regatta.analysis.results import Analysis, Group
from regatta.lab import studies
from regatta.lab.draw import US, runs
from regatta.lab.kept import Kept, Picture
from regatta.lab.step import Desk, Step
from regatta.ledger.metrics import PRIMARY, side_of
from regatta.ledger.read import read
from regatta.ledger.schema import FILE_NAME
from regatta.report.charts.charts import far_rows, metric_chart, metric_rows
from regatta.report.files import write_files
from regatta.report.tables.against import ALIKE, relative_figures
from regatta.report.text.numbers import capitalized, interval_of, plural, short, value_of
from regatta.report.text.table import Table
from regatta.report.text.trials import disturbed_sentence
from regatta.report.text.verdicts import LEGEND, mark, verdict_sentence

SINGLE_RUNS, RACE = "single-runs", "race"
"""The folders of their ledgers; their studies lie beside these."""
Runs = dict[str, Mapping[int, float]]
"""Server CPU per request in µs, by design and block."""


def study_file(name: str) -> str:
    return f"{name}.toml"


def raced(desk: Desk, name: str) -> Analysis:
    return analyse(read(desk.path(name) / FILE_NAME))


def by_run(group: Group) -> Runs:
    """Of each contender its figure in each block; empty where no trial of it went well."""
    return {result.cell.contender: result.blocks.get(PRIMARY.name, {}) for result in group.cells}


def winners(values: Runs) -> dict[str, int]:
    """In how many of the blocks that all have each used the least, or as little as another."""
    known = [set(blocks) for blocks in values.values()]
    common = set.intersection(*known) if known else set()
    won = dict.fromkeys(values, 0)
    for block in common:
        smallest = min(blocks[block] for blocks in values.values())
        for name, blocks in values.items():
            won[name] += blocks[block] == smallest
    return won


class Racing(Step):
    """Races one of the lab's two studies."""

    @abstractmethod
    def study(self, desk: Desk) -> str:
        """Its text."""

    def files(self, desk: Desk) -> Sequence[str]:
        del desk
        return (study_file(self.name), self.name)

    def run(self, desk: Desk) -> None:
        text = self.study(desk)
        desk.path(study_file(self.name)).write_text(text, encoding="utf-8")
        desk.race(text, desk.path(self.name))


class RunTenTimes(Racing):
    name = SINGLE_RUNS
    title = "Ten single runs"
    text = (
        "One run of each design gave a table. Would the next run give the same? Now the lab does "
        "ten times what you did by hand: each time every design once, in a random order, counted "
        "from its start to its end.",
        "Each of the ten is what one student, or one report, would have found.",
    )
    questions = (
        "How often did the winner of your first table win? How often would chance alone have let "
        "it win?",
        "Ten groups each publish one of these runs. How many of their reports contradict another?",
    )
    rests_on = ("guess",)

    def study(self, desk: Desk) -> str:
        return studies.single_runs(desk.setting)

    def keep(self, desk: Desk) -> Kept:
        group = raced(desk, self.name).groups[0]
        values = by_run(group)
        won = winners(values)
        count = max((len(blocks) for blocks in values.values()), default=0)
        often = ", ".join(f"{name} {times}" for name, times in won.items())
        said = f"Least server CPU in so many of {plural(count, 'single run')}: {often}."
        table = Table(
            title="Each run by itself",
            says=f"Server CPU per request, {PRIMARY.unit}, of whole processes; * least of its run.",
            header=["run", *values],
            rows=[run_row(number, values) for number in range(1, count + 1)],
        )
        title = "Ten single runs of each design"
        says = "Lines that cross: the runs disagree about the order."
        picture = Picture(self.name, title, says, runs(values, US))
        return Kept(said=(said,), tables=(table,), pictures=(picture,))


def run_row(number: int, values: Runs) -> list[str]:
    known = [blocks[number] for blocks in values.values() if number in blocks]
    figures = (blocks.get(number) for blocks in values.values())
    return [str(number), *(run_figure(value, min(known, default=0.0)) for value in figures)]


def run_figure(value: float | None, least: float) -> str:
    if value is None:
        return "failed"
    # The star stands first: behind it the figures would not end below one another.
    return f"* {short(value)}" if value == least else short(value)


class RaceThem(Racing):
    name = RACE
    title = "The race"
    text = (
        "Now the same question, asked so that it can be answered. Only the load is measured, on "
        "servers that are warm; every block has every design once, in a fresh random order; "
        "designs are compared within blocks, so that what the machine does meanwhile hits all "
        "alike; and each figure comes with an interval.",
        "A star says that a difference is more than noise: ★ for a winner, ☆ where several may be "
        "the best.",
        "An interval of CPU per request is wider than the usual one, Student's t: a slow block "
        "mostly has slow neighbours, so that ten say less than ten independent ones. In a ratio "
        "within blocks that cancels.",
    )
    questions = (
        "What does the interval of a ratio say, and what does one mean that holds 1?",
        "Which sentence would you now put into a report? Compare it with your first.",
    )
    rests_on = ("guess",)

    def study(self, desk: Desk) -> str:
        return studies.whole_race(desk.setting)

    def keep(self, desk: Desk) -> Kept:
        analysis = raced(desk, self.name)
        write_files(analysis, desk.path(self.name))
        group = analysis.groups[0]
        title = f"Server CPU per request in {plural(group.overall.blocks, 'block')}"
        pictures: tuple[Picture, ...] = ()
        if drawn := metric_rows(group, PRIMARY, side_of(PRIMARY)):
            far = far_rows(analysis, group, PRIMARY, side_of(PRIMARY))
            spec = metric_chart(analysis, group, PRIMARY, drawn, far)
            says = "Bars are 95 % intervals."
            pictures = (Picture(self.name, title, says, spec),)
        more = f"All of it is in {desk.path(self.name) / 'report.html'}."
        return Kept(
            said=(verdict_sentence(group, group.overall), *notes_of(analysis), more),
            tables=(race_table(title, group),),
            pictures=pictures,
        )


def race_table(title: str, group: Group) -> Table:
    step, verdict = group.steps[0], group.overall
    relative = relative_figures(group, step)
    rows = []
    for result in group.at(step):
        name = result.cell.contender
        estimate = result.estimates[side_of(PRIMARY), PRIMARY.name]
        against = relative.get((name, PRIMARY.name))
        rows.append(
            [
                f"{name} {mark(verdict, name)}".strip(),
                value_of(estimate),
                interval_of(estimate),
                alike_first(against.value) if against else "",
                against.interval if against else "",
            ]
        )
    header = ["design", f"CPU per request, {PRIMARY.unit}", "95 % interval"]
    says = f"{LEGEND} {ALIKE} not distinguishable from the best."
    return Table(title, says, [*header, "times the best", "its interval"], rows)


def alike_first(figure: str) -> str:
    """Figures end below one another only where nothing stands behind them."""
    bare = figure.removesuffix(ALIKE).strip()
    return f"{ALIKE} {bare}" if figure.endswith(ALIKE) else bare


def notes_of(analysis: Analysis) -> list[str]:
    """What of the machine held the race back, as its ledger says it."""
    environment = analysis.environment
    placement = environment.get("placement")
    found = [placement.get("note") if isinstance(placement, dict) else None]
    found.append(environment.get("perf_note"))
    said = [f"{capitalized(str(note))}." for note in found if note]
    disturbed = disturbed_sentence(analysis)
    return [*said, disturbed] if disturbed else said
