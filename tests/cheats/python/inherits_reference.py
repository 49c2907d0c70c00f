# W10 -> COMPILE_ERROR: takes Model to be there already, and adds nothing to it.
class ModelNew(Model):  # noqa: F821
    pass
