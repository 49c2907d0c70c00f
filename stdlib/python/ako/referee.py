"""The referee's side: it owns the problem, whose inputs and answers no solution's process has ever held."""
import json
import os
import sys
import time

import torch

from ako import contracts, faults, inquiry, trees
from ako.bundle import Bundle
from ako.contracts import parameter_names
from ako.copies import Watch
from ako.draws import Draws, is_like
from ako.extension_build import build_all
from ako.facts import name_inputs, name_outputs, pack, sizes_of, starter, with_dtypes
from ako.hooks import ERROR, INVALID, UNAVAILABLE, Fault
from ako.inputs import elements_at
from ako.models import (cast_to, drawn_on, in_double, make_model, place, precision, restorer, seed_everything,
                        set_precision, weights_of)
from ako.side import Side
from ako.widening import widen

_PLACES = 256  # that are remembered
_ROOM = 16  # a share of the card that this process may hold back in PyTorch's cache is one in so many
# What of a question holds for the solution, too.
KEPT = ("cwd", "origins", "format", "dtype", "init_config", "input_config", "inputs_file", "inputs_ignored", "dims",
        "arguments")


def tensors_of(drawn):
    leaves = []
    trees.describe(drawn, "an input", leaves)
    return [tensor for tensor, _ in leaves]


