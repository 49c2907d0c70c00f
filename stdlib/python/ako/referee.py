"""The referee's side: it owns the problem, whose inputs and answers no solution's process has ever held."""
import json
import os
import sys

import torch

from ako import contracts, extensions, inquiry, trees
from ako.bundle import Bundle
from ako.facts import name_inputs, name_outputs, pack, sizes_of, starter, with_dtypes
from ako.hooks import INVALID, UNAVAILABLE, Fault
from ako.inputs import elements_at
from ako.models import (cast_to, drawn_on, make_model, place, precision, restorer, seed_everything, set_precision,
                        weights_of)
from ako.side import Side

_KEPT = 4  # a share of the host's memory for inputs that take long to draw is one in so many
_ROOM = 16  # a share of the card that this process may hold back in PyTorch's cache is one in so many
# What of a question holds for the solution, too.
KEPT = ("format", "dtype", "inputs_file", "inputs_ignored", "dims", "arguments")


def host_memory():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def on_host(tensor):
    """The same tensor there, strides, gaps and overlaps included."""
    flat = tensor.as_strided((trees.storage_elements(tensor),), (1,))
    return flat.cpu().as_strided(tensor.shape, tensor.stride())


class Referee(Side):
    """Knows the problem: its inputs, its model, what that gives."""

    def __init__(self):
        super().__init__()
        self.path = self.bundle = self.problem = self.how = self.init = self.form = None
        self.draws, self.draws_bytes = {}, 0

    def load(self, path, question):
        self.loading = True
        if question.get("cwd"):
            os.chdir(question["cwd"])
        self.bundle = Bundle(path, "problem", question.get("origins"))
        self.path, self.files = path, self.bundle.files
        seed_everything(question["seed"])
        self.problem, self.how = contracts.format_of(question)(self.bundle, question), question
        seed_everything(question["seed"])
        self.init = place(self.problem.init(), None, cast_to(question))
        set_precision(question.get("precision") or precision())
        self.model = make_model(self.problem.model, self.init, self.device, question)
        self.restore = restorer(self.model)
        self.loading = False

    def draw(self, seed, faithful):
        seed_everything(seed)
        with drawn_on(self.device, faithful):
            inputs = self.problem.inputs(seed)
        return place(inputs, self.device, cast_to(self.how))

    def open(self, path):
        if path != self.path:
            self.load(path, self.spec)

    def drawn(self, seed, known):
        """The tensors for a seed. Those of the check are drawn as the original does where that is asked for, which
        takes long, and kept while there is room; contents of timed calls are nobody's to compare."""
        faithful = known and self.spec["faithful"]
        leaves = self.draws.get(seed)
        if leaves is None:
            leaves = []
            trees.describe(self.draw(seed & 0x7FFFFFFFFFFFFFFF, faithful), "an input", leaves)
            if faithful and self.device.type == "cuda":
                self.keep(seed, leaves)
        return leaves

    def keep(self, seed, leaves):
        """On the host, from where they come back a hundred times faster than they are drawn."""
        size = sum(t.numel() * t.element_size() for t, _ in leaves)
        if self.draws_bytes + size <= host_memory() // _KEPT:
            self.draws[seed] = [(on_host(t), path) for t, path in leaves]
            self.draws_bytes += size

    def fill(self, seed, known, addresses):
        leaves = self.drawn(seed, known)
        if len(leaves) != len(self.spec["inputs"]):
            raise Fault(INVALID, "get_inputs gives another number of tensors than before")
        for i, ((tensor, _), node) in enumerate(zip(leaves, self.spec["inputs"])):
            facts = [list(tensor.shape), list(tensor.stride()), trees.DTYPES[tensor.dtype]]
            if facts != [node["shape"], node["stride"], node["dtype"]]:
                raise Fault(INVALID, f"input '{node['name']}' has another shape, layout or dtype than before")
            if addresses[i]:  # with its gaps and overlaps, as it lies in memory
                target = elements_at(addresses[i], node["elements"], tensor.dtype, self.device)
                target.copy_(tensor.as_strided((node["elements"],), (1,)))
        del leaves
        self.give_back()

    def variant(self, name):
        """The model as it is (""), or as torch.compile makes it, which its first call does."""
        if not name:
            self.form = None
            self.give_back()
        elif not hasattr(torch, "compile"):
            raise Fault(UNAVAILABLE, f"PyTorch {torch.__version__} has no torch.compile")
        else:
            self.form = torch.compile(self.model)

    def call_model(self):
        return (self.form or self.model)(*self.arguments)

    def give_back(self):
        """What PyTorch keeps of large tensors is memory that the others need."""
        if self.device.type != "cuda":
            return
        free, total = torch.cuda.mem_get_info()
        if free < total // 3 and torch.cuda.memory_reserved() > total // _ROOM:
            torch.cuda.empty_cache()

    def release(self, more):
        super().release(more)
        if not more:
            self.give_back()

    def describe(self, path, question):
        """What a problem asks for; or, in a process that does nothing else, builds a solution's extensions."""
        if "build" in question:
            return self.give(extensions.build_all(question["build"], question["cache"], question["arch"]))
        self.load(path, question)
        drawn = self.draw(question["seed"], question["faithful"])
        inputs, outputs = [], []
        args = trees.describe(drawn, "an input", inputs)
        in_place = place(self.problem.outputs(self.device), self.device, cast_to(question))
        self.arguments = drawn + in_place
        weights = weights_of(self.model)  # as they begin: a call may change buffers
        torch.manual_seed(question["seed"])
        named = name_inputs(self.model, args["list"], inputs)
        call = inquiry.Call(inputs, self.device)
        given = self.call_model()
        given = in_place if in_place and given is None else place(given, self.device)
        result = trees.describe(given, "the result", outputs, numbers=True)
        is_random = call.has_drawn()
        call.refuse_changes(named, self.bundle.main)
        if not outputs:
            raise Fault(INVALID, f"{self.bundle.main}: forward returns no tensor with an element in it")
        spec = {
            "args": args, "result": result, "inputs": named,
            "outputs": name_outputs(outputs, inputs, self.problem.outputs_names),
            "init": pack(self.init), "seed": question["seed"], "faithful": question["faithful"],
            "weights": weights, "precision": precision(), "device": self.device.type,
            "result_name": "the result", "main": self.bundle.main, "names": self.problem.names,
            "in_place": self.problem.outputs_names if in_place else None,
        }
        spec.update({name: question[name] for name in KEPT if name in question})
        with_dtypes(result, spec["outputs"])
        other, again = [], self.draw(question["seed"] + 1, question["faithful"])
        trees.describe(again, "an input", other)
        same = inquiry.compare_draws(inputs, other, named, self.bundle.main)
        del drawn, again, inputs, outputs, other
        self.arguments = None
        self.give_back()
        facts = {"torch": torch.__version__, "torch_cuda": torch.version.cuda, "python": sys.version.split()[0],
                 "interpreter": sys.executable, "same_inputs": same, "random": is_random, "precision": precision(),
                 "drawn": "as on a CPU" if question["faithful"] else f"on the {self.device.type}",
                 "sizes": sizes_of(self.problem.sizes), "tolerance": self.problem.tolerance,
                 "scalars": {name: value for name, value in self.problem.sizes.items() if type(value) is float}}
        described = {"spec": json.dumps(spec), "inputs": spec["inputs"], "outputs": spec["outputs"], "facts": facts,
                     "in_place": bool(in_place), "starter": starter(self.bundle)}
        return self.give(described)
