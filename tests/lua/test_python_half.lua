-- What stdlib/python does that shows on a GPU alone, or would only after a fraud: its parts by themselves, on the CPU.
local fs = require "ako.fs"
local lane = require "lane"
local process = require "ako.process"
local t = require "ako.tap"

local HEAD = "import ctypes, os, sys\nimport torch\n"

-- Runs a script beside the Python half; it must end well.
local function check(name, script)
    t.test(name, function()
        local program = lane.need().program
        local file = lane.write(name:gsub("%W", "_") .. ".py", HEAD .. script)
        local result = assert(process.run { program, file, limit_ns = 120 * 1000000000,
            env = { PYTHONPATH = fs.join(t.home, "stdlib/python") } })
        t.eq(result.stderr, "")
        t.eq(result.code, 0)
    end)
end

check("an input kept on the host has the strides that it had", [[
from ako.draws import on_host
for tensor in (torch.arange(60.).view(5, 12)[1:, ::3], torch.arange(4.).expand(3, 4), torch.ones(2, 3).t()):
    kept = on_host(tensor)
    assert kept.stride() == tensor.stride() and torch.equal(kept, tensor), (kept.stride(), tensor.stride())
]])

-- A call with an input and an output that it writes in place.
local SIDE = [[
from ako.inputs import stager
x, y = torch.arange(6.).view(2, 3), torch.zeros(3, 2)
spec = {"args": {"list": [{"tensor": 0}]}, "seed": 1, "draws": ["random"], "in_place": ["y"],
        "inputs": [{"shape": [2, 3], "stride": [3, 1], "dtype": "f32", "bytes": 24}],
        "outputs": [{"elements": 6, "shape": [3, 2], "dtype": "f32"}]}
addresses = (ctypes.c_void_p * 2)(x.data_ptr(), y.data_ptr())
]]

check("buffers of outputs come last among the arguments", SIDE .. [[
ranges = []
got, out = stager(spec, torch.device("cpu"), ranges)(addresses)
assert torch.equal(got, x) and got.data_ptr() == x.data_ptr() and ranges == [(x.data_ptr(), x.data_ptr() + 24)]
assert out.shape == (3, 2) and out.data_ptr() == y.data_ptr()
]])

check("nothing that a solution has exchanged is called while arguments are made ready", SIDE .. [[
stage = stager(spec, torch.device("cpu"), [])
import random
class Exchanged(random.Random):
    def __setattr__(self, name, value):
        raise AssertionError("called")
    gauss_next = property(None, __setattr__)
    seed = setstate = __setattr__
def fail(*args, **kwargs):
    raise AssertionError("called")
torch.frombuffer = torch.as_tensor = torch.empty = torch.Tensor.view = torch.Tensor.as_strided = fail
torch.manual_seed = torch.default_generator = fail
random.seed = random.Random.seed = random._inst.seed = fail
random._inst.__class__ = Exchanged
stage(addresses)
]])

check("the generators that a problem draws from begin every call alike, the others are left alone", SIDE .. [[
import random, importlib.util
has_numpy = importlib.util.find_spec("numpy") is not None
if has_numpy:
    import numpy
def draw():
    numbers = [torch.rand(1).item(), random.random(), random.gauss(0, 1)]
    return numbers + [numpy.random.rand(), numpy.random.randn()] if has_numpy else numbers
def two(draws):
    spec.update(seed=1 << 40, draws=draws)
    stage = stager(spec, torch.device("cpu"), [])
    stage(addresses)
    first = draw()
    stage(addresses)
    return [a == b for a, b in zip(first, draw())]
assert two(["torch"]) == [True, False, False] + [False, False] * has_numpy
assert two(["random"]) == [True, True, True] + [False, False] * has_numpy
random.seed(1 << 40)
assert [random.random(), random.gauss(0, 1)] == (stager(spec, torch.device("cpu"), [])(addresses), draw()[1:3])[1]
if has_numpy:
    assert two(["torch", "random", "numpy"]) == [True] * 5
]])

