"""The candidate's side: runs a solution; what it says is believed by nobody."""
import contextlib
import json
import os
import shutil
import sys

import torch

from ako import autotuned, contracts, extensions
from ako.bundle import Bundle
from ako.facts import unpack
from ako.hooks import ERROR, Fault
from ako.models import make_model, restorer, seed_everything, set_precision, weights_of
from ako.side import Side

# What is compiled at run time is a candidate's own, and goes with it.
_FOLDERS = ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR", "XDG_CACHE_HOME")


def settle_in(folder):
    """From here on all that a solution leaves lies in this process's own folder."""
    for name in _FOLDERS:
        os.environ[name] = os.path.join(folder, name.lower())
    os.environ.update(HOME=folder, TORCHINDUCTOR_COMPILE_THREADS="1")


def copy_contents(source, target):
    """The files of a folder and below, without their modes and dates. A folder that is not there has none."""
    for folder, _, names in os.walk(source):
        there = os.path.join(target, os.path.relpath(folder, source))
        os.makedirs(there, exist_ok=True)
        for name in names:
            shutil.copyfile(os.path.join(folder, name), os.path.join(there, name))


def take_monitoring_away():
    """From Python 3.12 on a function can be called at every step of ours, and no getter shows it as it shows profile and
    trace functions. The profiler written in C goes that way, too."""
    monitoring = getattr(sys, "monitoring", None)
    if hasattr(monitoring, "register_callback"):
        del monitoring.register_callback


def make_for_nothing(bundle, spec):
    """A model, for what is asked for while it is made. On PyTorch 2's meta device weights cost nothing; what cannot be
    made there is made on the CPU, and what cannot be made at all is told when it is wanted."""
    meta = torch.device("meta")
    for place in [meta] * hasattr(meta, "__enter__") + [contextlib.nullcontext()]:
        try:
            seed_everything(spec["seed"])
            with place:
                contracts.format_of(spec).solve(bundle, spec)(*unpack(spec["init"]))
            return
        except BaseException:  # pylint: disable=broad-except
            continue


class Candidate(Side):
    """Runs a solution; what it says is believed by nobody."""

    def __init__(self):
        super().__init__()
        self.bundle = self.factory = None
        self.models, self.asked = {}, []

    def start(self, on_gpu):
        super().start(on_gpu)  # our own kernels come out of the user's cache, which is not seen from here on
        settle_in(os.environ["TMPDIR"])
        take_monitoring_away()
        if on_gpu:
            copy_contents(os.environ.get("AKO_TRITON_SEED", ""), os.environ.get("TRITON_CACHE_DIR", ""))

    def open(self, path):
        self.loading = True
        set_precision(self.spec["precision"])
        self.bundle = Bundle(path, "solution", load_inline=extensions.finder(self.built))
        self.files = self.bundle.files
        self.models, self.factory = {}, contracts.format_of(self.spec).solve(self.bundle, self.spec)
        self.loading = False

    def bind(self, workload):
        self.turn_to(workload)
        if workload not in self.models:
            self.models[workload] = self.make()
        self.model, self.restore = self.models[workload]

    def make(self):
        """The solution's model for the case at hand, and what puts back its buffers."""
        self.loading = True
        model = make_model(self.factory, unpack(self.spec["init"]), self.device, self.spec)
        self.loading = False
        self.compare_weights(model)
        return model, restorer(model)

    def describe(self, path, question):
        """The extensions that a solution asks for: when its file is imported; with a task, which is told next, when its
        models are made, too. Either may fail afterwards: it will again."""
        if "task" not in question:
            with contextlib.suppress(Fault):
                self.bundle = Bundle(path, "solution", load_inline=extensions.recorder(self.asked))
        for spec in json.loads(question.get("task", "[]")) if self.bundle else []:
            make_for_nothing(self.bundle, spec)
        return self.asked

    def autotuned(self):
        return autotuned.chosen_in(self.bundle.folder)

    def compare_weights(self, model):
        """Where a name and a shape are the reference's, so must be the numbers: they come from the same seed."""
        own = {name: (shape, total) for name, shape, total in weights_of(model)}
        for name, shape, total in self.spec["weights"]:
            got = own.get(name)
            if got and got[0] == shape and abs(got[1] - total) > 1e-6 * max(1.0, abs(total)):
                raise Fault(ERROR, f"{self.bundle.main}: the weight '{name}' begins with other numbers than the "
                                   "reference's: create weights in the same order, so that one seed gives the same")
