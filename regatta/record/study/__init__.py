"""A study: a TOML file that says which cells are raced, and how often.

The whole file is checked before anything starts. Each error names the key and its valid values.
"""

from regatta.record.cell import with_rates
from regatta.record.inputs import Claim
from regatta.record.study.claims import Source
from regatta.record.study.contender import Contender
from regatta.record.study.cpus import cpus_option
from regatta.record.study.find import find_study
from regatta.record.study.keys import suggestion
from regatta.record.study.parse import Study, cut_blocks, leave_out, load_study, parse_study
from regatta.record.study.race import parse_pause

__all__ = [
    "Claim",
    "Contender",
    "Source",
    "Study",
    "cpus_option",
    "cut_blocks",
    "find_study",
    "leave_out",
    "load_study",
    "parse_pause",
    "parse_study",
    "suggestion",
    "with_rates",
]