check("memory that cannot be taken over is said at the start, with what to do", [[
from ako.hooks import UNAVAILABLE, Fault
from ako.inputs import check_bridge
check_bridge(torch.device("cpu"))
def fail(*args, **kwargs):
    raise RuntimeError("Numpy is not available")
torch.frombuffer = fail
try:
    check_bridge(torch.device("cpu"))
except Fault as fault:
    assert fault.status == UNAVAILABLE
    assert "(Numpy is not available)" in str(fault) and str(fault).endswith(" -m pip install numpy"), fault
else:
    raise AssertionError("nothing said")
]])

check("a solution can watch our steps by no way of Python 3.12", [[
from ako.candidate import take_monitoring_away
class Monitoring:
    pass
if not hasattr(sys, "monitoring"):
    sys.monitoring = Monitoring()
    sys.monitoring.register_callback = print
take_monitoring_away()
assert not hasattr(sys.monitoring, "register_callback")
take_monitoring_away()
]])

-- Builds of extensions whose compiler is a function here.
local BUILD = [[
import tempfile, time
from ako import extension_build, extensions
def leave(folder, *names):
    for name in names:
        open(os.path.join(folder, name), "w").close()
def build(compile, cache, spec=extensions.wanted("e", "int x;")):
    extension_build._compile = lambda spec, folder, arch, confine: compile(folder)
    return extension_build.build(spec, cache, "sm_90a", None)
def fail(*args):
    raise RuntimeError("called")
]]

check("an extension is built aside, once, and lies in the cache like any other build", BUILD .. [[
def compile(folder):
    assert os.path.basename(folder)[0] == "."
    leave(folder, "e.so", "main.cpp", ".ninja_log")
    os.makedirs(os.path.join(folder, "more/below"))
    os.symlink("/", os.path.join(folder, "root"))
with tempfile.TemporaryDirectory() as cache:
    path = build(compile, cache)["path"]
    (name,) = os.listdir(cache)
    assert name.startswith("extension-") and os.listdir(os.path.join(cache, name)) == ["e.so"]
    assert path == os.path.join(cache, name, "e.so")
    assert build(fail, cache)["path"] == path
]])

check("an extension is built anew when a header of the user's own has changed", BUILD .. [[
def put(text):
    with open(header, "w") as file:
        file.write(text)
def compile(folder):
    leave(folder, "e.so")
    extension_build._files_of = lambda spec, folder: [header]
extension_build._changed_meanwhile = lambda stamps, began_ns: None  # here it is, as good as
with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as own:
    header = os.path.join(own, "mine.h")
    put("1")
    first = build(compile, cache)
    stamp = [header, 1, os.stat(header).st_ctime_ns]
    assert first["files"] == [stamp], first
    assert build(fail, cache) == first
    put("2")
    assert build(fail, cache)["error"] == "load_inline('e'): called"
    second = build(compile, cache)
    assert second["path"] != first["path"] and build(fail, cache) == second
    put("1")
    assert build(fail, cache)["path"] == first["path"]
    os.unlink(header)
    assert "error" in build(fail, cache)
]])

check("a header that is changed while it is compiled makes no binary", BUILD .. [[
def compile(folder):
    leave(folder, "e.so")
    time.sleep(0.02)
    open(header, "w").close()
extension_build._files_of = lambda spec, folder: [header]
with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as own:
    header = os.path.join(own, "mine.h")
    built = build(compile, cache)
    assert built["error"] == f"load_inline('e'): {header} was changed while it was compiled: try again", built
    assert not os.listdir(cache), os.listdir(cache)
    aside = os.path.join(own, "older.h")
    open(aside, "w").close()
    os.utime(aside, (1, 1))
    def move(folder):
        leave(folder, "e.so")
        time.sleep(0.02)  # a file system's clock has a step
        os.rename(aside, header)
    assert "was changed while" in build(move, cache)["error"], "an older file that takes its place"
    def no_compile(folder):
        leave(folder, "e.so")
    assert "error" not in build(no_compile, cache)
later = time.time_ns() + 10 ** 12
assert extension_build._changed_meanwhile([(1, 1, 5), (2, 1, later)], 6) is None, "a clock that goes before ours"
]])

