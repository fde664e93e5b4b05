"""`python -m regatta`: the same as `regatta`."""

from regatta.cli.main import main

if __name__ == "__main__":
    main()
