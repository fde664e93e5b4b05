"""The token of the servers under test, and the file that holds it."""

from pathlib import Path

TOKEN = "correct-horse-battery-staple"


def token_file(folder: Path, text: str = f"{TOKEN}\n", mode: int = 0o600) -> Path:
    path = folder / "token"
    path.write_text(text)
    path.chmod(mode)
    return path
