"""Builds of what solutions ask load_inline for (ako.extensions), by a process of ours into a cache by content. Sources
and flags are a solution's, and a flag can have the compiler run what it likes: so that works in a fork which can write
nowhere but in a folder of its own, and what it leaves there is looked at afterwards."""
import contextlib
import errno
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time

import torch

from ako import extensions
from ako.faults import one_line
from ako.hooks import UNAVAILABLE, Fault

_LONGEST_LOG = 1 << 20
_CLOCK_REALTIME_COARSE = 5  # of Linux; Python has no name for it


def _program(name):
    """Other facts after every exchange of a program; None where there is none."""
    path = shutil.which(name)
    if not path:
        return None
    stat = os.stat(path)
    return [os.path.realpath(path), stat.st_size, stat.st_mtime_ns]


def _nvcc():
    """Where PyTorch looks, in its order."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    return os.path.join(home, "bin", "nvcc") if home else shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


def _compilers(spec):
    names = shlex.split(os.environ.get("CXX", "c++")) + ([_nvcc()] if "cuda_sources" in spec else [])
    return [_program(name) for name in names]


def key_of(spec, arch):
    """All that decides the binary, but for the files that it is built from: which these are, only a build shows."""
    return _hash([spec, torch.__version__, list(sys.version_info[:2]), arch, _compilers(spec)])


def _hash(facts):
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]


def _content(path):
    """Of a file, as a hash; None where there is none. A path is what a solution's build has said: no device is read."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def _stamps(files):
    """[[path, size, ctime in ns], ...]; a file that is not there has -1 for both. While these stay the same (which
    extensions.c looks at), so do the files: a ctime cannot be set, and is that of a rename, too."""
    stamps = []
    for path in files:
        try:
            stat = os.stat(path)
            stamps.append([path, stat.st_size, stat.st_ctime_ns])
        except OSError:
            stamps.append([path, -1, -1])
    return stamps


def _files_clock_ns():
    """The clock of ctimes, which stands still between ticks of the kernel: a finer one would be ahead of it."""
    return time.clock_gettime_ns(_CLOCK_REALTIME_COARSE)


def _is_text(path):
    """Whether it can travel as JSON."""
    try:
        return bool(path.encode())
    except UnicodeEncodeError:
        return False


def _changed_meanwhile(stamps, began_ns):
    """The path of a file that a compiler may have read before it was what it is now; None where there is none. What
    is newer than now has another clock, which tells nothing."""
    now_ns = _files_clock_ns()
    return next((path for path, _, changed_ns in stamps if began_ns < changed_ns <= now_ns), None)


def _place(cache, key, files):
    """The folder of the binary that is built from these files, as they are now."""
    return os.path.join(cache, "extension-" + (_hash([key, [[path, _content(path)] for path in files]])
                                               if files else key))


def _list_of_files(cache, key):
    return os.path.join(cache, "files-" + key, "paths.json")


def _files_known(cache, key):
    """Those that the last build for the key was from."""
    try:
        with open(_list_of_files(cache, key), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return []


def _remember_files(cache, key, files):
    path = _list_of_files(cache, key)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(path), delete=False) as file:
        json.dump(files, file)
    os.replace(file.name, path)


def _toolchain():
    """Where headers lie that come and go with PyTorch, Python and the compilers."""
    home = os.path.dirname(os.path.dirname(_nvcc()))
    return tuple(os.path.realpath(path) + os.sep for path in
                 (os.path.dirname(torch.__file__), sysconfig.get_path("include"), home, "/usr/include", "/usr/lib"))


def _named(spec):
    """Objects and archives."""
    flags = spec.get("extra_ldflags")
    words = [word for flag in flags if isinstance(flag, str) for word in flag.split()] if flags else []
    return {os.path.abspath(word) for word in words if os.path.isfile(word)}


