"""Finds a study by its path, or by the name of one that ships with Regatta."""

from pathlib import Path

from regatta.errors import StudyError
from regatta.study.limits import NAME_PATTERN
from regatta.study.toml_table import suggestion


def shipped_folders() -> list[Path]:
    """The studies of an installed package, and those of the repository."""
    package = Path(__file__).resolve().parents[1]
    return [package / "studies", package.parent / "studies"]


def shipped_names() -> list[str]:
    found = {path.stem for folder in shipped_folders() for path in folder.glob("*.toml")}
    return sorted(found)


def find_study(name: str) -> Path:

    path = Path(name)
    if path.is_file():
        return path
    if NAME_PATTERN.fullmatch(name):
        for folder in shipped_folders():
            shipped = folder / f"{name.removesuffix('.toml')}.toml"
            if shipped.is_file():
                return shipped
    shipped_list = ", ".join(shipped_names()) or "none"
    like = suggestion(name, shipped_names())
    raise StudyError(f"there is no study {name}; name a TOML file, or one of: {shipped_list}{like}")