def original_seeds(seed, count):
    """Of KernelBench's correctness trials, by whose draws PyTorch's versions differ."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(0, 2**32 - 1, (1,), generator=generator, device="cpu").item() for _ in range(count)]


class Posed:
    """A case of the problem, as it is put: its format, and a model of it."""

    def __init__(self, bundle, how, device):
        seed_everything(how["seed"])
        self.how, self.problem = how, contracts.format_of(how)(bundle, how)
        seed_everything(how["seed"])
        self.init = place(self.problem.init(), None, cast_to(how))
        set_precision(how.get("precision") or precision())
        self.model = make_model(self.problem.model, self.init, device, how)
        self.restore = restorer(self.model)


class Referee(Side):
    """Knows the problem: its inputs, its model, what that gives."""

    def __init__(self):
        super().__init__()
        self.path = self.bundle = self.workload = self.problem = self.how = self.form = None
        self.posed, self.draws, self.places = {}, Draws(), {}

    def load(self, path, how):
        self.loading = True
        if how.get("cwd"):
            os.chdir(how["cwd"])
        watch = Watch()
        try:
            self.bundle = Bundle(path, "problem", how.get("origins"))
        finally:
            watch.check()
        self.path, self.files, self.posed = path, self.bundle.files, {}
        self.loading = False

    def pose(self, how):
        """Turns to a case, which is made when it is wanted first."""
        self.workload = how["workload"]
        if self.workload not in self.posed:
            self.loading = True
            self.posed[self.workload] = Posed(self.bundle, how, self.device)
            self.loading = False
        posed = self.posed[self.workload]
        self.how, self.problem, self.model, self.restore = posed.how, posed.problem, posed.model, posed.restore

    def draw(self, seed, faithful, to=None):
        seed_everything(seed)
        with drawn_on(self.device, faithful):
            inputs = self.problem.inputs(seed)
        return place(inputs, to or self.device, cast_to(self.how))

    def draw_ahead(self, seeds, nodes, took_s):
        """Beside what is still to be done before they are asked for."""
        host, keys = torch.device("cpu"), [(self.workload, seed) for seed in seeds]
        self.draws.begin(keys, nodes, lambda key: tensors_of(self.draw(key[1], True, host)), took_s)

    def open(self, path):
        if path != self.path:
            self.load(path, self.spec)

    def bind(self, workload):
        self.turn_to(workload)
        self.pose(self.spec)

    def drawn(self, seed, known):
        """The tensors for a seed. Those of the check are drawn as the original does where that is asked for, which
        takes long, and kept while there is room; contents of timed calls are nobody's to compare."""
        faithful = known and self.spec["faithful"]
        if not known:
            self.draws.finish()  # nothing of ours runs beside timed calls
        tensors = self.draws.find((self.workload, seed))
        if tensors is None:
            tensors = self.draw_anew(seed & 0x7FFFFFFFFFFFFFFF, faithful)
            if self.keeps(faithful):
                self.draws.keep((self.workload, seed), tensors)
        return tensors

    def draw_anew(self, seed, faithful):
        """What get_inputs raises is the problem's fault, unless memory is what it lacks: others may have that."""
        try:
            return tensors_of(self.draw(seed, faithful))
        except BaseException as problem:  # pylint: disable=broad-except
            fault = problem if isinstance(problem, Fault) else self.explain(problem)
            if fault.status != ERROR or faults.is_out_of_memory(problem):
                raise
            raise Fault(INVALID, str(fault)) from problem

    def keeps(self, faithful):
        """Whether drawing takes longer than bringing what is kept back to the device."""
        return faithful and self.device.type == "cuda"

    def place_at(self, address, count, dtype):
        """The evaluator's memory there as a tensor: its places are few, and to make one takes longer than to fill it."""
        key = address, count, dtype
        if key not in self.places:
            if len(self.places) == _PLACES:
                self.places.clear()
            self.places[key] = elements_at(address, count, dtype, self.device)
        return self.places[key]

    def fill(self, seed, known, is_signed, times, addresses):
        tensors = self.drawn(seed, known)
        if len(tensors) != len(self.spec["inputs"]):
            raise Fault(INVALID, "get_inputs gives another number of tensors than before")
        for i, (tensor, node) in enumerate(zip(tensors, self.spec["inputs"])):
            if not is_like(tensor, node):
                raise Fault(INVALID, f"input '{node['name']}' has another shape, layout or dtype than before")
            if addresses[i]:  # with its gaps and overlaps, as it lies in memory
                target = self.place_at(addresses[i], node["elements"], tensor.dtype)
                target.copy_(tensor.as_strided((node["elements"],), (1,)))
                widen(target, (seed + i) & 0x7FFFFFFFFFFFFFFF, is_signed, times)
        del tensors
        self.give_back()

    def variant(self, name):
        """The model as it is (""), in fp64 ("exact"), or as torch.compile makes it, which its first call does."""
        if not name:
            self.form = None
            self.give_back()
        elif name == "exact":
            self.restore()
            self.form = in_double(self.model, self.spec["result"])
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
            return build_all(question["build"], question["cache"], question["arch"], self.library.confine_compiler)
        self.load(path, question)
        coming = original_seeds(question["seed"], question.get("trials", 0))
        question = {"coming": coming, **question}
        described = [self.describe_case({**question, **case}) for case in question["cases"]]
        self.give_back()
        facts = {"torch": torch.__version__, "torch_cuda": torch.version.cuda, "python": sys.version.split()[0],
                 "interpreter": sys.executable, "precision": precision(),
                 "drawn": "as on a CPU" if question["faithful"] else f"on the {self.device.type}"}
        if coming:
            facts["seeds"] = coming
        return {"spec": json.dumps([spec for spec, _ in described]), "facts": facts,
                "cases": [case for _, case in described], "starter": starter(self.bundle)}

    def describe_case(self, how):
        """What the sides have to know of a case, and what its author's task is to know."""
        self.pose(how)
        began = time.monotonic()
        drawn = self.draw(how["seed"], how["faithful"])
        took_s = time.monotonic() - began
        inputs, outputs = [], []
        args = trees.describe(drawn, "an input", inputs)
        in_place = place(self.problem.outputs(self.device), self.device, cast_to(how))
        weights = weights_of(self.model)  # as they begin: a call may change buffers
        named = name_inputs(self.problem.names or parameter_names(self.model), inputs)
        if self.keeps(how["faithful"]):
            self.draw_ahead(how.get("coming", []), named, took_s)
        given, draws = self.call_once(drawn + in_place, inputs, named)
        given = in_place if in_place and given is None else place(given, self.device)
        result = trees.describe(given, "the result", outputs, numbers=True)
        if not outputs:
            raise Fault(INVALID, f"{self.bundle.main}: forward returns no tensor with an element in it")
        spec = {
            "workload": self.workload, "args": args, "result": result, "inputs": named,
            "outputs": name_outputs(outputs, inputs, self.problem.outputs_names),
            "init": pack(self.posed[self.workload].init), "seed": how["seed"], "faithful": how["faithful"],
            "draws": draws,
            "weights": weights, "precision": precision(), "device": self.device.type,
            "result_name": "the result", "main": self.bundle.main, "names": self.problem.names,
            "in_place": self.problem.outputs_names if in_place else None, **self.problem.for_solutions(),
        }
        spec.update({name: how[name] for name in KEPT if name in how})
        with_dtypes(result, spec["outputs"])
        case = {"workload": self.workload, "inputs": spec["inputs"], "outputs": spec["outputs"],
                "in_place": bool(in_place), "random": bool(draws), "same_inputs": self.draws_the_same(inputs, named),
                "sizes": sizes_of(self.problem.sizes), "tolerance": self.problem.tolerance,
                "scalars": {name: value for name, value in self.problem.sizes.items() if type(value) is float}}
        return spec, case

    def call_once(self, arguments, inputs, named):
        """The result, and where random numbers were drawn from for it."""
        seed_everything(self.how["seed"])
        self.arguments, call = arguments, inquiry.Call(inputs, self.device)
        given = self.call_model()
        self.arguments, draws = None, call.drawn_from()
        call.refuse_changes(named, self.bundle.main)
        return given, draws

    def draws_the_same(self, inputs, named):
        other = []
        trees.describe(self.draw(self.how["seed"] + 1, self.how["faithful"]), "an input", other)
        return inquiry.compare_draws(inputs, other, named, self.bundle.main)
