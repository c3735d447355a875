"""Runs the rules program of a class: python3 -m treereduce FILE CLASS NAME=VALUE …"""

import contextlib
import os
import runpy
import sys

from treereduce.rules import main

if len(sys.argv) < 3:
    sys.exit("usage: python3 -m treereduce FILE CLASS NAME=VALUE …")
file, name = sys.argv[1:3]
sys.argv[:3] = [file]
sys.path[0] = os.path.dirname(os.path.abspath(file))  # as if FILE were run
with contextlib.redirect_stdout(sys.stderr):
    names = runpy.run_path(file, run_name="rules_program")
main(names[name])