check("a full disk is not the solution's fault, and a kept binary needs no right to write", BUILD .. [[
import errno
from ako.hooks import UNAVAILABLE, Fault
def full(folder):
    raise OSError(errno.ENOSPC, "No space left on device")
def said(folder):
    raise RuntimeError("Error building extension 'e': as: No space left on device")
with tempfile.TemporaryDirectory() as cache:
    for compile in (full, said):
        try:
            raise AssertionError(build(compile, cache))
        except Fault as fault:
            assert (fault.status, str(fault)[:len(cache)]) == (UNAVAILABLE, cache), str(fault)
        assert not os.listdir(cache)
    path = build(lambda folder: leave(folder, "e.so"), cache)["path"]
    def refused(*args):
        raise OSError(errno.EROFS, "Read-only file system")
    os.utime = refused
    assert build(fail, cache)["path"] == path
    tempfile.mkdtemp = lambda **names: refused()
    try:
        raise AssertionError(build(fail, cache, extensions.wanted("e", "int y;")))
    except Fault as fault:
        assert fault.status == UNAVAILABLE and "Read-only file system" in str(fault), str(fault)
]])

check("names that are no UTF-8 are refused in one line", BUILD .. [[
from ako.hooks import Fault
try:
    raise AssertionError(extensions.wanted("e", "int x;", extra_include_paths=[os.fsdecode(b"/a\xff")]))
except Fault as fault:
    assert str(fault).startswith("load_inline('e'): 'utf-8' codec"), str(fault)
def compile(folder):
    leave(folder, "e.so")
    extension_build._files_of = lambda spec, folder: [os.fsdecode(b"/a\xff/own.h")]
with tempfile.TemporaryDirectory() as cache:
    error = build(compile, cache)["error"]
    assert error.endswith("own.h': the name of a file that is included must be UTF-8"), error
]])

check("a build that fails leaves nothing, whatever it fails with", BUILD .. [[
cases = [(fail, "load_inline('e'): called"),
         (lambda folder: os._exit(0), "load_inline('e'): the compiler's process ended"),
         (lambda folder: leave(folder, "f.so"), "load_inline('e'): what was built is no e.so"),
         (lambda folder: os.symlink("/bin/sh", folder + "/e.so"), "load_inline('e'): what was built is no e.so")]
with tempfile.TemporaryDirectory() as cache:
    for compile, reason in cases:
        built = build(compile, cache)
        assert built["error"] == reason, built
        assert not os.listdir(cache), os.listdir(cache)
]])

check("what is asked for and is none of ours is refused before it names any file", BUILD .. [[
with tempfile.TemporaryDirectory() as cache:
    for spec in ("e", None, {}, {"name": "../e"}, {"name": 1}, {"name": "/etc/e"}, {"name": "e", "file": 1}):
        assert build(fail, cache, spec)["error"].startswith("load_inline: what is asked for has no name"), spec
    assert not os.listdir(cache)
]])

check("what load_inline is given by place is known by its name", [[
import types
from pathlib import Path
from ako import extensions
def own(name, cpp_sources, cuda_sources=None, functions=None, extra_include_paths=None):
    pass
cpp = sys.modules["torch.utils.cpp_extension"] = types.SimpleNamespace(load_inline=own)
found = []
extensions.replace(None)
extensions.replace(extensions.recorder(found))
cpp.load_inline("e", "int x;", None, ["f"])
cpp.load_inline("e", cpp_sources=("int x;",), functions="f", extra_include_paths=[Path("here")])
assert cpp.load_inline.original is own
assert found == [{"name": "e", "cpp_sources": ["int x;"], "functions": ["f"]}, {"name": "e", "cpp_sources": ["int x;"],
                 "functions": "f", "extra_include_paths": ["here"]}], found
]])

