"""Runs the `regatta` command for `python -m regatta`."""

from regatta.cli.main import main

if __name__ == "__main__":
    main()
