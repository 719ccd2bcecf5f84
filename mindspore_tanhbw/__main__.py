"""The command line: mindspore-tanhbw, or python -m mindspore_tanhbw."""
# Copyright 2026 The mindspore_tanhbw authors
# SPDX-License-Identifier: Apache-2.0

import argparse
import json
import sys
from pathlib import Path
from typing import List, Optional

from .commands import bench, check, train
from .commands.session import UserError, use_device


def main(arguments: Optional[List[str]] = None) -> int:
    """Run one command; 2 is the exit code of a user's mistake."""
    options = _parser().parse_args(arguments)
    try:
        options.device = use_device(options.device)
        passed, result = options.run(options)
        if options.json:
            options.json.write_text(json.dumps(result, indent=2) + "\n")
    except (UserError, OSError) as error:
        print(f"mindspore-tanhbw: {error}", file=sys.stderr)
        return 2
    return 0 if passed else 1


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--device", choices=["auto", "CPU", "Ascend"], default="auto", help="auto: Ascend when usable")
    common.add_argument("--mode", choices=["pynative", "graph", "both"], default="both")
    common.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser = argparse.ArgumentParser(prog="mindspore-tanhbw", description="Tanh with CANN's backward kernel for MindSpore.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in (check, train, bench):
        command = commands.add_parser(module.NAME, help=module.HELP, description=module.HELP, parents=[common])
        module.add_options(command)
        command.set_defaults(run=module.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