check("another compiler builds anew, and so does another flag that is off", BUILD .. [[
def key(path, **options):
    os.environ["CXX"] = path
    return extension_build.key_of(extensions.wanted("e", "int x;", **options), "")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "c++")
    leave(folder, "c++")
    os.chmod(path, 0o755)
    first = key(path)
    assert first == key(path) and first != key("c++") and first != key(path, with_pytorch_error_handling=False)
    os.utime(path, (1, 1))
    assert first != key(path)
]])

check("what takes long is done once, while nobody waits, and CUDA is asked for nothing", [[
import nursery, socket, types
here, there = socket.socketpair()
hashed = []
sys.modules["triton.compiler.compiler"] = types.SimpleNamespace(triton_key=lambda: hashed.append(1))
asks = torch.cuda.is_available = lambda: 1 / 0
steps = [lambda: 1 / 0] + nursery.IN_ADVANCE
there.sendall(b"x")
nursery.work_ahead(steps, here)
assert not hashed and len(steps) == 1 + len(nursery.IN_ADVANCE), "somebody waits"
here.recv(1)
nursery.work_ahead(steps, here)
assert len(hashed) == 1 and not steps
assert "torch.utils.cpp_extension" in sys.modules and torch.cuda.is_available is asks
assert not torch.cuda.is_initialized() and not torch.cuda._is_in_bad_fork()
]])

check("what we say ourselves, in a call from a file, is said as it is", [[
from ako.faults import explain
from ako.hooks import COMPILE, Fault
fault = explain(Fault(COMPILE, "built before"), {}, loading=True)
assert (fault.status, str(fault)) == (COMPILE, "built before"), str(fault)
]])

check("all generators are seeded as torch.manual_seed does it", [[
from ako.models import seed_everything
def drawn():
    return torch.rand(3).tolist()
torch.manual_seed(5)
wanted = drawn()
seed_everything(5)
assert drawn() == wanted
card = torch.Generator()
torch.cuda.is_initialized, torch.cuda.default_generators = lambda: True, (card,)
seed_everything(5)
assert drawn() == wanted and card.initial_seed() == 5
]])

check("switches of precision are read by the name that a file has set them by", [[
from ako.models import allows_tf32, precision
class Newer:
    def __init__(self, **names):
        self.__dict__.update(names)
    @property
    def allow_tf32(self):
        raise RuntimeError("you have used mix of the legacy and new APIs")
assert allows_tf32(Newer(fp32_precision="tf32")) and not allows_tf32(Newer(fp32_precision="ieee"))
assert not allows_tf32(Newer(fp32_precision="none", conv=Newer(fp32_precision="ieee")))
assert set(map(type, precision().values())) == {bool}
]])

check("a fork sees the GPU that the evaluator has chosen since", [[
import nursery
os.environ["CUDA_VISIBLE_DEVICES"] = "GPU-of-before"
nursery.see_devices(None)
assert os.environ["CUDA_VISIBLE_DEVICES"] == "GPU-of-before"
nursery.see_devices("GPU-1")
assert os.environ["CUDA_VISIBLE_DEVICES"] == "GPU-1"
]])

check("memory is given back behind a call of its own, not between timed ones", [[
from ako.referee import Referee
given = []
class Watched(Referee):
    def give_back(self):
        given.append(1)
referee = Watched()
referee.kept.append(torch.zeros(1))
referee.release(1)
assert not referee.kept and not given
referee.release(0)
assert len(given) == 1
referee.variant("")
assert len(given) == 2
]])

check("a fork whose evaluator has ended meanwhile ends, too", [[
import nursery, time
own, getppid = os.getpid(), os.getppid
os.getppid = lambda: 1 << 30 if os.getpid() == own else getppid()
pid = nursery.fork({"role": "referee", "folder": "/"}, 0, "none")
def is_running():
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
while is_running():
    time.sleep(0.001)
]])

check("where no process more can be made, none is named", [[
import nursery
own, fork = os.getpid(), os.fork
def fail():
    raise BlockingIOError("no process more")
os.fork = fail
assert nursery.fork({}, 0, "none") == 0
os.fork = lambda: fork() if os.getpid() == own else fail()
assert nursery.fork({}, 0, "none") == 0
]])
