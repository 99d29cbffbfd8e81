"""``conclust completion``: the shell completes commands and options."""

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    r"""Print the script that makes SHELL complete commands and options.

    \b
    eval "$(conclust completion bash)"          # in ~/.bashrc
    eval "$(conclust completion zsh)"           # in ~/.zshrc
    conclust completion fish > ~/.config/fish/completions/conclust.fish
    """
    from click.shell_completion import get_completion_class

    root = ctx.find_root().command
    complete = get_completion_class(shell)
    assert complete is not None
    click.echo(complete(root, {}, "conclust", "_CONCLUST_COMPLETE").source())