def _files_of(spec, folder):
    """What was read for the folder's build, but for the toolchain's: headers, of which ninja knows, and what is linked
    by its name. A link is watched by its own name: it may point elsewhere tomorrow."""
    said = subprocess.run(["ninja", "-t", "deps"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout.decode("utf-8", "surrogateescape")
    paths = {os.path.join(folder, line.strip()) for line in said.splitlines() if line.startswith("    ")}
    others = (os.path.realpath(folder) + os.sep, *_toolchain())
    return sorted(path for path in paths | _named(spec) if not os.path.realpath(path).startswith(others))


def arch_list(arch):
    """TORCH_CUDA_ARCH_LIST as the user has it, or for the card: "9.0a" for "sm_90a"."""
    digits = re.fullmatch(r"sm_(\d+)(\d)(a?)", arch)
    return os.environ.get("TORCH_CUDA_ARCH_LIST") or (f"{digits[1]}.{digits[2]}{digits[3]}" if digits else "")


def _with_lines(spec):
    """Messages are to name the user's own strings, or file, and lines."""
    marked = {key: value for key, value in spec.items() if key != "file"}
    for key in extensions.TEXTS:
        if key in spec:
            marked[key] = [f'#line 1 "{spec.get("file") or f"{key}[{i}]"}"\n{text}'
                           for i, text in enumerate(spec[key])]
    return marked


_ERROR = re.compile(r"^(.*?)[(:](\d+)(?::\d+)?\)?: (?:fatal )?error[: ](.*)$", re.M)
_SAID = re.compile(r"^FAILED: .*\n.*\n(.+)$", re.M)  # ninja names what failed, then the command, then its output
_STRINGS = r"\w+_sources\[\d+\]"


def _origin(log, error, own):
    """Where in the user's text an error begins that shows deep inside a template: gcc says so before, nvcc behind."""
    before = re.search(rf"^({own}):(\d+):\d+:   required from", log[:error.start()], re.M)
    behind = re.search(rf'at line (\d+) of "?({own})', log[error.end():])
    if before:
        return before[1], before[2]
    return (behind[2], behind[1]) if behind else None


def first_error(log, own=_STRINGS):
    """The first of a compiler's log, by the user's own text, whose names this expression matches."""
    found = _ERROR.search(log)
    if not found:
        said = _SAID.search(log)
        return one_line(said[1] if said else log) or "the compiler gave no reason"
    place, text = f"{os.path.basename(found[1])}:{found[2]}", found[3].strip()
    origin = None if re.fullmatch(own, found[1]) else _origin(log, found, own)
    return f"{origin[0]}:{origin[1]}: {text} (in {place})" if origin else f"{place}: {text}"


def reason(spec, log):
    """Why it does not compile, in one line."""
    if "file" in spec:
        error = first_error(log, re.escape(spec["file"]))
        return error if error.startswith(spec["file"]) else f"{spec['file']}: {error}"
    return f"load_inline('{spec['name']}'): {first_error(log)}"


def _failed(spec, log):
    return {"error": reason(spec, log), "log": log[:_LONGEST_LOG]}


def _compile(spec, folder, arch, confine):
    import torch.utils.cpp_extension as cpp
    cpp._import_module_from_library = lambda *args, **kwargs: None  # built, not loaded: it is a solution's code
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
    os.environ.update(TMPDIR=folder, CCACHE_DISABLE="1")  # its folder is another one
    if arch:
        os.environ["TORCH_CUDA_ARCH_LIST"] = arch
    confine(folder)
    cpp.load_inline(build_directory=folder, verbose=False, **_with_lines(spec))


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
_NO_ROOM_SAID = tuple(map(os.strerror, _NO_ROOM))


def _is_for_lack_of_room(problem):
    """Whether it is the machine's fault, by what it is or by what a compiler has said."""
    return getattr(problem, "errno", None) in _NO_ROOM or any(text in str(problem) for text in _NO_ROOM_SAID)


def _attempt(spec, folder, arch, confine):
    """{"files"}, or what it fails with, which is the solution's: that load_inline knows no such argument, too."""
    try:
        _compile(spec, folder, arch, confine)
        return {"files": _files_of(spec, folder)}
    except Exception as problem:  # pylint: disable=broad-except
        return {**_failed(spec, str(problem)), "room": _is_for_lack_of_room(problem)}


def _in_fork(run):
    """What run() gives, in a process of its own; None where that ends before it has said it."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            with os.fdopen(writer, "w") as file:
                json.dump(run(), file)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(pid, 0)
    try:
        return json.loads(text)
    except ValueError:
        return None


def _leave_only(folder, name):
    """Whether a file of that name is there; all else goes."""
    there = False
    for entry in list(os.scandir(folder)):
        if entry.name == name and entry.is_file(follow_symlinks=False):
            there = True
        elif entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)
    return there


def _build_in(folder, spec, arch, confine):
    """{"files"} where the binary lies in the folder, alone; or what it fails with."""
    result = _in_fork(lambda: _attempt(spec, folder, arch, confine))
    if result is None:
        return _failed(spec, "the compiler's process ended")
    name = spec["name"] + ".so"
    return result if "error" in result or _leave_only(folder, name) else _failed(spec, f"what was built is no {name}")


def _is_sound(spec):
    """What ako.extensions asks for is; a solution could have said anything in its place."""
    return isinstance(spec, dict) and extensions.is_name(spec.get("name")) and isinstance(spec.get("file", ""), str)


def build(spec, cache, arch, confine):
    """{"spec","path","files"}, the stamps of what it was built from that is the user's own, or {"error","log"} where it
    does not compile. Raises a Fault, UNAVAILABLE, where the machine has no room. Built aside and renamed: others may do
    it too. confine(folder): from there on the process that calls it can write in the folder alone."""
    if not _is_sound(spec):
        return {"error": "load_inline: what is asked for has no name, or none of a module", "log": ""}
    try:
        return _build(spec, cache, arch, confine)
    except OSError as problem:
        if problem.errno not in _NO_ROOM:
            raise
        raise Fault(UNAVAILABLE, f"{cache}: {problem.strerror}: extensions are built and kept there") from None


def _what_hinders(stamps, began_ns):
    """Why a binary is none of these files', or cannot be told of; None where it is theirs."""
    unnamed = next((path for path, _, _ in stamps if not _is_text(path)), None)
    changed = _changed_meanwhile(stamps, began_ns)
    if unnamed:
        return f"{ascii(unnamed)}: the name of a file that is included must be UTF-8"
    return f"{changed} was changed while it was compiled: try again" if changed else None


def _build(spec, cache, arch, confine):
    arch = arch_list(arch)
    key = key_of(spec, arch)
    files = _files_known(cache, key)
    stamps = _stamps(files)  # before what they stand for is read
    target = _place(cache, key, files)
    path = os.path.join(target, spec["name"] + ".so")
    if os.path.exists(path):
        with contextlib.suppress(OSError):  # in use; where nothing can be written, nothing is swept away either
            os.utime(target)
        return {"spec": spec, "path": path, "files": stamps}
    if "cuda_sources" in spec and not torch.version.cuda:
        return _failed(spec, f"CUDA code, but PyTorch {torch.__version__} was built without CUDA")
    os.makedirs(cache, exist_ok=True)
    folder = tempfile.mkdtemp(prefix=".extension-", dir=cache)  # one that is left is swept away
    began_ns = _files_clock_ns()
    result = _build_in(folder, spec, arch, confine)
    files = result.get("files", [])
    stamps = _stamps(files)
    hindrance = _what_hinders(stamps, began_ns)
    if hindrance:
        result = _failed(spec, hindrance)
    if "error" in result:
        shutil.rmtree(folder, ignore_errors=True)
        if result.pop("room", False):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return result
    if files or _files_known(cache, key):
        _remember_files(cache, key, files)
    target = _place(cache, key, files)
    try:
        os.rename(folder, target)
    except OSError:  # somebody else was quicker
        shutil.rmtree(folder, ignore_errors=True)
    return {"spec": spec, "path": os.path.join(target, spec["name"] + ".so"), "files": stamps}


def build_all(specs, cache, arch, confine):
    """The list of what was built, or what the first one fails with."""
    built = []
    for spec in specs:
        one = build(spec, cache, arch, confine)
        if "error" in one:
            return one
        built.append(one)
    return built
