"""Write a working one-file family and its test, to be changed into your own."""

from __future__ import annotations

import argparse
import keyword
import re
import sys
from importlib.resources import files
from pathlib import Path
from string import Template

from steelyard.errors import InputError, RefusedError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `steelyard new`."""
    parser.add_argument("name", metavar="NAME", help="the family's name: letters, digits, - and _")
    parser.add_argument("--out", type=Path, default=Path(), help="folder to write into (default: here)")


def run(args: argparse.Namespace) -> int:
    """Write NAME.py and test_NAME.py; never over a file that exists."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", args.name):
        raise InputError(f'a family name starts with a letter and has letters, digits, - and _, got "{args.name}"')
    module = args.name.replace("-", "_")
    # A file of such a name cannot be imported, or hides the module that the family or its test imports.
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or module in ("steelyard", "pytest"):
        raise InputError(f'"{module}" is a word or a module of Python or Steelyard; choose another name')
    words = {
        "name": args.name,
        "module": module,
        "title": args.name.replace("-", " ").replace("_", " ").capitalize(),
    }
    written = {args.out / f"{module}.py": "family.py.txt", args.out / f"test_{module}.py": "test_family.py.txt"}
    for path in written:
        if path.exists():
            raise RefusedError(f"{path} already exists; choose another name or remove it")
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        for path, template in written.items():
            text = (files("steelyard") / "templates" / template).read_text(encoding="utf-8")
            path.write_text(Template(text).substitute(words), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write to {args.out}: {error.strerror}") from error
    print("wrote " + " and ".join(map(str, written)))
    print(f"next: steelyard prove ./{args.out / module}.py")
    return 0
