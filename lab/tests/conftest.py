"""What the lab's tests share with the library's."""

from tests.cli.conftest import program, tiny_model  # noqa: F401
from tests.conftest import on_one_thread, shipped_love, small_model, tiny_target  # noqa: F401
