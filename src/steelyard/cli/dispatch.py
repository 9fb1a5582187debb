"""Find a command, parse its arguments, call it, and turn an error into one line and exit code 2."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Mapping

from steelyard.errors import InputError, SteelyardError, did_you_mean


def dispatch(arguments: list[str], commands: Mapping[str, str]) -> int:
    """Run one command line; `commands` are the built-in names."""
    debug = "--debug" in arguments
    arguments = [a for a in arguments if a != "--debug"]
    try:
        return _call(arguments, commands)
    except SteelyardError as error:
        if debug:
            traceback.print_exc()
        print(f"steelyard: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("steelyard: interrupted", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output left, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except Exception as error:  # noqa: BLE001 - the last door: a fault of ours is one line too, and exit code 2
        if debug:
            traceback.print_exc()
        said = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
        print(f"steelyard: internal error: {said}; --debug shows where, please report it", file=sys.stderr)
        return 2


def _call(arguments: list[str], commands: Mapping[str, str]) -> int:
    if not arguments:
        raise InputError("name a command; see steelyard --help")
    name, rest = arguments[0], arguments[1:]
    if name in commands:
        module = importlib.import_module(f"steelyard.cli.{name}")
        parser = argparse.ArgumentParser(prog=f"steelyard {name}", description=module.__doc__)
        module.add_arguments(parser)
        handler: Callable[[argparse.Namespace], int] = module.run
        return handler(_parse(parser, rest))
    return _call_group(name, rest, commands)


def _call_group(name: str, rest: list[str], commands: Mapping[str, str]) -> int:
    from steelyard.plugins import command_groups  # scans installed packages, so only for names not built in

    groups = command_groups()
    if name not in groups:
        raise InputError(f'no command "{name}"{did_you_mean(name, [*commands, *groups])}')
    parser = argparse.ArgumentParser(prog=f"steelyard {name}")
    groups[name]()(parser)
    parsed = _parse(parser, rest)
    if not hasattr(parsed, "run"):
        parser.print_help()
        return 2
    handler: Callable[[argparse.Namespace], int] = parsed.run
    return handler(parsed)


def _parse(parser: argparse.ArgumentParser, rest: list[str]) -> argparse.Namespace:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    return parser.parse_args(rest)
