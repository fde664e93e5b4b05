"""A study: a TOML file that says which cells are raced, and how often.

The whole file is checked before anything starts. Each error names the key and its valid values.
"""

from regatta.ledger.inputs.claim import Claim
from regatta.study.baseline import BaselineTable
from regatta.study.claims.sources import Source
from regatta.study.contender import Contender
from regatta.study.cpus import cpus_option
from regatta.study.find import find_study, shipped_names
from regatta.study.limits import MAX_BLOCKS, MAX_SEED, MAX_SITTINGS, PLACEMENTS, STEERINGS
from regatta.study.matched import with_rates
from regatta.study.parse import Study, leave_out, load_study, parse_study
from regatta.study.pause import parse_pause
from regatta.study.quick import cut_blocks
from regatta.study.toml_table import suggestion

__all__ = [
    "MAX_BLOCKS",
    "MAX_SEED",
    "MAX_SITTINGS",
    "PLACEMENTS",
    "STEERINGS",
    "BaselineTable",
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
    "shipped_names",
    "suggestion",
    "with_rates",
]
