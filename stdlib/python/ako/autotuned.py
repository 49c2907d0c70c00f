"""What Triton's autotuner has chosen for a solution's kernels, which is settled once they have been called. The objects
are the solution's own, and so are the words: nothing depends on them."""
import sys
import types

_MOST, _LONGEST, _WRAPPERS = 16, 200, 4
_LAUNCH = ("num_warps", "num_stages", "num_ctas")


def _modules_in(folder):
    return [vars(module) for module in list(sys.modules.values()) if isinstance(module, types.ModuleType)
            and str(vars(module).get("__file__")).startswith(folder)]


def _tuner_of(value, kind):
    """It may lie below other decorators of Triton's."""
    for _ in range(_WRAPPERS):
        if isinstance(value, kind):
            return value
        if not type(value).__module__.startswith("triton."):
            return None
        value = getattr(value, "fn", None)
    return None


def _text_of(config):
    chosen = dict(config.kwargs)
    chosen.update((name, getattr(config, name)) for name in _LAUNCH if getattr(config, name, None) is not None)
    return ", ".join(f"{name}={value}" for name, value in chosen.items())[:_LONGEST]


def _entries_of(name, tuner):
    """One a key; without a key where there was nothing to choose from, and none for a kernel that was not called."""
    chosen = dict(tuner.cache)
    if chosen:
        return [{"kernel": name[:_LONGEST], "key": str(key)[:_LONGEST], "config": _text_of(config)}
                for key, config in chosen.items()]
    config = getattr(tuner, "best_config", None)
    return [{"kernel": name[:_LONGEST], "config": _text_of(config)}] if config else []


def chosen_in(folder):
    """[{"kernel","key","config"}, ...] of the modules whose files lie in the folder."""
    kind = getattr(sys.modules.get("triton.runtime.autotuner"), "Autotuner", None)
    found = {}
    for module in _modules_in(folder) if kind else []:
        for name, value in list(module.items()):
            try:
                tuner = _tuner_of(value, kind)
                if tuner is not None and id(tuner) not in found:
                    found[id(tuner)] = _entries_of(name, tuner)
            except Exception:  # pylint: disable=broad-except
                continue  # one that is not as Triton makes them says nothing
    return [entry for entries in found.values() for entry in entries][:_MOST]
