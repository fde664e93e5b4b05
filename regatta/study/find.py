"""Finds a study: a path, or the bare name of one that ships with the project."""

from pathlib import Path

from regatta.errors import StudyError
from regatta.study.limits import NAME_PATTERN


def shipped_folders() -> list[Path]:
    """Where the studies of the project lie: in an installed package, or in the repository."""
    package = Path(__file__).resolve().parents[1]
    return [package / "studies", package.parent / "studies"]


def shipped_names() -> list[str]:
    found = {path.stem for folder in shipped_folders() for path in folder.glob("*.toml")}
    return sorted(found)


def find_study(name: str) -> Path:
    """A path, or the bare name of a study that ships with the project."""
    path = Path(name)
    if path.is_file():
        return path
    if NAME_PATTERN.fullmatch(name):
        for folder in shipped_folders():
            shipped = folder / f"{name.removesuffix('.toml')}.toml"
            if shipped.is_file():
                return shipped
    shipped_list = ", ".join(shipped_names()) or "none"
    raise StudyError(f"there is no study {name}; name a TOML file, or one of: {shipped_list}")
