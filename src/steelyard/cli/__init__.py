"""The command line: parse, call one public function, print. One file a command.

Exit codes: 0 good, 1 the evals say no, 2 the tool could not. An expected error is one line on stderr; `--debug` adds
the traceback.
Easy to break: `--help` in under 0.1 CPU-seconds. Only the table below is loaded for it; a command's module is
imported when that command is called, and installed packages are scanned only for a name that is not in the table.
"""

from __future__ import annotations

import sys

COMMANDS = {
    "new": "write a one-file family and its test",
    "families": "list installed families and the commands that they bring",
    "make": "make a suite from families",
    "prove": "prove that every item's verifier fails and passes as it should",
    "run": "run a suite against a model, judge and report",
    "judge": "judge a stored run again and list every flip",
    "report": "print a run's report",
    "compare": "is run B better than run A? and more than two, ranked",
    "size": "how many items a comparison needs, and what a number of items can show",
    "audit": "is my grader right? run labelled cases through it, or label a run's verdicts",
    "traces": "write a scripted expert's conversations as training examples",
    "models": "list, pull, serve and remove embedded models",
    "doctor": "what can this machine isolate? probe each sandbox with an honest and a hostile program",
    "image": "build and list the container images that the docker sandbox needs",
    "verifiers": "list verifiers with their settings and misses",
}


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_help())
        return 0 if arguments else 2
    if arguments[0] == "--version":
        from steelyard import __version__

        print(f"steelyard {__version__}")
        return 0
    from steelyard.cli.dispatch import dispatch

    return dispatch(arguments, COMMANDS)


def _help() -> str:
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {text}" for name, text in COMMANDS.items())
    return (
        "usage: steelyard COMMAND [options]\n\n"
        "Build, prove and run verifiable evaluation suites for language models and agents.\n\n"
        f"commands:\n{rows}\n\n"
        "Families may bring commands of their own: `steelyard families` lists them.\n"
        "`steelyard COMMAND --help` explains one; --json where a script would read it; --debug shows tracebacks."
    )
