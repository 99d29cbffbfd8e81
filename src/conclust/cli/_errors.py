"""What a command says when the input is at fault."""

import contextlib
from collections.abc import Iterator

import click


class BadInput(click.ClickException):
    """One or two lines on stderr and exit code 2."""

    exit_code = 2


@contextlib.contextmanager
def about(what: str) -> Iterator[None]:
    """Turn a ValueError of the block, which is about the user's data, into a message."""
    from conclust.exceptions import ConclustError

    try:
        yield
    except ConclustError:
        raise
    except (ValueError, TypeError, MemoryError) as error:
        text = str(error).strip().split("\n")[0] or type(error).__name__
        raise BadInput(f"{what}: {text}") from error
