"""The roles that run Python code: the referee, which owns the problem, and the candidate, which runs a solution."""
import base64
import contextlib
import ctypes
import io
import json
import os
import random
import shutil
import sys

import torch

from ako import contracts, extensions, faults, inquiry, trees
from ako.bundle import Bundle
from ako.hooks import ERROR, INVALID, SHAPE, UNAVAILABLE, Fault, Hooks, Library, guarded
from ako.memory import elements_at

_copy, _data_ptr = torch.Tensor.copy_, torch.Tensor.data_ptr  # before any code of others can exchange them
_KEPT = 4  # a share of the host's memory for inputs that take long to draw is one in so many
# What of a question holds for the solution, too.
KEPT = ("format", "dtype", "inputs_file", "inputs_ignored", "dims", "arguments")
_ROOM = 16  # a share of the card that this process may hold back in PyTorch's cache is one in so many


def seed_everything(seed):
    torch.manual_seed(seed)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % (1 << 32))


def drawn_on(device, faithful):
    """Where tensors are made that name no device: on the card, unless the bits of a CPU are wanted. PyTorch 1 knows no
    such thing."""
    if faithful or device.type == "cpu" or not hasattr(device, "__enter__"):
        return contextlib.nullcontext()
    return device


def place(value, device, dtype=None):
    """The same with its tensors on the device, and those of floating-point numbers in the dtype, where one is given."""
    if isinstance(value, torch.Tensor):
        return value.to(device or value.device, dtype if dtype and value.is_floating_point() else value.dtype)
    if isinstance(value, (list, tuple)):
        moved = [place(v, device, dtype) for v in value]
        return moved if isinstance(value, list) else tuple(moved)
    if isinstance(value, dict):
        return {key: place(v, device, dtype) for key, v in value.items()}
    return value


def cast_to(how):
    """The dtype that a task's floating-point tensors are cast to, or None."""
    return trees.TYPES[how["dtype"]] if how.get("dtype") else None


def weights_of(model):
    """[name, shape, sum] of every parameter and buffer, in order: enough to see that two sides began alike."""
    return [[name, list(t.shape), float(t.double().sum())] for name, t in model.state_dict().items()
            if isinstance(t, torch.Tensor) and not t.is_complex() and not t.is_quantized]


def precision():
    """The switches that decide what a product of f32 is."""
    return {"tf32_matmul": torch.backends.cuda.matmul.allow_tf32, "tf32_cudnn": torch.backends.cudnn.allow_tf32}


def set_precision(switches):
    torch.backends.cuda.matmul.allow_tf32 = switches["tf32_matmul"]
    torch.backends.cudnn.allow_tf32 = switches["tf32_cudnn"]


class State:
    """Buffers of a model that its calls change (running means): every call is to begin alike."""

    def __init__(self, model):
        self.saved = [(b, b.clone(), b._version) for b in model.buffers() if isinstance(b, torch.Tensor)]

    def restore(self):
        for i, (buffer, copy, version) in enumerate(self.saved):
            if buffer._version != version:
                _copy(buffer, copy)
                self.saved[i] = (buffer, copy, buffer._version)


