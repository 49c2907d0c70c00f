"""What referee and candidate have in common: a model that is called on buffers whose addresses the evaluator names."""
import gc
import json
import sys

import torch

from ako import faults
from ako.hooks import ERROR, INVALID, UNAVAILABLE, Fault, Hooks, Returned, guarded
from ako.inputs import check_bridge, stager
from ako.results import reader

# Before any code of others can exchange them.
_watchers, _silencers = (sys.getprofile, sys.gettrace), (sys.setprofile, sys.settrace)
_is_collecting, _collect, _collect_no_more = gc.isenabled, gc.enable, gc.disable


class Case:
    """What the calls of one of a task's workloads look like."""

    def __init__(self, spec, device, kept):
        ranges = []
        self.spec = spec
        self.returned = (Returned * len(spec["outputs"]))()
        self.read = reader(spec, device, self.returned, ranges, kept)
        self.make_arguments = stager(spec, device, ranges)


class Side:
    """What both roles do: a model called on buffers whose addresses the evaluator names."""

    def __init__(self):
        self.device = torch.device("cpu")
        self.files, self.loading = {}, False
        self.cases = {}
        self.spec = self.model = self.restore = self.arguments = None
        self.make_arguments = self.read = self.hooks = None
        self.kept, self.built, self.library = [], [], None

    def explain(self, problem):
        return faults.explain(problem, self.files, self.loading)

    def start(self, on_gpu):
        torch.set_grad_enabled(False)
        if not on_gpu:
            return
        if not torch.cuda.is_available():
            has = f"was built for CUDA {torch.version.cuda}" if torch.version.cuda else "was built without CUDA"
            raise Fault(UNAVAILABLE, f"PyTorch {torch.__version__} of {sys.executable} {has} and sees no GPU: install "
                                     "one for this driver, or run with --device=cpu")
        self.device = torch.device("cuda", 0)
        check_bridge(self.device)

    def task(self, text):
        spec = json.loads(text).get("python")
        if not spec:
            raise Fault(INVALID, "this task has no description of its arguments in Python")
        self.cases = {case["workload"]: Case(case, self.device, self.kept) for case in json.loads(spec)}
        self.turn_to(next(iter(self.cases)))

    def turn_to(self, workload):
        case = self.cases[workload]
        self.spec, self.read, self.make_arguments = case.spec, case.read, case.make_arguments
        self.hooks.returned, self.hooks.n_returned = case.returned, len(case.returned)
        self.hooks.first_output = len(self.spec["inputs"])

    def bind(self, workload):
        raise NotImplementedError

    def call_model(self):
        return self.model(*self.arguments)

    def stage(self, addresses):
        """Without collections of garbage, at whose ends callbacks of others are called. From here to the call nothing is
        allocated that could bring one about."""
        collects = _is_collecting()
        _collect_no_more()
        try:
            self.restore()
            self.arguments = self.make_arguments(addresses)
        finally:
            if collects:
                _collect()

    def launch(self):
        result = self.call_model()
        self.kept.append(result)
        nothing = result is None and self.spec.get("in_place")
        self.hooks.n_returned = 0 if nothing else len(self.spec["outputs"])
        if not nothing:
            self.read(result)
        for watcher in _watchers:
            if watcher() is not None:
                raise Fault(ERROR, f"{self.bundle.main}: forward leaves a {watcher.__name__[3:]} function on: nothing "
                                   "of a solution may run between its calls")
        for silence in _silencers:  # a function in C without an object shows in no watcher
            silence(None)

    def release(self, more):  # pylint: disable=unused-argument
        """Here, and not where the next call's are in sight, for whoever waits for the end of an input."""
        self.arguments = None
        self.kept.clear()

    def make_hooks(self, library):
        """The struct that libako gets; it must be kept alive."""
        self.library, self.hooks = library, Hooks()
        functions = {
            "start": self.start,
            "task": lambda text: self.task(text.decode()),
            "extensions": lambda text: self.take_extensions(json.loads(text)),
            "open": lambda path: self.open(path.decode()),
            "bind": lambda workload: self.bind(workload.decode()),
            "variant": lambda name: self.variant(name.decode()),
            "fill": self.fill,
            "stage": self.stage,
            "launch": self.launch,
            "release": self.release,
            "describe": lambda path, question: self.give(self.describe(path.decode(), json.loads(question))),
            "autotuned": lambda: self.give(self.autotuned()),
        }
        kinds = dict(Hooks._fields_)
        for name, function in functions.items():
            setattr(self.hooks, name, kinds[name](guarded(self.hooks, library, self.explain, function)))

    def take_extensions(self, built):
        """What load_inline is to find, before a file is opened."""
        self.built = built

    def give(self, value):
        """A hook's answer, kept until the next one."""
        self.hooks.text = json.dumps(value).encode()

    def open(self, path):
        raise NotImplementedError

    def fill(self, seed, known, is_signed, times, addresses):
        raise Fault(INVALID, "a candidate makes no inputs")

    def variant(self, name):
        raise Fault(INVALID, "a candidate has one form")

    def autotuned(self):
        """What kernels have chosen at their first calls (ako.autotuned)."""
        return []

    def describe(self, path, question):
        raise Fault(INVALID, "a candidate describes no problem")
