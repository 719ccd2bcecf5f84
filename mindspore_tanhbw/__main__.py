"""The command line: mindspore-tanhbw, or python -m mindspore_tanhbw."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import argparse
import importlib.util
import json
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn, Optional

from ._version import __version__
from .bprop.primitives import primitives
from .commands import bench, check, doctor, train
from .commands.session import UserError, use_device, without_warnings

COMMANDS = (doctor, check, train, bench)


def main(arguments: Optional[list[str]] = None) -> int:
    """Run one command; 2 is the exit code of a user's mistake, which is told in one line."""
    options = _parser().parse_args(arguments)
    try:
        _refuse_unwritable("json", options.json)
        _refuse_plot(getattr(options, "plot", None))
        if options.run is not doctor.run:  # which must not need what it examines
            options.device = use_device(options.device)
            _ = primitives.tanh  # what it lacks, a cache for instance, is said now and not in the middle of a graph
        with without_warnings():
            passed, result = options.run(options)
        if options.json:
            options.json.write_text(json.dumps(result, indent=2) + "\n")
    except BrokenPipeError:  # whoever read our output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # also for what Python flushes at exit
        return 128 + signal.SIGPIPE
    except (UserError, OSError) as error:
        return _mistake(error)
    except RuntimeError as error:
        if not str(error).startswith("mindspore_tanhbw: "):
            raise
        return _mistake(error)
    except KeyboardInterrupt:
        return 130
    return 0 if passed else 1


def _mistake(error: Exception) -> int:
    text = str(error).replace("mindspore_tanhbw: ", "", 1)
    print(f"mindspore-tanhbw: {text}", file=sys.stderr)
    return 2


# Both before the work, which may be long.
def _refuse_unwritable(name: str, file: Optional[Path]) -> None:
    if file and (file.is_dir() or not os.access(file if file.exists() else file.absolute().parent, os.W_OK)):
        raise UserError(f"--{name} {file} cannot be written.")


def _refuse_plot(file: Optional[Path]) -> None:
    _refuse_unwritable("plot", file)
    if file and file.suffix not in (".svg", ".png", ".pdf"):
        raise UserError(f"--plot {file} must end in .svg, .png or .pdf.")
    if file and importlib.util.find_spec("matplotlib") is None:
        raise UserError("--plot needs matplotlib: pip install matplotlib.")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; --help shows the usage.\n")


def _parser() -> argparse.ArgumentParser:
    common = _Parser(add_help=False)
    common.add_argument("--device", choices=["auto", "CPU", "Ascend"], default="auto", help="auto: Ascend when usable")
    common.add_argument("--mode", choices=["pynative", "graph", "both"], default="both")
    common.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser = _Parser(prog="mindspore-tanhbw", description="Tanh with CANN's backward kernel for MindSpore.")
    parser.add_argument("--version", action="version", version=f"mindspore_tanhbw {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in COMMANDS:
        command = commands.add_parser(module.NAME, help=module.HELP, description=module.HELP, parents=[common])
        module.add_options(command)
        command.set_defaults(run=module.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
