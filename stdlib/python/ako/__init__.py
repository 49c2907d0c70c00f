"""The Python half of ako-lua's Python lanes: imports, calls and hands over tensors; all else is libako's."""
