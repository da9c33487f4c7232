"""Every public function has a docstring."""

import ast
import pathlib
import sys

bad = [
    f"{path}:{node.lineno}: {node.name} has no docstring"
    for path in sorted(pathlib.Path("widget").glob("*.py"))
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and not ast.get_docstring(node)
]
print("\n".join(bad) or "style is fine")
sys.exit(bool(bad))
