"""Functions of verl, taken out of its files, because importing verl needs Ray and vLLM.

The first argument of a script that imports this is the folder of verl's unpacked wheel.
"""

import ast
import sys
from pathlib import Path
from types import SimpleNamespace

VERL = Path(sys.argv[1])


def functions(file, names, scope):
    """Executes the named functions and classes of a file, without their decorators, and returns them in a namespace."""
    tree = ast.parse((VERL / "verl" / file).read_text())
    chosen = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in names]
    for node in chosen:
        node.decorator_list = []
    exec(compile(ast.Module(chosen, []), file, "exec"), scope)
    return SimpleNamespace(**{name: scope[name] for name in names})


def version():
    """Of the wheel."""
    return next(VERL.glob("verl-*.dist-info")).name.removeprefix("verl-").removesuffix(".dist-info")
