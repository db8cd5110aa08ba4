"""What the lab's tests share with the library's."""

from tests.conftest import (  # noqa: F401
    on_one_thread,
    program,
    shared_folder,
    shipped_love,
    small_model,
    tiny_model,
    tiny_target,
)
