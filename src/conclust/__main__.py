"""``python -m conclust``."""

from conclust.cli import main

if __name__ == "__main__":
    main()
