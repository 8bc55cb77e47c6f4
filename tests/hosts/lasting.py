"""What is made on entering a `with` and undone on leaving it, also where making it fails half way."""

import contextlib


class Lasting:
    def __init__(self):
        self._stack = contextlib.ExitStack()  # of what undoes it

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _make(self):
        raise NotImplementedError
