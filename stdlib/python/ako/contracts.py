"""Formats of problems and solutions, each seen as KernelBench's: what makes a model, and the arguments of its call. A
format is a class with `of(bundle, question)` for a problem and a function `solve(bundle, spec)` for a solution's model;
FORMATS names them, and a question without "format" is KernelBench's own."""
import inspect
import sys
import types

import torch

from ako import trees
from ako.facts import text_of
from ako.faults import a
from ako.hooks import COMPILE, INVALID, Fault


class KernelBench:
    """class Model, get_inputs() and get_init_inputs(), the latter two first from the file that question["inputs_file"]
    names."""
    names = outputs_names = None
    tolerance = {}  # of the problem's own, atol and rtol

    def __init__(self, bundle, question):
        files = [bundle.module]
        if question.get("inputs_file"):
            files.insert(0, bundle.load(question["inputs_file"], "inputs"))
        self.bundle, self.model = bundle, bundle.need_model("Model")
        self.inputs_file = question.get("inputs_file") or bundle.main
        self.get_inputs = _first(files[:1], "get_inputs")
        self.get_init_inputs = _first(files, "get_init_inputs") or list
        if not self.get_inputs:
            raise Fault(COMPILE, f"{self.inputs_file}: has no get_inputs")
        self.sizes = {name: value for file in reversed(files) for name, value in vars(file).items()}

    def init(self):
        return self.listed(self.get_init_inputs(), "get_init_inputs")

    def inputs(self, seed):  # pylint: disable=unused-argument
        return self.listed(self.get_inputs(), "get_inputs")

    def listed(self, value, name):
        """What one of its functions gives, as a list."""
        if not isinstance(value, (list, tuple)):
            raise Fault(INVALID, f"{self.inputs_file}: {name} gives {a(value)}, not a list")
        return list(value)

    def outputs(self, device):  # pylint: disable=unused-argument
        """What a call writes in place, as it is before the call."""
        return []

    def for_solutions(self):
        """What else a solution's side is told, as members of its spec."""
        return {}

    @staticmethod
    def solve(bundle, spec):
        refuse_inputs(bundle, spec)
        if bundle.is_extension:
            return lambda *init: Function(bundle.need("forward"))
        return bundle.need_model("ModelNew", "Model")


def refuse_inputs(bundle, spec):
    if hasattr(bundle.module, "get_inputs") and not spec.get("inputs_ignored"):
        raise Fault(COMPILE, f"{bundle.main}: a solution may not define get_inputs: the inputs are the problem's")


class Function(torch.nn.Module):
    """A function as a model that needs no weights."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


class RobustKBench(KernelBench):
    """forward_fn, and a class Model whose forward takes it as fn; each case has settings for both: how["init_config"]
    are the arguments of Model, how["input_config"] those of get_inputs."""

    def __init__(self, bundle, how):
        self.bundle, self.inputs_file = bundle, bundle.main
        self.init_config, self.input_config = how["init_config"], how["input_config"]
        self.model_class, self.draw = bundle.need_model("Model"), bundle.need("get_inputs")
        self.names = [str(name) for name in getattr(bundle.module, "input_names", [])] or None
        self.sizes = {**self.init_config, **self.input_config}

    def model(self, settings):
        return self.model_class(**settings)

    def init(self):
        return [self.init_config]

    def get_inputs(self):
        return self.draw(**self.input_config)

    def for_solutions(self):
        return {"model_text": text_of(self.bundle)}

    @staticmethod
    def solve(bundle, spec):
        """A model of its own; or what takes the place of forward_fn in the problem's, which has the weights."""
        refuse_inputs(bundle, spec)
        is_model = hasattr(bundle.module, "ModelNew") or not hasattr(bundle.module, "forward_fn")
        if is_model and not bundle.is_extension:
            model = bundle.need_model("ModelNew", "Model")
        else:
            function = bundle.need("forward" if bundle.is_extension else "forward_fn")
            model = _with_function(spec, function)
        return lambda settings: model(**settings)


def _with_function(spec, function):
    """The problem's class Model, which calls this function for forward_fn. Its text is loaded as the problem itself is:
    from where it lies, as a module that others find."""
    name = "the problem"
    module = sys.modules[name] = types.ModuleType(name)
    module.__file__ = spec["origins"][spec["main"]]
    exec(compile(spec["model_text"], name, "exec"), vars(module))  # pylint: disable=exec-used

    class Filled(module.Model):
        def forward(self, *args):
            return super().forward(*args, fn=function)
    return Filled


class Keywords(torch.nn.Module):
    """A function of keywords as a model: its outputs are its last arguments, written in place or returned."""

    def __init__(self, function, names, outputs):
        super().__init__()
        self.function, self.names, self.outputs = function, names, outputs

    def forward(self, *args):
        result = self.function(**dict(zip(self.names, args)))
        if result is None:
            return None
        if isinstance(result, dict):
            result = [result.get(name) for name in self.outputs]
        result = list(result) if isinstance(result, (list, tuple)) else [result]
        places = args[len(args) - len(self.outputs):]
        return [_shaped(value, place) for value, place in zip(result, places)] + result[len(places):]


