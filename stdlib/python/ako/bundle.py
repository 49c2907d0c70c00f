"""A bundle of files, as the builder made it, loaded as a module."""
import importlib.util
import json
import os
import sys
import tempfile

import torch

from ako import extensions
from ako.faults import explain
from ako.hooks import COMPILE, Fault


class Bundle:
    """The module of the main file; `files` is {path: name} for messages. `origins`: {name: path} of files that are to
    find what lies beside them where they come from. `load_inline` takes the place of PyTorch's where a file names it."""

    def __init__(self, path, name, origins=None, load_inline=None):
        with open(path, encoding="utf-8") as file:
            sources = json.load(file)["files"]
        self.folder = tempfile.mkdtemp(prefix="ako-" + name + "-")
        self.files = {}
        for source in sources:
            target = os.path.join(self.folder, source["name"])
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w", encoding="utf-8") as file:
                file.write(source["text"])
            self.files[target] = source["name"]
        self.main, self.origins = sources[0]["name"], origins or {}
        self.is_extension = extensions.is_one(self.main)
        if load_inline and any(extensions.are_asked_for(source["text"]) for source in sources):
            extensions.replace(load_inline)
        self.module = self.built(sources[0]["text"]) if self.is_extension else self.load(self.main, name)

    def built(self, text):
        """The main file as an extension, which is a module, too."""
        import torch.utils.cpp_extension as cpp
        try:
            return cpp.load_inline(**extensions.arguments(self.main, text))
        except BaseException as problem:
            raise explain(problem, self.files, loading=True) from None

    def load(self, file, name):
        """One of its files as a module of that name."""
        path = os.path.join(self.folder, file)
        sys.path.insert(0, os.path.dirname(path))
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        if file in self.origins:
            module.__file__ = self.origins[file]
            sys.path.append(os.path.dirname(self.origins[file]))
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException as problem:
            raise explain(problem, self.files, loading=True) from None
        return module

    def need(self, name):
        """A function of the main file."""
        found = getattr(self.module, name, None)
        if not callable(found):
            raise Fault(COMPILE, f"{self.main}: has no {name}")
        return found

    def need_model(self, *names):
        """The first of these classes that the main file has."""
        found = next((getattr(self.module, name) for name in names if hasattr(self.module, name)), None)
        if not isinstance(found, type):
            raise Fault(COMPILE, f"{self.main}: defines no class {' or '.join(names)}")
        if not issubclass(found, torch.nn.Module):
            raise Fault(COMPILE, f"{self.main}: class {found.__name__} is no torch.nn.Module")
        return found
