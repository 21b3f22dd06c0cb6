"""``zarrix completion``: what makes a shell complete verbs, options and names inside stores."""

from __future__ import annotations

import argparse

from zarrix.cli._table import VERBS
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix completion bash",)
_BASH = """\
# zarrix: put this into ~/.bashrc:  source <(zarrix completion bash)
_zarrix() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" options=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{verbs}" -- "$word"))
        return
    fi
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
    if [[ "$word" == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    else
        local IFS=$'\n'
        COMPREPLY=($(zarrix __complete "$word" 2>/dev/null))
        [[ "${{COMPREPLY[0]}}" == */ ]] && compopt -o nospace 2>/dev/null
    fi
}}
complete -o filenames -F _zarrix zarrix"""
_ZSH = """\
#compdef zarrix
# zarrix: put this into ~/.zshrc:  source <(zarrix completion zsh)
_zarrix() {{
    local -a verbs options
    verbs=(
{verbs}
    )
    if (( CURRENT == 2 )); then
        _describe verb verbs
        return
    fi
    case "$words[2]" in
{cases}
    esac
    if [[ "$PREFIX" == -* ]]; then
        compadd -- $options
    else
        compadd -S '' -- ${{(f)"$(zarrix __complete "$PREFIX" 2>/dev/null)"}}
    fi
}}
compdef _zarrix zarrix"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell")


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print the script of a shell."""
    ui.say(globals()[f"_{arguments.shell}"]())
    return 0


def _options() -> dict[str, list[str]]:
    """The options of each verb."""
    # A circle otherwise: the module that finds verbs imports this one.
    from zarrix.cli._commands import parser_of

    return {
        verb: sorted(
            name for action in parser_of(verb)[0]._actions for name in action.option_strings
        )
        for verb in VERBS
    }


def _bash() -> str:
    cases = "\n".join(f'        {v}) options="{" ".join(o)}" ;;' for v, o in _options().items())
    return _BASH.format(verbs=" ".join(VERBS), cases=cases)


def _zsh() -> str:
    verbs = "\n".join(f"        {_quoted(f'{v}:{one.what}')}" for v, one in VERBS.items())
    cases = "\n".join(f"        {v}) options=({' '.join(o)}) ;;" for v, o in _options().items())
    return _ZSH.format(verbs=verbs, cases=cases)


def _fish() -> str:
    lines = ["# zarrix: zarrix completion fish > ~/.config/fish/completions/zarrix.fish"]
    for verb, one in VERBS.items():
        lines.append(
            f"complete -c zarrix -n __fish_use_subcommand -f -a {verb} -d {_quoted(one.what)}"
        )
    lines.append(
        "complete -c zarrix -n 'not __fish_use_subcommand' -f "
        "-a '(zarrix __complete (commandline -ct) 2>/dev/null)'"
    )
    for verb, options in _options().items():
        for name in options:
            kind = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
            lines.append(f"complete -c zarrix -n '__fish_seen_subcommand_from {verb}' {kind}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    escaped = text.replace("'", "'\\''")
    return f"'{escaped}'"