class Side:
    """What both roles do: a model called on buffers whose addresses the evaluator names."""

    def __init__(self):
        self.device = torch.device("cpu")
        self.files, self.loading = {}, False
        self.spec = self.model = self.state = self.arguments = self.result = None
        self.ranges, self.built, self.answer = [], [], None

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
        torch.zeros(1, device=self.device)

    def task(self, text):
        spec = json.loads(text).get("python")
        if not spec:
            raise Fault(INVALID, "this task has no description of its arguments in Python")
        self.spec = json.loads(spec)

    def bind(self, workload):
        """Every workload of such a task has the same arguments."""

    def call_model(self):
        return self.model(*self.arguments)

    def input_at(self, address, node):
        flat = elements_at(address, trees.storage_elements_of(node), trees.TYPES[node["dtype"]], self.device)
        return flat.as_strided(node["shape"], node["stride"])

    def in_place(self, addresses):
        """The buffers of outputs that the call itself writes."""
        first, nodes = len(self.spec["inputs"]), self.spec["outputs"] if self.spec.get("in_place") else []
        return [elements_at(addresses[first + i], node["elements"], trees.TYPES[node["dtype"]],
                            self.device).view(node["shape"]) for i, node in enumerate(nodes)]

    def stage(self, addresses):
        inputs, self.ranges = [], []
        for i, node in enumerate(self.spec["inputs"]):
            tensor = self.input_at(addresses[i], node)
            inputs.append(tensor)
            self.ranges.append((addresses[i], addresses[i] + node["bytes"]))
        self.arguments = trees.build(self.spec["args"], inputs, self.device) + self.in_place(addresses)
        self.state.restore()
        torch.manual_seed(self.spec["seed"])

    def launch(self):
        self.result = self.call_model()

    def refuse_view(self, tensor, node, name):
        start = _data_ptr(tensor)
        if not node["view"] and any(low <= start < high for low, high in self.ranges):
            raise Fault(SHAPE, f"{name} lies in the memory of an input: return a tensor of its own")

    def collect(self, addresses):
        result, self.result, tensors = self.result, None, []
        if not addresses:
            return
        if result is None and self.spec.get("in_place"):
            return
        trees.match(self.spec["result"], result, self.spec["result_name"], self.device, tensors)
        first = len(self.spec["inputs"])
        for i, (tensor, node) in enumerate(zip(tensors, self.spec["outputs"])):
            self.refuse_view(tensor, node, node["name"])
            target = elements_at(addresses[first + i], tensor.numel(), tensor.dtype, self.device)
            _copy(target.view(tensor.shape), tensor)

    def hooks(self, library):
        """The struct that libako gets; it must be kept alive."""
        def hook(kind, function, on_failure=None):
            return kind(guarded(library, self.explain, function, on_failure))
        fields = dict(Hooks._fields_)
        return Hooks(start=hook(fields["start"], self.start),
                     task=hook(fields["task"], lambda text: self.task(text.decode())),
                     extensions=hook(fields["extensions"], lambda text: self.take_extensions(json.loads(text))),
                     open=hook(fields["open"], lambda path: self.open(path.decode())),
                     bind=hook(fields["bind"], lambda workload: self.bind(workload.decode())),
                     variant=hook(fields["variant"], lambda name: self.variant(name.decode())),
                     fill=hook(fields["fill"], self.fill),
                     stage=hook(fields["stage"], self.stage),
                     launch=hook(fields["launch"], self.launch),
                     collect=hook(fields["collect"], self.collect),
                     describe=hook(fields["describe"], lambda path, question:
                                   self.describe(path.decode(), json.loads(question)), lambda: None))

    def take_extensions(self, built):
        """What load_inline is to find, before a file is opened."""
        self.built = built

    def give(self, value):
        """A hook's answer, kept until the next one."""
        self.answer = ctypes.create_string_buffer(json.dumps(value).encode())
        return ctypes.addressof(self.answer)

    def open(self, path):
        raise NotImplementedError

    def fill(self, seed, known, addresses):
        raise Fault(INVALID, "a candidate makes no inputs")

    def variant(self, name):
        raise Fault(INVALID, "a candidate has one form")

    def describe(self, path, question):
        raise Fault(INVALID, "a candidate describes no problem")


class Referee(Side):
    """Knows the problem: its inputs, its model, what that gives."""

    def __init__(self):
        super().__init__()
        self.path = self.bundle = self.problem = self.how = self.init = self.form = None
        self.kept, self.kept_bytes = {}, 0

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
        self.state = State(self.model)
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
        """The tensors for a seed. Those of the check are drawn as the original does where that is asked for, which takes
        long, and kept while there is room; contents of timed calls are nobody's to compare."""
        faithful = known and self.spec["faithful"]
        leaves = self.kept.get(seed)
        if leaves is None:
            leaves = []
            trees.describe(self.draw(seed & 0x7FFFFFFFFFFFFFFF, faithful), "an input", leaves)
            if faithful and self.device.type == "cuda":
                self.keep(seed, leaves)
        return leaves

    def keep(self, seed, leaves):
        """On the host, from where they come back a hundred times faster than they are drawn."""
        size = sum(t.numel() * t.element_size() for t, _ in leaves)
        if self.kept_bytes + size <= host_memory() // _KEPT:
            self.kept[seed] = [(t.cpu(), path) for t, path in leaves]
            self.kept_bytes += size

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
                _copy(target, tensor.as_strided((node["elements"],), (1,)))
        del leaves
        self.give_back()

    def variant(self, name):
        """The model as it is (""), or as torch.compile makes it, which its first call does."""
        if not name:
            self.form = None
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

    def collect(self, addresses):
        super().collect(addresses)
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
            "weights": weights_of(self.model), "precision": precision(), "device": self.device.type,
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