class Roofline:
    """reference(**kwargs) over what setup(**dims, seed) gives, or over the arguments of a kernel's entry point:
    question["arguments"] is [{"name", "value"} | {"name", "dtype", "shape", "role": "input" | "output"}, ...]. A
    function shapes(**dims) of the reference's may give other shapes, by name; atol and rtol are its own, too."""

    def __init__(self, bundle, question):
        self.bundle, self.dims, self.arguments = bundle, question["dims"], question.get("arguments")
        self.function, self.setup, self.setup_file = bundle.need("reference"), None, question.get("inputs_file")
        if not self.arguments:
            files = [bundle.load(self.setup_file, "inputs")] if self.setup_file else []
            self.setup = _first(files + [bundle.module], "setup")
            if not self.setup:
                raise Fault(COMPILE, f"{self.setup_file or bundle.main}: has no setup(**dims, seed)")
        shapes = getattr(bundle.module, "shapes", None)
        self.shapes = _with_sizes(f"{bundle.main}: shapes", shapes, self.dims) if callable(shapes) else {}
        self.tolerance = {name: float(getattr(bundle.module, name)) for name in ("atol", "rtol")
                          if hasattr(bundle.module, name)}
        inputs, places = self.declared() if self.arguments else self.made(question["seed"])
        self.names, self.outputs_names, self.sizes = list(inputs) + list(places), list(places), self.dims
        self.places = [(list(place.shape), place.dtype) for place in places.values()]

    def made(self, seed):
        """The arguments of a call by their names: what goes in, and what comes out."""
        if not self.setup:
            inputs, places = self.declared()
            return {name: _random(value) if _is_tensor(value) else value for name, value in inputs.items()}, places
        where = f"{self.setup_file or self.bundle.main}: setup"
        given = _with_sizes(where, self.setup, self.dims, seed=seed)
        if not isinstance(given, dict) or not isinstance(given.get("inputs"), dict) or not given.get("outputs"):
            raise Fault(INVALID, f"{where} must give a dict of 'inputs' and 'outputs'")
        inputs, outputs = dict(given["inputs"]), given["outputs"]
        places = outputs if isinstance(outputs, dict) else {name: inputs.get(name) for name in outputs}
        for name, place in places.items():
            if not _is_tensor(place):
                raise Fault(INVALID, f"{where}: the output '{name}' is no tensor")
            inputs.pop(name, None)
        return inputs, places

    def declared(self):
        """The same, tensors without content."""
        inputs, outputs = {}, {}
        for one in self.arguments:
            name = one["name"]
            if "value" in one:
                inputs[name] = one["value"]
                continue
            if one["dtype"] not in trees.TYPES:
                raise Fault(INVALID, f"'{name}' is {one['dtype']}, which PyTorch {torch.__version__} does not know")
            shape = self.shapes.get(name, one["shape"])
            shape = [shape] if isinstance(shape, int) else list(shape)
            side = inputs if one["role"] == "input" else outputs
            side[name] = torch.empty(shape, dtype=trees.TYPES[one["dtype"]], device="meta")
        return inputs, outputs

    def model(self):
        return Keywords(self.function, self.names, self.outputs_names)

    def init(self):
        return []

    def inputs(self, seed):
        return list(self.made(seed)[0].values())

    def outputs(self, device):
        return [torch.zeros(shape, dtype=dtype, device=device) for shape, dtype in self.places]

    def for_solutions(self):
        return {}

    @staticmethod
    def solve(bundle, spec):
        function = getattr(bundle.module, "run_kernel", None)
        if not callable(function):
            raise Fault(COMPILE, f"{bundle.main}: has no run_kernel")
        return lambda: Keywords(function, spec["names"], spec["in_place"])


FORMATS = {"kernelbench": KernelBench, "robust-kbench": RobustKBench, "roofline": Roofline}


def format_of(how):
    """The format that a question or a task's spec names."""
    return FORMATS[how.get("format") or "kernelbench"]


def parameter_names(model):
    """Of a model's call, where they are known."""
    try:
        return [name for name in inspect.signature(model.forward).parameters if name.isidentifier()]
    except (TypeError, ValueError):
        return []


def _first(modules, name):
    return next((getattr(m, name) for m in modules if callable(getattr(m, name, None))), None)


def _with_sizes(where, function, dims, **more):
    """Calls it with the sizes of the command line, which must be those that it has parameters for."""
    try:
        params = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return function(**dims, **more)
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    sizes = {one.name: one for one in params if one.name not in more and one.kind in by_name}
    missing = [name for name, one in sizes.items() if one.default is one.empty and name not in dims]
    if missing:
        form = ",".join(f"{name}={dims.get(name, 'NUMBER')}" for name in sizes if name in dims or name in missing)
        raise Fault(INVALID, f"{where}: no size {', '.join(map(repr, missing))}: give --dims={form}")
    unknown = [name for name in dims if name not in sizes]
    if unknown and not any(one.kind is one.VAR_KEYWORD for one in params):
        raise Fault(INVALID, f"{where}: there is no size '{unknown[0]}'; there "
                             + (f"are {', '.join(sizes)}" if sizes else "is none"))
    return function(**dims, **more)


def _shaped(value, place):
    """As the output that it is for, which a kernel may know as a flat one."""
    if _is_tensor(value) and value.shape != place.shape and value.numel() == place.numel():
        return value.reshape(place.shape)
    return value


def _is_tensor(value):
    return isinstance(value, torch.Tensor)


def _random(like):
    if like.dtype.is_floating_point:
        return torch.randn(like.shape).to(like.dtype)
    return torch.randint(0, 2 if like.dtype is torch.bool else 100, like.shape).to(like.dtype)
