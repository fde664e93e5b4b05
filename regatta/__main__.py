"""Runs the `regatta` command for `python -m regatta`."""

from regatta.verbs.main import main

if __name__ == "__main__":
    main()