class Candidate(Side):
    """Runs a solution; what it says is believed by nobody."""

    def __init__(self):
        super().__init__()
        self.bundle = None

    def start(self, on_gpu):
        super().start(on_gpu)
        if on_gpu:
            copy_contents(os.environ.get("AKO_TRITON_SEED", ""), os.environ.get("TRITON_CACHE_DIR", ""))

    def open(self, path):
        self.loading = True
        set_precision(self.spec["precision"])
        init = unpack(self.spec["init"])
        self.bundle = self.load(path, extensions.finder(self.built))
        self.files = self.bundle.files
        model = contracts.format_of(self.spec).solve(self.bundle, self.spec)
        self.model = make_model(model, init, self.device, self.spec)
        self.state = State(self.model)
        self.loading = False
        self.compare_weights()

    @staticmethod
    def load(path, load_inline):
        with open(path, encoding="utf-8") as file:
            asks = "load_inline" in file.read()
        with extensions.replaced(load_inline) if asks else contextlib.nullcontext():
            return Bundle(path, "solution")

    def describe(self, path, question):
        """The extensions that a solution asks for when it is imported, which may fail afterwards: it will again."""
        found = []
        try:
            self.load(path, extensions.recorder(found))
        except Fault:
            pass
        return self.give(found)

    def compare_weights(self):
        """Where a name and a shape are the reference's, so must be the numbers: they come from the same seed."""
        own = {name: (shape, total) for name, shape, total in weights_of(self.model)}
        for name, shape, total in self.spec["weights"]:
            got = own.get(name)
            if got and got[0] == shape and abs(got[1] - total) > 1e-6 * max(1.0, abs(total)):
                raise Fault(ERROR, f"{self.bundle.main}: the weight '{name}' begins with other numbers than the "
                                   "reference's: create weights in the same order, so that one seed gives the same")


def copy_contents(source, target):
    """The files of a folder and below, without their modes and dates. A folder that is not there has none."""
    for folder, _, names in os.walk(source):
        there = os.path.join(target, os.path.relpath(folder, source))
        os.makedirs(there, exist_ok=True)
        for name in names:
            shutil.copyfile(os.path.join(folder, name), os.path.join(there, name))


def host_memory():
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def make_model(model, init, device, how):
    seed_everything(how["seed"])
    with drawn_on(device, how["faithful"]):
        made = model(*init)
    return made.to(device, cast_to(how))


def starter(bundle):
    """The problem's text without what makes its inputs: a solution to begin with."""
    import ast
    with open(next(iter(bundle.files)), encoding="utf-8") as file:
        text = file.read()
    lines, gone = text.splitlines(), set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name in ("get_inputs", "get_init_inputs"):
            first = min([node.lineno] + [d.lineno for d in node.decorator_list])
            gone.update(range(first, node.end_lineno + 1))
    kept = [line for number, line in enumerate(lines, 1) if number not in gone]
    return "\n".join(kept).rstrip() + "\n"


def sizes_of(names):
    """The problem's own integers: what launch lines of a kernel may name."""
    return {name: value for name, value in names.items()
            if type(value) is int and not name.startswith("_") and 0 <= value < 1 << 31}


def pack(value):
    file = io.BytesIO()
    try:
        torch.save(value, file)
    except Exception as problem:
        raise Fault(INVALID, f"get_init_inputs gives something that cannot be sent to another process: {problem}") \
            from None
    return base64.b64encode(file.getvalue()).decode()


def unpack(text):
    file = io.BytesIO(base64.b64decode(text))
    try:
        return torch.load(file, weights_only=False)
    except TypeError:  # PyTorch 1.12 and before did not ask
        return torch.load(file)


def unique(name, taken):
    name = "".join(c if c.isalnum() or c == "_" else "_" for c in name)[:56] or "t"
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def facts_of(tensor, name):
    count = trees.storage_elements(tensor)
    return {"name": name, "dtype": trees.DTYPES[tensor.dtype], "shape": list(tensor.shape),
            "stride": list(tensor.stride()), "elements": count, "bytes": count * tensor.element_size()}


def name_inputs(model, nodes, leaves):
    """After forward's parameters: "x", and "x_0" for the first tensor of a list."""
    names, taken, result = contracts.parameter_names(model), set(), []
    for tensor, path in leaves:
        top, _, rest = path[1:].partition("_")
        index = int(top)
        name = names[index] if index < len(names) else f"input_{index}"
        result.append(facts_of(tensor, unique(name + ("_" + rest if rest else ""), taken)))
    return result


def name_outputs(outputs, inputs, names=None):
    taken, result = set(), []
    ranges = [(t.data_ptr(), t.data_ptr() + trees.storage_elements(t) * t.element_size()) for t, _ in inputs]
    for tensor, path in outputs:
        name = names[len(result)] if names and len(names) == len(outputs) else "out" + path
        facts = facts_of(tensor.contiguous(), unique(name, taken))
        facts["view"] = any(low <= tensor.data_ptr() < high for low, high in ranges)
        result.append(facts)
    return result


def with_dtypes(node, outputs):
    """Puts the dtypes beside the shapes of a result's tensors."""
    if "tensor" in node:
        node["dtype"] = outputs[node["tensor"]]["dtype"]
    for child in node.get("list", node.get("tuple", [])):
        with_dtypes(child, outputs)
    for _, child in node.get("dict", []):
        with_dtypes(child, outputs)


def run(path, role, channel):
    """Serves the role until the evaluator is gone; returns the process's exit code."""
    library = Library(path)
    side = Candidate() if role == "candidate" else Referee()
    hooks = side.hooks(library)
    return library.c.ako_role_run(role.encode(), channel, ctypes.byref(hooks))
