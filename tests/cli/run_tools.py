"""What the tests of the command share: quick settings, and the command in a process that has imported all it needs."""

import io
import os
import sys

from frugalboost.cli import main

QUICK = ["--trees", "20", "--points", "5", "--splits", "2", "--depth", "2"]


def select(*arguments):
    return main(["select", *arguments, *QUICK])


def start(arguments, stdin=os.devnull, stdout=os.devnull, stderr=os.devnull):
    """Start the command in a fork of this process: to start Python and import everything takes two seconds.

    A stream is a number, the name of a file, or None where it is closed. Returns the process's number.
    """
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        _connect(stdin, stdout, stderr)
        sys.argv = ["frugalboost", *arguments]
        code = main()
        for stream in (sys.stdout, sys.stderr):  # as Python does at its end; what fails there is told and makes it 120
            stream.flush()
    except OSError as error:
        os.write(2, f"Exception ignored: {error}\n".encode())
        code = 120
    finally:
        os._exit(code)


def _connect(*streams):
    """Give this process its standard streams, as Python makes them at its start."""
    for number, (name, given) in enumerate(zip(("stdin", "stdout", "stderr"), streams, strict=True)):
        mode = "r" if number == 0 else "w"
        if given is None:
            os.close(number)
            setattr(sys, name, None)
            continue
        opened = os.open(given, os.O_RDONLY if number == 0 else os.O_WRONLY) if isinstance(given, str) else given
        os.dup2(opened, number)
        raw = io.FileIO(number, mode, closefd=False)
        buffered = io.BufferedReader(raw) if number == 0 else io.BufferedWriter(raw)
        setattr(sys, name, io.TextIOWrapper(buffered, encoding="utf-8", line_buffering=name == "stderr"))


def ended(child):
    """Wait for it, and return its exit code; that of a process that was killed is negative."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(arguments, **streams):
    """Run the command in a fork; returns its exit code and what it wrote, unless the streams go elsewhere."""
    texts, places = {}, {}
    for name in ("stdout", "stderr"):
        if name not in streams:
            texts[name], places[name] = os.pipe()
    child = start(arguments, **streams, **places)
    for place in places.values():
        os.close(place)
    said = {name: open(number, encoding="utf-8").read() for name, number in texts.items()}  # noqa: SIM115
    return ended(child), said.get("stdout", ""), said.get("stderr", "")
