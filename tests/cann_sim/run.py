# Runs a command on the simulated Ascend: python run.py [options] -- COMMAND ...
#
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0
import argparse
import importlib.util
import os
import sys

from environment import environment


def main():
    parser = argparse.ArgumentParser(description="Run COMMAND on the simulated Ascend and return its exit code.",
                                     usage="%(prog)s [options] -- COMMAND ...")
    parser.add_argument("--trace", metavar="FILE", help="write one JSON line per CANN call that launches or allocates")
    parser.add_argument("--soc", metavar="NAME", help="the chip to play (default Ascend910B1)")
    parser.add_argument("--fail", metavar="CALL=STATUS[@N]", action="append", default=[],
                        help="let the Nth (default: first) call of CALL return STATUS; may be given several times")
    parser.add_argument("--workspace", metavar="BYTES", type=int, help="the workspace that every operator asks for")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    options = parser.parse_args()
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        parser.error("no COMMAND was given")
    if importlib.util.find_spec("mindspore") is None:
        sys.exit(f"cann_sim: {sys.executable} has no MindSpore; use the Python of the environment that has it")
    try:
        env = environment(options.trace, options.soc, options.fail, options.workspace)
    except (RuntimeError, ValueError, OSError) as error:
        sys.exit(f"cann_sim: {error}")
    # This process becomes the command: exit code and signals are the command's own.
    try:
        os.execvpe(command[0], command, env)
    except OSError as error:
        print(f"cann_sim: {command[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(127)


if __name__ == "__main__":
    main()
