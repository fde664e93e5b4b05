"""Under the work `scan` designs share a cache that not all of them can use."""

from regatta.analysis.results import Analysis

SAYS = (
    "Under the work {works} designs share a cache: the server keeps descriptors and what it read "
    "through them between requests, and the children of fork-per-client cannot use them. The work "
    "classic keeps nothing."
)


def shared_cache_sentence(analysis: Analysis) -> str:
    """Empty unless designs are compared under such a work; a contender's work is its own."""
    known = analysis.environment.get("designs")
    designs = known if isinstance(known, dict) else {}
    raced: dict[str, set[str]] = {}
    for cell in (result.cell for group in analysis.groups for result in group.cells):
        if cell.work.startswith("scan") and cell.contender in designs:
            raced.setdefault(cell.work, set()).add(cell.contender)
    works = sorted(work for work, names in raced.items() if len(names) > 1)
    return SAYS.format(works=" and ".join(works)) if works else ""
